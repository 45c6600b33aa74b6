// Views, their strides and aliasing; joining, repeating, reversing.
#include "Testing.h"

#include <generated/ops/as_strided.h>
#include <generated/ops/broadcast_to.h>
#include <generated/ops/cat.h>
#include <generated/ops/chunk.h>
#include <generated/ops/clone.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/diagonal.h>
#include <generated/ops/empty.h>
#include <generated/ops/expand.h>
#include <generated/ops/expand_as.h>
#include <generated/ops/flatten.h>
#include <generated/ops/flip.h>
#include <generated/ops/full.h>
#include <generated/ops/imag.h>
#include <generated/ops/mT.h>
#include <generated/ops/movedim.h>
#include <generated/ops/narrow.h>
#include <generated/ops/ones.h>
#include <generated/ops/permute.h>
#include <generated/ops/ravel.h>
#include <generated/ops/real.h>
#include <generated/ops/remainder.h>
#include <generated/ops/repeat.h>
#include <generated/ops/reshape.h>
#include <generated/ops/roll.h>
#include <generated/ops/select.h>
#include <generated/ops/slice.h>
#include <generated/ops/split.h>
#include <generated/ops/split_with_sizes.h>
#include <generated/ops/squeeze.h>
#include <generated/ops/stack.h>
#include <generated/ops/t.h>
#include <generated/ops/transpose.h>
#include <generated/ops/unbind.h>
#include <generated/ops/unflatten.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/view_as_complex.h>
#include <generated/ops/view_as_real.h>
#include <generated/ops/zero.h>
#include <generated/ops/zeros.h>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

// ---- Views ----

TEST(View, SharesMemory) {
  const Tensor t = counted({2, 6});
  const Tensor v = t.view({3, 4});
  EXPECT_TRUE(v.is_alias_of(t));
  EXPECT_EQ(strides(v), (Ints{4, 1}));
  v.select(0, 2).select(0, 3).fill_(100);
  EXPECT_EQ(ints(t).back(), 100);
  EXPECT_EQ(sizes(t.view({-1, 4})), (Ints{3, 4}));
  EXPECT_EQ(sizes(t.view({12})), (Ints{12}));
  EXPECT_EQ(sizes(at::ones({1}).view({})), (Ints{}));
  EXPECT_EQ(sizes(at::ones({}).view({1, 1})), (Ints{1, 1}));
  EXPECT_EQ(sizes(at::ones({0, 3}).view({3, 0})), (Ints{3, 0}));
  EXPECT_EQ(sizes(at::ones({0, 3}).view({-1, 3})), (Ints{0, 3}));
}

TEST(View, OfStridedTensors) {
  const Tensor t = counted({4, 6}).slice(1, 0, 4);  // strides 6, 1
  EXPECT_EQ(strides(t.view({2, 2, 2, 2})), (Ints{12, 6, 2, 1}));
  EXPECT_THAT(message_of<c10::Error>([&] { t.view({16}); }), HasSubstr("reshape"));
  EXPECT_EQ(ints(t.reshape({16})), (Ints{0, 1, 2, 3, 6, 7, 8, 9, 12, 13, 14, 15, 18, 19, 20, 21}));
  EXPECT_FALSE(t.reshape({16}).is_alias_of(t));
  EXPECT_TRUE(t.reshape({2, 2, 4}).is_alias_of(t));
  const Tensor turned = counted({2, 3}).t();
  EXPECT_EQ(strides(turned.view({3, 1, 2})), (Ints{1, 6, 3}));
  EXPECT_ANY_THROW(turned.view({6}));
}

TEST(View, Errors) {
  const Tensor t = counted({3, 4});
  EXPECT_THAT(message_of<c10::Error>([&] { t.view({5}); }),
              HasSubstr("view(): shape [5] is invalid for input of size 12"));
  EXPECT_THAT(message_of<c10::Error>([&] { t.view({-1, -1}); }), HasSubstr("only one"));
  EXPECT_ANY_THROW(t.view({-2, 6}));
  EXPECT_ANY_THROW(at::ones({0}).view({-1, 0}));
  EXPECT_ANY_THROW(t.view({int64_t{1} << 62, 4}));
}

TEST(Expand, HasStrideZero) {
  const Tensor t = counted({3, 1});
  const Tensor e = t.expand({2, 3, 4});
  EXPECT_EQ(strides(e), (Ints{0, 1, 0}));
  EXPECT_EQ(ints(e.select(0, 1).select(0, 2)), (Ints{2, 2, 2, 2}));
  EXPECT_EQ(sizes(t.expand({-1, 5})), (Ints{3, 5}));
  EXPECT_EQ(sizes(t.expand({0, 3, 1})), (Ints{0, 3, 1}));
  EXPECT_EQ(sizes(at::ones({}).expand({2})), (Ints{2}));
  EXPECT_EQ(sizes(t.expand_as(at::ones({3, 7}))), (Ints{3, 7}));
  EXPECT_EQ(sizes(at::broadcast_to(t, {3, 2})), (Ints{3, 2}));
  EXPECT_THAT(message_of<c10::Error>([&] { t.expand({4, 1}); }), HasSubstr("expand"));
  EXPECT_ANY_THROW(t.expand({3}));
  EXPECT_ANY_THROW(t.expand({-1, 3, 1}));
}

TEST(Transpose, ViewsAndInPlace) {
  const Tensor t = counted({2, 3, 4});
  EXPECT_EQ(strides(t.transpose(0, -1)), (Ints{1, 4, 12}));
  EXPECT_EQ(sizes(t.permute({2, 0, 1})), (Ints{4, 2, 3}));
  EXPECT_EQ(strides(t.permute({2, 0, 1})), (Ints{1, 12, 4}));
  EXPECT_EQ(sizes(t.mT()), (Ints{2, 4, 3}));
  EXPECT_EQ(sizes(at::movedim(t, 0, 2)), (Ints{3, 4, 2}));
  EXPECT_EQ(sizes(at::movedim(t, {0, 1}, {-1, 0})), (Ints{3, 4, 2}));
  EXPECT_EQ(sizes(at::ones({3}).t()), (Ints{3}));
  Tensor m = counted({2, 3});
  m.t_();
  EXPECT_EQ(ints(m), (Ints{0, 3, 1, 4, 2, 5}));
  m.transpose_(0, 1);
  EXPECT_EQ(ints(m), (Ints{0, 1, 2, 3, 4, 5}));
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.transpose(0, 3); }),
              HasSubstr("transpose(): expected dim in [-3, 2] for a 3-d input, got 3"));
  EXPECT_ANY_THROW(t.t());
  EXPECT_THAT(message_of<c10::Error>([&] { t.permute({0, 1, 1}); }), HasSubstr("more than once"));
  EXPECT_ANY_THROW(t.permute({0, 1}));
}

TEST(Select, OffsetsAndErrors) {
  const Tensor t = counted({3, 4});
  const Tensor row = t.select(0, -1);
  EXPECT_EQ(row.storage_offset(), 8);
  EXPECT_EQ(ints(row), (Ints{8, 9, 10, 11}));
  EXPECT_EQ(ints(t[1]), (Ints{4, 5, 6, 7}));
  EXPECT_EQ(ints(t.select(1, 2)), (Ints{2, 6, 10}));
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.select(0, 7); }),
              HasSubstr("select(): index 7 out of range for dim 0 of size 3"));
  EXPECT_ANY_THROW(t.select(2, 0));
  EXPECT_ANY_THROW(at::ones({}).select(0, 0));
  EXPECT_ANY_THROW(at::ones({0}).select(0, 0));
}

TEST(Slice, ClampsAsPythonDoes) {
  const Tensor t = counted({5});
  EXPECT_EQ(ints(t.slice(0, 1, 4, 2)), (Ints{1, 3}));
  EXPECT_EQ(ints(t.slice(0, -2)), (Ints{3, 4}));
  EXPECT_EQ(ints(t.slice(0, -100, 100)), (Ints{0, 1, 2, 3, 4}));
  EXPECT_EQ(t.slice(0, 4, 2).numel(), 0);
  EXPECT_EQ(ints(t.slice(0, {}, {}, int64_t{1} << 62)), (Ints{0}));
  EXPECT_EQ(ints(t.slice()), ints(t));
  EXPECT_ANY_THROW(t.slice(0, 0, 3, 0));
  EXPECT_ANY_THROW(t.slice(0, 0, 3, -1));
  EXPECT_EQ(ints(t.narrow(0, 1, 2)), (Ints{1, 2}));
  EXPECT_EQ(ints(t.narrow(0, -2, 2)), (Ints{3, 4}));
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.narrow(0, 3, 3); }), HasSubstr("exceeds"));
  EXPECT_ANY_THROW(t.narrow(0, 0, -1));
  EXPECT_ANY_THROW(t.narrow(0, 6, 0));
}

TEST(Squeeze, AllForms) {
  const Tensor t = at::ones({1, 3, 1});
  EXPECT_EQ(sizes(t.squeeze()), (Ints{3}));
  EXPECT_EQ(sizes(t.squeeze(0)), (Ints{3, 1}));
  EXPECT_EQ(sizes(t.squeeze(1)), (Ints{1, 3, 1}));
  EXPECT_EQ(sizes(t.squeeze(at::IntArrayRef{0, -1})), (Ints{3}));
  EXPECT_EQ(sizes(at::ones({}).squeeze(0)), (Ints{}));
  EXPECT_EQ(sizes(at::ones({2, 3}).unsqueeze(1)), (Ints{2, 1, 3}));
  EXPECT_EQ(strides(at::ones({2, 3}).unsqueeze(1)), (Ints{3, 3, 1}));
  EXPECT_EQ(sizes(at::ones({2, 3}).unsqueeze(-1)), (Ints{2, 3, 1}));
  EXPECT_EQ(sizes(at::ones({}).unsqueeze(0)), (Ints{1}));
  Tensor m = at::ones({1, 3});
  m.squeeze_();
  EXPECT_EQ(sizes(m), (Ints{3}));
  m.unsqueeze_(1);
  EXPECT_EQ(sizes(m), (Ints{3, 1}));
  m.squeeze_(-1);
  EXPECT_EQ(sizes(m), (Ints{3}));
  EXPECT_THAT(message_of<c10::IndexError>([&] { t.unsqueeze(4); }),
              HasSubstr("expected dim in [-4, 3]"));
  EXPECT_ANY_THROW(t.squeeze(3));
}

TEST(Flatten, AndUnflatten) {
  const Tensor t = counted({2, 3, 4});
  EXPECT_EQ(sizes(t.flatten()), (Ints{24}));
  EXPECT_EQ(sizes(t.flatten(1)), (Ints{2, 12}));
  EXPECT_EQ(sizes(t.flatten(0, 1)), (Ints{6, 4}));
  EXPECT_EQ(sizes(at::ones({}).flatten()), (Ints{1}));
  EXPECT_EQ(sizes(t.unflatten(2, {2, -1})), (Ints{2, 3, 2, 2}));
  EXPECT_EQ(sizes(t.ravel()), (Ints{24}));
  EXPECT_TRUE(t.flatten(1).is_alias_of(t));
  EXPECT_ANY_THROW(t.flatten(1, 0));
  EXPECT_ANY_THROW(t.unflatten(2, {3, 2}));
  EXPECT_ANY_THROW(t.unflatten(2, {}));
}

TEST(AsStrided, StaysInsideTheMemory) {
  const Tensor t = counted({12});
  const Tensor v = t.as_strided({3, 3}, {4, 1}, 1);
  EXPECT_EQ(ints(v), (Ints{1, 2, 3, 5, 6, 7, 9, 10, 11}));
  EXPECT_EQ(ints(t.as_strided({3, 2}, {1, 1})), (Ints{0, 1, 1, 2, 2, 3}));
  EXPECT_EQ(t.as_strided({0}, {1}, 12).numel(), 0);
  EXPECT_THAT(message_of<c10::Error>([&] { t.as_strided({13}, {1}); }), HasSubstr("out of bounds"));
  EXPECT_ANY_THROW(t.as_strided({2}, {1}, 11));
  EXPECT_ANY_THROW(t.as_strided({2}, {-1}));
  EXPECT_ANY_THROW(t.as_strided({2}, {1}, -1));
  EXPECT_ANY_THROW(t.as_strided({2, 2}, {1}));
  EXPECT_ANY_THROW(t.as_strided({2}, {int64_t{1} << 62}));
  Tensor m = counted({4});
  m.as_strided_({2}, {2});
  EXPECT_EQ(ints(m), (Ints{0, 2}));
}

TEST(Diagonal, Offsets) {
  const Tensor t = counted({3, 4});
  EXPECT_EQ(ints(t.diagonal()), (Ints{0, 5, 10}));
  EXPECT_EQ(ints(t.diagonal(1)), (Ints{1, 6, 11}));
  EXPECT_EQ(ints(t.diagonal(-1)), (Ints{4, 9}));
  EXPECT_EQ(t.diagonal(4).numel(), 0);
  EXPECT_EQ(t.diagonal(std::numeric_limits<int64_t>::min()).numel(), 0);
  EXPECT_EQ(sizes(counted({2, 3, 4}).diagonal(0, 0, 2)), (Ints{3, 2}));
  EXPECT_TRUE(t.diagonal().is_alias_of(t));
  EXPECT_ANY_THROW(t.diagonal(0, 0, 0));
  EXPECT_ANY_THROW(at::ones({3}).diagonal());
}

TEST(Split, AllForms) {
  const Tensor t = counted({5, 2});
  const auto parts = t.split(2);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(ints(parts[2]), (Ints{8, 9}));
  EXPECT_TRUE(parts[1].is_alias_of(t));
  const auto sized = t.split_with_sizes({1, 0, 4});
  EXPECT_EQ(sizes(sized[1]), (Ints{0, 2}));
  EXPECT_EQ(ints(sized[2]).front(), 2);
  EXPECT_EQ(t.split(at::IntArrayRef{2, 3}).size(), 2u);
  EXPECT_EQ(t.chunk(4).size(), 3u);
  EXPECT_EQ(t.chunk(2, 1)[1].storage_offset(), 1);
  EXPECT_EQ(at::ones({0, 2}).chunk(3).size(), 3u);
  EXPECT_EQ(at::ones({0, 2}).split(0).size(), 1u);
  const auto rows = t.unbind();
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(ints(rows[3]), (Ints{6, 7}));
  EXPECT_EQ(t.unbind(1).size(), 2u);
  EXPECT_ANY_THROW(t.split(-1));
  EXPECT_ANY_THROW(t.split(0));
  EXPECT_ANY_THROW(t.split_with_sizes({1, 2}));
  EXPECT_ANY_THROW(t.chunk(0));
  EXPECT_ANY_THROW(at::ones({}).unbind());
}

TEST(Views, OnMetaAndOfEveryDtype) {
  const Tensor meta = at::ones({2, 3}, at::TensorOptions().device("meta"));
  EXPECT_EQ(sizes(meta.t().unsqueeze(0)), (Ints{1, 3, 2}));
  EXPECT_TRUE(meta.select(0, 1).is_meta());
  for (at::ScalarType dtype : all_dtypes()) {
    const Tensor t = at::tensor({{0, 1}, {1, 0}}).to(dtype);
    EXPECT_EQ(doubles(t.t().select(0, 1)), (Doubles{1, 0})) << dtype;
    EXPECT_EQ(doubles(at::cat({t, t}).narrow(0, 2, 1)), (Doubles{0, 1})) << dtype;
    EXPECT_EQ(doubles(t.flip({0})), (Doubles{1, 0, 0, 1})) << dtype;
  }
}

TEST(Complex, ViewsOfTheParts) {
  const Tensor t = at::tensor({c10::complex<double>(1, 2), c10::complex<double>(3, 4)});
  const Tensor parts = at::view_as_real(t);
  EXPECT_EQ(sizes(parts), (Ints{2, 2}));
  EXPECT_EQ(doubles(parts), (Doubles{1, 2, 3, 4}));
  EXPECT_TRUE(parts.is_alias_of(t));
  EXPECT_EQ(doubles(at::imag(t)), (Doubles{2, 4}));
  EXPECT_EQ(doubles(at::real(t)), (Doubles{1, 3}));
  EXPECT_EQ(at::view_as_complex(parts).scalar_type(), t.scalar_type());
  EXPECT_ANY_THROW(at::view_as_complex(at::ones({3})));
  EXPECT_ANY_THROW(at::view_as_complex(at::ones({2, 3}).t().slice(1, 0, 2)));
  EXPECT_ANY_THROW(at::imag(at::ones({2})));
}

TEST(View, OfAnotherDtypeSharesTheBits) {
  const Tensor t = at::ones({2, 4});
  const Tensor bits = t.view(at::kInt);
  EXPECT_TRUE(bits.is_alias_of(t));
  EXPECT_EQ(ints(bits), Ints(8, 0x3f800000));
  Tensor(bits).zero_();
  EXPECT_EQ(doubles(t), Doubles(8, 0));
  EXPECT_EQ(t._version(), bits._version());

  const Tensor bytes = t.slice(0, 1).view(at::kByte);
  EXPECT_EQ(sizes(bytes), (Ints{1, 16}));
  EXPECT_EQ(bytes.storage_offset(), 16);
  EXPECT_EQ(ints(t.t().view(at::kInt)), Ints(8, 0));  // any strides will do for one size
  const Tensor wide = counted({3, 2, 4}).view(at::kByte).slice(1, 1).view(at::kComplexDouble);
  EXPECT_EQ(sizes(wide), (Ints{3, 1, 2}));
  EXPECT_EQ(wide.strides().vec(), (Ints{4, 2, 1}));
  EXPECT_EQ(wide.storage_offset(), 2);
  EXPECT_EQ(at::tensor(1.0f).view(at::kInt).item<int64_t>(), 0x3f800000);
}

TEST(View, OfAnotherDtypeIsRefusedWhereTheElementsDoNotFit) {
  const auto message = [](const Tensor& t, at::ScalarType dtype) {
    return message_of<c10::Error>([&] { t.view(dtype); });
  };
  const Tensor t = at::ones({3, 6});
  EXPECT_THAT(message(at::ones({}), at::kHalf), HasSubstr("a 0-d tensor of float32"));
  EXPECT_THAT(message(t.t(), at::kHalf), HasSubstr("the last dimension must have stride 1"));
  EXPECT_THAT(message(t.slice(1, 1), at::kDouble),
              HasSubstr("must be a multiple of 2, got shape [3, 5]"));
  EXPECT_THAT(message(t.slice(1, 1, 3), at::kDouble), HasSubstr("got offset 1 and strides [6, 1]"));
  EXPECT_THAT(message(at::ones({3, 5}).slice(1, 0, 4), at::kDouble), HasSubstr("strides [5, 1]"));
  EXPECT_THAT(message(t, at::kComplexDouble), HasSubstr("must be a multiple of 4, got shape"));
}

// ---- Joining ----

TEST(Cat, ValuesPromotionAndLayout) {
  const Tensor a = counted({2, 2});
  const Tensor b = counted({1, 2}) + 10;
  EXPECT_EQ(ints(at::cat({a, b})), (Ints{0, 1, 2, 3, 10, 11}));
  EXPECT_EQ(ints(at::cat({a, a}, 1)), (Ints{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(ints(at::cat({a.t(), b}, -2)), (Ints{0, 2, 1, 3, 10, 11}));
  EXPECT_EQ(at::cat({a, at::ones({1, 2})}).scalar_type(), at::kFloat);
  EXPECT_EQ(doubles(at::cat({a, at::full({1, 2}, 0.5)})), (Doubles{0, 1, 2, 3, 0.5, 0.5}));
  EXPECT_EQ(sizes(at::cat({at::ones({0}), a})), (Ints{2, 2}));
  EXPECT_EQ(sizes(at::cat({at::ones({0}), at::ones({0})})), (Ints{0}));
  EXPECT_EQ(sizes(at::cat({at::ones({0, 2}), a})), (Ints{2, 2}));
  const Tensor image = at::ones({1, 2, 2, 2}).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(at::cat({image, image}).is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_EQ(doubles(at::cat({image, image}, 1)), Doubles(16, 1.0));
}

// The strides are PyTorch's.
TEST(Cat, AndStackOfChannelsLast) {
  const Tensor a = counted({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast), b = a + 100;
  const Tensor gaps =
      counted({2, 3, 4, 8}).contiguous(at::MemoryFormat::ChannelsLast).slice(3, 0, 5);
  const Tensor cubes = counted({2, 3, 4, 5, 2}).contiguous(at::MemoryFormat::ChannelsLast3d);
  const std::vector<Ints> of_four{{120, 60, 1, 15, 3},
                                  {120, 3, 1, 30, 6},
                                  {120, 1, 60, 15, 3},
                                  {120, 1, 30, 15, 3},
                                  {120, 40, 10, 2, 1}};
  const std::vector<Ints> of_five{{240, 120, 1, 30, 6, 3}, {240, 3, 1, 60, 12, 6},
                                  {240, 1, 120, 30, 6, 3}, {240, 1, 60, 30, 6, 3},
                                  {240, 1, 60, 12, 6, 3},  {240, 80, 20, 4, 2, 1}};
  const auto expect = [](const Tensor& x, const Tensor& y, const std::vector<Ints>& strides) {
    const Tensor plain = x.contiguous(), other = y.contiguous();
    for (int64_t dim = 0; dim <= x.dim(); ++dim) {
      const Tensor stack = at::stack({x, y}, dim);
      EXPECT_EQ(Ints(stack.strides().begin(), stack.strides().end()), strides[dim]) << dim;
      ASSERT_EQ(ints(stack), ints(at::stack({plain, other}, dim))) << dim;
      // Into other strides, and with tensors that lie otherwise.
      Tensor out = at::zeros(stack.sizes(), x.options());
      at::stack_out(out, {x, y}, dim);
      ASSERT_EQ(ints(out), ints(stack)) << dim;
      ASSERT_TRUE(at::stack({x, other}, dim).is_contiguous()) << dim;
      ASSERT_EQ(ints(at::stack({x, other}, dim)), ints(stack)) << dim;
      if (dim == x.dim()) continue;
      const Tensor both = at::cat({x, y}, dim);
      ASSERT_TRUE(both.is_contiguous(x.suggest_memory_format())) << dim;
      ASSERT_EQ(ints(both), ints(at::cat({plain, other}, dim))) << dim;
    }
  };
  expect(a, b, of_four);
  expect(gaps, b, of_four);
  expect(cubes, cubes + 100, of_five);
}

// Many rows of few elements from each tensor, and of some more.
TEST(Cat, AndStackOfColumns) {
  for (at::ScalarType dtype : {at::kByte, at::kDouble}) {
    for (int64_t rows : {63, 64, 200}) {
      for (int64_t width : {1, 3, 5, 70}) {
        const Tensor a = counted({rows, width}).remainder(99).to(dtype),
                     b = counted({rows, 2}).remainder(98).to(dtype), none = at::ones({rows, 0});
        const Tensor both = at::cat({a, none.to(dtype), b}, 1), pair = at::stack({a, a + 1}, 1);
        ASSERT_EQ(ints(both.slice(1, 0, width)), ints(a)) << rows << " " << width;
        ASSERT_EQ(ints(both.slice(1, width, width + 2)), ints(b)) << rows << " " << width;
        ASSERT_EQ(sizes(pair), (Ints{rows, 2, width}));
        ASSERT_EQ(ints(pair.select(1, 0)), ints(a)) << rows << " " << width;
        ASSERT_EQ(ints(pair.select(1, 1)), ints(a + 1)) << rows << " " << width;
      }
    }
  }
}

TEST(Cat, OutAndErrors) {
  const Tensor a = counted({2, 2});
  Tensor out = at::empty({0}, at::kDouble);
  at::cat_out(out, {a, a});
  EXPECT_EQ(doubles(out), (Doubles{0, 1, 2, 3, 0, 1, 2, 3}));
  Tensor self = a.clone();
  EXPECT_ANY_THROW(at::cat_out(self, {self, a}));
  Tensor integer = at::empty({0}, at::kLong);
  EXPECT_ANY_THROW(at::cat_out(integer, {at::ones({2})}));
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::cat({a, at::ones({2, 3})});
              }),
              HasSubstr("Sizes of tensors must match"));
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::cat({a, Tensor()});
              }),
              HasSubstr("got an undefined one"));
  EXPECT_THAT(message_of<c10::Error>([&] {
                at::cat({a, at::ones({2})});
              }),
              HasSubstr("same number of dimensions"));
  EXPECT_ANY_THROW(at::cat({at::ones({})}));
  EXPECT_ANY_THROW(at::cat(std::vector<Tensor>{}));
  EXPECT_ANY_THROW(at::cat({a}, 2));
}

TEST(Stack, ValuesAndErrors) {
  const Tensor a = at::tensor({1, 2});
  const Tensor b = at::tensor({3, 4});
  EXPECT_EQ(ints(at::stack({a, b})), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(ints(at::stack({a, b}, -1)), (Ints{1, 3, 2, 4}));
  EXPECT_EQ(ints(at::stack({at::tensor(1), at::tensor(2)})), (Ints{1, 2}));
  EXPECT_EQ(at::stack({a, b.to(at::kDouble)}).scalar_type(), at::kDouble);
  Tensor out = at::empty({0}, at::kLong);
  at::stack_out(out, {a, b}, 1);
  EXPECT_EQ(ints(out), (Ints{1, 3, 2, 4}));
  EXPECT_ANY_THROW(at::stack({a, at::ones({3})}));
  EXPECT_ANY_THROW(at::stack({a, b}, 2));
}

TEST(Repeat, Values) {
  const Tensor t = counted({2, 2});
  EXPECT_EQ(ints(t.repeat({1, 2})), (Ints{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(ints(at::tensor({1, 2}).repeat({2, 1})), (Ints{1, 2, 1, 2}));
  EXPECT_EQ(ints(t.t().repeat({2, 1})), (Ints{0, 2, 1, 3, 0, 2, 1, 3}));
  EXPECT_EQ(ints(at::tensor(5).repeat({3})), (Ints{5, 5, 5}));
  EXPECT_EQ(sizes(t.repeat({0, 1})), (Ints{0, 2}));
  EXPECT_ANY_THROW(t.repeat({2}));
  EXPECT_ANY_THROW(t.repeat({-1, 1}));
  EXPECT_ANY_THROW(t.repeat({int64_t{1} << 62, 4}));
}

TEST(FlipAndRoll, Values) {
  const Tensor t = counted({2, 3});
  EXPECT_EQ(ints(t.flip({0})), (Ints{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(ints(t.flip({1})), (Ints{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(ints(t.flip({0, -1})), (Ints{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(ints(t.t().flip({0})), (Ints{2, 5, 1, 4, 0, 3}));
  EXPECT_EQ(ints(t.flip({})), ints(t));
  EXPECT_ANY_THROW(t.flip({0, 0}));
  EXPECT_EQ(ints(t.roll({1}, {1})), (Ints{2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(ints(t.roll({-1}, {0})), (Ints{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(ints(t.roll({2})), (Ints{4, 5, 0, 1, 2, 3}));
  EXPECT_EQ(ints(t.roll({1, 1}, {0, 1})), (Ints{5, 3, 4, 2, 0, 1}));
  EXPECT_ANY_THROW(t.roll({1, 2}, {0}));
  EXPECT_EQ(ints(t.t().roll({1}, {0})), (Ints{2, 5, 0, 3, 1, 4}));
  EXPECT_EQ(ints(t.t().roll({1})), (Ints{5, 0, 3, 1, 4, 2}));
  // Channels that lie last stay there, but not where the order is that of the flat tensor.
  const Tensor images = at::arange(48).view({2, 2, 4, 3}).permute({0, 3, 1, 2});
  const Tensor rolled = images.roll({1, -1}, {2, 3});
  EXPECT_EQ(sizes(rolled.permute({0, 2, 3, 1})), (Ints{2, 2, 4, 3}));
  EXPECT_TRUE(rolled.permute({0, 2, 3, 1}).is_contiguous());
  EXPECT_EQ(ints(rolled), ints(images.contiguous().roll({1, -1}, {2, 3})));
  EXPECT_TRUE(images.roll({1}).is_contiguous());
  EXPECT_EQ(ints(images.roll({1})), ints(images.contiguous().roll({1})));
}

// repeat() is a method in Python, so that only C++ has its out= form.
TEST(TensorShape, RepeatIntoAGivenTensor) {
  Tensor out = at::empty({0}, at::kLong);
  EXPECT_EQ(&at::repeat_out(out, at::tensor({1, 2}), {2, 2}), &out);
  EXPECT_EQ(sizes(out), (Ints{2, 4}));
  EXPECT_EQ(ints(out), (Ints{1, 2, 1, 2, 1, 2, 1, 2}));
}

}  // namespace
