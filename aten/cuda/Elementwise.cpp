// Elementwise problems: from an iterator, and cut into parts that kernels can number with 31 bits.
#include <aten/cuda/Convert.h>
#include <aten/cuda/Elementwise.h>
#include <aten/iterator/TensorIterator.h>

#include <algorithm>
#include <limits>

namespace at::inline oploom_v1::cuda {

namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

bool fits(const ElementwiseProblem& problem) {
  if (problem.numel > kLargest) return false;
  for (int k = 0; k < problem.operands; ++k) {
    if ((problem.by_value >> k & 1) != 0) continue;
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

}  // namespace

ElementwiseProblem problem_of(const TensorIteratorBase& iter) {
  OPLOOM_INTERNAL_ASSERT(iter.ntensors() <= kMaxOperands, "too many operands: ", iter.ntensors());
  ElementwiseProblem problem;
  problem.operands = iter.ntensors();
  problem.numel = iter.numel();
  problem.shape.assign(iter.shape().begin(), iter.shape().end());
  for (int k = 0; k < problem.operands; ++k) {
    if (iter.device(k).is_cpu()) {
      problem.by_value |= uint32_t{1} << k;
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
  const int64_t half = problem.shape[dim] / 2;
  for_each_part(narrowed(problem, dim, 0, half), run);
  for_each_part(narrowed(problem, dim, half, problem.shape[dim] - half), run);
}

}  // namespace at::inline oploom_v1::cuda
