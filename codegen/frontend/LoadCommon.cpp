// Pieces of YAML that several files share: schemas, comma lists, dispatch keys.
#include <c10/core/SchemaParser.h>
#include <codegen/frontend/Load.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace oploom::frontend {

bool is_cpp_keyword(std::string_view name) {
  static const std::set<std::string_view> keywords = {
      "alignas",       "alignof",     "and",
      "and_eq",        "asm",         "auto",
      "bitand",        "bitor",       "bool",
      "break",         "case",        "catch",
      "char",          "char16_t",    "char32_t",
      "char8_t",       "class",       "co_await",
      "co_return",     "co_yield",    "compl",
      "concept",       "const",       "const_cast",
      "consteval",     "constexpr",   "constinit",
      "continue",      "decltype",    "default",
      "delete",        "do",          "double",
      "dynamic_cast",  "else",        "enum",
      "explicit",      "export",      "extern",
      "false",         "float",       "for",
      "friend",        "goto",        "if",
      "inline",        "int",         "long",
      "mutable",       "namespace",   "new",
      "noexcept",      "not",         "not_eq",
      "nullptr",       "operator",    "or",
      "or_eq",         "private",     "protected",
      "public",        "register",    "reinterpret_cast",
      "requires",      "return",      "short",
      "signed",        "sizeof",      "static",
      "static_assert", "static_cast", "struct",
      "switch",        "template",    "this",
      "thread_local",  "throw",       "true",
      "try",           "typedef",     "typeid",
      "typename",      "union",       "unsigned",
      "using",         "virtual",     "void",
      "volatile",      "wchar_t",     "while",
      "xor",           "xor_eq"};
  return keywords.contains(name);
}

bool is_cpp_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto continues = [&](char c) {
    return is_letter(c) || std::isdigit(static_cast<unsigned char>(c));
  };
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), continues) &&
         !is_cpp_keyword(text);
}

std::optional<FunctionSchema> load_schema(const YamlNode& node, Diagnostics& diagnostics) {
  if (!node.is_scalar()) {
    diagnostics.error(node.where, "expected a schema, found " + describe(node));
    return std::nullopt;
  }
  std::vector<c10::SchemaError> errors;
  auto schema = c10::try_parse_schema(node.value, errors);
  for (auto& error : errors) {
    diagnostics.error(node.locate(error.offset, error.length), error.message)
        .suggest(error.suggestion);
  }
  if (schema && to_string(*schema) != node.value) {
    std::size_t differs = 0;
    const std::string normal = to_string(*schema);
    while (differs < normal.size() && differs < node.value.size() &&
           normal[differs] == node.value[differs]) {
      ++differs;
    }
    diagnostics.error(node.locate(std::min(differs, node.value.size() - 1), 1),
                      "the schema is not in its normal form, which is '" + normal + "'");
  }
  return schema;
}

std::vector<Spelled> split_list(const YamlNode& node, Diagnostics& diagnostics) {
  std::vector<Spelled> words;
  if (node.is_sequence()) {
    for (const auto& item : node.items) {
      if (item.is_scalar()) {
        words.push_back({item.value, item.where});
      } else {
        diagnostics.error(item.where, "expected a name, found " + describe(item));
      }
    }
    return words;
  }
  if (!node.is_scalar()) {
    diagnostics.error(node.where, "expected names, found " + describe(node));
    return words;
  }
  const std::string& text = node.value;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    std::size_t first = text.find_first_not_of(" \t\n", start);
    if (first == std::string::npos || first >= comma) {
      diagnostics.error(node.locate(std::min(start, text.size() ? text.size() - 1 : 0), 1),
                        "expected a name between the commas");
    } else {
      const std::size_t last = text.find_last_not_of(" \t\n", comma - 1);
      const std::size_t length = last + 1 - first;
      words.push_back({text.substr(first, length), node.locate(first, length)});
    }
    start = comma + 1;
  }
  return words;
}

namespace {

const std::vector<std::string>& oploom_keys() {
  static const std::vector<std::string> keys = {"CPU",
                                                "CUDA",
                                                "Meta",
                                                "SparseCPU",
                                                "SparseCUDA",
                                                "QuantizedCPU",
                                                "QuantizedCUDA",
                                                "PrivateUse1",
                                                "PrivateUse2",
                                                "PrivateUse3",
                                                "CompositeImplicit",
                                                "CompositeExplicit"};
  return keys;
}

}  // namespace

bool is_oploom_dispatch_key(std::string_view key) {
  const auto& keys = oploom_keys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

const std::vector<std::string>& known_dispatch_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all = oploom_keys();
    for (const char* name :
         {"CompositeImplicitAutograd", "CompositeImplicitAutogradNestedTensor",
          "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "Autograd",
          "Generic", "ScalarOnly", "MAIA", "ORT", "MkldnnCPU", "QuantizedMeta", "SparseMeta",
          "SparseCsrMeta", "SparseCsr", "ZeroTensor", "FPGA"}) {
      all.emplace_back(name);
    }
    static const char* const backends[] = {"CPU", "CUDA", "HIP", "XLA", "MTIA", "MPS",
                                           "IPU", "XPU",  "HPU", "VE",  "Lazy", "Meta"};
    for (const char* kind : {"", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd"}) {
      for (const char* backend : backends) {
        std::string key = std::string(kind) + backend;
        if (std::find(all.begin(), all.end(), key) == all.end()) all.push_back(std::move(key));
      }
    }
    return all;
  }();
  return keys;
}

}  // namespace oploom::frontend
