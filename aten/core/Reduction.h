// Reduction: what a loss does with the losses of the elements. Schemas pass it as an integer.
#pragma once

#include <aten/core/Namespace.h>

namespace at::inline oploom_v1::Reduction {

enum Reduction {
  None,  // keep them
  Mean,
  Sum,
  END
};

}  // namespace at::inline oploom_v1::Reduction
