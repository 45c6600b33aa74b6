// The front end on any text: no crash, no hang, no leak, and what it accepts prints back.
//
// libFuzzer calls this function with inputs that it makes up (tests/fuzz/README.md); the CTest
// `fuzz` calls it with the files of corpus/. The first line of an input says what the rest is:
// `schema`, `formula`, `operators`, `package` (the operators are oploom's and a package's as well),
// or `syntax` (operators of another tree); operators and derivatives are parted by a line
// `=== derivatives`.
#include <c10/core/SchemaParser.h>
#include <codegen/frontend/Load.h>
#include <codegen/frontend/ModelJson.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace oploom::frontend {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

void schema(std::string_view text) {
  std::vector<c10::SchemaError> errors;
  const auto parsed = c10::try_parse_schema(text, errors);
  require(parsed.has_value() == errors.empty(), "a schema is parsed or has mistakes");
  for (const auto& error : errors) {
    require(error.offset <= text.size(), "a mistake lies in the schema's text");
  }
  if (!parsed) return;
  const std::string printed = to_string(*parsed);
  const auto again = c10::try_parse_schema(printed, errors);
  require(again.has_value() && *again == *parsed, "a schema that was printed parses to the same");
}

void formula(std::string_view text) {
  FormulaError error;
  const auto parsed = parse_formula(text, error);
  if (!parsed) {
    require(error.offset <= text.size() && !error.message.empty(), "a mistake has a place");
    return;
  }
  walk(*parsed, [&](const Expr& node) {
    require(node.offset + node.length <= text.size(), "each part lies in the formula's text");
    return true;
  });
  require(!to_s_expression(*parsed).empty(), "a formula has a tree");
  require(rewrite(text, *parsed, [](const Expr&) { return std::optional<std::string>(); }) == text,
          "a formula of which nothing is replaced stays as it was");
}

void operators(std::string_view text, bool syntax_only, bool package) {
  constexpr std::string_view kSeparator = "\n=== derivatives\n";
  const std::size_t middle = std::min(text.find(kSeparator), text.size());
  const std::string_view rest = text.substr(middle);
  SourceFiles sources;
  Diagnostics diagnostics;
  Model model;
  load_helpers(*sources.add("helpers.h", "Tensor helper(Tensor);"), model);
  if (package) {
    model.name_space = "mathx";
    const std::string core(text.substr(0, middle));
    load_core_operators(*sources.add("oploom/native_functions.yaml", core), model, diagnostics);
  }
  load_native_functions(*sources.add("native_functions.yaml", std::string(text.substr(0, middle))),
                        model, diagnostics);
  load_derivatives(*sources.add("derivatives.yaml",
                                std::string(rest.substr(std::min(kSeparator.size(), rest.size())))),
                   model, diagnostics);
  run_passes(model, {.syntax_only = syntax_only}, diagnostics);
  diagnostics.render();
  diagnostics.render_json();
  if (diagnostics.ok()) require(!model_to_json(model).empty(), "a model is printed");
}

}  // namespace
}  // namespace oploom::frontend

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace oploom::frontend;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view kind = input.substr(0, line);
  const std::string_view text = input.substr(std::min(line + 1, input.size()));
  if (kind == "schema") {
    schema(text);
  } else if (kind == "formula") {
    formula(text);
  } else {
    operators(text, /*syntax_only=*/kind == "syntax", /*package=*/kind == "package");
  }
  return 0;
}
