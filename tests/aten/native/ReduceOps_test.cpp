// Reductions against plain loops in float64.
#include "Testing.h"

#include <aten/core/Parallel.h>
#include <generated/ops/abs.h>
#include <generated/ops/add.h>
#include <generated/ops/all.h>
#include <generated/ops/amax.h>
#include <generated/ops/amin.h>
#include <generated/ops/any.h>
#include <generated/ops/arange.h>
#include <generated/ops/argmax.h>
#include <generated/ops/argmin.h>
#include <generated/ops/cat.h>
#include <generated/ops/clone.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/cumprod.h>
#include <generated/ops/cumsum.h>
#include <generated/ops/div.h>
#include <generated/ops/empty.h>
#include <generated/ops/equal.h>
#include <generated/ops/expand.h>
#include <generated/ops/fill.h>
#include <generated/ops/full.h>
#include <generated/ops/item.h>
#include <generated/ops/logsumexp.h>
#include <generated/ops/max.h>
#include <generated/ops/mean.h>
#include <generated/ops/min.h>
#include <generated/ops/mul.h>
#include <generated/ops/narrow.h>
#include <generated/ops/neg.h>
#include <generated/ops/norm.h>
#include <generated/ops/ones.h>
#include <generated/ops/permute.h>
#include <generated/ops/polar.h>
#include <generated/ops/prod.h>
#include <generated/ops/randint.h>
#include <generated/ops/randn.h>
#include <generated/ops/remainder.h>
#include <generated/ops/repeat.h>
#include <generated/ops/reshape.h>
#include <generated/ops/select.h>
#include <generated/ops/signbit.h>
#include <generated/ops/slice.h>
#include <generated/ops/stack.h>
#include <generated/ops/std.h>
#include <generated/ops/sum.h>
#include <generated/ops/t.h>
#include <generated/ops/to.h>
#include <generated/ops/transpose.h>
#include <generated/ops/var.h>
#include <generated/ops/view.h>
#include <generated/ops/view_as_real.h>
#include <generated/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Reduces each group of elements that differ in the masked dimensions only.
Doubles reference(const Tensor& t, uint64_t mask, const std::function<double(const Doubles&)>& f) {
  const Doubles all = doubles(t);
  Ints kept_strides(static_cast<size_t>(t.dim()), 0);
  int64_t outputs = 1;
  for (int64_t d = t.dim() - 1; d >= 0; --d) {
    if ((mask >> d) & 1) continue;
    kept_strides[d] = outputs;
    outputs *= t.size(d);
  }
  std::vector<Doubles> groups(static_cast<size_t>(outputs));
  for (int64_t i = 0; i < t.numel(); ++i) {
    int64_t rest = i, group = 0;
    for (int64_t d = t.dim() - 1; d >= 0; --d) {
      group += rest % t.size(d) * kept_strides[d];
      rest /= t.size(d);
    }
    groups[group].push_back(all[i]);
  }
  Doubles result;
  for (const Doubles& group : groups) result.push_back(f(group));
  return result;
}

double naive_sum(const Doubles& x) {
  double sum = 0;
  for (double v : x) sum += v;
  return sum;
}
double naive_mean(const Doubles& x) { return naive_sum(x) / static_cast<double>(x.size()); }
double naive_var(const Doubles& x) {
  const double mean = naive_mean(x);
  double sum = 0;
  for (double v : x) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(x.size() - 1);
}
int64_t naive_count(const Tensor& t, uint64_t mask) {
  int64_t count = 1;
  for (int64_t d = 0; d < t.dim(); ++d) count *= (mask >> d) & 1 ? t.size(d) : 1;
  return count;
}
double naive_max(const Doubles& x) { return *std::max_element(x.begin(), x.end()); }
double naive_min(const Doubles& x) { return *std::min_element(x.begin(), x.end()); }
double naive_norm(const Doubles& x) {
  double sum = 0;
  for (double v : x) sum += v * v;
  return std::sqrt(sum);
}
double naive_norm1(const Doubles& x) {
  double sum = 0;
  for (double v : x) sum += std::abs(v);
  return sum;
}
double naive_norm_inf(const Doubles& x) {
  double max = 0;
  for (double v : x) max = std::max(max, std::abs(v));
  return max;
}
double naive_norm_least(const Doubles& x) {
  double min = kInf;
  for (double v : x) min = std::min(min, std::abs(v));
  return min;
}
double naive_argmax(const Doubles& x) {
  return static_cast<double>(std::max_element(x.begin(), x.end()) - x.begin());
}
double naive_argmin(const Doubles& x) {
  return static_cast<double>(std::min_element(x.begin(), x.end()) - x.begin());
}

void expect_close(const Tensor& actual, const Doubles& expected, double tolerance,
                  const std::string& what) {
  const Doubles got = doubles(actual);
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i])))
        << what << " at " << i;
  }
}

// Tensors that take every way through the engine: rows, columns, strides, few and many elements.
std::vector<Tensor> samples(at::ScalarType dtype) {
  std::vector<Tensor> result;
  const auto random = [&](at::IntArrayRef shape) {
    const Tensor x = at::randn(shape, at::kDouble).mul(3).to(dtype);
    return x.is_complex() ? x.mul(at::Scalar(c10::complex<double>(1, -2))) : x;
  };
  result.push_back(random({7}));
  result.push_back(random({3, 4}));
  result.push_back(random({2, 3, 70}));
  result.push_back(random({40, 37}));
  result.push_back(random({50, 9}));
  result.push_back(random({9, 600}));
  result.push_back(random({3000}));
  result.push_back(random({5, 1, 9, 6}));
  result.push_back(random({37, 40}).t());
  result.push_back(random({20, 30}).slice(1, 0, 30, 2));
  result.push_back(random({3, 2500}).slice(1, 1, 2500, 2));
  result.push_back(random({20, 30}).slice(0, 0, 20, 3));
  result.push_back(random({6, 5, 4}).permute({1, 2, 0}));
  result.push_back(random({6, 1, 4}).expand({6, 5, 4}));
  result.push_back(random({1, 5}).expand({40, 5}));
  // Rows that are joined, with some left over, and many short ones; more than is taken at once.
  result.push_back(random({259, 3}));
  result.push_back(random({3, 67, 10}));
  result.push_back(random({301, 17}));
  result.push_back(random({17, 530}));
  result.push_back(random({2, 16500}));
  result.push_back(random({9, 35, 2}).slice(1, 1, 34));
  // Rows of 2, 4 and 8 without gaps between them.
  result.push_back(random({3, 50, 2}));
  result.push_back(random({3, 77, 4}));
  result.push_back(random({70, 8}));
  // Short rows of one output far apart, with those of others between them or not.
  result.push_back(random({9, 50, 33}));
  result.push_back(random({10, 3, 128}));
  result.push_back(random({9, 2, 250}));
  result.push_back(random({19, 7, 40}).slice(1, 0, 7, 2));
  result.push_back(random({9, 6, 20}).slice(2, 0, 20, 2));
  result.push_back(random({30, 50}).slice(1, 0, 20));
  return result;
}

class ReductionTest : public testing::TestWithParam<at::ScalarType> {};

TEST_P(ReductionTest, AgreesWithPlainLoopsOverEverySetOfDimensions) {
  const at::ScalarType dtype = GetParam();
  at::manual_seed(3);
  const bool floating = c10::isFloatingType(dtype);
  const bool half = dtype == at::kHalf || dtype == at::kBFloat16;
  const double tolerance = half ? 1e-2 : dtype == at::kFloat ? 1e-5 : 1e-12;
  for (const Tensor& t : samples(dtype)) {
    const uint64_t sets = uint64_t{1} << t.dim();
    for (uint64_t mask = 1; mask < sets; ++mask) {
      at::DimVector dims;
      int64_t only = -1;
      for (int64_t d = 0; d < t.dim(); ++d) {
        if ((mask >> d) & 1) dims.push_back(only = d);
      }
      const std::string what =
          c10::str("shape ", t.sizes(), " strides ", t.strides(), " dims ", dims);
      expect_close(t.sum(dims), reference(t, mask, naive_sum), tolerance, what + " sum");
      expect_close(t.amax(dims, true), reference(t, mask, naive_max), 0, what + " amax");
      expect_close(t.amin(dims), reference(t, mask, naive_min), 0, what + " amin");
      if (floating) {
        expect_close(t.mean(dims), reference(t, mask, naive_mean), tolerance, what + " mean");
        expect_close(t.norm(2, dims), reference(t, mask, naive_norm), tolerance, what + " norm");
        if (naive_count(t, mask) > 1) {
          expect_close(at::var(t, dims, std::optional<at::Scalar>(), true),
                       reference(t, mask, naive_var), 10 * tolerance, what + " var");
        }
      }
      if (dtype == at::kDouble) {
        expect_close(t.norm(1, dims), reference(t, mask, naive_norm1), tolerance, what + " norm1");
        expect_close(t.norm(kInf, dims), reference(t, mask, naive_norm_inf), 0, what + " inf");
        expect_close(t.norm(-kInf, dims), reference(t, mask, naive_norm_least), 0, what + " -inf");
      }
      if (dims.size() == 1) {
        const auto [values, indices] = t.max(only);
        expect_close(values, reference(t, mask, naive_max), 0, what + " max");
        expect_close(indices, reference(t, mask, naive_argmax), 0, what + " max indices");
        expect_close(t.argmin(only, true), reference(t, mask, naive_argmin), 0, what + " argmin");
      }
    }
    expect_close(t.sum(), reference(t, ~uint64_t{0}, naive_sum), tolerance, "sum of all");
    expect_close(t.max(), reference(t, ~uint64_t{0}, naive_max), 0, "max of all");
    expect_close(t.argmax(), reference(t, ~uint64_t{0}, naive_argmax), 0, "argmax of all");
  }
}

std::string dtype_name(const testing::TestParamInfo<at::ScalarType>& info) {
  return c10::str(info.param);
}
INSTANTIATE_TEST_SUITE_P(Dtypes, ReductionTest,
                         testing::Values(at::kDouble, at::kFloat, at::kBFloat16, at::kHalf,
                                         at::kLong, at::kInt, at::kShort, at::kChar),
                         dtype_name);

// The parts of a sum are the sums of the parts.
TEST(Reductions, OfNothingIntoPlacesApart) {
  const Tensor none = at::zeros({3, 0, 4});
  for (const bool rows : {false, true}) {
    Tensor all = at::full({6, 8}, 7.0);
    Tensor some =
        rows ? all.slice(0, 0, 6, 2).slice(1, 0, 4) : all.slice(0, 0, 6, 2).slice(1, 1, 8, 2);
    at::prod_out(some, none, 1);
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t j = 0; j < 8; ++j) {
        const bool multiplied = i % 2 == 0 && (rows ? j < 4 : j % 2 == 1);
        EXPECT_EQ(all[i][j].item<double>(), multiplied ? 1 : 7) << i << ", " << j;
      }
    }
  }
}

TEST(Reductions, ComplexNumbers) {
  at::manual_seed(4);
  for (at::ScalarType dtype : {at::kComplexFloat, at::kComplexDouble}) {
    const double tolerance = dtype == at::kComplexFloat ? 1e-5 : 1e-12;
    for (const Tensor& t : samples(dtype)) {
      const Tensor parts = at::view_as_real(t);
      for (uint64_t mask = 1; mask < uint64_t{1} << t.dim(); ++mask) {
        at::DimVector dims;
        for (int64_t d = 0; d < t.dim(); ++d) {
          if ((mask >> d) & 1) dims.push_back(d);
        }
        const std::string what = c10::str("shape ", t.sizes(), " dims ", dims);
        expect_close(at::view_as_real(t.sum(dims)), reference(parts, mask, naive_sum), tolerance,
                     what + " sum");
        expect_close(at::view_as_real(t.mean(dims)), reference(parts, mask, naive_mean), tolerance,
                     what + " mean");
        expect_close(t.norm(2, dims), reference(parts, mask | uint64_t{1} << t.dim(), naive_norm),
                     tolerance, what + " norm");
      }
    }
  }
  // Each number has another angle: a product of all shows where one is missing.
  for (int64_t n : {1, 2, 3, 5, 16, 31, 32, 33, 64, 70, 100, 1100}) {
    const Tensor angles = at::randn({n}, at::kDouble);
    const Tensor t = at::polar(at::ones({n}, at::kDouble), angles);
    for (at::ScalarType dtype : {at::kComplexFloat, at::kComplexDouble}) {
      const double tolerance = dtype == at::kComplexFloat ? 1e-5 : 1e-12;
      const double angle = naive_sum(doubles(angles));
      const Doubles expected = {std::cos(angle), std::sin(angle)};
      const Tensor z = t.to(dtype);
      expect_close(at::view_as_real(z.prod()), expected, tolerance, c10::str("product of ", n));
      const Tensor columns = z.view({n, 1}).expand({n, 11}).contiguous().prod(0)[10];
      expect_close(at::view_as_real(columns), expected, tolerance, c10::str("column of ", n));
    }
  }
}

TEST(Reductions, ShapesOfResults) {
  const Tensor t = counted({2, 3, 4}, at::kFloat);
  EXPECT_EQ(sizes(t.sum()), Ints{});
  EXPECT_EQ(sizes(t.sum(at::IntArrayRef{})), Ints{});
  EXPECT_EQ(sizes(t.sum(at::OptionalIntArrayRef(), true)), (Ints{1, 1, 1}));
  EXPECT_EQ(sizes(t.sum({0, -1})), (Ints{3}));
  EXPECT_EQ(sizes(t.sum({1}, true)), (Ints{2, 1, 4}));
  EXPECT_EQ(sizes(t.argmax()), Ints{});
  EXPECT_EQ(sizes(t.argmax(std::nullopt, true)), (Ints{1, 1, 1}));
  EXPECT_EQ(sizes(std::get<0>(t.max(1))), (Ints{2, 4}));
  EXPECT_EQ(ints(at::tensor(5).sum(0)), (Ints{5}));
  EXPECT_EQ(ints(std::get<1>(at::tensor(5).max(-1))), (Ints{0}));
}

TEST(Reductions, DtypesOfResults) {
  for (at::ScalarType dtype : all_dtypes()) {
    const Tensor t = at::ones({3, 4}, dtype);
    const bool integral = c10::isIntegralType(dtype, true);
    EXPECT_EQ(t.sum().scalar_type(), integral ? at::kLong : dtype);
    EXPECT_EQ(t.prod().scalar_type(), integral ? at::kLong : dtype);
    EXPECT_EQ(t.cumsum(0).scalar_type(), integral ? at::kLong : dtype);
    EXPECT_EQ(t.all().scalar_type(), dtype == at::kByte ? at::kByte : at::kBool);
    EXPECT_EQ(doubles(t.sum({0})), (Doubles{3, 3, 3, 3}));
    EXPECT_EQ(doubles(t.sum(at::kDouble)), (Doubles{12}));
    EXPECT_EQ(doubles(t.all(0)), (Doubles{1, 1, 1, 1}));
    if (!c10::isComplexType(dtype)) {
      EXPECT_EQ(t.max().scalar_type(), dtype);
      EXPECT_EQ(doubles(t.max()), (Doubles{1}));
      EXPECT_EQ(std::get<1>(t.min(0)).scalar_type(), at::kLong);
    } else {
      EXPECT_THROW(t.max(), c10::NotImplementedError);
      EXPECT_EQ(t.norm().scalar_type(), c10::toRealValueType(dtype));
      EXPECT_EQ(t.var().scalar_type(), c10::toRealValueType(dtype));
    }
  }
  EXPECT_EQ(ints(at::full({300}, 1, at::kByte).sum(at::kByte)), (Ints{300 % 256}));
  EXPECT_EQ(at::ones({2}, at::kInt).sum(at::kInt).scalar_type(), at::kInt);
  Tensor out = at::empty({0}, at::kDouble);
  at::sum_out(out, at::ones({2, 3}, at::kInt), {1});
  EXPECT_EQ(doubles(out), (Doubles{3, 3}));
}

TEST(Reductions, NoElements) {
  const Tensor t = at::empty({2, 0, 3}, at::kFloat);
  EXPECT_EQ(doubles(t.sum()), (Doubles{0}));
  EXPECT_EQ(doubles(t.sum({1})), Doubles(6, 0));
  EXPECT_EQ(doubles(t.prod(1)), Doubles(6, 1));
  EXPECT_EQ(sizes(t.sum({0})), (Ints{0, 3}));
  EXPECT_TRUE(std::isnan(t.mean().item<double>()));
  EXPECT_TRUE(std::isnan(t.var().item<double>()));
  EXPECT_EQ(doubles(t.norm()), (Doubles{0}));
  EXPECT_EQ(ints(t.all()), (Ints{1}));
  EXPECT_EQ(ints(t.any(1)), Ints(6, 0));
  EXPECT_EQ(sizes(std::get<0>(t.max(0))), (Ints{0, 3}));
  EXPECT_EQ(doubles(t.logsumexp({1})), Doubles(6, -kInf));
  EXPECT_THAT(message_of<c10::Error>([&] { t.max(); }),
              HasSubstr("max(): expected at least one element, got an input of shape [2, 0, 3]"));
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.max(1); }),
              HasSubstr("max(): expected dimension 1 to have at least one element"));
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.amin({1, 2}); }), HasSubstr("amin(): expected"));
  EXPECT_THROW(t.argmax(), c10::Error);
}

TEST(Reductions, NaNsAreKept) {
  for (int64_t where : {0, 1, 63, 64, 500, 2047}) {
    std::vector<double> data(2048, 1.0);
    data[where] = kNaN;
    data[2047 - where] = where == 500 ? kInf : data[2047 - where];
    const Tensor t = at::tensor(data);
    EXPECT_TRUE(std::isnan(t.max().item<double>()));
    EXPECT_TRUE(std::isnan(t.amin().item<double>()));
    EXPECT_TRUE(std::isnan(t.sum().item<double>()));
    EXPECT_EQ(t.argmax().item<int64_t>(), where);
    EXPECT_EQ(t.argmin().item<int64_t>(), where);
    const Tensor columns = t.to(at::kFloat).view({2048, 1}).expand({2048, 40}).contiguous();
    EXPECT_EQ(ints(columns.argmax(0)), Ints(40, where));
    EXPECT_TRUE(std::isnan(std::get<0>(columns.min(0))[7].item<double>()));
    EXPECT_TRUE(std::isnan(columns.amax({0})[39].item<double>()));
  }
  EXPECT_EQ(ints(f64({1.0, kNaN, kNaN, 2.0}).argmax()), (Ints{1}));
  EXPECT_EQ(ints(f64({3.0, 5.0, 5.0}).argmax()), (Ints{1}));
}

// A NaN at every place of rows and columns of every length about the widths of vectors, alone or
// with others behind it.
TEST(Reductions, NaNsAtEveryPlace) {
  for (int64_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130, 200}) {
    for (int64_t place = 0; place < n; ++place) {
      for (at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
        Tensor t = at::ones({3, n}, dtype);
        t[1].slice(0, place, place % 2 == 0 ? n : place + 1).fill_(kNaN);
        t[0].fill_(kInf);
        Tensor alone = at::ones({n}, dtype);
        alone[place].fill_(kNaN);
        EXPECT_TRUE(std::isnan(doubles(alone.amax())[0])) << n << ' ' << place;
        EXPECT_TRUE(std::isnan(doubles(alone.amin())[0])) << n << ' ' << place;
        for (const Tensor& x : {t, t.t().contiguous().t(), t.expand({40, 3, n}).contiguous()[11]}) {
          EXPECT_EQ(ints(x.argmax(1)), (Ints{0, place, 0})) << n << ' ' << place;
          EXPECT_EQ(ints(x.argmin(1)), (Ints{0, place, 0})) << n << ' ' << place;
          const Doubles largest = doubles(x.amax({1})), smallest = doubles(x.amin({1}));
          EXPECT_TRUE(largest[0] == kInf && std::isnan(largest[1]) && largest[2] == 1) << n;
          EXPECT_TRUE(smallest[0] == kInf && std::isnan(smallest[1]) && smallest[2] == 1) << n;
          const auto [values, indices] = x.t().contiguous().max(0);
          EXPECT_EQ(ints(indices), (Ints{0, place, 0})) << n << ' ' << place;
          EXPECT_TRUE(std::isnan(doubles(values)[1])) << n << ' ' << place;
        }
      }
    }
  }
}

// Those of 16-bit floats are found by their bits. All there are, in rows and columns of sixteen.
TEST(Reductions, ExtremesOfEverySixteenBitFloat) {
  const auto expect_extremes = [](const Tensor& t, int64_t dim) {
    const Doubles largest = doubles(t.amax({dim})), smallest = doubles(t.amin({dim}));
    for (int64_t i = 0; i < t.size(1 - dim); ++i) {
      const Doubles numbers = doubles(t.select(1 - dim, i));
      const bool is_nan =
          std::any_of(numbers.begin(), numbers.end(), [](double x) { return std::isnan(x); });
      const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
      EXPECT_TRUE(is_nan ? std::isnan(largest[i]) : largest[i] == *most) << i;
      EXPECT_TRUE(is_nan ? std::isnan(smallest[i]) : smallest[i] == *least) << i;
    }
  };
  for (at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
    const Tensor t = at::empty({4096, 16}, dtype);
    auto* bits = static_cast<uint16_t*>(t.mutable_data_ptr());
    // Any odd factor gives each of them once.
    for (int i = 0; i < 65536; ++i) bits[i] = static_cast<uint16_t>(i * 40503u);
    expect_extremes(t, 1);
    expect_extremes(t.t().contiguous(), 0);
    expect_extremes(t.t(), 0);
  }
}

// Of equal elements the first counts, wherever the others are.
TEST(Reductions, FirstOfEqualElements) {
  for (int64_t n : {2, 5, 16, 31, 32, 100, 1024, 1025, 5000}) {
    for (int64_t first : {int64_t{0}, n / 3, n - 2}) {
      Tensor t = at::zeros({9, n}, at::kInt);
      t.slice(1, first).fill_(7);
      EXPECT_EQ(ints(t.argmax(1)), Ints(9, first)) << n;
      EXPECT_EQ(ints(t.t().contiguous().argmax(0)), Ints(9, first)) << n;
      EXPECT_EQ(ints(std::get<1>(t.to(at::kFloat).neg().min(1))), Ints(9, first)) << n;
      EXPECT_EQ(ints(t.t().contiguous().to(at::kShort).argmax(0)), Ints(9, first)) << n;
    }
  }
}

TEST(Reductions, LongSumsKeepTheirDigits) {
  const Tensor t = at::full({10'000'000}, 0.1, at::kFloat);
  EXPECT_NEAR(t.sum().item<double>(), 1e6, 1.0);
  EXPECT_NEAR(t.mean().item<double>(), 0.1, 1e-7);
  EXPECT_NEAR(t.view({2'500'000, 4}).sum({0})[2].item<double>(), 250'000, 0.5);
  EXPECT_NEAR(t.view({100'000, 100}).sum({0})[2].item<double>(), 10'000, 0.02);
  // In float16 itself the sum would stop at 2048.
  EXPECT_EQ(at::ones({4096}, at::kHalf).sum().item<double>(), 4096);
  EXPECT_EQ(at::ones({4096, 2}, at::kBFloat16).sum({0})[1].item<double>(), 4096);
  // Far from zero the variance must not drown in the squares.
  const Tensor shifted = at::randn({100'000}, at::kDouble).add(1e4);
  EXPECT_NEAR(shifted.to(at::kFloat).var().item<double>(), shifted.var().item<double>(), 1e-2);
  EXPECT_EQ(at::full({70'000}, 3.25, at::kFloat).var().item<double>(), 0);
}

TEST(Reductions, SameBitsWithAnyNumberOfThreads) {
  const Tensor t = at::randn({300'000});
  const Tensor m = t.view({3000, 100});
  const Tensor half = t.view({1000, 3, 100}).to(at::kHalf);
  const Tensor z = t.mul(at::Scalar(c10::complex<double>(1, 2))).view({100, 30, 100});
  const std::optional<at::Scalar> two(2);
  const int threads = at::get_num_threads();
  const auto run = [&](int count) {
    at::set_num_threads(count);
    return std::vector<Doubles>{doubles(t.sum()),
                                doubles(m.sum({0})),
                                doubles(m.var({1}, true)),
                                doubles(t.norm()),
                                doubles(m.t().sum({0})),
                                doubles(t.view({100'000, 3}).sum({0})),
                                doubles(m.var({0}, true)),
                                doubles(t.cumsum(0)),
                                doubles(m.cumsum(1)),
                                doubles(m.cumsum(0)),
                                doubles(half.sum()),
                                doubles(half.sum({0, 2})),
                                doubles(half.sum({0})),
                                doubles(at::view_as_real(z.sum({0, 2}))),
                                doubles(at::var(half, at::IntArrayRef{0, 2}, two))};
  };
  const auto one = run(1), four = run(4);
  at::set_num_threads(threads);
  EXPECT_EQ(one, four);
}

TEST(Reductions, ProductsAndTruth) {
  EXPECT_EQ(doubles(f64({{1., 2.}, {3., 4.}}).prod(0)), (Doubles{3, 8}));
  EXPECT_EQ(doubles(f64({{1., 2.}, {3., 4.}}).prod()), (Doubles{24}));
  EXPECT_EQ(ints(at::tensor({{1, 0}, {1, 1}}).all(0)), (Ints{1, 0}));
  EXPECT_EQ(ints(at::tensor({{1, 0}, {0, 0}}).any(1)), (Ints{1, 0}));
  EXPECT_EQ(ints(f64({kNaN}).all()), (Ints{1}));
  std::vector<double> zeros(3000, 0.0);
  zeros[2999] = 1e-300;
  EXPECT_EQ(ints(at::tensor(zeros).any()), (Ints{1}));
}

// Whatever is not zero is true, wherever it lies.
TEST(Reductions, TruthOfEveryDtype) {
  for (at::ScalarType dtype : all_dtypes()) {
    const double odd = dtype == at::kByte ? 128 : -128;
    for (int64_t n : {1, 7, 16, 40, 130, 300}) {
      for (int64_t place : {int64_t{0}, n / 2, n - 1}) {
        Tensor t = at::zeros({3, n}, dtype), u = at::full({3, n}, odd, dtype);
        t[1][place].fill_(odd);
        u[1][place].fill_(0);
        const std::string what = c10::str(dtype, " at ", place, " of ", n);
        EXPECT_EQ(ints(t.any(1)), (Ints{0, 1, 0})) << what;
        EXPECT_EQ(ints(u.all(1)), (Ints{1, 0, 1})) << what;
        EXPECT_EQ(ints(t.t().contiguous().any(0)), (Ints{0, 1, 0})) << what;
        EXPECT_EQ(ints(u.t().contiguous().all(0)), (Ints{1, 0, 1})) << what;
        EXPECT_EQ(ints(u.any()), (Ints{1})) << what;
      }
    }
  }
}

// Columns of 16-bit floats that fill the last vector more or less.
TEST(Reductions, EveryWidthOfColumns) {
  for (at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
    for (int64_t n = 1; n <= 40; ++n) {
      const Tensor t = counted({1, n}, dtype).add(1).expand({8, n}).contiguous();
      Doubles sums;
      for (int64_t j = 1; j <= n; ++j) sums.push_back(static_cast<double>(8 * j));
      EXPECT_EQ(doubles(t.sum({0})), sums) << n;
      EXPECT_EQ(doubles(t.add(t).sum({0}).mul(0.5)), sums) << n;
    }
  }
}

// Rows without gaps, which are taken as one where they are narrow, and so are parts of complex
// numbers. What fills up the last vector is nothing, not even 0: the sum of -0 is -0.
TEST(Reductions, ColumnsWithoutGaps) {
  for (at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kComplexFloat}) {
    for (int64_t width : {1, 2, 3, 4, 8, 16, 17, 32, 64, 100, 128}) {
      for (int64_t rows : {1, 2, 7, 33, 45, 300, 9000}) {
        const Tensor numbers = at::arange(rows * width).remainder(7).view({rows, width});
        std::vector<int64_t> sums(static_cast<size_t>(width));
        for (int64_t i = 0; i < rows * width; ++i) sums[i % width] += i % 7;
        const Tensor expected = at::tensor(sums).to(dtype);
        EXPECT_TRUE(at::equal(numbers.to(dtype).sum({0}), expected))
            << dtype << ' ' << rows << ' ' << width;
        if (expected.is_floating_point()) {
          const Tensor zeros = at::zeros({rows, width}, dtype).neg();
          EXPECT_TRUE(zeros.sum({0}).signbit().all().item<bool>())
              << dtype << ' ' << rows << ' ' << width;
        }
      }
    }
  }
}

// Rows that are taken as a whole, or in strips, and in parts that are merged; as elements of two
// dimensions with gaps between the blocks of the first.
TEST(Reductions, WideColumns) {
  for (at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kInt}) {
    for (int64_t width : {500, 1024, 1025, 1500, 1537, 2049, 3100}) {
      for (int64_t rows : {1, 3, 31, 64, 100, 130}) {
        const int64_t apart = rows + 1;
        const Tensor numbers =
            at::arange(2 * apart * width).remainder(7).view({2, apart, width}).to(dtype);
        std::vector<int64_t> sums(static_cast<size_t>(width)), largest = sums;
        for (int64_t i = 0; i < 2 * apart * width; ++i) {
          if (i / width % apart == rows) continue;
          sums[i % width] += i % 7;
          largest[i % width] = std::max(largest[i % width], i % 7);
        }
        const Tensor taken = numbers.narrow(1, 0, rows);
        SCOPED_TRACE(testing::Message() << dtype << ' ' << rows << ' ' << width);
        EXPECT_EQ(ints(taken.sum({0, 1})), sums);
        EXPECT_EQ(ints(taken.amax({0, 1})), largest);
      }
    }
  }
}

// Over two dimensions that do not follow each other, as those of patches of an image.
TEST(Reductions, Patches) {
  for (const at::ScalarType dtype : {at::kInt, at::kBFloat16, at::kFloat, at::kDouble}) {
    for (const int64_t columns : {1, 2, 3, 4, 5, 7, 14, 16, 30}) {
      for (const int64_t side : {1, 2, 3, 5, 8}) {
        const Ints shape = {3, 2, side, columns, side};
        const Tensor t = at::randint(0, 9, shape, at::kLong), x = t.to(dtype);
        const Tensor lines = t.transpose(2, 3).reshape({3, 2, columns, side * side});
        SCOPED_TRACE(testing::Message() << dtype << ' ' << columns << ' ' << side);
        EXPECT_TRUE(at::equal(x.sum(Ints{2, 4}), lines.sum({3}).to(dtype)));
        EXPECT_TRUE(at::equal(x.amax(Ints{2, 4}).to(at::kLong), lines.amax({3})));
        EXPECT_TRUE(at::equal(x.transpose(1, 3).amin(Ints{2, 4}).to(at::kLong),
                              lines.amin({3}).transpose(1, 2)));
      }
    }
  }
}

TEST(Reductions, VarianceAndDeviation) {
  const Tensor t = f64({1., 2., 3., 4.});
  EXPECT_DOUBLE_EQ(t.var().item<double>(), 5.0 / 3);
  EXPECT_DOUBLE_EQ(t.var(false).item<double>(), 1.25);
  EXPECT_DOUBLE_EQ(t.std(false).item<double>(), std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(at::var(t, {0}, std::optional<at::Scalar>(2), true).item<double>(), 2.5);
  EXPECT_EQ(at::var(t, {0}, std::optional<at::Scalar>(5), true).item<double>(), kInf);
  EXPECT_TRUE(std::isnan(f64({1.}).var().item<double>()));
  const Tensor z = t * at::Scalar(c10::complex<double>(1, 2));
  EXPECT_DOUBLE_EQ(z.var().item<double>(), 5.0 / 3 * 5);
  EXPECT_THAT(message_of<c10::Error>([&] { t.to(at::kInt).var(); }),
              HasSubstr("var(): expected a floating-point or complex dtype, got int32"));
}

// The mean of equal numbers is that number, although their sum is rounded.
TEST(Reductions, VarianceOfEqualNumbers) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
    for (const double number : {1.7, 0.3, -100.1, 20000.3, 1e6 / 3}) {
      for (const int64_t n : {2, 7, 16, 17, 100, 768, 3865, 10'000, 300'001}) {
        const Tensor row = at::full({2, n}, number, dtype);
        EXPECT_EQ(doubles(row.var({1}, true)), (Doubles{0, 0}))
            << dtype << ' ' << number << ' ' << n;
        EXPECT_EQ(doubles(row.t().contiguous().var({0}, true)), (Doubles{0, 0}))
            << dtype << ' ' << number << ' ' << n;
        EXPECT_EQ(row.std().item<double>(), 0) << dtype << ' ' << number << ' ' << n;
      }
    }
  }
}

TEST(Reductions, VarianceOfNearlyEqualNumbers) {
  at::manual_seed(2);
  for (const int64_t n : {5, 17, 100, 768, 3865, 10'000, 70'000}) {
    const Tensor t = at::randint(0, 8, {3, n}, at::kFloat).div(8).add(1e5);
    const Doubles exact = doubles(t.to(at::kDouble).var({1}, true));
    const Doubles rows = doubles(t.var({1}, true)),
                  gathered = doubles(at::stack({t, t}, 2).select(2, 0).var({1}, true)),
                  columns = doubles(t.t().contiguous().var({0}, true));
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(rows[i], exact[i], 1e-6 * exact[i]) << n;
      EXPECT_NEAR(gathered[i], exact[i], 1e-6 * exact[i]) << n;
      EXPECT_NEAR(columns[i], exact[i], 1e-6 * exact[i]) << n;
    }
  }
}

// What exceeds the dtype is infinite; what is not finite has no variance.
TEST(Reductions, VarianceTooLarge) {
  const auto rows = [](const Tensor& t) { return doubles(t.var({1}, true)); };
  const auto columns = [](const Tensor& t) { return doubles(t.t().contiguous().var({0}, true)); };
  for (const int64_t n : {2, 3, 50, 64, 500}) {
    for (const double most : {1e30, 3e38}) {
      const Tensor t = at::ones({2, n}, at::kFloat);
      t.select(1, 0).fill_(-most);
      EXPECT_EQ(rows(t), (Doubles{kInf, kInf})) << n;
      EXPECT_EQ(columns(t), (Doubles{kInf, kInf})) << n;
      t.select(1, n - 1).fill_(most);
      EXPECT_EQ(rows(t), (Doubles{kInf, kInf})) << n;
      EXPECT_EQ(columns(t), (Doubles{kInf, kInf})) << n;
      t.select(1, n / 2).fill_(kInf);
      EXPECT_TRUE(std::isnan(rows(t)[1])) << n;
      EXPECT_TRUE(std::isnan(columns(t)[1])) << n;
    }
    // Their sum exceeds the dtype, too.
    for (const auto& [dtype, large] : {std::pair(at::kFloat, 2e38), {at::kDouble, 1e308}}) {
      for (const int64_t length : {n, 100 * n}) {
        const Tensor same = at::full({2, length}, large, dtype);
        EXPECT_EQ(rows(same), (Doubles{0, 0})) << dtype << ' ' << length;
        EXPECT_EQ(columns(same), (Doubles{0, 0})) << dtype << ' ' << length;
        same.select(1, length - 1).fill_(-large);
        EXPECT_EQ(rows(same), (Doubles{kInf, kInf})) << dtype << ' ' << length;
        EXPECT_EQ(columns(same), (Doubles{kInf, kInf})) << dtype << ' ' << length;
      }
    }
  }
}

// Nothing follows from the first numbers of a row, nor from the first alone.
TEST(Reductions, VarianceOfRowsThatBeginElsewhere) {
  at::manual_seed(4);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const int64_t n : {3, 20, 63, 64, 65, 200, 4096, 10'000}) {
      for (const int64_t first : {1, 64}) {
        const Tensor t = at::randn({3, n}, dtype).add(1e4);
        t.slice(1, 0, first).mul_(-3);
        const Doubles got = doubles(t.var({1}, true)), x = doubles(t);
        for (int64_t row = 0; row < 3; ++row) {
          const double* p = x.data() + row * n;
          const double mean = std::accumulate(p, p + n, 0.0) / static_cast<double>(n);
          double squares = 0;
          for (int64_t i = 0; i < n; ++i) squares += (p[i] - mean) * (p[i] - mean);
          const double variance = squares / static_cast<double>(n - 1);
          const double near = dtype == at::kFloat ? 1e-6 : 1e-14;
          // Where all were moved, their distances of 3 are less exact than they are.
          EXPECT_NEAR(got[row], variance, (first < n ? near : 1e4 * near) * variance)
              << dtype << ", " << first << " of " << n;
        }
      }
    }
  }
}

TEST(Reductions, VarianceOfAColumnDependsOnNoOther) {
  at::manual_seed(3);
  for (const int64_t n : {7, 16, 100}) {
    const Tensor t = at::randn({n, 64}).mul(15).add(3e5);
    const Tensor other = t.clone();
    other.slice(1, 1, 64, 4).fill_(3e5);
    const Doubles of_t = doubles(t.var({0}, true)), of_other = doubles(other.var({0}, true));
    for (size_t i = 0; i < of_t.size(); ++i) EXPECT_EQ(of_other[i], i % 4 == 1 ? 0 : of_t[i]) << n;
  }
}

TEST(Reductions, Norms) {
  const Tensor t = f64({3., -4., 0.});
  EXPECT_DOUBLE_EQ(t.norm().item<double>(), 5);
  EXPECT_DOUBLE_EQ(t.norm(1).item<double>(), 7);
  EXPECT_DOUBLE_EQ(t.norm(0).item<double>(), 2);
  EXPECT_DOUBLE_EQ(t.norm(kInf).item<double>(), 4);
  EXPECT_DOUBLE_EQ(t.norm(-kInf).item<double>(), 0);
  EXPECT_NEAR(t.norm(3).item<double>(), std::cbrt(27 + 64), 1e-12);
  EXPECT_EQ(at::norm(t.to(at::kFloat), std::optional<at::Scalar>(2), at::kDouble).scalar_type(),
            at::kDouble);
  // Squares that float32 cannot hold.
  const Tensor large = f64({3e20, 4e20}).to(at::kFloat);
  const std::optional<at::Scalar> two(2);
  EXPECT_NEAR(at::norm(large, two, at::kDouble).item<double>(), 5e20, 1e14);
  EXPECT_NEAR(at::norm(large, two, {0}, false, at::kDouble).item<double>(), 5e20, 1e14);
  const Tensor z = t * at::Scalar(c10::complex<double>(1, 1));
  EXPECT_NEAR(z.norm().item<double>(), std::sqrt(50.0), 1e-12);
  EXPECT_NEAR(z.norm(1).item<double>(), 7 * std::sqrt(2.0), 1e-12);
}

TEST(Reductions, LogSumExp) {
  EXPECT_NEAR(f64({1000., 1000.}).logsumexp({0}).item<double>(), 1000 + std::log(2.0), 1e-9);
  EXPECT_EQ(f64({-kInf, -kInf}).logsumexp({0}).item<double>(), -kInf);
  EXPECT_EQ(f64({kInf, 1.0}).logsumexp({0}).item<double>(), kInf);
  EXPECT_EQ(sizes(at::ones({2, 3, 4}).logsumexp({0, 2}, true)), (Ints{1, 3, 1}));
}

TEST(Reductions, RunningSumsAndProducts) {
  const Tensor t = counted({3, 4});
  EXPECT_EQ(ints(t.cumsum(1)), (Ints{0, 1, 3, 6, 4, 9, 15, 22, 8, 17, 27, 38}));
  EXPECT_EQ(ints(t.cumsum(0)), (Ints{0, 1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 21}));
  EXPECT_EQ(ints(t.t().cumsum(0)), ints(t.cumsum(1).t()));
  EXPECT_EQ(ints(t.to(at::kInt).add(1).cumprod(0)),
            (Ints{1, 2, 3, 4, 5, 12, 21, 32, 45, 120, 231, 384}));
  EXPECT_EQ(ints(at::full({3}, 200, at::kByte).cumsum(0, at::kByte)), (Ints{200, 144, 88}));
  EXPECT_EQ(ints(at::tensor(3).cumsum(0)), (Ints{3}));
  Tensor in_place = t.to(at::kFloat).clone();
  in_place.cumsum_(0);
  EXPECT_EQ(ints(in_place), ints(t.cumsum(0)));
  const Tensor wide = at::randn({5, 600, 3}, at::kDouble);
  const Doubles got = doubles(wide.cumsum(1)), x = doubles(wide);
  double sum = 0;
  for (int64_t i = 0; i < 600; ++i) {
    sum += x[(2 * 600 + i) * 3 + 1];
    ASSERT_NEAR(got[(2 * 600 + i) * 3 + 1], sum, 1e-12);
  }
  const Tensor columns = at::ones({100, 300});
  EXPECT_EQ(doubles(columns.cumsum(0)[99]), Doubles(300, 100));
}

// Against sums in long double, over rows, columns and strides; in place as well.
TEST(Reductions, RunningSumsOfFloats) {
  at::manual_seed(5);
  for (int64_t n : {1, 2, 7, 8, 9, 15, 16, 40, 1003}) {
    const Tensor t = at::randn({21, n}).mul(100);
    const Doubles x = doubles(t);
    Doubles sums(x.size()), products(x.size());
    for (int64_t row = 0; row < 21; ++row) {
      long double sum = 0;
      double product = 1;
      for (int64_t i = row * n; i < (row + 1) * n; ++i) {
        sums[i] = static_cast<double>(sum += x[i]);
        products[i] = product *= x[i] / 80;
      }
    }
    for (const Tensor& same : {t, t.t().contiguous().t(), at::stack({t, t}, 2).select(2, 1),
                               at::cat({t, t}, 1).slice(1, n)}) {
      expect_close(same.cumsum(1), sums, 1e-6, c10::str("row of ", n));
      expect_close(same.t().cumsum(0).t(), sums, 1e-6, c10::str("column of ", n));
      expect_close(same.div(80).cumprod(1), products, 1e-4, c10::str("product of ", n));
      Tensor in_place = same.clone();
      in_place.cumsum_(1);
      expect_close(in_place, sums, 1e-6, c10::str("in place ", n));
    }
    expect_close(t.to(at::kDouble).cumsum(1), sums, 1e-12, c10::str("double, row of ", n));
    expect_close(t.to(at::kDouble).div(80).cumprod(1), products, 1e-12,
                 c10::str("double, product of ", n));
    expect_close(t.to(at::kDouble).narrow(0, 0, 2).cumsum(1),
                 Doubles(sums.begin(), sums.begin() + 2 * n), 1e-12,
                 c10::str("double, few rows of ", n));
    for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
      const Tensor halves = t.div(100).to(at::kInt).to(dtype);  // exact sums
      const Tensor wide = halves.to(at::kDouble);
      const auto expect_sums = [&](const Tensor& got, const Tensor& expected, const char* what) {
        expect_close(got, doubles(expected.to(dtype)), 0, c10::str(dtype, what, n));
      };
      expect_sums(halves.cumsum(1), wide.cumsum(1), ", row of ");
      const Tensor many = halves.narrow(0, 0, 20).repeat({30, 1});
      expect_sums(many.cumsum(1), wide.narrow(0, 0, 20).repeat({30, 1}).cumsum(1),
                  ", many rows of ");
      expect_sums(halves.narrow(0, 0, 3).cumsum(1), wide.narrow(0, 0, 3).cumsum(1),
                  ", few rows of ");
      expect_sums(halves.cumsum(0), wide.cumsum(0), ", columns beside ");
      Tensor in_place = halves.clone();
      in_place.cumsum_(0);
      expect_sums(in_place, wide.cumsum(0), ", columns in place beside ");
      expect_close(halves.abs().div(2).add(0.5).cumprod(0),
                   doubles(wide.abs().div(2).add(0.5).cumprod(0)), 8e-3,
                   c10::str(dtype, ", products of columns beside ", n));
    }
  }
  // What is not finite reaches what follows in its row, and nothing else.
  for (at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (int64_t rows : {1, 20}) {
      for (int64_t place = 0; place < 20; ++place) {
        Tensor t = at::ones({rows, 20}, dtype);
        t[rows / 2][place].fill_(kInf);
        const Doubles got = doubles(t.cumsum(1));
        for (int64_t i = 0; i < rows * 20; ++i) {
          const bool reached = i / 20 == rows / 2 && i % 20 >= place;
          EXPECT_EQ(got[i], reached ? kInf : static_cast<double>(i % 20 + 1)) << dtype << place;
        }
      }
    }
  }
}

TEST(Reductions, WrongArguments) {
  const Tensor t = at::ones({2, 3});
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.sum({2}); }),
              HasSubstr("sum(): expected dim in [-2, 1] for a 2-d input, got 2"));
  EXPECT_THAT(message_of<c10::Error>([&] { t.sum({0, -2}); }), HasSubstr("appears more than once"));
  EXPECT_THAT(message_of<c10::Error>([&] { t.to(at::kLong).mean(); }),
              HasSubstr("mean(): expected a floating-point or complex dtype, got int64"));
  EXPECT_THROW(t.cumsum(2), c10::IndexError);
  EXPECT_THROW(t.prod(5), c10::IndexError);
  EXPECT_THROW(t.argmax(-3), c10::IndexError);
  EXPECT_THROW(t.logsumexp({2}), c10::IndexError);
  Tensor out = at::empty({3}, at::kInt);
  EXPECT_ANY_THROW(at::mean_out(out, t, {0}));
}

TEST(Reductions, MetaTensorsHaveShapesOnly) {
  const Tensor t = at::empty({2, 3, 4}, at::TensorOptions().device(at::kMeta));
  EXPECT_EQ(sizes(t.sum({1})), (Ints{2, 4}));
  EXPECT_EQ(sizes(t.var({0, 2}, true, true)), (Ints{1, 3, 1}));
  EXPECT_EQ(sizes(std::get<1>(t.max(2))), (Ints{2, 3}));
  EXPECT_EQ(t.to(at::kInt).sum().scalar_type(), at::kLong);
  EXPECT_EQ(sizes(t.norm()), Ints{});
}

}  // namespace
