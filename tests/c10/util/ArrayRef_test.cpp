// Tests of ArrayRef, OptionalArrayRef and DimVector's conversion to it.
#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>
#include <c10/util/OptionalArrayRef.h>

#include <sstream>

#include "../throws.h"

namespace {

using c10::ArrayRef;
using c10::DimVector;
using c10::IntArrayRef;
using c10::OptionalIntArrayRef;

int64_t sum(IntArrayRef values) {
  int64_t total = 0;
  for (const int64_t value : values) total += value;
  return total;
}

TEST(ArrayRef, ConvertsFromEverySequence) {
  const std::vector<int64_t> vec = {1, 2, 3};
  const std::array<int64_t, 3> array = {1, 2, 3};
  const int64_t plain[] = {1, 2, 3};
  EXPECT_EQ(sum(vec), 6);
  EXPECT_EQ(sum(array), 6);
  EXPECT_EQ(sum(plain), 6);
  EXPECT_EQ(sum({1, 2, 3}), 6);
  EXPECT_EQ(sum(DimVector{1, 2, 3}), 6);
  EXPECT_EQ(sum(7), 7);
  EXPECT_EQ(sum({}), 0);
}

TEST(ArrayRef, RefersToTheSameElements) {
  const std::vector<int64_t> vec = {4, 5};
  const IntArrayRef ref = vec;
  EXPECT_EQ(ref.data(), vec.data());
  EXPECT_EQ(ref.front(), 4);
  EXPECT_EQ(ref.back(), 5);
}

TEST(ArrayRef, SlicesAndChecksBounds) {
  const std::vector<int64_t> vec = {0, 1, 2, 3};
  const IntArrayRef ref = vec;
  EXPECT_EQ(ref.slice(1, 2).vec(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(ref.slice(4).size(), 0u);
  EXPECT_THROWS(ref.slice(2, 3), c10::IndexError, "out of range for 4 elements");
  EXPECT_THROWS(ref.slice(5), c10::IndexError, "out of range");
  EXPECT_THROWS(ref.slice(1, static_cast<std::size_t>(-1)), c10::IndexError, "out of range");
  EXPECT_THROWS(ref.at(4), c10::IndexError, "index 4");
}

TEST(ArrayRef, ComparesElementsAndLength) {
  const std::vector<int64_t> a = {1, 2}, b = {1, 2, 3}, c = {1, 2};
  EXPECT_TRUE(IntArrayRef(a) == IntArrayRef(c));
  EXPECT_FALSE(IntArrayRef(a) == IntArrayRef(b));
  EXPECT_FALSE(IntArrayRef(b) == IntArrayRef(a));
}

TEST(ArrayRef, Prints) {
  std::ostringstream out;
  const std::vector<int64_t> vec = {2, -3};
  out << IntArrayRef(vec) << IntArrayRef();
  EXPECT_EQ(out.str(), "[2, -3][]");
}

TEST(OptionalArrayRef, TellsEmptyFromNothing) {
  const OptionalIntArrayRef nothing = std::nullopt;
  const OptionalIntArrayRef empty = IntArrayRef();
  EXPECT_FALSE(nothing.has_value());
  EXPECT_TRUE(empty.has_value());
  EXPECT_FALSE(nothing == empty);
  const std::vector<int64_t> vec = {1, 2};
  const OptionalIntArrayRef some = vec;
  EXPECT_EQ(some->size(), 2u);
  EXPECT_EQ((*some)[1], 2);
  EXPECT_EQ(nothing.value_or(vec).size(), 2u);
  EXPECT_ANY_THROW((void)nothing.value());
}

}  // namespace
