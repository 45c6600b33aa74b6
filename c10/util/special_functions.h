// Special functions of one number that the C++ library lacks, in double precision.
//
// Formulas are from the Digital Library of Mathematical Functions (dlmf.nist.gov), by number. Each
// is accurate to a few units in the last place of a double unless its comment says otherwise; at
// the edges of its domain it gives what SciPy gives. None calls itself, since a GPU's functions
// then need a stack whose size nobody knows.
#pragma once

#include <c10/util/bessel.h>
#include <c10/util/complex.h>
#include <c10/util/gamma.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace c10::special {

inline constexpr double kSqrtPi = 1.7724538509055160273;

// a / (1 + exp(-x - rest)), `rest` being what x has lost, for float or double. Where the power,
// which is the sum then, may be too large for a number, it has two factors, and what the first
// product loses is kept.
template <typename T>
OPLOOM_HOST_DEVICE T sigmoid_product(T a, T x, T rest = 0) {
  if (x < (sizeof(T) == sizeof(float) ? -87 : -708)) {
    const T root = std::exp(x / 2), first = a * root;
    const T y = std::fma(first, root, (std::fma(a, root, -first) + first * rest) * root);
    return std::copysign(y, a);  // the sum of zeros has lost the sign
  }
  const T power = std::exp(-x);
  return a / (1 + (power - power * rest));
}

// 1 / (1 + exp(-z)) of a complex number. With w = exp(-z), or exp(z) where Re z < 0, it is 1 / (1 +
// w) or w / (1 + w): (1 + conj(w)) or (w + |w|^2) over |1 + w|^2. Nothing overflows.
template <typename T>
OPLOOM_HOST_DEVICE complex<T> sigmoid(const complex<T>& z) {
  const T power = std::exp(-std::abs(z.real()));
  const T cosine = power * std::cos(z.imag()), sine = power * std::sin(z.imag());
  const T sum = 1 + cosine, scale = 1 / (sum * sum + sine * sine);
  const T real = z.real() < 0 ? power * power + cosine : sum;
  return {real * scale, sine * scale};
}

// exp(z ln(2)), given the power of the rounded product: times 1 + what that has lost. Where this is
// so large that its square would count, the power stays as it is; so do infinities and nan.
template <typename T>
OPLOOM_HOST_DEVICE complex<T> exp2_of_rounded(const complex<T>& z, const complex<T>& power) {
  constexpr bool kSingle = sizeof(T) == sizeof(float);
  constexpr T kLn2 = T(0.693147180559945309);
  constexpr T kLn2Rest = T(kSingle ? -1.90465421e-9 : 2.3190468138462996e-17);
  const T x = z.real(), y = z.imag(), re = power.real(), im = power.imag();
  const T x_lost = std::fma(x, kLn2, -(x * kLn2)) + x * kLn2Rest;
  const T y_lost = std::fma(y, kLn2, -(y * kLn2)) + y * kLn2Rest;
  const bool is_small = x_lost * x_lost + y_lost * y_lost < std::numeric_limits<T>::epsilon();
  if (!is_small || !(std::abs(re) + std::abs(im) <= std::numeric_limits<T>::max())) return power;
  // Zeros keep their signs.
  return {re == 0 ? re : re + (re * x_lost - im * y_lost),
          im == 0 ? im : im + (re * y_lost + im * x_lost)};
}

// Beyond these, the share of gelu_tanh() is 0 or 1 in float or double, and at the lower of them so
// small that vec::sigmoid_product() takes it to be 0.
template <typename T>
inline constexpr T kGeluTanhEnd = T(sizeof(T) == sizeof(float) ? 13 : 27);

// x / (1 + exp(-w)) with w = sqrt(8/pi) (x + 0.044715 x^3), gelu with tanh for the share of the
// normal distribution: D. Hendrycks and K. Gimpel, "Gaussian error linear units" (2016). w is kept
// in two numbers, since its error counts as much as it is large. nan at -inf, as -inf * 0 is.
OPLOOM_HOST_DEVICE inline double gelu_tanh(double x) {
  constexpr double kLinear = 1.5957691216057308, kLinearRest = -9.96930880911092e-17;
  constexpr double kCubic = 0.07135481627260025, kCubicRest = -6.175149918155315e-19;
  constexpr double kEnd = kGeluTanhEnd<double>;
  const double s = x < -kEnd ? -kEnd : x > kEnd ? kEnd : x;
  const double z = s * s;
  const double product = z * kCubic;
  const double p = product + kLinear;
  const double part = p - product;
  const double p_rest = ((product - (p - part)) + (kLinear - part)) + std::fma(s, s, -z) * kCubic +
                        std::fma(z, kCubic, -product) + (z * kCubicRest + kLinearRest);
  const double w = s * p;
  return sigmoid_product(x < s ? s + 0 * x : x, w, std::fma(s, p_rest, std::fma(s, p, -w)));
}

// exp(x^2) for |x| < 1e154; the rounding error of x^2 would be multiplied by x^2.
OPLOOM_HOST_DEVICE inline double exp_of_square(double x) {
  const double square = x * x;
  const double rest = std::fma(x, x, -square);
  return std::exp(square) * (1 + rest);
}
// For x >= 0; nan for nan.
OPLOOM_HOST_DEVICE inline double erfcx_of_positive(double x) {
  if (x < 12) return exp_of_square(x) * std::erfc(x);
  // The product may be infinite where the quotient is a subnormal number.
  if (x > 1e8) return 1 / kSqrtPi / x;
  // DLMF 7.9.1, a continued fraction
  double tail = x;
  for (int k = 24; k >= 1; --k) tail = x + 0.5 * k / tail;
  return 1 / (kSqrtPi * tail);
}
// exp(x^2) erfc(x)
OPLOOM_HOST_DEVICE inline double erfcx(double x) {
  if (x < -26.7) return kInf;
  return x < 0 ? 2 * exp_of_square(x) - erfcx_of_positive(-x) : erfcx_of_positive(x);
}

// The inverse of erf.
OPLOOM_HOST_DEVICE inline double erfinv(double x) {
  const double magnitude = std::abs(x);
  if (!(magnitude <= 1)) return kNan;
  if (magnitude == 1) return std::copysign(kInf, x);
  if (magnitude == 0) return x;
  // S. Winitzki, "A handy approximation for the error function and its inverse" (2008), to 4
  // digits, then three steps of Halley's method. 1 - |x| is exact where it matters.
  const double w = std::log1p(-magnitude) + std::log1p(magnitude);
  const double a = 0.147;
  const double b = 2 / (std::numbers::pi * a) + 0.5 * w;
  double y = std::sqrt(std::sqrt(b * b - w / a) - b);
  for (int i = 0; i < 3; ++i) {
    const double error = magnitude < 0.5 ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
    const double u = error * 0.5 * kSqrtPi * std::exp(y * y);
    y -= u / (1 + y * u);
  }
  return std::copysign(y, x);
}

// log(x / (1 - x)), which goes through 0 at 1/2.
template <typename T>
OPLOOM_HOST_DEVICE T logit(T x) {
  const bool above = x >= T(0.5);
  const T share = above ? 1 - x : x;  // exactly
  if (!(share >= T(0.25))) return std::log(x) - std::log1p(-x);
  const T y = std::log1p((1 - 2 * share) / share);
  return above ? y : -y;
}

// log(1 + exp(x)), without overflow.
template <typename T>
OPLOOM_HOST_DEVICE T softplus(T x) {
  return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::abs(x)));
}

// x tanh(log(1 + exp(x))), in terms of exp(-|x|), which does not overflow.
template <typename T>
OPLOOM_HOST_DEVICE T mish(T x) {
  const T e = std::exp(-std::abs(x));
  const T n = x > 0 ? 1 + 2 * e : e * (e + 2);
  return x * (n / (n + (x > 0 ? 2 * e * e : 2)));
}

// The share of the standard normal distribution below x: erfc(-x / sqrt(2)) / 2, where what
// rounding takes from that quotient would be multiplied by its square.
OPLOOM_HOST_DEVICE inline double ndtr(double x) {
  constexpr double kRootHalf = 0.70710678118654752440, kRootHalfRest = -4.8336466567264567e-17;
  const double s = std::abs(x) > 40 ? 40 : std::abs(x);
  const double z = s * kRootHalf;
  const double rest = std::fma(s, kRootHalf, -z) + s * kRootHalfRest;
  const double share = 0.5 * std::erfc(z) - std::exp(-z * z) / kSqrtPi * rest;
  return x < 0 ? share : 1 - share;
}

// For 0 < p <= 0.25.
OPLOOM_HOST_DEVICE inline double ndtri_of_tail(double p) {
  // Newton's method for log(erfc(y)) = log(2 p), with erfc(y) = exp(-y^2) erfcx(y).
  const double target = std::log(2 * p);
  double y = std::sqrt(-target);
  for (int i = 0; i < 8; ++i) {
    const double scaled = erfcx(y);
    const double step = (std::log(scaled) - y * y - target) * scaled * 0.5 * kSqrtPi;
    y += step;
    if (std::abs(step) < 1e-16 * y) break;
  }
  return -std::numbers::sqrt2 * y;
}
// The inverse of the normal distribution function: the x below which lies the share p.
OPLOOM_HOST_DEVICE inline double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNan;
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  if (p > 0.75) return -ndtri_of_tail(1 - p);
  return p > 0.25 ? std::numbers::sqrt2 * erfinv(2 * p - 1) : ndtri_of_tail(p);
}

}  // namespace c10::special
