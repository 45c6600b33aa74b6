// Tests of complex<T> against std::complex.
#include <c10/util/complex_math.h>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

namespace {

using C = c10::complex<double>;
using S = std::complex<double>;

constexpr double kParts[] = {-2.5, -1.0, -0.25, 0.5, 1.75, 3.0};

void expect_close(C got, S expected) {
  EXPECT_NEAR(got.real(), expected.real(), 1e-12 * (1 + std::abs(expected)));
  EXPECT_NEAR(got.imag(), expected.imag(), 1e-12 * (1 + std::abs(expected)));
}

TEST(Complex, ArithmeticMatchesTheStandardLibrary) {
  for (double a : kParts) {
    for (double b : kParts) {
      for (double c : kParts) {
        const C x(a, b), y(c, -a);
        const S u(a, b), v(c, -a);
        expect_close(x + y, u + v);
        expect_close(x - y, u - v);
        expect_close(x * y, u * v);
        expect_close(x / y, u / v);
        expect_close(x * c, u * c);
        expect_close(c / x, c / u);
        expect_close(2.0 - x, 2.0 - u);
      }
    }
  }
}

TEST(Complex, FunctionsMatchTheStandardLibrary) {
  for (double a : kParts) {
    for (double b : kParts) {
      const C z(a, b);
      const S s(a, b);
      expect_close(std::exp(z), std::exp(s));
      expect_close(std::log(z), std::log(s));
      expect_close(std::sqrt(z), std::sqrt(s));
      expect_close(std::pow(z, C(1.5, -0.5)), std::pow(s, S(1.5, -0.5)));
      expect_close(std::sin(z), std::sin(s));
      expect_close(std::tanh(z), std::tanh(s));
      expect_close(std::atanh(z), std::atanh(s));
      expect_close(c10::log1p(z), std::log(1.0 + s));
      expect_close(c10::expm1(z), std::exp(s) - 1.0);
      expect_close(c10::log2(z), std::log(s) / std::log(2.0));
      expect_close(c10::exp2(z), std::pow(2.0, s));
      EXPECT_DOUBLE_EQ(std::abs(z), std::abs(s));
      EXPECT_DOUBLE_EQ(std::arg(z), std::arg(s));
      EXPECT_EQ(conj(z), C(a, -b));
    }
  }
}

TEST(Complex, Log1pAndExpm1KeepSmallNumbers) {
  const C tiny(1e-17, 2e-17);
  EXPECT_DOUBLE_EQ(c10::log1p(tiny).real(), 1e-17);
  EXPECT_DOUBLE_EQ(c10::expm1(tiny).real(), 1e-17);
  EXPECT_DOUBLE_EQ(c10::expm1(tiny).imag(), 2e-17);
}

TEST(Complex, PowersNearTheLargestNumberAndOfInfinity) {
  const c10::complex<float> large = c10::expm1(c10::complex<float>(89, 1.5f));
  const S exact = std::exp(S(89, 1.5));
  EXPECT_FLOAT_EQ(large.real(), static_cast<float>(exact.real()));
  EXPECT_EQ(large.imag(), std::numeric_limits<float>::infinity());
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(c10::expm1(C(1000, 0.5)).real(), inf);
  EXPECT_EQ(c10::expm1(C(inf, 0)), C(inf, 0));
  EXPECT_EQ(c10::exp2(C(inf, 0)), C(inf, 0));
  EXPECT_TRUE(std::signbit(c10::exp2(C(0, -0.0)).imag()));
  EXPECT_TRUE(std::signbit(c10::exp2(C(-inf, 3)).real()));
  // Where exp(z) - 1 is -1 as a number of this dtype, its imaginary part still is that of exp(z).
  EXPECT_DOUBLE_EQ(c10::expm1(C(-50, 1)).imag(), std::exp(S(-50, 1)).imag());
}

TEST(Complex, DivisionDoesNotOverflowOnTheWay) {
  const double big = 1e300;
  const C quotient = C(big, big) / C(big, big);
  EXPECT_DOUBLE_EQ(quotient.real(), 1.0);
  EXPECT_DOUBLE_EQ(quotient.imag(), 0.0);
  const C by_zero = C(1, 0) / C(0, 0);
  EXPECT_TRUE(std::isinf(by_zero.real()) || std::isnan(by_zero.real()));
}

TEST(Complex, ConvertsBetweenWidthsAndToTheStandard) {
  const c10::complex<float> narrow(1.5f, -2.0f);
  const C wide = narrow;
  EXPECT_EQ(wide, C(1.5, -2.0));
  EXPECT_EQ(static_cast<c10::complex<float>>(wide), narrow);
  EXPECT_EQ(static_cast<S>(wide), S(1.5, -2.0));
  EXPECT_TRUE((!std::is_convertible_v<C, c10::complex<float>>));
  EXPECT_TRUE(wide == C(wide) && !(wide == 1.5));
}

TEST(Complex, NaNAndInfinity) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(c10::isnan(C(0, nan)));
  EXPECT_TRUE(c10::isinf(C(-INFINITY, 0)));
  EXPECT_FALSE(c10::isfinite(C(0, INFINITY)));
  EXPECT_TRUE(c10::isfinite(C(1, 2)));
  EXPECT_EQ(std::abs(C(INFINITY, nan)), INFINITY);
}

}  // namespace
