// Backward formulas of the operators that copy, reshape, join and index.
#include <aten/autograd/FunctionsManual.h>
#include <aten/autograd/ShapeFormulas.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferSize.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/overflow.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/as_strided.h>
#include <generated/ops/cat.h>
#include <generated/ops/clone.h>
#include <generated/ops/copy.h>
#include <generated/ops/empty.h>
#include <generated/ops/expand.h>
#include <generated/ops/gather.h>
#include <generated/ops/index.h>
#include <generated/ops/index_add.h>
#include <generated/ops/index_put.h>
#include <generated/ops/index_select.h>
#include <generated/ops/narrow.h>
#include <generated/ops/new_zeros.h>
#include <generated/ops/ones.h>
#include <generated/ops/permute.h>
#include <generated/ops/reshape.h>
#include <generated/ops/roll.h>
#include <generated/ops/scatter_add.h>
#include <generated/ops/slice_backward.h>
#include <generated/ops/stack.h>
#include <generated/ops/sum.h>
#include <generated/ops/to.h>
#include <generated/ops/unbind.h>
#include <generated/ops/zeros.h>

#include <algorithm>
#include <limits>

namespace at::inline oploom_v1::autograd {

// ---- Copies ----

Tensor copy_src_backward(const Tensor& grad, IntArrayRef src_sizes,
                         const TensorOptions& src_options) {
  return sum_to(handle_r_to_c(src_options.dtype(), grad), src_sizes).to(src_options);
}

Tensor _to_copy_backward(const Tensor& grad, const TensorOptions& self_options) {
  return handle_r_to_c(self_options.dtype(), grad).to(self_options);
}

// ---- Views ----

Tensor permute_backwards(const Tensor& grad, IntArrayRef dims) {
  DimVector inverse(dims.size());
  const int64_t ndim = static_cast<int64_t>(dims.size());
  for (int64_t i = 0; i < ndim; ++i) inverse[c10::maybe_wrap_dim(dims[i], ndim)] = i;
  return grad.permute(inverse);
}

Tensor slice_backward_wrapper(const Tensor& grad, IntArrayRef input_sizes, int64_t dim,
                              std::optional<int64_t> start, std::optional<int64_t> end,
                              int64_t step) {
  return at::slice_backward(grad, input_sizes, dim, start.value_or(0),
                            end.value_or(std::numeric_limits<int64_t>::max()), step);
}

Tensor unsqueeze_to(const Tensor& grad, IntArrayRef sizes) { return grad.reshape(sizes); }
Tensor unsqueeze_to(const Tensor& grad, int64_t dim, IntArrayRef sizes) {
  return grad.reshape(sizes);
}
Tensor unsqueeze_to(const Tensor& grad, IntArrayRef dims, IntArrayRef sizes) {
  return grad.reshape(sizes);
}

namespace {

// Whether two positions can lie on one element. May say yes where none do.
bool may_overlap(IntArrayRef sizes, IntArrayRef strides) {
  SmallVector<std::pair<int64_t, int64_t>, 5> order;  // stride, size
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return false;
    if (sizes[d] > 1) order.emplace_back(strides[d], sizes[d]);
  }
  std::sort(order.begin(), order.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : order) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

int64_t last_element(IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  for (size_t d = 0; d < sizes.size(); ++d) offset += (sizes[d] - 1) * strides[d];
  return offset;
}

// The place in memory of each element, in row-major order: a 1-d tensor. There must be one.
Tensor places_in_memory(IntArrayRef sizes, IntArrayRef strides, int64_t offset, Device device) {
  Tensor places = at::empty({c10::multiply_integers(sizes)}, kLong);
  int64_t* const place = places.mutable_data_ptr<int64_t>();
  // What is there of the inner dimensions is repeated for each step along the next one.
  place[0] = offset;
  for (size_t d = sizes.size(), count = 1; d-- > 0; count *= static_cast<size_t>(sizes[d])) {
    for (int64_t i = 1; i < sizes[d]; ++i) {
      std::transform(place, place + count, place + i * static_cast<int64_t>(count),
                     [by = i * strides[d]](int64_t p) { return p + by; });
    }
  }
  return places.to(device);
}

}  // namespace

Tensor as_strided_backward(const Tensor& grad, const TensorGeometry& input, IntArrayRef sizes,
                           IntArrayRef strides, std::optional<int64_t> storage_offset) {
  const int64_t view_offset = storage_offset.value_or(input.storage_offset());
  if (input.numel() == 0 || grad.numel() == 0) return grad.new_zeros(input.sizes());
  // A stretch of memory that holds both the input and the view.
  const int64_t base = std::min(view_offset, input.storage_offset());
  const int64_t end =
      1 + std::max(last_element(sizes, strides, view_offset),
                   last_element(input.sizes(), input.strides(), input.storage_offset()));
  const bool input_overlaps = may_overlap(input.sizes(), input.strides());
  const bool recorded = c10::GradMode::is_enabled() && grad.requires_grad();
  if (!recorded && !input_overlaps && !may_overlap(sizes, strides)) {
    const Tensor memory = grad.new_zeros({end - base});
    memory.as_strided(sizes, strides, view_offset - base).copy_(grad);
    return memory.as_strided(input.sizes(), input.strides(), input.storage_offset() - base);
  }
  const Tensor view_places = places_in_memory(sizes, strides, view_offset - base, grad.device());
  Tensor memory = grad.new_zeros({end - base}).index_add(0, view_places, grad.reshape({-1}));
  const Tensor input_places = places_in_memory(input.sizes(), input.strides(),
                                               input.storage_offset() - base, grad.device());
  Tensor result = memory.index_select(0, input_places);
  if (input_overlaps) {
    const Tensor counts =
        grad.new_zeros({end - base})
            .index_add(0, input_places, at::ones({input_places.numel()}, grad.options()));
    result = result / counts.index_select(0, input_places);
  }
  return result.reshape(input.sizes());
}

namespace {

// Joins the gradients of parts of the given lengths along dim.
Tensor join_parts(const variable_list& grads, IntArrayRef lengths, int64_t dim, IntArrayRef sizes,
                  const TensorOptions& options) {
  std::vector<Tensor> parts;
  parts.reserve(lengths.size());
  DimVector shape(sizes);
  for (size_t i = 0; i < lengths.size(); ++i) {
    shape[dim] = lengths[i];
    parts.push_back(grads[i].defined() ? grads[i] : at::zeros(shape, options));
  }
  if (parts.empty()) return at::zeros(sizes, options);
  return at::cat(parts, dim);
}

}  // namespace

Tensor split_backward(const variable_list& grads, int64_t split_size, int64_t dim,
                      IntArrayRef sizes, const TensorOptions& options) {
  dim = c10::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  std::vector<int64_t> lengths(grads.size(), split_size);
  if (!lengths.empty()) {
    lengths.back() = sizes[dim] - split_size * (static_cast<int64_t>(lengths.size()) - 1);
  }
  return join_parts(grads, lengths, dim, sizes, options);
}

Tensor split_with_sizes_backward(const variable_list& grads, IntArrayRef split_sizes, int64_t dim,
                                 IntArrayRef sizes, const TensorOptions& options) {
  dim = c10::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  return join_parts(grads, split_sizes, dim, sizes, options);
}

Tensor unbind_backward(const variable_list& grads, int64_t dim, IntArrayRef sizes,
                       const TensorOptions& options) {
  if (grads.empty()) return at::zeros(sizes, options);
  dim = c10::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  DimVector shape(sizes);
  shape.erase(shape.begin() + dim);
  std::vector<Tensor> parts;
  parts.reserve(grads.size());
  for (const Tensor& grad : grads) {
    parts.push_back(grad.defined() ? grad : at::zeros(shape, options));
  }
  return at::stack(parts, dim);
}

// ---- Joining and repeating ----

std::vector<std::vector<int64_t>> to_args_sizes(TensorList tensors) {
  std::vector<std::vector<int64_t>> result;
  result.reserve(tensors.size());
  for (const Tensor& tensor : tensors) result.push_back(tensor.sizes().vec());
  return result;
}

std::vector<ScalarType> to_args_scalartypes(TensorList tensors) {
  std::vector<ScalarType> result;
  result.reserve(tensors.size());
  for (const Tensor& tensor : tensors) result.push_back(tensor.scalar_type());
  return result;
}

std::vector<Tensor> cat_tensors_backward(const Tensor& grad,
                                         const std::vector<std::vector<int64_t>>& sizes,
                                         const std::vector<ScalarType>& dtypes, int64_t dim) {
  std::vector<Tensor> result(sizes.size());
  dim = c10::maybe_wrap_dim(dim, grad.dim());
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // An empty tensor of one dimension was passed over, whatever the dimensions of the others.
    if (sizes[i].size() == 1 && sizes[i][0] == 0) {
      result[i] = grad.new_zeros({0});
      continue;
    }
    const int64_t length = sizes[i][dim];
    result[i] = handle_r_to_c(dtypes[i], grad.narrow(dim, start, length));
    start += length;
  }
  return result;
}

std::vector<Tensor> stack_tensors_backward(const Tensor& grad, int64_t dim,
                                           const std::vector<ScalarType>& dtypes) {
  std::vector<Tensor> result = grad.unbind(dim);
  for (size_t i = 0; i < result.size(); ++i) result[i] = handle_r_to_c(dtypes[i], result[i]);
  return result;
}

Tensor repeat_backward(const Tensor& grad, IntArrayRef repeats, IntArrayRef input_sizes) {
  if (std::find(repeats.begin(), repeats.end(), 0) != repeats.end()) {
    return grad.new_zeros(input_sizes);
  }
  // Each dimension as two, the repeats and the positions of the input, summed over the repeats.
  const size_t added = repeats.size() - input_sizes.size();
  DimVector shape;
  DimVector repeated;
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (d < added || repeats[d] > 1) {
      repeated.push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(repeats[d]);
    }
    if (d >= added) shape.push_back(input_sizes[d - added]);
  }
  const Tensor split = grad.reshape(shape);
  return repeated.empty() ? split : split.sum(repeated);
}

Tensor roll_backward(const Tensor& grad, IntArrayRef shifts, IntArrayRef dims) {
  DimVector back(shifts);
  for (int64_t& shift : back) shift = -shift;
  return grad.roll(back, dims);
}

// ---- Indexing ----

Tensor index_select_backward(const Tensor& grad, IntArrayRef self_sizes, int64_t dim,
                             const Tensor& index) {
  return grad.new_zeros(self_sizes).index_add_(dim, index, grad);
}

Tensor index_add_source_backward(const Tensor& grad, int64_t dim, const Tensor& index,
                                 IntArrayRef source_sizes, const Scalar& alpha) {
  return maybe_multiply(grad.index_select(dim, index).reshape(source_sizes), alpha.conj());
}

Tensor gather_backward(const Tensor& grad, IntArrayRef self_sizes, int64_t dim,
                       const Tensor& index) {
  return grad.new_zeros(self_sizes).scatter_add_(dim, index, grad);
}

Tensor scatter_src_backward(const Tensor& grad, int64_t dim, const Tensor& index,
                            IntArrayRef src_sizes) {
  Tensor result = grad.gather(dim, index);
  if (result.sizes() == src_sizes) return result;
  if (result.numel() == 0) return grad.new_zeros(src_sizes);
  DimVector sizes(result.sizes());
  for (size_t d = 0; d < src_sizes.size(); ++d) {
    if (sizes[d] == src_sizes[d]) continue;
    const int64_t used = sizes[d];
    sizes[d] = src_sizes[d];
    result = at::slice_backward(result, sizes, static_cast<int64_t>(d), 0, used, 1);
  }
  return result;
}

Tensor index_backward(const Tensor& grad, IntArrayRef self_sizes, OptionalTensorList indices) {
  const bool indexed = std::any_of(indices.begin(), indices.end(),
                                   [](const auto& index) { return is_given(index); });
  if (!indexed) return grad;
  return grad.new_zeros(self_sizes).index_put_(indices, grad, /*accumulate=*/true);
}

Tensor index_put_self_backward(const Tensor& grad, OptionalTensorList indices, bool accumulate) {
  if (accumulate) return grad;
  return grad.index_put(indices, at::zeros({}, grad.options()), /*accumulate=*/false);
}

Tensor masked_select_backward(const Tensor& grad, IntArrayRef self_sizes, const Tensor& mask) {
  DimVector shape = c10::infer_size_broadcast(self_sizes, mask.sizes());
  const Tensor places = mask.expand(shape);
  // A 0-d mask cannot stand for a dimension of a 0-d tensor.
  if (shape.empty()) shape.push_back(1);
  const std::optional<Tensor> index = places.reshape(shape);
  const Tensor filled = grad.new_zeros(shape).index_put_(OptionalTensorList(index), grad);
  return sum_to(self_sizes.empty() ? filled.reshape({-1}) : filled, self_sizes);
}

}  // namespace at::inline oploom_v1::autograd
