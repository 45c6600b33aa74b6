// Kernels of argmax, argmin and of max and min along one dimension, which give indices too.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/Reduce.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/stubs/ReduceOps.h>

#include <algorithm>
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

// Continues with elements p[0..n), the first of which has the index `first`.
template <typename F, typename T>
void advance(Best<T>& best, const T* p, int64_t n, int64_t first) {
  if (n >= 32) {
    const T extreme = reduce_chunk<F>(p, n);
    if (best.index >= 0 && !beats<F>(extreme, best.value)) return;
    int64_t i = 0;
    if (extreme != extreme) {
      while (p[i] == p[i]) ++i;
    } else {
      while (p[i] != extreme) ++i;
    }
    best = {p[i], first + i};
    return;
  }
  int64_t i = 0;
  if (best.index < 0) best = {p[i++], first};
  for (; i < n; ++i) {
    if (beats<F>(p[i], best.value)) best = {p[i], first + i};
  }
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

// How elements of the input become T and a T an element of `values`.
template <typename T>
struct Conversion {
  void (*load)(const char* in, int64_t stride, int64_t n, void* out, double);
  void (*store)(T value, char* out);
  // The input's dtype is T.
  bool direct;
};

template <typename T, typename Out>
void store_value(T value, char* out) {
  *reinterpret_cast<Out*>(out) = static_cast<Out>(value);
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
    if (value_out != nullptr) conversion.store(best.value, value_out + value_offset);
  };
  const int64_t length = shape.length;
  const int64_t stride = shape.stride;
  // Elements [begin, end) of one row.
  auto search = [&](const char* row, int64_t begin, int64_t end) {
    Best<T> best;
    T buffer[kChunk];
    for (int64_t i = begin; i < end; i += kChunk) {
      const int64_t n = std::min(kChunk, end - i);
      const char* p = row + i * stride;
      if (conversion.direct && stride == sizeof(T)) {
        advance<F>(best, reinterpret_cast<const T*>(p), n, i);
      } else {
        conversion.load(p, stride, n, buffer, 0);
        advance<F>(best, buffer, n, i);
      }
    }
    return best;
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

  const WalkDim& inner = shape.kept[0];
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  if (inner.size < 8 || inner.in != itemsize || (stride == itemsize && length >= 16)) {
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

  // Neighbouring outputs side by side. Indices are as wide as the elements, which makes vectors of
  // both the same length.
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  OPLOOM_CHECK(sizeof(Index) == 8 || length <= std::numeric_limits<int32_t>::max(),
               "max(), min(), argmax(), argmin(): expected a dimension of less than 2^31 elements, "
               "got ",
               length);
  constexpr int64_t kWidth = 256;
  const int64_t blocks = (inner.size + kWidth - 1) / kWidth;
  const int64_t grain =
      std::max<int64_t>(1, kReduceGrain / (std::min(kWidth, inner.size) * length));
  at::parallel_for(0, shape.outputs / inner.size * blocks, grain, [&](int64_t begin, int64_t end) {
    Walker walker(shape.kept.data() + 1, shape.kept.size() - 1, begin / blocks);
    Walker value_walker(shape.kept_values.data() + 1, shape.kept.size() - 1, begin / blocks);
    int64_t block = begin % blocks;
    T value[kWidth];
    T buffer[kWidth];
    Index index[kWidth];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = block * kWidth;
      const int64_t n = std::min(kWidth, inner.size - first);
      const char* rows = in + walker.in + first * inner.in;
      conversion.load(rows, itemsize, n, value, 0);
      std::fill(index, index + n, Index(0));
      for (int64_t k = 1; k < length; ++k) {
        const T* row = reinterpret_cast<const T*>(rows + k * stride);
        if (!conversion.direct) {
          conversion.load(rows + k * stride, itemsize, n, buffer, 0);
          row = buffer;
        }
        const auto at_row = static_cast<Index>(k);
        for (int64_t j = 0; j < n; ++j) {
          const T x = row[j];
          const T old = value[j];
          // beats() without branches.
          const bool better =
              (std::is_same_v<F, Max> ? x > old : x < old) | ((x != x) & (old == old));
          value[j] = better ? x : old;
          index[j] = better ? at_row : index[j];
        }
      }
      for (int64_t j = 0; j < n; ++j) {
        store({value[j], index[j]}, walker.out + (first + j) * inner.out,
              value_walker.out + (first + j) * shape.kept_values[0].out);
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
                             {&load_row<In, T>, &store_value<T, In>, std::is_same_v<In, T>});
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
