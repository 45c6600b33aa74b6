// TensorIterator: walks over the elements of several tensors together.
#pragma once

#include <aten/core/MetaBase.h>
#include <aten/core/Parallel.h>
#include <aten/core/TensorBase.h>
#include <aten/iterator/Cast.h>
#include <aten/iterator/MemoryOverlap.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/SmallVector.h>

#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

// TensorIterator takes the outputs and inputs of a pointwise operator or a reduction, and does what
// all of them need: broadcasting, type promotion, checks, allocation of outputs, the order of the
// loops, splitting over threads. The kernel sees plain rows of elements.
//
//   auto iter = TensorIteratorConfig()
//                   .add_output(out)          // may be undefined: is then allocated
//                   .add_const_input(a)
//                   .add_const_input(b)
//                   .build();
//   iter.for_each([](char** data, const int64_t* strides, int64_t n) {
//     for (int64_t i = 0; i < n; ++i) {
//       *(float*)(data[0] + i * strides[0]) =
//           *(float*)(data[1] + i * strides[1]) + *(float*)(data[2] + i * strides[2]);
//     }
//   });
//
// Note [Order of operands]
// Outputs come first: operand 0 is the first output, operand noutputs() the first input. Config
// functions must be called in that order.
//
// Note [Strides are bytes]
// All strides of an iterator count bytes, and dimension 0 is the innermost (fastest) one.
//
// Note [Order of the loops]
// The dimensions are sorted so that the outputs are walked through in the order of their memory,
// then neighbouring dimensions are merged where all strides allow it: operands with one common
// dense layout become a single row. Kernels must not depend on the order; one that does asks for
// enforce_linear_iteration().
//
// Note [Layout of allocated outputs]
// An output that the iterator allocates has the dense layout whose dimensions are ordered as those
// of the inputs, the first input deciding first. So channels_last in gives channels_last out.
//
// Note [Casts]
// With promote_inputs_to_common_dtype() the inputs are converted to the common dtype, and with
// cast_common_dtype_to_outputs() the kernel's results to the outputs' dtypes. The kernel only ever
// sees rows of dtype(arg), the dtype to compute in. The conversion happens inside for_each(), a
// short row at a time in a buffer on the stack; a single element is converted once, when the
// iterator is built. Therefore a kernel that reads data_ptr(arg) on its own, without for_each(),
// must not ask for casts.
//
// Note [Borrowed operands]
// add_output/add_input take no reference: the tensors must outlive the iterator. add_owned_* do.
// An iterator that is returned to a caller that does not hold the operands must own them.

namespace at::inline oploom_v1 {

class TensorIterator;
class TensorIteratorConfig;

// What the iterator knows about one operand.
struct OPLOOM_API OperandInfo {
  explicit OperandInfo(MaybeOwned<TensorBase> t) : tensor_holder(std::move(t)) {
    take_properties(*tensor_holder);
  }
  // Borrows the tensor.
  explicit OperandInfo(const TensorBase* t) : tensor_holder(MaybeOwned<TensorBase>::borrowed(*t)) {
    take_properties(*t);
  }
  void take_properties(const TensorBase& tensor) {
    if (tensor.defined()) {
      device = tensor.device();
      current_dtype = target_dtype = tensor.scalar_type();
    }
  }
  OperandInfo(const OperandInfo& other) { *this = other; }
  OperandInfo(OperandInfo&& other) noexcept { *this = std::move(other); }
  OperandInfo& operator=(const OperandInfo& other);
  OperandInfo& operator=(OperandInfo&& other) noexcept;
  ~OperandInfo() = default;

  const TensorBase& tensor() const { return *tensor_holder; }
  bool is_type_defined() const { return target_dtype != ScalarType::Undefined; }
  TensorOptions options() const { return TensorOptions().dtype(target_dtype).device(*device); }

  MaybeOwned<TensorBase> tensor_holder;
  // Broadcast strides in bytes, empty until they are computed.
  DimVector stride_bytes;
  void* data = nullptr;
  // Where an output is to live; unset for an undefined tensor until the common device is known.
  std::optional<Device> device;
  // The dtype that the kernel sees, and that of the tensor; see Note [Casts].
  ScalarType target_dtype = ScalarType::Undefined;
  ScalarType current_dtype = ScalarType::Undefined;
  bool is_output = false;
  bool is_const = false;
  // An input that takes no part in promotion.
  bool keeps_dtype = false;
  bool will_resize = false;
  // The output is also an input.
  bool is_read_write = false;
  // Converters, set if the two dtypes differ and for_each() must convert.
  detail::CastLoop load = nullptr;
  detail::CastLoop store = nullptr;
  // Holds the converted value of an input of one element; `data` then points here.
  alignas(16) char scalar_buffer[16];
};

class OPLOOM_API TensorIteratorBase : public impl::MetaBase {
 public:
  using PtrVector = SmallVector<char*, 4>;
  using StrideVector = SmallVector<int64_t, 6>;
  // A row: pointers to the first elements, one stride for each operand, number of elements.
  using loop1d_t = c10::function_ref<void(char** data, const int64_t* strides, int64_t size)>;
  // A block of size1 rows of size0 elements: ntensors() inner strides, then ntensors() outer ones.
  using loop2d_t =
      c10::function_ref<void(char** data, const int64_t* strides, int64_t size0, int64_t size1)>;
  using loop_subiter_t = c10::function_ref<void(TensorIteratorBase& subiter)>;

  TensorIteratorBase();
  ~TensorIteratorBase();
  void build(TensorIteratorConfig& config);

  int ndim() const { return static_cast<int>(shape_.size()); }
  IntArrayRef shape() const { return shape_; }
  int64_t numel() const { return numel_; }
  int ntensors() const { return num_rows_ != 0 ? num_rows_ : static_cast<int>(operands_.size()); }
  int noutputs() const { return num_outputs_; }
  int ninputs() const { return ntensors() - noutputs(); }

  // The elements of the first output; less than numel() for a reduction.
  int64_t num_output_elements() const;
  // The dimensions along which the first output has stride 0.
  int num_reduce_dims() const;
  bool is_dim_reduced(int dim) const;

  // One dimension or none: all operands are rows.
  bool is_trivial_1d() const { return ndim() <= 1; }
  // All operands are dense rows in the same order.
  bool is_contiguous() const;
  // All operands are one dense row of the dtypes that the kernel sees: data_ptr() is all it needs.
  bool is_dense_row() const { return is_dense_row_ && !has_casts_; }
  // Some operand is converted on the way; see Note [Casts].
  bool has_casts() const { return has_casts_; }

  IntArrayRef strides(int64_t arg) const {
    need_operands();
    return operands_[arg].stride_bytes;
  }
  void* data_ptr(int64_t arg) const {
    return num_rows_ != 0 ? row_data_[arg] : operands_[arg].data;
  }
  // Those of all operands, after a short cut; otherwise null.
  char* const* row_ptrs() const { return num_rows_ != 0 ? row_data_ : nullptr; }
  // The dtype that the kernel sees.
  ScalarType dtype(int64_t arg = 0) const {
    return num_rows_ != 0 ? row_dtypes_[arg] : operands_[arg].target_dtype;
  }
  ScalarType input_dtype(int64_t arg = 0) const { return dtype(num_outputs_ + arg); }
  ScalarType common_dtype() const {
    OPLOOM_INTERNAL_ASSERT(common_dtype_ != ScalarType::Undefined,
                           "the iterator was built without a common dtype");
    return common_dtype_;
  }
  Device device(int64_t arg = 0) const {
    return num_rows_ != 0 ? Device(kCPU) : *operands_[arg].device;
  }
  DeviceType device_type(int64_t arg = 0) const { return device(arg).type(); }
  int64_t element_size(int64_t arg) const { return static_cast<int64_t>(elementSize(dtype(arg))); }
  bool is_scalar(int64_t arg) const { return tensor_base(arg).numel() == 1; }
  bool is_cpu_scalar(int64_t arg) const {
    return is_scalar(arg) && device(arg).type() == DeviceType::CPU;
  }

  const TensorBase& tensor_base(int64_t arg) const {
    return num_rows_ != 0 ? *row_tensors_[arg] : operands_[arg].tensor();
  }
  const TensorBase& output_base(int64_t i = 0) const { return tensor_base(i); }
  const TensorBase& input_base(int64_t i = 0) const { return tensor_base(num_outputs_ + i); }

  // The value of an input of one element on the CPU whose own dtype is not the common one, which is
  // then taken out; nothing if it is none.
  std::optional<float> take_number(int64_t arg);
  void unsafe_replace_operand(int64_t arg, void* data) {
    need_operands();
    operands_[arg].data = data;
  }

  // Calls the loop over all elements, on several threads if there are more than grain_size. A loop
  // that writes nothing, such as a check of the inputs, is to say so: where outputs are converted,
  // it would have them overwritten.
  template <typename Loop,
            std::enable_if_t<std::is_invocable_v<Loop&, char**, const int64_t*, int64_t>, int> = 0>
  void for_each(Loop loop, int64_t grain_size = GRAIN_SIZE, bool writes = true) {
    for_each(loop2d_t(loop_2d_from_1d(loop)), grain_size, writes);
  }
  void for_each(loop2d_t loop, int64_t grain_size = GRAIN_SIZE, bool writes = true);

  // Calls the loop over elements [begin, end) on this thread.
  template <typename Loop,
            std::enable_if_t<std::is_invocable_v<Loop&, char**, const int64_t*, int64_t>, int> = 0>
  void serial_for_each(Loop loop, int64_t begin, int64_t end, bool writes = true) const {
    serial_for_each(loop2d_t(loop_2d_from_1d(loop)), begin, end, writes);
  }
  void serial_for_each(loop2d_t loop, int64_t begin, int64_t end, bool writes = true) const;

  // For a reduction: calls the loop with iterators over parts of the work. No two parts share an
  // output element, except when there is one output element only and `loop` is called once for each
  // thread's share with its own copy of the output (two-pass), which is then reduced in turn.
  void parallel_reduce(loop2d_t loop);
  // For a reduction: calls the loop once for each output element, with an iterator over the inputs
  // that belong to it.
  void foreach_reduced_elt(loop_subiter_t loop, bool parallelize = true);

  // Makes dimension `dim` the second one, before which others go that came before it.
  void make_second(int dim);
  // Restricts the iterator to [start, start + size) of a dimension.
  void narrow(int dim, int64_t start, int64_t size);
  // Restricts it to one position in all dimensions from start_dim on.
  void select_all_keeping_dim(int start_dim, IntArrayRef starts);
  // For each operand, its strides in the given two innermost dimensions: see loop2d_t.
  StrideVector get_strides() const;
  // First elements of all operands.
  PtrVector get_base_ptrs() const;

  // In the place of MetaBase's: an iterator learns about each output as soon as it exists. One that
  // is no operator's makes its outputs itself.
  void set_output_raw_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                              TensorOptions options);
  void set_output_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                          TensorOptions options);

  // Builders in the usual configurations, called from meta functions. "borrowing" ones take no
  // references; "float" ones promote integer inputs to the default dtype.
  void build_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_binary_float_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_binary_float_op(const TensorBase& out, const TensorBase& a,
                                       const TensorBase& b);
  void build_unary_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_op(const TensorBase& out, const TensorBase& a);
  // Computed in a dtype that the caller has found.
  void build_borrowing_unary_op_in(ScalarType dtype, const TensorBase& out, const TensorBase& a);
  void build_unary_float_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_float_op(const TensorBase& out, const TensorBase& a);
  // See Note [Short cuts]: builds nothing and returns false where it is not that simple.
  // `static_dtype` is the dtype of the kernel's results where that is not the common one,
  // `to_float` asks for promotion from integers.
  bool build_rows(const TensorBase& out, ArrayRef<const TensorBase*> inputs,
                  ScalarType static_dtype = ScalarType::Undefined, bool to_float = false);
  // The same for the elements of `a` where `condition`, a bool tensor, is true, of `b` elsewhere.
  bool build_where_rows(const TensorBase& out, const TensorBase& condition, const TensorBase& a,
                        const TensorBase& b);
  // Boolean outputs.
  void build_comparison_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_comparison_op(const TensorBase& out, const TensorBase& a,
                                     const TensorBase& b);
  void build_unary_force_boolean_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_force_boolean_op(const TensorBase& out, const TensorBase& a);
  // Inputs are of one dtype, or else converted to bool.
  void build_borrowing_logical_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_logical_op(const TensorBase& out, const TensorBase& a);
  // The elements of `a` where `condition`, a bool tensor, is true, of `b` elsewhere.
  void build_borrowing_where_op(const TensorBase& out, const TensorBase& condition,
                                const TensorBase& a, const TensorBase& b);
  void build_ternary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b,
                        const TensorBase& c);
  void build_borrowing_ternary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b,
                                  const TensorBase& c);

 protected:
  enum class FastSetup { None, Contiguous, ChannelsLast, NonOverlappingDense };

  TensorIteratorBase(const TensorIteratorBase& other);
  TensorIteratorBase& operator=(const TensorIteratorBase&) = delete;

  bool build_rows_of(const TensorBase& out, ArrayRef<const TensorBase*> inputs,
                     ScalarType static_dtype, bool to_float);
  template <size_t kept = 0>
  bool build_short_rows(const TensorBase& out, ArrayRef<const TensorBase*> inputs,
                        ScalarType static_dtype, bool to_float);
  bool try_fast_binary(const TensorBase& out, const TensorBase& a, const TensorBase& b,
                       ScalarType static_dtype, bool to_float);
  bool try_row_and_number(const TensorBase& out, const TensorBase& a, const TensorBase& b,
                          ScalarType static_dtype, bool to_float);
  bool build_alike_rows(const TensorBase& out, ArrayRef<const TensorBase*> inputs,
                        ScalarType static_dtype, bool to_float);
  bool build_other_rows(const TensorBase& out, ArrayRef<const TensorBase*> inputs,
                        ScalarType static_dtype, bool to_float);
  void set_rows(const TensorBase& out, IntArrayRef sizes, int64_t numel, ScalarType dtype,
                ScalarType result);
  void set_output_row(const TensorBase& output, ScalarType dtype, ScalarType result);
  void set_row(int k, const TensorBase& tensor, void* data, ScalarType dtype) {
    row_data_[k] = static_cast<char*>(data);
    row_tensors_[k] = &tensor;
    row_dtypes_[k] = dtype;
  }
  void add_row(const TensorBase& input, const void* data, ScalarType dtype) {
    set_row(num_rows_++, input, const_cast<void*>(data), dtype);
  }
  static void fill_row(char* row, const TensorBase& input, IntArrayRef shape, int64_t numel,
                       ScalarType dtype);
  void need_operands() const {
    if (OPLOOM_UNLIKELY(num_rows_ != 0)) const_cast<TensorIteratorBase*>(this)->operands_of_rows();
  }
  void operands_of_rows();
  // Takes an input out.
  void remove_operand(int64_t arg);
  void take_short_rows(const TensorIteratorBase& other);
  std::string message_prefix() const;
  void populate_operands(TensorIteratorConfig& config);
  void mark_outputs();
  void mark_resize_outputs(const TensorIteratorConfig& config);
  void compute_mem_overlaps(const TensorIteratorConfig& config);
  void compute_shape(const TensorIteratorConfig& config);
  void compute_types(const TensorIteratorConfig& config);
  ScalarType compute_common_dtype() const;
  // The strides of a dense tensor, for another one in the same layout.
  static DimVector strides_like(const TensorBase& tensor);
  FastSetup compute_fast_setup(const TensorIteratorConfig& config) const;
  bool fast_set_up(const TensorIteratorConfig& config);
  void compute_strides(const TensorIteratorConfig& config);
  void reorder_dimensions();
  void swap_dimensions(int dim0, int dim1);
  void allocate_or_resize_outputs();
  void coalesce_dimensions();
  void bring_transposed_inside();
  void set_data_and_casts();
  void set_single_row(int64_t numel);
  void make_output(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                   const TensorOptions& options);
  void learn_output(int64_t index, const TensorBase& tensor);
  void run_range(loop2d_t loop, int64_t begin, int64_t end) const;
  void run_converting(loop2d_t loop, char** data, const int64_t* strides, int64_t size0,
                      int64_t size1, bool writes) const;

  template <typename Loop>
  auto loop_2d_from_1d(Loop& loop) const {
    return [&loop, ntensors = ntensors()](char** base, const int64_t* strides, int64_t size0,
                                          int64_t size1) {
      SmallVector<char*, 4> data(base, base + ntensors);
      const int64_t* outer_strides = strides + ntensors;
      for (int64_t i = 0; i < size1; ++i) {
        if (i > 0) {
          for (int64_t arg = 0; arg < ntensors; ++arg) data[arg] += outer_strides[arg];
        }
        loop(data.data(), strides, size0);
      }
    };
  }

  const char* name_ = nullptr;
  DimVector shape_;
  // perm_[i] is the dimension of the tensors that is dimension i here. Empty after a fast set-up.
  DimVector perm_;
  SmallVector<OperandInfo, 4> operands_;
  // After a short cut, in place of operands_ until need_operands() makes those.
  static constexpr int kMaxRows = 6;
  char* row_data_[kMaxRows];
  const TensorBase* row_tensors_[kMaxRows];
  ScalarType row_dtypes_[kMaxRows];
  int num_rows_ = 0;
  TensorBase own_row_;  // the output, where there is nobody to make it
  // Inputs of a short call that were made rows.
  static constexpr int64_t kShortBytes = 512;
  static constexpr int kMaxShort = 3;
  alignas(32) char short_rows_[kMaxShort][kShortBytes];
  bool has_short_rows_ = false;
  int64_t numel_ = 0;
  int num_outputs_ = 0;
  ScalarType common_dtype_ = ScalarType::Undefined;
  Device common_device_ = kCPU;
  // Of use to build() alone.
  bool all_ops_same_shape_ = false;
  bool all_ops_are_scalars_ = false;
  bool is_reduction_ = false;
  bool is_meta_ = false;
  bool has_casts_ = false;
  bool is_dense_row_ = false;
};

class OPLOOM_API TensorIterator final : public TensorIteratorBase {
 public:
  TensorIterator() = default;
  // A second iterator over the same operands, as a start for narrow() and the like.
  explicit TensorIterator(const TensorIteratorBase& other) : TensorIteratorBase(other) {}
  TensorIterator(const TensorIterator& other) : TensorIteratorBase(other) {}

  static TensorIterator binary_op(TensorBase& out, const TensorBase& a, const TensorBase& b);
  static TensorIterator borrowing_binary_op(const TensorBase& out, const TensorBase& a,
                                            const TensorBase& b);
  static TensorIterator binary_float_op(TensorBase& out, const TensorBase& a, const TensorBase& b);
  static TensorIterator comparison_op(TensorBase& out, const TensorBase& a, const TensorBase& b);
  static TensorIterator unary_op(TensorBase& out, const TensorBase& a);
  static TensorIterator unary_float_op(TensorBase& out, const TensorBase& a);
  static TensorIterator nullary_op(TensorBase& out);
  static TensorIterator borrowing_nullary_op(const TensorBase& out);
  // The output has the input's sizes, with stride 0 (an expanded view) along what is reduced.
  static TensorIterator reduce_op(TensorBase& out, const TensorBase& a);
  static TensorIterator reduce_op(TensorBase& out1, TensorBase& out2, const TensorBase& a);
};

class OPLOOM_API TensorIteratorConfig final {
 public:
  TensorIteratorConfig() = default;
  TensorIteratorConfig(const TensorIteratorConfig&) = delete;
  TensorIteratorConfig& operator=(const TensorIteratorConfig&) = delete;

  // Operands; see Note [Order of operands] and Note [Borrowed operands].
  TensorIteratorConfig& add_output(const TensorBase& output) { return add_borrowed_output(output); }
  TensorIteratorConfig& add_input(const TensorBase& input) { return add_borrowed_input(input); }
  TensorIteratorConfig& add_const_input(const TensorBase& input) {
    return add_borrowed_const_input(input);
  }
  TensorIteratorConfig& add_output(TensorBase&&) = delete;
  TensorIteratorConfig& add_input(TensorBase&&) = delete;
  TensorIteratorConfig& add_const_input(TensorBase&&) = delete;
  TensorIteratorConfig& add_borrowed_output(const TensorBase& output);
  TensorIteratorConfig& add_borrowed_input(const TensorBase& input);
  TensorIteratorConfig& add_borrowed_const_input(const TensorBase& input);
  TensorIteratorConfig& add_owned_output(TensorBase output);
  TensorIteratorConfig& add_owned_input(TensorBase input);
  TensorIteratorConfig& add_owned_const_input(TensorBase input);

  // The operator's name, with which error messages begin.
  TensorIteratorConfig& set_name(const char* name) {
    name_ = name;
    return *this;
  }
  // Refuse outputs that overlap themselves or, partly, an input. Default: on.
  TensorIteratorConfig& set_check_mem_overlap(bool value) {
    check_mem_overlap_ = value;
    return *this;
  }
  // Refuse operands of different dtypes. Default: on.
  TensorIteratorConfig& check_all_same_dtype(bool value) {
    check_all_same_dtype_ = value;
    return *this;
  }
  // Refuse operands on different devices. Default: on.
  TensorIteratorConfig& check_all_same_device(bool value) {
    check_all_same_device_ = value;
    return *this;
  }
  // Allow 0-d CPU tensors beside operands on another device. Default: off.
  TensorIteratorConfig& allow_cpu_scalars(bool value) {
    allow_cpu_scalars_ = value;
    return *this;
  }
  // Refuse outputs to whose dtype the common dtype cannot be cast (float to int). Default: off.
  TensorIteratorConfig& enforce_safe_casting_to_output(bool value) {
    enforce_safe_casting_to_output_ = value;
    return *this;
  }
  // Keep the order of the dimensions: row-major, the last one innermost. Default: off.
  TensorIteratorConfig& enforce_linear_iteration(bool value = true) {
    enforce_linear_iteration_ = value;
    return *this;
  }
  // Compute in the promoted dtype of the inputs; see Note [Casts]. Default: off.
  TensorIteratorConfig& promote_inputs_to_common_dtype(bool value) {
    promote_inputs_to_common_dtype_ = value;
    if (value) check_all_same_dtype_ = false;
    return *this;
  }
  // Promote further, from integers to the default floating dtype. Default: off.
  TensorIteratorConfig& promote_integer_inputs_to_float(bool value) {
    promote_integer_inputs_to_float_ = value;
    return *this;
  }
  // Compute in this dtype, whatever the inputs promote to; needs promote_inputs_to_common_dtype().
  TensorIteratorConfig& declare_common_dtype(ScalarType dtype) {
    forced_common_dtype_ = dtype;
    return *this;
  }
  // Input `index` (0 is the first input) keeps its dtype and does not take part in the promotion.
  TensorIteratorConfig& keep_input_dtype(int index) {
    keep_dtype_mask_ |= uint32_t{1} << index;
    return *this;
  }
  TensorIteratorConfig& cast_common_dtype_to_outputs(bool value) {
    cast_common_dtype_to_outputs_ = value;
    if (value) check_all_same_dtype_ = false;
    return *this;
  }
  // The outputs are views with stride 0 along the reduced dimensions. Default: off.
  TensorIteratorConfig& is_reduction(bool value) {
    is_reduction_ = value;
    return *this;
  }
  // Give outputs of the wrong size the right one; otherwise refuse them. Default: on.
  TensorIteratorConfig& resize_outputs(bool value) {
    resize_outputs_ = value;
    return *this;
  }
  // The dtype and device of undefined outputs where the inputs do not say.
  TensorIteratorConfig& declare_static_dtype_and_device(ScalarType dtype, Device device) {
    static_dtype_ = dtype;
    static_device_ = device;
    check_all_same_dtype_ = false;
    return *this;
  }
  TensorIteratorConfig& declare_static_dtype(ScalarType dtype) {
    static_dtype_ = dtype;
    check_all_same_dtype_ = false;
    return *this;
  }
  TensorIteratorConfig& declare_static_device(Device device) {
    static_device_ = device;
    return *this;
  }
  // Fixes the shape; operands must then be broadcastable to it as they are (strides are taken from
  // them). `squash_dims` are walked over once only, as if of size 1.
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape);
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape, IntArrayRef squash_dims);

  TensorIterator build() {
    TensorIterator iter;
    iter.build(*this);
    return iter;
  }

 private:
  friend class TensorIteratorBase;

  SmallVector<MaybeOwned<TensorBase>, 4> tensors_;
  // One bit for each operand: is it an input that the kernel does not write to?
  uint32_t const_mask_ = 0;
  // One bit for each input that keeps its dtype.
  uint32_t keep_dtype_mask_ = 0;
  int num_outputs_ = 0;
  int num_inputs_ = 0;
  const char* name_ = nullptr;
  std::optional<DimVector> static_shape_;
  std::optional<Device> static_device_;
  ScalarType static_dtype_ = ScalarType::Undefined;
  ScalarType forced_common_dtype_ = ScalarType::Undefined;
  bool check_mem_overlap_ = true;
  bool check_all_same_dtype_ = true;
  bool check_all_same_device_ = true;
  bool allow_cpu_scalars_ = false;
  bool enforce_safe_casting_to_output_ = false;
  bool enforce_linear_iteration_ = false;
  bool promote_inputs_to_common_dtype_ = false;
  bool promote_integer_inputs_to_float_ = false;
  bool cast_common_dtype_to_outputs_ = false;
  bool is_reduction_ = false;
  bool resize_outputs_ = true;
};

}  // namespace at::inline oploom_v1
