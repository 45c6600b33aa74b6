// The loops of expression operators: see Note [Kernels of expressions] in aten/stubs/Expression.h.
#pragma once

#include <aten/cpu/vec/functions.h>
#include <aten/stubs/Expression.h>

#include <array>
#include <tuple>
#include <type_traits>

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

using namespace at::vec;

// A result is a Vec, a mask, which is stored as bools, or an array of Vec, for several outputs.
template <typename V>
OPLOOM_ALWAYS_INLINE void store_result(char* target, int64_t i, const V& value, int64_t count) {
  using T = typename V::value_type;
  T* out = reinterpret_cast<T*>(target) + i;
  count == V::size() ? value.storeu(out) : value.storeu(out, count);
}
template <typename V>
OPLOOM_ALWAYS_INLINE void store_truth(char* target, int64_t i, const typename V::Mask& mask,
                                      int64_t count) {
  using T = typename V::value_type;
  alignas(kVecBytes) T numbers[V::size()];
  select(mask, V(T(1)), V(T(0))).storeu(numbers);
  bool* out = reinterpret_cast<bool*>(target) + i;
  if (count == V::size()) {
    for (int k = 0; k < V::size(); ++k) out[k] = numbers[k] != T(0);
  } else {
    for (int64_t k = 0; k < count; ++k) out[k] = numbers[k] != T(0);
  }
}
template <typename V, typename Result>
OPLOOM_ALWAYS_INLINE void store_results(char** data, int64_t i, const Result& result,
                                        int64_t count) {
  if constexpr (std::is_same_v<Result, V>) {
    store_result(data[0], i, result, count);
  } else if constexpr (std::is_same_v<Result, typename V::Mask>) {
    store_truth<V>(data[0], i, result, count);
  } else {
    for (size_t k = 0; k < result.size(); ++k) store_result(data[k], i, result[k], count);
  }
}

// The loop of `Op<T>`, a function of Vec<T> that is made from the operator's numbers.
template <template <typename> class Op, typename T, size_t... I>
OPLOOM_ALWAYS_INLINE void expression_row(char** data, int64_t n, const Scalar* numbers,
                                         std::index_sequence<I...>) {
  const Op<T> op(numbers);
  const T* in[] = {reinterpret_cast<const T*>(data[Op<T>::kOutputs + I])..., nullptr};
  for_each_vec<T>(n, op, in, std::index_sequence<I...>{},
                  [data](int64_t i, const auto& result, int64_t count) OPLOOM_ALWAYS_INLINE_LAMBDA {
                    store_results<Vec<T>>(data, i, result, count);
                  });
}

template <template <typename> class Op, typename T>
void expression_row(char** data, int64_t n, const Scalar* numbers) {
  expression_row<Op, T>(data, n, numbers, std::make_index_sequence<Op<T>::kInputs>{});
}

template <template <typename> class Op, typename... T>
constexpr ExpressionKernel make_expression_kernel() {
  ExpressionKernel kernel{&run_expression};
  ((kernel.rows[static_cast<size_t>(c10::CppTypeToScalarType<T>::value)] = &expression_row<Op, T>),
   ...);
  return kernel;
}

// What an expression is computed for.
template <template <typename> class Op>
inline constexpr ExpressionKernel floating_kernel = make_expression_kernel<Op, float, double>();
template <template <typename> class Op>
inline constexpr ExpressionKernel complex_kernel =
    make_expression_kernel<Op, float, double, c10::complex<float>, c10::complex<double>>();
template <template <typename> class Op>
inline constexpr ExpressionKernel numeric_kernel =
    make_expression_kernel<Op, float, double, uint8_t, int8_t, int16_t, int32_t, int64_t>();
template <template <typename> class Op>
inline constexpr ExpressionKernel any_kernel =
    make_expression_kernel<Op, float, double, uint8_t, int8_t, int16_t, int32_t, int64_t,
                           c10::complex<float>, c10::complex<double>>();

// Conditions take bool, too, whose bytes are 0 and 1.
template <template <typename> class Op>
constexpr ExpressionKernel make_truth_kernel() {
  ExpressionKernel kernel = numeric_kernel<Op>;
  kernel.rows[static_cast<size_t>(ScalarType::Bool)] = &expression_row<Op, uint8_t>;
  return kernel;
}
template <template <typename> class Op>
inline constexpr ExpressionKernel truth_kernel = make_truth_kernel<Op>();

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
