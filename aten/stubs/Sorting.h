// Kernels of sort and topk.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/stubs/DispatchStub.h>

namespace at::inline oploom_v1::native {

// Sorts along `dim`, stably; NaN counts as the largest value. `values` and `indices` (int64) have the
// shape of `self` and any strides; `self` has at least one dimension.
using sort_fn = void (*)(const TensorBase& values, const TensorBase& indices,
                         const TensorBase& self, int64_t dim, bool descending);
OPLOOM_DECLARE_DISPATCH(sort_fn, sort_stub);

// The k largest or smallest elements along `dim`, the earlier of equal ones first; in order if
// `sorted`.
using topk_fn = void (*)(const TensorBase& values, const TensorBase& indices,
                         const TensorBase& self, int64_t k, int64_t dim, bool largest,
                         bool sorted);
OPLOOM_DECLARE_DISPATCH(topk_fn, topk_stub);

}  // namespace at::inline oploom_v1::native
