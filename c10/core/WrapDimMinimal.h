// maybe_wrap_dim: negative dimensions count from the end.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <cstdint>
#include <string_view>

namespace c10::inline oploom_v1 {

namespace detail {
[[noreturn]] OPLOOM_API void throw_dim_out_of_range(std::string_view op, int64_t dim, int64_t ndim);
}

// The index in [0, ndim). A 0-d tensor accepts -1 and 0 unless wrap_scalar is false.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar = true) {
  if (OPLOOM_LIKELY(dim >= 0 && dim < ndim)) return dim;
  if (OPLOOM_LIKELY(dim < 0 && dim >= -ndim)) return dim + ndim;
  if (ndim == 0 && wrap_scalar && (dim == 0 || dim == -1)) return 0;
  detail::throw_dim_out_of_range({}, dim, ndim);
}

// The same with the operator's name in the message: `softmax(): expected dim in ...`.
inline int64_t wrap_dim(std::string_view op, int64_t dim, int64_t ndim) {
  if (OPLOOM_LIKELY(dim >= 0 && dim < ndim)) return dim;
  if (OPLOOM_LIKELY(dim < 0 && dim >= -ndim)) return dim + ndim;
  if (ndim == 0 && (dim == 0 || dim == -1)) return 0;
  detail::throw_dim_out_of_range(op, dim, ndim);
}

}  // namespace c10::inline oploom_v1
