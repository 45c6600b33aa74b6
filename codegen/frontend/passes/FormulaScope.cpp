// Name lookup in derivative formulas.
#include <c10/util/Suggest.h>
#include <codegen/frontend/passes/FormulaScope.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace oploom::frontend {

namespace {

// C++ words, constants like `kDouble`, and macros like `M_PI` are nobody's variables.
bool is_cpp_constant(std::string_view name) {
  static constexpr std::string_view words[] = {"true",    "false",  "nullptr", "nullopt",
                                               "int64_t", "double", "Tensor",  "retain_variables"};
  if (std::find(std::begin(words), std::end(words), name) != std::end(words)) return true;
  if (name.find("::") != std::string_view::npos) return true;
  if (name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1]))) {
    return true;
  }
  return name.size() > 2 && std::all_of(name.begin(), name.end(), [](char c) {
           return std::isupper(static_cast<unsigned char>(c)) || c == '_' ||
                  std::isdigit(static_cast<unsigned char>(c));
         });
}

}  // namespace

FormulaScope::FormulaScope(const DerivativeEntry& entry, Diagnostics& diagnostics)
    : entry_(entry), diagnostics_(diagnostics) {
  const auto& schema = entry.schema;
  bool uses_grad = false, uses_others = false;
  for (const auto& formula : entry.gradients) {
    if (!formula.tree) continue;
    walk(*formula.tree, [&](const Expr& node) {
      if (node.is_name("grad")) uses_grad = true;
      if (node.is_name("grads")) uses_others = true;
      for (const auto& value : schema.returns) {
        if (value.name && node.is_name("grad_" + *value.name)) uses_others = true;
      }
      return true;
    });
  }
  if (entry.output_differentiability) {
    differentiable_ = *entry.output_differentiability;
  } else {
    for (std::size_t i = 0; i < schema.returns.size(); ++i) {
      const bool only_first = uses_grad && !uses_others;
      differentiable_.push_back(schema.returns[i].type.is_tensor_like() && (i == 0 || !only_first));
    }
  }
  check_mixed_gradients();
  for (const auto& argument : schema.arguments) known_.push_back(argument.name);
  for (std::size_t i = 0; i < schema.returns.size(); ++i) {
    if (schema.returns[i].name) {
      known_.push_back(*schema.returns[i].name);
      known_.push_back("grad_" + *schema.returns[i].name);
    }
    known_.push_back(schema.returns.size() == 1 ? "result" : "result" + std::to_string(i));
  }
  for (const auto& name : known_) known_forward_.push_back(name);
  for (const auto& argument : schema.arguments) {
    if (!argument.type.is_tensor_like()) continue;
    known_forward_.push_back(argument.name + "_p");
    known_forward_.push_back(argument.name + "_t");
  }
  for (const char* name : {"grad", "grads", "grad_input_mask"}) known_.emplace_back(name);
}

// `grad`, `grads[i]` and `grad_name` are three ways to say the same; a derivative keeps to one.
void FormulaScope::check_mixed_gradients() {
  const GradientFormula* formulas[3] = {};
  const Expr* uses[3] = {};
  for (const auto& formula : entry_.gradients) {
    if (!formula.tree) continue;
    walk(*formula.tree, [&](const Expr& node) {
      if (node.kind != Expr::Kind::name || entry_.schema.find_argument(node.text)) return true;
      const int way = node.text == "grad"              ? 0
                      : node.text == "grads"           ? 1
                      : named_gradient(node.text) >= 0 ? 2
                                                       : -1;
      if (way >= 0 && !uses[way]) {
        uses[way] = &node;
        formulas[way] = &formula;
      }
      return true;
    });
  }
  int first = -1;
  for (int way = 0; way < 3; ++way) {
    if (!uses[way]) continue;
    if (first < 0) {
      first = way;
      continue;
    }
    auto place = [&](int which) {
      return formulas[which]->node->locate(uses[which]->offset, uses[which]->length);
    };
    diagnostics_
        .error(place(way), "the derivative of '" + entry_.schema.full_name() + "' uses '" +
                               uses[way]->text + "' and '" + uses[first]->text +
                               "'; keep to one of them")
        .note(place(first), "'" + uses[first]->text + "' is used here");
    return;
  }
}

std::size_t FormulaScope::num_differentiable() const {
  return static_cast<std::size_t>(std::count(differentiable_.begin(), differentiable_.end(), true));
}

int FormulaScope::named_gradient(std::string_view name) const {
  if (!name.starts_with("grad_") || entry_.schema.find_argument(name)) return -1;
  int index = 0;
  for (std::size_t i = 0; i < entry_.schema.returns.size(); ++i) {
    const auto& value = entry_.schema.returns[i];
    if (value.name && name.substr(5) == *value.name) return differentiable_[i] ? index : -1;
    if (differentiable_[i]) ++index;
  }
  return -1;
}

int FormulaScope::output(std::string_view name) const {
  const auto& returns = entry_.schema.returns;
  if (entry_.schema.find_argument(name)) return -1;
  for (std::size_t i = 0; i < returns.size(); ++i) {
    if (returns[i].name && *returns[i].name == name) return static_cast<int>(i);
  }
  if (!name.starts_with("result")) return -1;
  const std::string_view digits = name.substr(6);
  if (digits.empty()) return returns.size() == 1 ? 0 : -1;
  int index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size()) return -1;
  return index < static_cast<int>(returns.size()) ? index : -1;
}

void FormulaScope::check_backward(const GradientFormula& formula) { check(formula, false); }
void FormulaScope::check_forward(const GradientFormula& formula) {
  if (formula.tree) check(formula, true);
}

void FormulaScope::check(const GradientFormula& formula, bool forward) {
  std::set<const Expr*> callees;
  parameters_.clear();
  walk(*formula.tree, [&](const Expr& node) {
    if (node.kind == Expr::Kind::lambda) {
      for (const auto& parameter : node.parameters) parameters_.insert(parameter);
    }
    if (node.kind == Expr::Kind::call && node.children[0].kind == Expr::Kind::name) {
      callees.insert(&node.children[0]);
    }
    if (node.kind == Expr::Kind::index && node.children[0].is_name("grads")) {
      check_grads_index(formula, node);
    }
    if (node.kind == Expr::Kind::binary && node.text == "/") check_division(formula, node);
    if (node.kind == Expr::Kind::name && !callees.contains(&node)) {
      check_name(formula, node, forward);
    }
    return true;
  });
}

void FormulaScope::check_grads_index(const GradientFormula& formula, const Expr& index) {
  const Expr& number = index.children[1];
  if (number.kind != Expr::Kind::number) return;
  std::size_t value = 0;
  std::from_chars(number.text.data(), number.text.data() + number.text.size(), value);
  if (value < num_differentiable()) return;
  diagnostics_.error(formula.node->locate(number.offset, number.length),
                     "grads[" + number.text + "] is out of range: '" + entry_.schema.full_name() +
                         "' has " + std::to_string(num_differentiable()) +
                         " differentiable output" + (num_differentiable() == 1 ? "" : "s"));
}

// Whether C++ computes the expression in whole numbers.
bool FormulaScope::is_whole(const Expr& expr) const {
  switch (expr.kind) {
    case Expr::Kind::number:
      return expr.text.starts_with("0x") || expr.text.starts_with("0X") ||
             expr.text.find_first_of(".eEfF") == std::string::npos;
    case Expr::Kind::name: {
      const auto* argument = entry_.schema.find_argument(expr.text);
      if (!argument || argument->type.list || argument->type.optional) return false;
      const SchemaBaseType base = argument->type.base;
      return base == SchemaBaseType::Int || base == SchemaBaseType::SymInt ||
             base == SchemaBaseType::Bool;
    }
    case Expr::Kind::paren:
    case Expr::Kind::unary:
      return is_whole(expr.children[0]);
    case Expr::Kind::ternary:
      return is_whole(expr.children[1]) && is_whole(expr.children[2]);
    case Expr::Kind::binary:
      return is_whole(expr.children[0]) && is_whole(expr.children[1]);
    default:
      return false;
  }
}

// `1 / 2` is 0 in C++, which is nobody's wish in a derivative.
void FormulaScope::check_division(const GradientFormula& formula, const Expr& division) {
  const Expr &left = division.children[0], &right = division.children[1];
  if (formula.found || !is_whole(left) || !is_whole(right)) return;  // an expression's are real
  const auto is_literal = [](const Expr& expr) { return expr.kind == Expr::Kind::number; };
  if (is_literal(left) && is_literal(right)) {
    const long divisor = std::strtol(right.text.c_str(), nullptr, 0);
    if (divisor != 0 && std::strtol(left.text.c_str(), nullptr, 0) % divisor == 0) return;
  }
  const auto text = [&](const Expr& expr) { return formula.text.substr(expr.offset, expr.length); };
  const std::string from = left.kind == Expr::Kind::paren ? text(left) : "(" + text(left) + ")";
  const std::string instead = is_literal(left)    ? text(left) + ". / " + text(right)
                              : is_literal(right) ? text(left) + " / " + text(right) + "."
                                                  : "double" + from + " / " + text(right);
  diagnostics_.error(
      formula.node->locate(division.offset, division.length),
      "C++ drops the remainder of a division of whole numbers: write '" + instead + "'");
}

void FormulaScope::check_name(const GradientFormula& formula, const Expr& name, bool forward) {
  const std::string& text = name.text;
  const auto& schema = entry_.schema;
  if (text == "grad_input_mask") uses_mask_ = true;
  if (formula.found && (text == "inf" || text == "nan")) return;
  if (schema.find_argument(text) || output(text) >= 0 || is_cpp_constant(text)) return;
  if (forward) {
    // `self_p`, `self_t`: the value and the tangent of an input; in-place forms have
    // `original_self_p` too.
    std::string_view stem = text;
    if (stem.starts_with("original_")) stem.remove_prefix(9);
    if (stem.ends_with("_p") || stem.ends_with("_t")) stem.remove_suffix(2);
    if (schema.find_argument(stem) || output(stem) >= 0) return;
  }
  // `self[i]`, `grads[i]`: formulas of operators on lists speak of one element.
  const bool on_list =
      std::any_of(schema.arguments.begin(), schema.arguments.end(),
                  [](const SchemaArgument& a) { return a.type.is_tensor_like() && a.type.list; });
  if (on_list && text == "i") return;
  if (parameters_.contains(text)) return;
  if (!forward && (text == "grad" || text == "grads" || text == "grad_input_mask" ||
                   named_gradient(text) >= 0)) {
    return;
  }
  const Location where = formula.node->locate(name.offset, name.length);
  if (text == "result" && schema.returns.size() != 1) {
    diagnostics_
        .error(where, "'" + schema.full_name() + "' has " + std::to_string(schema.returns.size()) +
                          " outputs, so there is no 'result'")
        .suggest(schema.returns.empty() ? "" : "result0");
    return;
  }
  for (std::size_t i = 0; i < schema.returns.size(); ++i) {
    if (schema.returns[i].name && text == "grad_" + *schema.returns[i].name) {
      diagnostics_.error(where, "output '" + *schema.returns[i].name +
                                    "' is not differentiable, so '" + text + "' does not exist");
      return;
    }
  }
  diagnostics_
      .error(where, "the formula uses '" + text + "', which is no argument or result of '" +
                        schema.full_name() + "'")
      .suggest(c10::closest_name(text, forward ? known_forward_ : known_));
}

}  // namespace oploom::frontend
