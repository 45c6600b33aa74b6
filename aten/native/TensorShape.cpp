// Views: new sizes, strides and offsets over the same memory.
#include <aten/core/Empty.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/ShapeUtils.h>
#include <aten/stubs/BinaryOps.h>
#include <c10/util/overflow.h>
#include <generated/native/_unsafe_view.h>
#include <generated/native/as_strided.h>
#include <generated/native/broadcast_to.h>
#include <generated/native/chunk.h>
#include <generated/native/complex.h>
#include <generated/native/diagonal.h>
#include <generated/native/diagonal_backward.h>
#include <generated/native/expand.h>
#include <generated/native/expand_as.h>
#include <generated/native/flatten.h>
#include <generated/native/imag.h>
#include <generated/native/mT.h>
#include <generated/native/movedim.h>
#include <generated/native/narrow.h>
#include <generated/native/permute.h>
#include <generated/native/polar.h>
#include <generated/native/ravel.h>
#include <generated/native/real.h>
#include <generated/native/reshape.h>
#include <generated/native/reshape_as.h>
#include <generated/native/select.h>
#include <generated/native/select_backward.h>
#include <generated/native/slice.h>
#include <generated/native/slice_backward.h>
#include <generated/native/split.h>
#include <generated/native/split_with_sizes.h>
#include <generated/native/squeeze.h>
#include <generated/native/t.h>
#include <generated/native/transpose.h>
#include <generated/native/unbind.h>
#include <generated/native/unflatten.h>
#include <generated/native/unsqueeze.h>
#include <generated/native/view.h>
#include <generated/native/view_as.h>
#include <generated/native/view_as_complex.h>
#include <generated/native/view_as_real.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/_unsafe_view.h>
#include <generated/ops/clone.h>
#include <generated/ops/complex.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/cos.h>
#include <generated/ops/expand.h>
#include <generated/ops/mul.h>
#include <generated/ops/new_zeros.h>
#include <generated/ops/permute.h>
#include <generated/ops/reshape.h>
#include <generated/ops/select.h>
#include <generated/ops/sin.h>
#include <generated/ops/slice.h>
#include <generated/ops/split.h>
#include <generated/ops/split_with_sizes.h>
#include <generated/ops/transpose.h>
#include <generated/ops/view.h>
#include <generated/ops/view_as_real.h>

#include <algorithm>
#include <limits>

namespace at::inline oploom_v1::native {

// Note [Views are aliases]
// A view operator makes a tensor on the same storage and no more. That the result is a view of its
// input is recorded by the autograd kernel above, which knows it from the schema's `Tensor(a)`.

// ---- One shape for another ----

namespace {

// Whether these are the sizes, none left to be inferred, of `numel` elements.
bool is_shape_of(IntArrayRef size, int64_t numel) {
  int64_t product = 1;
  for (const int64_t n : size) {
    if (n <= 0 || c10::mul_overflows(product, n, &product)) return false;
  }
  return product == numel;
}

}  // namespace

Tensor view(const Tensor& self, IntArrayRef size) {
  const bool rows_in_order = self.is_contiguous() && self.numel() > 0;
  if (rows_in_order && is_shape_of(size, self.numel())) return contiguous_alias(self, size);
  const DimVector shape = c10::infer_size(size, self.numel(), "view");
  if (rows_in_order) return contiguous_alias(self, shape);
  const std::optional<DimVector> strides = c10::computeStride(self.sizes(), self.strides(), shape);
  OPLOOM_CHECK(strides.has_value(), "view(): shape ", self.sizes(), " with strides ",
               self.strides(), " cannot be seen as shape ", size,
               " without a copy; use reshape() instead");
  return make_alias(self, shape, *strides);
}

Tensor _unsafe_view(const Tensor& self, IntArrayRef size) { return native::view(self, size); }

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  const DimVector sizes = c10::infer_size(shape, self.numel(), "reshape");
  if (c10::computeStride(self.sizes(), self.strides(), sizes).has_value()) return self.view(sizes);
  return at::_unsafe_view(self.clone(MemoryFormat::Contiguous), sizes);
}

Tensor view_as(const Tensor& self, const Tensor& other) { return self.view(other.sizes()); }
Tensor reshape_as(const Tensor& self, const Tensor& other) { return self.reshape(other.sizes()); }

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  start_dim = c10::wrap_dim("flatten", start_dim, self.dim());
  end_dim = c10::wrap_dim("flatten", end_dim, self.dim());
  OPLOOM_CHECK(start_dim <= end_dim, "flatten(): expected start_dim not after end_dim, got ",
               start_dim, " and ", end_dim);
  if (self.dim() == 0) return self.reshape({1});
  if (start_dim == end_dim) return self;
  DimVector shape(self.sizes().begin(), self.sizes().begin() + start_dim);
  shape.push_back(c10::multiply_integers(self.sizes().slice(start_dim, end_dim - start_dim + 1)));
  shape.append(self.sizes().begin() + end_dim + 1, self.sizes().end());
  return self.reshape(shape);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  dim = c10::wrap_dim("unflatten", dim, self.dim());
  OPLOOM_CHECK(!sizes.empty(), "unflatten(): expected a non-empty list of sizes");
  OPLOOM_CHECK_INDEX(self.dim() > 0, "unflatten(): a 0-d input has no dimension to split");
  const int64_t length = self.sizes()[dim];
  int64_t product = 1;
  int64_t inferred = -1;
  bool fits = true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      OPLOOM_CHECK(inferred < 0, "unflatten(): only one size can be inferred, got sizes ", sizes);
      inferred = static_cast<int64_t>(i);
    } else {
      OPLOOM_CHECK(sizes[i] >= 0, "unflatten(): invalid size ", sizes[i], " in sizes ", sizes);
      fits &= !c10::mul_overflows(product, sizes[i], &product);
    }
  }
  DimVector split(sizes);
  if (fits && inferred >= 0) {
    fits = product != 0 && length % product == 0;
    if (fits) split[inferred] = length / product;
  } else {
    fits &= product == length;
  }
  OPLOOM_CHECK(fits, "unflatten(): sizes ", sizes, " do not multiply up to the size of dim ", dim,
               ", ", length);
  DimVector shape(self.sizes().begin(), self.sizes().begin() + dim);
  shape.append(split.begin(), split.end());
  shape.append(self.sizes().begin() + dim + 1, self.sizes().end());
  return self.view(shape);
}

Tensor ravel(const Tensor& self) { return self.contiguous().view({-1}); }

// ---- Repeated without memory ----

Tensor expand(const Tensor& self, IntArrayRef size, bool implicit) {
  const ExpandGeometry geometry =
      c10::inferExpandGeometry(self.sizes(), self.strides(), size, "expand");
  return make_alias(self, geometry.sizes, geometry.strides);
}
Tensor expand_as(const Tensor& self, const Tensor& other) { return self.expand(other.sizes()); }
Tensor broadcast_to(const Tensor& self, IntArrayRef size) { return self.expand(size); }

// ---- Another order of the dimensions ----

namespace {

// Sizes and strides of a tensor, to be changed and made into a view, or into self itself.
struct Geometry {
  explicit Geometry(const Tensor& self)
      : dims(self.unsafeGetTensorImpl()->sizes_and_strides()), offset(self.storage_offset()) {}

  IntArrayRef sizes() const { return dims.sizes_arrayref(); }
  IntArrayRef strides() const { return dims.strides_arrayref(); }
  int64_t& size(int64_t dim) { return dims.size_at_unchecked(static_cast<size_t>(dim)); }
  int64_t& stride(int64_t dim) { return dims.stride_at_unchecked(static_cast<size_t>(dim)); }
  void insert(int64_t dim, int64_t size, int64_t stride) {
    dims.insert(static_cast<size_t>(dim), size, stride);
  }
  void erase(int64_t dim) { dims.erase(static_cast<size_t>(dim)); }

  Tensor alias_of(const Tensor& self) const { return alias_of(self, self.scalar_type()); }
  Tensor alias_of(const Tensor& self, ScalarType dtype) const {
    return Tensor(c10::make_intrusive<TensorImpl, UndefinedTensorImpl>(
        Storage(self.storage()), self.key_set(), dtype, dims, offset));
  }
  Tensor& assign_to(Tensor& self) const {
    self.unsafeGetTensorImpl()->set_sizes_and_strides(sizes(), strides(), offset);
    return self;
  }

  c10::SizesAndStrides dims;
  int64_t offset;
};

Geometry transposed(const Tensor& self, int64_t dim0, int64_t dim1) {
  dim0 = c10::wrap_dim("transpose", dim0, self.dim());
  dim1 = c10::wrap_dim("transpose", dim1, self.dim());
  Geometry geometry(self);
  if (dim0 != dim1) {
    std::swap(geometry.size(dim0), geometry.size(dim1));
    std::swap(geometry.stride(dim0), geometry.stride(dim1));
  }
  return geometry;
}

Geometry matrix_transposed(const char* op, const Tensor& self) {
  OPLOOM_CHECK(self.dim() <= 2, op, "(): expected an input of at most 2 dimensions, got ",
               self.dim());
  return transposed(self, 0, self.dim() < 2 ? 0 : 1);
}

}  // namespace

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  return transposed(self, dim0, dim1).alias_of(self);
}
Tensor& transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  return transposed(self, dim0, dim1).assign_to(self);
}
Tensor t(const Tensor& self) { return matrix_transposed("t", self).alias_of(self); }
Tensor& t_(Tensor& self) { return matrix_transposed("t_", self).assign_to(self); }

Tensor mT(const Tensor& self) {
  OPLOOM_CHECK(self.dim() >= 2, "mT(): expected an input of at least 2 dimensions, got ",
               self.dim());
  return self.transpose(-2, -1);
}

Tensor permute(const Tensor& self, IntArrayRef dims) {
  OPLOOM_CHECK(static_cast<int64_t>(dims.size()) == self.dim(), "permute(): expected as many dims ",
               "as the number of dimensions of the input, ", self.dim(), ", got ", dims);
  dim_list_to_mask("permute", dims, self.dim());
  Geometry geometry(self);
  for (int64_t i = 0; i < self.dim(); ++i) {
    const int64_t d = dims[i] < 0 ? dims[i] + self.dim() : dims[i];
    geometry.size(i) = self.sizes()[d];
    geometry.stride(i) = self.strides()[d];
  }
  return geometry.alias_of(self);
}

Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  OPLOOM_CHECK(source.size() == destination.size(),
               "movedim(): expected as many dims in source as ", "in destination, got ", source,
               " and ", destination);
  const int64_t ndim = self.dim();
  const uint64_t moved = dim_list_to_mask("movedim", source, ndim);
  const uint64_t taken = dim_list_to_mask("movedim", destination, ndim);
  if (ndim == 0) return self.permute({});
  DimVector order(ndim);
  for (size_t i = 0; i < source.size(); ++i) {
    order[c10::wrap_dim("movedim", destination[i], ndim)] =
        c10::wrap_dim("movedim", source[i], ndim);
  }
  int64_t next = 0;
  for (int64_t d = 0; d < ndim; ++d) {
    if ((taken >> d & 1) != 0) continue;
    while ((moved >> next & 1) != 0) ++next;
    order[d] = next++;
  }
  return self.permute(order);
}
Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  return native::movedim(self, IntArrayRef(source), IntArrayRef(destination));
}

// ---- Parts ----

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  OPLOOM_CHECK_INDEX(self.dim() > 0, "select(): a 0-d input has no dimension to select from");
  dim = c10::wrap_dim("select", dim, self.dim());
  const int64_t size = self.sizes()[dim];
  OPLOOM_CHECK_INDEX(index >= -size && index < size, "select(): index ", index,
                     " out of range for dim ", dim, " of size ", size);
  if (index < 0) index += size;
  Geometry geometry(self);
  geometry.offset += index * geometry.stride(dim);
  geometry.erase(dim);
  return geometry.alias_of(self);
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step) {
  OPLOOM_CHECK_INDEX(self.dim() > 0, "slice(): a 0-d input has no dimension to slice");
  dim = c10::wrap_dim("slice", dim, self.dim());
  OPLOOM_CHECK_VALUE(step > 0, "slice(): expected step > 0, got ", step);
  const int64_t size = self.sizes()[dim];
  const auto position = [size](int64_t p) {
    return std::clamp<int64_t>(p < 0 ? p + size : p, 0, size);
  };
  const int64_t first = position(start.value_or(0));
  const int64_t last = std::max(first, position(end.value_or(size)));
  Geometry geometry(self);
  geometry.offset += first * geometry.stride(dim);
  const int64_t length = last - first;
  const int64_t count = step == 1 ? length : length / step + (length % step != 0 ? 1 : 0);
  geometry.size(dim) = count;
  // With a single position left the stride is never used, so it may as well not overflow.
  if (count > 1) geometry.stride(dim) *= step;
  return geometry.alias_of(self);
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  OPLOOM_CHECK_INDEX(self.dim() > 0, "narrow(): a 0-d input has no dimension to narrow");
  dim = c10::wrap_dim("narrow", dim, self.dim());
  const int64_t size = self.sizes()[dim];
  OPLOOM_CHECK_VALUE(length >= 0, "narrow(): expected a non-negative length, got ", length);
  OPLOOM_CHECK_INDEX(start >= -size && start <= size, "narrow(): start ", start,
                     " out of range for dim ", dim, " of size ", size);
  if (start < 0) start += size;
  OPLOOM_CHECK_INDEX(length <= size - start, "narrow(): start ", start, " plus length ", length,
                     " exceeds the size of dim ", dim, ", ", size);
  return self.slice(dim, start, start + length, 1);
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  OPLOOM_CHECK_INDEX(self.dim() >= 2,
                     "diagonal(): expected an input of at least 2 dimensions, got ", self.dim());
  const int64_t row_dim = c10::wrap_dim("diagonal", dim1, self.dim());
  const int64_t column_dim = c10::wrap_dim("diagonal", dim2, self.dim());
  OPLOOM_CHECK(row_dim != column_dim, "diagonal(): expected two different dims, got ", dim1,
               " and ", dim2);
  Geometry geometry(self);
  const int64_t rows = geometry.size(row_dim);
  const int64_t columns = geometry.size(column_dim);
  const int64_t row_stride = geometry.stride(row_dim);
  const int64_t column_stride = geometry.stride(column_dim);
  int64_t length = 0;
  if (offset >= 0) {
    length = offset >= columns ? 0 : std::min(rows, columns - offset);
    if (length > 0) geometry.offset += offset * column_stride;
  } else {
    length = offset <= -rows ? 0 : std::min(rows + offset, columns);
    if (length > 0) geometry.offset -= offset * row_stride;
  }
  geometry.erase(std::max(row_dim, column_dim));
  geometry.erase(std::min(row_dim, column_dim));
  geometry.insert(self.dim() - 2, length, row_stride + column_stride);
  return geometry.alias_of(self);
}

// ---- Dimensions of size 1 ----

namespace {

// Without those dimensions of the mask whose size is 1.
Geometry squeezed(const Tensor& self, uint64_t mask) {
  Geometry geometry(self);
  for (int64_t d = self.dim(); d-- > 0;) {
    if (self.sizes()[d] == 1 && (mask >> d & 1) != 0) geometry.erase(d);
  }
  return geometry;
}

Geometry unsqueezed(const Tensor& self, int64_t dim) {
  dim = wrap_new_dim("unsqueeze", dim, self.dim());
  Geometry geometry(self);
  geometry.insert(dim, 1,
                  dim < self.dim() ? geometry.size(dim) * geometry.stride(dim) : int64_t{1});
  return geometry;
}

constexpr uint64_t kAllDims = ~uint64_t{0};

uint64_t one_dim(const char* op, const Tensor& self, int64_t dim) {
  return uint64_t{1} << c10::wrap_dim(op, dim, self.dim());
}

}  // namespace

Tensor squeeze(const Tensor& self) { return squeezed(self, kAllDims).alias_of(self); }
Tensor squeeze(const Tensor& self, int64_t dim) {
  return squeezed(self, one_dim("squeeze", self, dim)).alias_of(self);
}
Tensor squeeze(const Tensor& self, IntArrayRef dim) {
  return squeezed(self, dim_list_to_mask("squeeze", dim, self.dim())).alias_of(self);
}
Tensor& squeeze_(Tensor& self) { return squeezed(self, kAllDims).assign_to(self); }
Tensor& squeeze_(Tensor& self, int64_t dim) {
  return squeezed(self, one_dim("squeeze_", self, dim)).assign_to(self);
}
Tensor& squeeze_(Tensor& self, IntArrayRef dim) {
  return squeezed(self, dim_list_to_mask("squeeze_", dim, self.dim())).assign_to(self);
}
Tensor unsqueeze(const Tensor& self, int64_t dim) { return unsqueezed(self, dim).alias_of(self); }
Tensor& unsqueeze_(Tensor& self, int64_t dim) { return unsqueezed(self, dim).assign_to(self); }

// ---- Any strides ----

namespace {

void check_strided(const char* op, const Tensor& self, IntArrayRef size, IntArrayRef stride,
                   int64_t offset) {
  OPLOOM_CHECK(size.size() == stride.size(), op,
               "(): expected size and stride of the same length, ", "got ", size, " and ", stride);
  for (size_t i = 0; i < size.size(); ++i) {
    OPLOOM_CHECK(size[i] >= 0, op, "(): negative dimension ", size[i], " in shape ", size);
    OPLOOM_CHECK(stride[i] >= 0, op, "(): negative strides are not supported, got ", stride);
  }
  OPLOOM_CHECK(offset >= 0, op, "(): expected a storage offset >= 0, got ", offset);
  const size_t needed = c10::computeStorageNbytes(size, stride, self.itemsize(), offset);
  OPLOOM_CHECK(needed <= self.storage().nbytes(), op, "(): size ", size, ", stride ", stride,
               " and storage offset ", offset, " reach ", needed,
               " bytes, which is out of bounds for memory of ", self.storage().nbytes(), " bytes");
}

}  // namespace

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                  std::optional<int64_t> storage_offset) {
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  check_strided("as_strided", self, size, stride, offset);
  return make_alias(self, size, stride, offset);
}
Tensor& as_strided_(Tensor& self, IntArrayRef size, IntArrayRef stride,
                    std::optional<int64_t> storage_offset) {
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  check_strided("as_strided_", self, size, stride, offset);
  self.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride, offset);
  return self;
}

// ---- Complex numbers as pairs ----

Tensor view_as_real(const Tensor& self) {
  OPLOOM_CHECK(self.is_complex(), "view_as_real(): expected a complex input, got ",
               self.scalar_type());
  Geometry geometry(self);
  for (int64_t d = 0; d < self.dim(); ++d) geometry.stride(d) *= 2;
  geometry.insert(self.dim(), 2, 1);
  geometry.offset *= 2;
  return geometry.alias_of(self, c10::toRealValueType(self.scalar_type()));
}

Tensor view_as_complex(const Tensor& self) {
  OPLOOM_CHECK(self.scalar_type() == kFloat || self.scalar_type() == kDouble,
               "view_as_complex(): expected an input of dtype float32 or float64, got ",
               self.scalar_type());
  OPLOOM_CHECK(self.dim() > 0 && self.sizes().back() == 2,
               "view_as_complex(): expected a last dimension of size 2, got shape ", self.sizes());
  Geometry geometry(self);
  const int64_t last = self.dim() - 1;
  bool pairs = geometry.stride(last) == 1 && geometry.offset % 2 == 0;
  geometry.erase(last);
  for (int64_t d = 0; d < last; ++d) {
    pairs &= geometry.stride(d) % 2 == 0;
    geometry.stride(d) /= 2;
  }
  OPLOOM_CHECK(pairs || self.numel() == 0,
               "view_as_complex(): the pairs must lie densely at even places, got strides ",
               self.strides(), " and offset ", self.storage_offset());
  geometry.offset /= 2;
  return geometry.alias_of(self, c10::toComplexType(self.scalar_type()));
}

Tensor view(const Tensor& self, ScalarType dtype) {
  const ScalarType from = self.scalar_type();
  Geometry geometry(self);
  const auto old_size = static_cast<int64_t>(c10::elementSize(from));
  const auto new_size = static_cast<int64_t>(c10::elementSize(dtype));
  if (old_size == new_size) return geometry.alias_of(self, dtype);
  // Elements of another size are more or fewer along the last dimension, where they must be
  // neighbours.
  OPLOOM_CHECK(self.dim() > 0, "view(): a 0-d tensor of ", from, " cannot be seen as ", dtype,
               ", whose elements have another size");
  const int64_t last = self.dim() - 1;
  OPLOOM_CHECK(geometry.stride(last) == 1, "view(): to see ", from, " as ", dtype,
               ", whose elements have another size, the last dimension must have stride 1, got "
               "strides ",
               self.strides(), "; use contiguous() first");
  if (old_size > new_size) {
    const int64_t ratio = old_size / new_size;
    for (int64_t d = 0; d < last; ++d) geometry.stride(d) *= ratio;
    geometry.size(last) *= ratio;
    geometry.offset *= ratio;
    return geometry.alias_of(self, dtype);
  }
  const int64_t ratio = new_size / old_size;
  OPLOOM_CHECK(geometry.size(last) % ratio == 0, "view(): to see ", from, " as ", dtype,
               ", the size of the last dimension must be a multiple of ", ratio, ", got shape ",
               self.sizes());
  bool whole = geometry.offset % ratio == 0;
  for (int64_t d = 0; d < last; ++d) {
    whole &= geometry.stride(d) % ratio == 0;
    geometry.stride(d) /= ratio;
  }
  OPLOOM_CHECK(whole, "view(): to see ", from, " as ", dtype,
               ", the storage offset and the strides but the last must be multiples of ", ratio,
               ", got offset ", self.storage_offset(), " and strides ", self.strides(),
               "; use clone() first");
  geometry.size(last) /= ratio;
  geometry.offset /= ratio;
  return geometry.alias_of(self, dtype);
}

Tensor real(const Tensor& self) {
  return self.is_complex() ? at::view_as_real(self).select(-1, 0) : self;
}
Tensor imag(const Tensor& self) {
  OPLOOM_CHECK(self.is_complex(), "imag(): expected a complex input, got ", self.scalar_type());
  return at::view_as_real(self).select(-1, 1);
}

namespace {

// The dtype of complex numbers made of two real tensors.
ScalarType complex_type_of(const char* op, const Tensor& first, const Tensor& second) {
  OPLOOM_CHECK(first.scalar_type() == second.scalar_type(), op,
               "(): expected both inputs to have one dtype, got ", first.scalar_type(), " and ",
               second.scalar_type());
  OPLOOM_CHECK(first.scalar_type() == kFloat || first.scalar_type() == kDouble, op,
               "(): expected inputs of dtype float32 or float64, got ", first.scalar_type());
  return c10::toComplexType(first.scalar_type());
}

}  // namespace

Tensor complex(const Tensor& real, const Tensor& imag) {
  const TensorBase none;
  TensorIterator iter = TensorIteratorConfig()
                            .set_name("complex")
                            .declare_static_dtype(complex_type_of("complex", real, imag))
                            .check_all_same_dtype(false)
                            .allow_cpu_scalars(true)
                            .add_output(none)
                            .add_const_input(real)
                            .add_const_input(imag)
                            .build();
  const Tensor result(iter.output_base(0));
  if (iter.device_type() == DeviceType::CPU) {
    complex_stub(DeviceType::CPU, iter);
  } else {
    native::real(result).copy_(real);
    native::imag(result).copy_(imag);
  }
  return result;
}

Tensor polar(const Tensor& abs, const Tensor& angle) {
  complex_type_of("polar", abs, angle);
  return at::complex(abs * angle.cos(), abs * angle.sin());
}

// ---- Several views at once ----

namespace {

int64_t wrap_split_dim(const char* op, const Tensor& self, int64_t dim) {
  OPLOOM_CHECK_INDEX(self.dim() > 0, op, "(): a 0-d input has no dim to split");
  return c10::wrap_dim(op, dim, self.dim());
}

// The view of `length` positions from `start` on, unchecked.
Tensor part(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  Geometry geometry(self);
  geometry.size(dim) = length;
  geometry.offset += start * geometry.stride(dim);
  return geometry.alias_of(self);
}

}  // namespace

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  dim = wrap_split_dim("split", self, dim);
  OPLOOM_CHECK_VALUE(split_size >= 0, "split(): expected a non-negative split_size, got ",
                     split_size);
  const int64_t size = self.sizes()[dim];
  OPLOOM_CHECK_VALUE(split_size > 0 || size == 0,
                     "split(): split_size can be 0 only if the size of ", "dim ", dim,
                     " is 0, but it is ", size);
  const int64_t count =
      split_size == 0 ? 1 : std::max<int64_t>(1, size / split_size + (size % split_size != 0));
  std::vector<Tensor> parts;
  parts.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t start = i * split_size;
    parts.push_back(part(self, dim, start, std::min(split_size, size - start)));
  }
  return parts;
}
std::vector<Tensor> split(const Tensor& self, IntArrayRef split_size, int64_t dim) {
  return self.split_with_sizes(split_size, dim);
}

std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  dim = wrap_split_dim("split_with_sizes", self, dim);
  const int64_t size = self.sizes()[dim];
  int64_t total = 0;
  bool overflow = false;
  for (int64_t length : split_sizes) {
    OPLOOM_CHECK_VALUE(length >= 0, "split_with_sizes(): expected non-negative sizes, got ",
                       split_sizes);
    overflow |= c10::add_overflows(total, length, &total);
  }
  OPLOOM_CHECK_VALUE(!overflow && total == size,
                     "split_with_sizes(): expected sizes whose sum is the ", "size of dim ", dim,
                     ", ", size, ", got ", split_sizes);
  std::vector<Tensor> parts;
  parts.reserve(split_sizes.size());
  int64_t start = 0;
  for (int64_t length : split_sizes) {
    parts.push_back(part(self, dim, start, length));
    start += length;
  }
  return parts;
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  dim = wrap_split_dim("chunk", self, dim);
  OPLOOM_CHECK_VALUE(chunks > 0, "chunk(): expected chunks > 0, got ", chunks);
  const int64_t size = self.sizes()[dim];
  const int64_t split_size = size / chunks + (size % chunks != 0 ? 1 : 0);
  // An empty dimension still gives as many chunks as were asked for.
  if (split_size == 0) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    OPLOOM_CHECK_VALUE(chunks <= kMost, "chunk(): expected at most ", kMost,
                       " chunks of a dimension of size 0, got ", chunks);
    const std::vector<int64_t> sizes(static_cast<size_t>(chunks), 0);
    return self.split_with_sizes(sizes, dim);
  }
  return self.split(split_size, dim);
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  dim = wrap_split_dim("unbind", self, dim);
  Geometry geometry(self);
  const int64_t size = geometry.size(dim);
  const int64_t stride = geometry.stride(dim);
  geometry.erase(dim);
  std::vector<Tensor> parts;
  parts.reserve(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    parts.push_back(geometry.alias_of(self));
    geometry.offset += stride;
  }
  return parts;
}

// ---- Gradients of views that leave elements out ----

Tensor slice_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim,
                      int64_t start, int64_t end, int64_t step) {
  Tensor result = grad_output.new_zeros(input_sizes);
  native::slice(result, dim, start, end, step).copy_(grad_output);
  return result;
}

Tensor select_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim,
                       int64_t index) {
  Tensor result = grad_output.new_zeros(input_sizes);
  native::select(result, dim, index).copy_(grad_output);
  return result;
}

Tensor diagonal_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t offset,
                         int64_t dim1, int64_t dim2) {
  Tensor result = grad_output.new_zeros(input_sizes);
  native::diagonal(result, offset, dim1, dim2).copy_(grad_output);
  return result;
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/TensorShape.h>
