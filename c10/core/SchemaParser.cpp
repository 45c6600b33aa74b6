// A recursive-descent parser for operator schemas, with the position of every mistake.
#include <c10/core/SchemaParser.h>

#include <c10/util/Exception.h>
#include <c10/util/Suggest.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

namespace c10::inline oploom_v1 {

namespace {

struct ParseFailure {};  // thrown to leave the grammar after a mistake; never leaves this file

enum class DefaultKind { None, Bool, Int, Float, String, Name, List };

struct DefaultValue {
  DefaultKind kind = DefaultKind::None;
  std::string text;
  std::vector<DefaultValue> items;
  SchemaSpan span;
};

class Parser {
 public:
  Parser(std::string_view text, std::vector<SchemaError>& errors) : text_(text), errors_(errors) {}

  FunctionSchema schema() {
    FunctionSchema schema;
    skip_space();
    std::size_t start = at_;
    schema.name = identifier("an operator name");
    if (peek_text("::")) {
      at_ += 2;
      schema.ns = schema.name;
      start = at_;
      schema.name = identifier("an operator name");
    }
    if (peek() == '.') {
      ++at_;
      schema.overload_name = identifier("an overload name");
    }
    schema.name_span = {start, at_ - start};
    expect('(', "'(' after the operator name");
    schema.arguments = arguments(')');
    expect(')', "',' or ')' after an argument");
    skip_space();
    if (!peek_text("->")) fail("expected '->' and the return type");
    at_ += 2;
    skip_space();
    start = at_;
    returns(schema);
    schema.returns_span = {start, at_ - start};
    skip_space();
    if (at_ < text_.size()) {
      fail("unexpected text after the end of the schema", at_, text_.size() - at_);
    }
    mark_outs(schema);
    check(schema);
    return schema;
  }

  std::vector<SchemaArgument> argument_list() {
    auto list = arguments('\0');
    skip_space();
    if (at_ < text_.size()) fail("expected ',' between arguments");
    return list;
  }

 private:
  // -- characters ------------------------------------------------------------------------------

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool peek_text(std::string_view wanted) const { return text_.substr(at_).starts_with(wanted); }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  static bool starts_name(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  }
  static bool continues_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  }

  void note(std::string message, std::size_t offset, std::size_t length = 1,
            std::string suggestion = "") {
    errors_.push_back(
        {std::move(message), offset, std::max<std::size_t>(length, 1), std::move(suggestion)});
  }
  [[noreturn]] void fail(std::string message) { fail(std::move(message), at_); }
  [[noreturn]] void fail(std::string message, std::size_t offset, std::size_t length = 1,
                         std::string suggestion = "") {
    note(std::move(message), offset, length, std::move(suggestion));
    throw ParseFailure{};
  }
  std::string found() const {
    if (at_ >= text_.size()) return "the end of the text";
    return std::string("'") + text_[at_] + "'";
  }

  void expect(char wanted, std::string_view what) {
    skip_space();
    if (peek() != wanted) fail("expected " + std::string(what) + ", found " + found());
    ++at_;
  }

  std::string identifier(std::string_view what) {
    skip_space();
    if (!starts_name(peek())) fail("expected " + std::string(what) + ", found " + found());
    const std::size_t start = at_;
    while (continues_name(peek())) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  // -- types -----------------------------------------------------------------------------------

  // C++ and Python have other names for some types.
  static std::string meant_type(const std::string& name) {
    static constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
        {"double", "float"}, {"long", "int"},      {"int64_t", "int"},      {"boolean", "bool"},
        {"string", "str"},   {"number", "Scalar"}, {"dtype", "ScalarType"},
    };
    for (const auto& [other, meant] : kElsewhere) {
      if (name == other) return std::string(meant);
    }
    return closest_name(name, schema_base_type_names());
  }

  SchemaBaseType base_type() {
    skip_space();
    const std::size_t start = at_;
    const std::string name = identifier("a type");
    const auto& names = schema_base_type_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      fail("unknown type '" + name + "'", start, name.size(), meant_type(name));
    }
    return static_cast<SchemaBaseType>(found - names.begin());
  }

  std::vector<std::string> alias_sets() {
    std::vector<std::string> sets;
    while (true) {
      skip_space();
      if (peek() == '*') {
        ++at_;
        sets.emplace_back("*");
      } else {
        sets.push_back(identifier("the name of an alias set, or '*'"));
      }
      skip_space();
      if (peek() != '|') return sets;
      ++at_;
    }
  }

  // After `(`.
  AliasInfo alias() {
    AliasInfo alias;
    alias.before = alias_sets();
    skip_space();
    if (peek() == '!') {
      ++at_;
      alias.is_write = true;
      skip_space();
    }
    if (peek_text("->")) {
      at_ += 2;
      alias.after = alias_sets();
    }
    expect(')', "')' at the end of the alias annotation");
    return alias;
  }

  SchemaType type(std::optional<AliasInfo>& annotation) {
    SchemaType type;
    type.base = base_type();
    if (peek() == '(') {
      const std::size_t start = at_++;
      annotation = alias();
      if (type.base != SchemaBaseType::Tensor) {
        note("only a Tensor can carry an alias annotation", start, at_ - start);
      }
    }
    bool question = false;
    if (peek() == '?') {
      ++at_;
      question = true;
    }
    if (peek() == '[') {
      ++at_;
      type.list = true;
      type.elem_optional = question;
      question = false;
      skip_space();
      if (std::isdigit(static_cast<unsigned char>(peek()))) {
        const std::size_t start = at_;
        std::int64_t size = 0;
        const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
        at_ = static_cast<std::size_t>(result.ptr - text_.data());
        if (result.ec != std::errc() || size == 0 || size > 1'000'000) {
          fail("a list's length is a number from 1 to 1000000", start, at_ - start);
        }
        type.list_size = size;
      }
      expect(']', "']' at the end of the list type");
      if (peek() == '[') fail("lists of lists are not part of the schema language");
      if (peek() == '?') {
        ++at_;
        question = true;
      }
      if (peek() == '[') fail("lists of lists are not part of the schema language");
    }
    if (peek() == '?') fail("a type can be optional only once");
    type.optional = question;
    return type;
  }

  // -- defaults --------------------------------------------------------------------------------

  DefaultValue default_value() {
    skip_space();
    DefaultValue value;
    const std::size_t start = at_;
    const char c = peek();
    if (c == '[') {
      value.kind = DefaultKind::List;
      ++at_;
      skip_space();
      while (peek() != ']') {
        if (peek() == '[') fail("lists of lists are not part of the schema language");
        value.items.push_back(default_value());
        skip_space();
        if (peek() == ',') {
          ++at_;
          skip_space();
          if (peek() == ']') fail("expected a value after ','");
        } else if (peek() != ']') {
          fail("expected ',' or ']' in the default list, found " + found());
        }
      }
      ++at_;
    } else if (c == '\'' || c == '"') {
      value.kind = DefaultKind::String;
      ++at_;
      while (peek() != c) {
        if (at_ >= text_.size()) fail("the string is not closed", start, at_ - start);
        if (peek() == '\\') ++at_;
        ++at_;
      }
      ++at_;
    } else if (starts_name(c)) {
      const std::string name = identifier("a value");
      value.kind = name == "None"                      ? DefaultKind::None
                   : name == "True" || name == "False" ? DefaultKind::Bool
                   : name == "inf" || name == "nan"    ? DefaultKind::Float
                                                       : DefaultKind::Name;
    } else {
      number(value);
    }
    value.span = {start, at_ - start};
    value.text = std::string(text_.substr(start, at_ - start));
    return value;
  }

  void number(DefaultValue& value) {
    const std::size_t start = at_;
    value.kind = DefaultKind::Int;
    if (peek() == '-' || peek() == '+') ++at_;
    if (peek_text("inf")) {
      at_ += 3;
      value.kind = DefaultKind::Float;
      return;
    }
    bool digits = skip_digits();
    if (peek() == '.') {
      ++at_;
      value.kind = DefaultKind::Float;
      digits = skip_digits() || digits;
    }
    if (!digits) {
      at_ = start;
      fail("expected a default value, found " + found());
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      value.kind = DefaultKind::Float;
      if (peek() == '-' || peek() == '+') ++at_;
      if (!skip_digits()) fail("expected the digits of the exponent, found " + found());
    }
    if (continues_name(peek())) {
      while (continues_name(peek())) ++at_;
      fail("not a number", start, at_ - start);
    }
    if (value.kind == DefaultKind::Int) {
      const std::size_t first = text_[start] == '+' ? start + 1 : start;
      std::int64_t parsed = 0;
      const auto result = std::from_chars(text_.data() + first, text_.data() + at_, parsed);
      if (result.ec != std::errc()) {
        note("the number does not fit into 64 bits", start, at_ - start);
      }
    }
  }

  bool skip_digits() {
    const std::size_t start = at_;
    while (std::isdigit(static_cast<unsigned char>(peek()))) ++at_;
    return at_ > start;
  }

  static bool scalar_default_fits(SchemaBaseType base, DefaultKind kind) {
    using B = SchemaBaseType;
    using D = DefaultKind;
    switch (base) {
      case B::Int:
        return kind == D::Int || kind == D::Name;  // a name is a constant, `int reduction=Mean`
      case B::SymInt:
      case B::DeviceIndex:
        return kind == D::Int;
      case B::Float:
        return kind == D::Int || kind == D::Float;
      case B::Scalar:
      case B::Complex:
        return kind == D::Int || kind == D::Float || kind == D::Bool;
      case B::Bool:
      case B::SymBool:
        return kind == D::Bool;
      case B::Str:
        return kind == D::String;
      case B::ScalarType:
      case B::Layout:
      case B::MemoryFormat:
      case B::QScheme:
        return kind == D::Name;
      case B::Device:
        return kind == D::Name || kind == D::String;
      default:
        return false;
    }
  }

  static std::string expected_default(SchemaBaseType base) {
    switch (base) {
      case SchemaBaseType::Int:
        return "a whole number or the name of a constant";
      case SchemaBaseType::SymInt:
      case SchemaBaseType::DeviceIndex:
        return "a whole number";
      case SchemaBaseType::Float:
      case SchemaBaseType::Scalar:
      case SchemaBaseType::Complex:
        return "a number";
      case SchemaBaseType::Bool:
      case SchemaBaseType::SymBool:
        return "True or False";
      case SchemaBaseType::Str:
        return "a quoted string";
      case SchemaBaseType::ScalarType:
        return "the name of a dtype";
      case SchemaBaseType::Layout:
        return "the name of a layout";
      case SchemaBaseType::MemoryFormat:
        return "the name of a memory format";
      default:
        return "None for an optional type, and nothing otherwise";
    }
  }

  void check_default(const SchemaType& type, const DefaultValue& value) {
    if (value.kind == DefaultKind::None) {
      if (!type.optional) {
        note("None is no value of type " + to_string(type), value.span.offset, value.span.length,
             to_string(type) + "?");
      }
      return;
    }
    if (type.list && value.kind == DefaultKind::List) {
      // T[1] is a list of any length that also takes a single value.
      if (type.list_size && *type.list_size > 1 && !value.items.empty() &&
          value.items.size() != static_cast<std::size_t>(*type.list_size)) {
        note("a default of " + std::to_string(value.items.size()) + " values for type " +
                 to_string(type),
             value.span.offset, value.span.length);
      }
      for (const auto& item : value.items) {
        if (item.kind == DefaultKind::None && type.elem_optional) continue;
        report_misfit(type, item);
      }
      return;
    }
    if (type.list && !type.list_size) {
      note("the default of a list is written in brackets", value.span.offset, value.span.length,
           "[" + value.text + "]");
      return;
    }
    report_misfit(type,
                  value);  // a list of fixed length takes one value for all, `int[2] stride=1`
  }

  void report_misfit(const SchemaType& type, const DefaultValue& value) {
    if (scalar_default_fits(type.base, value.kind)) return;
    std::string suggestion;
    const bool boolean = type.base == SchemaBaseType::Bool;
    if (boolean && (value.text == "true" || value.text == "1")) suggestion = "True";
    if (boolean && (value.text == "false" || value.text == "0")) suggestion = "False";
    if (type.optional && (value.text == "none" || value.text == "null")) suggestion = "None";
    note("'" + value.text + "' is no value of type " + to_string(type) + ", expected " +
             expected_default(type.base),
         value.span.offset, value.span.length, suggestion);
  }

  // -- arguments and returns -------------------------------------------------------------------

  SchemaArgument argument() {
    SchemaArgument argument;
    skip_space();
    std::size_t start = at_;
    argument.type = type(argument.alias);
    argument.type_span = {start, at_ - start};
    skip_space();
    start = at_;
    argument.name = identifier("the argument's name after its type");
    argument.name_span = {start, at_ - start};
    skip_space();
    if (peek() == '=') {
      ++at_;
      const DefaultValue value = default_value();
      argument.default_value = value.text;
      argument.default_span = value.span;
      check_default(argument.type, value);
    }
    return argument;
  }

  std::vector<SchemaArgument> arguments(char close) {
    std::vector<SchemaArgument> list;
    bool keywords = false;
    skip_space();
    if (peek() == close) return list;
    while (true) {
      skip_space();
      if (peek() == '*') {
        if (keywords) fail("a second '*' among the arguments");
        ++at_;
        keywords = true;
        skip_space();
        if (peek() != ',') fail("expected ',' and a keyword argument after '*'");
      } else {
        list.push_back(argument());
        list.back().kwarg_only = keywords;
      }
      skip_space();
      if (peek() != ',') return list;
      ++at_;
      skip_space();
      if (peek() == close) fail("expected an argument after ','");
    }
  }

  SchemaReturn one_return() {
    SchemaReturn value;
    skip_space();
    const std::size_t start = at_;
    value.type = type(value.alias);
    const std::size_t end = at_;
    skip_space();
    if (starts_name(peek())) {
      value.name = identifier("a name");
      value.span = {start, at_ - start};
    } else {
      value.span = {start, end - start};
    }
    return value;
  }

  void returns(FunctionSchema& schema) {
    if (peek() != '(') {
      schema.returns.push_back(one_return());
      return;
    }
    ++at_;
    schema.returns_in_parentheses = true;
    skip_space();
    if (peek() == ')') {
      ++at_;
      return;
    }
    while (true) {
      schema.returns.push_back(one_return());
      skip_space();
      if (peek() != ',') break;
      ++at_;
    }
    expect(')', "',' or ')' after a return type");
  }

  // -- what the schema says of itself ----------------------------------------------------------

  static void mark_outs(FunctionSchema& schema) {
    if (schema.is_inplace_name()) return;
    for (auto& argument : schema.arguments) {
      argument.is_out = argument.kwarg_only && argument.alias && argument.alias->is_write;
    }
  }

  void check(const FunctionSchema& schema) {
    check_names(schema);
    check_defaults_order(schema);
    check_aliases(schema);
    if (schema.is_inplace_name()) check_inplace(schema);
    if (schema.kind() == SchemaKind::out) check_out(schema);
  }

  void check_names(const FunctionSchema& schema) {
    std::set<std::string> seen;
    for (const auto& argument : schema.arguments) {
      if (!seen.insert(argument.name).second) {
        note("a second argument named '" + argument.name + "'", argument.name_span.offset,
             argument.name_span.length);
      }
    }
    std::set<std::string> seen_returns;
    for (const auto& value : schema.returns) {
      if (value.name && !seen_returns.insert(*value.name).second) {
        note("a second return named '" + *value.name + "'", value.span.offset, value.span.length);
      }
    }
  }

  void check_defaults_order(const FunctionSchema& schema) {
    const SchemaArgument* with_default = nullptr;
    for (const auto& argument : schema.arguments) {
      if (argument.kwarg_only) break;
      if (argument.default_value) {
        with_default = &argument;
      } else if (with_default) {
        note("argument '" + argument.name + "' needs a default, since '" + with_default->name +
                 "' before it has one",
             argument.name_span.offset, argument.name_span.length);
        return;
      }
    }
  }

  void check_aliases(const FunctionSchema& schema) {
    for (const auto& value : schema.returns) {
      if (!value.alias) continue;
      for (const auto& set : value.alias->before) {
        if (set == "*") continue;
        const SchemaArgument* source = nullptr;
        for (const auto& argument : schema.arguments) {
          if (!argument.alias) continue;
          auto holds = [&](const std::vector<std::string>& sets) {
            return std::find(sets.begin(), sets.end(), set) != sets.end();
          };
          if (holds(argument.alias->before) || holds(argument.alias->after)) source = &argument;
        }
        if (!source) {
          note("the return is in alias set '" + set + "', but no argument is", value.span.offset,
               value.span.length);
        } else if (value.alias->is_write != source->alias->is_write) {
          const bool writes = source->alias->is_write;
          note("argument '" + source->name + "' is " + (writes ? "" : "not ") +
                   "written to, so the return is '(" + set + (writes ? "!" : "") + ")'",
               value.span.offset, value.span.length);
        }
      }
    }
  }

  void check_inplace(const FunctionSchema& schema) {
    if (schema.arguments.empty() || schema.arguments[0].name != "self") {
      note("the name of an in-place operator ends in '_', and its first argument is 'self'",
           schema.name_span.offset, schema.name_span.length);
      return;
    }
    const auto& self = schema.arguments[0];
    if (!self.alias || !self.alias->is_write) {
      AliasInfo written;
      written.before = {"a"};
      written.is_write = true;
      const bool tensor = self.type.is_tensor_like();
      note("the name ends in '_', so the operator writes to 'self', but its type does not say so",
           self.type_span.offset, self.type_span.length,
           tensor ? to_string(self.type, &written) : "");
      return;
    }
    if (schema.returns.empty()) return;
    if (schema.returns.size() != 1 || schema.returns[0].alias != self.alias) {
      note("an in-place operator returns self, '" + to_string(self.type, &*self.alias) +
               "', or nothing, '()'",
           schema.returns_span.offset, schema.returns_span.length);
    }
  }

  void check_out(const FunctionSchema& schema) {
    std::vector<const SchemaArgument*> outs;
    for (const auto& argument : schema.arguments) {
      if (argument.is_out) {
        outs.push_back(&argument);
      } else if (!outs.empty()) {
        note("argument '" + argument.name + "' comes after the out argument '" + outs.back()->name +
                 "'; out arguments are the last ones",
             argument.name_span.offset, argument.name_span.length);
        return;
      }
    }
    if (schema.returns.empty()) return;
    if (schema.returns.size() != outs.size()) {
      note("there are " + std::to_string(outs.size()) + " out arguments, but " +
               std::to_string(schema.returns.size()) + " returns",
           schema.returns_span.offset, schema.returns_span.length);
      return;
    }
    for (std::size_t i = 0; i < outs.size(); ++i) {
      const auto& value = schema.returns[i];
      if (value.alias && value.alias->before == outs[i]->alias->before) continue;
      note("return " + std::to_string(i) + " is the out argument '" + outs[i]->name +
               "' and carries its annotation",
           value.span.offset, value.span.length, to_string(outs[i]->type, &*outs[i]->alias));
    }
  }

  std::string_view text_;
  std::vector<SchemaError>& errors_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<FunctionSchema> try_parse_schema(std::string_view text,
                                               std::vector<SchemaError>& errors) {
  const std::size_t before = errors.size();
  try {
    FunctionSchema schema = Parser(text, errors).schema();
    if (errors.size() == before) return schema;
  } catch (const ParseFailure&) {
  }
  return std::nullopt;
}

std::optional<std::vector<SchemaArgument>> try_parse_schema_arguments(
    std::string_view text, std::vector<SchemaError>& errors) {
  const std::size_t before = errors.size();
  try {
    auto list = Parser(text, errors).argument_list();
    if (errors.size() == before) return list;
  } catch (const ParseFailure&) {
  }
  return std::nullopt;
}

std::string render_schema_error(std::string_view text, const SchemaError& error) {
  std::string rendered = error.message;
  if (!error.suggestion.empty()) rendered += " (did you mean '" + error.suggestion + "'?)";
  rendered += "\n  " + std::string(text) + "\n  " + std::string(error.offset, ' ') + "^";
  return rendered;
}

FunctionSchema parse_schema(std::string_view text) {
  std::vector<SchemaError> errors;
  auto schema = try_parse_schema(text, errors);
  OPLOOM_CHECK_VALUE(schema.has_value(), "schema: ", render_schema_error(text, errors.at(0)));
  return std::move(*schema);
}

}  // namespace c10::inline oploom_v1
