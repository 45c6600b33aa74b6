// Vec<T>: numbers computed together, by the instructions of the set being compiled for.
#pragma once

#include <aten/cpu/vec/math.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#if !defined(CPU_CAPABILITY_AVX512) && !defined(CPU_CAPABILITY_AVX2)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

template <typename T>
Vec<float> load_as_float(const T* source) {
  alignas(kVecBytes) float buffer[Vec<float>::size()];
  for (int i = 0; i < Vec<float>::size(); ++i) buffer[i] = static_cast<float>(source[i]);
  return Vec<float>::loadu(buffer);
}
template <typename T>
OPLOOM_NOINLINE Vec<float> load_as_float(const T* source, int64_t count) {
  alignas(kVecBytes) float buffer[Vec<float>::size()] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = static_cast<float>(source[i]);
  return Vec<float>::loadu(buffer);
}
template <typename T>
void store_from_float(T* target, Vec<float> value) {
  for (int i = 0; i < Vec<float>::size(); ++i) target[i] = static_cast<T>(value[i]);
}

// The next eight of the running sums of floats or doubles, in double; `sum` is the last of them, in
// every lane. Neighbours are added up first, each to the one before, pairs to pairs and four to
// four: that takes fewer steps than one after the other.
template <typename T>
void sum_eight(const T* in, T* out, Vec<double>& sum) {
  double x[8];
  for (int i = 0; i < 8; ++i) x[i] = in[i];
  for (int step : {1, 2}) {
    for (int i = 7; i >= step; --i) {
      if (i % 4 >= step) x[i] += x[i - step];
    }
  }
  for (int i = 4; i < 8; ++i) x[i] += x[3];
  for (int i = 0; i < 8; ++i) out[i] = static_cast<T>(x[i] + sum[0]);
  sum = sum + Vec<double>(x[7]);
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

#if !defined(CPU_CAPABILITY_AVX512)
// The first `count` of the numbers.
template <typename T>
OPLOOM_NOINLINE void store_from_float(T* target, Vec<float> value, int64_t count) {
  T buffer[Vec<float>::size()];
  store_from_float(buffer, value);
  std::memcpy(static_cast<void*>(target), buffer, static_cast<size_t>(count) * sizeof(T));
}
#endif

// GCC: no element of the output depends on another iteration; in-place calls would otherwise be
// taken for a dependence and run one element at a time.
#if defined(__clang__)
#define OPLOOM_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define OPLOOM_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

// Note [Pairs of vectors]
// Two neighbouring Vecs of 16-bit floats may be loaded in another order than their own, if they are
// stored in it, too. With AVX2 and AVX512, bfloat16 are the even ones of two Vecs' numbers, which a
// shift makes floats of, and the odd ones, which a mask does; one instruction puts their results
// together. In their order each Vec takes shuffles to be loaded and to be stored, and a Zen does
// two of these in a cycle (of 64 bytes one): with AVX2, to add up two rows takes 1.6 times as long.

// Rows of T, computed in opmath_type<T>: the 16-bit floats are converted on the way.
template <typename T>
struct Rows {
  using V = Vec<T>;
  // Whether pairs have an order of their own.
  static constexpr bool kPairs = false;
  static constexpr int size() { return V::size(); }
  OPLOOM_ALWAYS_INLINE static V load(const T* source) { return V::loadu(source); }
  OPLOOM_ALWAYS_INLINE static V load(const T* source, int64_t count) {
    return V::loadu(source, count);
  }
  OPLOOM_ALWAYS_INLINE static void store(T* target, const V& value) { value.storeu(target); }
  OPLOOM_ALWAYS_INLINE static void store(T* target, const V& value, int64_t count) {
    value.storeu(target, count);
  }
  // Vec k, 0 or 1, of the pair at `source`; results of a pair.
  OPLOOM_ALWAYS_INLINE static V load_of_pair(const T* source, int64_t k) {
    return load(source + k * size());
  }
  OPLOOM_ALWAYS_INLINE static void store_pair(T* target, const V& first, const V& second) {
    store(target, first);
    store(target + size(), second);
  }
};

template <typename T>
requires(c10::is_reduced_floating_point_v<T>) struct Rows<T> {
  using V = Vec<float>;
  static constexpr bool kPairs = requires(const T* source) { even_numbers(source); };
  static constexpr int size() { return V::size(); }
  OPLOOM_ALWAYS_INLINE static V load(const T* source) { return load_as_float(source); }
  OPLOOM_ALWAYS_INLINE static V load(const T* source, int64_t count) {
    return load_as_float(source, count);
  }
  OPLOOM_ALWAYS_INLINE static void store(T* target, const V& value) {
    store_from_float(target, value);
  }
  OPLOOM_ALWAYS_INLINE static void store(T* target, const V& value, int64_t count) {
    store_from_float(target, value, count);
  }
  OPLOOM_ALWAYS_INLINE static V load_of_pair(const T* source, int64_t k) {
    if constexpr (kPairs) {
      return k == 0 ? even_numbers(source) : odd_numbers(source);
    } else {
      return load(source + k * size());
    }
  }
  OPLOOM_ALWAYS_INLINE static void store_pair(T* target, const V& first, const V& second) {
    if constexpr (kPairs) {
      store_numbers(target, first, second);
    } else {
      store(target, first);
      store(target + size(), second);
    }
  }
};

// Stores results from `out` on, as elements of T.
template <typename T>
struct RowStore {
  using R = Rows<T>;
  static constexpr bool kStoresPairs = true;
  OPLOOM_ALWAYS_INLINE void operator()(int64_t i, const typename R::V& value, int64_t count) const {
    count == R::size() ? R::store(out + i, value) : R::store(out + i, value, count);
  }
  OPLOOM_ALWAYS_INLINE void pair(int64_t i, const typename R::V& first,
                                 const typename R::V& second) const {
    R::store_pair(out + i, first, second);
  }
  T* out;
};
// Whether a loop over rows of T that stores its results by `Store` takes pairs of vectors.
template <typename T, typename Store>
inline constexpr bool kTakesPairs = Rows<T>::kPairs&& requires {
  Store::kStoresPairs;
};

// Whether loops over so many rows read a pair of vectors again and again where one number stands
// for a whole row. Those that the compiler has to vectorise do not.
template <typename T, size_t kInputs>
inline constexpr bool kReadsRepeated = kInputs > 1 && Rows<T>::size() > 1;

// Row k of kInputs at element i. Bit k of `repeated` is set where it is such a pair.
template <size_t kInputs, typename T>
OPLOOM_ALWAYS_INLINE const T* row_at(const T* const* in, size_t k, int64_t i, uint32_t repeated) {
  if constexpr (kReadsRepeated<T, kInputs>) i &= int64_t{repeated >> k & 1} - 1;
  return in[k] + i;
}

// How many Vecs a loop computes side by side, which hides the latency of the longer functions.
template <typename F>
inline constexpr int64_t kComputedTogether = 2;
#if defined(CPU_CAPABILITY_AVX512)
template <typename F>
requires(F::kCost >= 12 &&
         !requires { F::kManyConstants; }) inline constexpr int64_t kComputedTogether<F> = 4;
#endif

// Whether a loop of two stores each of them as soon as it is there. Two stores side by side, if
// each is of a Vec across two cache lines, take twice as long as those that a load parts; functions
// that are long keep them apart anyway, and are computed side by side.
template <typename F>
inline constexpr bool kInTurn = true;
template <typename F>
requires(F::kCost > 5) inline constexpr bool kInTurn<F> = false;
// A function that is long.
template <typename F>
struct Long : F {
  static constexpr int kCost = 10;
};

// f of so many Vecs, from element i on, of each row; of pairs with `kPairs`. Where a number stands
// for a whole row, two Vecs of it are there.
template <int64_t kVecs, bool kPairs, typename T, typename F, size_t... I>
OPLOOM_ALWAYS_INLINE auto compute_together(const T* const* in, int64_t i, uint32_t repeated, F&& f,
                                           std::index_sequence<I...>) {
  using R = Rows<T>;
  const auto value = [&](int64_t v) OPLOOM_ALWAYS_INLINE_LAMBDA {
    const int64_t pair = i + v / 2 * 2 * R::size();
    const auto load = [&](const T* row) OPLOOM_ALWAYS_INLINE_LAMBDA {
      return kPairs ? R::load_of_pair(row, v % 2) : R::load(row + v % 2 * R::size());
    };
    return f(load(row_at<sizeof...(I)>(in, I, pair, repeated))...);
  };
  // No loop, which GCC would leave one where its body is long.
  return [&]<int64_t... v>(std::integer_sequence<int64_t, v...>) OPLOOM_ALWAYS_INLINE_LAMBDA {
    return std::array<decltype(value(0)), kVecs>{value(v)...};
  }
  (std::make_integer_sequence<int64_t, kVecs>());
}

// Stores these results.
template <bool kPairs, typename Results, typename Store>
OPLOOM_ALWAYS_INLINE void store_together(const Results& results, int64_t i, int64_t step,
                                         const Store& store) {
  constexpr size_t kEach = kPairs ? 2 : 1;
  for (size_t v = 0; v < results.size(); v += kEach, i += kEach * step) {
    if constexpr (kPairs) {
      store.pair(i, results[v], results[v + 1]);
    } else {
      store(i, results[v], step);
    }
  }
}

// Whether a loop of two inputs over rows of T reads an element that stands for a whole row once,
// into a register, and is made for each of them. (Products of bytes took 1.1 times as long so.)
template <typename T, typename F, size_t kInputs>
constexpr bool reads_numbers() {
  if (kInputs != 2 || !std::is_arithmetic_v<T> || sizeof(T) == 1) return false;
  return Rows<T>::V::kInRegister && kInTurn<F> && !requires { F::kTwoForms; };
}
template <typename T, typename F, size_t kInputs>
inline constexpr bool kReadsNumbers = reads_numbers<T, F, kInputs>();

// Such a loop of f(a vector of the first row, one of the second), for kReadsNumbers.
template <typename T, typename F, typename Store>
OPLOOM_ALWAYS_INLINE void for_each_vec_of_two(int64_t n, const F& f, const T* a, const T* b,
                                              const Store& store, uint32_t repeated) {
  using V = typename Rows<T>::V;
  constexpr int64_t kStep = V::size();
  const auto run = [&](const auto& compute) OPLOOM_ALWAYS_INLINE_LAMBDA {
    int64_t i = 0;
    for (; i + 2 * kStep <= n; i += 2 * kStep) {
      store(i, compute(i), kStep);
      store(i + kStep, compute(i + kStep), kStep);
    }
    if (i + kStep <= n) {
      store(i, compute(i), kStep);
      i += kStep;
    }
    if (i < n) store(i, compute(i, n - i), n - i);
  };
  const auto load = [](const T* row, auto... count)
                        OPLOOM_ALWAYS_INLINE_LAMBDA { return Rows<T>::load(row, count...); };
  if (repeated == 0) [[likely]] {
    run([&](int64_t i, auto... count) OPLOOM_ALWAYS_INLINE_LAMBDA {
      return f(load(a + i, count...), load(b + i, count...));
    });
  } else if (repeated == 1) {
    const V number(*a);
    run([&](int64_t i, auto... count)
            OPLOOM_ALWAYS_INLINE_LAMBDA { return f(number, load(b + i, count...)); });
  } else if (repeated == 2) {
    const V number(*b);
    run([&](int64_t i, auto... count)
            OPLOOM_ALWAYS_INLINE_LAMBDA { return f(load(a + i, count...), number); });
  } else {
    const auto result = f(V(*a), V(*b));
    run([&](int64_t, auto...) OPLOOM_ALWAYS_INLINE_LAMBDA { return result; });
  }
}

// The loop over rows of n numbers: calls store(i, f(numbers at i of each row of `in`...), count)
// for each vector. The end of a row is filled up, so that an element's result does not depend on
// its place. For `repeated` see row_at(), or kReadsNumbers.
template <typename T, typename F, typename Store, size_t... I>
OPLOOM_ALWAYS_INLINE void for_each_vec(int64_t n, const F& f, const T* const* in,
                                       std::index_sequence<I...>, const Store& store,
                                       uint32_t repeated = 0) {
  using R = Rows<T>;
  constexpr int64_t kStep = R::size();
  constexpr size_t kInputs = sizeof...(I);
  int64_t i = 0;
  if constexpr (kReadsNumbers<T, F, kInputs>) {
    for_each_vec_of_two<T>(n, f, in[0], in[1], store, repeated);
  } else if constexpr (R::V::kInRegister) {
    constexpr int64_t kTogether = kComputedTogether<F>;
    constexpr bool kPairs = kTakesPairs<T, Store>;
    for (; i + kTogether * kStep <= n; i += kTogether * kStep) {
      if constexpr (kInTurn<F> && kTogether == 2 && !kPairs) {
        const auto compute = [&](int64_t past) OPLOOM_ALWAYS_INLINE_LAMBDA {
          store(i + past, f(R::load(row_at<kInputs>(in, I, i, repeated) + past)...), kStep);
        };
        compute(0);
        compute(kStep);
      } else {
        const auto results =
            compute_together<kTogether, kPairs>(in, i, repeated, f, std::index_sequence<I...>{});
        store_together<kPairs>(results, i, kStep, store);
      }
    }
    const auto compute_end = [&](int64_t count) OPLOOM_ALWAYS_INLINE_LAMBDA {
      store(i, f(R::load(row_at<kInputs>(in, I, i, repeated), count)...), count);
    };
    if constexpr (kInTurn<F> && kTogether == 2 && !kPairs) {
      if (i + kStep <= n) {
        store(i, f(R::load(row_at<kInputs>(in, I, i, repeated))...), kStep);
        i += kStep;
      }
      if (i < n) compute_end(n - i);
    } else {
      for (; i < n; i += kStep) compute_end(std::min(n - i, kStep));
    }
  } else if constexpr (kStep == 1) {
    // The compiler vectorises what it can.
    OPLOOM_INDEPENDENT_ITERATIONS
    for (; i < n; ++i) store(i, f(R::load(in[I] + i)...), 1);
  } else {
    // Complex numbers, whose functions are long: the loop has them once.
    for (; i < n; i += kStep) {
      const int64_t count = std::min(n - i, kStep);
      const auto load = [&](const T* row) OPLOOM_ALWAYS_INLINE_LAMBDA {
        return count == kStep ? R::load(row) : R::load(row, count);
      };
      store(i, f(load(row_at<kInputs>(in, I, i, repeated))...), count);
    }
  }
}

// What follows does not delay the computation: in code that comes after a test GCC keeps few
// constants in registers. Not volatile, which would be a barrier to the order of instructions.
template <typename Result>
OPLOOM_ALWAYS_INLINE void compute_here(Result& result) {
  if constexpr (requires { result.data(); }) {
    for (auto& one : result) compute_here(one);
  } else if constexpr (requires { result.isnan(); }) {
    using Lanes [[gnu::vector_size(sizeof(Result))]] = float;
    auto lanes = std::bit_cast<Lanes>(result);
    asm("" : "+x"(lanes));
    result = std::bit_cast<Result>(lanes);
  }
}

// A function f(usual, numbers...) that takes a Usual, or kAny; see Note [Usual arguments].
template <typename F>
struct TwoForms : F {
  static constexpr bool kTwoForms = true;
};
template <typename F>
TwoForms(F) -> TwoForms<F>;

// Whether f is such a function.
template <typename F>
inline constexpr bool kTwoForms = false;
template <typename F>
requires(F::kTwoForms) inline constexpr bool kTwoForms<F> = true;

// f as a function of the numbers alone, in the form for any. One that has short forms alone is told
// which to take, too; see Note [Short forms].
template <typename F>
struct OfAny {
  F f;
  template <typename... V>
  OPLOOM_ALWAYS_INLINE auto operator()(const V&... x) const {
    return f(kAny, x...);
  }
};
template <typename F>
inline constexpr int64_t kComputedTogether<OfAny<F>> = kComputedTogether<F>;
template <typename F>
inline constexpr bool kInTurn<OfAny<F>> = kInTurn<F>;
template <typename F>
OPLOOM_ALWAYS_INLINE auto of_any(const F& f) {
  if constexpr (kTwoForms<F> || requires { F::kShortForms; }) {
    return OfAny<F>{f};
  } else {
    return f;
  }
}

// 0 in the first `count` lanes and 1, which is usual, in the others.
template <typename V>
OPLOOM_ALWAYS_INLINE V ones_behind(int64_t count) {
  using T = typename V::value_type;
  static constexpr auto kSteps = [] {
    std::array<T, 2 * V::size()> steps{};
    std::fill(steps.begin() + V::size(), steps.end(), T(1));
    return steps;
  }();
  return V::loadu(kSteps.data() + V::size() - count);
}

// Elements i to `end` of the loop below, whatever they are. Its arguments are copies, since what
// the loop keeps in registers must not have an address; an array of the rows would be loaded two at
// a time, for which the processor waits where they have just been stored one by one.
template <typename T, typename F, typename Store, size_t... I, typename... Row>
OPLOOM_NOINLINE void for_any_vec(int64_t i, int64_t end, F f, std::index_sequence<I...>,
                                 Store store, uint32_t repeated, Row... rows) {
  using R = Rows<T>;
  constexpr int64_t kStep = R::size();
  static_assert(sizeof...(rows) > 0);
  const T* in[] = {rows...};
  constexpr int64_t kTogether = kComputedTogether<F>;
  if constexpr (kTogether > 2) {
    // What is left of a row by a loop of four. That loop has no register to spare for one of two.
    if (end - i >= 2 * kStep && end - i < kTogether * kStep) {
      Usual<typename R::V> usual;
      const auto first = f(usual, R::load(row_at<sizeof...(I)>(in, I, i, repeated))...);
      const auto second = f(usual, R::load(row_at<sizeof...(I)>(in, I, i, repeated) + kStep)...);
      if (usual.were()) {
        store(i, first, kStep);
        store(i + kStep, second, kStep);
        i += 2 * kStep;
      }
    }
  }
  for (; i < end; i += kStep) {
    const int64_t count = std::min(end - i, kStep);
    const auto load = [&](const T* row) OPLOOM_ALWAYS_INLINE_LAMBDA {
      if (count == kStep) return R::load(row);
      return R::load(row, count) | ones_behind<typename R::V>(count);
    };
    store(i, f(kAny, load(row_at<sizeof...(I)>(in, I, i, repeated))...), count);
  }
}

template <typename T, typename F, typename Store, size_t... I>
requires(kTwoForms<F>) OPLOOM_ALWAYS_INLINE
    void for_each_vec(int64_t n, const F& f, const T* const* in, std::index_sequence<I...> inputs,
                      const Store& store, uint32_t repeated = 0) {
  using R = Rows<T>;
  constexpr int64_t kStep = R::size();
  constexpr int64_t kTogether = kComputedTogether<F>;
  if constexpr (R::V::kInRegister) {
    constexpr bool kPairs = kTakesPairs<T, Store>;
    constexpr int64_t kFew = 4 * kStep;
    int64_t others = kFew;  // so many are left over where some are not usual
    for (int64_t i = 0; i < n;) {
      const int64_t start = i;
      for (; i + kTogether * kStep <= n; i += kTogether * kStep) {
        Usual<typename R::V> usual;
        auto results = compute_together<kTogether, kPairs>(
            in, i, repeated,
            [&](const auto&... x) OPLOOM_ALWAYS_INLINE_LAMBDA { return f(usual, x...); }, inputs);
        compute_here(results);
        if (!usual.were()) [[unlikely]]
          break;
        store_together<kPairs>(results, i, kStep, store);
      }
      if (i == n) break;
      others = i == start ? 2 * others : kFew;
      const int64_t end = std::min(n, i + others);
      for_any_vec<T>(i, end, f, inputs, store, repeated, in[I]...);
      i = end;
    }
  } else {
    for_each_vec<T>(n, of_any(f), in, inputs, store, repeated);
  }
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY
