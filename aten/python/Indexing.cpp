// x[index] and x[index] = value.
//
// Integers, slices, None, `...` and booleans make views; integer and boolean tensors, lists and
// arrays gather elements. Each item of a tuple is applied in turn to the dimension it stands for,
// then all index tensors together.
#include <aten/core/Empty.h>
#include <aten/python/ArgParser.h>
#include <aten/python/Elements.h>
#include <aten/python/Interchange.h>
#include <aten/python/NumberProtocol.h>
#include <aten/python/PyTensor.h>
#include <aten/python/TensorNew.h>
#include <c10/util/Exception.h>
#include <c10/util/NamedErrors.h>
#include <generated/ops/alias.h>
#include <generated/ops/copy.h>
#include <generated/ops/fill.h>
#include <generated/ops/index.h>
#include <generated/ops/index_put.h>
#include <generated/ops/select.h>
#include <generated/ops/slice.h>
#include <generated/ops/to.h>
#include <generated/ops/unsqueeze.h>

namespace at::inline oploom_v1::python {
namespace {

// A tensor, array or list that selects elements one by one.
bool is_tensor_index(PyObject* item) {
  return is_tensor(item) || PyList_Check(item) || PyTuple_Check(item) || PyRange_Check(item) ||
         (has_array_interface(item) && !is_numpy_scalar(item));
}

bool is_boolean(PyObject* item) { return PyBool_Check(item) || is_numpy_bool(item); }

Tensor to_index_tensor(PyObject* item) {
  Tensor index =
      is_tensor(item) ? unpack(item) : tensor_from_data(item, std::nullopt, std::nullopt);
  if (index.numel() == 0 && !is_tensor(item) && index.is_floating_point()) {
    index = index.to(TensorOptions().dtype(kLong));  // x[[]]
  }
  const ScalarType type = index.scalar_type();
  OPLOOM_CHECK_INDEX(c10::isIntegralType(type, true),
                     "tensors used as indices must be integer or bool, got ", type);
  return index;
}

// Of bool, or of uint8 as older programs have it.
bool is_mask(const Tensor& index) {
  return index.scalar_type() == kBool || index.scalar_type() == kByte;
}

int64_t dimensions_of(const Tensor& index) { return is_mask(index) ? index.dim() : 1; }

// How many dimensions of the tensor an item of the index stands for.
int64_t dimensions_of(PyObject* item) {
  if (PySlice_Check(item) || is_integer(item, false)) return 1;  // the most frequent first
  if (item == Py_None || item == Py_Ellipsis || is_boolean(item)) return 0;
  if (is_tensor(item)) return dimensions_of(unpack(item));
  return is_tensor_index(item) ? dimensions_of(to_index_tensor(item)) : 1;
}

// A bound of a slice; numbers beyond 64 bits are as good as the nearest that fits.
int64_t slice_bound(PyObject* bound, int64_t otherwise) {
  if (bound == Py_None) return otherwise;
  Ref index(PyNumber_Index(bound));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow != 0) return overflow > 0 ? INT64_MAX : INT64_MIN;
  if (value == -1 && PyErr_Occurred()) throw PythonError();
  return value;
}

Tensor apply_slice(const Tensor& tensor, int64_t dim, PyObject* item) {
  auto* slice = reinterpret_cast<PySliceObject*>(item);
  const int64_t step = slice_bound(slice->step, 1);
  OPLOOM_CHECK_VALUE(step > 0, "slice(): expected a step greater than 0, got ", step);
  const int64_t start = slice_bound(slice->start, 0);
  const int64_t stop = slice_bound(slice->stop, INT64_MAX);
  if (start == 0 && stop == INT64_MAX && step == 1) return tensor;
  return call_view<_ops::slice_Tensor>(tensor, dim, std::optional<int64_t>(start),
                                       std::optional<int64_t>(stop), step);
}

Tensor apply_integer(const Tensor& tensor, int64_t dim, int64_t index, int64_t position) {
  OPLOOM_CHECK_INDEX(tensor.dim() > 0,
                     "a 0-d tensor cannot be indexed by an integer; use tensor.item()");
  const int64_t size = tensor.sizes()[static_cast<size_t>(dim)];
  OPLOOM_CHECK_INDEX(index >= -size && index < size, "index ", index,
                     " is out of bounds for dimension ", position, " with size ", size);
  return call_view<_ops::select_int>(tensor, dim, index);
}

// The view that the basic items select, and the index tensors with the dimensions they stand for.
struct Selection {
  Tensor view;
  std::vector<std::optional<Tensor>> indices;
  bool has_indices = false;
  // A mask is one entry of `indices` for all of its dimensions: so many more there are up to here.
  int64_t masked_dims = 0;

  void set_index(int64_t dim, Tensor index) {
    indices.resize(static_cast<size_t>(dim - masked_dims));
    masked_dims += dimensions_of(index) - 1;
    indices.emplace_back(std::move(index));
    has_indices = true;
  }
};

// Adds a dimension of size 1 that a boolean keeps or empties.
void apply_boolean(Selection& selection, int64_t& dim, bool value) {
  selection.view = call_view<_ops::unsqueeze>(selection.view, dim);
  Tensor index(at::detail::empty(IntArrayRef({value ? 1 : 0}), TensorOptions().dtype(kLong)));
  if (value) *index.mutable_data_ptr<int64_t>() = 0;
  selection.set_index(dim++, std::move(index));
}

void apply_item(Selection& selection, PyObject* item, int64_t& dim, int64_t& position) {
  if (is_integer(item, false)) {
    selection.view = apply_integer(selection.view, dim, to_integer(item), position++);
  } else if (PySlice_Check(item)) {
    selection.view = apply_slice(selection.view, dim++, item);
    ++position;
  } else if (item == Py_None) {
    selection.view = call_view<_ops::unsqueeze>(selection.view, dim++);
  } else if (is_boolean(item)) {
    apply_boolean(selection, dim, is_true(item));
  } else if (is_tensor(item) && unpack(item).dim() == 0) {
    const Tensor& index = unpack(item);
    if (is_mask(index)) {
      apply_boolean(selection, dim, is_true(item));
    } else {
      OPLOOM_CHECK_INDEX(c10::isIntegralType(index.scalar_type(), false),
                         "tensors used as indices must be integer or bool, got ",
                         index.scalar_type());
      selection.view = apply_integer(selection.view, dim, to_integer(item), position++);
    }
  } else if (is_tensor_index(item)) {
    Tensor index = to_index_tensor(item);
    const int64_t dims = dimensions_of(index);
    selection.set_index(dim, std::move(index));
    dim += dims;
    position += dims;
  } else if (PyIndex_Check(item)) {
    selection.view = apply_integer(selection.view, dim, to_integer(item), position++);
  } else {
    OPLOOM_CHECK_INDEX(false,
                       "expected integers, slices, '...', None, booleans, lists or tensors of "
                       "integers or booleans as an index, got ",
                       type_name(item));
  }
}

Selection select(const Tensor& tensor, PyObject* const* items, Py_ssize_t count) {
  int64_t specified = 0;
  bool has_ellipsis = false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    specified += dimensions_of(items[i]);
    if (items[i] != Py_Ellipsis) continue;
    OPLOOM_CHECK_INDEX(!has_ellipsis, "an index can have only one '...'");
    has_ellipsis = true;
  }
  OPLOOM_CHECK_INDEX(specified <= tensor.dim(), "too many indices: ", specified,
                     " for a tensor of ", tensor.dim(), " dimensions");
  Selection selection{tensor, {}};
  int64_t dim = 0;       // of the view made so far
  int64_t position = 0;  // of the original tensor, for messages
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (items[i] == Py_Ellipsis) {
      dim += tensor.dim() - specified;
      position += tensor.dim() - specified;
    } else {
      apply_item(selection, items[i], dim, position);
    }
  }
  return selection;
}

Selection select(const Tensor& tensor, PyObject* index) {
  if (PyTuple_CheckExact(index)) {
    return select(tensor, reinterpret_cast<PyTupleObject*>(index)->ob_item,
                  PyTuple_GET_SIZE(index));
  }
  return select(tensor, &index, 1);
}

PyObject* get_item(PyObject* self, PyObject* index) {
  try {
    const Tensor& tensor = unpack(self);
    if (PyLong_CheckExact(index)) {
      return wrap(apply_integer(tensor, 0, to_integer(index), 0));
    }
    Selection selection = select(tensor, index);
    if (selection.has_indices) {
      return wrap(c10::named("__getitem__", [&] {
        return call<_ops::index_Tensor>(selection.view, selection.indices);
      }));
    }
    // Every index gives a tensor of its own, x[...] and x[:] too.
    if (selection.view.is_same(tensor)) return wrap(call_view<_ops::alias>(tensor));
    return wrap(std::move(selection.view));
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

// The value to assign, of the dtype and on the device of the target.
Tensor value_tensor(const Tensor& target, PyObject* value) {
  if (is_tensor(value)) return unpack(value);
  if (is_number(value)) {
    Tensor number(at::detail::empty({}, TensorOptions().dtype(target.scalar_type())));
    write_element(number.mutable_data_ptr(), target.scalar_type(), value);
    return target.is_cpu() ? number : number.to(TensorOptions().device(target.device()));
  }
  return tensor_from_data(value, target.scalar_type(), target.device());
}

// Leading dimensions of size 1 beyond the first `dim` are dropped, as NumPy does.
Tensor without_leading_ones(Tensor value, int64_t dim) {
  while (value.dim() > dim && value.sizes()[0] == 1) {
    value = call_view<_ops::select_int>(value, 0, 0);
  }
  return value;
}

void assign(Selection& selection, PyObject* value) {
  Tensor& target = selection.view;
  if (selection.has_indices) {
    const Tensor values = value_tensor(target, value);
    OPLOOM_CHECK(!values.is_complex() || target.is_complex(),
                 "__setitem__(): expected real values for a tensor of dtype ", target.scalar_type(),
                 ", got ", values.scalar_type(), "; take their .real or .abs()");
    const Tensor converted =
        values.scalar_type() == target.scalar_type() ? values : values.to(target.options());
    call<_ops::index_put_>(target, selection.indices, without_leading_ones(converted, 0), false);
  } else if (is_number(value) && !is_numpy_scalar(value)) {
    call<_ops::fill__Scalar>(target, to_scalar(value));
  } else {
    call<_ops::copy_>(target, without_leading_ones(value_tensor(target, value), target.dim()),
                      false);
  }
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  return guarded(-1, [&] {
    OPLOOM_CHECK_TYPE(value != nullptr, "elements of a tensor cannot be deleted");
    Selection selection = select(unpack(self), index);
    c10::named("__setitem__", [&] { assign(selection, value); });
    return 0;
  });
}

Py_ssize_t length(PyObject* self) {
  return guarded(Py_ssize_t{-1}, [&] {
    const Tensor& tensor = unpack(self);
    OPLOOM_CHECK_TYPE(tensor.dim() > 0, "len() of a 0-d tensor");
    return static_cast<Py_ssize_t>(tensor.sizes()[0]);
  });
}

}  // namespace

PyMappingMethods mapping_methods = {length, get_item, set_item};

}  // namespace at::inline oploom_v1::python
