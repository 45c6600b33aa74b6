// Kernels of argmax, argmin and of max and min along one dimension, which give indices too.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/Reduce.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/cpu/Strips.h>
#include <aten/stubs/ReduceOps.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace at::inline oploom_v1::native {
namespace {

// The best element so far and its position.
template <typename T>
struct Best {
  T value = T(0);
  int64_t index = -1;
};

// Whether x replaces `best`: NaN beats everything but an earlier NaN, equal elements do not
// replace.
template <typename F, typename T>
bool beats(T x, T best) {
  if (best != best) return false;
  return F::apply(best, x) != best || x != x;
}

// The integers that count places beside numbers of type T.
template <typename T>
using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// The first place of an extreme element among the n that it is the extreme of. If there is a NaN
// among them, it is one. Which of 64 there are is found without branches.
template <typename T>
int64_t find(const T* p, int64_t n, T extreme) {
  using L = Lanes<T>;
  const typename L::V wanted(extreme);
  for (int64_t i = 0; i < n; i += 64) {
    const int64_t count = std::min<int64_t>(n - i, 64);
    uint64_t found = 0;
    for_each_lanes<T>(count, [&](int64_t j, auto lanes) {
      const auto x = lanes.load(p + i + j);
      uint64_t here;
      if constexpr (L::kVec) here = bits_of((x == wanted) | (x != x));
      if constexpr (!L::kVec) here = (x == wanted) | (x != x);
      found |= here << j;
    });
    // Zeros that are loaded behind the last one come after it.
    if (found != 0) return i + std::countr_zero(found);
  }
  return n - 1;
}

// Whether x is to take the place of the best so far, which came before it; NaN apart.
template <typename F, typename V>
OPLOOM_ALWAYS_INLINE auto is_better(const V& x, const V& best) {
  if constexpr (std::is_same_v<F, Max>) {
    return x > best;
  } else {
    return x < best;
  }
}

// The first place of the extreme of n floats that come from memory, which would rest while they are
// gone through a second time. Every lane keeps its best number and the block that it was in.
// There are near and spread fetches alone: this takes as many instructions as memory gives time
// for. -1 if there is a NaN among them, or no Vec for them, or they are too few or too many.
// (Integers would be as well served, but libraries of selected operators have no room for it.)
template <typename F, typename T>
int64_t place_in_one_pass(const T* p, int64_t n, Ahead ahead) {
  using L = Lanes<T>;
  constexpr int64_t kSide = 4, kBlock = kSide * L::kSize, kMost = int64_t{1} << 30;
  if constexpr (L::kVec && std::is_floating_point_v<T>) {
    if (n < kBlock || n > kMost) return -1;
    using V = typename L::V;
    using Places = Lanes<Index<T>>;
    V best[kSide], block[kSide];
    for (int64_t k = 0; k < kSide; ++k) {
      best[k] = L::load(p + k * L::kSize);
      block[k] = V(T(0));
    }
    auto nan = best[0].isnan();
    const auto note_nan = [&](const V* x) OPLOOM_ALWAYS_INLINE_LAMBDA {
      for (int64_t k = 0; k < kSide; k += 2) nan = nan | unordered(x[k], x[k + 1]);
    };
    note_nan(best);
    for (int64_t next = kBlock; next < n; next += kBlock) {
      // The last block may begin within the one before.
      const int64_t i = std::min(next, n - kBlock);
      const V here(std::bit_cast<T>(static_cast<Index<T>>(i)));
      if (kNearFetches && asked_here(ahead) == Ahead::Near) [[likely]]
        fetch_at<Ahead::Near>(p + i, kBlock);
      if (kSpreadFetches && asked_here(ahead) == Ahead::Spread) fetch_spread(p + i, kBlock);
      V x[kSide];
      for (int64_t k = 0; k < kSide; ++k) {
        x[k] = L::load(p + i + k * L::kSize);
        const auto better = is_better<F>(x[k], best[k]);
        best[k] = L::select(better, x[k], best[k]);
        block[k] = L::select(better, here, block[k]);
      }
      note_nan(x);
    }
    if (L::any(nan)) return -1;
    V extreme = best[0];
    for (int64_t k = 1; k < kSide; ++k) extreme = F::apply(extreme, best[k]);
    extreme = across<F, T>(extreme);
    // Of equal ones the first.
    constexpr auto kNone = std::numeric_limits<Index<T>>::max();
    const V none(std::bit_cast<T>(kNone));
    typename Places::V first(kNone);
    for (int64_t k = 0; k < kSide; ++k) {
      const auto place = std::bit_cast<typename Places::V>(block[k]) +
                         typename Places::V(static_cast<Index<T>>(k * L::kSize)) +
                         Places::load(Places::kPlaces.data());
      const V some = L::select(best[k] == extreme, std::bit_cast<V>(place), none);
      first = Min::apply(first, std::bit_cast<typename Places::V>(some));
    }
    return Places::first(across<Min, Index<T>>(first));
  } else {
    return -1;
  }
}

// Goes on with rows that have the numbers from `first` on, for n outputs side by side. The indices
// are those of the bits of T, so that what chooses the values chooses them as well. There is room
// for more behind the values and the indices.
template <typename F, int count, typename T>
void advance(const T* const* elements, int64_t first, int64_t n, Ahead ahead, T* value, T* index) {
  using L = Lanes<T>;
  const RowGroup<T, count> rows(elements, ahead);
  for_each_lanes<T>(n, [&](int64_t j, auto lanes) {
    rows.fetch_next(j);
    auto best = L::load(value + j);
    auto place = L::load(index + j);
    for (int r = 0; r < count; ++r) {
      const auto x = lanes.load(rows[r] + j);
      // beats() without branches.
      auto better = is_better<F>(x, best);
      if constexpr (std::is_floating_point_v<T>) better = better | ((x != x) & (best == best));
      best = L::select(better, x, best);
      place = L::select(better, typename L::V(std::bit_cast<T>(static_cast<Index<T>>(first + r))),
                        place);
    }
    L::store(value + j, best);
    L::store(index + j, place);
  });
}

struct Shape {
  // Dimensions beside the one that is reduced; `out` strides are those of the indices.
  WalkDims kept;
  // The same with the strides of the values, if wanted; in the same order.
  WalkDims kept_values;
  int64_t outputs = 1;
  int64_t length = 1;
  int64_t stride = 0;
};

Shape make_shape(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                 int64_t dim) {
  Shape shape;
  const auto size = static_cast<int64_t>(self.itemsize());
  shape.stride = size;
  const bool keepdim = indices.dim() == self.dim();
  int64_t out_dim = 0;
  WalkDims& kept = shape.kept;
  WalkDims& values_kept = shape.kept_values;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == dim) {
      shape.length = self.sizes()[d];
      shape.stride = self.strides()[d] * size;
      if (keepdim) ++out_dim;
      continue;
    }
    const int64_t n = self.sizes()[d], in = self.strides()[d] * size;
    shape.outputs *= n;
    if (n != 1) {
      kept.push_back({n, in, indices.strides()[out_dim] * 8});
      values_kept.push_back({n, in, values.defined() ? values.strides()[out_dim] * size : 0});
    }
    ++out_dim;
  }
  // An expanded dimension counts as the longest.
  const auto distance = [](const WalkDim& d) { return static_cast<uint64_t>(d.in) - 1; };
  for (size_t i = 1; i < kept.size(); ++i) {
    for (size_t j = i; j > 0 && distance(kept[j]) < distance(kept[j - 1]); --j) {
      std::swap(kept[j], kept[j - 1]);
      std::swap(values_kept[j], values_kept[j - 1]);
    }
  }
  // What follows its neighbour everywhere is one with it.
  for (size_t i = 1; i < kept.size();) {
    const int64_t before = kept[i - 1].size;
    if (kept[i].in == before * kept[i - 1].in && kept[i].out == before * kept[i - 1].out &&
        values_kept[i].out == before * values_kept[i - 1].out) {
      kept[i - 1].size = values_kept[i - 1].size = before * kept[i].size;
      kept.erase(kept.begin() + i);
      values_kept.erase(values_kept.begin() + i);
    } else {
      ++i;
    }
  }
  return shape;
}

// How elements of the input become T, and n of T elements of `values`, `stride` bytes apart.
template <typename T>
struct Conversion {
  void (*load)(const char* in, int64_t stride, int64_t n, void* out, double);
  void (*store)(const T* values, int64_t n, char* out, int64_t stride);
  // The input's dtype is T.
  bool direct;
};

template <typename T, typename Out>
void store_values(const T* values, int64_t n, char* out, int64_t stride) {
  for (int64_t j = 0; j < n; ++j) {
    *reinterpret_cast<Out*>(out + j * stride) = static_cast<Out>(values[j]);
  }
}

template <typename F, typename T>
void select_extreme(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                    int64_t dim, const Conversion<T>& conversion) {
  const Shape shape = make_shape(values, indices, self, dim);
  if (shape.outputs == 0) return;
  const char* in = static_cast<const char*>(self.const_data_ptr());
  char* index_out = static_cast<char*>(indices.mutable_data_ptr());
  char* value_out = values.defined() ? static_cast<char*>(values.mutable_data_ptr()) : nullptr;
  auto store = [&](const Best<T>& best, int64_t index_offset, int64_t value_offset) {
    *reinterpret_cast<int64_t*>(index_out + index_offset) = best.index;
    if (value_out != nullptr) conversion.store(&best.value, 1, value_out + value_offset, 0);
  };
  const int64_t length = shape.length;
  const int64_t stride = shape.stride;
  const bool in_rows = conversion.direct && stride == sizeof(T);
  const Ahead ahead = in_rows && has_bytes(self, kFetchedBytes)
                          ? ahead_in(self, self.is_contiguous(), kFetches)
                          : Ahead::None;
  constexpr int64_t kChunk = 1024;
  // Elements [begin, end) of one row: the chunk with the extreme first, then its place there.
  // `dense`: they lie there as T.
  auto search = [&](const char* row, bool dense, int64_t begin, int64_t end) OPLOOM_NOINLINE {
    if (ahead != Ahead::None) {
      const T* p = reinterpret_cast<const T*>(row) + begin;
      const int64_t place = place_in_one_pass<F>(p, end - begin, ahead);
      if (place >= 0) return Best<T>{p[place], begin + place};
    }
    alignas(64) T buffer[kChunk];
    const auto chunk = [&](int64_t i, int64_t n) {
      if (dense) return reinterpret_cast<const T*>(row) + i;
      conversion.load(row + i * stride, stride, n, buffer, 0);
      return static_cast<const T*>(buffer);
    };
    const int64_t most = dense ? 4 * kChunk : kChunk;
    Best<T> best;
    const T* p = nullptr;
    int64_t last = begin;
    for (int64_t i = begin; i < end; last = i, i += most) {
      const int64_t n = std::min(most, end - i);
      p = chunk(i, n);
      const T extreme = reduce_chunk<F, T>(p, n, ahead);
      if (best.index < 0 || beats<F>(extreme, best.value)) best = {extreme, i};
    }
    const int64_t n = std::min(most, end - best.index);
    if (best.index != last) p = chunk(best.index, n);
    const int64_t place = find(p, n, best.value);
    return Best<T>{p[place], best.index + place};
  };

  if (shape.outputs == 1) {
    const int64_t parts = even_parts(length / GRAIN_SIZE);
    std::vector<Best<T>> bests(static_cast<size_t>(parts));
    at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        bests[i] = search(in, in_rows, length * i / parts, length * (i + 1) / parts);
      }
    });
    Best<T> best = bests[0];
    for (int64_t i = 1; i < parts; ++i) {
      if (beats<F>(bests[i].value, best.value)) best = bests[i];
    }
    store(best, 0, 0);
    return;
  }

  // Neighbouring outputs are worked on side by side where they lie closer together than the
  // elements of one, or where one has few of them.
  const WalkDim& inner = shape.kept[0];
  const auto in_size = static_cast<int64_t>(self.itemsize());
  const bool by_planes = shape.kept.size() > 1 && are_planes(shape.kept, stride, length, in_size) &&
                         shape.kept_values[1].out == inner.size * shape.kept_values[0].out;
  if (!by_planes && (inner.size < 4 || (inner.size < 8 && length >= 16) ||
                     (std::abs(stride) <= std::abs(inner.in) && length >= 24))) {
    const int64_t grain = std::max<int64_t>(1, GRAIN_SIZE / length);
    at::parallel_for(0, shape.outputs, grain, [&](int64_t begin, int64_t end) {
      Walker walker(shape.kept.data(), shape.kept.size(), begin);
      Walker value_walker(shape.kept_values.data(), shape.kept_values.size(), begin);
      // Rows that are gathered or converted are so as one where they follow each other.
      const bool joins = !in_rows && length <= kChunk && inner.in == length * stride;
      alignas(64) T buffer[kChunk];
      int64_t first = begin, last = begin;  // the rows in the buffer
      for (int64_t i = begin; i < end; ++i, walker.next(), value_walker.next()) {
        const char* row = in + walker.in;
        if (joins) {
          if (i == last) {
            first = i;
            last += std::min({kChunk / length, inner.size - i % inner.size, end - i});
            conversion.load(row, stride, (last - first) * length, buffer, 0);
          }
          row = reinterpret_cast<const char*>(buffer + (i - first) * length);
        }
        store(search(row, in_rows || joins, 0, length), walker.out, value_walker.out);
      }
    });
    return;
  }

  OPLOOM_CHECK(sizeof(T) == 8 || length <= std::numeric_limits<int32_t>::max(),
               "max(), min(), argmax(), argmin(): expected a dimension of less than 2^31 elements, "
               "got ",
               length);
  const bool in_place = conversion.direct && inner.in == sizeof(T) && !by_planes;
  const Ahead rows_ahead = in_place && has_bytes(self, kFetchedBytes)
                               ? ahead_in_rows(self, length, kFetches)
                               : Ahead::None;
  constexpr int64_t kWidth = 512, kPadded = kWidth + Lanes<T>::kSize;
  constexpr int64_t kTogether = 4;
  const WalkDim planes = by_planes ? shape.kept[1] : WalkDim{1, 0, 0};
  const int64_t columns = inner.size * planes.size, outer = shape.outputs / columns;
  const int64_t width = by_planes ? kWidth / inner.size * inner.size
                                  : strip_width(columns, kWidth, outer, StripsAre::Read);
  const int64_t blocks = (columns + width - 1) / width;
  const int64_t grain = std::max<int64_t>(1, GRAIN_SIZE / (std::min(width, columns) * length));
  // The elements of n columns in one row, the first of which is at `from`.
  const auto read_planes = [&](const char* from, int64_t n, T* to) OPLOOM_NOINLINE {
    T unconverted[kWidth];
    char* const elements = reinterpret_cast<char*>(conversion.direct ? to : unconverted);
    const int64_t bytes = inner.size * in_size;
    at::detail::copy_rows(elements, bytes, from, planes.in, bytes, n / inner.size);
    if (!conversion.direct) conversion.load(elements, in_size, n, to, 0);
  };
  at::parallel_for(0, outer * blocks, grain, [&](int64_t begin, int64_t end) {
    const int64_t walked = by_planes ? 2 : 1;
    Walker walker(shape.kept.data() + walked, shape.kept.size() - walked, begin / blocks);
    Walker value_walker(shape.kept_values.data() + walked, shape.kept.size() - walked,
                        begin / blocks);
    // Copies, which need not be looked up for each row.
    const auto read = [&, load = conversion.load, distance = inner.in, by_planes](
                          const char* from, int64_t n, T* to) OPLOOM_ALWAYS_INLINE_LAMBDA {
      by_planes ? read_planes(from, n, to) : load(from, distance, n, to, 0);
    };
    int64_t block = begin % blocks;
    alignas(64) T value[kPadded];
    alignas(64) T index[kPadded];
    alignas(64) T buffer[kTogether][kWidth];
    const T* rows[kTogether];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = block * width;
      const int64_t n = std::min(width, columns - first);
      const char* next =
          in + walker.in + (by_planes ? first / inner.size * planes.in : first * inner.in);
      read(next, n, value);
      std::fill(index, index + n, T(0));
      for (int64_t k = 1; k < length;) {
        const int64_t count = std::min(length - k, kTogether);
        for (int64_t r = 0; r < count; ++r) {
          next += stride;
          rows[r] = in_place ? reinterpret_cast<const T*>(next) : buffer[r];
          if (!in_place) read(next, n, buffer[r]);
        }
        if (count == kTogether) {
          advance<F, kTogether, T>(rows, k, n, rows_ahead, value, index);
        } else {
          for (int64_t r = 0; r < count; ++r)
            advance<F, 1, T>(rows + r, k + r, n, Ahead::None, value, index);
        }
        k += count;
      }
      char* to = index_out + walker.out + first * inner.out;
      for (int64_t j = 0; j < n; ++j) {
        *reinterpret_cast<int64_t*>(to + j * inner.out) = std::bit_cast<Index<T>>(index[j]);
      }
      if (value_out != nullptr) {
        const int64_t step = shape.kept_values[0].out;
        conversion.store(value, n, value_out + value_walker.out + first * step, step);
      }
      if (++block == blocks) {
        block = 0;
        walker.next();
        value_walker.next();
      }
    }
  });
}

template <typename F>
void select_extreme_kernel(const char* name, const TensorBase& values, const TensorBase& indices,
                           const TensorBase& self, int64_t dim) {
  OPLOOM_DISPATCH(
      self.scalar_type(), name, (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
      [&] {
        using In = std::conditional_t<std::is_same_v<scalar_t, bool>, uint8_t, scalar_t>;
        // Narrow integers are compared as int32.
        using T =
            std::conditional_t<std::is_integral_v<In>,
                               std::conditional_t<sizeof(In) == 8, int64_t, int32_t>, wide_t<In>>;
        select_extreme<F, T>(values, indices, self, dim,
                             {&load_row<In, T>, &store_values<T, In>, std::is_same_v<In, T>});
      });
}

void argmax_kernel(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                   int64_t dim) {
  select_extreme_kernel<Max>("max", values, indices, self, dim);
}

void argmin_kernel(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                   int64_t dim) {
  select_extreme_kernel<Min>("min", values, indices, self, dim);
}

}  // namespace

OPLOOM_REGISTER_DISPATCH(argmax_stub, &argmax_kernel);
OPLOOM_REGISTER_DISPATCH(argmin_stub, &argmin_kernel);

}  // namespace at::inline oploom_v1::native
