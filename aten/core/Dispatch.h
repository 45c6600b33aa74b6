// OPLOOM_DISPATCH: the switch over element types inside kernels.
//
//   OPLOOM_DISPATCH(iter.common_dtype(), "add", (OPLOOM_ALL), [&] {
//     ... scalar_t is the element type ...
//   });
//
// The third argument lists in parentheses the groups that the kernel supports: OPLOOM_BOOL,
// OPLOOM_INTEGRAL (without bool), OPLOOM_FLOATING (float, double), OPLOOM_REDUCED (Half, BFloat16),
// OPLOOM_COMPLEX, OPLOOM_ALL, or single ones: OPLOOM_BYTE, OPLOOM_LONG, OPLOOM_HALF, ... The value of
// the lambda is the value of the expression. Any other dtype throws a NotImplementedError that lists
// what is supported.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <cstdint>

namespace at::inline oploom_v1::detail {

using DtypeMask = std::uint32_t;

template <typename... T>
inline constexpr DtypeMask dtype_mask = ((DtypeMask{1} << static_cast<int>(c10::scalar_type_of_v<T>)) |
                                         ...);

[[noreturn]] OPLOOM_API void throw_unsupported_dtype(const char* op, c10::ScalarType dtype,
                                                     DtypeMask supported);

}  // namespace at::inline oploom_v1::detail

// Groups, as lists of types with a leading comma.
#define OPLOOM_BOOL , bool
#define OPLOOM_BYTE , std::uint8_t
#define OPLOOM_CHAR , std::int8_t
#define OPLOOM_SHORT , std::int16_t
#define OPLOOM_INT , std::int32_t
#define OPLOOM_LONG , std::int64_t
#define OPLOOM_HALF , ::c10::Half
#define OPLOOM_BFLOAT16 , ::c10::BFloat16
#define OPLOOM_FLOAT , float
#define OPLOOM_DOUBLE , double
#define OPLOOM_COMPLEX_FLOAT , ::c10::complex<float>
#define OPLOOM_COMPLEX_DOUBLE , ::c10::complex<double>
#define OPLOOM_INTEGRAL OPLOOM_BYTE OPLOOM_CHAR OPLOOM_SHORT OPLOOM_INT OPLOOM_LONG
#define OPLOOM_FLOATING OPLOOM_FLOAT OPLOOM_DOUBLE
#define OPLOOM_REDUCED OPLOOM_HALF OPLOOM_BFLOAT16
#define OPLOOM_COMPLEX OPLOOM_COMPLEX_FLOAT OPLOOM_COMPLEX_DOUBLE
#define OPLOOM_ALL OPLOOM_BOOL OPLOOM_INTEGRAL OPLOOM_FLOATING OPLOOM_REDUCED OPLOOM_COMPLEX
