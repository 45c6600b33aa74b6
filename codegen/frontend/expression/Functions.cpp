#include <c10/util/number_functions.h>
#include <codegen/frontend/expression/Functions.h>

#include <algorithm>

namespace oploom::frontend {

namespace {

// As generated code computes them.
#define OPLOOM_UNARY(function) \
  [](const double* a) -> double { return c10::numbers::function(a[0]); }
#define OPLOOM_BINARY(function) \
  [](const double* a) -> double { return c10::numbers::function(a[0], a[1]); }

using enum Function::Traits;
using Strings = std::vector<std::string_view>;

const Strings kOne = {"x"};
const Strings kTwo = {"x", "y"};

// Derivatives: DLMF (dlmf.nist.gov) 4.4-4.37 for elementary functions, 5 for gamma functions, 7 for
// error functions, 10.29 for Bessel functions.
const std::vector<Function>& table() {
  static const std::vector<Function> rows = [] {
    std::vector<Function> all = {
        {"abs", kOne, {"sign(x)"}, OPLOOM_UNARY(abs), 1, integers | signs},
        {"acos", kOne, {"-1 / sqrt(1 - x * x)"}, OPLOOM_UNARY(acos), 20, complex},
        {"acosh",
         kOne,
         {"1 / (sqrt(x - 1) * sqrt(x + 1))"},
         OPLOOM_UNARY(acosh),
         25,
         complex | two_forms},
        {"asin", kOne, {"1 / sqrt(1 - x * x)"}, OPLOOM_UNARY(asin), 20, complex},
        {"asinh", kOne, {"1 / sqrt(x * x + 1)"}, OPLOOM_UNARY(asinh), 25, complex | two_forms},
        {"atan", kOne, {"1 / (x * x + 1)"}, OPLOOM_UNARY(atan), 20, complex},
        {"atan2",
         kTwo,
         {"x == 0 && y == 0 ? 0 : y / (x * x + y * y)",
          "x == 0 && y == 0 ? 0 : -x / (x * x + y * y)"},
         OPLOOM_BINARY(atan2),
         30,
         two_forms},
        {"atanh", kOne, {"1 / (1 - x * x)"}, OPLOOM_UNARY(atanh), 25, complex | two_forms},
        {"ceil", kOne, {"0"}, OPLOOM_UNARY(ceil), 1, integers},
        {"copysign", kTwo, {"x == 0 ? 0 : result / x", "0"}, OPLOOM_BINARY(copysign), 2, signs},
        {"cos", kOne, {"-sin(x)"}, OPLOOM_UNARY(cos), 20, complex | short_form},
        {"cosh", kOne, {"sinh(x)"}, OPLOOM_UNARY(cosh), 25, complex},
        {"digamma", kOne, {"polygamma(1, x)"}, OPLOOM_UNARY(digamma), 60},
        {"erf", kOne, {"1.1283791670955126 * exp(-x * x)"}, OPLOOM_UNARY(erf), 25, short_form},
        {"erfc", kOne, {"-1.1283791670955126 * exp(-x * x)"}, OPLOOM_UNARY(erfc), 25},
        {"erfcx",
         kOne,
         {"2 * x * result - 1.1283791670955126"},
         OPLOOM_UNARY(erfcx),
         60,
         none,
         "special_erfcx"},
        {"erfinv",
         kOne,
         {"0.8862269254527580 * exp(result * result)"},
         OPLOOM_UNARY(erfinv),
         60,
         two_forms},
        {"exp", kOne, {"result"}, OPLOOM_UNARY(exp), 12, complex | two_forms | short_form},
        {"exp2",
         kOne,
         {"0.6931471805599453 * result"},
         OPLOOM_UNARY(exp2),
         12,
         complex | two_forms | short_form},
        {"expm1", kOne, {"exp(x)"}, OPLOOM_UNARY(expm1), 18, complex | two_forms | short_form},
        {"floor", kOne, {"0"}, OPLOOM_UNARY(floor), 1, integers},
        {"fmax",
         kTwo,
         {"x >= y || isnan(y) ? 1 : 0", "x >= y || isnan(y) ? 0 : 1"},
         OPLOOM_BINARY(fmax),
         3,
         integers},
        {"fmin",
         kTwo,
         {"x <= y || isnan(y) ? 1 : 0", "x <= y || isnan(y) ? 0 : 1"},
         OPLOOM_BINARY(fmin),
         3,
         integers},
        {"fmod", kTwo, {"1", "-trunc(x / y)"}, OPLOOM_BINARY(fmod), 30},
        {"hypot", kTwo, {"x / result", "y / result"}, OPLOOM_BINARY(hypot), 15},
        {"i0", kOne, {"i1(x)"}, OPLOOM_UNARY(i0), 60},
        {"i0e", kOne, {"i1e(x) - sign(x) * result"}, OPLOOM_UNARY(i0e), 60, none, "special_i0e"},
        {"i1",
         kOne,
         {"x == 0 ? 0.5 : i0(x) - result / x"},
         OPLOOM_UNARY(i1),
         60,
         none,
         "special_i1"},
        {"i1e",
         kOne,
         {"x == 0 ? 0.5 : i0e(x) - result * (sign(x) + 1 / x)"},
         OPLOOM_UNARY(i1e),
         60,
         none,
         "special_i1e"},
        {"isinf", kOne, {}, OPLOOM_UNARY(isinf), 1, integers | truth | no_integer},
        {"isnan", kOne, {}, OPLOOM_UNARY(isnan), 1, integers | truth | no_integer},
        {"lgamma", kOne, {"digamma(x)"}, OPLOOM_UNARY(lgamma), 60},
        {"log",
         kOne,
         {"1 / x"},
         OPLOOM_UNARY(log),
         14,
         complex | two_forms | short_form | many_constants},
        {"log10",
         kOne,
         {"0.4342944819032518 / x"},
         OPLOOM_UNARY(log10),
         14,
         complex | two_forms | short_form | many_constants},
        {"log1p",
         kOne,
         {"1 / (x + 1)"},
         OPLOOM_UNARY(log1p),
         18,
         complex | two_forms | short_form | many_constants},
        {"log2",
         kOne,
         {"1.4426950408889634 / x"},
         OPLOOM_UNARY(log2),
         14,
         complex | two_forms | short_form | many_constants},
        {"logaddexp", kTwo, {"sigmoid(x - y)", "sigmoid(y - x)"}, OPLOOM_BINARY(logaddexp), 30},
        // Far apart, exp2 would overflow, and its derivatives be inf times 0.
        {"logaddexp2",
         kTwo,
         {"y - x > 100 ? exp2(y - x > 100 ? x - y : 0)"
          " : 1 / (1 + exp2(y - x > 100 ? 100 : y - x))",
          "x - y > 100 ? exp2(x - y > 100 ? y - x : 0)"
          " : 1 / (1 + exp2(x - y > 100 ? 100 : x - y))"},
         OPLOOM_BINARY(logaddexp2),
         30},
        {"logit", kOne, {"1 / (x * (1 - x))"}, OPLOOM_UNARY(logit), 20, two_forms | short_form},
        {"maximum",
         kTwo,
         {"x == y ? 0.5 : (x < y ? 0 : 1)", "x == y ? 0.5 : (x > y ? 0 : 1)"},
         OPLOOM_BINARY(maximum),
         2,
         integers},
        {"minimum",
         kTwo,
         {"x == y ? 0.5 : (x > y ? 0 : 1)", "x == y ? 0.5 : (x < y ? 0 : 1)"},
         OPLOOM_BINARY(minimum),
         2,
         integers},
        // With p = sigmoid(x) and s = 1 - p it is x p (1 + s) / (1 + s^2).
        {"mish",
         kOne,
         {"sigmoid(x) * (2 - sigmoid(x)) / (1 + (1 - sigmoid(x)) * (1 - sigmoid(x))) + "
          "4 * x * sigmoid(x) * ((1 - sigmoid(x)) / (1 + (1 - sigmoid(x)) * (1 - sigmoid(x)))) * "
          "((1 - sigmoid(x)) / (1 + (1 - sigmoid(x)) * (1 - sigmoid(x))))"},
         OPLOOM_UNARY(mish),
         35,
         short_form},
        {"ndtr",
         kOne,
         {"0.3989422804014327 * exp(-0.5 * x * x)"},
         OPLOOM_UNARY(ndtr),
         30,
         none,
         "special_ndtr"},
        {"ndtri",
         kOne,
         {"2.5066282746310002 * exp(0.5 * result * result)"},
         OPLOOM_UNARY(ndtri),
         60,
         none,
         "special_ndtri"},
        {"nextafter", kTwo, {}, OPLOOM_BINARY(nextafter), 10, exact},
        {"polygamma", {"n", "x"}, {"0", "polygamma(n + 1, x)"}, OPLOOM_BINARY(polygamma), 80},
        {"pow",
         kTwo,
         {"y == 0 ? 0 : y * pow(x, y - 1)", "x == 0 && y >= 0 ? 0 : result * log(x)"},
         OPLOOM_BINARY(pow),
         40,
         two_forms},
        {"relu", kOne, {"result <= 0 ? 0 : 1"}, OPLOOM_UNARY(relu), 2, integers},
        {"remainder", kTwo, {"1", "-floor(x / y)"}, OPLOOM_BINARY(remainder), 30},
        {"round", kOne, {"0"}, OPLOOM_UNARY(round), 1, integers},
        {"rsqrt",
         kOne,
         {"-0.5 * result * result * result"},
         OPLOOM_UNARY(rsqrt),
         10,
         complex | two_forms | short_form},
        {"sigmoid",
         kOne,
         {"result * (1 - result)"},
         OPLOOM_UNARY(sigmoid),
         18,
         complex | two_forms | short_form},
        {"sign", kOne, {"0"}, OPLOOM_UNARY(sign), 2, integers},
        {"signbit", kOne, {}, OPLOOM_UNARY(signbit), 1, integers | truth},
        {"sin", kOne, {"cos(x)"}, OPLOOM_UNARY(sin), 20, complex | short_form},
        {"sinh", kOne, {"cosh(x)"}, OPLOOM_UNARY(sinh), 25, complex},
        {"softplus", kOne, {"sigmoid(x)"}, OPLOOM_UNARY(softplus), 27, short_form},
        {"sqrt", kOne, {"0.5 / result"}, OPLOOM_UNARY(sqrt), 6, complex | two_forms | short_form},
        {"tan", kOne, {"1 + result * result"}, OPLOOM_UNARY(tan), 25, complex | two_forms},
        {"tanh", kOne, {"1 - result * result"}, OPLOOM_UNARY(tanh), 25, complex | short_form},
        {"trunc", kOne, {"0"}, OPLOOM_UNARY(trunc), 1, integers},
    };
    std::sort(all.begin(), all.end(),
              [](const Function& a, const Function& b) { return a.name < b.name; });
    return all;
  }();
  return rows;
}

#undef OPLOOM_UNARY
#undef OPLOOM_BINARY

}  // namespace

std::span<const Function> functions() { return table(); }

const Function* find_function(std::string_view name) {
  const auto& rows = table();
  const auto found = std::lower_bound(
      rows.begin(), rows.end(), name,
      [](const Function& row, std::string_view wanted) { return row.name < wanted; });
  return found != rows.end() && found->name == name ? &*found : nullptr;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function& function : table()) names.emplace_back(function.name);
  return names;
}

}  // namespace oploom::frontend
