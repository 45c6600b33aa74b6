// YAML as a tree that knows the place of every node.
#pragma once

#include <codegen/frontend/Diagnostics.h>
#include <codegen/frontend/Source.h>

#include <optional>
#include <string>
#include <vector>

namespace oploom::frontend {

class JsonWriter;

struct YamlNode {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  std::string value;  // of a scalar
  bool plain = true;  // a scalar written without quotes
  Location where;
  std::vector<YamlNode> items;  // of a sequence
  struct Entry;
  std::vector<Entry> entries;  // of a map, in the order written

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_map() const { return kind == Kind::map; }

  // The place in the file of a part of a scalar's value, quotes and line breaks accounted for.
  Location locate(std::size_t offset, std::size_t length) const;
  const YamlNode* find(std::string_view key) const;
  const YamlNode* find_key(std::string_view key) const;
};

struct YamlNode::Entry {
  YamlNode key, value;
};

// "a map", "a list" ... for messages.
std::string describe(const YamlNode& node);

// Parses a file; null after a syntax error, which is reported. Duplicate keys are reported too.
std::optional<YamlNode> parse_yaml(const SourceFile& file, Diagnostics& diagnostics);

// A plain `True` or `false`.
std::optional<bool> as_bool(const YamlNode& node);
// A plain number, as JSON takes it.
std::optional<double> as_number(const YamlNode& node);

// Writes the node as JSON; plain scalars become null, booleans and numbers where they look so.
void write_yaml_as_json(JsonWriter& json, const YamlNode& node);

}  // namespace oploom::frontend
