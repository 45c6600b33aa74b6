#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

namespace c10::inline oploom_v1::cuda {

namespace {

constexpr int kMaxDevices = 32;

struct ThreadStreams {
  cudaStream_t of[kMaxDevices] = {};
};
ThreadStreams& thread_streams() {
  static thread_local ThreadStreams streams;
  return streams;
}

class CUDAHooks final : public DeviceHooks {
 public:
  DeviceIndex device_count() const override {
    return static_cast<DeviceIndex>(cuda::device_count());
  }
  DeviceIndex current_device() const override { return cuda::current_device(); }
  void set_device(DeviceIndex index) const override { cuda::set_device(index); }
};

const bool registered = [] {
  SetDeviceHooks(DeviceType::CUDA, new CUDAHooks);
  return true;
}();

}  // namespace

int device_count() noexcept {
  static const int count = [] {
    int found = 0;
    if (cudaGetDeviceCount(&found) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return 0;
    }
    return found < kMaxDevices ? found : kMaxDevices;
  }();
  return count;
}

DeviceIndex current_device() {
  OPLOOM_CHECK(device_count() > 0,
               "CUDA: no GPU was found; is there one, and is its driver installed?");
  int device = 0;
  OPLOOM_CUDA_CHECK(cudaGetDevice(&device));
  return static_cast<DeviceIndex>(device);
}

void set_device(DeviceIndex device) {
  OPLOOM_CHECK(device >= 0 && device < device_count(), "CUDA: expected a device from 0 to ",
               device_count() - 1, " (", device_count(),
               " found), got cuda:", static_cast<int>(device));
  OPLOOM_CUDA_CHECK(cudaSetDevice(device));
}

cudaStream_t current_stream() { return thread_streams().of[current_device()]; }

void set_current_stream(cudaStream_t stream) { thread_streams().of[current_device()] = stream; }

void synchronize() { OPLOOM_CUDA_CHECK(cudaStreamSynchronize(current_stream())); }

}  // namespace c10::inline oploom_v1::cuda
