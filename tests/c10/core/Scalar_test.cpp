// Tests of Scalar: kinds, checked conversion, comparison.
#include <c10/core/Scalar.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "../throws.h"

namespace {

using c10::Scalar;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int64_t kMaxLong = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinLong = std::numeric_limits<int64_t>::min();

TEST(Scalar, KindsFollowTheCppType) {
  EXPECT_EQ(Scalar().type(), c10::kLong);
  EXPECT_EQ(Scalar(true).type(), c10::kBool);
  EXPECT_EQ(Scalar(std::uint8_t{3}).type(), c10::kLong);
  EXPECT_EQ(Scalar(1.5f).type(), c10::kDouble);
  EXPECT_EQ(Scalar(c10::Half(1.5f)).type(), c10::kDouble);
  EXPECT_EQ(Scalar(c10::complex<float>(1, 2)).type(), c10::kComplexDouble);
  EXPECT_TRUE(Scalar(true).isIntegral(true));
  EXPECT_FALSE(Scalar(true).isIntegral(false));
}

TEST(Scalar, ConvertsBetweenKinds) {
  EXPECT_EQ(Scalar(2.9).toInt(), 2);
  EXPECT_EQ(Scalar(-2.9).toLong(), -2);
  EXPECT_EQ(Scalar(3).toDouble(), 3.0);
  EXPECT_TRUE(Scalar(0.5).toBool());
  EXPECT_FALSE(Scalar(0).toBool());
  EXPECT_TRUE(Scalar(c10::complex<double>(0, 1)).toBool());
  EXPECT_EQ(Scalar(c10::complex<double>(2, 0)).toDouble(), 2.0);
  EXPECT_EQ(Scalar(true).toComplexFloat(), c10::complex<float>(1, 0));
  EXPECT_EQ(static_cast<float>(Scalar(1.5).toHalf()), 1.5f);
}

TEST(Scalar, RefusesWhatDoesNotFit) {
  const char* kText = "cannot be converted to type uint8 without overflow";
  EXPECT_EQ(Scalar(255).toByte(), 255);
  EXPECT_THROWS(Scalar(256).toByte(), c10::Error, kText);
  EXPECT_THROWS(Scalar(256.0).toByte(), c10::Error, kText);
  EXPECT_EQ(Scalar(255.9).toByte(), 255);
  EXPECT_EQ(Scalar(-1).toByte(), 255);  // wraps, so that x - 1 can be x + 255
  EXPECT_EQ(Scalar(-255).toByte(), 1);
  EXPECT_THROWS(Scalar(-256).toByte(), c10::Error, kText);
  EXPECT_EQ(Scalar(-128).toChar(), -128);
  EXPECT_THROWS(Scalar(-129).toChar(), c10::Error, "int8");
  EXPECT_THROWS(Scalar(kMaxLong).toInt(), c10::Error, "int32");
  EXPECT_THROWS(Scalar(c10::complex<double>(1, 1)).toDouble(), c10::Error, "float64");
}

TEST(Scalar, EdgesOfInt64AsDouble) {
  EXPECT_EQ(Scalar(-0x1p63).toLong(), kMinLong);
  EXPECT_THROWS(Scalar(0x1p63).toLong(), c10::Error, "int64");  // one more than the largest
  EXPECT_EQ(Scalar(std::nextafter(0x1p63, 0)).toLong(), kMaxLong - 1023);
  EXPECT_THROWS(Scalar(kNaN).toLong(), c10::Error, "int64");
  EXPECT_THROWS(Scalar(kInf).toInt(), c10::Error, "int32");
}

TEST(Scalar, FloatingTypesTakeInfinityAndNaNButNotTooLargeNumbers) {
  EXPECT_EQ(Scalar(kInf).toFloat(), kInf);
  EXPECT_TRUE(std::isnan(Scalar(kNaN).toFloat()));
  EXPECT_THROWS(Scalar(1e39).toFloat(), c10::Error, "float32");
  EXPECT_THROWS(Scalar(70000).toHalf(), c10::Error, "float16");
  EXPECT_EQ(static_cast<float>(Scalar(70000).toBFloat16()), 70144.0f);
  EXPECT_THROWS(Scalar(c10::complex<double>(0, 1e39)).toComplexFloat(), c10::Error, "complex64");
  EXPECT_EQ(Scalar(1e39).to<c10::complex<double>>().real(), 1e39);
}

TEST(Scalar, UncheckedConversionWraps) {
  EXPECT_EQ(Scalar(257).to_unchecked<std::uint8_t>(), 1);
  EXPECT_EQ(Scalar(-1.0).to_unchecked<std::uint8_t>(), 255);
  EXPECT_EQ(Scalar(c10::complex<double>(3, 4)).to_unchecked<float>(), 3.0f);
}

// What no dtype has is an error of the compiler, not of the linker.
template <typename T>
concept Converts = requires(const Scalar& number) {
  number.to<T>();
};
static_assert(Converts<std::uint8_t> && Converts<long long> && Converts<c10::BFloat16>);
static_assert(!Converts<unsigned> && !Converts<const char*>);

TEST(Scalar, IsStoredAsAnElement) {
  const auto stored = []<typename T>(const Scalar& number, T /*of the type*/) {
    T elements[] = {T(7), T(7)};
    number.store(c10::CppTypeToScalarType<T>::value, elements);
    EXPECT_EQ(elements[1], T(7));
    return elements[0];
  };
  EXPECT_EQ(stored(-3, std::int8_t{}), -3);
  EXPECT_EQ(stored(kMinLong, std::int64_t{}), kMinLong);
  EXPECT_EQ(stored(2, true), true);
  EXPECT_EQ(stored(0.1, 0.F), 0.1F);
  EXPECT_EQ(stored(true, c10::complex<double>()), c10::complex<double>(1, 0));
  EXPECT_EQ(static_cast<float>(stored(2.5, c10::Half())), 2.5F);
  EXPECT_THROWS(stored(300, std::uint8_t{}), c10::Error, "uint8");
}

TEST(Scalar, NegatesConjugatesAndCompares) {
  EXPECT_EQ((-Scalar(3)).toLong(), -3);
  EXPECT_EQ((-Scalar(kMinLong)).toLong(), kMinLong);
  EXPECT_EQ((-Scalar(1.5)).toDouble(), -1.5);
  EXPECT_THROWS(-Scalar(true), c10::TypeError, "bool");
  EXPECT_EQ(Scalar(c10::complex<double>(1, 2)).conj().toComplexDouble(),
            c10::complex<double>(1, -2));
  EXPECT_TRUE(Scalar(1).equal(1.0));
  EXPECT_TRUE(Scalar(1).equal(true));
  EXPECT_FALSE(Scalar(1).equal(1.5));
  EXPECT_FALSE(Scalar(1) == Scalar(1.0));
  EXPECT_TRUE(Scalar(kMaxLong) == Scalar(kMaxLong));
  EXPECT_FALSE(Scalar(kMaxLong) == Scalar(kMaxLong - 1));  // equal as doubles
}

TEST(Scalar, Prints) {
  std::ostringstream out;
  out << Scalar(true) << ' ' << Scalar(-4) << ' ' << Scalar(2.5) << ' '
      << Scalar(c10::complex<double>(1, 2));
  EXPECT_EQ(out.str(), "True -4 2.5 (1,2)");
}

}  // namespace
