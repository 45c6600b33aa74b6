// pow: powers of integers wrap around; particular exponents have loops of their own.
#include <aten/cpu/Loops.h>
#include <aten/cpu/vec/functions.h>
#include <aten/stubs/BinaryOps.h>

#include <cmath>
#include <type_traits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// By squaring, wrapping around. A negative exponent gives what the exact result rounds to: 1 and -1
// have powers, all other numbers give 0.
template <typename V>
OPLOOM_ALWAYS_INLINE V integer_power(V base, V exponent) {
  using T = typename V::value_type;
  const V zero(T(0)), one(T(1));
  if constexpr (std::is_signed_v<T>) {
    const auto negative = exponent < zero;
    const auto vanishes = negative & (base != one) & (base != V(T(-1)));
    base = blendv(base, zero, vanishes);
    exponent = blendv(blendv(exponent, exponent & one, negative), one, vanishes);
  }
  V result = one;
  for (auto bit = std::make_unsigned_t<T>(1); !all(exponent == zero); bit <<= 1) {
    const V digit(static_cast<T>(bit)), rest(static_cast<T>(~bit));
    result = blendv(result, result * base, (exponent & digit) != zero);
    exponent = exponent & rest;
    base = base * base;
  }
  return result;
}
// The same exponent of all, which is not negative.
template <typename V>
OPLOOM_ALWAYS_INLINE V integer_power(V base, typename V::value_type exponent) {
  V result(1);
  for (; exponent > 0; exponent = static_cast<typename V::value_type>(exponent >> 1)) {
    if (exponent & 1) result = result * base;
    base = base * base;
  }
  return result;
}

bool integral(const TensorIteratorBase& iter) {
  return c10::isIntegralType(iter.common_dtype(), /*includeBool=*/false);
}

void pow_tensor_tensor_kernel(TensorIteratorBase& iter) {
  if (integral(iter)) {
    OPLOOM_DISPATCH(iter.common_dtype(), "pow", (OPLOOM_INTEGRAL), [&] {
      cpu_kernel_vec<scalar_t, /*kWaits=*/false>(
          iter, [](const auto& a, const auto& b) { return integer_power(a, b); });
    });
    return;
  }
  if (c10::isComplexType(iter.common_dtype())) {
    OPLOOM_DISPATCH(iter.common_dtype(), "pow", (OPLOOM_COMPLEX), [&] {
      // pow() multiplies the logarithm, also that of 0, by 0.
      cpu_kernel_vec<scalar_t>(iter, [](const auto& a, const auto& b) {
        using V = std::decay_t<decltype(a)>;
        return blendv(pow(a, b), V(scalar_t(1)), b == V(scalar_t(0)));
      });
    });
    return;
  }
  OPLOOM_DISPATCH(iter.common_dtype(), "pow", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    cpu_kernel_vec<scalar_t>(
        iter, vec::TwoForms{[](auto& usual, const auto& a, const auto& b)
                                OPLOOM_ALWAYS_INLINE_LAMBDA { return pow(usual, a, b); }});
  });
}

void pow_tensor_scalar_kernel(TensorIteratorBase& iter, const Scalar& exponent) {
  if (integral(iter)) {
    OPLOOM_DISPATCH(iter.common_dtype(), "pow", (OPLOOM_INTEGRAL), [&] {
      const scalar_t power = exponent.to<scalar_t>();
      if (power == 2) {
        return cpu_kernel_vec<scalar_t>(iter, [](auto a) { return a * a; });
      }
      if (power == 3) {
        return cpu_kernel_vec<scalar_t>(iter, [](auto a) { return a * a * a; });
      }
      cpu_kernel_vec<scalar_t>(iter, [power](const auto& a) { return integer_power(a, power); });
    });
    return;
  }
  OPLOOM_DISPATCH(
      iter.common_dtype(), "pow", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
        using opmath_t = c10::opmath_type<scalar_t>;
        // Whole and half powers that the processor computes directly, and exactly as pow() rounds.
        if (exponent.equal(0)) {
          cpu_kernel_vec<scalar_t>(iter, [](auto a) { return decltype(a)(opmath_t(1)); });
        } else if (exponent.equal(1)) {
          cpu_kernel_vec<scalar_t>(iter, [](auto a) { return a; });
        } else if (exponent.equal(2)) {
          cpu_kernel_vec<scalar_t>(iter, [](auto a) { return a * a; });
        } else if (exponent.equal(3)) {
          cpu_kernel_vec<scalar_t>(iter, [](auto a) { return a * a * a; });
        } else if (exponent.equal(0.5)) {
          cpu_kernel_vec<scalar_t>(
              iter, vec::TwoForms{[](auto& usual, const auto& a)
                                      OPLOOM_ALWAYS_INLINE_LAMBDA { return sqrt(usual, a); }});
        } else if (exponent.equal(-0.5)) {
          cpu_kernel_vec<scalar_t>(
              iter, vec::TwoForms{[](auto& usual, const auto& a)
                                      OPLOOM_ALWAYS_INLINE_LAMBDA { return rsqrt(usual, a); }});
        } else if (exponent.equal(-1)) {
          cpu_kernel_vec<scalar_t>(iter, [](auto a) { return a.reciprocal(); });
        } else if (exponent.equal(-2)) {
          cpu_kernel_vec<scalar_t>(iter, [](auto a) { return (a * a).reciprocal(); });
        } else {
          // What float cannot hold is infinite, as where the exponent is a tensor.
          opmath_t power;
          if constexpr (c10::is_complex_v<opmath_t>) {
            power = c10::convert<opmath_t>(exponent.toComplexDouble());
          } else {
            power = c10::convert<opmath_t>(exponent.toDouble());
          }
          cpu_kernel_vec<scalar_t>(
              iter, vec::TwoForms{[power](auto& usual, const auto& a) OPLOOM_ALWAYS_INLINE_LAMBDA {
                return pow(usual, a, std::decay_t<decltype(a)>(power));
              }});
        }
      });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(pow_tensor_tensor_stub, &pow_tensor_tensor_kernel);
OPLOOM_REGISTER_DISPATCH(pow_tensor_scalar_stub, &pow_tensor_scalar_kernel);

}  // namespace at::inline oploom_v1::native
