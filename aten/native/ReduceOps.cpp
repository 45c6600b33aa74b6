// Reductions: sum, mean, prod, max, min, all, any, argmax, argmin.
#include <aten/core/Empty.h>
#include <aten/native/ReduceOpsUtils.h>
#include <aten/stubs/ReduceOps.h>
#include <c10/core/InferSize.h>
#include <c10/util/SmallVector.h>
#include <generated/native/all.h>
#include <generated/native/amax.h>
#include <generated/native/amin.h>
#include <generated/native/any.h>
#include <generated/native/argmax.h>
#include <generated/native/argmin.h>
#include <generated/native/max.h>
#include <generated/native/mean.h>
#include <generated/native/min.h>
#include <generated/native/prod.h>
#include <generated/native/sum.h>
#include <generated/native/value_selecting_reduction_backward.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/maximum.h>
#include <generated/ops/minimum.h>
#include <generated/ops/mul.h>
#include <generated/ops/ne.h>
#include <generated/ops/scatter_add.h>
#include <generated/ops/to.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/zero.h>
#include <generated/ops/zeros.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace at::inline oploom_v1::meta {

using namespace native;

namespace {

// The dtype that sums and products have: the one asked for, that of a given output, or that of the
// input, where integers become int64.
ScalarType sum_dtype(const Tensor& self, std::optional<ScalarType> dtype, const TensorBase& out) {
  if (dtype.has_value()) return *dtype;
  if (out.defined()) return out.scalar_type();
  return c10::isIntegralType(self.scalar_type(), /*includeBool=*/true) ? kLong : self.scalar_type();
}

// The same for means, which are not whole.
ScalarType mean_dtype(const Tensor& self, std::optional<ScalarType> dtype, const TensorBase& out) {
  const ScalarType result = dtype.value_or(self.scalar_type());
  OPLOOM_CHECK(c10::isFloatingType(result) || c10::isComplexType(result),
               "mean(): expected a floating-point or complex dtype, got ", result,
               dtype.has_value() ? "" : "; pass dtype to convert the input first");
  if (dtype.has_value() || !out.defined()) return result;
  OPLOOM_CHECK(out.is_floating_point() || out.is_complex(),
               "mean(): expected an output of a floating-point or complex dtype, got ",
               out.scalar_type());
  return out.scalar_type();
}

void check_has_elements(const char* op, const Tensor& self) {
  OPLOOM_CHECK(self.numel() > 0, op, "(): expected at least one element, got an input of shape ",
               self.sizes(), "; with dim, the result may be empty");
}

// A dimension to choose an element from.
int64_t checked_dim(const char* op, const Tensor& self, int64_t dim) {
  dim = c10::wrap_dim(op, dim, self.dim());
  OPLOOM_CHECK_INDEX(self.dim() == 0 || self.sizes()[dim] > 0, op, "(): expected dimension ", dim,
                     " to have at least one element, got an input of shape ", self.sizes());
  return dim;
}

void declare_truth(impl::MetaBase& meta, const Tensor& self, IntArrayRef shape) {
  const TensorBase& out = meta.maybe_get_output();
  const bool to_byte = out.defined() ? out.scalar_type() == kByte : self.scalar_type() == kByte;
  meta.set_output_contiguous(0, shape, self.options().dtype(to_byte ? kByte : kBool));
}

void declare_extreme(impl::MetaBase& meta, const Tensor& self, int64_t dim, bool keepdim) {
  dim = checked_dim(meta.op_name(), self, dim);
  const DimVector shape = reduced_shape(self, uint64_t{1} << dim, keepdim);
  meta.set_output_contiguous(0, shape, self.options());
  meta.set_output_contiguous(1, shape, self.options().dtype(kLong));
}

void declare_arg_extreme(impl::MetaBase& meta, const Tensor& self, std::optional<int64_t> dim,
                         bool keepdim) {
  DimMask mask = ~DimMask{0};
  if (dim.has_value()) {
    mask = DimMask{1} << checked_dim(meta.op_name(), self, *dim);
  } else {
    check_has_elements(meta.op_name(), self);
  }
  meta.set_output_contiguous(0, reduced_shape(self, mask, keepdim), self.options().dtype(kLong));
}

void declare_amax(impl::MetaBase& meta, const Tensor& self, IntArrayRef dim, bool keepdim) {
  const DimMask mask = reduction_mask(meta.op_name(), dim, self.dim());
  if (self.numel() == 0) {
    for (int64_t d = 0; d < self.dim(); ++d) {
      if ((mask >> d) & 1) checked_dim(meta.op_name(), self, d);
    }
  }
  meta.set_output_contiguous(0, reduced_shape(self, mask, keepdim), self.options());
}

}  // namespace

OPLOOM_META_FUNC(sum)(const Tensor& self, std::optional<ScalarType> dtype) {
  set_output_contiguous(0, {}, self.options().dtype(sum_dtype(self, dtype, maybe_get_output())));
}

OPLOOM_META_FUNC(sum, dim_IntList)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const DimMask mask = reduction_mask("sum", dim, self.dim());
  set_output_contiguous(0, reduced_shape(self, mask, keepdim),
                        self.options().dtype(sum_dtype(self, dtype, maybe_get_output())));
}

OPLOOM_META_FUNC(mean)(const Tensor& self, std::optional<ScalarType> dtype) {
  set_output_contiguous(0, {}, self.options().dtype(mean_dtype(self, dtype, maybe_get_output())));
}

OPLOOM_META_FUNC(mean, dim)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const DimMask mask = reduction_mask("mean", dim, self.dim());
  set_output_contiguous(0, reduced_shape(self, mask, keepdim),
                        self.options().dtype(mean_dtype(self, dtype, maybe_get_output())));
}

OPLOOM_META_FUNC(prod)(const Tensor& self, std::optional<ScalarType> dtype) {
  set_output_contiguous(0, {}, self.options().dtype(sum_dtype(self, dtype, maybe_get_output())));
}

OPLOOM_META_FUNC(prod, dim_int)
(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  const DimMask mask = DimMask{1} << c10::wrap_dim("prod", dim, self.dim());
  set_output_contiguous(0, reduced_shape(self, mask, keepdim),
                        self.options().dtype(sum_dtype(self, dtype, maybe_get_output())));
}

OPLOOM_META_FUNC(max)(const Tensor& self) {
  check_has_elements("max", self);
  set_output_contiguous(0, {}, self.options());
}
OPLOOM_META_FUNC(min)(const Tensor& self) {
  check_has_elements("min", self);
  set_output_contiguous(0, {}, self.options());
}
OPLOOM_META_FUNC(max, dim)(const Tensor& self, int64_t dim, bool keepdim) {
  declare_extreme(*this, self, dim, keepdim);
}
OPLOOM_META_FUNC(min, dim)(const Tensor& self, int64_t dim, bool keepdim) {
  declare_extreme(*this, self, dim, keepdim);
}
OPLOOM_META_FUNC(amax)(const Tensor& self, IntArrayRef dim, bool keepdim) {
  declare_amax(*this, self, dim, keepdim);
}
OPLOOM_META_FUNC(amin)(const Tensor& self, IntArrayRef dim, bool keepdim) {
  declare_amax(*this, self, dim, keepdim);
}
OPLOOM_META_FUNC(argmax)(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  declare_arg_extreme(*this, self, dim, keepdim);
}
OPLOOM_META_FUNC(argmin)(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  declare_arg_extreme(*this, self, dim, keepdim);
}

OPLOOM_META_FUNC(all)(const Tensor& self) { declare_truth(*this, self, {}); }
OPLOOM_META_FUNC(any)(const Tensor& self) { declare_truth(*this, self, {}); }
OPLOOM_META_FUNC(all, dim)(const Tensor& self, int64_t dim, bool keepdim) {
  const DimMask mask = DimMask{1} << c10::wrap_dim("all", dim, self.dim());
  declare_truth(*this, self, reduced_shape(self, mask, keepdim));
}
OPLOOM_META_FUNC(any, dim)(const Tensor& self, int64_t dim, bool keepdim) {
  const DimMask mask = DimMask{1} << c10::wrap_dim("any", dim, self.dim());
  declare_truth(*this, self, reduced_shape(self, mask, keepdim));
}
OPLOOM_META_FUNC(all, dims)(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  declare_truth(*this, self, reduced_shape(self, native::truth_mask("all", dim, self), keepdim));
}
OPLOOM_META_FUNC(any, dims)(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  declare_truth(*this, self, reduced_shape(self, native::truth_mask("any", dim, self), keepdim));
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_COLD Tensor single_elements(const Tensor& self, DimMask mask, const TensorBase& out) {
  if (out.dim() == self.dim()) return self;
  DimVector strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (((mask >> d) & 1) == 0) strides.push_back(self.strides()[d]);
  }
  return make_alias(self, out.sizes(), strides);
}

OPLOOM_COLD void OrderedReduction::finish(const Tensor& result) const {
  Tensor target(result);
  if (!out.is_same(result)) target.copy_(out);
  if (times != 1) target.mul_(times);
}

namespace {

// A dimension of several elements, and its place in the tensor that it is looked up in.
struct StridedDim {
  int64_t size, stride, place;
  bool reduced;
};
using StridedDims = c10::SmallVector<StridedDim, c10::kDimVectorStaticSize>;

// Among those with the shortest strides first.
OPLOOM_COLD void insert_by_stride(StridedDims& dims, const StridedDim& dim) {
  dims.push_back(dim);
  for (size_t i = dims.size() - 1; i > 0 && std::abs(dims[i - 1].stride) > std::abs(dims[i].stride);
       --i) {
    std::swap(dims[i - 1], dims[i]);
  }
}

}  // namespace

OPLOOM_COLD OrderedReduction in_order(const Tensor& self, DimMask mask, const TensorBase& out,
                                      Repeats repeats) {
  constexpr int64_t kLongRow = 32;
  if (!self.is_cpu()) return {};
  // Sums of 16-bit floats are rounded once.
  const ScalarType dtype = out.scalar_type();
  if (repeats == Repeats::Multiply &&
      (c10::isComplexType(dtype) || c10::isReducedFloatingType(dtype) || dtype == kBool)) {
    repeats = Repeats::Count;
  }
  StridedDims kept;
  int64_t place = 0, nearest = std::numeric_limits<int64_t>::max();
  int64_t times = 1;
  bool expanded = false;
  DimVector sizes(out.sizes()), strides(out.strides()), self_sizes(self.sizes());
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t size = self.sizes()[d], stride = self.strides()[d];
    const bool reduced = ((mask >> d) & 1) != 0;
    if (size > 1 && stride == 0 && (!reduced || repeats != Repeats::Count)) {
      expanded = true;
      self_sizes[d] = 1;
      if (!reduced) sizes[place] = 1;
      if (reduced && repeats == Repeats::Multiply) times *= size;
    } else if (size > 1 && reduced) {
      nearest = std::min(nearest, std::abs(stride));
    } else if (size > 1) {
      insert_by_stride(kept, {size, stride, place, false});
    }
    place += !reduced || out.dim() == self.dim();
  }
  // Neighbours in both, and whether all results follow each other as their elements do.
  int64_t row = 1, numel = 1;
  bool follow = true;
  for (const StridedDim& dim : kept) {
    const bool innermost = numel == 1;
    const int64_t stride = out.strides()[dim.place];
    follow = follow && (innermost || stride == numel * out.strides()[kept[0].place]);
    if (follow && (innermost || dim.stride == numel * kept[0].stride)) row *= dim.size;
    strides[dim.place] = numel;
    numel *= dim.size;
  }
  const bool orders = !follow && row < kLongRow && nearest > std::abs(kept[0].stride);
  if (!orders && !expanded) return {};
  const Tensor input = make_alias(self, self_sizes, self.strides());
  if (out.numel() == numel && !orders) return {input, Tensor(out), times};
  const Tensor memory(at::detail::empty({numel}, out.options()));
  return {input, make_alias(memory, sizes, strides), times};
}

namespace {

constexpr DimMask kAllDims = ~DimMask{0};

OPLOOM_COLD void copy_single_elements(const Tensor& self, DimMask mask, const TensorBase& out) {
  Tensor(out).copy_(single_elements(self, mask, out));
}
// Gives `out` the elements of self if there is one for each.
OPLOOM_ALWAYS_INLINE bool copy_single(const Tensor& self, DimMask mask, const TensorBase& out) {
  if (!has_single_elements(out, self)) return false;
  copy_single_elements(self, mask, out);
  return true;
}

// Note [Reductions in stages]
// Where dimensions that are reduced and kept take turns in memory, as those of the windows do that
// a picture is pooled by, and the innermost of them are short, each result would be found by
// itself, from a few short rows. So the outermost ones are reduced first, of which whole rows are
// added up with each other, and the others from what that leaves: 2 x 2 windows of 8 x 128 x 128 x
// 3 floats took 50 times as long at once on a Zen 4. Sums of 16-bit floats are those of float32
// then, and rounded once.

// The dimensions to reduce first, or none. `converts`: to float32, which is good for shorter runs.
OPLOOM_COLD DimMask first_stage(const Tensor& self, DimMask mask, bool converts) {
  constexpr int64_t kFewest = 256, kLongRunBytes = 128, kLongConvertedBytes = 16;
  if (!self.is_cpu() || self.numel() < kFewest) return 0;
  StridedDims dims;
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    const int64_t size = self.sizes()[d], stride = self.strides()[d];
    if (size == 1) continue;
    if (stride == 0) return 0;
    insert_by_stride(dims, {size, stride, d, ((mask >> d) & 1) != 0});
  }
  // The elements are many, so there are dimensions.
  const bool run_reduced = dims[0].reduced;
  if (converts && run_reduced) return 0;
  auto run_bytes = static_cast<int64_t>(self.itemsize());
  for (const StridedDim& dim : dims) {
    if (dim.reduced != run_reduced) break;
    run_bytes *= dim.size;
  }
  if (run_bytes > (converts ? kLongConvertedBytes : kLongRunBytes)) return 0;
  while (!dims.empty() && !dims.back().reduced) dims.pop_back();
  DimMask first = 0;
  for (; !dims.empty() && dims.back().reduced; dims.pop_back()) {
    first |= DimMask{1} << dims.back().place;
  }
  const bool others = std::ranges::any_of(dims, &StridedDim::reduced);
  return others ? first : 0;
}

// What is left when those have been reduced: dimensions of one element, and others that lie as in
// self, of the dtype of the result.
OPLOOM_COLD Tensor stage_result(const Tensor& self, DimMask first, const TensorBase& out) {
  DimVector sizes(self.sizes());
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (((first >> d) & 1) != 0) sizes[d] = 1;
  }
  return Tensor(at::detail::empty_strided(sizes, c10::infer_dense_strides(sizes, self.strides()),
                                          out.options()));
}

template <typename Stub>
OPLOOM_ALWAYS_INLINE void run_at_once(const Stub& stub, const Tensor& self, DimMask mask,
                                      const Tensor& out, Repeats repeats) {
  reduce_in_order(self, mask, out, repeats, [&](const Tensor& in, const Tensor& target) {
    stub(in.device().type(), target, in, mask);
  });
}

// `rounds`: it adds up.
template <typename Stub>
OPLOOM_COLD void run_in_stages(const Stub& stub, const Tensor& self, DimMask mask,
                               const Tensor& out, Repeats repeats, bool rounds) {
  Tensor in = self, target = out;
  const auto converts = [&] { return rounds && c10::isReducedFloatingType(in.scalar_type()); };
  for (DimMask first; (first = first_stage(in, mask, converts())) != 0;) {
    if (converts()) {
      in = in.to(kFloat);
      target = Tensor(at::detail::empty(out.sizes(), out.options().dtype(kFloat)));
    }
    const Tensor left = stage_result(in, first, target);
    stub(in.device().type(), left, in, first);
    in = left;
  }
  run_at_once(stub, in, mask, target, repeats);
  if (!target.is_same(out)) Tensor(out).copy_(target);
}

template <typename Stub>
OPLOOM_ALWAYS_INLINE void run(const Stub& stub, const Tensor& self, DimMask mask, const Tensor& out,
                              Repeats repeats, bool rounds = false) {
  // Of several dimensions, and not all.
  if (OPLOOM_UNLIKELY(self.dim() > 2 && out.numel() > 1 && (mask & (mask - 1)) != 0)) {
    return run_in_stages(stub, self, mask, out, repeats, rounds);
  }
  run_at_once(stub, self, mask, out, repeats);
}

template <typename Stub>
void truth_into(Stub& stub, const Tensor& self, DimMask mask, const Tensor& out) {
  if (has_single_elements(out, self)) {
    Tensor result(out);
    at::ne_out(result, single_elements(self, mask, out), false);
    return;
  }
  run(stub, self, mask, out, Repeats::AreOne);
}

// Without dimensions, whether each element is true.
template <typename Stub>
void truth_into(Stub& stub, const char* op, const Tensor& self, OptionalIntArrayRef dim,
                const Tensor& out) {
  const DimMask mask = truth_mask(op, dim, self);
  if (mask != 0) return truth_into(stub, self, mask, out);
  Tensor result(out);
  at::ne_out(result, self, false);
}

// The dtype that the sum and product kernels give for an input of this one.
ScalarType natural_sum_dtype(ScalarType dtype) {
  return c10::isIntegralType(dtype, /*includeBool=*/true) ? kLong : dtype;
}

// Of an input that has not the dtype of the kernels' output.
template <typename Stub>
OPLOOM_COLD void sum_converted_into(const Stub& stub, const Tensor& self, DimMask mask,
                                    const Tensor& out) {
  // As the field does it: the input is converted to the dtype of the result first.
  const ScalarType wanted = out.scalar_type(), natural = natural_sum_dtype(wanted);
  const Tensor converted = self.to(wanted);
  if (natural == wanted) return stub(self.device().type(), out, converted, mask);
  // Narrow integers wrap around, so the int64 result can be cut to size.
  const Tensor wide(at::detail::empty(out.sizes(), out.options().dtype(natural)));
  stub(self.device().type(), wide, converted, mask);
  Tensor(out).copy_(wide);
}

template <typename Stub>
void sum_into(const Stub& stub, const Tensor& self, DimMask mask, const Tensor& out,
              Repeats repeats) {
  if (copy_single(self, mask, out)) return;
  if (natural_sum_dtype(self.scalar_type()) != out.scalar_type()) {
    return sum_converted_into(stub, self, mask, out);
  }
  run(stub, self, mask, out, repeats, /*rounds=*/true);
}

void mean_into(const Tensor& self, DimMask mask, const Tensor& out) {
  if (copy_single(self, mask, out)) return;
  if (self.scalar_type() == out.scalar_type()) {
    run(mean_stub, self, mask, out, Repeats::AreOne, /*rounds=*/true);
  } else {
    mean_stub(self.device().type(), out, self.to(out.scalar_type()), mask);
  }
}

template <typename Stub>
void extreme_into(const Stub& stub, const Tensor& self, DimMask mask, const Tensor& out) {
  if (!copy_single(self, mask, out)) run(stub, self, mask, out, Repeats::AreOne);
}

// Where what extreme_into() does by itself is to be done for indices, too.
template <typename Stub>
OPLOOM_COLD bool select_otherwise(const Stub& stub, const TensorBase& values, const Tensor& indices,
                                  const Tensor& self, int64_t dim) {
  const DimMask mask = DimMask{1} << dim;
  if (has_single_elements(indices, self)) {
    if (values.defined()) copy_single_elements(self, mask, values);
    Tensor(indices).zero_();
    return true;
  }
  const OrderedReduction ordered = in_order(self, mask, indices, Repeats::AreOne);
  const Tensor& places = ordered.out;
  if (!places.defined()) return false;
  TensorBase extremes = values;
  if (values.defined() && !places.is_same(indices)) {
    const Tensor memory(at::detail::empty({places.numel()}, values.options()));
    extremes = make_alias(memory, places.sizes(), places.strides());
  }
  stub(self.device().type(), extremes, places, ordered.self, dim);
  if (places.is_same(indices)) return true;
  if (values.defined()) Tensor(values).copy_(Tensor(extremes));
  Tensor(indices).copy_(places);
  return true;
}

// max and min along a dimension, of which 0-dim input has none to pass on.
template <typename Stub>
void select_into(const Stub& stub, const char* op, const TensorBase& values, const Tensor& indices,
                 const Tensor& self, int64_t dim) {
  dim = c10::wrap_dim(op, dim, self.dim());
  if ((has_single_elements(indices, self) || may_be_ordered(self, indices)) &&
      select_otherwise(stub, values, indices, self, dim)) {
    return;
  }
  stub(self.device().type(), values, indices, self, dim);
}

template <typename Stub>
void arg_select_into(const Stub& stub, const char* op, const Tensor& self,
                     std::optional<int64_t> dim, const Tensor& out) {
  if (dim.has_value() && self.dim() > 0) {
    select_into(stub, op, TensorBase(), out, self, *dim);
    return;
  }
  // Position in the flattened tensor.
  const Tensor dense = self.contiguous();
  const Tensor flat = make_alias(dense, {dense.numel()}, {1});
  stub(self.device().type(), TensorBase(), make_alias(out, {}, {}), flat, 0);
}

}  // namespace

OPLOOM_IMPL_FUNC(sum_all_out)
(const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  sum_into(sum_stub, self, kAllDims, out, Repeats::Multiply);
}
OPLOOM_IMPL_FUNC(sum_out)
(const Tensor& self, OptionalIntArrayRef dim, bool, std::optional<ScalarType>, const Tensor& out) {
  sum_into(sum_stub, self, reduction_mask("sum", dim, self.dim()), out, Repeats::Multiply);
}
OPLOOM_IMPL_FUNC(prod_all_out)
(const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  sum_into(prod_stub, self, kAllDims, out, Repeats::Count);
}
OPLOOM_IMPL_FUNC(prod_out)
(const Tensor& self, int64_t dim, bool, std::optional<ScalarType>, const Tensor& out) {
  sum_into(prod_stub, self, DimMask{1} << c10::wrap_dim("prod", dim, self.dim()), out,
           Repeats::Count);
}
OPLOOM_IMPL_FUNC(mean_all_out)
(const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  mean_into(self, kAllDims, out);
}
OPLOOM_IMPL_FUNC(mean_out)
(const Tensor& self, OptionalIntArrayRef dim, bool, std::optional<ScalarType>, const Tensor& out) {
  mean_into(self, reduction_mask("mean", dim, self.dim()), out);
}

OPLOOM_IMPL_FUNC(max_all_out)(const Tensor& self, const Tensor& out) {
  max_values_stub(self.device().type(), out, self, kAllDims);
}
OPLOOM_IMPL_FUNC(min_all_out)(const Tensor& self, const Tensor& out) {
  min_values_stub(self.device().type(), out, self, kAllDims);
}
OPLOOM_IMPL_FUNC(amax_out)(const Tensor& self, IntArrayRef dim, bool, const Tensor& out) {
  extreme_into(max_values_stub, self, reduction_mask("amax", dim, self.dim()), out);
}
OPLOOM_IMPL_FUNC(amin_out)(const Tensor& self, IntArrayRef dim, bool, const Tensor& out) {
  extreme_into(min_values_stub, self, reduction_mask("amin", dim, self.dim()), out);
}
OPLOOM_IMPL_FUNC(max_out)
(const Tensor& self, int64_t dim, bool, const Tensor& values, const Tensor& indices) {
  select_into(argmax_stub, "max", values, indices, self, dim);
}
OPLOOM_IMPL_FUNC(min_out)
(const Tensor& self, int64_t dim, bool, const Tensor& values, const Tensor& indices) {
  select_into(argmin_stub, "min", values, indices, self, dim);
}
OPLOOM_IMPL_FUNC(argmax_out)
(const Tensor& self, std::optional<int64_t> dim, bool, const Tensor& out) {
  arg_select_into(argmax_stub, "argmax", self, dim, out);
}
OPLOOM_IMPL_FUNC(argmin_out)
(const Tensor& self, std::optional<int64_t> dim, bool, const Tensor& out) {
  arg_select_into(argmin_stub, "argmin", self, dim, out);
}

OPLOOM_IMPL_FUNC(all_all_out)(const Tensor& self, const Tensor& out) {
  and_stub(self.device().type(), out, self, kAllDims);
}
OPLOOM_IMPL_FUNC(any_all_out)(const Tensor& self, const Tensor& out) {
  or_stub(self.device().type(), out, self, kAllDims);
}
OPLOOM_IMPL_FUNC(all_out)(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  truth_into(and_stub, self, DimMask{1} << c10::wrap_dim("all", dim, self.dim()), out);
}
OPLOOM_IMPL_FUNC(any_out)(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  truth_into(or_stub, self, DimMask{1} << c10::wrap_dim("any", dim, self.dim()), out);
}

OPLOOM_IMPL_FUNC(all_dims_out)
(const Tensor& self, OptionalIntArrayRef dim, bool, const Tensor& out) {
  truth_into(and_stub, "all", self, dim, out);
}
OPLOOM_IMPL_FUNC(any_dims_out)
(const Tensor& self, OptionalIntArrayRef dim, bool, const Tensor& out) {
  truth_into(or_stub, "any", self, dim, out);
}

Tensor max(const Tensor& self, const Tensor& other) { return at::maximum(self, other); }
Tensor min(const Tensor& self, const Tensor& other) { return at::minimum(self, other); }

Tensor value_selecting_reduction_backward(const Tensor& grad, int64_t dim, const Tensor& indices,
                                          IntArrayRef sizes, bool keepdim) {
  if (sizes.empty()) return grad;
  const bool unsqueeze = !keepdim;
  const Tensor index = unsqueeze ? indices.unsqueeze(dim) : indices;
  const Tensor source = unsqueeze ? grad.unsqueeze(dim) : grad;
  return at::zeros(sizes, grad.options()).scatter_add(dim, index, source);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/ReduceOps.h>
