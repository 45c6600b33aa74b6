// Pass 11: the shape of every gradient, as far as the key `shape` of the operators that its formula
// calls tells it. What it does not tell is unknown, and fits everywhere.
#include <codegen/frontend/passes/FormulaScope.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace oploom::frontend {

namespace {

// The shape of a part of a formula.
struct Shape {
  enum class Kind {
    unknown,
    number,   // no tensor: broadcasts with everything
    dims,     // the sizes, by the letters of the operator's `shape`
    like,     // what the arguments named broadcast to
    reduced,  // that of the argument named, some dimensions dropped or made 1
  };
  Kind kind = Kind::unknown;
  std::vector<std::string> dims;
  std::set<std::string> names;

  bool is_scalar() const { return kind == Kind::number || (kind == Kind::dims && dims.empty()); }
  bool operator==(const Shape&) const = default;
};

std::string quoted(const std::set<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

std::string in_brackets(const std::vector<std::string>& dims) {
  std::string text = "(";
  for (const auto& dim : dims) text += (text.size() > 1 ? ", " : "") + dim;
  return text + ")";
}

// Of a shape that is known.
std::string describe(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::dims:
      return shape.dims.empty() ? "no dimension" : "the shape " + in_brackets(shape.dims);
    case Shape::Kind::like:
      return (shape.names.size() == 1 ? "the shape of " : "the common shape of ") +
             quoted(shape.names);
    default:
      return "the dimensions of " + quoted(shape.names) + " without those reduced";
  }
}

bool is_pointwise(const Operator& op) {
  return op.expr || std::any_of(op.tags.begin(), op.tags.end(),
                                [](const Spelled& tag) { return tag.text == "pointwise"; });
}

// What one derivative's formulas give.
class Formulas {
 public:
  Formulas(const Model& model, const Operator& op, const DerivativeEntry& entry,
           Diagnostics& diagnostics)
      : model_(model),
        op_(op),
        entry_(entry),
        diagnostics_(diagnostics),
        scope_(entry, ignored_),
        pointwise_(is_pointwise(op)) {
    const auto tensors = shaped_arguments(entry.schema);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::string& name = tensors[i]->name;
      Shape shape{Shape::Kind::like, {}, {name}};
      if (op.shape && !op.shape->inputs.empty()) {
        const ShapeTerm& term = op.shape->inputs[i];
        if (term.kind == ShapeTerm::Kind::dims) shape = {Shape::Kind::dims, term.dims, {}};
      }
      arguments_[name] = shape;
      if (pointwise_) all_.insert(name);
    }
    for (std::size_t i = 0; i < entry.schema.returns.size(); ++i) {
      Shape shape;
      if (op.shape) {
        shape = own_result(op.shape->outputs[i]);
      } else if (pointwise_ && !all_.empty()) {
        shape = {Shape::Kind::like, {}, all_};
      }
      results_.push_back(std::move(shape));
    }
  }

  void check(const GradientFormula& formula) {
    formula_ = &formula;
    const Shape given = infer(*formula.tree);
    // A formula that gives a number is pass 09's to report.
    if (formula.names.size() != 1 || given.kind == Shape::Kind::unknown ||
        given.kind == Shape::Kind::number) {
      return;
    }
    const auto argument = arguments_.find(formula.names[0].text);
    if (argument == arguments_.end() || fits(given, argument->first, argument->second)) return;
    diagnostics_
        .error(whole(*formula.tree), "the gradient of '" + argument->first + "' needs its shape" +
                                         (argument->second.kind == Shape::Kind::dims
                                              ? ", " + in_brackets(argument->second.dims)
                                              : "") +
                                         ", and the formula gives " + describe(given))
        .note(op_.schema_where, "the operator is here");
  }

 private:
  // Whether the engine, which sums what was broadcast, can give a gradient the argument's shape.
  bool fits(const Shape& given, const std::string& name, const Shape& wanted) const {
    if (wanted.kind == Shape::Kind::dims) {
      if (given.kind != Shape::Kind::dims) return given.kind != Shape::Kind::reduced;
      return given.dims.size() >= wanted.dims.size() &&
             std::equal(wanted.dims.rbegin(), wanted.dims.rend(), given.dims.rbegin());
    }
    switch (given.kind) {
      case Shape::Kind::dims:
        // Of an operator that says nothing of shapes the argument may have no dimension itself.
        return !given.dims.empty() || (!pointwise_ && !op_.shape);
      case Shape::Kind::reduced:
        return false;
      default:
        // Arguments of an operator that does not broadcast may be of one shape for other reasons.
        return given.names.contains(name) || !pointwise_;
    }
  }

  Shape own_result(const ShapeTerm& term) const {
    switch (term.kind) {
      case ShapeTerm::Kind::dims:
        return {Shape::Kind::dims, term.dims, {}};
      case ShapeTerm::Kind::like:
      case ShapeTerm::Kind::reduced: {
        const auto argument = arguments_.find(term.name);
        if (argument == arguments_.end()) return {};
        if (term.kind == ShapeTerm::Kind::like) return argument->second;
        return {Shape::Kind::reduced, {}, {term.name}};
      }
      default:
        return {};
    }
  }

  Shape infer(const Expr& expr) {
    switch (expr.kind) {
      case Expr::Kind::number:
        return {Shape::Kind::number, {}, {}};
      case Expr::Kind::name:
        return of_name(expr.text);
      case Expr::Kind::paren:
      case Expr::Kind::unary:
        return infer(expr.children[0]);
      case Expr::Kind::ternary: {
        const Shape then = infer(expr.children[1]);
        return then == infer(expr.children[2]) ? then : Shape{};
      }
      case Expr::Kind::binary:
        return broadcast(infer(expr.children[0]), infer(expr.children[1]), expr);
      case Expr::Kind::index:
        return expr.children[0].is_name("grads") ? of_gradient(expr.children[1].text) : Shape{};
      case Expr::Kind::call:
        return of_call(expr);
      default:
        return {};
    }
  }

  Shape of_name(const std::string& name) const {
    if (name == "grad") return of_gradient(0);
    if (const int i = scope_.named_gradient(name); i >= 0) return of_gradient(i);
    if (const int i = scope_.output(name); i >= 0) return results_[i];
    if (const auto found = arguments_.find(name); found != arguments_.end()) return found->second;
    const auto* argument = entry_.schema.find_argument(name);
    const bool number = argument && !argument->type.list && !argument->type.is_tensor_like();
    return number ? Shape{Shape::Kind::number, {}, {}} : Shape{};
  }

  // `grads[i]`; anything but a number in the brackets gives nothing.
  Shape of_gradient(const std::string& index) const {
    std::size_t i = 0;
    const char* end = index.data() + index.size();
    const auto [rest, error] = std::from_chars(index.data(), end, i);
    return error == std::errc() && rest == end ? of_gradient(i) : Shape{};
  }

  // The gradient at `index` among those of the outputs that have one.
  Shape of_gradient(std::size_t index) const {
    const auto& differentiable = scope_.output_differentiability();
    for (std::size_t i = 0; i < differentiable.size(); ++i) {
      if (differentiable[i] && index-- == 0) return results_[i];
    }
    return {};
  }

  Shape of_call(const Expr& call) {
    const Expr& callee = call.children[0];
    const bool method = callee.kind == Expr::Kind::member;
    if (!method && callee.kind != Expr::Kind::name) return {};
    const std::string& name = callee.text;
    std::vector<const Expr*> arguments;
    if (method) arguments.push_back(&callee.children[0]);
    for (std::size_t i = 1; i < call.children.size(); ++i) arguments.push_back(&call.children[i]);
    // Each is looked at once, so that a mistake within it is reported once.
    std::vector<Shape> shapes;
    for (const Expr* argument : arguments) {
      const bool sizes = is_sizes(*argument);
      shapes.push_back(infer(sizes ? argument->children[0].children[0] : *argument));
    }
    if (model_.helpers.contains(name)) return {};
    std::optional<Shape> common;
    for (const Operator* op : model_.overloads(name, method)) {
      if (!takes(op->schema, arguments.size())) continue;
      const Shape shape = of_operator(*op, call, arguments, shapes);
      if (common && shape != *common) return {};
      common = shape;
    }
    return common.value_or(Shape{});
  }

  // In C++ one TensorOptions stands for dtype, layout, device and pin_memory.
  static bool takes(const FunctionSchema& schema, std::size_t count) {
    const auto& all = schema.arguments;
    const auto needed = std::count_if(all.begin(), all.end(), [](const SchemaArgument& argument) {
      return !argument.default_value;
    });
    const std::size_t fewer = schema.has_tensor_options() ? 3 : 0;
    return count <= all.size() && count + fewer >= static_cast<std::size_t>(needed);
  }

  // `x.sizes()`
  static bool is_sizes(const Expr& expr) {
    return expr.kind == Expr::Kind::call && expr.children.size() == 1 &&
           expr.children[0].kind == Expr::Kind::member &&
           (expr.children[0].text == "sizes" || expr.children[0].text == "sym_sizes");
  }

  Shape of_operator(const Operator& op, const Expr& call, const std::vector<const Expr*>& arguments,
                    const std::vector<Shape>& shapes) {
    if (op.schema.returns.size() != 1) return {};
    if (!op.shape) {
      if (!is_pointwise(op)) return {};
      Shape shape{Shape::Kind::dims, {}, {}};
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!op.schema.arguments[i].type.is_tensor_like()) continue;
        shape = broadcast(shape, shapes[i], call);
      }
      return shape;
    }
    std::map<std::string, std::string> sizes;  // the operator's letters, by ours
    if (!op.shape->inputs.empty() && !bind(op, call, shapes, sizes)) return {};
    const ShapeTerm& result = op.shape->outputs[0];
    if (result.kind == ShapeTerm::Kind::dims) {
      Shape shape{Shape::Kind::dims, {}, {}};
      for (const auto& letter : result.dims) {
        const auto found = sizes.find(letter);
        if (found == sizes.end()) return {};
        shape.dims.push_back(found->second);
      }
      return shape;
    }
    if (result.kind != ShapeTerm::Kind::like) return {};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto& argument = op.schema.arguments[i];
      if (argument.name != result.name) continue;
      return argument.type.is_tensor_like() || is_sizes(*arguments[i]) ? shapes[i] : Shape{};
    }
    return {};
  }

  // Finds what the letters of a called operator stand for; false where the shapes do not fit.
  bool bind(const Operator& op, const Expr& call, const std::vector<Shape>& shapes,
            std::map<std::string, std::string>& sizes) {
    std::size_t term = 0;
    for (std::size_t i = 0; i < op.schema.arguments.size(); ++i) {
      const auto& argument = op.schema.arguments[i];
      if (!argument.type.is_tensor_like() || argument.type.list || argument.is_out) continue;
      const ShapeTerm& wanted = op.shape->inputs[term++];
      if (i >= shapes.size() || wanted.kind != ShapeTerm::Kind::dims ||
          shapes[i].kind != Shape::Kind::dims) {
        continue;
      }
      bool agrees = wanted.dims.size() == shapes[i].dims.size();
      for (std::size_t d = 0; agrees && d < wanted.dims.size(); ++d) {
        agrees =
            sizes.emplace(wanted.dims[d], shapes[i].dims[d]).first->second == shapes[i].dims[d];
      }
      if (agrees) continue;
      report(call, "'" + op.schema.name + "' takes " + op.shape->text + ", and '" + argument.name +
                       "' has " + describe(shapes[i]) + " here" + among(op, shapes, i))
          .note(op.schema_where, "it is '" + to_string(op.schema) + "'");
      return false;
    }
    return true;
  }

  // ", after (n, p)": the arguments before the one that does not fit.
  static std::string among(const Operator& op, const std::vector<Shape>& shapes, std::size_t end) {
    std::string text;
    for (std::size_t i = 0; i < end; ++i) {
      if (!op.schema.arguments[i].type.is_tensor_like() || shapes[i].kind != Shape::Kind::dims) {
        continue;
      }
      text += (text.empty() ? ", after " : ", ") + in_brackets(shapes[i].dims);
    }
    return text;
  }

  Shape broadcast(const Shape& left, const Shape& right, const Expr& expr) {
    using Kind = Shape::Kind;
    if (left.kind == Kind::unknown || right.kind == Kind::unknown) return {};
    if (left.is_scalar() || left == right) return right;
    if (right.is_scalar()) return left;
    if (left.kind == Kind::dims && right.kind == Kind::dims) {
      const Shape& longer = left.dims.size() >= right.dims.size() ? left : right;
      const Shape& other = &longer == &left ? right : left;
      if (std::equal(other.dims.rbegin(), other.dims.rend(), longer.dims.rbegin())) return longer;
      report(expr, in_brackets(left.dims) + " and " + in_brackets(right.dims) +
                       " do not broadcast: their sizes need not agree");
      return {};
    }
    if (left.kind == Kind::like && right.kind == Kind::like) {
      if (!pointwise_) return {};
      Shape both = left;
      both.names.insert(right.names.begin(), right.names.end());
      return both;
    }
    const Shape& reduced = left.kind == Kind::reduced ? left : right;
    const Shape& full = &reduced == &left ? right : left;
    if (reduced.kind == Kind::reduced && full.kind == Kind::like && full.names == reduced.names) {
      report(expr, "one side has " + describe(full) + ", the other " + describe(reduced) +
                       ", which broadcasts only after 'keepdim': bring them back first, as "
                       "'restore_reduced_dims(x, dim, keepdim)' does");
    }
    return {};
  }

  Location whole(const Expr& expr) const {
    return formula_->node->locate(expr.offset, expr.length);
  }

  Diagnostic& report(const Expr& expr, const std::string& message) {
    return diagnostics_.error(whole(expr), message);
  }

  const Model& model_;
  const Operator& op_;
  const DerivativeEntry& entry_;
  Diagnostics& diagnostics_;
  Diagnostics ignored_;  // pass 07 reported what the scope finds
  FormulaScope scope_;
  bool pointwise_;
  std::map<std::string, Shape> arguments_;
  std::set<std::string> all_;  // of a pointwise operator: its tensors
  std::vector<Shape> results_;
  const GradientFormula* formula_ = nullptr;
};

}  // namespace

void check_shapes(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  if (options.syntax_only) return;
  for (const auto& entry : model.derivatives) {
    const Operator* op = model.find(entry->schema.full_name());
    if (!op) continue;
    Formulas formulas(model, *op, *entry, diagnostics);
    for (const auto& formula : entry->gradients) {
      if (formula.tree) formulas.check(formula);
    }
  }
}

}  // namespace oploom::frontend
