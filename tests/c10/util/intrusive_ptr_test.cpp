// Tests of intrusive_ptr and weak_intrusive_ptr: counts, lifetimes, conversions, threads.
#include <c10/util/intrusive_ptr.h>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

using c10::intrusive_ptr;
using c10::intrusive_ptr_target;
using c10::make_intrusive;
using c10::weak_intrusive_ptr;

struct Tracked : intrusive_ptr_target {
  explicit Tracked(std::atomic<int>* alive, std::atomic<int>* released = nullptr)
      : alive_(alive), released_(released) {
    ++*alive_;
  }
  ~Tracked() override { --*alive_; }
  void release_resources() override {
    if (released_ != nullptr) ++*released_;
  }
  std::atomic<int>* alive_;
  std::atomic<int>* released_;
  int value = 7;
};

struct Derived : Tracked {
  using Tracked::Tracked;
};

TEST(IntrusivePtr, CountsOwnersAndDestroysWithTheLast) {
  std::atomic<int> alive{0};
  {
    auto a = make_intrusive<Tracked>(&alive);
    EXPECT_EQ(a.use_count(), 1u);
    {
      auto b = a;
      EXPECT_EQ(a.use_count(), 2u);
      EXPECT_FALSE(a.unique());
      EXPECT_TRUE(a == b);
    }
    EXPECT_TRUE(a.unique());
    auto c = std::move(a);
    EXPECT_FALSE(a.defined());  // NOLINT: a moved-from pointer is null
    EXPECT_EQ(c.use_count(), 1u);
    EXPECT_EQ(alive, 1);
    c = make_intrusive<Tracked>(&alive);
    EXPECT_EQ(alive, 1);
    const auto& self = c;
    c = self;
    EXPECT_EQ(c->value, 7);
  }
  EXPECT_EQ(alive, 0);
}

TEST(IntrusivePtr, NullIsSafe) {
  intrusive_ptr<Tracked> null;
  EXPECT_FALSE(null);
  EXPECT_EQ(null.use_count(), 0u);
  intrusive_ptr<Tracked> copy = null;
  copy.reset();
  EXPECT_TRUE(copy == nullptr);
}

TEST(IntrusivePtr, ReleaseAndReclaimKeepTheCount) {
  std::atomic<int> alive{0};
  auto a = make_intrusive<Tracked>(&alive);
  Tracked* raw = a.release();
  EXPECT_FALSE(a.defined());
  EXPECT_EQ(alive, 1);
  auto b = intrusive_ptr<Tracked>::reclaim_copy(raw);
  EXPECT_EQ(b.use_count(), 2u);
  auto c = intrusive_ptr<Tracked>::reclaim(raw);
  EXPECT_EQ(b.use_count(), 2u);
  b.reset();
  c.reset();
  EXPECT_EQ(alive, 0);
}

TEST(IntrusivePtr, ConvertsToBase) {
  std::atomic<int> alive{0};
  auto derived = make_intrusive<Derived>(&alive);
  intrusive_ptr<Tracked> base = derived;
  EXPECT_EQ(base.use_count(), 2u);
  intrusive_ptr<Tracked> moved = std::move(derived);
  EXPECT_EQ(moved.use_count(), 2u);
  intrusive_ptr<Tracked> from_null = intrusive_ptr<Derived>();
  EXPECT_FALSE(from_null.defined());
}

TEST(WeakIntrusivePtr, LocksWhileAliveAndNotAfter) {
  std::atomic<int> alive{0}, released{0};
  auto strong = make_intrusive<Tracked>(&alive, &released);
  weak_intrusive_ptr<Tracked> weak(strong);
  EXPECT_EQ(strong.weak_use_count(), 2u);  // one of them for all strong owners
  {
    auto locked = weak.lock();
    EXPECT_TRUE(locked == strong);
    EXPECT_EQ(strong.use_count(), 2u);
  }
  EXPECT_FALSE(weak.expired());
  strong.reset();
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(released, 1);
  EXPECT_EQ(alive, 1);  // the memory stays for the observer
  EXPECT_FALSE(weak.lock().defined());
  auto other = weak;
  weak.reset();
  EXPECT_EQ(alive, 1);
  other.reset();
  EXPECT_EQ(alive, 0);
}

TEST(WeakIntrusivePtr, ResourcesAreNotReleasedSeparatelyWithoutObservers) {
  std::atomic<int> alive{0}, released{0};
  auto a = make_intrusive<Tracked>(&alive, &released);
  auto b = a;
  a.reset();
  b.reset();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(released, 0);
}

TEST(IntrusivePtr, Hashes) {
  std::atomic<int> alive{0};
  std::unordered_set<intrusive_ptr<Tracked>> set;
  auto a = make_intrusive<Tracked>(&alive);
  set.insert(a);
  set.insert(a);
  EXPECT_EQ(set.size(), 1u);
}

TEST(IntrusivePtr, ManyThreads) {
  std::atomic<int> alive{0};
  for (int round = 0; round < 50; ++round) {
    auto shared = make_intrusive<Tracked>(&alive);
    weak_intrusive_ptr<Tracked> weak(shared);
    std::vector<std::thread> threads;
    std::atomic<int> sum{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([copy = shared, weak, &sum] {
        for (int i = 0; i < 200; ++i) {
          auto again = copy;
          if (auto locked = weak.lock()) sum += locked->value;
        }
      });
    }
    shared.reset();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(sum, 4 * 200 * 7);
    threads.clear();
    EXPECT_TRUE(weak.expired());
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
