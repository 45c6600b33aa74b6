// Tests of StorageImpl and Storage: memory, size, version, sharing.
#include <c10/core/CPUAllocator.h>
#include <c10/core/Storage.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace {

using c10::Storage;

Storage make(std::size_t nbytes) {
  return Storage(Storage::use_byte_size_t(), nbytes, c10::GetCPUAllocator(), /*resizable=*/true);
}

TEST(Storage, OwnsItsMemoryAndGivesItBack) {
  const auto before = c10::cpu_allocator::memory_stats().allocated_bytes;
  {
    const Storage storage = make(256);
    EXPECT_EQ(storage.nbytes(), 256u);
    EXPECT_NE(storage.data(), nullptr);
    EXPECT_TRUE(storage.resizable());
    EXPECT_TRUE(storage.device().is_cpu());
    EXPECT_EQ(storage.allocator(), c10::GetCPUAllocator());
    const Storage shared = storage;
    EXPECT_TRUE(shared.is_alias_of(storage));
    EXPECT_EQ(storage.use_count(), 2u);
    EXPECT_FALSE(storage.is_alias_of(make(256)));
  }
  EXPECT_EQ(c10::cpu_allocator::memory_stats().allocated_bytes, before);
}

TEST(Storage, VersionIsSharedByAllHandles) {
  const Storage a = make(8);
  const Storage b = a;
  EXPECT_EQ(a.version(), 0u);
  b.unsafeGetStorageImpl()->bump_version();
  b.unsafeGetStorageImpl()->bump_version();
  EXPECT_EQ(a.version(), 2u);
}

TEST(Storage, NoChangeByOneOfSeveralThreadsIsLost) {
  constexpr std::uint32_t kRounds = 50, kTimes = 20000;
  Storage mine = make(8);
  std::atomic<std::uint32_t> arrived{0};
  const auto change = [&arrived](const Storage& storage) {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      ++arrived;
      while (arrived < 2 * round) {
      }  // without a pause, so that both begin at once
      for (std::uint32_t i = 0; i < kTimes; ++i) storage.unsafeGetStorageImpl()->bump_version();
    }
  };
  std::thread other([&change, theirs = mine] { change(theirs); });
  change(mine);
  other.join();
  EXPECT_EQ(mine.version(), 2 * kRounds * kTimes);
  mine.unsafeGetStorageImpl()->bump_version();
  EXPECT_EQ(mine.version(), 2 * kRounds * kTimes + 1) << "alone again";
}

TEST(Storage, MemoryIsReleasedBeforeAnObserverGoes) {
  Storage storage = make(1 << 20);
  c10::weak_intrusive_ptr<c10::StorageImpl> weak(storage.getIntrusivePtr());
  const auto with = c10::cpu_allocator::memory_stats().allocated_bytes;
  storage = Storage();
  EXPECT_TRUE(weak.expired());
  EXPECT_LT(c10::cpu_allocator::memory_stats().allocated_bytes, with);
}

TEST(Storage, DataCanBeExchanged) {
  const Storage storage = make(64);
  int foreign[4] = {1, 2, 3, 4};
  const c10::DataPtr old = storage.set_data_ptr(c10::DataPtr(foreign, c10::Device(c10::kCPU)));
  EXPECT_NE(old.get(), nullptr);
  EXPECT_EQ(storage.data(), foreign);
}

}  // namespace
