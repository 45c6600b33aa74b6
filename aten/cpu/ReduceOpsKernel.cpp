// Kernels of sum, prod, mean, max, min, all, any, var, std and norm.
#include <aten/core/Dispatch.h>
#include <aten/cpu/Reduce.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/cpu/vec/functions.h>
#include <aten/stubs/ReduceOps.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1::native {
namespace {

// An operation whose state is one number of dtype T; Map is applied to each element first.
template <typename F, typename T, typename Map = Identity, typename In = T>
struct SimpleOp {
  using Elem = In;
  using Acc = T;
  // Of shorter floats as many as are converted at once where they are not taken as they are.
  static constexpr bool kIsConverted = sizeof(In) < sizeof(T) && !std::is_integral_v<T>;
  static constexpr int64_t kLongest = kIsConverted ? kGathered / sizeof(T) : 16384;
  static constexpr int64_t kMostRows = kIsConverted ? kRows : kRowsInTurn;
  // Complex numbers are multiplied one by one.
  static constexpr int64_t kShortest = std::is_same_v<F, Multiply> && c10::is_complex_v<T> ? 32 : 8;
  static T identity() { return F::template identity<T>(); }
  // The parts of complex numbers are added up as numbers of their own.
  static constexpr bool kInParts = std::is_same_v<F, Add> && c10::is_complex_v<T>;
  using Part = std::conditional_t<kInParts, real_part_t<T>, T>;
  using PartIn = std::conditional_t<kInParts, Part, In>;
  static constexpr int64_t kParts = sizeof(T) / sizeof(Part);
  static constexpr bool kIsWhole =
      std::is_same_v<F, Add> && std::is_same_v<Map, Identity> && std::is_integral_v<T>;
  static T chunk(const In* p, int64_t n, Ahead ahead) {
    if constexpr (kInParts) {
      const auto* parts = reinterpret_cast<const PartIn*>(p);
      if (n * kParts < kFew<Part>) {
        const auto [real, imag] = reduce_few<F, Part>(parts, n * kParts);
        return {real, imag};
      }
      const auto pair = reduce_pairs<F, Part>(parts, n * kParts, ahead);
      return {pair[0], pair[1]};
    } else if constexpr (kIsWhole) {
      return sum_integers<T>(p, n, ahead);
    } else {
      return reduce_chunk<F, T>(p, n, ahead, Map());
    }
  }
  static T combine(T a, T b) { return F::apply(a, b); }
  struct Columns {
    using L = Lanes<Part>;
    // With twice as many, reading memory takes 5 to 10 % longer.
    static constexpr int kTogether = 4;
    static constexpr Together kRowsTogether = Together::Few;
    static constexpr size_t kStateBytes = sizeof(T);
    alignas(T) Part acc[kColumnsOf<T> * kParts + L::kSize];
    static constexpr int64_t kWidest = kWide<Part> / kParts;
    // Rows without gaps between them, n elements in all.
    void add_periods(const In* elements, int64_t n, int64_t width, Ahead ahead) requires(
        std::is_same_v<F, Add>&& std::is_same_v<Map, Identity>&& std::is_floating_point_v<PartIn>) {
      sum_periods(reinterpret_cast<const PartIn*>(elements), n * kParts, width * kParts, ahead,
                  acc);
    }
    void add(const In* const* elements, int64_t nrows, int64_t n, Ahead ahead) {
      const auto* rows = reinterpret_cast<const PartIn* const*>(elements);
      int64_t r = 0;
      if constexpr (kIsWhole) {
        // The first rows need no form of their own, as those of floats do, whose -0 is not 0 + -0.
        std::fill_n(acc, n, T(0));
        for (; r + kTogether <= nrows; r += kTogether)
          add_rows<kTogether>(rows + r, n, false, ahead);
        for (; r < nrows; ++r) add_rows<1>(rows + r, n, false, ahead);
        return;
      }
      for (; r + kTogether <= nrows; r += kTogether) {
        add_rows<kTogether>(rows + r, n * kParts, r == 0, ahead);
      }
      for (; r + 2 <= nrows; r += 2) add_rows<2>(rows + r, n * kParts, r == 0, ahead);
      if (r < nrows) add_rows<1>(rows + r, n * kParts, r == 0, ahead);
    }
    template <int count>
    void add_rows(const PartIn* const* elements, int64_t n, bool first, Ahead ahead) {
      const RowGroup<PartIn, count> rows(elements, ahead);
      if constexpr (c10::is_complex_v<Part>) {
        // The compiler finds the vectors, if nothing else is done on the way.
        const auto store = [&](const auto& combine) {
          OPLOOM_INDEPENDENT_ITERATIONS
          for (int64_t j = 0; j < n; ++j) acc[j] = combine(j, pairwise<count>(rows, 0, j, L()));
        };
        if (first) return store([](int64_t, Part value) { return value; });
        return store([&](int64_t j, Part value) { return F::apply(acc[j], value); });
      }
      for_each_lanes<Part>(n, [&](int64_t j, auto lanes) {
        if constexpr (count == kTogether && std::is_same_v<decltype(lanes), L>) rows.fetch_next(j);
        auto value = pairwise<count>(rows, 0, j, lanes);
        if (!first) value = F::apply(L::load(acc + j), value);
        L::store(acc + j, value);
      });
    }
    template <int count, typename Rows, typename Some>
    OPLOOM_ALWAYS_INLINE static auto pairwise(const Rows& rows, int first, int64_t j, Some lanes) {
      if constexpr (count == 1) {
        return Map()(lanes.load(rows[first] + j));
      } else {
        return F::apply(pairwise<count / 2>(rows, first, j, lanes),
                        pairwise<count / 2>(rows, first + count / 2, j, lanes));
      }
    }
    void merge(const Columns& other, int64_t offset, int64_t n) {
      const Part* from = other.acc + offset * kParts;
      for (int64_t j = 0; j < n * kParts; j += L::kSize) {
        L::store(acc + j, F::apply(L::load(acc + j), L::load(from + j)));
      }
    }
    const T* states() const { return reinterpret_cast<const T*>(acc); }
    T get(int64_t j) const { return states()[j]; }
    T across(int64_t j, int64_t n) const {
      return SimpleOp<F, T>::chunk(states() + j, n, Ahead::None);
    }
  };
};

// Loaders.
template <typename In>
void load_truth(const char* in, int64_t stride, int64_t n, void* elements, double) {
  if constexpr (c10::is_reduced_floating_point_v<In>) {
    // Zeros of both kinds have no bit but the sign; the compiler has no vectors for what they are.
    load_as<uint16_t, uint8_t>(in, stride, n, elements,
                               [](uint16_t x) -> uint8_t { return (x & 0x7fff) != 0 ? 1 : 0; });
  } else {
    load_as<In, uint8_t>(in, stride, n, elements,
                         [](In x) -> uint8_t { return x != In(0) ? 1 : 0; });
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

// values[i] = pow(values[i], exponent)
template <typename T>
OPLOOM_NOINLINE void raise(T* values, int64_t n, T exponent) {
  const T* const in = values;
  vec::for_each_vec<T>(
      n, [exponent](const auto& x) { return pow(x, std::decay_t<decltype(x)>(exponent)); }, &in,
      std::index_sequence<0>(),
      [&](int64_t i, const auto& value, int64_t count) { value.storeu(values + i, count); });
}

template <typename In, typename Elem, NormKind kind>
void load_for_norm(const char* in, int64_t stride, int64_t n, void* elements, double p) {
  load_as<In, Elem>(in, stride, n, elements, [&](In x) -> Elem {
    if constexpr (kind == NormKind::Count) {
      return x != In(0) ? Elem(1) : Elem(0);
    } else if constexpr (kind == NormKind::Squares) {
      static_assert(c10::is_complex_v<In>);
      return x.real() * x.real() + x.imag() * x.imag();
    } else {
      return magnitude(x);
    }
  });
  if constexpr (kind == NormKind::Powers) {
    raise(static_cast<Elem*>(elements), n, static_cast<Elem>(p));
  }
}

struct Magnitude {
  template <typename V>
  OPLOOM_ALWAYS_INLINE V operator()(V x) const {
    if constexpr (std::is_arithmetic_v<V>) {
      return std::abs(x);
    } else {
      return x.abs();
    }
  }
};
struct Square {
  template <typename V>
  OPLOOM_ALWAYS_INLINE V operator()(V x) const {
    return x * x;
  }
};

// What is made of a state in the end.
template <typename Out>
struct As {
  template <typename Acc>
  static Out apply(Acc acc, int64_t, double) {
    return static_cast<Out>(acc);
  }
};

struct Truth {
  static uint8_t apply(uint8_t acc, int64_t, double) { return acc != 0 ? 1 : 0; }
};

template <typename Out>
struct Mean {
  template <typename Acc>
  static Out apply(Acc acc, int64_t count, double) {
    return static_cast<Out>(acc / Acc(static_cast<real_part_t<Acc>>(count)));
  }
};

template <typename Out>
struct SquareRoot {
  template <typename Acc>
  static Out apply(Acc acc, int64_t, double) {
    return static_cast<Out>(std::sqrt(acc));
  }
};

template <typename Out>
struct Root {
  template <typename Acc>
  static Out apply(Acc acc, int64_t, double p) {
    return static_cast<Out>(std::pow(acc, static_cast<Acc>(1.0 / p)));
  }
};

// Of a tensor's elements, which are converted before where the operation takes others.
template <typename Op, typename Finish, typename In>
Reduction reduction_of(double parameter = 0) {
  using Elem = typename Op::Elem;
  return make_reduction<Op, Finish>(&load_row<In, Elem>, std::is_same_v<In, Elem>, parameter);
}

// Sums take 16-bit floats, the commonest of the short integers, and bools, as they are where the
// processor converts them.
template <typename F, typename In>
inline constexpr bool kTakenAsTheyAre = std::is_same_v<F, Add>&& Lanes<wide_t<In>>::kVec &&
                                        (c10::is_reduced_floating_point_v<In> ||
                                         kWidens<wide_t<In>, In>);
template <typename F, typename In, typename Map = Identity>
using FoldOp =
    SimpleOp<F, wide_t<In>, Map, std::conditional_t<kTakenAsTheyAre<F, In>, In, wide_t<In>>>;

// Bools are bytes of 0 and 1.
template <typename T>
using number_t = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <typename F>
void fold_kernel(const char* name, const TensorBase& result, const TensorBase& self, DimMask mask) {
  OPLOOM_DISPATCH(self.scalar_type(), name, (OPLOOM_ALL), [&] {
    using In = number_t<scalar_t>;
    using Out = std::conditional_t<std::is_integral_v<In>, int64_t, In>;
    reduce(reduction_of<FoldOp<F, In>, As<Out>, In>(), result, self, mask);
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
        reduce(reduction_of<FoldOp<Add, scalar_t>, Mean<scalar_t>, scalar_t>(), result, self, mask);
      });
}

template <typename F>
void extreme_kernel(const char* name, const TensorBase& result, const TensorBase& self,
                    DimMask mask) {
  OPLOOM_DISPATCH(self.scalar_type(), name,
                  (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
                    if constexpr (c10::is_reduced_floating_point_v<scalar_t>) {
                      using Place = PlaceOf<F, scalar_t>;
                      reduce(reduction_of<SimpleOp<F, int16_t, Place>, Place, int16_t>(), result,
                             self, mask);
                    } else {
                      using T = number_t<scalar_t>;
                      reduce(reduction_of<SimpleOp<F, T>, As<T>, T>(), result, self, mask);
                    }
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
    // The least and the largest of bytes are as true as those of their truth values.
    constexpr bool is_byte = sizeof(scalar_t) == 1;
    reduce(make_reduction<SimpleOp<F, uint8_t>, Truth>(
               is_byte ? &load_row<uint8_t, uint8_t> : &load_truth<scalar_t>, is_byte),
           result, self, mask);
  });
}

void and_kernel(const TensorBase& result, const TensorBase& self, DimMask mask) {
  truth_kernel<And>("all", result, self, mask);
}

void or_kernel(const TensorBase& result, const TensorBase& self, DimMask mask) {
  truth_kernel<Or>("any", result, self, mask);
}

// The sum of squared distances from the mean, which is base + offset. Apart they say more of a mean
// of numbers that differ little than one number can: `base` is among them, or their middle, so that
// all that is rounded is no larger than the distances are. Parts are combined by the formula of
// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances" (1979). The sum is nan where a number was infinite or nan, and only there: finite ones
// that are too far apart make it infinite.
template <typename T>
struct VarOp {
  using Elem = T;
  struct Acc {
    T base;
    T offset;
    T squares;
    int64_t count;
  };
  // So that what is gone over twice is still in the second-level cache.
  static constexpr int64_t kLongest = 65536 / sizeof(T);
  static constexpr int64_t kMostRows = kRows;
  static constexpr int64_t kShortest = kWide<T>;
  static Acc identity() { return {T(0), T(0), T(0), 0}; }

  // One pass over distances from a center near the mean: the first element of a few, or the mean of
  // the first kWide, which is exact if all are equal. With the mean m and the center c,
  //   sum((x - m)^2) = sum((x - c)^2) - n (m - c)^2,
  // which loses no more than a bit where the second term is no more than half the first. Where it
  // is more, or the distances are too large to be squared, a second pass has the mean for a center.
  static Acc chunk(const T* p, int64_t n, Ahead ahead) {
    const auto number = static_cast<T>(n);
    T center = n < kWide<T> ? p[0] : reduce_chunk<Add, T>(p, kWide<T>, ahead) / T(kWide<T>);
    if (!std::isfinite(center)) center = p[0];
    T shift, squares;
    const auto pass = [&] {
      const Moments<T> sums = sum_moments(p, n, center, ahead);
      shift = sums.first / number;
      const T excess = sums.first * shift;
      squares = sums.second - excess;
      return excess;
    };
    if (!(pass() <= squares)) {
      center += shift;
      if (!std::isfinite(center)) {
        // Not the sum of the elements, which may be too large as well.
        const auto share = [&](auto x) { return x / decltype(x)(number); };
        center = reduce_chunk<Add, T>(p, n, ahead, share);
      }
      pass();
      if (std::isfinite(center) && std::isnan(squares)) {
        squares = std::numeric_limits<T>::infinity();
      }
    }
    return {center, shift, squares < T(0) ? T(0) : squares, n};
  }

  // What the distance between the means of two parts adds to the sums of both. It is nan where the
  // means are too far apart to be subtracted, or where the sum of one part is nan already.
  template <typename V>
  static V squares_between(V delta, V weight) {
    const V squares = delta * delta * weight;
    const V infinite(std::numeric_limits<T>::infinity());
    if constexpr (std::is_same_v<V, T>) return std::isnan(squares) ? infinite : squares;
    if constexpr (!std::is_same_v<V, T>) return blendv(squares, infinite, squares.isnan());
  }

  static Acc combine(const Acc& a, const Acc& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const int64_t count = a.count + b.count;
    const T share = static_cast<T>(b.count) / static_cast<T>(count);
    const T delta = (b.base - a.base) + (b.offset - a.offset);
    const T weight = static_cast<T>(a.count) * share;
    return {a.base, a.offset + delta * share,
            a.squares + b.squares + squares_between(delta, weight), count};
  }

  struct Columns {
    using L = Lanes<T>;
    using V = typename L::V;
    static constexpr Together kRowsTogether = Together::Many;
    static constexpr size_t kStateBytes = 0;
    T base[kColumnsOf<Acc> + L::kSize];
    T offset[kColumnsOf<Acc> + L::kSize];
    T squares[kColumnsOf<Acc> + L::kSize];
    int64_t count;
    void add(const T* const* rows, int64_t nrows, int64_t n, Ahead ahead) {
      count = nrows;
      const auto add_rows = [&](const auto& group, auto rows_of_group) {
        const V scale(T(1) / static_cast<T>(nrows));
        for_each_lanes<T>(n, [&](int64_t j, auto lanes) {
          // The rows may be a power of two apart, of which no cache keeps more than a few.
          V x[kRows];
          if constexpr (requires { group.fetch_next(j); }) group.fetch_next(j);
          const V first = lanes.load(group[0] + j);
          x[0] = first - first;  // nan where `first` is not finite
          V sum = x[0];
          for (int64_t r = 1; r < rows_of_group; ++r) {
            x[r] = lanes.load(group[r] + j) - first;
            sum = sum + x[r];
          }
          const V mean = sum * scale;
          V squared(T(0));
          for (int64_t r = 0; r < rows_of_group; ++r) {
            squared = squared + (x[r] - mean) * (x[r] - mean);
          }
          const auto lost = squared != squared;
          if (L::any(lost)) [[unlikely]] {
            // Products with 0 are nan of infinities and nan alone.
            V sound(std::numeric_limits<T>::infinity());
            for (int64_t r = 0; r < rows_of_group; ++r) {
              sound = sound + lanes.load(group[r] + j) * V(T(0));
            }
            squared = L::select(lost, sound, squared);
          }
          L::store(base + j, first);
          L::store(offset + j, mean);
          L::store(squares + j, squared);
        });
      };
      if (nrows == kRows) {
        add_rows(RowGroup<T, kRows>(rows, ahead), std::integral_constant<int64_t, kRows>());
      } else {
        add_rows(rows, nrows);
      }
    }
    void merge(const Columns& other, int64_t at, int64_t n) {
      const int64_t total = count + other.count;
      const V share(static_cast<T>(other.count) / static_cast<T>(total));
      const V weight = V(static_cast<T>(count)) * share;
      for (int64_t j = 0; j < n; j += L::kSize) {
        const V mean = L::load(offset + j);
        const V delta = (L::load(other.base + at + j) - L::load(base + j)) +
                        (L::load(other.offset + at + j) - mean);
        L::store(offset + j, mean + delta * share);
        L::store(squares + j, L::load(squares + j) + L::load(other.squares + at + j) +
                                  squares_between(delta, weight));
      }
      count = total;
    }
    Acc get(int64_t j) const { return {base[j], offset[j], squares[j], count}; }
    Acc across(int64_t j, int64_t n) const {
      return n == 1 ? get(j) : combine(across(j, n / 2), across(j + n / 2, n - n / 2));
    }
  };
};

// The divisor is not below 0; of nothing there is no variance, whatever the correction is.
template <typename Out, bool take_sqrt>
struct Variance {
  template <typename Acc>
  static Out apply(const Acc& acc, int64_t count, double correction) {
    using T = decltype(acc.squares);
    const double divisor = count == 0 ? 0 : std::max(0.0, static_cast<double>(count) - correction);
    const auto variance = acc.squares / static_cast<T>(divisor);
    return static_cast<Out>(take_sqrt ? std::sqrt(variance) : variance);
  }
};

template <bool take_sqrt>
void variance(const TensorBase& result, const TensorBase& self, DimMask mask, double correction) {
  OPLOOM_DISPATCH(self.scalar_type(), take_sqrt ? "std" : "var", (OPLOOM_FLOATING, OPLOOM_REDUCED),
                  [&] {
                    using Op = VarOp<wide_t<scalar_t>>;
                    reduce(reduction_of<Op, Variance<scalar_t, take_sqrt>, scalar_t>(correction),
                           result, self, mask);
                  });
}

void var_kernel(const TensorBase& result, const TensorBase& self, DimMask mask, double correction,
                bool take_sqrt) {
  (take_sqrt ? variance<true> : variance<false>)(result, self, mask, correction);
}

// The norm made of F over Map(element): Map is applied to real numbers as they are reduced, and to
// complex ones as they are loaded.
template <typename F, typename Map, NormKind kind, template <typename> typename Finish,
          typename scalar_t>
void simple_norm(const TensorBase& result, const TensorBase& self, DimMask mask) {
  using Out = real_part_t<scalar_t>;
  using T = wide_t<Out>;
  if constexpr (c10::is_complex_v<scalar_t>) {
    reduce(make_reduction<SimpleOp<F, T>, Finish<Out>>(&load_for_norm<scalar_t, T, kind>, false),
           result, self, mask);
  } else {
    reduce(reduction_of<FoldOp<F, scalar_t, Map>, Finish<Out>, scalar_t>(), result, self, mask);
  }
}

void norm_kernel(const TensorBase& result, const TensorBase& self, DimMask mask, double p) {
  OPLOOM_DISPATCH(
      self.scalar_type(), "norm", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
        using Out = real_part_t<scalar_t>;
        using T = wide_t<Out>;
        if (std::isinf(p) && p > 0) {
          simple_norm<Max, Magnitude, NormKind::Sum, As, scalar_t>(result, self, mask);
        } else if (std::isinf(p)) {
          simple_norm<Min, Magnitude, NormKind::Sum, As, scalar_t>(result, self, mask);
        } else if (p == 1) {
          simple_norm<Add, Magnitude, NormKind::Sum, As, scalar_t>(result, self, mask);
        } else if (p == 2) {
          simple_norm<Add, Square, NormKind::Squares, SquareRoot, scalar_t>(result, self, mask);
        } else {
          reduce(p == 0 ? make_reduction<SimpleOp<Add, T>, As<Out>>(
                              &load_for_norm<scalar_t, T, NormKind::Count>, false)
                        : make_reduction<SimpleOp<Add, T>, Root<Out>>(
                              &load_for_norm<scalar_t, T, NormKind::Powers>, false, p),
                 result, self, mask);
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
