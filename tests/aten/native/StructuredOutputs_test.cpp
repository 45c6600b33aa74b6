// The functional, in-place, out= and Meta forms of structured operators: what happens to the
// outputs.
#include "Testing.h"

#include <generated/ops/addmm.h>
#include <generated/ops/bernoulli.h>
#include <generated/ops/cat.h>
#include <generated/ops/empty.h>
#include <generated/ops/expand.h>
#include <generated/ops/full.h>
#include <generated/ops/gather.h>
#include <generated/ops/gelu.h>
#include <generated/ops/linspace.h>
#include <generated/ops/matmul.h>
#include <generated/ops/max.h>
#include <generated/ops/mm.h>
#include <generated/ops/ones.h>
#include <generated/ops/rand.h>
#include <generated/ops/randn.h>
#include <generated/ops/resize.h>
#include <generated/ops/slice.h>
#include <generated/ops/t.h>
#include <generated/ops/zeros.h>

#include <functional>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

TEST(StructuredOutputs, OutIsResizedAndReturned) {
  const Tensor a = at::ones({2, 3}), b = at::ones({3});
  Tensor out = at::empty({0});
  Tensor& result = at::add_out(out, a, b, 2);
  EXPECT_EQ(&result, &out);
  EXPECT_EQ(out.sizes(), (at::IntArrayRef{2, 3}));
  EXPECT_EQ(doubles(out), Doubles(6, 3));
}

TEST(StructuredOutputs, OutOfTheRightSizeKeepsItsStridesAndMemory) {
  const Tensor a = at::ones({2, 3});
  Tensor out = at::zeros({3, 2}).t();
  const void* data = out.const_data_ptr();
  at::add_out(out, a, a);
  EXPECT_EQ(out.const_data_ptr(), data);
  EXPECT_EQ(out.strides(), (at::IntArrayRef{1, 2}));
  EXPECT_EQ(doubles(out), Doubles(6, 2));
  // mm's kernel asks for rows: what it computes is copied.
  Tensor product = at::zeros({2, 2}).t();
  at::mm_out(product, a, a.t());
  EXPECT_EQ(product.strides(), (at::IntArrayRef{1, 2}));
  EXPECT_EQ(doubles(product), Doubles(4, 3));
}

// A kernel that refuses its dtype does so after the output has been resized.
TEST(StructuredOutputs, OutKeepsItsShapeWhereTheOperatorFails) {
  const auto expect_kept = [](const std::function<void(Tensor&)>& call) {
    Tensor out = f64({1, 2, 3, 4, 5, 6}).view({2, 3}).t();
    EXPECT_ANY_THROW(call(out));
    EXPECT_EQ(out.sizes(), (at::IntArrayRef{3, 2}));
    EXPECT_EQ(out.strides(), (at::IntArrayRef{1, 3}));
    EXPECT_EQ(doubles(out), (Doubles{1, 4, 2, 5, 3, 6}));
  };
  const Tensor wide = at::ones({50, 50}), numbers = at::ones({4}, at::kLong);
  expect_kept([&](Tensor& out) { at::bitwise_and_out(out, wide, wide); });
  expect_kept([&](Tensor& out) { at::gelu_out(out, numbers); });
  expect_kept([&](Tensor& out) { at::remainder_out(out, numbers, at::zeros({4}, at::kLong)); });
  const auto expect_kept_by = [](const std::function<void(Tensor&)>& call) {
    Tensor out = at::tensor({1, 2, 3}, at::kByte);
    EXPECT_ANY_THROW(call(out));
    EXPECT_EQ(ints(out), (Ints{1, 2, 3}));
  };
  expect_kept_by([](Tensor& out) { at::rand_out(out, {200}); });
  expect_kept_by([](Tensor& out) { at::randn_out(out, {2}); });
  expect_kept_by([](Tensor& out) { at::full_out(out, {2, 2}, 1e300); });
  expect_kept_by([](Tensor& out) { at::linspace_out(out, 1e300, 2, 1); });
  expect_kept_by([](Tensor& out) { out.resize_({6}, at::MemoryFormat::ChannelsLast); });
}

TEST(StructuredOutputs, OutOfAnotherDtype) {
  const Tensor a = at::ones({2}), b = at::ones({2});
  Tensor wider = at::empty({2}, at::kDouble);
  at::add_out(wider, a, b);
  EXPECT_EQ(doubles(wider), (Doubles{2, 2}));
  Tensor integers = at::zeros({2}, at::kLong);
  EXPECT_THAT(message_of<c10::Error>([&] { at::add_out(integers, a, b); }), HasSubstr("add"));
  EXPECT_EQ(ints(integers), (Ints{0, 0}));
  Tensor product = at::empty({2, 2}, at::kDouble);
  const Tensor m = at::ones({2, 2});
  EXPECT_THAT(message_of<c10::Error>([&] { at::mm_out(product, m, m); }),
              HasSubstr("mm(): expected an output of dtype float32, got float64"));
}

TEST(StructuredOutputs, UndefinedOut) {
  const Tensor m = at::ones({2, 2});
  Tensor out;
  EXPECT_THAT(message_of<c10::Error>([&] { at::mm_out(out, m, m); }), HasSubstr("mm()"));
}

TEST(StructuredOutputs, OutThatIsAnInput) {
  Tensor a = at::tensor({1.0, 2.0, 3.0, 4.0}).view({2, 2});
  const Tensor expected = at::mm(a, a);
  at::mm_out(a, a, a);
  EXPECT_EQ(doubles(a), doubles(expected));
  // Of another shape than the result.
  Tensor column = at::tensor({1.0, 2.0}).view({2, 1});
  at::mm_out(column, column, at::tensor({3.0, 4.0}).view({1, 2}));
  EXPECT_EQ(column.sizes(), (at::IntArrayRef{2, 2}));
  EXPECT_EQ(doubles(column), (Doubles{3, 4, 6, 8}));
}

TEST(StructuredOutputs, OutThatOverlapsAnInputInPart) {
  const Tensor base = at::ones({6});
  const Tensor input = base.slice(0, 0, 4).view({2, 2});
  Tensor out = base.slice(0, 2, 6).view({2, 2});
  EXPECT_THAT(message_of<c10::Error>([&] { at::mm_out(out, input, input); }),
              HasSubstr("share a part of their memory"));
  EXPECT_THAT(message_of<c10::Error>([&] { at::add_out(out, input, input); }),
              HasSubstr("share a part of their memory"));
  EXPECT_EQ(doubles(base), Doubles(6, 1));
}

TEST(StructuredOutputs, OutWhosePositionsShareMemory) {
  const Tensor m = at::ones({2, 2});
  Tensor out = at::zeros({1, 2}).expand({2, 2});
  EXPECT_NE(message_of<c10::Error>([&] { at::mm_out(out, m, m); }), "");
  EXPECT_NE(message_of<c10::Error>([&] { at::add_out(out, m, m); }), "");
}

TEST(StructuredOutputs, InPlaceKeepsShapeAndDtype) {
  const Tensor a = at::ones({3});
  a.add_(at::ones({1}));
  EXPECT_EQ(doubles(a), Doubles(3, 2));
  EXPECT_THAT(message_of<c10::Error>([&] { a.add_(at::ones({2, 3})); }), HasSubstr("add_()"));
  const Tensor integers = at::ones({3}, at::kLong);
  EXPECT_NE(message_of<c10::Error>([&] { integers.add_(1.5); }), "");
  EXPECT_EQ(ints(integers), Ints(3, 1));
}

TEST(StructuredOutputs, InPlaceThatReadsItself) {
  const Tensor a = at::tensor({1.0, 2.0, 3.0, 4.0}).view({2, 2});
  const Tensor expected = at::addmm(a, a, a);
  a.addmm_(a, a);
  EXPECT_EQ(doubles(a), doubles(expected));
}

TEST(StructuredOutputs, ScalarOverloads) {
  const Tensor a = at::ones({2}, at::kInt);
  EXPECT_EQ((a + 1).scalar_type(), at::kInt);
  EXPECT_EQ((a + 1.5).scalar_type(), at::kFloat);
  EXPECT_EQ(doubles(2 - a), (Doubles{1, 1}));
  EXPECT_EQ(doubles(at::add(a, 2, 3)), (Doubles{7, 7}));
}

TEST(StructuredOutputs, MetaHasShapesAndNoMemory) {
  const auto meta = at::TensorOptions().device(at::Device(at::DeviceType::Meta));
  const Tensor a = at::empty({2, 3}, meta), b = at::empty({3}, meta);
  const Tensor sum = at::add(a, b);
  EXPECT_EQ(sum.sizes(), (at::IntArrayRef{2, 3}));
  EXPECT_TRUE(sum.is_meta());
  EXPECT_EQ(at::mm(a, a.t()).sizes(), (at::IntArrayRef{2, 2}));
  const auto [values, indices] = at::max(a, 1);
  EXPECT_EQ(values.sizes(), (at::IntArrayRef{2}));
  EXPECT_EQ(indices.scalar_type(), at::kLong);
  Tensor out = at::empty({0}, meta);
  at::add_out(out, a, b);
  EXPECT_EQ(out.sizes(), (at::IntArrayRef{2, 3}));
  a.add_(b);
  EXPECT_THAT(message_of<c10::Error>([&] { b.add_(a); }), HasSubstr("add_()"));
}

// matmul is no structured operator: its out form computes, resizes and copies.
TEST(StructuredOutputs, OutMadeFromTheFunctionalForm) {
  const Tensor a = at::ones({2, 3}), b = at::ones({3, 4});
  Tensor out = at::empty({0}, at::kDouble);
  at::matmul_out(out, a, b);
  EXPECT_EQ(out.sizes(), (at::IntArrayRef{2, 4}));
  EXPECT_EQ(doubles(out), Doubles(8, 3));
  Tensor integers = at::empty({0}, at::kLong);
  EXPECT_THAT(message_of<c10::Error>([&] { at::matmul_out(integers, a, b); }),
              HasSubstr("cannot be cast"));
}

// Where one operand is on meta the Meta kernel runs, which must not make a tensor without values on
// the CPU.
TEST(StructuredOutputs, OperandsAreOnOneDevice) {
  const Tensor a = at::ones({2, 2}), m = a.to("meta"), index = at::zeros({2, 2}, at::kLong);
  const auto expect_refused = [](const std::function<void()>& call) {
    EXPECT_THAT(message_of<c10::Error>(call), HasSubstr("on the same device, got"));
  };
  expect_refused([&] { at::mm(a, m); });
  expect_refused([&] { at::mm(m, a); });
  expect_refused([&] { at::cat({a, m}); });
  expect_refused([&] { at::addmm(m, a, a); });
  expect_refused([&] { Tensor(a).addmm_(a, m); });
  expect_refused([&] { at::gather(a, 0, index.to("meta")); });
  expect_refused([&] { at::add(a, m); });
  expect_refused([&] { Tensor(a).bernoulli_(m); });
  EXPECT_ANY_THROW(Tensor(a).fill_(at::ones({}).to("meta")));
  EXPECT_TRUE(at::mm(m, m).is_meta());
}

}  // namespace
