// `oploom check`.
#include <codegen/frontend/commands/Command.h>

#include <ostream>

namespace oploom::frontend {

namespace {

int run(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  Session session(arguments, 0, err);
  if (const int code = session.load(); code != kOk) return code;
  if (!arguments.has("--json")) return session.report();
  out << session.diagnostics().render_json();
  return session.diagnostics().ok() ? kOk : kMistakes;
}

}  // namespace

const Command kCheckCommand = {
    .name = "check",
    .operands = "[native_functions.yaml [derivatives.yaml]]",
    .summary = "read the files and report every mistake",
    .text =
        "Mistakes go to standard error, all at once, each with its place, the line, and what was "
        "probably meant. Nothing is printed when there are none.",
    .options = {{"--syntax", "",
                 "only what can be told from the files themselves; for operator files of another "
                 "tree, such as PyTorch's"},
                {"--json", "", "print the diagnostics as JSON on standard output"}},
    .own_operands = 0,
    .run = run,
};

}  // namespace oploom::frontend
