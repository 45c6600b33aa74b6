// `oploom new`: the places of a new operator, filled with what follows from its schema.
#include <c10/core/SchemaParser.h>
#include <c10/util/Suggest.h>
#include <codegen/frontend/commands/Command.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <sstream>

namespace oploom::frontend {

namespace {

// A file that is edited: what it held goes back when the operator turns out to be no good.
struct Edit {
  std::string path;
  std::optional<std::string> before;  // null for a new file
  std::string after;
  std::size_t line = 1;  // where the new text begins
  std::string what;
};

std::size_t line_of(const std::string& text, std::size_t offset) {
  return 1 + static_cast<std::size_t>(std::count(
                 text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

// A value that makes a first sample.
std::string sample_value(const SchemaType& type) {
  using B = SchemaBaseType;
  if (type.base == B::Tensor) return type.list ? "[[3, 4], [3, 4]]" : "[3, 4]";
  std::string value = "1";
  if (type.base == B::Bool) value = "true";
  if (type.base == B::Float) value = "0.5";
  if (type.base == B::Str) value = "TODO";
  if (type.base == B::ScalarType) value = "float32";
  return type.list ? "[" + value + "]" : value;
}

class Scaffold {
 public:
  Scaffold(const Arguments& arguments, std::ostream& out, std::ostream& err)
      : arguments_(arguments), out_(out), err_(err) {}

  int run() {
    Session session(arguments_, 1, err_);
    if (const int code = session.load(); code != kOk) return code;
    if (const int code = session.report(); code != kOk) return code;
    if (const int code = read_schema(session.model()); code != kOk) return code;
    root_ = std::filesystem::path(session.operators_path()).parent_path();
    family_ = arguments_.get("--family");
    if (family_.empty()) {
      err_ << "oploom: --family is needed: the file in aten/native that holds the operator\n";
      return kUsage;
    }
    if (!add_entry(session)) return kFailure;
    if (kernel_ && !add_derivative(session)) return kFailure;
    if (const int code = write_edits(); code != kOk) return code;
    // The C++ of the signature is what the back end makes of the schema.
    Session changed(arguments_, 1, err_);
    int code = changed.load();
    if (code == kOk) code = changed.report();
    if (code == kOk) {
      const std::string generated = generated_folder(arguments_, changed);
      code =
          run_backend(changed.model(), {"codegen.backend", "--out", generated}, arguments_, err_);
      if (code == kOk && !add_body(generated)) code = kFailure;
    }
    if (code == kOk) code = write_edits();
    if (code != kOk) {
      undo();
      return code;
    }
    tell();
    return kOk;
  }

 private:
  int read_schema(const Model& model) {
    const std::string& name = arguments_.words[0];
    std::vector<c10::SchemaError> errors;
    const std::string text = arguments_.get("--schema", name + "(Tensor self) -> Tensor");
    const auto schema = c10::try_parse_schema(text, errors);
    if (!schema) {
      for (const auto& error : errors) {
        err_ << "oploom: the schema: " << c10::render_schema_error(text, error) << "\n";
      }
      return kUsage;
    }
    schema_ = *schema;
    kernel_ = arguments_.has("--kernel");
    std::string mistake;
    const bool takes_tensor =
        std::any_of(schema_.arguments.begin(), schema_.arguments.end(),
                    [](const SchemaArgument& argument) { return argument.type.is_plain_tensor(); });
    const bool returns_tensors = std::all_of(
        schema_.returns.begin(), schema_.returns.end(),
        [](const SchemaReturn& value) { return value.type.is_plain_tensor() && !value.alias; });
    if (schema_.full_name() != name) {
      mistake = "the schema is of '" + schema_.full_name() + "', not of '" + name + "'";
    } else if (schema_.kind() != SchemaKind::functional) {
      mistake = "give the functional form; 'autogen' in its entry makes the others";
    } else if (schema_.returns.empty()) {
      mistake = "an operator that writes to nothing returns something";
    } else if (kernel_ && !(takes_tensor && returns_tensors)) {
      mistake = "--kernel is for operators of tensors whose results are new tensors";
    } else if (const Operator* known = model.find(name)) {
      mistake = "'" + name + "' exists: " + known->where.file->path + ":" +
                std::to_string(known->where.line());
    }
    if (mistake.empty()) return kOk;
    err_ << "oploom: " << mistake << "\n";
    return kUsage;
  }

  std::string entry() const {
    const std::string& name = schema_.name;
    const std::string suffix = schema_.overload_name.empty() ? "" : "." + schema_.overload_name;
    const auto* self = schema_.find_argument("self");
    std::string text = "- func: " + to_string(schema_) + "\n  family: " + family_ + "\n";
    if (self) text += "  variants: function, method\n";
    if (kernel_) {
      const bool inplace = self == &schema_.arguments[0] && self->type.is_plain_tensor() &&
                           schema_.returns.size() == 1;
      const std::string out = suffix.empty() ? ".out" : suffix + "_out";
      text += "  structured: True\n  autogen: " + (inplace ? name + "_" + suffix + ", " : "") +
              name + out + "\n  dispatch:\n    CPU: " + schema_.identifier() + "_out\n";
    }
    text += "  doc: |\n    TODO: what ``" + name + "`` returns.\n";
    text += "  test:\n    numpy: TODO\n    dtypes: floating\n    samples:\n      - {";
    std::string sample;
    for (const auto& argument : schema_.arguments) {
      if (argument.default_value || argument.type.optional) continue;
      sample += (sample.empty() ? "" : ", ") + argument.name + ": " + sample_value(argument.type);
    }
    return text + sample + "}\n";
  }

  // After the last entry of the family, or at the end under a heading of its own. `last` is the
  // place of that entry, or null.
  bool add_yaml(const std::string& path, const Location* last, const std::string& text,
                const std::string& what) {
    const auto before = read_file(path);
    if (!before) {
      err_ << "oploom: cannot read '" << path << "'\n";
      return false;
    }
    std::size_t at = before->size();
    std::string added = "\n# ---- " + family_ + " ----\n\n" + text;
    if (last) {
      at = before->find('\n', last->offset);
      // The entry ends before the next thing at the margin.
      while (at != std::string::npos && at + 1 < before->size()) {
        const char next = (*before)[at + 1];
        if (next == '-' || next == '#') break;
        at = before->find('\n', at + 1);
      }
      at = at == std::string::npos ? before->size() : at + 1;
      added = "\n" + text;
    }
    while (at > 1 && (*before)[at - 1] == '\n' && (*before)[at - 2] == '\n') --at;
    std::string after = before->substr(0, at);
    if (!after.empty() && after.back() != '\n') after += "\n";
    const std::size_t line = line_of(after, after.size()) + (last ? 1 : 3);
    after += added + before->substr(at);
    edits_.push_back({path, before, std::move(after), line, what});
    return true;
  }

  bool add_entry(const Session& session) {
    const Operator* last = nullptr;
    for (const auto& op : session.model().operators) {
      if (!op->autogen_from && op->family.text == family_) last = op.get();
    }
    return add_yaml(session.operators_path(), last ? &last->schema_where : nullptr, entry(),
                    "the schema, documentation and test record");
  }

  bool add_derivative(const Session& session) {
    if (session.derivatives_path().empty()) return true;
    const DerivativeEntry* last = nullptr;
    for (const auto& entry : session.model().derivatives) {
      const Operator* op = session.model().find(entry->schema.full_name());
      if (op && op->family.text == family_) last = entry.get();
    }
    std::string text = "- name: " + to_string(schema_) + "\n";
    for (const auto& argument : schema_.arguments) {
      if (!argument.type.is_plain_tensor()) continue;
      text += "  " + argument.name + ": zeros_like(" + argument.name + ")  # TODO: its gradient\n";
    }
    return add_yaml(session.derivatives_path(), last ? &last->where : nullptr, text,
                    "the gradients");
  }

  // The text between `head` and `tail` in the generated declarations, defaults left out.
  static std::string between(const std::string& text, const std::string& head,
                             const std::string& tail) {
    const std::size_t begin = text.find(head);
    if (begin == std::string::npos) return "";
    const std::size_t end = text.find(tail, begin);
    const std::string inside = text.substr(begin + head.size(), end - begin - head.size());
    std::string out;
    int open = 0;
    bool skips = false;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const char c = inside[i];
      if (c == '(' || c == '<' || c == '{') ++open;
      if (c == ')' || c == '>' || c == '}') --open;
      if (open == 0 && c == ',') skips = false;
      if (open == 0 && inside.compare(i, 3, " = ") == 0) skips = true;
      if (skips) continue;
      const bool space = c == ' ' || c == '\n';
      if (space && (out.empty() || out.back() == ' ')) continue;
      out += space ? ' ' : c;
    }
    return out;
  }

  // `head(a, b) {`, a line for each parameter that does not fit.
  static std::string function_head(const std::string& head, const std::string& parameters) {
    const std::string indent(head.size() + 1, ' ');
    std::string text = head + "(";
    std::size_t width = text.size();
    std::size_t start = 0;
    while (start < parameters.size()) {
      std::size_t end = start;
      int open = 0;
      while (end < parameters.size() && (open > 0 || parameters[end] != ',')) {
        if (parameters[end] == '<') ++open;
        if (parameters[end] == '>') --open;
        ++end;
      }
      std::string word = parameters.substr(start, end - start);
      start = end + 2;
      const bool first = text.ends_with("(");
      if (!first && width + word.size() + 5 > 100) {
        text += ",\n" + indent;
        width = indent.size();
      } else if (!first) {
        text += ", ";
        width += 2;
      }
      text += word;
      width += word.size();
    }
    return text + ") {\n";
  }

  std::string body(const std::string& header) const {
    const std::string name = schema_.name;
    const std::string fails = "  OPLOOM_CHECK(false, \"" + name + "(): is not written yet\");\n";
    if (!kernel_) {
      // The declaration, and not the schema in the comment above it.
      std::size_t at = header.find("oploom_v1::native {"), line = at;
      do {
        at = header.find(" " + name + "(", at + 1);
        line = header.rfind('\n', at) + 1;
      } while (at != std::string::npos && header.compare(line, 2, "//") == 0);
      if (at == std::string::npos) return "";
      const std::string type = header.substr(line, at - line);
      return "namespace at::inline oploom_v1::native {\n\n"
             "// TODO: compute the result with other operators, which give it its gradient.\n" +
             function_head(type + " " + name,
                           between(header, "\n" + type + " " + name + "(", ");")) +
             fails + "  return {};\n}\n\n}  // namespace at::inline oploom_v1::native\n";
    }
    const std::string meta =
        schema_.overload_name.empty() ? name : name + ", " + schema_.overload_name;
    std::string first;
    for (const auto& argument : schema_.arguments) {
      if (first.empty() && argument.type.is_plain_tensor()) first = argument.name;
    }
    std::string outputs;
    for (std::size_t i = 0; i < schema_.returns.size(); ++i) {
      outputs += "  set_output_contiguous(" + std::to_string(i) + ", " + first + ".sizes(), " +
                 first + ".options());\n";
    }
    return "namespace at::inline oploom_v1::meta {\n\n"
           "// TODO: check the arguments, and declare the shape and dtype of each result.\n" +
           function_head("OPLOOM_META_FUNC(" + meta + ")", between(header, "void meta(", ");")) +
           outputs + "}\n\n}  // namespace at::inline oploom_v1::meta\n\n" +
           "namespace at::inline oploom_v1::native {\n\n"
           "// TODO: fill the results. Their strides are the ones declared above.\n" +
           function_head("OPLOOM_IMPL_FUNC(" + schema_.identifier() + "_out)",
                         between(header, "void impl(", ");")) +
           fails + "}\n\n}  // namespace at::inline oploom_v1::native\n";
  }

  bool add_body(const std::string& generated) {
    edits_written_ = edits_.size();
    const auto header = read_file(generated + "/native/" + schema_.root() + ".h");
    const std::string path = (root_ / "aten/native" / (family_ + ".cpp")).string();
    if (!header) {
      err_ << "oploom: the back end made no " << generated << "/native/" << schema_.root()
           << ".h\n";
      return false;
    }
    const std::string include = "#include <generated/native/" + schema_.root() + ".h>\n";
    const auto before = read_file(path);
    std::string text = before ? *before
                              : "// " + schema_.name + ".\n#include <c10/util/Exception.h>\n" +
                                    include + "#include <generated/ops/TensorOperators.h>\n";
    if (text.find(include) == std::string::npos) insert_sorted(text, "#include <", include);
    if (text.find("OPLOOM_CHECK") == std::string::npos &&
        text.find("#include <c10/util/Exception.h>\n") == std::string::npos) {
      insert_sorted(text, "#include <", "#include <c10/util/Exception.h>\n");
    }
    const std::string ending = "\n#include <generated/native/signatures/" + family_ + ".h>\n";
    std::size_t at = text.find(ending);
    if (at == std::string::npos) {
      at = text.size();
      text += ending;
    }
    const std::string added = "\n" + body(*header);
    text.insert(at, added);
    edits_.push_back({path, before, text, line_of(text, at) + 1, "what it computes"});
    return before || add_source();
  }

  // Puts a line among the lines that begin alike and are sorted.
  static void insert_sorted(std::string& text, const std::string& prefix, const std::string& line) {
    std::size_t place = std::string::npos;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      if (end == 0) break;
      const std::string present = text.substr(at, end - at);
      if (present.starts_with(prefix)) {
        if (place == std::string::npos) place = at;
        if (present < line) place = end;
      } else if (place != std::string::npos) {
        break;
      }
      at = end;
    }
    text.insert(place == std::string::npos ? 0 : place, line);
  }

  // A new family is a new source of the room.
  bool add_source() {
    const std::string path = (root_ / "aten/native/CMakeLists.txt").string();
    const auto before = read_file(path);
    const std::size_t list = before ? before->find("SOURCES\n") : std::string::npos;
    if (list == std::string::npos) {
      err_ << "oploom: '" << path << "' has no list of SOURCES to add " << family_ << ".cpp to\n";
      return false;
    }
    const std::string line = "    " + family_ + ".cpp\n";
    std::string rest = before->substr(list + 8);
    insert_sorted(rest, "    ", line);
    const std::string after = before->substr(0, list + 8) + rest;
    edits_.push_back({path, before, after, line_of(after, after.find(line)), "the new source"});
    return true;
  }

  int write_edits() {
    for (std::size_t i = edits_written_; i < edits_.size(); ++i) {
      if (write_file(edits_[i].path, edits_[i].after)) continue;
      err_ << "oploom: cannot write '" << edits_[i].path << "'\n";
      return kFailure;
    }
    return kOk;
  }

  void undo() {
    for (const auto& edit : edits_) {
      if (edit.before) {
        write_file(edit.path, *edit.before);
      } else {
        std::filesystem::remove(edit.path);
      }
    }
    err_ << "oploom: nothing was changed but generated code; run tools/regenerate\n";
  }

  void tell() {
    for (const auto& edit : edits_) {
      std::string place = edit.path + ":" + std::to_string(edit.line);
      place.resize(std::max<std::size_t>(place.size() + 2, 36), ' ');
      out_ << place << edit.what << "\n";
    }
    out_ << "\nFill in what says TODO. Then\n"
            "  tools/regenerate\n"
            "  cmake --build build/release\n"
            "  .venv/bin/python -m pytest generated/tests/test_"
         << family_ << ".py\n";
  }

  const Arguments& arguments_;
  std::ostream& out_;
  std::ostream& err_;
  FunctionSchema schema_;
  bool kernel_ = false;
  std::string family_;
  std::filesystem::path root_;
  std::vector<Edit> edits_;
  std::size_t edits_written_ = 0;
};

int run(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  return Scaffold(arguments, out, err).run();
}

}  // namespace

const Command kNewCommand = {
    .name = "new",
    .operands = "NAME --family FAMILY [native_functions.yaml [derivatives.yaml]]",
    .summary = "start a new operator: its entry, its body, its test record",
    .text =
        "Adds the operator's entry to native_functions.yaml and its body to "
        "aten/native/FAMILY.cpp, and generates its code. Without --kernel the body computes with "
        "other operators and needs no derivative. With it, the operator is structured: a shape "
        "function, a kernel, and an entry in derivatives.yaml. What only a person knows says "
        "TODO; the tests fail until it is filled in.",
    .options = {{"--family", "FAMILY", "the file in aten/native, new or not, without its ending"},
                {"--schema", "SCHEMA", "the schema (default: NAME(Tensor self) -> Tensor)"},
                {"--kernel", "", "the operator has a kernel and a derivative of its own"},
                {"--out", "DIR", "the generated code (default: generated, beside the operators)"}},
    .own_operands = 1,
    .run = run,
};

}  // namespace oploom::frontend
