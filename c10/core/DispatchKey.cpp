// Names of dispatch keys and printing of key sets.
#include <c10/core/DispatchKeySet.h>

#include <array>
#include <sstream>

namespace c10::inline oploom_v1 {

namespace {
constexpr std::array<const char*, static_cast<std::size_t>(DispatchKey::EndOfKeys)> kNames = {
    "Undefined",   "CPU",          "CUDA",          "Meta",        "SparseCPU",
    "SparseCUDA",  "QuantizedCPU", "QuantizedCUDA", "PrivateUse1", "PrivateUse2",
    "PrivateUse3", "Autograd",     "Autocast",      "Tracer"};
}

const char* toString(DispatchKey key) noexcept {
  const auto i = static_cast<std::size_t>(key);
  return i < kNames.size() ? kNames[i] : "unknown dispatch key";
}

std::optional<DispatchKey> parse_dispatch_key(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<DispatchKey>(i);
  }
  return std::nullopt;
}

std::string toString(DispatchKeySet keys) {
  std::ostringstream out;
  out << keys;
  return std::move(out).str();
}

std::ostream& operator<<(std::ostream& out, DispatchKeySet keys) {
  out << "DispatchKeySet(";
  bool first = true;
  for (std::size_t i = 1; i < kNames.size(); ++i) {
    if (!keys.has(static_cast<DispatchKey>(i))) continue;
    if (!first) out << ", ";
    first = false;
    out << kNames[i];
  }
  return out << ')';
}

}  // namespace c10::inline oploom_v1
