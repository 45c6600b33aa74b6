// Shapes of reductions.
#pragma once

#include <aten/native/ShapeUtils.h>
#include <aten/stubs/ReduceOps.h>
#include <c10/util/OptionalArrayRef.h>

namespace at::inline oploom_v1::native {

// The dimensions to reduce: all of them if there is no list or an empty one.
inline DimMask reduction_mask(const char* op, OptionalIntArrayRef dims, int64_t ndim) {
  if (!dims.has_value() || dims->empty()) return ~DimMask{0};
  return dim_list_to_mask(op, *dims, ndim);
}

// For all() and any(), of which an empty list reduces nothing.
inline DimMask truth_mask(const char* op, OptionalIntArrayRef dims, const TensorBase& self) {
  return dims.has_value() ? dim_list_to_mask(op, *dims, self.dim()) : ~DimMask{0};
}

inline DimVector reduced_shape(const TensorBase& self, DimMask mask, bool keepdim) {
  DimVector shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (((mask >> d) & 1) == 0) {
      shape.push_back(self.sizes()[d]);
    } else if (keepdim) {
      shape.push_back(1);
    }
  }
  return shape;
}

}  // namespace at::inline oploom_v1::native
