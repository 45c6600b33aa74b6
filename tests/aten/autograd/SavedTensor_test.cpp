// Saved tensors: the version check, releasing, outputs that are saved by their own node.
#include <aten/autograd/SavedTensor.h>
#include <generated/ops/exp.h>
#include <generated/ops/sum.h>
#include <generated/ops/view.h>
#include <generated/ops/zero.h>
#include <tests/aten/autograd/Testing.h>

namespace {

using at::Tensor;
using namespace oploom::testing;

TEST(SavedTensor, AnInputChangedInPlaceIsAnError) {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  const Tensor z = (y * y).sum();
  y.add_(1);
  EXPECT_THROWS(z.backward(), c10::Error,
                "the float64 [2] tensor, which is output 0 of AddBackward0, was saved at version 0 "
                "and is at version 1 now");
}

TEST(SavedTensor, AnOutputChangedInPlaceIsAnError) {
  const Tensor x = leaf({1, 2});
  Tensor y = x.exp();
  y.mul_(2);
  EXPECT_THROWS(y.sum().backward(), c10::Error, "which is output 0 of ExpBackward0");
}

TEST(SavedTensor, WhatIsNotSavedMayChange) {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  const Tensor z = (y + y).sum();
  y.add_(1);
  z.backward();
  EXPECT_EQ(values_of(x.grad()), (Values{4, 4}));
}

TEST(SavedTensor, AnInputOfAConstantFactorIsNotSaved) {
  const Tensor constant = vector_of({3, 4});
  Tensor x = leaf({1, 2});
  const Tensor y = (x * constant).sum();
  {
    c10::NoGradGuard no_grad;
    x.add_(1);  // only `constant` is needed for the gradient of x
  }
  y.backward();
  EXPECT_EQ(values_of(x.grad()), (Values{3, 4}));
}

TEST(SavedTensor, ALeafChangedWithoutGradIsNoticedToo) {
  Tensor x = leaf({1, 2});
  const Tensor y = (x * x).sum();
  {
    c10::NoGradGuard no_grad;
    x.add_(1);
  }
  EXPECT_THROWS(y.backward(), c10::Error, "was saved at version 0 and is at version 1 now");
}

TEST(SavedTensor, AChangeThroughAViewOrDetachIsNoticed) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  const Tensor z = (y * y).sum();
  y.detach().zero_();
  EXPECT_THROWS(z.backward(), c10::Error, "was changed in place since");
}

TEST(SavedTensor, AnInPlaceOperatorOnItselfIsRefusedBackwardAndLeavesNoCycle) {
  const Tensor x = leaf({2, 3});
  Tensor y = x * 1;
  y.mul_(y);
  Tensor z = x * 1;
  z.mul_(z.view({2}));
  EXPECT_THROWS(y.sum().backward(), c10::Error, "was changed in place since");
  EXPECT_THROWS(z.sum().backward(), c10::Error, "was changed in place since");
  const Witness first(y);
  const Witness second(z);
  y.reset();
  z.reset();
  EXPECT_FALSE(first.alive());
  EXPECT_FALSE(second.alive());
}

TEST(SavedTensor, AnInPlaceOperatorKeepsWhatItOverwrites) {
  const Tensor x = leaf({2, 3});
  const Tensor y = leaf({5, 7});
  Tensor z = x * 1;
  z.mul_(y);
  z.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{5, 7}));
  EXPECT_EQ(values_of(y.grad()), (Values{2, 3}));
}

TEST(SavedTensor, UnpackGivesAnOutputItsHistoryBack) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x.exp();
  const auto node = y.grad_fn();
  const at::autograd::SavedTensor saved(y, /*is_output=*/true);
  const Tensor again = saved.unpack(node.get());
  EXPECT_EQ(again.grad_fn().get(), node.get());
  EXPECT_EQ(values_of(again), values_of(y));
  EXPECT_TRUE(again.is_alias_of(y));
}

TEST(SavedTensor, UndefinedAndReleased) {
  at::autograd::SavedTensor undefined(Tensor(), false);
  EXPECT_FALSE(undefined.unpack(nullptr).defined());
  EXPECT_FALSE(undefined.unpack_optional(nullptr).has_value());
  at::autograd::SavedTensor saved(vector_of({1}), false);
  EXPECT_TRUE(saved.unpack(nullptr).defined());
  saved.reset_data();
  EXPECT_THROWS(saved.unpack(nullptr), c10::Error, "graph was freed");
}

}  // namespace
