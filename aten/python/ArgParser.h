// Overload resolution and argument conversion for the generated Python functions.
//
// A generated function lists its signatures as text, in the schema language. They are parsed on the
// first call. A call is tried against each signature in order, first taking every argument for what
// it is, then once more also taking 0-d tensors and NumPy scalars for numbers, so that a tensor
// goes to the overload that wants one. The common case, positional arguments that fit the first
// signature, allocates nothing.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <aten/python/PyTensor.h>
#include <aten/python/Types.h>
#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace at::inline oploom_v1::python {

enum class ParamType : uint8_t {
  kTensor,
  kScalar,
  kInt,
  kFloat,
  kBool,
  kScalarType,
  kLayout,
  kDevice,
  kMemoryFormat,
  kGenerator,
  kString,
  kIntList,
  kFloatList,
  kBoolList,
  kScalarList,
  kTensorList,
  kOptionalTensorList,
  kObject,  // anything; hand-written functions look at it themselves
};

// Where a signature can be called: `oploom.add(a, b)`, `a.add(b)` or both.
enum Use : uint8_t { kFunction = 1, kMethod = 2, kBoth = 3 };

struct SignatureText {
  Use use;
  const char* text;  // "add(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None)"
};

struct Param {
  PyObject* name;   // interned
  PyObject* alias;  // another name callers may use (`axis` for `dim`), or null; interned
  ParamType type;
  bool optional;  // None is a value of it
  bool keyword_only;
  bool has_default;
  bool function_only;     // `out`, which methods do not take
  int64_t list_size;      // of `int[2]`; such a list can be given as one number; 0 if not stated
  std::string type_text;  // as written, for error messages
};

struct Signature {
  Use use = kBoth;
  const char* text = nullptr;
  std::vector<Param> params;
  int self_index = -1;
  int positional = 0;  // number of parameters that may be given by position
  int tensors = 0;     // number of parameters before the first that is not a positional tensor
  int required = 0;    // number of parameters up to the last that has no default
};

// Owns the integers that an optional list refers to.
struct OptionalIntegers {
  std::optional<DimVector> values;
  operator OptionalIntArrayRef() const {
    return values.has_value() ? OptionalIntArrayRef(*values) : OptionalIntArrayRef();
  }
};

// What a call was resolved to: one borrowed object for each parameter of the signature chosen.
class OPLOOM_API Arguments {
 public:
  static constexpr int kMax = 24;

  // True if the argument was given, and is not None.
  bool given(int i) const { return slots_[i] != nullptr && slots_[i] != Py_None; }

  const Tensor& tensor(int i) const { return unpack(slots_[i]); }
  Tensor& mutable_tensor(int i) const { return reinterpret_cast<PyTensor*>(slots_[i])->tensor; }
  std::optional<Tensor> optional_tensor(int i) const {
    return given(i) ? std::optional<Tensor>(unpack(slots_[i])) : std::nullopt;
  }
  std::vector<Tensor> tensors(int i) const;
  std::vector<std::optional<Tensor>> optional_tensors(int i) const;
  // The N tensors of an `out=` argument of several outputs.
  template <size_t N>
  std::array<Tensor, N> outs(int i) const;

  Scalar scalar(int i) const;
  Scalar scalar(int i, const Scalar& otherwise) const { return given(i) ? scalar(i) : otherwise; }
  std::optional<Scalar> optional_scalar(int i) const {
    return given(i) ? std::optional<Scalar>(scalar(i)) : std::nullopt;
  }

  int64_t integer(int i) const;
  int64_t integer(int i, int64_t otherwise) const { return given(i) ? integer(i) : otherwise; }
  std::optional<int64_t> optional_integer(int i) const {
    return given(i) ? std::optional<int64_t>(integer(i)) : std::nullopt;
  }

  double number(int i) const;
  double number(int i, double otherwise) const { return given(i) ? number(i) : otherwise; }
  std::optional<double> optional_number(int i) const {
    return given(i) ? std::optional<double>(number(i)) : std::nullopt;
  }

  bool boolean(int i) const;
  bool boolean(int i, bool otherwise) const { return given(i) ? boolean(i) : otherwise; }
  std::optional<bool> optional_boolean(int i) const {
    return given(i) ? std::optional<bool>(boolean(i)) : std::nullopt;
  }

  ScalarType scalar_type(int i) const { return to_scalar_type(slots_[i]); }
  ScalarType scalar_type(int i, ScalarType otherwise) const {
    return given(i) ? scalar_type(i) : otherwise;
  }
  std::optional<ScalarType> optional_scalar_type(int i) const {
    return given(i) ? std::optional<ScalarType>(scalar_type(i)) : std::nullopt;
  }
  Layout layout(int i) const { return to_layout(slots_[i]); }
  std::optional<Layout> optional_layout(int i) const {
    return given(i) ? std::optional<Layout>(layout(i)) : std::nullopt;
  }
  Device device(int i) const { return to_device(slots_[i]); }
  std::optional<Device> optional_device(int i) const {
    return given(i) ? std::optional<Device>(device(i)) : std::nullopt;
  }
  MemoryFormat memory_format(int i) const { return to_memory_format(slots_[i]); }
  MemoryFormat memory_format(int i, MemoryFormat otherwise) const {
    return given(i) ? memory_format(i) : otherwise;
  }
  std::optional<MemoryFormat> optional_memory_format(int i) const {
    return given(i) ? std::optional<MemoryFormat>(memory_format(i)) : std::nullopt;
  }
  std::optional<Generator> optional_generator(int i) const {
    return given(i) ? std::optional<Generator>(to_generator(slots_[i])) : std::nullopt;
  }

  // Valid as long as the Python string, which the caller's frame keeps.
  std::string_view string(int i) const;
  std::string_view string(int i, std::string_view otherwise) const {
    return given(i) ? string(i) : otherwise;
  }
  std::optional<std::string_view> optional_string(int i) const {
    return given(i) ? std::optional<std::string_view>(string(i)) : std::nullopt;
  }

  // `size` numbers from one where the schema states a size and the caller gave one number.
  DimVector integers(int i, int64_t size = 0) const;
  DimVector integers_or(int i, IntArrayRef otherwise, int64_t size = 0) const {
    return given(i) ? integers(i, size) : DimVector(otherwise.begin(), otherwise.end());
  }
  OptionalIntegers optional_integers(int i, int64_t size = 0) const {
    return given(i) ? OptionalIntegers{integers(i, size)} : OptionalIntegers{};
  }
  std::vector<double> numbers(int i) const;
  std::optional<std::vector<double>> optional_numbers(int i) const {
    return given(i) ? std::optional<std::vector<double>>(numbers(i)) : std::nullopt;
  }
  std::vector<Scalar> scalars(int i) const;
  template <size_t N>
  std::array<bool, N> booleans(int i) const;

  PyObject* object(int i) const { return slots_[i]; }

 private:
  friend class Parser;
  PyObject* slots_[kMax];
  PyObject* const* varargs_ = nullptr;  // sizes given one by one: x.view(2, 3)
  Py_ssize_t varargs_size_ = 0;
};

class OPLOOM_API Parser {
 public:
  template <size_t N>
  constexpr Parser(const char* name, const SignatureText (&texts)[N])
      : name_(name), texts_(texts), count_(static_cast<int>(N)) {}

  // The index of the signature that the call fits. `self` is the object that a method was called
  // on, null for a function. Throws PythonError (TypeError) if there is none.
  int parse(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
            Arguments& out);

 private:
  void prepare();
  // bind() for the most frequent call: all arguments are tensors, given by position.
  static bool bind_tensors(const Signature& signature, PyObject* self, PyObject* const* args,
                           Py_ssize_t nargs, Arguments& out);
  bool bind(const Signature& signature, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
            PyObject* kwnames, bool lenient, Arguments& out, std::string* why) const;
  [[noreturn]] void fail(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames) const;

  const char* name_;
  const SignatureText* texts_;
  int count_;
  // Made on the first call and never freed: a function may run until the process ends.
  std::vector<Signature>* signatures_ = nullptr;
};

// Conversions that hand-written functions share with the generated ones.
OPLOOM_API bool is_python_number(PyObject* object);  // bool, int, float or complex
OPLOOM_API bool is_numpy_scalar(PyObject* object);
OPLOOM_API bool is_numpy_bool(PyObject* object);
OPLOOM_API bool is_integer(PyObject* object, bool lenient);  // not bool
OPLOOM_API int64_t to_integer(PyObject* object);
OPLOOM_API double to_number(PyObject* object);
OPLOOM_API Scalar to_scalar(PyObject* object);
OPLOOM_API DimVector to_integers(PyObject* object);  // of a sequence of integers
OPLOOM_API std::string type_name(PyObject* object);  // as error messages name it
// A signature without `out`, which methods do not take.
std::string as_method_text(std::string text);

template <size_t N>
std::array<Tensor, N> Arguments::outs(int i) const {
  std::vector<Tensor> list = tensors(i);
  if (list.size() != N) {
    PyErr_Format(PyExc_TypeError, "expected a tuple of %zu tensors for 'out', got %zu", N,
                 list.size());
    throw PythonError();
  }
  std::array<Tensor, N> result;
  for (size_t k = 0; k < N; ++k) result[k] = std::move(list[k]);
  return result;
}

template <size_t N>
std::array<bool, N> Arguments::booleans(int i) const {
  std::array<bool, N> result{};
  PyObject* list = slots_[i];
  if (PySequence_Size(list) != static_cast<Py_ssize_t>(N)) {
    PyErr_Format(PyExc_TypeError, "expected %zu booleans", N);
    throw PythonError();
  }
  for (size_t k = 0; k < N; ++k) {
    Ref item(PySequence_GetItem(list, static_cast<Py_ssize_t>(k)));
    result[k] = item.get() == Py_True;
  }
  return result;
}

// ---- Calling operators ----

// Below this many elements an operator is over before another thread would have had its turn.
constexpr int64_t kReleaseGilElements = 4096;

inline int64_t elements(const Tensor& tensor) { return tensor.numel(); }
inline int64_t elements(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? tensor->numel() : 0;
}
inline int64_t elements(const std::vector<Tensor>& tensors) {
  int64_t sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.numel();
  return sum;
}
template <class T>
int64_t elements(const T&) {
  return 0;
}

// Calls an operator, without the GIL where the call may take long.
template <class Operator, class... Args>
decltype(auto) call(Args&&... args) {
  ReleaseGil release((elements(args) + ... + 0) >= kReleaseGilElements);
  return Operator::call(std::forward<Args>(args)...);
}

// The elements of a tensor of these sizes. Other arguments than sizes do not tell.
inline int64_t elements_of_sizes(const DimVector& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) {
    if (size == 0) return 0;
    if (size < 0 || size > kReleaseGilElements) return kReleaseGilElements;
    product = std::min(product * size, kReleaseGilElements);
  }
  return product;
}
template <class T>
int64_t elements_of_sizes(const T&) {
  return 0;
}

// Calls an operator that makes a tensor from nothing: from sizes, or from numbers that may make a
// large one.
template <class Operator, class... Args>
decltype(auto) call_factory(Args&&... args) {
  constexpr bool kSizes = (std::is_same_v<std::decay_t<Args>, DimVector> || ...);
  ReleaseGil release(!kSizes || (elements_of_sizes(args) + ... + 0) >= kReleaseGilElements);
  return Operator::call(std::forward<Args>(args)...);
}

// Calls an operator that only makes a view.
template <class Operator, class... Args>
decltype(auto) call_view(Args&&... args) {
  return Operator::call(std::forward<Args>(args)...);
}

using Implementation = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

// Entry points made of one implementation: as a method, and as a function of a module.
template <Implementation implementation>
PyObject* as_method(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  try {
    return implementation(self, args, nargs, kwnames);
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

template <Implementation implementation>
PyObject* as_function(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return as_method<implementation>(nullptr, args, nargs, kwnames);
}

using FastFunction = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

inline PyMethodDef method_entry(const char* name, FastFunction function, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_FASTCALL | METH_KEYWORDS, doc};
}

}  // namespace at::inline oploom_v1::python
