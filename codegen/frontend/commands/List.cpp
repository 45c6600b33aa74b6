// `oploom list`: a table of the operators.
#include <c10/util/Suggest.h>
#include <codegen/frontend/commands/Command.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace oploom::frontend {

namespace {

using Row = std::vector<std::string>;

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string forms(const Model& model, const Operator& op) {
  std::vector<std::string> list = op.variants;
  for (const char* kind : {"inplace", "out"}) {
    for (const auto& other : model.operators) {
      if (other->functional != &op || to_string(other->kind) != kind) continue;
      list.emplace_back(kind);
      break;
    }
  }
  return join(list);
}

std::string devices(const Operator& op) {
  if (op.dispatch.empty()) return op.composite.empty() ? "-" : "all";
  std::vector<std::string> list;
  for (const auto& entry : op.dispatch) list.push_back(entry.key);
  if (op.role != StructuredRole::none) list.emplace_back("Meta");
  if (!op.composite.empty()) list.emplace_back("others");
  return join(list);
}

std::string differentiability(const Operator& op) {
  if (op.derivative) return op.derivative->inputs.empty() ? "no" : "formula";
  return op.composite == "implicit" ? "composite" : "-";
}

std::string word_or_list(const YamlNode* node) {
  if (!node) return "";
  if (node->is_scalar()) return node->value;
  std::vector<std::string> list;
  for (const auto& item : node->items) list.push_back(item.value);
  return join(list);
}

bool is_tested(const Operator& op) { return op.test || op.expr; }

std::string tests(const Operator& op) {
  if (!op.test) return op.expr ? "of the expression" : "none";
  if (op.test->find("none")) return "by others";
  auto count = [&](const char* key) {
    const YamlNode* list = op.test->find(key);
    return list ? list->items.size() : 0;
  };
  const std::size_t samples = count("samples"), errors = count("errors");
  std::string text = std::to_string(samples) + (samples == 1 ? " sample" : " samples");
  if (samples == 0) text = "default samples";
  if (errors > 0) text += ", " + std::to_string(errors) + (errors == 1 ? " error" : " errors");
  return text;
}

void print(const std::vector<Row>& rows, std::ostream& out) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - row[i].size() + 2, ' ');
    }
    out << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
  }
}

int run(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  Session session(arguments, 0, err);
  if (const int code = session.load(); code != kOk) return code;
  if (const int code = session.report(); code != kOk) return code;
  const std::string family = arguments.get("--family");
  std::set<std::string> families;
  for (const auto& op : session.model().operators) families.insert(op->family.text);
  if (!family.empty() && !families.contains(family)) {
    err << "oploom: there is no family '" << family << "'"
        << did_you_mean(c10::closest_name(family, families)) << "\n";
    return kUsage;
  }
  std::vector<Row> rows = {
      {"operator", "family", "forms", "devices", "dtypes tested", "derivative", "tests"}};
  std::size_t formula = 0, composite = 0, no = 0, untested = 0;
  std::vector<const Operator*> listed;
  for (const auto& op : session.model().operators) {
    const bool functional = op->kind == SchemaKind::functional || op->functional == nullptr;
    if (!functional || op->autogen_from || op->internal) continue;
    if (!family.empty() && op->family.text != family) continue;
    if (arguments.has("--untested") && is_tested(*op)) continue;
    listed.push_back(op.get());
  }
  std::sort(listed.begin(), listed.end(),
            [](const Operator* a, const Operator* b) { return a->name() < b->name(); });
  for (const Operator* op : listed) {
    const std::string derivative = differentiability(*op);
    formula += derivative == "formula";
    composite += derivative == "composite";
    no += derivative == "no";
    untested += !is_tested(*op);
    std::string dtypes = op->test ? word_or_list(op->test->find("dtypes")) : "";
    rows.push_back({op->name(), op->family.text, forms(session.model(), *op), devices(*op),
                    dtypes.empty() ? "-" : dtypes, derivative, tests(*op)});
  }
  print(rows, out);
  out << "\n"
      << listed.size() << (listed.size() == 1 ? " operator: " : " operators: ") << formula
      << " with derivatives, " << composite << " differentiable through what they call, " << no
      << " not differentiable by nature, " << listed.size() - formula - composite - no
      << " without a derivative; " << untested << " without a test record\n";
  return kOk;
}

}  // namespace

const Command kListCommand = {
    .name = "list",
    .operands = "[native_functions.yaml [derivatives.yaml]]",
    .summary = "print a table of the operators",
    .text =
        "One line for each operator: its forms, the devices with a kernel ('all' for composite "
        "ones), the dtypes that its tests use, how it is differentiated ('formula' in "
        "derivatives.yaml, 'composite' through the operators it calls, 'no' by nature, '-' when "
        "nobody has said), and its test record ('by others' when the record says so, 'of the "
        "expression' when there is none, and NumPy's value of the expression is the reference).",
    .options = {{"--family", "NAME", "only the operators of one family"},
                {"--untested", "",
                 "only operators that have neither a test record nor an expression"}},
    .own_operands = 0,
    .run = run,
};

}  // namespace oploom::frontend
