// Strides of memory formats.
#include <c10/core/MemoryFormat.h>

#include <algorithm>
#include <array>

namespace c10::inline oploom_v1 {

namespace {

// Strides of a dense tensor whose dimensions are given from the densest to the outermost.
template <std::size_t N>
DimVector strides_in_order(IntArrayRef sizes, const std::array<int, N>& order) {
  DimVector strides(N);
  int64_t stride = 1;
  for (const int d : order) {
    const auto i = static_cast<std::size_t>(d);
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

// The strides ascend in the given order (from the densest), with room between them for each
// dimension's elements. Dimensions of size 1 make some tensors fit the ordinary format as well;
// those are taken for the ordinary one if N is no farther apart than C, see below.
template <std::size_t N>
bool strides_ascend(IntArrayRef sizes, IntArrayRef strides, const std::array<int, N>& order) {
  int64_t min = 0;
  if (strides[1] == 0) return false;
  for (const int d : order) {
    const auto i = static_cast<std::size_t>(d);
    if (sizes[i] == 0) return false;
    if (strides[i] < min) return false;
    // [N, 1, 1, 1] with equal strides: a contiguous tensor, or a slice of one.
    if (d == 0 && min == strides[1]) return false;
    min = strides[i];
    if (sizes[i] > 1) min *= sizes[i];
  }
  return true;
}

}  // namespace

DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides(sizes.size());
  int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

DimVector get_channels_last_strides_2d(IntArrayRef sizes) {
  switch (sizes.size()) {
    case 4:
      return strides_in_order<4>(sizes, {1, 3, 2, 0});
    case 3:
      return strides_in_order<3>(sizes, {0, 2, 1});
    default:
      OPLOOM_ERROR("channels_last: expected a 4-d tensor, got sizes ", sizes);
  }
}

DimVector get_channels_last_strides_3d(IntArrayRef sizes) {
  switch (sizes.size()) {
    case 5:
      return strides_in_order<5>(sizes, {1, 4, 3, 2, 0});
    case 4:
      return strides_in_order<4>(sizes, {0, 3, 2, 1});
    default:
      OPLOOM_ERROR("channels_last_3d: expected a 5-d tensor, got sizes ", sizes);
  }
}

bool is_channels_last_strides_2d(IntArrayRef sizes, IntArrayRef strides) {
  return sizes.size() == 4 && strides_ascend<4>(sizes, strides, {1, 3, 2, 0});
}

bool is_channels_last_strides_3d(IntArrayRef sizes, IntArrayRef strides) {
  return sizes.size() == 5 && strides_ascend<5>(sizes, strides, {1, 4, 3, 2, 0});
}

}  // namespace c10::inline oploom_v1
