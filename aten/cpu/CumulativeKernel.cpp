// Kernels of cumsum and cumprod.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/FarRows.h>
#include <aten/cpu/Reduce.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/cpu/Squares.h>
#include <aten/cpu/vec/vec.h>
#include <aten/stubs/ReduceOps.h>
#include <aten/stubs/Strips.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

namespace at::inline oploom_v1::native {
namespace {

// Running results are kept in a wider dtype: their rounding errors would add up along the row.
template <typename T>
struct running {
  using type = std::conditional_t<std::is_same_v<T, float>, double, wide_t<T>>;
};
template <>
struct running<c10::complex<float>> {
  using type = c10::complex<double>;
};

// Complex numbers by their parts: GCC puts one that is also kept together in memory first, and
// waits for that.
template <typename T>
OPLOOM_ALWAYS_INLINE void put(char* to, const T& value) {
  T& element = *reinterpret_cast<T*>(to);
  if constexpr (c10::is_complex_v<T>) {
    element.real(value.real());
    element.imag(value.imag());
  } else {
    element = value;
  }
}

// Rows are `length` elements, `in_stride` and `out_stride` bytes apart. N rows run side by side, to
// hide the latency of the dependent operations.
template <typename F, typename T, int64_t N>
void scan_rows(const char* const* in, char* const* out, int64_t length, int64_t in_stride,
               int64_t out_stride) {
  using Acc = typename running<T>::type;
  Acc acc[N];
  for (int64_t r = 0; r < N; ++r) acc[r] = F::template identity<Acc>();
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t r = 0; r < N; ++r) {
      acc[r] =
          F::apply(acc[r], static_cast<Acc>(*reinterpret_cast<const T*>(in[r] + i * in_stride)));
      put(out[r] + i * out_stride, static_cast<T>(acc[r]));
    }
  }
}

// The running results of neighbours, one after the other, from that of those before on.
template <typename F, typename T, typename Acc>
OPLOOM_ALWAYS_INLINE void scan_row(const T* in, T* out, int64_t length, Acc result) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < length; ++i) {
    result = F::apply(result, static_cast<Acc>(in[i]));
    put(reinterpret_cast<char*>(out + i), static_cast<T>(result));
  }
}

// Short rows, each the neighbours after those of the one before. 16-bit floats are floats for a
// while.
template <typename F, typename T>
void scan_dense_rows(const T* in, T* out, int64_t length, int64_t rows) {
  using Acc = typename running<T>::type;
  if constexpr (c10::is_reduced_floating_point_v<T>) {
    constexpr int64_t kSome = 1024;
    float some[kSome];
    const int64_t together = kSome / length;
    for (; rows > 0; rows -= together, in += together * length, out += together * length) {
      const int64_t count = std::min(rows, together);
      convert_row(in, some, count * length);
      for (int64_t i = 0; i < count * length; i += length) {
        scan_row<F>(some + i, some + i, length, F::template identity<Acc>());
      }
      convert_row(some, out, count * length);
    }
  } else {
    for (; rows > 0; --rows, in += length, out += length) {
      scan_row<F>(in, out, length, F::template identity<Acc>());
    }
  }
}

// Running sums of neighbours in double, from those in every lane of `sums` on. What follows may be
// added up from there if `length` is a multiple of eight.
template <typename T>
OPLOOM_ALWAYS_INLINE void sum_some(const T* in, T* out, int64_t length, vec::Vec<double>& sums) {
  int64_t i = 0;
  for (; i + 8 <= length; i += 8) vec::sum_eight(in + i, out + i, sums);
  scan_row<Add>(in + i, out + i, length - i, sums[0]);
}
template <typename T>
void sum_row(const T* in, T* out, int64_t length) {
  vec::Vec<double> sums(0.0);
  if constexpr (std::is_floating_point_v<T>) {
    sum_some(in, out, length, sums);
  } else {
    // 16-bit floats, some of which are floats for a while.
    constexpr int64_t kSome = 256;
    float some[kSome];
    for (int64_t i = 0; i < length; i += kSome) {
      const int64_t count = std::min(kSome, length - i);
      convert_row(in + i, some, count);
      sum_some(some, some, count, sums);
      convert_row(some, out + i, count);
    }
  }
}
// Up to how many rows are summed so, if they are so few: of doubles, four and more take less time
// side by side.
template <typename T>
constexpr int64_t kSummedAlone =
    std::is_same_v<T, double>                                         ? 3
    : std::is_same_v<T, float> || c10::is_reduced_floating_point_v<T> ? 15
                                                                      : 0;

// The running results of a Vec of rows, in doubles for floats: takes the next element of each, and
// gives it its result.
template <typename F, typename Acc, typename V>
struct RunningVec {
  static constexpr size_t kVecs = sizeof(Acc) / sizeof(typename V::value_type);
  OPLOOM_ALWAYS_INLINE V next(V x) {
    if constexpr (kVecs == 2) {
      const auto wide = widen(x);
      for (size_t i = 0; i < kVecs; ++i) results[i] = F::apply(results[i], wide[i]);
      return narrow(results[0], results[1]);
    } else {
      return results[0] = F::apply(results[0], x);
    }
  }
  static constexpr auto start() {
    std::array<vec::Vec<Acc>, kVecs> all;
    all.fill(vec::Vec<Acc>(F::template identity<Acc>()));
    return all;
  }
  std::array<vec::Vec<Acc>, kVecs> results = start();
};

// Rows side by side, as many as a Vec has elements: they are transposed in registers on the way,
// and floats take two thirds of the time that sum_row() takes. `ahead`: bytes from what is read to
// what is to be fetched.
template <bool stream, typename F, typename T>
void scan_rows_in_squares(const T* const* in, T* const* out, int64_t length, int64_t ahead) {
  using V = typename vec::Rows<T>::V;
  using Acc = typename running<T>::type;
  using Piece = Square<typename V::value_type>;
  constexpr int64_t kSide = V::size();
  static_assert(Piece::kRows == kSide);
  RunningVec<F, Acc, V> running;
  int64_t i = 0;
  for (; i + kSide <= length; i += kSide) {
    typename Piece::Elements column[kSide];
#pragma GCC unroll 16
    for (int r = 0; r < kSide; ++r) {
      column[r] = std::bit_cast<typename Piece::Elements>(vec::Rows<T>::load(in[r] + i));
      __builtin_prefetch(reinterpret_cast<const char*>(in[r] + i) + ahead);
    }
    Piece::transpose(column);
#pragma GCC unroll 16
    for (int c = 0; c < kSide; ++c) {
      column[c] =
          std::bit_cast<typename Piece::Elements>(running.next(std::bit_cast<V>(column[c])));
    }
    Piece::transpose(column);
#pragma GCC unroll 16
    for (int r = 0; r < kSide; ++r) {
      if constexpr (stream) {
        stream_line(reinterpret_cast<char*>(out[r] + i), reinterpret_cast<const char*>(&column[r]));
      } else {
        vec::Rows<T>::store(out[r] + i, std::bit_cast<V>(column[r]));
      }
    }
  }
  Acc rest[kSide];
  std::memcpy(rest, running.results.data(), sizeof rest);
  for (int r = 0; r < kSide; ++r) scan_row<F>(in[r] + i, out[r] + i, length - i, rest[r]);
}

// Rows from which on they are gone through side by side. All are then summed one number after the
// other, whatever the instruction set and the number of threads, fewer floats by eights.
constexpr int64_t kSideBySide = 16;
// Shorter rows are gone through one by one: the processor works at several of them by itself.
template <typename T>
constexpr int64_t kShort = sizeof(T) <= 4 ? 16 : 32;

// Whether a Vec's results are a line.
template <typename T>
constexpr bool kLines = vec::Rows<T>::size() * sizeof(T) == kLineBytes;

// Of the `count` rows from which the walker goes on, as many as fill vectors; says how many.
template <bool stream, typename F, typename T>
int64_t scan_side_by_side(const char* in, char* out, Walker& walker, int64_t count, int64_t length,
                          int64_t row_stride) {
  using V = typename vec::Rows<T>::V;
  if constexpr (V::kInRegister) {
    // Rows end before the processor has learnt where it goes: those after the next are fetched.
    const int64_t ahead = std::abs(row_stride) <= 8192 ? V::size() * row_stride : 128;
    const T* from[V::size()];
    T* to[V::size()];
    int64_t i = 0;
    for (; i + V::size() <= count; i += V::size()) {
      for (int64_t r = 0; r < V::size(); ++r, walker.next()) {
        from[r] = reinterpret_cast<const T*>(in + walker.in);
        to[r] = reinterpret_cast<T*>(out + walker.out);
      }
      scan_rows_in_squares<stream, F, T>(from, to, length, ahead);
    }
    if (stream) at::detail::stream_fence();
    return i;
  }
  return 0;
}

// Whether rows, which are whole lines, are written past the cache.
bool streams_rows(const char* in, const char* out, const WalkDims& kept, bool far) {
  bool lines = at_lines(out, 0);
  for (const WalkDim& dim : kept) lines = lines && at_lines(out, dim.out);
  return far && in != out && lines;
}

// scan_columns() of neighbouring rows of 16-bit floats, for which the compiler has no vectors.
// Those of pairs are kept in the order of these.
template <typename F, int count, typename T>
void scan_dense_columns(const char* in, char* out, int64_t in_stride, int64_t out_stride, int64_t n,
                        float* acc) {
  using R = vec::Rows<T>;
  using V = typename R::V;
  const auto rows = [&](int64_t first, const auto& next) {
    for (int r = 0; r < count; ++r) {
      next(reinterpret_cast<const T*>(in + r * in_stride) + first,
           reinterpret_cast<T*>(out + r * out_stride) + first);
    }
  };
  int64_t i = 0;
  for (; i + 2 * R::size() <= n; i += 2 * R::size()) {
    V first = V::loadu(acc + i), second = V::loadu(acc + i + R::size());
    rows(i, [&](const T* from, T* to) {
      first = F::apply(first, R::load_of_pair(from, 0));
      second = F::apply(second, R::load_of_pair(from, 1));
      R::store_pair(to, first, second);
    });
    first.storeu(acc + i);
    second.storeu(acc + i + R::size());
  }
  for (; i < n; i += R::size()) {
    const int64_t some = std::min<int64_t>(n - i, R::size());
    V results = V::loadu(acc + i, some);
    rows(i, [&](const T* from, T* to) {
      results = F::apply(results, R::load(from, some));
      R::store(to, results, some);
    });
    results.storeu(acc + i, some);
  }
}

// The next `count` elements of n rows side by side, which are in_step and out_step bytes apart.
template <typename F, int count, typename T, typename Acc, typename InStep, typename OutStep>
OPLOOM_ALWAYS_INLINE void scan_columns(const char* in, char* out, int64_t in_stride,
                                       int64_t out_stride, InStep in_step, OutStep out_step,
                                       int64_t n, Acc* acc) {
  if constexpr (c10::is_reduced_floating_point_v<T> && vec::Vec<Acc>::kInRegister &&
                !std::is_same_v<InStep, int64_t>) {
    return scan_dense_columns<F, count, T>(in, out, in_stride, out_stride, n, acc);
  }
  // The two tensors may be one, where each element is read before it is written.
  OPLOOM_INDEPENDENT_ITERATIONS
  for (int64_t j = 0; j < n; ++j) {
    Acc result = acc[j];
    for (int r = 0; r < count; ++r) {
      const T x = *reinterpret_cast<const T*>(in + r * in_stride + j * in_step);
      result = F::apply(result, static_cast<Acc>(x));
      put(out + r * out_stride + j * out_step, static_cast<T>(result));
    }
    acc[j] = result;
  }
}

// n rows of dense elements, so many bytes from one to the next.
template <typename F, typename T>
OPLOOM_ALWAYS_INLINE void scan_each_row(const char* in, int64_t in_step, char* out,
                                        int64_t out_step, int64_t length, int64_t n) {
  const int64_t bytes = length * int64_t{sizeof(T)};
  const int64_t together = in_step == bytes && out_step == bytes ? n : 1;
  for (; n > 0; n -= together, in += in_step, out += out_step) {
    scan_dense_rows<F>(reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out), length, together);
  }
}

// Short ones of 16-bit floats, many of which are converted together, with gaps behind them.
template <typename F, typename T>
void scan_gathered_rows(const char* in, int64_t in_step, char* out, int64_t out_step,
                        int64_t length, int64_t n) {
  constexpr int64_t kBuffer = 4096;
  alignas(64) char buffer[kBuffer];
  const int64_t bytes = length * int64_t{sizeof(T)};
  const bool scatters = out_step != bytes;
  for (int64_t rows; n > 0; n -= rows, in += rows * in_step, out += rows * out_step) {
    rows = std::min(n, kBuffer / bytes);
    at::detail::copy_rows(buffer, bytes, in, in_step, bytes, rows);
    scan_dense_rows<F>(reinterpret_cast<const T*>(buffer),
                       reinterpret_cast<T*>(scatters ? buffer : out), length, rows);
    if (scatters) at::detail::copy_rows(out, out_step, buffer, bytes, bytes, rows);
  }
}

template <typename F, typename T>
void cumulative(const TensorBase& result, const TensorBase& self, int64_t dim) {
  using Acc = typename running<T>::type;
  const int64_t numel = self.numel();
  if (numel == 0) return;
  const char* in = static_cast<const char*>(self.const_data_ptr());
  char* out = static_cast<char*>(result.mutable_data_ptr());
  if (self.dim() == 0) {
    *reinterpret_cast<T*>(out) = *reinterpret_cast<const T*>(in);
    return;
  }
  constexpr int64_t size = sizeof(T);
  const int64_t length = self.sizes()[dim];
  const int64_t in_stride = self.strides()[dim] * size;
  const int64_t out_stride = result.strides()[dim] * size;
  WalkDims kept;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dim && self.sizes()[d] != 1) {
      kept.push_back({self.sizes()[d], self.strides()[d] * size, result.strides()[d] * size});
    }
  }
  if (kept.empty()) kept.push_back({1, 0, 0});
  simplify(kept);
  const int64_t rows = numel / length;
  // Neighbouring rows are gone through side by side, and those that are short.
  const bool dense = kept[0].in == size && kept[0].out == size;
  const bool lie_dense = in_stride == size && out_stride == size;
  constexpr bool kHasSquares = !c10::is_complex_v<T> && !std::is_integral_v<T>;
  // A step of integers' sums takes as long as it takes to store it: rows side by side bring
  // nothing.
  constexpr bool kStores = std::is_same_v<F, Add> && std::is_integral_v<T>;
  const bool one_by_one = lie_dense && (kStores || (length < kShort<T> && rows >= kSideBySide));
  const bool in_squares = kHasSquares && lie_dense && !one_by_one && rows >= kSideBySide;
  if (kept[0].size < 8 || (!dense && (length >= 8 || one_by_one))) {
    constexpr int64_t kTogether = 4;
    const int64_t grain = std::max<int64_t>(1, GRAIN_SIZE / length);
    at::parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
      if (one_by_one) {
        const bool gaps = kept[0].in != length * size || kept[0].out != length * size;
        return for_each_run(kept, begin, end, [&](int64_t first, int64_t result, int64_t n) {
          if constexpr (c10::is_reduced_floating_point_v<T>) {
            if (gaps) {
              return scan_gathered_rows<F, T>(in + first, kept[0].in, out + result, kept[0].out,
                                              length, n);
            }
          }
          scan_each_row<F, T>(in + first, kept[0].in, out + result, kept[0].out, length, n);
        });
      }
      Walker walker(kept.data(), kept.size(), begin);
      const char* from[kTogether];
      char* to[kTogether];
      int64_t i = begin;
      if constexpr (kHasSquares) {
        if (in_squares) {
          const bool streams = kLines<T> && streams_rows(in, out, kept, is_far(result));
          i += (streams
                    ? scan_side_by_side<kLines<T>, F, T>
                    : scan_side_by_side<false, F, T>)(in, out, walker, end - i, length, kept[0].in);
        }
      }
      if constexpr (std::is_same_v<F, Add> && kSummedAlone<T> != 0) {
        if (lie_dense && rows <= kSummedAlone<T>) {
          for (; i < end; ++i, walker.next()) {
            sum_row(reinterpret_cast<const T*>(in + walker.in),
                    reinterpret_cast<T*>(out + walker.out), length);
          }
        }
      }
      for (; i + kTogether <= end; i += kTogether) {
        for (int64_t r = 0; r < kTogether; ++r, walker.next()) {
          from[r] = in + walker.in;
          to[r] = out + walker.out;
        }
        scan_rows<F, T, kTogether>(from, to, length, in_stride, out_stride);
      }
      for (; i < end; ++i, walker.next()) {
        from[0] = in + walker.in;
        to[0] = out + walker.out;
        scan_rows<F, T, 1>(from, to, length, in_stride, out_stride);
      }
    });
    return;
  }
  constexpr int64_t kWidth = 512;
  constexpr int kTogether = 4;
  const bool fetches =
      dense && ahead_in_rows(self, length, kFetches, Together::Many) != Ahead::None;
  const int64_t outer = rows / kept[0].size,
                width = strip_width(kept[0].size, kWidth, outer, StripsAre::Written);
  const int64_t blocks = (kept[0].size + width - 1) / width;
  const int64_t grain = std::max<int64_t>(1, GRAIN_SIZE / (std::min(width, kept[0].size) * length));
  at::parallel_for(0, outer * blocks, grain, [&](int64_t begin, int64_t end) {
    Walker walker(kept.data() + 1, kept.size() - 1, begin / blocks);
    int64_t block = begin % blocks;
    alignas(64) Acc acc[kWidth];
    alignas(64) T buffer[kTogether * kWidth];
    // What is written in place has been read, and lies in the cache.
    const RowWriter<T> writer(dense && in != out ? numel : 0);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = block * width;
      const int64_t n = std::min(width, kept[0].size - first);
      const char* from = in + walker.in + first * kept[0].in;
      char* to = out + walker.out + first * kept[0].out;
      std::fill(acc, acc + n, F::template identity<Acc>());
      const auto scan = [&](auto in_step, auto out_step) {
        int64_t k = 0;
        for (; k + kTogether <= length; k += kTogether) {
          // The next rows are fetched a few lines at a time.
          constexpr int64_t kFetched = 64;
          char* rows = writer.streams() ? reinterpret_cast<char*>(buffer) : to + k * out_stride;
          const int64_t stride = writer.streams() ? kWidth * size : out_stride;
          for (int64_t j = 0; j < n; j += kFetched) {
            const int64_t count = std::min(kFetched, n - j);
            const char* next = from + k * in_stride + j * in_step;
            for (int r = 0; fetches && r < kTogether; ++r) {
              fetch(reinterpret_cast<const T*>(next), (kTogether + r) * in_stride / size, count);
            }
            scan_columns<F, kTogether, T>(next, rows + j * out_step, in_stride, stride, in_step,
                                          out_step, count, acc + j);
          }
          for (int r = 0; writer.streams() && r < kTogether; ++r) {
            writer.copy(reinterpret_cast<T*>(to + (k + r) * out_stride), buffer + r * kWidth, n);
          }
        }
        for (; k < length; ++k) {
          scan_columns<F, 1, T>(from + k * in_stride, to + k * out_stride, in_stride, out_stride,
                                in_step, out_step, n, acc);
        }
      };
      if (dense) {
        constexpr std::integral_constant<int64_t, size> step;
        scan(step, step);
      } else {
        scan(kept[0].in, kept[0].out);
      }
      if (++block == blocks) {
        block = 0;
        walker.next();
      }
    }
  });
}

void cumsum_kernel(const TensorBase& result, const TensorBase& self, int64_t dim) {
  OPLOOM_DISPATCH(self.scalar_type(), "cumsum",
                  (OPLOOM_LONG, OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX),
                  [&] { cumulative<Add, scalar_t>(result, self, dim); });
}

void cumprod_kernel(const TensorBase& result, const TensorBase& self, int64_t dim) {
  OPLOOM_DISPATCH(self.scalar_type(), "cumprod",
                  (OPLOOM_LONG, OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX),
                  [&] { cumulative<Multiply, scalar_t>(result, self, dim); });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH(cumsum_stub, &cumsum_kernel);
OPLOOM_REGISTER_DISPATCH(cumprod_stub, &cumprod_kernel);

}  // namespace at::inline oploom_v1::native
