// Reading and checking of the files that a command names.
#include <codegen/frontend/Load.h>
#include <codegen/frontend/commands/Command.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

namespace oploom::frontend {

namespace {

// Where the functions and methods of formulas come from in this tree; the first one must be there
// for the check to be made.
constexpr std::array<const char*, 10> kDefaultHelpers = {
    "aten/autograd/FunctionsManual.h", "aten/autograd/ForwardFormulas.h",
    "aten/autograd/ShapeFormulas.h",   "aten/autograd/TensorGeometry.h",
    "aten/core/TensorBase.h",          "c10/core/Scalar.h",
    "c10/core/TensorOptions.h",        "c10/util/ArrayRef.h",
    "c10/util/OptionalArrayRef.h",     "c10/core/ScalarType.h"};

}  // namespace

const std::vector<OptionHelp>& file_options() {
  static const std::vector<OptionHelp> options = {
      {"--tags", "FILE",
       "the tags that operators may carry; without it, tags.yaml beside the operators, if there is "
       "one"},
      {"--helpers", "HEADER",
       "a C++ header whose functions formulas may call; may be given several times. Without it, "
       "aten/autograd/FunctionsManual.h and its like are read where they lie beside the operators"},
      {"--namespace", "N",
       "the files are a package outside the tree: its operators live in C++ namespace N and are "
       "registered as N::name; without it they are oploom's own"},
      {"--python-module", "M", "the Python module of the package (default: its namespace)"},
      {"--schemas", "FILE", "one more file of operators; may be given several times"},
      {"--derivatives", "FILE", "likewise, of derivatives"},
      {"--oploom", "DIR",
       "for packages: where oploom itself is, an installation or a source tree, whose operators "
       "and "
       "helpers formulas may use (default: what this program is installed in)"},
  };
  return options;
}

std::optional<OploomFiles> find_oploom(const Arguments& arguments) {
  std::error_code ignored;
  const std::filesystem::path root =
      arguments.has("--oploom")
          ? std::filesystem::path(arguments.get("--oploom"))
          : std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  if (std::filesystem::exists(root / "native_functions.yaml")) return OploomFiles{root, root};
  const OploomFiles installed{root / "share/oploom", root / "include/oploom"};
  if (std::filesystem::exists(installed.data / "native_functions.yaml")) return installed;
  return std::nullopt;
}

Session::Session(const Arguments& arguments, std::size_t own_operands, std::ostream& err)
    : arguments_(arguments),
      err_(err),
      schemas_(arguments.all("--schemas")),
      derivatives_(arguments.all("--derivatives")) {
  const auto& words = arguments.words;
  if (words.size() > own_operands) schemas_.insert(schemas_.begin(), words[own_operands]);
  if (words.size() > own_operands + 1) {
    derivatives_.insert(derivatives_.begin(), words[own_operands + 1]);
  }
  if (schemas_.empty() && derivatives_.empty()) {
    schemas_ = {"native_functions.yaml"};
    derivatives_ = {"derivatives.yaml"};
  }
}

std::vector<std::string> Session::paths() const {
  std::vector<std::string> paths = schemas_;
  paths.insert(paths.end(), derivatives_.begin(), derivatives_.end());
  return paths;
}

int Session::load() {
  if (schemas_.empty()) {
    err_ << "oploom: a file with operators is needed beside the derivatives\n";
    return kUsage;
  }
  std::vector<const SourceFile*> schemas, derivatives;
  for (const auto& path : schemas_) {
    if (!schemas.emplace_back(read(path))) return kFailure;
  }
  for (const auto& path : derivatives_) {
    if (!derivatives.emplace_back(read(path))) return kFailure;
  }
  if (const int code = read_package(); code != kOk) return code;
  if (const int code = load_tags_file(); code != kOk) return code;
  if (const int code = load_helper_headers(); code != kOk) return code;
  if (is_package() && oploom_) {
    const SourceFile* core = read((oploom_->data / "native_functions.yaml").string());
    if (!core) return kFailure;
    load_core_operators(*core, model_, diagnostics_);
  }
  for (const SourceFile* file : schemas) load_native_functions(*file, model_, diagnostics_);
  for (const SourceFile* file : derivatives) load_derivatives(*file, model_, diagnostics_);
  run_passes(model_, {.syntax_only = arguments_.has("--syntax")}, diagnostics_);
  return kOk;
}

// The names that `--namespace` and `--python-module` give, and where oploom's own operators are.
int Session::read_package() {
  static constexpr std::array<std::string_view, 6> taken = {"at",     "c10",    "std",
                                                            "caffe2", "oploom", "torch"};
  model_.name_space = arguments_.get("--namespace", std::string(kTreeNamespace));
  model_.python_module =
      arguments_.get("--python-module", is_package() ? model_.name_space : "oploom");
  // What oploom and its tests import; a module of this name would hide it.
  static constexpr std::array<std::string_view, 5> imported = {"numpy", "oploom", "pytest", "scipy",
                                                               "torch"};
  std::string mistake;
  if (std::find(taken.begin(), taken.end(), model_.name_space) != taken.end()) {
    mistake = "--namespace: '" + model_.name_space +
              "' belongs to another library; choose a name of your own";
  } else if (!is_cpp_identifier(model_.name_space)) {
    mistake =
        "--namespace: expected a C++ identifier such as 'mathx', got '" + model_.name_space + "'";
  } else if (!is_cpp_identifier(model_.python_module)) {
    mistake =
        "--python-module: expected a name such as 'mathx', got '" + model_.python_module + "'";
  } else if (is_package() &&
             std::find(imported.begin(), imported.end(), model_.python_module) != imported.end()) {
    mistake = "--python-module: '" + model_.python_module +
              "' is a module of another library; choose a name of your own";
  }
  if (!mistake.empty()) {
    err_ << "oploom: " << mistake << "\n";
    return kUsage;
  }
  if (!is_package() || arguments_.has("--syntax")) return kOk;
  oploom_ = find_oploom(arguments_);
  if (oploom_) return kOk;
  err_
      << "oploom: cannot find oploom's own operators, which a package's formulas may use: name the "
         "prefix that oploom is installed in, or its source tree, with --oploom\n";
  return kFailure;
}

int Session::load_tags_file() {
  std::string path = arguments_.get("--tags");
  if (path.empty()) {
    const auto beside = std::filesystem::path(operators_path()).replace_filename("tags.yaml");
    if (std::filesystem::exists(beside)) {
      path = beside.string();
    } else if (oploom_) {
      path = (oploom_->data / "tags.yaml").string();
    } else {
      return kOk;
    }
  }
  const SourceFile* tags = read(path);
  if (!tags) return kFailure;
  load_tags(*tags, model_, diagnostics_);
  return kOk;
}

int Session::load_helper_headers() {
  if (arguments_.has("--syntax")) return kOk;
  for (const auto& path : arguments_.all("--helpers")) {
    const SourceFile* header = read(path);
    if (!header) return kFailure;
    load_helpers(*header, model_);
  }
  if (is_package()) {
    model_.helper_headers = arguments_.all("--helpers");
  } else if (arguments_.has("--helpers")) {
    return kOk;
  }
  const auto root =
      oploom_ ? oploom_->headers : std::filesystem::path(operators_path()).parent_path();
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
