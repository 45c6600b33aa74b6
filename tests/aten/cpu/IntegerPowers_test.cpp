// Powers of integers against repeated products.
#include <aten/Base.h>
#include <generated/ops/pow.h>
#include <generated/ops/to.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace {

using at::Tensor;

// Every base to every exponent that has to do with how they are computed, and to numbers; more of
// them than a vector has.
template <typename T>
void expect_powers() {
  const auto power_of = [](T base, int64_t exponent) {
    if (exponent < 0)
      return base == 1 ? T(1) : base != T(-1) ? T(0) : T(exponent % 2 == 0 ? 1 : -1);
    uint64_t power = 1;
    for (; exponent > 0; --exponent) power *= static_cast<uint64_t>(base);
    return static_cast<T>(power);
  };
  const int64_t least = std::is_signed_v<T> ? -5 : 0;
  std::vector<int64_t> bases, exponents;
  for (int64_t base = least; base < 13; ++base) {
    for (const int64_t exponent : {least, least / 2, least / 5, int64_t{0}, int64_t{1}, int64_t{2},
                                   int64_t{7}, int64_t{8}, int64_t{64}, int64_t{101}}) {
      bases.push_back(base);
      exponents.push_back(exponent);
    }
  }
  const auto dtype = c10::scalar_type_of_v<T>;
  const Tensor x = at::tensor(bases).to(dtype), y = at::tensor(exponents).to(dtype);
  const Tensor powers = at::pow(x, y);
  for (size_t i = 0; i < bases.size(); ++i) {
    const auto base = static_cast<T>(bases[i]);
    ASSERT_EQ(powers.data_ptr<T>()[i], power_of(base, exponents[i]))
        << dtype << ": " << bases[i] << " to " << exponents[i];
  }
  for (const int64_t exponent : {0, 1, 2, 3, 4, 7, 16, 33, 101}) {
    const Tensor same = at::pow(x, exponent);
    for (size_t i = 0; i < bases.size(); ++i) {
      ASSERT_EQ(same.data_ptr<T>()[i], power_of(static_cast<T>(bases[i]), exponent))
          << dtype << ": " << bases[i] << " to " << exponent;
    }
  }
}

TEST(IntegerPowers, OfEveryDtype) {
  expect_powers<uint8_t>();
  expect_powers<int8_t>();
  expect_powers<int16_t>();
  expect_powers<int32_t>();
  expect_powers<int64_t>();
}

}  // namespace
