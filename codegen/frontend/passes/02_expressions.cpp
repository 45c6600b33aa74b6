// Pass 02: turns `expr:` into a structured operator with all its forms, and finds its derivative.
//
// Note [Gradients of expressions]
// For y = f(x_1, ..., x_n) the gradient of x_i is grad conj(df/dx_i). This pass adds an operator
// f_backward(grad_output, x..., output, numbers...) that computes the gradients of all tensor
// arguments in one loop, and the derivative of f that calls it. What df/dx_i does not need is no
// argument, so it is not saved; where f's result stands for a part of it, that is taken as the
// argument `output`, if this saves tensors or work. f_backward gets a derivative, too: a program of
// operators on tensors, each with a derivative of its own. So f has derivatives of every order,
// of which the first runs as one loop.
//
// Note [Tangents of expressions]
// The tangent of y is the sum over i of df/dx_i times the tangent of x_i. A term of it is the
// conjugate of the gradient of x_i for the conjugate tangent, so f_backward computes that; where
// several inputs have a tangent, f_jvp(tangents..., x..., output, numbers...) computes the sum in
// one loop. Both have gradients and tangents themselves, as programs of operators on tensors.
#include <c10/core/SchemaParser.h>
#include <codegen/frontend/expression/Build.h>
#include <codegen/frontend/expression/Functions.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

namespace oploom::frontend {

namespace {

bool is_number(const SchemaType& type) {
  if (type.list || type.optional) return false;
  return type.base == SchemaBaseType::Scalar || type.base == SchemaBaseType::Float ||
         type.base == SchemaBaseType::Int;
}
bool is_flag(const SchemaType& type) {
  return !type.list && !type.optional && type.base == SchemaBaseType::Bool;
}

std::set<std::string> argument_names(const FunctionSchema& schema) {
  std::set<std::string> names;
  for (const auto& argument : schema.arguments) names.insert(argument.name);
  return names;
}

// A default such as 0.5, 2.0 or 1e-5 tells that the number is not meant to be whole.
bool is_fraction(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  return text.find('.') != std::string::npos || !std::isfinite(value) || value != std::trunc(value);
}

// That of aten/iterator/DenseRows.h, whose headers the front end does not see.
constexpr std::size_t kMaxOperands = 16;

// What of the language a graph uses decides for which dtypes there is a kernel.
struct Needs {
  bool integers = true;
  bool complex = true;
  bool reduced = true;
};
Needs needs_of(const std::vector<const Node*>& roots, const FunctionSchema& schema) {
  Needs needs;
  for (const Node* node : in_order(roots)) {
    if (node->kind == Node::Kind::constant) {
      needs.integers &= node->value == std::trunc(node->value) && std::isfinite(node->value);
    } else if (node->kind == Node::Kind::scalar) {
      const SchemaArgument* argument = schema.find_argument(node->name);
      needs.integers &= argument->type.base != SchemaBaseType::Float &&
                        !is_fraction(argument->default_value.value_or(""));
    }
    if (node->kind != Node::Kind::call) continue;
    if (const Function* function = find_function(node->name)) {
      needs.integers &= function->has(Function::integers);
      needs.complex &= function->has(Function::complex);
      needs.reduced &= !function->has(Function::exact);
    } else {
      needs.integers &= node->name != "div";
      needs.complex &= !node->truth && node->name != "select";
    }
  }
  return needs;
}

// Whether the operators that compute the value of tensors may give a number, where a condition on
// the operator's numbers leaves no tensor in it.
bool may_be_number(const Node* node) {
  if (node->uniform) return true;
  if (node->kind != Node::Kind::call) return false;
  const auto& arguments = node->arguments;
  if (node->is_call("select") && arguments[0]->uniform) {
    return may_be_number(arguments[1]) || may_be_number(arguments[2]);
  }
  return std::all_of(arguments.begin(), arguments.end(), may_be_number);
}

// `value` with the shape of `incoming` in each case. A gradient of 0 is one of zeros, and not none
// at all: what relu hands on is computed from its input, so it can be differentiated again, if only
// to zeros.
const Node* with_shape_of(const Node* incoming, Graph& graph, const Node* value) {
  if (!may_be_number(value)) return value;
  if (value->is_constant(0)) return graph.call("zeros_like", {incoming});
  if (value->is_call("select") && !value->uniform) {
    return graph.call("select",
                      {value->arguments[0], with_shape_of(incoming, graph, value->arguments[1]),
                       with_shape_of(incoming, graph, value->arguments[2])});
  }
  return graph.call("add", {graph.call("zeros_like", {incoming}), value});
}

class Expander {
 public:
  Expander(Model& model, Diagnostics& diagnostics) : model_(model), diagnostics_(diagnostics) {}

  void run() {
    // More operators are added on the way, none of which has an expression to expand.
    const std::size_t count = model_.operators.size();
    for (std::size_t i = 0; i < count; ++i) {
      Operator& op = *model_.operators[i];
      if (op.expr) {
        expand(op);
      } else if (!op.requirements.empty()) {
        diagnostics_.error(op.requirements_where, "'requires' goes with 'expr'; the body of '" +
                                                      op.name() +
                                                      "' has to check its numbers itself");
      }
    }
  }

 private:
  void expand(Operator& op) {
    if (!check(op)) return;
    Graph graph;
    Scope scope = scope_of(graph, op.schema);
    const Node* root = build(graph, op, *op.expr, scope);
    if (!root) return;

    if (!uses_all(op, root)) return;

    Expression expression;
    expression.text = op.expr->value;
    for (const auto& argument : op.schema.arguments) {
      if (argument.type.is_plain_tensor()) expression.inputs.push_back(argument.name);
      if (is_number(argument.type) || is_flag(argument.type)) {
        expression.scalars.push_back(argument.name);
      }
    }
    const Needs needs = needs_of({root}, op.schema);
    expression.integers = needs.integers;
    expression.complex = needs.complex;
    expression.false_of_integers = needs.integers && is_false_of_integers(root);
    expression.reduced = needs.reduced;
    expression.signs = changes_signs_alone({root});
    expression.short_forms = takes_short_forms({root});
    expression.cost = cost({root});
    expression.promotion = root->truth      ? Expression::Promotion::truth
                           : needs.integers ? Expression::Promotion::same
                                            : Expression::Promotion::to_float;
    expression.program = linearize(graph.for_kernels({root}), argument_names(op.schema));
    if (!few_enough(op, "", expression.inputs.size() + 1)) return;
    for (const YamlNode* condition : op.requirements) require(op, *condition, expression);
    make_structured(op, root->truth);
    op.expression = std::move(expression);
    differentiate(graph, scope, op, root);
  }

  // Whether a kernel can have so many operands.
  bool few_enough(const Operator& op, const std::string& what, std::size_t operands) {
    if (operands <= kMaxOperands) return true;
    diagnostics_.error(op.expr->where,
                       what + "'" + op.name() + "' has " + std::to_string(operands) +
                           " tensors, inputs and results together; a kernel can have " +
                           std::to_string(kMaxOperands) + ": make two operators of it");
    return false;
  }

  bool check(const Operator& op) {
    const Location where = op.expr->where;
    const auto refuse = [&](const std::string& reason) {
      diagnostics_.error(where, "'" + op.name() + "': " + reason);
      return false;
    };
    if (op.kind != SchemaKind::functional) {
      return refuse("an expression belongs to the functional form; the others are made from it");
    }
    if (op.dispatch_given || op.structured || !op.structured_delegate.empty()) {
      return refuse(
          "an expression is the operator's kernel: leave out 'dispatch' and 'structured'");
    }
    const auto& returns = op.schema.returns;
    if (returns.size() != 1 || !returns[0].type.is_plain_tensor() || returns[0].alias) {
      return refuse("an operator with an expression returns one new tensor");
    }
    const auto refuse_name = [&](const SchemaArgument& argument, const std::string& reason) {
      diagnostics_.error(op.func->locate(argument.name_span.offset, argument.name_span.length),
                         "'" + argument.name + "' " + reason + ": name the argument otherwise");
      return false;
    };
    bool tensors = false;
    for (const auto& argument : op.schema.arguments) {
      if (argument.name == "inf" || argument.name == "nan") {
        return refuse_name(argument, "is a number in expressions");
      }
      if (!argument.type.is_plain_tensor()) continue;
      tensors = true;
      if (const auto* other = op.schema.find_argument(argument.name + "_tangent")) {
        return refuse_name(*other,
                           "is what the operator for the tangent of '" + op.name() + "' takes");
      }
    }
    return tensors || refuse("an operator with an expression takes at least one tensor");
  }

  static Scope scope_of(Graph& graph, const FunctionSchema& schema) {
    Scope scope;
    for (const auto& argument : schema.arguments) {
      if (argument.type.is_plain_tensor()) {
        scope.emplace(argument.name, graph.input(argument.name));
      } else if (is_number(argument.type) || is_flag(argument.type)) {
        scope.emplace(argument.name, graph.scalar(argument.name, is_flag(argument.type)));
      } else {
        scope.emplace(argument.name, nullptr);
      }
    }
    return scope;
  }

  const Node* build(Graph& graph, const Operator& op, const YamlNode& text, const Scope& scope) {
    const Instead instead = [&](const Expr& call) { return instead_of(op, text.value, call); };
    FormulaError error;
    const auto tree = parse_formula(text.value, error);
    const Node* root = tree ? build_expression(graph, *tree, scope, error, &instead) : nullptr;
    if (!root) {
      diagnostics_.error(text.locate(error.offset, error.length), error.message)
          .suggest(error.suggestion);
    }
    return root;
  }

  // Operators are no functions of the language, but what their expressions say can be written.
  std::string instead_of(const Operator& op, const std::string& text, const Expr& call) const {
    const Expr& callee = call.children[0];
    struct Given {
      std::string alone, operand;  // the latter in brackets where it is an operation itself
    };
    std::vector<Given> given;
    const auto take = [&](const Expr& argument) {
      const std::string value = text.substr(argument.offset, argument.length);
      const bool operation = argument.kind == Expr::Kind::binary ||
                             argument.kind == Expr::Kind::ternary ||
                             argument.kind == Expr::Kind::unary;
      given.push_back({value, operation ? "(" + value + ")" : value});
    };
    if (callee.kind == Expr::Kind::member) take(callee.children[0]);
    for (std::size_t i = 1; i < call.children.size(); ++i) take(call.children[i]);
    const Operator* called = operator_called(op, callee.text);
    if (!called) return "";
    if (!called->expr) return ": no expression describes the operator '" + called->name() + "'";
    FormulaError error;
    const auto tree = parse_formula(called->expr->value, error);
    if (!tree) return "";
    std::set<const Expr*> enclosed;
    walk(*tree, [&](const Expr& node) {
      if (node.kind != Expr::Kind::call && node.kind != Expr::Kind::paren) return true;
      for (const Expr& child : node.children) enclosed.insert(&child);
      return true;
    });
    const auto& parameters = called->schema.arguments;
    return ": write '" +
           rewrite(called->expr->value, *tree,
                   [&](const Expr& node) -> std::optional<std::string> {
                     for (std::size_t i = 0; i < parameters.size(); ++i) {
                       if (!node.is_name(parameters[i].name)) continue;
                       if (i < given.size()) {
                         return enclosed.contains(&node) ? given[i].alone : given[i].operand;
                       }
                       return is_number(parameters[i].type) ? parameters[i].default_value
                                                            : std::nullopt;
                     }
                     return std::nullopt;
                   }) +
           "'";
  }

  // The operator that is meant by a name, `ndtr` for special_ndtr or `logsigmoid` for log_sigmoid;
  // one with an expression before others. Null if there is none but `op`, where the name is used.
  const Operator* operator_called(const Operator& op, std::string_view name) const {
    const auto letters = [](std::string_view text) {
      std::string kept(text.substr(text.rfind(':') + 1));  // of at::mish
      if (kept.starts_with("special_")) kept.erase(0, 8);
      std::erase(kept, '_');
      return kept;
    };
    const std::string wanted = letters(name);
    const Operator* found = nullptr;
    for (const Model* model : {&model_, static_cast<Model*>(model_.core.get())}) {
      if (!model) continue;
      for (const auto& other : model->operators) {
        const bool meant =
            letters(other->schema.name) == wanted ||
            std::any_of(other->aliases.begin(), other->aliases.end(),
                        [&](const auto& alias) { return letters(alias.text) == wanted; });
        if (!meant || other.get() == &op || other->kind != SchemaKind::functional) continue;
        if (other->expr) return other.get();
        if (!found) found = other.get();
      }
    }
    return found;
  }

  void require(const Operator& op, const YamlNode& text, Expression& expression) {
    Graph graph;
    const Node* root = build(graph, op, text, scope_of(graph, op.schema));
    if (!root) return;
    const auto refuse = [&](const std::string& reason) {
      diagnostics_.error(text.where, "'requires' is a condition on numbers, and " + reason);
    };
    if (!root->truth) return refuse("this is a number: compare it, as in '> 0'");
    Requirement made;
    made.text = text.value;
    for (const Node* node : in_order({root})) {
      if (node->kind == Node::Kind::input) {
        return refuse("'" + node->name + "' is a tensor, whose elements no check looks at");
      }
      if (node->kind == Node::Kind::scalar) made.scalars.push_back(node->name);
    }
    if (made.scalars.empty()) return refuse("this has none of '" + op.name() + "' in it");
    made.program = linearize({root}, argument_names(op.schema));
    std::map<std::string, double> defaults;
    for (const auto& name : made.scalars) {
      const auto& value = op.schema.find_argument(name)->default_value;
      if (value) defaults[name] = *value == "True" ? 1 : std::strtod(value->c_str(), nullptr);
    }
    if (defaults.size() == made.scalars.size() && evaluate(root, defaults) == 0) {
      return refuse("the defaults of '" + op.name() + "' do not meet it");
    }
    expression.requirements.push_back(std::move(made));
  }

  bool uses_all(const Operator& op, const Node* root) {
    std::set<std::string> used;
    for (const Node* node : in_order({root})) {
      if (node->kind == Node::Kind::input || node->kind == Node::Kind::scalar) {
        used.insert(node->name);
      }
    }
    bool all = true;
    for (const auto& argument : op.schema.arguments) {
      if (used.contains(argument.name)) continue;
      diagnostics_.error(
          op.func->locate(argument.name_span.offset, argument.name_span.length),
          "the expression of '" + op.name() + "' makes no use of '" + argument.name + "'");
      all = false;
    }
    return all;
  }

  void make_structured(Operator& op, bool truth) {
    const Location where = op.expr->where;
    op.structured = true;
    op.structured_where = where;
    op.structured_inherits = {"TensorIteratorBase", where};
    const std::string kernel = op.schema.identifier() + "_out";
    op.dispatch = {{"CPU", where, {kernel, where}}, {"CUDA", where, {kernel, where}}};
    op.dispatch_given = true;
    const auto has_tag = [](const Spelled& tag) { return tag.text == "pointwise"; };
    if (std::none_of(op.tags.begin(), op.tags.end(), has_tag)) {
      op.tags.push_back({"pointwise", where});
    }
    // The forms that the author has not asked for by another name.
    bool inplace = false, out = false;
    for (const auto& name : op.autogen) {
      const bool scalar = name.text.ends_with(".Scalar") && op.schema.overload_name != "Scalar";
      const bool in =
          name.text.starts_with(op.schema.name + "_.") || name.text == op.schema.name + "_";
      inplace |= in && !scalar;
      out |= !in && !scalar && !name.text.ends_with("Scalar_out");
    }
    const auto& first = op.schema.arguments[0];
    const std::string overload = op.schema.overload_name;
    const std::string in_place = op.schema.name + "_" + (overload.empty() ? "" : "." + overload);
    if (!inplace && !truth && first.name == "self" && first.type.is_plain_tensor() &&
        !model_.find(in_place)) {
      op.autogen.push_back({in_place, where});
    }
    const bool shares_name =
        std::any_of(model_.operators.begin(), model_.operators.end(), [&](const auto& other) {
          return other->expr && other.get() != &op && other->schema.name == op.schema.name;
        });
    const std::string with_out =
        op.schema.name + "." + (shares_name && !overload.empty() ? overload + "_out" : "out");
    if (!out && !model_.find(with_out)) op.autogen.push_back({with_out, where});
  }

  // ---- Derivatives ----

  // What somebody has written; null for most.
  DerivativeEntry* written_entry(const Operator& op) const {
    for (const auto& entry : model_.derivatives) {
      if (entry->schema.full_name() == op.name()) return entry.get();
    }
    return nullptr;
  }

  // How the formulas of an entry call the gradient: each entry keeps to one way.
  static std::string incoming_of(const DerivativeEntry& entry) {
    std::string way = "grad";
    for (const auto& formula : entry.gradients) {
      if (!formula.tree) continue;
      walk(*formula.tree, [&](const Expr& node) {
        if (node.is_name("grads")) way = "grads[0]";
        for (const auto& value : entry.schema.returns) {
          if (value.name && node.is_name("grad_" + *value.name)) way = node.text;
        }
        return true;
      });
    }
    return way;
  }

  DerivativeEntry& new_entry(const FunctionSchema& schema, const YamlNode& node) {
    auto entry = std::make_unique<DerivativeEntry>();
    entry->schema = schema;
    entry->where = node.where;
    entry->node = entry->name_node = &node;
    model_.derivatives.push_back(std::move(entry));
    return *model_.derivatives.back();
  }

  GradientFormula formula(std::vector<std::string> names, std::string text, const YamlNode& node) {
    GradientFormula result;
    for (auto& name : names) result.names.push_back({std::move(name), node.where});
    result.text = std::move(text);
    result.node = &node;
    result.found = true;
    FormulaError error;
    result.tree = parse_formula(result.text, error, kFoundFormula);
    if (!result.tree) too_long(node);
    return result;
  }

  static ForwardFormula found_tangent(std::string of, const YamlNode& node) {
    ForwardFormula result;
    result.names = {{std::move(of), node.where}};
    result.node = &node;
    result.found = true;
    return result;
  }

  void too_long(const YamlNode& node) {
    if (!too_long_.insert(&node).second) return;
    diagnostics_.error(node.where,
                       "the derivatives of this expression are too long: write the first one in "
                       "the file of derivatives");
  }

  void differentiate(Graph& graph, const Scope& scope, Operator& op, const Node* root) {
    DerivativeEntry* written = written_entry(op);
    if (root->truth) {
      if (!written) new_entry(op.schema, *op.expr).output_differentiability = {false};
      return;
    }
    if (written && written->output_differentiability == std::vector<bool>{false}) return;
    std::vector<const Node*> partials;
    std::vector<std::string> names;
    bool zero = true;
    for (const auto& name : op.expression->inputs) {
      if (written && written->speaks_of(name)) continue;
      std::string obstacle;
      const Node* partial = derivative(graph, root, scope.at(name), obstacle);
      if (!partial && written) continue;
      if (!partial) return;  // the operator has no derivative, which its users are told
      zero &= partial->is_constant(0);
      partials.push_back(partial);
      names.push_back(name);
    }
    if (names.empty()) return;
    if (zero) {
      auto& entry = written ? *written : new_entry(op.schema, *op.expr);
      const std::string incoming = incoming_of(entry);
      for (const auto& name : names) {
        entry.gradients.push_back(formula({name}, "zeros_like(" + incoming + ")", *op.expr));
      }
      if (written) return;
      ForwardFormula forward = found_tangent("result", *op.expr);
      forward.text = "zeros_like(result)";
      forward.terms.push_back({names, forward.text, "", std::nullopt});
      entry.forward.push_back(std::move(forward));
      return;
    }
    add_backward(graph, op, root, names, partials, written);
  }

  // With `output` in place of the root where that is cheaper: fewer tensors to keep, or less work.
  static std::vector<const Node*> with_output(Graph& graph, const Node* root, const Node* output,
                                              const std::vector<const Node*>& partials) {
    if (root->kind != Node::Kind::call) return partials;
    std::vector<const Node*> replaced;
    for (const Node* partial : partials) replaced.push_back(graph.replace(partial, root, output));
    const auto price = [](const std::vector<const Node*>& roots) {
      int tensors = 0;
      for (const Node* node : in_order(roots)) tensors += node->kind == Node::Kind::input;
      return 8 * tensors + cost(roots);
    };
    return price(replaced) < price(partials) ? replaced : partials;
  }

  // The name, with a number where it is an argument's, or what generated code makes of it: `x_` for
  // a member, `x_t` for a tangent.
  static std::string fresh(const FunctionSchema& schema, const std::string& stem) {
    std::string name = stem;
    const auto near = [&](const SchemaArgument& argument) {
      return argument.name == name || argument.name == name + "_" || argument.name == name + "_t";
    };
    for (int i = 2; std::any_of(schema.arguments.begin(), schema.arguments.end(), near); ++i) {
      name = stem + std::to_string(i);
    }
    return name;
  }

  // `written`: the entry that lacks these gradients, or null. What it says of the tangent, or
  // leaves out, stays as it is.
  void add_backward(Graph& graph, Operator& op, const Node* root,
                    const std::vector<std::string>& names, const std::vector<const Node*>& partials,
                    DerivativeEntry* written) {
    const YamlNode& node = *op.expr;
    const std::string grad_name = fresh(op.schema, "grad_output");
    const std::string output_name = fresh(op.schema, "output");
    const Node* grad = graph.input(grad_name);
    const Node* output = graph.input(output_name);
    const bool complex = op.expression->complex;
    const auto conj = [&](const Node* value) {
      return complex && value->kind != Node::Kind::constant ? graph.call("conj", {value}) : value;
    };

    const auto factors = with_output(graph, root, output, partials);
    std::vector<const Node*> gradients;
    for (const Node* factor : factors) gradients.push_back(graph.mul(grad, conj(factor)));
    const std::size_t count = names.size();

    const Internal backward = add_internal(graph, op, "_backward", "gradient", {grad_name},
                                           output_name, gradients, complex);
    if (!backward.op) return;
    auto& entry = written ? *written : new_entry(op.schema, node);
    const std::string mask = count > 1 ? ", grad_input_mask" : "";
    entry.gradients.push_back(formula(
        names, backward.call + "(" + incoming_of(entry) + backward.rest + mask + ")", node));
    add_second(graph, node, *backward.op, grad, factors, conj);
    if (written) return;

    ForwardFormula forward = found_tangent("result", node);
    for (std::size_t i = 0; i < count; ++i) {
      ForwardTerm term;
      term.tangents = {names[i]};
      const std::string tangent = names[i] + (complex ? "_t.conj()" : "_t");
      term.text = backward.call + "(" + tangent + backward.rest;
      if (count > 1) {
        std::string flags;
        for (std::size_t k = 0; k < count; ++k) {
          flags += (k > 0 ? ", " : "") + std::string(k == i ? "true" : "false");
        }
        term.text = "std::get<" + std::to_string(i) + ">(" + term.text + ", {" + flags + "})";
      }
      term.text += ")";
      if (complex) term.text += ".conj()";
      forward.text += (i > 0 ? " + " : "") + term.text;
      forward.terms.push_back(std::move(term));
    }
    if (count > 1) {
      std::vector<std::string> tangents;
      const Node* sum = graph.constant(0);
      std::string given;
      for (std::size_t i = 0; i < count; ++i) {
        tangents.push_back(names[i] + "_tangent");
        given += (i > 0 ? ", " : "") + names[i] + "_t";
        sum = graph.add(sum, graph.mul(graph.input(tangents.back()), factors[i]));
      }
      const Internal jvp =
          add_internal(graph, op, "_jvp", "tangent", tangents, output_name, {sum}, complex);
      if (!jvp.op) return;
      forward.text = forward.together = jvp.call + "(" + given + jvp.rest + ")";
      add_derivative_of_jvp(graph, node, *jvp.op, sum, conj);
    }
    entry.forward.push_back(std::move(forward));
  }

  // An operator for generated code: an expression of `leading`, then of what `roots` use of the
  // operator's tensors, its output and its numbers.
  struct Internal {
    Operator* op = nullptr;
    std::string call;  // what calls it, and the arguments after the leading ones
    std::string rest;
  };
  Internal add_internal(Graph& graph, const Operator& op, const std::string& suffix,
                        const std::string& what, const std::vector<std::string>& leading,
                        const std::string& output_name, const std::vector<const Node*>& roots,
                        bool complex) {
    const YamlNode& node = *op.expr;
    Internal made;
    FunctionSchema schema;
    schema.name = name_of_derivative(op.schema, suffix);
    // oploom may have an operator of the same name as a package, and then one of this.
    const bool package = model_.name_space != kTreeNamespace;
    made.call = (package ? model_.name_space + "::" : "") + schema.name;
    const auto used = [&](const std::string& name) {
      for (const Node* item : in_order(roots)) {
        if (item->kind != Node::Kind::constant && item->kind != Node::Kind::call &&
            item->name == name) {
          return true;
        }
      }
      return false;
    };
    Expression expression;
    const auto take_tensor = [&](const std::string& name) {
      SchemaArgument argument;
      argument.name = name;
      schema.arguments.push_back(argument);
      expression.inputs.push_back(name);
    };
    for (const auto& name : leading) take_tensor(name);
    for (const auto& name : op.expression->inputs) {
      if (!used(name)) continue;
      take_tensor(name);
      made.rest += ", " + name;
    }
    if (used(output_name)) {
      take_tensor(output_name);
      made.rest += ", result";
    }
    for (const auto& argument : op.schema.arguments) {
      if (argument.type.is_tensor_like() || !used(argument.name)) continue;
      SchemaArgument copy = argument;
      copy.default_value.reset();
      copy.kwarg_only = false;
      schema.arguments.push_back(copy);
      expression.scalars.push_back(argument.name);
      made.rest += ", " + argument.name;
    }
    if (roots.size() > 1) {
      SchemaArgument mask;
      mask.name = fresh(op.schema, "output_mask");
      mask.type.base = SchemaBaseType::Bool;
      mask.type.list = true;
      mask.type.list_size = static_cast<int>(roots.size());
      schema.arguments.push_back(mask);
    }
    schema.returns.assign(roots.size(), SchemaReturn());
    schema.returns_in_parentheses = roots.size() > 1;

    if (const Operator* other = model_.find(schema.full_name())) {
      diagnostics_
          .error(node.where, "the " + what + " of '" + op.name() + "' would be '" +
                                 schema.full_name() + "', which exists")
          .note(other->schema_where, "it is here");
      return made;
    }
    auto internal = std::make_unique<Operator>();
    internal->schema = schema;
    internal->where = op.where;
    internal->schema_where = op.schema_where;
    internal->family = op.family;
    internal->variants = {"function"};
    internal->variants_given = true;
    internal->dispatch_given = true;
    internal->dispatch = {{"CompositeExplicit", node.where, {schema.identifier(), node.where}}};
    internal->tags = {{"pointwise", node.where}};
    internal->python_module = op.python_module;
    internal->doc = "The " + what + " of ``" + op.schema.name + "``.\n";
    if (!few_enough(op, "the " + what + " of ", expression.inputs.size() + roots.size()))
      return made;
    internal->internal = true;
    expression.text = to_text(roots[0]);
    for (std::size_t i = 1; i < roots.size(); ++i) expression.text += ", " + to_text(roots[i]);
    if (expression.text.size() > kFoundFormula.length) too_long(node);
    expression.promotion = Expression::Promotion::same;
    expression.complex = complex;
    expression.signs = changes_signs_alone(roots);
    expression.short_forms = takes_short_forms(roots);
    expression.cost = cost(roots);
    expression.program = linearize(graph.for_kernels(roots), argument_names(schema));
    internal->expression = std::move(expression);
    model_.by_name.emplace(schema.full_name(), internal.get());
    made.op = internal.get();
    model_.operators.push_back(std::move(internal));
    return made;
  }

  // A gradient as a program, over the names of the operator and `incoming`, the gradient of its
  // result.
  GradientFormula gradient_program(Graph& graph, const FunctionSchema& schema,
                                   const std::string& name, const Node* value, const Node* incoming,
                                   const YamlNode& node) {
    const Node* on_tensors = graph.with_operator_names(with_shape_of(incoming, graph, value));
    GradientFormula made = formula({name}, to_text(on_tensors), node);
    made.program = linearize({on_tensors}, argument_names(schema));
    return made;
  }
  static void add_program(Graph& graph, const FunctionSchema& schema, ForwardFormula& forward,
                          const std::string& name, const Node* value) {
    if (value->is_constant(0)) return;
    const Node* on_tensors = graph.with_operator_names(value);
    ForwardTerm term;
    term.tangents = {name};
    term.text = to_text(on_tensors);
    term.program = linearize({on_tensors}, argument_names(schema));
    forward.text += (forward.terms.empty() ? "" : " + ") + term.text;
    forward.terms.push_back(std::move(term));
  }

  // The derivatives of f_jvp, which is `sum`: linear in the tangents, and smooth in the rest.
  template <typename Conj>
  void add_derivative_of_jvp(Graph& graph, const YamlNode& node, const Operator& jvp,
                             const Node* sum, const Conj& conj) {
    auto& entry = new_entry(jvp.schema, node);
    ForwardFormula forward = found_tangent("result", node);
    const Node* incoming = graph.input("grad");
    for (const auto& name : jvp.expression->inputs) {
      std::string obstacle;
      const Node* partial = derivative(graph, sum, graph.input(name), obstacle);
      if (!partial) {
        entry.gradients.clear();
        return;
      }
      const Node* gradient = graph.mul(incoming, conj(partial));
      entry.gradients.push_back(
          gradient_program(graph, entry.schema, name, gradient, incoming, node));
      add_program(graph, entry.schema, forward, name, graph.mul(graph.input(name + "_t"), partial));
    }
    entry.forward.push_back(std::move(forward));
  }

  // The derivative of f_backward: gradients_i = grad_output conj(factor_i).
  template <typename Conj>
  void add_second(Graph& graph, const YamlNode& node, const Operator& backward, const Node* grad,
                  const std::vector<const Node*>& factors, const Conj& conj) {
    auto& entry = new_entry(backward.schema, node);
    const std::size_t count = factors.size();
    std::vector<const Node*> incoming;
    for (std::size_t i = 0; i < count; ++i) {
      incoming.push_back(graph.input(count == 1 ? "grad" : "grads[" + std::to_string(i) + "]"));
    }
    for (const auto& name : backward.expression->inputs) {
      const Node* leaf = graph.input(name);
      const Node* sum = graph.constant(0);
      for (std::size_t i = 0; i < count; ++i) {
        const Node* term = nullptr;
        if (leaf == grad) {
          term = graph.mul(incoming[i], factors[i]);
        } else {
          std::string obstacle;
          const Node* partial = derivative(graph, factors[i], leaf, obstacle);
          if (!partial) {
            entry.gradients.clear();
            return;
          }
          term = graph.mul(graph.mul(conj(incoming[i]), grad), conj(partial));
        }
        sum = graph.add(sum, term);
      }
      entry.gradients.push_back(
          gradient_program(graph, entry.schema, name, sum, incoming[0], node));
    }
    for (std::size_t i = 0; i < count; ++i) {
      ForwardFormula forward =
          found_tangent(count == 1 ? "result" : "result" + std::to_string(i), node);
      for (const auto& name : backward.expression->inputs) {
        const Node* tangent = graph.input(name + "_t");
        std::string obstacle;
        const Node* leaf = graph.input(name);
        // `factors` have been differentiated above, so there is no obstacle.
        const Node* term =
            leaf == grad
                ? graph.mul(tangent, conj(factors[i]))
                : graph.mul(grad, conj(graph.mul(derivative(graph, factors[i], leaf, obstacle),
                                                 tangent)));
        add_program(graph, entry.schema, forward, name, term);
      }
      entry.forward.push_back(std::move(forward));
    }
  }

  Model& model_;
  Diagnostics& diagnostics_;
  std::set<const YamlNode*> too_long_;
};

}  // namespace

std::string name_of_derivative(const FunctionSchema& schema, std::string_view suffix) {
  return schema.identifier() + std::string(suffix);
}

void expand_expressions(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  if (!options.syntax_only) Expander(model, diagnostics).run();
}

}  // namespace oploom::frontend
