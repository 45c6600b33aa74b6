// Philox4x32-10, the counter-based random number generator of Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011). There is no state to carry along: a number is a function
// of the seed, of the offset at which a kernel's numbers begin, and of the element's index. So the
// results are the same for every number of threads, instruction set and device.
//
// Note [Philox counters]
// A kernel that fills n elements calls Generator::next_philox(draws) once, where `draws` is how
// many blocks of numbers each element needs, and gets {seed, offset}. Its element i uses
//   32-bit draws: counter (i / 4, offset), lane i % 4;
//   64-bit draws: counter (i / 2, offset), lanes 2 * (i % 2) (low half) and 2 * (i % 2) + 1 (high);
// the first number being the low, the second the high 64 bits of the counter; further draws of an
// element take offset + 1, offset + 2, ... The key is the seed.
#pragma once

#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <array>
#include <cstdint>

namespace c10::inline oploom_v1 {

struct PhiloxState {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
};

using PhiloxBlock = std::array<std::uint32_t, 4>;

// Forced inline, as every header that kernels include for several instruction sets.
OPLOOM_ALWAYS_INLINE constexpr PhiloxBlock philox4x32(PhiloxBlock counter,
                                                      std::array<std::uint32_t, 2> key) {
  // Multipliers and key increments of the paper (the latter: golden ratio and sqrt(3) - 1).
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  std::uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  std::uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * c0;
    const std::uint64_t product1 = kMultiplier1 * c2;
    const auto high0 = static_cast<std::uint32_t>(product0 >> 32);
    const auto high1 = static_cast<std::uint32_t>(product1 >> 32);
    c0 = high1 ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(product1);
    c2 = high0 ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(product0);
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return {c0, c1, c2, c3};
}

// The block with a 64-bit number in it.
OPLOOM_ALWAYS_INLINE constexpr PhiloxBlock philox_block(PhiloxState state, std::uint64_t block) {
  return philox4x32(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
       static_cast<std::uint32_t>(state.offset), static_cast<std::uint32_t>(state.offset >> 32)},
      {static_cast<std::uint32_t>(state.seed), static_cast<std::uint32_t>(state.seed >> 32)});
}

// The draw of one element, see Note [Philox counters]. Kernels compute whole blocks where they can.
OPLOOM_ALWAYS_INLINE constexpr std::uint32_t philox_uint32(PhiloxState state, std::uint64_t i) {
  return philox_block(state, i / 4)[i % 4];
}
OPLOOM_ALWAYS_INLINE constexpr std::uint64_t philox_uint64(PhiloxState state, std::uint64_t i) {
  const PhiloxBlock block = philox_block(state, i / 2);
  const std::size_t lane = 2 * (i % 2);
  return block[lane] | (static_cast<std::uint64_t>(block[lane + 1]) << 32);
}

// [0, 1), all multiples of 2^-24 equally likely.
OPLOOM_ALWAYS_INLINE constexpr float uint32_to_uniform_float(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}
// [0, 1), all multiples of 2^-53 equally likely.
OPLOOM_ALWAYS_INLINE constexpr double uint64_to_uniform_double(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace c10::inline oploom_v1
