// Gradients and temporaries that are written over by who reads them last, and those that are not.
#include <aten/autograd/Function.h>
#include <aten/autograd/SpareTensors.h>
#include <c10/core/CPUAllocator.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/expand.h>
#include <generated/ops/hypot.h>
#include <generated/ops/hypot_backward.h>
#include <generated/ops/ones.h>
#include <generated/ops/rand.h>
#include <generated/ops/slice.h>
#include <generated/ops/sum.h>
#include <generated/ops/t.h>
#include <generated/ops/tanh.h>
#include <generated/ops/tanh_backward.h>
#include <generated/ops/zeros.h>
#include <tests/aten/autograd/Testing.h>

#include <cmath>
#include <functional>

namespace {

using at::Tensor;
using at::autograd::AutogradContext;
using at::autograd::SpareGradient;
using at::autograd::variable_list;
using namespace oploom::testing;

const void* memory_of(const Tensor& tensor) { return tensor.const_data_ptr(); }

// What tanh_backward() makes of a gradient of threes at the result 0.5.
Tensor tanh_gradient(const Tensor& grad) {
  return at::tanh_backward(SpareGradient(grad), vector_of({0.5, 0.5}));
}

TEST(SpareTensors, AGradientThatNobodyElseHoldsIsWrittenOver) {
  const at::NoGradGuard guard;
  const Tensor grad = vector_of({3, 3});
  const Tensor result = tanh_gradient(grad);
  EXPECT_EQ(memory_of(result), memory_of(grad));
  EXPECT_EQ(values_of(result), (Values{2.25, 2.25}));
  EXPECT_EQ(at::detail::spare_input, nullptr);
}

TEST(SpareTensors, WhatSomebodyCanSeeIsLeftAlone) {
  const auto is_kept = [](const Tensor& grad) {
    const Values before = values_of(grad);
    const Tensor result = tanh_gradient(grad);
    EXPECT_EQ(values_of(result), (Values{2.25, 2.25}));
    return memory_of(result) != memory_of(grad) && values_of(grad) == before;
  };
  const Tensor shared = vector_of({3, 3}), base = vector_of({3, 3, 3});
  double array[] = {3, 3};
  {
    const at::NoGradGuard guard;
    const Tensor& handle = shared;
    const Tensor second = shared;
    EXPECT_TRUE(is_kept(handle)) << "a second handle";
    EXPECT_TRUE(is_kept(base.slice(0, 0, 2))) << "a view";
    EXPECT_TRUE(is_kept(shared.detach())) << "another tensor in its memory";
    EXPECT_TRUE(is_kept(vector_of({3}).expand({2}))) << "elements in one place";
    EXPECT_TRUE(is_kept(at::from_blob(array, {2}, at::kDouble))) << "memory of the caller";
    EXPECT_TRUE(is_kept(leaf({3, 3}))) << "a leaf of a graph";
  }
  EXPECT_EQ(array[0], 3);
  EXPECT_TRUE(is_kept(vector_of({3, 3}))) << "a graph may be recorded";
}

TEST(SpareTensors, OnlyWhereTheResultFits) {
  const at::NoGradGuard guard;
  const auto kept = [](const Tensor& grad, const Tensor& output) {
    const Tensor result = at::tanh_backward(SpareGradient(grad), output);
    const Tensor expected = grad * (1 - output * output);
    EXPECT_EQ(values_of(result), values_of(expected));
    EXPECT_EQ(result.scalar_type(), expected.scalar_type());
    EXPECT_EQ(result.sizes(), expected.sizes());
    EXPECT_EQ(values_of(grad), Values(grad.numel(), 1));
  };
  kept(at::ones({2}, at::kFloat), vector_of({0.5, 0.25}));           // a wider dtype
  kept(at::ones({2}, at::kDouble), at::zeros({3, 2}, at::kDouble));  // more elements
  kept(at::ones({2, 2}, at::kDouble), at::ones({2, 2}, at::kDouble).t());
}

TEST(SpareTensors, OfSeveralResultsTheFirstIsWrittenThere) {
  const at::NoGradGuard guard;
  for (int64_t n : {1, 5, 64, 1000}) {
    const Tensor a = at::rand({n}, at::kDouble) + 1, b = at::rand({n}, at::kDouble) + 1;
    const Tensor length = at::hypot(a, b), grad = at::rand({n}, at::kDouble);
    const auto expected = at::hypot_backward(grad, a, b, length, {true, true});
    const void* memory = memory_of(grad);
    const auto both = at::hypot_backward(SpareGradient(grad), a, b, length, {true, true});
    EXPECT_EQ(memory_of(std::get<0>(both)), memory);
    EXPECT_EQ(values_of(std::get<0>(both)), values_of(std::get<0>(expected)));
    EXPECT_EQ(values_of(std::get<1>(both)), values_of(std::get<1>(expected)));
  }
}

TEST(SpareTensors, ArithmeticTakesTheMemoryOfEitherOperand) {
  using at::autograd::operator*, at::autograd::operator/, at::autograd::operator-;
  const at::NoGradGuard guard;
  const Tensor kept = vector_of({2, 4});
  const auto check = [&](const std::function<Tensor(Tensor &&)>& compute, const Values& expected) {
    Tensor spare = vector_of({6, 8});
    const void* memory = memory_of(spare);
    const Tensor result = compute(std::move(spare));
    EXPECT_EQ(values_of(result), expected);
    EXPECT_EQ(memory_of(result), memory);
  };
  check([&](Tensor&& x) { return std::move(x) * kept; }, {12, 32});
  check([&](Tensor&& x) { return kept * std::move(x); }, {12, 32});
  check([&](Tensor&& x) { return std::move(x) * kept.sum(); }, {36, 48});
  check([&](Tensor&& x) { return std::move(x) * vector_of({2, 4}); }, {12, 32});
  check([&](Tensor&& x) { return std::move(x) / kept; }, {3, 2});
  check([&](Tensor&& x) { return kept / std::move(x); }, {2. / 6, 0.5});
  check([&](Tensor&& x) { return std::move(x) / vector_of({2, 4}); }, {3, 2});
  check([&](Tensor&& x) { return std::move(x) * at::Scalar(0.5); }, {3, 4});
  check([&](Tensor&& x) { return -std::move(x); }, {-6, -8});
  EXPECT_EQ(values_of(kept), (Values{2, 4}));
  // Nothing to write to.
  Tensor shared = vector_of({6, 8});
  const Tensor other = shared;
  EXPECT_EQ(values_of(-std::move(shared)), (Values{-6, -8}));
  EXPECT_EQ(values_of(other), (Values{6, 8}));
  const at::Scalar imaginary(c10::complex<double>(0, 1));
  EXPECT_TRUE((vector_of({1}) * imaginary).is_complex());
  const Tensor integers = at::ones({2}, at::kLong);
  EXPECT_EQ(values_of(at::ones({2}, at::kLong) / integers), (Values{1, 1}));
  EXPECT_EQ(values_of(at::ones({2}, at::kFloat) * vector_of({0.1, 0.2})), (Values{0.1, 0.2}));
}

TEST(SpareTensors, WhatTheCallerOrAHookHoldsKeepsItsValues) {
  const Tensor x = leaf({0.5, -1});
  const Tensor seed = vector_of({3, 4});
  const Tensor y = x.tanh(), z = y.tanh();
  y.retain_grad();
  Tensor seen;
  z.register_hook([&](const Tensor& grad) {
    seen = grad;
    return Tensor();
  });
  variable_list received;
  z.grad_fn()->add_post_hook([&](const variable_list& results, const variable_list& grads) {
    received = grads;
    return results;
  });
  z.backward(seed);
  EXPECT_EQ(values_of(seed), (Values{3, 4}));
  EXPECT_EQ(values_of(seen), (Values{3, 4}));
  EXPECT_EQ(values_of(received[0]), (Values{3, 4}));
  for (int i : {0, 1}) {
    const double inner = std::tanh(i == 0 ? 0.5 : -1.), outer = std::tanh(inner);
    const double of_y = (3 + i) * (1 - outer * outer);
    EXPECT_NEAR(values_of(y.grad())[i], of_y, 1e-15);
    EXPECT_NEAR(values_of(x.grad())[i], of_y * (1 - inner * inner), 1e-15);
  }
}

// Its gradient lies in an array of the program.
struct FromAnArray : at::autograd::Function<FromAnArray> {
  static inline double array[2];
  static const char* name() { return "FromAnArray"; }
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list) {
    array[0] = array[1] = 5;
    return {at::from_blob(array, {2}, at::kDouble)};
  }
};

TEST(SpareTensors, AnArrayOfTheProgramIsNotWrittenTo) {
  const Tensor x = leaf({0, 0});
  const Tensor y = x.tanh();
  // The gradients of both uses meet at y, and their sum goes through tanh.
  (FromAnArray::apply(y) + y * 2).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{7, 7}));
  EXPECT_EQ(FromAnArray::array[0], 5);
}

TEST(SpareTensors, ABackwardPassNeedsNoMemoryPerNode) {
  constexpr int64_t kElements = 1 << 18, kBytes = kElements * sizeof(float);
  const Tensor x = at::rand({kElements}).requires_grad_(), factor = at::rand({kElements});
  Tensor y = x;
  for (int i = 0; i < 4; ++i) y = (y * factor).tanh();
  const Tensor seed = at::ones({kElements});
  y.backward(seed, /*retain_graph=*/true);
  c10::cpu_allocator::reset_peak_stats();
  const int64_t before = c10::cpu_allocator::memory_stats().allocated_bytes;
  y.backward(seed);
  EXPECT_LT(c10::cpu_allocator::memory_stats().peak_bytes - before, 2 * kBytes);
}

}  // namespace
