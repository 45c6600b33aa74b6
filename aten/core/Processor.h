// What is known of processors beside their instruction sets.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/Export.h>

namespace at::inline oploom_v1::detail {

// Note [Near fetches]
// Whether loops over what comes from memory should ask for what they read next, and have it brought
// to the first-level cache: a Zen 5 and an Intel of the generation of Cascade Lake stop looking
// ahead by themselves where a loop pauses, as it does to copy what it has computed past the cache,
// and then wait for memory at each line. Pointwise operators take up to 3 times as long on the
// former without it, reductions up to 1.6 times, on the latter up to 1.47 and 1.24 times. They also
// want shorter pieces past the cache, and longer runs of what is transposed. The other processors
// that were measured (a Zen 4, an Intel of the generation of Granite Rapids) look ahead, and
// requests to the first-level cache hold them up.
OPLOOM_API bool fetches_near();
// Whether that also holds for rows that kernels write past the cache themselves (RowWriter in
// aten/cpu/FarRows.h) and for copies (RowCopy in aten/iterator/Cast.h): on the Cascade Lake
// `layer_norm` takes 0.82 of the time, a copy 0.9. Of what is transposed such a processor gets
// fewer rows at a time, and the columns that come next are not fetched early: its second-level
// cache keeps few of either where they lie a multiple of 16 KB apart. It also rather writes columns
// than reads them, and by squares. A Zen 5 wants all that otherwise.
OPLOOM_API bool fetches_rows_near();
// Whether loops should ask for what they write to a cache that cores share, too, together with what
// they read next: on the Cascade Lake they wait for it line by line, longer with loads of 64 bytes
// than of 32. Not measured on the others.
OPLOOM_API bool fetches_written();

// While it lives, these answer so on any processor: for tests. No other thread may be made to
// compute by anybody else meanwhile.
class OPLOOM_API NearFetchesGuard {
 public:
  NearFetchesGuard(bool near, bool rows_near, bool written);
  NearFetchesGuard(const NearFetchesGuard&) = delete;
  NearFetchesGuard& operator=(const NearFetchesGuard&) = delete;
  ~NearFetchesGuard();

 private:
  bool near_, rows_near_, written_;
};

}  // namespace at::inline oploom_v1::detail
