// Connects the iterator with the loops of the chosen instruction set.
#include <aten/core/Parallel.h>
#include <aten/iterator/Cast.h>
#include <aten/stubs/Copy.h>
#include <c10/util/Macros.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace at::inline oploom_v1::detail {

CastLoop get_cast_loop(ScalarType to, ScalarType from) {
  return native::cast_loop_stub(DeviceType::CPU, to, from);
}

CastLoop get_move_loop(int64_t element_size) {
  return native::move_loop_stub(DeviceType::CPU, element_size);
}

TransposeLoop get_transpose_loop(int64_t element_size) {
  return native::transpose_loop_stub(DeviceType::CPU, element_size);
}

BytesLoop get_stream_loop() { return native::stream_row_stub.get(DeviceType::CPU); }
RepeatLoop get_repeat_loop() { return native::repeat_stub.get(DeviceType::CPU); }

namespace {

// The first bytes and the last ones, as many as a T has; they may overlap.
template <typename T>
OPLOOM_ALWAYS_INLINE void copy_ends(char* to, const char* from, size_t bytes) {
  T first, last;
  std::memcpy(&first, from, sizeof(T));
  std::memcpy(&last, from + bytes - sizeof(T), sizeof(T));
  std::memcpy(to, &first, sizeof(T));
  std::memcpy(to + bytes - sizeof(T), &last, sizeof(T));
}

typedef char Part __attribute__((vector_size(16)));
struct Pair {
  Part parts[2];
};

// Calls f(function that copies a row of `bytes` bytes).
template <typename F>
OPLOOM_ALWAYS_INLINE void with_row_copy(size_t bytes, const F& f) {
  const auto ends = [&]<typename T>(T) {
    f([bytes](char* to, const char* from)
          OPLOOM_ALWAYS_INLINE_LAMBDA { copy_ends<T>(to, from, bytes); });
  };
  if (bytes > 2 * sizeof(Pair)) {
    return f([bytes](char* to, const char* from) {
      native::copy_row_stub(DeviceType::CPU, to, from, static_cast<int64_t>(bytes));
    });
  }
  if (bytes > sizeof(Pair)) return ends(Pair());
  if (bytes >= sizeof(Part)) return ends(Part());
  if (bytes >= sizeof(uint64_t)) return ends(uint64_t());
  if (bytes >= sizeof(uint32_t)) return ends(uint32_t());
  f([bytes](char* to, const char* from) {
    for (size_t i = 0; i < bytes; ++i) to[i] = from[i];
  });
}

// The same for many rows.
template <typename F>
OPLOOM_ALWAYS_INLINE void with_rows_copy(size_t bytes, const F& f) {
  // A call takes as long as so many bytes do.
  constexpr size_t kCall = 512;
  if (bytes <= 2 * sizeof(Pair) || bytes > kCall) return with_row_copy(bytes, f);
  f([last = bytes - sizeof(Pair)](char* to, const char* from) {
    for (size_t i = 0; i < last; i += sizeof(Pair)) std::memcpy(to + i, from + i, sizeof(Pair));
    std::memcpy(to + last, from + last, sizeof(Pair));
  });
}

}  // namespace

void copy_row(void* to, const void* from, size_t bytes) {
  with_row_copy(bytes, [=](const auto& copy) {
    copy(static_cast<char*>(to), static_cast<const char*>(from));
  });
}

void copy_rows(char* to, int64_t to_stride, const char* from, int64_t from_stride, size_t bytes,
               int64_t rows) {
  // Rows that might be elements are moved as such, many together where one is another's neighbour.
  if (bytes <= 8 && std::has_single_bit(bytes)) {
    const uintptr_t places = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) |
                             static_cast<uintptr_t>(to_stride) |
                             static_cast<uintptr_t>(from_stride);
    if (places % bytes == 0) {
      return get_move_loop(static_cast<int64_t>(bytes))(to, to_stride, from, from_stride, rows);
    }
  }
  with_rows_copy(bytes, [&](const auto& copy) {
    for (int64_t r = 0; r < rows; ++r, to += to_stride, from += from_stride) copy(to, from);
  });
}

bool copy_named_rows(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                     size_t bytes, const int64_t* index, int64_t index_step, int64_t size,
                     int64_t rows, int64_t ahead) {
  const int64_t fetched = ahead > 0 ? rows - ahead : 0;
  int64_t r = 0;
  with_rows_copy(bytes, [&](const auto& copy) {
    for (; r < rows; ++r, to += to_stride) {
      const int64_t place = index[r * index_step];
      if (static_cast<uint64_t>(place) >= static_cast<uint64_t>(size)) return;
      if (r < fetched) {
        const int64_t next = index[(r + ahead) * index_step];
        fetch_named_row(from + next * from_stride, static_cast<int64_t>(bytes));
      }
      copy(to, from + place * from_stride);
    }
  });
  return r == rows;
}

void repeat_block(char* block, int64_t bytes, int64_t total) {
  for (; bytes < total; bytes *= 2) {
    copy_row(block + bytes, block, static_cast<size_t>(std::min(bytes, total - bytes)));
  }
}

void RowCopy::stream_fetched(void* to, const void* from, int64_t bytes) const {
  constexpr int64_t kPiece = 512, kAhead = 1024;
  // Pieces but the first begin at lines.
  int64_t piece = kPiece - static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes);
  for (int64_t i = 0; i < bytes; i += piece, piece = kPiece) {
    piece = std::min(piece, bytes - i);
    const int64_t next = std::min(i + kAhead, bytes);
    fetch_row(static_cast<const char*>(from) + next, std::min(piece, bytes - next));
    stream_(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, piece);
  }
}

void copy_bytes(void* to, const void* from, int64_t bytes, int64_t total) {
  at::parallel_for(0, bytes, kUnsharedBytes, [&](int64_t begin, int64_t end) {
    const RowCopy copy(total);
    copy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

}  // namespace at::inline oploom_v1::detail
