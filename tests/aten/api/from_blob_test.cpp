// at::from_blob(): tensors over memory that somebody else owns.
#include "../native/Testing.h"

#include <generated/ops/fill.h>
#include <generated/ops/item.h>
#include <generated/ops/resize.h>
#include <generated/ops/select.h>
#include <generated/ops/slice.h>
#include <generated/ops/sum.h>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;

TEST(FromBlob, SharesTheMemory) {
  std::vector<float> memory = {0, 1, 2, 3, 4, 5};
  const Tensor t = at::from_blob(memory.data(), {2, 3});
  EXPECT_EQ(t.data_ptr(), memory.data());
  t.fill_(7);
  EXPECT_EQ(memory[5], 7);
  memory[0] = 1;
  EXPECT_EQ(t.select(0, 0).select(0, 0).item().to<double>(), 1);
  const Tensor columns = at::from_blob(memory.data(), {3, 2}, {1, 3});
  EXPECT_EQ(doubles(columns), (Doubles{1, 7, 7, 7, 7, 7}));
  EXPECT_ANY_THROW(Tensor(t).resize_({100}));
  EXPECT_ANY_THROW(at::from_blob(nullptr, {2}));
  EXPECT_THROW(at::from_blob(reinterpret_cast<char*>(memory.data()) + 1, {2}), c10::ValueError);
  EXPECT_ANY_THROW(at::from_blob(memory.data(), {2, 2}, {1}));
}

TEST(FromBlob, CallsTheDeleterOnce) {
  int calls = 0;
  float memory[4] = {};
  {
    Tensor view;
    {
      const Tensor t = at::from_blob(memory, {4}, [&](void* data) {
        EXPECT_EQ(data, memory);
        ++calls;
      });
      view = t.slice(0, 1, 3);
    }
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 1);
}

TEST(FromBlob, TakesStridesAnOffsetAndADtype) {
  std::vector<int16_t> memory = {0, 1, 2, 3, 4, 5, 6, 7};
  int calls = 0;
  {
    const Tensor t = at::from_blob(
        memory.data(), {2, 2}, {1, 3}, 2, [&](void*) { ++calls; }, at::kShort);
    EXPECT_EQ(t.scalar_type(), at::kShort);
    EXPECT_EQ(t.storage_offset(), 2);
    EXPECT_EQ(ints(t), (Ints{2, 5, 3, 6}));
  }
  EXPECT_EQ(calls, 1);
}

TEST(FromBlob, NothingAndOneElement) {
  double number = 3;
  EXPECT_EQ(at::from_blob(nullptr, {0, 4}).numel(), 0);
  const Tensor scalar = at::from_blob(&number, {}, at::kDouble);
  EXPECT_EQ(scalar.dim(), 0);
  EXPECT_EQ(scalar.item<double>(), 3);
}

TEST(FromBlob, IsALeafThatMayRequireGrad) {
  double numbers[] = {1, 2, 3};
  Tensor t =
      at::from_blob(numbers, {3}, at::TensorOptions().dtype(at::kDouble).requires_grad(true));
  EXPECT_TRUE(t.requires_grad());
  EXPECT_TRUE(t.is_leaf());
  (t.slice(0, 1).sum()).backward();
  EXPECT_EQ(doubles(t.grad()), (Doubles{0, 1, 1}));
}

}  // namespace
