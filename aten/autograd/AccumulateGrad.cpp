// AccumulateGrad and NotImplemented.
#include <aten/autograd/AccumulateGrad.h>
#include <aten/autograd/FunctionsManual.h>
#include <c10/core/GradMode.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/clone.h>
#include <generated/ops/copy.h>
#include <generated/ops/empty_strided.h>

#include <algorithm>
#include <mutex>

namespace at::inline oploom_v1::autograd {

AccumulateGrad::AccumulateGrad(const Tensor& leaf)
    : Node(leaf.unsafeGetTensorImpl()),
      variable(TensorBase::ImplPtr::reclaim(leaf.unsafeGetTensorImpl())) {
  add_input_metadata(leaf);
}

AccumulateGrad::~AccumulateGrad() { const_cast<Tensor&>(variable).unsafeReleaseTensorImpl(); }

variable_list AccumulateGrad::apply(variable_list&& grads) {
  Tensor fresh = std::move(grads[0]);
  if (!fresh.defined() || !variable.requires_grad()) return {};
  AutogradMeta* meta = get_autograd_meta(variable);
  const std::lock_guard lock(meta->grad_mutex_);
  accumulate(variable, meta->grad_, std::move(fresh));
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
