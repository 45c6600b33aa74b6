// cpu_kernel and cpu_kernel_vec: pointwise kernels from a function of one element, or of a Vec.
#pragma once

#include <aten/core/Dispatch.h>
#include <aten/cpu/vec/vec.h>
#include <aten/iterator/TensorIterator.h>
#include <c10/core/Scalar.h>

#include <tuple>
#include <type_traits>
#include <utility>

// Note [Two kinds of kernels]
//
//   cpu_kernel(iter, [](int64_t a, int64_t b) -> bool { return a < b; });
//
// calls the function for each element. Argument and result types are the function's own and must be
// the dtypes of the operands. The compiler vectorises the loop where it can.
//
//   cpu_kernel_vec<float>(iter, [](auto a, auto b) { return maximum(a, b); });
//
// calls the function with Vec<float>: for Half and BFloat16 the elements are converted to
// Vec<float> and back. All operands have the one dtype given. The function is used for every
// element, whatever the strides, so that an element's result does not depend on where it lies: rows
// with other strides are gathered, and the end of a row is filled up. Functions must therefore
// accept any value (0 is used to fill up) without a trap.

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

// GCC: no element of the output depends on another iteration; in-place calls would otherwise be
// taken for a dependence and run one element at a time.
#if defined(__clang__)
#define OPLOOM_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define OPLOOM_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

template <typename F>
struct function_traits : function_traits<decltype(&std::remove_reference_t<F>::operator())> {};
template <typename C, typename R, typename... A>
struct function_traits<R (C::*)(A...) const> {
  using result_type = R;
  using arguments = std::tuple<std::remove_cvref_t<A>...>;
  static constexpr int arity = sizeof...(A);
};
template <typename C, typename R, typename... A>
struct function_traits<R (C::*)(A...)> : function_traits<R (C::*)(A...) const> {};

// ---- One element at a time ----

template <typename F, size_t... I>
void strided_row(char** data, const int64_t* strides, int64_t n, F& f, std::index_sequence<I...>) {
  using Traits = function_traits<F>;
  using R = typename Traits::result_type;
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<R*>(data[0] + i * strides[0]) =
        f(*reinterpret_cast<const std::tuple_element_t<I, typename Traits::arguments>*>(
            data[I + 1] + i * strides[I + 1])...);
  }
}

// All operands are dense.
template <typename F, size_t... I>
void dense_row(char** data, int64_t n, F& f, std::index_sequence<I...>) {
  using Traits = function_traits<F>;
  using R = typename Traits::result_type;
  R* out = reinterpret_cast<R*>(data[0]);
  const auto in = std::make_tuple(
      reinterpret_cast<const std::tuple_element_t<I, typename Traits::arguments>*>(data[I + 1])...);
  OPLOOM_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) out[i] = f(std::get<I>(in)[i]...);
}

// Operands are dense, or one element for the whole row: that is repeated in a buffer, and the row
// is taken in pieces as long as the buffer. (A loop for each combination would cost much code.)
template <typename F, size_t... I>
void half_dense_row(char** data, const int64_t* strides, int64_t n, F& f,
                    std::index_sequence<I...> indices) {
  using Arguments = typename function_traits<F>::arguments;
  constexpr int64_t kPiece = 256;
  alignas(64) char buffers[sizeof...(I)][kPiece * 16];
  char* piece[] = {data[0], data[I + 1]...};
  const auto repeat = [&]<typename T>(T*, size_t k) {
    if (strides[k + 1] != 0) return;
    std::fill_n(reinterpret_cast<T*>(buffers[k]), std::min(n, kPiece),
                *reinterpret_cast<const T*>(data[k + 1]));
    piece[k + 1] = buffers[k];
  };
  (repeat(static_cast<std::tuple_element_t<I, Arguments>*>(nullptr), I), ...);
  for (int64_t i = 0; i < n; i += kPiece) {
    dense_row(piece, std::min(kPiece, n - i), f, indices);
    piece[0] += kPiece * strides[0];
    ((piece[I + 1] += kPiece * strides[I + 1]), ...);
  }
}

template <typename F>
void element_row(char** data, const int64_t* strides, int64_t n, F& f) {
  using Traits = function_traits<F>;
  constexpr int arity = Traits::arity;
  constexpr auto indices = std::make_index_sequence<arity>{};
  int dense = 0;
  int fixed = 0;
  [&]<size_t... I>(std::index_sequence<I...>) {
    ((dense += strides[I + 1] ==
               static_cast<int64_t>(sizeof(std::tuple_element_t<I, typename Traits::arguments>))),
     ...);
    ((fixed += strides[I + 1] == 0), ...);
  }
  (indices);
  if (strides[0] == static_cast<int64_t>(sizeof(typename Traits::result_type))) {
    if (dense == arity) return dense_row(data, n, f, indices);
    if (dense + fixed == arity && n >= 16) return half_dense_row(data, strides, n, f, indices);
  }
  strided_row(data, strides, n, f, indices);
}

template <typename F>
void cpu_kernel(TensorIteratorBase& iter, F f, int64_t grain_size = GRAIN_SIZE) {
  constexpr int arity = function_traits<F>::arity;
  OPLOOM_INTERNAL_ASSERT(iter.ntensors() == arity + 1, "the kernel takes ", arity, " inputs, got ",
                         iter.ntensors() - 1);
  iter.for_each(
      [&f](char** base, const int64_t* strides, int64_t size0, int64_t size1) {
        char* data[arity + 1];
        for (int k = 0; k <= arity; ++k) data[k] = base[k];
        for (int64_t row = 0; row < size1; ++row) {
          element_row(data, strides, size0, f);
          for (int k = 0; k <= arity; ++k) data[k] += strides[arity + 1 + k];
        }
      },
      grain_size);
}

// ---- A Vec at a time ----

template <typename T>
OPLOOM_ALWAYS_INLINE typename vec::Rows<T>::V gather(const char* source, int64_t stride,
                                                     int64_t count) {
  alignas(vec::kVecBytes) T buffer[vec::Rows<T>::size()] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = *reinterpret_cast<const T*>(source + i * stride);
  return vec::Rows<T>::load(buffer);
}

template <typename T>
OPLOOM_ALWAYS_INLINE void scatter(char* target, int64_t stride,
                                  const typename vec::Rows<T>::V& value, int64_t count) {
  alignas(vec::kVecBytes) T buffer[vec::Rows<T>::size()];
  vec::Rows<T>::store(buffer, value);
  for (int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(target + i * stride) = buffer[i];
}

template <typename T, typename F, size_t... I>
OPLOOM_ALWAYS_INLINE void dense_vec_row(char** data, int64_t n, F& f, std::index_sequence<I...>) {
  using R = vec::Rows<T>;
  constexpr int64_t kStep = R::size();
  T* out = reinterpret_cast<T*>(data[0]);
  const T* in[] = {reinterpret_cast<const T*>(data[I + 1])...};
  int64_t i = 0;
  // Two at a time hide the latency of the longer functions.
  for (; i + 2 * kStep <= n; i += 2 * kStep) {
    const auto first = f(R::load(in[I] + i)...);
    const auto second = f(R::load(in[I] + i + kStep)...);
    R::store(out + i, first);
    R::store(out + i + kStep, second);
  }
  if (i + kStep <= n) {
    R::store(out + i, f(R::load(in[I] + i)...));
    i += kStep;
  }
  if (i < n) R::store(out + i, f(R::load(in[I] + i, n - i)...), n - i);
}

template <typename T, typename F, size_t... I>
void mixed_vec_row(char** data, const int64_t* strides, int64_t n, F& f,
                   std::index_sequence<I...>) {
  using R = vec::Rows<T>;
  using V = typename R::V;
  constexpr int64_t kStep = R::size();
  constexpr int64_t kSize = sizeof(T);
  // An operand that is one element for the whole row is loaded once.
  const V fixed[] = {strides[I + 1] == 0
                         ? V(static_cast<c10::opmath_type<T>>(*reinterpret_cast<T*>(data[I + 1])))
                         : V(c10::opmath_type<T>(0))...};
  const auto get = [&](int64_t k, int64_t i, int64_t count) -> V {
    const int64_t stride = strides[k + 1];
    if (stride == 0) return fixed[k];
    const char* source = data[k + 1] + i * stride;
    if (stride != kSize) return gather<T>(source, stride, count);
    const T* row = reinterpret_cast<const T*>(source);
    return count == kStep ? R::load(row) : R::load(row, count);
  };
  for (int64_t i = 0; i < n; i += kStep) {
    const int64_t count = std::min(kStep, n - i);
    const V result = f(get(I, i, count)...);
    char* target = data[0] + i * strides[0];
    if (strides[0] != kSize) {
      scatter<T>(target, strides[0], result, count);
    } else if (count == kStep) {
      R::store(reinterpret_cast<T*>(target), result);
    } else {
      R::store(reinterpret_cast<T*>(target), result, count);
    }
  }
}

template <typename V, typename F>
constexpr int vec_arity() {
  if constexpr (std::is_invocable_v<F&>) {
    return 0;
  } else if constexpr (std::is_invocable_v<F&, V>) {
    return 1;
  } else if constexpr (std::is_invocable_v<F&, V, V>) {
    return 2;
  } else {
    static_assert(std::is_invocable_v<F&, V, V, V>);
    return 3;
  }
}

template <typename T, typename F>
void cpu_kernel_vec(TensorIteratorBase& iter, F f, int64_t grain_size = GRAIN_SIZE) {
  constexpr int arity = vec_arity<typename vec::Rows<T>::V, F>();
  constexpr auto indices = std::make_index_sequence<arity>{};
  OPLOOM_INTERNAL_ASSERT(iter.ntensors() == arity + 1, "the kernel takes ", arity, " inputs, got ",
                         iter.ntensors() - 1);
  iter.for_each(
      [&f, indices](char** base, const int64_t* strides, int64_t size0, int64_t size1) {
        char* data[arity + 1];
        bool dense = true;
        for (int k = 0; k <= arity; ++k) {
          data[k] = base[k];
          dense = dense && strides[k] == static_cast<int64_t>(sizeof(T));
        }
        for (int64_t row = 0; row < size1; ++row) {
          if (dense) {
            dense_vec_row<T>(data, size0, f, indices);
          } else {
            mixed_vec_row<T>(data, strides, size0, f, indices);
          }
          for (int k = 0; k <= arity; ++k) data[k] += strides[arity + 1 + k];
        }
      },
      grain_size);
}

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
