// What softmax and cross entropy share: numbers along a dimension whose exponentials are added up.
#pragma once

#include <aten/core/Parallel.h>
#include <aten/core/TensorBase.h>
#include <aten/cpu/ConvertRow.h>
#include <aten/cpu/FarRows.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/cpu/Strips.h>
#include <aten/cpu/vec/math_exp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

// Columns that are worked on together; a tile of them is to stay in the second-level cache.
inline constexpr int64_t kTile = 128;
// The same of columns that it does not keep, whose rows are gone over kFarRows at a time.
inline constexpr int64_t kFarTile = 1024, kFarRows = 8;
// Elements that are worth a thread.
inline constexpr int64_t kSoftMaxGrain = 8192;
// Rows of as many elements are kept in registers or on the stack.
template <typename T>
inline constexpr int64_t kShort = 16 * Lanes<T>::kSize;

// Columns up to which some dense rows are taken as one.
template <typename T>
inline constexpr int64_t kNarrow = 4 * Lanes<T>::kSize;

// A tensor seen as [outer, length, inner], reduced over the middle.
struct Blocks {
  Blocks(const TensorBase& t, int64_t dim) : length(t.sizes()[dim]) {
    for (int64_t d = 0; d < dim; ++d) outer *= t.sizes()[d];
    for (int64_t d = dim + 1; d < t.dim(); ++d) inner *= t.sizes()[d];
  }
  bool is_wide() const { return inner >= kTile / 2; }
  // Whether a row of the inner dimensions is short enough to be taken with others as one.
  template <typename T>
  bool is_narrow() const {
    return inner < kNarrow<T>;
  }
  // Which of the outer x inner places the element at `offset` belongs to.
  int64_t place_of(int64_t offset) const {
    return offset / (length * inner) * inner + offset % inner;
  }
  // Whether a tile of columns leaves the second-level cache before it is gone over again, or the
  // rows of the whole, `many_rows` of them and more, are too far apart to be read a tile at a time:
  // for elements of `size` bytes that are computed in `wide` bytes.
  bool leaves_cache(int64_t size, int64_t wide, int64_t many_rows) const {
    constexpr int64_t kCache = 1 << 20;
    const int64_t bytes = length * inner * size;
    return is_wide() && bytes > kCache &&
           (length * std::min(inner, kTile) * 2 * wide > kCache ||
            (length >= many_rows && bytes >= 8 * kCache));
  }
  int64_t outer = 1;
  int64_t length;
  int64_t inner = 1;
};

// Calls tile(offset, width) for tiles of neighbouring columns on several threads; offset is that of
// the tile's first element.
template <typename Tile>
void for_each_tile(const Blocks& b, int64_t widest, const Tile& tile) {
  const int64_t each = strip_width(b.inner, widest, b.outer, StripsAre::Written);
  const int64_t tiles = (b.inner + each - 1) / each;
  const int64_t grain = std::max<int64_t>(1, kSoftMaxGrain / (std::min(b.inner, each) * b.length));
  at::parallel_for(0, b.outer * tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % tiles * each;
      tile(i / tiles * b.length * b.inner + first, std::min(each, b.inner - first));
    }
  });
}

// to[i] = value(i, lanes) for a number or some of them. With vectors, four are computed before any
// is stored, which hides how long each takes.
template <typename T, typename Out, typename Value>
OPLOOM_ALWAYS_INLINE void compute_row(Out* to, int64_t n, const Value& value) {
  using L = Lanes<T>;
  int64_t i = 0;
  if constexpr (L::kVec) {
    for (; i + 4 * L::kSize <= n; i += 4 * L::kSize) {
      const auto first = value(i, L()), second = value(i + L::kSize, L()),
                 third = value(i + 2 * L::kSize, L()), fourth = value(i + 3 * L::kSize, L());
      L::store(to + i, first);
      L::store(to + i + L::kSize, second);
      L::store(to + i + 2 * L::kSize, third);
      L::store(to + i + 3 * L::kSize, fourth);
    }
  }
  for_each_lanes<T>(n - i,
                    [&](int64_t j, auto lanes) { lanes.store(to + i + j, value(i + j, lanes)); });
}

// y[i] = f(x[i]); both may be the same.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE void map_row(const T* x, T* y, int64_t n, const F& f) {
  compute_row<T>(y, n, [&](int64_t i, auto lanes) { return f(lanes.load(x + i)); });
}

// The logarithms of n numbers in their place.
template <typename T>
OPLOOM_ALWAYS_INLINE void take_logs(T* values, int64_t n) {
  map_row(values, values, n, [](auto value) {
    if constexpr (std::is_arithmetic_v<decltype(value)>) {
      return std::log(value);
    } else {
      return value.log();
    }
  });
}

// Rows of <= kTile columns. Where they are narrow and dense, some are taken as one wide row, which
// fills vectors: `count` rows of `width` elements, and `part` elements of another one.
struct WideRows {
  // Of rows of `lanes` elements and more, each is one. Leaves at least so many wide ones.
  WideRows(int64_t rows, int64_t columns, bool dense, int64_t lanes, int64_t least = 2)
      : columns(columns) {
    const int64_t most = dense && columns < lanes ? std::min(lanes, kTile / columns) : 1;
    folds = std::clamp<int64_t>(rows / least, 1, most);
    count = rows / folds;
    width = folds * columns;
    part = rows % folds * columns;
  }
  // The results of the first row in a wide one become those of their columns.
  template <typename T, typename F>
  void join(T* values, const F& f) const {
    for (int64_t i = columns; i < width; i += columns) {
      for (int64_t j = 0; j < columns; ++j) values[j] = f(values[j], values[i + j]);
    }
  }
  // Those of the others become the same.
  template <typename T>
  void repeat(T* values) const {
    for (int64_t i = columns; i < width; ++i) values[i] = values[i - columns];
  }
  int64_t columns, folds, count, width, part;
};

// The largest of 1 <= n <= kShort numbers and the sum of the exponentials of their distances from
// it, both in every lane. Leaves these in `value`, with `log` the distances.
template <bool log, typename T, typename In, typename V = typename Lanes<T>::V>
OPLOOM_ALWAYS_INLINE std::pair<V, V> short_row_sums(const In* x, int64_t n, V (&value)[16]) {
  using L = Lanes<T>;
  // Behind the end of the row is the first element again: exponentials that underflow would take
  // the processor long.
  const V first(static_cast<T>(x[0]));
  // Of infinities alone no distance is taken: it would not be a number.
  V max(std::numeric_limits<T>::lowest()), sum(T(0));
  for_each_lanes<T>(n, [&](int64_t i, auto lanes) {
    value[i / L::kSize] = lanes.with(lanes.load(x + i), first);
    max = PlainMax::apply(max, value[i / L::kSize]);
  });
  max = across<PlainMax, T>(max);
  for_each_lanes<T>(n, [&](int64_t i, auto lanes) {
    const V distance = value[i / L::kSize] - max;
    const V e = vec::exp_of(distance);
    sum = sum + lanes.with(e, V(T(0)));
    value[i / L::kSize] = log ? distance : e;
  });
  return {max, across<Add, T>(sum)};
}

// Calls rows(k, integer sequence from 0) for groups of `together` of n rows, the first one from
// `first` on, and what is left for groups of `fewer`.
template <int64_t together, int64_t... fewer, typename F>
OPLOOM_ALWAYS_INLINE void for_each_group(int64_t first, int64_t n, const F& rows) {
  int64_t k = first;
  for (; k + together <= n; k += together) {
    rows(k, std::make_integer_sequence<int64_t, together>{});
  }
  if constexpr (sizeof...(fewer) > 0) for_each_group<fewer...>(k, n, rows);
}

// The largest numbers of columns, and the sums of the exponentials of the distances from them,
// which are scaled where a larger number turns up: each number is read once.
template <typename T>
struct ColumnSums {
  using L = Lanes<T>;
  using V = typename L::V;

  void start(int64_t width) {
    std::fill_n(max, width, std::numeric_limits<T>::lowest());
    std::fill_n(sum, width, T(0));
  }

  // Of n rows of `width` columns more, some of them together; `fresh`, if there were none before.
  // What is read next is fetched.
  template <typename In>
  void add_rows(const In* x, int64_t stride, int64_t n, int64_t width, bool fresh,
                const RowWriter<In>& writer) {
    for_each_group<kFarRows, kFarRows / 2, 2, 1>(
        0, n, [&]<int64_t... r>(int64_t k, std::integer_sequence<int64_t, r...>) {
          for_each_lanes<T>(width, [&](int64_t j, auto lanes) {
            const In* row = x + k * stride + j;
            (writer.fetch_ahead(row, (sizeof...(r) + r) * stride, L::kSize), ...);
            const V value[] = {lanes.load(row + r * stride)...};
            const V old = L::load(max + j);
            V largest = old;
            ((largest = PlainMax::apply(largest, value[r])), ...);
            V total(T(0));
            // A test in the loops of more rows costs up to a tenth, and brings less there.
            if (sizeof...(r) > 2 || k > 0 || !fresh) {
              total = L::load(sum + j) * vec::exp_of(old - largest);
            }
            ((total = total + vec::exp_of(value[r] - largest)), ...);
            L::store(max + j, lanes.with(largest, old));
            L::store(sum + j, lanes.with(total, L::load(sum + j)));
          });
        });
  }

  // All of n dense rows of narrow columns, some of which are taken as a wide one.
  template <typename In>
  void add_narrow_rows(const In* x, int64_t n, int64_t columns, const RowWriter<In>& writer) {
    const WideRows wide(n, columns, /*dense=*/true, kNarrow<T>, columns < L::kSize ? 2 : kFarRows);
    start(wide.width);
    add_rows(x, wide.width, wide.count, wide.width, /*fresh=*/true, writer);
    if (wide.part > 0) {
      add_rows(x + wide.count * wide.width, wide.part, 1, wide.part, /*fresh=*/false, writer);
    }
    if (wide.folds == 1) return;
    alignas(64) T joined[kTile + L::kSize];
    std::copy_n(max, wide.width, joined);
    wide.join(joined, [](T p, T q) { return PlainMax::apply(p, q); });
    wide.repeat(joined);
    compute_row<T>(sum, wide.width, [&](int64_t i, auto lanes) {
      return lanes.load(sum + i) * vec::exp_of(lanes.load(max + i) - lanes.load(joined + i));
    });
    wide.join(sum, [](T p, T q) { return p + q; });
    std::copy_n(joined, columns, max);
  }

  // With room for a vector that is filled in part.
  alignas(64) T max[kFarTile + L::kSize];
  alignas(64) T sum[kFarTile + L::kSize];
};

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
