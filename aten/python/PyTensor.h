// The Python type `oploom.Tensor`: how tensors become Python objects and back.
//
// Ownership: a Python object holds its at::Tensor strongly; the TensorImpl points back to the
// Python object without owning it, and the object clears that pointer when it dies. So one tensor
// has one Python object for as long as that object lives, and no reference cycle arises.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <aten/python/Exceptions.h>
#include <generated/ops/Tensor.h>

#include <vector>

namespace at::inline oploom_v1::python {

struct HookList;

struct PyTensor {
  PyObject ob_base;
  Tensor tensor;
  PyObject* dict;      // attributes that Python code sets
  PyObject* weakrefs;  // list of weak references
  HookList* hooks;     // see Note [Hooks and the cycle collector]; null where there are none
};

extern OPLOOM_API PyTypeObject TensorType;

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == &TensorType || PyType_IsSubtype(Py_TYPE(object), &TensorType);
}

// The tensor in a Python object that is known to be one.
inline const Tensor& unpack(PyObject* object) {
  return reinterpret_cast<PyTensor*>(object)->tensor;
}

// A new reference to the tensor's Python object; None for an undefined tensor.
OPLOOM_API PyObject* wrap(Tensor&& tensor);
OPLOOM_API PyObject* wrap(const Tensor& tensor);

// A Python object of `type`, a subclass of Tensor, that holds `tensor`, which must have no
// Python object yet.
PyObject* wrap_as(PyTypeObject* type, Tensor tensor);

// Creates the type with the methods given (those of the generated files) and adds it to `module`.
void add_tensor_type(PyObject* module, const std::vector<PyMethodDef>& generated_methods);

// Parts of the type that live in files of their own.
extern PyNumberMethods number_methods;      // generated/python/NumberSlots.cpp
extern PyMethodDef tensor_methods[];        // TensorMethods.cpp
extern PyGetSetDef tensor_properties[];     // TensorProperties.cpp
extern PyMethodDef conversion_methods[];    // Conversions.cpp
extern PyMethodDef interchange_methods[];   // Interchange.cpp
extern PyMethodDef autograd_methods[];      // Autograd.cpp
extern PyMethodDef dlpack_methods[];        // DLPack.cpp
extern PyBufferProcs buffer_procedures;     // Interchange.cpp
extern PySequenceMethods sequence_methods;  // TensorMethods.cpp
extern PyMappingMethods mapping_methods;    // Indexing.cpp
PyObject* tensor_repr(PyObject* self);      // TensorMethods.cpp
PyObject* tensor_iter(PyObject* self);      // TensorMethods.cpp
PyObject* rich_compare(PyObject* left, PyObject* right, int operation);  // NumberSlots.cpp

}  // namespace at::inline oploom_v1::python
