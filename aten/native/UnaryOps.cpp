// Unary pointwise operators.
#include <aten/native/Activation.h>
#include <aten/stubs/Copy.h>
#include <aten/stubs/UnaryOps.h>
#include <generated/native/abs.h>
#include <generated/native/bitwise_not.h>
#include <generated/native/conj.h>
#include <generated/native/conj_physical.h>
#include <generated/native/gelu.h>
#include <generated/native/isfinite.h>
#include <generated/native/isinf.h>
#include <generated/native/isnan.h>
#include <generated/native/logical_not.h>
#include <generated/native/sgn.h>
#include <generated/native/sign.h>
#include <generated/ops/conj_physical.h>
#include <generated/ops/fill.h>

#include <aten/native/Activation.h>

namespace at::inline oploom_v1::meta {

// ---- The result has the argument's dtype ----

#define OPLOOM_UNARY_META(name) \
  OPLOOM_META_FUNC(name)(const Tensor& self) { build_borrowing_unary_op(maybe_get_output(), self); }
OPLOOM_UNARY_META(bitwise_not)
OPLOOM_UNARY_META(conj_physical)
OPLOOM_UNARY_META(sgn)
#undef OPLOOM_UNARY_META

OPLOOM_META_FUNC(sign)(const Tensor& self) {
  OPLOOM_CHECK(!self.is_complex(), "sign(): complex numbers have no sign; use sgn()");
  build_borrowing_unary_op(maybe_get_output(), self);
}

OPLOOM_META_FUNC(gelu)(const Tensor& self, std::string_view approximate) {
  native::gelu_approximation("gelu", approximate);
  build_borrowing_unary_op(maybe_get_output(), self);
}

// The absolute value of a complex number is real.
OPLOOM_META_FUNC(abs)(const Tensor& self) {
  if (!self.is_complex()) return build_borrowing_unary_op(maybe_get_output(), self);
  const TensorBase& out = maybe_get_output();
  OPLOOM_CHECK(!out.defined() || !out.is_same(self),
               "abs_(): the absolute value of a complex tensor is real and cannot be stored in it");
  TensorIteratorConfig config;
  config.add_output(out)
      .add_const_input(self)
      .declare_static_dtype(c10::toRealValueType(self.scalar_type()))
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true);
  build(config);
}

// ---- The result is bool ----

#define OPLOOM_UNARY_BOOL_META(name)                                  \
  OPLOOM_META_FUNC(name)(const Tensor& self) {                        \
    build_borrowing_unary_force_boolean_op(maybe_get_output(), self); \
  }
OPLOOM_UNARY_BOOL_META(isfinite)
OPLOOM_UNARY_BOOL_META(isinf)
OPLOOM_UNARY_BOOL_META(isnan)
#undef OPLOOM_UNARY_BOOL_META

OPLOOM_META_FUNC(logical_not)(const Tensor& self) {
  build_borrowing_logical_op(maybe_get_output(), self);
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

#define OPLOOM_UNARY_IMPL(name)                                         \
  OPLOOM_IMPL_FUNC(name##_out)(const Tensor& self, const Tensor& out) { \
    name##_stub(device_type(), *this);                                  \
  }
OPLOOM_UNARY_IMPL(abs)
OPLOOM_UNARY_IMPL(bitwise_not)
OPLOOM_UNARY_IMPL(logical_not)
OPLOOM_UNARY_IMPL(sgn)
OPLOOM_UNARY_IMPL(sign)
#undef OPLOOM_UNARY_IMPL

OPLOOM_IMPL_FUNC(conj_physical_out)(const Tensor& self, const Tensor& out) {
  if (!self.is_complex()) return copy_stub(device_type(), *this, /*non_blocking=*/false);
  conj_physical_stub(device_type(), *this);
}

// Integers are always numbers and finite.
#define OPLOOM_TEST_IMPL(name, of_integers)                              \
  OPLOOM_IMPL_FUNC(name##_out)(const Tensor& self, const Tensor& out) {  \
    if (c10::isIntegralType(self.scalar_type(), /*includeBool=*/true)) { \
      at::Tensor(out).fill_(of_integers);                                \
    } else {                                                             \
      name##_stub(device_type(), *this);                                 \
    }                                                                    \
  }
OPLOOM_TEST_IMPL(isfinite, true)
OPLOOM_TEST_IMPL(isinf, false)
OPLOOM_TEST_IMPL(isnan, false)
#undef OPLOOM_TEST_IMPL

OPLOOM_IMPL_FUNC(gelu_out)(const Tensor& self, std::string_view approximate, const Tensor& out) {
  gelu_stub(device_type(), *this, gelu_approximation("gelu", approximate));
}

Tensor conj(const Tensor& self) { return self.is_complex() ? at::conj_physical(self) : self; }

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/UnaryOps.h>
