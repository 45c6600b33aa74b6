// Transposing matrices, and writing what is not to be kept in the cache.
#include <aten/core/OpaqueType.h>
#include <aten/cpu/Channels.h>
#include <aten/cpu/ConvertRow.h>
#include <aten/cpu/FarRows.h>
#include <aten/cpu/Squares.h>
#include <aten/stubs/Copy.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

using at::detail::RowsAhead;

// Matrices of fewer rows or columns are not transposed by squares.
constexpr int64_t kFewRows = 8;

OPLOOM_NOINLINE void stream_row(char* to, const char* from, int64_t bytes) {
  const auto past_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes);
  const int64_t head = past_line == 0 ? 0 : std::min(bytes, kLineBytes - past_line);
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + kLineBytes <= bytes; i += kLineBytes) stream_line(to + i, from + i);
  std::memcpy(to + i, from + i, static_cast<size_t>(bytes - i));
}

// What does not fill a square, element by element, along the longer side. Not by move_row(): lines
// are so short that its call and its choices cost up to a fifth.
template <typename T>
OPLOOM_NOINLINE void transpose_rest(char* to, int64_t to_stride, const char* from,
                                    int64_t from_stride, int64_t rows, int64_t columns) {
  constexpr int64_t kSize = sizeof(T);
  const bool by_rows = columns >= rows;
  const int64_t to_step = by_rows ? kSize : to_stride, from_step = by_rows ? from_stride : kSize;
  const int64_t to_next = by_rows ? to_stride : kSize, from_next = by_rows ? kSize : from_stride;
  const int64_t lines = std::min(rows, columns), n = std::max(rows, columns);
  for (int64_t i = 0; i < lines; ++i) {
    char* target = to + i * to_next;
    const char* source = from + i * from_next;
#pragma GCC unroll 4
    for (int64_t k = 0; k < n; ++k, target += to_step, source += from_step) {
      *reinterpret_cast<T*>(target) = *reinterpret_cast<const T*>(source);
    }
  }
}

// What does not fill a square, by squares half as wide and high as far as they go.
template <typename T>
OPLOOM_NOINLINE void transpose_part(char* to, int64_t to_stride, const char* from,
                                    int64_t from_stride, int64_t rows, int64_t columns) {
  if constexpr (Square<T>::kBytes > 16 && sizeof(T) <= 4) {  // otherwise nothing is gained
    using Half = Square<T, Square<T>::kBytes / 2>;
    constexpr int64_t kSide = Half::kRows, kSize = sizeof(T);
    const int64_t whole_rows = rows / kSide * kSide, whole_columns = columns / kSide * kSide;
    for (int64_t c = 0; c < whole_columns; c += kSide) {
      for (int64_t r = 0; r < whole_rows; r += kSide) {
        Half::template transpose<false>(to + r * to_stride + c * kSize, to_stride,
                                        from + c * from_stride + r * kSize, from_stride);
      }
    }
    if (whole_rows > 0 && whole_columns > 0) {
      transpose_rest<T>(to + whole_columns * kSize, to_stride, from + whole_columns * from_stride,
                        from_stride, whole_rows, columns - whole_columns);
      to += whole_rows * to_stride;
      from += whole_rows * kSize;
      rows -= whole_rows;
    }
  }
  transpose_rest<T>(to, to_stride, from, from_stride, rows, columns);
}

// A block of any size, by squares.
template <typename T>
void transpose_block(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                     int64_t rows, int64_t columns) {
  constexpr int64_t kSide = Square<T>::kRows, kSize = sizeof(T);
  if (rows == kSide && columns == kSide) {
    return Square<T>::template transpose<false>(to, to_stride, from, from_stride);
  }
  for (int64_t c = 0; c < columns; c += kSide) {
    for (int64_t r = 0; r < rows; r += kSide) {
      char* target = to + r * to_stride + c * kSize;
      const char* source = from + c * from_stride + r * kSize;
      const int64_t high = std::min(kSide, rows - r), wide = std::min(kSide, columns - c);
      if (high == kSide && wide == kSide) {
        Square<T>::template transpose<false>(target, to_stride, source, from_stride);
      } else {
        transpose_part<T>(target, to_stride, source, from_stride, high, wide);
      }
    }
  }
}

// Of a matrix of few columns, which are planes of `from`, or of few rows, which are planes of `to`,
// the first pixels (Note [Channels]); returns how many of its long lines' elements those are.
template <typename T>
OPLOOM_NOINLINE int64_t transpose_channels(char* to, int64_t to_stride, const char* from,
                                           int64_t from_stride, int64_t rows, int64_t columns) {
  constexpr int64_t kSize = sizeof(T);
  if (columns < rows) {
    if (to_stride != columns * kSize) return 0;
    return with_channels<T>(to_stride, /*gaps=*/false, rows, [=](auto channels, int64_t n) {
      channels.merge(to, from, from_stride, n);
    });
  }
  if (from_stride < rows * kSize) return 0;
  const bool gaps = from_stride > rows * kSize;
  return with_channels<T>(from_stride, gaps, columns, [=](auto channels, int64_t n) {
    channels.split(to, to_stride, from, rows, n);
  });
}

// What depends on the size of an element. What is given these is there once for all sizes, which
// the compiler is not to undo.
struct ElementLoops {
  int64_t size;
  int line_bits;  // the logarithm of how many a line has
  at::detail::CastLoop move;
  int64_t (*channels)(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                      int64_t rows, int64_t columns);
  void (*block)(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t rows,
                int64_t columns);
  // A block of whole lines, past the cache; null where that takes more than one square.
  void (*stream_square)(char* to, int64_t to_stride, const char* from, int64_t from_stride);

  int64_t line() const { return int64_t{1} << line_bits; }
  int64_t lines(int64_t n) const { return (n + line() - 1) >> line_bits; }
};

template <typename T>
constexpr ElementLoops element_loops() {
  ElementLoops loops{sizeof(T),           std::countr_zero(kLineBytes / sizeof(T)),
                     &move_row<T>,        &transpose_channels<T>,
                     &transpose_block<T>, nullptr};
  if constexpr (Square<T>::kBytes == kLineBytes) {
    loops.stream_square = &Square<T>::template transpose<true>;
  }
  return loops;
}

// A matrix of few rows or columns, by pieces that the first-level cache holds.
[[gnu::noclone]] OPLOOM_NOINLINE void transpose_few(const ElementLoops& loops, char* to,
                                                    int64_t to_stride, const char* from,
                                                    int64_t from_stride, int64_t rows,
                                                    int64_t columns) {
  const int64_t size = loops.size, piece = 64 << loops.line_bits;
  const bool merges = columns < rows;
  const int64_t few = std::min(rows, columns), many = std::max(rows, columns);
  const int64_t to_step = merges ? to_stride : size, to_line = merges ? size : to_stride;
  const int64_t from_step = merges ? size : from_stride, from_line = merges ? from_stride : size;
  int64_t i = loops.channels(to, to_stride, from, from_stride, rows, columns);
  for (int64_t n; i < many; i += n) {
    n = std::min(piece, many - i);
    for (int64_t line = 0; line < few; ++line) {
      loops.move(to + line * to_line + i * to_step, to_step,
                 from + line * from_line + i * from_step, from_step, n);
    }
  }
}

// The same past the cache, by way of a buffer.
[[gnu::noclone]] OPLOOM_NOINLINE void stream_few(const ElementLoops& loops, char* to,
                                                 int64_t to_stride, const char* from,
                                                 int64_t from_stride, int64_t rows,
                                                 int64_t columns) {
  constexpr int64_t kBytes = 1024;
  alignas(kLineBytes) char buffer[(kFewRows - 1) * kBytes];
  const bool planes = rows < columns;
  const int64_t size = loops.size, pixel = columns * size,
                piece = kBytes / kLineBytes << loops.line_bits;
  const int64_t n = std::max(rows, columns);
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t count = std::min(piece, n - i);
    if (planes) {
      transpose_few(loops, buffer, kBytes, from + i * from_stride, from_stride, rows, count);
      for (int64_t r = 0; r < rows; ++r) {
        stream_row(to + r * to_stride + i * size, buffer + r * kBytes, count * size);
      }
    } else {
      transpose_few(loops, buffer, pixel, from + i * size, from_stride, count, columns);
      stream_row(to + i * pixel, buffer, count * pixel);
    }
  }
  at::detail::stream_fence();
}

// Asks for rows that come next, a few lines with each of `steps` steps: a row of each operand by
// turns. Not inlined, which gains nothing.
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
[[gnu::noclone]] OPLOOM_NOINLINE void stream_columns(const ElementLoops& loops, char* to,
                                                     int64_t to_stride, const char* from,
                                                     int64_t from_stride, int64_t rows,
                                                     int64_t columns, const RowsAhead& ahead) {
  constexpr int64_t kWidth = 256, kPitch = kWidth + kLineBytes;
  const int64_t size = loops.size, line = loops.line(), width = kWidth / kLineBytes * line;
  alignas(kLineBytes) char lines[kLineBytes * kPitch];
  RowFetcher fetcher(ahead, rows * ((columns + width - 1) / width));
  for (int64_t c0 = 0; c0 < columns; c0 += width) {
    const int64_t c1 = std::min(c0 + width, columns);
    for (int64_t r0 = 0; r0 < rows; r0 += line) {
      const int64_t high = std::min(line, rows - r0);
      for (int64_t c = c0; c < c1; c += line) {
        loops.block(lines + (c - c0) * size, kPitch, from + c * from_stride + r0 * size,
                    from_stride, high, std::min(line, c1 - c));
      }
      for (int64_t r = 0; r < high; ++r) {
        fetcher.fetch_share();
        stream_row(to + (r0 + r) * to_stride + c0 * size, lines + r * kPitch, (c1 - c0) * size);
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
[[gnu::noclone]] OPLOOM_NOINLINE void transpose_many(const ElementLoops& loops, char* to,
                                                     int64_t to_stride, const char* from,
                                                     int64_t from_stride, int64_t rows,
                                                     int64_t columns, bool stream,
                                                     const RowsAhead& ahead) {
  // At most the distance of the rows of a buffer.
  constexpr int64_t kPitchBytes = 2048;
  const bool in_buffer = std::abs(from_stride) <= kPitchBytes;
  // Lines that are written past the cache from a square have to be written at once.
  const bool whole_lines = at_lines(to, to_stride);
  if (stream && in_buffer && at::detail::fetches_near() &&
      !(whole_lines && at::detail::fetches_rows_near())) {
    stream_columns(loops, to, to_stride, from, from_stride, rows, columns, ahead);
    return at::detail::stream_fence();
  }
  stream = stream && whole_lines;
  const int64_t size = loops.size, line = loops.line();
  const auto move = [&](int64_t r, int64_t c, int64_t most_rows, int64_t most_columns) {
    char* target = to + r * to_stride + c * size;
    const char* source = from + c * from_stride + r * size;
    const int64_t high = std::min(most_rows, rows - r), wide = std::min(most_columns, columns - c);
    if (!stream || high < line || wide < line) {
      loops.block(target, to_stride, source, from_stride, high, wide);
    } else if (loops.stream_square != nullptr) {
      loops.stream_square(target, to_stride, source, from_stride);
    } else {
      alignas(kLineBytes) char lines[kLineBytes * kLineBytes];
      loops.block(lines, kLineBytes, source, from_stride, high, wide);
      for (int64_t i = 0; i < line; ++i) {
        stream_line(target + i * to_stride, lines + i * kLineBytes);
      }
    }
  };
  if (!in_buffer && (stream || to_stride <= kPitchBytes)) {
    // The sides of a tile: lines of a row, and rows. Of rows a multiple of 16 KiB apart, the
    // second-level cache holds 64 lines of a column, and the next tile's have to be among them;
    // but what has few columns is written at once.
    const bool few = columns <= 64;
    const int64_t tile = few || line > 32 ? 64 : 32;
    const int64_t run = std::min<int64_t>(tile == 64 ? 8 : 16, loops.lines(rows));
    const int64_t high = run * line;
    for (int64_t c0 = 0; c0 < columns; c0 += tile) {
      for (int64_t r0 = 0; r0 < rows; r0 += high) {
        // Behind few columns the next rows come.
        const int64_t r1 = std::min(r0 + high, rows), c1 = std::min(c0 + tile, columns);
        const bool last = r1 == rows && !few;
        auto next = reinterpret_cast<uintptr_t>(from) + (last ? c0 + tile : c0) * from_stride +
                    (last ? 0 : r1) * size;
        int64_t fetched = 0;
        for (int64_t r = r0, c = c0; r < r1 && c < c1;) {
          for (int64_t i = 0; i < line; ++i) {
            fetch(reinterpret_cast<const char*>(next), fetched * kLineBytes, kLineBytes);
            if (++fetched == run) {
              fetched = 0;
              next += from_stride;
            }
          }
          move(r, c, line, line);
          int64_t& inner = few ? r : c;
          int64_t& outer = few ? c : r;
          inner += line;
          if (inner < (few ? r1 : c1)) continue;
          inner = few ? r0 : c0;
          outer += line;
        }
      }
    }
  } else {
    constexpr int64_t kRows = 64, kStrip = 256;
    // Where nothing is to be done between blocks, many take one call.
    const bool many = !stream && ahead.count == 0;
    const int64_t high = many && columns <= line ? kRows : line, wide = many ? kStrip : line;
    RowFetcher fetcher(ahead, loops.lines(rows) * loops.lines(columns));
    for (int64_t run = 0; run < rows; run += kRows) {
      for (int64_t strip = 0; strip < columns; strip += kStrip) {
        const int64_t end = std::min(strip + kStrip, columns);
        for (int64_t r = run; r < std::min(run + kRows, rows); r += high) {
          for (int64_t c = strip; c < end; c += wide) {
            fetcher.fetch_share();
            move(r, c, high, wide);
          }
        }
      }
    }
  }
  if (stream) at::detail::stream_fence();
}

template <typename T>
void transpose(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t rows,
               int64_t columns, bool stream, const RowsAhead& ahead) {
  static constexpr ElementLoops loops = element_loops<T>();
  if (std::min(rows, columns) >= kFewRows) {
    transpose_many(loops, to, to_stride, from, from_stride, rows, columns, stream, ahead);
  } else if (stream && (rows < columns || to_stride == columns * loops.size)) {
    stream_few(loops, to, to_stride, from, from_stride, rows, columns);
  } else {
    transpose_few(loops, to, to_stride, from, from_stride, rows, columns);
  }
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
