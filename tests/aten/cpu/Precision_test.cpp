// The error of the mathematical functions in units in the last place (ULP), for the instruction set
// at hand. Tolerances of a test of values are wide enough to hide a wrong coefficient; these bounds
// are what the functions promise: 1 ULP for SLEEF's "u10" functions (below the smallest normal
// number a little more, as its erf() multiplies there), 1 or 2 for glibc's, whose manual counts
// whole ones beside the 0.5 of rounding, and the sum of the roundings for what is composed of them.
#include <aten/Base.h>
#include <aten/stubs/DispatchStub.h>
#include <generated/ops/_log_softmax_backward_data.h>
#include <generated/ops/cat.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/cos.h>
#include <generated/ops/erf.h>
#include <generated/ops/exp.h>
#include <generated/ops/expm1.h>
#include <generated/ops/log.h>
#include <generated/ops/log10.h>
#include <generated/ops/log1p.h>
#include <generated/ops/log2.h>
#include <generated/ops/log_softmax.h>
#include <generated/ops/narrow.h>
#include <generated/ops/ones_like.h>
#include <generated/ops/reciprocal.h>
#include <generated/ops/rsqrt.h>
#include <generated/ops/sigmoid.h>
#include <generated/ops/silu.h>
#include <generated/ops/sin.h>
#include <generated/ops/softmax.h>
#include <generated/ops/sqrt.h>
#include <generated/ops/stack.h>
#include <generated/ops/t.h>
#include <generated/ops/tan.h>
#include <generated/ops/tanh.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/zeros.h>
#include <generated/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace {

using at::Tensor;

// The number that the error is measured in: the distance of neighbouring numbers of T around x.
template <typename T, typename Wide>
Wide unit(Wide x) {
  using Limits = std::numeric_limits<T>;
  if (!std::isfinite(x)) return std::ldexp(Wide(1), Limits::max_exponent - Limits::digits);
  const int exponent = x == 0 ? Limits::min_exponent : std::ilogb(std::abs(x)) + 1;
  return std::ldexp(Wide(1), std::max(exponent, Limits::min_exponent) - Limits::digits);
}

// |got - expected| in ULP of T; infinite where one is NaN, or infinite beyond rounding, and the
// other is not.
template <typename T, typename Wide>
double error_in_ulp(T got, Wide expected) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(expected) || std::isnan(got)) {
    return std::isnan(expected) && std::isnan(got) ? 0 : Limits::infinity();
  }
  // The number after the largest one stands for infinity, so that an error is finite there.
  const Wide limit = Wide(Limits::max()) + unit<T>(Wide(Limits::max()));
  const auto bounded = [&](Wide x) {
    return std::isinf(x) || std::abs(x) > limit ? std::copysign(limit, x) : x;
  };
  const Wide want = bounded(expected);
  const Wide have = bounded(static_cast<Wide>(got));
  return static_cast<double>(std::abs(have - want) /
                             unit<T>(std::min(std::abs(want), Wide(Limits::max()))));
}

// What an error may be: `ulp` of them, and `absolute` besides, where a formula has no better to
// offer.
struct Bound {
  double default_ulp;  // the DEFAULT kernels, which call glibc
  double vector_ulp;   // the others
  double absolute = 0;

  double ulp() const { return at::get_cpu_capability() == "DEFAULT" ? default_ulp : vector_ulp; }
};

struct Function {
  const char* name;
  Tensor (*function)(const Tensor&);
  std::function<long double(long double)> reference;
  std::function<double(double)> reference_of_float;
  Bound float32;
  Bound float64;
};

template <typename T>
Tensor tensor_of(std::vector<T>& values) {
  return at::from_blob(values.data(), {static_cast<int64_t>(values.size())},
                       at::TensorOptions().dtype(c10::CppTypeToScalarType<T>::value));
}

// A sample of all bit patterns, small and large steps of the exponent alike, and what lies at the
// edges.
std::vector<float> floats() {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 4093) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  // Denser where results change most, and near the ends of the domains.
  for (int i = -120000; i <= 120000; ++i) values.push_back(static_cast<float>(i) * 0.00093f);
  using Limits = std::numeric_limits<float>;
  for (float edge : {0.0f, Limits::min(), Limits::max(), 1.0f, 88.72284f, 87.33655f, 103.97208f,
                     104.0f, 127.5f, 128.0f, 0.5f, 2.0f, 1.5707964f, 3.1415927f, 9.0f}) {
    for (float x : {edge, std::nextafter(edge, Limits::infinity()), std::nextafter(edge, -1.0f)}) {
      values.push_back(x);
      values.push_back(-x);
    }
  }
  for (float x : {Limits::infinity(), Limits::denorm_min(), Limits::quiet_NaN()}) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

std::vector<double> doubles() {
  std::vector<double> values;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) values.push_back(std::bit_cast<double>(random()));
  std::uniform_real_distribution<double> uniform(-750, 750);
  for (int i = 0; i < 20000; ++i) values.push_back(uniform(random));
  for (int i = 0; i < 20000; ++i) values.push_back(uniform(random) / 256);
  using Limits = std::numeric_limits<double>;
  for (double x : {0.0, 1.0, Limits::min(), Limits::max(), Limits::denorm_min(), Limits::infinity(),
                   Limits::quiet_NaN(), 709.78, 745.13, 1e-300}) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

// The largest error of results against reference(i), and where it is.
template <typename T, typename Reference>
void expect_precise(const char* name, const Tensor& result, const Bound& bound,
                    const std::vector<T>& inputs, const Reference& reference) {
  const T* got = result.const_data_ptr<T>();
  ASSERT_EQ(static_cast<size_t>(result.numel()), inputs.size());
  double worst = 0;
  size_t place = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto expected = reference(i);
    double error = error_in_ulp(got[i], expected);
    if (bound.absolute > 0) {
      error = std::max(0.0, error - bound.absolute / static_cast<double>(unit<T>(expected)));
    }
    if (error > worst) {
      worst = error;
      place = i;
    }
  }
  EXPECT_LE(worst, bound.ulp()) << name << "(" << inputs[place] << ") is " << got[place] << ", not "
                                << static_cast<double>(reference(place));
}

#define BOTH(expression)                                   \
  [](long double x) -> long double { return expression; }, \
      [](double x) -> double { return expression; }

const Function kFunctions[] = {
    {"cos", at::cos, BOTH(std::cos(x)), {1, 1}, {1, 1}},
    {"erf", at::erf, BOTH(std::erf(x)), {1, 1.1}, {1.1, 1}},
    {"exp", at::exp, BOTH(std::exp(x)), {1, 1}, {1, 1}},
    {"expm1", at::expm1, BOTH(std::expm1(x)), {1, 1}, {1, 1}},
    {"log", at::log, BOTH(std::log(x)), {1, 1}, {1, 1}},
    {"log10", at::log10, BOTH(std::log10(x)), {2, 1}, {2, 1}},
    {"log1p", at::log1p, BOTH(std::log1p(x)), {1, 1}, {1, 1}},
    {"log2", at::log2, BOTH(std::log2(x)), {1, 1}, {1, 1}},
    {"reciprocal", at::reciprocal, BOTH(1 / x), {.5, .5}, {.5, .5}},
    {"rsqrt", at::rsqrt, BOTH(1 / std::sqrt(x)), {1.5, 1.5}, {1.5, 1.5}},
    {"sigmoid",
     at::sigmoid,
     BOTH(1 / (1 + std::exp(-x))),
     {2.5, 2.5, 1.2e-38},
     {2.5, 2.5, 2.3e-308}},
    {"silu", at::silu, BOTH(x / (1 + std::exp(-x))), {2.5, 2.5, 1.2e-36}, {2.5, 2.5, 2.3e-305}},
    {"sin", at::sin, BOTH(std::sin(x)), {1, 1}, {1, 1}},
    {"sqrt", at::sqrt, BOTH(std::sqrt(x)), {.5, .5}, {.5, .5}},
    {"tan", at::tan, BOTH(std::tan(x)), {1.1, 1}, {1, 1}},
    {"tanh", at::tanh, BOTH(std::tanh(x)), {2.1, 1.0001}, {2.1, 1.0001}},
};

TEST(Precision, FunctionsOfFloat) {
  std::vector<float> inputs = floats();
  for (const Function& f : kFunctions) {
    const Tensor result = f.function(tensor_of(inputs));
    expect_precise(f.name, result, f.float32, inputs,
                   [&](size_t i) { return f.reference_of_float(inputs[i]); });
  }
}

TEST(Precision, FunctionsOfDouble) {
  std::vector<double> inputs = doubles();
  for (const Function& f : kFunctions) {
    const Tensor result = f.function(tensor_of(inputs));
    expect_precise(f.name, result, f.float64, inputs,
                   [&](size_t i) { return f.reference(inputs[i]); });
  }
}

// softmax has an exp of its own. With a gradient that is 1 once and 0 elsewhere, the gradient of
// log_softmax is -exp(output) at the zeros, exactly as the function gives it.
template <typename T>
Tensor exp_of_softmax(const Tensor& x, bool in_rows) {
  const int64_t n = x.numel();
  if (in_rows) {
    const Tensor grad = at::zeros({1, n + 1}, x.options());
    grad.select(1, n).fill_(1);
    const Tensor y = at::cat({x, at::zeros({1}, x.options())}).unsqueeze(0);
    return at::_log_softmax_backward_data(grad, y, 1, x.scalar_type())
        .select(0, 0)
        .narrow(0, 0, n)
        .neg();
  }
  const Tensor grad = at::stack({at::zeros_like(x), at::ones_like(x)});
  const Tensor y = at::stack({x, at::zeros_like(x)});
  return at::_log_softmax_backward_data(grad, y, 0, x.scalar_type()).select(0, 0).neg();
}

TEST(Precision, ExpOfSoftmax) {
  // Note [Branchless exp] in aten/cpu/Exp.h.
  constexpr Bound bound{1.5, 1.5};
  std::vector<float> inputs = floats();
  std::vector<double> wide_inputs = doubles();
  for (bool in_rows : {true, false}) {
    expect_precise("exp", exp_of_softmax<float>(tensor_of(inputs), in_rows), bound, inputs,
                   [&](size_t i) { return std::exp(static_cast<double>(inputs[i])); });
    expect_precise("exp", exp_of_softmax<double>(tensor_of(wide_inputs), in_rows), bound,
                   wide_inputs,
                   [&](size_t i) { return std::exp(static_cast<long double>(wide_inputs[i])); });
  }
}

// Of pairs (x, 0), with x below 0.
TEST(Precision, SoftmaxAndLogSoftmax) {
  std::vector<float> inputs;
  for (float x : floats()) {
    if (x <= 0 && x > -100) inputs.push_back(x);
  }
  const Tensor x = tensor_of(inputs);
  const Tensor pairs = at::stack({x, at::zeros_like(x)});
  for (const Tensor& t : {pairs, pairs.t().contiguous().t()}) {
    const Tensor soft = t.softmax(0).select(0, 0).contiguous();
    // exp 1.5, its sum and the quotient 0.5 each
    expect_precise("softmax", soft, {2.5, 2.5}, inputs,
                   [&](size_t i) { return 1 / (1 + std::exp(-static_cast<double>(inputs[i]))); });
    const Tensor log = t.log_softmax(0).select(0, 0).contiguous();
    expect_precise("log_softmax", log, {2.5, 2.5}, inputs, [&](size_t i) {
      const double e = static_cast<double>(inputs[i]);
      return e - std::log1p(std::exp(e));
    });
  }
}

}  // namespace
