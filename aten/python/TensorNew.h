// Tensors made from Python data.
#pragma once

#include <aten/python/PyTensor.h>
#include <c10/core/ScalarType.h>

#include <optional>

namespace at::inline oploom_v1::python {

// A new tensor from numbers, nested sequences, a NumPy array or a tensor; always a copy.
Tensor tensor_from_data(PyObject* data, std::optional<ScalarType> dtype,
                        std::optional<Device> device);

// The tensor itself, or one that shares the array's memory where dtype and device allow it.
Tensor as_tensor(PyObject* data, std::optional<ScalarType> dtype, std::optional<Device> device);

// What `Tensor(...)` makes: of sizes, uninitialised; of a sequence, its values; of the default
// dtype.
Tensor legacy_new(PyObject* args);

extern PyMethodDef tensor_new_functions[];

}  // namespace at::inline oploom_v1::python
