// Pass 01: gives every operator its name and checks the names that entries refer to.
#include <c10/util/Suggest.h>
#include <codegen/frontend/Load.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>

namespace oploom::frontend {

namespace {

void check_tags(const Model& model, const Operator& op, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const auto& tag : model.tags) known.push_back(tag.name);
  for (const auto& tag : op.tags) {
    if (std::find(known.begin(), known.end(), tag.text) != known.end()) continue;
    diagnostics.error(tag.where, "unknown tag '" + tag.text + "'")
        .suggest(c10::closest_name(tag.text, known));
  }
}

void check_dispatch_keys(const Operator& op, Diagnostics& diagnostics) {
  for (const auto& entry : op.dispatch) {
    if (is_oploom_dispatch_key(entry.key) || !composite_kind(entry.key).empty()) continue;
    diagnostics.error(entry.key_where,
                      "there is no backend for the dispatch key '" + entry.key + "'");
  }
}

// Keys of the language that say how PyTorch's own generator treats the operator. What they would
// turn off or on is fixed here, so a value is accepted where it says what is true anyway.
struct ForeignKey {
  std::string_view key;
  std::string_view accepted;  // the one value that is true here, or ""
  std::string_view reason;
};
constexpr ForeignKey kForeignKeys[] = {
    {"device_check", "NoCheck", "kernels check the devices of their arguments themselves"},
    {"device_guard", "False", "kernels choose the device that they run on themselves"},
    {"manual_cpp_binding", "False", "the C++ functions of every operator are generated"},
    {"manual_kernel_registration", "False",
     "kernels are bound by the table that is generated from 'dispatch'"},
    {"use_const_ref_for_mutable_tensors", "False",
     "a tensor that is written to is passed as 'Tensor&'"},
    {"category_override", "", "it sorts operators for PyTorch's dispatch in Python"},
    {"ufunc_inner_loop", "", "kernels are named under 'dispatch'"},
};

void check_foreign_keys(const Operator& op, Diagnostics& diagnostics) {
  for (const auto& option : op.options) {
    for (const auto& foreign : kForeignKeys) {
      if (option.key.text != foreign.key) continue;
      const auto flag = as_bool(*option.value);
      if (flag ? !*flag && foreign.accepted == "False"
               : !foreign.accepted.empty() && option.value->value == foreign.accepted) {
        continue;
      }
      diagnostics.error(option.key.where, "'" + option.key.text + "' would change nothing here: " +
                                              std::string(foreign.reason));
    }
  }
}

// Types that PyTorch's schemas use and no function here can take or return.
void check_types(const Operator& op, Diagnostics& diagnostics) {
  using B = SchemaBaseType;
  auto known = [](const SchemaType& type, bool precomputed) {
    switch (type.base) {
      case B::DimVector:
        return precomputed && !type.list;
      case B::Tensor:
        return true;
      case B::Scalar:
      case B::Int:
      case B::SymInt:
      case B::Float:
      case B::Bool:
      case B::Str:
        return !type.elem_optional;
      case B::ScalarType:
      case B::Layout:
      case B::Device:
      case B::MemoryFormat:
      case B::Generator:
        return !type.list;
      default:
        return false;
    }
  };
  auto check = [&](const SchemaType& type, const Location& where, bool precomputed = false) {
    if (known(type, precomputed)) return;
    diagnostics.error(where, "the type '" + to_string(type) + "' has no C++ type here");
  };
  for (const auto& argument : op.schema.arguments) {
    check(argument.type, op.func->locate(argument.type_span.offset, argument.type_span.length));
  }
  for (const auto& value : op.schema.returns) {
    check(value.type, op.func->locate(value.span.offset, value.span.length));
  }
  for (const auto& precomputed : op.precomputed) {
    for (const auto& value : precomputed.values) {
      check(value.type, op.precomputed_where, /*precomputed=*/true);
    }
  }
}

}  // namespace

void resolve(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  for (const auto& op : model.operators) {
    const auto [first, fresh] = model.by_name.emplace(op->name(), op.get());
    if (!fresh) {
      diagnostics.error(op->schema_where, "a second operator named '" + op->name() + "'")
          .note(first->second->schema_where, "the first one is here");
    }
    if (model.tags_given) check_tags(model, *op, diagnostics);
    if (options.syntax_only) continue;
    check_dispatch_keys(*op, diagnostics);
    check_foreign_keys(*op, diagnostics);
    check_types(*op, diagnostics);
  }
}

void run_passes(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  if (model.core) {
    // For the names and schemas of all forms. Whether that file has mistakes is not asked here.
    Diagnostics ignored;
    resolve(*model.core, options, ignored);
    expand_expressions(*model.core, options, ignored);
    complete(*model.core, options, ignored);
  }
  resolve(model, options, diagnostics);
  expand_expressions(model, options, diagnostics);
  complete(model, options, diagnostics);
  group_variants(model, options, diagnostics);
  expand_dispatch(model, options, diagnostics);
  plan_structured(model, options, diagnostics);
  differentiate(model, options, diagnostics);
  verify(model, options, diagnostics);
  check_helpers(model, options, diagnostics);
  prove_derivatives(model, options, diagnostics);
  check_shapes(model, options, diagnostics);
}

}  // namespace oploom::frontend
