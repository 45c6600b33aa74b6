#include <c10/core/DeviceGuard.h>

#include <atomic>

namespace c10::inline oploom_v1 {

namespace {
constinit std::atomic<const DeviceHooks*> registered[kNumDeviceTypes]{};
}

DeviceHooks::~DeviceHooks() = default;

const DeviceHooks* GetDeviceHooks(DeviceType type) noexcept {
  return registered[static_cast<int>(type)].load(std::memory_order_acquire);
}

void SetDeviceHooks(DeviceType type, const DeviceHooks* hooks) {
  registered[static_cast<int>(type)].store(hooks, std::memory_order_release);
}

Device with_index(Device device) {
  if (device.is_cpu() || device.has_index()) return device;
  const DeviceHooks* hooks = GetDeviceHooks(device.type());
  return hooks == nullptr ? device : Device(device.type(), hooks->current_device());
}

void DeviceGuard::enter(Device device) {
  const DeviceHooks* hooks = GetDeviceHooks(device.type());
  if (hooks == nullptr) return;
  previous_ = hooks->current_device();
  if (previous_ == device.index()) return;
  hooks->set_device(device.index());
  hooks_ = hooks;
}

// The device was current before, so that setting it again cannot fail for want of it.
void DeviceGuard::leave() noexcept { hooks_->set_device(previous_); }

}  // namespace c10::inline oploom_v1
