// by_size: moving elements without knowing more of their dtype than its size.
#pragma once

#include <aten/core/Namespace.h>

#include <cstdint>

namespace at::inline oploom_v1::detail {

struct Bytes16 {
  uint64_t parts[2];
};

// Calls `f` with a value of a type of `size` bytes: 1, 2, 4, 8 or 16.
template <typename F>
void by_size(int64_t size, F f) {
  switch (size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Bytes16{});
  }
}

}  // namespace at::inline oploom_v1::detail
