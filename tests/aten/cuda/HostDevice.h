// The host's memory as a CUDA device: tensors of it go to the kernels that are registered for CUDA,
// which the tests beside this file compile for the CPU.
#pragma once

#include <aten/ATen.h>
#include <c10/core/Allocator.h>

#include <cstdlib>
#include <cstring>

namespace host_device {

using at::Tensor;
using at::TensorBase;

struct HostAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t nbytes) override {
    ++blocks;
    void* data = std::aligned_alloc(256, (nbytes + 255) / 256 * 256);
    return {data, data, &free_block, c10::Device(c10::kCUDA, 0)};
  }
  static void free_block(void* data) {
    --blocks;
    std::free(data);
  }
  static inline int64_t blocks = 0;
};

inline void set_up() {
  static HostAllocator allocator;
  c10::SetAllocator(c10::kCUDA, &allocator);
}

// The same memory, strides included, as a tensor of another device.
inline Tensor on(c10::Device device, const TensorBase& tensor) {
  c10::Storage storage(c10::Storage::use_byte_size_t(), tensor.storage().nbytes(),
                       c10::DataPtr(
                           tensor.storage().mutable_data(), new TensorBase(tensor),
                           [](void* kept) { delete static_cast<TensorBase*>(kept); }, device));
  auto impl = c10::make_intrusive<c10::TensorImpl, c10::UndefinedTensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::backend_key(device.type(), at::Layout::Strided)),
      tensor.scalar_type());
  impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return Tensor(TensorBase(std::move(impl)));
}
inline Tensor to_cuda(const TensorBase& tensor) { return on(c10::Device(c10::kCUDA, 0), tensor); }
inline Tensor to_cpu(const TensorBase& tensor) { return on(c10::kCPU, tensor); }

}  // namespace host_device
