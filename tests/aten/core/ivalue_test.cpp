// IValue: kinds, conversions and the errors of wrong ones.
#include <aten/Base.h>
#include <aten/core/ivalue.h>
#include <generated/ops/ones.h>
#include <gtest/gtest.h>

namespace {

using at::IValue;

TEST(IValue, HoldsEachKind) {
  EXPECT_TRUE(IValue().is_none());
  EXPECT_EQ(IValue(3).to_int(), 3);
  EXPECT_EQ(IValue(2.5).to_double(), 2.5);
  EXPECT_TRUE(IValue(true).to_bool());
  EXPECT_EQ(IValue("sum").get<std::string>(), "sum");
  EXPECT_EQ(IValue(std::vector<int64_t>{1, 2}).get<std::vector<int64_t>>()[1], 2);
  at::Tensor t = at::ones({2});
  EXPECT_TRUE(IValue(at::TensorBase(t)).to_tensor().is_same(t));
}

TEST(IValue, NumbersConvertUpwards) {
  EXPECT_EQ(IValue(3).to_double(), 3.0);
  EXPECT_EQ(IValue(3).to_scalar().to<int64_t>(), 3);
  EXPECT_TRUE(IValue(true).to_scalar().isBoolean());
}

TEST(IValue, AWrongTypeIsAnError) {
  try {
    IValue(2.5).to_int();
    FAIL();
  } catch (const c10::TypeError& error) {
    EXPECT_STREQ(error.what(), "IValue: expected int, got float");
  }
}

}  // namespace
