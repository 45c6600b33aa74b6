// Allocation of tensors below the operators.
#include <aten/core/Empty.h>
#include <aten/core/SpareInput.h>
#include <aten/core/WrappedNumber.h>
#include <c10/core/Allocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferSize.h>
#include <c10/core/Scalar.h>
#include <c10/util/Exception.h>
#include <c10/util/overflow.h>

#include <cstring>
#include <utility>

namespace at::inline oploom_v1::detail {

constinit thread_local const TensorImpl* spare_input OPLOOM_TLS_INITIAL_EXEC = nullptr;

namespace {

OPLOOM_NOINLINE TensorBase::ImplPtr make_impl(size_t nbytes, const TensorOptions& options) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(options.layout() == Layout::Strided,
                               "empty(): expected the layout strided, got ", options.layout());
  OPLOOM_CHECK_NOT_IMPLEMENTED(!options.pinned_memory(),
                               "empty(): pinned memory needs a GPU, and this build has no support "
                               "for one; leave pin_memory out");
  const Device device = options.device();
  Allocator* allocator = c10::GetAllocator(device.type());
  OPLOOM_CHECK(allocator != nullptr, "empty(): there is no allocator for the device ", device,
               "; register one with c10::SetAllocator");
  const c10::DeviceGuard guard(device);
  return c10::make_intrusive<TensorImpl, UndefinedTensorImpl>(
      Storage(Storage::use_byte_size_t(), nbytes, allocator, /*resizable=*/true),
      DispatchKeySet(c10::backend_key(device.type(), Layout::Strided)), options.dtype());
}

struct Extent {
  size_t nbytes;
  int64_t numel;
};

OPLOOM_COLD Extent extent_of_odd(IntArrayRef sizes, size_t itemsize) {
  c10::check_size_nonnegative(sizes);
  // There may be a 0 among sizes whose product is too large.
  return {c10::computeStorageNbytesContiguous(sizes, itemsize), 0};
}

// Of a contiguous tensor. Throws ValueError for a negative size or bytes that overflow 64 bits.
OPLOOM_ALWAYS_INLINE Extent extent_of(IntArrayRef sizes, ScalarType dtype) {
  const size_t itemsize = c10::elementSize(dtype);
  int64_t numel = 1;
  int64_t bytes;
  bool odd = false;
  for (const int64_t size : sizes) {
    odd |= size < 0;
    odd |= c10::mul_overflows(numel, size, &numel);
  }
  odd |= c10::mul_overflows(numel, static_cast<int64_t>(itemsize), &bytes);
  if (OPLOOM_UNLIKELY(odd)) return extent_of_odd(sizes, itemsize);
  return {static_cast<size_t>(bytes), numel};
}

OPLOOM_ALWAYS_INLINE TensorBase make_plain(IntArrayRef sizes, Extent extent, ScalarType dtype) {
  constexpr DispatchKeySet kKeys(c10::backend_key(DeviceType::CPU, Layout::Strided));
  return TensorBase(c10::make_intrusive<TensorImpl, UndefinedTensorImpl>(
      Storage(Storage::use_byte_size_t(), extent.nbytes, c10::GetAllocator(DeviceType::CPU),
              /*resizable=*/true),
      kKeys, dtype, sizes, extent.numel));
}

}  // namespace

TensorBase empty_cpu(IntArrayRef sizes, ScalarType dtype) {
  return make_plain(sizes, extent_of(sizes, dtype), dtype);
}

TensorBase empty(IntArrayRef sizes, const TensorOptions& options) {
  if (OPLOOM_LIKELY(options.is_plain())) return empty_cpu(sizes, options.dtype());
  const Extent extent = extent_of(sizes, options.dtype());
  auto impl = make_impl(extent.nbytes, options);
  impl->set_sizes_contiguous(sizes, extent.numel);
  const MemoryFormat format = options.memory_format_opt().value_or(MemoryFormat::Contiguous);
  const bool restrides = format != MemoryFormat::Contiguous && format != MemoryFormat::Preserve;
  if (restrides) impl->empty_tensor_restride(format);
  return TensorBase(std::move(impl));
}

TensorBase empty_row(IntArrayRef sizes, int64_t numel, ScalarType dtype) {
  return make_plain(sizes, {static_cast<size_t>(numel) * c10::elementSize(dtype), numel}, dtype);
}

TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  c10::check_size_nonnegative(sizes);
  OPLOOM_CHECK_VALUE(sizes.size() == strides.size(),
                     "empty_strided(): expected as many strides as ", "sizes, got sizes ", sizes,
                     " and strides ", strides);
  for (int64_t stride : strides) {
    OPLOOM_CHECK_VALUE(stride >= 0, "empty_strided(): expected strides >= 0, got ", strides);
  }
  auto impl = make_impl(
      c10::computeStorageNbytes(sizes, strides, c10::elementSize(options.dtype())), options);
  impl->set_sizes_and_strides(sizes, strides);
  return TensorBase(std::move(impl));
}

size_t check_resizable(const TensorBase& tensor, IntArrayRef sizes) {
  c10::check_size_nonnegative(sizes);
  const size_t bytes =
      c10::computeStorageNbytesContiguous(sizes, tensor.itemsize(), tensor.storage_offset());
  const Storage& storage = tensor.storage();
  OPLOOM_CHECK(bytes <= storage.nbytes() || storage.resizable(),
               "resize_(): a tensor whose memory is owned elsewhere cannot grow: it has ",
               storage.nbytes(), " bytes, and shape ", sizes, " needs ", bytes);
  return bytes;
}

void resize(const TensorBase& tensor, IntArrayRef sizes) {
  const size_t bytes = check_resizable(tensor, sizes);
  const Storage& storage = tensor.storage();
  if (bytes > storage.nbytes()) {
    DataPtr fresh = storage.allocator()->allocate(bytes);
    if (storage.data() != nullptr && fresh.get() != nullptr) {
      OPLOOM_CHECK_NOT_IMPLEMENTED(tensor.is_cpu(), "resize_(): memory of the device ",
                                   tensor.device(), " cannot grow; make a new tensor instead");
      std::memcpy(fresh.mutable_get(), storage.data(), storage.nbytes());
    }
    storage.set_data_ptr(std::move(fresh));
    storage.set_nbytes(bytes);
  }
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
}

bool resize_output(const TensorBase& out, IntArrayRef sizes, IntArrayRef strides) {
  if (out.sizes() == sizes) return false;
  resize(out, sizes);
  if (!strides.empty()) out.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return true;
}

namespace {

// Note [Numbers as tensors]
// An operator of a tensor and a number makes a tensor of the number, which dies with the call. Each
// thread keeps the last one of a dtype, and when nobody else holds it, or its memory, and it is as
// it was made, it gets the next number. A WrappedNumber has it meanwhile and gives it back, so that
// no reference is counted.
struct WrappedNumbers {
  WrappedNumbers();
  ~WrappedNumbers();
  TensorBase kept[c10::kNumScalarTypes];
};
// Null before the first use in a thread and after the thread has begun to end.
constinit thread_local WrappedNumbers* wrapped_numbers OPLOOM_TLS_INITIAL_EXEC = nullptr;
constinit thread_local bool wrapped_numbers_ended = false;

WrappedNumbers::WrappedNumbers() { wrapped_numbers = this; }
WrappedNumbers::~WrappedNumbers() {
  wrapped_numbers = nullptr;
  wrapped_numbers_ended = true;
}
OPLOOM_COLD void begin_wrapped_numbers() {
  if (!wrapped_numbers_ended) thread_local WrappedNumbers numbers;
}

bool is_as_made(const TensorBase& tensor, ScalarType dtype) {
  const TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  return tensor.getIntrusivePtr().unique() && impl.storage().unique() &&
         impl.autograd_meta() == nullptr && impl.is_wrapped_number() && impl.dim() == 0 &&
         impl.dtype() == dtype;
}

void keep_number(TensorBase&& tensor) {
  if (OPLOOM_UNLIKELY(wrapped_numbers == nullptr)) return;
  wrapped_numbers->kept[static_cast<size_t>(tensor.scalar_type())] = std::move(tensor);
}

template <typename T>
TensorBase number_tensor(T value) {
  constexpr ScalarType dtype = c10::scalar_type_of_v<T>;
  if (OPLOOM_UNLIKELY(wrapped_numbers == nullptr)) begin_wrapped_numbers();
  TensorBase tensor;
  if (OPLOOM_LIKELY(wrapped_numbers != nullptr)) {
    tensor = std::move(wrapped_numbers->kept[static_cast<size_t>(dtype)]);
  }
  if (OPLOOM_UNLIKELY(!tensor.defined() || !is_as_made(tensor, dtype))) {
    tensor = empty({}, TensorOptions().dtype(dtype));
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  *static_cast<T*>(tensor.mutable_data_ptr()) = value;
  return tensor;
}

TensorBase take_number(const Scalar& value) {
  if (value.isComplex()) return number_tensor(value.to<c10::complex<double>>());
  if (value.isFloatingPoint()) return number_tensor(value.to<double>());
  if (value.isBoolean()) return number_tensor(value.to<bool>());
  return number_tensor(value.to<int64_t>());
}

}  // namespace

WrappedNumber::WrappedNumber(const Scalar& value) : tensor_(take_number(value)) {}
WrappedNumber::~WrappedNumber() { keep_number(std::move(tensor_)); }

}  // namespace at::inline oploom_v1::detail
