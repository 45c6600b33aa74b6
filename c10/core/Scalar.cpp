// Arithmetic, comparison and printing of Scalar.
#include <c10/core/Scalar.h>
#include <c10/util/complex_math.h>

#include <cmath>
#include <cstring>
#include <sstream>

namespace c10::inline oploom_v1 {

namespace detail {
void throw_overflow(ScalarType to) {
  throw_error(str("value cannot be converted to type ", to, " without overflow"));
}
}  // namespace detail

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

namespace {
template <typename T>
void store_as(const Scalar& number, void* element) {
  const T converted = number.to<T>();
  std::memcpy(element, &converted, sizeof(T));
}
}  // namespace

void Scalar::store(ScalarType dtype, void* element) const {
  // By a table, and not a switch: most need no stack, and tensors of one element are filled so.
#define OPLOOM_STORE(cpp_type, name, text) &store_as<cpp_type>,
  static constexpr void (*kStores[])(const Scalar&,
                                     void*) = {OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_STORE)};
#undef OPLOOM_STORE
  OPLOOM_INTERNAL_ASSERT(dtype != ScalarType::Undefined, "store(): no elements of this dtype");
  kStores[static_cast<size_t>(dtype)](*this, element);
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
