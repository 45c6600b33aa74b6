// Shapes of reductions.
#pragma once

#include <aten/native/ShapeUtils.h>
#include <aten/stubs/ReduceOps.h>
#include <c10/util/OptionalArrayRef.h>

#include <cstdint>

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

// Of fewer elements no other way to reduce them is worth it.
inline constexpr int64_t kFewestOrdered = 8192;
inline bool may_be_ordered(const TensorBase& self, const TensorBase& out) {
  return OPLOOM_UNLIKELY(self.numel() >= kFewestOrdered &&
                         !(self.is_contiguous() && out.is_contiguous()));
}

// What an element that is there several times, as self is expanded along a reduced dimension, is to
// a reduction: each time another one, the same as one, or, in sums that allow it, a multiple.
enum class Repeats : uint8_t { Count, AreOne, Multiply };

// Input and output of a reduction that takes less time, a copy of its results included: these
// follow each other as the elements of self do that they come from, and where self is expanded
// there is one. Nothing is defined where there is nothing to gain.
struct OrderedReduction {
  // Gives `result`, the output as it was, what has been reduced into `out`.
  void finish(const Tensor& result) const;

  Tensor self, out;
  int64_t times = 1;
};
OrderedReduction in_order(const Tensor& self, DimMask mask, const TensorBase& out, Repeats repeats);

// Calls reduce(input, output) for those, or for self and `out` as they are.
template <typename Reduce>
OPLOOM_ALWAYS_INLINE void reduce_in_order(const Tensor& self, DimMask mask, const Tensor& out,
                                          Repeats repeats, const Reduce& reduce) {
  if (may_be_ordered(self, out)) {
    const OrderedReduction ordered = in_order(self, mask, out, repeats);
    if (ordered.out.defined()) {
      reduce(ordered.self, ordered.out);
      return ordered.finish(out);
    }
  }
  reduce(self, out);
}

}  // namespace at::inline oploom_v1::native
