// Products of matrices of integers and 16-bit floats with vectors.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/vec/vec.h>
#include <aten/stubs/LinearAlgebra.h>

#include <algorithm>
#include <type_traits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// The sum of the products of n pairs, wrapping around.
template <typename T>
std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t> dot_product(const T* x, const T* y,
                                                                   int64_t n) {
  using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  U sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<U>(x[i]) * static_cast<U>(y[i]);
  return sum;
}

// The same in float for rows of x, `row` elements from one to the next, each in four vectors, two
// pairs: of several, memory is read in as many places, and y is converted for all of them.
template <int rows, typename T>
requires(c10::is_reduced_floating_point_v<T>) OPLOOM_ALWAYS_INLINE
    void dot_products(const T* x, int64_t row, const T* y, int64_t n, float* results) {
  using R = vec::Rows<T>;
  using V = typename R::V;
  constexpr int kSums = 4;
  V sums[rows][kSums];
#pragma GCC unroll 16
  for (int k = 0; k < rows * kSums; ++k) sums[k / kSums][k % kSums] = V(0.0F);
  const auto add = [&](int k, const V& factor, const auto& load) OPLOOM_ALWAYS_INLINE_LAMBDA {
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) sums[r][k] = fmadd(load(x + r * row), factor, sums[r][k]);
  };
  int64_t i = 0;
  for (; i + kSums * R::size() <= n; i += kSums * R::size()) {
#pragma GCC unroll 4
    for (int k = 0; k < kSums; ++k) {
      const int64_t pair = i + k / 2 * 2 * R::size();
      add(k, R::load_of_pair(y + pair, k % 2),
          [&](const T* p) OPLOOM_ALWAYS_INLINE_LAMBDA { return R::load_of_pair(p + pair, k % 2); });
    }
  }
  for (; i + R::size() <= n; i += R::size()) {
    add(0, R::load(y + i), [&](const T* p) OPLOOM_ALWAYS_INLINE_LAMBDA { return R::load(p + i); });
  }
  if (i < n) {
    add(1, R::load(y + i, n - i),
        [&](const T* p) OPLOOM_ALWAYS_INLINE_LAMBDA { return R::load(p + i, n - i); });
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
    results[r] = ((sums[r][0] + sums[r][1]) + (sums[r][2] + sums[r][3])).reduce_add();
  }
}

// sums[j] += the products of four factors with the j-th elements of rows of a, for kFewestColumns.
template <typename T, typename S>
OPLOOM_ALWAYS_INLINE void add_products(S* sums, const S* factors, const T* const* rows) {
  if constexpr (c10::is_reduced_floating_point_v<T>) {
    using R = vec::Rows<T>;
#pragma GCC unroll 1
    for (int j = 0; j < GemvArguments::kFewestColumns; j += R::size()) {
      auto sum = R::V::loadu(sums + j);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) sum = fmadd(typename R::V(factors[r]), R::load(rows[r] + j), sum);
      sum.storeu(sums + j);
    }
  } else {
    OPLOOM_INDEPENDENT_ITERATIONS
#pragma GCC unroll 1
    for (int j = 0; j < GemvArguments::kFewestColumns; ++j) {
      S sum = sums[j];
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        sum = static_cast<S>(sum + 1U * factors[r] * static_cast<S>(rows[r][j]));
      }
      sums[j] = sum;
    }
  }
}

// y = alpha * sum + beta * y
template <typename T, typename S, typename Factor>
void put_scaled(T& y, S sum, Factor alpha, Factor beta) {
  using Wide = decltype(sum * 1U);
  Wide result = sum * static_cast<Wide>(alpha);
  if (beta != Factor(0)) result += static_cast<Wide>(beta) * static_cast<Wide>(y);
  y = static_cast<T>(result);
}

// The same for n of them. The compiler makes vectors of strides and factors that it knows.
template <typename T, typename S, typename Factor>
void put_all(T* y, int64_t stride, const S* sums, int64_t n, Factor alpha, Factor beta) {
  if (stride == 1 && alpha == Factor(1) && beta == Factor(0)) {
    for (int64_t i = 0; i < n; ++i) put_scaled(y[i], sums[i], Factor(1), Factor(0));
  } else {
    for (int64_t i = 0; i < n; ++i) {
      put_scaled(y[i * stride], sums[i], alpha, beta);
      asm volatile("");  // vectors of what may lie apart are long, and no faster
    }
  }
}

template <typename T, typename Factor>
void gemv(const GemvArguments& g, Factor alpha, Factor beta) {
  constexpr int64_t kGrain = 32768;  // products
  // Rows, whose sums stay in registers.
  constexpr int kTogether = !vec::Vec<float>::kInRegister ? 1 : vec::Vec<float>::size() > 8 ? 4 : 2;
  const auto* a = static_cast<const T*>(g.a);
  const auto* x = static_cast<const T*>(g.x);
  auto* y = static_cast<T*>(g.y);
  const auto by_rows = [&](int64_t begin, int64_t end) {
    int64_t i = begin;
    if constexpr (c10::is_reduced_floating_point_v<T>) {
      const auto put = [&]<int rows>(std::integral_constant<int, rows>) {
        float results[rows];
        dot_products<rows>(a + i * g.a_row, g.a_row, x, g.n, results);
        for (const float result : results) put_scaled(y[i++ * g.y_stride], result, alpha, beta);
      };
      if constexpr (kTogether > 1) {
        while (i + kTogether <= end) put(std::integral_constant<int, kTogether>());
      }
      while (i < end) put(std::integral_constant<int, 1>());
    } else {
      for (; i < end; ++i) {
        put_scaled(y[i * g.y_stride], dot_product(a + i * g.a_row, x, g.n), alpha, beta);
      }
    }
  };
  // Blocks of columns, the last one beginning where it ends with the row, whose sums stay in the
  // first-level cache.
  constexpr int64_t kWidth = GemvArguments::kFewestColumns;
  const auto by_columns = [&](int64_t begin, int64_t end) {
    using S = std::conditional_t<sizeof(T) == 1 || std::is_same_v<T, int16_t>, uint16_t,
                                 std::conditional_t<c10::is_reduced_floating_point_v<T>, float,
                                                    decltype(dot_product(x, x, 0))>>;
    constexpr int64_t kBlocks = 32;
    const T zeros[kWidth] = {};
    alignas(64) S sums[kBlocks * kWidth];
    for (int64_t first = begin; first < end; first += kBlocks) {
      const int64_t count = std::min(kBlocks, end - first);
      const auto start = [&](int64_t block) {
        return std::min((first + block) * kWidth, g.m - kWidth);
      };
      std::fill_n(sums, count * kWidth, S(0));
      for (int64_t j = 0; j < g.n; j += 4) {
        // What is added for rows that there are not is -0, which leaves any sum as it is.
        S factors[4];
        const T* rows[4];
        for (int r = 0; r < 4; ++r) {
          factors[r] = j + r < g.n ? static_cast<S>(x[(j + r) * g.x_stride]) : -S(0);
        }
        for (int64_t block = 0; block < count; ++block) {
          for (int r = 0; r < 4; ++r) {
            rows[r] = j + r < g.n ? a + start(block) + (j + r) * g.a_column : zeros;
          }
          add_products(sums + block * kWidth, factors, rows);
        }
      }
      for (int64_t block = 0; block < count; ++block) {
        // Those before were put there with the last block.
        const int64_t begun = (first + block) * kWidth, known = begun - start(block);
        put_all(y + begun * g.y_stride, g.y_stride, sums + block * kWidth + known, kWidth - known,
                alpha, beta);
      }
    }
  };
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, g.n));
  // Rows of one number are a column.
  const bool is_column = g.n == 1 && g.has_columns();
  g.has_rows() && !is_column ? at::parallel_for(0, g.m, grain, by_rows)
                             : at::parallel_for(0, (g.m + kWidth - 1) / kWidth,
                                                std::max<int64_t>(1, grain / kWidth), by_columns);
}

void gemv_kernel(ScalarType dtype, const GemvArguments& arguments, const Scalar& alpha,
                 const Scalar& beta) {
  OPLOOM_DISPATCH(dtype, "mv", (OPLOOM_INTEGRAL, OPLOOM_REDUCED), [&] {
    // What wraps around has the same bits with a sign and without.
    using T = std::conditional_t<sizeof(scalar_t) == 1, uint8_t, scalar_t>;
    using Factor = c10::opmath_type<T>;
    using Wanted = c10::opmath_type<scalar_t>;
    gemv<T>(arguments, static_cast<Factor>(alpha.to<Wanted>()),
            static_cast<Factor>(beta.to<Wanted>()));
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(gemv_stub, &gemv_kernel);

}  // namespace at::inline oploom_v1::native
