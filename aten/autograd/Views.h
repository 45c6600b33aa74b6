// Views: making them known, and the history of in-place changes through them. See Note [Views and
// in-place changes] in AutogradMeta.h.
#pragma once

#include <aten/autograd/AutogradMeta.h>
#include <aten/autograd/TensorGeometry.h>
#include <c10/core/GradMode.h>

namespace at::inline oploom_v1::autograd {

// Makes `view` known as a view of `base`. Both may be views of something else already. Called for
// the results of view operators, before their history is set.
OPLOOM_API void as_view(const Tensor& base, const Tensor& view, CreationMeta creation_meta);
// The creation meta of an operator that returns one view, or several.
inline CreationMeta creation_meta(bool multi_output = false) {
  if (!c10::GradMode::is_enabled()) return CreationMeta::NoGradMode;
  return multi_output ? CreationMeta::MultiOutputNode : CreationMeta::Default;
}

// The view with geometry `view` of `tensor`, which is laid out like `base`; differentiable.
OPLOOM_API Tensor replay_view(const Tensor& tensor, const TensorGeometry& base,
                              const TensorGeometry& view);

// Brings the grad_fn of a view up to date with its base.
OPLOOM_API void update_view_grad_fn(const Tensor& view, ViewMeta* meta);

// Throws when `self` may not be changed in place by a recorded operation. `requires_grad` says
// whether this one is to be recorded.
OPLOOM_API void check_inplace(const Tensor& self, bool requires_grad);
// Changes of lists are not recorded.
OPLOOM_API void check_inplace(TensorList tensors, bool requires_grad);
// `self` was changed in place by `function`: sets its history, through its base if it is a view.
OPLOOM_API void rebase_history(const Tensor& self, c10::intrusive_ptr<Node> function);

// `self`, whose shape or strides `function` has changed but no element: sets its history.
OPLOOM_API void rebase_reshaped(const Tensor& self, c10::intrusive_ptr<Node> function);

// The history of a base after one of its views was changed in place.
class OPLOOM_API CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, c10::intrusive_ptr<Node> function);
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "CopySlices"; }
  void release_variables() override;

  // The view as it was after the change, with the history that it then had; `data` is an alias of
  // it.
  Tensor changed_view(const Tensor& data);

 private:
  TensorGeometry base_;
  TensorGeometry view_;
  c10::intrusive_ptr<Node> function_;  // the operation as applied to the view
};

}  // namespace at::inline oploom_v1::autograd
