// Nodes that are written by hand: AccumulateGrad, which ends a path at a leaf, and nodes for
// operations without a derivative.
#pragma once

#include <aten/autograd/AutogradMeta.h>

namespace at::inline oploom_v1::autograd {

// Adds the gradient to variable.grad(). The first gradient is taken over without a copy when nobody
// else holds it. Graphs that share a leaf may run backward in several threads at once.
//
// A leaf has one for each shape, dtype and device in which it was recorded, in a list that only
// grows: nearly always a single one.
class OPLOOM_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  ~AccumulateGrad() override;
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "AccumulateGrad"; }

  // Whether the leaf still is as it was when this node was made.
  bool fits(const Tensor& leaf) const {
    const InputMetadata& known = input_metadata(0);
    return known.dtype == leaf.scalar_type() && known.device == leaf.device() &&
           leaf.sizes() == c10::IntArrayRef(known.sizes);
  }

  // Adds `fresh` to `grad`, which may be undefined; see above.
  static void accumulate(const Tensor& variable, Tensor& grad, Tensor&& fresh);

  const Tensor variable;  // the leaf, not counted
  AccumulateGrad* next = nullptr;
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
