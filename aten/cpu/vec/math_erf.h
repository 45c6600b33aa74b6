// The error function and what is made of the normal distribution.
#pragma once

#include <aten/cpu/vec/math_exp.h>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// P of erf(x) = x + x P(x^2), for |x| <= 1.
OPLOOM_ALWAYS_INLINE Vec<float> erf_curve(Vec<float> z) {
  return polynomial(z, 0.12837917f, -0.37612626f, 0.11283579f, -0.026853347f, 0.005187162f,
                    -0.0007997853f, 7.806904e-05f);
}

// Up to 1 a polynomial, above 1 - 2^-q(x), where errors of q count for a sixth or less.
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::erf() const {
  using V = Vec<float>;
  const V x = abs();
  const V small = fmadd(x, erf_curve(x * x), x);
  const V q = polynomial(at_most(x, V(4.f)) - V(1.f), 2.6684167f, 3.8072233f, 1.2163708f,
                         0.059846997f, -0.014232651f, 0.0026109181f, -0.00026221987f);
  const V kRound(12582912.f + 127);
  const V rounded = kRound - q;
  const V r = (kRound - rounded) - q;
  const V y = polynomial(r, 1.f, 0.6931472f, 0.24022645f, 0.05550359f, 0.009618836f, 0.0013391318f,
                         0.00015240199f);
  const V large = fmadd(y.neg(), from_bits<V>(bits_of(rounded) << 23), V(1.f));
  return blendv(large, small, x < V(1.f)) | (*this & V(-0.f));
}

// From 0.75 on exp(-x^2) t P(t) with t = 1 / (x + 1.25), where what rounding takes from x^2, t and
// P counts; below 0 what is left of 2.
OPLOOM_ALWAYS_INLINE Vec<float> erfc(const Vec<float>& argument) {
  using V = Vec<float>;
  const V offset(1.25f), one(1.f), first(0.56420046f);
  const V center = fmadd(argument.neg(), erf_curve(argument * argument), one - argument);
  const V x = at_most(argument.abs(), V(10.2f));
  const V d = x + offset;
  const V d_rest = x - (d - offset);
  const V t = one / d;
  const V t_error = fmadd(t.neg(), d_rest, fmadd(t.neg(), d, one));
  const V q = polynomial(t, 0.70471233f, 0.61027485f, -0.0810961f, 0.046476535f, -5.133704f,
                         11.505735f, -10.460945f, 3.676017f);
  const V p = fmadd(t, q, first);
  const V p_rest = fmadd(t, q, first - p);
  const V scale = t * p;
  const V lost = fmadd(t, p_rest, fmadd(t, p, scale.neg()));
  const V exponent = x * x;
  const V rest = fmadd(t_error, fmadd(t, V(1.2f), one), fmadd(x.neg(), x, exponent));
  const V rounded = fmadd(exponent, V(-1.44269504f), V(kRoundToPower));
  const V n = rounded - V(kRoundToPower);
  const V r = fmadd(n, V(2.12194440e-4f), fmadd(n, V(-0.693359375f), exponent.neg())) + rest;
  const V h =
      polynomial(r, 1.f, 0.49999988f, 0.16666517f, 0.04166964f, 0.008369136f, 0.0013746604f);
  const V above = scale_by_power(scale + fmadd(scale * r, h, lost), bits_of(rounded));
  const V y = blendv(above, V(2.f) - above, argument.signs());
  return blendv(y, center, x < V(0.75f));
}

// Note [The normal distribution's tail]
// For s > 4.95 the share below -s is exp(-s^2 / 2) t P(t) with t = 1 / (s + 2). What rounding takes
// from s^2 / 2 and from t is found with fused operations and goes into the exponent: a relative
// error e of t is one of (1 + 2.1 t) e, nearly, of t P(t).

// factor * share
OPLOOM_ALWAYS_INLINE Vec<float> normal_tail(Vec<float> factor, Vec<float> s) {
  using V = Vec<float>;
  const V offset(2.f), one(1.f);
  const V d = s + offset;
  const V d_rest = s - (d - offset);
  const V t = one / d;
  const V t_error = fmadd(t.neg(), d_rest, fmadd(t.neg(), d, one));
  const V first(0.39892328f);
  const V q = polynomial(t, 0.799077f, 1.1666404f, 1.1872253f, -4.591389f);
  const V p = fmadd(t, q, first);
  const V p_rest = fmadd(t, q, first - p);
  const V half = s * V(0.5f);
  const V exponent = half * s;
  const V rest = fmadd(t_error, fmadd(t, V(2.1f), one), fmadd(half.neg(), s, exponent));
  const V kRound(kRoundToPower);
  const V rounded = fmadd(exponent, V(-1.44269504f), kRound);
  const V n = rounded - kRound;
  const V r = fmadd(n, V(2.12194440e-4f), fmadd(n, V(-0.693359375f), exponent.neg())) + rest;
  const V v = factor * t;
  const V scale = v * p;
  const V lost = fmadd(v, p_rest, fmadd(fmadd(factor, t, v.neg()), p, fmadd(v, p, scale.neg())));
  const V y = scale + fmadd(scale * r,
                            polynomial(r, 1.f, 0.49999988f, 0.16666517f, 0.04166964f, 0.008369136f,
                                       0.0013746604f),
                            lost);
  return scale_by_power(y, bits_of(rounded));
}

// Note [Share in intervals]
// Up to 5, s (0.7 + 0.18 s) counts eight intervals, in each of which the share below -s is another
// polynomial of s - m. The centers m are such that the first coefficient, the share below -m, is
// almost exactly a float; what exp() and a quotient would take away by rounding never arises.
inline constexpr float kShareCenters[8] = {0.77790725f, 1.6735618f, 2.3791263f, 2.982056f,
                                           3.5180788f,  4.005442f,  4.456499f,  4.876576f};
inline constexpr float kShares[9][8] = {
    {0.21831185f, 0.047108375f, 0.008676864f, 0.0014315986f, 0.00021734163f, 3.0950792e-05f,
     4.1654475e-06f, 5.397157e-07f},
    {-0.29478517f, -0.098338164f, -0.023539875f, -0.00467621f, -0.0008190399f, -0.00013094647f,
     -1.9421484e-05f, -2.7348472e-06f},
    {0.11465776f, 0.0822875f, 0.028002169f, 0.00697236f, 0.0014407234f, 0.00026224926f,
     4.3275915e-05f, 6.6683447e-06f},
    {0.019399356f, -0.029514644f, -0.018283507f, -0.0061513125f, -0.0015530213f, -0.00032831746f,
     -6.104947e-05f, -1.0383743e-05f},
    {-0.022882827f, -0.0013657751f, 0.006207543f, 0.0034238372f, 0.0011257877f, 0.0002850544f,
     6.0803864e-05f, 1.1547956e-05f},
    {0.00065515906f, 0.004884037f, -0.00021385723f, -0.0011184685f, -0.0005590853f, -0.00017908517f,
     -4.503798e-05f, -9.706662e-06f},
    {0.0029774418f, -0.00118225f, -0.00074378547f, 0.00010024801f, 0.00017804054f, 8.163844e-05f,
     2.5346635e-05f, 6.3416537e-06f},
    {-0.00041659674f, -0.0003059143f, 0.000308979f, 8.214937e-05f, -2.3875995e-05f, -2.5579153e-05f,
     -1.06980715e-05f, -3.2300406e-06f},
    {-0.00033299086f, 0.00017928449f, 5.7406425e-05f, -6.0837556e-05f, -1.4710373e-05f,
     2.8078268e-06f, 3.6645956e-06f, 1.5818545e-06f}};
inline constexpr float kFarthestShare = 4.99f;

OPLOOM_ALWAYS_INLINE Vec<float> gelu_of_near(Vec<float> x, Vec<float> s) {
  using V = Vec<float>;
  // s (0.7 + 0.18 s) - 1/2 rounded is the number of the interval; it comes into the lowest bits.
  const V interval = fmadd(s, fmadd(s, V(0.18f), V(0.7f)), V(-0.5f)) + V(12582912.f);
  const V d = s - V::lookup(kShareCenters, interval);
  V share = V::lookup(kShares[8], interval);
  for (int i = 7; i >= 0; --i) share = fmadd(share, d, V::lookup(kShares[i], interval));
  return fmadd(s.neg(), share, at_least(x, V(0.f)));
}

// nan at -inf, as -inf * 0 is
OPLOOM_NOINLINE inline Vec<float> gelu_of_some_far(Vec<float> x) {
  using V = Vec<float>;
  const V zero(0.f);
  const V s = at_most(x.abs(), V(14.5f));
  // For x > 0 the shares above and below x make 1.
  const V far = fmadd(at_most(x, zero), zero, at_least(x, zero) + normal_tail(s.neg(), s));
  return blendv(far, gelu_of_near(x, s), s < V(kFarthestShare));
}

// x times the share of the normal distribution below x
OPLOOM_ALWAYS_INLINE Vec<float> gelu(const Vec<float>& x) {
  const Vec<float> s = x.abs();
  if (!all(s < Vec<float>(kFarthestShare))) [[unlikely]]
    return gelu_of_some_far(x);
  return gelu_of_near(x, s);
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
