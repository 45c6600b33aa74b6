// A graph as a list of instructions, for back ends.
#pragma once

#include <codegen/frontend/expression/Graph.h>

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

Program linearize(const std::vector<const Node*>& roots);

}  // namespace oploom::frontend
