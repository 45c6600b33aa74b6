// Python objects for the results of operators.
#include <aten/python/Results.h>

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

PyTypeObject* return_type(const char* module, const char* name) {
  Ref types(PyImport_ImportModule(module));
  // Kept as long as the process runs, by the function that returns such tuples.
  Ref type(PyObject_GetAttrString(types.get(), name));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

void check_out(const char* name, const Tensor& out, std::optional<ScalarType> dtype,
               std::optional<Device> device, bool requires_grad) {
  OPLOOM_CHECK(!dtype || *dtype == out.scalar_type(), name, "(): expected out of the dtype ",
               *dtype, " that was asked for, got ", out.scalar_type());
  const bool same_device = !device || (device->type() == out.device().type() &&
                                       (!device->has_index() || *device == out.device()));
  OPLOOM_CHECK(same_device, name, "(): expected out on the device ", *device,
               " that was asked for, got ", out.device());
  OPLOOM_CHECK(!requires_grad || out.is_floating_point() || out.is_complex(), name,
               "(): expected out of a floating-point or complex dtype to require grad, got ",
               out.scalar_type());
}

}  // namespace at::inline oploom_v1::python
