// A backend outside the tree, as a program would load it: a device whose memory is the host's, one
// kernel of its own, and everything else computed on the CPU by a boxed fallback.
#include <aten/Base.h>
#include <aten/core/Empty.h>
#include <aten/core/Library.h>
#include <aten/core/ivalue.h>
#include <c10/core/Allocator.h>

#include <cstdlib>

namespace {

using at::IValue;
using at::Tensor;
using at::TensorBase;
constexpr auto kDevice = c10::DeviceType::PrivateUse1;

struct HostAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t nbytes) override {
    void* data = nbytes ? std::malloc(nbytes) : nullptr;
    return {data, data, &std::free, c10::Device(kDevice, 0)};
  }
};
HostAllocator allocator;

int calls_of_add = 0;
int calls_of_fallback = 0;

// The same memory as a tensor of another device.
TensorBase on(c10::Device device, const TensorBase& tensor) {
  c10::Storage storage(c10::Storage::use_byte_size_t(), tensor.storage().nbytes(),
                       c10::DataPtr(
                           tensor.storage().mutable_data(), new TensorBase(tensor),
                           [](void* kept) { delete static_cast<TensorBase*>(kept); }, device));
  auto impl = c10::make_intrusive<c10::TensorImpl, c10::UndefinedTensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::backend_key(device.type(), at::Layout::Strided)),
      tensor.scalar_type());
  impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return TensorBase(std::move(impl));
}

Tensor add(const Tensor& self, const Tensor& other, const at::Scalar& alpha) {
  ++calls_of_add;
  Tensor result = at::add(Tensor(on(c10::kCPU, self)), Tensor(on(c10::kCPU, other)), alpha);
  return Tensor(on(kDevice, result));
}

Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
             std::optional<at::Layout> layout, std::optional<at::Device> device,
             std::optional<bool> pin_memory, std::optional<at::MemoryFormat> memory_format) {
  return Tensor(at::detail::empty(size, at::TensorOptions().dtype(dtype).device(device)));
}

void fallback(const at::OperatorTableBase& op, at::DispatchKeySet keys, at::Stack& stack) {
  ++calls_of_fallback;
  for (IValue& value : stack) {
    if (value.is_tensor() && value.to_tensor().device().type() == kDevice) {
      value = IValue(on(c10::kCPU, value.to_tensor()));
    } else if (value.is<at::Device>() && value.get<at::Device>().type() == kDevice) {
      value = IValue(at::Device(c10::kCPU));
    }
  }
  op.redispatch_boxed(at::DispatchKeySet(at::DispatchKey::CPU), stack);
  for (IValue& value : stack) {
    if (value.is_tensor()) value = IValue(on(kDevice, value.to_tensor()));
  }
}

OPLOOM_LIBRARY_IMPL(aten, PrivateUse1, m) {
  c10::SetAllocator(kDevice, &allocator);
  m.impl("add.Tensor", OPLOOM_FN(add));
  m.impl("empty.memory_format", OPLOOM_FN(empty));
  m.fallback(&fallback);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int test_backend_calls_of_add() {
  return calls_of_add;
}
extern "C" __attribute__((visibility("default"))) int test_backend_calls_of_fallback() {
  return calls_of_fallback;
}
