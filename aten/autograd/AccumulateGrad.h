// Nodes that are written by hand: AccumulateGrad, which ends a path at a leaf, and nodes for
// operations without a derivative.
#pragma once

#include <aten/autograd/AutogradMeta.h>

#include <mutex>

namespace at::inline oploom_v1::autograd {

// Adds the gradient to variable.grad(). The first gradient is taken over without a copy when nobody
// else holds it. Graphs that share a leaf may run backward in several threads at once.
class OPLOOM_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor variable);
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "AccumulateGrad"; }
  bool is_accumulate_grad() const override { return true; }

  // After the last owner has gone: the node is used again for the same leaf, which may have been
  // resized since.
  void begin_again(const Tensor& leaf);

  // Adds `fresh` to `grad`, which may be undefined; see above.
  static void accumulate(const Tensor& variable, Tensor& grad, Tensor&& fresh);

  Tensor variable;

 private:
  void release_resources() override;

  std::mutex mutex_;  // held while the gradient changes
};

// Stands for an operation without a derivative, and says so when a gradient arrives.
class OPLOOM_API NotImplemented final : public Node {
 public:
  explicit NotImplemented(const char* operator_name) : operator_name_(operator_name) {}
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "NotImplemented"; }

 private:
  const char* operator_name_;  // a literal
};

// Stands for a change in place to values that depend on nothing: what was there has gradient zero.
class OPLOOM_API NoGradient final : public Node {
 public:
  variable_list apply(variable_list&&) override { return variable_list(num_outputs()); }
  std::string name() const override { return "NoGradient"; }
};

}  // namespace at::inline oploom_v1::autograd
