// Code that moves elements depends on their size and not on their dtype: one copy for each size.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/Exception.h>
#include <c10/util/Macros.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace at::inline oploom_v1 {

// An element of 16 bytes; alignment as that of complex128.
struct alignas(8) Opaque16 {
  uint64_t low, high;
};

namespace detail {
template <size_t itemsize>
struct OpaqueOf;
template <>
struct OpaqueOf<1> : std::type_identity<uint8_t> {};
template <>
struct OpaqueOf<2> : std::type_identity<uint16_t> {};
template <>
struct OpaqueOf<4> : std::type_identity<uint32_t> {};
template <>
struct OpaqueOf<8> : std::type_identity<uint64_t> {};
template <>
struct OpaqueOf<16> : std::type_identity<Opaque16> {};
}  // namespace detail

// A type of `itemsize` bytes, with which elements of any dtype of that size can be copied.
template <size_t itemsize>
using opaque_type = typename detail::OpaqueOf<itemsize>::type;

// A row of n equal elements. Of those of 16 bytes, the compiler makes vectors if it is shown
// several.
template <typename T>
OPLOOM_ALWAYS_INLINE void fill_row(T* row, int64_t n, T element) {
  if constexpr (sizeof(T) == 16) {
    const T several[] = {element, element, element, element};
    for (; n >= 4; n -= 4, row += 4) std::memcpy(row, several, sizeof(several));
  }
  std::fill_n(row, n, element);
}

// What fn returns, called with a value of that type.
template <typename Fn>
auto with_opaque_type(size_t itemsize, const Fn& fn) {
  switch (itemsize) {
    case 1:
      return fn(opaque_type<1>{});
    case 2:
      return fn(opaque_type<2>{});
    case 4:
      return fn(opaque_type<4>{});
    case 8:
      return fn(opaque_type<8>{});
    default:
      OPLOOM_INTERNAL_ASSERT(itemsize == 16, "no dtype has elements of ", itemsize, " bytes");
      return fn(opaque_type<16>{});
  }
}

}  // namespace at::inline oploom_v1
