// Rows of elements that are moved, or converted, in kernels.
#pragma once

#include <aten/core/OpaqueType.h>
#include <aten/cpu/vec/vec.h>
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

// Whether rows are so short, and so many, that they are gone through column by column, transposed
// in the first-level cache, in less time (measured on a Zen 4; without vectors they are not).
inline constexpr int64_t kFewElements = 10;
inline bool are_few_elements(int64_t n, int64_t rows) {
  constexpr int64_t kFewestRows = 32;
  return vec::Vec<float>::kInRegister && n <= kFewElements && rows >= kFewestRows;
}
// to[i][j] = from[j][i], for rows of `to` that lie side by side and have `columns` elements.
template <typename T>
void transpose_rows(T* to, const T* from, int64_t rows, int64_t columns) {
  constexpr int64_t kSize = sizeof(T);
  at::detail::get_transpose_loop(kSize)(reinterpret_cast<char*>(to), columns * kSize,
                                        reinterpret_cast<const char*>(from), rows * kSize, rows,
                                        columns, /*stream=*/false);
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
