// lambert_w by Newton's method on w + log(w) = log(x) [Iacono and Boyd 2017]. An iteration cannot
// be written as an expression, so this operator has a kernel. Compiled once for each instruction
// set.
#include <aten/cpu/Loops.h>

#include "lambert_w.h"

#include <limits>

namespace mathx::native {
inline namespace CPU_CAPABILITY {
namespace {

// V is a vector of float or double.
template <class V, class T>
V lambert_w(V x) {
  const V zero(T(0)), one(T(1)), e(T(2.718281828459045235));
  // From the square root near the branch point -1/e below zero, from the logarithm above.
  const V above = e * x + one;
  const V root = above.sqrt();
  const V below = e * x * root.log1p() / (above + root);
  V w = blendv(below, x.log1p(), x > zero);
  // Each step doubles the number of right digits; five give those of a double everywhere.
  for (int i = 0; i < 5; ++i) w = w / (w + one) * (one + (x / w).log());
  // Where the steps divide nothing by nothing.
  const V infinity(std::numeric_limits<T>::infinity());
  w = blendv(w, x, x == zero);
  w = blendv(w, x, x == infinity);
  return blendv(w, V(T(-1)), above == zero);
}

void lambert_w_kernel(TensorIteratorBase& iter) {
  OPLOOM_DISPATCH(iter.common_dtype(), "lambert_w", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using T = c10::opmath_type<scalar_t>;
    cpu_kernel_vec<scalar_t>(iter, [](auto x) { return lambert_w<decltype(x), T>(x); });
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(lambert_w_stub, &lambert_w_kernel);

}  // namespace mathx::native
