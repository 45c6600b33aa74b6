// Sorting of short rows.
#include <aten/Base.h>
#include <aten/api/from_blob.h>
#include <generated/ops/clone.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/empty.h>
#include <generated/ops/randint.h>
#include <generated/ops/select.h>
#include <generated/ops/sort.h>
#include <generated/ops/stack.h>
#include <generated/ops/to.h>
#include <generated/ops/topk.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace {

using namespace at;

// Numbers many of which are equal, some of them zeros of both signs, infinities, NaNs, or the least
// and greatest integers.
std::vector<double> numbers(int64_t n, ScalarType dtype) {
  const bool floating = isFloatingType(dtype);
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor drawn = at::randint(0, 40, {n}, kDouble);
  std::vector<double> result(static_cast<size_t>(n));
  for (size_t i = 0; i < result.size(); ++i) {
    const double x = drawn.const_data_ptr<double>()[i];
    if (floating) {
      const double special[] = {nan, -nan, inf, -inf, 0.0, -0.0};
      result[i] = x < 6 ? special[static_cast<int>(x)] : (x - 23) / 4;
    } else if (dtype == kBool) {
      result[i] = x < 20;
    } else {
      const bool is_signed = isSignedType(dtype);
      const double bits = 8.0 * static_cast<double>(elementSize(dtype)) - (is_signed ? 1 : 0);
      // The greatest integer of 64 bits is no double.
      const double most = bits == 63 ? std::exp2(62) : std::exp2(bits) - 1;
      result[i] = x == 0   ? most
                  : x == 1 ? (is_signed ? -std::exp2(bits) : 0)
                           : x - (is_signed ? 20 : 0);
    }
  }
  return result;
}

// The stable order of a row, NaN as the largest.
std::vector<int64_t> order_of(const std::vector<double>& x, bool descending) {
  std::vector<int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [](double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); };
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return descending ? less(x[j], x[i]) : less(x[i], x[j]);
  });
  return order;
}

// The first k elements of each of two rows x, along any dimension.
void expect_sorted(const std::vector<double>& x, const Tensor& values, const Tensor& indices,
                   int64_t dim, int64_t k, const std::vector<int64_t>& order) {
  for (int64_t row = 0; row < 2; ++row) {
    const Tensor wide = values.select(1 - dim, row).to(kDouble).contiguous();
    const Tensor places = indices.select(1 - dim, row).contiguous();
    for (int64_t i = 0; i < k; ++i) {
      ASSERT_EQ(places.const_data_ptr<int64_t>()[i], order[i]) << i;
      const double value = wide.const_data_ptr<double>()[i], wanted = x[order[i]];
      ASSERT_TRUE(value == wanted || (std::isnan(value) && std::isnan(wanted))) << i;
      if (value == 0) ASSERT_EQ(std::signbit(value), std::signbit(wanted)) << i;
    }
  }
}

// Up to lengths that are no longer short for any instruction set.
TEST(ShortRows, EveryLengthAndDtype) {
  at::manual_seed(2);
  for (const ScalarType dtype :
       {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble}) {
    for (int64_t n = 1; n <= 260; n += n < 70 ? 1 : 9) {
      std::vector<double> x = numbers(n, dtype);
      const Tensor row = Tensor(at::from_blob(x.data(), {n}, kDouble)).to(dtype);
      for (const int64_t dim : {0, 1}) {
        const Tensor rows = at::stack({row, row}, 1 - dim);
        for (const bool descending : {false, true}) {
          SCOPED_TRACE(testing::Message() << dtype << " " << n << " " << dim << descending);
          const std::vector<int64_t> order = order_of(x, descending);
          const auto [values, indices] = at::sort(rows, dim, descending);
          expect_sorted(x, values, indices, dim, n, order);
          const auto [best, places] = at::topk(rows, (n + 1) / 2, dim, descending);
          expect_sorted(x, best, places, dim, (n + 1) / 2, order);
          if (HasFatalFailure()) return;
          // In place.
          Tensor same = rows.clone(), own = at::empty({0}, kLong);
          at::sort_out(same, own, same, dim, descending);
          expect_sorted(x, same, own, dim, n, order);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
