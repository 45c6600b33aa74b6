// Tests of TensorOptions: choices, defaults, merging, conversions.
#include <c10/core/TensorOptions.h>

#include <gtest/gtest.h>

#include <sstream>

namespace {

using namespace c10;

ScalarType dtype_of(TensorOptions options) { return options.dtype(); }
Device device_of(TensorOptions options) { return options.device(); }

TEST(TensorOptions, NothingIsChosenAtFirst) {
  const TensorOptions options;
  EXPECT_FALSE(options.has_dtype() || options.has_device() || options.has_layout() ||
               options.has_requires_grad() || options.has_pinned_memory() ||
               options.has_memory_format());
  EXPECT_EQ(options.dtype(), get_default_dtype());
  EXPECT_TRUE(options.device().is_cpu());
  EXPECT_EQ(options.layout(), kStrided);
  EXPECT_FALSE(options.requires_grad());
  EXPECT_EQ(options.dtype_opt(), std::nullopt);
  EXPECT_EQ(options.memory_format_opt(), std::nullopt);
}

TEST(TensorOptions, DefaultDtypeIsReadLate) {
  const TensorOptions options;
  set_default_dtype(kDouble);
  EXPECT_EQ(options.dtype(), kDouble);
  set_default_dtype(kFloat);
}

TEST(TensorOptions, ConvertsFromSingleChoices) {
  EXPECT_EQ(dtype_of(kInt), kInt);
  EXPECT_TRUE(device_of(kMeta).is_meta());
  EXPECT_EQ(device_of("cuda:1"), Device(kCUDA, 1));
  EXPECT_EQ(device_of(Device("meta")), Device("meta"));
  EXPECT_EQ(TensorOptions(kSparse).layout(), kSparse);
  EXPECT_EQ(dtype_of(c10::dtype(kHalf).device(kMeta)), kHalf);
  EXPECT_EQ(dtype_of(c10::dtype<double>()), kDouble);
}

TEST(TensorOptions, BuildersReturnChangedCopies) {
  const TensorOptions a;
  const TensorOptions b = a.dtype(kLong).device(kCUDA, 1).requires_grad(true).pinned_memory(true);
  EXPECT_FALSE(a.has_dtype());
  EXPECT_EQ(b.dtype(), kLong);
  EXPECT_EQ(b.device(), Device("cuda:1"));
  EXPECT_TRUE(b.requires_grad() && b.pinned_memory());
  EXPECT_FALSE(b.dtype(std::nullopt).has_dtype());
  EXPECT_EQ(b.requires_grad(std::nullopt).requires_grad_opt(), std::nullopt);
}

TEST(TensorOptions, MergingTakesTheOthersChoices) {
  const TensorOptions mine = c10::dtype(kLong).device(kMeta).requires_grad(true);
  const TensorOptions merged =
      mine.merge_in(TensorOptions().dtype(kInt).layout(kSparse).requires_grad(false));
  EXPECT_EQ(merged.dtype(), kInt);
  EXPECT_TRUE(merged.device().is_meta());
  EXPECT_EQ(merged.layout(), kSparse);
  EXPECT_FALSE(merged.requires_grad());
  EXPECT_EQ(mine.merge_in(TensorOptions()).dtype(), kLong);
}

TEST(TensorOptions, TellsTheBackend) {
  EXPECT_EQ(TensorOptions().computeDispatchKey(), DispatchKey::CPU);
  EXPECT_EQ(TensorOptions(kMeta).computeDispatchKey(), DispatchKey::Meta);
  EXPECT_EQ(TensorOptions(kSparse).computeDispatchKey(), DispatchKey::SparseCPU);
  EXPECT_EQ(computeDispatchKey(std::nullopt, std::nullopt, std::nullopt), DispatchKey::CPU);
}

TEST(TensorOptions, Prints) {
  std::ostringstream out;
  out << c10::dtype(kInt);
  EXPECT_EQ(out.str(),
            "TensorOptions(dtype=int32, device=cpu (default), layout=strided (default), "
            "requires_grad=false (default), pinned_memory=false (default), memory_format=(open))");
}

}  // namespace
