// Computations on shapes that need no tensor: bytes, broadcasting, -1 in views, strides of views.
// Where there is a parameter `op`, messages begin with `op(): ` unless it is empty.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>
#include <c10/util/Export.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace c10::inline oploom_v1 {

// Throws a ValueError that names the first negative size.
OPLOOM_API void check_size_nonnegative(IntArrayRef sizes, std::string_view op = {});

// The number of elements; throws an Error if a size is negative or the product exceeds 2^63 - 1.
OPLOOM_API int64_t checked_numel(IntArrayRef sizes, std::string_view op = {});

// The bytes a storage needs for a contiguous tensor, or for one with these strides (elements); 0 if
// there are no elements. Throws an Error if a size or stride is negative or the number exceeds
// 2^63 - 1, so call it before allocating.
OPLOOM_API std::size_t computeStorageNbytesContiguous(IntArrayRef sizes, std::size_t itemsize,
                                                      int64_t storage_offset = 0);
OPLOOM_API std::size_t computeStorageNbytes(IntArrayRef sizes, IntArrayRef strides,
                                            std::size_t itemsize, int64_t storage_offset = 0);

// The shape that both broadcast to, or nothing if there is none.
OPLOOM_API std::optional<DimVector> try_broadcast(IntArrayRef a, IntArrayRef b);
// The shape that both broadcast to; throws an Error that names both.
OPLOOM_API DimVector infer_size_broadcast(IntArrayRef a, IntArrayRef b, std::string_view op = {});
// As above into a vector given, which may hold `a`'s sizes.
OPLOOM_API void infer_size_broadcast_(DimVector& a, IntArrayRef b);
OPLOOM_API bool are_expandable(IntArrayRef from, IntArrayRef to);

// The sizes and strides of a tensor expanded to `sizes` (in which -1 keeps the size); throws an
// Error.
struct ExpandGeometry {
  DimVector sizes;
  DimVector strides;
};
OPLOOM_API ExpandGeometry inferExpandGeometry(IntArrayRef tensor_sizes, IntArrayRef tensor_strides,
                                              IntArrayRef sizes, std::string_view op = {});

// `shape` with its one -1 replaced so that it has numel elements; throws an Error if that cannot
// be.
OPLOOM_API DimVector infer_size(IntArrayRef shape, int64_t numel, std::string_view op = {});

// The strides of a view with `new_sizes` (as many elements, no -1), or nothing if it needs a copy.
OPLOOM_API std::optional<DimVector> computeStride(IntArrayRef old_sizes, IntArrayRef old_strides,
                                                  IntArrayRef new_sizes);

// The strides of a dense tensor that orders its dimensions as `strides` does: what
// MemoryFormat::Preserve gives an output whose input is not dense.
OPLOOM_API DimVector infer_dense_strides(IntArrayRef sizes, IntArrayRef strides);

}  // namespace c10::inline oploom_v1
