// Forward formulas: what `result: ...` in derivatives.yaml says, taken apart into terms.
#pragma once

#include <codegen/frontend/Diagnostics.h>
#include <codegen/frontend/Model.h>

#include <vector>

namespace oploom::frontend {

// Note [Forward formulas]
// A tangent depends linearly on the tangents of the inputs, of which any may be missing. A formula
// is a sum, and each of its terms belongs to the tangents that occur in it: without them there is
// no such term. Where a term needs several tangents, those are zeros if they are missing.
//
// The formulas of `entry` with their terms; mistakes go to `diagnostics`.
std::vector<ForwardFormula> plan_forward(const DerivativeEntry& entry, const Model& model,
                                         Diagnostics& diagnostics);

// Writes the terms as C++: `self_p` and the outputs under the names that they have in a kernel. An
// operator that overwrites `self` has no other result, and may need the value of before.
void bind_forward(std::vector<ForwardFormula>& formulas, const FunctionSchema& schema,
                  bool overwrites_self);

}  // namespace oploom::frontend
