// Kernels of optimizers' steps.
#pragma once

#include <aten/core/Namespace.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace at::inline oploom_v1::native {

// One step of Adam (Kingma and Ba, https://arxiv.org/abs/1412.6980, algorithm 1) for n elements of
// one floating-point dtype:
//
//   g = sign * grad + decay * param             p = shrink * param
//   mean = mean + (1 - beta1) (g - mean)        square = beta2 * square + (1 - beta2) g^2
//   param = p - step_size * mean / (sqrt(square) / root_correction + eps)
//
// where `largest`, if there is one, holds the largest squares so far and takes square's place in
// the last line (AMSGrad).
struct AdamBuffers {
  void* param;
  void* mean;
  void* square;
  void* largest;  // or null
  const void* grad;
};
struct AdamStep {
  double beta1, beta2;
  double sign;    // -1 to climb
  double decay;   // of the gradient; 0 if there is none
  double shrink;  // 1 - lr * weight_decay where that is decoupled, else 1
  double eps;
  double step_size;        // lr / (1 - beta1^t)
  double root_correction;  // sqrt(1 - beta2^t)
};
using adam_fn = void (*)(ScalarType dtype, int64_t n, const AdamBuffers& buffers,
                         const AdamStep& step);
OPLOOM_DECLARE_DISPATCH(adam_fn, adam_stub);

// One step of gradient descent:
//
//   g = sign * grad + decay * param
//   velocity = momentum * velocity + keep * g, at first g
//   param = param - lr * step
//
// where the step is the velocity, g + momentum * velocity (Nesterov), or g if there is no velocity.
struct SgdBuffers {
  void* param;
  void* velocity;  // or null
  const void* grad;
};
struct SgdStep {
  double sign;   // -1 to climb
  double decay;  // 0 if there is none
  double momentum;
  double keep;
  double lr;
  bool nesterov;
  bool first;  // the velocity is only written
};
using sgd_fn = void (*)(ScalarType dtype, int64_t n, const SgdBuffers& buffers,
                        const SgdStep& step);
OPLOOM_DECLARE_DISPATCH(sgd_fn, sgd_stub);

}  // namespace at::inline oploom_v1::native
