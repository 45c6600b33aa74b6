// The functions of complex numbers, for the instruction set at hand: their error in units in the
// last place (ULP) of each part, and what they do at the edges, where the C++ library's functions
// say what is due (C99, Annex G).
#include <c10/util/complex_math.h>
#include <generated/ops/acos.h>
#include <generated/ops/acosh.h>
#include <generated/ops/asin.h>
#include <generated/ops/asinh.h>
#include <generated/ops/atan.h>
#include <generated/ops/atanh.h>
#include <generated/ops/cos.h>
#include <generated/ops/cosh.h>
#include <generated/ops/exp.h>
#include <generated/ops/exp2.h>
#include <generated/ops/expm1.h>
#include <generated/ops/log.h>
#include <generated/ops/log10.h>
#include <generated/ops/log1p.h>
#include <generated/ops/log2.h>
#include <generated/ops/pow.h>
#include <generated/ops/rsqrt.h>
#include <generated/ops/sigmoid.h>
#include <generated/ops/silu.h>
#include <generated/ops/sin.h>
#include <generated/ops/sinh.h>
#include <generated/ops/sqrt.h>
#include <generated/ops/tan.h>
#include <generated/ops/tanh.h>
#include <gtest/gtest.h>
#include <tests/aten/cpu/Precision.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

namespace {

using at::Tensor;
using precision::Bound;
using precision::error_in_ulp;
using Wide = std::complex<long double>;

// How an error is measured: of each part, or of both together, in units of the larger one, where
// numbers of about one size are subtracted.
enum class Measure { Parts, Norm };

struct ComplexFunction {
  const char* name;
  Tensor (*function)(const Tensor&);
  Wide (*reference)(const Wide&);
  Bound float32;
  Bound float64;
  // Real parts of arguments are up to that far from 0, and imaginary ones.
  double real, imag;
  Measure measure = Measure::Parts;
};

constexpr long double kLn2 = 0.693147180559945309417232121458176568L;
constexpr double kFar = 1e12;

#define OPLOOM_OF(name) at::name, [](const Wide& z) -> Wide { return std::name(z); }
#define OPLOOM_BY(name, expression) at::name, [](const Wide& z) -> Wide { return expression; }

Wide exact_expm1(const Wide& z) {
  const long double half_sine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
          std::exp(z.real()) * std::sin(z.imag())};
}

const ComplexFunction kFunctions[] = {
    {"exp", OPLOOM_OF(exp), {2, 0.51}, {2, 2.2}, 80, 1e6},
    {"exp2", OPLOOM_BY(exp2, std::exp(z* kLn2)), {4, 1}, {4, 3}, 30, 100, Measure::Norm},
    {"expm1", OPLOOM_BY(expm1, exact_expm1(z)), {4, 1}, {4, 4}, 80, 1e6, Measure::Norm},
    {"log", OPLOOM_OF(log), {3, 0.51}, {3, 1.2}, kFar, kFar},
    {"log2", OPLOOM_BY(log2, std::log(z) / kLn2), {4, 0.51}, {4, 2}, kFar, kFar},
    {"log10", OPLOOM_OF(log10), {4, 0.51}, {4, 2}, kFar, kFar},
    {"sqrt", OPLOOM_OF(sqrt), {2, 0.51}, {2, 2.2}, kFar, kFar},
    {"rsqrt", OPLOOM_BY(rsqrt, 1.L / std::sqrt(z)), {6, 0.51}, {6, 5}, kFar, kFar},
    {"sin", OPLOOM_OF(sin), {3, 0.51}, {3, 2.2}, 1e6, 80},
    {"cos", OPLOOM_OF(cos), {3, 0.51}, {3, 2.2}, 1e6, 80},
    {"tan", OPLOOM_OF(tan), {6, 0.51}, {6, 6}, 1e6, 40},
    {"sinh", OPLOOM_OF(sinh), {3, 0.51}, {3, 2.2}, 80, 1e6},
    {"cosh", OPLOOM_OF(cosh), {3, 0.51}, {3, 2.2}, 80, 1e6},
    {"tanh", OPLOOM_OF(tanh), {6, 0.51}, {6, 6}, 40, 1e6},
    {"asin", OPLOOM_OF(asin), {4, 0.51}, {4, 4}, kFar, kFar},
    {"acos", OPLOOM_OF(acos), {4, 0.51}, {4, 4}, kFar, kFar},
    {"atan", OPLOOM_OF(atan), {5, 0.51}, {5, 3}, kFar, kFar},
    {"asinh", OPLOOM_OF(asinh), {4, 0.51}, {4, 4}, kFar, kFar},
    {"acosh", OPLOOM_OF(acosh), {4, 0.51}, {4, 4}, kFar, kFar},
    {"atanh", OPLOOM_OF(atanh), {5, 0.51}, {5, 3}, kFar, kFar},
    // Away from the poles, the nearest of which are +-i pi.
    {"sigmoid",
     OPLOOM_BY(sigmoid, 1.L / (1.L + std::exp(-z))),
     {8, 1},
     {8, 8},
     80,
     2.5,
     Measure::Norm},
    {"silu", OPLOOM_BY(silu, z / (1.L + std::exp(-z))), {10, 4}, {10, 10}, 80, 2.5, Measure::Norm},
};

// Of all sizes up to the function's, around the unit circle and near 1, -1, i and -i.
template <typename T>
std::vector<c10::complex<T>> samples(double real, double imag) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto signed_power = [&](double lowest, double highest) {
    const double size =
        std::exp(std::log(lowest) + (std::log(highest / lowest)) * (uniform(random) / 2 + 0.5));
    return std::copysign(size, uniform(random));
  };
  std::vector<c10::complex<T>> values;
  const auto add = [&](double x, double y) {
    if (std::abs(x) <= real && std::abs(y) <= imag) {
      values.push_back({static_cast<T>(x), static_cast<T>(y)});
    }
  };
  for (int i = 0; i < 8000; ++i) {
    add(std::min(3., real) * uniform(random), std::min(3., imag) * uniform(random));
    add(signed_power(1e-12, real), signed_power(1e-12, imag));
    const double angle = 3.14159 * uniform(random), radius = 1 + signed_power(1e-16, 0.5);
    add(radius * std::cos(angle), radius * std::sin(angle));
    const double along = std::copysign(1, uniform(random)) + signed_power(1e-12, 0.3);
    const double across = signed_power(1e-12, 1);
    add(along, across);
    add(across, along);
  }
  return values;
}

template <typename T>
double error_of(const c10::complex<T>& got, const Wide& expected, Measure measure) {
  const double real = error_in_ulp(got.real(), expected.real());
  const double imag = error_in_ulp(got.imag(), expected.imag());
  if (measure == Measure::Parts) return std::max(real, imag);
  const auto size = std::max(std::abs(expected.real()), std::abs(expected.imag()));
  const auto units = [&](long double part) {
    return static_cast<double>(precision::unit<T>(part) / precision::unit<T>(size));
  };
  return std::max(real * units(expected.real()), imag * units(expected.imag()));
}

template <typename T>
void expect_precise(const ComplexFunction& f, const Bound& bound) {
  auto z = samples<T>(f.real, f.imag);
  const Tensor result = f.function(precision::tensor_of(z.data(), z.size()));
  const auto* got = result.const_data_ptr<c10::complex<T>>();
  double worst = 0;
  size_t place = 0;
  for (size_t i = 0; i < z.size(); ++i) {
    const Wide expected = f.reference(Wide(z[i].real(), z[i].imag()));
    const double error = error_of(got[i], expected, f.measure);
    if (error > worst) {
      worst = error;
      place = i;
    }
  }
  EXPECT_LE(worst, bound.ulp()) << f.name << "(" << z[place] << ") is " << got[place];
}

TEST(ComplexFunctions, Precision) {
  for (const ComplexFunction& f : kFunctions) {
    expect_precise<float>(f, f.float32);
    expect_precise<double>(f, f.float64);
  }
}

// 1 + z is exact in long double, and is not: the logarithm of a number near 1, and z itself,
// nearly.
TEST(ComplexFunctions, Log1pNearTheCircleAndNearZero) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<c10::complex<double>> z;
  for (int i = 0; i < 20000; ++i) {
    const double angle = 3.14159 * uniform(random), radius = 1 + std::exp2(-45 * uniform(random));
    z.push_back({std::nearbyint((radius * std::cos(angle) - 1) * 0x1p40) * 0x1p-40,
                 radius * std::sin(angle)});
    z.push_back({std::exp2(-70 + 30 * uniform(random)), std::exp2(-60 + 30 * uniform(random))});
  }
  const Tensor result = at::log1p(precision::tensor_of(z.data(), z.size()));
  const auto* got = result.const_data_ptr<c10::complex<double>>();
  double worst = 0;
  for (size_t i = 0; i < z.size(); ++i) {
    const long double x = z[i].real(), y = z[i].imag();
    const bool small = i % 2 == 1;
    const Wide expected =
        small ? Wide(x + (y * y - x * x) / 2, y * (1 - x)) : std::log(Wide(1 + x, y));
    // Beside an imaginary part so much larger, DEFAULT has no digits of the real one.
    const bool is_default = Bound::is_default();
    worst =
        std::max(worst, error_of(got[i], expected, is_default ? Measure::Norm : Measure::Parts));
  }
  EXPECT_LE(worst, 2);
}

// Each number by itself and among others, which must not matter.
template <typename T>
std::vector<c10::complex<T>> edges() {
  using Limits = std::numeric_limits<double>;
  std::vector<double> parts = {
      0,   1e-310, 1e-200, 1e-20, 1e-3,  0.5, 1,   1.5,  3,     20,    40,      89,
      250, 301,    700,    708.5, 709.5, 711, 1e5, 1e20, 1e150, 1e200, 1.7e308, Limits::infinity()};
  for (size_t i = 0, n = parts.size(); i < n; ++i) parts.push_back(-parts[i]);
  parts.push_back(Limits::quiet_NaN());
  std::vector<c10::complex<T>> values;
  for (double x : parts) {
    for (double y : parts) values.push_back({static_cast<T>(x), static_cast<T>(y)});
  }
  return values;
}

template <typename T>
bool is_like(T got, double expected) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::signbit(got) != std::signbit(expected)) return false;
  // Rounding may or may not reach infinity; results of float are those of double.
  const T rounded = static_cast<T>(expected);
  if (std::isinf(rounded) || std::isinf(got)) return std::isinf(rounded) && std::isinf(got);
  return error_in_ulp(got, static_cast<long double>(expected)) <= 8;
}

template <typename T>
void expect_library(const char* name, Tensor (*function)(const Tensor&),
                    c10::complex<double> (*library)(const c10::complex<double>&)) {
  auto z = edges<T>();
  const Tensor all = function(precision::tensor_of(z.data(), z.size()));
  for (size_t i = 0; i < z.size(); ++i) {
    const c10::complex<T> got = all.const_data_ptr<c10::complex<T>>()[i];
    const auto expected = library(c10::complex<double>(z[i].real(), z[i].imag()));
    EXPECT_TRUE(is_like(got.real(), expected.real()) && is_like(got.imag(), expected.imag()))
        << name << "(" << z[i] << ") is " << got << ", not " << expected;
    const Tensor one = function(precision::tensor_of(&z[i], 1));
    const auto alone = one.const_data_ptr<c10::complex<T>>()[0];
    EXPECT_TRUE(precision::error_in_ulp(alone.real(), static_cast<long double>(got.real())) <= 1 &&
                precision::error_in_ulp(alone.imag(), static_cast<long double>(got.imag())) <= 1)
        << name << "(" << z[i] << ") is " << got << " beside others and " << alone << " alone";
  }
}

TEST(ComplexFunctions, EdgesAreThoseOfTheLibrary) {
#define OPLOOM_EXPECT(name)                                                    \
  expect_library<double>(#name, at::name, [](const c10::complex<double>& z) {  \
    return c10::complex<double>(c10::complex_math::name(z));                   \
  });                                                                          \
  /* Of float the library has functions of its own, which lose more. */        \
  if (!Bound::is_default()) {                                                  \
    expect_library<float>(#name, at::name, [](const c10::complex<double>& z) { \
      return c10::complex<double>(c10::complex_math::name(z));                 \
    });                                                                        \
  }
  OPLOOM_EXPECT(acos)
  OPLOOM_EXPECT(acosh)
  OPLOOM_EXPECT(asin)
  OPLOOM_EXPECT(asinh)
  OPLOOM_EXPECT(atan)
  OPLOOM_EXPECT(atanh)
  OPLOOM_EXPECT(cos)
  OPLOOM_EXPECT(cosh)
  OPLOOM_EXPECT(exp)
  OPLOOM_EXPECT(log)
  OPLOOM_EXPECT(log10)
  OPLOOM_EXPECT(log2)
  OPLOOM_EXPECT(sin)
  OPLOOM_EXPECT(sinh)
  OPLOOM_EXPECT(sqrt)
  OPLOOM_EXPECT(tan)
  OPLOOM_EXPECT(tanh)
#undef OPLOOM_EXPECT
}

// Where exp(-z) alone would be infinite; and both halves of the plane, with the signs of zeros.
TEST(ComplexFunctions, SigmoidOfLargeNumbers) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<c10::complex<double>> z = {{-800, 1}, {800, 1}, {-infinity, 2}, {infinity, 2},
                                         {-700, 2}, {3, -0.}, {-3, -0.},      {infinity, infinity}};
  const Tensor y = at::sigmoid(precision::tensor_of(z.data(), z.size()));
  const auto* got = y.const_data_ptr<c10::complex<double>>();
  EXPECT_EQ(got[0], c10::complex<double>(0, 0));
  EXPECT_EQ(got[1], c10::complex<double>(1, 0));
  EXPECT_EQ(got[2], c10::complex<double>(0, 0));
  EXPECT_EQ(got[3], c10::complex<double>(1, 0));
  const Wide power = std::exp(Wide(-700, 2));
  EXPECT_LE(error_of(got[4], power, Measure::Parts), 4);
  for (int i : {5, 6}) EXPECT_TRUE(got[i].imag() == 0 && std::signbit(got[i].imag())) << got[i];
  EXPECT_TRUE(std::isnan(got[7].imag()));
}

template <typename T>
void expect_powers(double ulp) {
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> uniform(-3, 3);
  std::vector<c10::complex<T>> z, e;
  const auto number = [&] {
    return c10::complex<T>(static_cast<T>(uniform(random)), static_cast<T>(uniform(random)));
  };
  for (int i = 0; i < 5003; ++i) {
    z.push_back(i % 7 == 3 ? c10::complex<T>(0) : number());
    e.push_back(i % 11 == 4 ? c10::complex<T>(0) : number());
  }
  const Tensor base = precision::tensor_of(z.data(), z.size());
  const Tensor exponents = precision::tensor_of(e.data(), e.size());
  const Tensor powers = at::pow(base, exponents);
  const Tensor squares = at::pow(base, at::Scalar(c10::complex<double>(1.5, -0.5)));
  const auto same = [](T x, T y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  const auto expect = [&](const Tensor& result, size_t i, c10::complex<T> exponent) {
    const auto got = result.const_data_ptr<c10::complex<T>>()[i];
    if (exponent == c10::complex<T>(0)) {
      EXPECT_EQ(got, c10::complex<T>(1)) << z[i];
    } else if (z[i] == c10::complex<T>(0)) {
      const auto library = c10::complex_math::pow(z[i], exponent);
      EXPECT_TRUE(same(got.real(), library.real()) && same(got.imag(), library.imag()))
          << exponent << ": " << got << ", not " << library;
    } else {
      const Wide expected = std::exp(Wide(exponent.real(), exponent.imag()) *
                                     std::log(Wide(z[i].real(), z[i].imag())));
      EXPECT_LE(error_of(got, expected, Measure::Norm), ulp) << z[i] << " to the " << exponent;
    }
  };
  for (size_t i = 0; i < z.size(); ++i) {
    expect(powers, i, e[i]);
    expect(squares, i, c10::complex<T>(T(1.5), T(-0.5)));
  }
}
TEST(ComplexFunctions, Powers) {
  expect_powers<float>(Bound::is_default() ? 32 : 1);
  expect_powers<double>(32);
}

}  // namespace
