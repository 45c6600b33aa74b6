// Kernels of the operators that choose between values.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

// Operands: output, condition (bool), self, other.
using where_fn = void (*)(TensorIteratorBase&);
OPLOOM_DECLARE_DISPATCH(where_fn, where_stub);

// Operands: output, self, min, max. NaN in any of the three gives NaN.
using clamp_fn = void (*)(TensorIteratorBase&);
OPLOOM_DECLARE_DISPATCH(clamp_fn, clamp_stub);
using clamp_scalar_fn = void (*)(TensorIteratorBase&, const Scalar& min, const Scalar& max);
OPLOOM_DECLARE_DISPATCH(clamp_scalar_fn, clamp_scalar_stub);
using clamp_one_sided_fn = void (*)(TensorIteratorBase&, const Scalar& bound);
OPLOOM_DECLARE_DISPATCH(clamp_one_sided_fn, clamp_min_scalar_stub);
OPLOOM_DECLARE_DISPATCH(clamp_one_sided_fn, clamp_max_scalar_stub);

}  // namespace at::inline oploom_v1::native
