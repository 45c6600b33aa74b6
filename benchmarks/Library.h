// The library under test. Every file of cases is compiled against oploom and, with
// OPLOOM_BENCHMARK_LIBTORCH, against libtorch: what differs between the two is in this file.
#pragma once

#ifdef OPLOOM_BENCHMARK_LIBTORCH
#include <torch/torch.h>
#include <torch/version.h>
#else
#include <aten/ATen.h>
#endif

#include <memory>
#include <vector>

namespace library {

#ifdef OPLOOM_BENCHMARK_LIBTORCH

constexpr const char* kVersion = TORCH_VERSION;
using torch::autograd::grad;

inline at::Tensor linear_relu(const at::Tensor& input, const at::Tensor& weight,
                              const at::Tensor& bias) {
  return at::relu(at::linear(input, weight, bias));
}

class Adam {
 public:
  explicit Adam(const std::vector<at::Tensor>& parameters)
      : parameters_(parameters), optimizer_(std::make_shared<torch::optim::Adam>(parameters)) {}
  void step(const std::vector<at::Tensor>& grads) {
    for (size_t i = 0; i < grads.size(); ++i) parameters_[i].mutable_grad() = grads[i];
    optimizer_->step();
  }

 private:
  std::vector<at::Tensor> parameters_;
  std::shared_ptr<torch::optim::Adam> optimizer_;
};

// Gradient descent with momentum.
class Sgd {
 public:
  Sgd(const std::vector<at::Tensor>& parameters, double lr, double momentum)
      : parameters_(parameters),
        optimizer_(std::make_shared<torch::optim::SGD>(
            parameters, torch::optim::SGDOptions(lr).momentum(momentum))) {}
  void step(const std::vector<at::Tensor>& grads) {
    for (size_t i = 0; i < grads.size(); ++i) parameters_[i].mutable_grad() = grads[i];
    optimizer_->step();
  }

 private:
  std::vector<at::Tensor> parameters_;
  std::shared_ptr<torch::optim::SGD> optimizer_;
};

#else

constexpr const char* kVersion = OPLOOM_VERSION;
using at::linear_relu;
using at::autograd::grad;

class Adam {
 public:
  explicit Adam(const std::vector<at::Tensor>& parameters) : parameters_(parameters) {
    for (const at::Tensor& parameter : parameters) {
      means_.push_back(at::zeros(parameter.sizes()));
      squares_.push_back(at::zeros(parameter.sizes()));
      steps_.push_back(at::zeros({}));
    }
  }
  void step(const std::vector<at::Tensor>& grads) {
    const at::NoGradGuard no_grad;
    for (at::Tensor& step : steps_) step.add_(1);
    at::_fused_adam_(parameters_, grads, means_, squares_, {}, steps_, /*lr=*/1e-3, /*beta1=*/0.9,
                     /*beta2=*/0.999, /*weight_decay=*/0, /*eps=*/1e-8, /*amsgrad=*/false,
                     /*maximize=*/false);
  }

 private:
  std::vector<at::Tensor> parameters_, means_, squares_, steps_;
};

class Sgd {
 public:
  Sgd(const std::vector<at::Tensor>& parameters, double lr, double momentum)
      : parameters_(parameters), lr_(lr), momentum_(momentum) {
    for (const at::Tensor& parameter : parameters) {
      velocity_.push_back(at::zeros(parameter.sizes()));
    }
  }
  void step(const std::vector<at::Tensor>& grads) {
    const at::NoGradGuard no_grad;
    at::_fused_sgd_(parameters_, grads, velocity_, /*weight_decay=*/0, momentum_, lr_,
                    /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false,
                    /*is_first_step=*/false);
  }

 private:
  std::vector<at::Tensor> parameters_, velocity_;
  double lr_, momentum_;
};

#endif

}  // namespace library
