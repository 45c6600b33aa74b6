// A graph as a list of instructions, for back ends.
#pragma once

#include <codegen/frontend/expression/Graph.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace oploom::frontend {

// One call. Arguments are names of operands, or numbers in decimal notation ("0.5", "-inf").
struct Instruction {
  std::string name;       // of the result: t0, t1, ...
  std::string operation;  // see Note [Expression graphs]
  std::vector<std::string> arguments;
  bool uniform = false;  // the same for every element
  bool truth = false;
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<std::string> outputs;  // names or numbers
};

// The values of all instructions and arguments, by name.
using Values = std::map<std::string, double, std::less<>>;
// Carries the program out for one element; `values` holds the arguments before, everything after.
void carry_out(const Program& program, Values& values);
// The value of an operand: looked up, or read as a number.
double operand(const Values& values, const std::string& name);

Program linearize(const std::vector<const Node*>& roots);

}  // namespace oploom::frontend
