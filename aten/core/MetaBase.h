// MetaBase: what the meta function of a structured operator reports its outputs to.
#pragma once

#include <aten/core/TensorBase.h>

namespace at::inline oploom_v1::impl {

// What the outputs of a structured operator become: a fresh tensor, self, the caller's tensor, a
// tensor without memory. aten/native/StructuredOutputs.h has the kinds.
class OPLOOM_API Outputs {
 public:
  explicit Outputs(const char* op_name) : op_name_(op_name) {}
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  // With `exactly`, impl() must find these strides.
  virtual void declare(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                       const TensorOptions& options, bool exactly) = 0;
  // The same for one that is contiguous, of `numel` elements, on the CPU. An output that was given
  // is so already. Returns the output.
  virtual const TensorBase& declare_row(int64_t index, IntArrayRef sizes, int64_t numel,
                                        ScalarType dtype) = 0;
  // The output that was given or made, or undefined.
  virtual const TensorBase& get(int64_t index) const = 0;
  // Whether they are new tensors, which are dropped if impl() throws.
  virtual bool are_fresh() const { return false; }
  const char* op_name() const { return op_name_; }

 protected:
  ~Outputs() = default;

 private:
  const char* op_name_;
};

// A structured operator is written as two functions: meta(), which checks the arguments and
// declares each output with one of the set_output functions, and impl(), which fills the outputs.
// The functional, in-place, out= and Meta forms of the operator differ only in what a declared
// output becomes, which is an object of its own: one class of outputs serves every operator. No
// function here is virtual: the code of each operator knows its own class.
class OPLOOM_API MetaBase {
 public:
  MetaBase() = default;
  MetaBase(const MetaBase&) = delete;
  MetaBase& operator=(const MetaBase&) = delete;

  // To be called before meta().
  void set_outputs(Outputs& outputs) { outputs_ = &outputs; }

  // Declares output `index`, of `sizes`. Strides count elements; empty strides mean contiguous.
  // With set_output_raw_strided the strides are a wish, which a given output with the right sizes
  // need not fulfil: impl() must cope with the strides that it finds.
  void set_output_raw_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                              TensorOptions options);
  // With set_output_strided impl() finds exactly these strides: where a given output has others,
  // it works on a temporary that is copied back.
  void set_output_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                          TensorOptions options);
  void set_output_contiguous(int64_t index, IntArrayRef sizes, TensorOptions options);

  // The output as the caller gave it (in-place and out= forms) or undefined.
  const TensorBase& maybe_get_output(int64_t index) const { return outputs_->get(index); }
  const TensorBase& maybe_get_output() const { return maybe_get_output(0); }

  // Whether impl() may write to the outputs before it has checked everything.
  bool has_fresh_outputs() const { return outputs_ != nullptr && outputs_->are_fresh(); }

  // The operator's name, with which error messages begin; null for an iterator of its own.
  const char* op_name() const { return outputs_ != nullptr ? outputs_->op_name() : nullptr; }

 protected:
  // Null for an iterator of its own.
  Outputs* outputs() const { return outputs_; }

 private:
  Outputs* outputs_ = nullptr;
};

}  // namespace at::inline oploom_v1::impl

// Definitions of the two functions of a structured operator, in namespaces at::meta and at::native:
//   OPLOOM_META_FUNC(add, Tensor)(const Tensor& self, ...) { ... }      without overload: (mm)(...)
//   OPLOOM_IMPL_FUNC(add_out)(const Tensor& self, ..., const Tensor& out) { ... }
// Where the entry has 'precomputed', the first returns what impl() gets in the place of arguments:
//   OPLOOM_PRECOMPUTE_META_FUNC(cumsum)(const Tensor& self, int64_t dim) { ... return {.dim = d}; }
#define OPLOOM_META_FUNC(...) \
  OPLOOM_META_FUNC_OF(__VA_ARGS__, OPLOOM_META_FUNC_2, OPLOOM_META_FUNC_1, )(__VA_ARGS__)
#define OPLOOM_META_FUNC_OF(op, overload, chosen, ...) chosen
#define OPLOOM_META_FUNC_1(op) void structured_##op::meta
#define OPLOOM_META_FUNC_2(op, overload) void structured_##op##_##overload::meta
#define OPLOOM_PRECOMPUTE_META_FUNC(...)                                                           \
  OPLOOM_META_FUNC_OF(__VA_ARGS__, OPLOOM_PRECOMPUTE_META_FUNC_2, OPLOOM_PRECOMPUTE_META_FUNC_1, ) \
  (__VA_ARGS__)
#define OPLOOM_PRECOMPUTE_META_FUNC_1(op) structured_##op::Precomputed structured_##op::meta
#define OPLOOM_PRECOMPUTE_META_FUNC_2(op, overload) \
  structured_##op##_##overload::Precomputed structured_##op##_##overload::meta
#define OPLOOM_IMPL_FUNC(name) void structured_##name::impl
