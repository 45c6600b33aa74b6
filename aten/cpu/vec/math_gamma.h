// The logarithm of the gamma function, and its derivative, in double: of positive float numbers
// they are rounded once.
#pragma once

#include <aten/cpu/vec/math_pow.h>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// For positive normal numbers: from 1 to 3 a polynomial times (x - 1) (x - 2), above
// Stirling's formula (DLMF 5.11.1), below lgamma(x + 1) - log(x) (DLMF 5.5.1).
OPLOOM_ALWAYS_INLINE std::array<Vec<double>, 2> lgamma_of_usual(Vec<float> x) {
  using D = Vec<double>;
  Vec<float> k;
  const auto m = widen(split_power(x, k));
  const auto powers = widen(k);
  const auto numbers = widen(x);
  const D one(1.), two(2.);
  std::array<D, 2> y;
  for (int i = 0; i < 2; ++i) {
    const D v = numbers[i];
    const D log = log2_of_split(m[i], powers[i]) * D(0.6931471805599453);
    const auto below = v < one;
    const D t = v - blendv(two, one, below);
    const D curve =
        polynomial_by_halves(t, 0.422784335063224, -0.10031730377483279, 0.03296500506339946,
                             -0.012384115327085705, 0.004998549684661729, -0.00210893973428887,
                             0.0009160901412206325, -0.0004019898066477873, 0.00017984903023713066,
                             -9.17208922586738e-05, 4.363830706997584e-05, -7.293982414170924e-06,
                             2.302362709602241e-06, -9.673626748483208e-06, 4.857883284464137e-06);
    const D small = fmadd(t * (t + one), curve, blendv(D(0.), log.neg(), below));
    const D inverse = one / v;
    const D rest = polynomial(inverse * inverse, 0.08333333328882644, -0.0027777622717878683,
                              0.0007925630184406229, -0.0005665989101434579, 0.0005021795528432562);
    const D large = fmadd(v - D(0.5), log, fmadd(rest, inverse, D(0.9189385332046727) - v));
    y[i] = blendv(large, small, v < D(3.));
  }
  return y;
}

// Below 0 log(pi / |x sin(pi x)|) - lgamma(-x) (DLMF 5.5.3). Of 0 and infinity, and of subnormal
// numbers, the magnitude of the logarithm.
OPLOOM_NOINLINE inline Vec<float> lgamma_of_any(Vec<float> x) {
  using V = Vec<float>;
  using D = Vec<double>;
  const V magnitude = x.abs();
  const auto usual = is_positive_normal(magnitude);
  auto y = lgamma_of_usual(blendv(V(1.f), magnitude, usual));
  const V above = blendv(magnitude.log().abs(), narrow(y[0], y[1]), usual);
  const auto numbers = widen(x), fractions = widen(x - x.round());
  const D pi(3.14159265358979323846);
  for (int i = 0; i < 2; ++i) {
    const D sine = (fractions[i] * pi).sin();
    y[i] = (pi / (numbers[i] * sine).abs()).log() - y[i];
  }
  return blendv(above, narrow(y[0], y[1]), usual & x.signs());
}

OPLOOM_ALWAYS_INLINE Vec<float> lgamma(const Vec<float>& x) {
  if (!all(is_positive_normal(x))) [[unlikely]]
    return lgamma_of_any(x);
  const auto y = lgamma_of_usual(x);
  return narrow(y[0], y[1]);
}

template <typename F>
OPLOOM_ALWAYS_INLINE Vec<float> in_double(Vec<float> x, F f) {
  const auto halves = widen(x);
  return narrow(f(halves[0]), f(halves[1]));
}

// The sum of 1 / f(x) over x, x + 1 and so on as far as they are below 10, as one quotient. x
// becomes the first that is not.
template <typename F>
OPLOOM_ALWAYS_INLINE Vec<double> sum_below_ten(Vec<double>& x, F f) {
  using D = Vec<double>;
  const D one(1.), ten(10.);
  D above(0.), below(1.);
  for (auto done = !(x < ten); !all(done); done = !(x < ten)) {
    const D factor = f(x);
    above = blendv(fmadd(above, factor, below), above, done);
    below = blendv(below * factor, below, done);
    x = blendv(x + one, x, done);
  }
  return above / below;
}

// For x > 0, to a few units in the last place: DLMF 5.5.2 and 5.11.2.
inline Vec<double> digamma_of_positive(Vec<double> x) {
  using D = Vec<double>;
  const D sum = sum_below_ten(x, [](D v) { return v; });
  const D inverse = D(1.) / x;
  const D z = inverse * inverse;
  const D series =
      z * polynomial(z, 1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12);
  return x.log() - fmadd(inverse, D(0.5), series) - sum;
}

// Below 0 DLMF 5.5.4.
OPLOOM_NOINLINE inline Vec<double> digamma_in_double(Vec<double> x) {
  using D = Vec<double>;
  const D zero(0.), one(1.), pi(3.14159265358979323846);
  const auto negative = x < zero;
  D y = digamma_of_positive(blendv(x, one - x, negative));
  if (!all(x > zero)) {
    y = blendv(y, y - pi / (pi * (x - x.round())).tan(), negative);
    y = blendv(y, D(std::numeric_limits<double>::quiet_NaN()), negative & (x == x.floor()));
    y = blendv(y, one.neg() / x, x == zero);
  }
  return y;
}
OPLOOM_ALWAYS_INLINE Vec<double> digamma(const Vec<double>& x) { return digamma_in_double(x); }

// For x > 0: DLMF 5.15.5 and 5.15.8.
inline Vec<double> trigamma_of_positive(Vec<double> x) {
  using D = Vec<double>;
  const D one(1.);
  const D sum = sum_below_ten(x, [](D v) { return v * v; });
  const D inverse = one / x;
  const D z = inverse * inverse;
  const D series = z * polynomial(z, 1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730,
                                  7. / 6, -3617. / 510);
  return fmadd(inverse, fmadd(inverse, D(0.5), one + series), sum);
}

// Below 0 DLMF 5.15.6.
OPLOOM_NOINLINE inline Vec<double> trigamma_in_double(Vec<double> x) {
  using D = Vec<double>;
  const D zero(0.), one(1.), pi(3.14159265358979323846);
  const auto negative = x < zero;
  D y = trigamma_of_positive(blendv(x, one - x, negative));
  if (!all(x > zero)) {
    const D slope = pi / (pi * (x - x.round())).sin();
    y = blendv(y, slope * slope - y, negative);
    y = blendv(y, D(std::numeric_limits<double>::infinity()), (x <= zero) & (x == x.floor()));
  }
  return y;
}
OPLOOM_ALWAYS_INLINE Vec<double> trigamma(const Vec<double>& x) { return trigamma_in_double(x); }
OPLOOM_ALWAYS_INLINE Vec<float> trigamma(const Vec<float>& x) {
  return in_double(x, trigamma_in_double);
}

// For positive normal numbers, as lgamma: from 1 to 3 (x - a) P(x - 2), where a is the zero.
OPLOOM_ALWAYS_INLINE Vec<float> digamma_of_usual(Vec<float> x) {
  using D = Vec<double>;
  Vec<float> k;
  const auto m = widen(split_power(x, k));
  const auto powers = widen(k);
  const auto numbers = widen(x);
  const D one(1.);
  std::array<D, 2> y;
  for (int i = 0; i < 2; ++i) {
    const D v = numbers[i], inverse = one / v, z = inverse * inverse;
    const auto below = v < one;
    const D u = blendv(v, v + one, below);
    const D curve = polynomial_by_halves(
        u - D(2.), 0.7853075382671276, -0.2607389831151658, 0.10899996427522132,
        -0.04954999039124453, 0.02344625947543627, -0.011349408465385862, 0.005560916036661326,
        -0.0026891887806786805, 0.0013238807710638234, -0.0007918276130226617,
        0.0004079911200631298, -2.8752867957078363e-05, 4.5743974503964085e-06,
        -0.00011874273785312164, 6.211610349510039e-05);
    const D small = fmadd(u - D(1.4616321449683623), curve, blendv(D(0.), inverse.neg(), below));
    const D rest = polynomial(z, 0.08333333329950236, -0.008333317263398202, 0.003966627015142138,
                              -0.0041018294109233504, 0.006315366552052178, -0.007892518464114522);
    const D log = log2_of_split(m[i], powers[i]) * D(0.6931471805599453);
    y[i] = blendv(log - fmadd(inverse, D(0.5), z * rest), small, v < D(3.));
  }
  return narrow(y[0], y[1]);
}

OPLOOM_NOINLINE inline Vec<float> digamma_of_any(Vec<float> x) {
  return blendv(in_double(x, digamma_in_double), digamma_of_usual(x), is_positive_normal(x));
}

OPLOOM_ALWAYS_INLINE Vec<float> digamma(const Vec<float>& x) {
  if (!all(is_positive_normal(x))) [[unlikely]]
    return digamma_of_any(x);
  return digamma_of_usual(x);
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
