// Pass 09: every function and method that a formula calls exists, as an operator or as a helper
// that one of the helper headers declares, and takes as many arguments, of their types as far as
// these are known; a formula gives a tensor, or a tuple of several.
#include <c10/util/Suggest.h>
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
        check_result(entry->schema, formula);
        if (!formula.found) check_tuple(formula);
      }
      for (const auto& formula : entry->forward) {
        if (formula.tree) check(formula);
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
    std::set<const Expr*> called;
    walk(*formula.tree, [&](const Expr& node) {
      if (!formula.found && node.kind == Expr::Kind::binary) check_operands(formula, node);
      if (node.kind == Expr::Kind::member && !called.contains(&node)) {
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

  // What C++ has for numbers.
  static bool is_function_of_numbers(const std::string& name) {
    static const std::set<std::string, std::less<>> standard = {
        "abs",   "acos",     "acosh", "asin", "asinh",     "atan",     "atan2", "atanh",   "cbrt",
        "ceil",  "copysign", "cos",   "cosh", "erf",       "erfc",     "exp",   "exp2",    "expm1",
        "floor", "fmax",     "fmin",  "fmod", "hypot",     "isfinite", "isinf", "isnan",   "lgamma",
        "log",   "log10",    "log1p", "log2", "nextafter", "pow",      "round", "signbit", "sin",
        "sinh",  "sqrt",     "tan",   "tanh", "tgamma",    "trunc",    "max",   "min"};
    return standard.contains(name);
  }

  bool is_function(const std::string& name) const {
    // For taking results apart and for putting arguments together.
    static const std::set<std::string, std::less<>> standard = {
        "array", "get", "make_tuple", "move", "optional", "pair", "tuple", "vector"};
    const std::size_t end = name.rfind("::");
    if (end == std::string::npos) return types_.contains(name) || functions_.contains(name);
    const std::string plain = name.substr(end + 2);
    const std::string scope = name.substr(0, end);
    if (scope == "std") return standard.contains(plain) || is_function_of_numbers(plain);
    if (!model_.overloads(name, /*method=*/false).empty()) return true;
    return types_.contains(plain) || model_.helpers.contains(plain);
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

  // ---- Of what type the parts are, where that is plain ----

  enum class Gives { unknown, tensor, number, shape, text };

  static std::string describe(Gives gives) {
    return gives == Gives::tensor   ? "a tensor"
           : gives == Gives::number ? "a number"
           : gives == Gives::shape  ? "a shape"
                                    : "text";
  }

  Location place(const GradientFormula& formula, const Expr& expr) const {
    return formula.node->locate(expr.offset, expr.length);
  }
  static std::string text_of(const GradientFormula& formula, const Expr& expr) {
    return formula.text.substr(expr.offset, expr.length);
  }

  void check_operands(const GradientFormula& formula, const Expr& binary) {
    for (const Expr& operand : binary.children) {
      if (infer(*schema_, operand) != Gives::text) continue;
      if (binary.text == "==" || binary.text == "!=") continue;
      diagnostics_.error(place(formula, operand),
                         "this is text, and '" + binary.text + "' is for tensors and numbers");
    }
  }

  void check_not_called(const GradientFormula& formula, const Expr& member) {
    if (formula.found || !methods_.contains(member.text)) return;
    const std::size_t end = member.offset + member.length;
    diagnostics_.error(
        formula.node->locate(end - member.text.size(), member.text.size()),
        "the method '" + member.text + "' is not called: '" + member.text + "(...)' calls it");
  }

  // Functions of numbers get numbers, and no method is called on one; false after a mistake.
  bool check_numbers(const GradientFormula& formula, const Expr& call) {
    const Expr& callee = call.children[0];
    if (callee.kind == Expr::Kind::member) {
      const Expr& object = callee.children[0];
      const auto* argument =
          object.kind == Expr::Kind::name ? schema_->find_argument(object.text) : nullptr;
      if (!argument || argument->type.list || argument->type.optional ||
          (argument->type.base != SchemaBaseType::Int &&
           argument->type.base != SchemaBaseType::SymInt &&
           argument->type.base != SchemaBaseType::Float &&
           argument->type.base != SchemaBaseType::Bool)) {
        return true;
      }
      diagnostics_
          .error(place(formula, call), "'" + object.text + "' is of the type '" +
                                           to_string(argument->type) + "', which has no methods")
          .suggest(is_function("std::" + callee.text) && call.children.size() == 1
                       ? "std::" + callee.text + "(" + object.text + ")"
                       : "");
      return false;
    }
    if (callee.kind != Expr::Kind::name || !callee.text.starts_with("std::")) return true;
    const std::string plain = callee.text.substr(5);
    if (!is_function_of_numbers(plain)) return true;
    for (std::size_t i = 1; i < call.children.size(); ++i) {
      if (infer(*schema_, call.children[i]) != Gives::tensor) continue;
      diagnostics_
          .error(place(formula, call.children[i]),
                 "'" + callee.text + "' takes numbers, and this is a tensor")
          .suggest(functions_.contains(plain) ? "at::" + plain : "");
      return false;
    }
    return true;
  }

  static bool takes(const SchemaType& type, Gives gives) {
    switch (gives) {
      case Gives::tensor:
        return type.is_tensor_like();
      case Gives::shape:
        return type.list && !type.is_tensor_like();
      case Gives::text:
        return type.base == SchemaBaseType::Str;
      default:
        return true;
    }
  }

  // Of operators that take as many arguments, one takes these.
  void check_types(const GradientFormula& formula, const Expr& call,
                   const std::vector<const Operator*>& fitting, bool method) {
    if (formula.found) return;
    std::size_t furthest = 0;  // the argument that no operator takes which takes those before it
    const Operator* nearest = nullptr;
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
             takes(parameters[i - 1].type, infer(*schema_, call.children[i]))) {
        ++i;
      }
      if (i == call.children.size()) return;
      if (i > furthest) nearest = op;
      furthest = std::max(furthest, i);
    }
    const std::string& name = call.children[0].text;
    diagnostics_
        .error(place(formula, call.children[furthest]),
               "'" + name + "' does not take " +
                   describe(infer(*schema_, call.children[furthest])) + " here")
        .note(nearest->schema_where, "it is '" + to_string(nearest->schema) + "'");
  }

  // The gradients of several arguments come as a tuple of as many.
  void check_tuple(const GradientFormula& formula) {
    const std::size_t wanted = formula.names.size();
    if (wanted < 2) return;
    const Expr& tree = *formula.tree;
    const Gives gives = infer(*schema_, tree);
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

  Gives of_operators(const std::vector<const Operator*>& candidates) const {
    Gives gives = Gives::unknown;
    for (const Operator* op : candidates) {
      const auto& returns = op->schema.returns;
      if (returns.size() != 1 || returns[0].type.list) return Gives::unknown;
      const Gives one = returns[0].type.is_tensor_like() ? Gives::tensor : Gives::number;
      if (gives != Gives::unknown && gives != one) return Gives::unknown;
      gives = one;
    }
    return gives;
  }

  Gives infer(const FunctionSchema& schema, const Expr& expr) const {
    static const std::set<std::string, std::less<>> shapes = {"sizes", "strides", "sym_sizes",
                                                              "sym_strides", "options"};
    static const std::set<std::string, std::less<>> numbers = {
        "size", "numel", "dim", "scalar_type", "is_complex", "sym_size", "sym_numel"};
    switch (expr.kind) {
      case Expr::Kind::number:
        return Gives::number;
      case Expr::Kind::string:
        return Gives::text;
      case Expr::Kind::name: {
        const auto* argument = schema.find_argument(expr.text);
        if (!argument && (expr.text == "grad" || expr.text == "result")) return Gives::tensor;
        if (!argument && (expr.text.ends_with("_t") || expr.text.ends_with("_p"))) {
          argument = schema.find_argument(expr.text.substr(0, expr.text.size() - 2));
        }
        if (!argument || argument->type.list || argument->type.optional) return Gives::unknown;
        return argument->type.is_tensor_like() ? Gives::tensor : Gives::number;
      }
      case Expr::Kind::paren:
      case Expr::Kind::unary:
        return infer(schema, expr.children[0]);
      case Expr::Kind::ternary: {
        const Gives then = infer(schema, expr.children[1]);
        return then == infer(schema, expr.children[2]) ? then : Gives::unknown;
      }
      case Expr::Kind::binary: {
        const Gives left = infer(schema, expr.children[0]);
        const Gives right = infer(schema, expr.children[1]);
        if (left == Gives::tensor || right == Gives::tensor) return Gives::tensor;
        return left == right ? left : Gives::unknown;
      }
      case Expr::Kind::call: {
        const Expr& callee = expr.children[0];
        if (callee.kind != Expr::Kind::name && callee.kind != Expr::Kind::member) {
          return Gives::unknown;
        }
        const bool method = callee.kind == Expr::Kind::member;
        if (method && shapes.contains(callee.text)) {
          return expr.children.size() == 1 ? Gives::shape : Gives::number;
        }
        if (method && numbers.contains(callee.text)) return Gives::number;
        if (model_.helpers.contains(callee.text)) return Gives::unknown;
        return of_operators(model_.overloads(callee.text, method));
      }
      default:
        return Gives::unknown;
    }
  }

  // A gradient is a tensor of its argument's shape, which the engine reduces a broadcast one to.
  void check_result(const FunctionSchema& schema, const GradientFormula& formula) {
    if (formula.names.size() != 1) return;
    const auto* argument = schema.find_argument(formula.names[0].text);
    if (!argument || argument->type.list) return;
    const Gives gives = infer(schema, *formula.tree);
    if (gives == Gives::unknown || gives == Gives::tensor) return;
    diagnostics_.error(formula.node->locate(formula.tree->offset, formula.tree->length),
                       "the formula gives " + describe(gives) + ", and the gradient of '" +
                           formula.names[0].text + "' is a tensor: is a factor 'grad' missing?");
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
  const std::set<std::string> types_ = {"Tensor", "Scalar", "IntArrayRef", "TensorOptions",
                                        "double", "float",  "int64_t",     "bool"};
  std::set<std::string> functions_, methods_;
  const FunctionSchema* schema_ = nullptr;  // of the derivative at hand
  std::set<std::pair<const YamlNode*, std::string>> missing_;  // reported of expressions
};

}  // namespace

void check_helpers(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  if (options.syntax_only || model.helpers.empty()) return;
  HelperCheck(model, diagnostics).run();
}

}  // namespace oploom::frontend
