// GradMode: whether operators record their derivatives on this thread.
#pragma once

#include <c10/util/Export.h>
#include <c10/util/Macros.h>

namespace c10::inline oploom_v1 {

extern OPLOOM_API constinit thread_local bool tls_grad_mode OPLOOM_TLS_INITIAL_EXEC;

struct GradMode {
  static bool is_enabled() { return tls_grad_mode; }
  static void set_enabled(bool enabled) { tls_grad_mode = enabled; }
};

// Sets the mode for a scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : saved_(tls_grad_mode) { tls_grad_mode = enabled; }
  ~AutoGradMode() { tls_grad_mode = saved_; }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool saved_;
};

class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

}  // namespace c10::inline oploom_v1
