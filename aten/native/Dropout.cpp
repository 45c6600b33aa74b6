// dropout.
#include <aten/native/ShapeUtils.h>
#include <generated/native/dropout.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/bernoulli.h>
#include <generated/ops/div.h>
#include <generated/ops/empty_like.h>
#include <generated/ops/mul.h>
#include <generated/ops/zeros_like.h>

namespace at::inline oploom_v1::native {

namespace {

void check_probability(double p) {
  OPLOOM_CHECK_VALUE(p >= 0 && p <= 1, "dropout(): expected p in [0, 1], got ", p);
}

// What each element is multiplied by: 0, or the factor that keeps the mean.
Tensor make_noise(const Tensor& input, double p) {
  if (p == 1) return at::zeros_like(input);
  Tensor noise = at::empty_like(input);
  noise.bernoulli_(1 - p);
  noise.div_(1 - p);
  return noise;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  check_probability(p);
  if (!train || p == 0 || input.numel() == 0) return input;
  return input * make_noise(input, p);
}

Tensor& dropout_(Tensor& self, double p, bool train) {
  check_probability(p);
  if (!train || p == 0 || self.numel() == 0) return self;
  return self.mul_(make_noise(self, p));
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/Dropout.h>
