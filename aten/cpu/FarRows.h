// Rows of large tensors, for kernels that know what they read and write next.
#pragma once

#include <aten/core/Processor.h>
#include <aten/iterator/Cast.h>
#include <aten/stubs/Reduction.h>
#include <c10/util/Macros.h>

#include <algorithm>
#include <cstdint>

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

// Asks for the lines of n elements from place `first` on, which need not exist. The processor
// itself sees only long rows coming; and it waits if it is asked for much at once: fetch a few
// lines with each step. They come to the second-level cache. The first-level one has few requests
// open at a time, and loads need them: fetched into that, sums of 64 MB took 1.3 times as long,
// those of transposed tensors 1.5 times (Zen 4). With `locality` 3 they do come to that, for
// processors that want it so: see Note [Near fetches].
template <int locality = 2, typename T>
OPLOOM_ALWAYS_INLINE void fetch(const T* row, int64_t first, int64_t n) {
  const auto place = reinterpret_cast<uintptr_t>(row) + static_cast<uintptr_t>(first) * sizeof(T);
  for (uintptr_t i = 0; i < static_cast<uintptr_t>(n) * sizeof(T); i += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(place + i), /*write=*/0, locality);
  }
}

// A value that is asked for where it stands: of a loop with a test of it there are not two.
template <typename T>
OPLOOM_ALWAYS_INLINE T asked_here(T value) {
  asm("" : "+r"(value));
  return value;
}

// Near and spread fetches: the processors that want them have these instructions.
#if defined(CPU_CAPABILITY_AVX512)
inline constexpr bool kNearFetches = true, kSpreadFetches = false;
#elif defined(CPU_CAPABILITY_AVX2)
inline constexpr bool kNearFetches = false, kSpreadFetches = true;
#else
inline constexpr bool kNearFetches = false, kSpreadFetches = false;
#endif
inline constexpr Fetches kFetches = {kNearFetches, kSpreadFetches};

// Asks for n elements so many bytes ahead of p.
template <Ahead ahead, typename In>
OPLOOM_ALWAYS_INLINE void fetch_at(const In* p, int64_t n) {
  fetch<ahead == Ahead::Near ? 3 : 2>(p, static_cast<int64_t>(ahead) / int64_t{sizeof(In)}, n);
}
// Asks for what Note [Spread fetches] says where n elements from p on are read. One place is
// computed for four lines where the steps of a loop have no others.
template <typename In>
OPLOOM_ALWAYS_INLINE void fetch_spread(const In* p, int64_t n) {
  constexpr uintptr_t kLine = 64, kParts = at::detail::kSpreadParts;
  const auto place = reinterpret_cast<uintptr_t>(p);
  const auto bytes = static_cast<uintptr_t>(n) * sizeof(In);
  const bool of_each = bytes % (kParts * kLine) == 0;  // as many lines of each part
  for (uintptr_t i = 0; i < bytes; i += of_each ? kParts * kLine : kLine) {
    const uintptr_t from = at::detail::spread_from(
        of_each ? (place + i) / (kParts * kLine) * (kParts * kLine) : place + i);
    for (uintptr_t part = 0; part < (of_each ? kParts : 1); ++part) {
      fetch(reinterpret_cast<const char*>(from + part * (at::detail::kSpreadBytes / kParts)), 0, 1);
    }
  }
}
template <typename In>
OPLOOM_ALWAYS_INLINE void fetch_behind(const In* p, int64_t n, Ahead ahead) {
  ahead = asked_here(ahead);
  if (kNearFetches && ahead == Ahead::Near) [[likely]] {
    fetch_at<Ahead::Near>(p, n);
  } else if (kSpreadFetches && ahead == Ahead::Spread) {
    fetch_spread(p, n);
  } else if (ahead != Ahead::None) {
    fetch_at<Ahead::Far>(p, n);
  }
}

// Writes rows of an output of `numel` elements, by a RowStream where that is better.
template <typename T>
class RowWriter {
 public:
  explicit RowWriter(int64_t numel) : stream_(numel * kSize) {}

  bool streams() const { return stream_.streams(); }
  // Whether the processor wants near fetches of what is read beside it.
  bool fetches_near() const { return near_; }

  // Asks for n elements from place `first` on that will be read for a later row.
  OPLOOM_ALWAYS_INLINE void fetch_ahead(const T* row, int64_t first, int64_t n) const {
    if (near_) {
      fetch<3>(row, first, n);
    } else {
      fetch<2>(row, first, n);
    }
  }

  // If it streams: writes n elements that were computed elsewhere.
  void copy(T* y, const T* from, int64_t n) const { stream_(y, from, n * kSize); }

  // compute(T* to, int64_t first, int64_t count) computes `count` elements of the row from `first`
  // on, all of them where the row lies or some of them in a buffer.
  template <typename F>
  void write(T* y, int64_t n, const F& compute) const {
    constexpr int64_t kMost = 2048 / kSize, kNear = 512 / kSize;
    if (!streams()) return compute(y, 0, n);
    alignas(64) T piece[kMost];
    const int64_t most = near_ ? kNear : kMost;
    for (int64_t i = 0; i < n; i += most) {
      const int64_t count = std::min(most, n - i);
      compute(piece, i, count);
      copy(y + i, piece, count);
    }
  }

 private:
  static constexpr int64_t kSize = sizeof(T);
  at::detail::RowStream stream_;
  bool near_ = stream_.streams() && at::detail::fetches_rows_near();
};

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
