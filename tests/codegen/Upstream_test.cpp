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
  EXPECT_EQ(model.derivatives.size(), 662u);

  std::size_t written = 0, with_derivative = 0;
  for (const auto& op : model.operators) {
    if (op->autogen_from) continue;
    ++written;
    EXPECT_EQ(to_string(op->schema), op->func->value);
    with_derivative += op->derivative && !op->derivative->inputs.empty();
  }
  EXPECT_EQ(written, 2614u);
  EXPECT_GT(with_derivative, 600u);
  // The forms that autogen lists are made, as PyTorch makes them.
  auto schema = [&](const char* name) {
    const Operator* op = model.find(name);
    return op ? to_string(op->schema) : "nothing";
  };
  EXPECT_EQ(
      schema("uniform"),
      "uniform(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor");
  EXPECT_EQ(schema("uniform.out"),
            "uniform.out(Tensor self, float from=0, float to=1, *, Generator? generator=None, "
            "Tensor(a!) out) -> Tensor(a!)");
  EXPECT_EQ(schema("_foreach_zero"), "_foreach_zero(Tensor[] self) -> Tensor[] self_out");
  EXPECT_EQ(schema("_foreach_zero.out"),
            "_foreach_zero.out(Tensor[] self, *, Tensor(a!)[] out) -> ()");
}

}  // namespace
}  // namespace oploom::frontend
