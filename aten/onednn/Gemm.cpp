// Matrix products of plain arrays: the one place that chooses between oneDNN, OpenBLAS and own
// loops.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/onednn/Gemm.h>
#include <aten/onednn/Matmul.h>
#include <aten/onednn/TinyGemms.h>
#include <aten/stubs/Copy.h>
#include <aten/stubs/LinearAlgebra.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/SmallVector.h>
#include <c10/util/complex.h>

#include <cblas.h>
#include <omp.h>
#include <dnnl.hpp>

// Another BLAS does not have it.
#pragma weak openblas_get_corename

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1::onednn {
namespace {

using c10::complex;
using native::GemmArguments;

// Multiply-adds from which on one product occupies all threads.
constexpr int64_t kLargeProduct = int64_t{256} * 256 * 256;

// Both libraries take their number of threads from OpenMP. It is that of at::parallel_for, and 1
// where that runs serially: inside a parallel region, and in a child of fork(), which has no other
// threads.
void match_threads() {
  constexpr int64_t kMany = std::numeric_limits<int64_t>::max();
  const int wanted = at::internal::will_run_parallel(kMany, 1) ? at::get_num_threads() : 1;
  if (omp_get_max_threads() != wanted) omp_set_num_threads(wanted);
}

struct Layout {
  bool transposed;
  int64_t ld;
};

Layout layout_of(const Matrix& x, int64_t rows, int64_t columns) {
  const bool by_rows =
      (x.column_stride == 1 || columns == 1) && (x.row_stride >= columns || rows == 1);
  if (by_rows) return {false, std::max(x.row_stride, std::max<int64_t>(columns, 1))};
  return {true, std::max(x.column_stride, std::max<int64_t>(rows, 1))};
}

bool fits_blas(int64_t a, int64_t b, int64_t c) {
  return std::max({a, b, c}) <= std::numeric_limits<blasint>::max();
}

Matrix factor_a(const GemmArguments& g) { return {g.a, g.a_row, g.a_column}; }
Matrix factor_b(const GemmArguments& g) { return {g.b, g.b_row, g.b_column}; }

// Products that no BLAS counts. A block of b, this many rows and columns, is packed and stays in
// the second-level cache while all rows of a pass over it.
constexpr int64_t kBlockRows = 128;
constexpr int64_t kBlockColumns = 128;

template <typename T>
void gemm_by_loops(const GemmArguments& g, T alpha, T beta) {
  const T* a = static_cast<const T*>(g.a);
  const T* b = static_cast<const T*>(g.b);
  T* c = static_cast<T*>(g.c);
  const int64_t grain = std::max<int64_t>(4, 65536 / std::max<int64_t>(1, g.n * g.k));
  at::parallel_for(0, g.m, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* row = c + i * g.ldc;
      for (int64_t j = 0; j < g.n; ++j) {
        row[j] = beta == T(0) ? T(0) : beta * row[j];
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
            const T factor = alpha * factors[p * g.a_column];
            const T* line = packed.get() + p * width;
            for (int64_t j = 0; j < width; ++j) row[j] = factor * line[j] + row[j];
          }
        }
      }
    }
  });
}

template <typename T>
void gemm_by_blas(const GemmArguments& g, const Scalar& alpha, const Scalar& beta) {
  const int64_t m = g.m, n = g.n, k = g.k;
  const Layout la = layout_of(factor_a(g), m, k);
  const Layout lb = layout_of(factor_b(g), k, n);
  const int64_t ldc = std::max(g.ldc, n);  // of one row it may be anything
  const int64_t large = std::max({m, n, k});
  if (!fits_blas(large, la.ld, std::max(lb.ld, ldc))) {
    return gemm_by_loops(g, alpha.to<T>(), beta.to<T>());
  }
  const CBLAS_TRANSPOSE ta = la.transposed ? CblasTrans : CblasNoTrans;
  const CBLAS_TRANSPOSE tb = lb.transposed ? CblasTrans : CblasNoTrans;
  const T alpha_value = alpha.to<T>();
  const T beta_value = beta.to<T>();
  const auto* pa = static_cast<const T*>(g.a);
  const auto* pb = static_cast<const T*>(g.b);
  auto* pc = static_cast<T*>(g.c);
  const auto im = static_cast<blasint>(m), in = static_cast<blasint>(n),
             ik = static_cast<blasint>(k), lda = static_cast<blasint>(la.ld),
             ldb = static_cast<blasint>(lb.ld), il = static_cast<blasint>(ldc);
  if constexpr (std::is_same_v<T, float>) {
    cblas_sgemm(CblasRowMajor, ta, tb, im, in, ik, alpha_value, pa, lda, pb, ldb, beta_value, pc,
                il);
  } else if constexpr (std::is_same_v<T, double>) {
    cblas_dgemm(CblasRowMajor, ta, tb, im, in, ik, alpha_value, pa, lda, pb, ldb, beta_value, pc,
                il);
  } else if constexpr (std::is_same_v<T, complex<float>>) {
    cblas_cgemm(CblasRowMajor, ta, tb, im, in, ik, &alpha_value, pa, lda, pb, ldb, &beta_value, pc,
                il);
  } else {
    cblas_zgemm(CblasRowMajor, ta, tb, im, in, ik, &alpha_value, pa, lda, pb, ldb, &beta_value, pc,
                il);
  }
}

// Whether OpenBLAS multiplies numbers of `dtype` here with code for AVX2, as it does on processors
// that it takes for one of these.
bool is_blas_narrow(ScalarType dtype) {
  if (dtype != kDouble) return false;
  static const bool narrow = [] {
    const std::string_view core = openblas_get_corename ? openblas_get_corename() : "";
    return core == "Haswell" || core == "Zen";
  }();
  return narrow;
}

// Note [Rows a power of two apart]
// Products of up to about 512 x 512 elements oneDNN computes without copying the factors into
// blocks (with AVX512 it has other kernels, which have not been measured). Its loop over k then
// goes down the columns of b as they lie in memory. Where rows are a multiple of 2 KB apart, all of
// a column shares a few sets of the cache, and the product takes twice as long; likewise for the
// columns of a transposed a. Copies whose rows are a few cache lines further apart are soon made
// good (measured on Zen 3: 256 x 256 x 256 with rows 4 KB apart at 43 GFLOP/s, of copies at 84;
// with a transposed as well 31 and 90).
struct Factor {
  const float* data;
  Layout layout;
  c10::DataPtr copy;  // owns `data`, if that is a copy

  // Spreads the k rows, `columns` elements each, that lie in memory a power of two apart, if the
  // product uses each element `uses` times.
  void spread(int64_t k, int64_t columns, int64_t uses) {
    constexpr int64_t kNear = 1 << 18;  // elements that stay in the cache
    if (layout.ld % 512 != 0 || k < 16 || uses < (k * columns <= kNear ? 16 : 32)) return;
    int64_t ld = (columns + 31) / 16 * 16;
    if (ld % 512 == 0) ld += 16;
    copy = c10::GetCPUAllocator()->allocate(static_cast<size_t>(k * ld) * sizeof(float));
    auto* out = static_cast<float*>(copy.mutable_get());
    at::parallel_for(0, k, std::max<int64_t>(1, 65536 / columns), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        std::copy_n(data + row * layout.ld, columns, out + row * ld);
      }
    });
    data = out;
    layout.ld = ld;
  }
};

// Whether oneDNN computes such a product without blocks of its own. The bound is that of
// nocopy_checker_avx2 in its gemm_driver.cpp.
bool is_product_in_place(int64_t m, int64_t n) {
  constexpr auto kBlocked = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  static const bool blocked =
      (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & kBlocked) == kBlocked;
  return !blocked && 1.0 / static_cast<double>(m) + 1.0 / static_cast<double>(n) >= 0.0038;
}

void gemm_float(const GemmArguments& g, const Scalar& alpha, const Scalar& beta) {
  const int64_t m = g.m, n = g.n, k = g.k;
  Factor fa{static_cast<const float*>(g.a), layout_of(factor_a(g), m, k), {}};
  Factor fb{static_cast<const float*>(g.b), layout_of(factor_b(g), k, n), {}};
  if (is_product_in_place(m, n)) {
    if (fa.layout.transposed) fa.spread(k, m, n);
    if (!fb.layout.transposed) fb.spread(k, n, m);
  }
  const dnnl_status_t status =
      dnnl_sgemm(fa.layout.transposed ? 'T' : 'N', fb.layout.transposed ? 'T' : 'N', m, n, k,
                 alpha.to<float>(), fa.data, fa.layout.ld, fb.data, fb.layout.ld, beta.to<float>(),
                 static_cast<float*>(g.c), std::max(g.ldc, n));
  OPLOOM_INTERNAL_ASSERT(status == dnnl_success, "oneDNN refused a product of ", m, " x ", k,
                         " and ", k, " x ", n, " (status ", static_cast<int>(status), ")");
}

// Note [Rearranged products]
// How long a product of float32 takes depends on how its factors lie. oneDNN with AVX512 takes 2 to
// 30 times as long where b is transposed and there are few rows or columns, most where a is, too;
// few columns are a waste of vectors. So the copy of a small factor, or the product of the
// transposed factors, c^T = b^T a^T, makes of
//   a transposed, with few rows: a dense one
//   both transposed: c^T, of whose factors neither is
//   a transposed, few columns: c^T, with few rows, and b^T dense
//   none transposed, few columns: a transposed b
// (measured on a Zen 4, with AVX512 and AVX2).

// Rows of `length` dense elements, element (r, i) of which is at data[i * stride + r].
c10::DataPtr turned_copy(const void* data, int64_t stride, int64_t rows, int64_t length) {
  constexpr int64_t kSize = sizeof(float);
  c10::DataPtr copy = c10::GetCPUAllocator()->allocate(static_cast<size_t>(rows * length * kSize));
  at::detail::get_transpose_loop(kSize)(static_cast<char*>(copy.mutable_get()), length * kSize,
                                        static_cast<const char*>(data), stride * kSize, rows,
                                        length, /*stream=*/false);
  return copy;
}

// c^T, which is put into c.
void gemm_turned(const GemmArguments& g, const Scalar& alpha) {
  constexpr int64_t kSize = sizeof(float);
  const c10::DataPtr memory =
      c10::GetCPUAllocator()->allocate(static_cast<size_t>(g.n * g.m * kSize));
  char* const turned = static_cast<char*>(memory.mutable_get());
  gemm(kFloat, {g.n, g.m, g.k, g.b, g.b_column, g.b_row, g.a, g.a_column, g.a_row, turned, g.m},
       alpha, 0);
  at::detail::get_transpose_loop(kSize)(static_cast<char*>(g.c), g.ldc * kSize, turned, g.m * kSize,
                                        g.m, g.n, /*stream=*/false);
}

// Computes those of float32 so that take less time then. False, and nothing done, of others.
OPLOOM_COLD bool gemm_rearranged(GemmArguments g, const Scalar& alpha, const Scalar& beta) {
  constexpr int64_t kFew = 16, kLong = 128, kMostTurned = 1 << 24;
  if (g.m == 1 || g.n == 1) return false;
  const bool turned_a = g.a_row == 1 && g.a_column != 1, turned_b = g.b_row == 1 && g.b_column != 1;
  const bool few_rows = g.m <= kFew && 4 * g.m <= g.n && g.k > kFew,
             few_columns = g.n <= kFew && 4 * g.n <= g.m;
  // Whether c^T may be put into c, and is so in little of the time.
  const bool turns =
      !g.addend && beta.equal(0) && std::min(g.m, g.n) < 1024 && g.m * g.n <= kMostTurned &&
      (g.k >= kLong || (g.n <= kFew / 2 && few_columns && g.k >= std::max(kFew, 4 * g.n)));
  c10::DataPtr copy;
  if (turned_a &&
      (few_rows || (turned_b && g.m <= 2 * kFew && 4 * g.m <= g.n && g.k >= 2 * kLong))) {
    copy = turned_copy(g.a, g.a_column, g.m, g.k);
    g.a = copy.get();
    g.a_row = g.k;
    g.a_column = 1;
    gemm(kFloat, g, alpha, beta);
    return true;
  }
  if (turned_a && turned_b) {
    if (turns) gemm_turned(g, alpha);
    return turns;
  }
  if (!few_columns || g.b_column != 1) return false;
  // Dot products of AVX2 are of two rows at a time, those of AVX512 of four.
  const bool wide = at::get_cpu_capability_level() == at::CPUCapability::AVX512;
  const bool as_columns = g.a_column == 1 && g.k >= kLong && g.n <= (wide ? 12 : 4);
  if (!as_columns && !(turned_a && turns)) return false;
  copy = turned_copy(g.b, g.b_row, g.n, g.k);
  g.b = copy.get();
  g.b_row = 1;
  g.b_column = g.k;
  as_columns ? gemm(kFloat, g, alpha, beta) : gemm_turned(g, alpha);
  return true;
}

// Converts a matrix, element (i, j) at i * row + j * column, to one with neighbouring columns or
// back.
void convert_rows(ScalarType to, ScalarType from, int64_t rows, int64_t columns, void* out,
                  int64_t out_row, int64_t out_column, const void* in, int64_t in_row,
                  int64_t in_column) {
  const auto loop = native::cast_loop_stub(kCPU, to, from);
  const auto out_size = static_cast<int64_t>(c10::elementSize(to));
  const auto in_size = static_cast<int64_t>(c10::elementSize(from));
  // The longer runs go along the dimension whose elements lie next to each other.
  if (in_column != 1 && in_row == 1) {
    std::swap(rows, columns);
    std::swap(out_row, out_column);
    std::swap(in_row, in_column);
  }
  if (in_column == 1 && out_column == 1 && in_row == columns && out_row == columns) {
    columns *= std::exchange(rows, 1);
  }
  for (int64_t i = 0; i < rows; ++i) {
    loop(static_cast<char*>(out) + i * out_row * out_size, out_column * out_size,
         static_cast<const char*>(in) + i * in_row * in_size, in_column * in_size, columns);
  }
}

// The same of a whole factor, whose rows or columns become dense.
Matrix converted(ScalarType to, ScalarType from, int64_t rows, int64_t columns, const Matrix& x,
                 void* out) {
  const bool by_columns = layout_of(x, rows, columns).transposed;
  const Matrix result{out, by_columns ? 1 : columns, by_columns ? rows : 1};
  convert_rows(to, from, rows, columns, out, result.row_stride, result.column_stride, x.data,
               x.row_stride, x.column_stride);
  return result;
}

// Whether an integer dtype holds them, which is not asked of the wider one that is computed in.
OPLOOM_COLD void check_numbers(ScalarType dtype, const Scalar& alpha, const Scalar& beta) {
  if (!c10::isIntegralType(dtype, /*includeBool=*/false)) return;
  OPLOOM_DISPATCH(dtype, "mm", (OPLOOM_INTEGRAL), [&] {
    static_cast<void>(alpha.to<scalar_t>());
    static_cast<void>(beta.to<scalar_t>());
  });
}

// In float32 or int32, which both factors convert to exactly. Where there are few columns, as much
// of a is converted at a time as stays in the second-level cache, but no less than a cache line of
// each column where those lie side by side (few long ones take 0.1 to 0.6 of the time for that).
// The same holds for large results of short sums (0.5 to 0.8 of the time), which take longer to be
// written to memory twice than to be computed.
void gemm_widened(ScalarType dtype, const GemmArguments& g, const Scalar& alpha,
                  const Scalar& beta) {
  constexpr int64_t kFewColumns = 64, kStrip = 1 << 17, kLine = 32;  // elements
  constexpr int64_t kLarge = 1 << 21, kShortSum = 64;
  const ScalarType wide = c10::isReducedFloatingType(dtype) ? kFloat : kInt;
  check_numbers(dtype, alpha, beta);
  const int64_t m = g.m, n = g.n, k = g.k, itemsize = c10::elementSize(dtype);
  const int64_t fewest = std::min(m, layout_of(factor_a(g), m, k).transposed ? kLine : 1);
  const int64_t fitting = kStrip / (k + n);
  const bool large = m * n >= kLarge && k <= kShortSum && fitting >= kLine;
  const int64_t strip = n <= kFewColumns || large ? std::clamp(fitting, fewest, m) : m;
  const auto allocate = [](int64_t count) {
    return c10::GetCPUAllocator()->allocate(static_cast<size_t>(count) * sizeof(float));
  };
  // One strip has its memory behind b, each thread that takes several has its own.
  const bool whole = strip == m;
  const c10::DataPtr memory = allocate(k * n + (whole ? m * (k + n) : 0));
  const Matrix b = converted(wide, dtype, k, n, factor_b(g), memory.mutable_get());
  const auto run = [&](int64_t begin, int64_t end) {
    const c10::DataPtr own = whole ? c10::DataPtr() : allocate(strip * (k + n));
    // The result before a: masked vectors take long where what is behind a row is on a page that
    // nothing was ever written to, and a result is gone over again and again.
    auto* const pc = whole ? static_cast<float*>(memory.mutable_get()) + k * n
                           : static_cast<float*>(own.mutable_get());
    float* const pa = pc + strip * n;
    for (int64_t i = begin * strip; i < std::min(end * strip, m); i += strip) {
      const int64_t rows = std::min(strip, m - i);
      Matrix part = factor_a(g);
      part.data = static_cast<const char*>(g.a) + i * g.a_row * itemsize;
      const Matrix a = converted(wide, dtype, rows, k, part, pa);
      char* c = static_cast<char*>(g.c) + i * g.ldc * itemsize;
      if (beta.to<float>() != 0) convert_rows(wide, dtype, rows, n, pc, n, 1, c, g.ldc, 1);
      gemm(wide,
           {rows, n, k, a.data, a.row_stride, a.column_stride, b.data, b.row_stride,
            b.column_stride, pc, n},
           alpha, beta);
      convert_rows(dtype, wide, rows, n, c, g.ldc, 1, pc, n, 1);
    }
  };
  if (whole) return run(0, 1);
  at::parallel_for(0, (m + strip - 1) / strip, 1, run);
}

// What no BLAS computes.
bool is_ours(ScalarType dtype) {
  return c10::isIntegralType(dtype, /*includeBool=*/false) || c10::isReducedFloatingType(dtype);
}

// Of a product with a vector, y of a matrix times x.
native::GemvArguments with_vector(const GemmArguments& g) {
  return g.n == 1
             ? native::GemvArguments{g.m, g.k, g.a, g.a_row, g.a_column, g.b, g.b_row, g.c, g.ldc}
             : native::GemvArguments{g.n, g.k, g.b, g.b_column, g.b_row, g.a, g.a_column, g.c, 1};
}

bool is_gemv_ours(ScalarType dtype, const native::GemvArguments& g) {
  return is_ours(dtype) && (g.has_rows() || g.has_columns());
}

// A product of 16-bit floats with a vector of which each row would fill a part of a vector register
// alone is one in float32: dot products of many short rows take 0.5 to 0.9 of the time, sums of
// short rows 0.5 to 0.7 of oneDNN's with bfloat16 (measured on a Zen 4).
bool is_gemv_widened(ScalarType dtype, const native::GemvArguments& g) {
  constexpr int64_t kShortRow = 32, kManyRows = 128, kFewColumns = 48;
  if (!c10::isReducedFloatingType(dtype) || g.n < 2) return false;
  return g.has_rows() ? g.n < kShortRow && g.m >= kManyRows
                      : g.a_row == 1 && g.m <= kFewColumns && g.y_stride == 1;
}
OPLOOM_COLD void gemv_widened(ScalarType dtype, const native::GemvArguments& g, const Scalar& alpha,
                              const Scalar& beta) {
  const int64_t x_length = g.n * g.x_stride;
  const GemmArguments by_rows{g.m, 1,          g.n,      g.a, g.a_row,   g.a_column,
                              g.x, g.x_stride, x_length, g.y, g.y_stride};
  const GemmArguments by_columns{1,   g.m,        g.n,     g.x, x_length, g.x_stride,
                                 g.a, g.a_column, g.a_row, g.y, g.m};
  gemm_widened(dtype, g.has_rows() ? by_rows : by_columns, alpha, beta);
}

// Of many rows with few numbers each, to make columns of some rows at a time, which are multiplied
// by a number each, takes 0.1 to 0.7 of the time of a sum for each row (measured on a Zen 4).
OPLOOM_COLD bool are_many_short_rows(ScalarType dtype, const native::GemvArguments& g) {
  constexpr int64_t kMany = 256;
  if (g.a_column != 1 || g.n < 2 || g.m < kMany) return false;
  switch (dtype) {
    case kByte:
    case kChar:
    case kShort:
      return g.n <= 16;
    case kInt:
      return g.n <= 12;
    case kLong:
      return g.n <= 4;
    case kHalf:
    case kBFloat16:
      // Without gaps they are converted as one row otherwise.
      return g.n <= 4 || g.n == 16 || (g.n < 16 && g.a_row != g.n);
    case kFloat:
      return g.n <= (g.a_row == g.n ? 4 : 2);
    case kComplexFloat:
      return g.n <= 5;
    case kDouble:
      return g.n == 2 && g.a_row == 2;
    default:
      return false;
  }
}
OPLOOM_COLD void gemv_by_columns(ScalarType dtype, const native::GemvArguments& g,
                                 const Scalar& alpha, const Scalar& beta) {
  constexpr int64_t kBytes = 16384;
  const auto itemsize = static_cast<int64_t>(c10::elementSize(dtype));
  const int64_t most = kBytes / (g.n * itemsize), blocks = (g.m + most - 1) / most;
  const int64_t rows = (g.m + blocks - 1) / blocks;
  const auto transpose = at::detail::get_transpose_loop(itemsize);
  const auto run = [&](int64_t begin, int64_t end) {
    alignas(at::detail::kLineBytes) char columns[kBytes];
    for (int64_t i = begin * rows; i < std::min(end * rows, g.m); i += rows) {
      const int64_t count = std::min(rows, g.m - i);
      transpose(columns, rows * itemsize, static_cast<const char*>(g.a) + i * g.a_row * itemsize,
                g.a_row * itemsize, g.n, count, /*stream=*/false);
      gemv(dtype, count, g.n, alpha, {columns, 1, rows}, g.x, g.x_stride, beta,
           static_cast<char*>(g.y) + i * g.y_stride * itemsize, g.y_stride);
    }
  };
  at::parallel_for(0, blocks, std::max<int64_t>(1, at::GRAIN_SIZE / (rows * g.n)), run);
}

bool is_gemv_ours(ScalarType dtype, const GemmArguments& g) {
  return (g.m == 1 || g.n == 1) && is_gemv_ours(dtype, with_vector(g));
}

// Products with few rows that are long: a product with a vector for each takes less time, since
// nothing is converted or put in blocks (of 16-bit floats and int64, three and more take up to
// 2.3 times as long so).
bool are_few_long_vectors(ScalarType dtype, const GemmArguments& g) {
  constexpr int64_t kLongRow = 1024;
  const int64_t few = c10::isIntegralType(dtype, /*includeBool=*/false) && dtype != kLong ? 4 : 2;
  return is_ours(dtype) && std::min(g.m, g.n) <= few && g.k >= kLongRow && g.a_column == 1 &&
         g.b_row == 1;
}
OPLOOM_COLD void gemm_by_vectors(ScalarType dtype, GemmArguments g, const Scalar& alpha,
                                 const Scalar& beta) {
  const auto itemsize = static_cast<int64_t>(c10::elementSize(dtype));
  const bool by_rows = g.m <= g.n;
  const int64_t vectors = by_rows ? std::exchange(g.m, 1) : std::exchange(g.n, 1);
  for (int64_t i = 0; i < vectors; ++i) {
    GemmArguments one = g;
    if (by_rows) {
      one.a = static_cast<const char*>(g.a) + i * g.a_row * itemsize;
    } else {
      one.b = static_cast<const char*>(g.b) + i * g.b_column * itemsize;
    }
    one.c = static_cast<char*>(g.c) + i * (by_rows ? g.ldc : 1) * itemsize;
    native::gemv_stub(kCPU, dtype, with_vector(one), alpha, beta);
  }
}

// Long rows of c that are short sums of narrow integers, which are not converted as products of a
// row with a matrix (0.3 to 0.9 of the time, measured on a Zen 4).
bool are_long_rows_of_short_sums(const GemmArguments& g) {
  constexpr int64_t kShort = 8, kLong = 2000, kManyRows = 64;
  return g.k <= kShort && g.n >= kLong && (g.m >= kManyRows || g.b_column == 1);
}
OPLOOM_COLD void gemm_by_rows(ScalarType dtype, GemmArguments g, const Scalar& alpha,
                              const Scalar& beta) {
  check_numbers(dtype, alpha, beta);
  const auto itemsize = static_cast<int64_t>(c10::elementSize(dtype));
  c10::DataPtr memory;
  if (g.b_column != 1) {
    memory = c10::GetCPUAllocator()->allocate(static_cast<size_t>(g.k * g.n * itemsize));
    convert_rows(dtype, dtype, g.k, g.n, memory.mutable_get(), g.n, 1, g.b, g.b_row, g.b_column);
    g.b = memory.get();
    g.b_row = g.n;
    g.b_column = 1;
  }
  const int64_t rows = std::exchange(g.m, 1);
  const auto run = [&](int64_t begin, int64_t end) {
    GemmArguments row = g;
    for (int64_t i = begin; i < end; ++i) {
      row.a = static_cast<const char*>(g.a) + i * g.a_row * itemsize;
      row.c = static_cast<char*>(g.c) + i * g.ldc * itemsize;
      native::gemv_stub(kCPU, dtype, with_vector(row), alpha, beta);
    }
  };
  at::parallel_for(0, rows, std::max<int64_t>(1, at::GRAIN_SIZE / g.n), run);
}

// Making a primitive for a pair of scales takes as long as a product of this size.
bool takes_bfloat16(ScalarType dtype, int64_t products, const Scalar& alpha, const Scalar& beta) {
  if (dtype != kBFloat16 || products == 0 || !has_fast_bfloat16()) return false;
  const float a = alpha.to<float>(), b = beta.to<float>();
  return (a == 1 && (b == 0 || b == 1)) || (a != 0 && products >= kLargeProduct);
}

// The product whose addend has been put into c.
GemmArguments begun(ScalarType dtype, GemmArguments g) {
  const auto itemsize = static_cast<int64_t>(c10::elementSize(dtype));
  at::parallel_for(0, g.m, std::max<int64_t>(1, at::GRAIN_SIZE / g.n),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       std::memcpy(static_cast<char*>(g.c) + i * g.ldc * itemsize,
                                   static_cast<const char*>(g.addend) + i * g.addend_row * itemsize,
                                   static_cast<size_t>(g.n * itemsize));
                     }
                   });
  g.addend = nullptr;
  return g;
}

}  // namespace

void gemm(ScalarType dtype, const GemmArguments& g, const Scalar& alpha, const Scalar& beta) {
  // dot() divides long ones among threads.
  if (g.k >= 2 * at::kUpdateGrain && g.m == 1 && g.n == 1 && !g.addend && !is_ours(dtype) &&
      alpha.equal(1) && beta.equal(0)) {
    return dot(dtype, g.k, g.a, g.a_column, g.b, g.b_row, g.c);
  }
  if ((g.m == 1 || g.n == 1) && !g.addend && are_many_short_rows(dtype, with_vector(g))) {
    return gemv_by_columns(dtype, with_vector(g), alpha, beta);
  }
  // With AVX512, smaller ones are our own however their factors lie.
  constexpr int64_t kLarge = 1 << 20;
  if (dtype == kFloat && g.m * g.n * g.k >= kLarge && gemm_rearranged(g, alpha, beta)) return;
  if ((dtype == kFloat || dtype == kDouble) &&
      native::small_gemm_stub(kCPU, dtype, g, alpha, beta, is_blas_narrow(dtype))) {
    return;
  }
  if (g.addend) return gemm(dtype, begun(dtype, g), alpha, beta);
  if ((g.m == 1 || g.n == 1) && is_gemv_widened(dtype, with_vector(g))) {
    return gemv_widened(dtype, with_vector(g), alpha, beta);
  }
  if (is_gemv_ours(dtype, g)) {
    return native::gemv_stub(kCPU, dtype, with_vector(g), alpha, beta);
  }
  if (are_few_long_vectors(dtype, g)) return gemm_by_vectors(dtype, g, alpha, beta);
  if (c10::isComplexType(dtype) && (g.m == 1 || g.n == 1)) {
    return g.n == 1 ? gemv(dtype, g.m, g.k, alpha, factor_a(g), g.b, g.b_row, beta, g.c, g.ldc)
                    : gemv(dtype, g.n, g.k, alpha, {g.b, g.b_column, g.b_row}, g.a, g.a_column,
                           beta, g.c, 1);
  }
  match_threads();
  switch (dtype) {
    case kFloat:
      return gemm_float(g, alpha, beta);
    case kDouble:
      return gemm_by_blas<double>(g, alpha, beta);
    case kComplexFloat:
      return gemm_by_blas<complex<float>>(g, alpha, beta);
    case kComplexDouble:
      return gemm_by_blas<complex<double>>(g, alpha, beta);
    case kHalf:
    case kBFloat16:
      if (g.m * g.n * g.k > kLargeForBfloat16 &&
          takes_bfloat16(dtype, g.m * g.n * g.k, alpha, beta)) {
        const int64_t ldc = std::max(g.ldc, g.n);
        return matmul_bfloat16(1, g.m, g.n, g.k, factor_a(g), g.m * g.k, factor_b(g), g.k * g.n,
                               alpha.to<float>(), beta.to<float>(), g.c, ldc, g.m * ldc);
      }
      return gemm_widened(dtype, g, alpha, beta);
    case kByte:
    case kChar:
    case kShort:
      if (are_long_rows_of_short_sums(g)) return gemm_by_rows(dtype, g, alpha, beta);
      return gemm_widened(dtype, g, alpha, beta);
    default:
      return native::gemm_stub(kCPU, dtype, g, alpha, beta);
  }
}

void gemm_batched(ScalarType dtype, int64_t batch, const GemmArguments& g, int64_t a_step,
                  int64_t b_step, int64_t c_step, const Scalar& alpha, const Scalar& beta) {
  check_numbers(dtype, alpha, beta);
  if (gemm_side_by_side(dtype, batch, g, a_step, b_step, c_step, alpha, beta)) return;
  if (takes_bfloat16(dtype, batch * g.m * g.n * g.k, alpha, beta) && a_step > 0 && b_step > 0 &&
      !is_gemv_ours(dtype, g)) {
    match_threads();
    matmul_bfloat16(batch, g.m, g.n, g.k, factor_a(g), a_step, factor_b(g), b_step,
                    alpha.to<float>(), beta.to<float>(), g.c, g.ldc, c_step);
    return;
  }
  const auto itemsize = static_cast<int64_t>(c10::elementSize(dtype));
  auto run = [&](int64_t begin, int64_t end) {
    GemmArguments one = g;
    for (int64_t i = begin; i < end; ++i) {
      one.a = static_cast<const char*>(g.a) + i * a_step * itemsize;
      one.b = static_cast<const char*>(g.b) + i * b_step * itemsize;
      one.c = static_cast<char*>(g.c) + i * c_step * itemsize;
      gemm(dtype, one, alpha, beta);
    }
  };
  const int64_t work = g.m * g.n * std::max<int64_t>(g.k, 1);
  if (work >= kLargeProduct) {
    run(0, batch);
  } else {
    at::parallel_for(0, batch, std::max<int64_t>(1, 32768 / work), run);
  }
}

namespace {

template <typename T>
T dot_of_part(int64_t n, const T* x, int64_t x_stride, const T* y, int64_t y_stride) {
  // BLAS counts in int32 and takes strides of 0 and below to mean something else.
  if (fits_blas(n, x_stride, y_stride) && x_stride > 0 && y_stride > 0) {
    const auto in = static_cast<blasint>(n), ix = static_cast<blasint>(x_stride),
               iy = static_cast<blasint>(y_stride);
    if constexpr (std::is_same_v<T, float>) return cblas_sdot(in, x, ix, y, iy);
    if constexpr (std::is_same_v<T, double>) return cblas_ddot(in, x, ix, y, iy);
    // OpenBLAS 0.3.21 reads one element too many of complex vectors with gaps: it does not get the
    // last one.
    const bool all = n == 0 || (x_stride == 1 && y_stride == 1);
    T sum(0);
    if constexpr (std::is_same_v<T, complex<float>>) {
      cblas_cdotu_sub(all ? in : in - 1, x, ix, y, iy, &sum);
    } else if constexpr (std::is_same_v<T, complex<double>>) {
      cblas_zdotu_sub(all ? in : in - 1, x, ix, y, iy, &sum);
    }
    return all ? sum : sum + x[(n - 1) * x_stride] * y[(n - 1) * y_stride];
  }
  T sum(0);
  for (int64_t i = 0; i < n; ++i) sum = sum + x[i * x_stride] * y[i * y_stride];
  return sum;
}

}  // namespace

void dot(ScalarType dtype, int64_t n, const void* x, int64_t x_stride, const void* y,
         int64_t y_stride, void* result) {
  if (is_ours(dtype)) {
    return gemv(dtype, 1, n, 1, {x, n, x_stride}, y, y_stride, 0, result, 1);
  }
  match_threads();
  // In parts that depend on n alone: the libraries do it in one thread.
  constexpr int64_t kPart = at::kUpdateGrain;
  const int64_t parts = n < 2 * kPart ? 1 : (n + kPart - 1) / kPart;
  c10::SmallVector<complex<double>, 16> sums;  // room for any dtype
  if (parts > 1) {
    sums.resize(static_cast<size_t>(parts));
    const auto size = static_cast<int64_t>(c10::elementSize(dtype));
    at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i * kPart;
        dot(dtype, std::min(kPart, n - first),
            static_cast<const char*>(x) + first * x_stride * size, x_stride,
            static_cast<const char*>(y) + first * y_stride * size, y_stride,
            reinterpret_cast<char*>(sums.data()) + i * size);
      }
    });
  }
  OPLOOM_DISPATCH(dtype, "dot", (OPLOOM_FLOATING, OPLOOM_COMPLEX), [&] {
    const auto* const px = static_cast<const scalar_t*>(x);
    const auto* const py = static_cast<const scalar_t*>(y);
    const auto* const each = reinterpret_cast<const scalar_t*>(sums.data());
    *static_cast<scalar_t*>(result) = parts == 1 ? dot_of_part(n, px, x_stride, py, y_stride)
                                                 : std::accumulate(each, each + parts, scalar_t(0));
  });
}

namespace {

// Floats and complex numbers.
OPLOOM_COLD void gemv_by_blas(ScalarType dtype, int64_t m, int64_t n, const Scalar& alpha,
                              const Matrix& a, const void* x, int64_t x_stride, const Scalar& beta,
                              void* y, int64_t y_stride) {
  match_threads();
  const Layout la = layout_of(a, m, n);
  const bool blas = fits_blas(std::max(m, n), std::max(x_stride, y_stride), la.ld) &&
                    x_stride > 0 && y_stride > 0 && n > 0;
  OPLOOM_DISPATCH(dtype, "mv", (OPLOOM_FLOATING, OPLOOM_COMPLEX), [&] {
    const auto* pa = static_cast<const scalar_t*>(a.data);
    const auto* px = static_cast<const scalar_t*>(x);
    auto* py = static_cast<scalar_t*>(y);
    const auto beta_value = beta.to<scalar_t>();
    const auto alpha_value = alpha.to<scalar_t>();
    if (blas) {
      // Versions of OpenBLAS differ in whether 0 times NaN is 0 here.
      scalar_t one(1);
      const bool clear = beta_value == scalar_t(0);
      if (clear && y_stride == 1) std::memset(y, 0, static_cast<size_t>(m) * sizeof(scalar_t));
      for (int64_t i = 0; clear && y_stride != 1 && i < m; ++i) py[i * y_stride] = scalar_t(0);
      const scalar_t scale = clear ? one : beta_value;
      // A transposed matrix is given to BLAS as the n x m one that it is in memory.
      const CBLAS_TRANSPOSE trans = la.transposed ? CblasTrans : CblasNoTrans;
      const auto rows = static_cast<blasint>(la.transposed ? n : m);
      const auto columns = static_cast<blasint>(la.transposed ? m : n);
      const auto ld = static_cast<blasint>(la.ld), iy = static_cast<blasint>(y_stride);
      auto ix = static_cast<blasint>(x_stride);
      // OpenBLAS 0.3.21 reads two complex numbers behind x, where there may be no memory.
      SmallVector<scalar_t, 32> copy;
      if constexpr (is_complex_v<scalar_t>) {
        copy.resize(static_cast<size_t>(n) + 2);
        for (int64_t j = 0; j < n; ++j) copy[j] = px[j * x_stride];
        px = copy.data();
        ix = 1;
      }
      if constexpr (std::is_same_v<scalar_t, float>) {
        cblas_sgemv(CblasRowMajor, trans, rows, columns, alpha_value, pa, ld, px, ix, scale, py,
                    iy);
      } else if constexpr (std::is_same_v<scalar_t, double>) {
        cblas_dgemv(CblasRowMajor, trans, rows, columns, alpha_value, pa, ld, px, ix, scale, py,
                    iy);
      } else if constexpr (std::is_same_v<scalar_t, complex<float>>) {
        cblas_cgemv(CblasRowMajor, trans, rows, columns, &alpha_value, pa, ld, px, ix, &scale, py,
                    iy);
      } else {
        cblas_zgemv(CblasRowMajor, trans, rows, columns, &alpha_value, pa, ld, px, ix, &scale, py,
                    iy);
      }
      return;
    }
    at::parallel_for(0, m, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, n)),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) {
                         scalar_t sum(0);
                         const scalar_t* row = pa + i * a.row_stride;
                         for (int64_t j = 0; j < n; ++j) {
                           sum = sum + row[j * a.column_stride] * px[j * x_stride];
                         }
                         sum = sum * alpha_value;
                         if (beta_value != scalar_t(0)) {
                           sum = sum + beta_value * py[i * y_stride];
                         }
                         py[i * y_stride] = sum;
                       }
                     });
  });
}

}  // namespace

void gemv(ScalarType dtype, int64_t m, int64_t n, const Scalar& alpha, const Matrix& a,
          const void* x, int64_t x_stride, const Scalar& beta, void* y, int64_t y_stride) {
  native::GemvArguments g{m, n, a.data, a.row_stride, a.column_stride, x, x_stride, y, y_stride};
  if (are_many_short_rows(dtype, g)) return gemv_by_columns(dtype, g, alpha, beta);
  // As a row times the transposed matrix, which has to have one of them dense.
  if ((dtype == kFloat || dtype == kDouble) && y_stride == 1 &&
      (x_stride == 1 || a.row_stride == 1)) {
    const GemmArguments row{1, m, n, x, 0, x_stride, a.data, a.column_stride, a.row_stride, y, m};
    if (native::small_gemm_stub(kCPU, dtype, row, alpha, beta, is_blas_narrow(dtype))) return;
  }
  if (is_ours(dtype)) {
    if (is_gemv_widened(dtype, g)) return gemv_widened(dtype, g, alpha, beta);
    if (!is_gemv_ours(dtype, g) && y_stride == 1 && a.row_stride == 1) {
      return gemm(dtype, {1, m, n, x, n * x_stride, x_stride, a.data, a.column_stride, 1, y, m},
                  alpha, beta);
    }
    c10::DataPtr memory;
    if (!is_gemv_ours(dtype, g)) {
      // Copies of rows and x.
      memory = c10::GetCPUAllocator()->allocate(static_cast<size_t>((m + 1) * n) *
                                                c10::elementSize(dtype));
      char* const rows = static_cast<char*>(memory.mutable_get());
      char* const column = rows + m * n * static_cast<int64_t>(c10::elementSize(dtype));
      convert_rows(dtype, dtype, m, n, rows, n, 1, a.data, a.row_stride, a.column_stride);
      convert_rows(dtype, dtype, 1, n, column, n, 1, x, n, x_stride);
      g = {m, n, rows, n, 1, column, 1, y, y_stride};
    }
    return native::gemv_stub(kCPU, dtype, g, alpha, beta);
  }
  gemv_by_blas(dtype, m, n, alpha, a, x, x_stride, beta, y, y_stride);
}

}  // namespace at::inline oploom_v1::onednn
