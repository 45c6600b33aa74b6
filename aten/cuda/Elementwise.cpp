// Elementwise problems: from an iterator, and cut into parts that kernels can number with 31 bits.
#include <aten/cuda/Convert.h>
#include <aten/cuda/Elementwise.h>
#include <aten/iterator/TensorIterator.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace at::inline oploom_v1::cuda {

namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

// A tile of a warp, in elements of dimension 0 and of another; and how many elements a problem has
// at least that is cut into tiles and what is left over beside them.
constexpr int64_t kTileRow = 8;
constexpr int64_t kTileColumn = 4;
constexpr int64_t kFewestTiled = int64_t{1} << 15;

bool fits(const ElementwiseProblem& problem) {
  if (problem.numel > kLargest) return false;
  for (int k = 0; k < problem.operands; ++k) {
    if (problem.data[k] == nullptr) continue;
    int64_t last = 0;
    for (size_t d = 0; d < problem.shape.size(); ++d) {
      last += (problem.shape[d] - 1) * problem.strides[k][d];
    }
    if (last > kLargest) return false;
  }
  return true;
}

// The part of a problem at [begin, begin + size) of a dimension.
ElementwiseProblem narrowed(const ElementwiseProblem& problem, int dim, int64_t begin,
                            int64_t size) {
  ElementwiseProblem part = problem;
  part.numel = problem.numel / problem.shape[dim] * size;
  part.shape[dim] = size;
  for (int k = 0; k < part.operands; ++k) {
    if (part.data[k] != nullptr) part.data[k] += begin * part.strides[k][dim];
  }
  return part;
}

// The dimension along which an operand's neighbours lie, if that is not dimension 0; else 0.
int turned_dim(const ElementwiseProblem& part) {
  for (int k = 0; k < part.operands; ++k) {
    if (part.data[k] == nullptr) continue;
    int nearest = 0;
    for (size_t d = 1; d < part.shape.size(); ++d) {
      const int64_t stride = part.strides[k][d];
      if (part.shape[d] >= kTileColumn && stride > 0 && stride < part.strides[k][nearest]) {
        nearest = static_cast<int>(d);
      }
    }
    if (nearest != 0) return nearest;
  }
  return 0;
}

// Dimensions 0 and `dim`, multiples of a tile's, each in two: in a tile and of tiles.
ElementwiseProblem in_tiles(const ElementwiseProblem& part, int dim) {
  ElementwiseProblem tiled = part;
  const auto split = [dim](DimVector& values, auto in_tile, auto of_tiles) {
    const DimVector whole = values;
    values = {in_tile(whole[0], kTileRow), in_tile(whole[dim], kTileColumn),
              of_tiles(whole[dim], kTileColumn), of_tiles(whole[0], kTileRow)};
    for (size_t d = 1; d < whole.size(); ++d) {
      if (static_cast<int>(d) != dim) values.push_back(whole[d]);
    }
  };
  split(
      tiled.shape, [](int64_t, int64_t tile) { return tile; },
      [](int64_t size, int64_t tile) { return size / tile; });
  for (int k = 0; k < part.operands; ++k) {
    if (part.data[k] == nullptr) continue;
    split(
        tiled.strides[k], [](int64_t stride, int64_t) { return stride; },
        [](int64_t stride, int64_t tile) { return stride * tile; });
  }
  return tiled;
}

}  // namespace

ElementwiseProblem problem_of(const TensorIteratorBase& iter) {
  OPLOOM_INTERNAL_ASSERT(iter.ntensors() <= kMaxOperands, "too many operands: ", iter.ntensors());
  ElementwiseProblem problem;
  problem.operands = iter.ntensors();
  problem.numel = iter.numel();
  problem.shape.assign(iter.shape().begin(), iter.shape().end());
  for (int k = 0; k < problem.operands; ++k) {
    if (iter.device(k).is_cpu()) {
      problem.values[k] =
          convert_number(iter.data_ptr(k), iter.dtype(k), iter.tensor_base(k).scalar_type());
      continue;
    }
    problem.data[k] = static_cast<char*>(iter.data_ptr(k));
    problem.strides[k].assign(iter.strides(k).begin(), iter.strides(k).end());
  }
  return problem;
}

void for_each_part(const ElementwiseProblem& problem,
                   c10::function_ref<void(const ElementwiseProblem& part)> run) {
  if (problem.numel == 0) return;
  const int dims = static_cast<int>(problem.shape.size());
  if (dims > kMaxDims) {
    for (int64_t i = 0; i < problem.shape[dims - 1]; ++i) {
      ElementwiseProblem part = narrowed(problem, dims - 1, i, 1);
      part.shape.resize(static_cast<size_t>(dims - 1));
      for (int k = 0; k < part.operands; ++k) {
        if (part.data[k] != nullptr) part.strides[k].resize(static_cast<size_t>(dims - 1));
      }
      for_each_part(part, run);
    }
    return;
  }
  if (fits(problem)) return run(problem);
  // Halves the dimension that reaches farthest.
  int dim = 0;
  int64_t extent = -1;
  for (int d = 0; d < dims; ++d) {
    if (problem.shape[d] == 1) continue;
    int64_t reach = problem.shape[d] - 1;
    for (int k = 0; k < problem.operands; ++k) {
      if (problem.data[k] != nullptr) {
        reach = std::max(reach, (problem.shape[d] - 1) * problem.strides[k][d]);
      }
    }
    if (reach > extent) {
      extent = reach;
      dim = d;
    }
  }
  int64_t half = problem.shape[dim] / 2;
  if (half > kMostPacked) half -= half % kMostPacked;  // the second half is aligned as the first
  for_each_part(narrowed(problem, dim, 0, half), run);
  for_each_part(narrowed(problem, dim, half, problem.shape[dim] - half), run);
}

bool takes_packs(const ElementwiseProblem& part, int width, const size_t* element_bytes) {
  const size_t dims = part.shape.size();
  if (dims == 0 || (dims > 1 && part.shape[0] % width != 0)) return false;
  for (int k = 0; k < part.operands; ++k) {
    if (part.data[k] == nullptr) continue;
    const auto bytes = static_cast<int64_t>(element_bytes[k]);
    if (part.strides[k][0] == 0) continue;
    if (part.shape[0] > 1 && part.strides[k][0] != bytes) return false;
    const int64_t alignment = std::min<int64_t>(16, bytes * width);
    if (reinterpret_cast<uintptr_t>(part.data[k]) % static_cast<uintptr_t>(alignment) != 0) {
      return false;
    }
    for (size_t d = 1; d < dims; ++d) {
      if (part.strides[k][d] % alignment != 0) return false;
    }
  }
  return true;
}

ElementwiseProblem in_packs(const ElementwiseProblem& part, int width) {
  ElementwiseProblem packs = part;
  packs.shape[0] = (part.shape[0] + width - 1) / width;
  packs.numel = part.numel / part.shape[0] * packs.shape[0];
  for (int k = 0; k < part.operands; ++k) {
    if (part.data[k] != nullptr) packs.strides[k][0] *= width;
  }
  return packs;
}

void for_each_tiled(const ElementwiseProblem& part,
                    c10::function_ref<void(const ElementwiseProblem& part)> run) {
  const int dim = part.numel < kFewestTiled ? 0 : turned_dim(part);
  if (dim == 0 || part.shape[0] < kTileRow || part.shape.size() + 2 > kMaxDims) return run(part);
  ElementwiseProblem whole = part;
  for (const auto& [d, tile] : {std::pair{0, kTileRow}, std::pair{dim, kTileColumn}}) {
    const int64_t size = whole.shape[d], rest = size % tile;
    if (rest == 0) continue;
    run(narrowed(whole, d, size - rest, rest));
    whole = narrowed(whole, d, 0, size - rest);
  }
  run(in_tiles(whole, dim));
}

}  // namespace at::inline oploom_v1::cuda
