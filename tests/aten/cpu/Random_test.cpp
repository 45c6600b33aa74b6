// Random numbers: the same for every layout and instruction set, and of the right distribution.
#include <aten/Base.h>
#include <c10/core/Generator.h>
#include <c10/core/Philox.h>
#include <generated/ops/bernoulli.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/empty.h>
#include <generated/ops/equal.h>
#include <generated/ops/full.h>
#include <generated/ops/normal.h>
#include <generated/ops/randint.h>
#include <generated/ops/randperm.h>
#include <generated/ops/select.h>
#include <generated/ops/t.h>
#include <generated/ops/to.h>
#include <generated/ops/uniform.h>
#include <generated/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace {

using namespace at;

c10::PhiloxState next_state() {
  // The state that the following kernel will take, read without moving the generator on.
  const uint64_t seed = 0x123456789abcdef;
  at::manual_seed(seed);
  c10::default_generator().next_philox(3);
  const c10::PhiloxState state = c10::default_generator().next_philox(1);
  at::manual_seed(seed);
  c10::default_generator().next_philox(3);
  return state;
}

TEST(Random, UniformIsPhilox) {
  const int64_t n = 1300;
  const c10::PhiloxState state = next_state();
  const Tensor f = at::empty({n}, TensorOptions().dtype(kFloat)).uniform_();
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(f.data_ptr<float>()[i],
              c10::uint32_to_uniform_float(c10::philox_uint32(state, static_cast<uint64_t>(i))));
  }
  next_state();
  const Tensor d = at::empty({n}, TensorOptions().dtype(kDouble)).uniform_();
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(d.data_ptr<double>()[i],
              c10::uint64_to_uniform_double(c10::philox_uint64(state, static_cast<uint64_t>(i))));
  }
}

TEST(Random, PermutationsAreExchangesInTurn) {
  const int64_t n = 1300;  // pieces of 512, and a rest
  const c10::PhiloxState state = next_state();
  std::vector<int64_t> expected(static_cast<size_t>(n));
  std::iota(expected.begin(), expected.end(), 0);
  for (int64_t i = 0; i < n; ++i) {
    const auto draw =
        static_cast<unsigned __int128>(c10::philox_uint64(state, static_cast<uint64_t>(i)));
    const auto ahead = static_cast<int64_t>(draw * static_cast<uint64_t>(n - i) >> 64);
    std::swap(expected[static_cast<size_t>(i)], expected[static_cast<size_t>(i + ahead)]);
  }
  for (ScalarType dtype : {kLong, kInt, kShort}) {
    next_state();
    const Tensor x = at::randperm(n, dtype).to(kLong);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(x.data_ptr<int64_t>()[i], expected[static_cast<size_t>(i)]) << dtype;
    }
  }
}

TEST(Random, EachElementHasItsProbability) {
  const int64_t n = 1300;
  const c10::PhiloxState state = next_state();
  const Tensor draws = at::empty({n}, TensorOptions().dtype(kDouble));
  for (int64_t i = 0; i < n; ++i) {
    draws.data_ptr<double>()[i] =
        c10::philox_uint32(state, static_cast<uint64_t>(i)) * std::ldexp(1., -32);
  }
  for (ScalarType dtype : {kDouble, kFloat, kBFloat16}) {
    const Tensor p = at::empty({n}, TensorOptions().dtype(dtype)).uniform_();
    const Tensor wide = p.to(kDouble);
    // Of the given layout, and gathered from every other element of twice as many.
    const Tensor apart = at::zeros({n, 2}, TensorOptions().dtype(dtype)).select(1, 1);
    Tensor(apart).copy_(p);
    for (const Tensor& probabilities : {p, apart}) {
      next_state();
      const Tensor x = at::empty({n}, TensorOptions().dtype(kByte)).bernoulli_(probabilities);
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(x.data_ptr<uint8_t>()[i],
                  draws.data_ptr<double>()[i] < wide.data_ptr<double>()[i])
            << dtype << ' ' << i;
      }
    }
  }
  // One probability for all, among them that of a draw itself, which is not below it.
  const double drawn = draws.data_ptr<double>()[3];
  for (ScalarType dtype : {kByte, kBool, kHalf, kBFloat16, kFloat, kLong, kComplexDouble}) {
    for (double p : {0.0, 1.0, 0.3, drawn, std::nextafter(drawn, 1.0)}) {
      next_state();
      const Tensor x =
          at::empty({n}, TensorOptions().dtype(dtype)).bernoulli_(p).to(kComplexDouble);
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(x.data_ptr<c10::complex<double>>()[i],
                  c10::complex<double>(draws.data_ptr<double>()[i] < p))
            << dtype << ' ' << p << ' ' << i;
      }
    }
  }
  for (double wrong : {-0.01, 1.01, std::nan("")}) {
    const Tensor p = at::full({n}, 0.5);
    p.data_ptr<float>()[n - 1] = static_cast<float>(wrong);
    const Tensor x = at::full({n}, 7);
    EXPECT_ANY_THROW(Tensor(x).bernoulli_(p));
    EXPECT_TRUE(at::equal(x, at::full({n}, 7)));
  }
}

TEST(Random, NormalIsTheSameOnEveryMachine) {
  // A checksum of the bits, which DEFAULT and AVX2 kernels agreed on.
  at::manual_seed(7);
  const Tensor x = at::empty({100000}, TensorOptions().dtype(kFloat)).normal_();
  uint64_t hash = 1469598103934665603u;
  for (int64_t i = 0; i < x.numel(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, x.data_ptr<float>() + i, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  EXPECT_EQ(hash, 3476469237011421564u);
}

TEST(Random, LayoutDoesNotMatter) {
  at::manual_seed(1);
  const Tensor dense = at::empty({40, 50}, TensorOptions().dtype(kFloat)).normal_();
  at::manual_seed(1);
  Tensor transposed = at::empty({50, 40}, TensorOptions().dtype(kFloat)).t();
  transposed.normal_();
  EXPECT_TRUE(at::equal(dense, transposed));
}

TEST(Random, ThreadsDoNotMatter) {
  const int threads = at::get_num_threads();
  at::manual_seed(3);
  const Tensor many = at::empty({100000}, TensorOptions().dtype(kDouble)).normal_();
  at::set_num_threads(1);
  at::manual_seed(3);
  const Tensor one = at::empty({100000}, TensorOptions().dtype(kDouble)).normal_();
  at::set_num_threads(threads);
  EXPECT_TRUE(at::equal(many, one));
}

void expect_moments(const Tensor& x, double mean, double variance) {
  const int64_t n = x.numel();
  const Tensor d = x.to(kDouble).contiguous();
  double sum = 0;
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double value = d.data_ptr<double>()[i];
    sum += value;
    squares += value * value;
  }
  const double got_mean = sum / static_cast<double>(n);
  const double got_variance = squares / static_cast<double>(n) - got_mean * got_mean;
  EXPECT_NEAR(got_mean, mean, 6 * std::sqrt(variance / static_cast<double>(n)));
  EXPECT_NEAR(got_variance, variance, 0.03 * variance + 1e-12);
}

TEST(Random, Moments) {
  at::manual_seed(11);
  for (ScalarType dtype : {kFloat, kDouble, kHalf}) {
    const auto x = [&] { return at::empty({200000}, TensorOptions().dtype(dtype)); };
    expect_moments(x().uniform_(), 0.5, 1.0 / 12);
    expect_moments(x().normal_(1.0, 2.0), 1.0, 4.0);
    expect_moments(x().bernoulli_(0.25), 0.25, 0.1875);
  }
  const Tensor r = at::randint(-3, 7, {200000});
  expect_moments(r, 1.5, 99.0 / 12);
}

TEST(Random, UniformStaysBelowItsEnd) {
  at::manual_seed(5);
  for (ScalarType dtype : {kFloat, kHalf, kBFloat16}) {
    const Tensor x = at::empty({100000}, TensorOptions().dtype(dtype)).uniform_();
    const Tensor f = x.to(kFloat);
    for (int64_t i = 0; i < f.numel(); ++i) {
      ASSERT_GE(f.data_ptr<float>()[i], 0.0f);
      ASSERT_LT(f.data_ptr<float>()[i], 1.0f);
    }
  }
}

}  // namespace
