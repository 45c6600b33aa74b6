// exp() without branches or calls, for loops that the compiler turns into vector code.
#pragma once

#include <aten/cpu/vec/math_exp.h>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {

template <typename T>
OPLOOM_ALWAYS_INLINE T branchless_exp(T x) {
  return vec::exp_of(x);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::inline oploom_v1::native
