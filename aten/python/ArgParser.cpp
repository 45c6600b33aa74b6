// Parses signatures, matches calls against them, and explains calls that fit none.
#include <aten/python/ArgParser.h>
#include <aten/python/Elements.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace at::inline oploom_v1::python {
namespace {

// ---- Signatures ----

struct TypeName {
  std::string_view text;
  ParamType type;
  ParamType list;
};

constexpr TypeName kTypeNames[] = {
    {"Tensor", ParamType::kTensor, ParamType::kTensorList},
    {"Scalar", ParamType::kScalar, ParamType::kScalarList},
    {"int", ParamType::kInt, ParamType::kIntList},
    {"float", ParamType::kFloat, ParamType::kFloatList},
    {"bool", ParamType::kBool, ParamType::kBoolList},
    {"ScalarType", ParamType::kScalarType, ParamType::kScalarType},
    {"Layout", ParamType::kLayout, ParamType::kLayout},
    {"Device", ParamType::kDevice, ParamType::kDevice},
    {"MemoryFormat", ParamType::kMemoryFormat, ParamType::kMemoryFormat},
    {"Generator", ParamType::kGenerator, ParamType::kGenerator},
    {"str", ParamType::kString, ParamType::kString},
    {"object", ParamType::kObject, ParamType::kObject},
};

// `Tensor`, `Tensor?`, `int[2]`, `int[1]?`, `Tensor?[]`.
void parse_type(std::string_view text, Param& param) {
  param.type_text = std::string(text);
  if (text.ends_with("?")) {
    param.optional = true;
    text.remove_suffix(1);
  }
  bool list = false;
  if (text.ends_with("]")) {
    const size_t bracket = text.find('[');
    list = true;
    param.list_size = std::atoi(std::string(text.substr(bracket + 1)).c_str());
    text = text.substr(0, bracket);
  }
  bool optional_elements = false;
  if (text.ends_with("?")) {
    optional_elements = true;
    text.remove_suffix(1);
  }
  for (const TypeName& known : kTypeNames) {
    if (known.text == text) {
      param.type = list ? known.list : known.type;
      if (optional_elements) param.type = ParamType::kOptionalTensorList;
      return;
    }
  }
  OPLOOM_INTERNAL_ASSERT(false, "unknown type '", std::string(text), "' in a Python signature");
}

PyObject* interned(std::string_view text) {
  PyObject* name = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (name == nullptr) throw PythonError();
  PyUnicode_InternInPlace(&name);
  return name;
}

// As the module `keyword` says; C has no function for it.
bool is_keyword(std::string_view name) {
  const Ref module(PyImport_ImportModule("keyword"));
  const Ref words(PyObject_GetAttrString(module.get(), "kwlist"));
  const Ref text(PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
  const int found = PySequence_Contains(words.get(), text.get());
  if (found < 0) throw PythonError();
  return found == 1;
}

// The name that NumPy's users, or callers of the function form, give to the same argument; that of
// `from`, which no call can spell, is `from_`, as in the type stubs.
std::string alias_of(std::string_view name) {
  if (name == "self") return "input";
  if (name == "dim") return "axis";
  if (name == "keepdim") return "keepdims";
  return is_keyword(name) ? std::string(name) + "_" : "";
}

Signature parse_signature(const SignatureText& source) {
  Signature signature;
  signature.use = source.use;
  signature.text = source.text;
  std::string_view text = source.text;
  text = text.substr(text.find('(') + 1);
  text.remove_suffix(1);  // the closing parenthesis
  bool keyword_only = false;
  while (!text.empty()) {
    // Up to the next comma outside of brackets: defaults can be lists.
    size_t end = 0;
    for (int depth = 0; end < text.size() && !(text[end] == ',' && depth == 0); ++end) {
      if (text[end] == '[' || text[end] == '(') ++depth;
      if (text[end] == ']' || text[end] == ')') --depth;
    }
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 2));
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    Param param{};
    const size_t equals = part.find('=');
    param.has_default = equals != std::string_view::npos;
    // None stands for no list, too: `dim=None` for `dim=[]`.
    const std::string_view value = param.has_default ? part.substr(equals + 1) : "";
    const bool default_none = value == "None" || value == "[]";
    part = part.substr(0, equals);
    const size_t space = part.rfind(' ');
    const std::string_view name = part.substr(space + 1);
    parse_type(part.substr(0, space), param);
    param.optional = param.optional || default_none;
    param.keyword_only = keyword_only;
    param.name = interned(name);
    const std::string alias = alias_of(name);
    param.alias = alias.empty() ? nullptr : interned(alias);
    param.function_only = name == "out" && keyword_only;
    if (name == "self") signature.self_index = static_cast<int>(signature.params.size());
    if (!keyword_only) ++signature.positional;
    const int index = static_cast<int>(signature.params.size());
    if (index == signature.tensors && param.type == ParamType::kTensor && !keyword_only) {
      ++signature.tensors;
    }
    if (!param.has_default) signature.required = index + 1;
    signature.params.push_back(std::move(param));
  }
  OPLOOM_INTERNAL_ASSERT(signature.params.size() <= Arguments::kMax,
                         "too many parameters: ", source.text);
  return signature;
}

// ---- Numbers ----

PyObject* numpy_attribute(const char* name) {
  // Without NumPy imported, no object can be one of its scalars.
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* numpy = PyDict_GetItemString(modules, "numpy");
  if (numpy == nullptr) return nullptr;
  PyObject* attribute = PyObject_GetAttrString(numpy, name);
  if (attribute == nullptr) PyErr_Clear();
  return attribute;
}

bool is_instance_of_numpy(PyObject* object, const char* name, PyObject*& cache) {
  if (cache == nullptr) cache = numpy_attribute(name);
  return cache != nullptr && PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(cache));
}

bool is_number_tensor(PyObject* object) {
  return is_tensor(object) && unpack(object).dim() == 0 && !unpack(object).requires_grad();
}

bool is_scalar(PyObject* object, bool lenient) {
  if (is_python_number(object)) return true;
  return lenient && (is_numpy_scalar(object) || is_number_tensor(object));
}

bool is_float(PyObject* object, bool lenient) {
  if (PyFloat_Check(object) || PyLong_Check(object)) return true;
  return lenient && (is_numpy_scalar(object) || is_number_tensor(object));
}

template <class Check>
bool all_items(PyObject* object, Check&& check) {
  PyObject** items;
  Py_ssize_t size;
  if (PyTuple_Check(object)) {
    items = reinterpret_cast<PyTupleObject*>(object)->ob_item;
    size = PyTuple_GET_SIZE(object);
  } else if (PyList_Check(object)) {
    items = reinterpret_cast<PyListObject*>(object)->ob_item;
    size = PyList_GET_SIZE(object);
  } else {
    return false;
  }
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (!check(items[i])) return false;
  }
  return true;
}

bool accepts(const Param& param, PyObject* value, bool lenient) {
  if (value == Py_None && param.optional) return true;
  switch (param.type) {
    case ParamType::kTensor:
      return is_tensor(value);
    case ParamType::kScalar:
      return is_scalar(value, lenient);
    case ParamType::kInt:
      return is_integer(value, lenient);
    case ParamType::kFloat:
      return is_float(value, lenient);
    case ParamType::kBool:
      return PyBool_Check(value) || (lenient && is_numpy_bool(value));
    case ParamType::kScalarType:
      return is_scalar_type(value);
    case ParamType::kLayout:
      return is_layout(value);
    case ParamType::kDevice:
      return is_device(value) || PyUnicode_Check(value);
    case ParamType::kMemoryFormat:
      return is_memory_format(value);
    case ParamType::kGenerator:
      return is_generator(value);
    case ParamType::kString:
      return PyUnicode_Check(value);
    case ParamType::kIntList:
      if (param.list_size > 0 && is_integer(value, lenient)) return true;
      return all_items(value, [&](PyObject* item) { return is_integer(item, true); });
    case ParamType::kFloatList:
      return all_items(value, [&](PyObject* item) { return is_float(item, lenient); });
    case ParamType::kBoolList:
      return all_items(value, [](PyObject* item) { return PyBool_Check(item) != 0; });
    case ParamType::kScalarList:
      return all_items(value, [&](PyObject* item) { return is_scalar(item, lenient); });
    case ParamType::kTensorList:
      return all_items(value, [](PyObject* item) { return is_tensor(item); });
    case ParamType::kOptionalTensorList:
      return all_items(value, [](PyObject* item) { return item == Py_None || is_tensor(item); });
    case ParamType::kObject:
      return true;
  }
  return false;
}

std::string as_text(PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (text == nullptr) throw PythonError();
  return text;
}

std::string module_name(PyTypeObject* type) {
  Ref module(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__"));
  return PyUnicode_Check(module.get()) ? as_text(module.get()) : "?";
}

// The keyword argument called `name`, or null.
PyObject* keyword(PyObject* kwnames, PyObject* const* values, PyObject* name) {
  const Py_ssize_t size = PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (PyTuple_GET_ITEM(kwnames, i) == name) return values[i];
  }
  // Names made at run time (`f(**{...})`) need not be interned.
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (PyUnicode_Compare(PyTuple_GET_ITEM(kwnames, i), name) == 0) return values[i];
  }
  return nullptr;
}

}  // namespace

bool is_python_number(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object);
}

bool is_numpy_scalar(PyObject* object) {
  static PyObject* number = nullptr;
  return is_instance_of_numpy(object, "number", number) || is_numpy_bool(object);
}

bool is_numpy_bool(PyObject* object) {
  static PyObject* boolean = nullptr;
  return is_instance_of_numpy(object, "bool_", boolean);
}

bool is_integer(PyObject* object, bool lenient) {
  if (PyLong_Check(object)) return !PyBool_Check(object);
  if (!lenient) return false;
  if (is_tensor(object)) {
    const Tensor& tensor = unpack(object);
    return tensor.numel() == 1 && c10::isIntegralType(tensor.scalar_type(), false) &&
           tensor.dim() == 0;
  }
  // Arrays can be an index, too, if they have one element; here they stay arrays.
  return PyIndex_Check(object) && !PySequence_Check(object) && !is_numpy_bool(object);
}

int64_t to_integer(PyObject* object) {
  if (!PyLong_Check(object)) {
    Ref index(PyNumber_Index(object));
    return to_integer(index.get());
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) {
    PyErr_Format(PyExc_OverflowError, "expected an integer from -2**63 to 2**63 - 1, got %.60S",
                 object);
    throw PythonError();
  }
  return value;
}

double to_number(PyObject* object) {
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  const double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) throw PythonError();
  return value;
}

Scalar to_scalar(PyObject* object) {
  if (PyFloat_Check(object)) return Scalar(PyFloat_AS_DOUBLE(object));
  if (PyBool_Check(object)) return Scalar(object == Py_True);
  if (PyLong_Check(object)) return Scalar(to_integer(object));
  if (is_tensor(object)) return item(unpack(object), "item");
  if (PyComplex_Check(object)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    return Scalar(c10::complex<double>(value.real, value.imag));
  }
  if (is_numpy_scalar(object)) {
    Ref value(PyObject_CallMethod(object, "item", nullptr));
    if (is_python_number(value.get())) return to_scalar(value.get());
  }
  PyErr_Format(PyExc_TypeError, "expected a number, got %s", type_name(object).c_str());
  throw PythonError();
}

DimVector to_integers(PyObject* object) {
  DimVector result;
  if (is_integer(object, true)) {
    result.push_back(to_integer(object));
    return result;
  }
  Ref items(PySequence_Fast(object, "expected a sequence of integers"));
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(items.get());
  for (Py_ssize_t i = 0; i < size; ++i) {
    result.push_back(to_integer(PySequence_Fast_GET_ITEM(items.get(), i)));
  }
  return result;
}

std::string type_name(PyObject* object) {
  if (object == Py_None) return "None";
  if (is_tensor(object))
    return Py_TYPE(object) == &TensorType ? "Tensor" : Py_TYPE(object)->tp_name;
  std::string name = Py_TYPE(object)->tp_name;
  // Classes written in Python do not say where they are from, and there are other Tensors.
  if (name == "Tensor") name = module_name(Py_TYPE(object)) + ".Tensor";
  if (name.starts_with("oploom.")) name = name.substr(7);
  if ((PyTuple_Check(object) || PyList_Check(object)) && PySequence_Size(object) > 0) {
    Ref first(PySequence_GetItem(object, 0));
    const std::string kind = type_name(first.get());
    name += " of " + kind;
    // The first that is of another kind, which may be what is wrong.
    for (Py_ssize_t i = 1; i < PySequence_Size(object); ++i) {
      Ref item(PySequence_GetItem(object, i));
      if (Py_TYPE(item.get()) == Py_TYPE(first.get())) continue;
      name += " and " + type_name(item.get());
      break;
    }
  }
  return name;
}

std::string as_method_text(std::string text) {
  const size_t end = text.find(" out=None");
  if (end == std::string::npos) return text;
  const size_t begin = text.rfind(',', end);
  text.erase(begin, end + std::string_view(" out=None").size() - begin);
  if (const size_t star = text.find(", *)"); star != std::string::npos) text.erase(star, 3);
  return text;
}

// ---- Arguments ----

std::vector<Tensor> Arguments::tensors(int i) const {
  std::vector<Tensor> result;
  all_items(slots_[i], [&](PyObject* item) {
    result.push_back(unpack(item));
    return true;
  });
  return result;
}

std::vector<std::optional<Tensor>> Arguments::optional_tensors(int i) const {
  std::vector<std::optional<Tensor>> result;
  all_items(slots_[i], [&](PyObject* item) {
    result.push_back(item == Py_None ? std::nullopt : std::optional<Tensor>(unpack(item)));
    return true;
  });
  return result;
}

Scalar Arguments::scalar(int i) const { return to_scalar(slots_[i]); }
int64_t Arguments::integer(int i) const { return to_integer(slots_[i]); }
double Arguments::number(int i) const { return to_number(slots_[i]); }

bool Arguments::boolean(int i) const { return is_true(slots_[i]); }

std::string_view Arguments::string(int i) const {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(slots_[i], &size);
  if (text == nullptr) throw PythonError();
  return {text, static_cast<size_t>(size)};
}

DimVector Arguments::integers(int i, int64_t size) const {
  DimVector result;
  if (varargs_ != nullptr && slots_[i] == varargs_[0]) {
    for (Py_ssize_t k = 0; k < varargs_size_; ++k) result.push_back(to_integer(varargs_[k]));
    return result;
  }
  PyObject* value = slots_[i];
  if (is_integer(value, true)) {
    const int64_t number = to_integer(value);
    for (int64_t k = 0; k < std::max<int64_t>(size, 1); ++k) result.push_back(number);
    return result;
  }
  all_items(value, [&](PyObject* item) {
    result.push_back(to_integer(item));
    return true;
  });
  return result;
}

std::vector<double> Arguments::numbers(int i) const {
  std::vector<double> result;
  all_items(slots_[i], [&](PyObject* item) {
    result.push_back(to_number(item));
    return true;
  });
  return result;
}

std::vector<Scalar> Arguments::scalars(int i) const {
  std::vector<Scalar> result;
  all_items(slots_[i], [&](PyObject* item) {
    result.push_back(to_scalar(item));
    return true;
  });
  return result;
}

// ---- Parser ----

void Parser::prepare() {
  auto signatures = std::make_unique<std::vector<Signature>>();
  for (int i = 0; i < count_; ++i) signatures->push_back(parse_signature(texts_[i]));
  signatures_ = signatures.release();
}

bool Parser::bind_tensors(const Signature& signature, PyObject* self, PyObject* const* args,
                          Py_ssize_t nargs, Arguments& out) {
  const bool as_method = self != nullptr;
  if (as_method && signature.self_index != 0) return false;
  const Py_ssize_t given = nargs + as_method;
  if (given > signature.tensors || given < signature.required) return false;
  if (as_method) out.slots_[0] = self;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    if (!is_tensor(args[i])) return false;
    out.slots_[as_method + i] = args[i];
  }
  std::fill(out.slots_ + given, out.slots_ + signature.params.size(), nullptr);
  out.varargs_ = nullptr;
  return true;
}

bool Parser::bind(const Signature& signature, PyObject* self, PyObject* const* args,
                  Py_ssize_t nargs, PyObject* kwnames, bool lenient, Arguments& out,
                  std::string* why) const {
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  const bool as_method = self != nullptr;
  const int count = static_cast<int>(signature.params.size());
  const int free_positions = signature.positional - (as_method && signature.self_index >= 0);
  Py_ssize_t position = 0;
  Py_ssize_t keywords_used = 0;
  out.varargs_ = nullptr;
  for (int i = 0; i < count; ++i) {
    const Param& param = signature.params[i];
    if (as_method && i == signature.self_index) {
      out.slots_[i] = self;
      continue;
    }
    PyObject* value = nullptr;
    if (!param.keyword_only && position < nargs) {
      value = args[position];
      if (OPLOOM_UNLIKELY(param.type == ParamType::kIntList) && free_positions == 1 &&
          is_integer(value, lenient)) {
        for (Py_ssize_t k = position; k < nargs; ++k) {
          if (!is_integer(args[k], true)) {
            if (why != nullptr) *why = "'" + as_text(param.name) + "' must be integers";
            return false;
          }
        }
        out.varargs_ = args + position;
        out.varargs_size_ = nargs - position;
        out.slots_[i] = value;
        position = nargs;
        continue;
      }
      ++position;
    } else if (keywords != 0 && !(as_method && param.function_only)) {
      value = keyword(kwnames, args + nargs, param.name);
      if (value == nullptr && param.alias != nullptr) {
        value = keyword(kwnames, args + nargs, param.alias);
      }
      if (value != nullptr) ++keywords_used;
    }
    if (value == nullptr) {
      if (!param.has_default) {
        if (why != nullptr) *why = "'" + as_text(param.name) + "' is missing";
        return false;
      }
      out.slots_[i] = nullptr;
      continue;
    }
    if (!accepts(param, value, lenient)) {
      if (why != nullptr) {
        *why = "'" + as_text(param.name) + "' must be " + param.type_text + ", got " +
               type_name(value);
      }
      return false;
    }
    out.slots_[i] = value;
  }
  if (position == nargs && keywords_used == keywords) return true;
  if (why == nullptr) return false;
  if (position < nargs) {
    *why = "takes " + std::to_string(free_positions) + " positional arguments, got " +
           std::to_string(nargs);
    return false;
  }
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, i);
    bool known = false;
    for (int k = 0; k < count; ++k) {
      const Param& param = signature.params[k];
      const bool matches = PyUnicode_Compare(param.name, name) == 0 ||
                           (param.alias && PyUnicode_Compare(param.alias, name) == 0);
      if (!matches) continue;
      known = !(as_method && param.function_only);
    }
    *why = known ? "'" + as_text(name) + "' is given twice"
                 : "has no argument '" + as_text(name) + "'";
    if (!known) break;
  }
  return false;
}

int Parser::parse(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                  Arguments& out) {
  if (OPLOOM_UNLIKELY(signatures_ == nullptr)) prepare();
  const Use use = self == nullptr ? kFunction : kMethod;
  const Signature& first = signatures_->front();
  if ((first.use & use) != 0 && kwnames == nullptr && bind_tensors(first, self, args, nargs, out)) {
    return 0;
  }
  for (const bool lenient : {false, true}) {
    int index = 0;
    for (const Signature& signature : *signatures_) {
      if ((signature.use & use) != 0 &&
          bind(signature, self, args, nargs, kwnames, lenient, out, nullptr)) {
        return index;
      }
      ++index;
    }
  }
  fail(self, args, nargs, kwnames);
}

void Parser::fail(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                  PyObject* kwnames) const {
  std::string message = std::string(name_) + "(): got (";
  std::string separator;
  if (self != nullptr) {
    message += type_name(self);
    separator = ", ";
  }
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    message += separator + type_name(args[i]);
    separator = ", ";
  }
  const Py_ssize_t keywords = kwnames == nullptr ? 0 : PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    message += separator + as_text(PyTuple_GET_ITEM(kwnames, i)) + "=" + type_name(args[nargs + i]);
    separator = ", ";
  }
  message += "); expected one of:";
  const Use use = self == nullptr ? kFunction : kMethod;
  for (const Signature& signature : *signatures_) {
    if ((signature.use & use) == 0) continue;
    Arguments unused;
    std::string why;
    bind(signature, self, args, nargs, kwnames, true, unused, &why);
    message += "\n  ";
    message += self == nullptr ? signature.text : as_method_text(signature.text);
    message += "  # " + why;
  }
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw PythonError();
}

}  // namespace at::inline oploom_v1::python
