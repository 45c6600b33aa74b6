// Operators of the TensorShape family that copy: joining, repeating, reversing, rolling.
#include <aten/core/Empty.h>
#include <aten/core/Parallel.h>
#include <aten/iterator/Cast.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/iterator/TypeProperties.h>
#include <aten/native/ShapeUtils.h>
#include <c10/util/SmallVector.h>
#include <c10/util/overflow.h>
#include <generated/native/cat.h>
#include <generated/native/concat.h>
#include <generated/native/empty_like.h>
#include <generated/native/flip.h>
#include <generated/native/repeat.h>
#include <generated/native/roll.h>
#include <generated/native/stack.h>
#include <generated/ops/cat.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace at::inline oploom_v1::native {

// ---- cat, stack ----

namespace {

// For compatibility, cat() passes over empty tensors of one dimension whatever the others are.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.sizes()[0] == 0; }

ScalarType common_dtype(TensorList tensors) {
  const auto same = [&](const Tensor& tensor) {
    return tensor.scalar_type() == tensors[0].scalar_type();
  };
  const bool number = tensors[0].unsafeGetTensorImpl()->is_wrapped_number();
  if (!number && std::all_of(tensors.begin(), tensors.end(), same)) {
    return tensors[0].scalar_type();
  }
  ResultTypeState state;
  for (const Tensor& tensor : tensors) update_result_type_state(tensor, state);
  return result_type(state);
}

// The dtype of a declared output: a given one keeps its own if the result can be cast to it.
ScalarType output_dtype(const char* op, const TensorBase& given, ScalarType result) {
  if (!given.defined()) return result;
  OPLOOM_CHECK(c10::canCast(result, given.scalar_type()), op, "(): the result has dtype ", result,
               ", which cannot be cast to the output's dtype ", given.scalar_type());
  return given.scalar_type();
}

void check_output_apart(const TensorBase& given, TensorList tensors) {
  if (!given.defined()) return;
  assert_no_internal_overlap(given);
  for (const Tensor& tensor : tensors) assert_no_overlap(given, tensor);
}

void check_same_device(const char* op, TensorList tensors) {
  for (const Tensor& tensor : tensors) {
    OPLOOM_CHECK(tensor.device() == tensors[0].device(), op,
                 "(): expected all tensors on one device, got ", tensors[0].device(), " and ",
                 tensor.device());
  }
}

// Whether tensors lie in the order of `format` and can be copied to their places in such an output
// as blocks of bytes.
bool are_blocks(TensorList tensors, ScalarType dtype, MemoryFormat format) {
  bool blocks = true;
  for (const Tensor& tensor : tensors) {
    blocks &=
        tensor.numel() == 0 || (tensor.is_contiguous(format) && tensor.scalar_type() == dtype);
  }
  return blocks;
}

// The order in which all of them lie in memory, as in PyTorch.
MemoryFormat common_format(TensorList tensors) {
  const MemoryFormat format = tensors[0].suggest_memory_format();
  if (OPLOOM_LIKELY(format == MemoryFormat::Contiguous)) return format;
  const bool all = std::all_of(tensors.begin() + 1, tensors.end(), [&](const Tensor& tensor) {
    return tensor.suggest_memory_format() == format;
  });
  return all ? format : MemoryFormat::Contiguous;
}

DimVector channels_last_strides(IntArrayRef sizes) {
  return sizes.size() == 4 ? c10::get_channels_last_strides_2d(sizes)
                           : c10::get_channels_last_strides_3d(sizes);
}

// The strides of a stack along a dimension that the tensors have, where they are channels-last:
// those of the tensors joined along it, as in PyTorch.
DimVector strides_of_stack(IntArrayRef sizes, int64_t count, int64_t dim) {
  DimVector joined(sizes);
  joined[dim] *= count;
  DimVector strides = channels_last_strides(joined);
  strides.insert(strides.begin() + dim, sizes[dim] * strides[dim]);
  return strides;
}

// Positions of the dimensions that are outside of `dim` in memory: each is a row of blocks.
int64_t rows_outside(IntArrayRef sizes, int64_t dim, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return c10::multiply_integers(sizes.slice(0, dim));
  if (dim == 0) return 1;
  // Channels, the second dimension, are the innermost one.
  const IntArrayRef space = sizes.slice(2);
  return sizes[0] * c10::multiply_integers(dim == 1 ? space : space.slice(0, dim - 2));
}

// Outputs of so many bytes are taken to lie in far memory.
constexpr int64_t kFar = 8 << 20;

// A piece of each row of the output, which one tensor has.
struct Block {
  const char* data;
  int64_t bytes;
};

// Whether blocks are elements of as many tensors which transposing, by way of a buffer that the
// first-level cache holds, brings together in less time than writing one tensor after the other.
// That is so for few planes of small elements (Note [Channels] in aten/cpu/Channels.h), and for so
// many that squares of them are transposed; few of 4 bytes take longer in far memory (measured on a
// Zen 4).
bool are_planes_of_pixels(ArrayRef<Block> blocks, const char* to, int64_t total) {
  constexpr int64_t kFew = 3, kMostFew = 4, kMany = 16, kMost = 64, kFarther = 12 << 20;
  const auto count = static_cast<int64_t>(blocks.size());
  const auto bytes = static_cast<uint64_t>(blocks[0].bytes);
  const bool are_few = count >= kFew && count <= kMostFew &&
                       bytes <= (total < kFarther ? sizeof(float) : sizeof(Half));
  if (!are_few && (count < kMany || count > kMost)) return false;
  if (bytes > sizeof(double) || !std::has_single_bit(bytes)) return false;
  if (reinterpret_cast<uintptr_t>(to) % bytes != 0) return false;
  return std::ranges::all_of(blocks, [&](auto& b) { return b.bytes == blocks[0].bytes; });
}

// Writes `rows` pixels of those planes, of `total` bytes in all, past the cache if they are many.
// In far memory they are fetched before, as below, and the next ones of the planes with them.
void join_planes(ArrayRef<Block> blocks, char* to, int64_t first, int64_t rows, int64_t total) {
  constexpr int64_t kBytes = 16 << 10;
  alignas(at::detail::kLineBytes) char planes[kBytes];
  const bool is_far = total >= kFar, stream = total >= at::detail::kStreamedBytes;
  const auto count = static_cast<int64_t>(blocks.size());
  const int64_t size = blocks[0].bytes, pixel = count * size;
  const int64_t pitch =
      (is_far ? kBytes / 4 : kBytes) / count / at::detail::kLineBytes * at::detail::kLineBytes;
  const auto transpose = at::detail::get_transpose_loop(size);
  for (int64_t done = 0, n; done < rows; done += n) {
    n = std::min(pitch / size, rows - done);
    const int64_t next = std::min(n, rows - done - n);
    if (is_far && !stream) at::detail::fetch_row(to + done * pixel, n * pixel);
    for (int64_t k = 0; k < count; ++k) {
      const char* const from = blocks[k].data + (first + done) * size;
      if (is_far) at::detail::fetch_row(from + n * size, next * size);
      at::detail::copy_row(planes + k * pitch, from, static_cast<size_t>(n * size));
    }
    transpose(to + done * pixel, pixel, planes, pitch, n, count, stream);
  }
  if (stream) at::detail::stream_fence();
}

// Joins contiguous tensors of out's dtype: out is `rows` rows, each of which holds one block of
// every tensor.
void join_blocks(TensorList tensors, const Tensor& out, int64_t rows) {
  char* data = static_cast<char*>(out.mutable_data_ptr());
  const auto total = static_cast<int64_t>(out.nbytes());
  if (rows == 1) {
    // A single row is split along its bytes, tensor by tensor; a fence for each would take longer
    // than the shorter ones.
    const at::detail::RowCopy copy(total);
    for (const Tensor& tensor : tensors) {
      const auto bytes = static_cast<int64_t>(tensor.nbytes());
      if (bytes < 2 * at::detail::kCopyGrain) {
        copy(data, tensor.const_data_ptr(), bytes);
      } else {
        at::detail::copy_bytes(data, tensor.const_data_ptr(), bytes, total);
      }
      data += bytes;
    }
    return;
  }
  SmallVector<Block, 8> blocks;
  for (const Tensor& tensor : tensors) {
    const int64_t bytes = static_cast<int64_t>(tensor.nbytes()) / rows;
    if (bytes > 0) blocks.push_back({static_cast<const char*>(tensor.const_data_ptr()), bytes});
  }
  const int64_t row_bytes = total / rows;
  // Short blocks are copied many of one tensor at a time, as far as the first-level cache holds the
  // rows. In far memory those are fewer, and fetched before, since the processor does not see that
  // all of them will be written to.
  constexpr int64_t kShort = 512, kCached = 16 << 10, kFewest = 100;
  const bool is_far = total >= kFar;
  const bool is_short =
      std::ranges::all_of(blocks, [](auto& block) { return block.bytes <= kShort; });
  const bool are_planes = rows >= kFewest && are_planes_of_pixels(blocks, data, total);
  // As many bytes a thread as pointwise work on float32 has.
  const int64_t grain = std::max<int64_t>(1, 4 * GRAIN_SIZE / row_bytes);
  at::parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    char* target = data + begin * row_bytes;
    if (are_planes) return join_planes(blocks, target, begin, end - begin, total);
    if (is_short) {
      const int64_t many = std::max<int64_t>((is_far ? kCached / 4 : kCached) / row_bytes, 1);
      for (int64_t row = begin; row < end; row += many, target += many * row_bytes) {
        int64_t offset = 0;
        if (is_far) at::detail::fetch_row(target, std::min(many, end - row) * row_bytes);
        for (const Block& block : blocks) {
          at::detail::copy_rows(target + offset, row_bytes, block.data + row * block.bytes,
                                block.bytes, static_cast<size_t>(block.bytes),
                                std::min(many, end - row));
          offset += block.bytes;
        }
      }
      return;
    }
    const at::detail::RowCopy copy(total);
    for (int64_t row = begin; row < end; ++row) {
      for (const Block& block : blocks) {
        copy(target, block.data + row * block.bytes, block.bytes);
        target += block.bytes;
      }
    }
  });
}

}  // namespace

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {
using namespace native;

OPLOOM_META_FUNC(cat)(TensorList tensors, int64_t dim) {
  OPLOOM_CHECK(!tensors.empty(), "cat(): expected a non-empty list of tensors");
  check_same_device("cat", tensors);
  const Tensor* first = nullptr;
  for (const Tensor& tensor : tensors) {
    OPLOOM_CHECK(tensor.defined(),
                 "cat(): expected tensors that are defined, got an undefined one");
    OPLOOM_CHECK(tensor.dim() > 0, "cat(): 0-d tensors cannot be joined; use stack()");
    if (first == nullptr && !is_skipped(tensor)) first = &tensor;
  }
  if (first == nullptr) first = &tensors[0];
  dim = c10::wrap_dim("cat", dim, first->dim());
  DimVector sizes(first->sizes());
  sizes[dim] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (is_skipped(tensor)) continue;
    OPLOOM_CHECK(tensor.dim() == first->dim(), "cat(): expected tensors with the same number of ",
                 "dimensions, got ", first->dim(), " and ", tensor.dim());
    for (int64_t d = 0; d < first->dim(); ++d) {
      OPLOOM_CHECK(d == dim || tensor.sizes()[d] == first->sizes()[d],
                   "cat(): Sizes of tensors must match except in dim ", dim, ", got ",
                   first->sizes(), " and ", tensor.sizes(), " for tensor ", i);
    }
    OPLOOM_CHECK_VALUE(!c10::add_overflows(sizes[dim], tensor.sizes()[dim], &sizes[dim]),
                       "cat(): dim ", dim,
                       " of the result has more positions than 64 bits can count");
  }
  const TensorBase& given = maybe_get_output(0);
  const ScalarType dtype = output_dtype("cat", given, common_dtype(tensors));
  check_output_apart(given, tensors);
  const TensorOptions options = first->options().dtype(dtype);
  if (common_format(tensors) == MemoryFormat::Contiguous) {
    set_output_raw_strided(0, sizes, {}, options);
  } else {
    set_output_raw_strided(0, sizes, channels_last_strides(sizes), options);
  }
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(cat_out_cpu)(TensorList tensors, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  dim = c10::wrap_dim("cat", dim, out.dim());
  const MemoryFormat format = out.suggest_memory_format();
  if (out.is_contiguous(format) && are_blocks(tensors, out.scalar_type(), format)) {
    return join_blocks(tensors, out, rows_outside(out.sizes(), dim, format));
  }
  DimVector sizes(out.sizes());
  int64_t offset = out.storage_offset();
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) continue;
    sizes[dim] = tensor.sizes()[dim];
    make_alias(out, sizes, out.strides(), offset).copy_(tensor);
    offset += sizes[dim] * out.strides()[dim];
  }
}

Tensor concat(TensorList tensors, int64_t dim) { return at::cat(tensors, dim); }

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(stack)(TensorList tensors, int64_t dim) {
  OPLOOM_CHECK(!tensors.empty(), "stack(): expected a non-empty list of tensors");
  check_same_device("stack", tensors);
  for (size_t i = 1; i < tensors.size(); ++i) {
    OPLOOM_CHECK(tensors[i].sizes() == tensors[0].sizes(),
                 "stack(): expected tensors of the same size, got ", tensors[0].sizes(), " and ",
                 tensors[i].sizes(), " for tensor ", i);
  }
  dim = wrap_new_dim("stack", dim, tensors[0].dim());
  DimVector sizes(tensors[0].sizes());
  sizes.insert(sizes.begin() + dim, static_cast<int64_t>(tensors.size()));
  const TensorBase& given = maybe_get_output(0);
  const ScalarType dtype = output_dtype("stack", given, common_dtype(tensors));
  check_output_apart(given, tensors);
  DimVector strides;
  if (dim < tensors[0].dim() && common_format(tensors) != MemoryFormat::Contiguous) {
    strides = strides_of_stack(tensors[0].sizes(), static_cast<int64_t>(tensors.size()), dim);
  }
  set_output_raw_strided(0, sizes, strides, tensors[0].options().dtype(dtype));
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(stack_out_cpu)(TensorList tensors, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  dim = c10::wrap_dim("stack", dim, out.dim());
  const IntArrayRef sizes = tensors[0].sizes();
  DimVector strides(out.strides());
  strides.erase(strides.begin() + dim);
  const MemoryFormat format = out.is_contiguous() || dim == tensors[0].dim()
                                  ? MemoryFormat::Contiguous
                                  : common_format(tensors);
  const bool in_order =
      format == MemoryFormat::Contiguous
          ? out.is_contiguous()
          : out.strides() == IntArrayRef(strides_of_stack(sizes, out.sizes()[dim], dim));
  if (in_order && are_blocks(tensors, out.scalar_type(), format)) {
    return join_blocks(tensors, out, rows_outside(sizes, dim, format));
  }
  int64_t offset = out.storage_offset();
  for (const Tensor& tensor : tensors) {
    make_alias(out, sizes, strides, offset).copy_(tensor);
    offset += out.strides()[dim];
  }
}

// ---- repeat ----

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  const int64_t ndim = static_cast<int64_t>(repeats.size());
  OPLOOM_CHECK(ndim >= self.dim(), "repeat(): expected at least as many repeats as the input has ",
               "dimensions, ", self.dim(), ", got ", repeats);
  const int64_t added = ndim - self.dim();
  DimVector sizes(ndim);
  // Dimension d of the result, seen as two: the repeats, and within them the positions of self.
  DimVector split_sizes(2 * ndim);
  DimVector split_strides(2 * ndim, 0);
  for (int64_t d = 0; d < ndim; ++d) {
    OPLOOM_CHECK_VALUE(repeats[d] >= 0, "repeat(): expected non-negative repeats, got ", repeats);
    const int64_t size = d < added ? 1 : self.sizes()[d - added];
    OPLOOM_CHECK_VALUE(!c10::mul_overflows(size, repeats[d], &sizes[d]), "repeat(): shape ",
                       self.sizes(), " repeated ", repeats,
                       " times has more elements than 64 bits can count");
    split_sizes[2 * d] = repeats[d];
    split_sizes[2 * d + 1] = size;
    split_strides[2 * d + 1] = d < added ? 0 : self.strides()[d - added];
  }
  Tensor result(at::detail::empty(sizes, self.options()));
  if (result.numel() == 0) return result;
  make_alias(result, split_sizes, c10::contiguous_strides(split_sizes))
      .copy_(make_alias(self, split_sizes, split_strides));
  return result;
}

// ---- flip, roll ----

Tensor flip(const Tensor& self, IntArrayRef dims) {
  const uint64_t mask = dim_list_to_mask("flip", dims, self.dim());
  Tensor result = native::empty_like(self, {}, {}, {}, {}, {});
  if (self.numel() == 0 || self.is_meta()) return result;
  // Reading begins at the last position of each reversed dimension and goes backwards.
  DimVector strides(self.strides());
  int64_t offset = self.storage_offset();
  for (int64_t d = 0; d < self.dim(); ++d) {
    if ((mask >> d & 1) == 0) continue;
    offset += (self.sizes()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return result.copy_(make_alias(self, self.sizes(), strides, offset));
}

namespace {

// Copies self into out, rolled by shifts[d] along each dimension d from `dim` on; shifts are not
// negative and smaller than the sizes. Each element is copied once, with one of the two parts of
// every dimension that is rolled.
void copy_rolled(const Tensor& self, const Tensor& out, IntArrayRef shifts, int64_t dim = 0) {
  while (dim < self.dim() && shifts[dim] == 0) ++dim;
  if (dim == self.dim()) {
    out.copy_(self);
    return;
  }
  const int64_t moved = shifts[dim], rest = self.sizes()[dim] - moved;
  copy_rolled(narrow_alias(self, dim, 0, rest), narrow_alias(out, dim, moved, rest), shifts,
              dim + 1);
  copy_rolled(narrow_alias(self, dim, rest, moved), narrow_alias(out, dim, 0, moved), shifts,
              dim + 1);
}

}  // namespace

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  OPLOOM_CHECK(!shifts.empty(), "roll(): expected at least one shift");
  const bool flat = dims.empty();
  if (flat) {
    OPLOOM_CHECK(shifts.size() == 1, "roll(): expected one of shifts without dims, got ", shifts);
  } else {
    OPLOOM_CHECK(shifts.size() == dims.size(), "roll(): expected as many shifts as dims, got ",
                 shifts, " and ", dims);
    OPLOOM_CHECK_INDEX(self.dim() > 0, "roll(): a 0-d input has no dimension to roll");
  }
  const DimVector rolled = flat ? DimVector{self.numel()} : DimVector(self.sizes());
  DimVector moved(rolled.size(), 0);
  for (size_t i = 0; i < shifts.size(); ++i) {
    const int64_t dim = flat ? 0 : c10::wrap_dim("roll", dims[i], self.dim());
    if (self.numel() == 0) continue;  // other sizes may be too large for this
    moved[dim] = (moved[dim] + shifts[i] % rolled[dim] + rolled[dim]) % rolled[dim];
  }
  if (self.numel() == 0) return Tensor(at::detail::empty(self.sizes(), self.options()));
  // Channels stay last.
  const MemoryFormat format = flat ? MemoryFormat::Contiguous : self.suggest_memory_format();
  // Two dimensions at a time: with each of them there are twice as many parts, and half as large.
  constexpr int kAtOnce = 2;
  Tensor from = flat ? make_alias(self.contiguous(), rolled, {1}) : self;
  for (size_t dim = 0;;) {
    DimVector now(moved.size(), 0);
    for (int taken = 0; dim < moved.size() && taken < kAtOnce; ++dim) {
      now[dim] = moved[dim];
      taken += moved[dim] != 0;
    }
    const Tensor result(at::detail::empty(self.sizes(), self.options().memory_format(format)));
    const Tensor to = flat ? make_alias(result, rolled, {1}) : result;
    copy_rolled(from, to, now);
    while (dim < moved.size() && moved[dim] == 0) ++dim;
    if (dim == moved.size()) return result;
    from = to;
  }
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/TensorShape.h>
