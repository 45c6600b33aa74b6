// Runs the front end on text, for tests.
#pragma once

#include <codegen/frontend/Load.h>
#include <codegen/frontend/passes/Passes.h>

#include <string>

namespace oploom::frontend {

// One run over operators and derivatives given as text.
struct Frontend {
  explicit Frontend(const std::string& operators, const std::string& derivatives = "",
                    const std::string& tags = "", const std::string& helpers = "",
                    bool syntax_only = false, const std::string& name_space = "",
                    const std::string& core = "") {
    if (!name_space.empty()) model.name_space = name_space;
    if (!core.empty()) {
      load_core_operators(*sources.add("oploom/native_functions.yaml", core), model, diagnostics);
    }
    if (!tags.empty()) load_tags(*sources.add("tags.yaml", tags), model, diagnostics);
    if (!helpers.empty()) load_helpers(*sources.add("helpers.h", helpers), model);
    load_native_functions(*sources.add("native_functions.yaml", operators), model, diagnostics);
    load_derivatives(*sources.add("derivatives.yaml", derivatives), model, diagnostics);
    run_passes(model, {.syntax_only = syntax_only}, diagnostics);
  }

  SourceFiles sources;
  Model model;
  Diagnostics diagnostics;
};

}  // namespace oploom::frontend
