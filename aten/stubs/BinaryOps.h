// Kernels of the binary pointwise operators.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

using binary_fn = void (*)(TensorIteratorBase&);
using binary_alpha_fn = void (*)(TensorIteratorBase&, const Scalar& alpha);

// self + alpha * other, self - alpha * other
OPLOOM_DECLARE_DISPATCH(binary_alpha_fn, add_stub);
OPLOOM_DECLARE_DISPATCH(binary_alpha_fn, sub_stub);
// to[i] += alpha * from[i] for n elements of a real floating-point dtype
using add_row_fn = void (*)(ScalarType dtype, void* to, const void* from, int64_t n,
                            const Scalar& alpha);
OPLOOM_DECLARE_DISPATCH(add_row_fn, add_row_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, mul_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, div_true_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, div_trunc_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, div_floor_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, remainder_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, fmod_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, maximum_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, minimum_stub);

OPLOOM_DECLARE_DISPATCH(binary_fn, pow_tensor_tensor_stub);
using pow_scalar_fn = void (*)(TensorIteratorBase&, const Scalar& exponent);
OPLOOM_DECLARE_DISPATCH(pow_scalar_fn, pow_tensor_scalar_stub);

// A complex output of two real parts.
OPLOOM_DECLARE_DISPATCH(binary_fn, complex_stub);

// Comparisons: two inputs of one dtype, a bool output.
OPLOOM_DECLARE_DISPATCH(binary_fn, eq_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, ne_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, lt_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, le_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, gt_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, ge_stub);
// Logic: all operands are bool; the iterator converts.
OPLOOM_DECLARE_DISPATCH(binary_fn, logical_and_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, logical_or_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, logical_xor_stub);

OPLOOM_DECLARE_DISPATCH(binary_fn, bitwise_and_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, bitwise_or_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, bitwise_xor_stub);

// Integers only.
OPLOOM_DECLARE_DISPATCH(binary_fn, bitwise_left_shift_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, bitwise_right_shift_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, gcd_stub);
OPLOOM_DECLARE_DISPATCH(binary_fn, lcm_stub);

// The gradient of gelu: inputs are the incoming gradient and gelu's input.
using gelu_backward_fn = void (*)(TensorIteratorBase&, bool tanh_approximation);
OPLOOM_DECLARE_DISPATCH(gelu_backward_fn, gelu_backward_stub);

}  // namespace at::inline oploom_v1::native
