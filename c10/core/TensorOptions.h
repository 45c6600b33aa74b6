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

#include <cstdint>
#include <optional>
#include <ostream>
#include <type_traits>
#include <utility>

namespace c10::inline oploom_v1 {

// Small enough to pass in a register.
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
    result.set(kLayout, layout, Layout::Strided);
    return result;
  }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> requires_grad) const {
    TensorOptions result = *this;
    result.set(kRequiresGrad, requires_grad, false);
    return result;
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> pinned) const {
    TensorOptions result = *this;
    result.set(kPinnedMemory, pinned, false);
    return result;
  }
  [[nodiscard]] TensorOptions memory_format(std::optional<MemoryFormat> format) const {
    TensorOptions result = *this;
    result.set_memory_format(format);
    return result;
  }

  // What was chosen, or else the default.
  Device device() const noexcept {
    return Device(get<DeviceType>(kDeviceType), get<DeviceIndex>(kDeviceIndex));
  }
  ScalarType dtype() const noexcept {
    return has_dtype() ? get<ScalarType>(kDtype) : get_default_dtype();
  }
  Layout layout() const noexcept { return get<Layout>(kLayout); }
  bool requires_grad() const noexcept { return get<bool>(kRequiresGrad); }
  bool pinned_memory() const noexcept { return get<bool>(kPinnedMemory); }
  bool is_sparse() const noexcept { return layout() == Layout::Sparse; }
  // Whether such a tensor lies in ordinary memory of the CPU, its elements in the order of its
  // dimensions: all in one comparison.
  bool is_plain() const noexcept {
    constexpr auto kContiguous = static_cast<std::uint8_t>(MemoryFormat::Contiguous),
                   kPreserve = static_cast<std::uint8_t>(MemoryFormat::Preserve);
    static_assert((kContiguous ^ kPreserve) == 1);
    const std::uint64_t asked = place(kDeviceType, 0xff) | place(kLayout, 0xff) |
                                place(kMemoryFormat, 0xfe) | place(kPinnedMemory, 0xff);
    return (bits_ & asked) == (TensorOptions().bits_ & asked);
  }

  bool has_device() const noexcept { return has(kDeviceType); }
  bool has_dtype() const noexcept { return has(kDtype); }
  bool has_layout() const noexcept { return has(kLayout); }
  bool has_requires_grad() const noexcept { return has(kRequiresGrad); }
  bool has_pinned_memory() const noexcept { return has(kPinnedMemory); }
  bool has_memory_format() const noexcept { return has(kMemoryFormat); }

  std::optional<Device> device_opt() const noexcept {
    return has_device() ? std::optional(device()) : std::nullopt;
  }
  std::optional<ScalarType> dtype_opt() const noexcept { return opt<ScalarType>(kDtype); }
  std::optional<Layout> layout_opt() const noexcept { return opt<Layout>(kLayout); }
  std::optional<bool> requires_grad_opt() const noexcept { return opt<bool>(kRequiresGrad); }
  std::optional<bool> pinned_memory_opt() const noexcept { return opt<bool>(kPinnedMemory); }
  std::optional<MemoryFormat> memory_format_opt() const noexcept {
    return opt<MemoryFormat>(kMemoryFormat);
  }

  // These options, overridden by those that the other ones choose.
  [[nodiscard]] TensorOptions merge_in(TensorOptions other) const noexcept {
    TensorOptions result = *this;
    if (other.has_device()) result.set_device(other.device());
    if (other.has_dtype()) result.set_dtype(other.dtype());
    if (other.has_layout()) result = result.layout(other.layout());
    if (other.has_requires_grad()) result = result.requires_grad(other.requires_grad());
    if (other.has_pinned_memory()) result = result.pinned_memory(other.pinned_memory());
    if (other.has_memory_format()) result.set_memory_format(other.memory_format_opt());
    return result;
  }

  DispatchKey computeDispatchKey() const { return backend_key(device().type(), layout()); }

 private:
  // A byte for each choice, or its default (which a dtype has not), and the bits that say of which
  // one was made. All in one word, which is changed in a register: bytes in memory that are written
  // one by one and then read as a word make a processor wait.
  enum Field : unsigned {
    kDeviceType,
    kDeviceIndex,
    kDtype,
    kLayout,
    kMemoryFormat,
    kRequiresGrad,
    kPinnedMemory,
    kChosen
  };
  static constexpr std::uint64_t place(Field field, std::uint8_t value) {
    return std::uint64_t{value} << 8 * field;
  }
  static constexpr std::uint64_t chosen(Field field) {
    return std::uint64_t{1} << (8 * kChosen + field);
  }

  template <typename T>
  T get(Field field) const noexcept {
    return static_cast<T>(static_cast<std::uint8_t>(bits_ >> 8 * field));
  }
  bool has(Field field) const noexcept { return (bits_ & chosen(field)) != 0; }
  template <typename T>
  std::optional<T> opt(Field field) const noexcept {
    return has(field) ? std::optional(get<T>(field)) : std::nullopt;
  }
  template <typename T>
  void set(Field field, std::optional<T> value, T otherwise) {
    bits_ &= ~(place(field, 0xff) | chosen(field));
    bits_ |= place(field, static_cast<std::uint8_t>(value.value_or(otherwise)));
    if (value.has_value()) bits_ |= chosen(field);
  }
  void set_device(std::optional<Device> device) {
    const Device known = device.value_or(Device(DeviceType::CPU));
    set(kDeviceType, device ? std::optional(known.type()) : std::nullopt, known.type());
    set(kDeviceIndex, std::optional<DeviceIndex>(), known.index());
  }
  void set_dtype(std::optional<ScalarType> dtype) { set(kDtype, dtype, ScalarType::Float); }
  void set_memory_format(std::optional<MemoryFormat> format) {
    set(kMemoryFormat, format, MemoryFormat::Contiguous);
  }

  std::uint64_t bits_ = place(kDeviceType, static_cast<std::uint8_t>(DeviceType::CPU)) |
                        place(kDeviceIndex, static_cast<std::uint8_t>(-1)) |
                        place(kDtype, static_cast<std::uint8_t>(ScalarType::Float)) |
                        place(kLayout, static_cast<std::uint8_t>(Layout::Strided)) |
                        place(kMemoryFormat, static_cast<std::uint8_t>(MemoryFormat::Contiguous));
};

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
