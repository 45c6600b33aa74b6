#include <aten/core/Parallel.h>
#include <aten/stubs/ReduceIndex.h>
#include <aten/stubs/Strips.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace at::inline oploom_v1::native {

namespace {

struct Shape {
  // Dimensions beside the one that is reduced; `out` strides are those of the indices.
  WalkDims kept;
  // The same with the strides of the values, if wanted; in the same order.
  WalkDims kept_values;
  int64_t outputs = 1;
  int64_t length = 1;
  int64_t stride = 0;
};

Shape make_shape(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                 int64_t dim) {
  Shape shape;
  const auto size = static_cast<int64_t>(self.itemsize());
  shape.stride = size;
  const bool keepdim = indices.dim() == self.dim();
  int64_t out_dim = 0;
  WalkDims& kept = shape.kept;
  WalkDims& values_kept = shape.kept_values;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == dim) {
      shape.length = self.sizes()[d];
      shape.stride = self.strides()[d] * size;
      if (keepdim) ++out_dim;
      continue;
    }
    const int64_t n = self.sizes()[d], in = self.strides()[d] * size;
    shape.outputs *= n;
    if (n != 1) {
      kept.push_back({n, in, indices.strides()[out_dim] * 8});
      values_kept.push_back({n, in, values.defined() ? values.strides()[out_dim] * size : 0});
    }
    ++out_dim;
  }
  // An expanded dimension counts as the longest.
  const auto distance = [](const WalkDim& d) { return static_cast<uint64_t>(d.in) - 1; };
  for (size_t i = 1; i < kept.size(); ++i) {
    for (size_t j = i; j > 0 && distance(kept[j]) < distance(kept[j - 1]); --j) {
      std::swap(kept[j], kept[j - 1]);
      std::swap(values_kept[j], values_kept[j - 1]);
    }
  }
  // What follows its neighbour everywhere is one with it.
  for (size_t i = 1; i < kept.size();) {
    const int64_t before = kept[i - 1].size;
    if (kept[i].in == before * kept[i - 1].in && kept[i].out == before * kept[i - 1].out &&
        values_kept[i].out == before * values_kept[i - 1].out) {
      kept[i - 1].size = values_kept[i - 1].size = before * kept[i].size;
      kept.erase(kept.begin() + i);
      values_kept.erase(values_kept.begin() + i);
    } else {
      ++i;
    }
  }
  return shape;
}

// Numbers that are gathered or converted at once, of a row and of each of up to so many side by
// side; the same with those of a vector; bytes of the widest number and of the widest element that
// is converted.
constexpr int64_t kChunk = 1024, kWidth = 512, kTogether = 8, kPadded = kWidth + 16;
constexpr int64_t kSize = 8, kUnconverted = 2;
// Where indices and rows lie behind the values. Whatever the size of a number, what is read is in
// no page just before the place that was written last in another, for which it would wait.
constexpr int64_t kIndicesAt = 4096 + 1088, kRowsAt = 2 * 4096 + 1280;
static_assert(kPadded * kSize <= kIndicesAt && kIndicesAt + kPadded * kSize <= kRowsAt);

class IndexReducer {
 public:
  IndexReducer(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
               int64_t dim, const IndexReduction& reduction)
      : r_(reduction),
        shape_(make_shape(values, indices, self, dim)),
        in_size_(static_cast<int64_t>(self.itemsize())),
        self_(self) {
    if (shape_.outputs == 0) return;
    in_ = static_cast<const char*>(self.const_data_ptr());
    index_out_ = static_cast<char*>(indices.mutable_data_ptr());
    value_out_ = values.defined() ? static_cast<char*>(values.mutable_data_ptr()) : nullptr;
    in_rows_ = r_.direct && shape_.stride == r_.size;
  }

  void run() {
    if (shape_.outputs == 0) return;
    const int64_t length = shape_.length, stride = shape_.stride;
    if (shape_.outputs == 1) return whole();
    // Neighbouring outputs are worked on side by side where they lie closer together than the
    // elements of one, or where one has few of them.
    const WalkDim& inner = shape_.kept[0];
    const bool by_planes = shape_.kept.size() > 1 &&
                           are_planes(shape_.kept, stride, length, in_size_) &&
                           shape_.kept_values[1].out == inner.size * shape_.kept_values[0].out;
    if (!by_planes && (inner.size < 4 || (inner.size < 8 && length >= 16) ||
                       (std::abs(stride) <= std::abs(inner.in) && length >= 24))) {
      const Ahead ahead = ahead_in_order();
      const int64_t grain = std::max<int64_t>(1, GRAIN_SIZE / length);
      at::parallel_for(0, shape_.outputs, grain,
                       [&](int64_t begin, int64_t end) { rows(begin, end, ahead); });
      return;
    }
    OPLOOM_CHECK(r_.size == kSize || length <= std::numeric_limits<int32_t>::max(),
                 "max(), min(), argmax(), argmin(): expected a dimension of less than 2^31 "
                 "elements, got ",
                 length);
    planes_ = by_planes ? shape_.kept[1] : WalkDim{1, 0, 0};
    columns_ = inner.size * planes_.size;
    const int64_t outer = shape_.outputs / columns_;
    width_ = by_planes ? kWidth / inner.size * inner.size
                       : strip_width(columns_, kWidth, outer, StripsAre::Read);
    choose_read(by_planes);
    const int64_t blocks = (columns_ + width_ - 1) / width_;
    const int64_t grain = std::max<int64_t>(1, GRAIN_SIZE / (std::min(width_, columns_) * length));
    at::parallel_for(0, outer * blocks, grain,
                     [&](int64_t begin, int64_t end) { columns(begin, end, blocks); });
  }

 private:
  // How rows of columns are read: where they are, each by itself, those that follow one another as
  // one, several transposed, or with what is put together of planes.
  enum class Read : uint8_t { InPlace, Each, Joined, Transposed, Planes };

  void choose_read(bool by_planes) {
    constexpr int64_t kShort = 256, kFewest = 32;  // bytes of rows; columns that are transposed
    const int64_t distance = shape_.kept[0].in;
    pitch_ = kPadded * r_.size;
    together_ = kTogether;
    if (by_planes) {
      read_ = Read::Planes;
    } else if (r_.direct && distance == r_.size) {
      read_ = Read::InPlace;
    } else if (columns_ * r_.size <= kShort && shape_.stride == columns_ * distance) {
      read_ = Read::Joined;
      pitch_ = columns_ * r_.size;
      together_ = kTogether * kWidth / columns_;
    } else if (columns_ >= kFewest && in_rows_) {
      read_ = Read::Transposed;
    }
  }

  // How to ask for rows that are gone through one after the other.
  Ahead ahead_in_order() const {
    return in_rows_ && has_bytes(self_, kFetchedBytes)
               ? ahead_in(self_, self_.is_contiguous(), r_.fetches)
               : Ahead::None;
  }

  // A single output: the extremes of even parts are searched in turn.
  void whole() const {
    const Ahead ahead = ahead_in_order();
    const auto load = in_rows_ ? nullptr : r_.load;
    const int64_t parts = even_parts(shape_.length / GRAIN_SIZE);
    SmallVector<int64_t, 2> places(static_cast<size_t>(parts)),
        extremes(static_cast<size_t>(parts));
    auto* const numbers = reinterpret_cast<char*>(extremes.data());
    at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        places[i] = r_.search(in_, shape_.stride, shape_.length * i / parts,
                              shape_.length * (i + 1) / parts, load, ahead, numbers + i * r_.size);
      }
    });
    int64_t extreme, part = 0;
    if (parts > 1) {
      part = r_.search(numbers, r_.size, 0, parts, /*load=*/nullptr, Ahead::None, &extreme);
    }
    std::memcpy(index_out_, &places[part], sizeof(int64_t));
    if (value_out_ != nullptr) r_.store(numbers + part * r_.size, 1, value_out_, 0);
  }

  // Outputs one after the other.
  void rows(int64_t begin, int64_t end, Ahead ahead) const {
    const int64_t length = shape_.length, stride = shape_.stride;
    const WalkDim& inner = shape_.kept[0];
    Walker walker(shape_.kept.data(), shape_.kept.size(), begin);
    Walker value_walker(shape_.kept_values.data(), shape_.kept_values.size(), begin);
    // Rows that are gathered or converted are so as one where they follow each other.
    const bool joins = !in_rows_ && length <= kChunk && inner.in == length * stride;
    const auto load = in_rows_ || joins ? nullptr : r_.load;
    alignas(64) char buffer[kChunk * kSize];
    int64_t first = begin, last = begin;  // the rows in the buffer
    // Copies, which need not be looked up for each row.
    const auto search = r_.search;
    char *const index_out = index_out_, *const value_out = value_out_;
    for (int64_t i = begin; i < end; ++i, walker.next(), value_walker.next()) {
      const char* row = in_ + walker.in;
      if (joins) {
        if (i == last) {
          first = i;
          last += std::min({kChunk / length, inner.size - i % inner.size, end - i});
          r_.load(row, stride, (last - first) * length, buffer, 0);
        }
        row = buffer + (i - first) * length * r_.size;
      }
      int64_t extreme;
      const int64_t index = search(row, stride, 0, length, load, ahead, &extreme);
      std::memcpy(index_out + walker.out, &index, sizeof(index));
      if (value_out != nullptr) r_.store(&extreme, 1, value_out + value_walker.out, 0);
    }
  }

  // Makes `count` rows, `pitch_` bytes apart, of those from `from` on, of n columns.
  void read(const char* from, int64_t count, int64_t n, char* to) const {
    const int64_t distance = shape_.kept[0].in;
    if (read_ == Read::Joined) return r_.load(from, distance, count * n, to, 0);
    if (read_ == Read::Transposed) {
      return at::detail::get_transpose_loop(in_size_)(to, pitch_, from, distance, count, n,
                                                      /*stream=*/false);
    }
    for (int64_t r = 0; r < count; ++r, from += shape_.stride, to += pitch_) {
      read_ == Read::Planes ? read_planes(from, n, to) : r_.load(from, distance, n, to, 0);
    }
  }

  // The elements of n columns in one row, the first of which is at `from`.
  OPLOOM_NOINLINE void read_planes(const char* from, int64_t n, char* to) const {
    alignas(64) char unconverted[kWidth * kUnconverted];
    char* const elements = r_.direct ? to : unconverted;
    const int64_t bytes = shape_.kept[0].size * in_size_;
    at::detail::copy_rows(elements, bytes, from, planes_.in, bytes, n / shape_.kept[0].size);
    if (!r_.direct) r_.load(elements, in_size_, n, to, 0);
  }

  // Outputs side by side, in strips of up to `width_` columns, of which there are so many.
  void columns(int64_t begin, int64_t end, int64_t blocks) const {
    const WalkDim& inner = shape_.kept[0];
    const int64_t length = shape_.length, stride = shape_.stride;
    const bool by_planes = read_ == Read::Planes;
    const Ahead ahead = read_ == Read::InPlace && has_bytes(self_, kFetchedBytes)
                            ? ahead_in_rows(self_, length, r_.fetches)
                            : Ahead::None;
    const size_t walked = by_planes ? 2 : 1;
    Walker walker(shape_.kept.data() + walked, shape_.kept.size() - walked, begin / blocks);
    Walker value_walker(shape_.kept_values.data() + walked, shape_.kept.size() - walked,
                        begin / blocks);
    const auto widen = at::detail::get_cast_loop(kLong, r_.size == kSize ? kLong : kInt);
    alignas(64) char memory[kRowsAt + kTogether * kPadded * kSize];
    char *const values = memory, *const indices = memory + kIndicesAt,
                *const rows = memory + kRowsAt;
    int64_t block = begin % blocks;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = block * width_, n = std::min(width_, columns_ - first);
      const char* const from =
          in_ + walker.in + (by_planes ? first / inner.size * planes_.in : first * inner.in);
      const auto bytes = static_cast<size_t>(n * r_.size);
      std::memset(indices, 0, bytes);
      if (read_ == Read::InPlace) {
        std::memcpy(values, from, bytes);
        r_.advance(from + stride, stride, length - 1, 1, n, ahead, values, indices);
      } else {
        for (int64_t k = 0; k < length; k += together_) {
          const int64_t count = std::min(length - k, together_);
          read(from + k * stride, count, n, rows);
          if (k > 0) {
            r_.advance(rows, pitch_, count, k, n, ahead, values, indices);
          } else {
            std::memcpy(values, rows, bytes);
            r_.advance(rows + pitch_, pitch_, count - 1, 1, n, ahead, values, indices);
          }
        }
      }
      widen(index_out_ + walker.out + first * inner.out, inner.out, indices, r_.size, n);
      if (value_out_ != nullptr) {
        const int64_t step = shape_.kept_values[0].out;
        r_.store(values, n, value_out_ + value_walker.out + first * step, step);
      }
      if (++block == blocks) {
        block = 0;
        walker.next();
        value_walker.next();
      }
    }
  }

  const IndexReduction& r_;
  const Shape shape_;
  const int64_t in_size_;
  const TensorBase& self_;
  const char* in_ = nullptr;
  char* index_out_ = nullptr;
  char* value_out_ = nullptr;
  bool in_rows_ = false;
  Read read_ = Read::Each;
  WalkDim planes_{1, 0, 0};
  int64_t columns_ = 0, width_ = 0, pitch_ = 0, together_ = 0;
};

}  // namespace

void reduce_index(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                  int64_t dim, const IndexReduction& reduction) {
  IndexReducer(values, indices, self, dim, reduction).run();
}

}  // namespace at::inline oploom_v1::native
