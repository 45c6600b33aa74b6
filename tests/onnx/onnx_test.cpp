// Runs the one-node models of ONNX (Debian's libonnx-testdata), each with its inputs and expected
// outputs, as far as oploom has the operators.
#include <generated/ops/abs.h>
#include <generated/ops/all.h>
#include <generated/ops/isnan.h>
#include <generated/ops/logical_and.h>
#include <generated/ops/logical_or.h>
#include <generated/ops/to.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "Operators.h"

namespace onnx_test {
namespace {

namespace fs = std::filesystem;
using at::Tensor;

const fs::path kFolder = "/usr/share/libonnx-testdata/data/node";

// The number of models that must pass; raised when an operator is added. Keeps an empty folder, or
// a table that lost its entries, from passing.
constexpr size_t kLeastModels = 619;

// The models all of whose operators are known, and whose dtypes oploom has.
std::vector<std::string> runnable_models() {
  std::vector<std::string> names;
  if (!fs::exists(kFolder)) return names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    try {
      Model model = read_model(entry.path() / "model.onnx");
      bool known = std::all_of(model.nodes.begin(), model.nodes.end(),
                               [](const Node& node) { return is_known(node.op_type); });
      if (known) names.push_back(entry.path().filename());
    } catch (const Unsupported&) {
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Tensor> read_set(const fs::path& folder, const std::string& kind) {
  std::vector<Tensor> tensors;
  for (int k = 0;; ++k) {
    fs::path file = folder / (kind + "_" + std::to_string(k) + ".pb");
    if (!fs::exists(file)) return tensors;
    tensors.push_back(read_tensor(file));
  }
}

void expect_close(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.sizes().vec(), expected.sizes().vec());
  ASSERT_EQ(actual.scalar_type(), expected.scalar_type());
  // ONNX's own tests use these bounds: 1e-3 relative, 1e-7 absolute.
  const at::ScalarType wide = actual.is_complex() ? at::kComplexDouble : at::kDouble;
  Tensor a = actual.to(wide), e = expected.to(wide);
  Tensor bound = e.abs().mul(1e-3).add(1e-7);
  Tensor close =
      a.eq(e).logical_or(a.sub(e).abs().le(bound)).logical_or(a.isnan().logical_and(e.isnan()));
  EXPECT_TRUE(close.all().item<bool>()) << "got\n" << actual << "\nexpected\n" << expected;
}

void run_model(const std::string& name) {
  const fs::path folder = kFolder / name;
  Model model = read_model(folder / "model.onnx");
  for (int set = 0; fs::exists(folder / ("test_data_set_" + std::to_string(set))); ++set) {
    const fs::path data = folder / ("test_data_set_" + std::to_string(set));
    std::map<std::string, Tensor> values = model.initializers;
    std::vector<Tensor> inputs = read_set(data, "input"), outputs = read_set(data, "output");
    for (size_t k = 0; k < inputs.size(); ++k) values[model.inputs.at(k)] = inputs[k];
    for (const Node& node : model.nodes) {
      Tensors arguments;
      for (const std::string& input : node.inputs) arguments.push_back(values[input]);
      Tensors results = compute(node, arguments, model.opset);
      for (size_t k = 0; k < node.outputs.size() && k < results.size(); ++k) {
        values[node.outputs[k]] = results[k];
      }
    }
    ASSERT_EQ(outputs.size(), model.outputs.size());
    for (size_t k = 0; k < outputs.size(); ++k) {
      SCOPED_TRACE(model.outputs[k]);
      expect_close(values[model.outputs[k]], outputs[k]);
    }
  }
}

class OnnxNode : public testing::TestWithParam<std::string> {};

TEST_P(OnnxNode, GivesTheExpectedOutputs) {
  try {
    run_model(GetParam());
  } catch (const Unsupported& reason) {
    GTEST_SKIP() << "outside of what oploom has: " << reason.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, OnnxNode, testing::ValuesIn(runnable_models()),
                         [](const auto& info) { return info.param; });

TEST(OnnxNodes, EnoughModelsRun) {
  size_t ran = 0;
  for (const std::string& name : runnable_models()) {
    try {
      run_model(name);
      ++ran;
    } catch (const Unsupported&) {
    }
  }
  RecordProperty("models", static_cast<int>(ran));
  EXPECT_GE(ran, kLeastModels);
}

}  // namespace
}  // namespace onnx_test
