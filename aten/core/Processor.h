// What is known of processors beside their instruction sets.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/Export.h>

#include <cstdint>

namespace at::inline oploom_v1::detail {

// Note [Near fetches]
// Whether loops over what comes from memory should ask for what they read next, and have it brought
// to the first-level cache: a Zen 5 and an Intel of the generation of Cascade Lake stop looking
// ahead by themselves where a loop pauses, as it does to copy what it has computed past the cache,
// and then wait for memory at each line. Pointwise operators take up to 3 times as long on the
// former without it, reductions up to 1.6 times, on the latter up to 1.47 and 1.24 times. They also
// want shorter pieces past the cache, and longer runs of what is transposed. A Zen 3 wants it for
// functions that wait for memory (`a * 2` of 40 MB takes 0.75 of the time, sums with a row or a
// column 0.8), not for longer ones (`tanh` takes 1.1 times as long). The other processors that were
// measured (a Zen 4, an Intel of the generation of Granite Rapids) look ahead, and requests to the
// first-level cache hold them up.
OPLOOM_API bool fetches_near(bool waits = true);
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

// Note [Spread fetches]
// Whether loops that go through one run of memory should ask for four parts of what comes next by
// turns: a Zen 3 reads one run at 12 GB/s at most, however far ahead it is asked for, and four of
// them at 16 to 18: sums, extremes and variances of 64 MB take 0.63 to 0.77 of the time. Loops over
// two large inputs gain nothing. Not measured on others.
OPLOOM_API bool fetches_spread();
// The block of memory whose lines are asked for while those of the one before it are read, and the
// parts of it.
inline constexpr uintptr_t kSpreadBytes = 65536, kSpreadParts = 4;
// The line to ask for where the line of `place` is read, so that each of the next block is asked
// for once. Those of 256 bytes in a row lie in the four parts, at the same place of each.
inline uintptr_t spread_from(uintptr_t place) {
  constexpr uintptr_t kLine = 64, kPart = kSpreadBytes / kSpreadParts;
  const uintptr_t line = place % kSpreadBytes / kLine;
  return place - place % kSpreadBytes + kSpreadBytes + line % kSpreadParts * kPart +
         line / kSpreadParts * kLine;
}

// What these answer. `near_long`: fetches_near() of functions that do not wait for memory.
struct Fetches {
  bool near = false, near_long = false, rows_near = false, written = false, spread = false;
};

// While it lives, these answer so on any processor: for tests. No other thread may be made to
// compute by anybody else meanwhile.
class OPLOOM_API NearFetchesGuard {
 public:
  NearFetchesGuard(bool near, bool rows_near, bool written, bool spread = false);
  NearFetchesGuard(const NearFetchesGuard&) = delete;
  NearFetchesGuard& operator=(const NearFetchesGuard&) = delete;
  ~NearFetchesGuard();

 private:
  Fetches kept_;
};

}  // namespace at::inline oploom_v1::detail
