// The operands of Python's operators: which pairs a tensor's operator answers to.
#pragma once

#include <aten/core/WrappedNumber.h>
#include <aten/python/ArgParser.h>
#include <aten/python/Interchange.h>
#include <aten/python/PyTensor.h>

#include <type_traits>

namespace at::inline oploom_v1::python {

// Stands for an overload that an operator does not have.
struct None {};
inline constexpr None kNone{};

inline bool is_number(PyObject* object) {
  return is_python_number(object) || is_numpy_scalar(object);
}

inline at::detail::WrappedNumber wrapped_number(PyObject* number) {
  return at::detail::WrappedNumber(to_scalar(number));
}

// `left op right`, where at least one is a tensor. A number becomes the operator's Scalar, or where
// it has no such overload a 0-d tensor that takes part in promotion as a number; NumPy's arrays,
// which leave the call to a type with __array_priority__, become tensors. For anything else the
// answer is NotImplemented, so that Python asks the other operand.
template <bool kNumbers, class Tensors, class TensorScalar, class ScalarTensor>
PyObject* binary_slot(PyObject* left, PyObject* right, Tensors&& tensors,
                      TensorScalar&& tensor_scalar, ScalarTensor&& scalar_tensor) {
  try {
    if (is_tensor(left)) {
      if (is_tensor(right)) return wrap(tensors(unpack(left), unpack(right)));
      if (kNumbers && is_number(right)) {
        if constexpr (std::is_same_v<std::decay_t<TensorScalar>, None>) {
          return wrap(tensors(unpack(left), wrapped_number(right)));
        } else {
          return wrap(tensor_scalar(unpack(left), to_scalar(right)));
        }
      }
      if (has_array_interface(right)) {
        return wrap(tensors(unpack(left), from_array(right, Readonly::kAllow)));
      }
    } else if (kNumbers && is_number(left)) {
      if constexpr (std::is_same_v<std::decay_t<ScalarTensor>, None>) {
        return wrap(tensors(wrapped_number(left), unpack(right)));
      } else {
        return wrap(scalar_tensor(to_scalar(left), unpack(right)));
      }
    } else if (has_array_interface(left)) {
      return wrap(tensors(from_array(left, Readonly::kAllow), unpack(right)));
    }
    Py_RETURN_NOTIMPLEMENTED;
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

// `left op= right`, where left is a tensor.
template <class Tensors, class TensorScalar>
PyObject* inplace_slot(PyObject* left, PyObject* right, Tensors&& tensors,
                       TensorScalar&& tensor_scalar) {
  try {
    Tensor& self = reinterpret_cast<PyTensor*>(left)->tensor;
    if (is_tensor(right)) {
      tensors(self, unpack(right));
    } else if (is_number(right)) {
      if constexpr (std::is_same_v<std::decay_t<TensorScalar>, None>) {
        tensors(self, wrapped_number(right));
      } else {
        tensor_scalar(self, to_scalar(right));
      }
    } else if (has_array_interface(right)) {
      tensors(self, from_array(right, Readonly::kAllow));
    } else {
      Py_RETURN_NOTIMPLEMENTED;
    }
    return Py_NewRef(left);
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

// bool(), int(), float(), index() and +x, in the slots that every tensor has.
PyNumberMethods number_conversions();

}  // namespace at::inline oploom_v1::python
