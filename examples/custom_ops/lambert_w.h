// The kernel of lambert_w: one function for each instruction set.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/stubs/DispatchStub.h>
#include <mathx/namespace.h>

namespace mathx::native {

using unary_fn = void (*)(TensorIteratorBase&);
OPLOOM_DECLARE_DISPATCH(unary_fn, lambert_w_stub);

}  // namespace mathx::native
