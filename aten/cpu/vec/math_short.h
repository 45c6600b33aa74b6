// Functions of float32 for results that are rounded to 16 bits at once, with AVX512.
#pragma once

#include <aten/cpu/vec/math_log.h>

#if defined(CPU_CAPABILITY_AVX512)

// Note [Short forms]
// A relative error of 2^-16, or for bfloat16 of 2^-13, hardly shows once a result is rounded to 16
// bits: at most 0.52 units in the last place are lost instead of 0.5. So polynomials of fewer terms
// do where a function's value is rounded at once, or no more than multiplied and divided before
// (takes_short_forms() in codegen/frontend/expression/Graph.h), and kernels of 16-bit floats then
// call f(kRoundedTo<T>, x). AVX512 takes any number apart and scales by any power of two, so that
// these functions have no other form for unusual arguments, but for sin and cos of many turns and
// logit of numbers whose reciprocals would be infinite.
// Precision.EveryNumberOf16Bits in tests/aten/cpu/Precision_test.cpp goes through all arguments.

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

template <typename T>
inline constexpr bool kFewDigits = std::is_same_v<T, BFloat16>;

// 2^x
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> exp2(const RoundedTo<T>&, const Vec<float>& x) {
  const Vec<float> r = rest_of_floor(x);
  if constexpr (kFewDigits<T>) {
    return scale(polynomial(r, 0.9999252f, 0.6958337f, 0.2260669f, 0.078024656f), x);
  } else {
    return scale(polynomial(r, 1.0000026f, 0.6930034f, 0.24144435f, 0.052009515f, 0.013534891f), x);
  }
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> exp(const RoundedTo<T>& rounded, const Vec<float>& x) {
  return exp2(rounded, x * Vec<float>(1.442695f));
}

// x P(x), beyond the end of the fit exp(x) - 1, of which the subtraction leaves fewer digits.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> expm1(const RoundedTo<T>&, const Vec<float>& x) {
  using V = Vec<float>;
  const V large = exp(kRoundedTo<Half>, x) - V(1.f);
  if constexpr (kFewDigits<T>) {
    const V small = x * polynomial(x, 0.9999361f, 0.5000542f, 0.16874793f, 0.041666325f);
    return blendv(large, small, x.abs() < V(0.5f));
  } else {
    const V small =
        x * polynomial(x, 0.99999857f, 0.4999446f, 0.16669075f, 0.0422909f, 0.008333225f);
    return blendv(large, small, x.abs() < V(0.6f));
  }
}

// sigmoid(x) = 2^-64 / (2^-64 + 2^-64 exp(-x)), so that it may be a subnormal number; of one below
// 2^-140 few digits are left.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> sigmoid_product(const RoundedTo<T>& rounded, const Vec<float>& a,
                                                const Vec<float>& x) {
  using V = Vec<float>;
  const V small(0x1p-64f);
  return a * (small / (exp2(rounded, fmadd(x, V(-1.442695f), V(-64.f))) + small));
}

// See mish() in aten/cpu/vec/math_exp.h.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> mish(const RoundedTo<T>& rounded, const Vec<float>& x) {
  using V = Vec<float>;
  const V two(2.f), e = exp2(rounded, at_most(x, V(20.f)) * V(1.442695f)), n = e * (e + two);
  return x * (n / (n + two));
}

// x P(x^2) up to 3/8, beyond 1 - 2 / (exp(2x) + 1).
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> tanh(const RoundedTo<T>& rounded, const Vec<float>& x) {
  using V = Vec<float>;
  const V small = x * polynomial(x * x, 0.9999957f, -0.3327806f, 0.12264704f);
  const V large = V(1.f) - V(2.f) / (exp2(rounded, x * V(2.88539f)) + V(1.f));
  return blendv(large, small, x.abs() < V(0.375f));
}

// log2(x) = n + d P(d) with x = 2^n (1 + d) and d from -1/4 to 1/2
OPLOOM_ALWAYS_INLINE Vec<float> exponent_of_short_log(Vec<float> x) {
  return logb(x * Vec<float>(2.f / 3)) + Vec<float>(1.f);
}
OPLOOM_ALWAYS_INLINE Vec<float> short_log2(Vec<float> n, Vec<float> d) {
  return fmadd(
      d,
      polynomial(d, 1.4426898f, -0.72118676f, 0.48143035f, -0.3693871f, 0.29243812f, -0.14849806f),
      n);
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> log2(const RoundedTo<T>&, const Vec<float>& x) {
  return short_log2(exponent_of_short_log(x), significand_near_one(x) - Vec<float>(1.f));
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> log(const RoundedTo<T>& rounded, const Vec<float>& x) {
  return log2(rounded, x) * Vec<float>(0.6931472f);
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> log10(const RoundedTo<T>& rounded, const Vec<float>& x) {
  return log2(rounded, x) * Vec<float>(0.30103f);
}
// Near 0, d is x itself.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> log1p(const RoundedTo<T>&, const Vec<float>& x) {
  using V = Vec<float>;
  const V sum = x + V(1.f), n = exponent_of_short_log(sum);
  const V d = blendv(significand_near_one(sum) - V(1.f), x, x.abs() < V(0.25f));
  return short_log2(n, d) * V(0.6931472f) | (x & V(-0.f));
}
OPLOOM_NOINLINE inline Vec<float> logit_of_tiny(Vec<float> x) { return logit(x); }
// With s the smaller one of x and 1 - x, but never -0, and c the other, log(1 + (c - s) / s) or its
// negative.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> logit(const RoundedTo<T>& rounded, const Vec<float>& x) {
  using V = Vec<float>;
  if constexpr (!std::is_same_v<T, Half>) {
    // Their reciprocals would be infinite.
    if (!all(!(x.abs() < V(0x1p-120f)))) [[unlikely]]
      return logit_of_tiny(x);
  }
  const V other = V(1.f) - x, s = at_most(x, other) + V(0.f), c = at_least(x, other);
  return log1p(rounded, (c - s) / s) ^ ((x - V(0.5f)) & V(-0.f));
}
// max(x, 0) + log(1 + e) with e = exp(-|x|) and log(1 + e) = e P(e)
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> softplus(const RoundedTo<T>& rounded, const Vec<float>& x) {
  using V = Vec<float>;
  const V e = exp2(rounded, x.abs() * V(-1.442695f));
  V curve;
  if constexpr (kFewDigits<T>) {
    curve = polynomial(e, 0.9999916f, -0.49936137f, 0.32520664f, -0.21004857f, 0.10122216f,
                       -0.0238691f);
  } else {
    curve = polynomial(e, 0.99999875f, -0.49986964f, 0.33109447f, -0.23503853f, 0.14922374f,
                       -0.06640169f, 0.014140989f);
  }
  return fmadd(e, curve, at_least(x, V(0.f)));
}

// erf(x) = x P(x^2) up to 2.75, beyond which it is rounded to 1.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> erf(const RoundedTo<T>&, const Vec<float>& x) {
  using V = Vec<float>;
  const V s = at_most(at_least(x, V(-2.75f)), V(2.75f));
  return s * polynomial(s * s, 1.1283706f, -0.37595916f, 0.112268776f, -0.026088007f, 0.0046671773f,
                        -0.00061811705f, 5.615231e-05f, -3.07134e-06f, 7.531467e-08f);
}

// sin(r) = r P(r^2) with r = x - n pi, and the other sign where n is odd. pi has two parts, of
// which the second is above 0, so that the sign of a zero is kept. Half is never too large for
// that.
OPLOOM_ALWAYS_INLINE Vec<float> sin_of_halves(Vec<float> r, Vec<float> rounded) {
  const Vec<float> y =
      r * polynomial(r * r, 0.99999905f, -0.16665545f, 0.008311803f, -0.00018485381f);
  return y ^ from_bits<Vec<float>>(bits_of(rounded) << 31);
}
OPLOOM_ALWAYS_INLINE Vec<float> less_halves(Vec<float> x, Vec<float> n) {
  return fmadd(n, Vec<float>(-1.509958e-07f), fmadd(n, Vec<float>(-3.1415925f), x));
}
// `near` where x is no more than so many turns, else what is computed of any number.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE Vec<float> of_few_turns(Vec<float> x, Vec<float> near, const F& of_any) {
  if constexpr (!std::is_same_v<T, Half>) {
    const auto few = x.abs() <= Vec<float>(1e5f);
    if (!all(few)) [[unlikely]]
      return blendv(of_any(x), near, few);
  }
  return near;
}
OPLOOM_NOINLINE inline Vec<float> sin_of_any(Vec<float> x) { return x.sin(); }
OPLOOM_NOINLINE inline Vec<float> cos_of_any(Vec<float> x) { return x.cos(); }
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> sin(const RoundedTo<T>&, const Vec<float>& x) {
  using V = Vec<float>;
  const V rounded = fmadd(x, V(0.31830987f), V(kRoundToWhole));
  const V near = sin_of_halves(less_halves(x, rounded - V(kRoundToWhole)), rounded);
  return of_few_turns<T>(x, near, sin_of_any);
}
// cos(x) = sin(x + pi/2)
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> cos(const RoundedTo<T>&, const Vec<float>& x) {
  using V = Vec<float>;
  const V rounded = fmadd(x, V(0.31830987f), V(0.5f)) + V(kRoundToWhole);
  const V n = (rounded - V(kRoundToWhole)) - V(0.5f);
  return of_few_turns<T>(x, sin_of_halves(less_halves(x, n), rounded), cos_of_any);
}

// Where an iteration that begins with 1 / sqrt(x) loses its way.
OPLOOM_ALWAYS_INLINE Vec<float>::Mask is_zero_or_infinite(Vec<float> x) {
  using V = Vec<float>;
  return (x == V(0.f)) | (x == V(std::numeric_limits<float>::infinity()));
}
// Correctly rounded: the root of a number of 16 bits is further than 2^-26 from the middle between
// two of them.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> sqrt(const RoundedTo<T>&, const Vec<float>& x) {
  using V = Vec<float>;
  const V y = nearly_rsqrt(x), root = x * y, rest = fmadd(root.neg(), root, x);
  return blendv(fmadd(rest, y * V(0.5f), root), x, is_zero_or_infinite(x));
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> rsqrt(const RoundedTo<T>&, const Vec<float>& x) {
  using V = Vec<float>;
  const V y = nearly_rsqrt(x);
  if constexpr (kFewDigits<T>) return y;
  const V e = fmadd((x * y).neg(), y, V(1.f));
  return blendv(fmadd(y * V(0.5f), e, y), y, is_zero_or_infinite(x));
}

// max(x, 0) - |x| 2^P(|x|), where 2^P(s) is the share of the normal distribution below -s. P falls
// on beyond the end of the fit, to where nothing is left of the share. nan at -inf, as -inf * 0 is.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> gelu(const RoundedTo<T>& rounded, const Vec<float>& x) {
  using V = Vec<float>;
  const V s = at_most(x, V(std::numeric_limits<float>::max())).abs();
  V log_of_share;
  if constexpr (kFewDigits<T>) {
    log_of_share =
        polynomial(s, -1.0000337f, -1.1509331f, -0.45889127f, -0.053876437f, 0.008634574f,
                   -0.0010135975f, 8.267213e-05f, -4.3890564e-06f, 1.3548267e-07f, -1.8373868e-09f);
  } else {
    log_of_share = polynomial(s, -0.9999953f, -1.1512511f, -0.4584643f, -0.053960193f, 0.008507966f,
                              -0.00093054806f, 6.1601786e-05f, -1.8350132e-06f);
  }
  return fmadd(s.neg(), exp2(rounded, log_of_share), at_least(x, V(-0.f)));
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
