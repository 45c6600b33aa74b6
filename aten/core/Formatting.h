// Tensors as text, laid out as NumPy lays out arrays.
#pragma once

#include <aten/core/TensorBase.h>

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace at::inline oploom_v1 {

struct PrintOptions {
  int precision = 4;             // digits after the point
  int64_t threshold = 1000;      // more elements than this are abridged
  int edgeitems = 3;             // at the beginning and end of an abridged dimension
  int linewidth = 80;            // columns
  std::optional<bool> sci_mode;  // scientific notation: by the values unless given
};

// The options of the process.
OPLOOM_API PrintOptions get_print_options();
OPLOOM_API void set_print_options(const PrintOptions& options);

// `tensor([1., 2.], dtype=float64)`. Device, dtype and size are stated where they cannot be seen;
// `suffixes` come last. The elements of a tensor that is not on the CPU are those of `here`, a copy
// of it that is; without one they are not shown.
OPLOOM_API std::string format_tensor(const TensorBase& tensor, std::string_view prefix = "tensor",
                                     const std::vector<std::string>& suffixes = {},
                                     const TensorBase& here = {});

OPLOOM_API std::ostream& operator<<(std::ostream& out, const TensorBase& tensor);

}  // namespace at::inline oploom_v1
