// The default dtype, one for the process.
#include <c10/core/DefaultDtype.h>

#include <atomic>

namespace c10::inline oploom_v1 {

namespace {
constinit std::atomic<ScalarType> default_dtype{ScalarType::Float};
}

ScalarType get_default_dtype() noexcept { return default_dtype.load(std::memory_order_relaxed); }

ScalarType get_default_complex_dtype() noexcept { return toComplexType(get_default_dtype()); }

void set_default_dtype(ScalarType dtype) {
  OPLOOM_CHECK_TYPE(isFloatingType(dtype),
                    "set_default_dtype(): expected a real floating dtype, got ", dtype);
  default_dtype.store(dtype, std::memory_order_relaxed);
}

}  // namespace c10::inline oploom_v1
