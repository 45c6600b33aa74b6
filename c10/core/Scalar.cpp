// Arithmetic, comparison and printing of Scalar.
#include <c10/core/Scalar.h>
#include <c10/util/complex_math.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace c10::inline oploom_v1 {

namespace {

[[noreturn]] OPLOOM_COLD void throw_overflow(ScalarType to) {
  detail::throw_error(str("value cannot be converted to type ", to, " without overflow"));
}

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

template <typename To, typename From>
To checked_convert(From value) {
  if (OPLOOM_UNLIKELY((overflows<To, From>(value)))) throw_overflow(scalar_type_of_v<To>);
  return detail::cast_element<To, From>(value);
}

}  // namespace

template <typename T>
OPLOOM_ALWAYS_INLINE T Scalar::converted() const {
  switch (kind_) {
    case Kind::Bool:
      return checked_convert<T>(integer_ != 0);
    case Kind::Integral:
      return checked_convert<T>(integer_);
    case Kind::Floating:
      return checked_convert<T>(floating_);
    default:
      return checked_convert<T>(complex_);
  }
}

template <detail::ElementType T>
T Scalar::to() const {
  return converted<T>();
}
#define OPLOOM_SCALAR_TO(cpp_type, name, text) \
  template OPLOOM_API cpp_type Scalar::to<cpp_type>() const;
OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_SCALAR_TO)
#undef OPLOOM_SCALAR_TO

void Scalar::store(ScalarType dtype, void* element) const {
  // By a table, and not a switch: most need no stack, and tensors of one element are filled so.
  using Store = void (*)(const Scalar&, void*);
#define OPLOOM_STORE(cpp_type, name, text)                   \
  [](const Scalar& number, void* to) {                       \
    const cpp_type converted = number.converted<cpp_type>(); \
    std::memcpy(to, &converted, sizeof(converted));          \
  },
  static constexpr Store kStores[] = {OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_STORE)};
#undef OPLOOM_STORE
  OPLOOM_INTERNAL_ASSERT(dtype != ScalarType::Undefined, "store(): no elements of this dtype");
  kStores[static_cast<size_t>(dtype)](*this, element);
}

Scalar Scalar::operator-() const {
  OPLOOM_CHECK_TYPE(!isBoolean(),
                    "negative(): the operator `-` is not defined for bool, use `~` or "
                    "logical_not() instead");
  switch (kind_) {
    case Kind::Integral:  // the smallest integer wraps to itself, as elements of tensors do
      return Scalar(
          static_cast<std::int64_t>(std::uint64_t{0} - static_cast<std::uint64_t>(integer_)));
    case Kind::Floating:
      return Scalar(-floating_);
    default:
      return Scalar(-complex_);
  }
}

Scalar Scalar::conj() const { return isComplex() ? Scalar(c10::conj(complex_)) : *this; }

Scalar Scalar::log() const {
  return isComplex() ? Scalar(c10::log(complex_)) : Scalar(std::log(to_unchecked<double>()));
}

bool Scalar::equals(const Scalar& other) const {
  if (isComplex() || other.isComplex()) {
    return to_unchecked<complex<double>>() == other.to_unchecked<complex<double>>();
  }
  if (isIntegral(true) && other.isIntegral(true)) return integer_ == other.integer_;
  return to_unchecked<double>() == other.to_unchecked<double>();
}

std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
  if (scalar.isBoolean()) return out << (scalar.to<bool>() ? "True" : "False");
  if (scalar.isIntegral(false)) return out << scalar.to<std::int64_t>();
  if (scalar.isFloatingPoint()) return out << scalar.to<double>();
  return out << scalar.to<complex<double>>();
}

}  // namespace c10::inline oploom_v1
