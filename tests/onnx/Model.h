// A reader of ONNX models and tensors: as much of the protobuf format as they use.
#pragma once

#include <aten/Base.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace onnx_test {

// What is right in ONNX and outside of what can be run here: an unsigned 16-bit dtype, a string.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Attribute {
  int64_t i = 0;
  double f = 0;
  std::string s;
  at::Tensor t;
  std::vector<int64_t> ints;
  std::vector<double> floats;
};

struct Node {
  std::string op_type;
  std::vector<std::string> inputs;  // an absent optional input is ""
  std::vector<std::string> outputs;
  std::map<std::string, Attribute> attributes;

  bool has(const std::string& name) const { return attributes.count(name) != 0; }
  int64_t i(const std::string& name, int64_t otherwise) const;
  double f(const std::string& name, double otherwise) const;
  std::string s(const std::string& name, const std::string& otherwise) const;
  std::optional<std::vector<int64_t>> ints(const std::string& name) const;
};

struct Model {
  int64_t opset = 0;
  std::vector<Node> nodes;
  std::map<std::string, at::Tensor> initializers;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

// Both throw Unsupported for a dtype that oploom lacks, and c10::Error for a malformed file.
Model read_model(const std::string& path);
at::Tensor read_tensor(const std::string& path);

// ONNX's number for a dtype.
at::ScalarType scalar_type_of(int64_t onnx_type);

}  // namespace onnx_test
