// The message for a dimension that does not exist.
#include <c10/core/WrapDimMinimal.h>

namespace c10::inline oploom_v1::detail {

void throw_dim_out_of_range(std::string_view op, int64_t dim, int64_t ndim) {
  const std::string prefix = op.empty() ? std::string() : str(op, "(): ");
  if (ndim == 0 && (dim == 0 || dim == -1)) {
    throw_index_error(
        str(prefix, "expected an input with dimensions, got a 0-d one and dim ", dim));
  }
  if (ndim == 0) {
    throw_index_error(str(prefix, "expected dim in [-1, 0] for a 0-d input, got ", dim));
  }
  throw_index_error(str(prefix, "expected dim in [", -ndim, ", ", ndim - 1, "] for a ", ndim,
                        "-d input, got ", dim));
}

}  // namespace c10::inline oploom_v1::detail
