// The loops of sort and topk.
#pragma once

#include <aten/core/TensorBase.h>

namespace at::inline oploom_v1::native {

// Sorts along `dim`, stably; NaN counts as the largest value. `values` and `indices` (int64) have
// the shape of `self` and any strides; `self` has at least one dimension.
void sort_loops(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                int64_t dim, bool descending);

// The k largest or smallest elements along `dim`, the earlier of equal ones first; in order if
// `sorted`.
void topk_loops(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                int64_t k, int64_t dim, bool largest, bool sorted);

}  // namespace at::inline oploom_v1::native
