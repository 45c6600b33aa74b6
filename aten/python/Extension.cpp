// The extension module oploom._C. All of it is in the library beside it, which the extension
// modules of packages share: a process has one type Tensor.
#include <aten/python/Generated.h>

PyMODINIT_FUNC PyInit__C() {
  return at::python::guarded([] { return at::python::create_module(); });
}
