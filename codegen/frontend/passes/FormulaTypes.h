// Of what type the parts of a formula are, where that is plain.
#pragma once

#include <codegen/frontend/Model.h>

#include <set>
#include <string>
#include <vector>

namespace oploom::frontend {

// What an expression gives. Nothing is said of an unknown one, so it is never a mistake.
enum class Gives {
  unknown,
  tensor,
  tensors,
  whole,     // a C++ integer
  fraction,  // a float or double
  truth,
  scalar,  // a c10::Scalar
  shape,   // the sizes or strides of a tensor
  wholes,
  fractions,
  truths,
  text,
  options,
  dtype,
  layout,
  device,
};

// In a message, after "this is"; what is unknown is in none.
std::string describe(Gives gives);

// A number of C++, which has no members.
bool is_number(Gives gives);
// What the operators of arithmetic are for.
bool is_value(Gives gives);
// Whether `==` can compare the two.
bool are_comparable(Gives left, Gives right);
// Whether an argument of this type can be given as that.
bool takes(const SchemaType& type, Gives gives);

// A method of at::TensorBase that is no operator.
struct TensorMethod {
  std::string_view name;
  std::size_t arguments;  // each a whole number
  Gives gives;
};
const TensorMethod* find_tensor_method(std::string_view name);

// What C++ has for numbers, in namespace std.
bool is_function_of_numbers(std::string_view name);

// The types within one formula.
class FormulaTypes {
 public:
  FormulaTypes(const Model& model, const FunctionSchema& schema, const Expr& formula);

  Gives of(const Expr& expr) const;
  // What each of these operators returns, if that is the same.
  static Gives of_operators(const std::vector<const Operator*>& candidates);

 private:
  Gives of_name(const std::string& name) const;
  Gives of_call(const Expr& call) const;
  Gives of_elements(const Expr& braces) const;
  Gives of_binary(const Expr& binary) const;

  const Model& model_;
  const FunctionSchema& schema_;
  std::set<std::string> parameters_;  // of lambdas in the formula, whose types are not looked for
};

}  // namespace oploom::frontend
