// Gradients of reductions and products where the records cannot reach: zeros, ties, infinite norms.
#include "Testing.h"

#include <aten/autograd/GradCheck.h>
#include <generated/ops/addmm.h>
#include <generated/ops/addmv.h>
#include <generated/ops/amax.h>
#include <generated/ops/baddbmm.h>
#include <generated/ops/bmm.h>
#include <generated/ops/clone.h>
#include <generated/ops/cumprod.h>
#include <generated/ops/cumsum.h>
#include <generated/ops/dot.h>
#include <generated/ops/einsum.h>
#include <generated/ops/linear.h>
#include <generated/ops/logsumexp.h>
#include <generated/ops/matmul.h>
#include <generated/ops/max.h>
#include <generated/ops/mean.h>
#include <generated/ops/min.h>
#include <generated/ops/mm.h>
#include <generated/ops/mv.h>
#include <generated/ops/norm.h>
#include <generated/ops/ones.h>
#include <generated/ops/outer.h>
#include <generated/ops/prod.h>
#include <generated/ops/randn.h>
#include <generated/ops/std.h>
#include <generated/ops/sum.h>
#include <generated/ops/tanh.h>
#include <generated/ops/var.h>

#include <functional>
#include <limits>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using Function = std::function<Tensor(const Tensor&)>;

void expect_derivatives(const Function& f, const Tensor& input, const char* what) {
  const auto wrapped = [&f](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{f(in[0])};
  };
  const Tensor x = input.detach().clone().requires_grad_();
  EXPECT_TRUE(at::autograd::gradcheck(wrapped, {x})) << what;
  EXPECT_TRUE(at::autograd::gradgradcheck(wrapped, {x})) << what;
}

TEST(ReduceGradients, ProductsOfZeros) {
  for (const Tensor& t :
       {f64({{1.5, 2.0, -0.5}, {0.7, -1.2, 2.0}}), f64({{1.5, 0.0, -0.5}, {0.7, -1.2, 2.0}}),
        f64({{1.5, 0.0, 0.0}, {0.0, -1.2, 2.0}})}) {
    expect_derivatives([](const Tensor& x) { return x.prod(); }, t, "prod");
    expect_derivatives([](const Tensor& x) { return x.prod(0); }, t, "prod dim 0");
    expect_derivatives([](const Tensor& x) { return x.prod(1, true); }, t, "prod dim 1");
    expect_derivatives([](const Tensor& x) { return x.cumprod(0); }, t, "cumprod dim 0");
    expect_derivatives([](const Tensor& x) { return x.cumprod(1); }, t, "cumprod dim 1");
  }
}

TEST(ReduceGradients, Reductions) {
  at::manual_seed(1);
  const Tensor t = at::randn({3, 4}, at::kDouble);
  expect_derivatives([](const Tensor& x) { return x.sum({0}).tanh(); }, t, "sum");
  expect_derivatives([](const Tensor& x) { return x.mean({1}, true).tanh(); }, t, "mean");
  expect_derivatives([](const Tensor& x) { return x.var({1}, true); }, t, "var");
  expect_derivatives([](const Tensor& x) { return x.std({0}, false, true); }, t, "std");
  expect_derivatives([](const Tensor& x) { return x.std(); }, t, "std of all");
  expect_derivatives([](const Tensor& x) { return x.norm(); }, t, "norm");
  expect_derivatives([](const Tensor& x) { return x.norm(3, {1}); }, t, "norm 3");
  expect_derivatives([](const Tensor& x) { return x.norm(1, {0}); }, t, "norm 1");
  expect_derivatives(
      [](const Tensor& x) { return x.norm(std::numeric_limits<double>::infinity(), {0}); }, t,
      "norm inf");
  expect_derivatives([](const Tensor& x) { return x.logsumexp({0}); }, t, "logsumexp");
  expect_derivatives([](const Tensor& x) { return x.cumsum(0).tanh(); }, t, "cumsum");
  expect_derivatives([](const Tensor& x) { return x.amax({1}).tanh(); }, t, "amax");
  expect_derivatives([](const Tensor& x) { return x.max().tanh(); }, t, "max");
  expect_derivatives([](const Tensor& x) { return std::get<0>(x.min(0)).tanh(); }, t, "min dim");
}

TEST(ReduceGradients, TiesShareTheGradient) {
  Tensor x = f64({1., 3., 3., 2.}).requires_grad_();
  x.max().backward();
  EXPECT_EQ(doubles(x.grad()), (Doubles{0, 0.5, 0.5, 0}));
  Tensor y = f64({1., 3., 3., 2.}).requires_grad_();
  std::get<0>(y.max(0)).backward();
  EXPECT_EQ(doubles(y.grad()), (Doubles{0, 1, 0, 0}));
  Tensor z = f64({0., 0.}).requires_grad_();
  z.norm().backward();
  EXPECT_EQ(doubles(z.grad()), (Doubles{0, 0}));
}

TEST(ReduceGradients, Dtypes) {
  Tensor x = at::ones({3}).requires_grad_();
  x.sum(at::kDouble).backward();
  EXPECT_EQ(x.grad().scalar_type(), at::kFloat);
}

TEST(ReduceGradients, MatrixProducts) {
  at::manual_seed(2);
  const auto random = [](at::IntArrayRef shape) {
    return at::randn(shape, at::kDouble).requires_grad_();
  };
  const auto check = [](const std::function<Tensor(const std::vector<Tensor>&)>& f,
                        const std::vector<Tensor>& inputs, const char* what) {
    const auto wrapped = [&f](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in)}; };
    EXPECT_TRUE(at::autograd::gradcheck(wrapped, inputs)) << what;
    EXPECT_TRUE(at::autograd::gradgradcheck(wrapped, inputs)) << what;
  };
  check([](auto& in) { return at::mm(in[0], in[1]); }, {random({2, 3}), random({3, 2})}, "mm");
  check([](auto& in) { return at::bmm(in[0], in[1]); }, {random({2, 2, 3}), random({2, 3, 2})},
        "bmm");
  check([](auto& in) { return at::addmm(in[0], in[1], in[2], 2, 3); },
        {random({2}), random({2, 3}), random({3, 2})}, "addmm");
  check([](auto& in) { return at::baddbmm(in[0], in[1], in[2], 2, 3); },
        {random({2, 1}), random({2, 2, 3}), random({2, 3, 2})}, "baddbmm");
  check([](auto& in) { return at::mv(in[0], in[1]); }, {random({2, 3}), random({3})}, "mv");
  check([](auto& in) { return at::addmv(in[0], in[1], in[2], 2, 3); },
        {random({2}), random({2, 3}), random({3})}, "addmv");
  check([](auto& in) { return at::dot(in[0], in[1]); }, {random({3}), random({3})}, "dot");
  check([](auto& in) { return at::outer(in[0], in[1]); }, {random({3}), random({2})}, "outer");
  check([](auto& in) { return at::matmul(in[0], in[1]); }, {random({2, 2, 3}), random({3})},
        "matmul");
  check([](auto& in) { return at::linear(in[0], in[1], in[2]); },
        {random({2, 2, 3}), random({2, 3}), random({2})}, "linear");
  check(
      [](auto& in) {
        return at::einsum("bij,jk->bk", {in[0], in[1]});
      },
      {random({2, 2, 3}), random({3, 2})}, "einsum");
  const Tensor z = at::randn({2, 3}, at::kComplexDouble).requires_grad_();
  const Tensor w = at::randn({3, 2}, at::kComplexDouble).requires_grad_();
  check([](auto& in) { return at::mm(in[0], in[1]); }, {z, w}, "complex mm");
}

}  // namespace
