// Command line of the `oploom` program.
#include <c10/util/Suggest.h>
#include <codegen/frontend/CommandLine.h>
#include <codegen/frontend/Load.h>
#include <codegen/frontend/ModelJson.h>
#include <codegen/frontend/passes/Passes.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>

namespace oploom::frontend {

namespace {

constexpr std::string_view kHelp =
    R"(usage: oploom COMMAND [OPTIONS] native_functions.yaml derivatives.yaml

Commands:
  check      read the files and report every mistake
  model      print the model of the operators as JSON (described in codegen/frontend/MODEL.md)
  generate   write the generated code: runs `python3 -m codegen.backend` on the model

Options:
  --tags FILE   the tags that operators may carry; without it, tags.yaml beside the operators, if
                there is one
  --helpers H   a C++ header whose functions formulas may call; may be given several times. Without
                it, aten/autograd/FunctionsManual.h and its like are read where they lie beside the
                operators
  --syntax      check: only what can be told from the files themselves; for operator files of
                another tree, such as PyTorch's
  --json        check: print the diagnostics as JSON on standard output
  --namespace N the files are a package outside the tree: its operators live in C++ namespace N and
                are registered as N::name; without it they are oploom's own
  --python-module M   the Python module of the package (default: its namespace)
  --schemas F   one more file of operators; may be given several times
  --derivatives F   likewise, of derivatives
  --oploom DIR  for packages: where oploom itself is, an installation or a source tree, whose
                operators and helpers formulas may use (default: what this program is installed in)
  --out DIR     generate: where the code goes (default: generated)
  --expect FILE generate: the files that the build counts on, one a line; any other set is a mistake
  --check       generate: write nothing, and fail when a file is not up to date
  -o FILE       model: write to a file instead of standard output
  -h, --help    this text

Without files, native_functions.yaml and derivatives.yaml of the working directory are read.

`generate` runs the Python named by the environment variable OPLOOM_PYTHON, else python3.

Exit codes:
  0  all is well
  1  the files have mistakes, which were reported; or generated code is not up to date (--check)
  2  the command line is wrong
  3  a file cannot be read or written, or the back end failed
)";

constexpr int kOk = 0, kMistakes = 1, kUsage = 2, kFailure = 3;

struct Options {
  std::string command;
  std::vector<std::string> files;  // without an option: schemas, derivatives
  std::vector<std::string> schemas, derivatives;
  std::string tags;
  std::vector<std::string> helpers;
  std::string name_space{kTreeNamespace};
  std::string python_module;
  std::string oploom;
  std::string expect;
  std::string out = "generated";
  std::string output_file;
  bool syntax = false;
  bool json = false;
  bool check = false;
  bool help = false;
};

constexpr std::array<std::string_view, 3> kCommands = {"check", "model", "generate"};
constexpr std::array<std::string_view, 14> kOptions = {
    "--tags",   "--helpers",       "--namespace", "--schemas", "--derivatives", "--oploom",
    "--expect", "--python-module", "--syntax",    "--json",    "--out",         "--check",
    "-o",       "--help"};

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

std::string did_you_mean(const std::string& suggestion) {
  return suggestion.empty() ? "" : " (did you mean '" + suggestion + "'?)";
}

// The mistake in a package's namespace, or "".
std::string check_namespace(const std::string& name) {
  static constexpr std::array<std::string_view, 6> taken = {"at",     "c10",    "std",
                                                            "caffe2", "oploom", "torch"};
  if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
    return "--namespace: '" + name + "' belongs to another library; choose a name of your own";
  }
  if (!is_cpp_identifier(name)) {
    return "--namespace: expected a C++ identifier such as 'mathx', got '" + name + "'";
  }
  return "";
}

// The mistake in the command line, or "".
std::string parse(const std::vector<std::string>& arguments, Options& options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    auto value = [&](std::string& into) -> std::string {
      if (i + 1 >= arguments.size()) return "'" + argument + "' needs a value";
      into = arguments[++i];
      return "";
    };
    std::string mistake;
    if (argument == "-h" || argument == "--help") {
      options.help = true;
    } else if (argument == "--tags") {
      mistake = value(options.tags);
    } else if (argument == "--helpers") {
      mistake = value(options.helpers.emplace_back());
    } else if (argument == "--schemas") {
      mistake = value(options.schemas.emplace_back());
    } else if (argument == "--derivatives") {
      mistake = value(options.derivatives.emplace_back());
    } else if (argument == "--namespace") {
      mistake = value(options.name_space);
      if (mistake.empty()) mistake = check_namespace(options.name_space);
    } else if (argument == "--python-module") {
      mistake = value(options.python_module);
      if (mistake.empty() && !is_cpp_identifier(options.python_module)) {
        mistake =
            "--python-module: expected a name such as 'mathx', got '" + options.python_module + "'";
      }
    } else if (argument == "--oploom") {
      mistake = value(options.oploom);
    } else if (argument == "--expect") {
      mistake = value(options.expect);
    } else if (argument == "--out") {
      mistake = value(options.out);
    } else if (argument == "-o") {
      mistake = value(options.output_file);
    } else if (argument == "--syntax") {
      options.syntax = true;
    } else if (argument == "--json") {
      options.json = true;
    } else if (argument == "--check") {
      options.check = true;
    } else if (argument.size() > 1 && argument[0] == '-') {
      mistake =
          "unknown option '" + argument + "'" + did_you_mean(c10::closest_name(argument, kOptions));
    } else if (options.command.empty()) {
      options.command = argument;
    } else {
      options.files.push_back(argument);
    }
    if (!mistake.empty()) return mistake;
  }
  if (options.help) return "";
  if (options.command.empty()) return "a command is needed: check, model or generate";
  if (std::find(kCommands.begin(), kCommands.end(), options.command) == kCommands.end()) {
    return "unknown command '" + options.command + "'" +
           did_you_mean(c10::closest_name(options.command, kCommands));
  }
  if (options.files.size() > 2) return "at most two files: native_functions.yaml derivatives.yaml";
  if (options.files.empty() && options.schemas.empty() && options.derivatives.empty()) {
    options.files = {"native_functions.yaml", "derivatives.yaml"};
  }
  if (!options.files.empty()) options.schemas.insert(options.schemas.begin(), options.files[0]);
  if (options.files.size() > 1) {
    options.derivatives.insert(options.derivatives.begin(), options.files[1]);
  }
  if (options.schemas.empty()) return "a file with operators is needed beside the derivatives";
  return "";
}

// Where oploom itself is: an installation, or a source tree.
struct Oploom {
  std::filesystem::path data;     // native_functions.yaml, tags.yaml, codegen/
  std::filesystem::path headers;  // aten/, c10/
};

// What `--oploom` names, or what this program is installed in; nothing where neither is there.
std::optional<Oploom> find_oploom(const Options& options) {
  std::error_code ignored;
  const std::filesystem::path root =
      !options.oploom.empty()
          ? std::filesystem::path(options.oploom)
          : std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  if (std::filesystem::exists(root / "native_functions.yaml")) return Oploom{root, root};
  const Oploom installed{root / "share/oploom", root / "include/oploom"};
  if (std::filesystem::exists(installed.data / "native_functions.yaml")) return installed;
  return std::nullopt;
}

class Session {
 public:
  Session(const Options& options, std::ostream& out, std::ostream& err)
      : options_(options), out_(out), err_(err) {}

  int run() {
    if (const int code = load(); code != kOk) return code;
    run_passes(model_, {.syntax_only = options_.syntax}, diagnostics_);
    return report();
  }

  const Model& model() const { return model_; }

 private:
  bool is_package() const { return options_.name_space != kTreeNamespace; }

  int load() {
    model_.name_space = options_.name_space;
    model_.python_module = !options_.python_module.empty() ? options_.python_module
                           : is_package()                  ? options_.name_space
                                                           : "oploom";
    std::vector<const SourceFile*> schemas, derivatives;
    for (const auto& path : options_.schemas) {
      if (!schemas.emplace_back(read(path))) return kFailure;
    }
    for (const auto& path : options_.derivatives) {
      if (!derivatives.emplace_back(read(path))) return kFailure;
    }
    if (is_package()) {
      oploom_ = find_oploom(options_);
      if (!oploom_ && !options_.syntax) {
        err_ << "oploom: cannot find oploom's own operators, which a package's formulas may use: "
                "name the prefix that oploom is installed in, or its source tree, with --oploom\n";
        return kFailure;
      }
    }
    std::string tags_path = options_.tags;
    if (tags_path.empty()) {
      const auto beside = std::filesystem::path(options_.schemas[0]).replace_filename("tags.yaml");
      if (std::filesystem::exists(beside)) {
        tags_path = beside.string();
      } else if (oploom_) {
        tags_path = (oploom_->data / "tags.yaml").string();
      }
    }
    if (!tags_path.empty()) {
      const SourceFile* tags = read(tags_path);
      if (!tags) return kFailure;
      load_tags(*tags, model_, diagnostics_);
    }
    if (const int code = load_helper_headers(); code != kOk) return code;
    if (is_package() && !options_.syntax) {
      const SourceFile* core = read((oploom_->data / "native_functions.yaml").string());
      if (!core) return kFailure;
      load_core_operators(*core, model_, diagnostics_);
    }
    for (const SourceFile* file : schemas) load_native_functions(*file, model_, diagnostics_);
    for (const SourceFile* file : derivatives) load_derivatives(*file, model_, diagnostics_);
    return kOk;
  }

  int load_helper_headers() {
    if (options_.syntax) return kOk;
    for (const auto& path : options_.helpers) {
      const SourceFile* header = read(path);
      if (!header) return kFailure;
      load_helpers(*header, model_);
    }
    if (is_package()) {
      model_.helper_headers = options_.helpers;
    } else if (!options_.helpers.empty()) {
      return kOk;
    }
    const auto root =
        oploom_ ? oploom_->headers : std::filesystem::path(options_.schemas[0]).parent_path();
    if (!std::filesystem::exists(root / kDefaultHelpers[0])) return kOk;
    for (const char* path : kDefaultHelpers) {
      if (const SourceFile* header = sources_.read((root / path).string())) {
        load_helpers(*header, model_);
      }
    }
    return kOk;
  }

  const SourceFile* read(const std::string& path) {
    const SourceFile* file = std::filesystem::is_directory(path) ? nullptr : sources_.read(path);
    if (!file) err_ << "oploom: cannot read '" << path << "'\n";
    return file;
  }

  int report() {
    if (options_.json && options_.command == "check") {
      out_ << diagnostics_.render_json();
    } else {
      err_ << diagnostics_.render();
      const std::size_t errors = diagnostics_.num_errors();
      if (errors > 0) err_ << errors << (errors == 1 ? " error\n" : " errors\n");
    }
    return diagnostics_.ok() ? kOk : kMistakes;
  }

  const Options& options_;
  std::ostream& out_;
  std::ostream& err_;
  SourceFiles sources_;
  Diagnostics diagnostics_;
  Model model_;
  std::optional<Oploom> oploom_;
};

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  return static_cast<bool>(stream);
}

// Runs the Python back end on the model and waits; its messages go where ours go.
int run_backend(const Options& options, const std::string& model, std::ostream& err) {
  std::string path = (std::filesystem::temp_directory_path() / "oploom-model-XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0 || !write_file(path, model)) {
    err << "oploom: cannot write the model to '" << path << "'\n";
    return kFailure;
  }
  close(file);
  const char* python = std::getenv("OPLOOM_PYTHON");
  std::vector<std::string> words = {python && *python ? python : "python3",
                                    "-m",
                                    "codegen.backend",
                                    "--model",
                                    path,
                                    "--out",
                                    options.out};
  if (!options.expect.empty()) words.insert(words.end(), {"--expect", options.expect});
  if (options.check) words.emplace_back("--check");
  // An installed program brings its back end; in a source tree it lies in the working directory.
  std::string modules;
  if (const auto oploom = find_oploom(options)) modules = oploom->data.string();
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  err.flush();
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    if (!modules.empty()) {
      const char* others = std::getenv("PYTHONPATH");
      setenv("PYTHONPATH", (others && *others ? modules + ":" + others : modules).c_str(), 1);
      setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    }
    execvp(argv[0], argv.data());
    _exit(127);
  }
  const bool waited = child > 0 && waitpid(child, &status, 0) == child;
  std::filesystem::remove(path);
  if (!waited || !WIFEXITED(status) || WEXITSTATUS(status) == 127) {
    err << "oploom: cannot run '" << words[0] << "'\n";
    return kFailure;
  }
  const int code = WEXITSTATUS(status);
  if (code == 0) return kOk;
  return options.check && code == 1 ? kMistakes : kFailure;
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, std::ostream& out,
                     std::ostream& err) {
  Options options;
  const std::string mistake = parse(arguments, options);
  if (!mistake.empty()) {
    err << "oploom: " << mistake << "\ntry 'oploom --help'\n";
    return kUsage;
  }
  if (options.help) {
    out << kHelp;
    return kOk;
  }
  Session session(options, out, err);
  if (const int code = session.run(); code != kOk) return code;
  if (options.command == "check") return kOk;
  const std::string model = model_to_json(session.model());
  if (options.command == "generate") return run_backend(options, model, err);
  if (options.output_file.empty()) {
    out << model;
  } else if (!write_file(options.output_file, model)) {
    err << "oploom: cannot write '" << options.output_file << "'\n";
    return kFailure;
  }
  return kOk;
}

}  // namespace oploom::frontend
