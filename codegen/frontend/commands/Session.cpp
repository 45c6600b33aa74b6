// Reading and checking of the files that a command names.
#include <codegen/frontend/Load.h>
#include <codegen/frontend/commands/Command.h>
#include <codegen/frontend/passes/Passes.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

namespace oploom::frontend {

namespace {

// Where the functions and methods of formulas come from in this tree; the first one must be there
// for the check to be made.
constexpr std::array<const char*, 9> kDefaultHelpers = {"aten/autograd/FunctionsManual.h",
                                                        "aten/autograd/ShapeFormulas.h",
                                                        "aten/autograd/TensorGeometry.h",
                                                        "aten/core/TensorBase.h",
                                                        "c10/core/Scalar.h",
                                                        "c10/core/TensorOptions.h",
                                                        "c10/util/ArrayRef.h",
                                                        "c10/util/OptionalArrayRef.h",
                                                        "c10/core/ScalarType.h"};

}  // namespace

const std::vector<OptionHelp>& file_options() {
  static const std::vector<OptionHelp> options = {
      {"--tags", "FILE",
       "the tags that operators may carry; without it, tags.yaml beside the operators, if there is "
       "one"},
      {"--helpers", "HEADER",
       "a C++ header whose functions formulas may call; may be given several times. Without it, "
       "aten/autograd/FunctionsManual.h and its like are read where they lie beside the operators"},
  };
  return options;
}

Session::Session(const Arguments& arguments, std::size_t own_operands, std::ostream& err)
    : arguments_(arguments), err_(err) {
  const auto& words = arguments.words;
  const bool given = words.size() > own_operands;
  operators_path_ = given ? words[own_operands] : "native_functions.yaml";
  if (words.size() > own_operands + 1) derivatives_path_ = words[own_operands + 1];
  if (!given) derivatives_path_ = "derivatives.yaml";
}

int Session::load() {
  const SourceFile* operators = read(operators_path_);
  if (!operators) return kFailure;
  const SourceFile* derivatives = nullptr;
  if (!derivatives_path_.empty()) {
    derivatives = read(derivatives_path_);
    if (!derivatives) return kFailure;
  }
  std::string tags_path = arguments_.get("--tags");
  if (tags_path.empty()) {
    const auto beside = std::filesystem::path(operators_path_).replace_filename("tags.yaml");
    if (std::filesystem::exists(beside)) tags_path = beside.string();
  }
  if (!tags_path.empty()) {
    const SourceFile* tags = read(tags_path);
    if (!tags) return kFailure;
    load_tags(*tags, model_, diagnostics_);
  }
  if (const int code = load_helper_headers(); code != kOk) return code;
  load_native_functions(*operators, model_, diagnostics_);
  if (derivatives) load_derivatives(*derivatives, model_, diagnostics_);
  run_passes(model_, {.syntax_only = arguments_.has("--syntax")}, diagnostics_);
  return kOk;
}

int Session::load_helper_headers() {
  if (arguments_.has("--syntax")) return kOk;
  for (const auto& path : arguments_.all("--helpers")) {
    const SourceFile* header = read(path);
    if (!header) return kFailure;
    load_helpers(*header, model_);
  }
  if (arguments_.has("--helpers")) return kOk;
  const auto root = std::filesystem::path(operators_path_).parent_path();
  if (!std::filesystem::exists(root / kDefaultHelpers[0])) return kOk;
  for (const char* path : kDefaultHelpers) {
    if (const SourceFile* header = sources_.read((root / path).string())) {
      load_helpers(*header, model_);
    }
  }
  return kOk;
}

const SourceFile* Session::read(const std::string& path) {
  const SourceFile* file = std::filesystem::is_directory(path) ? nullptr : sources_.read(path);
  if (!file) err_ << "oploom: cannot read '" << path << "'\n";
  return file;
}

int Session::report() {
  err_ << diagnostics_.render();
  const std::size_t errors = diagnostics_.num_errors();
  if (errors > 0) err_ << errors << (errors == 1 ? " error\n" : " errors\n");
  return errors == 0 ? kOk : kMistakes;
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  return static_cast<bool>(stream);
}

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream || std::filesystem::is_directory(path)) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::string generated_folder(const Arguments& arguments, const Session& session) {
  const auto beside = std::filesystem::path(session.operators_path()).parent_path() / "generated";
  return arguments.get("--out", beside.string());
}

}  // namespace oploom::frontend
