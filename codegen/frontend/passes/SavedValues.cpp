// The plan of saved values.
#include <codegen/frontend/passes/SavedValues.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace oploom::frontend {

namespace {

struct Property {
  std::string_view method;  // without `sym_`
  std::string_view cpp;     // the C++ type that holds it
  std::string_view suffix;  // added to the expression to turn a reference into a value
};

// Properties of a tensor that stay true when its elements change.
constexpr std::array<Property, 13> kTensorProperties = {{
    {"sizes", "std::vector<int64_t>", ".vec()"},
    {"strides", "std::vector<int64_t>", ".vec()"},
    {"size", "int64_t", ""},
    {"numel", "int64_t", ""},
    {"dim", "int64_t", ""},
    {"scalar_type", "ScalarType", ""},
    {"options", "TensorOptions", ""},
    {"device", "Device", ""},
    {"layout", "Layout", ""},
    {"is_complex", "bool", ""},
    {"is_conj", "bool", ""},
    {"is_floating_point", "bool", ""},
    {"storage_offset", "int64_t", ""},
}};

// Free functions of a tensor or a list of tensors with the same nature.
struct Summary {
  std::string_view function;
  std::string_view name;
  std::string_view cpp;
};
constexpr std::array<Summary, 3> kSummaries = {{
    {"to_args_sizes", "args_sizes", "std::vector<std::vector<int64_t>>"},
    {"to_args_scalartypes", "args_scalartypes", "std::vector<ScalarType>"},
    {"TensorGeometry", "geometry", "TensorGeometry"},
}};

const Property* find_property(std::string_view method) {
  if (method.starts_with("sym_")) method.remove_prefix(4);
  for (const auto& property : kTensorProperties) {
    if (property.method == method) return &property;
  }
  return nullptr;
}

// `size(1)`, `size(-2)`, `size(dim)`: arguments that the forward can evaluate as well.
bool is_plain_argument(const Expr& expr, const FunctionSchema& schema) {
  if (expr.kind == Expr::Kind::number) return true;
  if (expr.kind == Expr::Kind::unary && expr.text == "-") {
    return is_plain_argument(expr.children[0], schema);
  }
  if (expr.kind != Expr::Kind::name) return false;
  const auto* argument = schema.find_argument(expr.text);
  return argument && !argument->type.is_tensor_like();
}

std::string as_identifier(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') {
      out += "minus_";
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string SavedValuePlan::add(const GradientFormula& formula, const FormulaScope& scope) {
  text_ = formula.text;
  names_.clear();
  for (const auto& name : formula.names) names_.push_back(name.text);
  callees_.clear();
  walk(*formula.tree, [&](const Expr& node) {
    if (node.kind == Expr::Kind::call) callees_.insert(&node.children[0]);
    return true;
  });
  return rewrite(formula.text, *formula.tree,
                 [&](const Expr& node) { return replace(node, scope); });
}

std::optional<std::string> SavedValuePlan::replace(const Expr& node, const FormulaScope& scope) {
  if (auto value = property(node, scope)) {
    // `self_numel` may be an argument.
    while (schema_.find_argument(value->name) || scope.output(value->name) >= 0) {
      value->name += "_saved";
    }
    std::string name = value->name;
    keep(std::move(*value));
    return name;
  }
  if (callees_.contains(&node)) return std::nullopt;
  if (node.kind != Expr::Kind::name) return std::nullopt;
  if (const int index = scope.named_gradient(node.text); index >= 0) {
    return "grads[" + std::to_string(index) + "]";
  }
  if (auto value = whole(node, scope)) keep(std::move(*value));
  return std::nullopt;
}

std::optional<SavedValue> SavedValuePlan::property(const Expr& node,
                                                   const FormulaScope& scope) const {
  if (node.kind != Expr::Kind::call) return std::nullopt;
  const Expr& callee = node.children[0];
  SavedValue value;
  value.source = SavedValue::Source::expr;
  auto subject = [&](const Expr& name, SchemaType& type) {
    if (name.kind != Expr::Kind::name) return false;
    if (const auto* argument = schema_.find_argument(name.text)) {
      type = argument->type;
    } else if (const int index = scope.output(name.text); index >= 0) {
      type = schema_.returns[static_cast<std::size_t>(index)].type;
      value.after = true;
      value.output_index = static_cast<std::size_t>(index);
    } else {
      return false;
    }
    value.of = name.text;
    return type.is_tensor_like();
  };
  SchemaType type;
  if (callee.kind == Expr::Kind::name && node.children.size() == 2) {
    for (const auto& summary : kSummaries) {
      if (callee.text != summary.function || !subject(node.children[1], type)) continue;
      value.name = value.of + "_" + std::string(summary.name);
      value.cpp = summary.cpp;
      value.expr = callee.text + "(" + value.of + ")";
      return value;
    }
    return std::nullopt;
  }
  if (callee.kind != Expr::Kind::member || !callee.template_arguments.empty()) return std::nullopt;
  if (!subject(callee.children[0], type)) return std::nullopt;

  if (type.list) {  // the number of tensors in a list
    if (callee.text != "size" || node.children.size() != 1) return std::nullopt;
    value.name = value.of + "_size";
    value.cpp = "int64_t";
    value.expr = "static_cast<int64_t>(" + value.of + ".size())";
    return value;
  }
  const Property* property = find_property(callee.text);
  if (!property) return std::nullopt;
  const bool takes_dim = property->method == "size";
  if (node.children.size() != (takes_dim ? 2u : 1u)) return std::nullopt;
  value.name = value.of + "_" + std::string(property->method);
  std::string call = std::string(property->method) + "(";
  if (takes_dim) {
    const Expr& dim = node.children[1];
    if (!is_plain_argument(dim, schema_)) return std::nullopt;
    const std::string text(text_.substr(dim.offset, dim.length));
    value.name += "_" + as_identifier(text);
    call += text;
  }
  call += ")" + std::string(property->suffix);
  value.cpp = property->cpp;
  if (!type.optional) {
    value.expr = value.of + "." + call;
    return value;
  }
  // Of an optional tensor only `->sizes()` is known to be wanted as an optional.
  if (!callee.arrow || takes_dim) return std::nullopt;
  value.name += "_opt";
  value.cpp = "std::optional<" + value.cpp + ">";
  value.expr = value.of + ".has_value() && " + value.of + "->defined() ? " + value.cpp + "(" +
               value.of + "->" + call + ") : std::nullopt";
  return value;
}

std::optional<SavedValue> SavedValuePlan::whole(const Expr& node, const FormulaScope& scope) const {
  SavedValue value;
  value.name = value.of = node.text;
  if (const auto* argument = schema_.find_argument(node.text)) {
    value.source = SavedValue::Source::input;
    value.type = argument->type;
    return value;
  }
  if (const int index = scope.output(node.text); index >= 0) {
    value.source = SavedValue::Source::output;
    value.output_index = static_cast<std::size_t>(index);
    value.type = schema_.returns[value.output_index].type;
    value.after = true;
    return value;
  }
  return std::nullopt;
}

void SavedValuePlan::keep(SavedValue value) {
  auto known = std::find_if(saved_.begin(), saved_.end(),
                            [&](const SavedValue& s) { return s.name == value.name; });
  if (known == saved_.end()) known = saved_.insert(saved_.end(), std::move(value));
  for (const auto& name : names_) {
    if (std::find(known->used_by.begin(), known->used_by.end(), name) == known->used_by.end()) {
      known->used_by.push_back(name);
    }
  }
}

}  // namespace oploom::frontend
