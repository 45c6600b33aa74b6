// Kernels of matrix products that no library has, or that are too small to ask one.
#pragma once

#include <aten/core/Namespace.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

namespace at::inline oploom_v1::native {

// c = beta * addend + alpha * a b for int32 and int64, wrapping around.
// Element (i, j) of a is at a[i * a_row + j * a_column], and so on; strides count elements.
// Rows of c lie `ldc` apart. The addend is c where no other is given; rows of another, which has no
// memory in common with c, lie `addend_row` apart: 0 for a bias. With beta 0, it is not read.
struct GemmArguments {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_column;
  const void* b;
  int64_t b_row, b_column;
  void* c;
  int64_t ldc;
  const void* addend = nullptr;
  int64_t addend_row = 0;
};
using gemm_fn = void (*)(ScalarType dtype, const GemmArguments& arguments, const Scalar& alpha,
                         const Scalar& beta);
OPLOOM_DECLARE_DISPATCH(gemm_fn, gemm_stub);

// The same for float and double, unless a library would be faster: does nothing then, and returns
// false. Only this one takes an addend other than c. With `is_widest`, a library of doubles has
// narrower vectors than AVX512; where it has not, it is faster where neither c nor b is small.
using small_gemm_fn = bool (*)(ScalarType dtype, const GemmArguments& arguments,
                               const Scalar& alpha, const Scalar& beta, bool is_widest);
OPLOOM_DECLARE_DISPATCH(small_gemm_fn, small_gemm_stub);

// c = beta * c + alpha * a b of float, double, int32 or int64 for `count` products, of which each
// element of one is followed by those of the others, with room for a vector behind the last:
// strides count what lies between the first ones, columns of c are `pitch` apart.
using products_side_by_side_fn = void (*)(ScalarType dtype, const GemmArguments& arguments,
                                          int64_t count, int64_t pitch, const Scalar& alpha,
                                          const Scalar& beta);
OPLOOM_DECLARE_DISPATCH(products_side_by_side_fn, products_side_by_side_stub);

// y = alpha * a x + beta * y for integers, wrapping around, and 16-bit floats, whose products are
// summed up in float, for a of m x n. Strides count elements; rows of a and x are dense, or
// n is at most 1, or columns of a that have enough elements are dense. With beta 0, y is not read.
struct GemvArguments {
  int64_t m, n;
  const void* a;
  int64_t a_row, a_column;
  const void* x;
  int64_t x_stride;
  void* y;
  int64_t y_stride;

  static constexpr int64_t kFewestColumns = 64;
  bool has_rows() const { return (a_column == 1 && x_stride == 1) || n <= 1; }
  bool has_columns() const { return a_row == 1 && m >= kFewestColumns; }
};
using gemv_fn = void (*)(ScalarType dtype, const GemvArguments& arguments, const Scalar& alpha,
                         const Scalar& beta);
OPLOOM_DECLARE_DISPATCH(gemv_fn, gemv_stub);

}  // namespace at::inline oploom_v1::native
