// softmax, log_softmax and their gradients.
#include "Testing.h"

#include <aten/autograd/GradCheck.h>
#include <generated/ops/_log_softmax_backward_data.h>
#include <generated/ops/_softmax_backward_data.h>
#include <generated/ops/add.h>
#include <generated/ops/arange.h>
#include <generated/ops/clone.h>
#include <generated/ops/empty.h>
#include <generated/ops/fill.h>
#include <generated/ops/full.h>
#include <generated/ops/log_softmax.h>
#include <generated/ops/logsumexp.h>
#include <generated/ops/mul.h>
#include <generated/ops/narrow.h>
#include <generated/ops/ones.h>
#include <generated/ops/randn.h>
#include <generated/ops/select.h>
#include <generated/ops/softmax.h>
#include <generated/ops/sub.h>
#include <generated/ops/t.h>
#include <generated/ops/transpose.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/view.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

// In float64, along dim 1 of [outer, n, inner].
Doubles naive_softmax(const Tensor& t, bool log) {
  const int64_t outer = t.size(0), n = t.size(1), inner = t.size(2);
  Doubles x = doubles(t);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t j = 0; j < inner; ++j) {
      const auto at = [&](int64_t k) -> double& { return x[(o * n + k) * inner + j]; };
      double max = at(0), sum = 0;
      for (int64_t k = 0; k < n; ++k) max = std::max(max, at(k));
      for (int64_t k = 0; k < n; ++k) sum += std::exp(at(k) - max);
      for (int64_t k = 0; k < n; ++k) {
        at(k) = log ? at(k) - max - std::log(sum) : std::exp(at(k) - max) / sum;
      }
    }
  }
  return x;
}

TEST(SoftMax, AgreesWithPlainLoops) {
  at::manual_seed(1);
  for (at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    const double tolerance = dtype == at::kDouble ? 1e-13 : dtype == at::kFloat ? 2e-6 : 2e-2;
    for (auto [outer, n, inner] : std::vector<std::array<int64_t, 3>>{
             {3, 4, 1},  {2, 100, 1}, {1, 5000, 1}, {2, 5, 3},    {3, 40, 200}, {2, 1, 7},
             {5, 1, 1},  {4, 2, 1},   {5, 8, 1},    {3, 9, 1},    {2, 16, 1},   {3, 31, 1},
             {2, 32, 1}, {2, 33, 1},  {3, 63, 1},   {2, 64, 1},   {2, 65, 1},   {2, 7, 9},
             {2, 77, 1}, {3, 158, 1}, {1, 9000, 1}, {1, 20000, 1}}) {
      const Tensor t = at::randn({outer, n, inner}, at::kDouble).mul(4).to(dtype);
      for (bool log : {false, true}) {
        const Doubles expected = naive_softmax(t, log);
        const Doubles got = doubles(log ? t.log_softmax(1) : t.softmax(1));
        const Tensor strided = t.transpose(0, 2).contiguous().transpose(0, 2);
        const Doubles from_strided = doubles(log ? strided.log_softmax(-2) : strided.softmax(-2));
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i])));
          ASSERT_EQ(got[i], from_strided[i]);
        }
      }
    }
  }
}

// softmax() or log_softmax() of [outer, n, inner] along dim 1, and its gradient, beside plain
// loops.
void expect_as_plain_loops(const Tensor& t, bool log, double tolerance) {
  const int64_t outer = t.size(0), n = t.size(1), inner = t.size(2);
  const std::string what = c10::str(t.scalar_type(), " ", n, " x ", inner, log ? " log" : "");
  const Tensor y = log ? t.log_softmax(1) : t.softmax(1);
  const Doubles expected = naive_softmax(t, log), got = doubles(y);
  for (size_t i = 0; i < got.size(); ++i) {
    if (expected[i] == got[i] || (std::isnan(expected[i]) && std::isnan(got[i]))) continue;
    ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << what;
  }
  const Tensor grad = at::randn(t.sizes(), at::kDouble).to(t.scalar_type());
  const Doubles g = doubles(grad);
  const Doubles back = doubles(log ? at::_log_softmax_backward_data(grad, y, 1, t.scalar_type())
                                   : at::_softmax_backward_data(grad, y, 1, t.scalar_type()));
  for (int64_t column = 0; column < outer * inner; ++column) {
    const auto place = [&](int64_t k) {
      return static_cast<size_t>((column / inner * n + k) * inner + column % inner);
    };
    double sum = 0;
    for (int64_t k = 0; k < n; ++k) sum += g[place(k)] * (log ? 1 : got[place(k)]);
    for (int64_t k = 0; k < n; ++k) {
      const size_t i = place(k);
      const double wanted = log ? g[i] - std::exp(got[i]) * sum : got[i] * (g[i] - sum);
      if (std::isnan(wanted) && std::isnan(back[i])) continue;
      ASSERT_NEAR(back[i], wanted, 10 * tolerance * (1 + std::abs(sum))) << what;
    }
  }
}

// Sixteen rows that fill no vector are kept before they are stored, those of 16-bit floats are
// converted some at a time, and those of a few elements are gone through as columns.
TEST(SoftMax, ManyRows) {
  at::manual_seed(3);
  for (at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    const double tolerance = dtype == at::kDouble ? 1e-13 : dtype == at::kFloat ? 2e-6 : 2e-2;
    for (int64_t n : {1, 2, 3, 4, 5, 8, 10, 11, 16, 17, 64, 100, 128, 256, 257, 700, 2100}) {
      const Tensor t = at::randn({4200 / n + 19, n, 1}, at::kDouble).mul(4).to(dtype);
      for (bool log : {false, true}) {
        expect_as_plain_loops(t, log, tolerance);
        // In place as well.
        const Tensor y = log ? t.log_softmax(1) : t.softmax(1);
        Tensor grad = at::randn(t.sizes(), at::kDouble).to(dtype);
        const auto backward = log ? at::_log_softmax_backward_data : at::_softmax_backward_data;
        const Doubles expected = doubles(backward(grad, y, 1, dtype));
        const auto into = log ? at::_log_softmax_backward_data_out : at::_softmax_backward_data_out;
        EXPECT_EQ(doubles(into(grad, grad, y, 1, dtype)), expected) << n;
      }
      const Doubles x = doubles(t), logs = naive_softmax(t, /*log=*/true);
      const Doubles sums = doubles(t.logsumexp({1}));
      for (size_t i = 0; i < sums.size(); ++i) {
        const double wanted = x[i * n] - logs[i * n];
        ASSERT_NEAR(sums[i], wanted, tolerance * (1 + std::abs(wanted))) << n;
      }
    }
  }
}

// Columns that fill no vector are taken side by side; see WideRows.
TEST(SoftMax, NarrowColumns) {
  at::manual_seed(3);
  for (at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const double tolerance = dtype == at::kDouble ? 1e-13 : dtype == at::kFloat ? 1e-5 : 5e-2;
    for (int64_t inner = 2; inner <= 34; inner += inner < 17 ? 1 : 16) {
      for (const int64_t n : {1, 2, 3, 5, 16, 17, 31, 67, 100, 130}) {
        Tensor t = at::randn({2, n, inner}, at::kDouble).mul(4).to(dtype);
        for (bool log : {false, true}) expect_as_plain_loops(t, log, tolerance);
        // All of a column with a NaN are NaN, and nothing else.
        t[1][n / 2][inner / 2].fill_(std::numeric_limits<double>::quiet_NaN());
        const Doubles got = doubles(t.softmax(1));
        for (int64_t i = 0; i < t.numel(); ++i) {
          const bool spoilt = i >= n * inner && i % inner == inner / 2;
          ASSERT_EQ(std::isnan(got[static_cast<size_t>(i)]), spoilt) << dtype << n << ' ' << inner;
        }
      }
    }
  }
}

// Columns that leave the cache are gone over by blocks of rows; see softmax_far_columns(). The last
// ones are written past the cache.
TEST(SoftMax, FarColumns) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  at::manual_seed(4);
  for (auto [outer, n, inner, dtype] :
       std::vector<std::tuple<int64_t, int64_t, int64_t, at::ScalarType>>{
           {2, 1031, 300, at::kDouble},
           {1, 2061, 133, at::kFloat},
           {1, 69, 31001, at::kFloat},
           {1, 4099, 150, at::kBFloat16},
           {2, 4100, 131, at::kHalf},
           {1, 2050, 4100, at::kFloat}}) {
    const double tolerance = dtype == at::kDouble ? 1e-13 : dtype == at::kFloat ? 1e-5 : 5e-2;
    Tensor t = at::randn({outer, n, inner}, at::kDouble).mul(4);
    const Tensor slopes = at::arange(n, at::kDouble).mul(0.02).view({n, 1});
    t.narrow(2, 10, 20).add_(slopes);
    t.narrow(2, 30, 20).sub_(slopes);
    t.select(2, 1).narrow(1, 0, 20).fill_(-inf);
    t.select(2, 2).narrow(1, 20, n - 20).fill_(-inf);
    t.select(2, 3).fill_(-inf);
    t.select(2, 4).select(1, n - 1).fill_(inf);
    t.select(2, 5).select(1, n / 2).fill_(std::numeric_limits<double>::quiet_NaN());
    t.select(2, 6).fill_(-1e30);
    for (bool log : {false, true}) expect_as_plain_loops(t.to(dtype), log, tolerance);
  }
}

TEST(SoftMax, SpecialValues) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(doubles(f64({-inf, 0.0}).softmax(0)), (Doubles{0, 1}));
  EXPECT_EQ(doubles(f64({1000.0, 1000.0}).softmax(0)), (Doubles{0.5, 0.5}));
  EXPECT_NEAR(f64({-1000.0, 0.0}).log_softmax(0)[0].item<double>(), -1000, 1e-9);
  EXPECT_TRUE(std::isnan(f64({inf, 0.0}).softmax(0)[0].item<double>()));
  EXPECT_EQ(doubles(at::tensor(3.0, at::kDouble).softmax(0)), (Doubles{1}));
  EXPECT_EQ(doubles(at::tensor(3.0, at::kDouble).log_softmax(-1)), (Doubles{0}));
  EXPECT_EQ(sizes(at::empty({0, 3}).softmax(1)), (Ints{0, 3}));
  EXPECT_EQ(sizes(at::empty({3, 0}).softmax(1)), (Ints{3, 0}));
  EXPECT_EQ(at::ones({3}, at::kInt).softmax(0, at::kDouble).scalar_type(), at::kDouble);
  EXPECT_EQ(at::ones({3}).softmax(0, at::kDouble).scalar_type(), at::kDouble);
}

// Short rows, whose ends are filled up: what is not finite, and what is far below zero.
TEST(SoftMax, SpecialValuesAtEveryPlace) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (int64_t n : {1, 3, 8, 9, 17, 40, 70, 129, 250, 257, 300}) {
    for (int64_t place = 0; place < n; ++place) {
      for (at::ScalarType dtype : {at::kFloat, at::kDouble}) {
        Tensor t = at::full({3, n}, -1e30, dtype);
        t[1][place].fill_(-inf);
        t[2][place].fill_(std::numeric_limits<double>::quiet_NaN());
        const Doubles got = doubles(t.softmax(1)), log = doubles(t.log_softmax(1));
        const double share = 1.0 / static_cast<double>(n);
        for (int64_t i = 0; i < n; ++i) {
          EXPECT_NEAR(got[i], share, 1e-6) << n;
          EXPECT_TRUE(std::isnan(got[2 * n + i]) && std::isnan(log[2 * n + i])) << n;
          // Alone, -inf has no share of anything.
          if (n == 1) continue;
          EXPECT_NEAR(got[n + i], i == place ? 0 : 1.0 / static_cast<double>(n - 1), 1e-6) << n;
          EXPECT_EQ(log[n + i] == -inf, i == place) << n;
        }
      }
    }
  }
}

// Numbers so far below the largest that their exponentials are subnormal or 0, beside rows without
// such, in rows that are gone over together.
TEST(SoftMax, NearAndFarNumbers) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  at::manual_seed(5);
  for (at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    const double tolerance = dtype == at::kDouble ? 1e-13 : dtype == at::kFloat ? 5e-6 : 1e-2;
    for (const int64_t n : {15, 16, 33, 100, 128, 1000, 4099, 5000}) {
      Tensor t = at::randn({4200 / n + 90, n}, at::kDouble).mul(4).to(dtype);
      t[1].narrow(0, n / 2, n / 2).fill_(-inf);
      t[2].fill_(-inf);
      t[3].narrow(0, 0, 3).fill_(-90);
      t[4].narrow(0, n - 3, 3).fill_(-20000);
      t[5][n - 1].fill_(inf);
      t[70][n - 1].fill_(-100);
      t[71].fill_(-inf);
      t[72].fill_(inf);
      for (const bool log : {false, true}) {
        for (const bool columns : {false, true}) {
          const Tensor x = columns ? t.t().contiguous().unsqueeze(0) : t.unsqueeze(-1);
          const Doubles expected = naive_softmax(x, log),
                        got = doubles(log ? x.log_softmax(1) : x.softmax(1));
          for (size_t i = 0; i < got.size(); ++i) {
            if (std::isnan(expected[i]) ? std::isnan(got[i]) : expected[i] == got[i]) continue;
            const double smallest = log                      ? tolerance
                                    : dtype == at::kHalf     ? 6e-8
                                    : dtype == at::kBFloat16 ? 1e-40
                                                             : 3e-45;
            ASSERT_NEAR(got[i], expected[i],
                        (columns ? 5 : 1) * (tolerance * std::abs(expected[i]) + smallest))
                << dtype << ' ' << n << " at " << i << (log ? " log" : "") << columns;
          }
        }
      }
    }
  }
}

// exp() of what softmax() takes it of, in rows that are near and rows that are far.
TEST(SoftMax, Exponentials) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr int64_t kRows = 5000, kColumns = 24;
  for (const bool far : {false, true}) {
    const double least = far ? -105 : -86.9;
    Tensor x = at::arange(kRows * kColumns, at::kDouble)
                   .mul(least / static_cast<double>(kRows * kColumns))
                   .view({kRows, kColumns})
                   .to(at::kFloat);
    x.select(1, 0).fill_(0);
    if (far) x.select(1, 1).fill_(-inf);
    for (const bool columns : {false, true}) {
      const Tensor y = columns ? x.t().contiguous().softmax(0).t() : x.softmax(1);
      const Doubles in = doubles(x), out = doubles(y.contiguous());
      for (size_t i = 0; i < in.size(); ++i) {
        const double wanted = std::exp(in[i]) * out[i / kColumns * kColumns];
        ASSERT_NEAR(out[i], wanted, 4e-7 * wanted + 3e-45) << in[i] << columns;
      }
    }
  }
}

// All of a row or column with a NaN are NaN, and nothing else.
TEST(SoftMax, NaNsAtEveryPlace) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (int64_t n : {1, 5, 8, 70, 128, 200, 256, 300}) {
      for (int64_t place = 0; place < n; ++place) {
        Tensor t = at::ones({3, n, 19}, dtype);
        t.select(0, 1).select(0, place).select(0, 17).fill_(nan);
        const Tensor rows = t.transpose(1, 2).contiguous();
        for (bool log : {false, true}) {
          const Doubles columns = doubles(log ? t.log_softmax(1) : t.softmax(1));
          const Doubles from_rows = doubles(log ? rows.log_softmax(2) : rows.softmax(2));
          for (int64_t i = 0; i < t.numel(); ++i) {
            const int64_t outer = i / (n * 19);
            ASSERT_EQ(std::isnan(columns[i]), outer == 1 && i % 19 == 17) << n << ' ' << place;
            ASSERT_EQ(std::isnan(from_rows[i]), outer == 1 && i / n % 19 == 17)
                << n << ' ' << place;
          }
        }
      }
    }
  }
}

TEST(SoftMax, IntoAGivenOutput) {
  at::manual_seed(2);
  const Tensor t = at::randn({5, 40});
  for (int64_t dim : {0, 1}) {
    for (bool log : {false, true}) {
      const auto into = [&](Tensor out, const Tensor& self) {
        return log ? at::log_softmax_out(out, self, dim) : at::softmax_out(out, self, dim);
      };
      const Doubles expected = doubles(log ? t.log_softmax(dim) : t.softmax(dim));
      EXPECT_EQ(doubles(into(at::empty({5, 40}), t)), expected);
      EXPECT_EQ(doubles(into(at::empty({0}), t)), expected);
      EXPECT_EQ(doubles(into(at::empty({40, 5}).transpose(0, 1), t)), expected);
      EXPECT_EQ(doubles(into(at::empty({5, 40}, at::kDouble), t)), expected);
      const Tensor self = t.clone();
      EXPECT_EQ(doubles(into(self, self)), expected);
    }
  }
  Tensor out = at::empty({5, 40}), wide = at::empty({5, 40}, at::kDouble);
  const Tensor leaf = t.clone().requires_grad_();
  EXPECT_THROW(at::softmax_out(out, leaf, 1), c10::Error);
  EXPECT_THROW(at::log_softmax_out(wide, leaf, 1), c10::Error);
  Tensor wrong = at::ones({5, 40}, at::kLong);
  EXPECT_THROW(at::softmax_out(wrong, t, 1), c10::Error);
  EXPECT_EQ(doubles(wrong), Doubles(200, 1));
}

TEST(SoftMax, WrongArguments) {
  EXPECT_THAT(message_of<c10::IndexError>([] {
                at::ones({3, 4}).softmax(5);
              }),
              HasSubstr("softmax(): expected dim in [-2, 1] for a 2-d input, got 5"));
  EXPECT_THROW(at::ones({3}, at::kLong).softmax(0), c10::NotImplementedError);
}

TEST(SoftMax, Gradients) {
  at::manual_seed(2);
  for (int64_t dim : {0, 1}) {
    const Tensor x = at::randn({3, 4}, at::kDouble).requires_grad_();
    const auto softmax = [dim](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{in[0].softmax(dim)};
    };
    const auto log_softmax = [dim](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{in[0].log_softmax(dim)};
    };
    EXPECT_TRUE(at::autograd::gradcheck(softmax, {x}));
    EXPECT_TRUE(at::autograd::gradgradcheck(softmax, {x}));
    EXPECT_TRUE(at::autograd::gradcheck(log_softmax, {x}));
    EXPECT_TRUE(at::autograd::gradgradcheck(log_softmax, {x}));
  }
}

}  // namespace
