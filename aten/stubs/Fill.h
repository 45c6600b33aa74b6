// The kernel that fills a tensor with one value.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Scalar.h>

namespace at::inline oploom_v1::native {

// Operand: the output. The value is converted to its dtype.
using fill_fn = void (*)(TensorIteratorBase&, const Scalar& value);
OPLOOM_DECLARE_DISPATCH(fill_fn, fill_stub);

}  // namespace at::inline oploom_v1::native
