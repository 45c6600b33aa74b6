// Connects the iterator with the loops of the chosen instruction set.
#include <aten/iterator/Cast.h>
#include <aten/stubs/Copy.h>

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

void copy_long_row(void* to, const void* from, size_t bytes) {
  native::copy_row_stub(DeviceType::CPU, static_cast<char*>(to), static_cast<const char*>(from),
                        static_cast<int64_t>(bytes));
}

}  // namespace at::inline oploom_v1::detail
