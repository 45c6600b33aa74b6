// Pass 01: gives every operator its name and checks the names that entries refer to.
#include <c10/util/Suggest.h>
#include <codegen/frontend/Load.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>

namespace oploom::frontend {

namespace {

void check_tags(const Model& model, const Operator& op, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const auto& tag : model.tags) known.push_back(tag.name);
  for (const auto& tag : op.tags) {
    if (std::find(known.begin(), known.end(), tag.text) != known.end()) continue;
    diagnostics.error(tag.where, "unknown tag '" + tag.text + "'")
        .suggest(c10::closest_name(tag.text, known));
  }
}

void check_dispatch_keys(const Operator& op, Diagnostics& diagnostics) {
  for (const auto& entry : op.dispatch) {
    if (is_oploom_dispatch_key(entry.key) || entry.key.starts_with("Composite")) continue;
    diagnostics.error(entry.key_where,
                      "there is no backend for the dispatch key '" + entry.key + "'");
  }
}

}  // namespace

void resolve(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  for (const auto& op : model.operators) {
    const auto [first, fresh] = model.by_name.emplace(op->name(), op.get());
    if (!fresh) {
      diagnostics.error(op->schema_where, "a second operator named '" + op->name() + "'")
          .note(first->second->schema_where, "the first one is here");
    }
    if (model.tags_given) check_tags(model, *op, diagnostics);
    if (!options.syntax_only) check_dispatch_keys(*op, diagnostics);
  }
}

void run_passes(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  resolve(model, options, diagnostics);
  expand_expressions(model, options, diagnostics);
  complete(model, options, diagnostics);
  group_variants(model, options, diagnostics);
  expand_dispatch(model, options, diagnostics);
  plan_structured(model, options, diagnostics);
  differentiate(model, options, diagnostics);
  verify(model, options, diagnostics);
  check_helpers(model, options, diagnostics);
  prove_derivatives(model, options, diagnostics);
}

}  // namespace oploom::frontend
