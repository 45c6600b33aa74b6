// Pass 08: what must hold between the finished operators: names in C++, overloads, test records.
#include <c10/util/Suggest.h>
#include <codegen/frontend/Load.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <set>

namespace oploom::frontend {

namespace {

bool is_identifier(std::string_view text) {
  // `native::name` and `ns::native::name` are allowed for kernels outside at::native.
  if (text.empty() || (!std::isalpha(static_cast<unsigned char>(text[0])) && text[0] != '_')) {
    return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
  });
}

// The C++ parameter types as far as they tell overloads apart.
std::string cpp_signature(const FunctionSchema& schema) {
  std::string text = schema.name + "(";
  for (const auto& argument : schema.arguments) {
    SchemaType type = argument.type;
    if (type.base == SchemaBaseType::SymInt) type.base = SchemaBaseType::Int;
    type.list_size.reset();
    text += to_string(type);
    if (argument.alias && argument.alias->is_write) text += "!";
    text += ", ";
  }
  return text;
}

class Verifier {
 public:
  Verifier(const Model& model, const PassOptions& options, Diagnostics& diagnostics)
      : model_(model), options_(options), diagnostics_(diagnostics) {}

  void run() {
    std::map<std::string, const Operator*> identifiers, signatures;
    for (const auto& op : model_.operators) {
      names(*op);
      if (options_.syntax_only) continue;
      unique(*op, op->schema.identifier(), identifiers, "would have the same C++ name as '", "'");
      unique(*op, cpp_signature(op->schema), signatures, "cannot be told from '",
             "' in C++: their arguments have the same types");
      if (op->test) samples(*op);
    }
  }

 private:
  void unique(const Operator& op, const std::string& key,
              std::map<std::string, const Operator*>& seen, std::string_view before,
              std::string_view after) {
    const auto [first, fresh] = seen.emplace(key, &op);
    if (fresh || first->second->name() == op.name()) return;
    diagnostics_
        .error(op.schema_where, "'" + op.name() + "' " + std::string(before) +
                                    first->second->name() + std::string(after))
        .note(first->second->schema_where, "'" + first->second->name() + "' is here");
  }

  void names(const Operator& op) {
    if (!op.func) return;
    for (const auto& argument : op.schema.arguments) {
      if (!is_cpp_keyword(argument.name)) continue;
      diagnostics_.error(op.func->locate(argument.name_span.offset, argument.name_span.length),
                         "'" + argument.name + "' is a word of C++ and cannot name an argument");
    }
    for (const auto& entry : op.dispatch) {
      if (is_identifier(entry.kernel.text)) continue;
      diagnostics_.error(entry.kernel.where,
                         "'" + entry.kernel.text + "' is no name of a C++ function");
    }
  }

  // The samples of a test record name the operator's arguments.
  void samples(const Operator& op) {
    for (const char* key : {"domain", "singular"}) {
      const YamlNode* map = op.test->find(key);
      if (map && map->is_map()) argument_names(op, *map);
    }
    if (const YamlNode* samples = op.test->find("samples")) {
      if (samples->is_sequence()) {
        for (const auto& sample : samples->items) arguments(op, sample);
      } else {
        diagnostics_.error(samples->where,
                           "expected a list of samples, found " + describe(*samples));
      }
    }
    if (const YamlNode* errors = op.test->find("errors"); errors && errors->is_sequence()) {
      for (const auto& error : errors->items) {
        const YamlNode* given = error.find("args");
        if (!given || !error.find("message")) {
          diagnostics_.error(error.where, "an expected error is '{args: {...}, message: text}'");
          continue;
        }
        if (given->is_map()) argument_names(op, *given);
      }
    }
  }

  void arguments(const Operator& op, const YamlNode& sample) {
    if (!sample.is_map()) return;
    argument_names(op, sample);
    for (const auto& argument : op.schema.arguments) {
      if (argument.default_value || argument.is_out || argument.type.optional) continue;
      if (!sample.find(argument.name)) {
        diagnostics_.error(sample.where, "the sample gives no value for '" + argument.name + "'")
            .note(op.schema_where, "the schema is here");
      }
    }
  }

  void argument_names(const Operator& op, const YamlNode& map) {
    std::vector<std::string> known;
    for (const auto& argument : op.schema.arguments) known.push_back(argument.name);
    for (const auto& [key, value] : map.entries) {
      if (op.schema.find_argument(key.value)) continue;
      diagnostics_.error(key.where, "'" + op.name() + "' has no argument '" + key.value + "'")
          .suggest(c10::closest_name(key.value, known))
          .note(op.schema_where, "the schema is here");
    }
  }

  const Model& model_;
  const PassOptions& options_;
  Diagnostics& diagnostics_;
};

}  // namespace

void verify(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  Verifier(model, options, diagnostics).run();
}

}  // namespace oploom::frontend
