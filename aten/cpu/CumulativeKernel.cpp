// Kernels of cumsum and cumprod.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/FarRows.h>
#include <aten/cpu/Reduce.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/cpu/Squares.h>
#include <aten/cpu/vec/vec.h>
#include <aten/stubs/ReduceOps.h>

#include <algorithm>
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

// Running sums of neighbours.
void sum_row(const float* in, float* out, int64_t length) {
  vec::Vec<double> sums(0.0);
  int64_t i = 0;
  for (; i + 8 <= length; i += 8) vec::sum_eight(in + i, out + i, sums);
  double sum = sums[0];
  for (; i < length; ++i) {
    sum += in[i];
    out[i] = static_cast<float>(sum);
  }
}

// Running sums of rows side by side, as many as a Vec has floats: they are transposed in registers
// on the way, and take two thirds of the time that sum_row() takes.
template <bool stream, typename V>
void sum_rows(const char* const* in, char* const* out, int64_t length) {
  using Piece = Square<float>;
  constexpr int64_t kSize = sizeof(float), kSide = V::size(), kAhead = 128;
  static_assert(Piece::kRows == kSide);
  auto sums = widen(V(0.0F));
  int64_t i = 0;
  for (; i + kSide <= length; i += kSide) {
    typename Piece::Elements column[kSide];
#pragma GCC unroll 16
    for (int r = 0; r < kSide; ++r) {
      const char* from = in[r] + i * kSize;
      std::memcpy(&column[r], from, sizeof column[r]);
      __builtin_prefetch(from + kAhead);
    }
    Piece::transpose(column);
#pragma GCC unroll 16
    for (int c = 0; c < kSide; ++c) {
      const auto x = widen(std::bit_cast<V>(column[c]));
      sums = {sums[0] + x[0], sums[1] + x[1]};
      column[c] = std::bit_cast<typename Piece::Elements>(narrow(sums[0], sums[1]));
    }
    Piece::transpose(column);
#pragma GCC unroll 16
    for (int r = 0; r < kSide; ++r) {
      char* to = out[r] + i * kSize;
      if constexpr (stream && Piece::kBytes == kLineBytes) {
        stream_line(to, reinterpret_cast<const char*>(&column[r]));
      } else {
        std::memcpy(to, &column[r], sizeof column[r]);
      }
    }
  }
  double rest[kSide];
  std::memcpy(rest, sums.data(), sizeof rest);
  for (int r = 0; r < kSide; ++r) {
    for (int64_t j = i; j < length; ++j) {
      rest[r] += reinterpret_cast<const float*>(in[r])[j];
      reinterpret_cast<float*>(out[r])[j] = static_cast<float>(rest[r]);
    }
  }
}

// Rows from which on they are summed side by side. All are then summed one number after the other,
// whatever the instruction set and the number of threads, fewer by eights.
constexpr int64_t kSideBySide = 16;

// Of the `count` rows from which the walker goes on, as many as fill vectors; says how many.
template <bool stream, typename V = vec::Vec<float>>
int64_t sum_side_by_side(const char* in, char* out, Walker& walker, int64_t count, int64_t length) {
  if constexpr (V::kInRegister) {
    const char* from[V::size()];
    char* to[V::size()];
    int64_t i = 0;
    for (; i + V::size() <= count; i += V::size()) {
      for (int64_t r = 0; r < V::size(); ++r, walker.next()) {
        from[r] = in + walker.in;
        to[r] = out + walker.out;
      }
      sum_rows<stream, V>(from, to, length);
    }
    if (stream) at::detail::stream_fence();
    return i;
  }
  return 0;
}

// Whether rows are written past the cache: they are whole lines.
bool streams_rows(const char* in, const char* out, const WalkDims& kept, bool far) {
  bool lines = at_lines(out, 0);
  for (const WalkDim& dim : kept) lines = lines && at_lines(out, dim.out);
  return kRegisterBytes == kLineBytes && far && in != out && lines;
}

// A step of integers' sums takes as long as it takes to store it: rows side by side bring nothing.
void sum_row(const int64_t* in, int64_t* out, int64_t length) {
  int64_t sum = 0;
#pragma GCC unroll 4
  for (int64_t i = 0; i < length; ++i) {
    sum = vec::wrap_add(sum, in[i]);
    out[i] = sum;
  }
}

// The next `count` elements of n rows side by side, which are in_step and out_step bytes apart.
template <typename F, int count, typename T, typename Acc, typename InStep, typename OutStep>
OPLOOM_ALWAYS_INLINE void scan_columns(const char* in, char* out, int64_t in_stride,
                                       int64_t out_stride, InStep in_step, OutStep out_step,
                                       int64_t n, Acc* acc) {
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
  if (!kept.empty()) simplify(kept);
  const int64_t rows = numel / length;
  // Neighbouring rows are gone through side by side, and those that are short.
  const bool dense = !kept.empty() && kept[0].in == size && kept[0].out == size;
  if (kept.empty() || kept[0].size < 8 || (!dense && length >= 8)) {
    constexpr int64_t kTogether = 4;
    const int64_t grain = std::max<int64_t>(1, kReduceGrain / length);
    const bool lie_dense = in_stride == size && out_stride == size;
    const bool streams = streams_rows(in, out, kept, is_far(result));
    at::parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
      Walker walker(kept.data(), kept.size(), begin);
      const char* from[kTogether];
      char* to[kTogether];
      int64_t i = begin;
      constexpr bool kSums = std::is_same_v<F, Add>;
      if constexpr (kSums && std::is_same_v<T, float>) {
        if (lie_dense && rows >= kSideBySide) {
          i += (streams ? sum_side_by_side<true> : sum_side_by_side<false>)(in, out, walker,
                                                                            end - i, length);
        }
      }
      if constexpr (kSums && (std::is_same_v<T, float> || std::is_same_v<T, int64_t>)) {
        if (lie_dense && (rows < kSideBySide || !std::is_same_v<T, float>)) {
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
  const bool fetches = dense && ahead_in_rows(self, Together::Many) != Ahead::None;
  const int64_t blocks = (kept[0].size + kWidth - 1) / kWidth;
  const int64_t grain =
      std::max<int64_t>(1, kReduceGrain / (std::min(kWidth, kept[0].size) * length));
  at::parallel_for(0, rows / kept[0].size * blocks, grain, [&](int64_t begin, int64_t end) {
    Walker walker(kept.data() + 1, kept.size() - 1, begin / blocks);
    int64_t block = begin % blocks;
    alignas(64) Acc acc[kWidth];
    alignas(64) T buffer[kTogether * kWidth];
    // What is written in place has been read, and lies in the cache.
    const RowWriter<T> writer(dense && in != out ? numel : 0);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = block * kWidth;
      const int64_t n = std::min(kWidth, kept[0].size - first);
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
