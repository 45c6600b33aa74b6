#include <c10/util/special_functions.h>
#include <codegen/frontend/expression/Functions.h>

#include <algorithm>
#include <cmath>

namespace oploom::frontend {

namespace {

#define OPLOOM_UNARY(expression)  \
  [](const double* a) -> double { \
    const double x = a[0];        \
    return expression;            \
  }
#define OPLOOM_BINARY(expression)    \
  [](const double* a) -> double {    \
    const double x = a[0], y = a[1]; \
    return expression;               \
  }

using enum Function::Traits;
using Strings = std::vector<std::string_view>;

const Strings kOne = {"x"};
const Strings kTwo = {"x", "y"};

double maximum(double x, double y) { return std::isnan(x) || x > y ? x : y; }
double minimum(double x, double y) { return std::isnan(x) || x < y ? x : y; }

// Derivatives: DLMF (dlmf.nist.gov) 4.4-4.37 for elementary functions, 5 for gamma functions, 7 for
// error functions, 10.29 for Bessel functions.
const std::vector<Function>& table() {
  static const std::vector<Function> rows = [] {
    std::vector<Function> all = {
        {"abs", kOne, {"sign(x)"}, OPLOOM_UNARY(std::abs(x)), 1, integers},
        {"acos", kOne, {"-1 / sqrt(1 - x * x)"}, OPLOOM_UNARY(std::acos(x)), 20, complex},
        {"acosh",
         kOne,
         {"1 / (sqrt(x - 1) * sqrt(x + 1))"},
         OPLOOM_UNARY(std::acosh(x)),
         25,
         complex},
        {"asin", kOne, {"1 / sqrt(1 - x * x)"}, OPLOOM_UNARY(std::asin(x)), 20, complex},
        {"asinh", kOne, {"1 / sqrt(x * x + 1)"}, OPLOOM_UNARY(std::asinh(x)), 25, complex},
        {"atan", kOne, {"1 / (x * x + 1)"}, OPLOOM_UNARY(std::atan(x)), 20, complex},
        {"atan2",
         kTwo,
         {"y / (x * x + y * y)", "-x / (x * x + y * y)"},
         OPLOOM_BINARY(std::atan2(x, y)),
         30},
        {"atanh", kOne, {"1 / (1 - x * x)"}, OPLOOM_UNARY(std::atanh(x)), 25, complex},
        {"ceil", kOne, {"0"}, OPLOOM_UNARY(std::ceil(x)), 1, integers},
        {"copysign", kTwo, {"x == 0 ? 0 : result / x", "0"}, OPLOOM_BINARY(std::copysign(x, y)), 2},
        {"cos", kOne, {"-sin(x)"}, OPLOOM_UNARY(std::cos(x)), 20, complex},
        {"cosh", kOne, {"sinh(x)"}, OPLOOM_UNARY(std::cosh(x)), 25, complex},
        {"digamma", kOne, {"polygamma(1, x)"}, OPLOOM_UNARY(c10::special::digamma(x)), 60},
        {"erf", kOne, {"1.1283791670955126 * exp(-x * x)"}, OPLOOM_UNARY(std::erf(x)), 25},
        {"erfc", kOne, {"-1.1283791670955126 * exp(-x * x)"}, OPLOOM_UNARY(std::erfc(x)), 25},
        {"erfcx",
         kOne,
         {"2 * x * result - 1.1283791670955126"},
         OPLOOM_UNARY(c10::special::erfcx(x)),
         60,
         none,
         "special_erfcx"},
        {"erfinv",
         kOne,
         {"0.8862269254527580 * exp(result * result)"},
         OPLOOM_UNARY(c10::special::erfinv(x)),
         60},
        {"exp", kOne, {"result"}, OPLOOM_UNARY(std::exp(x)), 12, complex},
        {"exp2", kOne, {"0.6931471805599453 * result"}, OPLOOM_UNARY(std::exp2(x)), 12, complex},
        {"expm1", kOne, {"result + 1"}, OPLOOM_UNARY(std::expm1(x)), 18, complex},
        {"floor", kOne, {"0"}, OPLOOM_UNARY(std::floor(x)), 1, integers},
        {"fmax",
         kTwo,
         {"x >= y || isnan(y) ? 1 : 0", "x >= y || isnan(y) ? 0 : 1"},
         OPLOOM_BINARY(std::fmax(x, y)),
         3,
         integers},
        {"fmin",
         kTwo,
         {"x <= y || isnan(y) ? 1 : 0", "x <= y || isnan(y) ? 0 : 1"},
         OPLOOM_BINARY(std::fmin(x, y)),
         3,
         integers},
        {"fmod", kTwo, {"1", "-trunc(x / y)"}, OPLOOM_BINARY(std::fmod(x, y)), 30},
        {"hypot", kTwo, {"x / result", "y / result"}, OPLOOM_BINARY(std::hypot(x, y)), 15},
        {"i0", kOne, {"i1(x)"}, OPLOOM_UNARY(c10::special::i0(x)), 60},
        {"i0e",
         kOne,
         {"i1e(x) - sign(x) * result"},
         OPLOOM_UNARY(c10::special::i0e(x)),
         60,
         none,
         "special_i0e"},
        {"i1",
         kOne,
         {"x == 0 ? 0.5 : i0(x) - result / x"},
         OPLOOM_UNARY(c10::special::i1(x)),
         60,
         none,
         "special_i1"},
        {"i1e",
         kOne,
         {"x == 0 ? 0.5 : i0e(x) - result * (sign(x) + 1 / x)"},
         OPLOOM_UNARY(c10::special::i1e(x)),
         60,
         none,
         "special_i1e"},
        {"isinf", kOne, {}, OPLOOM_UNARY(std::isinf(x) ? 1 : 0), 1, integers | truth},
        {"isnan", kOne, {}, OPLOOM_UNARY(std::isnan(x) ? 1 : 0), 1, integers | truth},
        {"lgamma", kOne, {"digamma(x)"}, OPLOOM_UNARY(std::lgamma(x)), 60},
        {"log", kOne, {"1 / x"}, OPLOOM_UNARY(std::log(x)), 14, complex},
        {"log10", kOne, {"0.4342944819032518 / x"}, OPLOOM_UNARY(std::log10(x)), 14, complex},
        {"log1p", kOne, {"1 / (x + 1)"}, OPLOOM_UNARY(std::log1p(x)), 18, complex},
        {"log2", kOne, {"1.4426950408889634 / x"}, OPLOOM_UNARY(std::log2(x)), 14, complex},
        {"logaddexp",
         kTwo,
         {"sigmoid(x - y)", "sigmoid(y - x)"},
         OPLOOM_BINARY(maximum(x, y) + std::log1p(std::exp(-std::abs(x - y)))),
         30},
        {"logaddexp2",
         kTwo,
         {"1 / (1 + exp2(y - x))", "1 / (1 + exp2(x - y))"},
         OPLOOM_BINARY(maximum(x, y) +
                       std::log1p(std::exp2(-std::abs(x - y))) * 1.4426950408889634),
         30},
        {"maximum",
         kTwo,
         {"x == y ? 0.5 : (x < y ? 0 : 1)", "x == y ? 0.5 : (x > y ? 0 : 1)"},
         OPLOOM_BINARY(maximum(x, y)),
         2,
         integers},
        {"minimum",
         kTwo,
         {"x == y ? 0.5 : (x > y ? 0 : 1)", "x == y ? 0.5 : (x < y ? 0 : 1)"},
         OPLOOM_BINARY(minimum(x, y)),
         2,
         integers},
        {"ndtri",
         kOne,
         {"2.5066282746310002 * exp(0.5 * result * result)"},
         OPLOOM_UNARY(c10::special::ndtri(x)),
         60,
         none,
         "special_ndtri"},
        {"nextafter", kTwo, {}, OPLOOM_BINARY(std::nextafter(x, y)), 10},
        {"polygamma",
         {"n", "x"},
         {"0", "polygamma(n + 1, x)"},
         OPLOOM_BINARY(c10::special::polygamma(x, y)),
         80},
        {"pow",
         kTwo,
         {"y == 0 ? 0 : y * pow(x, y - 1)", "x == 0 && y >= 0 ? 0 : result * log(x)"},
         OPLOOM_BINARY(std::pow(x, y)),
         40},
        {"relu", kOne, {"result <= 0 ? 0 : 1"}, OPLOOM_UNARY(x < 0 ? 0 : x), 2, integers},
        {"remainder", kTwo, {"1", "-floor(x / y)"}, OPLOOM_BINARY(x - y * std::floor(x / y)), 30},
        {"round", kOne, {"0"}, OPLOOM_UNARY(std::nearbyint(x)), 1, integers},
        {"rsqrt",
         kOne,
         {"-0.5 * result * result * result"},
         OPLOOM_UNARY(1 / std::sqrt(x)),
         10,
         complex},
        {"sigmoid",
         kOne,
         {"result * (1 - result)"},
         OPLOOM_UNARY(1 / (1 + std::exp(-x))),
         18,
         complex},
        {"sign",
         kOne,
         {"0"},
         OPLOOM_UNARY(x > 0   ? 1
                      : x < 0 ? -1
                              : x),
         2,
         integers},
        {"signbit", kOne, {}, OPLOOM_UNARY(std::signbit(x) ? 1 : 0), 1, integers | truth},
        {"sin", kOne, {"cos(x)"}, OPLOOM_UNARY(std::sin(x)), 20, complex},
        {"sinh", kOne, {"cosh(x)"}, OPLOOM_UNARY(std::sinh(x)), 25, complex},
        {"sqrt", kOne, {"0.5 / result"}, OPLOOM_UNARY(std::sqrt(x)), 6, complex},
        {"tan", kOne, {"1 + result * result"}, OPLOOM_UNARY(std::tan(x)), 25, complex},
        {"tanh", kOne, {"1 - result * result"}, OPLOOM_UNARY(std::tanh(x)), 25, complex},
        {"trunc", kOne, {"0"}, OPLOOM_UNARY(std::trunc(x)), 1, integers},
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
