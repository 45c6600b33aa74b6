// c10::str joins its arguments into a string by operator<<; used by every error message.
#pragma once

#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <sstream>
#include <string>
#include <string_view>

namespace c10::inline oploom_v1 {

// Out of line and cold: messages are built when something has gone wrong already, and the code at
// the place of the check should stay small.
template <typename... Args>
OPLOOM_COLD std::string str(const Args&... args) {
  std::ostringstream stream;
  (stream << ... << args);
  return std::move(stream).str();
}

inline std::string str() { return {}; }
inline std::string str(const std::string& text) { return text; }
inline std::string str(const char* text) { return text; }

// Join("; ", values) puts the separator between the elements of any range that can be printed.
template <typename Range>
std::string Join(std::string_view separator, const Range& values) {
  std::ostringstream stream;
  bool first = true;
  for (const auto& value : values) {
    if (!first) stream << separator;
    first = false;
    stream << value;
  }
  return std::move(stream).str();
}

}  // namespace c10::inline oploom_v1
