// Matrix products by plain loops, for the dtypes that BLAS does not know.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/stubs/LinearAlgebra.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <memory>
#include <type_traits>

namespace at::inline oploom_v1::native {
namespace {

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
  OPLOOM_DISPATCH(dtype, "mm", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_COMPLEX), [&] {
    gemm_loops<scalar_t>(arguments, alpha.to<scalar_t>(), beta.to<scalar_t>());
  });
}

}  // namespace

OPLOOM_REGISTER_DISPATCH(gemm_stub, &gemm_kernel);

}  // namespace at::inline oploom_v1::native
