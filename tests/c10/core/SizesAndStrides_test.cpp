// Tests of SizesAndStrides across the border between inline and heap.
#include <c10/core/SizesAndStrides.h>

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace {

using c10::SizesAndStrides;

SizesAndStrides make(std::size_t ndim) {
  std::vector<int64_t> sizes(ndim), strides(ndim);
  std::iota(sizes.begin(), sizes.end(), 10);
  std::iota(strides.begin(), strides.end(), 100);
  return {sizes, strides};
}

void expect_made(const SizesAndStrides& s, std::size_t ndim, std::size_t from = ~std::size_t{0}) {
  ASSERT_EQ(s.size(), ndim);
  for (std::size_t i = 0; i < ndim; ++i) {
    EXPECT_EQ(s.size_at_unchecked(i), i < from ? static_cast<int64_t>(10 + i) : 0) << i;
    EXPECT_EQ(s.stride_at_unchecked(i), i < from ? static_cast<int64_t>(100 + i) : 0) << i;
  }
}

TEST(SizesAndStrides, StartsAsOneDimensionOfSizeZero) {
  const SizesAndStrides s;
  ASSERT_EQ(s.size(), 1u);
  EXPECT_EQ(s.size_at_unchecked(0), 0);
  EXPECT_EQ(s.stride_at_unchecked(0), 1);
}

TEST(SizesAndStrides, RefusesMoreThan64Dimensions) {
  SizesAndStrides s = make(64);
  expect_made(s, 64);
  EXPECT_THROW(s.resize(65), c10::Error);
  expect_made(s, 64);
  const std::vector<int64_t> many(65, 1);
  EXPECT_THROW(SizesAndStrides{many}, c10::Error);
  EXPECT_THROW((SizesAndStrides{many, many}), c10::Error);
}

TEST(SizesAndStrides, OfContiguousTensors) {
  for (std::size_t ndim = 0; ndim < 9; ++ndim) {
    std::vector<int64_t> sizes(ndim);
    std::iota(sizes.begin(), sizes.end(), 0);
    const SizesAndStrides s(sizes);
    ASSERT_EQ(s.size(), ndim);
    int64_t stride = 1;
    for (std::size_t i = ndim; i-- > 0;) {
      EXPECT_EQ(s.size_at_unchecked(i), sizes[i]);
      EXPECT_EQ(s.stride_at_unchecked(i), stride);
      stride *= sizes[i] == 0 ? 1 : sizes[i];
    }
  }
}

TEST(SizesAndStrides, ResizesBetweenAllSizes) {
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t to = 0; to < 9; ++to) {
      SizesAndStrides s = make(from);
      s.resize(to);
      expect_made(s, to, from);
    }
  }
}

TEST(SizesAndStrides, InsertsAndErasesAtEveryPlace) {
  for (std::size_t ndim = 0; ndim < 9; ++ndim) {
    for (std::size_t dim = 0; dim <= ndim; ++dim) {
      SizesAndStrides s = make(ndim);
      s.insert(dim, 7, 8);
      ASSERT_EQ(s.size(), ndim + 1);
      EXPECT_EQ(s.size_at_unchecked(dim), 7);
      EXPECT_EQ(s.stride_at_unchecked(dim), 8);
      for (std::size_t i = 0; i < ndim; ++i) {
        const std::size_t place = i < dim ? i : i + 1;
        EXPECT_EQ(s.size_at_unchecked(place), static_cast<int64_t>(10 + i)) << ndim << " " << dim;
        EXPECT_EQ(s.stride_at_unchecked(place), static_cast<int64_t>(100 + i))
            << ndim << " " << dim;
      }
      s.erase(dim);
      expect_made(s, ndim);
    }
  }
  SizesAndStrides full = make(64);
  EXPECT_THROW(full.insert(3, 1, 1), c10::Error);
  expect_made(full, 64);
}

TEST(SizesAndStrides, CopiesAndMovesBetweenAllSizes) {
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t to = 0; to < 9; ++to) {
      const SizesAndStrides source = make(from);
      SizesAndStrides copied = make(to);
      copied = source;
      expect_made(copied, from);
      const auto& same = copied;
      copied = same;
      expect_made(copied, from);
      SizesAndStrides moved = make(to);
      moved = std::move(copied);
      expect_made(moved, from);
      EXPECT_EQ(copied.size(), 0u);  // NOLINT: emptied, and safe to destroy
      const SizesAndStrides constructed(std::move(moved));
      expect_made(constructed, from);
      expect_made(source, from);
    }
  }
}

}  // namespace
