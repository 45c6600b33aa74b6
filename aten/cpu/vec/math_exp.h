// Functions made of exp().
#pragma once

#include <aten/cpu/vec/math_base.h>
#include <c10/util/special_functions.h>

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Note [exp]
// x = n ln 2 + r with |r| <= ln(2)/2, and exp(x) = 2^n exp(r). Adding a number whose last place is
// 1 (1.5 * 2^23) rounds x / ln 2 to a whole number, which is then found in the low bits. What is
// added is larger by twice the bias of the exponent, so that those bits, halved and shifted, are
// 2^(n/2). ln 2 is split in two; the first part is short enough for n times it to be exact, fused
// or not.

// Adding kRoundTo<T>, or that and a whole number, rounds to a whole number. kShift is where the
// exponent begins, kBias what it is larger by.
template <typename T>
inline constexpr int kShift = std::numeric_limits<T>::digits - 1;
template <typename T>
inline constexpr int kBias = std::numeric_limits<T>::max_exponent - 1;
template <typename T>
inline constexpr T kRoundTo = T(1.5) * T(int64_t(1) << kShift<T>);
inline constexpr float kRoundToWhole = kRoundTo<float>;
inline constexpr float kRoundToPower = kRoundTo<float> + 2 * kBias<float>;

template <typename F>
inline constexpr bool kHasScale = requires(F y, F n) {
  scale(y, n);
};

// y * 2^n, where rounded = 2 * bias + n in the low bits. AVX512 has an instruction for that. Others
// take two factors: one alone would not reach subnormal results, or 2^128, and rounding happens
// once, in the second.
template <typename F>
OPLOOM_ALWAYS_INLINE F scale_by_power(F y, F n, F rounded) {
  if constexpr (kHasScale<F>) {
    return scale(y, n);
  } else {
    constexpr int shift = kShift<typename FloatingForm<F>::number>;
    const auto half = (bits_of(rounded) >> 1) << shift;
    return y * from_bits<F>(half) * from_bits<F>((bits_of(rounded) << shift) - half);
  }
}

// P of exp(r) = 1 + r + r^2 P(r) for |r| <= ln(2)/2.
template <typename F>
OPLOOM_ALWAYS_INLINE F exp_curve(F r) {
  if constexpr (std::is_same_v<typename FloatingForm<F>::number, float>) {
    return polynomial(r, 0.49999988f, 0.16666517f, 0.04166964f, 0.008369136f, 0.0013746604f);
  } else {
    return polynomial(r, 0.5000000000000001, 0.16666666666666669, 0.041666666666624136,
                      0.008333333333330063, 0.001388888891720967, 0.00019841269863050506,
                      2.4801521302241082e-05, 2.7557268464831627e-06, 2.7620085455018414e-07,
                      2.510038319586702e-08);
  }
}
template <typename F>
OPLOOM_ALWAYS_INLINE F exp_near_zero(F r) {
  const F one(typename FloatingForm<F>::number(1));
  return fmadd(fmadd(exp_curve(r), r, one), r, one);
}

// n, which `rounded` has in its low bits, and x less n times the first part of ln 2; the second
// part, negated.
template <typename F>
OPLOOM_ALWAYS_INLINE F exp_reduced(F x, F& n, F& rounded) {
  using T = typename FloatingForm<F>::number;
  const F kRound(kRoundTo<T> + 2 * kBias<T>);
  rounded = fmadd(x, F(T(1.4426950408889634)), kRound);
  n = rounded - kRound;
  return fmadd(n, F(std::is_same_v<T, float> ? T(-0.693359375) : T(-0.6931471805601177)), x);
}
template <typename T>
inline constexpr T kReducedRest = T(std::is_same_v<T, float> ? 2.12194440e-4
                                                             : 1.7239444525614835e-13);

// Below, exp() is 0, and above kLargestPower infinite.
template <typename T>
inline constexpr T kLeastPower = T(std::is_same_v<T, float> ? -104 : -746);
template <typename T>
inline constexpr T kLargestPower = T(std::is_same_v<T, float> ? 90 : 711);
template <typename F>
OPLOOM_ALWAYS_INLINE F exp_argument(F x) {
  using T = typename FloatingForm<F>::number;
  return at_most(at_least(x, F(kLeastPower<T>)), F(kLargestPower<T>));
}

// exp(x) for x between these.
template <typename F>
OPLOOM_ALWAYS_INLINE F exp_within(F x) {
  F n, rounded;
  const F hi = exp_reduced(x, n, rounded);
  const F r = fmadd(n, F(kReducedRest<typename FloatingForm<F>::number>), hi);
  return scale_by_power(exp_near_zero(r), n, rounded);
}
// exp(x) for Vec<T> and, in loops that the compiler vectorises, T.
template <typename F>
OPLOOM_ALWAYS_INLINE F exp_of(F x) {
  return exp_within(exp_argument(x));
}
// The same for x <= 0, and up to 64, for which there is a shorter form for some.
template <typename F>
OPLOOM_ALWAYS_INLINE F exp_of_negative(F x) {
  return exp_within(at_least(x, F(kLeastPower<typename FloatingForm<F>::number>)));
}
// (a + a_rest) exp(x + rest), where `rest` is what x has lost, for x from -1400 to 1400, or -174 to
// 174. a + a r is kept in two numbers, and so is r.
template <typename F>
OPLOOM_ALWAYS_INLINE F exp_times(F a, F a_rest, F x, F rest) {
  using T = typename FloatingForm<F>::number;
  F n, rounded;
  const F hi = exp_reduced(x, n, rounded);
  const F lo = fmadd(n, F(kReducedRest<T>), rest);
  const F r = hi + lo, r_rest = (hi - r) + lo;
  const F line = fmadd(a, r, a);
  const F lost = fmadd(a, r, a - line) + fmadd(line, r_rest, a_rest);
  return scale_by_power(line + fmadd(a * (r * r), exp_curve(r), lost), n, rounded);
}

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

// Up to kNearPower the result is a normal number, and n can be added to its exponent. Where a whole
// Vec is that near, this saves time without AVX512.
inline constexpr float kNearPower = 87;

OPLOOM_ALWAYS_INLINE Vec<float>::Mask powers_near(Vec<float> x) {
  return x.abs() <= Vec<float>(kNearPower);
}

// Note [Eighths of powers]
// With n a count of eighths, r is an eighth as long and a short polynomial does; 2^(n/8) comes from
// eight numbers in a register. Rounding would take a last digit from most of them. So all are
// larger by one factor, exp(0.0456...), with which the eight are almost exactly floats; r is
// smaller by its logarithm, and therefore below 0. From each the number of its eighth is subtracted
// where the exponent begins, since n, shifted there, brings that along. They are there twice: the
// index of AVX512 has a bit more.
alignas(64) inline constexpr float kEighths[16] = {1.0467209f, 1.0164572f, 0.99738395f, 0.9912145f,
                                                   0.9901434f, 0.9946321f, 1.0103676f,  1.0446945f,
                                                   1.0467209f, 1.0164572f, 0.99738395f, 0.9912145f,
                                                   0.9901434f, 0.9946321f, 1.0103676f,  1.0446945f};
inline constexpr float kEighthsLog = 0.04566229f;
inline constexpr float kEighthsLog2 = 0.06587676f;

// 2^(n/8) times that factor, a normal number; rounded = n in the low bits.
OPLOOM_ALWAYS_INLINE Vec<float> power_of_eighths(Vec<float> rounded) {
  using V = Vec<float>;
  return from_bits<V>(bits_of(V::lookup(kEighths, rounded)) + (bits_of(rounded) << 20));
}
// n and the two parts of an eighth of ln 2.
inline constexpr float kEighthsPerPower = 11.5415603f;
inline constexpr float kEighth = 0.086639404f;
inline constexpr float kEighthRest = 3.993273e-06f;

// 2^more as much.
template <int more = 0>
OPLOOM_ALWAYS_INLINE Vec<float> exp_of_near(Vec<float> x) {
  using V = Vec<float>;
  const V kRound(kRoundToWhole + 8 * more);
  const V rounded = fmadd(x, V(kEighthsPerPower), kRound);
  const V n = rounded - kRound;
  const V r = fmadd(n, V(-kEighth), x) + fmadd(n, V(-kEighthRest), V(-kEighthsLog));
  const V power = power_of_eighths(rounded);
  const V change = fmadd(r * r, polynomial(r, 0.4999982f, 0.16657186f, 0.040098872f), r);
  return fmadd(power, change, power);
}
OPLOOM_NOINLINE inline Vec<float> exp_of_some_far(Vec<float> x) {
  return blendv(exp_of(x), exp_of_near(x), powers_near(x));
}

template <typename U>
OPLOOM_ALWAYS_INLINE Vec<float> exp(U& usual, const Vec<float>& x) {
  if constexpr (kHasScale<Vec<float>>) {
    return exp_of(x);
  } else {
    if (!usual.are(powers_near(x))) [[unlikely]]
      return exp_of_some_far(x);
    return exp_of_near(x);
  }
}
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::exp() const { return vec::exp(kAny, *this); }

// exp(x) for x <= 0, and up to 64. Of what is below -104 it is 0, which is not computed: a
// processor takes long for results that underflow, and what is masked, as in attention, is that
// far.
OPLOOM_ALWAYS_INLINE Vec<float> exp_of_negative(Vec<float> x) {
  const Vec<float> least(kLeastPower<float>);
  if constexpr (kHasScale<Vec<float>>) {
    return exp_within(at_least(x, least));
  } else {
    const Vec<float> larger = exp_of_near<24>(at_least(x, least));
    return blendv(larger, Vec<float>(0.F), x < least) * Vec<float>(0x1p-24F);
  }
}
OPLOOM_ALWAYS_INLINE Vec<double> Vec<double>::exp() const { return exp_of(*this); }

// 2^r for |r| <= 1/2.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> exp2_near_zero(Vec<T> r) {
  if constexpr (std::is_same_v<T, float>) {
    return polynomial(r, 1.f, 0.6931472f, 0.24022645f, 0.05550359f, 0.009618836f, 0.0013391318f,
                      0.00015240199f);
  } else {
    return polynomial(r, 1., 0.6931471805599453, 0.24022650695910097, 0.0555041086648216,
                      0.009618129107606888, 0.0013333558146416936, 0.0001540353044173605,
                      1.525273382983612e-05, 1.321544258792169e-06, 1.0178062445845774e-07,
                      7.072585949269223e-09, 4.4549605981865186e-10);
  }
}

// 2^x, like exp(), with x - n exact.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> exp2_of(Vec<T> x) {
  using V = Vec<T>;
  const V kRound(kRoundTo<T> + 2 * kBias<T>);
  const V kept = at_most(at_least(x, V(T(-kBias<T> - kShift<T> - 1))), V(T(kBias<T> + 3)));
  const V rounded = kept + kRound;
  const V n = rounded - kRound;
  return scale_by_power(exp2_near_zero(kept - n), n, rounded);
}
OPLOOM_ALWAYS_INLINE Vec<float> exp2_of_near(Vec<float> x) {
  using V = Vec<float>;
  const V kRound(kRoundToWhole / 8);
  const V rounded = x + kRound;
  const V r = (x - (rounded - kRound)) - V(kEighthsLog2);
  const V power = power_of_eighths(rounded);
  return fmadd(power * r, polynomial(r, 0.6931472f, 0.24022573f, 0.05547362f, 0.009260472f), power);
}
OPLOOM_NOINLINE inline Vec<float> exp2_of_some_far(Vec<float> x) {
  return blendv(exp2_of(x), exp2_of_near(x), powers_near(x));
}

template <typename U>
OPLOOM_ALWAYS_INLINE Vec<float> exp2(U& usual, const Vec<float>& x) {
  if constexpr (kHasScale<Vec<float>>) {
    return exp2_of(x);
  } else {
    if (!usual.are(powers_near(x))) [[unlikely]]
      return exp2_of_some_far(x);
    return exp2_of_near(x);
  }
}
OPLOOM_ALWAYS_INLINE Vec<float> exp2(const Vec<float>& x) { return exp2(kAny, x); }
OPLOOM_ALWAYS_INLINE Vec<double> exp2(const Vec<double>& x) { return exp2_of(x); }

// 2^n (exp(r) - 1) + (2^n - 1), with r = hi + lo. Below kNearGrowth, where 2^n - 1 is exact or all
// that is left, the sum may be one fused operation if the rounding of exp(r) - 1 counts for less
// than that of the result: with r from ln(3/4) to ln(3/2), where exp(r) - 1 is no larger than 1/4
// beside 2^n - 1 > 0 and no larger than 1/2 beside 2^n - 1 < 0.
template <typename T>
inline constexpr T kNearGrowth = T(std::is_same_v<T, float> ? 17 : 37);

// ln 2 and what the number lacks.
template <typename T>
inline constexpr T kLn2 = T(0.693147180559945309);
template <typename T>
inline constexpr T kLn2Rest = T(std::is_same_v<T, float> ? -1.90465421e-9 : 2.3190468138462996e-17);

// Above kNearGrowth 1 / 2^n is subtracted from exp(r) - 1 instead, and all of it is halved, since
// 2^n may be larger than the largest number.
template <bool kSomeFar, typename T>
OPLOOM_ALWAYS_INLINE Vec<T> expm1_within(Vec<T> argument) {
  using V = Vec<T>;
  using Bits = typename FloatingForm<V>::bits;
  V x = at_least(argument, V(-kNearGrowth<T> - 1));
  if constexpr (kSomeFar) x = at_most(x, V(T(std::is_same_v<T, float> ? 89 : 710)));
  const V kRound(kRoundTo<T> + kBias<T>);
  const V rounded = fmadd(x, V(T(1.4426950408889634)), V(T(-0.0849625))) + kRound;
  const V n = rounded - kRound;
  const V hi = fmadd(n, V(-kLn2<T>), x);  // exact
  const V lo = n * V(-kLn2Rest<T>);
  V r = hi;
  V p;
  if constexpr (std::is_same_v<T, float>) {
    p = polynomial(r, 0.5f, 0.1666667f, 0.04166657f, 0.008332028f, 0.0013919675f, 0.00020935488f);
  } else {
    r = hi + lo;
    p = polynomial(r, 0.5, 0.16666666666666666, 0.04166666666666737, 0.008333333333335411,
                   0.001388888888828533, 0.0001984126983538536, 2.4801589153905724e-05,
                   2.755731650117998e-06, 2.7554934965315126e-07, 2.5073921219691605e-08,
                   2.19838545586067e-09);
  }
  V rest = fmadd(r * r, p, lo);
  const V power = from_bits<V>(bits_of(rounded) << kShift<T>);
  const V near = fmadd(power, hi + rest, power - V(T(1))) | (argument & V(T(-0.0)));
  if constexpr (!kSomeFar) return near;
  // r is hi alone in float, and n may be large.
  if constexpr (std::is_same_v<T, float>) rest = fmadd(lo, hi + rest, rest);
  const V half = from_bits<V>((bits_of(rounded) - Bits(1)) << kShift<T>);
  const V inverse = from_bits<V>(bits_of(V(T(1))) + bits_of(V(T(1))) - bits_of(half));
  const V far = fmadd(half, hi + fmadd(inverse, V(T(-0.5)), rest), half);
  return blendv(far + far, near, argument < V(kNearGrowth<T>));
}
template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> expm1(U& usual, const Vec<T>& x) {
  if constexpr (std::is_base_of_v<Any, U>) {
    return expm1_within</*kSomeFar=*/true>(x);
  } else {
    usual.are(x < Vec<T>(kNearGrowth<T>));
    return expm1_within</*kSomeFar=*/false>(x);
  }
}
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::expm1() const { return vec::expm1(kAny, *this); }
OPLOOM_ALWAYS_INLINE Vec<double> Vec<double>::expm1() const { return vec::expm1(kAny, *this); }

// Up to 1 a polynomial, above 1 - 2 / (exp(2x) + 1): the larger x, the less an error of exp
// matters, and the subtraction is exact.
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::tanh() const {
  using V = Vec<float>;
  const V x = abs();
  const V z = x * x;
  const V p = polynomial(z, -0.33333296f, 0.13332346f, -0.053879846f, 0.02148667f, -0.007945985f,
                         0.0023011866f, -0.00035837834f);
  const V small = fmadd(x * z, p, x);
  const V kRound(12582912.f + 127);
  const V twice = at_most(x + x, V(18.2f));
  const V rounded = fmadd(twice, V(1.44269504f), kRound);
  const V r = fmadd(rounded - kRound, V(-0.693147182f), twice);
  const V y = exp_near_zero(r);
  const V sum = fmadd(y, from_bits<V>(bits_of(rounded) << 23), V(1.f));
  const V large = V(1.f) - V(2.f) / sum;
  return blendv(large, small, x < V(1.f)) | (*this & V(-0.f));
}

// exp(|x|) = 2^n exp(r), with r = hi + lo, |r| <= ln(2)/2; what sinh and cosh are made of, all
// divided by 2, since 2^n may be 2^129 and the result be finite.
template <typename V>
struct HyperbolicParts {
  V rising;   // 2^n / 4
  V falling;  // 2^-n / 4
  V hi;
  V sinh_rest;  // sinh(r) - hi
  V cosh_rest;  // cosh(r) - 1
};

template <typename T>
OPLOOM_ALWAYS_INLINE HyperbolicParts<Vec<T>> hyperbolic_parts(Vec<T> magnitude) {
  using V = Vec<T>;
  using Bits = typename FloatingForm<V>::bits;
  constexpr bool kSingle = std::is_same_v<T, float>;
  const V x = at_most(magnitude, V(kSingle ? T(89.5) : T(710.7)));
  const V kRound(kRoundTo<T> + kBias<T> - 2);
  const V rounded = fmadd(x, V(T(1.4426950408889634)), kRound);
  const V n = rounded - kRound;
  const V hi = fmadd(n, V(-kLn2<T>), x);  // exact
  const V lo = n * V(-kLn2Rest<T>);
  const V r = hi + lo;
  const V z = r * r;
  V sinh_curve, cosh_curve;
  if constexpr (kSingle) {
    sinh_curve = polynomial(z, 0.16666542f, 0.0083667375f);
    cosh_curve = polynomial(z, 0.5f, 0.04166646f, 0.0013935476f);
  } else {
    // Taylor's: r^14 / 14! is less than 2^-57.
    sinh_curve =
        polynomial(z, 1. / 6, 1. / 120, 1. / 5040, 1. / 362880, 1. / 39916800, 1. / 6227020800);
    cosh_curve = polynomial(z, 1. / 2, 1. / 24, 1. / 720, 1. / 40320, 1. / 3628800, 1. / 479001600);
  }
  // 2^-n is no longer seen beside 2^n long before it is too small for a normal number.
  const V seen = at_most(rounded, kRound + V(T(60)));
  const Bits falling = Bits(2 * kBias<T> - 4) - bits_of(seen);
  return {from_bits<V>(bits_of(rounded) << kShift<T>), from_bits<V>(falling << kShift<T>), hi,
          fmadd(r * z, sinh_curve, lo), z * cosh_curve};
}

// A sum in two numbers.
template <typename V>
struct HyperbolicSum {
  V first, rest;
};
// a + b hi + small
template <typename V>
OPLOOM_ALWAYS_INLINE HyperbolicSum<V> hyperbolic_sum(V a, V b, V hi, V small) {
  const V product = b * hi;
  const V sum = a + product;
  const V lost = (product - (sum - a)) + fmadd(b, hi, product.neg());
  return {sum, lost + small};
}
// Half of sinh() and cosh(). Where the smaller power begins to vanish beside the larger one,
// difference and sum lose a part of it.
template <typename V>
OPLOOM_ALWAYS_INLINE HyperbolicSum<V> half_sinh(const HyperbolicParts<V>& p) {
  const V plus = p.rising + p.falling, minus = p.rising - p.falling;
  const V lost = (p.rising - minus) - p.falling;
  const V small = fmadd(plus, p.sinh_rest, fmadd(minus, p.cosh_rest, lost));
  return hyperbolic_sum(minus, plus, p.hi, small);
}
template <typename V>
OPLOOM_ALWAYS_INLINE HyperbolicSum<V> half_cosh(const HyperbolicParts<V>& p) {
  const V plus = p.rising + p.falling, minus = p.rising - p.falling;
  const V lost = (p.rising - plus) + p.falling;
  const V small = fmadd(minus, p.sinh_rest, fmadd(plus, p.cosh_rest, lost));
  return hyperbolic_sum(plus, minus, p.hi, small);
}

// Subnormal numbers cannot be halved.
template <typename T>
inline constexpr T kLinear = T(1) / T(int64_t(1) << (kShift<T> / 2 + 2));

// sinh(x) and cosh(x), given the parts of |x|.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> sinh_of_parts(const HyperbolicParts<Vec<T>>& parts, Vec<T> x) {
  using V = Vec<T>;
  const V magnitude = x.abs();
  const auto half = half_sinh(parts);
  const V y = half.first + half.rest;
  return blendv(y + y, magnitude, magnitude < V(kLinear<T>)) | (x & V(T(-0.0)));
}
template <typename V>
OPLOOM_ALWAYS_INLINE V cosh_of_parts(const HyperbolicParts<V>& parts) {
  const auto half = half_cosh(parts);
  const V y = half.first + half.rest;
  return y + y;
}

template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> sinh(const Vec<T>& x) {
  return sinh_of_parts(hyperbolic_parts(x.abs()), x);
}
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> cosh(const Vec<T>& x) {
  return cosh_of_parts(hyperbolic_parts(x.abs()));
}

// sinh(x) / cosh(x), with what the quotient lacks.
OPLOOM_ALWAYS_INLINE Vec<double> Vec<double>::tanh() const {
  using D = Vec<double>;
  const D magnitude = abs();
  const auto p = hyperbolic_parts(at_most(magnitude, D(20.)));
  const auto s = half_sinh(p), c = half_cosh(p);
  const D sum = c.first + c.rest, lost = (c.first - sum) + c.rest;
  const D inverse = D(1.) / sum;
  const D y = s.first * inverse;
  const D error = fmadd(y.neg(), sum, s.first) + fmadd(y.neg(), lost, s.rest);
  return blendv(fmadd(error, inverse, y), magnitude, magnitude < D(kLinear<double>)) |
         (*this & D(-0.));
}

// a / (1 + exp(-w - rest)), `rest` being what w has lost, from kNearestShare on, where shares are
// normal numbers. In float exp(-w - rest) = p (1 + u): since u is below 0, 1 + p u is at most 1 and
// loses less than the sum.
template <typename T>
inline constexpr T kNearestShare = T(std::is_same_v<T, float> ? -87 : -708);

OPLOOM_ALWAYS_INLINE Vec<float> sigmoid_product_near(Vec<float> a, Vec<float> w, Vec<float> rest) {
  using V = Vec<float>;
  const V x = at_most(w, V(18.f));
  const V rounded = fmadd(x, V(-kEighthsPerPower), V(kRoundToWhole));
  const V n = rounded - V(kRoundToWhole);
  // -r; the constant part makes up for the polynomial's first coefficient.
  const V s = fmadd(n, V(kEighth), x) + (fmadd(n, V(kEighthRest), V(0.045662325f)) + rest);
  const V u = s * polynomial(s, -0.99999166f, 0.4995706f, -0.15923198f);
  const V p = power_of_eighths(rounded);
  return a / (p + fmadd(p, u, V(1.f)));
}
OPLOOM_ALWAYS_INLINE Vec<double> sigmoid_product_near(Vec<double> a, Vec<double> w,
                                                      Vec<double> rest) {
  using D = Vec<double>;
  D n, rounded;
  const D hi = exp_reduced(at_most(w, D(40.)).neg(), n, rounded);
  const D r = fmadd(n, D(kReducedRest<double>), hi) - rest;
  return a / (D(1.) + scale_by_power(exp_near_zero(r), n, rounded));
}

// Below, 1 + exp(-w) is exp(-w). Quotients there would be subnormal numbers, for which a division
// takes ten times as long. Below kLowestShare the share, less than 2^-250 or 2^-2000, is taken to
// be 0.
template <typename T>
inline constexpr T kLowestShare = T(std::is_same_v<T, float> ? -174 : -1390);

template <typename T>
OPLOOM_NOINLINE Vec<T> sigmoid_product_of_far(Vec<T> a, Vec<T> w, Vec<T> rest) {
  using V = Vec<T>;
  const V nearest(kNearestShare<T>), lowest(kLowestShare<T>), zero(T(0));
  const V factor = blendv(a, a * zero, w < lowest);
  // Where nothing is left, sums have lost the sign.
  return exp_times(factor, zero, at_least(at_most(w, nearest), lowest), rest) | (a & V(T(-0.0)));
}

template <typename U, typename T>
OPLOOM_ALWAYS_INLINE Vec<T> sigmoid_product_of(U& usual, Vec<T> a, Vec<T> w, Vec<T> rest) {
  using V = Vec<T>;
  const V nearest(kNearestShare<T>);
  const auto is_near = w >= nearest;
  if constexpr (std::is_base_of_v<Any, U>) {
    // Loops over unusual arguments keep the constants of this in registers; few lanes want the
    // rest.
    const V near = sigmoid_product_near(a, at_least(w, nearest), rest);
    const bool is_simple = all(is_near | (w < V(kLowestShare<T>)));
    return blendv(is_simple ? a * V(T(0)) : sigmoid_product_of_far(a, w, rest), near, is_near);
  } else {
    usual.are(is_near);
    return sigmoid_product_near(a, w, rest);
  }
}

// a * sigmoid(x)
template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> sigmoid_product(U& usual,
                                                                                 const Vec<T>& a,
                                                                                 const Vec<T>& x) {
  return sigmoid_product_of(usual, a, x, Vec<T>(T(-0.0)));
}
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> sigmoid_product(const Vec<T>& a,
                                                                                 const Vec<T>& x) {
  return sigmoid_product(kAny, a, x);
}
template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> sigmoid(U& usual,
                                                                         const Vec<T>& x) {
  return sigmoid_product(usual, Vec<T>(T(1)), x);
}
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> sigmoid(const Vec<T>& x) {
  return sigmoid(kAny, x);
}

// x tanh(log(1 + exp(x))): with e = exp(x) and n = e^2 + 2 e it is x n / (n + 2), and from 20 on x.
// What the sums and the quotient lose is added at last.
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> mish(const Vec<T>& x) {
  using V = Vec<T>;
  const V two(T(2)), e = exp_of_negative(at_most(x, V(T(20)))), twice = e + e;
  const V n = fmadd(e, e, twice), n_rest = fmadd(e, e, twice - n);
  const V sum = n + two, sum_rest = (n - (sum - two)) + n_rest;
  const V inverse = V(T(1)) / sum, quotient = n * inverse;
  const V lost = fmadd(quotient.neg(), sum_rest, fmadd(quotient.neg(), sum, n) + n_rest);
  // Of an infinite x nothing is lost.
  const V finite = at_most(x, V(std::numeric_limits<T>::max()));
  return fmadd(x, quotient, finite * (lost * inverse)) | (x & V(T(-0.0)));
}

// w = sqrt(8/pi) (x + 0.044715 x^3) of gelu's other form, 0.5 x (1 + tanh(w/2)) = x / (1 +
// exp(-w)), in two numbers, since its error counts as much as it is large; x is within
// kGeluTanhEnd.
template <typename T>
OPLOOM_ALWAYS_INLINE std::array<Vec<T>, 2> gelu_tanh_argument(Vec<T> x) {
  using V = Vec<T>;
  constexpr bool kSingle = std::is_same_v<T, float>;
  const V linear(T(1.5957691216057308)), cubic(T(0.07135481627260025));
  // What the two lack.
  const V linear_rest(kSingle ? T(-4.53406803e-08) : T(-9.96930880911092e-17));
  const V cubic_rest(kSingle ? T(2.39883236e-09) : T(-6.175149918155315e-19));
  const V z = x * x;
  const V z_rest = fmadd(x, x, z.neg());
  const V product = z * cubic;
  const V p = product + linear;
  const V part = p - product;
  const V p_rest = ((product - (p - part)) + (linear - part)) +
                   fmadd(z_rest, cubic, fmadd(z, cubic, product.neg())) +
                   fmadd(z, cubic_rest, linear_rest);
  const V w = x * p;
  return {w, fmadd(x, p_rest, fmadd(x, p, w.neg()))};
}

// nan at -inf, as -inf * 0 is.
template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> gelu_tanh(U& usual,
                                                                           const Vec<T>& x) {
  using V = Vec<T>;
  const V zero(T(0)), end(c10::special::kGeluTanhEnd<T>);
  const V above = at_least(x, end.neg());  // below, the result is 0
  const auto [w, rest] = gelu_tanh_argument(at_most(above, end));
  return sigmoid_product_of(usual, fmadd(at_most(x, zero), zero, above), w, rest);
}
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> gelu_tanh(const Vec<T>& x) {
  return gelu_tanh(kAny, x);
}

#endif

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY
