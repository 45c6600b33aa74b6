// Forward formulas: what they are taken apart into, and how kernels spell them.
#include "Frontend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oploom::frontend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The C++ of the terms, each after the tangents that it belongs to.
std::vector<std::string> terms(const Frontend& frontend, const std::string& name) {
  std::vector<std::string> list;
  const Operator* op = frontend.model.find(name);
  for (const auto& formula : op->derivative->forward) {
    for (const auto& term : formula.terms) {
      std::string tangents;
      for (const auto& tangent : term.tangents) tangents += (tangents.empty() ? "" : " ") + tangent;
      list.push_back(tangents + ": " + (term.program ? term.text : term.cpp));
    }
  }
  return list;
}

const ForwardFormula& formula_of(const Frontend& frontend, const std::string& name) {
  return frontend.model.find(name)->derivative->forward.at(0);
}

constexpr const char* kDiv = R"(
- func: div(Tensor self, Tensor other) -> Tensor
  family: BinaryOps
  variants: function, method
  structured: True
  structured_inherits: TensorIteratorBase
  autogen: div_, div.out
  dispatch: {CPU: div_out}
  tags: pointwise
)";

std::string div_with(const std::string& forward) {
  return "- name: div(Tensor self, Tensor other) -> Tensor\n  self: grad / other\n"
         "  other: -grad * self\n  result: " +
         forward + "\n";
}

TEST(Forward, ASumIsTakenApart) {
  const Frontend frontend(kDiv, div_with("self_t / other_p - (self_p + other_t) * other_t"));
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_THAT(terms(frontend, "div"),
              ElementsAre("self: self_t / other", "other: -((self + other_t) * other_t)"));
}

TEST(Forward, ATermMayNeedSeveralTangents) {
  const Frontend frontend(kDiv, div_with("f(self_t, other_t) + self_t"));
  EXPECT_THAT(terms(frontend, "div"),
              ElementsAre("self other: f(self_t, other_t)", "self: self_t"));
}

TEST(Forward, AnInPlaceFormHasItsOwnNames) {
  const Frontend before(kDiv, div_with("self_t / other_p - other_t * self_p"));
  EXPECT_THAT(terms(before, "div_"),
              ElementsAre("self: self_t / other", "other: -(other_t * self)"));
  EXPECT_FALSE(formula_of(before, "div_").uses_output) << "computed before self is overwritten";
  EXPECT_FALSE(formula_of(before, "div_").uses_self);

  const Frontend after(kDiv, div_with("self_t / other_p - other_t * (result / other_p)"));
  EXPECT_THAT(terms(after, "div"),
              ElementsAre("self: self_t / other", "other: -(other_t * (result / other))"));
  EXPECT_THAT(terms(after, "div_"),
              ElementsAre("self: self_t / other", "other: -(other_t * (self / other))"));
  EXPECT_TRUE(formula_of(after, "div_").uses_output);
  EXPECT_FALSE(formula_of(after, "div_").uses_self);

  const Frontend both(kDiv, div_with("self_t * self_p + other_t * result"));
  EXPECT_THAT(terms(both, "div_"), ElementsAre("self: self_t * self_p", "other: other_t * self"));
  EXPECT_TRUE(formula_of(both, "div_").uses_self) << "a copy of what is overwritten";
  EXPECT_FALSE(formula_of(both, "div").uses_self);
}

TEST(Forward, WordsStandForFormulas) {
  const Frontend linear(kDiv, div_with("auto_linear"));
  EXPECT_THAT(terms(linear, "div"), ElementsAre("self other: self_t.div(other_t)"));
  const Frontend element(kDiv, div_with("auto_element_wise"));
  EXPECT_THAT(terms(element, "div"), ElementsAre("self: (self_t.conj() / other).conj()",
                                                 "other: (-other_t.conj() * self).conj()"));
}

TEST(Forward, AnExpressionOfOneTensorUsesItsGradient) {
  const Frontend real(
      "- func: f(Tensor self, float a) -> Tensor\n  family: F\n"
      "  expr: atan2(self, a)\n");
  EXPECT_EQ(real.diagnostics.render(), "");
  EXPECT_THAT(terms(real, "f"), ElementsAre("self: f_backward(self_t, self, a)"));
  const Frontend complex("- func: f(Tensor self) -> Tensor\n  family: F\n  expr: exp(self)\n");
  EXPECT_THAT(terms(complex, "f"), ElementsAre("self: f_backward(self_t.conj(), result).conj()"));
  EXPECT_THAT(terms(complex, "f_"), ElementsAre("self: f_backward(self_t.conj(), self).conj()"));
  EXPECT_THAT(terms(complex, "f_backward"), ElementsAre("grad_output: grad_output_t * conj(output)",
                                                        "output: grad_output * conj(output_t)"));
}

TEST(Forward, AnExpressionOfSeveralTensorsHasAKernelForTheSum) {
  const Frontend frontend(
      "- func: f(Tensor self, Tensor other) -> Tensor\n  family: F\n  expr: atan2(self, other)\n");
  EXPECT_THAT(terms(frontend, "f"),
              ElementsAre("self: std::get<0>(f_backward(self_t, self, other, {true, false}))",
                          "other: std::get<1>(f_backward(other_t, self, other, {false, true}))"));
  EXPECT_EQ(formula_of(frontend, "f").together_cpp, "f_jvp(self_t, other_t, self, other)");
  const Operator* jvp = frontend.model.find("f_jvp");
  ASSERT_NE(jvp, nullptr);
  EXPECT_TRUE(jvp->internal);
  // (y x_t - x y_t) / (x^2 + y^2) of (3, 4), along (1, 0) and (0, 1).
  for (const auto& [self_t, other_t, wanted] :
       {std::tuple(1.0, 0.0, 4 / 25.0), std::tuple(0.0, 1.0, -3 / 25.0)}) {
    Evaluator evaluator(jvp->expression->program);
    evaluator.run(
        {{"self_tangent", self_t}, {"other_tangent", other_t}, {"self", 3}, {"other", 4}});
    EXPECT_DOUBLE_EQ(evaluator.output(0), wanted);
  }
  EXPECT_EQ(jvp->derivative->inputs.size(), 4u) << "it has derivatives itself";
  EXPECT_EQ(jvp->derivative->forward.size(), 1u);
}

TEST(Forward, WhatHasNoFormulaHasNone) {
  const Frontend frontend(kDiv,
                          "- name: div(Tensor self, Tensor other) -> Tensor\n  self: grad / other\n"
                          "  other: -grad * self\n");
  EXPECT_THAT(terms(frontend, "div"), IsEmpty());
}

}  // namespace
}  // namespace oploom::frontend
