// complex<T>: a complex number with the layout of std::complex, usable in kernels, and arithmetic.
// The elementary functions are in complex_math.h.
#pragma once

#include <c10/util/Macros.h>

#include <concepts>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>

namespace c10::inline oploom_v1 {

template <typename T>
struct complex;

template <typename T>
struct is_complex : std::false_type {};
template <typename T>
struct is_complex<complex<T>> : std::true_type {};
template <typename T>
inline constexpr bool is_complex_v = is_complex<T>::value;

// std::complex, known by its members: <complex> would be a tenth of what a program that includes
// <aten/ATen.h> compiles. So would <cmath>: the functions at the end are the compiler's builtins.
template <typename C>
concept StdComplex = !is_complex_v<C> && requires(const C& z, typename C::value_type part) {
  { z.real() } -> std::same_as<typename C::value_type>;
  { z.imag() } -> std::same_as<typename C::value_type>;
  C(part, part);
};

template <typename T>
struct alignas(sizeof(T) * 2) complex {
  static_assert(std::is_floating_point_v<T>);
  using value_type = T;

  T real_ = T(0);
  T imag_ = T(0);

  constexpr complex() = default;
  constexpr complex(const T& re, const T& im = T()) : real_(re), imag_(im) {}
  template <StdComplex C>
  constexpr complex(const C& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  // Widening is implicit, narrowing is not.
  template <typename U, std::enable_if_t<!std::is_same_v<U, T> && (sizeof(U) < sizeof(T)), int> = 0>
  constexpr complex(const complex<U>& other) : real_(other.real()), imag_(other.imag()) {}
  template <typename U, std::enable_if_t<(sizeof(U) > sizeof(T)), int> = 0>
  constexpr explicit complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}

  constexpr T real() const { return real_; }
  constexpr T imag() const { return imag_; }
  constexpr void real(T value) { real_ = value; }
  constexpr void imag(T value) { imag_ = value; }

  template <StdComplex C>
  requires std::same_as<typename C::value_type, T>
  constexpr operator C() const { return C(real_, imag_); }
  constexpr explicit operator bool() const { return real_ != T(0) || imag_ != T(0); }

  constexpr complex& operator=(T re) {
    real_ = re;
    imag_ = T(0);
    return *this;
  }
  constexpr complex& operator+=(T re) {
    real_ += re;
    return *this;
  }
  constexpr complex& operator-=(T re) {
    real_ -= re;
    return *this;
  }
  constexpr complex& operator*=(T re) {
    real_ *= re;
    imag_ *= re;
    return *this;
  }
  constexpr complex& operator/=(T re) {
    real_ /= re;
    imag_ /= re;
    return *this;
  }
  template <typename U>
  constexpr complex& operator+=(const complex<U>& other) {
    real_ += static_cast<T>(other.real());
    imag_ += static_cast<T>(other.imag());
    return *this;
  }
  template <typename U>
  constexpr complex& operator-=(const complex<U>& other) {
    real_ -= static_cast<T>(other.real());
    imag_ -= static_cast<T>(other.imag());
    return *this;
  }
  template <typename U>
  constexpr complex& operator*=(const complex<U>& other) {
    const T c = static_cast<T>(other.real()), d = static_cast<T>(other.imag());
    const T re = rounded(real_ * c) - rounded(imag_ * d);
    imag_ = rounded(real_ * d) + rounded(imag_ * c);
    real_ = re;
    return *this;
  }
  // Scaled by the larger part of the divisor, so that squares neither overflow nor vanish.
  template <typename U>
  constexpr complex& operator/=(const complex<U>& other) {
    const T c = static_cast<T>(other.real()), d = static_cast<T>(other.imag());
    const T abs_c = c < 0 ? -c : c, abs_d = d < 0 ? -d : d;
    if (abs_c == 0 && abs_d == 0) {  // the parts' own infinities and NaNs
      real_ /= c;
      imag_ /= c;
    } else if (abs_c >= abs_d) {
      const T ratio = d / c, scale = T(1) / (c + d * ratio);
      const T re = (real_ + rounded(imag_ * ratio)) * scale;
      imag_ = (imag_ - rounded(real_ * ratio)) * scale;
      real_ = re;
    } else {
      const T ratio = c / d, scale = T(1) / (c * ratio + d);
      const T re = (rounded(real_ * ratio) + imag_) * scale;
      imag_ = (rounded(imag_ * ratio) - real_) * scale;
      real_ = re;
    }
    return *this;
  }

 private:
  // A product that is added to something. In loops that it vectorises, GCC would otherwise take
  // both steps by one instruction, which rounds once, -ffp-contract=off or not.
  static constexpr T rounded(T product) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
    return __builtin_assoc_barrier(product);
#else
    return product;
#endif
  }
};

static_assert(sizeof(complex<float>) == 8 && sizeof(complex<double>) == 16);

template <typename T>
constexpr complex<T> operator+(const complex<T>& a) {
  return a;
}
template <typename T>
constexpr complex<T> operator-(const complex<T>& a) {
  return {-a.real(), -a.imag()};
}

template <typename T>
constexpr complex<T> operator+(complex<T> a, const complex<T>& b) {
  return a += b;
}
template <typename T>
constexpr complex<T> operator+(complex<T> a, const std::type_identity_t<T>& b) {
  return a += b;
}
template <typename T>
constexpr complex<T> operator+(const std::type_identity_t<T>& a, const complex<T>& b) {
  return complex<T>(a) += b;
}

template <typename T>
constexpr complex<T> operator-(complex<T> a, const complex<T>& b) {
  return a -= b;
}
template <typename T>
constexpr complex<T> operator-(complex<T> a, const std::type_identity_t<T>& b) {
  return a -= b;
}
template <typename T>
constexpr complex<T> operator-(const std::type_identity_t<T>& a, const complex<T>& b) {
  return complex<T>(a) -= b;
}

template <typename T>
constexpr complex<T> operator*(complex<T> a, const complex<T>& b) {
  return a *= b;
}
template <typename T>
constexpr complex<T> operator*(complex<T> a, const std::type_identity_t<T>& b) {
  return a *= b;
}
template <typename T>
constexpr complex<T> operator*(const std::type_identity_t<T>& a, const complex<T>& b) {
  return complex<T>(a) *= b;
}

template <typename T>
constexpr complex<T> operator/(complex<T> a, const complex<T>& b) {
  return a /= b;
}
template <typename T>
constexpr complex<T> operator/(complex<T> a, const std::type_identity_t<T>& b) {
  return a /= b;
}
template <typename T>
constexpr complex<T> operator/(const std::type_identity_t<T>& a, const complex<T>& b) {
  return complex<T>(a) /= b;
}

template <typename T>
constexpr bool operator==(const complex<T>& a, const complex<T>& b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
template <typename T>
constexpr bool operator==(const complex<T>& a, const std::type_identity_t<T>& b) {
  return a.real() == b && a.imag() == T(0);
}

template <typename T>
std::ostream& operator<<(std::ostream& out, const complex<T>& value) {
  return out << '(' << value.real() << ',' << value.imag() << ')';
}

// The real type that belongs to a scalar type: itself unless it is complex.
template <typename T>
struct scalar_value_type {
  using type = T;
};
template <typename T>
struct scalar_value_type<complex<T>> {
  using type = T;
};

// In a namespace of their own so that both lookup by argument and `std::` find the same functions.
namespace complex_math {

template <typename T>
T real(const complex<T>& z) {
  return z.real();
}
template <typename T>
T imag(const complex<T>& z) {
  return z.imag();
}
template <typename T>
T abs(const complex<T>& z) {
  if constexpr (std::is_same_v<T, float>) return __builtin_hypotf(z.real(), z.imag());
  return __builtin_hypot(z.real(), z.imag());
}
template <typename T>
T arg(const complex<T>& z) {
  if constexpr (std::is_same_v<T, float>) return __builtin_atan2f(z.imag(), z.real());
  return __builtin_atan2(z.imag(), z.real());
}
template <typename T>
constexpr T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <typename T>
constexpr complex<T> conj(const complex<T>& z) {
  return {z.real(), -z.imag()};
}
template <typename T>
bool isnan(const complex<T>& z) {
  return __builtin_isnan(z.real()) || __builtin_isnan(z.imag());
}
template <typename T>
bool isinf(const complex<T>& z) {
  return __builtin_isinf(z.real()) || __builtin_isinf(z.imag());
}
template <typename T>
bool isfinite(const complex<T>& z) {
  return __builtin_isfinite(z.real()) && __builtin_isfinite(z.imag());
}

}  // namespace complex_math

using complex_math::abs;
using complex_math::arg;
using complex_math::conj;
using complex_math::imag;
using complex_math::isfinite;
using complex_math::isinf;
using complex_math::isnan;
using complex_math::norm;
using complex_math::real;

}  // namespace c10::inline oploom_v1

namespace std {
using c10::complex_math::abs;
using c10::complex_math::arg;
using c10::complex_math::conj;
using c10::complex_math::imag;
using c10::complex_math::isfinite;
using c10::complex_math::isinf;
using c10::complex_math::isnan;
using c10::complex_math::norm;
using c10::complex_math::real;

template <typename T>
class numeric_limits<c10::complex<T>> : public numeric_limits<T> {};

template <typename T>
struct hash<c10::complex<T>> {
  size_t operator()(const c10::complex<T>& z) const {
    return hash<T>()(z.real()) * 31 + hash<T>()(z.imag());
  }
};
}  // namespace std
