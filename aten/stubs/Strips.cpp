#include <aten/core/Parallel.h>
#include <aten/stubs/Strips.h>

#include <algorithm>

namespace at::inline oploom_v1::native {

int64_t strip_width(int64_t columns, int64_t most, int64_t outer, StripsAre use) {
  if (columns <= std::min<int64_t>(most, 64)) return 64;
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

}  // namespace at::inline oploom_v1::native
