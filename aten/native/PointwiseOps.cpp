// Ternary pointwise operators.
#include <aten/stubs/PointwiseOps.h>
#include <generated/native/addcdiv.h>
#include <generated/native/addcmul.h>
#include <generated/native/lerp.h>

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(addcmul)
(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  build_borrowing_ternary_op(maybe_get_output(), self, tensor1, tensor2);
}

OPLOOM_META_FUNC(addcdiv)
(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  const auto integers = [](const Tensor& tensor) {
    return c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
  };
  OPLOOM_CHECK(
      !integers(tensor1) || !integers(tensor2),
      "addcdiv(): integer division is not supported; use self + value * (tensor1 / tensor2) "
      "or self + value * tensor1.div(tensor2, rounding_mode='trunc') instead");
  build_borrowing_ternary_op(maybe_get_output(), self, tensor1, tensor2);
}

namespace {
void check_same_dtype(const Tensor& self, const Tensor& other, const char* name) {
  OPLOOM_CHECK(self.scalar_type() == other.scalar_type(), "lerp(): expected dtype ",
               self.scalar_type(), " for `", name, "`, got ", other.scalar_type());
}
}  // namespace

OPLOOM_META_FUNC(lerp, Scalar)(const Tensor& self, const Tensor& end, const Scalar& weight) {
  check_same_dtype(self, end, "end");
  build_borrowing_binary_op(maybe_get_output(), self, end);
}

OPLOOM_META_FUNC(lerp, Tensor)(const Tensor& self, const Tensor& end, const Tensor& weight) {
  check_same_dtype(self, end, "end");
  check_same_dtype(self, weight, "weight");
  build_borrowing_ternary_op(maybe_get_output(), self, end, weight);
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(addcmul_out)
(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value,
 const Tensor& out) {
  addcmul_stub(device_type(), *this, value);
}

OPLOOM_IMPL_FUNC(addcdiv_out)
(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value,
 const Tensor& out) {
  addcdiv_stub(device_type(), *this, value);
}

OPLOOM_IMPL_FUNC(lerp_Scalar)
(const Tensor& self, const Tensor& end, const Scalar& weight, const Tensor& out) {
  lerp_scalar_stub(device_type(), *this, weight);
}

OPLOOM_IMPL_FUNC(lerp_Tensor)
(const Tensor& self, const Tensor& end, const Tensor& weight, const Tensor& out) {
  lerp_tensor_stub(device_type(), *this);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/PointwiseOps.h>
