// Tests of generators: reservation of numbers, seeds, state, threads.
#include <c10/core/Generator.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "../throws.h"

namespace {

using c10::Generator;

TEST(Generator, ReservesConsecutiveOffsets) {
  const Generator generator = c10::createCPUGenerator(7);
  EXPECT_EQ(generator.next_philox(3).offset, 0u);
  EXPECT_EQ(generator.next_philox(1).offset, 3u);
  EXPECT_EQ(generator.next_philox(1).offset, 4u);
  EXPECT_EQ(generator.next_philox().seed, 7u);
  generator.manual_seed(8);
  EXPECT_EQ(generator.next_philox().offset, 0u);
  EXPECT_EQ(generator.current_seed(), 8u);
}

TEST(Generator, StateCanBeSavedAndCloned) {
  const Generator generator = c10::createCPUGenerator(7);
  generator.next_philox(10);
  const Generator copy = generator.clone();
  const auto state = generator.get_state();
  EXPECT_EQ(generator.next_philox().offset, 10u);
  EXPECT_EQ(copy.next_philox().offset, 10u);
  generator.set_state(state);
  EXPECT_EQ(generator.next_philox().offset, 10u);
  EXPECT_FALSE(copy == generator);
}

TEST(Generator, DefaultIsShared) {
  c10::manual_seed(123);
  EXPECT_EQ(c10::default_generator().current_seed(), 123u);
  EXPECT_TRUE(c10::generator_or_default(std::nullopt) == c10::default_generator());
  EXPECT_TRUE(c10::generator_or_default(Generator()) == c10::default_generator());
  const Generator own = c10::createCPUGenerator();
  EXPECT_TRUE(c10::generator_or_default(own) == own);
  const std::uint64_t random = own.seed();
  EXPECT_EQ(own.current_seed(), random);
}

TEST(Generator, UndefinedIsRefused) {
  EXPECT_FALSE(Generator().defined());
  EXPECT_THROWS(Generator().next_philox(), c10::Error, "undefined");
}

TEST(Generator, ThreadsNeverGetTheSameOffset) {
  const Generator generator = c10::createCPUGenerator(1);
  std::vector<std::uint64_t> offsets(4000);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 1000; ++i) offsets[t * 1000 + i] = generator.next_philox().offset;
    });
  }
  for (auto& thread : threads) thread.join();
  std::sort(offsets.begin(), offsets.end());
  EXPECT_EQ(std::adjacent_find(offsets.begin(), offsets.end()), offsets.end());
  EXPECT_EQ(offsets.back(), 3999u);
}

}  // namespace
