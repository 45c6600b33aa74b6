// DimVector: sizes or strides of a tensor, inline for as many dimensions as TensorImpl holds
// inline.
#pragma once

#include <c10/util/SmallVector.h>

#include <cstdint>

namespace c10::inline oploom_v1 {

inline constexpr unsigned kDimVectorStaticSize = 5;
using DimVector = SmallVector<int64_t, kDimVectorStaticSize>;

}  // namespace c10::inline oploom_v1
