// Scalar expressions as a graph: what `expr:` says, and the derivatives found from it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace oploom::frontend {

// Note [Expression graphs]
// A Node is a constant, an argument of the operator (`input`: an element of a tensor; `scalar`: a
// number that is the same for all elements), or a call of an operation on other nodes. Operations
// are the functions of Functions.h and, by these names, the operators of C++:
//
//   add sub mul div neg    lt le gt ge eq ne    and or not    select(condition, then, otherwise)
//   conj                   complex conjugate; only derivatives contain it
//
// A Graph never holds two equal nodes: making a node again gives the one that exists. Common
// subexpressions are therefore shared without being looked for, in an expression, between an
// expression and its derivative, and between the derivatives with respect to several arguments.
struct Node {
  enum class Kind { constant, input, scalar, call };

  Kind kind = Kind::constant;
  double value = 0;  // of a constant
  std::string name;  // of an argument, or the operation
  std::vector<const Node*> arguments;
  bool truth = false;   // true or false, not a number
  bool uniform = true;  // the same for every element: no input below it
  std::size_t id = 0;   // in order of creation: arguments come before what uses them

  bool is_constant(double wanted) const { return kind == Kind::constant && value == wanted; }
  bool is_call(std::string_view operation) const { return kind == Kind::call && name == operation; }
};

class Graph {
 public:
  const Node* constant(double value);
  const Node* input(const std::string& name);
  const Node* scalar(const std::string& name, bool truth = false);
  // The call as written; only operations on nothing but constants are carried out.
  const Node* call(const std::string& operation, std::vector<const Node*> arguments);

  // The same with the simplifications that hold for numbers, for derivatives: a factor 0 or a
  // summand 0 that differentiation has brought in means that there is no such term.
  const Node* add(const Node* a, const Node* b);
  const Node* sub(const Node* a, const Node* b);
  const Node* mul(const Node* a, const Node* b);
  const Node* div(const Node* a, const Node* b);
  const Node* neg(const Node* a);
  const Node* select(const Node* condition, const Node* then, const Node* otherwise);
  const Node* simplified(const std::string& operation, const std::vector<const Node*>& arguments);

  // The graphs of `roots` as kernels compute them: pow(x, 2) to pow(x, 4) as products, and products
  // with a sigmoid that nothing else uses in one step, sigmoid_product(a, b), which only kernels
  // know: less work, and one rounding less.
  std::vector<const Node*> for_kernels(const std::vector<const Node*>& roots);
  // The graph of `root` with calls of functions of tensors named as the operators are.
  const Node* with_operator_names(const Node* root);
  // The graph of `root` with every occurrence of `what` replaced by `with`.
  const Node* replace(const Node* root, const Node* what, const Node* with);

 private:
  const Node* intern(Node node);

  std::map<std::string, std::unique_ptr<Node>> nodes_;
};

// All nodes that `roots` need, arguments before their users.
std::vector<const Node*> in_order(const std::vector<const Node*>& roots);
bool depends_on(const Node* root, const Node* leaf);
// A rough number of additions that computing the nodes takes.
int cost(const std::vector<const Node*>& roots);
// Whether they are numbers of tensors with other signs.
bool changes_signs_alone(const std::vector<const Node*>& roots);
// Whether there are functions with a short form, whose results are no more than multiplied.
bool takes_short_forms(const std::vector<const Node*>& roots);
// Whether it is false wherever it is computed of integers.
bool is_false_of_integers(const Node* node);
// What computes one operation. True and false are 1 and 0.
double (*evaluation_of(std::string_view operation))(const double* arguments);
// Whether any operation has one of the traits of Function.
bool has_any(std::string_view operation, unsigned traits);
// Its value for given arguments; every argument that occurs must be there.
double evaluate(const Node* root, const std::map<std::string, double>& arguments);
// In the notation of the YAML files; cut off where it is longer than kFoundFormula allows.
std::string to_text(const Node* node);

}  // namespace oploom::frontend
