// Exception classes and the macros that check arguments. OPLOOM_CHECK and its relatives report
// mistakes of the caller and become Python exceptions of the same name; OPLOOM_INTERNAL_ASSERT
// reports a bug of ours and says so, with file and line.
#pragma once

#include <c10/util/Export.h>
#include <c10/util/Macros.h>
#include <c10/util/StringUtil.h>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace c10::inline oploom_v1 {

// The base of everything thrown by the library; RuntimeError in Python.
class OPLOOM_API Error : public std::exception {
 public:
  explicit Error(std::string msg);
  ~Error() override;
  Error(const Error&);
  Error& operator=(const Error&);

  // Adds a line that tells what was being done when the error happened, innermost first.
  void add_context(std::string line);

  // Says which function people called: its name begins the message, `add(): ...`, in the place of
  // the one that stands there, which is a function that it called.
  void set_function(std::string_view name);

  const std::string& msg() const { return msg_; }
  const std::vector<std::string>& context() const { return context_; }
  const char* what() const noexcept override { return what_.c_str(); }
  const char* what_without_context() const noexcept { return msg_.c_str(); }

 private:
  std::string msg_;
  std::vector<std::string> context_;
  std::string what_;
};

#define OPLOOM_DECLARE_ERROR(name)       \
  class OPLOOM_API name : public Error { \
   public:                               \
    using Error::Error;                  \
    ~name() override;                    \
  }

OPLOOM_DECLARE_ERROR(ValueError);
OPLOOM_DECLARE_ERROR(TypeError);
OPLOOM_DECLARE_ERROR(IndexError);
OPLOOM_DECLARE_ERROR(NotImplementedError);
OPLOOM_DECLARE_ERROR(OutOfMemoryError);
// A broken invariant inside the library.
OPLOOM_DECLARE_ERROR(InternalError);
#undef OPLOOM_DECLARE_ERROR

// Warnings go to standard error unless a handler is set (Python sets one that calls `warnings`).
using WarningHandler = void (*)(const std::string& message);
OPLOOM_API void warn(const std::string& message);
// Returns the handler that was set before; nullptr restores the default.
OPLOOM_API WarningHandler set_warning_handler(WarningHandler handler);

namespace detail {
OPLOOM_API std::string check_message(const char* condition);
OPLOOM_API std::string check_message(const char* condition, std::string message);
[[noreturn]] OPLOOM_API void throw_error(std::string msg);
[[noreturn]] OPLOOM_API void throw_value_error(std::string msg);
[[noreturn]] OPLOOM_API void throw_type_error(std::string msg);
[[noreturn]] OPLOOM_API void throw_index_error(std::string msg);
[[noreturn]] OPLOOM_API void throw_not_implemented_error(std::string msg);
[[noreturn]] OPLOOM_API void throw_out_of_memory_error(std::string msg);
[[noreturn]] OPLOOM_API void throw_internal_error(const char* file, int line, const char* condition,
                                                  const std::string& msg);
}  // namespace detail

}  // namespace c10::inline oploom_v1

#define OPLOOM_CHECK_WITH(thrower, cond, ...)                             \
  do {                                                                    \
    if (OPLOOM_UNLIKELY(!(cond))) {                                       \
      ::c10::detail::thrower(OPLOOM_CHECK_MESSAGE(#cond, ##__VA_ARGS__)); \
    }                                                                     \
  } while (false)
// The first argument is the condition's text, used when there is no message.
#define OPLOOM_CHECK_MESSAGE(cond, ...) \
  ::c10::detail::check_message(cond __VA_OPT__(, ::c10::str(__VA_ARGS__)))

#define OPLOOM_CHECK(cond, ...) OPLOOM_CHECK_WITH(throw_error, cond, ##__VA_ARGS__)
#define OPLOOM_CHECK_VALUE(cond, ...) OPLOOM_CHECK_WITH(throw_value_error, cond, ##__VA_ARGS__)
#define OPLOOM_CHECK_TYPE(cond, ...) OPLOOM_CHECK_WITH(throw_type_error, cond, ##__VA_ARGS__)
#define OPLOOM_CHECK_INDEX(cond, ...) OPLOOM_CHECK_WITH(throw_index_error, cond, ##__VA_ARGS__)
#define OPLOOM_CHECK_NOT_IMPLEMENTED(cond, ...) \
  OPLOOM_CHECK_WITH(throw_not_implemented_error, cond, ##__VA_ARGS__)
#define OPLOOM_CHECK_MEMORY(cond, ...) \
  OPLOOM_CHECK_WITH(throw_out_of_memory_error, cond, ##__VA_ARGS__)
#define OPLOOM_ERROR(...) ::c10::detail::throw_error(::c10::str(__VA_ARGS__))

#define OPLOOM_INTERNAL_ASSERT(cond, ...)                                                      \
  do {                                                                                         \
    if (OPLOOM_UNLIKELY(!(cond))) {                                                            \
      ::c10::detail::throw_internal_error(__FILE__, __LINE__, #cond, ::c10::str(__VA_ARGS__)); \
    }                                                                                          \
  } while (false)

// For loops and accessors: checked in builds without NDEBUG only.
#ifdef NDEBUG
#define OPLOOM_INTERNAL_ASSERT_DEBUG(cond, ...) \
  do {                                          \
  } while (false && (cond))
#else
#define OPLOOM_INTERNAL_ASSERT_DEBUG(cond, ...) OPLOOM_INTERNAL_ASSERT(cond, ##__VA_ARGS__)
#endif

#define OPLOOM_WARN(...) ::c10::warn(::c10::str(__VA_ARGS__))
#define OPLOOM_WARN_ONCE(...)                         \
  do {                                                \
    [[maybe_unused]] static const bool warned = [&] { \
      OPLOOM_WARN(__VA_ARGS__);                       \
      return true;                                    \
    }();                                              \
  } while (false)
