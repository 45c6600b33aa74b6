// The JSON writer.
#include <codegen/frontend/Json.h>

#include <gtest/gtest.h>

namespace oploom::frontend {
namespace {

TEST(Json, Layout) {
  JsonWriter json;
  json.begin_object();
  json.key("a").value(1);
  json.key("b").begin_array().value("x").value(true).null().end_array();
  json.key("c").begin_compact().begin_object();
  json.key("d").value(2).key("e").begin_array().value(3).value(4).end_array();
  json.end_object().end_compact();
  json.key("f").begin_array().end_array();
  json.end_object();
  EXPECT_EQ(json.take(),
            "{\n  \"a\": 1,\n  \"b\": [\n    \"x\",\n    true,\n    null\n  ],\n"
            "  \"c\": {\"d\": 2, \"e\": [3, 4]},\n  \"f\": []\n}\n");
}

TEST(Json, Quoting) {
  EXPECT_EQ(json_quote("a\"b\\c\n\t\x01 é"), "\"a\\\"b\\\\c\\n\\t\\u0001 é\"");
}

}  // namespace
}  // namespace oploom::frontend
