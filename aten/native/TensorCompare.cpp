// Operators that choose between values, and those that say whether tensors are equal.
#include <aten/core/Empty.h>
#include <aten/core/WrappedNumber.h>
#include <aten/iterator/TypeProperties.h>
#include <aten/native/ShapeUtils.h>
#include <aten/stubs/BinaryOps.h>
#include <aten/stubs/TensorCompare.h>
#include <generated/native/allclose.h>
#include <generated/native/can_cast.h>
#include <generated/native/clamp.h>
#include <generated/native/clamp_max.h>
#include <generated/native/clamp_min.h>
#include <generated/native/equal.h>
#include <generated/native/isclose.h>
#include <generated/native/masked_fill.h>
#include <generated/native/promote_types.h>
#include <generated/native/result_type.h>
#include <generated/native/where.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/_isclose.h>
#include <generated/ops/abs.h>
#include <generated/ops/add.h>
#include <generated/ops/all.h>
#include <generated/ops/clone.h>
#include <generated/ops/eq.h>
#include <generated/ops/fill.h>
#include <generated/ops/full.h>
#include <generated/ops/isclose.h>
#include <generated/ops/isfinite.h>
#include <generated/ops/isnan.h>
#include <generated/ops/item.h>
#include <generated/ops/le.h>
#include <generated/ops/logical_and.h>
#include <generated/ops/logical_or.h>
#include <generated/ops/masked_fill.h>
#include <generated/ops/mul.h>
#include <generated/ops/nonzero_numpy.h>
#include <generated/ops/sub.h>
#include <generated/ops/to.h>
#include <generated/ops/where.h>

#include <cmath>

namespace at::inline oploom_v1 {

namespace {

void check_real(const char* op, const Tensor& self) {
  OPLOOM_CHECK(!self.is_complex(), op, "(): complex numbers are not supported, got ",
               self.scalar_type());
}

void check_real_bound(const char* op, const Scalar& bound) {
  OPLOOM_CHECK(!bound.isComplex(), op, "(): complex bounds are not supported");
}

// In place, a result of a higher kind than self's has no place to go.
void check_inplace(const char* op, const TensorBase& out, const Tensor& self, ScalarType result) {
  OPLOOM_CHECK(result == self.scalar_type() || !out.defined() || !out.is_same(self), op,
               "_(): result dtype ", result, " can't be cast to self's dtype ", self.scalar_type());
}

}  // namespace

namespace meta {

OPLOOM_META_FUNC(where, self)
(const Tensor& condition, const Tensor& self, const Tensor& other) {
  OPLOOM_CHECK(condition.scalar_type() == kBool,
               "where(): expected condition to be a bool tensor, got one of dtype ",
               condition.scalar_type());
  build_borrowing_where_op(maybe_get_output(), condition, self, other);
}

OPLOOM_META_FUNC(clamp)
(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  OPLOOM_CHECK(min.has_value() || max.has_value(),
               "clamp(): at least one of min and max must be given");
  check_real("clamp", self);
  native::ResultTypeState state;
  native::update_result_type_state(self, state);
  for (const std::optional<Scalar>* bound : {&min, &max}) {
    if (!bound->has_value()) continue;
    check_real_bound("clamp", **bound);
    native::update_result_type_state(**bound, state);
  }
  const ScalarType dtype = native::result_type(state);
  check_inplace("clamp", maybe_get_output(), self, dtype);
  build_borrowing_unary_op_in(dtype, maybe_get_output(), self);
}

OPLOOM_META_FUNC(clamp, Tensor)
(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  OPLOOM_CHECK(is_given(min) || is_given(max),
               "clamp(): at least one of min and max must be given");
  check_real("clamp", self);
  if (is_given(min)) check_real("clamp", *min);
  if (is_given(max)) check_real("clamp", *max);
  if (is_given(min) && is_given(max)) {
    build_borrowing_ternary_op(maybe_get_output(), self, *min, *max);
  } else {
    build_borrowing_binary_op(maybe_get_output(), self, is_given(min) ? *min : *max);
  }
}

OPLOOM_META_FUNC(clamp_min)(const Tensor& self, const Scalar& min) {
  check_real("clamp_min", self);
  check_real_bound("clamp_min", min);
  const ScalarType dtype = native::result_type(self, min);
  check_inplace("clamp_min", maybe_get_output(), self, dtype);
  build_borrowing_unary_op_in(dtype, maybe_get_output(), self);
}

OPLOOM_META_FUNC(clamp_max)(const Tensor& self, const Scalar& max) {
  check_real("clamp_max", self);
  check_real_bound("clamp_max", max);
  const ScalarType dtype = native::result_type(self, max);
  check_inplace("clamp_max", maybe_get_output(), self, dtype);
  build_borrowing_unary_op_in(dtype, maybe_get_output(), self);
}

OPLOOM_META_FUNC(clamp_min, Tensor)(const Tensor& self, const Tensor& min) {
  check_real("clamp_min", self);
  check_real("clamp_min", min);
  build_borrowing_binary_op(maybe_get_output(), self, min);
}

OPLOOM_META_FUNC(clamp_max, Tensor)(const Tensor& self, const Tensor& max) {
  check_real("clamp_max", self);
  check_real("clamp_max", max);
  build_borrowing_binary_op(maybe_get_output(), self, max);
}

}  // namespace meta

namespace native {

OPLOOM_IMPL_FUNC(where_self_out)
(const Tensor& condition, const Tensor& self, const Tensor& other, const Tensor& out) {
  where_stub(device_type(), *this);
}

// A bound that is NaN makes all elements NaN; the kernels are given none.
namespace {
bool fills_with_nan(const Tensor& out, const std::optional<Scalar>& bound) {
  if (!bound.has_value() || !bound->isFloatingPoint() || !std::isnan(bound->to<double>())) {
    return false;
  }
  out.fill_(*bound);
  return true;
}
}  // namespace

OPLOOM_IMPL_FUNC(clamp_out)
(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max,
 const Tensor& out) {
  if (fills_with_nan(out, min) || fills_with_nan(out, max)) return;
  if (min.has_value() && max.has_value()) {
    clamp_scalar_stub(device_type(), *this, *min, *max);
  } else if (min.has_value()) {
    clamp_min_scalar_stub(device_type(), *this, *min);
  } else {
    clamp_max_scalar_stub(device_type(), *this, *max);
  }
}

OPLOOM_IMPL_FUNC(clamp_Tensor_out)
(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max,
 const Tensor& out) {
  if (is_given(min) && is_given(max)) {
    clamp_stub(device_type(), *this);
  } else if (is_given(min)) {
    maximum_stub(device_type(), *this);
  } else {
    minimum_stub(device_type(), *this);
  }
}

OPLOOM_IMPL_FUNC(clamp_min_out)(const Tensor& self, const Scalar& min, const Tensor& out) {
  if (fills_with_nan(out, min)) return;
  clamp_min_scalar_stub(device_type(), *this, min);
}

OPLOOM_IMPL_FUNC(clamp_max_out)(const Tensor& self, const Scalar& max, const Tensor& out) {
  if (fills_with_nan(out, max)) return;
  clamp_max_scalar_stub(device_type(), *this, max);
}

OPLOOM_IMPL_FUNC(clamp_min_Tensor_out)(const Tensor& self, const Tensor& min, const Tensor& out) {
  maximum_stub(device_type(), *this);
}

OPLOOM_IMPL_FUNC(clamp_max_Tensor_out)(const Tensor& self, const Tensor& max, const Tensor& out) {
  minimum_stub(device_type(), *this);
}

// ---- Dtypes ----

ScalarType result_type_of(const Tensor& tensor, const Tensor& other) {
  return result_type(tensor, other);
}
ScalarType result_type_of(const Tensor& tensor, const Scalar& other) {
  return result_type(tensor, other);
}
ScalarType result_type_of(const Scalar& scalar, const Tensor& tensor) {
  return result_type(tensor, scalar);
}
ScalarType result_type_of(const Scalar& scalar1, const Scalar& scalar2) {
  return result_type(scalar1, scalar2);
}

bool can_cast(ScalarType from, ScalarType to) { return c10::canCast(from, to); }
ScalarType promote_types(ScalarType type1, ScalarType type2) {
  return c10::promoteTypes(type1, type2);
}

// ---- where with numbers ----

std::vector<Tensor> where(const Tensor& condition) { return at::nonzero_numpy(condition); }

Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return at::where(condition, at::detail::WrappedNumber(self), other);
}

Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return at::where(condition, self, at::detail::WrappedNumber(other));
}

Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  const ScalarType dtype = result_type(self, other);
  return at::where(condition, at::full({}, self, dtype), at::full({}, other, dtype));
}

// ---- masked_fill ----

namespace {

void check_value_tensor(const Tensor& value) {
  OPLOOM_CHECK(value.dim() == 0,
               "masked_fill(): expected a value without dimensions, got one with ", value.dim());
}

// Writes self to `out`, but `value` where the mask holds.
void fill_where(const Tensor& out, const Tensor& self, const Tensor& mask, const Scalar& value) {
  OPLOOM_CHECK(mask.scalar_type() == kBool,
               "masked_fill(): expected a mask of dtype bool, got one of dtype ",
               mask.scalar_type());
  const Tensor number = at::full({}, value, self.options());
  TensorIterator iter;
  if (!iter.build_where_rows(out, mask, number, self)) {
    TensorIteratorConfig config;
    config.set_name("masked_fill").check_all_same_dtype(false).resize_outputs(false);
    config.add_output(out).add_const_input(mask).add_const_input(number).add_const_input(self);
    iter.build(config);
  }
  if (!self.is_meta()) where_stub(iter.device_type(), iter);
}

}  // namespace

Tensor& masked_fill_(Tensor& self, const Tensor& mask, const Scalar& value) {
  fill_where(self, self, mask, value);
  return self;
}

Tensor& masked_fill_(Tensor& self, const Tensor& mask, const Tensor& value) {
  check_value_tensor(value);
  return self.masked_fill_(mask, self.is_meta() ? Scalar(0) : value.item());
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  const DimVector shape = c10::infer_size_broadcast(self.sizes(), mask.sizes(), "masked_fill");
  const Tensor result(at::detail::empty(shape, self.options()));
  fill_where(result, self, mask, value);
  return result;
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check_value_tensor(value);
  return at::masked_fill(self, mask, self.is_meta() ? Scalar(0) : value.item());
}

// ---- Equality of tensors ----

namespace {

Tensor complex_isclose(const Tensor& self, const Tensor& other, double rtol, double atol,
                       bool equal_nan) {
  Tensor close = at::eq(self, other);
  if (equal_nan) {
    close = at::logical_or(close, at::logical_and(at::isnan(self), at::isnan(other)));
  }
  const Tensor allowed = at::add(at::mul(at::abs(other), Scalar(rtol)), Scalar(atol));
  const Tensor difference = at::abs(at::sub(self, other));
  const Tensor within = at::logical_and(at::isfinite(difference), at::le(difference, allowed));
  return at::logical_or(close, within);
}

}  // namespace

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  OPLOOM_CHECK_VALUE(rtol >= 0 && atol >= 0,
                     "isclose(): expected rtol and atol not to be negative, got ", rtol, " and ",
                     atol);
  if (self.is_complex() || other.is_complex()) {
    return complex_isclose(self, other, rtol, atol, equal_nan);
  }
  const auto is_integral = [](const Tensor& tensor) {
    return c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
  };
  if (rtol == 0 && atol == 0 && is_integral(self) && is_integral(other)) return at::eq(self, other);
  // Differences of integers are taken as floating-point numbers, where they cannot wrap around.
  const auto floating = [&](const Tensor& tensor) {
    return is_integral(tensor) ? tensor.to(kDouble) : tensor;
  };
  return at::_isclose(floating(self), floating(other), rtol, atol, equal_nan);
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return at::isclose(self, other, rtol, atol, equal_nan).all().item<bool>();
}

namespace {

// Of tensors with one shape, by pieces along `dim`: what comes after a difference is not looked at,
// and what eq() gives stays in the cache. Up to kOnePiece elements are compared at once.
constexpr int64_t kOnePiece = 1 << 14, kFirstPiece = 1 << 10, kLargestPiece = 1 << 18;  // elements
bool equal_in_pieces(const Tensor& self, const Tensor& other, int64_t dim) {
  const int64_t rows = self.size(dim), row = self.numel() / rows;
  int64_t elements = kFirstPiece;
  for (int64_t from = 0, count; from < rows; from += count) {
    count = std::min(rows - from, std::max<int64_t>(elements / row, 1));
    const Tensor same =
        at::eq(narrow_alias(self, dim, from, count), narrow_alias(other, dim, from, count));
    if (!same.all().item<bool>()) return false;
    elements = std::min(16 * elements, kLargestPiece);
  }
  return true;
}

// The dimension whose positions lie farthest apart.
int64_t outermost_dim(const Tensor& tensor) {
  int64_t outermost = 0, farthest = -1;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.size(d) > 1 && tensor.strides()[d] > farthest) {
      outermost = d;
      farthest = tensor.strides()[d];
    }
  }
  return outermost;
}

}  // namespace

bool equal(const Tensor& self, const Tensor& other) {
  if (self.sizes() != other.sizes()) return false;
  // What is compared with itself is the same, unless there is a NaN.
  const bool itself = self.scalar_type() == other.scalar_type() &&
                      self.strides() == other.strides() &&
                      self.const_data_ptr() == other.const_data_ptr();
  if (itself && c10::isIntegralType(self.scalar_type(), /*includeBool=*/true)) return true;
  if (self.numel() <= kOnePiece) return at::eq(self, other).all().item<bool>();
  if ((self.is_contiguous() && other.is_contiguous()) ||
      (self.strides() == other.strides() && self.is_non_overlapping_and_dense())) {
    const auto flat = [](const Tensor& tensor) {
      return make_alias(tensor, {tensor.numel()}, {1});
    };
    return equal_in_pieces(flat(self), flat(other), 0);
  }
  // Pieces of any other dimension would lie in the same cache lines.
  const int64_t dim = outermost_dim(self);
  if (outermost_dim(other) != dim) return at::eq(self, other).all().item<bool>();
  return equal_in_pieces(self, other, dim);
}

}  // namespace native
}  // namespace at::inline oploom_v1

#include <generated/native/signatures/TensorCompare.h>
