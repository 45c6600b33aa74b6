// A graph as a list of instructions, for back ends.
#pragma once

#include <codegen/frontend/expression/Graph.h>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace oploom::frontend {

// One call. Arguments are names of operands, or numbers in decimal notation ("0.5", "-inf").
struct Instruction {
  std::string name;       // of the result: t0, t1, ..., without those that arguments have
  std::string operation;  // see Note [Expression graphs]
  std::vector<std::string> arguments;
  bool uniform = false;  // the same for every element
  bool truth = false;
  bool two_forms = false;  // see Function::two_forms
  bool short_form = false;
  bool many_constants = false;
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<std::string> outputs;  // names or numbers
};

// No result gets a name of an argument in the graph, or one of `taken`.
Program linearize(const std::vector<const Node*>& roots, std::set<std::string> taken = {});

// The values of arguments, by name.
using Values = std::map<std::string, double, std::less<>>;

// A program with its names looked up, to be carried out for many elements.
class Evaluator {
 public:
  explicit Evaluator(const Program& program);

  // Carries the program out for one element. Every argument that occurs must be there. What the
  // functions below give is of this run. With `error`, which shows what rounding does, each result
  // of an element is made too large or too small by up to that part of it, as chance has it, and
  // conditions stay as in the run before.
  void run(const Values& arguments, double error = 0);
  double output(std::size_t i) const { return values_[outputs_[i]]; }
  // Whether no result on the way to the outputs has become infinite, no number, or so small that it
  // lacks digits.
  bool normal() const;
  // Of the instruction at `place` in the program.
  double result(std::size_t place) const { return values_[steps_[place].result]; }
  double argument(std::size_t place, std::size_t i) const {
    return values_[steps_[place].arguments[i]];
  }

 private:
  struct Step {
    double (*evaluate)(const double* arguments);
    std::vector<std::size_t> arguments;  // places in values_
    std::size_t result;
    bool uniform, truth;
  };
  // The place in values_ of a name or a number.
  std::size_t place_of(const std::string& operand);

  std::map<std::string, std::size_t> places_;
  std::vector<std::pair<std::string, std::size_t>> inputs_;
  std::vector<Step> steps_;
  std::vector<std::size_t> outputs_;
  std::vector<double> values_;
  std::vector<double> operands_;  // of the step at hand
  std::minstd_rand chance_;
};

}  // namespace oploom::frontend
