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
using gemm_fn = void (*)(ScalarType dtype, const GemmArguments& arguments, const Scalar& alpha,
                         const Scalar& beta);
OPLOOM_DECLARE_DISPATCH(gemm_fn, gemm_stub);

// The same for floats and doubles, unless a library would be faster: does nothing then, and returns
// false.
using small_gemm_fn = bool (*)(ScalarType dtype, const GemmArguments& arguments,
                               const Scalar& alpha, const Scalar& beta);
OPLOOM_DECLARE_DISPATCH(small_gemm_fn, small_gemm_stub);

}  // namespace at::inline oploom_v1::native
