// The small Python types: dtype, device, layout, memory_format, Generator, Size, finfo and iinfo.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <aten/core/Namespace.h>
#include <aten/python/Exceptions.h>
#include <c10/core/Device.h>
#include <c10/core/Generator.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>

namespace at::inline oploom_v1::python {

void add_types(PyObject* module);

// The members of these types exist once each and are never freed.
bool is_scalar_type(PyObject* object);  // also `float`, `int`, `bool` and `complex`
ScalarType to_scalar_type(PyObject* object);
PyObject* wrap(ScalarType type);

bool is_layout(PyObject* object);
Layout to_layout(PyObject* object);
PyObject* wrap(Layout layout);

bool is_memory_format(PyObject* object);
MemoryFormat to_memory_format(PyObject* object);
PyObject* wrap(MemoryFormat format);

bool is_device(PyObject* object);
Device to_device(PyObject* object);  // also from "cpu" or "cuda:1"
PyObject* wrap(Device device);

bool is_generator(PyObject* object);
Generator to_generator(PyObject* object);
PyObject* wrap(Generator generator);

// An oploom.Size, which is a tuple.
PyObject* wrap_size(IntArrayRef sizes);
// A plain tuple.
PyObject* wrap_tuple(IntArrayRef values);

}  // namespace at::inline oploom_v1::python
