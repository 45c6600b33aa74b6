// Arithmetic of two tensors that is no expression: add, mul, maximum and minimum take bool tensors,
// which expressions refuse; division and remainders of integers have errors and roundings of their
// own; alpha has loops for particular numbers.
#include <aten/cpu/Loops.h>
#include <aten/cpu/vec/functions.h>
#include <aten/stubs/BinaryOps.h>

#include <cmath>
#include <optional>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// Note [Numbers beside 16-bit floats]
// 16-bit floats are multiplied and divided by a number, or a tensor without dimensions of another
// dtype, with all the digits of it that a float has: rounded to 16 bits, 0.1 would be off by up to
// one part in 500, and 1e5 infinite. So it is in PyTorch.

// Does so if input `arg` is such a number; otherwise false.
OPLOOM_NOINLINE bool scale_by_number(TensorIteratorBase& iter, int64_t arg, bool divides) {
  const std::optional<float> number = iter.take_number(arg);
  if (!number) return false;
  OPLOOM_DISPATCH(iter.common_dtype(), "mul", (OPLOOM_REDUCED), [&] {
    cpu_kernel_vec<scalar_t>(iter, [factor = *number, divides](auto a) {
      return divides ? a / decltype(a)(factor) : a * decltype(a)(factor);
    });
  });
  return true;
}

// Bool: see Note [Bools are bytes].
void mul_kernel(TensorIteratorBase& iter) {
  if (c10::isReducedFloatingType(iter.common_dtype()) &&
      (scale_by_number(iter, 2, /*divides=*/false) || scale_by_number(iter, 1, false))) {
    return;
  }
  if (iter.common_dtype() == kBool) {
    return cpu_kernel_vec<uint8_t>(iter, [](auto a, auto b) { return a & b; });
  }
  OPLOOM_DISPATCH(iter.common_dtype(), "mul",
                  (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX),
                  [&] { cpu_kernel_vec<scalar_t>(iter, [](auto a, auto b) { return a * b; }); });
}

void add_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  if (iter.common_dtype() == kBool) {
    const uint8_t factor = alpha.to<bool>();
    return cpu_kernel_vec<uint8_t>(
        iter, [factor](auto a, auto b) { return a | (decltype(b)(factor) & b); });
  }
  OPLOOM_DISPATCH(iter.common_dtype(), "add",
                  (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
                    using opmath_t = c10::opmath_type<scalar_t>;
                    const opmath_t factor = alpha.to<opmath_t>();
                    if (factor == opmath_t(1)) {
                      cpu_kernel_vec<scalar_t>(iter, [](auto a, auto b) { return a + b; });
                    } else {
                      cpu_kernel_vec<scalar_t>(
                          iter, [factor](auto a, auto b) { return a + decltype(a)(factor) * b; });
                    }
                  });
}

void add_row_kernel(ScalarType dtype, void* to, const void* from, int64_t n, const Scalar& alpha) {
  char* data[] = {static_cast<char*>(to), static_cast<char*>(to),
                  static_cast<char*>(const_cast<void*>(from))};
  OPLOOM_DISPATCH(dtype, "add", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    const auto factor = alpha.to<c10::opmath_type<scalar_t>>();
    const auto add = [factor](auto a, auto b) { return a + decltype(a)(factor) * b; };
    dense_vec_row<scalar_t>(data, n, /*repeated=*/0, add, std::make_index_sequence<2>{});
  });
}

// Subtraction is not addition of the negative: unsigned and signed zeros come out as one expects.
void sub_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  OPLOOM_DISPATCH(iter.common_dtype(), "sub",
                  (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
                    using opmath_t = c10::opmath_type<scalar_t>;
                    const opmath_t factor = alpha.to<opmath_t>();
                    if (factor == opmath_t(1)) {
                      cpu_kernel_vec<scalar_t>(iter, [](auto a, auto b) { return a - b; });
                    } else {
                      cpu_kernel_vec<scalar_t>(
                          iter, [factor](auto a, auto b) { return a - decltype(a)(factor) * b; });
                    }
                  });
}

void div_true_kernel(TensorIteratorBase& iter) {
  if (c10::isReducedFloatingType(iter.common_dtype()) &&
      scale_by_number(iter, 2, /*divides=*/true)) {
    return;
  }
  OPLOOM_DISPATCH(iter.common_dtype(), "div", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX),
                  [&] { cpu_kernel_vec<scalar_t>(iter, [](auto a, auto b) { return a / b; }); });
}

// ---- Integer division ----

// The divisors, each of which is looked at once however many elements it stands beside.
struct DivisorsOnce : TensorIteratorBase {
  explicit DivisorsOnce(const TensorIteratorBase& iter) : TensorIteratorBase(iter) {
    for (int d = 0; d < ndim();) {
      if (strides(2)[d] == 0 && shape()[d] > 1) {
        narrow(d, 0, 1);
        d = 0;  // others may have become one
      } else {
        ++d;
      }
    }
  }
};

// An integer that is divided by zero raises a signal on the processor; here it is an error, found
// before anything is written. The most negative number divided by -1 raises it, too, and wraps
// around here.
template <typename T>
void check_divisors(TensorIteratorBase& iter, const char* name) {
  const auto check = [name](char** data, const int64_t* strides, int64_t n) {
    uint8_t zero = 0;
    if (strides[2] == sizeof(T)) {
      const T* divisors = reinterpret_cast<const T*>(data[2]);
      for (int64_t i = 0; i < n; ++i) zero |= divisors[i] == T(0);
    } else {
      for (int64_t i = 0; i < (strides[2] == 0 ? 1 : n); ++i) {
        zero |= *reinterpret_cast<const T*>(data[2] + i * strides[2]) == T(0);
      }
    }
    OPLOOM_CHECK(!zero, name, "(): division of an integer by zero");
  };
  if (iter.ndim() < 2) return iter.for_each(check, GRAIN_SIZE, /*writes=*/false);
  DivisorsOnce(iter).for_each(check, GRAIN_SIZE, /*writes=*/false);
}

// Note [Dividing integers as floats]
// There are vector instructions for the division of floats alone. Of n-bit integers a and b, a / b
// differs from the next integer by at least 1 / |b|, a part of 2^-n of it, and so a float of more
// than n bits is not rounded up to an integer that the quotient does not reach: truncated, it is
// the exact result. float has 24 bits, double 53, and integers of 64 bits are mostly shorter: where
// all in a Vec have up to 52, counting the sign, these are divided as double.
template <typename T>
OPLOOM_ALWAYS_INLINE T divide_trunc(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return vec::wrap_sub(T(0), a);
  }
  if constexpr (sizeof(T) < 8) {
    using F = std::conditional_t<sizeof(T) == 4, double, float>;
    return static_cast<T>(static_cast<int32_t>(static_cast<F>(a) / static_cast<F>(b)));
  } else {
    return static_cast<T>(a / b);
  }
}

template <typename T>
OPLOOM_ALWAYS_INLINE T modulo_trunc(T a, T b) {
  return vec::wrap_sub(a, vec::wrap_mul(divide_trunc(a, b), b));
}

template <typename T>
OPLOOM_ALWAYS_INLINE T divide_floor(T a, T b) {
  const T quotient = divide_trunc(a, b);
  if constexpr (std::is_signed_v<T>) {
    const bool exact = vec::wrap_mul(quotient, b) == a;
    return vec::wrap_sub(quotient, static_cast<T>(!exact & ((a < 0) != (b < 0))));
  }
  return quotient;
}

// The remainder has the divisor's sign.
template <typename T>
OPLOOM_ALWAYS_INLINE T modulo_floor(T a, T b) {
  const T rest = modulo_trunc(a, b);
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(rest + ((rest != 0) & ((rest < 0) != (b < 0)) ? b : T(0)));
  }
  return rest;
}

// by_doubles(a, b) if both are short enough, else by_elements(a, b) for each. There may be zeros
// behind the last divisor.
template <typename T, typename ByDoubles, typename ByElements>
OPLOOM_ALWAYS_INLINE vec::Vec<T> divide_wide(vec::Vec<T> a, vec::Vec<T> b, ByDoubles by_doubles,
                                             ByElements by_elements) {
  using V = vec::Vec<T>;
  using U = vec::Vec<std::make_unsigned_t<T>>;
  using D = vec::Vec<double>;
  const V least(T{1} << 51);
  const auto high_bits = std::bit_cast<U>((a + least) | (b + least)) >> 52;
  if (!all(high_bits == U(0))) [[unlikely]] {
    return map_two(a, b, [&](T x, T y) { return y == 0 ? y : by_elements(x, y); });
  }
  // A number is what is added to the lowest bits of 1.5 * 2^52.
  const D shift(0x1.8p52);
  const auto widened = [&](V x) { return std::bit_cast<D>(x + std::bit_cast<V>(shift)) - shift; };
  return std::bit_cast<V>(by_doubles(widened(a), widened(b)) + shift) - std::bit_cast<V>(shift);
}

// One function for integers, element by element, one for vectors of whole doubles, where it is
// exact, and one for vectors of floating numbers.
template <typename IntegerOp, typename WholeOp, typename FloatingOp>
void division(TensorIteratorBase& iter, const char* name, IntegerOp integer_op, WholeOp whole_op,
              FloatingOp floating_op) {
  OPLOOM_DISPATCH(
      iter.common_dtype(), name, (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
        if constexpr (std::is_integral_v<scalar_t>) {
          check_divisors<scalar_t>(iter, name);
          if constexpr (sizeof(scalar_t) == 8 && vec::Vec<scalar_t>::kInRegister) {
            cpu_kernel_vec<scalar_t, /*kWaits=*/false>(
                iter, [=](auto a, auto b) { return divide_wide(a, b, whole_op, integer_op); });
          } else {
            cpu_kernel</*kWaits=*/false>(iter, [integer_op](scalar_t a, scalar_t b) -> scalar_t {
              return integer_op(a, b);
            });
          }
        } else {
          cpu_kernel_vec<scalar_t, /*kWaits=*/false>(iter, floating_op);
        }
      });
}

void div_trunc_kernel(TensorIteratorBase& iter) {
  division(
      iter, "div", [](auto a, auto b) { return divide_trunc(a, b); },
      [](auto a, auto b) { return (a / b).trunc(); },
      [](auto a, auto b) { return (a / b).trunc(); });
}

void div_floor_kernel(TensorIteratorBase& iter) {
  division(
      iter, "div", [](auto a, auto b) { return divide_floor(a, b); },
      [](auto a, auto b) { return (a / b).floor(); },
      [](auto a, auto b) { return floor_divide(a, b); });
}

void remainder_kernel(TensorIteratorBase& iter) {
  division(
      iter, "remainder", [](auto a, auto b) { return modulo_floor(a, b); },
      [](auto a, auto b) { return fmadd((a / b).floor().neg(), b, a); },
      [](auto a, auto b) { return remainder(a, b); });
}

void fmod_kernel(TensorIteratorBase& iter) {
  division(
      iter, "fmod", [](auto a, auto b) { return modulo_trunc(a, b); },
      [](auto a, auto b) { return fmadd((a / b).trunc().neg(), b, a); },
      [](auto a, auto b) { return fmod(a, b); });
}

// ---- Others ----

void maximum_kernel(TensorIteratorBase& iter) {
  if (iter.common_dtype() == kBool) {
    return cpu_kernel_vec<uint8_t>(iter, [](auto a, auto b) { return a | b; });
  }
  OPLOOM_DISPATCH(
      iter.common_dtype(), "maximum", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
      [&] { cpu_kernel_vec<scalar_t>(iter, [](auto a, auto b) { return maximum(a, b); }); });
}

void minimum_kernel(TensorIteratorBase& iter) {
  if (iter.common_dtype() == kBool) {
    return cpu_kernel_vec<uint8_t>(iter, [](auto a, auto b) { return a & b; });
  }
  OPLOOM_DISPATCH(
      iter.common_dtype(), "minimum", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
      [&] { cpu_kernel_vec<scalar_t>(iter, [](auto a, auto b) { return minimum(a, b); }); });
}

void complex_kernel(TensorIteratorBase& iter) {
  OPLOOM_DISPATCH(iter.dtype(1), "complex", (OPLOOM_FLOATING), [&] {
    cpu_kernel(iter, [](scalar_t real, scalar_t imag) -> c10::complex<scalar_t> {
      return {real, imag};
    });
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(add_stub, &add_kernel);
OPLOOM_REGISTER_DISPATCH(add_row_stub, &add_row_kernel);
OPLOOM_REGISTER_DISPATCH(sub_stub, &sub_kernel);
OPLOOM_REGISTER_DISPATCH(mul_stub, &mul_kernel);
OPLOOM_REGISTER_DISPATCH(div_true_stub, &div_true_kernel);
OPLOOM_REGISTER_DISPATCH(div_trunc_stub, &div_trunc_kernel);
OPLOOM_REGISTER_DISPATCH(div_floor_stub, &div_floor_kernel);
OPLOOM_REGISTER_DISPATCH(remainder_stub, &remainder_kernel);
OPLOOM_REGISTER_DISPATCH(fmod_stub, &fmod_kernel);
OPLOOM_REGISTER_DISPATCH(complex_stub, &complex_kernel);
OPLOOM_REGISTER_DISPATCH(maximum_stub, &maximum_kernel);
OPLOOM_REGISTER_DISPATCH(minimum_stub, &minimum_kernel);

}  // namespace at::inline oploom_v1::native
