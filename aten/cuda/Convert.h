// Moving elements from one strided tensor to another on a GPU, with conversion between dtypes.
#pragma once

#include <aten/cuda/Elementwise.h>

namespace at::inline oploom_v1::cuda {

// Operand 0 is written, operand 1 is read; either may have any strides. Conversions are those of
// copy_(): static_cast, complex to real keeps the real part.
void convert_elements(const ElementwiseProblem& problem, ScalarType to, ScalarType from);

// One element on the CPU, for numbers that are given to kernels by value.
Element convert_number(const void* number, ScalarType to, ScalarType from);

}  // namespace at::inline oploom_v1::cuda
