// pow() and hypot().
#pragma once

#include <aten/cpu/vec/math_exp.h>
#include <aten/cpu/vec/math_log.h>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Note [pow]
// x^y = 2^(y log2(x)). The exponent is up to 128 and its absolute error becomes a relative one,
// hence it is computed in double: with s = f / (2 + f), log2(1 + f) is s Q(s^2), to 2^-37. What is
// left after taking out a whole power of two is short enough for float again.

// log2(2^k m) for m from sqrt(1/2) to sqrt(2)
OPLOOM_ALWAYS_INLINE Vec<double> log2_of_split(Vec<double> m, Vec<double> k) {
  using D = Vec<double>;
  const D one(1.);
  const D s = (m - one) / (m + one);
  const D q = polynomial(s * s, 2.88539008179019, 0.9617966732177431, 0.5770836095797458,
                         0.4116711772640054, 0.3407598141991903);
  return fmadd(s, q, k);
}

// For positive normal x times 2^added, and any y.
OPLOOM_ALWAYS_INLINE Vec<float> pow_of_normal(Vec<float> x, Vec<float> y, Vec<float> added) {
  using V = Vec<float>;
  using D = Vec<double>;
  V k;
  const auto m = widen(split_power(x, k));
  const auto powers = widen(k + added);
  const auto exponents = widen(y);
  const D kRound(0x1.8p52);
  D whole[2];
  D rest[2];
  for (int i = 0; i < 2; ++i) {
    const D product = log2_of_split(m[i], powers[i]) * exponents[i];
    const D w = at_most(at_least(product, D(-151.)), D(130.));
    whole[i] = (w + kRound) - kRound;
    rest[i] = w - whole[i];
  }
  const V n = narrow(whole[0], whole[1]);
  return scale_by_power(exp2_near_zero(narrow(rest[0], rest[1])), n, n + V(kRoundToPower));
}

// In double x^y = exp(y log(x)), with log(x) in two numbers to 2^-65 of it: the first is the sum of
// k times the longer part of log(2), 2 s and s^3 (2/3 + s^2 P(s^2)), the second what its roundings
// and the parts have lost. P makes up for the rounding of 2/3.
OPLOOM_ALWAYS_INLINE Vec<double> pow_of_normal(Vec<double> x, Vec<double> y, Vec<double> added) {
  using D = Vec<double>;
  const D one(1.), two(2.), third(2. / 3);
  D k;
  const D f = split_power(x, k) - one;
  k = k + added;
  const D d = f + two;
  const D inverse = one / d;
  const D s = f * inverse;
  const D s_rest = fmadd(s, (d - two) - f, fmadd(s.neg(), d, f)) * inverse;
  const D z = s * s;
  const D z_rest = fmadd(s + s, s_rest, fmadd(s, s, z.neg()));
  const D curve =
      polynomial(z, 0.4000000000000493, 0.28571428569407836, 0.2222222260759759,
                 0.18181778297505463, 0.15386991618964815, 0.13252081764302526, 0.1323540688049216);
  const D slope = fmadd(z, curve, third);
  const D slope_rest = fmadd(z, curve, third - slope);
  const D w = z * slope;
  const D w_rest = fmadd(z_rest, slope, fmadd(z, slope_rest, fmadd(z, slope, w.neg())));
  const D cube = s * w;
  const D cube_rest = fmadd(s, w_rest, fmadd(s_rest, w + two, fmadd(s, w, cube.neg())));
  const D power = k * D(NaturalLog::kPower<double>);
  const D twice = s + s, sum = power + twice, log = sum + cube;
  const D lost = (twice - (sum - power)) + (cube - (log - sum));
  const D log_rest = fmadd(k, D(NaturalLog::kPowerRest<double>), cube_rest) + lost;
  const D product = y * log;
  const D exponent = exp_argument(product);
  const D rest = fmadd(y, log_rest, fmadd(y, log, product.neg()));
  D n, rounded;
  const D hi = exp_reduced(exponent, n, rounded);
  // Beyond the bounds `rest` may be infinite.
  const D r = fmadd(n, D(kReducedRest<double>), blendv(D(0.), rest, product == exponent)) + hi;
  return scale_by_power(exp_near_zero(r), n, rounded);
}

// Below 0 a power is real for whole y only, and negative for odd y.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> with_sign_of_base(Vec<T> power, Vec<T> x, Vec<T> y) {
  using V = Vec<T>;
  using Limits = std::numeric_limits<T>;
  const V half = y * V(T(0.5));
  const auto whole = y.floor() == y;
  const auto odd = whole & (half.floor() != half);
  power = blendv(power, power ^ (x & V(T(-0.0))), odd);
  return blendv(power, V(Limits::quiet_NaN()),
                (x < V(T(0))) & (x > V(-Limits::infinity())) & !whole);
}

// As C's pow().
template <typename T>
OPLOOM_NOINLINE Vec<T> pow_of_any(Vec<T> x, Vec<T> y) {
  using V = Vec<T>;
  using Limits = std::numeric_limits<T>;
  const V zero(T(0)), one(T(1)), infinity(Limits::infinity()), nan(Limits::quiet_NaN());
  const V magnitude = x.abs();
  const auto subnormal = magnitude < V(Limits::min());
  const V larger = magnitude * V(static_cast<T>(int64_t(1) << Limits::digits));
  V power = pow_of_normal(blendv(magnitude, larger, subnormal), y,
                          blendv(zero, V(T(-Limits::digits)), subnormal));
  // 0 and infinity have infinite logarithms.
  const V log = blendv(infinity, infinity.neg(), magnitude == zero);
  const V large = log * y;
  const V limit = blendv(blendv(nan, zero, large < zero), infinity, large > zero);
  power = blendv(power, limit, (magnitude == zero) | (magnitude == infinity));
  power = blendv(power, nan, x.isnan() | y.isnan());
  power = blendv(power, one, (magnitude == one) & (y == y));
  power = with_sign_of_base(power, x, y);
  return blendv(power, one, (x == one) | (y == zero));
}

template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> pow(U& usual, const Vec<T>& x,
                                                                     const Vec<T>& y) {
  using V = Vec<T>;
  using Limits = std::numeric_limits<T>;
  const V max(Limits::max());
  const V magnitude = x.abs();
  if (!usual.are((magnitude >= V(Limits::min())) & (magnitude <= max) & (y.abs() <= max))) {
    return pow_of_any(x, y);
  }
  const V power = pow_of_normal(magnitude, y, V(T(0)));
  return usual.are(x > V(T(0))) ? power : with_sign_of_base(power, x, y);
}
OPLOOM_ALWAYS_INLINE Vec<float> pow(Vec<float> x, Vec<float> y) { return pow(kAny, x, y); }
OPLOOM_ALWAYS_INLINE Vec<double> pow(Vec<double> x, Vec<double> y) { return pow(kAny, x, y); }

// In double the squares neither overflow nor vanish.
OPLOOM_ALWAYS_INLINE Vec<float> hypot(const Vec<float>& x, const Vec<float>& y) {
  using V = Vec<float>;
  const auto a = widen(x), b = widen(y);
  const V root = narrow(root_and_inverse(fmadd(a[0], a[0], b[0] * b[0])).root,
                        root_and_inverse(fmadd(a[1], a[1], b[1] * b[1])).root);
  const V infinity(std::numeric_limits<float>::infinity());
  return blendv(root, infinity, (x.abs() == infinity) | (y.abs() == infinity));
}

// In double the sum of squares is kept in two numbers.
OPLOOM_ALWAYS_INLINE Vec<double> hypot_of_ordered(Vec<double> large, Vec<double> small) {
  using D = Vec<double>;
  const D square = large * large;
  const D sum = fmadd(small, small, square);
  const D rest = fmadd(small, small, square - sum) + fmadd(large, large, square.neg());
  const auto [root, root_rest] = root_in_two(sum, rest);
  return root + root_rest;
}

// Where squares overflow or vanish, those of other units are taken.
OPLOOM_NOINLINE inline Vec<double> hypot_of_any(Vec<double> large, Vec<double> small) {
  using D = Vec<double>;
  const D one(1.), infinity(std::numeric_limits<double>::infinity());
  const D unit =
      blendv(blendv(one, D(0x1p700), large > D(0x1p450)), D(0x1p-700), large < D(0x1p-450));
  const D inverse = one / unit;
  const D y = unit * hypot_of_ordered(large * inverse, small * inverse);
  return blendv(blendv(y, infinity, (large == infinity) | (small == infinity)), large,
                small == D(0.));
}

OPLOOM_ALWAYS_INLINE Vec<double> hypot(const Vec<double>& x, const Vec<double>& y) {
  using D = Vec<double>;
  const D a = x.abs(), b = y.abs();
  const auto steep = a < b;
  const D large = blendv(a, b, steep), small = blendv(b, a, steep);
  if (!all((large > D(0x1p-450)) & (large < D(0x1p450)))) [[unlikely]]
    return hypot_of_any(large, small);
  return hypot_of_ordered(large, small);
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
