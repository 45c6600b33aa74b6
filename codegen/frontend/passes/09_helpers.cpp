// Pass 09: every function and method that a formula calls exists, as an operator or as a helper
// that one of the helper headers declares, and takes as many arguments, of their types as far as
// these are known; a formula gives a tensor, or a tuple of several.
#include <c10/util/Suggest.h>
#include <codegen/frontend/passes/FormulaTypes.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

namespace oploom::frontend {

namespace {

class HelperCheck {
 public:
  HelperCheck(const Model& model, Diagnostics& diagnostics)
      : model_(model), diagnostics_(diagnostics) {
    functions_.insert(model.helpers.begin(), model.helpers.end());
    methods_.insert(model.helpers.begin(), model.helpers.end());
    for (const Model* each : {&model, static_cast<const Model*>(model.core.get())}) {
      if (!each) continue;
      for (const auto& op : each->operators) {
        if (op->has_variant(/*method=*/false)) functions_.insert(op->schema.name);
        if (op->has_variant(/*method=*/true)) methods_.insert(op->schema.name);
      }
    }
  }

  void run() {
    for (const auto& entry : model_.derivatives) {
      schema_ = &entry->schema;
      for (const auto& formula : entry->gradients) {
        if (!formula.tree) continue;
        check(formula);
        check_result(formula);
        if (!formula.found) check_tuple(formula);
      }
      for (const auto& formula : entry->forward) {
        if (!formula.tree) continue;
        check(formula);
        check_tangent(formula);
      }
    }
  }

 private:
  // Functions that a program calls of numbers alone, for which no operator is needed.
  static std::set<std::string> functions_of_numbers(const GradientFormula& formula) {
    std::set<std::string> names;
    if (!formula.program) return names;
    const auto& instructions = formula.program->instructions;
    for (const auto& instruction : instructions) {
      if (instruction.uniform) names.insert(instruction.operation);
    }
    for (const auto& instruction : instructions) {
      if (!instruction.uniform) names.erase(instruction.operation);
    }
    return names;
  }

  void check(const GradientFormula& formula) {
    const auto of_numbers = functions_of_numbers(formula);
    types_.emplace(model_, *schema_, *formula.tree);
    std::set<const Expr*> called;
    walk(*formula.tree, [&](const Expr& node) {
      if (!formula.found) check_operands(formula, node);
      if (!formula.found && node.kind == Expr::Kind::member && !called.contains(&node)) {
        check_not_called(formula, node);
      }
      if (node.kind != Expr::Kind::call) return true;
      const Expr& callee = node.children[0];
      called.insert(&callee);
      if (!formula.found && !check_numbers(formula, node)) return true;
      if (of_numbers.contains(callee.text)) return true;
      if (callee.kind == Expr::Kind::name && !is_function(callee.text)) {
        report(formula, callee.text, callee.offset, "function", functions_, methods_);
      } else if (callee.kind == Expr::Kind::name) {
        check_arity(formula, node, callee.text, /*method=*/false);
      } else if (callee.kind == Expr::Kind::member && !methods_.contains(callee.text)) {
        const std::size_t end = callee.offset + callee.length - callee.template_arguments.size();
        report(formula, callee.text, end - callee.text.size(), "method", methods_, functions_);
      } else if (callee.kind == Expr::Kind::member) {
        check_arity(formula, node, callee.text, /*method=*/true);
      }
      return true;
    });
  }

  bool is_function(const std::string& name) const {
    // For taking results apart and for putting arguments together.
    static const std::set<std::string, std::less<>> standard = {
        "array", "get", "make_tuple", "move", "optional", "pair", "tuple", "vector"};
    const std::size_t end = name.rfind("::");
    if (end == std::string::npos) return constructed_.contains(name) || functions_.contains(name);
    const std::string plain = name.substr(end + 2);
    const std::string scope = name.substr(0, end);
    if (scope == "std") return standard.contains(plain) || is_function_of_numbers(plain);
    if (!model_.overloads(name, /*method=*/false).empty()) return true;
    return constructed_.contains(plain) || model_.helpers.contains(plain);
  }

  void check_arity(const GradientFormula& formula, const Expr& call, const std::string& name,
                   bool method) {
    if (model_.helpers.contains(name)) return;  // its parameters are not known here
    const auto candidates = model_.overloads(name, method);
    if (candidates.empty()) return;
    const std::size_t given = call.children.size() - 1 + (method ? 1 : 0);
    std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0;
    std::vector<const Operator*> fitting;
    for (const Operator* op : candidates) {
      const auto& arguments = op->schema.arguments;
      std::size_t needed = 0;
      for (const auto& argument : arguments) needed += !argument.default_value;
      // In C++ one TensorOptions stands for dtype, layout, device and pin_memory.
      const std::size_t fewer = op->schema.has_tensor_options() ? 3 : 0;
      least = std::min(least, needed > fewer ? needed - fewer : needed);
      most = std::max(most, arguments.size());
      if (given < needed - std::min(needed, fewer) || given > arguments.size()) continue;
      if (fewer == 0) fitting.push_back(op);
      if (fewer > 0) return;
    }
    if (!fitting.empty()) {
      check_types(formula, call, fitting, method);
      return;
    }
    const std::size_t own = method ? 1 : 0;
    const std::size_t wanted = given > most ? most - own : least - own;
    diagnostics_
        .error(formula.node->locate(call.offset, call.length),
               "'" + name + "' takes " + (given > most ? "at most " : "at least ") +
                   std::to_string(wanted) + (wanted == 1 ? " argument" : " arguments") +
                   " here, not " + std::to_string(given - own))
        .note(candidates[0]->schema_where, "it is '" + to_string(candidates[0]->schema) + "'");
  }

  // ---- Of what type the parts are ----

  Location place(const GradientFormula& formula, const Expr& expr) const {
    return formula.node->locate(expr.offset, expr.length);
  }
  static std::string text_of(const GradientFormula& formula, const Expr& expr) {
    return formula.text.substr(expr.offset, expr.length);
  }

  // Operators and `?:` on what they have no meaning for.
  void check_operands(const GradientFormula& formula, const Expr& node) {
    const auto refuse = [&](const Expr& operand, const std::string& reason) {
      diagnostics_.error(place(formula, operand),
                         "this is " + describe(types_->of(operand)) + ", and " + reason);
    };
    const auto is_tensor = [&](const Expr& operand) {
      return types_->of(operand) == Gives::tensor;
    };
    const std::string symbol = "'" + node.text + "'";
    if (node.kind == Expr::Kind::ternary && is_tensor(node.children[0])) {
      refuse(node.children[0], "'?:' asks for true or false: write 'at::where(condition, a, b)'");
    } else if (node.kind == Expr::Kind::unary && node.text == "!" && is_tensor(node.children[0])) {
      refuse(node.children[0], "'!' is for true or false: write 'at::logical_not(a)'");
    } else if (node.kind == Expr::Kind::unary && !is_value(types_->of(node.children[0]))) {
      if (node.text != "*" && node.text != "&") {
        refuse(node.children[0], symbol + " is for tensors and numbers");
      }
    }
    if (node.kind != Expr::Kind::binary) return;
    const Expr &left = node.children[0], &right = node.children[1];
    if (node.text == "&&" || node.text == "||") {
      const std::string instead = node.text == "&&" ? "logical_and" : "logical_or";
      for (const Expr& operand : node.children) {
        if (is_tensor(operand) || !is_value(types_->of(operand))) {
          refuse(operand, symbol + " is for true or false" +
                              (is_tensor(operand) ? ": write 'at::" + instead + "(a, b)'" : ""));
        }
      }
    } else if (node.text == "==" || node.text == "!=") {
      if (are_comparable(types_->of(left), types_->of(right))) return;
      const bool second = is_value(types_->of(left));
      refuse(second ? right : left,
             symbol + " would compare it with " + describe(types_->of(second ? left : right)));
    } else {
      for (const Expr& operand : node.children) {
        if (!is_value(types_->of(operand))) {
          refuse(operand, symbol + " is for tensors and numbers");
        }
      }
    }
  }

  void check_not_called(const GradientFormula& formula, const Expr& member) {
    const std::size_t end = member.offset + member.length;
    const Location where = formula.node->locate(end - member.text.size(), member.text.size());
    const Gives object = types_->of(member.children[0]);
    if (is_number(object)) {
      diagnostics_.error(where, "this is a member of " + describe(object) + ", which has none");
    } else if (methods_.contains(member.text) ||
               (object == Gives::tensor && find_tensor_method(member.text))) {
      diagnostics_.error(where, "the method '" + member.text + "' is not called: '" + member.text +
                                    "(...)' calls it");
    } else if (object == Gives::tensor) {
      diagnostics_.error(where, "a tensor has no member '" + member.text + "'");
    }
  }

  // Functions of numbers get numbers, and no method is called on one; false after a mistake.
  bool check_numbers(const GradientFormula& formula, const Expr& call) {
    const Expr& callee = call.children[0];
    if (callee.kind == Expr::Kind::member) {
      const Expr& object = callee.children[0];
      const Gives gives = types_->of(object);
      if (gives == Gives::tensor) return check_tensor_method(formula, call);
      if (!is_number(gives)) return true;
      const auto* argument =
          object.kind == Expr::Kind::name ? schema_->find_argument(object.text) : nullptr;
      diagnostics_
          .error(place(formula, call), argument ? "'" + object.text + "' is of the type '" +
                                                      to_string(argument->type) +
                                                      "', which has no methods"
                                                : "'" + text_of(formula, object) + "' is " +
                                                      describe(gives) + ", which has no methods")
          .suggest(is_function("std::" + callee.text) && call.children.size() == 1
                       ? "std::" + callee.text + "(" + text_of(formula, object) + ")"
                       : "");
      return false;
    }
    if (callee.kind != Expr::Kind::name || !callee.text.starts_with("std::")) return true;
    const std::string plain = callee.text.substr(5);
    if (!is_function_of_numbers(plain)) return true;
    for (std::size_t i = 1; i < call.children.size(); ++i) {
      if (types_->of(call.children[i]) != Gives::tensor) continue;
      diagnostics_
          .error(place(formula, call.children[i]),
                 "'" + callee.text + "' takes numbers, and this is a tensor")
          .suggest(functions_.contains(plain) ? "at::" + plain : "");
      return false;
    }
    return true;
  }

  // A method that is no operator; false after a mistake.
  bool check_tensor_method(const GradientFormula& formula, const Expr& call) {
    const std::string& name = call.children[0].text;
    const TensorMethod* method = find_tensor_method(name);
    if (!method || !model_.overloads(name, /*method=*/true).empty()) return true;
    const std::size_t given = call.children.size() - 1;
    if (given != method->arguments) {
      diagnostics_.error(place(formula, call),
                         "'" + name + "' takes " +
                             (method->arguments == 0 ? "no argument" : "1 argument") +
                             " here, not " + std::to_string(given));
      return false;
    }
    for (std::size_t i = 1; i < call.children.size(); ++i) {
      const Gives gives = types_->of(call.children[i]);
      if (gives == Gives::whole || gives == Gives::unknown) continue;
      diagnostics_.error(place(formula, call.children[i]),
                         "'" + name + "' does not take " + describe(gives) +
                             " here, but the number of a dimension");
      return false;
    }
    return true;
  }

  // Of operators that take as many arguments, one takes these.
  void check_types(const GradientFormula& formula, const Expr& call,
                   const std::vector<const Operator*>& fitting, bool method) {
    if (formula.found) return;
    std::size_t furthest = 0;  // the argument that no operator takes which takes those before it
    const Operator* nearest = nullptr;
    bool by_name = false;  // Python takes that argument of `nearest` by its name alone
    for (const Operator* op : fitting) {
      auto parameters = op->schema.arguments;
      if (method) {
        const auto self = std::find_if(parameters.begin(), parameters.end(),
                                       [](const auto& each) { return each.name == "self"; });
        if (self == parameters.end()) return;
        parameters.erase(self);
      }
      std::size_t i = 1;
      while (i < call.children.size() &&
             takes(parameters[i - 1].type, types_->of(call.children[i]))) {
        ++i;
      }
      if (i == call.children.size()) return;
      if (i > furthest || (i == furthest && by_name)) {
        nearest = op;
        by_name = parameters[i - 1].kwarg_only;
      }
      furthest = std::max(furthest, i);
    }
    const std::string& name = call.children[0].text;
    diagnostics_
        .error(place(formula, call.children[furthest]),
               "'" + name + "' does not take " + describe(types_->of(call.children[furthest])) +
                   " here")
        .note(nearest->schema_where, "it is '" + to_string(nearest->schema) + "'");
  }

  // The gradients of several arguments come as a tuple of as many.
  void check_tuple(const GradientFormula& formula) {
    const std::size_t wanted = formula.names.size();
    if (wanted < 2) return;
    const Expr& tree = *formula.tree;
    const Gives gives = types_->of(tree);
    std::string found;
    if (gives != Gives::unknown) {
      found = describe(gives);
    } else if (tree.kind == Expr::Kind::call && tree.children[0].kind == Expr::Kind::name &&
               !model_.helpers.contains(tree.children[0].text)) {
      const auto candidates = model_.overloads(tree.children[0].text, /*method=*/false);
      const bool other = !candidates.empty() &&
                         std::all_of(candidates.begin(), candidates.end(), [&](const Operator* op) {
                           return !op->schema.returns.empty() && !op->schema.returns[0].type.list &&
                                  op->schema.returns.size() != wanted;
                         });
      if (other) found = std::to_string(candidates[0]->schema.returns.size()) + " results";
    }
    if (found.empty()) return;
    diagnostics_.error(place(formula, tree),
                       "the formula gives " + found + ", and these are the gradients of " +
                           std::to_string(wanted) +
                           " arguments: give each a formula of its own, or call a function that "
                           "returns a tuple");
  }

  // ---- What a formula gives ----

  // A gradient is a tensor of its argument's shape, which the engine reduces a broadcast one to.
  void check_result(const GradientFormula& formula) {
    if (formula.names.size() != 1) return;
    const std::string& name = formula.names[0].text;
    const auto* argument = schema_->find_argument(name);
    if (argument && !argument->type.list) check_gives_tensor(formula, "gradient", name);
  }
  void check_tangent(const GradientFormula& formula) {
    const bool lists = std::any_of(schema_->returns.begin(), schema_->returns.end(),
                                   [](const auto& value) { return value.type.list; });
    if (formula.names.size() == 1 && !lists) {
      check_gives_tensor(formula, "tangent", formula.names[0].text);
    }
  }
  void check_gives_tensor(const GradientFormula& formula, const std::string& what,
                          const std::string& name) {
    const Gives gives = types_->of(*formula.tree);
    if (gives == Gives::unknown || gives == Gives::tensor) return;
    diagnostics_.error(place(formula, *formula.tree),
                       "the formula gives " + describe(gives) + ", and the " + what + " of '" +
                           name + "' is a tensor: is a factor '" +
                           (what == "gradient" ? "grad" : "..._t") + "' missing?");
  }

  void report(const GradientFormula& formula, const std::string& name, std::size_t offset,
              const std::string& what, const std::set<std::string>& known,
              const std::set<std::string>& others) {
    if (formula.found) {
      if (!missing_.emplace(formula.node, name).second) return;
      diagnostics_.error(formula.node->locate(0, formula.node->value.size()),
                         "the derivative of this expression calls '" + name +
                             "', which is no operator here: write a derivative of your own in the "
                             "file of derivatives");
      return;
    }
    const Location where = formula.node->locate(offset, name.size());
    const std::size_t end = name.rfind("::");
    const std::string scope = end == std::string::npos ? "" : name.substr(0, end + 2);
    const std::string plain = name.substr(scope.size());
    if (others.contains(plain) && !known.contains(plain)) {
      const bool method = what == "function";
      diagnostics_.error(where, "'" + plain + "' exists as a " + (method ? "method" : "function") +
                                    " only: write '" +
                                    (method ? "x." + plain + "(...)" : plain + "(x, ...)") + "'");
      return;
    }
    std::set<std::string> within;  // of a namespace, the operators in it
    for (const auto& each : known) {
      if (scope.empty() || !model_.overloads(scope + each, what == "method").empty()) {
        within.insert(scope + each);
      }
    }
    diagnostics_
        .error(where, "the formula calls the " + what + " '" + name +
                          "', which is no operator and no helper")
        .suggest(known.contains(plain) ? plain : c10::closest_name(name, within));
  }

  const Model& model_;
  Diagnostics& diagnostics_;
  // Types that formulas construct.
  const std::set<std::string> constructed_ = {"Tensor", "Scalar", "IntArrayRef", "TensorOptions",
                                              "double", "float",  "int64_t",     "bool"};
  std::set<std::string> functions_, methods_;
  const FunctionSchema* schema_ = nullptr;                     // of the derivative at hand
  std::optional<FormulaTypes> types_;                          // of the formula at hand
  std::set<std::pair<const YamlNode*, std::string>> missing_;  // reported of expressions
};

}  // namespace

void check_helpers(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  if (options.syntax_only || model.helpers.empty()) return;
  HelperCheck(model, diagnostics).run();
}

}  // namespace oploom::frontend
