// Allocation below the operators, and what is refused before anything is allocated.
#include <aten/Base.h>
#include <aten/core/Empty.h>
#include <aten/core/WrappedNumber.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace {

using at::TensorBase;
using testing::HasSubstr;

TEST(Empty, IsContiguousAndAligned) {
  TensorBase t = at::detail::empty({2, 3}, at::TensorOptions().dtype(at::kDouble));
  EXPECT_EQ(t.strides().vec(), (std::vector<int64_t>{3, 1}));
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_EQ(t.nbytes(), 48u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data_ptr()) % 64, 0u);
}

TEST(Empty, HasZeroDimensionalAndEmptyTensors) {
  EXPECT_EQ(at::detail::empty({}, {}).numel(), 1);
  EXPECT_EQ(at::detail::empty({0}, {}).numel(), 0);
  EXPECT_EQ(at::detail::empty({2, 0, 3}, {}).numel(), 0);
}

TEST(Empty, FollowsTheMemoryFormat) {
  TensorBase t = at::detail::empty(
      {2, 3, 4, 5}, at::TensorOptions().memory_format(at::MemoryFormat::ChannelsLast));
  EXPECT_EQ(t.strides().vec(), (std::vector<int64_t>{60, 1, 15, 3}));
}

TEST(Empty, OnMetaAllocatesNothing) {
  TensorBase t = at::detail::empty({int64_t{1} << 40}, at::TensorOptions().device("meta"));
  EXPECT_EQ(t.numel(), int64_t{1} << 40);
  EXPECT_EQ(t.data_ptr(), nullptr);
}

TEST(Empty, RefusesWrongSizesBeforeAllocating) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(at::detail::empty({-1}, {}), c10::Error);
  EXPECT_THROW(at::detail::empty({huge, 2}, {}), c10::Error);
  EXPECT_THROW(at::detail::empty({huge / 4}, at::TensorOptions().dtype(at::kDouble)), c10::Error);
  EXPECT_THROW(at::detail::empty_strided({2, 2}, {huge, huge}, {}), c10::Error);
  EXPECT_THROW(at::detail::empty_strided({2, 2}, {1}, {}), c10::ValueError);
  EXPECT_THROW(at::detail::empty_strided({2}, {-1}, {}), c10::ValueError);
}

TEST(TypedData, RefusesAnotherDtype) {
  TensorBase t = at::detail::empty({2}, {});
  try {
    t.data_ptr<double>();
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected a tensor of dtype float64, got float32"));
  }
  EXPECT_THROW(TensorBase().data_ptr<float>(), c10::Error);
}

TEST(WrappedNumbers, AreGivenBackAfterTheCall) {
  using at::detail::WrappedNumber;
  const auto value = [](const at::Tensor& t) { return *t.const_data_ptr<double>(); };
  const auto address = [](const at::Tensor& t) { return t.const_data_ptr(); };
  const void* memory = nullptr;
  {
    const WrappedNumber outer(1.5);
    memory = address(outer);
    {
      const WrappedNumber inner(2.5);
      EXPECT_NE(address(inner), memory);
      EXPECT_EQ(value(inner), 2.5);
    }
    EXPECT_EQ(value(outer), 1.5);
    EXPECT_EQ(static_cast<const at::Tensor&>(outer).use_count(), 1u);
  }
  at::Tensor held;
  {
    const WrappedNumber again(3.5);
    EXPECT_EQ(address(again), memory);
    held = again;
  }
  const WrappedNumber other(4.5);
  EXPECT_EQ(value(held), 3.5);
  EXPECT_EQ(value(other), 4.5);
}

TEST(WrappedNumbers, AreUsedAgainOnlyAsTheyWereMade) {
  using at::detail::WrappedNumber;
  const auto made = [](double value) { return TensorBase(WrappedNumber(value)); };
  const auto value = [](const TensorBase& t) { return *t.const_data_ptr<double>(); };
  TensorBase first = made(1.5);
  const void* memory = first.const_data_ptr();
  first = {};
  first = made(2.5);
  EXPECT_EQ(first.const_data_ptr(), memory);
  // Held by somebody.
  TensorBase second = made(3.5);
  EXPECT_EQ(value(first), 2.5);
  EXPECT_EQ(value(second), 3.5);
  // Its memory is.
  at::Storage storage = second.storage();
  second = {};
  EXPECT_NE(made(4.5).const_data_ptr(), storage.data());
  EXPECT_EQ(*static_cast<const double*>(storage.data()), 3.5);
  // Changed.
  const auto change = [&](const auto& f) {
    f(at::Tensor(made(5.5)));
    const TensorBase next = made(6.5);
    EXPECT_EQ(value(next), 6.5);
    EXPECT_EQ(next.dim(), 0);
    EXPECT_FALSE(next.requires_grad());
    EXPECT_TRUE(next.unsafeGetTensorImpl()->is_wrapped_number());
  };
  change([](const at::Tensor& t) { t.requires_grad_(); });
  change([](const at::Tensor& t) { t.unsafeGetTensorImpl()->set_wrapped_number(false); });
  change([](const at::Tensor& t) { at::detail::resize(t, {2}); });
}

}  // namespace
