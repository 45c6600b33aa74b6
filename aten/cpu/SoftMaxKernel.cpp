// Kernels of softmax, log_softmax and their gradients.
#include <aten/core/Dispatch.h>
#include <aten/cpu/SoftMax.h>
#include <aten/stubs/SoftMax.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1::native {
namespace {

// a / b for a <= 1 <= b, with 1 / b given. The remainder of the product corrects it, as if it were
// a division, which takes longer. Near the subnormal numbers the remainder is rounded, and the last
// digit of one quotient in 500 may differ.
template <typename V>
OPLOOM_ALWAYS_INLINE V quotient(V a, V b, V reciprocal) {
  if constexpr (std::is_arithmetic_v<V>) {
    return a / b;
  } else {
    const V q = a * reciprocal;
    return fmadd(fmadd(q.neg(), b, a), reciprocal, q);
  }
}

// softmax_row() for 1 <= n <= kShort. With `log`, the logarithm of the sum returned is left to
// subtract, and y has room for kShort.
template <bool log, typename T, typename In, typename Out>
OPLOOM_ALWAYS_INLINE T softmax_short_row(const In* x, Out* y, int64_t n) {
  using L = Lanes<T>;
  using V = typename L::V;
  if (n <= 0) __builtin_unreachable();
  V value[16];
  const V sum = short_row_sums<log, T>(x, n, value).second;
  for_each_lanes<T>(n, [&](int64_t i, auto lanes) {
    const V e = value[i / L::kSize];
    if constexpr (log) {
      L::store(y + i, e);
    } else {
      lanes.store(y + i, e / sum);
    }
  });
  return L::first(sum);
}

// Exponentials of rows up to this length are kept on the stack.
template <typename T>
inline constexpr int64_t kLongest = 65536 / sizeof(T);

// x and y have n elements and may be the same. If the writer streams, the row behind x is fetched.
template <bool log, typename In>
void softmax_row(const In* x, In* y, int64_t n, const RowWriter<In>& writer) {
  using T = wide_t<In>;
  using V = typename Lanes<T>::V;
  const Ahead ahead = writer.streams() ? Ahead::Far : Ahead::None;
  // f(i, lanes) computes some results; see compute_row() for `pairs`.
  const auto write = [&]<bool pairs>(std::bool_constant<pairs>, bool fetches, const auto& f) {
    writer.write(y, n, [&](In* to, int64_t first, int64_t count) {
      if (fetches) writer.fetch_ahead(x, n + first, count);
      compute_row<T, pairs>(to, count, [&](int64_t i, auto lanes) { return f(first + i, lanes); });
    });
  };
  if constexpr (log) {
    const auto [max, sum] = long_row_sums<T>(x, n, ahead);
    return write(std::true_type(), writer.streams(),
                 [x, max, log_sum = std::log(sum)](int64_t i, auto lanes) {
                   return lanes.load(x + i) - V(max) - V(log_sum);
                 });
  }
  const T max = reduce_chunk<Max, T>(x, n, ahead);
  const auto exp = [max](auto a) { return vec::exp_of_negative(a - decltype(a)(max)); };
  // Exponentials are kept: where they are not rounded, in a longer row of the results. They are
  // added up a block at a time, which is in the cache still.
  constexpr bool kSame = std::is_same_v<T, In>;
  constexpr int64_t kBlock = 16384 / sizeof(T), kFetched = 1024 / sizeof(T);
  alignas(64) T buffer[kLongest<T>];
  T* kept = buffer;
  if constexpr (kSame) {
    if (!writer.streams() || n > kLongest<T>) kept = y;
  } else if (n > kLongest<T>) {
    const T sum = reduce_chunk<Add, T>(x, n, Ahead::None, exp);
    return write(std::true_type(), writer.streams(),
                 [=, reciprocal = 1 / sum](int64_t i, auto lanes) {
                   return quotient(exp(lanes.load(x + i)), V(sum), V(reciprocal));
                 });
  }
  T sum = 0;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    for (int64_t j = i; j < i + count; j += kFetched) {
      const int64_t some = std::min(kFetched, i + count - j);
      if (writer.streams()) writer.fetch_ahead(x, n + j, some);
      compute_row<T>(kept + j, some,
                     [&](int64_t k, auto lanes) { return exp(lanes.load(x + j + k)); });
    }
    sum += reduce_chunk<Add, T>(kept + i, count, Ahead::None);
  }
  write(std::false_type(), false, [kept, sum, reciprocal = 1 / sum](int64_t i, auto lanes) {
    return quotient(lanes.load(kept + i), V(sum), V(reciprocal));
  });
}

// Short rows whose results are kept on the stack before they are stored: what is stored by a mask,
// as rows that fill no vector are, holds up loads of what lies beside it, and they may be in place.
template <typename T>
struct KeptRows {
  using L = Lanes<T>;
  static constexpr int64_t kMost = 16;
  alignas(64) T values[kMost][kShort<T>];
  // Writes f(row, values) for `count` rows of n numbers.
  template <typename Out, typename F>
  OPLOOM_ALWAYS_INLINE void store(Out* out, int64_t n, int64_t count, const F& f) const {
    for (int64_t i = 0; i < count; ++i) {
      for_each_lanes<T>(n, [&](int64_t j, auto lanes) {
        lanes.store(out + i * n + j, f(i, L::load(values[i] + j)));
      });
    }
  }
};

// y = x - max - log_sum of rows of n numbers.
template <typename T, typename In>
OPLOOM_NOINLINE void write_logs(const In* x, In* y, int64_t n, int64_t rows, const T* max,
                                const T* log_sums) {
  using V = typename Lanes<T>::V;
  for (int64_t i = 0; i < rows; ++i, x += n, y += n) {
    const V largest(max[i]), log_sum(log_sums[i]);
    compute_row<T, /*pairs=*/true>(
        y, n, [=](int64_t j, auto lanes) { return lanes.load(x + j) - largest - log_sum; });
  }
}
// y = x / sum, of x whose rows begin each n elements, or each vector.
template <typename T, typename In>
OPLOOM_NOINLINE void write_quotients(const T* x, In* y, int64_t n, int64_t rows, const T* sums,
                                     const T* reciprocals) {
  using V = typename Lanes<T>::V;
  for (int64_t i = 0; i < rows; ++i, x += std::max(n, Lanes<T>::kSize), y += n) {
    const V sum(sums[i]), reciprocal(reciprocals[i]);
    compute_row<T>(
        y, n, [=](int64_t j, auto lanes) { return quotient(lanes.load(x + j), sum, reciprocal); });
  }
}

// What is subtracted, the logarithms of n sums, or what is multiplied by, their reciprocals.
template <bool log, typename T>
void finish_sums(T* sum, T* reciprocal, int64_t n) {
  if constexpr (log) {
    take_logs(sum, n);
  } else {
    map_row(sum, reciprocal, n, [](auto value) { return decltype(value)(T(1)) / value; });
  }
}

// softmax_row() for rows of kStagedFrom to kLongest elements, by Note [Rows by stages].
template <bool log, typename In>
void softmax_staged_rows(const In* x, In* y, int64_t n, int64_t rows, const RowWriter<In>& writer) {
  using T = wide_t<In>;
  const bool streams = writer.streams();
  const int64_t together = staged_together(n);
  alignas(64) T buffer[kLongest<T>];
  alignas(64) In results[kStaged];
  T max[kMostStaged], sums[kMostStaged], reciprocals[kMostStaged];
  for (int64_t i = 0; i < rows; i += together, x += together * n, y += together * n) {
    const int64_t count = std::min(together, rows - i);
    T* kept = buffer;
    if constexpr (std::is_same_v<T, In>) {
      if (!streams && n >= Lanes<T>::kSize) kept = y;
    }
    staged_row_sums<!log, T>(x, kept, n, count, max, sums, streams ? Ahead::Far : Ahead::None,
                             streams ? together * n : 0);
    finish_sums<log>(sums, reciprocals, count);
    // `width` elements from `first` on of a number of rows.
    const auto write = [&](In* to, int64_t first, int64_t width, int64_t height) {
      if constexpr (log) {
        write_logs(x + first, to, width, height, max, sums);
      } else {
        write_quotients(kept + first, to, width, height, sums, reciprocals);
      }
    };
    if (!streams) {
      write(y, 0, n, count);
    } else if (n > kStaged) {
      writer.write(y, n, [&](In* to, int64_t first, int64_t some) { write(to, first, some, 1); });
    } else {
      // Rows that end within a line are parts of one run of memory.
      In* to = results;
      if constexpr (!log && std::is_same_v<T, In>) {
        if (n >= Lanes<T>::kSize) to = kept;
      }
      write(to, 0, n, count);
      writer.copy(y, to, count * n);
    }
  }
}

template <bool log, typename In>
void softmax_rows(const In* x, In* y, int64_t n, int64_t rows, const RowWriter<In>& writer) {
  using T = wide_t<In>;
  if constexpr (kStagesRows<T>) {
    if (n >= kStagedFrom<T> && n <= kLongest<T>) {
      return softmax_staged_rows<log>(x, y, n, rows, writer);
    }
  }
  if (n > kShort<T>) {
    for (int64_t i = 0; i < rows; ++i) softmax_row<log>(x + i * n, y + i * n, n, writer);
    return;
  }
  if constexpr (!log) {
    for (int64_t i = 0; i < rows; ++i) softmax_short_row<false, T>(x + i * n, y + i * n, n);
    return;
  }
  // Logarithms are taken together.
  constexpr int64_t kTogether = KeptRows<T>::kMost;
  T sums[kTogether];
  KeptRows<T> kept;
  for (; rows > 0; rows -= kTogether, x += kTogether * n, y += kTogether * n) {
    const int64_t count = std::min(kTogether, rows);
    for (int64_t i = 0; i < count; ++i) {
      sums[i] = softmax_short_row<true, T>(x + i * n, kept.values[i], n);
    }
    take_logs(sums, count);
    kept.store(y, n, count,
               [&](int64_t i, auto value) { return value - decltype(value)(sums[i]); });
  }
}

// Reduced-precision elements are converted to float and back, a tile at a time.
template <typename From, typename To>
void convert(const From* from, int64_t from_stride, To* to, int64_t to_stride, int64_t rows,
             int64_t width) {
  if (from_stride == width && to_stride == width) return convert_row(from, to, rows * width);
  for (int64_t k = 0; k < rows; ++k) convert_row(from + k * from_stride, to + k * to_stride, width);
}

// The same for `width` <= kTile columns of n elements, whose rows are x_stride and y_stride apart.
// Exponentials of 16-bit floats are kept as floats until all are added up.
template <bool log, typename In>
void softmax_columns(const In* x, int64_t x_stride, In* y, int64_t y_stride, int64_t n,
                     int64_t width) {
  using T = wide_t<In>;
  using L = Lanes<T>;
  using V = typename L::V;
  constexpr bool kSame = std::is_same_v<T, In>;
  // What fills a vector in part is loaded and stored as fast by AVX512 alone.
  const bool converts = !kSame && sizeof(V) < 64 && width % L::kSize != 0;
  std::unique_ptr<T[]> buffer(kSame || (log && !converts) ? nullptr : new T[n * width]);
  T* kept = buffer.get();
  if constexpr (!kSame) {
    if (converts) {
      convert(x, x_stride, kept, width, n, width);
      softmax_columns<log>(kept, width, kept, width, n, width);
      return convert(kept, width, y, y_stride, n, width);
    }
  }
  int64_t kept_stride = width;
  if constexpr (kSame) {
    kept = y;
    kept_stride = y_stride;
  }
  // Rows that fill their last vector in part are taken together as well.
  const bool fills = width < L::kSize || width % L::kSize == 0;
  const WideRows wide(n, width, x_stride == width && y_stride == width,
                      fills ? L::kSize : 4 * L::kSize);
  x_stride *= wide.folds;
  y_stride *= wide.folds;
  kept_stride *= wide.folds;
  alignas(64) T max[kTile + L::kSize];
  alignas(64) T sum[kTile + L::kSize];
  alignas(64) T reciprocal[kTile + L::kSize];
  for_each_lanes<T>(wide.width, [&](int64_t j, auto lanes) {
    L::store(max + j, lanes.load(x + j));
    L::store(sum + j, V(T(0)));
  });
  // f(j, lanes, row); some rows together, as the processor does not see them coming.
  const auto for_each_row = [&](int64_t first, const auto& f) {
    const auto rows = [&]<int64_t... r>(int64_t k, int64_t elements,
                                        std::integer_sequence<int64_t, r...>) {
      for_each_lanes<T>(elements, [&](int64_t j, auto lanes) { (f(j, lanes, k + r), ...); });
    };
    constexpr int64_t kTogether = 4;
    for_each_group<kTogether, 1>(first, wide.count,
                                 [&](int64_t k, auto group) { rows(k, wide.width, group); });
    if (wide.part > 0) rows(wide.count, wide.part, std::make_integer_sequence<int64_t, 1>{});
  };
  for_each_row(1, [&](int64_t j, auto lanes, int64_t k) {
    const V old = L::load(max + j);
    L::store(max + j, lanes.with(PlainMax::apply(old, lanes.load(x + k * x_stride + j)), old));
  });
  wide.join(max, [](T p, T q) { return PlainMax::apply(p, q); });
  wide.repeat(max);
  for_each_row(0, [&](int64_t j, auto lanes, int64_t k) {
    const V e = vec::exp_of_negative(lanes.load(x + k * x_stride + j) - L::load(max + j));
    if constexpr (!log) lanes.store(kept + k * kept_stride + j, e);
    const V old = L::load(sum + j);
    L::store(sum + j, lanes.with(old + e, old));
  });
  wide.join(sum, [](T p, T q) { return p + q; });
  finish_sums<log>(sum, reciprocal, wide.columns);
  wide.repeat(sum);
  if constexpr (!log) wide.repeat(reciprocal);
  for_each_row(0, [&](int64_t j, auto lanes, int64_t k) {
    In* const to = y + k * y_stride + j;
    if constexpr (log) {
      lanes.store(to, lanes.load(x + k * x_stride + j) - L::load(max + j) - L::load(sum + j));
    } else {
      const V e = lanes.load(kept + k * kept_stride + j);
      lanes.store(to, quotient(e, L::load(sum + j), L::load(reciprocal + j)));
    }
  });
}

// Writes `width` <= kFarTile columns of n rows by the writer; f(offset of the row, column, lanes)
// computes some elements. 16-bit results of one that is long are rounded in a loop of their own,
// since both want more constants than there are registers.
template <bool is_long, typename Out, typename F>
void write_far_rows(Out* out, int64_t stride, int64_t n, int64_t width,
                    const RowWriter<Out>& writer, const F& f) {
  using T = wide_t<Out>;
  constexpr bool kApart = is_long && !std::is_same_v<T, Out>;
  alignas(64) T buffer[kApart ? kFarTile : 1];
  for (int64_t row = 0; row < n * stride; row += stride) {
    writer.write(out + row, width, [&](Out* to, int64_t first, int64_t count) {
      const auto compute = [&](auto* results) {
        for_each_lanes<T>(count, [&](int64_t j, auto lanes) {
          lanes.store(results + j, f(row, first + j, lanes));
        });
      };
      if constexpr (kApart) {
        compute(buffer);
        convert_row(buffer, to, count);
      } else {
        compute(to);
      }
    });
  }
}

// The same of columns of which a cache does not keep a tile: blocks of long rows are gone over,
// once for the largest numbers and the sums, which are scaled where a larger number turns up, and
// once for the results. Writes `width` <= kFarTile columns of an output that `writer` was made for.
template <bool log, typename In>
void softmax_far_columns(const In* x, In* y, int64_t stride, int64_t n, int64_t width,
                         const RowWriter<In>& writer) {
  using T = wide_t<In>;
  using L = Lanes<T>;
  using V = typename L::V;
  ColumnSums<T> sums;
  sums.start(width);
  sums.add_rows(x, stride, n, width, /*fresh=*/true, writer);
  auto& [max, sum] = sums;
  alignas(64) T reciprocal[kFarTile + L::kSize];
  finish_sums<log>(sum, reciprocal, width);
  write_far_rows<!log>(y, stride, n, width, writer, [&](int64_t row, int64_t j, auto lanes) {
    writer.fetch_ahead(x, row + j + kFarRows * stride, L::kSize);
    const V distance = lanes.load(x + row + j) - L::load(max + j);
    if constexpr (log) return distance - L::load(sum + j);
    if constexpr (!log) {
      return quotient(vec::exp_of_negative(distance), L::load(sum + j), L::load(reciprocal + j));
    }
  });
}

// The sum of f(j, lanes) over n numbers, some of which are added up side by side.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE T row_sum(int64_t n, const F& f) {
  using L = Lanes<T>;
  constexpr int64_t kTogether = 256 / sizeof(T), kVecs = kTogether / L::kSize;
  typename L::V sums[kVecs];
  std::fill_n(sums, kVecs, typename L::V(T(0)));
  int64_t i = 0;
  for (; i + kTogether <= n; i += kTogether) {
    OPLOOM_UNROLL_VECS
    for (int64_t k = 0; k < kVecs; ++k) sums[k] = sums[k] + f(i + k * L::kSize, L());
  }
  for_each_lanes<T>(n - i, [&](int64_t j, auto lanes) { sums[0] = sums[0] + f(i + j, lanes); });
  halve<Add, 1>(sums);
  return L::first(across<Add, T>(sums[0]));
}

// Calls write(values) for the gradient of a row of n elements, of which values(j, lanes) computes
// some.
template <bool log, typename T, typename In, typename Write>
OPLOOM_ALWAYS_INLINE void softmax_backward_row(const In* grad, const In* y, int64_t n,
                                               const Write& write) {
  using V = typename Lanes<T>::V;
  const auto term = [=](int64_t j, auto lanes) {
    const V g = lanes.load(grad + j);
    return log ? g : g * lanes.load(y + j);
  };
  V sum(T(0));
  if (n > kShort<T>) {
    sum = V(row_sum<T>(n, term));
  } else {
    for_each_lanes<T>(n, [&](int64_t j, auto lanes) { sum = sum + term(j, lanes); });
    sum = across<Add, T>(sum);
  }
  write([=](int64_t j, auto lanes) {
    const V g = lanes.load(grad + j), value = lanes.load(y + j);
    return log ? g - vec::exp_of(value) * sum : value * (g - sum);
  });
}

template <bool log, typename In>
void softmax_backward_rows(const In* grad, const In* y, In* out, int64_t n, int64_t rows) {
  using T = wide_t<In>;
  if (n > kShort<T>) {
    for (int64_t i = 0; i < rows * n; i += n) {
      softmax_backward_row<log, T>(grad + i, y + i, n, [&](const auto& values) {
        compute_row<T, true>(out + i, n, values);
      });
    }
    return;
  }
  constexpr int64_t kTogether = KeptRows<T>::kMost;
  KeptRows<T> kept;
  for (; rows > 0; rows -= kTogether, out += kTogether * n) {
    const int64_t count = std::min(kTogether, rows);
    for (int64_t i = 0; i < count; ++i, grad += n, y += n) {
      softmax_backward_row<log, T>(grad, y, n, [&](const auto& values) {
        for_each_lanes<T>(n, [&](int64_t j, auto lanes) {
          Lanes<T>::store(kept.values[i] + j, values(j, lanes));
        });
      });
    }
    kept.store(out, n, count, [](int64_t, auto value) { return value; });
  }
}

template <bool log, typename T>
void softmax_backward_columns(const T* grad, const T* y, T* out, int64_t stride, int64_t out_stride,
                              int64_t n, int64_t width) {
  const WideRows wide(n, width, stride == width && out_stride == width, 2 * Lanes<T>::kSize);
  stride *= wide.folds;
  out_stride *= wide.folds;
  T sum[kTile] = {};
  // f(elements, row of grad, of y and of out)
  const auto for_each_row = [&](const auto& f) {
    int64_t k = 0;
    for (; k < wide.count; ++k) {
      f(wide.width, grad + k * stride, y + k * stride, out + k * out_stride);
    }
    if (wide.part > 0) f(wide.part, grad + k * stride, y + k * stride, out + k * out_stride);
  };
  for_each_row([&](int64_t elements, const T* g, const T* v, T*) {
    for (int64_t j = 0; j < elements; ++j) sum[j] += log ? g[j] : g[j] * v[j];
  });
  wide.join(sum, [](T p, T q) { return p + q; });
  wide.repeat(sum);
  for_each_row([&](int64_t elements, const T* g, const T* v, T* o) {
    for (int64_t j = 0; j < elements; ++j) {
      o[j] = log ? g[j] - vec::exp_of(v[j]) * sum[j] : v[j] * (g[j] - sum[j]);
    }
  });
}

// The same of columns that leave the cache, as in softmax_far_columns().
template <bool log, typename In>
void softmax_backward_far_columns(const In* grad, const In* y, In* out, int64_t stride, int64_t n,
                                  int64_t width, const RowWriter<In>& writer) {
  using T = wide_t<In>;
  using L = Lanes<T>;
  using V = typename L::V;
  alignas(64) T sum[kFarTile + L::kSize];
  std::fill_n(sum, width, T(0));
  for_each_group<kFarRows, 1>(
      0, n, [&]<int64_t... r>(int64_t k, std::integer_sequence<int64_t, r...>) {
        for_each_lanes<T>(width, [&](int64_t j, auto lanes) {
          const int64_t place = k * stride + j;
          const V old = L::load(sum + j);
          V total = old;
          const auto add = [&](int64_t row) {
            writer.fetch_ahead(grad, row + static_cast<int64_t>(sizeof...(r)) * stride, L::kSize);
            const V g = lanes.load(grad + row);
            if constexpr (log) {
              total = total + g;
            } else {
              writer.fetch_ahead(y, row + static_cast<int64_t>(sizeof...(r)) * stride, L::kSize);
              total = total + g * lanes.load(y + row);
            }
          };
          (add(place + r * stride), ...);
          L::store(sum + j, lanes.with(total, old));
        });
      });
  write_far_rows<log>(out, stride, n, width, writer, [&](int64_t row, int64_t j, auto lanes) {
    writer.fetch_ahead(grad, row + j + kFarRows * stride, L::kSize);
    writer.fetch_ahead(y, row + j + kFarRows * stride, L::kSize);
    const V g = lanes.load(grad + row + j), value = lanes.load(y + row + j);
    return log ? g - vec::exp_of(value) * L::load(sum + j) : value * (g - L::load(sum + j));
  });
}

// Blocks of few short rows, as small matrices of a batch, are taken together: the same row of each
// is put behind that of the one before, which gives columns as wide as tiles. So are the elements
// of rows of a few: softmax of two floats takes 0.13 of the time, of four 0.25, of ten 0.65;
// gradients of ten take as long as before.
template <typename T>
bool takes_planes(const Blocks& b) {
  constexpr int64_t kBytes = 64, kMostRows = 16, kFewest = 16;  // measured on a Zen 4
  if (b.inner == 1) return are_few_elements(b);
  return b.inner * int64_t{sizeof(T)} <= kBytes && b.length <= kMostRows && b.outer >= kFewest;
}
constexpr int64_t kPlanesElements = 16 * kTile;

// Calls compute(offset, number, width) for some blocks, the first of which begins at `offset`; what
// is put together of them has rows of `width` elements.
template <typename F>
void for_each_planes(const Blocks& b, const F& compute) {
  for_each_some(b, kTile / b.inner, [&](int64_t first, int64_t number) {
    compute(first * b.length * b.inner, number, number * b.inner);
  });
}

// Where the rows of some blocks lie: from one to the next of a block, and from one block's to the
// next one's, in elements.
struct PlaneSteps {
  int64_t row, block;
};
// In a tensor, and put together.
PlaneSteps apart(const Blocks& b) { return {b.inner, b.length * b.inner}; }
PlaneSteps together(const Blocks& b, int64_t number) { return {number * b.inner, b.inner}; }

template <typename T>
void move_planes(const Blocks& b, int64_t number, T* to, PlaneSteps to_steps, const T* from,
                 PlaneSteps from_steps) {
  constexpr int64_t kSize = sizeof(T);
  if (b.inner == 1) {
    const bool joins = to_steps.block == 1;
    return joins ? transpose_rows(to, from, b.length, number)
                 : transpose_rows(to, from, number, b.length);
  }
  for (int64_t r = 0; r < b.length; ++r) {
    at::detail::copy_rows(reinterpret_cast<char*>(to + r * to_steps.row), to_steps.block * kSize,
                          reinterpret_cast<const char*>(from + r * from_steps.row),
                          from_steps.block * kSize, static_cast<size_t>(b.inner * kSize), number);
  }
}

template <bool log>
void forward_kernel(const TensorBase& result, const TensorBase& self, int64_t dim) {
  OPLOOM_DISPATCH(
      self.scalar_type(), log ? "log_softmax" : "softmax", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
        using T = wide_t<scalar_t>;
        const Blocks b(self, dim);
        if (self.numel() == 0) return;
        const auto* x = self.const_data_ptr<scalar_t>();
        auto* y = result.mutable_data_ptr<scalar_t>();
        const int64_t n = b.length;
        if (b.leaves_cache(sizeof(scalar_t), sizeof(T), /*many_rows=*/64)) {
          for_each_tile(b, kFarTile, [&](int64_t offset, int64_t width) {
            softmax_far_columns<log>(x + offset, y + offset, b.inner, n, width,
                                     RowWriter<scalar_t>(self.numel()));
          });
        } else if (takes_planes<scalar_t>(b)) {
          for_each_planes(b, [&](int64_t offset, int64_t number, int64_t width) {
            alignas(64) scalar_t rows[kPlanesElements];
            const PlaneSteps steps = together(b, number);
            move_planes<scalar_t>(b, number, rows, steps, x + offset, apart(b));
            softmax_columns<log>(rows, width, rows, width, n, width);
            move_planes<scalar_t>(b, number, y + offset, apart(b), rows, steps);
          });
        } else if (b.inner == 1 && converts_rows<scalar_t>(n)) {
          for_each_some(b, converted_together(n), [&](int64_t first, int64_t rows) {
            // Not in place: what a mask has stored holds up loads of what lies beside it.
            T from[kConverted], to[kConverted];
            convert_row(x + first * n, from, rows * n);
            softmax_rows<log>(from, to, n, rows, RowWriter<T>(0));
            convert_row(to, y + first * n, rows * n);
          });
        } else if (b.inner == 1) {
          at::parallel_for(0, b.outer, b.within_grain(), [&](int64_t begin, int64_t end) {
            const RowWriter<scalar_t> writer(self.numel());
            softmax_rows<log>(x + begin * n, y + begin * n, n, end - begin, writer);
          });
        } else {
          for_each_tile(b, kTile, [&](int64_t offset, int64_t width) {
            softmax_columns<log>(x + offset, b.inner, y + offset, b.inner, n, width);
          });
        }
      });
}

template <bool log>
void backward_kernel(const TensorBase& grad_input, const TensorBase& grad_output,
                     const TensorBase& output, int64_t dim) {
  OPLOOM_DISPATCH(
      output.scalar_type(), log ? "_log_softmax_backward_data" : "_softmax_backward_data",
      (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
        using T = wide_t<scalar_t>;
        const Blocks b(output, dim);
        if (output.numel() == 0) return;
        const auto* g = grad_output.const_data_ptr<scalar_t>();
        const auto* y = output.const_data_ptr<scalar_t>();
        auto* out = grad_input.mutable_data_ptr<scalar_t>();
        const int64_t n = b.length;
        constexpr bool kSame = std::is_same_v<T, scalar_t>;
        if (kSame ? b.leaves_cache(2 * sizeof(T), 2 * sizeof(T), /*many_rows=*/8) : b.is_wide()) {
          for_each_tile(b, kFarTile, [&](int64_t offset, int64_t width) {
            softmax_backward_far_columns<log>(g + offset, y + offset, out + offset, b.inner, n,
                                              width, RowWriter<scalar_t>(output.numel()));
          });
        } else if (takes_planes<scalar_t>(b)) {
          for_each_planes(b, [&](int64_t offset, int64_t number, int64_t width) {
            alignas(64) scalar_t grads[kPlanesElements], values[kPlanesElements];
            const PlaneSteps steps = together(b, number);
            move_planes<scalar_t>(b, number, grads, steps, g + offset, apart(b));
            move_planes<scalar_t>(b, number, values, steps, y + offset, apart(b));
            if constexpr (kSame) {
              softmax_backward_columns<log>(grads, values, grads, width, width, n, width);
            } else {
              T grad[kPlanesElements], value[kPlanesElements];
              convert_row(grads, grad, n * width);
              convert_row(values, value, n * width);
              softmax_backward_columns<log>(grad, value, grad, width, width, n, width);
              convert_row(grad, grads, n * width);
            }
            move_planes<scalar_t>(b, number, out + offset, apart(b), grads, steps);
          });
        } else if (b.inner == 1 && converts_rows<scalar_t>(n)) {
          for_each_some(b, converted_together(n), [&](int64_t first, int64_t rows) {
            T grad[kConverted], value[kConverted];
            convert_row(g + first * n, grad, rows * n);
            convert_row(y + first * n, value, rows * n);
            softmax_backward_rows<log>(grad, value, grad, n, rows);
            convert_row(grad, out + first * n, rows * n);
          });
        } else if (b.inner == 1) {
          at::parallel_for(0, b.outer, b.within_grain(), [&](int64_t begin, int64_t end) {
            softmax_backward_rows<log>(g + begin * n, y + begin * n, out + begin * n, n,
                                       end - begin);
          });
        } else if constexpr (!std::is_same_v<T, scalar_t>) {
          for_each_tile(b, kTile, [&](int64_t offset, int64_t width) {
            std::unique_ptr<T[]> buffer(new T[2 * n * width]);
            T* grad = buffer.get();
            T* value = grad + n * width;
            convert(g + offset, b.inner, grad, width, n, width);
            convert(y + offset, b.inner, value, width, n, width);
            softmax_backward_columns<log>(grad, value, grad, width, width, n, width);
            convert(grad, width, out + offset, b.inner, n, width);
          });
        } else {
          for_each_tile(b, kTile, [&](int64_t offset, int64_t width) {
            softmax_backward_columns<log>(g + offset, y + offset, out + offset, b.inner, b.inner, n,
                                          width);
          });
        }
      });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH(softmax_stub, &forward_kernel<false>);
OPLOOM_REGISTER_DISPATCH(log_softmax_stub, &forward_kernel<true>);
OPLOOM_REGISTER_DISPATCH(softmax_backward_stub, &backward_kernel<false>);
OPLOOM_REGISTER_DISPATCH(log_softmax_backward_stub, &backward_kernel<true>);

}  // namespace at::inline oploom_v1::native
