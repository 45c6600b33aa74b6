// What the front end knows of the operators: entries as written, and what the passes found out.
#pragma once

#include <c10/core/FunctionSchema.h>
#include <codegen/frontend/Formula.h>
#include <codegen/frontend/Shape.h>
#include <codegen/frontend/Source.h>
#include <codegen/frontend/Yaml.h>
#include <codegen/frontend/expression/Program.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace oploom::frontend {

using c10::AliasInfo;
using c10::FunctionSchema;
using c10::SchemaArgument;
using c10::SchemaBaseType;
using c10::SchemaKind;
using c10::SchemaReturn;
using c10::SchemaType;

// A word of the YAML and its place.
struct Spelled {
  std::string text;
  Location where;

  bool empty() const { return text.empty(); }
};

struct DispatchKernel {
  std::string key;  // one key: comma lists are taken apart
  Location key_where;
  Spelled kernel;
};

// Values that the shape function of a structured operator computes for its kernel: they take the
// place of an argument, or come in addition.
struct Precomputed {
  Spelled replaces;  // the argument, or "" where they come in addition
  std::vector<SchemaArgument> values;
};

// A key of the entry and its value, as written.
struct Option {
  Spelled key;
  const YamlNode* value = nullptr;
};

// One value that the backward needs and the forward keeps.
struct SavedValue {
  enum class Source { input, output, expr };
  std::string name;  // as the formulas in `cpp` call it
  Source source = Source::input;
  std::string of;                  // the argument, or "result", "result1" or the named output
  std::string expr;                // for Source::expr: C++ that gives the value in the forward
  std::string cpp;                 // for Source::expr: its C++ type
  std::optional<SchemaType> type;  // for inputs and outputs
  std::size_t output_index = 0;
  bool after = false;                // taken after the operator ran
  std::vector<std::string> used_by;  // the inputs whose gradients need it
  bool clone = false;                // an in-place operator overwrites it, so a copy is kept
};

struct GradientFormula {
  std::vector<Spelled> names;  // the inputs whose gradients the formula gives
  std::string text;
  const YamlNode* node = nullptr;
  std::optional<Expr> tree;
  bool non_differentiable = false;  // written as the formula `non_differentiable`
  bool found = false;               // by pass 02, which says nothing to who wrote the expression

  std::string cpp;  // the formula with saved values' names
  // Of an operator with an expression: the part that pass 10 cannot read, or "".
  std::string unproved;
  // Instead of `cpp`: what to compute with operators on tensors. See pass 02.
  std::optional<Program> program;
};

// A term of a forward formula, which belongs to the tangents of `tangents`.
struct ForwardTerm {
  std::vector<std::string> tangents;  // inputs
  std::string text;                   // in the language of derivatives.yaml
  std::string cpp;                    // as a kernel says it
  std::optional<Program> program;     // instead of both, what to compute with operators on tensors
};

// The tangent of an output.
struct ForwardFormula : GradientFormula {
  std::vector<ForwardTerm> terms;
  // One call that computes the sum where every input has a tangent, or "".
  std::string together, together_cpp;
  bool uses_output = false;  // it speaks of the result, so it is computed afterwards
  bool uses_self = false;    // and of the value of self that the operator has overwritten
};

// One entry of derivatives.yaml.
struct DerivativeEntry {
  FunctionSchema schema;
  Location where;
  const YamlNode* node = nullptr;
  const YamlNode* name_node = nullptr;
  std::vector<GradientFormula> gradients;
  std::vector<ForwardFormula> forward;
  std::optional<std::vector<bool>> output_differentiability;
  // What only PyTorch's own back end has: a differentiability that is a C++ condition, formulas for
  // one backend. They are read, and refused where the derivative is to be used.
  std::vector<std::pair<Location, std::string>> refused;

  // Whether a line of it names the argument: gives its gradient, or says that it has none.
  bool speaks_of(const std::string& argument) const {
    return std::any_of(gradients.begin(), gradients.end(), [&](const auto& formula) {
      return std::any_of(formula.names.begin(), formula.names.end(),
                         [&](const Spelled& name) { return name.text == argument; });
    });
  }
};

// The derivative of one operator, ready for a back end.
struct Derivative {
  const DerivativeEntry* entry = nullptr;
  std::string node;  // the C++ class, `AddBackward0`
  std::vector<GradientFormula> inputs;
  std::vector<ForwardFormula> forward;
  std::vector<SavedValue> saved;
  std::vector<std::string> non_differentiable;
  std::vector<bool> output_differentiability;
  bool uses_grad_input_mask = false;

  // Whether nothing is said of a tensor: neither its gradient, nor that it has none.
  bool lacks_formula(const SchemaArgument& argument) const {
    return argument.type.is_tensor_like() && !argument.is_out && !entry->speaks_of(argument.name);
  }
};

enum class StructuredRole { none, functional, inplace, out };

// A condition on the numbers of an operator, under `requires`.
struct Requirement {
  std::string text;
  std::vector<std::string> scalars;  // those in it
  Program program;
};

// The kernel of an operator that `expr:` describes, or of the gradient of one.
struct Expression {
  enum class Promotion {
    same,      // the common dtype of the inputs
    to_float,  // the same, with integers made floats
    truth,     // computed in the common dtype; the result is bool
  };
  std::string text;
  Promotion promotion = Promotion::same;
  bool integers = false;             // there are kernels for integers
  bool complex = false;              // and for complex numbers
  bool false_of_integers = false;    // a condition that no integer meets
  bool reduced = true;               // and for float16 and bfloat16, computed as float32
  bool signs = false;                // the results are numbers of the inputs with other signs
  bool short_forms = false;          // those of functions serve for results of 16 bits
  int cost = 0;                      // in additions, roughly
  std::vector<std::string> inputs;   // the tensor arguments, as the kernel takes them
  std::vector<std::string> scalars;  // and the numbers
  Program program;
  std::vector<Requirement> requirements;
};

struct Operator {
  FunctionSchema schema;
  Location where;                  // of the entry
  const YamlNode* func = nullptr;  // the schema's text; null for operators made by autogen
  Location schema_where;

  // As written.
  Spelled family;
  std::vector<std::string> variants;
  bool variants_given = false;
  std::vector<Spelled> autogen;
  std::vector<Spelled> aliases;
  std::vector<DispatchKernel> dispatch;
  bool dispatch_given = false;
  bool structured = false;
  Location structured_where;
  Spelled structured_delegate;
  Spelled structured_inherits;
  std::vector<Precomputed> precomputed;
  Location precomputed_where;
  std::vector<Spelled> tags;
  Spelled python_module;
  std::vector<Spelled> cpp_no_default_args;
  std::string doc;
  std::string example;
  const YamlNode* test = nullptr;
  const YamlNode* expr = nullptr;
  std::vector<const YamlNode*> requirements;
  Location requirements_where;
  std::optional<ShapeRule> shape;
  // Keys of the language that only say how some back end treats the operator; passed on as written.
  std::vector<Option> options;

  // Found by the passes.
  SchemaKind kind = SchemaKind::functional;
  Operator* functional = nullptr;  // the functional sibling, itself for functional operators
  const Operator* autogen_from = nullptr;
  std::string scalar_overload_of;
  std::string alias_of;          // the operator that this one is another name of
  std::string composite;         // "", "implicit" or "explicit"
  std::string composite_kernel;  // "" where a back end writes the body
  StructuredRole role = StructuredRole::none;
  std::string structured_meta;
  std::map<std::string, std::string> structured_impl;
  const Operator* structured_base = nullptr;  // the operator whose entry names the kernels
  std::optional<Derivative> derivative;
  std::optional<Expression> expression;
  bool internal = false;  // made by a pass for generated code, not for people to call

  std::string name() const { return schema.full_name(); }
  bool has_variant(bool method) const {
    return std::find(variants.begin(), variants.end(), method ? "method" : "function") !=
           variants.end();
  }
  std::string group() const { return functional ? functional->name() : name(); }
};

struct Tag {
  std::string name;
  std::string description;
  Location where;
};

// The namespace in which the operators of this tree are registered.
inline constexpr std::string_view kTreeNamespace = "aten";

struct Model {
  std::string name_space{kTreeNamespace};
  std::string python_module;
  std::vector<std::string> schema_files, derivative_files;  // without folders
  std::vector<std::unique_ptr<Operator>> operators;
  std::vector<std::unique_ptr<DerivativeEntry>> derivatives;
  std::vector<Tag> tags;
  bool tags_given = false;        // a tags file was read, so unknown tags are mistakes
  std::set<std::string> helpers;  // functions that formulas may call; empty: not checked
  // Of a package: headers of its own that declare such functions, as the command line names them,
  // and oploom's operators, which its formulas may call.
  std::vector<std::string> helper_headers;
  std::unique_ptr<Model> core;
  // Operators whose schemas have mistakes, as far as their names are known; "*": all of a file. Not
  // to know them is no second mistake of who refers to them.
  std::set<std::string> unread;
  // Parsed files, kept since entries point into them.
  std::vector<std::unique_ptr<YamlNode>> documents;
  std::map<std::string, Operator*, std::less<>> by_name;

  Operator* find(std::string_view name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : found->second;
  }

  // The forms of an operator that a call in a formula may mean: `at::exp` of oploom's, `mathx::exp`
  // of the package's, `exp` of both.
  std::vector<const Operator*> overloads(std::string_view name, bool method) const {
    bool own = true, oploom = core != nullptr;
    if (name.starts_with("at::")) {
      name.remove_prefix(4);
      own = !oploom;
    } else if (oploom && name.starts_with(name_space + "::")) {
      name.remove_prefix(name_space.size() + 2);
      oploom = false;
    }
    std::vector<const Operator*> found;
    if (own) add_overloads(name, method, found);
    if (oploom) core->add_overloads(name, method, found);
    return found;
  }

 private:
  void add_overloads(std::string_view name, bool method,
                     std::vector<const Operator*>& found) const {
    for (const auto& op : operators) {
      if (op->schema.name == name && op->kind != SchemaKind::out && op->has_variant(method)) {
        found.push_back(op.get());
      }
    }
  }
};

}  // namespace oploom::frontend
