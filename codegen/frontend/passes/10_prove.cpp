// Pass 10: the derivatives of expressions are evaluated and compared with differences.
//
// Note [Proof of derivatives]
// For each tensor argument of an expression operator, at points all over its domain, on both sides
// of every branch and for several values of each number, the gradient that the backward operator
// would compute, or the formula in derivatives.yaml where there is one, is compared with
//
//   (8 (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))) / 12h  =  f'(x) + O(h^4)
//
// in double precision. So is the tangent, along each input and along all of them together: what
// f_jvp computes, or the formula `result` in derivatives.yaml, against the differences in that
// direction. A point is left out where f is not smooth between x - 2h and x + 2h: where a
// condition, the sign of an argument of abs, or a rounded number changes. Points that the record
// calls `singular` are left out too; there, the gradient has to be a number. The domain is that of
// the record: `domain: {argument: [low, high]}`. Without one, most points lie in [-2, 2], and some
// in [-1000, 1000], where a formula may overflow. A number that has a default keeps its sign.
//
// What counts as equal is measured by how much f changes, so that small functions are proved as
// large ones are, and by how much the results of both sides move when every step of the computation
// is off by a little, as rounding makes them.
#include <codegen/frontend/expression/Build.h>
#include <codegen/frontend/passes/Passes.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace oploom::frontend {

namespace {

constexpr int kPoints = 48;
// Where those have shown nothing.
constexpr int kMorePoints = 1000;
constexpr double kStep = 1e-3;
// Gradients and tangents that formulas are given. They are not 1, so that a square of one shows.
constexpr double kIncoming = 0.75;
// Of the terms that the differences neglect.
constexpr double kTolerance = 1e-6;
// The part of a result that one operation may be wrong by, at most.
constexpr double kRounding = 4e-15;
// Where rounding errors are a larger part of the slope, differences say nothing.
constexpr double kNoise = 1e-3;
// Of what is smaller, powers and products lose their digits.
constexpr double kSmallest = 1e-80;
// How far from 0 arguments without a domain may lie.
constexpr double kFar = 1e3;
// Farther away a step of kStep would move them by too few digits, and a longer one is taken.
constexpr double kLongSteps = 1e6;

struct Range {
  double low = -2, high = 2;
};

// What has been computed, and how much of it may be rounding errors.
struct Measured {
  double value = 0, error = 0;
  bool normal = true;  // on the way, too
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
  if (std::isnan(value)) return "nan";  // whose sign says nothing
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

double number_of(const std::string& text) {
  return text == "True" ? 1 : std::strtod(text.c_str(), nullptr);
}

class Proof {
 public:
  Proof(const Model& model, Operator& op, Diagnostics& diagnostics)
      : model_(model),
        op_(op),
        expression_(*op.expression),
        forward_(expression_.program),
        diagnostics_(diagnostics) {
    if (op.derivative) {
      backward_ = find_internal("_backward");
      jvp_ = find_internal("_jvp");
      if (backward_) gradients_.emplace(backward_->expression->program);
      if (jvp_) tangents_.emplace(jvp_->expression->program);
      read_formulas();
      for (auto& formula : op.derivative->forward) {
        if (!formula.found || !backward_) read_tangent(formula);
      }
    }
    const auto& instructions = expression_.program.instructions;
    for (std::size_t place = 0; place < instructions.size(); ++place) {
      if (const auto change = change_of(instructions[place])) changes_.emplace_back(place, *change);
    }
    for (const auto& [place, change] : changes_) {
      const auto& operands = instructions[place].arguments;
      if (operands.size() != 2) continue;
      if (is_uniform(operands[1])) compared_[operands[0]].emplace_back(place, 1);
      if (is_uniform(operands[0])) compared_[operands[1]].emplace_back(place, 0);
    }
    plan_directions();
    read_record();
    for (const auto& requirement : expression_.requirements) {
      requirements_.emplace_back(requirement.program);
    }
    for (const auto& name : expression_.scalars) numbers_[name] = default_of(name);
    for (int i = 0; i < kMorePoints && !allowed(numbers_); ++i) {
      for (const auto& name : expression_.scalars) {
        const SchemaArgument& argument = *op_.schema.find_argument(name);
        numbers_[name] = of_type(argument, random(range_of_number(argument)));
      }
    }
  }

  void run() {
    if (!backward_ && written_.empty() && directions_.empty()) return;
    if (const auto* failed = refused(numbers_)) {
      diagnostics_.error(op_.requirements_where,
                         "'" + op_.name() +
                             "': no numbers that were tried meet this: give their range, as in "
                             "'test: {domain: {" +
                             failed->scalars[0] + ": [10, 20]}}'");
      return;
    }
    for (int i = 0; i < kPoints && !failed_; ++i) at(random_point());
    const bool bounded = std::all_of(expression_.inputs.begin(), expression_.inputs.end(),
                                     [&](const auto& name) { return ranges_.contains(name); });
    for (int i = 0; i < kPoints && !bounded && !failed_; ++i) at_far(random_point());
    for (const auto& input : expression_.inputs) {
      if (!failed_) along(input);
    }
    for (const auto& [input, places] : singular_) {
      for (const double place : places) {
        if (!failed_) at_singular(input, place);
      }
    }
    for (int i = 0; i < kMorePoints && !failed_ && !finite_; ++i) at_far(random_point());
    if (!finite_ && !failed_) {
      diagnostics_.error(op_.expr->where,
                         "'" + op_.name() +
                             "': the expression is no finite number at any point that was tried; "
                             "say where it is, as in 'test: {domain: {" +
                             expression_.inputs[0] + ": [10, 20]}}'");
      return;
    }
    for (const auto& [input, written] : written_) {
      if (written.found) continue;  // by pass 02, and right without a proof
      for (int i = 0; i < kMorePoints && !failed_ && !proved_.contains(input); ++i) {
        at_far(random_point());
      }
      if (failed_ || proved_.contains(input)) continue;
      const std::string message = "nothing can be told of the derivative with respect to '" +
                                  input +
                                  "': the expression is finite and smooth at no point that was "
                                  "tried; say where it is, as in "
                                  "'test: {domain: {" +
                                  input + ": [10, 20]}}'";
      diagnostics_.error(written.source->where, "'" + op_.name() + "': " + message);
    }
  }

 private:
  // The operator that the derivative found for this expression calls.
  const Operator* find_internal(const std::string& suffix) const {
    const Operator* found = model_.find(name_of_derivative(op_.schema, suffix));
    return found && found->internal && found->expression ? found : nullptr;
  }

  // Whether an operand is the same for all elements.
  bool is_uniform(const std::string& operand) const {
    const auto& inputs = expression_.inputs;
    if (std::find(inputs.begin(), inputs.end(), operand) != inputs.end()) return false;
    const auto& instructions = expression_.program.instructions;
    return std::none_of(instructions.begin(), instructions.end(), [&](const auto& instruction) {
      return instruction.name == operand && !instruction.uniform;
    });
  }

  // What formulas may call the arguments.
  Scope arguments() {
    Scope scope = {{"result", graph_.input("result")}};
    for (const auto& name : expression_.inputs) scope.emplace(name, graph_.input(name));
    for (const auto& name : expression_.scalars) {
      const auto& type = op_.schema.find_argument(name)->type;
      scope.emplace(name, graph_.scalar(name, type.base == SchemaBaseType::Bool));
    }
    return scope;
  }

  // Null for what is no expression of elements, of which `unproved` then names the part. Other
  // expression operators are written out.
  const Node* build(const Expr& formula, const std::string& text, const Scope& scope,
                    std::string& unproved) {
    FormulaError error;
    const Node* node = build_formula(
        graph_, formula, scope,
        [&](std::string_view name, const std::vector<const Node*>& arguments) {
          return expression_of(name, arguments);
        },
        error);
    if (!node) unproved = text.substr(error.offset, error.length);
    return node;
  }

  const Node* expression_of(std::string_view name, const std::vector<const Node*>& arguments) {
    for (const Operator* op : model_.overloads(name, /*method=*/false)) {
      const auto& parameters = op->schema.arguments;
      if (!op->expression || op->expression->program.outputs.size() != 1 ||
          parameters.size() < arguments.size()) {
        continue;
      }
      std::map<std::string, const Node*> values;
      bool complete = true;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto& usual = parameters[i].default_value;
        if (i < arguments.size()) {
          values[parameters[i].name] = arguments[i];
        } else if (usual) {
          values[parameters[i].name] = graph_.constant(number_of(*usual));
        } else {
          complete = false;
        }
      }
      if (!complete) continue;
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

  // What `backward_` computes, in its order, and the formulas that somebody has written, as far as
  // they are expressions of elements.
  void read_formulas() {
    Scope scope = arguments();
    scope.emplace("grad", graph_.input("grad"));
    for (auto& formula : op_.derivative->inputs) {
      if (formula.found && backward_) {
        for (const auto& name : formula.names) computed_.push_back(name.text);
        continue;
      }
      if (formula.names.size() != 1) formula.unproved = formula.text;
      if (formula.names.size() != 1 || !formula.tree) continue;
      if (const Node* node = build(*formula.tree, formula.text, scope, formula.unproved)) {
        written_.emplace(formula.names[0].text,
                         Written{Evaluator(linearize({node})), formula.node, formula.found});
      }
    }
  }

  // Likewise the terms of a tangent. `auto_linear` is the operator itself; `auto_element_wise` is
  // nothing but the gradients' formulas.
  void read_tangent(ForwardFormula& formula) {
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
      const Node* node =
          tree && !linear_ ? build(*tree, term.text, scope, formula.unproved) : nullptr;
      if (!node && !linear_) {
        terms_.clear();
        return;
      }
      terms_.push_back({{term.tangents.begin(), term.tangents.end()},
                        Evaluator(node ? linearize({node}) : Program{})});
    }
  }

  // Along each input that has a term of its own, or a gradient and therefore should have one, and
  // along all of them.
  void plan_directions() {
    Values all;
    double next = kIncoming;
    for (const auto& input : expression_.inputs) {
      const bool has_term = std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
        return term.tangents.contains(input);
      });
      const bool lacks_term = !terms_.empty() && has_gradient(input);
      if (!jvp_ && !has_term && !lacks_term) continue;
      all[input] = next;
      if (!jvp_) directions_.push_back({{input, next}});
      next = -0.8 * next;
    }
    if (all.size() > 1) directions_.push_back(std::move(all));
  }

  bool computes(const std::string& input) const {
    return std::find(computed_.begin(), computed_.end(), input) != computed_.end();
  }
  bool has_gradient(const std::string& input) const {
    return computes(input) || written_.contains(input);
  }

  void read_record() {
    if (!op_.test) return;
    const auto read_range = [&](const std::string& name, const YamlNode& range) {
      if (range.items.size() != 2) return;
      ranges_[name] = {number_of(range.items[0].value), number_of(range.items[1].value)};
    };
    if (const YamlNode* domain = op_.test->find("domain"); domain && domain->is_map()) {
      for (const auto& [name, range] : domain->entries) read_range(name.value, range);
    } else if (domain) {
      for (const auto& input : expression_.inputs) read_range(input, *domain);
    }
    if (const YamlNode* arguments = op_.test->find("arguments")) {
      for (const auto& [name, value] : arguments->entries) {
        if (value.is_scalar()) given_[name.value] = number_of(value.value);
      }
    }
    if (const YamlNode* singular = op_.test->find("singular"); singular && singular->is_map()) {
      for (const auto& [name, places] : singular->entries) {
        const auto& inputs = expression_.inputs;
        if (std::find(inputs.begin(), inputs.end(), name.value) == inputs.end()) continue;
        for (const auto& place : places.items)
          singular_[name.value].push_back(number_of(place.value));
      }
    }
  }

  // What a number is where nothing calls for another value.
  double default_of(const std::string& name) {
    if (given_.contains(name)) return given_[name];
    if (ranges_.contains(name)) return 0.5 * (ranges_[name].low + ranges_[name].high);
    const auto& value = op_.schema.find_argument(name)->default_value;
    return value ? number_of(*value) : 1;
  }

  Range range_of(const std::string& name) const {
    const auto found = ranges_.find(name);
    return found != ranges_.end() ? found->second : Range{};
  }

  // Those of a number that may be negative where its default is not, say, would refuse derivatives
  // that are right for what the operator is meant for.
  Range range_of_number(const SchemaArgument& argument) {
    if (ranges_.contains(argument.name)) return ranges_[argument.name];
    if (argument.type.base == SchemaBaseType::Bool) return {0, 1};
    if (!argument.default_value) return {};
    const double usual = numbers_.at(argument.name);
    if (usual == 0) return {};
    return argument.type.base == SchemaBaseType::Int ? Range{usual, 3 * usual}
                                                     : Range{0.5 * usual, 2 * usual};
  }

  // The same numbers in every run, spread evenly (a linear congruential generator, Knuth's MMIX).
  double random(const Range& range) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return range.low + (range.high - range.low) * static_cast<double>(state_ >> 11) * 0x1p-53;
  }

  bool chance() { return random({0, 1}) < 0.5; }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(random({0, static_cast<double>(all.size())}))];
  }

  Values random_point() {
    Values point = numbers_;
    for (const auto& input : expression_.inputs) point[input] = random(range_of(input));
    for (const auto& name : expression_.scalars) {
      if (!chance()) continue;
      Values changed = point;
      changed[name] = random_number(*op_.schema.find_argument(name), point);
      if (allowed(changed)) point = std::move(changed);
    }
    return point;
  }

  // The condition that these numbers do not meet, or null.
  const Requirement* refused(const Values& point) {
    for (std::size_t i = 0; i < requirements_.size(); ++i) {
      requirements_[i].run(point);
      if (requirements_[i].output(0) == 0) return &expression_.requirements[i];
    }
    return nullptr;
  }
  // Whether the operator takes these numbers.
  bool allowed(const Values& point) { return refused(point) == nullptr; }

  double random_number(const SchemaArgument& argument, const Values& point) {
    double value = random(range_of_number(argument));
    const auto edges = edges_of(argument.name, point);
    if (!edges.empty() && chance()) value = one_of(edges) + std::round(random({-1, 1}));
    return of_type(argument, value);
  }
  static double of_type(const SchemaArgument& argument, double value) {
    const bool whole =
        argument.type.base == SchemaBaseType::Int || argument.type.base == SchemaBaseType::Bool;
    return whole ? std::round(value) : value;
  }

  // What conditions compare an argument with that has no domain.
  std::vector<double> edges_of(const std::string& name, const Values& point) {
    const auto found = compared_.find(name);
    if (found == compared_.end() || ranges_.contains(name)) return {};
    std::vector<double> edges;
    forward_.run(point);
    for (const auto& [place, operand] : found->second) {
      const double edge = forward_.argument(place, operand);
      if (std::isfinite(edge)) edges.push_back(edge);
    }
    return edges;
  }

  // For an argument without a domain: near what a condition compares it with, or of any magnitude.
  double far_value(const std::string& name, const Values& point) {
    const auto edges = edges_of(name, point);
    if (!edges.empty() && chance()) {
      const double edge = one_of(edges);
      return edge + std::max(1.0, std::abs(edge)) * random({-0.5, 0.5});
    }
    const double size = std::exp(random({-std::log(kFar), std::log(kFar)}));
    return chance() ? size : -size;
  }

  double value(const Values& point) {
    forward_.run(point);
    return forward_.output(0);
  }

  Measured measure(Evaluator& program, const Values& point, std::size_t output = 0) {
    program.run(point);
    const double value = program.output(output);
    Measured result{value, kRounding * std::abs(value), program.normal()};
    for (int i = 0; i < 3; ++i) {
      Values near = point;
      for (auto& [name, argument] : near) {
        if (!numbers_.contains(name)) argument *= 1 + kRounding * random({-1, 1});
      }
      program.run(near, kRounding);
      // Left out where it is no number: a power whose exponent is not quite whole, say.
      result.error = std::max(result.error, std::abs(program.output(output) - value));
    }
    return result;
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

  // For a gradient kIncoming of the result.
  Measured gradient(Values point, const std::string& input) {
    const double result = value(point);
    if (!computes(input)) {
      point["grad"] = kIncoming;
      point["result"] = result;
      return measure(written_.at(input).formula, point);
    }
    const auto& backward = *backward_->expression;
    point[backward.inputs[0]] = kIncoming;
    // What is no argument of the operator is its result.
    for (const auto& name : backward.inputs) point.emplace(name, result);
    const auto place = std::find(computed_.begin(), computed_.end(), input) - computed_.begin();
    return measure(*gradients_, point, static_cast<std::size_t>(place));
  }

  // The tangent of the result for the tangents of the inputs in `direction`.
  Measured tangent(Values point, const Values& direction) {
    const auto of = [&](const std::string& input) {
      const auto found = direction.find(input);
      return found == direction.end() ? 0 : found->second;
    };
    if (linear_) {
      for (const auto& input : terms_[0].tangents) point[input] = of(input);
      return measure(forward_, point);
    }
    const double result = value(point);
    if (jvp_) {
      for (const auto& input : expression_.inputs) point[input + "_tangent"] = of(input);
      for (const auto& name : jvp_->expression->inputs) point.emplace(name, result);
      return measure(*tangents_, point);
    }
    point["result"] = result;
    for (const auto& input : expression_.inputs) point[input + "_t"] = of(input);
    Measured sum;
    for (auto& term : terms_) {
      const bool wanted =
          std::any_of(term.tangents.begin(), term.tangents.end(),
                      [&](const std::string& input) { return direction.contains(input); });
      if (!wanted) continue;
      const Measured one = measure(term.formula, point);
      sum.value += one.value;
      sum.error += one.error;
      sum.normal &= one.normal;
    }
    return sum;
  }

  // What a step at `place` is a part of.
  static double unit(double place) {
    const double size = std::abs(place);
    return size <= 1 ? std::max(1e-2, size) : std::max(1.0, size / kLongSteps);
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
  // smooth, and a longer step and a shorter one agree.
  std::optional<Measured> slope(const Values& point, const Values& direction) {
    for (const double step : {kStep, 1e-2 * kStep}) {
      double h = std::numeric_limits<double>::infinity(), reach = 1;
      for (const auto& [input, by] : direction) {
        reach = std::max(reach, std::abs(point.at(input)));
        h = std::min(h, step * unit(point.at(input)));
      }
      if (!smooth(point, direction, h)) continue;
      const auto along = [&](double by) { return value(moved(point, direction, by)); };
      const Measured here = measure(forward_, point);
      if (far_ && !here.normal) continue;
      const double expected = difference(along, 0.5 * h);
      const double change =
          std::max(std::abs(along(2 * h) - here.value), std::abs(along(-2 * h) - here.value)) / h;
      const double slope = std::max(std::abs(expected), change);
      const double noise = here.error / h;
      const double error = kTolerance * std::max(kSmallest, slope) + noise;
      if (noise > kNoise * std::max(slope, std::abs(here.value) / reach)) continue;
      // Of what swings faster than the steps, two differences may be equal by chance.
      const bool agree = std::abs(expected - difference(along, h)) <= error &&
                         std::abs(expected - difference(along, 0.31 * h)) <= error + 3 * noise;
      if (agree) return Measured{expected, error};
    }
    return std::nullopt;
  }

  bool agree(const Measured& found, const Measured& expected) const {
    if (far_ && !found.normal) return true;
    // Far from 0 a formula such as cos(self) has no digits at all, which few samples show in full.
    const double rounding = (far_ ? 10 : 1) * found.error;
    return std::abs(found.value - expected.value) <= expected.error + rounding;
  }

  void at(const Values& point) {
    const auto compared = [](double found, double expected) {
      return text_of(found) + " by the formula and " + text_of(expected) + " by differences, at ";
    };
    finite_ |= std::isfinite(value(point));
    for (const auto& input : expression_.inputs) {
      if (!has_gradient(input)) continue;
      auto expected = slope(point, {{input, 1}});
      if (!expected) continue;
      proved_.insert(input);
      Measured found = gradient(point, input);
      found.value /= kIncoming;
      if (agree(found, *expected)) continue;
      report(point, {}, gradient_source(input),
             "the derivative with respect to '" + input + "' is " +
                 compared(found.value, expected->value));
      return;
    }
    for (const auto& direction : directions_) {
      const auto expected = slope(point, direction);
      if (!expected) continue;
      const Measured found = tangent(point, direction);
      if (agree(found, *expected)) continue;
      report(point, direction, tangent_source(),
             "the tangent of the result is " + compared(found.value, expected->value));
      return;
    }
  }

  void at_far(Values point) {
    for (const auto& input : expression_.inputs) {
      if (!ranges_.contains(input)) point[input] = far_value(input, point);
    }
    far_ = true;
    at(point);
    far_ = false;
  }

  // Places from one end of an input's domain to the other, close to each other near what conditions
  // compare it with.
  std::vector<double> places(const Values& point, const std::string& input) {
    const Range range = range_of(input);
    constexpr int kPieces = 200;
    std::vector<double> list;
    for (int i = 0; i <= kPieces; ++i) {
      list.push_back(range.low + (range.high - range.low) * i / kPieces);
    }
    if (ranges_.contains(input)) return list;
    for (double far = range.high; far < kFar;) {
      far *= 1.1;
      list.insert(list.end(), {far, -far});
    }
    for (const double edge : edges_of(input, point)) {
      const double near = 0.01 * std::max(1.0, std::abs(edge));
      list.insert(list.end(), {edge - near, edge, edge + near});
    }
    std::sort(list.begin(), list.end());
    return list;
  }

  // On both sides of each place where a branch changes as one input goes through its domain.
  void along(const std::string& input) {
    const Values point = random_point();
    auto before = point;
    bool first = true;
    for (const double place : places(point, input)) {
      auto after = point;
      after[input] = place;
      if (!first && branches(before) != branches(after)) {
        auto low = before, high = after;
        while (high[input] - low[input] > 1e-9) {
          auto middle = low;
          middle[input] = 0.5 * (low[input] + high[input]);
          // Far from 0 no double lies between.
          if (middle[input] <= low[input] || middle[input] >= high[input]) break;
          (branches(middle) == branches(low) ? low : high) = middle;
        }
        far_ = !ranges_.contains(input) && std::abs(place) > Range().high;
        // A formula may have the branch a little beside.
        for (const double away : {4 * kStep, 4e-2 * kStep}) {
          const double by = away * std::max(1.0, unit(place));
          if (!failed_) at(moved(low, {{input, 1}}, -by));
          if (!failed_) at(moved(high, {{input, 1}}, by));
        }
        far_ = false;
        if (failed_) return;
      }
      first = false;
      before = std::move(after);
    }
  }

  void at_singular(const std::string& input, double place) {
    Values point = random_point();
    for (const auto& [name, value] : numbers_) point[name] = value;
    point[input] = place;
    if (!std::isfinite(value(point))) return;
    if (has_gradient(input) && std::isnan(gradient(point, input).value)) {
      report(point, {}, gradient_source(input),
             "the derivative with respect to '" + input + "' is no number at ");
      return;
    }
    for (const auto& direction : directions_) {
      if (!direction.contains(input) || !std::isnan(tangent(point, direction).value)) continue;
      report(point, direction, tangent_source(), "the tangent of the result is no number at ");
      return;
    }
  }

  const YamlNode& gradient_source(const std::string& input) const {
    return computes(input) ? *op_.expr : *written_.at(input).source;
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
  Operator& op_;
  const Expression& expression_;
  Evaluator forward_;
  std::vector<Evaluator> requirements_;
  std::vector<std::pair<std::size_t, Change>> changes_;  // instructions that have a branch
  Diagnostics& diagnostics_;
  const Operator* backward_ = nullptr;
  std::optional<Evaluator> gradients_;  // backward_
  std::vector<std::string> computed_;   // the inputs whose gradients these are
  struct Written {
    Evaluator formula;
    const YamlNode* source;
    bool found;
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
  std::map<std::string, double> given_;  // the numbers that tests call it with
  std::map<std::string, std::vector<double>> singular_;
  Values numbers_;  // their defaults
  // By argument, the operands that it is compared with: the instruction and which of its arguments.
  std::map<std::string, std::vector<std::pair<std::size_t, std::size_t>>> compared_;
  std::set<std::string> proved_;  // inputs whose gradient has been compared
  bool finite_ = false;           // at a point that has been tried
  bool far_ = false;              // the point at hand is one where formulas may overflow
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
