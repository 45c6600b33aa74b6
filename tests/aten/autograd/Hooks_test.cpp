// Hooks on tensors and nodes, and gradients of tensors that are no leaves.
#include <generated/ops/ones.h>
#include <generated/ops/sum.h>
#include <tests/aten/autograd/Testing.h>

namespace {

using at::Tensor;
using namespace oploom::testing;

TEST(Hooks, SeeAndReplaceTheGradient) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  Values seen;
  y.register_hook([&](const Tensor& grad) {
    seen = values_of(grad);
    return grad * 10;
  });
  (y * 2).sum().backward();
  EXPECT_EQ(seen, (Values{2, 2}));
  EXPECT_EQ(values_of(x.grad()), (Values{60, 60}));
}

TEST(Hooks, OfALeafRunBeforeItAccumulates) {
  const Tensor x = leaf({1, 2});
  int calls = 0;
  const unsigned handle = x.register_hook([&](const Tensor& grad) {
    ++calls;
    return grad * 2;
  });
  (x * 3).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{6, 6}));
  x.remove_hook(handle);
  (x * 3).sum().backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(values_of(x.grad()), (Values{9, 9}));
}

TEST(Hooks, RunInTheOrderOfRegistrationAndCanBeRemoved) {
  const Tensor x = leaf({1});
  const Tensor y = x * 1;
  y.register_hook([](const Tensor& grad) { return grad + 1; });
  const unsigned second = y.register_hook([](const Tensor& grad) { return grad * 0; });
  y.register_hook([](const Tensor& grad) { return grad * 10; });
  y.remove_hook(second);
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{20}));
}

TEST(Hooks, OneThatIsNotThereCannotBeRemoved) {
  const Tensor x = leaf({1});
  const auto expect_refused = [](const Tensor& t, unsigned hook) {
    EXPECT_THROWS(t.remove_hook(hook), c10::Error, "remove_hook(): the tensor has no hook ");
  };
  expect_refused(vector_of({1}), 0);
  expect_refused(x, 0);
  for (const Tensor& t : {x, x * 1}) {
    const unsigned hook = t.register_hook([](const Tensor& grad) { return grad; });
    expect_refused(t, hook + 1);
    t.remove_hook(hook);
    expect_refused(t, hook);
  }
}

TEST(Hooks, SeeTheSumOfAllUses) {
  const Tensor x = leaf({1});
  const Tensor y = x * 1;
  int calls = 0;
  y.register_hook([&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  (y * 2 + y * 3).sum().backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(values_of(x.grad()), (Values{5}));
}

TEST(Hooks, ApplyToGradToo) {
  const Tensor x = leaf({1});
  x.register_hook([](const Tensor& grad) { return grad * 2; });
  EXPECT_EQ(values_of(at::autograd::grad({(x * 3).sum()}, {x})[0]), (Values{6}));
}

TEST(Hooks, AreRefusedWhereThereIsNoGradient) {
  EXPECT_THROWS(vector_of({1}).register_hook([](const Tensor&) { return Tensor(); }), c10::Error,
                "register_hook(): the tensor does not require grad");
}

TEST(Hooks, MayNotChangeTheShape) {
  const Tensor x = leaf({1, 2});
  x.register_hook([](const Tensor& grad) { return grad.sum(); });
  EXPECT_THROWS((x * 2).sum().backward(), c10::Error, "a hook has changed the shape");
}

TEST(Hooks, OnNodes) {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  y.grad_fn()->add_pre_hook([](const at::autograd::variable_list& grads) {
    return at::autograd::variable_list{grads[0] * 10};
  });
  y.grad_fn()->add_post_hook(
      [](const at::autograd::variable_list& grad_inputs, const at::autograd::variable_list& grads) {
        EXPECT_EQ(values_of(grads[0]), (Values{10}));
        at::autograd::variable_list changed = grad_inputs;
        changed[0] = changed[0] + 1;
        return changed;
      });
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{21}));
}

TEST(RetainGrad, KeepsTheGradientOfAnInnerTensor) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  EXPECT_FALSE(y.retains_grad());
  y.retain_grad();
  y.retain_grad();  // once is enough
  EXPECT_TRUE(y.retains_grad());
  y.register_hook([](const Tensor& grad) { return grad * 2; });
  (y * y).sum().backward({}, /*retain_graph=*/true);
  EXPECT_EQ(values_of(y.grad()), (Values{12, 24})) << "after the other hooks";
  y.sum().backward();
  EXPECT_EQ(values_of(y.grad()), (Values{14, 26})) << "a second pass adds to it";
}

TEST(RetainGrad, FollowsTheTensorThroughChangesInPlace) {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  y.retain_grad();
  y.mul_(2);
  y.sum().backward();
  EXPECT_EQ(values_of(y.grad()), (Values{1, 1}));
  EXPECT_EQ(values_of(x.grad()), (Values{6, 6}));
}

TEST(RetainGrad, DoesNotKeepTheTensorAlive) {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  y.retain_grad();
  const Tensor z = (y + 1).sum();
  const Witness witness(y);
  y.reset();
  EXPECT_FALSE(witness.alive());
  z.backward();
  EXPECT_EQ(values_of(x.grad()), (Values{3, 3}));
}

TEST(RetainGrad, IsRefusedWithoutGradientAndIdleOnLeaves) {
  EXPECT_THROWS(vector_of({1}).retain_grad(), c10::Error,
                "retain_grad(): the tensor does not require grad");
  const Tensor x = leaf({1});
  x.retain_grad();
  EXPECT_FALSE(x.retains_grad());
}

TEST(Grad, CanBeSetWhereItFits) {
  const Tensor x = leaf({1, 2});
  x.set_grad(vector_of({5, 6}));
  EXPECT_EQ(values_of(x.grad()), (Values{5, 6}));
  EXPECT_THROWS(x.set_grad(vector_of({1})), c10::Error,
                "grad: expected a gradient of shape [2], got [1]");
  EXPECT_THROWS(x.set_grad(at::ones({2}, at::kFloat)), c10::Error, "expected a gradient of dtype");
  EXPECT_THROWS(x.set_grad(x), c10::Error, "its own gradient");
  x.set_grad({});
  EXPECT_FALSE(x.grad().defined());
}

TEST(Detach, CutsTheHistory) {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  const Tensor cut = y.detach();
  EXPECT_FALSE(cut.requires_grad());
  EXPECT_TRUE(cut.is_alias_of(y));
  EXPECT_FALSE(cut.is_view());
  y.detach_();
  EXPECT_TRUE(y.is_leaf());
  EXPECT_FALSE(y.requires_grad());
}

}  // namespace
