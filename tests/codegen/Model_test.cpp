// What the passes make of operators: completed forms, structured roles, saved values, JSON.
#include "Frontend.h"

#include <codegen/frontend/ModelJson.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oploom::frontend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kAdd = R"(
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  family: BinaryOps
  variants: function, method
  structured: True
  structured_inherits: TensorIteratorBase
  autogen: add_.Tensor, add.out, add.Scalar, add_.Scalar, add.Scalar_out
  dispatch:
    CPU, CUDA: add_out
  tags: pointwise
)";

std::vector<std::string> schemas(const Frontend& frontend) {
  std::vector<std::string> list;
  for (const auto& op : frontend.model.operators) list.push_back(to_string(op->schema));
  return list;
}

TEST(Complete, MakesTheFormsThatAutogenLists) {
  Frontend frontend(kAdd);
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_THAT(
      schemas(frontend),
      ElementsAre(
          "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
          "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
          "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
          "add.Scalar(Tensor self, Scalar other, *, Scalar alpha=1) -> Tensor",
          "add_.Scalar(Tensor(a!) self, Scalar other, *, Scalar alpha=1) -> Tensor(a!)",
          "add.Scalar_out(Tensor self, Scalar other, *, Scalar alpha=1, Tensor(a!) out) -> "
          "Tensor(a!)"));
  const Model& model = frontend.model;
  EXPECT_EQ(model.find("add_.Tensor")->group(), "add.Tensor");
  EXPECT_EQ(model.find("add.out")->group(), "add.Tensor");
  EXPECT_EQ(model.find("add_.Scalar")->group(), "add.Scalar");
  EXPECT_EQ(model.find("add.Scalar")->scalar_overload_of, "add.Tensor");
  EXPECT_EQ(model.find("add_.Scalar")->scalar_overload_of, "add_.Tensor");
  EXPECT_EQ(model.find("add.Scalar_out")->scalar_overload_of, "add.out");
  EXPECT_EQ(model.find("add.Scalar")->composite, "implicit");
  EXPECT_THAT(model.find("add_.Tensor")->variants, ElementsAre("method"));
  EXPECT_THAT(model.find("add.out")->variants, ElementsAre("function"));
  EXPECT_EQ(model.find("add.out")->family.text, "BinaryOps");
}

TEST(Complete, GivesAllFormsTheirOtherNames) {
  const Frontend frontend(
      "- func: erf(Tensor self) -> Tensor\n  family: U\n  variants: function, method\n"
      "  autogen: erf_, erf.out\n  aliases: error_function, special_erf\n  dispatch: {CPU: erf}\n");
  const Model& model = frontend.model;
  EXPECT_THAT(schemas(frontend),
              ElementsAre("erf(Tensor self) -> Tensor", "erf_(Tensor(a!) self) -> Tensor(a!)",
                          "erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
                          "error_function(Tensor self) -> Tensor",
                          "error_function_(Tensor(a!) self) -> Tensor(a!)",
                          "error_function.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
                          "special_erf(Tensor self) -> Tensor",
                          "special_erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"));
  EXPECT_EQ(model.find("error_function_")->alias_of, "erf_");
  EXPECT_EQ(model.find("error_function.out")->group(), "error_function");
  EXPECT_EQ(model.find("error_function")->composite, "implicit");
  EXPECT_EQ(model.find("error_function")->role, StructuredRole::none);
  EXPECT_EQ(model.find("special_erf")->python_module.text, "special");
  EXPECT_THAT(model.find("special_erf")->variants, ElementsAre("function"));
}

TEST(Complete, InplaceFormsOfOneTensorKeepTheFunction) {
  Frontend frontend(
      "- func: abs(Tensor self) -> Tensor\n  family: U\n  variants: function, method\n  autogen: "
      "abs_\n");
  EXPECT_THAT(frontend.model.find("abs_")->variants, ElementsAre("function", "method"));
}

TEST(Complete, MakesFormsWithANumberForTheFirstTensor) {
  const Frontend frontend(
      "- func: mod.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
      "  family: U\n  variants: function, method\n"
      "  autogen: mod.out, mod.Scalar_Tensor, mod.Scalar_Tensor_out\n  aliases: modulo\n"
      "  dispatch: {CPU: mod}\n");
  const Model& model = frontend.model;
  EXPECT_EQ(to_string(model.find("mod.Scalar_Tensor")->schema),
            "mod.Scalar_Tensor(Scalar self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(to_string(model.find("mod.Scalar_Tensor_out")->schema),
            "mod.Scalar_Tensor_out(Scalar self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) "
            "-> Tensor(a!)");
  EXPECT_EQ(model.find("mod.Scalar_Tensor")->scalar_overload_of, "mod.Tensor");
  EXPECT_EQ(model.find("mod.Scalar_Tensor_out")->scalar_overload_of, "mod.out");
  EXPECT_THAT(model.find("mod.Scalar_Tensor")->variants, ElementsAre("function"));
  EXPECT_EQ(model.find("modulo.Scalar_Tensor_out")->alias_of, "mod.Scalar_Tensor_out");
}

// As PyTorch's files write it: the form with the number first has an entry, and autogen makes the
// out form of that.
TEST(Complete, MakesTheOutFormOfAWrittenScalarTensorForm) {
  const Frontend frontend(
      "- func: mod.Scalar_Tensor(Scalar self, Tensor other) -> Tensor\n  family: U\n"
      "  autogen: mod.Scalar_Tensor_out\n  dispatch: {CPU: mod}\n");
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_EQ(frontend.model.find("mod.Scalar_Tensor_out")->scalar_overload_of, "");
}

TEST(Complete, ScalarReplacesTheLastTensorWhereNoneIsCalledOther) {
  Frontend frontend(
      "- func: lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor\n  family: L\n"
      "  autogen: lerp.Scalar\n  dispatch: {CPU: lerp}\n");
  EXPECT_EQ(to_string(frontend.model.find("lerp.Scalar")->schema),
            "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor");
}

TEST(Complete, OutFormsOfSeveralResultsAndOfFactories) {
  Frontend frontend(
      "- func: max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)\n  family: R\n"
      "  autogen: max.dim_max\n  dispatch: {CPU: max}\n"
      "- func: qr(Tensor self) -> (Tensor, Tensor)\n  family: R\n  autogen: qr.out\n  dispatch: "
      "{CPU: qr}\n"
      "- func: zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, "
      "bool? pin_memory=None) -> Tensor\n  family: F\n  autogen: zeros.out\n"
      "  dispatch: {CompositeExplicit: zeros}\n");
  EXPECT_EQ(frontend.diagnostics.render(), "");
  const Model& model = frontend.model;
  EXPECT_EQ(to_string(model.find("max.dim_max")->schema),
            "max.dim_max(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> "
            "(Tensor(a!) values, Tensor(b!) indices)");
  EXPECT_EQ(to_string(model.find("qr.out")->schema),
            "qr.out(Tensor self, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))");
  EXPECT_EQ(to_string(model.find("zeros.out")->schema),
            "zeros.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)");
  EXPECT_EQ(model.find("zeros.out")->group(), "zeros");
  EXPECT_EQ(model.find("zeros.out")->composite, "explicit");
  EXPECT_EQ(model.find("zeros.out")->composite_kernel, "");
}

TEST(Dispatch, KeysAreTakenApartAndCompositesNamed) {
  Frontend frontend(
      "- func: a(Tensor self) -> Tensor\n  family: F\n"
      "- func: b(Tensor self) -> Tensor\n  family: F\n  dispatch: {CompositeExplicit: b_impl}\n"
      "- func: c(Tensor self) -> Tensor\n  family: F\n  dispatch: {'CPU, CUDA': c_kernel}\n"
      "- func: a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  family: F\n"
      "- func: a_(Tensor(a!) self) -> Tensor(a!)\n  family: F\n");
  EXPECT_EQ(frontend.diagnostics.render(), "");
  const Model& model = frontend.model;
  EXPECT_EQ(model.find("a")->composite, "implicit");
  EXPECT_EQ(model.find("a")->composite_kernel, "a");
  EXPECT_EQ(model.find("a.out")->composite_kernel, "a_out");
  EXPECT_EQ(model.find("a_")->composite_kernel, "a_");
  EXPECT_EQ(model.find("b")->composite, "explicit");
  EXPECT_EQ(model.find("b")->composite_kernel, "b_impl");
  ASSERT_EQ(model.find("c")->dispatch.size(), 2u);
  EXPECT_EQ(model.find("c")->dispatch[1].key, "CUDA");
  EXPECT_EQ(model.find("c")->dispatch[1].kernel.text, "c_kernel");
}

TEST(Structured, OneShapeFunctionAndKernelForAllForms) {
  Frontend frontend(kAdd);
  for (const char* name : {"add.Tensor", "add_.Tensor", "add.out"}) {
    const Operator& op = *frontend.model.find(name);
    EXPECT_EQ(op.structured_meta, "add_Tensor") << name;
    EXPECT_EQ(op.structured_impl.at("CPU"), "add_out") << name;
    EXPECT_EQ(op.structured_impl.at("CUDA"), "add_out") << name;
    EXPECT_EQ(op.structured_inherits.text, "TensorIteratorBase") << name;
  }
  EXPECT_EQ(frontend.model.find("add.Tensor")->role, StructuredRole::functional);
  EXPECT_EQ(frontend.model.find("add_.Tensor")->role, StructuredRole::inplace);
  EXPECT_EQ(frontend.model.find("add.out")->role, StructuredRole::out);
  EXPECT_EQ(frontend.model.find("add.Scalar")->role, StructuredRole::none);
}

TEST(Structured, DelegatesAsTheFieldWritesThem) {
  Frontend frontend(
      "- func: mm(Tensor self, Tensor mat2) -> Tensor\n  family: L\n  structured_delegate: mm.out\n"
      "- func: mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)\n  family: L\n"
      "  structured: True\n  dispatch: {CPU: mm_out_cpu}\n");
  EXPECT_EQ(frontend.diagnostics.render(), "");
  for (const char* name : {"mm", "mm.out"}) {
    EXPECT_EQ(frontend.model.find(name)->structured_meta, "mm");
    EXPECT_EQ(frontend.model.find(name)->structured_impl.at("CPU"), "mm_out_cpu");
  }
  EXPECT_EQ(frontend.model.find("mm")->role, StructuredRole::functional);
  EXPECT_EQ(frontend.model.find("mm.out")->role, StructuredRole::out);
}

// ---- derivatives ----

std::string saved_text(const Derivative& derivative) {
  std::string text;
  for (const auto& value : derivative.saved) {
    text += value.name + " = ";
    text += value.source == SavedValue::Source::input    ? "input "
            : value.source == SavedValue::Source::output ? "output "
                                                         : "expr ";
    text += value.source == SavedValue::Source::expr ? value.cpp + " " + value.expr : value.of;
    if (value.after) text += " after";
    if (value.clone) text += " clone";
    text += " for";
    for (const auto& name : value.used_by) text += " " + name;
    text += "\n";
  }
  return text;
}

TEST(Differentiate, SavesPropertiesInsteadOfTensors) {
  Frontend frontend(
      "- func: f(Tensor self, Tensor other, Tensor? bias, Tensor[] list, int dim) -> Tensor\n"
      "  family: F\n  dispatch: {CPU: f}\n",
      "- name: f(Tensor self, Tensor other, Tensor? bias, Tensor[] list, int dim) -> Tensor\n"
      "  self: g(grad, self.sizes(), self.sym_size(-1), self.size(dim), other, dim)\n"
      "  other: g(grad * result, other.scalar_type(), bias->sizes(), result.options())\n"
      "  list: g(to_args_sizes(list), list.size(), TensorGeometry(self), other.sum())\n");
  EXPECT_EQ(frontend.diagnostics.render(), "");
  const Derivative& derivative = *frontend.model.find("f")->derivative;
  EXPECT_EQ(derivative.node, "FBackward0");
  EXPECT_EQ(derivative.inputs[0].cpp,
            "g(grad, self_sizes, self_size_minus_1, self_size_dim, other, dim)");
  EXPECT_EQ(derivative.inputs[1].cpp,
            "g(grad * result, other_scalar_type, bias_sizes_opt, result_options)");
  EXPECT_EQ(derivative.inputs[2].cpp, "g(list_args_sizes, list_size, self_geometry, other.sum())");
  EXPECT_EQ(
      saved_text(derivative),
      "self_sizes = expr std::vector<int64_t> self.sizes().vec() for self\n"
      "self_size_minus_1 = expr int64_t self.size(-1) for self\n"
      "self_size_dim = expr int64_t self.size(dim) for self\n"
      "other = input other for self list\n"
      "dim = input dim for self\n"
      "result = output result after for other\n"
      "other_scalar_type = expr ScalarType other.scalar_type() for other\n"
      "bias_sizes_opt = expr std::optional<std::vector<int64_t>> bias.has_value() && "
      "bias->defined() ? std::optional<std::vector<int64_t>>(bias->sizes().vec()) : "
      "std::nullopt for other\n"
      "result_options = expr TensorOptions result.options() after for other\n"
      "list_args_sizes = expr std::vector<std::vector<int64_t>> to_args_sizes(list) for list\n"
      "list_size = expr int64_t static_cast<int64_t>(list.size()) for list\n"
      "self_geometry = expr TensorGeometry TensorGeometry(self) for list\n");
}

TEST(Differentiate, InplaceFormsCopyWhatTheyOverwrite) {
  Frontend frontend(
      "- func: mul(Tensor self, Tensor other) -> Tensor\n  family: F\n  autogen: mul_, mul.out\n"
      "  dispatch: {CPU: mul}\n"
      "- func: exp(Tensor self) -> Tensor\n  family: F\n  autogen: exp_\n  dispatch: {CPU: exp}\n",
      "- name: mul(Tensor self, Tensor other) -> Tensor\n  self: grad * other\n"
      "  other: (grad * self).to(self.scalar_type())\n"
      "- name: exp(Tensor self) -> Tensor\n  self: grad * result + result.dim()\n");
  EXPECT_EQ(frontend.diagnostics.render(), "");
  const Model& model = frontend.model;
  EXPECT_EQ(saved_text(*model.find("mul")->derivative),
            "other = input other for self\n"
            "self = input self for other\n"
            "self_scalar_type = expr ScalarType self.scalar_type() for other\n");
  EXPECT_EQ(saved_text(*model.find("mul_")->derivative),
            "other = input other for self\n"
            "self = input self clone for other\n"
            "self_scalar_type = expr ScalarType self.scalar_type() for other\n");
  EXPECT_EQ(model.find("mul_")->derivative->node, "MulBackward0");
  EXPECT_FALSE(model.find("mul.out")->derivative);
  EXPECT_EQ(saved_text(*model.find("exp_")->derivative),
            "result = output self after for self\n"
            "result_dim = expr int64_t self.dim() after for self\n");
}

TEST(Differentiate, AnInplaceEntryOfItsOwnHasItsOwnNode) {
  Frontend frontend(
      "- func: relu(Tensor self) -> Tensor\n  family: F\n  autogen: relu_\n  dispatch: {CPU: "
      "relu}\n",
      "- name: relu(Tensor self) -> Tensor\n  self: grad * self\n"
      "- name: relu_(Tensor(a!) self) -> Tensor(a!)\n  self: grad * result + self\n");
  EXPECT_EQ(frontend.diagnostics.render(), "");
  const Derivative& derivative = *frontend.model.find("relu_")->derivative;
  EXPECT_EQ(derivative.node, "ReluBackward1");
  EXPECT_EQ(saved_text(derivative),
            "result = output self after for self\n"
            "self = input self clone for self\n");
}

TEST(Differentiate, GradientsByNameAndMask) {
  Frontend frontend(
      "- func: f(Tensor self, Tensor other) -> (Tensor a, Tensor b, Tensor c)\n  family: F\n"
      "  dispatch: {CPU: f}\n",
      "- name: f(Tensor self, Tensor other) -> (Tensor a, Tensor b, Tensor c)\n"
      "  output_differentiability: [True, False, True]\n"
      "  self, other: g(grad_a, grad_c, b, result0, grad_input_mask)\n");
  EXPECT_EQ(frontend.diagnostics.render(), "");
  const Derivative& derivative = *frontend.model.find("f")->derivative;
  EXPECT_EQ(derivative.inputs[0].cpp, "g(grads[0], grads[1], b, result0, grad_input_mask)");
  EXPECT_TRUE(derivative.uses_grad_input_mask);
  EXPECT_EQ(saved_text(derivative),
            "b = output b after for self other\n"
            "result0 = output result0 after for self other\n");
}

TEST(Differentiate, OnlyTheFirstOutputWhenFormulasSayGrad) {
  Frontend frontend(
      "- func: f(Tensor self) -> (Tensor values, Tensor indices)\n  family: F\n  dispatch: {CPU: "
      "f}\n"
      "- func: eq(Tensor self, Tensor other) -> Tensor\n  family: F\n  dispatch: {CPU: eq}\n",
      "- name: f(Tensor self) -> (Tensor values, Tensor indices)\n  self: g(grad, indices)\n"
      "- name: eq(Tensor self, Tensor other) -> Tensor\n  output_differentiability: [False]\n");
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_THAT(frontend.model.find("f")->derivative->output_differentiability,
              ElementsAre(true, false));
  const Derivative& none = *frontend.model.find("eq")->derivative;
  EXPECT_EQ(none.node, "");
  EXPECT_THAT(none.output_differentiability, ElementsAre(false));
}

TEST(Differentiate, NodesAreNamedAsInTheField) {
  const char* operators[] = {"log1p", "_softmax", "atan2", "max_pool2d"};
  const char* nodes[] = {"Log1PBackward0", "SoftmaxBackward0", "Atan2Backward0",
                         "MaxPool2DBackward0"};
  for (int i = 0; i < 4; ++i) {
    const std::string schema = std::string(operators[i]) + "(Tensor self) -> Tensor\n";
    Frontend frontend("- func: " + schema + "  family: F\n  dispatch: {CPU: f}\n",
                      "- name: " + schema + "  self: grad\n");
    EXPECT_EQ(frontend.model.find(operators[i])->derivative->node, nodes[i]);
  }
}

// ---- JSON ----

TEST(ModelJson, SameInputSameText) {
  EXPECT_EQ(model_to_json(Frontend(kAdd).model), model_to_json(Frontend(kAdd).model));
}

TEST(ModelJson, FormulasTellNamesFromText) {
  const std::string schema = "f(Tensor self, int dim) -> Tensor\n";
  Frontend frontend("- func: " + schema + "  family: F\n  dispatch: {CPU: f}\n",
                    "- name: " + schema + "  self: at::g(grad, self.sizes(), dim) * true\n");
  const std::string json = model_to_json(frontend.model);
  EXPECT_THAT(json, HasSubstr("\"cpp\": [{\"call\": \"at::g\"}, \"(\", {\"name\": \"grad\"}, "
                              "\", \", {\"name\": \"self_sizes\"}, \", \", {\"name\": \"dim\"}, "
                              "\") * \", {\"name\": \"true\"}]"));
  EXPECT_THAT(json, HasSubstr("\"expr\": [{\"name\": \"self\"}, \".\", {\"call\": \"sizes\"}, "
                              "\"().\", {\"call\": \"vec\"}, \"()\"]"));
}

TEST(ModelJson, HoldsWhatModelMdPromises) {
  const std::string json = model_to_json(Frontend(kAdd).model);
  EXPECT_THAT(json, HasSubstr("\"version\": 4"));
  EXPECT_THAT(json, HasSubstr("\"identifier\": \"add__Tensor\""));
  EXPECT_THAT(json, HasSubstr("\"source\": {\"file\": \"native_functions.yaml\", \"line\": 2}"));
  EXPECT_THAT(json, HasSubstr("\"impl\": {\"CPU\": \"add_out\", \"CUDA\": \"add_out\"}"));
  EXPECT_THAT(json,
              HasSubstr("\"alias\": {\"before\": [\"a\"], \"after\": [\"a\"], \"write\": true}"));
  EXPECT_THAT(json,
              HasSubstr("\"name\": \"alpha\", \"type\": {\"base\": \"Scalar\", \"optional\": "
                        "false, \"list\": false, \"list_size\": null, \"list_optional\": false, "
                        "\"elem_optional\": false, \"text\": \"Scalar\"}, \"alias\": null, "
                        "\"default\": \"1\", \"kwarg_only\": true, \"out\": false"));
}

TEST(ModelJson, TestRecordsGoThroughWithTheirTypes) {
  Frontend frontend(
      "- func: f(Tensor self, int dim) -> Tensor\n  family: F\n"
      "  test:\n    numpy: np.f(self, '1')\n    samples:\n      - {self: [3, 4], dim: -1}\n"
      "    tol: {float32: 1e-5}\n    grad: false\n");
  EXPECT_EQ(frontend.diagnostics.render(), "");
  EXPECT_THAT(
      model_to_json(frontend.model),
      HasSubstr("\"test\": {\"numpy\": \"np.f(self, '1')\", \"samples\": [{\"self\": [3, 4], "
                "\"dim\": -1}], \"tol\": {\"float32\": 1e-05}, \"grad\": false}"));
}

}  // namespace
}  // namespace oploom::frontend
