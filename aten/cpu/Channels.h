// Between planes and pixels, for the kernels that transpose.
#pragma once

#include <aten/cpu/vec/vec_base.h>
#include <c10/util/Macros.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

// Note [Channels]
// Of images, matrices of two to four rows or columns are transposed: the k channels of a pixel lie
// beside each other in one tensor, in planes of their own in the other. A group is as many pixels
// as 16 bytes have elements of a plane, k registers of either tensor. Each register of one is put
// together of all those of the other, with a shuffle for each after the first.

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

template <typename T, int k>
struct Channels {
  static constexpr int kSize = sizeof(T), kLanes = 16 / kSize;
  using Elements [[gnu::vector_size(16)]] = T;

  // Which element of the registers of all planes, one after the other, lane i of register j of the
  // pixels is; and the other way around.
  static constexpr int plane_element(int j, int i) {
    const int element = j * kLanes + i;
    return element % k * kLanes + element / k;
  }
  static constexpr int pixel_element(int j, int i) { return i * k + j; }

  // `made` has what is taken from registers before `part`, at first all of register 0.
  template <int (*kElement)(int, int), int j, int part, int... i>
  OPLOOM_ALWAYS_INLINE static Elements shuffle(Elements made, const Elements (&from)[k],
                                               std::integer_sequence<int, i...> lanes) {
    // -1: anything, since a later part brings it.
    made =
        __builtin_shufflevector(made, from[part],
                                (kElement(j, i) / kLanes == part  ? kLanes + kElement(j, i) % kLanes
                                 : kElement(j, i) / kLanes > part ? -1
                                 : part == 1                      ? kElement(j, i)
                                                                  : i)...);
    if constexpr (part + 1 < k) {
      return shuffle<kElement, j, part + 1>(made, from, lanes);
    } else {
      return made;
    }
  }
  template <int (*kElement)(int, int), int... j>
  OPLOOM_ALWAYS_INLINE static void shuffle(Elements (&to)[k], const Elements (&from)[k],
                                           std::integer_sequence<int, j...>) {
    ((to[j] = shuffle<kElement, j, 1>(from[0], from, std::make_integer_sequence<int, kLanes>())),
     ...);
  }
  static constexpr auto kAll = std::make_integer_sequence<int, k>();

  // Calls f(first of a group) for all of n pixels, no fewer than a group has; the last group has
  // some of the one before again.
  template <typename F>
  OPLOOM_ALWAYS_INLINE static void for_each_group(int64_t n, const F& f) {
    for (int64_t i = 0, next = kLanes;; i = next - kLanes) {
      f(i);
      if (next == n) return;
      next = std::min(next + kLanes, n);
    }
  }

  // Pixels out of planes that are `stride` bytes apart.
  static void merge(char* to, const char* from, int64_t stride, int64_t n) {
    for_each_group(n, [=](int64_t i) OPLOOM_ALWAYS_INLINE_LAMBDA {
      Elements planes[k], pixels[k];
#pragma GCC unroll 4
      for (int j = 0; j < k; ++j) std::memcpy(&planes[j], from + j * stride + i * kSize, 16);
      shuffle<&plane_element>(pixels, planes, kAll);
#pragma GCC unroll 4
      for (int j = 0; j < k; ++j) std::memcpy(to + i * k * kSize + j * 16, &pixels[j], 16);
    });
  }
  // The first `wanted` planes out of pixels.
  static void split(char* to, int64_t stride, const char* from, int64_t wanted, int64_t n) {
    for_each_group(n, [=](int64_t i) OPLOOM_ALWAYS_INLINE_LAMBDA {
      Elements planes[k], pixels[k];
#pragma GCC unroll 4
      for (int j = 0; j < k; ++j) std::memcpy(&pixels[j], from + i * k * kSize + j * 16, 16);
      shuffle<&pixel_element>(planes, pixels, kAll);
#pragma GCC unroll 4
      for (int j = 0; j < k; ++j) {
        if (j < wanted) std::memcpy(to + j * stride + i * kSize, &planes[j], 16);
      }
    });
  }
};

// Moves the first pixels of n between planes and pixels, `pixel` bytes apart; returns how many it
// has moved. f(channels, n) moves them; without gaps, all of a pixel is in the planes.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE int64_t with_channels(int64_t pixel, bool gaps, int64_t n, const F& f) {
  if constexpr (vec::Vec<float>::kInRegister && sizeof(T) <= 4) {  // otherwise nothing is gained
    constexpr int64_t kSize = sizeof(T);
    // Behind the last channel of the last pixel nothing may be read.
    if (gaps) --n;
    if (n < Channels<T, 2>::kLanes) return 0;
    if (pixel == 2 * kSize) return f(Channels<T, 2>(), n), n;
    if (pixel == 3 * kSize) return f(Channels<T, 3>(), n), n;
    if (pixel == 4 * kSize) return f(Channels<T, 4>(), n), n;
  }
  return 0;
}

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::inline oploom_v1::native
