// layer_norm and its gradient.
#include <aten/core/Empty.h>
#include <aten/native/ShapeUtils.h>
#include <aten/native/StructuredOutputs.h>
#include <aten/stubs/LayerNorm.h>
#include <generated/native/layer_norm.h>
#include <generated/native/native_layer_norm.h>
#include <generated/native/native_layer_norm_backward.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/native_layer_norm.h>
#include <generated/ops/zero.h>

#include <array>
#include <tuple>

namespace at::inline oploom_v1::native {

namespace {

// See Note [Shapes of layer normalisation].
struct Rows {
  int64_t m = 1;
  int64_t n = 1;
  // The dimensions before those that are normalised over.
  int64_t outer = 0;
};

Rows check_layer_norm(const char* op, const Tensor& input, IntArrayRef normalized_shape,
                      const std::optional<Tensor>& weight, const std::optional<Tensor>& bias) {
  const auto normalized = static_cast<int64_t>(normalized_shape.size());
  OPLOOM_CHECK(normalized >= 1, op,
               "(): expected normalized_shape to have at least one dimension, got ",
               normalized_shape);
  Rows rows;
  rows.outer = input.dim() - normalized;
  OPLOOM_CHECK(rows.outer >= 0 && input.sizes().slice(rows.outer) == normalized_shape, op,
               "(): expected input to end in normalized_shape ", normalized_shape,
               ", got input of shape ", input.sizes());
  const auto check = [&](const char* name, const std::optional<Tensor>& t) {
    if (!is_given(t)) return;
    OPLOOM_CHECK(t->sizes() == normalized_shape, op, "(): expected ", name,
                 " of shape normalized_shape ", normalized_shape, ", got ", t->sizes());
    OPLOOM_CHECK(t->scalar_type() == input.scalar_type(), op, "(): expected ", name,
                 " of the input's dtype ", input.scalar_type(), ", got ", t->scalar_type());
  };
  check("weight", weight);
  check("bias", bias);
  OPLOOM_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), op,
                               "(): expected input of a floating-point dtype, got ",
                               input.scalar_type());
  for (int64_t d = 0; d < rows.outer; ++d) rows.m *= input.sizes()[d];
  for (int64_t size : normalized_shape) rows.n *= size;
  return rows;
}

// The shape of mean and rstd, which keep the normalised dimensions with size 1.
DimVector statistics_shape(const Tensor& input, int64_t outer) {
  DimVector shape(input.sizes());
  for (int64_t d = outer; d < input.dim(); ++d) shape[d] = 1;
  return shape;
}

Tensor contiguous_or_undefined(const std::optional<Tensor>& t) {
  return is_given(t) ? t->contiguous() : Tensor();
}

}  // namespace

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                  const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                  double eps, bool /*cudnn_enable*/) {
  return std::get<0>(at::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(const Tensor& grad_out, const Tensor& input,
                                                       IntArrayRef normalized_shape,
                                                       const Tensor& mean, const Tensor& rstd,
                                                       const std::optional<Tensor>& weight,
                                                       const std::optional<Tensor>& bias,
                                                       std::array<bool, 3> output_mask) {
  check_one_device("native_layer_norm_backward", grad_out, input, mean, rstd, weight, bias);
  const Rows rows =
      check_layer_norm("native_layer_norm_backward", input, normalized_shape, weight, bias);
  OPLOOM_CHECK(grad_out.sizes() == input.sizes() && grad_out.scalar_type() == input.scalar_type(),
               "native_layer_norm_backward(): expected grad_out of the input's shape ",
               input.sizes(), " and dtype, got ", grad_out.sizes(), " ", grad_out.scalar_type());
  OPLOOM_CHECK(mean.numel() == rows.m && rstd.numel() == rows.m,
               "native_layer_norm_backward(): expected mean and rstd of ", rows.m,
               " elements, one for each row, got shapes ", mean.sizes(), " and ", rstd.sizes());
  const auto make = [&](bool wanted, IntArrayRef shape) {
    return wanted ? Tensor(at::detail::empty(shape, input.options())) : Tensor();
  };
  Tensor grad_input = make(output_mask[0], input.sizes());
  Tensor grad_weight = make(output_mask[1], normalized_shape);
  Tensor grad_bias = make(output_mask[2], normalized_shape);
  if (input.is_meta()) return {grad_input, grad_weight, grad_bias};
  if (rows.m == 0 || rows.n == 0) {
    if (grad_weight.defined()) grad_weight.zero_();
    if (grad_bias.defined()) grad_bias.zero_();
    return {grad_input, grad_weight, grad_bias};
  }
  layer_norm_backward_stub(input.device().type(), grad_input, grad_weight, grad_bias,
                           grad_out.contiguous(), input.contiguous(), mean.contiguous(),
                           rstd.contiguous(), contiguous_or_undefined(weight), rows.m, rows.n);
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(native_layer_norm)
(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
 const std::optional<Tensor>& bias, double) {
  const native::Rows rows =
      native::check_layer_norm("layer_norm", input, normalized_shape, weight, bias);
  const DimVector shape = native::statistics_shape(input, rows.outer);
  set_output_contiguous(0, input.sizes(), input.options());
  set_output_contiguous(1, shape, input.options());
  set_output_contiguous(2, shape, input.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(layer_norm_out)
(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
 const std::optional<Tensor>& bias, double eps, const Tensor& out0, const Tensor& out1,
 const Tensor& out2) {
  const Rows rows = check_layer_norm("layer_norm", input, normalized_shape, weight, bias);
  if (rows.m == 0) return;
  if (rows.n == 0) {
    // Rows without elements have no mean.
    Tensor(out1).zero_();
    Tensor(out2).zero_();
    return;
  }
  layer_norm_stub(input.device().type(), out0, out1, out2, input.contiguous(),
                  contiguous_or_undefined(weight), contiguous_or_undefined(bias), rows.m, rows.n,
                  eps);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/LayerNorm.h>
