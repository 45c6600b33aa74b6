// What python/oploom/cuda.py calls, by way of ctypes: functions that return 0, or else leave a
// message.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <string>

extern "C" {
OPLOOM_API const char* oploom_cuda_error = "";
OPLOOM_API int oploom_cuda_device_count();
OPLOOM_API int oploom_cuda_synchronize();
OPLOOM_API int oploom_cuda_empty_cache();
OPLOOM_API int oploom_cuda_memory_stats(int device, int64_t* values);
}

namespace {

template <typename Function>
int guarded(Function function) {
  try {
    function();
    return 0;
  } catch (const std::exception& error) {
    static std::string message;
    message = error.what();
    oploom_cuda_error = message.c_str();
    return 1;
  }
}

}  // namespace

int oploom_cuda_device_count() { return c10::cuda::device_count(); }

int oploom_cuda_synchronize() {
  return guarded([] { c10::cuda::synchronize(); });
}

int oploom_cuda_empty_cache() {
  return guarded([] { c10::cuda::cuda_allocator::empty_cache(); });
}

int oploom_cuda_memory_stats(int device, int64_t* values) {
  return guarded([&] {
    const c10::MemoryStats stats =
        c10::cuda::cuda_allocator::memory_stats(static_cast<c10::DeviceIndex>(device));
    const int64_t all[] = {stats.allocated_bytes,  stats.peak_bytes, stats.reserved_bytes,
                           stats.allocated_blocks, stats.num_allocs, stats.num_frees,
                           stats.limit_bytes};
    for (const int64_t value : all) *values++ = value;
  });
}
