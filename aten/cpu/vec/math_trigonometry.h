// sin, cos and tan, and their inverse functions.
#pragma once

#include <aten/cpu/vec/math_base.h>

#include <algorithm>
#include <array>
#include <iterator>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Note [Quarter turns]
// x = k pi/2 + r + rest with |r| <= pi/4. pi/2 is split in three; k times the first part is
// subtracted exactly, k times the second rounded, and what was rounded away, with the third part,
// is `rest`. That holds its digits up to kFarthest; for larger numbers see Note [Many turns].
// The order of operations lets -0 come through as -0.
struct QuarterTurn {
  Vec<int32_t> k;  // its two low bits, those of `quarters` added
  Vec<float> r;
  Vec<float> minus_rest;
  Vec<float> square;  // of r, rounded
};

inline constexpr float kFarthest = 1e5f;

OPLOOM_ALWAYS_INLINE QuarterTurn quarter_turn(Vec<float> x, int quarters = 0) {
  using V = Vec<float>;
  const V kRound(12582912.f + static_cast<float>(quarters));
  const V rounded = fmadd(x, V(0.636619772f), kRound);
  const V k = rounded - kRound;
  const V kSecond(7.54979013e-8f);
  const V first = fmadd(k, V(-1.57079625f), x);
  const V second = k * kSecond.neg();
  const V r = first + second;
  const V lost = second - (r - first);
  const V third = fmadd(k, V(-1.71512451e-15f), fmadd(k, kSecond, second));
  return {std::bit_cast<Vec<int32_t>>(rounded), r, third - lost, r * r};
}

OPLOOM_ALWAYS_INLINE Vec<float> sin_of_quarter(const QuarterTurn& t) {
  const auto minus_p = polynomial(t.square, 0.16666654f, -0.008332095f, 0.0001950554f);
  return t.r - fmadd(t.r * t.square, minus_p, t.minus_rest);
}
// The square unrounded where it counts, and what the rest takes from it.
OPLOOM_ALWAYS_INLINE Vec<float> cos_of_quarter(const QuarterTurn& t) {
  using V = Vec<float>;
  const V p = polynomial(t.square, 0.04166664f, -0.001388713f, 2.4412086e-05f);
  const V small = fmadd(t.square * t.square, p, t.r * t.minus_rest);
  return V(1.f) + fmadd(t.r * V(-0.5f), t.r, small);
}

// sin(x), for an even number of quarters, and cos(x).
OPLOOM_ALWAYS_INLINE Vec<float> sin_of_turn(const QuarterTurn& turn) {
  using V = Vec<float>;
  const V odd = std::bit_cast<V>(turn.k << 31);
  const V sign = std::bit_cast<V>(turn.k << 30) & V(-0.f);
  return blendv(sin_of_quarter(turn), cos_of_quarter(turn), odd.signs()) ^ sign;
}

// tan(r), or -1 / tan(r) after an odd number of quarter turns, with tan(r) in two numbers.
OPLOOM_ALWAYS_INLINE Vec<float> tan_of_turn(const QuarterTurn& turn) {
  using V = Vec<float>;
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
  return blendv(t, cotangent, std::bit_cast<V>(turn.k << 31).signs());
}

OPLOOM_ALWAYS_INLINE Vec<float>::Mask is_near(Vec<float> x) {
  return x.abs() <= Vec<float>(kFarthest);
}

// Note [Many turns]
// x = m 2^e with 24 bits in m. Of the bits of 2/pi those that make multiples of four quarters of it
// are left out (Payne and Hanek, "Radian reduction for trigonometric functions", 1983), and of
// those that follow 96 are enough: they give x / (pi/2) up to 2^-62.

// 2/pi, in words of 32 bits, behind one of zeros; each with the next.
inline constexpr auto kTwoByPi = [] {
  constexpr uint32_t kWords[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
  std::array<uint64_t, std::size(kWords) - 1> pairs{};
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = uint64_t{kWords[i]} << 32 | kWords[i + 1];
  return pairs;
}();

// As quarter_turn(), of any numbers; nan of those that are not finite.
OPLOOM_NOINLINE inline QuarterTurn quarter_turn_of_any(Vec<float> x, int quarters = 0) {
  using V = Vec<float>;
  constexpr int kSize = V::size();
  alignas(kVecBytes) float numbers[kSize], r[kSize], minus_rest[kSize];
  alignas(kVecBytes) int32_t k[kSize];
  x.storeu(numbers);
  for (int i = 0; i < kSize; ++i) {
    const auto bits = std::bit_cast<uint32_t>(numbers[i]);
    const uint64_t m = (bits & 0x7fffff) | 0x800000;
    // The first bit that is used, 30 + e with the zeros before 2/pi, where e is the exponent less
    // 150; that of the smallest such number is 143.
    const uint32_t first = std::max(bits >> 23 & 0xff, uint32_t{143}) - 120;
    const uint64_t shift = first % 32;
    const uint64_t word_pair = kTwoByPi[first / 32], next_pair = kTwoByPi[first / 32 + 2];
    const uint64_t high = word_pair << shift | (next_pair >> 32) >> (32 - shift);
    const uint64_t low = (next_pair << shift) >> 32;
    // Modulo four quarters, in units of 2^-62 of one.
    const uint64_t turn = m * high + (m * low >> 32);
    const uint64_t whole = (turn + (uint64_t{1} << 61)) >> 62;
    const auto fraction = static_cast<double>(static_cast<int64_t>(turn - (whole << 62)));
    const double sign = bits >> 31 ? -1 : 1;
    const double angle = fraction * (sign * 1.5707963267948966 * 0x1p-62);
    r[i] = static_cast<float>(angle);
    minus_rest[i] = static_cast<float>(r[i] - angle);
    k[i] = (bits >> 31 ? -1 : 1) * static_cast<int32_t>(whole) + quarters;
  }
  const QuarterTurn turn = quarter_turn(x, quarters);
  const auto near = is_near(x);
  // An infinite number less itself is nan.
  const V all_r = blendv(V::loadu(r) + (x - x), turn.r, near);
  const V bits_of_k = std::bit_cast<V>(Vec<int32_t>::loadu(k));
  return {std::bit_cast<Vec<int32_t>>(blendv(bits_of_k, std::bit_cast<V>(turn.k), near)), all_r,
          blendv(V::loadu(minus_rest), turn.minus_rest, near), all_r * all_r};
}

OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::sin() const {
  if (!all(is_near(*this))) [[unlikely]]
    return sin_of_turn(quarter_turn_of_any(*this));
  return sin_of_turn(quarter_turn(*this));
}

OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::cos() const {
  if (!all(is_near(*this))) [[unlikely]]
    return sin_of_turn(quarter_turn_of_any(*this, 1));
  return sin_of_turn(quarter_turn(*this, 1));
}

template <typename U>
OPLOOM_ALWAYS_INLINE Vec<float> tan(U& usual, const Vec<float>& x) {
  if (!usual.are(is_near(x))) [[unlikely]]
    return tan_of_turn(quarter_turn_of_any(x));
  return tan_of_turn(quarter_turn(x));
}
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::tan() const { return vec::tan(kAny, *this); }

// ---- The inverse functions ----

inline constexpr float kQuarter = 1.57079637f;  // pi/2, and what is missing from it
inline constexpr float kQuarterRest = -4.37113883e-8f;

// Note [Arcsine]
// Up to 1/2, asin(x) = x + x^3 P(x^2); above, pi/2 - 2 asin(s) with s = sqrt((1 - x) / 2), whose
// rounding counts too much to be left out.
struct Arcsine {
  Vec<float>::Mask large;
  Vec<float> s;     // |x|, or the root
  Vec<float> rest;  // asin of it, less s
};

OPLOOM_ALWAYS_INLINE Arcsine arcsine_of_small(Vec<float> x) {
  using V = Vec<float>;
  const V half(0.5f);
  const V magnitude = x.abs();
  const auto large = magnitude > half;
  const V square = fmadd(magnitude, half.neg(), half);
  const V root = square.sqrt();
  const V root_rest = fmadd(root.neg(), root, square) * (half / at_least(root, V(0x1p-24f)));
  const V s = blendv(magnitude, root, large);
  const V z = blendv(x * x, square, large);
  const V p = polynomial(z, 0.16666752f, 0.074953094f, 0.045469154f, 0.024184745f, 0.04215838f);
  return {large, s, fmadd(s * z, p, blendv(V(0.f), root_rest, large))};
}

OPLOOM_ALWAYS_INLINE Vec<float> asin(const Vec<float>& x) {
  using V = Vec<float>;
  const Arcsine arc = arcsine_of_small(x);
  const V twice = arc.s + arc.s;
  const V sum = V(kQuarter) - twice;
  const V lost = (V(kQuarter) - sum) - twice;
  const V large = sum + fmadd(arc.rest, V(-2.f), lost + V(kQuarterRest));
  return blendv(arc.s + arc.rest, large, arc.large) | (x & V(-0.f));
}

// pi/2 - x in the middle; 2 asin(s) above; 2 (pi/2 - asin(s)) below.
OPLOOM_ALWAYS_INLINE Vec<float> acos(const Vec<float>& x) {
  using V = Vec<float>;
  const Arcsine arc = arcsine_of_small(x);
  const V sign = blendv(x & V(-0.f), V(0.f), arc.large);
  const V s = arc.s ^ sign;
  const V sum = V(kQuarter) - s;
  const V lost = (V(kQuarter) - sum) - s;
  const V left = sum + (V(kQuarterRest) + lost - (arc.rest ^ sign));
  const V y = blendv(left, arc.s + arc.rest, arc.large & !x.signs());
  return blendv(y, y + y, arc.large);
}

// base + base_rest + atan(u + rest) for |u| <= 1 and |u| <= |base|, if that is not 0.
OPLOOM_ALWAYS_INLINE Vec<float> arctangent(Vec<float> u, Vec<float> rest, Vec<float> base,
                                           Vec<float> base_rest) {
  using V = Vec<float>;
  const V z = u * u;
  const V cube = u * z;
  const V cube_rest = fmadd(u, fmadd(u, u, z.neg()), fmadd(u, z, cube.neg()));
  const V q = polynomial(z, 0.1999853f, -0.14264043f, 0.109511785f, -0.08400611f, 0.057910472f,
                         -0.03113205f, 0.01089048f, -0.0017883009f);
  // `rest` counts 1 / (1 + z) times, nearly.
  const V small =
      fmadd(cube * z, q, fmadd(cube_rest, V(-0.333333f), fmadd(rest, z * V(-0.5f), rest)));
  const V sum = base + u;
  const V lost = (u - (sum - base)) + base_rest;
  return sum + (fmadd(cube, V(-0.333333f), small) + lost);
}

// Above 1, pi/2 + atan(-1 / x).
OPLOOM_ALWAYS_INLINE Vec<float> atan(const Vec<float>& x) {
  using V = Vec<float>;
  const V zero(0.f), one(1.f), magnitude = x.abs();
  const auto large = magnitude > one;
  // Of infinity, the product that tells the rounding would be nan.
  const V kept = at_most(magnitude, V(0x1p60f));
  const V inverse = one.neg() / kept;
  const V rest = inverse * fmadd(inverse, kept, one);
  const V y = arctangent(blendv(magnitude, inverse, large), blendv(zero, rest, large),
                         blendv(zero, V(kQuarter), large), blendv(zero, V(kQuarterRest), large));
  return y | (x & V(-0.f));
}

// The quotient of the smaller and the larger number, in two numbers, is the tangent of the angle
// from the nearest axis.
OPLOOM_ALWAYS_INLINE Vec<float> atan2_of_quotient(Vec<float> y, Vec<float> x, Vec<float> larger,
                                                  Vec<float> smaller,
                                                  const Vec<float>::Mask& steep) {
  using V = Vec<float>;
  const V zero(0.f);
  const V u = smaller / larger;
  const V rest = fmadd(u.neg(), larger, smaller) / larger;
  // The axis lies a quarter turn from x > 0 if steep; else none or, for x < 0, two. Beyond a
  // quarter turn, and before one if steep, the angle is taken from that of the axis.
  const V base = blendv(blendv(zero, V(2 * kQuarter), x.signs()), V(kQuarter), steep);
  const V sign = (x ^ blendv(zero, V(-0.f), steep)) & V(-0.f);
  const V angle = arctangent(u ^ sign, rest ^ sign, base, base * V(kQuarterRest / kQuarter));
  return angle | (y & V(-0.f));
}

// Where both numbers are 0 or one is infinite there is no quotient: SLEEF's.
template <typename U>
OPLOOM_ALWAYS_INLINE Vec<float> atan2(U& usual, const Vec<float>& y, const Vec<float>& x) {
  using V = Vec<float>;
  const V width = x.abs(), height = y.abs();
  const auto steep = height > width;
  const V larger = blendv(width, height, steep);
  const V smaller = blendv(height, width, steep);
  const V angle = atan2_of_quotient(y, x, larger, smaller, steep);
  const auto has_quotient = (larger > V(0.f)) & (larger <= V(std::numeric_limits<float>::max()));
  if (!usual.are(has_quotient)) [[unlikely]]
    return blendv(sleef_atan2(y, x), angle, has_quotient);
  return angle;
}
OPLOOM_ALWAYS_INLINE Vec<float> atan2(Vec<float> y, Vec<float> x) { return atan2(kAny, y, x); }

// ---- Arctangents of double ----

// Note [Eighths of turns]
// The angle whose tangent is smaller / larger, both 0 or more, lies at most tan(pi/8) from 0 or
// from pi/4: that of (smaller - larger) / (smaller + larger) is added to the latter. Differences,
// sums and the quotient are kept in two numbers, so that there are few roundings beside that of the
// result. `axis` (in pi/4) is added to the angle, whose sign is that of `sign`.
OPLOOM_ALWAYS_INLINE Vec<double> angle_from_axis(Vec<double> smaller, Vec<double> larger,
                                                 Vec<double> axis, Vec<double> sign) {
  using D = Vec<double>;
  const D zero(0.), one(1.), eighth(0.7853981633974483), eighth_rest(3.061616997868383e-17);
  const auto near = smaller > larger * D(0.41421356237309503);
  const D less = blendv(zero, larger, near), more = blendv(zero, smaller, near);
  const D top = smaller - less, top_rest = smaller - (top + less);
  const D bottom = larger + more, bottom_rest = (larger - bottom) + more;
  const D inverse = one / bottom, quotient = top * inverse;
  const D error = fmadd(quotient.neg(), bottom, top) + fmadd(quotient.neg(), bottom_rest, top_rest);
  const D u = quotient ^ sign, rest = (error * inverse) ^ sign, z = u * u;
  const D p = polynomial_by_halves(
      z, -0.33333333333333326, 0.19999999999997695, -0.14285714285391066, 0.11111111088368748,
      -0.09090908151429677, 0.0769228291495491, -0.06666229068963485, 0.05877044468768811,
      -0.05218550549601025, 0.04504144674524079, -0.03348833694943509, 0.015209273094414588);
  // `rest` counts 1 / (1 + z) times.
  const D small = fmadd(u * z, p, fmadd(rest, z.neg(), rest));
  const D eighths = axis + (blendv(zero, one, near) ^ sign), base = eighths * eighth;
  const D base_rest = fmadd(eighths, eighth_rest, fmadd(eighths, eighth, base.neg()));
  const D sum = base + u;
  return sum + (((u - (sum - base)) + base_rest) + small);
}

OPLOOM_ALWAYS_INLINE Vec<double> atan(const Vec<double>& x) {
  using D = Vec<double>;
  // Beyond, the angle rounds to pi/2.
  const D zero(0.), one(1.), magnitude = at_most(x.abs(), D(0x1p60));
  const auto steep = magnitude > one;
  const D angle = angle_from_axis(blendv(magnitude, one, steep), blendv(one, magnitude, steep),
                                  blendv(zero, D(2.), steep), blendv(zero, D(-0.), steep));
  return angle | (x & D(-0.));
}

// Where both numbers are 0, one is infinite, or a sum, a quotient or its error might be, or might
// be denormal: SLEEF's.
OPLOOM_ALWAYS_INLINE Vec<double> atan2(Vec<double> y, Vec<double> x) {
  using D = Vec<double>;
  const D zero(0.), width = x.abs(), height = y.abs();
  const auto steep = height > width;
  const D larger = blendv(width, height, steep), smaller = blendv(height, width, steep);
  const D axis = blendv(blendv(zero, D(4.), x.signs()), D(2.), steep);
  const D sign = (x ^ blendv(zero, D(-0.), steep)) & D(-0.);
  const D angle = angle_from_axis(smaller, larger, axis, sign) | (y & D(-0.));
  const auto reached = (larger >= D(0x1p-900)) & (larger <= D(0x1p1000)) &
                       ((smaller >= D(0x1p-960)) | (smaller == zero));
  if (!all(reached)) [[unlikely]]
    return blendv(sleef_atan2(y, x), angle, reached);
  return angle;
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
