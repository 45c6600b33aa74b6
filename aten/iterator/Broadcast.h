// The broadcast of shapes, where one that does not fit is no error yet.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>

#include <cstdint>

namespace at::inline oploom_v1::detail {

// The broadcast of two shapes into `shape`; false if there is none, with the last offending
// dimension, and `shape` is of no use then.
bool broadcast_into(DimVector& shape, IntArrayRef other, int64_t& bad_dim);

}  // namespace at::inline oploom_v1::detail
