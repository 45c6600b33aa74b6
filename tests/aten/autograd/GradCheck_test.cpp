// gradcheck itself, and with it the formulas that are written in C++.
#include <aten/autograd/Function.h>
#include <aten/autograd/GradCheck.h>
#include <generated/ops/abs.h>
#include <generated/ops/addmm.h>
#include <generated/ops/amax.h>
#include <generated/ops/as_strided.h>
#include <generated/ops/cumprod.h>
#include <generated/ops/cumsum.h>
#include <generated/ops/embedding.h>
#include <generated/ops/exp.h>
#include <generated/ops/layer_norm.h>
#include <generated/ops/log_softmax.h>
#include <generated/ops/logsumexp.h>
#include <generated/ops/matmul.h>
#include <generated/ops/max.h>
#include <generated/ops/mean.h>
#include <generated/ops/mm.h>
#include <generated/ops/mse_loss.h>
#include <generated/ops/norm.h>
#include <generated/ops/ones.h>
#include <generated/ops/pow.h>
#include <generated/ops/prod.h>
#include <generated/ops/rand.h>
#include <generated/ops/randn.h>
#include <generated/ops/reshape.h>
#include <generated/ops/softmax.h>
#include <generated/ops/sort.h>
#include <generated/ops/std.h>
#include <generated/ops/var.h>
#include <tests/aten/autograd/Testing.h>

#include <functional>
#include <limits>

namespace {

using at::Tensor;
using at::autograd::gradcheck;
using at::autograd::GradCheckFunction;
using at::autograd::gradgradcheck;
using namespace oploom::testing;

struct WrongSlope : at::autograd::Function<WrongSlope> {
  static Tensor forward(at::autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static at::autograd::variable_list backward(at::autograd::AutogradContext*,
                                              at::autograd::variable_list grads) {
    return {grads[0] * 3};
  }
};

TEST(GradCheck, FindsAWrongGradient) {
  EXPECT_THROWS(
      gradcheck([](const auto& in) { return std::vector<Tensor>{WrongSlope::apply(in[0])}; },
                {leaf({1, 2})}),
      c10::Error,
      "the derivative of element 0 of output 0 by element 0 of input 0 is 3, but finite "
      "differences give 2");
}

TEST(GradCheck, WantsDoubles) {
  EXPECT_THROWS(gradcheck([](const auto& in) { return std::vector<Tensor>{in[0] * 2}; },
                          {at::ones({2}, at::kFloat).requires_grad_()}),
                c10::Error, "expected float64 or complex128");
}

Tensor values(at::IntArrayRef sizes, uint64_t seed) {
  at::manual_seed(seed);
  return at::randn(sizes, at::kDouble).requires_grad_();
}

Tensor positive(at::IntArrayRef sizes, uint64_t seed) {
  at::manual_seed(seed);
  return (at::rand(sizes, at::kDouble) + 0.5).detach().requires_grad_();
}

// Gradient and double gradient of a function of one output.
void check(const std::function<Tensor(const std::vector<Tensor>&)>& function,
           const std::vector<Tensor>& inputs) {
  const GradCheckFunction wrapped = [&](const std::vector<Tensor>& arguments) {
    return std::vector<Tensor>{function(arguments)};
  };
  EXPECT_TRUE(gradcheck(wrapped, inputs));
  EXPECT_TRUE(gradgradcheck(wrapped, inputs));
}

TEST(Formulas, Arithmetic) {
  const std::vector<Tensor> two = {values({2, 3}, 1), positive({3}, 2)};
  check([](const auto& in) { return in[0] * in[1]; }, two);
  check([](const auto& in) { return in[0] / in[1]; }, two);
  check([](const auto& in) { return at::sub(in[0], in[1], 3); }, two);
  check([](const auto& in) { return in[1].pow(in[0]); }, two);
  check([](const auto& in) { return in[1].pow(2.5); }, two);
  check([](const auto& in) { return at::pow(2.0, in[0]); }, two);
}

TEST(Formulas, Products) {
  check([](const auto& in) { return in[0].prod(); }, {values({4}, 3)});
  check([](const auto& in) { return in[0].prod(1); }, {values({2, 3}, 4)});
  // With zeros, one and several in a row.
  check([](const auto& in) { return in[0].prod(); }, {leaf({2, 0, 3})});
  check(
      [](const auto& in) {
        return in[0].reshape({2, 3}).prod(1, true);
      },
      {leaf({2, 0, 3, 0, 0, 5})});
  check([](const auto& in) { return in[0].cumprod(0); }, {leaf({2, 0, 3, 4})});
  check([](const auto& in) { return in[0].cumsum(1); }, {values({2, 3}, 5)});
}

TEST(Formulas, Statistics) {
  const Tensor x = values({3, 4}, 6);
  check([](const auto& in) { return in[0].var(); }, {x});
  check([](const auto& in) { return in[0].var(at::OptionalIntArrayRef({1}), 1); }, {x});
  check([](const auto& in) { return in[0].std(at::OptionalIntArrayRef({0}), std::nullopt, true); },
        {x});
  check([](const auto& in) { return in[0].mean(at::IntArrayRef({0, 1})); }, {x});
  check([](const auto& in) { return in[0].logsumexp(at::IntArrayRef({1})); }, {x});
}

TEST(Formulas, Norms) {
  const Tensor x = values({3, 4}, 7);
  for (const double p : {1.0, 2.0, 3.0, 1.5, std::numeric_limits<double>::infinity()}) {
    check([p](const auto& in) { return in[0].norm(p, at::IntArrayRef({1}), false); }, {x});
    check([p](const auto& in) { return in[0].norm(p); }, {x});
  }
}

TEST(Formulas, Extremes) {
  const Tensor x = values({3, 4}, 8);
  check([](const auto& in) { return in[0].max(); }, {x});
  check([](const auto& in) { return std::get<0>(in[0].max(1)); }, {x});
  check([](const auto& in) { return in[0].amax(at::IntArrayRef({0})); }, {x});
  check([](const auto& in) { return std::get<0>(in[0].sort(1)); }, {x});
}

TEST(Formulas, SharedExtremesShareTheGradient) {
  const Tensor x = leaf({1, 3, 3, 2});
  x.max().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{0, 0.5, 0.5, 0}));
  x.mutable_grad().reset();
  x.amax(at::IntArrayRef({0})).backward();
  EXPECT_EQ(values_of(x.grad()), (Values{0, 0.5, 0.5, 0}));
}

TEST(Formulas, NeuralNetworks) {
  const Tensor x = values({3, 4}, 9);
  check([](const auto& in) { return at::softmax(in[0], 1); }, {x});
  check([](const auto& in) { return at::log_softmax(in[0], 0); }, {x});
  check([](const auto& in) { return at::mse_loss(in[0], in[1]); }, {x, values({3, 4}, 10)});
  check([](const auto& in) { return at::mse_loss(in[0], in[1], 0); }, {x, values({3, 4}, 11)});
  check([](const auto& in) { return at::layer_norm(in[0], {4}, in[1], in[2]); },
        {x, values({4}, 12), values({4}, 13)});
  check([](const auto& in) { return at::layer_norm(in[0], {4}); }, {x});
  const Tensor indices = at::tensor({2, 0, 2}, at::kLong);
  check([&](const auto& in) { return at::embedding(in[0], indices); }, {x});
  // The padding row gets no gradient, and frequent rows less of it: not the derivative, by
  // intention, but a linear function of the incoming gradient all the same.
  EXPECT_TRUE(gradgradcheck(
      [&](const auto& in) { return std::vector<Tensor>{at::embedding(in[0], indices, 0, true)}; },
      {x}));
}

TEST(Formulas, MatrixProducts) {
  check([](const auto& in) { return in[0].matmul(in[1]); },
        {values({2, 3}, 14), values({3, 2}, 15)});
  check([](const auto& in) { return at::addmm(in[0], in[1], in[2], 2, 3); },
        {values({2, 2}, 16), values({2, 3}, 17), values({3, 2}, 18)});
}

TEST(Formulas, ComplexNumbers) {
  at::manual_seed(19);
  const Tensor x = at::randn({3}, at::kComplexDouble).requires_grad_();
  const Tensor y = at::randn({3}, at::kComplexDouble).requires_grad_();
  const Tensor real = values({3}, 20);
  check([](const auto& in) { return in[0] * in[1]; }, {x, y});
  check([](const auto& in) { return in[0] / in[1]; }, {x, y});
  check([](const auto& in) { return in[0] * in[1]; }, {x, real});
  check([](const auto& in) { return in[0].abs(); }, {x});
  check([](const auto& in) { return in[0].exp(); }, {x});
  check([](const auto& in) { return in[0].reshape({1, 3}).mm(in[1].reshape({3, 1})); }, {x, y});
}

TEST(Formulas, StridedViewsThatOverlap) {
  check([](const auto& in) { return in[0].as_strided({3, 2}, {1, 1}, 0); }, {values({4}, 21)});
  check([](const auto& in) { return in[0].as_strided({2, 2}, {2, 1}, 1); }, {values({6}, 22)});
  check(
      [](const auto& in) {
        return in[0].as_strided({2, 3, 2}, {3, 1, 2}, 1);
      },
      {values({9}, 23)});
}

}  // namespace
