// gelu and its gradient: which function it is, a word decides.
#include <aten/cpu/Loops.h>
#include <aten/cpu/vec/functions.h>
#include <aten/stubs/BinaryOps.h>
#include <aten/stubs/UnaryOps.h>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

void gelu_kernel(TensorIteratorBase& iter, bool tanh_approximation) {
  OPLOOM_DISPATCH(iter.common_dtype(), "gelu", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    if (tanh_approximation) {
      cpu_kernel_vec<scalar_t>(
          iter, vec::TwoForms{[](auto& usual, const auto& x) OPLOOM_ALWAYS_INLINE_LAMBDA {
            return vec::gelu_tanh(usual, x);
          }});
    } else {
      cpu_kernel_vec<scalar_t>(iter,
                               [](auto x) { return vec::gelu(vec::kRoundedTo<scalar_t>, x); });
    }
  });
}

void gelu_backward_kernel(TensorIteratorBase& iter, bool tanh_approximation) {
  OPLOOM_DISPATCH(iter.common_dtype(), "gelu_backward", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using opmath_t = c10::opmath_type<scalar_t>;
    const auto constant = [](double value) { return static_cast<opmath_t>(value); };
    if (tanh_approximation) {
      // beta = sqrt(2 / pi), kappa as in the forward function
      cpu_kernel_vec<scalar_t>(iter, [constant](auto grad, auto x) {
        using V = decltype(x);
        const V beta(constant(0.79788456080286535588));
        const V kappa(constant(0.044715));
        const V one(constant(1));
        const V half(constant(0.5));
        const V t = (beta * (x + kappa * x * x * x)).tanh();
        const V inner = beta * (one + V(constant(3)) * kappa * x * x);
        return grad * (half * (one + t) + half * x * (one - t * t) * inner);
      });
    } else {
      // Phi(x) + x phi(x)
      cpu_kernel_vec<scalar_t>(iter, [constant](auto grad, auto x) {
        using V = decltype(x);
        const V pdf = (V(constant(-0.5)) * x * x).exp() * V(constant(0.39894228040143267794));
        return grad * (vec::normal_cdf(x) + x * pdf);
      });
    }
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(gelu_stub, &gelu_kernel);
OPLOOM_REGISTER_DISPATCH(gelu_backward_stub, &gelu_backward_kernel);

}  // namespace at::inline oploom_v1::native
