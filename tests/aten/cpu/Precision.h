// What the mathematical functions promise, and how an error is measured: shared by
// Precision_test.cpp, which samples, and accuracy.cpp, which goes through all numbers of float.
#pragma once

#include <aten/Base.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/util/special_functions.h>
#include <generated/ops/acos.h>
#include <generated/ops/acosh.h>
#include <generated/ops/asin.h>
#include <generated/ops/asinh.h>
#include <generated/ops/atan.h>
#include <generated/ops/atanh.h>
#include <generated/ops/cos.h>
#include <generated/ops/cosh.h>
#include <generated/ops/digamma.h>
#include <generated/ops/erf.h>
#include <generated/ops/erfc.h>
#include <generated/ops/erfinv.h>
#include <generated/ops/exp.h>
#include <generated/ops/exp2.h>
#include <generated/ops/expm1.h>
#include <generated/ops/gelu.h>
#include <generated/ops/gelu_backward.h>
#include <generated/ops/i0.h>
#include <generated/ops/lgamma.h>
#include <generated/ops/log.h>
#include <generated/ops/log10.h>
#include <generated/ops/log1p.h>
#include <generated/ops/log2.h>
#include <generated/ops/log_sigmoid.h>
#include <generated/ops/logaddexp.h>
#include <generated/ops/logaddexp2.h>
#include <generated/ops/logit.h>
#include <generated/ops/mish.h>
#include <generated/ops/ones_like.h>
#include <generated/ops/polygamma.h>
#include <generated/ops/pow.h>
#include <generated/ops/reciprocal.h>
#include <generated/ops/rsqrt.h>
#include <generated/ops/sigmoid.h>
#include <generated/ops/silu.h>
#include <generated/ops/sin.h>
#include <generated/ops/sinh.h>
#include <generated/ops/special_erfcx.h>
#include <generated/ops/special_i0e.h>
#include <generated/ops/special_i1.h>
#include <generated/ops/special_i1e.h>
#include <generated/ops/special_log_ndtr.h>
#include <generated/ops/special_ndtr.h>
#include <generated/ops/special_ndtri.h>
#include <generated/ops/sqrt.h>
#include <generated/ops/tan.h>
#include <generated/ops/tanh.h>
#include <generated/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace precision {

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
    return std::isnan(expected) && std::isnan(got) ? 0. : std::numeric_limits<double>::infinity();
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
  double default_absolute = 0;
  double vector_absolute = 0;

  static bool is_default() { return at::get_cpu_capability() == "DEFAULT"; }
  double ulp() const { return is_default() ? default_ulp : vector_ulp; }
  double absolute() const { return is_default() ? default_absolute : vector_absolute; }

  // The error in ULP of T, less what `absolute` allows.
  template <typename T, typename Wide>
  double error(T got, Wide expected) const {
    const double error = error_in_ulp(got, expected);
    if (absolute() == 0) return error;
    return std::max(0.0, error - absolute() / static_cast<double>(unit<T>(expected)));
  }
};

struct Function {
  const char* name;
  Tensor (*function)(const Tensor&);
  long double (*reference)(long double);
  double (*reference_of_float)(double);
  Bound float32;
  Bound float64;
};

// c10::special's with a step of Newton's method more.
inline long double exact_erfinv(long double x) {
  const long double near = c10::special::erfinv(static_cast<double>(x));
  if (!(std::abs(x) < 1) || x == 0) return near;
  const long double y = std::abs(near), magnitude = std::abs(x);
  const long double error =
      magnitude < 0.5L ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
  return std::copysign(y - error * std::exp(y * y) * 0.886226925452758013649L, x);
}

// exp(x^2) erfc(x), from 25 on by DLMF 7.9.1.
inline long double exact_erfcx(long double x) {
  if (x < -100) return std::numeric_limits<long double>::infinity();
  if (x < 25) {
    const long double square = x * x;
    return std::exp(square) * (1 + std::fma(x, x, -square)) * std::erfc(x);
  }
  long double tail = x;
  for (int k = 60; k >= 1; --k) tail = x + 0.5L * k / tail;
  return 1 / (1.77245385090551602730L * tail);
}

// c10::special's with such a step; of shares above 1/2, minus that of the rest.
inline long double exact_ndtri(long double x) {
  if (x > 0.5L) return -exact_ndtri(1 - x);
  const long double near = c10::special::ndtri(static_cast<double>(x));
  if (!(x > 0)) return near;
  const long double share = std::erfc(near * -0.707106781186547524401L) / 2;
  return near + (x - share) * std::exp(near * near / 2) * 2.50662827463100050242L;
}

// DLMF 5.5.2, up to 40, 5.11.2 and, below 0, 5.5.4.
inline long double exact_digamma(long double x) {
  constexpr long double kPi = 3.14159265358979323846L;
  if (x == 0) return -1 / x;
  if (x < 0) {
    if (x == std::floor(x)) return std::numeric_limits<long double>::quiet_NaN();
    return exact_digamma(1 - x) - kPi / std::tan(kPi * (x - std::round(x)));
  }
  long double below = 0;
  for (; x < 40; ++x) below += 1 / x;
  const long double z = 1 / (x * x);
  const long double series =
      z * (1.L / 12 - z * (1.L / 120 - z * (1.L / 252 - z * (1.L / 240 - z / 132))));
  return std::log(x) - 0.5L / x - series - below;
}

// DLMF 5.15.5, up to 40, 5.15.8 and, below 0, 5.15.6.
inline long double exact_trigamma(long double x) {
  constexpr long double kPi = 3.14159265358979323846L;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<long double>::infinity();
    const long double slope = kPi / std::sin(kPi * (x - std::round(x)));
    return slope * slope - exact_trigamma(1 - x);
  }
  long double below = 0;
  for (; x < 40; ++x) below += 1 / (x * x);
  const long double z = 1 / (x * x);
  const long double series =
      z * (1.L / 6 - z * (1.L / 30 - z * (1.L / 42 - z * (1.L / 30 - z * 5 / 66))));
  return below + (1 + 0.5L / x + series) / x;
}

// The modified Bessel function I of order 0 or 1, times exp(-|x|) if it is to be scaled: DLMF
// 10.25.2 and, from 700 on, 10.40.1.
inline long double exact_bessel(int order, long double x, bool scaled) {
  const long double magnitude = std::abs(x), sign = order == 1 && std::signbit(x) ? -1 : 1;
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return scaled ? 0 : sign * magnitude;
  long double sum = 1, term = 1;
  if (magnitude > 700) {
    for (int k = 1; k < 12; ++k) {
      term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * k * magnitude);
      sum += term;
    }
    const long double y = sum / std::sqrt(6.28318530717958647693L * magnitude);
    return sign * (scaled ? y : y * std::exp(magnitude));
  }
  for (int k = 1; term > sum * 1e-22L; ++k) {
    term *= magnitude / 2 / k * (magnitude / 2) / (k + order);
    sum += term;
  }
  const long double y = order == 1 ? sum * magnitude / 2 : sum;
  return sign * (scaled ? y * std::exp(-magnitude) : y);
}

// The derivative of x / (1 + exp(-w)), gelu_tanh below.
template <typename T>
T exact_gelu_tanh_slope(T x) {
  if (std::abs(x) > 100) return x > 0;
  const T root = T(1.59576912160573071176L), cubic = root * T(0.044715L);
  const T w = x * (root + cubic * x * x), share = 1 / (1 + std::exp(-w));
  return share + x * share / (1 + std::exp(w)) * (root + 3 * cubic * x * x);
}

template <typename T>
Tensor tensor_of(T* values, size_t count) {
  return at::from_blob(values, {static_cast<int64_t>(count)},
                       at::TensorOptions().dtype(c10::CppTypeToScalarType<T>::value));
}

#define OPLOOM_BOTH(expression)                            \
  [](long double x) -> long double { return expression; }, \
      [](double x) -> double { return expression; }
#define OPLOOM_POW(exponent)                                    \
  [](const Tensor& x) { return at::pow(x, double(exponent)); }, \
      OPLOOM_BOTH(std::pow(x, decltype(x)(exponent)))
#define OPLOOM_POW_OF(base)                                             \
  [](const Tensor& x) { return at::pow(at::Scalar(double(base)), x); }, \
      OPLOOM_BOTH(std::pow(decltype(x)(base), x))

// The first numbers of float32 are of glibc, whose manual counts whole ULP beside the 0.5 of
// rounding; the second are those of aten/cpu/vec/math_*.h, or of what is composed of them. So
// are those of float64. Those of c10::special are compared with it in double, and in float64 with
// exact_*. DEFAULT's sigmoid gives 0 where exp(-x) overflows, and a share that is subnormal costs
// gelu digits.
inline const Function kFunctions[] = {
    {"acos", at::acos, OPLOOM_BOTH(std::acos(x)), {1, 1}, {1, 1}},
    {"acosh", at::acosh, OPLOOM_BOTH(std::acosh(x)), {2, 1}, {2, 1}},
    {"asin", at::asin, OPLOOM_BOTH(std::asin(x)), {1, 1}, {1, 1}},
    {"asinh", at::asinh, OPLOOM_BOTH(std::asinh(x)), {2, 1}, {2, 1}},
    {"atan", at::atan, OPLOOM_BOTH(std::atan(x)), {1, 1}, {1, 1}},
    {"atanh", at::atanh, OPLOOM_BOTH(std::atanh(x)), {2, 1}, {2, 1}},
    {"cos", at::cos, OPLOOM_BOTH(std::cos(x)), {1, 1}, {1, 1}},
    {"cosh", at::cosh, OPLOOM_BOTH(std::cosh(x)), {2, 1}, {2, 1}},
    // Between its poles it goes through 0, where the logarithm is as large as the rest.
    {"digamma",
     at::digamma,
     [](long double x) -> long double { return exact_digamma(x); },
     [](double x) -> double { return c10::special::digamma(x); },
     {1, .75},
     {2, 2, 1e-14, 1e-14}},
    {"erf", at::erf, OPLOOM_BOTH(std::erf(x)), {1, 1}, {1.1, 1}},
    {"erfc", at::erfc, OPLOOM_BOTH(std::erfc(x)), {2.5, 2}, {3, 1.5}},
    {"erfcx",
     at::special_erfcx,
     [](long double x) -> long double { return exact_erfcx(x); },
     [](double x) -> double { return c10::special::erfcx(x); },
     {1, .75},
     {5, 2}},
    {"erfinv",
     at::erfinv,
     [](long double x) -> long double { return exact_erfinv(x); },
     [](double x) -> double { return c10::special::erfinv(x); },
     {1, .75},
     {1.75, 1.75}},
    {"exp", at::exp, OPLOOM_BOTH(std::exp(x)), {1, 1}, {1, 1}},
    {"exp2", at::exp2, OPLOOM_BOTH(std::exp2(x)), {1, 1}, {1, 1}},
    {"expm1", at::expm1, OPLOOM_BOTH(std::expm1(x)), {1, 1}, {1, 1}},
    {"gelu",
     [](const Tensor& x) { return at::gelu(x); },
     OPLOOM_BOTH(x* std::erfc(x* decltype(x)(-0.70710678118654752440L)) / 2),
     {2, 2, 1e-44},
     {4, 2, 1e-321, 1e-321}},
    // It goes through 0, and the share of the distribution cancels below.
    {"gelu_backward",
     [](const Tensor& x) { return at::gelu_backward(at::ones_like(x), x); },
     OPLOOM_BOTH(std::erfc(x* decltype(x)(-0.70710678118654752440L)) / 2 +
                 x * std::exp(-x * x / 2) * decltype(x)(0.39894228040143267794L)),
     {2, 2, 1.2e-7, 1.2e-7},
     {2, 2, 2.4e-16, 2.4e-16}},
    {"gelu_tanh_backward",
     [](const Tensor& x) { return at::gelu_backward(at::ones_like(x), x, "tanh"); },
     OPLOOM_BOTH(exact_gelu_tanh_slope(x)),
     {2, 2, 1.2e-7, 1.2e-7},
     {2, 2, 2.4e-16, 2.4e-16}},
    {"gelu_tanh",
     [](const Tensor& x) { return at::gelu(x, "tanh"); },
     OPLOOM_BOTH(x / (1 + std::exp(decltype(x)(-1.59576912160573071176L) *
                                   (x + decltype(x)(0.044715L) * x * x * x)))),
     {1, 2},
     {2, 2}},
    {"i0",
     at::i0,
     [](long double x) -> long double { return exact_bessel(0, x, false); },
     [](double x) -> double { return c10::special::i0(x); },
     {1, .75},
     {2.5, 2}},
    {"i0e",
     at::special_i0e,
     [](long double x) -> long double { return exact_bessel(0, x, true); },
     [](double x) -> double { return c10::special::i0e(x); },
     {1, .75},
     {2, 2}},
    {"i1",
     at::special_i1,
     [](long double x) -> long double { return exact_bessel(1, x, false); },
     [](double x) -> double { return c10::special::i1(x); },
     {1, .75},
     {2.5, 2}},
    {"i1e",
     at::special_i1e,
     [](long double x) -> long double { return exact_bessel(1, x, true); },
     [](double x) -> double { return c10::special::i1e(x); },
     {1, .75},
     {2, 2}},
    // Below 0 it goes through 0.
    {"lgamma", at::lgamma, OPLOOM_BOTH(std::lgamma(x)), {5, 1, 0, 2e-10}, {5, 2, 1e-14, 1e-14}},
    {"log", at::log, OPLOOM_BOTH(std::log(x)), {1, 1}, {1, 1}},
    {"log10", at::log10, OPLOOM_BOTH(std::log10(x)), {2, 1}, {2, 1}},
    // Above 0 that of the share beyond, which ndtr() gives.
    {"log_ndtr",
     at::special_log_ndtr,
     [](long double x) -> long double {
       if (x > -1) return std::log1p(-std::erfc(x * 0.70710678118654752440L) / 2);
       return std::log(exact_erfcx(x * -0.70710678118654752440L) / 2) - x * x / 2;
     },
     [](double x) -> double {
       if (x > -1) return std::log1p(-c10::special::ndtr(-x));
       return std::log(c10::special::erfcx(x * -0.70710678118654752440) / 2) - x * x / 2;
     },
     {2, 3},
     {5, 3}},
    {"log1p", at::log1p, OPLOOM_BOTH(std::log1p(x)), {1, 1}, {1, 1}},
    {"log2", at::log2, OPLOOM_BOTH(std::log2(x)), {1, 1}, {1, 1}},
    {"logaddexp(x, 0)",
     [](const Tensor& x) { return at::logaddexp(x, at::zeros_like(x)); },
     OPLOOM_BOTH((x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x)))),
     {2.5, 2},
     {2.5, 2}},
    {"logaddexp2(x, 0)",
     [](const Tensor& x) { return at::logaddexp2(x, at::zeros_like(x)); },
     OPLOOM_BOTH((x > 0 ? x : 0) +
                 std::log1p(std::exp2(-std::abs(x))) * decltype(x)(1.44269504088896340736L)),
     {2.5, 2.5},
     {2.5, 2.5}},
    {"logit",
     [](const Tensor& x) { return at::logit(x); },
     [](long double x) -> long double {
       return x > 0.25L && x < 0.75L ? std::log1p((2 * x - 1) / (1 - x)) : std::log(x / (1 - x));
     },
     [](double x) -> double {
       return x > 0.25 && x < 0.75 ? std::log1p((2 * x - 1) / (1 - x)) : std::log(x / (1 - x));
     },
     {2.5, 1},
     {2.5, 1}},
    {"log_sigmoid",
     at::log_sigmoid,
     OPLOOM_BOTH(-((x < 0 ? -x : 0) + std::log1p(std::exp(-std::abs(x))))),
     {2.5, 2},
     {2.5, 2}},
    {"mish",
     at::mish,
     OPLOOM_BOTH(x* std::tanh(std::log1p(std::exp(x)))),
     {5, 2, 1e-43, 1e-43},
     {5, 2, 4e-321, 4e-321}},
    {"ndtr",
     at::special_ndtr,
     OPLOOM_BOTH(std::erfc(x* decltype(x)(-0.70710678118654752440L)) / 2),
     {1, 2},
     {4, 2}},
    {"ndtri",
     at::special_ndtri,
     [](long double x) -> long double { return exact_ndtri(x); },
     [](double x) -> double { return c10::special::ndtri(x); },
     {1, .75},
     {4, 2.5}},
    {"pow(x, 2.5)", OPLOOM_POW(2.5L), {1, 1}, {1, 1}},
    {"pow(x, -7)", OPLOOM_POW(-7), {1, 1}, {1, 1}},
    {"pow(x, 0.0625)", OPLOOM_POW(0.0625L), {1, 1}, {1, 1}},
    {"pow(1.125, x)", OPLOOM_POW_OF(1.125L), {1, 1}, {1, 1}},
    {"pow(-0.3125, x)", OPLOOM_POW_OF(-0.3125L), {1, 1}, {1, 1}},
    {"reciprocal", at::reciprocal, OPLOOM_BOTH(1 / x), {.5, .5}, {.5, .5}},
    {"rsqrt", at::rsqrt, OPLOOM_BOTH(1 / std::sqrt(x)), {1.5, 1.5}, {1.5, 1.5}},
    {"sigmoid", at::sigmoid, OPLOOM_BOTH(1 / (1 + std::exp(-x))), {2.5, 2}, {2, 2}},
    {"silu", at::silu, OPLOOM_BOTH(x / (1 + std::exp(-x))), {2.5, 2}, {2, 2}},
    {"sin", at::sin, OPLOOM_BOTH(std::sin(x)), {1, 1}, {1, 1}},
    {"sinh", at::sinh, OPLOOM_BOTH(std::sinh(x)), {2, 1}, {2, 1}},
    {"sqrt", at::sqrt, OPLOOM_BOTH(std::sqrt(x)), {.5, .5}, {.5, .5}},
    {"tan", at::tan, OPLOOM_BOTH(std::tan(x)), {1.1, 1}, {1, 1}},
    {"tanh", at::tanh, OPLOOM_BOTH(std::tanh(x)), {2.1, 1}, {2.1, 1}},
    {"trigamma",
     [](const Tensor& x) { return at::polygamma(1, x); },
     [](long double x) -> long double { return exact_trigamma(x); },
     [](double x) -> double { return static_cast<double>(exact_trigamma(x)); },
     {1, .75},
     {2, 2}},
};

#undef OPLOOM_BOTH
#undef OPLOOM_POW
#undef OPLOOM_POW_OF

}  // namespace precision
