// Forward formulas that are too long for derivatives.yaml. All are made of operators, so that
// tangents can be differentiated; NAME_t is the tangent of NAME.
#pragma once

#include <aten/autograd/Node.h>
#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <optional>
#include <string_view>

namespace at::inline oploom_v1::autograd {

// Of a reduction: the sum along `dims`, all without any, of what each element adds. `gradient` is
// that of the result by itself, shaped like the input.
OPLOOM_API Tensor along(const Tensor& gradient, const Tensor& self_t, const Tensor& result);
OPLOOM_API Tensor along(const Tensor& gradient, const Tensor& self_t, const Tensor& result,
                        OptionalIntArrayRef dims, bool keepdim);

// The elements of a tangent that max, min, sort and topk have chosen.
OPLOOM_API Tensor chosen(const Tensor& self_t, int64_t dim, const Tensor& indices, bool keepdim);

// 0 for a quotient that is rounded, which is flat.
OPLOOM_API Tensor unless_rounded(const Tensor& tangent,
                                 const std::optional<std::string_view>& rounding_mode);

OPLOOM_API Tensor cumprod_tangent(const Tensor& self_t, const Tensor& self, int64_t dim,
                                  const Tensor& result);

// The view of the tangent, which need not begin where `self` begins in its memory.
OPLOOM_API Tensor as_strided_tangent(const Tensor& self_t, const Tensor& self, IntArrayRef size,
                                     IntArrayRef stride, std::optional<int64_t> storage_offset);

// Of layer_norm without weight and bias.
OPLOOM_API Tensor layer_norm_tangent(const Tensor& input_t, const Tensor& input, const Tensor& mean,
                                     const Tensor& rstd, IntArrayRef normalized_shape);
OPLOOM_API Tensor times_weight(const Tensor& tensor, const std::optional<Tensor>& weight);
// Of the gradients of layer_norm's input and of its weight.
OPLOOM_API Tensor layer_norm_backward_input_tangent(const Tensor& grad_out_t, const Tensor& input_t,
                                                    const Tensor& weight_t, const Tensor& grad_out,
                                                    const Tensor& input, const Tensor& mean,
                                                    const Tensor& rstd,
                                                    const std::optional<Tensor>& weight,
                                                    IntArrayRef normalized_shape);
OPLOOM_API Tensor layer_norm_backward_weight_tangent(const Tensor& grad_out_t,
                                                     const Tensor& input_t, const Tensor& grad_out,
                                                     const Tensor& input, const Tensor& mean,
                                                     const Tensor& rstd,
                                                     IntArrayRef normalized_shape);

}  // namespace at::inline oploom_v1::autograd
