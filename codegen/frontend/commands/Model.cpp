// `oploom model`.
#include <codegen/frontend/ModelJson.h>
#include <codegen/frontend/commands/Command.h>

#include <ostream>

namespace oploom::frontend {

namespace {

int run(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  Session session(arguments, 0, err);
  if (const int code = session.load(); code != kOk) return code;
  if (const int code = session.report(); code != kOk) return code;
  const std::string model = model_to_json(session.model());
  const std::string path = arguments.get("-o");
  if (path.empty()) {
    out << model;
  } else if (!write_file(path, model)) {
    err << "oploom: cannot write '" << path << "'\n";
    return kFailure;
  }
  return kOk;
}

}  // namespace

const Command kModelCommand = {
    .name = "model",
    .operands = "[native_functions.yaml [derivatives.yaml]]",
    .summary = "print the model of the operators as JSON",
    .text =
        "The document is described in codegen/frontend/MODEL.md. There is none when the files "
        "have mistakes.",
    .options = {{"-o", "FILE", "write to a file instead of standard output"}},
    .own_operands = 0,
    .run = run,
};

}  // namespace oploom::frontend
