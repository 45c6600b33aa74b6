// Computations on shapes that need no tensor.
#include <c10/core/InferSize.h>

#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>
#include <c10/util/overflow.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace c10::inline oploom_v1 {

namespace {
// What messages begin with.
std::string prefix(std::string_view op) { return op.empty() ? std::string() : str(op, "(): "); }
}  // namespace

void check_size_nonnegative(IntArrayRef sizes, std::string_view op) {
  for (const int64_t size : sizes) {
    OPLOOM_CHECK(size >= 0, prefix(op), "negative dimension ", size, " in sizes ", sizes);
  }
}

int64_t checked_numel(IntArrayRef sizes, std::string_view op) {
  check_size_nonnegative(sizes, op);
  int64_t numel = 0;
  // A size of 0 makes the number 0 however large the others are.
  if (safe_multiplies(sizes, &numel)) {
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
    OPLOOM_ERROR(prefix(op), "sizes ", sizes, " have more than 2^63-1 elements");
  }
  return numel;
}

namespace {
[[noreturn]] OPLOOM_COLD void throw_too_many_bytes(IntArrayRef sizes, const IntArrayRef* strides,
                                                   std::size_t itemsize) {
  if (strides != nullptr) {
    OPLOOM_ERROR("sizes ", sizes, " with strides ", *strides, " and ", itemsize,
                 " bytes per element need more than 2^63-1 bytes");
  }
  OPLOOM_ERROR("sizes ", sizes, " with ", itemsize,
               " bytes per element need more than 2^63-1 bytes");
}
}  // namespace

std::size_t computeStorageNbytesContiguous(IntArrayRef sizes, std::size_t itemsize,
                                           int64_t storage_offset) {
  int64_t count = 1;
  bool overflowed = false;
  bool empty = false;
  for (const int64_t size : sizes) {
    if (OPLOOM_UNLIKELY(size < 0)) check_size_nonnegative(sizes);
    empty |= size == 0;
    overflowed |= mul_overflows(count, size, &count);
  }
  if (empty) return 0;
  overflowed |= add_overflows(count, storage_offset, &count);
  overflowed |= mul_overflows(count, static_cast<int64_t>(itemsize), &count);
  if (OPLOOM_UNLIKELY(overflowed)) throw_too_many_bytes(sizes, nullptr, itemsize);
  return static_cast<std::size_t>(count);
}

std::size_t computeStorageNbytes(IntArrayRef sizes, IntArrayRef strides, std::size_t itemsize,
                                 int64_t storage_offset) {
  OPLOOM_CHECK(sizes.size() == strides.size(), "expected as many strides as sizes, got ", strides,
               " for ", sizes);
  check_size_nonnegative(sizes);
  int64_t last = storage_offset;  // the element farthest from the beginning
  bool overflowed = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    OPLOOM_CHECK(strides[i] >= 0, "expected strides of at least 0, got ", strides);
    if (sizes[i] == 0) return 0;
    int64_t extent = 0;
    overflowed |= mul_overflows(sizes[i] - 1, strides[i], &extent);
    overflowed |= add_overflows(last, extent, &last);
  }
  overflowed |= add_overflows(last, int64_t{1}, &last);
  overflowed |= mul_overflows(last, static_cast<int64_t>(itemsize), &last);
  if (OPLOOM_UNLIKELY(overflowed)) throw_too_many_bytes(sizes, &strides, itemsize);
  return static_cast<std::size_t>(last);
}

namespace {

// Two sizes that do not go together.
struct Different {
  int64_t a, b;
  std::size_t dim;  // of the result
};
// Fills in the shape that both broadcast to, unless there is none.
std::optional<Different> broadcast(IntArrayRef a, IntArrayRef b, DimVector& result) {
  const std::size_t ndim = std::max(a.size(), b.size());
  result.resize(ndim);
  for (std::size_t i = 0; i < ndim; ++i) {  // from the last dimension
    const int64_t size_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t size_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (size_a != size_b && size_a != 1 && size_b != 1)
      return Different{size_a, size_b, ndim - 1 - i};
    result[ndim - 1 - i] = size_a == 1 ? size_b : size_a;
  }
  return std::nullopt;
}

}  // namespace

std::optional<DimVector> try_broadcast(IntArrayRef a, IntArrayRef b) {
  DimVector result;
  if (broadcast(a, b, result).has_value()) return std::nullopt;
  return result;
}

DimVector infer_size_broadcast(IntArrayRef a, IntArrayRef b, std::string_view op) {
  DimVector result;
  const std::optional<Different> different = broadcast(a, b, result);
  OPLOOM_CHECK(!different.has_value(), prefix(op), "shapes ", a, " and ", b,
               " cannot be broadcast: sizes ", different->a, " and ", different->b,
               " at dimension ", different->dim, " of the result differ and neither is 1");
  return result;
}

void infer_size_broadcast_(DimVector& a, IntArrayRef b) { a = infer_size_broadcast(a, b); }

bool are_expandable(IntArrayRef from, IntArrayRef to) {
  if (from.size() > to.size()) return false;
  const std::size_t extra = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != to[extra + i] && from[i] != 1) return false;
  }
  return true;
}

ExpandGeometry inferExpandGeometry(IntArrayRef tensor_sizes, IntArrayRef tensor_strides,
                                   IntArrayRef sizes, std::string_view op) {
  if (op.empty()) op = "expand";
  OPLOOM_CHECK(sizes.size() >= tensor_sizes.size(), prefix(op), "expected at least ",
               tensor_sizes.size(), " sizes for a tensor of sizes ", tensor_sizes, ", got ", sizes);
  const std::size_t extra = sizes.size() - tensor_sizes.size();
  ExpandGeometry result{DimVector(sizes.size()), DimVector(sizes.size())};
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const bool is_new = i < extra;
    int64_t size = is_new ? 1 : tensor_sizes[i - extra];
    // A new dimension gets the stride that keeps the tensor's order, as the field does.
    int64_t stride = !is_new                ? tensor_strides[i - extra]
                     : i + 1 < sizes.size() ? result.sizes[i + 1] * result.strides[i + 1]
                                            : 1;
    int64_t wanted = sizes[i];
    if (wanted == -1) {
      OPLOOM_CHECK(!is_new, prefix(op), "-1 in ", sizes, " stands for dimension ", i,
                   ", which a tensor of sizes ", tensor_sizes, " does not have");
      wanted = size;
    }
    OPLOOM_CHECK(wanted >= 0, prefix(op), "expected sizes of at least 0 (or -1), got ", sizes);
    if (size != wanted) {
      OPLOOM_CHECK(size == 1, prefix(op), "cannot expand sizes ", tensor_sizes, " to ", sizes,
                   ": dimension ", i, " has size ", size, ", which is neither 1 nor ", wanted);
      size = wanted;
      stride = 0;
    }
    result.sizes[i] = size;
    result.strides[i] = stride;
  }
  return result;
}

DimVector infer_size(IntArrayRef shape, int64_t numel, std::string_view op) {
  DimVector result(shape);
  std::optional<std::size_t> open;
  int64_t known = 1;
  bool overflowed = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      OPLOOM_CHECK(!open.has_value(), prefix(op),
                   "only one size can be inferred, got -1 more than once in ", shape);
      open = i;
    } else {
      OPLOOM_CHECK(shape[i] >= 0, prefix(op), "expected sizes of at least 0 (or -1), got ",
                   shape[i], " in ", shape);
      overflowed |= mul_overflows(known, shape[i], &known);
    }
  }
  // An overflowed product may still be 0 if a size is.
  if (overflowed) {
    known = std::find(shape.begin(), shape.end(), 0) != shape.end() ? 0 : -1;
  }
  if (open.has_value()) {
    OPLOOM_CHECK(known != 0, prefix(op), "cannot infer the size of -1 in shape ", shape,
                 " for input of size ", numel, ", as any value would do");
    OPLOOM_CHECK(known > 0 && numel % known == 0, prefix(op), "shape ", shape,
                 " is invalid for input of size ", numel);
    result[*open] = numel / known;
  } else {
    OPLOOM_CHECK(known == numel, prefix(op), "shape ", shape, " is invalid for input of size ",
                 numel);
  }
  return result;
}

std::optional<DimVector> computeStride(IntArrayRef old_sizes, IntArrayRef old_strides,
                                       IntArrayRef new_sizes) {
  if (old_sizes.empty()) return DimVector(new_sizes.size(), 1);
  int64_t numel = multiply_integers(old_sizes);
  if (numel == 0) {
    if (old_sizes.equals(new_sizes)) return DimVector(old_strides);
    return contiguous_strides(new_sizes);
  }

  DimVector result(new_sizes.size());
  // Dimensions are taken from the last. Old ones that continue each other in memory form a chunk;
  // new ones must fill each chunk exactly.
  auto view_dim = static_cast<int64_t>(new_sizes.size()) - 1;
  int64_t chunk_stride = old_strides.back();
  int64_t chunk_numel = 1;
  int64_t view_numel = 1;
  for (auto dim = static_cast<int64_t>(old_sizes.size()) - 1; dim >= 0; --dim) {
    const auto d = static_cast<std::size_t>(dim);
    chunk_numel *= old_sizes[d];
    const bool chunk_ends =
        dim == 0 || (old_sizes[d - 1] != 1 && old_strides[d - 1] != chunk_numel * chunk_stride);
    if (!chunk_ends) continue;
    while (view_dim >= 0 &&
           (view_numel < chunk_numel || new_sizes[static_cast<std::size_t>(view_dim)] == 1)) {
      const auto v = static_cast<std::size_t>(view_dim);
      result[v] = view_numel * chunk_stride;
      view_numel *= new_sizes[v];
      --view_dim;
    }
    if (view_numel != chunk_numel) return std::nullopt;
    if (dim > 0) {
      chunk_stride = old_strides[d - 1];
      chunk_numel = 1;
      view_numel = 1;
    }
  }
  if (view_dim != -1) return std::nullopt;
  return result;
}

DimVector infer_dense_strides(IntArrayRef sizes, IntArrayRef strides) {
  OPLOOM_CHECK(sizes.size() == strides.size(), "expected as many strides as sizes, got ", strides,
               " for ", sizes);
  const auto ndim = static_cast<int64_t>(sizes.size());
  if (ndim == 0) return {};
  if (ndim == 1) return DimVector{1};

  // Insertion sort into ascending strides. Dimensions of stride 0 (expanded) keep their place, and
  // equal strides are ordered by size; ambiguous pairs keep the order they have.
  DimVector order(sizes.size());
  std::iota(order.rbegin(), order.rend(), int64_t{0});
  // 1 if dim0 belongs outside of dim1, -1 if inside, 0 if it cannot be told.
  const auto compare = [&](int64_t dim0, int64_t dim1) {
    const auto i0 = static_cast<std::size_t>(dim0), i1 = static_cast<std::size_t>(dim1);
    if (strides[i0] == 0 || strides[i1] == 0) return 0;
    if (strides[i0] < strides[i1]) return -1;
    if (strides[i0] > strides[i1]) return 1;
    return sizes[i0] > sizes[i1] ? 1 : 0;
  };
  for (int64_t i = 1; i < ndim; ++i) {
    int64_t dim1 = i;
    for (int64_t dim0 = i - 1; dim0 >= 0; --dim0) {
      const auto a = static_cast<std::size_t>(dim0), b = static_cast<std::size_t>(dim1);
      const int comparison = compare(order[a], order[b]);
      if (comparison > 0) {
        std::swap(order[a], order[b]);
        dim1 = dim0;
      } else if (comparison < 0) {
        break;
      }
    }
  }

  DimVector result(sizes.size());
  int64_t stride = 1;
  for (const int64_t dim : order) {
    const auto d = static_cast<std::size_t>(dim);
    result[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return result;
}

}  // namespace c10::inline oploom_v1
