// Loops over the elements of several tensors on a GPU: a thread computes a few of them.
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
// Where every operand is dense along the rows of the output (dimension 0), or the same all along
// them, and aligned, a thread takes a pack of neighbours, 16 bytes of the output's. Otherwise it
// takes kElementsEach elements one by one, a block's width apart; where an operand is transposed,
// in an order that goes through tiles. Offsets come from an element's or a pack's number, by
// division by the sizes. Offsets and numbers have 32 bits; for_each_part() cuts larger problems up.

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
  // Operands that are a number on the CPU; `data` is null for them.
  Element values[kMaxOperands];
};

// The operands of an iterator, with the strides of their own dtypes; a number on the CPU is
// converted to the dtype that the kernel sees.
ElementwiseProblem problem_of(const TensorIteratorBase& iter);

// Calls `run` with the problem itself, or with parts of it that have at most kMaxDims dimensions
// and whose elements and bytes can be numbered with 31 bits.
OPLOOM_API void for_each_part(const ElementwiseProblem& problem,
                              c10::function_ref<void(const ElementwiseProblem& part)> run);

// Whether all operands, with elements of these bytes, can be loaded and stored in packs of `width`
// neighbours along dimension 0. A last pack may be partly filled if there is no other dimension.
OPLOOM_API bool takes_packs(const ElementwiseProblem& part, int width, const size_t* element_bytes);
// The same part with packs as its elements.
OPLOOM_API ElementwiseProblem in_packs(const ElementwiseProblem& part, int width);

// Calls `run` with the part itself or, where an operand's neighbours lie along another dimension
// than 0, with parts of it whose first 32 elements are a tile of 8 by 4: a warp reads a few
// elements of each line of such an operand, and not one of each of 32 lines.
OPLOOM_API void for_each_tiled(const ElementwiseProblem& part,
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

// Neighbours in memory that are loaded and stored together, 16 bytes at a time.
template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
  T values[N];
};

// As many neighbours as have 16 bytes; but 8 at most, as the code grows with it.
inline constexpr int kMostPacked = 8;
template <typename T>
inline constexpr int kPackWidth = sizeof(T) < 2 ? kMostPacked : 16 / static_cast<int>(sizeof(T));

// An operand's element: at an offset from its data, or the one that it is, if `data` is null. Two
// loads, as one from either would know nothing of the memory that it reads.
template <typename T>
OPLOOM_HOST_DEVICE T load_element(const char* data, uint32_t offset, const Element& value) {
  if (data == nullptr) return *reinterpret_cast<const T*>(value.bytes);
  return *reinterpret_cast<const T*>(data + offset);
}

// Its pack there, or the first `count` values of it, the others like the first; N times its element
// if it is the `same` all along.
template <typename T, int N>
OPLOOM_HOST_DEVICE Pack<T, N> load_pack(const char* data, uint32_t offset, const Element& value,
                                        bool same, int64_t count) {
  Pack<T, N> pack;
  if (same) {
    const T element = load_element<T>(data, offset, value);
    for (int i = 0; i < N; ++i) pack.values[i] = element;
  } else if (count >= N) {
    pack = *reinterpret_cast<const Pack<T, N>*>(data + offset);
  } else {
    const T* const source = reinterpret_cast<const T*>(data + offset);
    for (int i = 0; i < N; ++i) pack.values[i] = source[i < count ? i : 0];
  }
  return pack;
}
template <typename T, int N>
OPLOOM_HOST_DEVICE void store_pack(char* to, const Pack<T, N>& pack, int64_t count) {
  if (count >= N) {
    *reinterpret_cast<Pack<T, N>*>(to) = pack;
    return;
  }
  for (int i = 0; i < N; ++i) {
    if (i < count) reinterpret_cast<T*>(to)[i] = pack.values[i];
  }
}

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
        const bool by_value = problem.data[k] == nullptr;
        strides[d][k] = by_value ? 0 : static_cast<uint32_t>(problem.strides[k][d]);
      }
    }
  }

  OPLOOM_HOST_DEVICE Offsets get(uint32_t element) const {
    Offsets offsets{};
    if (dims == 1) {
      for (int k = 0; k < N; ++k) offsets.of[k] = element * strides[0][k];
      return offsets;
    }
    for (int d = 0; d < dims; ++d) {
      const IntegerDivider::Result split = sizes[d].divide(element);
      element = split.quotient;
      for (int k = 0; k < N; ++k) offsets.of[k] += split.remainder * strides[d][k];
    }
    return offsets;
  }

  // Whether operand k is the same all along dimension 0, of which there must be one.
  OPLOOM_HOST_DEVICE bool is_same_along_rows(int k) const { return strides[0][k] == 0; }

  int dims;
  IntegerDivider sizes[kMaxDims];
  uint32_t strides[kMaxDims][N];
};

// ---- Elements one by one ----

// How many of them a thread takes, so that enough loads are on their way.
template <typename T>
inline constexpr int kElementsEach = sizeof(T) <= 4   ? 4
                                     : sizeof(T) <= 8 ? 2
                                                      : 1;

// The j-th element of a thread; neighbouring threads take neighbours.
template <int Each>
OPLOOM_HOST_DEVICE int64_t element_of(int64_t thread, int j) {
  const int64_t block = thread / kThreadsPerBlock;
  return (block * Each + j) * kThreadsPerBlock + thread % kThreadsPerBlock;
}

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

// Launches packed(part, packs) for the parts of a problem whose operands, with elements of
// `element_bytes`, can be taken in packs of `width`, and strided(part), of which a thread takes
// `each` elements, for the others. Both make bodies.
template <typename Packed, typename Strided>
void launch_parts(const ElementwiseProblem& problem, const size_t* element_bytes, int width,
                  int each, const Packed& packed, const Strided& strided) {
  for_each_part(problem, [&](const ElementwiseProblem& part) {
    if (takes_packs(part, width, element_bytes)) {
      const ElementwiseProblem packs = in_packs(part, width);
      return launch(packed(part, packs), packs.numel);
    }
    for_each_tiled(part, [&](const ElementwiseProblem& tiled) {
      launch(strided(tiled), (tiled.numel + each - 1) / each);
    });
  });
}

}  // namespace at::inline oploom_v1::cuda
