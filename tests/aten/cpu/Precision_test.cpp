// The error of the mathematical functions in units in the last place (ULP), for the instruction set
// at hand. Tolerances of a test of values are wide enough to hide a wrong coefficient; the bounds
// of Precision.h are what the functions promise.
#include <generated/ops/_log_softmax_backward_data.h>
#include <generated/ops/abs.h>
#include <generated/ops/atan2.h>
#include <generated/ops/cat.h>
#include <generated/ops/complex.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/hypot.h>
#include <generated/ops/log_softmax.h>
#include <generated/ops/narrow.h>
#include <generated/ops/nextafter.h>
#include <generated/ops/ones_like.h>
#include <generated/ops/softmax.h>
#include <generated/ops/stack.h>
#include <generated/ops/t.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/zeros.h>
#include <generated/ops/zeros_like.h>
#include <gtest/gtest.h>
#include <tests/aten/cpu/Precision.h>

#include <bit>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace precision;

template <typename T>
Tensor tensor_of(std::vector<T>& values) {
  return precision::tensor_of(values.data(), values.size());
}

// A sample of all bit patterns, small and large steps of the exponent alike, and what lies at the
// edges.
std::vector<float> floats() {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 4093) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  // Denser where results change most, and near the ends of the domains.
  for (int i = -120000; i <= 120000; ++i) values.push_back(static_cast<float>(i) * 0.00093f);
  using Limits = std::numeric_limits<float>;
  for (float edge :
       {0.0f, Limits::min(), Limits::max(), 1.0f, 88.72284f, 87.33655f, 103.97208f, 104.0f, 127.5f,
        128.0f, 0.5f, 2.0f, 1.5707964f, 3.1415927f, 9.0f, 17.0f, 87.0f, 0.40546511f, 0.28768207f}) {
    for (float x : {edge, std::nextafter(edge, Limits::infinity()), std::nextafter(edge, -1.0f)}) {
      values.push_back(x);
      values.push_back(-x);
    }
  }
  for (float x : {Limits::infinity(), Limits::denorm_min(), Limits::quiet_NaN()}) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

std::vector<double> doubles() {
  std::vector<double> values;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) values.push_back(std::bit_cast<double>(random()));
  std::uniform_real_distribution<double> uniform(-750, 750);
  for (int i = 0; i < 20000; ++i) values.push_back(uniform(random));
  for (int i = 0; i < 20000; ++i) values.push_back(uniform(random) / 256);
  // Shares, and such that little is left of 1.
  for (int i = 0; i < 20000; ++i) values.push_back(uniform(random) / 750);
  for (int i = 0; i < 20000; ++i) values.push_back(1 - std::exp2(uniform(random) / 14));
  // Near 0 and above 1, and numbers that are not normal.
  for (int i = 0; i < 20000; ++i) {
    const double small = std::exp2(-std::abs(uniform(random)) / 14);
    for (double x : {small, -small, 1 + small}) values.push_back(x);
  }
  for (int i = 0; i < 1000; ++i) {
    values.push_back(std::bit_cast<double>(random() & 0x800fffffffffffff));
  }
  using Limits = std::numeric_limits<double>;
  for (double x : {0.0, 1.0, Limits::min(), Limits::max(), Limits::denorm_min(), Limits::infinity(),
                   Limits::quiet_NaN(), 1e-300}) {
    values.push_back(x);
    values.push_back(-x);
  }
  for (double edge : {0x1p-28, 0.28768207245178096, 0.40546510810816438, 0.41421356237309503, 0.5,
                      0.70710678118654752, 1., 1.4142135623730951, 20.5, 37., 38., 709.78,
                      710.47586007394386, 745.13, 1023.5, 1024., 1074.5, 1075., 0x1p60}) {
    for (double x : {edge, std::nextafter(edge, 0.), std::nextafter(edge, 2000.)}) {
      values.push_back(x);
      values.push_back(-x);
    }
  }
  return values;
}

// The largest error of results against reference(i), and where it is.
template <typename T, typename Reference>
void expect_precise(const char* name, const Tensor& result, const Bound& bound,
                    const std::vector<T>& inputs, const Reference& reference) {
  const T* got = result.const_data_ptr<T>();
  ASSERT_EQ(static_cast<size_t>(result.numel()), inputs.size());
  double worst = 0;
  size_t place = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto expected = reference(i);
    const double error = bound.error(got[i], expected);
    if (error > worst) {
      worst = error;
      place = i;
    }
  }
  EXPECT_LE(worst, bound.ulp()) << name << "(" << inputs[place] << ") is " << got[place] << ", not "
                                << static_cast<double>(reference(place));
}

TEST(Precision, FunctionsOfFloat) {
  std::vector<float> inputs = floats();
  for (const Function& f : kFunctions) {
    const Tensor result = f.function(tensor_of(inputs));
    expect_precise(f.name, result, f.float32, inputs,
                   [&](size_t i) { return f.reference_of_float(inputs[i]); });
  }
}

TEST(Precision, FunctionsOfDouble) {
  std::vector<double> inputs = doubles();
  for (const Function& f : kFunctions) {
    const Tensor result = f.function(tensor_of(inputs));
    expect_precise(f.name, result, f.float64, inputs,
                   [&](size_t i) { return f.reference(inputs[i]); });
  }
}

// Rounding is all there should be to see, half a ULP; see Note [Short forms].
template <typename T>
void expect_every_number_of_16_bits() {
  std::vector<T> inputs;
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    inputs.push_back(T(static_cast<uint16_t>(bits), T::from_bits()));
  }
  // Each among numbers of other sizes.
  const auto place_of = [](size_t i) { return i * 40503 % (1 << 16); };
  std::vector<T> mixed;
  for (size_t i = 0; i < inputs.size(); ++i) mixed.push_back(inputs[place_of(i)]);
  for (const Function& f : kFunctions) {
    const Tensor result = f.function(tensor_of(inputs));
    const Bound bound{0.53, 0.53, f.float32.default_absolute, f.float32.vector_absolute};
    const auto reference = [&](size_t i) {
      return f.reference_of_float(static_cast<float>(inputs[i]));
    };
    expect_precise(f.name, result, bound, inputs, reference);
    size_t other_signs = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const double expected = reference(i);
      const T got = result.const_data_ptr<T>()[i];
      const bool is_zero = static_cast<float>(got) == 0 && bound.absolute() == 0;
      other_signs += is_zero && std::signbit(static_cast<float>(got)) != std::signbit(expected);
    }
    EXPECT_EQ(other_signs, 0) << f.name;
    const Tensor of_mixed = f.function(tensor_of(mixed));
    size_t different = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const T a = of_mixed.const_data_ptr<T>()[i], b = result.const_data_ptr<T>()[place_of(i)];
      different +=
          a.x != b.x && !(std::isnan(static_cast<float>(a)) && std::isnan(static_cast<float>(b)));
    }
    EXPECT_EQ(different, 0) << f.name << ": neighbours matter";
  }
}
TEST(Precision, EveryNumberOf16Bits) {
  expect_every_number_of_16_bits<c10::Half>();
  expect_every_number_of_16_bits<c10::BFloat16>();
}

// Every pair of numbers at which a function of two may go another way.
template <typename T>
std::pair<std::vector<T>, std::vector<T>> pairs_of_edges() {
  using Limits = std::numeric_limits<T>;
  const T whole = T(int64_t(1) << Limits::digits);  // and all above are
  std::vector<T> edges;
  for (T x : {T(0),
              Limits::denorm_min(),
              Limits::min() / 128,
              Limits::min(),
              Limits::epsilon() / 4,
              T(0.5),
              std::nextafter(T(1), T(0)),
              T(1),
              std::nextafter(T(1), T(2)),
              T(1.5),
              T(2),
              T(3),
              T(4),
              T(5),
              T(1001),
              whole / 2 - T(0.5),
              whole - 1,
              whole,
              Limits::max(),
              Limits::infinity(),
              Limits::quiet_NaN()}) {
    edges.push_back(x);
    edges.push_back(-x);
  }
  std::pair<std::vector<T>, std::vector<T>> pairs;
  for (T x : edges) {
    for (T y : edges) {
      pairs.first.push_back(x);
      pairs.second.push_back(y);
    }
  }
  return pairs;
}

template <typename T, typename Wide>
void expect_pow_at_the_edges() {
  auto [x, y] = pairs_of_edges<T>();
  const Tensor result = at::pow(tensor_of(x), tensor_of(y));
  for (size_t i = 0; i < x.size(); ++i) {
    const T got = result.const_data_ptr<T>()[i];
    const Wide expected = std::pow(static_cast<Wide>(x[i]), static_cast<Wide>(y[i]));
    EXPECT_LE(error_in_ulp(got, expected), 1) << "pow(" << x[i] << ", " << y[i] << ") is " << got;
    if (!std::isnan(got)) {
      EXPECT_EQ(std::signbit(got), std::signbit(expected)) << x[i] << ", " << y[i];
    }
  }
}
TEST(Precision, PowAtTheEdges) {
  expect_pow_at_the_edges<float, double>();
  expect_pow_at_the_edges<double, long double>();
}

// Bases and exponents of which the powers are numbers of any size.
TEST(Precision, PowOfDouble) {
  constexpr Bound bound{1, 1};
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> x, y;
  for (int i = 0; i < 100000; ++i) {
    // The base is far from 1 or, in odd steps, near.
    const double log = i % 2 == 0 ? 700 * uniform(random) : std::exp2(40 * uniform(random) - 40);
    x.push_back(std::exp(log));
    y.push_back(740 * uniform(random) / std::log(x.back()));
    if (!std::isfinite(y.back())) y.back() = uniform(random);
  }
  expect_precise("pow", at::pow(tensor_of(x), tensor_of(y)), bound, x, [&](size_t i) {
    return std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i]));
  });
}

// Of two numbers, and as the absolute value of a complex one.
template <typename T, typename Wide>
void expect_hypot() {
  auto [x, y] = pairs_of_edges<T>();
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 30000; ++i) {
    // Of all sizes, and apart by less than the digits of T.
    const double size = std::numeric_limits<T>::max_exponent * uniform(random);
    x.push_back(static_cast<T>(std::exp2(size)));
    y.push_back(static_cast<T>(std::exp2(size + 60 * uniform(random))));
  }
  const auto exact = [&](size_t i) {
    return std::hypot(static_cast<Wide>(x[i]), static_cast<Wide>(y[i]));
  };
  expect_precise("hypot", at::hypot(tensor_of(x), tensor_of(y)), {1, 1}, x, exact);
  expect_precise("abs", at::abs(at::complex(tensor_of(x), tensor_of(y))), {1, 1}, x, exact);
}
TEST(Precision, Hypot) {
  expect_hypot<float, double>();
  expect_hypot<double, long double>();
}

template <typename T, typename Wide>
void expect_atan2_at_the_edges() {
  constexpr Bound bound{1.5, 1};
  auto [y, x] = pairs_of_edges<T>();
  const Tensor result = at::atan2(tensor_of(y), tensor_of(x));
  for (size_t i = 0; i < x.size(); ++i) {
    const T got = result.const_data_ptr<T>()[i];
    const Wide expected = std::atan2(static_cast<Wide>(y[i]), static_cast<Wide>(x[i]));
    EXPECT_LE(error_in_ulp(got, expected), bound.ulp())
        << "atan2(" << y[i] << ", " << x[i] << ") is " << got;
    if (!std::isnan(got)) {
      EXPECT_EQ(std::signbit(got), std::signbit(expected)) << y[i] << ", " << x[i];
    }
  }
}
TEST(Precision, Atan2AtTheEdges) {
  expect_atan2_at_the_edges<float, double>();
  expect_atan2_at_the_edges<double, long double>();
}

// Angles of all sizes, in all quarters, and near the eighths of a turn where the computation
// changes.
TEST(Precision, Atan2OfDouble) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> y, x;
  for (int i = 0; i < 300000; ++i) {
    const double size = i % 3 == 0 ? std::exp2(985 * uniform(random) - 85) : 1;
    const double angle = i % 4 == 0   ? std::round(8 * uniform(random)) * 0.39269908169872414
                         : i % 4 == 1 ? std::exp2(60 * uniform(random) - 60)
                                      : 3.1415926535897931 * uniform(random);
    const double apart = i % 4 == 0 ? std::exp2(50 * uniform(random) - 50) : 0;
    y.push_back(size * std::sin(angle + apart));
    x.push_back(size * std::cos(angle + apart));
  }
  expect_precise("atan2", at::atan2(tensor_of(y), tensor_of(x)), {1, 1}, y, [&](size_t i) {
    return std::atan2(static_cast<long double>(y[i]), static_cast<long double>(x[i]));
  });
}

// Square roots are the rounded ones, as IEEE 754 has it, though every other vector may be without
// the processor's: of every float, up to powers of 4.
template <typename T>
void expect_rounded_roots(std::vector<T> x) {
  const Tensor numbers = tensor_of(x);
  const auto size = static_cast<int64_t>(x.size());
  constexpr int64_t kVec = 64 / sizeof(T);
  for (const int64_t start : {int64_t{0}, kVec}) {
    const Tensor roots = at::sqrt(numbers.narrow(0, start, size - start));
    const T* root = roots.const_data_ptr<T>() - start;
    int64_t wrong = 0, first = 0;
    for (int64_t i = start; i < size; ++i) {
      if (root[i] == T(std::sqrt(static_cast<c10::opmath_type<T>>(x[i])))) continue;
      if (wrong++ == 0) first = i;
    }
    EXPECT_EQ(wrong, 0) << "of " << size << ", the first one that of " << x[first];
  }
}
TEST(Precision, RootsOfFloat) {
  for (const int exponent : {-124, -50, 0, 124}) {
    std::vector<float> x;
    for (uint32_t bits = 0x3f800000; bits < 0x40800000; ++bits) {  // 1 to 4
      x.push_back(std::ldexp(std::bit_cast<float>(bits), exponent));
    }
    expect_rounded_roots(x);
  }
}

// Of every number of 16 bits without a sign but NaN, which is not equal to itself.
template <typename T>
void expect_rounded_roots_of_16_bits() {
  std::vector<T> x;
  for (uint32_t bits = 0; bits < 1 << 15; ++bits) {
    const T number(static_cast<uint16_t>(bits), T::from_bits());
    if (!std::isnan(static_cast<float>(number))) x.push_back(number);
  }
  expect_rounded_roots(x);
}
TEST(Precision, RootsOf16Bits) {
  expect_rounded_roots_of_16_bits<c10::Half>();
  expect_rounded_roots_of_16_bits<c10::BFloat16>();
}

// Those as near as can be to the middle between two numbers: m is twice that and odd, and x 2^p is
// m^2 - c for a small c. Of c = 1 modulo 8 there are four roots modulo any power of 2, each of
// which gives one modulo the next.
TEST(Precision, RootsOfDoubleNextToTheMiddle) {
  std::vector<double> x;
  for (int64_t c = -15999; c < 16000; c += 8) {
    for (const int p : {54, 55}) {
      uint64_t root = 1;
      for (int bit = 3; bit < p; ++bit) {
        const uint64_t mask = (uint64_t{2} << bit) - 1;
        if (((root * root - static_cast<uint64_t>(c)) & mask) != 0)
          root += uint64_t{1} << (bit - 1);
      }
      const uint64_t modulus = uint64_t{1} << p;
      for (const uint64_t m : {root, modulus - root, root + modulus / 2, 3 * modulus / 2 - root}) {
        const uint64_t middle = m % modulus;
        const auto product = static_cast<unsigned __int128>(middle) * middle - c;
        const auto number = static_cast<uint64_t>(product >> p);
        if (number >> 52 != 1) continue;
        ASSERT_EQ(static_cast<unsigned __int128>(number) << p, product);
        x.push_back(static_cast<double>(number) * (p == 55 ? 2 : 1));
      }
    }
  }
  ASSERT_GT(x.size(), 4000);
  for (const int exponent : {-1070, -400, 0, 900}) {
    std::vector<double> scaled;
    for (const double number : x) scaled.push_back(std::ldexp(number, exponent));
    expect_rounded_roots(scaled);
  }
}

// Numbers that need another way through a function take their Vec along, and that must not change
// the results of those beside them.
template <typename T>
void expect_no_neighbours(std::vector<T> mixed) {
  constexpr size_t kAlike = 32;  // two Vecs of any kind
  std::vector<T> alike;
  std::shuffle(mixed.begin(), mixed.end(), std::mt19937(2));
  mixed.resize(40000);
  using Limits = std::numeric_limits<T>;
  const T unusual[] = {
      Limits::infinity(), T(-0.0), -Limits::infinity(), T(-2.5), Limits::min() / 8, T(-50), T(200)};
  for (size_t i = 0; i < mixed.size(); i += 5) mixed[i] = unusual[i / 5 % std::size(unusual)];
  for (size_t i = 1; i < mixed.size(); i += 5) mixed[i] = std::abs(std::remainder(mixed[i], T(6)));
  for (T x : mixed) alike.insert(alike.end(), kAlike, x);
  const Tensor x = tensor_of(mixed), y = tensor_of(alike);
  const auto expect_same = [&](const char* name, const Tensor& of_x, const Tensor& of_y) {
    size_t different = 0;
    for (size_t i = 0; i < mixed.size(); ++i) {
      const T a = of_x.const_data_ptr<T>()[i];
      const T b = of_y.const_data_ptr<T>()[i * kAlike];
      different += a != b && !(std::isnan(a) && std::isnan(b));
    }
    EXPECT_EQ(different, 0) << name;
  };
  for (const Function& f : kFunctions) expect_same(f.name, f.function(x), f.function(y));
  expect_same("atan2", at::atan2(at::ones_like(x), x), at::atan2(at::ones_like(y), y));
}
TEST(Precision, NeighboursDoNotMatter) {
  expect_no_neighbours(floats());
  expect_no_neighbours(doubles());
}

// Far below 0 there is another form; neither it nor nan changes what lies beside.
TEST(Precision, GeluOfFewFarNumbers) {
  constexpr int64_t kCount = 5000, kLanes = 16;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float expected[] = {-5.919526e-9f, -0.f, nan, nan, 7.f};
  const float numbers[] = {-6.f, -200.f, -std::numeric_limits<float>::infinity(), nan, 7.f};
  for (int64_t first = 1; first < kCount - 4 * kLanes; first += 333) {
    std::vector<float> x(kCount, 1.f);
    for (int i = 0; i < 5; ++i) x[first + i * kLanes] = numbers[i];
    const bool one_beside = first % 2 == 1;  // in other lanes
    if (one_beside) x[first + 4 * kLanes - 1] = -6.f;
    Tensor input = tensor_of(x);
    const Tensor result = at::gelu(input);
    at::gelu_(input);
    for (const Tensor& y : {result, input}) {
      const float* got = y.const_data_ptr<float>();
      for (int i = 0; i < 5; ++i) {
        const float value = got[first + i * kLanes];
        if (std::isnan(expected[i])) {
          EXPECT_TRUE(std::isnan(value)) << i;
        } else {
          EXPECT_NEAR(value, expected[i], std::abs(expected[i]) * 2e-7f) << i;
        }
      }
      EXPECT_EQ(got[first + 4 * kLanes - 1], one_beside ? got[first] : got[0]);
      EXPECT_NEAR(got[kCount - 1], 0.8413447f, 2e-7f);
    }
  }
}

TEST(Precision, NextafterIsExact) {
  auto [x, y] = pairs_of_edges<float>();
  const Tensor result = at::nextafter(tensor_of(x), tensor_of(y));
  std::vector<double> wide_x(x.begin(), x.end()), wide_y(y.begin(), y.end());
  const Tensor wide_result = at::nextafter(tensor_of(wide_x), tensor_of(wide_y));
  for (size_t i = 0; i < x.size(); ++i) {
    const float got = result.const_data_ptr<float>()[i];
    const double wide_got = wide_result.const_data_ptr<double>()[i];
    if (std::isnan(x[i]) || std::isnan(y[i])) {
      EXPECT_TRUE(std::isnan(got) && std::isnan(wide_got)) << x[i] << ", " << y[i];
      continue;
    }
    EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(std::nextafter(x[i], y[i])))
        << x[i] << ", " << y[i];
    EXPECT_EQ(std::bit_cast<uint64_t>(wide_got),
              std::bit_cast<uint64_t>(std::nextafter(wide_x[i], wide_y[i])))
        << x[i] << ", " << y[i];
  }
}

// Zeros keep their sign where the function goes through 0.
template <typename T>
void expect_signs_of_zeros() {
  std::vector<T> zeros = {T(0.0), T(-0.0)};
  for (auto f : {at::asin, at::asinh, at::atan, at::atanh, at::erf, at::expm1, at::log1p, at::sin,
                 at::sinh, at::tan, at::tanh}) {
    const Tensor result = f(tensor_of(zeros));
    EXPECT_FALSE(std::signbit(result.const_data_ptr<T>()[0]));
    EXPECT_TRUE(std::signbit(result.const_data_ptr<T>()[1]));
  }
}
TEST(Precision, SignOfZero) {
  expect_signs_of_zeros<float>();
  expect_signs_of_zeros<double>();
}

// softmax has loops of its own around exp. With a gradient that is 1 once and 0 elsewhere, the
// gradient of log_softmax is -exp(output) at the zeros, exactly as the function gives it.
template <typename T>
Tensor exp_of_softmax(const Tensor& x, bool in_rows) {
  const int64_t n = x.numel();
  if (in_rows) {
    const Tensor grad = at::zeros({1, n + 1}, x.options());
    grad.select(1, n).fill_(1);
    const Tensor y = at::cat({x, at::zeros({1}, x.options())}).unsqueeze(0);
    return at::_log_softmax_backward_data(grad, y, 1, x.scalar_type())
        .select(0, 0)
        .narrow(0, 0, n)
        .neg();
  }
  const Tensor grad = at::stack({at::zeros_like(x), at::ones_like(x)});
  const Tensor y = at::stack({x, at::zeros_like(x)});
  return at::_log_softmax_backward_data(grad, y, 0, x.scalar_type()).select(0, 0).neg();
}

TEST(Precision, ExpOfSoftmax) {
  // Without fused operations, as with DEFAULT, a little is lost.
  constexpr Bound bound{1.5, 1};
  std::vector<float> inputs = floats();
  std::vector<double> wide_inputs = doubles();
  for (bool in_rows : {true, false}) {
    expect_precise("exp", exp_of_softmax<float>(tensor_of(inputs), in_rows), bound, inputs,
                   [&](size_t i) { return std::exp(static_cast<double>(inputs[i])); });
    expect_precise("exp", exp_of_softmax<double>(tensor_of(wide_inputs), in_rows), bound,
                   wide_inputs,
                   [&](size_t i) { return std::exp(static_cast<long double>(wide_inputs[i])); });
  }
}

// Of pairs (x, 0), with x below 0.
TEST(Precision, SoftmaxAndLogSoftmax) {
  std::vector<float> inputs;
  for (float x : floats()) {
    if (x <= 0 && x > -100) inputs.push_back(x);
  }
  const Tensor x = tensor_of(inputs);
  const Tensor pairs = at::stack({x, at::zeros_like(x)});
  for (const Tensor& t : {pairs, pairs.t().contiguous().t()}) {
    const Tensor soft = t.softmax(0).select(0, 0).contiguous();
    // exp 1.5, its sum and the quotient 0.5 each
    expect_precise("softmax", soft, {2.5, 2.5}, inputs,
                   [&](size_t i) { return 1 / (1 + std::exp(-static_cast<double>(inputs[i]))); });
    const Tensor log = t.log_softmax(0).select(0, 0).contiguous();
    expect_precise("log_softmax", log, {2.5, 2.5}, inputs, [&](size_t i) {
      const double e = static_cast<double>(inputs[i]);
      return e - std::log1p(std::exp(e));
    });
  }
}

}  // namespace
