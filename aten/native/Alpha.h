// The number that an operand is multiplied by before it is added.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Macros.h>

namespace at::inline oploom_v1::native {

// alpha must be of no higher kind than the result.
OPLOOM_COLD void check_any_alpha(const char* op, ScalarType dtype, const Scalar& alpha);
// The same, which costs nothing for an integer.
inline void check_alpha(const char* op, ScalarType dtype, const Scalar& alpha) {
  if (OPLOOM_LIKELY(alpha.isIntegral(/*includeBool=*/false))) return;
  check_any_alpha(op, dtype, alpha);
}

}  // namespace at::inline oploom_v1::native
