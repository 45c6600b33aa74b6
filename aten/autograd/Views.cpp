// Views: tracking, CopySlices, and the rules for in-place changes.
#include <aten/autograd/FunctionsManual.h>
#include <aten/autograd/SavedTensor.h>
#include <aten/autograd/Views.h>
#include <generated/ops/as_strided.h>
#include <generated/ops/clone.h>
#include <generated/ops/copy.h>
#include <generated/ops/empty_strided.h>
#include <generated/ops/view_as_complex.h>
#include <generated/ops/view_as_real.h>
#include <generated/ops/zero.h>

namespace at::inline oploom_v1::autograd {

namespace {

// The grad_fn of a view whose base has a newer history: reads the view out of the base.
class AsStridedOfBase final : public Node {
 public:
  AsStridedOfBase(const Tensor& base, const Tensor& view) : base_(base), view_(view) {}
  variable_list apply(variable_list&& grads) override {
    variable_list result(1);
    if (grads[0].defined()) {
      result[0] = as_strided_backward(grads[0], base_, view_.sizes(), view_.strides(),
                                      view_.storage_offset());
    }
    return result;
  }
  std::string name() const override { return "AsStridedBackward0"; }
  bool is_builtin() const override { return true; }

 private:
  TensorGeometry base_;
  TensorGeometry view_;
};

// Throws for views that may not be changed in place. With `indirect`, it is the base or another
// view that was changed.
void check_creation_meta(const ViewMeta& meta, bool indirect) {
  if (meta.creation_meta_ == CreationMeta::Default) return;
  const std::string subject =
      meta.grad_fn_ ? c10::str("output ", meta.output_nr_, " of ", meta.grad_fn_->name())
                    : std::string("the tensor");
  const char* change = indirect ? ", whose base or a sibling view was changed in place," : "";
  if (meta.creation_meta_ == CreationMeta::NoGradMode) {
    OPLOOM_ERROR("in-place change: ", subject, change,
                 " is a view that was made without gradient recording, so that it is open whether "
                 "the change shall be recorded; make the view and change it either both without "
                 "gradients (no_grad, NoGradGuard) or both with them");
  }
  OPLOOM_ERROR("in-place change: ", subject, change,
               " is one of several views that were made at once (by split, chunk or unbind), and "
               "such views cannot be changed in place while gradients are recorded; compute a new "
               "tensor instead");
}

// Tensors that keep their gradient go on doing so under their new history.
void move_retain_hook(const Tensor& tensor, Node& old_function, uint32_t old_nr) {
  old_function.remove_retain_hook(old_nr);
  get_autograd_meta(tensor)->retains_grad_ = false;
  retain_grad(tensor);
}

void set_gradient_edge_and_keep_retaining(const Tensor& tensor, Edge edge) {
  AutogradMeta* meta = get_autograd_meta(tensor);
  if (meta == nullptr || !meta->retains_grad_ || !meta->grad_fn_) {
    set_gradient_edge(tensor, std::move(edge));
    return;
  }
  const c10::intrusive_ptr<Node> old = meta->grad_fn_;
  const uint32_t old_nr = meta->output_nr_;
  set_gradient_edge(tensor, std::move(edge));
  move_retain_hook(tensor, *old, old_nr);
}

}  // namespace

void as_view(const Tensor& base, const Tensor& view, CreationMeta creation_meta) {
  if (!view.defined() || !is_differentiable_type(view.scalar_type()) ||
      !is_differentiable_type(base.scalar_type())) {
    return;
  }
  const ViewMeta* of_view = get_view_meta(base);
  // A view of a view that may not be changed in place may not be either.
  if (of_view != nullptr && creation_meta == CreationMeta::Default) {
    creation_meta = of_view->creation_meta_;
  }
  view.unsafeGetTensorImpl()->set_autograd_meta(
      new ViewMeta(of_view != nullptr ? of_view->base_ : base, creation_meta, view._version()));
  if (of_view != nullptr && of_view->own_tangent_) get_view_meta(view)->own_tangent_ = true;
}

Tensor replay_view(const Tensor& tensor, const TensorGeometry& base, const TensorGeometry& view) {
  const int64_t offset = tensor.storage_offset();
  if (view.dtype() == base.dtype()) {
    return tensor.as_strided(view.sizes(), view.strides(),
                             offset + view.storage_offset() - base.storage_offset());
  }
  if (c10::isComplexType(base.dtype())) {
    // A real view of complex numbers: two reals to a number.
    return at::view_as_real(tensor).as_strided(
        view.sizes(), view.strides(),
        2 * offset + view.storage_offset() - 2 * base.storage_offset());
  }
  c10::DimVector sizes(view.sizes());
  c10::DimVector strides(view.strides());
  for (int64_t& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return at::view_as_complex(tensor.as_strided(
      sizes, strides, offset + 2 * view.storage_offset() - base.storage_offset()));
}

void update_view_grad_fn(const Tensor& view, ViewMeta* meta) {
  if (!meta->grad_fn_ && !meta->base_.requires_grad()) return;
  const uint32_t version = view._version();
  if (meta->history_version_ == version) return;
  if (meta->creation_meta_ == CreationMeta::NoGradMode && !meta->grad_fn_ &&
      !meta->base_has_newer_history()) {
    return;
  }
  // Before the base has a history there is nothing newer than what the view was made with.
  const Edge base_edge = gradient_edge(meta->base_);
  if (!base_edge.is_valid()) return;
  check_creation_meta(*meta, /*indirect=*/true);
  const bool retains = meta->retains_grad_;
  const c10::intrusive_ptr<Node> old = meta->grad_fn_;
  const uint32_t old_nr = meta->output_nr_;
  c10::intrusive_ptr<Node> function;
  uint32_t output_nr = 0;
  if (view.scalar_type() == meta->base_.scalar_type()) {
    function = make_node<AsStridedOfBase>(meta->base_, view);
    function->add_next_edge(base_edge);
    function->add_input_metadata(view);
  } else {
    c10::AutoGradMode recording(true);
    const TensorGeometry base_geometry(meta->base_);
    const Tensor again = replay_view(meta->base_, base_geometry, TensorGeometry(view));
    function = get_autograd_meta(again)->grad_fn_;
    output_nr = get_autograd_meta(again)->output_nr_;
  }
  meta->grad_fn_ = std::move(function);
  meta->output_nr_ = output_nr;
  meta->history_version_ = version;
  if (retains && old) move_retain_hook(view, *old, old_nr);
}

void check_inplace(const Tensor& self, bool requires_grad) {
  if (!c10::GradMode::is_enabled()) return;
  if (const ViewMeta* view = get_view_meta(self)) {
    if (requires_grad ||
        (view->creation_meta_ == CreationMeta::NoGradMode && view->base_.requires_grad())) {
      check_creation_meta(*view, /*indirect=*/false);
    }
    OPLOOM_CHECK(!requires_grad || !self.requires_grad() || !is_leaf(view->base_),
                 "in-place change: the tensor is a view of a leaf that requires grad, whose value "
                 "must stay as it is for its gradient; change it without gradients "
                 "(no_grad, NoGradGuard), or clone() the leaf first");
  }
  OPLOOM_CHECK(!requires_grad || !self.requires_grad() || !is_leaf(self),
               "in-place change: the tensor is a leaf that requires grad, whose value must stay as "
               "it is for its gradient; change it without gradients (no_grad, NoGradGuard), or "
               "clone() it first");
}

void check_inplace(TensorList tensors, bool requires_grad) {
  OPLOOM_CHECK(!requires_grad,
               "in-place change: a list of tensors cannot be changed by an operation that is to be "
               "recorded, and some of its arguments require grad; change it without gradients "
               "(no_grad, NoGradGuard)");
  for (const Tensor& tensor : tensors) check_inplace(tensor, false);
}

void rebase_history(const Tensor& self, c10::intrusive_ptr<Node> function) {
  if (!is_differentiable_type(self.scalar_type())) return;
  ViewMeta* view = get_view_meta(self);
  if (view == nullptr) {
    const uint32_t nr = function->add_input_metadata(self);
    set_gradient_edge_and_keep_retaining(self, Edge(std::move(function), nr));
    return;
  }
  function->add_input_metadata(self);
  OPLOOM_INTERNAL_ASSERT(function->num_inputs() == 1,
                         "an operation with several outputs changed a view in place");
  const Tensor base = view->base_;
  auto copy_slices = make_node<CopySlices>(base, self, std::move(function));
  set_gradient_edge_and_keep_retaining(base, Edge(std::move(copy_slices), 0));
  grad_fn(self);  // brings the view itself up to date
}

void rebase_reshaped(const Tensor& self, c10::intrusive_ptr<Node> function) {
  ViewMeta* view = get_view_meta(self);
  if (view == nullptr) {
    rebase_history(self, std::move(function));
    return;
  }
  // The base has not changed; the view is now another one of it.
  auto of_base = make_node<AsStridedOfBase>(view->base_, self);
  of_base->add_next_edge(gradient_edge(view->base_));
  of_base->add_input_metadata(self);
  set_gradient_edge_and_keep_retaining(self, Edge(std::move(of_base), 0));
}

// ---- CopySlices ----

CopySlices::CopySlices(const Tensor& base, const Tensor& view, c10::intrusive_ptr<Node> function)
    : base_(base), view_(view), function_(std::move(function)) {
  // The edges of the operation, except that the gradient of what it changed goes to the base.
  add_input_metadata(base);
  add_next_edge(gradient_edge(base));
  for (size_t i = 1; i < function_->num_outputs(); ++i) add_next_edge(function_->next_edge(i));
}

void CopySlices::release_variables() {
  if (!function_) return;
  function_->release_variables();
  Node::bury(std::move(function_));
  function_ = nullptr;
}

Tensor CopySlices::changed_view(const Tensor& data) {
  auto impl =
      c10::make_intrusive<TensorImpl>(Storage(data.storage()), data.key_set(), base_.dtype());
  impl->set_sizes_and_strides(base_.sizes(), base_.strides(), base_.storage_offset());
  const Tensor base(TensorBase::ImplPtr::reclaim(impl.release()));
  set_gradient_edge(base, Edge(c10::intrusive_ptr<Node>::unsafe_reclaim_from_nonowning(this), 0));
  return replay_view(base, base_, view_);
}

variable_list CopySlices::apply(variable_list&& grads) {
  variable_list result(num_outputs());
  if (!grads[0].defined()) return result;
  OPLOOM_CHECK(function_, kFreedGraph);
  const Tensor grad = std::move(grads[0]);
  // A copy of the gradient laid out like the base, so that the view can be made of it.
  Tensor whole = at::empty_strided(base_.sizes(), base_.strides(), grad.options());
  whole.copy_(grad);
  const Tensor slice = replay_view(whole, base_, view_);
  variable_list slice_grads;
  slice_grads.push_back(slice.clone());
  variable_list inner = (*function_)(std::move(slice_grads));
  for (size_t i = 0; i < inner.size() && i < result.size(); ++i) {
    if (!task_should_compute_output(i)) continue;
    if (i > 0) {
      result[i] = std::move(inner[i]);
      continue;
    }
    // What the operation did not overwrite keeps its gradient.
    if (inner[0].defined()) {
      slice.copy_(inner[0]);
    } else {
      slice.zero_();
    }
    result[0] = whole;
  }
  return result;
}

}  // namespace at::inline oploom_v1::autograd
