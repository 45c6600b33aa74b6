// Transposing and writing past the cache, byte by byte against plain loops; nothing beside the
// result may be written.
#include <aten/Base.h>
#include <aten/core/Processor.h>
#include <aten/iterator/Cast.h>
#include <aten/iterator/DenseRows.h>
#include <generated/ops/add.h>
#include <generated/ops/arange.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/empty.h>
#include <generated/ops/empty_like.h>
#include <generated/ops/equal.h>
#include <generated/ops/fill.h>
#include <generated/ops/flip.h>
#include <generated/ops/full_like.h>
#include <generated/ops/item.h>
#include <generated/ops/select.h>
#include <generated/ops/slice.h>
#include <generated/ops/t.h>
#include <generated/ops/to.h>
#include <generated/ops/view.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace at;

using Bytes = std::vector<char>;

// Bytes of a pattern that does not repeat every power of two.
Bytes pattern(int64_t n, int first = 0) {
  Bytes bytes(static_cast<size_t>(n));
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>((i * 7 + i / 251 + static_cast<size_t>(first)) % 256);
  }
  return bytes;
}

// The first multiple of 64 in `memory`, which has that much to spare.
char* line_of(Bytes& memory) {
  return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
}

TEST(Transpose, EverySizeAndStride) {
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    const at::detail::TransposeLoop transpose = at::detail::get_transpose_loop(size);
    // Rows of 2300 bytes or more are far apart.
    for (const int64_t rows : {1, 2, 3, 4, 7, 15, 16, 17, 33, 65, 130, 515, 2300}) {
      for (const int64_t columns : {1, 2, 3, 4, 5, 8, 15, 16, 31, 64, 67, 257, 300}) {
        for (const auto& [stream, near, rows_near] : {std::tuple(false, false, false),
                                                      {true, false, false},
                                                      {true, true, false},
                                                      {true, true, true}}) {
          const at::detail::NearFetchesGuard guard(near, rows_near, rows_near);
          for (const bool gaps : {false, true}) {
            // Streams take whole lines.
            const int64_t to_stride =
                gaps ? (columns * size + 63) / 64 * 64 + (stream ? 64 : size) : columns * size;
            const int64_t from_stride = (rows + (gaps ? 3 : 0)) * size;
            const Bytes from = pattern(columns * from_stride);
            Bytes to = pattern(rows * to_stride + 64, 5);
            char* place = line_of(to);
            Bytes wanted = to;
            char* wanted_place = wanted.data() + (place - to.data());
            for (int64_t r = 0; r < rows; ++r) {
              for (int64_t c = 0; c < columns; ++c) {
                std::memcpy(wanted_place + r * to_stride + c * size,
                            from.data() + c * from_stride + r * size, static_cast<size_t>(size));
              }
            }
            // What is fetched meanwhile is of no consequence.
            const at::detail::RowsAhead::Operand next[] = {{from.data(), from_stride, rows * size},
                                                           {place, to_stride, 1}};
            const at::detail::RowsAhead ahead = {next, gaps ? 2 : 0, columns};
            transpose(place, to_stride, from.data(), from_stride, rows, columns, stream, ahead);
            ASSERT_EQ(to, wanted) << rows << " x " << columns << " elements of " << size
                                  << " bytes, stream " << stream << ", gaps " << gaps << ", near "
                                  << near << rows_near;
            // From the last row on upwards.
            transpose(place, to_stride, from.data() + (columns - 1) * from_stride, -from_stride,
                      rows, columns, stream);
            ASSERT_EQ(std::memcmp(place, from.data() + (columns - 1) * from_stride,
                                  static_cast<size_t>(size)),
                      0);
          }
        }
      }
    }
  }
}

// Memory behind which there is none.
class Page {
 public:
  Page() {
    begin_ = static_cast<char*>(
        mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (mprotect(begin_ + kBytes, kBytes, PROT_NONE) != 0) std::abort();
  }
  ~Page() { munmap(begin_, 2 * kBytes); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  char* last(int64_t bytes) const { return begin_ + kBytes - bytes; }

 private:
  static constexpr int64_t kBytes = 1 << 16;
  char* begin_;
};

// Between planes and pixels, of which some channels may be left out: nothing is read behind the
// last one of the last pixel, and nothing written beside them.
TEST(Transpose, ChannelsOfPixels) {
  const Page page, result;
  for (const int64_t size : {1, 2, 4, 8}) {
    const at::detail::TransposeLoop transpose = at::detail::get_transpose_loop(size);
    for (const int64_t pixel : {2, 3, 4, 5, 7}) {
      for (const int64_t n : {8, 15, 16, 17, 33, 64, 100, 1021}) {
        for (const bool stream : {false, true}) {
          for (int64_t channels = 2; channels <= pixel; ++channels) {
            const int64_t from_bytes = ((n - 1) * pixel + channels) * size;
            const char* from = page.last(from_bytes);
            std::memcpy(page.last(from_bytes), pattern(from_bytes).data(),
                        static_cast<size_t>(from_bytes));
            const int64_t plane = (n + 3) * size;
            Bytes planes = pattern(channels * plane, 3);
            Bytes wanted = planes;
            for (int64_t i = 0; i < n; ++i) {
              for (int64_t c = 0; c < channels; ++c) {
                std::memcpy(wanted.data() + c * plane + i * size, from + (i * pixel + c) * size,
                            static_cast<size_t>(size));
              }
            }
            transpose(planes.data(), plane, from, pixel * size, channels, n, stream);
            ASSERT_EQ(planes, wanted) << channels << " channels of " << pixel << " of " << n
                                      << " pixels of " << size << " bytes, stream " << stream;
            // And back to where they came from, beside what was left out.
            char* to = result.last(from_bytes);
            std::memset(to, 1, static_cast<size_t>(from_bytes));
            transpose(to, pixel * size, planes.data(), plane, n, channels, stream);
            for (int64_t i = 0; i < n * pixel - (pixel - channels); ++i) {
              const Bytes ones(static_cast<size_t>(size), 1);
              ASSERT_EQ(
                  std::memcmp(to + i * size, i % pixel < channels ? from + i * size : ones.data(),
                              static_cast<size_t>(size)),
                  0)
                  << "element " << i << " of " << n << " pixels of " << pixel << " elements of "
                  << size << " bytes, " << channels << " of them, stream " << stream;
            }
          }
        }
      }
    }
  }
}

// Pixels that are reversed or lose channels, several at a time: nothing is read behind the last
// one.
TEST(Transpose, PixelsBeforeTheEndOfMemory) {
  const Page page;
  for (const int64_t channels : {2, 3, 4, 5}) {
    for (const int64_t wide : {6, 7, 16, 17, 31, 100}) {
      for (int64_t wanted = 2; wanted <= channels; ++wanted) {
        for (const int64_t step : {channels, int64_t{1}}) {
          const int64_t bytes = (wide - 1) * step + wanted;
          const Bytes from = pattern(bytes);
          std::memcpy(page.last(bytes), from.data(), from.size());
          const Tensor pixels = at::from_blob(page.last(bytes), {wide, wanted}, {step, 1}, kByte);
          const Tensor copies[] = {pixels.contiguous(), pixels.flip({0}), pixels.flip({1}),
                                   pixels.flip({0, 1})};
          for (int k = 0; k < 4; ++k) {
            const uint8_t* copy = copies[k].const_data_ptr<uint8_t>();
            for (int64_t i = 0; i < wide * wanted; ++i) {
              const int64_t x = (k & 1) != 0 ? wide - 1 - i / wanted : i / wanted;
              const int64_t c = (k & 2) != 0 ? wanted - 1 - i % wanted : i % wanted;
              ASSERT_EQ(copy[i], static_cast<uint8_t>(from[static_cast<size_t>(x * step + c)]))
                  << wanted << " channels of " << wide << " pixels, each " << step
                  << " bytes from the last, way " << k;
            }
          }
        }
      }
    }
  }
}

// Rows with gaps behind them that become dense, read upwards and downwards: nothing is read behind
// the last one, and nothing written.
TEST(Transpose, RowsBeforeTheEndOfMemory) {
  const Page page, result;
  for (int64_t bytes = 1; bytes <= 70; ++bytes) {
    for (const int64_t step : {bytes, bytes + 1, bytes + 40, int64_t{0}}) {
      for (const int64_t rows : {1, 2, 3, 4, 9, 40}) {
        const int64_t from_bytes = (rows - 1) * step + bytes;
        char* from = page.last(from_bytes);
        std::memcpy(from, pattern(from_bytes).data(), static_cast<size_t>(from_bytes));
        for (const bool upwards : {false, true}) {
          char* to = result.last(rows * bytes);
          std::memset(to, 0, static_cast<size_t>(rows * bytes));
          at::detail::copy_rows(to, bytes, from + (upwards ? (rows - 1) * step : 0),
                                upwards ? -step : step, static_cast<size_t>(bytes), rows);
          for (int64_t r = 0; r < rows; ++r) {
            ASSERT_EQ(std::memcmp(to + r * bytes, from + (upwards ? rows - 1 - r : r) * step,
                                  static_cast<size_t>(bytes)),
                      0)
                << "row " << r << " of " << rows << ", " << bytes << " bytes, each " << step
                << " from the last, upwards " << upwards;
          }
        }
      }
    }
  }
}

// Sizes about those of vectors and lines, from and to various places in a line; nothing besides is
// written.
template <typename Copy>
void expect_copies_any_bytes(const Copy& copy) {
  std::vector<int64_t> sizes = {200, 255, 256, 257, 300, 391, 4096, 70001};
  for (int64_t bytes = 1; bytes <= 140; ++bytes) sizes.push_back(bytes);
  for (const int64_t bytes : sizes) {
    for (const int64_t offset : {0, 1, 31, 32, 40, 63}) {
      const Bytes memory = pattern(bytes + 70);
      const char* from = memory.data() + offset * 7 % 64;
      Bytes to = pattern(bytes + 200, 9);
      Bytes wanted = to;
      char* place = line_of(to) + offset;
      std::memcpy(wanted.data() + (place - to.data()), from, static_cast<size_t>(bytes));
      copy(place, from, bytes);
      ASSERT_EQ(to, wanted) << bytes << " bytes at " << offset;
    }
  }
}

TEST(Transpose, StreamsAnyBytes) {
  expect_copies_any_bytes([](char* to, const char* from, int64_t bytes) {
    at::detail::get_stream_loop()(to, from, bytes);
    at::detail::stream_fence();
  });
}

TEST(Transpose, CopiesAnyRow) {
  expect_copies_any_bytes([](char* to, const char* from, int64_t bytes) {
    at::detail::copy_row(to, from, static_cast<size_t>(bytes));
  });
}

// Elements apart; nothing between them is written.
TEST(Transpose, MovesElementsOfAnyStride) {
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    const at::detail::CastLoop move = at::detail::get_move_loop(size);
    for (const int64_t to_step : {1, 2, 3, -1, -2}) {
      for (const int64_t from_step : {0, 1, 2, 3, -1, -2}) {
        for (int64_t n = 0; n <= 150; ++n) {
          const Bytes from = pattern(6 * n * size + size);
          Bytes to = pattern(6 * n * size + size, 5);
          Bytes wanted = to;
          const int64_t middle = 3 * n * size;
          for (int64_t i = 0; i < n; ++i) {
            std::memcpy(&wanted[static_cast<size_t>(middle + i * to_step * size)],
                        &from[static_cast<size_t>(middle + i * from_step * size)],
                        static_cast<size_t>(size));
          }
          move(&to[static_cast<size_t>(middle)], to_step * size, &from[static_cast<size_t>(middle)],
               from_step * size, n);
          ASSERT_EQ(to, wanted) << n << " elements of " << size << " bytes, each " << from_step
                                << "th to each " << to_step << "th";
        }
      }
    }
  }
}

// ---- Dense rows of operands of every kind ----

enum Kind {
  kDense,
  kFollowing,
  kTransposed,
  kGaps,
  kTransposedGaps,
  kOneForARow,
  kOneForAColumn,
  kOne
};

// Strides in elements, and how many elements the memory has.
struct Layout {
  int64_t inner, outer, elements;
};
Layout layout(Kind kind, int64_t size0, int64_t size1) {
  switch (kind) {
    case kDense:
      return {1, size0 + 1, (size0 + 1) * size1};
    case kFollowing:
      return {1, size0, size0 * size1};
    case kTransposed:
      return {size1 + 2, 1, (size1 + 2) * size0};
    case kGaps:
      return {2, 2 * size0, 2 * size0 * size1};
    case kTransposedGaps:
      return {3 * size1, 3, 3 * size0 * size1};
    case kOneForARow:
      return {0, 1, size1};
    case kOneForAColumn:
      return {1, 0, size0};
    default:
      return {0, 0, 1};
  }
}

__extension__ using Wide = unsigned __int128;  // as large as the largest element

// Element i of row k: where it is repeated, of the kRepeatedBytes that there are of it, or of one
// as a number, and where rows of `length` are joined of the kJoinedBytes that there are of it for
// each.
template <typename T>
T element(at::detail::Repeats repeats, char* const* row, int k, int64_t i, uint32_t repeated,
          int64_t length = 0) {
  constexpr int64_t kElements = at::detail::kRepeatedBytes / int64_t{sizeof(T)};
  constexpr int64_t kJoined = at::detail::kJoinedBytes / int64_t{sizeof(T)};
  if ((repeated >> k & 1) != 0) {
    const int64_t elements = has(repeats, at::detail::Repeats::Numbers) ? 1 : kElements;
    i = length == 0 ? i % elements : i / length * kJoined + i % kJoined;
  }
  return reinterpret_cast<const T*>(row[k])[i];
}

// out = a + b + c, where c may have elements of another size than the others. By loops that do each
// thing with what is repeated; those that join rows have elements of one size.
template <typename T, typename C>
void check_rows(Kind out_kind, Kind a_kind, Kind b_kind, Kind c_kind, int64_t size0, int64_t size1,
                bool stream) {
  const Kind kinds[] = {out_kind, a_kind, b_kind, c_kind};
  const int64_t sizes[] = {sizeof(T), sizeof(T), sizeof(T), sizeof(C)};
  Layout layouts[4];
  Bytes memory[4];
  char* data[4];
  int64_t strides[8];
  for (int k = 0; k < 4; ++k) {
    layouts[k] = layout(kinds[k], size0, size1);
    memory[k] = pattern(layouts[k].elements * sizes[k], k);
    data[k] = memory[k].data();
    strides[k] = layouts[k].inner * sizes[k];
    strides[4 + k] = layouts[k].outer * sizes[k];
  }
  const auto at = [&](int k, int64_t i, int64_t j) {
    return i * layouts[k].inner + j * layouts[k].outer;
  };
  const Bytes before = memory[0];
  Bytes wanted = before;
  for (int64_t j = 0; j < size1; ++j) {
    for (int64_t i = 0; i < size0; ++i) {
      reinterpret_cast<T*>(wanted.data())[at(0, i, j)] =
          static_cast<T>(reinterpret_cast<const T*>(data[1])[at(1, i, j)] +
                         reinterpret_cast<const T*>(data[2])[at(2, i, j)] +
                         static_cast<T>(reinterpret_cast<const C*>(data[3])[at(3, i, j)]));
    }
  }
  using at::detail::Repeats;
  for (const auto& [repeats, by_row, near] :
       {std::tuple(Repeats::No, false, false),
        {Repeats::No, true, false},
        {Repeats::Rows, false, false},
        {Repeats::Rows, true, true},
        {Repeats::Numbers, false, true},
        {Repeats::Numbers, true, false},
        {Repeats::Rows | Repeats::JoinsRows, false, false},
        {Repeats::Numbers | Repeats::JoinsRows, false, true}}) {
    if (has(repeats, Repeats::JoinsRows) && sizeof(T) != sizeof(C)) continue;
    const at::detail::NearFetchesGuard guard(near, near, near);
    memory[0] = before;
    data[0] = memory[0].data();
    bool fills_vectors = true;
    const auto add = [&, kind = repeats](char* const* row, int64_t n, uint32_t repeated,
                                         auto... length) {
      for (int64_t i = 0; i < n; ++i) {
        reinterpret_cast<T*>(row[0])[i] =
            static_cast<T>(element<T>(kind, row, 1, i, repeated, length...) +
                           element<T>(kind, row, 2, i, repeated, length...) +
                           static_cast<T>(element<C>(kind, row, 3, i, repeated, length...)));
      }
      if constexpr (sizeof...(length) > 0) {
        fills_vectors = fills_vectors && n % (at::detail::kJoinedBytes / sizeof(T)) == 0;
      }
    };
    if (by_row) {
      at::detail::for_each_dense_row(data, strides, sizes, 1, 4, size0, size1, stream, add,
                                     repeats);
    } else {
      at::detail::for_each_dense_row(data, strides, sizes, 1, 4, size0, size1, stream,
                                     at::detail::row_by_row<4>(add, add), repeats);
    }
    at::detail::stream_fence();
    EXPECT_TRUE(fills_vectors);
    ASSERT_EQ(memory[0], wanted) << "out " << out_kind << ", a " << a_kind << ", b " << b_kind
                                 << ", c " << c_kind << ", " << size0 << " x " << size1
                                 << ", stream " << stream << ", repeats "
                                 << static_cast<int>(repeats) << ", by row " << by_row << ", near "
                                 << near;
  }
}

TEST(Transpose, DenseRowsOfEveryLayout) {
  for (const Kind out : {kDense, kTransposed, kGaps}) {
    for (const Kind a : {kDense, kTransposed, kGaps, kOneForARow, kOneForAColumn}) {
      for (const Kind b : {kDense, kTransposed, kTransposedGaps, kOne}) {
        for (const Kind c : {kDense, kTransposed, kOneForARow}) {
          for (const bool stream : {false, true}) {
            for (const auto& [size0, size1] : {std::pair(3, 50), {50, 3}, {130, 9}, {9, 130}}) {
              check_rows<uint32_t, uint8_t>(out, a, b, c, size0, size1, stream);
            }
            check_rows<uint32_t, uint64_t>(out, a, b, c, 301, 71, stream);
            check_rows<uint16_t, uint16_t>(out, a, b, c, 1500, 18, stream);
            // More than are transposed together.
            check_rows<uint32_t, uint8_t>(out, a, b, c, 260, 150, stream);
            check_rows<uint32_t, uint8_t>(out, a, b, c, 70, 530, stream);
          }
        }
      }
    }
  }
}

// Where they come from far away, rows with gaps may be gathered into the output itself.
TEST(Transpose, FarRowsWithGaps) {
  const int64_t size0 = 3000, size1 = 600;
  for (const Kind out : {kDense, kGaps}) {
    for (const Kind b : {kDense, kTransposed, kGaps, kOneForARow}) {
      check_rows<uint32_t, uint32_t>(out, kGaps, b, kOneForAColumn, size0, size1, false);
      check_rows<uint32_t, uint8_t>(out, b, kGaps, kGaps, size0, size1, false);
    }
    check_rows<uint8_t, uint32_t>(out, kDense, kDense, kGaps, size0, size1, false);
  }
}

// But not where an input shares memory with the output, even if not its elements: row by row, each
// is read before the place before it is written.
TEST(Transpose, FarRowsThatShareMemory) {
  const int64_t size0 = 3000, size1 = 600, pitch = size0 + 5;
  std::vector<uint32_t> shared(static_cast<size_t>(pitch * size1));
  for (size_t i = 0; i < shared.size(); ++i) shared[i] = static_cast<uint32_t>(i * i);
  const std::vector<uint32_t> with_gaps(static_cast<size_t>(2 * size0 * size1), 1);
  const std::vector<uint32_t> before = shared;
  char* data[] = {reinterpret_cast<char*>(shared.data()), reinterpret_cast<char*>(&shared[1]),
                  reinterpret_cast<char*>(const_cast<uint32_t*>(with_gaps.data()))};
  const int64_t strides[] = {4, 4, 8, 4 * pitch, 4 * pitch, 8 * size0}, sizes[] = {4, 4, 4};
  const at::detail::NearFetchesGuard guard(true, true, true);
  const auto add = [](char* const* row, int64_t n, uint32_t) {
    auto* to = reinterpret_cast<uint32_t*>(row[0]);
    for (int64_t i = 0; i < n; ++i) {
      to[i] = reinterpret_cast<const uint32_t*>(row[1])[i] +
              reinterpret_cast<const uint32_t*>(row[2])[i];
    }
  };
  at::detail::for_each_dense_row(data, strides, sizes, 1, 3, size0, size1, /*stream=*/false,
                                 at::detail::row_by_row<3>(add));
  for (int64_t j = 0, k = 0; j < size1; ++j) {
    for (int64_t i = 0; i < pitch; ++i, ++k) {
      ASSERT_EQ(shared[k], i < size0 ? before[k + 1] + 1 : before[k]) << i << ", " << j;
    }
  }
}

TEST(Transpose, ShortRowsTakenTogether) {
  for (const Kind a : {kFollowing, kDense, kTransposed, kGaps, kOneForARow, kOneForAColumn}) {
    for (const Kind b : {kFollowing, kOneForARow, kOneForAColumn, kOne}) {
      for (const Kind c : {kFollowing, kOneForARow, kOneForAColumn}) {
        for (const bool stream : {false, true}) {
          check_rows<uint32_t, uint32_t>(kFollowing, a, b, c, 5, 900, stream);
          check_rows<uint32_t, uint8_t>(kFollowing, a, b, c, 7, 900, stream);
          check_rows<uint8_t, uint16_t>(kFollowing, a, b, c, 33, 300, stream);
          check_rows<uint64_t, uint64_t>(kFollowing, a, b, c, 3, 700, stream);
          check_rows<uint64_t, uint64_t>(kFollowing, a, b, c, 16, 200, stream);
          check_rows<uint32_t, uint32_t>(kFollowing, a, b, c, 33, 201, stream);
          check_rows<uint8_t, uint8_t>(kFollowing, a, b, c, 70, 300, stream);
          check_rows<uint32_t, uint32_t>(kDense, a, b, c, 20, 200, stream);
          check_rows<Wide, Wide>(kFollowing, a, b, c, 3, 400, stream);
          check_rows<uint16_t, uint32_t>(kFollowing, a, b, c, 400, 30, stream);
          check_rows<uint16_t, uint16_t>(kFollowing, a, b, c, 1500, 5, stream);
        }
      }
    }
  }
}

// Sixteen transposed operands leave little room for each.
TEST(Transpose, DenseRowsOfManyOperands) {
  constexpr int kOperands = 16;
  const int64_t size0 = 100, size1 = 40;
  std::vector<double> memory[kOperands];
  char* data[kOperands];
  int64_t strides[2 * kOperands], sizes[kOperands];
  for (int k = 0; k < kOperands; ++k) {
    const bool transposed = k % 2 == 1;
    for (int64_t i = 0; i < size0 * size1; ++i) {
      memory[k].push_back(static_cast<double>(transposed ? i % size1 * size0 + i / size1 : i));
    }
    data[k] = reinterpret_cast<char*>(memory[k].data());
    sizes[k] = 8;
    strides[k] = transposed ? 8 * size1 : 8;
    strides[kOperands + k] = transposed ? 8 : 8 * size0;
  }
  const auto add = [](char* const* row, int64_t n, uint32_t) {
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 1; k < kOperands; ++k) sum += reinterpret_cast<const double*>(row[k])[i];
      reinterpret_cast<double*>(row[0])[i] = sum;
    }
  };
  at::detail::for_each_dense_row(data, strides, sizes, 1, kOperands, size0, size1, false,
                                 at::detail::row_by_row<kOperands>(add));
  for (int64_t i = 0; i < size0 * size1; ++i) {
    ASSERT_EQ(memory[0][static_cast<size_t>(i)], static_cast<double>(15 * i));
  }
}

// ---- Tensors ----

// Rows of the copy lie a multiple of 2 KB apart; with gaps behind them, and without.
template <typename T>
void check_crowded_copy(ScalarType dtype, int64_t rows, int64_t columns) {
  const Tensor a = at::arange(rows * columns, kLong).to(dtype).view({rows, columns});
  for (const int64_t gap : {0, 1}) {
    const int64_t pitch = rows + gap * 2048;
    Tensor copy = at::empty({columns, pitch}, dtype);
    copy.fill_(7);
    copy.slice(1, 0, rows).copy_(a.t());
    const T* from = a.const_data_ptr<T>();
    const T* to = copy.const_data_ptr<T>();
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < pitch; ++i) {
        ASSERT_EQ(to[j * pitch + i], i < rows ? from[i * columns + j] : T(7)) << i << ", " << j;
      }
    }
  }
}

TEST(Transpose, CopiesToRowsFarApart) {
  check_crowded_copy<uint8_t>(kByte, 4096, 1029);
  check_crowded_copy<int16_t>(kShort, 2048, 1031);
  check_crowded_copy<int32_t>(kInt, 1024, 1033);
}

TEST(Transpose, CopiesTensors) {
  for (const ScalarType dtype : {kByte, kShort, kInt, kLong, kComplexDouble}) {
    for (const auto& [rows, columns] :
         {std::pair(1, 5), {3, 1000}, {1000, 3}, {8, 8}, {64, 63}, {100, 300}}) {
      const Tensor a = at::arange(rows * columns, kLong).to(dtype).view({rows, columns});
      const Tensor copy = at::empty({columns, rows}, dtype);
      copy.copy_(a.t());
      const Tensor converted = at::empty({columns, rows}, kDouble);
      if (dtype != kComplexDouble) converted.copy_(a.t());
      const auto at = [](const Tensor& t, int64_t i, int64_t j) {
        return t.select(0, i).select(0, j).item().to<double>();
      };
      for (int64_t i = 0; i < columns; ++i) {
        for (int64_t j = 0; j < rows; ++j) {
          ASSERT_EQ(at(copy, i, j), at(a, j, i));
          if (dtype != kComplexDouble) {
            ASSERT_EQ(at(converted, i, j), at(a, j, i));
          }
        }
      }
    }
  }
}

// Results that are written past the cache.
void check_large_tensors(int64_t rows, int64_t columns) {
  const Tensor a = at::arange(rows * columns, kInt).view({rows, columns});
  ASSERT_GE(static_cast<int64_t>(a.nbytes()), at::detail::kStreamedBytes);
  Tensor transposed = at::empty({columns, rows}, kInt), sum = at::empty_like(transposed);
  transposed.copy_(a.t());
  at::add_out(sum, a.t(), transposed);
  const Tensor wide = at::arange(2 * rows * columns, kInt).view({rows, 2 * columns});
  Tensor both = at::empty_like(transposed), copy = at::empty_like(a);
  at::add_out(copy, a, wide.slice(1, 0, 2 * columns, 2));
  const int32_t* s = copy.const_data_ptr<int32_t>();
  for (int64_t k = 0; k < rows * columns; ++k) ASSERT_EQ(s[k], 3 * k);
  at::add_out(both, a.t(), a.t());
  // Here the output alone lies by rows.
  Tensor more = at::empty_like(transposed);
  at::add_out(more, a.t(), 5);
  copy.copy_(a);
  const int32_t* p = transposed.const_data_ptr<int32_t>();
  const int32_t* q = sum.const_data_ptr<int32_t>();
  const int32_t* r = both.const_data_ptr<int32_t>();
  const int32_t* m = more.const_data_ptr<int32_t>();
  for (int64_t i = 0, k = 0; i < columns; ++i) {
    for (int64_t j = 0; j < rows; ++j, ++k) {
      const auto value = static_cast<int32_t>(j * columns + i);
      ASSERT_EQ(p[k], value);
      ASSERT_EQ(q[k], 2 * value);
      ASSERT_EQ(r[k], 2 * value);
      ASSERT_EQ(m[k], value + 5);
    }
  }
  EXPECT_TRUE(at::equal(copy, a));
  copy.add_(a);  // in place
  EXPECT_TRUE(at::equal(copy, at::add(a, a)));
  const Tensor part = copy.slice(1, 1, columns - 1);
  const Tensor edge = copy.slice(1, columns - 1, columns).contiguous();
  part.fill_(7);
  EXPECT_TRUE(at::equal(part, at::full_like(part, 7)));
  EXPECT_TRUE(at::equal(copy.slice(1, columns - 1, columns), edge));
}

// As one processor or another wants rows asked for; rows that begin at lines, and others.
TEST(Transpose, LargeTensors) {
  for (const auto& [near, rows_near] : {std::pair(false, false), {true, false}, {true, true}}) {
    const at::detail::NearFetchesGuard guard(near, rows_near, rows_near);
    check_large_tensors(3008, 3008);
    check_large_tensors(2999, 3001);
  }
}

}  // namespace
