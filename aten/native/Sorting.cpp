// sort, argsort, topk.
#include <aten/core/Empty.h>
#include <aten/native/ShapeUtils.h>
#include <aten/native/SortingLoops.h>
#include <aten/stubs/ReduceOps.h>
#include <generated/native/argsort.h>
#include <generated/native/sort.h>
#include <generated/native/topk.h>
#include <generated/ops/arange.h>
#include <generated/ops/copy.h>
#include <generated/ops/detach.h>
#include <generated/ops/sort.h>
#include <generated/ops/zero.h>

#include <tuple>

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(sort, stable)
(const Tensor& self, std::optional<bool>, int64_t dim, bool) {
  c10::wrap_dim("sort", dim, self.dim());
  set_output_contiguous(0, self.sizes(), self.options());
  set_output_contiguous(1, self.sizes(), self.options().dtype(kLong));
}

OPLOOM_META_FUNC(topk)(const Tensor& self, int64_t k, int64_t dim, bool, bool) {
  dim = c10::wrap_dim("topk", dim, self.dim());
  const int64_t length = self.dim() == 0 ? 1 : self.sizes()[dim];
  OPLOOM_CHECK(k >= 0 && k <= length, "topk(): expected k in [0, ", length, "] for dimension ", dim,
               " of input of shape ", self.sizes(), ", got ", k);
  DimVector shape(self.sizes());
  if (!shape.empty()) shape[dim] = k;
  set_output_contiguous(0, shape, self.options());
  set_output_contiguous(1, shape, self.options().dtype(kLong));
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

namespace {

// The only element of a 0-dim tensor is in order.
void copy_scalar(const Tensor& self, const Tensor& values, const Tensor& indices) {
  Tensor(values).copy_(self);
  Tensor(indices).zero_();
}

}  // namespace

OPLOOM_IMPL_FUNC(sort_stable_out)
(const Tensor& self, std::optional<bool>, int64_t dim, bool descending, const Tensor& values,
 const Tensor& indices) {
  if (self.dim() == 0) return copy_scalar(self, values, indices);
  dim = c10::wrap_dim("sort", dim, self.dim());
  const int64_t n = self.sizes()[dim];
  if (OPLOOM_UNLIKELY((self.strides()[dim] == 0 || n == 1) && !self.is_complex())) {
    // Of one element all are in order.
    Tensor(values).copy_(self);
    DimVector sizes(static_cast<size_t>(self.dim() - dim), 1);
    sizes[0] = n;
    Tensor(indices).copy_(contiguous_alias(at::arange(n, indices.options()), sizes));
    return;
  }
  sort_loops(values, indices, self, dim, descending);
}

OPLOOM_IMPL_FUNC(topk_out)
(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted, const Tensor& values,
 const Tensor& indices) {
  // Which has no dimension that could be 0 long: the field gives the element, whatever k is.
  if (self.dim() == 0) return copy_scalar(self, values, indices);
  dim = c10::wrap_dim("topk", dim, self.dim());
  // NaN is the largest number in both, and not the smallest here.
  if (k == 1 && self.numel() > 0 && (largest || !self.is_floating_point())) {
    if (largest) return argmax_stub(self.device().type(), values, indices, self, dim);
    return argmin_stub(self.device().type(), values, indices, self, dim);
  }
  topk_loops(values, indices, self, k, dim, largest, sorted);
}

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) {
  return at::sort(self, /*stable=*/std::optional<bool>(false), dim, descending);
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, std::optional<bool>(false), dim, descending));
}

Tensor argsort(const Tensor& self, bool stable, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, std::optional<bool>(stable), dim, descending));
}
Tensor& argsort_out(const Tensor& self, bool stable, int64_t dim, bool descending, Tensor& out) {
  // The values, which have a gradient, are left here.
  const Tensor input = self.detach();
  Tensor values(at::detail::empty({0}, input.options()));
  at::sort_out(values, out, input, std::optional<bool>(stable), dim, descending);
  return out;
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/Sorting.h>
