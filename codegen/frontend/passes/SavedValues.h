// Plans what the forward keeps for the backward, and rewrites formulas to use it.
#pragma once

#include <codegen/frontend/Model.h>
#include <codegen/frontend/passes/FormulaScope.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace oploom::frontend {

// Where a formula needs only a property of a tensor, `self.sizes()`, the property is saved and not
// the tensor. Everything else that is an argument or an output is saved whole.
class SavedValuePlan {
 public:
  explicit SavedValuePlan(const FunctionSchema& schema) : schema_(schema) {}

  // Notes what the formula needs and returns its C++ with the names of saved values.
  std::string add(const GradientFormula& formula, const FormulaScope& scope);
  std::vector<SavedValue> take() { return std::move(saved_); }

 private:
  std::optional<std::string> replace(const Expr& node, const FormulaScope& scope);
  std::optional<SavedValue> property(const Expr& node, const FormulaScope& scope) const;
  std::optional<SavedValue> whole(const Expr& node, const FormulaScope& scope) const;
  void keep(SavedValue value);

  const FunctionSchema& schema_;
  std::vector<SavedValue> saved_;
  std::vector<std::string> names_;  // of the inputs that the formula at hand gives gradients of
  std::string_view text_;           // of the formula at hand
  std::set<const Expr*> callees_;   // its called functions, which are no values
};

}  // namespace oploom::frontend
