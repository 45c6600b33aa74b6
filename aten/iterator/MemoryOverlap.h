// Whether tensors share memory in ways that make writing into them undefined.
#pragma once

#include <aten/core/TensorBase.h>

#include <string_view>

namespace at::inline oploom_v1 {

// Internal overlap: two index positions of one tensor lie on the same element.
// TooHard: not decided cheaply; such tensors are let through.
enum class MemOverlap { No, Yes, TooHard };

enum class MemOverlapStatus { Full, Partial, No, TooHard };

OPLOOM_API MemOverlap has_internal_overlap(const TensorBase& tensor);
// Throws if several positions of `tensor` lie on one element, so that it cannot be written to.
OPLOOM_API void assert_no_internal_overlap(const TensorBase& tensor, std::string_view prefix = {});

OPLOOM_API MemOverlapStatus get_overlap_status(const TensorBase& a, const TensorBase& b);
// Throws if the tensors share some elements without being the same view.
OPLOOM_API void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b,
                                          std::string_view prefix = {});
// Whether an element of `a` may lie on one of `b` of another position; exact for views of one shape
// whose strides are the same, each of which steps over those below it, of up to ten dimensions.
OPLOOM_API bool may_share_elements(const TensorBase& a, const TensorBase& b);
// Whether the tensors are known to share an element.
OPLOOM_API bool share_memory(const TensorBase& a, const TensorBase& b);
// Throws if they are.
OPLOOM_API void assert_no_overlap(const TensorBase& a, const TensorBase& b,
                                  std::string_view prefix = {});

}  // namespace at::inline oploom_v1
