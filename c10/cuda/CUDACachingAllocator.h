// The allocator of GPU memory: blocks from the driver's stream-ordered pool, which keeps what is
// freed for the next allocation, so that neither asks the system nor waits.
//
// A block is allocated for the stream that is current then and freed in the order of that stream,
// so that work which is queued on it may still use the block. Who hands a tensor to another stream
// keeps it alive until that stream is done.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Export.h>

#include <cstddef>

namespace c10::inline oploom_v1::cuda {

// The process has one, never destroyed. It serves the current device.
OPLOOM_API Allocator* GetCUDAAllocator();

namespace cuda_allocator {

// As the CPU allocator's, for one device (the current one for -1): what was asked for, without
// rounding. `reserved_bytes` is what the pool holds, `num_system_allocs` counts nothing here.
OPLOOM_API MemoryStats memory_stats(DeviceIndex device = -1);
OPLOOM_API void reset_peak_stats(DeviceIndex device = -1);
// The most that may be in use on a device; 0 for no limit.
OPLOOM_API void set_memory_limit(std::size_t bytes, DeviceIndex device = -1);
// Gives what the pool holds and nobody uses back to the driver, after waiting for the device.
OPLOOM_API void empty_cache(DeviceIndex device = -1);

}  // namespace cuda_allocator

}  // namespace c10::inline oploom_v1::cuda
