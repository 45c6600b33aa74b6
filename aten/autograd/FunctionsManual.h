// Backward formulas that are too long for derivatives.yaml. `grad` is the gradient of the result;
// the functions return the gradient of the argument that they are named after. All are made of
// operators, so that they can be differentiated again; complex gradients are conjugate (the field's
// convention).
#pragma once

#include <aten/autograd/Node.h>
#include <aten/autograd/ShapeFormulas.h>
#include <aten/autograd/SpareTensors.h>
#include <aten/autograd/TensorGeometry.h>
#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>

namespace at::inline oploom_v1::autograd {

// ---- Tools ----

// Whether a tensor of `shape` can be expanded to `desired`.
OPLOOM_API bool is_expandable_to(IntArrayRef shape, IntArrayRef desired);
// The gradient of expanding a tensor of `shape`: sums over what was repeated.
OPLOOM_API Tensor sum_to(Tensor tensor, IntArrayRef shape);
// The gradient of a real input of a complex operation is the real part.
OPLOOM_API Tensor handle_r_to_c(ScalarType self_dtype, Tensor grad);
OPLOOM_API Tensor handle_r_to_c(const Tensor& self, Tensor grad);
OPLOOM_API Tensor maybe_multiply(Tensor grad, const Scalar& factor);
// For an argument whose derivative is missing; throws.
[[noreturn]] OPLOOM_API Tensor not_implemented(std::string_view what);
// Puts reduced dimensions back with size 1. No `dims` means all.
OPLOOM_API Tensor restore_reduced_dims(const Tensor& output, IntArrayRef dims, bool keepdim);
OPLOOM_API Tensor restore_reduced_dims(const Tensor& output, IntArrayRef dims, bool keepdim,
                                       int64_t ndim);

// ---- Matrix products ----

// a b as the gradient of a matrix with these strides: by columns, if they are. The gradient of a
// weight that linear() transposes is then laid out as the weight, and need not be copied.
OPLOOM_API Tensor mm_laid_out(const Tensor& a, const Tensor& b, IntArrayRef strides);
OPLOOM_API Tensor linear_input_backward(const Tensor& grad, const Tensor& weight);
OPLOOM_API Tensor linear_weight_backward(const Tensor& grad, const Tensor& input,
                                         IntArrayRef strides);
// Those of input, weight and bias, as far as the mask asks for them.
OPLOOM_API std::tuple<Tensor, Tensor, Tensor> linear_relu_backward(const Tensor& grad,
                                                                   const Tensor& result,
                                                                   const Tensor& input,
                                                                   const Tensor& weight,
                                                                   std::array<bool, 3> mask);

// ---- Pointwise ----

// A number as the argument of an operator on tensors; it takes no part in promotion.
OPLOOM_API Tensor number(double value);

OPLOOM_API Tensor mul_tensor_backward(Tensor grad, const Tensor& other, ScalarType self_dtype);
OPLOOM_API Tensor
div_tensor_self_backward(Tensor grad, const Tensor& other, ScalarType self_dtype,
                         const std::optional<std::string_view>& rounding_mode = std::nullopt);
OPLOOM_API Tensor
div_tensor_other_backward(Tensor grad, const Tensor& self, const Tensor& other,
                          const std::optional<std::string_view>& rounding_mode = std::nullopt);
OPLOOM_API Tensor pow_backward(Tensor grad, const Tensor& self, const Scalar& exponent);
OPLOOM_API Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent);
OPLOOM_API Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self,
                                        const Tensor& exponent, const Tensor& result);
OPLOOM_API Tensor pow_backward_exponent(const Tensor& grad, const Scalar& base,
                                        const Tensor& exponent, const Tensor& result);
OPLOOM_API Tensor abs_backward(const Tensor& grad, const Tensor& self);
OPLOOM_API Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& sgn);
OPLOOM_API Tensor gelu_double_backward(const Tensor& grad, const Tensor& grad_output,
                                       const Tensor& self, std::string_view approximate);
OPLOOM_API Tensor clamp_backward(const Tensor& grad, const Tensor& self,
                                 const std::optional<Scalar>& min,
                                 const std::optional<Scalar>& max);
OPLOOM_API Tensor clamp_backward(const Tensor& grad, const Tensor& self,
                                 const std::optional<Tensor>& min,
                                 const std::optional<Tensor>& max);
// The gradients of the bounds, min and max.
OPLOOM_API std::tuple<Tensor, Tensor> clamp_backward_min_max(const Tensor& grad, const Tensor& self,
                                                             const std::optional<Tensor>& min,
                                                             const std::optional<Tensor>& max,
                                                             const std::array<bool, 2>& mask);
// Of maximum and minimum: where both are equal, each gets half.
OPLOOM_API Tensor select_backward_half(const Tensor& grad, const Tensor& chosen,
                                       const Tensor& equal);
// Of sgn; 0 for real tensors.
OPLOOM_API Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
// The gradients of self of silu_backward and gelu_backward.
OPLOOM_API Tensor gelu_double_backward(const Tensor& grad, const Tensor& grad_output,
                                       const Tensor& self, std::string_view approximate);
OPLOOM_API Tensor masked_fill_backward(const Tensor& grad, const Tensor& mask);

// ---- Reductions ----

OPLOOM_API Tensor sum_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dims,
                               bool keepdim);
OPLOOM_API Tensor mean_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dims,
                                int64_t numel, bool keepdim);
OPLOOM_API Tensor prod_backward(const Tensor& grad, const Tensor& input, const Tensor& result);
OPLOOM_API Tensor prod_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                                int64_t dim, bool keepdim);
// Of max() and min(): the gradient is shared by all elements that equal the result.
OPLOOM_API Tensor evenly_distribute_backward(const Tensor& grad, const Tensor& input,
                                             const Tensor& value);
OPLOOM_API Tensor scale_grad_by_count(const Tensor& grad, const Tensor& mask, IntArrayRef dims);
OPLOOM_API Tensor var_backward(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dims,
                               const std::optional<Scalar>& correction, bool keepdim);
OPLOOM_API Tensor std_backward(const Tensor& result, const Tensor& grad, const Tensor& self,
                               OptionalIntArrayRef dims, const std::optional<Scalar>& correction,
                               bool keepdim);
OPLOOM_API Tensor norm_backward(const Tensor& grad, const Tensor& self,
                                const std::optional<Scalar>& p, const Tensor& norm);
OPLOOM_API Tensor norm_backward(const Tensor& grad, const Tensor& self,
                                const std::optional<Scalar>& p, const Tensor& norm,
                                IntArrayRef dims, bool keepdim);
OPLOOM_API Tensor logsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result,
                                     IntArrayRef dims, bool keepdim);
OPLOOM_API Tensor cumsum_backward(const Tensor& grad, int64_t dim);

// ---- Neural networks ----

OPLOOM_API Tensor softmax_double_backward(const Tensor& grad, const Tensor& grad_output,
                                          int64_t dim, const Tensor& output);
// The derivative of cross_entropy_loss(self, ...) in the direction of `tangent`.
OPLOOM_API Tensor cross_entropy_tangent(const Tensor& tangent, const Tensor& self,
                                        const Tensor& target, const std::optional<Tensor>& weight,
                                        int64_t reduction, int64_t ignore_index,
                                        double label_smoothing);
// The gradient of self where `grad` is that of cross_entropy_loss's own gradient.
OPLOOM_API Tensor cross_entropy_double_backward(const Tensor& grad, const Tensor& grad_output,
                                                const Tensor& self, const Tensor& target,
                                                const std::optional<Tensor>& weight,
                                                int64_t reduction, int64_t ignore_index,
                                                const Tensor& total_weight);
OPLOOM_API Tensor embedding_dense_double_backward(const Tensor& grad, const Tensor& indices,
                                                  int64_t padding_idx, bool scale_grad_by_freq);
// The gradients of grad_out, input and weight of layer_norm's backward. `grad_grad_*` belong to its
// three results.
OPLOOM_API std::tuple<Tensor, Tensor, Tensor> layer_norm_double_backward(
    const Tensor& input, const std::optional<Tensor>& weight, const Tensor& grad_grad_input,
    const Tensor& grad_grad_weight, const Tensor& grad_grad_bias, const Tensor& grad_out,
    const Tensor& mean, const Tensor& rstd, IntArrayRef normalized_shape,
    const std::array<bool, 3>& mask);

}  // namespace at::inline oploom_v1::autograd
