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

// The element of a key, for dtypes whose elements have each their own; so have floating-point
// numbers but zeros and NaNs.
template <typename T>
T element_of(Key<T> key, bool descending) {
  using K = Key<T>;
  constexpr K kSign = kSignBit<K>;
  if (descending) key = static_cast<K>(~key);
  if constexpr (std::is_same_v<T, bool>) {
    return key != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::is_signed_v<T> ? key ^ kSign : key);
  } else {
    return std::bit_cast<T>(static_cast<K>(key < kSign ? kSign | (kSign - key) : key - kSign));
  }
}
template <typename T>
bool has_own_key(Key<T> key, bool descending) {
  if (descending) key = static_cast<Key<T>>(~key);
  return std::is_integral_v<T> ||
         (key != kSignBit<Key<T>> && key != static_cast<Key<T>>(~Key<T>(0)));
}
// Whether element_of() gives back the bits of an element.
template <typename T>
bool has_own_bits(T x) {
  if constexpr (std::is_integral_v<T>) {
    return true;
  } else {
    using K = Key<T>;
    const K bits = std::bit_cast<K>(x);
    return bits != kSignBit<K> && static_cast<K>(bits & ~kSignBit<K>) <=
                                      std::bit_cast<K>(std::numeric_limits<T>::infinity());
  }
}

}  // namespace at::inline oploom_v1::native
