// Kernels of sum, prod, mean, max, min, all, any, var, std and norm.
#include <aten/core/Dispatch.h>
#include <aten/cpu/Reduce.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/stubs/ReduceOps.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace at::inline oploom_v1::native {
namespace {

// An operation whose state is one element.
template <typename F, typename T>
struct SimpleOp {
  using Elem = T;
  using Acc = T;
  static T identity() { return F::template identity<T>(); }
  static T chunk(const T* p, int64_t n) { return reduce_chunk<F>(p, n); }
  static T combine(T a, T b) { return F::apply(a, b); }
  struct Columns {
    T acc[kColumns];
    void add(const T* const* rows, int64_t nrows, int64_t n) {
      std::copy(rows[0], rows[0] + n, acc);
      int64_t r = 1;
      for (; r + 4 <= nrows; r += 4) {
        const T *a = rows[r], *b = rows[r + 1], *c = rows[r + 2], *d = rows[r + 3];
        for (int64_t j = 0; j < n; ++j) {
          acc[j] = F::apply(acc[j], F::apply(F::apply(a[j], b[j]), F::apply(c[j], d[j])));
        }
      }
      for (; r < nrows; ++r) {
        const T* a = rows[r];
        for (int64_t j = 0; j < n; ++j) acc[j] = F::apply(acc[j], a[j]);
      }
    }
    void merge(const Columns& other, int64_t n) {
      for (int64_t j = 0; j < n; ++j) acc[j] = F::apply(acc[j], other.acc[j]);
    }
    T get(int64_t j) const { return acc[j]; }
  };
};

// Loaders.
template <typename In>
void load_truth(const char* in, int64_t stride, int64_t n, void* elements, double) {
  auto* out = static_cast<uint8_t*>(elements);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = *reinterpret_cast<const In*>(in + i * stride) != In(0) ? 1 : 0;
  }
}

template <typename T>
auto magnitude(T x) {
  if constexpr (c10::is_complex_v<T>) {
    return std::hypot(x.real(), x.imag());
  } else {
    return std::abs(static_cast<wide_t<T>>(x));
  }
}

enum class NormKind { Count, Sum, Squares, Powers };

template <typename In, typename Elem, NormKind kind>
void load_for_norm(const char* in, int64_t stride, int64_t n, void* elements, double p) {
  auto* out = static_cast<Elem*>(elements);
  for (int64_t i = 0; i < n; ++i) {
    const In x = *reinterpret_cast<const In*>(in + i * stride);
    if constexpr (kind == NormKind::Count) {
      out[i] = x != In(0) ? Elem(1) : Elem(0);
    } else if constexpr (kind == NormKind::Sum) {
      out[i] = magnitude(x);
    } else if constexpr (kind == NormKind::Powers) {
      out[i] = std::pow(magnitude(x), static_cast<Elem>(p));
    } else if constexpr (c10::is_complex_v<In>) {
      out[i] = x.real() * x.real() + x.imag() * x.imag();
    } else {
      const auto v = static_cast<Elem>(x);
      out[i] = v * v;
    }
  }
}

// Writers.
template <typename Acc>
const Acc& as(const ReduceState& state) {
  return reinterpret_cast<const Acc&>(state);
}

template <typename Acc, typename Out>
void store_state(const ReduceState& state, int64_t, char* out, double) {
  *reinterpret_cast<Out*>(out) = static_cast<Out>(as<Acc>(state));
}

template <typename Acc, typename Out>
void store_mean(const ReduceState& state, int64_t count, char* out, double) {
  using real_t = real_part_t<Acc>;
  *reinterpret_cast<Out*>(out) = static_cast<Out>(as<Acc>(state) / Acc(static_cast<real_t>(count)));
}

template <typename Acc, typename Out>
void store_sqrt(const ReduceState& state, int64_t, char* out, double) {
  *reinterpret_cast<Out*>(out) = static_cast<Out>(std::sqrt(as<Acc>(state)));
}

template <typename Acc, typename Out>
void store_root(const ReduceState& state, int64_t, char* out, double p) {
  *reinterpret_cast<Out*>(out) =
      static_cast<Out>(std::pow(as<Acc>(state), static_cast<Acc>(1.0 / p)));
}

template <typename F>
void fold_kernel(const char* name, const TensorBase& result, const TensorBase& self, DimMask mask) {
  OPLOOM_DISPATCH(self.scalar_type(), name, (OPLOOM_ALL), [&] {
    using T = wide_t<scalar_t>;
    using Out = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, scalar_t>;
    reduce(make_reduction<SimpleOp<F, T>>(&load_row<scalar_t, T>, &store_state<T, Out>,
                                          std::is_same_v<scalar_t, T>),
           result, self, mask);
  });
}

void sum_kernel(const TensorBase& result, const TensorBase& self, DimMask mask) {
  fold_kernel<Add>("sum", result, self, mask);
}

void prod_kernel(const TensorBase& result, const TensorBase& self, DimMask mask) {
  fold_kernel<Multiply>("prod", result, self, mask);
}

void mean_kernel(const TensorBase& result, const TensorBase& self, DimMask mask) {
  OPLOOM_DISPATCH(
      self.scalar_type(), "mean", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
        using T = wide_t<scalar_t>;
        reduce(make_reduction<SimpleOp<Add, T>>(&load_row<scalar_t, T>, &store_mean<T, scalar_t>,
                                                std::is_same_v<scalar_t, T>),
               result, self, mask);
      });
}

template <typename F>
void extreme_kernel(const char* name, const TensorBase& result, const TensorBase& self,
                    DimMask mask) {
  OPLOOM_DISPATCH(self.scalar_type(), name,
                  (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
                    // A bool is 0 or 1 in a byte.
                    using In =
                        std::conditional_t<std::is_same_v<scalar_t, bool>, uint8_t, scalar_t>;
                    using T = std::conditional_t<std::is_integral_v<In>, In, wide_t<In>>;
                    reduce(make_reduction<SimpleOp<F, T>>(&load_row<In, T>, &store_state<T, In>,
                                                          std::is_same_v<In, T>),
                           result, self, mask);
                  });
}

void max_values_kernel(const TensorBase& result, const TensorBase& self, DimMask mask) {
  extreme_kernel<Max>("max", result, self, mask);
}

void min_values_kernel(const TensorBase& result, const TensorBase& self, DimMask mask) {
  extreme_kernel<Min>("min", result, self, mask);
}

// Whether all elements are true is the least of their truth values; with no elements it is 1.
struct And : Min {
  template <typename T>
  static T identity() {
    return T(1);
  }
};
struct Or : Max {
  template <typename T>
  static T identity() {
    return T(0);
  }
};

template <typename F>
void truth_kernel(const char* name, const TensorBase& result, const TensorBase& self,
                  DimMask mask) {
  OPLOOM_DISPATCH(self.scalar_type(), name, (OPLOOM_ALL), [&] {
    reduce(
        make_reduction<SimpleOp<F, uint8_t>>(&load_truth<scalar_t>, &store_state<uint8_t, uint8_t>,
                                             std::is_same_v<scalar_t, bool>),
        result, self, mask);
  });
}

void and_kernel(const TensorBase& result, const TensorBase& self, DimMask mask) {
  truth_kernel<And>("all", result, self, mask);
}

void or_kernel(const TensorBase& result, const TensorBase& self, DimMask mask) {
  truth_kernel<Or>("any", result, self, mask);
}

// Mean and sum of squared distances from it. Parts are combined by the formula of Chan, Golub and
// LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
template <typename T>
struct VarOp {
  using Elem = T;
  struct Acc {
    T mean;
    T squares;
    int64_t count;
  };
  static Acc identity() { return {T(0), T(0), 0}; }

  static Acc chunk(const T* p, int64_t n) {
    const T mean = reduce_chunk<Add>(p, n) / static_cast<T>(n);
    constexpr int64_t kWide = 128 / sizeof(T);
    T acc[kWide] = {};
    int64_t i = 0;
    for (; i + kWide <= n; i += kWide) {
#pragma GCC unroll 1
      for (int64_t j = 0; j < kWide; ++j) acc[j] += (p[i + j] - mean) * (p[i + j] - mean);
    }
    for (int64_t half = kWide / 2; half > 0; half /= 2) {
      for (int64_t j = 0; j < half; ++j) acc[j] += acc[j + half];
    }
    T squares = acc[0];
    for (; i < n; ++i) squares += (p[i] - mean) * (p[i] - mean);
    return {mean, squares, n};
  }

  static Acc combine(const Acc& a, const Acc& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const int64_t count = a.count + b.count;
    const T share = static_cast<T>(b.count) / static_cast<T>(count);
    const T delta = b.mean - a.mean;
    return {a.mean + delta * share,
            a.squares + b.squares + delta * delta * static_cast<T>(a.count) * share, count};
  }

  struct Columns {
    T mean[kColumns];
    T squares[kColumns];
    int64_t count;
    void add(const T* const* rows, int64_t nrows, int64_t n) {
      std::copy(rows[0], rows[0] + n, mean);
      for (int64_t r = 1; r < nrows; ++r) {
        const T* a = rows[r];
        for (int64_t j = 0; j < n; ++j) mean[j] += a[j];
      }
      const T scale = T(1) / static_cast<T>(nrows);
      for (int64_t j = 0; j < n; ++j) mean[j] *= scale;
      std::fill(squares, squares + n, T(0));
      for (int64_t r = 0; r < nrows; ++r) {
        const T* a = rows[r];
        for (int64_t j = 0; j < n; ++j) squares[j] += (a[j] - mean[j]) * (a[j] - mean[j]);
      }
      count = nrows;
    }
    void merge(const Columns& other, int64_t n) {
      const int64_t total = count + other.count;
      const T share = static_cast<T>(other.count) / static_cast<T>(total);
      const T weight = static_cast<T>(count) * share;
      for (int64_t j = 0; j < n; ++j) {
        const T delta = other.mean[j] - mean[j];
        mean[j] += delta * share;
        squares[j] += other.squares[j] + delta * delta * weight;
      }
      count = total;
    }
    Acc get(int64_t j) const { return {mean[j], squares[j], count}; }
  };
};

// Not below 0; of nothing there is no variance, whatever the correction is.
double var_divisor(int64_t count, double correction) {
  return count == 0 ? 0 : std::max(0.0, static_cast<double>(count) - correction);
}

template <typename T, typename Out>
void store_var(const ReduceState& state, int64_t count, char* out, double correction) {
  const double divisor = var_divisor(count, correction);
  *reinterpret_cast<Out*>(out) =
      static_cast<Out>(as<typename VarOp<T>::Acc>(state).squares / static_cast<T>(divisor));
}

template <typename T, typename Out>
void store_std(const ReduceState& state, int64_t count, char* out, double correction) {
  const double divisor = var_divisor(count, correction);
  *reinterpret_cast<Out*>(out) = static_cast<Out>(
      std::sqrt(as<typename VarOp<T>::Acc>(state).squares / static_cast<T>(divisor)));
}

void var_kernel(const TensorBase& result, const TensorBase& self, DimMask mask, double correction,
                bool take_sqrt) {
  OPLOOM_DISPATCH(
      self.scalar_type(), take_sqrt ? "std" : "var", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
        using T = wide_t<scalar_t>;
        const auto store = take_sqrt ? &store_std<T, scalar_t> : &store_var<T, scalar_t>;
        reduce(make_reduction<VarOp<T>>(&load_row<scalar_t, T>, store, std::is_same_v<scalar_t, T>,
                                        correction),
               result, self, mask);
      });
}

void norm_kernel(const TensorBase& result, const TensorBase& self, DimMask mask, double p) {
  OPLOOM_DISPATCH(
      self.scalar_type(), "norm", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
        using Out = real_part_t<scalar_t>;
        using T = wide_t<Out>;
        const auto sum = [&](decltype(Reduction::load) load, decltype(Reduction::store) store) {
          reduce(make_reduction<SimpleOp<Add, T>>(load, store, false, p), result, self, mask);
        };
        if (std::isinf(p)) {
          const auto load = &load_for_norm<scalar_t, T, NormKind::Sum>;
          reduce(p > 0 ? make_reduction<SimpleOp<Max, T>>(load, &store_state<T, Out>, false)
                       : make_reduction<SimpleOp<Min, T>>(load, &store_state<T, Out>, false),
                 result, self, mask);
        } else if (p == 0) {
          sum(&load_for_norm<scalar_t, T, NormKind::Count>, &store_state<T, Out>);
        } else if (p == 1) {
          sum(&load_for_norm<scalar_t, T, NormKind::Sum>, &store_state<T, Out>);
        } else if (p == 2) {
          sum(&load_for_norm<scalar_t, T, NormKind::Squares>, &store_sqrt<T, Out>);
        } else {
          sum(&load_for_norm<scalar_t, T, NormKind::Powers>, &store_root<T, Out>);
        }
      });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH(sum_stub, &sum_kernel);
OPLOOM_REGISTER_DISPATCH(prod_stub, &prod_kernel);
OPLOOM_REGISTER_DISPATCH(mean_stub, &mean_kernel);
OPLOOM_REGISTER_DISPATCH(max_values_stub, &max_values_kernel);
OPLOOM_REGISTER_DISPATCH(min_values_stub, &min_values_kernel);
OPLOOM_REGISTER_DISPATCH(and_stub, &and_kernel);
OPLOOM_REGISTER_DISPATCH(or_stub, &or_kernel);
OPLOOM_REGISTER_DISPATCH(var_stub, &var_kernel);
OPLOOM_REGISTER_DISPATCH(norm_stub, &norm_kernel);

}  // namespace at::inline oploom_v1::native
