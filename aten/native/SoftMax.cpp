// softmax, log_softmax and their gradients.
#include <aten/core/Empty.h>
#include <aten/native/ShapeUtils.h>
#include <aten/native/StructuredOutputs.h>
#include <aten/stubs/SoftMax.h>
#include <generated/native/_log_softmax.h>
#include <generated/native/_log_softmax_backward_data.h>
#include <generated/native/_softmax.h>
#include <generated/native/_softmax_backward_data.h>
#include <generated/native/log_softmax.h>
#include <generated/native/softmax.h>
#include <generated/ops/_log_softmax.h>
#include <generated/ops/_softmax.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/to.h>

namespace at::inline oploom_v1::meta {

namespace {

void declare_softmax(impl::MetaBase& meta, const char* op, const Tensor& self, int64_t dim,
                     bool half_to_float) {
  c10::wrap_dim(op, dim, self.dim());
  OPLOOM_CHECK(!half_to_float, op, "(): half_to_float is not supported on the CPU");
  OPLOOM_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), op,
                               "(): expected a floating-point dtype, got ", self.scalar_type(),
                               "; pass dtype to convert the input first");
  meta.set_output_contiguous(0, self.sizes(), self.options());
}

void declare_backward(impl::MetaBase& meta, const char* op, const Tensor& grad,
                      const Tensor& output, int64_t dim, ScalarType input_dtype) {
  c10::wrap_dim(op, dim, grad.dim());
  OPLOOM_CHECK(grad.sizes() == output.sizes() && grad.scalar_type() == output.scalar_type(), op,
               "(): expected grad_output and output of one shape and dtype, got ", grad.sizes(),
               " ", grad.scalar_type(), " and ", output.sizes(), " ", output.scalar_type());
  OPLOOM_CHECK(input_dtype == grad.scalar_type(), op, "(): expected input_dtype ",
               grad.scalar_type(), ", that of grad_output, got ", input_dtype);
  meta.set_output_contiguous(0, grad.sizes(), grad.options());
}

}  // namespace

OPLOOM_META_FUNC(_softmax)(const Tensor& self, int64_t dim, bool half_to_float) {
  declare_softmax(*this, "softmax", self, dim, half_to_float);
}
OPLOOM_META_FUNC(_log_softmax)(const Tensor& self, int64_t dim, bool half_to_float) {
  declare_softmax(*this, "log_softmax", self, dim, half_to_float);
}
OPLOOM_META_FUNC(_softmax_backward_data)
(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  declare_backward(*this, "_softmax_backward_data", grad_output, output, dim, input_dtype);
}
OPLOOM_META_FUNC(_log_softmax_backward_data)
(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  declare_backward(*this, "_log_softmax_backward_data", grad_output, output, dim, input_dtype);
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

namespace {

template <typename Stub>
void softmax_into(const Stub& stub, const Tensor& self, int64_t dim, const Tensor& out) {
  stub(self.device().type(), *at_least_1d(out), *at_least_1d(*expect_contiguous(self)),
       c10::wrap_dim("softmax", dim, self.dim()));
}

template <typename Stub>
void backward_into(const Stub& stub, const Tensor& grad_output, const Tensor& output, int64_t dim,
                   const Tensor& out) {
  stub(output.device().type(), *at_least_1d(out), *at_least_1d(*expect_contiguous(grad_output)),
       *at_least_1d(*expect_contiguous(output)), c10::wrap_dim("softmax", dim, output.dim()));
}

// The result in the dtype asked for, or that of the input, converted where the output has another.
template <typename Op>
Tensor& softmax_converted(const Op& op, const char* name, const Tensor& self, int64_t dim,
                          std::optional<ScalarType> dtype, Tensor& out) {
  const Tensor input = dtype.has_value() ? self.to(*dtype) : self;
  if (out.scalar_type() == input.scalar_type()) return op(input, dim, false, out);
  Tensor result(at::detail::empty({0}, input.options()));
  return assign_out(out, op(input, dim, false, result), name);
}

}  // namespace

OPLOOM_IMPL_FUNC(softmax_out)(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  softmax_into(softmax_stub, self, dim, out);
}
OPLOOM_IMPL_FUNC(log_softmax_out)(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  softmax_into(log_softmax_stub, self, dim, out);
}
OPLOOM_IMPL_FUNC(softmax_backward_out)
(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType, const Tensor& out) {
  backward_into(softmax_backward_stub, grad_output, output, dim, out);
}
OPLOOM_IMPL_FUNC(log_softmax_backward_out)
(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType, const Tensor& out) {
  backward_into(log_softmax_backward_stub, grad_output, output, dim, out);
}

Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return dtype.has_value() ? at::_softmax(self.to(*dtype), dim, false)
                           : at::_softmax(self, dim, false);
}

Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return dtype.has_value() ? at::_log_softmax(self.to(*dtype), dim, false)
                           : at::_log_softmax(self, dim, false);
}

Tensor& softmax_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  return softmax_converted(&at::_softmax_outf, "softmax", self, dim, dtype, out);
}

Tensor& log_softmax_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype,
                        Tensor& out) {
  return softmax_converted(&at::_log_softmax_outf, "log_softmax", self, dim, dtype, out);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/SoftMax.h>
