// MemoryFormat: which order of dimensions a dense tensor is laid out in.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>
#include <c10/util/Export.h>

#include <cstdint>
#include <ostream>

namespace c10::inline oploom_v1 {

enum class MemoryFormat : std::int8_t {
  Contiguous,      // the last dimension is the densest
  Preserve,        // as the input of the operator
  ChannelsLast,    // [N, C, H, W] stored as N, H, W, C
  ChannelsLast3d,  // [N, C, D, H, W] stored as N, D, H, W, C
  NumOptions
};

inline const char* toString(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous:
      return "contiguous_format";
    case MemoryFormat::Preserve:
      return "preserve_format";
    case MemoryFormat::ChannelsLast:
      return "channels_last";
    case MemoryFormat::ChannelsLast3d:
      return "channels_last_3d";
    default:
      return "unknown memory format";
  }
}
inline std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  return out << toString(format);
}
inline MemoryFormat get_contiguous_memory_format() { return MemoryFormat::Contiguous; }

// Row-major strides (elements); a dimension of size 0 counts as 1, as in the field.
OPLOOM_API DimVector contiguous_strides(IntArrayRef sizes);
// [N, C, H, W] or [C, H, W]; [N, C, D, H, W] or [C, D, H, W].
OPLOOM_API DimVector get_channels_last_strides_2d(IntArrayRef sizes);
OPLOOM_API DimVector get_channels_last_strides_3d(IntArrayRef sizes);
// Whether strides order the dimensions as channels-last does, dense or not.
OPLOOM_API bool is_channels_last_strides_2d(IntArrayRef sizes, IntArrayRef strides);
OPLOOM_API bool is_channels_last_strides_3d(IntArrayRef sizes, IntArrayRef strides);

}  // namespace c10::inline oploom_v1
