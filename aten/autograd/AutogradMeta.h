// AutogradMeta: what a tensor that takes part in differentiation carries, and ViewMeta, its
// extension for views. Functions that read and change it.
#pragma once

#include <aten/autograd/Node.h>
#include <aten/autograd/Tangent.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/LightMutex.h>

#include <atomic>
#include <memory>

namespace at::inline oploom_v1::autograd {

class AccumulateGrad;
struct ViewMeta;

// Made when a tensor first needs it: an output of a recorded operation, a leaf that requires grad,
// a view. A tensor without it requires no gradient.
struct OPLOOM_API AutogradMeta : c10::AutogradMetaInterface {
  AutogradMeta() = default;
  AutogradMeta(c10::intrusive_ptr<Node> grad_fn, uint32_t output_nr, uint32_t version)
      : grad_fn_(std::move(grad_fn)), output_nr_(output_nr), history_version_(version) {}
  ~AutogradMeta() override;

  void set_requires_grad(bool requires_grad, c10::TensorImpl* self) override;
  bool requires_grad() const override;
  at::Tensor& mutable_grad() override { return grad_; }
  const at::Tensor& grad() const override { return grad_; }

  Tensor grad_;
  // The node that this tensor is output `output_nr_` of; null for a leaf. For a view it can be out
  // of date: read it with autograd::grad_fn().
  c10::intrusive_ptr<Node> grad_fn_;
  // The nodes that accumulate into grad_; leaves only.
  std::atomic<AccumulateGrad*> accumulator_{nullptr};  // owned
  // In forward mode; see Note [Tangents] in ForwardAD.h.
  c10::intrusive_ptr<TangentSlot> tangent_;
  // Hooks of a leaf, which all its accumulators call.
  std::unique_ptr<NodeHooks> hooks_;
  uint32_t output_nr_ = 0;
  uint32_t history_version_ = 0;  // of the memory, when grad_fn_ was set
  bool requires_grad_ = false;    // only true for leaves
  bool retains_grad_ = false;
  const bool is_view_ = false;
  c10::LightMutex grad_mutex_;  // held while an accumulator changes grad_

 protected:
  explicit AutogradMeta(bool is_view) : is_view_(is_view) {}
};

// How a view came about, where that limits what may be done to it.
enum class CreationMeta : uint8_t {
  Default,
  // By an operator that makes several views at once: in-place changes cannot be recorded.
  MultiOutputNode,
  // While gradients were off.
  NoGradMode,
};

// Note [Views and in-place changes]
// A view knows its base, the tensor that is no view and whose memory it shows. Changing a view in
// place changes the base: the history of the base then ends in a CopySlices node, which runs the
// recorded operation on the part of the gradient that the view covers. The view's own grad_fn, and
// that of every other view of that base, is thereby out of date; the version of the memory tells
// so, and autograd::grad_fn() makes a new one that reads the view out of the base's new history.
//
// All of that needs only the geometry of base and view (sizes, strides, offset, dtype), which the
// tensors have anyhow: replay_view() makes the view again from any tensor laid out like the base.
struct OPLOOM_API ViewMeta final : AutogradMeta {
  ViewMeta(Tensor base, CreationMeta creation_meta, uint32_t version)
      : AutogradMeta(true), base_(std::move(base)), creation_meta_(creation_meta) {
    history_version_ = version;
  }

  // A recorded operation has changed the memory since the view was made or got its grad_fn_.
  bool base_has_newer_history() const;

  Tensor base_;  // never a view
  CreationMeta creation_meta_;
  // Made to have another tangent than its base, or none.
  bool own_tangent_ = false;
};

inline AutogradMeta* get_autograd_meta(const TensorBase& tensor) {
  return static_cast<AutogradMeta*>(tensor.unsafeGetTensorImpl()->autograd_meta());
}
// The meta of a differentiable view, or null.
inline ViewMeta* get_view_meta(const TensorBase& tensor) {
  AutogradMeta* meta = get_autograd_meta(tensor);
  return meta != nullptr && meta->is_view_ ? static_cast<ViewMeta*>(meta) : nullptr;
}
// Makes it where there is none.
OPLOOM_API AutogradMeta* materialize_autograd_meta(const TensorBase& tensor);

inline bool is_differentiable_type(ScalarType type) {
  return c10::isFloatingType(type) || c10::isComplexType(type);
}

// The node that `tensor` is an output of, up to date; null for a leaf.
OPLOOM_API const c10::intrusive_ptr<Node>& grad_fn(const Tensor& tensor);
// Where the gradient of `tensor` goes: its grad_fn, its accumulator, or nowhere.
OPLOOM_API Edge gradient_edge(const Tensor& tensor);
// Adds that as the next edge of `node`.
OPLOOM_API void add_edge(Node& node, const Tensor& tensor);
// Makes `tensor` output `edge.input_nr` of `edge.function`.
OPLOOM_API void set_gradient_edge(const Tensor& tensor, Edge edge);
// Makes `output` the next output of `function`. Integers, which have no gradient, only take the
// number.
OPLOOM_API void set_history(const Tensor& output, c10::intrusive_ptr<Node> function);

inline bool is_leaf(const Tensor& tensor) {
  return get_autograd_meta(tensor) == nullptr || !grad_fn(tensor);
}

// An alias of `tensor` without history.
OPLOOM_API Tensor without_history(const Tensor& tensor);
// The same as output `edge.input_nr` of `edge.function`.
OPLOOM_API Tensor with_history(const Tensor& tensor, Edge edge);

// Hooks on a tensor: of its leaf's accumulator or of its grad_fn. The result removes it again.
OPLOOM_API unsigned register_hook(const Tensor& tensor, TensorHook hook);
// Whether there was such a hook.
OPLOOM_API bool remove_hook(const Tensor& tensor, unsigned id);
// Keeps the gradient of a tensor that is no leaf in its grad.
OPLOOM_API void retain_grad(const Tensor& tensor);

}  // namespace at::inline oploom_v1::autograd
