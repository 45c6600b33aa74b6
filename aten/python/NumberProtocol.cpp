// Conversions of one-element tensors to Python numbers.
#include <aten/python/Elements.h>
#include <aten/python/NumberProtocol.h>
#include <c10/util/Exception.h>

namespace at::inline oploom_v1::python {
namespace {

int to_bool(PyObject* self) {
  return guarded(-1, [&] {
    const Tensor& tensor = unpack(self);
    OPLOOM_CHECK(tensor.numel() == 1, "bool(): the truth of a tensor with ", tensor.numel(),
                 " elements is ambiguous; use any() or all()");
    Ref value(item_as_python(tensor, "bool"));
    return PyObject_IsTrue(value.get());
  });
}

PyObject* to_int(PyObject* self) {
  return guarded([&] {
    Ref value(item_as_python(unpack(self), "int"));
    return PyNumber_Long(value.get());
  });
}

PyObject* to_float(PyObject* self) {
  return guarded([&] {
    Ref value(item_as_python(unpack(self), "float"));
    return PyNumber_Float(value.get());
  });
}

PyObject* to_index(PyObject* self) {
  return guarded([&] {
    const Tensor& tensor = unpack(self);
    OPLOOM_CHECK_TYPE(tensor.numel() == 1 && c10::isIntegralType(tensor.scalar_type(), true),
                      "only integer tensors of one element can be an index or repeat a sequence, "
                      "got ",
                      tensor.scalar_type(), " of shape ", tensor.sizes(),
                      "; oploom.tensor() makes a tensor of a list, as operators want it");
    Ref value(item_as_python(tensor, "index"));
    return PyNumber_Index(value.get());
  });
}

PyObject* positive(PyObject* self) { return Py_NewRef(self); }

}  // namespace

PyNumberMethods number_conversions() {
  PyNumberMethods methods{};
  methods.nb_bool = to_bool;
  methods.nb_int = to_int;
  methods.nb_float = to_float;
  methods.nb_index = to_index;
  methods.nb_positive = positive;
  return methods;
}

}  // namespace at::inline oploom_v1::python
