// From the text of an expression to its graph, and from there to its derivatives.
#pragma once

#include <codegen/frontend/Formula.h>
#include <codegen/frontend/expression/Graph.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace oploom::frontend {

// Names that an expression may use, and what they stand for; null for an argument that exists but
// has no value in an expression, a string for one.
using Scope = std::map<std::string, const Node*, std::less<>>;

// What there is to say of a call of something that is no function of the language, after "there is
// no function ...": what to write instead. "" where nothing is known of its name.
using Instead = std::function<std::string(const Expr& call)>;

// Null after a mistake, which is put into `error`: an unknown name, a wrong number of arguments, a
// number where a condition is needed.
const Node* build_expression(Graph& graph, const Expr& tree, const Scope& scope,
                             FormulaError& error, const Instead* instead = nullptr);
// What a call of an operator gives, whose name and arguments these are; null where that is unknown.
using OperatorCalls =
    std::function<const Node*(std::string_view name, const std::vector<const Node*>& arguments)>;
// The same of a formula of derivatives.yaml, which may call functions as methods, `self.cos()`, and
// operators, and where true and false count as 1 and 0. Null for formulas that are more than an
// expression of elements; `error` tells by what.
const Node* build_formula(Graph& graph, const Expr& tree, const Scope& scope,
                          const OperatorCalls& operators, FormulaError& error);

// The derivative of `root` with respect to a leaf. Null if a function on the way has none; its name
// is put into `obstacle`.
const Node* derivative(Graph& graph, const Node* root, const Node* leaf, std::string& obstacle);

}  // namespace oploom::frontend
