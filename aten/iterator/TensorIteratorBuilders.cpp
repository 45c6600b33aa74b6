// TensorIterator: the configurations that most operators share, with short cuts for small calls.
#include <aten/iterator/TensorIterator.h>
#include <aten/iterator/TypeProperties.h>
#include <c10/core/DefaultDtype.h>

namespace at::inline oploom_v1 {
namespace {

bool is_wrapped_number(const TensorBase& tensor) {
  return tensor.unsafeGetTensorImpl()->is_wrapped_number();
}

// Whether `out` can be written as it is: the right sizes and layout, no memory of a third tensor.
bool plain_output(const TensorBase& out, IntArrayRef sizes) {
  return out.is_cpu() && out.is_contiguous() && out.sizes() == sizes;
}
bool independent(const TensorBase& out, const TensorBase& in) {
  return out.is_same(in) || !out.is_alias_of(in);
}

}  // namespace

// Note [Short cuts]
// The usual call of a pointwise operator has contiguous CPU operands of one dtype and shape, or one
// such operand and a number. There is nothing to broadcast, to sort or to merge then, so the
// operands are filled in directly; the result is the same as from build(), which every other call
// takes. `static_dtype` is the dtype of the kernel's results where that is not the common one,
// `to_float` asks for promotion from integers, which is left to build().
bool TensorIteratorBase::try_fast_unary(const TensorBase& out, const TensorBase& a,
                                        ScalarType static_dtype, bool to_float) {
  if (!a.defined() || !a.is_cpu() || !a.is_contiguous()) return false;
  const ScalarType dtype = a.scalar_type();
  if (to_float && c10::isIntegralType(dtype, /*includeBool=*/true)) return false;
  if (a.dim() == 0 && is_wrapped_number(a)) return false;
  const ScalarType result = static_dtype == ScalarType::Undefined ? dtype : static_dtype;
  if (out.defined() &&
      !(out.scalar_type() == result && plain_output(out, a.sizes()) && independent(out, a))) {
    return false;
  }
  operands_.emplace_back(&out).is_output = true;
  operands_.emplace_back(&a).is_const = true;
  finish_short_cut(a, result, /*dense=*/true);
  return true;
}

bool TensorIteratorBase::try_fast_binary(const TensorBase& out, const TensorBase& a,
                                         const TensorBase& b, ScalarType static_dtype,
                                         bool to_float) {
  if (!a.defined() || !b.defined() || !a.is_cpu() || !b.is_cpu()) return false;
  if (!a.is_contiguous()) return false;
  const ScalarType dtype = a.scalar_type();
  if (to_float && c10::isIntegralType(dtype, /*includeBool=*/true)) return false;
  const bool b_is_scalar = b.dim() == 0;
  if (a.dim() == 0) {
    if (!b_is_scalar || dtype != b.scalar_type() || is_wrapped_number(a) || is_wrapped_number(b)) {
      return false;
    }
  } else if (b_is_scalar) {
    if (dtype != b.scalar_type() && native::result_type(a, b) != dtype) return false;
  } else if (dtype != b.scalar_type() || !b.is_contiguous() || a.sizes() != b.sizes()) {
    return false;
  }
  const ScalarType result = static_dtype == ScalarType::Undefined ? dtype : static_dtype;
  if (out.defined() && !(out.scalar_type() == result && plain_output(out, a.sizes()) &&
                         independent(out, a) && independent(out, b))) {
    return false;
  }
  operands_.emplace_back(&out).is_output = true;
  operands_.emplace_back(&a).is_const = true;
  OperandInfo& second = operands_.emplace_back(&b);
  second.is_const = true;
  second.target_dtype = dtype;
  finish_short_cut(a, result, !b_is_scalar || a.numel() == 1);
  if (b_is_scalar) {
    if (!second.stride_bytes.empty()) second.stride_bytes[0] = 0;
    if (second.current_dtype != dtype) {
      const detail::CastLoop load = detail::get_cast_loop(dtype, second.current_dtype);
      load(second.scalar_buffer, 0, static_cast<const char*>(second.data), 0, 1);
      second.data = second.scalar_buffer;
    }
  }
  return true;
}

// All operands have the sizes of `like` (numbers are seen to by the caller).
void TensorIteratorBase::finish_short_cut(const TensorBase& like, ScalarType result, bool dense) {
  num_outputs_ = 1;
  common_dtype_ = like.scalar_type();
  all_ops_same_shape_ = true;
  is_dense_row_ = dense;
  OperandInfo& out = operands_[0];
  out.target_dtype = result;
  out.device = kCPU;
  set_output_raw_strided(0, like.sizes(), {}, TensorOptions().dtype(result).device(kCPU));
  numel_ = like.numel();
  const bool has_dim = like.dim() > 0;
  if (has_dim) {
    shape_.push_back(numel_);
    has_coalesced_dimensions_ = like.dim() > 1;
  }
  out.data = out.tensor().mutable_data_ptr();
  if (has_dim) out.stride_bytes.push_back(static_cast<int64_t>(elementSize(out.current_dtype)));
  for (size_t i = 1; i < operands_.size(); ++i) {
    OperandInfo& op = operands_[i];
    op.data = const_cast<void*>(op.tensor().const_data_ptr());
    if (has_dim) op.stride_bytes.push_back(static_cast<int64_t>(elementSize(op.current_dtype)));
  }
}

// ---- Configurations ----

namespace {

void configure_pointwise(TensorIteratorConfig& config) {
  config.set_check_mem_overlap(true)
      .allow_cpu_scalars(true)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true);
}

void configure_float(TensorIteratorConfig& config) {
  configure_pointwise(config);
  config.promote_integer_inputs_to_float(true);
}

// The kernel's results are bool and fit into outputs of any dtype.
void configure_bool(TensorIteratorConfig& config) {
  config.set_check_mem_overlap(true)
      .allow_cpu_scalars(true)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .declare_static_dtype(ScalarType::Bool);
}

}  // namespace

#define OPLOOM_BORROW_2 config.add_output(out).add_const_input(a)
#define OPLOOM_OWN_2 config.add_owned_output(out).add_owned_const_input(a)
#define OPLOOM_BORROW_3 config.add_output(out).add_const_input(a).add_const_input(b)
#define OPLOOM_OWN_3 config.add_owned_output(out).add_owned_const_input(a).add_owned_const_input(b)

void TensorIteratorBase::build_binary_op(const TensorBase& out, const TensorBase& a,
                                         const TensorBase& b) {
  TensorIteratorConfig config;
  configure_pointwise(config);
  OPLOOM_OWN_3;
  build(config);
}

void TensorIteratorBase::build_borrowing_binary_op(const TensorBase& out, const TensorBase& a,
                                                   const TensorBase& b) {
  if (try_fast_binary(out, a, b, ScalarType::Undefined, /*to_float=*/false)) return;
  TensorIteratorConfig config;
  configure_pointwise(config);
  OPLOOM_BORROW_3;
  build(config);
}

void TensorIteratorBase::build_binary_float_op(const TensorBase& out, const TensorBase& a,
                                               const TensorBase& b) {
  TensorIteratorConfig config;
  configure_float(config);
  OPLOOM_OWN_3;
  build(config);
}

void TensorIteratorBase::build_borrowing_binary_float_op(const TensorBase& out, const TensorBase& a,
                                                         const TensorBase& b) {
  if (try_fast_binary(out, a, b, ScalarType::Undefined, /*to_float=*/true)) return;
  TensorIteratorConfig config;
  configure_float(config);
  OPLOOM_BORROW_3;
  build(config);
}

void TensorIteratorBase::build_unary_op(const TensorBase& out, const TensorBase& a) {
  TensorIteratorConfig config;
  configure_pointwise(config);
  OPLOOM_OWN_2;
  build(config);
}

void TensorIteratorBase::build_borrowing_unary_op(const TensorBase& out, const TensorBase& a) {
  if (try_fast_unary(out, a, ScalarType::Undefined, /*to_float=*/false)) return;
  TensorIteratorConfig config;
  configure_pointwise(config);
  OPLOOM_BORROW_2;
  build(config);
}

void TensorIteratorBase::build_borrowing_unary_op_in(ScalarType dtype, const TensorBase& out,
                                                     const TensorBase& a) {
  if (a.scalar_type() == dtype && try_fast_unary(out, a, ScalarType::Undefined, false)) return;
  TensorIteratorConfig config;
  configure_pointwise(config);
  config.declare_common_dtype(dtype);
  OPLOOM_BORROW_2;
  build(config);
}

void TensorIteratorBase::build_unary_float_op(const TensorBase& out, const TensorBase& a) {
  TensorIteratorConfig config;
  configure_float(config);
  OPLOOM_OWN_2;
  build(config);
}

void TensorIteratorBase::build_borrowing_unary_float_op(const TensorBase& out,
                                                        const TensorBase& a) {
  if (try_fast_unary(out, a, ScalarType::Undefined, /*to_float=*/true)) return;
  TensorIteratorConfig config;
  configure_float(config);
  OPLOOM_BORROW_2;
  build(config);
}

void TensorIteratorBase::build_comparison_op(const TensorBase& out, const TensorBase& a,
                                             const TensorBase& b) {
  TensorIteratorConfig config;
  configure_bool(config);
  OPLOOM_OWN_3;
  build(config);
}

void TensorIteratorBase::build_borrowing_comparison_op(const TensorBase& out, const TensorBase& a,
                                                       const TensorBase& b) {
  if (try_fast_binary(out, a, b, ScalarType::Bool, /*to_float=*/false)) return;
  TensorIteratorConfig config;
  configure_bool(config);
  OPLOOM_BORROW_3;
  build(config);
}

void TensorIteratorBase::build_unary_force_boolean_op(const TensorBase& out, const TensorBase& a) {
  TensorIteratorConfig config;
  configure_bool(config);
  OPLOOM_OWN_2;
  build(config);
}

void TensorIteratorBase::build_borrowing_unary_force_boolean_op(const TensorBase& out,
                                                                const TensorBase& a) {
  if (try_fast_unary(out, a, ScalarType::Bool, /*to_float=*/false)) return;
  TensorIteratorConfig config;
  configure_bool(config);
  OPLOOM_BORROW_2;
  build(config);
}

void TensorIteratorBase::build_borrowing_logical_op(const TensorBase& out, const TensorBase& a,
                                                    const TensorBase& b) {
  TensorIteratorConfig config;
  configure_bool(config);
  config.declare_common_dtype(ScalarType::Bool);
  OPLOOM_BORROW_3;
  build(config);
}

void TensorIteratorBase::build_borrowing_logical_op(const TensorBase& out, const TensorBase& a) {
  TensorIteratorConfig config;
  configure_bool(config);
  config.declare_common_dtype(ScalarType::Bool);
  OPLOOM_BORROW_2;
  build(config);
}

void TensorIteratorBase::build_ternary_op(const TensorBase& out, const TensorBase& a,
                                          const TensorBase& b, const TensorBase& c) {
  TensorIteratorConfig config;
  configure_pointwise(config);
  OPLOOM_OWN_3.add_owned_const_input(c);
  build(config);
}

void TensorIteratorBase::build_borrowing_ternary_op(const TensorBase& out, const TensorBase& a,
                                                    const TensorBase& b, const TensorBase& c) {
  TensorIteratorConfig config;
  configure_pointwise(config);
  OPLOOM_BORROW_3.add_const_input(c);
  build(config);
}

#undef OPLOOM_BORROW_2
#undef OPLOOM_OWN_2
#undef OPLOOM_BORROW_3
#undef OPLOOM_OWN_3

// ---- TensorIterator's builders ----

TensorIterator TensorIterator::binary_op(TensorBase& out, const TensorBase& a,
                                         const TensorBase& b) {
  TensorIterator iter;
  iter.build_binary_op(out, a, b);
  return iter;
}

TensorIterator TensorIterator::borrowing_binary_op(const TensorBase& out, const TensorBase& a,
                                                   const TensorBase& b) {
  TensorIterator iter;
  iter.build_borrowing_binary_op(out, a, b);
  return iter;
}

TensorIterator TensorIterator::binary_float_op(TensorBase& out, const TensorBase& a,
                                               const TensorBase& b) {
  TensorIterator iter;
  iter.build_binary_float_op(out, a, b);
  return iter;
}

TensorIterator TensorIterator::comparison_op(TensorBase& out, const TensorBase& a,
                                             const TensorBase& b) {
  TensorIterator iter;
  iter.build_comparison_op(out, a, b);
  return iter;
}

TensorIterator TensorIterator::unary_op(TensorBase& out, const TensorBase& a) {
  TensorIterator iter;
  iter.build_unary_op(out, a);
  return iter;
}

TensorIterator TensorIterator::unary_float_op(TensorBase& out, const TensorBase& a) {
  TensorIterator iter;
  iter.build_unary_float_op(out, a);
  return iter;
}

TensorIterator TensorIterator::nullary_op(TensorBase& out) {
  return TensorIteratorConfig()
      .set_check_mem_overlap(true)
      .check_all_same_dtype(false)
      .add_owned_output(out)
      .resize_outputs(false)
      .build();
}

TensorIterator TensorIterator::borrowing_nullary_op(const TensorBase& out) {
  return TensorIteratorConfig()
      .set_check_mem_overlap(true)
      .check_all_same_dtype(false)
      .add_output(out)
      .resize_outputs(false)
      .build();
}

TensorIterator TensorIterator::reduce_op(TensorBase& out, const TensorBase& a) {
  OPLOOM_INTERNAL_ASSERT(out.defined(), "the output of a reduction must exist");
  return TensorIteratorConfig()
      .set_check_mem_overlap(false)
      .add_owned_output(out)
      .add_owned_const_input(a)
      .resize_outputs(false)
      .is_reduction(true)
      // Of a promotion nothing is left to do but the conversion of the result.
      .promote_inputs_to_common_dtype(true)
      .build();
}

TensorIterator TensorIterator::reduce_op(TensorBase& out1, TensorBase& out2, const TensorBase& a) {
  OPLOOM_INTERNAL_ASSERT(out1.defined() && out2.defined(), "the outputs of a reduction must exist");
  OPLOOM_CHECK(out1.sizes() == out2.sizes() && out1.strides() == out2.strides(),
               "reduce_op(): expected both outputs to have the same sizes and strides, got ",
               out1.sizes(), " and ", out2.sizes());
  return TensorIteratorConfig()
      .set_check_mem_overlap(false)
      .add_owned_output(out1)
      .add_owned_output(out2)
      .add_owned_const_input(a)
      .resize_outputs(false)
      .is_reduction(true)
      .check_all_same_dtype(false)
      .build();
}

}  // namespace at::inline oploom_v1
