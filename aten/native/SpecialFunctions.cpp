// Forms of special functions that are made of expression operators.
#include <generated/native/logit.h>
#include <generated/native/polygamma.h>
#include <generated/native/sinc.h>
#include <generated/native/special_round.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/_logit.h>
#include <generated/ops/_sinc.h>
#include <generated/ops/abs.h>
#include <generated/ops/copy.h>
#include <generated/ops/logical_not.h>
#include <generated/ops/lt.h>
#include <generated/ops/masked_fill.h>
#include <generated/ops/polygamma.h>
#include <generated/ops/round.h>
#include <generated/ops/sin.h>
#include <generated/ops/where.h>

#include <numbers>

namespace at::inline oploom_v1::native {

Tensor logit(const Tensor& self, std::optional<double> eps) {
  // A negative eps limits nothing.
  return at::_logit(self, eps.value_or(-1));
}

Tensor& polygamma_(Tensor& self, int64_t n) { return self.copy_(at::polygamma(n, self)); }

Tensor sinc(const Tensor& self) {
  if (!self.is_complex()) return at::_sinc(self);
  // The formula of _sinc, whose comparisons complex numbers have not. What is not taken is made
  // finite: its derivatives would be nan.
  const Tensor angle = self * std::numbers::pi;
  const Tensor near = self.abs() < 0.05;
  const Tensor square = (angle * angle).masked_fill(near.logical_not(), 0);
  const Tensor series =
      1 - square * (1. / 6 -
                    square * (1. / 120 -
                              square * (1. / 5040 - square * (1. / 362880 - square / 39916800))));
  const Tensor far = angle.masked_fill(near, 1);
  return at::where(near, series, far.sin() / far);
}

Tensor special_round(const Tensor& self, int64_t decimals) {
  return decimals == 0 ? at::round(self) : at::round(self, decimals);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/SpecialFunctions.h>
