// The index of C++ programs: t.index({Slice(1, None), "...", 0, mask}).
#include "../native/Testing.h"

#include <generated/ops/empty.h>
#include <generated/ops/expand.h>
#include <generated/ops/item.h>
#include <generated/ops/ones.h>
#include <generated/ops/sum.h>
#include <generated/ops/t.h>
#include <generated/ops/zeros.h>

namespace {

using namespace testing_native;  // NOLINT
using namespace at::indexing;    // NOLINT
using at::Tensor;
using testing::HasSubstr;

TEST(Index, ViewsForIntegersAndSlices) {
  const Tensor t = counted({3, 4});
  EXPECT_EQ(t.index({1, 2}).item<int64_t>(), 6);
  EXPECT_EQ(ints(t.index({Slice(1, None), 0})), (Ints{4, 8}));
  EXPECT_EQ(ints(t.index({"...", -1})), (Ints{3, 7, 11}));
  EXPECT_EQ(ints(t.index({Ellipsis, Slice(None, None, 2)})), (Ints{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(sizes(t.index({None, Slice(), None})), (Ints{1, 3, 1, 4}));
  EXPECT_TRUE(t.index({0}).is_alias_of(t));
  EXPECT_FALSE(t.index({Slice()}).is_same(t));
  EXPECT_ANY_THROW(t.index({0, 0, 0}));
  EXPECT_ANY_THROW(t.index({Ellipsis, Ellipsis}));
  EXPECT_ANY_THROW(t.index({3}));
  EXPECT_ANY_THROW(t.index({"abc"}));
}

TEST(Index, WithTensors) {
  const Tensor t = counted({3, 4});
  EXPECT_EQ(ints(t.index({at::tensor({2, -3})})), (Ints{8, 9, 10, 11, 0, 1, 2, 3}));
  EXPECT_EQ(ints(t.index({at::tensor({0, 2}), at::tensor({1, 3})})), (Ints{1, 11}));
  EXPECT_EQ(ints(t.index({at::tensor({{0}, {2}}), at::tensor({1, 3})})), (Ints{1, 3, 9, 11}));
  EXPECT_EQ(ints(t.index({Slice(), at::tensor({3, 0})})), (Ints{3, 0, 7, 4, 11, 8}));
  EXPECT_EQ(ints(t.index({1, at::tensor({3, 0})})), (Ints{7, 4}));
  EXPECT_EQ(ints(t.index({t.t().select(0, 0) / 4 > 0})), (Ints{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(ints(t.index({at::tensor({true, false, true}), 1})), (Ints{1, 9}));
  EXPECT_EQ(sizes(t.index({true})), (Ints{1, 3, 4}));
  EXPECT_EQ(sizes(t.index({false})), (Ints{0, 3, 4}));
  EXPECT_EQ(sizes(t.index({at::tensor({0}), None})), (Ints{1, 1, 4}));
}

TEST(Index, PlaceOfTheIndexedDimensions) {
  const Tensor t = counted({2, 3, 4, 5});
  const Tensor i = at::zeros({7}, at::kLong);
  // Neighbours: in their place. Apart: in front.
  EXPECT_EQ(sizes(t.index({Slice(), i, i})), (Ints{2, 7, 5}));
  EXPECT_EQ(sizes(t.index({i, Slice(), i})), (Ints{7, 3, 5}));
  EXPECT_EQ(sizes(t.index({Slice(), i, Slice(), i})), (Ints{7, 2, 4}));
  const Tensor mask = at::ones({3, 4}, at::kBool);
  EXPECT_EQ(sizes(t.index({Slice(), mask})), (Ints{2, 12, 5}));
  EXPECT_EQ(sizes(t.index({Slice(), mask, at::zeros({12}, at::kLong)})), (Ints{2, 12}));
  // A check of values in the general case.
  const Tensor a = at::tensor({1, 0});
  const Tensor b = at::tensor({4, 2});
  const Tensor r = t.index({a, Slice(), 3, b});
  ASSERT_EQ(sizes(r), (Ints{2, 3}));
  EXPECT_EQ(ints(r), (Ints{60 + 15 + 4, 60 + 35 + 4, 60 + 55 + 4, 15 + 2, 35 + 2, 55 + 2}));
}

TEST(Index, Errors) {
  const Tensor t = counted({3, 4});
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.index({at::tensor({5})}); }),
              HasSubstr("index 5 is out of bounds for dimension 0 with size 3"));
  EXPECT_THAT(message_of<c10::IndexError>([&] {
                t.index({Slice(), at::tensor({-5})});
              }),
              HasSubstr("index -5 is out of bounds for dimension 1 with size 4"));
  EXPECT_THAT(message_of<c10::IndexError>([&] {
                t.index({at::tensor({true, false})});
              }),
              HasSubstr("does not match the shape"));
  EXPECT_ANY_THROW(t.index({at::tensor({0, 1}), at::tensor({0, 1, 2})}));
  EXPECT_ANY_THROW(t.index({at::tensor({0.5})}));
  EXPECT_ANY_THROW(t.index({at::ones({3, 4, 1}, at::kBool)}));
  EXPECT_EQ(at::zeros({0, 4}).index({at::empty({0}, at::kLong)}).numel(), 0);
  EXPECT_ANY_THROW(at::zeros({0, 4}).index({at::tensor({0})}));
}

TEST(IndexPut, Values) {
  Tensor t = at::zeros({3, 4}, at::kLong);
  t.index_put_({at::tensor({0, 2}), at::tensor({1, 3})}, at::tensor({5, 6}));
  EXPECT_EQ(ints(t), (Ints{0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6}));
  t.index_put_({Slice(1, 2)}, 7);
  EXPECT_EQ(ints(t.index({1})), (Ints{7, 7, 7, 7}));
  t.index_put_({t > 5}, 1.0);
  EXPECT_EQ(ints(t), (Ints{0, 5, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1}));
  t.index_put_({Slice(), at::tensor({0})}, at::tensor({{{9}}}));
  EXPECT_EQ(ints(t.select(1, 0)), (Ints{9, 9, 9}));
  t.index_put_({1, 1}, at::tensor(4.0));
  EXPECT_EQ(t.index({1, 1}).item<int64_t>(), 4);
  EXPECT_ANY_THROW(t.index_put_({at::tensor({0, 1})}, at::ones({3, 4}, at::kLong)));
}

TEST(IndexPut, ByAssigningToASubscript) {
  Tensor t = at::zeros({2, 3}, at::kLong);
  t[0] = at::tensor({1, 2, 3});
  t[1][2] = 7;
  t.index({1, Slice(0, 2)}) = at::tensor({4, 5});
  EXPECT_EQ(ints(t), (Ints{1, 2, 3, 4, 5, 7}));
  t.select(1, 0) = 9;
  const Tensor named = t[0];
  t[1] = named;
  EXPECT_EQ(ints(t), (Ints{9, 2, 3, 9, 2, 3}));
  EXPECT_ANY_THROW(t[0] = at::tensor({1, 2}));
  // A name is given another tensor.
  const Tensor before = t;
  t = at::ones({2}, at::kLong);
  EXPECT_EQ(ints(before), (Ints{9, 2, 3, 9, 2, 3}));
}

TEST(IndexPut, RefusesComplexValuesForRealElements) {
  const Tensor t = at::zeros({3});
  const Tensor value = at::ones({1}, at::kComplexFloat);
  EXPECT_ANY_THROW(t.index_put_({at::tensor({0})}, value));
  EXPECT_EQ(t.sum().item<double>(), 0);
}

TEST(IndexPut, IsBroadcastAndConverted) {
  const Tensor t = at::zeros({2, 3}, at::kLong);
  t.index_put_({Ellipsis, Slice(None, None, 2)}, f64({{7.9}, {-1.5}}));
  EXPECT_EQ(ints(t), (Ints{7, 0, 7, -1, 0, -1}));
  t.index_put_({Slice(1, None), true}, at::tensor({4, 5, 6}));
  EXPECT_EQ(ints(t), (Ints{7, 0, 7, 4, 5, 6}));
  t.index_put_({false}, 9);
  EXPECT_EQ(ints(t), (Ints{7, 0, 7, 4, 5, 6}));
  EXPECT_ANY_THROW(t.index_put_({Slice(), 0}, at::tensor({1, 2, 3})));
}

TEST(IndexPut, IsNamedByMessages) {
  const Tensor t = at::zeros({2, 3}, at::kLong);
  EXPECT_THAT(message_of<c10::Error>([&] {
                t.index_put_({Slice(), 0}, at::tensor({1, 2, 3}));
              }),
              HasSubstr("index_put_(): cannot expand sizes [3] to [2]"));
  EXPECT_THAT(message_of<c10::Error>([&] {
                t.expand({2, 2, 3}).index_put_({"..."}, 1);
              }),
              HasSubstr("index_put_(): several elements"));
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.index({0, 3}); }), HasSubstr("index(): "));
}

TEST(TensorIndex, KnowsWhatItHolds) {
  EXPECT_TRUE(TensorIndex(None).is_none());
  EXPECT_TRUE(TensorIndex("...").is_ellipsis());
  EXPECT_TRUE(TensorIndex(size_t{3}).is_integer());
  EXPECT_EQ(TensorIndex(-3).integer(), -3);
  EXPECT_TRUE(TensorIndex(false).is_boolean());
  EXPECT_FALSE(TensorIndex(false).boolean());
  const TensorIndex slice = Slice(1, None, 2);
  EXPECT_EQ(slice.slice().start(), 1);
  EXPECT_EQ(slice.slice().stop(), std::nullopt);
  EXPECT_EQ(slice.slice().step(), 2);
  EXPECT_EQ(ints(TensorIndex(at::tensor({5})).tensor()), (Ints{5}));
}

}  // namespace
