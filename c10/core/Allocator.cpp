// The registry of allocators and the one of the Meta device.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <mutex>

namespace c10::inline oploom_v1 {

Allocator::~Allocator() = default;

void deleteNothing(void*) {}

namespace {

// Meta tensors have sizes but no memory.
class MetaAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t) override { return DataPtr(nullptr, Device(DeviceType::Meta)); }
  DeleterFnPtr raw_deleter() const override { return &deleteNothing; }
};

constinit std::array<std::atomic<Allocator*>, kNumDeviceTypes> registered = {};
constinit std::array<std::uint8_t, kNumDeviceTypes> priorities = {};
constinit std::mutex registry_mutex;

// Registers ours at the first use, unless somebody else's was registered before.
OPLOOM_COLD Allocator* built_in_allocator(DeviceType type) {
  Allocator* ours = nullptr;
  if (type == DeviceType::CPU) {
    ours = GetCPUAllocator();
  } else if (type == DeviceType::Meta) {
    static auto* meta = new MetaAllocator();
    ours = meta;
  } else {
    throw NotImplementedError(
        str("no allocator is registered for device type ", type,
            "; the library that has one must be loaded first (for NVIDIA "
            "GPUs liboploom_cuda, from Python by oploom.cuda.is_available())"));
  }
  Allocator* present = nullptr;
  const bool registered_ours =
      registered[static_cast<std::size_t>(type)].compare_exchange_strong(present, ours);
  return registered_ours ? ours : present;
}

}  // namespace

Allocator* GetAllocator(DeviceType type) {
  Allocator* allocator = registered[static_cast<std::size_t>(type)].load(std::memory_order_acquire);
  return OPLOOM_LIKELY(allocator != nullptr) ? allocator : built_in_allocator(type);
}

void SetAllocator(DeviceType type, Allocator* allocator, std::uint8_t priority) {
  const std::lock_guard lock(registry_mutex);
  const auto i = static_cast<std::size_t>(type);
  if (priority < priorities[i]) return;
  priorities[i] = priority;
  registered[i].store(allocator, std::memory_order_release);
}

}  // namespace c10::inline oploom_v1
