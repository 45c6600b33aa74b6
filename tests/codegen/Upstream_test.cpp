// PyTorch's own operator files, where they lie beside the tree: real input that nobody here wrote.
#include <codegen/frontend/Load.h>
#include <codegen/frontend/passes/Passes.h>

#include <gtest/gtest.h>

#include <filesystem>

namespace oploom::frontend {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(OPLOOM_SOURCE_DIR) / ".." / "shared" / "upstream";

TEST(Upstream, PassesTheSyntaxCheckUnchanged) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no " << kFolder;
  SourceFiles sources;
  Model model;
  Diagnostics diagnostics;
  load_tags(*sources.read(kFolder / "tags.yaml"), model, diagnostics);
  load_native_functions(*sources.read(kFolder / "native_functions.yaml"), model, diagnostics);
  load_derivatives(*sources.read(kFolder / "derivatives.yaml"), model, diagnostics);
  run_passes(model, {.syntax_only = true}, diagnostics);

  EXPECT_EQ(diagnostics.render(), "");
  EXPECT_EQ(model.operators.size(), 2614u);
  EXPECT_EQ(model.derivatives.size(), 662u);

  std::size_t with_derivative = 0;
  for (const auto& op : model.operators) {
    EXPECT_EQ(to_string(op->schema), op->func->value);
    with_derivative += op->derivative && !op->derivative->inputs.empty();
  }
  EXPECT_GT(with_derivative, 600u);
}

}  // namespace
}  // namespace oploom::frontend
