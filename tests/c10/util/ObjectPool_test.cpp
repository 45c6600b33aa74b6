// Tests of pooled allocation: reuse, other threads, thread end, derived classes.
#include <c10/util/ObjectPool.h>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct Base : c10::PooledObject<Base> {
  virtual ~Base() = default;
  long value = 1;
};
struct Big : Base {
  std::array<char, 300> more{};
};
struct Huge : Base {
  std::array<char, 100000> more{};
};

#ifndef OPLOOM_NO_POOL
TEST(ObjectPool, ReusesTheLastBlockOfTheSameSize) {
  auto first = std::make_unique<Base>();
  const void* address = first.get();
  first.reset();
  const std::unique_ptr<Big> other = std::make_unique<Big>();  // another list
  const auto second = std::make_unique<Base>();
  EXPECT_EQ(second.get(), address);
  EXPECT_NE(static_cast<const void*>(other.get()), address);
}
#endif

TEST(ObjectPool, TheTrueSizeIsUsedWhenDeletedThroughTheBase) {
  for (int i = 0; i < 1000; ++i) {
    std::unique_ptr<Base> small = std::make_unique<Base>();
    std::unique_ptr<Base> big = std::make_unique<Big>();
    static_cast<Big*>(big.get())->more.fill('x');
    std::unique_ptr<Base> huge = std::make_unique<Huge>();
    EXPECT_EQ(small->value + big->value + huge->value, 3);
  }
}

TEST(ObjectPool, BlocksMayBeFreedByAnotherThread) {
  std::vector<std::unique_ptr<Base>> objects;
  std::thread([&] {
    for (int i = 0; i < 2000; ++i) objects.push_back(std::make_unique<Base>());
  }).join();
  for (auto& object : objects) EXPECT_EQ(object->value, 1);
  objects.clear();  // more than a list holds
  std::thread([&] {
    for (int i = 0; i < 2000; ++i) objects.push_back(std::make_unique<Base>());
    objects.clear();
  }).join();
}

struct AtThreadEnd {
  std::unique_ptr<Base> object;
  ~AtThreadEnd() {
    object.reset();
    object = std::make_unique<Base>();  // by now the pool is gone
  }
};

TEST(ObjectPool, ObjectsMayOutliveThePoolOfTheirThread) {
  std::thread([] {
    static thread_local AtThreadEnd holder;  // made before the pool, destroyed after it
    holder.object = std::make_unique<Base>();
  }).join();
}

}  // namespace
