// gradcheck and gradgradcheck: compare recorded derivatives with finite differences.
#pragma once

#include <aten/autograd/Node.h>

#include <functional>
#include <vector>

namespace at::inline oploom_v1::autograd {

using GradCheckFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

struct GradCheckOptions {
  double eps = 1e-6;
  double atol = 1e-5;
  double rtol = 1e-3;
};

// Compares, for every input that requires grad (float64 or complex128), every element of the
// Jacobian of `function` with the central difference of step `eps`. `function` must be a function
// of its inputs alone. Returns true; throws an Error that names the first element that differs.
OPLOOM_API bool gradcheck(const GradCheckFunction& function, const std::vector<Tensor>& inputs,
                          const GradCheckOptions& options = {});
// The same for the gradients of `function`, as functions of the inputs and of the incoming
// gradients.
OPLOOM_API bool gradgradcheck(const GradCheckFunction& function, const std::vector<Tensor>& inputs,
                              const GradCheckOptions& options = {});

}  // namespace at::inline oploom_v1::autograd
