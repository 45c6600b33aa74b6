// Tests of the steps on atomics, before and after the process has a second thread.
#include <c10/util/OneThread.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace {

void expect_steps_like_those_of_std_atomic() {
  std::atomic<std::uint32_t> ours{0xfffffffeu}, theirs{0xfffffffeu};
  for (const std::uint32_t summand : {1u, 1u, 5u, -3u}) {
    EXPECT_EQ(c10::fetch_add(ours, summand, std::memory_order_relaxed), theirs.fetch_add(summand));
    EXPECT_EQ(ours.load(), theirs.load());
  }
  std::atomic<int> value{1};
  int expected = 2;
  EXPECT_FALSE(c10::compare_exchange(value, expected, 3, std::memory_order_acq_rel));
  EXPECT_EQ(expected, 1);
  EXPECT_EQ(value.load(), 1);
  EXPECT_TRUE(c10::compare_exchange(value, expected, 3, std::memory_order_acq_rel));
  EXPECT_EQ(expected, 1);
  EXPECT_EQ(value.load(), 3);
}

TEST(OneThread, StepsAreThoseOfAtomics) {
  expect_steps_like_those_of_std_atomic();
  std::thread([] {}).join();
  expect_steps_like_those_of_std_atomic();
}

TEST(OneThread, NotBesideAnother) {
  std::atomic<bool> seen{false}, done{false};
  std::thread other([&] {
    EXPECT_FALSE(c10::has_one_thread());
    seen = true;
    while (!done) std::this_thread::yield();
  });
  EXPECT_FALSE(c10::has_one_thread());
  while (!seen) std::this_thread::yield();
  done = true;
  other.join();
}

TEST(OneThread, NothingIsLostBetweenThreads) {
  constexpr std::uint64_t kTimes = 1000000;
  std::atomic<std::uint64_t> sum{0};
  std::atomic<bool> lock{false};
  std::uint64_t guarded = 0;
  std::atomic<int> ready{0};
  const auto work = [&] {
    for (++ready; ready < 2;) std::this_thread::yield();
    for (std::uint64_t i = 0; i < kTimes; ++i) {
      c10::fetch_add(sum, std::uint64_t{1}, std::memory_order_relaxed);
      for (bool held = false; !c10::compare_exchange(lock, held, true, std::memory_order_acquire);
           held = false) {
        std::this_thread::yield();
      }
      ++guarded;
      lock.store(false, std::memory_order_release);
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  EXPECT_EQ(sum.load(), 2 * kTimes);
  EXPECT_EQ(guarded, 2 * kTimes);
}

}  // namespace
