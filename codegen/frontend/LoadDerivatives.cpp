// Reads derivatives.yaml.
#include <c10/util/Suggest.h>
#include <codegen/frontend/Load.h>

#include <algorithm>
#include <memory>

namespace oploom::frontend {

namespace {

class Loader {
 public:
  Loader(Model& model, Diagnostics& diagnostics) : model_(model), diagnostics_(diagnostics) {}

  void entry(const YamlNode& node) {
    if (!node.is_map()) {
      diagnostics_.error(node.where, "expected a derivative, 'name: schema' and formulas, found " +
                                         describe(node));
      return;
    }
    const YamlNode* name = node.find("name");
    if (!name) {
      diagnostics_.error(node.where,
                         "a derivative needs the key 'name' with the operator's schema");
      return;
    }
    auto schema = load_schema(*name, diagnostics_);
    if (!schema) return;
    auto entry = std::make_unique<DerivativeEntry>();
    entry->schema = std::move(*schema);
    entry->where = name->where;
    entry->node = &node;
    entry->name_node = name;
    const YamlNode* dispatch = node.find("dispatch");
    for (const auto& [key, value] : node.entries) {
      if (key.value == "name" || key.value == "dispatch") continue;
      if (node.find_key(key.value) != &key) continue;  // a duplicate, which is reported already
      if (key.value == "output_differentiability") {
        output_differentiability(*entry, value);
      } else {
        formula(*entry, key, value);
      }
    }
    if (dispatch) by_key(*entry, *dispatch);
    model_.derivatives.push_back(std::move(entry));
  }

 private:
  // `dispatch: {Default: {self: ...}, AutogradCUDA: {...}}`: the default formulas are the entry's;
  // the others are parsed, so that their mistakes are found.
  void by_key(DerivativeEntry& entry, const YamlNode& dispatch) {
    if (!dispatch.is_map()) {
      diagnostics_.error(dispatch.where,
                         "expected a map of autograd keys, found " + describe(dispatch));
      return;
    }
    for (const auto& [key, formulas] : dispatch.entries) {
      if (key.value != "Default" && !key.value.starts_with("Autograd")) {
        diagnostics_.error(key.where,
                           "expected 'Default' or an autograd key, found '" + key.value + "'");
        continue;
      }
      DerivativeEntry other;
      other.schema = entry.schema;
      for (const auto& [name, value] : formulas.entries) {
        if (formulas.find_key(name.value) != &name) continue;
        formula(key.value == "Default" ? entry : other, name, value);
      }
      if (key.value != "Default") {
        entry.refused.emplace_back(key.where, "formulas for '" + key.value +
                                                  "' alone: an operator has one derivative here, "
                                                  "whatever the backend");
      }
    }
  }

  void output_differentiability(DerivativeEntry& entry, const YamlNode& value) {
    if (!value.is_sequence()) {
      diagnostics_.error(value.where,
                         "expected a list of True and False, found " + describe(value));
      return;
    }
    std::vector<bool> flags;
    for (const auto& item : value.items) {
      if (const auto flag = as_bool(item)) {
        flags.push_back(*flag);
      } else if (item.is_scalar() && value.items.size() == 1) {
        entry.refused.emplace_back(item.where,
                                   "a differentiability that depends on a condition: here it is "
                                   "True or False");
        FormulaError error;
        if (!parse_formula(item.value, error)) {
          diagnostics_.error(item.locate(error.offset, error.length), error.message);
        }
        flags.push_back(true);
      } else {
        diagnostics_.error(item.where, "expected True or False, found " + describe(item));
      }
    }
    if (value.items.size() != entry.schema.returns.size()) {
      diagnostics_.error(value.where, "output_differentiability has " +
                                          std::to_string(value.items.size()) +
                                          (value.items.size() == 1 ? " value" : " values") +
                                          ", but '" + entry.schema.full_name() + "' returns " +
                                          std::to_string(entry.schema.returns.size()));
      return;
    }
    if (flags.size() != value.items.size()) return;
    entry.output_differentiability = std::move(flags);
  }

  static std::vector<std::string> output_names(const FunctionSchema& schema) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < schema.returns.size(); ++i) {
      if (schema.returns[i].name) names.push_back(*schema.returns[i].name);
      names.push_back(schema.returns.size() == 1 ? "result" : "result" + std::to_string(i));
    }
    return names;
  }

  // Then the entry's schema is wrong, which is reported when the two are compared.
  bool operator_takes(const std::string& name, const std::string& argument) const {
    return std::any_of(model_.operators.begin(), model_.operators.end(), [&](const auto& op) {
      return op->name() == name && op->schema.find_argument(argument);
    });
  }

  void formula(DerivativeEntry& entry, const YamlNode& key, const YamlNode& value) {
    ForwardFormula formula;
    formula.names = split_list(key, diagnostics_);
    formula.node = &value;
    if (!value.is_scalar()) {
      diagnostics_.error(key.where, "expected a formula, found " + describe(value));
      return;
    }
    formula.text = value.value;
    const auto outputs = output_names(entry.schema);
    bool forward = !formula.names.empty();
    for (const auto& name : formula.names) {
      const bool is_argument = entry.schema.find_argument(name.text) != nullptr;
      const bool is_output = std::find(outputs.begin(), outputs.end(), name.text) != outputs.end();
      if (!is_output || is_argument) forward = false;
      if (!is_argument && !is_output) {
        if (operator_takes(entry.schema.full_name(), name.text)) continue;
        std::vector<std::string> names = outputs;
        for (const auto& argument : entry.schema.arguments) names.push_back(argument.name);
        names.emplace_back("output_differentiability");
        diagnostics_
            .error(name.where,
                   "'" + entry.schema.full_name() + "' has no argument '" + name.text + "'")
            .suggest(c10::closest_name(name.text, names));
      } else if (is_argument) {
        const auto& type = entry.schema.find_argument(name.text)->type;
        if (!type.is_tensor_like() && formula.text != "non_differentiable") {
          diagnostics_.error(name.where, "argument '" + name.text + "' is of type " +
                                             to_string(type) + ", which has no gradient");
        }
      }
    }
    const bool keyword = formula.text == "non_differentiable" || formula.text == "auto_linear" ||
                         formula.text == "auto_element_wise";
    formula.non_differentiable = formula.text == "non_differentiable";
    if (keyword && !formula.non_differentiable && !forward) {
      diagnostics_.error(value.where,
                         "'" + formula.text + "' is a forward formula and belongs to a result");
    }
    if (!keyword) {
      FormulaError error;
      formula.tree = parse_formula(formula.text, error);
      if (!formula.tree) {
        diagnostics_.error(value.locate(error.offset, error.length), error.message);
      }
    }
    for (const auto& name : formula.names) {
      const auto compare = [&](const GradientFormula& earlier) {
        for (const auto& earlier_name : earlier.names) {
          if (earlier_name.text != name.text) continue;
          diagnostics_.error(name.where, "a second formula for '" + name.text + "'")
              .note(earlier_name.where, "the first one is here");
        }
      };
      if (forward) {
        for (const auto& earlier : entry.forward) compare(earlier);
      } else {
        for (const auto& earlier : entry.gradients) compare(earlier);
      }
    }
    if (forward) {
      entry.forward.push_back(std::move(formula));
    } else {
      entry.gradients.push_back(std::move(formula));
    }
  }

  Model& model_;
  Diagnostics& diagnostics_;
};

}  // namespace

void load_derivatives(const SourceFile& file, Model& model, Diagnostics& diagnostics) {
  model.derivative_files.push_back(file_name(file));
  auto root = parse_yaml(file, diagnostics);
  if (!root) return;
  model.documents.push_back(std::make_unique<YamlNode>(std::move(*root)));
  const YamlNode& list = *model.documents.back();
  if (list.is_null()) return;
  if (!list.is_sequence()) {
    diagnostics.error(list.where, "expected a list of entries, found " + describe(list));
    return;
  }
  Loader loader(model, diagnostics);
  for (const auto& item : list.items) loader.entry(item);
}

}  // namespace oploom::frontend
