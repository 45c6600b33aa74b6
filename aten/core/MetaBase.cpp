// MetaBase: the parts common to all structured operators.
#include <aten/core/MetaBase.h>

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
  set_output_strided(index, sizes, {}, options);
}

}  // namespace at::inline oploom_v1::impl
