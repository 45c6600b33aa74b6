// Tests of TensorImpl: metadata, contiguity flags, storage, copies, the undefined tensor.
#include <c10/core/CPUAllocator.h>
#include <c10/core/TensorImpl.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "../throws.h"

namespace {

using namespace c10;

using TensorPtr = intrusive_ptr<TensorImpl, UndefinedTensorImpl>;

TensorPtr make(IntArrayRef sizes, ScalarType dtype = kFloat) {
  const std::size_t nbytes = computeStorageNbytesContiguous(sizes, elementSize(dtype));
  auto tensor = TensorPtr::make(Storage(Storage::use_byte_size_t(), nbytes, GetCPUAllocator()),
                                DispatchKeySet(DispatchKey::CPU), dtype);
  tensor->set_sizes_contiguous(sizes);
  return tensor;
}

TensorPtr strided(IntArrayRef sizes, IntArrayRef strides) {
  auto tensor = make({4096});
  tensor->set_sizes_and_strides(sizes, strides);
  return tensor;
}

TEST(TensorImpl, StartsWithItsKeysAndNoElements) {
  const auto tensor = TensorPtr::make(Storage(Storage::use_byte_size_t(), 0, GetCPUAllocator()),
                                      DispatchKeySet(DispatchKey::CPU), kDouble);
  EXPECT_EQ(tensor->sizes().vec(), std::vector<int64_t>{0});
  EXPECT_EQ(tensor->numel(), 0);
  EXPECT_EQ(tensor->dtype(), kDouble);
  EXPECT_EQ(tensor->itemsize(), 8u);
  EXPECT_EQ(tensor->key_set(), (DispatchKeySet{DispatchKey::CPU, DispatchKey::Autograd}));
  EXPECT_TRUE(tensor->is_contiguous() && tensor->is_non_overlapping_and_dense());
  EXPECT_EQ(tensor->data(), nullptr);
  EXPECT_EQ(tensor->storage_offset(), 0);
}

TEST(TensorImpl, ContiguousSizesOfAnyDimension) {
  for (std::size_t ndim = 0; ndim < 8; ++ndim) {
    std::vector<int64_t> sizes(ndim, 2);
    const auto tensor = make(sizes);
    EXPECT_EQ(tensor->dim(), static_cast<int64_t>(ndim));
    EXPECT_EQ(tensor->numel(), int64_t{1} << ndim);
    EXPECT_EQ(tensor->strides(), IntArrayRef(contiguous_strides(sizes)));
    EXPECT_TRUE(tensor->is_contiguous());
    tensor->set_sizes_contiguous({3});
    EXPECT_EQ(tensor->numel(), 3);
    // Its own sizes as an argument.
    tensor->set_sizes_contiguous(tensor->sizes());
    EXPECT_EQ(tensor->sizes().vec(), std::vector<int64_t>{3});
  }
}

TEST(TensorImpl, SizesByDimension) {
  const auto tensor = make({2, 3, 4});
  EXPECT_EQ(tensor->size(-1), 4);
  EXPECT_EQ(tensor->stride(0), 12);
  EXPECT_THROWS(tensor->size(3), IndexError, "expected dim in [-3, 2] for a 3-d input, got 3");
  EXPECT_THROWS(tensor->stride(-4), IndexError, "got -4");
  EXPECT_THROWS(make({})->size(0), IndexError, "0-d");
}

TEST(TensorImpl, SizesThatDoNotFitAreRefusedAndChangeNothing) {
  const auto tensor = make({2, 3});
  const int64_t big = int64_t{1} << 32;
  EXPECT_THROWS(tensor->set_sizes_contiguous({big, big}), Error, "more than 2^63-1 elements");
  EXPECT_THROWS(tensor->set_sizes_and_strides({big, big}, {1, 1}), Error, "more than 2^63-1");
  EXPECT_THROWS(tensor->set_sizes_contiguous({2, -1}), Error, "negative dimension -1");
  EXPECT_THROWS(tensor->set_sizes_and_strides({2, 3}, {1}), Error, "as many strides");
  EXPECT_EQ(tensor->sizes().vec(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensor->numel(), 6);
  tensor->set_sizes_contiguous({big, big, 0});
  EXPECT_EQ(tensor->numel(), 0);
}

// Recomputes each flag from its definition: the set of positions, and orders of dimensions.
void expect_flags_match_definition(const TensorImpl& tensor) {
  const IntArrayRef n = tensor.sizes(), s = tensor.strides();
  const auto dense_in_order = [&](const std::vector<std::size_t>& inner_to_outer) {
    int64_t expected = 1;
    for (const std::size_t d : inner_to_outer) {
      if (n[d] != 1 && s[d] != expected) return false;
      expected *= n[d];
    }
    return true;
  };
  const bool empty = tensor.numel() == 0;
  std::vector<std::size_t> order(n.size());
  std::iota(order.rbegin(), order.rend(), 0);
  EXPECT_EQ(tensor.is_contiguous(), empty || dense_in_order(order)) << n << s;
  EXPECT_EQ(tensor.is_contiguous(MemoryFormat::ChannelsLast),
            n.size() == 4 && (empty || dense_in_order({1, 3, 2, 0})))
      << n << s;
  EXPECT_EQ(tensor.is_contiguous(MemoryFormat::ChannelsLast3d),
            n.size() == 5 && (empty || dense_in_order({1, 4, 3, 2, 0})))
      << n << s;
  EXPECT_EQ(tensor.is_strides_like_channels_last(), is_channels_last_strides_2d(n, s)) << n << s;
  EXPECT_EQ(tensor.is_strides_like_channels_last_3d(), is_channels_last_strides_3d(n, s));
  bool dense = empty;
  std::sort(order.begin(), order.end());
  do {
    dense = dense || dense_in_order(order);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(tensor.is_non_overlapping_and_dense(), dense) << n << s;
}

TEST(TensorImpl, ContiguityFlagsMatchTheirDefinitions) {
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> cases = {
      {{}, {}},
      {{1}, {7}},
      {{5}, {2}},
      {{5}, {0}},
      {{0}, {1}},
      {{2, 3}, {3, 1}},
      {{2, 3}, {1, 2}},
      {{2, 3}, {6, 2}},
      {{2, 3}, {4, 1}},
      {{2, 1}, {1, 99}},
      {{1, 3}, {99, 1}},
      {{2, 0}, {5, 9}},
      {{3, 1, 2}, {1, 77, 3}},
      {{3, 1, 2}, {1, 77, 4}},
      {{2, 3, 4}, {4, 8, 1}},
      {{2, 3, 4}, {0, 4, 1}},
      {{2, 3, 4, 5}, {60, 20, 5, 1}},
      {{2, 3, 4, 5}, {60, 1, 15, 3}},
      {{2, 3, 4, 5}, {120, 1, 30, 6}},
      {{2, 1, 4, 5}, {20, 1, 5, 1}},
      {{2, 3, 1, 1}, {3, 1, 3, 3}},
      {{2, 3, 1, 1}, {3, 1, 1, 1}},
      {{2, 3, 4, 0}, {0, 1, 0, 3}},
      {{2, 3, 2, 2, 2}, {24, 8, 4, 2, 1}},
      {{2, 3, 2, 2, 2}, {24, 1, 12, 6, 3}},
      {{1, 2, 1, 2, 1, 2}, {9, 4, 9, 2, 9, 1}},
  };
  for (const auto& [sizes, strides] : cases) {
    expect_flags_match_definition(*strided(sizes, strides));
    // Setting contiguous sizes computes the flags by a shorter way.
    auto tensor = strided(sizes, strides);
    tensor->set_sizes_contiguous(sizes);
    expect_flags_match_definition(*tensor);
  }
}

TEST(TensorImpl, RestridesToMemoryFormats) {
  const auto tensor = make({2, 3, 4, 5});
  tensor->empty_tensor_restride(MemoryFormat::ChannelsLast);
  EXPECT_EQ(tensor->strides().vec(), (std::vector<int64_t>{60, 1, 15, 3}));
  EXPECT_TRUE(tensor->is_contiguous(MemoryFormat::ChannelsLast) && !tensor->is_contiguous());
  EXPECT_TRUE(tensor->is_non_overlapping_and_dense());
  tensor->empty_tensor_restride(MemoryFormat::Contiguous);
  EXPECT_TRUE(tensor->is_contiguous());
  EXPECT_THROWS(make({2, 3})->empty_tensor_restride(MemoryFormat::ChannelsLast), Error, "4-d");
  EXPECT_THROWS(tensor->empty_tensor_restride(MemoryFormat::Preserve), Error, "preserve_format");
}

TEST(TensorImpl, DataCountsFromTheStorageOffset) {
  const auto tensor = make({2, 3}, kDouble);
  const char* base = static_cast<const char*>(tensor->data());
  EXPECT_EQ(base, tensor->storage().data());
  tensor->set_sizes_and_strides({2}, {1}, 3);
  EXPECT_EQ(static_cast<const char*>(tensor->data()), base + 3 * 8);
  EXPECT_EQ(tensor->storage_offset(), 3);
  tensor->set_sizes_and_strides({0}, {1});
  EXPECT_EQ(tensor->data(), nullptr);
}

TEST(TensorImpl, CopiesShareStorageAndVersionButNotMetadata) {
  const auto tensor = make({2, 3});
  const auto copy = tensor->shallow_copy_and_detach();
  EXPECT_TRUE(copy->storage().is_alias_of(tensor->storage()));
  EXPECT_EQ(copy->key_set(), tensor->key_set());
  EXPECT_EQ(copy->dtype(), kFloat);
  EXPECT_EQ(copy->sizes(), tensor->sizes());
  EXPECT_TRUE(copy->is_contiguous());
  copy->set_sizes_contiguous({6});
  EXPECT_EQ(tensor->dim(), 2);
  copy->set_sizes_and_strides({5}, {1}, 1);
  EXPECT_EQ(copy->shallow_copy_and_detach()->storage_offset(), 1);
  copy->bump_version();
  EXPECT_EQ(tensor->version(), 1u);
  tensor->shallow_copy_from(*copy);
  EXPECT_EQ(tensor->dim(), 1);
  EXPECT_EQ(tensor->version(), 1u);
}

TEST(TensorImpl, WrappedNumbersAreZeroDimensional) {
  const auto tensor = make({});
  EXPECT_FALSE(tensor->is_wrapped_number());
  tensor->set_wrapped_number(true);
  EXPECT_TRUE(tensor->is_wrapped_number());
  EXPECT_THROWS(make({1})->set_wrapped_number(true), InternalError, "0-d");
}

TEST(TensorImpl, MetaTensorsHaveAStorageWithoutMemory) {
  const auto tensor = TensorPtr::make(
      Storage(Storage::use_byte_size_t(), std::size_t{1} << 50, GetAllocator(DeviceType::Meta)),
      DispatchKeySet(DispatchKey::Meta), kFloat);
  tensor->set_sizes_contiguous({int64_t{1} << 48});
  EXPECT_TRUE(tensor->is_meta());
  EXPECT_EQ(tensor->data(), nullptr);
  tensor->bump_version();
  EXPECT_EQ(tensor->version(), 1u);
}

struct FakeMeta final : AutogradMetaInterface {
  explicit FakeMeta(int* alive) : alive_(alive) { ++*alive_; }
  ~FakeMeta() override { --*alive_; }
  void set_requires_grad(bool requires_grad, TensorImpl*) override { value_ = requires_grad; }
  bool requires_grad() const override { return value_; }
  at::Tensor& mutable_grad() override { throw std::logic_error("unused"); }
  const at::Tensor& grad() const override { throw std::logic_error("unused"); }
  int* alive_;
  bool value_ = false;
};

TEST(TensorImpl, AutogradsPartBelongsToOneTensor) {
  int alive = 0;
  auto tensor = make({2});
  EXPECT_FALSE(tensor->requires_grad());
  tensor->set_requires_grad(false);  // needs nothing
  EXPECT_EQ(tensor->autograd_meta(), nullptr);
  tensor->set_autograd_meta(new FakeMeta(&alive));
  tensor->set_requires_grad(true);
  EXPECT_TRUE(tensor->requires_grad());
  TensorPtr copy = TensorPtr::reclaim(tensor->shallow_copy_and_detach().release());
  EXPECT_FALSE(copy->requires_grad());
  weak_intrusive_ptr<TensorImpl, UndefinedTensorImpl> weak(tensor);
  EXPECT_EQ(alive, 1);
  const auto blocks = [] { return cpu_allocator::memory_stats().allocated_blocks; };
  const auto before = blocks();
  tensor.reset();
  EXPECT_EQ(alive, 0);          // although the weak reference still holds the object
  EXPECT_EQ(blocks(), before);  // the copy has the memory still
  weak_intrusive_ptr<TensorImpl, UndefinedTensorImpl> weak_copy(copy);
  copy.reset();
  EXPECT_EQ(blocks(), before - 1);
  EXPECT_TRUE(weak.expired());
}

TEST(UndefinedTensorImpl, CanBeReadWithoutABranch) {
  const TensorPtr undefined;
  EXPECT_FALSE(undefined.defined());
  EXPECT_EQ(undefined.get(), UndefinedTensorImpl::singleton());
  EXPECT_TRUE(undefined->key_set().empty());
  EXPECT_EQ(undefined->dim(), 0);
  EXPECT_EQ(undefined->numel(), 0);
  EXPECT_EQ(undefined->dtype(), ScalarType::Undefined);
  EXPECT_EQ(undefined->data(), nullptr);
  EXPECT_FALSE(undefined->has_storage());
  EXPECT_FALSE(undefined->requires_grad());
  EXPECT_EQ(undefined->version(), 0u);
  EXPECT_EQ(undefined.use_count(), 0u);
  EXPECT_THROWS(undefined->set_requires_grad(true), Error, "undefined tensor");
  const TensorPtr copy = undefined;
  EXPECT_TRUE(copy == undefined);
}

}  // namespace
