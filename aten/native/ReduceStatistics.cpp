// Reductions with some arithmetic around them: var, std, norm, logsumexp, cumsum, cumprod.
#include <aten/core/Dispatch.h>
#include <aten/core/Empty.h>
#include <aten/native/ReduceOpsUtils.h>
#include <aten/stubs/CrossEntropy.h>
#include <aten/stubs/ReduceOps.h>
#include <c10/core/DefaultDtype.h>
#include <generated/native/cumprod.h>
#include <generated/native/cumprod_backward.h>
#include <generated/native/cumsum.h>
#include <generated/native/logsumexp.h>
#include <generated/native/norm.h>
#include <generated/native/std.h>
#include <generated/native/var.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/abs.h>
#include <generated/ops/add.h>
#include <generated/ops/all.h>
#include <generated/ops/amax.h>
#include <generated/ops/cat.h>
#include <generated/ops/conj.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/cumprod.h>
#include <generated/ops/cumsum.h>
#include <generated/ops/div.h>
#include <generated/ops/eq.h>
#include <generated/ops/fill.h>
#include <generated/ops/flip.h>
#include <generated/ops/isnan.h>
#include <generated/ops/item.h>
#include <generated/ops/logsumexp.h>
#include <generated/ops/mul.h>
#include <generated/ops/narrow.h>
#include <generated/ops/ne.h>
#include <generated/ops/norm.h>
#include <generated/ops/ones_like.h>
#include <generated/ops/select.h>
#include <generated/ops/sqrt.h>
#include <generated/ops/stack.h>
#include <generated/ops/std.h>
#include <generated/ops/sub.h>
#include <generated/ops/sum.h>
#include <generated/ops/to.h>
#include <generated/ops/var.h>
#include <generated/ops/view.h>
#include <generated/ops/where.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

namespace at::inline oploom_v1::meta {

using namespace native;

namespace {

void check_floating(const char* op, ScalarType dtype) {
  OPLOOM_CHECK(c10::isFloatingType(dtype) || c10::isComplexType(dtype), op,
               "(): expected a floating-point or complex dtype, got ", dtype);
}

// The dtype of real results of a floating or complex input: that of a given output, if it is a
// floating one, or the input's.
ScalarType real_dtype(ScalarType input, const TensorBase& out) {
  return out.defined() && out.is_floating_point() ? out.scalar_type() : c10::toRealValueType(input);
}

void declare_var(impl::MetaBase& meta, const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  check_floating(meta.op_name(), self.scalar_type());
  const DimMask mask = reduction_mask(meta.op_name(), dim, self.dim());
  const ScalarType dtype = real_dtype(self.scalar_type(), meta.maybe_get_output());
  meta.set_output_contiguous(0, reduced_shape(self, mask, keepdim), self.options().dtype(dtype));
}

void declare_norm(impl::MetaBase& meta, const Tensor& self, const std::optional<Scalar>& p,
                  IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType input = dtype.value_or(self.scalar_type());
  check_floating("norm", input);
  const DimMask mask = reduction_mask("norm", dim, self.dim());
  const DimVector shape = reduced_shape(self, mask, keepdim);
  const double order = p.has_value() ? p->toDouble() : 2.0;
  if (self.numel() == 0 && (order < 0 || std::isinf(order))) {
    for (int64_t d = 0; d < self.dim(); ++d) {
      OPLOOM_CHECK(((mask >> d) & 1) == 0 || self.sizes()[d] > 0,
                   "norm(): expected at least one element in each reduced dimension for p = ",
                   order, ", got an input of shape ", self.sizes());
    }
  }
  const ScalarType result =
      dtype.has_value() ? c10::toRealValueType(input) : real_dtype(input, meta.maybe_get_output());
  meta.set_output_contiguous(0, shape, self.options().dtype(result));
}

void declare_cumulative(impl::MetaBase& meta, const Tensor& self, int64_t dim,
                        std::optional<ScalarType> dtype) {
  c10::wrap_dim(meta.op_name(), dim, self.dim());
  const TensorBase& out = meta.maybe_get_output();
  const ScalarType natural =
      c10::isIntegralType(self.scalar_type(), /*includeBool=*/true) ? kLong : self.scalar_type();
  const ScalarType result = dtype.value_or(out.defined() ? out.scalar_type() : natural);
  meta.set_output_contiguous(0, self.sizes(), self.options().dtype(result));
}

}  // namespace

OPLOOM_META_FUNC(var, correction)
(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>&, bool keepdim) {
  declare_var(*this, self, dim, keepdim);
}
OPLOOM_META_FUNC(std, correction)
(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>&, bool keepdim) {
  declare_var(*this, self, dim, keepdim);
}
OPLOOM_META_FUNC(norm, ScalarOpt_dim)
(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  declare_norm(*this, self, p, dim, keepdim, std::nullopt);
}
OPLOOM_META_FUNC(norm, ScalarOpt_dim_dtype)
(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim,
 ScalarType dtype) {
  declare_norm(*this, self, p, dim, keepdim, dtype);
}
OPLOOM_META_FUNC(cumsum)(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  declare_cumulative(*this, self, dim, dtype);
}
OPLOOM_META_FUNC(cumprod)(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  declare_cumulative(*this, self, dim, dtype);
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

namespace {

// The real (0) or imaginary (1) parts of a complex tensor, sharing its memory.
Tensor part_of_complex(const Tensor& self, int64_t part) {
  auto impl = c10::make_intrusive<TensorImpl>(Storage(self.storage()), self.key_set(),
                                              c10::toRealValueType(self.scalar_type()));
  DimVector strides(self.strides());
  for (int64_t& stride : strides) stride *= 2;
  impl->set_sizes_and_strides(self.sizes(), strides, 2 * self.storage_offset() + part);
  return Tensor(TensorBase(TensorBase::ImplPtr(std::move(impl))));
}

// Calls compute(target) with the output, or, where this has not the dtype that the kernels give for
// the input, with a tensor of that dtype, which is then converted.
template <typename Compute>
void in_real_dtype_of(const Tensor& self, const Tensor& out, const Compute& compute) {
  const ScalarType dtype = c10::toRealValueType(self.scalar_type());
  if (out.scalar_type() == dtype) return compute(out);
  const Tensor target(at::detail::empty(out.sizes(), out.options().dtype(dtype)));
  compute(target);
  Tensor(out).copy_(target);
}

void var_into(const char* op, const Tensor& self, OptionalIntArrayRef dim,
              const std::optional<Scalar>& correction, bool take_sqrt, const Tensor& out) {
  const DimMask mask = reduction_mask(op, dim, self.dim());
  const double subtracted = correction.has_value() ? correction->toDouble() : 1.0;
  if (!self.is_complex()) {
    reduce_in_order(self, mask, out, Repeats::Count, [&](const Tensor& in, const Tensor& target) {
      var_stub(in.device().type(), target, in, mask, subtracted, take_sqrt);
    });
    return;
  }
  const DeviceType device = self.device().type();
  // The squared distance of complex numbers is the sum of that of their parts.
  const Tensor imaginary(at::detail::empty(out.sizes(), out.options()));
  var_stub(device, out, part_of_complex(self, 0), mask, subtracted, false);
  var_stub(device, imaginary, part_of_complex(self, 1), mask, subtracted, false);
  Tensor result(out);
  result.add_(imaginary);
  if (take_sqrt) result.sqrt_();
}

void norm_into(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
               const Tensor& out) {
  const DimMask mask = reduction_mask("norm", dim, self.dim());
  const double power = p.has_value() ? p->toDouble() : 2.0;
  if (has_single_elements(out, self) && power != 0) {
    Tensor result(out);
    at::abs_out(result, single_elements(self, mask, out));
    return;
  }
  reduce_in_order(self, mask, out, Repeats::Count, [&](const Tensor& in, const Tensor& target) {
    norm_stub(in.device().type(), target, in, mask, power);
  });
}

// The dimension along which elements are neighbours, or -1.
int64_t innermost(const Tensor& t) {
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (t.size(d) > 1 && t.stride(d) == 1) return d;
  }
  return -1;
}

// Whether running results along `dim` would take the input's elements one here and one there, as
// they are neighbours neither along it nor where the results are. Those of a row that are pages
// apart where the results are neighbours are no better.
bool is_scattered(const Tensor& input, int64_t dim, const Tensor& out) {
  constexpr int64_t kFew = 16, kApart = 16384;
  const int64_t from = innermost(input), to = innermost(out);
  if (from < 0 || to < 0 || from == to || dim == to) return false;
  if (input.size(from) < kFew || input.size(to) < kFew) return false;
  return dim != from || std::abs(input.stride(to)) * input.itemsize() >= kApart;
}

template <typename Stub>
void cumulative_into(const Stub& stub, const char* op, const Tensor& self, int64_t dim,
                     const Tensor& out) {
  dim = c10::wrap_dim(op, dim, self.dim());
  const DeviceType device = self.device().type();
  const ScalarType dtype = out.scalar_type();
  const Tensor input = self.scalar_type() == dtype ? self : self.to(dtype);
  if (input.dim() > 0 && input.sizes()[dim] == 1) {
    Tensor(out).copy_(input);
    return;
  }
  if (c10::isIntegralType(dtype, /*includeBool=*/false) && dtype != kLong) {
    // Narrow integers wrap around, so the int64 result can be cut to size.
    const Tensor wide = input.to(kLong);
    stub(device, wide, wide, dim);
    Tensor(out).copy_(wide);
    return;
  }
  if (is_scattered(input, dim, out)) {
    Tensor(out).copy_(input);
    stub(device, out, out, dim);
    return;
  }
  stub(device, out, input, dim);
}

}  // namespace

OPLOOM_IMPL_FUNC(var_out)
(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool,
 const Tensor& out) {
  in_real_dtype_of(self, out, [&](const Tensor& target) {
    var_into("var", self, dim, correction, false, target);
  });
}
OPLOOM_IMPL_FUNC(std_out)
(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool,
 const Tensor& out) {
  in_real_dtype_of(self, out, [&](const Tensor& target) {
    var_into("std", self, dim, correction, true, target);
  });
}

Tensor var(const Tensor& self, bool unbiased) {
  return at::var(self, OptionalIntArrayRef(), std::optional<Scalar>(unbiased ? 1 : 0), false);
}
Tensor var(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::var(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
}
Tensor std(const Tensor& self, bool unbiased) {
  return at::std(self, OptionalIntArrayRef(), std::optional<Scalar>(unbiased ? 1 : 0), false);
}
Tensor std(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::std(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
}

OPLOOM_IMPL_FUNC(norm_out)
(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool, const Tensor& out) {
  in_real_dtype_of(self, out, [&](const Tensor& target) { norm_into(self, p, dim, target); });
}
OPLOOM_IMPL_FUNC(norm_dtype_out)
(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool, ScalarType dtype,
 const Tensor& out) {
  norm_into(self.scalar_type() == dtype ? self : self.to(dtype), p, dim, out);
}

Tensor norm(const Tensor& self, const Scalar& p) {
  return at::norm(self, std::optional<Scalar>(p), IntArrayRef(), false);
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, ScalarType dtype) {
  return at::norm(self, p, IntArrayRef(), false, dtype);
}

namespace {

// self as [outer, reduced, inner], contiguous: where the reduced dimensions are not neighbours, or
// it is not contiguous, they come behind the others.
Tensor with_reduced_inside(const Tensor& self, DimMask mask) {
  DimVector sizes, strides, reduced_sizes, reduced_strides;
  int64_t outer = 1, reduced = 1, inner = 1;
  bool neighbours = true;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t size = self.sizes()[d];
    const bool is_reduced = ((mask >> d) & 1) != 0;
    (is_reduced ? reduced_sizes : sizes).push_back(size);
    (is_reduced ? reduced_strides : strides).push_back(self.strides()[d]);
    if (!is_reduced) {
      (reduced_sizes.empty() ? outer : inner) *= size;
    } else {
      neighbours = neighbours && inner == 1;
      reduced *= size;
    }
  }
  if (neighbours && self.is_contiguous()) return contiguous_alias(self, {outer, reduced, inner});
  sizes.append(reduced_sizes.begin(), reduced_sizes.end());
  strides.append(reduced_strides.begin(), reduced_strides.end());
  const Tensor moved = make_alias(self, sizes, strides).contiguous();
  return contiguous_alias(moved, {outer * inner, reduced, 1});
}

}  // namespace

Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  const DimMask mask = reduction_mask("logsumexp", dim, self.dim());
  if (c10::isIntegralType(self.scalar_type(), /*includeBool=*/true)) {
    return at::logsumexp(self.to(c10::get_default_dtype()), dim, keepdim);
  }
  OPLOOM_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "logsumexp(): expected a real dtype, got ",
                               self.scalar_type());
  const Tensor result(at::detail::empty(reduced_shape(self, mask, keepdim), self.options()));
  if (self.is_meta()) return result;
  if (self.numel() == 0) return result.fill_(-std::numeric_limits<double>::infinity());
  if (has_single_elements(result, self)) return result.copy_(single_elements(self, mask, result));
  const Tensor blocks = with_reduced_inside(self, mask);
  std::atomic<bool> odd = false;
  OPLOOM_DISPATCH(self.scalar_type(), "logsumexp", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using Wide = c10::opmath_type<scalar_t>;
    const Tensor places(at::detail::empty(
        {2, result.numel()}, self.options().dtype(c10::toOpMathType(self.scalar_type()))));
    auto* maxima = places.mutable_data_ptr<Wide>();
    auto* log_sums = maxima + result.numel();
    // 16-bit results are rounded together.
    constexpr bool kSame = std::is_same_v<scalar_t, Wide>;
    auto* out = kSame ? result.mutable_data_ptr<Wide>() : log_sums;
    log_sums_stub(self.device().type(), blocks, 1, maxima, log_sums,
                  [=, &odd](int64_t first, int64_t count) {
                    bool any_nan = false;
                    for (int64_t i = first; i < first + count; ++i) {
                      any_nan = any_nan || std::isnan(log_sums[i]);
                      out[i] = maxima[i] + log_sums[i];
                    }
                    if (any_nan) odd = true;
                  });
    if (!kSame) result.copy_(places.select(0, 1).view(result.sizes()));
  });
  // Where there was infinity, or NaN, the result is that.
  if (odd) return at::where(result.isnan(), at::amax(self, dim, keepdim), result);
  return result;
}

OPLOOM_IMPL_FUNC(cumsum_out)
(const Tensor& self, int64_t dim, std::optional<ScalarType>, const Tensor& out) {
  cumulative_into(cumsum_stub, "cumsum", self, dim, out);
}
OPLOOM_IMPL_FUNC(cumprod_out)
(const Tensor& self, int64_t dim, std::optional<ScalarType>, const Tensor& out) {
  cumulative_into(cumprod_stub, "cumprod", self, dim, out);
}

// With x the input and g the incoming gradient, element k of the gradient is
//   sum over i >= k of g[i] * (product of x[j] over j <= i, j != k).
Tensor cumprod_backward(const Tensor& grad, const Tensor& input, int64_t dim,
                        const Tensor& output) {
  if (input.dim() == 0 || input.numel() <= 1) return grad;
  dim = c10::wrap_dim("cumprod", dim, input.dim());
  const int64_t n = input.size(dim);
  if (n == 1) return grad;
  const Tensor x = input.conj();
  if (input.is_meta() || at::ne(input, 0).all().item().toBool()) {
    // Without zeros each product is output[i] / x[k].
    return (grad * output.conj()).flip({dim}).cumsum(dim).flip({dim}) / x;
  }
  // Otherwise it is the product before k times that after k, and the sums over the latter obey
  //   s[k] = g[k] + x[k + 1] * s[k + 1].
  const Tensor before =
      at::cat({at::ones_like(x.narrow(dim, 0, 1)), x.narrow(dim, 0, n - 1).cumprod(dim)}, dim);
  std::vector<Tensor> sums(static_cast<size_t>(n));
  sums[n - 1] = grad.select(dim, n - 1);
  for (int64_t k = n - 2; k >= 0; --k) {
    sums[k] = grad.select(dim, k) + x.select(dim, k + 1) * sums[k + 1];
  }
  return before * at::stack(sums, dim);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/ReduceOps.h>
