// Whether tensors share memory in ways that make writing into them undefined.
#pragma once

#include <aten/core/TensorBase.h>

#include <string_view>

namespace at::inline oploom_v1 {

// Internal overlap: two index positions of one tensor lie on the same element.
// TooHard: not decided cheaply; such tensors are let through.
enum class MemOverlap { No, Yes, TooHard };

// Of two tensors. Full: each element lies on that of the same position. Partial: some share memory
// in another way. Decided for dense tensors and for views of one shape and the same strides, each
// of which steps over those below it, such as x[:, 1:] and x[:, :-1]; TooHard: other views of one
// storage whose bytes meet.
enum class MemOverlapStatus { Full, Partial, No, TooHard };

OPLOOM_API MemOverlap has_internal_overlap(const TensorBase& tensor);
// Throws if several positions of `tensor` lie on one element, so that it cannot be written to.
OPLOOM_API void assert_no_internal_overlap(const TensorBase& tensor, std::string_view prefix = {});

OPLOOM_API MemOverlapStatus get_overlap_status(const TensorBase& a, const TensorBase& b);
// Throws if the tensors share some elements without being the same view.
OPLOOM_API void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b,
                                          std::string_view prefix = {});
// Whether the tensors are known to share an element.
OPLOOM_API bool share_memory(const TensorBase& a, const TensorBase& b);
// Throws if they are.
OPLOOM_API void assert_no_overlap(const TensorBase& a, const TensorBase& b,
                                  std::string_view prefix = {});

}  // namespace at::inline oploom_v1
