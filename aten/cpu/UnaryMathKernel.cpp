// Mathematical functions of one tensor.
#include <aten/cpu/Loops.h>
#include <aten/stubs/UnaryOps.h>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

#define OPLOOM_MATH(name)                                                                          \
  void name##_kernel(TensorIteratorBase& iter) {                                                   \
    OPLOOM_DISPATCH(iter.common_dtype(), #name, (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), \
                    [&] { cpu_kernel_vec<scalar_t>(iter, [](auto x) { return x.name(); }); });     \
  }
OPLOOM_MATH(cos)
OPLOOM_MATH(exp)
OPLOOM_MATH(expm1)
OPLOOM_MATH(log)
OPLOOM_MATH(log10)
OPLOOM_MATH(log1p)
OPLOOM_MATH(log2)
OPLOOM_MATH(reciprocal)
OPLOOM_MATH(rsqrt)
OPLOOM_MATH(sin)
OPLOOM_MATH(sqrt)
OPLOOM_MATH(tan)
OPLOOM_MATH(tanh)
#undef OPLOOM_MATH

void erf_kernel(TensorIteratorBase& iter) {
  OPLOOM_DISPATCH(iter.common_dtype(), "erf", (OPLOOM_FLOATING, OPLOOM_REDUCED),
                  [&] { cpu_kernel_vec<scalar_t>(iter, [](auto x) { return x.erf(); }); });
}

void sigmoid_kernel(TensorIteratorBase& iter) {
  OPLOOM_DISPATCH(iter.common_dtype(), "sigmoid", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX),
                  [&] {
                    using opmath_t = c10::opmath_type<scalar_t>;
                    cpu_kernel_vec<scalar_t>(iter, [](auto x) {
                      const decltype(x) one(opmath_t(1));
                      return one / (one + x.neg().exp());
                    });
                  });
}

void silu_kernel(TensorIteratorBase& iter) {
  OPLOOM_DISPATCH(iter.common_dtype(), "silu", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using opmath_t = c10::opmath_type<scalar_t>;
    cpu_kernel_vec<scalar_t>(iter,
                             [](auto x) { return x / (decltype(x)(opmath_t(1)) + x.neg().exp()); });
  });
}

void gelu_kernel(TensorIteratorBase& iter, bool tanh_approximation) {
  OPLOOM_DISPATCH(iter.common_dtype(), "gelu", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using opmath_t = c10::opmath_type<scalar_t>;
    const auto constant = [](double value) { return static_cast<opmath_t>(value); };
    if (tanh_approximation) {
      cpu_kernel_vec<scalar_t>(iter, [constant](auto x) {
        using V = decltype(x);
        const V beta(constant(0.79788456080286535588));  // sqrt(2 / pi)
        const V inner = beta * (x + V(constant(0.044715)) * x * x * x);
        return V(constant(0.5)) * x * (V(constant(1)) + inner.tanh());
      });
    } else {
      cpu_kernel_vec<scalar_t>(iter, [constant](auto x) {
        using V = decltype(x);
        const V root_half(constant(0.70710678118654752440));
        return x * V(constant(0.5)) * (V(constant(1)) + (x * root_half).erf());
      });
    }
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(cos_stub, &cos_kernel);
OPLOOM_REGISTER_DISPATCH(erf_stub, &erf_kernel);
OPLOOM_REGISTER_DISPATCH(exp_stub, &exp_kernel);
OPLOOM_REGISTER_DISPATCH(expm1_stub, &expm1_kernel);
OPLOOM_REGISTER_DISPATCH(gelu_stub, &gelu_kernel);
OPLOOM_REGISTER_DISPATCH(log_stub, &log_kernel);
OPLOOM_REGISTER_DISPATCH(log10_stub, &log10_kernel);
OPLOOM_REGISTER_DISPATCH(log1p_stub, &log1p_kernel);
OPLOOM_REGISTER_DISPATCH(log2_stub, &log2_kernel);
OPLOOM_REGISTER_DISPATCH(reciprocal_stub, &reciprocal_kernel);
OPLOOM_REGISTER_DISPATCH(rsqrt_stub, &rsqrt_kernel);
OPLOOM_REGISTER_DISPATCH(sigmoid_stub, &sigmoid_kernel);
OPLOOM_REGISTER_DISPATCH(silu_stub, &silu_kernel);
OPLOOM_REGISTER_DISPATCH(sin_stub, &sin_kernel);
OPLOOM_REGISTER_DISPATCH(sqrt_stub, &sqrt_kernel);
OPLOOM_REGISTER_DISPATCH(tan_stub, &tan_kernel);
OPLOOM_REGISTER_DISPATCH(tanh_stub, &tanh_kernel);

}  // namespace at::inline oploom_v1::native
