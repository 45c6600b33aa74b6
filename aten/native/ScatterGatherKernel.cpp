// Kernels of gather and scatter: one coordinate of each place is replaced by an index. They move
// single elements and are compiled once, not for each instruction set.
#include <aten/core/Dispatch.h>
#include <aten/core/OpaqueType.h>
#include <aten/core/Parallel.h>
#include <aten/stubs/Indexing.h>

#include <algorithm>
#include <cstring>

namespace at::inline oploom_v1::native {
namespace {

// Note [Lines]
// All places that differ in coordinate `dim` alone are a line. Two lines never touch the same
// element, so lines are what is shared out to the threads. Lines that are neighbours along the last
// dimension are handled together, as a block, so that memory is read in its order.
//
// A block at the places p of index: `length` positions along dim, `width` lines.
struct Block {
  // Elements from each tensor's first one: self, index, and result or src ("other").
  int64_t self, index, other;
  int64_t length, width;
};
// Strides in elements, along dim and from line to line.
struct Steps {
  int64_t self_dim, self_line;
  int64_t index_dim, index_line;
  int64_t other_dim, other_line;
};

// Calls f(block, steps) for all lines of index. `other` has at least its sizes.
template <typename F>
void for_each_block(const TensorBase& self, int64_t dim, const TensorBase& index,
                    const TensorBase& other, const F& f) {
  const IntArrayRef shape = index.sizes();
  const int64_t ndim = index.dim();
  // The dimension across a block; -1 where dim itself is the last one.
  const int64_t across = dim == ndim - 1 ? -1 : ndim - 1;
  const int64_t width = across < 0 ? 1 : shape[across];
  int64_t outer = 1;
  for (int64_t d = 0; d < ndim; ++d) {
    if (d != dim && d != across) outer *= shape[d];
  }
  const auto stride = [](const TensorBase& t, int64_t d) { return d < 0 ? 0 : t.strides()[d]; };
  const Steps steps = {stride(self, dim),     stride(self, across), stride(index, dim),
                       stride(index, across), stride(other, dim),   stride(other, across)};
  const int64_t grain = std::max<int64_t>(1, GRAIN_SIZE / std::max<int64_t>(shape[dim], 1));
  at::parallel_for(0, outer * width, grain, [&](int64_t begin, int64_t end) {
    int64_t place = begin;
    while (place < end) {
      const int64_t first = place % width;
      Block block = {first * steps.self_line, first * steps.index_line, first * steps.other_line,
                     shape[dim], std::min(width - first, end - place)};
      int64_t rest = place / width;
      for (int64_t d = ndim - 1; d >= 0 && rest > 0; --d) {
        if (d == dim || d == across) continue;
        const int64_t position = rest % shape[d];
        rest /= shape[d];
        block.self += position * self.strides()[d];
        block.index += position * index.strides()[d];
        block.other += position * other.strides()[d];
      }
      f(block, steps);
      place += block.width;
    }
  });
}

// Calls f(element of self, offset in other) for all places of a block.
template <typename T, typename F>
void for_each_place(const Block& block, const Steps& steps, T* self, const int64_t* index,
                    const F& f) {
  self += block.self;
  index += block.index;
  for (int64_t i = 0; i < block.length; ++i) {
    for (int64_t j = 0; j < block.width; ++j) {
      const int64_t position = index[i * steps.index_dim + j * steps.index_line];
      f(self[position * steps.self_dim + j * steps.self_line],
        block.other + i * steps.other_dim + j * steps.other_line);
    }
  }
}

void gather_kernel(const TensorBase& result, const TensorBase& self, int64_t dim,
                   const TensorBase& index) {
  const auto* indices = index.const_data_ptr<int64_t>();
  with_opaque_type(self.itemsize(), [&](auto tag) {
    using T = decltype(tag);
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(result.mutable_data_ptr());
    for_each_block(self, dim, index, result, [&](const Block& block, const Steps& steps) {
      const bool rows = steps.index_line == 0 && steps.self_line == 1 && steps.other_line == 1;
      if (!rows) {
        for_each_place(block, steps, from, indices,
                       [to](const T& source, int64_t place) { to[place] = source; });
        return;
      }
      // One index for a whole row: index_select along a dimension before the last.
      for (int64_t i = 0; i < block.length; ++i) {
        const int64_t position = indices[block.index + i * steps.index_dim];
        std::memcpy(to + block.other + i * steps.other_dim,
                    from + block.self + position * steps.self_dim,
                    static_cast<size_t>(block.width) * sizeof(T));
      }
    });
  });
}

void scatter_kernel(const TensorBase& self, int64_t dim, const TensorBase& index,
                    const TensorBase& src) {
  const auto* indices = index.const_data_ptr<int64_t>();
  with_opaque_type(self.itemsize(), [&](auto tag) {
    using T = decltype(tag);
    T* to = static_cast<T*>(self.mutable_data_ptr());
    const T* from = static_cast<const T*>(src.const_data_ptr());
    for_each_block(self, dim, index, src, [&](const Block& block, const Steps& steps) {
      for_each_place(block, steps, to, indices,
                     [from](T& target, int64_t place) { target = from[place]; });
    });
  });
}

void scatter_fill_kernel(const TensorBase& self, int64_t dim, const TensorBase& index,
                         const Scalar& value) {
  const auto* indices = index.const_data_ptr<int64_t>();
  alignas(16) char number[16];
  OPLOOM_DISPATCH(self.scalar_type(), "scatter", (OPLOOM_ALL), [&] {
    const auto element = value.to<scalar_t>();
    std::memcpy(number, &element, sizeof(element));
  });
  with_opaque_type(self.itemsize(), [&]<typename T>(T element) {
    std::memcpy(&element, number, sizeof(element));
    T* to = static_cast<T*>(self.mutable_data_ptr());
    for_each_block(self, dim, index, index, [&](const Block& block, const Steps& steps) {
      for_each_place(block, steps, to, indices,
                     [element](T& target, int64_t) { target = element; });
    });
  });
}

void scatter_add_kernel(const TensorBase& self, int64_t dim, const TensorBase& index,
                        const TensorBase& src, const Scalar& alpha) {
  const auto* indices = index.const_data_ptr<int64_t>();
  OPLOOM_DISPATCH(self.scalar_type(), "scatter_add", (OPLOOM_ALL), [&] {
    using Wide = c10::opmath_type<scalar_t>;
    auto* to = self.mutable_data_ptr<scalar_t>();
    const auto* from = src.const_data_ptr<scalar_t>();
    const Wide factor = alpha.to<Wide>();
    // Even a factor of 1 would change infinite complex numbers.
    const bool scaled = !alpha.equal(1);
    for_each_block(self, dim, index, src, [&](const Block& block, const Steps& steps) {
      for_each_place(block, steps, to, indices, [&](scalar_t& target, int64_t place) {
        if constexpr (std::is_same_v<scalar_t, bool>) {
          target = target || (from[place] && factor);
        } else {
          const Wide value = static_cast<Wide>(from[place]);
          target =
              static_cast<scalar_t>(static_cast<Wide>(target) + (scaled ? value * factor : value));
        }
      });
    });
  });
}

void scatter_multiply_kernel(const TensorBase& self, int64_t dim, const TensorBase& index,
                             const TensorBase& src) {
  const auto* indices = index.const_data_ptr<int64_t>();
  OPLOOM_DISPATCH(self.scalar_type(), "scatter", (OPLOOM_ALL), [&] {
    using Wide = c10::opmath_type<scalar_t>;
    auto* to = self.mutable_data_ptr<scalar_t>();
    const auto* from = src.const_data_ptr<scalar_t>();
    for_each_block(self, dim, index, src, [&](const Block& block, const Steps& steps) {
      for_each_place(block, steps, to, indices, [&](scalar_t& target, int64_t place) {
        if constexpr (std::is_same_v<scalar_t, bool>) {
          target = target && from[place];
        } else if constexpr (std::is_integral_v<scalar_t>) {
          // Without a sign, too large a product wraps around.
          target = static_cast<scalar_t>(static_cast<uint64_t>(target) *
                                         static_cast<uint64_t>(from[place]));
        } else {
          target =
              static_cast<scalar_t>(static_cast<Wide>(target) * static_cast<Wide>(from[place]));
        }
      });
    });
  });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH_FOR_ALL(gather_stub, &gather_kernel);
OPLOOM_REGISTER_DISPATCH_FOR_ALL(scatter_stub, &scatter_kernel);
OPLOOM_REGISTER_DISPATCH_FOR_ALL(scatter_fill_stub, &scatter_fill_kernel);
OPLOOM_REGISTER_DISPATCH_FOR_ALL(scatter_add_stub, &scatter_add_kernel);
OPLOOM_REGISTER_DISPATCH_FOR_ALL(scatter_multiply_stub, &scatter_multiply_kernel);

}  // namespace at::inline oploom_v1::native
