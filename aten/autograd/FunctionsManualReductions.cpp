// Backward formulas: reductions and neural networks.
#include <aten/autograd/FunctionsManual.h>
#include <aten/core/Reduction.h>
#include <c10/core/InferSize.h>
#include <c10/util/overflow.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/_logsumexp_backward.h>
#include <generated/ops/_smoothed_nll_loss.h>
#include <generated/ops/_softmax_backward_data.h>
#include <generated/ops/abs.h>
#include <generated/ops/add.h>
#include <generated/ops/any.h>
#include <generated/ops/cat.h>
#include <generated/ops/clone.h>
#include <generated/ops/conj.h>
#include <generated/ops/cumprod.h>
#include <generated/ops/cumsum.h>
#include <generated/ops/empty.h>
#include <generated/ops/exp.h>
#include <generated/ops/expand.h>
#include <generated/ops/flip.h>
#include <generated/ops/index_add.h>
#include <generated/ops/index_select.h>
#include <generated/ops/logical_and.h>
#include <generated/ops/logical_or.h>
#include <generated/ops/max.h>
#include <generated/ops/mean.h>
#include <generated/ops/narrow.h>
#include <generated/ops/norm.h>
#include <generated/ops/ones.h>
#include <generated/ops/ones_like.h>
#include <generated/ops/pow.h>
#include <generated/ops/reshape.h>
#include <generated/ops/sgn.h>
#include <generated/ops/softmax.h>
#include <generated/ops/sum.h>
#include <generated/ops/to.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/where.h>
#include <generated/ops/zeros.h>
#include <generated/ops/zeros_like.h>

#include <cmath>
#include <functional>
#include <numeric>

namespace at::inline oploom_v1::autograd {

namespace {

bool reduces_all(OptionalIntArrayRef dims) { return !dims.has_value() || dims->empty(); }

// The number of elements that each result of a reduction over `dims` was made of.
int64_t reduced_numel(IntArrayRef sizes, IntArrayRef dims) {
  int64_t result = 1;
  if (sizes.empty()) return result;
  if (dims.empty()) {
    for (int64_t size : sizes) result *= size;
  }
  for (int64_t dim : dims) {
    result *= sizes[c10::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()))];
  }
  return result;
}

IntArrayRef dims_or_none(OptionalIntArrayRef dims) {
  return dims.has_value() ? *dims : IntArrayRef();
}

// `tensor`, with zero where `mask` is true.
Tensor zero_where(const Tensor& mask, const Tensor& tensor) {
  return at::where(mask, at::zeros({}, tensor.options()), tensor);
}

}  // namespace

Tensor sum_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dims, bool keepdim) {
  return restore_reduced_dims(grad, dims_or_none(dims), keepdim, static_cast<int64_t>(sizes.size()))
      .expand(sizes);
}

Tensor mean_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dims, int64_t numel,
                     bool keepdim) {
  const int64_t count = reduces_all(dims) ? numel : reduced_numel(sizes, *dims);
  return sum_backward(grad, sizes, dims, keepdim) / count;
}

namespace {

// The product of all other elements along `dim`, without dividing: for inputs with zeros.
Tensor product_of_others(const Tensor& input, int64_t dim) {
  if (input.size(dim) <= 1) return at::ones_like(input);
  DimVector edge(input.sizes());
  edge[c10::maybe_wrap_dim(dim, input.dim())] = 1;
  const Tensor ones = at::ones(edge, input.options());
  const int64_t rest = input.size(dim) - 1;
  const Tensor before = at::cat({ones, input.narrow(dim, 0, rest)}, dim).cumprod(dim);
  const Tensor after =
      at::cat({ones, input.narrow(dim, 1, rest).flip(dim)}, dim).cumprod(dim).flip(dim);
  return before * after;
}

}  // namespace

Tensor prod_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  if (input.dim() == 0) return grad.clone();
  if (input.is_meta() || (input == 0).any().item<bool>()) {
    return (grad * product_of_others(input.reshape(-1), 0).conj()).reshape(input.sizes());
  }
  return grad * (result / input).conj();
}

Tensor prod_backward(const Tensor& grad, const Tensor& input, const Tensor& result, int64_t dim,
                     bool keepdim) {
  if (input.dim() == 0) return grad.clone();
  const Tensor whole_grad = keepdim ? grad : grad.unsqueeze(dim);
  const Tensor whole_result = keepdim ? result : result.unsqueeze(dim);
  if (input.is_meta() || (input == 0).any().item<bool>()) {
    return whole_grad * product_of_others(input, dim).conj();
  }
  return whole_grad * (whole_result / input).conj();
}

Tensor evenly_distribute_backward(const Tensor& grad, const Tensor& input, const Tensor& value) {
  // NaN is no equal of itself, but a NaN is what max() finds where there is one.
  const Tensor mask =
      at::logical_or(input == value, at::logical_and(input != input, value != value));
  return mask * (grad / mask.sum());
}

Tensor scale_grad_by_count(const Tensor& grad, const Tensor& mask, IntArrayRef dims) {
  return (grad * mask) / mask.sum(dims, /*keepdim=*/true);
}

Tensor var_backward(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dims,
                    const std::optional<Scalar>& correction, bool keepdim) {
  const double less = correction.has_value() ? correction->toDouble() : 1.0;
  if (self.dim() == 0 || reduces_all(dims)) {
    const double scale = 2.0 / (static_cast<double>(self.numel()) - less);
    return grad * (self - self.mean()) * scale;
  }
  const double scale = 2.0 / (static_cast<double>(reduced_numel(self.sizes(), *dims)) - less);
  const Tensor whole = restore_reduced_dims(grad, *dims, keepdim, self.dim());
  return whole * (self - self.mean(dims, /*keepdim=*/true)) * scale;
}

Tensor std_backward(const Tensor& result, const Tensor& grad, const Tensor& self,
                    OptionalIntArrayRef dims, const std::optional<Scalar>& correction,
                    bool keepdim) {
  const Tensor grad_of_var = zero_where(result == 0, grad / (result * 2));
  return var_backward(grad_of_var, self, dims, correction, keepdim);
}

Tensor norm_backward(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& p,
                     const Tensor& norm) {
  return norm_backward(grad, self, p, norm, {}, /*keepdim=*/true);
}

Tensor norm_backward(const Tensor& grad_in, const Tensor& self, const std::optional<Scalar>& p_in,
                     const Tensor& norm_in, IntArrayRef dims, bool keepdim) {
  const double p = p_in.has_value() ? p_in->toDouble() : 2.0;
  const Tensor grad = restore_reduced_dims(grad_in, dims, keepdim, self.dim());
  const Tensor norm = restore_reduced_dims(norm_in, dims, keepdim, self.dim());
  if (p == 0) return at::zeros_like(self);
  if (p == 1) return self.sgn() * grad;
  if (p == 2) return grad * zero_where(norm == 0, self / norm);
  if (std::isinf(p)) {
    const Tensor magnitude = self.abs();
    const Tensor mask = at::logical_or(magnitude == norm, magnitude != magnitude);
    return self.sgn() * ((grad / mask.sum(dims, /*keepdim=*/true)) * mask);
  }
  const Tensor slope = p < 1   ? zero_where(self == 0, self.sgn() * self.abs().pow(p - 1))
                       : p < 2 ? self.sgn() * self.abs().pow(p - 1)
                               : self * self.abs().pow(p - 2);
  return slope * zero_where(norm == 0, grad / norm.pow(p - 1));
}

Tensor logsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result,
                          IntArrayRef dims, bool keepdim) {
  const Tensor whole_grad = restore_reduced_dims(grad, dims, keepdim, self.dim());
  const Tensor whole_result = restore_reduced_dims(result, dims, keepdim, self.dim());
  return at::_logsumexp_backward(whole_grad, self, whole_result);
}

Tensor cumsum_backward(const Tensor& grad, int64_t dim) {
  if (grad.dim() == 0 || grad.numel() <= 1 || grad.size(dim) == 1) return grad;
  return grad.flip(dim).cumsum(dim).flip(dim);
}

// ---- Neural networks ----

Tensor softmax_double_backward(const Tensor& grad, const Tensor& grad_output, int64_t dim,
                               const Tensor& output) {
  return grad_output * grad - (output * grad_output).sum(dim, true) * grad -
         grad_output * (output * grad).sum(dim, true);
}

Tensor cross_entropy_tangent(const Tensor& tangent, const Tensor& self, const Tensor& target,
                             const std::optional<Tensor>& weight, int64_t reduction,
                             int64_t ignore_index, double label_smoothing) {
  const int64_t dim = self.dim() == 1 ? 0 : 1;
  const Tensor of_log_softmax = tangent - (tangent * at::softmax(self, dim)).sum(dim, true);
  return at::_smoothed_nll_loss(of_log_softmax, target, weight, reduction, ignore_index,
                                label_smoothing);
}

// The gradient is the softmax, times a number for each place, less what does not depend on self.
Tensor cross_entropy_double_backward(const Tensor& grad, const Tensor& grad_output,
                                     const Tensor& self, const Tensor& target,
                                     const std::optional<Tensor>& weight, int64_t reduction,
                                     int64_t ignore_index, const Tensor& total_weight) {
  const int64_t dim = self.dim() == 1 ? 0 : 1;
  Tensor scale = grad_output * (target != ignore_index);
  if (reduction == Reduction::Mean) scale = scale / total_weight;
  if (is_given(weight)) {
    const Tensor classes = zero_where(target == ignore_index, target).reshape(-1);
    scale = scale * weight->index_select(0, classes).reshape(target.sizes());
  }
  DimVector shape(self.sizes());
  shape[dim] = 1;
  const Tensor scaled = grad * scale.to(grad.scalar_type()).reshape(shape);
  return at::_softmax_backward_data(scaled, at::softmax(self, dim), dim, grad.scalar_type());
}

Tensor embedding_dense_double_backward(const Tensor& grad, const Tensor& indices,
                                       int64_t padding_idx, bool scale_grad_by_freq) {
  const Tensor flat = indices.reshape(-1);
  Tensor rows = grad.index_select(0, flat);
  if (scale_grad_by_freq) {
    const Tensor none = at::zeros({grad.size(0)}, grad.options());
    const Tensor counts = none.index_add(0, flat, at::ones({flat.size(0)}, grad.options()));
    rows = rows / counts.index_select(0, flat).unsqueeze(1);
  }
  if (padding_idx >= 0) rows = zero_where((flat == padding_idx).unsqueeze(1), rows);
  DimVector shape(indices.sizes());
  shape.push_back(grad.size(1));
  return rows.reshape(shape);
}

// With n the normalised input, g = grad_out * weight, h = grad_grad_input and m() the mean over the
// normalised dimensions, the backward pass gives
//   grad_input = r (g - m(g) - n m(g n)),  grad_weight = sum(grad_out n),  grad_bias =
//   sum(grad_out)
// and these are its derivatives, n and r taken as the functions of the input that they are.
std::tuple<Tensor, Tensor, Tensor> layer_norm_double_backward(
    const Tensor& input, const std::optional<Tensor>& weight, const Tensor& grad_grad_input,
    const Tensor& grad_grad_weight, const Tensor& grad_grad_bias, const Tensor& grad_out,
    const Tensor& mean, const Tensor& rstd, IntArrayRef normalized_shape,
    const std::array<bool, 3>& mask) {
  const int64_t columns = std::accumulate(normalized_shape.begin(), normalized_shape.end(),
                                          int64_t{1}, std::multiplies<>());
  const int64_t rows = columns == 0 ? 0 : input.numel() / columns;
  const DimVector matrix = {rows, columns};
  const auto average = [](const Tensor& tensor) { return tensor.mean(1, /*keepdim=*/true); };
  const bool has_weight = is_given(weight);

  const Tensor r = rstd.reshape({rows, 1});
  const Tensor n = (input.reshape(matrix) - mean.reshape({rows, 1})) * r;
  const Tensor out = grad_out.reshape(matrix);
  const Tensor gamma = has_weight ? weight->reshape({1, columns}) : Tensor();
  const Tensor g = has_weight ? out * gamma : out;
  const Tensor gn = average(g * n);

  Tensor for_grad_out, for_input, for_weight;
  const auto add = [](Tensor& sum, const Tensor& term) { sum = sum.defined() ? sum + term : term; };
  Tensor for_n;  // the gradient of n
  if (grad_grad_input.defined()) {
    const Tensor h = grad_grad_input.reshape(matrix);
    const Tensor hn = average(h * n);
    const Tensor projected = r * (h - average(h) - n * hn);
    if (mask[0]) add(for_grad_out, has_weight ? projected * gamma : projected);
    if (mask[2] && has_weight) add(for_weight, (out * projected).sum(0).reshape(normalized_shape));
    if (mask[1]) {
      add(for_n, -(r * (h * gn + g * hn)));
      const Tensor whole = average(h * g) - average(h) * average(g) - hn * gn;
      add(for_input, -(whole * r * r * n));
    }
  }
  if (grad_grad_weight.defined()) {
    const Tensor w = grad_grad_weight.reshape({1, columns});
    if (mask[0]) add(for_grad_out, w * n);
    if (mask[1]) add(for_n, w * out);
  }
  if (grad_grad_bias.defined() && mask[0]) {
    add(for_grad_out, grad_grad_bias.reshape({1, columns}).expand(matrix));
  }
  if (for_n.defined()) add(for_input, r * (for_n - average(for_n) - n * average(for_n * n)));
  if (for_grad_out.defined()) for_grad_out = for_grad_out.reshape(grad_out.sizes());
  if (for_input.defined()) for_input = for_input.reshape(input.sizes());
  return {std::move(for_grad_out), std::move(for_input), std::move(for_weight)};
}

}  // namespace at::inline oploom_v1::autograd
