// Blocks of a matrix product of small factors: their shapes, and what computes them.
#pragma once

#include <aten/cpu/vec/vec.h>
#include <c10/util/Macros.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

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

  bool is_plain() const { return alpha == T(1) && beta == T(0); }
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

// Computes `count` blocks of a b, one below the other, of whose last vector in a row the first
// `last` columns are wanted, and puts them into c.
template <typename T>
using Blocks = void (*)(const Operands<T>& o, int64_t last, int64_t count);

// Blocks have at most kRows rows of kColumns vectors, kShort of one vector more, kTall of one
// vector, or one of kWide. Their sums fill the registers, and are enough to hide the time that a
// multiply-add takes; a wide row reads long runs of memory. More than kHigh rows of one vector are
// taken at once where they are all that is left: each row reads a number for one multiply-add.
// Sixteen such rows at once take 1.15 times as long as two blocks of eight on a Zen 4.
#if defined(CPU_CAPABILITY_AVX512)
constexpr int kRows = 8, kColumns = 3, kShort = 6, kTall = 12, kWide = 16;
#elif defined(CPU_CAPABILITY_AVX2)
constexpr int kRows = 6, kColumns = 2, kShort = 4, kTall = 8, kWide = 8;
#else
constexpr int kRows = 4, kColumns = 1, kShort = 0, kTall = 8, kWide = 4;
#endif
constexpr int kHigh = 8;
// Of the widest rows there are those of a multiple of four vectors: each is a function of its own.
constexpr bool is_width(int64_t vectors) { return vectors <= 8 || vectors % 4 == 0; }

// alpha * sum + beta * addend for `count` columns. With beta 0, the addend is not read.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> scaled(Vec<T> sum, T alpha, T beta, const T* addend, int64_t count) {
  sum = Vec<T>(alpha) * sum;
  return beta == T(0) ? sum : fmadd(Vec<T>(beta), Vec<T>::loadu(addend, count), sum);
}

#if defined(CPU_CAPABILITY_AVX512)
// Half a vector, for which a processor that computes 512 bits in two parts takes half the time. It
// ends rows of one or two vectors: every number of a is read for it once more.
class HalfVec {
 public:
  static constexpr int size() { return 8; }
  HalfVec() = default;
  explicit HalfVec(float x) : line_(_mm256_set1_ps(x)) {}
  // All that is ever wanted is all of it.
  static HalfVec loadu(const float* from, int64_t = size()) {
    return HalfVec(_mm256_loadu_ps(from));
  }
  void storeu(float* to, int64_t = size()) const { _mm256_storeu_ps(to, line_); }
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
      const E end = kAll ? E::loadu(b + kLast) : E::loadu(b + kLast, last);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const T factor = r < kHigh ? a[r * o.a_row] : high[(r - kHigh) * o.a_row];
#pragma GCC unroll 16
        for (int s = 0; s < C - 1; ++s) sums[r][s] = fmadd(V(factor), line[s], sums[r][s]);
        ends[r] = fmadd(E(factor), end, ends[r]);
      }
    }
    T* c = o.c;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r, c += o.ldc) {
#pragma GCC unroll 16
      for (int s = 0; s < C - 1; ++s) sums[r][s].storeu(c + s * V::size());
      last == E::size() ? ends[r].storeu(c + kLast) : ends[r].storeu(c + kLast, last);
    }
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
// are fewer, and float64 wins nothing by the tallest.
template <typename T>
constexpr int kWidest = kShort == 0 || std::is_integral_v<T> ? kColumns : kColumns + 1;
// Up to as many vectors there are blocks that end in a whole one.
template <typename T>
constexpr int kWholeColumns = std::is_integral_v<T> ? 0 : kWidest<T>;
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

template <typename T, int C, int kFirst, int... R>
constexpr auto blocks_of(std::integer_sequence<int, R...>) {
  return std::array<Blocks<T>, sizeof...(R)>{blocks_or_null<T, C, kFirst + R>()...};
}

template <typename T, int... C>
constexpr std::array<std::array<Blocks<T>, kHigh>, kWide> all_blocks(
    std::integer_sequence<int, C...>) {
  return {blocks_of<T, C + 1, 1>(std::make_integer_sequence<int, kHigh>{})...};
}

// By the number of their vectors and that of their rows, each less one; of one vector, those of
// more than kHigh rows on their own.
template <typename T>
constexpr auto kBlocks = all_blocks<T>(std::make_integer_sequence<int, kWide>{});
template <typename T>
constexpr auto kHighBlocks =
    blocks_of<T, 1, kHigh + 1>(std::make_integer_sequence<int, std::max(0, kTallest<T> - kHigh)>{});

// Blocks of full height for an End that is known, by the number of their vectors less one.
template <typename T, End kEnd, int... C>
constexpr auto full_blocks(std::integer_sequence<int, C...>) {
  return std::array<Blocks<T>, sizeof...(C)>{&blocks<full_height<T>(C + 1), C + 1, T, kEnd>...};
}

template <typename T>
OPLOOM_ALWAYS_INLINE Blocks<T> blocks_for(int64_t rows, int64_t vectors, int64_t last) {
  static constexpr auto kHalves =
      full_blocks<T, End::Half>(std::make_integer_sequence<int, kHalvesColumns<T>>{});
  static constexpr auto kWhole =
      full_blocks<T, End::All>(std::make_integer_sequence<int, kWholeColumns<T>>{});
  if (vectors <= kWholeColumns<T> && rows == full_height<T>(vectors)) {
    const auto place = static_cast<size_t>(vectors - 1);
    if (last == Vec<T>::size()) return kWhole[place];
    if (place < kHalves.size() && last == Vec<T>::size() / 2) return kHalves[place];
  }
  if (kHighBlocks<T>.size() > 0 && rows > kHigh) return kHighBlocks<T>[rows - kHigh - 1];
  return kBlocks<T>[vectors - 1][rows - 1];
}

// Computes blocks where alpha and beta are to be heeded: first their sums alone.
template <typename T>
OPLOOM_NOINLINE void scaled_blocks(Blocks<T> block, const Operands<T>& o, int64_t rows,
                                   int64_t vectors, int64_t last, int64_t count) {
  using V = Vec<T>;
  constexpr int kVectors = std::max({kRows * kColumns, kShort * (kColumns + 1), kTall, kWide});
  alignas(64) T sums[kVectors * V::size()];
  Operands<T> part = o;
  part.c = sums;
  part.ldc = vectors * V::size();
  T* c = o.c;
  const T* addend = o.addend;
  const int64_t columns = part.ldc - V::size() + last;
  for (int64_t i = 0; i < count; ++i, part.a += rows * o.a_row) {
    block(part, last, 1);
    for (int64_t r = 0; r < rows; ++r, c += o.ldc, addend += o.addend_row) {
      const T* row = sums + r * part.ldc;
      int64_t j = 0;
      for (; j + V::size() <= columns; j += V::size()) {
        scaled(V::loadu(row + j), o.alpha, o.beta, addend + j, V::size()).storeu(c + j);
      }
      if (j < columns) {
        const V sum = V::loadu(row + j, last);
        scaled(sum, o.alpha, o.beta, addend + j, last).storeu(c + j, last);
      }
    }
  }
}

template <typename T>
OPLOOM_ALWAYS_INLINE void compute_blocks(const Operands<T>& o, int64_t rows, int64_t vectors,
                                         int64_t last, int64_t count) {
  const Blocks<T> block = blocks_for<T>(rows, vectors, last);
  o.is_plain() ? block(o, last, count) : scaled_blocks(block, o, rows, vectors, last, count);
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
OPLOOM_NOINLINE void by_dots(Operands<T> o, int64_t m, int64_t n) {
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
OPLOOM_NOINLINE void by_blocks(Operands<T>& o, int64_t m, int64_t vectors, int64_t last) {
  const auto take = [&](int64_t rows, int64_t count) OPLOOM_ALWAYS_INLINE_LAMBDA {
    compute_blocks(o, rows, vectors, last, count);
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

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::inline oploom_v1::native
