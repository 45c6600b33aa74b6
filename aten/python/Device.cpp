// The Python type oploom.device.
#include <aten/python/Types.h>
#include <c10/util/Exception.h>

#include <string>

namespace at::inline oploom_v1::python {
namespace {

struct DeviceObject {
  PyObject ob_base;
  Device device;
};

PyTypeObject DeviceTypeObject = {PyVarObject_HEAD_INIT(nullptr, 0)};

Device device_of(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->device; }

std::string type_text(Device device) {
  const std::string text = device.str();
  return text.substr(0, text.find(':'));
}

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"type", "index", nullptr};
    PyObject* type = nullptr;
    PyObject* index = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char**>(names), &type,
                                     &index)) {
      return nullptr;
    }
    Device device = to_device(type);
    if (index != Py_None) {
      OPLOOM_CHECK_VALUE(!device.has_index(), "device(): the index is given twice, in '",
                         device.str(), "' and as an argument");
      const long value = PyLong_AsLong(index);
      if (value == -1 && PyErr_Occurred()) throw PythonError();
      OPLOOM_CHECK_VALUE(value >= 0 && value < 128, "device(): expected an index of 0 to 127, got ",
                         value);
      device = Device(device.type(), static_cast<c10::DeviceIndex>(value));
    }
    return wrap(device);
  });
}

PyObject* device_repr(PyObject* self) {
  return guarded([&] {
    const Device device = device_of(self);
    std::string text = "device(type='" + type_text(device) + "'";
    if (device.has_index()) text += ", index=" + std::to_string(device.index());
    return PyUnicode_FromString((text + ")").c_str());
  });
}

PyObject* device_str(PyObject* self) {
  return guarded([&] { return PyUnicode_FromString(device_of(self).str().c_str()); });
}

PyObject* device_compare(PyObject* left, PyObject* right, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || !is_device(right)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((device_of(left) == device_of(right)) == (operation == Py_EQ));
}

Py_hash_t device_hash(PyObject* self) {
  const Device device = device_of(self);
  return static_cast<Py_hash_t>(device.type()) * 1000 + device.index() + 2;
}

PyObject* device_get_type(PyObject* self, void*) {
  return guarded([&] { return PyUnicode_FromString(type_text(device_of(self)).c_str()); });
}

PyObject* device_get_index(PyObject* self, void*) {
  if (!device_of(self).has_index()) Py_RETURN_NONE;
  return PyLong_FromLong(device_of(self).index());
}

PyObject* device_reduce(PyObject* self, PyObject*) {
  return guarded(
      [&] { return Py_BuildValue("O(s)", &DeviceTypeObject, device_of(self).str().c_str()); });
}

PyMethodDef device_methods[] = {
    {"__reduce__", device_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef device_properties[] = {
    {"type", device_get_type, nullptr, "The kind of device: 'cpu', 'cuda', 'meta'.", nullptr},
    {"index", device_get_index, nullptr, "Which device of its kind, or None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

bool is_device(PyObject* object) { return Py_TYPE(object) == &DeviceTypeObject; }

Device to_device(PyObject* object) {
  if (is_device(object)) return device_of(object);
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "expected an oploom.device or a string, got %s",
                 Py_TYPE(object)->tp_name);
    throw PythonError();
  }
  const char* text = PyUnicode_AsUTF8(object);
  if (text == nullptr) throw PythonError();
  return Device(std::string(text));
}

PyObject* wrap(Device device) {
  Ref object(PyType_GenericAlloc(&DeviceTypeObject, 0));
  reinterpret_cast<DeviceObject*>(object.get())->device = device;
  return object.release();
}

void add_device_type(PyObject* module) {
  DeviceTypeObject.tp_name = "oploom.device";
  DeviceTypeObject.tp_doc = "Where a tensor's memory lies: device('cpu'), device('cuda', 0).";
  DeviceTypeObject.tp_basicsize = sizeof(DeviceObject);
  DeviceTypeObject.tp_flags = Py_TPFLAGS_DEFAULT;
  DeviceTypeObject.tp_new = device_new;
  DeviceTypeObject.tp_repr = device_repr;
  DeviceTypeObject.tp_str = device_str;
  DeviceTypeObject.tp_richcompare = device_compare;
  DeviceTypeObject.tp_hash = device_hash;
  DeviceTypeObject.tp_methods = device_methods;
  DeviceTypeObject.tp_getset = device_properties;
  check_status(PyType_Ready(&DeviceTypeObject));
  check_status(
      PyModule_AddObjectRef(module, "device", reinterpret_cast<PyObject*>(&DeviceTypeObject)));
}

}  // namespace at::inline oploom_v1::python
