// Scalar: a number of one of four kinds (bool, integer, floating, complex), as operators take them.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <c10/util/Export.h>
#include <c10/util/complex.h>

#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

namespace c10::inline oploom_v1 {

namespace detail {

// Whether `value` lies outside of what To can hold. Fractions are dropped without complaint;
// infinities fit every type that has them; a negative integer fits an unsigned type if its
// magnitude does, so that `a - 1` may be computed as `a + 255` (as the field does).
template <typename To, typename From>
bool overflows(From value) {
  using To_limits = std::numeric_limits<To>;
  if constexpr (std::is_same_v<To, bool> || std::is_same_v<From, bool>) {
    return false;
  } else if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>) {
      using Part = typename To::value_type;
      return overflows<Part>(value.real()) || overflows<Part>(value.imag());
    } else {
      return value.imag() != 0 || overflows<To>(value.real());
    }
  } else if constexpr (is_complex_v<To>) {
    return overflows<typename To::value_type>(value);
  } else if constexpr (std::is_floating_point_v<From>) {
    if constexpr (std::is_integral_v<To>) {
      // The bounds are powers of two (or 0), hence exact as doubles, unlike the type's largest
      // value.
      if (!__builtin_isfinite(value)) return true;
      const From above = From(2) * static_cast<From>(To(1) << (To_limits::digits - 1));
      const From whole = static_cast<From>(__builtin_trunc(value));
      return To_limits::is_signed ? (whole < -above || whole >= above)
                                  : (whole <= -above || whole >= above);
    } else {
      if (!__builtin_isfinite(value)) return false;
      return value < static_cast<double>(To_limits::lowest()) ||
             value > static_cast<double>(To_limits::max());
    }
  } else {  // from an integer
    if constexpr (std::is_integral_v<To>) {
      if constexpr (!To_limits::is_signed && std::numeric_limits<From>::is_signed) {
        const auto magnitude = value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                                         : static_cast<std::uint64_t>(value);
        return magnitude > To_limits::max();
      } else {
        return value < To_limits::lowest() || value > To_limits::max();
      }
    } else {
      const auto wide = static_cast<double>(value);
      return wide < static_cast<double>(To_limits::lowest()) ||
             wide > static_cast<double>(To_limits::max());
    }
  }
}

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

[[noreturn]] OPLOOM_API void throw_overflow(ScalarType to);

template <typename To, typename From>
To checked_convert(From value) {
  if (OPLOOM_UNLIKELY((overflows<To, From>(value)))) throw_overflow(scalar_type_of_v<To>);
  return cast_element<To, From>(value);
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

  // Throws an Error when the number does not fit T.
  template <typename T>
  T to() const {
    switch (kind_) {
      case Kind::Bool:
        return detail::checked_convert<T>(integer_ != 0);
      case Kind::Integral:
        return detail::checked_convert<T>(integer_);
      case Kind::Floating:
        return detail::checked_convert<T>(floating_);
      default:
        return detail::checked_convert<T>(complex_);
    }
  }
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
  enum class Kind : std::uint8_t { Bool, Integral, Floating, Complex };
  Kind kind_;
  union {
    std::int64_t integer_;
    double floating_;
    complex<double> complex_;
  };
};

OPLOOM_API std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

}  // namespace c10::inline oploom_v1
