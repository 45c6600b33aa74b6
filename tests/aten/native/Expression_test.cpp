// What expression operators call, with more outputs than the operators of the tree have.
#include "Testing.h"

#include <aten/native/Expression.h>
#include <generated/ops/expand.h>
#include <generated/ops/randint.h>
#include <generated/ops/t.h>

#include <array>
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
void weighted_row(char** data, int64_t n, const Scalar*) {
  for (int k = 0; k < kOutputs; ++k) {
    T* out = reinterpret_cast<T*>(data[k]);
    const T* in = reinterpret_cast<const T*>(data[kOutputs + k]);
    const T* last = reinterpret_cast<const T*>(data[kOutputs + kInputs - 1]);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(k + 1) * in[i] + last[i];
  }
}

// Whole numbers so small that every dtype computes without rounding.
Tensor small_numbers(at::IntArrayRef shape, ScalarType dtype) {
  return at::randint(-5, 6, shape, at::kDouble).to(dtype);
}

class ManyOutputsTest : public testing::TestWithParam<ScalarType> {};

TEST_P(ManyOutputsTest, EveryLayout) {
  at::native::ExpressionKernel kernel{&at::native::run_expression};
  kernel.rows[static_cast<size_t>(ScalarType::Float)] = &weighted_row<float>;
  kernel.rows[static_cast<size_t>(ScalarType::Double)] = &weighted_row<double>;
  at::manual_seed(3);
  for (const int64_t rows : {1, 3, 70}) {
    for (const int64_t columns : {1, 5, 300}) {
      std::array<Tensor, kInputs> in;
      for (int k = 0; k < kInputs; ++k) {
        // Dense, transposed, a repeated row, a repeated column.
        in[k] = k % 4 == 0   ? small_numbers({rows, columns}, GetParam())
                : k % 4 == 1 ? small_numbers({columns, rows}, GetParam()).t()
                : k % 4 == 2 ? small_numbers({1, columns}, GetParam())
                             : small_numbers({rows, 1}, GetParam());
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
                         testing::Values(at::kFloat, at::kDouble, at::kBFloat16),
                         [](const auto& info) { return std::string(c10::toString(info.param)); });

}  // namespace
