// Scalar: a number of one of four kinds (bool, integer, floating, complex), as operators take them.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <c10/util/Export.h>
#include <c10/util/complex.h>

#include <cstdint>
#include <ostream>
#include <type_traits>

namespace c10::inline oploom_v1 {

namespace detail {

// The types of elements; long long beside int64_t, too.
template <typename T>
concept ElementType = requires {
  CppTypeToScalarType<T>::value;
};

// The conversion that casts of elements use: complex numbers lose their imaginary part, floating
// numbers go to unsigned types by way of int64 (so that negative ones wrap, on every machine).
template <typename To, typename From>
OPLOOM_ALWAYS_INLINE To cast_element(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>) {
      return To(static_cast<typename To::value_type>(value.real()),
                static_cast<typename To::value_type>(value.imag()));
    } else if constexpr (std::is_same_v<To, bool>) {
      return value.real() != 0 || value.imag() != 0;
    } else {
      return cast_element<To>(value.real());
    }
  } else if constexpr (is_complex_v<To>) {
    return To(cast_element<typename To::value_type>(value));
  } else if constexpr (is_reduced_floating_point_v<From>) {
    return cast_element<To>(static_cast<float>(value));
  } else if constexpr (is_reduced_floating_point_v<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                       sizeof(To) < sizeof(std::int64_t)) {
    return static_cast<To>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace detail

// What kernels use to convert elements.
template <typename To, typename From>
OPLOOM_ALWAYS_INLINE To convert(From value) {
  return detail::cast_element<To, From>(value);
}

class OPLOOM_API Scalar final {
 public:
  constexpr Scalar() : kind_(Kind::Integral), integer_(0) {}
  constexpr Scalar(bool value) : kind_(Kind::Bool), integer_(value ? 1 : 0) {}
  template <typename I,
            std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  constexpr Scalar(I value) : kind_(Kind::Integral), integer_(static_cast<std::int64_t>(value)) {}
  constexpr Scalar(double value) : kind_(Kind::Floating), floating_(value) {}
  constexpr Scalar(float value) : Scalar(static_cast<double>(value)) {}
  Scalar(Half value) : Scalar(static_cast<double>(static_cast<float>(value))) {}
  Scalar(BFloat16 value) : Scalar(static_cast<double>(static_cast<float>(value))) {}
  constexpr Scalar(complex<double> value) : kind_(Kind::Complex), complex_(value) {}
  constexpr Scalar(complex<float> value) : Scalar(complex<double>(value)) {}
  template <StdComplex C>
  constexpr Scalar(const C& value) : Scalar(complex<double>(value)) {}

  bool isBoolean() const { return kind_ == Kind::Bool; }
  bool isIntegral(bool includeBool) const {
    return kind_ == Kind::Integral || (includeBool && kind_ == Kind::Bool);
  }
  bool isFloatingPoint() const { return kind_ == Kind::Floating; }
  bool isComplex() const { return kind_ == Kind::Complex; }

  // bool, int64, float64 or complex128.
  ScalarType type() const {
    switch (kind_) {
      case Kind::Bool:
        return kBool;
      case Kind::Integral:
        return kLong;
      case Kind::Floating:
        return kDouble;
      default:
        return kComplexDouble;
    }
  }

  // As the type of a dtype's elements. Throws an Error when the number does not fit T.
  template <detail::ElementType T>
  T to() const;
  // Wraps, rounds and drops as casts of elements do.
  template <typename T>
  T to_unchecked() const {
    switch (kind_) {
      case Kind::Bool:
        return detail::cast_element<T>(integer_ != 0);
      case Kind::Integral:
        return detail::cast_element<T>(integer_);
      case Kind::Floating:
        return detail::cast_element<T>(floating_);
      default:
        return detail::cast_element<T>(complex_);
    }
  }

  // Writes the number as an element of that dtype. Throws as to() does.
  void store(ScalarType dtype, void* element) const;

#define OPLOOM_SCALAR_TO(cpp_type, name, text) \
  cpp_type to##name() const { return to<cpp_type>(); }
  OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_SCALAR_TO)
#undef OPLOOM_SCALAR_TO

  Scalar operator-() const;
  Scalar conj() const;
  Scalar log() const;

  // Equality of the values, whatever the kinds: Scalar(1) equals 1.0 and true.
  template <typename T>
  bool equal(T number) const {
    return equals(Scalar(number));
  }
  bool equals(const Scalar& other) const;
  // Same kind and same value.
  bool operator==(const Scalar& other) const { return kind_ == other.kind_ && equals(other); }

 private:
  template <typename T>
  T converted() const;
  enum class Kind : std::uint8_t { Bool, Integral, Floating, Complex };
  Kind kind_;
  union {
    std::int64_t integer_;
    double floating_;
    complex<double> complex_;
  };
};

// Compiled once: kernels convert numbers for each dtype and instruction set.
#define OPLOOM_SCALAR_TO(cpp_type, name, text) \
  extern template OPLOOM_API cpp_type Scalar::to<cpp_type>() const;
OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_SCALAR_TO)
#undef OPLOOM_SCALAR_TO
// A type of its own beside the int64_t of 64-bit Linux.
template <>
inline long long Scalar::to<long long>() const {
  return to<std::int64_t>();
}

OPLOOM_API std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

}  // namespace c10::inline oploom_v1
