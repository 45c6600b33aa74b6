// Formulas that write into tensors which they are the last to read.
//
// Note [Spare tensors]
// The gradient that arrives at a node is mostly held by nobody else, and so are the temporaries of
// a formula. Where one is read for the last time, the result goes to its memory: no tensor has to
// be made, and two streams of memory are moved instead of three. Generated nodes hand over
// the gradient that they are done with as an rvalue, or to a gradient operator as a SpareGradient;
// the operators below take it from there.
#pragma once

#include <aten/core/SpareInput.h>
#include <generated/ops/Tensor.h>

namespace at::inline oploom_v1::autograd {

// Whether nobody but the holder of this handle can see the elements: no other tensor, no array of
// the caller's, no graph, no tangent.
OPLOOM_API bool is_spare(const Tensor& tensor);

// An argument of a gradient operator, which reads it element by element and for the last time.
class SpareGradient {
 public:
  explicit SpareGradient(const Tensor& grad) : grad_(grad) {
    if (is_spare(grad)) at::detail::spare_input = grad.unsafeGetTensorImpl();
  }
  ~SpareGradient() { at::detail::spare_input = nullptr; }
  SpareGradient(const SpareGradient&) = delete;
  SpareGradient& operator=(const SpareGradient&) = delete;
  operator const Tensor&() const { return grad_; }

 private:
  const Tensor& grad_;
};

// As those of at, in the memory of a spare operand.
OPLOOM_API Tensor operator-(Tensor&& a);
OPLOOM_API Tensor operator*(Tensor&& a, const Scalar& b);
OPLOOM_API Tensor operator*(Tensor&& a, const Tensor& b);
OPLOOM_API Tensor operator*(const Tensor& a, Tensor&& b);
OPLOOM_API Tensor operator*(Tensor&& a, Tensor&& b);
OPLOOM_API Tensor operator/(Tensor&& a, const Tensor& b);
OPLOOM_API Tensor operator/(const Tensor& a, Tensor&& b);
OPLOOM_API Tensor operator/(Tensor&& a, Tensor&& b);

}  // namespace at::inline oploom_v1::autograd
