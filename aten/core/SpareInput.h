// The operand of a call that nobody will read afterwards.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>

namespace at::inline oploom_v1::detail {

// Null where there is none. The operator that is called may write its result there if it finds it
// among its operands, and takes it away before it calls anybody else.
extern OPLOOM_API constinit thread_local const c10::TensorImpl* spare_input OPLOOM_TLS_INITIAL_EXEC;

// Whether a result that is computed from both, element by element, is laid out as either.
inline bool is_laid_out_alike(const TensorBase& a, const TensorBase& b) {
  return a.scalar_type() == b.scalar_type() && a.device() == b.device() &&
         a.sizes().equals(b.sizes()) && a.strides().equals(b.strides());
}

}  // namespace at::inline oploom_v1::detail
