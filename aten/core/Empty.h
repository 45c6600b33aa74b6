// Allocation of tensors below the operators, for kernels, iterators and factories.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::detail {

// A tensor whose elements are not initialised. The device of `options` chooses the allocator; on Meta
// nothing is allocated. Throws ValueError for a negative size or one whose bytes overflow 64 bits,
// OutOfMemoryError when the memory is not to be had.
OPLOOM_API TensorBase empty(IntArrayRef sizes, const TensorOptions& options);
// Strides count elements, and must not be negative.
OPLOOM_API TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                    const TensorOptions& options);
// A 0-dim tensor on the CPU that holds a number and takes part in promotion as a number does: by its
// category alone.
OPLOOM_API TensorBase wrapped_scalar_tensor(const Scalar& value);

}  // namespace at::inline oploom_v1::detail
