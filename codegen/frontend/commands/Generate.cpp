// `oploom generate`, and the back end that it runs.
#include <codegen/frontend/ModelJson.h>
#include <codegen/frontend/commands/Command.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>

namespace oploom::frontend {

// The back end's messages go where ours go.
int run_backend(const Model& model, std::vector<std::string> words, const Arguments& arguments,
                std::ostream& err) {
  std::string path = (std::filesystem::temp_directory_path() / "oploom-model-XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0 || !write_file(path, model_to_json(model))) {
    err << "oploom: cannot write the model to '" << path << "'\n";
    return kFailure;
  }
  close(file);
  const char* python = std::getenv("OPLOOM_PYTHON");
  words.insert(words.begin(), {python && *python ? python : "python3", "-m"});
  words.insert(words.end(), {"--model", path});
  // An installed program brings its back end; in a source tree it lies in the working directory.
  std::string modules;
  if (const auto oploom = find_oploom(arguments)) modules = oploom->data.string();
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
  return arguments.has("--check") && code == 1 ? kMistakes : kFailure;
}

namespace {

int run(const Arguments& arguments, std::ostream&, std::ostream& err) {
  Session session(arguments, 0, err);
  if (const int code = session.load(); code != kOk) return code;
  if (const int code = session.report(); code != kOk) return code;
  std::vector<std::string> words = {"codegen.backend", "--out",
                                    arguments.get("--out", "generated")};
  if (arguments.has("--expect")) words.insert(words.end(), {"--expect", arguments.get("--expect")});
  if (arguments.has("--check")) words.emplace_back("--check");
  return run_backend(session.model(), std::move(words), arguments, err);
}

}  // namespace

const Command kGenerateCommand = {
    .name = "generate",
    .operands = "[native_functions.yaml [derivatives.yaml]]",
    .summary = "write the generated code",
    .text =
        "Runs `python3 -m codegen.backend` on the model; the environment variable OPLOOM_PYTHON "
        "names another Python.",
    .options = {{"--out", "DIR", "where the code goes (default: generated)"},
                {"--expect", "FILE",
                 "the files that the build counts on, one a line; any other set is a mistake"},
                {"--check", "", "write nothing, and fail when a file is not up to date"}},
    .own_operands = 0,
    .run = run,
};

}  // namespace oploom::frontend
