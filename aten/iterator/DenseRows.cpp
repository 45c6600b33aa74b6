// for_each_dense_row: presents rows of any strides to a loop over dense ones.
#include <aten/core/OpaqueType.h>
#include <aten/iterator/DenseRows.h>
#include <aten/iterator/TensorIterator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>

namespace at::inline oploom_v1::detail {
namespace {

// For all operands together: what fits into the first-level cache beside the dense ones.
constexpr int64_t kBuffersBytes = 65536;
// For one of them; up to eight have 8 KiB each.
int64_t buffer_bytes(int operands) { return kBuffersBytes / (operands <= 8 ? 8 : kMaxOperands); }
// Rows that are gathered together from a transposed input: a cache line of float holds as many.
constexpr int64_t kRows = 16;

// to[i] = from[i * stride]
void gather(char* to, const char* from, int64_t stride, int64_t size, int64_t n) {
  with_opaque_type(static_cast<size_t>(size), [&]<typename T>(T) {
    for (int64_t i = 0; i < n; ++i) {
      reinterpret_cast<T*>(to)[i] = *reinterpret_cast<const T*>(from + i * stride);
    }
  });
}

void scatter(char* to, int64_t stride, const char* from, int64_t size, int64_t n) {
  with_opaque_type(static_cast<size_t>(size), [&]<typename T>(T) {
    for (int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<T*>(to + i * stride) = reinterpret_cast<const T*>(from)[i];
    }
  });
}

// Sixteen bytes at a time: of a loop over elements the compiler makes one of single ones here.
void repeat(char* to, const char* from, int64_t size, int64_t n) {
  alignas(16) char pattern[16];
  with_opaque_type(static_cast<size_t>(size), [&]<typename T>(T) {
    std::fill_n(reinterpret_cast<T*>(pattern), 16 / sizeof(T), *reinterpret_cast<const T*>(from));
  });
  const int64_t bytes = n * size;
  int64_t i = 0;
  for (; i + 16 <= bytes; i += 16) std::memcpy(to + i, pattern, 16);
  std::memcpy(to + i, pattern, static_cast<size_t>(bytes - i));
}

// Rows of `width` elements each: to[r * width + i] = from[r + i * stride], r < rows
void gather_columns(char* to, int64_t width, const char* from, int64_t stride, int64_t size,
                    int64_t n, int64_t rows) {
  with_opaque_type(static_cast<size_t>(size), [&]<typename T>(T) {
    T* target = reinterpret_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) {
      const char* place = from + i * stride;
      // The processor does not foresee such strides; by 16 columns the memory has answered.
      __builtin_prefetch(place + 16 * stride);
      const T* column = reinterpret_cast<const T*>(place);
      if (rows == kRows) {
        for (int64_t r = 0; r < kRows; ++r) target[r * width + i] = column[r];
      } else {
        for (int64_t r = 0; r < rows; ++r) target[r * width + i] = column[r];
      }
    }
  });
}

// Rows of n elements each: to[r * n + i] = from[r * outer + i * inner], r < rows
void gather_rows(char* to, const char* from, int64_t inner, int64_t outer, int64_t size, int64_t n,
                 int64_t rows) {
  const int64_t bytes = n * size;
  for (int64_t r = 0; r < rows; ++r, to += bytes, from += outer) {
    if (inner == 0) {
      repeat(to, from, size, n);
    } else if (inner == size) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
    } else {
      gather(to, from, inner, size, n);
    }
  }
}

// A row that is this short is worth less than what is done for each: several are taken together.
constexpr int64_t kShortRowBytes = 512;

// Short rows, whose outputs follow one another: several become one, for which the inputs that are
// not dense in both dimensions are copied together.
void for_each_short_row(char** data, const int64_t* strides, const int64_t* sizes, int outputs,
                        int operands, int64_t size0, int64_t size1, int64_t largest,
                        DenseRowLoop dense) {
  alignas(64) char buffers[kBuffersBytes];
  const int64_t bytes = buffer_bytes(operands);
  const auto buffer = [&](int k) { return buffers + k * bytes; };
  const int64_t* outer = strides + operands;
  const int64_t block = std::max<int64_t>(bytes / (largest * size0), 1);
  char* row[kMaxOperands];
  for (int64_t j = 0; j < size1; j += block) {
    const int64_t rows = std::min(block, size1 - j);
    for (int k = 0; k < operands; ++k) {
      row[k] = data[k] + j * outer[k];
      if (k < outputs || (strides[k] == sizes[k] && outer[k] == size0 * sizes[k])) continue;
      gather_rows(buffer(k), row[k], strides[k], outer[k], sizes[k], size0, rows);
      row[k] = buffer(k);
    }
    dense(row, rows * size0);
  }
}

enum class Mode : uint8_t { Dense, Repeated, Strided, Columns };

}  // namespace

void for_each_dense_row(char** data, const int64_t* strides, const int64_t* sizes, int outputs,
                        int operands, int64_t size0, int64_t size1, DenseRowLoop dense) {
  const int64_t* outer = strides + operands;
  int64_t largest = 1;
  bool all_dense = true;
  bool in_order = true;
  for (int k = 0; k < operands; ++k) {
    const bool row_is_dense = strides[k] == sizes[k];
    largest = std::max(largest, sizes[k]);
    all_dense = all_dense && row_is_dense;
    in_order = in_order && (k >= outputs || (row_is_dense && outer[k] == size0 * sizes[k]));
  }
  if (in_order && size1 > 1 && size0 * largest <= kShortRowBytes) {
    return for_each_short_row(data, strides, sizes, outputs, operands, size0, size1, largest,
                              dense);
  }
  char* row[kMaxOperands];
  // The loop may move the pointers that it gets.
  if (all_dense || size0 == 1) {
    for (int64_t j = 0; j < size1; ++j) {
      for (int k = 0; k < operands; ++k) row[k] = data[k] + j * outer[k];
      dense(row, size0);
    }
    return;
  }

  alignas(64) char buffers[kBuffersBytes];
  const int64_t bytes = buffer_bytes(operands);
  const auto buffer = [&](int k) { return buffers + k * bytes; };
  Mode mode[kMaxOperands];
  bool columns = false;
  for (int k = 0; k < operands; ++k) {
    if (strides[k] == sizes[k]) {
      mode[k] = Mode::Dense;
    } else if (strides[k] == 0 && k >= outputs) {
      mode[k] = Mode::Repeated;
    } else if (k >= outputs && outer[k] == sizes[k] && size1 >= kRows / 2) {
      mode[k] = Mode::Columns;
      columns = true;
    } else {
      mode[k] = Mode::Strided;
    }
  }
  const int64_t block = columns ? kRows : 1;
  const int64_t width = bytes / largest / block;

  for (int64_t j = 0; j < size1; j += block) {
    const int64_t rows = std::min(block, size1 - j);
    for (int64_t i = 0; i < size0; i += width) {
      const int64_t n = std::min(width, size0 - i);
      for (int k = outputs; k < operands; ++k) {
        if (mode[k] != Mode::Columns) continue;
        gather_columns(buffer(k), width, data[k] + i * strides[k] + j * outer[k], strides[k],
                       sizes[k], n, rows);
      }
      for (int64_t r = 0; r < rows; ++r) {
        for (int k = 0; k < operands; ++k) {
          char* place = data[k] + i * strides[k] + (j + r) * outer[k];
          switch (mode[k]) {
            case Mode::Dense:
              row[k] = place;
              break;
            case Mode::Repeated:
              // The buffer still holds the element if neither row nor piece needs another.
              if (i == 0 && (outer[k] != 0 || (j == 0 && r == 0))) {
                repeat(buffer(k), place, sizes[k], std::min(width, size0));
              }
              if (columns && i > 0 && outer[k] != 0) repeat(buffer(k), place, sizes[k], n);
              row[k] = buffer(k);
              break;
            case Mode::Strided:
              row[k] = buffer(k);
              if (k >= outputs) gather(buffer(k), place, strides[k], sizes[k], n);
              break;
            case Mode::Columns:
              row[k] = buffer(k) + r * width * sizes[k];
              break;
          }
        }
        dense(row, n);
        for (int k = 0; k < outputs; ++k) {
          if (mode[k] != Mode::Strided) continue;
          scatter(data[k] + i * strides[k] + (j + r) * outer[k], strides[k], buffer(k), sizes[k],
                  n);
        }
      }
    }
  }
}

void for_each_dense_row(TensorIteratorBase& iter, int operands, DenseRowLoop dense) {
  OPLOOM_INTERNAL_ASSERT(iter.ntensors() == operands && operands <= kMaxOperands,
                         "the kernel takes ", operands, " operands, got ", iter.ntensors());
  // A small call needs neither the iterator's loops nor other threads.
  if (iter.is_dense_row() && iter.numel() < GRAIN_SIZE) {
    char* data[kMaxOperands];
    iter.get_data_ptrs(data);
    return dense(data, iter.numel());
  }
  int64_t sizes[kMaxOperands];
  for (int k = 0; k < operands; ++k) sizes[k] = iter.element_size(k);
  const int outputs = iter.noutputs();
  iter.for_each([&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    for_each_dense_row(data, strides, sizes, outputs, operands, size0, size1, dense);
  });
}

}  // namespace at::inline oploom_v1::detail
