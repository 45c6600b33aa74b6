// Taking forward formulas apart, and spelling them for kernels. See Note [Forward formulas].
#include <c10/util/Suggest.h>
#include <codegen/frontend/passes/ForwardFormulas.h>

#include <algorithm>

namespace oploom::frontend {

namespace {

std::string slice(const std::string& text, const Expr& expr) {
  return text.substr(expr.offset, expr.length);
}

class Planner {
 public:
  Planner(const DerivativeEntry& entry, const Model& model, Diagnostics& diagnostics)
      : entry_(entry), model_(model), diagnostics_(diagnostics) {
    for (const auto& formula : entry.gradients) {
      if (formula.non_differentiable) continue;
      for (const auto& name : formula.names) inputs_.push_back(name.text);
    }
  }

  std::vector<ForwardFormula> run() {
    std::vector<ForwardFormula> result;
    for (const auto& formula : entry_.forward) {
      ForwardFormula planned = formula;
      if (!planned.terms.empty()) {
        // Pass 02 has made them.
      } else if (formula.names.size() != 1) {
        diagnostics_.error(formula.names[0].where, "a forward formula gives one result's tangent");
      } else if (inputs_.empty() && formula.text.starts_with("auto_")) {
        no_tangent(formula.node->where);
      } else if (formula.text == "auto_linear") {
        linear(planned);
      } else if (formula.text == "auto_element_wise") {
        element_wise(planned);
      } else if (formula.tree) {
        split(planned, *formula.tree, "");
      }
      result.push_back(std::move(planned));
    }
    return result;
  }

 private:
  bool is_input(const std::string& name) const {
    return std::find(inputs_.begin(), inputs_.end(), name) != inputs_.end();
  }

  // The operator itself, of the tangents.
  void linear(ForwardFormula& formula) const {
    ForwardTerm term;
    std::vector<std::string> arguments;
    for (const auto& argument : entry_.schema.arguments) {
      if (is_input(argument.name)) {
        term.tangents.push_back(argument.name);
        arguments.push_back(argument.name + "_t");
      } else {
        arguments.push_back(argument.name);
      }
    }
    const Operator* op = model_.find(entry_.schema.full_name());
    const bool method =
        op && arguments.size() > 0 && arguments[0] == "self_t" && op->has_variant(/*method=*/true);
    const bool package = model_.name_space != kTreeNamespace;
    term.text = method ? "self_t." : (package ? model_.name_space : std::string("at")) + "::";
    term.text += entry_.schema.name + "(";
    for (std::size_t i = method ? 1 : 0; i < arguments.size(); ++i) {
      term.text += (i > (method ? 1u : 0u) ? ", " : "") + arguments[i];
    }
    term.text += ")";
    formula.terms.push_back(std::move(term));
  }

  // An element of the result depends on the elements at its place alone. The Jacobian is diagonal,
  // so what multiplies the conjugate tangent in the gradient, conjugated, multiplies the tangent.
  void element_wise(ForwardFormula& formula) {
    for (const auto& gradient : entry_.gradients) {
      if (gradient.non_differentiable || !gradient.tree) continue;
      bool single = gradient.names.size() == 1;
      walk(*gradient.tree, [&](const Expr& node) {
        single &= !node.is_name("grads") && !node.is_name("grad_input_mask");
        return true;
      });
      if (!single) {
        diagnostics_
            .error(formula.node->where,
                   "'auto_element_wise' needs a formula in terms of 'grad' for each input alone")
            .note(gradient.node->where, "this one is none");
        return;
      }
      const std::string& name = gradient.names[0].text;
      ForwardTerm term;
      term.tangents.push_back(name);
      term.text = rewrite(gradient.text, *gradient.tree,
                          [&](const Expr& node) -> std::optional<std::string> {
                            if (!node.is_name("grad")) return std::nullopt;
                            return name + "_t.conj()";
                          });
      const auto kind = gradient.tree->kind;
      const bool simple = kind == Expr::Kind::name || kind == Expr::Kind::call;
      term.text = (simple ? term.text : "(" + term.text + ")") + ".conj()";
      formula.terms.push_back(std::move(term));
    }
  }

  void split(ForwardFormula& formula, const Expr& expr, const std::string& sign) {
    if (expr.kind == Expr::Kind::binary && (expr.text == "+" || expr.text == "-")) {
      split(formula, expr.children[0], sign);
      split(formula, expr.children[1], expr.text == "-" ? "-" : "");
      return;
    }
    ForwardTerm term;
    walk(expr, [&](const Expr& node) {
      if (node.kind == Expr::Kind::name) tangent(formula, node, term);
      return true;
    });
    if (term.tangents.empty() && !mentions_tangent_) {
      no_tangent(formula.node->locate(expr.offset, expr.length));
    }
    const bool tight = expr.kind != Expr::Kind::ternary && expr.kind != Expr::Kind::binary;
    const std::string text = slice(formula.text, expr);
    term.text = sign.empty() || tight ? sign + text : sign + "(" + text + ")";
    formula.terms.push_back(std::move(term));
  }

  void no_tangent(const Location& where) {
    diagnostics_.error(where,
                       "every term of a forward formula has a tangent in it, and this one has "
                       "none: " +
                           choices());
  }

  // Takes down an input whose tangent `node` names.
  void tangent(const ForwardFormula& formula, const Expr& node, ForwardTerm& term) {
    std::string stem = node.text;
    if (stem.starts_with("original_")) stem.erase(0, 9);
    if (!stem.ends_with("_t")) return;
    stem.resize(stem.size() - 2);
    const SchemaArgument* argument = entry_.schema.find_argument(stem);
    if (!argument || !argument->type.is_tensor_like()) return;
    if (!is_input(stem)) {
      mentions_tangent_ = true;
      diagnostics_
          .error(formula.node->locate(node.offset, node.length),
                 "'" + stem + "' has no gradient here, so it has no tangent either: " + choices())
          .suggest(c10::closest_name(node.text, tangents()));
      return;
    }
    auto& list = term.tangents;
    if (std::find(list.begin(), list.end(), stem) == list.end()) list.push_back(stem);
  }

  std::vector<std::string> tangents() const {
    std::vector<std::string> names;
    for (const auto& input : inputs_) names.push_back(input + "_t");
    return names;
  }
  std::string choices() const {
    std::string text;
    for (const auto& name : tangents()) text += (text.empty() ? "there is '" : ", '") + name + "'";
    return text.empty() ? "no input has a gradient" : text;
  }

  const DerivativeEntry& entry_;
  const Model& model_;
  Diagnostics& diagnostics_;
  std::vector<std::string> inputs_;
  bool mentions_tangent_ = false;
};

int output_of(const FunctionSchema& schema, const std::string& name) {
  if (schema.find_argument(name)) return -1;
  for (std::size_t i = 0; i < schema.returns.size(); ++i) {
    if (schema.returns[i].name == name) return static_cast<int>(i);
    const std::string plain = schema.returns.size() == 1 ? "result" : "result" + std::to_string(i);
    if (name == plain) return static_cast<int>(i);
  }
  return -1;
}

class Binder {
 public:
  Binder(ForwardFormula& formula, const FunctionSchema& schema, bool overwrites_self)
      : formula_(formula), schema_(schema), overwrites_self_(overwrites_self) {}

  void run() {
    formula_.uses_output = formula_.uses_self = false;
    for (auto& term : formula_.terms) look_at(term.text);
    if (!formula_.together.empty()) look_at(formula_.together);
    formula_.uses_self &= formula_.uses_output && overwrites_self_;
    for (auto& term : formula_.terms) term.cpp = spell(term.text);
    if (!formula_.together.empty()) formula_.together_cpp = spell(formula_.together);
  }

 private:
  // The argument whose value a name stands for, or "".
  std::string value_of(const std::string& name) const {
    std::string stem = name;
    if (schema_.find_argument(stem)) return stem;
    if (stem.starts_with("original_")) stem.erase(0, 9);
    if (!stem.ends_with("_p")) return "";
    stem.resize(stem.size() - 2);
    return schema_.find_argument(stem) ? stem : "";
  }

  void look_at(const std::string& text) {
    FormulaError error;
    const auto tree = parse_formula(text, error);
    if (!tree) return;
    walk(*tree, [&](const Expr& node) {
      if (node.kind != Expr::Kind::name) return true;
      formula_.uses_output |= output_of(schema_, node.text) >= 0;
      formula_.uses_self |= value_of(node.text) == "self";
      return true;
    });
  }

  std::string spell(const std::string& text) const {
    FormulaError error;
    const auto tree = parse_formula(text, error);
    if (!tree) return text;
    return rewrite(text, *tree, [&](const Expr& node) -> std::optional<std::string> {
      if (node.kind != Expr::Kind::name) return std::nullopt;
      if (overwrites_self_ && output_of(schema_, node.text) >= 0) return "self";
      if (node.text == "original_self_t") return "self_t";
      const std::string value = value_of(node.text);
      if (value.empty()) return std::nullopt;
      return value == "self" && formula_.uses_self ? "self_p" : value;
    });
  }

  ForwardFormula& formula_;
  const FunctionSchema& schema_;
  bool overwrites_self_;
};

}  // namespace

std::vector<ForwardFormula> plan_forward(const DerivativeEntry& entry, const Model& model,
                                         Diagnostics& diagnostics) {
  return Planner(entry, model, diagnostics).run();
}

void bind_forward(std::vector<ForwardFormula>& formulas, const FunctionSchema& schema,
                  bool overwrites_self) {
  for (auto& formula : formulas) {
    if (std::any_of(formula.terms.begin(), formula.terms.end(),
                    [](const ForwardTerm& term) { return term.program.has_value(); })) {
      continue;
    }
    Binder(formula, schema, overwrites_self).run();
  }
}

}  // namespace oploom::frontend
