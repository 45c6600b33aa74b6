// Tests of dispatch keys, key sets, the thread-local sets and GradMode.
#include <c10/core/DispatchKeySet.h>
#include <c10/core/GradMode.h>
#include <c10/core/LocalDispatchKeySet.h>

#include <gtest/gtest.h>

#include <thread>

namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;

TEST(DispatchKey, NamesParseBack) {
  for (int i = 0; i < static_cast<int>(DispatchKey::EndOfKeys); ++i) {
    const auto key = static_cast<DispatchKey>(i);
    EXPECT_EQ(c10::parse_dispatch_key(toString(key)), key);
  }
  EXPECT_EQ(c10::parse_dispatch_key("cpu"), std::nullopt);
}

TEST(DispatchKey, BackendsByDeviceAndLayout) {
  EXPECT_EQ(c10::backend_key(c10::kCPU, c10::kStrided), DispatchKey::CPU);
  EXPECT_EQ(c10::backend_key(c10::kCPU, c10::kSparse), DispatchKey::SparseCPU);
  EXPECT_EQ(c10::backend_key(c10::kMeta, c10::kStrided), DispatchKey::Meta);
  EXPECT_EQ(c10::backend_key(c10::kPrivateUse2, c10::kStrided), DispatchKey::PrivateUse2);
}

TEST(DispatchKeySet, TheHighestKeyIsServedFirst) {
  EXPECT_EQ(DispatchKeySet().slot(), 0);
  EXPECT_EQ(DispatchKeySet().highestPriorityTypeId(), DispatchKey::Undefined);
  const DispatchKeySet keys = {DispatchKey::CPU, DispatchKey::Autograd};
  EXPECT_EQ(keys.highestPriorityTypeId(), DispatchKey::Autograd);
  EXPECT_EQ((keys & c10::after_autograd_keyset).highestPriorityTypeId(), DispatchKey::CPU);
  EXPECT_EQ(keys.add(DispatchKey::Tracer).highestPriorityTypeId(), DispatchKey::Tracer);
  EXPECT_EQ(DispatchKeySet(DispatchKey::PrivateUse3).slot(),
            static_cast<int>(DispatchKey::PrivateUse3));
}

TEST(DispatchKeySet, AutogradIsAboveEveryBackend) {
  for (int i = 1; i < static_cast<int>(DispatchKey::Autograd); ++i) {
    EXPECT_TRUE(c10::after_autograd_keyset.has(static_cast<DispatchKey>(i)));
  }
  EXPECT_FALSE(c10::after_autograd_keyset.has(DispatchKey::Autograd));
  EXPECT_FALSE(c10::after_autograd_keyset.has(DispatchKey::Tracer));
}

TEST(DispatchKeySet, IsASet) {
  const DispatchKeySet a = {DispatchKey::CPU, DispatchKey::Meta};
  const DispatchKeySet b = {DispatchKey::Meta, DispatchKey::Autograd};
  EXPECT_EQ((a | b), (DispatchKeySet{DispatchKey::CPU, DispatchKey::Meta, DispatchKey::Autograd}));
  EXPECT_EQ((a & b), DispatchKeySet(DispatchKey::Meta));
  EXPECT_EQ((a - b), DispatchKeySet(DispatchKey::CPU));
  EXPECT_TRUE(a.has_any(b) && !a.has_all(b) && a.has_all(DispatchKeySet(DispatchKey::CPU)));
  EXPECT_FALSE(DispatchKeySet(DispatchKeySet::FULL).has(DispatchKey::Undefined));
  EXPECT_TRUE(DispatchKeySet(DispatchKey::Undefined).empty());
  EXPECT_EQ(toString(b), "DispatchKeySet(Meta, Autograd)");
}

TEST(LocalDispatchKeySet, GuardsNestAndExcludingWins) {
  const DispatchKeySet cpu = {DispatchKey::CPU, DispatchKey::Autograd};
  EXPECT_EQ(c10::computeDispatchKeySet(cpu), cpu);
  {
    c10::IncludeDispatchKeyGuard include(DispatchKey::Tracer);
    EXPECT_TRUE(c10::computeDispatchKeySet(cpu).has(DispatchKey::Tracer));
    {
      c10::ExcludeDispatchKeyGuard exclude(DispatchKey::Tracer);
      EXPECT_EQ(c10::computeDispatchKeySet(cpu), cpu);
      c10::AutoDispatchBelowAutograd below;
      EXPECT_EQ(c10::computeDispatchKeySet(cpu), DispatchKeySet(DispatchKey::CPU));
    }
    EXPECT_TRUE(c10::computeDispatchKeySet(cpu).has(DispatchKey::Tracer));
  }
  EXPECT_EQ(c10::computeDispatchKeySet(cpu), cpu);
}

TEST(LocalDispatchKeySet, BelongsToItsThread) {
  c10::AutoDispatchBelowAutograd below;
  c10::NoGradGuard no_grad;
  std::thread([] {
    EXPECT_TRUE(c10::tls_local_keyset().excluded.empty());
    EXPECT_TRUE(c10::GradMode::is_enabled());
    c10::GradMode::set_enabled(false);
  }).join();
  EXPECT_FALSE(c10::tls_local_keyset().excluded.empty());
}

TEST(GradMode, GuardsNest) {
  EXPECT_TRUE(c10::GradMode::is_enabled());
  {
    c10::NoGradGuard no_grad;
    EXPECT_FALSE(c10::GradMode::is_enabled());
    {
      c10::AutoGradMode enable(true);
      EXPECT_TRUE(c10::GradMode::is_enabled());
    }
    EXPECT_FALSE(c10::GradMode::is_enabled());
  }
  EXPECT_TRUE(c10::GradMode::is_enabled());
}

}  // namespace
