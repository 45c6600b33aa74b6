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
      cpu_kernel_vec<scalar_t, /*kWaits=*/false>(
          iter, [](auto x) { return vec::gelu(vec::kRoundedTo<scalar_t>, x); });
    }
  });
}

void gelu_backward_kernel(TensorIteratorBase& iter, bool tanh_approximation) {
  OPLOOM_DISPATCH(iter.common_dtype(), "gelu_backward", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using opmath_t = c10::opmath_type<scalar_t>;
    const auto constant = [](double value) { return static_cast<opmath_t>(value); };
    if (tanh_approximation) {
      // s + x s (1 - s) w', where s is the share 1 / (1 + exp(-w)); beyond `end` it is 0 or 1.
      constexpr opmath_t end = c10::special::kGeluTanhEnd<opmath_t>;
      cpu_kernel_vec<scalar_t, /*kWaits=*/false>(iter, [constant](auto grad, auto x) {
        using V = decltype(x);
        const V one(constant(1)), zero(constant(0));
        const V linear(constant(1.5957691216057308)), cubic(constant(0.07135481627260025));
        const V inside = clamp(x, V(-end), V(end));
        const V z = inside * inside;
        const V w = inside * fmadd(cubic, z, linear);
        const V power = w.abs().neg().exp();
        const V larger = one / (one + power);
        const V smaller = power * larger;
        const V slope = fmadd(V(constant(3)) * cubic, z, linear);
        return grad * fmadd(inside * slope, smaller * larger, blendv(larger, smaller, w < zero));
      });
    } else {
      // Phi(x) + x phi(x)
      cpu_kernel_vec<scalar_t, /*kWaits=*/false>(iter, [constant](auto grad, auto x) {
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
