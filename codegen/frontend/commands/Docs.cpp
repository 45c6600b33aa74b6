// `oploom docs`.
#include <codegen/frontend/commands/Command.h>

#include <ostream>

namespace oploom::frontend {

namespace {

int run(const Arguments& arguments, std::ostream&, std::ostream& err) {
  Session session(arguments, 0, err);
  if (const int code = session.load(); code != kOk) return code;
  if (const int code = session.report(); code != kOk) return code;
  std::vector<std::string> words = {"codegen.backend.docs", "--out",
                                    arguments.get("--out", "build/docs"), "--sources"};
  const auto paths = session.paths();
  words.insert(words.end(), paths.begin(), paths.end());
  return run_backend(session.model(), std::move(words), arguments, err);
}

}  // namespace

const Command kDocsCommand = {
    .name = "docs",
    .operands = "[native_functions.yaml [derivatives.yaml]]",
    .summary = "write the operator reference as HTML",
    .text =
        "Runs `python3 -m codegen.backend.docs` on the model; the environment variable "
        "OPLOOM_PYTHON names another Python. The pages need no server and fetch nothing.",
    .options = {{"--out", "DIR", "the folder to fill (default: build/docs)"}},
    .own_operands = 0,
    .run = run,
};

}  // namespace oploom::frontend
