// from_blob: a tensor over memory that somebody else owns.
#pragma once

#include <c10/util/OptionalArrayRef.h>
#include <c10/util/SharedFunction.h>
#include <generated/ops/Tensor.h>

namespace at::inline oploom_v1 {

// The tensor reads and writes `data` itself; nothing is copied. The memory must live as long as any
// tensor on it. `deleter`, where given, is called with `data` when the last of them is gone. Sizes,
// strides and the offset count elements of the dtype in the options (by default the default dtype);
// the device of the options is where the memory lies. `data` must be a multiple of the element's
// size: ValueError otherwise, as for null, negative sizes and sizes beyond 64 bits.
OPLOOM_API Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});
OPLOOM_API Tensor from_blob(void* data, IntArrayRef sizes,
                            c10::shared_function<void(void*)> deleter,
                            const TensorOptions& options = {});
OPLOOM_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                            const TensorOptions& options = {});
OPLOOM_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                            c10::shared_function<void(void*)> deleter,
                            const TensorOptions& options = {});
OPLOOM_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                            int64_t storage_offset, c10::shared_function<void(void*)> deleter,
                            const TensorOptions& options = {});

}  // namespace at::inline oploom_v1
