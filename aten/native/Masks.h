// Writing where a mask holds.
#pragma once

#include <generated/ops/Tensor.h>

namespace at::inline oploom_v1::native {

// Gives the elements of self, which is contiguous, where a mask (bool) of its shape holds these
// values (1-d, of self's dtype), in order; throws if there are not as many, before any is written.
void put_where(const Tensor& self, const Tensor& mask, const Tensor& values);

}  // namespace at::inline oploom_v1::native
