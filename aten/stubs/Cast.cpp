// get_cast_loop: connects the iterator with the conversion loops of the chosen instruction set.
#include <aten/iterator/Cast.h>
#include <aten/stubs/Copy.h>

namespace at::inline oploom_v1::detail {

CastLoop get_cast_loop(ScalarType to, ScalarType from) {
  return native::cast_loop_stub(DeviceType::CPU, to, from);
}

}  // namespace at::inline oploom_v1::detail
