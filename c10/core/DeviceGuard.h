// The current device of a type, and a guard that changes it for a while.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>

namespace c10::inline oploom_v1 {

// What a library that brings devices tells about them. The CPU has none of this: it is one device.
class OPLOOM_API DeviceHooks {
 public:
  virtual ~DeviceHooks();
  virtual DeviceIndex device_count() const = 0;
  // New tensors of the type, and kernels, go to this one. Each thread has its own.
  virtual DeviceIndex current_device() const = 0;
  // Throws an Error if there is no such device.
  virtual void set_device(DeviceIndex index) const = 0;
};

// Null for a type that nothing has been registered for.
OPLOOM_API const DeviceHooks* GetDeviceHooks(DeviceType type) noexcept;
// The hooks are never freed.
OPLOOM_API void SetDeviceHooks(DeviceType type, const DeviceHooks* hooks);

// The device itself, or the current one of its type where no index is given and there is one.
OPLOOM_API Device with_index(Device device);

// Makes a device the current one of its type. Without hooks or an index there is nothing to do.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) {
    if (OPLOOM_UNLIKELY(!device.is_cpu() && device.has_index())) enter(device);
  }
  ~DeviceGuard() {
    if (OPLOOM_UNLIKELY(hooks_ != nullptr)) leave();
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  OPLOOM_API void enter(Device device);
  OPLOOM_API void leave() noexcept;

  const DeviceHooks* hooks_ = nullptr;
  DeviceIndex previous_ = 0;
};

}  // namespace c10::inline oploom_v1
