// Rows of large tensors, for kernels that know what they read and write next.
#pragma once

#include <aten/iterator/Cast.h>
#include <c10/util/Macros.h>

#include <algorithm>
#include <cstdint>

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

// Asks for the lines of n elements from place `first` on, which need not exist. The processor
// itself sees only long rows coming; and it waits if it is asked for much at once: fetch a few
// lines with each step. They come to the second-level cache. The first-level one has few requests
// open at a time, and loads need them: fetched into that, sums of 64 MB took 1.3 times as long,
// those of transposed tensors 1.5 times (Zen 4).
template <typename T>
OPLOOM_ALWAYS_INLINE void fetch(const T* row, int64_t first, int64_t n) {
  const auto place = reinterpret_cast<uintptr_t>(row) + static_cast<uintptr_t>(first) * sizeof(T);
  for (uintptr_t i = 0; i < static_cast<uintptr_t>(n) * sizeof(T); i += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(place + i), /*write=*/0,
                       /*locality=*/2);
  }
}

// Writes rows of an output of `numel` elements, by a RowStream where that is better.
template <typename T>
class RowWriter {
 public:
  explicit RowWriter(int64_t numel) : stream_(numel * kSize) {}

  bool streams() const { return stream_.streams(); }

  // If it streams: writes n elements that were computed elsewhere.
  void copy(T* y, const T* from, int64_t n) const { stream_(y, from, n * kSize); }

  // compute(T* to, int64_t first, int64_t count) computes `count` elements of the row from `first`
  // on, all of them where the row lies or some of them in a buffer.
  template <typename F>
  void write(T* y, int64_t n, const F& compute) const {
    constexpr int64_t kPiece = 2048 / kSize;
    if (!streams()) return compute(y, 0, n);
    alignas(64) T piece[kPiece];
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t count = std::min(kPiece, n - i);
      compute(piece, i, count);
      copy(y + i, piece, count);
    }
  }

 private:
  static constexpr int64_t kSize = sizeof(T);
  at::detail::RowStream stream_;
};

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
