// from_blob: a tensor over memory that somebody else owns.
#include <aten/api/from_blob.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/InferSize.h>

#include <memory>
#include <utility>

namespace at::inline oploom_v1 {

namespace {

// What a storage needs to give borrowed memory back.
struct Owner {
  void* data;
  c10::shared_function<void(void*)> deleter;
};

void release(void* context) {
  const std::unique_ptr<Owner> owner(static_cast<Owner*>(context));
  owner->deleter(owner->data);
}

Tensor make_tensor(void* data, IntArrayRef sizes, OptionalIntArrayRef strides,
                   int64_t storage_offset, c10::shared_function<void(void*)> deleter,
                   const TensorOptions& options) {
  OPLOOM_CHECK_VALUE(!strides.has_value() || strides->size() == sizes.size(),
                     "from_blob(): expected sizes and strides of the same length, got ", sizes,
                     " and ", *strides);
  OPLOOM_CHECK_VALUE(storage_offset >= 0, "from_blob(): expected a storage offset >= 0, got ",
                     storage_offset);
  c10::check_size_nonnegative(sizes);
  const size_t itemsize = c10::elementSize(options.dtype());
  const size_t nbytes = strides.has_value()
                            ? c10::computeStorageNbytes(sizes, *strides, itemsize, storage_offset)
                            : c10::computeStorageNbytesContiguous(sizes, itemsize, storage_offset);
  OPLOOM_CHECK_VALUE(data != nullptr || nbytes == 0 || options.device().is_meta(),
                     "from_blob(): got a null pointer for a tensor of ", nbytes, " bytes");
  OPLOOM_CHECK_VALUE(nbytes == 0 || reinterpret_cast<uintptr_t>(data) % itemsize == 0,
                     "from_blob(): expected memory for ", options.dtype(),
                     " that begins at a multiple of ", itemsize, " bytes; copy it first");
  const Device device = options.device();
  DataPtr pointer = deleter ? DataPtr(data, new Owner{data, std::move(deleter)}, &release, device)
                            : DataPtr(data, device);
  Storage storage(Storage::use_byte_size_t(), nbytes, std::move(pointer));
  auto impl = c10::make_intrusive<TensorImpl, UndefinedTensorImpl>(
      std::move(storage), DispatchKeySet(c10::backend_key(device.type(), Layout::Strided)),
      options.dtype());
  if (strides.has_value()) {
    impl->set_sizes_and_strides(sizes, *strides, storage_offset);
  } else {
    impl->set_sizes_contiguous(sizes);
    impl->set_storage_offset(storage_offset);
  }
  return detail::with_requires_grad(Tensor(std::move(impl)), options);
}

}  // namespace

Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return make_tensor(data, sizes, std::nullopt, 0, nullptr, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, c10::shared_function<void(void*)> deleter,
                 const TensorOptions& options) {
  return make_tensor(data, sizes, std::nullopt, 0, std::move(deleter), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return make_tensor(data, sizes, strides, 0, nullptr, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 c10::shared_function<void(void*)> deleter, const TensorOptions& options) {
  return make_tensor(data, sizes, strides, 0, std::move(deleter), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset,
                 c10::shared_function<void(void*)> deleter, const TensorOptions& options) {
  return make_tensor(data, sizes, strides, storage_offset, std::move(deleter), options);
}

}  // namespace at::inline oploom_v1
