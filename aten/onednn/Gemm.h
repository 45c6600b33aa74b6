// Matrix products of plain arrays: the one place that chooses between oneDNN, OpenBLAS and own
// loops.
#pragma once

#include <aten/core/Namespace.h>
#include <aten/stubs/LinearAlgebra.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace at::inline oploom_v1::onednn {

// A matrix whose element (i, j) is at data[i * row_stride + j * column_stride] (strides in
// elements). One of the strides is 1; the other is at least the length of a row or column, but for
// matrices of one row or column.
struct Matrix {
  const void* data;
  int64_t row_stride;
  int64_t column_stride;
};

// Multiply-adds of one product of bfloat16 up to which asking oneDNN takes longer than computing it
// in float32.
constexpr int64_t kLargeForBfloat16 = 32 * 32 * 32;

// c = beta * addend + alpha * a b, for factors that are as those of a Matrix. All are of `dtype`,
// which is any but bool. With beta 0, c is only written. k may be 0, m and n must not. float16 and
// bfloat16 are summed in float32, integers wrap around.
void gemm(ScalarType dtype, const native::GemmArguments& arguments, const Scalar& alpha,
          const Scalar& beta);

// The same for `batch` products, whose matrices lie a_step, b_step and c_step elements apart; the
// arguments are those of the first, the addend is c. Runs on several threads.
void gemm_batched(ScalarType dtype, int64_t batch, const native::GemmArguments& arguments,
                  int64_t a_step, int64_t b_step, int64_t c_step, const Scalar& alpha,
                  const Scalar& beta);

// Whether gemm() can take a matrix with these strides as it is.
inline bool has_blas_strides(int64_t rows, int64_t columns, int64_t row_stride,
                             int64_t column_stride) {
  if (column_stride == 1 && row_stride >= columns) return true;
  const bool by_rows = (column_stride == 1 || columns == 1) &&
                       (row_stride >= (columns > 1 ? columns : 1) || rows == 1);
  const bool by_columns =
      (row_stride == 1 || rows == 1) && (column_stride >= (rows > 1 ? rows : 1) || columns == 1);
  return by_rows || by_columns;
}

// The sum of x[i] y[i], and y = beta y + alpha a x for a of m x n; any strides, except that those
// of `a` are as gemm() wants them.
void dot(ScalarType dtype, int64_t n, const void* x, int64_t x_stride, const void* y,
         int64_t y_stride, void* result);
void gemv(ScalarType dtype, int64_t m, int64_t n, const Scalar& alpha, const Matrix& a,
          const void* x, int64_t x_stride, const Scalar& beta, void* y, int64_t y_stride);

}  // namespace at::inline oploom_v1::onednn
