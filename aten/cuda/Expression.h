// The kernels of expression operators on a GPU: what files of generated/cuda are made of. See Note
// [Kernels of expressions] in aten/stubs/Expression.h and Note [Elementwise kernels].
#pragma once

#include <aten/cuda/Elementwise.h>
#include <aten/cuda/functions.h>
#include <aten/stubs/Expression.h>

#include <array>
#include <limits>
#include <utility>

namespace at::inline oploom_v1::cuda {

using native::ExpressionKernel;

// Starts the kernel for operands of one dtype.
using expression_launch_fn = void (*)(const ElementwiseProblem& problem, const Scalar* numbers);

struct CUDAExpressionKernel : ExpressionKernel {
  // By dtype; null where there is none.
  std::array<expression_launch_fn, c10::kNumScalarTypes> launches{};
};

// ExpressionKernel::run.
OPLOOM_API void run_expression(TensorIteratorBase& iter, const ExpressionKernel& kernel,
                               const Scalar* numbers);

// ---- Results ----

template <typename T>
OPLOOM_HOST_DEVICE T result(const Number<T>& number, int) {
  return number.value;
}
OPLOOM_HOST_DEVICE inline bool result(Truth truth, int) { return truth.value; }
template <typename V, int N>
OPLOOM_HOST_DEVICE auto result(const Outputs<V, N>& outputs, int k) {
  return outputs.values[k].value;
}

// ---- What a thread does ----

// `Op` computes with the type T of Number<T>; operands are stored as `Storage`, and truth values as
// bool.
template <typename Op, typename Storage, size_t... I>
struct ExpressionBody {
  using T = typename Op::V::value_type;
  static constexpr int kOutputs = Op::kOutputs;
  static constexpr int kInputs = Op::kInputs;
  static constexpr int kOperands = kOutputs + kInputs;
  using Result = decltype(std::declval<const Op&>()((static_cast<void>(I), Number<T>())...));
  using Stored = std::conditional_t<std::is_same_v<Result, Truth>, bool, Storage>;
  static constexpr int kWidth = kPackWidth<Storage>;
  static constexpr int kEach = kElementsEach<Storage>;

  // The operands of a launch.
  struct Operands {
    Operands(const ElementwiseProblem& part, const ElementwiseProblem& numbered)
        : numel(static_cast<uint32_t>(part.numel)), offsets(numbered) {
      for (int k = 0; k < kOperands; ++k) data[k] = part.data[k];
      for (int i = 0; i < kInputs; ++i) values[i] = part.values[kOutputs + i];
    }

    uint32_t numel;
    char* data[kOperands];
    Element values[kInputs];
    OffsetCalculator<kOperands> offsets;
  };

  struct Packed {
    Op op;
    Operands operands;

    OPLOOM_HOST_DEVICE void operator()(int64_t thread) const {
      const int64_t count = operands.numel - thread * kWidth;
      if (count <= 0) return;
      const auto at = operands.offsets.get(static_cast<uint32_t>(thread));
      const Pack<Storage, kWidth> in[] = {load_pack<Storage, kWidth>(
          operands.data[kOutputs + I], at.of[kOutputs + I], operands.values[I],
          operands.offsets.is_same_along_rows(kOutputs + I), count)...};
      Pack<Stored, kWidth> out[kOutputs];
      for (int i = 0; i < kWidth; ++i) {
        const Result value = op(Number<T>(load_as<T>(in[I].values[i]))...);
        for (int k = 0; k < kOutputs; ++k) out[k].values[i] = store_as<Stored>(result(value, k));
      }
      for (int k = 0; k < kOutputs; ++k) store_pack(operands.data[k] + at.of[k], out[k], count);
    }
  };

  struct Strided {
    Op op;
    Operands operands;

    OPLOOM_HOST_DEVICE void operator()(int64_t thread) const {
      Storage in[kEach][kInputs];
      char* out[kEach][kOutputs];
      for (int j = 0; j < kEach; ++j) {
        const int64_t element = element_of<kEach>(thread, j);
        if (element >= operands.numel) break;
        const auto at = operands.offsets.get(static_cast<uint32_t>(element));
        ((in[j][I] = load_element<Storage>(operands.data[kOutputs + I], at.of[kOutputs + I],
                                           operands.values[I])),
         ...);
        for (int k = 0; k < kOutputs; ++k) out[j][k] = operands.data[k] + at.of[k];
      }
      for (int j = 0; j < kEach; ++j) {
        if (element_of<kEach>(thread, j) >= operands.numel) break;
        const Result value = op(Number<T>(load_as<T>(in[j][I]))...);
        for (int k = 0; k < kOutputs; ++k) {
          *reinterpret_cast<Stored*>(out[j][k]) = store_as<Stored>(result(value, k));
        }
      }
    }
  };

  static void launch_all(const ElementwiseProblem& problem, const Scalar* numbers) {
    constexpr auto kBytes = [] {
      std::array<size_t, kOperands> bytes{};
      for (int k = 0; k < kOperands; ++k) {
        bytes[static_cast<size_t>(k)] = k < kOutputs ? sizeof(Stored) : sizeof(Storage);
      }
      return bytes;
    }();
    const Op op(numbers);
    using Problem = ElementwiseProblem;
    launch_parts(
        problem, kBytes.data(), kWidth, kEach,
        [&](const Problem& part, const Problem& packs) {
          return Packed{op, Operands(part, packs)};
        },
        [&](const Problem& part) {
          return Strided{op, Operands(part, part)};
        });
  }
};

// The type in which elements of a type are computed with.
template <typename Storage>
using computed_as_t = std::conditional_t<c10::is_reduced_floating_point_v<Storage>, float, Storage>;

template <template <typename> class Op, typename Storage, size_t... I>
constexpr expression_launch_fn expression_launch(std::index_sequence<I...>) {
  return &ExpressionBody<Op<computed_as_t<Storage>>, Storage, I...>::launch_all;
}

template <template <typename> class Op, typename... Storage>
constexpr CUDAExpressionKernel make_expression_kernel() {
  CUDAExpressionKernel kernel{{&run_expression}};
  ((kernel.launches[static_cast<size_t>(c10::CppTypeToScalarType<Storage>::value)] =
        expression_launch<Op, Storage>(
            std::make_index_sequence<Op<computed_as_t<Storage>>::kInputs>{})),
   ...);
  return kernel;
}

// What an expression is computed for, as in aten/cpu/Expression.h.
template <template <typename> class Op>
inline constexpr CUDAExpressionKernel floating_kernel =
    make_expression_kernel<Op, float, double, Half, BFloat16>();
template <template <typename> class Op>
inline constexpr CUDAExpressionKernel complex_kernel = make_expression_kernel<
    Op, float, double, Half, BFloat16, c10::complex<float>, c10::complex<double>>();
template <template <typename> class Op>
inline constexpr CUDAExpressionKernel numeric_kernel = make_expression_kernel<
    Op, float, double, Half, BFloat16, uint8_t, int8_t, int16_t, int32_t, int64_t>();
template <template <typename> class Op>
inline constexpr CUDAExpressionKernel any_kernel =
    make_expression_kernel<Op, float, double, Half, BFloat16, uint8_t, int8_t, int16_t, int32_t,
                           int64_t, c10::complex<float>, c10::complex<double>>();

// Conditions take bool, too, whose bytes are 0 and 1.
template <template <typename> class Op>
constexpr CUDAExpressionKernel make_truth_kernel() {
  CUDAExpressionKernel kernel = numeric_kernel<Op>;
  kernel.launches[static_cast<size_t>(ScalarType::Bool)] =
      kernel.launches[static_cast<size_t>(ScalarType::Byte)];
  return kernel;
}
template <template <typename> class Op>
inline constexpr CUDAExpressionKernel truth_kernel = make_truth_kernel<Op>();

}  // namespace at::inline oploom_v1::cuda

// Puts a kernel into its stub when the library is loaded.
#define OPLOOM_REGISTER_CUDA_KERNEL(stub, kernel) \
  [[maybe_unused]] const bool stub##_registered = \
      (stub.set_kernel(::c10::DeviceType::CUDA, &kernel), true)
