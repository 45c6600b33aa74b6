// Names of devices and their parser.
#include <c10/core/Device.h>

#include <array>
#include <charconv>
#include <string>

namespace c10::inline oploom_v1 {

namespace {

struct Names {
  const char* lower;
  const char* upper;
};
constexpr std::array<Names, kNumDeviceTypes> kNames = {{
    {"cpu", "CPU"},
    {"cuda", "CUDA"},
    {"meta", "META"},
    {"privateuse1", "PRIVATEUSE1"},
    {"privateuse2", "PRIVATEUSE2"},
    {"privateuse3", "PRIVATEUSE3"},
}};

Device parse_device(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  for (int i = 0; i < kNumDeviceTypes; ++i) {
    if (name != kNames[static_cast<std::size_t>(i)].lower) continue;
    const auto type = static_cast<DeviceType>(i);
    if (colon == std::string::npos) return Device(type);
    const std::string_view digits = std::string_view(text).substr(colon + 1);
    DeviceIndex index = -1;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), index, 10);
    OPLOOM_CHECK(!digits.empty() && error == std::errc() && end == digits.data() + digits.size() &&
                     index >= 0 && (digits.size() == 1 || digits[0] != '0'),
                 "device '", text, "': expected a number from 0 to 127 after ':'");
    return Device(type, index);
  }
  OPLOOM_ERROR(
      "device '", text,
      "': expected cpu, cuda, meta, privateuse1, privateuse2 or privateuse3, with or without "
      "a number as in 'cuda:0'");
}

}  // namespace

const char* DeviceTypeName(DeviceType type, bool lower_case) noexcept {
  const auto i = static_cast<std::size_t>(type);
  if (i >= kNames.size()) return "unknown device";
  return lower_case ? kNames[i].lower : kNames[i].upper;
}

Device::Device(const std::string& text) : Device(parse_device(text)) {}

std::string Device::str() const {
  std::string result = DeviceTypeName(type_);
  if (has_index()) result.append(1, ':').append(std::to_string(index_));
  return result;
}

}  // namespace c10::inline oploom_v1
