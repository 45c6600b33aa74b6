// Which tensors are spare, and arithmetic in their memory.
#include <aten/autograd/ForwardAD.h>
#include <aten/autograd/SpareTensors.h>
#include <c10/core/GradMode.h>
#include <generated/ops/div.h>
#include <generated/ops/mul.h>
#include <generated/ops/neg.h>

#include <utility>

namespace at::inline oploom_v1::autograd {

bool is_spare(const Tensor& tensor) {
  if (c10::GradMode::is_enabled() || forward_ad::is_on()) return false;
  if (!tensor.getIntrusivePtr().unique()) return false;
  // What cannot be resized is memory of somebody else, or is shown to somebody.
  const Storage& storage = tensor.storage();
  return storage.unique() && storage.resizable() && tensor.is_non_overlapping_and_dense() &&
         tensor.unsafeGetTensorImpl()->autograd_meta() == nullptr &&
         (tensor.is_floating_point() || tensor.is_complex());
}

namespace {

// Whether the result of `spare` and `other` has the shape, dtype and layout of `spare`.
bool takes_result(const Tensor& spare, const Tensor& other) {
  if (!is_spare(spare)) return false;
  const bool is_factor =
      other.dim() == 0 && spare.dim() > 0 && other.scalar_type() == spare.scalar_type();
  return is_factor || at::detail::is_laid_out_alike(spare, other);
}

}  // namespace

Tensor operator-(Tensor&& a) { return is_spare(a) ? std::move(at::neg_out(a, a)) : at::neg(a); }

Tensor operator*(Tensor&& a, const Scalar& b) {
  return is_spare(a) && (a.is_complex() || !b.isComplex()) ? std::move(at::mul_out(a, a, b))
                                                           : at::mul(a, b);
}
Tensor operator*(Tensor&& a, const Tensor& b) {
  return takes_result(a, b) ? std::move(at::mul_out(a, a, b)) : at::mul(a, b);
}
Tensor operator*(const Tensor& a, Tensor&& b) {
  return takes_result(b, a) ? std::move(at::mul_out(b, a, b)) : at::mul(a, b);
}
Tensor operator*(Tensor&& a, Tensor&& b) {
  return takes_result(a, b) ? std::move(at::mul_out(a, a, b)) : a * std::move(b);
}

Tensor operator/(Tensor&& a, const Tensor& b) {
  return takes_result(a, b) ? std::move(at::div_out(a, a, b)) : at::div(a, b);
}
Tensor operator/(const Tensor& a, Tensor&& b) {
  return takes_result(b, a) ? std::move(at::div_out(b, a, b)) : at::div(a, b);
}
Tensor operator/(Tensor&& a, Tensor&& b) {
  return takes_result(a, b) ? std::move(at::div_out(a, a, b)) : a / std::move(b);
}

}  // namespace at::inline oploom_v1::autograd
