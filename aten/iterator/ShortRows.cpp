// Short rows, and planes of few rows, of which many are taken together.
#include <aten/iterator/Cast.h>
#include <aten/iterator/ShortRows.h>
#include <c10/core/SizesAndStrides.h>
#include <c10/util/SmallVector.h>

#include <algorithm>

namespace at::inline oploom_v1::detail {
// Of fewer elements, rows are copied column by column, since each row would be a call.
constexpr int64_t kFewColumns = 8;

void copy_matrix(char* to, int64_t to_inner, int64_t to_outer, const char* from, int64_t inner,
                 int64_t outer, int64_t size, int64_t n, int64_t rows) {
  if (inner == size && to_inner == size) {
    return copy_rows(to, to_outer, from, outer, n * size, rows);
  }
  const CastLoop move = get_move_loop(size);
  if (to_outer == n * to_inner && outer == n * inner) {
    return move(to, to_inner, from, inner, n * rows);
  }
  if (n >= kFewRows && to_inner == size && outer == size && inner != 0) {
    return get_transpose_loop(size)(to, to_outer, from, inner, rows, n, /*stream=*/false);
  }
  if (n >= kFewRows && to_outer == size && inner == size) {
    return get_transpose_loop(size)(to, to_inner, from, outer, n, rows, /*stream=*/false);
  }
  if (n < std::min(rows, kFewColumns)) {
    for (int64_t i = 0; i < n; ++i) {
      move(to + i * to_inner, to_outer, from + i * inner, outer, rows);
    }
    return;
  }
  for (int64_t r = 0; r < rows; ++r, to += to_outer, from += outer) {
    move(to, to_inner, from, inner, n);
  }
}

namespace {

// The same row of n elements again and again.
void repeat_row(char* to, const char* from, int64_t inner, int64_t size, int64_t n, int64_t rows) {
  constexpr int64_t kShort = 512;  // longer ones are copied one by one anyway
  const int64_t bytes = n * size;
  if (inner == size && bytes <= kShort) return copy_rows(to, bytes, from, 0, bytes, rows);
  get_move_loop(size)(to, size, from, inner, n);
  repeat_block(to, bytes, rows * bytes);
}

// Makes rows of n elements each dense, `pitch` bytes apart; writes up to kRepeatSlack bytes behind
// the last one. Where rows are all the same (outer == 0), they may be called for once.
void gather_rows(char* to, int64_t pitch, const char* from, int64_t inner, int64_t outer,
                 int64_t size, int64_t n, int64_t rows) {
  const bool follow = pitch == n * size;
  if (outer == 0 && follow) return repeat_row(to, from, inner, size, n, rows);
  if (inner == 0 && follow) return get_repeat_loop()(to, pitch, from, outer, size, rows);
  copy_matrix(to, size, pitch, from, inner, outer, size, n, rows);
}

// What is computed at once stays in the first-level cache.
constexpr int64_t kBuffersBytes = 69632;
int64_t buffer_bytes(int operands) {
  return kBuffersBytes / std::max(operands, 8) / kLineBytes * kLineBytes;
}

// Planes further apart than so many times what they have are taken to be sparse.
constexpr int64_t kSparse = 4;

// How much of a cache one plane, of `bytes` bytes, is taken to need.
int64_t reach_of_plane(const TensorIteratorBase& iter, int dims, int64_t bytes) {
  int64_t reach = bytes;
  for (int k = 0; k < iter.ntensors(); ++k) {
    const int64_t stride = iter.strides(k)[dims];
    if (stride <= kSparse * bytes) reach = std::max(reach, stride);
  }
  return reach;
}

// Asks for the next `planes` planes of `left`, since what is read of them first are single rows.
OPLOOM_ALWAYS_INLINE void fetch_planes(const char* from, int64_t stride, int64_t bytes,
                                       int64_t planes, int64_t left) {
  if (stride > kSparse * bytes) return;
  fetch<2>(reinterpret_cast<uintptr_t>(from) + planes * stride,
           std::min(planes, left - planes) * stride, kLineBytes);
}

// The dimensions of an iterator behind its planes.
struct BehindPlanes : TensorIteratorBase {
  BehindPlanes(const TensorIteratorBase& iter, int dims) : TensorIteratorBase(iter) {
    need_operands();
    for (int d = 0; d < dims; ++d) numel_ /= shape_[d];
    shape_.erase(shape_.begin(), shape_.begin() + dims);
    for (OperandInfo& op : operands_) {
      op.stride_bytes.erase(op.stride_bytes.begin(), op.stride_bytes.begin() + dims);
    }
    is_dense_row_ = false;
    has_casts_ = false;  // loops get elements as they lie in memory
  }
};

// How the elements of planes lie in one operand: as rows of n, `count` for each plane in each place
// of `places`, which are offsets of the first one in the operand and in a buffer. Each of these
// rows stands for `times` of the plane, or, if `is_same`, `times` of what they are for each plane.
struct PlaneLayout {
  struct Place {
    int64_t offset, in_buffer;
  };
  PlaneLayout(IntArrayRef shape, IntArrayRef strides, int dims, int64_t size);

  bool is_dense() const { return is_row && inner == size; }
  // Of `planes` planes, the first of which is at `from`.
  void gather(char* buffer, const char* from, int64_t planes) const {
    if (is_row) return get_move_loop(size)(buffer, size, from, inner, count * planes);
    if (is_same) {
      gather_rows(buffer, pitch, from, inner, outer, size, n, count);
      return repeat_block(buffer, count * pitch, planes * times * count * pitch);
    }
    if (times > 1) {
      for (int64_t r = 0; r < count * planes; ++r) {
        repeat_row(buffer + r * pitch, from + r * outer, inner, size, n, times);
      }
      return;
    }
    for (const Place& place : places) {
      gather_rows(buffer + place.in_buffer, pitch, from + place.offset, inner, outer, size, n,
                  count * planes);
    }
  }
  void scatter(char* to, const char* buffer, int64_t planes) const {
    if (is_row) return get_move_loop(size)(to, inner, buffer, size, count * planes);
    for (const Place& place : places) {
      copy_matrix(to + place.offset, inner, outer, buffer + place.in_buffer, size, pitch, size, n,
                  count * planes);
    }
  }

  int64_t size, n, inner, outer, count, times = 1;
  int64_t pitch;         // of rows in a buffer
  bool is_row;           // they are one row, of `count` elements for each plane
  bool is_same = false;  // all planes are one
  SmallVector<Place, 8> places;
};

PlaneLayout::PlaneLayout(IntArrayRef shape, IntArrayRef strides, int dims, int64_t size)
    : size(size) {
  // Dimensions along which elements follow each other are taken for one.
  int64_t sizes[c10::kMaxDimensions], steps[c10::kMaxDimensions];
  int last = -1;
  for (int d = 0; d <= dims; ++d) {
    const int64_t along = d < dims ? shape[d] : 1;
    if (last >= 0 && strides[d] == sizes[last] * steps[last]) {
      sizes[last] *= along;
    } else {
      ++last;
      sizes[last] = along;
      steps[last] = strides[d];
    }
  }
  n = sizes[0];
  inner = steps[0];
  count = sizes[last];
  outer = steps[last];
  is_row = last == 0;
  places.push_back({0, 0});
  pitch = n * size;
  if (last == 2 && steps[2] == 0) {
    is_same = true;
    times = sizes[2];
    count = sizes[1];
    outer = steps[1];
    return;
  }
  // Of fewer, the same one of each plane is gathered at a time.
  constexpr int64_t kManyTimes = 12;
  if (last == 2 && steps[1] == 0 && sizes[1] >= kManyTimes) {
    times = sizes[1];
    pitch *= times;
    return;
  }
  for (int d = 1; d < last; ++d) {
    const size_t before = places.size();
    for (int64_t i = 1; i < sizes[d]; ++i) {
      for (size_t p = 0; p < before; ++p) {
        places.push_back({places[p].offset + i * steps[d], places[p].in_buffer + i * pitch});
      }
    }
    pitch *= sizes[d];
  }
}

}  // namespace

void for_each_short_row(char** data, const int64_t* strides, const int64_t* sizes, int outputs,
                        int operands, int64_t size0, int64_t size1, int64_t largest,
                        DenseRowLoop dense) {
  alignas(64) char buffers[kBuffersBytes];
  const int64_t bytes = buffer_bytes(operands);
  const auto buffer = [&](int k) { return buffers + k * bytes; };
  const int64_t* outer = strides + operands;
  const int64_t block = std::max<int64_t>((bytes - kRepeatSlack) / (largest * size0), 1);
  char* row[kMaxOperands];
  const bool far = size0 * size1 * largest >= kFarBytes;
  for (int64_t j = 0; j < size1; j += block) {
    const int64_t rows = std::min(block, size1 - j);
    for (int k = 0; k < operands; ++k) {
      row[k] = data[k] + j * outer[k];
      if (strides[k] == sizes[k] && outer[k] == size0 * sizes[k]) continue;
      // Rows a line apart and more, of which a column is read before the next one, are fetched.
      // Closer ones take up to 1.15 times as long so, and whole rows up to 1.25 times.
      if (far && size0 < kFewColumns && outer[k] >= kLineBytes && strides[k] != sizes[k] &&
          strides[k] != 0 && j + block < size1) {
        fetch<2>(reinterpret_cast<uintptr_t>(row[k]) + rows * outer[k], rows * outer[k],
                 kLineBytes);
      }
      // The buffer of rows that are all the same holds them after the first time.
      if (k >= outputs && (outer[k] != 0 || j == 0)) {
        gather_rows(buffer(k), size0 * sizes[k], row[k], strides[k], outer[k], sizes[k], size0,
                    rows);
      }
      row[k] = buffer(k);
    }
    dense(row, /*steps=*/nullptr, rows * size0, /*rows=*/1, /*repeated=*/0);
    for (int k = 0; k < outputs; ++k) {
      if (row[k] != buffer(k)) continue;
      copy_matrix(data[k] + j * outer[k], strides[k], outer[k], buffer(k), sizes[k],
                  size0 * sizes[k], sizes[k], size0, rows);
    }
  }
}

OPLOOM_COLD bool copy_short_rows(char* to, int64_t to_inner, int64_t to_outer, const char* from,
                                 int64_t inner, int64_t outer, int64_t size, int64_t n,
                                 int64_t rows) {
  constexpr int64_t kMost = 128, kMostBytes = 192, kMostReversed = 96, kFewest = 512;
  constexpr int64_t kBytes = 8192;
  const int64_t bytes = n * size;
  if (size > 8 || n > kMost || bytes > kMostBytes || n * rows < kFewest) return false;
  // Reversed rows are brought into the opposite order, and all of their elements reversed then.
  const bool spread = inner != -size && n >= kFewColumns && outer == -n * inner;
  const bool reversed = inner < 0 && (inner == -size || spread) && to_inner == size &&
                        to_outer == bytes && (spread || bytes <= kMostReversed);
  // Rows that are read from the last one to the first are gathered as they lie in memory.
  const bool backwards = outer == -n * inner;
  const bool read_at_once = to_inner == size && inner > 0 && (backwards || outer == n * inner);
  const bool turned = outer == size && n >= kFewRows && to_inner == 2 * size;
  const bool written_at_once = to_outer == n * to_inner && (inner == size || turned);
  if (!reversed && !read_at_once && !written_at_once) return false;
  // Few elements are moved column by column otherwise, which only vectors are faster than.
  const bool by_vectors =
      bytes >= 4 && (reversed || (read_at_once ? inner <= 4 * size : to_inner == 2 * size));
  if (n < kFewColumns && !by_vectors) return false;
  alignas(kLineBytes) char buffer[kBytes + kRepeatSlack], dense[kBytes];
  const int64_t most = kBytes / bytes;
  for (int64_t some; rows > 0; rows -= some, to += some * to_outer, from += some * outer) {
    some = std::min(most, rows);
    const char* const last = from + (some - 1) * outer;
    if (reversed) {
      const char* first = last + (n - 1) * inner;
      int64_t next = -outer;
      if (spread) {
        get_move_loop(size)(dense, size, from + (n - 1) * inner, -inner, some * n);
        first = dense + (some - 1) * bytes;
        next = -bytes;
      }
      copy_rows(buffer, bytes, first, next, bytes, some);
      get_move_loop(size)(to, size, buffer + some * bytes - size, -size, some * n);
    } else if (backwards) {
      gather_rows(buffer, bytes, last, inner, -outer, size, n, some);
      copy_matrix(to, to_inner, to_outer, buffer + (some - 1) * bytes, size, -bytes, size, n, some);
    } else {
      gather_rows(buffer, bytes, from, inner, outer, size, n, some);
      copy_matrix(to, to_inner, to_outer, buffer, size, bytes, size, n, some);
    }
  }
  return true;
}

namespace {

// Whether operands have planes that are dense, one row for a whole plane, one element for each row,
// or one plane for many: larger ones are taken together then, too, since gathering is one call for
// each of them or for many. Longer rows, and larger planes, take less time as they lie.
bool are_planes_of_few_calls(const TensorIteratorBase& iter, const int64_t* sizes) {
  constexpr int64_t kRowBytes = 192, kPlaneBytes = 8192, kFewestPlanes = 8;
  const IntArrayRef shape = iter.shape();
  const int64_t bytes = shape[0] * *std::max_element(sizes, sizes + iter.ntensors());
  if (bytes >= kRowBytes || shape[1] * bytes > kPlaneBytes) return false;
  for (int k = 0; k < iter.ntensors(); ++k) {
    const IntArrayRef strides = iter.strides(k);
    const bool follow = strides[1] == shape[0] * strides[0] || strides[2] == shape[1] * strides[1];
    const bool repeats = strides[1] == 0 || (strides[2] == 0 && shape[2] >= kFewestPlanes);
    if (!follow && (k < iter.noutputs() || !repeats)) return false;
  }
  return true;
}

}  // namespace

int short_plane_dims(const TensorIteratorBase& iter, const int64_t* sizes, PlaneUse use) {
  // All of this is measured, on a Zen 4. As a call each, moved rows take less than computed ones.
  constexpr int64_t kFewestPlanes = 16, kRowBytes = 512, kFarRowBytes = 128, kLongRowBytes = 128;
  const int64_t most_rows = use == PlaneUse::Moved ? 8 : 16;
  const IntArrayRef shape = iter.shape();
  if (shape.size() < 3 || iter.numel() == 0) return 0;
  if (use == PlaneUse::Computed && are_planes_of_few_calls(iter, sizes)) return 2;
  if (shape[1] > most_rows) return 0;
  const int64_t size = *std::max_element(sizes, sizes + iter.ntensors());
  int64_t bytes = size * shape[0], rows = 1, found_bytes = 0, found_rows = 0;
  int found = 0;
  for (size_t d = 2; d < shape.size(); ++d) {
    rows *= shape[d - 1];
    bytes *= shape[d - 1];
    if (rows * bytes > most_rows * kRowBytes) break;
    if (shape[d] < std::max(kFewestPlanes, found == 0 ? 0 : shape[found] + 1)) continue;
    found = static_cast<int>(d);
    found_bytes = bytes;
    found_rows = rows;
  }
  const int64_t total = iter.numel() * size;
  if (found == 0 || total < kFarBytes) return found;
  // Far memory is better read, and what is moved written, in its order: where planes have gaps
  // behind them, if they are not the smallest, or if their rows are long and dense.
  bool gaps = use == PlaneUse::Moved && total >= 4 * kFarBytes, dense_rows = true;
  for (int k = 0; k < iter.ntensors(); ++k) {
    gaps = gaps || iter.strides(k)[found] > found_bytes;
    dense_rows = dense_rows && iter.strides(k)[0] == sizes[k];
  }
  const bool small = found_rows * found_bytes <= most_rows * kFarRowBytes;
  const bool long_rows = dense_rows && shape[0] * size >= kLongRowBytes;
  return gaps && (!small || long_rows) ? 0 : found;
}

void for_each_short_plane(const TensorIteratorBase& iter, int dims, const int64_t* sizes,
                          bool stream, DenseRowLoop dense) {
  const int outputs = iter.noutputs(), operands = iter.ntensors();
  SmallVector<PlaneLayout, 4> layouts;
  int64_t plane = 1, largest = 1;
  for (int d = 0; d < dims; ++d) plane *= iter.shape()[d];
  for (int k = 0; k < operands; ++k) {
    layouts.emplace_back(iter.shape(), iter.strides(k), dims, sizes[k]);
    largest = std::max(largest, sizes[k]);
  }
  const int64_t bytes = buffer_bytes(operands);
  const int64_t block =
      std::max<int64_t>((bytes - kRepeatSlack) / reach_of_plane(iter, dims, plane * largest), 1);
  const bool far = iter.numel() * largest >= kFarBytes;
  BehindPlanes behind(iter, dims);
  const auto run = [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    alignas(64) char buffers[kBuffersBytes];
    const RowStream write(stream ? kStreamedBytes : 0);
    const char* held[kMaxOperands] = {};  // what is in the buffers of planes that are the same
    for (int64_t j = 0; j < size1; ++j) {
      for (int64_t i = 0; i < size0; i += block) {
        const int64_t planes = std::min(block, size0 - i);
        char* row[kMaxOperands];
        for (int k = 0; k < operands; ++k) {
          char* const from = data[k] + i * strides[k] + j * strides[operands + k];
          char* const buffer = buffers + k * bytes;
          if (far && !layouts[k].is_dense()) {
            fetch_planes(from, strides[k], plane * sizes[k], planes, size0 - i);
          }
          row[k] = layouts[k].is_dense() ? from : buffer;
          if (k < outputs) {
            if (write.streams()) row[k] = buffer;
          } else if (row[k] == buffer && held[k] != from) {
            const bool same = strides[k] == 0;
            layouts[k].gather(buffer, from, same ? std::min(block, size0) : planes);
            if (same) held[k] = from;
          }
        }
        dense(row, /*steps=*/nullptr, planes * plane, /*rows=*/1, /*repeated=*/0);
        for (int k = 0; k < outputs; ++k) {
          char* const to = data[k] + i * strides[k] + j * strides[operands + k];
          if (row[k] == to) continue;
          if (layouts[k].is_dense()) {
            write(to, row[k], planes * plane * sizes[k]);
          } else {
            layouts[k].scatter(to, row[k], planes);
          }
        }
      }
    }
  };
  behind.for_each(run, std::max<int64_t>(at::GRAIN_SIZE / plane, 1));
}

void for_each_row_of_planes(const TensorIteratorBase& iter, int dims,
                            TensorIteratorBase::loop2d_t loop) {
  constexpr int64_t kBlockBytes = 16384;
  const int operands = iter.ntensors();
  int64_t rows = 1;
  for (int d = 1; d < dims; ++d) rows *= iter.shape()[d];
  const int64_t plane = rows * iter.shape()[0];
  const int64_t plane_bytes = plane * iter.element_size(0);
  const int64_t block = std::max<int64_t>(kBlockBytes / reach_of_plane(iter, dims, plane_bytes), 1);
  SmallVector<int64_t, 8> row_strides;
  for (const int d : {0, dims}) {
    for (int k = 0; k < operands; ++k) row_strides.push_back(iter.strides(k)[d]);
  }
  BehindPlanes behind(iter, dims);
  const auto run = [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    for (int64_t j = 0; j < size1; ++j) {
      for (int64_t i = 0; i < size0; i += block) {
        int64_t index[c10::kMaxDimensions] = {};
        for (int64_t r = 0; r < rows; ++r) {
          char* row[kMaxOperands];
          for (int k = 0; k < operands; ++k) {
            row[k] = data[k] + i * strides[k] + j * strides[operands + k];
            for (int d = 1; d < dims; ++d) row[k] += index[d] * iter.strides(k)[d];
          }
          loop(row, row_strides.data(), iter.shape()[0], std::min(block, size0 - i));
          for (int d = 1; d < dims && ++index[d] == iter.shape()[d]; ++d) index[d] = 0;
        }
      }
    }
  };
  behind.for_each(run, std::max<int64_t>(at::GRAIN_SIZE / plane, 1));
}

}  // namespace at::inline oploom_v1::detail
