// Shape arithmetic that the operator bodies share: lists of dimensions, aliases, splitting of
// loops.
#pragma once

#include <aten/core/OpaqueType.h>
#include <aten/core/Parallel.h>
#include <aten/core/TensorBase.h>
#include <c10/core/InferSize.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>
#include <c10/util/MaybeOwned.h>
#include <generated/ops/Tensor.h>

#include <algorithm>
#include <string_view>

namespace at::inline oploom_v1::native {

// Where a dimension is to be added to ndim others, at 0 to ndim; -1 is behind the last.
inline int64_t wrap_new_dim(std::string_view op, int64_t dim, int64_t ndim) {
  OPLOOM_CHECK_INDEX(dim >= -ndim - 1 && dim <= ndim, op, "(): expected dim in [", -ndim - 1, ", ",
                     ndim, "] for a ", ndim, "-d input, got ", dim);
  return dim < 0 ? dim + ndim + 1 : dim;
}

// A list of dimensions as a set: bit d stands for dimension d. One named twice is an error.
inline uint64_t dim_list_to_mask(std::string_view op, IntArrayRef dims, int64_t ndim) {
  uint64_t mask = 0;
  for (int64_t dim : dims) {
    const uint64_t bit = uint64_t{1} << c10::wrap_dim(op, dim, ndim);
    OPLOOM_CHECK((mask & bit) == 0, op, "(): dim ", dim, " appears more than once in ", dims);
    mask |= bit;
  }
  return mask;
}

// The tensor of these sizes and strides (in elements) at `storage_offset` of self's memory. Nothing
// is checked, and autograd does not hear of it.
inline Tensor make_alias(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
                         int64_t storage_offset) {
  return Tensor(c10::make_intrusive<TensorImpl, UndefinedTensorImpl>(
      Storage(self.storage()), self.key_set(), self.scalar_type(),
      c10::SizesAndStrides(sizes, strides), storage_offset));
}
inline Tensor make_alias(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides) {
  return make_alias(self, sizes, strides, self.storage_offset());
}

// `length` positions of a dimension from `start` on, and all of the others.
inline Tensor narrow_alias(const TensorBase& self, int64_t dim, int64_t start, int64_t length) {
  DimVector sizes(self.sizes());
  sizes[dim] = length;
  return make_alias(self, sizes, self.strides(),
                    self.storage_offset() + start * self.strides()[dim]);
}

// A contiguous tensor as one of other sizes, but as many elements.
inline Tensor contiguous_alias(const TensorBase& self, IntArrayRef sizes) {
  auto impl = c10::make_intrusive<TensorImpl, UndefinedTensorImpl>(
      Storage(self.storage()), self.key_set(), self.scalar_type(), sizes, self.numel());
  impl->set_storage_offset(self.storage_offset());
  return Tensor(std::move(impl));
}

// What kernels want of a tensor: itself where it is so already, which costs no reference count, and
// otherwise a new one. The result must not outlive `self`.
inline MaybeOwned<Tensor> expect_contiguous(const Tensor& self) {
  return self.is_contiguous() ? MaybeOwned<Tensor>::borrowed(self)
                              : MaybeOwned<Tensor>::owned(self.contiguous());
}
// A 0-d tensor as one with a single dimension.
inline MaybeOwned<Tensor> at_least_1d(const Tensor& self) {
  return self.dim() > 0 ? MaybeOwned<Tensor>::borrowed(self)
                        : MaybeOwned<Tensor>::owned(make_alias(self, {1}, {1}));
}
MaybeOwned<Tensor> expect_contiguous(Tensor&&) = delete;
MaybeOwned<Tensor> at_least_1d(Tensor&&) = delete;

// self as a view of a shape that it broadcasts to; autograd does not hear of it.
inline Tensor expand_alias(std::string_view op, const TensorBase& self, IntArrayRef shape) {
  if (self.sizes() == shape) return Tensor(self);
  const ExpandGeometry geometry = c10::inferExpandGeometry(self.sizes(), self.strides(), shape, op);
  return make_alias(self, geometry.sizes, geometry.strides);
}

// For parallel_for over items that move `item_cost` elements each.
inline int64_t grain_for(int64_t item_cost) {
  return std::max<int64_t>(1, GRAIN_SIZE / std::max<int64_t>(item_cost, 1));
}

}  // namespace at::inline oploom_v1::native
