// Views: gradients through them, changes in place through them, and what is refused.
#include <aten/autograd/GradCheck.h>
#include <generated/ops/chunk.h>
#include <generated/ops/clone.h>
#include <generated/ops/exp.h>
#include <generated/ops/ones.h>
#include <generated/ops/randn.h>
#include <generated/ops/reshape.h>
#include <generated/ops/sigmoid.h>
#include <generated/ops/slice.h>
#include <generated/ops/split.h>
#include <generated/ops/sum.h>
#include <generated/ops/t.h>
#include <generated/ops/unbind.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/view.h>
#include <generated/ops/view_as_real.h>
#include <generated/ops/zero.h>
#include <tests/aten/autograd/Testing.h>

namespace {

using at::Tensor;
using namespace oploom::testing;

Tensor matrix() { return vector_of({1, 2, 3, 4, 5, 6}).reshape({2, 3}).clone().requires_grad_(); }

TEST(Views, KnowTheirBase) {
  const Tensor x = matrix();
  const Tensor row = x.select(0, 1);
  const Tensor element = row.select(0, 2);
  EXPECT_TRUE(row.is_view());
  EXPECT_TRUE(row._base().is_same(x));
  EXPECT_TRUE(element._base().is_same(x)) << "the base is no view itself";
  EXPECT_FALSE(x.is_view());
  EXPECT_THROWS(x._base(), c10::Error, "the tensor is not a view");
}

TEST(Views, PassGradientsOn) {
  const Tensor x = matrix();
  (x.select(0, 1) * vector_of({1, 10, 100})).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{0, 0, 0, 1, 10, 100}));
}

TEST(Views, AChangeThroughAViewReachesTheBase) {
  const Tensor x = matrix();
  const Tensor y = x * 2;
  y.select(0, 0).mul_(10);
  EXPECT_EQ(y.grad_fn()->name(), "CopySlices");
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{20, 20, 20, 2, 2, 2}));
}

TEST(Views, TheHistoryOfTheChangeIsTheBases) {
  const Tensor x = matrix();
  const Tensor factor = leaf({5, 6, 7});
  const Tensor y = x * 1;
  const Tensor row = y.select(0, 1);
  row.mul_(factor);
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{1, 1, 1, 5, 6, 7}));
  EXPECT_EQ(values_of(factor.grad()), (Values{4, 5, 6}));
}

TEST(Views, AViewReadsTheNewHistoryOfItsBase) {
  const Tensor x = matrix();
  Tensor y = x * 1;
  const Tensor row = y.select(0, 1);
  y.mul_(3);
  EXPECT_EQ(row.grad_fn()->name(), "AsStridedBackward0");
  row.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{0, 0, 0, 3, 3, 3}));
}

TEST(Views, AnotherViewOfTheBaseSeesTheChange) {
  const Tensor x = matrix();
  const Tensor y = x * 1;
  const Tensor row = y.select(0, 0);
  const Tensor column = y.select(1, 0);
  row.mul_(4);
  column.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{4, 0, 0, 1, 0, 0}));
}

TEST(Views, AChangedViewGoesOnFromItsNewHistory) {
  const Tensor x = matrix();
  const Tensor y = x * 1;
  const Tensor row = y.select(0, 0);
  row.mul_(4);
  row.mul_(5);
  (row * row).sum().backward();  // (20 x)^2
  EXPECT_EQ(values_of(x.grad()), (Values{800, 1600, 2400, 0, 0, 0}));
}

TEST(Views, ABaseWithoutGradientGetsOneThroughAView) {
  const Tensor factor = leaf({5, 6, 7});
  const Tensor y = at::ones({2, 3}, at::kDouble);
  EXPECT_FALSE(y.requires_grad());
  const Tensor column = y.select(1, 0);
  y.select(0, 1).mul_(factor);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(column.requires_grad());
  (y * 2).sum().backward();
  EXPECT_EQ(values_of(factor.grad()), (Values{2, 2, 2}));
}

TEST(Views, ValuesThatAreOverwrittenGetNoGradient) {
  const Tensor x = matrix();
  const Tensor source = leaf({7, 8, 9});
  const Tensor y = x * 1;
  y.select(0, 0).copy_(source);
  y.select(0, 1).zero_();
  (y * 3).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values_of(source.grad()), (Values{3, 3, 3}));
}

TEST(Views, OfTransposedAndExpandedTensors) {
  const Tensor x = matrix();
  const Tensor y = x * 1;
  y.t().select(0, 1).mul_(10);
  y.t().sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{1, 10, 1, 1, 10, 1}));
}

TEST(Views, ChangesAreDifferentiableTwice) {
  const auto function = [](const std::vector<Tensor>& inputs) {
    const Tensor y = inputs[0] * inputs[0];
    y.select(0, 1).mul_(inputs[1]);
    y.t().select(0, 0).mul_(y.select(1, 2).clone());
    return std::vector<Tensor>{y * y};
  };
  const std::vector<Tensor> inputs = {matrix(), leaf({5, 6, 7})};
  EXPECT_TRUE(at::autograd::gradcheck(function, inputs));
  EXPECT_TRUE(at::autograd::gradgradcheck(function, inputs));
}

TEST(Views, AnOutputSavedOnAViewThatIsGoneHasAHistory) {
  const auto function = [](const std::vector<Tensor>& inputs) {
    const Tensor y = inputs[0] * 1;
    y.select(0, 0).sigmoid_();
    return std::vector<Tensor>{y * y};
  };
  EXPECT_TRUE(at::autograd::gradgradcheck(function, {matrix()}));
  // The last pass frees the graph.
  const Tensor x = matrix();
  const Tensor first = at::autograd::grad({function({x})[0].sum()}, {x}, {}, std::nullopt, true)[0];
  EXPECT_TRUE(at::autograd::grad({first.sum()}, {x})[0].defined());
}

TEST(Views, OfTheRealPartsOfComplexNumbers) {
  const auto function = [](const std::vector<Tensor>& inputs) {
    const Tensor y = inputs[0] * 1;
    at::view_as_real(y).select(1, 0).exp_();
    return std::vector<Tensor>{y * y};
  };
  at::manual_seed(3);
  const Tensor x = at::randn({2}, at::kComplexDouble).requires_grad_();
  EXPECT_TRUE(at::autograd::gradcheck(function, {x}));
  EXPECT_TRUE(at::autograd::gradgradcheck(function, {x}));
}

TEST(Views, RetainGrad) {
  const Tensor x = matrix();
  const Tensor y = x * 1;
  y.retain_grad();
  y.select(0, 0).mul_(10);
  y.sum().backward();
  EXPECT_EQ(values_of(y.grad()), (Values{1, 1, 1, 1, 1, 1}));
}

TEST(Views, FreedGraph) {
  const Tensor x = matrix();
  const Tensor y = x * 1;
  y.select(0, 0).mul_(leaf({1, 2, 3}));
  const Tensor sum = y.sum();
  sum.backward();
  EXPECT_THROWS(sum.backward(), c10::Error, "graph was freed");
}

TEST(Views, LeavesAreNotChangedInPlace) {
  Tensor x = matrix();
  EXPECT_THROWS(x.mul_(2), c10::Error, "is a leaf that requires grad");
  EXPECT_THROWS(x.select(0, 0).mul_(2), c10::Error, "is a view of a leaf that requires grad");
  EXPECT_EQ(values_of(x), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(x._version(), 0u);
  c10::NoGradGuard no_grad;
  x.mul_(2);
  EXPECT_EQ(values_of(x), (Values{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(x._version(), 1u);
}

TEST(Views, OneOfManyIsNotChangedInPlace) {
  const Tensor x = matrix();
  const Tensor y = x * 1;
  for (const std::vector<Tensor>& parts : {y.unbind(0), y.split(1, 0), y.chunk(2, 0)}) {
    Tensor part = parts[1];
    EXPECT_THROWS(part.mul_(2), c10::Error, "is one of several views that were made at once");
    Tensor view_of_part = part.view({-1});
    EXPECT_THROWS(view_of_part.mul_(2), c10::Error, "is one of several views that were made");
  }
}

TEST(Views, ManyViewsPassGradientsOn) {
  const Tensor x = matrix();
  const auto rows = x.unbind(0);
  (rows[0] * rows[1]).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{4, 5, 6, 1, 2, 3}));
}

TEST(Views, MadeUnderNoGradAreNotChangedWithGrad) {
  const Tensor x = matrix();
  Tensor row;
  {
    c10::NoGradGuard no_grad;
    row = x.select(0, 0);
  }
  EXPECT_FALSE(row.requires_grad());
  EXPECT_THROWS(row.mul_(2), c10::Error, "is a view that was made without gradient recording");
  c10::NoGradGuard no_grad;
  row.mul_(2);
  EXPECT_EQ(values_of(x), (Values{2, 4, 6, 4, 5, 6}));
}

TEST(Views, MadeUnderNoGradAreNotReadAfterARecordedChange) {
  const Tensor x = leaf({1, 2, 3});
  for (const bool recorded_before : {false, true}) {
    Tensor y = recorded_before ? x * 1 : at::ones({3}, x.options());
    Tensor part, copy;
    {
      c10::NoGradGuard no_grad;
      part = y.slice(0, 0, 2);
      y.mul_(2);
    }
    EXPECT_FALSE(part.requires_grad());
    EXPECT_FALSE((part * 1).requires_grad());
    y.mul_(x);
    EXPECT_TRUE(part.requires_grad());
    EXPECT_THROWS(part * 1, c10::Error, "is a view that was made without gradient recording");
    c10::NoGradGuard no_grad;
    EXPECT_EQ(values_of(part * 1), (recorded_before ? Values{2, 8} : Values{2, 4}));
  }
}

TEST(Views, ReshapedInPlace) {
  const Tensor x = matrix();
  Tensor y = x * 1;
  y.unsqueeze_(0);
  EXPECT_EQ(y.sizes(), at::IntArrayRef({1, 2, 3}));
  (y * y).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{2, 4, 6, 8, 10, 12}));
}

TEST(Views, AViewReshapedInPlaceStaysAViewOfItsBase) {
  const Tensor x = matrix();
  const Tensor y = x * 1;
  Tensor row = y.select(0, 1);
  row.unsqueeze_(0);
  row.mul_(10);
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{1, 1, 1, 10, 10, 10}));
}

}  // namespace
