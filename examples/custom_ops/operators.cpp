// What operators.yaml leaves to be written: shape functions (mathx::meta) and bodies
// (mathx::native).
#include <aten/Base.h>
#include <generated/ops/mean.h>
#include <generated/ops/rsqrt.h>
#include <generated/ops/square.h>
#include <mathx/native/lambert_w.h>
#include <mathx/native/rms_norm.h>

#include "lambert_w.h"

namespace mathx::meta {

// The result has the shape of the argument; integers become floating point.
OPLOOM_META_FUNC(lambert_w)(const Tensor& self) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(!self.is_complex(),
                               "lambert_w(): complex tensors are not supported");
  build_borrowing_unary_float_op(maybe_get_output(), self);
}

}  // namespace mathx::meta

namespace mathx::native {

OPLOOM_IMPL_FUNC(lambert_w_out)(const Tensor&, const Tensor&) {
  lambert_w_stub(device_type(), *this);
}

Tensor rms_norm(const Tensor& self, int64_t dim, double eps) {
  return self * (self.square().mean({dim}, /*keepdim=*/true) + eps).rsqrt();
}

}  // namespace mathx::native

// Last: compares what stands above with the schemas.
#include <mathx/native/signatures/mathx.h>
