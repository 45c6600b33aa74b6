// Tests of SmallVector, with elements that own memory so that a slip shows under the sanitizers.
#include <c10/util/SmallVector.h>

#include <memory>
#include <string>

#include "../throws.h"

namespace {

using c10::SmallVector;
using Strings = SmallVector<std::string, 2>;

std::string long_text(int i) {
  return "a string too long for the small string buffer " + std::to_string(i);
}

TEST(SmallVector, GrowsFromInlineToHeap) {
  Strings strings;
  EXPECT_EQ(strings.capacity(), 2u);
  for (int i = 0; i < 20; ++i) strings.push_back(long_text(i));
  ASSERT_EQ(strings.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(strings[static_cast<std::size_t>(i)], long_text(i));
}

TEST(SmallVector, PushesItsOwnElementWhileGrowing) {
  Strings strings = {long_text(0), long_text(1)};
  ASSERT_EQ(strings.size(), strings.capacity());
  strings.push_back(strings[0]);
  EXPECT_EQ(strings[0], long_text(0));
  EXPECT_EQ(strings[2], long_text(0));
}

TEST(SmallVector, CopiesAreIndependent) {
  for (int count : {1, 2, 5}) {
    Strings a;
    for (int i = 0; i < count; ++i) a.push_back(long_text(i));
    Strings b = a;
    b[0] = "changed";
    EXPECT_EQ(a[0], long_text(0));
    Strings c;
    c = a;
    EXPECT_TRUE(c == a);
    EXPECT_FALSE(b == a);
    const Strings& same = a;
    a = same;
    EXPECT_TRUE(c == a);
  }
}

TEST(SmallVector, MovesFromInlineAndHeap) {
  for (int count : {0, 1, 2, 5}) {
    Strings a;
    for (int i = 0; i < count; ++i) a.push_back(long_text(i));
    Strings b = std::move(a);
    EXPECT_EQ(b.size(), static_cast<std::size_t>(count));
    EXPECT_TRUE(a.empty());  // NOLINT: an emptied vector can be used again
    a.push_back("again");
    EXPECT_EQ(a.size(), 1u);
    for (int target : {1, 7}) {
      Strings c(static_cast<std::size_t>(target), "old");
      c = std::move(b);
      EXPECT_EQ(c.size(), static_cast<std::size_t>(count));
      b = std::move(c);
    }
    for (int i = 0; i < count; ++i) EXPECT_EQ(b[static_cast<std::size_t>(i)], long_text(i));
  }
}

TEST(SmallVector, MovesThatHoldUniquePointers) {
  SmallVector<std::unique_ptr<int>, 1> a;
  for (int i = 0; i < 3; ++i) a.push_back(std::make_unique<int>(i));
  auto b = std::move(a);
  EXPECT_EQ(*b[2], 2);
  EXPECT_EQ(*b.pop_back_val(), 2);
  EXPECT_EQ(b.size(), 2u);
}

TEST(SmallVector, ResizesInsertsAndErases) {
  SmallVector<int, 3> v;
  v.resize(2);
  EXPECT_EQ(v[0] + v[1], 0);
  v.resize(5, 9);
  EXPECT_TRUE((v == SmallVector<int, 3>{0, 0, 9, 9, 9}));
  v.insert(v.begin() + 1, 4);
  EXPECT_TRUE((v == SmallVector<int, 3>{0, 4, 0, 9, 9, 9}));
  v.erase(v.begin());
  v.erase(v.begin() + 1, v.begin() + 3);
  EXPECT_TRUE((v == SmallVector<int, 3>{4, 9, 9}));
  v.insert(v.end(), v[0]);
  EXPECT_TRUE((v == SmallVector<int, 3>{4, 9, 9, 4}));
  v.resize(1);
  EXPECT_TRUE((v == SmallVector<int, 3>{4}));
  v.assign(2, v[0]);
  EXPECT_TRUE((v == SmallVector<int, 3>{4, 4}));
  EXPECT_THROWS(v.at(2), c10::IndexError, "index 2 is out of range for 2 elements");
}

}  // namespace
