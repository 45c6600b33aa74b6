// Conversions of dtype and device: to(), float(), cpu() and so on.
#include <aten/python/ArgParser.h>
#include <aten/python/PyTensor.h>
#include <aten/python/Types.h>
#include <c10/util/Exception.h>
#include <generated/ops/to.h>

namespace at::inline oploom_v1::python {
namespace {

// Returns `self` itself, the same Python object, where nothing changes.
PyObject* convert(const Tensor& tensor, std::optional<ScalarType> dtype,
                  std::optional<Device> device, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) {
  const bool same =
      (!dtype.has_value() || *dtype == tensor.scalar_type()) &&
      (!device.has_value() || *device == tensor.device()) && !copy &&
      (!format.has_value() || *format == MemoryFormat::Preserve || tensor.is_contiguous(*format));
  if (same) return wrap(tensor);
  TensorOptions options;
  if (dtype.has_value()) options = options.dtype(*dtype);
  if (device.has_value()) options = options.device(*device);
  Tensor result = [&] {
    ReleaseGil release(elements(tensor) >= kReleaseGilElements);
    return tensor.to(options, non_blocking, copy, format);
  }();
  return wrap(std::move(result));
}

constexpr SignatureText kToSignatures[] = {
    {kMethod,
     "to(Tensor self, ScalarType dtype, bool non_blocking=False, bool copy=False, *, "
     "MemoryFormat? memory_format=None)"},
    {kMethod,
     "to(Tensor self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, "
     "bool copy=False, *, MemoryFormat? memory_format=None)"},
    {kMethod,
     "to(Tensor self, Tensor other, bool non_blocking=False, bool copy=False, *, "
     "MemoryFormat? memory_format=None)"},
};

PyObject* to(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit Parser parser("to", kToSignatures);
  Arguments a;
  const Tensor& tensor = unpack(self);
  switch (parser.parse(self, args, nargs, kwnames, a)) {
    case 0:
      return convert(tensor, a.scalar_type(1), std::nullopt, a.boolean(2, false),
                     a.boolean(3, false), a.optional_memory_format(4));
    case 1:
      return convert(tensor, a.optional_scalar_type(2), a.optional_device(1), a.boolean(3, false),
                     a.boolean(4, false), a.optional_memory_format(5));
    default: {
      const Tensor& other = a.tensor(1);
      return convert(tensor, other.scalar_type(), other.device(), a.boolean(2, false),
                     a.boolean(3, false), a.optional_memory_format(4));
    }
  }
}

template <ScalarType kType>
PyObject* to_type(PyObject* self, PyObject*) {
  return guarded(
      [&] { return convert(unpack(self), kType, std::nullopt, false, false, std::nullopt); });
}

PyObject* to_cpu(PyObject* self, PyObject*) {
  return guarded([&] {
    return convert(unpack(self), std::nullopt, Device(kCPU), false, false, std::nullopt);
  });
}

// type(): the dtype's name, or a conversion.
PyObject* type(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject* dtype = nullptr;
    if (!PyArg_ParseTuple(args, "|O:type", &dtype)) return nullptr;
    if (dtype == nullptr) {
      Ref own(wrap(unpack(self).scalar_type()));
      return PyObject_Repr(own.get());
    }
    return convert(unpack(self), to_scalar_type(dtype), std::nullopt, false, false, std::nullopt);
  });
}

}  // namespace

#define TO_TYPE(name, type) \
  { name, to_type<ScalarType::type>, METH_NOARGS, name "() -> Tensor\n\nThe tensor as " #type "." }
PyMethodDef conversion_methods[] = {
    method_entry("to", as_method<to>,
                 "to(dtype, non_blocking=False, copy=False) -> Tensor\n"
                 "to(device=None, dtype=None, non_blocking=False, copy=False) -> Tensor\n"
                 "to(other, non_blocking=False, copy=False) -> Tensor\n\n"
                 "The tensor with another dtype or device; itself where it has them already."),
    TO_TYPE("bool", Bool),
    TO_TYPE("byte", Byte),
    TO_TYPE("char", Char),
    TO_TYPE("short", Short),
    TO_TYPE("int", Int),
    TO_TYPE("long", Long),
    TO_TYPE("half", Half),
    TO_TYPE("bfloat16", BFloat16),
    TO_TYPE("float", Float),
    TO_TYPE("double", Double),
    TO_TYPE("cfloat", ComplexFloat),
    TO_TYPE("cdouble", ComplexDouble),
    {"cpu", to_cpu, METH_NOARGS, "cpu() -> Tensor\n\nThe tensor in the CPU's memory."},
    {"type", type, METH_VARARGS,
     "type(dtype=None) -> str or Tensor\n\nThe name of the dtype, or the tensor converted to one."},
    {nullptr, nullptr, 0, nullptr},
};
#undef TO_TYPE

}  // namespace at::inline oploom_v1::python
