// Memory shared with others: NumPy arrays, the buffer protocol and DLPack.
//
// Lifetimes: a tensor made of foreign memory keeps the Python object that owns it; an array or
// capsule made of a tensor keeps the tensor's storage. Either side can go first.
#pragma once

#include <aten/python/PyTensor.h>
#include <c10/core/ScalarType.h>

#include <optional>

namespace at::inline oploom_v1::python {

enum class Readonly { kRefuse, kAllow };

// The dtype that NumPy calls by a kind ('f') and a size in bytes, if we have it.
std::optional<ScalarType> scalar_type_of_kind(char kind, int itemsize);

// Whether the object is an array in NumPy's sense (it has `__array_struct__`).
bool has_array_interface(PyObject* object);
// Whether from_array can share it: writable, of a dtype we have, without negative strides.
bool can_share_array(PyObject* array);
// A tensor on the array's memory. Negative strides are refused when writing is to be seen by the
// array; with kAllow such an array, or one of foreign byte order, is copied first.
Tensor from_array(PyObject* array, Readonly readonly);

Tensor from_raw_buffer(PyObject* buffer, ScalarType dtype, int64_t count, int64_t offset);
Tensor from_dlpack_object(PyObject* object);

extern PyMethodDef interchange_functions[];  // Interchange.cpp
extern PyMethodDef dlpack_functions[];       // DLPack.cpp

}  // namespace at::inline oploom_v1::python
