#include <c10/util/number_functions.h>
#include <codegen/frontend/Formula.h>
#include <codegen/frontend/expression/Functions.h>
#include <codegen/frontend/expression/Graph.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <ranges>
#include <set>
#include <stdexcept>

namespace oploom::frontend {

namespace {

struct Operation {
  std::string_view name;
  std::string_view symbol;  // between its operands, or before the only one
  int precedence;
  bool truth;
  double (*evaluate)(const double*);
  unsigned traits = Function::none;
};

constexpr std::array<Operation, 16> kOperations = {{
    {"add", "+", 5, false, [](const double* a) { return a[0] + a[1]; }},
    {"sub", "-", 5, false, [](const double* a) { return a[0] - a[1]; }},
    {"mul", "*", 6, false, [](const double* a) { return a[0] * a[1]; }},
    {"div", "/", 6, false, [](const double* a) { return a[0] / a[1]; }},
    {"neg", "-", 7, false, [](const double* a) { return -a[0]; }},
    {"lt", "<", 4, true, [](const double* a) -> double { return a[0] < a[1]; }},
    {"le", "<=", 4, true, [](const double* a) -> double { return a[0] <= a[1]; }},
    {"gt", ">", 4, true, [](const double* a) -> double { return a[0] > a[1]; }},
    {"ge", ">=", 4, true, [](const double* a) -> double { return a[0] >= a[1]; }},
    {"eq", "==", 3, true, [](const double* a) -> double { return a[0] == a[1]; }},
    {"ne", "!=", 3, true, [](const double* a) -> double { return a[0] != a[1]; }},
    {"and", "&&", 2, true, [](const double* a) -> double { return a[0] != 0 && a[1] != 0; }},
    {"or", "||", 1, true, [](const double* a) -> double { return a[0] != 0 || a[1] != 0; }},
    {"not", "!", 7, true, [](const double* a) -> double { return a[0] == 0; }},
    {"conj", "conj", 8, false, [](const double* a) { return a[0]; }},
    {"sigmoid_product", "sigmoid_product", 8, false,
     [](const double* a) { return a[0] * c10::numbers::sigmoid(a[1]); },
     Function::two_forms | Function::short_form},
}};

const Operation* find_operation(std::string_view name) {
  for (const Operation& operation : kOperations) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // The shortest form that reads back as the same number.
  char buffer[40];
  for (const int digits : {6, 15, 16, 17}) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (std::strtod(buffer, nullptr) == value) break;
  }
  return buffer;
}

}  // namespace

double (*evaluation_of(std::string_view operation))(const double* arguments) {
  if (operation == "select") return [](const double* a) { return a[0] != 0 ? a[1] : a[2]; };
  if (const Operation* known = find_operation(operation)) return known->evaluate;
  const Function* function = find_function(operation);
  if (!function) throw std::logic_error("no operation '" + std::string(operation) + "'");
  return function->evaluate;
}

bool has_any(std::string_view operation, unsigned traits) {
  if (const Operation* known = find_operation(operation)) return (known->traits & traits) != 0;
  const Function* function = find_function(operation);
  return function && (function->traits & traits) != 0;
}

const Node* Graph::intern(Node node) {
  std::string key = std::to_string(static_cast<int>(node.kind));
  if (node.kind == Node::Kind::constant) {
    key += number_text(node.value);
  } else {
    key += node.name;
    for (const Node* argument : node.arguments) key += "," + std::to_string(argument->id);
  }
  auto& place = nodes_[key];
  if (!place) {
    node.id = nodes_.size();
    place = std::make_unique<Node>(std::move(node));
  }
  return place.get();
}

const Node* Graph::constant(double value) {
  Node node;
  node.value = value;
  return intern(std::move(node));
}

const Node* Graph::input(const std::string& name) {
  Node node;
  node.kind = Node::Kind::input;
  node.name = name;
  node.uniform = false;
  return intern(std::move(node));
}

const Node* Graph::scalar(const std::string& name, bool truth) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.name = name;
  node.truth = truth;
  return intern(std::move(node));
}

const Node* Graph::call(const std::string& operation, std::vector<const Node*> arguments) {
  Node node;
  node.kind = Node::Kind::call;
  node.name = operation;
  bool constants = true;
  std::vector<double> values;
  for (const Node* argument : arguments) {
    node.uniform &= argument->uniform;
    constants &= argument->kind == Node::Kind::constant;
    values.push_back(argument->value);
  }
  if (operation == "select") {
    node.truth = arguments[1]->truth;
  } else if (const Operation* known = find_operation(operation)) {
    node.truth = known->truth;
  } else if (const Function* function = find_function(operation)) {
    node.truth = function->has(Function::truth);
  }
  if (constants && !node.truth) return constant(evaluation_of(operation)(values.data()));
  node.arguments = std::move(arguments);
  return intern(std::move(node));
}

const Node* Graph::neg(const Node* a) {
  if (a->is_constant(0)) return a;
  if (a->is_call("neg")) return a->arguments[0];
  if (a->is_call("sub")) return sub(a->arguments[1], a->arguments[0]);
  return call("neg", {a});
}

const Node* Graph::add(const Node* a, const Node* b) {
  if (a->is_constant(0)) return b;
  if (b->is_constant(0)) return a;
  if (b->is_call("neg")) return sub(a, b->arguments[0]);
  if (a->is_call("neg")) return sub(b, a->arguments[0]);
  return call("add", {a, b});
}

const Node* Graph::sub(const Node* a, const Node* b) {
  if (b->is_constant(0)) return a;
  if (a->is_constant(0)) return neg(b);
  if (a == b) return constant(0);
  if (b->is_call("neg")) return add(a, b->arguments[0]);
  if (b->is_call("sub") && b->arguments[0] == a) return b->arguments[1];
  return call("sub", {a, b});
}

const Node* Graph::mul(const Node* a, const Node* b) {
  if (a->is_constant(0) || b->is_constant(0)) return constant(0);
  if (a->is_constant(1)) return b;
  if (b->is_constant(1)) return a;
  if (a->is_constant(-1)) return neg(b);
  if (b->is_constant(-1)) return neg(a);
  if (a->is_call("neg")) return neg(mul(a->arguments[0], b));
  if (b->is_call("neg")) return neg(mul(a, b->arguments[0]));
  // A branch of 0 must stay 0 whatever the other factor is there: inf or nan, often enough.
  for (const auto& [choice, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (!choice->is_call("select")) continue;
    const auto& parts = choice->arguments;
    const bool simple =
        parts[1]->kind == Node::Kind::constant || parts[2]->kind == Node::Kind::constant;
    if (simple) return select(parts[0], mul(parts[1], other), mul(parts[2], other));
  }
  if (b->is_call("div") && b->arguments[0]->is_constant(1)) return div(a, b->arguments[1]);
  if (a->is_call("div") && a->arguments[0]->is_constant(1)) return div(b, a->arguments[1]);
  if (b->kind == Node::Kind::constant) return call("mul", {b, a});
  return call("mul", {a, b});
}

const Node* Graph::div(const Node* a, const Node* b) {
  if (a->is_constant(0)) return a;
  if (b->is_constant(1)) return a;
  if (a == b) return constant(1);
  if (a->is_call("neg")) return neg(div(a->arguments[0], b));
  return call("div", {a, b});
}

const Node* Graph::select(const Node* condition, const Node* then, const Node* otherwise) {
  // A choice within a branch is made already where it is the same.
  if (then->is_call("select") && then->arguments[0] == condition) then = then->arguments[1];
  if (otherwise->is_call("select") && otherwise->arguments[0] == condition) {
    otherwise = otherwise->arguments[2];
  }
  if (then == otherwise) return then;
  return call("select", {condition, then, otherwise});
}

const Node* Graph::simplified(const std::string& operation,
                              const std::vector<const Node*>& arguments) {
  if (operation == "neg") return neg(arguments[0]);
  if (operation == "add") return add(arguments[0], arguments[1]);
  if (operation == "sub") return sub(arguments[0], arguments[1]);
  if (operation == "mul") return mul(arguments[0], arguments[1]);
  if (operation == "div") return div(arguments[0], arguments[1]);
  if (operation == "select") return select(arguments[0], arguments[1], arguments[2]);
  if (operation == "pow") {
    if (arguments[1]->is_constant(0)) return constant(1);
    if (arguments[1]->is_constant(1)) return arguments[0];
    if (arguments[1]->is_constant(2)) return mul(arguments[0], arguments[0]);
  }
  return call(operation, arguments);
}

const Node* Graph::replace(const Node* root, const Node* what, const Node* with) {
  std::map<const Node*, const Node*> done = {{what, with}};
  for (const Node* node : in_order({root})) {
    if (done.contains(node)) continue;
    bool changed = false;
    std::vector<const Node*> arguments;
    for (const Node* argument : node->arguments) {
      arguments.push_back(done.at(argument));
      changed |= arguments.back() != argument;
    }
    done[node] = changed ? call(node->name, std::move(arguments)) : node;
  }
  return done.at(root);
}

std::vector<const Node*> Graph::for_kernels(const std::vector<const Node*>& roots) {
  const auto order = in_order(roots);
  std::map<const Node*, int> uses;
  for (const Node* root : roots) ++uses[root];
  for (const Node* node : order) {
    for (const Node* argument : node->arguments) ++uses[argument];
  }
  std::map<const Node*, const Node*> done;
  for (const Node* node : order) {
    std::vector<const Node*> arguments;
    for (const Node* argument : node->arguments) arguments.push_back(done.at(argument));
    done[node] = node;
    if (node->kind != Node::Kind::call) continue;
    done[node] = call(node->name, arguments);
    if (node->name == "pow") {
      const Node* x = arguments[0];
      const Node* square = call("mul", {x, x});
      if (arguments[1]->is_constant(2)) done[node] = square;
      if (arguments[1]->is_constant(3)) done[node] = call("mul", {square, x});
      if (arguments[1]->is_constant(4)) done[node] = call("mul", {square, square});
    }
    if (node->name != "mul") continue;
    for (const std::size_t i : {1, 0}) {
      const Node* sigmoid = node->arguments[i];
      if (!sigmoid->is_call("sigmoid") || sigmoid->uniform || uses[sigmoid] > 1) continue;
      done[node] = call("sigmoid_product", {arguments[1 - i], done.at(sigmoid->arguments[0])});
      break;
    }
  }
  std::vector<const Node*> made;
  for (const Node* root : roots) made.push_back(done.at(root));
  return made;
}

const Node* Graph::with_operator_names(const Node* root) {
  std::map<const Node*, const Node*> done;
  for (const Node* node : in_order({root})) {
    done[node] = node;
    if (node->kind != Node::Kind::call) continue;
    std::vector<const Node*> arguments;
    for (const Node* argument : node->arguments) arguments.push_back(done.at(argument));
    const Function* function = find_function(node->name);
    const bool renamed = function && !node->uniform && !function->operator_name.empty();
    done[node] =
        call(renamed ? std::string(function->operator_name) : node->name, std::move(arguments));
  }
  return done.at(root);
}

std::vector<const Node*> in_order(const std::vector<const Node*>& roots) {
  std::set<const Node*> seen;
  std::vector<const Node*> order;
  // Arguments are pushed again behind their user, which is taken when they are done.
  std::vector<std::pair<const Node*, std::size_t>> stack;
  for (const Node* root : roots) {
    if (!seen.insert(root).second) continue;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == node->arguments.size()) {
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const Node* argument = node->arguments[next++];
      if (seen.insert(argument).second) stack.emplace_back(argument, 0);
    }
  }
  return order;
}

bool depends_on(const Node* root, const Node* leaf) {
  for (const Node* node : in_order({root})) {
    if (node == leaf) return true;
  }
  return false;
}

int cost(const std::vector<const Node*>& roots) {
  int total = 0;
  for (const Node* node : in_order(roots)) {
    if (node->kind != Node::Kind::call || node->uniform) continue;
    const Function* function = find_function(node->name);
    total += function ? function->cost : node->name == "div" ? 4 : 1;
  }
  return total;
}

bool changes_signs_alone(const std::vector<const Node*>& roots) {
  const auto order = in_order(roots);
  return std::all_of(order.begin(), order.end(), [](const Node* node) {
    if (node->kind == Node::Kind::input) return true;
    if (node->kind != Node::Kind::call) return false;
    const Function* function = find_function(node->name);
    return node->name == "neg" || (function && function->has(Function::signs));
  });
}

bool takes_short_forms(const std::vector<const Node*>& roots) {
  // What other nodes than products are made of: a small relative error may become a large one.
  std::set<const Node*> exposed;
  bool found = false;
  const auto order = in_order(roots);
  for (const Node* node : std::views::reverse(order)) {
    if (node->kind != Node::Kind::call || node->uniform) continue;
    const std::string& name = node->name;
    const bool multiplied =
        name == "mul" || name == "div" || name == "neg" || name == "select" || name == "conj";
    const bool is_exposed = exposed.contains(node);
    if (has_any(name, Function::short_form)) {
      if (is_exposed) return false;
      found = true;
    }
    if (!multiplied || is_exposed) {
      exposed.insert(node->arguments.begin(), node->arguments.end());
    }
  }
  return found;
}

bool is_false_of_integers(const Node* node) {
  // Numbers are computed as they are, whatever the tensors' dtype.
  if (node->kind != Node::Kind::call || node->uniform) return false;
  const auto& arguments = node->arguments;
  if (node->name == "and") return std::ranges::any_of(arguments, is_false_of_integers);
  if (node->name == "or") return std::ranges::all_of(arguments, is_false_of_integers);
  const Function* function = find_function(node->name);
  return function && function->has(Function::no_integer);
}

double evaluate(const Node* root, const std::map<std::string, double>& arguments) {
  std::map<const Node*, double> values;
  for (const Node* node : in_order({root})) {
    switch (node->kind) {
      case Node::Kind::constant:
        values[node] = node->value;
        break;
      case Node::Kind::input:
      case Node::Kind::scalar:
        values[node] = arguments.at(node->name);
        break;
      case Node::Kind::call: {
        std::vector<double> operands;
        for (const Node* argument : node->arguments) operands.push_back(values.at(argument));
        values[node] = evaluation_of(node->name)(operands.data());
      }
    }
  }
  return values.at(root);
}

namespace {

// What is longer than any formula may be is not written to its end: a graph shares what its text
// repeats.
constexpr std::size_t kEndOfText = kFoundFormula.length + 1000;

void append_text(const Node* node, int outer, std::string& text) {
  if (text.size() > kEndOfText) return;
  const auto bracketed = [&](int precedence, const auto& write) {
    if (precedence < outer) text += '(';
    write();
    if (precedence < outer) text += ')';
  };
  if (node->kind == Node::Kind::constant) {
    bracketed(node->value < 0 ? 7 : outer, [&] { text += number_text(node->value); });
    return;
  }
  if (node->kind != Node::Kind::call) {
    text += node->name;
    return;
  }
  const auto& arguments = node->arguments;
  if (node->name == "select") {
    bracketed(0, [&] {
      append_text(arguments[0], 1, text);
      text += " ? ";
      append_text(arguments[1], 1, text);
      text += " : ";
      append_text(arguments[2], 0, text);
    });
    return;
  }
  const Operation* operation = find_operation(node->name);
  if (operation && operation->precedence < 8) {
    const int precedence = operation->precedence;
    bracketed(precedence, [&] {
      if (arguments.size() == 1) {
        text += operation->symbol;
        append_text(arguments[0], precedence, text);
        return;
      }
      // Left-associative: the right operand needs brackets at the same precedence.
      append_text(arguments[0], precedence, text);
      text += " " + std::string(operation->symbol) + " ";
      append_text(arguments[1], precedence + 1, text);
    });
    return;
  }
  text += node->name + "(";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i) text += ", ";
    append_text(arguments[i], 0, text);
  }
  text += ")";
}

}  // namespace

std::string to_text(const Node* node) {
  std::string text;
  append_text(node, 0, text);
  return text;
}

}  // namespace oploom::frontend
