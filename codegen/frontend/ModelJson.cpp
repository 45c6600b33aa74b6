// The model as JSON, version 4; MODEL.md explains every field.
#include <codegen/frontend/Json.h>
#include <codegen/frontend/ModelJson.h>
#include <codegen/frontend/expression/Functions.h>

#include <algorithm>

namespace oploom::frontend {

namespace {

constexpr int kModelVersion = 4;

class Writer {
 public:
  std::string model(const Model& model) {
    json_.begin_object();
    json_.key("version").value(kModelVersion);
    json_.key("namespace").value(model.name_space);
    json_.key("python_module").value(model.python_module);
    json_.key("schema_files");
    strings(model.schema_files);
    json_.key("derivative_files");
    strings(model.derivative_files);
    json_.key("helper_headers");
    strings(model.helper_headers);
    json_.key("core_operators");
    std::set<std::string> core;
    if (model.core) {
      for (const auto& op : model.core->operators) core.insert(op->schema.root());
    }
    strings({core.begin(), core.end()});
    json_.key("number_arguments");
    number_arguments(model.core ? *model.core : model);
    json_.key("operators").begin_array();
    for (const auto& op : model.operators) write(*op);
    json_.end_array();
    json_.key("functions").begin_array();
    for (const auto& function : functions()) {
      json_.begin_compact().begin_object();
      json_.key("name").value(std::string(function.name));
      json_.key("parameters");
      strings(function.parameters, [](std::string_view text) { return std::string(text); });
      json_.key("partials");
      strings(function.partials, [](std::string_view text) { return std::string(text); });
      json_.key("integers").value(function.has(Function::integers));
      json_.key("complex").value(function.has(Function::complex));
      json_.end_object().end_compact();
    }
    json_.end_array();
    json_.key("tags").begin_array();
    for (const auto& tag : model.tags) {
      json_.begin_compact().begin_object();
      json_.key("name").value(tag.name);
      json_.key("description").value(tag.description);
      json_.end_object().end_compact();
    }
    json_.end_array();
    json_.end_object();
    return json_.take();
  }

 private:
  // For each operator on tensors the arguments that some form of it takes as numbers.
  void number_arguments(const Model& model) {
    std::map<std::string, std::set<std::size_t>> places;
    for (const auto& op : model.operators) {
      for (std::size_t i = 0; i < op->schema.arguments.size(); ++i) {
        const SchemaType& type = op->schema.arguments[i].type;
        const bool number = type.base == SchemaBaseType::Scalar ||
                            type.base == SchemaBaseType::Int || type.base == SchemaBaseType::Float;
        if (number && !type.list) places[op->schema.name].insert(i);
      }
    }
    json_.begin_object();
    for (const auto& [name, numbers] : places) {
      json_.key(name).begin_compact().begin_array();
      for (const std::size_t place : numbers) json_.value(static_cast<std::int64_t>(place));
      json_.end_array().end_compact();
    }
    json_.end_object();
  }

  void text_or_null(const std::string& text) { text.empty() ? json_.null() : json_.value(text); }

  template <class Range, class Text>
  void strings(const Range& range, Text text) {
    json_.begin_compact().begin_array();
    for (const auto& item : range) json_.value(text(item));
    json_.end_array().end_compact();
  }
  void strings(const std::vector<std::string>& range) {
    strings(range, [](const std::string& text) { return text; });
  }
  void words(const std::vector<Spelled>& range) {
    strings(range, [](const Spelled& word) { return word.text; });
  }

  void write(const SchemaType& type) {
    json_.begin_object();
    json_.key("base").value(to_string(type.base));
    json_.key("optional").value(type.optional && !type.list);
    json_.key("list").value(type.list);
    json_.key("list_size");
    type.list_size ? json_.value(*type.list_size) : json_.null();
    json_.key("list_optional").value(type.optional && type.list);
    json_.key("elem_optional").value(type.elem_optional);
    json_.key("text").value(to_string(type));
    json_.end_object();
  }

  void write(const std::optional<AliasInfo>& alias) {
    if (!alias) {
      json_.null();
      return;
    }
    json_.begin_object();
    json_.key("before");
    strings(alias->before);
    json_.key("after");
    strings(alias->after.empty() ? alias->before : alias->after);
    json_.key("write").value(alias->is_write);
    json_.end_object();
  }

  void write(const SchemaArgument& argument) {
    json_.begin_compact().begin_object();
    json_.key("name").value(argument.name);
    json_.key("type");
    write(argument.type);
    json_.key("alias");
    write(argument.alias);
    json_.key("default");
    argument.default_value ? json_.value(*argument.default_value) : json_.null();
    json_.key("kwarg_only").value(argument.kwarg_only);
    json_.key("out").value(argument.is_out);
    json_.end_object().end_compact();
  }

  void write(const SchemaReturn& value) {
    json_.begin_compact().begin_object();
    json_.key("name");
    value.name ? json_.value(*value.name) : json_.null();
    json_.key("type");
    write(value.type);
    json_.key("alias");
    write(value.alias);
    json_.end_object().end_compact();
  }

  void write(const SavedValue& value) {
    json_.begin_compact().begin_object();
    json_.key("name").value(value.name);
    json_.key("source").value(value.source == SavedValue::Source::input    ? "input"
                              : value.source == SavedValue::Source::output ? "output"
                                                                           : "expr");
    json_.key("of").value(value.of);
    json_.key("output_index");
    value.after ? json_.value(value.output_index) : json_.null();
    json_.key("expr");
    write_code(value.expr);
    json_.key("type");
    if (value.type) {
      write(*value.type);
    } else {
      json_.null();
    }
    json_.key("cpp");
    text_or_null(value.cpp);
    json_.key("after").value(value.after);
    json_.key("clone").value(value.clone);
    json_.key("used_by");
    strings(value.used_by);
    json_.end_object().end_compact();
  }

  // C++ as an array of texts, and of objects for the names in it.
  void write_code(const std::string& code) {
    FormulaError error;
    const auto tree = parse_formula(code, error, kFoundFormula);
    if (!tree) {
      json_.null();
      return;
    }
    json_.begin_compact().begin_array();
    for (const auto& piece : take_apart(code, *tree)) {
      if (piece.kind == FormulaPiece::Kind::text) {
        json_.value(piece.text);
        continue;
      }
      json_.begin_object();
      json_.key(piece.kind == FormulaPiece::Kind::name ? "name" : "call").value(piece.text);
      json_.end_object();
    }
    json_.end_array().end_compact();
  }

  void write(const Derivative& derivative) {
    json_.begin_object();
    json_.key("node");
    text_or_null(derivative.node);
    json_.key("inputs").begin_array();
    for (const auto& formula : derivative.inputs) {
      json_.begin_compact().begin_object();
      json_.key("names");
      words(formula.names);
      json_.key("formula").value(formula.text);
      json_.key("cpp");
      write_code(formula.cpp);
      json_.key("program");
      if (formula.program) {
        write(*formula.program);
      } else {
        json_.null();
      }
      json_.end_object().end_compact();
    }
    json_.end_array();
    json_.key("forward").begin_array();
    for (const auto& formula : derivative.forward) write(formula);
    json_.end_array();
    json_.key("saved").begin_array();
    for (const auto& value : derivative.saved) write(value);
    json_.end_array();
    json_.key("non_differentiable");
    strings(derivative.non_differentiable);
    json_.key("output_differentiability").begin_compact().begin_array();
    for (const bool flag : derivative.output_differentiability) json_.value(flag);
    json_.end_array().end_compact();
    json_.key("uses_grad_input_mask").value(derivative.uses_grad_input_mask);
    json_.end_object();
  }

  void write(const ForwardFormula& formula) {
    json_.begin_object();
    json_.key("names");
    words(formula.names);
    json_.key("formula").value(formula.text);
    json_.key("terms").begin_array();
    for (const auto& term : formula.terms) {
      json_.begin_compact().begin_object();
      json_.key("tangents");
      strings(term.tangents);
      json_.key("cpp");
      write_code(term.cpp);
      json_.key("program");
      if (term.program) {
        write(*term.program);
      } else {
        json_.null();
      }
      json_.end_object().end_compact();
    }
    json_.end_array();
    json_.key("together");
    write_code(formula.together_cpp);
    json_.key("uses_output").value(formula.uses_output);
    json_.key("uses_self").value(formula.uses_self);
    json_.end_object();
  }

  void write(const Program& program) {
    json_.begin_object();
    json_.key("instructions").begin_array();
    for (const auto& instruction : program.instructions) {
      json_.begin_compact().begin_object();
      json_.key("name").value(instruction.name);
      json_.key("operation").value(instruction.operation);
      json_.key("arguments");
      strings(instruction.arguments);
      json_.key("uniform").value(instruction.uniform);
      json_.key("truth").value(instruction.truth);
      json_.key("two_forms").value(instruction.two_forms);
      json_.key("short_form").value(instruction.short_form);
      json_.key("many_constants").value(instruction.many_constants);
      json_.end_object().end_compact();
    }
    json_.end_array();
    json_.key("outputs");
    strings(program.outputs);
    json_.end_object();
  }

  void write(const Expression& expression) {
    json_.begin_object();
    json_.key("text").value(expression.text);
    json_.key("promotion")
        .value(expression.promotion == Expression::Promotion::same       ? "same"
               : expression.promotion == Expression::Promotion::to_float ? "float"
                                                                         : "bool");
    json_.key("integers").value(expression.integers);
    json_.key("complex").value(expression.complex);
    json_.key("false_of_integers").value(expression.false_of_integers);
    json_.key("reduced").value(expression.reduced);
    json_.key("signs").value(expression.signs);
    json_.key("short_forms").value(expression.short_forms);
    json_.key("cost").value(expression.cost);
    json_.key("inputs");
    strings(expression.inputs);
    json_.key("scalars");
    strings(expression.scalars);
    json_.key("program");
    write(expression.program);
    json_.key("requires").begin_array();
    for (const auto& requirement : expression.requirements) {
      json_.begin_compact().begin_object();
      json_.key("text").value(requirement.text);
      json_.key("scalars");
      strings(requirement.scalars);
      json_.key("program");
      write(requirement.program);
      json_.end_object().end_compact();
    }
    json_.end_array();
    json_.end_object();
  }

  void write_shape(const Operator& op) {
    if (!op.shape) {
      json_.null();
      return;
    }
    json_.begin_object();
    json_.key("text").value(op.shape->text);
    for (const bool inputs : {true, false}) {
      json_.key(inputs ? "inputs" : "results").begin_array();
      for (const auto& term : inputs ? op.shape->inputs : op.shape->outputs) write(term);
      json_.end_array();
    }
    json_.end_object();
  }

  void write(const ShapeTerm& term) {
    static constexpr const char* kinds[] = {"any", "dims", "like", "reduced"};
    json_.begin_object().key("kind").value(kinds[static_cast<int>(term.kind)]);
    if (!term.name.empty()) json_.key("argument").value(term.name);
    if (term.kind == ShapeTerm::Kind::dims) {
      json_.key("sizes").begin_array();
      for (const auto& size : term.dims) json_.value(size);
      json_.end_array();
    }
    json_.end_object();
  }

  void write_structured(const Operator& op) {
    if (op.role == StructuredRole::none) {
      json_.null();
      return;
    }
    json_.begin_object();
    json_.key("meta").value(op.structured_meta);
    json_.key("impl").begin_compact().begin_object();
    for (const auto& entry : op.structured_base->dispatch) {
      json_.key(entry.key).value(entry.kernel.text);
    }
    json_.end_object().end_compact();
    json_.key("inherits");
    text_or_null(op.structured_inherits.text);
    json_.key("role").value(op.role == StructuredRole::functional ? "functional"
                            : op.role == StructuredRole::inplace  ? "inplace"
                                                                  : "out");
    json_.key("precomputed").begin_array();
    for (const auto& precomputed : op.structured_base->precomputed) {
      json_.begin_compact().begin_object();
      json_.key("replaces");
      text_or_null(precomputed.replaces.text);
      json_.key("values").begin_array();
      for (const auto& value : precomputed.values) write(value);
      json_.end_array().end_object().end_compact();
    }
    json_.end_array();
    json_.end_object();
  }

  void write(const Operator& op) {
    const FunctionSchema& schema = op.schema;
    json_.begin_object();
    json_.key("name").value(op.name());
    json_.key("base").value(schema.name);
    json_.key("overload").value(schema.overload_name);
    json_.key("root").value(schema.root());
    json_.key("identifier").value(schema.identifier());
    json_.key("schema").value(to_string(schema));
    json_.key("kind").value(to_string(op.kind));
    json_.key("group").value(op.group());
    json_.key("family").value(op.family.text);
    json_.key("source").begin_compact().begin_object();
    json_.key("file").value(op.where.file ? file_name(*op.where.file) : "");
    json_.key("line").value(op.where.line());
    json_.end_object().end_compact();
    json_.key("autogen_from");
    text_or_null(op.autogen_from ? op.autogen_from->name() : "");
    json_.key("arguments").begin_array();
    for (const auto& argument : schema.arguments) write(argument);
    json_.end_array();
    json_.key("returns").begin_array();
    for (const auto& value : schema.returns) write(value);
    json_.end_array();
    json_.key("variants");
    strings(op.variants);
    json_.key("tensor_options").value(schema.has_tensor_options());
    json_.key("dispatch").begin_compact().begin_object();
    for (const auto& entry : op.dispatch) json_.key(entry.key).value(entry.kernel.text);
    json_.end_object().end_compact();
    json_.key("composite");
    text_or_null(op.composite);
    json_.key("composite_kernel");
    text_or_null(op.composite_kernel);
    json_.key("structured");
    write_structured(op);
    json_.key("expression");
    if (op.expression && op.role != StructuredRole::inplace && op.role != StructuredRole::out) {
      write(*op.expression);
    } else {
      json_.null();
    }
    json_.key("internal").value(op.internal);
    json_.key("scalar_overload_of");
    text_or_null(op.scalar_overload_of);
    json_.key("alias_of");
    text_or_null(op.alias_of);
    json_.key("is_view").value(schema.is_view());
    json_.key("tags");
    words(op.tags);
    json_.key("python_module");
    text_or_null(op.python_module.text);
    json_.key("cpp_no_default_args");
    words(op.cpp_no_default_args);
    json_.key("options").begin_compact().begin_object();
    for (const auto& option : op.options) {
      json_.key(option.key.text);
      write_yaml_as_json(json_, *option.value);
    }
    json_.end_object().end_compact();
    json_.key("shape").begin_compact();
    write_shape(op);
    json_.end_compact();
    json_.key("doc").value(op.doc);
    json_.key("example").value(op.example);
    json_.key("test").begin_compact();
    if (op.test) {
      write_yaml_as_json(json_, *op.test);
    } else {
      json_.null();
    }
    json_.end_compact();
    json_.key("derivative");
    if (op.derivative) {
      write(*op.derivative);
    } else {
      json_.null();
    }
    json_.end_object();
  }

  JsonWriter json_;
};

}  // namespace

std::string model_to_json(const Model& model) { return Writer().model(model); }

}  // namespace oploom::frontend
