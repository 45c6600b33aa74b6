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
#include <c10/util/Export.h>

namespace at::inline oploom_v1::python {

void add_types(PyObject* module);

// The members of these types exist once each and are never freed.
OPLOOM_API bool is_scalar_type(PyObject* object);  // also `float`, `int`, `bool` and `complex`
OPLOOM_API ScalarType to_scalar_type(PyObject* object);
OPLOOM_API PyObject* wrap(ScalarType type);

OPLOOM_API bool is_layout(PyObject* object);
OPLOOM_API Layout to_layout(PyObject* object);
OPLOOM_API PyObject* wrap(Layout layout);

OPLOOM_API bool is_memory_format(PyObject* object);
OPLOOM_API MemoryFormat to_memory_format(PyObject* object);
OPLOOM_API PyObject* wrap(MemoryFormat format);

OPLOOM_API bool is_device(PyObject* object);
OPLOOM_API Device to_device(PyObject* object);  // also from "cpu" or "cuda:1"
OPLOOM_API PyObject* wrap(Device device);

OPLOOM_API bool is_generator(PyObject* object);
OPLOOM_API Generator to_generator(PyObject* object);
OPLOOM_API PyObject* wrap(Generator generator);

// An oploom.Size, which is a tuple.
OPLOOM_API PyObject* wrap_size(IntArrayRef sizes);
// A plain tuple.
OPLOOM_API PyObject* wrap_tuple(IntArrayRef values);

}  // namespace at::inline oploom_v1::python
