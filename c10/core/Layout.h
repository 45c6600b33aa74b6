// Layout: how the elements of a tensor are arranged in memory.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <ostream>

namespace c10::inline oploom_v1 {

enum class Layout : std::int8_t { Strided, Sparse, NumOptions };

inline constexpr Layout kStrided = Layout::Strided;
inline constexpr Layout kSparse = Layout::Sparse;

inline const char* toString(Layout layout) {
  switch (layout) {
    case Layout::Strided:
      return "strided";
    case Layout::Sparse:
      return "sparse";
    default:
      return "unknown layout";
  }
}
inline std::ostream& operator<<(std::ostream& out, Layout layout) {
  return out << toString(layout);
}

}  // namespace c10::inline oploom_v1
