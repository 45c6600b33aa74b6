// The typed model of an operator's schema, `add.Tensor(Tensor self, ...) -> Tensor`.
//
// One model serves the code generator, the run-time registry and packages outside the tree. It is
// made by the parser in SchemaParser.h and prints back exactly as it was read.
#pragma once

#include <c10/util/Export.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace c10::inline oploom_v1 {

enum class SchemaBaseType : std::uint8_t {
  Tensor,
  Scalar,
  Int,
  SymInt,
  Float,
  Bool,
  SymBool,
  Complex,
  Str,
  ScalarType,
  Layout,
  Device,
  DeviceIndex,
  MemoryFormat,
  Generator,
  Dimname,
  DimVector,
  Storage,
  Stream,
  QScheme,
  ConstQuantizerPtr,
};

// The spelling of a base type in a schema, `int` for SchemaBaseType::Int.
OPLOOM_API std::string_view to_string(SchemaBaseType type);
// All spellings, in the order of the enumeration.
OPLOOM_API const std::vector<std::string_view>& schema_base_type_names();

// A type is a base type, perhaps optional, perhaps in a list that may itself be optional:
//   Tensor?    optional          int[]?    list, optional
//   Tensor?[]  list, elem_optional         int[2]  list with list_size 2
struct SchemaType {
  SchemaBaseType base = SchemaBaseType::Tensor;
  bool optional = false;       // the whole value may be None: `Tensor?`, `int[]?`
  bool list = false;           // `T[]` or `T[N]`
  bool elem_optional = false;  // an element may be None: `Tensor?[]`
  std::optional<std::int64_t> list_size;

  bool is_tensor_like() const { return base == SchemaBaseType::Tensor; }
  bool is_plain_tensor() const { return is_tensor_like() && !list && !optional; }
  bool operator==(const SchemaType&) const = default;
};

// `(a)`, `(a!)`, `(a -> *)`, `(a! -> a|b)`: the sets that a tensor belongs to before and after.
struct AliasInfo {
  std::vector<std::string> before;
  std::vector<std::string> after;  // empty when no arrow was written: the sets stay the same
  bool is_write = false;

  bool operator==(const AliasInfo&) const = default;
};

// Where a piece lies in the text that was parsed, in bytes.
struct SchemaSpan {
  std::size_t offset = 0;
  std::size_t length = 0;
  bool operator==(const SchemaSpan&) const { return true; }  // positions are no part of the value
};

struct SchemaArgument {
  std::string name;
  SchemaType type;
  std::optional<AliasInfo> alias;
  std::optional<std::string> default_value;  // as written: `1`, `None`, `[0, 1]`, `'mean'`
  bool kwarg_only = false;
  bool is_out = false;  // one of the `out=` arguments: keyword-only and written to

  SchemaSpan type_span, name_span, default_span;
  bool operator==(const SchemaArgument&) const = default;
};

struct SchemaReturn {
  std::optional<std::string> name;
  SchemaType type;
  std::optional<AliasInfo> alias;

  SchemaSpan span;
  bool operator==(const SchemaReturn&) const = default;
};

// How an operator treats its arguments, told by its name and its alias annotations alone.
enum class SchemaKind : std::uint8_t {
  functional,  // writes to nothing
  inplace,     // `add_`: writes to self and returns it
  out,         // writes to keyword arguments at the end and returns them
  mutable_,    // writes to other arguments
};
OPLOOM_API std::string_view to_string(SchemaKind kind);

struct OPLOOM_API FunctionSchema {
  std::string ns;  // "" where no `ns::` was written
  std::string name;
  std::string overload_name;
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaReturn> returns;
  bool returns_in_parentheses = false;  // `-> (Tensor values)` keeps its parentheses
  SchemaSpan name_span, returns_span;

  SchemaKind kind() const;
  std::string full_name() const;   // `add.Tensor`
  std::string identifier() const;  // `add_Tensor`, usable as a C++ name
  std::string root() const;        // name without the `_` of the in-place form
  bool is_dunder() const;          // `__and__`
  bool is_inplace_name() const;    // ends in one `_` and is no dunder name
  const SchemaArgument* find_argument(std::string_view name) const;
  std::size_t num_out_arguments() const;
  // True when `dtype, layout, device, pin_memory` are among the arguments, one after the other.
  bool has_tensor_options() const;
  // A view: returns memory of an argument that it does not write to.
  bool is_view() const;

  bool operator==(const FunctionSchema&) const = default;
};

OPLOOM_API std::string to_string(const SchemaType& type, const AliasInfo* alias = nullptr);
OPLOOM_API std::string to_string(const AliasInfo& alias);  // without the parentheses
OPLOOM_API std::string to_string(const SchemaArgument& argument);
OPLOOM_API std::string to_string(const SchemaReturn& value);
OPLOOM_API std::string to_string(const FunctionSchema& schema);

}  // namespace c10::inline oploom_v1
