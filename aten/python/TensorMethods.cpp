// Hand-written methods of Tensor: what is no operator, or gives Python objects.
#include <aten/autograd/Node.h>
#include <aten/core/Empty.h>
#include <aten/core/Formatting.h>
#include <aten/python/ArgParser.h>
#include <aten/python/Elements.h>
#include <aten/python/Foreign.h>
#include <aten/python/NumberProtocol.h>
#include <aten/python/PyTensor.h>
#include <aten/python/Results.h>
#include <c10/util/Exception.h>
#include <generated/ops/clone.h>
#include <generated/ops/detach.h>
#include <generated/ops/unbind.h>

#include <cstring>
#include <string>
#include <vector>

namespace at::inline oploom_v1::python {

PyObject* tensor_repr(PyObject* self) {
  return guarded([&] {
    const Tensor& tensor = unpack(self);
    std::vector<std::string> suffixes;
    if (const auto node = tensor.grad_fn(); node.defined()) {
      suffixes.push_back("grad_fn=<" + node->name() + ">");
    } else if (tensor.requires_grad()) {
      suffixes.emplace_back("requires_grad=True");
    }
    const Tensor here = tensor.is_cuda() ? tensor.detach().to(Device(c10::kCPU)) : Tensor();
    const std::string text = at::format_tensor(tensor, "tensor", suffixes, here);
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}

PyObject* tensor_iter(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Tensor& tensor = unpack(self);
    OPLOOM_CHECK_TYPE(tensor.dim() > 0, "iteration over a 0-d tensor");
    std::vector<Tensor> parts = tensor.unbind(0);
    Ref list(PyList_New(static_cast<Py_ssize_t>(parts.size())));
    for (size_t i = 0; i < parts.size(); ++i) {
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), wrap(std::move(parts[i])));
    }
    return PyObject_GetIter(list.get());
  });
}

namespace {

PyObject* py_item(PyObject* self, PyObject*) {
  return guarded([&] { return item_as_python(unpack(self), "item"); });
}

PyObject* py_tolist(PyObject* self, PyObject*) {
  return guarded([&] { return to_list(unpack(self)); });
}

// size() and stride(): all of them, or the one of a dimension.
constexpr SignatureText kSizeSignatures[] = {{kMethod, "size(Tensor self, int? dim=None)"}};
constexpr SignatureText kStrideSignatures[] = {{kMethod, "stride(Tensor self, int? dim=None)"}};
constinit Parser size_parser("size", kSizeSignatures);
constinit Parser stride_parser("stride", kStrideSignatures);

template <Parser& parser, int64_t (TensorBase::*of)(int64_t) const,
          IntArrayRef (TensorBase::*all)() const, PyObject* (*wrap_all)(IntArrayRef)>
PyObject* size_or_stride(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames) {
  Arguments a;
  parser.parse(self, args, nargs, kwnames, a);
  const Tensor& tensor = unpack(self);
  return a.given(1) ? to_python((tensor.*of)(a.integer(1))) : wrap_all((tensor.*all)());
}
constexpr auto size =
    &size_or_stride<size_parser, &TensorBase::size, &TensorBase::sizes, &wrap_size>;
constexpr auto stride =
    &size_or_stride<stride_parser, &TensorBase::stride, &TensorBase::strides, &wrap_tuple>;

PyObject* py_dim(PyObject* self, PyObject*) { return PyLong_FromLongLong(unpack(self).dim()); }
PyObject* py_numel(PyObject* self, PyObject*) { return PyLong_FromLongLong(unpack(self).numel()); }
PyObject* py_storage_offset(PyObject* self, PyObject*) {
  return PyLong_FromLongLong(unpack(self).storage_offset());
}
PyObject* py_element_size(PyObject* self, PyObject*) {
  return PyLong_FromSize_t(unpack(self).itemsize());
}
PyObject* py_data_ptr(PyObject* self, PyObject*) {
  return PyLong_FromVoidPtr(unpack(self).data_ptr());
}
PyObject* py_is_floating_point(PyObject* self, PyObject*) {
  return PyBool_FromLong(unpack(self).is_floating_point());
}
PyObject* py_is_complex(PyObject* self, PyObject*) {
  return PyBool_FromLong(unpack(self).is_complex());
}
PyObject* py_is_signed(PyObject* self, PyObject*) {
  return PyBool_FromLong(unpack(self).is_signed());
}

PyObject* py_is_contiguous(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"memory_format", nullptr};
    PyObject* format = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:is_contiguous", const_cast<char**>(names),
                                     &format)) {
      return nullptr;
    }
    const MemoryFormat wanted =
        format == nullptr ? MemoryFormat::Contiguous : to_memory_format(format);
    return PyBool_FromLong(unpack(self).is_contiguous(wanted));
  });
}

PyObject* py_format(PyObject* self, PyObject* spec) {
  return guarded([&]() -> PyObject* {
    OPLOOM_CHECK_TYPE(PyUnicode_Check(spec), "__format__(): expected a str, got ", type_name(spec));
    if (unpack(self).dim() > 0) return PyObject_Format(Ref(PyObject_Str(self)).get(), spec);
    Ref number(item_as_python(unpack(self), "format"));
    return PyObject_Format(number.get(), spec);
  });
}

PyObject* py_complex(PyObject* self, PyObject*) {
  return guarded([&] {
    Ref number(item_as_python(unpack(self), "complex"));
    const Py_complex value = PyComplex_AsCComplex(number.get());
    if (value.real == -1.0 && PyErr_Occurred()) throw PythonError();
    return PyComplex_FromCComplex(value);
  });
}

// `element in tensor`: whether any element is equal to it.
int contains(PyObject* self, PyObject* element) {
  return guarded(-1, [&] {
    OPLOOM_CHECK_TYPE(is_tensor(element) || is_number(element),
                      "'in' expects a number or a Tensor on its left, got ", type_name(element));
    Ref equal(PyObject_RichCompare(self, element, Py_EQ));
    Ref any(PyObject_CallMethod(equal.get(), "any", nullptr));
    return PyObject_IsTrue(any.get());
  });
}

// Shares data, copies nothing but the object: what copy.copy() means elsewhere.
PyObject* py_copy(PyObject* self, PyObject*) {
  return guarded([&] {
    const Tensor& tensor = unpack(self);
    Tensor result = tensor.detach();
    if (tensor.is_leaf() && tensor.requires_grad()) result.set_requires_grad(true);
    return wrap_as(Py_TYPE(self), std::move(result));
  });
}

// Copies the instance's attributes with copy.deepcopy.
void deepcopy_attributes(PyObject* from, PyObject* to, PyObject* memo) {
  PyObject* attributes = reinterpret_cast<PyTensor*>(from)->dict;
  if (attributes == nullptr || PyDict_Size(attributes) == 0) return;
  Ref copy(PyImport_ImportModule("copy"));
  Ref duplicate(PyObject_CallMethod(copy.get(), "deepcopy", "OO", attributes, memo));
  Py_XSETREF(reinterpret_cast<PyTensor*>(to)->dict, duplicate.release());
}

// A copy of a storage, the same one for all tensors on it that one deepcopy() meets: `memo` keeps
// it, as a tensor of its bytes.
c10::Storage deepcopy_storage(const c10::Storage& storage, PyObject* memo) {
  Ref key(Py_BuildValue("(sN)", "storage", PyLong_FromVoidPtr(storage.unsafeGetStorageImpl())));
  if (PyObject* known = PyDict_GetItemWithError(memo, key.get())) return unpack(known).storage();
  if (PyErr_Occurred()) throw PythonError();
  const Tensor bytes(
      at::detail::empty({static_cast<int64_t>(storage.nbytes())}, TensorOptions().dtype(kByte)));
  if (storage.nbytes() > 0) {
    std::memcpy(bytes.mutable_data_ptr(), storage.data(), storage.nbytes());
  }
  Ref object(wrap(bytes));
  check_status(PyDict_SetItem(memo, key.get(), object.get()));
  return bytes.storage();
}

Tensor deepcopy_data(const Tensor& tensor, PyObject* memo) {
  if (!tensor.is_cpu()) return tensor.detach().clone();
  Tensor result = make_tensor_on(deepcopy_storage(tensor.storage(), memo), tensor.sizes(),
                                 tensor.strides(), tensor.scalar_type());
  result.unsafeGetTensorImpl()->set_storage_offset(tensor.storage_offset());
  return result;
}

PyObject* py_deepcopy(PyObject* self, PyObject* memo) {
  return guarded([&]() -> PyObject* {
    OPLOOM_CHECK_TYPE(PyDict_Check(memo), "__deepcopy__(): expected a dict, got ", type_name(memo));
    Ref key(PyLong_FromVoidPtr(self));
    if (PyObject* known = PyDict_GetItemWithError(memo, key.get())) return Py_NewRef(known);
    const Tensor& tensor = unpack(self);
    OPLOOM_CHECK(tensor.is_leaf(),
                 "deepcopy(): the tensor is the result of a recorded operator; only leaves can be "
                 "copied with their gradient, use tensor.detach().clone()");
    Tensor result = deepcopy_data(tensor, memo);
    if (tensor.requires_grad()) result.set_requires_grad(true);
    if (tensor.grad().defined()) result.set_grad(deepcopy_data(tensor.grad(), memo));
    Ref copy(wrap_as(Py_TYPE(self), std::move(result)));
    check_status(PyDict_SetItem(memo, key.get(), copy.get()));
    deepcopy_attributes(self, copy.get(), memo);
    return copy.release();
  });
}

// Pickled as its elements in the order of its memory, without gaps between them and each once;
// tensors that share memory come back as copies.
PyObject* py_reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Tensor& tensor = unpack(self);
    OPLOOM_CHECK(tensor.is_leaf(),
                 "pickle: the tensor is the result of a recorded operator; use tensor.detach()");
    OPLOOM_CHECK_NOT_IMPLEMENTED(tensor.is_cpu(),
                                 "pickle: expected a tensor on the CPU, got one on ",
                                 tensor.device().str());
    const Tensor plain = tensor.detach().clone();
    Ref bytes(PyBytes_FromStringAndSize(static_cast<const char*>(plain.const_data_ptr()),
                                        static_cast<Py_ssize_t>(plain.nbytes())));
    Ref module(PyImport_ImportModule("oploom._C"));
    Ref rebuild(PyObject_GetAttrString(module.get(), "_rebuild_tensor"));
    Ref dtype(wrap(tensor.scalar_type()));
    Ref sizes(wrap_tuple(tensor.sizes()));
    Ref strides(wrap_tuple(plain.strides()));
    PyObject* attributes = reinterpret_cast<PyTensor*>(self)->dict;
    return Py_BuildValue("O(OOOOOOO)", rebuild.get(), Py_TYPE(self), bytes.get(), dtype.get(),
                         sizes.get(), tensor.requires_grad() ? Py_True : Py_False,
                         attributes == nullptr ? Py_None : attributes, strides.get());
  });
}

// A method that is a function of oploom.functional.
template <const char* const& name>
PyObject* py_functional(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                        PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    Ref module(PyImport_ImportModule("oploom.functional"));
    Ref function(PyObject_GetAttrString(module.get(), name));
    const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
    std::vector<PyObject*> all{self};
    all.insert(all.end(), args, args + nargs + keywords);
    return PyObject_Vectorcall(function.get(), all.data(), static_cast<size_t>(nargs) + 1, kwnames);
  });
}
const char* const kNorm = "_tensor_norm";
const char* const kNonzero = "_tensor_nonzero";

}  // namespace

#define FUNCTION(name) reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(name))
PyMethodDef tensor_methods[] = {
    {"item", py_item, METH_NOARGS, "item() -> number\n\nThe value of a tensor with one element."},
    {"tolist", py_tolist, METH_NOARGS,
     "tolist() -> list or number\n\nThe elements as nested lists of Python numbers."},
    method_entry("size", as_method<size>,
                 "size(dim=None) -> Size or int\n\nThe sizes, or the size of one dimension."),
    method_entry(
        "stride", as_method<stride>,
        "stride(dim=None) -> tuple or int\n\nElements to step over to the next one of each "
        "dimension."),
    {"dim", py_dim, METH_NOARGS, "dim() -> int\n\nThe number of dimensions."},
    {"ndimension", py_dim, METH_NOARGS, "ndimension() -> int\n\nThe number of dimensions."},
    {"numel", py_numel, METH_NOARGS, "numel() -> int\n\nThe number of elements."},
    {"nelement", py_numel, METH_NOARGS, "nelement() -> int\n\nThe number of elements."},
    {"storage_offset", py_storage_offset, METH_NOARGS,
     "storage_offset() -> int\n\nWhere in its storage the tensor begins, in elements."},
    {"element_size", py_element_size, METH_NOARGS,
     "element_size() -> int\n\nBytes of one element."},
    {"data_ptr", py_data_ptr, METH_NOARGS,
     "data_ptr() -> int\n\nThe address of the first element."},
    {"is_contiguous", FUNCTION(py_is_contiguous), METH_VARARGS | METH_KEYWORDS,
     "is_contiguous(memory_format=oploom.contiguous_format) -> bool\n\n"
     "Whether the elements lie in memory in this order, without gaps."},
    {"is_floating_point", py_is_floating_point, METH_NOARGS,
     "is_floating_point() -> bool\n\nWhether the dtype is a real float."},
    {"is_complex", py_is_complex, METH_NOARGS,
     "is_complex() -> bool\n\nWhether the dtype is complex."},
    {"is_signed", py_is_signed, METH_NOARGS,
     "is_signed() -> bool\n\nWhether the dtype has negative values."},
    {"norm", FUNCTION(py_functional<kNorm>), METH_FASTCALL | METH_KEYWORDS,
     "norm(p='fro', dim=None, keepdim=False, dtype=None) -> Tensor\n\nSee oploom.norm()."},
    {"nonzero", FUNCTION(py_functional<kNonzero>), METH_FASTCALL | METH_KEYWORDS,
     "nonzero(*, as_tuple=False) -> Tensor or tuple of Tensors\n\nSee oploom.nonzero()."},
    {"__complex__", py_complex, METH_NOARGS, nullptr},
    {"__format__", py_format, METH_O, nullptr},
    {"__copy__", py_copy, METH_NOARGS, nullptr},
    {"__deepcopy__", py_deepcopy, METH_O, nullptr},
    {"__reduce__", py_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
#undef FUNCTION

PySequenceMethods sequence_methods = [] {
  PySequenceMethods methods{};
  methods.sq_contains = contains;
  return methods;
}();

}  // namespace at::inline oploom_v1::python
