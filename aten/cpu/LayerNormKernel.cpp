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

template <typename T, typename F>
OPLOOM_ALWAYS_INLINE T mean_of(int64_t n, const F& f) {
  return sum_of<T>(n, f) / static_cast<T>(n);
}

template <typename T>
OPLOOM_ALWAYS_INLINE auto squared_distance(const T* row, T center) {
  return [=](int64_t j) { return (row[j] - center) * (row[j] - center); };
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
  const T center = rough + mean_of<T>(n, [&](int64_t j) { return row[j] - rough; });
  return {center, mean_of<T>(n, squared_distance(row, center))};
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
      const int64_t converted = kConverts ? n : 0;
      std::unique_ptr<T[]> buffer(new T[3 * converted]);
      const RowWriter<T> writer(kConverts ? 0 : m * n);
      const T* weights = row_as(w, n, buffer.get() + converted);
      const T* biases = row_as(b, n, buffer.get() + 2 * converted);
      for (int64_t i = begin; i < end; ++i) {
        const T* row = row_as(x + i * n, n, buffer.get());
        T* out;
        if constexpr (kConverts) {
          out = buffer.get();
        } else {
          out = y + i * n;
        }
        T center = mean_of<T>(n, [&](int64_t j) { return row[j]; });
        T variance = mean_of<T>(n, squared_distance(row, center));
        if (is_rough(center, variance, n)) [[unlikely]]
          std::tie(center, variance) = refined(row, n, center);
        const T scale = T(1) / std::sqrt(variance + static_cast<T>(eps));
        means[i] = static_cast<scalar_t>(center);
        rstds[i] = static_cast<scalar_t>(scale);
        writer.write(out, n, [&](T* to, int64_t first, int64_t count) {
          if (writer.streams()) fetch(row, n + first, count);
          normalize(row + first, to, count, center, scale, w == nullptr ? nullptr : weights + first,
                    b == nullptr ? nullptr : biases + first);
        });
        if constexpr (kConverts) convert_row(out, y + i * n, n);
      }
    });
  });
}

// With h = (x - mean) * rstd: the weight's gradient is the sum over rows of g * h, the bias's that
// of g, and with a = g * w the input's is rstd * (a - mean(a) - h * mean(a * h)).
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
        std::vector<T> w;
        if (weight.defined()) {
          w.resize(n);
          const T* weights = row_as(weight.const_data_ptr<scalar_t>(), n, w.data());
          if (weights != w.data()) std::copy_n(weights, n, w.data());
        }
        // The rows are cut into parts by their number alone, so that sums over rows do not depend
        // on the number of threads.
        const int64_t step = std::max<int64_t>((m + 31) / 32, std::max<int64_t>(1, kGrain / n));
        const int64_t parts = (m + step - 1) / step;
        std::vector<T> sums(columns ? static_cast<size_t>(2 * parts * n) : 0);
        at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
          std::unique_ptr<T[]> buffer(new T[3 * n]);
          for (int64_t part = begin; part < end; ++part) {
            T* dw = columns ? sums.data() + 2 * part * n : nullptr;
            T* db = columns ? dw + n : nullptr;
            for (int64_t i = part * step; i < std::min(m, (part + 1) * step); ++i) {
              const T* grad = row_as(g + i * n, n, buffer.get());
              const T* row = row_as(x + i * n, n, buffer.get() + n);
              const T center = static_cast<T>(means[i]);
              const T scale = static_cast<T>(rstds[i]);
              if (columns) {
                for (int64_t j = 0; j < n; ++j) {
                  dw[j] += grad[j] * ((row[j] - center) * scale);
                  db[j] += grad[j];
                }
              }
              if (dx == nullptr) continue;
              T* out;
              if constexpr (std::is_same_v<T, scalar_t>) {
                out = dx + i * n;
              } else {
                out = buffer.get() + 2 * n;
              }
              auto backward = [&](const auto& a) {
                const T sum = sum_of<T>(n, [&](int64_t j) { return a(j); }) / static_cast<T>(n);
                const T dot =
                    sum_of<T>(n, [&](int64_t j) { return a(j) * ((row[j] - center) * scale); }) /
                    static_cast<T>(n);
                for (int64_t j = 0; j < n; ++j) {
                  out[j] = scale * (a(j) - sum - (row[j] - center) * scale * dot);
                }
              };
              if (w.empty()) {
                backward([&](int64_t j) { return grad[j]; });
              } else {
                const T* weights = w.data();
                backward([&](int64_t j) { return grad[j] * weights[j]; });
              }
              if constexpr (!std::is_same_v<T, scalar_t>) convert_row(out, dx + i * n, n);
            }
          }
        });
        if (!columns) return;
        auto* dw = mutable_data_or_null<scalar_t>(grad_weight);
        auto* db = mutable_data_or_null<scalar_t>(grad_bias);
        for (int64_t part = 1; part < parts; ++part) {
          for (int64_t j = 0; j < 2 * n; ++j) sums[j] += sums[2 * part * n + j];
        }
        for (int64_t j = 0; j < n; ++j) {
          if (dw != nullptr) dw[j] = static_cast<scalar_t>(sums[j]);
          if (db != nullptr) db[j] = static_cast<scalar_t>(sums[n + j]);
        }
      });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH(layer_norm_stub, &layer_norm_kernel);
OPLOOM_REGISTER_DISPATCH(layer_norm_backward_stub, &layer_norm_backward_kernel);

}  // namespace at::inline oploom_v1::native
