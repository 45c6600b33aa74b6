// Integer arithmetic that tells when it does not fit.
#pragma once

#include <cstdint>

namespace c10::inline oploom_v1 {

inline bool mul_overflows(int64_t a, int64_t b, int64_t* out) {
  return __builtin_mul_overflow(a, b, out);
}
inline bool mul_overflows(uint64_t a, uint64_t b, uint64_t* out) {
  return __builtin_mul_overflow(a, b, out);
}
inline bool add_overflows(int64_t a, int64_t b, int64_t* out) {
  return __builtin_add_overflow(a, b, out);
}
inline bool add_overflows(uint64_t a, uint64_t b, uint64_t* out) {
  return __builtin_add_overflow(a, b, out);
}

// The product of all elements of a range; true when it overflowed.
template <typename Range>
bool safe_multiplies(const Range& factors, int64_t* out) {
  int64_t product = 1;
  bool overflowed = false;
  for (const auto factor : factors) {
    overflowed |= mul_overflows(product, static_cast<int64_t>(factor), &product);
  }
  *out = product;
  return overflowed;
}

// The product without a check, for sizes that a tensor has already.
template <typename Range>
int64_t multiply_integers(const Range& factors) {
  int64_t product = 1;
  for (const auto factor : factors) product *= static_cast<int64_t>(factor);
  return product;
}

}  // namespace c10::inline oploom_v1
