// The Python type of the nodes of the autograd graph.
#pragma once

#include <aten/autograd/Node.h>
#include <aten/python/PyTensor.h>

namespace at::inline oploom_v1::python {

// A new reference to an object for the node; None for no node. Two objects of one node are equal.
PyObject* wrap(autograd::NodePtr node);
void add_node_type(PyObject* module);

}  // namespace at::inline oploom_v1::python
