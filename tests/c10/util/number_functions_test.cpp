// The functions of numbers that the C++ library has not, or has with another meaning.
#include <c10/util/number_functions.h>

#include <gtest/gtest.h>

namespace c10::numbers {
namespace {

TEST(NumberFunctions, RoundHalvesToEven) {
  EXPECT_EQ(round(2.5), 2);
  EXPECT_EQ(round(3.5), 4);
  EXPECT_EQ(round(-0.5), 0);
}

TEST(NumberFunctions, RemainderHasTheSignOfTheDivisor) {
  EXPECT_EQ(remainder(5, 3), 2);
  EXPECT_EQ(remainder(-5, 3), 1);
  EXPECT_EQ(remainder(5, -3), -1);
  EXPECT_EQ(remainder(-5, -3), -2);
  EXPECT_EQ(remainder(6, -3), 0);
}

TEST(NumberFunctions, NanIsTheLargestAndTheSmallest) {
  const double nan = std::nan("");
  EXPECT_TRUE(isnan(maximum(nan, 1)) && isnan(maximum(1, nan)));
  EXPECT_TRUE(isnan(minimum(nan, 1)) && isnan(minimum(1, nan)));
  EXPECT_EQ(maximum(1, 2), 2);
  EXPECT_EQ(minimum(1, 2), 1);
  EXPECT_TRUE(isnan(sign(nan)) && isnan(relu(nan)));
}

TEST(NumberFunctions, LogaddexpOfInfinities) {
  const double inf = special::kInf;
  EXPECT_EQ(logaddexp(inf, inf), inf);
  EXPECT_EQ(logaddexp(-inf, -inf), -inf);
  EXPECT_EQ(logaddexp(-inf, 3), 3);
  EXPECT_EQ(logaddexp2(-inf, -inf), -inf);
  EXPECT_DOUBLE_EQ(logaddexp(1, 2), std::log(std::exp(1) + std::exp(2)));
  EXPECT_DOUBLE_EQ(logaddexp2(1, 2), std::log2(6));
  EXPECT_DOUBLE_EQ(logaddexp2(3, 3), 4);
}

TEST(NumberFunctions, Others) {
  EXPECT_EQ(sigmoid(0), 0.5);
  EXPECT_EQ(rsqrt(4), 0.5);
  EXPECT_EQ(relu(-1), 0);
  EXPECT_EQ(sign(-3), -1);
  EXPECT_EQ(sign(0), 0);
}

}  // namespace
}  // namespace c10::numbers
