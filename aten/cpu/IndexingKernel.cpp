// Looking at the indices that a kernel is about to use.
#include <aten/cpu/Loops.h>
#include <aten/stubs/Indexing.h>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

bool in_bounds_kernel(const int64_t* index, int64_t n, int64_t lowest, int64_t size) {
  // The sign bits of the distances to both bounds, instead of comparisons. Where one distance wraps
  // around, the other one has its sign.
  uint64_t outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<uint64_t>(index[i]);
    outside |= (value - static_cast<uint64_t>(lowest)) | (static_cast<uint64_t>(size - 1) - value);
  }
  return outside >> 63 == 0;
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(in_bounds_stub, &in_bounds_kernel);

}  // namespace at::inline oploom_v1::native
