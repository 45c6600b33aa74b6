// The thread-local words that operator calls read.
#include <c10/core/GradMode.h>
#include <c10/core/LocalDispatchKeySet.h>

namespace c10::inline oploom_v1 {

constinit thread_local LocalDispatchKeySet tls_local_dispatch_key_set OPLOOM_TLS_INITIAL_EXEC = {};
constinit thread_local bool tls_grad_mode OPLOOM_TLS_INITIAL_EXEC = true;

}  // namespace c10::inline oploom_v1
