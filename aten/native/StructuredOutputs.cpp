// Outputs of structured operators: allocation, checks, temporaries.
#include <aten/core/Empty.h>
#include <aten/native/StructuredOutputs.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <generated/ops/copy.h>

namespace at::inline oploom_v1::native {

namespace {

void check_dtype_and_device(const char* name, const Tensor& out, const TensorOptions& options,
                            bool check_dtype) {
  if (check_dtype) {
    OPLOOM_CHECK(out.scalar_type() == options.dtype(), name, "(): expected an output of dtype ",
                 options.dtype(), ", got ", out.scalar_type());
  }
  OPLOOM_CHECK(out.device() == options.device(), name, "(): expected an output on device ",
               options.device(), ", got one on ", out.device());
}

// Whether the strides matter where they differ: those of dimensions of size 1 do not, nor does any
// for an empty tensor.
bool has_strides(const Tensor& tensor, IntArrayRef strides) {
  if (tensor.numel() == 0) return true;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.sizes()[d] != 1 && tensor.strides()[d] != strides[d]) return false;
  }
  return true;
}

Tensor temporary_for(const Tensor& out, IntArrayRef sizes, IntArrayRef strides,
                     const TensorOptions& options, bool exact) {
  if (!exact || strides.empty() || has_strides(out, strides)) return {};
  return detail::empty_strided(sizes, strides, options);
}

void check_castable(const char* name, const Tensor& out, const Tensor& result) {
  OPLOOM_CHECK(c10::canCast(result.scalar_type(), out.scalar_type()), name,
               "(): the result has dtype ", result.scalar_type(),
               ", which cannot be cast to the output's dtype ", out.scalar_type());
}

}  // namespace

Tensor make_output(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return strides.empty() ? detail::empty(sizes, options)
                         : detail::empty_strided(sizes, strides, options);
}

Tensor fit_output(const char* name, const Tensor& out, IntArrayRef sizes, IntArrayRef strides,
                  const TensorOptions& options, bool check_dtype, bool exact) {
  check_dtype_and_device(name, out, options, check_dtype);
  detail::resize_output(out, sizes, strides);
  return temporary_for(out, sizes, strides, options, exact);
}

Tensor fit_self(const char* name, const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                const TensorOptions& options, bool check_dtype, bool exact) {
  check_dtype_and_device(name, self, options, check_dtype);
  OPLOOM_CHECK(self.sizes() == sizes, name, "(): the result has shape ", sizes,
               ", but self, which is to hold it, has shape ", self.sizes());
  return temporary_for(self, sizes, strides, options, exact);
}

void copy_back(const Tensor& out, const Tensor& temporary) { out.copy_(temporary); }

Tensor& assign_inplace(Tensor& self, const Tensor& result, const char* name) {
  OPLOOM_CHECK(self.sizes() == result.sizes(), name, "(): the result has shape ", result.sizes(),
               ", but self, which is to hold it, has shape ", self.sizes());
  check_castable(name, self, result);
  return self.copy_(result);
}

Tensor& assign_out(Tensor& out, const Tensor& result, const char* name) {
  OPLOOM_CHECK(out.device() == result.device(), name, "(): expected an output on device ",
               result.device(), ", got one on ", out.device());
  check_castable(name, out, result);
  detail::resize_output(out, result.sizes(), {});
  return out.copy_(result);
}

}  // namespace at::inline oploom_v1::native
