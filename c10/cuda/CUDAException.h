// Errors of the CUDA runtime as exceptions.
#pragma once

#include <c10/util/Exception.h>

#include <cuda_runtime_api.h>

namespace c10::inline oploom_v1::cuda {

// Throws OutOfMemoryError for cudaErrorMemoryAllocation, else Error: which call failed, where, and
// what CUDA says about it. An error that a kernel has left behind is reported by whichever call
// comes next; CUDA_LAUNCH_BLOCKING=1 in the environment makes that the launch itself.
[[noreturn]] OPLOOM_API void throw_cuda_error(cudaError_t error, const char* call, const char* file,
                                              int line);

}  // namespace c10::inline oploom_v1::cuda

#define OPLOOM_CUDA_CHECK(call)                                               \
  do {                                                                        \
    const cudaError_t oploom_error = (call);                                  \
    if (OPLOOM_UNLIKELY(oploom_error != cudaSuccess)) {                       \
      ::c10::cuda::throw_cuda_error(oploom_error, #call, __FILE__, __LINE__); \
    }                                                                         \
  } while (false)
