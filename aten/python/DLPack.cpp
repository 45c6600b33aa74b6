// `__dlpack__`, `__dlpack_device__` and from_dlpack.
#include <aten/python/ArgParser.h>
#include <aten/python/DLPack.h>
#include <aten/python/Foreign.h>
#include <aten/python/Interchange.h>
#include <c10/util/Exception.h>
#include <generated/ops/clone.h>
#include <generated/ops/detach.h>

#include <memory>

namespace at::inline oploom_v1::python {
namespace {

using namespace at::dlpack;

constexpr const char* kName = "dltensor";
constexpr const char* kUsedName = "used_dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";
constexpr const char* kUsedVersionedName = "used_dltensor_versioned";

DLDataType to_dl_type(ScalarType type) {
  const auto bits = static_cast<uint8_t>(c10::elementSize(type) * 8);
  if (type == ScalarType::Bool) return {kDLBool, bits, 1};
  if (type == ScalarType::Byte) return {kDLUInt, bits, 1};
  if (type == ScalarType::BFloat16) return {kDLBfloat, bits, 1};
  if (c10::isComplexType(type)) return {kDLComplex, bits, 1};
  if (c10::isFloatingType(type)) return {kDLFloat, bits, 1};
  return {kDLInt, bits, 1};
}

ScalarType from_dl_type(DLDataType type) {
  OPLOOM_CHECK_TYPE(type.lanes == 1, "from_dlpack(): expected elements of one lane, got ",
                    type.lanes);
  for (int i = 0; i < static_cast<int>(ScalarType::Undefined); ++i) {
    const auto candidate = static_cast<ScalarType>(i);
    const DLDataType known = to_dl_type(candidate);
    if (known.code == type.code && known.bits == type.bits) return candidate;
  }
  OPLOOM_CHECK_TYPE(false, "from_dlpack(): no dtype has DLPack's type code ",
                    static_cast<int>(type.code), " with ", static_cast<int>(type.bits), " bits");
  return ScalarType::Undefined;
}

DLDevice to_dl_device(Device device) {
  if (device.is_cpu()) return {kDLCPU, 0};
  if (device.is_cuda()) return {kDLCUDA, device.has_index() ? device.index() : 0};
  OPLOOM_CHECK_VALUE(false, "__dlpack__(): DLPack has no device like '", device.str(), "'");
  return {};
}

Device from_dl_device(DLDevice device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost) return Device(kCPU);
  OPLOOM_CHECK_VALUE(device.device_type == kDLCUDA, "from_dlpack(): DLPack's device type ",
                     device.device_type, " is not supported");
  return Device(kCUDA, static_cast<c10::DeviceIndex>(device.device_id));
}

// A tensor given out: the managed struct together with what it points to.
template <class Managed>
struct Export {
  Managed managed{};
  Tensor tensor;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

template <class Managed>
Managed* export_tensor(const Tensor& tensor) {
  auto exported = std::make_unique<Export<Managed>>();
  exported->tensor = tensor.detach();
  pin_storage(tensor);
  exported->shape.assign(tensor.sizes().begin(), tensor.sizes().end());
  exported->strides.assign(tensor.strides().begin(), tensor.strides().end());
  DLTensor& out = exported->managed.dl_tensor;
  out.data = tensor.data_ptr();
  out.device = to_dl_device(tensor.device());
  out.ndim = static_cast<int32_t>(tensor.dim());
  out.dtype = to_dl_type(tensor.scalar_type());
  out.shape = exported->shape.data();
  out.strides = exported->strides.data();
  out.byte_offset = 0;
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](Managed* self) {
    delete static_cast<Export<Managed>*>(self->manager_ctx);
  };
  return &exported.release()->managed;
}

// Runs when a capsule dies that nobody consumed; a consumer renames it.
template <class Managed>
void destroy_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

PyObject* py_dlpack(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
    PyObject* stream = Py_None;
    PyObject* max_version = Py_None;
    PyObject* dl_device = Py_None;
    PyObject* copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", const_cast<char**>(names),
                                     &stream, &max_version, &dl_device, &copy)) {
      return nullptr;
    }
    Tensor tensor = unpack(self);
    if (tensor.requires_grad()) {
      PyErr_SetString(PyExc_BufferError,
                      "__dlpack__(): the tensor requires grad; use tensor.detach()");
      return nullptr;
    }
    if (tensor.is_cpu() && stream != Py_None) {
      PyErr_SetString(PyExc_ValueError, "__dlpack__(): a tensor on the CPU has no stream");
      return nullptr;
    }
    if (dl_device != Py_None) {
      int type = 0;
      int id = 0;
      if (!PyArg_ParseTuple(dl_device, "ii", &type, &id)) return nullptr;
      const DLDevice ours = to_dl_device(tensor.device());
      if (type != ours.device_type || id != ours.device_id) {
        PyErr_SetString(PyExc_BufferError,
                        "__dlpack__(): exporting to another device is not supported");
        return nullptr;
      }
    }
    if (copy == Py_True) tensor = tensor.clone();
    long major = 0;
    if (max_version != Py_None) {
      Ref first(PySequence_GetItem(max_version, 0));
      major = PyLong_AsLong(first.get());
      if (major == -1 && PyErr_Occurred()) return nullptr;
    }
    if (major < 1) {
      auto* managed = export_tensor<DLManagedTensor>(tensor);
      PyObject* capsule = PyCapsule_New(managed, kName, [](PyObject* object) {
        destroy_capsule<DLManagedTensor>(object, kName);
      });
      if (capsule == nullptr) managed->deleter(managed);
      return capsule;
    }
    auto* managed = export_tensor<DLManagedTensorVersioned>(tensor);
    managed->version = {1, 0};
    managed->flags = copy == Py_True ? kDLIsCopied : 0;
    PyObject* capsule = PyCapsule_New(managed, kVersionedName, [](PyObject* object) {
      destroy_capsule<DLManagedTensorVersioned>(object, kVersionedName);
    });
    if (capsule == nullptr) managed->deleter(managed);
    return capsule;
  });
}

PyObject* py_dlpack_device(PyObject* self, PyObject*) {
  return guarded([&] {
    const DLDevice device = to_dl_device(unpack(self).device());
    return Py_BuildValue("(ii)", device.device_type, device.device_id);
  });
}

template <class Managed>
void release_managed(void* owner) {
  auto* managed = static_cast<Managed*>(owner);
  if (managed->deleter == nullptr) return;
  // Producers such as NumPy drop Python references in their deleter.
  if (!Py_IsInitialized()) return;
  HoldGil gil;
  managed->deleter(managed);
}

template <class Managed>
Tensor import_tensor(PyObject* capsule, const char* name, const char* used_name) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed == nullptr) throw PythonError();
  const DLTensor& in = managed->dl_tensor;
  // What can fail comes before the capsule is taken over, but for from_foreign(), which releases
  // memory that it refuses.
  const ScalarType type = from_dl_type(in.dtype);
  const Device device = from_dl_device(in.device);
  DimVector sizes(in.shape, in.shape + in.ndim);
  DimVector strides = c10::contiguous_strides(sizes);
  if (in.strides != nullptr) {
    for (int32_t d = 0; d < in.ndim; ++d) {
      OPLOOM_CHECK_VALUE(in.strides[d] >= 0 || sizes[d] <= 1,
                         "from_dlpack(): negative strides are not supported");
      if (in.strides[d] >= 0) strides[d] = in.strides[d];
    }
  }
  check_status(PyCapsule_SetName(capsule, used_name));
  return from_foreign(static_cast<char*>(in.data) + in.byte_offset, sizes, strides, type, device,
                      managed, &release_managed<Managed>);
}

Tensor import_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kVersionedName)) {
    auto* managed =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kVersionedName));
    if (managed->version.major != 1) {
      PyErr_Format(PyExc_BufferError, "from_dlpack(): DLPack version %u is not supported",
                   managed->version.major);
      throw PythonError();
    }
    OPLOOM_CHECK_VALUE((managed->flags & kDLReadOnly) == 0,
                       "from_dlpack(): the array is read-only; copy it first");
    return import_tensor<DLManagedTensorVersioned>(capsule, kVersionedName, kUsedVersionedName);
  }
  OPLOOM_CHECK_VALUE(PyCapsule_IsValid(capsule, kName),
                     "from_dlpack(): expected a DLPack capsule that was not used before");
  return import_tensor<DLManagedTensor>(capsule, kName, kUsedName);
}

PyObject* py_from_dlpack(PyObject*, PyObject* object) {
  return guarded([&] { return wrap(from_dlpack_object(object)); });
}

}  // namespace

Tensor from_dlpack_object(PyObject* object) {
  if (PyCapsule_CheckExact(object)) return import_capsule(object);
  OPLOOM_CHECK_TYPE(PyObject_HasAttrString(object, "__dlpack__"),
                    "from_dlpack(): expected an object with __dlpack__, got ", type_name(object));
  Ref method(PyObject_GetAttrString(object, "__dlpack__"));
  Ref no_arguments(PyTuple_New(0));
  Ref version(Py_BuildValue("{s(ii)}", "max_version", 1, 0));
  PyObject* capsule = PyObject_Call(method.get(), no_arguments.get(), version.get());
  if (capsule == nullptr && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();  // a producer from before versions
    capsule = PyObject_CallNoArgs(method.get());
  }
  Ref owned(capsule);
  return import_capsule(owned.get());
}

#define FUNCTION(name) reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(name))
PyMethodDef dlpack_methods[] = {
    {"__dlpack__", FUNCTION(py_dlpack), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__dlpack_device__", py_dlpack_device, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
#undef FUNCTION

PyMethodDef dlpack_functions[] = {
    {"from_dlpack", py_from_dlpack, METH_O,
     "from_dlpack(object) -> Tensor\n\n"
     "A tensor that shares the memory of another library's array."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace at::inline oploom_v1::python
