#include <codegen/frontend/expression/Program.h>

#include <cstdlib>

namespace oploom::frontend {

Program linearize(const std::vector<const Node*>& roots) {
  Program program;
  std::map<const Node*, std::string> names;
  for (const Node* node : in_order(roots)) {
    if (node->kind != Node::Kind::call) {
      names[node] = to_text(node);
      continue;
    }
    Instruction instruction;
    instruction.name = names[node] = "t" + std::to_string(program.instructions.size());
    instruction.operation = node->name;
    for (const Node* argument : node->arguments) {
      instruction.arguments.push_back(names.at(argument));
    }
    instruction.uniform = node->uniform;
    instruction.truth = node->truth;
    program.instructions.push_back(std::move(instruction));
  }
  for (const Node* root : roots) program.outputs.push_back(names.at(root));
  return program;
}

double operand(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  return found != values.end() ? found->second : std::strtod(name.c_str(), nullptr);
}

void carry_out(const Program& program, Values& values) {
  for (const Instruction& instruction : program.instructions) {
    std::vector<double> arguments;
    for (const auto& name : instruction.arguments) arguments.push_back(operand(values, name));
    values[instruction.name] = apply_operation(instruction.operation, arguments.data());
  }
}

}  // namespace oploom::frontend
