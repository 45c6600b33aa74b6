// sort, argsort, topk.
#include "Testing.h"

#include <aten/api/from_blob.h>
#include <aten/autograd/GradCheck.h>
#include <generated/ops/add.h>
#include <generated/ops/allclose.h>
#include <generated/ops/arange.h>
#include <generated/ops/argsort.h>
#include <generated/ops/cat.h>
#include <generated/ops/clone.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/empty.h>
#include <generated/ops/equal.h>
#include <generated/ops/expand.h>
#include <generated/ops/fill.h>
#include <generated/ops/flip.h>
#include <generated/ops/full_like.h>
#include <generated/ops/gather.h>
#include <generated/ops/index_select.h>
#include <generated/ops/mul.h>
#include <generated/ops/narrow.h>
#include <generated/ops/ones.h>
#include <generated/ops/randint.h>
#include <generated/ops/randn.h>
#include <generated/ops/remainder.h>
#include <generated/ops/repeat.h>
#include <generated/ops/reshape.h>
#include <generated/ops/select.h>
#include <generated/ops/sort.h>
#include <generated/ops/stack.h>
#include <generated/ops/sub.h>
#include <generated/ops/t.h>
#include <generated/ops/tanh.h>
#include <generated/ops/to.h>
#include <generated/ops/topk.h>
#include <generated/ops/transpose.h>
#include <generated/ops/unflatten.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// The stable order of a row, NaN last or, descending, first.
Ints naive_order(const Doubles& x, bool descending) {
  Ints order(x.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [](double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); };
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return descending ? less(x[j], x[i]) : less(x[i], x[j]);
  });
  return order;
}

Ints counted_row(int64_t n) {
  Ints result(static_cast<size_t>(n));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

TEST(Sort, EveryDtypeAndLength) {
  at::manual_seed(1);
  for (at::ScalarType dtype : all_dtypes()) {
    if (c10::isComplexType(dtype)) continue;
    for (int64_t n : {1, 2, 10, 40, 41, 200, 256, 5000}) {
      // Few different values, so that equal ones are common; negative ones where there are any.
      const Tensor t =
          at::randint(dtype == at::kByte || dtype == at::kBool ? 0 : -60, 60, {n}, at::kDouble)
              .mul(c10::isFloatingType(dtype) ? 0.25 : 1.0)
              .to(dtype);
      for (bool descending : {false, true}) {
        const auto [values, indices] = t.sort(0, descending);
        const Doubles x = doubles(t);
        const Ints order = naive_order(x, descending);
        ASSERT_EQ(ints(indices), order) << dtype << " " << n;
        Doubles expected;
        for (int64_t i : order) expected.push_back(x[i]);
        ASSERT_EQ(doubles(values), expected) << dtype << " " << n;
      }
    }
  }
}

// Rows that are in order or in the opposite one, with equal elements and NaN, nearly so, or one
// element expanded.
TEST(Sort, RowsThatAreInOrder) {
  at::manual_seed(4);
  const auto check = [](const Tensor& t, const char* what) {
    for (bool descending : {false, true}) {
      const auto [values, indices] = t.sort(0, descending);
      const Doubles x = doubles(t);
      const Ints order = naive_order(x, descending);
      ASSERT_EQ(ints(indices), order) << what << " " << t.scalar_type() << " " << t.sizes()[0];
      for (size_t i = 0; i < order.size(); ++i) {
        const double value = x[static_cast<size_t>(order[i])], got = doubles(values)[i];
        ASSERT_TRUE(value == got || (std::isnan(value) && std::isnan(got))) << what;
        if (i > 20) i += order.size() / 20;
      }
    }
  };
  for (at::ScalarType dtype : all_dtypes()) {
    if (c10::isComplexType(dtype)) continue;
    for (int64_t n : {1, 2, 41, 200, 1500}) {
      Tensor t = std::get<0>(at::randint(0, 60, {n}, at::kDouble).to(dtype).sort(0)).clone();
      if (c10::isFloatingType(dtype) && n > 40) t.narrow(0, n - 3, 3).fill_(kNaN);
      check(t, "sorted");
      check(t.flip({0}), "opposite");
      check(at::cat({t, t.narrow(0, 0, 1)}), "nearly sorted");
      check(at::cat({t.flip({0}), t.narrow(0, n - 1, 1)}), "nearly opposite");
      check(t.narrow(0, 0, 1).expand({n}), "expanded");
      const Tensor wide = t.narrow(0, 0, 1).expand({3, n});
      for (int64_t dim : {0, 1}) {
        const auto [values, indices] = wide.sort(dim, true);
        ASSERT_TRUE(at::equal(values, wide));
        ASSERT_EQ(ints(indices.select(1 - dim, 0)), counted_row(wide.sizes()[dim]));
      }
    }
  }
}

// Numbers many of which are equal, some of them zeros of both signs, infinities, NaNs, or the least
// and greatest integers.
Doubles numbers(int64_t n, at::ScalarType dtype) {
  const bool floating = c10::isFloatingType(dtype);
  const Tensor drawn = at::randint(0, 40, {n}, at::kDouble);
  Doubles result(static_cast<size_t>(n));
  for (size_t i = 0; i < result.size(); ++i) {
    const double x = drawn.const_data_ptr<double>()[i];
    if (floating) {
      const double special[] = {kNaN, -kNaN, kInf, -kInf, 0.0, -0.0};
      result[i] = x < 6 ? special[static_cast<int>(x)] : (x - 23) / 4;
    } else if (dtype == at::kBool) {
      result[i] = x < 20;
    } else {
      const bool is_signed = c10::isSignedType(dtype);
      const double bits = 8.0 * static_cast<double>(c10::elementSize(dtype)) - (is_signed ? 1 : 0);
      // The greatest integer of 64 bits is no double.
      const double most = bits == 63 ? std::exp2(62) : std::exp2(bits) - 1;
      result[i] = x == 0   ? most
                  : x == 1 ? (is_signed ? -std::exp2(bits) : 0)
                           : x - (is_signed ? 20 : 0);
    }
  }
  return result;
}

// The first k elements of each of two rows x, along any dimension.
void expect_sorted(const Doubles& x, const Tensor& values, const Tensor& indices, int64_t dim,
                   int64_t k, const Ints& order) {
  for (int64_t row = 0; row < 2; ++row) {
    const Tensor wide = values.select(1 - dim, row).to(at::kDouble).contiguous();
    const Tensor places = indices.select(1 - dim, row).contiguous();
    for (int64_t i = 0; i < k; ++i) {
      ASSERT_EQ(places.const_data_ptr<int64_t>()[i], order[i]) << i;
      const double value = wide.const_data_ptr<double>()[i], wanted = x[order[i]];
      ASSERT_TRUE(value == wanted || (std::isnan(value) && std::isnan(wanted))) << i;
      ASSERT_TRUE(value != 0 || std::signbit(value) == std::signbit(wanted)) << i;
    }
  }
}

// Up to lengths that are no longer short for any instruction set.
TEST(ShortRows, EveryLengthAndDtype) {
  at::manual_seed(2);
  for (const at::ScalarType dtype : all_dtypes()) {
    if (c10::isComplexType(dtype)) continue;
    for (int64_t n = 1; n <= 1030; n += n < 70 ? 1 : n < 250 ? 9 : 257) {
      Doubles x = numbers(n, dtype);
      const Tensor row = Tensor(at::from_blob(x.data(), {n}, at::kDouble)).to(dtype);
      for (const int64_t dim : {0, 1}) {
        const Tensor rows = at::stack({row, row}, 1 - dim);
        for (const bool descending : {false, true}) {
          SCOPED_TRACE(testing::Message() << dtype << " " << n << " " << dim << descending);
          const Ints order = naive_order(x, descending);
          const auto [values, indices] = at::sort(rows, dim, descending);
          expect_sorted(x, values, indices, dim, n, order);
          // A few are found in another way.
          for (const int64_t k : {int64_t{1}, int64_t{2}, int64_t{5}, int64_t{16}, (n + 1) / 2}) {
            if (k > n) continue;
            const auto [best, places] = at::topk(rows, k, dim, descending);
            expect_sorted(x, best, places, dim, k, order);
            if (HasFatalFailure()) return;
          }
          // In place.
          Tensor same = rows.clone(), own = at::empty({0}, at::kLong);
          at::sort_out(same, own, same, dim, descending);
          expect_sorted(x, same, own, dim, n, order);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Enough rows for vectors that have an element of each, the last of which are not full: next to
// each other, with gaps, some along two dimensions, along the first, and in order already.
TEST(ShortRows, ManyTogether) {
  at::manual_seed(7);
  constexpr int64_t kRows = 42;
  for (const at::ScalarType dtype : all_dtypes()) {
    if (c10::isComplexType(dtype)) continue;
    for (const int64_t n : {2, 3, 4, 9, 16, 33, 64, 257, 1100}) {
      Doubles x = numbers(kRows * n, dtype);
      if (n == 33) std::fill(x.begin(), x.end(), x[40]);
      if (n == 257) {  // in order but for the last three of each row
        for (auto row = x.begin(); row != x.end(); row += n) {
          const Doubles some(row, row + n - 3);
          const Ints places = naive_order(some, false);
          std::transform(places.begin(), places.end(), row, [&](int64_t i) { return some[i]; });
        }
      }
      const Tensor rows = Tensor(at::from_blob(x.data(), {kRows, n}, at::kDouble)).to(dtype);
      const Tensor apart = at::stack({rows, rows}, 2).select(2, 1).unflatten(0, {6, 7});
      for (const bool descending : {false, true}) {
        SCOPED_TRACE(testing::Message() << dtype << " " << n << " " << descending);
        Ints order;
        for (int64_t row = 0; row < kRows; ++row) {
          const Ints some =
              naive_order(Doubles(x.begin() + row * n, x.begin() + (row + 1) * n), descending);
          order.insert(order.end(), some.begin(), some.end());
        }
        const Tensor expected = Tensor(at::from_blob(order.data(), {kRows, n}, at::kLong));
        const auto expect = [&](const std::tuple<Tensor, Tensor>& found, int64_t dim) {
          const Tensor places = std::get<1>(found).transpose(dim, -1).reshape({kRows, -1});
          const Tensor values = std::get<0>(found).transpose(dim, -1).reshape({kRows, -1});
          const Tensor best = expected.narrow(1, 0, places.sizes()[1]);
          EXPECT_TRUE(at::equal(places, best));
          const Tensor wanted = rows.gather(1, best);
          EXPECT_EQ(std::memcmp(values.contiguous().const_data_ptr(), wanted.const_data_ptr(),
                                wanted.nbytes()),
                    0);
        };
        expect(at::sort(rows, 1, descending), 1);
        expect(at::sort(rows.t().contiguous(), 0, descending), 0);
        expect(at::sort(apart, 2, descending), 2);
        expect(at::sort(apart.transpose(1, 2), 1, descending), 1);
        for (const int64_t k : {int64_t{2}, (n + 1) / 2, n - 1}) {
          expect(at::topk(rows, k, 1, descending), 1);
        }
        Tensor same = rows.clone(), own = at::empty({0}, at::kLong);
        at::sort_out(same, own, same, 1, descending);
        expect({same, own}, 1);
        // Sorted ones.
        const auto [values, places] = at::sort(same, 1, descending);
        EXPECT_TRUE(at::equal(places, at::arange(n).expand({kRows, n})));
        if (HasFailure()) return;
      }
    }
  }
}

// Lengths at which other ways begin: comparing, distributing, several parts of a row by threads;
// and keys of more bits than are looked at in the first place, alone and in runs that are equal
// there.
TEST(Sort, LongKeysAndLongRows) {
  at::manual_seed(5);
  const int threads = at::get_num_threads();
  for (int64_t n : {41, 1000, 100003}) {
    const Tensor high = at::randint(-3, 3, {n}, at::kLong).mul(int64_t{1} << 60),
                 low = at::randint(0, 1 << 30, {n}, at::kLong).mul(5), few = low.remainder(3),
                 wide = at::randint(-(int64_t{1} << 62), int64_t{1} << 62, {n}, at::kLong);
    for (const Tensor& t :
         {high.add(low), high.add(few), wide, low, few.sub(1), at::full_like(few, -7),
          at::randn({n}, at::kDouble), high.to(at::kDouble).add(few), at::randn({n}, at::kFloat),
          at::randint(-9, 9, {n}, at::kHalf), low.to(at::kByte), low.to(at::kChar),
          few.to(at::kBool)}) {
      for (bool descending : {false, true}) {
        at::set_num_threads(1);
        const auto [values, indices] = t.sort(0, descending);
        // No pair of int64 is compared as double.
        Ints order(static_cast<size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        const auto ordered = [&](const auto& x) {
          std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
            return descending ? x[j] < x[i] : x[i] < x[j];
          });
        };
        t.scalar_type() == at::kLong ? ordered(ints(t)) : ordered(doubles(t));
        ASSERT_TRUE(ints(indices) == order) << t.scalar_type() << " " << n;
        ASSERT_TRUE(at::equal(values, t.gather(0, indices))) << t.scalar_type() << " " << n;
        at::set_num_threads(3);
        const auto [again, places] = t.sort(0, descending);
        ASSERT_TRUE(at::equal(places, indices)) << t.scalar_type() << " " << n;
        ASSERT_TRUE(at::equal(again, values)) << t.scalar_type() << " " << n;
      }
    }
  }
  at::set_num_threads(threads);
}

// A part of a row goes as far as its last run of elements with equal upper bits, and what another
// part makes of those behind, meanwhile, must not look like that run going on. Here each pair has
// upper bits that the lower ones of the next pair equal, which would come first then.
TEST(Sort, RunsEndWhereTheNextPartBegins) {
  constexpr int64_t n = 200000, kLower = 20;
  Ints keys(n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t upper = i / 2;
    keys[i] = upper << kLower | (upper % 2 == 0 ? std::max<int64_t>(upper - 1, 0) : 10 * upper);
  }
  keys[n - 1] = (int64_t{1} << (32 + kLower)) - 1;
  const Tensor sorted = at::tensor(keys);
  const int threads = at::get_num_threads();
  at::set_num_threads(2);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(at::equal(std::get<0>(sorted.flip({0}).sort()), sorted));
  }
  at::set_num_threads(threads);
}

// Zeros keep their signs and NaNs their bits, although their keys are equal; in place, too.
TEST(Sort, KeepsTheBitsOfElements) {
  for (at::ScalarType dtype : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    const at::ScalarType same_size = dtype == at::kDouble  ? at::kLong
                                     : dtype == at::kFloat ? at::kInt
                                                           : at::kShort;
    for (int64_t repeats : {3, 30}) {
      Tensor t = f64({0.0, kNaN, -0.0, 1.0, -kNaN, -2.5, kInf, -kInf}).to(dtype).repeat({repeats});
      for (bool descending : {false, true}) {
        const Tensor order = t.argsort(0, descending),
                     expected = t.view(same_size).index_select(0, order);
        EXPECT_TRUE(at::equal(std::get<0>(t.sort(0, descending)).view(same_size), expected));
        Tensor x = t.clone(), indices = at::empty({0}, at::kLong);
        at::sort_out(x, indices, x, 0, descending);
        EXPECT_TRUE(at::equal(x.view(same_size), expected)) << dtype;
        EXPECT_TRUE(at::equal(indices, order)) << dtype;
      }
    }
  }
}

TEST(Sort, SpecialValues) {
  const Tensor t = f64({0.0, kNaN, -0.0, kInf, -kInf, 1.0, -kNaN, -1.0});
  EXPECT_EQ(ints(t.argsort()), (Ints{4, 7, 0, 2, 5, 3, 1, 6}));
  EXPECT_EQ(ints(t.argsort(0, true)), (Ints{1, 6, 3, 5, 0, 2, 7, 4}));
  EXPECT_EQ(ints(at::tensor({std::numeric_limits<int64_t>::max(),
                             std::numeric_limits<int64_t>::min(), int64_t{0}})
                     .argsort()),
            (Ints{1, 2, 0}));
  const Tensor long_row = at::cat({t.repeat({50}), f64({-5.0})});
  EXPECT_EQ(ints(long_row.argsort()), naive_order(doubles(long_row), false));
}

TEST(Sort, DimensionsAndStrides) {
  at::manual_seed(2);
  const Tensor t = at::randn({4, 30, 3}, at::kDouble);
  const auto [values, indices] = t.sort(1);
  EXPECT_EQ(doubles(values), doubles(t.gather(1, indices)));
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      const Doubles column = doubles(values[i].select(1, j));
      EXPECT_TRUE(std::is_sorted(column.begin(), column.end()));
    }
  }
  EXPECT_EQ(doubles(std::get<0>(t.transpose(0, 1).sort(0))), doubles(values.transpose(0, 1)));
  EXPECT_EQ(doubles(std::get<0>(at::tensor(3.0, at::kDouble).sort())), (Doubles{3}));
  EXPECT_EQ(sizes(std::get<1>(at::empty({3, 0}).sort(1))), (Ints{3, 0}));
  Tensor out_values = at::empty({0}, at::kDouble), out_indices = at::empty({0}, at::kLong);
  at::sort_out(out_values, out_indices, t, 1);
  EXPECT_EQ(doubles(out_values), doubles(values));
  EXPECT_EQ(ints(out_indices), ints(indices));
  EXPECT_EQ(ints(std::get<1>(t.sort(/*stable=*/true, 1, false))), ints(indices));
}

// Columns, several of which lie in one cache line.
TEST(Sort, NeighbouringRows) {
  at::manual_seed(4);
  for (at::ScalarType dtype : {at::kByte, at::kHalf, at::kFloat, at::kDouble}) {
    for (int64_t n : {7, 130}) {
      const Tensor t = at::randint(0, 100, {3, n, 19}, at::kDouble).to(dtype);
      for (const Tensor& x : {t, t.narrow(2, 1, 17), t.transpose(0, 2)}) {
        const Tensor rows = x.transpose(1, 2).contiguous();
        const auto [values, indices] = x.sort(1);
        const auto [expected, order] = rows.sort(2);
        EXPECT_TRUE(at::equal(values, expected.transpose(1, 2))) << dtype << " " << n;
        EXPECT_TRUE(at::equal(indices, order.transpose(1, 2))) << dtype << " " << n;
        const auto [most, places] = x.topk(5, 1, /*largest=*/false);
        EXPECT_TRUE(at::equal(most, values.narrow(1, 0, 5))) << dtype << " " << n;
        EXPECT_TRUE(at::equal(places, indices.narrow(1, 0, 5))) << dtype << " " << n;
      }
    }
  }
}

TEST(Topk, LargestAndSmallest) {
  at::manual_seed(3);
  for (int64_t n : {5, 300, 5000}) {
    const Tensor t = at::randint(0, 100, {2, n}, at::kDouble);
    for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{3}, n / 2, n}) {
      for (bool largest : {false, true}) {
        const auto [values, indices] = t.topk(k, 1, largest);
        const auto [all, order] = t.sort(1, largest);
        ASSERT_EQ(doubles(values), doubles(all.narrow(1, 0, k))) << n << " " << k;
        ASSERT_EQ(ints(indices), ints(order.narrow(1, 0, k))) << n << " " << k;
        Tensor unsorted = std::get<0>(t.topk(k, 1, largest, false));
        ASSERT_EQ(doubles(std::get<0>(unsorted.sort(1, largest))), doubles(values));
      }
    }
  }
  EXPECT_EQ(ints(std::get<1>(f64({1.0, kNaN, 2.0}).topk(2))), (Ints{1, 2}));
  EXPECT_EQ(sizes(std::get<0>(at::ones({3, 4}).topk(2, 0))), (Ints{2, 4}));
  EXPECT_EQ(doubles(std::get<0>(at::tensor(4.0, at::kDouble).topk(1))), (Doubles{4}));
}

// Rows in every order, of every dtype, with gaps, and NaN where there is one.
TEST(Topk, EveryDtypeAndOrder) {
  at::manual_seed(6);
  for (at::ScalarType dtype : all_dtypes()) {
    if (c10::isComplexType(dtype)) continue;
    for (int64_t n : {31, 64, 1000}) {
      Tensor t = at::randint(0, 100, {n}, at::kDouble).to(dtype);
      if (c10::isFloatingType(dtype)) {
        t[n / 3] = kNaN;
        t[n / 2] = -0.0;
        t[n - 5] = -kNaN;
      }
      const Tensor ascending = std::get<0>(t.sort());
      for (const Tensor& x : {t, ascending, ascending.flip({0})}) {
        const Tensor gaps = at::stack({x, x}, 1).select(1, 1);
        for (int64_t k : {int64_t{1}, int64_t{2}, int64_t{20}, n - 1, n}) {
          for (bool largest : {false, true}) {
            const Tensor order = std::get<1>(x.sort(0, largest)).narrow(0, 0, k);
            for (const Tensor& row : {x, gaps}) {
              const auto [values, indices] = row.topk(k, 0, largest);
              ASSERT_EQ(ints(indices), ints(order)) << dtype << " " << n << " " << k;
              ASSERT_TRUE(at::allclose(values, x.gather(0, order), 0, 0, /*equal_nan=*/true));
            }
          }
        }
      }
    }
  }
}

// More NaNs than are looked at before some are dropped.
TEST(Topk, AfterNaNs) {
  const Tensor t = at::cat({f64({kNaN}).repeat({200}), at::arange(100, at::kDouble)});
  EXPECT_EQ(ints(std::get<1>(t.topk(3, 0, /*largest=*/false))), (Ints{200, 201, 202}));
  EXPECT_EQ(ints(std::get<1>(t.topk(3))), (Ints{0, 1, 2}));
  EXPECT_EQ(ints(std::get<1>(t.topk(1, 0, /*largest=*/false))), (Ints{200}));
  EXPECT_EQ(ints(std::get<1>(t.topk(1))), (Ints{0}));
  EXPECT_EQ(ints(std::get<1>(t.flip({0}).topk(3))), (Ints{100, 101, 102}));
}

TEST(Sort, WrongArguments) {
  EXPECT_THROW(at::ones({3}).sort(1), c10::IndexError);
  EXPECT_THROW(at::ones({3}, at::kComplexFloat).sort(0), c10::NotImplementedError);
  EXPECT_THAT(message_of<c10::Error>([] {
                at::ones({3, 4}).topk(5);
              }),
              HasSubstr("topk(): expected k in [0, 4] for dimension 1"));
  EXPECT_THROW(at::ones({3}).topk(-1), c10::Error);
}

// Indices of another dtype, or values of one, are refused before anything is written.
TEST(Sort, OutputsHaveTheDtypesOfTheResults) {
  const Tensor x = f64({3, 1, 2});
  Tensor values = f64({7}), wide = at::tensor({7}), floats = f64({7}), narrow = wide.to(at::kInt);
  const auto refused = [&](const auto& call, const char* message) {
    EXPECT_THAT(message_of<c10::Error>(call), HasSubstr(message));
    EXPECT_EQ(doubles(values), Doubles{7});
    EXPECT_EQ(doubles(floats), Doubles{7});
    EXPECT_EQ(ints(narrow), Ints{7});
  };
  const char* const kIndices = "expected an output of dtype int64, got ";
  refused([&] { at::sort_out(values, floats, x); }, kIndices);
  refused([&] { at::sort_out(values, narrow, x); }, kIndices);
  refused([&] { at::sort_out(values, floats, x, std::optional<bool>(true)); }, kIndices);
  refused([&] { at::topk_out(values, narrow, x, 2); }, kIndices);
  refused([&] { at::argsort_out(floats, x, /*stable=*/true); }, kIndices);
  Tensor reduced = values.to(at::kFloat);
  refused([&] { at::sort_out(reduced, wide, x); },
          "expected an output of dtype float64, got float32");
  at::sort_out(values, wide, x);
  EXPECT_EQ(doubles(values), (Doubles{1, 2, 3}));
  EXPECT_EQ(ints(wide), (Ints{1, 2, 0}));
  // The order has no gradient, so an input that has one is no obstacle.
  at::argsort_out(wide, x.requires_grad_(), /*stable=*/true, 0, /*descending=*/true);
  EXPECT_EQ(ints(wide), (Ints{0, 2, 1}));
}

TEST(Sort, Gradients) {
  at::manual_seed(4);
  const Tensor x = at::randn({3, 5}, at::kDouble).requires_grad_();
  const auto sorted = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{std::get<0>(in[0].sort(0, true)).tanh()};
  };
  const auto top = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{std::get<0>(in[0].topk(2)).tanh()};
  };
  EXPECT_TRUE(at::autograd::gradcheck(sorted, {x}));
  EXPECT_TRUE(at::autograd::gradgradcheck(sorted, {x}));
  EXPECT_TRUE(at::autograd::gradcheck(top, {x}));
  EXPECT_TRUE(at::autograd::gradgradcheck(top, {x}));
}

}  // namespace
