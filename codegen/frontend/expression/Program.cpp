#include <codegen/frontend/expression/Functions.h>
#include <codegen/frontend/expression/Program.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace oploom::frontend {

Program linearize(const std::vector<const Node*>& roots, std::set<std::string> taken) {
  Program program;
  std::map<const Node*, std::string> names;
  const auto nodes = in_order(roots);
  for (const Node* node : nodes) {
    if (node->kind == Node::Kind::input || node->kind == Node::Kind::scalar) {
      taken.insert(node->name);
    }
  }
  int count = 0;
  const auto fresh = [&] {
    std::string name = "t" + std::to_string(count++);
    while (taken.contains(name)) name = "t" + std::to_string(count++);
    return name;
  };
  for (const Node* node : nodes) {
    if (node->kind != Node::Kind::call) {
      names[node] = to_text(node);
      continue;
    }
    Instruction instruction;
    instruction.name = names[node] = fresh();
    instruction.operation = node->name;
    for (const Node* argument : node->arguments) {
      instruction.arguments.push_back(names.at(argument));
    }
    instruction.uniform = node->uniform;
    instruction.truth = node->truth;
    instruction.two_forms = has_any(node->name, Function::two_forms);
    instruction.short_form = has_any(node->name, Function::short_form);
    instruction.many_constants = has_any(node->name, Function::many_constants);
    program.instructions.push_back(std::move(instruction));
  }
  for (const Node* root : roots) program.outputs.push_back(names.at(root));
  return program;
}

Evaluator::Evaluator(const Program& program) {
  for (const Instruction& instruction : program.instructions) {
    Step step{evaluation_of(instruction.operation), {}, 0, instruction.uniform, instruction.truth};
    for (const auto& name : instruction.arguments) step.arguments.push_back(place_of(name));
    operands_.resize(std::max(operands_.size(), step.arguments.size()));
    step.result = places_[instruction.name] = values_.size();
    values_.push_back(0);
    steps_.push_back(std::move(step));
  }
  for (const auto& name : program.outputs) outputs_.push_back(place_of(name));
}

std::size_t Evaluator::place_of(const std::string& operand) {
  const auto [found, fresh] = places_.emplace(operand, values_.size());
  if (!fresh) return found->second;
  // Other spellings of inf and nan, which strtod knows, are names.
  const char first = operand[0];
  const bool number = first == '-' || first == '.' || (first >= '0' && first <= '9') ||
                      operand == "inf" || operand == "nan";
  values_.push_back(number ? std::strtod(operand.c_str(), nullptr) : 0);
  if (!number) inputs_.emplace_back(operand, found->second);
  return found->second;
}

void Evaluator::run(const Values& arguments, double error) {
  for (const auto& [name, place] : inputs_) values_[place] = arguments.at(name);
  for (const Step& step : steps_) {
    if (error != 0 && step.truth) continue;
    for (std::size_t i = 0; i < step.arguments.size(); ++i) {
      operands_[i] = values_[step.arguments[i]];
    }
    const double value = step.evaluate(operands_.data());
    const double part = step.uniform ? 0 : error * (2. * chance_() / chance_.max() - 1);
    values_[step.result] = error == 0 ? value : value * (1 + part);
  }
}

bool Evaluator::normal() const {
  return std::all_of(steps_.begin(), steps_.end(), [&](const Step& step) {
    const double value = values_[step.result];
    return std::isnormal(value) || value == 0;
  });
}

}  // namespace oploom::frontend
