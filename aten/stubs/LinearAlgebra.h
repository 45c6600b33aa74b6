// Kernels of matrix products that no library has, or that are too small to ask one.
#pragma once

#include <aten/core/Namespace.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

namespace at::inline oploom_v1::native {

// c = beta * c + alpha * a b for integers, wrapping around, or any other dtype but the reduced
// ones. Element (i, j) of a is at a[i * a_row + j * a_column], and so on; strides count elements.
// Rows of c lie `ldc` apart. With beta 0, c is only written.
struct GemmArguments {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_column;
  const void* b;
  int64_t b_row, b_column;
  void* c;
  int64_t ldc;
};
// Floats and doubles of these sizes are kept in registers as they are summed up; larger products go
// through plain loops.
inline bool is_small_gemm(int64_t m, int64_t n, int64_t k) {
  return n <= 32 && k <= 32 && m * n * k <= 16 * 16 * 16;
}
using gemm_fn = void (*)(ScalarType dtype, const GemmArguments& arguments, const Scalar& alpha,
                         const Scalar& beta);
OPLOOM_DECLARE_DISPATCH(gemm_fn, gemm_stub);

}  // namespace at::inline oploom_v1::native
