// Reads native_functions.yaml and tags.yaml.
#include <c10/core/SchemaParser.h>
#include <c10/util/Suggest.h>
#include <codegen/frontend/Load.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

namespace oploom::frontend {

namespace {

constexpr auto kKeys = std::to_array<std::string_view>({
    "func",
    "family",
    "variants",
    "dispatch",
    "structured",
    "structured_delegate",
    "structured_inherits",
    "precomputed",
    "autogen",
    "aliases",
    "tags",
    "python_module",
    "device_check",
    "device_guard",
    "cpp_no_default_args",
    "manual_cpp_binding",
    "manual_kernel_registration",
    "use_const_ref_for_mutable_tensors",
    "category_override",
    "ufunc_inner_loop",
    "doc",
    "example",
    "expr",
    "requires",
    "shape",
    "test",
});

class Loader {
 public:
  Loader(Model& model, Diagnostics& diagnostics) : model_(model), diagnostics_(diagnostics) {}

  void entry(const YamlNode& node) {
    if (!node.is_map()) {
      diagnostics_.error(node.where,
                         "expected an operator, 'func: name(...) -> ...', found " + describe(node));
      return;
    }
    for (const auto& [key, value] : node.entries) {
      if (std::find(kKeys.begin(), kKeys.end(), key.value) == kKeys.end()) {
        diagnostics_.error(key.where, "unknown key '" + key.value + "' of an operator")
            .suggest(c10::closest_name(key.value, kKeys));
      }
    }
    const YamlNode* func = node.find("func");
    if (!func) {
      diagnostics_.error(node.where, "an operator needs the key 'func' with its schema");
      return;
    }
    auto schema = load_schema(*func, diagnostics_);
    if (!schema) {
      model_.unread.insert(func->value.substr(0, func->value.find('(')));
      return;
    }
    auto op = std::make_unique<Operator>();
    op->schema = std::move(*schema);
    op->where = node.where;
    op->func = func;
    op->schema_where = func->where;
    op->kind = op->schema.kind();
    for (const auto& [key, value] : node.entries) field(*op, key, value);
    if (model_.name_space != kTreeNamespace) lines_of_package(*op, node);
    if (!op->variants_given) op->variants = {"function"};
    model_.operators.push_back(std::move(op));
  }

 private:
  // cmake/OploomOperators.cmake lists the files to be made of a package before there is a program
  // that it could ask: it finds operators by lines.
  void lines_of_package(const Operator& op, const YamlNode& node) {
    const auto by_line = [](const std::string& key) {
      return key == "func" || key == "aliases" || key == "family" || key == "expr";
    };
    const Location& head = node.entries[0].key.where;
    const std::size_t begin = head.file->line_starts[head.line() - 1];
    if (std::string_view(head.file->text).substr(begin, head.offset - begin).find('-') ==
        std::string_view::npos) {
      diagnostics_.error(head,
                         "CMake finds what a package holds by entries that begin on the line of "
                         "their '-': write this one so");
    }
    for (const auto& [key, value] : node.entries) {
      if (!by_line(key.value)) continue;
      const std::size_t line = key.where.line();
      const std::string_view text = key.where.file->line_text(line - 1);
      const std::size_t begin = text.find_first_not_of(" -");
      const YamlNode& last = value.items.empty() ? value : value.items.back();
      const bool whole =
          value.locate(0, 1).line() == line && last.locate(last.value.size() - 1, 1).line() == line;
      if (!text.substr(begin).starts_with(key.value + ":") || (!whole && key.value != "expr")) {
        diagnostics_.error(
            key.where, "CMake finds what a package holds by lines that begin with '" + key.value +
                           ":'" + (key.value == "expr" ? "" : " and hold its whole value") +
                           ": write this one so");
      } else if (key.value == "expr" && key.where.offset < op.func->where.offset) {
        diagnostics_.error(key.where,
                           "CMake finds what a package holds by an 'expr' below its 'func': write "
                           "them in this order");
      }
    }
  }

  void field(Operator& op, const YamlNode& key, const YamlNode& value) {
    const std::string& name = key.value;
    if (name == "family") {
      op.family = word(value, "the name of a file in aten/native");
    } else if (name == "variants") {
      variants(op, value);
    } else if (name == "dispatch") {
      dispatch(op, value);
    } else if (name == "structured") {
      op.structured = flag(key, value);
      op.structured_where = key.where;
    } else if (name == "structured_delegate") {
      op.structured_delegate = word(value, "the name of the out operator");
    } else if (name == "structured_inherits") {
      op.structured_inherits = word(value, "the name of a class");
    } else if (name == "precomputed") {
      op.precomputed_where = key.where;
      precomputed(op, value);
    } else if (name == "autogen") {
      op.autogen = names(value);
    } else if (name == "aliases") {
      op.aliases = names(value);
    } else if (name == "tags") {
      op.tags = names(value);
    } else if (name == "python_module") {
      op.python_module = word(value, "the name of a Python module");
    } else if (name == "cpp_no_default_args") {
      op.cpp_no_default_args = names(value);
      for (const auto& argument : op.cpp_no_default_args) {
        if (!op.schema.find_argument(argument.text)) {
          diagnostics_.error(argument.where, "no argument is called '" + argument.text + "'")
              .suggest(c10::closest_name(argument.text, argument_names(op)));
        }
      }
    } else if (name == "doc") {
      op.doc = word(value, "text").text;
    } else if (name == "example") {
      static constexpr std::string_view kWanted = "lines of a Python session, '>>> oploom.ones(2)'";
      op.example = word(value, kWanted).text;
      if (!op.example.empty() && op.example.find(">>> ") == std::string::npos) {
        diagnostics_.error(value.where,
                           "expected " + std::string(kWanted) + ", found " + describe(value));
      }
    } else if (name == "expr") {
      if (!word(value, "an expression").empty()) op.expr = &value;
    } else if (name == "requires") {
      const auto conditions = value.is_sequence() ? std::span(value.items) : std::span(&value, 1);
      op.requirements_where = key.where;
      for (const auto& condition : conditions) {
        if (!word(condition, "a condition on numbers").empty()) {
          op.requirements.push_back(&condition);
        }
      }
    } else if (name == "shape") {
      op.shape = parse_shape(value, op.schema, diagnostics_);
    } else if (name == "test") {
      if (!value.is_map()) {
        diagnostics_.error(value.where, "expected a map, found " + describe(value));
      } else {
        op.test = &value;
      }
    } else if (name == "device_guard" || name == "manual_cpp_binding" ||
               name == "manual_kernel_registration" ||
               name == "use_const_ref_for_mutable_tensors") {
      flag(key, value);
      op.options.push_back({{name, key.where}, &value});
    } else if (name == "device_check") {
      const Spelled check = word(value, "NoCheck or ExactSame");
      if (!check.empty() && check.text != "NoCheck" && check.text != "ExactSame") {
        diagnostics_.error(check.where,
                           "device_check is NoCheck or ExactSame, not '" + check.text + "'");
        return;
      }
      if (!check.empty()) op.options.push_back({{name, key.where}, &value});
    } else if (name != "func") {
      op.options.push_back({{name, key.where}, &value});
    }
  }

  static std::vector<std::string> argument_names(const Operator& op) {
    std::vector<std::string> names;
    for (const auto& argument : op.schema.arguments) names.push_back(argument.name);
    return names;
  }

  // A list of names, each once.
  std::vector<Spelled> names(const YamlNode& value) {
    std::vector<Spelled> list;
    for (auto& name : split_list(value, diagnostics_)) {
      const auto first = std::find_if(
          list.begin(), list.end(), [&](const Spelled& other) { return other.text == name.text; });
      if (first == list.end()) {
        list.push_back(std::move(name));
      } else {
        diagnostics_.error(name.where, "'" + name.text + "' is named twice")
            .note(first->where, "the first one is here");
      }
    }
    return list;
  }

  Spelled word(const YamlNode& value, std::string_view what) {
    if (value.is_scalar() && !value.value.empty()) return {value.value, value.where};
    diagnostics_.error(value.where, "expected " + std::string(what) + ", found " + describe(value));
    return {};
  }

  bool flag(const YamlNode& key, const YamlNode& value) {
    const auto result = as_bool(value);
    if (!result) {
      diagnostics_.error(value.where,
                         "'" + key.value + "' is True or False, found " + describe(value));
    }
    return result.value_or(false);
  }

  // `dim -> int dim, bool last`: what the shape function computes in the place of an argument. The
  // last item may lack the argument: `int rows, int columns`, in addition to all arguments.
  void precomputed(Operator& op, const YamlNode& value) {
    if (!value.is_sequence()) {
      diagnostics_.error(
          value.where, "expected a list of 'argument -> type name, ...', found " + describe(value));
      return;
    }
    for (const auto& item : value.items) {
      if (!item.is_scalar()) {
        diagnostics_.error(item.where,
                           "expected 'argument -> type name, ...', found " + describe(item));
        continue;
      }
      const std::size_t arrow = item.value.find("->");
      Precomputed precomputed;
      std::size_t types = 0;
      if (arrow != std::string::npos) {
        types = arrow + 2;
        const std::size_t first = item.value.find_first_not_of(' ');
        const std::size_t last = item.value.find_last_not_of(' ', arrow ? arrow - 1 : 0);
        const std::string name = last == std::string::npos || first >= arrow
                                     ? ""
                                     : item.value.substr(first, last + 1 - first);
        precomputed.replaces = {name, item.locate(name.empty() ? 0 : first, name.size())};
        if (!op.schema.find_argument(name)) {
          diagnostics_.error(precomputed.replaces.where, "no argument is called '" + name + "'")
              .suggest(c10::closest_name(name, argument_names(op)));
        }
      } else if (&item != &value.items.back()) {
        diagnostics_.error(item.where,
                           "only the last item may lack the argument that it takes the place of");
      }
      std::vector<c10::SchemaError> errors;
      auto values =
          c10::try_parse_schema_arguments(std::string_view(item.value).substr(types), errors);
      for (auto& error : errors) {
        diagnostics_.error(item.locate(types + error.offset, error.length), error.message)
            .suggest(error.suggestion);
      }
      if (!values) continue;
      if (values->empty()) {
        diagnostics_.error(item.where, "nothing is computed: write 'argument -> type name, ...'");
      }
      precomputed.values = std::move(*values);
      op.precomputed.push_back(std::move(precomputed));
    }
  }

  void variants(Operator& op, const YamlNode& value) {
    op.variants_given = true;
    static constexpr std::array<std::string_view, 2> known = {"function", "method"};
    for (const auto& variant : names(value)) {
      if (std::find(known.begin(), known.end(), variant.text) == known.end()) {
        diagnostics_
            .error(variant.where, "a variant is 'function' or 'method', not '" + variant.text + "'")
            .suggest(c10::closest_name(variant.text, known));
        continue;
      }
      if (variant.text == "method" && !op.schema.find_argument("self")) {
        diagnostics_.error(variant.where, "a method needs an argument called 'self'");
      }
      if (variant.text == "method" && model_.name_space != kTreeNamespace) {
        diagnostics_.error(variant.where,
                           "a package cannot add methods to at::Tensor, which is a finished class: "
                           "leave 'method' out");
        continue;
      }
      op.variants.push_back(variant.text);
    }
    std::sort(op.variants.begin(), op.variants.end());
  }

  void dispatch(Operator& op, const YamlNode& value) {
    if (!value.is_map()) {
      diagnostics_.error(value.where, "expected a map of dispatch keys, found " + describe(value));
      return;
    }
    op.dispatch_given = true;
    std::map<std::string, Location> seen;
    for (const auto& [keys, kernel] : value.entries) {
      if (!kernel.is_scalar()) {
        diagnostics_.error(keys.where, "expected the kernel's name, found " + describe(kernel));
        continue;
      }
      for (const auto& key : split_list(keys, diagnostics_)) {
        const auto& known = known_dispatch_keys();
        if (std::find(known.begin(), known.end(), key.text) == known.end()) {
          diagnostics_.error(key.where, "unknown dispatch key '" + key.text + "'")
              .suggest(c10::closest_name(key.text, known));
          continue;
        }
        if (const auto [first, fresh] = seen.emplace(key.text, key.where); !fresh) {
          diagnostics_.error(key.where, "dispatch key '" + key.text + "' is named twice")
              .note(first->second, "the first one is here");
          continue;
        }
        op.dispatch.push_back({key.text, key.where, {kernel.value, kernel.where}});
      }
    }
  }

  Model& model_;
  Diagnostics& diagnostics_;
};

// The entries of a file that is a list; reports everything else.
const YamlNode* load_list(const SourceFile& file, Model& model, Diagnostics& diagnostics) {
  auto root = parse_yaml(file, diagnostics);
  if (!root) return nullptr;
  model.documents.push_back(std::make_unique<YamlNode>(std::move(*root)));
  const YamlNode* list = model.documents.back().get();
  if (list->is_null()) return list;
  if (!list->is_sequence()) {
    diagnostics.error(list->where, "expected a list of entries, found " + describe(*list));
    return nullptr;
  }
  return list;
}

}  // namespace

void load_core_operators(const SourceFile& file, Model& model, Diagnostics& diagnostics) {
  model.core = std::make_unique<Model>();
  load_native_functions(file, *model.core, diagnostics);
}

void load_native_functions(const SourceFile& file, Model& model, Diagnostics& diagnostics) {
  model.schema_files.push_back(file_name(file));
  Loader loader(model, diagnostics);
  if (const YamlNode* list = load_list(file, model, diagnostics)) {
    for (const auto& item : list->items) loader.entry(item);
  } else {
    model.unread.insert("*");
  }
}

void load_tags(const SourceFile& file, Model& model, Diagnostics& diagnostics) {
  model.tags_given = true;
  const YamlNode* list = load_list(file, model, diagnostics);
  if (!list) return;
  for (const auto& item : list->items) {
    const YamlNode* name = item.find("tag");
    if (!name || !name->is_scalar()) {
      diagnostics.error(item.where, "a tag is 'tag: name' with 'desc: text'");
      continue;
    }
    for (const auto& [key, value] : item.entries) {
      static constexpr std::array<std::string_view, 2> known = {"tag", "desc"};
      if (std::find(known.begin(), known.end(), key.value) == known.end()) {
        diagnostics.error(key.where, "unknown key '" + key.value + "' of a tag")
            .suggest(c10::closest_name(key.value, known));
      }
    }
    const YamlNode* description = item.find("desc");
    model.tags.push_back({name->value, description ? description->value : "", name->where});
  }
}

}  // namespace oploom::frontend
