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

// The functional operator that an in-place or out operator belongs to by its name.
const Operator* namesake(const Model& model, const Operator& op) {
  std::string overload = op.schema.overload_name;
  if (op.kind == SchemaKind::out) {
    if (!overload.ends_with("out")) return nullptr;
    overload.erase(overload.size() - (overload.ends_with("_out") ? 4 : 3));
  }
  const Operator* found = model.find(op.schema.root() + (overload.empty() ? "" : "." + overload));
  return found && found->kind == SchemaKind::functional ? found : nullptr;
}

// One operator in two forms takes the same arguments; says where the second one departs.
void report_different_arguments(const Operator& op, const Operator& functional,
                                Diagnostics& diagnostics) {
  const auto& mine = op.schema.arguments;
  const auto& theirs = functional.schema.arguments;
  std::string what;
  const SchemaArgument* place = nullptr;
  for (std::size_t i = 0; i < theirs.size() && what.empty(); ++i) {
    const SchemaArgument& wanted = theirs[i];
    if (op.kind == SchemaKind::out && is_tensor_option(wanted)) continue;
    if (op.kind == SchemaKind::inplace && i == 0) continue;  // 'self' there, whatever it is here
    const auto* same = op.schema.find_argument(wanted.name);
    const std::string text = "'" + to_string(wanted.type) + " " + wanted.name + "'";
    if (!same || same->is_out) {
      what = "it lacks " + text;
    } else if (same->type != wanted.type) {
      what = "it has '" + to_string(same->type) + " " + same->name + "' for " + text;
      place = same;
    }
  }
  for (const auto& argument : mine) {
    if (!what.empty()) break;
    if (op.kind == SchemaKind::inplace && &argument == &mine[0]) continue;
    if (argument.is_out || functional.schema.find_argument(argument.name)) continue;
    what = "it has '" + to_string(argument.type) + " " + argument.name + "' in addition";
    place = &argument;
  }
  if (what.empty() && op.kind == SchemaKind::inplace) return;  // `dropout_(self)`, `dropout(input)`
  if (what.empty()) what = "they come in another order";
  Location where = op.schema_where;
  if (place && op.func) {
    const std::size_t begin = place->type_span.offset;
    where = op.func->locate(begin, place->name_span.offset + place->name_span.length - begin);
  }
  diagnostics
      .error(where, "'" + op.name() + "' takes other arguments than its functional form '" +
                        functional.name() + "': " + what)
      .note(functional.schema_where, "the functional form is here");
}

void report_different_defaults(const Operator& op, Diagnostics& diagnostics) {
  for (const auto& argument : op.schema.arguments) {
    const auto* other = op.functional->schema.find_argument(argument.name);
    if (!op.func || !other || !argument.default_value || !other->default_value) continue;
    if (*argument.default_value == *other->default_value) continue;
    diagnostics
        .error(op.func->locate(argument.default_span.offset, argument.default_span.length),
               "the default of '" + argument.name + "' is " + *argument.default_value +
                   ", but in the functional form '" + op.functional->name() + "' it is " +
                   *other->default_value)
        .note(op.functional->schema_where, "the functional form is here");
  }
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
  if (model.name_space != kTreeNamespace) {
    // A package need not sort its operators into families: what is in none forms one.
    for (const auto& op : model.operators) {
      if (op->family.empty()) op->family = {model.name_space, op->where};
    }
  }
  if (options.syntax_only) return;

  for (const auto& op : model.operators) {
    if (op->kind != SchemaKind::inplace && op->kind != SchemaKind::out) continue;
    if (op->functional) {
      report_different_defaults(*op, diagnostics);
    } else if (const Operator* functional = namesake(model, *op)) {
      report_different_arguments(*op, *functional, diagnostics);
    }
  }
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
    if (op->internal) continue;  // as the operator that it was made for
    if (op->family.empty()) {
      diagnostics.error(op->schema_where, "'" + op->name() +
                                              "' has no family: 'family: Name' tells which file in "
                                              "aten/native holds it; of operators outside oploom's "
                                              "tree, '--namespace NAME' says whose they are");
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
