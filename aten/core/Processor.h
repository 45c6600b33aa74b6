// What is known of processors beside their instruction sets.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/Export.h>

namespace at::inline oploom_v1::detail {

// Note [Near fetches]
// Whether loops over what comes from memory should ask for what they read next, and have it brought
// to the first-level cache: a Zen 5 stops looking ahead by itself where a loop pauses, as it does
// to copy what it has computed past the cache, and then waits for memory at each line. Pointwise
// operators take up to 3 times as long there without it, reductions up to 1.6 times. It also wants
// shorter pieces past the cache, and longer runs of what is transposed. The other processors that
// were measured (a Zen 4, an Intel of the generation of Granite Rapids) look ahead, and requests to
// the first-level cache hold them up.
OPLOOM_API bool fetches_near();

// While it lives, fetches_near() answers so on any processor: for tests. No other thread may be
// made to compute by anybody else meanwhile.
class OPLOOM_API NearFetchesGuard {
 public:
  explicit NearFetchesGuard(bool near);
  NearFetchesGuard(const NearFetchesGuard&) = delete;
  NearFetchesGuard& operator=(const NearFetchesGuard&) = delete;
  ~NearFetchesGuard();

 private:
  bool before_;
};

}  // namespace at::inline oploom_v1::detail
