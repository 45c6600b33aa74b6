// AutogradMeta: the gradient edge of a tensor, leaves and their accumulators, hooks.
#include <aten/autograd/AccumulateGrad.h>
#include <aten/autograd/AutogradMeta.h>
#include <aten/autograd/Views.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/clone.h>

#include <memory>

namespace at::inline oploom_v1::autograd {

namespace {

const c10::intrusive_ptr<Node> no_node;
const Tensor no_tensor;

// How the core makes an AutogradMeta for a leaf.
struct Factory final : c10::AutogradMetaFactory {
  c10::AutogradMetaInterface* make() const override { return new AutogradMeta; }
  const at::Tensor& undefined_tensor() const override { return no_tensor; }
};
Factory factory;
[[maybe_unused]] const bool registered = (c10::SetAutogradMetaFactory(&factory), true);

}  // namespace

AutogradMeta::~AutogradMeta() {
  AccumulateGrad* accumulator = accumulator_.load(std::memory_order_relaxed);
  while (accumulator != nullptr) delete std::exchange(accumulator, accumulator->next);
  if (grad_fn_) Node::bury(std::move(grad_fn_));
}

bool AutogradMeta::requires_grad() const {
  if (requires_grad_ || grad_fn_) return true;
  if (!is_view_) return false;
  // The base may have got a history since, by an in-place change of it or of another view.
  const auto& view = static_cast<const ViewMeta&>(*this);
  return view.creation_meta_ == CreationMeta::NoGradMode ? view.base_has_newer_history()
                                                         : view.base_.requires_grad();
}

bool ViewMeta::base_has_newer_history() const {
  const AutogradMeta* base = get_autograd_meta(base_);
  return base != nullptr && base->grad_fn_ && base->history_version_ > history_version_;
}

void AutogradMeta::set_requires_grad(bool requires_grad, c10::TensorImpl* self) {
  OPLOOM_CHECK(!requires_grad || is_differentiable_type(self->dtype()),
               "requires_grad_(): expected a tensor of floating-point or complex dtype, got ",
               self->dtype());
  requires_grad_ = requires_grad;
}

AutogradMeta* materialize_autograd_meta(const TensorBase& tensor) {
  AutogradMeta* meta = get_autograd_meta(tensor);
  if (meta == nullptr) {
    meta = new AutogradMeta;
    tensor.unsafeGetTensorImpl()->set_autograd_meta(meta);
  }
  return meta;
}

const c10::intrusive_ptr<Node>& grad_fn(const Tensor& tensor) {
  AutogradMeta* meta = get_autograd_meta(tensor);
  if (meta == nullptr) return no_node;
  if (meta->is_view_) update_view_grad_fn(tensor, static_cast<ViewMeta*>(meta));
  return meta->grad_fn_;
}

namespace {

// The first of the nodes from `first` on that fits; null if there is none.
OPLOOM_ALWAYS_INLINE AccumulateGrad* find_accumulator(AccumulateGrad* first, const Tensor& leaf) {
  while (first != nullptr && OPLOOM_UNLIKELY(!first->fits(leaf))) first = first->next;
  return first;
}

// Threads may record operations on one leaf at the same time, and must find the same node.
OPLOOM_COLD AccumulateGrad* make_accumulator(const Tensor& leaf, AutogradMeta& meta) {
  auto fresh = std::make_unique<AccumulateGrad>(leaf);
  AccumulateGrad* first = meta.accumulator_.load(std::memory_order_acquire);
  for (;;) {
    if (AccumulateGrad* found = find_accumulator(first, leaf); found != nullptr) return found;
    fresh->next = first;
    if (meta.accumulator_.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel,
                                                  std::memory_order_acquire)) {
      return fresh.release();
    }
  }
}

OPLOOM_ALWAYS_INLINE Edge edge_to(const Tensor& tensor) {
  AutogradMeta* meta = get_autograd_meta(tensor);
  if (meta == nullptr) return Edge();
  if (OPLOOM_UNLIKELY(meta->is_view_)) update_view_grad_fn(tensor, static_cast<ViewMeta*>(meta));
  if (meta->grad_fn_) return Edge(NodePtr(meta->grad_fn_.get()), meta->output_nr_);
  if (!meta->requires_grad_) return Edge();
  AccumulateGrad* node =
      find_accumulator(meta->accumulator_.load(std::memory_order_acquire), tensor);
  if (OPLOOM_UNLIKELY(node == nullptr)) node = make_accumulator(tensor, *meta);
  return Edge(NodePtr(node), 0);
}

// Makes `tensor` output `output_nr` of `function`.
void set_grad_fn(const Tensor& tensor, c10::intrusive_ptr<Node>&& function, uint32_t output_nr) {
  AutogradMeta* meta = get_autograd_meta(tensor);
  if (OPLOOM_LIKELY(meta == nullptr)) {
    tensor.unsafeGetTensorImpl()->set_autograd_meta(
        new AutogradMeta(std::move(function), output_nr, tensor._version()));
    return;
  }
  // The old node may die here, and with it much of a graph.
  c10::intrusive_ptr<Node> old = std::exchange(meta->grad_fn_, std::move(function));
  meta->output_nr_ = output_nr;
  meta->history_version_ = tensor._version();
  Node::bury(std::move(old));
}

}  // namespace

Edge gradient_edge(const Tensor& tensor) { return edge_to(tensor); }
void add_edge(Node& node, const Tensor& tensor) { node.add_next_edge(edge_to(tensor)); }

void set_gradient_edge(const Tensor& tensor, Edge edge) {
  set_grad_fn(tensor, std::move(edge.function).release(), edge.input_nr);
}

void set_history(const Tensor& output, c10::intrusive_ptr<Node> function) {
  const uint32_t nr = function->add_input_metadata(output);
  if (output.defined() && is_differentiable_type(output.scalar_type())) {
    set_grad_fn(output, std::move(function), nr);
  }
}

Tensor without_history(const Tensor& tensor) {
  return Tensor(TensorBase::ImplPtr::reclaim(
      tensor.unsafeGetTensorImpl()->shallow_copy_and_detach().release()));
}

Tensor with_history(const Tensor& tensor, Edge edge) {
  Tensor result = without_history(tensor);
  if (edge.is_valid()) set_gradient_edge(result, std::move(edge));
  return result;
}

// ---- Hooks ----

unsigned register_hook(const Tensor& tensor, TensorHook hook) {
  OPLOOM_CHECK(tensor.requires_grad(), "register_hook(): the tensor does not require grad");
  AutogradMeta* meta = materialize_autograd_meta(tensor);
  if (const auto& function = grad_fn(tensor)) {
    return function->add_tensor_hook(meta->output_nr_, std::move(hook));
  }
  if (meta->hooks_ == nullptr) meta->hooks_ = std::make_unique<NodeHooks>();
  meta->hooks_->tensor_hooks.push_back({meta->hooks_->next_id, 0, std::move(hook)});
  return meta->hooks_->next_id++;
}

bool remove_hook(const Tensor& tensor, unsigned id) {
  AutogradMeta* meta = get_autograd_meta(tensor);
  if (meta == nullptr) return false;
  if (const auto& function = grad_fn(tensor)) return function->remove_tensor_hook(id);
  return meta->hooks_ != nullptr && meta->hooks_->remove_tensor_hook(id);
}

void retain_grad(const Tensor& tensor) {
  OPLOOM_CHECK(tensor.requires_grad(), "retain_grad(): the tensor does not require grad");
  AutogradMeta* meta = materialize_autograd_meta(tensor);
  const c10::intrusive_ptr<Node>& function = grad_fn(tensor);
  if (!function || meta->retains_grad_) return;
  // The node must not own its own output.
  c10::weak_intrusive_ptr<TensorImpl, UndefinedTensorImpl> weak(tensor.getIntrusivePtr());
  function->add_retain_hook(meta->output_nr_, [weak](const Tensor& grad) {
    auto impl = weak.lock();
    if (!impl || !grad.defined()) return Tensor();
    const Tensor owner(std::move(impl));
    Tensor& kept = get_autograd_meta(owner)->grad_;
    if (!kept.defined()) {
      kept = grad.clone();
    } else {
      kept = kept + grad;
    }
    return Tensor();
  });
  meta->retains_grad_ = true;
}

}  // namespace at::inline oploom_v1::autograd
