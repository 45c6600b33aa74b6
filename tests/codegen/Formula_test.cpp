// Derivative formulas: precedence, postfix chains, mistakes, and rewriting in place.
#include <codegen/frontend/Formula.h>

#include <gtest/gtest.h>

namespace oploom::frontend {
namespace {

std::string parsed(const std::string& text) {
  FormulaError error;
  const auto expr = parse_formula(text, error);
  return expr ? to_s_expression(*expr)
              : "error at " + std::to_string(error.offset) + ": " + error.message;
}

TEST(Formula, Precedence) {
  EXPECT_EQ(parsed("a + b * c"), "(+ a (* b c))");
  EXPECT_EQ(parsed("a - b - c"), "(- (- a b) c)");
  EXPECT_EQ(parsed("(a + b) * c"), "(* (+ a b) c)");
  EXPECT_EQ(parsed("-a * b"), "(* (- a) b)");
  EXPECT_EQ(parsed("!a && b || c"), "(|| (&& (! a) b) c)");
  EXPECT_EQ(parsed("a < b == c > d"), "(== (< a b) (> c d))");
  EXPECT_EQ(parsed("a ? b : c ? d : e"), "(? a b (? c d e))");
  EXPECT_EQ(parsed("a == b ? c + 1 : d"), "(? (== a b) (+ c 1) d)");
}

TEST(Formula, Postfix) {
  EXPECT_EQ(parsed("grad.sum(0).t()"), "(call (. (call (. grad sum) 0) t))");
  EXPECT_EQ(parsed("bias->sizes()"), "(call (-> bias sizes))");
  EXPECT_EQ(parsed("grads[1]"), "(index grads 1)");
  EXPECT_EQ(parsed("at::native::foo(x, 1.5e-3f)"), "(call at::native::foo x 1.5e-3f)");
  EXPECT_EQ(parsed("alpha.to<double>()"), "(call (. alpha to<double>))");
  EXPECT_EQ(parsed("std::tuple<Tensor, Tensor>()"), "(call std::tuple<Tensor, Tensor>)");
  EXPECT_EQ(parsed("a < b"), "(< a b)");
  EXPECT_EQ(parsed("f(a<b, c>(d))"), "(call f (call a<b, c> d))");  // as C++ reads a template
}

TEST(Formula, OtherForms) {
  EXPECT_EQ(parsed("f({1, 2}, \"mean\")"), "(call f ({} 1 2) \"mean\")");
  EXPECT_EQ(parsed("std::vector<int64_t>{1}"), "(std::vector<int64_t>{} 1)");
  EXPECT_EQ(parsed("f(/*dim=*/ 0)"), "(call f 0)");
  EXPECT_EQ(parsed("fmap(x, [](int64_t i) { return -i; })"), "(call fmap x (lambda (- i)))");
}

TEST(Formula, Mistakes) {
  EXPECT_EQ(parsed(""), "error at 0: the formula is empty");
  EXPECT_EQ(parsed("grad *"), "error at 6: expected an expression, found the end of the formula");
  EXPECT_EQ(parsed("f(a, b"), "error at 1: this '(' is not closed");
  EXPECT_EQ(parsed("(a + b"), "error at 0: this '(' is not closed");
  EXPECT_EQ(parsed("f(a b)"), "error at 4: expected ',' or ')', found 'b'");
  EXPECT_EQ(parsed("a b"), "error at 2: expected an operator or the end of the formula, found 'b'");
  EXPECT_EQ(parsed("a = b"),
            "error at 2: expected an operator or the end of the formula, found '=': write '=='");
  EXPECT_EQ(parsed("a += b"), "error at 2: a formula cannot assign");
  EXPECT_EQ(parsed("a ? b"),
            "error at 5: expected ':' of the conditional expression, found the end of the formula");
  EXPECT_EQ(parsed("2x"), "error at 0: not a number: '2x'; a product is '2 * x'");
  EXPECT_EQ(parsed("\"abc"), "error at 0: the string is not closed");
  EXPECT_EQ(parsed("a /* b"), "error at 2: the comment is not closed");
  EXPECT_EQ(parsed("grads[0"),
            "error at 7: expected ']' after the index, found the end of the formula");
}

TEST(Formula, DeepNestingIsAMistakeAndNoCrash) {
  EXPECT_NE(parsed(std::string(100'000, '(')).find("too long"), std::string::npos);
  EXPECT_NE(parsed(std::string(4'000, '(')).find("nested too deeply"), std::string::npos);
  EXPECT_NE(parsed(std::string(4'000, '-') + "a").find("nested too deeply"), std::string::npos);
}

TEST(Formula, PositionsCoverTheText) {
  const std::string text = "grad * (self.sizes()[0] + x)";
  FormulaError error;
  const auto expr = parse_formula(text, error);
  ASSERT_TRUE(expr);
  EXPECT_EQ(expr->offset, 0u);
  EXPECT_EQ(expr->length, text.size());
  walk(*expr, [&](const Expr& node) {
    if (node.kind == Expr::Kind::name) {
      EXPECT_EQ(text.substr(node.offset, node.length), node.text);
    }
    return true;
  });
}

TEST(Formula, RewriteKeepsTheRest) {
  const std::string text = "f( self.sizes(),  self )  /* why */ + self_size";
  FormulaError error;
  const auto expr = parse_formula(text, error);
  ASSERT_TRUE(expr);
  const std::string out = rewrite(text, *expr, [](const Expr& node) -> std::optional<std::string> {
    if (node.is_name("self")) return "other";
    return std::nullopt;
  });
  EXPECT_EQ(out, "f( other.sizes(),  other )  /* why */ + self_size");
}

// Names in bars, what is called in angle brackets.
std::string apart(const std::string& text) {
  FormulaError error;
  const auto expr = parse_formula(text, error);
  if (!expr) return error.message;
  std::string shown;
  for (const auto& piece : take_apart(text, *expr)) {
    const bool name = piece.kind == FormulaPiece::Kind::name;
    const bool text = piece.kind == FormulaPiece::Kind::text;
    shown += text ? piece.text : (name ? "|" : "<") + piece.text + (name ? "|" : ">");
  }
  return shown;
}

TEST(Formula, NamesAreToldFromTextAndCalls) {
  EXPECT_EQ(apart("at::f( self,  self.to<T>(self) ) /* self */ + g(\"self\")"),
            "<at::f>( |self|,  |self|.<to><T>(|self|) ) /* self */ + <g>(\"self\")");
  EXPECT_EQ(apart("std::get<0>(f(x->y(), x.y, kFloat))"),
            "<std::get><0>(<f>(|x|-><y>(), |x|.y, |kFloat|))");
  EXPECT_EQ(apart("at::kFloat + std::tuple<x>{x, {grads[i]}} + x::y"),
            "at::kFloat + std::tuple<x>{|x|, {|grads|[|i|]}} + x::y");
  EXPECT_EQ(apart("fmap(x, [](int64_t x) { return x + y; }) * x"),
            "<fmap>(|x|, [](int64_t x) { return x + |y|; }) * |x|");
}

}  // namespace
}  // namespace oploom::frontend
