// Copying a few bytes.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/Macros.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace at::inline oploom_v1::native {
namespace {  // each file's own, for each is compiled for an instruction set

// The first bytes and the last ones, as many as a T has; they may overlap.
template <typename T>
OPLOOM_ALWAYS_INLINE void copy_ends(char* to, const char* from, size_t bytes) {
  T first, last;
  std::memcpy(&first, from, sizeof(T));
  std::memcpy(&last, from + bytes - sizeof(T), sizeof(T));
  std::memcpy(to, &first, sizeof(T));
  std::memcpy(to + bytes - sizeof(T), &last, sizeof(T));
}

// What one or two registers hold.
typedef char RowPart __attribute__((vector_size(16)));
#if defined(__AVX2__)
typedef char LongRowPart __attribute__((vector_size(32)));
#else
struct LongRowPart {
  RowPart parts[2];
};
#endif

// By way of a register where one holds it: memcpy() from one place to the other takes two.
template <typename Part>
OPLOOM_ALWAYS_INLINE void copy_part(char* to, const char* from) {
  if constexpr (std::is_class_v<Part>) {
    std::memcpy(to, from, sizeof(Part));
  } else {
    Part part;
    std::memcpy(&part, from, sizeof(part));
    std::memcpy(to, &part, sizeof(part));
  }
}

constexpr size_t kShortRowCopy = 64;

// Calls f(function that copies a row of `bytes` bytes), which are at most kShortRowCopy.
template <typename F>
OPLOOM_ALWAYS_INLINE void with_short_row_copy(size_t bytes, const F& f) {
  const auto ends = [&]<typename T>(std::type_identity<T>) OPLOOM_ALWAYS_INLINE_LAMBDA {
    f([bytes](char* to, const char* from)
          OPLOOM_ALWAYS_INLINE_LAMBDA { copy_ends<T>(to, from, bytes); });
  };
  if (bytes > sizeof(LongRowPart)) return ends(std::type_identity<LongRowPart>());
  if (bytes >= sizeof(RowPart)) return ends(std::type_identity<RowPart>());
  if (bytes >= sizeof(uint64_t)) return ends(std::type_identity<uint64_t>());
  if (bytes >= sizeof(uint32_t)) return ends(std::type_identity<uint32_t>());
  f([bytes](char* to, const char* from) {
    for (size_t i = 0; i < bytes; ++i) to[i] = from[i];
  });
}

}  // namespace
}  // namespace at::inline oploom_v1::native
