// Kernels of the operators that fill a tensor with a sequence.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

// Operand: a one-dimensional output. Element i becomes start + i * step, computed in the
// accumulation type of the output's dtype.
using arange_fn = void (*)(TensorIteratorBase&, const Scalar& start, const Scalar& step);
OPLOOM_DECLARE_DISPATCH(arange_fn, arange_stub);

// Operand: a one-dimensional output of 'steps' elements; the first is start and the last is end.
using linspace_fn = void (*)(TensorIteratorBase&, const Scalar& start, const Scalar& end,
                             int64_t steps);
OPLOOM_DECLARE_DISPATCH(linspace_fn, linspace_stub);

}  // namespace at::inline oploom_v1::native
