// DeviceType and Device: where the memory of a tensor is.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/Export.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace c10::inline oploom_v1 {

// The three private types belong to backends outside the tree.
enum class DeviceType : std::int8_t {
  CPU,
  CUDA,
  Meta,  // no memory at all: sizes and dtypes only
  PrivateUse1,
  PrivateUse2,
  PrivateUse3,
  NumOptions
};

inline constexpr DeviceType kCPU = DeviceType::CPU;
inline constexpr DeviceType kCUDA = DeviceType::CUDA;
inline constexpr DeviceType kMeta = DeviceType::Meta;
inline constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;
inline constexpr DeviceType kPrivateUse2 = DeviceType::PrivateUse2;
inline constexpr DeviceType kPrivateUse3 = DeviceType::PrivateUse3;
inline constexpr int kNumDeviceTypes = static_cast<int>(DeviceType::NumOptions);

// "cpu", "cuda", ...; "CPU", "CUDA" with lower_case = false.
OPLOOM_API const char* DeviceTypeName(DeviceType type, bool lower_case = true) noexcept;
inline std::ostream& operator<<(std::ostream& out, DeviceType type) {
  return out << DeviceTypeName(type);
}

using DeviceIndex = std::int8_t;

struct OPLOOM_API Device final {
  // index -1 means the current device of that type; the CPU has no other meaning for it.
  constexpr Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  // "cpu", "cuda:1", ...; throws an Error that lists the names for anything else.
  Device(const std::string& text);
  Device(const char* text) : Device(std::string(text)) {}

  constexpr DeviceType type() const noexcept { return type_; }
  constexpr DeviceIndex index() const noexcept { return index_; }
  constexpr bool has_index() const noexcept { return index_ != -1; }
  void set_index(DeviceIndex index) { index_ = index; }
  constexpr bool is_cpu() const noexcept { return type_ == DeviceType::CPU; }
  constexpr bool is_cuda() const noexcept { return type_ == DeviceType::CUDA; }
  constexpr bool is_meta() const noexcept { return type_ == DeviceType::Meta; }
  constexpr bool is_privateuseone() const noexcept { return type_ == DeviceType::PrivateUse1; }

  constexpr bool operator==(const Device& other) const noexcept {
    return type_ == other.type_ && index_ == other.index_;
  }

  std::string str() const;

 private:
  DeviceType type_;
  DeviceIndex index_;
};

inline std::ostream& operator<<(std::ostream& out, const Device& device) {
  return out << device.str();
}

}  // namespace c10::inline oploom_v1

template <>
struct std::hash<c10::Device> {
  std::size_t operator()(c10::Device device) const noexcept {
    return (static_cast<std::size_t>(static_cast<std::uint8_t>(device.type())) << 8) |
           static_cast<std::uint8_t>(device.index());
  }
};
