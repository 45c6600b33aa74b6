// What becomes of the outputs that a structured operator declares: the classes between the
// generated kernels and the meta() and impl() functions of an operator.
#pragma once

#include <aten/core/Empty.h>
#include <aten/core/MetaBase.h>
#include <generated/ops/Tensor.h>

#include <array>
#include <type_traits>
#include <utility>
#include <vector>

namespace at::inline oploom_v1 {

class TensorIteratorBase;

namespace native {

// Note [Structured kernels]
// A structured operator is a class with meta(), which declares the outputs, and impl(), which fills
// them. A generated kernel gives it an object of one of the classes below and calls meta(), impl()
// and, where outputs were given, finish(), which copies what impl() wrote to a temporary. The Meta
// kernel leaves out impl(). None of the classes depends on the operator, so that there are few of
// them in the library.

// A new tensor; empty strides mean contiguous or as the memory format in the options says.
OPLOOM_API Tensor make_output(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options);
// What impl() does with a given output.
enum class Writes {
  InAnyStrides,
  InTheseStrides,  // where the output has others, impl() gets a temporary
  Elsewhere        // always a temporary: an input is the same tensor as the output
};
// Makes a given tensor fit for an output, or returns a temporary to work on. Where `iterator` says
// so, the caller converts to the output's dtype and looks after overlaps.
OPLOOM_API Tensor fit_output(const char* name, const Tensor& out, IntArrayRef sizes,
                             IntArrayRef strides, const TensorOptions& options, bool iterator,
                             Writes writes);
// The same for the self of an in-place operator, which keeps its shape.
OPLOOM_API Tensor fit_self(const char* name, const Tensor& self, IntArrayRef sizes,
                           IntArrayRef strides, const TensorOptions& options, bool iterator,
                           Writes writes);
// Throws if output and input overlap in part. Says whether the input must be kept from being
// overwritten: both are one view, or might overlap.
OPLOOM_API bool is_read(const Tensor& out, const TensorBase& input);
inline bool is_read(const Tensor& out, const std::optional<Tensor>& input) {
  return input.has_value() && is_read(out, *input);
}
OPLOOM_API bool is_read(const Tensor& out, TensorList inputs);
OPLOOM_API bool is_read(const Tensor& out, OptionalTensorList inputs);
// Copies a temporary to the tensor that it stands for, which is resized.
OPLOOM_API void copy_back(const Tensor& out, const Tensor& temporary);

// Throws unless all operands are on the device of the first.
class OPLOOM_API DeviceCheck {
 public:
  explicit DeviceCheck(const char* name) : name_(name) {}
  void operator()(const Tensor& tensor);
  void operator()(const std::optional<Tensor>& tensor) {
    if (tensor.has_value()) (*this)(*tensor);
  }
  void operator()(TensorList tensors) {
    for (const Tensor& tensor : tensors) (*this)(tensor);
  }
  void operator()(OptionalTensorList tensors) {
    for (const std::optional<Tensor>& tensor : tensors) (*this)(tensor);
  }

 private:
  const char* name_;
  std::optional<Device> device_;
};
template <class... Operands>
void check_one_device(const char* name, const Operands&... operands) {
  DeviceCheck check(name);
  (check(operands), ...);
}

// Gives a tensor that is resized and then filled its old shape back, should filling it fail.
// Growing keeps what was in the memory, so that the tensor is as before.
class OPLOOM_API ShapeGuard {
 public:
  explicit ShapeGuard(const Tensor& tensor)
      : tensor_(tensor), sizes_(tensor.sizes()), strides_(tensor.strides()) {}
  ~ShapeGuard();
  ShapeGuard(ShapeGuard&&) = default;
  // Filling it went well.
  void dismiss() { tensor_.reset(); }

 private:
  Tensor tensor_;
  DimVector sizes_;
  DimVector strides_;
};

// The functional form: each output is a new tensor.
template <size_t N>
class FreshOutputs final : public impl::Outputs {
 public:
  FreshOutputs(const char* op_name, impl::MetaBase& kernel) : Outputs(op_name) {
    kernel.set_outputs(*this);
  }

  void declare(int64_t index, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options,
               bool) override {
    tensors_[index] = make_output(sizes, strides, options);
  }
  const TensorBase& declare_row(int64_t index, IntArrayRef sizes, int64_t numel,
                                ScalarType dtype) override {
    return tensors_[index] = at::detail::empty_row(sizes, numel, dtype);
  }
  const TensorBase& get(int64_t index) const override { return tensors_[index]; }
  bool are_fresh() const override { return true; }

  const Tensor& operator[](int64_t index) const { return tensors_[index]; }
  Tensor take(int64_t index) { return std::move(tensors_[index]); }

 private:
  std::array<Tensor, N> tensors_;
};

// The out= and in-place forms: the outputs are given.
class OPLOOM_API KeptOutputs : public impl::Outputs {
 public:
  void declare(int64_t index, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options,
               bool exactly) final;
  const TensorBase& declare_row(int64_t index, IntArrayRef sizes, int64_t numel,
                                ScalarType dtype) final;
  const TensorBase& get(int64_t index) const final { return (*this)[index]; }

  const Tensor& operator[](int64_t index) const {
    const Slot& slot = slots_[index];
    return slot.temporary.defined() ? slot.temporary : *slot.given;
  }
  // Names the tensors that impl() reads while it writes, other than the self of an in-place form.
  // Iterators make sure of overlaps themselves.
  template <class... Inputs>
  void reads(const Inputs&... inputs) {
    for (size_t i = 0; i < count_; ++i) {
      ((slots_[i].elsewhere = is_read(*slots_[i].given, inputs) || slots_[i].elsewhere), ...);
    }
  }
  void finish();

 protected:
  struct Slot {
    Tensor* given;
    Tensor temporary = {};
    bool elsewhere = false;  // always write to a temporary
  };
  using Fit = Tensor (*)(const char* name, const Tensor& out, IntArrayRef sizes,
                         IntArrayRef strides, const TensorOptions& options, bool iterator,
                         Writes writes);

  template <class Kernel>
  KeptOutputs(const char* op_name, Kernel& kernel, Fit fit, Slot* slots, size_t count)
      : Outputs(op_name),
        slots_(slots),
        count_(count),
        fit_(fit),
        iterator_(std::is_base_of_v<TensorIteratorBase, Kernel>) {
    kernel.set_outputs(*this);
  }
  ~KeptOutputs();

 private:
  Slot* slots_;
  size_t count_;
  Fit fit_;
  bool iterator_;
  std::vector<ShapeGuard> resized_;
};

class InplaceOutput final : public KeptOutputs {
 public:
  template <class Kernel>
  InplaceOutput(const char* op_name, Kernel& kernel, Tensor& self)
      : KeptOutputs(op_name, kernel, &fit_self, &slot_, 1), slot_{&self} {}

 private:
  Slot slot_;
};

template <size_t N>
class GivenOutputs final : public KeptOutputs {
 public:
  template <class Kernel, class... Outs>
  GivenOutputs(const char* op_name, Kernel& kernel, Outs&... outs)
      : KeptOutputs(op_name, kernel, &fit_output, slots_, N), slots_{Slot{&outs}...} {}

 private:
  Slot slots_[N];
};

// ---- In-place and out= forms that are made from a functional operator ----

// self = result, for a result of self's shape and of a dtype that can be cast to self's.
OPLOOM_API Tensor& assign_inplace(Tensor& self, const Tensor& result, const char* name);
// out = result; out is resized.
OPLOOM_API Tensor& assign_out(Tensor& out, const Tensor& result, const char* name);
// The same for several, all or none of them. Among several there may be indices, which mean nothing
// in another dtype: each output has the dtype of its result.
OPLOOM_API void assign_outs(const char* name, ArrayRef<Tensor*> outs,
                            ArrayRef<const Tensor*> results);

}  // namespace native
}  // namespace at::inline oploom_v1
