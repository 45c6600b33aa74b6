// Kernels of softmax, log_softmax and their gradients.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/stubs/DispatchStub.h>

namespace at::inline oploom_v1::native {

// All tensors are contiguous, of one floating-point dtype and one shape, which has at least one
// dimension. `dim` is in [0, dim()).
using softmax_fn = void (*)(const TensorBase& result, const TensorBase& self, int64_t dim);
OPLOOM_DECLARE_DISPATCH(softmax_fn, softmax_stub);
OPLOOM_DECLARE_DISPATCH(softmax_fn, log_softmax_stub);

// `output` is what the operator returned.
using softmax_backward_fn = void (*)(const TensorBase& grad_input, const TensorBase& grad_output,
                                     const TensorBase& output, int64_t dim);
OPLOOM_DECLARE_DISPATCH(softmax_backward_fn, softmax_backward_stub);
OPLOOM_DECLARE_DISPATCH(softmax_backward_fn, log_softmax_backward_stub);

}  // namespace at::inline oploom_v1::native
