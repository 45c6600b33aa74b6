// The error function and what is made of the normal distribution.
#pragma once

#include <aten/cpu/vec/math_exp.h>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Up to 1 a polynomial, above 1 - 2^-q(x), where errors of q count for a sixth or less.
OPLOOM_ALWAYS_INLINE Vec<float> Vec<float>::erf() const {
  using V = Vec<float>;
  const V x = abs();
  const V z = x * x;
  const V p = polynomial(z, 0.12837917f, -0.37612626f, 0.11283579f, -0.026853347f, 0.005187162f,
                         -0.0007997853f, 7.806904e-05f);
  const V small = fmadd(x, p, x);
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

// Note [The normal distribution's tail]
// For s > 0.8 the share below -s is exp(-s^2 / 2) t P(t) with t = 1 / (s + 2.5). What rounding
// takes from s^2 / 2 and from t is found with fused operations and goes into the exponent: a
// relative error e of t is one of (1 + 2.95 t) e, nearly, of t P(t).

// factor * share
OPLOOM_ALWAYS_INLINE Vec<float> normal_tail(Vec<float> factor, Vec<float> s) {
  using V = Vec<float>;
  const V offset(2.5f), one(1.f);
  const V d = s + offset;
  const V d_rest = s - (d - offset);
  const V t = one / d;
  const V t_error = fmadd(t.neg(), d_rest, fmadd(t.neg(), d, one));
  const V first(0.39895022f);
  const V q = polynomial(t, 0.9969122f, 2.1037085f, 3.1661386f, 1.6107966f, 0.75114393f,
                         -106.387596f, 260.47516f, -193.89543f);
  const V p = fmadd(t, q, first);
  const V p_rest = fmadd(t, q, first - p);
  const V half = s * V(0.5f);
  const V exponent = half * s;
  const V rest = fmadd(t_error, fmadd(t, V(2.95f), one), fmadd(half.neg(), s, exponent));
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

// x times the share of the normal distribution below x; nan at -inf, as -inf * 0 is.
OPLOOM_ALWAYS_INLINE Vec<float> gelu(const Vec<float>& x) {
  using V = Vec<float>;
  const V zero(0.f);
  const V s = at_most(x.abs(), V(14.5f));
  const V below =
      polynomial(x * x, 0.39894226f, -0.066489905f, 0.009969952f, -0.0011757828f, 9.871633e-05f);
  const V center = x * fmadd(x, below, V(0.5f));
  // For x > 0 the shares above and below x make 1.
  const V y = fmadd(at_most(x, zero), zero, at_least(x, zero) + normal_tail(s.neg(), s));
  return blendv(y, center, s < V(0.8f));
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
