// What softmax and cross entropy share: numbers along a dimension whose exponentials are added up.
#pragma once

#include <aten/core/Parallel.h>
#include <aten/core/TensorBase.h>
#include <aten/cpu/ConvertRow.h>
#include <aten/cpu/FarRows.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/cpu/vec/math_exp.h>
#include <aten/stubs/Strips.h>

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
  // How much of the outer dimension is worth a thread.
  int64_t within_grain() const { return std::max<int64_t>(1, kSoftMaxGrain / (length * inner)); }
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

inline bool are_few_elements(const Blocks& b) {
  return b.inner == 1 && are_few_elements(b.length, b.outer);
}

// Calls some(first, number) for up to `most` of the outer dimension, which are computed together,
// on several threads.
template <typename F>
void for_each_some(const Blocks& b, int64_t most, const F& some) {
  at::parallel_for(0, b.outer, b.within_grain(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += most) some(i, std::min(most, end - i));
  });
}

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
    const V e = vec::exp_of_negative(distance);
    sum = sum + lanes.with(e, V(T(0)));
    value[i / L::kSize] = log ? distance : e;
  });
  return {max, across<Add, T>(sum)};
}

// Note [Rows by stages]
// Rows are gone over some at a time: for their extremes, for the exponentials of the distances from
// the largest number, and for results. A processor sees no row behind one that is longer than a few
// vectors; row by row, it would wait for each sum. What vectors of some rows hold is reduced at
// once, see across_each(). And with AVX2, exp() of what is near 0 takes three quarters of the time:
// where the least number of each row is, near_exponential() does for all of them. With AVX512
// softmax takes 0.95 to 1.08 of the time by it, which is not worth a second loop.
//
// What no vector is filled by goes through tails, which are gone over by themselves: a loop has
// exp() once, since the compiler would load its constants again for each row otherwise.
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
template <typename T>
inline constexpr bool kStagesRows = std::is_same_v<T, float>;
OPLOOM_ALWAYS_INLINE vec::Vec<float> near_exponential(vec::Vec<float> x) {
  return vec::exp_of_near(x);
}
inline constexpr float kNear = vec::kNearPower;
#else
template <typename T>
inline constexpr bool kStagesRows = false;
inline constexpr float kNear = 0;
#endif
// Elements of a row from which on: one of no more than a vector of AVX2 is seen behind others. What
// is gone over together, and the most rows.
template <typename T>
inline constexpr int64_t kStagedFrom = Lanes<T>::kSize > 8 ? 1 : Lanes<T>::kSize + 1;
inline constexpr int64_t kStaged = 4096;
inline constexpr int64_t kMostStaged = 64;
inline int64_t staged_together(int64_t n) {
  return std::clamp<int64_t>(kStaged / n, 1, kMostStaged);
}

// Whether near_exponential() takes less time than exp() does anyway.
template <typename T>
inline constexpr bool kHasNearForm = kStagesRows<T> && !vec::kHasScale<typename Lanes<T>::V>;

// The vector of a row of n numbers that begins `lanes` before its end. A row that is shorter is
// filled up by its first number: exponentials that underflow would take the processor long.
template <typename T, typename In>
OPLOOM_ALWAYS_INLINE typename Lanes<T>::V tail_of_row(const In* row, int64_t n,
                                                      int64_t lanes = Lanes<T>::kSize) {
  if (n >= lanes) return Lanes<T>::load(row + n - lanes);
  const FirstLanes<T> first(n);
  return first.with(first.load(row), typename Lanes<T>::V(static_cast<T>(row[0])));
}

// The largest numbers of rows; of infinities alone the lowest number, since there is no distance
// between these. With kHasNearForm, whether all are that near to their row's largest.
template <typename T, typename In>
OPLOOM_NOINLINE bool row_maxima(const In* x, int64_t n, int64_t rows, T* max, Ahead ahead) {
  using L = Lanes<T>;
  using V = typename L::V;
  constexpr int64_t kVecs = 4, kStep = kVecs * L::kSize;
  const V lowest(std::numeric_limits<T>::lowest()), highest(std::numeric_limits<T>::max());
  V farthest(T(0));
  for (int64_t group = 0; group < rows; group += L::kSize) {
    const int64_t count = std::min(rows - group, L::kSize);
    V largest[L::kSize], smallest[L::kSize];
    for (int64_t i = 0; i < count; ++i, x += n) {
      V most[kVecs] = {lowest}, least[kVecs] = {highest};
      // What is not a number is passed over, and makes the sum none, too.
      const auto see = [&](int64_t k, V value) OPLOOM_ALWAYS_INLINE_LAMBDA {
        most[k] = PlainMax::apply(most[k], value);
        if constexpr (kHasNearForm<T>) least[k] = PlainMin::apply(least[k], value);
      };
      int64_t j = 0;
      if (n >= kStep) {
        std::fill(most + 1, most + kVecs, lowest);
        std::fill(least + 1, least + kVecs, highest);
        for (; j + kStep <= n; j += kStep) {
          fetch_behind(x + j, kStep, ahead);
          OPLOOM_UNROLL_VECS
          for (int64_t k = 0; k < kVecs; k += 2) {
            see(k, OfPair<In, 0>::load(x + j + k * L::kSize));
            see(k + 1, OfPair<In, 1>::load(x + j + k * L::kSize));
          }
        }
        halve<PlainMax, 1>(most);
        if constexpr (kHasNearForm<T>) halve<PlainMin, 1>(least);
      }
      for (; j + L::kSize <= n; j += L::kSize) see(0, L::load(x + j));
      if (j < n) see(0, tail_of_row<T>(x, n));
      largest[i] = most[0];
      if constexpr (kHasNearForm<T>) smallest[i] = least[0];
    }
    std::fill(largest + count, largest + L::kSize, V(T(0)));
    const V of_rows = across_each<PlainMax, T>(largest);
    FirstLanes<T>(count).store(max + group, of_rows);
    if constexpr (kHasNearForm<T>) {
      std::fill(smallest + count, smallest + L::kSize, V(T(0)));
      farthest = PlainMin::apply(farthest, across_each<PlainMin, T>(smallest) - of_rows);
    }
  }
  if constexpr (!kHasNearForm<T>) return false;
  if constexpr (kHasNearForm<T>) {
    return L::first(across<PlainMin, T>(farthest)) >= T(-kNear);
  }
}

// Of rows of n elements, `whole` are gone over by steps of one vector, or of a pair; what is left
// is the end of `width` others, one vector or two: the row's tail.
template <typename T, bool pairs>
struct RowParts {
  static constexpr int64_t kStep = (pairs ? 2 : 1) * Lanes<T>::kSize;
  explicit RowParts(int64_t n)
      : whole(n / kStep * kStep),
        width((n - whole + Lanes<T>::kSize - 1) / Lanes<T>::kSize * Lanes<T>::kSize) {}
  int64_t whole, width;
};

// The sums of the exponentials of the distances from `max`; those of the tails are there. With
// `keeps` the exponentials are put into `kept`, too, which may be x, and where a row begins each n
// elements, or each vector. Unless it is 0, what lies `ahead` elements on is fetched.
template <bool keeps, bool near, bool pairs, typename T, typename In>
OPLOOM_NOINLINE void row_exponentials(const In* x, T* kept, int64_t n, int64_t rows, const T* max,
                                      T* sums, int64_t ahead, const T* tails) {
  using L = Lanes<T>;
  using V = typename L::V;
  // What is kept is in its order.
  using First = std::conditional_t<keeps, L, OfPair<In, 0>>;
  using Second = std::conditional_t<keeps, L, OfPair<In, 1>>;
  constexpr int64_t kSecond = keeps ? L::kSize : 0;
  constexpr int64_t kStep = RowParts<T, pairs>::kStep;
  const RowParts<T, pairs> parts(n);
  const int64_t kept_row = keeps ? std::max(n, L::kSize) : 0;
  const V zero(T(0)), places = V::loadu(L::kPlaces.data());
  const auto counts = n < L::kSize ? places < V(static_cast<T>(n))
                                   : places >= V(static_cast<T>(parts.whole + parts.width - n));
  for (int64_t group = 0; group < rows; group += L::kSize) {
    const int64_t count = std::min(rows - group, L::kSize);
    V totals[L::kSize];
    for (int64_t i = 0; i < count; ++i, x += n, kept += kept_row, tails += parts.width) {
      const V largest(max[group + i]);
      V sum = zero, second_sum = zero;
      const auto exponentials = [&](int64_t j, auto lanes) OPLOOM_ALWAYS_INLINE_LAMBDA {
        const V distance = lanes.load(x + j) - largest;
        if constexpr (near) return near_exponential(distance);
        if constexpr (!near) return vec::exp_of_negative(distance);
      };
      const auto add = [&](int64_t j, V e, V& to) OPLOOM_ALWAYS_INLINE_LAMBDA {
        if constexpr (keeps) L::store(kept + j, e);
        to = to + e;
      };
      for (int64_t j = 0; j < parts.whole;) {
        constexpr int64_t kFetched = 1024 / sizeof(In);
        const int64_t end = j + std::min(parts.whole - j, kFetched);
        if (ahead != 0) fetch(x, ahead + j, end - j);
        for (; j < end; j += kStep) {
          if constexpr (pairs) {
            const V first = exponentials(j, First()), second = exponentials(j + kSecond, Second());
            add(j, first, sum);
            add(j + L::kSize, second, second_sum);
          } else {
            add(j, exponentials(j, L()), sum);
          }
        }
      }
      if (parts.width > 0) {
        if (ahead != 0) fetch(x, ahead + n - 1, 1);
        for (int64_t j = 0; j < parts.width; j += L::kSize) {
          const V e = L::load(tails + j);
          if constexpr (keeps) L::store(kept + kept_row - parts.width + j, e);
          sum = sum + (j == 0 ? L::select(counts, e, zero) : e);
        }
      }
      totals[i] = pairs ? sum + second_sum : sum;
    }
    std::fill(totals + count, totals + L::kSize, zero);
    FirstLanes<T>(count).store(sums + group, across_each<Add, T>(totals));
  }
}

// Both of them for up to kMostStaged rows.
template <bool keeps, typename T, typename In>
void staged_row_sums(const In* x, T* kept, int64_t n, int64_t rows, T* max, T* sums, Ahead ahead,
                     int64_t fetched = 0) {
  using L = Lanes<T>;
  const auto exponentials = [&]<bool near, bool pairs>(std::bool_constant<near>,
                                                       std::bool_constant<pairs>) {
    alignas(64) T tails[kMostStaged * (pairs ? 2 : 1) * L::kSize];
    const int64_t width = RowParts<T, pairs>(n).width;
    if (width > 0) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < width; j += L::kSize) {
          L::store(tails + i * width + j, tail_of_row<T>(x + i * n, n, width - j));
        }
      }
      row_exponentials<true, near, false>(tails, tails, width, rows, max, sums, 0, tails);
    }
    row_exponentials<keeps, near, pairs>(x, kept, n, rows, max, sums, fetched, tails);
  };
  const auto of_parts = [&](auto near) {
    const bool pairs = n % (2 * L::kSize) == 0 || n >= 8 * L::kSize;
    pairs ? exponentials(near, std::true_type()) : exponentials(near, std::false_type());
  };
  const bool near = row_maxima(x, n, rows, max, ahead);
  if constexpr (kHasNearForm<T>) {
    if (near) return of_parts(std::true_type());
  }
  of_parts(std::false_type());
}

// The largest of n numbers and the sum of the exponentials of their distances from it, in rows
// longer than kShort. Those of a block are gone over again while the first-level cache has it.
template <typename T, typename In>
std::pair<T, T> long_row_sums(const In* x, int64_t n, Ahead ahead) {
  constexpr int64_t kBlock = 16384 / sizeof(T);
  T max = std::numeric_limits<T>::lowest(), sum = 0;
  for (int64_t i = 0; i < n;) {
    const int64_t count = std::min(kBlock, n - i);
    T largest, of_block;
    if constexpr (kStagesRows<T>) {
      T most;
      staged_row_sums<false, T>(x + i, nullptr, count, 1, &most, &of_block, ahead);
      largest = std::max(max, most);
      if (largest > most) of_block *= vec::exp_of_negative(most - largest);
    } else {
      largest = std::max(max, reduce_chunk<Max, T>(x + i, count, ahead));
      const auto exp = [largest](auto a) { return vec::exp_of_negative(a - decltype(a)(largest)); };
      of_block = reduce_chunk<Add, T>(x + i, count, Ahead::None, exp);
    }
    sum = i == 0 ? of_block : sum * vec::exp_of_negative(max - largest) + of_block;
    max = largest;
    i += count;
  }
  return {max, sum};
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
              total = L::load(sum + j) * vec::exp_of_negative(old - largest);
            }
            ((total = total + vec::exp_of_negative(value[r] - largest)), ...);
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
      return lanes.load(sum + i) *
             vec::exp_of_negative(lanes.load(max + i) - lanes.load(joined + i));
    });
    wide.join(sum, [](T p, T q) { return p + q; });
    std::copy_n(joined, columns, max);
  }

  // With room for a vector that is filled in part.
  alignas(64) T max[kFarTile + L::kSize];
  alignas(64) T sum[kFarTile + L::kSize];
};

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
