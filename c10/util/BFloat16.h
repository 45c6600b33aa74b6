// BFloat16: the upper half of a float, stored in 16 bits and computed with in float.
#pragma once

#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>

namespace c10::inline oploom_v1 {

namespace detail {

OPLOOM_ALWAYS_INLINE float bf16_bits_to_fp32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Rounds to nearest, ties to even; NaN stays NaN (made quiet) and does not carry into infinity.
OPLOOM_ALWAYS_INLINE std::uint16_t bf16_bits_from_fp32(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (OPLOOM_UNLIKELY((bits & 0x7fffffffu) > 0x7f800000u)) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x0040u);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace detail

struct alignas(2) BFloat16 {
  std::uint16_t x;

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }

  BFloat16() = default;
  constexpr BFloat16(std::uint16_t bits, from_bits_t) : x(bits) {}
  OPLOOM_ALWAYS_INLINE BFloat16(float value) : x(detail::bf16_bits_from_fp32(value)) {}
  OPLOOM_ALWAYS_INLINE operator float() const { return detail::bf16_bits_to_fp32(x); }
};

static_assert(sizeof(BFloat16) == 2 && std::is_trivially_copyable_v<BFloat16>);

OPLOOM_ALWAYS_INLINE BFloat16 operator+(BFloat16 a, BFloat16 b) { return float(a) + float(b); }
OPLOOM_ALWAYS_INLINE BFloat16 operator-(BFloat16 a, BFloat16 b) { return float(a) - float(b); }
OPLOOM_ALWAYS_INLINE BFloat16 operator*(BFloat16 a, BFloat16 b) { return float(a) * float(b); }
OPLOOM_ALWAYS_INLINE BFloat16 operator/(BFloat16 a, BFloat16 b) { return float(a) / float(b); }
OPLOOM_ALWAYS_INLINE BFloat16 operator-(BFloat16 a) {
  return {static_cast<std::uint16_t>(a.x ^ 0x8000u), BFloat16::from_bits()};
}
OPLOOM_ALWAYS_INLINE BFloat16& operator+=(BFloat16& a, BFloat16 b) { return a = a + b; }
OPLOOM_ALWAYS_INLINE BFloat16& operator-=(BFloat16& a, BFloat16 b) { return a = a - b; }
OPLOOM_ALWAYS_INLINE BFloat16& operator*=(BFloat16& a, BFloat16 b) { return a = a * b; }
OPLOOM_ALWAYS_INLINE BFloat16& operator/=(BFloat16& a, BFloat16 b) { return a = a / b; }

// With float and double the result is as wide as the other operand; with integers it stays
// BFloat16.
OPLOOM_ALWAYS_INLINE float operator+(BFloat16 a, float b) { return float(a) + b; }
OPLOOM_ALWAYS_INLINE float operator-(BFloat16 a, float b) { return float(a) - b; }
OPLOOM_ALWAYS_INLINE float operator*(BFloat16 a, float b) { return float(a) * b; }
OPLOOM_ALWAYS_INLINE float operator/(BFloat16 a, float b) { return float(a) / b; }
OPLOOM_ALWAYS_INLINE float operator+(float a, BFloat16 b) { return a + float(b); }
OPLOOM_ALWAYS_INLINE float operator-(float a, BFloat16 b) { return a - float(b); }
OPLOOM_ALWAYS_INLINE float operator*(float a, BFloat16 b) { return a * float(b); }
OPLOOM_ALWAYS_INLINE float operator/(float a, BFloat16 b) { return a / float(b); }
OPLOOM_ALWAYS_INLINE float& operator+=(float& a, BFloat16 b) { return a += float(b); }
OPLOOM_ALWAYS_INLINE float& operator-=(float& a, BFloat16 b) { return a -= float(b); }
OPLOOM_ALWAYS_INLINE float& operator*=(float& a, BFloat16 b) { return a *= float(b); }
OPLOOM_ALWAYS_INLINE float& operator/=(float& a, BFloat16 b) { return a /= float(b); }
OPLOOM_ALWAYS_INLINE double operator+(BFloat16 a, double b) { return double(float(a)) + b; }
OPLOOM_ALWAYS_INLINE double operator-(BFloat16 a, double b) { return double(float(a)) - b; }
OPLOOM_ALWAYS_INLINE double operator*(BFloat16 a, double b) { return double(float(a)) * b; }
OPLOOM_ALWAYS_INLINE double operator/(BFloat16 a, double b) { return double(float(a)) / b; }
OPLOOM_ALWAYS_INLINE double operator+(double a, BFloat16 b) { return a + double(float(b)); }
OPLOOM_ALWAYS_INLINE double operator-(double a, BFloat16 b) { return a - double(float(b)); }
OPLOOM_ALWAYS_INLINE double operator*(double a, BFloat16 b) { return a * double(float(b)); }
OPLOOM_ALWAYS_INLINE double operator/(double a, BFloat16 b) { return a / double(float(b)); }
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE BFloat16 operator+(BFloat16 a, I b) {
  return a + BFloat16(static_cast<float>(b));
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE BFloat16 operator-(BFloat16 a, I b) {
  return a - BFloat16(static_cast<float>(b));
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE BFloat16 operator*(BFloat16 a, I b) {
  return a * BFloat16(static_cast<float>(b));
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE BFloat16 operator/(BFloat16 a, I b) {
  return a / BFloat16(static_cast<float>(b));
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE BFloat16 operator+(I a, BFloat16 b) {
  return BFloat16(static_cast<float>(a)) + b;
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE BFloat16 operator-(I a, BFloat16 b) {
  return BFloat16(static_cast<float>(a)) - b;
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE BFloat16 operator*(I a, BFloat16 b) {
  return BFloat16(static_cast<float>(a)) * b;
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE BFloat16 operator/(I a, BFloat16 b) {
  return BFloat16(static_cast<float>(a)) / b;
}

inline std::ostream& operator<<(std::ostream& out, BFloat16 value) { return out << float(value); }

}  // namespace c10::inline oploom_v1

namespace std {

template <>
class numeric_limits<c10::BFloat16> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr auto has_denorm = denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr auto round_style = round_to_nearest;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr int radix = 2;
  static constexpr int min_exponent = -125;
  static constexpr int min_exponent10 = -37;
  static constexpr int max_exponent = 128;
  static constexpr int max_exponent10 = 38;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr c10::BFloat16 min() { return bits(0x0080); }
  static constexpr c10::BFloat16 lowest() { return bits(0xff7f); }
  static constexpr c10::BFloat16 max() { return bits(0x7f7f); }
  static constexpr c10::BFloat16 epsilon() { return bits(0x3c00); }
  static constexpr c10::BFloat16 round_error() { return bits(0x3f00); }
  static constexpr c10::BFloat16 infinity() { return bits(0x7f80); }
  static constexpr c10::BFloat16 quiet_NaN() { return bits(0x7fc0); }
  static constexpr c10::BFloat16 signaling_NaN() { return bits(0x7fa0); }
  static constexpr c10::BFloat16 denorm_min() { return bits(0x0001); }

 private:
  static constexpr c10::BFloat16 bits(std::uint16_t value) {
    return {value, c10::BFloat16::from_bits()};
  }
};

template <>
struct hash<c10::BFloat16> {
  size_t operator()(c10::BFloat16 value) const { return hash<float>()(static_cast<float>(value)); }
};

}  // namespace std
