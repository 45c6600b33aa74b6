// Names of dtypes and the promotion table.
#include <c10/core/ScalarType.h>

namespace c10::inline oploom_v1 {

namespace {

struct Name {
  std::string_view text;
  ScalarType type;
};

constexpr Name kAliases[] = {
    {"float", kFloat},         {"double", kDouble},         {"half", kHalf}, {"int", kInt},
    {"long", kLong},           {"short", kShort},           {"char", kChar}, {"byte", kByte},
    {"cfloat", kComplexFloat}, {"cdouble", kComplexDouble},
};

}  // namespace

const char* toString(ScalarType type) noexcept {
  switch (type) {
#define OPLOOM_NAME(cpp_type, name, text) \
  case ScalarType::name:                  \
    return text;
    OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_NAME)
#undef OPLOOM_NAME
    case ScalarType::Undefined:
      return "undefined";
    default:
      return "unknown dtype";
  }
}

std::optional<ScalarType> scalar_type_from_string(std::string_view name) noexcept {
#define OPLOOM_MATCH(cpp_type, enumerator, text) \
  if (name == text) return ScalarType::enumerator;
  OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_MATCH)
#undef OPLOOM_MATCH
  for (const Name& alias : kAliases) {
    if (name == alias.text) return alias.type;
  }
  return std::nullopt;
}

namespace detail {

namespace {
constexpr ScalarType u1 = kByte, i1 = kChar, i2 = kShort, i4 = kInt, i8 = kLong, f2 = kHalf,
                     f4 = kFloat, f8 = kDouble, c4 = kComplexFloat, c8 = kComplexDouble, b1 = kBool,
                     bf = kBFloat16;
}

// Bool gives way to everything, integers to floating, floating to complex. Among integers uint8 and
// a signed type need the next larger signed one; the two 16-bit floats only meet in float32.
// clang-format off
constexpr ScalarType kPromotionTable[kNumScalarTypes][kNumScalarTypes] = {
    //        u1  i1  i2  i4  i8  f2  f4  f8  c4  c8  b1  bf
    /* u1 */ {u1, i2, i2, i4, i8, f2, f4, f8, c4, c8, u1, bf},
    /* i1 */ {i2, i1, i2, i4, i8, f2, f4, f8, c4, c8, i1, bf},
    /* i2 */ {i2, i2, i2, i4, i8, f2, f4, f8, c4, c8, i2, bf},
    /* i4 */ {i4, i4, i4, i4, i8, f2, f4, f8, c4, c8, i4, bf},
    /* i8 */ {i8, i8, i8, i8, i8, f2, f4, f8, c4, c8, i8, bf},
    /* f2 */ {f2, f2, f2, f2, f2, f2, f4, f8, c4, c8, f2, f4},
    /* f4 */ {f4, f4, f4, f4, f4, f4, f4, f8, c4, c8, f4, f4},
    /* f8 */ {f8, f8, f8, f8, f8, f8, f8, f8, c8, c8, f8, f8},
    /* c4 */ {c4, c4, c4, c4, c4, c4, c4, c8, c4, c8, c4, c4},
    /* c8 */ {c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8},
    /* b1 */ {u1, i1, i2, i4, i8, f2, f4, f8, c4, c8, b1, bf},
    /* bf */ {bf, bf, bf, bf, bf, f4, f4, f8, c4, c8, bf, bf},
};
// clang-format on

}  // namespace detail

}  // namespace c10::inline oploom_v1
