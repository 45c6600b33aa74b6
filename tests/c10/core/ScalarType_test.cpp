// Tests of dtypes: names, sizes, categories, promotion.
#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarType.h>

#include <sstream>
#include <vector>

#include "../throws.h"

namespace {

using namespace c10;

const std::vector<ScalarType> kAll = {kBool,  kByte,   kChar,         kShort,
                                      kInt,   kLong,   kHalf,         kBFloat16,
                                      kFloat, kDouble, kComplexFloat, kComplexDouble};

TEST(ScalarType, NamesAndSizes) {
  const std::vector<std::pair<ScalarType, std::pair<const char*, std::size_t>>> expected = {
      {kBool, {"bool", 1}},
      {kByte, {"uint8", 1}},
      {kChar, {"int8", 1}},
      {kShort, {"int16", 2}},
      {kInt, {"int32", 4}},
      {kLong, {"int64", 8}},
      {kHalf, {"float16", 2}},
      {kBFloat16, {"bfloat16", 2}},
      {kFloat, {"float32", 4}},
      {kDouble, {"float64", 8}},
      {kComplexFloat, {"complex64", 8}},
      {kComplexDouble, {"complex128", 16}}};
  EXPECT_EQ(expected.size(), static_cast<std::size_t>(kNumScalarTypes));
  for (const auto& [type, facts] : expected) {
    EXPECT_STREQ(toString(type), facts.first);
    EXPECT_EQ(elementSize(type), facts.second) << type;
    EXPECT_EQ(scalar_type_from_string(facts.first), type);
  }
  EXPECT_EQ(elementSize(ScalarType::Undefined), 0u);
  EXPECT_EQ(scalar_type_from_string("half"), kHalf);
  EXPECT_EQ(scalar_type_from_string("float8"), std::nullopt);
  std::ostringstream out;
  out << kFloat << ScalarType::Undefined;
  EXPECT_EQ(out.str(), "float32undefined");
}

TEST(ScalarType, CppTypesMapBothWays) {
  EXPECT_EQ(scalar_type_of_v<float>, kFloat);
  EXPECT_EQ(scalar_type_of_v<std::int64_t>, kLong);
  EXPECT_EQ(scalar_type_of_v<long long>, kLong);
  EXPECT_EQ(scalar_type_of_v<bool>, kBool);
  EXPECT_EQ(scalar_type_of_v<c10::complex<double>>, kComplexDouble);
  EXPECT_TRUE((std::is_same_v<ScalarTypeToCPPTypeT<kBFloat16>, BFloat16>));
  EXPECT_TRUE((std::is_same_v<opmath_type<Half>, float>));
  EXPECT_TRUE((std::is_same_v<opmath_type<int>, int>));
}

TEST(ScalarType, Categories) {
  EXPECT_TRUE(isIntegralType(kByte, false) && isIntegralType(kLong, false));
  EXPECT_FALSE(isIntegralType(kBool, false));
  EXPECT_TRUE(isIntegralType(kBool, true));
  EXPECT_FALSE(isIntegralType(kHalf, true));
  EXPECT_TRUE(isFloatingType(kHalf) && isFloatingType(kBFloat16) && isFloatingType(kDouble));
  EXPECT_FALSE(isFloatingType(kComplexFloat) || isFloatingType(kBool));
  EXPECT_TRUE(isComplexType(kComplexFloat) && !isComplexType(kDouble));
  EXPECT_EQ(toRealValueType(kComplexDouble), kDouble);
  EXPECT_EQ(toRealValueType(kInt), kInt);
  EXPECT_EQ(toComplexType(kDouble), kComplexDouble);
  EXPECT_EQ(toComplexType(kBFloat16), kComplexFloat);
  EXPECT_EQ(toComplexType(kInt), ScalarType::Undefined);
  EXPECT_FALSE(isSignedType(kByte) || isSignedType(kBool));
}

// Written as rules, independently of the table: kinds first, then widths.
ScalarType promote_by_rule(ScalarType a, ScalarType b) {
  const auto kind = [](ScalarType t) {
    return isComplexType(t) ? 3 : isFloatingType(t) ? 2 : t == kBool ? 0 : 1;
  };
  if (a == b) return a;
  if (kind(a) < kind(b)) std::swap(a, b);
  if (kind(a) == 3) {
    // A double needs the wide complex type.
    return a == kComplexDouble || b == kComplexDouble || b == kDouble ? kComplexDouble
                                                                      : kComplexFloat;
  }
  if (kind(b) < kind(a)) return a;
  if (kind(a) == 2) return a == kDouble || b == kDouble ? kDouble : kFloat;
  // Two different integers: uint8 has eight bits that int8 has not.
  if (elementSize(a) == elementSize(b)) return kShort;
  return elementSize(a) > elementSize(b) ? a : b;
}

TEST(ScalarType, PromotionFollowsTheRules) {
  for (const ScalarType a : kAll) {
    for (const ScalarType b : kAll) {
      EXPECT_EQ(promoteTypes(a, b), promote_by_rule(a, b)) << a << " and " << b;
      EXPECT_EQ(promoteTypes(a, b), promoteTypes(b, a)) << a << " and " << b;
    }
  }
}

TEST(ScalarType, PromotionInTheCasesPeopleAskAbout) {
  EXPECT_EQ(promote_types(kHalf, kBFloat16), kFloat);
  EXPECT_EQ(promote_types(kByte, kChar), kShort);
  EXPECT_EQ(promote_types(kByte, kShort), kShort);
  EXPECT_EQ(promote_types(kLong, kHalf), kHalf);
  EXPECT_EQ(promote_types(kLong, kBFloat16), kBFloat16);
  EXPECT_EQ(promote_types(kDouble, kComplexFloat), kComplexDouble);
  EXPECT_EQ(promote_types(kBFloat16, kComplexFloat), kComplexFloat);
  EXPECT_EQ(promote_types(kBool, kByte), kByte);
  EXPECT_EQ(promote_types(kBool, ScalarType::Undefined), ScalarType::Undefined);
}

TEST(ScalarType, CastsGoUpTheKindsOnly) {
  EXPECT_TRUE(canCast(kLong, kHalf));
  EXPECT_TRUE(canCast(kDouble, kHalf));
  EXPECT_TRUE(canCast(kLong, kByte));
  EXPECT_TRUE(canCast(kBool, kByte));
  EXPECT_FALSE(canCast(kFloat, kLong));
  EXPECT_FALSE(canCast(kComplexFloat, kDouble));
  EXPECT_FALSE(canCast(kByte, kBool));
}

TEST(DefaultDtype, CanBeChangedToFloatingTypesOnly) {
  EXPECT_EQ(get_default_dtype(), kFloat);
  set_default_dtype(kDouble);
  EXPECT_EQ(get_default_dtype(), kDouble);
  EXPECT_EQ(get_default_complex_dtype(), kComplexDouble);
  EXPECT_THROWS(set_default_dtype(kInt), TypeError, "int32");
  EXPECT_EQ(get_default_dtype(), kDouble);
  set_default_dtype(kFloat);
}

}  // namespace
