// Looking at indices before they are used, and at masks, to make indices of them; shuffles of short
// rows.
#include <aten/cpu/Loops.h>
#include <aten/stubs/Indexing.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

bool in_bounds_kernel(const int64_t* index, int64_t n, int64_t lowest, int64_t size) {
  // The sign bits of the distances to both bounds, instead of comparisons. Where one distance wraps
  // around, the other one has its sign.
  uint64_t outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<uint64_t>(index[i]);
    outside |= (value - static_cast<uint64_t>(lowest)) | (static_cast<uint64_t>(size - 1) - value);
  }
  return outside >> 63 == 0;
}

int64_t count_set_kernel(const uint8_t* flags, int64_t n) {
  int64_t count = 0;
  // Sums of so few fit into the bytes that vector instructions have most of.
  constexpr int64_t kBlock = 255;
  for (int64_t i = 0; i < n; i += kBlock) {
    uint8_t sum = 0;
    const int64_t end = std::min(n, i + kBlock);
    for (int64_t j = i; j < end; ++j) sum = static_cast<uint8_t>(sum + (flags[j] != 0));
    count += sum;
  }
  return count;
}

// For every combination of 8 flags, first the places of those that are set.
struct PlacesOfFlags {
  constexpr PlacesOfFlags() {
    for (int flags = 0; flags < 256; ++flags) {
      int count = 0;
      for (uint8_t i = 0; i < 8; ++i) {
        if (flags >> i & 1) places[flags][count++] = i;
      }
    }
  }
  uint8_t places[256][8] = {};
};
constexpr PlacesOfFlags kPlaces;

int64_t find_set_kernel(const uint8_t* flags, int64_t n, int32_t* places) {
  constexpr int64_t kStep = 8;
  int64_t count = 0;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    uint64_t bytes;
    std::memcpy(&bytes, flags + i, sizeof(bytes));
    if (bytes == 0) continue;
    // The highest bit of each byte that is not 0, then these bits beside each other.
    constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
    bytes = (bytes | ((bytes & kLow) + kLow)) & ~kLow;
    const auto bits = static_cast<uint8_t>(((bytes >> 7) * 0x0102040810204080) >> 56);
    // Places behind the last one are overwritten by the next.
    for (int64_t j = 0; j < kStep; ++j) {
      places[count + j] = static_cast<int32_t>(i) + kPlaces.places[bits][j];
    }
    count += std::popcount(bits);
  }
  for (; i < n; ++i) {
    places[count] = static_cast<int32_t>(i);
    count += flags[i] != 0;
  }
  return count;
}

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
struct NarrowShuffle {
  using V = __m128i;
  static constexpr int32_t kUnit = 1;
  static V apply(V row, V order) { return _mm_shuffle_epi8(row, order); }
};
#if defined(CPU_CAPABILITY_AVX512)
struct WideShuffle {
  using V = __m512i;
  static constexpr int32_t kUnit = 2;
  static V apply(V row, V order) { return _mm512_permutexvar_epi16(order, row); }
};
#else
struct WideShuffle {
  using V = __m256i;
  static constexpr int32_t kUnit = 4;
  static V apply(V row, V order) { return _mm256_permutevar8x32_epi32(row, order); }
};
#endif

template <typename Shuffle>
void shuffle_vectors(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t steps,
                     const char* order) {
  typename Shuffle::V row, places;
  std::memcpy(&places, order, sizeof(places));
  for (; steps > 0; --steps, to += to_step, from += from_step) {
    std::memcpy(&row, from, sizeof(row));
    row = Shuffle::apply(row, places);
    std::memcpy(to, &row, sizeof(row));
  }
}

template <typename Shuffle>
RowShuffle row_shuffle() {
  return {sizeof(typename Shuffle::V), Shuffle::kUnit, &shuffle_vectors<Shuffle>};
}

RowShuffle row_shuffle_kernel(int64_t size) {
  if (size > 8) return {};
  return size >= WideShuffle::kUnit ? row_shuffle<WideShuffle>() : row_shuffle<NarrowShuffle>();
}
#else
RowShuffle row_shuffle_kernel(int64_t) { return {}; }
#endif

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(in_bounds_stub, &in_bounds_kernel);
OPLOOM_REGISTER_DISPATCH(count_set_stub, &count_set_kernel);
OPLOOM_REGISTER_DISPATCH(find_set_stub, &find_set_kernel);
OPLOOM_REGISTER_DISPATCH(row_shuffle_stub, &row_shuffle_kernel);

}  // namespace at::inline oploom_v1::native
