// TensorOptions: how to make a tensor: dtype, device, layout, pinned memory, memory format and
// requires_grad, each of which may be left open.
#pragma once

#include <c10/core/DefaultDtype.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Export.h>

#include <optional>
#include <ostream>
#include <type_traits>
#include <utility>

namespace c10::inline oploom_v1 {

// Small enough to pass in two registers.
struct TensorOptions {
  constexpr TensorOptions() = default;
  TensorOptions(Layout layout) { *this = this->layout(layout); }
  // From whatever a Device can be made of.
  template <typename T,
            typename = std::enable_if_t<std::is_same_v<std::decay_t<T>, Device> ||
                                        (std::is_constructible_v<Device, T> &&
                                         !std::is_integral_v<std::decay_t<T>> &&
                                         !std::is_same_v<std::decay_t<T>, TensorOptions>)>>
  TensorOptions(T&& device) {
    set_device(Device(std::forward<T>(device)));
  }
  TensorOptions(ScalarType dtype) { set_dtype(dtype); }
  TensorOptions(MemoryFormat format) { set_memory_format(format); }

  // Each returns changed options; nullopt opens the choice again.
  [[nodiscard]] TensorOptions device(std::optional<Device> device) const {
    TensorOptions result = *this;
    result.set_device(device);
    return result;
  }
  [[nodiscard]] TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> dtype) const {
    TensorOptions result = *this;
    result.set_dtype(dtype);
    return result;
  }
  template <typename T>
  [[nodiscard]] TensorOptions dtype() const {
    return dtype(scalar_type_of_v<T>);
  }
  [[nodiscard]] TensorOptions layout(std::optional<Layout> layout) const {
    TensorOptions result = *this;
    result.has_layout_ = layout.has_value();
    result.layout_ = layout.value_or(Layout::Strided);
    return result;
  }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> requires_grad) const {
    TensorOptions result = *this;
    result.has_requires_grad_ = requires_grad.has_value();
    result.requires_grad_ = requires_grad.value_or(false);
    return result;
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> pinned) const {
    TensorOptions result = *this;
    result.has_pinned_memory_ = pinned.has_value();
    result.pinned_memory_ = pinned.value_or(false);
    return result;
  }
  [[nodiscard]] TensorOptions memory_format(std::optional<MemoryFormat> format) const {
    TensorOptions result = *this;
    result.set_memory_format(format);
    return result;
  }

  // What was chosen, or else the default.
  Device device() const noexcept { return device_; }
  ScalarType dtype() const noexcept { return has_dtype_ ? dtype_ : get_default_dtype(); }
  Layout layout() const noexcept { return layout_; }
  bool requires_grad() const noexcept { return requires_grad_; }
  bool pinned_memory() const noexcept { return pinned_memory_; }
  bool is_sparse() const noexcept { return layout() == Layout::Sparse; }

  bool has_device() const noexcept { return has_device_; }
  bool has_dtype() const noexcept { return has_dtype_; }
  bool has_layout() const noexcept { return has_layout_; }
  bool has_requires_grad() const noexcept { return has_requires_grad_; }
  bool has_pinned_memory() const noexcept { return has_pinned_memory_; }
  bool has_memory_format() const noexcept { return has_memory_format_; }

  std::optional<Device> device_opt() const noexcept {
    return has_device_ ? std::optional(device_) : std::nullopt;
  }
  std::optional<ScalarType> dtype_opt() const noexcept {
    return has_dtype_ ? std::optional(dtype_) : std::nullopt;
  }
  std::optional<Layout> layout_opt() const noexcept {
    return has_layout_ ? std::optional(layout_) : std::nullopt;
  }
  std::optional<bool> requires_grad_opt() const noexcept {
    return has_requires_grad_ ? std::optional<bool>(requires_grad_) : std::nullopt;
  }
  std::optional<bool> pinned_memory_opt() const noexcept {
    return has_pinned_memory_ ? std::optional<bool>(pinned_memory_) : std::nullopt;
  }
  std::optional<MemoryFormat> memory_format_opt() const noexcept {
    return has_memory_format_ ? std::optional(memory_format_) : std::nullopt;
  }

  // These options, overridden by those that the other ones choose.
  [[nodiscard]] TensorOptions merge_in(TensorOptions other) const noexcept {
    TensorOptions result = *this;
    if (other.has_device_) result.set_device(other.device_);
    if (other.has_dtype_) result.set_dtype(other.dtype_);
    if (other.has_layout_) result = result.layout(other.layout_);
    if (other.has_requires_grad_) result = result.requires_grad(other.requires_grad());
    if (other.has_pinned_memory_) result = result.pinned_memory(other.pinned_memory());
    if (other.has_memory_format_) result.set_memory_format(other.memory_format_);
    return result;
  }

  DispatchKey computeDispatchKey() const { return backend_key(device().type(), layout()); }

 private:
  void set_device(std::optional<Device> device) {
    has_device_ = device.has_value();
    device_ = device.value_or(Device(DeviceType::CPU));
  }
  void set_dtype(std::optional<ScalarType> dtype) {
    has_dtype_ = dtype.has_value();
    dtype_ = dtype.value_or(ScalarType::Float);
  }
  void set_memory_format(std::optional<MemoryFormat> format) {
    has_memory_format_ = format.has_value();
    memory_format_ = format.value_or(MemoryFormat::Contiguous);
  }

  // What is not chosen holds its default, but for the dtype, which has no fixed one.
  Device device_ = DeviceType::CPU;
  ScalarType dtype_ = ScalarType::Float;
  Layout layout_ = Layout::Strided;
  MemoryFormat memory_format_ = MemoryFormat::Contiguous;
  bool requires_grad_ : 1 = false;
  bool pinned_memory_ : 1 = false;
  bool has_device_ : 1 = false;
  bool has_dtype_ : 1 = false;
  bool has_layout_ : 1 = false;
  bool has_requires_grad_ : 1 = false;
  bool has_pinned_memory_ : 1 = false;
  bool has_memory_format_ : 1 = false;
};

static_assert(sizeof(TensorOptions) <= 16);

OPLOOM_API std::ostream& operator<<(std::ostream& out, const TensorOptions& options);

// Options from one choice: `at::dtype(kDouble).device(kCPU)`.
inline TensorOptions dtype(ScalarType dtype) { return TensorOptions().dtype(dtype); }
inline TensorOptions layout(Layout layout) { return TensorOptions().layout(layout); }
inline TensorOptions device(Device device) { return TensorOptions().device(device); }
inline TensorOptions requires_grad(bool requires_grad = true) {
  return TensorOptions().requires_grad(requires_grad);
}
inline TensorOptions memory_format(MemoryFormat format) {
  return TensorOptions().memory_format(format);
}
template <typename T>
TensorOptions dtype() {
  return TensorOptions().dtype(scalar_type_of_v<T>);
}

// The backend key for the options of a factory.
inline DispatchKey computeDispatchKey(std::optional<ScalarType>, std::optional<Layout> layout,
                                      std::optional<Device> device) {
  return backend_key(device ? device->type() : DeviceType::CPU, layout.value_or(Layout::Strided));
}

}  // namespace c10::inline oploom_v1
