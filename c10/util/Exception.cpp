// The exception classes, the out-of-line part of the checks, and warnings.
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <utility>

namespace c10::inline oploom_v1 {

Error::Error(std::string msg) : msg_(std::move(msg)), what_(msg_) {}
Error::Error(const Error&) = default;
Error& Error::operator=(const Error&) = default;

void Error::add_context(std::string line) {
  what_ += "\n  ";
  what_ += line;
  context_.push_back(std::move(line));
}

void Error::set_function(std::string_view name) {
  constexpr std::string_view kAfterName = "(): ";
  const auto is_part_of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::string_view rest = msg_;
  const auto length = static_cast<std::size_t>(
      std::find_if_not(rest.begin(), rest.end(), is_part_of_name) - rest.begin());
  if (length > 0 && rest.substr(length).starts_with(kAfterName)) {
    rest.remove_prefix(length + kAfterName.size());
  }
  msg_ = str(name, kAfterName, rest);
  what_ = msg_;
  for (const std::string& line : context_) what_ += "\n  " + line;
}

// Out of line, so that each class has its type information in the library alone and is recognised
// by programs that catch it.
Error::~Error() = default;
ValueError::~ValueError() = default;
TypeError::~TypeError() = default;
IndexError::~IndexError() = default;
NotImplementedError::~NotImplementedError() = default;
OutOfMemoryError::~OutOfMemoryError() = default;
InternalError::~InternalError() = default;

namespace {

void print_warning(const std::string& message) {
  std::fprintf(stderr, "oploom: warning: %s\n", message.c_str());
}

constinit std::atomic<WarningHandler> warning_handler{&print_warning};

}  // namespace

void warn(const std::string& message) { warning_handler.load()(message); }

WarningHandler set_warning_handler(WarningHandler handler) {
  return warning_handler.exchange(handler != nullptr ? handler : &print_warning);
}

namespace detail {

std::string check_message(const char* condition) {
  return str("expected `", condition, "` to hold, but it does not");
}
std::string check_message(const char*, std::string message) { return message; }

void throw_error(std::string msg) { throw Error(std::move(msg)); }
void throw_value_error(std::string msg) { throw ValueError(std::move(msg)); }
void throw_type_error(std::string msg) { throw TypeError(std::move(msg)); }
void throw_index_error(std::string msg) { throw IndexError(std::move(msg)); }
void throw_not_implemented_error(std::string msg) { throw NotImplementedError(std::move(msg)); }
void throw_out_of_memory_error(std::string msg) { throw OutOfMemoryError(std::move(msg)); }
void throw_internal_error(const char* file, int line, const char* condition,
                          const std::string& msg) {
  throw InternalError(str("internal error, please report this as a bug of oploom: `", condition,
                          "` does not hold at ", file, ":", line, msg.empty() ? "" : ": ", msg));
}

}  // namespace detail

}  // namespace c10::inline oploom_v1
