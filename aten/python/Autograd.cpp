// Autograd for Python: backward(), hooks, the graph's nodes and the grad mode.
#include <aten/autograd/ForwardAD.h>
#include <aten/autograd/autograd.h>
#include <aten/python/ArgParser.h>
#include <aten/python/Hooks.h>
#include <aten/python/Node.h>
#include <aten/python/PyTensor.h>
#include <aten/python/Results.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <memory>
#include <new>

namespace at::inline oploom_v1::python {
namespace {

// ---- Nodes ----

struct NodeObject {
  PyObject ob_base;
  autograd::NodePtr node;
};

PyTypeObject NodeType = {PyVarObject_HEAD_INIT(nullptr, 0)};

autograd::Node& node_of(PyObject* self) { return *reinterpret_cast<NodeObject*>(self)->node; }

void node_dealloc(PyObject* self) {
  reinterpret_cast<NodeObject*>(self)->node.~NodePtr();
  Py_TYPE(self)->tp_free(self);
}

PyObject* node_repr(PyObject* self) {
  return guarded([&] { return PyUnicode_FromFormat("<%s>", node_of(self).name().c_str()); });
}

PyObject* node_name(PyObject* self, PyObject*) {
  return guarded([&] { return to_python(node_of(self).name()); });
}

PyObject* node_next_functions(PyObject* self, void*) {
  return guarded([&] {
    const autograd::Node& node = node_of(self);
    Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(node.num_outputs())));
    for (uint32_t i = 0; i < node.num_outputs(); ++i) {
      const autograd::Edge& edge = node.next_edge(i);
      Ref next(wrap(edge.function));
      PyObject* pair = Py_BuildValue("(OI)", next.get(), edge.input_nr);
      if (pair == nullptr) throw PythonError();
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), pair);
    }
    return tuple.release();
  });
}

PyObject* node_compare(PyObject* left, PyObject* right, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || Py_TYPE(right) != &NodeType) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return PyBool_FromLong((&node_of(left) == &node_of(right)) == (operation == Py_EQ));
}

Py_hash_t node_hash(PyObject* self) { return _Py_HashPointer(&node_of(self)); }

PyMethodDef node_methods[] = {
    {"name", node_name, METH_NOARGS, "name() -> str\n\nThe name of the recorded operation."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef node_properties[] = {
    {"next_functions", node_next_functions, nullptr,
     "The nodes that gradients go to, with the number of the input.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// ---- Hooks ----

struct HandleObject {
  PyObject ob_base;
  PyObject* tensor;  // weak reference: a handle keeps no graph alive
  unsigned position;
};

PyTypeObject HandleType = {PyVarObject_HEAD_INIT(nullptr, 0)};

void handle_dealloc(PyObject* self) {
  Py_XDECREF(reinterpret_cast<HandleObject*>(self)->tensor);
  Py_TYPE(self)->tp_free(self);
}

PyObject* handle_remove(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    auto* handle = reinterpret_cast<HandleObject*>(self);
    if (handle->tensor != nullptr) {
      PyObject* tensor = PyWeakref_GetObject(handle->tensor);
      // A tensor changed in place since has another node, which knows nothing of the hook.
      if (tensor != Py_None) autograd::remove_hook(unpack(tensor), handle->position);
      Py_CLEAR(handle->tensor);
    }
    Py_RETURN_NONE;
  });
}

PyObject* handle_enter(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* handle_exit(PyObject* self, PyObject*) { return handle_remove(self, nullptr); }

PyMethodDef handle_methods[] = {
    {"remove", handle_remove, METH_NOARGS, "remove() -> None\n\nTakes the hook away."},
    {"__enter__", handle_enter, METH_NOARGS, nullptr},
    {"__exit__", handle_exit, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* py_register_hook(PyObject* self, PyObject* function) {
  return guarded([&] {
    OPLOOM_CHECK_TYPE(PyCallable_Check(function), "register_hook(): expected a function, got ",
                      type_name(function));
    auto hook = std::make_shared<PythonHook>(function);
    auto*& list = reinterpret_cast<PyTensor*>(self)->hooks;
    if (unpack(self).is_leaf()) {
      if (list == nullptr) list = new HookList();
      std::erase_if(list->hooks, [](const auto& known) { return known.expired(); });
      list->hooks.push_back(hook);
    }
    const unsigned position =
        unpack(self).register_hook([hook](const Tensor& gradient) { return (*hook)(gradient); });
    Ref handle(PyType_GenericAlloc(&HandleType, 0));
    auto* fields = reinterpret_cast<HandleObject*>(handle.get());
    fields->tensor = Ref(PyWeakref_NewRef(self, nullptr)).release();
    fields->position = position;
    return handle.release();
  });
}

// ---- Backward ----

std::optional<bool> optional_flag(PyObject* object) {
  if (object == Py_None) return std::nullopt;
  return is_true(object);
}

std::vector<Tensor> to_tensors(PyObject* object, const char* what) {
  std::vector<Tensor> result;
  if (object == Py_None) return result;
  if (is_tensor(object)) {
    result.push_back(unpack(object));
    return result;
  }
  Ref items(PySequence_Fast(object, "expected a Tensor or a sequence of Tensors"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(items.get(), i);
    if (item == Py_None) {
      result.emplace_back();
      continue;
    }
    OPLOOM_CHECK_TYPE(is_tensor(item), what, ": expected Tensors, got ", type_name(item));
    result.push_back(unpack(item));
  }
  return result;
}

PyObject* py_backward(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"gradient", "retain_graph", "create_graph", "inputs", nullptr};
    PyObject* gradient = Py_None;
    PyObject* retain_graph = Py_None;
    int create_graph = 0;
    PyObject* inputs = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOpO:backward", const_cast<char**>(names),
                                     &gradient, &retain_graph, &create_graph, &inputs)) {
      return nullptr;
    }
    const std::vector<Tensor> gradients = to_tensors(gradient, "backward(): gradient");
    const std::vector<Tensor> wanted = to_tensors(inputs, "backward(): inputs");
    OPLOOM_CHECK(inputs == Py_None || !wanted.empty(), "backward(): inputs is empty");
    const std::optional<bool> retain = optional_flag(retain_graph);
    const Tensor root = unpack(self);
    {
      ReleaseGil release;
      autograd::backward(root, gradients, retain, create_graph != 0, wanted);
    }
    Py_RETURN_NONE;
  });
}

// Gradients of `inputs` as a tuple, or into the leaves' grad if `accumulate`.
PyObject* py_run_backward(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject* outputs = nullptr;
    PyObject* gradients = nullptr;
    PyObject* retain_graph = nullptr;
    int create_graph = 0;
    PyObject* inputs = nullptr;
    int accumulate = 0;
    int allow_unused = 0;
    if (!PyArg_ParseTuple(args, "OOOpOpp:_run_backward", &outputs, &gradients, &retain_graph,
                          &create_graph, &inputs, &accumulate, &allow_unused)) {
      return nullptr;
    }
    const std::vector<Tensor> roots = to_tensors(outputs, "outputs");
    const std::vector<Tensor> root_gradients = to_tensors(gradients, "grad_outputs");
    const std::vector<Tensor> wanted = to_tensors(inputs, "inputs");
    const std::optional<bool> retain = optional_flag(retain_graph);
    if (accumulate) {
      {
        ReleaseGil release;
        autograd::backward(roots, root_gradients, retain, create_graph != 0, wanted);
      }
      Py_RETURN_NONE;
    }
    std::vector<Tensor> result = [&] {
      ReleaseGil release;
      return autograd::grad(roots, wanted, root_gradients, retain, create_graph != 0,
                            allow_unused != 0);
    }();
    return to_python(std::move(result));
  });
}

// ---- Forward mode ----

PyObject* py_enter_dual_level(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    autograd::forward_ad::enter_dual_level();
    Py_RETURN_NONE;
  });
}

PyObject* py_exit_dual_level(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    autograd::forward_ad::exit_dual_level();
    Py_RETURN_NONE;
  });
}

PyObject* py_make_dual(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject* primal = nullptr;
    PyObject* tangent = nullptr;
    if (!PyArg_ParseTuple(args, "OO:make_dual", &primal, &tangent)) return nullptr;
    OPLOOM_CHECK_TYPE(is_tensor(primal) && is_tensor(tangent),
                      "make_dual(): expected two Tensors, got ", type_name(primal), " and ",
                      type_name(tangent));
    return to_python(autograd::forward_ad::make_dual(unpack(primal), unpack(tangent)));
  });
}

PyObject* py_unpack_dual(PyObject*, PyObject* tensor) {
  return guarded([&]() -> PyObject* {
    OPLOOM_CHECK_TYPE(is_tensor(tensor), "unpack_dual(): expected a Tensor, got ",
                      type_name(tensor));
    auto [primal, tangent] = autograd::forward_ad::unpack_dual(unpack(tensor));
    Ref first(to_python(std::move(primal)));
    Ref second(tangent.defined() ? to_python(std::move(tangent)) : Py_NewRef(Py_None));
    return PyTuple_Pack(2, first.get(), second.get());
  });
}

constexpr SignatureText kRequiresGradSignatures[] = {
    {kMethod, "requires_grad_(Tensor self, bool requires_grad=True)"}};

PyObject* requires_grad_(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames) {
  static constinit Parser parser("requires_grad_", kRequiresGradSignatures);
  Arguments a;
  parser.parse(self, args, nargs, kwnames, a);
  unpack(self).requires_grad_(a.boolean(1, true));
  return Py_NewRef(self);
}

PyObject* py_detach_(PyObject* self, PyObject*) {
  return guarded([&] {
    unpack(self).detach_();
    return Py_NewRef(self);
  });
}

PyObject* py_retain_grad(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    unpack(self).retain_grad();
    Py_RETURN_NONE;
  });
}

PyObject* py_is_grad_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(c10::GradMode::is_enabled());
}

PyObject* py_set_grad_enabled(PyObject*, PyObject* enabled) {
  const int truth = PyObject_IsTrue(enabled);
  if (truth < 0) return nullptr;
  c10::GradMode::set_enabled(truth != 0);
  Py_RETURN_NONE;
}

void add_type(PyObject* module, PyTypeObject& type, const char* name) {
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  check_status(PyType_Ready(&type));
  check_status(PyModule_AddObjectRef(module, name, reinterpret_cast<PyObject*>(&type)));
}

}  // namespace

PythonHook::~PythonHook() {
  if (function_ == nullptr || !Py_IsInitialized()) return;
  HoldGil gil;
  Py_DECREF(function_);
}

Tensor PythonHook::operator()(const Tensor& gradient) const {
  HoldGil gil;
  if (function_ == nullptr) return Tensor();
  Ref argument(wrap(gradient));
  Ref result(PyObject_CallOneArg(function_, argument.get()));
  if (result.get() == Py_None) return Tensor();
  OPLOOM_CHECK_TYPE(is_tensor(result.get()), "a hook must return None or a Tensor, got ",
                    type_name(result.get()));
  return unpack(result.get());
}

PyObject* wrap(autograd::NodePtr node) {
  if (!node) Py_RETURN_NONE;
  Ref object(PyType_GenericAlloc(&NodeType, 0));
  new (&reinterpret_cast<NodeObject*>(object.get())->node) autograd::NodePtr(std::move(node));
  return object.release();
}

void add_node_type(PyObject* module) {
  NodeType.tp_name = "oploom.autograd.Node";
  NodeType.tp_doc = "One recorded operation of the autograd graph.";
  NodeType.tp_basicsize = sizeof(NodeObject);
  NodeType.tp_dealloc = node_dealloc;
  NodeType.tp_repr = node_repr;
  NodeType.tp_methods = node_methods;
  NodeType.tp_getset = node_properties;
  NodeType.tp_richcompare = node_compare;
  NodeType.tp_hash = node_hash;
  add_type(module, NodeType, "Node");
  HandleType.tp_name = "oploom.autograd.RemovableHandle";
  HandleType.tp_doc = "Takes a hook away again.";
  HandleType.tp_basicsize = sizeof(HandleObject);
  HandleType.tp_dealloc = handle_dealloc;
  HandleType.tp_methods = handle_methods;
  add_type(module, HandleType, "RemovableHandle");
}

#define FUNCTION(name) reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(name))
PyMethodDef autograd_methods[] = {
    {"backward", FUNCTION(py_backward), METH_VARARGS | METH_KEYWORDS,
     "backward(gradient=None, retain_graph=None, create_graph=False, inputs=None) -> None\n\n"
     "Computes the gradients of this tensor and adds them to the grad of the leaves."},
    method_entry("requires_grad_", as_method<requires_grad_>,
                 "requires_grad_(requires_grad=True) -> Tensor\n\n"
                 "Sets whether operators on this leaf record their derivatives."),
    {"detach_", py_detach_, METH_NOARGS,
     "detach_() -> Tensor\n\nMakes this tensor a leaf without history."},
    {"retain_grad", py_retain_grad, METH_NOARGS,
     "retain_grad() -> None\n\nKeeps the grad of a tensor that is no leaf."},
    {"register_hook", py_register_hook, METH_O,
     "register_hook(hook) -> RemovableHandle\n\n"
     "Calls hook(grad) when the gradient is computed; a Tensor it returns replaces the gradient."},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef autograd_functions[] = {
    {"_run_backward", py_run_backward, METH_VARARGS, nullptr},
    {"_enter_dual_level", py_enter_dual_level, METH_NOARGS, nullptr},
    {"_exit_dual_level", py_exit_dual_level, METH_NOARGS, nullptr},
    {"_make_dual", py_make_dual, METH_VARARGS, nullptr},
    {"_unpack_dual", py_unpack_dual, METH_O, nullptr},
    {"is_grad_enabled", py_is_grad_enabled, METH_NOARGS,
     "is_grad_enabled() -> bool\n\nWhether operators record their derivatives."},
    {"_set_grad_enabled", py_set_grad_enabled, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
#undef FUNCTION

}  // namespace at::inline oploom_v1::python
