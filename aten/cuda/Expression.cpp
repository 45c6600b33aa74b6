// Brings the operands of an expression operator to its kernel: those of another dtype than the
// kernel's by way of a temporary.
#include <aten/cuda/Convert.h>
#include <aten/cuda/Expression.h>
#include <aten/iterator/TensorIterator.h>
#include <c10/core/Allocator.h>
#include <c10/core/DeviceGuard.h>

namespace at::inline oploom_v1::cuda {

namespace {

// A temporary in the place of an operand: dense, in the order of the iterator's dimensions; where
// the operand is broadcast, so is the temporary.
c10::DataPtr make_temporary(ElementwiseProblem& problem, int k, ScalarType dtype) {
  auto step = static_cast<int64_t>(c10::elementSize(dtype));
  for (size_t d = 0; d < problem.shape.size(); ++d) {
    if (problem.strides[k][d] == 0) continue;
    problem.strides[k][d] = step;
    step *= problem.shape[d];
  }
  c10::DataPtr memory = c10::GetAllocator(DeviceType::CUDA)->allocate(static_cast<size_t>(step));
  problem.data[k] = static_cast<char*>(memory.mutable_get());
  return memory;
}

// The k-th operand's conversion between its memory and its temporary, without the dimensions that
// it is broadcast along.
ElementwiseProblem pair(const ElementwiseProblem& to, const ElementwiseProblem& from, int k) {
  ElementwiseProblem problem;
  problem.operands = 2;
  problem.numel = 1;
  problem.data[0] = to.data[k];
  problem.data[1] = from.data[k];
  for (size_t d = 0; d < to.shape.size(); ++d) {
    if (to.strides[k][d] == 0) continue;
    problem.numel *= to.shape[d];
    problem.shape.push_back(to.shape[d]);
    problem.strides[0].push_back(to.strides[k][d]);
    problem.strides[1].push_back(from.strides[k][d]);
  }
  return problem;
}

}  // namespace

void run_expression(TensorIteratorBase& iter, const ExpressionKernel& kernel,
                    const Scalar* numbers) {
  if (iter.numel() == 0) return;
  const ScalarType dtype = iter.common_dtype();
  const auto start =
      static_cast<const CUDAExpressionKernel&>(kernel).launches[static_cast<size_t>(dtype)];
  OPLOOM_INTERNAL_ASSERT(start != nullptr && iter.ntensors() <= kMaxOperands, iter.op_name(),
                         "(): no kernel for ", dtype);
  const c10::DeviceGuard guard(iter.device(0));

  const ElementwiseProblem given = problem_of(iter);
  ElementwiseProblem problem = given;
  c10::DataPtr temporaries[kMaxOperands];
  for (int k = 0; k < problem.operands; ++k) {
    const ScalarType stored = iter.tensor_base(k).scalar_type();
    if (given.data[k] == nullptr || stored == iter.dtype(k)) continue;
    temporaries[k] = make_temporary(problem, k, iter.dtype(k));
    if (k >= iter.noutputs()) {
      convert_elements(pair(problem, given, k), iter.dtype(k), stored);
    }
  }
  start(problem, numbers);
  for (int k = 0; k < iter.noutputs(); ++k) {
    if (!temporaries[k]) continue;
    convert_elements(pair(given, problem, k), iter.tensor_base(k).scalar_type(), iter.dtype(k));
  }
}

}  // namespace at::inline oploom_v1::cuda
