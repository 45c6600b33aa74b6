// Reading and writing elements at places that tensors name.
#include <aten/core/Empty.h>
#include <aten/core/Parallel.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/Alpha.h>
#include <aten/native/Masks.h>
#include <aten/native/NamedPositions.h>
#include <aten/native/ShapeUtils.h>
#include <aten/stubs/Indexing.h>
#include <c10/util/overflow.h>
#include <generated/native/gather.h>
#include <generated/native/index.h>
#include <generated/native/index_add.h>
#include <generated/native/index_put.h>
#include <generated/native/index_select.h>
#include <generated/native/masked_select.h>
#include <generated/native/nonzero.h>
#include <generated/native/scatter.h>
#include <generated/native/scatter_add.h>
#include <generated/native/take_along_dim.h>
#include <generated/ops/add.h>
#include <generated/ops/clone.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/expand.h>
#include <generated/ops/full.h>
#include <generated/ops/gather.h>
#include <generated/ops/index_put.h>
#include <generated/ops/item.h>
#include <generated/ops/masked_fill.h>
#include <generated/ops/reshape.h>
#include <generated/ops/to.h>
#include <generated/ops/zeros.h>

#include <algorithm>
#include <vector>

namespace at::inline oploom_v1::native {

namespace {

void check_index_dtype(const char* op, const Tensor& index) {
  OPLOOM_CHECK_INDEX(index.scalar_type() == kLong || index.scalar_type() == kInt, op,
                     "(): expected an index of dtype int64 or int32, got ", index.scalar_type());
}

bool is_in_bounds(const int64_t* data, int64_t count, int64_t lowest, int64_t size) {
  return at::parallel_reduce(
      0, count, GRAIN_SIZE, true,
      [&](int64_t begin, int64_t end, bool) {
        return in_bounds_stub(DeviceType::CPU, data + begin, end - begin, lowest, size);
      },
      [](bool a, bool b) { return a && b; });
}

// Throws at the first of an index that is not in [lowest, size).
OPLOOM_NOINLINE void check_each(const char* op, const Tensor& index, int64_t dim, int64_t size,
                                int64_t lowest) {
  const int64_t* data = index.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < index.numel(); ++i) {
    OPLOOM_CHECK_INDEX(data[i] >= lowest && data[i] < size, op, "(): index ", data[i],
                       " is out of bounds for dimension ", dim, " with size ", size);
  }
}

// An index of which some are out of bounds; some may be so, from -size on, if it `wrap`s.
OPLOOM_NOINLINE Tensor wrapped_index(const char* op, const Tensor& index, int64_t dim, int64_t size,
                                     bool wrap) {
  check_each(op, index, dim, size, wrap ? -size : 0);
  const int64_t count = index.numel();
  const int64_t* data = index.const_data_ptr<int64_t>();
  Tensor result(at::detail::empty(index.sizes(), index.options()));
  auto* to = result.mutable_data_ptr<int64_t>();
  at::parallel_for(0, count, GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = data[i] + (data[i] < 0 ? size : 0);
  });
  return result;
}

// The index as int64, contiguous. Must not outlive `index`.
MaybeOwned<Tensor> dense_index(const Tensor& index) {
  // The usual index is not asked to become what it is.
  const bool as_wanted = index.scalar_type() == kLong && index.is_contiguous();
  return as_wanted ? MaybeOwned<Tensor>::borrowed(index)
                   : MaybeOwned<Tensor>::owned(index.to(kLong).contiguous());
}

// The same after a look at all its values; see Note [Indices are checked before]. Negative ones
// down to -size count from the end where `wrap` says so.
MaybeOwned<Tensor> checked_index(const char* op, const Tensor& index, int64_t dim, int64_t size,
                                 bool wrap) {
  auto dense = dense_index(index);
  const int64_t* data = dense->const_data_ptr<int64_t>();
  if (OPLOOM_LIKELY(is_in_bounds(data, dense->numel(), 0, size))) return dense;
  return MaybeOwned<Tensor>::owned(wrapped_index(op, *dense, dim, size, wrap));
}

int64_t size_along(const Tensor& self, int64_t dim) {
  return self.dim() == 0 ? 1 : self.sizes()[dim];
}

void check_output_apart(const TensorBase& out, std::initializer_list<const Tensor*> inputs) {
  if (!out.defined()) return;
  assert_no_internal_overlap(out);
  for (const Tensor* input : inputs) assert_no_overlap(out, *input);
}

}  // namespace

// ---- index_select, index_add ----

namespace {

int64_t check_index_1d(const char* op, const Tensor& self, int64_t dim, const Tensor& index) {
  check_index_dtype(op, index);
  OPLOOM_CHECK_INDEX(index.dim() <= 1, op, "(): expected a 1-d index, got shape ", index.sizes());
  OPLOOM_CHECK_INDEX(self.dim() > 0 || index.numel() == 1, op,
                     "(): expected an index with one element for a 0-d input, got ", index.numel());
  return c10::wrap_dim(op, dim, self.dim());
}

// What the index names, written to out. False where it names a place outside of self, after parts
// of out may have been written. Where neither self nor the index differ along a dimension, it is
// looked up once and copied.
OPLOOM_COLD bool gather_lines(const Tensor& out, const TensorBase& self, int64_t dim,
                              const TensorBase& index) {
  constexpr int64_t kFewest = 8192;
  if (out.numel() >= kFewest) {
    DimVector once(out.sizes());
    for (int64_t d = 0; d < out.dim(); ++d) {
      if (d != dim && self.strides()[d] == 0 && index.strides()[d] == 0) once[d] = 1;
    }
    if (c10::multiply_integers(once) < out.numel()) {
      DimVector sizes(once);
      sizes[dim] = self.sizes()[dim];
      const Tensor named(at::detail::empty(once, out.options()));
      const bool inside =
          gather_stub(DeviceType::CPU, named, make_alias(self, sizes, self.strides()), dim,
                      make_alias(index, once, index.strides()));
      if (inside) out.copy_(named);
      return inside;
    }
  }
  return gather_stub(DeviceType::CPU, out, self, dim, index);
}

// Of a fresh output, whatever has been written to it is dropped with it, and the kernel itself
// looks at the indices. `dense` is what dense_index() gives, `index` the same with dimensions as
// self's.
void gather_into(const char* op, const Tensor& out, bool fresh, const TensorBase& self, int64_t dim,
                 const Tensor& dense, const TensorBase& index) {
  const int64_t size = self.sizes()[dim];
  if (!fresh || out.numel() == 0) checked_index(op, dense, dim, size, /*wrap=*/false);
  if (out.numel() == 0) return;
  if (!gather_lines(out, self, dim, index)) check_each(op, dense, dim, size, /*lowest=*/0);
}

// A 1-d index as the index of gather: the same for all lines along dim.
Tensor expand_index(const Tensor& index, IntArrayRef shape, int64_t dim) {
  DimVector sizes(shape);
  DimVector strides(shape.size(), 0);
  sizes[dim] = index.numel();
  strides[dim] = 1;
  return make_alias(index, sizes, strides);
}

}  // namespace

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {
using namespace native;

OPLOOM_META_FUNC(index_select)(const Tensor& self, int64_t dim, const Tensor& index) {
  dim = check_index_1d("index_select", self, dim, index);
  DimVector sizes(self.sizes());
  if (self.dim() > 0) sizes[dim] = index.numel();
  check_output_apart(maybe_get_output(0), {&self, &index});
  set_output_raw_strided(0, sizes, {}, self.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(index_select_out_cpu)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  dim = c10::wrap_dim("index_select", dim, self.dim());
  const auto dense = dense_index(index);
  const auto result = at_least_1d(out), from = at_least_1d(self);
  if (take_positions(*result, *from, dim, *dense)) return;
  gather_into("index_select", *result, has_fresh_outputs(), *from, dim, *dense,
              expand_index(*dense, result->sizes(), dim));
}

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(index_add)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  dim = check_index_1d("index_add", self, dim, index);
  OPLOOM_CHECK(self.scalar_type() == source.scalar_type(),
               "index_add(): expected self and source of one dtype, got ", self.scalar_type(),
               " and ", source.scalar_type());
  OPLOOM_CHECK(self.dim() == source.dim() || (self.dim() <= 1 && source.dim() <= 1),
               "index_add(): expected a source with the number of dimensions of self, ", self.dim(),
               ", got ", source.dim());
  OPLOOM_CHECK_INDEX(
      size_along(source, dim) == index.numel(), "index_add(): expected as many positions in dim ",
      dim, " of source as there are indices, ", index.numel(), ", got ", size_along(source, dim));
  for (int64_t d = 0; d < self.dim() && d < source.dim(); ++d) {
    OPLOOM_CHECK(d == dim || self.sizes()[d] == source.sizes()[d],
                 "index_add(): expected a source whose sizes match those of self except in dim ",
                 dim, ", got ", source.sizes(), " and ", self.sizes());
  }
  check_any_alpha("index_add", self.scalar_type(), alpha);
  check_output_apart(maybe_get_output(0), {&index, &source});
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(index_add_out_cpu)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha,
 const Tensor& out) {
  dim = c10::wrap_dim("index_add", dim, self.dim());
  const auto checked = checked_index("index_add", index, dim, size_along(self, dim), false);
  if (!out.is_same(self)) out.copy_(self);
  if (source.numel() == 0 || out.numel() == 0) return;
  const auto from = at_least_1d(source);
  if (add_positions(out, dim, *checked, *from, alpha)) return;
  scatter_add_stub(DeviceType::CPU, *at_least_1d(out), dim,
                   expand_index(*checked, from->sizes(), dim), *from, alpha);
}

// ---- gather, scatter ----

namespace {

// Note [Expanded indices]
// An index that names whole rows is mostly one of a few numbers, expanded. Those alone are looked
// at, and the kernels, which go by strides, get them as they were expanded: gather() of 1,000 rows
// of 300 floats took nine times as long with an index written out.
bool is_expanded(const Tensor& index) {
  for (int64_t d = 0; d < index.dim(); ++d) {
    if (index.strides()[d] == 0 && index.sizes()[d] > 1) return true;
  }
  return false;
}
// One position of each dimension along which an index is expanded.
Tensor unexpanded(const Tensor& index) {
  DimVector sizes(index.sizes());
  for (int64_t d = 0; d < index.dim(); ++d) {
    if (index.strides()[d] == 0 && sizes[d] > 1) sizes[d] = 1;
  }
  return make_alias(index, sizes, index.strides());
}
// A contiguous index of which unexpanded() was one, expanded as `index` is.
Tensor expanded_as(const Tensor& dense, const Tensor& index) {
  DimVector strides(dense.strides());
  for (int64_t d = 0; d < index.dim(); ++d) {
    if (dense.sizes()[d] != index.sizes()[d]) strides[d] = 0;
  }
  return make_alias(dense, index.sizes(), strides);
}

// The index must have self's number of dimensions and, but for dim, no more places than self.
// `bound` is self, or src, which must have as many places along dim as well.
void check_index_shape(const char* op, const char* name, const Tensor& bound, int64_t dim,
                       const Tensor& index) {
  if (index.numel() == 0) return;
  OPLOOM_CHECK(std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(bound.dim(), 1), op,
               "(): expected an index with the same number of dimensions as ", name, ", ",
               bound.dim(), ", got ", index.dim());
  for (int64_t d = 0; d < std::max<int64_t>(index.dim(), 1); ++d) {
    OPLOOM_CHECK(d == dim || size_along(index, d) <= size_along(bound, d), op,
                 "(): expected an index of no larger size than ", name, " in dim ", d,
                 ", got shapes ", index.sizes(), " and ", bound.sizes());
  }
}

int64_t check_scatter(const char* op, const Tensor& self, int64_t dim, const Tensor& index) {
  dim = c10::wrap_dim(op, dim, self.dim());
  check_index_dtype(op, index);
  check_index_shape(op, "self", self, dim, index);
  return dim;
}
void check_scatter_src(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                       const Tensor& src) {
  check_scatter(op, self, dim, index);
  check_index_shape(op, "src", src, /*dim=*/-1, index);
  OPLOOM_CHECK(self.scalar_type() == src.scalar_type(), op,
               "(): expected self and src of one dtype, got ", self.scalar_type(), " and ",
               src.scalar_type());
}

// What `reduce` says: a product, or else a sum.
bool is_product(std::string_view reduce) {
  const bool product = reduce == "multiply";
  OPLOOM_CHECK(product || reduce == "add", "scatter(): expected reduce to be 'add' or 'multiply', ",
               "got '", reduce, "'");
  return product;
}

// The index for the kernels, or nothing if it is empty; out holds self's values then.
std::optional<Tensor> begin_scatter(const char* op, const Tensor& self, int64_t& dim,
                                    const Tensor& index, const Tensor& out) {
  dim = c10::wrap_dim(op, dim, self.dim());
  std::optional<Tensor> once;
  if (OPLOOM_UNLIKELY(is_expanded(index))) once = unexpanded(index);
  const auto checked = checked_index(op, once ? *once : index, dim, size_along(self, dim), false);
  if (!out.is_same(self)) out.copy_(self);
  if (index.numel() == 0) return std::nullopt;
  return once ? expanded_as(*checked, index) : *at_least_1d(*checked);
}

}  // namespace

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(gather)(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
  dim = c10::wrap_dim("gather", dim, self.dim());
  check_index_dtype("gather", index);
  check_index_shape("gather", "self", self, dim, index);
  check_output_apart(maybe_get_output(0), {&self, &index});
  set_output_raw_strided(0, index.sizes(), {}, self.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(gather_out_cpu)
(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad, const Tensor& out) {
  if (index.numel() == 0) return;
  dim = c10::wrap_dim("gather", dim, self.dim());
  if (OPLOOM_UNLIKELY(is_expanded(index))) {
    const Tensor once = unexpanded(index);
    const auto dense = dense_index(once);
    return gather_into("gather", out, has_fresh_outputs(), self, dim, *dense,
                       expanded_as(*dense, index));
  }
  const auto dense = dense_index(index);
  gather_into("gather", *at_least_1d(out), has_fresh_outputs(), *at_least_1d(self), dim, *dense,
              *at_least_1d(*dense));
}

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(scatter, src)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_scatter_src("scatter", self, dim, index, src);
  check_output_apart(maybe_get_output(0), {&index, &src});
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(scatter_src_out_cpu)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  const auto checked = begin_scatter("scatter", self, dim, index, out);
  if (!checked.has_value()) return;
  scatter_stub(DeviceType::CPU, *at_least_1d(out), dim, *checked, *at_least_1d(src));
}

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(scatter, value)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  check_scatter("scatter", self, dim, index);
  check_output_apart(maybe_get_output(0), {&index});
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(scatter_value_out_cpu)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, const Tensor& out) {
  const auto checked = begin_scatter("scatter", self, dim, index, out);
  if (!checked.has_value()) return;
  scatter_fill_stub(DeviceType::CPU, *at_least_1d(out), dim, *checked, value);
}

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(scatter_add)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_scatter_src("scatter_add", self, dim, index, src);
  check_output_apart(maybe_get_output(0), {&index, &src});
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(scatter_add_out_cpu)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  const auto checked = begin_scatter("scatter_add", self, dim, index, out);
  if (!checked.has_value()) return;
  scatter_add_stub(DeviceType::CPU, *at_least_1d(out), dim, *checked, *at_least_1d(src), 1);
}

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(scatter, reduce)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  is_product(reduce);  // or else throws
  check_scatter_src("scatter", self, dim, index, src);
  check_output_apart(maybe_get_output(0), {&index, &src});
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPLOOM_META_FUNC(scatter, value_reduce)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
 std::string_view reduce) {
  is_product(reduce);  // or else throws
  check_scatter("scatter", self, dim, index);
  check_output_apart(maybe_get_output(0), {&index});
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

namespace {

void scatter_reduce_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                         std::string_view reduce, const Tensor& out) {
  const auto checked = begin_scatter("scatter", self, dim, index, out);
  if (!checked.has_value()) return;
  const auto to = at_least_1d(out), from = at_least_1d(src);
  if (is_product(reduce)) {
    scatter_multiply_stub(DeviceType::CPU, *to, dim, *checked, *from);
  } else {
    scatter_add_stub(DeviceType::CPU, *to, dim, *checked, *from, 1);
  }
}

}  // namespace

OPLOOM_IMPL_FUNC(scatter_reduce_out_cpu)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
 const Tensor& out) {
  scatter_reduce_into(self, dim, index, src, reduce, out);
}
OPLOOM_IMPL_FUNC(scatter_value_reduce_out_cpu)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce,
 const Tensor& out) {
  const Tensor number = at::full({}, value, self.options());
  scatter_reduce_into(self, dim, index, expand_alias("scatter", number, index.sizes()), reduce,
                      out);
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  if (!dim.has_value()) return self.reshape({-1}).gather(0, indices.reshape({-1}));
  OPLOOM_CHECK(self.dim() == indices.dim(),
               "take_along_dim(): expected indices with the number of ", "dimensions of self, ",
               self.dim(), ", got ", indices.dim());
  const int64_t d = c10::wrap_dim("take_along_dim", *dim, self.dim());
  if (self.dim() == 0) return self.gather(0, indices);
  DimVector self_shape(self.sizes());
  self_shape[d] = indices.sizes()[d];
  DimVector shape = c10::infer_size_broadcast(self_shape, indices.sizes(), "take_along_dim");
  const Tensor places = indices.expand(shape);
  shape[d] = self.sizes()[d];
  return self.expand(shape).gather(d, places);
}

// ---- index, index_put: any number of index tensors ----

namespace {

// Note [Advanced indexing]
// Index tensors stand for the first dimensions of self; an undefined one takes its dimension whole.
// A mask (bool) of k dimensions stands for k of them, and is turned into k index tensors, the
// coordinates of its true elements. All index tensors are broadcast to one shape. The result has
// that shape in the place of the indexed dimensions if these are neighbours, else in front.
//
// One index tensor is what gather and scatter take, and a mask mostly gives one: dimensions that it
// stands for become one where they lie so. A number is written where a mask holds by masked_fill,
// and so many values as there are true elements in a mask of self's shape in their order. Others
// have kernels of their own, for which self becomes a view of the shape of the result, with stride
// 0 along the shape of the indices: each element's address is that of the view plus the sum of
// index times stride.
struct AdvancedIndex {
  Tensor self;
  std::vector<Tensor> indices;
  DimVector indexed_sizes;
  DimVector indexed_strides;  // bytes
  int64_t first_dim = 0;      // of self, that is indexed
};

bool is_mask(const Tensor& index) {
  return index.scalar_type() == kBool || index.scalar_type() == kByte;
}

// One entry for each dimension of self that an index stands for; undefined for a whole dimension.
std::vector<Tensor> expand_masks(const char* op, const Tensor& self, OptionalTensorList indices) {
  std::vector<Tensor> result;
  for (const std::optional<Tensor>& entry : indices) {
    if (!entry.has_value() || !entry->defined()) {
      result.emplace_back();
      continue;
    }
    const Tensor& index = *entry;
    const int64_t first = static_cast<int64_t>(result.size());
    if (!is_mask(index)) {
      OPLOOM_CHECK_INDEX(c10::isIntegralType(index.scalar_type(), false), op,
                         "(): expected index tensors of an integer dtype or bool, got ",
                         index.scalar_type());
      result.push_back(index);
      continue;
    }
    if (index.scalar_type() == kByte) {
      OPLOOM_WARN_ONCE(op, "(): a uint8 index is taken as a mask; use bool for masks");
    }
    OPLOOM_CHECK_NOT_IMPLEMENTED(!index.is_meta(), op,
                                 "(): the shape of the result of a mask depends ",
                                 "on its data, which a tensor on meta does not have");
    OPLOOM_CHECK_INDEX(first + index.dim() <= self.dim(), op, "(): too many indices for a ",
                       self.dim(), "-d tensor");
    for (int64_t d = 0; d < index.dim(); ++d) {
      OPLOOM_CHECK_INDEX(index.sizes()[d] == self.sizes()[first + d], op,
                         "(): the shape of the mask ", index.sizes(), " at index ", d,
                         " does not match the shape of the indexed tensor ", self.sizes(),
                         " at index ", first + d);
    }
    // [n, k]; each column is the index tensor of one dimension.
    const Tensor places = native::nonzero(index);
    if (index.dim() == 0) {
      // A 0-d mask stands for no dimension; the caller has added one of size 1 for it.
      result.push_back(at::zeros({places.sizes()[0]}, kLong));
      continue;
    }
    for (int64_t d = 0; d < index.dim(); ++d) {
      result.push_back(make_alias(places, {places.sizes()[0]}, {places.strides()[0]},
                                  places.storage_offset() + d * places.strides()[1]));
    }
  }
  OPLOOM_CHECK_INDEX(static_cast<int64_t>(result.size()) <= self.dim(), op,
                     "(): too many indices (", result.size(), ") for a ", self.dim(), "-d tensor");
  return result;
}

AdvancedIndex make_advanced_index(const char* op, const Tensor& self, OptionalTensorList given) {
  std::vector<Tensor> indices = expand_masks(op, self, given);
  indices.resize(static_cast<size_t>(self.dim()));

  DimVector shape;
  int64_t first = -1;
  int64_t last = -1;
  int64_t count = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!indices[d].defined()) continue;
    std::optional<DimVector> both = c10::try_broadcast(shape, indices[d].sizes());
    OPLOOM_CHECK_INDEX(both.has_value(), op,
                       "(): expected index tensors of shapes that can be broadcast together, got ",
                       IntArrayRef(shape), " and ", indices[d].sizes());
    shape = std::move(*both);
    if (count == 0) first = d;
    last = d;
    ++count;
  }
  OPLOOM_CHECK_INDEX(count > 0, op, "(): expected at least one index tensor");
  const int64_t front = last - first + 1 == count ? first : 0;

  AdvancedIndex result;
  result.first_dim = first;
  DimVector sizes;
  DimVector strides;
  const auto append_whole_dims = [&](int64_t begin, int64_t end) {
    for (int64_t d = begin; d < end; ++d) {
      if (indices[d].defined()) continue;
      sizes.push_back(self.sizes()[d]);
      strides.push_back(self.strides()[d]);
    }
  };
  append_whole_dims(0, front);
  const size_t before = sizes.size();
  sizes.append(shape.begin(), shape.end());
  strides.resize(sizes.size(), 0);
  append_whole_dims(front, self.dim());
  const size_t after = sizes.size() - before - shape.size();
  result.self = make_alias(self, sizes, strides);

  const int64_t itemsize = static_cast<int64_t>(self.itemsize());
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!indices[d].defined()) continue;
    OPLOOM_CHECK(self.is_meta() || indices[d].device() == self.device(), op,
                 "(): expected indices on device ", self.device(), ", got one on ",
                 indices[d].device());
    // Where the result has no elements, none is read, and no index is out of bounds.
    const Tensor index = self.is_meta() || result.self.numel() == 0
                             ? indices[d]
                             : *checked_index(op, indices[d], d, self.sizes()[d], /*wrap=*/true);
    // Sizes of 1 for the dimensions of self that come after the indices.
    DimVector index_sizes(index.sizes());
    DimVector index_strides(index.strides());
    index_sizes.resize(index_sizes.size() + after, 1);
    index_strides.resize(index_strides.size() + after, 0);
    result.indices.push_back(make_alias(index, index_sizes, index_strides));
    result.indexed_sizes.push_back(self.sizes()[d]);
    result.indexed_strides.push_back(self.strides()[d] * itemsize);
  }
  return result;
}

// An iterator over `first` (written), `second`, and the index tensors.
TensorIterator make_index_iterator(const Tensor& first, const Tensor& second,
                                   const AdvancedIndex& info) {
  TensorIteratorConfig config;
  config.set_check_mem_overlap(false)
      .check_all_same_dtype(false)
      .resize_outputs(false)
      .add_output(first)
      .add_const_input(second);
  for (const Tensor& index : info.indices) config.add_const_input(index);
  return config.build();
}

bool has_index(OptionalTensorList indices) {
  for (const auto& index : indices) {
    if (is_given(index)) return true;
  }
  return false;
}

// The only index, and the first dimension that it stands for; or else nothing.
struct OnlyIndex {
  const Tensor* index = nullptr;
  int64_t dim = 0;
};
OnlyIndex only_index(OptionalTensorList indices) {
  OnlyIndex only;
  for (size_t k = 0; k < indices.size(); ++k) {
    if (!is_given(indices[k])) continue;
    if (only.index != nullptr) return {};
    only = {&*indices[k], static_cast<int64_t>(k)};
  }
  return only;
}

// Whether it is a mask of self's shape, from its dimension on.
bool is_fitting_mask(const Tensor& self, OnlyIndex only) {
  if (only.index == nullptr || only.index->scalar_type() != kBool) return false;
  const int64_t ndim = only.index->dim();
  return ndim > 0 && only.dim + ndim <= self.dim() &&
         only.index->sizes() ==
             self.sizes().slice(static_cast<size_t>(only.dim), static_cast<size_t>(ndim));
}
bool is_whole_mask(const Tensor& self, OnlyIndex only) {
  return is_fitting_mask(self, only) && only.index->dim() == self.dim();
}

// A mask that fits as one that is broadcast with self, if a number is to be written where it holds:
// nothing where it stands for long rows, or holds in few places of many, which are named then.
std::optional<Tensor> broadcast_mask(const Tensor& self, OnlyIndex only) {
  constexpr int64_t kShortRowBytes = 64, kFew = 16;
  DimVector sizes(only.index->sizes()), strides(only.index->strides());
  const int64_t behind = self.dim() - only.dim - only.index->dim();
  const IntArrayRef rest = self.sizes().slice(static_cast<size_t>(self.dim() - behind));
  if (c10::multiply_integers(rest) * static_cast<int64_t>(self.itemsize()) > kShortRowBytes)
    return std::nullopt;
  if (!is_whole_mask(self, only)) {
    const Tensor flags = only.index->contiguous();
    const int64_t count = count_set_stub(
        DeviceType::CPU, static_cast<const uint8_t*>(flags.const_data_ptr()), flags.numel());
    if (count * kFew < flags.numel()) return std::nullopt;
  }
  sizes.resize(sizes.size() + static_cast<size_t>(behind), 1);
  strides.resize(sizes.size(), 0);
  return make_alias(*only.index, sizes, strides);
}

// A mask of several dimensions that lie in self as one would, and self with that one instead, of
// which an element has one coordinate.
struct JoinedMask {
  Tensor self;
  std::vector<std::optional<Tensor>> indices;
};
std::optional<JoinedMask> join_mask(const Tensor& self, OnlyIndex only) {
  if (!is_fitting_mask(self, only) || only.index->dim() == 1) return std::nullopt;
  const auto first = only.dim, last = first + only.index->dim() - 1;
  DimVector sizes(self.sizes()), strides(self.strides());
  for (int64_t d = first; d < last; ++d) {
    if (strides[d] != strides[d + 1] * sizes[d + 1]) return std::nullopt;
  }
  sizes[last] = only.index->numel();
  sizes.erase(sizes.begin() + first, sizes.begin() + last);
  strides.erase(strides.begin() + first, strides.begin() + last);
  JoinedMask result = {make_alias(self, sizes, strides), {}};
  result.indices.resize(static_cast<size_t>(first));
  result.indices.emplace_back(only.index->reshape({-1}));
  return result;
}

// One index tensor names the same places of all lines along its dimension, as gather and scatter
// take them.
struct Lines {
  Lines(const Tensor& self, const AdvancedIndex& info) : dim(info.first_dim), sizes(self.sizes()) {
    sizes[dim] = info.indices[0].numel();
    index = expand_index(info.indices[0], sizes, dim);
  }
  // A tensor of the shape of the result with one dimension in the place of those of the index.
  Tensor as_lines(const Tensor& tensor) const {
    return tensor.dim() == static_cast<int64_t>(sizes.size()) ? tensor : tensor.reshape(sizes);
  }

  int64_t dim;
  DimVector sizes;
  Tensor index;
};

// A tensor for the result. What an index takes of a batch has its channels last where they are.
Tensor empty_as_indexed(const Tensor& self, const AdvancedIndex& info) {
  const bool of_batch =
      info.indices.size() == 1 && info.first_dim == 0 && info.self.dim() == self.dim();
  const MemoryFormat format = of_batch ? self.suggest_memory_format() : MemoryFormat::Contiguous;
  return Tensor(at::detail::empty(info.self.sizes(), self.options().memory_format(format)));
}

}  // namespace

Tensor index(const Tensor& self, OptionalTensorList indices) {
  OPLOOM_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(),
                     "index(): too many indices (", indices.size(), ") for a ", self.dim(),
                     "-d tensor");
  if (!has_index(indices)) return self.clone();
  const OnlyIndex only = only_index(indices);
  if (is_whole_mask(self, only)) return native::masked_select(self, *only.index);
  if (const auto joined = join_mask(self, only))
    return native::index(joined->self, joined->indices);
  const AdvancedIndex info = make_advanced_index("index", self, indices);
  Tensor result(empty_as_indexed(self, info));
  if (result.numel() == 0) return result;
  if (info.indices.size() == 1) {
    const Lines lines(self, info);
    const Tensor taken = lines.as_lines(result);
    if (!take_positions(taken, self, lines.dim, info.indices[0])) {
      gather_lines(taken, self, lines.dim, lines.index);
    }
    return result;
  }
  auto iter = make_index_iterator(result, info.self, info);
  index_stub(DeviceType::CPU, iter, info.indexed_sizes, info.indexed_strides);
  return result;
}

Tensor index_meta(const Tensor& self, OptionalTensorList indices) {
  OPLOOM_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(),
                     "index(): too many indices (", indices.size(), ") for a ", self.dim(),
                     "-d tensor");
  if (!has_index(indices)) return self.clone();
  return empty_as_indexed(self, make_advanced_index("index", self, indices));
}

Tensor& index_put_(Tensor& self, OptionalTensorList indices, const Tensor& values,
                   bool accumulate) {
  OPLOOM_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(),
                     "index_put_(): too many indices (", indices.size(), ") for a ", self.dim(),
                     "-d tensor");
  OPLOOM_CHECK(self.scalar_type() == values.scalar_type(),
               "index_put_(): expected self and values of one dtype, got ", self.scalar_type(),
               " and ", values.scalar_type());
  OPLOOM_CHECK(has_index(indices), "index_put_(): expected at least one index tensor");
  assert_no_internal_overlap(self);
  // Values and indices are read before anything is written, also where they share self's memory.
  const Tensor source = values.is_alias_of(self) ? values.clone() : values;
  std::vector<std::optional<Tensor>> apart(indices.begin(), indices.end());
  for (auto& index : apart) {
    if (is_given(index) && index->is_alias_of(self)) index = index->clone();
  }
  const OnlyIndex only = only_index(apart);
  if (is_fitting_mask(self, only) && source.dim() <= 1) {
    if (source.numel() == 1) {
      const auto mask = accumulate ? std::nullopt : broadcast_mask(self, only);
      if (mask.has_value()) return self.masked_fill_(*mask, source.item());
    } else if (is_whole_mask(self, only) && self.is_contiguous()) {
      Tensor sums;  // a mask names no place twice
      if (accumulate) sums = native::masked_select(self, *only.index);
      const bool adds = sums.defined() && sums.sizes() == source.sizes();
      put_where(self, *only.index, adds ? sums.add_(source) : source);
      return self;
    }
  }
  if (auto joined = join_mask(self, only)) {
    native::index_put_(joined->self, joined->indices, source, accumulate);
    return self;
  }
  const AdvancedIndex info = make_advanced_index("index_put_", self, apart);
  OPLOOM_CHECK(c10::are_expandable(source.sizes(), info.self.sizes()),
               "index_put_(): values of shape ", values.sizes(),
               " cannot be broadcast to the shape of the indexing result, ", info.self.sizes());
  if (info.self.numel() == 0) return self;
  const Tensor expanded = expand_alias("index_put_", source, info.self.sizes());
  if (info.indices.size() == 1) {
    const Lines lines(self, info);
    const Tensor from = lines.as_lines(expanded);
    if (put_positions(self, lines.dim, info.indices[0], from, accumulate)) return self;
    if (accumulate) {
      scatter_add_stub(DeviceType::CPU, self, lines.dim, lines.index, from, 1);
    } else if (source.numel() == 1) {
      scatter_fill_stub(DeviceType::CPU, self, lines.dim, lines.index, source.item());
    } else {
      scatter_stub(DeviceType::CPU, self, lines.dim, lines.index, from);
    }
    return self;
  }
  auto iter = make_index_iterator(info.self, expanded, info);
  index_put_stub(DeviceType::CPU, iter, info.indexed_sizes, info.indexed_strides, accumulate);
  return self;
}
Tensor& index_put_meta_(Tensor& self, OptionalTensorList indices, const Tensor& values,
                        bool accumulate) {
  OPLOOM_CHECK(self.is_meta() || values.device() == self.device(),
               "index_put_(): expected values on device ", self.device(), ", got ones on ",
               values.device());
  const AdvancedIndex info = make_advanced_index("index_put_", self, indices);
  expand_alias("index_put_", values, info.self.sizes());
  return self;
}
Tensor index_put(const Tensor& self, OptionalTensorList indices, const Tensor& values,
                 bool accumulate) {
  Tensor result = self.clone(MemoryFormat::Preserve);
  result.index_put_(indices, values, accumulate);
  return result;
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/Indexing.h>
