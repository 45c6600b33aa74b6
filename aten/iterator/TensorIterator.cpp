// TensorIterator: how the operands become rows.
#include <aten/core/Empty.h>
#include <aten/iterator/Broadcast.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/iterator/TypeProperties.h>
#include <c10/core/DefaultDtype.h>
#include <c10/util/irange.h>

#include <algorithm>
#include <cstring>

namespace at::inline oploom_v1 {

// ---- OperandInfo ----

// The buffer is part of the operand, so a pointer to it moves along.
OperandInfo& OperandInfo::operator=(const OperandInfo& other) {
  if (this == &other) return *this;
  tensor_holder = other.tensor_holder;
  stride_bytes = other.stride_bytes;
  device = other.device;
  target_dtype = other.target_dtype;
  current_dtype = other.current_dtype;
  is_output = other.is_output;
  is_const = other.is_const;
  keeps_dtype = other.keeps_dtype;
  will_resize = other.will_resize;
  is_read_write = other.is_read_write;
  load = other.load;
  store = other.store;
  if (other.data == other.scalar_buffer) {
    std::memcpy(scalar_buffer, other.scalar_buffer, sizeof(scalar_buffer));
    data = scalar_buffer;
  } else {
    data = other.data;
  }
  return *this;
}

OperandInfo& OperandInfo::operator=(OperandInfo&& other) noexcept {
  return *this = static_cast<const OperandInfo&>(other);
}

// ---- TensorIteratorConfig ----

TensorIteratorConfig& TensorIteratorConfig::add_borrowed_output(const TensorBase& output) {
  OPLOOM_INTERNAL_ASSERT(num_inputs_ == 0, "outputs must be added before inputs");
  tensors_.push_back(MaybeOwned<TensorBase>::borrowed(output));
  ++num_outputs_;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_borrowed_input(const TensorBase& input) {
  tensors_.push_back(MaybeOwned<TensorBase>::borrowed(input));
  ++num_inputs_;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_borrowed_const_input(const TensorBase& input) {
  const_mask_ |= uint32_t{1} << tensors_.size();
  return add_borrowed_input(input);
}

TensorIteratorConfig& TensorIteratorConfig::add_owned_output(TensorBase output) {
  OPLOOM_INTERNAL_ASSERT(num_inputs_ == 0, "outputs must be added before inputs");
  tensors_.push_back(MaybeOwned<TensorBase>::owned(std::move(output)));
  ++num_outputs_;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_owned_input(TensorBase input) {
  tensors_.push_back(MaybeOwned<TensorBase>::owned(std::move(input)));
  ++num_inputs_;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_owned_const_input(TensorBase input) {
  const_mask_ |= uint32_t{1} << tensors_.size();
  return add_owned_input(std::move(input));
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape) {
  OPLOOM_INTERNAL_ASSERT(!resize_outputs_,
                         "declare_static_shape() needs resize_outputs(false) before it");
  static_shape_.emplace(shape.begin(), shape.end());
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape,
                                                                 IntArrayRef squash_dims) {
  declare_static_shape(shape);
  for (int64_t dim : squash_dims) (*static_shape_)[dim] = 1;
  return *this;
}

// ---- TensorIteratorBase: building ----

TensorIteratorBase::TensorIteratorBase() = default;
TensorIteratorBase::~TensorIteratorBase() = default;

TensorIteratorBase::TensorIteratorBase(const TensorIteratorBase& other)
    : name_(other.name_),
      shape_(other.shape_),
      perm_(other.perm_),
      operands_((other.need_operands(), other.operands_)),
      numel_(other.numel_),
      num_outputs_(other.num_outputs_),
      common_dtype_(other.common_dtype_),
      common_device_(other.common_device_),
      is_reduction_(other.is_reduction_),
      is_meta_(other.is_meta_),
      has_casts_(other.has_casts_),
      is_dense_row_(other.is_dense_row_) {
  if (other.has_short_rows_) take_short_rows(other);
}

std::string TensorIteratorBase::message_prefix() const {
  const char* name = name_ != nullptr ? name_ : op_name();
  return name != nullptr ? c10::str(name, "(): ") : std::string();
}

void TensorIteratorBase::build(TensorIteratorConfig& config) {
  is_reduction_ = config.is_reduction_;
  name_ = config.name_;
  populate_operands(config);
  mark_outputs();
  compute_mem_overlaps(config);
  compute_shape(config);
  mark_resize_outputs(config);
  compute_types(config);
  if (!fast_set_up(config)) {
    compute_strides(config);
    if (!config.enforce_linear_iteration_) reorder_dimensions();
    allocate_or_resize_outputs();
    if (!is_meta_) coalesce_dimensions();
    if (!is_meta_ && !config.enforce_linear_iteration_) bring_transposed_inside();
  }
  if (is_meta_) return;
  set_data_and_casts();
}

void TensorIteratorBase::populate_operands(TensorIteratorConfig& config) {
  operands_.reserve(config.tensors_.size());
  for (const auto i : c10::irange(config.tensors_.size())) {
    OperandInfo& op = operands_.emplace_back(std::move(config.tensors_[i]));
    op.is_const = (config.const_mask_ >> i & 1) != 0;
    const auto input = static_cast<int>(i) - config.num_outputs_;
    op.keeps_dtype = input >= 0 && (config.keep_dtype_mask_ >> input & 1) != 0;
    if (op.device.has_value() && op.device->type() == DeviceType::Meta) is_meta_ = true;
  }
  num_outputs_ = config.num_outputs_;
}

void TensorIteratorBase::mark_outputs() {
  for (const auto i : c10::irange(num_outputs_)) {
    OperandInfo& output = operands_[i];
    output.is_output = true;
    if (!output.tensor().defined()) continue;
    for (const auto arg : c10::irange(num_outputs_, ntensors())) {
      if (output.tensor().is_same(operands_[arg].tensor())) output.is_read_write = true;
    }
  }
}

void TensorIteratorBase::compute_mem_overlaps(const TensorIteratorConfig& config) {
  if (!config.check_mem_overlap_) return;
  for (const auto i : c10::irange(num_outputs_)) {
    const TensorBase& output = operands_[i].tensor();
    if (!output.defined()) continue;
    if (has_internal_overlap(output) == MemOverlap::Yes) {
      assert_no_internal_overlap(output, message_prefix());
    }
    for (const auto arg : c10::irange(num_outputs_, ntensors())) {
      const TensorBase& input = operands_[arg].tensor();
      if (input.is_same(output) || !input.defined()) continue;
      if (get_overlap_status(output, input) == MemOverlapStatus::Partial) {
        assert_no_partial_overlap(output, input, message_prefix());
      }
    }
  }
}

bool detail::broadcast_into(DimVector& shape, IntArrayRef other, int64_t& bad_dim) {
  if (shape.size() < other.size()) {
    const size_t before = shape.size(), added = other.size() - before;
    shape.resize(other.size());
    for (size_t d = before; d-- > 0;) shape[d + added] = shape[d];
    for (size_t d = 0; d < added; ++d) shape[d] = 1;
  }
  const size_t lead = shape.size() - other.size();
  for (size_t d = other.size(); d-- > 0;) {
    int64_t& size = shape[lead + d];
    if (size == 1) {
      size = other[d];
    } else if (other[d] != 1 && other[d] != size) {
      bad_dim = static_cast<int64_t>(lead + d);
      return false;
    }
  }
  return true;
}

void TensorIteratorBase::compute_shape(const TensorIteratorConfig& config) {
  if (config.static_shape_.has_value()) {
    shape_ = *config.static_shape_;
  } else {
    all_ops_same_shape_ = true;
    bool has_scalars = false;
    bool has_tensors = false;
    bool first = true;
    for (const OperandInfo& op : operands_) {
      // An output that may be resized has no say, unless it is an input, too.
      if (!op.tensor().defined() || (config.resize_outputs_ && op.is_output)) continue;
      const IntArrayRef sizes = op.tensor().sizes();
      (sizes.empty() ? has_scalars : has_tensors) = true;
      if (has_scalars && has_tensors) all_ops_same_shape_ = false;
      if (first) {
        shape_ = sizes;
        first = false;
      } else if (sizes != IntArrayRef(shape_)) {
        all_ops_same_shape_ = false;
        int64_t bad_dim = 0;
        DimVector before = shape_;
        OPLOOM_CHECK(detail::broadcast_into(shape_, sizes, bad_dim), message_prefix(),
                     "tensors of shapes ", IntArrayRef(before), " and ", sizes,
                     " cannot be broadcast together: they differ at dimension ", bad_dim);
      }
    }
    all_ops_are_scalars_ = !has_tensors;
  }
  numel_ = 1;
  for (int64_t size : shape_) {
    OPLOOM_CHECK_VALUE(!__builtin_mul_overflow(numel_, size, &numel_), message_prefix(),
                       "the broadcast shape ", IntArrayRef(shape_),
                       " has more elements than 64 bits can count");
  }
}

void TensorIteratorBase::mark_resize_outputs(const TensorIteratorConfig& config) {
  if (config.static_shape_.has_value()) return;
  for (const auto i : c10::irange(num_outputs_)) {
    OperandInfo& op = operands_[i];
    if (!op.tensor().defined() || op.tensor().sizes() == IntArrayRef(shape_)) continue;
    if (config.resize_outputs_ && !op.is_read_write) {
      op.will_resize = true;
      continue;
    }
    // The output of a reduction is an expanded view, which has the shape already.
    OPLOOM_CHECK(is_reduction_, message_prefix(), "output with shape ", op.tensor().sizes(),
                 " doesn't match the broadcast shape ", IntArrayRef(shape_));
  }
}

ScalarType TensorIteratorBase::compute_common_dtype() const {
  native::ResultTypeState state;
  for (const OperandInfo& op : operands_) {
    if (op.is_output || op.keeps_dtype) continue;
    native::update_result_type_state(op.tensor(), state);
  }
  return native::result_type(state);
}

void TensorIteratorBase::compute_types(const TensorIteratorConfig& config) {
  Device common_device = kCPU;
  ScalarType output_dtype = ScalarType::Undefined;
  bool has_different_inputs = false;
  bool has_different_outputs = false;
  common_dtype_ = ScalarType::Undefined;

  for (OperandInfo& op : operands_) {
    if (!op.tensor().defined()) {
      OPLOOM_CHECK(op.is_output, message_prefix(), "expected a tensor, got an undefined one");
      if (config.static_dtype_ != ScalarType::Undefined) op.target_dtype = config.static_dtype_;
      op.device = config.static_device_;
      continue;
    }
    if (common_device.type() == DeviceType::CPU && op.device->type() != DeviceType::CPU) {
      common_device = *op.device;
    }
    if (op.keeps_dtype) continue;
    ScalarType& seen = op.is_output ? output_dtype : common_dtype_;
    if (seen == ScalarType::Undefined) {
      seen = op.current_dtype;
    } else if (seen != op.current_dtype) {
      (op.is_output ? has_different_outputs : has_different_inputs) = true;
    }
  }
  // Without inputs the outputs say in which dtype to compute.
  if (common_dtype_ == ScalarType::Undefined && ninputs() == 0) common_dtype_ = output_dtype;

  if (config.check_all_same_dtype_ &&
      (has_different_inputs || has_different_outputs ||
       (output_dtype != ScalarType::Undefined && output_dtype != common_dtype_))) {
    for (const OperandInfo& op : operands_) {
      if (!op.tensor().defined()) continue;
      OPLOOM_CHECK(op.current_dtype == common_dtype_, message_prefix(),
                   "expected all tensors to have one dtype, got ", common_dtype_, " and ",
                   op.current_dtype);
    }
  }

  if (config.forced_common_dtype_ != ScalarType::Undefined) {
    common_dtype_ = config.forced_common_dtype_;
  } else if ((has_different_inputs || all_ops_are_scalars_) &&
             config.promote_inputs_to_common_dtype_) {
    common_dtype_ = compute_common_dtype();
  } else if (has_different_inputs) {
    common_dtype_ = ScalarType::Undefined;
  }
  if (config.promote_integer_inputs_to_float_ && common_dtype_ != ScalarType::Undefined &&
      c10::isIntegralType(common_dtype_, /*includeBool=*/true)) {
    common_dtype_ = c10::get_default_dtype();
  }
  common_device_ = config.static_device_.value_or(common_device);

  const ScalarType result_dtype =
      config.static_dtype_ != ScalarType::Undefined ? config.static_dtype_ : common_dtype_;
  for (OperandInfo& op : operands_) {
    if (!op.is_type_defined()) op.target_dtype = common_dtype_;
    if (!op.device.has_value()) op.device = common_device_;
    if (!op.tensor().defined()) {
      OPLOOM_INTERNAL_ASSERT(op.is_type_defined(),
                             "the inputs do not say which dtype the output has");
      continue;
    }
    if (config.check_all_same_device_ && *op.device != common_device) {
      const bool cpu_scalar = config.allow_cpu_scalars_ && !op.is_output &&
                              op.tensor().dim() == 0 && op.device->type() == DeviceType::CPU;
      OPLOOM_CHECK(cpu_scalar, message_prefix(),
                   "expected all tensors to be on the same device, got ", common_device, " and ",
                   *op.device);
    }
    if (op.is_output) {
      if (config.enforce_safe_casting_to_output_ && op.current_dtype != result_dtype) {
        OPLOOM_CHECK(c10::canCast(result_dtype, op.current_dtype), message_prefix(),
                     "result dtype ", result_dtype, " can't be cast to the output's dtype ",
                     op.current_dtype);
      }
      if (config.cast_common_dtype_to_outputs_) op.target_dtype = result_dtype;
    } else if (config.promote_inputs_to_common_dtype_ && !op.keeps_dtype) {
      op.target_dtype = common_dtype_;
    }
  }
}

// ---- TensorIteratorBase: shape of the loops ----

TensorIteratorBase::FastSetup TensorIteratorBase::compute_fast_setup(
    const TensorIteratorConfig& config) const {
  if (is_reduction_ || !all_ops_same_shape_) return FastSetup::None;
  bool contiguous = true;
  bool channels_last = true;
  bool dense = true;
  const TensorBase* like = nullptr;
  bool same_strides = true;
  for (const OperandInfo& op : operands_) {
    const TensorBase& tensor = op.tensor();
    if (!tensor.defined() || op.will_resize) continue;
    contiguous = contiguous && tensor.is_contiguous();
    channels_last = channels_last && tensor.is_contiguous(MemoryFormat::ChannelsLast);
    dense = dense && tensor.is_non_overlapping_and_dense();
    if (like != nullptr) same_strides = same_strides && tensor.strides() == like->strides();
    like = &tensor;
  }
  if (contiguous) return FastSetup::Contiguous;
  if (config.enforce_linear_iteration_) return FastSetup::None;
  if (channels_last) return FastSetup::ChannelsLast;
  return dense && same_strides && like != nullptr ? FastSetup::NonOverlappingDense
                                                  : FastSetup::None;
}

DimVector TensorIteratorBase::strides_like(const TensorBase& tensor) {
  DimVector strides(tensor.strides());
  if (!tensor.is_contiguous(MemoryFormat::ChannelsLast)) return strides;
  // The strides of dimensions of size 1 are arbitrary; those of the format are not.
  int64_t step = 1;
  for (int64_t d : {1, 3, 2, 0}) {
    strides[d] = step;
    step *= tensor.sizes()[d];
  }
  return strides;
}

bool TensorIteratorBase::fast_set_up(const TensorIteratorConfig& config) {
  const FastSetup setup = compute_fast_setup(config);
  if (setup == FastSetup::None) return false;
  // Outputs that are to be made take the layout that all the others have.
  DimVector strides;
  if (setup != FastSetup::Contiguous) {
    for (const OperandInfo& op : operands_) {
      if (!op.tensor().defined() || op.will_resize) continue;
      strides = strides_like(op.tensor());
      break;
    }
  }
  const DimVector sizes = shape_;
  for (const auto i : c10::irange(num_outputs_)) {
    OperandInfo& op = operands_[i];
    set_output_raw_strided(i, sizes, strides, op.options());
  }
  if (is_meta_) return true;
  set_single_row(numel_);
  return true;
}

// All operands become one dense row.
void TensorIteratorBase::set_single_row(int64_t numel) {
  numel_ = numel;
  is_dense_row_ = true;
  const bool has_dim = ndim() >= 1;
  if (has_dim) {
    shape_.resize(1);
    shape_[0] = numel;
  }
  for (OperandInfo& op : operands_) {
    op.stride_bytes.resize(shape_.size());
    if (has_dim) op.stride_bytes[0] = static_cast<int64_t>(elementSize(op.current_dtype));
  }
}

// The dimensions become those of the tensors from the last to the first. Where the shape was given,
// operands have its dimensions, and nothing is broadcast.
void TensorIteratorBase::compute_strides(const TensorIteratorConfig& config) {
  const int last = ndim() - 1;
  const bool is_static = config.static_shape_.has_value();
  std::reverse(shape_.begin(), shape_.end());
  perm_.resize(shape_.size());
  for (const auto i : c10::irange(ndim())) perm_[i] = last - i;
  for (OperandInfo& op : operands_) {
    const TensorBase& tensor = op.tensor();
    if (!tensor.defined() || op.will_resize) continue;
    const IntArrayRef sizes = tensor.sizes();
    const IntArrayRef strides = tensor.strides();
    const auto element_size = static_cast<int64_t>(tensor.element_size());
    op.stride_bytes.assign(shape_.size(), 0);
    for (const auto i : c10::irange(sizes.size())) {
      const size_t d = sizes.size() - 1 - i;
      const bool broadcast = sizes[d] == 1 && shape_[i] != 1 && !is_static;
      op.stride_bytes[i] = broadcast ? 0 : strides[d] * element_size;
    }
  }
}

// See Note [Order of the loops]. An insertion sort, as the comparison is not always decided.
void TensorIteratorBase::reorder_dimensions() {
  // Positive: dim0 should come after dim1; negative: before it; 0: undecided.
  const auto compare = [&](int dim0, int dim1) {
    for (const OperandInfo& op : operands_) {
      if (op.stride_bytes.empty() || op.will_resize) continue;
      const int64_t stride0 = op.stride_bytes[dim0];
      const int64_t stride1 = op.stride_bytes[dim1];
      if (is_reduction_ && op.is_output && (stride0 == 0) != (stride1 == 0)) {
        // Reduced dimensions go inside.
        return stride1 == 0 ? 1 : -1;
      }
      if (stride0 == 0 || stride1 == 0) continue;
      if (stride0 != stride1) return stride0 < stride1 ? -1 : 1;
      if (shape_[dim0] > shape_[dim1]) return 1;
    }
    return 0;
  };
  for (int i = 1; i < ndim(); ++i) {
    int at = i;
    for (int before = i - 1; before >= 0; --before) {
      const int order = compare(before, at);
      if (order > 0) {
        swap_dimensions(before, at);
        at = before;
      } else if (order < 0) {
        break;
      }
    }
  }
}

void TensorIteratorBase::swap_dimensions(int dim0, int dim1) {
  std::swap(shape_[dim0], shape_[dim1]);
  std::swap(perm_[dim0], perm_[dim1]);
  for (OperandInfo& op : operands_) {
    if (!op.stride_bytes.empty()) std::swap(op.stride_bytes[dim0], op.stride_bytes[dim1]);
  }
}

void TensorIteratorBase::allocate_or_resize_outputs() {
  for (const auto i : c10::irange(num_outputs_)) {
    OperandInfo& op = operands_[i];
    if (op.tensor().defined() && !op.will_resize) {
      set_output_raw_strided(i, DimVector(op.tensor().sizes()), {}, op.options());
      continue;
    }
    DimVector sizes(shape_.size());
    bool row_major = true;
    for (const auto d : c10::irange(ndim())) {
      row_major = row_major && perm_[d] == ndim() - 1 - d;
      sizes[perm_[d]] = shape_[d];
    }
    DimVector strides(row_major ? 0 : shape_.size());
    int64_t step = 1;
    for (const auto d : c10::irange(strides.size())) {
      strides[perm_[d]] = step;
      step *= std::max<int64_t>(shape_[d], 1);
    }
    set_output_raw_strided(i, sizes, strides, op.options());
    if (is_meta_) continue;
    // The tensor may have come out with other strides than wished for.
    const IntArrayRef real = op.tensor().strides();
    const auto element_size = static_cast<int64_t>(op.tensor().element_size());
    op.stride_bytes.resize(shape_.size());
    for (const auto d : c10::irange(ndim())) op.stride_bytes[d] = real[perm_[d]] * element_size;
  }
}

void TensorIteratorBase::coalesce_dimensions() {
  if (ndim() <= 1) return;
  const auto can_merge = [&](int dim0, int dim1) {
    if (shape_[dim0] == 1 || shape_[dim1] == 1) return true;
    for (const OperandInfo& op : operands_) {
      if (shape_[dim0] * op.stride_bytes[dim0] != op.stride_bytes[dim1]) return false;
    }
    return true;
  };
  const auto take_strides = [&](int to, int from) {
    for (OperandInfo& op : operands_) op.stride_bytes[to] = op.stride_bytes[from];
  };
  int last = 0;
  for (int dim = 1; dim < ndim(); ++dim) {
    if (can_merge(last, dim)) {
      if (shape_[last] == 1) take_strides(last, dim);
      shape_[last] *= shape_[dim];
    } else {
      ++last;
      if (last != dim) {
        take_strides(last, dim);
        shape_[last] = shape_[dim];
      }
    }
  }
  if (last + 1 == ndim()) return;
  shape_.resize(last + 1);
  for (OperandInfo& op : operands_) op.stride_bytes.resize(last + 1);
}

// Loops are given two dimensions, and transpose operands whose neighbours lie along the second.
// Where those of one lie along a later dimension, and of none along the second, the two change
// places.
void TensorIteratorBase::bring_transposed_inside() {
  constexpr int64_t kFewest = 8;  // of which columns are worth transposing
  if (ndim() < 3 || is_reduction_ || shape_[0] < kFewest) return;
  int dim = 0;
  for (const OperandInfo& op : operands_) {
    const auto size = static_cast<int64_t>(op.tensor().itemsize());
    if (op.stride_bytes[1] == size) return;
    if (op.is_output || op.stride_bytes[0] == size || op.stride_bytes[0] == 0) continue;
    for (int d = 2; d < ndim() && dim == 0; ++d) {
      if (op.stride_bytes[d] == size && shape_[d] >= kFewest) dim = d;
    }
  }
  if (dim != 0) swap_dimensions(1, dim);
}

void TensorIteratorBase::make_second(int dim) {
  for (; dim > 1; --dim) swap_dimensions(dim - 1, dim);
}

void TensorIteratorBase::set_data_and_casts() {
  for (OperandInfo& op : operands_) {
    const TensorBase& tensor = op.tensor();
    op.data = op.is_const ? const_cast<void*>(tensor.const_data_ptr()) : tensor.mutable_data_ptr();
    if (op.current_dtype == op.target_dtype || common_device_.type() != DeviceType::CPU) continue;
    const detail::CastLoop load = detail::get_cast_loop(op.target_dtype, op.current_dtype);
    if (!op.is_output && tensor.numel() == 1) {
      load(op.scalar_buffer, 0, static_cast<const char*>(op.data), 0, 1);
      op.data = op.scalar_buffer;
      // Strides of an operand of one element are never followed.
      continue;
    }
    has_casts_ = true;
    if (!op.is_output || is_reduction_) op.load = load;
    if (op.is_output) op.store = detail::get_cast_loop(op.current_dtype, op.target_dtype);
  }
}

// ---- Outputs ----

void TensorIteratorBase::set_output_raw_strided(int64_t index, IntArrayRef sizes,
                                                IntArrayRef strides, TensorOptions options) {
  if (outputs() == nullptr) return make_output(index, sizes, strides, options);
  MetaBase::set_output_raw_strided(index, sizes, strides, options);
  learn_output(index, maybe_get_output(index));
}

void TensorIteratorBase::set_output_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                                            TensorOptions options) {
  if (outputs() == nullptr) return make_output(index, sizes, strides, options);
  MetaBase::set_output_strided(index, sizes, strides, options);
  learn_output(index, maybe_get_output(index));
}

void TensorIteratorBase::make_output(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                                     const TensorOptions& options) {
  OperandInfo& op = operands_[index];
  if (!op.tensor().defined()) {
    op.tensor_holder = MaybeOwned<TensorBase>::owned(
        strides.empty() ? detail::empty(sizes, options)
                        : detail::empty_strided(sizes, strides, options));
  } else if (op.will_resize) {
    detail::resize_output(op.tensor(), sizes, strides);
  }
  learn_output(index, op.tensor());
}

void TensorIteratorBase::learn_output(int64_t index, const TensorBase& tensor) {
  OperandInfo& op = operands_[index];
  OPLOOM_INTERNAL_ASSERT(tensor.defined(), "no output was made");
  // A new one, or a temporary in the place of the one that was given.
  if (!op.tensor().is_same(tensor)) op.tensor_holder = MaybeOwned<TensorBase>::borrowed(tensor);
  op.current_dtype = tensor.scalar_type();
  if (op.target_dtype == ScalarType::Undefined) op.target_dtype = op.current_dtype;
}

}  // namespace at::inline oploom_v1
