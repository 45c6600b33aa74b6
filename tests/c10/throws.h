// EXPECT_THROWS: the statement throws exactly this class, and the message contains the text.
#pragma once

#include <c10/util/Exception.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <typeinfo>

#define EXPECT_THROWS(statement, error_class, text)                  \
  do {                                                               \
    try {                                                            \
      statement;                                                     \
      ADD_FAILURE() << #statement " did not throw";                  \
    } catch (const ::c10::Error& error) {                            \
      EXPECT_EQ(typeid(error), typeid(error_class)) << error.what(); \
      EXPECT_THAT(error.what(), ::testing::HasSubstr(text));         \
    }                                                                \
  } while (false)
