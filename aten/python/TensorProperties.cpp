// The attributes of Tensor: shape, dtype, grad and the like.
#include <aten/autograd/AutogradMeta.h>
#include <aten/python/ArgParser.h>
#include <aten/python/Node.h>
#include <aten/python/PyTensor.h>
#include <aten/python/Types.h>
#include <c10/util/Exception.h>
#include <generated/ops/imag.h>
#include <generated/ops/mT.h>
#include <generated/ops/permute.h>
#include <generated/ops/real.h>
#include <generated/ops/transpose.h>

namespace at::inline oploom_v1::python {
namespace {

// A getter made of a function of the tensor that returns a new reference.
template <PyObject* (*get)(const Tensor&)>
PyObject* getter(PyObject* self, void*) {
  return guarded([&] { return get(unpack(self)); });
}

PyObject* get_shape(const Tensor& t) { return wrap_size(t.sizes()); }
PyObject* get_dtype(const Tensor& t) { return wrap(t.scalar_type()); }
PyObject* get_device(const Tensor& t) { return wrap(t.device()); }
PyObject* get_layout(const Tensor& t) { return wrap(t.layout()); }
PyObject* get_ndim(const Tensor& t) { return PyLong_FromLongLong(t.dim()); }
// NumPy's arrays and numbers leave their operators to the operand with the greater one.
PyObject* get_array_priority(const Tensor&) { return PyFloat_FromDouble(1000); }
PyObject* get_itemsize(const Tensor& t) { return PyLong_FromSize_t(t.itemsize()); }
PyObject* get_nbytes(const Tensor& t) { return PyLong_FromSize_t(t.nbytes()); }
PyObject* get_requires_grad(const Tensor& t) { return PyBool_FromLong(t.requires_grad()); }
PyObject* get_is_leaf(const Tensor& t) { return PyBool_FromLong(t.is_leaf()); }
PyObject* get_retains_grad(const Tensor& t) { return PyBool_FromLong(t.retains_grad()); }
PyObject* get_output_nr(const Tensor& t) { return PyLong_FromUnsignedLong(t.output_nr()); }
PyObject* get_grad(const Tensor& t) { return wrap(t.grad()); }
PyObject* get_grad_fn(const Tensor& t) { return wrap(t.grad_fn()); }
PyObject* get_version(const Tensor& t) { return PyLong_FromUnsignedLong(t._version()); }
PyObject* get_is_cpu(const Tensor& t) { return PyBool_FromLong(t.is_cpu()); }
PyObject* get_is_cuda(const Tensor& t) { return PyBool_FromLong(t.is_cuda()); }
PyObject* get_is_meta(const Tensor& t) { return PyBool_FromLong(t.is_meta()); }
PyObject* get_base(const Tensor& t) {
  if (!t.is_view()) Py_RETURN_NONE;
  return wrap(t._base());
}
// The memory without the history. Autograd records nothing of what is written to it; that it was
// written to it knows, as the version is the memory's: a tensor that was saved must not have
// changed.
PyObject* get_data(const Tensor& t) { return wrap(t.tensor_data()); }

PyObject* get_transposed(const Tensor& t) {
  if (t.dim() == 2) return wrap(t.transpose(0, 1));
  DimVector order;
  for (int64_t d = t.dim() - 1; d >= 0; --d) order.push_back(d);
  return wrap(t.permute(order));
}

PyObject* get_matrix_transposed(const Tensor& t) { return wrap(t.mT()); }

PyObject* get_real(const Tensor& t) { return wrap(at::real(t)); }
PyObject* get_imag(const Tensor& t) { return wrap(at::imag(t)); }

int no_deletion(const char* name) {
  PyErr_Format(PyExc_AttributeError, "'%s' cannot be deleted", name);
  return -1;
}

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded(-1, [&] {
    if (value == nullptr) return no_deletion("requires_grad");
    if (!PyBool_Check(value)) {
      OPLOOM_CHECK_TYPE(false, "requires_grad must be a bool, got ", type_name(value));
    }
    unpack(self).set_requires_grad(value == Py_True);
    return 0;
  });
}

int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded(-1, [&] {
    const Tensor& tensor = unpack(self);
    if (value == nullptr || value == Py_None) {
      tensor.set_grad(Tensor());
      return 0;
    }
    OPLOOM_CHECK_TYPE(is_tensor(value), "grad: expected a Tensor or None, got ", type_name(value));
    tensor.set_grad(unpack(value));
    return 0;
  });
}

// Writes to the view that the attribute is.
template <PyObject* (*get)(const Tensor&)>
int set_part(PyObject* self, PyObject* value, void* name) {
  return guarded(-1, [&] {
    if (value == nullptr) return no_deletion(static_cast<const char*>(name));
    Ref part(get(unpack(self)));
    return PyObject_SetItem(part.get(), Py_Ellipsis, value);
  });
}

// Assigning `data` swaps memory and metadata under the same Python object and gradient.
int set_data(PyObject* self, PyObject* value, void*) {
  return guarded(-1, [&] {
    if (value == nullptr) return no_deletion("data");
    OPLOOM_CHECK_TYPE(is_tensor(value), "data must be a Tensor, got ", type_name(value));
    const ScalarType dtype = unpack(value).scalar_type();
    OPLOOM_CHECK(
        !unpack(self).requires_grad() || c10::isFloatingType(dtype) || c10::isComplexType(dtype),
        "data of a tensor that requires grad must be of a floating-point or complex dtype, "
        "got ",
        dtype);
    unpack(self).unsafeGetTensorImpl()->shallow_copy_from(*unpack(value).unsafeGetTensorImpl());
    return 0;
  });
}

}  // namespace

#define PROPERTY(name, get, set, doc) \
  { name, getter<get>, set, doc, const_cast<char*>(name) }
PyGetSetDef tensor_properties[] = {
    PROPERTY("shape", get_shape, nullptr, "The sizes, an oploom.Size."),
    PROPERTY("dtype", get_dtype, nullptr, "The type of the elements."),
    PROPERTY("device", get_device, nullptr, "Where the memory lies."),
    PROPERTY("layout", get_layout, nullptr, "How the elements are stored."),
    PROPERTY("ndim", get_ndim, nullptr, "The number of dimensions."),
    PROPERTY("__array_priority__", get_array_priority, nullptr, nullptr),
    PROPERTY("itemsize", get_itemsize, nullptr, "Bytes of one element."),
    PROPERTY("nbytes", get_nbytes, nullptr, "Bytes of all elements."),
    PROPERTY("requires_grad", get_requires_grad, set_requires_grad,
             "Whether operators on this tensor record their derivatives."),
    PROPERTY("is_leaf", get_is_leaf, nullptr, "Whether no recorded operator computed it."),
    PROPERTY("retains_grad", get_retains_grad, nullptr,
             "Whether retain_grad() was called on a tensor that is no leaf."),
    PROPERTY("output_nr", get_output_nr, nullptr, "Which output of grad_fn this is."),
    PROPERTY("grad", get_grad, set_grad, "The accumulated gradient, or None."),
    PROPERTY("grad_fn", get_grad_fn, nullptr, "The node that computed this tensor, or None."),
    PROPERTY("data", get_data, set_data, "The same memory without history."),
    PROPERTY("T", get_transposed, nullptr, "The tensor with its dimensions in reverse order."),
    PROPERTY("mT", get_matrix_transposed, nullptr, "With the last two dimensions swapped."),
    PROPERTY("real", get_real, set_part<get_real>, "The real parts, a view."),
    PROPERTY("imag", get_imag, set_part<get_imag>, "The imaginary parts, a view."),
    PROPERTY("_base", get_base, nullptr, "The tensor that this is a view of, or None."),
    PROPERTY("_version", get_version, nullptr, "How often the memory was changed in place."),
    PROPERTY("is_cpu", get_is_cpu, nullptr, "Whether the memory is the CPU's."),
    PROPERTY("is_cuda", get_is_cuda, nullptr, "Whether the memory is a CUDA device's."),
    PROPERTY("is_meta", get_is_meta, nullptr, "Whether it has no memory."),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
#undef PROPERTY

}  // namespace at::inline oploom_v1::python
