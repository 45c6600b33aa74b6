// c10::str joins its arguments into a string by operator<<; used by every error message.
#pragma once

#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <ostream>
#include <string>
#include <string_view>

namespace c10::inline oploom_v1 {

namespace detail {

// A std::ostringstream, without <sstream> for all who report errors.
class OPLOOM_API StringStream {
 public:
  StringStream();
  ~StringStream();
  StringStream(const StringStream&) = delete;
  StringStream& operator=(const StringStream&) = delete;

  std::ostream& stream() noexcept;
  // What was written; nothing more may be.
  std::string take();

 private:
  struct Impl;
  Impl* const impl_;
};

}  // namespace detail

// Out of line and cold: messages are built when something has gone wrong already, and the code at
// the place of the check should stay small.
template <typename... Args>
OPLOOM_COLD std::string str(const Args&... args) {
  detail::StringStream text;
  (text.stream() << ... << args);
  return text.take();
}

inline std::string str() { return {}; }
inline std::string str(const std::string& text) { return text; }
inline std::string str(const char* text) { return text; }

// Join("; ", values) puts the separator between the elements of any range that can be printed.
template <typename Range>
std::string Join(std::string_view separator, const Range& values) {
  detail::StringStream text;
  bool first = true;
  for (const auto& value : values) {
    if (!first) text.stream() << separator;
    first = false;
    text.stream() << value;
  }
  return text.take();
}

}  // namespace c10::inline oploom_v1
