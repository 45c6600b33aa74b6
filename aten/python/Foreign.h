// Tensors on memory that somebody else owns.
#pragma once

#include <aten/python/PyTensor.h>
#include <c10/core/Allocator.h>

namespace at::inline oploom_v1::python {

// A tensor on foreign memory. `release(owner)` is called once when its storage dies, at the latest
// when this function fails. Strides count elements and are not negative.
Tensor from_foreign(void* data, IntArrayRef sizes, IntArrayRef strides, ScalarType type,
                    Device device, void* owner, c10::DeleterFnPtr release);

// A strided tensor at the beginning of `storage`.
Tensor make_tensor_on(c10::Storage storage, IntArrayRef sizes, IntArrayRef strides,
                      ScalarType type);

// Keeps the tensor's memory where it is from now on, since somebody else has its address: operators
// that would have to move it to make it larger refuse to.
void pin_storage(const Tensor& tensor);

// For memory that a Python object owns: drops the reference, taking the GIL.
struct ForeignOwner {
  static void release(void* owner);
};

}  // namespace at::inline oploom_v1::python
