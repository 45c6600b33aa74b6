// TensorImpl: a tensor's metadata and its reference to a storage. Layout and invariants are stated
// at the end of the class.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/InferSize.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/core/SizesAndStrides.h>
#include <c10/core/Storage.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>
#include <c10/util/ObjectPool.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace at::inline oploom_v1 {
class Tensor;
class TensorBase;
}  // namespace at::inline oploom_v1

namespace c10::inline oploom_v1 {

class TensorImpl;
struct UndefinedTensorImpl;

// What autograd keeps for a tensor. The core knows only this much of it.
struct OPLOOM_API AutogradMetaInterface : public PooledObject<AutogradMetaInterface> {
  virtual ~AutogradMetaInterface();
  virtual void set_requires_grad(bool requires_grad, TensorImpl* self) = 0;
  virtual bool requires_grad() const = 0;
  virtual at::Tensor& mutable_grad() = 0;
  virtual const at::Tensor& grad() const = 0;
};

// How the core makes one, which the caller then owns; autograd registers it.
struct OPLOOM_API AutogradMetaFactory {
  virtual ~AutogradMetaFactory();
  virtual AutogradMetaInterface* make() const = 0;
  virtual const at::Tensor& undefined_tensor() const = 0;
};
OPLOOM_API void SetAutogradMetaFactory(AutogradMetaFactory* factory);
// Throws an Error when none is registered.
OPLOOM_API AutogradMetaFactory* GetAutogradMetaFactory();

class OPLOOM_API TensorImpl : public intrusive_ptr_target, public PooledObject<TensorImpl> {
 public:
  // Sizes are [0] until they are set. Autograd's key is added to the backend's.
  TensorImpl(Storage&& storage, DispatchKeySet key_set, ScalarType dtype) noexcept
      : storage_(std::move(storage)),
        key_set_(with_autograd(key_set)),
        dtype_(dtype),
        device_(storage_ ? storage_.device() : Device(DeviceType::CPU)) {}
  // A contiguous tensor of `numel` elements, the product of the sizes, none of which is negative.
  TensorImpl(Storage&& storage, DispatchKeySet key_set, ScalarType dtype, IntArrayRef sizes,
             int64_t numel);
  // A view, with the key set of the tensor that it is a view of. Throws an Error if the number of
  // elements exceeds 2^63 - 1.
  TensorImpl(Storage&& storage, DispatchKeySet key_set, ScalarType dtype,
             const SizesAndStrides& dims, int64_t storage_offset);
  // For layouts that keep their data elsewhere.
  TensorImpl(DispatchKeySet key_set, ScalarType dtype, Device device, Layout layout) noexcept
      : key_set_(with_autograd(key_set)), dtype_(dtype), device_(device), layout_(layout) {}
  ~TensorImpl() override;
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;

  // ---- Metadata ----

  DispatchKeySet key_set() const noexcept { return key_set_; }
  ScalarType dtype() const noexcept { return dtype_; }
  std::size_t itemsize() const noexcept { return elementSize(dtype_); }
  Device device() const noexcept { return device_; }
  DeviceType device_type() const noexcept { return device_.type(); }
  Layout layout() const noexcept { return layout_; }
  bool is_cpu() const noexcept { return device_.is_cpu(); }
  bool is_cuda() const noexcept { return device_.is_cuda(); }
  bool is_meta() const noexcept { return device_.is_meta(); }
  bool is_sparse() const noexcept { return layout_ == Layout::Sparse; }

  int64_t dim() const noexcept { return static_cast<int64_t>(sizes_and_strides_.size()); }
  int64_t numel() const noexcept { return numel_; }
  bool is_empty() const noexcept { return numel_ == 0; }
  IntArrayRef sizes() const noexcept { return sizes_and_strides_.sizes_arrayref(); }
  IntArrayRef strides() const noexcept { return sizes_and_strides_.strides_arrayref(); }
  const SizesAndStrides& sizes_and_strides() const noexcept { return sizes_and_strides_; }
  int64_t size(int64_t d) const {
    return sizes_and_strides_.size_at_unchecked(
        static_cast<std::size_t>(maybe_wrap_dim(d, dim(), /*wrap_scalar=*/false)));
  }
  int64_t stride(int64_t d) const {
    return sizes_and_strides_.stride_at_unchecked(
        static_cast<std::size_t>(maybe_wrap_dim(d, dim(), /*wrap_scalar=*/false)));
  }
  // Elements, not bytes.
  int64_t storage_offset() const noexcept { return storage_offset_; }

  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const noexcept {
    if (OPLOOM_LIKELY(format == MemoryFormat::Contiguous)) return has(kContiguous);
    if (format == MemoryFormat::ChannelsLast) return has(kChannelsLastContiguous);
    if (format == MemoryFormat::ChannelsLast3d) return has(kChannelsLast3dContiguous);
    return has(kContiguous);
  }
  // The strides order the dimensions so, whether or not the tensor is dense.
  bool is_strides_like(MemoryFormat format) const noexcept {
    return format == MemoryFormat::ChannelsLast     ? has(kChannelsLast)
           : format == MemoryFormat::ChannelsLast3d ? has(kChannelsLast3d)
                                                    : false;
  }
  bool is_strides_like_channels_last() const noexcept { return has(kChannelsLast); }
  bool is_strides_like_channels_last_3d() const noexcept { return has(kChannelsLast3d); }
  bool is_non_overlapping_and_dense() const noexcept { return has(kDense); }

  // A 0-d tensor made from a number: it takes part in type promotion with its kind only.
  bool is_wrapped_number() const noexcept { return has(kWrappedNumber); }
  void set_wrapped_number(bool wrapped) {
    OPLOOM_INTERNAL_ASSERT(dim() == 0, "only 0-d tensors can be wrapped numbers");
    flags_ = static_cast<std::uint8_t>((flags_ & ~kWrappedNumber) | (wrapped ? kWrappedNumber : 0));
  }

  // ---- Data ----

  bool has_storage() const noexcept { return static_cast<bool>(storage_); }
  const Storage& storage() const noexcept { return storage_; }
  const Storage& unsafe_storage() const noexcept { return storage_; }
  // The first element; null if there is none, or no memory (Meta).
  const void* data() const noexcept { return data_impl(); }
  void* mutable_data() noexcept { return data_impl(); }

  // See Note [Version].
  std::uint32_t version() const noexcept { return storage_ ? storage_.version() : 0; }
  void bump_version() noexcept {
    if (OPLOOM_LIKELY(static_cast<bool>(storage_))) {
      storage_.unsafeGetStorageImpl()->bump_version();
    }
  }

  // ---- Changing the metadata ----
  // Nothing here looks at whether the storage is large enough; that is the caller's task.

  // Throws an Error if the number of elements exceeds 2^63 - 1, with the tensor unchanged.
  void set_sizes_contiguous(IntArrayRef sizes);
  // The same for sizes that are known to be at least 0, and their product.
  void set_sizes_contiguous(IntArrayRef sizes, int64_t numel);
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides);
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
    set_sizes_and_strides(sizes, strides);
    storage_offset_ = storage_offset;
  }
  // Strides of a dense tensor of the present sizes in that format (not Preserve).
  void empty_tensor_restride(MemoryFormat format);
  void set_storage_offset(int64_t offset) noexcept { storage_offset_ = offset; }
  void set_storage_keep_dtype(Storage storage) {
    storage_ = std::move(storage);
    device_ = storage_ ? storage_.device() : device_;
  }
  void set_storage_and_dtype(Storage storage, ScalarType dtype) {
    set_storage_keep_dtype(std::move(storage));
    dtype_ = dtype;
  }
  void set_key_set(DispatchKeySet key_set) noexcept { key_set_ = key_set; }

  // ---- Autograd ----

  bool requires_grad() const {
    return autograd_meta_ != nullptr && autograd_meta_->requires_grad();
  }
  void set_requires_grad(bool requires_grad);
  at::Tensor& mutable_grad();
  const at::Tensor& grad() const;
  AutogradMetaInterface* autograd_meta() const noexcept { return autograd_meta_; }
  // Takes over `meta`, in place of what was there.
  void set_autograd_meta(AutogradMetaInterface* meta) noexcept {
    delete std::exchange(autograd_meta_, meta);
  }

  // ---- Copies and Python ----

  // A tensor of the same metadata and storage without autograd's part.
  virtual intrusive_ptr<TensorImpl> shallow_copy_and_detach() const;
  // Takes over metadata and storage of another tensor; keeps autograd's part and the Python object.
  virtual void shallow_copy_from(const TensorImpl& other);

  // The Python object that wraps this tensor, borrowed; Python clears it when the object dies.
  void* pyobj() const noexcept { return pyobj_; }
  void set_pyobj(void* pyobj) noexcept { pyobj_ = pyobj; }

 protected:
  void release_resources() override;
  // Copies what shallow_copy_and_detach() and shallow_copy_from() share.
  static void copy_tensor_metadata(const TensorImpl& from, TensorImpl& to);
  // For UndefinedTensorImpl.
  void set_zero_dim_empty() noexcept;

 private:
  // With n the sizes and s the strides, dimensions of size 1 left out. Those for contiguous and
  // dense tensors are set if numel = 0.
  enum Flag : std::uint8_t {
    kContiguous = 1,                // s[i] = n[i+1] * ... * n[last]
    kChannelsLastContiguous = 2,    // 4-d, and so in the order N, H, W, C
    kChannelsLast3dContiguous = 4,  // 5-d, and so in the order N, D, H, W, C
    kChannelsLast = 8,              // 4-d, strides ascend in the order C, W, H, N
    kChannelsLast3d = 16,           // 5-d, strides ascend in the order C, W, H, D, N
    kDense = 32,  // there is an order of the dimensions in which the tensor is contiguous
    kWrappedNumber = 64,
  };

  bool has(Flag flag) const noexcept { return (flags_ & flag) != 0; }
  static DispatchKeySet with_autograd(DispatchKeySet keys) noexcept {
    return keys.empty() ? keys : keys | autograd_dispatch_keyset;
  }
  void* data_impl() const noexcept {
    if (OPLOOM_UNLIKELY(numel_ == 0 || !storage_)) return nullptr;
    char* base = static_cast<char*>(storage_.mutable_data());
    if (OPLOOM_UNLIKELY(base == nullptr)) return nullptr;
    return base + storage_offset_ * static_cast<int64_t>(itemsize());
  }
  // The flags of a tensor of these sizes and strides.
  std::uint8_t flags_of(bool contiguous, bool dense) const noexcept;
  std::uint8_t channels_last_flags() const noexcept;

  // Layout, in 8-byte words (64-bit systems; held by static assertions in TensorImpl.cpp):
  //    0      vtable
  //    1      reference counts, strong (low half) and weak
  //    2      storage_              pointer; null for the undefined tensor and some layouts
  //    3      autograd_meta_        pointer; null for most tensors that do not require grad
  //    4      pyobj_                pointer, borrowed
  //    5      sizes_and_strides_    number of dimensions
  //    6..15                        5 sizes and 5 strides, or in word 6 a pointer to more
  //   16      storage_offset_       elements
  //   17      numel_                elements, the product of the sizes
  //   18      key_set_ (4 bytes), dtype_, device_ (2 bytes), layout_
  //   19      flags_ (1 byte)
  Storage storage_;
  AutogradMetaInterface* autograd_meta_ = nullptr;  // owned
  void* pyobj_ = nullptr;
  SizesAndStrides sizes_and_strides_;
  int64_t storage_offset_ = 0;
  int64_t numel_ = 0;
  DispatchKeySet key_set_;
  ScalarType dtype_;
  Device device_;
  Layout layout_ = Layout::Strided;
  std::uint8_t flags_ = kContiguous | kDense;

  friend struct TensorImplLayout;
};

}  // namespace c10::inline oploom_v1

// Who sees TensorImpl gets the null of its pointers with it.
#include <c10/core/UndefinedTensorImpl.h>
