// The functions of the expression language on Number<T>: f(x) for every f of
// codegen/frontend/expression/Functions.cpp, for whatever T it is defined for.
//
// On a GPU they are CUDA's own functions where there are such, with the errors that the CUDA
// programming guide states for the default options (at most 2 units in the last place for the
// elementary functions, 4 for erfcx, 5 to 6 for the Bessel and inverse error functions in double
// precision), else those of c10/util/special_functions.h. On the CPU they are the C++ library's.
#pragma once

#include <aten/cuda/Number.h>
#include <aten/cuda/complex_functions.h>
#include <c10/util/special_functions.h>

#include <cmath>

namespace at::inline oploom_v1::cuda {

// ---- Choices ----

template <typename T>
OPLOOM_HOST_DEVICE Number<T> select(Truth condition, const Number<T>& then,
                                    const Number<T>& otherwise) {
  return condition.value ? then : otherwise;
}
OPLOOM_HOST_DEVICE inline Truth select(Truth condition, Truth then, Truth otherwise) {
  return condition.value ? then : otherwise;
}
template <typename V>
OPLOOM_HOST_DEVICE Truth truth(bool value) {
  return value;
}

template <typename T>
OPLOOM_HOST_DEVICE Truth isnan(const Number<T>& x) {
  return x.value != x.value;
}
template <typename T>
OPLOOM_HOST_DEVICE Truth isinf(const Number<T>& x) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isinf(x.value);
  }
}
// The sign bit, which -0 and nan have as well.
template <typename T>
OPLOOM_HOST_DEVICE Truth signbit(const Number<T>& x) {
  if constexpr (std::is_unsigned_v<T>) {
    return false;
  } else if constexpr (std::is_integral_v<T>) {
    return x.value < 0;
  } else {
    return std::signbit(x.value);
  }
}

// ---- Arithmetic ----

template <typename T>
OPLOOM_HOST_DEVICE Number<T> neg(const Number<T>& x) {
  if constexpr (std::is_integral_v<T>) {
    return Number<T>(0) - x;
  } else {
    return -x.value;  // -0.0 for 0.0, unlike 0 - x
  }
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> conj(const Number<T>& x) {
  if constexpr (c10::is_complex_v<T>) {
    return T(x.value.real(), -x.value.imag());
  } else {
    return x;
  }
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> abs(const Number<T>& x) {
  if constexpr (c10::is_complex_v<T>) {
    return T(std::hypot(x.value.real(), x.value.imag()));
  } else if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    return x.value < 0 ? neg(x) : x;
  } else {
    return std::abs(x.value);
  }
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> relu(const Number<T>& x) {
  if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else {
    return x.value < T(0) ? T(0) : x.value;
  }
}
// 0 for 0, nan for nan.
template <typename T>
OPLOOM_HOST_DEVICE Number<T> sign(const Number<T>& x) {
  if constexpr (std::is_unsigned_v<T>) {
    return x.value > T(0) ? T(1) : T(0);
  } else {
    return x.value > T(0) ? T(1) : x.value < T(0) ? static_cast<T>(-1) : x.value;
  }
}
// nan if either argument is.
template <typename T>
OPLOOM_HOST_DEVICE Number<T> maximum(const Number<T>& x, const Number<T>& y) {
  return isnan(x).value || x.value > y.value ? x : y;
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> minimum(const Number<T>& x, const Number<T>& y) {
  return isnan(x).value || x.value < y.value ? x : y;
}
// The number if the other argument is nan.
template <typename T>
OPLOOM_HOST_DEVICE Number<T> fmax(const Number<T>& x, const Number<T>& y) {
  return isnan(y).value || x.value > y.value ? x : y;
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> fmin(const Number<T>& x, const Number<T>& y) {
  return isnan(y).value || x.value < y.value ? x : y;
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> copysign(const Number<T>& x, const Number<T>& y) {
  return std::copysign(x.value, y.value);
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> nextafter(const Number<T>& x, const Number<T>& y) {
  return std::nextafter(x.value, y.value);
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> fmod(const Number<T>& x, const Number<T>& y) {
  return std::fmod(x.value, y.value);
}
// The remainder has the sign of the divisor.
template <typename T>
OPLOOM_HOST_DEVICE Number<T> remainder(const Number<T>& x, const Number<T>& y) {
  const T rest = std::fmod(x.value, y.value);
  return rest != 0 && (rest < 0) != (y.value < 0) ? rest + y.value : rest;
}

// Integers are whole already.
#define OPLOOM_ROUNDING(name, function)                   \
  template <typename T>                                   \
  OPLOOM_HOST_DEVICE Number<T> name(const Number<T>& x) { \
    if constexpr (std::is_integral_v<T>) {                \
      return x;                                           \
    } else {                                              \
      return std::function(x.value);                      \
    }                                                     \
  }
OPLOOM_ROUNDING(ceil, ceil)
OPLOOM_ROUNDING(floor, floor)
OPLOOM_ROUNDING(round, nearbyint)
OPLOOM_ROUNDING(trunc, trunc)
#undef OPLOOM_ROUNDING

// ---- Elementary functions, of real and of complex numbers ----

#define OPLOOM_ELEMENTARY(name)                           \
  template <typename T>                                   \
  OPLOOM_HOST_DEVICE Number<T> name(const Number<T>& x) { \
    if constexpr (c10::is_complex_v<T>) {                 \
      return complex_functions::name(x.value);            \
    } else {                                              \
      return std::name(x.value);                          \
    }                                                     \
  }
OPLOOM_ELEMENTARY(acos)
OPLOOM_ELEMENTARY(acosh)
OPLOOM_ELEMENTARY(asin)
OPLOOM_ELEMENTARY(asinh)
OPLOOM_ELEMENTARY(atan)
OPLOOM_ELEMENTARY(atanh)
OPLOOM_ELEMENTARY(cos)
OPLOOM_ELEMENTARY(cosh)
OPLOOM_ELEMENTARY(exp)
OPLOOM_ELEMENTARY(exp2)
OPLOOM_ELEMENTARY(expm1)
OPLOOM_ELEMENTARY(log)
OPLOOM_ELEMENTARY(log10)
OPLOOM_ELEMENTARY(log1p)
OPLOOM_ELEMENTARY(log2)
OPLOOM_ELEMENTARY(sin)
OPLOOM_ELEMENTARY(sinh)
OPLOOM_ELEMENTARY(sqrt)
OPLOOM_ELEMENTARY(tan)
OPLOOM_ELEMENTARY(tanh)
#undef OPLOOM_ELEMENTARY

template <typename T>
OPLOOM_HOST_DEVICE Number<T> rsqrt(const Number<T>& x) {
  if constexpr (c10::is_complex_v<T>) {
    return complex_functions::rsqrt(x.value);
  } else {
#if defined(__CUDA_ARCH__)
    return ::rsqrt(x.value);
#else
    return T(1) / std::sqrt(x.value);
#endif
  }
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> pow(const Number<T>& x, const Number<T>& y) {
  if constexpr (c10::is_complex_v<T>) {
    return complex_functions::pow(x.value, y.value);
  } else {
    return std::pow(x.value, y.value);
  }
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> atan2(const Number<T>& x, const Number<T>& y) {
  return std::atan2(x.value, y.value);
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> hypot(const Number<T>& x, const Number<T>& y) {
  return std::hypot(x.value, y.value);
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> sigmoid(const Number<T>& x) {
  if constexpr (c10::is_complex_v<T>) {
    return c10::special::sigmoid(x.value);
  } else {
    return c10::special::sigmoid_product(T(1), x.value);
  }
}
// a * sigmoid(x)
template <typename T>
OPLOOM_HOST_DEVICE Number<T> sigmoid_product(const Number<T>& a, const Number<T>& x) {
  if constexpr (c10::is_complex_v<T>) {
    return a * sigmoid(x);
  } else {
    return c10::special::sigmoid_product(a.value, x.value);
  }
}
// log(exp(x) + exp(y)) and the same of base 2, without overflow.
template <typename T>
OPLOOM_HOST_DEVICE Number<T> logaddexp(const Number<T>& x, const Number<T>& y) {
  // Of two equal infinities the difference is nan.
  if ((x == y).value) return x + Number<T>(T(0.6931471805599453094));
  return maximum(x, y) + log1p(exp(neg(abs(x - y))));
}
template <typename T>
OPLOOM_HOST_DEVICE Number<T> logaddexp2(const Number<T>& x, const Number<T>& y) {
  if ((x == y).value) return x + Number<T>(T(1));
  return maximum(x, y) + log1p(exp2(neg(abs(x - y)))) * Number<T>(T(1.4426950408889634074));
}

// ---- Special functions, of real numbers ----

#define OPLOOM_STANDARD(name)                             \
  template <typename T>                                   \
  OPLOOM_HOST_DEVICE Number<T> name(const Number<T>& x) { \
    return std::name(x.value);                            \
  }
OPLOOM_STANDARD(erf)
OPLOOM_STANDARD(erfc)
OPLOOM_STANDARD(lgamma)
#undef OPLOOM_STANDARD

#define OPLOOM_SPECIAL(name)                              \
  template <typename T>                                   \
  OPLOOM_HOST_DEVICE Number<T> name(const Number<T>& x) { \
    return static_cast<T>(c10::special::name(x.value));   \
  }
OPLOOM_SPECIAL(digamma)
OPLOOM_SPECIAL(i0e)
OPLOOM_SPECIAL(i1e)
OPLOOM_SPECIAL(logit)
OPLOOM_SPECIAL(mish)
OPLOOM_SPECIAL(softplus)
#undef OPLOOM_SPECIAL

#if defined(__CUDA_ARCH__)
#define OPLOOM_SPECIAL_OR(name, function) return ::function(x.value);
#else
#define OPLOOM_SPECIAL_OR(name, function) return static_cast<T>(c10::special::name(x.value));
#endif
#define OPLOOM_SPECIAL(name, function)                    \
  template <typename T>                                   \
  OPLOOM_HOST_DEVICE Number<T> name(const Number<T>& x) { \
    OPLOOM_SPECIAL_OR(name, function)                     \
  }
OPLOOM_SPECIAL(erfcx, erfcx)
OPLOOM_SPECIAL(erfinv, erfinv)
OPLOOM_SPECIAL(i0, cyl_bessel_i0)
OPLOOM_SPECIAL(i1, cyl_bessel_i1)
OPLOOM_SPECIAL(ndtr, normcdf)
OPLOOM_SPECIAL(ndtri, normcdfinv)
#undef OPLOOM_SPECIAL
#undef OPLOOM_SPECIAL_OR

template <typename T>
OPLOOM_HOST_DEVICE Number<T> polygamma(const Number<T>& n, const Number<T>& x) {
  return static_cast<T>(c10::special::polygamma(n.value, x.value));
}

}  // namespace at::inline oploom_v1::cuda
