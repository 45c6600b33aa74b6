// What the generated bodies of expression operators call.
#pragma once

#include <aten/stubs/Expression.h>
#include <generated/ops/Tensor.h>

#include <initializer_list>

namespace at::inline oploom_v1 {

class TensorIteratorBase;

namespace native {

// How an expression's dtypes follow from its inputs'.
struct ExpressionTraits {
  enum class Promotion {
    Same,     // computed and returned in the common dtype
    ToFloat,  // the same, with integers made floats of the default dtype
    Truth,    // computed in the common dtype; the result is bool
  };
  Promotion promotion;
  bool integers;        // there are kernels for integers
  bool complex;         // and for complex numbers
  bool reduced = true;  // and for float16 and bfloat16, computed as float32
};

// The shape function: builds the iterator of a structured operator with one output. Throws
// TypeError for dtypes without a kernel.
OPLOOM_API void build_expression(TensorIteratorBase& iter, const TensorBase& out,
                                 std::initializer_list<const Tensor*> inputs,
                                 const ExpressionTraits& traits);

// The outputs of a gradient operator, tensors of the inputs' broadcast shape, written in one loop:
// new ones, but for an input that is spare. `kernel` is null for tensors without data.
OPLOOM_API void compute_expression(const char* name, const ExpressionKernel* kernel,
                                   std::initializer_list<Tensor*> outputs,
                                   std::initializer_list<const Tensor*> inputs,
                                   const Scalar* numbers, const ExpressionTraits& traits);

}  // namespace native
}  // namespace at::inline oploom_v1
