// Tests of shape computations: overflow, broadcasting, views, dense strides.
#include <c10/core/InferSize.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/WrapDimMinimal.h>

#include <limits>
#include <numeric>

#include "../throws.h"

namespace {

using namespace c10;

constexpr int64_t kBig = int64_t{1} << 32;

TEST(InferSize, NumelRefusesOverflowAndNegativeSizes) {
  EXPECT_EQ(checked_numel({2, 3, 4}), 24);
  EXPECT_EQ(checked_numel({}), 1);
  EXPECT_EQ(checked_numel({kBig, kBig, 0}), 0);
  EXPECT_THROWS(checked_numel({kBig, kBig}), Error, "[4294967296, 4294967296]");
  EXPECT_THROWS(checked_numel({2, -1}, "empty"), Error, "empty(): negative dimension -1");
}

TEST(InferSize, BytesRefuseOverflow) {
  EXPECT_EQ(computeStorageNbytesContiguous({2, 3}, 4), 24u);
  EXPECT_EQ(computeStorageNbytesContiguous({2, 3}, 4, 5), 44u);
  EXPECT_EQ(computeStorageNbytesContiguous({2, 0}, 4, 5), 0u);
  EXPECT_EQ(computeStorageNbytesContiguous({int64_t{1} << 62}, 1), std::size_t{1} << 62);
  EXPECT_THROWS(computeStorageNbytesContiguous({int64_t{1} << 62}, 2), Error,
                "need more than 2^63-1 bytes");
  EXPECT_THROWS(computeStorageNbytesContiguous({kBig, kBig}, 1), Error,
                "need more than 2^63-1 bytes");
  EXPECT_THROWS(computeStorageNbytesContiguous({-3}, 1), Error, "negative dimension -3");
}

TEST(InferSize, BytesOfStridedTensors) {
  EXPECT_EQ(computeStorageNbytes({2, 3}, {3, 1}, 4), 24u);
  EXPECT_EQ(computeStorageNbytes({2, 3}, {0, 0}, 4), 4u);
  EXPECT_EQ(computeStorageNbytes({2, 3}, {10, 2}, 8, 1), (1 + 10 + 4 + 1) * 8u);
  EXPECT_EQ(computeStorageNbytes({0, 3}, {10, 2}, 8, 1), 0u);
  EXPECT_THROWS(computeStorageNbytes({2, 3}, {1}, 4), Error, "as many strides as sizes");
  EXPECT_THROWS(computeStorageNbytes({2}, {-1}, 4), Error, "strides of at least 0");
  EXPECT_THROWS(computeStorageNbytes({3}, {std::numeric_limits<int64_t>::max()}, 1), Error,
                "2^63-1 bytes");
}

TEST(InferSize, Broadcasts) {
  EXPECT_EQ(infer_size_broadcast({2, 1, 4}, {3, 1}), (DimVector{2, 3, 4}));
  EXPECT_EQ(infer_size_broadcast({}, {5}), (DimVector{5}));
  EXPECT_EQ(infer_size_broadcast({0}, {1}), (DimVector{0}));
  EXPECT_THROWS(infer_size_broadcast({0}, {2}), Error, "shapes [0] and [2] cannot be broadcast");
  EXPECT_THROWS(
      infer_size_broadcast({2, 3}, {4, 3}, "add"), Error,
      "add(): shapes [2, 3] and [4, 3] cannot be broadcast: sizes 2 and 4 at dimension 0");
  EXPECT_EQ(try_broadcast({2, 1, 4}, {3, 1}), (DimVector{2, 3, 4}));
  EXPECT_EQ(try_broadcast({2, 3}, {4, 3}), std::nullopt);
  EXPECT_TRUE(are_expandable({3, 1}, {2, 3, 4}));
  EXPECT_FALSE(are_expandable({2, 3, 4}, {3, 4}));
  EXPECT_FALSE(are_expandable({2}, {3}));
}

TEST(InferSize, Expands) {
  const auto geometry = inferExpandGeometry({3, 1}, {1, 1}, {2, -1, 4});
  EXPECT_EQ(geometry.sizes, (DimVector{2, 3, 4}));
  EXPECT_EQ(geometry.strides, (DimVector{0, 1, 0}));
  EXPECT_THROWS(inferExpandGeometry({3}, {1}, {4}), Error,
                "expand(): cannot expand sizes [3] to [4]");
  EXPECT_THROWS(inferExpandGeometry({3}, {1}, {-1, 3}), Error, "-1 in [-1, 3]");
  EXPECT_THROWS(inferExpandGeometry({3, 2}, {2, 1}, {3}), Error, "at least 2 sizes");
}

TEST(InferSize, FindsTheSizeThatIsLeftOpen) {
  EXPECT_EQ(infer_size({2, -1}, 6), (DimVector{2, 3}));
  EXPECT_EQ(infer_size({-1}, 0), (DimVector{0}));
  EXPECT_EQ(infer_size({6}, 6), (DimVector{6}));
  EXPECT_THROWS(infer_size({5}, 12, "view"), Error,
                "view(): shape [5] is invalid for input of size 12");
  EXPECT_THROWS(infer_size({5, -1}, 12), Error, "shape [5, -1] is invalid");
  EXPECT_THROWS(infer_size({-1, -1}, 12), Error, "only one size can be inferred");
  EXPECT_THROWS(infer_size({0, -1}, 0), Error, "cannot infer");
  EXPECT_THROWS(infer_size({-2}, 2), Error, "at least 0");
  EXPECT_THROWS(infer_size({kBig, kBig}, 0), Error, "is invalid");
}

TEST(ComputeStride, KnownCases) {
  EXPECT_EQ(computeStride({2, 3, 4}, {12, 4, 1}, {6, 4}), (DimVector{4, 1}));
  EXPECT_EQ(computeStride({2, 3}, {1, 2}, {6}), std::nullopt);  // transposed
  EXPECT_EQ(computeStride({2, 3}, {1, 2}, {2, 3, 1}), (DimVector{1, 2, 2}));
  EXPECT_EQ(computeStride({4, 3}, {6, 1}, {2, 2, 3}), (DimVector{12, 6, 1}));  // a slice of rows
  EXPECT_EQ(computeStride({}, {}, {1, 1}), (DimVector{1, 1}));
  EXPECT_EQ(computeStride({2, 1, 3}, {3, 99, 1}, {6}), (DimVector{1}));  // 99 is never used
  EXPECT_EQ(computeStride({3}, {0}, {3, 1}), (DimVector{0, 0}));
  EXPECT_EQ(computeStride({0, 3}, {3, 1}, {3, 0}), (DimVector{1, 1}));
}

// Visits the memory positions of a strided shape in row-major order.
std::vector<int64_t> positions(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<int64_t> result = {0};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t base : result) {
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(base + i * strides[d]);
    }
    result = std::move(next);
  }
  return result;
}

// Exhaustive over small shapes: a view is found exactly if one exists, and it shows the same
// elements in the same order.
TEST(ComputeStride, AgreesWithBruteForce) {
  const std::vector<std::vector<int64_t>> shapes = {
      {12},    {2, 6},  {6, 2},    {3, 4},    {4, 3},    {2, 2, 3}, {3, 2, 2},
      {1, 12}, {12, 1}, {2, 1, 6}, {2, 3, 2}, {1, 3, 4}, {3, 1, 4}};
  int views = 0, copies = 0;
  for (const auto& old_sizes : shapes) {
    const DimVector row_major_strides = contiguous_strides(old_sizes);
    std::vector<std::vector<int64_t>> stride_sets = {
        {row_major_strides.begin(), row_major_strides.end()}};
    stride_sets.push_back(std::vector<int64_t>(stride_sets[0].rbegin(), stride_sets[0].rend()));
    auto doubled = stride_sets[0];
    for (auto& stride : doubled) stride *= 2;
    stride_sets.push_back(doubled);
    auto padded = stride_sets[0];
    padded[0] += 1;
    stride_sets.push_back(padded);
    auto expanded = stride_sets[0];
    expanded.back() = 0;
    stride_sets.push_back(expanded);
    for (const auto& old_strides : stride_sets) {
      const auto expected = positions(old_sizes, old_strides);
      for (const auto& new_sizes : shapes) {
        const auto strides = computeStride(old_sizes, old_strides, new_sizes);
        if (strides.has_value()) {
          ++views;
          EXPECT_EQ(positions(new_sizes, *strides), expected)
              << IntArrayRef(old_sizes) << IntArrayRef(old_strides) << IntArrayRef(new_sizes);
          continue;
        }
        ++copies;
        // No strides at all would do: with each dimension's stride read off the positions, some
        // element is elsewhere.
        std::vector<int64_t> forced(new_sizes.size(), 0);
        const auto row_major = contiguous_strides(new_sizes);
        for (std::size_t d = 0; d < new_sizes.size(); ++d) {
          if (new_sizes[d] > 1)
            forced[d] = expected[static_cast<std::size_t>(row_major[d])] - expected[0];
        }
        EXPECT_NE(positions(new_sizes, forced), expected)
            << IntArrayRef(old_sizes) << IntArrayRef(old_strides) << IntArrayRef(new_sizes);
      }
    }
  }
  EXPECT_GT(views, 100);
  EXPECT_GT(copies, 100);
}

TEST(InferDenseStrides, KeepsTheOrderOfDimensions) {
  EXPECT_EQ(infer_dense_strides({2, 3}, {3, 1}), (DimVector{3, 1}));
  EXPECT_EQ(infer_dense_strides({2, 3}, {1, 2}), (DimVector{1, 2}));
  EXPECT_EQ(infer_dense_strides({2, 3}, {20, 4}), (DimVector{3, 1}));
  EXPECT_EQ(infer_dense_strides({2, 3, 4, 5}, {60, 1, 15, 3}), (DimVector{60, 1, 15, 3}));
  EXPECT_EQ(infer_dense_strides({2, 3}, {0, 0}), (DimVector{3, 1}));
  EXPECT_EQ(infer_dense_strides({4}, {7}), (DimVector{1}));
}

TEST(WrapDim, CountsFromTheEndAndNamesTheRange) {
  EXPECT_EQ(maybe_wrap_dim(-1, 3), 2);
  EXPECT_EQ(maybe_wrap_dim(2, 3), 2);
  EXPECT_EQ(maybe_wrap_dim(-1, 0), 0);
  EXPECT_EQ(maybe_wrap_dim(0, 0), 0);
  EXPECT_THROWS(maybe_wrap_dim(5, 2), IndexError, "expected dim in [-2, 1] for a 2-d input, got 5");
  EXPECT_THROWS(maybe_wrap_dim(-3, 2), IndexError, "got -3");
  EXPECT_THROWS(maybe_wrap_dim(1, 0), IndexError, "expected dim in [-1, 0] for a 0-d input, got 1");
  EXPECT_THROWS(maybe_wrap_dim(0, 0, false), IndexError, "0-d");
  EXPECT_THROWS(wrap_dim("softmax", 5, 2), IndexError,
                "softmax(): expected dim in [-2, 1] for a 2-d input, got 5");
}

}  // namespace
