// Builds the positioned YAML tree from yaml-cpp's events.
#include <codegen/frontend/Json.h>
#include <codegen/frontend/Yaml.h>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>

namespace oploom::frontend {

namespace {

Location to_location(const SourceFile& file, const YAML::Mark& mark) {
  if (mark.is_null()) return {&file, 0, 1};
  const auto line = std::min(static_cast<std::size_t>(mark.line), file.line_starts.size() - 1);
  const std::size_t offset = file.line_starts[line] + static_cast<std::size_t>(mark.column);
  return {&file, std::min(offset, file.text.size()), 1};
}

struct Unsupported {
  Location where;
  std::string message;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const SourceFile& file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse(anchor, mark);
    YamlNode node;
    node.where = to_location(file_, mark);
    add(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { refuse(anchor, mark); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (tag.size() > 1) {  // of one character: what YAML itself gives
      throw Unsupported{to_location(file_, mark),
                        "a '!' at the beginning makes a tag of YAML: write the value in quotes"};
    }
    refuse(anchor, mark);
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.value = value;
    node.where = to_location(file_, mark);
    const char first = node.where.offset < file_.text.size() ? file_.text[node.where.offset] : ' ';
    node.plain = first != '\'' && first != '"' && first != '|' && first != '>';
    const auto line_end = file_.text.find('\n', node.where.offset);
    const std::size_t rest =
        (line_end == std::string::npos ? file_.text.size() : line_end) - node.where.offset;
    node.where.length = std::clamp<std::size_t>(value.size(), 1, std::max<std::size_t>(rest, 1));
    add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse(anchor, mark);
    open(YamlNode::Kind::sequence, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse(anchor, mark);
    open(YamlNode::Kind::map, mark);
  }
  void OnMapEnd() override { close(); }

  std::optional<YamlNode> take() { return std::move(root_); }

 private:
  struct Frame {
    YamlNode node;
    std::optional<YamlNode> key;
  };

  // They would make one place of the file mean several, and no entry needs them.
  void refuse(YAML::anchor_t anchor, const YAML::Mark& mark) const {
    if (anchor == YAML::NullAnchor) return;
    throw Unsupported{to_location(file_, mark),
                      "YAML anchors and aliases are not part of the operator language"};
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark) {
    Frame frame;
    frame.node.kind = kind;
    frame.node.where = to_location(file_, mark);
    stack_.push_back(std::move(frame));
  }

  void close() {
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& top = stack_.back();
    if (top.node.kind == YamlNode::Kind::sequence) {
      top.node.items.push_back(std::move(node));
    } else if (!top.key) {
      top.key = std::move(node);
    } else {
      if (node.is_null()) node.where = top.key->where;  // where it is missing
      top.node.entries.push_back({std::move(*top.key), std::move(node)});
      top.key.reset();
    }
  }

  const SourceFile& file_;
  std::vector<Frame> stack_;
  std::optional<YamlNode> root_;
};

void report_duplicate_keys(const YamlNode& node, Diagnostics& diagnostics) {
  std::map<std::string_view, Location> seen;
  for (const auto& [key, value] : node.entries) {
    if (!key.is_scalar()) {
      diagnostics.error(key.where, "expected a name as key, found " + describe(key));
    } else if (const auto [first, inserted] = seen.emplace(key.value, key.where); !inserted) {
      diagnostics.error(key.where, "duplicate key '" + key.value + "'")
          .note(first->second, "the first one is here");
    }
    report_duplicate_keys(value, diagnostics);
  }
  for (const auto& item : node.items) report_duplicate_keys(item, diagnostics);
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Of the hexadecimal digits behind `\x`, `\u` and `\U` in quotes.
std::size_t digits_of_escape(char letter) {
  return letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
}

// In UTF-8, by the first of them; yaml-cpp makes one byte of `\N` and `\_`, which is none.
std::size_t bytes_of_character(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

Location YamlNode::locate(std::size_t offset, std::size_t length) const {
  if (!where.file) return where;
  const std::string& text = where.file->text;
  std::size_t at = where.offset;
  const char quote = at < text.size() ? text[at] : ' ';
  const bool block = quote == '|' || quote == '>';
  const bool escapes = !plain && quote == '"';
  if (!plain && block) at = text.find('\n', at);
  if (!plain && !block) ++at;
  if (at == std::string::npos) return where;
  std::size_t end_of_escape = 0;  // behind the value's bytes that the last one stands for
  // Follows the value through the text; a space or line break of the value stands for any run of
  // white space in the text.
  auto advance = [&](std::size_t i) {
    if (escapes) {
      if (i < end_of_escape) return;
      if (text[at] == '\\') {
        end_of_escape = i + bytes_of_character(value[i]);
        const std::size_t digits = at + 1 < text.size() ? digits_of_escape(text[at + 1]) : 0;
        at = std::min(at + 2 + digits, text.size());
        return;
      }
    }
    if (block || is_space(value[i])) {
      const bool wants_space = is_space(value[i]);
      if (!wants_space || !is_space(text[at])) {
        while (block && at < text.size() && is_space(text[at]) && !wants_space) ++at;
        if (at < text.size()) ++at;
        return;
      }
      if (text[at] == ' ' && value[i] == ' ' && at + 1 < text.size() && !is_space(text[at + 1])) {
        ++at;
        return;
      }
      if (i + 1 < value.size() && is_space(value[i + 1]) && text[at] == value[i]) {
        ++at;
        return;
      }
      while (at < text.size() && is_space(text[at])) ++at;
      return;
    }
    if (!plain && quote == '\'' && text[at] == '\'') ++at;
    ++at;
  };
  // A line break behind a backslash is no part of the value.
  auto skip_joints = [&] {
    while (escapes && at + 1 < text.size() && text[at] == '\\' &&
           (text[at + 1] == '\n' || text[at + 1] == '\r')) {
      ++at;
      while (at < text.size() && is_space(text[at])) ++at;
    }
  };
  auto follow = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && i < value.size() && at < text.size(); ++i) {
      skip_joints();
      if (at < text.size()) advance(i);
    }
  };
  follow(0, offset);
  skip_joints();
  while (offset < value.size() && !is_space(value[offset]) && at < text.size() &&
         is_space(text[at])) {
    ++at;
  }
  const std::size_t first = std::min(at, text.size());
  const auto line_end = std::min(text.find('\n', first), text.size());
  follow(offset, offset + length);
  const std::size_t written = std::min(std::max(at - first, length), line_end - first);
  return {where.file, first, std::max<std::size_t>(written, 1)};
}

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const auto& [name, node] : entries) {
    if (name.value == key) return &node;
  }
  return nullptr;
}

const YamlNode* YamlNode::find_key(std::string_view key) const {
  for (const auto& [name, node] : entries) {
    if (name.value == key) return &name;
  }
  return nullptr;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::scalar:
      return "'" + node.value + "'";
    case YamlNode::Kind::sequence:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
  }
  return "";
}

namespace {

// What to write for `key: a ? b : c`, where YAML reads one more key: the usual mistake in a line
// that it does not understand. Empty for other lines.
std::string advice(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" -");
  const std::size_t colon = line.find(": ");
  if (first == std::string_view::npos || colon == std::string_view::npos || colon < first)
    return "";
  const std::size_t begin = line.find_first_not_of(' ', colon + 1);
  if (begin == std::string_view::npos) return "";
  const std::string value(line.substr(begin));
  if ((value[0] == '|' || value[0] == '>') && value.size() > 2) {
    return std::string(": a value that begins with '") + value[0] + "' stands in quotes";
  }
  if (value[0] == '"' || value[0] == '\'' || value[0] == '{' || value[0] == '[') return "";
  if (value.find(": ") == std::string::npos) return "";
  const char quote = value.find('"') == std::string::npos ? '"' : '\'';
  if (value.find(quote) != std::string::npos) return "";
  return ": a value with ': ' in it stands in quotes, " +
         std::string(line.substr(first, begin - first)) + quote + value + quote;
}

// Of a line that YAML does not understand after one like `func f(...)`: where that lacks its colon.
std::optional<Location> missing_colon(const SourceFile& file, std::size_t line) {
  const auto begin_of = [](std::string_view text) { return text.find_first_not_of(" -"); };
  if (line == 0) return std::nullopt;
  const std::string_view text = file.line_text(line), before = file.line_text(line - 1);
  const std::size_t begin = begin_of(before);
  if (begin == before.npos || begin != begin_of(text)) return std::nullopt;
  const std::size_t end = before.find_first_of(" :", begin);
  if (end == before.npos || before[end] == ':' || before[begin] == '#') return std::nullopt;
  return Location{&file, file.line_starts[line - 1] + begin, end - begin};
}

}  // namespace

std::optional<YamlNode> parse_yaml(const SourceFile& file, Diagnostics& diagnostics) {
  std::istringstream stream(file.text);
  TreeBuilder builder(file);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      YamlNode empty;
      empty.where = {&file, 0, 1};
      return empty;
    }
    auto root = builder.take();
    TreeBuilder rest(file);
    if (parser.HandleNextDocument(rest)) {
      diagnostics.error({&file, 0, 1}, "a file holds one YAML document, and this one holds more");
    }
    if (root) report_duplicate_keys(*root, diagnostics);
    return root;
  } catch (const YAML::Exception& error) {
    const Location where = to_location(file, error.mark);
    if (const auto key = missing_colon(file, where.line() - 1)) {
      diagnostics.error(*key, "YAML: a ':' is missing after '" +
                                  file.text.substr(key->offset, key->length) + "'");
      return std::nullopt;
    }
    diagnostics.error(where, "YAML: " + error.msg + advice(file.line_text(where.line() - 1)));
  } catch (const Unsupported& error) {
    diagnostics.error(error.where, error.message);
  }
  return std::nullopt;
}

std::optional<bool> as_bool(const YamlNode& node) {
  if (!node.is_scalar() || !node.plain) return std::nullopt;
  if (node.value == "True" || node.value == "true" || node.value == "TRUE") return true;
  if (node.value == "False" || node.value == "false" || node.value == "FALSE") return false;
  return std::nullopt;
}

namespace {

// A JSON number in the text's own spelling, or "" when the text is none.
std::string as_json_number(const std::string& text) {
  if (text.empty()) return "";
  const char* first = text.data() + (text[0] == '+' ? 1 : 0);
  const char* last = text.data() + text.size();
  std::int64_t integer = 0;
  if (auto [end, ec] = std::from_chars(first, last, integer); ec == std::errc() && end == last) {
    return std::to_string(integer);
  }
  if (!std::isdigit(static_cast<unsigned char>(text[0])) && text[0] != '-' && text[0] != '+' &&
      text[0] != '.') {
    return "";
  }
  double number = 0;
  auto [end, ec] = std::from_chars(first, last, number);
  if (ec != std::errc() || end != last || !std::isfinite(number)) return "";
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), number);
  std::string written(buffer, result.ptr);
  if (written.find_first_of(".e") == std::string::npos) written += ".0";
  return written;
}

}  // namespace

std::optional<double> as_number(const YamlNode& node) {
  if (!node.is_scalar() || !node.plain) return std::nullopt;
  const std::string number = as_json_number(node.value);
  if (number.empty()) return std::nullopt;
  return std::strtod(number.c_str(), nullptr);
}

void write_yaml_as_json(JsonWriter& json, const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      json.null();
      return;
    case YamlNode::Kind::scalar: {
      const auto flag = as_bool(node);
      const std::string number = node.plain ? as_json_number(node.value) : "";
      if (flag) {
        json.value(*flag);
      } else if (!number.empty()) {
        json.raw(number);
      } else {
        json.value(node.value);
      }
      return;
    }
    case YamlNode::Kind::sequence:
      json.begin_array();
      for (const auto& item : node.items) write_yaml_as_json(json, item);
      json.end_array();
      return;
    case YamlNode::Kind::map:
      json.begin_object();
      for (const auto& [key, value] : node.entries) {
        json.key(key.value);
        write_yaml_as_json(json, value);
      }
      json.end_object();
      return;
  }
}

}  // namespace oploom::frontend
