// The loops that convert elements between dtypes, as the iterator uses them.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Export.h>

#include <cstdint>

namespace at::inline oploom_v1::detail {

// Converts n elements, dst[i * dst_stride] = src[i * src_stride]. Strides count bytes; source and
// destination do not overlap.
using CastLoop = void (*)(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                          int64_t n);

// The loop for one pair of dtypes. Defined beside the stubs, which know the instruction set.
CastLoop get_cast_loop(ScalarType to, ScalarType from);

}  // namespace at::inline oploom_v1::detail
