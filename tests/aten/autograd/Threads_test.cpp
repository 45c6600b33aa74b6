// Automatic differentiation in several threads at once. The thread sanitizer (tools/sanitize
// thread) watches these tests.
#include <aten/autograd/AutogradMeta.h>
#include <generated/ops/exp.h>
#include <generated/ops/ones.h>
#include <generated/ops/sum.h>
#include <tests/aten/autograd/Testing.h>

#include <barrier>
#include <cmath>
#include <thread>

namespace {

using at::Tensor;
using namespace oploom::testing;

constexpr int kThreads = 4, kRounds = 50;

// Calls body(number of the thread) in all threads, which begin together.
template <class F>
void in_threads(F body) {
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&start, &body, t] {
      start.arrive_and_wait();
      body(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, GraphsOfTheirOwnDoNotDisturbEachOther) {
  in_threads([](int t) {
    for (int i = 0; i < kRounds; ++i) {
      const Tensor x = leaf({t + 1.0, 2});
      (x * x * x).sum().backward();
      EXPECT_EQ(values_of(x.grad()), (Values{3 * (t + 1.0) * (t + 1.0), 12}));
    }
  });
}

TEST(Threads, ASharedLeafGetsTheSumOfAll) {
  constexpr int kSize = 20000;  // so that adding takes long enough for others to come between
  const Tensor x = leaf(Values(kSize, 1));
  in_threads([&](int t) {
    for (int i = 0; i < kRounds; ++i) (x * (t + 1.0)).sum().backward();
  });
  EXPECT_EQ(values_of(x.grad()), Values(kSize, kRounds * (1 + 2 + 3 + 4)));
}

TEST(Threads, AGraphThatIsKeptCanRunInAllAtOnce) {
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * x + x).sum();
  in_threads([&](int) {
    for (int i = 0; i < kRounds; ++i) {
      const std::vector<Tensor> grads = at::autograd::grad({y}, {x}, {}, /*retain_graph=*/true);
      EXPECT_EQ(values_of(grads[0]), (Values{3, 5}));
    }
  });
  EXPECT_FALSE(x.grad().defined());
}

// Otherwise grad() would look for another node than the graph of a thread leads to.
TEST(Threads, RecordingOnAFreshLeafFindsOneNode) {
  for (int i = 0; i < kRounds * 10; ++i) {
    const Tensor x = leaf({1, 2});
    std::vector<at::autograd::Edge> edges(kThreads);
    in_threads([&](int t) { edges[t] = at::autograd::gradient_edge(x); });
    for (const at::autograd::Edge& edge : edges) ASSERT_EQ(edge, edges[0]);
    EXPECT_EQ(x.use_count(), 1u + kThreads);
  }
}

TEST(Threads, AGraphMayRunAndDieElsewhere) {
  const Tensor x = leaf({2, 3});
  Tensor y = (x * x).sum();
  std::thread([y = std::move(y)]() mutable {
    y.backward();
    y.reset();
  }).join();
  EXPECT_EQ(values_of(x.grad()), (Values{4, 6}));
}

TEST(Threads, GradModeIsEachThreadsOwn) {
  const at::NoGradGuard no_grad;
  std::thread([] {
    const Tensor x = leaf({2});
    EXPECT_TRUE((x * x).requires_grad());
  }).join();
  EXPECT_FALSE((leaf({2}) * 2).requires_grad());
}

// Large enough for kernels that split their work, inside threads that are not OpenMP's.
TEST(Threads, KernelsSplitTheirWorkInEach) {
  const Tensor x = at::ones({300, 1000}, at::kDouble).requires_grad_();
  in_threads([&](int) {
    const std::vector<Tensor> grads = at::autograd::grad({(x * 2).exp().sum(0).sum()}, {x});
    EXPECT_NEAR(grads[0].sum().item<double>(), 300000 * 2 * std::exp(2.0), 1e-3);
  });
}

}  // namespace
