// sin, cos and tan.
#pragma once

#include <aten/cpu/vec/math_base.h>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Note [Quarter turns]
// x = k pi/2 + r + rest with |r| <= pi/4. pi/2 is split in three; k times the first part is
// subtracted exactly, k times the second rounded, and what was rounded away, with the third part,
// is `rest`. That holds its digits up to kFarthest; beyond it glibc has a look at each number.
// The order of operations lets -0 come through as -0.
struct QuarterTurn {
  Vec<int32_t> k;  // its two low bits
  Vec<float> r;
  Vec<float> minus_rest;
  Vec<float> square;  // of r + rest
};

inline constexpr float kFarthest = 1e5f;

OPLOOM_ALWAYS_INLINE QuarterTurn quarter_turn(Vec<float> x) {
  using V = Vec<float>;
  const V kRound(12582912.f);
  const V rounded = fmadd(x, V(0.636619772f), kRound);
  const V k = rounded - kRound;
  const V kSecond(7.54979013e-8f);
  const V first = fmadd(k, V(-1.57079625f), x);
  const V second = k * kSecond.neg();
  const V r = first + second;
  const V lost = second - (r - first);
  const V third = fmadd(k, V(-1.71512451e-15f), fmadd(k, kSecond, second));
  const V minus_rest = third - lost;
  return {std::bit_cast<Vec<int32_t>>(rounded), r, minus_rest,
          fmadd(r, r, r * (minus_rest * V(-2.f)))};
}

OPLOOM_ALWAYS_INLINE Vec<float> sin_of_quarter(const QuarterTurn& t) {
  const auto minus_p = polynomial(t.square, 0.16666654f, -0.008332095f, 0.0001950554f);
  return t.r - fmadd(t.r * t.square, minus_p, t.minus_rest);
}
OPLOOM_ALWAYS_INLINE Vec<float> cos_of_quarter(const QuarterTurn& t) {
  return polynomial(t.square, 1.f, -0.5f, 0.04166664f, -0.001388713f, 2.4412086e-05f);
}

// sin(x + quarters * pi/2)
OPLOOM_ALWAYS_INLINE Vec<float> sin_from(Vec<float> x, int quarters) {
  using V = Vec<float>;
  const QuarterTurn turn = quarter_turn(x);
  const auto k = turn.k + Vec<int32_t>(quarters);
  const V odd = std::bit_cast<V>(k << 31);
  const V sign = std::bit_cast<V>(k << 30) & V(-0.f);
  return blendv(sin_of_quarter(turn), cos_of_quarter(turn), odd.signs()) ^ sign;
}

// y, but f(x) where x is far away.
template <typename F>
OPLOOM_NOINLINE Vec<float> replace_far(Vec<float> y, Vec<float> x, F f) {
  return blendv(x.map([f](float value) { return static_cast<float>(f(value)); }), y,
                x.abs() <= Vec<float>(kFarthest));
}

OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::sin() const {
  using V = Vec<float>;
  const V y = sin_from(*this, 0);
  if (all(abs() <= V(kFarthest))) [[likely]]
    return y;
  return replace_far(y, *this, [](double x) { return std::sin(x); });
}

OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::cos() const {
  const Vec<float> y = sin_from(*this, 1);
  if (all(abs() <= Vec<float>(kFarthest))) [[likely]]
    return y;
  return replace_far(y, *this, [](double x) { return std::cos(x); });
}

// tan(r), or -1 / tan(r) after an odd number of quarter turns, with tan(r) in two numbers.
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::tan() const {
  using V = Vec<float>;
  const QuarterTurn turn = quarter_turn(*this);
  const V z = turn.square;
  const V p = polynomial(z, 0.33333352f, 0.13332577f, 0.054069865f, 0.021229936f, 0.010973537f,
                         -8.7919456e-05f, 0.00446519f);
  const V u = z * p;
  // What rounding took from z counts half of r times as much, nearly.
  const V z_rest = fmadd(turn.r, turn.r, z.neg()) + turn.r * (turn.minus_rest * V(-2.f));
  const V minus_rest = fmadd(turn.r * z_rest, V(-0.5f), fmadd(u, turn.minus_rest, turn.minus_rest));
  const V minus_small = fmadd(turn.r * z, p.neg(), minus_rest);
  const V t = turn.r - minus_small;
  const V t_rest = (turn.r - t) - minus_small;
  const V minus_inverse = V(-1.f) / t;
  const V error = fmadd(minus_inverse, t_rest, fmadd(minus_inverse, t, V(1.f)));
  const V cotangent = fmadd(minus_inverse, error, minus_inverse);
  const V y = blendv(t, cotangent, std::bit_cast<V>(turn.k << 31).signs());
  if (all(abs() <= V(kFarthest))) [[likely]]
    return y;
  return replace_far(y, *this, [](double x) { return std::tan(x); });
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
