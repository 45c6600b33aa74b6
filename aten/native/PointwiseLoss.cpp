// Losses of one element and its target: expression operators, whose results are weighted and
// reduced here.
#include <aten/core/Parallel.h>
#include <aten/iterator/TypeProperties.h>
#include <aten/native/LossUtils.h>
#include <generated/native/binary_cross_entropy.h>
#include <generated/native/binary_cross_entropy_with_logits.h>
#include <generated/native/huber_loss.h>
#include <generated/native/kl_div.h>
#include <generated/native/l1_loss.h>
#include <generated/native/mse_loss.h>
#include <generated/native/smooth_l1_loss.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/_binary_cross_entropy.h>
#include <generated/ops/_binary_cross_entropy_with_logits.h>
#include <generated/ops/_huber_loss.h>
#include <generated/ops/_kl_div.h>
#include <generated/ops/_kl_div_log_target.h>
#include <generated/ops/_l1_loss.h>
#include <generated/ops/_mse_loss.h>
#include <generated/ops/_smooth_l1_loss.h>
#include <generated/ops/abs.h>
#include <generated/ops/to.h>

#include <optional>

namespace at::inline oploom_v1::native {

namespace {

Tensor weighted(const Tensor& losses, const std::optional<Tensor>& weight, int64_t reduction) {
  return apply_reduction(is_given(weight) ? losses * *weight : losses, reduction);
}

}  // namespace

Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  check_reduction("l1_loss", reduction);
  // Of complex numbers the loss is real, which no expression is.
  const bool complex = self.is_complex() || target.is_complex();
  return apply_reduction(complex ? at::abs(self - target) : at::_l1_loss(self, target), reduction);
}

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  check_reduction("mse_loss", reduction);
  // `-` does not take flags, and the second derivative subtracts tensors as they are.
  const auto number = [&](const Tensor& t) {
    return t.scalar_type() == kBool ? t.to(result_type(self, target)) : t;
  };
  return apply_reduction(at::_mse_loss(number(self), number(target)), reduction);
}

Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  check_reduction("smooth_l1_loss", reduction);
  return apply_reduction(at::_smooth_l1_loss(self, target, beta), reduction);
}

Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  check_reduction("huber_loss", reduction);
  return apply_reduction(at::_huber_loss(self, target, delta), reduction);
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target,
                            const std::optional<Tensor>& weight, int64_t reduction) {
  check_reduction("binary_cross_entropy", reduction);
  return weighted(at::_binary_cross_entropy(self, target), weight, reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const std::optional<Tensor>& weight,
                                        const std::optional<Tensor>& pos_weight,
                                        int64_t reduction) {
  check_reduction("binary_cross_entropy_with_logits", reduction);
  const Tensor losses = is_given(pos_weight)
                            ? at::_binary_cross_entropy_with_logits(self, target, *pos_weight)
                            : at::_binary_cross_entropy_with_logits(self, target);
  return weighted(losses, weight, reduction);
}

Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  check_reduction("kl_div", reduction);
  const Tensor losses =
      log_target ? at::_kl_div_log_target(self, target) : at::_kl_div(self, target);
  return apply_reduction(losses, reduction);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/PointwiseLoss.h>
