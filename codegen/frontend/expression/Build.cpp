#include <c10/util/Suggest.h>
#include <codegen/frontend/expression/Build.h>
#include <codegen/frontend/expression/Functions.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace oploom::frontend {

namespace {

struct Failure {};

const std::map<std::string, double, std::less<>> kConstants = {
    {"e", std::numbers::e},
    {"inf", std::numeric_limits<double>::infinity()},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
    {"pi", std::numbers::pi},
};

const std::map<std::string, std::string, std::less<>> kBinary = {
    {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"<", "lt"},   {"<=", "le"},
    {">", "gt"},  {">=", "ge"}, {"==", "eq"}, {"!=", "ne"}, {"&&", "and"}, {"||", "or"},
};

// What other libraries have as functions.
const std::map<std::string_view, std::string_view, std::less<>> kElsewhere = {
    {"arccos", "acos(x)"},
    {"arcsin", "asin(x)"},
    {"arctan", "atan(x)"},
    {"cbrt", "copysign(pow(abs(x), 1 / 3), x)"},
    {"clamp", "minimum(maximum(x, low), high)"},
    {"clip", "minimum(maximum(x, low), high)"},
    {"exp10", "pow(10, x)"},
    {"fabs", "abs(x)"},
    {"gamma", "x > 0 ? exp(lgamma(x)) : pi / (sin(pi * x) * exp(lgamma(1 - x)))"},
    {"gelu", "x * ndtr(x)"},
    {"isfinite", "!isnan(x) && !isinf(x)"},
    {"ln", "log(x)"},
    {"logit", "log(x / (1 - x))"},
    {"max", "maximum(x, y)"},
    {"min", "minimum(x, y)"},
    {"mod", "remainder(x, y)"},
    {"power", "pow(x, y)"},
    {"reciprocal", "1 / x"},
    {"sgn", "sign(x)"},
    {"silu", "x * sigmoid(x)"},
    {"sinc", "x == 0 ? 1 : sin(pi * x) / (pi * x)"},
    {"square", "pow(x, 2)"},
    {"where", "condition ? x : y"},
};

// Operators that formulas call and the language has no function of that name for, in its terms. The
// numbers are real here, so conj leaves them as they are.
struct OperatorMeaning {
  std::string_view name;
  std::vector<std::string_view> parameters;
  std::string_view meaning;
};

const std::vector<OperatorMeaning>& operator_meanings() {
  static const std::vector<OperatorMeaning> rows = {
      {"add", {"x", "y"}, "x + y"},
      {"add", {"x", "y", "alpha"}, "x + alpha * y"},
      {"clamp", {"x", "low"}, "maximum(x, low)"},
      {"clamp", {"x", "low", "high"}, "minimum(maximum(x, low), high)"},
      {"clamp_max", {"x", "high"}, "minimum(x, high)"},
      {"clamp_min", {"x", "low"}, "maximum(x, low)"},
      {"clone", {"x"}, "x"},
      {"conj", {"x"}, "x"},
      {"detach", {"x"}, "x"},
      {"div", {"x", "y"}, "x / y"},
      {"double", {"x"}, "x"},
      {"eq", {"x", "y"}, "x == y"},
      {"expand_as", {"x", "y"}, "x"},
      {"ge", {"x", "y"}, "x >= y"},
      {"gt", {"x", "y"}, "x > y"},
      {"le", {"x", "y"}, "x <= y"},
      {"logical_and", {"x", "y"}, "x && y"},
      {"logical_not", {"x"}, "!x"},
      {"logical_or", {"x", "y"}, "x || y"},
      {"lt", {"x", "y"}, "x < y"},
      {"masked_fill", {"x", "mask", "value"}, "mask ? value : x"},
      {"mul", {"x", "y"}, "x * y"},
      {"ne", {"x", "y"}, "x != y"},
      {"neg", {"x"}, "-x"},
      {"ones_like", {"x"}, "1"},
      {"sgn", {"x"}, "sign(x)"},
      {"sub", {"x", "y"}, "x - y"},
      {"sub", {"x", "y", "alpha"}, "x - alpha * y"},
      {"where", {"condition", "x", "y"}, "condition ? x : y"},
      {"zeros_like", {"x"}, "0"},
  };
  return rows;
}

// The function that `at::exp` or `std::exp` is.
std::string without_namespace(const std::string& name) {
  for (const std::string_view prefix : {"at::", "std::"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

class Builder {
 public:
  // `operators`: of a formula, which calls more than functions, and them as methods.
  Builder(Graph& graph, const Scope& scope, FormulaError& error,
          const OperatorCalls* operators = nullptr, const Instead* instead = nullptr)
      : graph_(graph), scope_(scope), error_(error), operators_(operators), instead_(instead) {}

  const Node* build(const Expr& expr) {
    const Node* node = meaning_of(expr);
    if (!operators_ && node->kind == Node::Kind::constant) check_finite(expr, node->value);
    return node;
  }

 private:
  const Node* meaning_of(const Expr& expr) {
    switch (expr.kind) {
      case Expr::Kind::number:
        return number(expr);
      case Expr::Kind::name:
        return name(expr);
      case Expr::Kind::paren:
        return build(expr.children[0]);
      case Expr::Kind::unary:
        return unary(expr);
      case Expr::Kind::binary:
        return binary(expr);
      case Expr::Kind::ternary: {
        const Node* condition = truth(expr.children[0]);
        const Node* then = build(expr.children[1]);
        const Node* otherwise = build(expr.children[2]);
        if (then->truth != otherwise->truth) {
          if (!operators_) {
            fail(expr.children[2], "one branch of '?:' is a number and the other is true or false");
          }
          then = as_number(then);
          otherwise = as_number(otherwise);
        }
        return graph_.call("select", {condition, then, otherwise});
      }
      case Expr::Kind::call:
        return call(expr);
      default:
        fail(expr,
             "this has no meaning in an expression of numbers: write operators, functions "
             "of numbers, '?:' and the names of arguments");
    }
  }

  // Who wants inf or nan writes it; as the value of `log(-1)` or `1 / 0` it is a mistake.
  void check_finite(const Expr& expr, double value) {
    if (std::isfinite(value)) return;
    const bool negative = expr.kind == Expr::Kind::unary;
    const Expr& word = negative ? expr.children[0] : expr;
    bool written = true;  // not put in for a name, as rules of derivatives have it
    walk(expr, [&](const Expr& part) {
      if (part.kind == Expr::Kind::name) written &= !scope_.contains(part.text);
      return true;
    });
    if (!written || word.kind == Expr::Kind::name || word.kind == Expr::Kind::paren) return;
    const std::string text = std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    fail(expr, "this is " + text + " whatever the arguments are: write '" + text +
                   "' where that is meant");
  }

  [[noreturn]] void fail(const Expr& expr, std::string message, std::string suggestion = "") {
    error_ = {std::move(message), expr.offset, std::max<std::size_t>(expr.length, 1),
              std::move(suggestion)};
    throw Failure{};
  }

  static std::string all_functions() {
    std::string text;
    for (const auto& name : function_names()) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  const Node* number(const Expr& expr) {
    // A suffix, as in 1.0f, says nothing here.
    const double value = std::strtod(expr.text.c_str(), nullptr);
    if (std::isinf(value)) fail(expr, "the number '" + expr.text + "' is too large: write 'inf'");
    return graph_.constant(value);
  }

  const Node* name(const Expr& expr) {
    if (const auto found = scope_.find(expr.text); found != scope_.end()) {
      if (found->second) return found->second;
      fail(expr, "the argument '" + expr.text + "' is neither a tensor nor a number");
    }
    if (const auto found = kConstants.find(expr.text); found != kConstants.end()) {
      return graph_.constant(found->second);
    }
    if (find_function(expr.text)) {
      fail(expr, "'" + expr.text + "' is a function: write '" + expr.text + "(...)'");
    }
    std::vector<std::string> known;
    for (const auto& [text, node] : scope_) known.push_back(text);
    for (const auto& [text, value] : kConstants) known.push_back(text);
    fail(expr, "'" + expr.text + "' is no argument and no constant",
         c10::closest_name(expr.text, known));
  }

  const Node* numeric(const Expr& expr) {
    const Node* node = build(expr);
    if (operators_) return as_number(node);
    if (node->truth) {
      fail(expr, "expected a number, found something true or false: write 'condition ? 1 : 0'");
    }
    return node;
  }
  const Node* as_number(const Node* node) {
    if (!node->truth) return node;
    return graph_.call("select", {node, graph_.constant(1), graph_.constant(0)});
  }
  const Node* truth(const Expr& expr) {
    const Node* node = build(expr);
    if (!node->truth && operators_) return graph_.call("ne", {node, graph_.constant(0)});
    if (!node->truth) {
      fail(expr, "expected a condition, found a number: compare it, as in '!= 0'");
    }
    return node;
  }

  const Node* unary(const Expr& expr) {
    // Tensors have no `!` in C++.
    if (expr.text == "!" || (expr.text == "~" && operators_))
      return graph_.call("not", {truth(expr.children[0])});
    if (expr.text == "-") return graph_.call("neg", {numeric(expr.children[0])});
    if (expr.text == "+") return numeric(expr.children[0]);
    // `a ** b` is a product with `*b`.
    fail(expr, "the operator '" + expr.text + "' has no meaning in an expression of numbers" +
                   (expr.text == "*" ? ": write 'pow(a, b)' for a power" : ""));
  }

  static bool is_comparison(const Expr& expr) {
    return expr.kind == Expr::Kind::binary &&
           (expr.text[0] == '<' || expr.text[0] == '>' || expr.text == "==" || expr.text == "!=");
  }

  const Node* binary(const Expr& expr) {
    // Nor `&&` and `||`.
    const bool of_tensors = operators_ && (expr.text == "&" || expr.text == "|");
    const auto found = kBinary.find(of_tensors ? expr.text + expr.text : expr.text);
    if (found == kBinary.end()) {
      const std::string hint = expr.text == "%"   ? ": write 'remainder(a, b)' or 'fmod(a, b)'"
                               : expr.text == "^" ? ": write 'pow(a, b)'"
                               : expr.text == "&" ? ": write '&&' between conditions"
                               : expr.text == "|" ? ": write '||' between conditions"
                                                  : "";
      fail(expr,
           "the operator '" + expr.text + "' has no meaning in an expression of numbers" + hint);
    }
    const bool logic = found->second == "and" || found->second == "or";
    if (!logic && is_comparison(expr) && is_comparison(expr.children[0])) {
      fail(expr, "comparisons do not chain: join two of them with '&&'");
    }
    const Node* a = logic ? truth(expr.children[0]) : numeric(expr.children[0]);
    const Node* b = logic ? truth(expr.children[1]) : numeric(expr.children[1]);
    return graph_.call(found->second, {a, b});
  }

  const Node* call(const Expr& expr) {
    const Expr& callee = expr.children[0];
    const bool method = callee.kind == Expr::Kind::member;
    if (method && !operators_) {
      fail(callee, "expressions have functions, no methods" +
                       (find_function(callee.text) ? ": write '" + callee.text + "(...)'"
                                                   : instead_of(expr)));
    }
    if (callee.kind != Expr::Kind::name && !method) {
      const bool product =
          callee.kind == Expr::Kind::number ||
          (callee.kind == Expr::Kind::paren && callee.children[0].kind == Expr::Kind::binary);
      fail(callee,
           product ? "a product is written with '*'" : "expressions call functions by their names");
    }
    if (operators_) {
      if (const Node* node = operator_call(expr)) return node;
    }
    const std::string known_as = operators_ ? without_namespace(callee.text) : callee.text;
    const Function* function = find_function(known_as);
    if (!function) {
      const std::string message = "there is no function '" + callee.text + "'";
      if (const std::string known = instead_of(expr); !known.empty()) fail(callee, message + known);
      const std::string plain = callee.text.substr(callee.text.rfind(':') + 1);  // of at::exp
      const std::string closest =
          find_function(plain) ? plain : c10::closest_name(plain, function_names());
      fail(callee, message + (closest.empty() ? ": there are " + all_functions() : ""), closest);
    }
    const std::size_t wanted = function->parameters.size();
    const std::size_t found = expr.children.size() - 1 + (method ? 1 : 0);
    if (found != wanted) {
      fail(expr, "'" + callee.text + "' takes " + std::to_string(wanted) +
                     (wanted == 1 ? " argument, not " : " arguments, not ") +
                     std::to_string(found));
    }
    std::vector<const Node*> arguments;
    for (const Expr* argument : arguments_of(expr)) arguments.push_back(numeric(*argument));
    return graph_.call(known_as, std::move(arguments));
  }

  std::string instead_of(const Expr& call) const {
    const std::string& name = call.children[0].text;
    if (const auto known = kElsewhere.find(name.substr(name.rfind(':') + 1));
        known != kElsewhere.end()) {
      return ": write '" + std::string(known->second) + "'";
    }
    return instead_ ? (*instead_)(call) : "";
  }

  // With the object of a method first.
  static std::vector<const Expr*> arguments_of(const Expr& call) {
    std::vector<const Expr*> arguments;
    const Expr& callee = call.children[0];
    if (callee.kind == Expr::Kind::member) arguments.push_back(&callee.children[0]);
    for (std::size_t i = 1; i < call.children.size(); ++i) arguments.push_back(&call.children[i]);
    return arguments;
  }

  // What formulas call and the language has no function of that name for; null for all else.
  const Node* operator_call(const Expr& expr) {
    const std::string& name = expr.children[0].text;
    const std::string plain = without_namespace(name);
    if (find_function(plain)) return nullptr;
    std::vector<const Node*> values;
    for (const Expr* argument : arguments_of(expr)) values.push_back(build(*argument));
    for (const OperatorMeaning& known : operator_meanings()) {
      if (known.name == plain && known.parameters.size() == values.size()) {
        return meaning(known, values);
      }
    }
    return (*operators_)(name, values);
  }

  const Node* meaning(const OperatorMeaning& known, const std::vector<const Node*>& values) {
    Scope scope;
    for (std::size_t i = 0; i < values.size(); ++i) scope.emplace(known.parameters[i], values[i]);
    FormulaError error;
    return Builder(graph_, scope, error, operators_).build(*parse_formula(known.meaning, error));
  }

  Graph& graph_;
  const Scope& scope_;
  FormulaError& error_;
  const OperatorCalls* operators_;
  const Instead* instead_;
};

class Differentiator {
 public:
  Differentiator(Graph& graph, const Node* leaf, std::string& obstacle)
      : graph_(graph), leaf_(leaf), obstacle_(obstacle) {}

  const Node* run(const Node* root) {
    for (const Node* node : in_order({root})) {
      if (!step(node)) return nullptr;
    }
    return known_.at(root);
  }

 private:
  bool step(const Node* node) {
    known_[node] = nullptr;
    if (node == leaf_) {
      known_[node] = graph_.constant(1);
    } else if (node->kind != Node::Kind::call || node->truth || constant_below(node)) {
      known_[node] = graph_.constant(0);
    } else if (node->name == "select") {
      const auto& parts = node->arguments;
      known_[node] = graph_.select(parts[0], known_.at(parts[1]), known_.at(parts[2]));
    } else {
      known_[node] = chain(node);
    }
    return known_[node] != nullptr;
  }

  bool constant_below(const Node* node) const {
    for (const Node* argument : node->arguments) {
      if (!argument->truth && !known_.at(argument)->is_constant(0)) return false;
    }
    return true;
  }

  const Node* chain(const Node* node) {
    const auto& arguments = node->arguments;
    const auto d = [&](std::size_t i) { return known_.at(arguments[i]); };
    if (node->name == "add") return graph_.add(d(0), d(1));
    if (node->name == "sub") return graph_.sub(d(0), d(1));
    if (node->name == "neg") return graph_.neg(d(0));
    if (node->name == "conj") return graph_.call("conj", {d(0)});
    if (node->name == "mul") {
      return graph_.add(graph_.mul(d(0), arguments[1]), graph_.mul(arguments[0], d(1)));
    }
    if (node->name == "div") {
      // (a / b)' = (a' - (a / b) b') / b
      const Node* top = graph_.sub(d(0), graph_.mul(node, d(1)));
      return graph_.div(top, arguments[1]);
    }
    const Function* function = find_function(node->name);
    const Node* sum = graph_.constant(0);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (d(i)->is_constant(0)) continue;
      if (function->partials.empty()) {
        obstacle_ = node->name;
        return nullptr;
      }
      sum = graph_.add(sum, graph_.mul(partial(*function, i, node), d(i)));
    }
    return sum;
  }

  // The rule of the table with the call's own arguments.
  const Node* partial(const Function& function, std::size_t index, const Node* node) {
    Scope scope;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      scope.emplace(function.parameters[i], node->arguments[i]);
    }
    scope.emplace("result", node);
    FormulaError error;
    const auto tree = parse_formula(function.partials[index], error);
    const Node* built = tree ? build_expression(graph_, *tree, scope, error) : nullptr;
    if (!built) {
      throw std::logic_error("derivative of " + std::string(function.name) + ": " + error.message);
    }
    return simplify(built, node);
  }

  // Constants that have taken the place of parameters leave simpler forms: pow(x, 2 - 1). The call
  // itself and its arguments stay as they are: other parts of the graph share them.
  const Node* simplify(const Node* root, const Node* call) {
    std::map<const Node*, const Node*> done = {{call, call}};
    for (const Node* argument : call->arguments) done[argument] = argument;
    for (const Node* node : in_order({root})) {
      if (done.contains(node)) continue;
      if (node->kind != Node::Kind::call) {
        done[node] = node;
        continue;
      }
      std::vector<const Node*> arguments;
      for (const Node* argument : node->arguments) arguments.push_back(done.at(argument));
      if (node->name == "select" && is_known(arguments[0])) {
        done[node] = evaluate(arguments[0], {}) != 0 ? arguments[1] : arguments[2];
      } else {
        done[node] = graph_.simplified(node->name, arguments);
      }
    }
    return done.at(root);
  }

  static bool is_known(const Node* condition) {
    for (const Node* node : in_order({condition})) {
      if (node->kind == Node::Kind::input || node->kind == Node::Kind::scalar) return false;
    }
    return true;
  }

  Graph& graph_;
  const Node* leaf_;
  std::string& obstacle_;
  std::map<const Node*, const Node*> known_;
};

}  // namespace

const Node* build_expression(Graph& graph, const Expr& tree, const Scope& scope,
                             FormulaError& error, const Instead* instead) {
  try {
    return Builder(graph, scope, error, nullptr, instead).build(tree);
  } catch (const Failure&) {
    return nullptr;
  }
}

const Node* build_formula(Graph& graph, const Expr& tree, const Scope& scope,
                          const OperatorCalls& operators, FormulaError& error) {
  try {
    return Builder(graph, scope, error, &operators).build(tree);
  } catch (const Failure&) {
    return nullptr;
  }
}

const Node* derivative(Graph& graph, const Node* root, const Node* leaf, std::string& obstacle) {
  return Differentiator(graph, leaf, obstacle).run(root);
}

}  // namespace oploom::frontend
