// Matrix products against plain loops in float64.
#include "Testing.h"

#include <aten/core/Parallel.h>
#include <aten/stubs/DispatchStub.h>
#include <generated/ops/addmm.h>
#include <generated/ops/addmv.h>
#include <generated/ops/baddbmm.h>
#include <generated/ops/bmm.h>
#include <generated/ops/clone.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/diagonal.h>
#include <generated/ops/dot.h>
#include <generated/ops/einsum.h>
#include <generated/ops/empty.h>
#include <generated/ops/expand.h>
#include <generated/ops/full.h>
#include <generated/ops/imag.h>
#include <generated/ops/item.h>
#include <generated/ops/linear.h>
#include <generated/ops/matmul.h>
#include <generated/ops/max.h>
#include <generated/ops/mm.h>
#include <generated/ops/mv.h>
#include <generated/ops/ones.h>
#include <generated/ops/outer.h>
#include <generated/ops/rand.h>
#include <generated/ops/randint.h>
#include <generated/ops/randn.h>
#include <generated/ops/real.h>
#include <generated/ops/reshape.h>
#include <generated/ops/slice.h>
#include <generated/ops/sum.h>
#include <generated/ops/t.h>
#include <generated/ops/to.h>
#include <generated/ops/transpose.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/zero.h>

#include <cmath>
#include <limits>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Doubles naive_mm(const Tensor& a, const Tensor& b) {
  const int64_t n = a.size(0), k = a.size(1), m = b.size(1);
  const Doubles x = doubles(a), y = doubles(b);
  Doubles result(static_cast<size_t>(n * m), 0.0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      for (int64_t p = 0; p < k; ++p) result[i * m + j] += x[i * k + p] * y[p * m + j];
    }
  }
  return result;
}

void expect_close(const Tensor& actual, const Doubles& expected, double tolerance,
                  const std::string& what = "") {
  const Doubles got = doubles(actual);
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i])))
        << what << " at " << i;
  }
}

double tolerance_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
      return 2e-3;
    case at::kBFloat16:
      return 1e-2;
    case at::kFloat:
    case at::kComplexFloat:
      return 1e-5;
    default:
      return 1e-12;
  }
}

Tensor random(at::IntArrayRef shape, at::ScalarType dtype) {
  if (c10::isIntegralType(dtype, false)) {
    return at::randint(dtype == at::kByte ? 0 : -5, 6, shape, at::kDouble).to(dtype);
  }
  return at::randn(shape, at::kDouble).to(dtype);
}

// Matrices [n, k] with the same shape and different strides.
std::vector<Tensor> layouts(int64_t n, int64_t k, at::ScalarType dtype) {
  return {random({n, k}, dtype),
          random({k, n}, dtype).t(),
          random({n, 2 * k}, dtype).slice(1, 0, 2 * k, 2),
          random({n, k + 3}, dtype).slice(1, 1, k + 1),
          random({2 * n, k}, dtype).slice(0, 0, 2 * n, 2).t().contiguous().t(),
          random({1, k}, dtype).expand({n, k}),
          random({n, 1}, dtype).expand({n, k})};
}

class MatrixProductTest : public testing::TestWithParam<at::ScalarType> {};

TEST_P(MatrixProductTest, AgreesWithPlainLoopsForEveryLayout) {
  const at::ScalarType dtype = GetParam();
  at::manual_seed(5);
  for (auto [n, k, m] : std::vector<std::array<int64_t, 3>>{
           {1, 1, 1},
           {3, 4, 5},
           {1, 7, 3},
           {7, 1, 3},
           {5, 6, 1},
           {40, 33, 21},
           // Small products: whole and broken blocks of rows, one vector of columns or more.
           {8, 8, 8},
           {16, 16, 16},
           {13, 5, 8},
           {15, 2, 16},
           {3, 32, 10},
           {9, 3, 31},
           {6, 4, 24},
           // One term, or one row, of several vectors.
           {5, 1, 100},
           {5, 1, 203},
           {1, 3, 300}}) {
    for (const Tensor& a : layouts(n, k, dtype)) {
      for (const Tensor& b : layouts(k, m, dtype)) {
        const std::string what = c10::str(a.sizes(), a.strides(), b.sizes(), b.strides());
        const Doubles expected = naive_mm(a, b);
        expect_close(at::mm(a, b), expected, tolerance_of(dtype), what);
        Tensor transposed = at::empty({m, n}, a.options()).t();
        at::mm_out(transposed, a, b);
        expect_close(transposed, expected, tolerance_of(dtype), what + " into columns");
        Tensor strided = at::empty({n, 2 * m}, a.options()).slice(1, 0, 2 * m, 2);
        at::mm_out(strided, a, b);
        expect_close(strided, expected, tolerance_of(dtype), what + " into strides");
      }
    }
  }
}

// Whole vectors of a row of the sum, and the end of one; one term and several.
TEST_P(MatrixProductTest, ScaledSums) {
  const at::ScalarType dtype = GetParam();
  at::manual_seed(8);
  for (auto [n, k, m] : std::vector<std::array<int64_t, 3>>{
           {5, 1, 203}, {5, 1, 208}, {3, 1, 50}, {8, 8, 8}, {9, 3, 31}, {7, 5, 32}, {4, 40, 100}}) {
    const Tensor a = random({n, k}, dtype), b = random({k, m}, dtype);
    const Doubles product = naive_mm(a, b);
    for (const Tensor& c : {random({n, m}, dtype), random({m}, dtype), random({n, 1}, dtype)}) {
      const Doubles addend = doubles(c.expand({n, m}).contiguous());
      Doubles expected(product.size());
      for (size_t i = 0; i < product.size(); ++i) expected[i] = 3 * product[i] + 2 * addend[i];
      const std::string what = c10::str(a.sizes(), b.sizes(), c.sizes());
      expect_close(at::addmm(c, a, b, 2, 3), expected, 4 * tolerance_of(dtype), what);
      if (c.dim() == 2 && c.sizes()[1] == m) {
        Tensor in_place = c.clone();
        expect_close(in_place.addmm_(a, b, 2, 3), expected, 4 * tolerance_of(dtype), what);
      }
    }
  }
}

TEST_P(MatrixProductTest, RowsAPowerOfTwoApart) {
  const at::ScalarType dtype = GetParam();
  at::manual_seed(6);
  const int64_t n = 37, k = 29, m = 70;
  for (const int64_t apart : {512, 1024}) {
    const auto rows = [&](int64_t height, int64_t width) {
      return random({height, apart}, dtype).slice(1, 5, 5 + width);
    };
    for (const Tensor& a : {rows(n, k), rows(k, n).t()}) {
      for (const Tensor& b : {rows(k, m), rows(m, k).t()}) {
        const std::string what = c10::str(a.strides(), b.strides());
        const Doubles expected = naive_mm(a, b);
        expect_close(at::mm(a, b), expected, tolerance_of(dtype), what);
        Tensor wide = rows(n, m);
        at::mm_out(wide, a, b);
        expect_close(wide, expected, tolerance_of(dtype), what + " into wide rows");
      }
    }
  }
}

TEST_P(MatrixProductTest, Batches) {
  const at::ScalarType dtype = GetParam();
  at::manual_seed(6);
  for (int64_t size : {3, 20}) {
    const Tensor a = random({6, size, 4}, dtype);
    const Tensor b = random({6, size, 4}, dtype).transpose(1, 2);
    const Tensor product = at::bmm(a, b);
    const Tensor c = random({6, size, size}, dtype);
    const Tensor sum = at::baddbmm(c, a, b, 2, 3);
    for (int64_t i = 0; i < 6; ++i) {
      const Doubles expected = naive_mm(a[i], b[i]);
      expect_close(product[i], expected, tolerance_of(dtype));
      Doubles with_sum = doubles(c[i]);
      for (size_t j = 0; j < with_sum.size(); ++j) with_sum[j] = 2 * with_sum[j] + 3 * expected[j];
      if (dtype != at::kChar && dtype != at::kByte) {
        expect_close(sum[i], with_sum, 4 * tolerance_of(dtype));
      }
    }
    const Tensor shared = random({1, size, 4}, dtype).expand({6, size, 4});
    expect_close(at::bmm(shared, b)[5], naive_mm(shared[0], b[5]), tolerance_of(dtype));
  }
}

// One row is computed by another kernel than two.
TEST(MatrixProduct, ScalesThatTheDtypeCannotHold) {
  const auto with_rows = [](int64_t rows, at::ScalarType dtype, double alpha, double beta) {
    const Tensor a = at::full({rows, 70}, 1.0 / 64, dtype),
                 b = at::full({70, 100}, 1.0 / 64, dtype);
    const Tensor by_columns = b.t().contiguous().t();
    const Tensor c = at::full({rows, 100}, 1.5, dtype);
    const Doubles by_rows = doubles(at::addmm(c, a, b, beta, alpha));
    EXPECT_EQ(doubles(at::addmm(c, a, by_columns, beta, alpha)), by_rows);
    return by_rows[0];
  };
  for (const auto& [alpha, beta] : {std::pair{70000.0, 0.0}, {1.0, 1.0 / 3}, {0.1, 1.1}}) {
    for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
      const double exact = alpha * 70 / 4096 + beta * 1.5;
      const double rounded = at::tensor(exact, at::kDouble).to(dtype).item<double>();
      EXPECT_EQ(with_rows(1, dtype, alpha, beta), rounded) << dtype << ' ' << alpha << ' ' << beta;
      EXPECT_EQ(with_rows(2, dtype, alpha, beta), rounded) << dtype << ' ' << alpha << ' ' << beta;
    }
  }
}

TEST_P(MatrixProductTest, VectorsAndNothing) {
  const at::ScalarType dtype = GetParam();
  at::manual_seed(7);
  for (const Tensor& a : layouts(5, 9, dtype)) {
    const Tensor v = random({18}, dtype).slice(0, 0, 18, 2);
    const Doubles expected = naive_mm(a, v.unsqueeze(1));
    expect_close(at::mv(a, v), expected, tolerance_of(dtype));
    Tensor out = random({10}, dtype).slice(0, 0, 10, 2);
    at::mv_out(out, a, v);
    expect_close(out, expected, tolerance_of(dtype));
  }
  const Tensor x = random({50}, dtype), y = random({50}, dtype);
  expect_close(at::dot(x, y), naive_mm(x.unsqueeze(0), y.unsqueeze(1)), 10 * tolerance_of(dtype));
  const auto options = at::TensorOptions().dtype(dtype);
  EXPECT_EQ(doubles(at::mm(at::empty({2, 0}, options), at::empty({0, 3}, options))), Doubles(6, 0));
  // No strides of an empty factor stand in the way.
  const Tensor spread = at::empty({0, 6}, options).t().slice(0, 0, 6, 2);
  EXPECT_EQ(doubles(at::mm(spread, at::empty({0, 3}, options))), Doubles(9, 0));
  EXPECT_EQ(doubles(at::mv(spread, at::empty({0}, options))), Doubles(3, 0));
  EXPECT_EQ(sizes(at::mm(at::empty({0, 2}, options), at::empty({2, 3}, options))), (Ints{0, 3}));
  EXPECT_EQ(doubles(at::bmm(at::empty({2, 1, 0}, options), at::empty({2, 0, 1}, options))),
            Doubles(2, 0));
  EXPECT_EQ(doubles(at::mv(at::empty({2, 0}, options), at::empty({0}, options))), Doubles(2, 0));
  EXPECT_EQ(doubles(at::dot(at::empty({0}, options), at::empty({0}, options))), Doubles(1, 0));
  EXPECT_EQ(doubles(at::addmm(at::ones({3}, options), at::empty({2, 0}, options),
                              at::empty({0, 3}, options), 2)),
            Doubles(6, 2));
}

std::string dtype_name(const testing::TestParamInfo<at::ScalarType>& info) {
  return c10::str(info.param);
}
INSTANTIATE_TEST_SUITE_P(Dtypes, MatrixProductTest,
                         testing::Values(at::kDouble, at::kFloat, at::kBFloat16, at::kHalf,
                                         at::kLong, at::kInt, at::kShort),
                         dtype_name);

TEST(MatrixProduct, Complex) {
  at::manual_seed(8);
  for (at::ScalarType dtype : {at::kComplexFloat, at::kComplexDouble}) {
    const Tensor a = at::randn({4, 6}, dtype), b = at::randn({5, 6}, dtype).t();
    const Tensor ar = at::real(a), ai = at::imag(a), br = at::real(b), bi = at::imag(b);
    const Tensor product = at::mm(a, b);
    expect_close(at::real(product), doubles(at::mm(ar, br).sub(at::mm(ai, bi))), 1e-5);
    expect_close(at::imag(product), doubles(at::mm(ar, bi).add(at::mm(ai, br))), 1e-5);
    expect_close(at::real(at::mv(a, b.select(1, 0))), doubles(at::real(product).select(1, 0)),
                 1e-5);
    expect_close(at::real(at::dot(a[0], b.select(1, 1))), doubles(at::real(product)[0][1]), 1e-5);
  }
}

TEST(MatrixProduct, BetaZeroDoesNotReadTheInput) {
  for (at::ScalarType dtype :
       {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kComplexFloat}) {
    for (int64_t size : {3, 30}) {
      const Tensor nan = at::full({size, size}, kNaN, dtype);
      const Tensor a = at::ones({size, size}, dtype);
      EXPECT_EQ(doubles(at::addmm(nan, a, a, 0)), Doubles(static_cast<size_t>(size * size), size));
      EXPECT_EQ(doubles(nan.clone().addmm_(a, a, 0, 2)),
                Doubles(static_cast<size_t>(size * size), 2.0 * static_cast<double>(size)));
      EXPECT_EQ(doubles(at::addmv(nan[0], a, a[0], 0)), Doubles(static_cast<size_t>(size), size));
      Tensor out = nan.clone();
      at::mm_out(out, a, a);
      EXPECT_EQ(doubles(out), Doubles(static_cast<size_t>(size * size), size));
      Tensor vector = nan[0].clone();
      at::mv_out(vector, a, a[0]);
      EXPECT_EQ(doubles(vector), Doubles(static_cast<size_t>(size), size));
    }
  }
}

TEST(MatrixProduct, OutputMayBeAnInput) {
  Tensor a = at::randn({6, 6}, at::kDouble);
  const Doubles expected = naive_mm(a, a);
  at::mm_out(a, a, a);
  expect_close(a, expected, 1e-12);
}

TEST(MatrixProduct, OwnProductsWithVectorsAreTheSameForAnyNumberOfThreads) {
  // Without vector instructions larger ones are left to a library, which makes no such promise.
  const bool large = at::get_cpu_capability() != "DEFAULT";
  const int64_t k = large ? 1001 : 33, n = large ? 500 : 100;
  const int threads = at::get_num_threads();
  at::manual_seed(9);
  const Tensor x = at::randn({2 * k}).slice(0, 0, 2 * k, 2), row = x.unsqueeze(0);
  const Tensor dense = row.contiguous(), b = at::randn({k, n}), b_columns = at::randn({n, k}).t();
  const auto products = [&] {
    Doubles all;
    for (const Tensor& product :
         {at::mm(row, b), at::mm(row, b_columns), at::mm(dense, b), at::mm(dense, b_columns),
          at::mv(b.t(), x), at::mv(b_columns.t(), dense[0]), at::mm(dense.t(), dense)}) {
      const Doubles values = doubles(product);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  };
  at::set_num_threads(1);
  const Doubles expected = products();
  for (const int count : {2, 3}) {
    at::set_num_threads(count);
    EXPECT_EQ(products(), expected) << count;
  }
  at::set_num_threads(threads);
}

// Of vectors that several threads share: the same numbers for each count of them, and those of
// exact sums, as small whole numbers have.
TEST(MatrixProduct, LongVectorsInParts) {
  const int threads = at::get_num_threads();
  for (const at::ScalarType dtype :
       {at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble, at::kLong}) {
    for (const int64_t n : {131072, 131073, 400001}) {
      std::vector<int64_t> values;
      int64_t expected = 0;
      for (int64_t i = 0; i < 2 * n; ++i) values.push_back(i * 7919 % 7 - 3);
      for (int64_t i = 0; i < n; ++i) expected += values[i] * values[2 * i];
      const Tensor all = at::tensor(values).to(dtype);
      const Tensor x = all.slice(0, 0, n), y = all.slice(0, 0, 2 * n, 2);
      for (const int count : {1, 3}) {
        at::set_num_threads(count);
        EXPECT_EQ(doubles(at::real(at::dot(x, y)))[0], static_cast<double>(expected)) << dtype << n;
      }
    }
  }
  at::set_num_threads(threads);
}

// Small products are one sum after the other, which of many terms would lose digits.
TEST(MatrixProduct, LongSumsOfFewNumbers) {
  at::manual_seed(2);
  for (const int64_t m : {2, 4, 8}) {
    const Tensor a = at::rand({m, 1 << 18}), b = at::rand({1 << 18, 4});
    const Doubles sums = doubles(at::mm(a, b));
    const Doubles expected = doubles(at::mm(a.to(at::kDouble), b.to(at::kDouble)));
    for (size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(sums[i] / expected[i], 1, 5e-6) << m;
  }
}

TEST(MatrixProduct, AddedInputIsBroadcast) {
  const Tensor a = at::ones({2, 3}, at::kDouble), b = at::ones({3, 4}, at::kDouble);
  EXPECT_EQ(doubles(at::addmm(f64({1., 2., 3., 4.}), a, b)), (Doubles{4, 5, 6, 7, 4, 5, 6, 7}));
  // Into rows with gaps, and from a row with gaps.
  const Tensor wide = at::full({2, 6}, 9., at::kDouble), row = f64({1., 2., 3., 4., 5., 6., 7.});
  Tensor out = wide.slice(1, 1, 5);
  at::addmm_out(out, row.slice(0, 1, 5), a, b);
  EXPECT_EQ(doubles(wide), (Doubles{9, 5, 6, 7, 8, 9, 9, 5, 6, 7, 8, 9}));
  at::addmm_out(out, row.slice(0, 0, 7, 2), a, b);
  EXPECT_EQ(doubles(wide), (Doubles{9, 4, 6, 8, 10, 9, 9, 4, 6, 8, 10, 9}));
  EXPECT_EQ(doubles(at::addmm(f64({{1.}, {2.}}), a, b, 10, 2)),
            (Doubles{16, 16, 16, 16, 26, 26, 26, 26}));
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::addmm(at::ones({3, 4}, at::kDouble), a, b);
              }),
              HasSubstr("addmm(): expected self to broadcast to the product's shape [2, 4]"));
}

TEST(Matmul, EveryCombinationOfDimensions) {
  at::manual_seed(9);
  const auto t = [](at::IntArrayRef shape) { return at::randn(shape, at::kDouble); };
  EXPECT_EQ(sizes(at::matmul(t({4}), t({4}))), Ints{});
  EXPECT_EQ(sizes(at::matmul(t({3, 4}), t({4}))), (Ints{3}));
  EXPECT_EQ(sizes(at::matmul(t({4}), t({4, 5}))), (Ints{5}));
  EXPECT_EQ(sizes(at::matmul(t({2, 3, 4}), t({4}))), (Ints{2, 3}));
  EXPECT_EQ(sizes(at::matmul(t({4}), t({2, 4, 5}))), (Ints{2, 5}));
  const Tensor a = t({2, 1, 3, 4}), b = t({5, 4, 6});
  const Tensor product = at::matmul(a, b);
  EXPECT_EQ(sizes(product), (Ints{2, 5, 3, 6}));
  expect_close(product[1][3], naive_mm(a[1][0], b[3]), 1e-12);
  const Tensor flat = t({2, 3, 4}), matrix = t({4, 5});
  expect_close(at::matmul(flat, matrix)[1], naive_mm(flat[1], matrix), 1e-12);
  expect_close(at::matmul(matrix.t(), t({2, 4, 3}).zero_().add(1))[0],
               naive_mm(matrix.t(), at::ones({4, 3}, at::kDouble)), 1e-12);
  EXPECT_EQ(sizes(at::matmul(t({0, 3, 4}), t({4, 5}))), (Ints{0, 3, 5}));
  EXPECT_THROW(at::matmul(t({}), t({3})), c10::Error);
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::matmul(t({2, 3}), t({4, 2}));
              }),
              HasSubstr("matmul(): expected the last dimension of self"));
  EXPECT_THROW(at::matmul(t({2, 3, 4}), t({3, 4, 5})), c10::Error);
}

TEST(Linear, WithAndWithoutBias) {
  at::manual_seed(10);
  const Tensor weight = at::randn({5, 4}, at::kDouble), bias = at::randn({5}, at::kDouble);
  for (const Ints& shape : std::vector<Ints>{{4}, {3, 4}, {2, 3, 4}}) {
    const Tensor input = at::randn(shape, at::kDouble);
    const Tensor flat = input.reshape({-1, 4});
    Doubles expected = naive_mm(flat, weight.t());
    expect_close(at::linear(input, weight), expected, 1e-12);
    const Doubles b = doubles(bias);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += b[i % 5];
    expect_close(at::linear(input, weight, bias), expected, 1e-12);
  }
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::linear(at::ones({2, 3}), at::ones({5, 4}));
              }),
              HasSubstr("linear(): expected input of shape [..., in]"));
}

TEST(Linear, AnyMemory) {
  at::manual_seed(12);
  const auto t = [](at::IntArrayRef shape) { return at::randn(shape, at::kDouble); };
  const auto expected = [](const Tensor& input, const Tensor& weight, const Tensor& bias) {
    Doubles result = naive_mm(input, weight.t());
    const Doubles b = doubles(bias.expand({input.size(0), weight.size(0)}));
    for (size_t i = 0; i < result.size(); ++i) result[i] += b[i];
    return result;
  };
  // Factors by rows, by columns and with gaps; biases of one stride or none.
  const auto layouts = [&](int64_t rows, int64_t columns) {
    return std::vector<Tensor>{t({rows, columns}), t({columns, rows}).t(),
                               t({rows, 2 * columns}).slice(1, 0, 2 * columns, 2),
                               t({1, columns}).expand({rows, columns})};
  };
  for (const int64_t n : {1, 4, 9}) {
    const Tensor column = t({6, 1});
    for (const Tensor& input : layouts(6, 4)) {
      for (const Tensor& weight : layouts(n, 4)) {
        for (const Tensor& bias :
             {t({n}), t({2 * n}).slice(0, 0, 2 * n, 2), t({1}), t({}), column, t({n, 6}).t()}) {
          expect_close(at::linear(input, weight, bias), expected(input, weight, bias), 1e-12);
        }
      }
    }
  }
  // Outputs that are an operand, or lie across.
  for (const size_t operand : {0, 1, 2}) {
    const std::vector<Tensor> in = {t({4, 4}), t({4, 4}), t({4, 4})};
    const Doubles wanted = expected(in[0], in[1], in[2]);
    Tensor out = in[operand];
    expect_close(at::linear_out(out, in[0], in[1], in[2]), wanted, 1e-12);
  }
  Tensor across = t({5, 3}).t();
  const Tensor input = t({3, 4}), weight = t({5, 4}), bias = t({5});
  expect_close(at::linear_out(across, input, weight, bias), expected(input, weight, bias), 1e-12);
  EXPECT_EQ(across.stride(0), 1);
}

TEST(Einsum, Contractions) {
  at::manual_seed(11);
  const auto t = [](at::IntArrayRef shape) { return at::randn(shape, at::kDouble); };
  const Tensor a = t({3, 4}), b = t({4, 5}), v = t({4}), square = t({3, 3}), batch = t({2, 3, 4});
  expect_close(at::einsum("ij,jk->ik", {a, b}), naive_mm(a, b), 1e-12);
  expect_close(at::einsum(" i j , j k -> k i ", {a, b}), doubles(at::mm(a, b).t()), 1e-12);
  expect_close(at::einsum("ij,jk", {a, b}), naive_mm(a, b), 1e-12);
  expect_close(at::einsum("ba", {a}), doubles(a.t()), 0);
  expect_close(at::einsum("ii->i", {square}), doubles(square.diagonal()), 0);
  expect_close(at::einsum("ii", {square}), doubles(square.diagonal().sum()), 1e-12);
  expect_close(at::einsum("ij->", {a}), doubles(a.sum()), 1e-12);
  expect_close(at::einsum("ij->j", {a}), doubles(a.sum({0})), 1e-12);
  expect_close(at::einsum("i,j->ij", {v, v}), doubles(at::outer(v, v)), 1e-12);
  expect_close(at::einsum("i,i->", {v, v}), doubles(at::dot(v, v)), 1e-12);
  expect_close(at::einsum("bij,bkj->bik", {batch, batch}),
               doubles(at::bmm(batch, batch.transpose(1, 2))), 1e-12);
  expect_close(at::einsum("...j,jk->...k", {batch, b}), doubles(at::matmul(batch, b)), 1e-12);
  expect_close(at::einsum("...i,...i->...", {batch, a}), doubles((batch * a).sum({-1})), 1e-12);
  const Tensor c = t({5, 2});
  const Tensor chain = at::mm(at::mm(a, b), c);
  expect_close(at::einsum("ij,jk,kl->il", {a, b, c}), doubles(chain), 1e-12);
  const int64_t path[] = {1, 2, 0, 1};
  expect_close(at::einsum("ij,jk,kl->il", {a, b, c}, at::IntArrayRef(path)), doubles(chain), 1e-12);
  expect_close(at::einsum("ij,ij,ij->", {a, a, a}), doubles((a * a * a).sum()), 1e-12);
  EXPECT_EQ(ints(at::einsum("ij,jk->ik", {counted({2, 2}), counted({2, 2})})), (Ints{2, 3, 6, 11}));
  EXPECT_THAT(message_of<c10::Error>([&] { at::einsum("ij,jk->ik", {a}); }),
              HasSubstr("names 2 operands, got 1"));
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::einsum("ij,jk->ik", {a, a});
              }),
              HasSubstr("expected label 'j' to stand for one size"));
  EXPECT_THROW(at::einsum("ij->k", {a}), c10::Error);
  EXPECT_THROW(at::einsum("ij->ii", {a}), c10::Error);
  EXPECT_THROW(at::einsum("i1->i", {a}), c10::Error);
  EXPECT_THROW(at::einsum("ijk->i", {a}), c10::Error);
  EXPECT_THROW(at::einsum("i..j->i", {a}), c10::Error);
}

// From left to right, these would need terabytes.
TEST(Einsum, TakesTheCheapestOrder) {
  constexpr int64_t n = 900'000;
  const double m = n;
  const Tensor a = at::ones({n}, at::kDouble), b = at::full({n}, 2., at::kDouble);
  const Tensor few = at::ones({3, n}, at::kDouble), fewer = at::ones({2, n}, at::kDouble);
  const auto expect = [](std::string_view equation, at::TensorList operands, const Tensor& value) {
    expect_close(at::einsum(equation, operands), doubles(value),
                 value.max().item<double>() * 1e-12);
  };
  expect("i,j,j->i", {a, b, b}, at::full({n}, 4 * m, at::kDouble));
  expect("i,j,i,j->", {a, b, a, a}, at::full({}, 2 * m * m, at::kDouble));
  expect("ai,bj,ci,dj->abcd", {few, fewer, few, fewer}, at::full({3, 2, 3, 2}, m * m, at::kDouble));
  // More than are tried in every order.
  expect("i,j,k,i,j,k->", {a, b, a, b, a, a}, at::full({}, 4 * m * m * m, at::kDouble));
}

TEST(MatrixProduct, WrongArguments) {
  EXPECT_THAT(message_of<c10::Error>([] {
                at::mm(at::ones({2, 3}), at::ones({4, 5}));
              }),
              HasSubstr("mm(): expected self of shape [n, k] and mat2 of shape [k, m], got [2, 3] "
                        "and [4, 5]"));
  EXPECT_THAT(message_of<c10::Error>([] {
                at::mm(at::ones({2, 3}), at::ones({3, 5}, at::kDouble));
              }),
              HasSubstr("mm(): expected operands of one dtype, got float32 and float64"));
  EXPECT_THROW(at::bmm(at::ones({2, 3, 4}), at::ones({1, 4, 5})), c10::Error);
  EXPECT_THROW(at::mv(at::ones({2, 3}), at::ones({2})), c10::Error);
  EXPECT_THROW(at::dot(at::ones({2}), at::ones({3})), c10::Error);
  EXPECT_THROW(at::outer(at::ones({2, 2}), at::ones({3})), c10::Error);
  EXPECT_THROW(at::mm(at::ones({2, 2}, at::kBool), at::ones({2, 2}, at::kBool)),
               c10::NotImplementedError);
}

TEST(MatrixProduct, MetaTensorsHaveShapesOnly) {
  const auto meta = at::TensorOptions().device(at::kMeta);
  EXPECT_EQ(sizes(at::mm(at::empty({2, 3}, meta), at::empty({3, 4}, meta))), (Ints{2, 4}));
  EXPECT_EQ(sizes(at::matmul(at::empty({5, 2, 3}, meta), at::empty({3, 4}, meta))),
            (Ints{5, 2, 4}));
}

}  // namespace
