// Single elements of tensors as Python numbers and back, read and written in place.
#pragma once

#include <aten/python/PyTensor.h>
#include <c10/core/Scalar.h>

#include <string_view>

namespace at::inline oploom_v1::python {

// A new Python number for the element at `data`.
PyObject* read_element(const void* data, ScalarType type);
// Converts the Python number and writes it; throws PythonError where it does not fit.
void write_element(void* data, ScalarType type, PyObject* number);

Scalar read_scalar(const void* data, ScalarType type);

// The one element of a tensor of one element; errors name the function `what`.
Scalar item(const Tensor& tensor, std::string_view what);
PyObject* item_as_python(const Tensor& tensor, std::string_view what);

// All elements as nested lists; a number for a 0-d tensor.
PyObject* to_list(const Tensor& tensor);

}  // namespace at::inline oploom_v1::python
