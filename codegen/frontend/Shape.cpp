// Reads the key `shape`.
#include <c10/util/Suggest.h>
#include <codegen/frontend/Shape.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace oploom::frontend {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Parser {
 public:
  Parser(const YamlNode& node, const c10::FunctionSchema& schema, Diagnostics& diagnostics)
      : node_(node), text_(node.value), schema_(schema), diagnostics_(diagnostics) {}

  std::optional<ShapeRule> rule() {
    ShapeRule rule{text_, {}, {}};
    if (!terms(rule.outputs)) return std::nullopt;
    if (accept("->")) {
      rule.inputs = std::move(rule.outputs);
      rule.outputs.clear();
      if (!terms(rule.outputs)) return std::nullopt;
    }
    if (at_ != text_.size()) {
      fail("expected ',' or '->'" + found());
      return std::nullopt;
    }
    return counts(rule) && sizes_are_known(rule) ? std::optional(std::move(rule)) : std::nullopt;
  }

 private:
  bool terms(std::vector<ShapeTerm>& list) {
    do {
      ShapeTerm one;
      if (!term(one)) return false;
      list.push_back(std::move(one));
    } while (accept(","));
    return true;
  }

  bool term(ShapeTerm& term) {
    if (accept("(")) {
      term.kind = ShapeTerm::Kind::dims;
      if (accept(")")) return true;
      do {
        const std::string letter = word();
        if (letter.empty()) return fail("expected the name of a size" + found());
        term.dims.push_back(letter);
      } while (accept(","));
      return accept(")") || fail("expected ',' or ')'" + found());
    }
    term.name = word();
    if (term.name.empty()) {
      return fail("expected '(n, m)', the name of an argument, 'reduce(argument)' or '_'" +
                  found());
    }
    if (term.name == "_") {
      term.name.clear();
      return true;
    }
    term.kind = ShapeTerm::Kind::like;
    if (term.name == "reduce" && accept("(")) {
      term.kind = ShapeTerm::Kind::reduced;
      term.name = word();
      if (!known(term.name)) return false;
      return accept(")") || fail("expected ')'" + found());
    }
    return known(term.name);
  }

  bool known(const std::string& name) {
    if (schema_.find_argument(name)) return true;
    std::vector<std::string> names;
    for (const auto& argument : schema_.arguments) names.push_back(argument.name);
    diagnostics_.error(last_word(), "no argument is called '" + name + "'")
        .suggest(c10::closest_name(name, names));
    return false;
  }

  bool counts(const ShapeRule& rule) {
    const std::size_t tensors = shaped_arguments(schema_).size();
    if (!rule.inputs.empty() && rule.inputs.size() != tensors) {
      return wrong_count("tensor argument", tensors, "before '->'", rule.inputs.size());
    }
    if (rule.outputs.size() != schema_.returns.size()) {
      return wrong_count("result", schema_.returns.size(), "for the results", rule.outputs.size());
    }
    return true;
  }

  bool wrong_count(const std::string& what, std::size_t wanted, const std::string& where,
                   std::size_t given) {
    diagnostics_.error(whole(), "the operator has " + std::to_string(wanted) + " " + what +
                                    (wanted == 1 ? "" : "s") + ", and the shapes " + where +
                                    " are " + std::to_string(given) + "; '_' says nothing");
    return false;
  }

  // NumPy's rule, too: a result has no size that no argument has.
  bool sizes_are_known(const ShapeRule& rule) {
    std::set<std::string> sizes;
    for (const auto& input : rule.inputs) sizes.insert(input.dims.begin(), input.dims.end());
    for (const auto& output : rule.outputs) {
      for (const auto& size : output.dims) {
        if (sizes.contains(size)) continue;
        diagnostics_.error(whole(), "no argument has the size '" + size + "' of the result");
        return false;
      }
    }
    return true;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool accept(std::string_view token) {
    skip_spaces();
    if (!std::string_view(text_).substr(at_).starts_with(token)) return false;
    at_ += token.size();
    skip_spaces();
    return true;
  }

  std::string word() {
    skip_spaces();
    word_ = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    word_length_ = at_ - word_;
    const std::string result = text_.substr(word_, word_length_);
    skip_spaces();
    return result;
  }

  std::string found() const {
    if (at_ == text_.size()) return ", found the end of the text";
    return std::string(", found '") + text_[at_] + "'";
  }

  bool fail(const std::string& message) {
    diagnostics_.error(node_.locate(at_, 1), message);
    return false;
  }

  Location last_word() const { return node_.locate(word_, word_length_); }
  Location whole() const { return node_.locate(0, text_.size()); }

  const YamlNode& node_;
  const std::string& text_;
  const c10::FunctionSchema& schema_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0, word_ = 0, word_length_ = 0;
};

}  // namespace

std::vector<const c10::SchemaArgument*> shaped_arguments(const c10::FunctionSchema& schema) {
  std::vector<const c10::SchemaArgument*> tensors;
  for (const auto& argument : schema.arguments) {
    if (argument.type.is_tensor_like() && !argument.type.list && !argument.is_out) {
      tensors.push_back(&argument);
    }
  }
  return tensors;
}

std::optional<ShapeRule> parse_shape(const YamlNode& node, const c10::FunctionSchema& schema,
                                     Diagnostics& diagnostics) {
  if (!node.is_scalar()) {
    diagnostics.error(node.where,
                      "expected the result's shape, '(n, m), (m, p) -> (n, p)' or the "
                      "name of an argument, found " +
                          describe(node));
    return std::nullopt;
  }
  return Parser(node, schema, diagnostics).rule();
}

}  // namespace oploom::frontend
