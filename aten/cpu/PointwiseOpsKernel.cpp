// Arithmetic of three tensors that is no expression: gradients of real operands beside complex
// ones, and dtypes that lerp and addcdiv refuse rather than convert.
#include <aten/cpu/Loops.h>
#include <aten/stubs/PointwiseOps.h>

#include <cmath>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

void addcmul_kernel(TensorIteratorBase& iter, const Scalar& value) {
  OPLOOM_DISPATCH(iter.common_dtype(), "addcmul",
                  (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
                    const auto factor = value.to<c10::opmath_type<scalar_t>>();
                    cpu_kernel_vec<scalar_t>(iter, [factor](auto self, auto a, auto b) {
                      return self + decltype(self)(factor) * a * b;
                    });
                  });
}

void addcdiv_kernel(TensorIteratorBase& iter, const Scalar& value) {
  OPLOOM_DISPATCH(iter.common_dtype(), "addcdiv", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX),
                  [&] {
                    const auto factor = value.to<c10::opmath_type<scalar_t>>();
                    cpu_kernel_vec<scalar_t>(iter, [factor](auto self, auto a, auto b) {
                      return self + decltype(self)(factor) * a / b;
                    });
                  });
}

// Computed from the nearer end, so that weight 0 gives self and weight 1 gives end exactly.
void lerp_scalar_kernel(TensorIteratorBase& iter, const Scalar& weight) {
  OPLOOM_DISPATCH(
      iter.common_dtype(), "lerp", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
        using opmath_t = c10::opmath_type<scalar_t>;
        const auto w = weight.to<opmath_t>();
        const opmath_t rest = opmath_t(1) - w;
        if (std::abs(w) < 0.5) {
          cpu_kernel_vec<scalar_t>(
              iter, [w](auto self, auto end) { return self + decltype(self)(w) * (end - self); });
        } else {
          cpu_kernel_vec<scalar_t>(iter, [rest](auto self, auto end) {
            return end - (end - self) * decltype(self)(rest);
          });
        }
      });
}

void lerp_tensor_kernel(TensorIteratorBase& iter) {
  OPLOOM_DISPATCH(
      iter.common_dtype(), "lerp", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
        if constexpr (c10::is_complex_v<scalar_t>) {
          cpu_kernel(iter, [](scalar_t self, scalar_t end, scalar_t weight) -> scalar_t {
            const scalar_t difference = end - self;
            return std::norm(weight) < 0.25 ? self + weight * difference
                                            : end - difference * (scalar_t(1) - weight);
          });
        } else {
          cpu_kernel_vec<scalar_t>(iter, [](auto self, auto end, auto weight) {
            using V = decltype(self);
            const V difference = end - self;
            return blendv(end - difference * (V(1) - weight), self + weight * difference,
                          weight.abs() < V(0.5));
          });
        }
      });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(addcmul_stub, &addcmul_kernel);
OPLOOM_REGISTER_DISPATCH(addcdiv_stub, &addcdiv_kernel);
OPLOOM_REGISTER_DISPATCH(lerp_scalar_stub, &lerp_scalar_kernel);
OPLOOM_REGISTER_DISPATCH(lerp_tensor_stub, &lerp_tensor_kernel);

}  // namespace at::inline oploom_v1::native
