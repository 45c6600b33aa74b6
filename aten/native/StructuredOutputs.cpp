// Outputs of structured operators: allocation, checks, temporaries.
#include <aten/core/Empty.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/StructuredOutputs.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <generated/ops/copy.h>

namespace at::inline oploom_v1::native {

namespace {

void check_dtype(const char* name, const Tensor& out, ScalarType wanted) {
  OPLOOM_CHECK(out.scalar_type() == wanted, name, "(): expected an output of dtype ", wanted,
               ", got ", out.scalar_type());
}

void check_output(const char* name, const Tensor& out, IntArrayRef sizes,
                  const TensorOptions& options, bool iterator) {
  OPLOOM_CHECK(out.defined(), name, "(): expected a tensor to write to, got an undefined one");
  if (!iterator) {
    if (out.sizes() == sizes) assert_no_internal_overlap(out);
    check_dtype(name, out, options.dtype());
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
                     const TensorOptions& options, Writes writes) {
  if (writes == Writes::InAnyStrides) return {};
  if (strides.empty() ? out.is_contiguous() : has_strides(out, strides)) return {};
  return make_output(sizes, strides, options);
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
                  const TensorOptions& options, bool iterator, Writes writes) {
  check_output(name, out, sizes, options, iterator);
  if (writes == Writes::Elsewhere) {
    if (out.sizes() != sizes) detail::check_resizable(out, sizes);
    return make_output(sizes, strides, options);
  }
  detail::resize_output(out, sizes, strides);
  return temporary_for(out, sizes, strides, options, writes);
}

Tensor fit_self(const char* name, const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                const TensorOptions& options, bool iterator, Writes writes) {
  check_output(name, self, sizes, options, iterator);
  OPLOOM_CHECK(self.sizes() == sizes, name, "(): the result has shape ", sizes,
               ", but self, which is to hold it, has shape ", self.sizes());
  if (writes == Writes::Elsewhere) return make_output(sizes, strides, options);
  return temporary_for(self, sizes, strides, options, writes);
}

bool is_read(const Tensor& out, const TensorBase& input) {
  if (!out.defined() || !input.defined() || !out.is_alias_of(input)) return false;
  assert_no_partial_overlap(out, input);
  return get_overlap_status(out, input) != MemOverlapStatus::No;
}

bool is_read(const Tensor& out, TensorList inputs) {
  bool read = false;
  for (const Tensor& input : inputs) read = is_read(out, input) || read;
  return read;
}

bool is_read(const Tensor& out, OptionalTensorList inputs) {
  bool read = false;
  for (const std::optional<Tensor>& input : inputs) read = is_read(out, input) || read;
  return read;
}

void copy_back(const Tensor& out, const Tensor& temporary) {
  detail::resize_output(out, temporary.sizes(), temporary.strides());
  out.copy_(temporary);
}

void DeviceCheck::operator()(const Tensor& tensor) {
  if (!tensor.defined()) return;
  if (!device_.has_value()) device_ = tensor.device();
  OPLOOM_CHECK(tensor.device() == *device_, name_,
               "(): expected all tensors to be on the same device, got ", *device_, " and ",
               tensor.device());
}

ShapeGuard::~ShapeGuard() {
  if (tensor_.defined()) tensor_.unsafeGetTensorImpl()->set_sizes_and_strides(sizes_, strides_);
}

Tensor& assign_inplace(Tensor& self, const Tensor& result, const char* name) {
  OPLOOM_CHECK(self.sizes() == result.sizes(), name, "(): the result has shape ", result.sizes(),
               ", but self, which is to hold it, has shape ", self.sizes());
  check_castable(name, self, result);
  return self.copy_(result);
}

namespace {

void check_assignable(const char* name, const Tensor& out, const Tensor& result) {
  OPLOOM_CHECK(out.device() == result.device(), name, "(): expected an output on device ",
               result.device(), ", got one on ", out.device());
  check_castable(name, out, result);
}

// Two outputs of one operator.
void check_apart(const char* name, const Tensor& a, const Tensor& b) {
  OPLOOM_CHECK(!a.defined() || !b.defined() || !share_memory(a, b), name,
               "(): expected outputs that share no memory; give each its own");
}

}  // namespace

Tensor& assign_out(Tensor& out, const Tensor& result, const char* name) {
  check_assignable(name, out, result);
  if (out.sizes() == result.sizes()) return out.copy_(result);
  ShapeGuard resized(out);
  detail::resize_output(out, result.sizes());
  out.copy_(result);
  resized.dismiss();
  return out;
}

void assign_outs(const char* name, ArrayRef<Tensor*> outs, ArrayRef<const Tensor*> results) {
  for (size_t i = 0; i < outs.size(); ++i) {
    check_dtype(name, *outs[i], results[i]->scalar_type());
    check_assignable(name, *outs[i], *results[i]);
    for (size_t j = 0; j < i; ++j) check_apart(name, *outs[i], *outs[j]);
  }
  // Each can hold its result before any is written.
  std::vector<ShapeGuard> resized;
  for (size_t i = 0; i < outs.size(); ++i) {
    if (outs[i]->sizes() == results[i]->sizes()) continue;
    resized.emplace_back(*outs[i]);
    detail::resize_output(*outs[i], results[i]->sizes());
  }
  for (size_t i = 0; i < outs.size(); ++i) outs[i]->copy_(*results[i]);
  for (ShapeGuard& guard : resized) guard.dismiss();
}

KeptOutputs::~KeptOutputs() = default;

void KeptOutputs::declare(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                          const TensorOptions& options, bool exactly) {
  Slot& slot = slots_[index];
  const Tensor& given = *slot.given;
  bool elsewhere = slot.elsewhere;
  // Mostly it is as it should be, and fit_ would find that out test by test.
  if (OPLOOM_LIKELY(index == 0 && !elsewhere && strides.empty() && given.defined() &&
                    given.is_contiguous() && given.sizes() == sizes &&
                    given.scalar_type() == options.dtype() && given.device() == options.device())) {
    return;
  }
  for (int64_t i = 0; i < index; ++i) check_apart(op_name(), *slots_[i].given, given);
  if (OPLOOM_UNLIKELY(given.defined() && given.sizes() != sizes)) {
    resized_.emplace_back(given);
    // A view may come to lie over an input as it grows.
    elsewhere = elsewhere || !given.storage().unique();
  }
  const Writes writes = exactly ? Writes::InTheseStrides : Writes::InAnyStrides;
  slot.temporary = fit_(op_name(), given, sizes, strides, options, iterator_,
                        elsewhere ? Writes::Elsewhere : writes);
}

const TensorBase& KeptOutputs::declare_row(int64_t index, IntArrayRef sizes, int64_t,
                                           ScalarType dtype) {
  const Slot& slot = slots_[index];
  if (OPLOOM_LIKELY(slot.given->defined() && !slot.elsewhere)) return *slot.given;
  declare(index, sizes, {}, TensorOptions().dtype(dtype), /*exactly=*/false);
  return (*this)[index];
}

void KeptOutputs::finish() {
  for (size_t i = 0; i < count_; ++i) {
    if (slots_[i].temporary.defined()) copy_back(*slots_[i].given, slots_[i].temporary);
  }
  for (ShapeGuard& guard : resized_) guard.dismiss();
}

}  // namespace at::inline oploom_v1::native
