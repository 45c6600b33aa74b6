// Pass 09: every function and method that a formula calls exists, as an operator or as a helper
// that one of the helper headers declares, and takes that many arguments; a formula gives a tensor.
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
      // Pass 02 has found the formulas of an expression, which say nothing to who wrote that.
      found_ = entry->node == entry->name_node;
      for (const auto& formula : entry->gradients) {
        if (!formula.tree) continue;
        check(formula);
        check_result(entry->schema, formula);
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
    walk(*formula.tree, [&](const Expr& node) {
      if (node.kind != Expr::Kind::call) return true;
      const Expr& callee = node.children[0];
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
    // What C++ has for numbers, for taking results apart and for putting arguments together.
    static const std::set<std::string, std::less<>> standard = {
        "abs",      "acos",  "acosh",    "asin",  "asinh", "atan",  "atan2",      "atanh",
        "cbrt",     "ceil",  "copysign", "cos",   "cosh",  "erf",   "erfc",       "exp",
        "exp2",     "expm1", "floor",    "fmax",  "fmin",  "fmod",  "hypot",      "isfinite",
        "isinf",    "isnan", "lgamma",   "log",   "log10", "log1p", "log2",       "nextafter",
        "pow",      "round", "signbit",  "sin",   "sinh",  "sqrt",  "tan",        "tanh",
        "tgamma",   "trunc", "max",      "min",   "array", "get",   "make_tuple", "move",
        "optional", "pair",  "tuple",    "vector"};
    const std::size_t end = name.rfind("::");
    if (end == std::string::npos) return types_.contains(name) || functions_.contains(name);
    const std::string plain = name.substr(end + 2);
    const std::string scope = name.substr(0, end);
    if (scope == "std") return standard.contains(plain);
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
    for (const Operator* op : candidates) {
      const auto& arguments = op->schema.arguments;
      std::size_t needed = 0;
      for (const auto& argument : arguments) needed += !argument.default_value;
      // In C++ one TensorOptions stands for dtype, layout, device and pin_memory.
      const std::size_t fewer = op->schema.has_tensor_options() ? 3 : 0;
      least = std::min(least, needed > fewer ? needed - fewer : needed);
      most = std::max(most, arguments.size());
      if (given >= needed - std::min(needed, fewer) && given <= arguments.size()) return;
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

  // ---- What a formula gives ----

  enum class Gives { unknown, tensor, number, shape };

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
      case Expr::Kind::name: {
        if (expr.text == "grad" || expr.text == "result") return Gives::tensor;
        const auto* argument = schema.find_argument(expr.text);
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
    if (gives != Gives::number && gives != Gives::shape) return;
    diagnostics_.error(formula.node->locate(formula.tree->offset, formula.tree->length),
                       "the formula gives " +
                           std::string(gives == Gives::number ? "a number" : "a shape") +
                           ", and the gradient of '" + formula.names[0].text +
                           "' is a tensor: is a factor 'grad' missing?");
  }

  void report(const GradientFormula& formula, const std::string& name, std::size_t offset,
              const std::string& what, const std::set<std::string>& known,
              const std::set<std::string>& others) {
    if (found_) {
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
  bool found_ = false;
  std::set<std::pair<const YamlNode*, std::string>> missing_;  // reported of expressions
};

}  // namespace

void check_helpers(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  if (options.syntax_only || model.helpers.empty()) return;
  HelperCheck(model, diagnostics).run();
}

}  // namespace oploom::frontend
