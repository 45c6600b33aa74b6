// Printing of TensorOptions.
#include <c10/core/TensorOptions.h>

namespace c10::inline oploom_v1 {

std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  const auto open = [](bool chosen) { return chosen ? "" : " (default)"; };
  out << "TensorOptions(dtype=" << options.dtype() << open(options.has_dtype())
      << ", device=" << options.device() << open(options.has_device())
      << ", layout=" << options.layout() << open(options.has_layout())
      << ", requires_grad=" << (options.requires_grad() ? "true" : "false")
      << open(options.has_requires_grad())
      << ", pinned_memory=" << (options.pinned_memory() ? "true" : "false")
      << open(options.has_pinned_memory()) << ", memory_format=";
  if (options.has_memory_format()) {
    out << *options.memory_format_opt();
  } else {
    out << "(open)";
  }
  return out << ')';
}

}  // namespace c10::inline oploom_v1
