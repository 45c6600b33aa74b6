// Creation: values, dtypes, layouts, random numbers, errors.
#include "Testing.h"

#include <generated/ops/add.h>
#include <generated/ops/bernoulli.h>
#include <generated/ops/clone.h>
#include <generated/ops/div.h>
#include <generated/ops/empty.h>
#include <generated/ops/empty_like.h>
#include <generated/ops/empty_strided.h>
#include <generated/ops/expand.h>
#include <generated/ops/eye.h>
#include <generated/ops/flatten.h>
#include <generated/ops/full.h>
#include <generated/ops/linspace.h>
#include <generated/ops/new_empty_strided.h>
#include <generated/ops/new_full.h>
#include <generated/ops/new_ones.h>
#include <generated/ops/new_zeros.h>
#include <generated/ops/normal.h>
#include <generated/ops/ones.h>
#include <generated/ops/ones_like.h>
#include <generated/ops/rand.h>
#include <generated/ops/randint.h>
#include <generated/ops/randn.h>
#include <generated/ops/random.h>
#include <generated/ops/randperm.h>
#include <generated/ops/resize.h>
#include <generated/ops/slice.h>
#include <generated/ops/t.h>
#include <generated/ops/transpose.h>
#include <generated/ops/tril.h>
#include <generated/ops/triu.h>
#include <generated/ops/uniform.h>
#include <generated/ops/view_as_real.h>
#include <generated/ops/zeros.h>
#include <generated/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using at::TensorOptions;
using testing::HasSubstr;

TEST(Factories, ZerosOnesFull) {
  EXPECT_EQ(doubles(at::zeros({2, 2})), (Doubles{0, 0, 0, 0}));
  EXPECT_EQ(doubles(at::ones({3}, at::kDouble)), (Doubles{1, 1, 1}));
  EXPECT_EQ(ints(at::full({2}, 7)), (Ints{7, 7}));
  EXPECT_EQ(at::zeros({1}).scalar_type(), at::kFloat);
  EXPECT_EQ(at::full({1}, 7).scalar_type(), at::kLong);
  EXPECT_EQ(at::full({1}, 7.5).scalar_type(), at::kFloat);
  EXPECT_EQ(at::full({1}, true).scalar_type(), at::kBool);
  EXPECT_EQ(at::full({1}, c10::complex<double>(1, 2)).scalar_type(), at::kComplexFloat);
  EXPECT_EQ(at::full({1}, 7, at::kHalf).scalar_type(), at::kHalf);
  EXPECT_EQ(at::zeros({}).numel(), 1);
  EXPECT_EQ(at::zeros({0, 3}).numel(), 0);
}

TEST(Factories, EveryDtype) {
  for (at::ScalarType dtype : all_dtypes()) {
    const Tensor t = at::ones({2, 3}, dtype);
    EXPECT_EQ(t.scalar_type(), dtype);
    EXPECT_EQ(doubles(t), Doubles(6, 1.0)) << dtype;
    EXPECT_EQ(doubles(at::zeros_like(t)), Doubles(6, 0.0)) << dtype;
    EXPECT_EQ(at::empty_like(t).scalar_type(), dtype);
  }
}

TEST(Factories, AFreshTensorHasVersionZero) {
  EXPECT_EQ(at::ones({2})._version(), 0u);
  EXPECT_EQ(at::arange(3)._version(), 0u);
  EXPECT_EQ(at::rand({2})._version(), 0u);
  EXPECT_EQ(at::eye(2)._version(), 0u);
}

TEST(Factories, RequiresGradIsApplied) {
  EXPECT_TRUE(at::ones({2}, at::requires_grad()).requires_grad());
  EXPECT_FALSE(at::ones({2}).requires_grad());
}

TEST(Factories, LikeKeepsTheLayout) {
  const Tensor t = at::empty({2, 3}).t();
  EXPECT_EQ(strides(at::empty_like(t)), (Ints{1, 3}));
  EXPECT_EQ(strides(at::zeros_like(t, {}, at::MemoryFormat::Contiguous)), (Ints{2, 1}));
  // An expanded input has no dense layout; its order of dimensions is kept.
  EXPECT_EQ(strides(at::ones_like(at::empty({3, 1}).expand({3, 4}))), (Ints{4, 1}));
  const Tensor image = at::empty({1, 2, 3, 4}, {}, at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(strides(image), (Ints{24, 1, 8, 2}));
  EXPECT_EQ(strides(at::empty_like(image)), (Ints{24, 1, 8, 2}));
  EXPECT_EQ(at::ones_like(t, at::kInt).scalar_type(), at::kInt);
}

TEST(Factories, NewTakesDtypeAndDevice) {
  const Tensor t = at::empty({2}, at::kShort);
  EXPECT_EQ(t.new_zeros({3}).scalar_type(), at::kShort);
  EXPECT_EQ(ints(t.new_full({2}, 5)), (Ints{5, 5}));
  EXPECT_EQ(t.new_ones({1}, at::kDouble).scalar_type(), at::kDouble);
  EXPECT_EQ(strides(t.new_empty_strided({2, 2}, {1, 2})), (Ints{1, 2}));
}

TEST(Factories, Out) {
  Tensor out = at::empty({0}, at::kLong);
  EXPECT_TRUE(at::ones_out(out, {2, 2}).is_same(out));
  EXPECT_EQ(ints(out), (Ints{1, 1, 1, 1}));
  at::full_out(out, {3}, 4);
  EXPECT_EQ(ints(out), (Ints{4, 4, 4}));
  at::arange_out(out, 3);
  EXPECT_EQ(ints(out), (Ints{0, 1, 2}));
  at::eye_out(out, 2);
  EXPECT_EQ(ints(out), (Ints{1, 0, 0, 1}));
  // A result with as many elements keeps the layout that it has.
  Tensor columns = at::zeros({4, 2}, at::kLong).select(1, 0);
  at::arange_out(columns, 0, 4, 1);
  EXPECT_EQ(ints(columns), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(strides(columns), (Ints{2}));
}

TEST(Factories, Arange) {
  EXPECT_EQ(ints(at::arange(4)), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(at::arange(4).scalar_type(), at::kLong);
  EXPECT_EQ(at::arange(4.0).scalar_type(), at::kFloat);
  EXPECT_EQ(ints(at::arange(5, 0, -2)), (Ints{5, 3, 1}));
  EXPECT_EQ(doubles(at::arange(0, 1, 0.25)), (Doubles{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(doubles(at::arange(0, 1, 0.375)), (Doubles{0, 0.375, 0.75}));
  EXPECT_EQ(doubles(at::arange(1, 0, -0.75)), (Doubles{1, 0.25}));
  EXPECT_EQ(ints(at::arange(2, 4, at::kByte)), (Ints{2, 3}));
  EXPECT_EQ(at::arange(0).numel(), 0);
  const int64_t large = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ints(at::arange(large - 2, large)), (Ints{large - 2, large - 1}));
  EXPECT_THAT(message_of<c10::ValueError>([] { at::arange(0, 3, -1); }), HasSubstr("sign of step"));
  EXPECT_THAT(message_of<c10::ValueError>([] { at::arange(0, 3, 0); }), HasSubstr("step"));
  EXPECT_THAT(message_of<c10::ValueError>([] { at::arange(std::nan("")); }), HasSubstr("finite"));
  EXPECT_THAT(message_of<c10::ValueError>([] { at::arange(0, 10, INFINITY); }),
              HasSubstr("expected a finite step other than 0, got inf"));
}

TEST(Factories, Linspace) {
  EXPECT_EQ(doubles(at::linspace(0, 1, 5)), (Doubles{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(doubles(at::linspace(3, 5, 1)), (Doubles{3}));
  EXPECT_EQ(at::linspace(3, 5, 0).numel(), 0);
  EXPECT_EQ(ints(at::linspace(0, 10, 3, at::kLong)), (Ints{0, 5, 10}));
  // Both ends are exact.
  for (int64_t steps = 2; steps < 100; ++steps) {
    const Tensor t = at::linspace(0.1, 0.7, steps, at::kDouble);
    EXPECT_EQ(t[0].item<double>(), 0.1) << steps;
    EXPECT_EQ(t[-1].item<double>(), 0.7) << steps;
  }
  EXPECT_THAT(message_of<c10::ValueError>([] { at::linspace(0, 1, -1); }),
              HasSubstr("non-negative"));
}

TEST(Factories, EyeAndTriangles) {
  EXPECT_EQ(ints(at::eye(2, 3)), (Ints{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(at::eye(0).numel(), 0);
  const Tensor t = counted({3, 3}) + 1;
  EXPECT_EQ(ints(at::tril(t)), (Ints{1, 0, 0, 4, 5, 0, 7, 8, 9}));
  EXPECT_EQ(ints(at::triu(t)), (Ints{1, 2, 3, 0, 5, 6, 0, 0, 9}));
  EXPECT_EQ(ints(at::tril(t, 1)), (Ints{1, 2, 0, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(ints(at::triu(t, -1)), (Ints{1, 2, 3, 4, 5, 6, 0, 8, 9}));
  EXPECT_EQ(ints(at::triu(t, 5)), Ints(9, 0));
  EXPECT_EQ(ints(at::tril(t, std::numeric_limits<int64_t>::max())), ints(t));
  EXPECT_EQ(ints(at::triu(t, std::numeric_limits<int64_t>::min())), ints(t));
  EXPECT_EQ(ints(t.t().tril()), (Ints{1, 0, 0, 2, 5, 0, 3, 6, 9}));
  Tensor inplace = t.clone();
  inplace.tril_(-1);
  EXPECT_EQ(ints(inplace), (Ints{0, 0, 0, 4, 0, 0, 7, 8, 0}));
  const Tensor batch = at::ones({2, 2, 2}, at::kHalf);
  EXPECT_EQ(ints(batch.triu(1)), (Ints{0, 1, 0, 0, 0, 1, 0, 0}));
  EXPECT_THAT(message_of<c10::Error>([] { at::zeros({3}).tril(); }),
              HasSubstr("at least 2 dimensions"));
}

// Batches of tall and wide matrices with dense rows, with gaps and transposed, into the same, on
// two threads, element by element.
TEST(Factories, TrianglesOfEveryShape) {
  const int threads = at::get_num_threads();
  at::set_num_threads(2);
  for (const Ints& shape : {Ints{2, 3, 7, 4}, Ints{3, 4, 9}, Ints{40000, 3}, Ints{3, 40000}}) {
    const int64_t rows = shape[shape.size() - 2], columns = shape.back();
    const auto laid_out = [&](int layout) {
      Ints given = shape;
      if (layout == 1) given.back() += 2;
      if (layout == 2) std::swap(given[given.size() - 2], given.back());
      const Tensor t = counted(given) + 1;
      if (layout == 1) return t.slice(-1, 1, columns + 1);
      return layout == 2 ? t.transpose(-2, -1) : t;
    };
    for (const int from : {0, 1, 2}) {
      for (const int to : {0, 1, 2}) {
        for (const int64_t diagonal : {-rows - 2, int64_t{-2}, int64_t{0}, int64_t{3}, columns}) {
          const Tensor t = laid_out(from);
          const Ints elements = ints(t);
          for (const bool upper : {false, true}) {
            Ints wanted = elements;
            for (size_t k = 0; k < wanted.size(); ++k) {
              const auto row = static_cast<int64_t>(k) / columns % rows;
              const int64_t distance = static_cast<int64_t>(k) % columns - row;
              if (upper ? distance < diagonal : distance > diagonal) wanted[k] = 0;
            }
            Tensor out = laid_out(to);
            upper ? at::triu_out(out, t, diagonal) : at::tril_out(out, t, diagonal);
            ASSERT_EQ(ints(out), wanted) << shape.size() << " " << from << to << " " << diagonal;
            Tensor same = laid_out(from);
            upper ? same.triu_(diagonal) : same.tril_(diagonal);
            ASSERT_EQ(ints(same), wanted) << shape.size() << " " << from << " " << diagonal;
          }
        }
      }
    }
  }
  at::set_num_threads(threads);
}

TEST(Factories, WrongSizes) {
  EXPECT_THAT(message_of<c10::Error>([] { at::zeros({2, -1}); }), HasSubstr("negative dimension"));
  EXPECT_ANY_THROW(at::zeros({int64_t{1} << 40, int64_t{1} << 40}));
  EXPECT_ANY_THROW(at::empty({int64_t{1} << 61}, at::kDouble));
  EXPECT_ANY_THROW(at::empty_strided({2}, {-1}));
  EXPECT_ANY_THROW(at::empty_strided({2, 2}, {1}));
}

TEST(Factories, Meta) {
  const TensorOptions meta = TensorOptions().device("meta");
  EXPECT_EQ(sizes(at::ones({2, 3}, meta)), (Ints{2, 3}));
  EXPECT_EQ(sizes(at::arange(5, meta)), (Ints{5}));
  EXPECT_EQ(sizes(at::randn({4}, meta)), (Ints{4}));
  EXPECT_EQ(sizes(at::tril(at::ones({2, 3}, meta))), (Ints{2, 3}));
  EXPECT_TRUE(at::randperm(4, meta).is_meta());
}

// ---- Random numbers ----

TEST(Random, TheSameSeedGivesTheSameNumbers) {
  c10::manual_seed(5);
  const Tensor a = at::rand({1000});
  const Tensor b = at::rand({1000});
  c10::manual_seed(5);
  EXPECT_EQ(doubles(at::rand({1000})), doubles(a));
  EXPECT_NE(doubles(a), doubles(b));
  const at::Generator generator = c10::createCPUGenerator(5);
  EXPECT_EQ(doubles(at::rand({1000}, generator)), doubles(a));
}

TEST(Random, ThreadsAndLayoutDoNotMatter) {
  const int threads = at::get_num_threads();
  const auto draw = [](int count) {
    at::set_num_threads(count);
    c10::manual_seed(1);
    return std::vector<Tensor>{at::rand({300, 301}), at::randn({100000}), at::randint(10, {100000}),
                               at::randperm(5000), at::empty({70000}).bernoulli_(0.3)};
  };
  const auto one = draw(1);
  const auto two = draw(2);
  at::set_num_threads(threads);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(doubles(one[i]), doubles(two[i])) << i;
  c10::manual_seed(1);
  const Tensor transposed = at::empty({301, 300}).t().uniform_();
  EXPECT_EQ(doubles(transposed), doubles(one[0]));
}

TEST(Random, Distributions) {
  c10::manual_seed(0);
  const auto mean = [](const Tensor& t) {
    double sum = 0;
    for (double x : doubles(t)) sum += x;
    return sum / static_cast<double>(t.numel());
  };
  const Tensor uniform = at::empty({100000}, at::kDouble).uniform_(2, 4);
  EXPECT_NEAR(mean(uniform), 3.0, 0.01);
  for (double x : doubles(uniform)) ASSERT_TRUE(x >= 2 && x < 4);
  const Tensor normal = at::empty({100000}, at::kDouble).normal_(1, 2);
  EXPECT_NEAR(mean(normal), 1.0, 0.03);
  double variance = 0;
  for (double x : doubles(normal)) variance += (x - 1) * (x - 1) / 100000;
  EXPECT_NEAR(variance, 4.0, 0.1);
  EXPECT_NEAR(mean(at::empty({100000}).bernoulli_(0.25)), 0.25, 0.01);
  EXPECT_NEAR(mean(at::bernoulli(at::full({100000}, 0.75))), 0.75, 0.01);
  std::set<int64_t> seen;
  for (int64_t x : ints(at::randint(-3, 3, {1000}))) seen.insert(x);
  EXPECT_EQ(seen, (std::set<int64_t>{-3, -2, -1, 0, 1, 2}));
  for (int64_t x : ints(at::empty({1000}, at::kChar).random_())) ASSERT_TRUE(x >= 0 && x <= 127);
  for (double x : doubles(at::rand({100000}, at::kHalf))) ASSERT_TRUE(x >= 0 && x < 1);
}

// The parts of complex numbers are the numbers of the sequence, in turn.
TEST(Random, ComplexNumbers) {
  for (const auto& [complex, real] :
       {std::pair(at::kComplexFloat, at::kFloat), std::pair(at::kComplexDouble, at::kDouble)}) {
    c10::manual_seed(3);
    const Tensor z = at::empty({3, 700}, complex).uniform_(-1, 3);
    c10::manual_seed(3);
    const Tensor x = at::empty({3, 1400}, real).uniform_(-1, 3);
    EXPECT_EQ(doubles(at::view_as_real(z)), doubles(x));
    c10::manual_seed(3);
    EXPECT_EQ(doubles(at::view_as_real(at::rand({50}, complex))),
              doubles(at::view_as_real(z.flatten().slice(0, 0, 50)).add(1).div(4)));
  }
}

TEST(Random, RandpermIsAPermutation) {
  for (int64_t n : {0, 1, 2, 1000}) {
    Ints all = ints(at::randperm(n));
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, ints(at::arange(n)));
  }
  EXPECT_NE(ints(at::randperm(1000)), ints(at::arange(1000)));
  EXPECT_EQ(at::randperm(5, at::kInt).scalar_type(), at::kInt);
  EXPECT_ANY_THROW(at::randperm(1000, at::kByte));
  EXPECT_ANY_THROW(at::randperm(-1));
}

TEST(Random, Errors) {
  EXPECT_THAT(message_of<c10::ValueError>([] { at::randint(3, 3, {1}); }), HasSubstr("limit"));
  EXPECT_ANY_THROW(at::randint(300, {1}, at::kByte));
  EXPECT_ANY_THROW(at::empty({2}, at::kLong).uniform_());
  EXPECT_ANY_THROW(at::empty({2}).uniform_(1, 0));
  EXPECT_ANY_THROW(at::empty({2}).normal_(0, -1));
  EXPECT_ANY_THROW(at::empty({2}).bernoulli_(1.5));
  EXPECT_ANY_THROW(at::bernoulli(at::full({2}, 2.0)));
  EXPECT_ANY_THROW(at::empty({1}).expand({3}).uniform_());
}

}  // namespace
