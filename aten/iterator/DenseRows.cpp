// for_each_dense_row: presents rows of any strides to a loop over dense ones.
#include <aten/core/OpaqueType.h>
#include <aten/core/Processor.h>
#include <aten/iterator/Cast.h>
#include <aten/iterator/DenseRows.h>
#include <aten/iterator/ShortRows.h>
#include <aten/iterator/TensorIterator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

namespace at::inline oploom_v1::detail {
namespace {

// What is gathered fits into the second-level cache, and into the usual stack of a thread.
constexpr int64_t kBuffersBytes = 278528;
// What is computed at a time where nothing is transposed fits into the first-level cache. Of what
// comes from farther than the second it is less, so that reading does not rest as long meanwhile;
// not so on a Zen 5 (see Note [Near fetches]) unless it is written past the cache or several
// operands have gaps: products of one that has with a column take 0.8 of the time there.
constexpr int64_t kPieceBytes = 4096, kFarPieceBytes = 2048;
// Where near fetches are made, what goes past the cache is computed eight lines at a time, sixteen
// of elements of 2 bytes, as 16-bit floats are converted, too, and what comes later is fetched. In
// pieces of 2 KB, sums of two large tensors took 1.2 times as long; of 256 bytes, `exp` 1.4 times.
constexpr int64_t near_piece_bytes(int64_t size) { return size == 2 ? 1024 : 512; }
constexpr int64_t kNearAheadBytes = 4096;
// From this size on of the largest operand it pays to fetch the next piece, and to gather in place.
constexpr int64_t kNearFetchedBytes = 6 << 20;
// Rows that are gathered together: of float32, sixteen lines of the memory that follow one another.
// Half as many are scattered together.
constexpr int64_t kRows = 256;
// Rows of a buffer lie a line further apart than need be, hence not a power of two.
constexpr int64_t kPitchBytes = 1984;  // at most, for what is transposed
// Most processors see rows coming, long ones and, piece by piece, those with gaps (fetching them
// took up to 1.8 times as long; for those that do not, see Note [Near fetches]), but none what is
// transposed. Where memory is far away, that is fetched for the next block while one is computed,
// and what is dense beside it, so many rows ahead: to the second-level cache, as in FarRows.h; to
// the first, sums took 1.5 times as long on a Zen 4.
constexpr int64_t kAhead = 8;

bool is_repeated(uint32_t repeated, int k) { return (repeated >> k & 1) != 0; }

// A row that is this short is worth less than what is done for each: several are taken together.
// Where an input has to be gathered, or where the loop repeats elements.
constexpr int64_t kShortRowBytes = 512;
// Where an output of so many bytes has gaps between its elements: longer ones come from far memory
// faster in pieces, of which the next is fetched.
constexpr int64_t kShortScatteredBytes = 128, kFarScattered = 12 << 20;
// Where the loop repeats elements of 1 or 2 bytes, with which the ends of rows take long.
constexpr int64_t kShortNarrowBytes = 1024;
constexpr int64_t kNarrow = 2;
// Where the loop repeats elements and an input is one row for all, which would be copied again and
// again; of loops that could join rows, had they no such input. Others take up to twice as long so.
constexpr int64_t kShortSameRowBytes = 192, kShortNarrowSameRowBytes = 384;
// Where an input is one row for all of so few that it would be copied for about as many; of loops
// that wait for memory (others take up to 1.4 times as long, for what is left of each row).
constexpr int64_t kFewSameRowsBytes = 65536;
// Where the loop joins rows, of so many bytes in all at least: it has two calls for fewer rows.
// In place, rows of whole vectors take up to 1.25 times as long so from 384 bytes on.
constexpr int64_t kShortJoinedBytes = 1024, kJoinedFrom = 16384;
constexpr int64_t kShortJoinedInPlaceBytes = 320;
// Rows in place whose ends cover the beginning of the next one; see are_read_behind_masks().
constexpr int64_t kLongCoveredBytes = 448;
// Where elements or rows are copied again and again.
constexpr int64_t kShortRepeatedBytes = 2048;
// Where operands would be copied together that are dense rows with gaps behind them, a loop that
// goes from row to row is faster from this length on: if they are outputs or several inputs, and if
// one input is; of elements as narrow, with which the ends of rows take long; and for loops
// `by_row` or outputs in far memory, where rows of 24 floats took 2 to 2.7 times as long so.
constexpr int64_t kApartRowBytes = 48, kOneApartRowBytes = 128;
constexpr int64_t kApartNarrowBytes = 64, kOneApartNarrowBytes = 256;
constexpr int64_t kApartByRowBytes = 192;
OPLOOM_ALWAYS_INLINE void fetch_far(uintptr_t from, int64_t bytes, int64_t stride) {
  fetch<2>(from, bytes, stride);
}

// See Note [Near fetches].
OPLOOM_ALWAYS_INLINE void fetch_near(const char* from, int64_t bytes, int64_t stride) {
  fetch<3>(reinterpret_cast<uintptr_t>(from), bytes, stride);
}

// What is computed at once: n elements from i on, of `rows` rows from j on.
struct Part {
  int64_t i, n, j, rows;
};

// Share r of `shares` of a transposed operand's next part. Out of line, since the loop over rows
// without such operands is slower with it inside (measured).
OPLOOM_NOINLINE void fetch_columns(const char* data, int64_t inner, int64_t outer, int64_t size,
                                   const Part& next, int64_t r, int64_t shares) {
  const uintptr_t from = reinterpret_cast<uintptr_t>(data) + next.i * inner + next.j * outer;
  for (; r < next.n; r += shares) fetch_far(from + r * inner, next.rows * size, kLineBytes);
  asm volatile("");  // a function that does nothing but ask would not be called
}

enum class Mode : uint8_t { Dense, Repeated, Strided, Columns };

// How operand k is presented.
Mode mode_of(bool is_output, int64_t inner, int64_t outer, int64_t size, int64_t size1) {
  if (inner == size) return Mode::Dense;
  if (inner == 0 && !is_output) return Mode::Repeated;
  return outer == size && size1 >= kFewRows ? Mode::Columns : Mode::Strided;
}

// The first of the strided inputs that may be gathered where the output is to be, which is dense,
// and computed there; 0 if there is none: no input may share memory with the output.
int gathered_in_place(char* const* data, const int64_t* strides, const int64_t* sizes,
                      const Mode* mode, int operands, int64_t size0, int64_t size1) {
  if (mode[0] != Mode::Dense) return 0;
  const auto byte_range = [&](int k) {
    auto begin = reinterpret_cast<intptr_t>(data[k]), end = begin + sizes[k];
    for (const int64_t way : {strides[k] * (size0 - 1), strides[operands + k] * (size1 - 1)}) {
      (way < 0 ? begin : end) += way;
    }
    return std::pair(begin, end);
  };
  const auto [out_begin, out_end] = byte_range(0);
  int found = 0;
  for (int k = operands - 1; k > 0; --k) {
    const auto [in_begin, in_end] = byte_range(k);
    if (in_begin < out_end && out_begin < in_end) return 0;
    if (mode[k] == Mode::Strided && sizes[k] == sizes[0]) found = k;
  }
  return found;
}

// How long rows are at most that are taken together where nothing would be written out for a loop
// that goes from row to row (measured). `lines`: its vectors are as long as cache lines; shorter
// ones take longer for what is left of a row of narrow elements. Vectors that end in the middle of
// a line, too, where they are written over in place.
int64_t short_bytes_row_by_row(int64_t bytes, int64_t largest, bool in_place, bool lines) {
  const bool narrow = largest <= kNarrow;
  const int64_t behind = bytes % (lines ? kLineBytes : kLineBytes / 2);
  if (behind == 0) return narrow ? 64 : 32;
  if (in_place && (behind != kLineBytes / 2 || bytes >= kLongCoveredBytes))
    return kShortJoinedBytes;
  if (narrow) return lines ? 256 : kShortNarrowBytes;
  return lines ? 128 : 192;
}

// A loop, and what it says of itself.
struct DenseRows {
  DenseRowLoop loop;
  Repeats repeats;
  bool by_row;  // it takes a row at a time
  bool waits;   // for memory
};

// Rows of which some are not dense, with buffers for those.
void for_each_buffered_row(char** data, const int64_t* strides, const int64_t* sizes, int outputs,
                           int operands, int64_t size0, int64_t size1, int64_t largest,
                           uint32_t repeated, bool stream, const DenseRows& kind,
                           DenseRowLoop dense) {
  const int64_t* outer = strides + operands;
  alignas(64) char buffers[kBuffersBytes];
  char* buffer[kMaxOperands];
  CastLoop move[kMaxOperands];
  const RepeatLoop repeat = get_repeat_loop();
  const bool numbers = has(kind.repeats, Repeats::Numbers);
  Mode mode[kMaxOperands];
  bool columns = false, gathered = false, prepares = false, reads_rows = false;
  int buffered = 0, read_with_gaps = 0, written_with_gaps = 0;
  for (int k = 0; k < operands; ++k) {
    mode[k] = mode_of(k < outputs, strides[k], outer[k], sizes[k], size1);
    columns = columns || mode[k] == Mode::Columns;
    gathered = gathered || (mode[k] == Mode::Columns && k >= outputs);
    buffered += mode[k] != Mode::Dense;
    if (mode[k] == Mode::Strided) ++(k < outputs ? written_with_gaps : read_with_gaps);
    prepares = prepares || mode[k] == Mode::Strided || mode[k] == Mode::Repeated;
    reads_rows =
        reads_rows || (k >= outputs && (mode[k] == Mode::Dense || mode[k] == Mode::Strided));
    move[k] = get_move_loop(sizes[k]);
  }
  const int64_t bytes = kBuffersBytes / buffered / kLineBytes * kLineBytes;
  for (int k = 0, next = 0; k < operands; ++k) {
    buffer[k] = buffers + (mode[k] == Mode::Dense ? 0 : next++ * bytes);
  }
  const bool near = fetches_near(kind.waits);
  const bool fetches = stream && columns;
  // Where it has rows to read as well, a Zen 5 is a fifth faster without the columns in between,
  // and a Cascade Lake an eighth where it has none.
  const bool fetches_columns =
      fetches && gathered && !(near && (reads_rows || fetches_rows_near()));
  prepares = prepares || fetches;
  const int64_t total = size0 * size1 * largest;
  // By near fetches, what comes from memory: where the output is streamed, that fetches dense rows.
  // Not where the output alone has gaps, whose lines have to be read as well: it took a tenth
  // longer.
  const bool scatters = written_with_gaps > 0 && read_with_gaps == 0;
  const bool fetches_pieces =
      near && !columns && !scatters && (stream || total >= kNearFetchedBytes);
  // What only the output is transposed for goes by tiles on a Zen 5, of which the next one's rows
  // are fetched while one is written.
  const bool tiled = near && fetches && !gathered && outputs == 1;
  // A block of rows and a piece of each: `pitch` bytes from one row of a buffer to the next.
  const bool far = stream || total >= kFarBytes;
  const bool short_pieces = far && (stream || !near || read_with_gaps + written_with_gaps > 1);
  int64_t block = 1, pitch = short_pieces ? kFarPieceBytes : kPieceBytes;
  if (columns) {
    const int64_t most = std::clamp<int64_t>(2 * kRows / buffered, kRows / 8, kRows);
    block = std::min(size1, gathered ? most : most / 2);
    pitch = std::min(bytes / std::min(size1, most) / kLineBytes * kLineBytes, kPitchBytes);
  }
  if (tiled) {
    // A Cascade Lake keeps fewer rows that lie a multiple of 16 KB apart.
    constexpr int64_t kTileBytes = 1024;
    const int64_t written_bytes = fetches_rows_near() && at_lines(data[0], strides[0]) ? 128 : 256;
    pitch = kTileBytes + kLineBytes;
    block = std::min({size1, written_bytes / sizes[0], bytes / pitch});
  }
  const int64_t width = (columns ? pitch - kLineBytes : pitch) / largest;
  // From one row of a part to the next.
  int64_t step[kMaxOperands];
  for (int k = 0; k < operands; ++k) {
    step[k] = mode[k] == Mode::Dense ? outer[k] : mode[k] == Mode::Columns ? pitch : 0;
  }
  // On a Zen 5 `neg` of every second of four million doubles takes 0.7 of the time so; from the
  // caches up to 1.2 times as long.
  const bool may_be_in_place = near && !stream && outputs == 1 && total >= kNearFetchedBytes;
  const int in_place =
      may_be_in_place ? gathered_in_place(data, strides, sizes, mode, operands, size0, size1) : 0;
  if (in_place != 0) step[in_place] = step[0];

  const auto transpose = [&](int k, int64_t i, int64_t j, int64_t n, int64_t rows,
                             const RowsAhead& ahead = {}) {
    char* place = data[k] + i * strides[k] + j * outer[k];
    const TransposeLoop loop = get_transpose_loop(sizes[k]);
    if (k < outputs) {
      loop(place, strides[k], buffer[k], pitch, n, rows, stream, ahead);
    } else {
      loop(buffer[k], pitch, place, strides[k], rows, n, /*stream=*/false);
    }
  };
  char* row[kMaxOperands];
  // What is done for row r of a part before it is computed, if anything.
  const auto prepare = [&](int64_t i, int64_t j, int64_t r, int64_t n, int64_t rows,
                           const Part& next) {
    for (int k = outputs; fetches_columns && k < operands; ++k) {
      if (mode[k] != Mode::Columns) continue;
      fetch_columns(data[k], strides[k], outer[k], sizes[k], next, r, rows);
    }
    for (int k = outputs; k < operands; ++k) {
      char* place = data[k] + i * strides[k] + (j + r) * outer[k];
      if (fetches && !tiled && mode[k] != Mode::Columns) {
        // Behind the last row comes the first one of the next piece.
        const int64_t last = r + kAhead < rows ? 0 : width * strides[k] - rows * outer[k];
        fetch_far(reinterpret_cast<uintptr_t>(place) + kAhead * outer[k] + last, n * strides[k],
                  strides[k]);
      }
      if (mode[k] == Mode::Strided) {
        move[k](row[k], sizes[k], place, strides[k], n);
      }
      if (fetches_pieces && (mode[k] == Mode::Strided || (!stream && mode[k] == Mode::Dense))) {
        fetch_near(place + n * strides[k], n * strides[k], strides[k]);
      }
      // The buffer still holds the element if neither row nor piece needs another.
      if (mode[k] == Mode::Repeated && (outer[k] != 0 || i + j + r == 0)) {
        if (is_repeated(repeated, k)) {
          repeat(buffer[k], numbers ? sizes[k] : kRepeatedBytes, place, 0, sizes[k], 1);
        } else if (columns || i == 0) {
          move[k](buffer[k], sizes[k], place, 0, std::min(width, size0));
        }
      }
    }
  };
  for (int64_t j = 0; j < size1; j += block) {
    const int64_t rows = std::min(block, size1 - j);
    for (int64_t i = 0; i < size0; i += width) {
      const int64_t n = std::min(width, size0 - i);
      for (int k = outputs; k < operands; ++k) {
        if (mode[k] == Mode::Columns) transpose(k, i, j, n, rows);
      }
      // Behind the last part of a block comes the first one of the next block.
      Part next = {i + width, std::min(width, size0 - i - width), j, rows};
      if (next.n <= 0) {
        next = {0, std::min(width, size0), j + block, std::min(block, size1 - j - block)};
      }
      for (int k = 0; k < operands; ++k) {
        row[k] = mode[k] == Mode::Dense ? data[k] + i * strides[k] + j * outer[k] : buffer[k];
      }
      if (in_place != 0) row[in_place] = row[0];
      if (!prepares) dense(row, step, n, rows, repeated);
      for (int64_t r = 0; prepares && r < rows; ++r) {
        prepare(i, j, r, n, rows, next);
        dense(row, step, n, /*rows=*/1, repeated);
        for (int k = 0; k < outputs; ++k) {
          if (mode[k] != Mode::Strided) continue;
          move[k](data[k] + i * strides[k] + (j + r) * outer[k], strides[k], buffer[k], sizes[k],
                  n);
        }
        for (int k = 0; k < operands; ++k) row[k] += step[k];
      }
      RowsAhead ahead;
      RowsAhead::Operand next_rows[kMaxOperands];
      if (tiled && next.rows > 0) {
        for (int k = outputs; k < operands; ++k) {
          if (mode[k] == Mode::Repeated) continue;
          next_rows[ahead.count++] = {data[k] + next.i * strides[k] + next.j * outer[k], outer[k],
                                      next.n * strides[k]};
        }
        ahead.operands = next_rows;
        ahead.rows = next.rows;
      }
      for (int k = 0; k < outputs; ++k) {
        if (mode[k] == Mode::Columns) transpose(k, i, j, n, rows, ahead);
      }
    }
  }
}

// Rows that are dense, or of one element each that the loop takes repeated.
OPLOOM_NOINLINE void for_each_row_as_it_is(char** data, const int64_t* strides,
                                           const int64_t* sizes, int operands, int64_t size0,
                                           int64_t size1, uint32_t repeated, Repeats repeats,
                                           DenseRowLoop dense) {
  const int64_t* outer = strides + operands;
  if (repeated == 0 || has(repeats, Repeats::Numbers)) {
    return dense(data, outer, size0, size1, repeated);
  }
  constexpr int64_t kBlock = 32;
  alignas(64) char elements[kMaxOperands][kBlock * kRepeatedBytes];
  const RepeatLoop repeat = get_repeat_loop();
  char* place[kMaxOperands];
  int64_t step[kMaxOperands];
  bool columns = false;
  for (int k = 0; k < operands; ++k) {
    place[k] = data[k];
    step[k] = outer[k];
    if (!is_repeated(repeated, k)) continue;
    place[k] = elements[k];
    if (outer[k] == 0) {
      repeat(elements[k], kRepeatedBytes, data[k], 0, sizes[k], 1);
    } else {
      step[k] = kRepeatedBytes;
      columns = true;
    }
  }
  const int64_t block = columns ? kBlock : size1;
  for (int64_t j = 0; j < size1; j += block) {
    const int64_t rows = std::min(block, size1 - j);
    for (int k = 0; k < operands; ++k) {
      if (!is_repeated(repeated, k)) {
        place[k] = data[k] + j * outer[k];
      } else if (outer[k] != 0) {
        repeat(elements[k], kRepeatedBytes, data[k] + j * outer[k], outer[k], sizes[k], rows);
      }
    }
    dense(place, step, size0, rows, repeated);
  }
}

// Whether rows are changed in place whose ends, written by a masked vector, cover the beginning of
// the next one: what is read there waits for the store, and such rows take up to four times as long
// on a Zen 4. Not so with shorter vectors (measured).
bool are_read_behind_masks(char* const* data, const int64_t* strides, const int64_t* sizes,
                           int outputs, int operands, int64_t size0, int64_t size1) {
  constexpr int64_t kFewestRows = 8;
  const int64_t bytes = size0 * sizes[0], step = strides[operands];
  const int64_t covered = (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  if (step < bytes || step >= covered || bytes >= kLongCoveredBytes || size1 < kFewestRows)
    return false;
  for (int k = outputs; k < operands; ++k) {
    if (data[k] == data[0] && strides[k] != 0 && strides[operands + k] == step)
      return has_line_vectors();
  }
  return false;
}

// for_each_row_as_it_is() for every second of some rows, and for those between them then.
OPLOOM_COLD void for_each_second_row(char** data, const int64_t* strides, const int64_t* sizes,
                                     int operands, int64_t size0, int64_t size1, uint32_t repeated,
                                     Repeats repeats, DenseRowLoop dense) {
  constexpr int64_t kNear = 16384;  // bytes that stay in the first-level cache
  const int64_t* outer = strides + operands;
  const int64_t block = std::max<int64_t>(1, kNear / outer[0]);
  int64_t twice[2 * kMaxOperands];
  std::copy_n(strides, operands, twice);
  for (int k = 0; k < operands; ++k) twice[operands + k] = 2 * outer[k];
  for (int64_t j = 0; j < size1; j += block) {
    const int64_t rows = std::min(block, size1 - j);
    for (int64_t first = 0; first < std::min<int64_t>(rows, 2); ++first) {
      char* at[kMaxOperands];
      for (int k = 0; k < operands; ++k) at[k] = data[k] + (j + first) * outer[k];
      for_each_row_as_it_is(at, twice, sizes, operands, size0, (rows + 1 - first) / 2, repeated,
                            repeats, dense);
    }
  }
}

// See Note [Joined rows]. Those that do not fill whole vectors are taken as other short rows are.
void for_each_joined_row(char** data, const int64_t* strides, const int64_t* sizes, int outputs,
                         int operands, int64_t size0, int64_t size1, int64_t largest,
                         uint32_t repeated, DenseRowLoop dense) {
  constexpr int64_t kMost = 64;
  const int64_t* outer = strides + operands;
  const int64_t lanes = kJoinedBytes / sizes[outputs];
  alignas(kLineBytes) char elements[kMaxOperands][kMost * kJoinedBytes];
  const RepeatLoop repeat = get_repeat_loop();
  char* row[kMaxOperands];
  std::copy_n(data, operands, row);
  for (int64_t rows; size1 >= lanes; size1 -= rows) {
    rows = std::min(size1 / lanes * lanes, kMost);
    char* place[kMaxOperands];
    for (int k = 0; k < operands; ++k) {
      place[k] = row[k];
      if (is_repeated(repeated, k)) {
        repeat(elements[k], kJoinedBytes, row[k], outer[k], sizes[k], rows);
        place[k] = elements[k];
      }
      row[k] += rows * outer[k];
    }
    dense(place, /*steps=*/nullptr, rows * size0, /*rows=*/1,
          repeated | static_cast<uint32_t>(size0) << kJoinedShift);
  }
  if (size1 > 0) {
    for_each_short_row(row, strides, sizes, outputs, operands, size0, size1, largest, dense);
  }
}

// Whether more operands are dense along the second dimension than along the first.
bool is_rather_transposed(const int64_t* strides, const int64_t* sizes, int operands) {
  int along_first = 0, along_second = 0;
  for (int k = 0; k < operands; ++k) {
    along_first += strides[k] == sizes[k];
    along_second += strides[k] != 0 && strides[operands + k] == sizes[k];
  }
  return along_second > along_first;
}

// Whether an output past the cache is to be taken as the transposed operand where it is the only
// one dense along the first dimension. On a Cascade Lake such calls take 0.6 to 0.8 of the time
// with rows that begin at lines, up to 1.8 times as long with others.
bool is_output_transposed(char* const* data, const int64_t* strides, const int64_t* sizes,
                          int operands, int64_t size1) {
  if (!fetches_rows_near() || strides[0] != sizes[0] || !at_lines(data[0], strides[operands]))
    return false;
  bool transposed = false;
  for (int k = 1; k < operands; ++k) {
    if (strides[k] == sizes[k]) return false;
    transposed = transposed || (strides[k] != 0 && strides[operands + k] == sizes[k] &&
                                are_long_rows(size1, sizes[k]));
  }
  return transposed;
}

// The loop that calls row(data, n, repeated) for each of its rows.
template <typename Row>
auto row_by_row(int operands, const Row& row) {
  return [row, operands](char* const* data, const int64_t* steps, int64_t n, int64_t rows,
                         uint32_t repeated) {
    if (rows == 1) return row(data, n, repeated);
    char* at[kMaxOperands];
    for (int k = 0; k < operands; ++k) at[k] = data[k];
    for (int64_t r = 0; r < rows; ++r) {
      row(at, n, repeated);
      for (int k = 0; k < operands; ++k) at[k] += steps[k];
    }
  };
}

void for_each_row_of_kind(char** data, const int64_t* strides, const int64_t* sizes, int outputs,
                          int operands, int64_t size0, int64_t size1, bool stream,
                          const DenseRows& kind) {
  const DenseRowLoop dense = kind.loop;
  int64_t turned[2 * kMaxOperands];
  if (std::min(size0, size1) >= kFewRows &&
      (is_rather_transposed(strides, sizes, operands) ||
       (stream && outputs == 1 && is_output_transposed(data, strides, sizes, operands, size1)))) {
    std::rotate_copy(strides, strides + operands, strides + 2 * operands, turned);
    strides = turned;
    std::swap(size0, size1);
  }
  const int64_t* outer = strides + operands;
  int64_t largest = 1;
  bool all_dense = true;
  bool as_it_is = true;
  bool in_order = true;
  bool merges = true;
  bool same_row = false;
  const bool may_join = has(kind.repeats, Repeats::JoinsRows);
  bool joins = may_join && !stream;
  uint32_t repeated = 0;
  int apart = 0;
  bool writes_apart = false;
  const bool scatters_far = size0 * size1 * sizes[0] >= kFarScattered;
  const int64_t scattered_bytes = scatters_far ? kShortScatteredBytes : kShortRowBytes;
  for (int k = 0; k < operands; ++k) {
    const bool row_is_dense = strides[k] == sizes[k];
    const bool follows = row_is_dense && outer[k] == size0 * sizes[k];
    // An output counts as two.
    if (row_is_dense && !follows && outer[k] != 0) {
      apart += k < outputs ? 2 : 1;
      writes_apart = writes_apart || k < outputs;
    }
    largest = std::max(largest, sizes[k]);
    all_dense = all_dense && row_is_dense;
    if (strides[k] == 0 && k >= outputs && kind.repeats != Repeats::No) {
      repeated |= uint32_t{1} << k;
    } else {
      as_it_is = as_it_is && row_is_dense;
      joins = joins && follows;
    }
    in_order = in_order && (k >= outputs || follows ||
                            (!stream && (row_is_dense || size0 * sizes[k] <= scattered_bytes)));
    merges = merges && (follows || strides[k] == 0 || outer[k] == 0);
    same_row = same_row || (k >= outputs && row_is_dense && outer[k] == 0);
  }
  joins = joins && repeated != 0 && size0 * sizes[outputs] >= kJoinedBytes &&
          size0 * size1 * largest >= kJoinedFrom;
  int64_t apart_bytes = apart > 1 ? kApartRowBytes : kOneApartRowBytes;
  if (largest <= kNarrow) apart_bytes = apart > 1 ? kApartNarrowBytes : kOneApartNarrowBytes;
  const bool far = writes_apart && size0 * size1 * largest >= kFarBytes;
  if (kind.by_row || stream || far)
    apart_bytes = apart > 1 ? kApartByRowBytes : kShortRepeatedBytes;
  const bool one_by_one = as_it_is && apart > 0 && size0 * largest >= apart_bytes;
  int64_t short_bytes = kShortRowBytes;
  if (merges) {
    const bool in_place = data[outputs] == data[0];
    const int64_t bytes = size0 * largest;
    if (stream || !as_it_is || repeated == 0) {
      const bool few = !stream && as_it_is && same_row && size1 * bytes <= kFewSameRowsBytes;
      short_bytes = few && kind.waits && !kind.by_row && largest > kNarrow
                        ? short_bytes_row_by_row(bytes, largest, in_place, has_line_vectors())
                        : kShortRepeatedBytes;
    } else if (has(kind.repeats, Repeats::Numbers)) {
      short_bytes = short_bytes_row_by_row(bytes, largest, in_place && joins, may_join);
      if (same_row && may_join) short_bytes = largest <= kNarrow ? 96 : 64;
    } else if (joins) {
      const bool whole = bytes % kJoinedBytes == 0;
      short_bytes = in_place && whole ? kShortJoinedInPlaceBytes : kShortJoinedBytes;
    } else if (same_row && may_join) {
      short_bytes = largest <= kNarrow ? kShortNarrowSameRowBytes : kShortSameRowBytes;
    } else if (largest <= kNarrow) {
      short_bytes = kShortNarrowBytes;
    }
  }
  // Transposed operands that come from memory are worth buffers for more rows than short ones have.
  bool transposes = false;
  for (int k = outputs; stream && k < operands; ++k) {
    transposes = transposes ||
                 (strides[k] > sizes[k] && outer[k] == sizes[k] && are_long_rows(size0, sizes[k]));
  }
  const bool short_rows =
      in_order && size1 > 1 && !one_by_one && !transposes && size0 * largest <= short_bytes;
  // Pieces of a row follow one another, but not in blocks of rows, for transposed operands.
  bool near = stream && operands > outputs && fetches_near(kind.waits);
  for (int k = 0; near && k < operands; ++k) {
    near = mode_of(k < outputs, strides[k], outer[k], sizes[k], size1) != Mode::Columns;
  }
  // Computed in a buffer, and copied from there past the cache.
  const int64_t most = (near ? near_piece_bytes(sizes[0]) : kFarPieceBytes) / sizes[0];
  const int64_t line = near ? kLineBytes / sizes[0] : 0;
  const auto stream_row = [&](char* const* row, int64_t n, uint32_t repeated) {
    alignas(64) char piece[kFarPieceBytes];
    const BytesLoop copy = get_stream_loop();
    char* const target = row[0];
    // Short pieces are to begin at lines, and the last one takes what would be less than a line.
    const auto past_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(target) % kLineBytes);
    int64_t count = most - past_line * line / kLineBytes;
    char* at[kMaxOperands];
    at[0] = piece;
    for (int64_t i = 0; i < n; i += count, count = most) {
      if (n - i < count + line) count = n - i;
      for (int k = 1; k < operands; ++k) {
        at[k] = row[k] + (is_repeated(repeated, k) ? 0 : i * sizes[k]);
      }
      dense(at, /*steps=*/nullptr, count, /*rows=*/1, repeated);
      for (int k = 1; near && k < operands; ++k) {
        if (!is_repeated(repeated, k)) {
          fetch_near(at[k] + kNearAheadBytes, count * sizes[k], 0);
        }
      }
      copy(target + i * sizes[0], piece, count * sizes[0]);
    }
  };
  const auto streamed = row_by_row(operands, stream_row);
  const bool in_pieces =
      stream && outputs == 1 &&
      (short_rows || (strides[0] == sizes[0] && size0 * sizes[0] >= kFarPieceBytes / 2));
  const DenseRowLoop rows_loop = in_pieces ? DenseRowLoop(streamed) : dense;
  if (joins && short_rows) {
    for_each_joined_row(data, strides, sizes, outputs, operands, size0, size1, largest, repeated,
                        dense);
  } else if (short_rows) {
    for_each_short_row(data, strides, sizes, outputs, operands, size0, size1, largest, rows_loop);
  } else if (all_dense || size0 == 1 || (as_it_is && (!stream || (near && in_pieces)))) {
    if (size0 == 1) repeated = 0;
    const bool by_turns =
        are_read_behind_masks(data, strides, sizes, outputs, operands, size0, size1);
    (by_turns ? for_each_second_row : for_each_row_as_it_is)(
        data, strides, sizes, operands, size0, size1, repeated, kind.repeats, rows_loop);
  } else {
    for_each_buffered_row(data, strides, sizes, outputs, operands, size0, size1, largest, repeated,
                          stream, kind, rows_loop);
  }
  if (in_pieces) stream_fence();
}

// Whether what a loop writes, so many bytes, is asked for before; see fetches_written(). What it
// has read already has arrived, unless it comes from memory.
bool asks_for(const DenseRows& kind, int64_t bytes, bool in_place) {
  constexpr int64_t kShared = 3 << 20, kMemory = 8 << 20;
  return kind.waits && bytes >= (in_place ? kMemory : kShared) && fetches_written();
}

int64_t grain_of(const TensorIteratorBase& iter, const DenseRows& kind) {
  return kind.waits ? waiting_grain(iter) : GRAIN_SIZE;
}

// A row of an output that is at least so long, in bytes, is worth a call for what lies before its
// first cache line.
constexpr int64_t kLinedBytes = 8192;

// The loop, for long rows in pieces: what lies before the first cache line of an output is computed
// first, since vectors that are written across two lines take up to 1.8 times as long; with `asks`,
// each next piece is asked for, what is read and what is written to.
auto by_lines(DenseRowLoop dense, const int64_t* sizes, int operands, bool asks) {
  return [dense, sizes, operands, asks](char* const* data, const int64_t* steps, int64_t n,
                                        int64_t rows, uint32_t repeated) {
    constexpr int64_t kAskedBytes = 1024;
    const int64_t most = asks ? kAskedBytes / *std::max_element(sizes, sizes + operands) : n;
    if (joined_length(repeated) != 0) return dense(data, steps, n, rows, repeated);
    if (n < 2 * most &&
        (n * sizes[0] < kLinedBytes || at_lines(data[0], rows > 1 ? steps[0] : 0))) {
      return dense(data, steps, n, rows, repeated);
    }
    for (int64_t r = 0; r < rows; ++r) {
      char* at[kMaxOperands];
      for (int k = 0; k < operands; ++k) at[k] = data[k] + (r > 0 ? r * steps[k] : 0);
      const auto before = -reinterpret_cast<uintptr_t>(at[0]) % kLineBytes;
      int64_t count = static_cast<int64_t>(before) / sizes[0];
      for (int64_t i = 0; i < n; i += count) {
        if (i > 0 || count == 0) count = std::min(most, n - i);
        for (int k = 0; k < operands; ++k) {
          if (asks && !is_repeated(repeated, k)) {
            fetch_near(at[k] + most * sizes[k], count * sizes[k], 0);
          }
        }
        dense(at, /*steps=*/nullptr, count, /*rows=*/1, repeated);
        for (int k = 0; k < operands; ++k) {
          if (!is_repeated(repeated, k)) at[k] += count * sizes[k];
        }
      }
    }
  };
}

// The loops that convert operands, each of whose elements stands for a whole row; null for others.
using ColumnLoads = std::array<CastLoop, kMaxOperands>;

// for_each_row_of_kind() where such operands are converted before, for many rows at a time.
void for_each_row_beside_columns(char** data, const int64_t* strides, const int64_t* sizes,
                                 int outputs, int operands, int64_t size0, int64_t size1,
                                 bool stream, const DenseRows& kind, const ColumnLoads& loads) {
  constexpr int64_t kBytes = 16384, kBlock = 64;
  alignas(kLineBytes) char buffers[kBytes];
  int64_t columns = 0;
  for (int k = 0; k < operands; ++k) columns += loads[k] != nullptr;
  const int64_t bytes = kBytes / columns / kLineBytes * kLineBytes;
  const int64_t block = bytes / *std::max_element(sizes, sizes + operands) / kBlock * kBlock;
  char* at[kMaxOperands];
  int64_t steps[2 * kMaxOperands];
  std::copy_n(data, operands, at);
  std::copy_n(strides, 2 * operands, steps);
  for (int64_t j = 0; j < size1; j += block) {
    const int64_t rows = std::min(block, size1 - j);
    char* buffer = buffers;
    for (int k = 0; k < operands; ++k) {
      const int64_t outer = strides[operands + k];
      at[k] = data[k] + j * outer;
      if (loads[k] == nullptr) continue;
      loads[k](buffer, sizes[k], at[k], outer, outer == 0 ? 1 : rows);
      at[k] = buffer;
      steps[operands + k] = outer == 0 ? 0 : sizes[k];
      buffer += bytes;
    }
    for_each_row_of_kind(at, steps, sizes, outputs, operands, size0, rows, stream, kind);
  }
}

// Elements as they lie in memory, or once such columns are converted, `sizes` bytes each.
void for_each_row_of(TensorIteratorBase& iter, const int64_t* sizes, const DenseRows& kind,
                     const ColumnLoads* loads = nullptr) {
  const int outputs = iter.noutputs(), operands = iter.ntensors();
  bool in_place = false;
  for (int k = outputs; k < operands; ++k) {
    in_place = in_place || iter.data_ptr(k) == iter.data_ptr(0);
  }
  // What is written in place has been read, and lies in the cache.
  const bool stream = !in_place && iter.numel() * sizes[0] >= kStreamedBytes;
  const bool asks = !stream && asks_for(kind, iter.numel() * sizes[0], in_place);
  const auto lines = by_lines(kind.loop, sizes, operands, asks);
  const bool is_long = !stream && iter.numel() * sizes[0] >= kLinedBytes;
  const DenseRows rows = {is_long ? DenseRowLoop(lines) : kind.loop, kind.repeats, kind.by_row,
                          kind.waits};
  const int64_t grain = grain_of(iter, kind);
  if (loads != nullptr) {
    const auto run = [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
      for_each_row_beside_columns(data, strides, sizes, outputs, operands, size0, size1, stream,
                                  rows, *loads);
    };
    return iter.for_each(run, grain);
  }
  if (const int dims = short_plane_dims(iter, sizes, PlaneUse::Computed); dims != 0) {
    return for_each_short_plane(iter, dims, sizes, stream, kind.loop);
  }
  const auto run = [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    for_each_row_of_kind(data, strides, sizes, outputs, operands, size0, size1, stream, rows);
  };
  iter.for_each(run, grain);
}

// An iterator whose loops get elements of the dtypes that they have in memory.
struct Unconverted : TensorIteratorBase {
  explicit Unconverted(const TensorIteratorBase& iter) : TensorIteratorBase(iter) {
    has_casts_ = false;
  }
  const OperandInfo& operand(int k) const { return operands_[k]; }
};

// See Note [Casts]. Converting dense rows, and not what lies anyhow, is fast.
void for_each_converted_row(const TensorIteratorBase& iter, const DenseRows& kind) {
  const DenseRowLoop dense = kind.loop;
  const bool numbers = has(kind.repeats, Repeats::Numbers);
  bool repeats = kind.repeats != Repeats::No;
  Unconverted as_is(iter);
  const int outputs = iter.noutputs(), operands = iter.ntensors();
  const auto is_converted = [&](int k) {
    return as_is.operand(k).load != nullptr || as_is.operand(k).store != nullptr;
  };
  int64_t sizes[kMaxOperands];
  int64_t converted = 0;  // bytes of one element of each
  ColumnLoads loads{};
  constexpr int64_t kFewest = 4;  // elements of a row
  bool columns = iter.ndim() > 0 && iter.shape()[0] >= kFewest;
  for (int k = 0; k < operands; ++k) {
    const OperandInfo& op = as_is.operand(k);
    loads[k] = op.load;
    columns = columns && op.store == nullptr && (op.load == nullptr || iter.strides(k)[0] == 0);
    sizes[k] =
        static_cast<int64_t>(elementSize(is_converted(k) ? op.current_dtype : op.target_dtype));
    if (is_converted(k)) converted += iter.element_size(k);
  }
  if (columns) {
    for (int k = 0; k < operands; ++k) sizes[k] = iter.element_size(k);
    return for_each_row_of(as_is, sizes, kind, &loads);
  }
  // All that is converted at once stays in the first-level cache.
  constexpr int64_t kBytes = 8192;
  const int64_t piece = kBytes / converted / 16 * 16;  // so that each buffer is aligned
  // Operands of one dtype have room enough for what is repeated.
  for (int k = outputs; repeats && k < operands; ++k) {
    repeats = !is_converted(k) || piece * iter.element_size(k) >= kRepeatedBytes;
  }
  const RepeatLoop repeat = get_repeat_loop();
  const auto convert_row = [&](char* const* row, int64_t n, uint32_t repeated) {
    alignas(64) char buffers[kBytes];
    for (int64_t i = 0; i < n; i += piece) {
      const int64_t count = std::min(piece, n - i);
      char* at[kMaxOperands];
      char* buffer = buffers;
      for (int k = 0; k < operands; ++k) {
        const OperandInfo& op = as_is.operand(k);
        at[k] = row[k] + (is_repeated(repeated, k) ? 0 : i * sizes[k]);
        if (!is_converted(k)) continue;
        if (op.load != nullptr) {
          const int64_t size = iter.element_size(k);
          op.load(buffer, size, at[k], sizes[k], is_repeated(repeated, k) ? 1 : count);
          if (!numbers && is_repeated(repeated, k)) {
            repeat(buffer, kRepeatedBytes, buffer, 0, size, 1);
          }
        }
        at[k] = buffer;
        buffer += piece * iter.element_size(k);
      }
      dense(at, /*steps=*/nullptr, count, /*rows=*/1, repeated);
      for (int k = 0; k < outputs; ++k) {
        const OperandInfo& op = as_is.operand(k);
        if (op.store == nullptr) continue;
        op.store(row[k] + i * sizes[k], sizes[k], at[k], iter.element_size(k), count);
      }
    }
  };
  const auto convert = row_by_row(operands, convert_row);
  for_each_row_of(as_is, sizes,
                  {convert, repeats ? Repeats::Rows : Repeats::No, /*by_row=*/true, kind.waits});
}

// All but small calls after a short cut.
OPLOOM_NOINLINE void for_each_other_row(TensorIteratorBase& iter, const DenseRows& kind) {
  const DenseRowLoop dense = kind.loop;
  const int operands = iter.ntensors();
  int64_t sizes[kMaxOperands];
  for (int k = 0; k < operands; ++k) sizes[k] = iter.element_size(k);
  if (iter.is_dense_row()) {
    char* data[kMaxOperands];
    for (int k = 0; k < operands; ++k) data[k] = static_cast<char*>(iter.data_ptr(k));
    const bool in_place = std::find(data + 1, data + operands, data[0]) != data + operands;
    const auto lines = by_lines(dense, sizes, operands,
                                asks_for(kind, iter.numel() * sizes[0], /*in_place=*/true));
    const DenseRowLoop loop = lines;  // compiled once
    if (iter.numel() < 2 * GRAIN_SIZE) {
      return loop(data, /*steps=*/nullptr, iter.numel(), /*rows=*/1, /*repeated=*/0);
    }
    if (in_place) {
      const auto run = [&](int64_t begin, int64_t end) {
        char* row[kMaxOperands];
        for (int k = 0; k < operands; ++k) row[k] = data[k] + begin * sizes[k];
        loop(row, /*steps=*/nullptr, end - begin, /*rows=*/1, /*repeated=*/0);
      };
      // By another tensor, as parameters are updated by their gradients.
      const int64_t grain = operands > 2 ? kUpdateGrain : grain_of(iter, kind);
      return at::parallel_for_in_place(iter.numel(), iter.element_size(0), operands - 1, grain,
                                       run);
    }
  }
  if (iter.has_casts()) return for_each_converted_row(iter, kind);
  for_each_row_of(iter, sizes, kind);
}

// The rows of a small call, which needs neither the iterator's loops nor other threads; else null.
OPLOOM_ALWAYS_INLINE char* const* small_rows(TensorIteratorBase& iter, int operands) {
  OPLOOM_INTERNAL_ASSERT(iter.ntensors() == operands && operands <= kMaxOperands,
                         "the kernel takes ", operands, " operands, got ", iter.ntensors());
  char* const* rows = iter.row_ptrs();
  if (iter.numel() < kLinedBytes / 8 || rows == nullptr) return rows;
  // A longer row is worth the way through by_lines() unless it begins at a line.
  const bool is_lined =
      iter.numel() * iter.element_size(0) >= kLinedBytes && !at_lines(rows[0], /*stride=*/0);
  return is_lined || iter.numel() >= 2 * GRAIN_SIZE ? nullptr : rows;
}

}  // namespace

int64_t waiting_grain(const TensorIteratorBase& iter) {
  bool bytes = true, masks = true;
  for (int k = 0; k < iter.ntensors(); ++k) {
    bytes = bytes && iter.element_size(k) == 1;
    masks = masks && iter.dtype(k) == ScalarType::Bool;
  }
  return bytes && !masks ? kUpdateGrain : GRAIN_SIZE;
}

void for_each_dense_row(char** data, const int64_t* strides, const int64_t* sizes, int outputs,
                        int operands, int64_t size0, int64_t size1, bool stream, DenseRowLoop dense,
                        Repeats repeats) {
  for_each_row_of_kind(data, strides, sizes, outputs, operands, size0, size1, stream,
                       {dense, repeats, /*by_row=*/false, /*waits=*/false});
}
void for_each_dense_row(char** data, const int64_t* strides, const int64_t* sizes, int outputs,
                        int operands, int64_t size0, int64_t size1, bool stream,
                        SingleRowLoop dense, Repeats repeats) {
  const auto loop = row_by_row(operands, dense);
  for_each_row_of_kind(data, strides, sizes, outputs, operands, size0, size1, stream,
                       {loop, repeats, /*by_row=*/true, /*waits=*/false});
}

void for_each_dense_row(TensorIteratorBase& iter, int operands, DenseRowLoop dense, Repeats repeats,
                        bool waits) {
  if (char* const* rows = small_rows(iter, operands); rows != nullptr) {
    return dense(rows, /*steps=*/nullptr, iter.numel(), /*rows=*/1, /*repeated=*/0);
  }
  for_each_other_row(iter, {dense, repeats, /*by_row=*/false, waits});
}
void for_each_dense_row(TensorIteratorBase& iter, int operands, SingleRowLoop dense,
                        Repeats repeats, bool waits) {
  if (char* const* rows = small_rows(iter, operands); rows != nullptr) {
    return dense(rows, iter.numel(), /*repeated=*/0);
  }
  const auto loop = row_by_row(operands, dense);
  for_each_other_row(iter, {loop, repeats, /*by_row=*/true, waits});
}

}  // namespace at::inline oploom_v1::detail
