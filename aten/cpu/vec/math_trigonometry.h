// sin, cos and tan, and their inverse functions.
#pragma once

#include <aten/cpu/vec/math_root.h>

#include <algorithm>
#include <array>
#include <iterator>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// pi/2, and what is missing from it
template <typename T>
inline constexpr T kQuarter = either<T>(1.57079637f, 1.5707963267948966);
template <typename T>
inline constexpr T kQuarterRest = either<T>(-4.37113883e-8f, 6.123233995736766e-17);

// Note [Quarter turns]
// x = k pi/2 + r + rest with |r| <= pi/4. pi/2 is split in three; k times the first part is
// subtracted exactly, k times the second rounded, and what was rounded away, with the third part,
// is `rest`. That holds its digits up to kFarthest; for larger numbers see Note [Many turns].
// The order of operations lets -0 come through as -0.
template <typename T>
struct QuarterTurn {
  Vec<T> rounded;  // the two lowest bits are those of k, those of `quarters` added
  Vec<T> r;
  Vec<T> minus_rest;
  Vec<T> square;  // of r, rounded

  OPLOOM_ALWAYS_INLINE typename Vec<T>::Mask is_odd() const { return bit(0).signs(); }
  // Bit i as the sign of a number.
  OPLOOM_ALWAYS_INLINE Vec<T> bit(int i) const {
    return from_bits<Vec<T>>(bits_of(rounded) << (8 * static_cast<int>(sizeof(T)) - 1 - i));
  }
};

template <typename T>
inline constexpr T kFarthest = either<T>(1e5f, 1e9);

template <typename T>
OPLOOM_ALWAYS_INLINE QuarterTurn<T> quarter_turn(Vec<T> x, int quarters = 0) {
  using V = Vec<T>;
  const V kRound(either<T>(12582912.f, 0x1.8p52) + static_cast<T>(quarters));
  const V rounded = fmadd(x, V(either<T>(0.636619772f, 0.6366197723675814)), kRound);
  const V k = rounded - kRound;
  const V kSecond(either<T>(7.54979013e-8f, 6.123233995736766e-17));
  const V first = fmadd(k, V(either<T>(-1.57079625f, -1.5707963267948966)), x);
  const V second = k * kSecond.neg();
  const V r = first + second;
  const V lost = second - (r - first);
  const V third =
      fmadd(k, V(either<T>(-1.71512451e-15f, -1.4973849048591833e-33)), fmadd(k, kSecond, second));
  return {rounded, r, third - lost, r * r};
}

OPLOOM_ALWAYS_INLINE Vec<float> minus_sine_curve(Vec<float> z) {
  return polynomial(z, 0.16666654f, -0.008332095f, 0.0001950554f);
}
OPLOOM_ALWAYS_INLINE Vec<double> minus_sine_curve(Vec<double> z) {
  return polynomial(z, 0.16666666666666666, -0.008333333333333331, 0.00019841269841265065,
                    -2.755731921933912e-06, 2.5052106232431117e-08, -1.6058531616377217e-10,
                    7.586696963915627e-13);
}
OPLOOM_ALWAYS_INLINE Vec<float> cosine_curve(Vec<float> z) {
  return polynomial(z, 0.04166664f, -0.001388713f, 2.4412086e-05f);
}
OPLOOM_ALWAYS_INLINE Vec<double> cosine_curve(Vec<double> z) {
  return polynomial(z, 0.041666666666666664, -0.0013888888888888887, 2.4801587301584645e-05,
                    -2.75573192214028e-07, 2.0876755791071273e-09, -1.1470460886159447e-11,
                    4.7458718165381285e-14);
}
OPLOOM_ALWAYS_INLINE Vec<float> tangent_curve(Vec<float> z) {
  return polynomial(z, 0.33333352f, 0.13332577f, 0.054069865f, 0.021229936f, 0.010973537f,
                    -8.7919456e-05f, 0.00446519f);
}
OPLOOM_ALWAYS_INLINE Vec<double> tangent_curve(Vec<double> z) {
  return polynomial_by_halves(
      z, 0.3333333333333333, 0.13333333333333, 0.053968253968655476, 0.021869488517073682,
      0.008863236003501904, 0.003592120980340118, 0.0014559027410188268, 0.000589575594316245,
      0.0002412264029811156, 8.998505775066121e-05, 5.558814557911028e-05, -1.1014033548692485e-05,
      3.651656826710423e-05, -1.8315551520840008e-05, 8.483397513981008e-06);
}

template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> sin_of_quarter(const QuarterTurn<T>& t) {
  return t.r - fmadd(t.r * t.square, minus_sine_curve(t.square), t.minus_rest);
}
// The square unrounded where it counts, and what the rest takes from it.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> cos_of_quarter(const QuarterTurn<T>& t) {
  using V = Vec<T>;
  const V small = fmadd(t.square * t.square, cosine_curve(t.square), t.r * t.minus_rest);
  return V(T(1)) + fmadd(t.r * V(T(-0.5)), t.r, small);
}

// sin(x), for an even number of quarters, and cos(x).
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> sin_of_turn(const QuarterTurn<T>& turn) {
  const Vec<T> sign = turn.bit(1) & Vec<T>(T(-0.0));
  return blendv(sin_of_quarter(turn), cos_of_quarter(turn), turn.is_odd()) ^ sign;
}

// tan(r), or -1 / tan(r) after an odd number of quarter turns, with tan(r) in two numbers.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> tan_of_turn(const QuarterTurn<T>& turn) {
  using V = Vec<T>;
  const V z = turn.square;
  const V p = tangent_curve(z);
  const V u = z * p;
  // What rounding took from z counts half of r times as much, nearly.
  const V z_rest = fmadd(turn.r, turn.r, z.neg()) + turn.r * (turn.minus_rest * V(T(-2)));
  const V minus_rest =
      fmadd(turn.r * z_rest, V(T(-0.5)), fmadd(u, turn.minus_rest, turn.minus_rest));
  const V minus_small = fmadd(turn.r * z, p.neg(), minus_rest);
  const V t = turn.r - minus_small;
  const V t_rest = (turn.r - t) - minus_small;
  const V minus_inverse = V(T(-1)) / t;
  const V error = fmadd(minus_inverse, t_rest, fmadd(minus_inverse, t, V(T(1))));
  const V cotangent = fmadd(minus_inverse, error, minus_inverse);
  return blendv(t, cotangent, turn.is_odd());
}

template <typename T>
OPLOOM_ALWAYS_INLINE typename Vec<T>::Mask is_near(Vec<T> x) {
  return x.abs() <= Vec<T>(kFarthest<T>);
}

// Note [Many turns]
// A float is m 2^e with 24 bits in m. Of the bits of 2/pi those that make multiples of four
// quarters of it are left out (Payne and Hanek, "Radian reduction for trigonometric functions",
// 1983), and of those that follow 96 are enough: they give x / (pi/2) up to 2^-62. For a double, m
// has 53 bits, and 192 give the quotient up to 2^-137; the one nearest to a whole number is 2^-61
// from it.

// 2/pi, in words of 32 bits, behind one of zeros; each with the next.
inline constexpr auto kTwoByPi = [] {
  constexpr uint32_t kWords[] = {
      0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
      0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c,
      0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4,
      0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf,
      0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea,
      0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20};
  std::array<uint64_t, std::size(kWords) - 1> pairs{};
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = uint64_t{kWords[i]} << 32 | kWords[i + 1];
  return pairs;
}();

// As quarter_turn(), of any numbers; nan of those that are not finite.
OPLOOM_NOINLINE inline QuarterTurn<float> quarter_turn_of_any(Vec<float> x, int quarters = 0) {
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
  const QuarterTurn<float> turn = quarter_turn(x, quarters);
  const auto near = is_near(x);
  // An infinite number less itself is nan.
  const V all_r = blendv(V::loadu(r) + (x - x), turn.r, near);
  const V bits_of_k = std::bit_cast<V>(Vec<int32_t>::loadu(k));
  return {blendv(bits_of_k, turn.rounded, near), all_r,
          blendv(V::loadu(minus_rest), turn.minus_rest, near), all_r * all_r};
}

OPLOOM_NOINLINE inline QuarterTurn<double> quarter_turn_of_any(Vec<double> x, int quarters = 0) {
  using V = Vec<double>;
  using Wide = unsigned __int128;
  constexpr int kSize = V::size();
  alignas(kVecBytes) double numbers[kSize], r[kSize], minus_rest[kSize], k[kSize];
  x.storeu(numbers);
  for (int i = 0; i < kSize; ++i) {
    const auto bits = std::bit_cast<uint64_t>(numbers[i]);
    const uint64_t m = (bits & 0xfffffffffffff) | 0x10000000000000;
    // As above; the exponent is less 1075.
    const uint64_t first = std::max(bits >> 52 & 0x7ff, uint64_t{1045}) - 1045;
    const auto* pairs = &kTwoByPi[first / 32];
    const uint64_t shift = first % 32;
    const auto word = [&](int j) {
      return pairs[j] << shift | (pairs[j + 2] >> 1) >> (63 - shift);
    };
    // Modulo four quarters, in units of 2^-62 and 2^-126 of one.
    const Wide low = Wide{m} * word(4), middle = Wide{m} * word(2) + (low >> 64);
    const uint64_t turn = m * word(0) + static_cast<uint64_t>(middle >> 64);
    const uint64_t whole = (turn + (uint64_t{1} << 61)) >> 62;
    const auto fraction = static_cast<int64_t>(turn - (whole << 62));
    const auto most = static_cast<double>(fraction);
    const double less = static_cast<double>(fraction - static_cast<int64_t>(most)) +
                        static_cast<double>(static_cast<uint64_t>(middle)) * 0x1p-64;
    const double sum = most + less, lost = less - (sum - most);
    const double unit = (bits >> 63 ? -0x1p-62 : 0x1p-62) * kQuarter<double>;
    const double product = sum * unit;
    r[i] = product;
    minus_rest[i] = -(fmadd(sum, unit, -product) +
                      (lost * unit + product * (kQuarterRest<double> / kQuarter<double>)));
    const auto turns = bits >> 63 ? -static_cast<int64_t>(whole) : static_cast<int64_t>(whole);
    k[i] = std::bit_cast<double>(turns + quarters);
  }
  const QuarterTurn<double> turn = quarter_turn(x, quarters);
  const auto near = is_near(x);
  // An infinite number less itself is nan.
  const V all_r = blendv(V::loadu(r) + (x - x), turn.r, near);
  return {blendv(V::loadu(k), turn.rounded, near), all_r,
          blendv(V::loadu(minus_rest), turn.minus_rest, near), all_r * all_r};
}

// Of x and so many quarter turns more.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> sine(Vec<T> x, int quarters) {
  if (!all(is_near(x))) [[unlikely]]
    return sin_of_turn(quarter_turn_of_any(x, quarters));
  return sin_of_turn(quarter_turn(x, quarters));
}
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::sin() const { return sine(*this, 0); }
OPLOOM_ALWAYS_INLINE Vec<double> Vec<double>::sin() const { return sine(*this, 0); }
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::cos() const { return sine(*this, 1); }
OPLOOM_ALWAYS_INLINE Vec<double> Vec<double>::cos() const { return sine(*this, 1); }

template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> tan(U& usual, const Vec<T>& x) {
  if (!usual.are(is_near(x))) [[unlikely]]
    return tan_of_turn(quarter_turn_of_any(x));
  return tan_of_turn(quarter_turn(x));
}
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::tan() const { return vec::tan(kAny, *this); }
OPLOOM_ALWAYS_INLINE Vec<double> Vec<double>::tan() const { return vec::tan(kAny, *this); }

struct SineAndCosine {
  Vec<double> sine, cosine;
};
OPLOOM_ALWAYS_INLINE SineAndCosine both_of_turn(const QuarterTurn<double>& turn) {
  using D = Vec<double>;
  const D sine = sin_of_quarter(turn), cosine = cos_of_quarter(turn);
  const D minus_zero(-0.), sign = turn.bit(1) & minus_zero;
  const auto odd = turn.is_odd();
  return {blendv(sine, cosine, odd) ^ sign, blendv(cosine, sine ^ minus_zero, odd) ^ sign};
}
OPLOOM_ALWAYS_INLINE SineAndCosine sine_and_cosine(Vec<double> x) {
  if (!all(is_near(x))) [[unlikely]]
    return both_of_turn(quarter_turn_of_any(x));
  return both_of_turn(quarter_turn(x));
}

// ---- The inverse functions ----

OPLOOM_ALWAYS_INLINE Vec<float> arcsine_curve(Vec<float> z) {
  return polynomial(z, 0.16666752f, 0.074953094f, 0.045469154f, 0.024184745f, 0.04215838f);
}
OPLOOM_ALWAYS_INLINE Vec<double> arcsine_curve(Vec<double> z) {
  return polynomial_by_halves(z, 0.16666666666666669, 0.07499999999998433, 0.04464285714635543,
                              0.030381944138531247, 0.02237217294214989, 0.017352392720869973,
                              0.013971212973552933, 0.011479177415184906, 0.01032281435018578,
                              0.005457506718640358, 0.01740087944269402, -0.014851887071247204,
                              0.028757851367421566);
}

// Note [Arcsine]
// Up to 1/2, asin(x) = x + x^3 P(x^2); above, pi/2 - 2 asin(s) with s = sqrt((1 - x) / 2), whose
// rounding counts too much to be left out.
template <typename T>
struct Arcsine {
  typename Vec<T>::Mask large;
  Vec<T> s;     // |x|, or the root
  Vec<T> rest;  // asin of it, less s
};

template <typename T>
OPLOOM_ALWAYS_INLINE Arcsine<T> arcsine_of_small(Vec<T> x) {
  using V = Vec<T>;
  const V half(T(0.5));
  const V magnitude = x.abs();
  const auto large = magnitude > half;
  const V square = fmadd(magnitude, half.neg(), half);
  const auto [root, half_inverse] = root_and_inverse(square);
  const V root_rest = fmadd(root.neg(), root, square) * half_inverse;
  const V s = blendv(magnitude, root, large);
  const V z = blendv(x * x, square, large);
  return {large, s, fmadd(s * z, arcsine_curve(z), blendv(V(T(0)), root_rest, large))};
}

template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> asin(const Vec<T>& x) {
  using V = Vec<T>;
  const auto arc = arcsine_of_small(x);
  const V quarter(kQuarter<T>), twice = arc.s + arc.s;
  const V sum = quarter - twice;
  const V lost = (quarter - sum) - twice;
  const V large = sum + fmadd(arc.rest, V(T(-2)), lost + V(kQuarterRest<T>));
  return blendv(arc.s + arc.rest, large, arc.large) | (x & V(T(-0.0)));
}

// pi/2 - x in the middle; 2 asin(s) above; 2 (pi/2 - asin(s)) below.
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> acos(const Vec<T>& x) {
  using V = Vec<T>;
  const auto arc = arcsine_of_small(x);
  const V quarter(kQuarter<T>), sign = blendv(x & V(T(-0.0)), V(T(0)), arc.large);
  const V s = arc.s ^ sign;
  const V sum = quarter - s;
  const V lost = (quarter - sum) - s;
  const V left = sum + (V(kQuarterRest<T>) + lost - (arc.rest ^ sign));
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
                         blendv(zero, V(kQuarter<float>), large),
                         blendv(zero, V(kQuarterRest<float>), large));
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
  const V base = blendv(blendv(zero, V(2 * kQuarter<float>), x.signs()), V(kQuarter<float>), steep);
  const V sign = (x ^ blendv(zero, V(-0.f), steep)) & V(-0.f);
  const V angle =
      arctangent(u ^ sign, rest ^ sign, base, base * V(kQuarterRest<float> / kQuarter<float>));
  return angle | (y & V(-0.f));
}

// Where both numbers are 0 or one is infinite there is no quotient: it counts as 0, or 1 where both
// are infinite.
template <typename U>
OPLOOM_ALWAYS_INLINE Vec<float> atan2(U& usual, const Vec<float>& y, const Vec<float>& x) {
  using V = Vec<float>;
  const V zero(0.f), one(1.f), infinity(std::numeric_limits<float>::infinity());
  const V width = x.abs(), height = y.abs();
  const auto steep = height > width;
  V larger = blendv(width, height, steep);
  V smaller = blendv(height, width, steep);
  if constexpr (std::is_base_of_v<Any, U>) {
    const auto infinite = larger == infinity;
    smaller = blendv(smaller, blendv(smaller * zero, one, smaller == infinity), infinite);
    larger = blendv(larger, one, infinite | (larger == zero));
  } else {
    usual.are((larger > zero) & (larger < infinity));
  }
  return atan2_of_quotient(y, x, larger, smaller, steep);
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
// be denormal: the C library's.
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
    return blendv(map_two(y, x, [](double a, double b) { return std::atan2(a, b); }), angle,
                  reached);
  return angle;
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
