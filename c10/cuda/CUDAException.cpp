#include <c10/cuda/CUDAException.h>

namespace c10::inline oploom_v1::cuda {

void throw_cuda_error(cudaError_t error, const char* call, const char* file, int line) {
  // Otherwise the next call would report this error once more.
  static_cast<void>(cudaGetLastError());
  std::string message = c10::str("CUDA: ", cudaGetErrorString(error), " (", cudaGetErrorName(error),
                                 ") from ", call, " at ", file, ":", line);
  OPLOOM_CHECK_MEMORY(error != cudaErrorMemoryAllocation, message);
  OPLOOM_ERROR(message);
}

}  // namespace c10::inline oploom_v1::cuda
