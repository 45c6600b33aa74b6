// Copies, conversions, fills, item, resize, detach.
#include "Testing.h"

#include <generated/ops/_local_scalar_dense.h>
#include <generated/ops/add.h>
#include <generated/ops/alias.h>
#include <generated/ops/as_strided.h>
#include <generated/ops/clone.h>
#include <generated/ops/empty.h>
#include <generated/ops/equal.h>
#include <generated/ops/expand.h>
#include <generated/ops/full.h>
#include <generated/ops/ones.h>
#include <generated/ops/remainder.h>
#include <generated/ops/resize.h>
#include <generated/ops/select.h>
#include <generated/ops/slice.h>
#include <generated/ops/t.h>
#include <generated/ops/type_as.h>
#include <generated/ops/zero.h>
#include <generated/ops/zeros.h>

#include <cmath>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

TEST(Copy, Broadcasts) {
  const Tensor t = at::zeros({2, 3}, at::kLong);
  EXPECT_TRUE(t.copy_(at::tensor({1, 2, 3})).is_same(t));
  EXPECT_EQ(ints(t), (Ints{1, 2, 3, 1, 2, 3}));
  t.copy_(at::tensor({{7}, {8}}));
  EXPECT_EQ(ints(t), (Ints{7, 7, 7, 8, 8, 8}));
  t.copy_(at::tensor(5));
  EXPECT_EQ(ints(t), Ints(6, 5));
  EXPECT_THAT(message_of<c10::Error>([&] { t.copy_(at::zeros({2})); }), HasSubstr("copy_(): "));
  EXPECT_EQ(ints(t), Ints(6, 5));
}

// Rows of one element, and rows that lie in a wider matrix, of each size of an element.
TEST(Copy, ColumnsAndPartsOfRows) {
  for (const at::ScalarType dtype : {at::kByte, at::kHalf, at::kFloat, at::kDouble}) {
    for (const int64_t width : {1, 3, 8, 15, 63, 64, 65, 200, 1000}) {
      const Tensor column = counted({9, 1}).to(dtype);
      const Ints filled = ints(column.expand({9, width}).clone().to(at::kLong));
      const Tensor wide = counted({9, width + 3}).remainder(100).to(dtype);
      const Tensor sums = (wide.slice(1, 1, width + 1) + wide.slice(1, 3, width + 3)).to(at::kLong);
      const Ints summed = ints(sums);
      for (int64_t i = 0; i < 9 * width; ++i) {
        const int64_t r = i / width, c = i % width, place = r * (width + 3) + c;
        ASSERT_EQ(filled[static_cast<size_t>(i)], r) << dtype << ' ' << width;
        ASSERT_EQ(summed[static_cast<size_t>(i)], (place + 1) % 100 + (place + 3) % 100)
            << dtype << ' ' << width;
      }
    }
  }
}

TEST(Copy, EveryPairOfDtypes) {
  for (at::ScalarType from : all_dtypes()) {
    const Tensor source = at::tensor({0, 1, 1}).to(from);
    for (at::ScalarType to : all_dtypes()) {
      const Tensor target = at::zeros({3}, to);
      target.copy_(source);
      EXPECT_EQ(doubles(target), (Doubles{0, 1, 1})) << from << " to " << to;
    }
  }
}

TEST(Copy, Conversions) {
  const Tensor x = at::tensor({-1.5, 2.75, 300.0});
  EXPECT_EQ(ints(x.to(at::kInt)), (Ints{-1, 2, 300}));
  EXPECT_EQ(ints(x.to(at::kBool)), (Ints{1, 1, 1}));
  EXPECT_EQ(ints(at::tensor({0.5, 0.0}).to(at::kBool)), (Ints{1, 0}));
  EXPECT_EQ(doubles(at::tensor({c10::complex<double>(3, 4)}).to(at::kDouble)), (Doubles{3}));
  EXPECT_TRUE(std::isinf(doubles(at::tensor({1e6}).to(at::kHalf))[0]));
}

TEST(Copy, StridedAndTransposed) {
  const Tensor big = counted({100, 130});
  Tensor copy = at::empty({130, 100}, at::kLong);
  copy.copy_(big.t());
  for (int64_t i : {0, 1, 64, 129}) {
    for (int64_t j : {0, 31, 32, 99}) {
      ASSERT_EQ(copy.select(0, i).select(0, j).item().to<int64_t>(), j * 130 + i);
    }
  }
  const Tensor columns = at::zeros({4, 3}, at::kLong);
  columns.select(1, 1).copy_(at::tensor({1, 2, 3, 4}));
  EXPECT_EQ(ints(columns), (Ints{0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0}));
}

TEST(Copy, LargeOnSeveralThreads) {
  const Tensor t = counted({1 << 20});
  EXPECT_EQ(ints(t.clone()), ints(t));
}

TEST(Copy, Overlap) {
  const Tensor t = counted({5});
  EXPECT_THAT(message_of<c10::Error>([&] {
                t.expand({2, 5}).copy_(at::zeros({2, 5}, at::kLong));
              }),
              testing::Not(testing::IsEmpty()));
  EXPECT_ANY_THROW(t.slice(0, 0, 4).copy_(t.slice(0, 1, 5)));
  EXPECT_EQ(ints(t), (Ints{0, 1, 2, 3, 4}));
}

// Rows overlap with their own copies.
TEST(Copy, ColumnsShifted) {
  for (const at::ScalarType dtype :
       {at::kByte, at::kShort, at::kFloat, at::kDouble, at::kComplexDouble}) {
    for (const int64_t width : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 63, 64, 130, 600}) {
      for (const int64_t shift : {-2, -1, 1, 2, 3}) {
        for (const int64_t rows : {2, 5, 30}) {
          const Tensor all = counted({rows, width + 6}).remainder(100);
          const Tensor t = all.to(dtype), from = t.slice(1, 3, 3 + width);
          t.slice(1, 3 + shift, 3 + shift + width).copy_(from);
          Ints wanted = ints(all);
          const Ints before = wanted;
          for (int64_t i = 0; i < rows * width; ++i) {
            const int64_t place = i / width * (width + 6) + 3 + i % width;
            wanted[static_cast<size_t>(place + shift)] = before[static_cast<size_t>(place)];
          }
          ASSERT_EQ(ints(t.to(at::kLong)), wanted)
              << dtype << ", " << rows << " x " << width << ", by " << shift;
        }
      }
    }
  }
}

// Of a tensor that is shifted within itself, what is copied is what was there before, whatever the
// number of threads; views that only lie among each other are copied as they are.
TEST(Copy, ShiftedViews) {
  const int threads = at::get_num_threads();
  struct Views {
    Ints sizes, strides;
    int64_t from, to;
  };
  for (const Views& v :
       {Views{{1001, 65}, {66, 1}, 1, 0}, Views{{1001, 65}, {66, 1}, 0, 1},
        Views{{300, 299, 5}, {1500, 5, 1}, 0, 5}, Views{{299, 300, 3}, {1500, 5, 1}, 1500, 0},
        Views{{30, 6}, {10, 1}, 0, 10}, Views{{40'000}, {2}, 0, 2}, Views{{40'000}, {2}, 2, 0},
        Views{{40'000}, {2}, 0, 1}, Views{{200, 200}, {1, 400}, 0, 401},
        Views{{200, 200}, {400, 1}, 0, 200}, Views{{1, 50, 40}, {7, 90, 2}, 0, 90}}) {
    for (const int count : {1, 2}) {
      at::set_num_threads(count);
      const Tensor all = counted({450'000}), before = all.clone();
      const auto view = [&](const Tensor& t, int64_t offset) {
        return t.as_strided(v.sizes, v.strides, offset);
      };
      view(all, v.to).copy_(view(all, v.from));
      Tensor wanted = before.clone();
      view(wanted, v.to).copy_(view(before, v.from));
      EXPECT_TRUE(at::equal(all, wanted)) << at::IntArrayRef(v.sizes) << v.from << v.to << count;
    }
  }
  at::set_num_threads(threads);
  // An expanded row of what is written to.
  const Tensor square = counted({40, 40}), rows = square.clone();
  rows.copy_(rows.select(0, 3).expand({40, 40}));
  EXPECT_TRUE(at::equal(rows, square.select(0, 3).expand({40, 40})));
  // Dense ones that share a part of their memory are refused.
  EXPECT_ANY_THROW(square.slice(0, 1).copy_(square.slice(0, 0, -1)));
  EXPECT_ANY_THROW(square.copy_(square.t()));
}

TEST(Copy, BumpsTheVersion) {
  const Tensor t = at::zeros({2});
  const Tensor view = t.select(0, 0);
  const uint32_t before = t._version();
  view.copy_(at::ones({}));
  EXPECT_EQ(t._version(), before + 1);
  EXPECT_EQ(view._version(), before + 1);
}

TEST(Clone, Layouts) {
  const Tensor t = counted({2, 3}).t();
  EXPECT_EQ(strides(t.clone()), (Ints{1, 3}));
  EXPECT_EQ(strides(t.clone(at::MemoryFormat::Contiguous)), (Ints{2, 1}));
  EXPECT_EQ(ints(t.clone()), ints(t));
  EXPECT_FALSE(t.clone().is_alias_of(t));
  const Tensor expanded = at::ones({3, 1}).expand({3, 4});
  EXPECT_EQ(strides(expanded.clone()), (Ints{4, 1}));
}

TEST(Contiguous, CopiesOnlyWhereNeeded) {
  const Tensor t = counted({2, 3});
  EXPECT_TRUE(t.contiguous().is_same(t));
  const Tensor dense = t.t().contiguous();
  EXPECT_TRUE(dense.is_contiguous());
  EXPECT_EQ(ints(dense), (Ints{0, 3, 1, 4, 2, 5}));
  const Tensor image = counted({1, 2, 2, 2}).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(strides(image), (Ints{8, 1, 4, 2}));
  EXPECT_EQ(ints(image), (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(To, ReturnsSelfWhereNothingChanges) {
  const Tensor t = at::ones({2});
  EXPECT_TRUE(t.to(at::kFloat).is_same(t));
  EXPECT_TRUE(t.to(at::kFloat, false, /*copy=*/true).is_alias_of(t) == false);
  EXPECT_EQ(t.to(at::kDouble).scalar_type(), at::kDouble);
  EXPECT_EQ(t.to(at::zeros({1}, at::kInt)).scalar_type(), at::kInt);
  EXPECT_EQ(t.type_as(at::zeros({1}, at::kInt)).scalar_type(), at::kInt);
  EXPECT_EQ(t.to(at::dtype(at::kHalf)).scalar_type(), at::kHalf);
  EXPECT_TRUE(t.to(at::Device("meta"), at::kFloat).is_meta());
  EXPECT_ANY_THROW(t.to(at::Device("meta"), at::kFloat).to(at::kCPU, at::kFloat));
}

TEST(Fill, NumbersAndTensors) {
  const Tensor t = at::zeros({2, 2});
  t.fill_(3);
  EXPECT_EQ(doubles(t), Doubles(4, 3.0));
  t.select(1, 0).fill_(at::tensor(5));
  EXPECT_EQ(doubles(t), (Doubles{5, 3, 5, 3}));
  t.zero_();
  EXPECT_EQ(doubles(t), Doubles(4, 0.0));
  EXPECT_THAT(message_of<c10::Error>([&] { t.fill_(at::ones({2})); }), HasSubstr("0-d"));
  EXPECT_ANY_THROW(at::zeros({2}, at::kByte).fill_(1000));
  EXPECT_EQ(doubles(at::fill(t, 2)), Doubles(4, 2.0));
  EXPECT_EQ(doubles(t), Doubles(4, 0.0));
  const Tensor large = at::ones({300000}, at::kDouble);
  EXPECT_EQ(doubles(large.zero_()), Doubles(300000, 0.0));
}

TEST(Item, EveryKind) {
  EXPECT_EQ(at::tensor(7).item<int64_t>(), 7);
  EXPECT_EQ(at::tensor({{2.5}}).item<double>(), 2.5);
  EXPECT_TRUE(at::tensor(true).item().isBoolean());
  EXPECT_TRUE(at::tensor(1.5).item().isFloatingPoint());
  EXPECT_TRUE(at::tensor(c10::complex<double>(1, 2)).item().isComplex());
  EXPECT_EQ(at::full({}, 1.5, at::kBFloat16).item<float>(), 1.5f);
  EXPECT_THAT(message_of<c10::Error>([] { at::zeros({3}).item(); }), HasSubstr("one element"));
  EXPECT_THAT(message_of<c10::Error>([] { at::zeros({0}).item(); }), HasSubstr("one element"));
  EXPECT_THAT(message_of<c10::Error>([] { at::_local_scalar_dense(at::zeros({0})); }),
              HasSubstr("one element"));
  EXPECT_ANY_THROW(at::zeros({}, at::TensorOptions().device("meta")).item());
}

TEST(Resize, IsRefusedWhereAGradientWouldBeLost) {
  const Tensor leaf = at::ones({4}).requires_grad_();
  const Tensor result = leaf * 2;
  for (const Tensor& t : {leaf, result}) {
    c10::NoGradGuard no_grad;
    EXPECT_THAT(message_of<c10::Error>([&] { t.resize_({2}); }), HasSubstr("requires grad"));
    EXPECT_EQ(sizes(t), (Ints{4}));
  }
  EXPECT_EQ(sizes(result.detach().resize_({2})), (Ints{2}));
}

TEST(Resize, KeepsTheElements) {
  const Tensor t = at::tensor({1, 2, 3});
  t.resize_({5});
  EXPECT_EQ(t.numel(), 5);
  EXPECT_EQ(ints(t.slice(0, 0, 3)), (Ints{1, 2, 3}));
  void* memory = t.data_ptr();
  t.resize_({2, 1});
  EXPECT_EQ(t.data_ptr(), memory);
  EXPECT_EQ(ints(t), (Ints{1, 2}));
  EXPECT_ANY_THROW(t.resize_({-1}));
  EXPECT_ANY_THROW(t.resize_({int64_t{1} << 62}));
  EXPECT_EQ(sizes(t), (Ints{2, 1}));
}

TEST(Detach, SharesMemoryWithoutHistory) {
  const Tensor t = at::ones({2}, at::requires_grad());
  const Tensor detached = t.detach();
  EXPECT_TRUE(detached.is_alias_of(t));
  EXPECT_FALSE(detached.requires_grad());
  EXPECT_FALSE(at::alias(detached).is_same(detached));
  EXPECT_TRUE(at::alias(detached).is_alias_of(t));
}

}  // namespace
