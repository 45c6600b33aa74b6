// Connects the iterator with the loops of the chosen instruction set.
#include <aten/core/Parallel.h>
#include <aten/iterator/Cast.h>
#include <aten/stubs/Copy.h>
#include <c10/util/Macros.h>

#include <algorithm>
#include <cstring>

namespace at::inline oploom_v1::detail {

CastLoop get_cast_loop(ScalarType to, ScalarType from) {
  return native::cast_loop_stub(DeviceType::CPU, to, from);
}

CastLoop get_move_loop(int64_t element_size) {
  return native::move_loop_stub(DeviceType::CPU, element_size);
}

TransposeLoop get_transpose_loop(int64_t element_size) {
  return native::transpose_loop_stub(DeviceType::CPU, element_size);
}

BytesLoop get_stream_loop() { return native::stream_row_stub.get(DeviceType::CPU); }
RepeatLoop get_repeat_loop() { return native::repeat_stub.get(DeviceType::CPU); }

namespace {

// The first bytes and the last ones, as many as a Part has; they may overlap.
template <typename Part>
OPLOOM_ALWAYS_INLINE void copy_ends(char* to, const char* from, size_t bytes) {
  Part first, last;
  std::memcpy(&first, from, sizeof(Part));
  std::memcpy(&last, from + bytes - sizeof(Part), sizeof(Part));
  std::memcpy(to, &first, sizeof(Part));
  std::memcpy(to + bytes - sizeof(Part), &last, sizeof(Part));
}

}  // namespace

void copy_row(void* to, const void* from, size_t bytes) {
  typedef char Part __attribute__((vector_size(16)));
  struct Pair {
    Part parts[2];
  };
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  if (bytes > 2 * sizeof(Pair)) {
    return native::copy_row_stub(DeviceType::CPU, target, source, static_cast<int64_t>(bytes));
  }
  if (bytes > sizeof(Pair)) return copy_ends<Pair>(target, source, bytes);
  if (bytes >= sizeof(Part)) return copy_ends<Part>(target, source, bytes);
  if (bytes >= sizeof(uint64_t)) return copy_ends<uint64_t>(target, source, bytes);
  if (bytes >= sizeof(uint32_t)) return copy_ends<uint32_t>(target, source, bytes);
  for (size_t i = 0; i < bytes; ++i) target[i] = source[i];
}

void repeat_block(char* block, int64_t bytes, int64_t total) {
  for (; bytes < total; bytes *= 2) {
    copy_row(block + bytes, block, static_cast<size_t>(std::min(bytes, total - bytes)));
  }
}

void copy_bytes(void* to, const void* from, int64_t bytes, int64_t total) {
  at::parallel_for(0, bytes, kUnsharedBytes, [&](int64_t begin, int64_t end) {
    const RowCopy copy(total);
    copy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

}  // namespace at::inline oploom_v1::detail
