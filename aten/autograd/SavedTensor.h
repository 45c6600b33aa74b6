// SavedTensor: a tensor that a node keeps for its backward pass.
#pragma once

#include <aten/autograd/AutogradMeta.h>
#include <c10/core/GradMode.h>

namespace at::inline oploom_v1::autograd {

// What is said when a graph is walked whose saved values were freed by the first walk.
inline constexpr const char* kFreedGraph =
    "backward(): the graph was freed by an earlier backward(), which frees what was saved on the "
    "way; pass retain_graph to that one to go through the graph again";

// Note [Saved tensors]
// An input is saved as it is, history included. An output is saved without its history, because the
// node would own itself otherwise; unpack() puts the history back. In both cases the memory is
// shared, so a later change in place would make the gradient wrong: the version of the memory at
// the time of saving is kept, and unpack() compares.
class OPLOOM_API SavedTensor {
 public:
  SavedTensor() = default;
  // An output is saved after its history was set. With is_inplace_on_view, `tensor` is a view that
  // the node's operation has changed in place: its history is not this node but one made from its
  // base's (see Note [Views and in-place changes]).
  SavedTensor(const Tensor& tensor, bool is_output, bool is_inplace_on_view = false) {
    if (OPLOOM_LIKELY(tensor.defined())) save(tensor, is_output, is_inplace_on_view);
  }
  SavedTensor(const std::optional<Tensor>& tensor, bool is_output)
      : SavedTensor(tensor.has_value() ? *tensor : Tensor(), is_output) {}
  // The frequent case, in the place of a fresh node.
  void save_input(const Tensor& tensor) {
    if (OPLOOM_UNLIKELY(!tensor.defined())) return;
    data_ = tensor;
    saved_version_ = tensor._version();
    state_ = State::Original;
  }
  void save_input(const std::optional<Tensor>& tensor) {
    if (tensor.has_value()) save_input(*tensor);
  }
  // The output `output_nr` of an operation, before its history is set.
  void save_output(const Tensor& tensor, uint32_t output_nr);

  // The tensor, with its history if one is being recorded. `saved_for` is the node that this
  // belongs to. Undefined if an undefined tensor was saved. Throws if the tensor was changed in
  // place since or has been released.
  Tensor unpack(Node* saved_for) const {
    // Without a graph to be made of the backward pass nobody asks an output for its history.
    if (OPLOOM_LIKELY(state_ == State::Original ||
                      (state_ == State::Output && !c10::GradMode::is_enabled())) &&
        OPLOOM_LIKELY(data_._version() == saved_version_)) {
      return data_;
    }
    return unpack_slow(saved_for);
  }
  std::optional<Tensor> unpack_optional(Node* saved_for) const {
    Tensor tensor = unpack(saved_for);
    return tensor.defined() ? std::optional<Tensor>(std::move(tensor)) : std::nullopt;
  }

  // Frees the tensor; unpack() throws from now on.
  void reset_data() {
    if (state_ == State::Empty) return;
    data_.reset();
    copy_slices_.reset();
    state_ = State::Released;
  }
  bool was_released() const { return state_ == State::Released; }

 private:
  enum class State : uint8_t { Empty, Original, Output, OutputOnView, Released };

  void save(const Tensor& tensor, bool is_output, bool is_inplace_on_view);
  void save_output_data(const Tensor& tensor, uint32_t output_nr);
  Tensor unpack_slow(Node* saved_for) const;
  Tensor with_own_history(Node* saved_for) const;
  [[noreturn]] void version_mismatch(Node* saved_for) const;

  Tensor data_;
  c10::weak_intrusive_ptr<Node> copy_slices_;  // for an output on a view
  uint32_t saved_version_ = 0;
  uint32_t output_nr_ = 0;
  State state_ = State::Empty;
};

// A copy of an input that the operation is about to overwrite, with the tangent that it has before.
OPLOOM_API SavedTensor save_copy(const Tensor& tensor);

// Tensor lists.
OPLOOM_API std::vector<SavedTensor> save_list(TensorList tensors, bool is_output);
OPLOOM_API std::vector<SavedTensor> save_list(OptionalTensorList tensors, bool is_output);
OPLOOM_API std::vector<Tensor> unpack_list(const std::vector<SavedTensor>& saved, Node* saved_for);
OPLOOM_API std::vector<std::optional<Tensor>> unpack_optional_list(
    const std::vector<SavedTensor>& saved, Node* saved_for);

}  // namespace at::inline oploom_v1::autograd
