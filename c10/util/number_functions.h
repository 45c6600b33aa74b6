// The functions of the expression language, of one number: what `oploom check` evaluates, and what
// generated code calls for a part of a derivative that is the same for every element.
#pragma once

#include <c10/util/special_functions.h>

#include <cmath>
#include <numbers>

namespace c10::numbers {

using special::digamma;
using special::erfcx;
using special::erfinv;
using special::i0;
using special::i0e;
using special::i1;
using special::i1e;
using special::logit;
using special::mish;
using special::ndtr;
using special::ndtri;
using special::polygamma;
using special::softplus;
using std::abs;
using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::ceil;
using std::copysign;
using std::cos;
using std::cosh;
using std::erf;
using std::erfc;
using std::exp;
using std::exp2;
using std::expm1;
using std::floor;
using std::fmax;
using std::fmin;
using std::fmod;
using std::hypot;
using std::isinf;
using std::isnan;
using std::lgamma;
using std::log;
using std::log10;
using std::log1p;
using std::log2;
using std::nextafter;
using std::pow;
using std::signbit;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;

inline double relu(double x) { return x < 0 ? 0 : x; }
inline double round(double x) { return std::nearbyint(x); }  // halves to even, as tensors do
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline double sigmoid(double x) { return special::sigmoid_product(1., x); }
inline double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

// nan where either is.
inline double maximum(double x, double y) { return std::isnan(x) || x > y ? x : y; }
inline double minimum(double x, double y) { return std::isnan(x) || x < y ? x : y; }
// With the sign of the divisor.
inline double remainder(double x, double y) {
  const double rest = std::fmod(x, y);
  return (rest < 0 && y > 0) || (rest > 0 && y < 0) ? rest + y : rest;
}

inline double logaddexp(double x, double y) {
  if (x == y) return x + std::numbers::ln2;  // both may be infinite
  return maximum(x, y) + std::log1p(std::exp(-std::abs(x - y)));
}
inline double logaddexp2(double x, double y) {
  if (x == y) return x + 1;
  return maximum(x, y) + std::log1p(std::exp2(-std::abs(x - y))) * std::numbers::log2e;
}

}  // namespace c10::numbers
