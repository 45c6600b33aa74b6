// pow() and hypot() of Vec<float>.
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

// Below 0 a power is real for whole y only, and negative for odd y.
OPLOOM_ALWAYS_INLINE Vec<float> with_sign_of_base(Vec<float> power, Vec<float> x, Vec<float> y) {
  using V = Vec<float>;
  using Limits = std::numeric_limits<float>;
  const V half = y * V(0.5f);
  const auto whole = y.floor() == y;
  const auto odd = whole & (half.floor() != half);
  power = blendv(power, power ^ (x & V(-0.f)), odd);
  return blendv(power, V(Limits::quiet_NaN()),
                (x < V(0.f)) & (x > V(-Limits::infinity())) & !whole);
}

// As C's pow().
OPLOOM_NOINLINE inline Vec<float> pow_of_any(Vec<float> x, Vec<float> y) {
  using V = Vec<float>;
  using Limits = std::numeric_limits<float>;
  const V zero(0.f), one(1.f), infinity(Limits::infinity()), nan(Limits::quiet_NaN());
  const V magnitude = x.abs();
  const auto subnormal = magnitude < V(Limits::min());
  V power = pow_of_normal(blendv(magnitude, magnitude * V(0x1p24f), subnormal), y,
                          blendv(zero, V(-24.f), subnormal));
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

OPLOOM_ALWAYS_INLINE Vec<float> pow(Vec<float> x, Vec<float> y) {
  using V = Vec<float>;
  using Limits = std::numeric_limits<float>;
  const V max(Limits::max());
  const V magnitude = x.abs();
  if (!all((magnitude >= V(Limits::min())) & (magnitude <= max) & (y.abs() <= max))) [[unlikely]] {
    return pow_of_any(x, y);
  }
  const V power = pow_of_normal(magnitude, y, V(0.f));
  return all(x > V(0.f)) ? power : with_sign_of_base(power, x, y);
}

// In double the squares neither overflow nor vanish.
OPLOOM_ALWAYS_INLINE Vec<float> hypot(const Vec<float>& x, const Vec<float>& y) {
  using V = Vec<float>;
  const auto a = widen(x), b = widen(y);
  const V root =
      narrow(fmadd(a[0], a[0], b[0] * b[0]).sqrt(), fmadd(a[1], a[1], b[1] * b[1]).sqrt());
  const V infinity(std::numeric_limits<float>::infinity());
  return blendv(root, infinity, (x.abs() == infinity) | (y.abs() == infinity));
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
