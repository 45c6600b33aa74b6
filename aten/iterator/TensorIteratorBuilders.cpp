// TensorIterator: the configurations that most operators share, with short cuts for small calls.
#include <aten/core/Empty.h>
#include <aten/core/OpaqueType.h>
#include <aten/iterator/Broadcast.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/iterator/TypeProperties.h>
#include <c10/core/DefaultDtype.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace at::inline oploom_v1 {
namespace {

bool is_wrapped_number(const TensorBase& tensor) {
  return tensor.unsafeGetTensorImpl()->is_wrapped_number();
}

// Whether the iterator would leave the dimensions of a call in their order as far as this input has
// a say, so that the output is contiguous; see reorder_dimensions(), which looks at dimensions of
// size 1 as well.
bool is_row_major(const TensorBase& tensor) {
  const IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  int64_t inner_stride = 0, inner_size = 0;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (strides[d] == 0) continue;
    if (strides[d] < inner_stride) return false;
    if (strides[d] == inner_stride && sizes[d] < inner_size) return false;
    inner_stride = strides[d];
    inner_size = sizes[d];
  }
  return true;
}

// Contiguous ones too: the strides of their dimensions of size 1 may be any.
bool are_row_major(ArrayRef<const TensorBase*> inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const TensorBase* input) { return is_row_major(*input); });
}

bool independent(const TensorBase& out, const TensorBase& in) {
  return out.is_same(in) || !out.is_alias_of(in);
}

// Whether `out` can be written as it is, if its layout is the right one: the right dtype and sizes,
// no memory of a third tensor.
OPLOOM_NOINLINE bool can_be_written(const TensorBase& out, ArrayRef<const TensorBase*> inputs,
                                    IntArrayRef sizes, ScalarType dtype) {
  if (out.scalar_type() != dtype || !out.is_cpu() || out.sizes() != sizes) return false;
  for (const TensorBase* input : inputs) {
    if (!independent(out, *input)) return false;
  }
  return true;
}

bool can_be_row(const TensorBase& out, ArrayRef<const TensorBase*> inputs, IntArrayRef sizes,
                ScalarType dtype) {
  return out.is_contiguous() && can_be_written(out, inputs, sizes, dtype);
}

// Copies of the block [begin, end) behind it, for `count` elements in all. Returns their end.
template <typename T>
OPLOOM_ALWAYS_INLINE T* repeat(T* begin, T* end, int64_t count) {
  constexpr int64_t kSize = sizeof(T);
  detail::repeat_block(reinterpret_cast<char*>(begin), (end - begin) * kSize, count * kSize);
  return begin + count;
}

// `count` times the same element; sixteen bytes at once, the last of them twice.
template <typename T>
OPLOOM_ALWAYS_INLINE void fill_same(T* to, T value, int64_t count) {
  constexpr int64_t kBlock = 16 / sizeof(T);
  if (count < kBlock) {
    for (T* const stop = to + count; to != stop; ++to) *to = value;
    return;
  }
  T block[kBlock];
  for (T& element : block) element = value;
  T* const last = to + count - kBlock;
  for (; to < last; to += kBlock) std::memcpy(to, block, sizeof(block));
  std::memcpy(last, block, sizeof(block));
}

// One row: `count` elements, or one as many times. `from` moves along.
template <typename T>
OPLOOM_ALWAYS_INLINE T* write_row(T* to, const T*& from, int64_t size, int64_t count) {
  T* const stop = to + count;
  if (size == count) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  } else {
    fill_same(to, *from, count);
  }
  from += size;
  return stop;
}

// Writes the elements of a contiguous tensor, broadcast to `shape`, both of `dims` > 0 dimensions.
// Returns what is behind them.
template <typename T>
T* write_broadcast(T* to, const T*& from, const int64_t* sizes, const int64_t* shape, size_t dims) {
  if (dims == 1) return write_row(to, from, *sizes, *shape);
  for (int64_t i = 0; i < *sizes; ++i) {
    T* const begin = to;
    to = dims == 2 ? write_row(to, from, sizes[1], shape[1])
                   : write_broadcast(to, from, sizes + 1, shape + 1, dims - 1);
    if (*sizes != *shape) to = repeat(begin, to, *shape * (to - begin));
  }
  return to;
}

// Loads the elements of a tensor of `dims` > 0 dimensions and any strides, which count elements.
// Returns what is behind them.
char* load_rows(detail::CastLoop load, char* to, int64_t size, const char* from, int64_t from_size,
                const int64_t* sizes, const int64_t* strides, size_t dims) {
  const int64_t step = *strides * from_size;
  if (dims == 1) {
    load(to, size, from, step, *sizes);
    return to + *sizes * size;
  }
  for (int64_t i = 0; i < *sizes; ++i, from += step) {
    to = load_rows(load, to, size, from, from_size, sizes + 1, strides + 1, dims - 1);
  }
  return to;
}

}  // namespace

// Fills a row with the elements of a tensor, broadcast to `shape` and converted.
void TensorIteratorBase::fill_row(char* row, const TensorBase& input, IntArrayRef shape,
                                  int64_t numel, ScalarType dtype) {
  const char* data = static_cast<const char*>(input.const_data_ptr());
  const auto size = static_cast<int64_t>(elementSize(dtype));
  const auto from_size = static_cast<int64_t>(elementSize(input.scalar_type()));
  alignas(16) char converted[kShortBytes];
  const bool spreads = input.numel() != numel;
  if (input.scalar_type() != dtype || !spreads || input.numel() == 1 || !input.is_contiguous()) {
    const detail::CastLoop load = detail::get_cast_loop(dtype, input.scalar_type());
    if (input.numel() == 1) return load(row, size, data, 0, numel);
    char* const to = spreads ? converted : row;
    if (input.is_contiguous()) {
      load(to, size, data, from_size, input.numel());
    } else {
      load_rows(load, to, size, data, from_size, input.sizes().data(), input.strides().data(),
                static_cast<size_t>(input.dim()));
    }
    if (!spreads) return;
    data = converted;
  }
  const IntArrayRef sizes = input.sizes();
  const size_t lead = shape.size() - sizes.size();
  with_opaque_type(static_cast<size_t>(size), [&]<typename T>(T) {
    T* const begin = reinterpret_cast<T*>(row);
    const T* from = reinterpret_cast<const T*>(data);
    T* const end = write_broadcast(begin, from, sizes.data(), shape.data() + lead, sizes.size());
    repeat(begin, end, numel);
  });
}

// Note [Short cuts]
// The usual call of a pointwise operator has contiguous CPU operands of one dtype and shape, or
// such that are dense in another layout, or a contiguous one and a number, or is so small that its
// other operands are soon made contiguous: gathered, repeated and converted. There is nothing to
// broadcast, to sort or to merge then; the result is the same as from build(), which every other
// call takes, and which reports what does not fit.
//
// The operands become rows: an address and a dtype each, which is all that a kernel of dense rows
// reads. What else there is to know of an operand is filled in when somebody asks.

// Everything but the inputs.
OPLOOM_ALWAYS_INLINE void TensorIteratorBase::set_rows(const TensorBase& out, IntArrayRef sizes,
                                                       int64_t numel, ScalarType dtype,
                                                       ScalarType result) {
  const TensorBase* output = &out;
  if (outputs() != nullptr) {
    const TensorBase& declared = outputs()->declare_row(0, sizes, numel, result);
    if (!out.defined()) output = &declared;
  } else if (!out.defined()) {
    own_row_ = detail::empty_row(sizes, numel, result);
    output = &own_row_;
  }
  set_output_row(*output, dtype, result);
}

OPLOOM_ALWAYS_INLINE void TensorIteratorBase::set_output_row(const TensorBase& output,
                                                             ScalarType dtype, ScalarType result) {
  num_outputs_ = 1;
  common_dtype_ = dtype;
  is_dense_row_ = true;
  numel_ = output.numel();
  if (output.dim() > 0) shape_.push_back(numel_);
  set_row(0, output, output.mutable_data_ptr(), result);
  num_rows_ = 1;
}

// Inputs that are dense in one other layout, which the output gets as well.
bool TensorIteratorBase::build_alike_rows(const TensorBase& out, ArrayRef<const TensorBase*> inputs,
                                          ScalarType static_dtype, bool to_float) {
  const TensorBase& first = *inputs[0];
  const ScalarType dtype = first.scalar_type();
  const IntArrayRef sizes = first.sizes(), strides = first.strides();
  if (!first.is_non_overlapping_and_dense() ||
      (to_float && c10::isIntegralType(dtype, /*includeBool=*/true))) {
    return false;
  }
  for (const TensorBase* input : inputs) {
    if (input->scalar_type() != dtype || input->sizes() != sizes || input->strides() != strides) {
      return false;
    }
  }
  const ScalarType result = static_dtype == ScalarType::Undefined ? dtype : static_dtype;
  const TensorBase* output = &out;
  if (out.defined() && (out.strides() != strides || !can_be_written(out, inputs, sizes, result))) {
    return false;
  }
  const TensorOptions options = TensorOptions().dtype(result);
  if (outputs() != nullptr) {
    outputs()->declare(0, sizes, strides_like(first), options, /*exactly=*/false);
    if (!out.defined()) output = &outputs()->get(0);
  } else if (!out.defined()) {
    own_row_ = detail::empty_strided(sizes, strides_like(first), options);
    output = &own_row_;
  }
  set_output_row(*output, dtype, result);
  for (const TensorBase* input : inputs) add_row(*input, input->const_data_ptr(), dtype);
  return true;
}

// Inputs of which some are not contiguous.
OPLOOM_NOINLINE bool TensorIteratorBase::build_other_rows(const TensorBase& out,
                                                          ArrayRef<const TensorBase*> inputs,
                                                          ScalarType static_dtype, bool to_float) {
  for (const TensorBase* input : inputs) {
    if (!input->defined() || !input->is_cpu()) return false;
  }
  return build_alike_rows(out, inputs, static_dtype, to_float) ||
         (are_row_major(inputs) && build_short_rows(out, inputs, static_dtype, to_float));
}

// Where the number of inputs is known, the loops over them are unrolled.
OPLOOM_ALWAYS_INLINE bool TensorIteratorBase::build_rows_of(const TensorBase& out,
                                                            ArrayRef<const TensorBase*> inputs,
                                                            ScalarType static_dtype,
                                                            bool to_float) {
  bool plain = true;
#pragma GCC unroll 3
  for (const TensorBase* input : inputs) {
    plain = plain && input->defined() && input->is_cpu() && input->is_contiguous();
  }
  if (OPLOOM_UNLIKELY(!plain)) {
    return build_other_rows(out, inputs, static_dtype, to_float);
  }
  const TensorBase& first = *inputs[0];
  const ScalarType dtype = first.scalar_type();
  const IntArrayRef sizes = first.sizes();
  bool alike = !to_float || !c10::isIntegralType(dtype, /*includeBool=*/true);
#pragma GCC unroll 3
  for (const TensorBase* input : inputs) {
    alike =
        alike && (input == &first || (input->scalar_type() == dtype && input->sizes() == sizes));
  }
  if (sizes.empty()) {
#pragma GCC unroll 3
    for (const TensorBase* input : inputs) alike = alike && !is_wrapped_number(*input);
  }
  if (OPLOOM_UNLIKELY(!alike)) return build_short_rows(out, inputs, static_dtype, to_float);
  const ScalarType result = static_dtype == ScalarType::Undefined ? dtype : static_dtype;
  if (out.defined() && !can_be_row(out, inputs, sizes, result)) return false;
  set_rows(out, sizes, first.numel(), dtype, result);
#pragma GCC unroll 3
  for (size_t k = 0; k < inputs.size(); ++k) {
    set_row(static_cast<int>(k) + 1, *inputs[k], const_cast<void*>(inputs[k]->const_data_ptr()),
            dtype);
  }
  num_rows_ = 1 + static_cast<int>(inputs.size());
  return true;
}

bool TensorIteratorBase::build_rows(const TensorBase& out, ArrayRef<const TensorBase*> inputs,
                                    ScalarType static_dtype, bool to_float) {
  switch (inputs.size()) {
    case 1:
      return build_rows_of(out, {inputs.data(), 1}, static_dtype, to_float);
    case 2:
      return build_rows_of(out, {inputs.data(), 2}, static_dtype, to_float);
    case 3:
      return build_rows_of(out, {inputs.data(), 3}, static_dtype, to_float);
    default:
      return !inputs.empty() && inputs.size() < kMaxRows &&
             build_rows_of(out, inputs, static_dtype, to_float);
  }
}

// A condition beside two tensors.
bool TensorIteratorBase::build_where_rows(const TensorBase& out, const TensorBase& condition,
                                          const TensorBase& a, const TensorBase& b) {
  const TensorBase* const inputs[] = {&condition, &a, &b};
  if (!a.defined() || !b.defined()) return false;
  const ScalarType dtype = a.scalar_type();
  bool alike = b.scalar_type() == dtype && !is_wrapped_number(a) && !is_wrapped_number(b);
  for (const TensorBase* input : inputs) {
    if (!input->defined() || !input->is_cpu()) return false;
    alike = alike && input->is_contiguous() && input->sizes() == a.sizes();
  }
  if (!alike) {
    return are_row_major(inputs) &&
           build_short_rows<1>(out, inputs, ScalarType::Undefined, /*to_float=*/false);
  }
  if (out.defined() && !can_be_row(out, inputs, a.sizes(), dtype)) return false;
  set_rows(out, a.sizes(), a.numel(), dtype, dtype);
  for (const TensorBase* input : inputs) {
    add_row(*input, input->const_data_ptr(), input->scalar_type());
  }
  return true;
}

// Precondition: the inputs are on the CPU and are_row_major(). The first `kept` ones keep their
// dtypes.
template <size_t kept>
OPLOOM_NOINLINE bool TensorIteratorBase::build_short_rows(const TensorBase& out,
                                                          ArrayRef<const TensorBase*> inputs,
                                                          ScalarType static_dtype, bool to_float) {
  if (inputs.size() > kMaxShort) return false;
  DimVector shape(inputs[0]->sizes());
  ScalarType dtype = inputs[kept]->scalar_type();
  bool promotes = false;
  int64_t bad_dim;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const TensorBase& input = *inputs[k];
    if (input.numel() > kShortBytes) return false;
    promotes |= k >= kept && (input.scalar_type() != dtype || is_wrapped_number(input));
    const IntArrayRef sizes = input.sizes();
    if (sizes != IntArrayRef(shape) && !detail::broadcast_into(shape, sizes, bad_dim)) return false;
  }
  int64_t numel = 1;
  for (const int64_t size : shape) numel *= size;
  if (promotes) {
    native::ResultTypeState state;
    for (const TensorBase* input : inputs.slice(kept)) {
      native::update_result_type_state(*input, state);
    }
    dtype = native::result_type(state);
  }
  if (to_float && c10::isIntegralType(dtype, /*includeBool=*/true)) {
    dtype = c10::get_default_dtype();
  }
  const auto size = static_cast<int64_t>(elementSize(dtype));
  const ScalarType result = static_dtype == ScalarType::Undefined ? dtype : static_dtype;
  if (numel == 0 || numel * size > kShortBytes) return false;
  if (out.defined() && !can_be_row(out, inputs, shape, result)) return false;
  set_rows(out, shape, numel, dtype, result);
  has_short_rows_ = true;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const TensorBase& input = *inputs[k];
    const ScalarType wanted = k < kept ? input.scalar_type() : dtype;
    const void* data = input.const_data_ptr();
    if (input.scalar_type() != wanted || input.numel() != numel || !input.is_contiguous()) {
      fill_row(short_rows_[k], input, shape, numel, wanted);
      data = short_rows_[k];
    }
    add_row(input, data, wanted);
  }
  return true;
}

void TensorIteratorBase::operands_of_rows() {
  const int rows = std::exchange(num_rows_, 0);
  for (int k = 0; k < rows; ++k) {
    const TensorBase& tensor = *row_tensors_[k];
    OperandInfo& op = operands_.emplace_back(
        &tensor == &own_row_ ? MaybeOwned<TensorBase>::owned(TensorBase(own_row_))
                             : MaybeOwned<TensorBase>::borrowed(tensor));
    op.is_output = k == 0;
    op.is_const = k != 0;
    op.current_dtype = op.target_dtype = row_dtypes_[k];
    op.data = row_data_[k];
    if (ndim() > 0) op.stride_bytes.push_back(static_cast<int64_t>(elementSize(row_dtypes_[k])));
  }
}

// The addresses of short rows, after a copy of an iterator that has some.
void TensorIteratorBase::take_short_rows(const TensorIteratorBase& other) {
  has_short_rows_ = true;
  std::memcpy(short_rows_, other.short_rows_, sizeof(short_rows_));
  const char* begin = other.short_rows_[0];
  for (OperandInfo& op : operands_) {
    const char* data = static_cast<const char*>(op.data);
    const bool inside =
        !std::less<>()(data, begin) && std::less<>()(data, begin + sizeof(short_rows_));
    if (inside) op.data = short_rows_[0] + (data - begin);
  }
}

OPLOOM_ALWAYS_INLINE bool TensorIteratorBase::try_fast_binary(const TensorBase& out,
                                                              const TensorBase& a,
                                                              const TensorBase& b,
                                                              ScalarType static_dtype,
                                                              bool to_float) {
  const TensorBase* const inputs[] = {&a, &b};
  return build_rows_of(out, inputs, static_dtype, to_float) ||
         try_row_and_number(out, a, b, static_dtype, to_float);
}

OPLOOM_NOINLINE bool TensorIteratorBase::try_row_and_number(const TensorBase& out,
                                                            const TensorBase& a,
                                                            const TensorBase& b,
                                                            ScalarType static_dtype,
                                                            bool to_float) {
  if (!a.defined() || !b.defined() || !a.is_cpu() || !b.is_cpu()) return false;
  if (!a.is_contiguous() || a.dim() == 0 || b.dim() != 0) return false;
  const ScalarType dtype = a.scalar_type();
  if (to_float && c10::isIntegralType(dtype, /*includeBool=*/true)) return false;
  if (dtype != b.scalar_type() && native::result_type(a, b) != dtype) return false;
  const ScalarType result = static_dtype == ScalarType::Undefined ? dtype : static_dtype;
  if (out.defined() && !can_be_row(out, {&a, &b}, a.sizes(), result)) return false;
  set_rows(out, a.sizes(), a.numel(), dtype, result);
  add_row(a, a.const_data_ptr(), dtype);
  add_row(b, b.const_data_ptr(), b.scalar_type());
  operands_of_rows();
  is_dense_row_ = numel_ == 1;
  OperandInfo& number = operands_[2];
  number.target_dtype = dtype;
  number.stride_bytes[0] = 0;
  if (number.current_dtype != dtype) {
    const detail::CastLoop load = detail::get_cast_loop(dtype, number.current_dtype);
    load(number.scalar_buffer, 0, static_cast<const char*>(number.data), 0, 1);
    number.data = number.scalar_buffer;
  }
  return true;
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
  if (build_rows(out, {&a})) return;
  TensorIteratorConfig config;
  configure_pointwise(config);
  OPLOOM_BORROW_2;
  build(config);
}

void TensorIteratorBase::build_borrowing_unary_op_in(ScalarType dtype, const TensorBase& out,
                                                     const TensorBase& a) {
  // Promotion would have its own opinion of a number.
  const bool number = a.dim() == 0 && is_wrapped_number(a);
  if (a.scalar_type() == dtype && !number && build_rows(out, {&a})) return;
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
  if (build_rows(out, {&a}, ScalarType::Undefined, /*to_float=*/true)) return;
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
  if (build_rows(out, {&a}, ScalarType::Bool)) return;
  TensorIteratorConfig config;
  configure_bool(config);
  OPLOOM_BORROW_2;
  build(config);
}

void TensorIteratorBase::build_borrowing_logical_op(const TensorBase& out, const TensorBase& a,
                                                    const TensorBase& b) {
  // Promotion might have numbers in a dtype in which they are 0.
  if (a.scalar_type() == b.scalar_type() && !is_wrapped_number(a) && !is_wrapped_number(b)) {
    return build_borrowing_comparison_op(out, a, b);
  }
  TensorIteratorConfig config;
  configure_bool(config);
  config.declare_common_dtype(ScalarType::Bool);
  OPLOOM_BORROW_3;
  build(config);
}

void TensorIteratorBase::build_borrowing_logical_op(const TensorBase& out, const TensorBase& a) {
  if (!is_wrapped_number(a)) return build_borrowing_unary_force_boolean_op(out, a);
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
  if (build_rows(out, {&a, &b, &c})) return;
  TensorIteratorConfig config;
  configure_pointwise(config);
  OPLOOM_BORROW_3.add_const_input(c);
  build(config);
}

void TensorIteratorBase::build_borrowing_where_op(const TensorBase& out,
                                                  const TensorBase& condition, const TensorBase& a,
                                                  const TensorBase& b) {
  if (build_where_rows(out, condition, a, b)) return;
  TensorIteratorConfig config;
  config.add_output(out)
      .add_const_input(condition)
      .add_const_input(a)
      .add_const_input(b)
      .allow_cpu_scalars(true)
      .keep_input_dtype(0)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true);
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
  TensorIterator iter;
  if (out.defined() && out.is_cpu() && out.is_contiguous()) {
    iter.set_rows(out, out.sizes(), out.numel(), out.scalar_type(), out.scalar_type());
    return iter;
  }
  TensorIteratorConfig config;
  config.set_check_mem_overlap(true).check_all_same_dtype(false).add_output(out).resize_outputs(
      false);
  iter.build(config);
  return iter;
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
