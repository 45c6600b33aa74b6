// oploom.tensor, as_tensor, asarray, frombuffer: tensors from Python data.
#include <aten/core/Empty.h>
#include <aten/python/ArgParser.h>
#include <aten/python/Elements.h>
#include <aten/python/Interchange.h>
#include <aten/python/TensorNew.h>
#include <c10/core/DefaultDtype.h>
#include <c10/util/Exception.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/detach.h>
#include <generated/ops/to.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace at::inline oploom_v1::python {
namespace {

constexpr size_t kMaxDepth = 64;

bool is_string(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object); }

// Things that hold elements: lists, tuples, ranges, arrays of one or more dimensions.
bool is_sequence(PyObject* object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  if (is_tensor(object)) return unpack(object).dim() > 0;
  if (is_numpy_scalar(object) || is_string(object) || PyDict_Check(object)) return false;
  return PySequence_Check(object) && PySequence_Size(object) >= 0;
}

[[noreturn]] void not_a_number(PyObject* object) {
  OPLOOM_CHECK_TYPE(false, "tensor(): expected numbers or nested sequences of numbers, got ",
                    type_name(object));
  throw PythonError();
}

std::optional<ScalarType> numpy_scalar_type(PyObject* object) {
  Ref dtype(PyObject_GetAttrString(object, "dtype"));
  Ref kind(PyObject_GetAttrString(dtype.get(), "kind"));
  Ref size(PyObject_GetAttrString(dtype.get(), "itemsize"));
  const char* text = PyUnicode_AsUTF8(kind.get());
  return text == nullptr ? std::nullopt
                         : scalar_type_of_kind(text[0], static_cast<int>(to_integer(size.get())));
}

// What kind of number an element is; the larger one wins.
enum class Kind { kNone, kBool, kInt, kFloat, kComplex };

Kind kind_of(ScalarType type) {
  if (type == ScalarType::Bool) return Kind::kBool;
  if (c10::isIntegralType(type, false)) return Kind::kInt;
  return c10::isComplexType(type) ? Kind::kComplex : Kind::kFloat;
}

// Shape and dtype that nested data has.
struct Inferred {
  DimVector sizes;
  Kind kind = Kind::kNone;
  // The dtype of arrays and NumPy scalars among the elements, which counts more than a kind.
  std::optional<ScalarType> typed;
  // Of the last NumPy scalar.
  PyTypeObject* last_type = nullptr;

  void add(ScalarType type) {
    typed = typed.has_value() ? c10::promoteTypes(*typed, type) : type;
    kind = std::max(kind, kind_of(type));
  }

  void add_numpy_scalar(PyObject* scalar) {
    if (Py_TYPE(scalar) == last_type) return;  // its dtype has been added
    const std::optional<ScalarType> type = numpy_scalar_type(scalar);
    if (!type.has_value()) not_a_number(scalar);
    add(*type);
    last_type = Py_TYPE(scalar);
  }

  ScalarType dtype() const {
    const ScalarType standard = c10::get_default_dtype();
    ScalarType type = standard;
    if (kind == Kind::kBool) type = ScalarType::Bool;
    if (kind == Kind::kInt) type = ScalarType::Long;
    if (kind == Kind::kComplex) type = c10::get_default_complex_dtype();
    if (!typed.has_value()) return type;
    return kind_of(*typed) == kind ? *typed : c10::promoteTypes(*typed, type);
  }
};

// The elements of a tensor or array, if it has some and all can be copied at once.
std::optional<Tensor> elements_of(PyObject* data) {
  if (PyList_Check(data) || PyTuple_Check(data)) return std::nullopt;
  Tensor elements;
  if (is_tensor(data)) {
    elements = unpack(data).detach();
  } else if (has_array_interface(data) && !is_numpy_scalar(data) &&
             numpy_scalar_type(data).has_value()) {
    elements = from_array(data, Readonly::kAllow);
  }
  const bool some = elements.defined() && elements.is_cpu() && elements.numel() > 0;
  return some ? std::optional<Tensor>(std::move(elements)) : std::nullopt;
}

void check_depth(size_t depth) {
  OPLOOM_CHECK_VALUE(depth < kMaxDepth, "tensor(): the data is nested deeper than ", kMaxDepth,
                     " levels");
}

void infer_sizes(PyObject* data, DimVector& sizes) {
  Ref holder;  // keeps items that the sequence made up for us
  while (is_sequence(data)) {
    check_depth(sizes.size());
    if (is_tensor(data)) {
      for (const int64_t size : unpack(data).sizes()) sizes.push_back(size);
      return;
    }
    const Py_ssize_t length = PySequence_Size(data);
    check_status(static_cast<int>(std::min<Py_ssize_t>(length, 0)));
    sizes.push_back(length);
    if (length == 0) return;
    holder = Ref(PySequence_GetItem(data, 0));
    data = holder.get();
  }
}

void infer_kind(PyObject* data, size_t depth, Inferred& result);

void infer_kind_of_items(PyObject* data, size_t depth, Inferred& result) {
  check_depth(depth);
  Ref items(PySequence_Fast(data, "expected a sequence"));
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(items.get());
  for (Py_ssize_t i = 0; i < size; ++i) {
    infer_kind(PySequence_Fast_GET_ITEM(items.get(), i), depth + 1, result);
  }
}

void infer_kind(PyObject* data, size_t depth, Inferred& result) {
  if (PyFloat_CheckExact(data)) {
    result.kind = std::max(result.kind, Kind::kFloat);
  } else if (PyBool_Check(data)) {
    result.kind = std::max(result.kind, Kind::kBool);
  } else if (PyLong_Check(data)) {
    result.kind = std::max(result.kind, Kind::kInt);
  } else if (PyList_Check(data) || PyTuple_Check(data)) {
    infer_kind_of_items(data, depth, result);
  } else if (is_tensor(data)) {
    result.add(unpack(data).scalar_type());
  } else if (is_numpy_scalar(data)) {
    result.add_numpy_scalar(data);
  } else if (PyFloat_Check(data)) {
    result.kind = std::max(result.kind, Kind::kFloat);
  } else if (PyComplex_Check(data)) {
    result.kind = Kind::kComplex;
  } else if (const std::optional<Tensor> elements = elements_of(data)) {
    result.add(elements->scalar_type());
  } else if (is_sequence(data)) {
    infer_kind_of_items(data, depth, result);
  } else {
    not_a_number(data);
  }
}

// Whether any element of the one dtype is one of the other, if a rounded one: others are looked at
// one by one.
bool holds_all(ScalarType type, ScalarType elements) {
  return c10::promoteTypes(type, elements) == type ||
         (c10::isFloatingType(type) && c10::isFloatingType(elements));
}

// Whether it is what most elements are, and no sequence.
bool is_plain_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
         is_numpy_scalar(object);
}

// Writes nested data into contiguous memory, checking that it is as regular as its first items.
void fill(PyObject* data, ScalarType type, IntArrayRef sizes, char*& out) {
  if (sizes.empty() && is_plain_number(data)) {
    write_element(out, type, data);
    out += c10::elementSize(type);
    return;
  }
  if (sizes.empty()) {
    if (is_sequence(data)) {
      OPLOOM_CHECK_VALUE(false, "tensor(): expected a number, got a sequence of length ",
                         PySequence_Size(data), ": all sequences of a level must be equally deep");
    }
    if (is_string(data) || data == Py_None) not_a_number(data);
    write_element(out, type, data);
    out += c10::elementSize(type);
    return;
  }
  if (!is_sequence(data)) {
    OPLOOM_CHECK_VALUE(false, "tensor(): expected a sequence of length ", sizes[0], ", got ",
                       type_name(data));
  }
  if (const std::optional<Tensor> elements = elements_of(data);
      elements.has_value() && elements->sizes() == sizes &&
      holds_all(type, elements->scalar_type())) {
    const Tensor dense = elements->to(type).contiguous();
    std::memcpy(out, dense.const_data_ptr(), dense.nbytes());
    out += dense.nbytes();
    return;
  }
  Ref list;
  if (is_tensor(data)) {
    list = Ref(to_list(unpack(data)));
    data = list.get();
  }
  Ref items(PySequence_Fast(data, "expected a sequence"));
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(items.get());
  OPLOOM_CHECK_VALUE(size == sizes[0], "tensor(): expected a sequence of length ", sizes[0],
                     ", got one of length ", size);
  for (Py_ssize_t i = 0; i < size; ++i) {
    fill(PySequence_Fast_GET_ITEM(items.get(), i), type, sizes.slice(1), out);
  }
}

Tensor converted(const Tensor& tensor, std::optional<ScalarType> dtype,
                 std::optional<Device> device, bool copy) {
  TensorOptions options = tensor.options();
  if (dtype.has_value()) options = options.dtype(*dtype);
  if (device.has_value()) options = options.device(*device);
  return tensor.to(options, /*non_blocking=*/false, copy);
}

Tensor from_sequence(PyObject* data, std::optional<ScalarType> dtype,
                     std::optional<Device> device) {
  Inferred inferred;
  infer_sizes(data, inferred.sizes);
  if (!dtype.has_value()) infer_kind(data, /*depth=*/0, inferred);
  const ScalarType type = dtype.has_value() ? *dtype : inferred.dtype();
  Tensor result(at::detail::empty(inferred.sizes, TensorOptions().dtype(type).device(kCPU)));
  char* out = static_cast<char*>(result.mutable_data_ptr());
  if (result.numel() > 0 || inferred.sizes.size() > 0) fill(data, type, inferred.sizes, out);
  if (!device.has_value() || device->is_cpu()) return result;
  return converted(result, std::nullopt, device, false);
}

PyObject* finished(Tensor tensor, bool requires_grad) {
  if (requires_grad) tensor.set_requires_grad(true);
  return wrap(std::move(tensor));
}

// What tensor() and as_tensor() share: their arguments.
using MakeTensor = Tensor (*)(PyObject*, std::optional<ScalarType>, std::optional<Device>);
PyObject* made_of(MakeTensor make, Parser& parser, PyObject* self, PyObject* const* args,
                  Py_ssize_t nargs, PyObject* kwnames) {
  Arguments a;
  parser.parse(self, args, nargs, kwnames, a);
  return finished(make(a.object(0), a.optional_scalar_type(1), a.optional_device(2)),
                  a.boolean(3, false));
}

constexpr SignatureText kTensorSignatures[] = {
    {kFunction,
     "tensor(object data, ScalarType? dtype=None, Device? device=None, *, "
     "bool requires_grad=False)"}};

PyObject* tensor(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit Parser parser("tensor", kTensorSignatures);
  return made_of(&tensor_from_data, parser, self, args, nargs, kwnames);
}

constexpr SignatureText kAsTensorSignatures[] = {
    {kFunction,
     "as_tensor(object data, ScalarType? dtype=None, Device? device=None, *, "
     "bool requires_grad=False)"}};

PyObject* py_as_tensor(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit Parser parser("as_tensor", kAsTensorSignatures);
  return made_of(&as_tensor, parser, self, args, nargs, kwnames);
}

constexpr SignatureText kAsarraySignatures[] = {
    {kFunction,
     "asarray(object obj, *, ScalarType? dtype=None, Device? device=None, bool? copy=None, "
     "bool requires_grad=False)"}};

PyObject* asarray(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit Parser parser("asarray", kAsarraySignatures);
  Arguments a;
  parser.parse(self, args, nargs, kwnames, a);
  PyObject* object = a.object(0);
  const std::optional<ScalarType> dtype = a.optional_scalar_type(1);
  const std::optional<Device> device = a.optional_device(2);
  const std::optional<bool> copy = a.optional_boolean(3);
  const bool requires_grad = a.boolean(4, false);
  if (copy == true) return finished(tensor_from_data(object, dtype, device), requires_grad);
  Tensor result = as_tensor(object, dtype, device);
  if (copy == false) {
    const Tensor original = as_tensor(object, std::nullopt, std::nullopt);
    const bool shares = !is_python_number(object) && !PyList_Check(object) &&
                        !PyTuple_Check(object) &&
                        original.const_data_ptr() == result.const_data_ptr();
    OPLOOM_CHECK_VALUE(shares, "asarray(): cannot make this tensor without a copy");
  }
  return finished(std::move(result), requires_grad);
}

constexpr SignatureText kFrombufferSignatures[] = {
    {kFunction,
     "frombuffer(object buffer, *, ScalarType dtype, int count=-1, int offset=0, "
     "bool requires_grad=False)"}};

PyObject* frombuffer(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit Parser parser("frombuffer", kFrombufferSignatures);
  Arguments a;
  parser.parse(self, args, nargs, kwnames, a);
  return finished(from_raw_buffer(a.object(0), a.scalar_type(1), a.integer(2, -1), a.integer(3, 0)),
                  a.boolean(4, false));
}

}  // namespace

Tensor tensor_from_data(PyObject* data, std::optional<ScalarType> dtype,
                        std::optional<Device> device) {
  if (is_tensor(data)) {
    Tensor source = unpack(data).detach();
    return converted(source, dtype, device, /*copy=*/true);
  }
  if (has_array_interface(data) && !is_numpy_scalar(data)) {
    return converted(from_array(data, Readonly::kAllow), dtype, device, /*copy=*/true);
  }
  return from_sequence(data, dtype, device);
}

Tensor as_tensor(PyObject* data, std::optional<ScalarType> dtype, std::optional<Device> device) {
  if (is_tensor(data)) return converted(unpack(data), dtype, device, /*copy=*/false);
  if (has_array_interface(data) && !is_numpy_scalar(data)) {
    if (!can_share_array(data)) return tensor_from_data(data, dtype, device);
    return converted(from_array(data, Readonly::kRefuse), dtype, device, /*copy=*/false);
  }
  if (PyObject_HasAttrString(data, "__dlpack__") && !is_numpy_scalar(data)) {
    return converted(from_dlpack_object(data), dtype, device, /*copy=*/false);
  }
  return from_sequence(data, dtype, device);
}

Tensor legacy_new(PyObject* args) {
  const ScalarType type = c10::get_default_dtype();
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  PyObject* first = count > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  if (count == 1 && is_tensor(first)) return unpack(first).detach();
  if (count == 1 && !is_integer(first, false)) {
    if (!is_sequence(first)) not_a_number(first);
    return tensor_from_data(first, type, std::nullopt);
  }
  DimVector sizes;
  for (Py_ssize_t i = 0; i < count; ++i) sizes.push_back(to_integer(PyTuple_GET_ITEM(args, i)));
  if (count == 0) sizes.push_back(0);
  return Tensor(at::detail::empty(sizes, TensorOptions().dtype(type).device(kCPU)));
}

PyMethodDef tensor_new_functions[] = {
    method_entry(
        "tensor", as_function<tensor>,
        "tensor(data, dtype=None, device=None, *, requires_grad=False) -> Tensor\n\n"
        "Makes a tensor of numbers, nested sequences of numbers, or an array, by copying."),
    method_entry("as_tensor", as_function<py_as_tensor>,
                 "as_tensor(data, dtype=None, device=None, *, requires_grad=False) -> Tensor\n\n"
                 "Like tensor(), but shares the memory of tensors and arrays where it can."),
    method_entry("asarray", as_function<asarray>,
                 "asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False) -> "
                 "Tensor\n\n"
                 "Makes a tensor of obj; copy=True always copies, copy=False never."),
    method_entry("frombuffer", as_function<frombuffer>,
                 "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False) -> "
                 "Tensor\n\n"
                 "A 1-d tensor that shares the memory of a writable buffer; offset counts bytes."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace at::inline oploom_v1::python
