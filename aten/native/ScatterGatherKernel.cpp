// Kernels of gather and scatter: one coordinate of each place is replaced by an index. They move
// single elements and are compiled once, not for each instruction set.
#include <aten/core/Dispatch.h>
#include <aten/core/OpaqueType.h>
#include <aten/core/Parallel.h>
#include <aten/iterator/Cast.h>
#include <aten/native/NamedRows.h>
#include <aten/native/ShapeUtils.h>
#include <aten/stubs/Copy.h>
#include <aten/stubs/Indexing.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/FunctionRef.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/to.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <type_traits>

namespace at::inline oploom_v1::native {
namespace {

// Note [Lines]
// All places that differ in coordinate `dim` alone are a line. Two lines never touch the same
// element. Lines that are neighbours along one more dimension, `across`, are handled together, as a
// block, so that memory is read in its order: where that is the order of memory, row by row, a row
// being one place of each.
//
// Note [Shared rows]
// What one thread writes should not lie beside what another one does: a cache line with both goes
// to and fro between them, and either is fetched ahead by the other. Of 9,800 rows of 102 floats,
// two threads that had half of each took six times as long as one. So places are shared out where
// self is only read, if they are rows, or belong to fewer lines than there are threads. Rows that
// are written to, and that one index stands for, are shared out by their positions: each thread
// looks at all indices, and takes the rows that are its own, in their order. Otherwise lines are
// shared out, many at a time where they lie beside each other.
//
// Where each place asks for another cache line of `self`, of which it uses one element, blocks of
// few lines are copied to where they fit into the cache first, and back at the end (Note [Strips]).

// Strides in elements, along dim and across, from line to line.
struct Steps {
  int64_t dim, line;
};

// What stays in the second cache, in bytes.
constexpr int64_t kCached = 256 * 1024;
using at::detail::kLineBytes;
using at::detail::RowNames;

// Where a block begins, in elements from each tensor's first one; it has `width` lines. Of these
// the places from `first` on to `last` are taken, and of rows that one index stands for those that
// name positions from `low` on to `high`.
struct Block {
  int64_t self, index, other;
  int64_t width;
  int64_t first, last;
  int64_t low, high;
};

// Whether one of `size` positions is meant. Only gather asks, while it copies; before what is
// written to, all indices have been looked at.
template <typename S>
bool is_position([[maybe_unused]] int64_t index, [[maybe_unused]] int64_t size) {
  if constexpr (!std::is_const_v<S>) return true;
  return OPLOOM_LIKELY(static_cast<uint64_t>(index) < static_cast<uint64_t>(size));
}

// The first of rows of n elements, which lie so far apart as steps say, if they have no gaps; where
// one element is there for all of all of them, a row of it in `buffer`. Null if they are neither,
// or too many for that.
constexpr int64_t kRepeated = 1024;
OPLOOM_NOINLINE const void* rows_of(char* buffer, at::detail::CastLoop move, const void* from,
                                    int64_t n, Steps steps, int64_t size) {
  if (steps.line == 1) return from;
  if (steps.line != 0 || steps.dim != 0 || n * size > kRepeated) return nullptr;
  move(buffer, size, static_cast<const char*>(from), 0, n);
  return buffer;
}

// What is done with rows of elements without gaps: row(self, other, n) for two of them, or
// row(self, other, n, step) where those of `other` may be one; row.named() for many that an index
// names, those of self so many elements apart, those of `other` as steps say. False, and nothing
// done, if it is not for such rows.

// A row that is taken as a whole: of elements without gaps, or so many of them apart.
struct TakenRow {
  at::detail::RowCopy copy;
  at::detail::CastLoop move;  // of the elements' size

  template <typename T>
  bool operator()(const T* from, T* to, int64_t n) const {
    copy(to, from, n * int64_t{sizeof(T)});
    return true;
  }
  template <typename T>
  void take(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t n) const {
    constexpr int64_t kSize = sizeof(T);
    move(reinterpret_cast<char*>(to), to_step * kSize, reinterpret_cast<const char*>(from),
         from_step * kSize, n);
  }
};

// A row that is written over another, or one number that is written to all of it.
struct PutRow {
  int64_t size;               // of elements, in bytes
  at::detail::CastLoop move;  // of that size

  bool operator()(void* to, const void* from, int64_t n, int64_t step) const {
    move(static_cast<char*>(to), size, static_cast<const char*>(from), step * size, n);
    return true;
  }
  OPLOOM_NOINLINE bool named(void* self, int64_t self_step, const void* other, Steps steps,
                             int64_t n, const RowNames& names) const {
    alignas(16) char buffer[kRepeated];
    const void* rows = rows_of(buffer, move, other, n, steps, size);
    if (rows == nullptr) return false;
    copy_to_named_rows_stub(DeviceType::CPU, static_cast<char*>(self), self_step * size,
                            static_cast<const char*>(rows), steps.dim * size,
                            static_cast<size_t>(n * size), names);
    return true;
  }
};
// One number that is written to all rows, whatever `other` is.
struct FilledRow {
  const void* number;
  PutRow put;

  bool operator()(void* to, const void*, int64_t n, int64_t) const { return put(to, number, n, 0); }
  bool named(void* self, int64_t self_step, const void*, Steps, int64_t n,
             const RowNames& names) const {
    return put.named(self, self_step, number, {0, 0}, n, names);
  }
};

// A row that is added to another, multiplied by alpha, or one number that is added to all of it.
struct AddedRow {
  AddedRow(ScalarType dtype, const Scalar& alpha)
      : dtype(dtype),
        alpha(alpha),
        size(static_cast<int64_t>(c10::elementSize(dtype))),
        move(at::detail::get_move_loop(size)),
        adds(adds_rows(dtype, alpha)) {}

  bool named(void* self, int64_t self_step, const void* other, Steps steps, int64_t n,
             const RowNames& names) const {
    // To convert so few 16-bit floats takes less time than a call.
    constexpr int64_t kFew = 3;
    if (!adds || (n <= kFew && c10::isReducedFloatingType(dtype))) return false;
    return add(self, self_step, other, steps, n, names);
  }
  bool operator()(void* to, const void* from, int64_t n, int64_t step) const {
    return adds && add_one(to, from, n, step);
  }

 private:
  OPLOOM_NOINLINE bool add(void* self, int64_t self_step, const void* other, Steps steps, int64_t n,
                           const RowNames& names) const {
    alignas(16) char buffer[kRepeated];
    const void* rows = rows_of(buffer, move, other, n, steps, size);
    if (rows == nullptr) return false;
    add_named_rows(dtype, self, self_step, rows, steps.dim, n, names, alpha);
    return true;
  }
  OPLOOM_NOINLINE bool add_one(void* to, const void* from, int64_t n, int64_t step) const {
    alignas(16) char buffer[kRepeated];
    const int64_t piece = step == 1 ? n : std::min(n, kRepeated / size);
    const void* row = rows_of(buffer, move, from, piece, {0, step}, size);
    if (row == nullptr) return false;
    for (; n > 0; n -= piece, to = static_cast<char*>(to) + piece * size) {
      add_row(dtype, to, row, std::min(n, piece), alpha);
    }
    return true;
  }

  ScalarType dtype;
  const Scalar& alpha;
  int64_t size;               // of elements, in bytes
  at::detail::CastLoop move;  // of that size
  bool adds;
};
template <typename Row>
constexpr bool kAdds = std::is_same_v<AddedRow, Row>;

// A row that others are multiplied by.
template <typename Multiply>
struct FactorRow {
  Multiply multiply;  // of two elements

  template <typename T>
  bool operator()(T* to, const T* from, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) multiply(to[i], from[i]);
    return true;
  }
};

// Calls each(element of self, element of other) for n places, of which index, element of `other`
// and part of `self` lie so far apart; row(self, other, n) does the same for elements without gaps,
// row(self, other, n, step) for those of `other` so far apart, too: one after the other, or one for
// all. False at an index that is no position.
template <typename S, typename O, typename Each, typename Row>
bool for_each_in_run(int64_t n, S* self, Steps self_steps, int64_t size, const int64_t* index,
                     int64_t index_step, O* other, int64_t other_step, const Each& each,
                     const Row& row) {
  if (index_step == 0) {
    constexpr int64_t kLongRow = 8, kLongRepeat = 16;
    if (!is_position<S>(*index, size)) return false;
    self += *index * self_steps.dim;
    if (self_steps.line == 1 && n >= kLongRow) {
      if constexpr (requires { row(self, other, n, other_step); }) {
        const bool repeats = other_step == 0 && n >= kLongRepeat;
        if ((other_step == 1 || repeats) && row(self, other, n, other_step)) return true;
      } else if (other_step == 1) {
        return row(self, other, n);
      }
    }
    if constexpr (std::is_same_v<Row, TakenRow>) {
      if (n >= kLongRow) {
        row.take(self, self_steps.line, other, other_step, n);
        return true;
      }
    }
#pragma GCC unroll 4
    for (int64_t j = 0; j < n; ++j) each(self[j * self_steps.line], other[j * other_step]);
    return true;
  }
  for (int64_t j = 0; j < n; ++j) {
    const int64_t position = index[j * index_step];
    if (!is_position<S>(position, size)) return false;
    each(self[position * self_steps.dim + j * self_steps.line], other[j * other_step]);
  }
  return true;
}

// Reads a line, so that it is in the cache before it is asked for in disorder: memory gives what is
// read in order at half the cost.
template <typename S>
void read_ahead(S* line, int64_t size) {
  constexpr int64_t kPerCacheLine = kLineBytes / int64_t{sizeof(S)};
  const auto* bytes = reinterpret_cast<const volatile char*>(line);
  for (int64_t i = 0; i < size; i += kPerCacheLine) (void)bytes[i * int64_t{sizeof(S)}];
}

// What is read in rows far from each other is asked for so many rows before; the processor itself
// looks ahead only where the next cache line follows.
constexpr int64_t kRowsAhead = 8;

// Note [Strips]
// The strip of `self` that belongs to some lines, `size` positions long: copied to a buffer, where
// the elements of one position lie beside each other, and back again if it is written to. By size,
// as bytes, so that it is the same for all dtypes of a size.
template <size_t itemsize>
OPLOOM_NOINLINE void copy_strip(char* self, Steps steps, int64_t size, int64_t lines, char* strip,
                                bool back) {
  constexpr auto kBytes = static_cast<int64_t>(itemsize);
  const int64_t dim = steps.dim * kBytes, line = steps.line * kBytes;
  if (line == kBytes) {
    // copy_rows() asks for nothing before, and takes up to 1.25 times as long.
    const int64_t row = lines * kBytes;
    for (int64_t i = 0; i < size; ++i, self += dim, strip += row) {
      if (i + kRowsAhead < size) at::detail::fetch_row(self + kRowsAhead * dim, row);
      at::detail::copy_row(back ? self : strip, back ? strip : self, static_cast<size_t>(row));
    }
    return;
  }
  if (dim == kBytes) {
    const auto transpose = at::detail::get_transpose_loop(kBytes);
    if (back) {
      transpose(self, line, strip, lines * kBytes, lines, size, /*stream=*/false);
    } else {
      transpose(strip, lines * kBytes, self, line, size, lines, /*stream=*/false);
    }
    return;
  }
  const auto copy_all = [&](const auto& copy) {
    if (dim < line) {
      for (int64_t j = 0; j < lines; ++j) {
        for (int64_t i = 0; i < size; ++i) {
          copy(self + i * dim + j * line, strip + (i * lines + j) * kBytes);
        }
      }
      return;
    }
    for (int64_t i = 0; i < size; ++i) {
      if (i + kRowsAhead < size) {
        at::detail::fetch_row(self + (i + kRowsAhead) * dim, lines * kBytes);
      }
      for (int64_t j = 0; j < lines; ++j) {
        copy(self + i * dim + j * line, strip + (i * lines + j) * kBytes);
      }
    }
  };
  if (back) {
    copy_all([](char* in_self, char* in_strip) { std::memcpy(in_self, in_strip, itemsize); });
  } else {
    copy_all([](char* in_self, char* in_strip) { std::memcpy(in_strip, in_self, itemsize); });
  }
}

// How the places of an index are gone through. `other` has at least the sizes of index, and no
// memory in common with `self`.
struct Plan {
  // Of memory that is touched, in bytes: from so much on it is no longer in the second cache.
  static constexpr int64_t kFar = 2 << 20;

  Plan(const TensorBase& self, int64_t along, const TensorBase& index, const TensorBase& other,
       bool only_read = false)
      : shape(index.sizes()),
        self_strides(self.strides()),
        index_strides(index.strides()),
        other_strides(other.strides()),
        dim(along),
        itemsize(static_cast<int64_t>(self.itemsize())),
        indices(index.const_data_ptr<int64_t>()),
        length(index.sizes()[along]),
        size(self.sizes()[along]),
        reads(only_read) {
    if (shape.size() > 2) join_dims();
    const auto ndim = static_cast<int64_t>(shape.size());
    // What a step along d costs in what is walked through; along `across` it costs the least. Where
    // one element is there for all, what it is put to counts.
    const auto cost = [&](int64_t d) {
      return index_strides[d] + (other_strides[d] != 0 ? other_strides[d] : self_strides[d]);
    };
    for (int64_t d = 0; d < ndim; ++d) {
      if (d != dim && shape[d] > 1 && (across < 0 || cost(d) <= cost(across))) across = d;
    }
    if (across >= 0) width = shape[across];
    for (int64_t d = 0; d < ndim; ++d) {
      if (d != dim && d != across) outer *= shape[d];
    }
    const auto steps_of = [&](IntArrayRef strides) {
      return Steps{strides[dim], across < 0 ? 0 : strides[across]};
    };
    self_steps = steps_of(self_strides);
    index_steps = steps_of(index_strides);
    other_steps = steps_of(other_strides);
    rows = across >= 0 && cost(across) < cost(dim);
    one_index = rows && index_steps.line == 0;
    // Where neighbours in `self` are asked for one after the other, or in places far from each
    // other, strips bring nothing.
    const bool lines_apart = self_steps.line * itemsize >= kLineBytes,
               places_apart = self_steps.dim * itemsize >= kLineBytes;
    if (one_index && self_steps.dim == 1 && self_steps.line > 1) {
      strip = strip_of_columns();
    } else if (lines_apart != places_apart && (rows || places_apart) &&
               (!one_index || lines_apart)) {
      strip = strip_lines();
    }
    if (one_index && strip == 0 && self_steps.line == 1) {
      rows_ahead = at::detail::named_rows_ahead(width * itemsize, size * width * itemsize);
    }
    constexpr int64_t kShort = 1024;  // bytes: the processor sees the order of such lines itself
    const int64_t bytes = size * itemsize;
    reads_ahead = strip == 0 && self_steps.dim == 1 && bytes >= kShort && bytes <= kCached &&
                  length >= size / 4;
    // So many lines beside each other are a thread's own.
    constexpr int64_t kApart = 1024;
    const int64_t written_line = (reads ? other_steps : self_steps).line * itemsize;
    fewest = rows ? std::max<int64_t>(1, kApart / std::max(written_line, itemsize)) : 1;
  }

  // Dimensions that are neighbours in memory become one where they lie so in all tensors, and those
  // of size 1 none: those for which the index is the same, so that what an index names is moved in
  // long rows; those whose lines lie further apart than places, of which a block is then as many as
  // there are; and those whose rows are short, or whose lines of self are together in the cache.
  // Others stay as they are: where elements are named one by one, short rows go over less memory at
  // a time.
  OPLOOM_NOINLINE void join_dims() {
    IntArrayRef* const strides[] = {&self_strides, &index_strides, &other_strides};
    joined.reset(new DimVector[4]);
    DimVector& sizes = joined[3];
    const bool near = size * self_strides[dim] * itemsize <= kCached;
    const auto joins_inside = [&](int64_t d) {
      return index_strides[d] == 0 || near || joined[2].back() * itemsize < kLineBytes;
    };
    // The outermost first, as they lie in `other`, or in self where one element is there for many.
    const bool repeats = std::ranges::find(other_strides, 0) != other_strides.end();
    const IntArrayRef places = repeats ? self_strides : other_strides;
    DimVector order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>{}, [&](int64_t d) { return places[d]; });
    int64_t new_dim = -1;
    for (int64_t d : order) {
      if (shape[d] == 1 && d != dim) continue;
      const auto last = static_cast<int64_t>(sizes.size()) - 1;
      bool joins = last >= 0 && last != new_dim && d != dim &&
                   (other_strides[d] < other_strides[dim] ? joins_inside(d)
                                                          : other_strides[d] > other_strides[dim]);
      for (size_t k = 0; joins && k < 3; ++k) {
        joins = joined[k].back() == (*strides[k])[d] * shape[d];
      }
      if (joins) {
        sizes.back() *= shape[d];
      } else {
        if (d == dim) new_dim = last + 1;
        sizes.push_back(shape[d]);
      }
      for (size_t k = 0; k < 3; ++k) {
        if (joins) {
          joined[k].back() = (*strides[k])[d];
        } else {
          joined[k].push_back((*strides[k])[d]);
        }
      }
    }
    for (size_t k = 0; k < 3; ++k) *strides[k] = joined[k];
    shape = sizes;
    dim = new_dim;
  }

  // The lines of a strip, or 0 where there is nothing to gain: the buffer is to stay in the second
  // cache, and to take whole cache lines; and copying has to cost little beside the places,
  // `length` of them in a line.
  int64_t strip_lines() const {
    // A Zen 4 takes less time without strips up to 6 MB, and 1.5 times as long for 12. Positions a
    // multiple of 4 KB apart share so few places of its caches that small strips take half the
    // time. Of elements of 8 bytes, of which a cache line has few, sums take longer with them below
    // 0.5 MB.
    const bool in_pages = self_steps.dim != 0 && self_steps.dim * itemsize % 4096 == 0;
    const int64_t near_enough = !in_pages ? kFar : itemsize < 8 ? 128 << 10 : 512 << 10;
    if (bytes_touched() < near_enough || length < size / 2 || width * itemsize < kLineBytes)
      return 0;
    constexpr int64_t kBuffer = 512 << 10, kSmallBuffer = 128 << 10;
    return strip_of_rows(in_pages ? kSmallBuffer : kBuffer, in_pages);
  }

  // The same where one index stands for the elements of a position, which lie a line apart each,
  // and are moved as a row in a strip. Transposing, there and back, costs the less beside that the
  // smaller the elements are: measured on a Zen 4.
  int64_t strip_of_columns() const {
    constexpr int64_t kBuffer = 128 << 10;
    const int64_t fewest_bytes = reads ? 8 << 10 : 32 << 10;
    const int64_t cost = size * itemsize / (reads ? 8 : 4);
    const int64_t touched = bytes_touched();
    if (touched < fewest_bytes || length < (touched < kFar ? cost : std::min(cost, size / 2)))
      return 0;
    constexpr int64_t kFewestLines = 32;
    if (width * itemsize < kLineBytes || (!reads && width < kFewestLines)) return 0;
    if ((!reads || itemsize >= 8) && self_steps.line * itemsize < kLineBytes) return 0;
    return strip_of_rows(kBuffer, /*odd=*/true);
  }

  // Lines of a strip with so many bytes, or of one cache line for each position where that is more.
  // An odd number of cache lines lets positions that are a multiple of 4 KB apart lie elsewhere in
  // the caches in the buffer; a row of one takes longer to copy.
  int64_t strip_of_rows(int64_t bytes, bool odd) const {
    constexpr int64_t kMost = 2 << 20;
    if (size == 0) return 0;
    int64_t row = std::max(kLineBytes, bytes / size);
    if (odd && row > 3 * kLineBytes) {
      row = std::max<int64_t>(3, (row / kLineBytes - 1) | 1) * kLineBytes;
    }
    return size * row <= kMost ? std::min(width, row / itemsize) : 0;
  }

  int64_t bytes_touched() const {
    return std::max(size * self_steps.dim, width * self_steps.line) * itemsize;
  }

  // Of rows that one index stands for.
  RowNames names_of(const Block& block) const {
    return {indices + block.index + block.first * index_steps.dim,
            index_steps.dim,
            block.last - block.first,
            block.low,
            block.high,
            rows_ahead};
  }

  // Calls run(block) for all places, in the order of positions along dim, on several threads.
  void share_out(c10::function_ref<void(const Block&)> run) const {
    if (reads && strip == 0 && (rows || outer * width < at::get_num_threads())) {
      // Whole rows are copied in a fraction of the time that their elements would take.
      const bool copies = one_index && self_steps.line == 1 && other_steps.line == 1;
      share(length, (copies ? at::detail::kCopyGrain / itemsize : GRAIN_SIZE) / width,
            [&](Block block, int64_t first, int64_t last) {
              block.first = first;
              block.last = last;
              run(block);
            });
    } else if (one_index && strip == 0 && self_steps.line <= self_steps.dim) {
      // A thread passes over the rows of others, which takes longer than to add short ones: two
      // took up to 1.8 times as long as one for rows of 16 floats, 0.81 of its time for rows of
      // 102.
      constexpr int64_t kShortBytes = 384;
      const bool are_short = width * itemsize < kShortBytes;
      share(size, are_short ? size : GRAIN_SIZE * size / (length * width),
            [&](Block block, int64_t first, int64_t last) {
              block.low = first;
              block.high = last;
              run(block);
            });
    } else {
      share(width, std::max(GRAIN_SIZE / length, fewest),
            [&](Block block, int64_t first, int64_t last) {
              skip(block, first);
              block.width = last - first;
              run(block);
            });
    }
  }

  // Moves a block so many lines on.
  void skip(Block& block, int64_t lines) const {
    block.self += lines * self_steps.line;
    block.index += lines * index_steps.line;
    block.other += lines * other_steps.line;
  }

  // The block of all lines of group `rest` of the dimensions that are neither dim nor across.
  Block block_of(int64_t rest) const {
    Block block = {0, 0, 0, width, 0, length, 0, size};
    for (auto d = static_cast<int64_t>(shape.size()) - 1; d >= 0 && rest > 0; --d) {
      if (d == dim || d == across) continue;
      const int64_t position = rest % shape[d];
      rest /= shape[d];
      block.self += position * self_strides[d];
      block.index += position * index_strides[d];
      block.other += position * other_strides[d];
    }
    return block;
  }

  // Shares out `count` parts of each block: run(block, first, last) for those of one thread.
  void share(int64_t count, int64_t grain,
             c10::function_ref<void(const Block&, int64_t, int64_t)> run) const {
    at::parallel_for(
        0, outer * count, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
          while (begin < end) {
            const int64_t first = begin % count, last = std::min(count, first + end - begin);
            run(block_of(begin / count), first, last);
            begin += last - first;
          }
        });
  }

  IntArrayRef shape, self_strides, index_strides, other_strides;
  // Of the dimensions that are walked through, if they are others; a call with two has no use for
  // it.
  std::unique_ptr<DimVector[]> joined;
  int64_t dim, across = -1;  // -1: lines have no neighbours
  int64_t outer = 1;         // groups of the other dimensions
  int64_t itemsize;          // of self, in bytes
  const int64_t* indices;
  int64_t length, size;  // places of a line, and positions that they name
  int64_t width = 1;     // lines of a block
  Steps self_steps, index_steps, other_steps;
  bool rows;               // by rows of one place in each line, or line by line
  bool one_index;          // which stands for a row
  bool reads;              // self is not written to
  int64_t strip = 0;       // lines of a strip; 0: none are copied
  int64_t rows_ahead = 0;  // so many are asked for before; 0: none
  bool reads_ahead;        // each line of self, before its places
  int64_t fewest;          // lines that a thread has
};

// The places of a block. Without a strip, `elements` and `steps` are those of self. False at an
// index that is no position.
template <typename S, typename O, typename Each, typename Row>
OPLOOM_NOINLINE bool run_block(const Plan& plan, const Block& block, S* elements, Steps steps,
                               O* others, const Each& each, const Row& row) {
  const Steps index_steps = plan.index_steps, other_steps = plan.other_steps;
  const int64_t* places = plan.indices + block.index;
  if (plan.rows) {
    if constexpr (std::is_same_v<Row, TakenRow>) {
      constexpr int64_t kBytes = sizeof(S);
      if (plan.one_index && steps.line == 1 && other_steps.line == 1 &&
          !row.copy.streams(block.width * kBytes)) {
        return at::detail::copy_named_rows(
            reinterpret_cast<char*>(others + block.first * other_steps.dim),
            other_steps.dim * kBytes, reinterpret_cast<const char*>(elements), steps.dim * kBytes,
            static_cast<size_t>(block.width * kBytes), plan.names_of(block));
      }
    } else if constexpr (requires { &Row::named; }) {
      if (plan.one_index && steps.line == 1 &&
          row.named(elements, steps.dim, others + block.first * other_steps.dim, other_steps,
                    block.width, plan.names_of(block))) {
        return true;
      }
    }
    const bool takes_all = block.high - block.low == plan.size;
    const auto is_taken = [&](int64_t position) {
      return takes_all || (position >= block.low && position < block.high);
    };
    const int64_t ahead = plan.rows_ahead, fetched_until = ahead > 0 ? block.last - ahead : 0;
    for (int64_t i = block.first; i < block.last; ++i) {
      const int64_t position = places[i * index_steps.dim];
      // Not the rows of another thread.
      if (i < fetched_until) {
        const int64_t next = places[(i + ahead) * index_steps.dim];
        if (is_taken(next)) {
          at::detail::fetch_named_row(elements + next * steps.dim,
                                      block.width * int64_t{sizeof(S)});
        }
      }
      if (!is_taken(position)) continue;
      if (plan.strip > 0 && i + kRowsAhead < plan.length) {
        at::detail::fetch_row(places + (i + kRowsAhead) * index_steps.dim,
                              block.width * int64_t{sizeof(int64_t)});
        at::detail::fetch_row(others + (i + kRowsAhead) * other_steps.dim,
                              block.width * int64_t{sizeof(O)});
      }
      if (!for_each_in_run(block.width, elements, steps, plan.size, places + i * index_steps.dim,
                           index_steps.line, others + i * other_steps.dim, other_steps.line, each,
                           row)) {
        return false;
      }
    }
    return true;
  }
  // Few places of each line, the same ones: by place, for as many lines as stay in the cache.
  // Sums along so few are not what is asked for.
  constexpr int64_t kFewPlaces = 8, kLines = 256;
  constexpr bool kMoves =
      std::is_const_v<S> || (!kAdds<Row> && requires { row(elements, others, 0, 0); });
  if (kMoves && index_steps.line == 0 && block.last - block.first <= kFewPlaces) {
    for (int64_t j = 0; j < block.width; j += kLines) {
      const int64_t end = std::min(j + kLines, block.width);
      for (int64_t i = block.first; i < block.last; ++i) {
        const int64_t position = places[i * index_steps.dim];
        if (!is_position<S>(position, plan.size)) return false;
        S* const from = elements + position * steps.dim + j * steps.line;
        O* const to = others + i * other_steps.dim + j * other_steps.line;
        if constexpr (std::is_same_v<Row, TakenRow>) {
          row.take(from, steps.line, to, other_steps.line, end - j);
        } else {
#pragma GCC unroll 4
          for (int64_t k = 0; k < end - j; ++k)
            each(from[k * steps.line], to[k * other_steps.line]);
        }
      }
    }
    return true;
  }
  const auto each_line = [&](auto self_step, auto index_step, auto other_step) {
    for (int64_t j = 0; j < block.width; ++j) {
      S* line = elements + j * steps.line;
      const int64_t* line_places = places + j * index_steps.line;
      O* line_others = others + j * other_steps.line;
      if (plan.reads_ahead) read_ahead(line, plan.size);
        // One place in each turn takes up to 1.5 times as long where it goes across a cache line.
#pragma GCC unroll 4
      for (int64_t i = block.first; i < block.last; ++i) {
        const int64_t position = line_places[i * index_step];
        if (!is_position<S>(position, plan.size)) return false;
        each(line[position * self_step], line_others[i * other_step]);
      }
    }
    return true;
  };
  constexpr std::integral_constant<int64_t, 1> kOne;
  if (steps.dim == 1 && index_steps.dim == 1 && other_steps.dim == 1) {
    return each_line(kOne, kOne, kOne);
  }
  return each_line(steps.dim, index_steps.dim, other_steps.dim);
}

// Calls run(block, elements, steps of self) for the strips of a block, of self or of what is copied
// of it.
using RunBlock = c10::function_ref<void(const Block& block, char* elements, Steps steps)>;
OPLOOM_NOINLINE void run_by_strips(const Plan& plan, Block block, char* self, RunBlock run) {
  const int64_t size = plan.itemsize;
  if (plan.strip == 0) return run(block, self + block.self * size, plan.self_steps);
  const c10::DataPtr memory =
      c10::GetCPUAllocator()->allocate(static_cast<size_t>(plan.size * plan.strip * size));
  char* const buffer = static_cast<char*>(memory.mutable_get());
  const auto copy = [&](bool back) {
    with_opaque_type(static_cast<size_t>(size), [&]<typename T>(T) {
      copy_strip<sizeof(T)>(self + block.self * size, plan.self_steps, plan.size, block.width,
                            buffer, back);
    });
  };
  for (int64_t lines = block.width; lines > 0; lines -= block.width) {
    block.width = std::min(lines, plan.strip);
    copy(/*back=*/false);
    run(block, buffer, {block.width, 1});
    if (!plan.reads) copy(/*back=*/true);
    plan.skip(block, block.width);
  }
}

// Calls each(element of self, element of other) for all places of index, or row(self, other, n),
// which make_row() gives, for n elements without gaps. False if `self` is const and an index is no
// position: then some places have been left out.
template <typename S, typename O, typename Each, typename MakeRow>
bool for_each_place(const Plan& plan, S* self_data, O* other_data, const Each& each,
                    const MakeRow& make_row) {
  std::atomic<bool> all = true;
  // Of what is only read, nothing is written.
  auto* const self = reinterpret_cast<char*>(const_cast<std::remove_const_t<S>*>(self_data));
  plan.share_out([&](const Block& part) {
    const auto row = make_row();
    const auto run = [&](const Block& block, char* elements, Steps steps) {
      if (!run_block(plan, block, reinterpret_cast<S*>(elements), steps, other_data + block.other,
                     each, row)) {
        all.store(false, std::memory_order_relaxed);
      }
    };
    run_by_strips(plan, part, self, run);
  });
  return all.load(std::memory_order_relaxed);
}

// Whether few short rows of many blocks are taken, the same ones of each, as of small matrices of a
// batch: the same row of all of them at a time, since a block takes longer by itself than its rows.
bool takes_rows_of_planes(const Plan& plan) {
  constexpr int64_t kRowBytes = 128, kMostRows = 16, kFewestBlocks = 16;
  return plan.one_index && plan.strip == 0 && plan.shape.size() == 3 && plan.dim == 1 &&
         plan.across == 2 && plan.index_strides[0] == 0 && plan.self_steps.line == 1 &&
         plan.other_steps.line == 1 && plan.width * plan.itemsize <= kRowBytes &&
         plan.length <= kMostRows && plan.outer >= kFewestBlocks;
}

// False at an index that is no position.
bool take_rows_of_planes(const Plan& plan, const char* self, char* other) {
  for (int64_t i = 0; i < plan.length; ++i) {
    const int64_t position = plan.indices[i * plan.index_steps.dim];
    if (position < 0 || position >= plan.size) return false;
  }
  const int64_t size = plan.itemsize, bytes = plan.width * size;
  const int64_t from_step = plan.self_strides[0] * size, to_step = plan.other_strides[0] * size;
  // So many blocks stay in the first-level cache.
  constexpr int64_t kNear = 8192;
  const int64_t most = std::max<int64_t>(1, kNear / std::max(from_step, to_step));
  at::parallel_for(0, plan.outer, std::max<int64_t>(1, GRAIN_SIZE / (plan.length * plan.width)),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t j = begin; j < end; j += most) {
                       for (int64_t i = 0; i < plan.length; ++i) {
                         const int64_t position = plan.indices[i * plan.index_steps.dim];
                         at::detail::copy_rows(
                             other + j * to_step + i * plan.other_steps.dim * size, to_step,
                             self + j * from_step + position * plan.self_steps.dim * size,
                             from_step, static_cast<size_t>(bytes), std::min(most, end - j));
                       }
                     }
                   });
  return true;
}

bool gather_kernel(const TensorBase& result, const TensorBase& self, int64_t dim,
                   const TensorBase& index) {
  const Plan plan(self, dim, index, result, /*only_read=*/true);
  if (takes_rows_of_planes(plan)) {
    return take_rows_of_planes(plan, static_cast<const char*>(self.const_data_ptr()),
                               static_cast<char*>(result.mutable_data_ptr()));
  }
  return with_opaque_type(self.itemsize(), [&]<typename T>(T) {
    return for_each_place(
        plan, static_cast<const T*>(self.const_data_ptr()),
        static_cast<T*>(result.mutable_data_ptr()), [](const T& from, T& to) { to = from; },
        [&] {
          return TakenRow{at::detail::RowCopy(result.numel() * int64_t{sizeof(T)}),
                          at::detail::get_move_loop(sizeof(T))};
        });
  });
}

void scatter_kernel(const TensorBase& self, int64_t dim, const TensorBase& index,
                    const TensorBase& src) {
  const Plan plan(self, dim, index, src);
  with_opaque_type(self.itemsize(), [&]<typename T>(T) {
    for_each_place(
        plan, static_cast<T*>(self.mutable_data_ptr()), static_cast<const T*>(src.const_data_ptr()),
        [](T& to, const T& from) { to = from; },
        [] {
          return PutRow{sizeof(T), at::detail::get_move_loop(sizeof(T))};
        });
  });
}

void scatter_fill_kernel(const TensorBase& self, int64_t dim, const TensorBase& index,
                         const Scalar& value) {
  alignas(16) char number[16];
  value.store(self.scalar_type(), number);
  const Plan plan(self, dim, index, index);
  with_opaque_type(self.itemsize(), [&]<typename T>(T element) {
    std::memcpy(&element, number, sizeof(element));
    for_each_place(
        plan, static_cast<T*>(self.mutable_data_ptr()), index.const_data_ptr<int64_t>(),
        [element](T& to, int64_t) { to = element; },
        [number = &number[0]] {
          return FilledRow{number, {sizeof(T), at::detail::get_move_loop(sizeof(T))}};
        });
  });
}

// f of two numbers, computed in the type that T is computed in. That of Half, which is long to
// convert to and from where there are no instructions for it, is not inlined wherever it is used.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE T computed(T a, T b, const F& f) {
  using Wide = c10::opmath_type<T>;
  const auto result = [](T a, T b, const F& f) {
    return static_cast<T>(f(static_cast<Wide>(a), static_cast<Wide>(b)));
  };
  if constexpr (std::is_same_v<T, c10::Half>) {
    const auto called = [result](T a, T b, const F& f) OPLOOM_NOINLINE { return result(a, b, f); };
    return called(a, b, f);
  } else {
    return result(a, b, f);
  }
}

// (Cold, as most of it is about one call; what it calls for blocks is not.)
template <typename T>
OPLOOM_COLD void add_places(const Plan& plan, const TensorBase& self, const TensorBase& src,
                            c10::opmath_type<T> factor, const Scalar& alpha) {
  using Wide = c10::opmath_type<T>;
  // Even a factor of 1 would change infinite complex numbers.
  const bool scaled = !c10::is_complex_v<T> || factor != Wide(1);
  const auto add = [factor, scaled](T& to, const T& from) {
    if constexpr (std::is_same_v<T, bool>) {
      to = to || (from && factor);
    } else {
      to = computed(to, from, [=](Wide a, Wide b) { return a + (scaled ? b * factor : b); });
    }
  };
  const AddedRow row(c10::scalar_type_of_v<T>, alpha);
  for_each_place(plan, static_cast<T*>(self.mutable_data_ptr()),
                 static_cast<const T*>(src.const_data_ptr()), add, [&] { return row; });
}

// Sums of 16-bit floats that are named one by one, or lie in rows with gaps between elements, by
// way of float: where so many are added that all of self may be converted, that takes less time
// than to convert each, and they are rounded once. False, and nothing done, elsewhere.
OPLOOM_COLD bool add_widened(const Plan& plan, const TensorBase& self, int64_t dim,
                             const TensorBase& index, const TensorBase& src, const Scalar& alpha) {
  constexpr int64_t kFewest = 2048, kMost = int64_t{1} << 24;
  const int64_t places = index.numel();
  const bool in_rows = plan.one_index && (plan.self_steps.line == 1 || plan.strip > 0);
  if (!c10::isReducedFloatingType(self.scalar_type()) || in_rows || places < kFewest ||
      self.numel() > std::min(kMost, 4 * places)) {
    return false;
  }
  const Tensor sums = Tensor(self).to(kFloat);
  const Tensor terms = make_alias(src, index.sizes(), src.strides()).to(kFloat);
  scatter_add_stub(DeviceType::CPU, sums, dim, index, terms, alpha);
  Tensor(self).copy_(sums);
  return true;
}

void scatter_add_kernel(const TensorBase& self, int64_t dim, const TensorBase& index,
                        const TensorBase& src, const Scalar& alpha) {
  if (adds_contiguous(self, dim, index, src)) {
    const Tensor dense = make_alias(src, index.sizes(), src.strides()).contiguous();
    return scatter_add_stub(DeviceType::CPU, self, dim, index, dense, alpha);
  }
  const Plan plan(self, dim, index, src);
  if (add_widened(plan, self, dim, index, src, alpha)) return;
  OPLOOM_DISPATCH(self.scalar_type(), "scatter_add", (OPLOOM_ALL), [&] {
    // Sums modulo 2^8 are the same with a sign and without.
    using T = std::conditional_t<std::is_same_v<scalar_t, int8_t>, uint8_t, scalar_t>;
    const auto factor = alpha.to<c10::opmath_type<scalar_t>>();
    add_places<T>(plan, self, src, static_cast<c10::opmath_type<T>>(factor), alpha);
  });
}

void scatter_multiply_kernel(const TensorBase& self, int64_t dim, const TensorBase& index,
                             const TensorBase& src) {
  const Plan plan(self, dim, index, src);
  OPLOOM_DISPATCH(self.scalar_type(), "scatter", (OPLOOM_ALL), [&] {
    using Wide = c10::opmath_type<scalar_t>;
    const auto multiply = [](scalar_t& to, const scalar_t& from) {
      if constexpr (std::is_same_v<scalar_t, bool>) {
        to = to && from;
      } else if constexpr (std::is_integral_v<scalar_t>) {
        // Without a sign, too large a product wraps around.
        to = static_cast<scalar_t>(static_cast<uint64_t>(to) * static_cast<uint64_t>(from));
      } else {
        to = computed(to, from, [](Wide a, Wide b) { return a * b; });
      }
    };
    for_each_place(plan, self.mutable_data_ptr<scalar_t>(), src.const_data_ptr<scalar_t>(),
                   multiply, [&] { return FactorRow{multiply}; });
  });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH_FOR_ALL(gather_stub, &gather_kernel);
OPLOOM_REGISTER_DISPATCH_FOR_ALL(scatter_stub, &scatter_kernel);
OPLOOM_REGISTER_DISPATCH_FOR_ALL(scatter_fill_stub, &scatter_fill_kernel);
OPLOOM_REGISTER_DISPATCH_FOR_ALL(scatter_add_stub, &scatter_add_kernel);
OPLOOM_REGISTER_DISPATCH_FOR_ALL(scatter_multiply_stub, &scatter_multiply_kernel);

}  // namespace at::inline oploom_v1::native
