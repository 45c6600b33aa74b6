// Tests of BFloat16: all values, rounding, NaN and limits.
#include <c10/util/BFloat16.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace {

using c10::BFloat16;

float value_of(std::uint32_t bits) { return std::bit_cast<float>(bits << 16); }

TEST(BFloat16, EveryValueConvertsExactly) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const BFloat16 value(static_cast<std::uint16_t>(bits), BFloat16::from_bits());
    const float expected = value_of(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(value)));
      ASSERT_TRUE(std::isnan(static_cast<float>(BFloat16(static_cast<float>(value)))));
    } else {
      ASSERT_EQ(static_cast<float>(value), expected);
      ASSERT_EQ(BFloat16(expected).x, bits);
    }
  }
}

TEST(BFloat16, RoundsToNearestTiesToEven) {
  const auto round = [](std::uint32_t bits) { return BFloat16(std::bit_cast<float>(bits)).x; };
  EXPECT_EQ(round(0x3f808000u), 0x3f80u);  // a tie, even below
  EXPECT_EQ(round(0x3f818000u), 0x3f82u);  // a tie, even above
  EXPECT_EQ(round(0x3f807fffu), 0x3f80u);
  EXPECT_EQ(round(0x3f808001u), 0x3f81u);
  EXPECT_EQ(round(0x00008000u), 0x0000u);  // among subnormals as well
  EXPECT_EQ(round(0x00018000u), 0x0002u);
  EXPECT_EQ(round(0x7f7fffffu), 0x7f80u);  // the largest float rounds to infinity
  EXPECT_EQ(round(0x80000000u), 0x8000u);
  std::mt19937 engine(2);
  for (int i = 0; i < 300000; ++i) {
    const auto bits = static_cast<std::uint32_t>(engine());
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value) || std::isinf(value)) continue;
    const std::uint32_t low = bits >> 16;  // towards zero
    const double below = std::fabs(double(value) - double(value_of(low)));
    const double above = std::isinf(value_of(low + 1))
                             ? std::ldexp(1.0, 128) - std::fabs(double(value))
                             : std::fabs(double(value_of(low + 1)) - double(value));
    const std::uint32_t expected = below < above ? low : above < below ? low + 1 : low + (low & 1u);
    ASSERT_EQ(round(bits), expected) << value;
  }
}

TEST(BFloat16, NaNDoesNotBecomeInfinity) {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xff800001u}) {
    EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(bits)))));
  }
  EXPECT_EQ(BFloat16(INFINITY).x, 0x7f80u);
}

TEST(BFloat16, Limits) {
  using Limits = std::numeric_limits<BFloat16>;
  EXPECT_EQ(static_cast<float>(Limits::max()), 0x1.fep127f);
  EXPECT_EQ(static_cast<float>(Limits::min()), std::ldexp(1.0f, -126));
  EXPECT_EQ(static_cast<float>(Limits::denorm_min()), std::ldexp(1.0f, -133));
  EXPECT_EQ(static_cast<float>(Limits::epsilon()), std::ldexp(1.0f, -7));
}

TEST(BFloat16, Arithmetic) {
  const BFloat16 a = 1.5f;
  EXPECT_EQ(static_cast<float>(a + a * 2), 4.5f);
  // 256 + 1 is a tie between 256 and 258.
  EXPECT_EQ(static_cast<float>(BFloat16(256.0f) + BFloat16(1.0f)), 256.0f);
}

}  // namespace
