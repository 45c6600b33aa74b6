// Pointwise kernels against plain loops, for every layout that kernels treat differently.
#include <aten/Base.h>
#include <c10/util/complex_math.h>
#include <c10/util/special_functions.h>
#include <generated/ops/abs.h>
#include <generated/ops/add.h>
#include <generated/ops/addcdiv.h>
#include <generated/ops/addcmul.h>
#include <generated/ops/allclose.h>
#include <generated/ops/arange.h>
#include <generated/ops/asin.h>
#include <generated/ops/asinh.h>
#include <generated/ops/atan.h>
#include <generated/ops/atan2.h>
#include <generated/ops/atanh.h>
#include <generated/ops/ceil.h>
#include <generated/ops/clamp.h>
#include <generated/ops/clone.h>
#include <generated/ops/complex.h>
#include <generated/ops/conj.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/cos.h>
#include <generated/ops/div.h>
#include <generated/ops/empty.h>
#include <generated/ops/empty_like.h>
#include <generated/ops/equal.h>
#include <generated/ops/erf.h>
#include <generated/ops/erfinv.h>
#include <generated/ops/exp.h>
#include <generated/ops/exp2.h>
#include <generated/ops/expand.h>
#include <generated/ops/expm1.h>
#include <generated/ops/flip.h>
#include <generated/ops/floor.h>
#include <generated/ops/floor_divide.h>
#include <generated/ops/fmax.h>
#include <generated/ops/fmod.h>
#include <generated/ops/full.h>
#include <generated/ops/gelu.h>
#include <generated/ops/item.h>
#include <generated/ops/lerp.h>
#include <generated/ops/linspace.h>
#include <generated/ops/log.h>
#include <generated/ops/log10.h>
#include <generated/ops/log1p.h>
#include <generated/ops/log2.h>
#include <generated/ops/logaddexp.h>
#include <generated/ops/logaddexp_backward.h>
#include <generated/ops/logical_and.h>
#include <generated/ops/logit.h>
#include <generated/ops/masked_fill.h>
#include <generated/ops/maximum.h>
#include <generated/ops/minimum.h>
#include <generated/ops/mul.h>
#include <generated/ops/neg.h>
#include <generated/ops/ones.h>
#include <generated/ops/ones_like.h>
#include <generated/ops/pow.h>
#include <generated/ops/randint.h>
#include <generated/ops/reciprocal.h>
#include <generated/ops/relu.h>
#include <generated/ops/round.h>
#include <generated/ops/rsqrt.h>
#include <generated/ops/scalar_tensor.h>
#include <generated/ops/select.h>
#include <generated/ops/sigmoid.h>
#include <generated/ops/silu.h>
#include <generated/ops/sin.h>
#include <generated/ops/sinh.h>
#include <generated/ops/slice.h>
#include <generated/ops/sqrt.h>
#include <generated/ops/square.h>
#include <generated/ops/stack.h>
#include <generated/ops/sub.h>
#include <generated/ops/sum.h>
#include <generated/ops/t.h>
#include <generated/ops/tan.h>
#include <generated/ops/tanh.h>
#include <generated/ops/to.h>
#include <generated/ops/trunc.h>
#include <generated/ops/view.h>
#include <generated/ops/where.h>
#include <generated/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace {

using namespace at;
using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

template <typename F>
std::string error_of(F f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "no error";
}

// Numbers between low and high, and the special ones of floating types; 131 of them: rows of every
// vector length with a rest.
Tensor values(ScalarType dtype, double low, double high, bool special = false) {
  const int64_t n = 131;
  Tensor x = at::empty({n}, TensorOptions().dtype(kDouble));
  double* data = x.data_ptr<double>();
  for (int64_t i = 0; i < n; ++i) {
    data[i] = low + (high - low) * static_cast<double>((i * 37) % n) / static_cast<double>(n - 1);
  }
  if (special) {
    const double list[] = {0.0, -0.0, kInf, -kInf, kNaN, 0.5, -0.5, 1.5, 2.5, 1e-30, 1.0, -1.0};
    std::copy(std::begin(list), std::end(list), data + 3);
  }
  return x.to(dtype);
}

double at_(const Tensor& x, int64_t i) { return x.to(kDouble).contiguous().data_ptr<double>()[i]; }

// Views of the same numbers: dense, every second of a longer tensor, a column of a matrix.
std::vector<Tensor> layouts(const Tensor& x) {
  const Tensor wide = at::stack({x, x}, 1);
  return {x, wide.select(1, 0), at::stack({x, x}, 0).t().contiguous().t().select(0, 1)};
}

void expect_close(const Tensor& got, const std::function<double(int64_t)>& expected, double tol,
                  const std::string& what) {
  const Tensor g = got.to(kDouble).contiguous();
  for (int64_t i = 0; i < g.numel(); ++i) {
    const double want = expected(i);
    const double have = g.data_ptr<double>()[i];
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(have)) << what << " at " << i << ": " << have;
    } else if (std::isinf(want)) {
      ASSERT_EQ(have, want) << what << " at " << i;
    } else {
      ASSERT_NEAR(have, want, tol * std::max(1.0, std::abs(want))) << what << " at " << i;
    }
  }
}

double tolerance(ScalarType dtype) {
  switch (dtype) {
    case kDouble:
      return 1e-14;
    case kFloat:
      return 1e-6;
    case kHalf:
      return 1e-3;
    default:
      return 1e-2;
  }
}

struct UnaryCase {
  const char* name;
  Tensor (*op)(const Tensor&);
  double (*reference)(double);
  double low;
  double high;
};

// `x` exactly as the dtype holds it: the reference sees what the kernel sees.
TEST(UnaryKernels, AgreeWithTheLibrary) {
  const UnaryCase cases[] = {
      {"abs", [](const Tensor& x) { return at::abs(x); }, [](double x) { return std::abs(x); }, -3,
       3},
      {"ceil", [](const Tensor& x) { return at::ceil(x); }, [](double x) { return std::ceil(x); },
       -3, 3},
      {"cos", [](const Tensor& x) { return at::cos(x); }, [](double x) { return std::cos(x); }, -9,
       9},
      {"erf", [](const Tensor& x) { return at::erf(x); }, [](double x) { return std::erf(x); }, -3,
       3},
      {"exp", [](const Tensor& x) { return at::exp(x); }, [](double x) { return std::exp(x); }, -9,
       9},
      {"expm1", [](const Tensor& x) { return at::expm1(x); },
       [](double x) { return std::expm1(x); }, -3, 3},
      {"floor", [](const Tensor& x) { return at::floor(x); },
       [](double x) { return std::floor(x); }, -3, 3},
      {"log", [](const Tensor& x) { return at::log(x); }, [](double x) { return std::log(x); }, 0,
       9},
      {"log10", [](const Tensor& x) { return at::log10(x); },
       [](double x) { return std::log10(x); }, 0, 9},
      {"log1p", [](const Tensor& x) { return at::log1p(x); },
       [](double x) { return std::log1p(x); }, 0, 9},
      {"log2", [](const Tensor& x) { return at::log2(x); }, [](double x) { return std::log2(x); },
       0, 9},
      {"neg", [](const Tensor& x) { return at::neg(x); }, [](double x) { return -x; }, -3, 3},
      {"reciprocal", [](const Tensor& x) { return at::reciprocal(x); },
       [](double x) { return 1 / x; }, 1, 9},
      {"relu", [](const Tensor& x) { return at::relu(x); },
       [](double x) { return std::isnan(x) ? x
                             : x > 0       ? x
                                           : 0.0; }, -3, 3},
      {"round", [](const Tensor& x) { return at::round(x); },
       [](double x) { return std::nearbyint(x); }, -3, 3},
      {"rsqrt", [](const Tensor& x) { return at::rsqrt(x); },
       [](double x) { return 1 / std::sqrt(x); }, 1, 9},
      {"sigmoid", [](const Tensor& x) { return at::sigmoid(x); },
       [](double x) { return 1 / (1 + std::exp(-x)); }, -9, 9},
      {"sin", [](const Tensor& x) { return at::sin(x); }, [](double x) { return std::sin(x); }, -9,
       9},
      {"sqrt", [](const Tensor& x) { return at::sqrt(x); }, [](double x) { return std::sqrt(x); },
       0, 9},
      {"square", [](const Tensor& x) { return at::square(x); }, [](double x) { return x * x; }, -3,
       3},
      {"tan", [](const Tensor& x) { return at::tan(x); }, [](double x) { return std::tan(x); }, -1,
       1},
      {"tanh", [](const Tensor& x) { return at::tanh(x); }, [](double x) { return std::tanh(x); },
       -5, 5},
      {"trunc", [](const Tensor& x) { return at::trunc(x); },
       [](double x) { return std::trunc(x); }, -3, 3},
  };
  for (const UnaryCase& c : cases) {
    for (ScalarType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
      const bool special = dtype == kDouble || dtype == kFloat;
      const Tensor x = values(dtype, c.low, c.high, special);
      const Tensor exact = x.to(kDouble);
      for (const Tensor& layout : layouts(x)) {
        expect_close(
            c.op(layout), [&](int64_t i) { return c.reference(exact.data_ptr<double>()[i]); },
            tolerance(dtype), std::string(c.name) + " " + c10::toString(dtype));
      }
      // The result does not depend on where an element lies.
      EXPECT_TRUE(at::allclose(c.op(layouts(x)[1]), c.op(x), 0, 0, /*equal_nan=*/true)) << c.name;
    }
  }
}

// See Note [Usual arguments] in aten/cpu/vec/math_base.h: numbers for which functions have another
// form, here and there in rows of many lengths, have the results that they have alone, in place
// too.
TEST(UnusualArguments, AnywhereInARow) {
  struct Function {
    const char* name;
    void (*compute)(Tensor& out, const Tensor& x, const Tensor& y);
    double (*reference)(double x, double y);
  };
#define OPLOOM_FUNCTION(name, expression)                                                          \
  {                                                                                                \
#name, [](Tensor & out, const Tensor& x,                                                       \
              const Tensor&) { at::name##_out(out, x); },                                          \
                                                       [](double x,                                \
                                                          double) -> double { return expression; } \
  }
  const Function functions[] = {
      OPLOOM_FUNCTION(erfinv, c10::special::erfinv(x)),
      OPLOOM_FUNCTION(logit, c10::special::logit(x)),
      OPLOOM_FUNCTION(rsqrt, 1 / std::sqrt(x)),
      OPLOOM_FUNCTION(sqrt, std::sqrt(x)),
      OPLOOM_FUNCTION(exp, std::exp(x)),
      OPLOOM_FUNCTION(exp2, std::exp2(x)),
      OPLOOM_FUNCTION(expm1, std::expm1(x)),
      OPLOOM_FUNCTION(log, std::log(x)),
      OPLOOM_FUNCTION(log10, std::log10(x)),
      OPLOOM_FUNCTION(log1p, std::log1p(x)),
      OPLOOM_FUNCTION(log2, std::log2(x)),
      OPLOOM_FUNCTION(sigmoid, 1 / (1 + std::exp(-x))),
      OPLOOM_FUNCTION(silu, x / (1 + std::exp(-x))),
      OPLOOM_FUNCTION(tan, std::tan(x)),
      {"gelu, tanh",
       [](Tensor& out, const Tensor& x, const Tensor&) { at::gelu_out(out, x, "tanh"); },
       [](double x, double) {
         return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
       }},
      {"pow", [](Tensor& out, const Tensor& x, const Tensor& y) { at::pow_out(out, x, y); },
       [](double x, double y) { return std::pow(x, y); }},
      {"pow, number", [](Tensor& out, const Tensor& x, const Tensor&) { at::pow_out(out, x, 1.5); },
       [](double x, double) { return std::pow(x, 1.5); }},
      {"atan2", [](Tensor& out, const Tensor& x, const Tensor& y) { at::atan2_out(out, x, y); },
       [](double x, double y) { return std::atan2(x, y); }},
      // Of a kernel with two outputs.
      {"gradients of logaddexp",
       [](Tensor& out, const Tensor& x, const Tensor& y) {
         const auto [first, second] =
             at::_ops::logaddexp_backward::call(at::ones_like(x), x, y, {true, true});
         at::sub_out(out, first, second);
       },
       [](double x, double y) { return std::tanh((x - y) / 2); }},
  };
#undef OPLOOM_FUNCTION
  constexpr int kUsual = 5;
  const double first[] = {0.5, 0.75, 1, 1.5, 3, 0, -0.5, 1e-40, 50, -100, 1e6, 1e30, kInf, kNaN};
  const double second[] = {2, 1.5, -1, 0.25, 3, -0.0, 2, 0, kInf, 3, -7, 1.5, kNaN, 1};
  std::minstd_rand random(1);
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const auto options = TensorOptions().dtype(kDouble);
    const auto tensor_of = [&](const double* numbers, const std::vector<int>& places) {
      const Tensor x = at::empty({static_cast<int64_t>(places.size())}, options);
      std::transform(places.begin(), places.end(), x.data_ptr<double>(),
                     [numbers](int place) { return numbers[place]; });
      return x.to(dtype);
    };
    for (const Function& f : functions) {
      double alone[std::size(first)];
      for (size_t i = 0; i < std::size(first); ++i) {
        const std::vector<int> place = {static_cast<int>(i)};
        const Tensor x = tensor_of(first, place), y = tensor_of(second, place);
        Tensor out = at::empty_like(x);
        f.compute(out, x, y);
        alone[i] = at_(out, 0);
        const double exact = f.reference(at_(x, 0), at_(y, 0));
        const double want = at_(at::full({1}, exact, options).to(dtype), 0);
        expect_close(
            out, [=](int64_t) { return want; }, tolerance(dtype), f.name);
      }
      for (const int n : {1, 15, 33, 64, 150, 1000}) {
        for (const int share : {0, 1, n / 64, n / 2}) {
          std::vector<int> places(static_cast<size_t>(n));
          for (int& place : places) {
            const bool usual = static_cast<int>(random() % static_cast<unsigned>(n)) >= share;
            place = static_cast<int>(usual ? random() % kUsual : random() % std::size(first));
          }
          Tensor x = tensor_of(first, places);
          const Tensor y = tensor_of(second, places), expected = tensor_of(alone, places);
          Tensor out = at::empty_like(x);
          f.compute(out, x, y);
          EXPECT_TRUE(at::allclose(out, expected, 0, 0, /*equal_nan=*/true))
              << f.name << ' ' << dtype << ' ' << n << ' ' << share;
          f.compute(out, layouts(x)[1], layouts(y)[1]);
          EXPECT_TRUE(at::allclose(out, expected, 0, 0, /*equal_nan=*/true))
              << f.name << " of every second number " << dtype << ' ' << n << ' ' << share;
          f.compute(x, x, y);
          EXPECT_TRUE(at::allclose(x, expected, 0, 0, /*equal_nan=*/true))
              << f.name << " in place " << dtype << ' ' << n << ' ' << share;
        }
      }
    }
  }
}

TEST(UnaryKernels, SignsOfZero) {
  const Tensor zero = at::zeros({9}, TensorOptions().dtype(kFloat));
  const Tensor negative = at::neg(zero);
  for (int64_t i = 0; i < 9; ++i) EXPECT_TRUE(std::signbit(negative.data_ptr<float>()[i]));
  EXPECT_FALSE(std::signbit(at_(at::abs(negative), 8)));
  EXPECT_TRUE(std::signbit(at::sqrt(negative).data_ptr<float>()[0]));
  EXPECT_TRUE(std::signbit(at::round(negative).data_ptr<float>()[8]));
}

TEST(UnaryKernels, IntegersWrapAround) {
  const Tensor lowest =
      at::full({9}, std::numeric_limits<int32_t>::min(), TensorOptions().dtype(kInt));
  EXPECT_TRUE(at::equal(at::abs(lowest), lowest));
  EXPECT_TRUE(at::equal(at::neg(lowest), lowest));
  EXPECT_EQ(at_(at::bitwise_not(lowest), 0), 2147483647.0);
  EXPECT_EQ(at::exp(at::ones({2}, TensorOptions().dtype(kLong))).scalar_type(), kFloat);
}

struct BinaryCase {
  const char* name;
  Tensor (*op)(const Tensor&, const Tensor&);
  double (*reference)(double, double);
};

double greater(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b);
}
double smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b);
}

TEST(BinaryKernels, AgreeWithTheLibrary) {
  const BinaryCase cases[] = {
      {"add", [](const Tensor& a, const Tensor& b) { return at::add(a, b); },
       [](double a, double b) { return a + b; }},
      {"add 3", [](const Tensor& a, const Tensor& b) { return at::add(a, b, 3); },
       [](double a, double b) { return a + 3 * b; }},
      {"sub", [](const Tensor& a, const Tensor& b) { return at::sub(a, b); },
       [](double a, double b) { return a - b; }},
      {"mul", [](const Tensor& a, const Tensor& b) { return at::mul(a, b); },
       [](double a, double b) { return a * b; }},
      {"div", [](const Tensor& a, const Tensor& b) { return at::div(a, b); },
       [](double a, double b) { return a / b; }},
      {"fmod", [](const Tensor& a, const Tensor& b) { return at::fmod(a, b); },
       [](double a, double b) { return std::fmod(a, b); }},
      {"maximum", [](const Tensor& a, const Tensor& b) { return at::maximum(a, b); }, greater},
      {"minimum", [](const Tensor& a, const Tensor& b) { return at::minimum(a, b); }, smaller},
      {"atan2", [](const Tensor& a, const Tensor& b) { return at::atan2(a, b); },
       [](double a, double b) { return std::atan2(a, b); }},
      {"lt", [](const Tensor& a, const Tensor& b) { return at::lt(a, b); },
       [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"ge", [](const Tensor& a, const Tensor& b) { return at::ge(a, b); },
       [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {"ne", [](const Tensor& a, const Tensor& b) { return at::ne(a, b); },
       [](double a, double b) { return a != b ? 1.0 : 0.0; }},
  };
  for (const BinaryCase& c : cases) {
    for (ScalarType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
      const bool special = dtype == kDouble || dtype == kFloat;
      const Tensor a = values(dtype, -3, 3, special);
      const Tensor b = values(dtype, 0.5, 4).flip(0).contiguous();
      const Tensor xa = a.to(kDouble);
      const Tensor xb = b.to(kDouble);
      const auto reference = [&](int64_t i) {
        return c.reference(xa.data_ptr<double>()[i], xb.data_ptr<double>()[i]);
      };
      for (const Tensor& la : layouts(a)) {
        for (const Tensor& lb : layouts(b)) {
          expect_close(c.op(la, lb), reference, tolerance(dtype),
                       std::string(c.name) + " " + c10::toString(dtype));
        }
      }
      // One element for the whole row, on either side.
      const Tensor one = b.select(0, 5);
      const auto first = [&](int64_t i) {
        return c.reference(xa.data_ptr<double>()[i], xb.data_ptr<double>()[5]);
      };
      expect_close(c.op(a, one), first, tolerance(dtype), c.name);
      const auto second = [&](int64_t i) {
        return c.reference(xb.data_ptr<double>()[5], xa.data_ptr<double>()[i]);
      };
      expect_close(c.op(one, a), second, tolerance(dtype), c.name);
    }
  }
}

template <typename T>
std::vector<int64_t> list(const Tensor& x) {
  const Tensor dense = x.contiguous();
  return std::vector<int64_t>(dense.data_ptr<T>(), dense.data_ptr<T>() + dense.numel());
}

TEST(BinaryKernels, IntegerDivision) {
  const Tensor a = at::tensor({7, -7, 7, -7, 0}, TensorOptions().dtype(kLong));
  const Tensor b = at::tensor({2, 2, -2, -2, 3}, TensorOptions().dtype(kLong));
  EXPECT_EQ(list<int64_t>(at::div(a, b, "trunc")), (std::vector<int64_t>{3, -3, -3, 3, 0}));
  EXPECT_EQ(list<int64_t>(at::div(a, b, "floor")), (std::vector<int64_t>{3, -4, -4, 3, 0}));
  EXPECT_EQ(list<int64_t>(at::remainder(a, b)), (std::vector<int64_t>{1, 1, -1, -1, 0}));
  EXPECT_EQ(list<int64_t>(at::fmod(a, b)), (std::vector<int64_t>{1, -1, 1, -1, 0}));
  const Tensor lowest =
      at::full({3}, std::numeric_limits<int64_t>::min(), TensorOptions().dtype(kLong));
  EXPECT_TRUE(at::equal(at::div(lowest, Scalar(-1), "trunc"), lowest));
  EXPECT_EQ(list<int64_t>(at::remainder(lowest, Scalar(-1))), (std::vector<int64_t>{0, 0, 0}));
}

// Numbers beside 16-bit floats are not rounded to them, nor are tensors without dimensions.
TEST(BinaryKernels, SixteenBitFloatsBesideNumbers) {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Tensor x = at::linspace(-4, 4, 1001).to(dtype), wide = x.to(kFloat);
    const Tensor columns = x.slice(0, 0, 990).view({30, 33}).t();
    for (const double number : {0.1, 3., -7.3, 1e5, 1e-9}) {
      SCOPED_TRACE(testing::Message() << dtype << ' ' << number);
      const Tensor product = wide.mul(number).to(dtype), quotient = wide.div(number).to(dtype);
      EXPECT_TRUE(at::equal(x.mul(number), product));
      EXPECT_TRUE(at::equal(at::mul(at::scalar_tensor(number), x), product));
      EXPECT_TRUE(at::equal(at::mul(x, at::scalar_tensor(number, kDouble)), product));
      EXPECT_TRUE(at::equal(x.div(number), quotient));
      EXPECT_TRUE(at::equal(x.clone().div_(number), quotient));
      EXPECT_TRUE(at::equal(columns.mul(number), columns.to(kFloat).mul(number).to(dtype)));
      EXPECT_TRUE(at::equal(x.select(0, 7).mul(number), product.select(0, 7)));
      Tensor out = at::empty({1001});
      at::mul_out(out, x, at::scalar_tensor(number));
      EXPECT_TRUE(at::equal(out, product.to(kFloat)));
    }
    EXPECT_EQ(at::tensor({60000.f}).to(dtype).div(1e5).item<float>(),
              at::tensor({60000.f}).to(dtype).to(kFloat).div(1e5).to(dtype).item<float>());
  }
}

TEST(BinaryKernels, DivisionOfIntegersByZeroIsAnError) {
  for (ScalarType dtype : {kByte, kInt, kLong}) {
    Tensor a = at::ones({100}, TensorOptions().dtype(dtype));
    Tensor b = at::full({100}, 2, TensorOptions().dtype(dtype));
    b.select(0, 77).fill_(0);
    EXPECT_THAT(error_of([&] { at::remainder(a, b); }),
                HasSubstr("remainder(): division of an integer by zero"));
    EXPECT_THAT(error_of([&] { a.div_(b, "floor"); }), HasSubstr("division of an integer by zero"));
    EXPECT_TRUE(at::equal(a, at::ones({100}, TensorOptions().dtype(dtype))))
        << "changed by an error";
  }
  EXPECT_EQ(at_(at::div(at::ones({1}), Scalar(0.0)), 0), kInf);
}

TEST(BinaryKernels, FloorDivisionOfFloats) {
  const double cases[][2] = {{7, 2}, {-7, 2}, {7, -2}, {1, 0.1}, {0, -3}, {5, kInf}, {1, 0}};
  for (const auto& [x, y] : cases) {
    const Tensor a = at::full({1}, x, TensorOptions().dtype(kDouble));
    const Tensor b = at::full({1}, y, TensorOptions().dtype(kDouble));
    const double rest = at_(at::remainder(a, b), 0);
    const double quotient = at_(at::floor_divide(a, b), 0);
    if (y == 0) {
      EXPECT_EQ(quotient, kInf);
      EXPECT_TRUE(std::isnan(rest));
    } else if (std::isfinite(y)) {
      EXPECT_NEAR(quotient * y + rest, x, 1e-12);
      EXPECT_EQ(quotient, std::floor(quotient));
      EXPECT_TRUE(rest == 0 || (rest < 0) == (y < 0));
    }
  }
}

// Beside multiples of the divisor, for quotients that the type cannot hold, and for what is no
// number.
template <typename T>
void remainders_are_exact() {
  const T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> x, y;
  for (const T divisor : {T(3), T(0.1), T(-7e-5), T(1e20)}) {
    for (const T times : {T(1), T(5), T(1000), T(4097), T(1e9), T(1e18)}) {
      const T multiple = divisor * times;
      for (const T near : {multiple, std::nextafter(multiple, infinity),
                           std::nextafter(multiple, -infinity), -multiple}) {
        x.push_back(near);
        y.push_back(divisor);
      }
    }
  }
  const T least = std::numeric_limits<T>::denorm_min();
  const T most = std::numeric_limits<T>::max();
  for (const T a : {T(0), T(-0.0), T(1), T(-5.5), least, most, infinity, T(NAN)}) {
    // Four lanes alike, so that no odd one sends the others the slow way.
    for (const T b : {T(0), T(-0.0), T(2), T(-0.75), -least, most, -infinity, T(NAN)}) {
      x.insert(x.end(), 4, a);
      y.insert(y.end(), 4, b);
    }
  }
  // Numbers of all sizes, whose quotients may have hundreds of digits.
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) {
    x.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
    y.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
  }
  const Tensor a = at::tensor(x), b = at::tensor(y);
  const Tensor rests = at::fmod(a, b), floors = at::remainder(a, b);
  const T* rest = rests.data_ptr<T>();
  const T* floored = floors.data_ptr<T>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    SCOPED_TRACE(testing::Message() << x[i] << " and " << y[i]);
    const T expected = std::fmod(x[i], y[i]);
    const bool other_sign = expected != 0 && (expected < 0) != (y[i] < 0);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(rest[i]) && std::isnan(floored[i]));
      continue;
    }
    EXPECT_EQ(rest[i], expected);
    EXPECT_EQ(std::signbit(rest[i]), std::signbit(expected));
    EXPECT_EQ(floored[i], other_sign ? expected + y[i] : expected);
  }
}

// Of large negative numbers nothing is left but the sign, as of x / (1 + exp(-x)).
TEST(UnaryKernels, SiluKeepsTheSignOfZero) {
  for (const auto dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const Tensor y = at::silu(at::tensor({-1e4, -2000.0, -1200.0}).to(dtype)).to(kDouble);
    for (int64_t i = 0; i < y.numel(); ++i) {
      EXPECT_EQ(y.data_ptr<double>()[i], 0) << dtype;
      EXPECT_TRUE(std::signbit(y.data_ptr<double>()[i])) << dtype;
    }
  }
}

TEST(UnaryKernels, OddFunctionsKeepTheSmallestNumber) {
  const double smallest = std::numeric_limits<double>::denorm_min();
  const Tensor x = at::tensor({smallest, -smallest, -0.0, 1.0}, kDouble);
  for (const auto function : {at::sin, at::tan, at::asin, at::atan, at::sinh, at::tanh, at::asinh,
                              at::atanh, at::expm1, at::log1p, at::erf}) {
    const Tensor y = function(x);
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(y.data_ptr<double>()[i], x.data_ptr<double>()[i]);
      EXPECT_EQ(std::signbit(y.data_ptr<double>()[i]), i > 0);
    }
  }
}

TEST(BinaryKernels, RemaindersOfFloatsAreExact) {
  remainders_are_exact<float>();
  remainders_are_exact<double>();
}

TEST(BinaryKernels, PowersOfIntegers) {
  const Tensor base = at::tensor({2, -2, 3, 1, -1, 0}, TensorOptions().dtype(kLong));
  const Tensor exponent = at::tensor({10, 3, 0, -5, -5, 4}, TensorOptions().dtype(kLong));
  EXPECT_EQ(list<int64_t>(at::pow(base, exponent)), (std::vector<int64_t>{1024, -8, 1, 1, -1, 0}));
  EXPECT_EQ(list<int64_t>(at::pow(base, 3)), (std::vector<int64_t>{8, -8, 27, 1, -1, 0}));
  const Tensor z = at::complex(at::tensor({3e38f, -2.f}), at::tensor({1.f, 0.1f}));
  EXPECT_TRUE(at::equal(at::pow(z, 1), z));
  EXPECT_THAT(error_of([&] { at::pow(base, -1); }), HasSubstr("negative integer powers"));
  for (double p : {0.0, 0.5, -0.5, 2.0, 3.0, -1.0, -2.0, 1.7}) {
    const Tensor x = values(kDouble, 0.1, 4);
    expect_close(
        at::pow(x, p), [&](int64_t i) { return std::pow(x.data_ptr<double>()[i], p); }, 1e-13,
        "pow");
  }
}

TEST(BinaryKernels, BoolRules) {
  const Tensor a = at::tensor({1, 0, 1, 0}).to(kBool);
  const Tensor b = at::tensor({1, 1, 0, 0}).to(kBool);
  EXPECT_EQ(list<bool>(at::add(a, b)), (std::vector<int64_t>{1, 1, 1, 0}));
  EXPECT_EQ(list<bool>(at::mul(a, b)), (std::vector<int64_t>{1, 0, 0, 0}));
  EXPECT_EQ(list<bool>(at::bitwise_xor(a, b)), (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_THAT(error_of([&] { at::sub(a, b); }), HasSubstr("logical_xor()"));
  EXPECT_THAT(error_of([&] { at::neg(a); }), HasSubstr("logical_not()"));
  EXPECT_THAT(error_of([&] { at::bitwise_and(at::ones({2}), at::ones({2})); }),
              HasSubstr("bitwise_and(): dtype 'float32' is not supported"));
  const Tensor f = at::tensor({0.0, 2.0, std::nan(""), -0.0});
  EXPECT_EQ(list<bool>(at::logical_and(f, at::ones({4}))), (std::vector<int64_t>{0, 1, 1, 0}));
}

TEST(BinaryKernels, ComplexNumbers) {
  const TensorOptions options = TensorOptions().dtype(kComplexDouble);
  const c10::complex<double> z(3, -4);
  const c10::complex<double> w(0.5, 2);
  const Tensor a = at::full({5}, Scalar(z), options);
  const Tensor b = at::full({5}, Scalar(w), options);
  const auto value = [](const Tensor& x) { return x.data_ptr<c10::complex<double>>()[4]; };
  EXPECT_EQ(value(at::mul(a, b)), z * w);
  EXPECT_EQ(value(at::add(a, b)), z + w);
  EXPECT_NEAR(std::abs(value(at::div(a, b)) - z / w), 0, 1e-15);
  EXPECT_NEAR(std::abs(value(at::exp(b)) - std::exp(w)), 0, 1e-15);
  EXPECT_EQ(at::abs(a).scalar_type(), kDouble);
  EXPECT_EQ(at_(at::abs(a), 3), 5.0);
  EXPECT_EQ(value(at::conj(a)), c10::complex<double>(3, 4));
  EXPECT_THAT(error_of([&] { at::lt(a, b); }), HasSubstr("complex"));
}

// Every number of a row is what the same step makes of it alone, rounded as often: whether it is
// computed together with others or at the end of the row.
template <typename T>
void expect_complex_rows() {
  using Z = c10::complex<T>;
  const auto same = [](T a, T b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 40, 67}) {
    Tensor a = at::empty({n}, c10::scalar_type_of_v<Z>), b = at::empty_like(a);
    Z* x = a.template data_ptr<Z>();
    Z* y = b.template data_ptr<Z>();
    for (int64_t i = 0; i < n; ++i) {
      x[i] = Z(std::sin(T(i + 1)), std::cos(T(3 * i)));
      y[i] = Z(std::cos(T(7 * i)), i % 2 == 0 ? std::sin(T(i)) : T(3) * std::sin(T(i + 2)));
      if (i % 13 == 5) y[i] = Z(T(0), T(0));
      if (i % 13 == 7) x[i] = Z(T(kInf), T(kNaN));
      if (i % 13 == 11) y[i] = Z(T(1), T(-kInf));
    }
    const auto expect = [&](const char* name, const Tensor& actual, auto f) {
      for (int64_t i = 0; i < n; ++i) {
        const Z got = actual.template data_ptr<Z>()[i], wanted = f(x[i], y[i]);
        EXPECT_TRUE(same(got.real(), wanted.real()) && same(got.imag(), wanted.imag()))
            << name << " at " << i << " of " << n << ": " << got << " and not " << wanted;
      }
    };
    expect("mul", at::mul(a, b), [](Z u, Z v) { return u * v; });
    expect("div", at::div(a, b), [](Z u, Z v) { return u / v; });
    expect("add", at::add(a, b), [](Z u, Z v) { return u + v; });
    expect("sub", at::sub(a, b), [](Z u, Z v) { return u - v; });
    expect("square", at::square(a), [](Z u, Z) { return u * u; });
    expect("neg", at::neg(a), [](Z u, Z) { return -u; });
    expect("reciprocal", at::reciprocal(b), [](Z, Z v) { return Z(T(1)) / v; });
    Tensor in_place = at::clone(a);
    in_place.mul_(b);
    expect("mul_", in_place, [](Z u, Z v) { return u * v; });
    expect("strided", at::mul(at::stack({a, b}, 1).select(1, 0), b),
           [](Z u, Z v) { return u * v; });
  }
}
TEST(BinaryKernels, ComplexNumbersInRows) {
  expect_complex_rows<float>();
  expect_complex_rows<double>();
}

// Columns for which parts of the rows are summed apart.
TEST(Reductions, ComplexColumns) {
  for (const at::ScalarType dtype : {kComplexFloat, kComplexDouble}) {
    for (const int64_t columns : {3, 512, 1030, 2051}) {
      const Tensor t = at::ones({100, columns}, dtype);
      EXPECT_EQ(t.sum({0}).sum().item<c10::complex<double>>(),
                c10::complex<double>(static_cast<double>(100 * columns), 0))
          << dtype << ' ' << columns;
    }
  }
}

// Sizes around those that go from the end; see parallel_for_in_place.
TEST(InPlace, EveryElementOnce) {
  for (const ScalarType dtype : {kByte, kBFloat16, kFloat, kDouble}) {
    for (const int64_t n : {32767, 32768, 44'000, 131'073, 262'144, 270'001, 530'001}) {
      const Tensor before = at::randint(0, 5, {n}, at::kLong).to(dtype);
      const Tensor other = at::randint(0, 5, {n}, at::kLong).to(dtype);
      Tensor tensor = at::clone(before);
      tensor.add_(other).mul_(tensor).add_(2);
      const Tensor sum = before.to(kLong).add(other.to(kLong));
      EXPECT_TRUE(at::equal(tensor.to(kLong), at::mul(sum, sum).add(2))) << dtype << ' ' << n;
    }
  }
}

// What lies behind a row is left as it is, however little of a vector its end is.
TEST(Rows, EndsOfEveryLength) {
  for (const ScalarType dtype :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kComplexFloat}) {
    for (int64_t n = 1; n <= 130; ++n) {
      const auto numbers = [&] { return at::randint(0, 5, {n}, kLong); };
      const Tensor a = numbers(), b = numbers(), memory = at::full({n + 66}, 9, kLong).to(dtype);
      Tensor product = memory.slice(0, 1, n + 1);
      at::mul_out(product, a.to(dtype), b.to(dtype));
      EXPECT_TRUE(at::equal(product, at::mul(a, b).to(dtype))) << dtype << ' ' << n;
      at::neg_out(product, product);
      EXPECT_TRUE(at::equal(product, at::mul(a, b).neg().to(dtype))) << dtype << ' ' << n;
      EXPECT_TRUE(at::equal(memory.slice(0, n + 1), at::full({65}, 9, kLong).to(dtype)))
          << dtype << ' ' << n;
    }
  }
}

// Long ones are computed from a cache line on, after what lies before it; what lies around them is
// left as it is.
TEST(Rows, OutputsThatBeginAnywhere) {
  for (const ScalarType dtype :
       {kByte, kShort, kInt, kLong, kBFloat16, kFloat, kDouble, kComplexFloat, kComplexDouble}) {
    const int64_t line = 64 / static_cast<int64_t>(c10::elementSize(dtype));
    for (const auto& [rows, columns] : {std::pair(1, 9001), {1, 33'001}, {7, 1411}, {2, 8500}}) {
      const Tensor a = at::randint(0, 5, {rows, columns}, kLong),
                   b = at::randint(0, 5, {rows, columns}, kLong),
                   row = at::randint(0, 5, {columns}, kLong), column = b.slice(1, 0, 1);
      for (const int64_t first : {int64_t{1}, line / 2 + 1, line}) {
        SCOPED_TRACE(testing::Message()
                     << dtype << ' ' << rows << " x " << columns << ' ' << first);
        const Tensor memory = at::full({rows, columns + line + 3}, 9, kLong).to(dtype);
        Tensor part = memory.slice(1, first, first + columns);
        const auto expect = [&](const Tensor& wanted) {
          EXPECT_TRUE(at::equal(part, wanted.to(dtype)));
          part.fill_(9);
          EXPECT_TRUE(at::equal(memory, at::full({rows, columns + line + 3}, 9, kLong).to(dtype)));
        };
        at::mul_out(part, a.to(dtype), b.to(dtype));
        expect(at::mul(a, b));
        at::add_out(part, a.to(dtype), row.to(dtype));
        expect(at::add(a, row));
        at::mul_out(part, column.to(dtype), a.to(dtype));
        expect(at::mul(a, column));
        at::add_out(part, a.to(dtype), b);
        expect(at::add(a, b));
        part.add_(a.to(dtype)).sub_(5);
        expect(at::add(a, 4));
        // The inputs begin at other places of lines.
        const Tensor other = at::full({rows, columns + line}, 2, kLong).to(dtype);
        at::add_out(part, other.slice(1, line - 1, line - 1 + columns), row.to(dtype));
        expect(at::add(row, 2).expand({rows, columns}));
      }
    }
  }
}

// Whole numbers, so that nothing is rounded: the same as beside a column that was copied for it.
void expect_same_as_copied(const Tensor& a, const Tensor& column, const Tensor& other) {
  const auto copied = [&](const Tensor& x) { return x.expand(a.sizes()).contiguous(); };
  EXPECT_TRUE(at::equal(at::add(a, column), at::add(a, copied(column))));
  EXPECT_TRUE(at::equal(at::sub(column, a, 2), at::sub(copied(column), a, 2)));
  EXPECT_TRUE(at::equal(at::mul(a, column), at::mul(a, copied(column))));
  EXPECT_TRUE(at::equal(at::addcmul(column, a, other, 3),
                        at::addcmul(copied(column), a, copied(other), 3)));
}

// Those of half a KB and more are not copied where kernels go by vectors.
TEST(Broadcasting, ElementsThatStandForRows) {
  for (const ScalarType dtype :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kComplexFloat}) {
    for (const auto& [rows, columns] : {std::pair(3, 1031), {20, 300}, {2, 5000}, {70, 40}}) {
      SCOPED_TRACE(testing::Message() << dtype << ", " << rows << " x " << columns);
      const auto numbers = [](IntArrayRef sizes, ScalarType as) {
        return at::randint(0, 5, sizes, kLong).to(as);
      };
      const Tensor a = numbers({rows, columns}, dtype);
      expect_same_as_copied(a, numbers({rows, 1}, dtype), numbers({rows, 1}, dtype));
      expect_same_as_copied(a, at::randint(0, 5, {rows, 1}, kLong), numbers({1, columns}, dtype));
      expect_same_as_copied(numbers({columns, rows}, dtype).t(), numbers({rows, 1}, dtype),
                            numbers({1, 1}, dtype));
      if (!c10::isFloatingType(dtype)) continue;
      // Expressions, of 16-bit floats with a loop of their own and by way of float.
      const Tensor column = numbers({rows, 1}, dtype);
      const Tensor copied = column.expand({rows, columns}).contiguous();
      EXPECT_TRUE(at::equal(at::fmax(a, column), at::fmax(a, copied)));
      EXPECT_TRUE(at::equal(at::logaddexp(column, a), at::logaddexp(copied, a)));
      EXPECT_TRUE(at::equal(at::atan2(a, column), at::atan2(a, copied)));
    }
  }
  // Written past the cache.
  const Tensor large = at::randint(0, 5, {3001, 3001}, kLong).to(kFloat);
  const Tensor column = at::randint(0, 5, {3001, 1}, kLong).to(kFloat);
  expect_same_as_copied(large, column, at::ones({3001, 1}));
}

TEST(Choosing, WhereClampMaskedFill) {
  for (ScalarType dtype :
       {kBool, kByte, kShort, kInt, kLong, kHalf, kFloat, kDouble, kComplexDouble}) {
    const Tensor a = at::ones({131}).to(dtype);
    const Tensor b = at::zeros({131}).to(dtype);
    const Tensor mask = (at::arange(131) % 3) == 0;
    EXPECT_TRUE(at::equal(at::where(mask, a, b), mask.to(dtype))) << dtype;
    EXPECT_TRUE(at::equal(b.masked_fill(mask, 1), mask.to(dtype))) << dtype;
  }
  const Tensor x = values(kFloat, -3, 3, /*special=*/true);
  const Tensor exact = x.to(kDouble);
  expect_close(
      at::clamp(x, -1, 2),
      [&](int64_t i) {
        const double v = exact.data_ptr<double>()[i];
        return std::isnan(v) ? v : std::min(std::max(v, -1.0), 2.0);
      },
      0, "clamp");
  EXPECT_EQ(at_(at::clamp(x, 3, 1), 50), 1.0);
  const Tensor bytes = at::full({3}, 9, TensorOptions().dtype(kByte));
  EXPECT_EQ(list<uint8_t>(at::clamp(bytes, -5, 300)), (std::vector<int64_t>{9, 9, 9}));
  EXPECT_EQ(at::clamp(bytes, 0.5).scalar_type(), kFloat);
  EXPECT_THAT(error_of([&] { at::clamp(bytes, std::optional<Scalar>(), std::optional<Scalar>()); }),
              HasSubstr("at least one of min and max"));
  EXPECT_THAT(error_of([&] { at::where(at::ones({3}), x, x); }), HasSubstr("bool"));
}

TEST(Choosing, TernaryArithmetic) {
  const Tensor a = values(kDouble, -3, 3);
  const Tensor b = values(kDouble, 1, 2);
  const Tensor c = values(kDouble, 3, 5);
  const auto v = [](const Tensor& x, int64_t i) { return x.data_ptr<double>()[i]; };
  expect_close(
      at::addcmul(a, b, c, 0.5), [&](int64_t i) { return v(a, i) + 0.5 * v(b, i) * v(c, i); },
      1e-15, "addcmul");
  expect_close(
      at::addcdiv(a, b, c, 2), [&](int64_t i) { return v(a, i) + 2 * v(b, i) / v(c, i); }, 1e-15,
      "addcdiv");
  for (double w : {0.0, 0.25, 0.75, 1.0}) {
    expect_close(
        at::lerp(a, c, w), [&](int64_t i) { return v(a, i) + w * (v(c, i) - v(a, i)); }, 1e-14,
        "lerp");
  }
  EXPECT_TRUE(at::equal(at::lerp(a, c, 1.0), c));
}

TEST(Casting, EveryPairOfDtypes) {
  const ScalarType dtypes[] = {kBool, kByte,     kChar,  kShort,  kInt,          kLong,
                               kHalf, kBFloat16, kFloat, kDouble, kComplexFloat, kComplexDouble};
  const Tensor x = at::tensor({0, 1, 2, 3, 100, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18});
  for (ScalarType from : dtypes) {
    for (ScalarType to : dtypes) {
      const Tensor source = x.to(from);
      for (const Tensor& layout : layouts(source)) {
        const Tensor got = layout.to(to);
        const Tensor want = from == kBool || to == kBool ? (x != 0).to(kDouble) : x.to(kDouble);
        EXPECT_TRUE(at::equal(got.to(kDouble), want)) << from << " to " << to;
      }
    }
  }
}

}  // namespace
