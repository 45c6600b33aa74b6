// Forward formulas that are too long for derivatives.yaml.
#include <aten/autograd/ForwardFormulas.h>
#include <c10/util/DimVector.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/any.h>
#include <generated/ops/as_strided.h>
#include <generated/ops/conj.h>
#include <generated/ops/cumsum.h>
#include <generated/ops/eq.h>
#include <generated/ops/gather.h>
#include <generated/ops/item.h>
#include <generated/ops/mean.h>
#include <generated/ops/real.h>
#include <generated/ops/reshape.h>
#include <generated/ops/select.h>
#include <generated/ops/squeeze.h>
#include <generated/ops/stack.h>
#include <generated/ops/sum.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/zeros_like.h>

#include <functional>
#include <numeric>

namespace at::inline oploom_v1::autograd {

namespace {

// A real result of complex elements has a real tangent.
Tensor products(const Tensor& gradient, const Tensor& self_t, const Tensor& result) {
  const Tensor all = gradient.conj() * self_t;
  return all.is_complex() && !result.is_complex() ? at::real(all) : all;
}

}  // namespace

Tensor along(const Tensor& gradient, const Tensor& self_t, const Tensor& result) {
  return products(gradient, self_t, result).sum();
}

Tensor along(const Tensor& gradient, const Tensor& self_t, const Tensor& result,
             OptionalIntArrayRef dims, bool keepdim) {
  const Tensor all = products(gradient, self_t, result);
  return all.dim() == 0 ? all : all.sum(dims, keepdim);
}

Tensor chosen(const Tensor& self_t, int64_t dim, const Tensor& indices, bool keepdim) {
  if (self_t.dim() == 0) return self_t;
  if (keepdim) return self_t.gather(dim, indices);
  return self_t.gather(dim, indices.unsqueeze(dim)).squeeze(dim);
}

Tensor unless_rounded(const Tensor& tangent, const std::optional<std::string_view>& rounding_mode) {
  return rounding_mode.has_value() ? at::zeros_like(tangent) : tangent;
}

// With x the input, y the product and t the tangent of x, element k of the tangent of y is
//   s[k] = s[k - 1] x[k] + y[k - 1] t[k].
Tensor cumprod_tangent(const Tensor& self_t, const Tensor& self, int64_t dim,
                       const Tensor& result) {
  if (self.dim() == 0 || self.numel() == 0) return self_t;
  if (!self.is_meta() && !(self == 0).any().item().toBool()) {
    return (self_t / self).cumsum(dim) * result;
  }
  std::vector<Tensor> sums;
  for (int64_t k = 0; k < self.size(dim); ++k) {
    const Tensor own = self_t.select(dim, k);
    sums.push_back(k == 0 ? own
                          : sums.back() * self.select(dim, k) + result.select(dim, k - 1) * own);
  }
  return at::stack(sums, dim);
}

Tensor as_strided_tangent(const Tensor& self_t, const Tensor& self, IntArrayRef size,
                          IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  return self_t.as_strided(size, stride, offset - self.storage_offset() + self_t.storage_offset());
}

// ---- Layer norm ----
//
// With x the input, m and r its mean and inverse deviation in each row, n = (x - m) r, and an
// average over a row written as <>:
//   n_t = r (x_t - <x_t> - n <n x_t>)        r_t = -r^2 <n x_t>

namespace {

struct Rows {
  Rows(const Tensor& input, IntArrayRef normalized_shape) {
    const int64_t columns = std::accumulate(normalized_shape.begin(), normalized_shape.end(),
                                            int64_t{1}, std::multiplies<>());
    const int64_t count = columns == 0 ? 0 : input.numel() / columns;
    matrix = {count, columns};
    column = {count, 1};
  }
  DimVector matrix, column;
};

Tensor average(const Tensor& tensor) { return tensor.mean(1, /*keepdim=*/true); }

// n and n_t of matrices.
Tensor normalized_tangent(const Tensor& t, const Tensor& n, const Tensor& r) {
  return r * (t - average(t) - n * average(n * t));
}

}  // namespace

Tensor layer_norm_tangent(const Tensor& input_t, const Tensor& input, const Tensor& mean,
                          const Tensor& rstd, IntArrayRef normalized_shape) {
  const Rows rows(input, normalized_shape);
  const Tensor r = rstd.reshape(rows.column);
  const Tensor n = (input.reshape(rows.matrix) - mean.reshape(rows.column)) * r;
  return normalized_tangent(input_t.reshape(rows.matrix), n, r).reshape(input.sizes());
}

Tensor times_weight(const Tensor& tensor, const std::optional<Tensor>& weight) {
  return is_given(weight) ? tensor * *weight : tensor;
}

// With g = grad_out weight, the gradient of the input is r (g - <g> - n <g n>).
Tensor layer_norm_backward_input_tangent(const Tensor& grad_out_t, const Tensor& input_t,
                                         const Tensor& weight_t, const Tensor& grad_out,
                                         const Tensor& input, const Tensor& mean,
                                         const Tensor& rstd, const std::optional<Tensor>& weight,
                                         IntArrayRef normalized_shape) {
  const Rows rows(input, normalized_shape);
  const Tensor r = rstd.reshape(rows.column);
  const Tensor n = (input.reshape(rows.matrix) - mean.reshape(rows.column)) * r;
  const Tensor t = input_t.reshape(rows.matrix);
  const Tensor n_t = normalized_tangent(t, n, r);
  const Tensor g = times_weight(grad_out, weight).reshape(rows.matrix);
  Tensor g_t = times_weight(grad_out_t, weight);
  if (weight_t.defined()) g_t = g_t + grad_out * weight_t;
  g_t = g_t.reshape(rows.matrix);
  const Tensor gn = average(g * n);
  const Tensor inner = g - average(g) - n * gn;
  const Tensor inner_t = g_t - average(g_t) - n_t * gn - n * average(g_t * n + g * n_t);
  return (r * inner_t - r * r * average(n * t) * inner).reshape(input.sizes());
}

Tensor layer_norm_backward_weight_tangent(const Tensor& grad_out_t, const Tensor& input_t,
                                          const Tensor& grad_out, const Tensor& input,
                                          const Tensor& mean, const Tensor& rstd,
                                          IntArrayRef normalized_shape) {
  const Rows rows(input, normalized_shape);
  const Tensor r = rstd.reshape(rows.column);
  const Tensor n = (input.reshape(rows.matrix) - mean.reshape(rows.column)) * r;
  const Tensor n_t = normalized_tangent(input_t.reshape(rows.matrix), n, r);
  const Tensor sum =
      (grad_out_t.reshape(rows.matrix) * n + grad_out.reshape(rows.matrix) * n_t).sum(0);
  return sum.reshape(normalized_shape);
}

}  // namespace at::inline oploom_v1::autograd
