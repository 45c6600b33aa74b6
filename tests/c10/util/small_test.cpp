// Tests of the smallest utilities: irange, function_ref, MaybeOwned, overflow, str.
#include <c10/util/FunctionRef.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/StringUtil.h>
#include <c10/util/irange.h>
#include <c10/util/overflow.h>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace {

TEST(Irange, CountsAndClampsAnEmptyRange) {
  std::vector<int> seen;
  for (const auto i : c10::irange(3)) seen.push_back(i);
  for (const auto i : c10::irange(5, 7)) seen.push_back(i);
  for (const auto i : c10::irange(2, 1)) seen.push_back(i);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 5, 6}));
}

int twice(int x) { return 2 * x; }

TEST(FunctionRef, CallsLambdasAndFunctions) {
  int calls = 0;
  const auto add = [&calls](int x) { return x + ++calls; };
  c10::function_ref<int(int)> ref = add;
  EXPECT_EQ(ref(10), 11);
  EXPECT_EQ(ref(10), 12);
  ref = twice;
  EXPECT_EQ(ref(4), 8);
  EXPECT_FALSE(c10::function_ref<void()>());
}

TEST(MaybeOwned, BorrowsOrOwns) {
  const std::string outside = "a string long enough to be on the heap";
  auto borrowed = c10::MaybeOwned<std::string>::borrowed(outside);
  EXPECT_EQ(&*borrowed, &outside);
  auto owned = c10::MaybeOwned<std::string>::owned(std::string(outside));
  EXPECT_NE(&*owned, &outside);
  borrowed = std::move(owned);
  EXPECT_TRUE(borrowed.is_owned());
  EXPECT_EQ(borrowed->size(), outside.size());
  const auto copy = borrowed;
  EXPECT_EQ(*copy, outside);
}

TEST(Overflow, DetectsProductsThatDoNotFit) {
  int64_t product = 0;
  EXPECT_FALSE(c10::safe_multiplies(std::vector<int64_t>{3, 4, 5}, &product));
  EXPECT_EQ(product, 60);
  EXPECT_TRUE(
      c10::safe_multiplies(std::vector<int64_t>{int64_t{1} << 32, int64_t{1} << 31}, &product));
  EXPECT_FALSE(
      c10::safe_multiplies(std::vector<int64_t>{int64_t{1} << 31, int64_t{1} << 31}, &product));
  EXPECT_EQ(c10::multiply_integers(std::vector<int64_t>{}), 1);
}

TEST(Str, JoinsItsArguments) {
  EXPECT_EQ(c10::str("a", 1, ' ', 2.5, std::string("z")), "a1 2.5z");
  EXPECT_EQ(c10::str(), "");
  EXPECT_EQ(c10::Join(", ", std::vector<int>{1, 2, 3}), "1, 2, 3");
}

}  // namespace
