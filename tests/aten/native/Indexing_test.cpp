// Reading and writing at places that tensors name.
#include "Testing.h"

#include <aten/api/from_blob.h>
#include <generated/ops/add.h>
#include <generated/ops/argwhere.h>
#include <generated/ops/clone.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/empty.h>
#include <generated/ops/eq.h>
#include <generated/ops/equal.h>
#include <generated/ops/expand.h>
#include <generated/ops/fill.h>
#include <generated/ops/full.h>
#include <generated/ops/gather.h>
#include <generated/ops/index.h>
#include <generated/ops/index_add.h>
#include <generated/ops/index_put.h>
#include <generated/ops/index_select.h>
#include <generated/ops/lt.h>
#include <generated/ops/masked_select.h>
#include <generated/ops/nonzero.h>
#include <generated/ops/ones.h>
#include <generated/ops/permute.h>
#include <generated/ops/randint.h>
#include <generated/ops/real.h>
#include <generated/ops/remainder.h>
#include <generated/ops/repeat.h>
#include <generated/ops/reshape.h>
#include <generated/ops/scatter.h>
#include <generated/ops/scatter_add.h>
#include <generated/ops/select.h>
#include <generated/ops/slice.h>
#include <generated/ops/t.h>
#include <generated/ops/take_along_dim.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/zeros.h>
#include <generated/ops/zeros_like.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace {

using namespace testing_native;  // NOLINT
using namespace at::indexing;    // NOLINT
using at::Tensor;
using testing::HasSubstr;

TEST(IndexSelect, Values) {
  const Tensor t = counted({3, 4});
  EXPECT_EQ(ints(t.index_select(0, at::tensor({2, 0, 2}))),
            (Ints{8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(ints(t.index_select(-1, at::tensor({3, 1}))), (Ints{3, 1, 7, 5, 11, 9}));
  EXPECT_EQ(ints(t.t().index_select(0, at::tensor({1}))), (Ints{1, 5, 9}));
  EXPECT_EQ(sizes(t.index_select(0, at::empty({0}, at::kLong))), (Ints{0, 4}));
  EXPECT_EQ(ints(t.index_select(1, at::tensor({0}, at::kInt))), (Ints{0, 4, 8}));
  EXPECT_EQ(ints(at::tensor(7).index_select(0, at::tensor({0}))), (Ints{7}));
  Tensor out = at::empty({0}, at::kLong);
  at::index_select_out(out, t, 0, at::tensor({1}));
  EXPECT_EQ(ints(out), (Ints{4, 5, 6, 7}));
  EXPECT_THAT(message_of<c10::IndexError>([&] {
                t.index_select(0, at::tensor({0, 5}));
              }),
              HasSubstr("index 5 is out of bounds for dimension 0 with size 3"));
  EXPECT_ANY_THROW(t.index_select(0, at::tensor({-1})));
  EXPECT_ANY_THROW(t.index_select(0, at::tensor({{0}})));
  EXPECT_ANY_THROW(t.index_select(0, at::tensor({0.0})));
  EXPECT_ANY_THROW(at::index_select_out(const_cast<Tensor&>(t), t, 0, at::tensor({1})));
}

// What is named along one of four dimensions, whether or not the others can be taken as one.
TEST(IndexSelect, EveryDimensionAndLayout) {
  const Tensor t = counted({4, 5, 6, 7});
  const Tensor wide = counted({5, 6, 7, 8});
  const Ints named = {2, 0, 3, 2};
  for (const Tensor& self : {t, t.permute({2, 0, 3, 1}), t.permute({0, 1, 3, 2}),
                             wide.slice(3, 0, 6), wide.slice(1, 1, 5), wide.slice(2, 0, 7, 2)}) {
    const Ints before = ints(self);
    for (int64_t dim = 0; dim < 4; ++dim) {
      const int64_t size = self.sizes()[dim];
      int64_t inner = 1;
      for (int64_t d = dim + 1; d < 4; ++d) inner *= self.sizes()[d];
      const auto outer = static_cast<int64_t>(before.size()) / (size * inner);
      Ints wanted, added = before;
      for (int64_t i = 0; i < outer; ++i) {
        for (const int64_t place : named) {
          for (int64_t j = 0; j < inner; ++j) {
            const auto from = static_cast<size_t>((i * size + place) * inner + j);
            wanted.push_back(before[from]);
            added[from] += static_cast<int64_t>(wanted.size());
          }
        }
      }
      const Tensor index = at::tensor({2, 0, 3, 2});
      const Tensor result = self.index_select(dim, index);
      ASSERT_EQ(ints(result), wanted) << "dim " << dim << " of strides " << self.strides();
      // The same by the general form, with an index of two dimensions that counts from the end.
      std::vector<std::optional<Tensor>> indices(static_cast<size_t>(dim));
      indices.push_back(at::tensor({{2 - size, 0L}, {3L, 2 - size}}));
      const Tensor indexed = at::index(self, indices);
      ASSERT_EQ(indexed.dim(), 5);
      ASSERT_EQ(ints(indexed), wanted) << "dim " << dim << " of strides " << self.strides();
      const Tensor source = counted(result.sizes()).add(1);
      ASSERT_EQ(ints(self.index_add(dim, index, source)), added) << "dim " << dim;
      // And by an index for each element.
      Ints alone(4, 1);
      alone[static_cast<size_t>(dim)] = 4;
      const Tensor full = index.view(alone).add(at::zeros(result.sizes(), at::kLong));
      ASSERT_EQ(ints(self.gather(dim, full)), wanted) << "dim " << dim;
      ASSERT_EQ(ints(self.scatter_add(dim, full, source)), added) << "dim " << dim;
    }
  }
}

// Rows of any number of bytes, dense and with gaps, taken from and added to; and few or many places
// of columns, more lines than are taken together.
TEST(IndexSelect, RowsOfEveryWidth) {
  const Ints named = {3, 0, 3, 1, 4};
  const Tensor index = at::tensor(named);
  const auto whole_numbers = [](const Tensor& x) {
    return ints((x.is_complex() ? at::real(x) : x).to(at::kLong));
  };
  Ints widths(70);
  std::iota(widths.begin(), widths.end(), 1);
  widths.insert(widths.end(), {127, 128, 129, 511, 512, 513, 700, 1030});
  for (const at::ScalarType dtype : {at::kByte, at::kShort, at::kInt, at::kLong, at::kHalf,
                                     at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat}) {
    const bool integral = c10::isIntegralType(dtype, false);
    for (const int64_t width : widths) {
      if (!integral && width > 20 && width % 64 > 1) continue;
      // Whose sums every dtype holds.
      const Tensor whole = counted({5, width + 2}).remainder(integral ? 251 : 31).to(dtype);
      for (const Tensor& t : {whole.slice(1, 0, width), whole.slice(1, 1, width + 1).contiguous(),
                              whole.slice(1, 0, width).t().contiguous().t()}) {
        const Ints before = whole_numbers(t);
        Ints wanted, added = before, put = before, filled = before, raised = before;
        for (size_t i = 0; i < named.size(); ++i) {
          for (int64_t j = 0; j < width; ++j) {
            const auto from = static_cast<size_t>(named[i] * width + j);
            wanted.push_back(before[from]);
            const int64_t x = before[i * static_cast<size_t>(width) + static_cast<size_t>(j)];
            added[from] += x;
            put[from] = x;
            filled[from] = 3;
            raised[from] += 3;
          }
        }
        const auto expect = [&, dtype = dtype](const Tensor& found, Ints expected) {
          if (dtype == at::kByte) {
            for (int64_t& x : expected) x &= 255;
          }
          ASSERT_EQ(whole_numbers(found), expected) << dtype << " " << width;
        };
        const std::vector<std::optional<Tensor>> rows = {index};
        const Tensor three = at::full({}, 3, dtype);
        expect(t.index_select(0, index), wanted);
        expect(t.t().index_select(1, index).t(), wanted);
        expect(t.index_add(0, index, t), added);
        expect(at::index_put(t, rows, t), put);
        expect(at::index_put(t, rows, three), filled);
        expect(at::index_put(t, rows, t, /*accumulate=*/true), added);
        expect(at::index_put(t, rows, three, /*accumulate=*/true), raised);
        expect(t.scatter(0, index.unsqueeze(1).expand({5, width}), 3), filled);
        if (HasFatalFailure()) return;
      }
    }
  }
  const Tensor t = counted({600, 20});
  for (const int64_t n : {1, 8, 9}) {
    const Tensor some = at::tensor({19, 3, 3, 0, 7, 1, 2, 4, 5}).slice(0, 0, n);
    const Ints places = ints(some);
    Ints wanted;
    for (int64_t i = 0; i < 600; ++i) {
      for (const int64_t place : places) wanted.push_back(20 * i + place);
    }
    EXPECT_EQ(ints(t.index_select(1, some)), wanted) << n;
  }
}

TEST(Gather, Values) {
  const Tensor t = counted({3, 4});
  EXPECT_EQ(ints(t.gather(1, at::tensor({{0, 3}, {1, 1}, {2, 0}}))), (Ints{0, 3, 5, 5, 10, 8}));
  EXPECT_EQ(ints(t.gather(0, at::tensor({{2, 0}}))), (Ints{8, 1}));
  EXPECT_EQ(ints(t.t().gather(1, at::tensor({{2}, {0}}))), (Ints{8, 1}));
  EXPECT_EQ(ints(at::tensor(5).gather(0, at::tensor(0))), (Ints{5}));
  EXPECT_EQ(ints(at::take_along_dim(t, at::tensor({{1}, {2}, {3}}), 1)), (Ints{1, 6, 11}));
  EXPECT_EQ(ints(at::take_along_dim(t, at::tensor({11, 0}))), (Ints{11, 0}));
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.gather(1, at::tensor({{4}})); }),
              HasSubstr("gather(): index 4 is out of bounds for dimension 1 with size 4"));
  EXPECT_ANY_THROW(t.gather(0, at::tensor({0})));
  EXPECT_ANY_THROW(t.gather(1, at::zeros({4, 1}, at::kLong)));
}

TEST(Scatter, Values) {
  const Tensor t = at::zeros({2, 3}, at::kLong);
  EXPECT_EQ(ints(t.scatter(1, at::tensor({{2}, {0}}), at::tensor({{5}, {6}}))),
            (Ints{0, 0, 5, 6, 0, 0}));
  EXPECT_EQ(ints(t.scatter(1, at::tensor({{2, 0}}), 9)), (Ints{9, 0, 9, 0, 0, 0}));
  EXPECT_EQ(ints(t.scatter_add(1, at::tensor({{1, 1, 1}}), at::tensor({{1, 2, 3}}))),
            (Ints{0, 6, 0, 0, 0, 0}));
  EXPECT_EQ(ints(t.scatter_add(0, at::tensor({{1, 0, 1}, {1, 1, 1}}), at::ones({2, 3}, at::kLong))),
            (Ints{0, 1, 0, 2, 1, 2}));
  EXPECT_EQ(ints(t), Ints(6, 0));
  Tensor inplace = t.clone();
  inplace.scatter_(1, at::tensor({{0}, {1}}), 4);
  EXPECT_EQ(ints(inplace), (Ints{4, 0, 0, 0, 4, 0}));
}

TEST(Scatter, SumsAndProducts) {
  const Tensor t = at::tensor({{1, 2, 3}, {4, 5, 6}});
  const Tensor index = at::tensor({{2, 2}, {0, 1}});
  const Tensor src = at::tensor({{2, 3}, {4, 5}});
  EXPECT_EQ(ints(t.scatter(1, index, src, "add")), (Ints{1, 2, 8, 8, 10, 6}));
  EXPECT_EQ(ints(t.scatter(1, index, src, "multiply")), (Ints{1, 2, 18, 16, 25, 6}));
  EXPECT_EQ(ints(t.scatter(1, index, 3, "add")), (Ints{1, 2, 9, 7, 8, 6}));
  EXPECT_EQ(ints(t.scatter(1, index, 3, "multiply")), (Ints{1, 2, 27, 12, 15, 6}));
  EXPECT_EQ(ints(t.scatter(0, at::tensor({{1}, {1}}), src, "multiply")), (Ints{1, 2, 3, 32, 5, 6}));
  EXPECT_EQ(ints(at::tensor(5).scatter(0, at::tensor(0), 2, "multiply")), (Ints{10}));
  const Tensor largest = at::tensor({std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(ints(largest.scatter(0, at::tensor({0}), 2, "multiply")), (Ints{-2}));
  for (const c10::ScalarType dtype : {at::kBool, at::kByte, at::kHalf, at::kComplexFloat}) {
    const Tensor ones = at::ones({2}, dtype);
    EXPECT_EQ(doubles(at::ones({3}, dtype).scatter(0, at::tensor({2, 0}), ones, "multiply")),
              (Doubles{1, 1, 1}));
    EXPECT_EQ(doubles(at::ones({3}, dtype).scatter(0, at::tensor({2, 0}), 0, "multiply")),
              (Doubles{0, 1, 0}));
  }
  Tensor inplace = t.clone();
  inplace.scatter_(1, index, src, "add").scatter_(1, index, 2, "multiply");
  EXPECT_EQ(ints(inplace), (Ints{1, 2, 32, 16, 20, 6}));
  EXPECT_THAT(message_of<c10::Error>([&] { inplace.scatter_(1, index, src, "mul"); }),
              HasSubstr("scatter_(): expected reduce to be 'add' or 'multiply', got 'mul'"));
  EXPECT_THAT(message_of<c10::IndexError>([&] { inplace.scatter_(1, index + 1, 2, "add"); }),
              HasSubstr("index 3 is out of bounds"));
  EXPECT_EQ(ints(inplace), (Ints{1, 2, 32, 16, 20, 6}));
}

TEST(Scatter, AWrongIndexLeavesSelfUnchanged) {
  Tensor t = at::zeros({2, 3}, at::kLong);
  const Tensor index = at::tensor({{0, 3}});
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.scatter_(1, index, 1); }),
              HasSubstr("index 3 is out of bounds for dimension 1 with size 3"));
  EXPECT_ANY_THROW(t.scatter_add_(1, index, at::ones({1, 2}, at::kLong)));
  EXPECT_ANY_THROW(t.scatter_(1, at::tensor({{0}}), at::ones({1, 1})));
  EXPECT_ANY_THROW(t.scatter_(1, at::tensor({{0, 1}}), at::ones({1, 1}, at::kLong)));
  EXPECT_ANY_THROW(t.index_put_({std::optional<Tensor>(at::tensor({0, 2}))}, at::tensor(1)));
  EXPECT_EQ(ints(t), Ints(6, 0));
}

// A new result is filled while the indices are looked at, a given one is not touched before. By
// rows, by lines, by strips, with one index for each line, wherever the wrong index is.
TEST(Gather, AWrongIndexAnywhere) {
  const int threads = at::get_num_threads();
  for (const bool turned : {false, true}) {
    for (const int64_t dim : {0, 1}) {
      for (const Ints& places : {Ints{300, 300}, Ints{299, 1}, Ints{1, 299}}) {
        const Tensor self = turned ? counted({300, 300}).t() : counted({300, 300});
        const int64_t count = places[0] * places[1];
        const Tensor out = at::full(places, 7, at::kLong);
        for (const int64_t place : {int64_t{0}, count / 2 + 3, count - 1}) {
          for (const int64_t wrong : {int64_t{-1}, int64_t{300}}) {
            const Tensor index = at::full(places, 299, at::kLong);
            index.reshape({-1}).select(0, place).fill_(wrong);
            const auto error = HasSubstr("gather(): index " + std::to_string(wrong) +
                                         " is out of bounds for dimension " + std::to_string(dim) +
                                         " with size 300");
            at::set_num_threads(wrong < 0 ? 2 : 1);
            EXPECT_THAT(message_of<c10::IndexError>([&] { self.gather(dim, index); }), error);
            EXPECT_THAT(message_of<c10::IndexError>(
                            [&] { at::gather_out(const_cast<Tensor&>(out), self, dim, index); }),
                        error);
            if (places[1 - dim] != 1) continue;
            const Tensor line = index.reshape({-1}), none = self.slice(1 - dim, 0, 0);
            const auto same = HasSubstr("index_select(): index " + std::to_string(wrong));
            for (const Tensor& t : {self, none}) {
              EXPECT_THAT(message_of<c10::IndexError>([&] { t.index_select(dim, line); }), same);
            }
            Tensor lines = at::full(dim == 0 ? Ints{count, 300} : Ints{300, count}, 7, at::kLong);
            EXPECT_ANY_THROW(at::index_select_out(lines, self, dim, line));
            EXPECT_EQ(ints(lines), Ints(static_cast<size_t>(300 * count), 7));
          }
        }
        EXPECT_EQ(ints(out), Ints(static_cast<size_t>(count), 7));
      }
    }
  }
  at::set_num_threads(threads);
}

// The field's definitions, place by place, for matrices of whole numbers.
struct Naive {
  Ints self, index, other;
  int64_t self_columns, rows, columns, dim;

  template <typename F>
  void for_each(const F& f) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t place = i * columns + j, position = index[place];
        f(self[dim == 0 ? position * self_columns + j : i * self_columns + position], other[place]);
      }
    }
  }
};

// Large enough for strips (Note [Strips] in ScatterGatherKernel.cpp) of any width, from one that
// holds all lines to several with a rest; each operand by rows and by columns.
TEST(Gather, AndScatterInEveryLayout) {
  at::manual_seed(5);
  // In a wider matrix, by rows or by columns, each element or every second.
  const auto laid_out = [](const Tensor& t, bool columns, int64_t step = 1) {
    const Tensor source = columns ? t.t() : t;
    const int64_t length = step * source.sizes()[1];
    const Tensor wide = at::zeros({source.sizes()[0], length + 3}, source.options());
    const Tensor part = wide.slice(1, 2, length + 2, step).copy_(source);
    return columns ? part.t() : part;
  };
  const int threads = at::get_num_threads();
  for (at::ScalarType dtype : {at::kByte, at::kHalf, at::kFloat, at::kComplexDouble}) {
    for (int64_t size : {300, 2100}) {
      const int64_t step = size == 300 ? 1 : 2, extent = size == 300 ? 2000 : 500;
      for (int layout = 0; layout < 16; ++layout) {
        const int64_t dim = layout & 1;
        const Ints shape = dim == 0 ? Ints{size, extent} : Ints{extent, size};
        const Ints places = dim == 0 ? Ints{size - 9, 67} : Ints{67, size - 9};
        const Tensor self = at::randint(0, 9, shape, at::kLong),
                     index = at::randint(0, size, places, at::kLong),
                     src = at::randint(0, 2, places, at::kLong);
        Naive naive{ints(self), ints(index), ints(src), shape[1], places[0], places[1], dim};
        const Tensor x = laid_out(self.to(dtype), layout & 2, step),
                     where = laid_out(index, layout & 4),
                     from = laid_out(src.to(dtype), layout & 8);
        at::set_num_threads(size == 300 && layout < 4 ? 2 : 1);
        const std::string text = std::string(c10::toString(dtype)) + " " + std::to_string(size) +
                                 " " + std::to_string(layout);
        Naive gathered = naive, set = naive, added = naive, multiplied = naive;
        gathered.for_each([](int64_t& s, int64_t& o) { o = s; });
        const Tensor out = laid_out(at::zeros(places, x.options()), layout & 8);
        at::gather_out(const_cast<Tensor&>(out), x, dim, where);
        ASSERT_EQ(ints(out), gathered.other) << text;
        // One index for each row or column.
        const Tensor line = where.select(1 - dim, 0);
        const Tensor one = dim == 0 ? line.unsqueeze(1) : line.unsqueeze(0);
        ASSERT_EQ(
            ints(x.index_select(dim, line)),
            ints(self.gather(dim, dim == 0 ? one.repeat({1, extent}) : one.repeat({extent, 1}))))
            << text;
        // Of one index, named again and again, so that strips are worth it.
        if (layout < 4) {
          const Tensor often = line.repeat({5}), terms = self.index_select(dim, often);
          const auto added_once = [&](const Tensor& to) {
            return ints(to.index_add_(dim, often, terms.eq(3).to(to.scalar_type())));
          };
          ASSERT_EQ(added_once(laid_out(x, layout & 2, step)), added_once(self.clone())) << text;
          const auto put = [&](Tensor to) {
            std::vector<std::optional<Tensor>> indices(static_cast<size_t>(dim));
            indices.emplace_back(often);
            return ints(to.index_put_(indices, terms.to(to.scalar_type())));
          };
          ASSERT_EQ(put(laid_out(at::zeros_like(x), layout & 2, step)), put(at::zeros_like(self)))
              << text;
        }
        set.for_each([](int64_t& s, int64_t& o) { s = o; });
        ASSERT_EQ(ints(x.scatter(dim, where, from)), set.self) << text;
        added.for_each([](int64_t& s, int64_t& o) { s += o; });
        ASSERT_EQ(ints(laid_out(x, layout & 2, step).scatter_add_(dim, where, from)), added.self)
            << text;
        multiplied.for_each([](int64_t& s, int64_t& o) { s *= o; });
        ASSERT_EQ(ints(laid_out(x, layout & 2, step).scatter_(dim, where, from, "multiply")),
                  multiplied.self)
            << text;
      }
    }
  }
  at::set_num_threads(threads);
}

// Indices of one row or column, repeated: whole rows are moved and added.
// The same as with the index written out, whichever dimensions it is expanded along; each of them
// has three positions, of which the third is not named.
TEST(Gather, AndScatterByExpandedIndices) {
  at::manual_seed(6);
  const Ints shape = {40, 3, 50};
  const Tensor self = at::randint(0, 9, shape, at::kLong),
               src = at::randint(0, 3, shape, at::kLong);
  for (int64_t dim = 0; dim < 3; ++dim) {
    for (int expanded = 0; expanded < 8; ++expanded) {
      for (const bool turned : {false, true}) {
        Ints sizes = shape;
        for (int64_t d = 0; d < 3; ++d) {
          if (expanded >> d & 1) sizes[static_cast<size_t>(d)] = 1;
        }
        Tensor few = at::randint(0, shape[static_cast<size_t>(dim)] - 1, sizes, at::kLong);
        if (turned) few = few.permute({2, 0, 1}).contiguous().permute({1, 2, 0});
        const Tensor index = few.expand(shape), written = index.contiguous().clone();
        SCOPED_TRACE(testing::Message() << dim << ' ' << expanded << ' ' << turned);
        for (const at::ScalarType as : {at::kLong, at::kInt}) {
          const Tensor named = as == at::kLong ? index : few.to(at::kInt).expand(shape);
          EXPECT_EQ(ints(self.gather(dim, named)), ints(self.gather(dim, written)));
          EXPECT_EQ(ints(self.scatter(dim, named, 9)), ints(self.scatter(dim, written, 9)));
          EXPECT_EQ(ints(self.scatter_add(dim, named, src)),
                    ints(self.scatter_add(dim, written, src)));
          EXPECT_EQ(ints(self.scatter(dim, named, src, "multiply")),
                    ints(self.scatter(dim, written, src, "multiply")));
          // Of places that name one position the last one counts.
          EXPECT_EQ(ints(self.scatter(dim, named, src)), ints(self.scatter(dim, written, src)));
        }
        few.fill_(shape[static_cast<size_t>(dim)]);
        Tensor unchanged = self.clone();
        EXPECT_THAT(message_of<c10::IndexError>([&] { self.gather(dim, index); }),
                    HasSubstr("is out of bounds for dimension " + std::to_string(dim)));
        EXPECT_ANY_THROW(unchanged.scatter_add_(dim, index, src));
        EXPECT_EQ(ints(unchanged), ints(self));
      }
    }
  }
  const Tensor none = at::empty({0, 1, 50}, at::kLong).expand({0, 3, 50});
  EXPECT_EQ(sizes(self.gather(0, none)), (Ints{0, 3, 50}));
  EXPECT_EQ(ints(self.scatter(0, none, 1)), ints(self));
}

TEST(IndexAdd, RowsOfEveryDtype) {
  at::manual_seed(6);
  for (at::ScalarType dtype : all_dtypes()) {
    for (int64_t width : {1, 15, 16, 17, 64, 131}) {
      for (int64_t dim : {0, 1}) {
        const Tensor self = at::randint(0, 2, {40, width}, at::kLong),
                     source = at::randint(0, 2, {9, width}, at::kLong),
                     index = at::randint(0, 40, {9}, at::kLong);
        const Tensor x = self.to(dtype), y = source.to(dtype);
        for (int64_t alpha : {1, 3}) {
          Ints sums = ints(self), picked;
          for (int64_t i = 0; i < 9; ++i) {
            for (int64_t j = 0; j < width; ++j) {
              int64_t& to = sums[index[i].item<int64_t>() * width + j];
              const int64_t from = ints(source)[i * width + j];
              to = dtype == at::kBool ? to | from : to + alpha * from;
              picked.push_back(ints(self)[index[i].item<int64_t>() * width + j]);
            }
          }
          const Tensor lines = dim == 0 ? x : x.t().clone(), from = dim == 0 ? y : y.t();
          const Tensor added = lines.index_add(dim, index, from, alpha);
          ASSERT_EQ(ints(dim == 0 ? added : added.t()), sums) << dtype << " " << width;
          const Tensor rows = lines.index_select(dim, index);
          ASSERT_EQ(ints(dim == 0 ? rows : rows.t()), picked) << dtype << " " << width;
        }
      }
    }
  }
}

TEST(Indexing, EveryWrongIndexIsSeen) {
  const Tensor x = at::zeros({5});
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(),
                    kMax = std::numeric_limits<int64_t>::max();
  for (int64_t place = 0; place < 70; ++place) {
    for (int64_t wrong : {int64_t{-1}, int64_t{5}, kMin, kMin + 5, kMax, kMax - 4}) {
      Tensor index = at::zeros({70}, at::kLong);
      index[place] = wrong;
      Tensor target = x.clone();
      ASSERT_THROW(target.scatter_(0, index, 1), c10::IndexError) << place << " " << wrong;
      ASSERT_EQ(doubles(target), Doubles(5, 0));
      if (wrong == -1) continue;
      ASSERT_THROW(x.index({index}), c10::IndexError) << place << " " << wrong;
    }
    Tensor last = at::zeros({70}, at::kLong);
    last[place] = -5;
    ASSERT_NO_THROW(x.index({last}));
    last[place] = -6;
    ASSERT_THROW(x.index({last}), c10::IndexError) << place;
  }
}

// Which are transposed to strips, where there are any.
TEST(Indexing, WrongIndexOfColumns) {
  const Tensor wide = at::zeros({64, 300});
  Tensor index = at::zeros({300}, at::kLong);
  EXPECT_THROW(wide.slice(1, 5, 5).t().index_select(0, index), c10::IndexError);
  for (int64_t wrong : {-1, 300}) {
    index[299] = wrong;
    EXPECT_THROW(wide.t().index_select(0, index), c10::IndexError);
    EXPECT_THROW(wide.t().index_add(0, index, at::ones({300, 64})), c10::IndexError);
  }
  EXPECT_EQ(doubles(wide), Doubles(64 * 300, 0));
}

TEST(IndexAdd, Values) {
  const Tensor t = at::ones({3, 2}, at::kLong);
  const Tensor source = at::tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(ints(t.index_add(0, at::tensor({2, 2}), source)), (Ints{1, 1, 1, 1, 5, 7}));
  EXPECT_EQ(ints(t.index_add(0, at::tensor({0, 1}), source, 10)), (Ints{11, 21, 31, 41, 1, 1}));
  Tensor columns = at::zeros({2, 3});
  columns.index_add_(1, at::tensor({0, 2}), at::ones({2, 2}));
  EXPECT_EQ(doubles(columns), (Doubles{1, 0, 1, 1, 0, 1}));
  EXPECT_ANY_THROW(t.index_add(0, at::tensor({0}), source));
  EXPECT_ANY_THROW(t.index_add(0, at::tensor({0, 3}), source));
}

TEST(Scatter, AddsLargeTensorsOnSeveralThreads) {
  const int64_t n = 200000;
  const Tensor index = at::arange(n).view({2, n / 2}).clone();
  const Tensor t = at::zeros({2, n}, at::kLong);
  const Tensor result = t.scatter_add(1, index, at::ones({2, n / 2}, at::kLong));
  int64_t sum = 0;
  for (int64_t x : ints(result)) sum += x;
  EXPECT_EQ(sum, n);
  EXPECT_EQ(ints(result.select(0, 1).slice(0, n / 2, n)), Ints(n / 2, 1));
}

// Rows and columns that threads share, of one matrix and of several, which one index stands for and
// which have an index for each element: against plain loops. Whole numbers, so that sums are exact.
TEST(Indexing, RowsThatSeveralThreadsShare) {
  const int threads = at::get_num_threads();
  const auto value = [](int64_t i) { return i * 7919 % 1009; };
  struct Shape {
    int64_t groups, positions, places, width;
  };
  for (const Shape& shape :
       {Shape{1, 170, 3000, 51}, Shape{1, 3, 1500, 301}, Shape{1, 900, 70, 600},
        Shape{3, 40, 500, 60}, Shape{40, 5, 9, 200}, Shape{1, 5000, 70000, 1}}) {
    const auto [groups, positions, places, width] = shape;
    Ints names, whole_names;
    for (int64_t i = 0; i < places; ++i) names.push_back(value(i) % positions);
    for (int64_t i = 0; i < groups * places * width; ++i)
      whole_names.push_back(value(i) % positions);
    const Tensor index = at::tensor(names);
    const Tensor whole = at::tensor(whole_names).view({groups, places, width});
    const auto numbers = [&](int64_t rows) {
      Ints all;
      for (int64_t i = 0; i < groups * rows * width; ++i) all.push_back(value(i));
      return at::tensor(all).view({groups, rows, width});
    };
    const Tensor self = numbers(positions), source = numbers(places);
    const Ints self_values = ints(self), source_values = ints(source);
    Ints selected, gathered, added(self_values), scattered(self_values);
    for (int64_t i = 0; i < groups * places * width; ++i) {
      const int64_t group = i / (places * width), column = i % width;
      const auto at = [&](int64_t row) { return (group * positions + row) * width + column; };
      const int64_t one = at(names[i / width % places]), own = at(whole_names[i]);
      selected.push_back(self_values[one]);
      gathered.push_back(self_values[own]);
      added[one] += source_values[i];
      scattered[own] += source_values[i];
    }
    for (int count : {1, 2, 3}) {
      at::set_num_threads(count);
      EXPECT_EQ(ints(self.index_select(1, index)), selected);
      EXPECT_EQ(ints(self.gather(1, whole)), gathered);
      EXPECT_EQ(ints(self.index_add(1, index, source)), added);
      EXPECT_EQ(ints(self.scatter_add(1, whole, source)), scattered);
    }
  }
  at::set_num_threads(threads);
}

TEST(MaskedSelect, AndNonzero) {
  const Tensor t = counted({2, 3});
  const Tensor mask = at::tensor({{true, false, true}, {false, false, true}});
  EXPECT_EQ(ints(t.masked_select(mask)), (Ints{0, 2, 5}));
  EXPECT_EQ(ints(t.masked_select(at::tensor({false, true, false}))), (Ints{1, 4}));
  EXPECT_EQ(ints(mask.nonzero()), (Ints{0, 0, 0, 2, 1, 2}));
  EXPECT_EQ(sizes(at::zeros({2, 2}).nonzero()), (Ints{0, 2}));
  EXPECT_EQ(sizes(at::tensor(3).nonzero()), (Ints{1, 0}));
  EXPECT_EQ(sizes(at::argwhere(at::ones({100000}))), (Ints{100000, 1}));
  EXPECT_ANY_THROW(t.masked_select(at::ones({2, 3}, at::kLong)));
  Tensor out = at::empty({0}, at::kLong);
  at::nonzero_out(out, at::tensor({0, 1}));
  EXPECT_EQ(ints(out), (Ints{1}));
  for (at::ScalarType dtype : all_dtypes()) {
    EXPECT_EQ(ints(at::tensor({1, 0, 1}).to(dtype).nonzero()), (Ints{0, 2})) << dtype;
  }
}

// Lengths around the 8 flags that are looked at together, the blocks and the threads' parts, with
// few and many flags set.
TEST(MaskedSelect, AndNonzeroOfEveryLength) {
  at::manual_seed(7);
  const int threads = at::get_num_threads();
  for (int64_t n : {1, 7, 8, 9, 255, 256, 1023, 1025, 32767, 32769, 70001}) {
    for (int64_t density : {0, 1, 50, 99, 100}) {
      const Tensor mask = at::randint(0, 100, {n}, at::kLong) < density, t = counted({n});
      Ints expected;
      for (int64_t i = 0; const int64_t flag : ints(mask)) {
        if (flag != 0) expected.push_back(i);
        ++i;
      }
      at::set_num_threads(1 + static_cast<int>(n % 3));
      ASSERT_EQ(ints(mask.nonzero()), expected) << n << " " << density;
      for (at::ScalarType dtype :
           {at::kByte, at::kHalf, at::kFloat, at::kLong, at::kComplexDouble}) {
        const Tensor values = t.remainder(120).to(dtype);
        ASSERT_EQ(ints(values.masked_select(mask)), ints(t.masked_select(mask).remainder(120)));
      }
      const Tensor picked = t.masked_select(mask);
      ASSERT_EQ(ints(picked), expected) << n << " " << density;
      ASSERT_EQ(ints(t.index({mask})), expected) << n << " " << density;
    }
  }
  at::set_num_threads(threads);
  // Bytes of foreign memory, which any number but 0 makes true.
  std::vector<uint8_t> bytes(300);
  Ints expected;
  for (int64_t i = 0; i < 300; ++i) {
    bytes[i] = static_cast<uint8_t>(i);
    if (bytes[i] != 0) expected.push_back(i);
  }
  const Tensor foreign = at::from_blob(bytes.data(), {300}, at::kBool);
  EXPECT_EQ(ints(foreign.nonzero()), expected);
  EXPECT_EQ(ints(counted({300}).masked_select(foreign)), expected);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(ints(f64({0.0, -0.0, nan, 5e-324}).nonzero()), (Ints{2, 3}));
}

TEST(MaskedSelect, AndNonzeroOfSeveralDimensions) {
  at::manual_seed(8);
  for (const Ints& shape :
       {Ints{}, {3, 5}, {5, 1}, {1, 5}, {70, 3, 500}, {3, 1, 7, 2}, {4, 0, 2}}) {
    Tensor t = at::randint(0, 2, shape, at::kLong);
    for (bool reversed : {false, true}) {
      if (reversed) {
        Ints dims(shape.size());
        std::iota(dims.rbegin(), dims.rend(), 0);
        t = t.permute(dims);
      }
      Ints expected;
      const Ints all = ints(t), lengths = sizes(t);
      for (int64_t i = 0; i < t.numel(); ++i) {
        if (all[i] == 0) continue;
        int64_t rest = i, after = t.numel();
        for (int64_t length : lengths) {
          after /= length;
          expected.push_back(rest / after);
          rest %= after;
        }
      }
      ASSERT_EQ(ints(t.nonzero()), expected);
      ASSERT_EQ(ints(t.to(at::kBool).nonzero()), expected);
      const Tensor order = counted(shape).reshape(lengths);
      ASSERT_EQ(ints(order.masked_select(t.to(at::kBool))), ints(t.reshape({-1}).nonzero()));
    }
  }
}

TEST(IndexPut, NumbersWhereAMaskHolds) {
  const Tensor t = counted({3, 3}), mask = t.remainder(2).eq(0);
  Tensor x = t.clone();
  x.index_put_({mask}, at::tensor(9));
  EXPECT_EQ(ints(x), (Ints{9, 1, 9, 3, 9, 5, 9, 7, 9}));
  x.index_put_({mask}, at::tensor({8}));
  EXPECT_EQ(ints(x), (Ints{8, 1, 8, 3, 8, 5, 8, 7, 8}));
  x.index_put_({mask}, at::tensor({1}), /*accumulate=*/true);
  EXPECT_EQ(ints(x), (Ints{9, 1, 9, 3, 9, 5, 9, 7, 9}));
  const std::vector<std::optional<Tensor>> whole = {mask};
  EXPECT_ANY_THROW(at::index_put(x, whole, at::tensor({7}).view({1, 1})));
  EXPECT_EQ(ints(x), (Ints{9, 1, 9, 3, 9, 5, 9, 7, 9}));
  // A mask that is a part of what is written to.
  Tensor flags = at::tensor({true, false, true, false});
  flags.slice(0, 1, 4).index_put_({flags.slice(0, 0, 3)}, at::tensor(false));
  EXPECT_EQ(ints(flags), (Ints{1, 0, 1, 0}));
  flags.index_put_({flags}, at::tensor(false));
  EXPECT_EQ(ints(flags), Ints(4, 0));
}

// Whole rows, some of them named twice, from the end or without gaps.
TEST(IndexPut, RowsOfEveryDtype) {
  at::manual_seed(9);
  const Tensor index = at::tensor({3, -1, 3});
  for (at::ScalarType dtype : all_dtypes()) {
    for (int64_t width : {1, 16, 67}) {
      const Tensor t = at::randint(0, 2, {5, width}, at::kLong),
                   values = at::randint(0, 2, {3, width}, at::kLong);
      for (int64_t step : {1, 2}) {
        for (bool accumulate : {false, true}) {
          Ints expected = ints(t);
          const Ints from = ints(values);
          for (int64_t i = 0; i < 3; ++i) {
            for (int64_t j = 0; j < width; ++j) {
              int64_t& to = expected[(i == 1 ? 4 : 3) * width + j];
              to = (accumulate ? to : 0) + from[i * width + j];
              if (dtype == at::kBool) to = to != 0;
            }
          }
          Tensor wide = at::zeros({5, width * step}, t.options().dtype(dtype));
          Tensor x = wide.slice(1, 0, width * step, step).copy_(t);
          x.index_put_({index}, values.to(dtype), accumulate);
          ASSERT_EQ(ints(x), expected) << dtype << " " << width << " " << step;
        }
      }
    }
  }
}

// ---- index, index_put ----

TEST(IndexPut, AccumulatesRepeatedPlaces) {
  const std::vector<std::optional<Tensor>> index = {at::tensor({1, 1, 0, 1})};
  const Tensor t = at::zeros({2});
  EXPECT_EQ(doubles(at::index_put(t, index, at::ones({4}), true)), (Doubles{1, 3}));
  EXPECT_EQ(doubles(t), (Doubles{0, 0}));
  Tensor self = counted({3});
  // Values and index in self's own memory are read before anything is written.
  self.index_put_({at::tensor({2, 1, 0})}, self);
  EXPECT_EQ(ints(self), (Ints{2, 1, 0}));
}

TEST(Index, EveryDtype) {
  for (at::ScalarType dtype : all_dtypes()) {
    const Tensor t = at::tensor({1, 0, 1}).to(dtype);
    EXPECT_EQ(doubles(t.index({at::tensor({2, 1})})), (Doubles{1, 0})) << dtype;
    EXPECT_EQ(doubles(t.gather(0, at::tensor({1, 2}))), (Doubles{0, 1})) << dtype;
    EXPECT_EQ(doubles(at::zeros({2}, dtype).scatter_add(0, at::tensor({1}), at::ones({1}, dtype))),
              (Doubles{0, 1}))
        << dtype;
  }
}

TEST(IndexAdd, OfOneNumberForEachRow) {
  at::manual_seed(8);
  const Tensor index = at::randint(0, 20, {50}, at::kLong);
  for (const at::ScalarType dtype :
       {at::kBool, at::kByte, at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kComplexFloat}) {
    for (const int64_t width : {5, 64, 700}) {  // pieces of 256
      const Tensor numbers = at::randint(0, 3, {50, 1}, at::kLong).to(dtype);
      const Tensor source = numbers.expand({50, width});
      const Tensor self = at::randint(0, 9, {20, width}, at::kLong).to(dtype);
      EXPECT_TRUE(at::equal(self.index_add(0, index, source),
                            self.index_add(0, index, source.contiguous())))
          << dtype << ' ' << width;
    }
  }
}

TEST(Index, OfOneDimensionOfEveryLayout) {
  at::manual_seed(7);
  Ints order = {0, 1, 2, 3};
  do {
    for (const at::ScalarType dtype : {at::kByte, at::kFloat, at::kComplexDouble}) {
      const Tensor x = at::randint(0, 99, {40, 30, 3, 8}, at::kLong).to(dtype).permute(order);
      for (int64_t d = 0; d < 4; ++d) {
        for (const int64_t count : {2, 3, 20}) {
          SCOPED_TRACE(testing::Message() << testing::PrintToString(order) << d << ' ' << count);
          std::vector<std::optional<Tensor>> indices(static_cast<size_t>(d));
          indices.emplace_back(at::randint(0, x.sizes()[d], {count}, at::kLong));
          const Tensor taken = x.index(indices);
          // Of a batch with channels last, as they are.
          const bool keeps = order == Ints{0, 3, 1, 2} && d == 0;
          EXPECT_TRUE((keeps ? taken.permute({0, 2, 3, 1}) : taken).is_contiguous());
          // By slices of one position each.
          const Ints places = ints(*indices.back());
          for (int64_t i = 0; i < count; ++i) {
            ASSERT_TRUE(at::equal(taken.select(d, i),
                                  x.select(d, places[static_cast<size_t>(i)]).contiguous()));
          }
        }
      }
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST(Index, OnMeta) {
  const Tensor t = at::ones({3, 4}, at::TensorOptions().device("meta"));
  const Tensor i = at::zeros({2}, at::TensorOptions().dtype(at::kLong).device("meta"));
  EXPECT_EQ(sizes(t.index({i})), (Ints{2, 4}));
  EXPECT_EQ(sizes(t.index_select(1, i)), (Ints{3, 2}));
}

// The Meta kernel gets such a call, and must not take self for a tensor without data.
TEST(Indexing, OperandsOnSeveralDevicesAreRefused) {
  const Tensor index = at::tensor({0, 2}), meta = at::empty({2}, index.options().device("meta"));
  const Tensor self = at::zeros({3}, at::kLong);
  const auto put = [&](const Tensor& at, const Tensor& values) {
    return message_of<c10::Error>(
        [&] { Tensor(self).index_put_({std::optional<Tensor>(at)}, values); });
  };
  EXPECT_THAT(put(meta, index), HasSubstr("expected indices on device cpu, got one on meta"));
  EXPECT_THAT(put(index, meta), HasSubstr("expected values on device cpu, got ones on meta"));
  EXPECT_THAT(message_of<c10::Error>([&] { at::index(self, {std::optional<Tensor>(meta)}); }),
              HasSubstr("indices on device"));
  EXPECT_EQ(ints(self), (Ints{0, 0, 0}));
  EXPECT_TRUE(at::index(self.to("meta"), {std::optional<Tensor>(index)}).is_meta());
}

TEST(Indexing, MasksWithoutDimensionsKeepOrDropTheDimensionAddedForThem) {
  const Tensor t = at::tensor({1, 2, 3}).unsqueeze(0);
  for (at::ScalarType dtype : {at::kBool, at::kByte}) {
    const auto by = [&](int value) {
      return at::index(t, {std::optional<Tensor>(at::full({}, value).to(dtype))});
    };
    EXPECT_EQ(ints(by(1)), (Ints{1, 2, 3}));
    EXPECT_EQ(sizes(by(0)), (Ints{0, 3}));
  }
}

}  // namespace
