// Tests of parallel_for: coverage of the range, nesting, exceptions, thread-local state, fork.
#include <aten/core/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/core/LocalDispatchKeySet.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

class Parallel : public ::testing::Test {
 protected:
  void SetUp() override {
    saved_ = at::get_num_threads();
    at::set_num_threads(4);
  }
  void TearDown() override { at::set_num_threads(saved_); }
  int saved_ = 1;
};

std::vector<std::pair<int64_t, int64_t>> chunks(int64_t begin, int64_t end, int64_t grain) {
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> result;
  at::parallel_for(begin, end, grain, [&](int64_t first, int64_t last) {
    const std::lock_guard lock(mutex);
    result.emplace(first, last);
  });
  return {result.begin(), result.end()};
}

TEST_F(Parallel, CoversTheRangeOnce) {
  for (const int64_t begin : {0, -7}) {
    for (int64_t count = 0; count < 40; ++count) {
      for (const int64_t grain : {0, 1, 3, 10, 100}) {
        int64_t expected = begin;
        for (const auto& [first, last] : chunks(begin, begin + count, grain)) {
          EXPECT_EQ(first, expected);
          EXPECT_LT(first, last);
          expected = last;
        }
        EXPECT_EQ(expected, begin + count) << count << ' ' << grain;
      }
    }
  }
}

TEST_F(Parallel, EachPartHasTheGrain) {
  EXPECT_EQ(chunks(0, 100, 100).size(), 1u);
  EXPECT_EQ(chunks(0, 199, 100).size(), 1u);
  EXPECT_EQ(chunks(0, 200, 100).size(), 2u);
  EXPECT_EQ(chunks(0, 399, 100).size(), 3u);
  EXPECT_EQ(chunks(0, 100, 1).size(), 4u);
  EXPECT_EQ(chunks(5, 4, 1).size(), 0u);
  at::set_num_threads(1);
  EXPECT_EQ(chunks(0, 100, 1).size(), 1u);
}

TEST_F(Parallel, WhatIsChangedInPlaceGoesFromTheEnd) {
  at::set_num_threads(1);
  const int64_t size = 8;
  for (const int64_t count : {0, 1, 4096, 32768, 40'000, 100'000, 131'072, 131'073, 200'000}) {
    for (const int64_t tensors : {1, 2, 4, 100}) {
      std::vector<std::pair<int64_t, int64_t>> pieces;
      at::parallel_for_in_place(count, size, tensors, 1 << 15, [&](int64_t begin, int64_t end) {
        pieces.emplace_back(begin, end);
      });
      int64_t expected = count;
      for (const auto& [begin, end] : pieces) {
        EXPECT_EQ(end, expected);
        EXPECT_LT(begin, end);
        expected = begin;
      }
      EXPECT_EQ(expected, 0) << count << ' ' << tensors;
      const bool one_fits = count * size <= 1 << 20, all_fit = count * size * tensors <= 1 << 20;
      EXPECT_EQ(pieces.size() > 1, one_fits && !all_fit && count > 4096) << count << ' ' << tensors;
    }
  }
}

TEST_F(Parallel, NestedLoopsRunInTheirThread) {
  EXPECT_FALSE(at::in_parallel_region());
  std::atomic<int> calls{0};
  at::parallel_for(0, 4, 1, [&](int64_t, int64_t) {
    EXPECT_TRUE(at::in_parallel_region());
    const auto self = std::this_thread::get_id();
    at::parallel_for(0, 100, 1, [&](int64_t first, int64_t last) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(last - first, 100);
      ++calls;
    });
  });
  EXPECT_EQ(calls, 4);
  at::parallel_for(0, 1, 10, [&](int64_t, int64_t) { EXPECT_TRUE(at::in_parallel_region()); });
  EXPECT_FALSE(at::in_parallel_region());
}

TEST_F(Parallel, ThrowsAgainWhatAChunkThrew) {
  for (const int64_t culprit : {0, 1, 3}) {
    try {
      at::parallel_for(0, 4, 1, [&](int64_t first, int64_t) {
        if (first == culprit) throw std::runtime_error("chunk " + std::to_string(first));
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "chunk " + std::to_string(culprit));
    }
    EXPECT_FALSE(at::in_parallel_region());
  }
  EXPECT_THROW(
      at::parallel_for(0, 1, 10, [](int64_t, int64_t) { throw std::runtime_error("serial"); }),
      std::runtime_error);
  EXPECT_FALSE(at::in_parallel_region());
}

TEST_F(Parallel, ChunksSeeTheStateOfTheCaller) {
  const c10::NoGradGuard no_grad;
  const c10::AutoDispatchBelowAutograd below;
  std::atomic<int> right{0};
  at::parallel_for(0, 4, 1, [&](int64_t, int64_t) {
    right += !c10::GradMode::is_enabled() &&
             c10::tls_local_keyset().excluded == c10::autograd_dispatch_keyset;
  });
  EXPECT_EQ(right, 4);
}

TEST_F(Parallel, ReducesInOrder) {
  std::vector<int> expected(1000), got;
  for (int i = 0; i < 1000; ++i) expected[static_cast<std::size_t>(i)] = i;
  got = at::parallel_reduce(
      0, 1000, 10, std::vector<int>{},
      [](int64_t first, int64_t last, std::vector<int> part) {
        for (int64_t i = first; i < last; ++i) part.push_back(static_cast<int>(i));
        return part;
      },
      [](std::vector<int> a, const std::vector<int>& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
      });
  EXPECT_EQ(got, expected);
  EXPECT_EQ(
      at::parallel_reduce(
          3, 3, 1, 42, [](int64_t, int64_t, int) { return 0; }, [](int a, int b) { return a + b; }),
      42);
}

TEST_F(Parallel, RefusesNoThreads) {
  EXPECT_ANY_THROW(at::set_num_threads(0));
  EXPECT_EQ(at::get_num_threads(), 4);
}

TEST_F(Parallel, ChildOfForkRunsSerially) {
  chunks(0, 100, 1);  // the pool exists
  const pid_t child = fork();
  if (child == 0) {
    int calls = 0;
    at::parallel_for(0, 100, 1, [&](int64_t, int64_t) { ++calls; });
    _exit(calls == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
