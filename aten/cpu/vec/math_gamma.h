// The logarithm of the gamma function, and its derivatives, in double: of positive float numbers
// they are rounded once.
#pragma once

#include <aten/cpu/vec/math_pow.h>
#include <c10/util/gamma.h>

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
  const V above = narrow(y[0], y[1]);
  const auto numbers = widen(magnitude), fractions = widen((x - x.round()).abs());
  for (int i = 0; i < 2; ++i) {
    const D inverse = c10::special::inverse_sine_of_pi(fractions[i], numbers[i]);
    y[i] = inverse.log() - y[i];
  }
  const V values = blendv(above, narrow(y[0], y[1]), x.signs());
  if (all(usual)) [[likely]]
    return values;
  return blendv(magnitude.log().abs(), values, usual);
}

OPLOOM_ALWAYS_INLINE Vec<float> lgamma(const Vec<float>& x) {
  if (!all(is_positive_normal(x))) [[unlikely]]
    return lgamma_of_any(x);
  const auto y = lgamma_of_usual(x);
  return narrow(y[0], y[1]);
}

// The same in double. Above 3 Stirling's formula is summed as (x - 1/2) (log(x) - 1), which cancels
// nothing, and what is left; k times the first part of log(2), less 1, is exact.
OPLOOM_ALWAYS_INLINE Vec<double> lgamma_of_usual(Vec<double> x) {
  using D = Vec<double>;
  using Log = NaturalLog;
  const D zero(0.), one(1.);
  const auto below = x < one;
  D k;
  const D f = split_power(x, k) - one;
  const D power = fmadd(k, D(Log::kPower<double>), blendv(one.neg(), zero, below));
  const D sum = power + f, lost = f - (sum - power);
  const D rest = fmadd(k, D(Log::kPowerRest<double>), lost) + small_of_log<Log>(f, D(-0.));
  const D t = x - blendv(D(2.), one, below);
  const D curve = polynomial(
      t, 0.42278433509846713, -0.1003173016743539, 0.032965000621155816, -0.012384192193374183,
      0.004998641164698706, -0.0021081308338353785, 0.0009153769221939477, -0.0004057073998333553,
      0.00018255264018626728, -8.309510094797398e-05, 3.8168877217049974e-05,
      -1.7661849545809686e-05, 8.22227252824938e-06, -3.8465374565754054e-06,
      1.8077244952477939e-06, -8.554195306752008e-07, 4.0491176292722286e-07,
      -1.8624721164419038e-07, 8.858800462314761e-08, -5.1889381335192836e-08,
      2.4876913129422816e-08, -9.172949166290702e-10, 3.821541398410965e-10, -8.87711600370437e-09,
      4.305220610785349e-09, 2.444386936885692e-09, -1.1901740908188623e-09, -8.152852870624974e-10,
      3.9592899392841773e-10);
  const D near =
      fmadd(t * (t + one), curve, blendv(zero, rest.neg(), below)) - blendv(zero, sum, below);
  const D inverse = one / x;
  const D series =
      polynomial(inverse * inverse, 0.08333333333333333, -0.002777777777767353,
                 0.0007936507891020488, -0.0005952373063227016, 0.000841678862598761,
                 -0.0019135564194573535, 0.006266355072207451, -0.02591763548428459,
                 0.11229667461420964, -0.4130294009167202, 1.0364376287210757, -1.2591741378706651);
  const D far = fmadd(x - D(0.5), sum + rest, fmadd(series, inverse, D(0.4189385332046727)));
  return blendv(far, near, x < D(3.));
}

// Below 0 log(pi / |sin(pi x)|) - lgamma(1 - x) (DLMF 5.5.3). Of 0 and infinity, and of subnormal
// numbers, the magnitude of the logarithm.
OPLOOM_NOINLINE inline Vec<double> lgamma_of_any(Vec<double> x) {
  using D = Vec<double>;
  const D one(1.), magnitude = x.abs(), fraction = x - x.round();
  const auto usual = is_positive_normal(magnitude), negative = x < D(0.);
  const D above = lgamma_of_usual(blendv(one, blendv(x, one - x, negative), usual));
  const D below = c10::special::inverse_sine_of_pi(fraction, one).abs().log() - above;
  D y = blendv(above, below, negative);
  y = blendv(y, D(std::numeric_limits<double>::infinity()), negative & (fraction == D(0.)));
  return blendv(magnitude.log().abs(), y, usual);
}

OPLOOM_ALWAYS_INLINE Vec<double> lgamma(const Vec<double>& x) {
  if (!all(is_positive_normal(x))) [[unlikely]]
    return lgamma_of_any(x);
  return lgamma_of_usual(x);
}

template <typename F>
OPLOOM_ALWAYS_INLINE Vec<float> in_double(Vec<float> x, F f) {
  const auto halves = widen(x);
  return narrow(f(halves[0]), f(halves[1]));
}

// The logarithmic derivative, and the derivative of that: see Note [Gamma curves] in
// c10/util/gamma.h.
OPLOOM_NOINLINE inline Vec<double> digamma_in_double(Vec<double> x) {
  using D = Vec<double>;
  const D zero(0.), one(1.);
  const auto negative = x < zero;
  const D v = blendv(x, one - x, negative);
  const D near = c10::special::digamma_near(v, v < one);
  D y = blendv(c10::special::digamma_far(v), near, v < D(3.));
  const D smallest(std::numeric_limits<double>::min());
  if (!all(x >= smallest)) {
    y = blendv(y, c10::special::digamma_reflected(y, x - x.round()), negative);
    y = blendv(y, D(std::numeric_limits<double>::quiet_NaN()), negative & (x == x.floor()));
    y = blendv(y, one.neg() / x, x.abs() < smallest);
  }
  return y;
}
OPLOOM_ALWAYS_INLINE Vec<double> digamma(const Vec<double>& x) { return digamma_in_double(x); }

OPLOOM_NOINLINE inline Vec<double> trigamma_in_double(Vec<double> x) {
  using D = Vec<double>;
  const D zero(0.), one(1.);
  const auto negative = x < zero;
  const D v = blendv(x, one - x, negative);
  const D near = c10::special::trigamma_near(v, v < one);
  D y = blendv(c10::special::trigamma_far(v), near, v < D(3.));
  if (!all(x > zero)) {
    y = blendv(y, c10::special::trigamma_reflected(y, x - x.round()), negative);
    y = blendv(y, D(std::numeric_limits<double>::infinity()), (x <= zero) & (x == x.floor()));
  }
  return y;
}
OPLOOM_ALWAYS_INLINE Vec<double> trigamma(const Vec<double>& x) { return trigamma_in_double(x); }
OPLOOM_ALWAYS_INLINE Vec<float> trigamma(const Vec<float>& x) {
  return in_double(x, trigamma_in_double);
}

// The sum of (q + k)^-s over k = 0, 1, ..., for s > 1 and q > 0: see Note [zeta] in
// c10/util/gamma.h.
inline Vec<double> zeta_of_positive(Vec<double> s, Vec<double> q) {
  using D = Vec<double>;
  const D zero(0.), one(1.), largest(std::numeric_limits<double>::max());
  const D end = c10::special::zeta_end(s);
  D sum(0.), lost(0.);
  auto vanishes = q != q;
  for (auto adds = q < end; !all(!adds); adds = (q < end) & !vanishes) {
    const D term = blendv(zero, pow(q, s.neg()), adds), larger = sum + term;
    lost = blendv(lost, lost + (term - (larger - sum)), larger <= largest);
    vanishes = vanishes | (adds & (term <= sum * D(0x1p-60)));
    sum = larger;
    q = blendv(q, q + one, adds);
  }
  const D far = c10::special::zeta_far(s, q, pow(q, one - s));
  return sum + (lost + blendv(far, zero, vanishes));
}

// The n-th derivative of digamma, for whole n from 2 on: DLMF 5.15.1.
OPLOOM_NOINLINE inline Vec<double> polygamma_of_order(double n, const Vec<double>& x) {
  using D = Vec<double>;
  const auto positive = x > D(0.);
  const double factorial = std::tgamma(n + 1);
  const D zeta = zeta_of_positive(D(n + 1), blendv(D(1.), x, positive));
  const D y = zeta * D(std::fmod(n, 2) == 0 ? -factorial : factorial);
  if (all(positive)) return y;
  return blendv(x.map([n](double value) { return c10::special::polygamma(n, value); }), y,
                positive);
}
inline Vec<float> polygamma_of_order(float n, const Vec<float>& x) {
  return in_double(x, [n](Vec<double> half) { return polygamma_of_order(double(n), half); });
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
