// Expressions: graphs, derivatives, the operators that the pass makes of them, and their proof.
#include "Frontend.h"

#include <codegen/frontend/ModelJson.h>
#include <codegen/frontend/expression/Build.h>
#include <codegen/frontend/expression/Functions.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace oploom::frontend {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// An expression of x and y.
struct Parsed {
  explicit Parsed(std::string_view text) {
    const Scope scope = {
        {"x", graph.input("x")}, {"y", graph.input("y")}, {"a", graph.scalar("a")}};
    const auto tree = parse_formula(text, error);
    if (tree) root = build_expression(graph, *tree, scope, error);
  }
  double at(double x, double y) const { return evaluate(root, {{"x", x}, {"y", y}, {"a", 2}}); }

  Graph graph;
  FormulaError error;
  const Node* root = nullptr;
};

TEST(Graph, SharesEqualParts) {
  Parsed parsed("exp(x) * exp(x) + (exp(x))");
  ASSERT_NE(parsed.root, nullptr);
  EXPECT_EQ(in_order({parsed.root}).size(), 4u);  // x, exp, mul, add
}

TEST(Graph, EvaluatesAsCppDoes) {
  EXPECT_EQ(Parsed("x - y - 1").at(5, 2), 2);
  EXPECT_EQ(Parsed("x / y / 2").at(8, 2), 2);
  EXPECT_EQ(Parsed("-x * y + 3").at(2, 5), -7);
  EXPECT_EQ(Parsed("x > y && !(y < 0) || x == 7 ? a : 1 / 2").at(3, 1), 2);
  EXPECT_EQ(Parsed("x > y && !(y < 0) || x == 7 ? a : 1 / 2").at(1, 3), 0.5);
  EXPECT_EQ(Parsed("x < y ? 1 : x > y ? 2 : 3").at(4, 4), 3);
  EXPECT_DOUBLE_EQ(Parsed("sin(pi / 2) + exp(1) - e").at(0, 0), 1);
}

TEST(Graph, PrintsWhatReadsBackAsTheSame) {
  for (const char* text :
       {"x - (y - 1)", "(x + y) * a", "x / (y / 2)", "-(x * y)", "x < y && y < 1 ? x : -y",
        "pow(x, 2) - 0.1", "!(x < y) || x == 1 ? 1e-300 : 3", "x - -2", "(x < 1 ? x : y) + 1"}) {
    Parsed once(text);
    ASSERT_NE(once.root, nullptr) << text;
    Parsed twice(to_text(once.root));
    ASSERT_NE(twice.root, nullptr) << to_text(once.root);
    for (const double x : {-1.5, 0.25, 1., 3.})
      EXPECT_EQ(once.at(x, 0.5), twice.at(x, 0.5)) << text;
  }
}

TEST(Graph, MakesAChoiceOnce) {
  Graph graph;
  const Node *x = graph.input("x"), *y = graph.input("y"), *z = graph.input("z");
  const Node* condition = graph.call("lt", {x, y});
  const Node* inner = graph.select(condition, y, z);
  EXPECT_EQ(to_text(graph.select(condition, x, inner)), "x < y ? x : z");
  EXPECT_EQ(to_text(graph.select(condition, inner, x)), "x < y ? y : x");
  EXPECT_EQ(graph.select(condition, inner, z), inner);
}

TEST(Graph, KernelsMultiplyWithASigmoidInOneStep) {
  const auto kernel = [](const char* text) {
    Parsed parsed(text);
    return to_text(parsed.graph.for_kernels({parsed.root})[0]);
  };
  EXPECT_EQ(kernel("x * sigmoid(y)"), "sigmoid_product(x, y)");
  EXPECT_EQ(kernel("sigmoid(-y) * x + y"), "sigmoid_product(x, -y) + y");
  EXPECT_EQ(kernel("a * (sigmoid(x) * y) * sigmoid(y)"),
            "sigmoid_product(a * sigmoid_product(y, x), y)");
  EXPECT_EQ(kernel("exp(x * sigmoid(x * sigmoid(y)))"),
            "exp(sigmoid_product(x, sigmoid_product(x, y)))");
  // Where the sigmoid is needed anyway, a product costs less.
  EXPECT_EQ(kernel("x * sigmoid(y) + sigmoid(y)"), "x * sigmoid(y) + sigmoid(y)");
  EXPECT_EQ(kernel("sigmoid(x) / y"), "sigmoid(x) / y");
  // Of numbers alone it is computed once for all elements.
  EXPECT_EQ(kernel("x * sigmoid(a)"), "x * sigmoid(a)");
}

TEST(Graph, KernelsMultiplyForSmallPowers) {
  Parsed parsed("pow(x, 2) + pow(x + 1, 3) * pow(pow(y, 4), 5) + pow(2, y)");
  EXPECT_EQ(to_text(parsed.graph.for_kernels({parsed.root})[0]),
            "x * x + (x + 1) * (x + 1) * (x + 1) * pow(y * y * (y * y), 5) + pow(2, y)");
}

// Where each function is smooth; x and y are taken from the open interval.
struct Interval {
  double low = 0.2, high = 0.9;
};
const std::map<std::string_view, Interval> kIntervals = {
    {"acosh", {1.2, 4}}, {"erfcx", {-2, 4}}, {"lgamma", {0.3, 6}}, {"digamma", {0.3, 6}},
    {"i0", {-3, 3}},     {"i1", {-3, 3}},    {"exp", {-3, 3}},
};

TEST(Functions, HaveDerivativesThatAgreeWithDifferences) {
  for (const Function& function : functions()) {
    if (function.partials.empty()) continue;
    const auto found = kIntervals.find(function.name);
    const Interval range = found == kIntervals.end() ? Interval{} : found->second;
    const bool two = function.parameters.size() == 2;
    // The order of polygamma is a whole number, and its derivative is with respect to x alone.
    const bool ordered = function.parameters[0] == "n";
    Graph graph;
    const Node* x = ordered ? graph.constant(1) : graph.input("x");
    const Node* y = graph.input("y");
    const Node* root =
        graph.call(std::string(function.name), two ? std::vector{x, y} : std::vector{x});
    for (const Node* leaf : two ? std::vector{x, y} : std::vector{x}) {
      if (leaf->kind == Node::Kind::constant) continue;
      std::string obstacle;
      const Node* slope = derivative(graph, root, leaf, obstacle);
      ASSERT_NE(slope, nullptr) << function.name;
      for (int i = 1; i < 8; ++i) {
        std::map<std::string, double> at = {
            {"x", range.low + (range.high - range.low) * i / 8.},
            {"y", range.low + (range.high - range.low) * (7.3 - 0.9 * i) / 8.}};
        const double exact = evaluate(slope, at);
        const double h = 1e-5;
        at[leaf->name] += h;
        const double above = evaluate(root, at);
        at[leaf->name] -= 2 * h;
        const double below = evaluate(root, at);
        EXPECT_NEAR(exact, (above - below) / (2 * h), 1e-6 * std::max(1., std::abs(exact)))
            << function.name << " by " << leaf->name << " at " << at["x"] << ", " << at["y"];
      }
    }
  }
}

TEST(Signs, AreAllThatSomeExpressionsChange) {
  Graph graph;
  const Node* x = graph.input("x");
  const Node* y = graph.input("y");
  const Node* negative = graph.call("neg", {x});
  EXPECT_TRUE(changes_signs_alone({negative}));
  EXPECT_TRUE(changes_signs_alone({graph.call("copysign", {graph.call("abs", {x}), negative}), y}));
  EXPECT_FALSE(changes_signs_alone({graph.call("copysign", {x, graph.constant(2)})}));
  EXPECT_FALSE(changes_signs_alone({graph.call("copysign", {x, graph.scalar("alpha")})}));
  EXPECT_FALSE(changes_signs_alone({graph.call("neg", {graph.call("mul", {x, y})})}));
  EXPECT_FALSE(changes_signs_alone({graph.call("sign", {x})}));
  EXPECT_FALSE(changes_signs_alone({negative, graph.constant(0)}));
}

TEST(ShortForms, ServeWhereRelativeErrorsStaySmall) {
  const auto serve = [](const char* text) { return takes_short_forms({Parsed(text).root}); };
  Graph graph;
  EXPECT_TRUE(serve("exp(x)"));
  EXPECT_TRUE(serve("-exp(x - 1) / y * sin(x)"));
  EXPECT_TRUE(serve("x > 0 ? x : sigmoid(x * x + 1)"));
  EXPECT_TRUE(takes_short_forms({graph.call("conj", {graph.call("exp", {graph.input("x")})})}));
  // There is none of what is left.
  EXPECT_FALSE(serve("x * y + tanh(x)"));
  EXPECT_FALSE(serve("exp(2) * x"));
  EXPECT_FALSE(serve("exp(x) - 1"));
  EXPECT_FALSE(serve("log(exp(x))"));
  EXPECT_FALSE(serve("exp(x) > 2 ? x : y"));
  EXPECT_FALSE(serve("exp(x) * (1 - exp(x))"));
  EXPECT_FALSE(serve("y * (x * (exp(x) - y))"));
}

TEST(Conditions, MayBeFalseOfAllIntegers) {
  Graph graph;
  const Node* x = graph.input("x");
  const Node* infinite = graph.call("isinf", {x});
  const Node* positive = graph.call("gt", {x, graph.constant(0)});
  EXPECT_TRUE(is_false_of_integers(graph.call("and", {infinite, positive})));
  EXPECT_TRUE(is_false_of_integers(graph.call("or", {infinite, graph.call("isnan", {x})})));
  EXPECT_FALSE(is_false_of_integers(graph.call("or", {infinite, positive})));
  EXPECT_FALSE(is_false_of_integers(graph.call("not", {infinite})));
  EXPECT_FALSE(is_false_of_integers(graph.call("isinf", {graph.scalar("alpha")})));
  EXPECT_FALSE(is_false_of_integers(graph.call("signbit", {x})));
  EXPECT_FALSE(is_false_of_integers(x));
}

TEST(Derivative, KeepsABranchWithoutGradientAtZero) {
  Parsed parsed("x > 0 ? sqrt(x) : 0");
  std::string obstacle;
  const Node* slope = derivative(parsed.graph, parsed.root, parsed.graph.input("x"), obstacle);
  EXPECT_EQ(evaluate(slope, {{"x", -1.}}), 0);
  EXPECT_EQ(evaluate(slope, {{"x", 4.}}), 0.25);
  // The factor must not reach the branch either.
  const Node* product = parsed.graph.mul(parsed.graph.input("y"), slope);
  EXPECT_EQ(evaluate(product, {{"x", -1.}, {"y", INFINITY}}), 0);
}

TEST(Derivative, NamesWhatHasNone) {
  Parsed parsed("1 + nextafter(x, y)");
  std::string obstacle;
  EXPECT_EQ(derivative(parsed.graph, parsed.root, parsed.graph.input("x"), obstacle), nullptr);
  EXPECT_EQ(obstacle, "nextafter");
}

// ---- Operators ----

std::string entry(const std::string& schema, const std::string& expr,
                  const std::string& more = "") {
  return "- func: " + schema + "\n  family: Test\n  expr: '" + expr + "'\n" + more;
}

std::string formula_of(const Frontend& frontend, const std::string& name) {
  const Operator* op = frontend.model.find(name);
  return op && op->derivative ? op->derivative->inputs.at(0).text : "";
}
std::vector<std::string> saved_by(const Frontend& frontend, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& saved : frontend.model.find(name)->derivative->saved)
    names.push_back(saved.name);
  return names;
}

TEST(Expressions, GetAllFormsAndAGradient) {
  const Frontend frontend(entry("mish(Tensor self) -> Tensor", "self * tanh(logaddexp(self, 0))"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_NE(frontend.model.find("mish_"), nullptr);
  EXPECT_NE(frontend.model.find("mish.out"), nullptr);
  ASSERT_NE(frontend.model.find("mish_backward"), nullptr);
  EXPECT_EQ(to_string(frontend.model.find("mish_backward")->schema),
            "mish_backward(Tensor grad_output, Tensor self) -> Tensor");
  EXPECT_EQ(formula_of(frontend, "mish"), "mish_backward(grad, self)");
}

// Of both, the gradient takes two tensors.
TEST(Expressions, HaveGradientsThatOverloadsDoNotShare) {
  const Frontend frontend(entry("f(Tensor self) -> Tensor", "exp(self)") +
                          entry("f.x(Tensor self, float a) -> Tensor", "exp(self) * a"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_EQ(formula_of(frontend, "f"), "f_backward(grad, result)");
  EXPECT_EQ(formula_of(frontend, "f.x"), "f_x_backward(grad, result)");
}

// Written out, what the graph shares makes the second derivative longer than any formula a person
// writes.
TEST(Expressions, HaveSecondDerivativesOfAnyLength) {
  std::string text = "self";
  for (int i = 0; i < 16; ++i) text = "sin(self * " + text + ")";
  const Frontend frontend(entry("f(Tensor self) -> Tensor", text));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  const Operator* backward = frontend.model.find("f_backward");
  ASSERT_NE(backward, nullptr);
  ASSERT_TRUE(backward->derivative);
  ASSERT_EQ(backward->derivative->inputs.size(), 2u);
  EXPECT_GT(backward->derivative->inputs[1].text.size(), 50'000u);
  EXPECT_FALSE(backward->derivative->saved.empty());
  // The model has the formula's parts.
  EXPECT_THAT(model_to_json(frontend.model), Not(HasSubstr("\", \"cpp\": null")));
}

// The engine wants the shape of the input, also where the operator's numbers leave only a constant.
TEST(Expressions, HaveSecondDerivativesWithTheShapeOfTheGradient) {
  const Frontend frontend(
      entry("f(Tensor self, bool b=False) -> Tensor", "b ? self : exp(self)") +
      entry("g(Tensor self, bool b=False) -> Tensor", "-(b ? self : exp(self))") +
      entry("h(Tensor self, int n=2) -> Tensor", "pow(self, n)"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  const auto second = [&](const std::string& name) {
    return frontend.model.find(name)->derivative->inputs.at(1).text;
  };
  EXPECT_EQ(second("f_backward"), "b ? zeros_like(grad) : exp(self) * (grad * grad_output)");
  EXPECT_THAT(second("g_backward"), HasSubstr("zeros_like(grad)"));
  EXPECT_THAT(second("h_backward"), HasSubstr("n == 0 ? zeros_like(grad)"));
}

TEST(Expressions, SaveTheResultWhereThatIsCheaper) {
  const Frontend result(entry("t(Tensor self) -> Tensor", "tanh(self)"));
  EXPECT_THAT(saved_by(result, "t"), ElementsAre("result"));
  const Frontend nothing(entry("l(Tensor self) -> Tensor", "3 * self + 1"));
  EXPECT_THAT(saved_by(nothing, "l"), IsEmpty());
  const Frontend input(entry("s(Tensor self) -> Tensor", "sin(self)"));
  EXPECT_THAT(saved_by(input, "s"), ElementsAre("self"));
}

TEST(Expressions, ComputeTheGradientsOfAllInputsAtOnce) {
  const Frontend frontend(entry("f(Tensor self, Tensor other, *, Scalar alpha=2) -> Tensor",
                                "self * exp(alpha * other)"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  const Operator* backward = frontend.model.find("f_backward");
  ASSERT_NE(backward, nullptr);
  EXPECT_EQ(backward->schema.returns.size(), 2u);
  EXPECT_EQ(backward->expression->program.outputs.size(), 2u);
  int exponentials = 0;
  for (const auto& step : backward->expression->program.instructions) {
    exponentials += step.operation == "exp";
  }
  EXPECT_LE(exponentials, 1);
}

// Whoever writes one formula goes on getting the others.
TEST(Expressions, FindTheGradientsThatTheirEntryLacks) {
  const std::string f = "f(Tensor self, Tensor other, Tensor third) -> Tensor";
  const std::string operators =
      entry("sin(Tensor self) -> Tensor", "sin(self)") + entry(f, "self * sin(other) + third");
  const auto gradients = [&](const std::string& formulas) {
    const Frontend frontend(operators, "- name: " + f + "\n" + formulas);
    EXPECT_EQ(frontend.diagnostics.render(), "");
    std::vector<std::string> found;
    for (const auto& formula : frontend.model.find("f")->derivative->inputs) {
      std::string names;
      for (const auto& name : formula.names) names += name.text + " ";
      found.push_back(names + formula.text);
    }
    return found;
  };
  EXPECT_THAT(gradients("  self: grad * sin(other)\n"),
              ElementsAre("self grad * sin(other)",
                          "other third f_backward(grad, self, other, grad_input_mask)"));
  EXPECT_THAT(gradients("  self: grads[0] * sin(other)\n  third: non_differentiable\n"),
              ElementsAre("self grads[0] * sin(other)", "other f_backward(grads[0], self, other)"));
  EXPECT_THAT(gradients("  self, other: f_backward(grad, self, other)\n  third: grad\n"),
              ElementsAre("self other f_backward(grad, self, other)", "third grad"));
  EXPECT_THAT(gradients("  output_differentiability: [False]\n"), IsEmpty());
}

TEST(Expressions, NameNoResultAsAnArgument) {
  const auto names = [](const Program& program) {
    std::vector<std::string> found;
    for (const auto& step : program.instructions) found.push_back(step.name);
    return found;
  };
  const Frontend frontend(
      entry("f(Tensor self, Scalar t0=2) -> Tensor", "sin(self * 2) * t0 + cos(self * 3)") +
      entry("g(Tensor x, Tensor y, Scalar t0=2) -> Tensor", "x * x * sin(y) + t0 * y"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_THAT(names(frontend.model.find("f")->expression->program),
              ElementsAre("t1", "t2", "t3", "t4", "t5", "t6"));
  // The second derivative has no t0, which is an argument of g_backward all the same.
  const auto& second = frontend.model.find("g_backward")->derivative->inputs[1];
  ASSERT_EQ(second.names[0].text, "x");
  EXPECT_THAT(names(*second.program), Not(Contains("t0")));
}

TEST(Expressions, FindTheDtypes) {
  const auto expression = [](const std::string& text, const std::string& number = "") {
    const std::string more = number.empty() ? "" : ", " + number;
    Frontend frontend(entry("f(Tensor self" + more + ") -> Tensor", text));
    EXPECT_EQ(frontend.diagnostics.render(), "");
    return *frontend.model.find("f")->expression;
  };
  using Promotion = Expression::Promotion;
  EXPECT_EQ(expression("self * 2 + a", "Scalar a=1").promotion, Promotion::same);
  EXPECT_TRUE(expression("self * 2 + a", "Scalar a=1").complex);
  EXPECT_EQ(expression("self / 2").promotion, Promotion::to_float);
  EXPECT_EQ(expression("self * b", "float b=1.0").promotion, Promotion::to_float);
  EXPECT_EQ(expression("self * c", "Scalar c=0.5").promotion, Promotion::to_float);
  EXPECT_EQ(expression("0.5 * self").promotion, Promotion::to_float);
  EXPECT_EQ(expression("self < 0 ? a : self", "Scalar a=1").promotion, Promotion::same);
  EXPECT_FALSE(expression("self < 0 ? a : self", "Scalar a=1").complex);
  EXPECT_EQ(expression("self < 0").promotion, Promotion::truth);
}

TEST(Expressions, CallOperatorsByTheirNames) {
  // The gradient of i0 is i1 in the kernel; in the gradient of that, the operator is special_i1's.
  const Frontend frontend(entry("i0(Tensor self) -> Tensor", "i0(self)") +
                          entry("special_i1(Tensor self) -> Tensor", "i1(self)"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  const auto& kernel = frontend.model.find("i0_backward")->expression->program;
  ASSERT_FALSE(kernel.instructions.empty());
  EXPECT_EQ(kernel.instructions[0].operation, "i1");
  const auto& gradient = frontend.model.find("i0_backward")->derivative->inputs[0];
  EXPECT_THAT(gradient.text, HasSubstr("special_i1(self)"));
  ASSERT_TRUE(gradient.program.has_value());
  EXPECT_EQ(gradient.program->instructions[0].operation, "special_i1");
}

TEST(Expressions, ConditionsHaveNoDerivative) {
  const Frontend frontend(entry("f(Tensor self) -> Tensor", "self < 0"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_TRUE(frontend.model.find("f")->derivative->inputs.empty());
  EXPECT_EQ(frontend.model.find("f_backward"), nullptr);
}

// ---- Proof ----

// The diagnostics after the gradient of f, or another operator made for it, has been changed behind
// the front end's back.
std::string after_breaking(Frontend& frontend, const std::string& operation,
                           const std::string& instead, const std::string& made = "f_backward") {
  for (auto& step : frontend.model.find(made)->expression->program.instructions) {
    if (step.operation == operation) step.operation = instead;
  }
  prove_derivatives(frontend.model, {}, frontend.diagnostics);
  return frontend.diagnostics.render();
}

TEST(Proof, FindsAWrongDerivativeAndSaysWhere) {
  Frontend frontend(entry("f(Tensor self) -> Tensor", "exp(self) * self"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_THAT(after_breaking(frontend, "add", "sub"),
              HasSubstr("'f': the derivative with respect to 'self' is"));
  EXPECT_THAT(frontend.diagnostics.render(), HasSubstr("by differences, at self = "));
}

TEST(Proof, FindsAWrongTangent) {
  Frontend frontend(entry("f(Tensor self, Tensor other) -> Tensor", "exp(self) * other"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_THAT(after_breaking(frontend, "add", "sub", "f_jvp"),
              HasSubstr("'f': the tangent of the result is"));
  EXPECT_THAT(frontend.diagnostics.render(), HasSubstr("other_t = -0.6, self_t = 0.75"));
}

TEST(Proof, LooksAtEachSideOfABranch) {
  // No random point is likely to lie in the branch: only its edges are tried on purpose.
  Frontend frontend(
      entry("f(Tensor self) -> Tensor", "self > 0.5 && self < 0.52 ? sin(self) : 2 * self"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_THAT(after_breaking(frontend, "cos", "sin"), HasSubstr("at self = 0.5"));
}

TEST(Proof, LeavesOutWhatIsNotSmooth) {
  const Frontend frontend(
      entry("f(Tensor self) -> Tensor", "abs(self) + floor(self) * self + maximum(self, 0.3)"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
}

TEST(Proof, WantsANumberAtASingularPoint) {
  const std::string record = "  test: {none: a test, singular: {self: [0]}}\n";
  const Frontend good(entry("f(Tensor self) -> Tensor", "self == 0 ? 0 : self * self", record));
  EXPECT_EQ(good.diagnostics.render(), "");
  const Frontend bad(entry("f(Tensor self) -> Tensor", "sqrt(self * self)", record));
  EXPECT_THAT(bad.diagnostics.render(),
              HasSubstr("the derivative with respect to 'self' is no number at self = 0"));
}

// What the front end says of f with this expression, and its gradient for self as somebody wrote
// it.
std::string about(const std::string& schema, const std::string& expression,
                  const std::string& gradient, const std::string& rest = "") {
  const std::string derivative = "- name: " + schema + "\n  self: \"" + gradient + "\"\n";
  return Frontend(entry(schema, expression, rest), derivative).diagnostics.render();
}

TEST(Proof, AcceptsWhatRoundingMakesDiffer) {
  const std::string f = "f(Tensor self) -> Tensor";
  EXPECT_EQ(about(f, "1 - tanh(self)", "grad * result * (result - 2)"), "");
  EXPECT_EQ(about(f, "self - tanh(self)", "grad * tanh(self) * tanh(self)"), "");
  EXPECT_EQ(about(f, "log1p(exp(self))", "grad * (1 - exp(-result))"), "");
  EXPECT_EQ(about(f, "log1p(exp(self)) - self", "grad * (sigmoid(self) - 1)"), "");
  EXPECT_EQ(about(f, "self + 1e9 - 1e9", "grad"), "");
  EXPECT_EQ(about(f, "erfc(self) * 1e-20", "grad * -1.1283791670955126e-20 * exp(-self * self)"),
            "");
}

TEST(Proof, AcceptsTheDerivativesItFindsOfWhatRoundingSpoils) {
  for (const char* expression :
       {"other - 1e-8 * self", "self * (erf(other) / cos(other))", "logaddexp2(other, 2 * self)",
        "erfc(self) + erfc(other)", "cos(exp2(self) + other)", "asinh(exp2(self))",
        "cos(pow(minimum(self, 0.001), maximum(7, self)))", "log(pow(6, self)) + other",
        "expm1(exp2(exp(self)))"}) {
    const bool two = std::string_view(expression).find("other") != std::string_view::npos;
    const Frontend frontend(entry(
        two ? "f(Tensor self, Tensor other) -> Tensor" : "f(Tensor self) -> Tensor", expression));
    EXPECT_EQ(frontend.diagnostics.render(), "") << expression;
  }
}

TEST(Proof, AcceptsAFormulaThatOverflowsFarAway) {
  const std::string f = "f(Tensor self) -> Tensor";
  EXPECT_EQ(
      about(f, "self < 800 ? sigmoid(self) : 2 * sigmoid(self)",
            "where(self < 800, grad, 2 * grad) * exp(self) / (1 + exp(self)) / (1 + exp(self))"),
      "");
  // Here it is the expression, whose power has no digits left.
  EXPECT_EQ(about(f, "self < -414 ? log(pow(6, self)) : self",
                  "where(self < -414, 1.791759469228055 * grad, grad)"),
            "");
  EXPECT_EQ(about(f, "self == inf ? 0 : minimum(self, 1e30)", "self < 1e30 ? grad : 0 * grad"), "");
}

// Where the differences are of another period than the steps, they tell nothing.
TEST(Proof, AcceptsWhatSwingsFasterThanTheSteps) {
  for (const char* schema :
       {"f(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor g) -> Tensor",
        "f(Tensor a0, Tensor a1, Tensor a2, Tensor a3, Tensor a4, Tensor a5) -> Tensor"}) {
    const std::string names =
        schema[9] == 'a' && schema[10] == '0' ? "a0*a1*a2*a3*a4*a5" : "a*b*c*d*e*g";
    for (const char* function : {"sin", "cos"}) {
      const Frontend frontend(entry(schema, std::string(function) + "(" + names + ")"));
      EXPECT_EQ(frontend.diagnostics.render(), "") << names;
    }
  }
}

TEST(Proof, AcceptsWhatHasNoDigitsFarAway) {
  for (const char* expression :
       {"sin(self > 1e20 ? 2 : self) + self", "self > 1e20 ? self : cos(self) + 2 * self"}) {
    const Frontend frontend(entry("f(Tensor self) -> Tensor", expression));
    EXPECT_EQ(frontend.diagnostics.render(), "") << expression;
  }
}

TEST(Proof, LooksAtBothSidesOfABranchFarAway) {
  const std::string f = "f(Tensor self) -> Tensor";
  for (const char* edge : {"1000000", "-3e7", "1e12"}) {
    const std::string condition = "self > " + std::string(edge);
    EXPECT_EQ(about(f, condition + " ? self * self : self",
                    "where(" + condition + ", 2 * grad * self, grad)"),
              "");
    EXPECT_THAT(about(f, condition + " ? self * self : self", "grad"),
                HasSubstr("the derivative with respect to 'self' is 1 by the formula"))
        << edge;
  }
}

TEST(Proof, FindsADomainItself) {
  const std::string f = "f(Tensor self) -> Tensor";
  EXPECT_EQ(about(f, "log(self - 10)", "grad / (self - 10)"), "");
  EXPECT_EQ(about(f, "sqrt(-300 - self)", "grad * -0.5 / result"), "");
}

TEST(Proof, GivesNumbersTheSignOfTheirDefaults) {
  // The gradient in terms of the result holds where alpha is positive.
  EXPECT_EQ(
      about("f(Tensor self, Scalar alpha=1) -> Tensor", "self > 0 ? self : alpha * expm1(self)",
            "result > 0 ? grad : grad * (result + alpha)"),
      "");
  EXPECT_EQ(
      about("f(Tensor self, int n=3) -> Tensor", "pow(self, n)", "grad * n * pow(self, n - 1)"),
      "");
}

TEST(Proof, LeavesDivisionsThatHaveNoRemainder) {
  const std::string f = "f(Tensor self, int n=2) -> Tensor";
  EXPECT_EQ(about(f, "self * n / 2", "grad * n / 2"), "");
  EXPECT_EQ(about(f, "self * n", "grad * (4 / 2) * (1. / 2) * (n / 0.5) * 0x1f / 62."), "");
  // What the front end finds is computed as the expression is, in real numbers.
  const Frontend found(entry("f(Tensor self, int n=2) -> Tensor", "self * self / n + 1 / n"));
  EXPECT_EQ(found.diagnostics.render(), "");
}

// Right formulas are accepted, and twice as large they are refused: they have been read.
void expect_proved(const std::string& schema, const std::string& expression,
                   const std::vector<std::string>& gradients) {
  const std::string other = entry("twice(Tensor self, Scalar alpha=2) -> Tensor", "alpha * self");
  for (const auto& gradient : gradients) {
    EXPECT_EQ(about(schema, expression, gradient, other), "");
    EXPECT_THAT(about(schema, expression, "2 * (" + gradient + ")", other),
                HasSubstr("the derivative with respect to 'self' is"))
        << gradient;
  }
}

TEST(Proof, ReadsOperatorsInFormulas) {
  const std::string f = "f(Tensor self) -> Tensor";
  expect_proved(
      f, "2 * self",
      {"grad.mul(2)", "at::mul(grad, 2)", "grad.add(grad)", "add(grad, grad, 1)", "grad.sub(-grad)",
       "at::sub(grad, grad, -1)", "grad.div(0.5)", "grad.neg() * -2", "grad.conj() + grad.detach()",
       "grad.clone() * double(2)", "grad * std::log(std::exp(2))", "twice(grad)",
       "grad.ones_like() * grad * 2", "grad.zeros_like() + 2 * grad", "2 * grad.expand_as(self)"});
  expect_proved(
      f, "relu(self)",
      {"grad * (self > 0)", "grad * self.gt(0)", "grad.masked_fill(self <= 0, 0)",
       "at::where(self.le(0), 0, grad)", "where(~(self < 0), grad, 0)",
       "grad * (self.ge(0) & self.ne(0))", "grad * (self.lt(0) | (self == 0)).logical_not()",
       "grad * at::logical_and(self > 0, !self.eq(0))", "at::logical_or(self < 0, 0) ? 0 : grad",
       "grad * self.sgn().clamp_min(0)", "grad * self.sign().clamp(0)",
       "grad * at::exp(0) * (self > 0)"});
  expect_proved(f, "minimum(maximum(self, -1), 1)",
                {"grad * (self.clamp(-1, 1) == self)",
                 "where(clamp_max(self, 1).clamp_min(-1) == self, grad, self > self)"});
  expect_proved("f(Tensor self, bool flag=False) -> Tensor", "flag ? 3 * self : self",
                {"flag ? 3 * grad : grad", "grad * (1 + 2 * flag)"});
}

TEST(Proof, KeepsSilentAboutWhatItCannotRead) {
  EXPECT_EQ(about("f(Tensor self) -> Tensor", "2 * self", "helper(grad)"), "");
}

}  // namespace
}  // namespace oploom::frontend
