// TensorImpl: changes of its metadata, and what it asks of autograd.
#include <c10/core/TensorImpl.h>

#include <c10/util/Exception.h>
#include <c10/util/overflow.h>

#include <array>
#include <cstddef>

namespace c10::inline oploom_v1 {

// The layout that the comment at the end of TensorImpl states.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
struct TensorImplLayout {
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, storage_) == 2 * 8);
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, autograd_meta_) == 3 * 8);
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, pyobj_) == 4 * 8);
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, sizes_and_strides_) == 5 * 8);
  static_assert(sizeof(void*) != 8 || sizeof(SizesAndStrides) == 11 * 8);
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, storage_offset_) == 16 * 8);
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, numel_) == 17 * 8);
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, key_set_) == 18 * 8);
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, dtype_) == 18 * 8 + 4);
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, device_) == 18 * 8 + 5);
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, layout_) == 18 * 8 + 7);
  static_assert(sizeof(void*) != 8 || offsetof(TensorImpl, flags_) == 19 * 8);
  static_assert(sizeof(void*) != 8 || sizeof(TensorImpl) == 20 * 8);
};
#pragma GCC diagnostic pop

AutogradMetaInterface::~AutogradMetaInterface() = default;
AutogradMetaFactory::~AutogradMetaFactory() = default;

namespace {
AutogradMetaFactory* autograd_meta_factory = nullptr;
}

void SetAutogradMetaFactory(AutogradMetaFactory* factory) { autograd_meta_factory = factory; }

AutogradMetaFactory* GetAutogradMetaFactory() {
  OPLOOM_CHECK(autograd_meta_factory != nullptr,
               "autograd is not part of this program: it was not linked or not loaded");
  return autograd_meta_factory;
}

TensorImpl::~TensorImpl() { delete autograd_meta_; }

void TensorImpl::release_resources() {
  set_autograd_meta(nullptr);
  storage_ = {};
}

namespace {

// Whether the strides are those of a dense tensor with its dimensions in the given order, from the
// densest; dimensions of size 1 may have any stride.
template <typename Order>
bool dense_in_order(const int64_t* sizes, const int64_t* strides, const Order& order) noexcept {
  int64_t expected = 1;
  for (const int d : order) {
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

// Whether a tensor that is not contiguous, but has as many places as elements, is dense.
bool is_dense_in_some_order(const int64_t* sizes, const int64_t* strides,
                            std::size_t ndim) noexcept {
  if (OPLOOM_LIKELY(ndim == 2)) return strides[0] == 1 && strides[1] == sizes[0];
  std::size_t rest = 0;
  for (std::size_t d = 0; d < ndim; ++d) rest += sizes[d] != 1;
  int64_t expected = 1;
  for (; rest > 0; --rest) {
    std::size_t d = 0;
    while (d < ndim && (sizes[d] == 1 || strides[d] != expected)) ++d;
    if (d == ndim) return false;
    expected *= sizes[d];
  }
  return true;
}

// What follows from sizes and strides.
struct Extent {
  int64_t numel;
  bool contiguous;
  bool dense;  // non-overlapping
};

// Throws for negative sizes, and if there are more than 2^63 - 1 elements.
OPLOOM_ALWAYS_INLINE Extent extent_of(const int64_t* sizes, const int64_t* strides,
                                      std::size_t ndim) {
  int64_t numel = 1;
  bool odd = false;
  bool contiguous = true;
  std::uint64_t last = 0;  // the place of the last element, modulo 2^64
  for (std::size_t i = ndim; i-- > 0;) {
    const int64_t size = sizes[i];
    odd |= size < 0;
    contiguous &= size == 1 || strides[i] == numel;
    last += static_cast<std::uint64_t>(size - 1) * static_cast<std::uint64_t>(strides[i]);
    odd |= mul_overflows(numel, size, &numel);
  }
  if (OPLOOM_UNLIKELY(odd)) numel = checked_numel(IntArrayRef(sizes, ndim));
  contiguous |= numel == 0;
  // As many places as elements, or there is a gap or an overlap.
  const bool may_be_dense = last + 1 == static_cast<std::uint64_t>(numel);
  return {numel, contiguous,
          contiguous || (may_be_dense && is_dense_in_some_order(sizes, strides, ndim))};
}

}  // namespace

OPLOOM_NOINLINE std::uint8_t TensorImpl::channels_last_flags() const noexcept {
  const int64_t* n = sizes_and_strides_.sizes_data();
  const int64_t* s = sizes_and_strides_.strides_data();
  const bool is_4d = dim() == 4;
  const bool contiguous =
      numel_ == 0 || (is_4d ? dense_in_order(n, s, std::array<int, 4>{1, 3, 2, 0})
                            : dense_in_order(n, s, std::array<int, 5>{1, 4, 3, 2, 0}));
  const bool like = is_4d ? is_channels_last_strides_2d(sizes(), strides())
                          : is_channels_last_strides_3d(sizes(), strides());
  int flags = 0;
  if (contiguous) flags |= is_4d ? kChannelsLastContiguous : kChannelsLast3dContiguous;
  if (like) flags |= is_4d ? kChannelsLast : kChannelsLast3d;
  return static_cast<std::uint8_t>(flags);
}

OPLOOM_ALWAYS_INLINE std::uint8_t TensorImpl::flags_of(bool contiguous, bool dense) const noexcept {
  int flags = (contiguous ? kContiguous : 0) | (dense ? kDense : 0);
  if (OPLOOM_UNLIKELY(dim() == 4 || dim() == 5)) flags |= channels_last_flags();
  return static_cast<std::uint8_t>(flags);
}

TensorImpl::TensorImpl(Storage&& storage, DispatchKeySet key_set, ScalarType dtype,
                       IntArrayRef sizes, int64_t numel)
    : storage_(std::move(storage)),
      sizes_and_strides_(sizes),
      numel_(numel),
      key_set_(with_autograd(key_set)),
      dtype_(dtype),
      device_(storage_ ? storage_.device() : Device(DeviceType::CPU)) {
  flags_ = flags_of(true, true);
}

TensorImpl::TensorImpl(Storage&& storage, DispatchKeySet key_set, ScalarType dtype,
                       const SizesAndStrides& dims, int64_t storage_offset)
    : storage_(std::move(storage)),
      sizes_and_strides_(dims),
      storage_offset_(storage_offset),
      key_set_(key_set),
      dtype_(dtype),
      device_(storage_ ? storage_.device() : Device(DeviceType::CPU)) {
  const Extent extent = extent_of(dims.sizes_data(), dims.strides_data(), dims.size());
  numel_ = extent.numel;
  flags_ = flags_of(extent.contiguous, extent.dense);
}

void TensorImpl::set_sizes_contiguous(IntArrayRef sizes) {
  // The product of all sizes is the number of elements; the strides count a size of 0 as 1.
  int64_t numel = 1;
  bool overflowed = false;
  for (const int64_t size : sizes) {
    if (OPLOOM_UNLIKELY(size < 0)) check_size_nonnegative(sizes);
    overflowed |= mul_overflows(numel, size, &numel);
  }
  if (OPLOOM_UNLIKELY(overflowed)) numel = checked_numel(sizes);
  set_sizes_contiguous(sizes, numel);
}

void TensorImpl::set_sizes_contiguous(IntArrayRef sizes, int64_t numel) {
  sizes_and_strides_ = SizesAndStrides(sizes);  // made first: `sizes` may be a part of the old ones
  numel_ = numel;
  flags_ = static_cast<std::uint8_t>(flags_of(true, true) | (flags_ & kWrappedNumber));
}

void TensorImpl::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides) {
  OPLOOM_CHECK(sizes.size() == strides.size(), "expected as many strides as sizes, got ", strides,
               " for ", sizes);
  const Extent extent = extent_of(sizes.data(), strides.data(), sizes.size());
  sizes_and_strides_ = SizesAndStrides(sizes, strides);  // see above
  numel_ = extent.numel;
  flags_ = static_cast<std::uint8_t>(flags_of(extent.contiguous, extent.dense) |
                                     (flags_ & kWrappedNumber));
}

void TensorImpl::empty_tensor_restride(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous:
      set_sizes_contiguous(sizes());
      return;
    case MemoryFormat::ChannelsLast:
      OPLOOM_CHECK(dim() == 4, "channels_last: expected a 4-d tensor, got sizes ", sizes());
      set_sizes_and_strides(sizes(), get_channels_last_strides_2d(sizes()));
      return;
    case MemoryFormat::ChannelsLast3d:
      OPLOOM_CHECK(dim() == 5, "channels_last_3d: expected a 5-d tensor, got sizes ", sizes());
      set_sizes_and_strides(sizes(), get_channels_last_strides_3d(sizes()));
      return;
    default:
      OPLOOM_ERROR("expected contiguous_format, channels_last or channels_last_3d, got ", format);
  }
}

void TensorImpl::set_requires_grad(bool requires_grad) {
  if (!requires_grad && autograd_meta_ == nullptr) return;
  OPLOOM_CHECK(this != UndefinedTensorImpl::singleton(),
               "requires_grad cannot be set on an undefined tensor");
  if (autograd_meta_ == nullptr) autograd_meta_ = GetAutogradMetaFactory()->make();
  autograd_meta_->set_requires_grad(requires_grad, this);
}

at::Tensor& TensorImpl::mutable_grad() {
  OPLOOM_CHECK(this != UndefinedTensorImpl::singleton(), "an undefined tensor has no gradient");
  if (autograd_meta_ == nullptr) autograd_meta_ = GetAutogradMetaFactory()->make();
  return autograd_meta_->mutable_grad();
}

const at::Tensor& TensorImpl::grad() const {
  if (autograd_meta_ == nullptr) return GetAutogradMetaFactory()->undefined_tensor();
  return autograd_meta_->grad();
}

void TensorImpl::copy_tensor_metadata(const TensorImpl& from, TensorImpl& to) {
  to.storage_ = from.storage_;
  to.sizes_and_strides_ = from.sizes_and_strides_;
  to.storage_offset_ = from.storage_offset_;
  to.numel_ = from.numel_;
  to.key_set_ = from.key_set_;
  to.dtype_ = from.dtype_;
  to.device_ = from.device_;
  to.layout_ = from.layout_;
  to.flags_ = from.flags_;
}

intrusive_ptr<TensorImpl> TensorImpl::shallow_copy_and_detach() const {
  auto copy = make_intrusive<TensorImpl>(key_set_, dtype_, device_, layout_);
  copy_tensor_metadata(*this, *copy);
  return copy;
}

void TensorImpl::shallow_copy_from(const TensorImpl& other) { copy_tensor_metadata(other, *this); }

void TensorImpl::set_zero_dim_empty() noexcept {
  sizes_and_strides_.resize(0);
  numel_ = 0;
}

UndefinedTensorImpl::UndefinedTensorImpl()
    : TensorImpl(DispatchKeySet(), ScalarType::Undefined, Device(DeviceType::CPU),
                 Layout::Strided) {
  set_zero_dim_empty();
}

UndefinedTensorImpl UndefinedTensorImpl::singleton_;

}  // namespace c10::inline oploom_v1
