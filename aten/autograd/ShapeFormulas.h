// Backward formulas of the operators that copy, reshape, join and index.
#pragma once

#include <aten/autograd/Node.h>
#include <aten/autograd/TensorGeometry.h>
#include <c10/core/Scalar.h>
#include <generated/ops/Tensor.h>

#include <optional>
#include <vector>

namespace at::inline oploom_v1::autograd {

// ---- Copies ----

// Of the source of copy_: summed over what was broadcast, in the source's dtype and device.
OPLOOM_API Tensor copy_src_backward(const Tensor& grad, IntArrayRef src_sizes,
                                    const TensorOptions& src_options);
OPLOOM_API Tensor _to_copy_backward(const Tensor& grad, const TensorOptions& self_options);

// ---- Views ----

OPLOOM_API Tensor permute_backwards(const Tensor& grad, IntArrayRef dims);
OPLOOM_API Tensor slice_backward_wrapper(const Tensor& grad, IntArrayRef input_sizes, int64_t dim,
                                         std::optional<int64_t> start, std::optional<int64_t> end,
                                         int64_t step);
// Puts squeezed dimensions back.
OPLOOM_API Tensor unsqueeze_to(const Tensor& grad, IntArrayRef sizes);
OPLOOM_API Tensor unsqueeze_to(const Tensor& grad, int64_t dim, IntArrayRef sizes);
OPLOOM_API Tensor unsqueeze_to(const Tensor& grad, IntArrayRef dims, IntArrayRef sizes);
// The gradient of an input with the layout `input`. Elements that the view shows several times get
// the sum; places of the input that share an element get equal shares.
OPLOOM_API Tensor as_strided_backward(const Tensor& grad, const TensorGeometry& input,
                                      IntArrayRef sizes, IntArrayRef strides,
                                      std::optional<int64_t> storage_offset);

// Of operators with several results: an undefined gradient counts as zeros.
OPLOOM_API Tensor split_backward(const variable_list& grads, int64_t split_size, int64_t dim,
                                 IntArrayRef sizes, const TensorOptions& options);
OPLOOM_API Tensor split_with_sizes_backward(const variable_list& grads, IntArrayRef split_sizes,
                                            int64_t dim, IntArrayRef sizes,
                                            const TensorOptions& options);
OPLOOM_API Tensor unbind_backward(const variable_list& grads, int64_t dim, IntArrayRef sizes,
                                  const TensorOptions& options);

// ---- Joining and repeating ----

// What a node keeps of a list of tensors.
OPLOOM_API std::vector<std::vector<int64_t>> to_args_sizes(TensorList tensors);
OPLOOM_API std::vector<ScalarType> to_args_scalartypes(TensorList tensors);

OPLOOM_API std::vector<Tensor> cat_tensors_backward(const Tensor& grad,
                                                    const std::vector<std::vector<int64_t>>& sizes,
                                                    const std::vector<ScalarType>& dtypes,
                                                    int64_t dim);
OPLOOM_API std::vector<Tensor> stack_tensors_backward(const Tensor& grad, int64_t dim,
                                                      const std::vector<ScalarType>& dtypes);
OPLOOM_API Tensor repeat_backward(const Tensor& grad, IntArrayRef repeats, IntArrayRef input_sizes);
OPLOOM_API Tensor roll_backward(const Tensor& grad, IntArrayRef shifts, IntArrayRef dims);

// ---- Indexing ----

OPLOOM_API Tensor index_select_backward(const Tensor& grad, IntArrayRef self_sizes, int64_t dim,
                                        const Tensor& index);
OPLOOM_API Tensor index_add_source_backward(const Tensor& grad, int64_t dim, const Tensor& index,
                                            IntArrayRef source_sizes, const Scalar& alpha);
OPLOOM_API Tensor gather_backward(const Tensor& grad, IntArrayRef self_sizes, int64_t dim,
                                  const Tensor& index);
// Of src, which may be larger than the index: zeros for what was not used.
OPLOOM_API Tensor scatter_src_backward(const Tensor& grad, int64_t dim, const Tensor& index,
                                       IntArrayRef src_sizes);
OPLOOM_API Tensor index_backward(const Tensor& grad, IntArrayRef self_sizes,
                                 OptionalTensorList indices);
OPLOOM_API Tensor index_put_self_backward(const Tensor& grad, OptionalTensorList indices,
                                          bool accumulate);
OPLOOM_API Tensor masked_select_backward(const Tensor& grad, IntArrayRef self_sizes,
                                         const Tensor& mask);

}  // namespace at::inline oploom_v1::autograd
