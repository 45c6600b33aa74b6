// Number<T> and Truth: what the functors of expression kernels compute with on a GPU.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/core/ScalarType.h>
#include <c10/util/HostDevice.h>

#include <type_traits>

// Note [Numbers on a GPU]
// A functor of generated/cuda is written as that of generated/cpu is, with Number<T> in the place
// of Vec<T>: one number instead of several. The class is there because T alone will not do: C++
// computes with small integers as int, and leaves overflow undefined where Vec<T> wraps around.
// Everything here and in functions.h compiles for the CPU, too, where tests compare the results
// with those of the CPU's kernels.

namespace at::inline oploom_v1::cuda {

struct Truth {
  bool value;

  Truth() = default;
  OPLOOM_HOST_DEVICE Truth(bool truth) : value(truth) {}

  OPLOOM_HOST_DEVICE friend Truth operator&(Truth a, Truth b) { return a.value && b.value; }
  OPLOOM_HOST_DEVICE friend Truth operator|(Truth a, Truth b) { return a.value || b.value; }
  OPLOOM_HOST_DEVICE friend Truth operator!(Truth a) { return !a.value; }
  OPLOOM_HOST_DEVICE friend bool all(Truth a) { return a.value; }
};

namespace detail {
// The type to compute in: unsigned for integers, so that they wrap around, and at least as wide as
// int, to which C++ would promote them.
template <typename T, bool integral = std::is_integral_v<T>>
struct Arithmetic {
  using type = T;
};
template <typename T>
struct Arithmetic<T, true> {
  using type =
      std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;
};
}  // namespace detail

template <typename T>
struct Number {
  using value_type = T;
  using Mask = Truth;

  T value;

  Number() = default;
  OPLOOM_HOST_DEVICE Number(T number) : value(number) {}

#define OPLOOM_ARITHMETIC(op)                                                      \
  OPLOOM_HOST_DEVICE friend Number operator op(const Number& a, const Number& b) { \
    using U = typename detail::Arithmetic<T>::type;                                \
    return static_cast<T>(static_cast<U>(a.value) op static_cast<U>(b.value));     \
  }
  OPLOOM_ARITHMETIC(+)
  OPLOOM_ARITHMETIC(-)
  OPLOOM_ARITHMETIC(*)
#undef OPLOOM_ARITHMETIC
  OPLOOM_HOST_DEVICE friend Number operator/(const Number& a, const Number& b) {
    return static_cast<T>(a.value / b.value);
  }

#define OPLOOM_COMPARE(op)                                                        \
  OPLOOM_HOST_DEVICE friend Truth operator op(const Number& a, const Number& b) { \
    return a.value op b.value;                                                    \
  }
  OPLOOM_COMPARE(==)
  OPLOOM_COMPARE(!=)
  OPLOOM_COMPARE(<)
  OPLOOM_COMPARE(<=)
  OPLOOM_COMPARE(>)
  OPLOOM_COMPARE(>=)
#undef OPLOOM_COMPARE
};

// The results of a kernel with several outputs.
template <typename V, int N>
struct Outputs {
  V values[N];
};

}  // namespace at::inline oploom_v1::cuda
