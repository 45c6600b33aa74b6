// Python functions that C++ calls with gradients.
#pragma once

#include <aten/python/PyTensor.h>

#include <memory>
#include <vector>

namespace at::inline oploom_v1::python {

// A Python function that C++ holds: called and dropped from any thread.
class PythonHook {
 public:
  explicit PythonHook(PyObject* function) : function_(Py_NewRef(function)) {}
  ~PythonHook();
  PythonHook(const PythonHook&) = delete;
  PythonHook& operator=(const PythonHook&) = delete;

  Tensor operator()(const Tensor& gradient) const;

  // For the cycle collector; the GIL is held.
  PyObject* function() const { return function_; }
  void clear() { Py_CLEAR(function_); }

 private:
  PyObject* function_;
};

// Note [Hooks and the cycle collector]
// A leaf owns its hooks, a hook its function, and the function's closure often the leaf's Python
// object. So that such a cycle is found, that object knows the hooks of its leaf, and shows their
// functions to the collector while it is the only owner of the tensor. Hooks of other tensors
// belong to the graph, which is beyond the collector's sight.
struct HookList {
  std::vector<std::weak_ptr<PythonHook>> hooks;
};

}  // namespace at::inline oploom_v1::python
