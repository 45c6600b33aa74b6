// Type promotion among tensors and numbers: the dtype in which operands are computed together.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

// Note [Promotion categories]
// Operands fall into three categories: tensors with dimensions, tensors without (0-d), and numbers
// (wrapped_number tensors and Scalars). A lower category changes the result only by its kind (bool
// < integer < floating < complex): int32 tensor + 0-d int64 is int32, but int32 tensor + 0-d
// float64 is float64, and int32 tensor + 1.5 has the default dtype.
struct ResultTypeState {
  ScalarType dim_result = ScalarType::Undefined;
  ScalarType zero_result = ScalarType::Undefined;
  ScalarType wrapped_result = ScalarType::Undefined;
};

OPLOOM_API ResultTypeState update_result_type_state(const TensorBase& tensor,
                                                    const ResultTypeState& state);
OPLOOM_API ResultTypeState update_result_type_state(const Scalar& number,
                                                    const ResultTypeState& state);
OPLOOM_API ScalarType result_type(const ResultTypeState& state);

inline ScalarType result_type(const TensorBase& a, const TensorBase& b) {
  return result_type(update_result_type_state(b, update_result_type_state(a, {})));
}
inline ScalarType result_type(const TensorBase& a, const Scalar& b) {
  return result_type(update_result_type_state(b, update_result_type_state(a, {})));
}
inline ScalarType result_type(const Scalar& a, const Scalar& b) {
  return result_type(update_result_type_state(b, update_result_type_state(a, {})));
}

}  // namespace at::inline oploom_v1::native
