// Connects the iterator with the loops of the chosen instruction set.
#include <aten/core/Parallel.h>
#include <aten/iterator/Cast.h>
#include <aten/stubs/Copy.h>
#include <aten/stubs/RowCopy.h>
#include <c10/util/Macros.h>

#include <algorithm>

namespace at::inline oploom_v1::detail {

bool has_line_vectors() { return at::get_cpu_capability_level() == at::CPUCapability::AVX512; }

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

void copy_row(void* to, const void* from, size_t bytes) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  if (bytes > native::kShortRowCopy) {
    return native::copy_row_stub(DeviceType::CPU, target, source, static_cast<int64_t>(bytes));
  }
  native::with_short_row_copy(bytes, [=](const auto& copy) { copy(target, source); });
}

void copy_rows(char* to, int64_t to_stride, const char* from, int64_t from_stride, size_t bytes,
               int64_t rows) {
  native::copy_rows_stub(DeviceType::CPU, to, to_stride, from, from_stride, bytes, rows);
}

bool copy_named_rows(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                     size_t bytes, const RowNames& names) {
  return native::copy_named_rows_stub(DeviceType::CPU, to, to_stride, from, from_stride, bytes,
                                      names);
}

void repeat_block(char* block, int64_t bytes, int64_t total) {
  for (; bytes < total; bytes *= 2) {
    copy_row(block + bytes, block, static_cast<size_t>(std::min(bytes, total - bytes)));
  }
}

void RowCopy::stream_fetched(void* to, const void* from, int64_t bytes) const {
  constexpr int64_t kPiece = 512, kAhead = 1024;
  // Pieces but the first begin at lines.
  int64_t piece = kPiece - static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes);
  for (int64_t i = 0; i < bytes; i += piece, piece = kPiece) {
    piece = std::min(piece, bytes - i);
    const int64_t next = std::min(i + kAhead, bytes);
    fetch_row(static_cast<const char*>(from) + next, std::min(piece, bytes - next));
    stream_(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, piece);
  }
}

void copy_bytes(void* to, const void* from, int64_t bytes, int64_t total) {
  at::parallel_for(0, bytes, kCopyGrain, [&](int64_t begin, int64_t end) {
    const RowCopy copy(total);
    copy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

}  // namespace at::inline oploom_v1::detail
