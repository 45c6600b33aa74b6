// Copies between the CPU and a GPU, fills, memory and streams: what needs the CUDA runtime.
#include "TestDevice.h"

#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>

#include <cmath>

namespace {

using at::Tensor;

class CUDACopy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test_device::is_there()) GTEST_SKIP() << "there is no GPU, or no driver for it";
  }
};

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_TRUE(a.is_cpu() && b.is_cpu());
  ASSERT_EQ(a.scalar_type(), b.scalar_type());
  EXPECT_TRUE(at::equal(a, b));
}

TEST_F(CUDACopy, ThereAndBack) {
  const Tensor x = at::arange(60, at::TensorOptions(at::kFloat)).view({3, 4, 5});
  const Tensor there = x.to(at::Device("cuda"));
  EXPECT_EQ(there.device(), at::Device(c10::kCUDA, 0));
  EXPECT_TRUE(there.to(at::Device("cuda")).is_same(there));
  expect_same(there.to(at::Device(c10::kCPU)), x);
  expect_same(there.transpose(0, 2).slice(1, 1, 3).to(at::Device(c10::kCPU)),
              x.transpose(0, 2).slice(1, 1, 3));
  for (const at::ScalarType dtype : {at::kDouble, at::kHalf, at::kLong, at::kComplexFloat}) {
    expect_same(there.to(dtype).to(at::Device(c10::kCPU)), x.to(dtype));
    Tensor target = at::empty({5, 4, 3}, at::TensorOptions(dtype)).transpose(0, 2);
    target.copy_(there);
    expect_same(target.contiguous(), x.to(dtype));
  }
}

// Gone through in tiles, with what is left over beside them, and converted on the way.
TEST_F(CUDACopy, Transposed) {
  for (const auto& [rows, columns] : {std::pair{256, 192}, {250, 203}, {4, 12000}}) {
    const Tensor x = at::arange(rows * columns, at::TensorOptions(at::kInt)).view({rows, columns});
    const Tensor there = x.to(at::Device("cuda")).t();
    expect_same(there.contiguous().to(at::Device(c10::kCPU)), x.t());
    for (const at::ScalarType dtype : {at::kDouble, at::kHalf, at::kByte}) {
      Tensor target = at::empty({columns, rows}, there.options().dtype(dtype));
      target.copy_(there);
      expect_same(target.to(at::Device(c10::kCPU)), x.t().to(dtype));
    }
  }
}

TEST_F(CUDACopy, FillsAndNumbers) {
  Tensor x = at::zeros({2, 3}, at::TensorOptions(at::kFloat).device(at::Device("cuda")));
  x.select(1, 1).fill_(2.5);
  expect_same(x.to(at::Device(c10::kCPU)).select(1, 1), at::full({2}, 2.5));
  EXPECT_EQ(x.select(0, 1).select(0, 1).item().to<double>(), 2.5);
  expect_same(x.zero_().to(at::Device(c10::kCPU)), at::zeros({2, 3}));
}

TEST_F(CUDACopy, MemoryIsCountedAndLimited) {
  namespace allocator = c10::cuda::cuda_allocator;
  const int64_t before = allocator::memory_stats().allocated_bytes;
  const at::TensorOptions options = at::TensorOptions(at::kFloat).device(at::Device("cuda"));
  {
    const Tensor x = at::empty({1000}, options);
    EXPECT_EQ(allocator::memory_stats().allocated_bytes, before + 4000);
  }
  EXPECT_EQ(allocator::memory_stats().allocated_bytes, before);
  allocator::set_memory_limit(static_cast<size_t>(before) + 1000);
  EXPECT_THROW(at::empty({1000}, options), c10::OutOfMemoryError);
  allocator::set_memory_limit(0);
  allocator::empty_cache();
}

TEST_F(CUDACopy, AStreamOfTheCaller) {
  cudaStream_t stream = nullptr;
  OPLOOM_CUDA_CHECK(cudaStreamCreate(&stream));
  c10::cuda::set_current_stream(stream);
  {
    const Tensor x = at::full({1 << 16}, 4.).to(at::Device("cuda"));
    expect_same(x.sqrt().to(at::Device(c10::kCPU)), at::full({1 << 16}, 2.));
  }
  c10::cuda::synchronize();
  c10::cuda::set_current_stream(nullptr);
  OPLOOM_CUDA_CHECK(cudaStreamDestroy(stream));
}

TEST(CUDADevices, AnUnknownOneIsRefused) {
  EXPECT_THROW(c10::cuda::set_device(100), c10::Error);
  if (c10::cuda::device_count() == 0) {
    EXPECT_THROW(c10::cuda::current_device(), c10::Error);
    EXPECT_THROW(at::ones({3}).to(at::Device("cuda")), c10::Error);
  }
}

}  // namespace
