// Pass 03: makes the operators that `autogen` lists, in-place, out and Scalar forms, and then those
// that `aliases` names: other names of an entry's operator and of all forms made of it.
#include <c10/util/Suggest.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>

namespace oploom::frontend {

namespace {

struct Target {
  std::string base, overload;
  bool inplace = false;
  bool scalar = false;  // a number in place of a tensor argument
  bool out = false;
};

// `other` where there is one, else the last tensor: `mul.Scalar(self, other)`,
// `lerp.Scalar(self, end, weight)`. -1 without a second tensor.
int scalar_argument(const FunctionSchema& schema) {
  int found = -1;
  for (std::size_t i = 1; i < schema.arguments.size(); ++i) {
    const auto& argument = schema.arguments[i];
    if (!argument.type.is_plain_tensor()) continue;
    found = static_cast<int>(i);
    if (argument.name == "other") break;
  }
  return found;
}

class Completer {
 public:
  Completer(Model& model, Diagnostics& diagnostics) : model_(model), diagnostics_(diagnostics) {}

  void run() {
    std::vector<std::unique_ptr<Operator>> all;
    for (auto& op : model_.operators) {
      Operator* base = op.get();
      all.push_back(std::move(op));
      std::vector<const Operator*> forms = {base};
      for (const auto& name : base->autogen) {
        auto made = make(*base, name);
        if (!made || !is_new(*made, name, "autogen")) continue;
        forms.push_back(made.get());
        all.push_back(std::move(made));
      }
      for (const auto& name : base->aliases) {
        for (const Operator* form : forms) {
          auto made = make_alias(*base, *form, name);
          if (made && is_new(*made, name, "'aliases'")) all.push_back(std::move(made));
        }
      }
    }
    model_.operators = std::move(all);
  }

 private:
  bool is_new(Operator& made, const Spelled& name, const std::string& key) {
    const auto [first, fresh] = model_.by_name.emplace(made.name(), &made);
    if (fresh) return true;
    diagnostics_.error(name.where, key + " would make '" + made.name() + "', which exists")
        .note(first->second->schema_where, "it is here");
    return false;
  }

  // `special_f` is a function of the Python module `special`, which has no in-place forms.
  std::unique_ptr<Operator> make_alias(const Operator& base, const Operator& form,
                                       const Spelled& name) {
    const bool special = name.text.starts_with("special_");
    if (special && form.kind == SchemaKind::inplace) return nullptr;
    auto op = std::make_unique<Operator>();
    op->schema = form.schema;
    op->schema.name = name.text + (form.kind == SchemaKind::inplace ? "_" : "");
    op->where = base.where;
    op->schema_where = name.where;
    op->family = base.family;
    op->tags = base.tags;
    op->cpp_no_default_args = base.cpp_no_default_args;
    op->python_module = special ? Spelled{"special", name.where} : base.python_module;
    op->autogen_from = &base;
    op->alias_of = form.name();
    op->variants = special ? std::vector<std::string>{"function"} : form.variants;
    op->kind = form.kind;
    op->doc = "Another name of ``" + form.schema.name + "``.\n";
    return op;
  }

  std::optional<Target> parse(const Operator& base, const Spelled& name) {
    Target target;
    const std::size_t dot = name.text.find('.');
    target.base = name.text.substr(0, dot);
    target.overload = dot == std::string::npos ? "" : name.text.substr(dot + 1);
    const std::string& root = base.schema.name;
    target.inplace = target.base == root + "_";
    if (!target.inplace && target.base != root) {
      const bool inplace = target.base.ends_with("_");
      const std::string meant = inplace ? root + "_" : root;
      const bool near = !c10::closest_name(target.base, std::vector<std::string>{meant}).empty();
      diagnostics_
          .error(name.where, "autogen makes forms of '" + root + "' only, not '" + name.text + "'")
          .suggest(near ? meant + name.text.substr(target.base.size()) : "");
      return std::nullopt;
    }
    const bool scalar_base = base.schema.overload_name == "Scalar";
    target.scalar =
        !scalar_base && (target.overload == "Scalar" || target.overload == "Scalar_out");
    target.out = !target.inplace && target.overload != "Scalar";
    if (target.scalar && target.inplace && target.overload != "Scalar") {
      diagnostics_.error(name.where, "an in-place form is not an out form")
          .suggest(target.base + ".Scalar");
      return std::nullopt;
    }
    if (target.inplace && !target.scalar && target.overload != base.schema.overload_name) {
      const std::string& overload = base.schema.overload_name;
      diagnostics_
          .error(name.where,
                 "the in-place form of '" + base.name() + "' has the same overload name")
          .suggest(target.base + (overload.empty() ? "" : "." + overload));
      return std::nullopt;
    }
    if (target.out && target.overload.empty()) {
      diagnostics_.error(name.where, "an out form needs an overload name")
          .suggest(target.base + ".out");
      return std::nullopt;
    }
    if (target.out && c10::edit_distance(target.overload, "Scalar") == 1) {
      diagnostics_.error(name.where, "unlikely name of an out form")
          .suggest(target.base + ".Scalar");
      return std::nullopt;
    }
    return target;
  }

  std::unique_ptr<Operator> make(const Operator& base, const Spelled& name) {
    if (base.kind != SchemaKind::functional) {
      diagnostics_.error(name.where, "autogen makes forms of functional operators, and '" +
                                         base.name() + "' is not one");
      return nullptr;
    }
    const auto target = parse(base, name);
    if (!target) return nullptr;

    auto op = std::make_unique<Operator>();
    op->schema = base.schema;
    op->schema.name = target->base;
    op->schema.overload_name = target->overload;
    op->where = base.where;
    op->schema_where = name.where;
    op->family = base.family;
    op->tags = base.tags;
    op->python_module = base.python_module;
    op->autogen_from = &base;
    if (target->scalar && !make_scalar(base, name, *op)) return nullptr;
    if (target->inplace && !make_inplace(base, name, *op)) return nullptr;
    if (target->out && !make_out(base, name, *op)) return nullptr;
    op->variants = variants(base, *target);
    op->kind = op->schema.kind();
    op->doc = documentation(base, *target);
    return op;
  }

  bool make_scalar(const Operator& base, const Spelled& name, Operator& op) {
    const int index = scalar_argument(base.schema);
    if (index < 0) {
      diagnostics_
          .error(name.where, "'" + base.name() + "' has no second tensor that could be a number")
          .note(base.schema_where, "its schema is here");
      return false;
    }
    auto& argument = op.schema.arguments[static_cast<std::size_t>(index)];
    argument.type = SchemaType();
    argument.type.base = SchemaBaseType::Scalar;
    argument.alias.reset();
    op.scalar_overload_of = base.name();
    return true;
  }

  bool make_inplace(const Operator& base, const Spelled& name, Operator& op) {
    auto& schema = op.schema;
    if (schema.arguments.empty() || schema.arguments[0].name != "self" ||
        !schema.arguments[0].type.is_plain_tensor() || schema.returns.size() != 1 ||
        !schema.returns[0].type.is_plain_tensor() || schema.returns[0].alias) {
      diagnostics_
          .error(name.where, "'" + base.name() +
                                 "' can have no in-place form: that needs 'Tensor self' first and "
                                 "one new tensor as result")
          .note(base.schema_where, "its schema is here");
      return false;
    }
    AliasInfo written{.before = {"a"}, .after = {}, .is_write = true};
    schema.arguments[0].alias = written;
    schema.returns[0].alias = written;
    schema.returns[0].name.reset();
    schema.returns_in_parentheses = false;
    return true;
  }

  bool make_out(const Operator& base, const Spelled& name, Operator& op) {
    auto& schema = op.schema;
    for (const auto& value : schema.returns) {
      if (value.type.is_plain_tensor() && !value.alias) continue;
      diagnostics_
          .error(name.where,
                 "'" + base.name() + "' can have no out form: its results are not new tensors")
          .note(base.schema_where, "its schema is here");
      return false;
    }
    // The result's options are those of the tensor given.
    if (schema.has_tensor_options()) {
      std::erase_if(schema.arguments, [](const SchemaArgument& argument) {
        return argument.name == "dtype" || argument.name == "layout" || argument.name == "device" ||
               argument.name == "pin_memory";
      });
    }
    const std::size_t count = schema.returns.size();
    for (std::size_t i = 0; i < count; ++i) {
      auto& value = schema.returns[i];
      SchemaArgument out;
      out.name = value.name ? *value.name : count == 1 ? "out" : "out" + std::to_string(i);
      if (count == 1) out.name = "out";
      if (schema.find_argument(out.name)) out.name += "_out";
      out.type = value.type;
      out.alias = AliasInfo{{std::string(1, static_cast<char>('a' + i))}, {}, true};
      out.kwarg_only = true;
      out.is_out = true;
      value.alias = out.alias;
      if (count == 1) value.name.reset();
      schema.arguments.push_back(std::move(out));
    }
    if (count == 1) schema.returns_in_parentheses = false;
    return true;
  }

  // As the field has them: `torch.add(x, y, out=z)` and `x.add_(y)`; only operators of one tensor
  // have their in-place form as a function too, `torch.abs_(x)`.
  static std::vector<std::string> variants(const Operator& base, const Target& target) {
    if (target.out) return {"function"};
    if (!target.inplace) return base.variants;
    const auto tensors =
        std::count_if(base.schema.arguments.begin(), base.schema.arguments.end(),
                      [](const SchemaArgument& a) { return a.type.is_tensor_like(); });
    const bool method =
        std::find(base.variants.begin(), base.variants.end(), "method") != base.variants.end();
    if (tensors == 1 || !method) return base.variants;
    return {"method"};
  }

  static std::string documentation(const Operator& base, const Target& target) {
    if (target.inplace) return "Writes the result of ``" + base.schema.name + "`` into ``self``.\n";
    if (target.out) return "Writes the result of ``" + base.schema.name + "`` into ``out``.\n";
    return base.doc;
  }

  Model& model_;
  Diagnostics& diagnostics_;
};

}  // namespace

void complete(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  if (!options.syntax_only) Completer(model, diagnostics).run();
}

}  // namespace oploom::frontend
