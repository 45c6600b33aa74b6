// Pass 10: the derivatives of expressions are evaluated and compared with differences.
//
// Note [Proof of derivatives]
// For each tensor argument of an expression operator, at points all over its domain and on both
// sides of every branch, the gradient that the backward operator would compute, or the formula in
// derivatives.yaml where there is one, is compared with
//
//   (8 (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))) / 12h  =  f'(x) + O(h^4)
//
// in double precision. So is the tangent, along each input and along all of them together: what
// f_jvp computes, or the formula `result` in derivatives.yaml, against the differences in that
// direction. A point is left out where f is not smooth between x - 2h and x + 2h: where a
// condition, the sign of an argument of abs, or a rounded number changes. Points that the record
// calls `singular` are left out too; there, the gradient has to be a number. The domain is that of
// the record: `domain: {argument: [low, high]}`.
#include <codegen/frontend/expression/Build.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace oploom::frontend {

namespace {

constexpr int kPoints = 48;
constexpr double kStep = 1e-3;
// Gradients and tangents that formulas are given. They are not 1, so that a square of one shows.
constexpr double kIncoming = 0.75;
// Of rounding errors and of the terms that the differences neglect.
constexpr double kTolerance = 1e-6;

struct Range {
  double low = -2, high = 2;
};

// What of an instruction changes where it is not smooth: its result (a condition, a whole number),
// the sign of its first argument, the quotient of its arguments rounded down, which one is smaller.
enum class Change { result, sign, quotient, order };

std::optional<Change> change_of(const Instruction& instruction) {
  static const std::map<std::string, Change, std::less<>> kChanges = {
      {"abs", Change::sign},           {"sign", Change::sign},     {"relu", Change::sign},
      {"copysign", Change::sign},      {"ceil", Change::result},   {"floor", Change::result},
      {"round", Change::result},       {"trunc", Change::result},  {"fmod", Change::quotient},
      {"remainder", Change::quotient}, {"maximum", Change::order}, {"minimum", Change::order},
      {"fmax", Change::order},         {"fmin", Change::order},
  };
  if (instruction.truth) return Change::result;
  const auto found = kChanges.find(instruction.operation);
  return found == kChanges.end() ? std::nullopt : std::optional(found->second);
}

std::string text_of(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

double number_of(const YamlNode& node) { return std::strtod(node.value.c_str(), nullptr); }

class Proof {
 public:
  Proof(const Model& model, const Operator& op, Diagnostics& diagnostics)
      : model_(model),
        op_(op),
        expression_(*op.expression),
        forward_(expression_.program),
        diagnostics_(diagnostics) {
    if (op.derivative) {
      backward_ = find_internal("_backward");
      if (backward_) {
        gradients_.emplace(backward_->expression->program);
        jvp_ = find_internal("_jvp");
        if (jvp_) tangents_.emplace(jvp_->expression->program);
      } else {
        read_formulas();
        for (const auto& formula : op.derivative->forward) read_tangent(formula);
      }
    }
    const auto& instructions = expression_.program.instructions;
    for (std::size_t place = 0; place < instructions.size(); ++place) {
      if (const auto change = change_of(instructions[place])) changes_.emplace_back(place, *change);
    }
    plan_directions();
    read_record();
    for (const auto& name : expression_.scalars) numbers_[name] = default_of(name);
  }

  void run() {
    if (!backward_ && written_.empty() && directions_.empty()) return;
    for (int i = 0; i < kPoints && !failed_; ++i) at(random_point());
    for (const auto& input : expression_.inputs) {
      if (!failed_) along(input);
    }
    for (const auto& [input, places] : singular_) {
      for (const double place : places) {
        if (!failed_) at_singular(input, place);
      }
    }
  }

 private:
  // The operator that the derivative found for this expression calls.
  const Operator* find_internal(const std::string& suffix) const {
    const std::string overload = op_.schema.overload_name;
    const Operator* found =
        model_.find(op_.schema.name + suffix + (overload.empty() ? "" : "." + overload));
    return found && found->internal && found->expression ? found : nullptr;
  }

  // What formulas may call the arguments.
  Scope arguments() {
    Scope scope = {{"result", graph_.input("result")}};
    for (const auto& name : expression_.inputs) scope.emplace(name, graph_.input(name));
    for (const auto& name : expression_.scalars) scope.emplace(name, graph_.scalar(name));
    return scope;
  }

  // Null for what is no expression of elements. Other expression operators are written out.
  const Node* build(const Expr& formula, const Scope& scope) {
    return build_formula(graph_, formula, scope,
                         [&](std::string_view name, const std::vector<const Node*>& arguments) {
                           return expression_of(name, arguments);
                         });
  }

  const Node* expression_of(std::string_view name, const std::vector<const Node*>& arguments) {
    for (const Operator* op : model_.overloads(name, /*method=*/false)) {
      const auto& parameters = op->schema.arguments;
      if (!op->expression || op->expression->program.outputs.size() != 1 ||
          parameters.size() != arguments.size()) {
        continue;
      }
      std::map<std::string, const Node*> values;
      for (std::size_t i = 0; i < arguments.size(); ++i) values[parameters[i].name] = arguments[i];
      const auto value = [&](const std::string& text) {
        const auto found = values.find(text);
        return found != values.end() ? found->second
                                     : graph_.constant(std::strtod(text.c_str(), nullptr));
      };
      const Program& program = op->expression->program;
      for (const Instruction& instruction : program.instructions) {
        std::vector<const Node*> operands;
        for (const auto& operand : instruction.arguments) operands.push_back(value(operand));
        values[instruction.name] = graph_.call(instruction.operation, std::move(operands));
      }
      return value(program.outputs[0]);
    }
    return nullptr;
  }

  // Formulas that somebody has written, as far as they are expressions of elements.
  void read_formulas() {
    Scope scope = arguments();
    scope.emplace("grad", graph_.input("grad"));
    for (const auto& formula : op_.derivative->inputs) {
      if (formula.names.size() != 1 || !formula.tree) continue;
      if (const Node* node = build(*formula.tree, scope)) {
        written_.emplace(formula.names[0].text,
                         Written{Evaluator(linearize({node})), formula.node});
      }
    }
  }

  // Likewise the terms of a tangent. `auto_linear` is the operator itself; `auto_element_wise` is
  // nothing but the gradients' formulas.
  void read_tangent(const ForwardFormula& formula) {
    Scope scope = arguments();
    for (const auto& name : expression_.inputs) {
      scope.emplace(name + "_p", graph_.input(name));
      scope.emplace(name + "_t", graph_.input(name + "_t"));
    }
    tangent_source_ = formula.node;
    linear_ = formula.text == "auto_linear";
    for (const auto& term : formula.terms) {
      FormulaError error;
      const auto tree = parse_formula(term.text, error);
      const Node* node = tree && !linear_ ? build(*tree, scope) : nullptr;
      if (!node && !linear_) {
        terms_.clear();
        return;
      }
      terms_.push_back({{term.tangents.begin(), term.tangents.end()},
                        Evaluator(node ? linearize({node}) : Program{})});
    }
  }

  // Along each input that has a term of its own, and along all of them.
  void plan_directions() {
    Values all;
    double next = kIncoming;
    for (const auto& input : expression_.inputs) {
      const bool has_term = std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
        return term.tangents.contains(input);
      });
      if (!jvp_ && !has_term) continue;
      all[input] = next;
      if (!jvp_) directions_.push_back({{input, next}});
      next = -0.8 * next;
    }
    if (all.size() > 1) directions_.push_back(std::move(all));
  }

  bool has_gradient(const std::string& input) const {
    return backward_ || written_.contains(input);
  }

  void read_record() {
    if (!op_.test) return;
    if (const YamlNode* domain = op_.test->find("domain"); domain && domain->is_map()) {
      for (const auto& [name, range] : domain->entries) {
        if (range.items.size() != 2) continue;
        ranges_[name.value] = {number_of(range.items[0]), number_of(range.items[1])};
      }
    }
    if (const YamlNode* singular = op_.test->find("singular"); singular && singular->is_map()) {
      for (const auto& [name, places] : singular->entries) {
        const auto& inputs = expression_.inputs;
        if (std::find(inputs.begin(), inputs.end(), name.value) == inputs.end()) continue;
        for (const auto& place : places.items) singular_[name.value].push_back(number_of(place));
      }
    }
  }

  double default_of(const std::string& name) {
    if (ranges_.contains(name)) return 0.5 * (ranges_[name].low + ranges_[name].high);
    const auto& value = op_.schema.find_argument(name)->default_value;
    if (!value) return 1;
    if (*value == "True") return 1;
    if (*value == "False") return 0;
    return std::strtod(value->c_str(), nullptr);
  }

  Range range_of(const std::string& name) const {
    const auto found = ranges_.find(name);
    return found != ranges_.end() ? found->second : Range{};
  }

  // The same numbers in every run, spread evenly (a linear congruential generator, Knuth's MMIX).
  double random(const Range& range) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return range.low + (range.high - range.low) * static_cast<double>(state_ >> 11) * 0x1p-53;
  }

  Values random_point() {
    Values point = numbers_;
    for (const auto& input : expression_.inputs) point[input] = random(range_of(input));
    return point;
  }

  double value(const Values& point) {
    forward_.run(point);
    return forward_.output(0);
  }

  // Where the function is not smooth, one of these changes.
  std::vector<double> branches(const Values& point) {
    forward_.run(point);
    std::vector<double> taken;
    for (const auto& [place, change] : changes_) {
      const double first = forward_.argument(place, 0);
      switch (change) {
        case Change::result:
          taken.push_back(forward_.result(place));
          break;
        case Change::sign:
          taken.push_back(std::signbit(first));
          break;
        case Change::quotient:
          taken.push_back(std::floor(first / forward_.argument(place, 1)));
          break;
        case Change::order:
          taken.push_back(first < forward_.argument(place, 1));
          break;
      }
    }
    return taken;
  }

  double gradient(Values point, const std::string& input) {
    const double result = value(point);
    if (!backward_) {
      point["grad"] = kIncoming;
      point["result"] = result;
      Evaluator& formula = written_.at(input).formula;
      formula.run(point);
      return formula.output(0) / kIncoming;
    }
    const auto& backward = *backward_->expression;
    point[backward.inputs[0]] = kIncoming;
    // What is no argument of the operator is its result.
    for (const auto& name : backward.inputs) point.emplace(name, result);
    gradients_->run(point);
    const auto place = std::find(expression_.inputs.begin(), expression_.inputs.end(), input) -
                       expression_.inputs.begin();
    return gradients_->output(static_cast<std::size_t>(place)) / kIncoming;
  }

  // The tangent of the result for the tangents of the inputs in `direction`.
  double tangent(Values point, const Values& direction) {
    const auto of = [&](const std::string& input) {
      const auto found = direction.find(input);
      return found == direction.end() ? 0 : found->second;
    };
    if (linear_) {
      for (const auto& input : terms_[0].tangents) point[input] = of(input);
      return value(point);
    }
    const double result = value(point);
    if (jvp_) {
      for (const auto& input : expression_.inputs) point[input + "_tangent"] = of(input);
      for (const auto& name : jvp_->expression->inputs) point.emplace(name, result);
      tangents_->run(point);
      return tangents_->output(0);
    }
    point["result"] = result;
    for (const auto& input : expression_.inputs) point[input + "_t"] = of(input);
    double sum = 0;
    for (auto& term : terms_) {
      const bool wanted =
          std::any_of(term.tangents.begin(), term.tangents.end(),
                      [&](const std::string& input) { return direction.contains(input); });
      if (!wanted) continue;
      term.formula.run(point);
      sum += term.formula.output(0);
    }
    return sum;
  }

  template <typename F>
  static double difference(const F& f, double h) {
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
  }

  static Values moved(Values point, const Values& direction, double by) {
    for (const auto& [input, slope] : direction) point[input] += by * slope;
    return point;
  }

  bool smooth(const Values& point, const Values& direction, double h) {
    const auto here = branches(point);
    for (const int k : {-2, -1, 1, 2}) {
      if (branches(moved(point, direction, k * h)) != here) return false;
      if (!std::isfinite(forward_.output(0))) return false;
    }
    return std::none_of(direction.begin(), direction.end(), [&](const auto& input) {
      const auto found = singular_.find(input.first);
      if (found == singular_.end()) return false;
      return std::any_of(found->second.begin(), found->second.end(), [&](double place) {
        return std::abs(place - point.at(input.first)) <= 3 * h;
      });
    });
  }

  // The slope in a direction by differences, where they are worth something: where the function is
  // smooth and a finer step agrees. `scale` is what errors are measured by.
  std::optional<double> slope(const Values& point, const Values& direction, double& scale) {
    double h = kStep;
    for (const auto& [input, by] : direction) {
      h = std::min(h, kStep * std::max(1e-2, std::abs(point.at(input))));
    }
    if (!smooth(point, direction, h)) return std::nullopt;
    const auto along = [&](double by) { return value(moved(point, direction, by)); };
    const double expected = difference(along, h);
    const double finer = difference(along, 0.5 * h);
    scale = std::max({1.0, std::abs(expected), std::abs(along(0)) * 1e-3 / h});
    if (!(std::abs(expected - finer) <= kTolerance * scale)) return std::nullopt;
    return expected;
  }

  void at(const Values& point) {
    double scale = 1;
    const auto agree = [&](double a, double b) { return std::abs(a - b) <= kTolerance * scale; };
    const auto compared = [](double found, double expected) {
      return text_of(found) + " by the formula and " + text_of(expected) + " by differences, at ";
    };
    for (const auto& input : expression_.inputs) {
      if (!has_gradient(input)) continue;
      const auto expected = slope(point, {{input, 1}}, scale);
      const double found = expected ? gradient(point, input) : 0;
      if (!expected || agree(found, *expected)) continue;
      report(point, {}, gradient_source(input),
             "the derivative with respect to '" + input + "' is " + compared(found, *expected));
      return;
    }
    for (const auto& direction : directions_) {
      const auto expected = slope(point, direction, scale);
      const double found = expected ? tangent(point, direction) : 0;
      if (!expected || agree(found, *expected)) continue;
      report(point, direction, tangent_source(),
             "the tangent of the result is " + compared(found, *expected));
      return;
    }
  }

  // On both sides of each place where a branch changes as one input goes through its domain.
  void along(const std::string& input) {
    Values point = random_point();
    const Range range = range_of(input);
    constexpr int kPieces = 200;
    auto before = point;
    before[input] = range.low;
    for (int i = 1; i <= kPieces && !failed_; ++i) {
      auto after = point;
      after[input] = range.low + (range.high - range.low) * i / kPieces;
      if (branches(before) != branches(after)) {
        auto low = before, high = after;
        while (high[input] - low[input] > 1e-9) {
          auto middle = low;
          middle[input] = 0.5 * (low[input] + high[input]);
          (branches(middle) == branches(low) ? low : high) = middle;
        }
        low[input] -= 4 * kStep;
        high[input] += 4 * kStep;
        at(low);
        if (!failed_) at(high);
      }
      before = after;
    }
  }

  void at_singular(const std::string& input, double place) {
    Values point = random_point();
    point[input] = place;
    if (!std::isfinite(value(point))) return;
    if (has_gradient(input) && std::isnan(gradient(point, input))) {
      report(point, {}, gradient_source(input),
             "the derivative with respect to '" + input + "' is no number at ");
      return;
    }
    for (const auto& direction : directions_) {
      if (!direction.contains(input) || !std::isnan(tangent(point, direction))) continue;
      report(point, direction, tangent_source(), "the tangent of the result is no number at ");
      return;
    }
  }

  const YamlNode& gradient_source(const std::string& input) const {
    return backward_ ? *op_.expr : *written_.at(input).source;
  }
  const YamlNode& tangent_source() const { return jvp_ ? *op_.expr : *tangent_source_; }

  // `tangents`: of the inputs, where they matter.
  void report(const Values& point, const Values& tangents, const YamlNode& source,
              std::string message) {
    std::string values;
    const auto list = [&](const std::string& name, double value) {
      values += (values.empty() ? "" : ", ") + name + " = " + text_of(value);
    };
    for (const auto& argument : op_.schema.arguments) {
      const auto found = point.find(argument.name);
      if (found != point.end()) list(argument.name, found->second);
    }
    for (const auto& [input, value] : tangents) list(input + "_t", value);
    diagnostics_.error(source.where, "'" + op_.name() + "': " + message + values);
    failed_ = true;
  }

  const Model& model_;
  const Operator& op_;
  const Expression& expression_;
  Evaluator forward_;
  std::vector<std::pair<std::size_t, Change>> changes_;  // instructions that have a branch
  Diagnostics& diagnostics_;
  const Operator* backward_ = nullptr;
  std::optional<Evaluator> gradients_;  // backward_
  struct Written {
    Evaluator formula;
    const YamlNode* source;
  };
  Graph graph_;
  std::map<std::string, Written> written_;
  // The tangent: an operator, or what somebody has written.
  struct Term {
    std::set<std::string> tangents;
    Evaluator formula;
  };
  const Operator* jvp_ = nullptr;
  std::optional<Evaluator> tangents_;  // jvp_
  std::vector<Term> terms_;
  const YamlNode* tangent_source_ = nullptr;
  bool linear_ = false;
  std::vector<Values> directions_;
  std::map<std::string, Range> ranges_;
  std::map<std::string, std::vector<double>> singular_;
  Values numbers_;
  std::uint64_t state_ = 1;
  bool failed_ = false;
};

}  // namespace

void prove_derivatives(Model& model, const PassOptions& options, Diagnostics& diagnostics) {
  if (options.syntax_only) return;
  for (const auto& op : model.operators) {
    if (op->expr && op->expression) Proof(model, *op, diagnostics).run();
  }
}

}  // namespace oploom::frontend
