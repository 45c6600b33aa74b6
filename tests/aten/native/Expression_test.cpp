// What expression operators call, with more outputs than the operators of the tree have.
#include "Testing.h"

#include <aten/iterator/Cast.h>
#include <aten/iterator/DenseRows.h>
#include <aten/native/Expression.h>
#include <generated/ops/expand.h>
#include <generated/ops/randint.h>
#include <generated/ops/t.h>

#include <array>
#include <tuple>
#include <vector>

namespace {

using namespace testing_native;  // NOLINT
using at::Scalar;
using at::ScalarType;
using at::Tensor;

constexpr int kOutputs = 7;
constexpr int kInputs = 8;

// outputs[k] = (k + 1) * inputs[k] + inputs[7]
template <typename T>
void weighted_row(char* const* data, int64_t n, uint32_t repeated) {
  const auto element = [&](int k, int64_t i) {
    constexpr int64_t kElements = at::detail::kRepeatedBytes / int64_t{sizeof(T)};
    return reinterpret_cast<const T*>(data[k])[(repeated >> k & 1) != 0 ? i % kElements : i];
  };
  for (int k = 0; k < kOutputs; ++k) {
    T* out = reinterpret_cast<T*>(data[k]);
    for (int64_t i = 0; i < n; ++i) {
      out[i] =
          static_cast<T>(k + 1) * element(kOutputs + k, i) + element(kOutputs + kInputs - 1, i);
    }
  }
}

template <typename T>
void weighted_rows(char* const* data, const int64_t* steps, int64_t n, int64_t rows,
                   uint32_t repeated, const Scalar*) {
  at::detail::row_by_row<kOutputs + kInputs> (&weighted_row<T>)(data, steps, n, rows, repeated);
}

// Whole numbers so small that every dtype computes without rounding.
Tensor small_numbers(at::IntArrayRef shape, ScalarType dtype) {
  return at::randint(-5, 6, shape, at::kDouble).to(dtype);
}

// The dtype, and what the loop does with elements that are repeated.
class ManyOutputsTest : public testing::TestWithParam<std::tuple<ScalarType, at::detail::Repeats>> {
};

TEST_P(ManyOutputsTest, EveryLayout) {
  const auto [dtype, repeats] = GetParam();
  at::native::ExpressionKernel kernel{&at::native::run_expression};
  kernel.add(ScalarType::Float, &weighted_rows<float>, repeats);
  kernel.add(ScalarType::Double, &weighted_rows<double>, repeats);
  at::manual_seed(3);
  for (const int64_t rows : {1, 3, 70}) {
    for (const int64_t columns : {1, 5, 300, 1200}) {
      std::array<Tensor, kInputs> in;
      for (int k = 0; k < kInputs; ++k) {
        // Dense, transposed, a repeated row, a repeated column.
        in[k] = k % 4 == 0   ? small_numbers({rows, columns}, dtype)
                : k % 4 == 1 ? small_numbers({columns, rows}, dtype).t()
                : k % 4 == 2 ? small_numbers({1, columns}, dtype)
                             : small_numbers({rows, 1}, dtype);
      }
      std::array<Tensor, kOutputs> out;
      at::native::compute_expression(
          "many", &kernel, {&out[0], &out[1], &out[2], &out[3], &out[4], &out[5], &out[6]},
          {&in[0], &in[1], &in[2], &in[3], &in[4], &in[5], &in[6], &in[7]}, nullptr,
          {at::native::ExpressionTraits::Promotion::Same, /*integers=*/false, /*complex=*/false});
      const Doubles last = doubles(in[7].expand({rows, columns}));
      for (int k = 0; k < kOutputs; ++k) {
        Doubles expected = doubles(in[k].expand({rows, columns}));
        for (size_t i = 0; i < expected.size(); ++i) expected[i] = (k + 1) * expected[i] + last[i];
        EXPECT_EQ(doubles(out[k]), expected) << rows << 'x' << columns << ", output " << k;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, ManyOutputsTest,
                         testing::Combine(testing::Values(at::kFloat, at::kDouble, at::kBFloat16),
                                          testing::Values(at::detail::Repeats::No,
                                                          at::detail::Repeats::Rows)),
                         [](const auto& info) {
                           const bool repeats = std::get<1>(info.param) != at::detail::Repeats::No;
                           return std::string(c10::toString(std::get<0>(info.param))) +
                                  (repeats ? "Repeated" : "");
                         });

}  // namespace
