// The Python types dtype, layout and memory_format, of which each value is one object; and Size.
#include <aten/python/Types.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace at::inline oploom_v1::python {
namespace {

// ---- Enumerations: one object for each value, told apart by identity ----

struct EnumObject {
  PyObject ob_base;
  int value;
  const char* name;  // "oploom.float32"
};

PyObject* enum_repr(PyObject* self) {
  return PyUnicode_FromString(reinterpret_cast<EnumObject*>(self)->name);
}

// Pickled as the module attribute of its name: `oploom.float32` is one object in every process.
PyObject* enum_reduce(PyObject* self, PyObject*) {
  return PyUnicode_FromString(reinterpret_cast<EnumObject*>(self)->name + sizeof("oploom.") - 1);
}

// Where pickle finds that attribute; it would look through all modules there are otherwise.
PyObject* enum_module(PyObject*, void*) { return PyUnicode_FromString("oploom"); }

PyGetSetDef enum_properties[] = {
    {"__module__", enum_module, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

ScalarType dtype_of(PyObject* self) {
  return static_cast<ScalarType>(reinterpret_cast<EnumObject*>(self)->value);
}

PyMethodDef enum_methods[] = {
    {"__reduce__", enum_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* dtype_itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(c10::elementSize(dtype_of(self)));
}
PyObject* dtype_is_floating_point(PyObject* self, void*) {
  return PyBool_FromLong(c10::isFloatingType(dtype_of(self)));
}
PyObject* dtype_is_complex(PyObject* self, void*) {
  return PyBool_FromLong(c10::isComplexType(dtype_of(self)));
}
PyObject* dtype_is_signed(PyObject* self, void*) {
  return PyBool_FromLong(c10::isSignedType(dtype_of(self)));
}

PyGetSetDef dtype_properties[] = {
    {"__module__", enum_module, nullptr, nullptr, nullptr},
    {"itemsize", dtype_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"is_floating_point", dtype_is_floating_point, nullptr, "Whether it is a real float.", nullptr},
    {"is_complex", dtype_is_complex, nullptr, "Whether it is complex.", nullptr},
    {"is_signed", dtype_is_signed, nullptr, "Whether it has negative values.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject enum_type(const char* name, const char* doc) {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = name;
  type.tp_doc = doc;
  type.tp_basicsize = sizeof(EnumObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_repr = enum_repr;
  type.tp_methods = enum_methods;
  type.tp_getset = enum_properties;
  return type;
}

PyTypeObject DtypeType = enum_type("oploom.dtype", "The type of a tensor's elements.");
PyTypeObject LayoutType = enum_type("oploom.layout", "How a tensor's elements are stored.");
PyTypeObject MemoryFormatType =
    enum_type("oploom.memory_format", "The order of a tensor's dimensions in memory.");

constexpr int kEnumValues = 64;
std::array<PyObject*, kEnumValues> dtypes{};
std::array<PyObject*, kEnumValues> layouts{};
std::array<PyObject*, kEnumValues> memory_formats{};

// Adds the value to the module under its first name, and under the other one where it has one.
void add_value(PyObject* module, PyTypeObject& type, std::array<PyObject*, kEnumValues>& all,
               int value, const char* name, const char* alias = nullptr) {
  Ref object(PyType_GenericAlloc(&type, 0));
  auto* fields = reinterpret_cast<EnumObject*>(object.get());
  fields->value = value;
  fields->name = name;
  check_status(PyModule_AddObjectRef(module, name + sizeof("oploom.") - 1, object.get()));
  if (alias != nullptr) check_status(PyModule_AddObjectRef(module, alias, object.get()));
  all[static_cast<size_t>(value)] = object.release();
}

// ---- Size ----

PyTypeObject SizeType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* size_repr(PyObject* self) {
  std::string text = "oploom.Size([";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(PyLong_AsLongLong(PyTuple_GET_ITEM(self, i)));
  }
  return PyUnicode_FromString((text + "])").c_str());
}

PyObject* size_numel(PyObject* self, PyObject*) {
  int64_t numel = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
    numel *= PyLong_AsLongLong(PyTuple_GET_ITEM(self, i));
  }
  return PyLong_FromLongLong(numel);
}

PyObject* as_size(PyObject* tuple) {
  if (tuple == nullptr || !PyTuple_CheckExact(tuple)) return tuple;
  PyObject* result = PyObject_CallOneArg(reinterpret_cast<PyObject*>(&SizeType), tuple);
  Py_DECREF(tuple);
  return result;
}

PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* self = PyTuple_Type.tp_new(type, args, kwargs);
  if (self == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
    PyObject* item = PyTuple_GET_ITEM(self, i);
    if (PyLong_CheckExact(item)) continue;
    PyObject* index = PyNumber_Index(item);
    if (index == nullptr) {
      PyErr_Format(PyExc_TypeError, "Size(): expected integers, got %s at position %zd",
                   Py_TYPE(item)->tp_name, i);
      Py_DECREF(self);
      return nullptr;
    }
    PyTuple_SET_ITEM(self, i, index);
    Py_DECREF(item);
  }
  return self;
}

// Slices, sums and repetitions of sizes are sizes.
PyObject* size_subscript(PyObject* self, PyObject* key) {
  return as_size(PyTuple_Type.tp_as_mapping->mp_subscript(self, key));
}
PyObject* size_concat(PyObject* self, PyObject* other) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(self, other));
}
PyObject* size_repeat(PyObject* self, Py_ssize_t times) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, times));
}
PyObject* size_reduce(PyObject* self, PyObject*) {
  PyObject* items = PySequence_List(self);
  return items == nullptr ? nullptr : Py_BuildValue("O(N)", Py_TYPE(self), items);
}

PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, "The number of elements of a tensor of this size."},
    {"__reduce__", size_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMappingMethods size_mapping = {};
PySequenceMethods size_sequence = {};

void add_size(PyObject* module) {
  SizeType.tp_name = "oploom.Size";
  SizeType.tp_doc = "The sizes of a tensor: a tuple of integers.";
  SizeType.tp_base = &PyTuple_Type;
  SizeType.tp_flags = Py_TPFLAGS_DEFAULT;
  SizeType.tp_repr = size_repr;
  SizeType.tp_methods = size_methods;
  SizeType.tp_new = size_new;
  size_mapping.mp_subscript = size_subscript;
  SizeType.tp_as_mapping = &size_mapping;
  size_sequence.sq_concat = size_concat;
  size_sequence.sq_repeat = size_repeat;
  SizeType.tp_as_sequence = &size_sequence;
  check_status(PyType_Ready(&SizeType));
  check_status(PyModule_AddObjectRef(module, "Size", reinterpret_cast<PyObject*>(&SizeType)));
}

void fill(PyObject* tuple, IntArrayRef values) {
  for (size_t i = 0; i < values.size(); ++i) {
    PyObject* item = PyLong_FromLongLong(values[i]);
    if (item == nullptr) throw PythonError();
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), item);
  }
}

// ---- finfo and iinfo ----

struct InfoObject {
  PyObject ob_base;
  ScalarType type;
};

ScalarType info_of(PyObject* self) { return reinterpret_cast<InfoObject*>(self)->type; }

template <bool kFloating>
PyObject* info_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"type", nullptr};
    PyObject* dtype = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, kFloating ? "|O:finfo" : "O:iinfo",
                                     const_cast<char**>(names), &dtype)) {
      return nullptr;
    }
    ScalarType value = dtype == nullptr ? ScalarType::Float : to_scalar_type(dtype);
    if (kFloating && c10::isComplexType(value)) value = c10::toRealValueType(value);
    OPLOOM_CHECK_TYPE(kFloating ? c10::isFloatingType(value) : c10::isIntegralType(value, false),
                      kFloating ? "finfo" : "iinfo", "(): expected ",
                      kFloating ? "a floating-point" : "an integer", " dtype, got ",
                      c10::toString(value));
    PyObject* self = type->tp_alloc(type, 0);
    if (self != nullptr) reinterpret_cast<InfoObject*>(self)->type = value;
    return self;
  });
}

struct FloatFacts {
  double max, tiny, eps, resolution;
};

FloatFacts float_facts(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
      return {65504.0, 6.103515625e-05, 0.0009765625, 0.001};
    case ScalarType::BFloat16:
      return {3.3895313892515355e+38, 1.1754943508222875e-38, 0.0078125, 0.01};
    case ScalarType::Float:
      return {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
              std::numeric_limits<float>::epsilon(), 1e-06};
    default:
      return {std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
              std::numeric_limits<double>::epsilon(), 1e-15};
  }
}

int info_bits(PyObject* self) { return static_cast<int>(c10::elementSize(info_of(self))) * 8; }

PyObject* info_get_bits(PyObject* self, void*) { return PyLong_FromLong(info_bits(self)); }
PyObject* info_get_dtype(PyObject* self, void*) {
  return PyUnicode_FromString(c10::toString(info_of(self)));
}
PyObject* finfo_max(PyObject* self, void*) {
  return PyFloat_FromDouble(float_facts(info_of(self)).max);
}
PyObject* finfo_min(PyObject* self, void*) {
  return PyFloat_FromDouble(-float_facts(info_of(self)).max);
}
PyObject* finfo_eps(PyObject* self, void*) {
  return PyFloat_FromDouble(float_facts(info_of(self)).eps);
}
PyObject* finfo_tiny(PyObject* self, void*) {
  return PyFloat_FromDouble(float_facts(info_of(self)).tiny);
}
PyObject* finfo_resolution(PyObject* self, void*) {
  return PyFloat_FromDouble(float_facts(info_of(self)).resolution);
}
bool is_unsigned(PyObject* self) { return info_of(self) == ScalarType::Byte; }
PyObject* iinfo_max(PyObject* self, void*) {
  const int bits = info_bits(self) - (is_unsigned(self) ? 0 : 1);
  return PyLong_FromUnsignedLongLong((1ULL << bits) - 1);
}
PyObject* iinfo_min(PyObject* self, void*) {
  if (is_unsigned(self)) return PyLong_FromLong(0);
  return PyLong_FromLongLong(std::numeric_limits<int64_t>::min() >> (64 - info_bits(self)));
}

PyGetSetDef finfo_properties[] = {
    {"bits", info_get_bits, nullptr, "Bits of one element.", nullptr},
    {"dtype", info_get_dtype, nullptr, "The name of the dtype.", nullptr},
    {"max", finfo_max, nullptr, "The largest finite value.", nullptr},
    {"min", finfo_min, nullptr, "The smallest finite value.", nullptr},
    {"eps", finfo_eps, nullptr, "The distance from 1 to the next larger value.", nullptr},
    {"tiny", finfo_tiny, nullptr, "The smallest positive normal value.", nullptr},
    {"smallest_normal", finfo_tiny, nullptr, "The smallest positive normal value.", nullptr},
    {"resolution", finfo_resolution, nullptr, "The decimal resolution.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyGetSetDef iinfo_properties[] = {
    {"bits", info_get_bits, nullptr, "Bits of one element.", nullptr},
    {"dtype", info_get_dtype, nullptr, "The name of the dtype.", nullptr},
    {"max", iinfo_max, nullptr, "The largest value.", nullptr},
    {"min", iinfo_min, nullptr, "The smallest value.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject FinfoType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject IinfoType = {PyVarObject_HEAD_INIT(nullptr, 0)};

void add_info(PyObject* module, PyTypeObject& type, const char* name, const char* doc,
              newfunc create, PyGetSetDef* properties) {
  type.tp_name = name;
  type.tp_doc = doc;
  type.tp_basicsize = sizeof(InfoObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_new = create;
  type.tp_getset = properties;
  check_status(PyType_Ready(&type));
  check_status(PyModule_AddObjectRef(module, name + sizeof("oploom.") - 1,
                                     reinterpret_cast<PyObject*>(&type)));
}

void add_dtypes(PyObject* module) {
  DtypeType.tp_getset = dtype_properties;
  check_status(PyType_Ready(&DtypeType));
  check_status(PyModule_AddObjectRef(module, "dtype", reinterpret_cast<PyObject*>(&DtypeType)));
  const auto add = [&](ScalarType type, const char* name, const char* alias = nullptr) {
    add_value(module, DtypeType, dtypes, static_cast<int>(type), name, alias);
  };
  add(ScalarType::Bool, "oploom.bool");
  add(ScalarType::Byte, "oploom.uint8");
  add(ScalarType::Char, "oploom.int8");
  add(ScalarType::Short, "oploom.int16", "short");
  add(ScalarType::Int, "oploom.int32", "int");
  add(ScalarType::Long, "oploom.int64", "long");
  add(ScalarType::Half, "oploom.float16", "half");
  add(ScalarType::BFloat16, "oploom.bfloat16");
  add(ScalarType::Float, "oploom.float32", "float");
  add(ScalarType::Double, "oploom.float64", "double");
  add(ScalarType::ComplexFloat, "oploom.complex64", "cfloat");
  add(ScalarType::ComplexDouble, "oploom.complex128", "cdouble");
}

[[noreturn]] void wrong_type(const char* wanted, PyObject* object) {
  PyErr_Format(PyExc_TypeError, "expected %s, got %s", wanted, Py_TYPE(object)->tp_name);
  throw PythonError();
}

}  // namespace

bool is_scalar_type(PyObject* object) {
  return Py_TYPE(object) == &DtypeType || object == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         object == reinterpret_cast<PyObject*>(&PyLong_Type) ||
         object == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         object == reinterpret_cast<PyObject*>(&PyComplex_Type);
}

ScalarType to_scalar_type(PyObject* object) {
  if (Py_TYPE(object) == &DtypeType) return dtype_of(object);
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return ScalarType::Double;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return ScalarType::Long;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return ScalarType::Bool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return ScalarType::ComplexDouble;
  wrong_type("an oploom.dtype", object);
}

PyObject* wrap(ScalarType type) { return Py_NewRef(dtypes[static_cast<size_t>(type)]); }

bool is_layout(PyObject* object) { return Py_TYPE(object) == &LayoutType; }
Layout to_layout(PyObject* object) {
  if (!is_layout(object)) wrong_type("an oploom.layout", object);
  return static_cast<Layout>(reinterpret_cast<EnumObject*>(object)->value);
}
PyObject* wrap(Layout layout) { return Py_NewRef(layouts[static_cast<size_t>(layout)]); }

bool is_memory_format(PyObject* object) { return Py_TYPE(object) == &MemoryFormatType; }
MemoryFormat to_memory_format(PyObject* object) {
  if (!is_memory_format(object)) wrong_type("an oploom.memory_format", object);
  return static_cast<MemoryFormat>(reinterpret_cast<EnumObject*>(object)->value);
}
PyObject* wrap(MemoryFormat format) {
  return Py_NewRef(memory_formats[static_cast<size_t>(format)]);
}

PyObject* wrap_size(IntArrayRef sizes) {
  // Making a Size takes longer than all else about `tensor.shape`; as it never changes, those asked
  // for lately are given out again.
  struct Known {
    DimVector sizes;
    PyObject* object = nullptr;
  };
  static auto& known = *new std::array<Known, 16>;  // Python may be gone before its destructor runs
  uint64_t hash = sizes.size();
  for (const int64_t size : sizes) hash = hash * 31 + static_cast<uint64_t>(size);
  Known& slot = known[hash % known.size()];
  if (slot.object == nullptr || IntArrayRef(slot.sizes) != sizes) {
    Ref made(SizeType.tp_alloc(&SizeType, static_cast<Py_ssize_t>(sizes.size())));
    fill(made.get(), sizes);
    slot.sizes = sizes;
    Py_XSETREF(slot.object, made.release());
  }
  return Py_NewRef(slot.object);
}

PyObject* wrap_tuple(IntArrayRef values) {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  fill(tuple.get(), values);
  return tuple.release();
}

void add_device_type(PyObject* module);     // Device.cpp
void add_generator_type(PyObject* module);  // Generator.cpp

void add_types(PyObject* module) {
  add_dtypes(module);
  check_status(PyType_Ready(&LayoutType));
  check_status(PyModule_AddObjectRef(module, "layout", reinterpret_cast<PyObject*>(&LayoutType)));
  add_value(module, LayoutType, layouts, static_cast<int>(Layout::Strided), "oploom.strided");
  check_status(PyType_Ready(&MemoryFormatType));
  check_status(PyModule_AddObjectRef(module, "memory_format",
                                     reinterpret_cast<PyObject*>(&MemoryFormatType)));
  const auto add_format = [&](MemoryFormat format, const char* name) {
    add_value(module, MemoryFormatType, memory_formats, static_cast<int>(format), name);
  };
  add_format(MemoryFormat::Contiguous, "oploom.contiguous_format");
  add_format(MemoryFormat::Preserve, "oploom.preserve_format");
  add_format(MemoryFormat::ChannelsLast, "oploom.channels_last");
  add_format(MemoryFormat::ChannelsLast3d, "oploom.channels_last_3d");
  add_size(module);
  add_info(module, FinfoType, "oploom.finfo", "Limits of a floating-point dtype.", info_new<true>,
           finfo_properties);
  add_info(module, IinfoType, "oploom.iinfo", "Limits of an integer dtype.", info_new<false>,
           iinfo_properties);
  add_device_type(module);
  add_generator_type(module);
}

}  // namespace at::inline oploom_v1::python
