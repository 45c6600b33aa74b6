// Products of bfloat16 matrices by oneDNN, on processors that it has fast code for.
#pragma once

#include <aten/onednn/Gemm.h>

namespace at::inline oploom_v1::onednn {

// Whether oneDNN multiplies bfloat16 with vector instructions here.
bool has_fast_bfloat16();

// As gemm_batched(), for bfloat16 and an alpha other than 0.
void matmul_bfloat16(int64_t batch, int64_t m, int64_t n, int64_t k, const Matrix& a,
                     int64_t a_step, const Matrix& b, int64_t b_step, float alpha, float beta,
                     void* c, int64_t ldc, int64_t c_step);

}  // namespace at::inline oploom_v1::onednn
