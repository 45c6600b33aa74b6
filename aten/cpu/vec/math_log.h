// Logarithms, and sums of exponentials.
#pragma once

#include <aten/cpu/vec/math_exp.h>
#include <aten/cpu/vec/math_root.h>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Note [log]
// x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and log(1 + f) = c f + small, where c
// and log(2) are those of the base, each split in two. So is the sum of the largest parts, k log(2)
// and c f: beside their roundings that of the result is small. What is small is f^2 P(f) in float,
// and in double c s (s^2 P(s^2) - f), where s = f / (2 + f): the logarithm of (1 + s) / (1 - s),
// which takes half the coefficients. k times the first part of log(2) is exact.
struct NaturalLog {
  template <typename T>
  static constexpr T kPower = either<T>(0.693145752f, 0.6931471805601177);
  template <typename T>
  static constexpr T kPowerRest = either<T>(1.42860677e-6f, -1.7239444525614835e-13);
  OPLOOM_ALWAYS_INLINE static Vec<float> curve(Vec<float> f) {
    return fmadd(f,
                 polynomial_by_halves(f, 0.33333355f, -0.25000855f, 0.19999772f, -0.16621219f,
                                      0.1422785f, -0.13204114f, 0.12617488f, -0.07355122f),
                 Vec<float>(-0.5f));
  }
};
struct BinaryLog {
  template <typename T>
  static constexpr T kPower = T(1);
  template <typename T>
  static constexpr T kFactor = either<T>(1.44269502f, 1.4426950408889634);
  template <typename T>
  static constexpr T kFactorRest = either<T>(1.92596303e-8f, 2.0355273740931033e-17);
  OPLOOM_ALWAYS_INLINE static Vec<float> curve(Vec<float> f) {
    return fmadd(f,
                 polynomial_by_halves(f, 0.48089838f, -0.3606991f, 0.28855932f, -0.2395516f,
                                      0.20472121f, -0.19171493f, 0.18566182f, -0.10777837f),
                 Vec<float>(-0.72134733f));
  }
};
struct DecimalLog {
  template <typename T>
  static constexpr T kPower = either<T>(0.301025391f, 0.30102999566395283);
  template <typename T>
  static constexpr T kPowerRest = either<T>(4.60503907e-6f, 2.8363394551044964e-14);
  template <typename T>
  static constexpr T kFactor = either<T>(0.434294492f, 0.4342944819032518);
  template <typename T>
  static constexpr T kFactorRest = either<T>(-1.01032549e-8f, 1.098319650216765e-17);
  OPLOOM_ALWAYS_INLINE static Vec<float> curve(Vec<float> f) {
    return fmadd(f,
                 polynomial_by_halves(f, 0.14476484f, -0.10858102f, 0.08686464f, -0.07211508f,
                                      0.06163773f, -0.05772003f, 0.055817697f, -0.032281954f),
                 Vec<float>(-0.21714719f));
  }
};
template <typename Base>
inline constexpr bool kHasFactor = requires {
  Base::template kFactor<float>;
};

// k log(2) + p + small
template <typename Base, typename T>
OPLOOM_ALWAYS_INLINE Vec<T> log_of_parts(Vec<T> k, Vec<T> p, Vec<T> small) {
  using V = Vec<T>;
  const V power = k * V(Base::template kPower<T>);
  const V sum = power + p;
  V lost = p - (sum - power);
  if constexpr (requires { Base::template kPowerRest<T>; }) {
    lost = fmadd(k, V(Base::template kPowerRest<T>), lost);
  }
  return sum + (lost + small);
}

// The logarithm of 1 + f, less c f, plus `rest`.
template <typename Base>
OPLOOM_ALWAYS_INLINE Vec<float> small_of_log(Vec<float> f, Vec<float> rest) {
  const Vec<float> square = f * f, curve = Base::curve(f);
  if constexpr (kHasFactor<Base>) {
    const Vec<float> square_rest = fmadd(f, f, square.neg());
    rest = fmadd(square_rest, curve, rest);
  }
  return fmadd(square, curve, rest);
}
template <typename Base>
OPLOOM_ALWAYS_INLINE Vec<double> small_of_log(Vec<double> f, Vec<double> rest) {
  using D = Vec<double>;
  const D s = f / (f + D(2.)), z = s * s;
  const D curve =
      polynomial(z, 0.6666666666666734, 0.39999999999414343, 0.2857142874246935, 0.2222219856411283,
                 0.18183564831134347, 0.1531403681485719, 0.1479609497785785);
  if constexpr (kHasFactor<Base>) {
    // s f = f^2 / 2 - s f^2 / 2, of which less is rounded away.
    const D factor(Base::template kFactor<double>), square = f * f, half = square * D(0.5);
    const D small = fmadd(s, fmadd(z, curve, half), half.neg());
    rest = fmadd(fmadd(f, f, square.neg()), factor * D(-0.5), rest);
    return fmadd(small, factor, rest);
  } else {
    return fmadd(s, fmadd(z, curve, f.neg()), rest);
  }
}

// Of 2^k (1 + f).
template <typename Base, typename T>
OPLOOM_ALWAYS_INLINE Vec<T> log_of_split(Vec<T> k, Vec<T> f) {
  using V = Vec<T>;
  if constexpr (kHasFactor<Base>) {
    const V factor(Base::template kFactor<T>);
    const V p = f * factor;
    const V p_rest = fmadd(f, V(Base::template kFactorRest<T>), fmadd(f, factor, p.neg()));
    return log_of_parts<Base>(k, p, small_of_log<Base>(f, p_rest));
  } else {
    return log_of_parts<Base>(k, f, small_of_log<Base>(f, V(T(-0.0))));
  }
}

// The bits of a positive normal number less those of sqrt(1/2): those of the exponent are k, and
// 1024 more in double. AVX2 turns no whole numbers of 64 bits into double; k + 1024 gets there as
// the lowest bits of 2^52 and more.
template <typename T>
inline constexpr T kAddedToPower = either<T>(0.f, 2.);
template <typename T>
OPLOOM_ALWAYS_INLINE typename FloatingForm<Vec<T>>::bits bits_of_power(Vec<T> x) {
  using V = Vec<T>;
  return bits_of(x) - (bits_of(V(T(0.70710678118654752))) - bits_of(V(kAddedToPower<T>)));
}
OPLOOM_ALWAYS_INLINE Vec<float> power_of_bits(Vec<uint32_t> bits) {
  return (std::bit_cast<Vec<int32_t>>(bits) >> 23).to_float();
}
OPLOOM_ALWAYS_INLINE Vec<double> power_of_bits(Vec<uint64_t> bits) {
  using D = Vec<double>;
  return from_bits<D>((bits >> 52) | bits_of(D(0x1p52))) - D(0x1p52 + 1024);
}

// k and 1 + f of a positive normal number.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> split_power(Vec<T> x, Vec<T>& k) {
  using V = Vec<T>;
  const auto bits = bits_of_power(x);
  k = power_of_bits(bits);
  const auto fraction = bits & (bits_of(V(std::numeric_limits<T>::min())) - decltype(bits)(1));
  return from_bits<V>(fraction + bits_of(V(T(0.70710678118654752))));
}

template <typename T>
OPLOOM_ALWAYS_INLINE typename Vec<T>::Mask is_positive_normal(Vec<T> x) {
  using Limits = std::numeric_limits<T>;
  return (x >= Vec<T>(Limits::min())) & (x <= Vec<T>(Limits::max()));
}

// For positive numbers below 1: subnormal ones are made larger by a power of 2 first.
template <typename Base, typename T>
OPLOOM_NOINLINE Vec<T> log_of_tiny(Vec<T> x) {
  using V = Vec<T>;
  constexpr int kDigits = std::numeric_limits<T>::digits;
  V k;
  const V m = split_power(x * V(static_cast<T>(int64_t(1) << kDigits)), k);
  return log_of_split<Base>(k - V(T(kDigits)), m - V(T(1)));
}

template <typename Base, typename U, typename T>
OPLOOM_ALWAYS_INLINE Vec<T> log_of(U& usual, Vec<T> x) {
  using V = Vec<T>;
  using Limits = std::numeric_limits<T>;
  V k;
  const V m = split_power(x, k);
  V y = log_of_split<Base>(k, m - V(T(1)));
  if constexpr (std::is_base_of_v<Any, U>) {
    // Loops over unusual arguments keep the constants of this in registers, and few are subnormal.
    const V zero(T(0));
    const auto positive = x > zero, tiny = positive & (x < V(Limits::min()));
    if (!all(!tiny)) [[unlikely]]
      y = blendv(y, log_of_tiny<Base>(x), tiny);
    const V below = blendv(V(Limits::quiet_NaN()), V(-Limits::infinity()), x == zero);
    return blendv(x, blendv(below, y, positive), x <= V(Limits::max()));
  } else {
    usual.are(is_positive_normal(x));
    return y;
  }
}

#define OPLOOM_LOG(name, base)                                                                \
  template <typename U, typename T>                                                           \
  requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> name(U& usual,             \
                                                                        const Vec<T>& x) {    \
    return log_of<base>(usual, x);                                                            \
  }                                                                                           \
  OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::name() const { return vec::name(kAny, *this); } \
  OPLOOM_ALWAYS_INLINE Vec<double> Vec<double>::name() const { return vec::name(kAny, *this); }
OPLOOM_LOG(log, NaturalLog)
OPLOOM_LOG(log2, BinaryLog)
OPLOOM_LOG(log10, DecimalLog)
#undef OPLOOM_LOG

// log(1 + x + x_rest), where x_rest is what x has lost. With k that of 1 + x, rounded, f is
// x / 2^k + (1 / 2^k - 1) in two numbers. For x > -1 up to 2^60.
template <typename T, typename... Rest>
OPLOOM_ALWAYS_INLINE Vec<T> log1p_of_usual(Vec<T> x, Rest... x_rest) {
  using V = Vec<T>;
  const V one(T(1));
  const auto bits = bits_of_power(x + one);
  const auto exponent = bits & bits_of(V(-std::numeric_limits<T>::infinity()));
  const V inverse = from_bits<V>(bits_of(one) + bits_of(V(kAddedToPower<T>)) - exponent);
  const V a = inverse - one;
  const V b = x * inverse;
  const V f = a + b;
  V rest = b - (f - a);
  ((rest = fmadd(x_rest, inverse, rest)), ...);
  // log'(1 + f) is about 1 - f, and beside a larger rest 1 - f + f^2.
  V lost = rest;
  if constexpr (sizeof...(Rest) > 0) lost = fmadd(f.neg(), rest, rest);
  const V small = small_of_log<NaturalLog>(f, fmadd(f.neg(), lost, rest));
  return log_of_parts<NaturalLog>(power_of_bits(bits), f, small) | (x & V(T(-0.0)));
}

template <typename T>
OPLOOM_NOINLINE Vec<T> log1p_of_any(Vec<T> x) {
  using V = Vec<T>;
  using Limits = std::numeric_limits<T>;
  V y = blendv(log1p_of_usual(x), x.log(), x > V(T(0x1p60)));
  y = blendv(y, V(Limits::quiet_NaN()), x < V(T(-1)));
  y = blendv(y, V(-Limits::infinity()), x == V(T(-1)));
  return blendv(y, x, x.isnan());
}

template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> log1p(U& usual, const Vec<T>& x) {
  using V = Vec<T>;
  if (!usual.are((x > V(T(-1))) & (x < V(T(0x1p60))))) [[unlikely]]
    return log1p_of_any(x);
  return log1p_of_usual(x);
}
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::log1p() const { return vec::log1p(kAny, *this); }
OPLOOM_ALWAYS_INLINE Vec<double> Vec<double>::log1p() const { return vec::log1p(kAny, *this); }

// Note [Inverse hyperbolic functions]
// Each is, but for its sign, log1p of a number that is computed in two parts. asinh and acosh of
// large numbers, whose squares would overflow or leave what log1p_of_usual takes, are log(2 |x|).
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> log_of_twice(Vec<T> x) {
  using V = Vec<T>;
  V k;
  const V m = split_power(x, k);
  const V y = log_of_split<NaturalLog>(k + V(T(1)), m - V(T(1)));
  return blendv(x, y, x < V(std::numeric_limits<T>::infinity()));
}
template <typename T>
OPLOOM_ALWAYS_INLINE typename Vec<T>::Mask is_small_for_inverse(Vec<T> magnitude) {
  return magnitude <= Vec<T>(T(0x1p58));
}

// Of (1 + |x|) / (1 - |x|) the logarithm, halved: of 1 + y with y = 2 |x| / (1 - |x|).
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> atanh_of_usual(Vec<T> x) {
  using V = Vec<T>;
  const V one(T(1)), magnitude = x.abs(), twice = magnitude + magnitude;
  const V below = one - magnitude, below_rest = (one - below) - magnitude;
  const V inverse = one / below, quotient = twice * inverse;
  const V rest = fmadd(quotient.neg(), below_rest, fmadd(quotient.neg(), below, twice));
  return log1p_of_usual(quotient, rest * inverse) * V(T(0.5)) | (x & V(T(-0.0)));
}
template <typename T>
OPLOOM_NOINLINE Vec<T> atanh_of_any(Vec<T> x) {
  const Vec<T> one(T(1)), below = one - x.abs();
  return blendv(x / below.sqrt(), atanh_of_usual(x), x.abs() < one);
}

// y = |x| + (sqrt(1 + x^2) - 1)
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> asinh_of_usual(Vec<T> x) {
  using V = Vec<T>;
  const V one(T(1)), magnitude = x.abs(), square = x * x;
  const V larger = maximum(square, one), smaller = minimum(square, one), p = larger + smaller;
  const V p_rest = (smaller - (p - larger)) + fmadd(x, x, square.neg());
  const auto [root, root_rest] = root_in_two(p, p_rest);
  const V more = root - one, y = magnitude + more;
  const V more_rest = root_rest - (one - (root - more));
  const V rest = (more - (y - magnitude)) + more_rest;
  return log1p_of_usual(y, rest) | (x & V(T(-0.0)));
}
template <typename T>
OPLOOM_NOINLINE Vec<T> asinh_of_any(Vec<T> x) {
  const Vec<T> magnitude = x.abs();
  const auto small = is_small_for_inverse(magnitude);
  return blendv(log_of_twice(magnitude) | (x & Vec<T>(T(-0.0))), asinh_of_usual(x), small);
}

// y = (x - 1) + sqrt(x^2 - 1)
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> acosh_of_usual(Vec<T> x) {
  using V = Vec<T>;
  const V one(T(1)), square = x * x, less = square - one;
  const V less_rest = fmadd(x, x, square.neg()) - (one - (square - less));
  const V p = less + less_rest, p_rest = less_rest - (p - less);
  const auto [root, root_rest] = root_in_two(p, p_rest);
  const V more = x - one, y = root + more;
  const V more_rest = root_rest - (one - (x - more));
  return log1p_of_usual(y, (more - (y - root)) + more_rest);
}
template <typename T>
OPLOOM_NOINLINE Vec<T> acosh_of_any(Vec<T> x) {
  using V = Vec<T>;
  const V y = blendv(log_of_twice(x), acosh_of_usual(x), is_small_for_inverse(x));
  return blendv(y, V(std::numeric_limits<T>::quiet_NaN()), x < V(T(1)));
}

template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> atanh(U& usual, const Vec<T>& x) {
  if (!usual.are(x.abs() < Vec<T>(T(1)))) [[unlikely]]
    return atanh_of_any(x);
  return atanh_of_usual(x);
}
template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> asinh(U& usual, const Vec<T>& x) {
  if (!usual.are(is_small_for_inverse(x.abs()))) [[unlikely]]
    return asinh_of_any(x);
  return asinh_of_usual(x);
}
template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> acosh(U& usual, const Vec<T>& x) {
  if (!usual.are((x >= Vec<T>(T(1))) & is_small_for_inverse(x))) [[unlikely]]
    return acosh_of_any(x);
  return acosh_of_usual(x);
}
#define OPLOOM_INVERSE(name)                                                               \
  template <typename T>                                                                    \
  requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> name(const Vec<T>& x) { \
    return name(kAny, x);                                                                  \
  }
OPLOOM_INVERSE(acosh)
OPLOOM_INVERSE(asinh)
OPLOOM_INVERSE(atanh)
#undef OPLOOM_INVERSE

// log(x / (1 - x)) for x from 2^-50 on and below 1: with s the smaller one of x and 1 - x, and c
// the other, log(c / s) or its negative. Of the two no more than c is rounded. What c and the
// quotient have lost, as a part of c, shows where c is near 1/2; there 1 / c is 6 - 12 c + 8 c^2,
// but for the third power of 2 c - 1.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> logit_of_usual(Vec<T> x) {
  using V = Vec<T>;
  const V one(T(1)), other = one - x, s = at_most(x, other), c = at_least(x, other);
  const V quotient = c / s;
  const V lost = fmadd(quotient.neg(), s, c) + ((one - c) - s);
  const V rest = lost * fmadd(c, fmadd(c, V(T(8)), V(T(-12))), V(T(6)));
  V k;
  const V f = split_power(quotient, k) - one;
  const V y = log_of_parts<NaturalLog>(k, f, small_of_log<NaturalLog>(f, rest));
  return y ^ ((x - V(T(0.5))) & V(T(-0.0)));
}
template <typename T>
OPLOOM_NOINLINE Vec<T> logit_of_any(Vec<T> x, typename Vec<T>::Mask usual) {
  return blendv(x.log() - x.neg().log1p(), logit_of_usual(x), usual);
}
template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> logit(U& usual, const Vec<T>& x) {
  const auto known = (x >= Vec<T>(T(0x1p-50))) & (x < Vec<T>(T(1)));
  if (!usual.are(known)) [[unlikely]]
    return logit_of_any(x, known);
  return logit_of_usual(x);
}
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> logit(const Vec<T>& x) {
  return logit(kAny, x);
}

// log(1 + e) for e from 0 to 1. Up to 1/2, f = e; above, f = (1 + e) / 2 - 1, exactly.
OPLOOM_ALWAYS_INLINE Vec<float> log1p_of_share(Vec<float> e) {
  using V = Vec<float>;
  const V half(0.5f);
  const auto large = e > half;
  const V f = blendv(e, fmadd(e, half, half.neg()), large);
  const V curve =
      fmadd(f,
            polynomial_by_halves(f, 0.33333462f, -0.25000194f, 0.19990373f, -0.16642536f,
                                 0.14475426f, -0.1320952f, 0.105918415f, -0.046043035f),
            Vec<float>(-0.5f));
  return blendv(V(0.f), V(0.693147182f), large) + fmadd(f * f, curve, f);
}
// Here up to sqrt(2) - 1.
OPLOOM_ALWAYS_INLINE Vec<double> log1p_of_share(Vec<double> e) {
  using D = Vec<double>;
  const D half(0.5);
  const auto large = e > D(0.41421356237309503);
  const D f = blendv(e, fmadd(e, half, half.neg()), large);
  const D rest = blendv(D(-0.), D(2.3190468138462996e-17), large);
  return blendv(D(0.), D(0.6931471805599453), large) + (f + small_of_log<NaturalLog>(f, rest));
}

// log(1 + exp(x))
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> softplus(const Vec<T>& x) {
  return at_least(x, Vec<T>(T(0))) + log1p_of_share(exp_of_negative(x | Vec<T>(T(-0.0))));
}

// log(exp(x) + exp(y)), and the same of base 2
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> logaddexp(const Vec<T>& x,
                                                                           const Vec<T>& y) {
  const Vec<T> sum = maximum(x, y) + log1p_of_share(exp_of_negative((x - y) | Vec<T>(T(-0.0))));
  // Of two equal infinities the difference is nan.
  return blendv(sum, x + Vec<T>(kLn2<T>), x == y);
}
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> logaddexp2(const Vec<T>& x,
                                                                            const Vec<T>& y) {
  const Vec<T> share = log1p_of_share(exp2((x - y) | Vec<T>(T(-0.0))));
  const Vec<T> sum = fmadd(share, Vec<T>(T(1.4426950408889634)), maximum(x, y));
  return blendv(sum, x + Vec<T>(T(1)), x == y);
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
