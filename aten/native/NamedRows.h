// Sums of rows that an index names.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/iterator/Cast.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

// Whether rows of that dtype, multiplied by alpha, are added by the functions below: but for bool,
// and integers and complex numbers that are multiplied by another number than 1.
bool adds_rows(ScalarType dtype, const Scalar& alpha);

// Whether what scatter_add adds is better contiguous: where the index names whole rows, which are
// added as such then, or the same columns in all rows, of 16-bit floats, which are converted one by
// one from anywhere else.
bool adds_contiguous(const TensorBase& self, int64_t dim, const TensorBase& index,
                     const TensorBase& src);

// For rows of n elements that lie side by side: to[position of i] += alpha * from[i], in the order
// of the names. The steps count elements: from one position to the next, and from one row to the
// next. Precondition: adds_rows().
void add_named_rows(ScalarType dtype, void* to, int64_t to_step, const void* from,
                    int64_t from_step, int64_t n, const at::detail::RowNames& names,
                    const Scalar& alpha);
// For one row.
void add_row(ScalarType dtype, void* to, const void* from, int64_t n, const Scalar& alpha);

}  // namespace at::inline oploom_v1::native
