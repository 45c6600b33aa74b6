// Reading of the YAML files into entries of the model.
#pragma once

#include <codegen/frontend/Diagnostics.h>
#include <codegen/frontend/Model.h>

namespace oploom::frontend {

void load_native_functions(const SourceFile& file, Model& model, Diagnostics& diagnostics);
void load_derivatives(const SourceFile& file, Model& model, Diagnostics& diagnostics);
// Notes the functions that a C++ header declares: formulas may call them.
void load_helpers(const SourceFile& file, Model& model);
// Reads oploom's own operators, which the formulas of a package may call, into `model.core`.
void load_core_operators(const SourceFile& file, Model& model, Diagnostics& diagnostics);
void load_tags(const SourceFile& file, Model& model, Diagnostics& diagnostics);

// Parses the schema in a scalar; mistakes are reported at their places in the file.
std::optional<FunctionSchema> load_schema(const YamlNode& node, Diagnostics& diagnostics);

bool is_cpp_keyword(std::string_view name);
bool is_python_keyword(std::string_view name);
// Whether C++ takes the text as a name; keywords are none.
bool is_cpp_identifier(std::string_view text);

// Splits `a, b` into its words.
std::vector<Spelled> split_list(const YamlNode& node, Diagnostics& diagnostics);

// Keys of the dispatch table: oploom's own, and those that only PyTorch has.
const std::vector<std::string>& known_dispatch_keys();
bool is_oploom_dispatch_key(std::string_view key);

}  // namespace oploom::frontend
