// `oploom explain`: all that is known of one operator, and where its generated code stands.
#include <c10/util/Suggest.h>
#include <codegen/frontend/commands/Command.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>
#include <sstream>

namespace oploom::frontend {

namespace {

// A generated file, for the search of an operator's blocks. Generated code opens each block with
// the schema in a comment, broken over several lines where it is long; kernels add a colon and the
// expression.
struct GeneratedFile {
  std::string path;  // below the folder of generated code
  std::vector<std::string> lines;
};

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") + 1 - first));
}

// The text of a comment line, null for other lines.
std::optional<std::string> comment(const std::string& line) {
  const std::string text = trimmed(line);
  if (text.starts_with("// ")) return trimmed(std::string_view(text).substr(3));
  if (text.starts_with("# ")) return trimmed(std::string_view(text).substr(2));
  return std::nullopt;
}

class Generated {
 public:
  explicit Generated(const std::string& folder) {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(folder, error), end; at != end;
         at.increment(error)) {
      if (error || !at->is_regular_file()) continue;
      const auto text = read_file(at->path().string());
      if (!text) continue;
      GeneratedFile file{at->path().lexically_relative(folder).generic_string(), {}};
      std::istringstream stream(*text);
      for (std::string line; std::getline(stream, line);) file.lines.push_back(std::move(line));
      files_.push_back(std::move(file));
    }
    std::sort(files_.begin(), files_.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
  }

  bool empty() const { return files_.empty(); }
  const std::vector<GeneratedFile>& files() const { return files_; }
  const GeneratedFile* find(const std::string& path) const {
    for (const auto& file : files_) {
      if (file.path == path) return &file;
    }
    return nullptr;
  }

 private:
  std::vector<GeneratedFile> files_;
};

// The line after the comment that begins at `line` and is the schema; 0 when it is another comment.
std::size_t after_schema(const GeneratedFile& file, std::size_t line, const std::string& schema) {
  std::string text;
  for (; line < file.lines.size() && text.size() < schema.size(); ++line) {
    const auto part = comment(file.lines[line]);
    if (!part) return 0;
    text += (text.empty() ? "" : " ") + *part;
    if (text.starts_with(schema + ":")) return line + 1;
    if (!schema.starts_with(text)) return 0;
  }
  return text == schema ? line : 0;
}

std::vector<std::size_t> blocks(const GeneratedFile& file, const std::string& schema) {
  std::vector<std::size_t> found;
  for (std::size_t line = 0; line < file.lines.size(); ++line) {
    if (after_schema(file, line, schema) != 0) found.push_back(line + 1);
  }
  return found;
}

// The declarations of the C++ API, out of generated/ops/<root>.h: each `inline ... {` that follows
// the schema's second comment, up to the next comment.
std::vector<std::string> cpp_signatures(const Generated& generated, const Operator& op) {
  std::vector<std::string> list;
  const GeneratedFile* file = generated.find("ops/" + op.schema.root() + ".h");
  if (!file) return list;
  const std::string schema = to_string(op.schema);
  for (std::size_t line = 0; line < file->lines.size(); ++line) {
    std::size_t at = after_schema(*file, line, schema);
    if (at == 0) continue;
    for (; at < file->lines.size() && !comment(file->lines[at]); ++at) {
      if (!file->lines[at].starts_with("inline ")) continue;
      std::string text;
      for (; at < file->lines.size(); ++at) {
        text += (text.empty() ? "" : " ") + trimmed(file->lines[at]);
        if (text.find(" {") != std::string::npos) break;
      }
      text = text.substr(7, text.find(" {", 7) - 7);
      list.push_back(std::move(text));
    }
  }
  return list;
}

// Where people find a function of the submodule `_nn` of oploom._C, dots and all: what
// oploom/nn/functional.py defines, and what oploom/special.py passes on without the `special_`.
// Other functions are for such files to call. `name` gets the public one.
std::string public_module(const std::filesystem::path& python, const std::string& submodule,
                          std::string& name) {
  const std::string module = submodule.substr(1);
  const auto functions = read_file((python / module / "functional.py").string());
  if (functions &&
      functions->find("\ndef " + name.substr(0, name.find('(') + 1)) != std::string::npos) {
    return "oploom." + module + ".functional.";
  }
  if (name.starts_with(module + "_") && std::filesystem::exists(python / (module + ".py"))) {
    name.erase(0, module.size() + 1);
    return "oploom." + module + ".";
  }
  return "oploom._C." + submodule + ".";
}

// `def name(...)` lines of the stub, by the place where they stand. `python` is the folder of
// oploom's own Python files.
std::vector<std::string> python_signatures(const Generated& generated, const Operator& op,
                                           const std::filesystem::path& python) {
  std::vector<std::string> list;
  for (const auto& file : generated.files()) {
    if (!file.path.ends_with(".pyi")) continue;
    const std::string package = std::filesystem::path(file.path).parent_path().filename().string();
    const std::string wanted = "def " + op.schema.name + "(";
    std::string scope;
    for (const auto& line : file.lines) {
      if (line.starts_with("class ")) {
        scope = line.substr(6, line.find_first_of(":(", 6) - 6) + ".";
      } else if (!line.empty() && !std::isspace(static_cast<unsigned char>(line[0]))) {
        scope.clear();
      }
      std::string text = trimmed(line);
      if (!text.starts_with(wanted)) continue;
      if (text.ends_with(": ...")) text.resize(text.size() - 5);
      text.erase(0, 4);
      std::string place = scope.empty() ? package + "." : scope;
      if (scope.starts_with('_')) {
        place = package == "oploom" ? public_module(python, scope.substr(0, scope.size() - 1), text)
                                    : package + "." + scope.substr(1);
      }
      list.push_back(place + text);
    }
  }
  return list;
}

class Explanation {
 public:
  Explanation(const Session& session, const Generated& generated, const std::string& folder,
              std::ostream& out)
      : session_(session), generated_(generated), folder_(folder), out_(out) {
    const std::string& name_space = session.model().name_space;
    const std::string cpp = name_space == kTreeNamespace ? "at" : name_space;
    meta_ = cpp + "::meta::structured_";
    native_ = cpp + "::native::";
  }

  void explain(const Operator& op) {
    out_ << to_string(op.schema) << "\n";
    out_ << "  " << place(op.where) << ", family " << op.family.text << ", " << to_string(op.kind);
    for (const auto& variant : op.variants) out_ << ", " << variant;
    if (op.autogen_from) out_ << ", made by autogen of " << op.autogen_from->name();
    if (!op.tags.empty()) {
      out_ << ", tags";
      for (const auto& tag : op.tags) out_ << " " << tag.text;
    }
    out_ << "\n";
    if (!op.doc.empty()) {
      out_ << "\n";
      std::istringstream doc(op.doc);
      for (std::string line; std::getline(doc, line);) out_ << "  " << line << "\n";
    }
    forms(op);
    if (op.expression && !op.expression->requirements.empty()) {
      std::vector<std::string> conditions;
      for (const auto& requirement : op.expression->requirements) {
        conditions.push_back(requirement.text);
      }
      list("Requires", conditions);
    }
    list("C++", cpp_signatures(generated_, op));
    const auto tree = std::filesystem::path(session_.operators_path()).parent_path();
    list("Python", python_signatures(generated_, op, tree / "python" / "oploom"));
    dispatch(op);
    derivative(op);
    tests(op);
    files(op);
  }

 private:
  static std::string place(const Location& where) {
    return (where.file ? where.file->path : "") + ":" + std::to_string(where.line());
  }
  void nothing() {
    out_ << "  nothing in " << folder_
         << (session_.model().core ? "; --out names the folder of a build, "
                                     "<build>/<target>.oploom/include/<namespace>\n"
                                   : "; run tools/regenerate\n");
  }
  void title(const char* text) { out_ << "\n" << text << "\n"; }
  void list(const char* name, const std::vector<std::string>& lines) {
    title(name);
    for (const auto& line : lines) out_ << "  " << line << "\n";
    if (lines.empty()) nothing();
  }
  void row(const std::string& head, const std::string& text) {
    std::string padded = head;
    padded.resize(std::max<std::size_t>(head.size() + 2, 18), ' ');
    out_ << "  " << padded << text << "\n";
  }

  void forms(const Operator& op) {
    bool first = true;
    for (const auto& other : session_.model().operators) {
      if (other.get() == &op || other->group() != op.group()) continue;
      if (first) title("Other forms");
      first = false;
      out_ << "  " << to_string(other->schema) << "\n";
    }
  }

  // One line for each key of the table, as the generated dispatch fills it.
  void dispatch(const Operator& op) {
    title("Dispatch");
    if (op.role != StructuredRole::none) {
      for (const auto& [key, kernel] : op.structured_impl) {
        row(key, meta_ + op.structured_meta + ", then " + native_ + "structured_" + kernel);
      }
      row("Meta", meta_ + op.structured_meta);
      if (!op.structured_inherits.empty()) row("inherits", op.structured_inherits.text);
      for (const auto& precomputed : op.structured_base->precomputed) {
        std::string values;
        for (const auto& value : precomputed.values) {
          values += (values.empty() ? "" : ", ") + to_string(value);
        }
        row("precomputed",
            (precomputed.replaces.empty() ? "" : precomputed.replaces.text + " -> ") + values);
      }
    } else {
      for (const auto& entry : op.dispatch) row(entry.key, native_ + entry.kernel.text);
    }
    std::string composite;
    if (!op.scalar_overload_of.empty()) {
      composite = "wraps the number in a tensor and calls " + op.scalar_overload_of;
    } else if (!op.composite_kernel.empty()) {
      composite = native_ + op.composite_kernel;
    } else if (!op.composite.empty() && op.autogen_from) {
      composite = "calls " + op.autogen_from->name() + " and copies";
    }
    if (!composite.empty()) row("every backend", composite);
    if (op.composite == "implicit") {
      row("Autograd", "the same kernel: the operators that it calls have gradients");
    } else if (op.derivative && !op.derivative->inputs.empty()) {
      row("Autograd", "records " + op.derivative->node);
    } else {
      row("Autograd", "records nothing");
    }
  }

  void derivative(const Operator& op) {
    title("Derivative");
    if (!op.derivative) {
      out_ << (op.composite == "implicit"
                   ? "  through the operators that it calls\n"
                   : "  none: asking for a gradient through it is an error\n");
      return;
    }
    const Derivative& derivative = *op.derivative;
    if (derivative.inputs.empty()) {
      out_ << "  not differentiable, by nature: " << place(derivative.entry->where) << "\n";
      return;
    }
    out_ << "  " << derivative.node << ", " << place(derivative.entry->where) << "\n";
    for (const auto& formula : derivative.inputs) {
      row(names(formula), formula.text);
      proof(formula);
    }
    for (const auto& formula : derivative.forward) {
      std::string text;
      for (const auto& term : formula.terms) text += (text.empty() ? "" : " + ") + term.text;
      if (!formula.together.empty()) text = formula.together;
      row("tangent of " + names(formula), text);
      proof(formula);
    }
    if (derivative.forward.empty()) out_ << "  no forward formula\n";
    for (const auto& name : derivative.non_differentiable) row(name, "not differentiable");
    for (const auto& argument : op.schema.arguments) {
      if (derivative.lacks_formula(argument)) {
        row(argument.name, "no formula: calls refuse what requires grad here");
      }
    }
    if (derivative.saved.empty()) out_ << "  saves nothing\n";
    for (const auto& value : derivative.saved) {
      std::string text;
      switch (value.source) {
        case SavedValue::Source::input:
          text = to_string(*value.type) + " " + value.of;
          break;
        case SavedValue::Source::output:
          text = "the result " + value.of;
          break;
        case SavedValue::Source::expr:
          text = value.expr;
      }
      if (value.clone) text += ", a copy: the operator overwrites it";
      std::string used;
      for (const auto& name : value.used_by) used += (used.empty() ? "" : ", ") + name;
      row("saves " + value.name, text + ", for the gradient of " + used);
    }
  }

  void proof(const GradientFormula& formula) {
    if (formula.unproved.empty()) return;
    row("", "not proved: '" + formula.unproved + "' is more than an expression of elements");
  }

  static std::string names(const GradientFormula& formula) {
    std::string text;
    for (const auto& name : formula.names) text += (text.empty() ? "" : ", ") + name.text;
    return text;
  }

  void tests(const Operator& op) {
    const Operator& base = op.functional ? *op.functional : op;
    title("Tests");
    if (!base.test) {
      out_ << (base.expr ? "  no record: NumPy's value of the expression is the reference\n"
                         : "  no record: nothing tests it by itself\n");
      return;
    }
    for (const auto& [key, value] : base.test->entries) {
      const std::size_t count = value.items.size();
      row(key.value, value.is_scalar() ? value.value
                     : value.is_sequence()
                         ? std::to_string(count) + (count == 1 ? " item" : " items")
                         : "as written");
    }
  }

  void files(const Operator& op) {
    title("Generated");
    const std::string schema = to_string(op.schema);
    bool any = false;
    for (const auto& file : generated_.files()) {
      std::vector<std::size_t> lines = blocks(file, schema);
      const std::string table = "_ops::" + op.schema.identifier() + "::table";
      const bool stub = file.path.ends_with(".pyi");
      for (std::size_t i = 0; i < file.lines.size(); ++i) {
        const std::string& line = file.lines[i];
        const bool listed = line.find("&" + table) != std::string::npos;
        if (listed || (stub && trimmed(line).starts_with("def " + op.schema.name + "("))) {
          lines.push_back(i + 1);
        }
      }
      for (const std::size_t line : lines)
        out_ << "  " << folder_ << "/" << file.path << ":" << line << "\n";
      any = any || !lines.empty();
    }
    if (!any) nothing();
  }

  const Session& session_;
  const Generated& generated_;
  const std::string folder_;
  std::ostream& out_;
  std::string meta_, native_;  // what the C++ names of its kernels begin with
};

int run(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  Session session(arguments, 1, err);
  if (const int code = session.load(); code != kOk) return code;
  if (const int code = session.report(); code != kOk) return code;
  const std::string& wanted = arguments.words[0];
  std::vector<const Operator*> found;
  std::vector<std::string> names;
  for (const auto& op : session.model().operators) {
    names.push_back(op->name());
    if (op->name() == wanted) found = {op.get()};
    if (op->name() == wanted) break;
    if (op->schema.name == wanted && !op->autogen_from) found.push_back(op.get());
  }
  if (found.empty()) {
    err << "oploom: there is no operator '" << wanted << "'"
        << did_you_mean(c10::closest_name(wanted, names)) << "\n";
    return kUsage;
  }
  const std::string folder = generated_folder(arguments, session);
  const Generated generated(folder);
  Explanation explanation(session, generated, folder, out);
  for (const Operator* op : found) {
    if (op != found[0]) out << "\n" << std::string(100, '-') << "\n\n";
    explanation.explain(*op);
  }
  return kOk;
}

}  // namespace

const Command kExplainCommand = {
    .name = "explain",
    .operands = "OP [native_functions.yaml [derivatives.yaml]]",
    .summary = "tell all that is known of one operator",
    .text =
        "OP is a name with its overload, add.Tensor, or without, add, for all overloads that the "
        "file lists. Prints the schema, the C++ and Python signatures, what each backend calls, "
        "the derivative and what the forward saves for it, the test record, and every line of "
        "generated code that is about the operator.",
    .options = {{"--out", "DIR", "the generated code (default: generated, beside the operators)"}},
    .own_operands = 1,
    .run = run,
};

}  // namespace oploom::frontend
