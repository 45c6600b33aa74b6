// Pass 07: binds derivatives to operators, checks the names in formulas, plans what is saved.
#include <c10/util/Suggest.h>
#include <codegen/frontend/passes/FormulaScope.h>
#include <codegen/frontend/passes/ForwardFormulas.h>
#include <codegen/frontend/passes/Passes.h>
#include <codegen/frontend/passes/SavedValues.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace oploom::frontend {

namespace {

// `log1p` -> `Log1P`, `_softmax` -> `Softmax`: a letter after anything but a letter is large.
std::string camel_case(std::string_view name) {
  std::string out;
  bool large = true;
  for (const char c : name) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c));
    if (letter) {
      const auto byte = static_cast<unsigned char>(c);
      out += static_cast<char>(large ? std::toupper(byte) : std::tolower(byte));
    } else if (c != '_') {
      out += c;
    }
    large = !letter;
  }
  return out;
}

// Without defaults: derivatives may leave them away or keep them.
std::string comparable(const FunctionSchema& schema) {
  FunctionSchema copy = schema;
  for (auto& argument : copy.arguments) argument.default_value.reset();
  return to_string(copy);
}

// The first argument of the derivative's schema that is not the operator's, else the returns.
Location first_difference(const DerivativeEntry& entry, const FunctionSchema& wanted) {
  auto plain = [](SchemaArgument argument) {
    argument.default_value.reset();
    return argument;
  };
  const auto& mine = entry.schema.arguments;
  const std::size_t common = std::min(mine.size(), wanted.arguments.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (i < common && plain(mine[i]) == plain(wanted.arguments[i])) continue;
    const std::size_t begin = mine[i].type_span.offset;
    const std::size_t end = mine[i].name_span.offset + mine[i].name_span.length;
    return entry.name_node->locate(begin, end - begin);
  }
  if (mine.size() < wanted.arguments.size()) return entry.where;
  return entry.name_node->locate(entry.schema.returns_span.offset,
                                 entry.schema.returns_span.length);
}

class Differentiator {
 public:
  Differentiator(Model& model, const PassOptions& options, Diagnostics& diagnostics)
      : model_(model), options_(options), diagnostics_(diagnostics) {}

  void run() {
    for (const auto& op : model_.operators) names_.push_back(op->name());
    for (const auto& entry : model_.derivatives) {
      const auto [first, fresh] = seen_.emplace(entry->schema.full_name(), entry.get());
      if (!fresh) {
        diagnostics_
            .error(entry->where, "a second derivative of '" + entry->schema.full_name() + "'")
            .note(first->second->where, "the first one is here");
        continue;
      }
      bind(*entry);
    }
    for (const auto& op : model_.operators) adapt_inplace(*op);
  }

 private:
  void bind(const DerivativeEntry& entry) {
    if (!options_.syntax_only) {
      for (const auto& [where, message] : entry.refused) diagnostics_.error(where, message);
    }
    Operator* op = model_.find(entry.schema.full_name());
    const auto& unread = model_.unread;
    if (!op && (unread.contains("*") || unread.contains(entry.schema.full_name()))) return;
    if (!op) {
      diagnostics_
          .error(entry.where,
                 "a derivative of '" + entry.schema.full_name() + "', which is no operator")
          .suggest(c10::closest_name(entry.schema.full_name(), names_));
    } else if (comparable(op->schema) != comparable(entry.schema)) {
      diagnostics_
          .error(first_difference(entry, op->schema),
                 "the schema differs from the operator's, which is '" + to_string(op->schema) + "'")
          .note(op->schema_where, "the operator is here");
      return;
    }
    if (op && op->kind == SchemaKind::out) {
      diagnostics_.error(entry.where,
                         "an out form has no derivative; write it for the functional "
                         "form");
      return;
    }
    if (op && op->composite == "implicit" && !options_.syntax_only) {
      diagnostics_
          .error(entry.where, "'" + op->name() +
                                  "' is CompositeImplicit: it gets its gradient from the operators "
                                  "it calls, and this derivative would never be used")
          .note(op->schema_where, "give it 'dispatch: CompositeExplicit: ...' to use it");
    }
    Derivative derivative = make(entry);
    if (op) op->derivative = std::move(derivative);
  }

  Derivative make(const DerivativeEntry& entry) {
    Derivative derivative;
    derivative.entry = &entry;
    FormulaScope scope(entry, diagnostics_);
    derivative.output_differentiability = scope.output_differentiability();
    for (const auto& formula : entry.forward) scope.check_forward(formula);
    SavedValuePlan plan(entry.schema);
    for (const auto& formula : entry.gradients) {
      if (formula.non_differentiable) {
        for (const auto& name : formula.names) derivative.non_differentiable.push_back(name.text);
        continue;
      }
      if (!formula.tree) continue;  // reported already
      scope.check_backward(formula);
      GradientFormula finished = formula;
      finished.cpp = plan.add(formula, scope);
      derivative.inputs.push_back(std::move(finished));
    }
    derivative.saved = plan.take();
    if (!options_.syntax_only) {
      derivative.forward = plan_forward(entry, model_, diagnostics_);
      bind_forward(derivative.forward, entry.schema, entry.schema.kind() == SchemaKind::inplace);
    }
    if (entry.schema.kind() == SchemaKind::inplace) keep_what_is_overwritten(derivative);
    derivative.uses_grad_input_mask = scope.uses_grad_input_mask();
    if (!derivative.inputs.empty()) {
      const std::string stem = camel_case(entry.schema.root()) + "Backward";
      derivative.node = stem + std::to_string(counts_[stem]++);
    }
    return derivative;
  }

  // An in-place operator without an entry of its own uses the functional form's node: only what is
  // saved differs. The original self is overwritten, so a copy is kept where formulas need it, and
  // the result is self itself.
  void adapt_inplace(Operator& op) {
    if (op.kind != SchemaKind::inplace || op.derivative || !op.functional) return;
    if (op.composite == "implicit") return;
    if (!op.functional->derivative) return;
    op.derivative = *op.functional->derivative;
    bind_forward(op.derivative->forward, op.functional->schema, /*overwrites_self=*/true);
    keep_what_is_overwritten(*op.derivative);
  }

  static void keep_what_is_overwritten(Derivative& derivative) {
    for (auto& value : derivative.saved) {
      if (value.source == SavedValue::Source::input && value.of == "self") value.clone = true;
      if (!value.after) continue;
      if (value.expr.starts_with(value.of + ".")) {
        value.expr.replace(0, value.of.size(), "self");
      } else if (const auto at = value.expr.find("(" + value.of + ")"); at != std::string::npos) {
        value.expr.replace(at + 1, value.of.size(), "self");
      }
      value.of = "self";
    }
  }

  Model& model_;
  const PassOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<std::string> names_;
  std::map<std::string, const DerivativeEntry*> seen_;
  std::map<std::string, int> counts_;
};

}  // namespace

void differentiate(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  Differentiator(model, options, diagnostics).run();
}

}  // namespace oploom::frontend
