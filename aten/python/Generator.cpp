// The Python type oploom.Generator.
#include <aten/python/Types.h>
#include <c10/util/Exception.h>

#include <new>

namespace at::inline oploom_v1::python {
namespace {

struct GeneratorObject {
  PyObject ob_base;
  Generator generator;
};

PyTypeObject GeneratorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

// oploom.default_generator: there is one object for it.
PyObject* standard_generator = nullptr;

const Generator& generator_of(PyObject* self) {
  return reinterpret_cast<GeneratorObject*>(self)->generator;
}

PyObject* generator_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"device", nullptr};
    PyObject* device = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(names),
                                     &device)) {
      return nullptr;
    }
    if (device != nullptr) {
      OPLOOM_CHECK_NOT_IMPLEMENTED(to_device(device).is_cpu(),
                                   "Generator(): expected device 'cpu', got '",
                                   to_device(device).str(), "'");
    }
    return wrap(c10::createCPUGenerator());
  });
}

void generator_dealloc(PyObject* self) {
  reinterpret_cast<GeneratorObject*>(self)->generator.~Generator();
  Py_TYPE(self)->tp_free(self);
}

// Numbers of 64 bits with a sign or without; -1 is the seed 2^64 - 1.
uint64_t to_seed(PyObject* seed) {
  OPLOOM_CHECK_TYPE(PyIndex_Check(seed), "manual_seed(): expected an integer as seed, got ",
                    Py_TYPE(seed)->tp_name);
  Ref index(PyNumber_Index(seed));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow == 0) {
    if (value == -1 && PyErr_Occurred()) throw PythonError();
    return static_cast<uint64_t>(value);
  }
  const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(index.get()) : 0;
  const bool fits = overflow > 0 && PyErr_Occurred() == nullptr;
  if (!fits) {
    PyErr_Clear();
    Ref text(PyObject_Str(index.get()));
    OPLOOM_CHECK_VALUE(false, "manual_seed(): expected a seed from -2^63 to 2^64 - 1, got ",
                       PyUnicode_AsUTF8(text.get()));
  }
  return large;
}

PyObject* generator_manual_seed(PyObject* self, PyObject* seed) {
  return guarded([&] {
    generator_of(self).set_current_seed(to_seed(seed));
    return Py_NewRef(self);
  });
}

PyObject* generator_initial_seed(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(generator_of(self).current_seed()); });
}

PyObject* generator_seed(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(generator_of(self).seed()); });
}

PyObject* generator_get_state(PyObject* self, PyObject*) {
  return guarded([&] {
    const c10::PhiloxState state = generator_of(self).get_state();
    return Py_BuildValue("(KK)", static_cast<unsigned long long>(state.seed),
                         static_cast<unsigned long long>(state.offset));
  });
}

PyObject* generator_set_state(PyObject* self, PyObject* state) {
  return guarded([&]() -> PyObject* {
    c10::PhiloxState philox{};
    bool fits = PyTuple_Check(state) && PyTuple_GET_SIZE(state) == 2;
    if (fits) {
      philox.seed = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(state, 0));
      philox.offset = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(state, 1));
      fits = PyErr_Occurred() == nullptr;
    }
    if (!fits) {
      PyErr_Clear();
      PyErr_Format(PyExc_TypeError,
                   "set_state(): expected what get_state() returned, two integers from 0 to "
                   "2^64 - 1, got %R",
                   state);
      return nullptr;
    }
    generator_of(self).set_state(philox);
    return Py_NewRef(self);
  });
}

PyObject* generator_clone(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(generator_of(self).clone()); });
}

PyObject* generator_get_device(PyObject* self, void*) {
  return guarded([&] { return wrap(generator_of(self).device()); });
}

PyMethodDef generator_methods[] = {
    {"manual_seed", generator_manual_seed, METH_O,
     "manual_seed(seed) -> Generator\n\nStarts the sequence of numbers that belongs to the seed."},
    {"initial_seed", generator_initial_seed, METH_NOARGS,
     "initial_seed() -> int\n\nThe seed of the present sequence."},
    {"seed", generator_seed, METH_NOARGS,
     "seed() -> int\n\nSeeds from the system's randomness and returns the seed."},
    {"get_state", generator_get_state, METH_NOARGS,
     "get_state() -> tuple\n\nThe seed and how far the sequence has been used."},
    {"set_state", generator_set_state, METH_O,
     "set_state(state) -> Generator\n\nContinues where get_state() was called."},
    {"clone", generator_clone, METH_NOARGS,
     "clone() -> Generator\n\nA generator that continues the same sequence on its own."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef generator_properties[] = {
    {"device", generator_get_device, nullptr, "The device it draws for.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

bool is_generator(PyObject* object) { return Py_TYPE(object) == &GeneratorType; }

Generator to_generator(PyObject* object) {
  if (!is_generator(object)) {
    PyErr_Format(PyExc_TypeError, "expected an oploom.Generator, got %s", Py_TYPE(object)->tp_name);
    throw PythonError();
  }
  return generator_of(object);
}

PyObject* wrap(Generator generator) {
  if (standard_generator != nullptr && generator == c10::default_generator()) {
    return Py_NewRef(standard_generator);
  }
  Ref object(PyType_GenericAlloc(&GeneratorType, 0));
  new (&reinterpret_cast<GeneratorObject*>(object.get())->generator)
      Generator(std::move(generator));
  return object.release();
}

void add_generator_type(PyObject* module) {
  GeneratorType.tp_name = "oploom.Generator";
  GeneratorType.tp_doc = "A source of random numbers with a sequence of its own.";
  GeneratorType.tp_basicsize = sizeof(GeneratorObject);
  GeneratorType.tp_flags = Py_TPFLAGS_DEFAULT;
  GeneratorType.tp_new = generator_new;
  GeneratorType.tp_dealloc = generator_dealloc;
  GeneratorType.tp_methods = generator_methods;
  GeneratorType.tp_getset = generator_properties;
  check_status(PyType_Ready(&GeneratorType));
  check_status(
      PyModule_AddObjectRef(module, "Generator", reinterpret_cast<PyObject*>(&GeneratorType)));
  standard_generator = wrap(c10::default_generator());
  check_status(PyModule_AddObjectRef(module, "default_generator", standard_generator));
}

}  // namespace at::inline oploom_v1::python
