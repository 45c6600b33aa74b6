// at::tensor(): tensors from numbers and arrays of a C++ program.
#include "../native/Testing.h"

#include <generated/ops/imag.h>
#include <generated/ops/item.h>
#include <generated/ops/real.h>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

TEST(FromNumbers, DtypesAndShapes) {
  EXPECT_EQ(at::tensor({1, 2, 3}).scalar_type(), at::kLong);
  EXPECT_EQ(at::tensor({1.0, 2.0}).scalar_type(), at::kFloat);
  EXPECT_EQ(at::tensor({1, 2.5}).scalar_type(), at::kFloat);
  EXPECT_EQ(at::tensor({true, false}).scalar_type(), at::kBool);
  EXPECT_EQ(at::tensor({1, 2}, at::kDouble).scalar_type(), at::kDouble);
  const Tensor nested = at::tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(sizes(nested), (Ints{2, 3}));
  EXPECT_EQ(ints(nested), (Ints{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(at::tensor(3.5).dim(), 0);
  EXPECT_EQ(at::tensor(std::vector<float>{1, 2}).scalar_type(), at::kFloat);
  EXPECT_EQ(at::tensor(std::vector<double>{1, 2}).scalar_type(), at::kDouble);
  EXPECT_EQ(ints(at::tensor(std::vector<bool>{true, false})), (Ints{1, 0}));
  EXPECT_EQ(at::tensor(std::vector<int64_t>{}).numel(), 0);
  EXPECT_TRUE(at::tensor({1.0}, at::requires_grad()).requires_grad());
  EXPECT_THAT(message_of<c10::Error>([] { at::tensor({{1, 2}, {3}}); }), HasSubstr("same length"));
}

TEST(FromNumbers, ComplexAndReducedDtypes) {
  const Tensor z = at::tensor({c10::complex<double>(1, -2), c10::complex<double>(0.5, 3)});
  EXPECT_EQ(z.scalar_type(), at::kComplexFloat);
  EXPECT_EQ(doubles(at::real(z)), (Doubles{1, 0.5}));
  EXPECT_EQ(doubles(at::imag(z)), (Doubles{-2, 3}));
  EXPECT_EQ(at::tensor(c10::Half(1.5f), at::kHalf).item<double>(), 1.5);
  EXPECT_EQ(at::tensor(std::vector<c10::BFloat16>{c10::BFloat16(2.f)}).scalar_type(),
            at::kBFloat16);
  EXPECT_EQ(at::tensor(std::vector<uint8_t>{1, 255}).scalar_type(), at::kByte);
  // What the options ask for is converted to.
  EXPECT_EQ(ints(at::tensor(std::vector<double>{1.9, -1.9}, at::kInt)), (Ints{1, -1}));
}

TEST(FromNumbers, HoldsACopy) {
  std::vector<int64_t> numbers = {1, 2};
  const Tensor t = at::tensor(numbers);
  numbers[0] = 5;
  EXPECT_EQ(ints(t), (Ints{1, 2}));
}

TEST(FromNumbers, EmptyAndDeepLists) {
  EXPECT_EQ(sizes(at::tensor({{{1}, {2}}})), (Ints{1, 2, 1}));
  EXPECT_EQ(at::tensor({1.5}, at::TensorOptions().device("meta")).numel(), 1);
  EXPECT_THAT(message_of<c10::Error>([] {
                at::tensor({{1, 2}, {{3}, {4}}});
              }),
              HasSubstr("expected"));
}

}  // namespace
