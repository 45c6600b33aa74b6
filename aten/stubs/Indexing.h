// Kernels that read and write elements at computed places.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

// Note [Indices are checked before]
// Native code has looked at every index before it calls one of these kernels, so that a wrong one
// leaves the operands unchanged. The kernels check nothing, but that gather, which only reads what
// is named, stops at a wrong index: where its result is a new tensor, nobody needs to have looked
// at the indices, so that they are read from memory once.

// Whether all indices are in [lowest, size), where lowest is 0 or -size.
using in_bounds_fn = bool (*)(const int64_t* index, int64_t n, int64_t lowest, int64_t size);
OPLOOM_DECLARE_DISPATCH(in_bounds_fn, in_bounds_stub);

// How many of n bytes are not 0, and where they are: `places` has room for n.
using count_set_fn = int64_t (*)(const uint8_t* flags, int64_t n);
OPLOOM_DECLARE_DISPATCH(count_set_fn, count_set_stub);
using find_set_fn = int64_t (*)(const uint8_t* flags, int64_t n, int32_t* places);
OPLOOM_DECLARE_DISPATCH(find_set_fn, find_set_stub);

// How to make some of the elements of short rows those of other rows: run() writes `steps` vectors,
// `to_step` bytes apart, whose units are those of the vectors that lie `from_step` bytes apart
// which `order`, as wide as a unit each, names.
struct RowShuffle {
  int32_t bytes;  // in a vector; 0 if there is no such function
  int32_t unit;   // in bytes
  void (*run)(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t steps,
              const char* order);
};
// For elements of `size` bytes, a multiple of the unit.
using row_shuffle_fn = RowShuffle (*)(int64_t size);
OPLOOM_DECLARE_DISPATCH(row_shuffle_fn, row_shuffle_stub);

// Operands: output, self, index tensors (int64). self has stride 0 along the indexed dimensions;
// the indices, from 0 on, are added to its address, each multiplied by its stride. `sizes` and
// `strides` (bytes) are those of the indexed dimensions.
using index_fn = void (*)(TensorIteratorBase&, IntArrayRef sizes, IntArrayRef strides);
OPLOOM_DECLARE_DISPATCH(index_fn, index_stub);

// Operands: self as above but written to, values of its dtype, index tensors.
using index_put_fn = void (*)(TensorIteratorBase&, IntArrayRef sizes, IntArrayRef strides,
                              bool accumulate);
OPLOOM_DECLARE_DISPATCH(index_put_fn, index_put_stub);

// The tensors have one number (at least 1) of dimensions; index is int64 and may be expanded. For
// each place p of index, with p' the place whose coordinate dim is index[p]:
//   gather:       result[p] = self[p']; false at a wrong index, and some of result is left out
//   scatter:      self[p'] = src[p]
//   scatter_fill: self[p'] = value
//   scatter_add:  self[p'] += alpha * src[p], in the order of p
//   scatter_multiply: self[p'] *= src[p], in the order of p
using gather_fn = bool (*)(const TensorBase& result, const TensorBase& self, int64_t dim,
                           const TensorBase& index);
OPLOOM_DECLARE_DISPATCH(gather_fn, gather_stub);
using scatter_fn = void (*)(const TensorBase& self, int64_t dim, const TensorBase& index,
                            const TensorBase& src);
OPLOOM_DECLARE_DISPATCH(scatter_fn, scatter_stub);
OPLOOM_DECLARE_DISPATCH(scatter_fn, scatter_multiply_stub);
using scatter_fill_fn = void (*)(const TensorBase& self, int64_t dim, const TensorBase& index,
                                 const Scalar& value);
OPLOOM_DECLARE_DISPATCH(scatter_fill_fn, scatter_fill_stub);
using scatter_add_fn = void (*)(const TensorBase& self, int64_t dim, const TensorBase& index,
                                const TensorBase& src, const Scalar& alpha);
OPLOOM_DECLARE_DISPATCH(scatter_add_fn, scatter_add_stub);

}  // namespace at::inline oploom_v1::native
