// Matrix products: small ones of floats, and plain loops for the dtypes that BLAS does not know.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/vec/vec.h>
#include <aten/stubs/LinearAlgebra.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <memory>
#include <type_traits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// ---- Small products ----

// A block of R rows and C vectors of c, at row i and column j, whose sums stay in registers. `b`
// has whole vectors in each row, ldb apart.
template <int R, int C, typename T>
OPLOOM_ALWAYS_INLINE void small_block(const GemmArguments& g, const T* b, int64_t ldb, T alpha,
                                      T beta, int64_t i, int64_t j) {
  using V = vec::Vec<T>;
  const T* a = static_cast<const T*>(g.a) + i * g.a_row;
  T* c = static_cast<T*>(g.c) + i * g.ldc + j;
  V sums[R][C];
  for (int r = 0; r < R; ++r) {
    for (int s = 0; s < C; ++s) sums[r][s] = V(T(0));
  }
  for (int64_t p = 0; p < g.k; ++p) {
    V line[C];
    for (int s = 0; s < C; ++s) line[s] = V::loadu(b + p * ldb + j + s * V::size());
    for (int r = 0; r < R; ++r) {
      const V factor(a[r * g.a_row + p * g.a_column]);
      for (int s = 0; s < C; ++s) sums[r][s] = fmadd(factor, line[s], sums[r][s]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int s = 0; s < C; ++s) {
      T* place = c + r * g.ldc + s * V::size();
      const int64_t count = std::min<int64_t>(g.n - j - s * V::size(), V::size());
      V sum = sums[r][s];
      if (alpha != T(1)) sum = sum * V(alpha);
      if (beta != T(0)) {
        sum = fmadd(V(beta), count == V::size() ? V::loadu(place) : V::loadu(place, count), sum);
      }
      count == V::size() ? sum.storeu(place) : sum.storeu(place, count);
    }
  }
}

template <int R, int C, typename T>
OPLOOM_NOINLINE int64_t small_rows(const GemmArguments& g, const T* b, int64_t ldb, T alpha, T beta,
                                   int64_t i, int64_t j) {
  for (; i + R <= g.m; i += R) small_block<R, C>(g, b, ldb, alpha, beta, i, j);
  return i;
}

template <typename T>
void small_gemm(const GemmArguments& g, T alpha, T beta) {
  constexpr int64_t kStep = vec::Vec<T>::size();
  const T* b = static_cast<const T*>(g.b);
  int64_t ldb = g.b_row;
  const int64_t columns = (g.n + kStep - 1) / kStep * kStep;
  alignas(64) T packed[32 * (32 + kStep)];
  if (g.b_column != 1 || columns != g.n) {
    for (int64_t p = 0; p < g.k; ++p) {
      T* line = packed + p * columns;
      for (int64_t j = 0; j < g.n; ++j) line[j] = b[p * g.b_row + j * g.b_column];
      for (int64_t j = g.n; j < columns; ++j) line[j] = T(0);
    }
    b = packed;
    ldb = columns;
  }
  // As many sums as hide the time that one multiply-add takes.
  int64_t j = 0;
  for (; j + 2 * kStep <= columns; j += 2 * kStep) {
    const int64_t i = small_rows<4, 2>(g, b, ldb, alpha, beta, 0, j);
    small_rows<1, 2>(g, b, ldb, alpha, beta, i, j);
  }
  if (j < columns) {
    int64_t i = small_rows<8, 1>(g, b, ldb, alpha, beta, 0, j);
    i = small_rows<4, 1>(g, b, ldb, alpha, beta, i, j);
    small_rows<1, 1>(g, b, ldb, alpha, beta, i, j);
  }
}

// ---- Plain loops ----

// A block of b, this many rows and columns, is packed and stays in the second-level cache while all
// rows of a pass over it.
constexpr int64_t kBlockRows = 128;
constexpr int64_t kBlockColumns = 128;

template <typename T>
T multiply_add(T x, T y, T sum) {
  if constexpr (std::is_integral_v<T>) {
    // Narrow unsigned factors would be promoted to int, whose overflow is undefined.
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    return static_cast<T>(static_cast<U>(x) * static_cast<U>(y) + static_cast<U>(sum));
  } else {
    return x * y + sum;
  }
}

template <typename T>
void gemm_loops(const GemmArguments& g, T alpha, T beta) {
  const T* a = static_cast<const T*>(g.a);
  const T* b = static_cast<const T*>(g.b);
  T* c = static_cast<T*>(g.c);
  const int64_t grain = std::max<int64_t>(4, 65536 / std::max<int64_t>(1, g.n * g.k));
  at::parallel_for(0, g.m, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* row = c + i * g.ldc;
      for (int64_t j = 0; j < g.n; ++j) {
        row[j] = beta == T(0) ? T(0) : multiply_add(beta, row[j], T(0));
      }
    }
    std::unique_ptr<T[]> packed(new T[kBlockRows * kBlockColumns]);
    for (int64_t j0 = 0; j0 < g.n; j0 += kBlockColumns) {
      const int64_t width = std::min(kBlockColumns, g.n - j0);
      for (int64_t p0 = 0; p0 < g.k; p0 += kBlockRows) {
        const int64_t height = std::min(kBlockRows, g.k - p0);
        for (int64_t p = 0; p < height; ++p) {
          const T* from = b + (p0 + p) * g.b_row + j0 * g.b_column;
          for (int64_t j = 0; j < width; ++j) packed[p * width + j] = from[j * g.b_column];
        }
        for (int64_t i = begin; i < end; ++i) {
          T* row = c + i * g.ldc + j0;
          const T* factors = a + i * g.a_row + p0 * g.a_column;
          for (int64_t p = 0; p < height; ++p) {
            const T factor = multiply_add(alpha, factors[p * g.a_column], T(0));
            const T* line = packed.get() + p * width;
            for (int64_t j = 0; j < width; ++j) row[j] = multiply_add(factor, line[j], row[j]);
          }
        }
      }
    }
  });
}

void gemm_kernel(ScalarType dtype, const GemmArguments& arguments, const Scalar& alpha,
                 const Scalar& beta) {
  if (c10::isFloatingType(dtype) && is_small_gemm(arguments.m, arguments.n, arguments.k)) {
    return OPLOOM_DISPATCH(dtype, "mm", (OPLOOM_FLOATING), [&] {
      small_gemm<scalar_t>(arguments, alpha.to<scalar_t>(), beta.to<scalar_t>());
    });
  }
  OPLOOM_DISPATCH(dtype, "mm", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_COMPLEX), [&] {
    gemm_loops<scalar_t>(arguments, alpha.to<scalar_t>(), beta.to<scalar_t>());
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(gemm_stub, &gemm_kernel);

}  // namespace at::inline oploom_v1::native
