// Shapes and dtypes of expression operators.
#include <aten/core/SpareInput.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/Expression.h>

#include <utility>

namespace at::inline oploom_v1::native {

namespace {

using Promotion = ExpressionTraits::Promotion;

void build_any(TensorIteratorBase& iter, ArrayRef<const TensorBase*> outputs,
               std::initializer_list<const Tensor*> inputs, const ExpressionTraits& traits) {
  TensorIteratorConfig config;
  config.set_check_mem_overlap(true)
      .allow_cpu_scalars(true)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true);
  if (traits.promotion == Promotion::Truth) {
    config.declare_static_dtype(ScalarType::Bool);
  } else {
    config.enforce_safe_casting_to_output(true);
  }
  if (!traits.integers) config.promote_integer_inputs_to_float(true);
  for (const TensorBase* output : outputs) config.add_output(*output);
  for (const Tensor* input : inputs) config.add_const_input(*input);
  iter.build(config);
}

void check_dtype(const char* name, ScalarType dtype, const ExpressionTraits& traits) {
  OPLOOM_CHECK_TYPE(traits.complex || !c10::isComplexType(dtype), name,
                    "(): complex tensors are not supported, got ", dtype);
  OPLOOM_CHECK_TYPE(traits.reduced || !c10::isReducedFloatingType(dtype), name,
                    "(): expected float32 or float64, got ", dtype);
  OPLOOM_CHECK_TYPE(
      dtype != ScalarType::Bool || traits.promotion == Promotion::Truth, name,
      "(): bool tensors are not supported; invert a mask with `~` or logical_not(), or "
      "convert it to a dtype of numbers");
}

// The operand that the first output may be written to (Note [Spare tensors] in
// aten/autograd/SpareTensors.h): that which is spare, if all others are like it.
TensorBase take_spare_input(std::initializer_list<const Tensor*> inputs) {
  const c10::TensorImpl* wanted = std::exchange(at::detail::spare_input, nullptr);
  if (wanted == nullptr) return {};
  TensorBase spare;
  for (const Tensor* input : inputs) {
    if (input->unsafeGetTensorImpl() == wanted) spare = *input;
  }
  for (const Tensor* input : inputs) {
    if (!spare.defined() || !at::detail::is_laid_out_alike(*input, spare)) return {};
  }
  return spare;
}

}  // namespace

void build_expression(TensorIteratorBase& iter, const TensorBase& out,
                      std::initializer_list<const Tensor*> inputs, const ExpressionTraits& traits) {
  const Tensor* const* in = inputs.begin();
  const bool to_float = traits.promotion == Promotion::ToFloat;
  if (traits.promotion == Promotion::Truth || inputs.size() > 2) {
    const SmallVector<const TensorBase*, 4> tensors(inputs.begin(), inputs.end());
    const bool truth = traits.promotion == Promotion::Truth;
    if (!iter.build_rows(out, tensors, truth ? ScalarType::Bool : ScalarType::Undefined,
                         !traits.integers)) {
      build_any(iter, {&out}, inputs, traits);
    }
  } else if (inputs.size() == 1) {
    to_float ? iter.build_borrowing_unary_float_op(out, *in[0])
             : iter.build_borrowing_unary_op(out, *in[0]);
  } else {
    to_float ? iter.build_borrowing_binary_float_op(out, *in[0], *in[1])
             : iter.build_borrowing_binary_op(out, *in[0], *in[1]);
  }
  check_dtype(iter.op_name(), iter.common_dtype(), traits);
}

void compute_expression(const char* name, const ExpressionKernel* kernel,
                        std::initializer_list<Tensor*> outputs,
                        std::initializer_list<const Tensor*> inputs, const Scalar* numbers,
                        const ExpressionTraits& traits) {
  const TensorBase given = take_spare_input(inputs), none;
  TensorIterator iter;
  const Tensor* const* in = inputs.begin();
  if (outputs.size() == 1 && inputs.size() == 1) {
    iter.build_borrowing_unary_op(given, *in[0]);
  } else if (outputs.size() == 1 && inputs.size() == 2) {
    iter.build_borrowing_binary_op(given, *in[0], *in[1]);
  } else if (outputs.size() == 1) {
    const SmallVector<const TensorBase*, 4> tensors(inputs.begin(), inputs.end());
    if (!iter.build_rows(given, tensors, ScalarType::Undefined, !traits.integers)) {
      build_any(iter, {&given}, inputs, traits);
    }
  } else {
    SmallVector<const TensorBase*, 4> targets(outputs.size(), &none);
    targets[0] = &given;
    build_any(iter, targets, inputs, traits);
  }
  check_dtype(name, iter.common_dtype(), traits);
  // A number on the CPU beside a tensor on meta has a kernel, but the result no memory.
  const bool has_memory = iter.device_type() != DeviceType::Meta;
  if (kernel != nullptr && has_memory) kernel->run(iter, *kernel, numbers);
  for (size_t i = 0; i < outputs.size(); ++i) {
    *outputs.begin()[i] = Tensor(iter.output_base(static_cast<int64_t>(i)));
  }
}

}  // namespace at::inline oploom_v1::native
