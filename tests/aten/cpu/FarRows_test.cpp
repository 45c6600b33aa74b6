// Kernels that write rows past the cache: results as those of a few rows or columns, which lie in
// it.
#include <aten/Base.h>
#include <aten/core/Processor.h>
#include <aten/iterator/Cast.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/add.h>
#include <generated/ops/arange.h>
#include <generated/ops/argmax.h>
#include <generated/ops/cat.h>
#include <generated/ops/clone.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/cumsum.h>
#include <generated/ops/fill.h>
#include <generated/ops/flip.h>
#include <generated/ops/full_like.h>
#include <generated/ops/gt.h>
#include <generated/ops/index_select.h>
#include <generated/ops/layer_norm.h>
#include <generated/ops/log_softmax.h>
#include <generated/ops/mul.h>
#include <generated/ops/neg.h>
#include <generated/ops/rand.h>
#include <generated/ops/remainder.h>
#include <generated/ops/select.h>
#include <generated/ops/slice.h>
#include <generated/ops/softmax.h>
#include <generated/ops/sub.h>
#include <generated/ops/sum.h>
#include <generated/ops/to.h>
#include <generated/ops/view.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace at;

using Operation = std::function<Tensor(const Tensor&)>;

// Numbers from -8 to 8, as many as are written past the cache; of floats, some rows have infinities
// or NaN.
Tensor far_tensor(int64_t columns, ScalarType dtype) {
  const int64_t rows =
      at::detail::kStreamedBytes / (columns * static_cast<int64_t>(elementSize(dtype))) + 1;
  Tensor t = at::remainder(at::mul(at::arange(rows * columns, kDouble), 0.6180339887), 16.0);
  t = at::sub(t, 8).to(dtype).view({rows, columns});
  if (!isFloatingType(dtype)) return t;
  const double inf = std::numeric_limits<double>::infinity();
  t.select(0, 1).select(0, columns / 2).fill_(inf);
  t.select(0, 2).select(0, columns / 3).fill_(-inf);
  t.select(0, rows - 1).select(0, columns - 1).fill_(std::numeric_limits<double>::quiet_NaN());
  return t;
}

// The same numbers; the sign of a NaN says nothing.
void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  const Tensor x = a.contiguous().to(kDouble), y = b.contiguous().to(kDouble);
  const auto* p = x.const_data_ptr<double>();
  const auto* q = y.const_data_ptr<double>();
  int64_t differences = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    differences += p[i] != q[i] && (p[i] == p[i] || q[i] == q[i]);
  }
  EXPECT_EQ(differences, 0);
}

// Of all of it, and of pieces along `dim`, each of which is computed where it lies.
void expect_as_pieces(const Operation& f, const Tensor& t, int64_t dim) {
  const Tensor result = f(t);
  constexpr int64_t kPieces = 7;
  const int64_t n = t.sizes()[dim], step = (n + kPieces - 1) / kPieces;
  for (int64_t i = 0; i < n; i += step) {
    const int64_t end = std::min(i + step, n);
    SCOPED_TRACE(testing::Message() << t.sizes() << ", pieces of " << step << " from " << i);
    expect_same(result.slice(dim, i, end), f(t.slice(dim, i, end).contiguous()));
  }
}

// As one processor or another wants rows asked for.
class FarRows : public testing::TestWithParam<bool> {
  at::detail::NearFetchesGuard guard_{GetParam(), GetParam(), GetParam(), GetParam()};
};
INSTANTIATE_TEST_SUITE_P(NearOrFar, FarRows, testing::Bool());

// Rows that are whole lines, rows that are not, and longer ones than a kernel keeps.
TEST_P(FarRows, AsRowsInTheCache) {
  for (const auto& [columns, dtype] : {std::pair(4096, kFloat), {1003, kDouble}, {20001, kFloat}}) {
    const Tensor t = far_tensor(columns, dtype);
    const Tensor weight = at::rand({columns}).to(dtype), bias = at::rand({columns}).to(dtype);
    const IntArrayRef shape = weight.sizes();
    expect_as_pieces([](const Tensor& x) { return at::softmax(x, 1); }, t, 0);
    expect_as_pieces([](const Tensor& x) { return at::log_softmax(x, 1); }, t, 0);
    expect_as_pieces([&](const Tensor& x) { return at::layer_norm(x, shape, weight, bias); }, t, 0);
    expect_as_pieces([&](const Tensor& x) { return at::layer_norm(x, shape); }, t, 0);
    expect_as_pieces([](const Tensor& x) { return at::cumsum(x, 1); }, t, 0);
  }
}

// Some rows at a time, which end within lines; beside what float64 gives.
TEST_P(FarRows, ShortRowsOfSoftMax) {
  for (const auto& [columns, dtype] : {std::pair(10, kFloat), {100, kFloat}, {100, kBFloat16}}) {
    const Tensor t = far_tensor(columns, dtype);
    const double tolerance = dtype == kFloat ? 1e-6 : 4e-3;
    for (const bool log : {false, true}) {
      const auto f = [log](const Tensor& x) { return log ? x.log_softmax(1) : x.softmax(1); };
      const Tensor got = f(t).to(kDouble), expected = f(t.to(kDouble));
      const auto* p = got.const_data_ptr<double>();
      const auto* q = expected.const_data_ptr<double>();
      for (int64_t i = 0; i < t.numel(); ++i) {
        if (p[i] == q[i] || (std::isnan(p[i]) && std::isnan(q[i]))) continue;
        ASSERT_NEAR(p[i], q[i], tolerance * (1 + std::abs(q[i]))) << dtype << ' ' << i << log;
      }
    }
  }
}

// One run of memory, part of which is asked for in another order than it is read in.
TEST_P(FarRows, ReducedInOrder) {
  for (const auto& [columns, dtype] : {std::pair(4096, kFloat), {1003, kDouble}}) {
    const Tensor t = far_tensor(columns, dtype);
    expect_as_pieces([](const Tensor& x) { return at::sum(x, {1}); }, t, 0);
    expect_as_pieces([](const Tensor& x) { return at::argmax(x, 1); }, t, 0);
  }
}

TEST(SpreadFetches, EachLineOfTheNextBlockIsAskedForOnce) {
  using at::detail::kSpreadBytes, at::detail::kSpreadParts, at::detail::spread_from;
  constexpr uintptr_t kLine = 64, kBegin = 5 * kSpreadBytes;
  std::set<uintptr_t> lines;
  for (uintptr_t place = kBegin + 7; place < kBegin + kSpreadBytes; place += kLine) {
    const uintptr_t line = spread_from(place);
    EXPECT_EQ(line % kLine, 0);
    EXPECT_GE(line, kBegin + kSpreadBytes);
    EXPECT_LT(line, kBegin + 2 * kSpreadBytes);
    lines.insert(line);
    // As many lines as there are parts are of one place in each.
    const uintptr_t group = place / (kSpreadParts * kLine) * (kSpreadParts * kLine);
    const uintptr_t part = (place - group) / kLine;
    EXPECT_EQ(line, spread_from(group) + part * (kSpreadBytes / kSpreadParts));
  }
  EXPECT_EQ(lines.size(), kSpreadBytes / kLine);
}

// What is written to a cache that cores share is asked for; results of a seventh of it are not.
TEST_P(FarRows, WrittenToTheSharedCache) {
  for (const auto& [columns, dtype] :
       {std::pair(4096, kFloat), {1003, kDouble}, {515, kBFloat16}, {20001, kByte}}) {
    const auto size = static_cast<int64_t>(elementSize(dtype));
    const Tensor t = at::remainder(at::arange((12 << 20) / size / columns * columns, kDouble), 97)
                         .to(dtype)
                         .view({-1, columns});
    const Tensor row = t.select(0, 1);
    expect_as_pieces([](const Tensor& x) { return x + x; }, t, 0);
    expect_as_pieces([&](const Tensor& x) { return x - row; }, t, 0);
    expect_as_pieces([](const Tensor& x) { return x * x.slice(1, 3, 4); }, t, 0);
    expect_as_pieces([](const Tensor& x) { return x.slice(1, 2) + x.slice(1, 0, -2); }, t, 0);
    expect_as_pieces([](const Tensor& x) { return x.slice(1, 0, INT64_MAX, 2) + 1; }, t, 0);
    expect_as_pieces([](const Tensor& x) { return x.gt(40); }, t, 0);
    expect_as_pieces([](const Tensor& x) { return x.to(kInt); }, t, 0);
    expect_as_pieces([](const Tensor& x) { return at::full_like(x, 5); }, t, 0);
    expect_as_pieces([](const Tensor& x) { return x.clone().add_(x).neg_(); }, t, 0);
  }
}

TEST_P(FarRows, AsColumnsInTheCache) {
  for (const auto& [columns, dtype] :
       {std::pair(4096, kFloat), {1003, kLong}, {20001, kBFloat16}}) {
    const Tensor t = far_tensor(columns, dtype);
    const Operation sums = [](const Tensor& x) { return at::cumsum(x, 0); };
    expect_as_pieces(sums, t, 1);
    Tensor in_place = t.clone();
    in_place.cumsum_(0);
    expect_same(in_place, sums(t));
  }
}

TEST_P(FarRows, TakenByAnIndex) {
  for (const auto& [columns, dtype] :
       {std::pair(4096, kFloat), {1003, kDouble}, {515, kBFloat16}, {100, kLong}}) {
    const Tensor t = far_tensor(columns, dtype);
    const int64_t rows = t.size(0);
    const Tensor backwards = at::sub(rows - 1, at::arange(rows, kLong));
    expect_same(at::index_select(t, 0, backwards), at::flip(t, {0}));
  }
}

TEST_P(FarRows, Joined) {
  for (const auto& [columns, dtype] :
       {std::pair(4096, kFloat), {1003, kDouble}, {515, kBFloat16}}) {
    const Tensor t = far_tensor(columns, dtype);
    for (const int64_t dim : {0, 1}) {
      const int64_t n = t.size(dim);
      const Tensor joined = at::cat({t.slice(dim, 1, n).contiguous(), t}, dim);
      expect_same(joined.slice(dim, 0, n - 1), t.slice(dim, 1, n));
      expect_same(joined.slice(dim, n - 1, 2 * n - 1), t);
    }
  }
}

}  // namespace
