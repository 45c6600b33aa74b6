// Kernels of the reductions and of the running sums and products.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/stubs/DispatchStub.h>

namespace at::inline oploom_v1::native {

// The dimensions that a reduction removes: bit d stands for dimension d of the input.
using DimMask = uint64_t;

// Reduces `self` over the dimensions of the mask into `result`, whose dimensions are the others, in
// their order; the reduced ones may still be there with size 1. Both have any strides. The dtype of
// `result` is that of `self` unless said otherwise below. With no elements to reduce, the result is
// the operation's neutral element (for max and min, which have none, native code refuses that).
using reduce_fn = void (*)(const TensorBase& result, const TensorBase& self, DimMask mask);

// Integers and bool of `self` are summed and multiplied into int64.
OPLOOM_DECLARE_DISPATCH(reduce_fn, sum_stub);
OPLOOM_DECLARE_DISPATCH(reduce_fn, prod_stub);
OPLOOM_DECLARE_DISPATCH(reduce_fn, mean_stub);
// Largest and smallest value, NaN if there is one.
OPLOOM_DECLARE_DISPATCH(reduce_fn, max_values_stub);
OPLOOM_DECLARE_DISPATCH(reduce_fn, min_values_stub);
// `result` is bool or uint8, `self` of any dtype.
OPLOOM_DECLARE_DISPATCH(reduce_fn, and_stub);
OPLOOM_DECLARE_DISPATCH(reduce_fn, or_stub);

// Sum of squared distances from the mean, divided by max(0, number of elements - correction); its
// square root if `take_sqrt`. For complex `self` the result is of the matching real dtype.
using var_fn = void (*)(const TensorBase& result, const TensorBase& self, DimMask mask,
                        double correction, bool take_sqrt);
OPLOOM_DECLARE_DISPATCH(var_fn, var_stub);

// p-norm for any p, infinities included. For complex `self` the result is real.
using norm_fn = void (*)(const TensorBase& result, const TensorBase& self, DimMask mask, double p);
OPLOOM_DECLARE_DISPATCH(norm_fn, norm_stub);

// Index (int64) of the first largest or smallest element along `dim`; NaN counts as largest and as
// smallest. `values` may be undefined. A 0-dim `self` counts as one with a single dimension.
using select_extreme_fn = void (*)(const TensorBase& values, const TensorBase& indices,
                                   const TensorBase& self, int64_t dim);
OPLOOM_DECLARE_DISPATCH(select_extreme_fn, argmax_stub);
OPLOOM_DECLARE_DISPATCH(select_extreme_fn, argmin_stub);

// Running sums and products along `dim`; both tensors have one shape and one dtype, int64, floating
// or complex, and may be the same tensor.
using cumulative_fn = void (*)(const TensorBase& result, const TensorBase& self, int64_t dim);
OPLOOM_DECLARE_DISPATCH(cumulative_fn, cumsum_stub);
OPLOOM_DECLARE_DISPATCH(cumulative_fn, cumprod_stub);

}  // namespace at::inline oploom_v1::native
