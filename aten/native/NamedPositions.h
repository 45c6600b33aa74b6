// Positions along a dimension that a 1-d index names, where another way than going from line to
// line takes less time: shuffles of short rows, or each position as a whole.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/core/Scalar.h>
#include <c10/util/Macros.h>
#include <generated/ops/Tensor.h>

namespace at::inline oploom_v1::native {

// Each does nothing, and returns false, where it is not so. The index is int64 and dense, and the
// tensors have one number of dimensions (at least 1); what is written to has no memory in common
// with the others. (Cold, since they are about one call, and what follows in it is compiled for
// size with them.)

// out = self[index] along dim; also false where an index is outside of self.
OPLOOM_COLD bool take_positions(const TensorBase& out, const TensorBase& self, int64_t dim,
                                const Tensor& index);
// self[index] = values along dim, or += in the order of the index. All are inside of self.
OPLOOM_COLD bool put_positions(const TensorBase& self, int64_t dim, const Tensor& index,
                               const TensorBase& values, bool accumulate);
// self[index] += alpha * values along dim, in the order of the index. All are inside of self.
OPLOOM_COLD bool add_positions(const TensorBase& self, int64_t dim, const Tensor& index,
                               const TensorBase& values, const Scalar& alpha);

}  // namespace at::inline oploom_v1::native
