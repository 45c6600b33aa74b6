// Forward mode: dual levels, tangents of results and of views, changes in place, what is refused.
#include <aten/autograd/ForwardAD.h>
#include <aten/autograd/Function.h>
#include <generated/ops/as_strided.h>
#include <generated/ops/cat.h>
#include <generated/ops/exp.h>
#include <generated/ops/hypot.h>
#include <generated/ops/nextafter.h>
#include <generated/ops/pow.h>
#include <generated/ops/reshape.h>
#include <generated/ops/sin.h>
#include <generated/ops/slice.h>
#include <generated/ops/split.h>
#include <generated/ops/sqrt.h>
#include <generated/ops/sum.h>
#include <generated/ops/t.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/view.h>
#include <generated/ops/xlogy.h>
#include <generated/ops/zero.h>
#include <generated/ops/zeros.h>
#include <tests/aten/autograd/Testing.h>

#include <cmath>
#include <memory>
#include <thread>

namespace {

using at::Tensor;
using namespace oploom::testing;
namespace forward_ad = at::autograd::forward_ad;
using forward_ad::DualLevel;
using forward_ad::make_dual;
using forward_ad::unpack_dual;

Values tangent_values(const Tensor& tensor) {
  const Tensor tangent = unpack_dual(tensor).tangent;
  return tangent.defined() ? values_of(tangent) : Values{};
}

TEST(ForwardAD, GivesTheDerivativeAlongADirection) {
  DualLevel level;
  const Tensor x = make_dual(vector_of({1, 2, 3}), vector_of({1, 0, 10}));
  const Tensor y = x * x + 1;
  EXPECT_EQ(values_of(y), (Values{2, 5, 10}));
  EXPECT_EQ(tangent_values(y), (Values{2, 0, 60}));
  EXPECT_EQ(tangent_values(y.sum()), (Values{62}));
}

TEST(ForwardAD, ADualIsAnAliasOfThePrimal) {
  const Tensor primal = vector_of({1, 2}), tangent = vector_of({3, 4});
  DualLevel level;
  const Tensor dual = make_dual(primal, tangent);
  EXPECT_EQ(dual.const_data_ptr(), primal.const_data_ptr());
  const auto [value, direction] = unpack_dual(dual);
  EXPECT_EQ(value.const_data_ptr(), primal.const_data_ptr());
  EXPECT_TRUE(direction.is_same(tangent));
  EXPECT_FALSE(unpack_dual(value).tangent.defined());
  EXPECT_FALSE(unpack_dual(primal).tangent.defined());
}

TEST(ForwardAD, UnpackingAResultLeavesItsTangentOut) {
  DualLevel level;
  const Tensor y = make_dual(vector_of({1, 2}), vector_of({3, 4})).exp();
  const Tensor primal = unpack_dual(y).primal;
  EXPECT_FALSE(unpack_dual(primal).tangent.defined()) << "nor is it found through the base";
  EXPECT_FALSE(unpack_dual(primal.select(0, 1)).tangent.defined());
  EXPECT_TRUE(unpack_dual(y).tangent.defined());
}

TEST(ForwardAD, TangentsEndWithTheLevel) {
  const Tensor primal = vector_of({1, 2});
  Tensor dual, result;
  auto tangent = std::make_unique<Tensor>(vector_of({3, 4}));
  const Witness witness(*tangent);
  {
    DualLevel level;
    dual = make_dual(primal, *tangent);
    result = dual * 2;
    tangent.reset();
    EXPECT_TRUE(witness.alive());
  }
  EXPECT_FALSE(witness.alive()) << "leaving the level frees them";
  EXPECT_FALSE(unpack_dual(result).tangent.defined());
  DualLevel level;
  EXPECT_FALSE(unpack_dual(dual).tangent.defined()) << "a new level has none";
  EXPECT_EQ(tangent_values(make_dual(dual, vector_of({5, 6})) * 2), (Values{10, 12}));
}

TEST(ForwardAD, ATangentDiesWithItsTensor) {
  DualLevel level;
  const Tensor x = make_dual(vector_of({1, 2}), vector_of({3, 4}));
  auto y = std::make_unique<Tensor>(x * 2);
  const Witness witness(unpack_dual(*y).tangent);
  EXPECT_TRUE(witness.alive());
  y.reset();
  EXPECT_FALSE(witness.alive()) << "the level does not keep it";
}

TEST(ForwardAD, RefusesWhatIsNoDual) {
  const Tensor x = vector_of({1, 2});
  EXPECT_THROWS(make_dual(x, x), c10::Error, "no dual level is open");
  EXPECT_THROWS(forward_ad::exit_dual_level(), c10::Error, "none is open");
  DualLevel level;
  EXPECT_THROWS(DualLevel(), c10::Error, "levels cannot be nested");
  EXPECT_THROWS(make_dual(x, vector_of({1, 2, 3})), c10::Error, "expected a tangent of shape");
  EXPECT_THROWS(make_dual(x, x.to(at::kFloat)), c10::Error, "expected a tangent of dtype");
  EXPECT_THROWS(make_dual(x, at::empty({2}, at::TensorOptions(at::kDouble).device(at::kMeta))),
                c10::Error, "expected a tangent on device");
  EXPECT_THROWS(make_dual(x.to(at::kLong), x.to(at::kLong)), c10::Error,
                "expected a primal of floating-point or complex dtype");
  EXPECT_THROWS(make_dual(x, Tensor()), c10::Error, "got no tangent");
  const Tensor dual = make_dual(x, x);
  EXPECT_THROWS(make_dual(dual, x), c10::Error, "has a tangent already");
  EXPECT_THROWS(make_dual(x, dual), c10::Error, "the tangent is a dual itself");
}

TEST(ForwardAD, WithoutATangentThereIsNone) {
  DualLevel level;
  const Tensor x = vector_of({1, 2});
  EXPECT_FALSE(unpack_dual(x * 2).tangent.defined());
  const Tensor dual = make_dual(x, x);
  EXPECT_FALSE(unpack_dual(dual.detach()).tangent.defined()) << "detach() leaves it out";
  EXPECT_FALSE(unpack_dual(dual > 1).tangent.defined());
  EXPECT_FALSE(unpack_dual(dual.to(at::kLong)).tangent.defined());
}

TEST(ForwardAD, AMissingTangentIsZero) {
  DualLevel level;
  const Tensor plain = vector_of({5, 7});
  const Tensor x = make_dual(vector_of({1, 2}), vector_of({1, 10}));
  EXPECT_EQ(tangent_values(x * plain), (Values{5, 70}));
  EXPECT_EQ(tangent_values(plain - x), (Values{-1, -10}));
  EXPECT_EQ(tangent_values(at::cat({plain, x})), (Values{0, 0, 1, 10}));
  // By 0 times infinity the missing one would show as NaN.
  EXPECT_EQ(tangent_values(at::xlogy(vector_of({0, 0}), x)), (Values{0, 0}));
  EXPECT_EQ(tangent_values(at::hypot(make_dual(vector_of({3}), vector_of({1})), vector_of({4}))),
            (Values{0.6}));
}

TEST(ForwardAD, TangentsHaveTheShapeAndDtypeOfTheResult) {
  DualLevel level;
  const Tensor x = make_dual(vector_of({1}).to(at::kFloat), vector_of({2}).to(at::kFloat));
  const Tensor y = x + at::zeros({2, 3}, at::kDouble);
  const Tensor tangent = unpack_dual(y).tangent;
  EXPECT_EQ(tangent.sizes(), y.sizes());
  EXPECT_EQ(tangent.scalar_type(), at::kDouble);
  EXPECT_EQ(tangent.strides(), y.strides());
}

TEST(ForwardAD, ResultsDoNotShareTheTangentOfAnArgument) {
  DualLevel level;
  const Tensor x = make_dual(vector_of({1, 2}), vector_of({3, 4}));
  const Tensor y = x + 1;
  y.mul_(10);
  EXPECT_EQ(tangent_values(y), (Values{30, 40}));
  EXPECT_EQ(tangent_values(x), (Values{3, 4}));
}

// ---- Views ----

TEST(ForwardAD, AViewHasAViewOfTheTangent) {
  DualLevel level;
  const Tensor tangent = vector_of({1, 2, 3, 4, 5, 6}).reshape({2, 3});
  const Tensor x = make_dual(at::zeros({2, 3}, at::kDouble), tangent);
  const Tensor row = x.select(0, 1);
  EXPECT_EQ(tangent_values(row), (Values{4, 5, 6}));
  EXPECT_TRUE(unpack_dual(row).tangent.is_alias_of(tangent));
  EXPECT_EQ(tangent_values(x.t().slice(0, 1, 3).select(1, 0)), (Values{2, 3}));
  EXPECT_EQ(tangent_values(x.split(2, 1)[1]), (Values{3, 6}));
  row.mul_(2);
  EXPECT_EQ(tangent_values(x), (Values{1, 2, 3, 8, 10, 12})) << "through the view";
}

TEST(ForwardAD, ATangentIsLaidOutLikeItsPrimal) {
  DualLevel level;
  const Tensor primal = at::zeros({2, 3}, at::kDouble);
  const Tensor tangent = vector_of({1, 2, 3, 4, 5, 6}).reshape({3, 2}).t();
  const Tensor x = make_dual(primal, tangent);
  EXPECT_EQ(tangent_values(x.view({6})), (Values{1, 3, 5, 2, 4, 6}));
  const Tensor wide = make_dual(primal.slice(1, 0, 3, 2), vector_of({1, 2, 3, 4}).reshape({2, 2}));
  EXPECT_EQ(tangent_values(wide.as_strided({2}, {3}, 2)), (Values{2, 4}))
      << "places in memory count from where the tensor begins";
}

TEST(ForwardAD, AChangeThroughAViewReachesTheBaseAndOtherViews) {
  DualLevel level;
  const Tensor base = vector_of({1, 2, 3});
  const Tensor other = base.slice(0, 1, 3);
  const Tensor view = base.select(0, 1);
  view.copy_(make_dual(vector_of({7}), vector_of({70})).select(0, 0));
  EXPECT_EQ(values_of(base), (Values{1, 7, 3}));
  EXPECT_EQ(tangent_values(base), (Values{0, 70, 0}));
  EXPECT_EQ(tangent_values(other), (Values{70, 0})) << "a view made before";
  EXPECT_EQ(tangent_values(view), (Values{70}));
  other.mul_(2);
  EXPECT_EQ(tangent_values(base), (Values{0, 140, 0}));
}

// ---- In place ----

TEST(ForwardAD, InPlaceChangesUpdateTheTangent) {
  DualLevel level;
  const Tensor tangent = vector_of({1, 10});
  const Tensor x = make_dual(vector_of({3, 4}), tangent);
  x.mul_(x);
  EXPECT_EQ(values_of(x), (Values{9, 16}));
  EXPECT_EQ(tangent_values(x), (Values{6, 80}));
  EXPECT_EQ(values_of(tangent), (Values{6, 80})) << "in place, as the value is";
  x.div_(vector_of({2, 2}));
  EXPECT_EQ(tangent_values(x), (Values{3, 40}));
  x.sqrt_();
  EXPECT_NEAR(tangent_values(x)[0], 3 / (2 * std::sqrt(4.5)), 1e-12);
  x.unsqueeze_(0);
  EXPECT_EQ(unpack_dual(x).tangent.sizes(), x.sizes());
  x.zero_();
  EXPECT_EQ(tangent_values(x), (Values{0, 0}));
}

TEST(ForwardAD, ATensorGetsATangentInPlace) {
  DualLevel level;
  const Tensor x = make_dual(vector_of({1, 2}), vector_of({3, 4}));
  const Tensor y = vector_of({5, 6});
  y.add_(x, 2);
  EXPECT_EQ(tangent_values(y), (Values{6, 8}));
  const Tensor z = vector_of({0, 0});
  z.copy_(x);
  EXPECT_EQ(tangent_values(z), (Values{3, 4}));
  z.mul_(2);
  EXPECT_EQ(tangent_values(x), (Values{3, 4})) << "a copy has a tangent of its own";
  z.eq_(1);
  EXPECT_EQ(tangent_values(z), (Values{0, 0})) << "a comparison is flat";
}

TEST(ForwardAD, RefusesOutAndCustomFunctions) {
  struct Twice : at::autograd::Function<Twice> {
    static Tensor forward(at::autograd::AutogradContext*, const Tensor& x) { return x * 2; }
    static at::autograd::variable_list backward(at::autograd::AutogradContext*,
                                                at::autograd::variable_list grads) {
      return {grads[0] * 2};
    }
  };
  DualLevel level;
  const Tensor x = make_dual(vector_of({1, 2}), vector_of({3, 4}));
  Tensor out = at::empty({2}, at::kDouble);
  EXPECT_THROWS(at::exp_out(out, x), c10::Error, "results written to out= have none");
  EXPECT_THROWS(Twice::apply(x), c10::NotImplementedError, "no forward formula");
  EXPECT_THROWS(at::nextafter(x, x), c10::NotImplementedError, "no forward formula");
}

// ---- With the reverse mode ----

TEST(ForwardAD, ATangentOfAGradientIsAHessianVectorProduct) {
  const Tensor x = leaf({1, 2, 3}), v = vector_of({1, 0, 2});
  DualLevel level;
  const Tensor dual = make_dual(x, v);
  const Tensor y = (dual.exp() * dual.select(0, 0)).sum();
  const Tensor gradient = at::autograd::grad({y}, {x})[0];
  EXPECT_FALSE(gradient.requires_grad());
  // y = x0 (e^x0 + e^x1 + e^x2): second derivatives by hand.
  const double a = std::exp(1.0), b = std::exp(2.0), c = std::exp(3.0);
  const Values product = tangent_values(gradient);
  ASSERT_EQ(product.size(), 3u);
  EXPECT_NEAR(product[0], (2 * a + a) * 1 + c * 2, 1e-9);
  EXPECT_NEAR(product[1], b * 1, 1e-9);
  EXPECT_NEAR(product[2], c * 1 + c * 2, 1e-9);
}

TEST(ForwardAD, SavedTensorsKeepTheirTangents) {
  const Tensor x = leaf({0.5, 2}), v = vector_of({1, 1});
  DualLevel level;
  // The result of exp is saved; self of the change in place is saved as a copy.
  const Tensor y = make_dual(x, v).exp() + 0;
  y.pow_(2);
  for (const bool create_graph : {false, true}) {
    const Tensor gradient =
        at::autograd::grad({y.sum()}, {x}, {}, /*retain_graph=*/true, create_graph)[0];
    // y = e^2x
    const Values product = tangent_values(gradient);
    ASSERT_EQ(product.size(), 2u);
    EXPECT_NEAR(product[0], 4 * std::exp(1.0), 1e-9);
    EXPECT_NEAR(product[1], 4 * std::exp(4.0), 1e-9);
  }
}

TEST(ForwardAD, TangentsAreRecorded) {
  const Tensor x = leaf({1, 2}), v = leaf({3, 4});
  Tensor along;
  {
    DualLevel level;
    const Tensor y = make_dual(x, v).sin();
    along = unpack_dual(y).tangent.sum();
  }
  const auto gradients = at::autograd::grad({along}, {x, v});
  EXPECT_NEAR(values_of(gradients[0])[0], -3 * std::sin(1.0), 1e-12);
  EXPECT_NEAR(values_of(gradients[1])[1], std::cos(2.0), 1e-12);
}

TEST(ForwardAD, LevelsBelongToThreads) {
  DualLevel level;
  const Tensor x = make_dual(vector_of({1, 2}), vector_of({3, 4}));
  std::thread([&] {
    EXPECT_FALSE(unpack_dual(x * 2).tangent.defined()) << "no level is open here";
    DualLevel own;
    EXPECT_EQ(tangent_values(make_dual(vector_of({1}), vector_of({5})) * 2), (Values{10}));
    EXPECT_THROWS(x * 2, c10::Error, "dual level of another thread");
  }).join();
  EXPECT_EQ(tangent_values(x * 2), (Values{6, 8}));
}

}  // namespace
