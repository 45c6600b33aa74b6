// How neighbouring columns are shared out among threads.
#pragma once

#include <aten/core/Parallel.h>

#include <algorithm>
#include <cstdint>

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

// Two threads that go down neighbouring strips at the same pace write into the cache line that lies
// across their border at the same time, row after row. Where each has two strips, and takes the
// left one first, they do not.
enum class StripsAre { Read, Written };

// The width of strips of columns, of which there are `outer` rows: at most `most`, which is a
// multiple of 16. They are all about as wide; where they are few, as many as threads share evenly,
// as long as they have 64 columns.
inline int64_t strip_width(int64_t columns, int64_t most, int64_t outer, StripsAre use) {
  const int64_t threads = at::get_num_threads();
  const int64_t wanted = threads == 1 || use == StripsAre::Read ? threads : 2 * threads;
  int64_t strips = (columns + most - 1) / most;
  if (outer * strips < 4 * threads) {
    int64_t shared = strips;
    while (outer * shared % wanted != 0) ++shared;
    strips = std::max(strips, std::min(shared, columns / 64));
  }
  return std::min(most, ((columns + strips - 1) / strips + 15) / 16 * 16);
}

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
