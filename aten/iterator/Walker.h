// Walker: positions in some dimensions of an input and an output.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/core/SizesAndStrides.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace at::inline oploom_v1 {

struct WalkDim {
  int64_t size;
  // Strides of input and output; what they count is up to the user.
  int64_t in;
  int64_t out;
};
using WalkDims = SmallVector<WalkDim, 6>;

// Positions in some dimensions, the first of which moves fastest.
class Walker {
 public:
  Walker(const WalkDim* dims, size_t n, int64_t position) : dims_(dims), n_(n) {
    for (size_t d = 0; d < n_; ++d) {
      index_[d] = position % dims_[d].size;
      position /= dims_[d].size;
      in += index_[d] * dims_[d].in;
      out += index_[d] * dims_[d].out;
    }
  }
  void next() {
    for (size_t d = 0; d < n_; ++d) {
      in += dims_[d].in;
      out += dims_[d].out;
      if (++index_[d] < dims_[d].size) return;
      in -= dims_[d].in * dims_[d].size;
      out -= dims_[d].out * dims_[d].size;
      index_[d] = 0;
    }
  }
  int64_t in = 0;
  int64_t out = 0;

 private:
  const WalkDim* dims_;
  size_t n_;
  int64_t index_[c10::kMaxDimensions];
};

// Calls f(in, out, n) for the positions from `begin` to `end`, as runs of n along the first of the
// dimensions, of which there must be one; `in` and `out` are those of the first of a run.
template <typename F>
void for_each_run(const WalkDims& dims, int64_t begin, int64_t end, const F& f) {
  const WalkDim& next = dims[0];
  Walker walker(dims.data() + 1, dims.size() - 1, begin / next.size);
  for (int64_t i = begin; i < end; walker.next()) {
    const int64_t first = i % next.size, n = std::min(end - i, next.size - first);
    f(walker.in + first * next.in, walker.out + first * next.out, n);
    i += n;
  }
}

}  // namespace at::inline oploom_v1
