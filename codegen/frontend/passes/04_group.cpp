// Pass 04: finds the functional sibling of each in-place and out operator.
#include <codegen/frontend/passes/Passes.h>

namespace oploom::frontend {

namespace {

bool is_tensor_option(const SchemaArgument& argument) {
  return argument.name == "dtype" || argument.name == "layout" || argument.name == "device" ||
         argument.name == "pin_memory";
}

// What siblings have in common: the name without `_`, and the arguments without annotations,
// defaults, out arguments and, for factories, the options that `out` brings along.
std::string signature(const FunctionSchema& schema, bool without_options) {
  std::string text = schema.root() + "(";
  for (const auto& argument : schema.arguments) {
    if (argument.is_out || (without_options && is_tensor_option(argument))) continue;
    text += to_string(argument.type) + " " + argument.name + ", ";
  }
  return text;
}

}  // namespace

void group_variants(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  std::map<std::string, Operator*> functional;
  for (const auto& op : model.operators) {
    if (op->kind != SchemaKind::functional) continue;
    op->functional = op.get();
    functional.emplace(signature(op->schema, false), op.get());
    if (op->schema.has_tensor_options()) {
      functional.emplace(signature(op->schema, true), op.get());
    }
  }
  for (const auto& op : model.operators) {
    if (op->kind == SchemaKind::functional) continue;
    const auto found = functional.find(signature(op->schema, false));
    if (found != functional.end()) op->functional = found->second;
    if (op->family.empty() && op->functional) op->family = op->functional->family;
  }
  if (options.syntax_only) return;

  for (const auto& op : model.operators) {
    if (op->autogen_from) {
      if (op->scalar_overload_of.empty() || !op->alias_of.empty()) continue;
      // The tensor operator of the same form, which the Scalar form calls.
      for (const auto& other : model.operators) {
        if (other->functional && other->functional->name() == op->autogen_from->name() &&
            other->kind == op->kind) {
          op->scalar_overload_of = other->name();
        }
      }
      if (op->kind != SchemaKind::functional &&
          op->scalar_overload_of == op->autogen_from->name()) {
        diagnostics.error(op->schema_where, "'" + op->name() + "' needs the same form of '" +
                                                op->autogen_from->name() +
                                                "' to call, and there is none");
      }
      continue;
    }
    if (op->family.empty()) {
      diagnostics.error(op->schema_where, "'" + op->name() +
                                              "' has no family: 'family: Name' tells which file in "
                                              "aten/native holds it");
    } else if (op->functional && op->functional != op.get() &&
               op->family.text != op->functional->family.text && !op->functional->family.empty()) {
      diagnostics
          .error(op->family.where, "'" + op->name() + "' is in family '" + op->family.text +
                                       "', but '" + op->functional->name() + "' in '" +
                                       op->functional->family.text + "'")
          .note(op->functional->family.where, "the functional form's family is given here");
    }
  }
}

}  // namespace oploom::frontend
