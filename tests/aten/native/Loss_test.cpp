// Losses and their gradients.
#include "Testing.h"

#include <aten/autograd/GradCheck.h>
#include <generated/ops/clone.h>
#include <generated/ops/full.h>
#include <generated/ops/mse_loss.h>
#include <generated/ops/nll_loss.h>
#include <generated/ops/nll_loss2d_backward.h>
#include <generated/ops/nll_loss_backward.h>
#include <generated/ops/nll_loss_nd.h>
#include <generated/ops/ones.h>
#include <generated/ops/permute.h>
#include <generated/ops/randint.h>
#include <generated/ops/randn.h>
#include <generated/ops/t.h>
#include <generated/ops/tanh.h>
#include <generated/ops/zeros.h>

#include <cmath>
#include <numeric>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

const std::optional<Tensor> kNoWeight;

TEST(NllLoss, Reductions) {
  const Tensor x = f64({{-1., -2., -3.}, {-4., -5., -6.}, {-7., -8., -9.}});
  const Tensor target = at::tensor({2, 0, 1});
  const Tensor weight = f64({1., 2., 4.});
  EXPECT_EQ(doubles(at::nll_loss(x, target, kNoWeight, at::Reduction::None)), (Doubles{3, 4, 8}));
  EXPECT_EQ(doubles(at::nll_loss(x, target, kNoWeight, at::Reduction::Sum)), (Doubles{15}));
  EXPECT_EQ(doubles(at::nll_loss(x, target)), (Doubles{5}));
  EXPECT_EQ(doubles(at::nll_loss(x, target, weight, at::Reduction::None)), (Doubles{12, 4, 16}));
  EXPECT_DOUBLE_EQ(at::nll_loss(x, target, weight).item<double>(), 32.0 / 7);
  EXPECT_EQ(doubles(at::nll_loss(x, target, kNoWeight, at::Reduction::None, 0)),
            (Doubles{3, 0, 8}));
  EXPECT_DOUBLE_EQ(at::nll_loss(x, target, kNoWeight, at::Reduction::Mean, 0).item<double>(), 5.5);
  EXPECT_TRUE(std::isnan(at::nll_loss(x, at::full({3}, -100, at::kLong)).item<double>()));
  EXPECT_EQ(doubles(at::nll_loss(x[0], at::tensor(1))), (Doubles{2}));
  EXPECT_EQ(doubles(at::nll_loss(x.t().contiguous().t(), target)), (Doubles{5}));
}

TEST(NllLoss, MoreDimensions) {
  const Tensor x = counted({2, 3, 4}, at::kDouble).neg();
  const Tensor target = at::tensor({{0, 1, 2, 0}, {2, 2, 1, 0}});
  // Element [n, c, i] is -(12 n + 4 c + i).
  const Doubles expected = {0, 5, 10, 3, 20, 21, 18, 15};
  EXPECT_EQ(doubles(at::nll_loss_nd(x, target, kNoWeight, at::Reduction::None)), expected);
  EXPECT_EQ(doubles(at::nll_loss_nd(x.view({2, 3, 2, 2}), target.view({2, 2, 2}), kNoWeight, 0)),
            expected);
  EXPECT_EQ(
      sizes(at::nll_loss_nd(x.view({2, 3, 2, 1, 2}), target.view({2, 2, 1, 2}), kNoWeight, 0)),
      (Ints{2, 2, 1, 2}));
  EXPECT_DOUBLE_EQ(at::nll_loss_nd(x, target).item<double>(), 92.0 / 8);
}

// Enough for several parts of a sum and for two threads; by rows and by images.
TEST(NllLoss, ManyTargets) {
  at::manual_seed(4);
  const int threads = at::get_num_threads();
  for (const Ints& shape : {Ints{70001, 5}, Ints{3, 5, 170, 151}}) {
    Ints places = shape;
    places.erase(places.begin() + 1);
    const Tensor x = at::randn(shape, at::kDouble), target = at::randint(0, 5, places, at::kLong);
    const Tensor weight = f64({0.5, 2.0, 1.5, 0.25, 1.0});
    constexpr int64_t kIgnored = 3;
    // The classes last: an element for each target and class.
    Ints last(shape.size());
    std::iota(last.begin(), last.end(), 0);
    last.erase(last.begin() + 1);
    last.push_back(1);
    const Doubles elements = doubles(x.permute(last)), weights = doubles(weight);
    const Ints classes = ints(target);
    Doubles losses(classes.size());
    double sum = 0, total = 0;
    for (size_t i = 0; i < classes.size(); ++i) {
      if (classes[i] == kIgnored) continue;
      losses[i] = -weights[classes[i]] * elements[5 * i + classes[i]];
      sum += losses[i];
      total += weights[classes[i]];
    }
    Doubles results;
    for (const int n : {1, 2}) {
      at::set_num_threads(n);
      EXPECT_EQ(doubles(at::nll_loss_nd(x, target, weight, at::Reduction::None, kIgnored)), losses);
      Tensor leaf = x.clone().requires_grad_();
      const Tensor mean = at::nll_loss_nd(leaf, target, weight, at::Reduction::Mean, kIgnored);
      mean.backward();
      results.push_back(mean.item<double>());
      EXPECT_NEAR(results.back(), sum / total, 1e-12);
      const Doubles grads = doubles(leaf.grad().permute(last));
      for (size_t i = 0; i < classes.size(); ++i) {
        for (int64_t c = 0; c < 5; ++c) {
          const bool counts = c == classes[i] && c != kIgnored;
          ASSERT_DOUBLE_EQ(grads[5 * i + c], counts ? -weights[c] / total : 0.0);
        }
      }
      const Tensor wrong = target.clone();
      wrong.view({-1})[wrong.numel() - 2] = 5;
      for (const int64_t reduction : {at::Reduction::None, at::Reduction::Mean}) {
        EXPECT_THAT(message_of<c10::IndexError>(
                        [&] { at::nll_loss_nd(x, wrong, weight, reduction, kIgnored); }),
                    HasSubstr("got 5 at position " + std::to_string(wrong.numel() - 2)));
      }
    }
    EXPECT_EQ(results[0], results[1]);
  }
  at::set_num_threads(threads);
}

// A million equal losses, which a sum in one variable would be too small for.
TEST(NllLoss, LongSumsKeepTheirDigits) {
  const int64_t count = 1 << 20;
  const Tensor loss = at::nll_loss(at::full({count, 1}, -0.1f), at::zeros({count}, at::kLong));
  EXPECT_FLOAT_EQ(loss.item<float>(), 0.1f);
}

TEST(NllLoss, WrongTargetsAreFoundBeforeAnythingIsWritten) {
  const Tensor x = at::zeros({3, 4});
  Tensor out = at::full({3}, 7.0);
  EXPECT_THAT(
      message_of<c10::IndexError>([&] {
        at::nll_loss_out(out, x, at::tensor({0, 4, 1}), kNoWeight, at::Reduction::None);
      }),
      HasSubstr("expected every target in [0, 3] or ignore_index -100, got 4 at position 1"));
  EXPECT_EQ(doubles(out), (Doubles{7, 7, 7}));
  EXPECT_THROW(at::nll_loss(x, at::tensor({0, -1, 1})), c10::IndexError);
  EXPECT_THAT(
      message_of<c10::Error>([&] {
        at::nll_loss(x, at::tensor({0, 1}));
      }),
      HasSubstr("nll_loss(): expected target of shape [3] for input of shape [3, 4], got [2]"));
  EXPECT_THROW(at::nll_loss(x, at::zeros({3})), c10::Error);
  EXPECT_THROW(at::nll_loss(x, at::tensor({0, 1, 2}), at::ones({3})), c10::Error);
  EXPECT_THROW(at::nll_loss(x, at::tensor({0, 1, 2}), kNoWeight, 3), c10::ValueError);
}

TEST(NllLoss, TheWeightOfAllTargetsIsOneNumber) {
  const Tensor one = at::ones({}), none = at::ones({0});
  const auto wanted = HasSubstr("expected total_weight of one element, got shape [0]");
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::nll_loss_backward(one, at::ones({2, 3}), at::tensor({0, 1}), kNoWeight,
                                      at::Reduction::Mean, -100, none);
              }),
              wanted);
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::nll_loss2d_backward(one, at::ones({2, 3, 1, 1}),
                                        at::zeros({2, 1, 1}, at::kLong), kNoWeight,
                                        at::Reduction::Mean, -100, none);
              }),
              wanted);
}

TEST(NllLoss, Gradients) {
  at::manual_seed(3);
  const Tensor x = at::randn({4, 3}, at::kDouble).requires_grad_();
  const Tensor image = at::randn({2, 3, 2, 2}, at::kDouble).requires_grad_();
  const Tensor target = at::tensor({2, 0, 1, 2});
  const Tensor places = at::tensor({0, 1, 2, 0, 2, 2, 1, 0}).view({2, 2, 2});
  const Tensor weight = f64({0.5, 2.0, 1.5});
  for (int64_t reduction : {0, 1, 2}) {
    for (const auto& w : {kNoWeight, std::optional<Tensor>(weight)}) {
      const auto rows = [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{at::nll_loss(in[0].tanh(), target, w, reduction, 0)};
      };
      const auto places_of = [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{at::nll_loss_nd(in[0].tanh(), places, w, reduction)};
      };
      EXPECT_TRUE(at::autograd::gradcheck(rows, {x}));
      EXPECT_TRUE(at::autograd::gradgradcheck(rows, {x}));
      EXPECT_TRUE(at::autograd::gradcheck(places_of, {image}));
      EXPECT_TRUE(at::autograd::gradgradcheck(places_of, {image}));
    }
  }
}

TEST(MseLoss, ValuesAndGradients) {
  const Tensor a = f64({1., 2., 4.}), b = f64({0., 4., 1.});
  EXPECT_EQ(doubles(at::mse_loss(a, b, at::Reduction::None)), (Doubles{1, 4, 9}));
  EXPECT_EQ(doubles(at::mse_loss(a, b, at::Reduction::Sum)), (Doubles{14}));
  EXPECT_DOUBLE_EQ(at::mse_loss(a, b).item<double>(), 14.0 / 3);
  EXPECT_EQ(sizes(at::mse_loss(at::ones({2, 3}), at::ones({3}), 0)), (Ints{2, 3}));
  EXPECT_THROW(at::mse_loss(at::ones({2}), at::ones({3})), c10::Error);
  for (int64_t reduction : {0, 1, 2}) {
    const auto loss = [reduction](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{at::mse_loss(in[0], in[1], reduction)};
    };
    const std::vector<Tensor> inputs = {at::randn({2, 3}, at::kDouble).requires_grad_(),
                                        at::randn({2, 3}, at::kDouble).requires_grad_()};
    EXPECT_TRUE(at::autograd::gradcheck(loss, inputs));
    EXPECT_TRUE(at::autograd::gradgradcheck(loss, inputs));
  }
}

}  // namespace
