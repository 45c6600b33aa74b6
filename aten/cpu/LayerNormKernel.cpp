// Kernels of layer normalisation.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/ConvertRow.h>
#include <aten/cpu/FarRows.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/stubs/LayerNorm.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace at::inline oploom_v1::native {
namespace {

constexpr int64_t kGrain = 8192;

template <typename T>
const T* data_or_null(const TensorBase& t) {
  return t.defined() ? t.const_data_ptr<T>() : nullptr;
}
template <typename T>
T* mutable_data_or_null(const TensorBase& t) {
  return t.defined() ? t.mutable_data_ptr<T>() : nullptr;
}

// y[j] = (x[j] - center) * scale * w[j] + b[j], where w and b may be null. Inlined, it would have
// no registers left.
template <typename T>
__attribute__((noinline)) void normalize(const T* x, T* y, int64_t n, T center, T scale, const T* w,
                                         const T* b) {
  if (w != nullptr && b != nullptr) {
    for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - center) * scale * w[j] + b[j];
  } else if (w != nullptr) {
    for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - center) * scale * w[j];
  } else if (b != nullptr) {
    for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - center) * scale + b[j];
  } else {
    for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - center) * scale;
  }
}

// Longer rows are summed up in parts of so many numbers, whose sums are added in double: the
// rounding error of a lane grows with the numbers that it adds up.
constexpr int64_t kSummed = 2048;

template <typename T, typename F>
T mean_of_long(const T* row, int64_t n, T filling, const F& f);

// The mean of f(x) for n numbers x; f(filling) is to be 0. By reduce_chunk(), whose blocks suit
// longer rows, those of 8 to 128 numbers took 1.1 to 1.4 times as long to normalise.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE T mean_of(const T* row, int64_t n, T filling, const F& f) {
  using L = Lanes<T>;
  using V = typename L::V;
  if (n < int64_t{32 / sizeof(T)}) {
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += f(row[j]);
    return sum / static_cast<T>(n);
  }
  if (n > kSummed) return mean_of_long(row, n, filling, f);
  const V fill(filling);
  V sums[] = {V(T(0)), V(T(0))};
  int64_t j = 0;
  for (; j + 2 * L::kSize <= n; j += 2 * L::kSize) {
    for (int64_t k = 0; k < 2; ++k) sums[k] = sums[k] + f(L::load(row + j + k * L::kSize));
  }
  for_each_lanes<T>(n - j, [&](int64_t i, auto lanes) {
    sums[0] = sums[0] + f(lanes.with(lanes.load(row + j + i), fill));
  });
  return L::first(across<Add, T>(sums[0] + sums[1])) / static_cast<T>(n);
}

template <typename T, typename F>
OPLOOM_NOINLINE T mean_of_long(const T* row, int64_t n, T filling, const F& f) {
  double sum = 0;
  for (int64_t j = 0; j < n; j += kSummed) {
    const int64_t count = std::min(kSummed, n - j);
    sum += static_cast<double>(mean_of(row + j, count, filling, f)) * static_cast<double>(count);
  }
  return static_cast<T>(sum / static_cast<double>(n));
}

template <typename T>
OPLOOM_ALWAYS_INLINE T mean_of_row(const T* row, int64_t n) {
  return mean_of<T>(row, n, T(0), [](auto x) { return x; });
}
template <typename T>
OPLOOM_ALWAYS_INLINE T variance_of_row(const T* row, int64_t n, T mean) {
  return mean_of<T>(row, n, mean, [mean](auto x) {
    const auto distance = x - decltype(x)(mean);
    return distance * distance;
  });
}

// Whether a mean of n numbers, divided from their rounded sum, may be too far from the true one
// beside their distances from it: it is if all numbers are nearly the same. Then the mean of the
// distances, added to it, makes it as exact as one number can be.
template <typename T>
OPLOOM_ALWAYS_INLINE bool is_rough(T mean, T variance, int64_t n) {
  const T rounding = mean * (std::numeric_limits<T>::epsilon() * static_cast<T>(16 * n));
  return variance < rounding * rounding;
}

// Mean and variance from a mean that is_rough().
template <typename T>
OPLOOM_NOINLINE std::pair<T, T> refined(const T* row, int64_t n, T rough) {
  const T center =
      rough + mean_of<T>(row, n, rough, [rough](auto x) { return x - decltype(x)(rough); });
  return {center, variance_of_row(row, n, center)};
}

void layer_norm_kernel(const TensorBase& result, const TensorBase& mean, const TensorBase& rstd,
                       const TensorBase& input, const TensorBase& weight, const TensorBase& bias,
                       int64_t m, int64_t n, double eps) {
  OPLOOM_DISPATCH(input.scalar_type(), "layer_norm", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using T = wide_t<scalar_t>;
    const auto* x = input.const_data_ptr<scalar_t>();
    const auto* w = data_or_null<scalar_t>(weight);
    const auto* b = data_or_null<scalar_t>(bias);
    auto* y = result.mutable_data_ptr<scalar_t>();
    auto* means = mean.mutable_data_ptr<scalar_t>();
    auto* rstds = rstd.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, m, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
      constexpr bool kConverts = !std::is_same_v<T, scalar_t>;
      const int64_t together = kConverts ? std::min(end - begin, converted_together(n)) : 1;
      const int64_t converted = kConverts ? n : 0;
      std::unique_ptr<T[]> buffer(new T[2 * (together + 1) * converted]);
      T* const results = buffer.get() + together * converted;
      const RowWriter<T> writer(kConverts ? 0 : m * n);
      const T* weights = row_as(w, n, results + together * converted);
      const T* biases = row_as(b, n, results + (together + 1) * converted);
      for (int64_t i = begin; i < end; i += together) {
        const int64_t rows = std::min(together, end - i);
        const T* row = row_as(x + i * n, rows * n, buffer.get());
        T* out;
        if constexpr (kConverts) {
          out = results;
        } else {
          out = y + i * n;
        }
        for (int64_t r = 0; r < rows; ++r, row += n, out += n) {
          T center = mean_of_row(row, n);
          T variance = variance_of_row(row, n, center);
          if (is_rough(center, variance, n)) [[unlikely]]
            std::tie(center, variance) = refined(row, n, center);
          const T scale = T(1) / std::sqrt(variance + static_cast<T>(eps));
          means[i + r] = static_cast<scalar_t>(center);
          rstds[i + r] = static_cast<scalar_t>(scale);
          writer.write(out, n, [&](T* to, int64_t first, int64_t count) {
            if (writer.streams()) writer.fetch_ahead(row, n + first, count);
            normalize(row + first, to, count, center, scale,
                      w == nullptr ? nullptr : weights + first,
                      b == nullptr ? nullptr : biases + first);
          });
        }
        if constexpr (kConverts) convert_row(results, y + i * n, rows * n);
      }
    });
  });
}

// With h = (x - mean) * rstd: the weight's gradient is the sum over rows of g * h, the bias's that
// of g, and with a = g * w the input's is rstd * (a - mean(a) - h * mean(a * h)).

// What one row adds to dw and db, if there are such; the sums of a and of a * h, by lanes. There is
// room for a whole vector at the ends of w, dw and db.
template <typename T, typename V>
OPLOOM_ALWAYS_INLINE std::pair<V, V> backward_sums(const T* grad, const T* row, int64_t n, V center,
                                                   V scale, const T* w, T* dw, T* db) {
  using L = Lanes<T>;
  V sum(T(0)), dot(T(0));
  for_each_lanes<T>(n, [&](int64_t j, auto lanes) {
    const V g = lanes.load(grad + j), h = (lanes.load(row + j) - center) * scale;
    if (dw != nullptr) {
      L::store(dw + j, L::load(dw + j) + g * h);
      L::store(db + j, L::load(db + j) + g);
    }
    const V a = g * L::load(w + j);
    sum = sum + a;
    dot = dot + a * h;
  });
  return {across<Add, T>(sum), across<Add, T>(dot)};
}
// Of rows longer than kSummed.
template <typename T, typename V>
OPLOOM_NOINLINE std::pair<V, V> long_backward_sums(const T* grad, const T* row, int64_t n, V center,
                                                   V scale, const T* w, T* dw, T* db) {
  double sum = 0, dot = 0;
  for (int64_t j = 0; j < n; j += kSummed) {
    const int64_t last = dw == nullptr ? 0 : j;
    const auto [part, part_dot] = backward_sums(grad + j, row + j, std::min(kSummed, n - j), center,
                                                scale, w + j, dw + last, db + last);
    sum += Lanes<T>::first(part);
    dot += Lanes<T>::first(part_dot);
  }
  return {V(static_cast<T>(sum)), V(static_cast<T>(dot))};
}

// The gradient of the input for one row, and what backward_sums() adds. No dx where it is null.
template <typename T>
void backward_row(const T* grad, const T* row, int64_t n, T mean, T rstd, const T* w, T* dw, T* db,
                  T* dx) {
  using V = typename Lanes<T>::V;
  const V center(mean), scale(rstd);
  const auto [sum, dot] = n > kSummed ? long_backward_sums(grad, row, n, center, scale, w, dw, db)
                                      : backward_sums(grad, row, n, center, scale, w, dw, db);
  if (dx == nullptr) return;
  const V count(static_cast<T>(n));
  const V mean_a = sum / count, mean_dot = dot / count;
  for_each_lanes<T>(n, [&](int64_t j, auto lanes) {
    const V a = lanes.load(grad + j) * Lanes<T>::load(w + j);
    const V h = (lanes.load(row + j) - center) * scale;
    lanes.store(dx + j, scale * (a - mean_a - h * mean_dot));
  });
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
        std::vector<T> w(padded, T(1));
        if (weight.defined()) convert_row(weight.const_data_ptr<scalar_t>(), w.data(), n);
        // The rows are cut into parts by their number alone, so that sums over rows do not depend
        // on the number of threads.
        const int64_t step = std::max<int64_t>((m + 31) / 32, std::max<int64_t>(1, kGrain / n));
        const int64_t parts = (m + step - 1) / step;
        std::vector<T> sums(columns ? static_cast<size_t>(2 * parts * padded) : 0);
        at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
          constexpr bool kConverts = !std::is_same_v<T, scalar_t>;
          const int64_t together = kConverts ? converted_together(n) : 1;
          std::unique_ptr<T[]> buffer(new T[kConverts ? 3 * together * n : 0]);
          for (int64_t part = begin; part < end; ++part) {
            T* dw = columns ? sums.data() + 2 * part * padded : nullptr;
            T* db = columns ? dw + padded : nullptr;
            const int64_t last = std::min(m, (part + 1) * step);
            for (int64_t i = part * step; i < last; i += together) {
              const int64_t rows = std::min(together, last - i);
              const T* grad = row_as(g + i * n, rows * n, buffer.get());
              const T* row = row_as(x + i * n, rows * n, buffer.get() + together * n);
              T* out = nullptr;
              if constexpr (kConverts) {
                if (dx != nullptr) out = buffer.get() + 2 * together * n;
              } else {
                if (dx != nullptr) out = dx + i * n;
              }
              for (int64_t r = 0; r < rows; ++r) {
                backward_row(grad + r * n, row + r * n, n, static_cast<T>(means[i + r]),
                             static_cast<T>(rstds[i + r]), w.data(), dw, db,
                             out == nullptr ? nullptr : out + r * n);
              }
              if constexpr (kConverts) {
                if (dx != nullptr) convert_row(out, dx + i * n, rows * n);
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
        for (int64_t j = 0; j < n; ++j) {
          if (dw != nullptr) dw[j] = static_cast<scalar_t>(sums[j]);
          if (db != nullptr) db[j] = static_cast<scalar_t>(sums[padded + j]);
        }
      });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH(layer_norm_stub, &layer_norm_kernel);
OPLOOM_REGISTER_DISPATCH(layer_norm_backward_stub, &layer_norm_backward_kernel);

}  // namespace at::inline oploom_v1::native
