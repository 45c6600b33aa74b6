// Devices and streams.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/Export.h>

#include <cuda_runtime_api.h>

namespace c10::inline oploom_v1::cuda {

// 0 where there is no GPU or no driver.
OPLOOM_API int device_count() noexcept;
// The calling thread's device. Throws an Error if there is none.
OPLOOM_API DeviceIndex current_device();
// Throws an Error that says how many devices there are.
OPLOOM_API void set_device(DeviceIndex device);

// What kernels and copies of the calling thread are queued on: the legacy default stream of the
// current device unless set_current_stream() has chosen another. A stream belongs to the device
// that was current when it was made; the choice is kept for each device.
OPLOOM_API cudaStream_t current_stream();
// `stream` is the caller's. Memory that is freed while a stream works with it is not given out
// again before that work is done (see CUDACachingAllocator.h): tensors that were made while
// `stream` was current are freed in it, so it is to be destroyed after the last of them.
OPLOOM_API void set_current_stream(cudaStream_t stream);
// Waits for everything that is queued on the current stream, and reports what went wrong in it.
OPLOOM_API void synchronize();

}  // namespace c10::inline oploom_v1::cuda
