// The message for a dtype that a kernel does not support.
#include <aten/core/Dispatch.h>

#include <c10/util/Exception.h>

#include <string>

namespace at::inline oploom_v1::detail {

void throw_unsupported_dtype(const char* op, c10::ScalarType dtype, DtypeMask supported) {
  std::string expected;
  for (int i = 0; i < c10::kNumScalarTypes; ++i) {
    if (((supported >> i) & 1u) == 0) continue;
    if (!expected.empty()) expected += ", ";
    expected += c10::toString(static_cast<c10::ScalarType>(i));
  }
  c10::detail::throw_not_implemented_error(
      c10::str(op, "(): dtype '", dtype, "' is not supported on CPU, expected one of ", expected));
}

}  // namespace at::inline oploom_v1::detail
