// The elementary functions of complex<T>.
#pragma once

#include <c10/util/complex.h>
#include <c10/util/special_functions.h>

#include <cmath>
#include <complex>

namespace c10::inline oploom_v1 {

namespace complex_math {

template <typename T>
complex<T> log2(const complex<T>& z) {
  return std::log(std::complex<T>(z)) / static_cast<T>(0.69314718055994530942);
}
template <typename T>
complex<T> log1p(const complex<T>& z) {
  // log|1+z| by log1p, which keeps the digits where z is small.
  const T re = z.real(), im = z.imag();
  const T theta = std::atan2(im, re + T(1));
  if (std::abs(re) < T(0.5) && std::abs(im) < T(0.5)) {
    return {std::log1p(re * (T(2) + re) + im * im) / T(2), theta};
  }
  return {std::log(std::hypot(re + T(1), im)), theta};
}
template <typename T>
complex<T> expm1(const complex<T>& z) {
  const std::complex<T> power = std::exp(std::complex<T>(z));
  // Beside so large a power 1 is nothing, and std::expm1() may be infinite where `power` is not.
  if (z.real() > T(40)) return {power.real() - T(1), power.imag()};
  const T half_sine = std::sin(z.imag() / T(2));
  return {std::expm1(z.real()) * std::cos(z.imag()) - T(2) * half_sine * half_sine, power.imag()};
}
template <typename T>
complex<T> exp2(const complex<T>& z) {
  constexpr T log_of_2 = static_cast<T>(0.69314718055994530942);
  return c10::special::exp2_of_rounded(
      z, complex<T>(std::exp(std::complex<T>(z.real() * log_of_2, z.imag() * log_of_2))));
}
template <typename T>
complex<T> exp(const complex<T>& z) {
  return std::exp(std::complex<T>(z));
}
template <typename T>
complex<T> log(const complex<T>& z) {
  return std::log(std::complex<T>(z));
}
template <typename T>
complex<T> log10(const complex<T>& z) {
  return std::log10(std::complex<T>(z));
}
template <typename T>
complex<T> sqrt(const complex<T>& z) {
  return std::sqrt(std::complex<T>(z));
}
template <typename T>
complex<T> sin(const complex<T>& z) {
  return std::sin(std::complex<T>(z));
}
template <typename T>
complex<T> cos(const complex<T>& z) {
  return std::cos(std::complex<T>(z));
}
template <typename T>
complex<T> tan(const complex<T>& z) {
  return std::tan(std::complex<T>(z));
}
template <typename T>
complex<T> asin(const complex<T>& z) {
  return std::asin(std::complex<T>(z));
}
template <typename T>
complex<T> acos(const complex<T>& z) {
  return std::acos(std::complex<T>(z));
}
template <typename T>
complex<T> atan(const complex<T>& z) {
  return std::atan(std::complex<T>(z));
}
template <typename T>
complex<T> sinh(const complex<T>& z) {
  return std::sinh(std::complex<T>(z));
}
template <typename T>
complex<T> cosh(const complex<T>& z) {
  return std::cosh(std::complex<T>(z));
}
template <typename T>
complex<T> tanh(const complex<T>& z) {
  return std::tanh(std::complex<T>(z));
}
template <typename T>
complex<T> asinh(const complex<T>& z) {
  return std::asinh(std::complex<T>(z));
}
template <typename T>
complex<T> acosh(const complex<T>& z) {
  return std::acosh(std::complex<T>(z));
}
template <typename T>
complex<T> atanh(const complex<T>& z) {
  return std::atanh(std::complex<T>(z));
}
template <typename T>
complex<T> pow(const complex<T>& z, const complex<T>& e) {
  return std::pow(std::complex<T>(z), std::complex<T>(e));
}
template <typename T>
complex<T> pow(const complex<T>& z, const std::type_identity_t<T>& e) {
  return std::pow(std::complex<T>(z), e);
}
template <typename T>
complex<T> pow(const std::type_identity_t<T>& z, const complex<T>& e) {
  return std::pow(z, std::complex<T>(e));
}
}  // namespace complex_math

using complex_math::acos;
using complex_math::acosh;
using complex_math::asin;
using complex_math::asinh;
using complex_math::atan;
using complex_math::atanh;
using complex_math::cos;
using complex_math::cosh;
using complex_math::exp;
using complex_math::exp2;
using complex_math::expm1;
using complex_math::log;
using complex_math::log10;
using complex_math::log1p;
using complex_math::log2;
using complex_math::pow;
using complex_math::sin;
using complex_math::sinh;
using complex_math::sqrt;
using complex_math::tan;
using complex_math::tanh;

}  // namespace c10::inline oploom_v1

namespace std {
using c10::complex_math::acos;
using c10::complex_math::acosh;
using c10::complex_math::asin;
using c10::complex_math::asinh;
using c10::complex_math::atan;
using c10::complex_math::atanh;
using c10::complex_math::cos;
using c10::complex_math::cosh;
using c10::complex_math::exp;
using c10::complex_math::exp2;
using c10::complex_math::expm1;
using c10::complex_math::log;
using c10::complex_math::log10;
using c10::complex_math::log1p;
using c10::complex_math::log2;
using c10::complex_math::pow;
using c10::complex_math::sin;
using c10::complex_math::sinh;
using c10::complex_math::sqrt;
using c10::complex_math::tan;
using c10::complex_math::tanh;
}  // namespace std
