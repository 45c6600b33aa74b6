// Derivative formulas: C++ expressions, parsed into a tree that keeps the place of every part.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oploom::frontend {

struct Expr {
  enum class Kind {
    name,     // text: `grad`, `at::native::foo`, `std::tuple<Tensor, Tensor>`
    number,   // text: `1`, `0.5`, `1e-5f`
    string,   // text with its quotes
    call,     // children: callee, arguments...
    member,   // children: object; text: the member's name; `arrow` for `->`
    index,    // children: object, index
    unary,    // children: operand; text: the operator
    binary,   // children: left, right; text: the operator
    ternary,  // children: condition, then, otherwise
    braces,   // children: elements; text: the type before the brace, or ""
    paren,    // children: the expression within
    lambda,   // `[](int64_t i) { return -i; }`; children: the expression returned
  };

  Kind kind = Kind::name;
  std::string text;
  std::string template_arguments;  // of a name or member, with the angle brackets, or ""
  bool arrow = false;
  std::vector<std::string> parameters;  // of a lambda, the names
  std::vector<Expr> children;
  std::size_t offset = 0;  // bytes in the formula
  std::size_t length = 0;

  bool is_name(std::string_view wanted) const { return kind == Kind::name && text == wanted; }
};

struct FormulaError {
  std::string message;
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string suggestion = {};  // for "did you mean"
};

// Enough for any formula a person writes, and far from the end of the stack: a chain of operators
// is as deep as it is long.
struct FormulaLimits {
  int depth = 200;
  std::size_t length = 5'000;
};
// What derivation makes of one is longer, as it writes out what the graph shares.
inline constexpr FormulaLimits kFoundFormula = {1'000, 200'000};

// Parses the whole text; null after a mistake, which is put into `error`.
std::optional<Expr> parse_formula(std::string_view text, FormulaError& error,
                                  FormulaLimits limits = {});

// The tree in full brackets, for tests: `(+ grad (call (. self sizes)))`.
std::string to_s_expression(const Expr& expr);

// Visits every node, parents first; a visitor that returns false keeps out of the children.
void walk(const Expr& expr, const std::function<bool(const Expr&)>& visit);

// Rewrites the formula by replacing whole subtrees: `replace` returns the new text of a node, or
// nothing to look further inside. All else keeps the spelling of the source.
std::string rewrite(std::string_view text, const Expr& expr,
                    const std::function<std::optional<std::string>(const Expr&)>& replace);

// The formula in order, taken apart so that its names can be spelled in another way: all pieces
// together are its text.
struct FormulaPiece {
  enum class Kind {
    text,
    name,  // of a value: an argument, a result, a gradient, a word of C++ like `true`
    call,  // of what is called: `at::pow`, or the `pow` of `self.pow(2)`
  };
  Kind kind = Kind::text;
  std::string text;

  bool operator==(const FormulaPiece&) const = default;
};
std::vector<FormulaPiece> take_apart(std::string_view text, const Expr& expr);

}  // namespace oploom::frontend
