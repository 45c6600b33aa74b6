// The operators of ONNX that oploom can compute.
#pragma once

#include "Model.h"

namespace onnx_test {

// The tensors of a node; an absent optional input is undefined.
using Tensors = std::vector<at::Tensor>;

bool is_known(const std::string& op_type);

// Computes the outputs of a node. Throws Unsupported for a form of the operator that is not
// covered.
Tensors compute(const Node& node, const Tensors& inputs, int64_t opset);

}  // namespace onnx_test
