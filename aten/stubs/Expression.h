// Kernels of expression operators: loops over dense rows, by dtype.
#pragma once

#include <aten/core/Namespace.h>
#include <aten/iterator/DenseRows.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

#include <array>
#include <cstdint>

// Note [Kernels of expressions]
// What is generated from `expr:` is one loop for each dtype that is computed in, over dense rows of
// operands of that dtype (or of bool, where the result is a truth value). All else, strides and
// threads, is done by run_expression, which is compiled once for all operators. So is the
// conversion of 16-bit floats, but for short expressions, whose loops convert in registers. A
// kernel for another device brings its own `run`.

namespace at::inline oploom_v1 {

class TensorIteratorBase;

namespace native {

// A loop over rows of n elements of each operand, outputs first, or of one that is repeated (see
// Note [Dense rows]); `numbers` are the operator's numbers in the order of its schema.
using expression_rows_fn = void (*)(char* const* data, const int64_t* steps, int64_t n,
                                    int64_t rows, uint32_t repeated, const Scalar* numbers);

struct ExpressionKernel {
  void (*run)(TensorIteratorBase& iter, const ExpressionKernel& kernel, const Scalar* numbers);
  // By dtype; null where there is none. Half and BFloat16, computed as float, need none, nor do
  // integers where the result is false of all.
  std::array<expression_rows_fn, c10::kNumScalarTypes> rows{};
  std::array<at::detail::Repeats, c10::kNumScalarTypes> repeats{};  // of those loops
  bool waits = false;  // the loops compute so little that they wait for memory

  constexpr void add(ScalarType dtype, expression_rows_fn loop, at::detail::Repeats reads) {
    rows[static_cast<size_t>(dtype)] = loop;
    repeats[static_cast<size_t>(dtype)] = reads;
  }
};

using expression_kernel = const ExpressionKernel*;

// Runs the kernel over operands on the CPU; op_name() of the iterator is the operator's name.
OPLOOM_API void run_expression(TensorIteratorBase& iter, const ExpressionKernel& kernel,
                               const Scalar* numbers);

}  // namespace native
}  // namespace at::inline oploom_v1
