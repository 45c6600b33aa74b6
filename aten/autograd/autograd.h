// The interface of automatic differentiation for programs: gradients of outputs with respect to
// inputs.
#pragma once

#include <aten/autograd/Node.h>
#include <c10/core/GradMode.h>

#include <optional>
#include <vector>

namespace at::inline oploom_v1::autograd {

// Sums the gradients of `outputs` with respect to the leaves of their graph into the leaves'
// grad(). `grad_outputs` are the gradients of the outputs themselves; it may be empty, and an
// undefined gradient stands for 1 where the output has one element. `retain_graph` keeps what was
// saved for another pass and is `create_graph` unless given; `create_graph` records the pass
// itself. With `inputs` only these tensors get a gradient.
OPLOOM_API void backward(TensorList outputs, TensorList grad_outputs = {},
                         std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                         TensorList inputs = {});

// The gradients of `outputs` with respect to `inputs`, without touching any grad(). Throws when an
// input was not used, unless `allow_unused`: its gradient is then undefined.
OPLOOM_API std::vector<Tensor> grad(TensorList outputs, TensorList inputs,
                                    TensorList grad_outputs = {},
                                    std::optional<bool> retain_graph = std::nullopt,
                                    bool create_graph = false, bool allow_unused = false);

}  // namespace at::inline oploom_v1::autograd
