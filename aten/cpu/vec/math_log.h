// Logarithms, and sums of exponentials.
#pragma once

#include <aten/cpu/vec/math_exp.h>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Note [log]
// x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and log(1 + f) = c f + f^2 P(f), where
// c and log(2) are those of the base, each split in two. So is the sum of the largest parts, k
// log(2) and c f: beside their roundings that of the result is small.
struct NaturalLog {
  static constexpr float kPower = 0.693145752f;  // 15 bits: k times it is exact
  static constexpr float kPowerRest = 1.42860677e-6f;
  OPLOOM_ALWAYS_INLINE static Vec<float> curve(Vec<float> f) {
    return fmadd(f,
                 polynomial_by_halves(f, 0.33333355f, -0.25000855f, 0.19999772f, -0.16621219f,
                                      0.1422785f, -0.13204114f, 0.12617488f, -0.07355122f),
                 Vec<float>(-0.5f));
  }
};
struct BinaryLog {
  static constexpr float kPower = 1;
  static constexpr float kFactor = 1.44269502f;
  static constexpr float kFactorRest = 1.92596303e-8f;
  OPLOOM_ALWAYS_INLINE static Vec<float> curve(Vec<float> f) {
    return fmadd(f,
                 polynomial_by_halves(f, 0.48089838f, -0.3606991f, 0.28855932f, -0.2395516f,
                                      0.20472121f, -0.19171493f, 0.18566182f, -0.10777837f),
                 Vec<float>(-0.72134733f));
  }
};
struct DecimalLog {
  static constexpr float kPower = 0.301025391f;  // 14 bits
  static constexpr float kPowerRest = 4.60503907e-6f;
  static constexpr float kFactor = 0.434294492f;
  static constexpr float kFactorRest = -1.01032549e-8f;
  OPLOOM_ALWAYS_INLINE static Vec<float> curve(Vec<float> f) {
    return fmadd(f,
                 polynomial_by_halves(f, 0.14476484f, -0.10858102f, 0.08686464f, -0.07211508f,
                                      0.06163773f, -0.05772003f, 0.055817697f, -0.032281954f),
                 Vec<float>(-0.21714719f));
  }
};

// k log(2) + p + small
template <typename Base>
OPLOOM_ALWAYS_INLINE Vec<float> log_of_parts(Vec<float> k, Vec<float> p, Vec<float> small) {
  const Vec<float> power = k * Vec<float>(Base::kPower);
  const Vec<float> sum = power + p;
  Vec<float> lost = p - (sum - power);
  if constexpr (requires { Base::kPowerRest; }) {
    lost = fmadd(k, Vec<float>(Base::kPowerRest), lost);
  }
  return sum + (lost + small);
}

// Of 2^k (1 + f).
template <typename Base>
OPLOOM_ALWAYS_INLINE Vec<float> log_of_split(Vec<float> k, Vec<float> f) {
  using V = Vec<float>;
  const V square = f * f;
  if constexpr (requires { Base::kFactor; }) {
    const V p = f * V(Base::kFactor);
    const V p_rest = fmadd(f, V(Base::kFactorRest), fmadd(f, V(Base::kFactor), p.neg()));
    const V curve = Base::curve(f);
    const V square_rest = fmadd(f, f, square.neg());
    return log_of_parts<Base>(k, p, fmadd(square, curve, fmadd(square_rest, curve, p_rest)));
  } else {
    return log_of_parts<Base>(k, f, square * Base::curve(f));
  }
}

// k and 1 + f of a positive normal number.
OPLOOM_ALWAYS_INLINE Vec<float> split_power(Vec<float> x, Vec<float>& k) {
  using Int = Vec<int32_t>;
  const Int kLow(0x3f3504f3);  // sqrt(1/2)
  const Int bits = std::bit_cast<Int>(x) - kLow;
  k = (bits >> 23).to_float();
  return std::bit_cast<Vec<float>>((bits & Int(0x7fffff)) + kLow);
}

template <typename Base>
OPLOOM_NOINLINE Vec<float> log_of_any(Vec<float> x) {
  using V = Vec<float>;
  using Limits = std::numeric_limits<float>;
  const V zero(0.f), infinity(Limits::infinity());
  const auto subnormal = x < V(Limits::min());
  V k;
  const V m = split_power(blendv(x, x * V(0x1p24f), subnormal), k);
  V y = log_of_split<Base>(k + blendv(zero, V(-24.f), subnormal), m - V(1.f));
  y = blendv(x, y, x < infinity);
  y = blendv(y, V(Limits::quiet_NaN()), x < zero);
  return blendv(y, infinity.neg(), x == zero);
}

OPLOOM_ALWAYS_INLINE Vec<float>::Mask is_positive_normal(Vec<float> x) {
  using Limits = std::numeric_limits<float>;
  return (x >= Vec<float>(Limits::min())) & (x <= Vec<float>(Limits::max()));
}

template <typename Base>
OPLOOM_ALWAYS_INLINE Vec<float> log_of(Vec<float> x) {
  if (!all(is_positive_normal(x))) [[unlikely]] {
    return log_of_any<Base>(x);
  }
  Vec<float> k;
  const Vec<float> m = split_power(x, k);
  return log_of_split<Base>(k, m - Vec<float>(1.f));
}

OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::log() const { return log_of<NaturalLog>(*this); }
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::log2() const { return log_of<BinaryLog>(*this); }
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::log10() const { return log_of<DecimalLog>(*this); }

// k is that of 1 + x, rounded, and f = x / 2^k + (1 / 2^k - 1) in two numbers. For x > -1 up to
// 2^60.
OPLOOM_ALWAYS_INLINE Vec<float> log1p_of_usual(Vec<float> x) {
  using V = Vec<float>;
  using Int = Vec<int32_t>;
  const V one(1.f);
  const Int power = (std::bit_cast<Int>(x + one) - Int(0x3f3504f3)) >> 23;
  const V inverse = std::bit_cast<V>(Int(0x3f800000) - (power << 23));
  const V a = inverse - one;
  const V b = x * inverse;
  const V f = a + b;
  const V rest = b - (f - a);
  // log'(1 + f) is about 1 - f.
  const V small = fmadd(f * f, NaturalLog::curve(f), fmadd(f.neg(), rest, rest));
  const V y = log_of_parts<NaturalLog>(power.to_float(), f, small);
  return y | (x & V(-0.f));
}

OPLOOM_NOINLINE inline Vec<float> log1p_of_any(Vec<float> x) {
  using V = Vec<float>;
  using Limits = std::numeric_limits<float>;
  V y = blendv(log1p_of_usual(x), x.log(), x > V(0x1p60f));
  y = blendv(y, V(Limits::quiet_NaN()), x < V(-1.f));
  y = blendv(y, V(-Limits::infinity()), x == V(-1.f));
  return blendv(y, x, x.isnan());
}

OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::log1p() const {
  using V = Vec<float>;
  if (!all((*this > V(-1.f)) & (*this < V(0x1p60f)))) [[unlikely]]
    return log1p_of_any(*this);
  return log1p_of_usual(*this);
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

// log(exp(x) + exp(y))
OPLOOM_ALWAYS_INLINE Vec<float> logaddexp(const Vec<float>& x, const Vec<float>& y) {
  using V = Vec<float>;
  const V sum = maximum(x, y) + log1p_of_share(((x - y) | V(-0.f)).exp());
  // Of two equal infinities the difference is nan.
  return blendv(sum, x + V(0.693147182f), x == y);
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
