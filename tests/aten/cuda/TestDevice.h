// The device that the tests beside this file call "cuda": a GPU (OPLOOM_TEST_ON_GPU), or the host's
// memory, whose tensors go to the kernels that are registered for CUDA all the same.
#pragma once

#include <aten/ATen.h>
#include <c10/core/Allocator.h>

#include <cstdlib>
#include <cstring>

#if defined(OPLOOM_TEST_ON_GPU)
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace test_device {

using at::Tensor;
using at::TensorBase;

#if defined(OPLOOM_TEST_ON_GPU)

inline bool is_there() { return c10::cuda::device_count() > 0; }
inline void copy(void* to, const void* from, size_t nbytes) {
  c10::cuda::synchronize();
  OPLOOM_CUDA_CHECK(cudaMemcpy(to, from, nbytes, cudaMemcpyDefault));
}
inline int64_t allocated_blocks() {
  return c10::cuda::cuda_allocator::memory_stats().allocated_blocks;
}

#else

struct HostAllocator final : c10::Allocator {
  HostAllocator() { c10::SetAllocator(c10::kCUDA, this); }
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

inline bool is_there() {
  static HostAllocator allocator;
  return true;
}
inline void copy(void* to, const void* from, size_t nbytes) { std::memcpy(to, from, nbytes); }
inline int64_t allocated_blocks() { return HostAllocator::blocks; }

#endif

// The whole memory of a tensor, and with it its strides, in the memory of another device.
inline Tensor on(c10::Device device, const TensorBase& tensor) {
  const size_t nbytes = tensor.storage().nbytes();
  c10::Storage storage(c10::Storage::use_byte_size_t(), nbytes, c10::GetAllocator(device.type()),
                       /*resizable=*/true);
  if (nbytes > 0) copy(storage.mutable_data(), tensor.storage().data(), nbytes);
  auto impl = c10::make_intrusive<c10::TensorImpl, c10::UndefinedTensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::backend_key(device.type(), at::Layout::Strided)),
      tensor.scalar_type());
  impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return Tensor(TensorBase(std::move(impl)));
}
inline Tensor to_cuda(const TensorBase& tensor) { return on(c10::Device(c10::kCUDA, 0), tensor); }
inline Tensor to_cpu(const TensorBase& tensor) { return on(c10::kCPU, tensor); }

}  // namespace test_device
