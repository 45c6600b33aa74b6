// DispatchKey: the slots of an operator's kernel table.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/util/Export.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace c10::inline oploom_v1 {

// A key's value is its bit in a DispatchKeySet and its priority: the highest key of a set is served
// first. Backends come first, so a wrapper such as Autograd is always above every backend.
enum class DispatchKey : std::uint8_t {
  Undefined = 0,  // the slot of calls in which no argument has a key
  CPU,
  CUDA,
  Meta,
  SparseCPU,
  SparseCUDA,
  QuantizedCPU,
  QuantizedCUDA,
  PrivateUse1,
  PrivateUse2,
  PrivateUse3,
  Autograd,
  Autocast,
  Tracer,
  EndOfKeys
};

// Slots of a table: the number of keys rounded up.
inline constexpr int kNumDispatchKeys = 16;
static_assert(static_cast<int>(DispatchKey::EndOfKeys) <= kNumDispatchKeys);

OPLOOM_API const char* toString(DispatchKey key) noexcept;
// Names as the enumerators; used by YAML's `dispatch:` and by registration from other libraries.
OPLOOM_API std::optional<DispatchKey> parse_dispatch_key(std::string_view name) noexcept;
inline std::ostream& operator<<(std::ostream& out, DispatchKey key) { return out << toString(key); }

// The backend key of a layout on a device; Undefined where there is no such backend.
constexpr DispatchKey backend_key(DeviceType type, Layout layout) noexcept {
  const bool sparse = layout == Layout::Sparse;
  switch (type) {
    case DeviceType::CPU:
      return sparse ? DispatchKey::SparseCPU : DispatchKey::CPU;
    case DeviceType::CUDA:
      return sparse ? DispatchKey::SparseCUDA : DispatchKey::CUDA;
    case DeviceType::Meta:
      return DispatchKey::Meta;
    case DeviceType::PrivateUse1:
      return DispatchKey::PrivateUse1;
    case DeviceType::PrivateUse2:
      return DispatchKey::PrivateUse2;
    case DeviceType::PrivateUse3:
      return DispatchKey::PrivateUse3;
    default:
      return DispatchKey::Undefined;
  }
}

}  // namespace c10::inline oploom_v1
