// Run-time registration: a backend in another shared library, fallbacks, the registry.
#include <aten/Base.h>
#include <aten/core/Library.h>
#include <aten/core/ivalue.h>
#include <dlfcn.h>
#include <generated/ops/cat.h>
#include <generated/ops/empty.h>
#include <generated/ops/full.h>
#include <generated/ops/max.h>
#include <generated/ops/nonzero.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace {

using at::Tensor;
using testing::HasSubstr;

template <class E, class F>
std::string message_of(F&& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

class TestBackend : public testing::Test {
 protected:
  void SetUp() override {
    handle_ = dlopen(TEST_BACKEND, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
  }
  void TearDown() override { dlclose(handle_); }
  int calls(const char* name) { return reinterpret_cast<int (*)()>(dlsym(handle_, name))(); }
  void* handle_ = nullptr;
};

TEST_F(TestBackend, ItsKernelsAndItsFallbackAreCalled) {
  const at::TensorOptions options = at::TensorOptions().device("privateuse1:0");
  Tensor a = at::empty({3}, options);
  EXPECT_EQ(a.device().type(), c10::DeviceType::PrivateUse1);
  for (int i = 0; i < 3; ++i) static_cast<float*>(a.data_ptr())[i] = static_cast<float>(i + 1);

  const int adds = calls("test_backend_calls_of_add");
  Tensor sum = at::add(a, a);
  EXPECT_EQ(calls("test_backend_calls_of_add"), adds + 1);
  EXPECT_EQ(sum.device().type(), c10::DeviceType::PrivateUse1);
  EXPECT_EQ(static_cast<float*>(sum.data_ptr())[2], 6);

  const int fallbacks = calls("test_backend_calls_of_fallback");
  Tensor product = at::mul(sum, a);
  EXPECT_EQ(calls("test_backend_calls_of_fallback"), fallbacks + 1);
  EXPECT_EQ(product.device().type(), c10::DeviceType::PrivateUse1);
  EXPECT_EQ(static_cast<float*>(product.data_ptr())[2], 18);
}

TEST_F(TestBackend, GradientsFlowThroughItsKernels) {
  Tensor a = at::empty({2}, at::TensorOptions().device("privateuse1:0"));
  for (int i = 0; i < 2; ++i) static_cast<float*>(a.data_ptr())[i] = 1;
  a.requires_grad_();
  Tensor b = at::add(a, a);
  EXPECT_TRUE(b.requires_grad());
  Tensor seed = at::empty({2}, at::TensorOptions().device("privateuse1:0"));
  for (int i = 0; i < 2; ++i) static_cast<float*>(seed.data_ptr())[i] = 1;
  b.backward(seed);
  EXPECT_EQ(static_cast<float*>(a.grad().data_ptr())[1], 2);
}

TEST_F(TestBackend, UnloadingTakesTheKernelsOut) {
  at::OperatorTableBase& add = at::get_operator("add.Tensor");
  EXPECT_TRUE(add.has_kernel(at::DispatchKey::PrivateUse1));
  dlclose(handle_);
  EXPECT_FALSE(add.has_kernel(at::DispatchKey::PrivateUse1));
  EXPECT_FALSE(at::get_operator("mul.Tensor").has_kernel(at::DispatchKey::PrivateUse1));
  handle_ = dlopen(TEST_BACKEND, RTLD_NOW | RTLD_LOCAL);
}

Tensor passing_mul(at::DispatchKeySet keys, const Tensor& self, const Tensor& other) {
  return at::_ops::mul_Tensor::table(keys.remove(at::DispatchKey::Tracer), self, other);
}

int multiplications = 0;
Tensor counting_mul(at::DispatchKeySet keys, const Tensor& self, const Tensor& other) {
  ++multiplications;
  return passing_mul(keys, self, other);
}

TEST(Library, AWrapperKeyIsCalledOnlyWhileIncluded) {
  at::Library library("aten", "Tracer");
  library.impl("mul.Tensor", OPLOOM_FN(counting_mul));
  Tensor a = at::full({2}, 3.0);
  at::mul(a, a);
  EXPECT_EQ(multiplications, 0);
  {
    c10::IncludeDispatchKeyGuard guard(at::DispatchKey::Tracer);
    Tensor b = at::mul(a, a);
    EXPECT_EQ(b[1].item<float>(), 9);
    at::add(a, a);  // has no kernel there: passes over
    c10::ExcludeDispatchKeyGuard off(at::DispatchKey::Tracer);
    at::mul(a, a);  // excluding wins over including
  }
  EXPECT_EQ(multiplications, 1);
}

int recorded = 0;
Tensor noting_mul(at::DispatchKeySet keys, const Tensor& self, const Tensor& other) {
  ++recorded;
  return at::_ops::mul_Tensor::table(keys.remove(at::DispatchKey::Autograd), self, other);
}

TEST(Library, AKernelAboveAutogradSeesCallsWithoutAHistoryToo) {
  const Tensor a = at::full({2}, 3.0);
  EXPECT_TRUE(at::_ops::mul_Tensor::table.history_keys().has(at::DispatchKey::Autograd));
  {
    at::Library library("aten", "Autograd");
    library.impl("mul.Tensor", OPLOOM_FN(noting_mul));
    EXPECT_EQ(at::mul(a, a)[1].item<float>(), 9);
  }
  EXPECT_EQ(recorded, 1);
  // The kernel that was there works as before.
  Tensor leaf = at::full({2}, 3.0);
  leaf.requires_grad_();
  EXPECT_TRUE(at::mul(a, leaf).requires_grad());
  EXPECT_FALSE(at::mul(a, a).requires_grad());
  EXPECT_EQ(recorded, 1);
}

TEST(Library, KernelsComeAndGoWhileOthersCall) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&stop] {
      const c10::IncludeDispatchKeyGuard guard(at::DispatchKey::Tracer);
      const Tensor a = at::full({2}, 3.0);
      while (!stop) ASSERT_EQ(at::mul(a, a)[1].item<float>(), 9);
    });
  }
  // Registries are changed by two threads as well, each for operators of its own.
  std::thread other([] {
    for (int i = 0; i < 200; ++i) {
      at::Library library("aten", "PrivateUse2");
      library.impl("mul.Tensor", OPLOOM_FN(passing_mul));
      EXPECT_NE(at::find_operator("add.Tensor"), nullptr);
    }
  });
  for (int i = 0; i < 200; ++i) {
    at::Library library("aten", "Tracer");
    library.impl("mul.Tensor", OPLOOM_FN(passing_mul));
  }
  other.join();
  stop = true;
  for (std::thread& caller : callers) caller.join();
}

std::vector<std::string> traced;
void trace(const at::OperatorTableBase& op, at::DispatchKeySet keys, at::Stack& stack) {
  traced.push_back(op.qualified_name());
  op.redispatch_boxed(keys.remove(at::DispatchKey::Tracer), stack);
}

TEST(Library, ABoxedFallbackSeesEveryOperator) {
  at::Library library("aten", "Tracer");
  library.fallback(&trace);
  Tensor a = at::full({2, 3}, 2.0);
  traced.clear();
  c10::IncludeDispatchKeyGuard guard(at::DispatchKey::Tracer);
  Tensor b = at::add(a, a, 2);
  EXPECT_THAT(traced, testing::Contains("add.Tensor"));
  a.add_(b);
  EXPECT_THAT(traced, testing::Contains("add_.Tensor"));
  auto [values, indices] = at::max(b, 1);
  EXPECT_THAT(traced, testing::Contains("max.dim"));
  Tensor c = at::cat({a, b}, 0);
  EXPECT_THAT(traced, testing::Contains("cat"));
  Tensor out = at::empty({0});
  at::add_out(out, a, b);
  EXPECT_THAT(traced, testing::Contains("add.out"));
  c10::ExcludeDispatchKeyGuard off(at::DispatchKey::Tracer);
  EXPECT_EQ(b[0][0].item<float>(), 6);
  EXPECT_EQ(a[1][2].item<float>(), 8);
  EXPECT_EQ(values[0].item<float>(), 6);
  EXPECT_EQ(indices.scalar_type(), at::kLong);
  EXPECT_EQ(c.sizes().vec(), (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(out[0][0].item<float>(), 14);
}

Tensor no_mul(const Tensor& self) { return self; }

TEST(Library, AWrongSignatureIsRefusedWithBoth) {
  at::Library library("aten", "PrivateUse2");
  std::string message =
      message_of<c10::TypeError>([&] { library.impl("mul.Tensor", OPLOOM_FN(no_mul)); });
  EXPECT_THAT(message, HasSubstr("mul.Tensor(): the kernel for PrivateUse2"));
  EXPECT_THAT(message, HasSubstr("expected: at::Tensor (at::Tensor const&, at::Tensor const&)"));
  EXPECT_THAT(message, HasSubstr("got:      at::Tensor (at::Tensor const&)"));
}

TEST(Library, UnknownNamesAreRefusedWithTheNearest) {
  at::Library library("aten", "PrivateUse2");
  EXPECT_THAT(message_of<c10::Error>([&] { library.impl("mull.Tensor", OPLOOM_FN(no_mul)); }),
              HasSubstr("did you mean 'mul.Tensor'?"));
  EXPECT_THAT(message_of<c10::ValueError>([] { at::Library("aten", "PrivateUse9"); }),
              HasSubstr("no dispatch key 'PrivateUse9'"));
}

TEST(Library, AMissingKernelNamesTheKeysThatHaveOne) {
  Tensor meta = at::empty({2}, at::TensorOptions().device("meta"));
  std::string message = message_of<c10::NotImplementedError>([&] { at::nonzero(meta); });
  EXPECT_THAT(message, HasSubstr("nonzero()"));
  EXPECT_THAT(message, HasSubstr("no kernel for Meta"));
  EXPECT_THAT(message_of<c10::Error>([] { at::add(Tensor(), Tensor()); }),
              HasSubstr("expected at least one defined tensor"));
}

TEST(Library, EveryOperatorCanBeFoundByItsName) {
  auto all = at::list_operators();
  EXPECT_GT(all.size(), 300u);
  for (at::OperatorTableBase* op : all) EXPECT_EQ(at::find_operator(op->qualified_name()), op);
  EXPECT_EQ(at::find_operator("aten::add.Tensor"), at::find_operator("add.Tensor"));
  EXPECT_EQ(at::find_operator("add.Nothing"), nullptr);
}

TEST(Library, OperatorsCanBeCalledBoxed) {
  Tensor a = at::full({2}, 3.0);
  at::Stack stack{at::IValue(at::TensorBase(a)), at::IValue(at::TensorBase(a)),
                  at::IValue(at::Scalar(2))};
  at::get_operator("add.Tensor").call_boxed(stack);
  ASSERT_EQ(stack.size(), 1u);
  EXPECT_EQ(Tensor(stack[0].to_tensor())[0].item<float>(), 9);
  at::Stack wrong{at::IValue(at::TensorBase(a))};
  EXPECT_THAT(message_of<c10::Error>([&] { at::get_operator("add.Tensor").call_boxed(wrong); }),
              HasSubstr("expected 3 arguments on the stack, got 1"));
}

}  // namespace
