// Short rows, and planes of few rows, of which many are taken together.
#pragma once

#include <aten/iterator/DenseRows.h>
#include <aten/iterator/TensorIterator.h>
#include <c10/util/Export.h>

#include <cstdint>

namespace at::inline oploom_v1::detail {

// So much comes from farther than the second-level cache.
inline constexpr int64_t kFarBytes = 4 << 20;
// Fewer transposed rows than this are gathered one by one.
inline constexpr int64_t kFewRows = 8;

// Several rows become one, for which operands that are not dense in both dimensions have buffers.
// Parameters as in Note [Dense rows]; `largest` is the largest of `sizes`.
void for_each_short_row(char** data, const int64_t* strides, const int64_t* sizes, int outputs,
                        int operands, int64_t size0, int64_t size1, int64_t largest,
                        DenseRowLoop dense);

// Copies the elements of a matrix, `size` bytes each: to[r * to_outer + i * to_inner] =
// from[r * outer + i * inner], i < n, r < rows; strides count bytes.
void copy_matrix(char* to, int64_t to_inner, int64_t to_outer, const char* from, int64_t inner,
                 int64_t outer, int64_t size, int64_t n, int64_t rows);
// The same by way of a buffer, many rows at a time, where that takes fewer calls: where the
// elements of one operand all lie equally far apart, and the rows of the other are dense, or
// turned. False where they are not such rows, or too long; then nothing is copied.
OPLOOM_API bool copy_short_rows(char* to, int64_t to_inner, int64_t to_outer, const char* from,
                                int64_t inner, int64_t outer, int64_t size, int64_t n,
                                int64_t rows);

// Note [Short planes]
// The elements along the first dimensions of an iterator, two or more, are a plane here. Where
// these are few and lie in no operand as those of one row do, as in patches of pictures or small
// matrices of a batch, a call for each takes longer than all that it does. Many planes are taken
// together then, along the dimension behind them: pointwise loops get them as one dense row, for
// which what is not dense is gathered in buffers, the same row of each plane at a time; copies move
// the same row of each plane at a time.
// Pointwise loops get larger planes so, too, where no operand has to be gathered by many calls:
// where it has one row for a plane, one element for a row, or one plane for many.

enum class PlaneUse : uint8_t { Computed, Moved };
// How many dimensions short planes have where the iterator has many of them, along the next one; 0
// if it has none that are worth it. An element of operand k has sizes[k] bytes.
OPLOOM_API int short_plane_dims(const TensorIteratorBase& iter, const int64_t* sizes, PlaneUse use);

// Calls `dense` for all elements; `stream`: past the cache where outputs allow.
void for_each_short_plane(const TensorIteratorBase& iter, int dims, const int64_t* sizes,
                          bool stream, DenseRowLoop dense);

// Calls loop() for the rows of all planes: its second dimension is the one behind the planes.
OPLOOM_API void for_each_row_of_planes(const TensorIteratorBase& iter, int dims,
                                       TensorIteratorBase::loop2d_t loop);

}  // namespace at::inline oploom_v1::detail
