// YAML with positions: every way to write a scalar leads back to its characters.
#include <codegen/frontend/Json.h>
#include <codegen/frontend/Yaml.h>

#include <gtest/gtest.h>

namespace oploom::frontend {
namespace {

struct Parsed {
  explicit Parsed(const std::string& text) : file(sources.add("f.yaml", text)) {
    root = parse_yaml(*file, diagnostics);
  }
  SourceFiles sources;
  const SourceFile* file;
  Diagnostics diagnostics;
  std::optional<YamlNode> root;
};

// The character of the file at the place of `part` within the scalar `key`.
std::string located(const Parsed& yaml, const char* key, const std::string& part) {
  const YamlNode* node = yaml.root->find(key);
  const std::size_t offset = node->value.find(part);
  EXPECT_NE(offset, std::string::npos) << node->value;
  const Location where = node->locate(offset, part.size());
  return yaml.file->text.substr(where.offset, where.length);
}

TEST(Yaml, LocatesPartsOfScalars) {
  const Parsed yaml(
      "plain: abc def ghi\n"
      "single: 'it''s here'\n"
      "double: \"a \\\"quoted\\\" word\"\n"
      "lines: abc\n"
      "   def\n"
      "   ghi\n"
      "folded: >\n"
      "  abc def\n"
      "  ghi jkl\n"
      "literal: |\n"
      "    abc def\n"
      "    ghi jkl\n");
  ASSERT_TRUE(yaml.root);
  EXPECT_EQ(located(yaml, "plain", "ghi"), "ghi");
  EXPECT_EQ(located(yaml, "single", "here"), "here");
  EXPECT_EQ(located(yaml, "double", "word"), "word");
  EXPECT_EQ(located(yaml, "lines", "def"), "def");
  EXPECT_EQ(located(yaml, "lines", "ghi"), "ghi");
  EXPECT_EQ(located(yaml, "folded", "def"), "def");
  EXPECT_EQ(located(yaml, "folded", "jkl"), "jkl");
  EXPECT_EQ(located(yaml, "literal", "abc"), "abc");
  EXPECT_EQ(located(yaml, "literal", "jkl"), "jkl");
}

TEST(Yaml, LocatesPartsBehindEscapes) {
  const Parsed yaml(
      "unicode: \"s\\u0065lf \\u00e9 \\U0001F600 \\xe9\\Nx rest\"\n"
      "space: \"a\\tb\\n\\u0020 rest\"\n"
      "joined: \"ab\\\n  c\\\n  rest\"\n"
      "both: \"\xC3\xA9\\u00e9 rest\"\n");
  ASSERT_TRUE(yaml.root);
  EXPECT_EQ(located(yaml, "unicode", "self"), "s\\u0065lf");
  EXPECT_EQ(located(yaml, "unicode", "x"), "x");
  EXPECT_EQ(located(yaml, "unicode", "\xC3\xA9\x85"), "\\xe9\\N");
  EXPECT_EQ(located(yaml, "joined", "c"), "c");
  for (const char* key : {"unicode", "space", "joined", "both"}) {
    EXPECT_EQ(located(yaml, key, "rest"), "rest") << key;
  }
}

TEST(Yaml, AByteOrderMarkIsNoPartOfTheFirstLine) {
  const Parsed yaml("\xEF\xBB\xBFkey: value\n");
  ASSERT_TRUE(yaml.root);
  EXPECT_EQ(located(yaml, "key", "value"), "value");
  EXPECT_EQ(yaml.root->find("key")->where.column(), 6u);
}

TEST(Yaml, AsJson) {
  const Parsed yaml(
      "{a: 1, b: [1.5, 1e-5, -3, 0x], c: true, d: 'true', e: ~, f: text, g: '1', h: .5, i: -inf}");
  ASSERT_TRUE(yaml.root);
  JsonWriter json;
  json.begin_compact();
  write_yaml_as_json(json, *yaml.root);
  EXPECT_EQ(
      json.take(),
      "{\"a\": 1, \"b\": [1.5, 1e-05, -3, \"0x\"], \"c\": true, \"d\": \"true\", \"e\": null, "
      "\"f\": \"text\", \"g\": \"1\", \"h\": 0.5, \"i\": \"-inf\"}\n");
}

TEST(Yaml, SyntaxErrorsHaveAPlace) {
  const Parsed yaml("a: [1, 2\nb: 3\n");
  EXPECT_FALSE(yaml.diagnostics.ok());
  EXPECT_EQ(yaml.diagnostics.sorted()[0]->where.line(), 2u);
}

TEST(Yaml, AnchorsAreRefused) {
  const Parsed yaml("a: &x 1\nb: *x\n");
  ASSERT_EQ(yaml.diagnostics.num_errors(), 1u);
  EXPECT_EQ(yaml.diagnostics.sorted()[0]->where.line(), 1u);
  EXPECT_EQ(yaml.diagnostics.sorted()[0]->where.column(), 4u);
}

TEST(Yaml, DuplicateKeysInEveryMap) {
  const Parsed yaml("a: 1\nb: {c: 1, c: 2}\na: 2\n");
  EXPECT_EQ(yaml.diagnostics.num_errors(), 2u);
}

TEST(Yaml, DeepNestingIsAMistakeAndNoCrash) {
  const Parsed yaml(std::string(100'000, '['));
  EXPECT_FALSE(yaml.diagnostics.ok());
}

}  // namespace
}  // namespace oploom::frontend
