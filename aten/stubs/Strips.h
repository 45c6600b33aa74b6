// How neighbouring columns are shared out among threads.
#pragma once

#include <aten/core/Namespace.h>

#include <cstdint>

namespace at::inline oploom_v1::native {

// Two threads that go down neighbouring strips at the same pace write into the cache line that lies
// across their border at the same time, row after row. Where each has two strips, and takes the
// left one first, they do not.
enum class StripsAre : uint8_t { Read, Written };

// The width of strips of columns, of which there are `outer` rows: at most `most`, which is a
// multiple of 16. They are all about as wide; where they are few, as many as threads share evenly,
// as long as they have 64 columns.
int64_t strip_width(int64_t columns, int64_t most, int64_t outer, StripsAre use);

}  // namespace at::inline oploom_v1::native
