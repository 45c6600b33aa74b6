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

OPLOOM_API void update_result_type_state(const TensorBase& tensor, ResultTypeState& state);
OPLOOM_API void update_result_type_state(const Scalar& number, ResultTypeState& state);
OPLOOM_API ScalarType result_type(const ResultTypeState& state);

// Of tensors and numbers.
template <typename A, typename B>
ScalarType result_type(const A& a, const B& b) {
  ResultTypeState state;
  update_result_type_state(a, state);
  update_result_type_state(b, state);
  return result_type(state);
}

}  // namespace at::inline oploom_v1::native
