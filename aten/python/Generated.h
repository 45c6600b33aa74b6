// What the generated files of the Python bindings are made of.
#pragma once

#include <aten/python/ArgParser.h>
#include <aten/python/PyTensor.h>
#include <aten/python/Results.h>

#include <map>
#include <string>
#include <vector>

namespace at::inline oploom_v1::python {

// The functions and methods that the generated files add, before they reach CPython.
struct Generated {
  std::vector<PyMethodDef> methods;
  // By submodule of oploom._C: "" for itself, "nn" for oploom._C._nn.
  std::map<std::string, std::vector<PyMethodDef>> functions;

  void both(const char* name, FastFunction as_function, FastFunction as_method, const char* doc) {
    function("", name, as_function, doc);
    method(name, as_method, doc);
  }
  void function(const char* module, const char* name, FastFunction function, const char* doc) {
    functions[module].push_back(method_entry(name, function, doc));
  }
  void method(const char* name, FastFunction function, const char* doc) {
    methods.push_back(method_entry(name, function, doc));
  }
};

// generated/python/Families.cpp
void add_generated(Generated& out);

// The module oploom._C; throws PythonError.
OPLOOM_API PyObject* create_module();
// The extension module of a package outside the tree, `name` its full name; submodules become
// attributes of it. Null, with a Python error set, when that fails.
OPLOOM_API PyObject* create_package_module(const char* name, void (*add)(Generated&)) noexcept;

}  // namespace at::inline oploom_v1::python
