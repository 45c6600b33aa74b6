// Pass 03: makes the operators that `autogen` lists, in-place, out and Scalar forms of functional
// operators, with a number for the last tensor or for the first, functional and out forms of
// operators that write to their arguments, and then those that `aliases` names: other names of an
// entry's operator and of all forms made of it.
#include <c10/util/Suggest.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <array>
#include <memory>

namespace oploom::frontend {

namespace {

// The overload names of forms that take a number for a tensor, as PyTorch has them: `Scalar` for
// `other`, `Scalar_Tensor` for `self`. Their out forms end in `_out`.
constexpr std::array<std::string_view, 2> kScalarOverloads = {"Scalar", "Scalar_Tensor"};

struct Target {
  std::string base, overload;
  bool inplace = false;
  std::string_view scalar;  // which of kScalarOverloads; empty: no number for a tensor
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

// `add_` and `__iadd__`: the first argument is written to and is the result.
bool is_inplace_like(const FunctionSchema& schema) {
  if (schema.kind() == SchemaKind::inplace) return true;
  return schema.is_dunder() && schema.name.starts_with("__i") && !schema.arguments.empty() &&
         schema.arguments[0].alias && schema.arguments[0].alias->is_write;
}

// The base name of the functional form of an operator that writes to its arguments:
// `uniform_` -> `uniform`, `__ilshift__` -> `__lshift__`, `rrelu_with_noise` ->
// `rrelu_with_noise_functional`.
std::string functional_name(const FunctionSchema& schema) {
  if (!is_inplace_like(schema)) return schema.name + "_functional";
  return schema.is_dunder() ? "__" + schema.name.substr(3) : schema.root();
}

// The first letter that names no alias set yet.
std::string fresh_alias_set(const FunctionSchema& schema) {
  std::string set = "a";
  auto taken = [&](const SchemaArgument& argument) {
    return argument.alias && std::find(argument.alias->before.begin(), argument.alias->before.end(),
                                       set) != argument.alias->before.end();
  };
  while (std::any_of(schema.arguments.begin(), schema.arguments.end(), taken)) ++set[0];
  return set;
}

class Completer {
 public:
  Completer(Model& model, const PassOptions& options, Diagnostics& diagnostics)
      : model_(model), options_(options), diagnostics_(diagnostics) {}

  void run() {
    std::vector<std::unique_ptr<Operator>> all;
    for (auto& op : model_.operators) {
      Operator* base = op.get();
      all.push_back(std::move(op));
      std::vector<const Operator*> forms = {base};
      for (const auto& name : base->autogen) {
        auto made = make(*base, name);
        if (!made || is_known(*made) || !is_new(*made, name, "autogen")) continue;
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
  // Two entries may list one form: `lerp` and `lerp_` both make `lerp.out`.
  bool is_known(const Operator& made) const {
    const Operator* other = model_.find(made.name());
    return other && other->autogen_from && to_string(other->schema) == to_string(made.schema);
  }

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
    for (const auto scalar : kScalarOverloads) {
      const bool named =
          target.overload == scalar || target.overload == std::string(scalar) + "_out";
      if (named && base.schema.overload_name != scalar) target.scalar = scalar;
    }
    target.out = !target.inplace && (target.scalar.empty() || target.overload != target.scalar);
    if (target.inplace && target.scalar == "Scalar_Tensor") {
      diagnostics_.error(name.where,
                         "'Scalar_Tensor' is a form with a number for the first tensor, and "
                         "an in-place form writes to that one");
      return std::nullopt;
    }
    if (target.inplace && !target.scalar.empty() && target.overload != target.scalar) {
      diagnostics_.error(name.where, "an in-place form is not an out form")
          .suggest(target.base + ".Scalar");
      return std::nullopt;
    }
    if (target.inplace && target.scalar.empty() && target.overload != base.schema.overload_name) {
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
    for (const auto scalar : kScalarOverloads) {
      if (!target.out || c10::edit_distance(target.overload, scalar) != 1) continue;
      diagnostics_.error(name.where, "unlikely name of an out form")
          .suggest(target.base + "." + std::string(scalar));
      return std::nullopt;
    }
    return target;
  }

  // The forms of an operator that writes to its arguments.
  std::optional<Target> parse_of_writing(const Operator& base, const Spelled& name) {
    const FunctionSchema& schema = base.schema;
    const std::string functional = functional_name(schema);
    const std::string out = is_inplace_like(schema) ? functional : schema.name;
    Target target;
    const std::size_t dot = name.text.find('.');
    target.base = name.text.substr(0, dot);
    target.overload = dot == std::string::npos ? "" : name.text.substr(dot + 1);
    if (target.base == functional && target.overload == schema.overload_name) return target;
    target.out = true;
    if (target.base == out && target.overload.ends_with("out")) return target;
    const std::string overload = schema.overload_name;
    const std::string functional_form = functional + (overload.empty() ? "" : "." + overload);
    const std::string out_form = out + (overload.empty() ? ".out" : "." + overload + "_out");
    diagnostics_
        .error(name.where, "'" + base.name() + "' writes to its arguments, so autogen makes '" +
                               functional_form + "' and '" + out_form + "' of it")
        .suggest(c10::closest_name(name.text, std::vector<std::string>{functional_form, out_form}));
    return std::nullopt;
  }

  std::unique_ptr<Operator> make(const Operator& base, const Spelled& name) {
    if (base.kind == SchemaKind::out) {
      diagnostics_.error(name.where, "autogen makes no forms of an out form, and '" + base.name() +
                                         "' is one: list them at the functional form");
      return nullptr;
    }
    const bool writes = base.kind != SchemaKind::functional;
    const auto target = writes ? parse_of_writing(base, name) : parse(base, name);
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
    if (writes && !check_writing(base, name)) return nullptr;
    if (!target->scalar.empty() && !make_scalar(base, name, *target, *op)) return nullptr;
    if (target->inplace && !make_inplace(base, name, *op)) return nullptr;
    if (writes && !target->out) make_functional(base, *op);
    if (writes && target->out && is_inplace_like(base.schema)) {
      make_out_of_inplace(*op);
    } else if (target->out && !make_out(base, name, *op)) {
      return nullptr;
    }
    op->variants = writes ? std::vector<std::string>{"function"} : variants(base, *target);
    op->kind = op->schema.kind();
    op->doc = documentation(base, *target);
    return op;
  }

  // A back end copies what the operator writes to, which it can do with tensors.
  bool check_writing(const Operator& base, const Spelled& name) {
    if (options_.syntax_only) return true;
    for (const auto& argument : base.schema.arguments) {
      if (!argument.alias || !argument.alias->is_write || argument.type.is_plain_tensor()) continue;
      diagnostics_
          .error(name.where, "'" + base.name() + "' writes to '" + to_string(argument.type) + " " +
                                 argument.name +
                                 "': autogen makes forms of operators that write to single tensors")
          .note(base.schema_where, "its schema is here");
      return false;
    }
    return true;
  }

  // What was written to is left alone, and its new value is a result.
  static void make_functional(const Operator& base, Operator& op) {
    auto& schema = op.schema;
    const bool returns_self = is_inplace_like(base.schema) && !schema.returns.empty();
    std::vector<SchemaReturn> returns;
    for (auto value : schema.returns) {
      value.alias.reset();
      returns.push_back(std::move(value));
    }
    if (returns_self) {
      returns.resize(1);
      returns[0].name.reset();
    }
    for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
      auto& argument = schema.arguments[i];
      if (!argument.alias || !argument.alias->is_write) continue;
      argument.alias.reset();
      if (i == 0 && returns_self) continue;
      returns.push_back({argument.name + "_out", argument.type, std::nullopt, {}});
    }
    schema.returns = std::move(returns);
    schema.returns_in_parentheses = schema.returns.size() != 1;
  }

  // `uniform.out(Tensor self, ..., *, Tensor(a!) out)`: out takes the place of self.
  static void make_out_of_inplace(Operator& op) {
    auto& schema = op.schema;
    SchemaArgument out;
    out.name = "out";
    out.type = schema.arguments[0].type;
    out.alias = schema.arguments[0].alias;
    out.kwarg_only = true;
    out.is_out = true;
    schema.arguments[0].alias.reset();
    schema.arguments.push_back(std::move(out));
  }

  bool make_scalar(const Operator& base, const Spelled& name, const Target& target, Operator& op) {
    int index = scalar_argument(base.schema);
    const bool first = target.scalar == "Scalar_Tensor";
    if (first && index > 0) index = base.schema.arguments[0].type.is_plain_tensor() ? 0 : -1;
    if (index < 0) {
      diagnostics_
          .error(name.where,
                 "'" + base.name() +
                     (first ? "' has no two tensors of which the first could be a number"
                            : "' has no second tensor that could be a number"))
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
    // PyTorch's files have out forms of operators that return lists; the back ends have not.
    auto fits = [&](const SchemaReturn& value) {
      if (value.alias) return false;
      return value.type.is_plain_tensor() || (options_.syntax_only && value.type.is_tensor_like());
    };
    for (const auto& value : schema.returns) {
      if (fits(value)) continue;
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
      out.alias = AliasInfo{{fresh_alias_set(schema)}, {}, true};
      out.kwarg_only = true;
      out.is_out = true;
      value.alias = out.alias;
      if (count == 1) value.name.reset();
      schema.arguments.push_back(std::move(out));
    }
    if (count == 1) schema.returns_in_parentheses = false;
    if (count == 1 && schema.returns[0].type.list) {  // as PyTorch has them
      schema.returns.clear();
      schema.returns_in_parentheses = true;
    }
    return true;
  }

  // As the field has them: `torch.add(x, y, out=z)` and `x.add_(y)`; only operators of one tensor
  // have their in-place form as a function too, `torch.abs_(x)`.
  static std::vector<std::string> variants(const Operator& base, const Target& target) {
    if (target.out || target.scalar == "Scalar_Tensor") return {"function"};
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
    if (base.kind != SchemaKind::functional) {
      return "Like ``" + base.schema.name + "``, but returns new tensors and writes to none.\n";
    }
    return base.doc;
  }

  Model& model_;
  const PassOptions& options_;
  Diagnostics& diagnostics_;
};

}  // namespace

void complete(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  Completer(model, options, diagnostics).run();
}

}  // namespace oploom::frontend
