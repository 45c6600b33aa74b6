// Kernels of sort and topk.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/stubs/DispatchStub.h>

namespace at::inline oploom_v1::native {

// Sorts short rows, stably, in the order of aten/core/SortKeys.h.
struct ShortRowSorter {
  // Elements of the longest row for which that is worth it.
  int64_t longest;
  // And of the longest of which up to so many are found faster.
  int64_t few;
  int64_t longest_of_few;
  // Writes the first k of the n elements at x in their order, and where they are in x, to `values`
  // and `indices`, as many elements apart as the strides say; `values` must not be x.
  void (*sort)(const void* x, int64_t n, bool descending, int64_t k, void* values,
               int64_t value_stride, int64_t* indices, int64_t index_stride);
};

// The one for elements of a dtype that is not complex; for others, an error that names the
// operator.
using short_row_sorter_fn = ShortRowSorter (*)(const char* op, ScalarType dtype);
OPLOOM_DECLARE_DISPATCH(short_row_sorter_fn, short_row_sorter_stub);

}  // namespace at::inline oploom_v1::native
