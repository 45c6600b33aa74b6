// Pass 06: structured operators: one shape function and one kernel serve all forms of a group.
#include <c10/util/Suggest.h>
#include <codegen/frontend/passes/Passes.h>

namespace oploom::frontend {

namespace {

StructuredRole role_of(const Operator& op) {
  switch (op.kind) {
    case SchemaKind::inplace:
      return StructuredRole::inplace;
    case SchemaKind::out:
      return StructuredRole::out;
    default:
      return StructuredRole::functional;
  }
}

void check_base(const Operator& op, const PassOptions& options, Diagnostics& diagnostics) {
  if (!op.structured_delegate.empty()) {
    diagnostics
        .error(op.structured_delegate.where,
               "'" + op.name() + "' is structured itself and cannot delegate to another operator")
        .note(op.structured_where, "'structured' is set here");
  }
  if (op.kind != SchemaKind::functional && op.kind != SchemaKind::out) {
    diagnostics.error(op.structured_where,
                      "'structured' belongs to the functional or the out form, and '" + op.name() +
                          "' writes to its arguments");
  }
  if (op.dispatch.empty() && !options.syntax_only) {
    diagnostics.error(op.structured_where, "'" + op.name() +
                                               "' is structured but names no kernel: add "
                                               "'dispatch: {CPU: " +
                                               op.schema.root() + "_out}'");
  }
  for (const auto& value : op.schema.returns) {
    if (value.type.is_plain_tensor()) continue;
    diagnostics.error(op.schema_where, "'" + op.name() +
                                           "' is structured, so its results are tensors, not '" +
                                           to_string(value.type) + "'");
    break;
  }
}

void adopt(Operator& op, const Operator& base, const FunctionSchema& functional) {
  op.role = role_of(op);
  op.structured_base = &base;
  op.structured_meta = functional.identifier();
  op.structured_inherits = base.structured_inherits;
  for (const auto& entry : base.dispatch) op.structured_impl[entry.key] = entry.kernel.text;
  if (&op != &base && op.dispatch.empty()) op.dispatch = base.dispatch;
}

}  // namespace

void plan_structured(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  for (const auto& op : model.operators) {
    if (op->structured) {
      check_base(*op, options, diagnostics);
      if (op->functional) adopt(*op, *op, op->functional->schema);
      continue;
    }
    if (!op->structured_inherits.empty()) {
      diagnostics.error(op->structured_inherits.where,
                        "'structured_inherits' without 'structured: True'");
    }
    if (!op->precomputed.empty()) {
      diagnostics.error(op->precomputed_where, "'precomputed' without 'structured: True'");
    }
  }
  for (const auto& op : model.operators) {
    if (op->structured) continue;
    if (op->autogen_from) {
      const Operator& base = *op->autogen_from;
      if (base.structured && op->composite.empty()) adopt(*op, base, base.schema);
      continue;
    }
    if (op->structured_delegate.empty()) continue;
    const Operator* base = model.find(op->structured_delegate.text);
    if (!base) {
      const auto& unread = model.unread;
      if (unread.contains("*") || unread.contains(op->structured_delegate.text)) continue;
      std::vector<std::string> names;
      for (const auto& other : model.operators) {
        if (other->structured) names.push_back(other->name());
      }
      diagnostics
          .error(op->structured_delegate.where,
                 "unknown operator '" + op->structured_delegate.text + "'")
          .suggest(c10::closest_name(op->structured_delegate.text, names));
      continue;
    }
    if (!base->structured) {
      diagnostics.error(op->structured_delegate.where, "'" + base->name() + "' is not structured")
          .note(base->schema_where, "it is here");
      continue;
    }
    if (op->functional != base->functional) {
      diagnostics
          .error(op->structured_delegate.where,
                 "'" + op->name() + "' and '" + base->name() +
                     "' are no forms of one operator: their arguments differ")
          .note(base->schema_where, "'" + base->name() + "' is here");
      continue;
    }
    adopt(*op, *base, op->functional ? op->functional->schema : op->schema);
  }
}

}  // namespace oploom::frontend
