// The types of the parts of formulas.
#include <codegen/frontend/passes/FormulaTypes.h>

#include <algorithm>
#include <array>

namespace oploom::frontend {

namespace {

constexpr std::array<TensorMethod, 20> kTensorMethods = {{
    {"defined", 0, Gives::truth},
    {"device", 0, Gives::device},
    {"dim", 0, Gives::whole},
    {"dtype", 0, Gives::dtype},
    {"is_complex", 0, Gives::truth},
    {"is_conj", 0, Gives::truth},
    {"is_floating_point", 0, Gives::truth},
    {"layout", 0, Gives::layout},
    {"numel", 0, Gives::whole},
    {"options", 0, Gives::options},
    {"requires_grad", 0, Gives::truth},
    {"scalar_type", 0, Gives::dtype},
    {"size", 1, Gives::whole},
    {"sizes", 0, Gives::shape},
    {"storage_offset", 0, Gives::whole},
    {"stride", 1, Gives::whole},
    {"strides", 0, Gives::shape},
    {"sym_numel", 0, Gives::whole},
    {"sym_size", 1, Gives::whole},
    {"sym_sizes", 0, Gives::shape},
}};

// Of values of one kind, side by side.
Gives list_of(Gives element) {
  switch (element) {
    case Gives::tensor:
      return Gives::tensors;
    case Gives::whole:
      return Gives::wholes;
    case Gives::fraction:
      return Gives::fractions;
    case Gives::truth:
      return Gives::truths;
    default:
      return Gives::unknown;
  }
}

// What the elements of a list are.
Gives element_of(Gives list) {
  switch (list) {
    case Gives::tensors:
      return Gives::tensor;
    case Gives::shape:
    case Gives::wholes:
      return Gives::whole;
    case Gives::fractions:
      return Gives::fraction;
    case Gives::truths:
      return Gives::truth;
    default:
      return Gives::unknown;
  }
}

Gives element_of_type(const SchemaType& type) {
  switch (type.base) {
    case SchemaBaseType::Tensor:
      return Gives::tensor;
    case SchemaBaseType::Int:
    case SchemaBaseType::SymInt:
      return Gives::whole;
    case SchemaBaseType::Float:
      return Gives::fraction;
    case SchemaBaseType::Bool:
    case SchemaBaseType::SymBool:
      return Gives::truth;
    case SchemaBaseType::Scalar:
      return Gives::scalar;
    case SchemaBaseType::Str:
      return Gives::text;
    case SchemaBaseType::ScalarType:
      return Gives::dtype;
    case SchemaBaseType::Layout:
      return Gives::layout;
    case SchemaBaseType::Device:
      return Gives::device;
    default:
      return Gives::unknown;
  }
}

// Optional values are asked before they are used, in ways that are not followed here.
Gives of_type(const SchemaType& type) {
  if (type.optional || type.elem_optional) return Gives::unknown;
  return type.list ? list_of(element_of_type(type)) : element_of_type(type);
}

// Of two numbers, what C++ computes with.
Gives wider(Gives left, Gives right) {
  if (left == Gives::fraction || right == Gives::fraction) return Gives::fraction;
  return Gives::whole;
}

// What `double(x)` or `Tensor{}` gives.
Gives constructed(std::string_view type) {
  return type == "Tensor"                      ? Gives::tensor
         : type == "Scalar"                    ? Gives::scalar
         : type == "IntArrayRef"               ? Gives::wholes
         : type == "TensorOptions"             ? Gives::options
         : type == "double" || type == "float" ? Gives::fraction
         : type == "int64_t"                   ? Gives::whole
         : type == "bool"                      ? Gives::truth
                                               : Gives::unknown;
}

bool is_comparison(std::string_view op) {
  return op == "==" || op == "!=" || op == "<" || op == ">" || op == "<=" || op == ">=";
}

}  // namespace

std::string describe(Gives gives) {
  switch (gives) {
    case Gives::unknown:
      return "";
    case Gives::tensor:
      return "a tensor";
    case Gives::tensors:
      return "a list of tensors";
    case Gives::whole:
    case Gives::scalar:
      return "a number";
    case Gives::fraction:
      return "a floating-point number";
    case Gives::truth:
      return "a bool";
    case Gives::shape:
      return "a shape";
    case Gives::wholes:
      return "a list of numbers";
    case Gives::fractions:
      return "a list of floating-point numbers";
    case Gives::truths:
      return "a list of bools";
    case Gives::text:
      return "text";
    case Gives::options:
      return "a TensorOptions";
    case Gives::dtype:
      return "a dtype";
    case Gives::layout:
      return "a layout";
    case Gives::device:
      return "a device";
  }
  return "";
}

bool is_number(Gives gives) {
  return gives == Gives::whole || gives == Gives::fraction || gives == Gives::truth;
}

bool is_value(Gives gives) {
  return gives == Gives::unknown || gives == Gives::tensor || gives == Gives::scalar ||
         is_number(gives);
}

bool are_comparable(Gives left, Gives right) {
  if (left == Gives::unknown || right == Gives::unknown || left == right) return true;
  if (element_of(left) != Gives::unknown && element_of(left) == element_of(right)) return true;
  return is_value(left) && is_value(right);
}

bool takes(const SchemaType& type, Gives gives) {
  const auto is = [&](SchemaBaseType base) { return type.base == base; };
  const bool whole = is(SchemaBaseType::Int) || is(SchemaBaseType::SymInt);
  switch (gives) {
    case Gives::unknown:
      return true;
    case Gives::tensor:
      return type.is_tensor_like();
    case Gives::tensors:
      return type.is_tensor_like() && type.list;
    case Gives::whole:  // of a list it is the one element
      return whole || is(SchemaBaseType::Float) || is(SchemaBaseType::Scalar);
    case Gives::fraction:
      return is(SchemaBaseType::Float) || is(SchemaBaseType::Scalar);
    case Gives::truth:
      return is(SchemaBaseType::Bool) || is(SchemaBaseType::SymBool) || is(SchemaBaseType::Scalar);
    case Gives::scalar:
      return is(SchemaBaseType::Scalar);
    case Gives::shape:
      return type.list && whole;
    case Gives::wholes:
      return type.list && (whole || is(SchemaBaseType::Float) || is(SchemaBaseType::Scalar));
    case Gives::fractions:
      return type.list && (is(SchemaBaseType::Float) || is(SchemaBaseType::Scalar));
    case Gives::truths:
      return type.list && is(SchemaBaseType::Bool);
    case Gives::text:
      return is(SchemaBaseType::Str);
    case Gives::options:
      return false;
    case Gives::dtype:
      return is(SchemaBaseType::ScalarType);
    case Gives::layout:
      return is(SchemaBaseType::Layout);
    case Gives::device:
      return is(SchemaBaseType::Device);
  }
  return true;
}

const TensorMethod* find_tensor_method(std::string_view name) {
  const auto found = std::find_if(kTensorMethods.begin(), kTensorMethods.end(),
                                  [&](const TensorMethod& method) { return method.name == name; });
  return found == kTensorMethods.end() ? nullptr : &*found;
}

bool is_function_of_numbers(std::string_view name) {
  static const std::set<std::string, std::less<>> standard = {
      "abs",   "acos",     "acosh", "asin", "asinh",     "atan",     "atan2", "atanh",   "cbrt",
      "ceil",  "copysign", "cos",   "cosh", "erf",       "erfc",     "exp",   "exp2",    "expm1",
      "floor", "fmax",     "fmin",  "fmod", "hypot",     "isfinite", "isinf", "isnan",   "lgamma",
      "log",   "log10",    "log1p", "log2", "nextafter", "pow",      "round", "signbit", "sin",
      "sinh",  "sqrt",     "tan",   "tanh", "tgamma",    "trunc",    "max",   "min"};
  return standard.contains(name);
}

FormulaTypes::FormulaTypes(const Model& model, const FunctionSchema& schema, const Expr& formula)
    : model_(model), schema_(schema) {
  walk(formula, [&](const Expr& node) {
    parameters_.insert(node.parameters.begin(), node.parameters.end());
    return true;
  });
}

Gives FormulaTypes::of(const Expr& expr) const {
  switch (expr.kind) {
    case Expr::Kind::number: {
      const bool hexadecimal = expr.text.starts_with("0x") || expr.text.starts_with("0X");
      const bool whole = hexadecimal || expr.text.find_first_of(".eEfF") == std::string::npos;
      return whole ? Gives::whole : Gives::fraction;
    }
    case Expr::Kind::string:
      return Gives::text;
    case Expr::Kind::name:
      return of_name(expr.text);
    case Expr::Kind::paren:
      return of(expr.children[0]);
    case Expr::Kind::unary: {
      if (expr.text == "*" || expr.text == "&") return Gives::unknown;
      const Gives operand = of(expr.children[0]);
      if (!is_value(operand)) return Gives::unknown;  // a mistake, which is found where it is
      if (expr.text == "!") return operand == Gives::tensor ? Gives::unknown : Gives::truth;
      return operand == Gives::truth ? Gives::whole : operand;
    }
    case Expr::Kind::ternary: {
      const Gives then = of(expr.children[1]), otherwise = of(expr.children[2]);
      if (then == otherwise) return then;
      return is_number(then) && is_number(otherwise) ? wider(then, otherwise) : Gives::unknown;
    }
    case Expr::Kind::index:
      return element_of(of(expr.children[0]));
    case Expr::Kind::braces:
      return expr.text.empty() ? of_elements(expr) : constructed(expr.text);
    case Expr::Kind::binary:
      return of_binary(expr);
    case Expr::Kind::call:
      return of_call(expr);
    default:
      return Gives::unknown;
  }
}

Gives FormulaTypes::of_name(const std::string& name) const {
  if (parameters_.contains(name)) return Gives::unknown;
  if (const auto* argument = schema_.find_argument(name)) return of_type(argument->type);
  if (name == "true" || name == "false") return Gives::truth;
  if (name == "grads") return Gives::tensors;
  if (name == "grad_input_mask") return Gives::truths;
  const auto& returns = schema_.returns;
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const std::string plain = returns.size() == 1 ? "result" : "result" + std::to_string(i);
    if (name == plain || name == returns[i].name) return of_type(returns[i].type);
    if (returns[i].name && name == "grad_" + *returns[i].name) return of_type(returns[i].type);
  }
  if (name == "grad") return returns.empty() ? Gives::unknown : of_type(returns[0].type);
  std::string_view stem = name;
  if (stem.starts_with("original_")) stem.remove_prefix(9);
  if (!stem.ends_with("_t") && !stem.ends_with("_p")) return Gives::unknown;
  stem.remove_suffix(2);
  const auto* argument = schema_.find_argument(stem);
  return argument ? of_type(argument->type) : Gives::unknown;
}

Gives FormulaTypes::of_elements(const Expr& braces) const {
  if (braces.children.empty()) return Gives::unknown;
  Gives common = of(braces.children[0]);
  for (const Expr& element : braces.children) {
    const Gives each = of(element);
    if (each == common) continue;
    if (!is_number(each) || !is_number(common)) return Gives::unknown;
    common = wider(each, common);
  }
  return list_of(common);
}

Gives FormulaTypes::of_binary(const Expr& binary) const {
  const Gives left = of(binary.children[0]), right = of(binary.children[1]);
  const bool tensor = left == Gives::tensor || right == Gives::tensor;
  if (binary.text == "&&" || binary.text == "||") return tensor ? Gives::unknown : Gives::truth;
  if (tensor) return Gives::tensor;
  if (left == Gives::unknown || right == Gives::unknown) return Gives::unknown;
  if (is_comparison(binary.text)) return Gives::truth;
  if (!is_value(left) || !is_value(right)) return Gives::unknown;
  if (left == Gives::scalar || right == Gives::scalar) return Gives::scalar;
  return wider(left, right);
}

Gives FormulaTypes::of_call(const Expr& call) const {
  const Expr& callee = call.children[0];
  if (callee.kind == Expr::Kind::name) {
    const Gives made = constructed(callee.text);
    if (made != Gives::unknown) return made;
    if (callee.text.starts_with("std::") && is_function_of_numbers(callee.text.substr(5))) {
      if (callee.text.starts_with("std::is") || callee.text == "std::signbit") return Gives::truth;
      Gives common = Gives::whole;  // as abs(), max() and min() leave it
      for (std::size_t i = 1; i < call.children.size(); ++i) {
        const Gives each = of(call.children[i]);
        if (!is_number(each)) return Gives::unknown;
        common = wider(common, each);
      }
      const bool keeps =
          callee.text == "std::abs" || callee.text == "std::max" || callee.text == "std::min";
      return keeps ? common : Gives::fraction;
    }
    if (model_.helpers.contains(callee.text)) return Gives::unknown;
    return of_operators(model_.overloads(callee.text, /*method=*/false));
  }
  if (callee.kind != Expr::Kind::member) return Gives::unknown;
  const Gives object = of(callee.children[0]);
  if (object == Gives::scalar) return callee.text == "conj" ? Gives::scalar : Gives::unknown;
  if (element_of(object) != Gives::unknown && callee.text == "size") return Gives::whole;
  if (object != Gives::tensor && object != Gives::unknown) return Gives::unknown;
  if (callee.text == "item") {
    return callee.template_arguments.empty() ? Gives::scalar : Gives::unknown;
  }
  if (const TensorMethod* method = find_tensor_method(callee.text)) {
    return object == Gives::tensor || call.children.size() == method->arguments + 1
               ? method->gives
               : Gives::unknown;
  }
  if (model_.helpers.contains(callee.text)) return Gives::unknown;
  return of_operators(model_.overloads(callee.text, /*method=*/true));
}

Gives FormulaTypes::of_operators(const std::vector<const Operator*>& candidates) {
  Gives gives = Gives::unknown;
  for (const Operator* op : candidates) {
    if (op->schema.returns.size() != 1) return Gives::unknown;
    const Gives one = of_type(op->schema.returns[0].type);
    if (gives != Gives::unknown && gives != one) return Gives::unknown;
    gives = one;
  }
  return gives;
}

}  // namespace oploom::frontend
