// Rows of elements that are moved, or converted, in kernels.
#pragma once

#include <aten/core/OpaqueType.h>
#include <aten/stubs/Copy.h>

#include <algorithm>
#include <type_traits>

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

// The CastLoop that moves elements as they are, of a type of aten/core/OpaqueType.h; it is in
// CopyKernel.cpp.
template <typename T>
void move_row(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t n);

// to[i] = from[i], by vectors.
template <typename From, typename To>
void convert_row(const From* from, To* to, int64_t n) {
  cast_loop_stub(DeviceType::CPU, c10::scalar_type_of_v<To>, c10::scalar_type_of_v<From>)(
      reinterpret_cast<char*>(to), sizeof(To), reinterpret_cast<const char*>(from), sizeof(From),
      n);
}

// A row as To: the row itself, or a converted copy in the buffer. Null stays null.
template <typename From, typename To>
const To* row_as(const From* row, int64_t n, To* buffer) {
  if constexpr (std::is_same_v<From, To>) {
    return row;
  } else {
    if (row == nullptr) return nullptr;
    convert_row(row, buffer, n);
    return buffer;
  }
}

// Rows of n elements that are converted together, at least one: a first-level cache holds two or
// three copies of them. Each for itself would be computed at once, and what has been stored by a
// mask, as the end of a row, holds up loads of what lies beside it until it is in the cache.
inline int64_t converted_together(int64_t n) { return std::max<int64_t>(1, 2048 / n); }

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
