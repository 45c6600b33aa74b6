// TensorIterator: walking over the elements.
#include <aten/core/Parallel.h>
#include <aten/iterator/Cast.h>
#include <aten/iterator/TensorIterator.h>
#include <c10/util/irange.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace at::inline oploom_v1 {
namespace {

// Counts through the dimensions, the innermost fastest, from element `begin` to `end`, in steps of
// parts of rows or, where a whole number of rows lies ahead, of several rows.
class DimCounter {
 public:
  DimCounter(IntArrayRef shape, int64_t begin, int64_t end)
      : shape_(shape), values_(shape.size(), 0), end_(end), offset_(begin) {
    int64_t rest = begin;
    for (const auto d : c10::irange(shape.size())) {
      if (shape[d] == 0) continue;
      values_[d] = rest % shape[d];
      rest /= shape[d];
    }
  }

  bool is_done() const { return offset_ >= end_; }
  const DimVector& values() const { return values_; }

  // How many elements in dimensions 0 and 1 can be taken from here.
  std::array<int64_t, 2> max_2d_step() const {
    const int64_t step0 = std::min(shape_[0] - values_[0], end_ - offset_);
    int64_t step1 = 1;
    if (step0 == shape_[0] && shape_.size() > 1) {
      step1 = std::min(shape_[1] - values_[1], (end_ - offset_) / shape_[0]);
    }
    return {step0, step1};
  }

  // Takes that step; `data` moves along, for each operand by its strides: `operands` of them for
  // each dimension.
  void increment(std::array<int64_t, 2> step, char** data = nullptr,
                 const int64_t* strides = nullptr, int operands = 0) {
    offset_ += step[0] * step[1];
    size_t d = step[1] != 1 ? 1 : 0;
    for (int64_t carry = step[d]; d < shape_.size() && carry > 0; ++d) {
      int64_t moved = carry;
      carry = 0;
      if (values_[d] + moved >= shape_[d]) {
        moved -= shape_[d];
        carry = 1;
      }
      values_[d] += moved;
      if (moved == 0) continue;
      for (int arg = 0; arg < operands; ++arg) data[arg] += moved * strides[d * operands + arg];
    }
  }

 private:
  IntArrayRef shape_;
  DimVector values_;
  int64_t end_;
  int64_t offset_;
};

// data += sum over d of counter[d] * strides[d]; strides: ntensors for each dimension.
void advance(char** data, const int64_t* strides, int ntensors, IntArrayRef counter) {
  for (const auto d : c10::irange(counter.size())) {
    if (counter[d] == 0) continue;
    for (const auto arg : c10::irange(ntensors)) {
      data[arg] += counter[d] * strides[d * ntensors + arg];
    }
  }
}

}  // namespace

TensorIteratorBase::StrideVector TensorIteratorBase::get_strides() const {
  need_operands();
  StrideVector strides;
  const int dims = std::max(ndim(), 2);
  strides.reserve(static_cast<size_t>(dims) * ntensors());
  for (const auto d : c10::irange(dims)) {
    for (const OperandInfo& op : operands_) {
      strides.push_back(d < ndim() ? op.stride_bytes[d] : 0);
    }
  }
  return strides;
}

TensorIteratorBase::PtrVector TensorIteratorBase::get_base_ptrs() const {
  need_operands();
  PtrVector ptrs;
  for (const OperandInfo& op : operands_) ptrs.push_back(static_cast<char*>(op.data));
  return ptrs;
}

void TensorIteratorBase::for_each(loop2d_t loop, int64_t grain_size, bool writes) {
  if (numel_ == 0) return;
  need_operands();
  if (ndim() <= 2 && numel_ < grain_size && !has_casts_ && ntensors() <= 4) {
    // The shortest way for small calls.
    char* data[4];
    int64_t strides[8] = {};
    for (int arg = 0; arg < ntensors(); ++arg) {
      const OperandInfo& op = operands_[arg];
      data[arg] = static_cast<char*>(op.data);
      for (int d = 0; d < ndim(); ++d) strides[d * ntensors() + arg] = op.stride_bytes[d];
    }
    return loop(data, strides, ndim() > 0 ? shape_[0] : 1, ndim() > 1 ? shape_[1] : 1);
  }
  if (!at::internal::will_run_parallel(numel_, grain_size)) {
    return serial_for_each(loop, 0, numel_, writes);
  }
  at::parallel_for(0, numel_, grain_size,
                   [&](int64_t begin, int64_t end) { serial_for_each(loop, begin, end, writes); });
}

void TensorIteratorBase::serial_for_each(loop2d_t loop, int64_t begin, int64_t end,
                                         bool writes) const {
  if (begin >= end) return;
  if (OPLOOM_UNLIKELY(has_casts_)) {
    const auto converting = [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
      run_converting(loop, data, strides, size0, size1, writes);
    };
    return run_range(loop2d_t(converting), begin, end);
  }
  run_range(loop, begin, end);
}

void TensorIteratorBase::run_range(loop2d_t loop, int64_t begin, int64_t end) const {
  const StrideVector strides = get_strides();
  PtrVector data = get_base_ptrs();
  if (ndim() <= 1) {
    if (begin > 0) {
      for (const auto arg : c10::irange(ntensors())) data[arg] += begin * strides[arg];
    }
    loop(data.data(), strides.data(), end - begin, 1);
    return;
  }
  // The loop may do with what it is given as it likes.
  PtrVector given(data.size());
  DimCounter counter(shape_, begin, end);
  advance(data.data(), strides.data(), ntensors(), counter.values());
  while (!counter.is_done()) {
    const std::array<int64_t, 2> step = counter.max_2d_step();
    for (size_t arg = 0; arg < data.size(); ++arg) given[arg] = data[arg];
    loop(given.data(), strides.data(), step[0], step[1]);
    counter.increment(step, data.data(), strides.data(), ntensors());
  }
}

// See Note [Casts]. Each row is taken in pieces: inputs are converted into buffers, the kernel runs
// on those, and its results are converted into the outputs.
void TensorIteratorBase::run_converting(loop2d_t loop, char** base, const int64_t* strides,
                                        int64_t size0, int64_t size1, bool writes) const {
  // Elements in a piece. Few enough for the buffers (16 bytes an element at most) to stay in the
  // first-level cache, enough to hide the calls.
  constexpr int64_t kPiece = 256;
  constexpr int kInlineBuffers = 4;
  alignas(64) char inline_buffers[kInlineBuffers][kPiece * 16];
  std::unique_ptr<char[]> more_buffers;
  const int n = ntensors();
  SmallVector<char*, 4> buffers(n, nullptr);
  int used = 0;
  for (const auto arg : c10::irange(n)) {
    const OperandInfo& op = operands_[arg];
    if (op.load == nullptr && op.store == nullptr) continue;
    if (used < kInlineBuffers) {
      buffers[arg] = inline_buffers[used];
    } else {
      if (!more_buffers) more_buffers = std::make_unique<char[]>(kPiece * 16 * n);
      buffers[arg] = more_buffers.get() + kPiece * 16 * (used - kInlineBuffers);
    }
    ++used;
  }

  PtrVector data(n);
  StrideVector piece_strides(2 * n, 0);
  for (const auto row : c10::irange(size1)) {
    for (int64_t start = 0; start < size0; start += kPiece) {
      const int64_t count = std::min(kPiece, size0 - start);
      for (const auto arg : c10::irange(n)) {
        const OperandInfo& op = operands_[arg];
        char* source = base[arg] + row * strides[n + arg] + start * strides[arg];
        data[arg] = source;
        piece_strides[arg] = strides[arg];
        if (buffers[arg] == nullptr) continue;
        data[arg] = buffers[arg];
        const bool one = strides[arg] == 0;
        piece_strides[arg] = one ? 0 : static_cast<int64_t>(elementSize(op.target_dtype));
        if (op.load != nullptr) {
          op.load(buffers[arg], piece_strides[arg], source, strides[arg], one ? 1 : count);
        }
      }
      loop(data.data(), piece_strides.data(), count, 1);
      for (const auto arg : c10::irange(writes ? num_outputs_ : 0)) {
        const OperandInfo& op = operands_[arg];
        if (op.store == nullptr) continue;
        char* target = base[arg] + row * strides[n + arg] + start * strides[arg];
        op.store(target, strides[arg], buffers[arg], piece_strides[arg],
                 strides[arg] == 0 ? 1 : count);
      }
    }
  }
}

// ---- Properties of the loops ----

int64_t TensorIteratorBase::num_output_elements() const {
  need_operands();
  int64_t elements = 1;
  for (const auto d : c10::irange(ndim())) {
    if (operands_[0].stride_bytes[d] != 0 || shape_[d] == 0) elements *= shape_[d];
  }
  return elements;
}

int TensorIteratorBase::num_reduce_dims() const {
  int count = 0;
  for (const auto d : c10::irange(ndim())) count += is_dim_reduced(d);
  return count;
}

bool TensorIteratorBase::is_dim_reduced(int dim) const {
  need_operands();
  for (const auto i : c10::irange(num_outputs_)) {
    if (operands_[i].stride_bytes[dim] == 0 && shape_[dim] > 1) return true;
  }
  return false;
}

bool TensorIteratorBase::is_contiguous() const {
  need_operands();
  if (numel_ == 1) return true;
  if (ndim() != 1) return false;
  for (const OperandInfo& op : operands_) {
    if (op.stride_bytes[0] != static_cast<int64_t>(elementSize(op.current_dtype))) return false;
  }
  return true;
}

OPLOOM_COLD void TensorIteratorBase::remove_operand(int64_t arg) {
  need_operands();
  OPLOOM_INTERNAL_ASSERT(arg >= num_outputs_, "only inputs can be removed");
  operands_.erase(operands_.begin() + arg);
  has_casts_ = false;
  for (const OperandInfo& op : operands_) {
    has_casts_ = has_casts_ || op.load != nullptr || op.store != nullptr;
  }
}

std::optional<float> TensorIteratorBase::take_number(int64_t arg) {
  const TensorBase& tensor = tensor_base(arg);
  if (tensor.scalar_type() == common_dtype() || !is_cpu_scalar(arg)) return std::nullopt;
  float value;
  detail::get_cast_loop(kFloat, tensor.scalar_type())(
      reinterpret_cast<char*>(&value), 0, static_cast<const char*>(tensor.const_data_ptr()), 0, 1);
  remove_operand(arg);
  return value;
}

void TensorIteratorBase::narrow(int dim, int64_t start, int64_t size) {
  need_operands();
  OPLOOM_INTERNAL_ASSERT(dim < ndim() && size >= 1, "narrow() outside the iterator");
  numel_ = shape_[dim] == 0 ? 0 : numel_ / shape_[dim] * size;
  shape_[dim] = size;
  is_dense_row_ = false;
  for (OperandInfo& op : operands_) {
    op.data = static_cast<char*>(op.data) + op.stride_bytes[dim] * start;
  }
  if (size == 1 && !is_reduction_) coalesce_dimensions();
}

void TensorIteratorBase::select_all_keeping_dim(int start_dim, IntArrayRef starts) {
  need_operands();
  is_dense_row_ = false;
  OPLOOM_INTERNAL_ASSERT(start_dim <= ndim(), "select_all_keeping_dim() outside the iterator");
  for (const auto i : c10::irange(start_dim, ndim())) {
    for (OperandInfo& op : operands_) {
      op.data = static_cast<char*>(op.data) + op.stride_bytes[i] * starts[i - start_dim];
    }
    numel_ = shape_[i] == 0 ? 0 : numel_ / shape_[i];
    shape_[i] = 1;
  }
}

// ---- Reductions ----

namespace {

// The dimension to share among threads: an output dimension with enough positions.
int find_split_dim(const TensorIteratorBase& iter) {
  const int threads = at::get_num_threads();
  int best = iter.ndim() - 1;
  for (int dim = best; dim >= 0 && !iter.is_dim_reduced(dim); --dim) {
    if (iter.shape()[dim] >= threads) return dim;
    if (iter.shape()[dim] > iter.shape()[best]) best = dim;
  }
  OPLOOM_INTERNAL_ASSERT(!iter.is_dim_reduced(best), "no output dimension to split");
  return best;
}

}  // namespace

void TensorIteratorBase::parallel_reduce(loop2d_t loop) {
  need_operands();
  OPLOOM_INTERNAL_ASSERT(ntensors() == 2, "parallel_reduce() takes one output and one input");
  if (!at::internal::will_run_parallel(numel_, GRAIN_SIZE)) {
    return serial_for_each(loop, 0, numel_);
  }
  const int64_t outputs = num_output_elements();
  if (outputs > 1) {
    const int dim = find_split_dim(*this);
    at::parallel_for(0, shape_[dim], 1, [&](int64_t begin, int64_t end) {
      if (begin == end) return;
      TensorIterator part(*this);
      part.narrow(dim, begin, end - begin);
      part.serial_for_each(loop, 0, part.numel());
    });
    return;
  }
  // One output element: each thread reduces its share into an element of its own, which starts as a
  // copy of the output (the identity), on a cache line of its own.
  OPLOOM_INTERNAL_ASSERT(!has_casts_, "a reduction to one element does not convert");
  constexpr int64_t kLine = 64;
  const int threads = at::get_num_threads();
  const int64_t size = element_size(0);
  auto memory = std::make_unique<char[]>(kLine * (threads + 1));
  char* partial = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory.get()) + kLine - 1) /
                                          kLine * kLine);
  for (const auto i : c10::irange(threads)) {
    std::memcpy(partial + i * kLine, operands_[0].data, size);
  }
  at::parallel_for(0, numel_, GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    TensorIterator part(*this);
    part.unsafe_replace_operand(0, partial + at::get_thread_num() * kLine);
    part.serial_for_each(loop, begin, end);
  });
  char* data[2] = {static_cast<char*>(operands_[0].data), partial};
  const int64_t strides[4] = {0, kLine, 0, 0};
  loop(data, strides, threads, 1);
}

void TensorIteratorBase::foreach_reduced_elt(loop_subiter_t loop, bool parallelize) {
  const int64_t outputs = num_output_elements();
  if (outputs == 0) return;
  if (outputs == 1) return loop(*this);
  if (!parallelize || !at::internal::will_run_parallel(numel_, GRAIN_SIZE)) {
    const int reduced = num_reduce_dims();
    const IntArrayRef kept = shape().slice(reduced);
    const DimVector kept_shape(kept);
    DimCounter positions(kept_shape, 0, outputs);
    while (!positions.is_done()) {
      TensorIterator element(*this);
      element.select_all_keeping_dim(reduced, positions.values());
      loop(element);
      positions.increment({1, 1});
    }
    return;
  }
  const int dim = find_split_dim(*this);
  at::parallel_for(0, shape_[dim], 1, [&](int64_t begin, int64_t end) {
    if (begin == end) return;
    TensorIterator part(*this);
    part.narrow(dim, begin, end - begin);
    part.foreach_reduced_elt(loop, /*parallelize=*/false);
  });
}

}  // namespace at::inline oploom_v1
