// Operator schemas: every form prints back as read, and every mistake has its place.
#include <c10/core/SchemaParser.h>
#include <c10/util/Exception.h>

#include <gtest/gtest.h>

namespace {

using c10::FunctionSchema;
using c10::SchemaBaseType;
using c10::SchemaKind;

class PrintsBack : public testing::TestWithParam<const char*> {};

TEST_P(PrintsBack, ExactlyAsRead) {
  std::vector<c10::SchemaError> errors;
  const auto schema = c10::try_parse_schema(GetParam(), errors);
  ASSERT_TRUE(schema) << (errors.empty() ? "" : c10::render_schema_error(GetParam(), errors[0]));
  EXPECT_EQ(to_string(*schema), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, PrintsBack,
    testing::Values(
        "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        "__and__.Scalar(Tensor self, Scalar other) -> Tensor", "seed() -> ()",
        "ns::op(Tensor self) -> Tensor",
        "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
        "to.dtype(Tensor(a) self, ScalarType dtype, bool copy=False) -> Tensor(a)",
        "swap(Tensor(a! -> a|b) self, Tensor(b) other) -> Tensor(a!)",
        "either(Tensor(a) self, Tensor(b) other) -> Tensor(a|b)",
        "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        "one(Tensor self) -> (Tensor values)", "unnamed(Tensor self) -> (Tensor, Tensor, int)",
        "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
        "conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] "
        "padding=0) -> Tensor",
        "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
        "-> Tensor",
        "fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
        "norms(Tensor self, float eps=1e-05, float p=2.0, float q=-inf, int[] dims=[]) -> Tensor",
        "words(Tensor self, str a='linear', str b=\"L\", str c='\"\\'\\\\') -> Tensor",
        "kinds(bool[3] g, Storage h, ScalarType a=long, Layout? b=None, Device? c=None, "
        "MemoryFormat "
        "d=contiguous_format, Generator? e=None, Dimname[]? f=None) -> Scalar",
        "mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
        "_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
        "sort.values(Tensor self, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, "
        "Tensor(b!) indices)",
        "fused(Tensor(a!) self, Tensor(b!)[] others, *, float lr) -> ()"));

struct Mistake {
  const char* schema;
  std::size_t offset, length;
  const char* message;
  const char* suggestion;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.schema; }

class FindsMistake : public testing::TestWithParam<Mistake> {};

TEST_P(FindsMistake, AtItsPlace) {
  const Mistake& expected = GetParam();
  std::vector<c10::SchemaError> errors;
  EXPECT_FALSE(c10::try_parse_schema(expected.schema, errors));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, expected.message);
  EXPECT_EQ(errors[0].offset, expected.offset);
  EXPECT_EQ(errors[0].length, expected.length);
  EXPECT_EQ(errors[0].suggestion, expected.suggestion);
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, FindsMistake,
    testing::Values(
        Mistake{"", 0, 1, "expected an operator name, found the end of the text", ""},
        Mistake{"add", 3, 1, "expected '(' after the operator name, found the end of the text", ""},
        Mistake{"add.(Tensor self) -> Tensor", 4, 1, "expected an overload name, found '('", ""},
        Mistake{"abs(tensor self) -> Tensor", 4, 6, "unknown type 'tensor'", "Tensor"},
        Mistake{"abs(Tensor) -> Tensor", 10, 1,
                "expected the argument's name after its type, found ')'", ""},
        Mistake{"abs(Tensor self -> Tensor", 16, 1,
                "expected ',' or ')' after an argument, found '-'", ""},
        Mistake{"abs(Tensor self)", 16, 1, "expected '->' and the return type", ""},
        Mistake{"abs(Tensor self) -> ", 20, 1, "expected a type, found the end of the text", ""},
        Mistake{"abs(Tensor self) -> Tensor;", 26, 1, "unexpected text after the end of the schema",
                ""},
        Mistake{"f(Tensor self, Tensor self) -> Tensor", 22, 4, "a second argument named 'self'",
                ""},
        Mistake{"f(int a=1, int b) -> int", 15, 1,
                "argument 'b' needs a default, since 'a' before it has one", ""},
        Mistake{"f(int a=None) -> int", 8, 4, "None is no value of type int", "int?"},
        Mistake{"f(bool a=true) -> int", 9, 4,
                "'true' is no value of type bool, expected True or False", "True"},
        Mistake{"f(float a='x') -> int", 10, 3,
                "''x'' is no value of type float, expected a number", ""},
        Mistake{"f(int[] a=1) -> int", 10, 1, "the default of a list is written in brackets",
                "[1]"},
        Mistake{"f(int[2] a=[1,2,3]) -> int", 11, 7, "a default of 3 values for type int[2]", ""},
        Mistake{"f(int a=99999999999999999999) -> int", 8, 20,
                "the number does not fit into 64 bits", ""},
        Mistake{"f(int a=1x) -> int", 8, 2, "not a number", ""},
        Mistake{"f(str a='x) -> int", 8, 10, "the string is not closed", ""},
        Mistake{"f(int[][] a) -> int", 7, 1, "lists of lists are not part of the schema language",
                ""},
        Mistake{"f(Tensor?? a) -> int", 9, 1, "a type can be optional only once", ""},
        Mistake{"f(int[0] a) -> int", 6, 1, "a list's length is a number from 1 to 1000000", ""},
        Mistake{"f(int a, *, *, int b) -> int", 12, 1, "a second '*' among the arguments", ""},
        Mistake{"f(int a, *) -> int", 10, 1, "expected ',' and a keyword argument after '*'", ""},
        Mistake{"f(int a,) -> int", 8, 1, "expected an argument after ','", ""},
        Mistake{"f(int(a) a) -> int", 5, 3, "only a Tensor can carry an alias annotation", ""},
        Mistake{"f(Tensor(a self) -> Tensor", 11, 1,
                "expected ')' at the end of the alias annotation, found 's'", ""},
        Mistake{"f(Tensor self) -> Tensor(a)", 18, 9,
                "the return is in alias set 'a', but no argument is", ""},
        Mistake{
            "add_(Tensor self) -> Tensor", 5, 6,
            "the name ends in '_', so the operator writes to 'self', but its type does not say so",
            "Tensor(a!)"},
        Mistake{"add_(Tensor(a!) self) -> Tensor", 25, 6,
                "an in-place operator returns self, 'Tensor(a!)', or nothing, '()'", ""},
        Mistake{
            "f.out(Tensor self, *, Tensor(a!) out, int dim) -> Tensor(a!)", 42, 3,
            "argument 'dim' comes after the out argument 'out'; out arguments are the last ones",
            ""},
        Mistake{"f.out(Tensor self, *, Tensor(a!) out) -> Tensor", 41, 6,
                "return 0 is the out argument 'out' and carries its annotation", "Tensor(a!)"},
        Mistake{"f.out(Tensor self, *, Tensor(a!) out) -> (Tensor(a!), Tensor)", 41, 20,
                "there are 1 out arguments, but 2 returns", ""}));

TEST(SchemaParser, ReportsSeveralMistakesAtOnce) {
  std::vector<c10::SchemaError> errors;
  EXPECT_FALSE(c10::try_parse_schema("f(int a=None, bool b=1, Tensor a) -> Tensor(x)", errors));
  EXPECT_EQ(errors.size(), 5u);  // two defaults, the second `a`, its missing default, alias set x
}

TEST(SchemaParser, Model) {
  const FunctionSchema schema = c10::parse_schema(
      "ns::add_.Tensor(Tensor(a! -> a|b) self, Tensor?[] others, int[2]? sizes=1, *, Scalar "
      "alpha=1) -> Tensor(a! -> a|b)");
  EXPECT_EQ(schema.ns, "ns");
  EXPECT_EQ(schema.full_name(), "add_.Tensor");
  EXPECT_EQ(schema.identifier(), "add__Tensor");
  EXPECT_EQ(schema.root(), "add");
  EXPECT_EQ(schema.kind(), SchemaKind::inplace);
  ASSERT_EQ(schema.arguments.size(), 4u);
  const auto& self = schema.arguments[0];
  EXPECT_TRUE(self.alias->is_write);
  EXPECT_EQ(self.alias->before, std::vector<std::string>{"a"});
  EXPECT_EQ(self.alias->after, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(schema.arguments[1].type.list);
  EXPECT_TRUE(schema.arguments[1].type.elem_optional);
  EXPECT_FALSE(schema.arguments[1].type.optional);
  EXPECT_EQ(schema.arguments[2].type.base, SchemaBaseType::Int);
  EXPECT_EQ(schema.arguments[2].type.list_size, 2);
  EXPECT_TRUE(schema.arguments[2].type.optional);
  EXPECT_TRUE(schema.arguments[3].kwarg_only);
  EXPECT_EQ(schema.arguments[3].default_value, "1");
}

TEST(SchemaParser, Kinds) {
  auto kind = [](const char* text) { return c10::parse_schema(text).kind(); };
  EXPECT_EQ(kind("abs(Tensor self) -> Tensor"), SchemaKind::functional);
  EXPECT_EQ(kind("view(Tensor(a) self) -> Tensor(a)"), SchemaKind::functional);
  EXPECT_EQ(kind("abs_(Tensor(a!) self) -> Tensor(a!)"), SchemaKind::inplace);
  EXPECT_EQ(kind("abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"), SchemaKind::out);
  EXPECT_EQ(kind("bn(Tensor input, Tensor(a!) mean) -> Tensor"), SchemaKind::mutable_);
  EXPECT_EQ(kind("__ior__(Tensor(a!) self) -> Tensor(a!)"), SchemaKind::mutable_);
  EXPECT_TRUE(c10::parse_schema("view(Tensor(a) self) -> Tensor(a)").is_view());
  EXPECT_FALSE(c10::parse_schema("abs_(Tensor(a!) self) -> Tensor(a!)").is_view());
}

TEST(SchemaParser, TensorOptions) {
  EXPECT_TRUE(c10::parse_schema("f(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                                "device=None, bool? pin_memory=None) -> Tensor")
                  .has_tensor_options());
  EXPECT_FALSE(
      c10::parse_schema("f(int n, *, ScalarType? dtype=None) -> Tensor").has_tensor_options());
}

TEST(SchemaParser, ThrowsWithACaret) {
  try {
    c10::parse_schema("abs(Tensr self) -> Tensor");
    FAIL() << "no exception";
  } catch (const c10::ValueError& error) {
    EXPECT_STREQ(error.what(),
                 "schema: unknown type 'Tensr' (did you mean 'Tensor'?)\n"
                 "  abs(Tensr self) -> Tensor\n"
                 "      ^");
  }
}

// Cutting a schema anywhere gives a mistake within the text, and never a crash.
TEST(SchemaParser, EveryPrefixFailsCleanly) {
  const std::string text =
      "max.dim(Tensor(a! -> *) self, int[2]? dim=[0, 1], *, str s='x', float f=1e-5) -> (Tensor "
      "values, Tensor indices)";
  for (std::size_t length = 0; length < text.size(); ++length) {
    std::vector<c10::SchemaError> errors;
    EXPECT_FALSE(c10::try_parse_schema(text.substr(0, length), errors)) << length;
    ASSERT_FALSE(errors.empty()) << length;
    EXPECT_LE(errors[0].offset, length);
  }
}

}  // namespace
