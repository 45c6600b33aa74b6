// Kernels of the unary pointwise operators.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

using unary_fn = void (*)(TensorIteratorBase&);

OPLOOM_DECLARE_DISPATCH(unary_fn, abs_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, bitwise_not_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, ceil_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, conj_physical_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, cos_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, erf_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, exp_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, expm1_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, floor_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, isfinite_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, isinf_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, isnan_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, log_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, log10_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, log1p_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, log2_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, logical_not_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, neg_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, reciprocal_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, relu_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, round_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, rsqrt_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, sgn_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, sigmoid_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, sign_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, silu_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, sin_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, sqrt_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, square_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, tan_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, tanh_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, trunc_stub);

// tanh_approximation: the cheaper form 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
using gelu_fn = void (*)(TensorIteratorBase&, bool tanh_approximation);
OPLOOM_DECLARE_DISPATCH(gelu_fn, gelu_stub);

}  // namespace at::inline oploom_v1::native
