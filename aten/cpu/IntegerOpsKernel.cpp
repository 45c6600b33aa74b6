// Number theory and shifts of integers. They are no expressions: gcd loops, and a shift is about
// bits.
#include <aten/cpu/Loops.h>
#include <aten/stubs/BinaryOps.h>

#include <bit>
#include <limits>
#include <type_traits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

template <typename Op>
void integer_op(TensorIteratorBase& iter, const char* name, Op op) {
  OPLOOM_DISPATCH(iter.common_dtype(), name, (OPLOOM_INTEGRAL), [&] {
    cpu_kernel</*kWaits=*/false>(iter,
                                 [op](scalar_t a, scalar_t b) -> scalar_t { return op(a, b); });
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

// `shift` of each number by its count. Where there is no instruction for it, by that for numbers
// twice as wide: once for the lower one of each two, once for the upper one.
template <typename Bits, typename Shift>
OPLOOM_ALWAYS_INLINE Bits shift_each(Bits a, Bits counts, Shift shift) {
  using T = typename Bits::value_type;
  if constexpr (Bits::kShiftsEach) {
    return shift(a, counts);
  } else {
    using Wide = vec::Vec<std::conditional_t<sizeof(T) == 1, uint16_t, uint32_t>>;
    const Wide lower(std::numeric_limits<T>::max()), upper = ~lower;
    const Wide two = std::bit_cast<Wide>(a), by = std::bit_cast<Wide>(counts);
    return std::bit_cast<Bits>(
        (shift_each(two & lower, by & lower, shift) & lower) |
        (shift_each(two & upper, by >> static_cast<int>(sizeof(T) * 8), shift) & upper));
  }
}

// All of them as numbers without a sign.
template <typename V, typename Shift>
OPLOOM_ALWAYS_INLINE V shift_bits(V a, V counts, Shift shift) {
  using T = typename V::value_type;
  using Bits = vec::Vec<std::make_unsigned_t<T>>;
  const V most(static_cast<T>(sizeof(T) * 8 - 1)), zero(T(0));
  const Bits shifted =
      shift_each(std::bit_cast<Bits>(a), std::bit_cast<Bits>(counts & most), shift);
  return blendv(zero, std::bit_cast<V>(shifted), (counts & ~most) == zero);
}

// `op` for numbers, `vec_op` for Vecs.
template <typename Op, typename VecOp>
void shift_op(TensorIteratorBase& iter, const char* name, Op op, VecOp vec_op) {
  OPLOOM_DISPATCH(iter.common_dtype(), name, (OPLOOM_INTEGRAL), [&] {
    if constexpr (vec::Vec<scalar_t>::kInRegister) {
      cpu_kernel_vec<scalar_t>(iter, vec_op);
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
      [](auto a, auto b) { return shift_bits(a, b, [](auto x, auto n) { return x << n; }); });
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
        return flips ^ shift_bits(a ^ flips, b, [](auto x, auto n) { return x >> n; });
      });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(bitwise_left_shift_stub, &bitwise_left_shift_kernel);
OPLOOM_REGISTER_DISPATCH(bitwise_right_shift_stub, &bitwise_right_shift_kernel);
OPLOOM_REGISTER_DISPATCH(gcd_stub, &gcd_kernel);
OPLOOM_REGISTER_DISPATCH(lcm_stub, &lcm_kernel);

}  // namespace at::inline oploom_v1::native
