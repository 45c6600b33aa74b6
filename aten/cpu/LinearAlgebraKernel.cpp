// Products of matrices of floats that no library computes faster, and of integers.
#include <aten/core/Dispatch.h>
#include <aten/core/OpaqueType.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/ProductBlocks.h>
#include <aten/cpu/Squares.h>
#include <aten/stubs/LinearAlgebra.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <type_traits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// Copies element (r, c) from in[c * column + r] to out[r * width + c]. What does not fill a square
// goes by those of half the width, and what does not fill the smallest by elements.
template <typename T, int kBytes = kRegisterBytes>
void transpose(T* out, int64_t width, const T* in, int64_t column, int64_t rows, int64_t columns) {
  if constexpr (kBytes < 16) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) out[r * width + c] = in[c * column + r];
    }
  } else {
    using Piece = Square<T, kBytes>;
    constexpr int64_t kSide = Piece::kRows, kSize = sizeof(T);
    const int64_t high = rows / kSide * kSide, wide = columns / kSide * kSide;
    for (int64_t c = 0; c < wide; c += kSide) {
      for (int64_t r = 0; r < high; r += kSide) {
        Piece::template transpose<false>(
            reinterpret_cast<char*>(out + r * width + c), width * kSize,
            reinterpret_cast<const char*>(in + c * column + r), column * kSize);
      }
    }
    if (wide < columns) {
      transpose<T, kBytes / 2>(out + wide, width, in + wide * column, column, rows, columns - wide);
    }
    if (high < rows) {
      transpose<T, kBytes / 2>(out + high * width, width, in + high, column, rows - high, wide);
    }
  }
}

// Copies rows of b whose columns lie `column` apart, their elements `row` apart, to dense ones.
template <typename T>
void pack(T* out, const T* in, int64_t row, int64_t column, int64_t rows, int64_t columns) {
  if (row == 1 && column != 1) {
    using Element = opaque_type<sizeof(T)>;
    return transpose(reinterpret_cast<Element*>(out), columns, reinterpret_cast<const Element*>(in),
                     column, rows, columns);
  }
  for (int64_t p = 0; p < rows; ++p) {
    if (column == 1) {
      std::copy_n(in + p * row, columns, out + p * columns);
    } else {
      for (int64_t j = 0; j < columns; ++j) out[p * columns + j] = in[p * row + j * column];
    }
  }
}

// Rows of b that are copied at once, as many columns of them as blocks have.
template <typename T>
constexpr int64_t kPackedRows = 32768 / sizeof(T) / (kColumns * Vec<T>::size());

// Columns of c for which those of b are copied first, in pieces of as many rows whatever the number
// of columns, so that the order of the sums does not depend on how columns are shared out.
template <typename T>
OPLOOM_NOINLINE void by_packed_blocks(const Operands<T>& operands, int64_t b_column, int64_t m,
                                      int64_t vectors, int64_t last) {
  constexpr int64_t kStep = Vec<T>::size(), kPiece = kPackedRows<T>;
  alignas(64) T packed[kPiece * kColumns * kStep];
  Operands<T> o = operands;
  const int64_t width = (vectors - 1) * kStep + last;
  int64_t p = 0;
  do {
    o.k = std::min(operands.k - p, kPiece);
    pack(packed, operands.b + p * operands.ldb, operands.ldb, b_column, o.k, width);
    o.a = operands.a + p * o.a_column;
    o.b = packed;
    o.ldb = width;
    o.c = operands.c;
    if (p > 0) {
      o.beta = T(1);
      o.addend_row = o.ldc;
    }
    o.addend = p > 0 ? operands.c : operands.addend;
    by_blocks(o, m, vectors, last);
    p += o.k;
  } while (p < operands.k);
}

// Whether a dense a times a transposed b is computed faster by dots() than after copying b: a model
// of the cycles that processors with two multiply-adds in each were measured to take. Numbers of c
// in rows of four are added up from their vectors in 3 each, others in 8; blocks of one vector wait
// for what they read; copying takes 1/4 an element and 60 for each call.
template <typename T>
bool favors_dots(int64_t m, int64_t n, int64_t k) {
  constexpr double kStep = Vec<T>::size();
  const int64_t vectors = (n + Vec<T>::size() - 1) / Vec<T>::size();
  const auto rows = static_cast<double>(m), columns = static_cast<double>(n),
             terms = static_cast<double>(k), rest = static_cast<double>(n % 4);
  const double dots = rows * (columns * terms * (0.55 / kStep) + 3 * columns + 5 * rest);
  const double blocks = rows * static_cast<double>(vectors) * terms * (vectors > 1 ? 0.55 : 0.65);
  return dots < blocks + columns * terms * 0.25 + 60;
}

// Vectors in a row of c from which on a product of one term is written row by row (measured).
constexpr int64_t kLongRow = 3 * kWide / 4;

// A column times a dense row.
template <bool kScaled, typename T>
OPLOOM_NOINLINE void outer_product(Operands<T> o, int64_t m, int64_t n) {
  using V = Vec<T>;
  const int64_t last = n % V::size(), whole = n - last;
  for (int64_t r = 0; r < m; ++r, o.skip_rows(1)) {
    const V factor(*o.a);
    const auto term = [&](int64_t j, V b, int64_t count) OPLOOM_ALWAYS_INLINE_LAMBDA {
      const V product = fmadd(factor, b, V(T(0)));
      return kScaled ? scaled(product, o.alpha, o.beta, o.addend + j, count) : product;
    };
    OPLOOM_INDEPENDENT_ITERATIONS
    for (int64_t j = 0; j < whole; j += V::size()) {
      term(j, V::loadu(o.b + j), V::size()).storeu(o.c + j);
    }
    if (last > 0) term(whole, V::loadu(o.b + whole, last), last).storeu(o.c + whole, last);
  }
}

// One number, of two dense vectors.
bool is_dot(const GemmArguments& g) {
  return g.m == 1 && g.n == 1 && g.a_column == 1 && g.b_row == 1;
}

template <typename T>
OPLOOM_ALWAYS_INLINE Operands<T> operands_of(const GemmArguments& g, T alpha, T beta) {
  return {g.k,
          static_cast<const T*>(g.a),
          g.a_row,
          g.a_column,
          static_cast<const T*>(g.b),
          g.b_row,
          static_cast<T*>(g.c),
          g.ldc,
          alpha,
          beta,
          static_cast<const T*>(g.addend ? g.addend : g.c),
          g.addend ? g.addend_row : g.ldc};
}

// With `copies`, b is copied wherever it lies.
template <typename T>
void small_product(const GemmArguments& g, T alpha, T beta, bool copies = false) {
  constexpr int64_t kStep = Vec<T>::size();
  Operands<T> o = operands_of(g, alpha, beta);
  T* const c = o.c;
  const T* const addend = o.addend;
  const bool dense = !copies && (g.b_column == 1 || g.n == 1);
  if constexpr (Vec<T>::kInRegister && !std::is_integral_v<T>) {
    if (is_dot(g) || (!dense && !copies && g.b_row == 1 && g.a_column == 1 &&
                      (g.m == 1 || favors_dots<T>(g.m, g.n, g.k)))) {
      o.ldb = g.b_column;
      return by_dots(o, g.m, g.n);
    }
  }
  const bool by_rows = dense && (g.m == 1 || g.k == 1) && !std::is_integral_v<T>;
  if (dense && g.k == 1 && g.n > kLongRow * kStep) {
    return o.is_plain() ? outer_product<false>(o, g.m, g.n) : outer_product<true>(o, g.m, g.n);
  }
  for (int64_t j = 0, left = (g.n + kStep - 1) / kStep; left > 0;) {
    int64_t vectors = by_rows ? portion(left, kWide)
                      : dense ? width<T>(left)
                              : portion(left, kColumns);
    if (by_rows && !is_width(vectors)) vectors = (vectors + 1) / 2;
    left -= vectors;
    o.a = static_cast<const T*>(g.a);
    o.c = c + j;
    o.addend = addend + j;
    const int64_t last = left > 0 ? kStep : (g.n - 1) % kStep + 1;
    dense ? by_blocks(o, g.m, vectors, last) : by_packed_blocks(o, g.b_column, g.m, vectors, last);
    o.b += vectors * kStep * g.b_column;
    j += vectors * kStep;
  }
}

// Square products above this size, and others of as many multiply-adds, are left to a library,
// which is as fast then (and has threads).
constexpr int64_t kSide = Vec<float>::size() == 16 ? 100 : Vec<float>::size() == 8 ? 72 : 16;

// A row times C vectors of columns, which are too few to hide the time that a multiply-add takes:
// every fourth term goes to another sum.
template <int C, typename T>
void narrow_product(const GemmArguments& g, T alpha, T beta) {
  using V = Vec<T>;
  constexpr int kSums = 4;
  const int64_t last = g.n - (C - 1) * V::size();
  const auto load = [&](const T* line, int s) OPLOOM_ALWAYS_INLINE_LAMBDA {
    return s < C - 1 ? V::loadu(line + s * V::size()) : V::loadu(line + s * V::size(), last);
  };
  V sums[kSums][C];
#pragma GCC unroll 4
  for (int i = 0; i < kSums; ++i) {
#pragma GCC unroll 2
    for (int s = 0; s < C; ++s) sums[i][s] = V(T(0));
  }
  const T* a = static_cast<const T*>(g.a);
  const T* b = static_cast<const T*>(g.b);
  const auto add = [&](int i) OPLOOM_ALWAYS_INLINE_LAMBDA {
#pragma GCC unroll 2
    for (int s = 0; s < C; ++s) sums[i][s] = fmadd(V(*a), load(b, s), sums[i][s]);
    a += g.a_column;
    b += g.b_row;
  };
  int64_t p = 0;
  for (; p + kSums <= g.k; p += kSums) {
#pragma GCC unroll 4
    for (int i = 0; i < kSums; ++i) add(i);
  }
  for (; p < g.k; ++p) add(0);
  T* c = static_cast<T*>(g.c);
  const T* addend = g.addend ? static_cast<const T*>(g.addend) : c;
#pragma GCC unroll 2
  for (int s = 0; s < C; ++s) {
    const V sum = (sums[0][s] + sums[1][s]) + (sums[2][s] + sums[3][s]);
    const int64_t count = s < C - 1 ? int64_t{V::size()} : last;
    scaled(sum, alpha, beta, addend + s * V::size(), count).storeu(c + s * V::size(), count);
  }
}

// Rows from i and columns from j of a product.
template <typename T>
GemmArguments part_of(GemmArguments g, int64_t i, int64_t rows, int64_t j, int64_t columns) {
  g.m = rows;
  g.n = columns;
  g.a = static_cast<const T*>(g.a) + i * g.a_row;
  g.b = static_cast<const T*>(g.b) + j * g.b_column;
  g.c = static_cast<T*>(g.c) + i * g.ldc + j;
  if (g.addend) g.addend = static_cast<const T*>(g.addend) + i * g.addend_row + j;
  return g;
}

// Rows or columns of a product, computed by several threads where there are many.
template <typename T>
void shared_product(const GemmArguments& g, T alpha, T beta) {
  constexpr int64_t kStep = Vec<T>::size();
  if (g.m == 1 && g.n <= 2 * kStep && g.k > 16 && g.b_column == 1 && !is_dot(g)) {
    return g.n <= kStep ? narrow_product<1>(g, alpha, beta) : narrow_product<2>(g, alpha, beta);
  }
  if (g.m * g.n * g.k < 2 * at::kUpdateGrain) return small_product(g, alpha, beta);
  const bool by_rows = g.m > 1;
  at::parallel_for(0, by_rows ? g.m : g.n,
                   std::max<int64_t>(1, at::kUpdateGrain / (by_rows ? g.n : g.k)),
                   [&](int64_t begin, int64_t end) {
                     small_product(by_rows ? part_of<T>(g, begin, end - begin, 0, g.n)
                                           : part_of<T>(g, 0, g.m, begin, end - begin),
                                   alpha, beta);
                   });
}

// Columns of a strip of rows of c, panel by panel. Of a, as many columns at once as rows of b are
// copied; they stay in the second-level cache while those of b are copied to the first-level one,
// which a few rows would not make good.
template <typename T>
void strip_product(const GemmArguments& g, T alpha, T beta, bool copies) {
  constexpr int64_t kWidth = kColumns * Vec<T>::size();
  // A transposed a whose columns lie far apart is copied where it is read this often (measured).
  constexpr int64_t kReads = 4 * kWidth, kFar = 512;
  c10::DataPtr memory;
  if (g.a_column >= kFar && g.n >= kReads) {
    memory =
        c10::GetCPUAllocator()->allocate(static_cast<size_t>(g.m) * kPackedRows<T> * sizeof(T));
  }
  auto* const packed = static_cast<T*>(memory.mutable_get());
  int64_t p = 0;
  do {
    GemmArguments part = g;
    part.k = std::min(kPackedRows<T>, g.k - p);
    part.a = static_cast<const T*>(g.a) + p * g.a_column;
    part.b = static_cast<const T*>(g.b) + p * g.b_row;
    if (packed) {
      pack(packed, static_cast<const T*>(part.a), g.a_row, g.a_column, g.m, part.k);
      part.a = packed;
      part.a_row = part.k;
      part.a_column = 1;
    }
    if (p > 0) part.addend = nullptr;
    for (int64_t j = 0; j < g.n; j += kWidth) {
      small_product(part_of<T>(part, 0, g.m, j, std::min(kWidth, g.n - j)), alpha,
                    p > 0 ? T(1) : beta, copies);
    }
    p += part.k;
  } while (p < g.k);
}

// Whether c lies in far memory, has long rows, and is made of so short sums that it takes longer to
// write it than to compute it. It is written in its order then, which takes integers 0.5 to 0.7 of
// the time (and floats up to 1.8 times); all of b stays in the second-level cache.
template <typename T>
bool favors_rows(const GemmArguments& g) {
  constexpr int64_t kFar = (16 << 20) / sizeof(T), kNear = (1 << 18) / sizeof(T), kLong = 256;
  return std::is_integral_v<T> && g.b_column == 1 && g.m * g.n >= kFar && g.k * g.n <= kNear &&
         g.n >= kLong;
}

// Any product.
template <typename T>
void large_product(const GemmArguments& g, T alpha, T beta) {
  constexpr int64_t kWidth = kColumns * Vec<T>::size(), kFewRows = 4 * kRows;
  constexpr int64_t kGrain = 1 << 20;  // multiply-adds
  const bool by_rows = favors_rows<T>(g);
  const int64_t strip = by_rows ? kRows : 30 * kRows;
  const int64_t strips = (g.m + strip - 1) / strip, panels = (g.n + kWidth - 1) / kWidth;
  const int64_t grain =
      std::max<int64_t>(1, kGrain / (std::min(strip, g.m) * kWidth * std::max<int64_t>(1, g.k)));
  at::parallel_for(0, strips * panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t count; begin < end; begin += count) {
      const int64_t i = begin / panels * strip, j = begin % panels * kWidth;
      count = std::min(panels - begin % panels, end - begin);
      strip_product(
          part_of<T>(g, i, std::min(strip, g.m - i), j, std::min(count * kWidth, g.n - j)), alpha,
          beta, /*copies=*/!by_rows && g.m > kFewRows);
    }
  });
}

// Whether the terms of each number of c lie beside each other in both factors.
bool has_dense_terms(const GemmArguments& g) {
  return g.a_column == 1 && g.b_row == 1 && g.b_column != 1;
}

// A dense a times a transposed b whose rows and columns are long: as much of b at a time as stays
// in the second-level cache.
template <typename T>
void long_dots(const GemmArguments& g, T alpha, T beta) {
  constexpr int64_t kTerms = 4096 / sizeof(T), kWidth = 64, kStep = 4;
  constexpr int64_t kGrain = 1 << 20;  // multiply-adds
  const bool by_rows = g.m >= g.n;
  const int64_t count = by_rows ? g.m : g.n, others = by_rows ? g.n : g.m;
  at::parallel_for(
      0, (count + kStep - 1) / kStep, std::max<int64_t>(1, kGrain / (kStep * others * g.k)),
      [&](int64_t begin, int64_t end) {
        begin *= kStep;
        end = std::min(end * kStep, count);
        const auto share = by_rows ? part_of<T>(g, begin, end - begin, 0, g.n)
                                   : part_of<T>(g, 0, g.m, begin, end - begin);
        for (int64_t j = 0; j < share.n; j += kWidth) {
          const auto part = part_of<T>(share, 0, share.m, j, std::min(kWidth, share.n - j));
          Operands<T> o = operands_of(part, alpha, beta);
          o.ldb = g.b_column;
          for (int64_t left = g.k; left > 0; left -= o.k) {
            o.k = std::min(kTerms, left);
            by_dots(o, part.m, part.n);
            o.a += o.k;
            o.b += o.k;
            o.beta = T(1);
            o.addend = o.c;
            o.addend_row = o.ldc;
          }
        }
      });
}

// Whether that takes less time than what a library does, which brings columns of b together first
// (measured beside oneDNN; of float64, beside large_product()).
template <typename T>
bool favors_long_dots(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kTerms = 256;
  if (k < kTerms) return false;
  if (std::is_same_v<T, double>) return m <= 24;
  if (Vec<T>::size() == 8) return m <= 8 || n <= 4;
  if (m < 8 && m != 4) return false;
  return std::min(m, n) < (k < 2 * kTerms ? 100 : 512);
}

// Of float32, the products that large_product() computes in less time than oneDNN (measured).
bool favors_own_blocks(const GemmArguments& g) {
  constexpr int64_t kStep = Vec<float>::size();
  if (kStep == 16) {
    // Those of a transposed b, unless there are so few rows that copying it is the most of it or so
    // many that the library's copy is little, and those of one vector.
    return g.n <= kStep || (g.b_row == 1 && (g.m >= 8 || g.k <= 16) && std::min(g.m, g.n) <= 300);
  }
  // Few rows or columns, of factors whose rows are a multiple of 2 KB apart.
  const auto in_pages = [](int64_t stride) { return stride % 512 == 0; };
  return (g.m >= 8 && g.m <= 16 && g.b_column == 1 && in_pages(g.b_row)) ||
         (g.n <= 24 && g.a_row == 1 && in_pages(g.a_column));
}

// Elements of c, and others of b, up to which a library whose vectors are as wide as ours is no
// faster (measured).
constexpr int64_t kNearOutput = 1 << 18, kNearFactor = 1 << 16;

template <typename T>
bool small_gemm(const GemmArguments& g, T alpha, T beta, bool is_widest) {
  if (g.n == 1 && g.m > 1 && g.ldc == 1 && !g.addend) {
    // A column is computed as a row: c^T = b^T a^T.
    return small_gemm({1, g.m, g.k, g.b, 0, g.b_row, g.a, g.a_column, g.a_row, g.c, g.m}, alpha,
                      beta, is_widest);
  }
  // What has one row, column or term is bound by memory, and is not faster in any other order.
  if (Vec<T>::kInRegister && (g.m == 1 || g.k == 1)) {
    shared_product(g, alpha, beta);
    return true;
  }
  if (g.m * g.n * g.k <= kSide * kSide * kSide) {
    // A single block is soon done.
    if (g.m <= kTallest<T> && g.n <= Vec<T>::size() && g.b_column == 1) {
      compute_blocks(operands_of(g, alpha, beta), g.m, 1, g.n, 1);
    } else {
      small_product(g, alpha, beta);
    }
    return true;
  }
  if constexpr (Vec<T>::size() == 8 || Vec<T>::size() == 16) {
    if (has_dense_terms(g) && favors_long_dots<T>(g.m, g.n, g.k)) {
      long_dots(g, alpha, beta);
      return true;
    }
  }
  if constexpr (std::is_same_v<T, float> && Vec<T>::size() >= 8) {
    if (favors_own_blocks(g)) {
      large_product(g, alpha, beta);
      return true;
    }
  }
  if constexpr (std::is_same_v<T, double> && Vec<T>::size() == 8) {
    if (!is_widest && g.m * g.n > kNearOutput && g.k * g.n > kNearFactor) return false;
    large_product(g, alpha, beta);
    return true;
  }
  return false;
}

bool small_gemm_kernel(ScalarType dtype, const GemmArguments& arguments, const Scalar& alpha,
                       const Scalar& beta, bool is_widest) {
  return OPLOOM_DISPATCH(dtype, "mm", (OPLOOM_FLOATING), [&] {
    return small_gemm<scalar_t>(arguments, alpha.to<scalar_t>(), beta.to<scalar_t>(), is_widest);
  });
}

template <typename T>
void products_side_by_side(const GemmArguments& g, int64_t count, int64_t pitch, T alpha, T beta) {
  using V = Vec<T>;
  for (int64_t r = 0; r < g.m; ++r) {
    for (int64_t s = 0; s < g.n; ++s) {
      T* const place = static_cast<T*>(g.c) + r * g.ldc + s * pitch;
      for (int64_t j = 0; j < count; j += V::size()) {
        const T* a = static_cast<const T*>(g.a) + r * g.a_row + j;
        const T* b = static_cast<const T*>(g.b) + s * g.b_column + j;
        V sum(T(0));
        for (int64_t p = 0; p < g.k; ++p, a += g.a_column, b += g.b_row) {
          sum = fmadd(V::loadu(a), V::loadu(b), sum);
        }
        scaled(sum, alpha, beta, place + j, V::size()).storeu(place + j);
      }
    }
  }
}

void side_by_side_kernel(ScalarType dtype, const GemmArguments& g, int64_t count, int64_t pitch,
                         const Scalar& alpha, const Scalar& beta) {
  OPLOOM_DISPATCH(dtype, "bmm", (OPLOOM_FLOATING, OPLOOM_INT, OPLOOM_LONG), [&] {
    products_side_by_side(g, count, pitch, alpha.to<scalar_t>(), beta.to<scalar_t>());
  });
}

void gemm_kernel(ScalarType dtype, const GemmArguments& arguments, const Scalar& alpha,
                 const Scalar& beta) {
  OPLOOM_DISPATCH(dtype, "mm", (OPLOOM_INT, OPLOOM_LONG),
                  [&] { large_product(arguments, alpha.to<scalar_t>(), beta.to<scalar_t>()); });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(small_gemm_stub, &small_gemm_kernel);
OPLOOM_REGISTER_DISPATCH(products_side_by_side_stub, &side_by_side_kernel);
OPLOOM_REGISTER_DISPATCH(gemm_stub, &gemm_kernel);

}  // namespace at::inline oploom_v1::native
