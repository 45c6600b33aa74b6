// Kernels of sort and topk.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/stubs/DispatchStub.h>

namespace at::inline oploom_v1::native {

// Writes the first k of the n elements at x, stably in the order of aten/core/SortKeys.h, and where
// they are in x, to `values` and `indices`, as many elements apart as the strides say; `values`
// must not be x.
using ShortRowSorter = void (*)(const void* x, int64_t n, bool descending, int64_t k, void* values,
                                int64_t value_stride, int64_t* indices, int64_t index_stride);

// Without such a sorter, so many are put in order as they are found.
inline constexpr int64_t kFewInserted = 40;

// The fastest one for rows of n elements, of a dtype that is not complex; null where these are too
// long for it to be worth it. For complex numbers, an error that names the operator.
using short_row_sorter_fn = ShortRowSorter (*)(const char* op, ScalarType dtype, int64_t n,
                                               int64_t k);
OPLOOM_DECLARE_DISPATCH(short_row_sorter_fn, short_row_sorter_stub);

// The same for each of `columns` columns of n elements, in n rows of `pitch`, a multiple of
// columns_at_least(); so lie `values`, which must not be x, and `indices`. Between the last column
// and the next row, all may be read and written. For each of the n, `scratch` has kColumnScratch
// bytes; it begins where a vector may.
using ColumnSorter = void (*)(const void* x, int64_t n, int64_t pitch, int64_t columns,
                              bool descending, int64_t k, void* values, int64_t* indices,
                              void* scratch);
constexpr int64_t columns_at_least(size_t itemsize) { return itemsize == 1 ? 32 : 16; }
inline constexpr int64_t kColumnScratch = 128;

// The one for columns of n elements; null where they are sorted one by one in less time.
using column_sorter_fn = ColumnSorter (*)(const char* op, ScalarType dtype, int64_t n, int64_t k);
OPLOOM_DECLARE_DISPATCH(column_sorter_fn, column_sorter_stub);

}  // namespace at::inline oploom_v1::native
