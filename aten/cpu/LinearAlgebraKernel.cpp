// Matrix products: small ones of floats, those of integers, and plain loops for sizes that BLAS
// does not count.
#include <aten/core/Dispatch.h>
#include <aten/core/OpaqueType.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/Squares.h>
#include <aten/cpu/vec/vec.h>
#include <aten/stubs/LinearAlgebra.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// ---- Products of floats that no library computes faster ----

using vec::Vec;

// What a block of c is computed from: element (r, p) of its rows of a is at
// a[r * a_row + p * a_column], and rows of b, or its columns, lie ldb apart.
template <typename T>
struct Operands {
  int64_t k;
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t ldb;
  T* c;
  int64_t ldc;
  T alpha, beta;
  const T* addend;
  int64_t addend_row;

  void skip_rows(int64_t count) {
    a += count * a_row;
    c += count * ldc;
    addend += count * addend_row;
  }
  void skip_columns(int64_t count) {
    c += count;
    addend += count;
  }
};

// Computes `count` blocks of c, one below the other, of whose last vector in a row the first `last`
// columns are wanted.
template <typename T>
using Blocks = void (*)(const Operands<T>& o, int64_t last, int64_t count);

// Blocks have at most kRows rows of kColumns vectors, kShort of one vector more, kTall of one
// vector, or one of kWide. Their sums fill the registers, and are enough to hide the time that a
// multiply-add takes; a wide row reads long runs of memory. More than kHigh rows of one vector are
// taken at once where they are all that is left: each row reads a number for one multiply-add.
#if defined(CPU_CAPABILITY_AVX512)
constexpr int kRows = 8, kColumns = 3, kShort = 6, kTall = 16, kWide = 16;
#elif defined(CPU_CAPABILITY_AVX2)
constexpr int kRows = 6, kColumns = 2, kShort = 4, kTall = 8, kWide = 8;
#else
constexpr int kRows = 4, kColumns = 1, kShort = 0, kTall = 8, kWide = 4;
#endif
constexpr int kHigh = 8;
// Of the widest rows there are those of a multiple of four vectors: each is a function of its own.
constexpr bool is_width(int64_t vectors) { return vectors <= 12 || vectors % 4 == 0; }

// GCC makes a copy of a function for each shape of a block that it is called with.
#if __has_attribute(noclone)
#define OPLOOM_NOCLONE __attribute__((noclone))
#else
#define OPLOOM_NOCLONE
#endif

// alpha * sum + beta * addend for `count` columns. With beta 0, the addend is not read.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> scaled(Vec<T> sum, T alpha, T beta, const T* addend, int64_t count) {
  sum = Vec<T>(alpha) * sum;
  return beta == T(0) ? sum : fmadd(Vec<T>(beta), Vec<T>::loadu(addend, count), sum);
}

// alpha times the sums of a block, plus beta times the addend, from this row on.
template <typename T>
OPLOOM_NOINLINE OPLOOM_NOCLONE void scale_and_add(const Operands<T>& o, const T* sums, int64_t row,
                                                  int64_t rows, int64_t vectors, int64_t last) {
  using V = Vec<T>;
  T* c = o.c + row * o.ldc;
  const T* addend = o.addend + row * o.addend_row;
  const int64_t whole = last == V::size() ? vectors : vectors - 1;
  for (int64_t r = 0; r < rows; ++r, c += o.ldc, addend += o.addend_row) {
    const auto next = [&](int64_t j, int64_t count) OPLOOM_ALWAYS_INLINE_LAMBDA {
      const V sum = V::loadu(sums);
      sums += V::size();
      return scaled(sum, o.alpha, o.beta, addend + j, count);
    };
    int64_t j = 0;
    for (; j < whole * V::size(); j += V::size()) next(j, V::size()).storeu(c + j);
    if (whole < vectors) next(j, last).storeu(c + j, last);
  }
}

#if defined(CPU_CAPABILITY_AVX512)
// Half a vector, for which a processor that computes 512 bits in two parts takes half the time. It
// ends rows of one or two vectors: every number of a is read for it once more.
class HalfVec {
 public:
  static constexpr int size() { return 8; }
  HalfVec() = default;
  explicit HalfVec(float x) : line_(_mm256_set1_ps(x)) {}
  static HalfVec loadu(const float* from) { return HalfVec(_mm256_loadu_ps(from)); }
  void storeu(float* to) const { _mm256_storeu_ps(to, line_); }
  friend HalfVec fmadd(HalfVec a, HalfVec b, HalfVec c) {
    return HalfVec(_mm256_fmadd_ps(a.line_, b.line_, c.line_));
  }

 private:
  explicit HalfVec(__m256 line) : line_(line) {}
  __m256 line_;
};
template <typename T>
constexpr int kHalvesColumns = std::is_same_v<T, float> ? 2 : 0;
#else
using HalfVec = void;
template <typename T>
constexpr int kHalvesColumns = 0;
#endif

// How many columns of the last vector in a row are wanted: any number, half of them, or all.
enum class End { Any, Half, All };

// The sums stay in registers. The rows of b are next to each other in memory.
template <int R, int C, typename T, End kEnd = End::Any>
void blocks(const Operands<T>& operands, int64_t last, int64_t count) {
  using V = Vec<T>;
  using E = std::conditional_t<kEnd == End::Half, HalfVec, V>;
  constexpr int kLast = (C - 1) * V::size();
  constexpr bool kAll = kEnd != End::Any || E::size() == 1;
  if constexpr (kAll) last = E::size();
  // alpha and beta are read where they are needed, so that no register holds them meanwhile.
  Operands<T> o = operands;
  for (int64_t row = 0; row < count * R; row += R) {
    std::array<std::array<V, C - 1>, R> sums;
    std::array<E, R> ends;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (int s = 0; s < C - 1; ++s) sums[r][s] = V(T(0));
      ends[r] = E(T(0));
    }
    const T* a = o.a;
    const T* b = o.b;
    for (int64_t p = 0; p < o.k; ++p, a += o.a_column, b += o.ldb) {
      const T* high = a + kHigh * o.a_row;
      std::array<V, C - 1> line;
#pragma GCC unroll 16
      for (int s = 0; s < C - 1; ++s) line[s] = V::loadu(b + s * V::size());
      E end;
      if constexpr (kAll) {
        end = E::loadu(b + kLast);
      } else {
        end = E::loadu(b + kLast, last);
      }
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const T factor = r < kHigh ? a[r * o.a_row] : high[(r - kHigh) * o.a_row];
#pragma GCC unroll 16
        for (int s = 0; s < C - 1; ++s) sums[r][s] = fmadd(V(factor), line[s], sums[r][s]);
        ends[r] = fmadd(E(factor), end, ends[r]);
      }
    }
    const bool plain = operands.alpha == T(1) && operands.beta == T(0);
    alignas(64) T kept[R * C * V::size()];
    T* c = plain ? o.c : kept;
    const int64_t ldc = plain ? o.ldc : C * V::size();
    const bool all = kAll || !plain || last == E::size();
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r, c += ldc) {
#pragma GCC unroll 16
      for (int s = 0; s < C - 1; ++s) sums[r][s].storeu(c + s * V::size());
      if constexpr (!kAll) {
        if (!all) {
          ends[r].storeu(c + kLast, last);
          continue;
        }
      }
      ends[r].storeu(c + kLast);
    }
    if (!plain) scale_and_add(operands, kept, row, R, C, last);
    o.a += R * o.a_row;
    o.c += R * o.ldc;
  }
}

// Vectors of numbers in groups of `width` become one of half groups, those of x before those of y:
// the halves of each are added.
template <int width, typename L, int... I>
OPLOOM_ALWAYS_INLINE L add_halves(const L& x, const L& y, std::integer_sequence<int, I...>) {
  constexpr int kHalf = width / 2;
  return __builtin_shufflevector(x, y, (I / kHalf * width + I % kHalf)...) +
         __builtin_shufflevector(x, y, (I / kHalf * width + I % kHalf + kHalf)...);
}

// The sums of the numbers in each of four vectors, added in the order of reduce_add().
template <typename T>
OPLOOM_ALWAYS_INLINE auto sums_of(const Vec<T>& a, const Vec<T>& b, const Vec<T>& c,
                                  const Vec<T>& d) {
  constexpr int kSize = Vec<T>::size();
  typedef T Line __attribute__((vector_size(kSize * sizeof(T))));
  constexpr std::make_integer_sequence<int, kSize> kAll{};
  const Line ab = add_halves<kSize>(Line(a), Line(b), kAll);
  const Line cd = add_halves<kSize>(Line(c), Line(d), kAll);
  Line sums = add_halves<kSize / 2>(ab, cd, kAll);
  if constexpr (kSize >= 16) sums = add_halves<4>(sums, sums, kAll);
  if constexpr (kSize >= 8) sums = add_halves<2>(sums, sums, kAll);
  return __builtin_shufflevector(sums, sums, 0, 1, 2, 3);
}

// A block of R rows and J columns of c, 4 or 1, where rows of a and columns of b are next to each
// other in memory.
template <int R, int J, typename T>
void dots(const Operands<T>& o) {
  using V = Vec<T>;
  V sums[R][J];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int j = 0; j < J; ++j) sums[r][j] = V(T(0));
  }
  const auto add = [&](const auto& load) OPLOOM_ALWAYS_INLINE_LAMBDA {
    V column[J];
#pragma GCC unroll 16
    for (int j = 0; j < J; ++j) column[j] = load(o.b + j * o.ldb);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const V row = load(o.a + r * o.a_row);
#pragma GCC unroll 16
      for (int j = 0; j < J; ++j) sums[r][j] = fmadd(row, column[j], sums[r][j]);
    }
  };
  int64_t p = 0;
  for (; p + V::size() <= o.k; p += V::size()) {
    add([&](const T* line) OPLOOM_ALWAYS_INLINE_LAMBDA { return V::loadu(line + p); });
  }
  if (p < o.k) {
    add([&](const T* line) OPLOOM_ALWAYS_INLINE_LAMBDA { return V::loadu(line + p, o.k - p); });
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    T* c = o.c + r * o.ldc;
    if constexpr (J == 4) {
      auto sum = sums_of(sums[r][0], sums[r][1], sums[r][2], sums[r][3]) * o.alpha;
      if (o.beta != T(0)) {
        decltype(sum) before;
        std::memcpy(&before, o.addend + r * o.addend_row, sizeof before);
        sum += before * o.beta;
      }
      std::memcpy(c, &sum, sizeof sum);
    } else {
      T sum = o.alpha * sums[r][0].reduce_add();
      if (o.beta != T(0)) sum += o.beta * o.addend[r * o.addend_row];
      c[0] = sum;
    }
  }
}

// Shapes of blocks: each is a function of its own. For integers, whose products are rarer, there
// are fewer.
template <typename T>
constexpr int kWidest = kShort == 0 || std::is_integral_v<T> ? kColumns : kColumns + 1;
template <typename T>
constexpr int kTallest = std::is_integral_v<T>      ? kRows
                         : std::is_same_v<T, float> ? kTall
                                                    : kHigh;

// The rows of those of which many follow each other, by the number of vectors in a row.
template <typename T>
constexpr int full_height(int64_t vectors) {
  if (vectors == 1) return std::is_integral_v<T> ? kRows : kHigh;
  return vectors <= kColumns ? kRows : vectors <= kWidest<T> ? kShort : 1;
}

// Whether there are some of R rows of C vectors. Of several vectors there are no five or seven
// rows.
template <typename T, int C, int R>
constexpr bool is_shape() {
  if (std::is_integral_v<T>) return C <= kColumns && (R == 1 || R == kRows);
  return (C == 1 && R <= kTallest<T>) ||
         (C > 1 && is_width(C) && R != 5 && R != 7 && R <= full_height<T>(C));
}

template <typename T, int C, int R>
constexpr Blocks<T> blocks_or_null() {
  if constexpr (is_shape<T, C, R>()) {
    return &blocks<R, C, T>;
  } else {
    return nullptr;
  }
}

template <typename T, int C, int... R>
constexpr std::array<Blocks<T>, kTall> blocks_of(std::integer_sequence<int, R...>) {
  return {blocks_or_null<T, C, R + 1>()...};
}

template <typename T, int... C>
constexpr std::array<std::array<Blocks<T>, kTall>, kWide> all_blocks(
    std::integer_sequence<int, C...>) {
  return {blocks_of<T, C + 1>(std::make_integer_sequence<int, kTall>{})...};
}

// By the number of their vectors and that of their rows, each less one.
template <typename T>
constexpr auto kBlocks = all_blocks<T>(std::make_integer_sequence<int, kWide>{});

// Blocks of full height for an End that is known, by the number of their vectors less one.
template <typename T, End kEnd, int... C>
constexpr auto full_blocks(std::integer_sequence<int, C...>) {
  return std::array<Blocks<T>, sizeof...(C)>{&blocks<full_height<T>(C + 1), C + 1, T, kEnd>...};
}

template <typename T>
OPLOOM_ALWAYS_INLINE Blocks<T> blocks_for(int64_t rows, int64_t vectors, int64_t last) {
  if constexpr (!std::is_integral_v<T>) {
    if (vectors <= kWidest<T> && rows == full_height<T>(vectors)) {
      if constexpr (kHalvesColumns < T >> 0) {
        static constexpr auto kHalves =
            full_blocks<T, End::Half>(std::make_integer_sequence<int, kHalvesColumns<T>>{});
        if (vectors <= kHalvesColumns<T> && last == Vec<T>::size() / 2) return kHalves[vectors - 1];
      }
      static constexpr auto kWhole =
          full_blocks<T, End::All>(std::make_integer_sequence<int, kWidest<T>>{});
      if (last == Vec<T>::size()) return kWhole[vectors - 1];
    }
  }
  return kBlocks<T>[vectors - 1][rows - 1];
}

// All columns of R rows of c.
template <int R, typename T>
void dots_of_rows(Operands<T> o, int64_t n) {
  const auto take = [&]<int J>(std::integral_constant<int, J>) {
    for (; n >= J; n -= J) {
      dots<R, J>(o);
      o.b += J * o.ldb;
      o.skip_columns(J);
    }
  };
  take(std::integral_constant<int, 4>{});
  take(std::integral_constant<int, 1>{});
}

template <typename T>
void by_dots(Operands<T> o, int64_t m, int64_t n) {
  const auto take = [&]<int R>(std::integral_constant<int, R>) {
    for (; m >= R; m -= R) {
      dots_of_rows<R>(o, n);
      o.skip_rows(R);
    }
  };
  if constexpr (kRows == 8) take(std::integral_constant<int, 4>{});
  take(std::integral_constant<int, 2>{});
  take(std::integral_constant<int, 1>{});
}

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

// Of so many what to take at once, so that not much less is left for the end.
OPLOOM_ALWAYS_INLINE int64_t portion(int64_t left, int64_t most) {
  if (left >= 2 * most) return most;
  return left > most ? (left + 1) / 2 : left;
}

// The same in vectors of columns: so many blocks of the greatest width as leave multiples of the
// next.
template <typename T>
OPLOOM_ALWAYS_INLINE int64_t width(int64_t left) {
  const int64_t rest = left % kColumns;
  const bool widest = kWidest<T> > kColumns && rest > 0 && left >= rest * kWidest<T>;
  return widest ? kWidest<T> : portion(left, kColumns);
}

// The same in rows of so many vectors: of heights that there are.
template <typename T>
OPLOOM_ALWAYS_INLINE int64_t height(int64_t left, int64_t vectors) {
  const int64_t full = full_height<T>(vectors);
  if (std::is_integral_v<T>) return left < full ? 1 : full;
  if (vectors == 1) return portion(left, kTallest<T>);
  const int64_t rows = portion(left, full);
  if (rows != 5 && rows != 7) return rows;
  return rows < left && rows < full ? rows + 1 : rows - 1;
}

// As many vectors of columns of c as blocks are wide, all m rows of them. Leaves o behind the last.
template <typename T>
void by_blocks(Operands<T>& o, int64_t m, int64_t vectors, int64_t last) {
  const auto take = [&](int64_t rows, int64_t count) OPLOOM_ALWAYS_INLINE_LAMBDA {
    blocks_for<T>(rows, vectors, last)(o, last, count);
    o.skip_rows(count * rows);
    m -= count * rows;
  };
  // All but what height() divides best. Written so that each division is one by a constant.
  constexpr int kOne = full_height<T>(1), kMost = full_height<T>(kWidest<T>);
  const int64_t groups = vectors == 1            ? m / kOne - (kTallest<T> / kOne - 1)
                         : vectors <= kColumns   ? m / kRows
                         : vectors <= kWidest<T> ? m / kMost
                                                 : m;
  if (groups > 1) take(full_height<T>(vectors), groups - 1);
  while (m > 0) take(height<T>(m, vectors), 1);
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
    return alpha == T(1) && beta == T(0) ? outer_product<false>(o, g.m, g.n)
                                         : outer_product<true>(o, g.m, g.n);
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
  if (g.m * g.n * g.k <= at::kUpdateGrain) return small_product(g, alpha, beta);
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

// Any product.
template <typename T>
void large_product(const GemmArguments& g, T alpha, T beta) {
  constexpr int64_t kStrip = 30 * kRows, kWidth = kColumns * Vec<T>::size();
  constexpr int64_t kFewRows = 4 * kRows;
  constexpr int64_t kGrain = 1 << 20;  // multiply-adds
  const int64_t strips = (g.m + kStrip - 1) / kStrip, panels = (g.n + kWidth - 1) / kWidth;
  const int64_t grain =
      std::max<int64_t>(1, kGrain / (std::min(kStrip, g.m) * kWidth * std::max<int64_t>(1, g.k)));
  at::parallel_for(0, strips * panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t count; begin < end; begin += count) {
      const int64_t i = begin / panels * kStrip, j = begin % panels * kWidth;
      count = std::min(panels - begin % panels, end - begin);
      strip_product(
          part_of<T>(g, i, std::min(kStrip, g.m - i), j, std::min(count * kWidth, g.n - j)), alpha,
          beta, /*copies=*/g.m > kFewRows);
    }
  });
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
    const bool is_one = g.m <= kTall && g.n <= Vec<T>::size() && g.b_column == 1;
    const Blocks<T> block = is_one ? blocks_for<T>(g.m, 1, g.n) : nullptr;
    block ? block(operands_of(g, alpha, beta), g.n, 1) : small_product(g, alpha, beta);
    return true;
  }
  if constexpr (std::is_same_v<T, double> && Vec<T>::size() == 8) {
    if (!is_widest && g.m * g.n > kNearOutput && g.k * g.n > kNearFactor) return false;
    large_product(g, alpha, beta);
    return true;
  }
  return false;
}

// ---- Plain loops ----

// A block of b, this many rows and columns, is packed and stays in the second-level cache while all
// rows of a pass over it.
constexpr int64_t kBlockRows = 128;
constexpr int64_t kBlockColumns = 128;

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

// The sum of the products of n pairs, wrapping around.
template <typename T>
std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t> dot_product(const T* x, const T* y,
                                                                   int64_t n) {
  using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  U sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<U>(x[i]) * static_cast<U>(y[i]);
  return sum;
}

// The same in float, in four vectors.
template <typename T>
requires(c10::is_reduced_floating_point_v<T>) float dot_product(const T* x, const T* y, int64_t n) {
  using R = vec::Rows<T>;
  constexpr int kSums = 4;
  typename R::V sums[kSums];
  for (auto& sum : sums) sum = typename R::V(0.0F);
  const auto add = [&](auto& sum, const auto& a, const auto& b)
                       OPLOOM_ALWAYS_INLINE_LAMBDA { sum = fmadd(a, b, sum); };
  int64_t i = 0;
  for (; i + kSums * R::size() <= n; i += kSums * R::size()) {
#pragma GCC unroll 4
    for (int k = 0; k < kSums; ++k) {
      add(sums[k], R::load(x + i + k * R::size()), R::load(y + i + k * R::size()));
    }
  }
  for (; i + R::size() <= n; i += R::size()) add(sums[0], R::load(x + i), R::load(y + i));
  if (i < n) add(sums[1], R::load(x + i, n - i), R::load(y + i, n - i));
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])).reduce_add();
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

template <typename T, typename Factor>
void gemv(const GemvArguments& g, Factor alpha, Factor beta) {
  constexpr int64_t kGrain = 32768;  // products
  const auto* a = static_cast<const T*>(g.a);
  const auto* x = static_cast<const T*>(g.x);
  auto* y = static_cast<T*>(g.y);
  const auto by_rows = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      put_scaled(y[i * g.y_stride], dot_product(a + i * g.a_row, x, g.n), alpha, beta);
    }
  };
  // Blocks of columns, the last one beginning where it ends with the row, whose sums stay in the
  // first-level cache.
  constexpr int64_t kWidth = GemvArguments::kFewestColumns;
  const auto by_columns = [&](int64_t begin, int64_t end) {
    using S = std::conditional_t<sizeof(T) == 1 || std::is_same_v<T, int16_t>, uint16_t,
                                 decltype(dot_product(x, x, 0))>;
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
        for (int64_t j = 0; j < kWidth; ++j) {
          const int64_t i = start(block) + j;
          if (i < (first + block) * kWidth) continue;
          put_scaled(y[i * g.y_stride], sums[block * kWidth + j], alpha, beta);
        }
      }
    }
  };
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, g.n));
  g.has_rows() ? at::parallel_for(0, g.m, grain, by_rows)
               : at::parallel_for(0, (g.m + kWidth - 1) / kWidth,
                                  std::max<int64_t>(1, grain / kWidth), by_columns);
}

void gemv_kernel(ScalarType dtype, const GemvArguments& arguments, const Scalar& alpha,
                 const Scalar& beta) {
  OPLOOM_DISPATCH(dtype, "mv", (OPLOOM_INTEGRAL, OPLOOM_REDUCED), [&] {
    // What wraps around has the same bits with a sign and without.
    using T = std::conditional_t<sizeof(scalar_t) == 1, uint8_t, scalar_t>;
    using Factor = c10::opmath_type<scalar_t>;
    gemv<T>(arguments, alpha.to<Factor>(), beta.to<Factor>());
  });
}

bool small_gemm_kernel(ScalarType dtype, const GemmArguments& arguments, const Scalar& alpha,
                       const Scalar& beta, bool is_widest) {
  return OPLOOM_DISPATCH(dtype, "mm", (OPLOOM_FLOATING), [&] {
    return small_gemm<scalar_t>(arguments, alpha.to<scalar_t>(), beta.to<scalar_t>(), is_widest);
  });
}

void gemm_kernel(ScalarType dtype, const GemmArguments& arguments, const Scalar& alpha,
                 const Scalar& beta) {
  OPLOOM_DISPATCH(dtype, "mm", (OPLOOM_INT, OPLOOM_LONG, OPLOOM_DOUBLE, OPLOOM_COMPLEX), [&] {
    if constexpr (std::is_integral_v<scalar_t>) {
      large_product(arguments, alpha.to<scalar_t>(), beta.to<scalar_t>());
    } else {
      gemm_loops(arguments, alpha.to<scalar_t>(), beta.to<scalar_t>());
    }
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(small_gemm_stub, &small_gemm_kernel);
OPLOOM_REGISTER_DISPATCH(gemm_stub, &gemm_kernel);
OPLOOM_REGISTER_DISPATCH(gemv_stub, &gemv_kernel);

}  // namespace at::inline oploom_v1::native
