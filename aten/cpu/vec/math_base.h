// What the functions of math_*.h are made of: polynomials, and the bits of numbers, for Vec<T> and,
// where a compiler is to vectorise a loop itself, for T.
#pragma once

#include <aten/cpu/vec/vec_base.h>
#if defined(CPU_CAPABILITY_AVX512)
#include <aten/cpu/vec/vec_avx512.h>
#include <aten/cpu/vec/vec_complex.h>
#include <aten/cpu/vec/vec_int.h>
#elif defined(CPU_CAPABILITY_AVX2)
#include <aten/cpu/vec/vec_avx2.h>
#include <aten/cpu/vec/vec_complex.h>
#include <aten/cpu/vec/vec_int.h>
#endif

#include <bit>
#include <utility>

// Note [Own functions]
// The float functions of AVX2 and AVX512 are computed here, by the same code for both. They share a
// scheme: the argument is reduced to a short interval, exactly or with what was rounded away kept
// in a second number, and there a polynomial serves. tools/minimax found the coefficients and says
// how. Fused operations (fmadd) are relied on: products are subtracted from what they nearly equal.
//
// Numbers outside the reduction's reach (NaN, infinities, subnormal arguments of logarithms) are
// made to come out right by the same operations where that costs little, else behind a test of the
// whole Vec (see Note [Usual arguments]); an element's result never depends on its neighbours.
//
// tests/aten/cpu/accuracy compares with glibc over all 2^32 arguments; its table of bounds is
// tests/aten/cpu/Precision.h. DEFAULT calls glibc for each number and is the oracle in other tests.

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Note [Usual arguments]
// Many functions have two forms, a short one for usual arguments and one for any, which serves
// where a Vec holds an argument that is not usual. In a loop, that test costs more than it seems
// to: the branch keeps two Vecs from being computed side by side, and the call behind it constants
// from staying in registers. So these functions are written as f(usual, x) and ask usual.are(mask).
// With Any, which f(x) passes, that is the test. With Usual the answer is yes, and what was asked
// is noted: loops compute two Vecs, look at the notes of both at once, and leave what is not usual
// to a loop apart (for_each_vec in vec.h).
struct Any {
  template <typename Mask>
  OPLOOM_ALWAYS_INLINE bool are(const Mask& mask) const {
    return all(mask);
  }
};
template <typename V>
class Usual {
 public:
  OPLOOM_ALWAYS_INLINE bool are(const typename V::Mask& mask) {
    noted_ = asked_ ? noted_ & mask : mask;
    asked_ = true;
    return true;
  }
  OPLOOM_ALWAYS_INLINE bool were() const { return !asked_ || all(noted_); }
  // True for every other Vec of those that are computed side by side, if each asks once.
  OPLOOM_ALWAYS_INLINE bool by_turns() { return std::exchange(turn_, !turn_); }

 private:
  typename V::Mask noted_;
  bool asked_ = false;
  bool turn_ = false;
};
inline constexpr Any kAny;

// What is passed where the results are rounded to T; it is Any unless T has 16 bits, see Note
// [Short forms] in math_short.h. Functions without a short form take it for Any, too.
template <typename T>
requires(c10::is_reduced_floating_point_v<T>) struct RoundedTo : Any {
};
template <typename T>
inline constexpr Any kRoundedTo;
template <typename T>
requires(c10::is_reduced_floating_point_v<T>) inline constexpr RoundedTo<T> kRoundedTo<T>;

template <typename U>
inline constexpr bool kTellsUsual = std::is_base_of_v<Any, U>;
template <typename V>
inline constexpr bool kTellsUsual<Usual<V>> = true;

// ---- A number like a Vec ----

template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE T fmadd(T a, T b, T c) {
#if defined(__FMA__)
  if constexpr (sizeof(T) == sizeof(float)) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
#else
  return a * b + c;
#endif
}
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE T at_least(T x, T bound) {
  return x < bound ? bound : x;
}
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE T at_most(T x, T bound) {
  return x > bound ? bound : x;
}

// A constant for float or double.
template <typename T>
constexpr T either(float single, double wide) {
  if constexpr (std::is_same_v<T, float>) {
    return single;
  } else {
    return wide;
  }
}

// Two Vecs, one number at a time.
template <typename T, typename F>
Vec<T> map_two(const Vec<T>& a, const Vec<T>& b, F f) {
  alignas(kVecBytes) T x[Vec<T>::size()];
  alignas(kVecBytes) T y[Vec<T>::size()];
  a.storeu(x);
  b.storeu(y);
  for (int i = 0; i < Vec<T>::size(); ++i) x[i] = f(x[i], y[i]);
  return Vec<T>::loadu(x);
}

// ---- Bits ----

template <typename F>
struct FloatingForm;
template <>
struct FloatingForm<float> {
  using number = float;
  using bits = uint32_t;
};
template <>
struct FloatingForm<double> {
  using number = double;
  using bits = uint64_t;
};
template <typename T>
struct FloatingForm<Vec<T>> {
  using number = T;
  using bits = Vec<typename FloatingForm<T>::bits>;
};

template <typename F>
OPLOOM_ALWAYS_INLINE typename FloatingForm<F>::bits bits_of(F x) {
  return std::bit_cast<typename FloatingForm<F>::bits>(x);
}
template <typename F>
OPLOOM_ALWAYS_INLINE F from_bits(typename FloatingForm<F>::bits bits) {
  return std::bit_cast<F>(bits);
}

// ---- Polynomials ----

// first + x * (second + x * (...)), by Horner's rule.
template <typename F, typename T>
OPLOOM_ALWAYS_INLINE F polynomial(F, T only) {
  return F(only);
}
template <typename F, typename T, typename... Rest>
OPLOOM_ALWAYS_INLINE F polynomial(F x, T first, Rest... rest) {
  return fmadd(polynomial(x, rest...), x, F(first));
}

// The same by the even powers and the odd ones, which do not wait for each other: for long
// polynomials whose coefficients fall off, since a little more is rounded away.
template <typename F, typename... T>
OPLOOM_ALWAYS_INLINE F polynomial_by_halves(F x, T... coefficients) {
  constexpr int kCount = sizeof...(T);
  static_assert(kCount >= 3);
  const F c[] = {F(coefficients)...};
  const F square = x * x;
  F last = c[kCount - 1];
  F other = c[kCount - 2];
  for (int i = kCount - 3; i >= 0; i -= 2) {
    last = fmadd(last, square, c[i]);
    if (i > 0) other = fmadd(other, square, c[i - 1]);
  }
  return kCount % 2 == 1 ? fmadd(other, x, last) : fmadd(last, x, other);
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY
