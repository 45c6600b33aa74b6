// The names that the formulas of one derivative may use, and what they use of them.
#pragma once

#include <codegen/frontend/Diagnostics.h>
#include <codegen/frontend/Model.h>

#include <set>
#include <string>
#include <vector>

namespace oploom::frontend {

class FormulaScope {
 public:
  FormulaScope(const DerivativeEntry& entry, Diagnostics& diagnostics);

  void check_backward(const GradientFormula& formula);
  void check_forward(const GradientFormula& formula);

  // Which outputs have a gradient: as written, or the first one when formulas use `grad` alone.
  const std::vector<bool>& output_differentiability() const { return differentiable_; }
  bool uses_grad_input_mask() const { return uses_mask_; }

  // The index in `grads` of a name such as `grad_values`; -1 for other names.
  int named_gradient(std::string_view name) const;
  // The index of the output called `result`, `result1` or by the schema's name; -1 for other names.
  int output(std::string_view name) const;

 private:
  void check(const GradientFormula& formula, bool forward);
  void check_name(const GradientFormula& formula, const Expr& name, bool forward);
  void check_mixed_gradients();
  void check_grads_index(const GradientFormula& formula, const Expr& index);
  void check_division(const GradientFormula& formula, const Expr& division);
  bool is_whole(const Expr& expr) const;
  std::size_t num_differentiable() const;

  const DerivativeEntry& entry_;
  Diagnostics& diagnostics_;
  std::vector<bool> differentiable_;
  std::vector<std::string> known_, known_forward_;  // for suggestions
  std::set<std::string> parameters_;                // of the lambdas in the formula at hand
  bool uses_mask_ = false;
};

}  // namespace oploom::frontend
