// Function: the bookkeeping around forward() and backward().
#include <aten/autograd/ForwardAD.h>
#include <aten/autograd/Function.h>

#include <algorithm>

namespace at::inline oploom_v1::autograd {

namespace {

bool contains(const variable_list& list, const Tensor& tensor) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Tensor& other) { return other.is_same(tensor); });
}

}  // namespace

variable_list AutogradContext::get_saved_variables() const {
  OPLOOM_CHECK(!released_, kFreedGraph);
  variable_list result;
  for (const SavedTensor& saved : saved_) result.push_back(saved.unpack(node_));
  return result;
}

bool AutogradContext::needs_input_grad(size_t index) const {
  return node_->task_should_compute_output(index);
}

FunctionNode::FunctionNode(std::string name, Backward backward)
    : name_(std::move(name)), backward_(backward) {
  context_.node_ = this;
}

void FunctionNode::begin() {
  if (forward_ad::is_on() && forward_ad::has_tangent(TensorList(inputs_))) {
    forward_ad::throw_no_formula(name_.c_str());
  }
  recording_ = compute_requires_grad(TensorList(inputs_));
  if (recording_) collect_edges(*this, TensorList(inputs_));
}

void FunctionNode::finish(variable_list& outputs, const c10::intrusive_ptr<Node>& self) {
  const variable_list inputs = std::move(inputs_);
  inputs_.clear();
  const variable_list dirty = std::move(context_.dirty_);
  const variable_list constant = std::move(context_.non_differentiable_);
  const variable_list to_save = std::move(context_.to_save_);
  context_.dirty_.clear();
  context_.non_differentiable_.clear();
  context_.to_save_.clear();
  for (const Tensor& tensor : dirty) {
    OPLOOM_CHECK(contains(outputs, tensor), name_,
                 ": a tensor that was marked as changed in place is not among the outputs; "
                 "return it from forward()");
    if (recording_) check_inplace(tensor, true);
  }
  if (!recording_) return;
  variable_list originals = outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor& output = outputs[i];
    if (!output.defined() || contains(constant, output)) {
      add_input_metadata(output);
      continue;
    }
    if (contains(dirty, output)) {
      OPLOOM_CHECK(outputs.size() == 1 || !output.is_view(),
                   "a Function with several outputs cannot change a view in place");
      rebase_history(output, self);
      continue;
    }
    // An input that is handed through becomes a tensor of its own.
    if (contains(inputs, output)) output = without_history(output);
    set_history(output, self);
  }
  for (const Tensor& tensor : to_save) {
    const auto place = std::find_if(
        originals.begin(), originals.end(),
        [&](const Tensor& original) { return original.defined() && original.is_same(tensor); });
    const bool is_output = place != originals.end();
    const Tensor& saved = is_output ? outputs[place - originals.begin()] : tensor;
    const bool on_view = is_output && contains(dirty, saved) && get_view_meta(saved) != nullptr;
    context_.saved_.emplace_back(saved, is_output, on_view);
  }
}

variable_list FunctionNode::apply(variable_list&& grads) {
  if (context_.materialize_grads_) {
    for (size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].defined() && input_metadata(i).defined)
        grads[i] = input_metadata(i).zeros_like();
    }
  }
  variable_list all = backward_(&context_, std::move(grads));
  // Undefined gradients at the end say nothing.
  while (all.size() > is_tensor_.size() && !all.back().defined()) all.pop_back();
  OPLOOM_CHECK(all.size() == is_tensor_.size(), name_, ": expected ", is_tensor_.size(),
               " gradients, got ", all.size());
  variable_list result;
  for (size_t i = 0; i < all.size(); ++i) {
    if (is_tensor_[i]) {
      result.push_back(std::move(all[i]));
    } else {
      OPLOOM_CHECK(!all[i].defined(), name_, ": got a gradient at position ", i,
                   ", where the forward pass got no tensor");
    }
  }
  return result;
}

void FunctionNode::release_variables() {
  for (SavedTensor& saved : context_.saved_) saved.reset_data();
  context_.released_ = true;
}

}  // namespace at::inline oploom_v1::autograd
