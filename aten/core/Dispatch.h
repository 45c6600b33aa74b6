// OPLOOM_DISPATCH: the switch over element types inside kernels.
//
//   OPLOOM_DISPATCH(iter.common_dtype(), "add", (OPLOOM_INTEGRAL, OPLOOM_FLOATING), [&] {
//     ... scalar_t is the element type ...
//   });
//
// The third argument lists in parentheses, with commas, the groups that the kernel supports:
// OPLOOM_BOOL, OPLOOM_INTEGRAL (without bool), OPLOOM_FLOATING (float, double), OPLOOM_REDUCED
// (Half, BFloat16), OPLOOM_COMPLEX, OPLOOM_ALL; or single types: OPLOOM_BYTE, OPLOOM_LONG,
// OPLOOM_HALF, ... The value of the lambda is the value of the expression. Any other dtype throws a
// NotImplementedError that lists what is supported.
//
// The lambda's body is compiled as a template over scalar_t: `if constexpr` on it discards the
// other branch, and types inside dependent classes need `typename`.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <cstdint>
#include <type_traits>

namespace at::inline oploom_v1::detail {

// Bit i stands for the ScalarType of value i.
using DtypeMask = std::uint32_t;

[[noreturn]] OPLOOM_API void throw_unsupported_dtype(const char* op, c10::ScalarType dtype,
                                                     DtypeMask supported);

template <typename... T>
struct DispatchTypes {
  static constexpr DtypeMask mask =
      (DtypeMask{0} | ... | (DtypeMask{1} << static_cast<int>(c10::scalar_type_of_v<T>)));
};

template <typename T>
struct DispatchTag {
  using type = T;
};

template <typename... Groups>
struct DispatchGroups {
  static constexpr DtypeMask mask = (DtypeMask{0} | ... | Groups::mask);
};

template <c10::ScalarType S, DtypeMask mask>
inline constexpr bool dispatch_has = ((mask >> static_cast<int>(S)) & 1u) != 0;

template <typename Groups, typename F>
OPLOOM_ALWAYS_INLINE auto dispatch(c10::ScalarType dtype, const char* op, F&& f) {
  static_assert(Groups::mask != 0);
  switch (dtype) {
#define OPLOOM_DISPATCH_CASE(cpp_type, name, text)                     \
  case c10::ScalarType::name:                                          \
    if constexpr (dispatch_has<c10::ScalarType::name, Groups::mask>) { \
      return f(DispatchTag<cpp_type>{});                               \
    }                                                                  \
    break;
    OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_DISPATCH_CASE)
#undef OPLOOM_DISPATCH_CASE
    default:
      break;
  }
  throw_unsupported_dtype(op, dtype, Groups::mask);
}

}  // namespace at::inline oploom_v1::detail

#define OPLOOM_BOOL ::at::detail::DispatchTypes<bool>
#define OPLOOM_BYTE ::at::detail::DispatchTypes<std::uint8_t>
#define OPLOOM_CHAR ::at::detail::DispatchTypes<std::int8_t>
#define OPLOOM_SHORT ::at::detail::DispatchTypes<std::int16_t>
#define OPLOOM_INT ::at::detail::DispatchTypes<std::int32_t>
#define OPLOOM_LONG ::at::detail::DispatchTypes<std::int64_t>
#define OPLOOM_HALF ::at::detail::DispatchTypes<::c10::Half>
#define OPLOOM_BFLOAT16 ::at::detail::DispatchTypes<::c10::BFloat16>
#define OPLOOM_FLOAT ::at::detail::DispatchTypes<float>
#define OPLOOM_DOUBLE ::at::detail::DispatchTypes<double>
#define OPLOOM_COMPLEX_FLOAT ::at::detail::DispatchTypes<::c10::complex<float>>
#define OPLOOM_COMPLEX_DOUBLE ::at::detail::DispatchTypes<::c10::complex<double>>
#define OPLOOM_INTEGRAL OPLOOM_BYTE, OPLOOM_CHAR, OPLOOM_SHORT, OPLOOM_INT, OPLOOM_LONG
#define OPLOOM_FLOATING OPLOOM_FLOAT, OPLOOM_DOUBLE
#define OPLOOM_REDUCED OPLOOM_HALF, OPLOOM_BFLOAT16
#define OPLOOM_COMPLEX OPLOOM_COMPLEX_FLOAT, OPLOOM_COMPLEX_DOUBLE
#define OPLOOM_ALL OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX

#define OPLOOM_DISPATCH_STRIP(...) __VA_ARGS__
#define OPLOOM_DISPATCH(dtype, op, groups, ...)                                       \
  ::at::detail::dispatch<::at::detail::DispatchGroups<OPLOOM_DISPATCH_STRIP groups>>( \
      dtype, op, [&](auto oploom_tag) {                                               \
        using scalar_t [[maybe_unused]] = typename decltype(oploom_tag)::type;        \
        return (__VA_ARGS__)();                                                       \
      })
