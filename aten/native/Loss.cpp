// nll_loss for any number of dimensions, and its gradients.
#include <aten/core/Dispatch.h>
#include <aten/core/Reduction.h>
#include <aten/native/ClassTargets.h>
#include <generated/native/nll_loss.h>
#include <generated/native/nll_loss2d.h>
#include <generated/native/nll_loss2d_backward.h>
#include <generated/native/nll_loss2d_forward.h>
#include <generated/native/nll_loss_backward.h>
#include <generated/native/nll_loss_forward.h>
#include <generated/native/nll_loss_nd.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/nll_loss.h>
#include <generated/ops/nll_loss2d.h>
#include <generated/ops/nll_loss2d_forward.h>
#include <generated/ops/nll_loss_forward.h>
#include <generated/ops/reshape.h>
#include <generated/ops/zero.h>

namespace at::inline oploom_v1::meta {

namespace {

void declare_nll(impl::MetaBase& meta, const char* op, const Tensor& self, const Tensor& target,
                 const std::optional<Tensor>& weight, int64_t reduction) {
  native::check_class_targets(op, self, target, weight, reduction);
  // Without reduction there is a loss for each target; a single row gives a single loss.
  DimVector shape;
  if (reduction == Reduction::None) shape = native::target_shape(self);
  meta.set_output_contiguous(0, shape, self.options());
  meta.set_output_contiguous(1, {}, self.options());
}

void declare_nll_backward(impl::MetaBase& meta, const char* op, const Tensor& grad_output,
                          const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight, int64_t reduction,
                          const Tensor& total_weight) {
  native::check_class_targets(op, self, target, weight, reduction);
  DimVector shape;
  if (reduction == Reduction::None) shape = native::target_shape(self);
  OPLOOM_CHECK(grad_output.numel() == c10::checked_numel(shape) &&
                   (grad_output.sizes() == IntArrayRef(shape) || shape.empty()),
               op, "(): expected grad_output of shape ", shape, ", got ", grad_output.sizes());
  OPLOOM_CHECK(grad_output.scalar_type() == self.scalar_type(), op,
               "(): expected grad_output of the input's dtype ", self.scalar_type(), ", got ",
               grad_output.scalar_type());
  OPLOOM_CHECK(total_weight.numel() == 1, op,
               "(): expected total_weight of one element, got shape ", total_weight.sizes());
  meta.set_output_contiguous(0, self.sizes(), self.options());
}

void check_dims(const char* op, const Tensor& self, bool images) {
  OPLOOM_CHECK(images ? self.dim() == 4 : self.dim() == 1 || self.dim() == 2, op,
               images ? "(): expected input of shape [n, classes, h, w], got "
                      : "(): expected input of shape [classes] or [n, classes], got ",
               self.sizes());
}

}  // namespace

OPLOOM_META_FUNC(nll_loss_forward)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t) {
  check_dims("nll_loss", self, false);
  declare_nll(*this, "nll_loss", self, target, weight, reduction);
}
OPLOOM_META_FUNC(nll_loss2d_forward)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t) {
  check_dims("nll_loss2d", self, true);
  declare_nll(*this, "nll_loss2d", self, target, weight, reduction);
}
OPLOOM_META_FUNC(nll_loss_backward)
(const Tensor& grad_output, const Tensor& self, const Tensor& target,
 const std::optional<Tensor>& weight, int64_t reduction, int64_t, const Tensor& total_weight) {
  check_dims("nll_loss_backward", self, false);
  declare_nll_backward(*this, "nll_loss_backward", grad_output, self, target, weight, reduction,
                       total_weight);
}
OPLOOM_META_FUNC(nll_loss2d_backward)
(const Tensor& grad_output, const Tensor& self, const Tensor& target,
 const std::optional<Tensor>& weight, int64_t reduction, int64_t, const Tensor& total_weight) {
  check_dims("nll_loss2d_backward", self, true);
  declare_nll_backward(*this, "nll_loss2d_backward", grad_output, self, target, weight, reduction,
                       total_weight);
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

namespace {

ClassTargets targets_of(const char* op, const Tensor& self, const Tensor& target,
                        int64_t ignore_index) {
  int64_t places = 1;
  for (int64_t d = 2; d < self.dim(); ++d) places *= self.sizes()[d];
  return {op, target, self.sizes()[class_dim(self)], places, ignore_index};
}

void nll_forward(const char* op, const Tensor& self, const Tensor& target,
                 const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                 bool fresh, const Tensor& output, const Tensor& total_weight) {
  const Tensor input = self.contiguous();
  const Tensor weights = contiguous_weight(weight);
  const ClassTargets targets = targets_of(op, self, target, ignore_index);
  OPLOOM_DISPATCH(self.scalar_type(), op, (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using Wide = c10::opmath_type<scalar_t>;
    const auto* x = input.const_data_ptr<scalar_t>();
    const auto* w = weights.defined() ? weights.const_data_ptr<scalar_t>() : nullptr;
    if (reduction == Reduction::None) {
      auto* out = output.mutable_data_ptr<scalar_t>();
      if (!fresh) targets.check();
      set_for_each(
          targets,
          [&](int64_t i, int64_t class_number, int64_t offset) {
            const Wide scale = w == nullptr ? Wide(1) : static_cast<Wide>(w[class_number]);
            out[i] = static_cast<scalar_t>(-scale * static_cast<Wide>(x[offset]));
          },
          [&](int64_t i) { out[i] = scalar_t(0); });
      *total_weight.mutable_data_ptr<scalar_t>() = scalar_t(0);
      return;
    }
    const LossSums sums = sum_losses(
        targets, w, [x](int64_t, int64_t offset) { return -static_cast<double>(x[offset]); });
    // Without any target that counts, the mean is 0 / 0.
    *output.mutable_data_ptr<scalar_t>() =
        static_cast<scalar_t>(reduction == Reduction::Mean ? sums.loss / sums.weight : sums.loss);
    *total_weight.mutable_data_ptr<scalar_t>() = static_cast<scalar_t>(sums.weight);
  });
}

void nll_backward(const char* op, const Tensor& grad_output, const Tensor& self,
                  const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
                  int64_t ignore_index, const Tensor& total_weight, bool fresh,
                  const Tensor& grad_input) {
  const Tensor grad = grad_output.contiguous();
  const Tensor weights = contiguous_weight(weight);
  const ClassTargets targets = targets_of(op, self, target, ignore_index);
  if (!fresh) targets.check();
  Tensor(grad_input).zero_();
  OPLOOM_DISPATCH(self.scalar_type(), op, (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using Wide = c10::opmath_type<scalar_t>;
    const auto* g = grad.const_data_ptr<scalar_t>();
    const auto* w = weights.defined() ? weights.const_data_ptr<scalar_t>() : nullptr;
    auto* out = grad_input.mutable_data_ptr<scalar_t>();
    const Wide divisor = reduction == Reduction::Mean
                             ? static_cast<Wide>(*total_weight.const_data_ptr<scalar_t>())
                             : Wide(1);
    set_for_each(
        targets,
        [&](int64_t i, int64_t class_number, int64_t offset) {
          const Wide scale = w == nullptr ? Wide(1) : static_cast<Wide>(w[class_number]);
          const Wide incoming = static_cast<Wide>(g[reduction == Reduction::None ? i : 0]);
          out[offset] = static_cast<scalar_t>(-scale * incoming / divisor);
        },
        [](int64_t) {});
  });
}

}  // namespace

OPLOOM_IMPL_FUNC(nll_loss_forward_out)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t ignore_index, const Tensor& output, const Tensor& total_weight) {
  nll_forward("nll_loss", self, target, weight, reduction, ignore_index, has_fresh_outputs(),
              output, total_weight);
}
OPLOOM_IMPL_FUNC(nll_loss2d_forward_out)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t ignore_index, const Tensor& output, const Tensor& total_weight) {
  nll_forward("nll_loss2d", self, target, weight, reduction, ignore_index, has_fresh_outputs(),
              output, total_weight);
}
OPLOOM_IMPL_FUNC(nll_loss_backward_out)
(const Tensor& grad_output, const Tensor& self, const Tensor& target,
 const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
 const Tensor& total_weight, const Tensor& grad_input) {
  nll_backward("nll_loss_backward", grad_output, self, target, weight, reduction, ignore_index,
               total_weight, has_fresh_outputs(), grad_input);
}
OPLOOM_IMPL_FUNC(nll_loss2d_backward_out)
(const Tensor& grad_output, const Tensor& self, const Tensor& target,
 const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
 const Tensor& total_weight, const Tensor& grad_input) {
  nll_backward("nll_loss2d_backward", grad_output, self, target, weight, reduction, ignore_index,
               total_weight, has_fresh_outputs(), grad_input);
}

Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                int64_t reduction, int64_t ignore_index) {
  return std::get<0>(at::nll_loss_forward(self, target, weight, reduction, ignore_index));
}
Tensor nll_loss2d(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                  int64_t reduction, int64_t ignore_index) {
  return std::get<0>(at::nll_loss2d_forward(self, target, weight, reduction, ignore_index));
}

Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                   int64_t reduction, int64_t ignore_index) {
  OPLOOM_CHECK(self.dim() >= 1,
               "nll_loss(): expected input of at least one dimension, got a 0-dim tensor");
  if (self.dim() <= 2) return at::nll_loss(self, target, weight, reduction, ignore_index);
  if (self.dim() == 4) return at::nll_loss2d(self, target, weight, reduction, ignore_index);
  // Other shapes become images of one row.
  DimVector shape(self.sizes());
  shape.erase(shape.begin() + 1);
  OPLOOM_CHECK(target.sizes() == IntArrayRef(shape), "nll_loss(): expected target of shape ", shape,
               " for input of shape ", self.sizes(), ", got ", target.sizes());
  int64_t places = 1;
  for (int64_t d = 2; d < self.dim(); ++d) places *= self.sizes()[d];
  const int64_t n = self.sizes()[0];
  const Tensor loss =
      at::nll_loss2d(self.reshape({n, self.sizes()[1], 1, places}), target.reshape({n, 1, places}),
                     weight, reduction, ignore_index);
  return reduction == Reduction::None ? loss.reshape(shape) : loss;
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/Loss.h>
