// Unsigned integers that are ordered as elements are sorted.
#pragma once

#include <aten/core/Namespace.h>
#include <aten/core/OpaqueType.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <bit>
#include <limits>
#include <type_traits>

namespace at::inline oploom_v1::native {

// Note [Sort keys]
// Elements are sorted by unsigned integers that are ordered as the elements are: signed integers
// with the sign bit flipped; floating-point numbers as their distance in bits from zero, which is
// in the middle. Both zeros get one key, so do all NaNs, which come last. For a descending order
// all bits are flipped once more, so that equal elements keep their order in that direction too.

template <typename T>
using Key = opaque_type<sizeof(T)>;

template <typename K>
constexpr K kSignBit = static_cast<K>(K(1) << (8 * sizeof(K) - 1));

template <typename T>
Key<T> key_of(T x, bool descending) {
  using K = Key<T>;
  constexpr K kSign = kSignBit<K>;
  K key;
  if constexpr (std::is_same_v<T, bool>) {
    key = x ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    key = static_cast<K>(x);
    if (std::is_signed_v<T>) key ^= kSign;
  } else {
    const K bits = std::bit_cast<K>(x), size = static_cast<K>(bits & ~kSign);
    key = static_cast<K>(bits & kSign ? kSign - size : kSign + size);
    if (size > std::bit_cast<K>(std::numeric_limits<T>::infinity())) key = static_cast<K>(~K(0));
  }
  return descending ? static_cast<K>(~key) : key;
}

}  // namespace at::inline oploom_v1::native
