// Kernels of the softmax in cross entropies, and of logsumexp: Note [Sums of exponentials].
#include <aten/core/Dispatch.h>
#include <aten/cpu/SoftMax.h>
#include <aten/stubs/CrossEntropy.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace at::inline oploom_v1::native {
namespace {

// Of rows of n <= kShort elements.
template <typename T, typename In>
OPLOOM_NOINLINE void short_rows_sums(const In* x, int64_t n, int64_t rows, T* max, T* sum) {
  for (int64_t i = 0; i < rows; ++i) {
    typename Lanes<T>::V value[16];
    const auto [largest, total] = short_row_sums</*log=*/true, T>(x + i * n, n, value);
    max[i] = Lanes<T>::first(largest);
    sum[i] = Lanes<T>::first(total);
  }
}

// With `fetches`, rows that are to be staged are fetched while others are.
template <typename T, typename In>
void row_sums(const In* x, int64_t n, int64_t rows, T* max, T* sum, bool fetches) {
  const Ahead ahead = fetched_ahead(kFetches);
  if constexpr (kStagesRows<T>) {
    if (n >= kStagedFrom<T> && n <= kStaged) {
      const int64_t together = staged_together(n);
      for (int64_t i = 0; i < rows; i += together) {
        staged_row_sums<false, T>(x + i * n, nullptr, n, std::min(together, rows - i), max + i,
                                  sum + i, ahead, fetches ? together * n : 0);
      }
      return;
    }
  }
  if (n <= kShort<T>) return short_rows_sums(x, n, rows, max, sum);
  for (int64_t i = 0; i < rows; ++i) {
    std::tie(max[i], sum[i]) = long_row_sums<T>(x + i * n, n, ahead);
  }
}

// Longer rows are shared out among threads by parts, which are the same for any number of these.
constexpr int64_t kPart = 65536;
template <typename T, typename In>
void long_rows_sums(const In* x, int64_t n, int64_t rows, T* max, T* sum) {
  const int64_t parts = (n + kPart - 1) / kPart;
  std::vector<std::pair<T, T>> of_parts(rows * parts);
  at::parallel_for(0, rows * parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % parts * kPart;
      of_parts[i] = long_row_sums<T>(x + i / parts * n + first, std::min(kPart, n - first),
                                     fetched_ahead(kFetches));
    }
  });
  for (int64_t i = 0; i < rows; ++i) {
    const auto* of_row = &of_parts[i * parts];
    T largest = of_row[0].first, total = 0;
    for (int64_t k = 1; k < parts; ++k) largest = std::max(largest, of_row[k].first);
    for (int64_t k = 0; k < parts; ++k) {
      total += of_row[k].second * vec::exp_of_negative(of_row[k].first - largest);
    }
    max[i] = largest;
    sum[i] = total;
  }
}

void log_sums_kernel(const TensorBase& self, int64_t dim, void* maxima, void* log_sums,
                     of_places after) {
  OPLOOM_DISPATCH(self.scalar_type(), "log_sums", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using T = wide_t<scalar_t>;
    const Blocks b(self, dim);
    const auto* x = self.const_data_ptr<scalar_t>();
    auto* max = static_cast<T*>(maxima);
    auto* sum = static_cast<T*>(log_sums);
    const int64_t n = b.length;
    const RowWriter<scalar_t> fetches(self.numel());
    const auto finish = [&](int64_t place, int64_t count) {
      take_logs(sum + place, count);
      after(place, count);
    };
    if (b.inner == 1 && n > kPart) {
      long_rows_sums(x, n, b.outer, max, sum);
      return finish(0, b.outer);
    }
    if (are_few_elements(b)) {
      return for_each_some(b, kFarTile, [&](int64_t first, int64_t rows) {
        alignas(64) scalar_t columns[kFewElements * kFarTile];
        transpose_rows(columns, x + first * n, n, rows);
        ColumnSums<T> sums;
        sums.start(rows);
        sums.add_rows(columns, rows, n, rows, /*fresh=*/true, RowWriter<scalar_t>(0));
        std::copy_n(sums.max, rows, max + first);
        std::copy_n(sums.sum, rows, sum + first);
        finish(first, rows);
      });
    }
    if (b.inner == 1) {
      return for_each_some(b, b.within_grain(), [&](int64_t first, int64_t rows) {
        row_sums(x + first * n, n, rows, max + first, sum + first, fetches.streams());
        finish(first, rows);
      });
    }
    if (b.is_narrow<T>()) {
      return for_each_some(b, b.within_grain(), [&](int64_t first, int64_t blocks) {
        ColumnSums<T> sums;
        for (int64_t i = first; i < first + blocks; ++i) {
          sums.add_narrow_rows(x + i * n * b.inner, n, b.inner, fetches);
          std::copy_n(sums.max, b.inner, max + i * b.inner);
          std::copy_n(sums.sum, b.inner, sum + i * b.inner);
        }
        finish(first * b.inner, blocks * b.inner);
      });
    }
    for_each_tile(b, kFarTile, [&](int64_t offset, int64_t width) {
      ColumnSums<T> sums;
      sums.start(width);
      sums.add_rows(x + offset, b.inner, n, width, /*fresh=*/true, fetches);
      const int64_t place = b.place_of(offset);
      std::copy_n(sums.max, width, max + place);
      std::copy_n(sums.sum, width, sum + place);
      finish(place, width);
    });
  });
}

// Writes scale * (softmax - share) of rows, or of rows of columns. A loop that fetches and one that
// does not are functions of their own: a test in one of them takes a tenth of its time, and two in
// one function up to half as much again.
template <typename In>
struct ScaledSoftmax {
  using T = wide_t<In>;
  using L = Lanes<T>;
  using V = typename L::V;

  OPLOOM_ALWAYS_INLINE V of(V value, V largest, V log_sum, V scale) const {
    return (vec::exp_of_negative(value - largest - log_sum) - V(share)) * scale;
  }

  // f(j, lanes) computes some numbers of a row; see compute_row() for `pairs`. With `fetches`, what
  // lies at `next` is fetched beside it.
  template <bool fetches, bool pairs, typename F>
  OPLOOM_ALWAYS_INLINE void write(In* row, int64_t width, const In* next, const F& f) const {
    writer.write(row, width, [&](In* to, int64_t first, int64_t some) {
      compute_row<T, pairs>(to, some, [&](int64_t j, auto lanes) {
        if constexpr (fetches) writer.fetch_ahead(next, first + j, L::kSize);
        return f(first + j, lanes);
      });
    });
  }

  // Of rows of n elements, whose places begin at max, sum and scale.
  template <bool fetches>
  OPLOOM_NOINLINE void rows(const In* x, In* out, int64_t n, int64_t count, const T* max,
                            const T* sum, const T* scale) const {
    for (int64_t i = 0; i < count; ++i, x += n, out += n) {
      const V largest(max[i]), log_sum(sum[i]), factor(scale[i]);
      const auto value = [&](int64_t j, auto lanes) {
        return of(lanes.load(x + j), largest, log_sum, factor);
      };
      if (n <= kShort<T>) {
        for_each_lanes<T>(n, [&](int64_t j, auto lanes) { lanes.store(out + j, value(j, lanes)); });
      } else {
        write<fetches, /*pairs=*/true>(out, n, x + n, value);
      }
    }
  }

  // Of `count` rows of `width` columns, a place each.
  template <bool fetches>
  OPLOOM_NOINLINE void columns(const In* x, In* out, int64_t stride, int64_t count, int64_t width,
                               const T* max, const T* sum, const T* scale) const {
    for (int64_t i = 0; i < count; ++i, x += stride, out += stride) {
      write<fetches, /*pairs=*/false>(out, width, x + kFarRows * stride,
                                      [&](int64_t j, auto lanes) {
                                        return of(lanes.load(x + j), lanes.load(max + j),
                                                  lanes.load(sum + j), lanes.load(scale + j));
                                      });
    }
  }

  T share;
  RowWriter<In> writer;
};

void scaled_softmax_kernel(const TensorBase& result, const TensorBase& self, int64_t dim,
                           const TensorBase& places, const TensorBase& factors, double share,
                           of_places before, of_places after) {
  OPLOOM_DISPATCH(self.scalar_type(), "scaled_softmax", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using T = wide_t<scalar_t>;
    const Blocks b(self, dim);
    const auto* x = self.const_data_ptr<scalar_t>();
    auto* out = result.mutable_data_ptr<scalar_t>();
    const int64_t count = places.sizes()[1];
    const auto* max = places.const_data_ptr<T>();
    const auto* sum = max + count;
    const auto* loss = sum + count;
    auto* scale = factors.mutable_data_ptr<T>();
    auto* less_one = scale + count;
    const int64_t n = b.length, inner = b.inner;
    const auto with_hooks = [&](int64_t place, int64_t some, const auto& write) {
      before(place, some);
      map_row(loss + place, less_one + place, some, [](auto value) {
        if constexpr (std::is_arithmetic_v<decltype(value)>) {
          return std::expm1(-value);
        } else {
          return value.neg().expm1();
        }
      });
      write(ScaledSoftmax<scalar_t>{static_cast<T>(share), RowWriter<scalar_t>(self.numel())});
      after(place, some);
    };
    if (inner == 1) {
      return for_each_some(b, b.within_grain(), [&](int64_t first, int64_t rows) {
        with_hooks(first, rows, [&](const auto& softmax) {
          const auto write = [&]<bool fetches>(std::bool_constant<fetches>) {
            softmax.template rows<fetches>(x + first * n, out + first * n, n, rows, max + first,
                                           sum + first, scale + first);
          };
          softmax.writer.fetches_near() ? write(std::true_type()) : write(std::false_type());
        });
      });
    }
    if (b.is_narrow<T>()) {
      const WideRows wide(n, inner, /*dense=*/true, kNarrow<T>);
      return for_each_some(b, b.within_grain(), [&](int64_t first, int64_t blocks) {
        with_hooks(first * inner, blocks * inner, [&](const auto& softmax) {
          alignas(64) T of_columns[3][kTile];
          const T* const of_places[] = {max, sum, scale};
          for (int64_t i = first; i < first + blocks; ++i) {
            for (int k = 0; k < 3; ++k) {
              std::copy_n(of_places[k] + i * inner, inner, of_columns[k]);
              wide.repeat(of_columns[k]);
            }
            const auto write = [&](int64_t offset, int64_t rows, int64_t width) {
              offset += i * n * inner;
              softmax.template columns<false>(x + offset, out + offset, width, rows, width,
                                              of_columns[0], of_columns[1], of_columns[2]);
            };
            write(0, wide.count, wide.width);
            if (wide.part > 0) write(wide.count * wide.width, 1, wide.part);
          }
        });
      });
    }
    for_each_tile(b, kFarTile, [&](int64_t offset, int64_t width) {
      const int64_t place = b.place_of(offset);
      with_hooks(place, width, [&](const auto& softmax) {
        const auto write = [&]<bool fetches>(std::bool_constant<fetches>) {
          softmax.template columns<fetches>(x + offset, out + offset, inner, n, width, max + place,
                                            sum + place, scale + place);
        };
        // Of 16-bit floats, to fetch costs more than it brings.
        if constexpr (std::is_same_v<scalar_t, T>) {
          if (softmax.writer.streams()) return write(std::true_type());
        }
        write(std::false_type());
      });
    });
  });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH(log_sums_stub, &log_sums_kernel);
OPLOOM_REGISTER_DISPATCH(scaled_softmax_stub, &scaled_softmax_kernel);

}  // namespace at::inline oploom_v1::native
