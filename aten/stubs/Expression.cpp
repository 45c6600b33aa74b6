// Brings the operands of an expression operator to its loops: strides, threads, 16-bit floats.
#include <aten/iterator/Cast.h>
#include <aten/iterator/DenseRows.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/Expression.h>

#include <algorithm>

namespace at::inline oploom_v1::native {

namespace {

using at::detail::kMaxOperands;
// Elements of one operand that are converted at a time: all operands fit into the first-level
// cache.
constexpr int64_t kPiece = 512;

// Rows of 16-bit floats, by way of float.
class ReducedRows {
 public:
  ReducedRows(const TensorIteratorBase& iter, ScalarType dtype)
      : outputs_(iter.noutputs()),
        operands_(iter.ntensors()),
        size_(static_cast<int64_t>(c10::elementSize(dtype))),
        load_(at::detail::get_cast_loop(ScalarType::Float, dtype)),
        store_(at::detail::get_cast_loop(dtype, ScalarType::Float)) {
    for (int k = 0; k < outputs_; ++k) converted_[k] = iter.dtype(k) == dtype;
  }

  void operator()(expression_rows_fn loop, char* const* data, int64_t n, uint32_t repeated,
                  const Scalar* numbers) const {
    alignas(64) float buffers[kMaxOperands][kPiece];
    char* pieces[kMaxOperands];
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t count = std::min(kPiece, n - i);
      for (int k = 0; k < operands_; ++k) {
        // A truth value is stored as it is.
        const bool as_is = k < outputs_ && !converted_[k];
        pieces[k] = as_is ? data[k] + i : reinterpret_cast<char*>(buffers[k]);
        if (k < outputs_) continue;
        if (repeated >> k & 1) {
          constexpr int64_t kElements = at::detail::kRepeatedBytes / sizeof(float);
          if (i == 0) load_(pieces[k], sizeof(float), data[k], size_, kElements);
        } else {
          load_(pieces[k], sizeof(float), data[k] + i * size_, size_, count);
        }
      }
      loop(pieces, /*steps=*/nullptr, count, /*rows=*/1, repeated, numbers);
      for (int k = 0; k < outputs_; ++k) {
        if (!converted_[k]) continue;
        const char* piece = reinterpret_cast<const char*>(buffers[k]);
        store_(data[k] + i * size_, size_, piece, sizeof(float), count);
      }
    }
  }

 private:
  int outputs_, operands_;
  int64_t size_;
  at::detail::CastLoop load_, store_;
  bool converted_[kMaxOperands] = {};
};

// A condition that no integer meets.
void fill_false(TensorIteratorBase& iter) {
  const at::detail::CastLoop move = at::detail::get_move_loop(sizeof(bool));
  const int operands = iter.ntensors();
  iter.for_each([&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    const char no = 0;
    for (int64_t j = 0; j < size1; ++j) {
      move(data[0] + j * strides[operands], strides[0], &no, 0, size0);
    }
  });
}

}  // namespace

void run_expression(TensorIteratorBase& iter, const ExpressionKernel& kernel,
                    const Scalar* numbers) {
  const ScalarType dtype = iter.common_dtype();
  const bool none = kernel.rows[static_cast<size_t>(dtype)] == nullptr;
  if (none && iter.dtype(0) == ScalarType::Bool &&
      c10::isIntegralType(dtype, /*includeBool=*/true)) {
    return fill_false(iter);
  }
  const bool by_rows = none && c10::isReducedFloatingType(dtype);
  const ScalarType computed = by_rows ? ScalarType::Float : dtype;
  const auto loop = kernel.rows[static_cast<size_t>(computed)];
  const at::detail::Repeats repeats = kernel.repeats[static_cast<size_t>(computed)];
  const int operands = iter.ntensors();
  OPLOOM_INTERNAL_ASSERT(loop != nullptr && operands <= kMaxOperands, iter.op_name(),
                         "(): no kernel for ", dtype);
  if (by_rows) {
    const ReducedRows convert(iter, dtype);
    const auto run = [&](char* const* row, int64_t n, uint32_t repeated) {
      convert(loop, row, n, repeated, numbers);
    };
    using at::detail::Repeats;
    at::detail::for_each_dense_row(iter, operands, run,
                                   repeats == Repeats::No ? Repeats::No : Repeats::Rows);
  } else {
    const auto run = [&](char* const* data, const int64_t* steps, int64_t n, int64_t rows,
                         uint32_t repeated) { loop(data, steps, n, rows, repeated, numbers); };
    at::detail::for_each_dense_row(iter, operands, run, repeats, kernel.waits);
  }
}

}  // namespace at::inline oploom_v1::native
