// Vec<T> as an array of numbers with a loop for each function: DEFAULT's, which the other forms are
// tested against.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Macros.h>
#include <c10/util/complex_math.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

// Note [Vec]
// Vec<T> holds Vec<T>::size() numbers and has the arithmetic, comparisons and mathematical
// functions that kernels need. Kernels are written for Vec<T> and compiled once for each
// instruction set (CPU_CAPABILITY), so everything here lives in an inline namespace of that name:
// two copies of a function compiled with different instructions must never share a symbol. For the
// same reason there is no static data and nothing that the linker might merge. Comparisons give a
// Mask, whose form is the instruction set's own; blendv() uses it. NaN is an ordinary value:
// maximum, minimum and clamp pass it on from either argument.

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

#if defined(CPU_CAPABILITY_AVX512)
inline constexpr int kVecBytes = 64;
#else
inline constexpr int kVecBytes = 32;
#endif

// The numbers in a Vec of the form below. For DEFAULT it is one: the functions are then what a
// reader would write for one number, and a compiler need not unroll them; it takes several together
// where a loop is simple enough.
template <typename T>
inline constexpr int kLanes = 1;

// Arithmetic that wraps around for integers, where C++ would leave the result undefined.
#define OPLOOM_WRAPPING(name, op)                                      \
  template <typename T>                                                \
  OPLOOM_ALWAYS_INLINE T name(T a, T b) {                              \
    if constexpr (std::is_integral_v<T> && sizeof(T) >= sizeof(int)) { \
      using U = std::make_unsigned_t<T>;                               \
      return static_cast<T>(static_cast<U>(a) op static_cast<U>(b));   \
    } else {                                                           \
      return static_cast<T>(a op b);                                   \
    }                                                                  \
  }
OPLOOM_WRAPPING(wrap_add, +)
OPLOOM_WRAPPING(wrap_sub, -)
OPLOOM_WRAPPING(wrap_mul, *)
#undef OPLOOM_WRAPPING

template <typename T>
OPLOOM_ALWAYS_INLINE bool is_nan(T x) {
  if constexpr (c10::is_complex_v<T>) {
    return is_nan(x.real()) || is_nan(x.imag());
  } else if constexpr (std::is_floating_point_v<T>) {
    return x != x;
  } else {
    return false;
  }
}

template <typename T>
class Vec {
 public:
  using value_type = T;
  static constexpr int size() { return kLanes<T>; }
  // Whether the numbers lie in one register of the processor; otherwise they are an array.
  static constexpr bool kInRegister = false;

  struct Mask {
    std::array<bool, kLanes<T>> values;

    friend Mask operator&(Mask a, const Mask& b) {
      for (int i = 0; i < size(); ++i) a.values[i] = a.values[i] && b.values[i];
      return a;
    }
    friend Mask operator|(Mask a, const Mask& b) {
      for (int i = 0; i < size(); ++i) a.values[i] = a.values[i] || b.values[i];
      return a;
    }
    friend Mask operator!(Mask a) {
      for (int i = 0; i < size(); ++i) a.values[i] = !a.values[i];
      return a;
    }
    friend bool all(const Mask& a) {
      return std::all_of(a.values.begin(), a.values.end(), [](bool truth) { return truth; });
    }
  };

  Vec() = default;
  Vec(T value) { values_.fill(value); }

  static Vec loadu(const void* source) {
    Vec result;
    const T* from = static_cast<const T*>(source);
    for (int i = 0; i < size(); ++i) result.values_[i] = from[i];
    return result;
  }
  // The first `count` numbers; the others are 0.
  static Vec loadu(const void* source, int64_t count) {
    Vec result(T(0));
    const T* from = static_cast<const T*>(source);
    for (int64_t i = 0; i < count; ++i) result.values_[i] = from[i];
    return result;
  }
  void storeu(void* target) const { storeu(target, size()); }
  void storeu(void* target, int64_t count) const {
    T* to = static_cast<T*>(target);
    for (int64_t i = 0; i < count; ++i) to[i] = values_[i];
  }
  T operator[](int i) const { return values_[i]; }

  template <typename F>
  Vec map(F f) const {
    Vec result;
    for (int i = 0; i < size(); ++i) result.values_[i] = f(values_[i]);
    return result;
  }
  template <typename F>
  friend Vec map2(const Vec& a, const Vec& b, F f) {
    Vec result;
    for (int i = 0; i < size(); ++i) result.values_[i] = f(a.values_[i], b.values_[i]);
    return result;
  }

  friend Vec operator+(const Vec& a, const Vec& b) {
    return map2(a, b, [](T x, T y) { return wrap_add(x, y); });
  }
  friend Vec operator-(const Vec& a, const Vec& b) {
    return map2(a, b, [](T x, T y) { return wrap_sub(x, y); });
  }
  friend Vec operator*(const Vec& a, const Vec& b) {
    return map2(a, b, [](T x, T y) { return wrap_mul(x, y); });
  }
  friend Vec operator/(const Vec& a, const Vec& b) {
    return map2(a, b, [](T x, T y) { return x / y; });
  }
  // -0.0 for 0.0, unlike 0 - x.
  Vec neg() const {
    return map([](T x) {
      if constexpr (std::is_integral_v<T>) {
        return wrap_sub(T(0), x);
      } else {
        return -x;
      }
    });
  }

  // a * b + c, rounded once where the processor can do so.
  friend Vec fmadd(const Vec& a, const Vec& b, const Vec& c) { return a * b + c; }

#define OPLOOM_COMPARE(op)                                                            \
  friend Mask operator op(const Vec& a, const Vec& b) {                               \
    Mask result;                                                                      \
    for (int i = 0; i < size(); ++i) result.values[i] = a.values_[i] op b.values_[i]; \
    return result;                                                                    \
  }
  OPLOOM_COMPARE(==)
  OPLOOM_COMPARE(!=)
  OPLOOM_COMPARE(<)
  OPLOOM_COMPARE(<=)
  OPLOOM_COMPARE(>)
  OPLOOM_COMPARE(>=)
#undef OPLOOM_COMPARE
  Mask isnan() const {
    Mask result;
    for (int i = 0; i < size(); ++i) result.values[i] = is_nan(values_[i]);
    return result;
  }
  // `b` where the mask is set, `a` elsewhere.
  friend Vec blendv(const Vec& a, const Vec& b, const Mask& mask) {
    Vec result;
    for (int i = 0; i < size(); ++i) {
      result.values_[i] = mask.values[i] ? b.values_[i] : a.values_[i];
    }
    return result;
  }

  // As bools, one for each number.
  friend void store_truths(const Mask& mask, bool* target) {
    for (int i = 0; i < size(); ++i) target[i] = mask.values[i];
  }

  friend Vec maximum(const Vec& a, const Vec& b) {
    return map2(a, b, [](T x, T y) { return is_nan(x) || x > y ? x : y; });
  }
  friend Vec minimum(const Vec& a, const Vec& b) {
    return map2(a, b, [](T x, T y) { return is_nan(x) || x < y ? x : y; });
  }

#define OPLOOM_BITS(op)                                                 \
  friend Vec operator op(const Vec& a, const Vec& b) {                  \
    return map2(a, b, [](T x, T y) { return static_cast<T>(x op y); }); \
  }
  OPLOOM_BITS(&)
  OPLOOM_BITS(|)
  OPLOOM_BITS(^)
#undef OPLOOM_BITS
  Vec operator~() const {
    return map([](T x) { return static_cast<T>(~x); });
  }

  Vec abs() const {
    return map([](T x) {
      if constexpr (std::is_integral_v<T>) {
        return std::is_signed_v<T> && x < 0 ? wrap_sub(T(0), x) : x;
      } else {
        return T(std::abs(x));
      }
    });
  }

#define OPLOOM_MATH(name, expression)              \
  Vec name() const {                               \
    return map([](T x) { return T(expression); }); \
  }
  OPLOOM_MATH(ceil, std::ceil(x))
  OPLOOM_MATH(cos, std::cos(x))
  OPLOOM_MATH(erf, std::erf(x))
  OPLOOM_MATH(exp, std::exp(x))
  OPLOOM_MATH(expm1, std::expm1(x))
  OPLOOM_MATH(floor, std::floor(x))
  OPLOOM_MATH(log, std::log(x))
  OPLOOM_MATH(log10, std::log10(x))
  OPLOOM_MATH(log1p, std::log1p(x))
  OPLOOM_MATH(log2, std::log2(x))
  OPLOOM_MATH(reciprocal, T(1) / x)
  OPLOOM_MATH(round, std::nearbyint(x))
  OPLOOM_MATH(rsqrt, T(1) / std::sqrt(x))
  OPLOOM_MATH(sin, std::sin(x))
  OPLOOM_MATH(sqrt, std::sqrt(x))
  OPLOOM_MATH(tan, std::tan(x))
  OPLOOM_MATH(tanh, std::tanh(x))
  OPLOOM_MATH(trunc, std::trunc(x))
#undef OPLOOM_MATH

  friend Vec atan2(const Vec& a, const Vec& b) {
    return map2(a, b, [](T x, T y) { return T(std::atan2(x, y)); });
  }
  friend Vec fmod(const Vec& a, const Vec& b) {
    return map2(a, b, [](T x, T y) { return T(std::fmod(x, y)); });
  }
  friend Vec pow(const Vec& a, const Vec& b) {
    return map2(a, b, [](T x, T y) { return T(std::pow(x, y)); });
  }

  // The sum of all numbers, first halves together, then quarters, and so on.
  T reduce_add() const {
    std::array<T, kLanes<T>> rest = values_;
    for (int half = size() / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) rest[i] = wrap_add(rest[i], rest[i + half]);
    }
    return rest[0];
  }

 private:
  std::array<T, kLanes<T>> values_;
};

// Bounds as in clamp(): NaN in x or a bound gives NaN, max wins over min.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> clamp(const Vec<T>& x, const Vec<T>& min, const Vec<T>& max) {
  return minimum(maximum(x, min), max);
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY
