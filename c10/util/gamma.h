// Derivatives of the logarithm of the gamma function, and the Hurwitz zeta function, in double
// precision. Formulas are from the Digital Library of Mathematical Functions, by number.
#pragma once

#include <c10/util/curves.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace c10::special {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

// Note [Gamma curves]
// digamma(x) = (x - a) P(x - 2) from 1 to 3, where a is its zero, and log(x) - 1 / (2 x) - z P(z)
// above, with z = 1 / x^2 (DLMF 5.11.2); trigamma(x) = P(x - 2), and (1 + 1 / (2 x) + z P(z)) / x
// (DLMF 5.15.8). Below 1 they are those of x + 1 with one term more (DLMF 5.5.2, 5.15.5), and below
// 0 those of 1 - x with a cotangent or the square of a cosecant (DLMF 5.5.4, 5.15.6), of which only
// the distance f to the next whole number counts: for f up to 1/2, pi / tan(pi f) = 1 / f + f
// P(f^2) and (pi / sin(pi f))^2 = 1 / f^2 + P(f^2). lgamma has pi / sin(pi f) = P(f^2) / f. The
// polynomials are Chebyshev interpolations, computed with 60 digits by tools/minimax.
struct GammaCurves {
  double digamma_near[32];
  double digamma_far[13];
  double trigamma_near[35];
  double trigamma_far[15];
  double inverse_sine[16];
  double inverse_tangent[15];
  double inverse_square[16];
};
OPLOOM_HOST_DEVICE constexpr GammaCurves gamma_curves() {
  return {{0.7853075386041053,      -0.2607389546830014,     0.10899991701762858,
           -0.049551032917674064,   0.023447309597550668,    -0.011338432553246743,
           0.005552254176509414,    -0.002739572885748579,   0.0013581421102962425,
           -0.0006753133297619733,  0.00033643312402344133,  -0.00016781556117044082,
           8.377511019652059e-05,   -4.1843951715424783e-05, 2.0910716029415635e-05,
           -1.0450569877155793e-05, 5.212735215146639e-06,   -2.6058390310695028e-06,
           1.3302501346450776e-06,  -6.650665463841941e-07,  2.818440149295972e-07,
           -1.4091552030188092e-07, 1.3889269604977765e-07,  -6.944562515770024e-08,
           -3.222676221329982e-08,  1.6113458557711186e-08,  3.808678582853474e-08,
           -1.9043382370013445e-08, -1.1718989895311787e-08, 5.859495225237461e-09,
           2.929749554433025e-09,   -1.4648744998182098e-09},
          {0.08333333333333331, -0.008333333333294637, 0.003968253948413878, -0.004166662610806694,
           0.007575319141339918, -0.021063933358260106, 0.0820733588984081, -0.4045406921025246,
           2.1721867755315514, -10.680672737836396, 40.78054075278387, -101.31560322938763,
           119.19157811856283},
          {0.6449340668482264,      -0.4041138063191886,     0.24696970113341457,
           -0.1477110205734783,     0.08671530992224498,     -0.0500956642916228,
           0.028541493385654332,    -0.016067142606217055,   0.008951176149112958,
           -0.004941886080786579,   0.002706952106662846,    -0.0014725597629097946,
           0.0007962255468152471,   -0.00042823816240249797, 0.00022923535269774427,
           -0.00012218102042651106, 6.488674347847497e-05,   -3.439886430831979e-05,
           1.8151414467345765e-05,  -9.402216518596384e-06,  4.9375846919410295e-06,
           -2.8952748404161484e-06, 1.5105139505691405e-06,  -3.0917092588660747e-07,
           1.645438950258792e-07,   -6.41186206819369e-07,   3.2977094609213676e-07,
           3.0397371864238754e-07,  -1.5540829314305687e-07, -2.0978502764605113e-07,
           1.0752868737075187e-07,  6.43291321896504e-08,    -3.294718304589292e-08,
           -1.298799104327673e-08,  6.6587566895267375e-09},
          {0.16666666666666666, -0.033333333333292574, 0.02380952378168711, -0.033333325726831495,
           0.07575646997405466, -0.2530148243041056, 1.1607604938490745, -6.8407290471415125,
           46.97730497234864, -330.0989936522702, 2082.6417384095125, -10547.64671339909,
           38588.18958851956, -88761.9259711008, 95348.23338763775},
          {1.0, 1.6449340668482306, 1.8940656589931073, 1.9711021827801007, 1.9924659907208375,
           1.9980795641188127, 1.9995001858216026, 2.000167450330844, 1.996059379419724,
           2.038239490028587, 1.7276127410958322, 3.40583632732193, -3.1611195785737065,
           14.94347377866823, -18.391967771348746, 18.39196776202334},
          {-3.289868133696453, -2.1646464674222266, -2.0346861239837795, -2.008154710650887,
           -2.0019892571205644, -2.0004882445092558, -2.000216397061563, -1.9984989923885619,
           -2.0175482780709193, -1.8569869062340112, -2.8304597027964618, 1.3837148002891513,
           -11.319882534156065, 14.00913635189951, -16.010441555350102},
          {3.289868133696453, 6.493939402266984, 10.17343061979196, 14.057082993798039,
           18.017901859902814, 22.00543471040072, 26.001017266930415, 30.011401002514283,
           33.85228692419477, 39.444258820260046, 31.732095107417287, 98.87654816408536,
           -143.5305103572228, 537.2241184844659, -697.9828502895857, 661.1989148278246}};
}

// For x up to 3 but no subnormal number; `below` is x < 1.
template <typename F, typename Mask>
OPLOOM_HOST_DEVICE F digamma_near(F x, Mask below) {
  constexpr GammaCurves curves = gamma_curves();
  const F zero(0.), one(1.);
  const F inverse = one / x, inverse_lost = fmadd(x, inverse, F(-1.)) * inverse;
  const F a = blendv(F(1.4616321449683622), F(0.46163214496836225), below);
  const F a_rest(9.549995429965697e-17);
  const F curve = polynomial_of(x - blendv(F(2.), one, below), curves.digamma_near);
  const F rest = fmadd(F(0.) - a_rest, curve, blendv(zero, inverse_lost, below));
  return fmadd(x - a, curve, rest) - blendv(zero, inverse, below);
}
// For x from 3 on.
template <typename F>
OPLOOM_HOST_DEVICE F digamma_far(F x) {
  constexpr GammaCurves curves = gamma_curves();
  const F inverse = F(1.) / x, z = inverse * inverse;
  return logarithm(x) - fmadd(inverse, F(0.5), z * polynomial_of(z, curves.digamma_far));
}
template <typename F, typename Mask>
OPLOOM_HOST_DEVICE F trigamma_near(F x, Mask below) {
  constexpr GammaCurves curves = gamma_curves();
  const F zero(0.), one(1.);
  const F curve = polynomial_of(x - blendv(F(2.), one, below), curves.trigamma_near);
  const F inverse = blendv(zero, one / x, below);
  return fmadd(inverse, inverse, curve);
}
template <typename F>
OPLOOM_HOST_DEVICE F trigamma_far(F x) {
  constexpr GammaCurves curves = gamma_curves();
  const F inverse = F(1.) / x, z = inverse * inverse;
  const F rest = fmadd(inverse, F(0.5), z * polynomial_of(z, curves.trigamma_far));
  return fmadd(inverse, rest, inverse);
}

// Of digamma and trigamma of 1 - x, for x = n + f, those of x.
template <typename F>
OPLOOM_HOST_DEVICE F digamma_reflected(F y, F f) {
  constexpr GammaCurves curves = gamma_curves();
  return fmadd(F(0.) - f, polynomial_of(f * f, curves.inverse_tangent), y) - F(1.) / f;
}
template <typename F>
OPLOOM_HOST_DEVICE F trigamma_reflected(F y, F f) {
  constexpr GammaCurves curves = gamma_curves();
  const F inverse = F(1.) / f;
  return fmadd(inverse, inverse, polynomial_of(f * f, curves.inverse_square) - y);
}
// pi / (x sin(pi f)), for f from -1/2 to 1/2
template <typename F>
OPLOOM_HOST_DEVICE F inverse_sine_of_pi(F f, F x) {
  constexpr GammaCurves curves = gamma_curves();
  return polynomial_of(f * f, curves.inverse_sine) / (f * x);
}

// The logarithmic derivative of the gamma function. -inf at +0, inf at -0, nan at -1, -2, ... To 2
// ULP for x > 0, and where it goes through zero below, of log(-x).
OPLOOM_HOST_DEVICE inline double digamma(double x) {
  if (std::abs(x) < std::numeric_limits<double>::min()) return -1 / x;
  if (x < 0 && x == std::floor(x)) return kNan;
  const double positive = x < 0 ? 1 - x : x;
  const double y = positive < 3 ? digamma_near(positive, positive < 1) : digamma_far(positive);
  return x < 0 ? digamma_reflected(y, x - std::round(x)) : y;
}

// The derivative of digamma; inf at 0, -1, -2, ... To 2 ULP.
OPLOOM_HOST_DEVICE inline double trigamma(double x) {
  if (x <= 0 && x == std::floor(x)) return kInf;
  const double positive = x < 0 ? 1 - x : x;
  const double y = positive < 3 ? trigamma_near(positive, positive < 1) : trigamma_far(positive);
  return x < 0 ? trigamma_reflected(y, x - std::round(x)) : y;
}

// Note [zeta]
// The terms (q + k)^-s are added one by one up to q + k = 6 + 0.9 s, what loses the sums their last
// digits apart, or until one is 2^-60 of the sum. What follows is DLMF 25.11.7 (Euler-Maclaurin)
// with 12 terms, of which the first that is left out is then less than 2^-55 of the rest for s from
// 3 to 60. The numbers are B_2k / (2k)!.
template <typename F>
OPLOOM_HOST_DEVICE F zeta_end(F s) {
  return fmadd(s, F(0.9), F(6.));
}
// The terms from q on, given q^(1 - s).
template <typename F>
OPLOOM_HOST_DEVICE F zeta_far(F s, F q, F power) {
  constexpr double kTerms[] = {
      0.08333333333333333,    -0.001388888888888889,   3.306878306878307e-05,
      -8.267195767195768e-07, 2.08767569878681e-08,    -5.284190138687493e-10,
      1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
      -2.174868698558062e-16, 5.5090028283602295e-18,  -1.3954464685812522e-19};
  const F one(1.), inverse = one / q, square = inverse * inverse;
  F sum(0.), factor = s * square;
  for (int k = 0; k < 12; ++k) {
    sum = fmadd(factor, F(kTerms[k]), sum);
    factor = factor * ((s + F(2. * k + 1)) * (s + F(2. * k + 2)) * square);
  }
  return power * (one / (s - one) + fmadd(inverse, F(0.5), sum));
}
// For s > 1 and q > 0; nan for nan.
OPLOOM_HOST_DEVICE inline double zeta_of_positive(double s, double q) {
  double sum = 0, lost = 0;
  for (; q < zeta_end(s); ++q) {
    const double term = std::pow(q, -s), larger = sum + term;
    if (term <= sum * 0x1p-60) return sum + lost;
    if (larger <= std::numeric_limits<double>::max()) lost += term - (larger - sum);
    sum = larger;
  }
  return sum + (lost + zeta_far(s, q, std::pow(q, 1 - s)));
}
// The Hurwitz zeta function: the sum of (q + k)^-s over k = 0, 1, ..., for s > 1. Whole s are
// needed for q < 0; inf at q = 0, -1, ...
OPLOOM_HOST_DEVICE inline double zeta(double s, double q) {
  if (s == 1) return kInf;
  if (s < 1) return kNan;
  if (!(q <= 0)) return zeta_of_positive(s, q);
  const double below = std::floor(q);
  if (q == below) return kInf;
  if (s != std::floor(s)) return kNan;
  const double above_0 = zeta_of_positive(s, q - below);
  const bool is_even = std::fmod(s, 2) == 0;
  if (is_even && below > -24) {
    double sum = above_0;
    for (; q < 0; ++q) sum += std::pow(q, -s);
    return sum;
  }
  // The terms of positive numbers, and of negative ones all without those below q: terms of odd
  // powers may cancel, and these are more exact.
  const double below_0 = zeta_of_positive(s, below + 1 - q);
  const double below_q = zeta_of_positive(s, 1 - q);
  return is_even ? above_0 + below_0 - below_q : above_0 - below_0 + below_q;
}

// The n-th derivative of digamma, for whole n >= 0.
OPLOOM_HOST_DEVICE inline double polygamma(double n, double x) {
  if (n < 0 || n != std::floor(n)) return kNan;
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  // DLMF 5.15.1
  const double value = std::tgamma(n + 1) * zeta(n + 1, x);
  return std::fmod(n, 2) == 0 ? -value : value;
}

}  // namespace c10::special
