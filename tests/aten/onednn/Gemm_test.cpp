// Matrix products of plain arrays, for each way that a matrix may lie in memory, against loops over
// complex<double> or, for integers, int64.
#include "../native/Testing.h"

#include <aten/core/Parallel.h>
#include <aten/onednn/Gemm.h>
#include <generated/ops/randint.h>
#include <generated/ops/randn.h>
#include <generated/ops/to.h>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>

namespace {

using namespace testing_native;  // NOLINT
using at::ScalarType;
using at::Tensor;
using at::onednn::Matrix;
using Number = c10::complex<double>;

Tensor random(int64_t count, ScalarType dtype) {
  if (c10::isIntegralType(dtype, false)) {
    return at::randint(dtype == at::kByte ? 0 : -5, 6, {count}, at::kDouble).to(dtype);
  }
  return at::randn({count}, at::kComplexDouble).to(dtype);
}

std::vector<Number> numbers(const Tensor& tensor) { return values<Number>(tensor); }

const void* at_element(const Tensor& tensor, int64_t i) {
  return static_cast<const char*>(tensor.const_data_ptr()) +
         i * static_cast<int64_t>(tensor.itemsize());
}

// A matrix that begins some elements into its memory, with gaps between its rows or columns.
struct Operand {
  Operand(int64_t rows, int64_t columns, ScalarType dtype, bool by_rows, int64_t gap,
          int64_t batch = 1) {
    const int64_t ld = (by_rows ? columns : rows) + gap;
    step = (by_rows ? rows : columns) * ld;
    memory = random(kOffset + batch * step, dtype);
    matrix = {at_element(memory, kOffset), by_rows ? ld : 1, by_rows ? 1 : ld};
    elements = numbers(memory);
  }
  Number at(int64_t i, int64_t j, int64_t product = 0) const {
    return elements[kOffset + product * step + i * matrix.row_stride + j * matrix.column_stride];
  }

  static constexpr int64_t kOffset = 3;
  Tensor memory;
  Matrix matrix;
  int64_t step;
  std::vector<Number> elements;
};

// Of a c with rows `ldc` apart.
at::native::GemmArguments arguments(int64_t m, int64_t n, int64_t k, const Operand& a,
                                    const Operand& b, const Tensor& c, int64_t ldc) {
  return {m,
          n,
          k,
          a.matrix.data,
          a.matrix.row_stride,
          a.matrix.column_stride,
          b.matrix.data,
          b.matrix.row_stride,
          b.matrix.column_stride,
          c.mutable_data_ptr(),
          ldc};
}

double magnitude(Number z) { return std::hypot(z.real(), z.imag()); }

struct Expected {
  Number value;
  double magnitude;  // the same with all terms positive
  int64_t terms;
};

double rounding_of(ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
      return 0x1p-11;
    case at::kBFloat16:
      return 0x1p-8;
    case at::kFloat:
    case at::kComplexFloat:
      return 0x1p-24;
    default:
      return 0x1p-53;
  }
}

// Sums in float32 or better, rounded once more to the dtype; integers exactly, modulo 2^bits.
void expect_number(Number got, const Expected& expected, ScalarType dtype) {
  if (c10::isIntegralType(dtype, false)) {
    const auto difference =
        static_cast<int64_t>(got.real()) - static_cast<int64_t>(expected.value.real());
    const int64_t bits = 8 * static_cast<int64_t>(c10::elementSize(dtype));
    EXPECT_EQ(bits == 64 ? difference : difference & ((int64_t{1} << bits) - 1), 0)
        << got.real() << ", not " << expected.value.real();
    return;
  }
  const double accumulated = c10::isReducedFloatingType(dtype) ? 0x1p-24 : rounding_of(dtype);
  const double error = magnitude(got - expected.value);
  const double bound =
      2 * rounding_of(dtype) * magnitude(expected.value) +
      2 * accumulated * static_cast<double>(expected.terms + 2) * expected.magnitude +
      (dtype == at::kHalf ? 0x1p-25 : 0);  // half of the smallest number
  EXPECT_LE(error, bound) << got.real() << " + " << got.imag() << "j, not " << expected.value.real()
                          << " + " << expected.value.imag() << "j";
}

struct Scales {
  int alpha, beta;
};

// The sum of the products of a row and a column, and that of their magnitudes.
struct Sum {
  Number value = 0;
  double magnitude = 0;
};

Sum sum_at(const Operand& a, const Operand& b, int64_t i, int64_t j, int64_t k,
           int64_t a_product = 0, int64_t b_product = 0) {
  Sum sum;
  for (int64_t p = 0; p < k; ++p) {
    const Number term = a.at(i, p, a_product) * b.at(p, j, b_product);
    sum.value += term;
    sum.magnitude += magnitude(term);
  }
  return sum;
}

Expected scaled(const Sum& sum, int64_t k, const Scales& scales, Number before) {
  Expected result{sum.value * Number(scales.alpha), sum.magnitude * std::abs(scales.alpha), k};
  if (scales.beta == 0) return result;
  result.value += before * Number(scales.beta);
  result.magnitude += magnitude(before) * std::abs(scales.beta);
  return result;
}

// Checks rows of c, `gap` elements apart; what lies between them must be as before. Added are rows
// of c, and of other memory where they lie apart and where all are one.
void check_products(ScalarType dtype, int64_t m, int64_t n, int64_t k, bool a_by_rows,
                    bool b_by_rows, int64_t gap) {
  const Operand a(m, k, dtype, a_by_rows, gap);
  const Operand b(k, n, dtype, b_by_rows, gap);
  std::vector<Sum> sums;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) sums.push_back(sum_at(a, b, i, j, k));
  }
  const int64_t ldc = n + gap;
  struct Case {
    Scales scales;
    int64_t addend_row;  // -1: of c
  };
  for (const auto& [scales, addend_row] :
       {Case{{1, 0}, -1}, Case{{2, 0}, -1}, Case{{1, 1}, -1}, Case{{2, -3}, -1}, Case{{1, 1}, 0},
        Case{{2, -3}, 0}, Case{{1, 1}, n + 2}}) {
    SCOPED_TRACE(c10::str(dtype, " ", m, "x", n, "x", k, a_by_rows ? " a" : " a^T",
                          b_by_rows ? " b" : " b^T", " gap ", gap, " alpha ", scales.alpha,
                          " beta ", scales.beta, " rows of the addend ", addend_row));
    const Tensor c = random(m * ldc, dtype), addend = random(m * (n + 2), dtype);
    const std::vector<Number> before = numbers(c), added = numbers(addend);
    at::native::GemmArguments g = arguments(m, n, k, a, b, c, ldc);
    if (addend_row >= 0) g.addend = addend.const_data_ptr();
    if (addend_row >= 0) g.addend_row = addend_row;
    at::onednn::gemm(dtype, g, scales.alpha, scales.beta);
    const std::vector<Number> after = numbers(c);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < ldc; ++j) {
        const int64_t place = i * ldc + j;
        if (j >= n) {
          EXPECT_EQ(after[place], before[place]) << "between the rows";
        } else {
          const Number term = addend_row < 0 ? before[place] : added[i * addend_row + j];
          expect_number(after[place], scaled(sums[i * n + j], k, scales, term), dtype);
        }
      }
      if (testing::Test::HasFailure()) return;  // one row of complaints is enough
    }
  }
}

class GemmTest : public testing::TestWithParam<ScalarType> {};

TEST_P(GemmTest, EveryLayoutAndScale) {
  // Around the sizes at which another implementation takes over.
  const int64_t shapes[][3] = {{1, 1, 1},     {1, 7, 5},    {7, 1, 5},    {5, 7, 1},
                               {3, 4, 0},     {4, 4, 4},    {17, 16, 16}, {1, 20, 300},
                               {20, 1, 300},  {33, 20, 40}, {70, 2, 520}, {1, 64, 4},
                               {1, 200, 701}, {131, 1, 9},  {1, 2100, 6}};
  for (const auto& [m, n, k] : shapes) {
    for (const bool a_by_rows : {true, false}) {
      for (const bool b_by_rows : {true, false}) {
        for (const int64_t gap : {0, 3}) {
          check_products(GetParam(), m, n, k, a_by_rows, b_by_rows, gap);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_P(GemmTest, RowsAPowerOfTwoApart) {
  for (const bool a_by_rows : {true, false}) {
    for (const bool b_by_rows : {true, false}) {
      // 32 + 480 = 512 elements from row to row.
      check_products(GetParam(), 32, 32, 32, a_by_rows, b_by_rows, 480);
    }
  }
  // Of few rows and few columns, of which the library makes the least.
  check_products(GetParam(), 9, 100, 500, true, true, 412);
  check_products(GetParam(), 500, 20, 60, false, true, 12);
}

TEST_P(GemmTest, StripsAndPanelsOfLargeOnes) {
  if (c10::isComplexType(GetParam())) return;
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{245, 30, 180},
                                {9, 130, 1000},
                                {300, 5, 1000},
                                {513, 97, 172},
                                {8, 100, 1500}}) {
    for (const bool a_by_rows : {true, false}) {
      for (const bool b_by_rows : {true, false}) {
        check_products(GetParam(), m, n, k, a_by_rows, b_by_rows, 3);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(OwnProducts, LargeOnesAreTheSameForAnyNumberOfThreads) {
  const int threads = at::get_num_threads();
  for (const int64_t m : {20, 500}) {
    const Operand a(m, 300, at::kDouble, true, 0), b(300, 200, at::kDouble, false, 0);
    std::vector<Number> expected;
    for (const int count : {1, 2, 3}) {
      at::set_num_threads(count);
      const Tensor c = random(m * 200, at::kDouble);
      const bool own = at::native::small_gemm_stub(
          at::kCPU, at::kDouble, arguments(m, 200, 300, a, b, c, 200), 1, 0, /*is_widest=*/true);
      EXPECT_EQ(own, at::get_cpu_capability() == "AVX512");
      if (!own) continue;
      if (expected.empty()) expected = numbers(c);
      EXPECT_EQ(numbers(c), expected) << count;
    }
  }
  at::set_num_threads(threads);
}

TEST(LargeProducts, OfBfloat16WithScales) {
  check_products(at::kBFloat16, 260, 256, 256, true, true, 3);
}

TEST_P(GemmTest, BetaZeroOnlyWrites) {
  if (c10::isIntegralType(GetParam(), false)) return;
  for (const int64_t k : {0, 3, 40}) {
    const Operand a(20, k, GetParam(), true, 0), b(k, 20, GetParam(), true, 0);
    const Tensor c = at::tensor(std::vector<double>(400, std::numeric_limits<double>::quiet_NaN()))
                         .to(GetParam());
    at::onednn::gemm(GetParam(), arguments(20, 20, k, a, b, c, 20), 1, 0);
    for (const Number& number : numbers(c)) ASSERT_FALSE(std::isnan(number.real())) << k;
  }
}

TEST_P(GemmTest, Batches) {
  const int64_t shapes[][4] = {
      {1, 4, 4, 4}, {5, 3, 4, 2}, {5, 20, 17, 9}, {2, 3, 4, 0}, {3, 1, 70, 5}};
  for (const auto& [batch, m, n, k] : shapes) {
    for (const bool a_by_rows : {true, false}) {
      for (const bool shared : {true, false}) {  // one b for all
        for (const Scales& scales : {Scales{1, 0}, Scales{1, 1}, Scales{2, -3}}) {
          const Operand a(m, k, GetParam(), a_by_rows, 2, batch);
          const Operand b(k, n, GetParam(), !a_by_rows, 0, shared ? 1 : batch);
          const int64_t ldc = n + 1, c_step = m * ldc + 2;
          const Tensor c = random(batch * c_step, GetParam());
          const std::vector<Number> before = numbers(c);
          at::onednn::gemm_batched(GetParam(), batch, arguments(m, n, k, a, b, c, ldc), a.step,
                                   shared ? 0 : b.step, c_step, scales.alpha, scales.beta);
          const std::vector<Number> after = numbers(c);
          for (int64_t place = 0; place < batch * c_step; ++place) {
            const int64_t product = place / c_step, i = place % c_step / ldc,
                          j = place % c_step % ldc;
            if (i >= m || j >= n) {
              ASSERT_EQ(after[place], before[place]) << "between the products";
              continue;
            }
            expect_number(after[place],
                          scaled(sum_at(a, b, i, j, k, product, shared ? 0 : product), k, scales,
                                 before[place]),
                          GetParam());
          }
          if (HasFailure()) return;
        }
      }
    }
  }
}

// The last element lies at the end of a page, behind which nothing may be read.
TEST_P(GemmTest, NothingIsReadBehindVectors) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size = c10::elementSize(GetParam()), bytes = 4 * page;
  const auto pages = [&] {
    void* const memory =
        mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    EXPECT_EQ(mprotect(static_cast<char*>(memory) + bytes, page, PROT_NONE), 0);
    return static_cast<char*>(memory);
  };
  char* const x = pages();
  char* const y = pages();
  for (const size_t n : {1, 2, 5, 300}) {
    for (const size_t x_stride : {1, 2}) {
      for (const size_t y_stride : {1, 3}) {
        const auto first = [&](char* memory, size_t stride) {
          return memory + bytes - ((n - 1) * stride + 1) * size;
        };
        const Tensor result = random(1, GetParam());
        at::onednn::dot(GetParam(), static_cast<int64_t>(n), first(x, x_stride),
                        static_cast<int64_t>(x_stride), first(y, y_stride),
                        static_cast<int64_t>(y_stride), result.mutable_data_ptr());
        EXPECT_EQ(numbers(result)[0], Number(0));
      }
    }
  }
  munmap(x, bytes + page);
  munmap(y, bytes + page);
}

TEST_P(GemmTest, VectorsOfAnyStride) {
  for (const int64_t n : {0, 1, 5, 300}) {
    for (const int64_t x_stride : {1, 3}) {
      for (const int64_t y_stride : {1, 2}) {
        const Operand x(std::max<int64_t>(n, 1), 1, GetParam(), true, x_stride - 1);
        const Operand y(1, std::max<int64_t>(n, 1), GetParam(), false, y_stride - 1);
        const Tensor result = random(1, GetParam());
        at::onednn::dot(GetParam(), n, x.matrix.data, x_stride, y.matrix.data, y_stride,
                        result.mutable_data_ptr());
        expect_number(numbers(result)[0], scaled(sum_at(y, x, 0, 0, n), n, {1, 0}, 0), GetParam());

        for (const bool by_rows : {true, false}) {
          for (const int64_t m : {6, 70}) {
            if (n == 0) continue;
            const Operand a(m, n, GetParam(), by_rows, 1);
            const Operand c(m, 1, GetParam(), true, y_stride - 1);
            const Tensor out = c.memory;
            at::onednn::gemv(GetParam(), m, n, 2, a.matrix, x.matrix.data, x_stride, -3,
                             const_cast<void*>(c.matrix.data), y_stride);
            const std::vector<Number> after = numbers(out);
            for (int64_t i = 0; i < m; ++i) {
              expect_number(after[Operand::kOffset + i * y_stride],
                            scaled(sum_at(a, x, i, 0, n), n, {2, -3}, c.at(i, 0)), GetParam());
            }
          }
        }
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, GemmTest,
                         testing::Values(at::kFloat, at::kDouble, at::kHalf, at::kBFloat16,
                                         at::kComplexFloat, at::kComplexDouble, at::kByte,
                                         at::kChar, at::kShort, at::kInt, at::kLong),
                         [](const auto& info) { return std::string(c10::toString(info.param)); });

TEST(HasBlasStrides, OneStrideIsOneAndTheOtherLongEnough) {
  using at::onednn::has_blas_strides;
  EXPECT_TRUE(has_blas_strides(3, 4, 4, 1));
  EXPECT_TRUE(has_blas_strides(3, 4, 9, 1));
  EXPECT_TRUE(has_blas_strides(3, 4, 1, 3));
  EXPECT_TRUE(has_blas_strides(3, 1, 1, 77));  // a column: only its own stride counts
  EXPECT_TRUE(has_blas_strides(1, 4, 77, 1));
  EXPECT_FALSE(has_blas_strides(3, 4, 8, 2));
  EXPECT_FALSE(has_blas_strides(3, 4, 3, 1));  // rows that overlap
  EXPECT_FALSE(has_blas_strides(3, 4, 1, 2));
  EXPECT_FALSE(has_blas_strides(3, 4, 0, 1));  // expanded
}

}  // namespace
