// Loops over the elements of several tensors on a GPU: one thread for each element, or for each few
// elements that lie side by side.
#pragma once

#include <aten/core/Namespace.h>
#include <aten/cuda/IntegerDivider.h>
#include <aten/iterator/DenseRows.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/util/DimVector.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/HostDevice.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__CUDACC__)
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#endif

// Note [Elementwise kernels]
// What a thread does is the call operator of a struct, a "body", which holds pointers, sizes and
// whatever else it needs, and is given the number of the thread. launch() starts it on the current
// stream. A plain C++ compiler makes a loop over the threads of the same call, so that tests on a
// machine without a GPU run everything here but the launch itself.
//
// Operands that are one dense row each, at addresses that are multiples of 16 bytes, are loaded and
// stored 16 bytes at a time. All others have the offset of each element computed from its number,
// by division by the sizes. Offsets and numbers have 32 bits; for_each_part() cuts larger problems
// up.

namespace at::inline oploom_v1 {
class TensorIteratorBase;
}

namespace at::inline oploom_v1::cuda {

using at::detail::kMaxOperands;
inline constexpr int kMaxDims = 16;
inline constexpr int kThreadsPerBlock = 256;

// One element of a dtype, held by value.
struct alignas(16) Element {
  unsigned char bytes[16];
};

// The operands of a loop, outputs first. Strides count bytes; dimension 0 is the fastest.
struct ElementwiseProblem {
  int operands = 0;
  int64_t numel = 0;
  DimVector shape;
  char* data[kMaxOperands] = {};
  DimVector strides[kMaxOperands];
  // All operands are one dense row of the same number of elements.
  bool dense = false;
  // Operands that are a number on the CPU, one bit each; `data` is null for them.
  uint32_t by_value = 0;
  Element values[kMaxOperands];
};

// The operands of an iterator, with the strides of their own dtypes; a number on the CPU is
// converted to the dtype that the kernel sees.
ElementwiseProblem problem_of(const TensorIteratorBase& iter);

// Calls `run` with the problem itself, or with parts of it that have at most kMaxDims dimensions
// and whose elements and bytes can be numbered with 31 bits. A dense problem needs no cutting.
OPLOOM_API void for_each_part(const ElementwiseProblem& problem,
                              c10::function_ref<void(const ElementwiseProblem& part)> run);

// ---- Elements in memory ----

// 16-bit floats are computed with as float. The conversions of Half are the processor's own.
OPLOOM_HOST_DEVICE inline float to_float(Half value) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.x));
  return result;
#else
  return static_cast<float>(value);
#endif
}
OPLOOM_HOST_DEVICE inline float to_float(BFloat16 value) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(static_cast<unsigned>(value.x) << 16);
#else
  return static_cast<float>(value);
#endif
}

template <typename To, typename From>
OPLOOM_HOST_DEVICE To load_as(From value) {
  if constexpr (c10::is_reduced_floating_point_v<From>) {
    return to_float(value);
  } else {
    return value;
  }
}
template <typename To, typename From>
OPLOOM_HOST_DEVICE To store_as(From value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<To, Half>) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return To(bits, To::from_bits());
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return To(bits, To::from_bits());
  } else {
    return value;
  }
#else
  return To(value);
#endif
}

// Neighbours in memory that are loaded and stored together.
template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
  T values[N];
};

// ---- Offsets ----

template <int N>
struct OffsetCalculator {
  struct Offsets {
    uint32_t of[N];
  };

  explicit OffsetCalculator(const ElementwiseProblem& problem)
      : dims(static_cast<int>(problem.shape.size())) {
    for (int d = 0; d < dims; ++d) {
      sizes[d] = IntegerDivider(static_cast<uint32_t>(problem.shape[d]));
      for (int k = 0; k < N; ++k) {
        const bool by_value = (problem.by_value >> k & 1) != 0;
        strides[d][k] = by_value ? 0 : static_cast<uint32_t>(problem.strides[k][d]);
      }
    }
  }

  OPLOOM_HOST_DEVICE Offsets get(uint32_t element) const {
    Offsets offsets{};
    for (int d = 0; d < dims; ++d) {
      const IntegerDivider::Result split = sizes[d].divide(element);
      element = split.quotient;
      for (int k = 0; k < N; ++k) offsets.of[k] += split.remainder * strides[d][k];
    }
    return offsets;
  }

  int dims;
  IntegerDivider sizes[kMaxDims];
  uint32_t strides[kMaxDims][N];
};

// ---- Launching ----

#if defined(__CUDACC__)
template <typename Body>
__global__ void __launch_bounds__(kThreadsPerBlock) run_body(const __grid_constant__ Body body) {
  body(static_cast<int64_t>(blockIdx.x) * kThreadsPerBlock + threadIdx.x);
}
#endif

// Calls body(0), body(1), ..., and perhaps some numbers beyond `threads`, which it must ignore.
template <typename Body>
void launch(const Body& body, int64_t threads) {
  const int64_t blocks = (threads + kThreadsPerBlock - 1) / kThreadsPerBlock;
#if defined(__CUDACC__)
  run_body<<<static_cast<unsigned>(blocks), kThreadsPerBlock, 0, c10::cuda::current_stream()>>>(
      body);
  OPLOOM_CUDA_CHECK(cudaGetLastError());
#else
  for (int64_t i = 0; i < blocks * kThreadsPerBlock; ++i) body(i);
#endif
}

}  // namespace at::inline oploom_v1::cuda
