// The extension module oploom._C: types, functions, and the settings of the process; and the
// extension modules of packages, which hold functions only.
#include <aten/core/Empty.h>
#include <aten/core/Formatting.h>
#include <aten/core/Parallel.h>
#include <aten/python/ArgParser.h>
#include <aten/python/Elements.h>
#include <aten/python/Generated.h>
#include <aten/python/Interchange.h>
#include <aten/python/Node.h>
#include <aten/python/TensorNew.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/Generator.h>
#include <c10/util/Exception.h>
#include <generated/ops/detach.h>

#include <cstring>

namespace at::inline oploom_v1::python {

extern PyMethodDef autograd_functions[];  // Autograd.cpp

namespace {

// ---- Random numbers ----

constexpr SignatureText kManualSeedSignatures[] = {{kFunction, "manual_seed(int seed)"}};

PyObject* manual_seed(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit Parser parser("manual_seed", kManualSeedSignatures);
  Arguments a;
  parser.parse(self, args, nargs, kwnames, a);
  Ref generator(wrap(c10::default_generator()));
  Ref name(PyUnicode_FromString("manual_seed"));
  return PyObject_CallMethodOneArg(generator.get(), name.get(), a.object(0));
}

PyObject* py_initial_seed(PyObject*, PyObject*) {
  return guarded(
      [&] { return PyLong_FromUnsignedLongLong(c10::default_generator().current_seed()); });
}

// ---- Types ----

PyObject* py_get_default_dtype(PyObject*, PyObject*) { return wrap(c10::get_default_dtype()); }

PyObject* py_set_default_dtype(PyObject*, PyObject* dtype) {
  return guarded([&]() -> PyObject* {
    c10::set_default_dtype(to_scalar_type(dtype));
    Py_RETURN_NONE;
  });
}

// ---- Threads, instruction sets, memory ----

PyObject* py_get_num_threads(PyObject*, PyObject*) {
  return guarded([&] { return PyLong_FromLong(at::get_num_threads()); });
}

constexpr SignatureText kSetNumThreadsSignatures[] = {{kFunction, "set_num_threads(int threads)"}};

PyObject* set_num_threads(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames) {
  static constinit Parser parser("set_num_threads", kSetNumThreadsSignatures);
  Arguments a;
  parser.parse(self, args, nargs, kwnames, a);
  const int64_t count = a.integer(0);
  OPLOOM_CHECK_VALUE(count > 0 && count < 100000,
                     "set_num_threads(): expected a positive number, got ", count);
  at::set_num_threads(static_cast<int>(count));
  Py_RETURN_NONE;
}

PyObject* py_get_cpu_capability(PyObject*, PyObject*) {
  return guarded([&] { return to_python(at::get_cpu_capability()); });
}

PyObject* py_memory_stats(PyObject*, PyObject*) {
  return guarded([&] {
    const c10::MemoryStats stats = c10::cpu_allocator::memory_stats();
    const auto number = [](int64_t value) { return static_cast<long long>(value); };
    return Py_BuildValue("{sLsLsLsLsLsLsLsL}", "allocated_bytes", number(stats.allocated_bytes),
                         "peak_bytes", number(stats.peak_bytes), "reserved_bytes",
                         number(stats.reserved_bytes), "allocated_blocks",
                         number(stats.allocated_blocks), "num_allocs", number(stats.num_allocs),
                         "num_frees", number(stats.num_frees), "num_system_allocs",
                         number(stats.num_system_allocs), "limit_bytes", number(stats.limit_bytes));
  });
}

PyObject* py_reset_peak_memory_stats(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    c10::cpu_allocator::reset_peak_stats();
    Py_RETURN_NONE;
  });
}

PyObject* py_set_memory_limit(PyObject*, PyObject* bytes) {
  return guarded([&]() -> PyObject* {
    const int64_t limit = to_integer(bytes);
    OPLOOM_CHECK_VALUE(limit >= 0, "set_memory_limit(): expected a number of bytes, got ", limit);
    c10::cpu_allocator::set_memory_limit(static_cast<size_t>(limit));
    Py_RETURN_NONE;
  });
}

PyObject* py_empty_cache(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    c10::cpu_allocator::empty_cache();
    Py_RETURN_NONE;
  });
}

// ---- Printing ----

PyObject* py_set_printoptions(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    int precision = 0;
    long long threshold = 0;
    int edgeitems = 0;
    int linewidth = 0;
    int sci_mode = 0;  // -1 chooses by the values
    if (!PyArg_ParseTuple(args, "iLiii", &precision, &threshold, &edgeitems, &linewidth,
                          &sci_mode)) {
      return nullptr;
    }
    OPLOOM_CHECK_VALUE(precision >= 0 && precision <= 100 && edgeitems > 0 && linewidth > 0,
                       "set_printoptions(): expected positive numbers and a precision of at most "
                       "100");
    at::PrintOptions options;
    options.precision = precision;
    options.threshold = threshold;
    options.edgeitems = edgeitems;
    options.linewidth = linewidth;
    if (sci_mode >= 0) options.sci_mode = sci_mode != 0;
    at::set_print_options(options);
    Py_RETURN_NONE;
  });
}

PyObject* py_get_printoptions(PyObject*, PyObject*) {
  return guarded([&] {
    const at::PrintOptions options = at::get_print_options();
    const int sci_mode = options.sci_mode.has_value() ? (*options.sci_mode ? 1 : 0) : -1;
    return Py_BuildValue("(iLiii)", options.precision, static_cast<long long>(options.threshold),
                         options.edgeitems, options.linewidth, sci_mode);
  });
}

// ---- Subclasses and pickling ----

PyObject* checked_subclass(PyObject* type) {
  OPLOOM_CHECK_TYPE(
      PyType_Check(type) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), &TensorType),
      "expected a subclass of Tensor, got ", type_name(type));
  return type;
}

PyObject* py_make_subclass(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject* type = nullptr;
    PyObject* data = nullptr;
    int requires_grad = 0;
    if (!PyArg_ParseTuple(args, "OO|p:_make_subclass", &type, &data, &requires_grad)) {
      return nullptr;
    }
    OPLOOM_CHECK_TYPE(is_tensor(data), "expected a Tensor, got ", type_name(data));
    Tensor tensor = unpack(data).detach();
    if (requires_grad) tensor.set_requires_grad(true);
    return wrap_as(reinterpret_cast<PyTypeObject*>(checked_subclass(type)), std::move(tensor));
  });
}

PyObject* py_rebuild_tensor(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject* type = nullptr;
    PyObject* bytes = nullptr;
    PyObject* dtype = nullptr;
    PyObject* sizes = nullptr;
    int requires_grad = 0;
    PyObject* attributes = nullptr;
    PyObject* strides = nullptr;
    if (!PyArg_ParseTuple(args, "OO!OO!pOO!:_rebuild_tensor", &type, &PyBytes_Type, &bytes, &dtype,
                          &PyTuple_Type, &sizes, &requires_grad, &attributes, &PyTuple_Type,
                          &strides)) {
      return nullptr;
    }
    Tensor tensor(at::detail::empty_strided(to_integers(sizes), to_integers(strides),
                                            TensorOptions().dtype(to_scalar_type(dtype))));
    OPLOOM_CHECK_VALUE(tensor.is_non_overlapping_and_dense(),
                       "pickle: expected strides without gaps, got ", tensor.strides());
    const auto length = static_cast<size_t>(PyBytes_GET_SIZE(bytes));
    OPLOOM_CHECK_VALUE(length == tensor.nbytes(), "pickle: expected ", tensor.nbytes(),
                       " bytes of elements, got ", length);
    if (length > 0) std::memcpy(tensor.mutable_data_ptr(), PyBytes_AS_STRING(bytes), length);
    if (requires_grad) tensor.set_requires_grad(true);
    Ref object(wrap_as(reinterpret_cast<PyTypeObject*>(checked_subclass(type)), std::move(tensor)));
    if (attributes != Py_None) {
      reinterpret_cast<PyTensor*>(object.get())->dict = Py_NewRef(attributes);
    }
    return object.release();
  });
}

PyMethodDef module_functions[] = {
    method_entry("manual_seed", as_function<manual_seed>,
                 "manual_seed(seed) -> Generator\n\nSeeds the default generator and returns it."),
    {"initial_seed", py_initial_seed, METH_NOARGS,
     "initial_seed() -> int\n\nThe seed of the default generator."},
    {"get_default_dtype", py_get_default_dtype, METH_NOARGS,
     "get_default_dtype() -> dtype\n\nThe dtype of tensors made of Python floats."},
    {"set_default_dtype", py_set_default_dtype, METH_O,
     "set_default_dtype(d) -> None\n\nSets the dtype of tensors made of Python floats."},
    {"get_num_threads", py_get_num_threads, METH_NOARGS,
     "get_num_threads() -> int\n\nThreads that one operator may use."},
    method_entry("set_num_threads", as_function<set_num_threads>,
                 "set_num_threads(threads) -> None\n\nSets how many threads one operator may use."),
    {"get_cpu_capability", py_get_cpu_capability, METH_NOARGS,
     "get_cpu_capability() -> str\n\nThe instruction set of the kernels in use."},
    {"memory_stats", py_memory_stats, METH_NOARGS,
     "memory_stats() -> dict\n\nWhat the CPU allocator has given out and keeps, in bytes."},
    {"reset_peak_memory_stats", py_reset_peak_memory_stats, METH_NOARGS,
     "reset_peak_memory_stats() -> None\n\nLets peak_bytes begin at what is allocated now."},
    {"set_memory_limit", py_set_memory_limit, METH_O,
     "set_memory_limit(bytes) -> None\n\nThe most memory to take from the system; 0 for no limit."},
    {"empty_cache", py_empty_cache, METH_NOARGS,
     "empty_cache() -> None\n\nGives memory that is not in use back to the system."},
    {"_set_printoptions", py_set_printoptions, METH_VARARGS, nullptr},
    {"_get_printoptions", py_get_printoptions, METH_NOARGS, nullptr},
    {"_make_subclass", py_make_subclass, METH_VARARGS, nullptr},
    {"_rebuild_tensor", py_rebuild_tensor, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// Warnings of the library become Python's.
void warn_in_python(const std::string& message) {
  if (!Py_IsInitialized()) return;
  HoldGil gil;
  if (PyErr_Occurred()) return;
  // Where warnings are errors, an operator cannot stop half-way: the error is only printed.
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) < 0) PyErr_WriteUnraisable(nullptr);
}

// CPython keeps pointers to the list, so it is never freed.
PyMethodDef* kept(std::vector<PyMethodDef> functions) {
  functions.push_back({nullptr, nullptr, 0, nullptr});
  return (new std::vector<PyMethodDef>(std::move(functions)))->data();
}

// `prefix` goes before the names of submodules: those of oploom._C are shown to users in other
// places.
void add_functions(PyObject* module, const Generated& generated, const char* prefix) {
  for (const auto& [name, functions] : generated.functions) {
    if (name.empty()) {
      check_status(PyModule_AddFunctions(module, kept(functions)));
      continue;
    }
    const std::string attribute = prefix + name;
    Ref submodule(PyModule_New(c10::str(PyModule_GetName(module), ".", attribute).c_str()));
    check_status(PyModule_AddFunctions(submodule.get(), kept(functions)));
    check_status(PyModule_AddObjectRef(module, attribute.c_str(), submodule.get()));
  }
}

void add_written_functions(PyObject* module) {
  for (PyMethodDef* functions : {module_functions, tensor_new_functions, interchange_functions,
                                 dlpack_functions, autograd_functions}) {
    check_status(PyModule_AddFunctions(module, functions));
  }
}

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "oploom._C",
                          "The compiled part of oploom.",
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyObject* create_module() {
  Ref module(PyModule_Create(&definition));
  add_exceptions(module.get());
  add_types(module.get());
  Generated generated;
  add_generated(generated);
  add_tensor_type(module.get(), generated.methods);
  add_node_type(module.get());
  add_functions(module.get(), generated, "_");
  add_written_functions(module.get());
  check_status(PyModule_AddStringConstant(module.get(), "__version__", OPLOOM_VERSION));
  c10::set_warning_handler(&warn_in_python);
  return module.release();
}

PyObject* create_package_module(const char* name, void (*add)(Generated&)) noexcept {
  return guarded([&] {
    // CPython keeps a pointer to the definition, and one to the name in it.
    auto* own = new PyModuleDef(definition);
    own->m_name = (new std::string(name))->c_str();
    own->m_doc = "The compiled part of a package of operators for oploom.";
    Ref module(PyModule_Create(own));
    Generated generated;
    add(generated);
    add_functions(module.get(), generated, "");
    return module.release();
  });
}

}  // namespace at::inline oploom_v1::python
