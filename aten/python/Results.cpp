// Python objects for the results of operators.
#include <aten/python/Results.h>

#include <deque>

namespace at::inline oploom_v1::python {

PyObject* to_python(const Scalar& value) {
  if (value.isBoolean()) return PyBool_FromLong(value.to<bool>());
  if (value.isIntegral(false)) return PyLong_FromLongLong(value.to<int64_t>());
  if (value.isComplex()) {
    const auto number = value.to<c10::complex<double>>();
    return PyComplex_FromDoubles(number.real(), number.imag());
  }
  return PyFloat_FromDouble(value.to<double>());
}

PyObject* to_python(std::vector<Tensor>&& tensors) {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(std::move(tensors[i])));
  }
  return tuple.release();
}

PyObject* to_python(std::vector<int64_t>&& values) { return wrap_tuple(values); }

PyTypeObject* return_type(const char* name, std::initializer_list<const char*> fields) {
  // CPython keeps pointers to all of it, as long as the process runs.
  static std::deque<std::string> names;
  names.emplace_back(name);
  auto* members = new std::vector<PyStructSequence_Field>();
  for (const char* field : fields) members->push_back({field, nullptr});
  members->push_back({nullptr, nullptr});
  PyStructSequence_Desc description = {names.back().c_str(), "The results of an operator.",
                                       members->data(), static_cast<int>(fields.size())};
  PyTypeObject* type = PyStructSequence_NewType(&description);
  if (type == nullptr) throw PythonError();
  return type;
}

}  // namespace at::inline oploom_v1::python
