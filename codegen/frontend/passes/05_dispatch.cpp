// Pass 05: composite kinds, and kernels' names where none are written.
#include <codegen/frontend/passes/Passes.h>

#include <set>

namespace oploom::frontend {

namespace {

// The native function of an operator that names none: the base name, `_` of the in-place form kept,
// `_out` added to the out form's.
std::string default_kernel(const Operator& op) {
  return op.kind == SchemaKind::out ? op.schema.name + "_out" : op.schema.name;
}

}  // namespace

std::string composite_kind(std::string_view key) {
  if (key == "CompositeImplicit" || key == "CompositeImplicitAutograd") return "implicit";
  if (key == "CompositeExplicit" || key == "CompositeExplicitAutograd" ||
      key == "CompositeExplicitAutogradNonFunctional") {
    return "explicit";
  }
  return "";
}

void expand_dispatch(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  for (const auto& op : model.operators) {
    if (op->autogen_from && op->scalar_overload_of.empty()) continue;  // below
    if (!op->scalar_overload_of.empty()) {
      op->composite = "implicit";
      continue;
    }
    std::vector<DispatchKernel> kernels;
    const DispatchKernel* composite = nullptr;
    for (const auto& entry : op->dispatch) {
      const std::string kind = composite_kind(entry.key);
      if (kind.empty()) {
        kernels.push_back(entry);
        continue;
      }
      if (composite) {
        diagnostics
            .error(entry.kernel.where, "'" + op->name() + "' is " + op->composite + " and " + kind +
                                           " composite at once")
            .note(composite->kernel.where, "the other composite kernel is here");
        continue;
      }
      composite = &entry;
      op->composite = kind;
      op->composite_kernel = entry.kernel.text;
    }
    if (!op->dispatch_given && !op->structured && op->structured_delegate.empty()) {
      op->composite = "implicit";
      op->composite_kernel = default_kernel(*op);
    }
    if (op->composite == "implicit" && !kernels.empty() && !options.syntax_only) {
      diagnostics.error(kernels[0].kernel.where,
                        "'" + op->name() + "' is CompositeImplicit, so a kernel for '" +
                            kernels[0].key +
                            "' would have no gradient; make the composite one CompositeExplicit");
    }
    op->dispatch = std::move(kernels);
  }
  // Forms made by autogen of operators that are not structured call the operator that they are made
  // from and copy. In-place forms of composite operators get their gradient from what they call,
  // and so do functional forms of operators that write, unless derivatives.yaml has one for them.
  std::set<std::string> with_derivative;
  for (const auto& entry : model.derivatives) with_derivative.insert(entry->schema.full_name());
  for (const auto& op : model.operators) {
    if (!op->autogen_from || !op->scalar_overload_of.empty()) continue;
    if (op->autogen_from->structured) continue;
    const bool calls_what_has_a_gradient =
        op->kind == SchemaKind::functional ||
        (op->kind == SchemaKind::inplace && op->autogen_from->composite == "implicit");
    op->composite = calls_what_has_a_gradient && !with_derivative.contains(op->name()) ? "implicit"
                                                                                       : "explicit";
  }
}

}  // namespace oploom::frontend
