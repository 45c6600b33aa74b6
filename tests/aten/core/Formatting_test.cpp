// Tensors as text in C++: operator<<, format_tensor, the options of the process.
#include <aten/Base.h>
#include <aten/core/Formatting.h>
#include <generated/ops/arange.h>
#include <generated/ops/t.h>
#include <generated/ops/view.h>
#include <generated/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace {

std::string text_of(const at::Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

TEST(Formatting, NumbersTakeTheSameWidth) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(text_of(at::tensor({{1.0, 2.0}, {3.0, 4.0}})), "tensor([[1., 2.],\n        [3., 4.]])");
  EXPECT_EQ(text_of(at::tensor({1, 10, -100})), "tensor([   1,   10, -100])");
  EXPECT_EQ(text_of(at::tensor({true, false})), "tensor([ True, False])");
  EXPECT_EQ(text_of(at::tensor({1.5, -kNaN})), "tensor([1.5000,    nan])");
  EXPECT_EQ(text_of(at::tensor({1e-5, 1.0})), "tensor([1.0000e-05, 1.0000e+00])");
  EXPECT_EQ(text_of(at::tensor({0.5, 600.0})), "tensor([5.0000e-01, 6.0000e+02])");
  EXPECT_EQ(text_of(at::tensor({c10::complex<double>(1, 2), c10::complex<double>(3, -0.5)})),
            "tensor([1.+2.0000j, 3.-0.5000j])");
  EXPECT_EQ(text_of(at::tensor(3.5)), "tensor(3.5000)");
  EXPECT_EQ(text_of(at::arange(6).view({2, 3}).t()),
            "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])");
}

TEST(Formatting, WhatCannotBeSeenIsStated) {
  EXPECT_EQ(text_of(at::tensor({1.0}, at::kDouble)), "tensor([1.], dtype=oploom.float64)");
  EXPECT_EQ(text_of(at::tensor({1}, at::kChar)), "tensor([1], dtype=oploom.int8)");
  EXPECT_EQ(text_of(at::zeros({2, 0})), "tensor([], size=(2, 0))");
  EXPECT_EQ(text_of(at::zeros({2}, at::TensorOptions().device("meta"))),
            "tensor(..., device='meta', size=(2,))");
  EXPECT_EQ(at::format_tensor(at::tensor({1.0}), "Parameter", {"grad_fn=<X>", "more"}),
            "Parameter([1.], grad_fn=<X>, more)");
}

class FormattingOptions : public testing::Test {
 protected:
  ~FormattingOptions() override { at::set_print_options(before_); }
  const at::PrintOptions before_ = at::get_print_options();
};

TEST_F(FormattingOptions, AreTheProcesss) {
  at::PrintOptions options;
  options.precision = 2;
  at::set_print_options(options);
  EXPECT_EQ(text_of(at::tensor({1.23456})), "tensor([1.23])");
  options.sci_mode = true;
  at::set_print_options(options);
  EXPECT_EQ(text_of(at::tensor({1.5})), "tensor([1.50e+00])");
  options = {};
  options.threshold = 3;
  options.edgeitems = 1;
  at::set_print_options(options);
  EXPECT_EQ(text_of(at::arange(5)), "tensor([0, ..., 4])");
  options = {};
  options.linewidth = 20;
  at::set_print_options(options);
  EXPECT_EQ(text_of(at::arange(6)), "tensor([0, 1, 2, 3,\n        4, 5])");
}

}  // namespace
