// Tests of OPLOOM_DISPATCH: the type that the body sees, values, errors.
#include <aten/core/Dispatch.h>

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace {

using namespace c10;

std::size_t size_of_all(ScalarType dtype) {
  return OPLOOM_DISPATCH(dtype, "size_of_all", (OPLOOM_ALL), [&] {
    EXPECT_EQ(scalar_type_of_v<scalar_t>, dtype);
    return sizeof(scalar_t);
  });
}

TEST(Dispatch, GivesTheTypeOfEveryDtype) {
  for (int i = 0; i < kNumScalarTypes; ++i) {
    const auto dtype = static_cast<ScalarType>(i);
    EXPECT_EQ(size_of_all(dtype), elementSize(dtype)) << dtype;
  }
}

TEST(Dispatch, BodyMayReturnNothingAndHaveCommas) {
  int calls = 0;
  OPLOOM_DISPATCH(kHalf, "f", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    const scalar_t pair[] = {scalar_t(1.0f), scalar_t(2.0f)};
    if constexpr (std::is_same_v<scalar_t, Half>) calls += static_cast<int>(pair[0] + pair[1]);
  });
  EXPECT_EQ(calls, 3);
}

TEST(Dispatch, OtherDtypesAreRefusedWithTheListOfSupportedOnes) {
  const auto run = [](ScalarType dtype) {
    OPLOOM_DISPATCH(dtype, "add", (OPLOOM_BOOL, OPLOOM_FLOATING, OPLOOM_LONG),
                    [&] { static_assert(!std::is_same_v<scalar_t, std::int8_t>); });
  };
  run(kBool);
  run(kDouble);
  run(kLong);
  for (const ScalarType dtype : {kComplexFloat, kInt, kHalf, ScalarType::Undefined}) {
    EXPECT_THROW(run(dtype), NotImplementedError) << dtype;
  }
  try {
    run(kComplexFloat);
  } catch (const NotImplementedError& error) {
    EXPECT_STREQ(
        error.what(),
        "add(): dtype 'complex64' is not supported on CPU, expected one of int64, float32, "
        "float64, bool");
  }
}

}  // namespace
