// Tests of DataPtr and of the registry of allocators.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <utility>

#include "../throws.h"

namespace {

using c10::DataPtr;
using c10::Device;
using c10::DeviceType;

int freed = 0;
void count_free(void* context) { freed += *static_cast<int*>(context); }

TEST(DataPtr, FreesItsContextOnce) {
  freed = 0;
  int weight = 1, other_weight = 10;
  char data = 'x';
  {
    DataPtr a(&data, &weight, &count_free, Device(DeviceType::CPU));
    DataPtr b = std::move(a);
    EXPECT_EQ(a.get(), nullptr);  // NOLINT: emptied
    EXPECT_EQ(b.get(), &data);
    EXPECT_EQ(freed, 0);
    DataPtr c(&data, &other_weight, &count_free, Device(DeviceType::CPU));
    b = std::move(c);
    EXPECT_EQ(freed, 1);
    b.clear();
    EXPECT_EQ(freed, 11);
    EXPECT_FALSE(b);
  }
  EXPECT_EQ(freed, 11);
}

TEST(DataPtr, ReleasedContextIsNotFreed) {
  freed = 0;
  int weight = 1;
  {
    DataPtr a(&weight, &weight, &count_free, Device(DeviceType::CPU));
    EXPECT_EQ(a.release_context(), &weight);
    DataPtr borrowed(&weight, Device(DeviceType::CPU));
  }
  EXPECT_EQ(freed, 0);
}

TEST(AllocatorRegistry, MetaHasNoMemory) {
  const DataPtr pointer = c10::GetAllocator(DeviceType::Meta)->allocate(std::size_t{1} << 60);
  EXPECT_EQ(pointer.get(), nullptr);
  EXPECT_TRUE(pointer.device().is_meta());
}

class ForeignAllocator final : public c10::Allocator {
 public:
  DataPtr allocate(std::size_t) override {
    return DataPtr(this, Device(DeviceType::PrivateUse2, 0));
  }
};

TEST(AllocatorRegistry, TakesAllocatorsByPriority) {
  EXPECT_EQ(c10::GetAllocator(DeviceType::CPU), c10::GetCPUAllocator());
  EXPECT_THROWS(c10::GetAllocator(DeviceType::PrivateUse2), c10::NotImplementedError,
                "privateuse2");
  static ForeignAllocator first, second;
  c10::SetAllocator(DeviceType::PrivateUse2, &first, 1);
  c10::SetAllocator(DeviceType::PrivateUse2, &second, 0);
  EXPECT_EQ(c10::GetAllocator(DeviceType::PrivateUse2), &first);
  c10::SetAllocator(DeviceType::PrivateUse2, &second, 1);
  EXPECT_EQ(c10::GetAllocator(DeviceType::PrivateUse2), &second);
}

}  // namespace
