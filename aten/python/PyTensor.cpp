// Creation, destruction and garbage collection of Python's Tensor objects.
#include <aten/python/ArgParser.h>
#include <aten/python/Hooks.h>
#include <aten/python/PyTensor.h>
#include <aten/python/TensorNew.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>

namespace at::inline oploom_v1::python {

PyTypeObject TensorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

namespace {

// Dead objects of exactly Tensor are kept for the next one: most live for one expression.
constexpr int kFreeListSize = 128;
PyTensor* free_list[kFreeListSize];
int free_count = 0;

PyTensor* allocate() {
  if (free_count > 0) {
    PyTensor* object = free_list[--free_count];
    PyObject_Init(reinterpret_cast<PyObject*>(object), &TensorType);
    return object;
  }
  return PyObject_GC_New(PyTensor, &TensorType);
}

// The tensor of `impl` as a new object; fields other than the header are not initialised yet.
void initialize(PyTensor* object, Tensor&& tensor) {
  new (&object->tensor) Tensor(std::move(tensor));
  object->dict = nullptr;
  object->weakrefs = nullptr;
  object->hooks = nullptr;
  object->tensor.unsafeGetTensorImpl()->set_pyobj(object);
}

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* object = reinterpret_cast<PyTensor*>(self);
  Py_VISIT(object->dict);
  if (object->hooks == nullptr || object->tensor.use_count() != 1) return 0;
  for (const std::weak_ptr<PythonHook>& hook : object->hooks->hooks) {
    if (const auto alive = hook.lock()) Py_VISIT(alive->function());
  }
  return 0;
}

int tensor_clear(PyObject* self) {
  auto* object = reinterpret_cast<PyTensor*>(self);
  Py_CLEAR(object->dict);
  if (object->hooks == nullptr || object->tensor.use_count() != 1) return 0;
  for (const std::weak_ptr<PythonHook>& hook : object->hooks->hooks) {
    if (const auto alive = hook.lock()) alive->clear();
  }
  return 0;
}

void tensor_dealloc(PyObject* self) {
  auto* object = reinterpret_cast<PyTensor*>(self);
  PyObject_GC_UnTrack(self);
  // First of all, nobody may find this dying object any more: what follows can run Python code.
  TensorImpl* impl = object->tensor.unsafeGetTensorImpl();
  if (impl->pyobj() == self) impl->set_pyobj(nullptr);
  if (object->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  Py_CLEAR(object->dict);
  delete object->hooks;
  object->tensor.~Tensor();
  PyTypeObject* type = Py_TYPE(self);
  if (type == &TensorType && free_count < kFreeListSize) {
    free_list[free_count++] = object;
    return;
  }
  type->tp_free(self);
}

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    if (kwargs != nullptr && PyDict_Size(kwargs) != 0) {
      PyErr_SetString(PyExc_TypeError,
                      "Tensor() takes no keyword arguments; oploom.tensor(data, dtype=...) does");
      return nullptr;
    }
    return wrap_as(type, legacy_new(args));
  });
}

Py_hash_t tensor_hash(PyObject* self) { return _Py_HashPointer(self); }

// A docstring, which functions share, with the signatures of a method at its head. CPython keeps
// pointers to them, so they are never freed.
const char* method_doc(const char* doc) {
  const std::string_view text(doc == nullptr ? "" : doc);
  const size_t head = std::min(text.find("\n\n"), text.size());
  if (text.substr(0, head).find(" out=None") == std::string_view::npos) return doc;
  auto* result = new std::string();
  for (size_t begin = 0; begin < head;) {
    const size_t end = std::min(text.find('\n', begin), head);
    *result += as_method_text(std::string(text.substr(begin, end - begin)));
    if (end < head) *result += '\n';
    begin = end + 1;
  }
  *result += text.substr(head);
  return result->c_str();
}

}  // namespace

PyObject* wrap(Tensor&& tensor) {
  if (OPLOOM_UNLIKELY(!tensor.defined())) Py_RETURN_NONE;
  if (void* existing = tensor.unsafeGetTensorImpl()->pyobj()) {
    return Py_NewRef(static_cast<PyObject*>(existing));
  }
  PyTensor* object = allocate();
  if (object == nullptr) throw PythonError();
  initialize(object, std::move(tensor));
  PyObject_GC_Track(object);
  return reinterpret_cast<PyObject*>(object);
}

PyObject* wrap(const Tensor& tensor) { return wrap(Tensor(tensor)); }

PyObject* wrap_as(PyTypeObject* type, Tensor tensor) {
  if (type == &TensorType) return wrap(std::move(tensor));
  OPLOOM_INTERNAL_ASSERT(tensor.unsafeGetTensorImpl()->pyobj() == nullptr,
                         "the tensor has a Python object already");
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) throw PythonError();
  initialize(reinterpret_cast<PyTensor*>(object), std::move(tensor));
  return object;
}

void add_tensor_type(PyObject* module, const std::vector<PyMethodDef>& generated_methods) {
  // CPython keeps a pointer to the list, so it is never freed.
  auto* methods = new std::vector<PyMethodDef>();
  for (PyMethodDef* list : {tensor_methods, conversion_methods, interchange_methods, dlpack_methods,
                            autograd_methods}) {
    for (; list->ml_name != nullptr; ++list) methods->push_back(*list);
  }
  // A method or attribute written by hand wins over a generated one of its name.
  std::set<std::string_view> taken;
  for (const PyMethodDef& method : *methods) taken.insert(method.ml_name);
  for (PyGetSetDef* list = tensor_properties; list->name != nullptr; ++list) {
    taken.insert(list->name);
  }
  for (const PyMethodDef& method : generated_methods) {
    if (!taken.contains(method.ml_name)) methods->push_back(method);
  }
  for (PyMethodDef& method : *methods) method.ml_doc = method_doc(method.ml_doc);
  methods->push_back({nullptr, nullptr, 0, nullptr});

  TensorType.tp_name = "oploom.Tensor";
  TensorType.tp_doc =
      "A multi-dimensional array of elements of one dtype, which can record gradients.\n\n"
      "Make one with oploom.tensor(data) or with a factory such as oploom.zeros(2, 3).";
  TensorType.tp_basicsize = sizeof(PyTensor);
  TensorType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  TensorType.tp_dealloc = tensor_dealloc;
  TensorType.tp_traverse = tensor_traverse;
  TensorType.tp_clear = tensor_clear;
  TensorType.tp_new = tensor_new;
  TensorType.tp_free = PyObject_GC_Del;
  TensorType.tp_dictoffset = offsetof(PyTensor, dict);
  TensorType.tp_weaklistoffset = offsetof(PyTensor, weakrefs);
  TensorType.tp_methods = methods->data();
  TensorType.tp_getset = tensor_properties;
  TensorType.tp_as_number = &number_methods;
  TensorType.tp_as_sequence = &sequence_methods;
  TensorType.tp_as_mapping = &mapping_methods;
  TensorType.tp_as_buffer = &buffer_procedures;
  TensorType.tp_richcompare = rich_compare;
  // Comparison is elementwise, so a tensor is told apart by identity.
  TensorType.tp_hash = tensor_hash;
  TensorType.tp_repr = tensor_repr;
  TensorType.tp_iter = tensor_iter;
  TensorType.tp_getattro = PyObject_GenericGetAttr;
  TensorType.tp_setattro = PyObject_GenericSetAttr;
  check_status(PyType_Ready(&TensorType));
  check_status(PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(&TensorType)));
}

}  // namespace at::inline oploom_v1::python
