// Tests of Philox4x32-10 against published numbers.
#include <c10/core/Philox.h>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using c10::philox4x32;
using c10::PhiloxBlock;

// Known answers of Random123 1.14.0 (D. E. Shaw Research), file tests/kat_vectors, lines
// "philox4x32 10".
TEST(Philox, KnownAnswersOfRandom123) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, CounterHoldsIndexAndOffsetKeyTheSeed) {
  const c10::PhiloxState state = {0x1122334455667788, 0x99aabbccddeeff00};
  EXPECT_EQ(c10::philox_block(state, 0x0102030405060708),
            philox4x32({0x05060708, 0x01020304, 0xddeeff00, 0x99aabbcc}, {0x55667788, 0x11223344}));
}

TEST(Philox, ElementsTakeTheirLanes) {
  const c10::PhiloxState state = {5, 9};
  for (std::uint64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(c10::philox_uint32(state, i), c10::philox_block(state, i / 4)[i % 4]);
    const PhiloxBlock block = c10::philox_block(state, i / 2);
    const std::uint64_t low = block[i % 2 == 0 ? 0 : 2], high = block[i % 2 == 0 ? 1 : 3];
    EXPECT_EQ(c10::philox_uint64(state, i), low | (high << 32));
  }
}

TEST(Philox, UniformNumbersLieInTheHalfOpenInterval) {
  EXPECT_EQ(c10::uint32_to_uniform_float(0), 0.0f);
  EXPECT_EQ(c10::uint32_to_uniform_float(0xffffffff), 1.0f - 0x1p-24f);
  EXPECT_EQ(c10::uint32_to_uniform_float(0x80000000), 0.5f);
  EXPECT_EQ(c10::uint64_to_uniform_double(0), 0.0);
  EXPECT_EQ(c10::uint64_to_uniform_double(~std::uint64_t{0}), 1.0 - 0x1p-53);
  double sum = 0, square = 0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double u =
        c10::uint32_to_uniform_float(c10::philox_uint32({42, 0}, static_cast<std::uint64_t>(i)));
    sum += u;
    square += u * u;
  }
  EXPECT_NEAR(sum / n, 0.5, 0.005);  // five standard errors
  EXPECT_NEAR(square / n, 1.0 / 3.0, 0.005);
}

}  // namespace
