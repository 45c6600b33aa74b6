// Logarithms.
#pragma once

#include <aten/cpu/vec/math_base.h>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Note [log]
// x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and log(1 + f) = f + f^2 P(f). The
// logarithm to another base is that times 1 / log(base), and k times log(2) / log(base) more. Both
// constants are split in two, and so is the sum of the largest parts: beside their roundings that
// of the result is small.
struct NaturalLog {
  static constexpr float kPower = 0.693145752f;  // 15 bits: k times it is exact
  static constexpr float kPowerRest = 1.42860677e-6f;
};
struct BinaryLog {
  static constexpr float kPower = 1;
  static constexpr float kPowerRest = 0;
  static constexpr float kFactor = 1.44269502f;
  static constexpr float kFactorRest = 1.92596303e-8f;
};
struct DecimalLog {
  static constexpr float kPower = 0.301025391f;  // 14 bits
  static constexpr float kPowerRest = 4.60503907e-6f;
  static constexpr float kFactor = 0.434294492f;
  static constexpr float kFactorRest = -1.01032549e-8f;
};

// Of 2^k (1 + f + rest), where rest is what rounding took from f.
template <typename Base>
OPLOOM_ALWAYS_INLINE Vec<float> log_of_parts(Vec<float> k, Vec<float> f, Vec<float> rest) {
  using V = Vec<float>;
  const V power = k * V(Base::kPower);
  const V square = f * f;
  const V q = polynomial(f, 0.33333355f, -0.25000855f, 0.19999772f, -0.16621219f, 0.1422785f,
                         -0.13204114f, 0.12617488f, -0.07355122f);
  V p = f;
  V t;
  if constexpr (requires { Base::kFactor; }) {
    // The factor makes an error of f - f^2 / 2 count once more, so that is two numbers here.
    const V half = square * V(-0.5f);
    const V head = f + half;
    const V head_rest = fmadd(fmadd(f, f, square.neg()), V(-0.5f), (f - head) + half);
    t = fmadd(square * f, q, head_rest + rest);
    p = head * V(Base::kFactor);
    const V error = fmadd(head, V(Base::kFactor), p.neg());
    t = fmadd(t, V(Base::kFactor), fmadd(head, V(Base::kFactorRest), error));
  } else {
    t = fmadd(square, fmadd(f, q, V(-0.5f)), rest);
  }
  const V sum = power + p;
  const V lost = fmadd(k, V(Base::kPowerRest), p - (sum - power));
  return sum + (lost + t);
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
OPLOOM_ALWAYS_INLINE Vec<float> log_of_normal(Vec<float> x, Vec<float> added) {
  using V = Vec<float>;
  V k;
  const V m = split_power(x, k);
  return log_of_parts<Base>(k + added, m - V(1.f), V(0.f));
}

template <typename Base>
OPLOOM_NOINLINE Vec<float> log_of_any(Vec<float> x) {
  using V = Vec<float>;
  using Limits = std::numeric_limits<float>;
  const V zero(0.f), infinity(Limits::infinity());
  const auto subnormal = x < V(Limits::min());
  V y =
      log_of_normal<Base>(blendv(x, x * V(0x1p24f), subnormal), blendv(zero, V(-24.f), subnormal));
  y = blendv(x, y, x < infinity);
  y = blendv(y, V(Limits::quiet_NaN()), x < zero);
  return blendv(y, infinity.neg(), x == zero);
}

template <typename Base>
OPLOOM_ALWAYS_INLINE Vec<float> log_of(Vec<float> x) {
  using V = Vec<float>;
  using Limits = std::numeric_limits<float>;
  if (!all((x >= V(Limits::min())) & (x <= V(Limits::max())))) [[unlikely]] {
    return log_of_any<Base>(x);
  }
  return log_of_normal<Base>(x, V(0.f));
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
  const V y = log_of_parts<NaturalLog>(power.to_float(), f, fmadd(f.neg(), rest, rest));
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

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
