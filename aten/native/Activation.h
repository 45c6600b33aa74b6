// What the activation functions and their gradients share.
#pragma once

#include <c10/util/Exception.h>

#include <string_view>

namespace at::inline oploom_v1::native {

// Whether gelu's `approximate` asks for the form with tanh.
inline bool gelu_approximation(const char* op, std::string_view approximate) {
  OPLOOM_CHECK_VALUE(approximate == "none" || approximate == "tanh", op,
                     "(): expected approximate to be 'none' or 'tanh', got '", approximate, "'");
  return approximate == "tanh";
}

}  // namespace at::inline oploom_v1::native
