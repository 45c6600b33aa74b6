// cross_entropy_loss, its gradients, and logsumexp.
#include "Testing.h"

#include <aten/autograd/GradCheck.h>
#include <generated/ops/_softmax_cross_entropy.h>
#include <generated/ops/_softmax_cross_entropy_backward.h>
#include <generated/ops/clone.h>
#include <generated/ops/cross_entropy_loss.h>
#include <generated/ops/empty.h>
#include <generated/ops/fill.h>
#include <generated/ops/full.h>
#include <generated/ops/index_select.h>
#include <generated/ops/logsumexp.h>
#include <generated/ops/movedim.h>
#include <generated/ops/mul.h>
#include <generated/ops/narrow.h>
#include <generated/ops/ones.h>
#include <generated/ops/permute.h>
#include <generated/ops/rand.h>
#include <generated/ops/randint.h>
#include <generated/ops/randn.h>
#include <generated/ops/reshape.h>
#include <generated/ops/scatter.h>
#include <generated/ops/select.h>
#include <generated/ops/softmax.h>
#include <generated/ops/transpose.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/zeros.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

const std::optional<Tensor> kNoWeight;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Arguments {
  Tensor weight;  // undefined: none
  int64_t reduction = at::Reduction::Mean;
  int64_t ignore_index = -100;
  double smoothing = 0;
  std::optional<Tensor> optional_weight() const {
    return weight.defined() ? std::optional<Tensor>(weight) : std::nullopt;
  }
};

// The losses, reduced, and the gradient of x where that of the losses is `grad`, in float64 by the
// definitions.
struct Naive {
  Naive(const Tensor& x, const Tensor& target, const Arguments& args, const Doubles& grad) {
    const bool rows = x.dim() == 1;
    const int64_t outer = rows ? 1 : x.size(0), n = x.size(rows ? 0 : 1);
    const int64_t inner = x.numel() / std::max<int64_t>(1, outer * n);
    const Doubles v = doubles(x);
    const Ints t = ints(target);
    const Doubles w = args.weight.defined() ? doubles(args.weight) : Doubles(n, 1.0);
    gradient.assign(v.size(), 0);
    Doubles scales;
    double total = 0, weights = 0;
    for (int64_t i = 0; i < outer * inner; ++i) {
      const int64_t first = i / inner * n * inner + i % inner, wanted = t[i];
      double max = -kInf, sum = 0, loss = 0, scale = 0;
      for (int64_t c = 0; c < n; ++c) max = std::max(max, v[first + c * inner]);
      for (int64_t c = 0; c < n; ++c) sum += std::exp(v[first + c * inner] - max);
      if (wanted != args.ignore_index) {
        scale = w[wanted];
        weights += scale;
        long double shares = 0;
        for (int64_t c = 0; c < n; ++c) {
          // Each class's part of the loss is -share * log(p).
          const double share = (c == wanted ? (1 - args.smoothing) * w[c] : 0) +
                               args.smoothing / static_cast<double>(n) * w[c];
          if (share != 0) loss -= share * (v[first + c * inner] - max - std::log(sum));
          gradient[first + c * inner] = -share;
          shares += share;
        }
        for (int64_t c = 0; c < n; ++c) {
          gradient[first + c * inner] +=
              static_cast<double>(shares) * std::exp(v[first + c * inner] - max) / sum;
        }
      }
      losses.push_back(loss);
      total += loss;
    }
    for (int64_t i = 0; i < outer * inner; ++i) {
      const int64_t first = i / inner * n * inner + i % inner;
      // What is ignored has none, even where nothing else counts.
      const double factor = t[i] == args.ignore_index               ? 0
                            : args.reduction == at::Reduction::None ? grad[i]
                            : args.reduction == at::Reduction::Mean ? grad[0] / weights
                                                                    : grad[0];
      for (int64_t c = 0; c < n; ++c) gradient[first + c * inner] *= factor;
    }
    if (args.reduction == at::Reduction::Mean) losses = {total / weights};
    if (args.reduction == at::Reduction::Sum) losses = {total};
  }
  Doubles losses, gradient;
};

// Within `relative` of what is expected, or `absolute` of it.
void expect_near(const Doubles& got, const Doubles& expected, double relative, double absolute,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]) || std::isinf(expected[i])) {
      ASSERT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
          << what << " at " << i << ": " << got[i] << " for " << expected[i];
      continue;
    }
    ASSERT_NEAR(got[i], expected[i], relative * std::abs(expected[i]) + absolute)
        << what << " at " << i;
  }
}

// x may lie in any way.
void expect_loss(const Tensor& x, const Tensor& target, const Arguments& args,
                 const std::string& what) {
  const bool each = args.reduction == at::Reduction::None;
  const Tensor leaf = x.detach().requires_grad_();
  const Tensor loss = at::cross_entropy_loss(leaf, target, args.optional_weight(), args.reduction,
                                             args.ignore_index, args.smoothing);
  const Tensor grad = each ? at::randn(loss.sizes(), x.options()) : at::full({}, 0.75, x.options());
  loss.backward(grad);
  const Naive naive(x, target, args, doubles(grad));
  // What a result is rounded to, and what is computed on the way to it, of logits up to some 20.
  const double rounded = x.scalar_type() == at::kBFloat16 ? 4e-3
                         : x.scalar_type() == at::kHalf   ? 5e-4
                                                          : 0;
  const double computed = x.scalar_type() == at::kDouble ? 2e-14 : 8e-6;
  const double tiny =
      x.scalar_type() == at::kHalf ? 6e-8 : 0;  // half of a subnormal step, and more
  expect_near(doubles(loss), naive.losses, rounded + computed, computed, "loss of " + what);
  double largest = 0;
  for (const double g : naive.gradient) largest = std::max(largest, std::abs(g));
  expect_near(doubles(leaf.grad()), naive.gradient, rounded + computed,
              0.1 * computed * largest + tiny, "gradient of " + what);
  EXPECT_EQ(sizes(leaf.grad()), sizes(x));
}

TEST(CrossEntropy, AgreesWithPlainLoops) {
  at::manual_seed(1);
  for (const Ints& shape : std::vector<Ints>{{6},           {1, 10},      {33, 10},
                                             {5, 16},       {3, 17},      {9, 1},
                                             {4, 100},      {2, 300},     {2, 9000},
                                             {2, 140000},   {4, 100, 10}, {4, 3, 7},
                                             {2, 5, 3},     {3, 40, 2},   {2, 9, 15},
                                             {2, 33, 1, 1}, {2, 21, 300}, {1, 3, 2000},
                                             {3, 64, 130},  {2, 5, 6, 7}, {2, 3, 2, 2, 2},
                                             {300, 12, 3},  {2, 1, 40},   {1, 13, 1100}}) {
    Ints places = shape;
    places.erase(places.begin() + (shape.size() == 1 ? 0 : 1));
    const int64_t classes = shape[shape.size() == 1 ? 0 : 1];
    const Tensor target = at::randint(0, classes, places, at::kLong);
    for (at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
      const Tensor x = at::randn(shape, at::kDouble).mul(4).to(dtype);
      const std::string what =
          std::string(c10::toString(dtype)) + " " + c10::str(at::IntArrayRef(shape));
      for (int64_t reduction : {0, 1, 2}) {
        Arguments args;
        args.reduction = reduction;
        expect_loss(x, target, args, what);
        args.smoothing = 0.2;
        expect_loss(x, target, args, "smoothed " + what);
        args.smoothing = 0;
        args.ignore_index = classes - 1;
        expect_loss(x, target, args, "some ignored, " + what);
        args.weight = at::rand({classes}, at::kDouble).to(dtype);
        expect_loss(x, target, args, "weighted " + what);
      }
      if (shape.size() == 1) continue;
      // The classes last, as those of a sequence that was transposed, and with gaps.
      const Tensor last = x.movedim(1, -1).contiguous().movedim(-1, 1);
      expect_loss(last, target, Arguments(), "classes last, " + what);
      Ints wide = shape;
      wide.back() *= 2;
      const Tensor gaps = at::randn(wide, at::kDouble).to(dtype).narrow(-1, 0, shape.back());
      expect_loss(gaps, target, Arguments(), "with gaps, " + what);
    }
  }
}

// The gradient of a class that is nearly certain is small; of 16-bit floats it has all digits.
TEST(CrossEntropy, NearlyCertainClasses) {
  for (at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    const Tensor x = at::zeros({2, 40, 3}, dtype);
    x.select(1, 5).fill_(10);
    expect_loss(x, at::full({2, 3}, 5, at::kLong), Arguments(), "certain places");
    expect_loss(x.transpose(1, 2).reshape({6, 40}), at::full({6}, 5, at::kLong), Arguments(),
                "certain rows");
  }
  // Large logits keep their distances.
  const Tensor large = at::tensor({{30000.0f, 30001.0f, 29999.5f}});
  expect_loss(large, at::tensor({0}), Arguments(), "large logits");
}

TEST(CrossEntropy, InfiniteAndMissingLogits) {
  for (const Ints& shape : std::vector<Ints>{{3, 5}, {3, 500}, {3, 5, 2}, {3, 5, 40}}) {
    const auto loss_of = [&](double value, double others, int64_t target) {
      const Tensor x = at::full(shape, others, at::kFloat);
      x.select(1, 1).fill_(value);
      Ints places = shape;
      places.erase(places.begin() + 1);
      const Tensor leaf = x.requires_grad_();
      const Tensor loss = at::cross_entropy_loss(leaf, at::full(places, target, at::kLong));
      loss.backward();
      return Doubles{loss.item<double>(), doubles(leaf.grad())[0]};
    };
    const double classes = static_cast<double>(shape[1]);
    // Masked classes have no share.
    EXPECT_NEAR(loss_of(-kInf, 0, 0)[0], std::log(classes - 1), 1e-5);
    EXPECT_EQ(loss_of(-kInf, 0, 1)[0], kInf);
    EXPECT_TRUE(std::isfinite(loss_of(-kInf, 0, 1)[1]));
    EXPECT_EQ(loss_of(0, -kInf, 1)[0], 0);
    EXPECT_FALSE(std::signbit(loss_of(0, -kInf, 1)[0]));
    EXPECT_TRUE(std::isnan(loss_of(kInf, 0, 0)[0]));
    EXPECT_TRUE(std::isnan(loss_of(kNaN, 0, 0)[0]));
    EXPECT_TRUE(std::isnan(loss_of(-kInf, -kInf, 0)[0]));
  }
  // What is ignored is not looked at.
  const Tensor x = at::full({2, 4}, kNaN);
  EXPECT_EQ(doubles(at::cross_entropy_loss(x, at::tensor({7, 7}), kNoWeight, 0, 7)),
            (Doubles{0, 0}));
  EXPECT_TRUE(
      std::isnan(at::cross_entropy_loss(at::ones({2, 4}), at::tensor({7, 7}), kNoWeight, 1, 7)
                     .item<double>()));
}

TEST(CrossEntropy, TheSameFromAnyNumberOfThreads) {
  at::manual_seed(2);
  const int threads = at::get_num_threads();
  for (const Ints& shape :
       std::vector<Ints>{{30000, 9}, {3, 4, 70001}, {2000, 7, 5}, {300, 1000}, {2, 200001}}) {
    const Tensor x = at::randn(shape, at::kDouble);
    Ints places = shape;
    places.erase(places.begin() + 1);
    const Tensor target = at::randint(0, shape[1] - 1, places, at::kLong);
    const auto results = [&](int count, const std::optional<Tensor>& weight) {
      at::set_num_threads(count);
      const Tensor leaf = x.clone().requires_grad_();
      const Tensor loss = at::cross_entropy_loss(leaf, target, weight, 1, 2);
      loss.backward();
      Doubles all = doubles(leaf.grad());
      all.push_back(loss.item<double>());
      return all;
    };
    for (const auto& weight :
         {kNoWeight, std::optional<Tensor>(at::rand({shape[1]}, at::kDouble))}) {
      EXPECT_TRUE(results(1, weight) == results(3, weight)) << at::IntArrayRef(shape);
    }
  }
  at::set_num_threads(threads);
}

TEST(CrossEntropy, WrongArguments) {
  const Tensor x = at::ones({2, 3}), target = at::tensor({0, 2});
  const auto message = [&](const Tensor& input, const Tensor& wanted,
                           const std::optional<Tensor>& weight = std::nullopt) {
    return message_of<c10::Error>([&] { at::cross_entropy_loss(input, wanted, weight); });
  };
  EXPECT_THAT(message_of<c10::IndexError>([&] {
                at::cross_entropy_loss(x, at::tensor({0, 3}));
              }),
              HasSubstr("cross_entropy_loss(): expected every target in [0, 2] or ignore_index "
                        "-100, got 3 at position 1"));
  EXPECT_THAT(message_of<c10::IndexError>([&] {
                at::cross_entropy_loss(at::ones({2, 3, 40}), at::full({2, 40}, -1, at::kLong));
              }),
              HasSubstr("got -1 at position 0"));
  EXPECT_THAT(message_of<c10::IndexError>([&] {
                at::cross_entropy_loss(at::ones({2, 0}), at::tensor({0, 0}));
              }),
              HasSubstr("got 0 at position 0"));
  EXPECT_THAT(message(x, at::tensor({0, 1, 2})),
              HasSubstr("expected target of shape [2] for input of shape [2, 3], got [3]"));
  EXPECT_THAT(message(x.to(at::kLong), target), HasSubstr("expected input of a floating-point"));
  EXPECT_THAT(message(x, target.to(at::kInt)),
              HasSubstr("expected target of dtype int64 or uint8"));
  EXPECT_THAT(message(x, target, at::ones({2})),
              HasSubstr("expected weight of shape [3], one for each class, got [2]"));
  EXPECT_THAT(message(x, target, at::ones({3}, at::kDouble)),
              HasSubstr("expected weight of the input's dtype"));
  EXPECT_THAT(message_of<c10::Error>(
                  [&] { at::_softmax_cross_entropy(x, target, at::ones({3}), 1, -100, 0.5); }),
              HasSubstr("expected no weight where labels are smoothed"));
  // Given outputs stay as they were.
  Tensor output = at::full({}, 5.0), total = at::full({}, 6.0), places = at::full({3, 2}, 7.0);
  EXPECT_THROW(at::_softmax_cross_entropy_outf(x, at::tensor({0, 3}), kNoWeight, 1, -100, 0, output,
                                               total, places),
               c10::IndexError);
  EXPECT_EQ(output.item<double>() + total.item<double>(), 11);
  EXPECT_EQ(doubles(places), Doubles(6, 7.0));
  Tensor grad_input = at::full({2, 3}, 8.0);
  const Tensor grad = at::ones({});
  EXPECT_THROW(
      at::_softmax_cross_entropy_backward_outf(grad, x, at::tensor({0, 3}), kNoWeight, 1, -100, 0,
                                               at::ones({}), at::zeros({3, 2}), grad_input),
      c10::IndexError);
  EXPECT_EQ(doubles(grad_input), Doubles(6, 8.0));
  EXPECT_THROW(at::_softmax_cross_entropy_backward(grad, x, at::tensor({0, 3}), kNoWeight, 1, -100,
                                                   0, at::full({}, 2.0), at::zeros({3, 2})),
               c10::IndexError);
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::_softmax_cross_entropy_backward(grad, x, target, kNoWeight, 1, -100, 0,
                                                    at::ones({}), at::zeros({3, 1}));
              }),
              HasSubstr("expected total_weight and places as _softmax_cross_entropy() returned"));
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::_softmax_cross_entropy_backward(at::ones({2}), x, target, kNoWeight, 1, -100, 0,
                                                    at::ones({}), at::zeros({3, 2}));
              }),
              HasSubstr("expected grad_output of shape []"));
}

TEST(CrossEntropy, EmptyAndWithoutData) {
  EXPECT_EQ(
      sizes(at::cross_entropy_loss(at::ones({0, 3}), at::zeros({0}, at::kLong), kNoWeight, 0)),
      (Ints{0}));
  EXPECT_TRUE(std::isnan(
      at::cross_entropy_loss(at::ones({0, 3}), at::zeros({0}, at::kLong)).item<double>()));
  const Tensor none = at::ones({2, 3, 0}).requires_grad_();
  at::cross_entropy_loss(none, at::zeros({2, 0}, at::kLong), kNoWeight, 2).backward();
  EXPECT_EQ(sizes(none.grad()), (Ints{2, 3, 0}));
  const Tensor meta = at::empty({2, 3, 5}, at::TensorOptions(at::kHalf).device(at::kMeta));
  const Tensor target = at::empty({2, 5}, at::TensorOptions(at::kLong).device(at::kMeta));
  EXPECT_EQ(sizes(at::cross_entropy_loss(meta, target, kNoWeight, 0)), (Ints{2, 5}));
  EXPECT_EQ(at::cross_entropy_loss(meta, target).scalar_type(), at::kHalf);
  EXPECT_EQ(sizes(meta.logsumexp({1, 2}, true)), (Ints{2, 1, 1}));
}

TEST(CrossEntropy, ClassNumbersAndProbabilitiesAgree) {
  at::manual_seed(4);
  const Tensor x = at::randn({5, 3}, at::kDouble);
  const Tensor target = at::tensor({2, 0, 1, 2, 1});
  Tensor one_hot = at::zeros({5, 3}, at::kDouble);
  one_hot.scatter_(1, target.unsqueeze(1), 1.0);
  for (int64_t reduction : {0, 1, 2}) {
    for (double smoothing : {0.0, 0.3}) {
      const Doubles a =
          doubles(at::cross_entropy_loss(x, target, kNoWeight, reduction, -100, smoothing));
      const Doubles b =
          doubles(at::cross_entropy_loss(x, one_hot, kNoWeight, reduction, -100, smoothing));
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12);
    }
  }
  // By hand: log(1 + e) - 0 for two classes with logits 0 and 1, target 0.
  EXPECT_NEAR(at::cross_entropy_loss(f64({{0., 1.}}), at::tensor({0})).item<double>(),
              std::log(1 + std::exp(1.0)), 1e-12);
  // Half of the weight on each class.
  EXPECT_NEAR(at::cross_entropy_loss(f64({{0., 1.}}), at::tensor({0}), kNoWeight, 1, -100, 1.0)
                  .item<double>(),
              std::log(1 + std::exp(1.0)) - 0.5, 1e-12);
  // Ignored rows count neither in the sum nor in the divisor.
  const Tensor some = at::tensor({2, -100, 1, -100, 1});
  const Tensor kept = at::tensor({0, 2, 4});
  for (double smoothing : {0.0, 0.2}) {
    for (const auto& w : {kNoWeight, std::optional<Tensor>(f64({1., 2., 3.}))}) {
      EXPECT_NEAR(at::cross_entropy_loss(x, some, w, 1, -100, smoothing).item<double>(),
                  at::cross_entropy_loss(x.index_select(0, kept), some.index_select(0, kept), w, 1,
                                         -100, smoothing)
                      .item<double>(),
                  1e-12);
    }
  }
}

TEST(CrossEntropy, GradientsOfEveryOrder) {
  at::manual_seed(5);
  const Tensor x = at::randn({3, 4, 2}, at::kDouble).requires_grad_();
  const Tensor target = at::tensor({{0, 1}, {3, 2}, {2, 2}});
  const Tensor probabilities = at::rand({3, 4, 2}, at::kDouble).softmax(1).requires_grad_();
  const auto classes = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{
        at::cross_entropy_loss(in[0], target, f64({1., 2., 3., 4.}), 1, -100, 0.1)};
  };
  const auto soft = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{at::cross_entropy_loss(in[0], in[1])};
  };
  EXPECT_TRUE(at::autograd::gradcheck(classes, {x}));
  EXPECT_TRUE(at::autograd::gradgradcheck(classes, {x}));
  EXPECT_TRUE(at::autograd::gradcheck(soft, {x, probabilities}));
  const Tensor row = at::randn({4}, at::kDouble).requires_grad_();
  const Tensor some = at::tensor({{0, 1}, {3, 9}, {2, 9}});
  for (int64_t reduction : {0, 1, 2}) {
    for (const auto& w : {kNoWeight, std::optional<Tensor>(f64({1., 2., 3., 4.}))}) {
      const double smoothing = w.has_value() ? 0 : 0.2;
      const auto fused = [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            at::cross_entropy_loss(in[0], some, w, reduction, 9, smoothing),
            at::cross_entropy_loss(in[0].transpose(0, 2).contiguous().transpose(0, 2), some, w,
                                   reduction, 9, 0),
            at::cross_entropy_loss(in[1], at::tensor(2), w, reduction),
            at::cross_entropy_loss(in[1], at::tensor({1}), w, reduction)};
      };
      EXPECT_TRUE(at::autograd::gradcheck(fused, {x, row}));
      EXPECT_TRUE(at::autograd::gradgradcheck(fused, {x, row}));
    }
  }
}

// By the definition, in float64, over the dimensions of [a, b, c, d] that `mask` names.
Doubles naive_logsumexp(const Tensor& t, int64_t mask) {
  const Doubles v = doubles(t);
  std::array<int64_t, 4> kept_sizes;
  for (int64_t d = 0; d < 4; ++d) kept_sizes[d] = (mask >> d & 1) != 0 ? 1 : t.size(d);
  const size_t count = kept_sizes[0] * kept_sizes[1] * kept_sizes[2] * kept_sizes[3];
  Doubles max(count, -kInf), sum(count, 0);
  std::vector<bool> nan(count, false);
  const auto for_each = [&](const auto& f) {
    size_t k = 0;
    for (int64_t a = 0; a < t.size(0); ++a) {
      for (int64_t b = 0; b < t.size(1); ++b) {
        for (int64_t c = 0; c < t.size(2); ++c) {
          for (int64_t d = 0; d < t.size(3); ++d) {
            const std::array<int64_t, 4> at = {a, b, c, d};
            int64_t place = 0;
            for (int64_t e = 0; e < 4; ++e) {
              place = place * kept_sizes[e] + ((mask >> e & 1) != 0 ? 0 : at[e]);
            }
            f(static_cast<size_t>(place), v[k++]);
          }
        }
      }
    }
  };
  for_each([&](size_t i, double x) {
    max[i] = std::max(max[i], x);
    nan[i] = nan[i] || std::isnan(x);
  });
  for_each([&](size_t i, double x) { sum[i] += std::isinf(max[i]) ? 0 : std::exp(x - max[i]); });
  for (size_t i = 0; i < count; ++i) {
    if (!std::isinf(max[i])) max[i] += std::log(sum[i]);
    if (nan[i]) max[i] = kNaN;
  }
  return max;
}

TEST(LogSumExp, OverAnyDimensions) {
  at::manual_seed(6);
  for (const Ints& shape :
       std::vector<Ints>{{2, 3, 4, 5}, {3, 1, 30, 2}, {1, 40, 9, 20}, {2, 300, 1, 3}}) {
    for (at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
      const double tolerance = dtype == at::kDouble     ? 1e-14
                               : dtype == at::kFloat    ? 1e-6
                               : dtype == at::kBFloat16 ? 4e-3
                                                        : 5e-4;
      const Tensor dense = at::randn(shape, at::kDouble).mul(20).to(dtype);
      const Tensor turned = dense.permute({3, 1, 0, 2}).contiguous().permute({2, 1, 3, 0});
      const Tensor gaps = at::randn({shape[0], shape[1], shape[2], 2 * shape[3]}, at::kDouble)
                              .to(dtype)
                              .narrow(3, 0, shape[3]);
      for (int64_t mask = 1; mask < 16; ++mask) {
        Ints dims;
        for (int64_t d = 0; d < 4; ++d) {
          if ((mask >> d & 1) != 0) dims.push_back(d);
        }
        for (const Tensor& t : {dense, turned, gaps}) {
          const std::string what = c10::str(dtype, " ", t.sizes(), " over ", at::IntArrayRef(dims));
          expect_near(doubles(t.logsumexp(dims)), naive_logsumexp(t, mask), tolerance, tolerance,
                      what);
          EXPECT_EQ(t.logsumexp(dims, true).dim(), 4) << what;
        }
      }
    }
  }
}

TEST(LogSumExp, InfinityAndNaN) {
  for (int64_t n : {2, 5, 40, 600, 70000}) {
    for (int64_t inner : {1, 3, 50}) {
      if (n > 1000 && inner > 1) continue;
      const Tensor t = at::ones({2, n, inner, 1});
      const auto with = [&](double first, double second) {
        const Tensor changed = t.clone();
        changed.select(1, 0).select(1, 0).fill_(first);
        changed.select(1, 1).select(1, 0).fill_(second);
        expect_near(doubles(changed.logsumexp({1})), naive_logsumexp(changed, 2), 1e-6, 0,
                    c10::str(first, " ", second, " among ", n, " x ", inner));
      };
      for (double first : {kInf, -kInf, kNaN, 1e30, -1e30}) {
        for (double second : {0.0, kInf, -kInf, kNaN}) {
          with(first, second);
          if (n > 1000) break;
        }
      }
      EXPECT_EQ(doubles(at::full({n, inner}, -kInf).logsumexp({0})), Doubles(inner, -kInf));
    }
  }
  EXPECT_EQ(doubles(at::ones({2, 0, 3}).logsumexp({1})), Doubles(6, -kInf));
  EXPECT_EQ(at::full({}, 3.0).logsumexp({0}).item<double>(), 3);
  EXPECT_THAT(
      message_of<c10::NotImplementedError>([] { at::ones({2}, at::kComplexFloat).logsumexp({0}); }),
      HasSubstr("logsumexp(): expected a real dtype, got complex64"));
}

}  // namespace
