// Half: IEEE 754 binary16, stored in 16 bits and computed with in float.
//
// Everything here is forced inline: this header is compiled for several instruction sets in one
// library, and a shared out-of-line copy could hold instructions that the machine lacks.
#pragma once

#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace c10::inline oploom_v1 {

namespace detail {

// Bits of a Half to the float of the same value; NaN stays NaN (made quiet).
OPLOOM_ALWAYS_INLINE float fp16_bits_to_fp32_portable(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) {  // infinity or NaN: widen the exponent, keep the payload
    const std::uint32_t quiet = magnitude > 0x7c00u ? 0x00400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x03ffu) << 13) | quiet);
  }
  if (magnitude < 0x0400u) {  // zero or subnormal: an integer multiple of 2^-24, exact in float
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));  // bias 127 - 15 = 112
}

// Rounds to nearest, ties to even; too large becomes infinity.
OPLOOM_ALWAYS_INLINE std::uint16_t fp16_bits_from_fp32_portable(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN: keep the upper payload, make it quiet
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x03ffu));
  }
  if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
    return static_cast<std::uint16_t>(sign | 0x7c00u);
  }
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 leaves the rounded subnormal in the
                                  // low bits, as the spacing of floats around 0.5 is 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(
        sign | (std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f)));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0x0fffu + odd) >> 13));
}

OPLOOM_ALWAYS_INLINE float fp16_bits_to_fp32(std::uint16_t half) {
#if defined(__F16C__)
  return _cvtsh_ss(half);
#else
  return fp16_bits_to_fp32_portable(half);
#endif
}

OPLOOM_ALWAYS_INLINE std::uint16_t fp16_bits_from_fp32(float value) {
#if defined(__F16C__)
  return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  return fp16_bits_from_fp32_portable(value);
#endif
}

}  // namespace detail

struct alignas(2) Half {
  std::uint16_t x;

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }

  Half() = default;
  constexpr Half(std::uint16_t bits, from_bits_t) : x(bits) {}
  OPLOOM_ALWAYS_INLINE Half(float value) : x(detail::fp16_bits_from_fp32(value)) {}
  OPLOOM_ALWAYS_INLINE operator float() const { return detail::fp16_bits_to_fp32(x); }
};

static_assert(sizeof(Half) == 2 && std::is_trivially_copyable_v<Half>);

OPLOOM_ALWAYS_INLINE Half operator+(Half a, Half b) { return float(a) + float(b); }
OPLOOM_ALWAYS_INLINE Half operator-(Half a, Half b) { return float(a) - float(b); }
OPLOOM_ALWAYS_INLINE Half operator*(Half a, Half b) { return float(a) * float(b); }
OPLOOM_ALWAYS_INLINE Half operator/(Half a, Half b) { return float(a) / float(b); }
OPLOOM_ALWAYS_INLINE Half operator-(Half a) {
  return {static_cast<std::uint16_t>(a.x ^ 0x8000u), Half::from_bits()};
}
OPLOOM_ALWAYS_INLINE Half& operator+=(Half& a, Half b) { return a = a + b; }
OPLOOM_ALWAYS_INLINE Half& operator-=(Half& a, Half b) { return a = a - b; }
OPLOOM_ALWAYS_INLINE Half& operator*=(Half& a, Half b) { return a = a * b; }
OPLOOM_ALWAYS_INLINE Half& operator/=(Half& a, Half b) { return a = a / b; }

// With float and double the result is as wide as the other operand; with integers it stays Half.
OPLOOM_ALWAYS_INLINE float operator+(Half a, float b) { return float(a) + b; }
OPLOOM_ALWAYS_INLINE float operator-(Half a, float b) { return float(a) - b; }
OPLOOM_ALWAYS_INLINE float operator*(Half a, float b) { return float(a) * b; }
OPLOOM_ALWAYS_INLINE float operator/(Half a, float b) { return float(a) / b; }
OPLOOM_ALWAYS_INLINE float operator+(float a, Half b) { return a + float(b); }
OPLOOM_ALWAYS_INLINE float operator-(float a, Half b) { return a - float(b); }
OPLOOM_ALWAYS_INLINE float operator*(float a, Half b) { return a * float(b); }
OPLOOM_ALWAYS_INLINE float operator/(float a, Half b) { return a / float(b); }
OPLOOM_ALWAYS_INLINE float& operator+=(float& a, Half b) { return a += float(b); }
OPLOOM_ALWAYS_INLINE float& operator-=(float& a, Half b) { return a -= float(b); }
OPLOOM_ALWAYS_INLINE float& operator*=(float& a, Half b) { return a *= float(b); }
OPLOOM_ALWAYS_INLINE float& operator/=(float& a, Half b) { return a /= float(b); }
OPLOOM_ALWAYS_INLINE double operator+(Half a, double b) { return double(float(a)) + b; }
OPLOOM_ALWAYS_INLINE double operator-(Half a, double b) { return double(float(a)) - b; }
OPLOOM_ALWAYS_INLINE double operator*(Half a, double b) { return double(float(a)) * b; }
OPLOOM_ALWAYS_INLINE double operator/(Half a, double b) { return double(float(a)) / b; }
OPLOOM_ALWAYS_INLINE double operator+(double a, Half b) { return a + double(float(b)); }
OPLOOM_ALWAYS_INLINE double operator-(double a, Half b) { return a - double(float(b)); }
OPLOOM_ALWAYS_INLINE double operator*(double a, Half b) { return a * double(float(b)); }
OPLOOM_ALWAYS_INLINE double operator/(double a, Half b) { return a / double(float(b)); }
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE Half operator+(Half a, I b) {
  return a + Half(static_cast<float>(b));
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE Half operator-(Half a, I b) {
  return a - Half(static_cast<float>(b));
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE Half operator*(Half a, I b) {
  return a * Half(static_cast<float>(b));
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE Half operator/(Half a, I b) {
  return a / Half(static_cast<float>(b));
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE Half operator+(I a, Half b) {
  return Half(static_cast<float>(a)) + b;
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE Half operator-(I a, Half b) {
  return Half(static_cast<float>(a)) - b;
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE Half operator*(I a, Half b) {
  return Half(static_cast<float>(a)) * b;
}
template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
OPLOOM_ALWAYS_INLINE Half operator/(I a, Half b) {
  return Half(static_cast<float>(a)) / b;
}

inline std::ostream& operator<<(std::ostream& out, Half value) { return out << float(value); }

}  // namespace c10::inline oploom_v1

namespace std {

template <>
class numeric_limits<c10::Half> {
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
  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int radix = 2;
  static constexpr int min_exponent = -13;
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent = 16;
  static constexpr int max_exponent10 = 4;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr c10::Half min() { return bits(0x0400); }
  static constexpr c10::Half lowest() { return bits(0xfbff); }
  static constexpr c10::Half max() { return bits(0x7bff); }
  static constexpr c10::Half epsilon() { return bits(0x1400); }
  static constexpr c10::Half round_error() { return bits(0x3800); }
  static constexpr c10::Half infinity() { return bits(0x7c00); }
  static constexpr c10::Half quiet_NaN() { return bits(0x7e00); }
  static constexpr c10::Half signaling_NaN() { return bits(0x7d00); }
  static constexpr c10::Half denorm_min() { return bits(0x0001); }

 private:
  static constexpr c10::Half bits(std::uint16_t value) { return {value, c10::Half::from_bits()}; }
};

template <>
struct hash<c10::Half> {
  size_t operator()(c10::Half value) const { return hash<float>()(static_cast<float>(value)); }
};

}  // namespace std
