#include <aten/core/Parallel.h>
#include <aten/native/NamedPositions.h>
#include <aten/native/ShapeUtils.h>
#include <aten/stubs/Indexing.h>
#include <c10/util/overflow.h>
#include <generated/ops/add.h>
#include <generated/ops/copy.h>

#include <algorithm>
#include <cstring>

namespace at::inline oploom_v1::native {

namespace {

// How many elements beside dimension `dim` follow one another in both, which have the same sizes.
int64_t length_of_runs(const TensorBase& a, const TensorBase& b, int64_t dim) {
  int64_t length = 1;
  for (int64_t d = 0; d < a.dim(); ++d) {
    if (d == dim || a.sizes()[d] == 1) continue;
    if (a.strides()[d] != length || b.strides()[d] != length) continue;
    length *= a.sizes()[d];
    d = -1;  // from the first one again
  }
  return length;
}

// Whether a 1-d index names few positions along dim of many lines, or any of so many that a call
// for each is little (but along the last dimension, where each would be written with gaps), whose
// elements are as many in `others`, and neither the positions are neighbours in self, nor all lines
// inside of one in both, which kernels take as a row: what belongs to one position is copied at
// once then.
OPLOOM_NOINLINE bool copies_each_position(const TensorBase& self, int64_t dim, const Tensor& index,
                                          const TensorBase& others) {
  constexpr int64_t kFew = 8, kManyLines = 1024, kCountlessLines = 4096;
  const int64_t count = index.numel(), last = self.dim() - 1;
  if (count == 0) return false;
  const int64_t lines = others.numel() / count;
  if (lines < kManyLines || (count > kFew && (lines < kCountlessLines || dim == last)))
    return false;
  if (dim != last && self.strides()[last] == 1 && others.strides()[last] <= 1) {
    const int64_t inside = c10::multiply_integers(self.sizes().slice(dim + 1));
    if (others.strides()[last] == 0 || length_of_runs(self, others, dim) >= inside) return false;
  }
  return count == 1 || self.strides()[dim] != 1;
}

OPLOOM_ALWAYS_INLINE bool are_inside(const Tensor& index, int64_t size) {
  return in_bounds_stub(DeviceType::CPU, index.const_data_ptr<int64_t>(), index.numel(),
                        /*lowest=*/0, size);
}

// What becomes of each position of `named` that the index names, in its order: it is copied to one
// of `others`, or that one to it, or added to it, multiplied by alpha.
enum class Each { IsTaken, IsPut, IsAdded };
OPLOOM_COLD void for_each_position(const TensorBase& named, const TensorBase& others, int64_t dim,
                                   const Tensor& index, Each what, const Scalar& alpha = 1) {
  const auto* positions = index.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < index.numel(); ++i) {
    const Tensor place = narrow_alias(named, dim, positions[i], 1),
                 other = narrow_alias(others, dim, i, 1);
    if (what == Each::IsTaken) {
      other.copy_(place);
    } else {
      what == Each::IsPut ? place.copy_(other) : place.add_(other, alpha);
    }
  }
}

// Several columns of many short rows, by shuffles of vectors.
bool take_columns(const TensorBase& out, const TensorBase& self, const Tensor& index) {
  constexpr int64_t kFewest = 64;
  const auto size = static_cast<int64_t>(self.itemsize());
  const int64_t columns = index.numel(), from_columns = self.sizes().back();
  if (columns < 2 || out.numel() < kFewest * columns) return false;
  if (!self.is_contiguous() || !out.is_contiguous()) return false;
  const int64_t from_row = from_columns * size, to_row = columns * size;
  const int64_t longer = std::max(from_row, to_row), shorter = std::min(from_row, to_row);
  const RowShuffle shuffle = row_shuffle_stub(DeviceType::CPU, size);
  if (longer > shuffle.bytes || !are_inside(index, from_columns)) return false;
  // As many rows at a time as a vector holds of either operand.
  const int64_t together = shuffle.bytes / longer, units = size / shuffle.unit;  // of an element
  const auto* positions = index.const_data_ptr<int64_t>();
  alignas(64) char order[64] = {};
  char* place = order;
  for (int64_t r = 0; r < together; ++r) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t u = 0; u < units; ++u, place += shuffle.unit) {
        const int64_t unit = (r * from_columns + positions[j]) * units + u;
        std::memcpy(place, &unit, static_cast<size_t>(shuffle.unit));  // its lowest bytes
      }
    }
  }
  const auto* const data = static_cast<const char*>(self.const_data_ptr());
  auto* const result = static_cast<char*>(out.mutable_data_ptr());
  const int64_t rows = out.numel() / columns;
  at::parallel_for(0, rows, at::GRAIN_SIZE / columns, [&](int64_t begin, int64_t end) {
    // Vectors reach behind the rows: the last ones are copied by elements.
    const int64_t last = end - (shuffle.bytes + shorter - 1) / shorter;
    const int64_t steps = std::max<int64_t>(last - begin + together, 0) / together;
    shuffle.run(result + begin * to_row, together * to_row, data + begin * from_row,
                together * from_row, steps, order);
    for (int64_t i = begin + steps * together; i < end; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        std::memcpy(result + i * to_row + j * size, data + i * from_row + positions[j] * size,
                    static_cast<size_t>(size));
      }
    }
  });
  return true;
}

}  // namespace

bool take_positions(const TensorBase& out, const TensorBase& self, int64_t dim,
                    const Tensor& index) {
  if (dim == self.dim() - 1 && take_columns(out, self, index)) return true;
  if (!copies_each_position(self, dim, index, out)) return false;
  if (!are_inside(index, self.sizes()[dim])) return false;
  for_each_position(self, out, dim, index, Each::IsTaken);
  return true;
}

bool put_positions(const TensorBase& self, int64_t dim, const Tensor& index,
                   const TensorBase& values, bool accumulate) {
  if (!copies_each_position(self, dim, index, values)) return false;
  for_each_position(self, values, dim, index, accumulate ? Each::IsAdded : Each::IsPut);
  return true;
}

// Few positions with many elements each in short runs: to go from run to run with an index takes
// 1.4 to 8 times as long (measured on a Zen 4).
bool add_positions(const TensorBase& self, int64_t dim, const Tensor& index,
                   const TensorBase& values, const Scalar& alpha) {
  constexpr int64_t kFew = 4, kMany = 1024, kLongRun = 128;
  const int64_t count = index.numel();
  if (count > kFew || values.numel() < count * kMany) return false;
  if (self.strides()[dim] == 1 && values.strides()[dim] == 1) return false;
  if (length_of_runs(self, values, dim) >= kLongRun) return false;
  for_each_position(self, values, dim, index, Each::IsAdded, alpha);
  return true;
}

}  // namespace at::inline oploom_v1::native
