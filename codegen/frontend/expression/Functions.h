// The functions of the expression language, with their derivatives.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oploom::frontend {

struct Function {
  enum Traits : unsigned {
    none = 0,
    integers = 1,  // of integers the result is an integer, of the same dtype
    complex = 2,   // holomorphic, and computed for complex numbers too
    truth = 4,     // the result is true or false
    exact = 8,     // of a number's own bits, which float16 and bfloat16, computed as float32, lose
    signs = 16,    // the first number with another sign, perhaps
    no_integer = 32,       // false of every integer
    two_forms = 64,        // in kernels for the CPU there is a shorter form for usual arguments
    short_form = 128,      // there is one for results that are rounded to 16 bits
    many_constants = 256,  // so many that they leave registers for two vectors, not for four
  };

  std::string_view name;
  std::vector<std::string_view> parameters;
  // For each parameter the derivative, in the expression language, in terms of the parameters and
  // `result`. Empty for functions without a derivative.
  std::vector<std::string_view> partials;
  double (*evaluate)(const double* arguments);
  int cost;  // in additions, roughly
  unsigned traits = none;
  // The operator on tensors that computes it, where that has another name.
  std::string_view operator_name = {};

  bool has(Traits trait) const { return (traits & trait) != 0; }
};

// Sorted by name.
std::span<const Function> functions();
// Null for an unknown name.
const Function* find_function(std::string_view name);
std::vector<std::string> function_names();

}  // namespace oploom::frontend
