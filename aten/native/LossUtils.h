// What the losses share.
#pragma once

#include <aten/core/Reduction.h>
#include <c10/util/Exception.h>
#include <generated/ops/Tensor.h>
#include <generated/ops/mean.h>
#include <generated/ops/sum.h>

namespace at::inline oploom_v1::native {

inline void check_reduction(const char* op, int64_t reduction) {
  OPLOOM_CHECK_VALUE(reduction >= 0 && reduction < Reduction::END, op,
                     "(): expected reduction 0 (none), 1 (mean) or 2 (sum), got ", reduction);
}

inline Tensor apply_reduction(const Tensor& losses, int64_t reduction) {
  if (reduction == Reduction::Mean) return losses.mean();
  if (reduction == Reduction::Sum) return losses.sum();
  return losses;
}

}  // namespace at::inline oploom_v1::native
