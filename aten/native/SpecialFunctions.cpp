// Forms of special functions that are made of expression operators.
#include <generated/native/logit.h>
#include <generated/native/polygamma.h>
#include <generated/native/special_round.h>
#include <generated/ops/_logit.h>
#include <generated/ops/copy.h>
#include <generated/ops/polygamma.h>
#include <generated/ops/round.h>

namespace at::inline oploom_v1::native {

Tensor logit(const Tensor& self, std::optional<double> eps) {
  // A negative eps limits nothing.
  return at::_logit(self, eps.value_or(-1));
}

Tensor& polygamma_(Tensor& self, int64_t n) { return self.copy_(at::polygamma(n, self)); }

Tensor special_round(const Tensor& self, int64_t decimals) {
  return decimals == 0 ? at::round(self) : at::round(self, decimals);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/SpecialFunctions.h>
