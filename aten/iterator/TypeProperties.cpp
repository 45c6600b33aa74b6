// Type promotion among tensors and numbers.
#include <aten/iterator/TypeProperties.h>
#include <c10/core/DefaultDtype.h>

namespace at::inline oploom_v1::native {
namespace {

ScalarType promote_if_both(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined) return b;
  if (b == ScalarType::Undefined) return a;
  return c10::promoteTypes(a, b);
}

// See Note [Promotion categories].
ScalarType combine_categories(ScalarType higher, ScalarType lower) {
  if (isComplexType(higher)) return higher;
  if (isFloatingType(higher)) return isComplexType(lower) ? toComplexType(higher) : higher;
  if (higher == ScalarType::Bool || isFloatingType(lower) || isComplexType(lower)) {
    return promote_if_both(higher, lower);
  }
  return higher != ScalarType::Undefined ? higher : lower;
}

// A number has no width: floats stand for the default dtype.
ScalarType type_of_number(ScalarType type) {
  if (isComplexType(type)) return toComplexType(c10::get_default_dtype());
  if (isFloatingType(type)) return c10::get_default_dtype();
  return type;
}

}  // namespace

void update_result_type_state(const TensorBase& tensor, ResultTypeState& state) {
  if (!tensor.defined()) return;
  const ScalarType type = tensor.scalar_type();
  if (tensor.dim() > 0) {
    state.dim_result = promote_if_both(state.dim_result, type);
  } else if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    state.wrapped_result = promote_if_both(state.wrapped_result, type_of_number(type));
  } else {
    state.zero_result = promote_if_both(state.zero_result, type);
  }
}

void update_result_type_state(const Scalar& number, ResultTypeState& state) {
  state.wrapped_result = promote_if_both(state.wrapped_result, type_of_number(number.type()));
}

ScalarType result_type(const ResultTypeState& state) {
  return combine_categories(state.dim_result,
                            combine_categories(state.zero_result, state.wrapped_result));
}

}  // namespace at::inline oploom_v1::native
