// The commands of the `oploom` program: output, exit codes, JSON.
#include <codegen/frontend/CommandLine.h>
#include <codegen/frontend/commands/Command.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace oploom::frontend {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() /
        ("oploom-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
         std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    operators_ =
        write("native_functions.yaml", "- func: abs(Tensor self) -> Tensor\n  family: UnaryOps\n");
    derivatives_ = write("derivatives.yaml", "");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  int run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return run_command_line(arguments, out_, err_);
  }

  std::filesystem::path folder_;
  std::string operators_, derivatives_;
  std::ostringstream out_, err_;
};

TEST_F(CommandLine, CheckOfGoodFilesIsSilent) {
  EXPECT_EQ(run({"check", operators_, derivatives_}), 0);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CommandLine, MistakesGoToStandardErrorWithExitCodeOne) {
  const auto bad = write("bad.yaml", "- func: abs(Tensor self) -> Tenso\n  famly: X\n");
  EXPECT_EQ(run({"check", bad, derivatives_}), 1);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(),
              HasSubstr("bad.yaml:1:29: error: unknown type 'Tenso' (did you mean 'Tensor'?)"));
  EXPECT_THAT(err_.str(), HasSubstr("bad.yaml:2:3: error: unknown key 'famly'"));
  EXPECT_THAT(err_.str(), HasSubstr("2 errors\n"));
}

TEST_F(CommandLine, JsonDiagnostics) {
  const auto bad = write("bad.yaml", "- func: abs(tensor self) -> Tensor\n  family: X\n");
  EXPECT_EQ(run({"check", "--json", bad, derivatives_}), 1);
  EXPECT_EQ(err_.str(), "");
  EXPECT_THAT(out_.str(), HasSubstr("\"errors\": 1"));
  EXPECT_THAT(out_.str(), HasSubstr("\"line\": 1"));
  EXPECT_THAT(out_.str(), HasSubstr("\"column\": 13"));
  EXPECT_THAT(out_.str(), HasSubstr("\"message\": \"unknown type 'tensor'\""));
  EXPECT_THAT(out_.str(), HasSubstr("\"suggestion\": \"Tensor\""));
  const auto slip = write("slip.yaml", "- func: f(Tensor self) -> Tensor\n  expr: tahn(slef)\n");
  EXPECT_EQ(run({"check", "--json", slip, derivatives_}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("\"message\": \"there is no function 'tahn'\""));
  EXPECT_THAT(out_.str(), HasSubstr("\"suggestion\": \"tanh\""));
}

// A package outside the tree, and an installed copy of oploom with one operator and one helper.
class PackageCommandLine : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    for (const char* folder : {"prefix/share/oploom", "prefix/include/oploom/aten/autograd"}) {
      std::filesystem::create_directories(folder_ / folder);
    }
    write("prefix/share/oploom/native_functions.yaml",
          "- func: exp(Tensor self) -> Tensor\n  family: X\n  variants: function, method\n"
          "  autogen: exp_, exp.out\n");
    write("prefix/share/oploom/tags.yaml", "- tag: pointwise\n  desc: text\n");
    write("prefix/include/oploom/aten/autograd/FunctionsManual.h",
          "Tensor handle_r_to_c(Tensor grad);\n");
    schemas_ = write("mathx.yaml",
                     "- func: mish(Tensor self) -> Tensor\n  tags: pointwise\n"
                     "  dispatch:\n    CompositeExplicit: mish\n");
  }
  int check(const std::string& formula) {
    const auto derivatives =
        write("formulas.yaml", "- name: mish(Tensor self) -> Tensor\n  self: " + formula + "\n");
    return run({"check", "--namespace", "mathx", "--oploom", prefix(), schemas_, derivatives});
  }
  std::string prefix() const { return (folder_ / "prefix").string(); }
  std::string schemas_;
};

TEST_F(PackageCommandLine, FormulasKnowTheOperatorsOfOploomAndTheirOwn) {
  EXPECT_EQ(check("handle_r_to_c(grad * self.exp() * exp(self) * mish(self))"), 0) << err_.str();
  EXPECT_EQ(check("grad * exq(self)"), 1);
  EXPECT_THAT(err_.str(), HasSubstr("formulas.yaml:2:16: error: the formula calls the function "
                                    "'exq', which is no operator and no helper (did you mean "
                                    "'exp'?)"));
}

TEST_F(PackageCommandLine, OwnHelpersAreKnownBesideOploomsOwn) {
  EXPECT_EQ(check("mish_backward(grad, self)"), 1);
  const auto helpers = write("formulas.h", "Tensor mish_backward(Tensor grad, Tensor self);\n");
  EXPECT_EQ(run({"check", "--namespace", "mathx", "--oploom", prefix(), "--helpers", helpers,
                 schemas_, (folder_ / "formulas.yaml").string()}),
            0)
      << err_.str();
  EXPECT_EQ(check("handle_r_to_c(grad)"), 0) << err_.str();
}

TEST_F(PackageCommandLine, ItsModuleHidesNoOther) {
  for (const char* taken : {"oploom", "numpy"}) {
    EXPECT_EQ(run({"check", "--namespace", "mathx", "--python-module", taken, "--oploom", prefix(),
                   schemas_}),
              2);
    EXPECT_THAT(err_.str(), HasSubstr("--python-module: '" + std::string(taken) +
                                      "' is a module of another library"));
  }
}

TEST_F(PackageCommandLine, TheModelSaysWhosePackageItIs) {
  const auto more = write("more.yaml", "- func: wish(Tensor self) -> Tensor\n");
  EXPECT_EQ(run({"model", "--namespace", "mathx", "--oploom", prefix(), "--schemas", schemas_,
                 "--schemas", more, "--python-module", "mx"}),
            0)
      << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("\"namespace\": \"mathx\""));
  EXPECT_THAT(out_.str(), HasSubstr("\"python_module\": \"mx\""));
  EXPECT_THAT(out_.str(), HasSubstr("[\"mathx.yaml\", \"more.yaml\"]"));
  EXPECT_THAT(out_.str(), HasSubstr("\"name\": \"wish\""));
  EXPECT_THAT(out_.str(), HasSubstr("\"family\": \"mathx\""));
  EXPECT_THAT(out_.str(), testing::Not(HasSubstr("\"base\": \"exp\"")));
  EXPECT_EQ(run({"model", operators_, derivatives_}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\"namespace\": \"aten\""));
}

TEST_F(PackageCommandLine, MethodsAreRefused) {
  const auto methods =
      write("methods.yaml", "- func: mish(Tensor self) -> Tensor\n  variants: function, method\n");
  EXPECT_EQ(run({"check", "--namespace", "mathx", "--oploom", prefix(), methods}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("methods.yaml:2:23: error: a package cannot add methods to "
                                    "at::Tensor"));
}

TEST_F(PackageCommandLine, NamesThatAreNoNamespacesAreRefused) {
  for (const std::string name : {"at", "9x", "my-ops", "class", ""}) {
    EXPECT_EQ(run({"check", "--namespace", name, schemas_}), 2) << name;
    EXPECT_THAT(err_.str(), HasSubstr("--namespace: "));
  }
}

TEST_F(PackageCommandLine, AMissingOploomIsSaid) {
  EXPECT_EQ(
      run({"check", "--namespace", "mathx", "--oploom", (folder_ / "none").string(), schemas_}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("cannot find oploom's own operators"));
}

TEST_F(CommandLine, ModelGoesToStandardOutputOrAFile) {
  EXPECT_EQ(run({"model", operators_, derivatives_}), 0);
  const std::string model = out_.str();
  EXPECT_THAT(model, StartsWith("{\n  \"version\": 4,\n"));
  EXPECT_THAT(model, testing::Not(HasSubstr(folder_.string())));  // the same wherever the tree lies
  const auto path = (folder_ / "model.json").string();
  EXPECT_EQ(run({"model", operators_, derivatives_, "-o", path}), 0);
  EXPECT_EQ(out_.str(), "");
  std::ifstream stream(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), model);
}

TEST_F(CommandLine, NoModelOfFilesWithMistakes) {
  const auto bad = write("bad.yaml", "- func: abs(tensor self) -> Tensor\n");
  EXPECT_EQ(run({"model", bad, derivatives_}), 1);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(CommandLine, WrongUse) {
  EXPECT_EQ(run({}), 2);
  EXPECT_EQ(run({"chek"}), 2);
  EXPECT_EQ(err_.str(),
            "oploom: unknown command 'chek' (did you mean 'check'?)\ntry 'oploom --help'\n");
  EXPECT_EQ(run({"check", "--sintax"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean '--syntax'?"));
  EXPECT_EQ(run({"check", "--tags"}), 2);
  EXPECT_EQ(run({"check", "a", "b", "c"}), 2);
}

TEST_F(CommandLine, UnreadableFiles) {
  EXPECT_EQ(run({"check", (folder_ / "missing.yaml").string(), derivatives_}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("cannot read"));
  EXPECT_EQ(run({"check", folder_.string(), derivatives_}), 3);
}

TEST_F(CommandLine, Help) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out_.str(), StartsWith("usage: oploom COMMAND"));
  EXPECT_THAT(out_.str(), HasSubstr("Exit codes:"));
  for (const char* command : {"check", "explain", "list", "new", "model", "generate", "docs"}) {
    EXPECT_THAT(out_.str(), HasSubstr("  " + std::string(command) + " "));
  }
}

TEST_F(CommandLine, HelpAndVersionAsWords) {
  EXPECT_EQ(run({"help"}), 0);
  EXPECT_THAT(out_.str(), StartsWith("usage: oploom COMMAND"));
  EXPECT_EQ(run({"help", "list"}), 0);
  EXPECT_THAT(out_.str(), StartsWith("usage: oploom list "));
  EXPECT_EQ(run({"help", "lits"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("unknown command 'lits' (did you mean 'list'?)"));
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_THAT(out_.str(), testing::MatchesRegex("oploom [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(CommandLine, ListKnowsTheFamilies) {
  EXPECT_EQ(run({"list", "--family", "Nope", operators_, derivatives_}), 2);
  EXPECT_EQ(err_.str(), "oploom: there is no family 'Nope'\n");
  EXPECT_EQ(run({"list", "--family", "UnaryOp", operators_, derivatives_}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("(did you mean 'UnaryOps'?)"));
}

TEST_F(CommandLine, EachCommandHasHelpOfItsOwn) {
  for (const std::string command :
       {"check", "explain", "list", "new", "model", "generate", "docs"}) {
    EXPECT_EQ(run({command, "--help"}), 0);
    const std::string help = out_.str();
    EXPECT_THAT(help, StartsWith("usage: oploom " + command + " [OPTIONS] "));
    EXPECT_THAT(help, HasSubstr("Exit codes:"));
    EXPECT_THAT(help, HasSubstr("  --tags FILE"));
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
  EXPECT_EQ(run({"check", "-h"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("  --syntax          only what can be told from the files"));
}

TEST_F(CommandLine, ListShowsOneLineForEachOperator) {
  write("native_functions.yaml", R"(
- func: zeta(Tensor self, Tensor other) -> Tensor
  family: BinaryOps
  variants: function, method
  structured: True
  autogen: zeta_, zeta.out
  dispatch: {CPU: zeta_out}
  test: {numpy: x, dtypes: floating, samples: [{self: [2], other: [2]}, {self: [], other: []}]}
- func: abs(Tensor self) -> Tensor
  family: UnaryOps
- func: sign(Tensor self) -> Tensor
  family: UnaryOps
  dispatch: {CompositeExplicit: sign}
  test: {none: because}
)");
  write("derivatives.yaml", R"(
- name: zeta(Tensor self, Tensor other) -> Tensor
  self: grad
- name: sign(Tensor self) -> Tensor
  output_differentiability: [False]
)");
  EXPECT_EQ(run({"list", operators_, derivatives_}), 0);
  EXPECT_EQ(
      out_.str(),
      "operator  family     forms                           devices    dtypes tested  derivative  "
      "tests\n"
      "abs       UnaryOps   function                        all        -              composite   "
      "none\n"
      "sign      UnaryOps   function                        all        -              no          "
      "by others\n"
      "zeta      BinaryOps  function, method, inplace, out  CPU, Meta  floating       formula     "
      "2 "
      "samples\n"
      "\n"
      "3 operators: 1 with derivatives, 1 differentiable through what they call, 1 not "
      "differentiable by nature, 0 without a derivative; 1 without a test record\n");
  EXPECT_EQ(run({"list", "--family", "BinaryOps", operators_, derivatives_}), 0);
  EXPECT_THAT(out_.str(), testing::Not(HasSubstr("\nabs ")));
  EXPECT_EQ(run({"list", "--untested", operators_, derivatives_}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\nabs "));
  EXPECT_THAT(out_.str(), testing::Not(HasSubstr("\nzeta ")));
}

TEST_F(CommandLine, ExplainTellsAllOfOneOperator) {
  write("native_functions.yaml", R"(
- func: scale(Tensor self, Tensor other, *, float eps=1e-05) -> Tensor
  family: BinaryOps
  variants: function, method
  structured: True
  autogen: scale_, scale.out
  dispatch: {CPU: scale_out}
  doc: Scales.
  test: {numpy: self * other, dtypes: floating, samples: [{self: [2], other: [2]}]}
)");
  write("derivatives.yaml", R"(
- name: scale(Tensor self, Tensor other, *, float eps=1e-05) -> Tensor
  self: grad * other
  other: sum_to(grad * result * self, other.sizes())
)");
  std::filesystem::create_directories(folder_ / "generated" / "ops");
  std::filesystem::create_directories(folder_ / "generated" / "python" / "oploom");
  write(
      "generated/ops/scale.h",
      "// The C++ API of scale.\n"
      "\n"
      "// scale(Tensor self, Tensor other, *, float\n"
      "//     eps=1e-05) -> Tensor\n"
      "inline Tensor scale(const Tensor& self, const Tensor& other,\n"
      "                    double eps = 1e-05) {\n"
      "  return {};\n"
      "}\n"
      "inline Tensor Tensor::scale(const Tensor& other, double eps) const { return {}; }\n"
      "\n"
      "// scale.out(Tensor self, Tensor other, *, float eps=1e-05, Tensor(a!) out) -> Tensor(a!)\n"
      "inline Tensor& scale_out(Tensor& out) { return out; }\n");
  write("generated/python/oploom/_C.pyi",
        "class Tensor:\n"
        "    def scale(self, other: Tensor, *, eps: float = ...) -> Tensor: ...\n"
        "def scale(input: Tensor, other: Tensor, *, eps: float = ...) -> Tensor: ...\n");
  EXPECT_EQ(run({"explain", "scale", operators_, derivatives_}), 0);
  const std::string text = out_.str();
  for (const char* line : {
           "scale(Tensor self, Tensor other, *, float eps=1e-05) -> Tensor\n",
           ":2, family BinaryOps, functional, function, method\n",
           "\n  Scales.\n",
           "\n  scale_(Tensor(a!) self, Tensor other, *, float eps=1e-05) -> Tensor(a!)\n",
           "\n  Tensor scale(const Tensor& self, const Tensor& other, double eps = 1e-05)\n",
           "\n  Tensor Tensor::scale(const Tensor& other, double eps) const\n",
           "\n  Tensor.scale(self, other: Tensor, *, eps: float = ...) -> Tensor\n",
           "\n  oploom.scale(input: Tensor, other: Tensor, *, eps: float = ...) -> Tensor\n",
           "\n  CPU               at::meta::structured_scale, then "
           "at::native::structured_scale_out\n",
           "\n  Autograd          records ScaleBackward0\n",
           "\n  self              grad * other\n",
           "\n  saves other       Tensor other, for the gradient of self\n",
           "\n  saves other_sizes  other.sizes().vec(), for the gradient of other\n",
           "\n  saves result      the result result, for the gradient of other\n",
           "\n  samples           1 item\n",
           "/generated/ops/scale.h:3\n",
           "/generated/python/oploom/_C.pyi:3\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, testing::Not(HasSubstr("scale_out(Tensor& out)")));  // another form's
  EXPECT_EQ(run({"explain", "scale_", operators_, derivatives_}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("made by autogen of scale\n"));
  EXPECT_THAT(out_.str(), HasSubstr("a copy: the operator overwrites it"));
  EXPECT_EQ(run({"explain", "scal", operators_, derivatives_}), 2);
  EXPECT_EQ(err_.str(), "oploom: there is no operator 'scal' (did you mean 'scale'?)\n");
  EXPECT_EQ(run({"explain"}), 2);
}

TEST_F(CommandLine, ExplainShowsConditionsOnNumbers) {
  write("native_functions.yaml",
        "- func: tamed(Tensor self, float low, float high) -> Tensor\n"
        "  family: BinaryOps\n"
        "  expr: \"self > low && self < high ? self : 0\"\n"
        "  requires: [low < high, low != 0]\n");
  EXPECT_EQ(run({"explain", "tamed", operators_}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\nRequires\n  low < high\n  low != 0\n"));
}

TEST_F(CommandLine, ExplainKnowsThePublicNamesOfPython) {
  write("native_functions.yaml", R"(
- func: soft(Tensor self) -> Tensor
  family: F
  python_module: nn
  expr: exp(self)
- func: soft_forward(Tensor self) -> Tensor
  family: F
  python_module: nn
  expr: exp(self)
- func: special_i1(Tensor self) -> Tensor
  family: F
  python_module: special
  expr: exp(self)
)");
  write("derivatives.yaml", "");
  std::filesystem::create_directories(folder_ / "generated" / "python" / "oploom");
  std::filesystem::create_directories(folder_ / "python" / "oploom" / "nn");
  write("generated/python/oploom/_C.pyi",
        "class _nn:\n    def soft(input: Tensor) -> Tensor: ...\n"
        "    def soft_forward(input: Tensor) -> Tensor: ...\n"
        "class _special:\n    def special_i1(input: Tensor) -> Tensor: ...\n");
  write("python/oploom/nn/functional.py", "import math\n\ndef soft(input):\n");
  write("python/oploom/special.py", "");
  for (const auto& [name, place] : {std::pair{"soft", "oploom.nn.functional.soft(input: Tensor)"},
                                    {"soft_forward", "oploom._C._nn.soft_forward(input: Tensor)"},
                                    {"special_i1", "oploom.special.i1(input: Tensor)"}}) {
    EXPECT_EQ(run({"explain", name, operators_, derivatives_}), 0);
    EXPECT_THAT(out_.str(), HasSubstr(std::string("\n  ") + place + " -> Tensor\n"));
  }
}

TEST_F(CommandLine, ExplainTellsWhichFormulasAreNotProved) {
  write("native_functions.yaml", R"(
- func: f(Tensor self, Tensor other) -> Tensor
  family: BinaryOps
  expr: 2 * self * other
)");
  write("derivatives.yaml", R"(
- name: f(Tensor self, Tensor other) -> Tensor
  self: grad * neg(other).sum(0) * 2
  other: 2 * grad * self
  result: self_t * 2 * other_p + other_t.sum() * 2 * self_p
)");
  EXPECT_EQ(run({"explain", "f", operators_, derivatives_}), 0);
  const std::string reason = "' is more than an expression of elements\n";
  EXPECT_THAT(out_.str(), HasSubstr("\n  self              grad * neg(other).sum(0) * 2\n"
                                    "                    not proved: 'neg(other).sum" +
                                    reason +
                                    "  other             2 * grad * self\n"
                                    "  tangent of result  "));
  EXPECT_THAT(out_.str(), HasSubstr("not proved: 'other_t.sum" + reason));
}

// What `new` makes of a good name is tried in test_new.py, with a back end.
TEST_F(CommandLine, NewRefusesWhatItCannotStart) {
  auto refusal = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "new");
    words.insert(words.end(), {operators_, derivatives_});
    EXPECT_EQ(run(words), 2);
    return err_.str();
  };
  EXPECT_THAT(refusal({"abs", "--family", "F"}), HasSubstr("'abs' exists: "));
  EXPECT_THAT(refusal({"f"}), HasSubstr("--family is needed"));
  EXPECT_THAT(refusal({"f", "--family", "F", "--schema", "f(tensor self) -> Tensor"}),
              HasSubstr("unknown type 'tensor' (did you mean 'Tensor'?)"));
  EXPECT_THAT(refusal({"f", "--family", "F", "--schema", "g(Tensor self) -> Tensor"}),
              HasSubstr("the schema is of 'g', not of 'f'"));
  EXPECT_THAT(refusal({"f_", "--family", "F", "--schema", "f_(Tensor(a!) self) -> Tensor(a!)"}),
              HasSubstr("give the functional form"));
  EXPECT_THAT(refusal({"f", "--kernel", "--family", "F", "--schema", "f(int n) -> Tensor"}),
              HasSubstr("--kernel is for operators of tensors"));
}

// The check refuses the entry before the back end runs, and the entry is taken back.
TEST_F(CommandLine, NewRefusesAKeyword) {
  const auto before = read_file(operators_);
  EXPECT_EQ(run({"new", "delete", "--family", "F", "--expr", "-self", operators_, derivatives_}),
            1);
  EXPECT_THAT(err_.str(), HasSubstr("'delete' is a word of C++ and cannot name an operator"));
  EXPECT_THAT(err_.str(), testing::EndsWith("oploom: nothing was changed\n"));
  EXPECT_EQ(read_file(operators_), before);
}

}  // namespace
}  // namespace oploom::frontend
