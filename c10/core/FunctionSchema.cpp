// Printing and simple questions about operator schemas.
#include <c10/core/FunctionSchema.h>

#include <algorithm>

namespace c10::inline oploom_v1 {

const std::vector<std::string_view>& schema_base_type_names() {
  static const std::vector<std::string_view> names = {
      "Tensor",      "Scalar",       "int",
      "SymInt",      "float",        "bool",
      "SymBool",     "complex",      "str",
      "ScalarType",  "Layout",       "Device",
      "DeviceIndex", "MemoryFormat", "Generator",
      "Dimname",     "DimVector",    "Storage",
      "Stream",      "QScheme",      "ConstQuantizerPtr"};
  return names;
}

std::string_view to_string(SchemaBaseType type) {
  return schema_base_type_names()[static_cast<std::size_t>(type)];
}

std::string_view to_string(SchemaKind kind) {
  switch (kind) {
    case SchemaKind::functional:
      return "functional";
    case SchemaKind::inplace:
      return "inplace";
    case SchemaKind::out:
      return "out";
    case SchemaKind::mutable_:
      return "mutable";
  }
  return "";
}

namespace {

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const auto& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace

std::string to_string(const AliasInfo& alias) {
  std::string text = join(alias.before, "|");
  if (alias.is_write) text += "!";
  if (!alias.after.empty()) text += " -> " + join(alias.after, "|");
  return text;
}

std::string to_string(const SchemaType& type, const AliasInfo* alias) {
  std::string text(to_string(type.base));
  if (alias) text += "(" + to_string(*alias) + ")";
  if (type.list) {
    if (type.elem_optional) text += "?";
    text += "[";
    if (type.list_size) text += std::to_string(*type.list_size);
    text += "]";
  }
  if (type.optional) text += "?";
  return text;
}

std::string to_string(const SchemaArgument& argument) {
  std::string text =
      to_string(argument.type, argument.alias ? &*argument.alias : nullptr) + " " + argument.name;
  if (argument.default_value) text += "=" + *argument.default_value;
  return text;
}

std::string to_string(const SchemaReturn& value) {
  std::string text = to_string(value.type, value.alias ? &*value.alias : nullptr);
  if (value.name) text += " " + *value.name;
  return text;
}

std::string to_string(const FunctionSchema& schema) {
  std::string text = schema.ns.empty() ? "" : schema.ns + "::";
  text += schema.full_name() + "(";
  bool first = true, keywords = false;
  for (const auto& argument : schema.arguments) {
    if (!first) text += ", ";
    first = false;
    if (argument.kwarg_only && !keywords) {
      text += "*, ";
      keywords = true;
    }
    text += to_string(argument);
  }
  text += ") -> ";
  if (schema.returns_in_parentheses) text += "(";
  first = true;
  for (const auto& value : schema.returns) {
    if (!first) text += ", ";
    first = false;
    text += to_string(value);
  }
  if (schema.returns_in_parentheses) text += ")";
  return text;
}

std::string FunctionSchema::full_name() const {
  return overload_name.empty() ? name : name + "." + overload_name;
}

std::string FunctionSchema::identifier() const {
  return overload_name.empty() ? name : name + "_" + overload_name;
}

bool FunctionSchema::is_dunder() const {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

bool FunctionSchema::is_inplace_name() const {
  return name.size() > 1 && name.ends_with("_") && !is_dunder();
}

std::string FunctionSchema::root() const {
  return is_inplace_name() ? name.substr(0, name.size() - 1) : name;
}

const SchemaArgument* FunctionSchema::find_argument(std::string_view wanted) const {
  for (const auto& argument : arguments) {
    if (argument.name == wanted) return &argument;
  }
  return nullptr;
}

std::size_t FunctionSchema::num_out_arguments() const {
  return static_cast<std::size_t>(std::count_if(arguments.begin(), arguments.end(),
                                                [](const SchemaArgument& a) { return a.is_out; }));
}

bool FunctionSchema::has_tensor_options() const {
  static const std::string_view names[] = {"dtype", "layout", "device", "pin_memory"};
  for (std::size_t i = 0; i + 4 <= arguments.size(); ++i) {
    bool all = true;
    for (std::size_t j = 0; j < 4; ++j) all = all && arguments[i + j].name == names[j];
    if (all) return true;
  }
  return false;
}

SchemaKind FunctionSchema::kind() const {
  if (num_out_arguments() > 0) return SchemaKind::out;
  if (is_inplace_name() && !arguments.empty() && arguments[0].alias &&
      arguments[0].alias->is_write) {
    return SchemaKind::inplace;
  }
  for (const auto& argument : arguments) {
    if (argument.alias && argument.alias->is_write) return SchemaKind::mutable_;
  }
  return SchemaKind::functional;
}

bool FunctionSchema::is_view() const {
  if (kind() != SchemaKind::functional) return false;
  return std::any_of(returns.begin(), returns.end(), [](const SchemaReturn& value) {
    return value.alias && !value.alias->is_write;
  });
}

}  // namespace c10::inline oploom_v1
