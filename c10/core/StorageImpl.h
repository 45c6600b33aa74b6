// StorageImpl: a block of memory that tensors share, with its size and its version.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/Export.h>
#include <c10/util/ObjectPool.h>
#include <c10/util/OneThread.h>
#include <c10/util/intrusive_ptr.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace c10::inline oploom_v1 {

// Note [Version]
// Every change in place of a tensor increments the version of its storage. Autograd compares it
// with the one it saw when it saved a tensor. The counter is here and not in TensorImpl so that all
// tensors which share memory share it by construction: views and detach() need to do nothing.
// Threads may change views of one memory at the same time, and no change is lost. A storage with
// one owner is changed by one thread at a time, and counts without a locked instruction.
class OPLOOM_API StorageImpl final : public intrusive_ptr_target, public PooledObject<StorageImpl> {
 public:
  struct use_byte_size_t {};

  StorageImpl(use_byte_size_t, std::size_t nbytes, DataPtr data, Allocator* allocator,
              bool resizable) noexcept
      : data_ptr_(std::move(data)), nbytes_(nbytes), allocator_(allocator), resizable_(resizable) {}
  StorageImpl(use_byte_size_t, std::size_t nbytes, Allocator* allocator, bool resizable)
      : data_ptr_(allocator->allocate(nbytes)),
        nbytes_(nbytes),
        allocator_(allocator),
        resizable_(resizable) {}
  ~StorageImpl() override;
  StorageImpl(const StorageImpl&) = delete;
  StorageImpl& operator=(const StorageImpl&) = delete;

  const void* data() const noexcept { return data_ptr_.get(); }
  void* mutable_data() noexcept { return data_ptr_.mutable_get(); }
  const DataPtr& data_ptr() const noexcept { return data_ptr_; }
  DataPtr& mutable_data_ptr() noexcept { return data_ptr_; }
  DataPtr set_data_ptr(DataPtr&& data) noexcept {
    std::swap(data_ptr_, data);
    return std::move(data);
  }

  std::size_t nbytes() const noexcept { return nbytes_; }
  void set_nbytes(std::size_t nbytes) noexcept { nbytes_ = nbytes; }
  // Null for memory that is not ours; such a storage cannot grow.
  Allocator* allocator() const noexcept { return allocator_; }
  bool resizable() const noexcept { return resizable_; }
  void set_resizable(bool resizable) noexcept { resizable_ = resizable; }
  Device device() const noexcept { return data_ptr_.device(); }
  DeviceType device_type() const noexcept { return data_ptr_.device().type(); }

  std::uint32_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  void bump_version() noexcept {
    if (is_unique()) {
      version_.store(version() + 1, std::memory_order_relaxed);
    } else {
      fetch_add(version_, 1u, std::memory_order_relaxed);
    }
  }

  void reset() noexcept {
    data_ptr_.clear();
    nbytes_ = 0;
  }

 private:
  void release_resources() override;

  DataPtr data_ptr_;
  std::size_t nbytes_;
  Allocator* allocator_;
  std::atomic<std::uint32_t> version_{0};
  bool resizable_;
};

}  // namespace c10::inline oploom_v1
