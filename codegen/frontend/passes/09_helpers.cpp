// Pass 09: every function and method that a formula calls exists: as an operator, or as a helper
// that one of the helper headers declares.
#include <c10/util/Suggest.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <set>

namespace oploom::frontend {

namespace {

class HelperCheck {
 public:
  HelperCheck(const Model& model, Diagnostics& diagnostics)
      : model_(model), diagnostics_(diagnostics) {
    // Types that formulas construct.
    for (const char* name : {"Tensor", "Scalar", "IntArrayRef", "TensorOptions", "double", "float",
                             "int64_t", "bool"}) {
      functions_.insert(name);
    }
    functions_.insert(model.helpers.begin(), model.helpers.end());
    methods_.insert(model.helpers.begin(), model.helpers.end());
    for (const auto& op : model.operators) {
      const auto& variants = op->variants;
      if (std::find(variants.begin(), variants.end(), "function") != variants.end()) {
        functions_.insert(op->schema.name);
      }
      if (std::find(variants.begin(), variants.end(), "method") != variants.end()) {
        methods_.insert(op->schema.name);
      }
    }
  }

  void run() {
    for (const auto& entry : model_.derivatives) {
      for (const auto& formula : entry->gradients) {
        if (formula.tree) check(formula);
      }
    }
  }

 private:
  void check(const GradientFormula& formula) {
    walk(*formula.tree, [&](const Expr& node) {
      if (node.kind != Expr::Kind::call) return true;
      const Expr& callee = node.children[0];
      if (callee.kind == Expr::Kind::name && callee.text.find("::") == std::string::npos) {
        if (!functions_.contains(callee.text)) {
          report(formula, callee.text, callee.offset, "function", functions_, methods_);
        }
      } else if (callee.kind == Expr::Kind::member && !methods_.contains(callee.text)) {
        const std::size_t end = callee.offset + callee.length - callee.template_arguments.size();
        report(formula, callee.text, end - callee.text.size(), "method", methods_, functions_);
      }
      return true;
    });
  }

  void report(const GradientFormula& formula, const std::string& name, std::size_t offset,
              const std::string& what, const std::set<std::string>& known,
              const std::set<std::string>& others) {
    const Location where = formula.node->locate(offset, name.size());
    if (others.contains(name)) {
      const bool method = what == "function";
      diagnostics_.error(where, "'" + name + "' exists as a " + (method ? "method" : "function") +
                                    " only: write '" +
                                    (method ? "x." + name + "(...)" : name + "(x, ...)") + "'");
      return;
    }
    diagnostics_
        .error(where, "the formula calls the " + what + " '" + name +
                          "', which is no operator and no helper")
        .suggest(c10::closest_name(name, known));
  }

  const Model& model_;
  Diagnostics& diagnostics_;
  std::set<std::string> functions_, methods_;
};

}  // namespace

void check_helpers(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  if (options.syntax_only || model.helpers.empty()) return;
  HelperCheck(model, diagnostics).run();
}

}  // namespace oploom::frontend
