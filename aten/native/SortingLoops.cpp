// The loops of sort and topk. But for short rows, they move and compare single elements, for which
// vector instructions do nothing: they are compiled once, not for each instruction set.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/core/SortKeys.h>
#include <aten/core/TensorBase.h>
#include <aten/iterator/Cast.h>
#include <aten/iterator/ShortRows.h>
#include <aten/iterator/Walker.h>
#include <aten/native/SortingLoops.h>
#include <aten/stubs/Sorting.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1::native {
namespace {

// Note [Items]
// What is sorted are items: whole numbers with a key in their upper half and an index in the lower
// one. No two of a row are equal, and in their order equal elements keep theirs.
using Item = uint64_t;
// For rows of 2^32 elements and more, and for long keys where they have to be whole.
__extension__ using LongItem = unsigned __int128;
template <typename I>
constexpr int kHalf = 4 * sizeof(I);

template <typename I>
int64_t index_of(I item) {
  return static_cast<int64_t>(item & ((I(1) << kHalf<I>)-1));
}

// Calls f(part, begin, end) for the parts of [0, n), at the same time.
template <typename F>
void for_each_part(int64_t n, int64_t parts, const F& f) {
  at::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      f(part, n * part / parts, n * (part + 1) / parts);
    }
  });
}

// So few are compared with each other.
constexpr int64_t kFew = 40;

// Elements are distributed by digits of their keys, the lowest first: by as many as cost the least,
// where a counter takes about half as long as an element.
struct Digits {
  int count, length;
};
Digits digits_for(int64_t n, int bits) {
  constexpr int kLongest = 11;
  Digits best{};
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int count = (bits + kLongest - 1) / kLongest; count <= bits; ++count) {
    const int length = (bits + count - 1) / count;
    const int64_t cost = count * ((int64_t{1} << length) + 2 * n);
    if (cost >= least) break;
    least = cost;
    best = {count, length};
  }
  return best;
}

using Counts = SmallVector<int64_t, 256>;

// Calls put(i, place) for all i < n in the stable order of digit_of(i), a number of `length` bits;
// there are 2^length counters for each part.
template <typename DigitOf, typename Put>
void distribute(int64_t n, int64_t parts, int length, int64_t* counts, const DigitOf& digit_of,
                const Put& put) {
  for_each_part(n, parts, [&](int64_t part, int64_t begin, int64_t end) {
    int64_t* count = counts + (part << length);
    std::fill_n(count, int64_t{1} << length, 0);
    for (int64_t i = begin; i < end; ++i) ++count[digit_of(i)];
  });
  int64_t next = 0;
  for (int64_t value = 0; value < int64_t{1} << length; ++value) {
    for (int64_t part = 0; part < parts; ++part) {
      next += std::exchange(counts[(part << length) + value], next);
    }
  }
  for_each_part(n, parts, [&](int64_t part, int64_t begin, int64_t end) {
    int64_t* count = counts + (part << length);
    // Copies, which no byte that is written may change.
    const DigitOf digit = digit_of;
    const Put put_one = put;
    for (int64_t i = begin; i < end; ++i) put_one(i, count[digit(i)]++);
  });
}

// Sorts n items by `bits` of their bits, from `low` on, stably; returns where they are, which is
// `a` or `b`. Few items are sorted by all of their bits.
template <typename I>
I* sort_items(I* a, I* b, int64_t n, int low, int bits, int64_t parts) {
  if (bits == 0) return a;
  // Long items have twice the digits.
  if (n <= (sizeof(I) > sizeof(Item) ? 2 * kFew : kFew)) {
    std::sort(a, a + n);
    return a;
  }
  const Digits digits = digits_for(n, bits);
  Counts counts(static_cast<size_t>(parts << digits.length));
  for (int digit = 0; digit < digits.count; ++digit) {
    distribute(
        n, parts, digits.length, counts.data(),
        [a, length = digits.length, shift = low + digit * digits.length](int64_t i) {
          return static_cast<int64_t>(a[i] >> shift) & ((int64_t{1} << length) - 1);
        },
        [a, b](int64_t i, int64_t place) { b[place] = a[i]; });
    std::swap(a, b);
  }
  return a;
}

// Rows along `dim` of the input and the outputs, in at least one dimension: those that rows follow
// each other along are taken for one.
struct Rows {
  Rows(const TensorBase& values, const TensorBase& indices, const TensorBase& self, int64_t dim)
      : in_stride(self.strides()[dim]),
        value_stride(values.strides()[dim]),
        index_stride(indices.strides()[dim]) {
    WalkDim next{1, 0, 0}, next_index{1, 0, 0};
    const auto follows = [](const WalkDim& dim, int64_t in, int64_t out) {
      return in == dim.size * dim.in && out == dim.size * dim.out;
    };
    for (int64_t d = self.dim() - 1; d >= 0; --d) {
      const int64_t size = self.sizes()[d], step = self.strides()[d];
      if (d == dim || size == 1) continue;
      if (next.size > 1 && follows(next, step, values.strides()[d]) &&
          follows(next_index, step, indices.strides()[d])) {
        next.size = next_index.size *= size;
      } else {
        if (next.size > 1) push(next, next_index);
        next = {size, step, values.strides()[d]};
        next_index = {size, step, indices.strides()[d]};
      }
      count *= size;
    }
    push(next, next_index);
  }
  void push(const WalkDim& dim, const WalkDim& index_dim) {
    in.push_back(dim);
    out.push_back(index_dim);
  }
  // Strides count elements here; `out` strides in `in` are those of the values, in `out` those of
  // the indices.
  WalkDims in;
  WalkDims out;
  int64_t in_stride;
  int64_t value_stride;
  int64_t index_stride;
  int64_t count = 1;
};

// Copies of rows, for which the elements of each are next to each other. Rows that are neighbours
// in memory are copied together, so that each cache line is read once.
class RowCopies {
 public:
  // Of rows of n elements, before row `end`.
  RowCopies(const Rows& rows, int64_t n, int64_t end, int64_t itemsize);
  // The copy of row `row`, which begins at x; rows are asked for one after the other.
  const char* copy(const void* x, int64_t row);

 private:
  int64_t n_, end_, itemsize_, stride_;
  int64_t neighbours_ = 1, together_ = 1;
  int64_t first_ = 0, count_ = 0;
  c10::DataPtr memory_;
};

RowCopies::RowCopies(const Rows& rows, int64_t n, int64_t end, int64_t itemsize)
    : n_(n), end_(end), itemsize_(itemsize), stride_(rows.in_stride * itemsize) {
  constexpr int64_t kCached = 256 * 1024, kCacheLine = 64;
  if (rows.in_stride != 1 && rows.in[0].in == 1) {
    neighbours_ = rows.in[0].size;
    together_ = std::clamp<int64_t>(kCached / (n * itemsize), 1, kCacheLine / itemsize);
  }
}

const char* RowCopies::copy(const void* x, int64_t row) {
  if (memory_.get() == nullptr) {
    memory_ = c10::GetCPUAllocator()->allocate(static_cast<size_t>(together_ * n_ * itemsize_));
  }
  char* copies = static_cast<char*>(memory_.mutable_get());
  if (row >= first_ + count_) {
    first_ = row;
    count_ = std::min({together_, neighbours_ - row % neighbours_, end_ - row});
    const char* from = static_cast<const char*>(x);
    if (count_ == 1) {
      at::detail::get_move_loop(itemsize_)(copies, itemsize_, from, stride_, n_);
    } else {
      // Lines far apart are asked for before.
      const auto transpose = at::detail::get_transpose_loop(itemsize_);
      constexpr int64_t kPiece = 64;
      for (int64_t i = 0; i < n_; i += kPiece) {
        for (int64_t j = i + kPiece; j < std::min(i + 2 * kPiece, n_); ++j) {
          __builtin_prefetch(from + j * stride_);
        }
        transpose(copies + i * itemsize_, n_ * itemsize_, from + i * stride_, stride_, count_,
                  std::min(kPiece, n_ - i), /*stream=*/false);
      }
    }
  }
  return copies + (row - first_) * n_ * itemsize_;
}

// Sorts a row of n elements x, in `parts` at the same time; `a` and `b` have room for n items.
template <typename I, typename T>
void sort_row(const T* x, int64_t n, bool descending, int64_t parts, I* a, I* b, T* values,
              int64_t value_stride, int64_t* indices, int64_t index_stride) {
  using K = Key<T>;
  // Rows that are in order, or in the opposite one: others are told from them by the first few.
  int64_t next = 0;
  const auto put = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i, ++next) {
      values[next * value_stride] = x[i];
      indices[next * index_stride] = i;
    }
  };
  const auto is_run = [&](const auto& follows) {
    int64_t i = 1;
    while (i < n && follows(key_of(x[i], descending), key_of(x[i - 1], descending))) ++i;
    return i == n;
  };
  if (is_run([](K key, K before) { return key >= before; })) return put(0, n);
  // (What is sorted by one byte takes less time than this.)
  if (sizeof(K) > 1 && is_run([](K key, K before) { return key <= before; })) {
    // Equal elements keep their order.
    for (int64_t first, last = n; last > 0; last = first) {
      const K key = key_of(x[last - 1], descending);
      for (first = last - 1; first > 0 && key_of(x[first - 1], descending) == key;) --first;
      put(first, last);
    }
    return;
  }
  // By one digit the elements go where they belong.
  const auto by_one = [&](int length, const auto& digit_of) {
    Counts counts(static_cast<size_t>(parts << length));
    distribute(n, parts, length, counts.data(), digit_of, [=](int64_t i, int64_t place) {
      values[place * value_stride] = x[i];
      indices[place * index_stride] = i;
    });
  };
  if constexpr (sizeof(K) == 1) {
    return by_one(8, [=](int64_t i) { return key_of(x[i], descending); });
  }
  // Keys count from the lowest one, and without the bits at the end that all have in common.
  struct Range {
    K lowest, highest, differing;
  };
  // They are kept where `b` will be.
  K* keys = reinterpret_cast<K*>(b);
  const K first = key_of(x[0], descending);
  SmallVector<Range, 16> ranges(static_cast<size_t>(parts), Range{first, first, 0});
  for_each_part(n, parts, [&](int64_t part, int64_t begin, int64_t end) {
    Range range = ranges[part];
    for (int64_t i = begin; i < end; ++i) {
      const K key = key_of(x[i], descending);
      keys[i] = key;
      range = {std::min(range.lowest, key), std::max(range.highest, key),
               static_cast<K>(range.differing | (key ^ first))};
    }
    ranges[part] = range;
  });
  Range all = ranges[0];
  for (const Range& range : ranges) {
    all = {std::min(all.lowest, range.lowest), std::max(all.highest, range.highest),
           static_cast<K>(all.differing | range.differing)};
  }
  const int low = all.differing == 0 ? 0 : std::countr_zero(all.differing);
  const int bits = std::bit_width(static_cast<K>(static_cast<K>(all.highest - all.lowest) >> low));
  const auto shortened = [lowest = all.lowest, low](K key) {
    return static_cast<K>(static_cast<K>(key - lowest) >> low);
  };
  if (bits > 0 && digits_for(n, bits).count == 1) {
    return by_one(bits, [=](int64_t i) { return shortened(keys[i]); });
  }
  // The bits of long keys that items have no room for are for a second time.
  const int left_out = std::max(0, bits - kHalf<I>);
  for_each_part(n, parts, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      a[i] = static_cast<I>(shortened(keys[i]) >> left_out) << kHalf<I> | static_cast<I>(i);
    }
  });
  const I* sorted = sort_items(a, b, n, kHalf<I>, bits - left_out, parts);
  if (left_out > 0) {
    I* items = sorted == a ? a : b;
    I* others = sorted == a ? b : a;
    const auto same = [items](int64_t i) {
      return items[i] >> kHalf<I> == items[i - 1] >> kHalf<I>;
    };
    // A run of items with equal keys belongs to the part that it begins in.
    SmallVector<int64_t, 16> begins(static_cast<size_t>(parts) + 1, n);
    for (int64_t part = 0; part < parts; ++part) {
      int64_t i = n * part / parts;
      while (i > 0 && i < n && same(i)) ++i;
      begins[part] = i;
    }
    for_each_part(n, parts, [&](int64_t part, int64_t, int64_t) {
      // Not what is behind it, which another part changes at the same time.
      const int64_t last = begins[part + 1];
      int64_t end;
      for (int64_t i = begins[part]; i < last; i = end) {
        for (end = i + 1; end < last && same(end);) ++end;
        if (end == i + 1) continue;
        for (int64_t j = i; j < end; ++j) {
          const int64_t index = index_of(items[j]);
          const K rest =
              shortened(key_of(x[index], descending)) & static_cast<K>((K(1) << left_out) - 1);
          items[j] = static_cast<I>(rest) << kHalf<I> | static_cast<I>(index);
        }
        const I* run = sort_items(items + i, others + i, end - i, kHalf<I>, left_out, 1);
        if (run != items + i) std::copy(run, run + (end - i), items + i);
      }
    });
  }
  // Elements that are not known from their items are asked for so many places before.
  constexpr int64_t kAhead = 32;
  for_each_part(n, parts, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (left_out > 0 && i + kAhead < end) __builtin_prefetch(x + index_of(sorted[i + kAhead]));
      const int64_t index = index_of(sorted[i]);
      const auto key = static_cast<K>((static_cast<K>(sorted[i] >> kHalf<I>) << low) + all.lowest);
      values[i * value_stride] = left_out == 0 && has_own_key<T>(key, descending)
                                     ? element_of<T>(key, descending)
                                     : x[index];
      indices[i * index_stride] = index;
    }
  });
}

// Writes the first k of each row in their order.
void sort_short_rows(ShortRowSorter sort, const TensorBase& values, const TensorBase& indices,
                     const TensorBase& self, int64_t k, int64_t dim, bool descending) {
  const Rows rows(values, indices, self, dim);
  const int64_t n = self.sizes()[dim], itemsize = self.itemsize();
  const auto* in = static_cast<const char*>(self.const_data_ptr());
  auto* value_out = static_cast<char*>(values.mutable_data_ptr());
  int64_t* index_out = indices.mutable_data_ptr<int64_t>();
  const bool copied = rows.in_stride != 1 || values.is_alias_of(self);
  at::parallel_for(0, rows.count, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
    RowCopies copies(rows, n, end, itemsize);
    Walker walker(rows.in.data(), rows.in.size(), begin);
    Walker index_walker(rows.out.data(), rows.out.size(), begin);
    for (int64_t row = begin; row < end; ++row, walker.next(), index_walker.next()) {
      const char* x = in + walker.in * itemsize;
      if (copied) x = copies.copy(x, row);
      sort(x, n, descending, k, value_out + walker.out * itemsize, rows.value_stride,
           index_out + index_walker.out, rows.index_stride);
    }
  });
}

// Writes the first k of each row in their order, of many rows at a time, which are transposed in
// the cache.
void sort_columns(ColumnSorter sort, const TensorBase& values, const TensorBase& indices,
                  const TensorBase& self, int64_t k, int64_t dim, bool descending) {
  const Rows rows(values, indices, self, dim);
  const int64_t n = self.sizes()[dim], size = self.itemsize();
  constexpr int64_t kElements = 2048, kMost = 128, kIndex = sizeof(int64_t);
  const int64_t together =
      std::clamp(kElements / static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n))),
                 columns_at_least(static_cast<size_t>(size)), kMost);
  const auto* in = static_cast<const char*>(self.const_data_ptr());
  auto* value_out = static_cast<char*>(values.mutable_data_ptr());
  auto* index_out = reinterpret_cast<char*>(indices.mutable_data_ptr<int64_t>());
  const int64_t blocks = (rows.count + together - 1) / together;
  at::parallel_for(
      0, blocks, std::max<int64_t>(1, 8192 / (n * together)), [&](int64_t first, int64_t end) {
        const int64_t places = n * together;
        const c10::DataPtr memory = c10::GetCPUAllocator()->allocate(
            static_cast<size_t>(n * kColumnScratch + places * (kIndex + 2 * size)));
        char* scratch = static_cast<char*>(memory.mutable_get());
        char* index = scratch + n * kColumnScratch;
        char* x = index + places * kIndex;
        char* sorted = x + places * size;
        for (int64_t block = first; block < end; ++block) {
          const int64_t row = block * together, last = std::min(rows.count, row + together);
          char* next = x;
          for_each_run(rows.in, row, last, [&](int64_t from, int64_t, int64_t number) {
            at::detail::copy_matrix(next, size, together * size, in + from * size,
                                    rows.in[0].in * size, rows.in_stride * size, size, number, n);
            next += number * size;
          });
          sort(x, n, together, last - row, descending, k, sorted, reinterpret_cast<int64_t*>(index),
               scratch);
          next = sorted;
          for_each_run(rows.in, row, last, [&](int64_t, int64_t to, int64_t number) {
            at::detail::copy_matrix(value_out + to * size, rows.in[0].out * size,
                                    rows.value_stride * size, next, size, together * size, size,
                                    number, k);
            next += number * size;
          });
          next = index;
          for_each_run(rows.out, row, last, [&](int64_t, int64_t to, int64_t number) {
            at::detail::copy_matrix(index_out + to * kIndex, rows.out[0].out * kIndex,
                                    rows.index_stride * kIndex, next, kIndex, together * kIndex,
                                    kIndex, number, k);
            next += number * kIndex;
          });
        }
      });
}

template <typename I, typename T>
void sort_rows(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
               int64_t dim, bool descending) {
  const Rows rows(values, indices, self, dim);
  const int64_t n = self.sizes()[dim];
  const T* in = self.const_data_ptr<T>();
  T* value_out = values.mutable_data_ptr<T>();
  int64_t* index_out = indices.mutable_data_ptr<int64_t>();
  // Threads share out rows; where these are fewer than threads, parts of each row.
  const int64_t threads = at::in_parallel_region() ? 1 : at::get_num_threads();
  const int64_t parts = rows.count < threads ? std::clamp<int64_t>(n / GRAIN_SIZE, 1, threads) : 1;
  const auto sort_some = [&](int64_t begin, int64_t end) {
    const c10::DataPtr memory =
        c10::GetCPUAllocator()->allocate(static_cast<size_t>(n) * 2 * sizeof(I));
    I* a = static_cast<I*>(memory.mutable_get());
    // `values` may be `self`: rows are read from copies.
    RowCopies copies(rows, n, end, sizeof(T));
    Walker walker(rows.in.data(), rows.in.size(), begin);
    Walker index_walker(rows.out.data(), rows.out.size(), begin);
    for (int64_t row = begin; row < end; ++row, walker.next(), index_walker.next()) {
      const T* x = reinterpret_cast<const T*>(copies.copy(in + walker.in, row));
      sort_row(x, n, descending, parts, a, a + n, value_out + walker.out, rows.value_stride,
               index_out + index_walker.out, rows.index_stride);
    }
  };
  if (parts > 1) return sort_some(0, rows.count);
  at::parallel_for(0, rows.count, std::max<int64_t>(1, 4096 / n), sort_some);
}

// So many elements of a row are looked at together.
constexpr int64_t kBlock = 16;

// Whether an element of a block may come before `limit`; where NaN is involved, always.
template <typename T>
OPLOOM_ALWAYS_INLINE bool any_before(const T* x, T limit, bool largest) {
  if constexpr (c10::is_reduced_floating_point_v<T>) {
    // By their bits, in the order of the numbers.
    typedef int16_t Lanes __attribute__((vector_size(16)));
    constexpr int16_t kSize = 0x7fff;
    constexpr auto kInfinity = std::bit_cast<int16_t>(std::numeric_limits<T>::infinity());
    const int16_t flip = largest ? -1 : 0, bits = std::bit_cast<int16_t>(limit);
    const auto rank = static_cast<int16_t>(bits ^ (bits >> 15 & kSize) ^ flip);
    if ((bits & kSize) > kInfinity) return true;
    Lanes found{};
    for (int64_t i = 0; i < kBlock; i += sizeof(Lanes) / sizeof(T)) {
      Lanes lanes;
      std::memcpy(&lanes, x + i, sizeof lanes);
      found |= (lanes ^ (lanes >> 15 & kSize) ^ flip) < rank;
      found |= (lanes & kSize) > kInfinity;
    }
    uint64_t halves[2];
    std::memcpy(halves, &found, sizeof found);
    return (halves[0] | halves[1]) != 0;
  }
  Key<T> any = 0;
  const auto look = [&](const auto& is_before) OPLOOM_ALWAYS_INLINE_LAMBDA {
    if constexpr (sizeof(T) < 8) {
      for (int64_t i = 0; i < kBlock; ++i) any |= is_before(x[i]) ? 1 : 0;
    } else {
      // Of so long ones, the compiler makes no vectors, and one in each turn takes up to 1.5 times
      // as long.
#pragma GCC unroll 16
      for (int64_t i = 0; i < kBlock; ++i) any |= is_before(x[i]) ? 1 : 0;
    }
  };
  if (largest) {
    look([limit](T element) { return !(element <= limit); });
  } else {
    look([limit](T element) { return !(element >= limit); });
  }
  return any != 0;
}

// Of `count` items, the first `sorted` of which are in order and at most k, leaves the first k in
// order.
template <typename I>
void insert_items(I* items, int64_t sorted, int64_t count, int64_t k) {
  for (int64_t i = sorted; i < count; ++i) {
    const I item = items[i];
    if (i >= k && items[k - 1] < item) continue;
    int64_t place = std::min(i, k - 1);
    for (; place > 0 && item < items[place - 1]; --place) items[place] = items[place - 1];
    items[place] = item;
  }
}

// Elements that may be among the first k are put behind each other. Few of them are kept in order;
// of others, where there is no room left, all but the first k are dropped.
template <typename I, typename T>
void topk_rows(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
               int64_t k, int64_t dim, bool largest, bool sorted) {
  const Rows rows(values, indices, self, dim);
  const int64_t n = self.sizes()[dim];
  const T* in = self.const_data_ptr<T>();
  T* value_out = values.mutable_data_ptr<T>();
  int64_t* index_out = indices.mutable_data_ptr<int64_t>();
  const bool few = k <= kFewInserted;
  const int64_t room = std::min(n, 2 * k) + kBlock;
  at::parallel_for(0, rows.count, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
    const c10::DataPtr memory =
        c10::GetCPUAllocator()->allocate(static_cast<size_t>(2 * room) * sizeof(I));
    I* items = static_cast<I*>(memory.mutable_get());
    RowCopies copies(rows, n, end, sizeof(T));
    Walker walker(rows.in.data(), rows.in.size(), begin);
    Walker index_walker(rows.out.data(), rows.out.size(), begin);
    for (int64_t row = begin; row < end; ++row, walker.next(), index_walker.next()) {
      const T* x = in + walker.in;
      if (rows.in_stride != 1) x = reinterpret_cast<const T*>(copies.copy(x, row));
      int64_t count = 0, kept = 0;
      // The last of the first k so far, once there have been as many.
      I limit = ~I(0);
      T limit_value{};
      const auto drop_all_but_k = [&] {
        if (few) {
          insert_items(items, kept, count, k);
        } else if (count > k) {
          std::nth_element(items, items + k - 1, items + count);
        }
        kept = count = std::min(count, k);
        if (count < k) return;
        limit = items[k - 1];
        limit_value = x[index_of(limit)];
      };
      for (int64_t first = 0; first < n; first += kBlock) {
        const int64_t last = std::min(n, first + kBlock);
        if (limit != ~I(0) && last == first + kBlock &&
            !any_before(x + first, limit_value, largest)) {
          continue;
        }
        for (int64_t i = first; i < last; ++i) {
          items[count] = static_cast<I>(key_of(x[i], largest)) << kHalf<I> | static_cast<I>(i);
          count += items[count] < limit ? 1 : 0;
        }
        if (few || count > room - kBlock) drop_all_but_k();
      }
      drop_all_but_k();
      const I* best = items;
      if (sorted && !few) {
        I* others = items + room;
        I differing = 0;
        for (int64_t i = 1; i < k; ++i) differing |= items[i] ^ items[0];
        I* by_index = sort_items(items, others, k, 0, std::bit_width(static_cast<uint64_t>(n)), 1);
        best = sort_items(by_index, by_index == items ? others : items, k, kHalf<I>,
                          std::bit_width(static_cast<uint64_t>(differing >> kHalf<I>)), 1);
      }
      T* y = value_out + walker.out;
      int64_t* index = index_out + index_walker.out;
      for (int64_t i = 0; i < k; ++i) {
        index[i * rows.index_stride] = index_of(best[i]);
        y[i * rows.value_stride] = x[index_of(best[i])];
      }
    }
  });
}

// Rows that are short enough for it are sorted many at a time, or by a sorter of their own. False
// if they are not.
bool sort_if_short(const char* op, const TensorBase& values, const TensorBase& indices,
                   const TensorBase& self, int64_t k, int64_t dim, bool descending) {
  // Of fewer rows, most lanes of vectors would be empty; to look for a few elements in each row
  // takes less time than to sort it.
  constexpr int64_t kFewestSorted = 16, kFewestSearched = 32;
  const ScalarType dtype = self.scalar_type();
  const int64_t n = self.sizes()[dim];
  if (self.numel() >= n * (k == n ? kFewestSorted : kFewestSearched)) {
    if (const ColumnSorter sort = column_sorter_stub(DeviceType::CPU, op, dtype, n, k)) {
      sort_columns(sort, values, indices, self, k, dim, descending);
      return true;
    }
  }
  const ShortRowSorter sort = short_row_sorter_stub(DeviceType::CPU, op, dtype, n, k);
  if (sort == nullptr) return false;
  sort_short_rows(sort, values, indices, self, k, dim, descending);
  return true;
}

}  // namespace

void sort_loops(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                int64_t dim, bool descending) {
  if (self.numel() == 0) return;
  if (sort_if_short("sort", values, indices, self, self.sizes()[dim], dim, descending)) return;
  OPLOOM_DISPATCH(self.scalar_type(), "sort",
                  (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
                    if (self.sizes()[dim] <= int64_t{std::numeric_limits<uint32_t>::max()}) {
                      sort_rows<Item, scalar_t>(values, indices, self, dim, descending);
                    } else {
                      sort_rows<LongItem, scalar_t>(values, indices, self, dim, descending);
                    }
                  });
}

void topk_loops(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                int64_t k, int64_t dim, bool largest, bool sorted) {
  if (self.numel() == 0 || k == 0) return;
  if (sort_if_short("topk", values, indices, self, k, dim, largest)) return;
  OPLOOM_DISPATCH(self.scalar_type(), "topk",
                  (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
                    if (sizeof(scalar_t) < 8 &&
                        self.sizes()[dim] <= int64_t{std::numeric_limits<uint32_t>::max()}) {
                      topk_rows<Item, scalar_t>(values, indices, self, k, dim, largest, sorted);
                    } else {
                      topk_rows<LongItem, scalar_t>(values, indices, self, k, dim, largest, sorted);
                    }
                  });
}

}  // namespace at::inline oploom_v1::native
