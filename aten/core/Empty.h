// Allocation of tensors below the operators, for kernels, iterators and factories.
#pragma once

#include <aten/core/TensorBase.h>

namespace at::inline oploom_v1::detail {

// A tensor whose elements are not initialised. The device of `options` chooses the allocator; on
// Meta nothing is allocated. Throws ValueError for a negative size or one whose bytes overflow 64
// bits, OutOfMemoryError when the memory is not to be had.
OPLOOM_API TensorBase empty(IntArrayRef sizes, const TensorOptions& options);
// The same, on the CPU.
OPLOOM_API TensorBase empty_cpu(IntArrayRef sizes, ScalarType dtype);
// And for the sizes of a tensor that there is, whose product is `numel`.
OPLOOM_API TensorBase empty_row(IntArrayRef sizes, int64_t numel, ScalarType dtype);
// Strides count elements, and must not be negative.
OPLOOM_API TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                    const TensorOptions& options);
// Gives a tensor new sizes in place, keeping its memory where that is large enough and its elements
// as far as they fit. Throws when the memory belongs to somebody else and is too small.
OPLOOM_API void resize(const TensorBase& tensor, IntArrayRef sizes);
// Throws where that would. The bytes of memory that the tensor needs then.
OPLOOM_API size_t check_resizable(const TensorBase& tensor, IntArrayRef sizes);
// Gives an out= tensor the sizes of a result, with these strides (empty: contiguous). A tensor that
// has the sizes already keeps its strides. Says whether anything changed.
OPLOOM_API bool resize_output(const TensorBase& out, IntArrayRef sizes, IntArrayRef strides = {});

}  // namespace at::inline oploom_v1::detail
