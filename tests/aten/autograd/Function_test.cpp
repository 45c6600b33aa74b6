// Operations whose backward formula a program writes.
#include <aten/autograd/Function.h>
#include <aten/autograd/GradCheck.h>
#include <generated/ops/exp.h>
#include <generated/ops/sum.h>
#include <generated/ops/zeros.h>
#include <tests/aten/autograd/Testing.h>

namespace {

using at::Tensor;
using at::autograd::AutogradContext;
using at::autograd::variable_list;
using namespace oploom::testing;

struct Scaled : at::autograd::Function<Scaled> {
  static const char* name() { return "Scaled"; }
  static Tensor forward(AutogradContext* context, const Tensor& x, double factor, const Tensor& y) {
    context->save_for_backward({x, y});
    context->saved_data["factor"] = factor;
    EXPECT_FALSE(c10::GradMode::is_enabled());
    return x * y * factor;
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const double factor = context->saved_data["factor"].to_double();
    return {grads[0] * saved[1] * factor, Tensor(), grads[0] * saved[0] * factor};
  }
};

TEST(Function, RunsForwardAndBackward) {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  const Tensor z = Scaled::apply(x, 10.0, y);
  EXPECT_EQ(z.grad_fn()->name(), "Scaled");
  z.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{30, 40}));
  EXPECT_EQ(values_of(y.grad()), (Values{10, 20}));
  EXPECT_THROWS(z.sum().backward(), c10::Error, "graph was freed");
}

TEST(Function, IsDifferentiableTwice) {
  const auto function = [](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{Scaled::apply(inputs[0], 3.0, inputs[1])};
  };
  const std::vector<Tensor> inputs = {leaf({1, 2}), leaf({3, 4})};
  EXPECT_TRUE(at::autograd::gradcheck(function, inputs));
  EXPECT_TRUE(at::autograd::gradgradcheck(function, inputs));
}

TEST(Function, RecordsNothingWhenNothingRequiresGrad) {
  EXPECT_FALSE(Scaled::apply(vector_of({1}), 2.0, vector_of({3})).requires_grad());
}

struct SavesItsOutput : at::autograd::Function<SavesItsOutput> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    Tensor result = x.exp();
    context->save_for_backward({result});
    return result;
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    return {grads[0] * context->get_saved_variables()[0]};
  }
};

TEST(Function, ASavedOutputMakesNoCycle) {
  const Tensor x = leaf({0, 0});
  Tensor y = SavesItsOutput::apply(x);
  const Witness witness(y);
  c10::weak_intrusive_ptr<at::autograd::Node> node(y.grad_fn());
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{1, 1}));
  y.reset();
  EXPECT_FALSE(witness.alive());
  EXPECT_TRUE(node.expired());
}

struct AddsInPlace : at::autograd::Function<AddsInPlace> {
  static Tensor forward(AutogradContext* context, Tensor x, const Tensor& y) {
    x.add_(y);
    context->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0], grads[0] * 7};
  }
};

TEST(Function, MayChangeAnInputInPlace) {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  const Tensor inner = x * 2;
  const Tensor changed = AddsInPlace::apply(inner, y);
  EXPECT_TRUE(changed.is_same(inner));
  changed.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{2, 2}));
  EXPECT_EQ(values_of(y.grad()), (Values{7, 7}));
}

struct Passes : at::autograd::Function<Passes> {
  static std::vector<Tensor> forward(AutogradContext* context, const Tensor& x) {
    const Tensor place = at::zeros({1}, at::kDouble);
    context->mark_non_differentiable({place});
    return {x, place};
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

TEST(Function, HandsInputsThroughAndKnowsConstantOutputs) {
  const Tensor x = leaf({1, 2});
  const auto outputs = Passes::apply(x);
  EXPECT_FALSE(outputs[0].is_same(x));
  EXPECT_TRUE(outputs[0].requires_grad());
  EXPECT_FALSE(outputs[1].requires_grad());
  outputs[0].sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{2, 2}));
}

}  // namespace
