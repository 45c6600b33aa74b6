// Reads and writes single elements; the switch over dtypes is spelled out as each has its own rule.
#include <aten/python/ArgParser.h>
#include <aten/python/Elements.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>
#include <c10/util/Half.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/complex.h>

#include <cstring>
#include <limits>

namespace at::inline oploom_v1::python {
namespace {

template <class T>
T load(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <class T>
void store(void* data, T value) {
  std::memcpy(data, &value, sizeof(T));
}

Py_complex to_complex(PyObject* number) {
  const Py_complex value = PyComplex_AsCComplex(number);
  if (value.real == -1.0 && PyErr_Occurred()) throw PythonError();
  return value;
}

template <class T>
void store_integer(void* data, ScalarType type, PyObject* number) {
  int64_t value;
  if (PyFloat_Check(number)) {
    const double real = PyFloat_AS_DOUBLE(number);
    OPLOOM_CHECK_VALUE(real >= -0x1p63 && real < 0x1p63, "value ", real, " does not fit ",
                       c10::toString(type));
    value = static_cast<int64_t>(real);  // rounds towards 0, as a cast between dtypes does
  } else {
    value = to_integer(number);
  }
  OPLOOM_CHECK_VALUE(value >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
                         value <= static_cast<int64_t>(std::numeric_limits<T>::max()),
                     "value ", value, " does not fit ", c10::toString(type));
  store(data, static_cast<T>(value));
}

// The tensor itself, or a copy of it on the CPU.
c10::MaybeOwned<Tensor> readable(const Tensor& tensor, std::string_view what) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(!tensor.is_meta(), what,
                               "(): expected a tensor with data, got one on meta, which has none");
  using Readable = c10::MaybeOwned<Tensor>;
  return tensor.is_cpu() ? Readable::borrowed(tensor)
                         : Readable::owned(tensor.to(Device(c10::kCPU)));
}

PyObject* nested(const char* data, ScalarType type, IntArrayRef sizes, IntArrayRef strides) {
  const int64_t step = strides[0] * static_cast<int64_t>(c10::elementSize(type));
  Ref list(PyList_New(sizes[0]));
  for (int64_t i = 0; i < sizes[0]; ++i) {
    PyObject* item = sizes.size() == 1
                         ? read_element(data + i * step, type)
                         : nested(data + i * step, type, sizes.slice(1), strides.slice(1));
    if (item == nullptr) throw PythonError();
    PyList_SET_ITEM(list.get(), i, item);
  }
  return list.release();
}

}  // namespace

PyObject* read_element(const void* data, ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
      return PyBool_FromLong(load<uint8_t>(data));
    case ScalarType::Byte:
      return PyLong_FromLong(load<uint8_t>(data));
    case ScalarType::Char:
      return PyLong_FromLong(load<int8_t>(data));
    case ScalarType::Short:
      return PyLong_FromLong(load<int16_t>(data));
    case ScalarType::Int:
      return PyLong_FromLong(load<int32_t>(data));
    case ScalarType::Long:
      return PyLong_FromLongLong(load<int64_t>(data));
    case ScalarType::Half:
      return PyFloat_FromDouble(static_cast<float>(load<c10::Half>(data)));
    case ScalarType::BFloat16:
      return PyFloat_FromDouble(static_cast<float>(load<c10::BFloat16>(data)));
    case ScalarType::Float:
      return PyFloat_FromDouble(load<float>(data));
    case ScalarType::Double:
      return PyFloat_FromDouble(load<double>(data));
    case ScalarType::ComplexFloat: {
      const auto value = load<c10::complex<float>>(data);
      return PyComplex_FromDoubles(value.real(), value.imag());
    }
    case ScalarType::ComplexDouble: {
      const auto value = load<c10::complex<double>>(data);
      return PyComplex_FromDoubles(value.real(), value.imag());
    }
    default:
      OPLOOM_ERROR("elements of dtype ", c10::toString(type), " have no Python form");
  }
}

Scalar read_scalar(const void* data, ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
      return Scalar(load<uint8_t>(data) != 0);
    case ScalarType::Byte:
      return Scalar(static_cast<int64_t>(load<uint8_t>(data)));
    case ScalarType::Char:
      return Scalar(static_cast<int64_t>(load<int8_t>(data)));
    case ScalarType::Short:
      return Scalar(static_cast<int64_t>(load<int16_t>(data)));
    case ScalarType::Int:
      return Scalar(static_cast<int64_t>(load<int32_t>(data)));
    case ScalarType::Long:
      return Scalar(load<int64_t>(data));
    case ScalarType::Half:
      return Scalar(static_cast<double>(static_cast<float>(load<c10::Half>(data))));
    case ScalarType::BFloat16:
      return Scalar(static_cast<double>(static_cast<float>(load<c10::BFloat16>(data))));
    case ScalarType::Float:
      return Scalar(static_cast<double>(load<float>(data)));
    case ScalarType::Double:
      return Scalar(load<double>(data));
    case ScalarType::ComplexFloat: {
      const auto value = load<c10::complex<float>>(data);
      return Scalar(c10::complex<double>(value.real(), value.imag()));
    }
    case ScalarType::ComplexDouble:
      return Scalar(load<c10::complex<double>>(data));
    default:
      OPLOOM_ERROR("elements of dtype ", c10::toString(type), " have no Python form");
  }
}

void write_element(void* data, ScalarType type, PyObject* number) {
  if (!is_python_number(number)) {
    if (is_tensor(number)) {
      Ref value(item_as_python(unpack(number), "tensor"));
      return write_element(data, type, value.get());
    }
    if (is_numpy_scalar(number)) {
      static PyObject* const name = PyUnicode_InternFromString("item");
      Ref value(PyObject_CallMethodNoArgs(number, name));
      if (is_python_number(value.get())) return write_element(data, type, value.get());
    }
  }
  OPLOOM_CHECK_TYPE(!PyComplex_Check(number) || c10::isComplexType(type) || type == c10::kBool,
                    "expected a real number for ", c10::toString(type), ", got a complex one");
  switch (type) {
    case ScalarType::Bool:
      return store(data, static_cast<uint8_t>(is_true(number)));
    case ScalarType::Byte:
      return store_integer<uint8_t>(data, type, number);
    case ScalarType::Char:
      return store_integer<int8_t>(data, type, number);
    case ScalarType::Short:
      return store_integer<int16_t>(data, type, number);
    case ScalarType::Int:
      return store_integer<int32_t>(data, type, number);
    case ScalarType::Long:
      return store_integer<int64_t>(data, type, number);
    case ScalarType::Half:
      return store(data, c10::Half(static_cast<float>(to_number(number))));
    case ScalarType::BFloat16:
      return store(data, c10::BFloat16(static_cast<float>(to_number(number))));
    case ScalarType::Float:
      return store(data, static_cast<float>(to_number(number)));
    case ScalarType::Double:
      return store(data, to_number(number));
    case ScalarType::ComplexFloat: {
      const Py_complex value = to_complex(number);
      return store(data, c10::complex<float>(static_cast<float>(value.real),
                                             static_cast<float>(value.imag)));
    }
    case ScalarType::ComplexDouble: {
      const Py_complex value = to_complex(number);
      return store(data, c10::complex<double>(value.real, value.imag));
    }
    default:
      OPLOOM_ERROR("elements of dtype ", c10::toString(type), " have no Python form");
  }
}

Scalar item(const Tensor& tensor, std::string_view what) {
  OPLOOM_CHECK(tensor.numel() == 1, what, "(): expected a tensor with one element, got ",
               tensor.numel());
  return read_scalar(readable(tensor, what)->const_data_ptr(), tensor.scalar_type());
}

PyObject* item_as_python(const Tensor& tensor, std::string_view what) {
  OPLOOM_CHECK(tensor.numel() == 1, what, "(): expected a tensor with one element, got ",
               tensor.numel());
  return read_element(readable(tensor, what)->const_data_ptr(), tensor.scalar_type());
}

PyObject* to_list(const Tensor& tensor) {
  const auto here = readable(tensor, "tolist");
  const auto* data = static_cast<const char*>(here->const_data_ptr());
  if (here->dim() == 0) return read_element(data, here->scalar_type());
  return nested(data, here->scalar_type(), here->sizes(), here->strides());
}

}  // namespace at::inline oploom_v1::python
