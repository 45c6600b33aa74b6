// Kernels of indexing with tensors: reading and writing at places that index tensors name. They
// move single elements and are compiled once, not for each instruction set.
#include <aten/core/Dispatch.h>
#include <aten/core/OpaqueType.h>
#include <aten/iterator/Cast.h>
#include <aten/native/NamedRows.h>
#include <aten/stubs/Indexing.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstdlib>

namespace at::inline oploom_v1::native {
namespace {

// What the index tensors add to the address of an element, in bytes.
class IndexedOffset {
 public:
  // Index tensors are operands 2, 3, ...
  IndexedOffset(char** data, const int64_t* strides, IntArrayRef steps)
      : data_(data + 2), strides_(strides + 2), steps_(steps) {}

  int64_t at(int64_t i) const {
    int64_t offset = of(0, i);
    for (size_t k = 1; k < steps_.size(); ++k) offset += of(k, i);
    return offset;
  }
  // The row runs through dimensions that are not indexed: the offset is the same everywhere.
  bool is_constant() const {
    for (size_t k = 0; k < steps_.size(); ++k) {
      if (strides_[k] != 0) return false;
    }
    return true;
  }

  // Of one index.
  int64_t of(size_t k, int64_t i) const {
    return *reinterpret_cast<const int64_t*>(data_[k] + i * strides_[k]) * steps_[k];
  }

 private:
  char** data_;
  const int64_t* strides_;
  IntArrayRef steps_;
};

// Calls f(element of operand 0, element of operand 1, offset) for n places.
template <typename F>
void for_each_indexed(char** data, const int64_t* strides, int64_t n, IntArrayRef steps,
                      const F& f) {
  const IndexedOffset offsets(data, strides, steps);
  const auto loop = [&](const auto& offset) OPLOOM_ALWAYS_INLINE_LAMBDA {
    for (int64_t i = 0; i < n; ++i) {
      f(data[0] + i * strides[0], data[1] + i * strides[1], offset(i));
    }
  };
  size_t varying = 0, last = 0;  // index tensors that are not the same everywhere
  for (size_t k = 0; k < steps.size(); ++k) {
    if (strides[2 + k] == 0) continue;
    ++varying;
    last = k;
  }
  const int64_t first = offsets.at(0);
  if (varying == 0) {
    loop([=](int64_t) { return first; });
  } else if (varying == 1) {
    const int64_t others = first - offsets.of(last, 0);
    loop([&](int64_t i) { return others + offsets.of(last, i); });
  } else {
    loop([&](int64_t i) { return offsets.at(i); });
  }
}

// The same, or row(operand 0, operand 1, offset, n, stride) where the elements of operand 0 have no
// gaps, nor those of operand 1 unless they are one (stride 0), and the offset is one for all. Out
// of line: part of a larger loop, it took 1.3 times as long.
template <typename T, typename F, typename Row>
OPLOOM_NOINLINE void for_each_indexed_or_row(char** data, const int64_t* strides, int64_t n,
                                             IntArrayRef steps, const F& f, const Row& row) {
  if (strides[0] == sizeof(T) && (strides[1] == sizeof(T) || strides[1] == 0)) {
    const IndexedOffset offsets(data, strides, steps);
    if (offsets.is_constant()) return row(data[0], data[1], offsets.at(0), n, strides[1]);
  }
  for_each_indexed(data, strides, n, steps, f);
}

// A loop over two dimensions of it, which fetches the rows of operand `moved` that come next: see
// Note [Named rows].
template <typename T, typename F, typename Row>
auto indexed_loop(const TensorIteratorBase& iter, int moved, IntArrayRef sizes, IntArrayRef steps,
                  const F& f, const Row& row) {
  int64_t reach = 0;  // bytes of what is indexed
  for (size_t k = 0; k < sizes.size(); ++k) {
    reach = std::max(reach, sizes[k] * std::abs(steps[k]));
  }
  return [=, ntensors = iter.ntensors()](char** base, const int64_t* strides, int64_t size0,
                                         int64_t size1) {
    SmallVector<char*, 4> data(base, base + ntensors);
    const int64_t* outer = strides + ntensors;
    const int64_t bytes = size0 * int64_t{sizeof(T)};
    const bool by_rows =
        strides[moved] == sizeof(T) && IndexedOffset(data.data(), strides, steps).is_constant();
    const int64_t ahead = by_rows ? at::detail::named_rows_ahead(bytes, reach) : 0;
    const IndexedOffset offsets(data.data(), outer, steps);
    for (int64_t j = 0; j < size1; ++j) {
      if (ahead > 0 && j + ahead < size1) {
        at::detail::fetch_named_row(data[moved] + ahead * outer[moved] + offsets.at(ahead), bytes);
      }
      for_each_indexed_or_row<T>(data.data(), strides, size0, steps, f, row);
      for (int k = 0; k < ntensors; ++k) data[k] += outer[k];
    }
  };
}

void index_kernel(TensorIteratorBase& iter, IntArrayRef sizes, IntArrayRef steps) {
  with_opaque_type(static_cast<size_t>(iter.element_size(0)), [&]<typename T>(T) {
    const auto loop = indexed_loop<T>(
        iter, 1, sizes, steps,
        [](char* out, char* self, int64_t offset) {
          *reinterpret_cast<T*>(out) = *reinterpret_cast<const T*>(self + offset);
        },
        [move = at::detail::get_move_loop(sizeof(T))](char* out, char* self, int64_t offset,
                                                      int64_t n, int64_t stride) {
          move(out, sizeof(T), self + offset, stride, n);
        });
    iter.for_each(TensorIteratorBase::loop2d_t(loop));
  });
}

template <typename T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else {
    return static_cast<T>(static_cast<c10::opmath_type<T>>(a) +
                          static_cast<c10::opmath_type<T>>(b));
  }
}

void index_put_kernel(TensorIteratorBase& iter, IntArrayRef sizes, IntArrayRef steps,
                      bool accumulate) {
  if (accumulate) {
    // On one thread: several places may name the same element.
    OPLOOM_DISPATCH(iter.dtype(0), "index_put", (OPLOOM_ALL), [&] {
      const auto loop = indexed_loop<scalar_t>(
          iter, 0, sizes, steps,
          [](char* self, char* value, int64_t offset) {
            scalar_t& element = *reinterpret_cast<scalar_t*>(self + offset);
            element = sum_of(element, *reinterpret_cast<const scalar_t*>(value));
          },
          [dtype = iter.dtype(0), by_rows = adds_rows(iter.dtype(0), 1)](
              char* self, char* value, int64_t offset, int64_t n, int64_t stride) {
            auto* to = reinterpret_cast<scalar_t*>(self + offset);
            const auto* from = reinterpret_cast<const scalar_t*>(value);
            const int64_t step = stride / int64_t{sizeof(scalar_t)};
            if (step == 1 && by_rows) return add_row(dtype, to, from, n, 1);
            for (int64_t i = 0; i < n; ++i) to[i] = sum_of(to[i], from[i * step]);
          });
      iter.serial_for_each(TensorIteratorBase::loop2d_t(loop), 0, iter.numel());
    });
    return;
  }
  with_opaque_type(static_cast<size_t>(iter.element_size(0)), [&]<typename T>(T) {
    const auto loop = indexed_loop<T>(
        iter, 0, sizes, steps,
        [](char* self, char* value, int64_t offset) {
          *reinterpret_cast<T*>(self + offset) = *reinterpret_cast<const T*>(value);
        },
        [move = at::detail::get_move_loop(sizeof(T))](char* self, char* value, int64_t offset,
                                                      int64_t n, int64_t stride) {
          move(self + offset, sizeof(T), value, stride, n);
        });
    // On one thread, too: which of several values for one element is kept must not be a race.
    iter.serial_for_each(TensorIteratorBase::loop2d_t(loop), 0, iter.numel());
  });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH_FOR_ALL(index_stub, &index_kernel);
OPLOOM_REGISTER_DISPATCH_FOR_ALL(index_put_stub, &index_put_kernel);

}  // namespace at::inline oploom_v1::native
