// Copies between devices, fills and single numbers: the operators beside expressions that exist for
// CUDA.
#include <aten/ATen.h>
#include <aten/core/Library.h>
#include <aten/cuda/Convert.h>
#include <aten/iterator/TensorIterator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferSize.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

namespace at::inline oploom_v1::cuda {

namespace {

// The bytes of a dense tensor into one of the same sizes, strides and dtype.
void copy_bytes(const Tensor& to, const Tensor& from) {
  OPLOOM_CUDA_CHECK(cudaMemcpyAsync(to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes(),
                                    cudaMemcpyDefault, c10::cuda::current_stream()));
}

// On one device, whatever the strides and dtypes.
void copy_on_device(const Tensor& self, const Tensor& src) {
  const c10::DeviceGuard guard(self.device());
  auto iter = TensorIteratorConfig()
                  .set_name("copy_")
                  .add_output(self)
                  .add_const_input(src)
                  .resize_outputs(false)
                  .check_all_same_dtype(false)
                  .build();
  const bool same_bytes = self.scalar_type() == src.scalar_type() &&
                          self.strides() == src.strides() && self.sizes() == src.sizes() &&
                          self.is_non_overlapping_and_dense();
  if (same_bytes) return copy_bytes(self, src);
  convert_elements(problem_of(iter), self.scalar_type(), src.scalar_type());
}

// A copy is queued where its source is; what is queued on another GPU's memory comes first.
void wait_for(const Tensor& tensor) {
  if (!tensor.is_cuda()) return;
  const c10::DeviceGuard guard(tensor.device());
  c10::cuda::synchronize();
}

// `dense` has its memory in one piece, in the order of its dimensions.
void copy_dense_between_devices(const Tensor& self, const Tensor& dense) {
  if (self.is_contiguous() && self.scalar_type() == dense.scalar_type()) {
    if (dense.is_cuda()) wait_for(self);
    copy_bytes(self, dense);
    return;
  }
  const Tensor there = at::empty(dense.sizes(), dense.options().device(self.device()));
  if (dense.is_cuda()) wait_for(there);
  copy_bytes(there, dense);
  // What reads it may be on the CPU, and the memory is given back when this returns.
  c10::cuda::synchronize();
  Tensor target = self;
  target.copy_(there);
}

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  OPLOOM_CHECK(self.defined() && src.defined(), "copy_(): expected tensors, got an undefined one");
  if (self.is_same(src)) return self;
  if (self.sizes() != src.sizes()) {
    c10::inferExpandGeometry(src.sizes(), src.strides(), self.sizes(), "copy_");
  }
  if (self.is_meta() || self.numel() == 0) return self;
  const auto known = [](Device device) { return device.is_cpu() || device.is_cuda(); };
  OPLOOM_CHECK_NOT_IMPLEMENTED(known(self.device()) && known(src.device()),
                               "copy_(): copying from ", src.device(), " to ", self.device(),
                               " is not supported");
  if (self.device() == src.device()) {
    copy_on_device(self, src);
    return self;
  }
  // Conversion is done where the data comes from, unless that makes more of it.
  const c10::DeviceGuard guard(src.is_cuda() ? src.device() : self.device());
  const bool narrows = self.itemsize() < src.itemsize();
  const Tensor converted = narrows ? src.to(self.scalar_type()) : src;
  copy_dense_between_devices(self, converted.contiguous().expand(self.sizes()).contiguous());
  // Memory of the CPU may be read or changed as soon as the call returns.
  if (!non_blocking || self.is_cpu()) c10::cuda::synchronize();
  return self;
}

Tensor& fill_(Tensor& self, const Scalar& value) {
  if (self.numel() == 0) return self;
  const c10::DeviceGuard guard(self.device());
  const auto iter = TensorIterator::borrowing_nullary_op(self);
  ElementwiseProblem problem = problem_of(iter);
  problem.operands = 2;
  const Tensor number = at::scalar_tensor(value, TensorOptions(value.type()));
  problem.values[1] = convert_number(number.const_data_ptr(), value.type(), value.type());
  // A number that the dtype cannot hold is refused as on the CPU.
  at::scalar_tensor(value, TensorOptions(self.scalar_type()));
  convert_elements(problem, self.scalar_type(), value.type());
  return self;
}
Tensor& fill_from_tensor_(Tensor& self, const Tensor& value) {
  OPLOOM_CHECK(value.dim() == 0, "fill_(): expected a 0-d tensor as value, got shape ",
               value.sizes());
  return self.copy_(value);
}
Tensor& zero_(Tensor& self) { return cuda::fill_(self, Scalar(0)); }

Scalar local_scalar_dense(const Tensor& self) {
  OPLOOM_CHECK(self.numel() == 1, "item(): expected a tensor with one element, got shape ",
               self.sizes());
  return self.to(Device(kCPU)).item();
}

OPLOOM_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("copy_", OPLOOM_FN(copy_));
  m.impl("fill_.Scalar", OPLOOM_FN(fill_));
  m.impl("fill_.Tensor", OPLOOM_FN(fill_from_tensor_));
  m.impl("zero_", OPLOOM_FN(zero_));
  m.impl("_local_scalar_dense", OPLOOM_FN(local_scalar_dense));
}

}  // namespace

}  // namespace at::inline oploom_v1::cuda
