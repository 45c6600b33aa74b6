// Opens namespace at, in which the names of c10 can be used unqualified.
#pragma once

namespace c10::inline oploom_v1 {}

namespace at::inline oploom_v1 {
using namespace c10;
}
