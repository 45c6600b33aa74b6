// Pass 08: what must hold between the finished operators: names in C++, overloads, test records.
#include <c10/util/Suggest.h>
#include <codegen/frontend/Load.h>
#include <codegen/frontend/passes/Passes.h>
#include <codegen/frontend/passes/TestRecords.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace oploom::frontend {

namespace {

// `name`, `native::name`, `ns::native::name`.
bool is_qualified_name(std::string_view text) {
  for (;;) {
    const auto colons = text.find("::");
    if (!is_cpp_identifier(text.substr(0, colons))) return false;
    if (colons == std::string_view::npos) return true;
    text.remove_prefix(colons + 2);
  }
}

// What generated code calls by these names would be hidden by an operator's function.
constexpr std::array<std::string_view, 8> kTaken = {"Scalar", "Tensor", "at",     "autograd",
                                                    "c10",    "meta",   "native", "ops"};

// The C++ parameter types as far as they tell overloads apart.
std::string cpp_signature(const FunctionSchema& schema) {
  std::string text = schema.name + "(";
  for (const auto& argument : schema.arguments) {
    SchemaType type = argument.type;
    if (type.base == SchemaBaseType::SymInt) type.base = SchemaBaseType::Int;
    type.list_size.reset();
    text += to_string(type);
    if (argument.alias && argument.alias->is_write) text += "!";
    text += ", ";
  }
  return text;
}

class Verifier {
 public:
  Verifier(const Model& model, const PassOptions& options, Diagnostics& diagnostics)
      : model_(model), options_(options), diagnostics_(diagnostics) {}

  void run() {
    std::map<std::string, const Operator*> identifiers, signatures;
    for (const auto& op : model_.operators) {
      names(*op);
      if (options_.syntax_only) continue;
      unique(*op, op->schema.identifier(), identifiers, "would have the same C++ name as '", "'");
      unique(*op, cpp_signature(op->schema), signatures, "cannot be told from '",
             "' in C++: their arguments have the same types");
      if (op->test) check_test_record(*op, diagnostics_);
    }
  }

 private:
  using Place = std::pair<const SourceFile*, std::size_t>;
  static Place place_of(const Operator& op) { return {op.where.file, op.where.offset}; }

  void unique(const Operator& op, const std::string& key,
              std::map<std::string, const Operator*>& seen, std::string_view before,
              std::string_view after) {
    const auto [first, fresh] = seen.emplace(key, &op);
    if (fresh || first->second->name() == op.name()) return;
    // Forms of two entries clash where the entries do.
    if (!clashes_.emplace(place_of(*first->second), place_of(op)).second) return;
    diagnostics_
        .error(op.schema_where, "'" + op.name() + "' " + std::string(before) +
                                    first->second->name() + std::string(after))
        .note(first->second->schema_where, "'" + first->second->name() + "' is here");
  }

  void names(const Operator& op) {
    if (!options_.syntax_only) operator_name(op);
    if (!op.func) return;
    if (!options_.syntax_only) other_names(op);
    for (const auto& argument : op.schema.arguments) {
      const std::string reason = meaning(op, argument);
      if (reason.empty()) continue;
      diagnostics_.error(op.func->locate(argument.name_span.offset, argument.name_span.length),
                         "'" + argument.name + "' " + reason);
    }
    for (const auto& entry : op.dispatch) {
      if (is_qualified_name(entry.kernel.text)) continue;
      diagnostics_.error(entry.kernel.where,
                         "'" + entry.kernel.text + "' is no name of a C++ function");
    }
  }

  // The functions of C++ and Python have the operator's name. Forms that share it are of an entry
  // that is reported itself.
  void operator_name(const Operator& op) {
    const std::string& name = op.schema.name;
    const bool cpp = is_cpp_keyword(name);
    if (!cpp && !is_python_keyword(name)) return;
    if (op.kind == SchemaKind::out || (op.autogen_from && op.autogen_from->schema.name == name)) {
      return;
    }
    diagnostics_.error(op.func ? op.func->locate(0, name.size()) : op.schema_where,
                       "'" + name + "' is a word of " + (cpp ? "C++" : "Python") +
                           " and cannot name an operator, which is a function there");
  }

  // What becomes a name in C++ and Python, or of a file.
  void other_names(const Operator& op) {
    const auto check = [&](const Spelled& name, const char* what) {
      if (name.empty() || is_cpp_identifier(name.text)) return;
      diagnostics_.error(name.where, "'" + name.text + "' cannot name " + what +
                                         ": letters, digits and '_' can, but no word of C++");
    };
    check(op.family, "a family, whose files are called so");
    check(op.python_module, "a Python module");
    for (const auto& alias : op.aliases) check(alias, "an alias, which is a function");
    for (const auto& form : op.autogen) {
      const std::string overload =
          form.text.substr(std::min(form.text.find('.'), form.text.size() - 1) + 1);
      if (!is_cpp_identifier("_" + overload)) check(form, "a form of an operator");
    }
    if (!op.structured_inherits.empty() && !is_qualified_name(op.structured_inherits.text)) {
      diagnostics_.error(op.structured_inherits.where,
                         "'" + op.structured_inherits.text + "' is no name of a C++ class");
    } else if (const std::string near = c10::closest_name(
                   op.structured_inherits.text, std::vector<std::string>{"TensorIteratorBase"});
               !near.empty() && near != op.structured_inherits.text) {
      diagnostics_
          .error(op.structured_inherits.where,
                 "there is no class '" + op.structured_inherits.text + "' for shape functions")
          .suggest(near);
    }
    if (std::find(kTaken.begin(), kTaken.end(), op.schema.name) != kTaken.end()) {
      diagnostics_.error(op.func->locate(0, op.schema.name.size()),
                         "'" + op.schema.name +
                             "' means something else where operators' functions "
                             "are called: name the operator otherwise");
    }
  }

  // What the name of an argument means already; "" for most.
  std::string meaning(const Operator& op, const SchemaArgument& argument) const {
    const std::string& name = argument.name;
    if (is_cpp_keyword(name)) return "is a word of C++ and cannot name an argument";
    if (options_.syntax_only) return "";
    if (name == "out" && !argument.is_out) {
      return "is what Python calls the tensor to write to: name the argument otherwise";
    }
    if (name.starts_with("result") && name.find_first_not_of("0123456789", 6) == name.npos) {
      return "is what the operator returns in formulas: name the argument otherwise";
    }
    const auto values = names_of_values(op.schema);
    for (const auto& other : values) {
      if (name == other + "_") {
        return "is what generated code makes of '" + other + "': name one of them otherwise";
      }
    }
    if (!op.derivative) return "";
    if (name == "grad" || name == "grads" || name == "grad_input_mask") {
      return "means a gradient in the formulas of derivatives: name the argument otherwise";
    }
    for (const auto& other : values) {
      if (name == other + "_t" || name == other + "_p") {
        return "means the " + std::string(name.ends_with("t") ? "tangent" : "value") + " of '" +
               other + "' in formulas of tangents: name the argument otherwise";
      }
    }
    return "";
  }

  // What formulas call the arguments and the results.
  static std::vector<std::string> names_of_values(const FunctionSchema& schema) {
    std::vector<std::string> names;
    for (const auto& argument : schema.arguments) names.push_back(argument.name);
    for (std::size_t i = 0; i < schema.returns.size(); ++i) {
      const bool one = schema.returns.size() == 1;
      names.push_back(
          schema.returns[i].name.value_or(one ? "result" : "result" + std::to_string(i)));
    }
    return names;
  }

  const Model& model_;
  const PassOptions& options_;
  std::set<std::pair<Place, Place>> clashes_;  // of entries
  Diagnostics& diagnostics_;
};

}  // namespace

void verify(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  Verifier(model, options, diagnostics).run();
}

}  // namespace oploom::frontend
