// ScalarType: the element types of tensors, their sizes and names, and which type two of them
// promote to.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>
#include <c10/util/Export.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace c10::inline oploom_v1 {

// _(C++ type, enumerator, public name)
#define OPLOOM_FORALL_SCALAR_TYPES(_)                    \
  _(std::uint8_t, Byte, "uint8")                         \
  _(std::int8_t, Char, "int8")                           \
  _(std::int16_t, Short, "int16")                        \
  _(std::int32_t, Int, "int32")                          \
  _(std::int64_t, Long, "int64")                         \
  _(::c10::Half, Half, "float16")                        \
  _(float, Float, "float32")                             \
  _(double, Double, "float64")                           \
  _(::c10::complex<float>, ComplexFloat, "complex64")    \
  _(::c10::complex<double>, ComplexDouble, "complex128") \
  _(bool, Bool, "bool")                                  \
  _(::c10::BFloat16, BFloat16, "bfloat16")

enum class ScalarType : std::int8_t {
#define OPLOOM_ENUMERATOR(type, name, text) name,
  OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_ENUMERATOR)
#undef OPLOOM_ENUMERATOR
      Undefined,
  NumOptions
};

inline constexpr int kNumScalarTypes = static_cast<int>(ScalarType::Undefined);

inline constexpr ScalarType kByte = ScalarType::Byte;
inline constexpr ScalarType kChar = ScalarType::Char;
inline constexpr ScalarType kShort = ScalarType::Short;
inline constexpr ScalarType kInt = ScalarType::Int;
inline constexpr ScalarType kLong = ScalarType::Long;
inline constexpr ScalarType kHalf = ScalarType::Half;
inline constexpr ScalarType kFloat = ScalarType::Float;
inline constexpr ScalarType kDouble = ScalarType::Double;
inline constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat;
inline constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble;
inline constexpr ScalarType kBool = ScalarType::Bool;
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
inline constexpr ScalarType kUInt8 = kByte;
inline constexpr ScalarType kInt8 = kChar;
inline constexpr ScalarType kInt16 = kShort;
inline constexpr ScalarType kInt32 = kInt;
inline constexpr ScalarType kInt64 = kLong;
inline constexpr ScalarType kFloat16 = kHalf;
inline constexpr ScalarType kFloat32 = kFloat;
inline constexpr ScalarType kFloat64 = kDouble;

template <typename T>
struct CppTypeToScalarType;
template <ScalarType S>
struct ScalarTypeToCPPType;
#define OPLOOM_MAP_TYPE(cpp_type, name, text)             \
  template <>                                             \
  struct CppTypeToScalarType<cpp_type> {                  \
    static constexpr ScalarType value = ScalarType::name; \
  };                                                      \
  template <>                                             \
  struct ScalarTypeToCPPType<ScalarType::name> {          \
    using type = cpp_type;                                \
  };
OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_MAP_TYPE)
#undef OPLOOM_MAP_TYPE
template <ScalarType S>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<S>::type;
// long long is a type of its own beside the int64_t of 64-bit Linux.
template <>
struct CppTypeToScalarType<long long> {
  static constexpr ScalarType value = ScalarType::Long;
};
template <typename T>
inline constexpr ScalarType scalar_type_of_v = CppTypeToScalarType<T>::value;

// The name users see: "float32". "undefined" for ScalarType::Undefined.
OPLOOM_API const char* toString(ScalarType type) noexcept;
// The dtype of a public name ("float32") or one of its aliases ("float", "half", "long", ...).
OPLOOM_API std::optional<ScalarType> scalar_type_from_string(std::string_view name) noexcept;
inline std::ostream& operator<<(std::ostream& out, ScalarType type) {
  return out << toString(type);
}

namespace detail {
struct ScalarTypeTraits {
  std::uint8_t size[kNumScalarTypes + 1];
};
inline constexpr ScalarTypeTraits kScalarTypeTraits = {{
#define OPLOOM_SIZE(cpp_type, name, text) sizeof(cpp_type),
    OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_SIZE)
#undef OPLOOM_SIZE
        0}};
}  // namespace detail

// Bytes of one element; 0 for Undefined.
constexpr std::size_t elementSize(ScalarType type) {
  return detail::kScalarTypeTraits.size[static_cast<int>(type)];
}

constexpr bool isIntegralType(ScalarType type, bool includeBool) {
  return (type >= ScalarType::Byte && type <= ScalarType::Long) ||
         (includeBool && type == ScalarType::Bool);
}
constexpr bool isReducedFloatingType(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16;
}
constexpr bool isFloatingType(ScalarType type) {
  return type == ScalarType::Float || type == ScalarType::Double || isReducedFloatingType(type);
}
constexpr bool isComplexType(ScalarType type) {
  return type == ScalarType::ComplexFloat || type == ScalarType::ComplexDouble;
}
constexpr bool isSignedType(ScalarType type) {
  return type != ScalarType::Byte && type != ScalarType::Bool && type != ScalarType::Undefined;
}
// Derivatives exist for these.
constexpr bool isDifferentiableType(ScalarType type) {
  return isFloatingType(type) || isComplexType(type);
}

// The real type of a complex one; other types are returned unchanged.
constexpr ScalarType toRealValueType(ScalarType type) {
  switch (type) {
    case ScalarType::ComplexFloat:
      return ScalarType::Float;
    case ScalarType::ComplexDouble:
      return ScalarType::Double;
    default:
      return type;
  }
}
// The complex type that holds a real floating type. There is no complex of 16-bit floats here, so
// they go to complex64.
constexpr ScalarType toComplexType(ScalarType type) {
  switch (type) {
    case ScalarType::Double:
    case ScalarType::ComplexDouble:
      return ScalarType::ComplexDouble;
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Float:
    case ScalarType::ComplexFloat:
      return ScalarType::ComplexFloat;
    default:
      return ScalarType::Undefined;
  }
}
// The type that sums of `type` are kept in on the CPU.
constexpr ScalarType toOpMathType(ScalarType type) {
  return isReducedFloatingType(type) ? ScalarType::Float : type;
}

// Whether a result of type `from` may be written to an output of type `to`: never from a higher
// kind (complex > floating > integral > bool) to a lower one.
constexpr bool canCast(ScalarType from, ScalarType to) {
  if (isComplexType(from) && !isComplexType(to)) return false;
  if (isFloatingType(from) && isIntegralType(to, /*includeBool=*/false)) return false;
  if (from != ScalarType::Bool && to == ScalarType::Bool) return false;
  return true;
}

namespace detail {
OPLOOM_API extern const ScalarType kPromotionTable[kNumScalarTypes][kNumScalarTypes];
}
// The smallest type that both promote to; Undefined if one of them is.
inline ScalarType promoteTypes(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Undefined || b == ScalarType::Undefined) return ScalarType::Undefined;
  return detail::kPromotionTable[static_cast<int>(a)][static_cast<int>(b)];
}
inline ScalarType promote_types(ScalarType a, ScalarType b) { return promoteTypes(a, b); }

// The type in which the arithmetic of element type T is done: float for the 16-bit floats.
template <typename T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<Half> {
  using type = float;
};
template <>
struct OpMathType<BFloat16> {
  using type = float;
};
template <typename T>
using opmath_type = typename OpMathType<T>::type;

template <typename T>
inline constexpr bool is_reduced_floating_point_v =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

}  // namespace c10::inline oploom_v1
