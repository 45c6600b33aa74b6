// Tests of Half: all values, and rounding against an oracle that searches the nearest value.
#include <c10/util/Half.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using c10::Half;

Half from_bits(unsigned bits) { return {static_cast<std::uint16_t>(bits), Half::from_bits()}; }

// The value by the definition of binary16.
double value_of(unsigned bits) {
  const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
  const int exponent = static_cast<int>((bits >> 10) & 31u);
  const int fraction = static_cast<int>(bits & 1023u);
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// Round to nearest, ties to even, by searching the two neighbours among all positive values.
unsigned nearest_bits(float value) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude >= 65520.0) return sign | 0x7c00u;  // halfway between the largest and 2^16
  unsigned low = 0, high = 0x7c00u;                 // value_of(low) <= magnitude < "value_of(high)"
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (value_of(middle) <= magnitude ? low : high) = middle;
  }
  if (high == 0x7c00u) return sign | low;
  const double below = magnitude - value_of(low), above = value_of(high) - magnitude;
  if (below < above) return sign | low;
  if (above < below) return sign | high;
  return sign | ((low & 1u) == 0 ? low : high);
}

TEST(Half, EveryValueConvertsExactly) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double expected = value_of(bits);
    const float direct = from_bits(bits);
    const float portable =
        c10::detail::fp16_bits_to_fp32_portable(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(direct) && std::isnan(portable)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(direct), expected) << bits;
      ASSERT_EQ(static_cast<double>(portable), expected) << bits;
      ASSERT_EQ(std::signbit(direct), (bits & 0x8000u) != 0) << bits;
      ASSERT_EQ(Half(direct).x, bits);
      ASSERT_EQ(c10::detail::fp16_bits_from_fp32_portable(direct), bits);
    }
  }
}

void check_rounding(float value) {
  const unsigned expected = nearest_bits(value);
  ASSERT_EQ(Half(value).x, expected) << value;
  ASSERT_EQ(c10::detail::fp16_bits_from_fp32_portable(value), expected) << value;
}

TEST(Half, RoundsHalfwayCasesToEven) {
  // Every midpoint between neighbours, exactly and one float to either side.
  for (unsigned bits = 0; bits < 0x7bffu; ++bits) {
    const auto middle = static_cast<float>((value_of(bits) + value_of(bits + 1)) / 2);
    for (const float value : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)}) {
      check_rounding(value);
      check_rounding(-value);
    }
  }
}

TEST(Half, RoundsRandomFloats) {
  std::mt19937 engine(1);
  for (int i = 0; i < 300000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
    if (!std::isnan(value)) check_rounding(value);
  }
}

TEST(Half, NaNStaysNaNAndInfinityInfinity) {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0xff801000u, 0x7fffffffu}) {
    const auto nan = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(static_cast<float>(Half(nan)))) << bits;
    EXPECT_TRUE(
        std::isnan(static_cast<float>(from_bits(c10::detail::fp16_bits_from_fp32_portable(nan)))))
        << bits;
  }
  EXPECT_EQ(Half(INFINITY).x, 0x7c00);
  EXPECT_EQ(Half(-INFINITY).x, 0xfc00);
  EXPECT_EQ(Half(65519.0f).x, 0x7bff);
  EXPECT_EQ(Half(65520.0f).x, 0x7c00);
}

TEST(Half, ArithmeticAndMixedTypes) {
  const Half a = 1.5f, b = 2.25f;
  EXPECT_EQ(static_cast<float>(a + b), 3.75f);
  EXPECT_EQ(static_cast<float>(a * b), 3.375f);
  EXPECT_EQ(static_cast<float>(-a), -1.5f);
  EXPECT_TRUE((std::is_same_v<decltype(a + 1), Half>));
  EXPECT_TRUE((std::is_same_v<decltype(a + 1.0f), float>));
  EXPECT_TRUE((std::is_same_v<decltype(1.0 * a), double>));
  EXPECT_TRUE(a < b && a != b && a == Half(1.5f));
  Half c = a;
  c /= Half(0.5f);
  EXPECT_EQ(static_cast<float>(c), 3.0f);
}

TEST(Half, Limits) {
  using Limits = std::numeric_limits<Half>;
  EXPECT_EQ(static_cast<float>(Limits::max()), 65504.0f);
  EXPECT_EQ(static_cast<float>(Limits::lowest()), -65504.0f);
  EXPECT_EQ(static_cast<float>(Limits::min()), std::ldexp(1.0f, -14));
  EXPECT_EQ(static_cast<float>(Limits::denorm_min()), std::ldexp(1.0f, -24));
  EXPECT_EQ(static_cast<float>(Limits::epsilon()), std::ldexp(1.0f, -10));
  EXPECT_TRUE(std::isnan(static_cast<float>(Limits::quiet_NaN())));
  EXPECT_TRUE(std::isinf(static_cast<float>(Limits::infinity())));
}

}  // namespace
