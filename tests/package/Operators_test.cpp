// Operators of a package outside the tree, seen through the registry: the package is loaded at run
// time, and nothing here knows its headers.
#include <aten/Base.h>
#include <aten/core/Library.h>
#include <aten/core/ivalue.h>
#include <dlfcn.h>
#include <generated/ops/ones.h>
#include <generated/ops/sum.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace {

using at::Tensor;
using testing::HasSubstr;

Tensor call(const char* name, const Tensor& self) {
  at::Stack stack{at::IValue(at::TensorBase(self))};
  at::get_operator(name).call_boxed(stack);
  return Tensor(stack.at(0).to_tensor());
}

class OperatorsOfAPackage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    EXPECT_EQ(at::find_operator("mathx::lambert_w"), nullptr);
    void* handle = dlopen(MATHX_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    // The library stays in memory all the same: tables and graphs lead to its code.
    ASSERT_EQ(dlclose(handle), 0);
  }
};

TEST_F(OperatorsOfAPackage, AreFoundByName) {
  at::OperatorTableBase* op = at::find_operator("mathx::lambert_w.out");
  ASSERT_NE(op, nullptr);
  EXPECT_STREQ(op->schema(), "lambert_w.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  std::vector<std::string> names;
  for (const at::OperatorTableBase* each : at::list_operators("mathx")) {
    names.push_back(each->qualified_name());
  }
  EXPECT_THAT(names, testing::ElementsAre("lambert_w", "lambert_w.out", "lambert_w_", "mish",
                                          "mish.out", "mish_", "mish_backward", "rms_norm"));
  EXPECT_EQ(at::find_operator("lambert_w"), nullptr);  // which would be one of oploom's own
}

TEST_F(OperatorsOfAPackage, HaveKernelsAndGradients) {
  const Tensor x = at::tensor({0.5, 1.0, 2.0}, at::kDouble).requires_grad_();
  const Tensor w = call("mathx::lambert_w", x);
  EXPECT_NEAR(w[1].item<double>(), 0.5671432904097838, 1e-15);
  // W' = W / (x (1 + W)); the second derivative comes from the formula, which is differentiable.
  const auto first = at::autograd::grad({w.sum()}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  const auto second = at::autograd::grad({first.sum()}, {x})[0];
  for (int i = 0; i < 3; ++i) {
    const double z = x[i].item<double>(), v = w[i].item<double>();
    const double slope = v / (z * (1 + v));
    EXPECT_NEAR(first[i].item<double>(), slope, 1e-14);
    EXPECT_NEAR(second[i].item<double>(), -slope * slope * (v + 2) / (1 + v), 1e-13);
  }
}

std::vector<std::string> traced;
void trace(const at::OperatorTableBase& op, at::DispatchKeySet keys, at::Stack& stack) {
  traced.push_back(op.name());
  op.redispatch_boxed(keys.remove(at::DispatchKey::Tracer), stack);
}

TEST_F(OperatorsOfAPackage, ReachBoxedFallbacks) {
  at::Library library("aten", "Tracer");
  library.fallback(&trace);
  c10::IncludeDispatchKeyGuard on(at::DispatchKey::Tracer);
  call("mathx::lambert_w", at::ones({2}));
  EXPECT_THAT(traced, testing::Contains("lambert_w"));
}

TEST_F(OperatorsOfAPackage, AreRegisteredOnce) {
  at::OperatorTableBase* op = at::find_operator("mathx::mish");
  try {
    at::register_operators("mathx", {&op, 1});
    FAIL() << "nothing was thrown";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'mathx::mish' is registered already"));
  }
}

}  // namespace
