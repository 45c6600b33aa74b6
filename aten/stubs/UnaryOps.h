// Kernels of the unary pointwise operators.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

using unary_fn = void (*)(TensorIteratorBase&);

OPLOOM_DECLARE_DISPATCH(unary_fn, abs_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, bitwise_not_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, conj_physical_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, isfinite_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, isinf_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, isnan_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, logical_not_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, sgn_stub);
OPLOOM_DECLARE_DISPATCH(unary_fn, sign_stub);

// tanh_approximation: the cheaper form 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
using gelu_fn = void (*)(TensorIteratorBase&, bool tanh_approximation);
OPLOOM_DECLARE_DISPATCH(gelu_fn, gelu_stub);

}  // namespace at::inline oploom_v1::native
