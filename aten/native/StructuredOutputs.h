// What becomes of the outputs that a structured operator declares: the classes between the
// generated kernels and the meta() and impl() functions of an operator.
#pragma once

#include <aten/core/MetaBase.h>
#include <generated/ops/Tensor.h>

#include <array>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1 {

class TensorIteratorBase;

namespace native {

// Note [Structured kernels]
// A structured operator is a class with meta(), which declares the outputs, and impl(), which fills
// them. A generated kernel puts one of the classes below on top of it and calls meta(), impl() and,
// where outputs were given, finish(), which copies what impl() wrote to a temporary. The Meta
// kernel leaves out impl().
//
// Where the operator's class is a TensorIterator, the iterator must learn about each output as soon
// as it exists: its own set_output_raw_strided() does that.

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

template <class Kernel>
inline constexpr bool is_iterator = std::is_base_of_v<TensorIteratorBase, Kernel>;

// The functional form: each output is a new tensor.
template <class Kernel, size_t N>
class FreshOutputs final : public Kernel {
 public:
  void set_output_raw_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                              TensorOptions options) override {
    outputs_[index] = make_output(sizes, strides, options);
    if constexpr (is_iterator<Kernel>) {
      Kernel::set_output_raw_strided(index, sizes, strides, options);
    }
  }
  void set_output_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                          TensorOptions options) override {
    FreshOutputs::set_output_raw_strided(index, sizes, strides, options);
  }
  const TensorBase& maybe_get_output(int64_t index) override { return outputs_[index]; }

  const Tensor& output(int64_t index) const { return outputs_[index]; }
  Tensor take(int64_t index) { return std::move(outputs_[index]); }

 private:
  std::array<Tensor, N> outputs_;
};

// The out= and in-place forms: the outputs are given.
template <class Kernel, size_t N, auto Fit>
class KeptOutputs : public Kernel {
 public:
  KeptOutputs(const char* name, const std::array<Tensor*, N>& outputs)
      : name_(name), outputs_(outputs) {}

  // Names the tensors that impl() reads while it writes, other than the self of an in-place form.
  // Iterators make sure of overlaps themselves.
  template <class... Inputs>
  void reads(const Inputs&... inputs) {
    for (size_t i = 0; i < N; ++i) {
      ((elsewhere_[i] = is_read(*outputs_[i], inputs) || elsewhere_[i]), ...);
    }
  }

  void set_output_raw_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                              TensorOptions options) override {
    fit(index, sizes, strides, options, Writes::InAnyStrides);
  }
  void set_output_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                          TensorOptions options) override {
    fit(index, sizes, strides, options, Writes::InTheseStrides);
  }
  const TensorBase& maybe_get_output(int64_t index) override { return output(index); }
  const char* op_name() const override { return name_; }

  const Tensor& output(int64_t index) const {
    return temporaries_[index].defined() ? temporaries_[index] : *outputs_[index];
  }
  void finish() {
    for (size_t i = 0; i < N; ++i) {
      if (temporaries_[i].defined()) copy_back(*outputs_[i], temporaries_[i]);
    }
  }

 private:
  void fit(int64_t index, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options,
           Writes writes) {
    temporaries_[index] =
        Fit(name_, *outputs_[index], sizes, strides, options, /*iterator=*/is_iterator<Kernel>,
            elsewhere_[index] ? Writes::Elsewhere : writes);
    if constexpr (is_iterator<Kernel>) {
      Kernel::set_output_raw_strided(index, sizes, strides, options);
    }
  }

  const char* name_;
  std::array<Tensor*, N> outputs_;
  std::array<Tensor, N> temporaries_;
  std::array<bool, N> elsewhere_{};
};

template <class Kernel, size_t N>
using GivenOutputs = KeptOutputs<Kernel, N, &fit_output>;
template <class Kernel>
using InplaceOutput = KeptOutputs<Kernel, 1, &fit_self>;

// ---- In-place and out= forms that are made from a functional operator ----

// self = result, for a result of self's shape and of a dtype that can be cast to self's.
OPLOOM_API Tensor& assign_inplace(Tensor& self, const Tensor& result, const char* name);
// out = result; out is resized.
OPLOOM_API Tensor& assign_out(Tensor& out, const Tensor& result, const char* name);

}  // namespace native
}  // namespace at::inline oploom_v1
