// NumPy arrays and the buffer protocol, in both directions, without NumPy's headers.
#include <aten/core/Empty.h>
#include <aten/python/ArgParser.h>
#include <aten/python/Elements.h>
#include <aten/python/Foreign.h>
#include <aten/python/Interchange.h>
#include <c10/util/Exception.h>
#include <generated/ops/detach.h>
#include <generated/ops/max.h>
#include <generated/ops/to.h>

#include <memory>

namespace at::inline oploom_v1::python {
namespace {

// The struct behind `__array_struct__`, as NumPy's array interface (version 3) lays it out.
struct ArrayInterface {
  int two;  // always 2
  int nd;
  char typekind;
  int itemsize;
  int flags;
  Py_intptr_t* shape;
  Py_intptr_t* strides;  // bytes
  void* data;
  PyObject* descr;
};
constexpr int kNotSwapped = 0x200;
constexpr int kWriteable = 0x400;

struct ArrayStruct {
  Ref capsule;
  const ArrayInterface* interface;
};

ArrayStruct array_struct(PyObject* array) {
  ArrayStruct result{Ref(PyObject_GetAttrString(array, "__array_struct__")), nullptr};
  if (!PyCapsule_CheckExact(result.capsule.get())) {
    PyErr_SetString(PyExc_TypeError, "__array_struct__ is no capsule");
    throw PythonError();
  }
  result.interface =
      static_cast<const ArrayInterface*>(PyCapsule_GetPointer(result.capsule.get(), nullptr));
  if (result.interface == nullptr || result.interface->two != 2) {
    PyErr_SetString(PyExc_ValueError, "__array_struct__ has an unknown form");
    throw PythonError();
  }
  return result;
}

bool is_aligned(const void* data, size_t bytes) {
  return reinterpret_cast<uintptr_t>(data) % bytes == 0;
}

// Whether every stride is a whole, not negative number of elements.
bool strides_fit(const ArrayInterface& array) {
  for (int d = 0; d < array.nd; ++d) {
    if (array.strides[d] < 0 || array.strides[d] % array.itemsize != 0) {
      if (array.shape[d] > 1) return false;
    }
  }
  return true;
}

bool has_elements(const ArrayInterface& array) {
  for (int d = 0; d < array.nd; ++d) {
    if (array.shape[d] == 0) return false;
  }
  return true;
}

// Whether a tensor can lie on the array's memory as it is laid out.
bool is_shareable(const ArrayInterface& array) {
  return strides_fit(array) &&
         (!has_elements(array) || is_aligned(array.data, static_cast<size_t>(array.itemsize)));
}

// The buffer format of a dtype, or null if Python's struct module has none.
const char* buffer_format(ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
      return "?";
    case ScalarType::Byte:
      return "B";
    case ScalarType::Char:
      return "b";
    case ScalarType::Short:
      return "h";
    case ScalarType::Int:
      return "i";
    case ScalarType::Long:
      return "l";
    case ScalarType::Half:
      return "e";
    case ScalarType::Float:
      return "f";
    case ScalarType::Double:
      return "d";
    case ScalarType::ComplexFloat:
      return "Zf";
    case ScalarType::ComplexDouble:
      return "Zd";
    default:
      return nullptr;
  }
}

// What a buffer that we gave out needs until it is released.
struct Export {
  c10::Storage storage;  // keeps the memory
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

int buffer_error(const char* message) {
  PyErr_SetString(PyExc_BufferError, message);
  return -1;
}

bool fortran_contiguous(const Tensor& tensor) {
  int64_t expected = 1;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.sizes()[d] != 1 && tensor.strides()[d] != expected) return false;
    expected *= tensor.sizes()[d];
  }
  return true;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  return guarded(-1, [&] {
    const Tensor& tensor = unpack(self);
    view->obj = nullptr;
    if (tensor.requires_grad()) {
      return buffer_error("a tensor that requires grad gives no buffer; use tensor.detach()");
    }
    if (!tensor.is_cpu()) return buffer_error("only a tensor on the CPU gives a buffer");
    const char* format = buffer_format(tensor.scalar_type());
    if (format == nullptr) return buffer_error("dtype bfloat16 has no buffer format");
    const bool contiguous = tensor.is_contiguous();
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !contiguous) {
      return buffer_error("the tensor is not contiguous");
    }
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !fortran_contiguous(tensor)) {
      return buffer_error("the tensor is not Fortran-contiguous");
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !contiguous) {
      return buffer_error("the tensor is not contiguous, and no strides were asked for");
    }
    const auto itemsize = static_cast<Py_ssize_t>(tensor.itemsize());
    auto exported = std::make_unique<Export>();
    exported->storage = tensor.storage();
    pin_storage(tensor);
    for (const int64_t size : tensor.sizes()) exported->shape.push_back(size);
    for (const int64_t stride : tensor.strides()) exported->strides.push_back(stride * itemsize);
    static char no_elements[16];
    void* data = tensor.data_ptr();
    view->buf = data == nullptr ? no_elements : data;
    view->len = tensor.numel() * itemsize;
    view->itemsize = itemsize;
    view->readonly = 0;
    view->ndim = static_cast<int>(tensor.dim());
    view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
    view->shape = (flags & PyBUF_ND) != 0 ? exported->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = exported.release();
    view->obj = Py_NewRef(self);
    return 0;
  });
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Export*>(view->internal); }

// ---- Python methods ----

void check_numpy(const Tensor& tensor) {
  OPLOOM_CHECK_TYPE(tensor.is_cpu(), "numpy(): expected a tensor on the CPU, got one on ",
                    tensor.device().str());
  OPLOOM_CHECK(!tensor.requires_grad(),
               "numpy(): the tensor requires grad; use tensor.detach().numpy()");
  OPLOOM_CHECK_TYPE(buffer_format(tensor.scalar_type()) != nullptr,
                    "numpy(): NumPy has no dtype bfloat16; convert with tensor.float() first");
}

PyObject* numpy_function(const char* name) {
  Ref numpy(PyImport_ImportModule("numpy"));
  return PyObject_GetAttrString(numpy.get(), name);
}

PyObject* to_numpy(PyObject* self) {
  check_numpy(unpack(self));
  static PyObject* asarray = nullptr;
  if (asarray == nullptr) {
    asarray = numpy_function("asarray");
    if (asarray == nullptr) throw PythonError();
  }
  return PyObject_CallOneArg(asarray, self);
}

constexpr SignatureText kNumpySignatures[] = {{kMethod, "numpy(Tensor self, *, bool force=False)"}};

PyObject* numpy(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit Parser parser("numpy", kNumpySignatures);
  Arguments a;
  parser.parse(self, args, nargs, kwnames, a);
  if (!a.boolean(1, false)) return to_numpy(self);
  Ref plain(wrap(unpack(self).detach().to(TensorOptions().device(kCPU))));
  return to_numpy(plain.get());
}

// __array__(dtype=None, copy=None): NumPy's last resort, and the one that explains a refusal.
PyObject* py_array(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"dtype", "copy", nullptr};
    PyObject* dtype = Py_None;
    PyObject* copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", const_cast<char**>(names),
                                     &dtype, &copy)) {
      return nullptr;
    }
    Ref array(to_numpy(self));
    if (dtype != Py_None) {
      if (copy == Py_True) return PyObject_CallMethod(array.get(), "astype", "O", dtype);
      Ref asarray(numpy_function("asarray"));
      return PyObject_CallFunctionObjArgs(asarray.get(), array.get(), dtype, nullptr);
    }
    if (copy == Py_True) return PyObject_CallMethod(array.get(), "copy", nullptr);
    return array.release();
  });
}

// The result of a NumPy function on a tensor becomes a tensor again.
PyObject* py_array_wrap(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject* array = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : Py_None;
    if (!has_array_interface(array)) return Py_NewRef(array);
    return wrap(from_array(array, Readonly::kAllow));
  });
}

constexpr SignatureText kFromNumpySignatures[] = {{kFunction, "from_numpy(object array)"}};

PyObject* from_numpy(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit Parser parser("from_numpy", kFromNumpySignatures);
  Arguments a;
  parser.parse(self, args, nargs, kwnames, a);
  PyObject* array = a.object(0);
  OPLOOM_CHECK_TYPE(has_array_interface(array), "from_numpy(): expected a NumPy array, got ",
                    type_name(array));
  OPLOOM_CHECK_TYPE(!is_numpy_scalar(array),
                    "from_numpy(): expected a NumPy array, got the number ", type_name(array),
                    "; oploom.tensor() makes a tensor of it");
  return wrap(from_array(array, Readonly::kRefuse));
}

}  // namespace

void ForeignOwner::release(void* owner) {
  // The interpreter may be gone by the time a static tensor dies; the memory then is, too.
  if (!Py_IsInitialized()) return;
  HoldGil gil;
  Py_DECREF(static_cast<PyObject*>(owner));
}

namespace {

// Kernels take it for granted that the byte of a bool is 0 or 1.
void check_bools(const c10::Storage& storage, IntArrayRef sizes, IntArrayRef strides) {
  const Tensor bytes = make_tensor_on(storage, sizes, strides, kByte);
  OPLOOM_CHECK_VALUE(item(_ops::max::call(bytes), "item").to<int64_t>() <= 1,
                     "expected bools whose bytes are 0 or 1, got others; compare the bytes with 0 "
                     "to make bools of them, as in array.view('uint8') != 0");
}

}  // namespace

Tensor from_foreign(void* data, IntArrayRef sizes, IntArrayRef strides, ScalarType type,
                    Device device, void* owner, c10::DeleterFnPtr release) {
  c10::DataPtr pointer(data, owner, release, device);
  int64_t span = 0;  // elements from the first to the last
  bool empty = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) empty = true;
    span += (sizes[d] - 1) * strides[d];
  }
  const size_t itemsize = c10::elementSize(type);
  const size_t bytes = empty ? 0 : static_cast<size_t>(span + 1) * itemsize;
  OPLOOM_CHECK_VALUE(empty || is_aligned(data, itemsize), "expected memory for ", type,
                     " that begins at a multiple of ", itemsize, " bytes; copy it first");
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, std::move(pointer),
                       /*allocator=*/nullptr, /*resizable=*/false);
  if (type == kBool && device.is_cpu() && !empty) check_bools(storage, sizes, strides);
  return make_tensor_on(std::move(storage), sizes, strides, type);
}

void pin_storage(const Tensor& tensor) {
  if (tensor.has_storage()) tensor.storage().unsafeGetStorageImpl()->set_resizable(false);
}

Tensor make_tensor_on(c10::Storage storage, IntArrayRef sizes, IntArrayRef strides,
                      ScalarType type) {
  const DispatchKeySet keys(backend_key(storage.device_type(), kStrided));
  TensorBase::ImplPtr impl =
      c10::make_intrusive<TensorImpl, UndefinedTensorImpl>(std::move(storage), keys, type);
  impl->set_sizes_and_strides(sizes, strides);
  return Tensor(std::move(impl));
}

std::optional<ScalarType> scalar_type_of_kind(char kind, int itemsize) {
  switch (kind) {
    case 'b':
      return itemsize == 1 ? std::optional(ScalarType::Bool) : std::nullopt;
    case 'u':
      return itemsize == 1 ? std::optional(ScalarType::Byte) : std::nullopt;
    case 'i':
      if (itemsize == 1) return ScalarType::Char;
      if (itemsize == 2) return ScalarType::Short;
      if (itemsize == 4) return ScalarType::Int;
      if (itemsize == 8) return ScalarType::Long;
      return std::nullopt;
    case 'f':
      if (itemsize == 2) return ScalarType::Half;
      if (itemsize == 4) return ScalarType::Float;
      if (itemsize == 8) return ScalarType::Double;
      return std::nullopt;
    case 'c':
      if (itemsize == 8) return ScalarType::ComplexFloat;
      if (itemsize == 16) return ScalarType::ComplexDouble;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool has_array_interface(PyObject* object) {
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object) || is_python_number(object) ||
      is_tensor(object)) {
    return false;
  }
  return PyObject_HasAttrString(object, "__array_struct__") != 0;
}

bool can_share_array(PyObject* object) {
  const ArrayStruct array = array_struct(object);
  const ArrayInterface& a = *array.interface;
  return (a.flags & kWriteable) != 0 && (a.flags & kNotSwapped) != 0 && is_shareable(a) &&
         scalar_type_of_kind(a.typekind, a.itemsize).has_value();
}

Tensor from_array(PyObject* object, Readonly readonly) {
  const ArrayStruct array = array_struct(object);
  const ArrayInterface& a = *array.interface;
  const std::optional<ScalarType> type = scalar_type_of_kind(a.typekind, a.itemsize);
  if (!type.has_value()) {
    Ref dtype(PyObject_GetAttrString(object, "dtype"));
    Ref text(PyObject_Str(dtype.get()));
    const char* name = PyUnicode_AsUTF8(text.get());
    OPLOOM_CHECK_TYPE(false, "from_numpy(): no dtype of a tensor is like NumPy's '",
                      name == nullptr ? "?" : name, "'");
  }
  if (readonly == Readonly::kRefuse) {
    OPLOOM_CHECK_VALUE((a.flags & kWriteable) != 0,
                       "from_numpy(): the array is read-only; copy it with array.copy()");
    OPLOOM_CHECK_VALUE((a.flags & kNotSwapped) != 0,
                       "from_numpy(): the array has foreign byte order; convert it with "
                       "array.astype(array.dtype.newbyteorder('='))");
    OPLOOM_CHECK_VALUE(strides_fit(a),
                       "from_numpy(): a stride of the array is negative, or not a multiple of the "
                       "element; copy it with array.copy()");
  } else if ((a.flags & kNotSwapped) == 0) {
    Ref dtype(PyObject_GetAttrString(object, "dtype"));
    Ref native(PyObject_CallMethod(dtype.get(), "newbyteorder", "s", "="));
    Ref copy(PyObject_CallMethod(object, "astype", "O", native.get()));
    return from_array(copy.get(), readonly);
  } else if (!is_shareable(a)) {
    Ref copy(PyObject_CallMethod(object, "copy", nullptr));
    return from_array(copy.get(), readonly);
  }
  DimVector sizes;
  DimVector strides;
  for (int d = 0; d < a.nd; ++d) {
    sizes.push_back(a.shape[d]);
    // NumPy gives dimensions of size 1 any stride, and empty arrays too.
    const bool free_stride = a.strides[d] < 0 || a.strides[d] % a.itemsize != 0;
    strides.push_back(free_stride ? 1 : a.strides[d] / a.itemsize);
  }
  if (!has_elements(a)) strides = c10::contiguous_strides(sizes);
  // The memory may belong to an array that the object made for this and that the capsule holds.
  Ref owner(PyTuple_Pack(2, object, array.capsule.get()));
  return from_foreign(a.data, sizes, strides, *type, Device(kCPU), owner.release(),
                      &ForeignOwner::release);
}

namespace {

// A Py_buffer held by a tensor.
void release_py_buffer(void* owner) {
  auto* view = static_cast<Py_buffer*>(owner);
  if (Py_IsInitialized()) {
    HoldGil gil;
    PyBuffer_Release(view);
  }
  delete view;
}

}  // namespace

Tensor from_raw_buffer(PyObject* buffer, ScalarType dtype, int64_t count, int64_t offset) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(buffer, view.get(), PyBUF_SIMPLE | PyBUF_WRITABLE) < 0) {
    PyErr_Clear();
    check_status(PyObject_GetBuffer(buffer, view.get(), PyBUF_SIMPLE));
    PyBuffer_Release(view.get());
    OPLOOM_CHECK_VALUE(false, "frombuffer(): the buffer is read-only; copy it into a bytearray");
  }
  const auto itemsize = static_cast<int64_t>(c10::elementSize(dtype));
  const int64_t length = view->len;
  char* data = static_cast<char*>(view->buf);
  void* owner = view.release();
  // From here on the tensor below releases the buffer, whatever happens.
  c10::DataPtr guard(data, owner, &release_py_buffer, Device(kCPU));
  OPLOOM_CHECK_VALUE(offset >= 0 && offset <= length, "frombuffer(): expected offset in [0, ",
                     length, "], got ", offset);
  if (count < 0) {
    OPLOOM_CHECK_VALUE((length - offset) % itemsize == 0, "frombuffer(): ", length - offset,
                       " bytes are no whole number of elements of ", itemsize, " bytes");
    count = (length - offset) / itemsize;
  }
  OPLOOM_CHECK_VALUE(count <= (length - offset) / itemsize, "frombuffer(): ", count,
                     " elements do not fit into ", length - offset, " bytes");
  guard.release_context();
  const int64_t sizes[] = {count};
  const int64_t strides[] = {1};
  return from_foreign(data + offset, sizes, strides, dtype, Device(kCPU), owner,
                      &release_py_buffer);
}

PyBufferProcs buffer_procedures = {get_buffer, release_buffer};

#define FUNCTION(name) reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(name))
PyMethodDef interchange_methods[] = {
    method_entry("numpy", as_method<numpy>,
                 "numpy(*, force=False) -> numpy.ndarray\n\n"
                 "The tensor as a NumPy array that shares its memory."),
    {"__array__", FUNCTION(py_array), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__array_wrap__", py_array_wrap, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
#undef FUNCTION

PyMethodDef interchange_functions[] = {
    method_entry("from_numpy", as_function<from_numpy>,
                 "from_numpy(array) -> Tensor\n\n"
                 "A tensor that shares the memory of a NumPy array."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace at::inline oploom_v1::python
