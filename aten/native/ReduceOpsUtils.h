// Shapes of reductions.
#pragma once

#include <aten/native/ShapeUtils.h>
#include <aten/stubs/ReduceOps.h>
#include <c10/util/OptionalArrayRef.h>
#include <generated/ops/copy.h>

#include <optional>

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

// Whether each of several results comes from one element: then nothing is to be reduced, and what
// goes over all elements at once is faster than a reduction.
inline bool has_single_elements(const TensorBase& out, const TensorBase& self) {
  return OPLOOM_UNLIKELY(out.numel() == self.numel() && out.numel() > 1) && self.is_cpu();
}
// self with the shape of that output.
Tensor single_elements(const Tensor& self, DimMask mask, const TensorBase& out);

// Input and output of a reduction that takes less time, a copy of its results included: these
// follow each other as the elements of self do that they come from, and where self is expanded
// there is one. `out` has the dimensions of the output, and is copied to it with broadcasting.
struct OrderedReduction {
  Tensor self, out;
};
// Of fewer elements none is worth it.
inline constexpr int64_t kFewestOrdered = 8192;
inline bool may_be_ordered(const TensorBase& self, const TensorBase& out) {
  return OPLOOM_UNLIKELY(self.numel() >= kFewestOrdered &&
                         !(self.is_contiguous() && out.is_contiguous()));
}
std::optional<OrderedReduction> in_order(const Tensor& self, DimMask mask, const TensorBase& out);

// Calls reduce(input, output) for those, or for self and `out` as they are.
template <typename Reduce>
OPLOOM_ALWAYS_INLINE void reduce_in_order(const Tensor& self, DimMask mask, const Tensor& out,
                                          const Reduce& reduce) {
  if (may_be_ordered(self, out)) {
    if (const auto ordered = in_order(self, mask, out)) {
      reduce(ordered->self, ordered->out);
      Tensor(out).copy_(ordered->out);
      return;
    }
  }
  reduce(self, out);
}

}  // namespace at::inline oploom_v1::native
