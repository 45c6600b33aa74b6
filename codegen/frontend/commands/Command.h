// What the commands of the `oploom` program share: options, exit codes, the files read and checked.
#pragma once

#include <codegen/frontend/Diagnostics.h>
#include <codegen/frontend/Model.h>

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oploom::frontend {

// Exit codes of every command: kMistakes when the files have mistakes, which were reported, or
// generated code is not up to date; kUsage when the command line is wrong; kFailure when a file
// cannot be read or written or the back end failed.
inline constexpr int kOk = 0, kMistakes = 1, kUsage = 2, kFailure = 3;

// `--tags FILE`, `--json`: an option, the name of its value or "", and what it does.
struct OptionHelp {
  std::string_view name;
  std::string_view value;
  std::string_view text;
};

// What the user wrote after the command's name.
struct Arguments {
  std::vector<std::string> words;  // operands: names, files
  std::map<std::string, std::vector<std::string>, std::less<>> options;

  bool has(std::string_view option) const { return options.contains(option); }
  std::string get(std::string_view option, std::string otherwise = "") const;
  std::vector<std::string> all(std::string_view option) const;
};

struct Command {
  std::string_view name;
  std::string_view operands;  // in the usage line, "OP [FILES]"
  std::string_view summary;   // one line
  std::string_view text;      // paragraphs for its --help
  std::vector<OptionHelp> options;
  std::size_t own_operands;  // operands before the files; they are required
  int (*run)(const Arguments&, std::ostream& out, std::ostream& err);
};

extern const Command kCheckCommand, kModelCommand, kGenerateCommand, kDocsCommand, kExplainCommand,
    kListCommand, kNewCommand;

// Options that say what to read; every command has them.
const std::vector<OptionHelp>& file_options();

// Where oploom itself is: an installation, or a source tree.
struct OploomFiles {
  std::filesystem::path data;     // native_functions.yaml, tags.yaml, codegen/
  std::filesystem::path headers;  // aten/, c10/
};
// What `--oploom` names, or what this program is installed in; nothing where neither is there.
std::optional<OploomFiles> find_oploom(const Arguments& arguments);

// Reads native_functions.yaml, derivatives.yaml and what belongs to them, and runs the passes. With
// `--namespace` they are those of a package outside the tree.
class Session {
 public:
  Session(const Arguments& arguments, std::size_t own_operands, std::ostream& err);

  // kOk once the files were read, with or without mistakes; else kUsage or kFailure.
  int load();
  // Prints the diagnostics for people; kMistakes when there is an error among them.
  int report();

  // The first file of each kind; derivatives may be missing ("").
  const std::string& operators_path() const { return schemas_.front(); }
  std::string derivatives_path() const { return derivatives_.empty() ? "" : derivatives_.front(); }
  // All files, operators first.
  std::vector<std::string> paths() const;
  const Model& model() const { return model_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  int read_package();
  int load_tags_file();
  int load_helper_headers();
  bool is_package() const { return arguments_.has("--namespace"); }
  const SourceFile* read(const std::string& path);

  const Arguments& arguments_;
  std::ostream& err_;
  std::vector<std::string> schemas_, derivatives_;
  std::optional<OploomFiles> oploom_;
  SourceFiles sources_;
  Diagnostics diagnostics_;
  Model model_;
};

bool write_file(const std::string& path, const std::string& text);
// The whole file; null when it cannot be read.
std::optional<std::string> read_file(const std::string& path);

// The folder of generated code: --out, else `generated` beside the operators.
std::string generated_folder(const Arguments& arguments, const Session& session);

// Runs a Python module with its arguments, `words`, on the model: an exit code.
int run_backend(const Model& model, std::vector<std::string> words, const Arguments& arguments,
                std::ostream& err);

std::string did_you_mean(const std::string& suggestion);

}  // namespace oploom::frontend
