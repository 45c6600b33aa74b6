// Backward formulas: tools and pointwise operators.
#include <aten/autograd/FunctionsManual.h>
#include <aten/core/WrappedNumber.h>
#include <c10/util/complex_math.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/abs.h>
#include <generated/ops/conj.h>
#include <generated/ops/detach.h>
#include <generated/ops/empty.h>
#include <generated/ops/exp.h>
#include <generated/ops/full_like.h>
#include <generated/ops/imag.h>
#include <generated/ops/log.h>
#include <generated/ops/logical_and.h>
#include <generated/ops/logical_or.h>
#include <generated/ops/matmul.h>
#include <generated/ops/max.h>
#include <generated/ops/min.h>
#include <generated/ops/mm.h>
#include <generated/ops/mv.h>
#include <generated/ops/pow.h>
#include <generated/ops/real.h>
#include <generated/ops/relu_backward.h>
#include <generated/ops/reshape.h>
#include <generated/ops/sgn.h>
#include <generated/ops/sqrt.h>
#include <generated/ops/square.h>
#include <generated/ops/sum.h>
#include <generated/ops/t.h>
#include <generated/ops/tanh.h>
#include <generated/ops/to.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/where.h>
#include <generated/ops/zero.h>
#include <generated/ops/zeros.h>
#include <generated/ops/zeros_like.h>

#include <cmath>

namespace at::inline oploom_v1::autograd {

// ---- Tools ----

bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) return false;
  const size_t offset = desired.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != desired[offset + i] && shape[i] != 1) return false;
  }
  return true;
}

Tensor sum_to(Tensor tensor, IntArrayRef shape) {
  const IntArrayRef sizes = tensor.sizes();
  if (sizes.equals(shape)) return tensor;
  if (shape.empty() && tensor.numel() != 1) return tensor.sum();
  const size_t leading = sizes.size() - shape.size();
  DimVector reduced;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // Of one term, as that of the bias of a batch of one, there is nothing to sum.
    const bool repeated = i < leading || shape[i - leading] == 1;
    if (repeated && sizes[i] != 1) reduced.push_back(static_cast<int64_t>(i));
  }
  if (!reduced.empty()) tensor = tensor.sum(IntArrayRef(reduced), /*keepdim=*/true);
  return leading > 0 ? tensor.reshape(shape) : tensor;
}

Tensor handle_r_to_c(ScalarType self_dtype, Tensor grad) {
  if (grad.is_complex() && !c10::isComplexType(self_dtype)) return at::real(grad);
  return grad;
}

Tensor handle_r_to_c(const Tensor& self, Tensor grad) {
  return handle_r_to_c(self.scalar_type(), std::move(grad));
}

Tensor maybe_multiply(Tensor grad, const Scalar& factor) {
  const bool is_one = factor.isComplex() ? factor.toComplexDouble() == c10::complex<double>(1, 0)
                                         : factor.toDouble() == 1;
  return is_one ? grad : std::move(grad) * factor;
}

Tensor mm_laid_out(const Tensor& a, const Tensor& b, IntArrayRef strides) {
  const bool by_columns = strides[0] == 1 && strides[1] > 1;
  return by_columns ? b.t().mm(a.t()).t() : a.mm(b);
}

Tensor linear_input_backward(const Tensor& grad, const Tensor& weight) {
  if (weight.dim() == 1) return grad.unsqueeze(-1) * weight.conj();
  return grad.dim() == 2 ? grad.mm(weight.conj()) : grad.matmul(weight.conj());
}

Tensor linear_weight_backward(const Tensor& grad, const Tensor& input, IntArrayRef strides) {
  const auto rows = [&](const Tensor& t, int64_t columns) {
    int64_t count = 1;
    for (int64_t size : input.sizes().slice(0, input.dim() - 1)) count *= size;
    return t.dim() == 2 ? t : t.reshape({count, columns});
  };
  const Tensor factor = rows(input, input.sizes().back()).conj();
  if (strides.size() == 1) return factor.t().mv(grad.reshape({grad.numel()}));
  return mm_laid_out(rows(grad, grad.sizes().back()).t(), factor, strides);
}

std::tuple<Tensor, Tensor, Tensor> linear_relu_backward(const Tensor& grad, const Tensor& result,
                                                        const Tensor& input, const Tensor& weight,
                                                        std::array<bool, 3> mask) {
  Tensor kept = at::relu_backward(SpareGradient(grad), result);
  std::tuple<Tensor, Tensor, Tensor> gradients;
  if (mask[0]) std::get<0>(gradients) = linear_input_backward(kept, weight);
  if (mask[1]) std::get<1>(gradients) = linear_weight_backward(kept, input, weight.strides());
  if (mask[2]) std::get<2>(gradients) = std::move(kept);
  return gradients;
}

Tensor not_implemented(std::string_view what) {
  c10::detail::throw_not_implemented_error(
      c10::str("backward(): ", what,
               " has no derivative; detach() its result, or add a formula to "
               "derivatives.yaml"));
}

Tensor restore_reduced_dims(const Tensor& output, IntArrayRef dims, bool keepdim, int64_t ndim) {
  if (keepdim || ndim == 0) return output;
  DimVector shape(static_cast<size_t>(ndim), dims.empty() ? 1 : 0);
  if (!dims.empty()) {
    for (int64_t dim : dims) shape[c10::maybe_wrap_dim(dim, ndim)] = 1;
    size_t next = 0;
    for (int64_t& size : shape) {
      if (size == 0) size = output.sizes()[next++];
    }
  }
  return output.reshape(shape);
}

Tensor restore_reduced_dims(const Tensor& output, IntArrayRef dims, bool keepdim) {
  if (keepdim || dims.empty()) return output;
  return restore_reduced_dims(output, dims, keepdim,
                              output.dim() + static_cast<int64_t>(dims.size()));
}

// ---- Pointwise ----

Tensor number(double value) {
  const at::detail::WrappedNumber number(value);
  return static_cast<const Tensor&>(number);
}

// Real numbers are their own conjugates, which need no further handle.
Tensor mul_tensor_backward(Tensor grad, const Tensor& other, ScalarType self_dtype) {
  return handle_r_to_c(
      self_dtype, other.is_complex() ? std::move(grad) * other.conj() : std::move(grad) * other);
}

Tensor div_tensor_self_backward(Tensor grad, const Tensor& other, ScalarType self_dtype,
                                const std::optional<std::string_view>& rounding_mode) {
  if (rounding_mode.has_value()) return at::zeros_like(grad).to(self_dtype);
  return handle_r_to_c(
      self_dtype, other.is_complex() ? std::move(grad) / other.conj() : std::move(grad) / other);
}

Tensor div_tensor_other_backward(Tensor grad, const Tensor& self, const Tensor& other,
                                 const std::optional<std::string_view>& rounding_mode) {
  if (rounding_mode.has_value()) return at::zeros_like(grad).to(other.scalar_type());
  return handle_r_to_c(other.scalar_type(), -std::move(grad) * ((self / other) / other).conj());
}

namespace {

// exponent - 1, in the exponent's own kind.
Scalar one_less(const Scalar& exponent) {
  if (exponent.isComplex()) return Scalar(exponent.toComplexDouble() - c10::complex<double>(1, 0));
  if (exponent.isFloatingPoint()) return Scalar(exponent.toDouble() - 1);
  return Scalar(exponent.toLong() - 1);
}

bool is_zero(const Scalar& value) {
  return value.isComplex() ? value.toComplexDouble() == c10::complex<double>(0, 0)
                           : value.toDouble() == 0;
}

Tensor zero_like_scalar(const Tensor& grad) { return at::zeros({}, grad.options()); }

}  // namespace

Tensor pow_backward(Tensor grad, const Tensor& self, const Scalar& exponent) {
  if (is_zero(exponent)) return at::zeros_like(self);
  return handle_r_to_c(self, std::move(grad) * (self.pow(one_less(exponent)) * exponent).conj());
}

Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  const Tensor slope = (self.pow(exponent - 1) * exponent).conj();
  return handle_r_to_c(self, at::where(exponent == 0, zero_like_scalar(grad), grad * slope));
}

// Where 0 is raised to a power that is not negative, the result stays 0 whatever the exponent.
Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                             const Tensor& result) {
  Tensor flat;
  if (exponent.is_complex()) {
    const Tensor imaginary_zero = at::imag(exponent) == 0;
    flat = at::logical_and(self == 0, at::logical_and(imaginary_zero, at::real(exponent) >= 0));
  } else {
    flat = at::logical_and(self == 0, exponent >= 0);
  }
  const Tensor slope = (result * self.log()).conj();
  return handle_r_to_c(exponent, grad * at::where(flat, zero_like_scalar(slope), slope));
}

Tensor pow_backward_exponent(const Tensor& grad, const Scalar& base, const Tensor& exponent,
                             const Tensor& result) {
  const Scalar log_base = base.isComplex() || base.toDouble() < 0
                              ? Scalar(c10::log(base.toComplexDouble()))
                              : Scalar(std::log(base.toDouble()));
  if (is_zero(base)) {
    const Tensor slope = (result * log_base).conj();
    const Tensor flat = exponent.is_complex() ? at::real(exponent) >= 0 : exponent >= 0;
    return handle_r_to_c(exponent, grad * at::where(flat, zero_like_scalar(slope), slope));
  }
  // Of a negative base only the real part of the logarithm matters for a real exponent.
  if (!exponent.is_complex() && !base.isComplex() && log_base.isComplex()) {
    return at::full_like(grad, std::nan("")) * result;
  }
  return handle_r_to_c(exponent, grad * (result * log_base).conj());
}

Tensor abs_backward(const Tensor& grad, const Tensor& self) {
  return handle_r_to_c(self, grad * self.sgn());
}

// Moves along the unit circle only, by what is at right angles to the number.
Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& sgn) {
  if (!self.is_complex()) return at::zeros_like(grad);
  const Tensor magnitude = self.abs();
  const Tensor slope = (grad - sgn * sgn * grad.conj()) / (magnitude * 2);
  return at::where(magnitude == 0, zero_like_scalar(slope), slope);
}

Tensor gelu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                            std::string_view approximate) {
  const Tensor square = self * self;
  if (approximate == "none") {
    // x Phi(x), with the density phi of the normal distribution: phi(x) (2 - x^2).
    const Tensor density = (square * -0.5).exp() * 0.3989422804014327;  // 1 / sqrt(2 pi)
    return grad * grad_output * density * (2 - square);
  }
  // 0.5 x (1 + t), t = tanh(u), u = k (x + c x^3).
  constexpr double k = 0.7978845608028654;  // sqrt(2 / pi)
  constexpr double c = 0.044715;
  const Tensor t = (k * (self + c * square * self)).tanh();
  const Tensor first = k * (1 + 3 * c * square);  // u'
  const Tensor second = (6 * k * c) * self;       // u''
  const Tensor slope = 1 - t * t;                 // tanh'(u)
  return grad * grad_output * slope * (first + 0.5 * self * (second - 2 * t * first * first));
}

namespace {

template <class Bound>
Tensor clamp_backward_of(const Tensor& grad, const Tensor& self, const std::optional<Bound>& min,
                         const std::optional<Bound>& max) {
  if (!min && !max) return grad;
  const Tensor inside = min && max ? at::logical_and(self >= *min, self <= *max)
                        : min      ? self >= *min
                                   : self <= *max;
  return at::where(inside, grad, zero_like_scalar(grad));
}

}  // namespace

Tensor clamp_backward(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min,
                      const std::optional<Scalar>& max) {
  return clamp_backward_of(grad, self, min, max);
}

Tensor clamp_backward(const Tensor& grad, const Tensor& self, const std::optional<Tensor>& min,
                      const std::optional<Tensor>& max) {
  return clamp_backward_of(grad, self, min, max);
}

std::tuple<Tensor, Tensor> clamp_backward_min_max(const Tensor& grad, const Tensor& self,
                                                  const std::optional<Tensor>& min,
                                                  const std::optional<Tensor>& max,
                                                  const std::array<bool, 2>& mask) {
  Tensor for_min, for_max;
  const Tensor zero = zero_like_scalar(grad);
  if (min && mask[0]) {
    const Tensor below = max ? at::logical_and(*min < *max, self < *min) : self < *min;
    for_min = at::where(below, grad, zero);
  }
  if (max && mask[1]) {
    const Tensor above = min ? at::logical_or(self > *max, *max < *min) : self > *max;
    for_max = at::where(above, grad, zero);
  }
  return {std::move(for_min), std::move(for_max)};
}

Tensor masked_fill_backward(const Tensor& grad, const Tensor& mask) {
  return at::where(mask, grad, zero_like_scalar(grad)).sum();
}

}  // namespace at::inline oploom_v1::autograd
