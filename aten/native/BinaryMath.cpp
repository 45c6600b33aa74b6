// Binary functions that are no expressions. gcd and lcm take as many steps as their numbers need
// and shifts count bits: an expression knows neither. float_power computes in another dtype than
// that of its inputs. The rest is forms that take a number for a tensor.
#include <aten/core/WrappedNumber.h>
#include <aten/stubs/BinaryOps.h>
#include <generated/native/bitwise_left_shift.h>
#include <generated/native/bitwise_right_shift.h>
#include <generated/native/float_power.h>
#include <generated/native/gcd.h>
#include <generated/native/lcm.h>
#include <generated/native/special_xlog1py.h>
#include <generated/native/special_xlogy.h>
#include <generated/native/xlogy.h>
#include <generated/ops/bitwise_left_shift.h>
#include <generated/ops/bitwise_right_shift.h>
#include <generated/ops/pow.h>
#include <generated/ops/special_xlog1py.h>
#include <generated/ops/to.h>
#include <generated/ops/xlogy.h>

namespace at::inline oploom_v1::meta {

#define OPLOOM_INTEGER_META(...)                                           \
  OPLOOM_META_FUNC(__VA_ARGS__)(const Tensor& self, const Tensor& other) { \
    build_borrowing_binary_op(maybe_get_output(), self, other);            \
  }
OPLOOM_INTEGER_META(bitwise_left_shift, Tensor)
OPLOOM_INTEGER_META(bitwise_right_shift, Tensor)
OPLOOM_INTEGER_META(gcd)
OPLOOM_INTEGER_META(lcm)
#undef OPLOOM_INTEGER_META

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

#define OPLOOM_INTEGER_IMPL(name)                                                            \
  OPLOOM_IMPL_FUNC(name##_out)(const Tensor& self, const Tensor& other, const Tensor& out) { \
    name##_stub(device_type(), *this);                                                       \
  }
OPLOOM_INTEGER_IMPL(bitwise_left_shift)
OPLOOM_INTEGER_IMPL(bitwise_right_shift)
OPLOOM_INTEGER_IMPL(gcd)
OPLOOM_INTEGER_IMPL(lcm)
#undef OPLOOM_INTEGER_IMPL

namespace {

using at::detail::WrappedNumber;

Tensor wide(const Tensor& tensor, bool complex) {
  return tensor.to(complex ? kComplexDouble : kDouble);
}

}  // namespace

// ---- A number for a tensor ----

Tensor bitwise_left_shift(const Tensor& self, const Scalar& other) {
  return at::bitwise_left_shift(self, WrappedNumber(other));
}
Tensor bitwise_right_shift(const Tensor& self, const Scalar& other) {
  return at::bitwise_right_shift(self, WrappedNumber(other));
}
Tensor xlogy(const Scalar& self, const Tensor& other) {
  return at::xlogy(WrappedNumber(self), other);
}
Tensor xlogy(const Tensor& self, const Scalar& other) {
  return at::xlogy(self, WrappedNumber(other));
}
Tensor special_xlogy(const Tensor& self, const Tensor& other) { return at::xlogy(self, other); }
Tensor special_xlogy(const Scalar& self, const Tensor& other) { return at::xlogy(self, other); }
Tensor special_xlogy(const Tensor& self, const Scalar& other) { return at::xlogy(self, other); }
Tensor special_xlog1py(const Scalar& self, const Tensor& other) {
  return at::special_xlog1py(WrappedNumber(self), other);
}
Tensor special_xlog1py(const Tensor& self, const Scalar& other) {
  return at::special_xlog1py(self, WrappedNumber(other));
}

// ---- Powers in double precision ----

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  const bool complex = self.is_complex() || exponent.is_complex();
  return at::pow(wide(self, complex), wide(exponent, complex));
}
Tensor float_power(const Tensor& self, const Scalar& exponent) {
  return at::pow(wide(self, self.is_complex() || exponent.isComplex()), exponent);
}
Tensor float_power(const Scalar& self, const Tensor& exponent) {
  return at::pow(self, wide(exponent, self.isComplex() || exponent.is_complex()));
}

namespace {
void check_can_hold_power(const Tensor& self, bool complex) {
  const ScalarType result = complex ? ScalarType::ComplexDouble : ScalarType::Double;
  OPLOOM_CHECK(self.scalar_type() == result, "float_power_(): the result is of dtype ", result,
               ", which a tensor of dtype ", self.scalar_type(),
               " does not hold; use float_power(), or a tensor of dtype ", result);
}
}  // namespace

Tensor& float_power_(Tensor& self, const Tensor& exponent) {
  const bool complex = self.is_complex() || exponent.is_complex();
  check_can_hold_power(self, complex);
  return self.pow_(wide(exponent, complex));
}
Tensor& float_power_(Tensor& self, const Scalar& exponent) {
  check_can_hold_power(self, self.is_complex() || exponent.isComplex());
  return self.pow_(exponent);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/BinaryMath.h>
