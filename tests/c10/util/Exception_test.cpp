// Tests of the exception classes, the checks and warnings.
#include <c10/util/Exception.h>

#include "../throws.h"

namespace {

TEST(Exception, ChecksThrowTheirClasses) {
  const int got = 5;
  EXPECT_THROWS(OPLOOM_CHECK(got == 4, "f(): expected 4, got ", got), c10::Error,
                "f(): expected 4, got 5");
  EXPECT_THROWS(OPLOOM_CHECK_VALUE(false, "v"), c10::ValueError, "v");
  EXPECT_THROWS(OPLOOM_CHECK_TYPE(false, "t"), c10::TypeError, "t");
  EXPECT_THROWS(OPLOOM_CHECK_INDEX(false, "i"), c10::IndexError, "i");
  EXPECT_THROWS(OPLOOM_CHECK_NOT_IMPLEMENTED(false, "n"), c10::NotImplementedError, "n");
  EXPECT_THROWS(OPLOOM_CHECK_MEMORY(false, "m"), c10::OutOfMemoryError, "m");
  EXPECT_THROWS(OPLOOM_ERROR("e", 1, '-', 2.5), c10::Error, "e1-2.5");
}

TEST(Exception, ChecksDoNothingWhenTheConditionHolds) {
  int evaluated = 0;
  const auto text = [&] {
    ++evaluated;
    return "message";
  };
  OPLOOM_CHECK(true, text());
  OPLOOM_INTERNAL_ASSERT(true, text());
  EXPECT_EQ(evaluated, 0);
}

TEST(Exception, MessageOfTheUserHasNoPosition) {
  EXPECT_THROWS(OPLOOM_CHECK(1 == 2), c10::Error, "1 == 2");
  try {
    OPLOOM_CHECK(false, "x");
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what(), "x");
  }
}

TEST(Exception, InternalAssertSaysItIsABugAndWhere) {
  EXPECT_THROWS(OPLOOM_INTERNAL_ASSERT(1 + 1 == 3, "sum ", 2), c10::InternalError, "1 + 1 == 3");
  EXPECT_THROWS(OPLOOM_INTERNAL_ASSERT(false, "sum ", 2), c10::InternalError, "bug");
  EXPECT_THROWS(OPLOOM_INTERNAL_ASSERT(false), c10::InternalError, "Exception_test.cpp:");
}

TEST(Exception, ContextIsAppended) {
  c10::Error error("first");
  error.add_context("while doing this");
  EXPECT_STREQ(error.what(), "first\n  while doing this");
  EXPECT_STREQ(error.what_without_context(), "first");
  EXPECT_EQ(error.context().size(), 1u);
}

TEST(Exception, TheFunctionOfAMessageCanBeReplaced) {
  const auto named = [](const char* message) {
    c10::Error error(message);
    error.add_context("while doing this");
    error.set_function("outer");
    EXPECT_EQ(error.msg() + "\n  while doing this", error.what());
    EXPECT_EQ(error.context().size(), 1u);
    return error.msg();
  };
  EXPECT_EQ(named("inner_2(): expected 4"), "outer(): expected 4");
  EXPECT_EQ(named("outer(): f(): g"), "outer(): f(): g");
  EXPECT_EQ(named("expected inner(): what"), "outer(): expected inner(): what");
  EXPECT_EQ(named("(): x"), "outer(): (): x");
  EXPECT_EQ(named("inner()"), "outer(): inner()");
  EXPECT_EQ(named(""), "outer(): ");
}

TEST(Exception, IsAStandardException) {
  EXPECT_THROW(OPLOOM_CHECK_VALUE(false, "v"), std::exception);
  EXPECT_THROW(OPLOOM_CHECK_VALUE(false, "v"), c10::Error);
}

std::string last_warning;
int warnings = 0;

TEST(Exception, WarningsGoToTheHandler) {
  const auto previous = c10::set_warning_handler([](const std::string& message) {
    last_warning = message;
    ++warnings;
  });
  OPLOOM_WARN("careful: ", 3);
  EXPECT_EQ(last_warning, "careful: 3");
  for (int i = 0; i < 3; ++i) OPLOOM_WARN_ONCE("once");
  EXPECT_EQ(warnings, 2);
  c10::set_warning_handler(previous);
}

}  // namespace
