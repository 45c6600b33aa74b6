// The passes over the model, in the order in which they run.
#pragma once

#include <codegen/frontend/Diagnostics.h>
#include <codegen/frontend/Model.h>

namespace oploom::frontend {

struct PassOptions {
  // Files of another operator set, PyTorch's for one: nothing is asked of them that only concerns
  // this tree (families, backends, completion).
  bool syntax_only = false;
};

// 01: names. Duplicate operators, unknown tags, families.
void resolve(Model& model, const PassOptions& options, Diagnostics& diagnostics);
// 02: operators whose kernel is an expression, and their derivatives.
void expand_expressions(Model& model, const PassOptions& options, Diagnostics& diagnostics);
// What it calls the gradient, `_backward`, or tangent, `_jvp`, of an expression: f_Tensor_backward
// for f.Tensor. Overloads of one name could not always be told apart in C++, as they take what the
// formula needs.
std::string name_of_derivative(const FunctionSchema& schema, std::string_view suffix);
// 03: makes the in-place, out and Scalar forms that `autogen` lists.
void complete(Model& model, const PassOptions& options, Diagnostics& diagnostics);
// 04: finds the functional sibling of every in-place and out operator.
void group_variants(Model& model, const PassOptions& options, Diagnostics& diagnostics);
// "implicit" or "explicit" for the dispatch keys of composite kernels, "" for all others.
std::string composite_kind(std::string_view key);
// 05: composite kinds and the default kernel names.
void expand_dispatch(Model& model, const PassOptions& options, Diagnostics& diagnostics);
// 06: which structured kernel each operator of a group uses.
void plan_structured(Model& model, const PassOptions& options, Diagnostics& diagnostics);
// 07: binds derivatives to operators, and plans what is saved for them.
void differentiate(Model& model, const PassOptions& options, Diagnostics& diagnostics);

// 08: what must hold between finished operators.
void verify(Model& model, const PassOptions& options, Diagnostics& diagnostics);

// 09: the functions that formulas call, and what formulas give.
void check_helpers(Model& model, const PassOptions& options, Diagnostics& diagnostics);

// 10: the derivatives of expressions, against differences.
void prove_derivatives(Model& model, const PassOptions& options, Diagnostics& diagnostics);

// 11: the shapes that formulas give, by the key `shape` of the operators they call.
void check_shapes(Model& model, const PassOptions& options, Diagnostics& diagnostics);

// All of them.
void run_passes(Model& model, const PassOptions& options, Diagnostics& diagnostics);

}  // namespace oploom::frontend
