// The loops of expression operators: see Note [Kernels of expressions] in aten/stubs/Expression.h.
#pragma once

#include <aten/cpu/JoinedRows.h>
#include <aten/cpu/vec/functions.h>
#include <aten/cpu/vec/vec_signs.h>
#include <aten/stubs/Expression.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

using namespace at::vec;

// The end of a row of bools.
template <typename Mask>
OPLOOM_NOINLINE void store_truths(const Mask& mask, bool* target, int64_t count) {
  bool truths[kVecBytes];
  store_truths(mask, truths);
  std::copy_n(truths, count, target);
}
// Stores results, each a Vec or, for several outputs, an array of Vec.
template <typename T>
struct ResultStore {
  using R = Rows<T>;
  static constexpr bool kStoresPairs = true;
  OPLOOM_ALWAYS_INLINE RowStore<T> row(size_t k) const { return {reinterpret_cast<T*>(data[k])}; }
  template <typename Result>
  OPLOOM_ALWAYS_INLINE void operator()(int64_t i, const Result& result, int64_t count) const {
    if constexpr (std::is_same_v<Result, typename R::V>) {
      row(0)(i, result, count);
    } else {
      for (size_t k = 0; k < result.size(); ++k) row(k)(i, result[k], count);
    }
  }
  template <typename Result>
  OPLOOM_ALWAYS_INLINE void pair(int64_t i, const Result& first, const Result& second) const {
    if constexpr (std::is_same_v<Result, typename R::V>) {
      row(0).pair(i, first, second);
    } else {
      for (size_t k = 0; k < first.size(); ++k) row(k).pair(i, first[k], second[k]);
    }
  }
  char* const* data;
};

// Whether the functions of an expression have a short form for results of 16 bits.
template <typename F>
inline constexpr bool kShortForms = false;
template <typename F>
requires(F::kShortForms) inline constexpr bool kShortForms<F> = kHasScale<Vec<float>>;

// `op` for results that are rounded to T.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE auto rounded_to(const F& op) {
  if constexpr (kShortForms<F>) {
    return [op](const auto&... x) OPLOOM_ALWAYS_INLINE_LAMBDA { return op(kRoundedTo<T>, x...); };
  } else {
    return of_any(op);
  }
}

// The loop of `op`, a function of Vec<T>; for 16-bit floats of Vec<float>.
template <typename T, typename F, typename Store, size_t... I, typename Length>
OPLOOM_ALWAYS_INLINE void expression_loop(char* const* data, int64_t n, uint32_t repeated,
                                          const F& op, std::index_sequence<I...> inputs,
                                          const Store& store, Length length) {
  const T* in[] = {reinterpret_cast<const T*>(data[F::kOutputs + I])..., nullptr};
  repeated >>= F::kOutputs;
  if constexpr (!std::is_same_v<Length, SingleRow>) {
    for_each_joined_vec<T>(n, rounded_to<T>(op), in, inputs, store, repeated, length);
  } else if constexpr (c10::is_reduced_floating_point_v<T>) {
    // Without short forms one at a time, or a pair: these loops are short, and there are many.
    using R = Rows<T>;
    constexpr int64_t kStep = R::size();
    constexpr bool kPairs = kTakesPairs<T, Store>;
    constexpr int64_t kTogether = kShortForms<F> ? kComputedTogether<F> : kPairs ? 2 : 1;
    constexpr size_t kInputs = sizeof...(I);
    const auto f = rounded_to<T>(op);
    int64_t i = 0;
    for (; i + kTogether * kStep <= n; i += kTogether * kStep) {
      const auto results = compute_together<kTogether, kPairs>(in, i, repeated, f, inputs);
      store_together<kPairs>(results, i, kStep, store);
    }
    for (; i < n; i += kStep) {
      const int64_t count = std::min(n - i, kStep);
      const auto load = [&](const T* row) OPLOOM_ALWAYS_INLINE_LAMBDA {
        return kTogether > 1 && count == kStep ? R::load(row) : R::load(row, count);
      };
      store(i, f(load(row_at<kInputs>(in, I, i, repeated))...), count);
    }
  } else if constexpr (kTwoForms<F>) {
    for_each_vec<T>(n, op, in, inputs, store, repeated);
  } else {
    for_each_vec<T>(n, of_any(op), in, inputs, store, repeated);
  }
}

// The same; what gives a mask is stored as bools.
template <typename T, typename F, size_t... I, typename Length = SingleRow>
OPLOOM_ALWAYS_INLINE void expression_row(char* const* data, int64_t n, uint32_t repeated,
                                         const F& op, std::index_sequence<I...> inputs,
                                         Length length = {}) {
  using V = typename Rows<T>::V;
  const auto value_of = [](auto) { return V(); };
  using Result = decltype(of_any(op)(value_of(I)...));
  if constexpr (std::is_same_v<Result, typename V::Mask>) {
    bool* out = reinterpret_cast<bool*>(data[0]);
    expression_loop<T>(
        data, n, repeated, op, inputs,
        [out](int64_t i, const Result& mask, int64_t count) OPLOOM_ALWAYS_INLINE_LAMBDA {
          count == Rows<T>::size() ? store_truths(mask, out + i)
                                   : store_truths(mask, out + i, count);
        },
        length);
  } else {
    expression_loop<T>(data, n, repeated, op, inputs, ResultStore<T>{data}, length);
  }
}

template <typename T, typename F>
OPLOOM_ALWAYS_INLINE void expression_rows(char* const* data, const int64_t* steps, int64_t n,
                                          int64_t rows, uint32_t repeated, const F& op) {
  const auto compute = [&op](char* const* row, int64_t count, uint32_t repeats,
                             auto... length) OPLOOM_ALWAYS_INLINE_LAMBDA {
    expression_row<T>(row, count, repeats, op, std::make_index_sequence<F::kInputs>{}, length...);
  };
  row_by_row<kRepeatsOf<T, F, F::kInputs>, F::kOutputs + F::kInputs>(compute)(data, steps, n, rows,
                                                                              repeated);
}

// Those of `Op<T>`, which is made from the operator's numbers.
template <template <typename> class Op, typename T>
void expression_rows(char* const* data, const int64_t* steps, int64_t n, int64_t rows,
                     uint32_t repeated, const Scalar* numbers) {
  expression_rows<T>(data, steps, n, rows, repeated, Op<c10::opmath_type<T>>(numbers));
}

// Expressions up to this cost have loops of their own for 16-bit floats: to convert rows before and
// after takes as long as they do. So do those of functions with short forms.
inline constexpr int kCostOfConversions = 10;

template <template <typename> class Op, typename... T>
constexpr ExpressionKernel make_expression_kernel() {
  ExpressionKernel kernel{&run_expression};
  constexpr int kCheap = 5;
  kernel.waits = Op<float>::kCost <= kCheap;
  const auto add = [&]<typename U>(U) {
    kernel.add(c10::CppTypeToScalarType<U>::value, &expression_rows<Op, U>,
               kRepeatsOf<U, Op<float>, Op<float>::kInputs>);
  };
  (add(T()), ...);
  if constexpr (requires { Op<float>::kSigns; }) {
    // Both kinds have the sign in the same place.
    for (ScalarType dtype : {ScalarType::Half, ScalarType::BFloat16}) {
      kernel.add(dtype, &expression_rows<Op, Signed16>,
                 kRepeatsOf<Signed16, Op<float>, Op<float>::kInputs>);
    }
  } else if constexpr (Vec<float>::kInRegister &&
                       (Op<float>::kCost <= kCostOfConversions || kShortForms<Op<float>>)) {
    add(Half());
    add(BFloat16());
  }
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
  kernel.add(ScalarType::Bool, &expression_rows<Op, uint8_t>,
             kRepeatsOf<uint8_t, Op<float>, Op<float>::kInputs>);
  return kernel;
}
template <template <typename> class Op>
inline constexpr ExpressionKernel truth_kernel = make_truth_kernel<Op>();

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
