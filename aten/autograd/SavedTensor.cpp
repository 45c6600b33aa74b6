// SavedTensor: saving, the version check, and restoring the history of outputs.
#include <aten/autograd/ForwardAD.h>
#include <aten/autograd/SavedTensor.h>
#include <aten/autograd/Views.h>
#include <generated/ops/clone.h>

namespace at::inline oploom_v1::autograd {

void SavedTensor::save(const Tensor& tensor, bool is_output, bool is_inplace_on_view) {
  saved_version_ = tensor._version();
  const AutogradMeta* meta = get_autograd_meta(tensor);
  // An output that is not differentiable has no history that could close a circle.
  if (!is_output || meta == nullptr || !meta->grad_fn_) {
    data_ = tensor;
    state_ = State::Original;
    return;
  }
  save_output_data(tensor, meta->output_nr_);
  if (is_inplace_on_view) {
    // The history of the base, which leads to the node: hence only an observer.
    copy_slices_ = c10::weak_intrusive_ptr<Node>(grad_fn(get_view_meta(tensor)->base_));
    state_ = State::OutputOnView;
  }
}

void SavedTensor::save_output(const Tensor& tensor, uint32_t output_nr) {
  if (!tensor.defined()) return;
  if (OPLOOM_UNLIKELY(!is_differentiable_type(tensor.scalar_type()))) return save_input(tensor);
  saved_version_ = tensor._version();
  save_output_data(tensor, output_nr);
}

void SavedTensor::save_output_data(const Tensor& tensor, uint32_t output_nr) {
  data_ = without_history(tensor);
  if (OPLOOM_UNLIKELY(forward_ad::level_is_open())) forward_ad::share_tangent(tensor, data_);
  state_ = State::Output;
  output_nr_ = output_nr;
}

Tensor SavedTensor::unpack_slow(Node* saved_for) const {
  if (state_ == State::Empty) return Tensor();
  OPLOOM_CHECK(state_ != State::Released, kFreedGraph);
  if (data_._version() != saved_version_) version_mismatch(saved_for);
  if (state_ == State::Original || !c10::GradMode::is_enabled()) return data_;
  Tensor result = with_own_history(saved_for);
  if (forward_ad::level_is_open()) forward_ad::share_tangent(data_, result);
  return result;
}

Tensor SavedTensor::with_own_history(Node* saved_for) const {
  if (state_ == State::OutputOnView) {
    const c10::intrusive_ptr<Node> copy_slices = copy_slices_.lock();
    OPLOOM_INTERNAL_ASSERT(copy_slices, "the history of a saved output is gone");
    return static_cast<CopySlices&>(*copy_slices).changed_view(data_);
  }
  return with_history(
      data_, Edge(c10::intrusive_ptr<Node>::unsafe_reclaim_from_nonowning(saved_for), output_nr_));
}

void SavedTensor::version_mismatch(Node* saved_for) const {
  std::string what = c10::str(data_.scalar_type(), " ", data_.sizes());
  const bool is_output = state_ != State::Original;
  const Node* function = is_output ? saved_for : grad_fn(data_).get();
  std::string origin;
  if (function != nullptr) {
    const uint32_t nr = is_output ? output_nr_ : get_autograd_meta(data_)->output_nr_;
    origin = c10::str(", which is output ", nr, " of ", function->name(), ",");
  }
  OPLOOM_ERROR("backward(): a tensor that ",
               saved_for == nullptr ? std::string("a node") : saved_for->name(),
               " saved for its gradient was changed in place since: the ", what, " tensor", origin,
               " was saved at version ", saved_version_, " and is at version ", data_._version(),
               " now; change a clone() of it instead");
}

SavedTensor save_copy(const Tensor& tensor) {
  const Tensor copy = tensor.clone();
  if (forward_ad::level_is_open()) forward_ad::set_tangent(copy, forward_ad::tangent_of(tensor));
  return SavedTensor(copy, false);
}

std::vector<SavedTensor> save_list(TensorList tensors, bool is_output) {
  std::vector<SavedTensor> result;
  result.reserve(tensors.size());
  for (const Tensor& tensor : tensors) result.emplace_back(tensor, is_output);
  return result;
}

std::vector<SavedTensor> save_list(OptionalTensorList tensors, bool is_output) {
  std::vector<SavedTensor> result;
  result.reserve(tensors.size());
  for (const std::optional<Tensor>& tensor : tensors) result.emplace_back(tensor, is_output);
  return result;
}

std::vector<Tensor> unpack_list(const std::vector<SavedTensor>& saved, Node* saved_for) {
  std::vector<Tensor> result;
  result.reserve(saved.size());
  for (const SavedTensor& tensor : saved) result.push_back(tensor.unpack(saved_for));
  return result;
}

std::vector<std::optional<Tensor>> unpack_optional_list(const std::vector<SavedTensor>& saved,
                                                        Node* saved_for) {
  std::vector<std::optional<Tensor>> result;
  result.reserve(saved.size());
  for (const SavedTensor& tensor : saved) result.push_back(tensor.unpack_optional(saved_for));
  return result;
}

}  // namespace at::inline oploom_v1::autograd
