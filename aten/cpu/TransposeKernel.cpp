// Transposing matrices, and writing what is not to be kept in the cache.
#include <aten/core/OpaqueType.h>
#include <aten/cpu/FarRows.h>
#include <aten/cpu/Squares.h>
#include <aten/stubs/Copy.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

using at::detail::RowsAhead;

void stream_row(char* to, const char* from, int64_t bytes) {
  const auto past_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes);
  const int64_t head = past_line == 0 ? 0 : std::min(bytes, kLineBytes - past_line);
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + kLineBytes <= bytes; i += kLineBytes) stream_line(to + i, from + i);
  std::memcpy(to + i, from + i, static_cast<size_t>(bytes - i));
}

// What does not fill a square.
template <typename T>
void transpose_rest(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                    int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    T* target = reinterpret_cast<T*>(to + r * to_stride);
    const char* source = from + r * static_cast<int64_t>(sizeof(T));
    for (int64_t c = 0; c < columns; ++c) {
      target[c] = *reinterpret_cast<const T*>(source + c * from_stride);
    }
  }
}

// A block that is one line wide and high at most.
template <typename T>
void transpose_block(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                     int64_t rows, int64_t columns) {
  constexpr int64_t kSide = Square<T>::kRows, kSize = sizeof(T), kLine = kLineBytes / kSize;
  const bool whole = rows == kLine && columns == kLine;
  for (int64_t c = 0; c < (whole ? kLine : columns); c += kSide) {
    for (int64_t r = 0; r < (whole ? kLine : rows); r += kSide) {
      char* target = to + r * to_stride + c * kSize;
      const char* source = from + c * from_stride + r * kSize;
      if (whole || (r + kSide <= rows && c + kSide <= columns)) {
        Square<T>::template transpose<false>(target, to_stride, source, from_stride);
      } else {
        transpose_rest<T>(target, to_stride, source, from_stride, std::min(kSide, rows - r),
                          std::min(kSide, columns - c));
      }
    }
  }
}

// Asks for rows that come next, a few lines with each of `steps` steps: a row of each operand by
// turns. Not inlined: there is one for elements of every size.
class RowFetcher {
 public:
  OPLOOM_NOINLINE RowFetcher(const RowsAhead& ahead, int64_t steps) : ahead_(ahead) {
    int64_t lines = 0;
    for (int64_t k = 0; k < ahead.count; ++k) {
      lines += (ahead.operands[k].bytes + kLineBytes - 1) / kLineBytes;
    }
    if (lines > 0) share_ = (lines * ahead.rows + steps - 1) / steps;  // a division takes long
  }
  OPLOOM_NOINLINE void fetch_share() {
    for (int64_t i = 0; i < share_ && row_ < ahead_.rows; ++i) {
      const RowsAhead::Operand& operand = ahead_.operands[k_];
      fetch(operand.first + row_ * operand.stride + offset_, 0, 1);
      offset_ += kLineBytes;
      if (offset_ < operand.bytes) continue;
      offset_ = 0;
      if (++k_ < ahead_.count) continue;
      k_ = 0;
      ++row_;
    }
  }

 private:
  const RowsAhead& ahead_;
  int64_t share_ = 0;
  // What is next.
  int64_t row_ = 0;
  int64_t k_ = 0;
  int64_t offset_ = 0;
};

// From a buffer past the cache, by rows of `to`: a few columns are transposed to a second buffer,
// which the first-level cache holds.
template <typename T>
void stream_columns(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                    int64_t rows, int64_t columns, const RowsAhead& ahead) {
  constexpr int64_t kSize = sizeof(T), kLine = kLineBytes / kSize;
  constexpr int64_t kWidth = 256, kPitch = kWidth + kLineBytes;
  alignas(kLineBytes) char lines[kLine * kPitch];
  RowFetcher fetcher(ahead, rows * ((columns * kSize + kWidth - 1) / kWidth));
  for (int64_t c0 = 0; c0 < columns; c0 += kWidth / kSize) {
    const int64_t c1 = std::min(c0 + kWidth / kSize, columns);
    for (int64_t r0 = 0; r0 < rows; r0 += kLine) {
      const int64_t high = std::min(kLine, rows - r0);
      for (int64_t c = c0; c < c1; c += kLine) {
        transpose_block<T>(lines + (c - c0) * kSize, kPitch, from + c * from_stride + r0 * kSize,
                           from_stride, high, std::min(kLine, c1 - c));
      }
      for (int64_t r = 0; r < high; ++r) {
        fetcher.fetch_share();
        stream_row(to + (r0 + r) * to_stride + c0 * kSize, lines + r * kPitch, (c1 - c0) * kSize);
      }
    }
  }
}

// Memory gives long runs faster than lines far apart, and both reads and writes if they alternate.
// Where the rows of `from` are far apart, a tile of a few of them is transposed block by block, and
// with each block as many lines are fetched of the tile that comes next, row after row of it. The
// tiles follow the rows of `from`; what is written past the cache may be two lines at a time. Where
// the rows of `to` are far apart, several lines of each are written one after the other; where both
// are, this is for what goes to the cache.
template <typename T>
void transpose(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t rows,
               int64_t columns, bool stream, const RowsAhead& ahead) {
  constexpr int64_t kSize = sizeof(T), kLine = kLineBytes / kSize;
  // At most the distance of the rows of a buffer.
  constexpr int64_t kPitchBytes = 2048;
  const bool in_buffer = std::abs(from_stride) <= kPitchBytes;
  // Lines that are written past the cache from a square have to be written at once.
  const bool whole_lines = at_lines(to, to_stride);
  if (stream && in_buffer && at::detail::fetches_near() &&
      !(whole_lines && at::detail::fetches_rows_near())) {
    stream_columns<T>(to, to_stride, from, from_stride, rows, columns, ahead);
    return at::detail::stream_fence();
  }
  stream = stream && whole_lines;
  // Two copies of it would bring nothing.
  const auto move = [&](int64_t r, int64_t c) __attribute__((noinline)) {
    char* target = to + r * to_stride + c * kSize;
    const char* source = from + c * from_stride + r * kSize;
    const int64_t high = std::min(kLine, rows - r), wide = std::min(kLine, columns - c);
    if (!stream || high < kLine || wide < kLine) {
      transpose_block<T>(target, to_stride, source, from_stride, high, wide);
    } else if constexpr (Square<T>::kBytes == kLineBytes) {
      Square<T>::template transpose<true>(target, to_stride, source, from_stride);
    } else {
      alignas(kLineBytes) char lines[kLine * kLineBytes];
      transpose_block<T>(lines, kLineBytes, source, from_stride, high, wide);
      for (int64_t i = 0; i < kLine; ++i) {
        stream_line(target + i * to_stride, lines + i * kLineBytes);
      }
    }
  };
  if (!in_buffer && (stream || to_stride <= kPitchBytes)) {
    // The sides of a tile: lines of a row, and rows. Of rows a multiple of 16 KiB apart, the
    // second-level cache holds 64 lines of a column, and the next tile's have to be among them;
    // but what has few columns is written at once.
    const bool few = columns <= 64;
    const int64_t tile = few ? 64 : std::max<int64_t>(kLine, 32);
    const int64_t run = std::min(512 / tile, (rows + kLine - 1) / kLine), high = run * kLine;
    for (int64_t c0 = 0; c0 < columns; c0 += tile) {
      for (int64_t r0 = 0; r0 < rows; r0 += high) {
        // Behind few columns the next rows come.
        const int64_t r1 = std::min(r0 + high, rows), c1 = std::min(c0 + tile, columns);
        const bool last = r1 == rows && !few;
        auto next = reinterpret_cast<uintptr_t>(from) + (last ? c0 + tile : c0) * from_stride +
                    (last ? 0 : r1) * kSize;
        int64_t fetched = 0;
        for (int64_t r = r0, c = c0; r < r1 && c < c1;) {
          for (int64_t i = 0; i < kLine; ++i) {
            fetch(reinterpret_cast<const char*>(next), fetched * kLineBytes, kLineBytes);
            if (++fetched == run) {
              fetched = 0;
              next += from_stride;
            }
          }
          move(r, c);
          int64_t& inner = few ? r : c;
          int64_t& outer = few ? c : r;
          inner += kLine;
          if (inner < (few ? r1 : c1)) continue;
          inner = few ? r0 : c0;
          outer += kLine;
        }
      }
    }
  } else {
    constexpr int64_t kRows = 64, kStrip = 256;
    RowFetcher fetcher(ahead, (rows + kLine - 1) / kLine * ((columns + kLine - 1) / kLine));
    for (int64_t run = 0; run < rows; run += kRows) {
      for (int64_t strip = 0; strip < columns; strip += kStrip) {
        for (int64_t r = run; r < std::min(run + kRows, rows); r += kLine) {
          for (int64_t c = strip; c < std::min(strip + kStrip, columns); c += kLine) {
            fetcher.fetch_share();
            move(r, c);
          }
        }
      }
    }
  }
  if (stream) at::detail::stream_fence();
}

at::detail::TransposeLoop transpose_loop_kernel(int64_t element_size) {
  at::detail::TransposeLoop loop{};
  with_opaque_type(static_cast<size_t>(element_size),
                   [&]<typename T>(T) { loop.function = &transpose<T>; });
  return loop;
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(transpose_loop_stub, &transpose_loop_kernel);
OPLOOM_REGISTER_DISPATCH(stream_row_stub, &stream_row);

}  // namespace at::inline oploom_v1::native
