// The engine of argmax, argmin and of max and min along one dimension, which give indices too: as
// that of the other reductions (Reduction.h), it is compiled once.
#pragma once

#include <aten/stubs/Reduction.h>

namespace at::inline oploom_v1::native {

// What is sought, and among what. Kernels search numbers of 4 or 8 bytes that compare as the
// elements do.
struct IndexReduction {
  // Of a number.
  int64_t size;
  // Whether elements are such numbers already.
  bool direct;
  Fetches fetches;
  // Makes numbers of n elements, `stride` bytes apart; the last argument is not used.
  void (*load)(const char* in, int64_t stride, int64_t n, void* numbers, double);
  // Makes elements, `stride` bytes apart, of n numbers.
  void (*store)(const void* numbers, int64_t n, char* out, int64_t stride);
  // The place of the extreme, which becomes `extreme`, among the elements of a row, `stride` bytes
  // apart, from `begin` to `end`; if load is null, the row is of numbers without gaps.
  int64_t (*search)(const char* row, int64_t stride, int64_t begin, int64_t end,
                    decltype(load) load, Ahead ahead, void* extreme);
  // Goes on side by side, for n outputs, with `count` rows of numbers, `step` bytes apart: elements
  // `first` and following of each. Indices are integers as wide as numbers. There is room for a
  // vector behind the values and the indices.
  void (*advance)(const char* rows, int64_t step, int64_t count, int64_t first, int64_t n,
                  Ahead ahead, void* values, void* indices);
};

// For argmax_stub and argmin_stub; see ReduceOps.h.
void reduce_index(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                  int64_t dim, const IndexReduction& reduction);

}  // namespace at::inline oploom_v1::native
