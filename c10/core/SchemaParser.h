// Reads operator schemas, `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.
#pragma once

#include <c10/core/FunctionSchema.h>
#include <c10/util/Export.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace c10::inline oploom_v1 {

// What is wrong with a schema, and where: offset and length count bytes of the text parsed.
struct SchemaError {
  std::string message;
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string suggestion;  // the likely intended spelling, or ""
};

// Parses a schema and checks what can be told from it alone: names, types, defaults, alias
// annotations. Every mistake found is appended to `errors`; a model comes back only without any.
OPLOOM_API std::optional<FunctionSchema> try_parse_schema(std::string_view text,
                                                          std::vector<SchemaError>& errors);

// The same, throwing ValueError with the text and a caret under the first mistake.
OPLOOM_API FunctionSchema parse_schema(std::string_view text);

// Parses `int dim, bool keepdim`: a bare list of arguments, as in `precomputed`.
OPLOOM_API std::optional<std::vector<SchemaArgument>> try_parse_schema_arguments(
    std::string_view text, std::vector<SchemaError>& errors);

// `message` with the text below it and a caret under the place.
OPLOOM_API std::string render_schema_error(std::string_view text, const SchemaError& error);

}  // namespace c10::inline oploom_v1
