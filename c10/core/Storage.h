// Storage: a counted handle to a StorageImpl.
#pragma once

#include <c10/core/StorageImpl.h>
#include <c10/util/Export.h>

#include <cstddef>
#include <utility>

namespace c10::inline oploom_v1 {

class Storage {
 public:
  using use_byte_size_t = StorageImpl::use_byte_size_t;

  Storage() = default;
  Storage(intrusive_ptr<StorageImpl> impl) noexcept : impl_(std::move(impl)) {}
  Storage(use_byte_size_t tag, std::size_t nbytes, Allocator* allocator, bool resizable = false)
      : impl_(make_intrusive<StorageImpl>(tag, nbytes, allocator, resizable)) {}
  Storage(use_byte_size_t tag, std::size_t nbytes, DataPtr data, Allocator* allocator = nullptr,
          bool resizable = false)
      : impl_(make_intrusive<StorageImpl>(tag, nbytes, std::move(data), allocator, resizable)) {}

  explicit operator bool() const noexcept { return impl_.defined(); }
  const void* data() const noexcept { return impl_->data(); }
  void* mutable_data() const noexcept { return impl_->mutable_data(); }
  const DataPtr& data_ptr() const noexcept { return impl_->data_ptr(); }
  DataPtr& mutable_data_ptr() const noexcept { return impl_->mutable_data_ptr(); }
  DataPtr set_data_ptr(DataPtr&& data) const noexcept {
    return impl_->set_data_ptr(std::move(data));
  }
  std::size_t nbytes() const noexcept { return impl_->nbytes(); }
  void set_nbytes(std::size_t nbytes) const noexcept { impl_->set_nbytes(nbytes); }
  bool resizable() const noexcept { return impl_->resizable(); }
  Allocator* allocator() const noexcept { return impl_->allocator(); }
  Device device() const noexcept { return impl_->device(); }
  DeviceType device_type() const noexcept { return impl_->device_type(); }
  std::uint32_t version() const noexcept { return impl_->version(); }

  StorageImpl* unsafeGetStorageImpl() const noexcept { return impl_.get(); }
  StorageImpl* unsafeReleaseStorageImpl() noexcept { return impl_.release(); }
  const intrusive_ptr<StorageImpl>& getIntrusivePtr() const noexcept { return impl_; }
  std::size_t use_count() const noexcept { return impl_.use_count(); }
  bool unique() const noexcept { return impl_.unique(); }
  bool is_alias_of(const Storage& other) const noexcept { return impl_ == other.impl_; }

 private:
  intrusive_ptr<StorageImpl> impl_;
};

}  // namespace c10::inline oploom_v1
