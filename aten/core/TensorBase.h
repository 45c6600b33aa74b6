// TensorBase: a tensor without operators, the handle that kernels and iterators work with.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/intrusive_ptr.h>

#include <concepts>
#include <optional>

namespace at::inline oploom_v1 {

class Tensor;
using TensorList = ArrayRef<Tensor>;
using OptionalTensorList = ArrayRef<std::optional<Tensor>>;

// Note [Tensor and TensorBase]
// Tensor is TensorBase plus one method for each operator, and is generated. It has no fields of its
// own, so a TensorBase and a Tensor can be converted into each other for nothing. Code that runs
// below the operators (iterators, kernels) takes TensorBase: adding an operator recompiles none of
// it.
//
// Copying a handle shares the tensor. A default-constructed handle is undefined: it owns nothing,
// has no dtype, no dimension and no elements, and no dispatch key, so that an operator refuses it.
class OPLOOM_API TensorBase {
 public:
  using ImplPtr = c10::intrusive_ptr<TensorImpl, UndefinedTensorImpl>;

  TensorBase() = default;
  explicit TensorBase(ImplPtr impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_.defined(); }
  void reset() { impl_.reset(); }
  bool is_same(const TensorBase& other) const { return impl_.get() == other.impl_.get(); }
  // The number of handles that share this tensor.
  size_t use_count() const { return impl_.use_count(); }

  TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  TensorImpl* unsafeReleaseTensorImpl() { return impl_.release(); }
  const ImplPtr& getIntrusivePtr() const { return impl_; }

  // Shape: sizes and strides count elements.
  int64_t dim() const { return impl_->dim(); }
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return impl_->sizes(); }
  IntArrayRef strides() const { return impl_->strides(); }
  int64_t size(int64_t d) const { return sizes()[wrap(d)]; }
  int64_t stride(int64_t d) const { return strides()[wrap(d)]; }
  int64_t numel() const { return impl_->numel(); }
  int64_t storage_offset() const { return impl_->storage_offset(); }
  // Bytes in one element, and in all of them.
  size_t itemsize() const { return c10::elementSize(scalar_type()); }
  size_t element_size() const { return itemsize(); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }

  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return impl_->is_contiguous(format);
  }
  bool is_non_overlapping_and_dense() const { return impl_->is_non_overlapping_and_dense(); }
  // The order of its strides, whether or not they are dense. Contiguous, too, where they have none.
  MemoryFormat suggest_memory_format() const {
    if (impl_->is_strides_like_channels_last()) return MemoryFormat::ChannelsLast;
    return impl_->is_strides_like_channels_last_3d() ? MemoryFormat::ChannelsLast3d
                                                     : MemoryFormat::Contiguous;
  }

  ScalarType scalar_type() const { return impl_->dtype(); }
  ScalarType dtype() const { return scalar_type(); }
  Device device() const { return impl_->device(); }
  Layout layout() const { return impl_->layout(); }
  TensorOptions options() const {
    return TensorOptions().dtype(scalar_type()).device(device()).layout(layout());
  }
  DispatchKeySet key_set() const { return impl_->key_set(); }
  bool is_cpu() const { return device().type() == DeviceType::CPU; }
  bool is_cuda() const { return device().type() == DeviceType::CUDA; }
  bool is_meta() const { return device().type() == DeviceType::Meta; }
  bool is_floating_point() const { return c10::isFloatingType(scalar_type()); }
  bool is_complex() const { return c10::isComplexType(scalar_type()); }
  bool is_signed() const { return c10::isSignedType(scalar_type()); }

  // Memory. Pointers are to the first element of this tensor, not of its storage.
  bool has_storage() const { return defined(); }
  const Storage& storage() const { return impl_->storage(); }
  bool is_alias_of(const TensorBase& other) const {
    return storage().unsafeGetStorageImpl() == other.storage().unsafeGetStorageImpl();
  }
  void* mutable_data_ptr() const { return impl_->mutable_data(); }
  const void* const_data_ptr() const { return impl_->data(); }
  void* data_ptr() const { return impl_->mutable_data(); }
  // Typed access: T must be the tensor's dtype, otherwise c10::Error is thrown.
  template <typename T>
  T* mutable_data_ptr() const {
    check_type(c10::CppTypeToScalarType<T>::value);
    return static_cast<T*>(impl_->mutable_data());
  }
  template <typename T>
  const T* const_data_ptr() const {
    check_type(c10::CppTypeToScalarType<T>::value);
    return static_cast<const T*>(impl_->data());
  }
  template <typename T>
  T* data_ptr() const {
    return mutable_data_ptr<T>();
  }

  // How often the memory was changed in place; shared by all tensors on one storage.
  uint32_t _version() const { return impl_->version(); }

  bool requires_grad() const { return impl_->requires_grad(); }

 private:
  int64_t wrap(int64_t d) const { return c10::maybe_wrap_dim(d, dim(), /*wrap_scalar=*/false); }
  void check_type(ScalarType wanted) const {
    if (OPLOOM_UNLIKELY(wanted != scalar_type())) type_mismatch(wanted);
  }
  [[noreturn]] void type_mismatch(ScalarType wanted) const;

 protected:
  ImplPtr impl_;
};

// Whether an optional operand, a Tensor, is there: one may be given that is undefined.
template <std::derived_from<TensorBase> T>
bool is_given(const std::optional<T>& operand) {
  return operand.has_value() && operand->defined();
}

// A read-only accessor for up to N dimensions: accessor[i][j] reads an element. The tensor must
// outlive it. Indices are not checked.
template <typename T, size_t N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  int64_t size(int64_t d) const { return sizes_[d]; }
  int64_t stride(int64_t d) const { return strides_[d]; }
  T* data() const { return data_; }
  decltype(auto) operator[](int64_t i) const {
    if constexpr (N == 1) {
      return (data_[i * strides_[0]]);
    } else {
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
    }
  }

 private:
  T* data_;
  const int64_t* sizes_;
  const int64_t* strides_;
};

}  // namespace at::inline oploom_v1
