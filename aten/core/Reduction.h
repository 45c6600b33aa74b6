// What a loss does with the losses of single elements.
#pragma once

#include <aten/core/Namespace.h>

namespace at::inline oploom_v1::Reduction {

// The values of the operators' `reduction` argument.
enum Reduction { None = 0, Mean = 1, Sum = 2, END };

}  // namespace at::inline oploom_v1::Reduction
