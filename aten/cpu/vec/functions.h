// The functions of the expression language on Vec<T>: f(x) for every f of
// codegen/frontend/expression/Functions.cpp, for whatever T it is defined for.
#pragma once

#include <aten/cpu/vec/vec.h>
#include <c10/util/special_functions.h>

#include <cmath>

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Whether there are instructions for the bits of floating-point lanes.
template <typename T>
inline constexpr bool kHasBits = std::is_floating_point_v<T>&& Vec<T>::kInRegister;

// ---- Vec's own ----

#define OPLOOM_METHOD(name)                           \
  template <typename T>                               \
  OPLOOM_ALWAYS_INLINE Vec<T> name(const Vec<T>& x) { \
    return x.name();                                  \
  }
OPLOOM_METHOD(abs)
OPLOOM_METHOD(cos)
OPLOOM_METHOD(erf)
OPLOOM_METHOD(exp)
OPLOOM_METHOD(expm1)
OPLOOM_METHOD(log)
OPLOOM_METHOD(log10)
OPLOOM_METHOD(log1p)
OPLOOM_METHOD(log2)
OPLOOM_METHOD(neg)
OPLOOM_METHOD(rsqrt)
OPLOOM_METHOD(sin)
OPLOOM_METHOD(sqrt)
OPLOOM_METHOD(tan)
OPLOOM_METHOD(tanh)
#undef OPLOOM_METHOD

// Integers are whole already.
#define OPLOOM_ROUNDING(name)                         \
  template <typename T>                               \
  OPLOOM_ALWAYS_INLINE Vec<T> name(const Vec<T>& x) { \
    if constexpr (std::is_integral_v<T>) {            \
      return x;                                       \
    } else {                                          \
      return x.name();                                \
    }                                                 \
  }
OPLOOM_ROUNDING(ceil)
OPLOOM_ROUNDING(floor)
OPLOOM_ROUNDING(round)
OPLOOM_ROUNDING(trunc)
#undef OPLOOM_ROUNDING

template <typename T>
OPLOOM_ALWAYS_INLINE typename Vec<T>::Mask isnan(const Vec<T>& x) {
  return x.isnan();
}
template <typename T>
OPLOOM_ALWAYS_INLINE typename Vec<T>::Mask isinf(const Vec<T>& x) {
  if constexpr (std::is_integral_v<T>) {
    return x != x;
  } else {
    return x.abs() == Vec<T>(std::numeric_limits<T>::infinity());
  }
}

// ---- Choices ----

template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> select(const typename Vec<T>::Mask& condition, const Vec<T>& then,
                                   const Vec<T>& otherwise) {
  return blendv(otherwise, then, condition);
}
// Of conditions themselves.
template <typename Mask>
requires requires(const Mask& mask) { !mask; }
OPLOOM_ALWAYS_INLINE Mask select(const Mask& condition, const Mask& then, const Mask& otherwise) {
  return (condition & then) | (!condition & otherwise);
}
template <typename V>
OPLOOM_ALWAYS_INLINE typename V::Mask truth(bool value) {
  using T = typename V::value_type;
  return V(T(value)) != V(T(0));
}

// ---- Composed of the above ----

// a * sigmoid(x)
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> sigmoid_product(const Vec<T>& a, const Vec<T>& x) {
  if constexpr (c10::is_complex_v<T>) {
    return a * sigmoid(x);
  } else {
    return map2(a, x,
                [](T factor, T value) { return c10::special::sigmoid_product(factor, value); });
  }
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> sigmoid(const Vec<T>& x) {
  if constexpr (c10::is_complex_v<T>) {
    return x.map([](T value) { return c10::special::sigmoid(value); });
  } else {
    return sigmoid_product(Vec<T>(T(1)), x);
  }
}

template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> relu(const Vec<T>& x) {
  const Vec<T> zero(T(0));
  return blendv(x, zero, x < zero);
}

// 0 for 0, nan for nan.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> sign(const Vec<T>& x) {
  const Vec<T> zero(T(0));
  const Vec<T> not_negative = blendv(x, Vec<T>(T(1)), x > zero);
  return blendv(not_negative, Vec<T>(static_cast<T>(-1)), x < zero);
}

// The number if the other argument is nan.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> fmax(const Vec<T>& x, const Vec<T>& y) {
  return blendv(blendv(maximum(x, y), x, y.isnan()), y, x.isnan());
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> fmin(const Vec<T>& x, const Vec<T>& y) {
  return blendv(blendv(minimum(x, y), x, y.isnan()), y, x.isnan());
}

template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> conj(const Vec<T>& x) {
  if constexpr (c10::is_complex_v<T>) {
    return x.map([](T z) { return std::conj(z); });
  } else {
    return x;
  }
}

// z / |z|, and 0 for 0.
template <typename T>
Vec<T> sgn(const Vec<T>& x) {
  return x.map([](T z) {
    const auto size = std::abs(z);
    return size == 0 ? T(0) : z / size;
  });
}

// ---- One number at a time ----

#define OPLOOM_SPECIAL(name)                                                         \
  template <typename T>                                                              \
  Vec<T> name(const Vec<T>& x) {                                                     \
    return x.map([](T value) { return static_cast<T>(c10::special::name(value)); }); \
  }
OPLOOM_SPECIAL(digamma)
OPLOOM_SPECIAL(erfcx)
OPLOOM_SPECIAL(erfinv)
OPLOOM_SPECIAL(gelu_tanh)
OPLOOM_SPECIAL(i0)
OPLOOM_SPECIAL(i0e)
OPLOOM_SPECIAL(i1)
OPLOOM_SPECIAL(i1e)
OPLOOM_SPECIAL(logit)
OPLOOM_SPECIAL(mish)
OPLOOM_SPECIAL(ndtr)
OPLOOM_SPECIAL(ndtri)
OPLOOM_SPECIAL(softplus)
OPLOOM_SPECIAL(trigamma)
#undef OPLOOM_SPECIAL

// x times the share of the normal distribution below x, and that share where errors count as they
// do beside 1.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> gelu(const Vec<T>& x) {
  return x * ndtr(x);
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> normal_cdf(const Vec<T>& x) {
  return ndtr(x);
}

template <typename T>
Vec<T> polygamma_of_order(T n, const Vec<T>& x) {
  return x.map([n](T value) { return static_cast<T>(c10::special::polygamma(n, value)); });
}
template <typename T>
OPLOOM_NOINLINE Vec<T> polygamma(const Vec<T>& n, const Vec<T>& x) {
  alignas(kVecBytes) T orders[Vec<T>::size()];
  n.storeu(orders);
  const T order = orders[0];
  if (!all(n == Vec<T>(order))) [[unlikely]]
    return map_two(n, x, [](T a, T b) { return static_cast<T>(c10::special::polygamma(a, b)); });
  if (order == T(0)) return digamma(x);
  if (order == T(1)) return trigamma(x);
  return polygamma_of_order(order, x);
}
template <typename T>
Vec<T> nextafter(const Vec<T>& x, const Vec<T>& y) {
  return map_two(x, y, [](T a, T b) { return std::nextafter(a, b); });
}
// The bits of numbers of one sign are ordered as the numbers are.
template <typename T>
requires kHasBits<T> OPLOOM_ALWAYS_INLINE Vec<T> nextafter(const Vec<T>& x, const Vec<T>& y) {
  using Bits = typename FloatingForm<Vec<T>>::bits;
  const Vec<T> zero(T(0)), smallest(std::numeric_limits<T>::denorm_min());
  const Bits bits = bits_of(x), one(1);
  const Vec<T> outward = from_bits<Vec<T>>(bits + one), inward = from_bits<Vec<T>>(bits - one);
  Vec<T> next = blendv(blendv(inward, outward, x > zero), blendv(inward, outward, x < zero), y < x);
  next = blendv(next, smallest | (y & Vec<T>(T(-0.0))), x == zero);
  next = blendv(next, y, x == y);
  return blendv(next, x + y, x.isnan() | y.isnan());
}
// The sign bit, which -0 and nan have as well.
template <typename T>
OPLOOM_ALWAYS_INLINE typename Vec<T>::Mask signbit(const Vec<T>& x) {
  const Vec<T> zero(T(0));
  if constexpr (kHasBits<T>) {
    return (Vec<T>(T(1)) | (x & Vec<T>(T(-0.0)))) < zero;
  } else if constexpr (std::is_floating_point_v<T>) {
    return x.map([](T value) { return std::signbit(value) ? T(1) : T(0); }) != zero;
  } else {
    return x < zero;
  }
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> copysign(const Vec<T>& x, const Vec<T>& y) {
  if constexpr (kHasBits<T>) {
    return x.abs() | (y & Vec<T>(T(-0.0)));
  } else {
    return map_two(x, y, [](T a, T b) { return std::copysign(a, b); });
  }
}

// Exact, as std::fmod is. With the quotient q, rounded and cut to a whole number, x - q * y is a
// number of the type, which one fused operation gives without an error; where the quotient was
// rounded up to the next whole number, it is one y too small. Larger quotients are not whole.
template <typename T>
requires kHasBits<T> OPLOOM_ALWAYS_INLINE Vec<T> rest_of_division(const Vec<T>& x, const Vec<T>& y,
                                                                  const Vec<T>& quotient) {
  const Vec<T> sign = x & Vec<T>(T(-0.0));
  const Vec<T> rest = fmadd(quotient.neg(), y, x);
  return blendv(rest, rest + (y.abs() | sign), (rest ^ sign) < Vec<T>(T(0))) | sign;
}

// Multiples of y by powers of two, as large as leave the quotient whole, are taken away first.
template <typename T>
requires kHasBits<T> OPLOOM_NOINLINE Vec<T> fmod_of_any(const Vec<T>& x, const Vec<T>& y) {
  using V = Vec<T>;
  using Limits = std::numeric_limits<T>;
  constexpr int kDigits = Limits::digits;
  const V zero(T(0)), smallest(Limits::min()), infinity(Limits::infinity());
  const V divisor = y.abs(), magnitude = x.abs();
  const auto defined = (magnitude < infinity) & (divisor > zero);
  V rest = blendv(zero, magnitude, defined);
  // 2^n, n whole; the exponent of a number, of a subnormal one that of the smallest normal one, all
  // counted from the same
  const auto power = [](V n) {
    return from_bits<V>(bits_of(n + V(kRoundTo<T> + kBias<T>)) << kShift<T>);
  };
  const auto exponent = [&](V number) {
    return power_of_bits(bits_of(at_least(number, smallest)));
  };
  const auto subnormal = divisor < smallest;
  const V enlarged = divisor * V(static_cast<T>(int64_t(1) << kDigits));
  const V divisor_exponent =
      blendv(exponent(divisor), exponent(enlarged) - V(T(kDigits)), subnormal);
  for (auto done = rest < divisor; !all(done | !defined); done = rest < divisor) {
    const V n = at_least(exponent(rest) - divisor_exponent - V(T(kDigits - 1)), zero);
    const V half = (n * V(T(0.5))).trunc();
    const V multiple = divisor * power(half) * power(n - half);
    rest = blendv(rest_of_division(rest, multiple, (rest / multiple).trunc()), rest, done);
  }
  return blendv(V(Limits::quiet_NaN()), rest | (x & V(T(-0.0))), defined);
}

template <typename T>
requires kHasBits<T> OPLOOM_ALWAYS_INLINE Vec<T> fmod(const Vec<T>& x, const Vec<T>& y) {
  const Vec<T> whole_below(static_cast<T>(int64_t(1) << std::numeric_limits<T>::digits));
  const Vec<T> quotient = (x / y).trunc();
  const Vec<T> infinity(std::numeric_limits<T>::infinity());
  if (!all((quotient.abs() < whole_below) & (y.abs() < infinity))) [[unlikely]]
    return fmod_of_any(x, y);
  return rest_of_division(x, y, quotient);
}

// Where the rest of a division and the divisor have different signs, rounding down and cutting off
// differ.
template <typename T>
OPLOOM_ALWAYS_INLINE typename Vec<T>::Mask rounds_down(const Vec<T>& rest, const Vec<T>& divisor) {
  const Vec<T> zero(T(0));
  return ((rest < zero) & (divisor > zero)) | ((rest > zero) & (divisor < zero));
}

// The remainder has the sign of the divisor.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> remainder(const Vec<T>& x, const Vec<T>& y) {
  const Vec<T> rest = fmod(x, y);
  return blendv(rest, rest + y, rounds_down(rest, y));
}

// The floor of x / y, computed from fmod so that it is exact where x / y would round up to the next
// whole number.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> floor_divide(const Vec<T>& x, const Vec<T>& y) {
  const Vec<T> zero(T(0)), one(T(1));
  const Vec<T> rest = fmod(x, y);
  const Vec<T> cut = (x - rest) / y;
  const Vec<T> quotient = blendv(cut, cut - one, rounds_down(rest, y));
  const Vec<T> floor = quotient.floor();
  const Vec<T> whole = blendv(floor, floor + one, quotient - floor > Vec<T>(T(0.5)));
  const Vec<T> result = blendv(whole, copysign(zero, x / y), quotient == zero);
  return blendv(result, x / y, y == zero);
}

// DEFAULT's.
#define OPLOOM_LIBRARY(name)                                   \
  template <typename T>                                        \
  Vec<T> name(const Vec<T>& x) {                               \
    return x.map([](T value) { return T(std::name(value)); }); \
  }
OPLOOM_LIBRARY(acos)
OPLOOM_LIBRARY(acosh)
OPLOOM_LIBRARY(asin)
OPLOOM_LIBRARY(asinh)
OPLOOM_LIBRARY(atan)
OPLOOM_LIBRARY(atanh)
OPLOOM_LIBRARY(cosh)
OPLOOM_LIBRARY(erfc)
OPLOOM_LIBRARY(lgamma)
OPLOOM_LIBRARY(sinh)
#undef OPLOOM_LIBRARY

template <typename T>
Vec<T> exp2(const Vec<T>& x) {
  return x.map([](T value) { return std::exp2(value); });
}

template <typename T>
Vec<T> hypot(const Vec<T>& x, const Vec<T>& y) {
  return map_two(x, y, [](T a, T b) { return std::hypot(a, b); });
}

// log(exp(x) + exp(y)) and the same of base 2, without overflow.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> logaddexp(const Vec<T>& x, const Vec<T>& y) {
  const Vec<T> larger = maximum(x, y);
  const Vec<T> sum = larger + log1p(exp(neg(abs(x - y))));
  // Of two equal infinities the difference is nan.
  return select(x == y, x + Vec<T>(T(0.6931471805599453094)), sum);
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> logaddexp2(const Vec<T>& x, const Vec<T>& y) {
  const Vec<T> larger = maximum(x, y);
  const Vec<T> sum = larger + log1p(exp2(neg(abs(x - y)))) * Vec<T>(T(1.4426950408889634074));
  return select(x == y, x + Vec<T>(T(1)), sum);
}

// ---- f(usual, x...) where there is one form ----

#define OPLOOM_ONE_FORM(name)          \
  template <typename U, typename... V> \
  requires(kTellsUsual<U>) OPLOOM_ALWAYS_INLINE auto name(U&, const V&... x) { return name(x...); }
OPLOOM_ONE_FORM(acosh)
OPLOOM_ONE_FORM(asinh)
OPLOOM_ONE_FORM(atan2)
OPLOOM_ONE_FORM(atanh)
OPLOOM_ONE_FORM(cos)
OPLOOM_ONE_FORM(erf)
OPLOOM_ONE_FORM(erfinv)
OPLOOM_ONE_FORM(exp)
OPLOOM_ONE_FORM(exp2)
OPLOOM_ONE_FORM(expm1)
OPLOOM_ONE_FORM(gelu)
OPLOOM_ONE_FORM(gelu_tanh)
OPLOOM_ONE_FORM(log)
OPLOOM_ONE_FORM(log10)
OPLOOM_ONE_FORM(log1p)
OPLOOM_ONE_FORM(log2)
OPLOOM_ONE_FORM(logit)
OPLOOM_ONE_FORM(mish)
OPLOOM_ONE_FORM(pow)
OPLOOM_ONE_FORM(rsqrt)
OPLOOM_ONE_FORM(sigmoid)
OPLOOM_ONE_FORM(sigmoid_product)
OPLOOM_ONE_FORM(sin)
OPLOOM_ONE_FORM(softplus)
OPLOOM_ONE_FORM(sqrt)
OPLOOM_ONE_FORM(tan)
OPLOOM_ONE_FORM(tanh)
#undef OPLOOM_ONE_FORM

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY
