// What special functions are made of that are written once, for double and for vectors of double
// that have fmadd(), blendv(), log() and sqrt().
#pragma once

#include <c10/util/HostDevice.h>

#include <cmath>
#include <type_traits>

namespace c10::special {

// What vectors have functions of their own for.
OPLOOM_HOST_DEVICE inline double fmadd(double a, double b, double c) { return std::fma(a, b, c); }
OPLOOM_HOST_DEVICE inline double blendv(double otherwise, double then, bool condition) {
  return condition ? then : otherwise;
}
template <typename F>
OPLOOM_HOST_DEVICE F logarithm(F x) {
  if constexpr (std::is_same_v<F, double>) {
    return std::log(x);
  } else {
    return x.log();
  }
}
template <typename F>
OPLOOM_HOST_DEVICE F square_root(F x) {
  if constexpr (std::is_same_v<F, double>) {
    return std::sqrt(x);
  } else {
    return x.sqrt();
  }
}

// A sum.
template <typename F>
struct TwoNumbers {
  F first, rest;
};

// coefficients[first] + x * (coefficients[first + 1] + x * (...))
template <int first = 0, typename F, int count>
OPLOOM_HOST_DEVICE F polynomial_of(F x, const double (&coefficients)[count]) {
  if constexpr (first == count - 1) {
    return F(coefficients[first]);
  } else {
    return fmadd(polynomial_of<first + 1>(x, coefficients), x, F(coefficients[first]));
  }
}

// The same with what its last step loses, and what the first coefficient lacks.
template <typename F, int count>
OPLOOM_HOST_DEVICE TwoNumbers<F> sum_of_polynomial(F x, const double (&coefficients)[count],
                                                   double first_rest) {
  const F first(coefficients[0]);
  const F slope = polynomial_of<1>(x, coefficients);
  const F sum = fmadd(x, slope, first);
  return {sum, fmadd(x, slope, first - sum) + F(first_rest)};
}

}  // namespace c10::special
