// Kernels that copy and convert elements.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

// Operands: destination, source, of any two dtypes and strides, sizes broadcast to the destination.
// Build the iterator with
//   TensorIteratorConfig().add_output(dst).add_const_input(src).resize_outputs(false)
//       .check_all_same_dtype(false).check_all_same_device(false).build()
// A conversion behaves like static_cast; complex to real keeps the real part.
using copy_fn = void (*)(TensorIteratorBase&, bool non_blocking);
OPLOOM_DECLARE_DISPATCH(copy_fn, copy_stub);

// The loop that converts n elements from one dtype to another, strides in bytes.
using cast_loop_getter_fn = at::detail::CastLoop (*)(ScalarType to, ScalarType from);
OPLOOM_DECLARE_DISPATCH(cast_loop_getter_fn, cast_loop_stub);

// The one that moves elements of a size.
using move_loop_getter_fn = at::detail::CastLoop (*)(int64_t element_size);
OPLOOM_DECLARE_DISPATCH(move_loop_getter_fn, move_loop_stub);

// The loops that transpose, write past the cache or as memmove() does, and repeat; see
// aten/iterator/Cast.h.
using transpose_loop_getter_fn = at::detail::TransposeLoop (*)(int64_t element_size);
OPLOOM_DECLARE_DISPATCH(transpose_loop_getter_fn, transpose_loop_stub);
OPLOOM_DECLARE_DISPATCH(at::detail::BytesLoop, stream_row_stub);
OPLOOM_DECLARE_DISPATCH(at::detail::BytesLoop, copy_row_stub);
OPLOOM_DECLARE_DISPATCH(at::detail::RepeatLoop, repeat_stub);

// copy_rows() and copy_named_rows(), and the same where the rows that are written to are named.
using copy_rows_fn = void (*)(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                              size_t bytes, int64_t rows);
using copy_named_rows_fn = bool (*)(char* to, int64_t to_stride, const char* from,
                                    int64_t from_stride, size_t bytes,
                                    const at::detail::RowNames& names);
using copy_to_named_rows_fn = void (*)(char* to, int64_t to_stride, const char* from,
                                       int64_t from_stride, size_t bytes,
                                       const at::detail::RowNames& names);
OPLOOM_DECLARE_DISPATCH(copy_rows_fn, copy_rows_stub);
OPLOOM_DECLARE_DISPATCH(copy_named_rows_fn, copy_named_rows_stub);
OPLOOM_DECLARE_DISPATCH(copy_to_named_rows_fn, copy_to_named_rows_stub);

}  // namespace at::inline oploom_v1::native
