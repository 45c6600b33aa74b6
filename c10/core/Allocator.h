// Allocator: where the memory of storages comes from, one for each device type; DataPtr owns a
// block.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace c10::inline oploom_v1 {

using DeleterFnPtr = void (*)(void*);

OPLOOM_API void deleteNothing(void*);

// Owns a block through a context: `deleter(context)` gives it back. The context is often, but not
// always, the address of the data.
class DataPtr {
 public:
  DataPtr() noexcept = default;
  // Does not own.
  DataPtr(void* data, Device device) noexcept : data_(data), device_(device) {}
  DataPtr(void* data, void* context, DeleterFnPtr deleter, Device device) noexcept
      : data_(data), context_(context), deleter_(deleter), device_(device) {}
  DataPtr(DataPtr&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        context_(std::exchange(other.context_, nullptr)),
        deleter_(std::exchange(other.deleter_, nullptr)),
        device_(other.device_) {}
  DataPtr& operator=(DataPtr&& other) noexcept {
    if (this != &other) {
      free();
      data_ = std::exchange(other.data_, nullptr);
      context_ = std::exchange(other.context_, nullptr);
      deleter_ = std::exchange(other.deleter_, nullptr);
      device_ = other.device_;
    }
    return *this;
  }
  ~DataPtr() { free(); }

  void clear() noexcept {
    free();
    data_ = nullptr;
    context_ = nullptr;
    deleter_ = nullptr;
  }
  const void* get() const noexcept { return data_; }
  void* mutable_get() const noexcept { return data_; }
  void* get_context() const noexcept { return context_; }
  DeleterFnPtr get_deleter() const noexcept { return deleter_; }
  // The caller answers for the block from now on.
  void* release_context() noexcept {
    deleter_ = nullptr;
    return std::exchange(context_, nullptr);
  }
  Device device() const noexcept { return device_; }
  explicit operator bool() const noexcept { return data_ != nullptr || context_ != nullptr; }

 private:
  void free() noexcept {
    if (deleter_ != nullptr) deleter_(context_);
  }

  void* data_ = nullptr;
  void* context_ = nullptr;
  DeleterFnPtr deleter_ = nullptr;
  Device device_ = DeviceType::CPU;
};

class OPLOOM_API Allocator {
 public:
  virtual ~Allocator();
  // Throws OutOfMemoryError. For 0 bytes the pointer is null.
  virtual DataPtr allocate(std::size_t nbytes) = 0;
  // Frees any block whose context is its data; null if there is no such function.
  virtual DeleterFnPtr raw_deleter() const { return nullptr; }
};

// The registered allocator; throws an Error for a device that has none.
OPLOOM_API Allocator* GetAllocator(DeviceType type);
// Allocators are never freed. One of lower priority than the present one is ignored.
OPLOOM_API void SetAllocator(DeviceType type, Allocator* allocator, std::uint8_t priority = 0);

}  // namespace c10::inline oploom_v1
