// Elementary functions of complex numbers in terms of those of real numbers, for GPUs, whose
// std::complex has none. Branch cuts and signed zeros are those of C99, Annex G; results are
// accurate in the norm, that is, relative to the larger part.
//
// Calls are qualified, as those of c10/util/complex.h would be found by their arguments' namespace.
//
// Formulas are from W. Kahan, "Branch Cuts for Complex Elementary Functions" (1987), and the
// Digital Library of Mathematical Functions (dlmf.nist.gov), chapter 4.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/HostDevice.h>
#include <c10/util/complex.h>
#include <c10/util/special_functions.h>

#include <cmath>
#include <limits>

namespace at::inline oploom_v1::cuda::complex_functions {

using c10::complex;

template <typename T>
inline constexpr T kPi = T(3.14159265358979323846);
template <typename T>
inline constexpr T kLn2 = T(0.69314718055994530942);

// i z and -i z, which turn the circular functions into the hyperbolic ones.
template <typename T>
OPLOOM_HOST_DEVICE complex<T> times_i(const complex<T>& z) {
  return {-z.imag(), z.real()};
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> times_minus_i(const complex<T>& z) {
  return {z.imag(), -z.real()};
}

// ---- Exponentials and logarithms ----

template <typename T>
OPLOOM_HOST_DEVICE complex<T> exp(const complex<T>& z) {
  const T x = z.real(), y = z.imag();
  if (y == 0) return {std::exp(x), y};
  if (std::isinf(x)) {
    if (x < 0) {
      // 0, whatever the direction.
      if (!std::isfinite(y)) return {T(0), std::copysign(T(0), y)};
      return {std::copysign(T(0), std::cos(y)), std::copysign(T(0), std::sin(y))};
    }
    if (!std::isfinite(y)) return {x, std::numeric_limits<T>::quiet_NaN()};
  }
  // exp(x) may be too large where exp(x) cos(y) is not.
  const T half = std::exp(x / 2);
  const T whole = std::exp(x);
  if (std::isinf(whole) && std::isfinite(x)) {
    return {half * std::cos(y) * half, half * std::sin(y) * half};
  }
  return {whole * std::cos(y), whole * std::sin(y)};
}

// log|z|, with the digits that log(hypot) loses where |z| is near 1.
template <typename T>
OPLOOM_HOST_DEVICE T log_abs(const complex<T>& z) {
  const T x = std::abs(z.real()), y = std::abs(z.imag());
  const T larger = x < y ? y : x, smaller = x < y ? x : y;
  if (larger > T(0.5) && larger < T(2)) {
    // |z|^2 - 1 = (larger - 1) (larger + 1) + smaller^2, rounded once in each product.
    return std::log1p((larger - 1) * (larger + 1) + smaller * smaller) / 2;
  }
  // Where both are so large that hypot overflows, or so small that it loses digits.
  constexpr T kSmall = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  if (std::isfinite(larger) && larger > std::numeric_limits<T>::max() / 2) {
    return std::log(std::hypot(x / 2, y / 2)) + kLn2<T>;
  }
  if (larger > 0 && larger < kSmall) {
    const T scale = 1 / kSmall;
    return std::log(std::hypot(x * scale, y * scale)) - std::log(scale);
  }
  return std::log(std::hypot(x, y));
}

template <typename T>
OPLOOM_HOST_DEVICE complex<T> log(const complex<T>& z) {
  return {log_abs(z), std::atan2(z.imag(), z.real())};
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> log10(const complex<T>& z) {
  const complex<T> value = complex_functions::log(z);
  constexpr T kPerE = T(0.43429448190325182765);
  return {value.real() * kPerE, value.imag() * kPerE};
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> log2(const complex<T>& z) {
  const complex<T> value = complex_functions::log(z);
  return {value.real() / kLn2<T>, value.imag() / kLn2<T>};
}
// The three below are as in c10/util/complex_math.h.
template <typename T>
OPLOOM_HOST_DEVICE complex<T> log1p(const complex<T>& z) {
  const T x = z.real(), y = z.imag();
  const T angle = std::atan2(y, x + 1);
  if (std::abs(x) < T(0.5) && std::abs(y) < T(0.5)) {
    return {std::log1p(x * (2 + x) + y * y) / 2, angle};
  }
  return {std::log(std::hypot(x + 1, y)), angle};
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> expm1(const complex<T>& z) {
  const complex<T> power = complex_functions::exp(z);
  if (z.real() > T(40)) return {power.real() - T(1), power.imag()};
  const T half_sine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine, power.imag()};
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> exp2(const complex<T>& z) {
  return c10::special::exp2_of_rounded(
      z, complex_functions::exp(complex<T>(z.real() * kLn2<T>, z.imag() * kLn2<T>)));
}

template <typename T>
OPLOOM_HOST_DEVICE complex<T> sqrt(const complex<T>& z) {
  const T x = z.real(), y = z.imag();
  if (std::isinf(y)) return {std::abs(y), y};
  if (x == 0 && y == 0) return {T(0), y};
  if (std::isinf(x)) {
    const T other = std::isnan(y) ? y : std::copysign(T(0), y);
    if (x > 0) return {x, other};
    return {std::abs(other), std::isnan(y) ? -x : std::copysign(x, y)};
  }
  // Scaled by a power of 4, so that neither |z| nor its square root overflows or loses digits.
  T scale = 1, root = 1;
  const T larger = std::abs(x) < std::abs(y) ? std::abs(y) : std::abs(x);
  if (larger > std::numeric_limits<T>::max() / 4) {
    scale = T(1) / 16, root = 4;
  } else if (larger < std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon()) {
    // epsilon is 4^-26 for double and 2^-23 for float.
    scale = T(4503599627370496.), root = T(1) / T(67108864.);  // 2^52, 2^-26
  }
  const T a = x * scale, b = y * scale;
  const T t = std::sqrt((std::abs(a) + std::hypot(a, b)) / 2);
  const T re = a >= 0 ? t : std::abs(b) / (2 * t);
  const T im = a >= 0 ? b / (2 * t) : std::copysign(t, b);
  return {re * root, im * root};
}

// ---- Hyperbolic functions, and the circular ones by them ----

template <typename T>
OPLOOM_HOST_DEVICE complex<T> sinh(const complex<T>& z) {
  const T x = z.real(), y = z.imag();
  if (y == 0) return {std::sinh(x), y};
  if (x == 0) return {x, std::sin(y)};
  const T large = std::numeric_limits<T>::max_exponent * kLn2<T> - 1;
  if (std::abs(x) > large && std::isfinite(x)) {
    // sinh and cosh are exp(|x|) / 2 there, which alone would overflow.
    const T half = std::exp(std::abs(x) / 2);
    return {std::copysign(half / 2, x) * std::cos(y) * half, half / 2 * std::sin(y) * half};
  }
  return {std::sinh(x) * std::cos(y), std::cosh(x) * std::sin(y)};
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> cosh(const complex<T>& z) {
  const T x = z.real(), y = z.imag();
  if (y == 0) return {std::cosh(x), x == 0 ? x * y : std::copysign(T(0), x) * y};
  if (x == 0) return {std::cos(y), x * std::sin(y)};
  const T large = std::numeric_limits<T>::max_exponent * kLn2<T> - 1;
  if (std::abs(x) > large && std::isfinite(x)) {
    const T half = std::exp(std::abs(x) / 2);
    return {half / 2 * std::cos(y) * half, std::copysign(half / 2, x) * std::sin(y) * half};
  }
  return {std::cosh(x) * std::cos(y), std::sinh(x) * std::sin(y)};
}
// Kahan's: with t = tan(y), s = sinh(x), rho = cosh(x), beta = 1 + t^2.
template <typename T>
OPLOOM_HOST_DEVICE complex<T> tanh(const complex<T>& z) {
  const T x = z.real(), y = z.imag();
  if (y == 0) return {std::tanh(x), y};
  if (std::isinf(x)) {
    const T sign = std::isfinite(y) ? std::sin(2 * y) : y;
    return {std::copysign(T(1), x), std::copysign(T(0), sign)};
  }
  if (std::abs(x) > T(std::numeric_limits<T>::digits)) {
    // 1 - tanh(x) is less than half a unit in the last place.
    const T small = std::exp(-std::abs(x));
    return {std::copysign(T(1), x), 4 * std::sin(y) * std::cos(y) * small * small};
  }
  const T t = std::tan(y), s = std::sinh(x), rho = std::sqrt(1 + s * s);
  if (std::isinf(t)) return {rho / s, 1 / t};
  const T beta = 1 + t * t, scale = 1 / (1 + beta * s * s);
  return {beta * rho * s * scale, t * scale};
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> sin(const complex<T>& z) {
  return times_minus_i(complex_functions::sinh(times_i(z)));
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> cos(const complex<T>& z) {
  return complex_functions::cosh(times_i(z));
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> tan(const complex<T>& z) {
  return times_minus_i(complex_functions::tanh(times_i(z)));
}

// ---- Their inverses ----

// log(z) + log(2), where z is too large for anything below to be felt beside it.
template <typename T>
OPLOOM_HOST_DEVICE complex<T> log_of_double(const complex<T>& z) {
  const complex<T> value = complex_functions::log(z);
  return {value.real() + kLn2<T>, value.imag()};
}
template <typename T>
OPLOOM_HOST_DEVICE bool is_large(const complex<T>& z) {
  // Beyond this, 1 is lost in z^2; infinities and nan are large, too.
  const T bound = 1 / std::numeric_limits<T>::epsilon();
  return !(std::abs(z.real()) < bound && std::abs(z.imag()) < bound);
}

// Kahan's, by the square roots of 1 - z and 1 + z.
template <typename T>
OPLOOM_HOST_DEVICE complex<T> asin(const complex<T>& z) {
  const T x = z.real(), y = z.imag();
  if (is_large(z)) {
    if (std::isnan(x) || std::isnan(y)) {
      if (std::isinf(y)) return {x, y};
      if (std::isinf(x)) return {y, x};
      if (x == 0) return {x, y};
      return {x + y, x + y};
    }
    const complex<T> value = log_of_double(complex<T>(std::abs(x), std::abs(y)));
    return {std::copysign(std::atan2(std::abs(x), std::abs(y)), x), std::copysign(value.real(), y)};
  }
  const complex<T> minus = complex_functions::sqrt(complex<T>(1 - x, -y)),
                   plus = complex_functions::sqrt(complex<T>(1 + x, y));
  return {std::atan2(x, minus.real() * plus.real() - minus.imag() * plus.imag()),
          std::asinh(minus.real() * plus.imag() - minus.imag() * plus.real())};
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> acos(const complex<T>& z) {
  const T x = z.real(), y = z.imag();
  if (is_large(z)) {
    if (std::isnan(x) || std::isnan(y)) {
      if (std::isinf(x)) return {y, -x};
      if (std::isinf(y)) return {x, -y};
      if (x == 0) return {kPi<T> / 2, y};
      return {x + y, x + y};
    }
    const complex<T> value = log_of_double(complex<T>(std::abs(x), std::abs(y)));
    return {std::atan2(std::abs(y), x), std::copysign(value.real(), -y)};
  }
  const complex<T> minus = complex_functions::sqrt(complex<T>(1 - x, -y)),
                   plus = complex_functions::sqrt(complex<T>(1 + x, y));
  return {2 * std::atan2(minus.real(), plus.real()),
          std::asinh(plus.real() * minus.imag() - plus.imag() * minus.real())};
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> acosh(const complex<T>& z) {
  // i acos(z) or -i acos(z), whichever has a real part that
  // is not negative.
  const complex<T> value = complex_functions::acos(z);
  if (std::isnan(value.real()) || std::isnan(value.imag())) {
    const T part = std::isinf(value.imag()) ? std::abs(value.imag()) : value.imag();
    return {part, value.real()};
  }
  return std::signbit(z.imag()) ? complex<T>(value.imag(), -value.real())
                                : complex<T>(-value.imag(), value.real());
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> asinh(const complex<T>& z) {
  return times_minus_i(complex_functions::asin(times_i(z)));
}

template <typename T>
OPLOOM_HOST_DEVICE complex<T> atanh(const complex<T>& z) {
  const T x = z.real(), y = z.imag();
  const T ax = std::abs(x), ay = std::abs(y);
  if (is_large(z)) {
    if (std::isnan(x) && !std::isinf(y)) return {x, std::isnan(y) ? y : x};
    if (std::isnan(y)) return {std::isinf(x) ? std::copysign(T(0), x) : y, y};
    // Re 1 / z, without forming the square of anything large.
    T re = 0;
    if (std::isfinite(x) && std::isfinite(y)) {
      re = ax >= ay ? 1 / (ax + ay * (ay / ax)) : (ax / ay) / (ay + ax * (ax / ay));
    }
    return {std::copysign(re, x), std::copysign(kPi<T> / 2, y)};
  }
  if (ax == 1 && ay == 0) return {std::copysign(std::numeric_limits<T>::infinity(), x), y};
  // DLMF 4.37.24 in real terms. 1 - |x| is exact where it matters.
  const T away = (1 - ax) * (1 - ax) + ay * ay;
  // Near the pole the square of ay may vanish.
  const T re = away < std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon()
                   ? std::log(T(2) / std::hypot(1 - ax, ay)) / 2
                   : std::log1p(4 * ax / away) / 4;
  const T im = std::atan2(2 * y, (1 - ax) * (1 + ax) - ay * ay) / 2;
  return {std::copysign(re, x), im};
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> atan(const complex<T>& z) {
  return times_minus_i(complex_functions::atanh(times_i(z)));
}

// ---- Others ----

template <typename T>
OPLOOM_HOST_DEVICE complex<T> rsqrt(const complex<T>& z) {
  return T(1) / complex_functions::sqrt(z);
}
template <typename T>
OPLOOM_HOST_DEVICE complex<T> pow(const complex<T>& z, const complex<T>& e) {
  if (z == T(0)) {
    if (e.real() == 0 && e.imag() == 0) return complex<T>(1);
    if (e.real() > 0) return complex<T>(0);
  }
  return complex_functions::exp(e * complex_functions::log(z));
}

}  // namespace at::inline oploom_v1::cuda::complex_functions
