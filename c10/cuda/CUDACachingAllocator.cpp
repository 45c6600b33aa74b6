#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <unordered_map>

namespace c10::inline oploom_v1::cuda {

namespace {

constexpr int kMaxDevices = 32;

struct Block {
  std::size_t bytes;
  DeviceIndex device;
  cudaStream_t stream;
};

class StreamOrderedAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t nbytes) override {
    const DeviceIndex device = current_device();
    if (nbytes == 0) return DataPtr(nullptr, nullptr, nullptr, Device(kCUDA, device));
    const cudaStream_t stream = current_stream();
    const auto bytes = static_cast<std::int64_t>(nbytes);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      MemoryStats& stats = stats_of(device);
      const bool fits =
          stats.limit_bytes == 0 || stats.allocated_bytes + bytes <= stats.limit_bytes;
      OPLOOM_CHECK_MEMORY(fits, "CUDA: ", nbytes, " bytes more on cuda:", static_cast<int>(device),
                          " would exceed the limit of ", stats.limit_bytes, " bytes; ",
                          stats.allocated_bytes, " are in use");
      keep_freed_memory(device);
    }
    void* data = nullptr;
    cudaError_t error = cudaMallocAsync(&data, nbytes, stream);
    if (error == cudaErrorMemoryAllocation) {
      // What other streams have freed can be had after they are done.
      static_cast<void>(cudaGetLastError());
      cuda_allocator::empty_cache(device);
      error = cudaMallocAsync(&data, nbytes, stream);
    }
    if (error == cudaErrorMemoryAllocation) throw_out_of_memory(nbytes, device);
    OPLOOM_CUDA_CHECK(error);
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_[data] = {nbytes, device, stream};
    MemoryStats& stats = stats_of(device);
    stats.allocated_bytes += bytes;
    stats.peak_bytes = std::max(stats.peak_bytes, stats.allocated_bytes);
    ++stats.allocated_blocks;
    ++stats.num_allocs;
    return DataPtr(data, data, &free_block, Device(kCUDA, device));
  }
  DeleterFnPtr raw_deleter() const override { return &free_block; }

  MemoryStats stats(DeviceIndex device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stats_of(device);
  }
  void reset_peak(DeviceIndex device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stats_of(device).peak_bytes = stats_of(device).allocated_bytes;
  }
  void set_limit(DeviceIndex device, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stats_of(device).limit_bytes = static_cast<std::int64_t>(bytes);
  }

 private:
  static void free_block(void* data);

  void release(void* data) noexcept {
    Block block;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = blocks_.find(data);
      if (found == blocks_.end()) return;
      block = found->second;
      blocks_.erase(found);
      MemoryStats& stats = stats_of(block.device);
      stats.allocated_bytes -= static_cast<std::int64_t>(block.bytes);
      --stats.allocated_blocks;
      ++stats.num_frees;
    }
    // At the end of the process the driver may be gone, and the memory with it.
    if (cudaFreeAsync(data, block.stream) != cudaSuccess) static_cast<void>(cudaGetLastError());
  }

  // By default a pool gives everything back at the next synchronisation. Called with the lock held.
  void keep_freed_memory(DeviceIndex device) {
    if (is_set_up_[static_cast<std::size_t>(device)]) return;
    cudaMemPool_t pool = nullptr;
    OPLOOM_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
    std::uint64_t threshold = std::numeric_limits<std::uint64_t>::max();
    OPLOOM_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    is_set_up_[static_cast<std::size_t>(device)] = true;
  }

  [[noreturn]] void throw_out_of_memory(std::size_t nbytes, DeviceIndex device) {
    static_cast<void>(cudaGetLastError());
    std::size_t free = 0, total = 0;
    static_cast<void>(cudaMemGetInfo(&free, &total));
    OPLOOM_CHECK_MEMORY(false, "CUDA: cannot allocate ", nbytes,
                        " bytes on cuda:", static_cast<int>(device), ": ", free, " of ", total,
                        " bytes are free, and ", stats(device).allocated_bytes,
                        " are in use by tensors of this process");
    __builtin_unreachable();
  }

  MemoryStats& stats_of(DeviceIndex device) { return stats_[static_cast<std::size_t>(device)]; }

  std::mutex mutex_;
  std::unordered_map<void*, Block> blocks_;
  std::array<MemoryStats, kMaxDevices> stats_{};
  std::array<bool, kMaxDevices> is_set_up_{};
};

StreamOrderedAllocator& allocator() {
  static auto* const instance = new StreamOrderedAllocator;
  return *instance;
}

void StreamOrderedAllocator::free_block(void* data) { allocator().release(data); }

DeviceIndex index_or_current(DeviceIndex device) {
  if (device == -1) return current_device();
  OPLOOM_CHECK(device >= 0 && device < device_count(),
               "CUDA: there is no device cuda:", static_cast<int>(device), "; ", device_count(),
               " found");
  return device;
}

const bool registered = [] {
  SetAllocator(DeviceType::CUDA, &allocator());
  return true;
}();

}  // namespace

Allocator* GetCUDAAllocator() { return &allocator(); }

namespace cuda_allocator {

MemoryStats memory_stats(DeviceIndex device) {
  device = index_or_current(device);
  MemoryStats stats = allocator().stats(device);
  cudaMemPool_t pool = nullptr;
  OPLOOM_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  std::uint64_t reserved = 0;
  OPLOOM_CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  stats.reserved_bytes = static_cast<std::int64_t>(reserved);
  return stats;
}

void reset_peak_stats(DeviceIndex device) { allocator().reset_peak(index_or_current(device)); }

void set_memory_limit(std::size_t bytes, DeviceIndex device) {
  allocator().set_limit(index_or_current(device), bytes);
}

void empty_cache(DeviceIndex device) {
  device = index_or_current(device);
  const DeviceGuard guard(Device(kCUDA, device));
  OPLOOM_CUDA_CHECK(cudaDeviceSynchronize());
  cudaMemPool_t pool = nullptr;
  OPLOOM_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  OPLOOM_CUDA_CHECK(cudaMemPoolTrimTo(pool, 0));
}

}  // namespace cuda_allocator

}  // namespace c10::inline oploom_v1::cuda
