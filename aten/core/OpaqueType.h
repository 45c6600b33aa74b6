// Code that moves elements depends on their size and not on their dtype: one copy for each size.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>

namespace at::inline oploom_v1 {

// An element of 16 bytes; alignment as that of complex128.
struct alignas(8) Opaque16 {
  uint64_t low, high;
};

// Calls fn with a value of a type of `itemsize` bytes, with which elements of any dtype of that
// size can be copied.
template <typename Fn>
void with_opaque_type(size_t itemsize, const Fn& fn) {
  switch (itemsize) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    case 8:
      return fn(uint64_t{});
    default:
      OPLOOM_INTERNAL_ASSERT(itemsize == 16, "no dtype has elements of ", itemsize, " bytes");
      return fn(Opaque16{});
  }
}

}  // namespace at::inline oploom_v1
