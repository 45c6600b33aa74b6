// The dtype of tensors made from floating numbers without one: float32 unless changed.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Export.h>

namespace c10::inline oploom_v1 {

OPLOOM_API ScalarType get_default_dtype() noexcept;
// The complex type whose parts have the default dtype.
OPLOOM_API ScalarType get_default_complex_dtype() noexcept;
// For the whole process; real floating dtypes only.
OPLOOM_API void set_default_dtype(ScalarType dtype);

}  // namespace c10::inline oploom_v1
