// Kernels of layer normalisation.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/ConvertRow.h>
#include <aten/cpu/FarRows.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/stubs/LayerNorm.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace at::inline oploom_v1::native {
namespace {

constexpr int64_t kGrain = 8192;

// Elements of rows whose means are computed, then their deviations and then what is written: for
// each of these alone a processor would have to wait, since it sees no row behind one that is
// longer than a few vectors.
constexpr int64_t kTogether = 4096;

// Longer rows are gone through in parts of so many numbers, whose sums are added in double: the
// rounding error of a lane grows with the numbers that it adds up.
constexpr int64_t kPart = 2048;

template <typename F>
OPLOOM_ALWAYS_INLINE void for_each_part(int64_t n, const F& f) {
  for (int64_t j = 0; j < n; j += kPart) f(j, std::min(kPart, n - j));
}

// A row of n numbers: its own, if it is there, or the same one again and again.
template <typename In>
class RowOr {
 public:
  RowOr(const In* row, int64_t n, In otherwise) : row_(row) {
    if (row == nullptr) std::fill_n(same_, std::min(kPart, n), otherwise);
  }
  // Its numbers from j on, at most kPart of them.
  const In* from(int64_t j) const { return row_ == nullptr ? same_ : row_ + j; }

 private:
  const In* row_;
  In same_[kPart];
};

template <typename T>
const T* data_or_null(const TensorBase& t) {
  return t.defined() ? t.const_data_ptr<T>() : nullptr;
}
template <typename T>
T* mutable_data_or_null(const TensorBase& t) {
  return t.defined() ? t.mutable_data_ptr<T>() : nullptr;
}

// to[j] = (x[j] - center) * scale * w[j] + b[j]. Inlined, it would have no registers left.
template <typename In, typename T>
OPLOOM_NOINLINE void normalize(const In* x, In* to, int64_t n, T center, T scale, const In* w,
                               const In* b) {
  using V = typename Lanes<T>::V;
  compute_row<T, /*pairs=*/true>(to, n, [=](int64_t j, auto lanes) {
    return (lanes.load(x + j) - V(center)) * V(scale) * lanes.load(w + j) + lanes.load(b + j);
  });
}

// Lanes whose sum is that of f(x) for n <= kPart numbers x; f(filling) is to be 0. By
// reduce_chunk(), whose blocks suit longer rows, those of 8 to 128 numbers took 1.1 to 1.4 times as
// long to normalise.
template <typename T, typename In, typename F>
OPLOOM_ALWAYS_INLINE typename Lanes<T>::V lanes_of_sum(const In* row, int64_t n, T filling,
                                                       const F& f) {
  using L = Lanes<T>;
  using V = typename L::V;
  if (n < int64_t{32 / sizeof(T)}) {
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += f(static_cast<T>(row[j]));
    if constexpr (L::kSize == 1) return sum;
    if constexpr (L::kSize > 1) return FirstLanes<T>(1).with(V(sum), V(T(0)));
  }
  const V fill(filling);
  V sums[] = {V(T(0)), V(T(0)), V(T(0)), V(T(0))};
  const auto add_pair = [&](int64_t i, V& first, V& second) {
    first = first + f(OfPair<In, 0>::load(row + i));
    second = second + f(OfPair<In, 1>::load(row + i));
  };
  int64_t j = 0;
  for (; j + 4 * L::kSize <= n; j += 4 * L::kSize) {
    add_pair(j, sums[0], sums[1]);
    add_pair(j + 2 * L::kSize, sums[2], sums[3]);
  }
  if (j + 2 * L::kSize <= n) {
    add_pair(j, sums[0], sums[1]);
    j += 2 * L::kSize;
  }
  if (j + L::kSize <= n) {
    sums[2] = sums[2] + f(L::load(row + j));
    j += L::kSize;
  }
  for_rest<T>(j, n, [&](int64_t first, auto lanes) {
    sums[3] = sums[3] + f(lanes.with(lanes.load(row + first), fill));
  });
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The mean of f(x).
template <typename T, typename In, typename F>
OPLOOM_NOINLINE T mean_of(const In* row, int64_t n, T filling, const F& f) {
  double sum = 0;
  for_each_part(n, [&](int64_t j, int64_t count) {
    const auto lanes = lanes_of_sum(row + j, count, filling, f);
    sum += static_cast<double>(Lanes<T>::first(across<Add, T>(lanes)));
  });
  return static_cast<T>(sum / static_cast<double>(n));
}

// Those of some rows, where of(i) are the filling and f for row i.
template <typename T, typename In, typename Of>
OPLOOM_ALWAYS_INLINE void means_of_rows(const In* x, int64_t n, int64_t rows, T* means,
                                        const Of& of) {
  using L = Lanes<T>;
  using V = typename L::V;
  // Of longer rows there are fewer together than are reduced at once.
  if (n > kTogether / L::kSize) {
    for (int64_t i = 0; i < rows; ++i) {
      const auto [filling, f] = of(i);
      const In* row = x + i * n;
      means[i] = n > kPart ? mean_of(row, n, filling, f)
                           : L::first(across<Add, T>(lanes_of_sum(row, n, filling, f))) /
                                 static_cast<T>(n);
    }
    return;
  }
  for (int64_t group = 0; group < rows; group += L::kSize) {
    const int64_t count = std::min(rows - group, L::kSize);
    V sums[L::kSize];
    for (int64_t i = 0; i < count; ++i) {
      const auto [filling, f] = of(group + i);
      sums[i] = lanes_of_sum(x + (group + i) * n, n, filling, f);
    }
    std::fill(sums + count, sums + L::kSize, V(T(0)));
    const V mean = across_each<Add, T>(sums) / V(static_cast<T>(n));
    if constexpr (L::kSize == 1) means[group] = L::first(mean);
    if constexpr (L::kSize > 1) FirstLanes<T>(count).store(means + group, mean);
  }
}

template <typename T>
struct SquaredDistance {
  template <typename V>
  OPLOOM_ALWAYS_INLINE V operator()(V x) const {
    const V distance = x - V(center);
    return distance * distance;
  }
  T center;
};

// A mean of n numbers, divided from their rounded sum, may be too far from the true one beside
// their distances from it: if all numbers are nearly the same. Then the mean of the distances,
// added to it, makes it as exact as one number can be.
template <typename T, typename In>
OPLOOM_NOINLINE void refine_mean(const In* row, int64_t n, T& mean, T& variance) {
  mean += mean_of(row, n, mean, [rough = mean](auto x) { return x - decltype(x)(rough); });
  variance = mean_of(row, n, mean, SquaredDistance<T>{mean});
}
template <typename T, typename In>
OPLOOM_ALWAYS_INLINE void refine_rough_means(const In* x, int64_t n, int64_t rows, T* means,
                                             T* variances) {
  using L = Lanes<T>;
  using V = typename L::V;
  const T rounding = std::numeric_limits<T>::epsilon() * static_cast<T>(16 * n);
  const auto is_rough = [=](auto mean, auto variance) {
    const auto error = mean * decltype(mean)(rounding);
    return variance < error * error;
  };
  bool some = false;
  for_each_lanes<T>(rows, [&](int64_t i, auto lanes) {
    some |= L::any(is_rough(V(lanes.load(means + i)), V(lanes.load(variances + i))));
  });
  if (!some) [[likely]]
    return;
  for (int64_t i = 0; i < rows; ++i) {
    if (is_rough(means[i], variances[i])) refine_mean(x + i * n, n, means[i], variances[i]);
  }
}

// For `rows` rows of n numbers.
template <typename In>
struct Normalization {
  using T = wide_t<In>;
  void operator()(const In* x, In* y, int64_t rows, T* means, T* rstds,
                  const RowWriter<In>& writer) const {
    const int64_t together = std::max<int64_t>(1, kTogether / n);
    const In *const first_w = w.from(0), *const first_b = b.from(0);
    for (int64_t i = 0; i < rows; i += together) {
      const int64_t end = std::min(rows, i + together);
      if constexpr (std::is_same_v<In, T>) {
        if (are_few_elements(n, end - i) && !writer.streams()) {
          of_columns(x + i * n, y + i * n, end - i, means + i, rstds + i);
          continue;
        }
      }
      means_of_rows(x + i * n, n, end - i, means + i,
                    [](int64_t) { return std::pair(T(0), Identity()); });
      means_of_rows(x + i * n, n, end - i, rstds + i, [&](int64_t r) {
        return std::pair(means[i + r], SquaredDistance<T>{means[i + r]});
      });
      refine_rough_means(x + i * n, n, end - i, means + i, rstds + i);
      invert_roots(rstds + i, end - i);
      for (int64_t r = i; r < end; ++r) {
        const In* row = x + r * n;
        writer.write(y + r * n, n, [&](In* to, int64_t first, int64_t count) {
          if (writer.streams()) writer.fetch_ahead(row, together * n + first, count);
          // Without the loop over parts, for which rows of 8 numbers took 1.13 times as long.
          if (n <= kPart) {
            normalize(row + first, to, count, means[r], rstds[r], first_w + first, first_b + first);
            return;
          }
          for_each_part(count, [&](int64_t j, int64_t part) {
            normalize(row + first + j, to + j, part, means[r], rstds[r], w.from(first + j),
                      b.from(first + j));
          });
        });
      }
    }
  }
  // Rows of a few elements, of which `rows` have kTogether at most, column by column.
  void of_columns(const T* x, T* y, int64_t rows, T* means, T* rstds) const {
    using V = typename Lanes<T>::V;
    alignas(64) T columns[kTogether];
    transpose_rows(columns, x, n, rows);
    const auto mean_of_each = [&](T* to, const auto& f) {
      compute_row<T>(to, rows, [&](int64_t r, auto lanes) {
        V sum(T(0));
        for (int64_t j = 0; j < n; ++j) sum = sum + f(lanes.load(columns + j * rows + r), r, lanes);
        return sum / V(static_cast<T>(n));
      });
    };
    mean_of_each(means, [](V number, int64_t, auto) { return number; });
    mean_of_each(rstds, [means](V number, int64_t r, auto lanes) {
      const V distance = number - lanes.load(means + r);
      return distance * distance;
    });
    refine_rough_means(x, n, rows, means, rstds);
    invert_roots(rstds, rows);
    for (int64_t j = 0; j < n; ++j) {
      T* column = columns + j * rows;
      const V scale(w.from(j)[0]), shift(b.from(j)[0]);
      compute_row<T>(column, rows, [&](int64_t r, auto lanes) {
        return (lanes.load(column + r) - lanes.load(means + r)) * lanes.load(rstds + r) * scale +
               shift;
      });
    }
    transpose_rows(y, columns, rows, n);
  }
  // 1 / sqrt(variance + eps), in place.
  void invert_roots(T* variances, int64_t rows) const {
    compute_row<T>(variances, rows, [&](int64_t r, auto lanes) {
      const auto variance = lanes.load(variances + r) + typename Lanes<T>::V(eps);
      if constexpr (Lanes<T>::kVec) return typename Lanes<T>::V(T(1)) / variance.sqrt();
      if constexpr (!Lanes<T>::kVec) return T(1) / std::sqrt(variance);
    });
  }

  int64_t n;
  T eps;
  const RowOr<In>& w;
  const RowOr<In>& b;
};

void layer_norm_kernel(const TensorBase& result, const TensorBase& mean, const TensorBase& rstd,
                       const TensorBase& input, const TensorBase& weight, const TensorBase& bias,
                       int64_t m, int64_t n, double eps) {
  OPLOOM_DISPATCH(input.scalar_type(), "layer_norm", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using T = wide_t<scalar_t>;
    const auto* x = input.const_data_ptr<scalar_t>();
    auto* y = result.mutable_data_ptr<scalar_t>();
    auto* means = mean.mutable_data_ptr<scalar_t>();
    auto* rstds = rstd.mutable_data_ptr<scalar_t>();
    const RowOr<scalar_t> weights(data_or_null<scalar_t>(weight), n, static_cast<scalar_t>(1));
    // -0 changes no number that it is added to.
    const RowOr<scalar_t> biases(data_or_null<scalar_t>(bias), n, static_cast<scalar_t>(-0.F));
    const Normalization<scalar_t> normalization{n, static_cast<T>(eps), weights, biases};
    at::parallel_for(0, m, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
      const RowWriter<scalar_t> writer(m * n);
      if constexpr (std::is_same_v<T, scalar_t>) {
        normalization(x + begin * n, y + begin * n, end - begin, means + begin, rstds + begin,
                      writer);
      } else {
        const bool converts = converts_rows<scalar_t>(n);
        T w[kConvertedBelow], b[kConvertedBelow];
        if (converts) {
          convert_row(weights.from(0), w, n);
          convert_row(biases.from(0), b, n);
        }
        const RowOr<T> of_w(w, n, T(1)), of_b(b, n, T(0));
        const Normalization<T> of_converted{n, normalization.eps, of_w, of_b};
        // Some rows at a time, whose statistics are rounded.
        T of_means[kConverted], of_rstds[kConverted];
        const int64_t together = converts ? converted_together(n) : kConverted;
        for (int64_t i = begin; i < end; i += together) {
          const int64_t rows = std::min(together, end - i);
          if (converts) {
            T from[kConverted], to[kConverted];
            convert_row(x + i * n, from, rows * n);
            of_converted(from, to, rows, of_means, of_rstds, RowWriter<T>(0));
            convert_row(to, y + i * n, rows * n);
          } else {
            normalization(x + i * n, y + i * n, rows, of_means, of_rstds, writer);
          }
          convert_row(of_means, means + i, rows);
          convert_row(of_rstds, rstds + i, rows);
        }
      }
    });
  });
}

// With h = (x - mean) * rstd: the weight's gradient is the sum over rows of g * h, the bias's that
// of g, and with a = g * w the input's is rstd * (a - mean(a) - h * mean(a * h)).

// What one row adds to dw and db, if there are such; the sums of a and of a * h. There is
// room for a whole vector at the ends of dw and db, whose pairs are in the order of In's.
template <typename T, typename In>
OPLOOM_ALWAYS_INLINE std::pair<T, T> backward_sums(const In* grad, const In* row, int64_t n, T mean,
                                                   T rstd, const In* w, T* dw, T* db) {
  using L = Lanes<T>;
  using V = typename L::V;
  const V center(mean), scale(rstd);
  V sums[2] = {V(T(0)), V(T(0))}, dots[2] = {V(T(0)), V(T(0))};
  // Numbers from j on, which add to dw and db from `column` on.
  const auto add = [&](int64_t j, int64_t column, auto lanes, V& sum, V& dot) {
    const V g = lanes.with(lanes.load(grad + j), V(T(0)));
    const V h = lanes.with((lanes.load(row + j) - center) * scale, V(T(0)));
    if (dw != nullptr) {
      L::store(dw + column, L::load(dw + column) + g * h);
      L::store(db + column, L::load(db + column) + g);
    }
    const V a = g * lanes.load(w + j);
    sum = sum + a;
    dot = dot + a * h;
  };
  int64_t j = 0;
  for (; j + 2 * L::kSize <= n; j += 2 * L::kSize) {
    add(j, j, OfPair<In, 0>(), sums[0], dots[0]);
    add(j, j + L::kSize, OfPair<In, 1>(), sums[1], dots[1]);
  }
  if (j + L::kSize <= n) {
    add(j, j, L(), sums[0], dots[0]);
    j += L::kSize;
  }
  const auto add_rest = [&](int64_t i, auto lanes) { add(i, i, lanes, sums[1], dots[1]); };
  if constexpr (std::is_same_v<T, In>) {
    // Beside what has just been stored of dw, which the processor does not put together.
    for_each_lanes<T>(n - j, [&](int64_t i, auto lanes) { add_rest(j + i, lanes); });
  } else {
    for_rest<T>(j, n, add_rest);
  }
  return {L::first(across<Add, T>(sums[0] + sums[1])), L::first(across<Add, T>(dots[0] + dots[1]))};
}
// Of rows longer than kPart.
template <typename T, typename In>
OPLOOM_NOINLINE std::pair<T, T> long_backward_sums(const In* grad, const In* row, int64_t n, T mean,
                                                   T rstd, const RowOr<In>& w, T* dw, T* db) {
  double sum = 0, dot = 0;
  for_each_part(n, [&](int64_t j, int64_t count) {
    const int64_t last = dw == nullptr ? 0 : j;
    const auto [part, part_dot] =
        backward_sums(grad + j, row + j, count, mean, rstd, w.from(j), dw + last, db + last);
    sum += part;
    dot += part_dot;
  });
  return {static_cast<T>(sum), static_cast<T>(dot)};
}

// Numbers of a row and its gradient.
template <typename T>
struct BackwardRow {
  T mean, rstd, mean_a, mean_dot;
};
template <typename T, typename In>
OPLOOM_NOINLINE void write_gradient(const In* grad, const In* row, In* dx, int64_t n, const In* w,
                                    const BackwardRow<T>& of) {
  using V = typename Lanes<T>::V;
  const V center(of.mean), scale(of.rstd), mean_a(of.mean_a), mean_dot(of.mean_dot);
  compute_row<T, /*pairs=*/true>(dx, n, [=](int64_t j, auto lanes) {
    const V a = lanes.load(grad + j) * lanes.load(w + j);
    const V h = (lanes.load(row + j) - center) * scale;
    return scale * (a - mean_a - h * mean_dot);
  });
}

// The gradients of the input for some rows, and what backward_sums() adds. No dx where it is null.
template <typename In, typename Statistic, typename T = wide_t<In>>
void backward_rows(const In* grad, const In* x, In* dx, int64_t n, int64_t rows,
                   const Statistic* means, const Statistic* rstds, const RowOr<In>& w, T* dw,
                   T* db) {
  constexpr int64_t kMost = 64;
  BackwardRow<T> of[kMost];
  const int64_t together = std::clamp<int64_t>(kTogether / n, 1, kMost);
  const In* const first_w = w.from(0);
  for (int64_t i = 0; i < rows; i += together) {
    const int64_t first = i * n, count = std::min(together, rows - i);
    for (int64_t r = 0; r < count; ++r) {
      const T mean = static_cast<T>(means[i + r]), rstd = static_cast<T>(rstds[i + r]);
      const In* const g = grad + first + r * n;
      const In* const row = x + first + r * n;
      const auto [sum, dot] = n > kPart ? long_backward_sums(g, row, n, mean, rstd, w, dw, db)
                                        : backward_sums(g, row, n, mean, rstd, first_w, dw, db);
      of[r] = {mean, rstd, sum / static_cast<T>(n), dot / static_cast<T>(n)};
    }
    if (dx == nullptr) continue;
    for (int64_t r = 0; r < count; ++r) {
      const int64_t place = first + r * n;
      if (n <= kPart) {
        write_gradient(grad + place, x + place, dx + place, n, first_w, of[r]);
        continue;
      }
      for_each_part(n, [&](int64_t j, int64_t part) {
        const int64_t at = place + j;
        write_gradient(grad + at, x + at, dx + at, part, w.from(j), of[r]);
      });
    }
  }
}

// What backward_sums() has added up, if it is wanted.
template <typename Out, typename T>
void write_sums(const T* sums, int64_t n, Out* to) {
  using L = Lanes<T>;
  if (to == nullptr) return;
  int64_t j = 0;
  if constexpr (L::kVec) {
    for (; j + 2 * L::kSize <= n; j += 2 * L::kSize) {
      vec::Rows<Out>::store_pair(to + j, L::load(sums + j), L::load(sums + j + L::kSize));
    }
  }
  for (; j < n; ++j) to[j] = static_cast<Out>(sums[j]);
}

void layer_norm_backward_kernel(const TensorBase& grad_input, const TensorBase& grad_weight,
                                const TensorBase& grad_bias, const TensorBase& grad_output,
                                const TensorBase& input, const TensorBase& mean,
                                const TensorBase& rstd, const TensorBase& weight, int64_t m,
                                int64_t n) {
  OPLOOM_DISPATCH(
      input.scalar_type(), "native_layer_norm_backward", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
        using T = wide_t<scalar_t>;
        const auto* g = grad_output.const_data_ptr<scalar_t>();
        const auto* x = input.const_data_ptr<scalar_t>();
        const auto* means = mean.const_data_ptr<scalar_t>();
        const auto* rstds = rstd.const_data_ptr<scalar_t>();
        auto* dx = mutable_data_or_null<scalar_t>(grad_input);
        const bool columns = grad_weight.defined() || grad_bias.defined();
        constexpr int64_t kSize = Lanes<T>::kSize;
        const int64_t padded = (n + kSize - 1) / kSize * kSize;
        const RowOr<scalar_t> w(data_or_null<scalar_t>(weight), n, static_cast<scalar_t>(1));
        T w_converted[kConvertedBelow];
        if (converts_rows<scalar_t>(n)) convert_row(w.from(0), w_converted, n);
        const RowOr<T> of_converted(w_converted, n, T(1));
        // The rows are cut into parts by their number alone, so that sums over rows do not depend
        // on the number of threads.
        const int64_t step = std::max<int64_t>((m + 31) / 32, std::max<int64_t>(1, kGrain / n));
        const int64_t parts = (m + step - 1) / step;
        const auto sums_bytes = columns ? static_cast<size_t>(2 * parts * padded) * sizeof(T) : 0;
        const c10::DataPtr memory = c10::GetCPUAllocator()->allocate(sums_bytes);
        auto* const sums = static_cast<T*>(memory.mutable_get());
        if (columns) std::memset(sums, 0, sums_bytes);
        at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
          const int64_t together = converted_together(n);
          const bool converts = converts_rows<scalar_t>(n);
          T buffer[3][std::is_same_v<T, scalar_t> ? 1 : kConverted];
          for (int64_t part = begin; part < end; ++part) {
            T* dw = columns ? sums + 2 * part * padded : nullptr;
            T* db = columns ? dw + padded : nullptr;
            const int64_t first = part * step, last = std::min(m, first + step);
            if (!converts) {
              backward_rows(g + first * n, x + first * n, dx == nullptr ? dx : dx + first * n, n,
                            last - first, means + first, rstds + first, w, dw, db);
              continue;
            }
            if constexpr (!std::is_same_v<T, scalar_t>) {
              for (int64_t i = first; i < last; i += together) {
                const int64_t count = std::min(together, last - i);
                convert_row(g + i * n, buffer[0], count * n);
                convert_row(x + i * n, buffer[1], count * n);
                backward_rows(buffer[0], buffer[1], dx == nullptr ? nullptr : &buffer[2][0], n,
                              count, means + i, rstds + i, of_converted, dw, db);
                if (dx != nullptr) convert_row(buffer[2], dx + i * n, count * n);
              }
            }
          }
        });
        if (!columns) return;
        auto* dw = mutable_data_or_null<scalar_t>(grad_weight);
        auto* db = mutable_data_or_null<scalar_t>(grad_bias);
        for (int64_t part = 1; part < parts; ++part) {
          for (int64_t j = 0; j < 2 * padded; ++j) sums[j] += sums[2 * part * padded + j];
        }
        write_sums(sums, n, dw);
        write_sums(sums + padded, n, db);
      });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH(layer_norm_stub, &layer_norm_kernel);
OPLOOM_REGISTER_DISPATCH(layer_norm_backward_stub, &layer_norm_backward_kernel);

}  // namespace at::inline oploom_v1::native
