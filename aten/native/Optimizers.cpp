// Optimizers' steps for lists of parameters.
#include <aten/iterator/MemoryOverlap.h>
#include <aten/stubs/Optimizers.h>
#include <generated/native/_fused_adam.h>
#include <generated/native/_fused_adamw.h>
#include <generated/native/_fused_sgd.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/add.h>
#include <generated/ops/addcdiv.h>
#include <generated/ops/addcmul.h>
#include <generated/ops/copy.h>
#include <generated/ops/div.h>
#include <generated/ops/item.h>
#include <generated/ops/lerp.h>
#include <generated/ops/maximum.h>
#include <generated/ops/mul.h>
#include <generated/ops/neg.h>
#include <generated/ops/sqrt.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace at::inline oploom_v1::native {

namespace {

struct NamedList {
  const char* name;
  TensorList tensors;
  bool written = true;
};

void check_one_number(const std::string& prefix, const char* name, const Tensor& tensor) {
  OPLOOM_CHECK(tensor.numel() == 1, prefix, "expected ", name,
               " to hold one number, got a tensor of shape ", tensor.sizes());
}

// What belongs to a parameter has its shape, dtype and device, and no memory in common with it or
// each other; elements of what is written are apart.
void check_lists(const std::string& prefix, TensorList params, ArrayRef<NamedList> others) {
  for (const NamedList& list : others) {
    OPLOOM_CHECK(list.tensors.size() == params.size(), prefix, "expected ", list.name,
                 " to hold a tensor for each of the ", params.size(), " in self, got ",
                 list.tensors.size());
  }
  for (size_t i = 0; i < params.size(); ++i) {
    const Tensor& param = params[i];
    OPLOOM_CHECK_NOT_IMPLEMENTED(param.is_floating_point(), prefix,
                                 "expected tensors of a floating-point dtype, got ",
                                 param.scalar_type(), " for self[", i, "]");
    assert_no_internal_overlap(param, prefix);
    for (size_t k = 0; k < others.size(); ++k) {
      const Tensor& tensor = others[k].tensors[i];
      OPLOOM_CHECK(tensor.sizes() == param.sizes() && tensor.scalar_type() == param.scalar_type() &&
                       tensor.device() == param.device(),
                   prefix, "expected ", others[k].name, "[", i, "] to have the shape ",
                   param.sizes(), ", dtype ", param.scalar_type(), " and device ", param.device(),
                   " of self[", i, "], got ", tensor.sizes(), ", ", tensor.scalar_type(), " and ",
                   tensor.device());
      if (others[k].written) assert_no_internal_overlap(tensor, prefix);
      assert_no_overlap(tensor, param, prefix);
      for (size_t j = 0; j < k; ++j) {
        assert_no_overlap(tensor, others[j].tensors[i], prefix);
      }
    }
  }
}

// Whether the tensors are blocks of memory without gaps, in the same order of elements.
bool is_dense_alike(const Tensor& param, std::initializer_list<const Tensor*> others) {
  if (!param.is_cpu() || !param.is_non_overlapping_and_dense()) return false;
  for (const Tensor* tensor : others) {
    if (tensor->strides() != param.strides()) return false;
  }
  return true;
}

// Divides gradients by a number that may be given.
struct GradScale {
  std::optional<Scalar> number;

  GradScale(const std::string& prefix, const std::optional<Tensor>& scale) {
    if (!scale.has_value()) return;
    check_one_number(prefix, "grad_scale", *scale);
    number = scale->item();
  }
  void apply(Tensor grad) const {
    if (number.has_value()) grad.div_(*number);
  }
};

// Whether a step is to be left out.
bool is_found(const std::string& prefix, const std::optional<Tensor>& found_inf) {
  if (!found_inf.has_value()) return false;
  check_one_number(prefix, "found_inf", *found_inf);
  return found_inf->item().toDouble() != 0;
}

// The same step, for tensors that the kernel does not take.
void adam_by_operators(Tensor param, const Tensor& grad, Tensor mean, Tensor square,
                       const Tensor* largest, const AdamStep& step) {
  Tensor gradient = step.sign < 0 ? grad.neg() : grad;
  if (step.decay != 0) gradient = gradient.add(param, step.decay);
  if (step.shrink != 1) param.mul_(step.shrink);
  mean.lerp_(gradient, 1 - step.beta1);
  square.mul_(step.beta2).addcmul_(gradient, gradient, 1 - step.beta2);
  if (largest) Tensor(*largest).copy_(at::maximum(*largest, square));
  Tensor root = (largest ? *largest : square).sqrt();
  root.div_(step.root_correction).add_(step.eps);
  param.addcdiv_(mean, root, -step.step_size);
}

void sgd_by_operators(Tensor param, const Tensor& grad, const Tensor* velocity,
                      const SgdStep& step) {
  Tensor way = step.sign < 0 ? grad.neg() : grad;
  if (step.decay != 0) way = way.add(param, step.decay);
  if (velocity) {
    Tensor speed = *velocity;
    step.first ? speed.copy_(way) : speed.mul_(step.momentum).add_(way, step.keep);
    way = step.nesterov ? way.add(speed, step.momentum) : speed;
  }
  param.add_(way, -step.lr);
}

struct AdamOptions {
  double lr, beta1, beta2, weight_decay, eps;
  bool decoupled, amsgrad, maximize;
};

void adam(const char* op, TensorList self, TensorList grads, TensorList exp_avgs,
          TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps,
          const AdamOptions& options, const std::optional<Tensor>& grad_scale,
          const std::optional<Tensor>& found_inf) {
  const std::string prefix = std::string(op) + "(): ";
  const std::array<NamedList, 4> lists = {{{"grads", grads, grad_scale.has_value()},
                                           {"exp_avgs", exp_avgs},
                                           {"exp_avg_sqs", exp_avg_sqs},
                                           {"max_exp_avg_sqs", max_exp_avg_sqs}}};
  // All that may fail comes before the first change.
  check_lists(prefix, self, ArrayRef<NamedList>(lists.data(), options.amsgrad ? 4 : 3));
  OPLOOM_CHECK(state_steps.size() == self.size(), prefix,
               "expected state_steps to hold a tensor for each of the ", self.size(),
               " in self, got ", state_steps.size());
  std::vector<double> steps;
  for (size_t i = 0; i < self.size(); ++i) {
    OPLOOM_CHECK(state_steps[i].numel() == 1, prefix, "expected state_steps[", i,
                 "] to hold one number, got a tensor of shape ", state_steps[i].sizes());
    steps.push_back(self[i].is_meta() ? 1 : state_steps[i].item().toDouble());
  }
  const GradScale scale(prefix, grad_scale);
  if (is_found(prefix, found_inf)) return;
  for (size_t i = 0; i < self.size(); ++i) {
    const Tensor& param = self[i];
    if (param.is_meta() || param.numel() == 0) continue;
    scale.apply(grads[i]);
    AdamStep step{};
    step.beta1 = options.beta1;
    step.beta2 = options.beta2;
    step.sign = options.maximize ? -1 : 1;
    step.decay = options.decoupled ? 0 : options.weight_decay;
    step.shrink = options.decoupled ? 1 - options.lr * options.weight_decay : 1;
    step.eps = options.eps;
    step.step_size = options.lr / (1 - std::pow(options.beta1, steps[i]));
    step.root_correction = std::sqrt(1 - std::pow(options.beta2, steps[i]));
    const Tensor* largest = options.amsgrad ? &max_exp_avg_sqs[i] : nullptr;
    if (is_dense_alike(param,
                       {&grads[i], &exp_avgs[i], &exp_avg_sqs[i], largest ? largest : &param})) {
      const AdamBuffers buffers{param.mutable_data_ptr(), exp_avgs[i].mutable_data_ptr(),
                                exp_avg_sqs[i].mutable_data_ptr(),
                                largest ? largest->mutable_data_ptr() : nullptr,
                                grads[i].const_data_ptr()};
      adam_stub(kCPU, param.scalar_type(), param.numel(), buffers, step);
    } else {
      adam_by_operators(param, grads[i], exp_avgs[i], exp_avg_sqs[i], largest, step);
    }
  }
}

}  // namespace

void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                  TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                  double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                  const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  adam("_fused_adam_", self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
       {lr, beta1, beta2, weight_decay, eps, /*decoupled=*/false, amsgrad, maximize}, grad_scale,
       found_inf);
}

void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                   TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                   double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                   const std::optional<Tensor>& grad_scale,
                   const std::optional<Tensor>& found_inf) {
  adam("_fused_adamw_", self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
       {lr, beta1, beta2, weight_decay, eps, /*decoupled=*/true, amsgrad, maximize}, grad_scale,
       found_inf);
}

void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list,
                 double weight_decay, double momentum, double lr, double dampening, bool nesterov,
                 bool maximize, bool is_first_step, const std::optional<Tensor>& grad_scale,
                 const std::optional<Tensor>& found_inf) {
  const std::string prefix = "_fused_sgd_(): ";
  const std::array<NamedList, 2> lists = {
      {{"grads", grads, grad_scale.has_value()}, {"momentum_buffer_list", momentum_buffer_list}}};
  check_lists(prefix, self, ArrayRef<NamedList>(lists.data(), momentum != 0 ? 2 : 1));
  const GradScale scale(prefix, grad_scale);
  if (is_found(prefix, found_inf)) return;
  const SgdStep step{maximize ? -1.0 : 1.0, weight_decay, momentum, 1 - dampening, lr, nesterov,
                     is_first_step};
  for (size_t i = 0; i < self.size(); ++i) {
    const Tensor& param = self[i];
    if (param.is_meta() || param.numel() == 0) continue;
    scale.apply(grads[i]);
    const Tensor* velocity = momentum != 0 ? &momentum_buffer_list[i] : nullptr;
    if (is_dense_alike(param, {&grads[i], velocity ? velocity : &param})) {
      const SgdBuffers buffers{param.mutable_data_ptr(),
                               velocity ? velocity->mutable_data_ptr() : nullptr,
                               grads[i].const_data_ptr()};
      sgd_stub(kCPU, param.scalar_type(), param.numel(), buffers, step);
    } else {
      sgd_by_operators(param, grads[i], velocity, step);
    }
  }
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/Optimizers.h>
