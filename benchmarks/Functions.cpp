// Functions of a million float32, with the result in a given tensor; the last ones of numbers that
// are far from the usual ones, and of 16-bit floats.
#include "Cases.h"
#include "Library.h"

using at::Tensor;

void add_functions(Cases& cases) {
  at::manual_seed(0);
  const Tensor x = at::randn({1'000'000}), y = at::randn({1'000'000});
  const Tensor positive = x.abs(), exponent = y.abs(), unit = at::rand({1'000'000}) * 2 - 1;
  const Tensor out = at::empty({1'000'000});
  const auto unary = [&](const char* name, Tensor& (*function)(Tensor&, const Tensor&),
                         const Tensor& argument) {
    cases.add(std::string("functions/") + name,
              [=, out = out]() mutable { function(out, argument); });
  };
  unary("exp", at::exp_out, x);
  unary("exp2", at::exp2_out, x);
  unary("expm1", at::expm1_out, x);
  unary("log", at::log_out, positive);
  unary("log2", at::log2_out, positive);
  unary("log10", at::log10_out, positive);
  unary("log1p", at::log1p_out, positive);
  unary("sin", at::sin_out, x);
  unary("cos", at::cos_out, x);
  unary("tan", at::tan_out, x);
  unary("asin", at::asin_out, unit);
  unary("acos", at::acos_out, unit);
  unary("atan", at::atan_out, x);
  unary("asinh", at::asinh_out, x);
  unary("acosh", at::acosh_out, positive + 1);
  unary("atanh", at::atanh_out, unit);
  unary("sinh", at::sinh_out, x);
  unary("cosh", at::cosh_out, x);
  unary("tanh", at::tanh_out, x);
  unary("erf", at::erf_out, x);
  unary("erfc", at::erfc_out, x);
  unary("erfinv", at::erfinv_out, unit);
  unary("sigmoid", at::sigmoid_out, x);
  unary("silu", at::silu_out, x);
  unary("mish", at::mish_out, x);
  unary("lgamma", at::lgamma_out, positive);
  unary("sqrt", at::sqrt_out, positive);
  const auto add = [&](const char* name, auto function) {
    cases.add(std::string("functions/") + name, [=, out = out]() mutable { function(out); });
  };
  add("softplus", [=](Tensor& to) { at::softplus_out(to, x); });
  add("elu", [=](Tensor& to) { at::elu_out(to, x); });
  add("gelu", [=](Tensor& to) { at::gelu_out(to, x, "none"); });
  add("gelu, tanh", [=](Tensor& to) { at::gelu_out(to, x, "tanh"); });
  add("pow", [=](Tensor& to) { at::pow_out(to, positive, exponent); });
  add("atan2", [=](Tensor& to) { at::atan2_out(to, x, y); });
  add("logaddexp", [=](Tensor& to) { at::logaddexp_out(to, x, y); });
  const Tensor wide = unit * 1e4, huge = unit * 1e30;
  unary("sin, up to 1e30", at::sin_out, huge);
  unary("sigmoid, up to 1e4", at::sigmoid_out, wide);
  unary("erfinv, beyond 1", at::erfinv_out, wide);
  add("gelu, up to 10", [=, ten = unit * 10](Tensor& to) { at::gelu_out(to, ten, "none"); });
  add("gelu, tanh, up to 1e4", [=](Tensor& to) { at::gelu_out(to, wide, "tanh"); });
  add("fmod, up to 1e30", [=](Tensor& to) { at::fmod_out(to, huge, 3.7); });
  for (const auto dtype : {at::kHalf, at::kBFloat16}) {
    const Tensor narrow = x.to(dtype), narrow_positive = positive.to(dtype);
    const auto add_narrow = [&](const char* name, auto function, const Tensor& argument) {
      const char* of = dtype == at::kHalf ? " of float16" : " of bfloat16";
      cases.add(std::string("functions/") + name + of,
                [=, to = at::empty_like(argument)]() mutable { function(to, argument); });
    };
    add_narrow("log", at::log_out, narrow_positive);
    add_narrow("sin", at::sin_out, narrow);
    add_narrow("erf", at::erf_out, narrow);
    add_narrow("sigmoid", at::sigmoid_out, narrow);
    add_narrow(
        "gelu", [](Tensor& to, const Tensor& a) { at::gelu_out(to, a, "none"); }, narrow);
  }
}
