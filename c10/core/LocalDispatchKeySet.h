// The keys that this thread adds to, and takes from, the key set of every call, and the guards that
// change them.
#pragma once

#include <c10/core/DispatchKeySet.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>

namespace c10::inline oploom_v1 {

struct LocalDispatchKeySet {
  DispatchKeySet included;
  DispatchKeySet excluded;
};

// Excluding wins over including.
extern OPLOOM_API constinit thread_local LocalDispatchKeySet tls_local_dispatch_key_set
    OPLOOM_TLS_INITIAL_EXEC;

OPLOOM_ALWAYS_INLINE const LocalDispatchKeySet& tls_local_keyset() {
  return tls_local_dispatch_key_set;
}

// The set a call is dispatched on, given the union of its arguments' sets.
OPLOOM_ALWAYS_INLINE DispatchKeySet computeDispatchKeySet(DispatchKeySet keys) {
  const LocalDispatchKeySet local = tls_local_dispatch_key_set;
  return (keys | local.included) - local.excluded;
}

class IncludeDispatchKeyGuard {
 public:
  explicit IncludeDispatchKeyGuard(DispatchKeySet keys)
      : saved_(tls_local_dispatch_key_set.included) {
    tls_local_dispatch_key_set.included = saved_ | keys;
  }
  explicit IncludeDispatchKeyGuard(DispatchKey key)
      : IncludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ~IncludeDispatchKeyGuard() { tls_local_dispatch_key_set.included = saved_; }
  IncludeDispatchKeyGuard(const IncludeDispatchKeyGuard&) = delete;
  IncludeDispatchKeyGuard& operator=(const IncludeDispatchKeyGuard&) = delete;

 private:
  DispatchKeySet saved_;
};

class ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys)
      : saved_(tls_local_dispatch_key_set.excluded) {
    tls_local_dispatch_key_set.excluded = saved_ | keys;
  }
  explicit ExcludeDispatchKeyGuard(DispatchKey key)
      : ExcludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ~ExcludeDispatchKeyGuard() { tls_local_dispatch_key_set.excluded = saved_; }
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  DispatchKeySet saved_;
};

// Sets both, and puts the former ones back; for carrying the state of one thread to another.
class ForceDispatchKeyGuard {
 public:
  explicit ForceDispatchKeyGuard(LocalDispatchKeySet keys) : saved_(tls_local_dispatch_key_set) {
    tls_local_dispatch_key_set = keys;
  }
  ~ForceDispatchKeyGuard() { tls_local_dispatch_key_set = saved_; }
  ForceDispatchKeyGuard(const ForceDispatchKeyGuard&) = delete;
  ForceDispatchKeyGuard& operator=(const ForceDispatchKeyGuard&) = delete;

 private:
  LocalDispatchKeySet saved_;
};

// Calls inside go to the backend directly; what autograd kernels use around their redispatch.
class AutoDispatchBelowAutograd {
 public:
  AutoDispatchBelowAutograd() : guard_(autograd_dispatch_keyset) {}

 private:
  ExcludeDispatchKeyGuard guard_;
};

}  // namespace c10::inline oploom_v1
