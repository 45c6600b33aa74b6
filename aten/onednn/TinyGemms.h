// Products of batches of tiny matrices.
#pragma once

#include <aten/stubs/LinearAlgebra.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace at::inline oploom_v1::onednn {

// Note [Tiny products]
// Of products of a few numbers, most of the time would go into calls. Those of many matrices are
// computed side by side: their elements are copied so that those of one place follow each other,
// the same is done with each vector of them, and the sums are copied back.

// As gemm_batched(). False, and nothing done, for matrices that are too few, or large enough for a
// call each, and for complex ones with factors that are not real.
bool gemm_side_by_side(ScalarType dtype, int64_t batch, const native::GemmArguments& arguments,
                       int64_t a_step, int64_t b_step, int64_t c_step, const Scalar& alpha,
                       const Scalar& beta);

}  // namespace at::inline oploom_v1::onednn
