// Results of operators as Python objects.
#pragma once

#include <aten/python/PyTensor.h>
#include <aten/python/Types.h>
#include <c10/core/Scalar.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace at::inline oploom_v1::python {

inline PyObject* to_python(Tensor&& tensor) { return wrap(std::move(tensor)); }
inline PyObject* to_python(const Tensor& tensor) { return wrap(tensor); }
inline PyObject* to_python(Tensor& tensor) { return wrap(std::as_const(tensor)); }
inline PyObject* to_python(bool value) { return PyBool_FromLong(value); }
inline PyObject* to_python(int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* to_python(double value) { return PyFloat_FromDouble(value); }
inline PyObject* to_python(ScalarType type) { return wrap(type); }
inline PyObject* to_python(const std::string& text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}
OPLOOM_API PyObject* to_python(const Scalar& value);
OPLOOM_API PyObject* to_python(std::vector<Tensor>&& tensors);  // a tuple
OPLOOM_API PyObject* to_python(std::vector<int64_t>&& values);  // a tuple

// A class of named tuples: `max` of the generated module oploom.return_types.
OPLOOM_API PyTypeObject* return_type(const char* module, const char* name);

namespace detail {
template <class Tuple, size_t... I, class Set>
void set_items(Tuple&& tuple, std::index_sequence<I...>, Set&& set) {
  (set(I, to_python(std::get<I>(std::forward<Tuple>(tuple)))), ...);
}
}  // namespace detail

template <class... Ts>
PyObject* to_python(std::tuple<Ts...>&& values) {
  Ref result(PyTuple_New(sizeof...(Ts)));
  detail::set_items(std::move(values), std::index_sequence_for<Ts...>(),
                    [&](size_t i, PyObject* item) {
                      if (item == nullptr) throw PythonError();
                      PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), item);
                    });
  return result.release();
}

template <class... Ts>
PyObject* to_python(PyTypeObject* type, std::tuple<Ts...>&& values) {
  Ref result(type->tp_alloc(type, sizeof...(Ts)));
  detail::set_items(std::move(values), std::index_sequence_for<Ts...>(),
                    [&](size_t i, PyObject* item) {
                      if (item == nullptr) throw PythonError();
                      PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), item);
                    });
  return result.release();
}

// What `requires_grad=True` does to the result of a factory.
inline Tensor with_requires_grad(Tensor&& tensor, bool requires_grad) {
  if (requires_grad) tensor.set_requires_grad(true);
  return std::move(tensor);
}
inline Tensor& with_requires_grad(Tensor& out, bool requires_grad) {
  if (requires_grad) out.set_requires_grad(true);
  return out;
}
// Throws unless what a factory is to fill is what its other arguments ask for.
OPLOOM_API void check_out(const char* name, const Tensor& out, std::optional<ScalarType> dtype,
                          std::optional<Device> device, bool requires_grad);

}  // namespace at::inline oploom_v1::python
