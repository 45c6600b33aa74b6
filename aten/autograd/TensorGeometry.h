// TensorGeometry: what a node keeps of a tensor when it needs its layout and not its values.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/util/DimVector.h>

namespace at::inline oploom_v1 {

// Where and how the elements of a tensor lie in its memory. Sizes, strides and the offset count
// elements of `dtype`.
struct TensorGeometry {
  TensorGeometry() = default;
  explicit TensorGeometry(const TensorBase& tensor)
      : sizes_(tensor.sizes()),
        strides_(tensor.strides()),
        storage_offset_(tensor.storage_offset()),
        dtype_(tensor.scalar_type()) {}

  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  int64_t storage_offset() const { return storage_offset_; }
  ScalarType dtype() const { return dtype_; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t numel() const {
    int64_t result = 1;
    for (int64_t size : sizes_) result *= size;
    return result;
  }

  c10::DimVector sizes_;
  c10::DimVector strides_;
  int64_t storage_offset_ = 0;
  ScalarType dtype_ = c10::kFloat;
};

}  // namespace at::inline oploom_v1
