// Binary pointwise operators and the gradients of activation functions.
#include <aten/core/WrappedNumber.h>
#include <aten/iterator/TypeProperties.h>
#include <aten/native/Activation.h>
#include <aten/native/Alpha.h>
#include <aten/stubs/BinaryOps.h>
#include <generated/native/add.h>
#include <generated/native/bitwise_and.h>
#include <generated/native/bitwise_or.h>
#include <generated/native/bitwise_xor.h>
#include <generated/native/div.h>
#include <generated/native/eq.h>
#include <generated/native/floor_divide.h>
#include <generated/native/fmod.h>
#include <generated/native/ge.h>
#include <generated/native/gelu_backward.h>
#include <generated/native/gt.h>
#include <generated/native/le.h>
#include <generated/native/logical_and.h>
#include <generated/native/logical_or.h>
#include <generated/native/logical_xor.h>
#include <generated/native/lt.h>
#include <generated/native/maximum.h>
#include <generated/native/minimum.h>
#include <generated/native/mul.h>
#include <generated/native/ne.h>
#include <generated/native/pow.h>
#include <generated/native/remainder.h>
#include <generated/native/rsub.h>
#include <generated/native/sub.h>
#include <generated/ops/div.h>
#include <generated/ops/pow.h>
#include <generated/ops/sub.h>

namespace at::inline oploom_v1 {

namespace {

enum class Rounding { None, Trunc, Floor };

Rounding rounding_of(std::optional<std::string_view> mode) {
  if (!mode.has_value()) return Rounding::None;
  if (*mode == "trunc") return Rounding::Trunc;
  OPLOOM_CHECK_VALUE(*mode == "floor",
                     "div(): expected rounding_mode to be None, 'trunc' or 'floor', got '", *mode,
                     "'");
  return Rounding::Floor;
}

void check_subtraction(const char* op, const Tensor& a, const Tensor& b) {
  const bool a_bool = a.scalar_type() == kBool;
  const bool b_bool = b.scalar_type() == kBool;
  OPLOOM_CHECK(
      !a_bool || !b_bool, op,
      "(): subtraction, the `-` operator, of two bool tensors is not supported; use the `^` "
      "or `logical_xor()` operator instead");
  OPLOOM_CHECK(
      !a_bool && !b_bool, op,
      "(): subtraction, the `-` operator, with a bool tensor is not supported; to invert a "
      "mask, use the `~` or `logical_not()` operator instead");
}

void check_ordered(const char* op, const Tensor& a, const Tensor& b) {
  OPLOOM_CHECK(!a.is_complex() && !b.is_complex(), op,
               "(): complex numbers are not supported, got ", a.scalar_type(), " and ",
               b.scalar_type());
}

}  // namespace

namespace meta {

OPLOOM_META_FUNC(add, Tensor)(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
  native::check_alpha("add", common_dtype(), alpha);
}

OPLOOM_META_FUNC(sub, Tensor)(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_subtraction("sub", self, other);
  build_borrowing_binary_op(maybe_get_output(), self, other);
  native::check_alpha("sub", common_dtype(), alpha);
}

OPLOOM_META_FUNC(mul, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPLOOM_META_FUNC(div, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_float_op(maybe_get_output(), self, other);
}

OPLOOM_META_FUNC(div, Tensor_mode)
(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  if (rounding_of(rounding_mode) == Rounding::None) {
    build_borrowing_binary_float_op(maybe_get_output(), self, other);
  } else {
    check_ordered("div", self, other);
    build_borrowing_binary_op(maybe_get_output(), self, other);
  }
}

#define OPLOOM_BINARY_META(...)                                            \
  OPLOOM_META_FUNC(__VA_ARGS__)(const Tensor& self, const Tensor& other) { \
    build_borrowing_binary_op(maybe_get_output(), self, other);            \
  }
OPLOOM_BINARY_META(bitwise_and, Tensor)
OPLOOM_BINARY_META(bitwise_or, Tensor)
OPLOOM_BINARY_META(bitwise_xor, Tensor)
#undef OPLOOM_BINARY_META

OPLOOM_META_FUNC(remainder, Tensor)(const Tensor& self, const Tensor& other) {
  check_ordered("remainder", self, other);
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPLOOM_META_FUNC(fmod, Tensor)(const Tensor& self, const Tensor& other) {
  check_ordered("fmod", self, other);
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPLOOM_META_FUNC(maximum)(const Tensor& self, const Tensor& other) {
  check_ordered("maximum", self, other);
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPLOOM_META_FUNC(minimum)(const Tensor& self, const Tensor& other) {
  check_ordered("minimum", self, other);
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPLOOM_META_FUNC(pow, Tensor_Tensor)(const Tensor& self, const Tensor& exponent) {
  build_borrowing_binary_op(maybe_get_output(), self, exponent);
}

OPLOOM_META_FUNC(pow, Tensor_Scalar)(const Tensor& self, const Scalar& exponent) {
  const bool integers = c10::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  OPLOOM_CHECK(
      !(integers && exponent.isIntegral(true) && exponent.toLong() < 0),
      "pow(): integers to negative integer powers are not allowed; use a floating dtype or "
      "exponent");
  build_borrowing_unary_op_in(native::result_type(self, exponent), maybe_get_output(), self);
}

#define OPLOOM_COMPARISON_META(name)                                        \
  OPLOOM_META_FUNC(name, Tensor)(const Tensor& self, const Tensor& other) { \
    build_borrowing_comparison_op(maybe_get_output(), self, other);         \
  }
OPLOOM_COMPARISON_META(eq)
OPLOOM_COMPARISON_META(ne)
#undef OPLOOM_COMPARISON_META

#define OPLOOM_ORDER_META(name)                                             \
  OPLOOM_META_FUNC(name, Tensor)(const Tensor& self, const Tensor& other) { \
    check_ordered(#name, self, other);                                      \
    build_borrowing_comparison_op(maybe_get_output(), self, other);         \
  }
OPLOOM_ORDER_META(lt)
OPLOOM_ORDER_META(le)
OPLOOM_ORDER_META(gt)
OPLOOM_ORDER_META(ge)
#undef OPLOOM_ORDER_META

#define OPLOOM_LOGICAL_META(name)                                   \
  OPLOOM_META_FUNC(name)(const Tensor& self, const Tensor& other) { \
    build_borrowing_logical_op(maybe_get_output(), self, other);    \
  }
OPLOOM_LOGICAL_META(logical_and)
OPLOOM_LOGICAL_META(logical_or)
OPLOOM_LOGICAL_META(logical_xor)
#undef OPLOOM_LOGICAL_META

// ---- Gradients ----

OPLOOM_META_FUNC(gelu_backward)
(const Tensor& grad_output, const Tensor& self, std::string_view approximate) {
  native::gelu_approximation("gelu_backward", approximate);
  build_borrowing_binary_op(maybe_get_output(), grad_output, self);
}

}  // namespace meta

namespace native {

void check_any_alpha(const char* op, ScalarType dtype, const Scalar& alpha) {
  OPLOOM_CHECK(!alpha.isBoolean() || dtype == kBool, op,
               "(): a bool alpha needs a bool result, got one of dtype ", dtype);
  OPLOOM_CHECK(c10::isFloatingType(dtype) || c10::isComplexType(dtype) || alpha.isIntegral(true),
               op, "(): for integer tensors alpha must not be a floating-point number");
  OPLOOM_CHECK(c10::isComplexType(dtype) || !alpha.isComplex(), op,
               "(): for real tensors alpha must not be a complex number");
}

OPLOOM_IMPL_FUNC(add_out)
(const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& out) {
  add_stub(device_type(), *this, alpha);
}

OPLOOM_IMPL_FUNC(sub_out)
(const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& out) {
  sub_stub(device_type(), *this, alpha);
}

OPLOOM_IMPL_FUNC(div_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  div_true_stub(device_type(), *this);
}

OPLOOM_IMPL_FUNC(div_out_mode)
(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode,
 const Tensor& out) {
  switch (rounding_of(rounding_mode)) {
    case Rounding::None:
      return div_true_stub(device_type(), *this);
    case Rounding::Trunc:
      return div_trunc_stub(device_type(), *this);
    case Rounding::Floor:
      return div_floor_stub(device_type(), *this);
  }
}

#define OPLOOM_BINARY_IMPL(name)                                                             \
  OPLOOM_IMPL_FUNC(name##_out)(const Tensor& self, const Tensor& other, const Tensor& out) { \
    name##_stub(device_type(), *this);                                                       \
  }
OPLOOM_BINARY_IMPL(bitwise_and)
OPLOOM_BINARY_IMPL(bitwise_or)
OPLOOM_BINARY_IMPL(bitwise_xor)
OPLOOM_BINARY_IMPL(eq)
OPLOOM_BINARY_IMPL(fmod)
OPLOOM_BINARY_IMPL(ge)
OPLOOM_BINARY_IMPL(gt)
OPLOOM_BINARY_IMPL(le)
OPLOOM_BINARY_IMPL(logical_and)
OPLOOM_BINARY_IMPL(logical_or)
OPLOOM_BINARY_IMPL(logical_xor)
OPLOOM_BINARY_IMPL(lt)
OPLOOM_BINARY_IMPL(maximum)
OPLOOM_BINARY_IMPL(minimum)
OPLOOM_BINARY_IMPL(mul)
OPLOOM_BINARY_IMPL(ne)
OPLOOM_BINARY_IMPL(remainder)
#undef OPLOOM_BINARY_IMPL

OPLOOM_IMPL_FUNC(pow_Tensor_Tensor_out)
(const Tensor& self, const Tensor& exponent, const Tensor& out) {
  pow_tensor_tensor_stub(device_type(), *this);
}

OPLOOM_IMPL_FUNC(pow_Tensor_Scalar_out)
(const Tensor& self, const Scalar& exponent, const Tensor& out) {
  pow_tensor_scalar_stub(device_type(), *this, exponent);
}

OPLOOM_IMPL_FUNC(gelu_backward_out)
(const Tensor& grad_output, const Tensor& self, std::string_view approximate,
 const Tensor& grad_input) {
  gelu_backward_stub(device_type(), *this, gelu_approximation("gelu_backward", approximate));
}

// ---- Operators made of others ----

Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::sub(other, self, alpha);
}

Tensor pow(const Scalar& self, const Tensor& exponent) {
  return at::pow(at::detail::WrappedNumber(self), exponent);
}

Tensor div(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return at::div(self, at::detail::WrappedNumber(other), rounding_mode);
}

Tensor div(const Scalar& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  return at::div(at::detail::WrappedNumber(self), other, rounding_mode);
}

Tensor& div_(Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return self.div_(at::detail::WrappedNumber(other), rounding_mode);
}

Tensor floor_divide(const Tensor& self, const Tensor& other) {
  return at::div(self, other, "floor");
}

Tensor& floor_divide_(Tensor& self, const Tensor& other) { return self.div_(other, "floor"); }

Tensor& floor_divide_(Tensor& self, const Scalar& other) {
  return self.div_(at::detail::WrappedNumber(other), "floor");
}

Tensor& floor_divide_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::div_outf(self, other, "floor", out);
}

}  // namespace native
}  // namespace at::inline oploom_v1

#include <generated/native/signatures/BinaryOps.h>
