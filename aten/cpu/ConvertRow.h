// Rows of elements that are moved, or converted, in kernels.
#pragma once

#include <aten/core/OpaqueType.h>
#include <aten/stubs/Copy.h>

#include <algorithm>

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

// Whether rows of n elements are converted together: 16-bit ones that fill no vector would be
// loaded and stored by masks one by one, and what a mask has stored holds up loads of what lies
// beside it until it is in the cache.
inline constexpr int64_t kConvertedBelow = 16;
template <typename In>
bool converts_rows(int64_t n) {
  return sizeof(In) == 2 && n < kConvertedBelow;
}
// So many of them: a first-level cache holds two or three copies of kConverted elements as float.
inline constexpr int64_t kConverted = 2048;
inline int64_t converted_together(int64_t n) { return std::max<int64_t>(1, kConverted / n); }

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
