// Choosing between values, which is no expression: conditions are tensors of bool, and the ends of
// a range may be absent.
#include <aten/core/OpaqueType.h>
#include <aten/cpu/Loops.h>
#include <aten/stubs/TensorCompare.h>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

void where_kernel(TensorIteratorBase& iter) {
  // Elements are moved as they are.
  with_opaque_type(c10::elementSize(iter.dtype(0)), [&]<typename T>(T) {
    // A condition is read as the byte it is: GCC makes no vectors of bool.
    cpu_kernel(iter, [](uint8_t condition, T self, T other) -> T {
      if constexpr (std::is_integral_v<T>) {
        // Without a branch, in a form that compilers turn into vector instructions.
        const auto mask = static_cast<T>(-static_cast<std::make_signed_t<T>>(condition));
        return static_cast<T>((self & mask) | (other & ~mask));
      } else {
        return condition ? self : other;
      }
    });
  });
}

// A bound beyond the range of an integer type limits nothing.
template <typename T>
c10::opmath_type<T> bound_of(const Scalar& bound) {
  if constexpr (std::is_integral_v<T>) {
    const auto value = bound.to<int64_t>();
    if (value < static_cast<int64_t>(std::numeric_limits<T>::lowest())) {
      return std::numeric_limits<T>::lowest();
    }
    return value > static_cast<int64_t>(std::numeric_limits<T>::max())
               ? std::numeric_limits<T>::max()
               : static_cast<T>(value);
  } else {
    return bound.to<c10::opmath_type<T>>();
  }
}

void clamp_kernel(TensorIteratorBase& iter) {
  OPLOOM_DISPATCH(iter.common_dtype(), "clamp", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
                  [&] {
                    cpu_kernel_vec<scalar_t>(
                        iter, [](auto x, auto min, auto max) { return clamp(x, min, max); });
                  });
}

// With bounds that are no NaN, a comparison with NaN leaves x: half of what maximum() and minimum()
// do, which is what 16-bit floats in the caches wait for.
template <typename V>
OPLOOM_ALWAYS_INLINE V at_least(V x, V low) {
  return blendv(x, low, x < low);
}
template <typename V>
OPLOOM_ALWAYS_INLINE V at_most(V x, V high) {
  return blendv(x, high, x > high);
}

void clamp_scalar_kernel(TensorIteratorBase& iter, const Scalar& min, const Scalar& max) {
  OPLOOM_DISPATCH(iter.common_dtype(), "clamp", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
                  [&] {
                    const auto low = bound_of<scalar_t>(min);
                    const auto high = bound_of<scalar_t>(max);
                    cpu_kernel_vec<scalar_t>(iter, [low, high](auto x) {
                      using V = decltype(x);
                      return at_most(at_least(x, V(low)), V(high));
                    });
                  });
}

void clamp_min_scalar_kernel(TensorIteratorBase& iter, const Scalar& bound) {
  OPLOOM_DISPATCH(
      iter.common_dtype(), "clamp_min", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
        const auto low = bound_of<scalar_t>(bound);
        cpu_kernel_vec<scalar_t>(iter, [low](auto x) { return at_least(x, decltype(x)(low)); });
      });
}

void clamp_max_scalar_kernel(TensorIteratorBase& iter, const Scalar& bound) {
  OPLOOM_DISPATCH(
      iter.common_dtype(), "clamp_max", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
        const auto high = bound_of<scalar_t>(bound);
        cpu_kernel_vec<scalar_t>(iter, [high](auto x) { return at_most(x, decltype(x)(high)); });
      });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(where_stub, &where_kernel);
OPLOOM_REGISTER_DISPATCH(clamp_stub, &clamp_kernel);
OPLOOM_REGISTER_DISPATCH(clamp_scalar_stub, &clamp_scalar_kernel);
OPLOOM_REGISTER_DISPATCH(clamp_min_scalar_stub, &clamp_min_scalar_kernel);
OPLOOM_REGISTER_DISPATCH(clamp_max_scalar_stub, &clamp_max_scalar_kernel);

}  // namespace at::inline oploom_v1::native
