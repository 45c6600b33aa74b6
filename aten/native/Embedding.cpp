// embedding and its gradient.
#include <aten/core/Parallel.h>
#include <aten/iterator/Cast.h>
#include <aten/native/NamedRows.h>
#include <aten/native/ShapeUtils.h>
#include <generated/native/embedding.h>
#include <generated/native/embedding_backward.h>
#include <generated/native/embedding_dense_backward.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/embedding_dense_backward.h>
#include <generated/ops/index_select.h>
#include <generated/ops/reshape.h>
#include <generated/ops/to.h>
#include <generated/ops/view.h>
#include <generated/ops/zero.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace at::inline oploom_v1::native {

namespace {

void check_indices(const char* op, const Tensor& indices) {
  OPLOOM_CHECK(indices.scalar_type() == kLong || indices.scalar_type() == kInt, op,
               "(): expected indices of dtype int32 or int64, got ", indices.scalar_type());
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t /*padding_idx*/,
                 bool /*scale_grad_by_freq*/, bool /*sparse*/) {
  OPLOOM_CHECK(weight.dim() == 2, "embedding(): expected weight of shape [n, width], got ",
               weight.sizes());
  check_indices("embedding", indices);
  if (indices.dim() == 1) return weight.index_select(0, indices);
  DimVector shape(indices.sizes());
  shape.push_back(weight.sizes()[1]);
  return weight.index_select(0, indices.reshape({-1})).view(shape);
}

Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights,
                          int64_t padding_idx, bool scale_grad_by_freq, bool sparse) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(!sparse, "embedding(): sparse gradients are not supported");
  return at::embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
}

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(embedding_dense_backward)
(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t, bool) {
  native::check_indices("embedding_dense_backward", indices);
  const int64_t d = grad_output.dim();
  OPLOOM_CHECK(d == indices.dim() + 1 && grad_output.sizes().slice(0, d - 1) == indices.sizes(),
               "embedding_dense_backward(): expected grad_output of the indices' shape ",
               indices.sizes(), " and one dimension more, got ", grad_output.sizes());
  set_output_contiguous(0, {num_weights, grad_output.sizes()[d - 1]}, grad_output.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(embedding_dense_backward_out)
(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
 bool scale_grad_by_freq, const Tensor& out) {
  const Tensor grad = grad_output.contiguous();
  const Tensor index = indices.to(kLong).contiguous();
  const int64_t* rows = index.const_data_ptr<int64_t>();
  const int64_t count = index.numel();
  for (int64_t i = 0; i < count; ++i) {
    OPLOOM_CHECK_INDEX(rows[i] >= 0 && rows[i] < num_weights,
                       "embedding_dense_backward(): expected every index in [0, ", num_weights - 1,
                       "], got ", rows[i], " at position ", i);
  }
  std::vector<int64_t> uses;
  if (scale_grad_by_freq) {
    uses.resize(static_cast<size_t>(num_weights));
    for (int64_t i = 0; i < count; ++i) ++uses[rows[i]];
  }
  const ScalarType dtype = out.scalar_type();
  OPLOOM_CHECK_NOT_IMPLEMENTED(
      c10::isFloatingType(dtype) || c10::isComplexType(dtype),
      "embedding_dense_backward(): expected grad_output of a floating-point or complex dtype, got ",
      dtype);
  Tensor(out).zero_();
  // Complex numbers are two numbers each.
  const bool is_complex = c10::isComplexType(dtype);
  const ScalarType part = is_complex ? c10::toRealValueType(dtype) : dtype;
  const int64_t width = out.sizes()[1] * (is_complex ? 2 : 1);
  const int64_t row_bytes = width * static_cast<int64_t>(c10::elementSize(part));
  const int64_t ahead = at::detail::named_rows_ahead(row_bytes, num_weights * row_bytes);
  const auto* from = static_cast<const char*>(grad.const_data_ptr());
  auto* to = static_cast<char*>(out.mutable_data_ptr());
  // Threads share out the weights' rows, so each row is summed in the order of the indices.
  const int64_t grain =
      grain_for(std::max<int64_t>(1, count * width / std::max<int64_t>(1, num_weights)));
  at::parallel_for(0, num_weights, grain, [&](int64_t begin, int64_t end) {
    const auto add = [&](int64_t first, int64_t number, const Scalar& factor) {
      const at::detail::RowNames names{rows + first, 1, number, begin, end, ahead};
      add_named_rows(part, to, width, from + first * row_bytes, width, width, names, factor);
    };
    if (scale_grad_by_freq) {
      for (int64_t i = 0; i < count; ++i) add(i, 1, 1 / static_cast<double>(uses[rows[i]]));
    } else {
      add(0, count, 1);
    }
    if (padding_idx >= begin && padding_idx < end) {
      std::memset(to + padding_idx * row_bytes, 0, static_cast<size_t>(row_bytes));
    }
  });
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/Embedding.h>
