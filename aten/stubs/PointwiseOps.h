// Kernels of the ternary pointwise operators.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

// self + value * tensor1 * tensor2, self + value * tensor1 / tensor2
using pointwise_fn = void (*)(TensorIteratorBase&, const Scalar& value);
OPLOOM_DECLARE_DISPATCH(pointwise_fn, addcmul_stub);
OPLOOM_DECLARE_DISPATCH(pointwise_fn, addcdiv_stub);

// self + weight * (end - self)
using lerp_scalar_fn = void (*)(TensorIteratorBase&, const Scalar& weight);
using lerp_tensor_fn = void (*)(TensorIteratorBase&);
OPLOOM_DECLARE_DISPATCH(lerp_scalar_fn, lerp_scalar_stub);
OPLOOM_DECLARE_DISPATCH(lerp_tensor_fn, lerp_tensor_stub);

}  // namespace at::inline oploom_v1::native
