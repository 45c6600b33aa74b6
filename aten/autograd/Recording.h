// Recording: what the generated kernels and nodes of generated/autograd are made of.
#pragma once

#include <aten/autograd/AccumulateGrad.h>
#include <aten/autograd/AutogradMeta.h>
#include <aten/autograd/ForwardAD.h>
#include <aten/autograd/SavedTensor.h>
#include <aten/autograd/Views.h>
#include <aten/core/dispatch/OperatorTable.h>
#include <c10/core/GradMode.h>
#include <c10/core/LocalDispatchKeySet.h>
#include <generated/ops/zeros_like.h>

#include <array>
#include <initializer_list>
#include <string>

namespace at::inline oploom_v1::autograd {

// ---- Kernels: whether to record ----

inline bool any_requires_grad(const TensorBase& tensor) { return tensor.requires_grad(); }
inline bool any_requires_grad(const std::optional<Tensor>& tensor) {
  return tensor.has_value() && tensor->requires_grad();
}
inline bool any_requires_grad(TensorList tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.requires_grad()) return true;
  }
  return false;
}
inline bool any_requires_grad(OptionalTensorList tensors) {
  for (const std::optional<Tensor>& tensor : tensors) {
    if (any_requires_grad(tensor)) return true;
  }
  return false;
}
// Whether an operation with these differentiable inputs is to be recorded.
template <class... Args>
OPLOOM_ALWAYS_INLINE bool compute_requires_grad(const Args&... args) {
  return c10::GradMode::is_enabled() && (any_requires_grad(args) || ...);
}

// out= forms are not recorded and have no tangents, and refuse to look as if.
[[noreturn]] OPLOOM_API void throw_out_requires_grad(const char* name);
[[noreturn]] OPLOOM_API void throw_out_tangent(const char* name);
template <class... Args>
OPLOOM_ALWAYS_INLINE void check_out_requires_grad(const char* name, const Args&... args) {
  if (OPLOOM_UNLIKELY(compute_requires_grad(args...))) throw_out_requires_grad(name);
  if (OPLOOM_UNLIKELY(forward_ad::is_on()) && forward_ad::any_tangent(args...)) {
    throw_out_tangent(name);
  }
}

// An argument for which derivatives.yaml has no formula, nor says that it needs none: its gradient
// and its tangent would get lost.
[[noreturn]] OPLOOM_API void throw_underived(const char* name, const char* argument);
template <class Arg>
OPLOOM_ALWAYS_INLINE void check_underived(const char* name, const char* argument,
                                          const Arg& value) {
  const bool tangent = forward_ad::is_on() && forward_ad::any_tangent(value);
  if (OPLOOM_UNLIKELY(tangent || compute_requires_grad(value))) throw_underived(name, argument);
}

// ---- Kernels: edges ----

inline void add_edges(Node& node, const Tensor& tensor) { add_edge(node, tensor); }
inline void add_edges(Node& node, const std::optional<Tensor>& tensor) {
  add_edge(node, tensor.has_value() ? *tensor : Tensor());
}
inline void add_edges(Node& node, TensorList tensors) {
  for (const Tensor& tensor : tensors) add_edges(node, tensor);
}
inline void add_edges(Node& node, OptionalTensorList tensors) {
  for (const std::optional<Tensor>& tensor : tensors) add_edges(node, tensor);
}
// One edge for each tensor, in the order of the arguments.
template <class... Args>
void collect_edges(Node& node, const Args&... args) {
  (add_edges(node, args), ...);
}

// ---- Kernels: outputs ----

inline void set_history(TensorList outputs, const c10::intrusive_ptr<Node>& function) {
  for (const Tensor& output : outputs) set_history(output, function);
}
inline void as_views(const Tensor& base, TensorList views) {
  for (const Tensor& view : views) as_view(base, view, creation_meta(/*multi_output=*/true));
}
inline void increment_version(const TensorBase& tensor) {
  tensor.unsafeGetTensorImpl()->bump_version();
}
inline void increment_version(TensorList tensors) {
  for (const Tensor& tensor : tensors) increment_version(tensor);
}

// Saves an input of an operation that changes `written` in place. Should the input show the same
// memory, the backward pass will find it changed and refuse; until then it must not keep the node
// that saves it alive, which the history of `written` is about to lead to.
inline SavedTensor save_beside(const Tensor& tensor, const Tensor& written) {
  if (OPLOOM_UNLIKELY(tensor.defined() && tensor.is_alias_of(written))) {
    return SavedTensor(without_history(tensor), false);
  }
  return SavedTensor(tensor, false);
}

// ---- Nodes ----

// The base of the generated nodes.
struct BuiltinNode : Node {
  bool is_builtin() const final { return true; }
};

// The places of one argument's gradients among those of a node.
struct IndexRange {
  size_t begin;
  size_t end;
};
class IndexRangeGenerator {
 public:
  IndexRange range(size_t count) {
    next_ += count;
    return {next_ - count, next_};
  }
  size_t size() const { return next_; }

 private:
  size_t next_ = 0;
};

inline bool any_grad_defined(const variable_list& grads) {
  for (const Tensor& grad : grads) {
    if (grad.defined()) return true;
  }
  return false;
}
// The gradient of one of several results of the same shape, of which at least one has a gradient.
inline Tensor defined_grad(const variable_list& grads, size_t i) {
  if (grads[i].defined()) return grads[i];
  for (const Tensor& other : grads) {
    if (other.defined()) return at::zeros_like(other);
  }
  return {};
}
inline bool any_wanted(const Node& node, IndexRange range) {
  for (size_t i = range.begin; i < range.end; ++i) {
    if (node.task_should_compute_output(i)) return true;
  }
  return false;
}
inline void copy_range(variable_list& out, IndexRange range, Tensor&& grad) {
  out[range.begin] = std::move(grad);
}
inline void copy_range(variable_list& out, IndexRange range, std::vector<Tensor>&& grads) {
  OPLOOM_INTERNAL_ASSERT(grads.size() == range.end - range.begin,
                         "a formula gave a wrong number of gradients");
  for (size_t i = 0; i < grads.size(); ++i) out[range.begin + i] = std::move(grads[i]);
}
inline void copy_range(variable_list& out, IndexRange range, variable_list&& grads) {
  OPLOOM_INTERNAL_ASSERT(grads.size() == range.end - range.begin,
                         "a formula gave a wrong number of gradients");
  for (size_t i = 0; i < grads.size(); ++i) out[range.begin + i] = std::move(grads[i]);
}

}  // namespace at::inline oploom_v1::autograd
