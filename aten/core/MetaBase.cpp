// MetaBase: the parts common to all structured operators.
#include <aten/core/MetaBase.h>

#include <algorithm>

namespace at::inline oploom_v1::impl {

void MetaBase::set_output_raw_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                                      TensorOptions options) {
  outputs_->declare(index, sizes, strides, options, /*exactly=*/false);
}

void MetaBase::set_output_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                                  TensorOptions options) {
  outputs_->declare(index, sizes, strides, options, /*exactly=*/true);
}

void MetaBase::set_output_contiguous(int64_t index, IntArrayRef sizes, TensorOptions options) {
  DimVector strides(sizes.size());
  int64_t step = 1;
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  set_output_strided(index, sizes, strides, options);
}

}  // namespace at::inline oploom_v1::impl
