// The key `shape`: what shape the result of an operator has, as far as one line can say it.
#pragma once

#include <c10/core/FunctionSchema.h>
#include <codegen/frontend/Diagnostics.h>
#include <codegen/frontend/Yaml.h>

#include <optional>
#include <string>
#include <vector>

namespace oploom::frontend {

struct ShapeTerm {
  enum class Kind {
    any,      // `_`: nothing is said
    dims,     // `(n, m)`: letters that stand for sizes, the same wherever they occur
    like,     // `self`: the shape of an argument, or the one that a list argument holds
    reduced,  // `reduce(self)`: as `like`, some dimensions dropped or made 1
  };
  Kind kind = Kind::any;
  std::string name;               // of the argument
  std::vector<std::string> dims;  // of Kind::dims
};

// `(n, m), (m, p) -> (n, p)`, after NumPy's signatures of generalised functions; without an arrow
// only the results are described.
struct ShapeRule {
  std::string text;
  std::vector<ShapeTerm> inputs;   // one for each tensor argument, or none
  std::vector<ShapeTerm> outputs;  // one for each result
};

// The arguments that a rule's inputs stand for, in this order.
std::vector<const c10::SchemaArgument*> shaped_arguments(const c10::FunctionSchema& schema);

// Reads the value of the key; null after a mistake, which is reported.
std::optional<ShapeRule> parse_shape(const YamlNode& node, const c10::FunctionSchema& schema,
                                     Diagnostics& diagnostics);

}  // namespace oploom::frontend
