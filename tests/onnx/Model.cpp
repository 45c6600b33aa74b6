// Reads protobuf messages by field number; the numbers are those of onnx.proto3 (ONNX 1.12).
#include "Model.h"

#include <generated/ops/empty.h>
#include <generated/ops/to.h>
#include <generated/ops/view.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>

namespace onnx_test {

namespace {

using at::ScalarType;
using at::Tensor;

// One field of a message: its number and its value, as an integer or as bytes.
struct Field {
  uint32_t number = 0;
  uint32_t wire_type = 0;  // 0 varint, 1 eight bytes, 2 a length and bytes, 5 four bytes
  uint64_t integer = 0;    // of wire types 0, 1 and 5
  std::string_view bytes;  // of wire type 2

  double as_float() const {
    if (wire_type == 5) {
      float value;
      auto bits = static_cast<uint32_t>(integer);
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    double value;
    std::memcpy(&value, &integer, sizeof value);
    return value;
  }
};

class Reader {
 public:
  explicit Reader(std::string_view data) : data_(data) {}

  bool done() const { return data_.empty(); }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      auto byte = static_cast<uint8_t>(take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    OPLOOM_CHECK_VALUE(false, "onnx: a number of more than 64 bits");
    return 0;
  }

  template <class T>
  T fixed() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  Field field() {
    Field field;
    uint64_t tag = varint();
    field.number = static_cast<uint32_t>(tag >> 3);
    field.wire_type = tag & 7;
    switch (field.wire_type) {
      case 0:
        field.integer = varint();
        break;
      case 1:
        field.integer = fixed<uint64_t>();
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.integer = fixed<uint32_t>();
        break;
      default:
        OPLOOM_CHECK_VALUE(false, "onnx: wire type ", field.wire_type, " is not known");
    }
    return field;
  }

 private:
  std::string_view take(size_t n) {
    OPLOOM_CHECK_VALUE(n <= data_.size(), "onnx: the file is truncated");
    std::string_view taken = data_.substr(0, n);
    data_.remove_prefix(n);
    return taken;
  }

  std::string_view data_;
};

void for_each_field(std::string_view message, const std::function<void(const Field&)>& visit) {
  for (Reader reader(message); !reader.done();) visit(reader.field());
}

// A repeated number is either packed into one field or is one field for each number.
void append_integers(const Field& field, std::vector<int64_t>& values) {
  if (field.wire_type != 2) return values.push_back(static_cast<int64_t>(field.integer));
  for (Reader reader(field.bytes); !reader.done();) {
    values.push_back(static_cast<int64_t>(reader.varint()));
  }
}

template <class T>
void append_floats(const Field& field, std::vector<double>& values) {
  if (field.wire_type != 2) return values.push_back(field.as_float());
  for (Reader reader(field.bytes); !reader.done();) values.push_back(reader.fixed<T>());
}

Tensor parse_tensor(std::string_view message) {
  std::vector<int64_t> dims, integers;
  std::vector<double> floats;
  std::optional<std::string_view> raw;
  int64_t type = 0;
  for_each_field(message, [&](const Field& field) {
    switch (field.number) {
      case 1:
        append_integers(field, dims);
        break;
      case 2:
        type = static_cast<int64_t>(field.integer);
        break;
      case 4:
        append_floats<float>(field, floats);
        break;
      case 5:
      case 7:
        append_integers(field, integers);
        break;
      case 9:
        raw = field.bytes;
        break;
      case 10:
        append_floats<double>(field, floats);
        break;
    }
  });
  const ScalarType dtype = scalar_type_of(type);
  if (raw) {
    Tensor tensor = at::empty(dims, dtype);
    OPLOOM_CHECK_VALUE(raw->size() == tensor.nbytes(), "onnx: expected ", tensor.nbytes(),
                       " bytes of data, got ", raw->size());
    if (!raw->empty()) std::memcpy(tensor.data_ptr(), raw->data(), raw->size());
    return tensor;
  }
  if (dtype == at::kHalf || dtype == at::kBFloat16) {  // held as their bits
    Tensor tensor = at::empty(dims, dtype);
    for (size_t k = 0; k < integers.size(); ++k) {
      static_cast<uint16_t*>(tensor.data_ptr())[k] = static_cast<uint16_t>(integers[k]);
    }
    return tensor;
  }
  Tensor values = floats.empty() ? at::tensor(integers) : at::tensor(floats);
  return values.to(dtype).view(dims);
}

Attribute parse_attribute(std::string_view message, std::string& name) {
  Attribute attribute;
  for_each_field(message, [&](const Field& field) {
    switch (field.number) {
      case 1:
        name = field.bytes;
        break;
      case 2:
        attribute.f = field.as_float();
        break;
      case 3:
        attribute.i = static_cast<int64_t>(field.integer);
        break;
      case 4:
        attribute.s = field.bytes;
        break;
      case 5:
        attribute.t = parse_tensor(field.bytes);
        break;
      case 6:
        throw Unsupported("a graph as an attribute");
      case 7:
        append_floats<float>(field, attribute.floats);
        break;
      case 8:
        append_integers(field, attribute.ints);
        break;
    }
  });
  return attribute;
}

Node parse_node(std::string_view message) {
  Node node;
  for_each_field(message, [&](const Field& field) {
    switch (field.number) {
      case 1:
        node.inputs.emplace_back(field.bytes);
        break;
      case 2:
        node.outputs.emplace_back(field.bytes);
        break;
      case 4:
        node.op_type = field.bytes;
        break;
      case 5: {
        std::string name;
        Attribute attribute = parse_attribute(field.bytes, name);
        node.attributes[name] = std::move(attribute);
        break;
      }
    }
  });
  return node;
}

std::string name_of(std::string_view message, uint32_t number) {
  std::string name;
  for_each_field(message, [&](const Field& field) {
    if (field.number == number) name = field.bytes;
  });
  return name;
}

// The name of a graph's input or output, which must be a tensor.
std::string parse_value_info(std::string_view message) {
  for_each_field(message, [](const Field& field) {
    if (field.number != 2) return;  // its type, a message with one field for each kind of value
    for_each_field(field.bytes, [](const Field& kind) {
      if (kind.number != 1) throw Unsupported("a value that is no tensor");
    });
  });
  return name_of(message, 1);
}

void parse_graph(std::string_view message, Model& model) {
  for_each_field(message, [&](const Field& field) {
    switch (field.number) {
      case 1:
        model.nodes.push_back(parse_node(field.bytes));
        break;
      case 5:
        model.initializers[name_of(field.bytes, 8)] = parse_tensor(field.bytes);
        break;
      case 11:
        model.inputs.push_back(parse_value_info(field.bytes));
        break;
      case 12:
        model.outputs.push_back(parse_value_info(field.bytes));
        break;
    }
  });
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  OPLOOM_CHECK_VALUE(file.good(), "onnx: cannot read ", path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

}  // namespace

ScalarType scalar_type_of(int64_t onnx_type) {
  switch (onnx_type) {
    case 1:
      return at::kFloat;
    case 2:
      return at::kByte;
    case 3:
      return at::kChar;
    case 5:
      return at::kShort;
    case 6:
      return at::kInt;
    case 7:
      return at::kLong;
    case 9:
      return at::kBool;
    case 10:
      return at::kHalf;
    case 11:
      return at::kDouble;
    case 14:
      return at::kComplexFloat;
    case 15:
      return at::kComplexDouble;
    case 16:
      return at::kBFloat16;
  }
  throw Unsupported(c10::str("dtype number ", onnx_type));
}

int64_t Node::i(const std::string& name, int64_t otherwise) const {
  return has(name) ? attributes.at(name).i : otherwise;
}
double Node::f(const std::string& name, double otherwise) const {
  return has(name) ? attributes.at(name).f : otherwise;
}
std::string Node::s(const std::string& name, const std::string& otherwise) const {
  return has(name) ? attributes.at(name).s : otherwise;
}
std::optional<std::vector<int64_t>> Node::ints(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  return attributes.at(name).ints;
}

Model read_model(const std::string& path) {
  Model model;
  const std::string content = read_file(path);
  for_each_field(content, [&](const Field& field) {
    if (field.number == 7) parse_graph(field.bytes, model);
    if (field.number == 8 && name_of(field.bytes, 1).empty()) {
      for_each_field(field.bytes, [&](const Field& version) {
        if (version.number == 2) model.opset = static_cast<int64_t>(version.integer);
      });
    }
  });
  return model;
}

Tensor read_tensor(const std::string& path) { return parse_tensor(read_file(path)); }

}  // namespace onnx_test
