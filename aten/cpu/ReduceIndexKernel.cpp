// Kernels of argmax, argmin and of max and min along one dimension, which give indices too.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/Reduce.h>
#include <aten/cpu/ReduceFunctions.h>
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

// The first of n elements for which `holds`; there is one. What comes `behind` elements later is
// fetched, unless that is 0.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE int64_t first_that(const T* p, int64_t n, int64_t behind, const F& holds) {
  // As wide as the elements, which makes vectors of both the same length.
  using Flag = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  constexpr int64_t kBlock = 64;
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    if (behind != 0) fetch(p + i, behind, kBlock);
    Flag any = 0;
    for (int64_t j = 0; j < kBlock; ++j) any |= holds(p[i + j]) ? Flag(1) : Flag(0);
    if (any != 0) break;
  }
  while (!holds(p[i])) ++i;
  return i;
}

// The place of an extreme element among the n that it is the extreme of.
template <typename T>
int64_t find(const T* p, int64_t n, int64_t behind, T extreme) {
  if (extreme != extreme) return first_that(p, n, behind, [](T x) { return x != x; });
  return first_that(p, n, behind, [extreme](T x) { return x == extreme; });
}

// Goes on with rows that have the numbers from `first` on, for n outputs side by side. The indices
// are those of the bits of T, so that what chooses the values chooses them as well. There is room
// for more behind the values and the indices.
template <typename F, int count, typename T, typename Index>
void advance(const T* const* elements, int64_t first, int64_t n, bool far, T* value, T* index) {
  using L = Lanes<T>;
  const RowGroup<T, count> rows(elements, far);
  for_each_lanes<T>(n, [&](int64_t j, auto lanes) {
    rows.fetch_next(j);
    auto best = L::load(value + j);
    auto place = L::load(index + j);
    for (int r = 0; r < count; ++r) {
      const auto x = lanes.load(rows[r] + j);
      // beats() without branches.
      auto better = std::is_same_v<F, Max> ? x > best : x < best;
      if constexpr (std::is_floating_point_v<T>) better = better | ((x != x) & (best == best));
      best = L::select(better, x, best);
      place =
          L::select(better, typename L::V(std::bit_cast<T>(static_cast<Index>(first + r))), place);
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
  struct Kept {
    WalkDim indices;
    int64_t values;
  };
  SmallVector<Kept, 6> kept;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == dim) {
      shape.length = self.sizes()[d];
      shape.stride = self.strides()[d] * size;
      if (keepdim) ++out_dim;
      continue;
    }
    const int64_t n = self.sizes()[d];
    shape.outputs *= n;
    if (n != 1) {
      kept.push_back({{n, self.strides()[d] * size, indices.strides()[out_dim] * 8},
                      values.defined() ? values.strides()[out_dim] * size : 0});
    }
    ++out_dim;
  }
  for (size_t i = 1; i < kept.size(); ++i) {
    for (size_t j = i; j > 0 && kept[j].indices.in < kept[j - 1].indices.in; --j) {
      std::swap(kept[j], kept[j - 1]);
    }
  }
  for (const Kept& k : kept) {
    shape.kept.push_back(k.indices);
    shape.kept_values.push_back({k.indices.size, k.indices.in, k.values});
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
  const bool far = is_far(self);
  // Elements [begin, end) of one row: the chunk with the extreme first, then its place there.
  auto search = [&](const char* row, int64_t begin, int64_t end) {
    alignas(64) T buffer[kChunk];
    const auto chunk = [&](int64_t i, int64_t n) {
      const char* p = row + i * stride;
      if (in_rows) return reinterpret_cast<const T*>(p);
      conversion.load(p, stride, n, buffer, 0);
      return static_cast<const T*>(buffer);
    };
    const int64_t most = in_rows ? 4 * kChunk : kChunk;
    Best<T> best;
    const T* p = nullptr;
    int64_t last = begin;
    for (int64_t i = begin; i < end; last = i, i += most) {
      const int64_t n = std::min(most, end - i);
      p = chunk(i, n);
      const T extreme = reduce_chunk<F, T>(p, n, far && in_rows);
      if (best.index < 0 || beats<F>(extreme, best.value)) best = {extreme, i};
    }
    const int64_t n = std::min(most, end - best.index);
    if (best.index != last) p = chunk(best.index, n);
    // Memory would rest during this second pass: what comes behind all that the first one fetched.
    const int64_t behind =
        far && in_rows ? end - best.index + kFetchedBytes / int64_t{sizeof(T)} : 0;
    const int64_t place = find(p, n, behind, best.value);
    return Best<T>{p[place], best.index + place};
  };

  if (shape.outputs == 1) {
    const int64_t parts = (length + kReduceGrain - 1) / kReduceGrain;
    std::vector<Best<T>> bests(static_cast<size_t>(parts));
    at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        bests[i] = search(in, i * kReduceGrain, std::min(length, (i + 1) * kReduceGrain));
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
  if (inner.size < 8 || (std::abs(stride) <= std::abs(inner.in) && length >= 32)) {
    const int64_t grain = std::max<int64_t>(1, kReduceGrain / length);
    at::parallel_for(0, shape.outputs, grain, [&](int64_t begin, int64_t end) {
      Walker walker(shape.kept.data(), shape.kept.size(), begin);
      Walker value_walker(shape.kept_values.data(), shape.kept_values.size(), begin);
      for (int64_t i = begin; i < end; ++i, walker.next(), value_walker.next()) {
        store(search(in + walker.in, 0, length), walker.out, value_walker.out);
      }
    });
    return;
  }

  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  OPLOOM_CHECK(sizeof(Index) == 8 || length <= std::numeric_limits<int32_t>::max(),
               "max(), min(), argmax(), argmin(): expected a dimension of less than 2^31 elements, "
               "got ",
               length);
  const bool in_place = conversion.direct && inner.in == sizeof(T);
  const bool far_rows = in_place && has_far_rows(self);
  constexpr int64_t kWidth = 512;
  constexpr int64_t kTogether = 4;
  const int64_t blocks = (inner.size + kWidth - 1) / kWidth;
  const int64_t grain =
      std::max<int64_t>(1, kReduceGrain / (std::min(kWidth, inner.size) * length));
  at::parallel_for(0, shape.outputs / inner.size * blocks, grain, [&](int64_t begin, int64_t end) {
    Walker walker(shape.kept.data() + 1, shape.kept.size() - 1, begin / blocks);
    Walker value_walker(shape.kept_values.data() + 1, shape.kept.size() - 1, begin / blocks);
    int64_t block = begin % blocks;
    alignas(64) T value[kWidth + Lanes<T>::kSize];
    alignas(64) T index[kWidth + Lanes<T>::kSize];
    alignas(64) T buffer[kTogether][kWidth];
    const T* rows[kTogether];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = block * kWidth;
      const int64_t n = std::min(kWidth, inner.size - first);
      const char* next = in + walker.in + first * inner.in;
      conversion.load(next, inner.in, n, value, 0);
      std::fill(index, index + n, T(0));
      for (int64_t k = 1; k < length;) {
        const int64_t count = std::min(length - k, kTogether);
        for (int64_t r = 0; r < count; ++r) {
          next += stride;
          rows[r] = in_place ? reinterpret_cast<const T*>(next) : buffer[r];
          if (!in_place) conversion.load(next, inner.in, n, buffer[r], 0);
        }
        if (count == kTogether) {
          advance<F, kTogether, T, Index>(rows, k, n, far_rows, value, index);
        } else {
          for (int64_t r = 0; r < count; ++r)
            advance<F, 1, T, Index>(rows + r, k + r, n, false, value, index);
        }
        k += count;
      }
      char* to = index_out + walker.out + first * inner.out;
      for (int64_t j = 0; j < n; ++j) {
        *reinterpret_cast<int64_t*>(to + j * inner.out) = std::bit_cast<Index>(index[j]);
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
