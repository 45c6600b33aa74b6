// Walker: positions in some dimensions of an input and an output.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/core/SizesAndStrides.h>
#include <c10/util/SmallVector.h>

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

}  // namespace at::inline oploom_v1
