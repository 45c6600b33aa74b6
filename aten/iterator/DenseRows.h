// for_each_dense_row: presents rows of any strides to a loop over dense ones.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/Export.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/Macros.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace at::inline oploom_v1 {
class TensorIteratorBase;
}

namespace at::inline oploom_v1::detail {

// Note [Dense rows]
// A pointwise kernel has one loop, over dense rows. Rows that are not dense are taken in pieces: an
// element that stands for a whole row is repeated in a buffer, strided inputs are gathered into
// one, and a strided output is scattered from one. Where an operand is transposed with regard to
// the others, a block of rows is transposed together, so that each cache line is fetched once. An
// output that the cache cannot hold is computed in small pieces, which are copied past the cache.
// Rows of another dtype than the kernel's are converted when they are dense.
// Loops that go by vectors read a vector again and again where an element stands for a whole row:
// they get kRepeatedBytes of it (Cast.h), and bit k of `repeated` is set for operand k; or they
// read that element alone, once for a row. Some take many rows as one; see Note [Joined rows]. All
// this is compiled once, and not for each operator, dtype and instruction set.
//
// `data` points to the first elements of `operands` operands, `outputs` outputs first; `strides`
// holds their inner and then their outer strides (bytes), as in TensorIteratorBase::loop2d_t;
// `sizes` the bytes of one element of each; `stream` says that the output is one for which
// kStreamedBytes in Cast.h holds. `dense` gets pointers to the first of `rows` rows, one or more,
// of n dense elements each, and how many bytes of each operand lie from one row to the next, which
// need not be there for a single row.
inline constexpr int kMaxOperands = 16;  // outputs and inputs

// Note [Joined rows]
// Short rows that follow one another, beside an element for each, are as good as one long row if
// that element need not be written out for it, which stores as much as the output takes. Each such
// element is repeated for kJoinedBytes, those of the next rows behind it: what a vector needs that
// ends in the next row begins among the bytes of the one and ends among those of the other. A loop
// whose vectors are as long gets one row then, whose n elements fill whole vectors and are those of
// rows of joined_length(repeated) elements, which fill a vector, too. 0: rows are not joined. Only
// for a loop that computes little for an element; for a longer one the stores do not matter.
inline constexpr int64_t kJoinedBytes = 64;
inline constexpr int kJoinedShift = kMaxOperands;
constexpr int64_t joined_length(uint32_t repeated) { return repeated >> kJoinedShift; }

// What a loop does with `repeated`: nothing, or it reads vectors of elements that are repeated, or
// reads the element alone, which nobody has to repeat then; and it may join rows.
enum class Repeats : uint8_t { No = 0, Rows = 1, Numbers = 2, JoinsRows = 4 };
constexpr Repeats operator|(Repeats a, Repeats b) {
  return static_cast<Repeats>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}
constexpr bool has(Repeats repeats, Repeats what) {
  return (static_cast<uint8_t>(repeats) & static_cast<uint8_t>(what)) != 0;
}

// Whether rows of n elements of a transposed operand are long enough for a buffer of hundreds of
// them to be worth it where memory is far away (measured).
constexpr bool are_long_rows(int64_t n, int64_t element_size) {
  return n >= 64 && n * element_size > 128;
}

using DenseRowLoop = c10::function_ref<void(char* const* data, const int64_t* steps, int64_t n,
                                            int64_t rows, uint32_t repeated)>;

// One that takes a row at a time: short rows are better joined for it.
using SingleRowLoop = c10::function_ref<void(char* const* data, int64_t n, uint32_t repeated)>;

// The loop that calls row(data, n, repeated) for each of its rows, of so many operands, and where
// it is given joined(data, n, repeated, length) for those that are joined.
template <int kOperands, typename Row, typename Joined = std::nullptr_t>
auto row_by_row(const Row& row, const Joined& joined = {}) {
  return [row, joined](char* const* data, const int64_t* steps, int64_t n, int64_t rows,
                       uint32_t repeated) {
    if constexpr (!std::is_null_pointer_v<Joined>) {
      if (const int64_t length = joined_length(repeated); length != 0) [[unlikely]]
        return joined(data, n, repeated, length);
    }
    char* at[kOperands];
    for (int k = 0; k < kOperands; ++k) at[k] = data[k];
    for (;;) {
      row(at, n, repeated);
      if (--rows <= 0) return;
      for (int k = 0; k < kOperands; ++k) at[k] += steps[k];
    }
  };
}
OPLOOM_API void for_each_dense_row(char** data, const int64_t* strides, const int64_t* sizes,
                                   int outputs, int operands, int64_t size0, int64_t size1,
                                   bool stream, DenseRowLoop dense, Repeats repeats = Repeats::No);
OPLOOM_API void for_each_dense_row(char** data, const int64_t* strides, const int64_t* sizes,
                                   int outputs, int operands, int64_t size0, int64_t size1,
                                   bool stream, SingleRowLoop dense, Repeats repeats = Repeats::No);

// Elements that each thread is to have of work that waits for memory. GRAIN_SIZE bytes are computed
// with in no time: what the next operator gets from the other core's cache takes longer. Masks
// alone are mostly made of what is shared out by GRAIN_SIZE.
OPLOOM_API int64_t waiting_grain(const TensorIteratorBase& iter);

// For all elements of an iterator with one output or more, on several threads if there are many.
// `operands`: how many the loop expects; `waits`: it computes so little that it waits for memory.
OPLOOM_API void for_each_dense_row(TensorIteratorBase& iter, int operands, DenseRowLoop dense,
                                   Repeats repeats = Repeats::No, bool waits = false);
OPLOOM_API void for_each_dense_row(TensorIteratorBase& iter, int operands, SingleRowLoop dense,
                                   Repeats repeats = Repeats::No, bool waits = false);

}  // namespace at::inline oploom_v1::detail
