// cpu_kernel and cpu_kernel_vec: pointwise kernels from a function of one element, or of a Vec.
#pragma once

#include <aten/core/Dispatch.h>
#include <aten/cpu/JoinedRows.h>
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
// element, so that an element's result does not depend on where it lies: the end of a row is filled
// up. Functions must therefore accept any value (0 or 1 fills up) without a trap.
//
// Both see dense rows only; see Note [Dense rows]. A function that computes for longer than memory
// takes to be read says kWaits = false; two Vecs of it are then computed side by side.

// Note [Bools are bytes]
// A loop over bool runs one element at a time: GCC does not turn it into vector instructions. The
// bytes of bools are 0 and 1, and cpu_kernel_vec<uint8_t> computes with them.

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

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
OPLOOM_ALWAYS_INLINE void dense_row(char* const* data, int64_t n, F& f, std::index_sequence<I...>) {
  using Traits = function_traits<F>;
  using R = typename Traits::result_type;
  R* out = reinterpret_cast<R*>(data[0]);
  const auto in = std::make_tuple(
      reinterpret_cast<const std::tuple_element_t<I, typename Traits::arguments>*>(data[I + 1])...);
  OPLOOM_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) out[i] = f(std::get<I>(in)[i]...);
}

template <bool kWaits = true, typename F>
void cpu_kernel(TensorIteratorBase& iter, F f) {
  constexpr int arity = function_traits<F>::arity;
  const auto row = [&f](char* const* data, int64_t n, uint32_t) {
    dense_row(data, n, f, std::make_index_sequence<arity>{});
  };
  at::detail::for_each_dense_row(iter, arity + 1, row, at::detail::Repeats::No, kWaits);
}

// ---- A Vec at a time ----

// A copy of the function: what is stored might be a number of it otherwise. `length`: see
// for_each_joined_vec().
template <typename T, typename F, size_t... I, typename Length = SingleRow>
OPLOOM_ALWAYS_INLINE void dense_vec_row(char* const* data, int64_t n, uint32_t repeated, const F f,
                                        std::index_sequence<I...> inputs, Length length = {}) {
  const T* in[] = {reinterpret_cast<const T*>(data[I + 1])..., nullptr};
  const vec::RowStore<T> store{reinterpret_cast<T*>(data[0])};
  for_each_joined_vec<T>(n, f, in, inputs, store, repeated >> 1, length);
}

template <typename V, typename F, typename... Before>
constexpr int vec_arity() {
  if constexpr (std::is_invocable_v<F&, Before...>) {
    return 0;
  } else if constexpr (std::is_invocable_v<F&, Before..., V>) {
    return 1;
  } else if constexpr (std::is_invocable_v<F&, Before..., V, V>) {
    return 2;
  } else {
    static_assert(std::is_invocable_v<F&, Before..., V, V, V>);
    return 3;
  }
}

template <typename T, bool kWaits = true, typename F>
void cpu_kernel_vec(TensorIteratorBase& iter, F f) {
  using V = typename vec::Rows<T>::V;
  constexpr int arity = [] {
    if constexpr (vec::kTwoForms<F>) {
      return vec_arity<V, F, const vec::Any&>();
    } else {
      return vec_arity<V, F>();
    }
  }();
  const auto function = [&f] {
    if constexpr (kWaits || vec::kTwoForms<F>) {
      return f;
    } else {
      return vec::Long<F>{f};
    }
  }();
  const auto row = [&function](char* const* data, int64_t n, uint32_t repeated, auto... length) {
    dense_vec_row<T>(data, n, repeated, function, std::make_index_sequence<arity>{}, length...);
  };
  constexpr bool waits = kWaits && !vec::kTwoForms<F>;
  constexpr auto repeats = kRepeatsOf<T, decltype(function), arity>;
  if constexpr (V::kInRegister) {
    at::detail::for_each_dense_row(iter, arity + 1, row_by_row<repeats, arity + 1>(row), repeats,
                                   waits);
  } else {
    at::detail::for_each_dense_row(iter, arity + 1, row, repeats, waits);
  }
}

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
