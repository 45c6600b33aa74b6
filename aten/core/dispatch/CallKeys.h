// The key set with which a call goes through an operator's table.
#pragma once

#include <aten/core/dispatch/OperatorTable.h>
#include <c10/core/LocalDispatchKeySet.h>
#include <generated/ops/Tensor.h>

namespace at::inline oploom_v1 {

namespace detail {

OPLOOM_ALWAYS_INLINE DispatchKeySet keys_of(const TensorBase& tensor) { return tensor.key_set(); }
OPLOOM_ALWAYS_INLINE DispatchKeySet keys_of(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? tensor->key_set() : DispatchKeySet();
}
inline DispatchKeySet keys_of(TensorList tensors) {
  DispatchKeySet keys;
  for (const Tensor& tensor : tensors) keys = keys | tensor.key_set();
  return keys;
}
inline DispatchKeySet keys_of(OptionalTensorList tensors) {
  DispatchKeySet keys;
  for (const std::optional<Tensor>& tensor : tensors) keys = keys | keys_of(tensor);
  return keys;
}

OPLOOM_ALWAYS_INLINE bool may_have_history(const TensorBase& tensor) {
  return tensor.unsafeGetTensorImpl()->autograd_meta() != nullptr;
}
OPLOOM_ALWAYS_INLINE bool may_have_history(const std::optional<Tensor>& tensor) {
  return tensor.has_value() && may_have_history(*tensor);
}
inline bool may_have_history(TensorList tensors) {
  for (const Tensor& tensor : tensors) {
    if (may_have_history(tensor)) return true;
  }
  return false;
}
inline bool may_have_history(OptionalTensorList tensors) {
  for (const std::optional<Tensor>& tensor : tensors) {
    if (may_have_history(tensor)) return true;
  }
  return false;
}

}  // namespace detail

// The keys of the tensor arguments (tensors, optional tensors, lists), with the thread's included
// keys and without its excluded ones.
template <class... Args>
OPLOOM_ALWAYS_INLINE DispatchKeySet dispatch_keys(const Args&... args) {
  DispatchKeySet keys;
  ((keys = keys | detail::keys_of(args)), ...);
  return c10::computeDispatchKeySet(keys);
}

// The same for an operator that has history_keys(), which are left out where no argument has a
// history.
template <class... Args>
OPLOOM_ALWAYS_INLINE DispatchKeySet dispatch_keys_with_history(const OperatorTableBase& table,
                                                               const Args&... args) {
  const DispatchKeySet keys = dispatch_keys(args...);
  return (detail::may_have_history(args) || ...) ? keys : keys - table.history_keys();
}

// For operators without tensor arguments: the keys of the device that the result shall be on.
OPLOOM_ALWAYS_INLINE DispatchKeySet dispatch_keys_of_device(std::optional<Device> device) {
  const DeviceType type = device.value_or(Device(DeviceType::CPU)).type();
  return c10::computeDispatchKeySet(DispatchKeySet(c10::backend_key(type, Layout::Strided)));
}

}  // namespace at::inline oploom_v1
