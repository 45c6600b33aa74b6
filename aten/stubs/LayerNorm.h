// Kernels of layer normalisation.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/stubs/DispatchStub.h>

namespace at::inline oploom_v1::native {

// Note [Shapes of layer normalisation]
// The input is contiguous and seen as m rows of n elements; weight and bias, if defined, are
// contiguous with n elements; mean and rstd (the reciprocal of the standard deviation) are
// contiguous with m. All have one floating-point dtype. Neither m nor n is 0.

using layer_norm_fn = void (*)(const TensorBase& result, const TensorBase& mean,
                               const TensorBase& rstd, const TensorBase& input,
                               const TensorBase& weight, const TensorBase& bias, int64_t m,
                               int64_t n, double eps);
OPLOOM_DECLARE_DISPATCH(layer_norm_fn, layer_norm_stub);

// Outputs that are undefined are not computed.
using layer_norm_backward_fn = void (*)(const TensorBase& grad_input, const TensorBase& grad_weight,
                                        const TensorBase& grad_bias, const TensorBase& grad_output,
                                        const TensorBase& input, const TensorBase& mean,
                                        const TensorBase& rstd, const TensorBase& weight, int64_t m,
                                        int64_t n);
OPLOOM_DECLARE_DISPATCH(layer_norm_backward_fn, layer_norm_backward_stub);

}  // namespace at::inline oploom_v1::native
