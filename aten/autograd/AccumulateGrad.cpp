// AccumulateGrad and NotImplemented.
#include <aten/autograd/AccumulateGrad.h>
#include <aten/autograd/FunctionsManual.h>
#include <c10/core/GradMode.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/clone.h>
#include <generated/ops/copy.h>
#include <generated/ops/empty_strided.h>

#include <algorithm>
#include <limits>

namespace at::inline oploom_v1::autograd {

// The highest sequence number: leaves are served first, which frees gradients early.
AccumulateGrad::AccumulateGrad(Tensor variable)
    : Node(std::numeric_limits<uint64_t>::max()), variable(std::move(variable)) {
  add_input_metadata(this->variable);
}

void AccumulateGrad::release_resources() {
  // The variable refers to this node weakly: kept any longer, the two would keep each other.
  variable.reset();
  if (OPLOOM_UNLIKELY(has_hooks())) Node::release_resources();  // there is nothing else
}

void AccumulateGrad::begin_again(const Tensor& leaf) {
  variable = leaf;
  const InputMetadata& known = input_metadata(0);
  const bool same = known.dtype == leaf.scalar_type() && known.device == leaf.device() &&
                    leaf.sizes() == c10::IntArrayRef(known.sizes);
  if (!same) set_input_metadata(0, leaf);
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  Tensor fresh = std::move(grads[0]);
  if (!fresh.defined() || !variable.requires_grad()) return {};
  const std::lock_guard lock(mutex_);
  accumulate(variable, materialize_autograd_meta(variable)->grad_, std::move(fresh));
  return {};
}

void AccumulateGrad::accumulate(const Tensor& variable, Tensor& grad, Tensor&& fresh) {
  if (!grad.defined()) {
    if (c10::GradMode::is_enabled()) {
      // The graph of the backward pass must see the very tensor, hence a recorded copy.
      grad = fresh.clone();
      return;
    }
    // Ours alone, in memory of its own, laid out like the variable: kept as it is.
    const bool steal = fresh.getIntrusivePtr().unique() && fresh.storage().unique() &&
                       fresh.is_non_overlapping_and_dense() &&
                       (!variable.is_non_overlapping_and_dense() ||
                        fresh.strides().equals(variable.strides()) || fresh.numel() <= 1);
    if (steal) {
      grad = std::move(fresh);
    } else if (variable.is_non_overlapping_and_dense()) {
      grad = at::empty_strided(variable.sizes(), variable.strides(), fresh.options());
      grad.copy_(fresh);
    } else {
      grad = fresh.clone(MemoryFormat::Contiguous);
    }
  } else if (c10::GradMode::is_enabled()) {
    grad = grad + fresh;
  } else {
    // In place, so that whoever holds the gradient sees the sum.
    grad.add_(fresh);
  }
}

variable_list NotImplemented::apply(variable_list&& grads) {
  const bool arrived =
      std::any_of(grads.begin(), grads.end(), [](const Tensor& grad) { return grad.defined(); });
  if (!arrived) return variable_list(num_outputs());
  not_implemented(operator_name_);
}

}  // namespace at::inline oploom_v1::autograd
