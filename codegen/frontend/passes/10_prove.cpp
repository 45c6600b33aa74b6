// Pass 10: the derivatives of expressions are evaluated and compared with differences.
//
// Note [Proof of derivatives]
// For each tensor argument of an expression operator, at points all over its domain and on both
// sides of every branch, the gradient that the backward operator would compute, or the formula in
// derivatives.yaml where there is one, is compared with
//
//   (8 (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))) / 12h  =  f'(x) + O(h^4)
//
// in double precision. A point is left out where f is not smooth between x - 2h and x + 2h: where a
// condition, the sign of an argument of abs, or a rounded number changes. Points that the record
// calls `singular` are left out too; there, the gradient has to be a number. The domain is that of
// the record: `domain: {argument: [low, high]}`.
#include <codegen/frontend/expression/Build.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace oploom::frontend {

namespace {

constexpr int kPoints = 48;
constexpr double kStep = 1e-3;
// Of rounding errors and of the terms that the differences neglect.
constexpr double kTolerance = 1e-6;

struct Range {
  double low = -2, high = 2;
};

std::string text_of(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

double number_of(const YamlNode& node) { return std::strtod(node.value.c_str(), nullptr); }

class Proof {
 public:
  Proof(const Model& model, const Operator& op, Diagnostics& diagnostics)
      : op_(op), expression_(*op.expression), diagnostics_(diagnostics) {
    if (op.derivative) {
      backward_ = find_backward(model);
      if (!backward_) read_formulas();
    }
    read_record();
    for (const auto& name : expression_.scalars) numbers_[name] = default_of(name);
  }

  void run() {
    if (!backward_ && written_.empty()) return;
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
  const Operator* find_backward(const Model& model) const {
    const std::string overload = op_.schema.overload_name;
    const Operator* found =
        model.find(op_.schema.name + "_backward" + (overload.empty() ? "" : "." + overload));
    return found && found->internal && found->expression ? found : nullptr;
  }

  // Formulas that somebody has written, as far as they are expressions of elements.
  void read_formulas() {
    Scope scope = {{"grad", graph_.input("grad")}, {"result", graph_.input("result")}};
    for (const auto& name : expression_.inputs) scope.emplace(name, graph_.input(name));
    for (const auto& name : expression_.scalars) scope.emplace(name, graph_.scalar(name));
    for (const auto& formula : op_.derivative->inputs) {
      if (formula.names.size() != 1 || !formula.tree) continue;
      if (const Node* node = build_formula(graph_, *formula.tree, scope)) {
        written_[formula.names[0].text] = {node, formula.node};
      }
    }
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

  double value(Values point) const {
    carry_out(expression_.program, point);
    return operand(point, expression_.program.outputs[0]);
  }

  // What changes where the function is not smooth: conditions, signs, whole numbers.
  std::vector<double> branches(Values point) const {
    carry_out(expression_.program, point);
    std::vector<double> taken;
    for (const auto& instruction : expression_.program.instructions) {
      const auto argument = [&](std::size_t i) { return operand(point, instruction.arguments[i]); };
      const std::string& name = instruction.operation;
      if (instruction.truth) {
        taken.push_back(point.at(instruction.name));
      } else if (name == "abs" || name == "sign" || name == "relu" || name == "copysign") {
        taken.push_back(std::signbit(argument(0)));
      } else if (name == "ceil" || name == "floor" || name == "round" || name == "trunc") {
        taken.push_back(point.at(instruction.name));
      } else if (name == "fmod" || name == "remainder") {
        taken.push_back(std::floor(argument(0) / argument(1)));
      } else if (name == "maximum" || name == "minimum" || name == "fmax" || name == "fmin") {
        taken.push_back(argument(0) < argument(1));
      }
    }
    return taken;
  }

  double gradient(Values point, const std::string& input) const {
    const Values before = point;
    carry_out(expression_.program, point);
    const double result = operand(point, expression_.program.outputs[0]);
    if (!backward_) {
      std::map<std::string, double> arguments(before.begin(), before.end());
      arguments["grad"] = 1;
      arguments["result"] = result;
      return evaluate(written_.at(input).node, arguments);
    }
    const auto& backward = *backward_->expression;
    point = before;
    point[backward.inputs[0]] = 1;
    // What is no argument of the operator is its result.
    for (const auto& name : backward.inputs) {
      if (!point.contains(name)) point[name] = result;
    }
    carry_out(backward.program, point);
    const auto place = std::find(expression_.inputs.begin(), expression_.inputs.end(), input) -
                       expression_.inputs.begin();
    return operand(point, backward.program.outputs[static_cast<std::size_t>(place)]);
  }

  template <typename F>
  static double difference(const F& f, double h) {
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
  }

  bool smooth(const Values& point, const std::string& input, double h) const {
    const auto here = branches(point);
    for (const int k : {-2, -1, 1, 2}) {
      Values beside = point;
      beside[input] += k * h;
      if (branches(beside) != here || !std::isfinite(value(beside))) return false;
    }
    const auto found = singular_.find(input);
    if (found == singular_.end()) return true;
    return std::none_of(found->second.begin(), found->second.end(),
                        [&](double place) { return std::abs(place - point.at(input)) <= 3 * h; });
  }

  void at(const Values& point) {
    for (const auto& input : expression_.inputs) {
      if (!has_gradient(input)) continue;
      const double h = kStep * std::max(1e-2, std::min(1.0, std::abs(point.at(input))));
      if (!smooth(point, input, h)) continue;
      const auto moved = [&](double by) {
        Values beside = point;
        beside[input] += by;
        return value(beside);
      };
      const double expected = difference(moved, h);
      // The differences are worth something only if a finer step agrees.
      const double finer = difference(moved, 0.5 * h);
      const double scale = std::max({1.0, std::abs(expected), std::abs(moved(0)) * 1e-3 / h});
      if (!(std::abs(expected - finer) <= kTolerance * scale)) continue;
      const double found = gradient(point, input);
      if (std::abs(found - expected) <= kTolerance * scale) continue;
      report(point, input,
             "the derivative with respect to '" + input + "' is " + text_of(found) +
                 " by the formula and " + text_of(expected) + " by differences, at ");
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
    if (!has_gradient(input) || !std::isfinite(value(point))) return;
    if (!std::isnan(gradient(point, input))) return;
    report(point, input, "the derivative with respect to '" + input + "' is no number at ");
  }

  void report(const Values& point, const std::string& input, std::string message) {
    bool first = true;
    for (const auto& argument : op_.schema.arguments) {
      const auto found = point.find(argument.name);
      if (found == point.end()) continue;
      message += (first ? "" : ", ") + argument.name + " = " + text_of(found->second);
      first = false;
    }
    const YamlNode& node = backward_ ? *op_.expr : *written_.at(input).source;
    diagnostics_.error(node.where, "'" + op_.name() + "': " + message);
    failed_ = true;
  }

  const Operator& op_;
  const Expression& expression_;
  Diagnostics& diagnostics_;
  const Operator* backward_ = nullptr;
  struct Written {
    const Node* node;
    const YamlNode* source;
  };
  Graph graph_;
  std::map<std::string, Written> written_;
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
