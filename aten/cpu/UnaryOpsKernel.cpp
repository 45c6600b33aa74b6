// What an expression cannot say of one tensor: bool and complex operands that have a meaning of
// their own.
#include <aten/cpu/Loops.h>
#include <aten/cpu/vec/functions.h>
#include <aten/stubs/UnaryOps.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// The absolute value of a complex number is real: the output has another dtype than the input.
template <typename T>
void complex_abs_kernel(TensorIteratorBase& iter) {
  using V = vec::Vec<T>;
  if constexpr (!V::kInRegister) {
    return cpu_kernel(iter, [](c10::complex<T> z) -> T { return std::abs(z); });
  } else {
    using Complex = vec::Vec<c10::complex<T>>;
    at::detail::for_each_dense_row(iter, 2, [](char* const* data, int64_t n, uint32_t) {
      constexpr int64_t kStep = V::size();
      auto* out = reinterpret_cast<T*>(data[0]);
      const auto* in = reinterpret_cast<const c10::complex<T>*>(data[1]);
      const auto magnitudes = [](const Complex& z)
                                  OPLOOM_ALWAYS_INLINE_LAMBDA { return hypot(z.real(), z.imag()); };
      int64_t i = 0;
      for (; i + kStep <= n; i += kStep) magnitudes(Complex::loadu(in + i)).storeu(out + i);
      if (i < n) magnitudes(Complex::loadu(in + i, n - i)).storeu(out + i, n - i);
    });
  }
}

void abs_kernel(TensorIteratorBase& iter) {
  if (c10::isComplexType(iter.dtype(1))) {
    return OPLOOM_DISPATCH(iter.dtype(1), "abs", (OPLOOM_COMPLEX),
                           [&] { complex_abs_kernel<typename scalar_t::value_type>(iter); });
  }
  if (iter.dtype(1) == kBool) return cpu_kernel(iter, [](bool x) -> bool { return x; });
  if (c10::isReducedFloatingType(iter.dtype(1))) {
    return cpu_kernel(iter, [](uint16_t bits) -> uint16_t { return bits & 0x7fff; });
  }
  OPLOOM_DISPATCH(iter.dtype(1), "abs", (OPLOOM_INTEGRAL, OPLOOM_FLOATING),
                  [&] { cpu_kernel_vec<scalar_t>(iter, [](auto x) { return x.abs(); }); });
}

void conj_physical_kernel(TensorIteratorBase& iter) {
  OPLOOM_DISPATCH(iter.common_dtype(), "conj", (OPLOOM_COMPLEX),
                  [&] { cpu_kernel(iter, [](scalar_t z) -> scalar_t { return std::conj(z); }); });
}

void sign_kernel(TensorIteratorBase& iter) {
  if (iter.common_dtype() == kBool) return cpu_kernel(iter, [](bool x) -> bool { return x; });
  OPLOOM_DISPATCH(iter.common_dtype(), "sign", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
                  [&] {
                    using opmath_t = c10::opmath_type<scalar_t>;
                    cpu_kernel_vec<scalar_t>(iter, [](auto x) {
                      using V = decltype(x);
                      const V zero(opmath_t(0));
                      const V positive = blendv(zero, V(opmath_t(1)), x > zero);
                      return blendv(positive, V(static_cast<opmath_t>(-1)), x < zero);
                    });
                  });
}

void sgn_kernel(TensorIteratorBase& iter) {
  if (!c10::isComplexType(iter.common_dtype())) return sign_kernel(iter);
  OPLOOM_DISPATCH(iter.common_dtype(), "sgn", (OPLOOM_COMPLEX),
                  [&] { cpu_kernel_vec<scalar_t>(iter, [](const auto& z) { return sgn(z); }); });
}

void bitwise_not_kernel(TensorIteratorBase& iter) {
  OPLOOM_DISPATCH(iter.common_dtype(), "bitwise_not", (OPLOOM_BOOL, OPLOOM_INTEGRAL), [&] {
    if constexpr (std::is_same_v<scalar_t, bool>) {
      // See Note [Bools are bytes].
      cpu_kernel_vec<uint8_t>(iter, [](auto x) { return x ^ decltype(x)(1); });
    } else {
      cpu_kernel_vec<scalar_t>(iter, [](auto x) { return ~x; });
    }
  });
}

// ---- Tests: the output is bool ----

// Calls test(magnitude, infinity), of the parts of complex numbers as well: it has to hold for all
// of them, or for any. Of 16-bit floats these are their bits, which are in the same order: NaN is
// above infinity.
template <bool kAll, typename Test>
void test_floats(TensorIteratorBase& iter, const char* name, Test test) {
  OPLOOM_DISPATCH(iter.dtype(1), name, (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
    if constexpr (c10::is_complex_v<scalar_t>) {
      constexpr auto kInfinity = std::numeric_limits<typename scalar_t::value_type>::infinity();
      cpu_kernel(iter, [test](scalar_t z) -> bool {
        const bool real = test(std::abs(z.real()), kInfinity);
        const bool imag = test(std::abs(z.imag()), kInfinity);
        return kAll ? real && imag : real || imag;
      });
    } else if constexpr (c10::is_reduced_floating_point_v<scalar_t>) {
      const auto infinity = static_cast<int16_t>(std::numeric_limits<scalar_t>::infinity().x);
      cpu_kernel(iter, [test, infinity](scalar_t x) -> bool {
        return test(static_cast<int16_t>(x.x & 0x7fff), infinity);
      });
    } else {
      constexpr auto kInfinity = std::numeric_limits<scalar_t>::infinity();
      cpu_kernel(iter, [test](scalar_t x) -> bool { return test(std::abs(x), kInfinity); });
    }
  });
}

void isnan_kernel(TensorIteratorBase& iter) {
  test_floats<false>(iter, "isnan", [](auto x, auto infinity) { return !(x <= infinity); });
}
void isinf_kernel(TensorIteratorBase& iter) {
  test_floats<false>(iter, "isinf", [](auto x, auto infinity) { return x == infinity; });
}
void isfinite_kernel(TensorIteratorBase& iter) {
  test_floats<true>(iter, "isfinite", [](auto x, auto infinity) { return x < infinity; });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(abs_stub, &abs_kernel);
OPLOOM_REGISTER_DISPATCH(bitwise_not_stub, &bitwise_not_kernel);
OPLOOM_REGISTER_DISPATCH(conj_physical_stub, &conj_physical_kernel);
OPLOOM_REGISTER_DISPATCH(isfinite_stub, &isfinite_kernel);
OPLOOM_REGISTER_DISPATCH(isinf_stub, &isinf_kernel);
OPLOOM_REGISTER_DISPATCH(isnan_stub, &isnan_kernel);
OPLOOM_REGISTER_DISPATCH(sgn_stub, &sgn_kernel);
OPLOOM_REGISTER_DISPATCH(sign_stub, &sign_kernel);

}  // namespace at::inline oploom_v1::native
