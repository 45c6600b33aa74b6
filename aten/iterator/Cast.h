// The loops that convert and move elements, as the iterator uses them.
#pragma once

#include <aten/core/Namespace.h>
#include <aten/core/Parallel.h>
#include <aten/core/Processor.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Export.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace at::inline oploom_v1::detail {

// Converts n elements, dst[i * dst_stride] = src[i * src_stride]. Strides count bytes; source and
// destination do not overlap.
using CastLoop = void (*)(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                          int64_t n);

inline constexpr int64_t kLineBytes = 64;  // of the caches

// Whether rows begin where cache lines do.
inline bool at_lines(const void* first, int64_t stride) {
  return (reinterpret_cast<uintptr_t>(first) | static_cast<uintptr_t>(stride)) % kLineBytes == 0;
}

// Rows of several operands, which will be read side by side: `rows` of each, `stride` bytes apart.
struct RowsAhead {
  struct Operand {
    const char* first;
    int64_t stride;
    int64_t bytes;  // of a row
  };
  const Operand* operands = nullptr;
  int64_t count = 0;
  int64_t rows = 0;
};

// Moves the elements of a matrix, to[r * to_stride + c] = from[c * from_stride + r], r < rows,
// c < columns; strides count bytes, r and c elements. `stream`: past the cache where `to` allows.
// Where rows of `from` lie close together, `ahead` may be fetched meanwhile.
struct TransposeLoop {
  void operator()(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t rows,
                  int64_t columns, bool stream, const RowsAhead& ahead = {}) const {
    function(to, to_stride, from, from_stride, rows, columns, stream, ahead);
  }
  void (*function)(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t rows,
                   int64_t columns, bool stream, const RowsAhead& ahead);
};

// Copies bytes: past the cache, after which stream_fence() has to be called, or as memmove() does.
using BytesLoop = void (*)(char* to, const char* from, int64_t bytes);

// Writes `bytes` bytes for each of n elements of `size` bytes, `stride` bytes apart: the element
// again and again. Fills up a vector of kRepeatSlack bytes behind the last one.
inline constexpr int64_t kRepeatSlack = 64;
using RepeatLoop = void (*)(char* to, int64_t bytes, const char* elements, int64_t stride,
                            int64_t size, int64_t n);
// As many are written for loops that read vectors of an element. A vector written in parts could
// not be read before all of them are in the cache.
inline constexpr int64_t kRepeatedBytes = 128;

// Before another thread may read what was written past the cache.
inline void stream_fence() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}

// An output of so many bytes is written past the cache: it has left the cache, or pushed out all
// else, before anybody reads it, and memory need not be read to be overwritten. The last-level
// caches that one core can use have 8 to 32 MiB; what the system says about them is often wrong.
#if defined(__SSE2__)
inline constexpr int64_t kStreamedBytes = 32 << 20;
#else
inline constexpr int64_t kStreamedBytes = INT64_MAX;
#endif

// Defined beside the stubs, which know the instruction set.
// Whether vectors are as long as cache lines.
bool has_line_vectors();
CastLoop get_cast_loop(ScalarType to, ScalarType from);
// The one that moves elements of that size as they are.
OPLOOM_API CastLoop get_move_loop(int64_t element_size);
OPLOOM_API TransposeLoop get_transpose_loop(int64_t element_size);
OPLOOM_API BytesLoop get_stream_loop();
RepeatLoop get_repeat_loop();

// Copies rows, as of slices and of joined tensors, that do not overlap. From 2 KB on, memcpy() of
// glibc 2.36 is one instruction, `rep movsb`, which on a Zen 4 takes 1.4 times as long where both
// places lie differently within cache lines.
OPLOOM_API void copy_row(void* to, const void* from, size_t bytes);
// copy_row() for rows of as many bytes, from one of which to the next it is `to_stride` and
// `from_stride` bytes. Short ones take a fraction of what a call for each takes.
OPLOOM_API void copy_rows(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                          size_t bytes, int64_t rows);

// Rows that an index names: row i has position index[i * step] if that is in [low, high), and is
// left out if not; asked for `ahead` rows before if that is not 0.
struct RowNames {
  const int64_t* index;
  int64_t step;
  int64_t count;
  int64_t low, high;
  int64_t ahead;

  bool has(int64_t position) const {
    return static_cast<uint64_t>(position - low) < static_cast<uint64_t>(high - low);
  }
  // Calls f(row that is named, row) for each that is not left out: the position's of those that
  // begin at `named`, to be written to, and the next of those at `rows`.
  template <typename F>
  OPLOOM_ALWAYS_INLINE void for_each(char* named, int64_t named_stride, const char* rows,
                                     int64_t stride, int64_t bytes, const F& f) const;
};
// copy_rows() where those of `from` are named, by positions from 0 (low) on. False if one would be
// left out: then it is, and those after it.
OPLOOM_API bool copy_named_rows(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                                size_t bytes, const RowNames& names);

// Asks for the lines of `bytes` bytes, or of each element if they are further apart than lines, to
// be brought to the first-level cache (locality 3) or the second-level one (2). Inlined always: a
// call of what does nothing but ask is left out by the compiler.
template <int locality>
OPLOOM_ALWAYS_INLINE void fetch(uintptr_t from, int64_t bytes, int64_t stride) {
  const int64_t step = std::max(stride, kLineBytes);
  for (int64_t i = 0; i < bytes; i += step) {
    __builtin_prefetch(reinterpret_cast<const void*>(from + i), /*write=*/0, locality);
  }
}
OPLOOM_ALWAYS_INLINE void fetch_row(const void* row, int64_t bytes) {
  fetch<3>(reinterpret_cast<uintptr_t>(row), bytes, 0);
}

// Note [Named rows]
// Of rows that an index names in any order the processor sees none coming, so that one is asked for
// so many rows before it is moved: 100,000 rows of 32 floats among a million then take 0.25 of the
// time, 20,000 of 256 among 50,000 half of it, of rows of 2 KB and more, of which the beginning is
// asked for, 0.85 to 1. 0: all there are, of `total_bytes`, are taken to be in a cache.
inline int64_t named_rows_ahead(int64_t row_bytes, int64_t total_bytes) {
  constexpr int64_t kFar = 2 << 20, kBytes = 8192, kFewest = 4, kMost = 32;
  if (total_bytes < kFar) return 0;
  return std::clamp(kBytes / std::max<int64_t>(row_bytes, 1), kFewest, kMost);
}
OPLOOM_ALWAYS_INLINE void fetch_named_row(const void* row, int64_t row_bytes) {
  constexpr int64_t kMost = 2048;
  fetch_row(row, std::min(row_bytes, kMost));
}

template <typename F>
OPLOOM_ALWAYS_INLINE void RowNames::for_each(char* named, int64_t named_stride, const char* rows,
                                             int64_t stride, int64_t bytes, const F& f) const {
  // A copy, which no byte that is written may change.
  const RowNames names = *this;
  const int64_t fetched = names.ahead > 0 ? names.count - names.ahead : 0;
  for (int64_t i = 0; i < names.count; ++i, rows += stride) {
    const int64_t position = names.index[i * names.step];
    if (i < fetched) {
      // Not the rows of another thread.
      const int64_t next = names.index[(i + names.ahead) * names.step];
      if (names.has(next)) fetch_named_row(named + next * named_stride, bytes);
    }
    if (OPLOOM_LIKELY(names.has(position))) f(named + position * named_stride, rows);
  }
}

// Copies what is in the first `bytes` of a block behind it, again and again, up to `total` bytes.
void repeat_block(char* block, int64_t bytes, int64_t total);

// Writes rows of an output of `total` bytes past the cache, if that is one for which kStreamedBytes
// holds. Each thread has its own; all is written when it is destroyed.
class RowStream {
 public:
  explicit RowStream(int64_t total)
      : stream_(total >= kStreamedBytes ? get_stream_loop() : nullptr) {}
  ~RowStream() {
    if (streams()) stream_fence();
  }
  RowStream(const RowStream&) = delete;
  RowStream& operator=(const RowStream&) = delete;

  bool streams() const { return stream_ != nullptr; }
  // Precondition: it streams.
  void operator()(void* to, const void* from, int64_t bytes) const {
    stream_(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  }

 private:
  BytesLoop stream_;
};

// Copies rows into an output of `total` bytes, by a RowStream where that is better.
class RowCopy {
 public:
  explicit RowCopy(int64_t total) : stream_(total) {}

  bool streams(int64_t bytes) const { return stream_.streams() && bytes >= kStreamedRowBytes; }
  void operator()(void* to, const void* from, int64_t bytes) const {
    if (streams(bytes)) {
      near_ ? stream_fetched(to, from, bytes) : stream_(to, from, bytes);
    } else {
      copy_row(to, from, static_cast<size_t>(bytes));
    }
  }

 private:
  static constexpr int64_t kStreamedRowBytes = 1024;  // of shorter ones the ends count too much

  // What is read next is asked for; see fetches_rows_near().
  void stream_fetched(void* to, const void* from, int64_t bytes) const;

  RowStream stream_;
  bool near_ = stream_.streams() && fetches_rows_near();
};

// Bytes of dense copies that each thread is to have: as many as of float32 in an update.
inline constexpr int64_t kCopyGrain = 4 * at::kUpdateGrain;
// Copies bytes that lie densely in both places, a part of an output of `total` bytes, on several
// threads.
void copy_bytes(void* to, const void* from, int64_t bytes, int64_t total);

}  // namespace at::inline oploom_v1::detail
