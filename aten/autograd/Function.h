// Function: operations with a backward formula written by a program.
#pragma once

#include <aten/autograd/Recording.h>
#include <aten/core/ivalue.h>

#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace at::inline oploom_v1::autograd {

// What forward() hands to backward().
class OPLOOM_API AutogradContext {
 public:
  // Tensors to be used in backward(), inputs or outputs of forward(); checked there for changes in
  // place. Called once, in forward().
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  variable_list get_saved_variables() const;
  // Declares inputs that forward() has changed in place and returns.
  void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
  void mark_non_differentiable(const variable_list& outputs) { non_differentiable_ = outputs; }
  // Whether gradients that did not arrive are zeros in backward(), which is the default, or
  // undefined.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  // Whether the gradient of tensor argument `index` of forward() is wanted.
  bool needs_input_grad(size_t index) const;

  // Anything else.
  std::unordered_map<std::string, IValue> saved_data;

 private:
  friend class FunctionNode;

  // Not owned: the context is part of its node.
  Node* node_ = nullptr;
  variable_list to_save_;
  variable_list dirty_;
  variable_list non_differentiable_;
  std::vector<SavedTensor> saved_;
  bool materialize_grads_ = true;
  bool released_ = false;
};

// The part of a Function's node that does not depend on the Function.
class OPLOOM_API FunctionNode : public Node {
 public:
  variable_list apply(variable_list&& grads) override;
  void release_variables() override;
  std::string name() const override { return name_; }

  AutogradContext& context() { return context_; }

 protected:
  using Backward = variable_list (*)(AutogradContext*, variable_list);

  FunctionNode(std::string name, Backward backward);
  void add_input(const Tensor& tensor) {
    inputs_.push_back(tensor);
    is_tensor_.push_back(true);
  }
  void add_input(TensorList tensors) {
    for (const Tensor& tensor : tensors) add_input(tensor);
  }
  void add_constant() { is_tensor_.push_back(false); }
  // To be called before and after forward(); `self` owns this node.
  void begin();
  void finish(variable_list& outputs, const c10::intrusive_ptr<Node>& self);

 private:
  AutogradContext context_;
  std::string name_;
  Backward backward_;
  variable_list inputs_;  // of forward(), while it runs
  // For each argument of forward() whether it has a place among the gradients.
  std::vector<bool> is_tensor_;
  bool recording_ = false;
};

// The node of Function T.
template <class T>
class TypedFunctionNode final : public FunctionNode {
 public:
  TypedFunctionNode() : FunctionNode(T::name(), &T::backward) {}

  template <class Argument>
  void add_argument(const Argument& argument) {
    if constexpr (std::is_convertible_v<const Argument&, const Tensor&>) {
      add_input(argument);
    } else if constexpr (std::is_same_v<Argument, std::optional<Tensor>>) {
      add_input(argument.value_or(Tensor()));
    } else if constexpr (std::is_convertible_v<const Argument&, TensorList>) {
      add_input(TensorList(argument));
    } else {
      add_constant();
    }
  }
  using FunctionNode::begin;
  using FunctionNode::finish;
};

// Derive as `struct Square : Function<Square>` with two static functions:
//
//   static Tensor forward(AutogradContext* ctx, const Tensor& x) {
//     ctx->save_for_backward({x});
//     return x * x;
//   }
//   static variable_list backward(AutogradContext* ctx, variable_list grads) {
//     return {grads[0] * ctx->get_saved_variables()[0] * 2};
//   }
//
// and call Square::apply(x). forward() takes any arguments and returns a tensor or a list of
// tensors; nothing in it is recorded. backward() gets a gradient for each tensor that forward()
// returned, and returns one for each argument (undefined for those that are no tensors; one for
// each tensor of a list).
template <class T>
struct Function {
  template <class... Args>
  static auto apply(Args&&... args) {
    const auto node = make_node<TypedFunctionNode<T>>();
    (node->add_argument(args), ...);
    node->begin();
    auto result = [&] {
      c10::NoGradGuard no_grad;
      return T::forward(&node->context(), std::forward<Args>(args)...);
    }();
    using Result = decltype(result);
    variable_list outputs;
    if constexpr (std::is_same_v<Result, Tensor>) {
      outputs.push_back(std::move(result));
    } else {
      outputs.append(result.begin(), result.end());
    }
    node->finish(outputs, node);
    if constexpr (std::is_same_v<Result, Tensor>) {
      return Tensor(std::move(outputs[0]));
    } else {
      return Result(outputs.begin(), outputs.end());
    }
  }

  // The name in messages and of the node; a derived class may have its own.
  static const char* name() { return "Function"; }
};

}  // namespace at::inline oploom_v1::autograd
