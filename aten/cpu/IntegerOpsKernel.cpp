// Number theory and shifts of integers. They are no expressions: gcd loops, and a shift is about
// bits.
#include <aten/cpu/Loops.h>
#include <aten/stubs/BinaryOps.h>

#include <bit>
#include <type_traits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

template <typename Op>
void integer_op(TensorIteratorBase& iter, const char* name, Op op) {
  OPLOOM_DISPATCH(iter.common_dtype(), name, (OPLOOM_INTEGRAL), [&] {
    cpu_kernel(iter, [op](scalar_t a, scalar_t b) -> scalar_t { return op(a, b); });
  });
}

// The magnitude, which of the most negative number only the unsigned type can hold. Without a
// branch: there is nothing to tell signs by.
template <typename T>
OPLOOM_ALWAYS_INLINE std::make_unsigned_t<T> magnitude(T x) {
  using U = std::make_unsigned_t<T>;
  const U sign = static_cast<U>(x < 0 ? -1 : 0);
  return static_cast<U>((static_cast<U>(x) ^ sign) - sign);
}

template <typename U>
OPLOOM_ALWAYS_INLINE U greatest_divisor(U a, U b) {
  while (b != 0) {
    const U rest = static_cast<U>(a % b);
    a = b;
    b = rest;
  }
  return a;
}

void gcd_kernel(TensorIteratorBase& iter) {
  integer_op(iter, "gcd", [](auto a, auto b) {
    return static_cast<decltype(a)>(greatest_divisor(magnitude(a), magnitude(b)));
  });
}

void lcm_kernel(TensorIteratorBase& iter) {
  integer_op(iter, "lcm", [](auto a, auto b) {
    using T = decltype(a);
    using U = std::make_unsigned_t<T>;
    const U x = magnitude(a), y = magnitude(b);
    const U divisor = greatest_divisor(x, y);
    return divisor == 0 ? T(0) : static_cast<T>(static_cast<U>(x / divisor * y));
  });
}

// Where C++ leaves a shift undefined, by a negative count or by all bits and more, every bit is
// shifted out.
template <typename T>
OPLOOM_ALWAYS_INLINE bool shifts_all(T count) {
  return count < 0 || magnitude(count) >= sizeof(T) * 8;
}

// No instruction shifts bytes, let alone each by a count of its own: they are shifted by 4, 2 and 1
// bits where the count says so. `shift` is for bytes without a sign.
template <typename V, typename Shift>
OPLOOM_ALWAYS_INLINE V shift_bytes(V a, V counts, Shift shift) {
  using T = typename V::value_type;
  using Bits = vec::Vec<std::make_unsigned_t<T>>;
  const V zero(T(0));
  for (int bits : {4, 2, 1}) {
    const Bits shifted = shift(std::bit_cast<Bits>(a), bits);
    a = blendv(std::bit_cast<V>(shifted), a, (counts & V(static_cast<T>(bits))) == zero);
  }
  return blendv(zero, a, (counts & V(static_cast<T>(~7))) == zero);
}

// `op` for numbers, `byte_op` for Vecs of bytes.
template <typename Op, typename ByteOp>
void shift_op(TensorIteratorBase& iter, const char* name, Op op, ByteOp byte_op) {
  OPLOOM_DISPATCH(iter.common_dtype(), name, (OPLOOM_INTEGRAL), [&] {
    if constexpr (sizeof(scalar_t) == 1 && vec::Vec<scalar_t>::kInRegister) {
      cpu_kernel_vec<scalar_t>(iter, byte_op);
    } else {
      cpu_kernel(iter, [op](scalar_t a, scalar_t b) -> scalar_t { return op(a, b); });
    }
  });
}

void bitwise_left_shift_kernel(TensorIteratorBase& iter) {
  shift_op(
      iter, "bitwise_left_shift",
      [](auto a, auto b) {
        using T = decltype(a);
        using U = std::make_unsigned_t<T>;
        return shifts_all(b) ? T(0) : static_cast<T>(static_cast<U>(static_cast<U>(a) << b));
      },
      [](auto a, auto b) { return shift_bytes(a, b, [](auto x, int n) { return x << n; }); });
}

// Below 0 it is the complement that is shifted, so that ones come in.
void bitwise_right_shift_kernel(TensorIteratorBase& iter) {
  shift_op(
      iter, "bitwise_right_shift",
      [](auto a, auto b) {
        using T = decltype(a);
        if (shifts_all(b)) return a < 0 ? static_cast<T>(-1) : T(0);
        return static_cast<T>(a >> b);
      },
      [](auto a, auto b) {
        const decltype(a) zero(0), flips = blendv(zero, ~zero, a < zero);
        return flips ^ shift_bytes(a ^ flips, b, [](auto x, int n) { return x >> n; });
      });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(bitwise_left_shift_stub, &bitwise_left_shift_kernel);
OPLOOM_REGISTER_DISPATCH(bitwise_right_shift_stub, &bitwise_right_shift_kernel);
OPLOOM_REGISTER_DISPATCH(gcd_stub, &gcd_kernel);
OPLOOM_REGISTER_DISPATCH(lcm_stub, &lcm_kernel);

}  // namespace at::inline oploom_v1::native
