// layer_norm and its gradient.
#include "Testing.h"

#include <aten/autograd/GradCheck.h>
#include <generated/ops/abs.h>
#include <generated/ops/empty.h>
#include <generated/ops/full.h>
#include <generated/ops/layer_norm.h>
#include <generated/ops/max.h>
#include <generated/ops/mean.h>
#include <generated/ops/native_layer_norm.h>
#include <generated/ops/native_layer_norm_backward.h>
#include <generated/ops/ones.h>
#include <generated/ops/randn.h>
#include <generated/ops/sqrt.h>
#include <generated/ops/sum.h>
#include <generated/ops/t.h>
#include <generated/ops/var.h>

#include <cmath>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

const std::optional<Tensor> kNone;

TEST(LayerNorm, AgreesWithItsFormula) {
  at::manual_seed(1);
  for (at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    const double tolerance = dtype == at::kDouble ? 1e-12 : dtype == at::kFloat ? 1e-5 : 5e-2;
    for (int64_t n : {1, 7, 9, 16, 20, 64, 100, 771, 1000, 2500}) {
      const Tensor x = at::randn({300 / n + 5, n}, at::kDouble).mul(2).add(3).to(dtype);
      const Tensor w = at::randn({n}, at::kDouble).to(dtype),
                   b = at::randn({n}, at::kDouble).to(dtype);
      const Tensor x64 = x.to(at::kDouble);
      const Tensor normal = (x64 - x64.mean({1}, true)) / (x64.var({1}, false, true) + 1e-5).sqrt();
      const auto check = [&](const Tensor& got, const Tensor& expected) {
        EXPECT_EQ(got.scalar_type(), dtype);
        EXPECT_LT((got.to(at::kDouble) - expected).abs().max().item<double>(), tolerance * 4) << n;
      };
      check(at::layer_norm(x, {n}), normal);
      check(at::layer_norm(x, {n}, w), normal * w.to(at::kDouble));
      check(at::layer_norm(x, {n}, kNone, b), normal + b.to(at::kDouble));
      check(at::layer_norm(x, {n}, w, b), normal * w.to(at::kDouble) + b.to(at::kDouble));
      check(at::layer_norm(x.t().contiguous().t(), {n}, w, b),
            normal * w.to(at::kDouble) + b.to(at::kDouble));
    }
  }
}

// Beside their formulas in float64, of numbers that all dtypes have exactly.
TEST(LayerNorm, GradientsOfEveryDtype) {
  at::manual_seed(6);
  for (at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    const double tolerance = dtype == at::kDouble  ? 1e-12
                             : dtype == at::kFloat ? 5e-6
                             : dtype == at::kHalf  ? 2e-3
                                                   : 1.6e-2;
    for (int64_t n : {1, 7, 9, 15, 16, 20, 40, 64, 100, 771, 2500}) {
      const int64_t m = 300 / n + 3;
      const auto numbers = [&](at::IntArrayRef shape) {
        return at::randn(shape, at::kDouble).to(at::kBFloat16).to(at::kDouble);
      };
      const Tensor x = numbers({m, n}), g = numbers({m, n}), w = numbers({n});
      const Tensor mean = numbers({m, 1}), rstd = numbers({m, 1});
      for (const bool weighted : {false, true}) {
        const auto [dx, dw, db] = at::native_layer_norm_backward(
            g.to(dtype), x.to(dtype), {n}, mean.to(dtype), rstd.to(dtype),
            weighted ? std::optional<Tensor>(w.to(dtype)) : kNone, kNone, {true, true, true});
        const Tensor h = (x - mean) * rstd, a = weighted ? g * w : g;
        const auto check = [&](const Tensor& of, const Tensor& expected) {
          const Doubles numbers = doubles(of), wanted = doubles(expected);
          const double scale = expected.abs().max().item<double>();
          for (size_t i = 0; i < wanted.size(); ++i) {
            ASSERT_NEAR(numbers[i], wanted[i], tolerance * (std::abs(wanted[i]) + 0.1 * scale))
                << dtype << ' ' << n << ' ' << i;
          }
        };
        check(dx, rstd * (a - a.mean({1}, true) - h * (a * h).mean({1}, true)));
        check(dw, (g * h).sum({0}));
        check(db, g.sum({0}));
      }
    }
  }
}

TEST(LayerNorm, EqualNumbersBecomeZero) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const double number : {1.7, -100.1, 20000.3, 1e6 / 3}) {
      for (const int64_t n : {2, 7, 100, 768, 3865, 10'000}) {
        const Tensor normal = at::layer_norm(at::full({2, n}, number, dtype), {n});
        EXPECT_EQ(normal.abs().max().item<double>(), 0) << dtype << ' ' << number << ' ' << n;
      }
    }
  }
}

TEST(LayerNorm, Shapes) {
  const Tensor x = at::randn({2, 3, 4});
  EXPECT_EQ(sizes(at::layer_norm(x, {3, 4})), (Ints{2, 3, 4}));
  const auto [out, mean, rstd] = at::native_layer_norm(x, {3, 4}, kNone, kNone, 1e-5);
  EXPECT_EQ(sizes(mean), (Ints{2, 1, 1}));
  EXPECT_EQ(sizes(rstd), (Ints{2, 1, 1}));
  EXPECT_EQ(sizes(at::layer_norm(at::empty({0, 4}), {4})), (Ints{0, 4}));
  EXPECT_EQ(sizes(at::layer_norm(at::empty({4, 0}), {0})), (Ints{4, 0}));
  EXPECT_THAT(message_of<c10::Error>([&] { at::layer_norm(x, {3}); }),
              HasSubstr("layer_norm(): expected input to end in normalized_shape [3], got input of "
                        "shape [2, 3, 4]"));
  EXPECT_THROW(at::layer_norm(x, {4}, at::ones({3})), c10::Error);
  EXPECT_THROW(at::layer_norm(x, {}), c10::Error);
  EXPECT_THROW(at::layer_norm(x.to(at::kLong), {4}), c10::NotImplementedError);
}

TEST(LayerNorm, Gradients) {
  at::manual_seed(2);
  const Tensor x = at::randn({3, 2, 4}, at::kDouble).requires_grad_();
  const Tensor w = at::randn({2, 4}, at::kDouble).requires_grad_();
  const Tensor b = at::randn({2, 4}, at::kDouble).requires_grad_();
  const auto full = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{at::layer_norm(in[0], {2, 4}, in[1], in[2])};
  };
  const auto bare = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{at::layer_norm(in[0], {2, 4})};
  };
  EXPECT_TRUE(at::autograd::gradcheck(full, {x, w, b}));
  EXPECT_TRUE(at::autograd::gradgradcheck(full, {x, w, b}));
  EXPECT_TRUE(at::autograd::gradcheck(bare, {x}));
  EXPECT_TRUE(at::autograd::gradgradcheck(bare, {x}));
}

// The rounding error of a sum does not grow with the row.
TEST(LayerNorm, LongRowsKeepTheirDigits) {
  at::manual_seed(4);
  for (const int64_t n : {2049, 100'000, 1'000'000}) {
    const Tensor x = at::randn({2, n}), g = at::randn({2, n}), x64 = x.to(at::kDouble);
    const auto [out, mean, rstd] = at::native_layer_norm(x, {n}, kNone, kNone, 1e-5);
    const Tensor scale = at::ones({2, 1}, at::kDouble) / (x64.var({1}, false, true) + 1e-5).sqrt();
    const Tensor h = (x64 - x64.mean({1}, true)) * scale, a = g.to(at::kDouble);
    const auto error = [](const Tensor& got, const Tensor& wanted) {
      return (got.to(at::kDouble) - wanted).abs().max().item<double>();
    };
    EXPECT_LT(error(out, h), 2e-6) << n;
    const auto [dx, dw, db] =
        at::native_layer_norm_backward(g, x, {n}, mean, rstd, kNone, kNone, {true, true, true});
    EXPECT_LT(error(dx, scale * (a - a.mean({1}, true) - h * (a * h).mean({1}, true))), 3e-6) << n;
    EXPECT_LT(error(dw, (a * h).sum({0})), 3e-6) << n;
  }
}

TEST(LayerNorm, StatisticsOfAnotherShapeAreRefused) {
  const Tensor x = at::ones({3, 4}), rows = at::ones({3, 1});
  for (const Tensor& wrong : {at::ones({1}), at::ones({0}), at::ones({3, 4})}) {
    for (const bool first : {false, true}) {
      EXPECT_THAT(message_of<c10::Error>([&] {
                    at::native_layer_norm_backward(x, x, {4}, first ? wrong : rows,
                                                   first ? rows : wrong, kNone, kNone,
                                                   {true, true, true});
                  }),
                  HasSubstr("expected mean and rstd of 3 elements, one for each row, got shapes"));
    }
  }
}

TEST(LayerNorm, GradientsOfManyRowsDoNotDependOnThreads) {
  at::manual_seed(3);
  const Tensor x = at::randn({700, 30}, at::kDouble), g = at::randn({700, 30}, at::kDouble);
  const Tensor w = at::randn({30}, at::kDouble);
  const auto [out, mean, rstd] = at::native_layer_norm(x, {30}, w, kNone, 1e-5);
  const auto [dx, dw, db] =
      at::native_layer_norm_backward(g, x, {30}, mean, rstd, w, kNone, {true, true, true});
  const Tensor h = (x - mean) * rstd;
  EXPECT_LT((dw - (g * h).sum({0})).abs().max().item<double>(), 1e-10);
  EXPECT_LT((db - g.sum({0})).abs().max().item<double>(), 1e-10);
  const Tensor a = g * w;
  const Tensor expected = rstd * (a - a.mean({1}, true) - h * (a * h).mean({1}, true));
  EXPECT_LT((dx - expected).abs().max().item<double>(), 1e-10);
}

}  // namespace
