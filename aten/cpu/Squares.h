// Transposing small matrices in registers, for the kernels that do so on their way.
#pragma once

#include <aten/cpu/vec/vec_base.h>
#include <aten/iterator/Cast.h>
#include <c10/util/Macros.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

// Note [Squares in registers]
// A matrix is transposed in squares whose rows are one register each, sixteen at most. Where rows
// lie a power of two apart, the cache has room for some eight lines of a column; registers hold the
// others, so that each line is read once and written once. A register consists of lanes of 16
// bytes: elements are first transposed within lanes, in groups of as many rows as a lane has
// elements, by interleaving registers; then the lanes are, by picking the even and the odd ones.

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
constexpr int kRegisterBytes = vec::kVecBytes;
#else
constexpr int kRegisterBytes = 16;
#endif
using at::detail::at_lines;
using at::detail::kLineBytes;

// A line, past the cache.
OPLOOM_ALWAYS_INLINE void stream_line(char* to, const char* from) {
#if defined(CPU_CAPABILITY_AVX512)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(CPU_CAPABILITY_AVX2)
  for (int64_t i = 0; i < kLineBytes; i += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
  }
#elif defined(__SSE2__)
  for (int64_t i = 0; i < kLineBytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
#else
  std::memcpy(to, from, kLineBytes);
#endif
}

template <typename T, int kMostBytes = kRegisterBytes>
struct Square {
  // Of an element of 16 bytes, a lane has the halves.
  using Part = std::conditional_t<sizeof(T) == 16, uint64_t, T>;
  static constexpr int kBytes = std::min<int>(kMostBytes, 16 * sizeof(T));
  static constexpr int kRows = kBytes / sizeof(T);
  static constexpr int kLaneElements = 16 / sizeof(T);
  static constexpr int kLanes = kBytes / 16;
  using Elements [[gnu::vector_size(kBytes)]] = Part;
  using Halves [[gnu::vector_size(kBytes)]] = uint64_t;

  // The lower or upper halves of each lane of a and b, interleaved.
  template <bool kUpper, size_t... I>
  static Elements interleave(Elements a, Elements b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b,
                                   (I % 2 * kRows + I / kLaneElements * kLaneElements +
                                    (kUpper ? kLaneElements / 2 : 0) + I % kLaneElements / 2)...);
  }
  // The even or odd lanes of a and then of b.
  template <bool kOdd, size_t... I>
  static Elements lanes(Elements a, Elements b, std::index_sequence<I...>) {
    const Halves result =
        __builtin_shufflevector(reinterpret_cast<Halves>(a), reinterpret_cast<Halves>(b),
                                (I / 2 * 4 + (kOdd ? 2 : 0) + I % 2)...);
    return reinterpret_cast<Elements>(result);
  }

  OPLOOM_ALWAYS_INLINE static void transpose(Elements (&row)[kRows]) {
    Elements next[kRows];
    if constexpr (kLaneElements > 1) {
      constexpr int kHalf = kLaneElements / 2;
#pragma GCC unroll 16
      for (int step = 1; step < kLaneElements; step *= 2) {
#pragma GCC unroll 16
        for (int i = 0; i < kRows / 2; ++i) {
          const int first = i / kHalf * kLaneElements + i % kHalf;
          constexpr auto all = std::make_index_sequence<kRows>();
          next[2 * i] = interleave<false>(row[first], row[first + kHalf], all);
          next[2 * i + 1] = interleave<true>(row[first], row[first + kHalf], all);
        }
        std::copy_n(next, kRows, row);
      }
    }
#pragma GCC unroll 16
    for (int step = 1; step < kLanes; step *= 2) {
#pragma GCC unroll 16
      for (int i = 0; i < kRows / 2; ++i) {
        const int pair = i / kLaneElements, column = i % kLaneElements;
        const Elements a = row[2 * pair * kLaneElements + column];
        const Elements b = row[(2 * pair + 1) * kLaneElements + column];
        constexpr auto all = std::make_index_sequence<kBytes / 8>();
        next[i] = lanes<false>(a, b, all);
        next[i + kRows / 2] = lanes<true>(a, b, all);
      }
      std::copy_n(next, kRows, row);
    }
  }

  template <bool kStream>
  static void transpose(char* to, int64_t to_stride, const char* from, int64_t from_stride) {
    Elements row[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) std::memcpy(&row[i], from + i * from_stride, kBytes);
    transpose(row);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      if constexpr (kStream) {
        stream_line(to + i * to_stride, reinterpret_cast<const char*>(&row[i]));
      } else {
        std::memcpy(to + i * to_stride, &row[i], kBytes);
      }
    }
  }
};

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::inline oploom_v1::native
