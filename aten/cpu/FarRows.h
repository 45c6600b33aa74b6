// Rows of large tensors, for kernels that know what they read and write next.
#pragma once

#include <aten/iterator/Cast.h>
#include <c10/util/Macros.h>

#include <algorithm>
#include <cstdint>

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

// Asks for the lines of n elements from place `first` on, which need not exist. The processor
// itself sees only long rows coming; and it waits if it is asked for much at once: fetch a few
// lines with each step.
template <typename T>
OPLOOM_ALWAYS_INLINE void fetch(const T* row, int64_t first, int64_t n) {
  const auto place = reinterpret_cast<uintptr_t>(row) + static_cast<uintptr_t>(first) * sizeof(T);
  for (uintptr_t i = 0; i < static_cast<uintptr_t>(n) * sizeof(T); i += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(place + i));
  }
}

// Writes rows of an output of `numel` elements, past the cache if that is one for which
// kStreamedBytes in Cast.h holds. Each thread has its own; all is written when it is destroyed.
template <typename T>
class RowWriter {
 public:
  explicit RowWriter(int64_t numel)
      : stream_(numel * kSize >= at::detail::kStreamedBytes ? at::detail::get_stream_loop()
                                                            : nullptr) {}
  ~RowWriter() {
    if (stream_ != nullptr) at::detail::stream_fence();
  }
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  bool streams() const { return stream_ != nullptr; }

  // If it streams: writes n elements that were computed elsewhere.
  void copy(T* y, const T* from, int64_t n) const {
    stream_(reinterpret_cast<char*>(y), reinterpret_cast<const char*>(from), n * kSize);
  }

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
  at::detail::BytesLoop stream_;
};

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
