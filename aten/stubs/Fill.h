// The kernel that fills a tensor with one value.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>

namespace at::inline oploom_v1::native {

// Operand: the output, of whose dtype the element is.
using fill_fn = void (*)(TensorIteratorBase&, const void* element);
OPLOOM_DECLARE_DISPATCH(fill_fn, fill_stub);

}  // namespace at::inline oploom_v1::native
