// Tests of strides by memory format.
#include <c10/core/MemoryFormat.h>

#include "../throws.h"

namespace {

using c10::DimVector;

TEST(MemoryFormat, ContiguousStrides) {
  EXPECT_EQ(c10::contiguous_strides({2, 3, 4}), (DimVector{12, 4, 1}));
  EXPECT_EQ(c10::contiguous_strides({2, 0, 4}), (DimVector{4, 4, 1}));
  EXPECT_EQ(c10::contiguous_strides({}), DimVector{});
}

TEST(MemoryFormat, ChannelsLastStrides) {
  EXPECT_EQ(c10::get_channels_last_strides_2d({2, 3, 4, 5}), (DimVector{60, 1, 15, 3}));
  EXPECT_EQ(c10::get_channels_last_strides_2d({3, 4, 5}), (DimVector{1, 15, 3}));
  EXPECT_EQ(c10::get_channels_last_strides_3d({2, 3, 4, 5, 6}), (DimVector{360, 1, 90, 18, 3}));
  EXPECT_THROWS(c10::get_channels_last_strides_2d({2, 3}), c10::Error, "4-d");
}

TEST(MemoryFormat, RecognisesChannelsLast) {
  EXPECT_TRUE(c10::is_channels_last_strides_2d({2, 3, 4, 5}, {60, 1, 15, 3}));
  EXPECT_FALSE(c10::is_channels_last_strides_2d({2, 3, 4, 5}, {60, 20, 5, 1}));
  EXPECT_TRUE(c10::is_channels_last_strides_2d({2, 3, 4, 5}, {240, 1, 30, 6}));  // a slice
  EXPECT_FALSE(c10::is_channels_last_strides_2d({2, 3, 4}, {12, 1, 3}));
  EXPECT_FALSE(c10::is_channels_last_strides_2d({2, 3, 4, 5}, {0, 0, 0, 0}));
  // Ambiguous: the same memory in both formats is taken for the ordinary one.
  EXPECT_FALSE(c10::is_channels_last_strides_2d({4, 1, 1, 1}, {1, 1, 1, 1}));
  EXPECT_TRUE(c10::is_channels_last_strides_3d({2, 3, 4, 5, 6}, {360, 1, 90, 18, 3}));
}

}  // namespace
