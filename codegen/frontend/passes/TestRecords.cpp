#include <c10/util/Suggest.h>
#include <codegen/frontend/passes/TestRecords.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

namespace oploom::frontend {

namespace {

// Twelve dtypes, and then groups of them.
constexpr auto kDtypesAndGroups = std::to_array<std::string_view>({"bool",
                                                                   "uint8",
                                                                   "int8",
                                                                   "int16",
                                                                   "int32",
                                                                   "int64",
                                                                   "float16",
                                                                   "bfloat16",
                                                                   "float32",
                                                                   "float64",
                                                                   "complex64",
                                                                   "complex128",
                                                                   "integral",
                                                                   "floating",
                                                                   "complex",
                                                                   "numeric",
                                                                   "real",
                                                                   "all",
                                                                   "floating_complex",
                                                                   "bool_integral",
                                                                   "numeric_complex"});
constexpr auto kDtypes = std::span(kDtypesAndGroups).first<12>();
constexpr auto kTests = std::to_array<std::string_view>(
    {"values", "gradcheck", "gradgradcheck", "forward", "forward_over_reverse", "layouts", "out",
     "inplace", "meta", "shape", "capability", "errors"});
// Of a tensor in a sample, where it is more than its shape.
constexpr auto kTensorKeys =
    std::to_array<std::string_view>({"shape", "values", "dtype", "low", "high", "unique"});
constexpr auto kErrorKeys = std::to_array<std::string_view>({"args", "message", "dtype"});

class RecordCheck {
 public:
  RecordCheck(const Operator& op, Diagnostics& diagnostics) : op_(op), diagnostics_(diagnostics) {
    for (const auto& argument : op.schema.arguments) arguments_.push_back(argument.name);
  }

  void run() {
    for (const auto& [key, value] : op_.test->entries) {
      const auto found =
          std::find_if(kKeys.begin(), kKeys.end(),
                       [&name = key.value](const Key& known) { return known.name == name; });
      if (found != kKeys.end()) {
        (this->*found->check)(value);
        continue;
      }
      std::vector<std::string_view> names;
      for (const Key& known : kKeys) names.push_back(known.name);
      diagnostics_.error(key.where, "unknown key '" + key.value + "' of a test record")
          .suggest(c10::closest_name(key.value, names));
    }
  }

 private:
  struct Key {
    std::string_view name;
    void (RecordCheck::*check)(const YamlNode& value);
  };
  static const std::array<Key, 12> kKeys;

  void expected(const YamlNode& value, const std::string& what) {
    diagnostics_.error(value.where, "expected " + what + ", found " + describe(value));
  }

  template <typename Names>
  bool known(const YamlNode& word, const Names& names, const std::string& what) {
    if (std::find(names.begin(), names.end(), word.value) != names.end()) return true;
    diagnostics_.error(word.where, "unknown " + what + " '" + word.value + "'")
        .suggest(c10::closest_name(word.value, names));
    return false;
  }

  void formula(const YamlNode& value) {
    if (!value.is_scalar() || value.value.empty()) {
      expected(value, "an expression of Python");
      return;
    }
    brackets(value);
    names(value);
  }

  // What a test would be told by Python when it runs.
  void brackets(const YamlNode& value) {
    constexpr std::string_view kOpen = "([{", kClose = ")]}";
    std::vector<std::size_t> open;
    char quote = 0;
    for (std::size_t i = 0; i < value.value.size(); ++i) {
      const char c = value.value[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (kOpen.find(c) != kOpen.npos) {
        open.push_back(i);
      } else if (const auto kind = kClose.find(c); kind != kClose.npos) {
        if (open.empty() || value.value[open.back()] != kOpen[kind]) {
          diagnostics_.error(value.locate(i, 1),
                             "this '" + std::string(1, c) + "' closes no bracket");
          return;
        }
        open.pop_back();
      }
    }
    if (open.empty()) return;
    diagnostics_.error(value.locate(open.back(), 1),
                       "this '" + value.value.substr(open.back(), 1) + "' is never closed");
  }

  // A name that nothing has, where it is nearly that of an argument.
  void names(const YamlNode& value) {
    static constexpr auto kBuiltins = std::to_array<std::string_view>(
        {"abs",       "all",   "and",   "any",   "bool",    "complex", "divmod", "dtype",  "else",
         "enumerate", "F",     "None",  "False", "float",   "if",      "in",     "int",    "is",
         "len",       "list",  "map",   "max",   "min",     "not",     "np",     "oploom", "or",
         "pow",       "range", "round", "set",   "slice",   "sorted",  "sp",     "str",    "sum",
         "True",      "tuple", "wide",  "zip",   "builtins"});
    const std::string& text = value.value;
    // What these bind is not followed up.
    if (text.find("for ") != text.npos || text.find("lambda") != text.npos) return;
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (quote != 0 || text[i] == '"' || text[i] == '\'') {
        quote = quote == 0 ? text[i] : text[i] == quote ? 0 : quote;
        continue;
      }
      if (!is_part(text[i])) continue;
      const std::size_t begin = i;
      while (i + 1 < text.size() && is_part(text[i + 1])) ++i;
      const std::string name = text.substr(begin, i + 1 - begin);
      const std::size_t next = text.find_first_not_of(' ', i + 1);
      const bool keyword =
          next != text.npos && text[next] == '=' && text.compare(next, 2, "==") != 0;
      if (keyword || std::isdigit(static_cast<unsigned char>(name[0])) ||
          (begin > 0 && text[begin - 1] == '.') || op_.schema.find_argument(name) ||
          std::find(kBuiltins.begin(), kBuiltins.end(), name) != kBuiltins.end()) {
        continue;
      }
      const std::string meant = c10::closest_name(name, arguments_);
      if (meant.empty() || name == meant + "_") continue;
      diagnostics_
          .error(value.locate(begin, name.size()),
                 "the reference uses '" + name + "', which is no argument of '" + op_.name() + "'")
          .suggest(meant);
    }
  }
  void reason(const YamlNode& value) {
    if (!value.is_scalar() || value.value.empty()) expected(value, "the reason, as text");
  }
  void flag(const YamlNode& value) {
    if (!as_bool(value)) expected(value, "True or False");
  }

  void dtypes(const YamlNode& value) {
    if (value.is_sequence()) {
      for (const auto& item : value.items) dtypes(item);
    } else if (!value.is_scalar()) {
      expected(value, "dtypes, or a group such as 'floating'");
    } else {
      known(value, kDtypesAndGroups, "dtype");
    }
  }

  void dtype(const YamlNode& value) {
    if (value.is_scalar()) {
      known(value, kDtypes, "dtype");
    } else {
      expected(value, "a dtype");
    }
  }

  void range(const YamlNode& value) {
    const bool two = value.is_sequence() && value.items.size() == 2;
    const auto low = two ? as_number(value.items[0]) : std::nullopt;
    const auto high = two ? as_number(value.items[1]) : std::nullopt;
    if (!low || !high) {
      diagnostics_.error(value.where, "a domain is '[low, high]', two numbers");
    } else if (*low > *high) {
      diagnostics_.error(value.where, "no number lies in this domain: its low end comes first");
    }
  }
  void domain(const YamlNode& value) {
    if (!value.is_map()) {
      range(value);
      return;
    }
    argument_names(value);
    for (const auto& [name, given] : value.entries) range(given);
  }

  void numbers(const YamlNode& value) {
    if (!value.is_sequence()) {
      expected(value, "a list of numbers");
      return;
    }
    for (const auto& item : value.items) {
      if (!as_number(item)) expected(item, "a number");
    }
  }
  void singular(const YamlNode& value) {
    if (!value.is_map()) {
      expected(value, "a map of arguments, each with its numbers");
      return;
    }
    argument_names(value);
    for (const auto& [name, given] : value.entries) numbers(given);
  }

  void skip(const YamlNode& value) {
    if (!value.is_map()) {
      expected(value, "a map of tests, each with the reason to leave it out");
      return;
    }
    for (const auto& [name, given] : value.entries) {
      known(name, kTests, "test");
      reason(given);
    }
  }

  void one_tolerance(const YamlNode& value) {
    const auto number = as_number(value);
    if (!number) {
      expected(value, "a number");
    } else if (*number < 0) {
      diagnostics_.error(value.where, "a tolerance is not negative");
    }
  }
  void tolerance(const YamlNode& value) {
    if (!value.is_map()) {
      one_tolerance(value);
      return;
    }
    for (const auto& [name, given] : value.entries) {
      dtype(name);
      one_tolerance(given);
    }
  }

  // ---- Samples ----

  void argument_names(const YamlNode& map) {
    for (const auto& [key, value] : map.entries) {
      if (op_.schema.find_argument(key.value)) continue;
      diagnostics_.error(key.where, "'" + op_.name() + "' has no argument '" + key.value + "'")
          .suggest(c10::closest_name(key.value, arguments_))
          .note(op_.schema_where, "the schema is here");
    }
  }

  void shape(const YamlNode& value) {
    if (!value.is_sequence()) {
      expected(value, "a shape, '[3, 4]', or '{shape: [3, 4], dtype: int64}'");
      return;
    }
    for (const auto& item : value.items) {
      const auto size = as_number(item);
      if (!size) {
        expected(item, "a size");
      } else if (*size < 0) {
        diagnostics_.error(item.where, "a size is not negative");
      }
    }
  }

  void tensor(const YamlNode& value) {
    if (value.is_null()) return;
    if (!value.is_map()) {
      shape(value);
      return;
    }
    for (const auto& [key, given] : value.entries) known(key, kTensorKeys, "key of a tensor");
    if (const YamlNode* given = value.find("dtype")) dtype(*given);
    if (value.find("values")) return;
    if (const YamlNode* given = value.find("shape")) {
      shape(*given);
    } else {
      diagnostics_.error(value.where, "a tensor has a 'shape' or 'values'");
    }
  }

  void tensors(const YamlNode& value) {
    if (value.is_null()) return;
    if (!value.is_sequence()) {
      expected(value, "a list of shapes");
      return;
    }
    for (const auto& item : value.items) tensor(item);
  }

  void values(const YamlNode& map) {
    argument_names(map);
    for (const auto& [name, value] : map.entries) {
      const auto* argument = op_.schema.find_argument(name.value);
      if (argument && argument->type.is_tensor_like()) argument_value(*argument, value);
    }
  }
  void argument_value(const SchemaArgument& argument, const YamlNode& value) {
    if (argument.type.list) {
      tensors(value);
    } else {
      tensor(value);
    }
  }

  void number_value(const SchemaArgument& argument, const YamlNode& value) {
    const SchemaBaseType base = argument.type.base;
    const bool number = base == SchemaBaseType::Float || base == SchemaBaseType::Int ||
                        base == SchemaBaseType::SymInt;
    if (!number || argument.type.list || (argument.type.optional && value.is_null())) return;
    if (as_number(value) || as_bool(value)) return;
    const std::string_view word = value.value;
    if (word.ends_with(".inf") || word.ends_with(".nan") || word.ends_with(".Inf")) return;
    expected(value, "a number");
  }

  void sample(const YamlNode& value) {
    const auto& arguments = op_.schema.arguments;
    if (value.is_sequence()) {
      if (value.items.size() > arguments.size()) {
        diagnostics_
            .error(value.where, "the sample gives " + std::to_string(value.items.size()) +
                                    " values, and '" + op_.name() + "' takes " +
                                    std::to_string(arguments.size()))
            .note(op_.schema_where, "the schema is here");
        return;
      }
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (arguments[i].type.is_tensor_like()) argument_value(arguments[i], value.items[i]);
        number_value(arguments[i], value.items[i]);
      }
      return;
    }
    if (!value.is_map()) {
      expected(value, "a sample, '{argument: value}'");
      return;
    }
    values(value);
    for (const auto& argument : arguments) {
      if (const YamlNode* given = value.find(argument.name)) number_value(argument, *given);
      if (argument.default_value || argument.is_out || argument.type.optional) continue;
      if (value.find(argument.name)) continue;
      diagnostics_.error(value.where, "the sample gives no value for '" + argument.name + "'")
          .note(op_.schema_where, "the schema is here");
    }
  }
  void samples(const YamlNode& value) {
    if (!value.is_sequence()) {
      diagnostics_.error(value.where, "expected a list of samples, found " + describe(value));
      return;
    }
    for (const auto& item : value.items) sample(item);
  }

  void arguments(const YamlNode& value) {
    if (value.is_map()) {
      values(value);
    } else {
      expected(value, "a map of arguments, each with its value");
    }
  }

  void errors(const YamlNode& value) {
    if (!value.is_sequence()) {
      expected(value, "a list of expected errors");
      return;
    }
    for (const auto& error : value.items) {
      const YamlNode* given = error.find("args");
      if (!given || !given->is_map() || !error.find("message")) {
        diagnostics_.error(error.where, "an expected error is '{args: {...}, message: text}'");
        continue;
      }
      for (const auto& [key, ignored] : error.entries) known(key, kErrorKeys, "key of an error");
      if (const YamlNode* named = error.find("dtype")) dtype(*named);
      values(*given);
    }
  }

  const Operator& op_;
  Diagnostics& diagnostics_;
  std::vector<std::string> arguments_;
};

// All that a record may say.
constinit const std::array<RecordCheck::Key, 12> RecordCheck::kKeys = {{
    {"numpy", &RecordCheck::formula},        // the expected value, for NumPy
    {"oploom", &RecordCheck::formula},       // or by other operators
    {"none", &RecordCheck::reason},          // nothing tests it by itself
    {"dtypes", &RecordCheck::dtypes},        // those that it takes
    {"samples", &RecordCheck::samples},      // of its arguments
    {"arguments", &RecordCheck::arguments},  // in samples that are made up
    {"domain", &RecordCheck::domain},        // where values lie
    {"singular", &RecordCheck::singular},    // where the derivative is to be looked at
    {"grad", &RecordCheck::flag},            // whether it is differentiated
    {"tol", &RecordCheck::tolerance},        // the error allowed
    {"skip", &RecordCheck::skip},            // tests left out
    {"errors", &RecordCheck::errors},        // calls that are refused
}};

}  // namespace

void check_test_record(const Operator& op, Diagnostics& diagnostics) {
  RecordCheck(op, diagnostics).run();
}

}  // namespace oploom::frontend
