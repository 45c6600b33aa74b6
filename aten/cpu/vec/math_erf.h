// The error function and what is made of the normal distribution.
#pragma once

#include <aten/cpu/vec/math_exp.h>

#include <iterator>
#include <utility>

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
  const V y = exp2_near_zero(r);
  const V large = fmadd(y.neg(), from_bits<V>(bits_of(rounded) << 23), V(1.f));
  return blendv(large, small, x < V(1.f)) | (*this & V(-0.f));
}

// The same, by Chebyshev interpolation below 1 and, weighted by what is left of 1, by Remez's
// algorithm above, with 50 digits.
OPLOOM_ALWAYS_INLINE Vec<double> Vec<double>::erf() const {
  using D = Vec<double>;
  const D x = abs(), z = x * x;
  const D small =
      fmadd(x,
            polynomial(z, 0.1283791670955126, -0.3761263890318375, 0.11283791670954821,
                       -0.02686617064506536, 0.0052239776247018236, -0.0008548326973892409,
                       0.00012055330849639737, -1.4925588776320808e-05, 1.6460893511430594e-06,
                       -1.634915099897037e-07, 1.4651792172190506e-08, -1.1341396612977419e-09,
                       5.903059452939704e-11),
            x);
  const D q = polynomial(at_most(x, D(5.95)) - D(1.), 2.6684166967815997, 3.807225345853586,
                         1.2163466576872248, 0.059959990014681455, -0.014475749827063351,
                         0.0028535082754988722, -0.0003423752443406271, -3.793757747880054e-05,
                         3.9239816292556514e-05, -1.3952837720025062e-05, 3.0757289752200056e-06,
                         -2.9547389176584216e-07, -8.36968215675415e-08, 4.817481082126374e-08,
                         -1.2290356050492473e-08, 1.9031262208313727e-09, -1.7215730822594224e-10,
                         7.019038012409158e-12);
  const D kRound(0x1.8p52 + 1023);
  const D rounded = kRound - q;
  const D r = (kRound - rounded) - q;
  const D y = exp2_near_zero(r);
  const D large = fmadd(y.neg(), from_bits<D>(bits_of(rounded) << 52), D(1.));
  return blendv(large, small, x < D(1.)) | (*this & D(-0.));
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
  const V above = exp_times(scale, lost, exponent.neg(), rest);
  const V y = blendv(above, V(2.f) - above, argument.signs());
  return blendv(y, center, x < V(0.75f));
}

// Here from 0 to 27.3 with t = 1 / (x + 2.5). P is a polynomial of t - c, where c is such that the
// difference is exact, that the first coefficient is almost exactly a double, and that it may be
// subtracted from P exactly. `lack`, if there is one, is what x lacks.
struct ScaledErfc {
  Vec<double> first, rest;  // t P(t) is the sum of the two
  Vec<double> rest_of_log;  // and what t lacks is to be added to its logarithm
};
template <typename... Lack>
OPLOOM_ALWAYS_INLINE ScaledErfc scaled_erfc(const Vec<double>& x, Lack... lack) {
  using D = Vec<double>;
  const D offset(2.5), one(1.), first(0.7274287347461346), second(2.2198047830595597);
  const D d = x + offset;
  const D d_rest = ((x - (d - offset)) + ... + lack);
  const D t = one / d;
  const D t_error = fmadd(t.neg(), d_rest, fmadd(t.neg(), d, one));
  const D u = t - D(0.09192648064345121);
  const D curve =
      polynomial(u, 5.82806302557082, 12.526288183066923, 19.650348380234963, 13.724012396894498,
                 -29.704208007974106, -101.91744902445619, -50.716866479911126, 381.05563421545594,
                 752.5206372800218, -1209.2739801768723, -5648.55512198454, 3102.818957059133,
                 39154.24799901482, -1193.5683940523395, -157964.21954699478, -1794946.1978701332,
                 13505893.227066275, -43280143.24763895, 81924971.02565283, -96035337.41062422,
                 65274714.6619008, -19861034.574127942);
  const D q = fmadd(u, curve, second);
  const D q_rest = fmadd(u, curve, second - q);
  const D p = fmadd(u, q, first);
  const D p_rest = fmadd(u, q_rest, fmadd(u, q, first - p));
  const D scale = t * p;
  const D lost = fmadd(t, p_rest, fmadd(t, p, scale.neg()));
  // The logarithm of t P(t) depends so much on that of t, roughly.
  const D slope = fmadd(t, fmadd(t, D(4.7), D(2.7)), one);
  return {scale, lost, t_error * slope};
}
template <typename... Lack>
OPLOOM_ALWAYS_INLINE Vec<double> erfc_above(const Vec<double>& x, Lack... lack) {
  using D = Vec<double>;
  const ScaledErfc scaled = scaled_erfc(x, lack...);
  const D exponent = x * x;
  D exponent_rest = fmadd(x.neg(), x, exponent);
  ((exponent_rest = fmadd(D(-2.) * x, lack, exponent_rest)), ...);
  return exp_times(scaled.first, scaled.rest, exponent.neg(), scaled.rest_of_log + exponent_rest);
}
OPLOOM_ALWAYS_INLINE Vec<double> erfc(const Vec<double>& argument) {
  using D = Vec<double>;
  const D y = erfc_above(at_most(argument.abs(), D(27.3)));
  return blendv(y, D(2.) - y, argument.signs());
}

// exp(x^2) erfc(x)
OPLOOM_NOINLINE inline Vec<double> erfcx(const Vec<double>& argument) {
  using D = Vec<double>;
  const D end(27.3), x = argument.abs();
  const ScaledErfc scaled = scaled_erfc(at_most(x, end));
  D y = scaled.first + fmadd(scaled.first, scaled.rest_of_log, scaled.rest);
  const auto near = x <= end;
  if (!all(near)) {
    // DLMF 7.12.1
    const D far = D(0.5641895835477563) / x, inverse = D(1.) / x, z = inverse * inverse;
    const D change = z * polynomial(z, -0.5, 0.75, -1.875, 6.5625, -29.53125, 162.421875);
    y = blendv(fmadd(far, change, far), y, near);
  }
  const auto below = argument < D(0.);
  if (bits_of(below) != 0) {
    // Infinite from -26.7 on.
    const D most = at_most(x, D(26.7)), square = most * most;
    const D twice = exp_times(D(2.), D(0.), square, fmadd(most, most, square.neg()));
    y = blendv(y, twice - y, below);
  }
  return y;
}

// The share of the normal distribution below -s, for s up to 38.6, where it is 0.
OPLOOM_ALWAYS_INLINE Vec<double> share_of(const Vec<double>& s) {
  using D = Vec<double>;
  const D root_half(0.70710678118654752440);
  const D z = s * root_half;
  const D lack = fmadd(s, root_half, z.neg()) + s * D(-4.8336466567264567e-17);
  return D(0.5) * erfc_above(z, lack);
}
OPLOOM_ALWAYS_INLINE Vec<double> ndtr(const Vec<double>& x) {
  const Vec<double> share = share_of(at_most(x.abs(), Vec<double>(38.6)));
  return blendv(Vec<double>(1.) - share, share, x.signs());
}
// For x > 0 the shares above and below x make 1. nan at -inf, as -inf * 0 is.
OPLOOM_ALWAYS_INLINE Vec<double> gelu(const Vec<double>& x) {
  using D = Vec<double>;
  const D zero(0.), s = at_most(x.abs(), D(38.6));
  return fmadd(s.neg(), share_of(s), fmadd(at_most(x, zero), zero, at_least(x, zero)));
}

// Note [Share in intervals]
// Up to 5.365, s (0.23 + 0.2177 s), rounded, is the number of one of eight intervals, and with
// AVX512 s (0.9 + 0.3708 s) that of one of sixteen, for which shorter polynomials do. In each of
// them the share below -s is another polynomial of s - m. The centers m are such that the first
// coefficient, the share below -m, is almost exactly a float; what exp() and a quotient would take
// away by rounding never arises. They lie where a longer reach to the left and what cancels to the
// right give errors alike.
#if defined(CPU_CAPABILITY_AVX512)
inline constexpr float kIntervalsAtZero = 0.9f, kIntervalsGrow = 0.3708f;
alignas(64) inline constexpr float kShareCenters[16] = {
    0.30766523f, 0.94817704f, 1.4872516f, 1.9413539f, 2.3522124f, 2.7412772f,
    3.0366192f,  3.3430226f,  3.6413703f, 3.9071434f, 4.1645184f, 4.410145f,
    4.640244f,   4.8666196f,  5.0963817f, 5.3116236f};
alignas(64) inline constexpr float kShares[7][16] = {
    {0.37916854f, 0.17151967f, 0.06847418f, 0.026107682f, 0.009331057f, 0.0030600424f,
     0.0011962375f, 0.00041435577f, 0.00013559537f, 4.6696874e-05f, 1.5600526e-05f, 5.165076e-06f,
     1.7399901e-06f, 5.676162e-07f, 1.731034e-07f, 5.4326428e-08f},
    {-0.3805006f, -0.25449893f, -0.13200739f, -0.060605716f, -0.025087385f, -0.009313979f,
     -0.003968105f, -0.001493193f, -0.0005267801f, -0.00019319255f, -6.837214e-05f, -2.3852364e-05f,
     -8.420252e-06f, -2.870766e-06f, -9.1394827e-07f, -2.981672e-07f},
    {0.058533262f, 0.120655194f, 0.09816424f, 0.05882857f, 0.029505411f, 0.012766102f, 0.00602481f,
     0.0024958889f, 0.0009591009f, 0.0003774157f, 0.00014236868f, 5.259627e-05f, 1.9536054e-05f,
     6.9854805e-06f, 2.3289176e-06f, 7.9187606e-07f},
    {0.05741426f, 0.004276083f, -0.026665766f, -0.027968224f, -0.018952953f, -0.010112588f,
     -0.0054369997f, -0.0025323962f, -0.0010763593f, -0.00045934628f, -0.00018623957f,
     -7.3344934e-05f, -2.881425e-05f, -1.0853567e-05f, -3.8042606e-06f, -1.3524667e-06f},
    {-0.014155958f, -0.021145107f, -0.006461696f, 0.0037692222f, 0.0062306533f, 0.0048029777f,
     0.0031238645f, 0.001700516f, 0.00081990554f, 0.00038568582f, 0.00017010768f, 7.2065566e-05f,
     3.0153435e-05f, 1.2033058e-05f, 4.4562585e-06f, 1.663283e-06f},
    {-0.007742917f, 0.003464248f, 0.005959695f, 0.0027373908f, -9.127453e-05f, -0.0011365832f,
     -0.0010810961f, -0.0007577265f, -0.00043501885f, -0.00023209593f, -0.000113587186f,
     -5.2472766e-05f, -2.3667926e-05f, -1.0084674e-05f, -3.9354577e-06f, -1.5412786e-06f},
    {0.0018665125f, 0.0028227938f, -0.00019732537f, -0.0013771234f, -0.0009132914f, -0.00025067758f,
     0.0001059055f, 0.00019215448f, 0.00016533906f, 0.00010925917f, 6.2423846e-05f, 3.2625787e-05f,
     1.5958898e-05f, 7.4137392e-06f, 3.3160413e-06f, 1.4246236e-06f}};
#else
inline constexpr float kIntervalsAtZero = 0.23f, kIntervalsGrow = 0.2177f;
inline constexpr float kShareCenters[8] = {0.73220795f, 1.8277926f, 2.7214904f, 3.356833f,
                                           3.878536f,   4.411836f,  4.8406267f, 5.2603106f};
inline constexpr float kShares[9][8] = {
    {0.23202083f, 0.03379034f, 0.0032494138f, 0.0003942036f, 5.254349e-05f, 5.1248835e-06f,
     6.4715147e-07f, 7.1906115e-08f},
    {-0.30513445f, -0.075068705f, -0.009831208f, -0.0014256857f, -0.00021595096f, -2.3675078e-05f,
     -3.2567787e-06f, -3.9107263e-07f},
    {0.111710936f, 0.068605006f, 0.01337777f, 0.0023928944f, 0.0004187868f, 5.2225285e-05f,
     7.882425e-06f, 1.0285818e-06f},
    {0.02359035f, -0.029287152f, -0.01049728f, -0.002439905f, -0.0005054343f, -7.28572e-05f,
     -1.2175788e-05f, -1.7383662e-06f},
    {-0.02293721f, 0.0019488565f, 0.004912348f, 0.0016487784f, 0.0004202855f, 7.165389e-05f,
     1.3420902e-05f, 2.114678e-06f},
    {-0.00017813085f, 0.0036811177f, -0.0010997431f, -0.00074076065f, -0.00025022015f,
     -5.2302887e-05f, -1.1170044e-05f, -1.964774e-06f},
    {0.0030877036f, -0.0013847332f, -0.00015528113f, 0.00019476603f, 0.00010580308f, 2.8912957e-05f,
     7.212154e-06f, 1.4369455e-06f},
    {-0.00029796368f, -8.2653816e-05f, 0.00020143944f, -8.395671e-06f, -2.8508537e-05f,
     -1.1777293e-05f, -3.586674e-06f, -8.298704e-07f},
    {-0.00033333938f, 0.00017767305f, -3.232104e-05f, -2.808357e-05f, 1.8126897e-06f, 4.106929e-06f,
     1.8091924e-06f, 5.2136664e-07f}};
#endif
// From here on s times the share is less than half a last digit of s.
inline constexpr float kFarthestShare = 5.36f;

// The share below -s, for s up to kFarthestShare.
OPLOOM_ALWAYS_INLINE Vec<float> share_near(Vec<float> s) {
  using V = Vec<float>;
  // Rounded, the number of the interval comes into the lowest bits.
  const V interval = fmadd(s, fmadd(s, V(kIntervalsGrow), V(kIntervalsAtZero)), V(kRoundToWhole));
  const V d = s - V::lookup(kShareCenters, interval);
  constexpr int kDegree = std::size(kShares) - 1;
  V share = V::lookup(kShares[kDegree], interval);
  for (int i = kDegree - 1; i >= 0; --i) share = fmadd(share, d, V::lookup(kShares[i], interval));
  return share;
}

// s times the share below -s, for s from kFarthestShare to 14.5, is exp(-s^2 / 2) P(2 / s^2): what
// rounding takes from s^2 / 2 is kept, and P hardly depends on it. Here it is 2^64 times that,
// since the power is that of exp_of_near(), larger by as much, so that it is a normal number.
OPLOOM_ALWAYS_INLINE std::pair<Vec<float>, Vec<float>> product_of_far(Vec<float> s) {
  using V = Vec<float>;
  const V half = s * V(0.5f), exponent = half * s;
  const V lost = fmadd(half, s, exponent.neg());
  const V kRound(kRoundToWhole + 8 * 64);
  const V rounded = fmadd(exponent, V(-kEighthsPerPower), kRound);
  const V n = rounded - kRound;
  const V r =
      fmadd(n, V(-kEighth), exponent.neg()) + (fmadd(n, V(-kEighthRest), V(-kEighthsLog)) - lost);
  const V change = fmadd(r * r, polynomial(r, 0.4999982f, 0.16657186f, 0.040098872f), r);
  const V power = power_of_eighths(rounded);
  const V factor = polynomial(V(1.f) / exponent, 0.39894223f, -0.19946072f, 0.2983776f,
                              -0.71583766f, 1.9377695f, -3.456981f);
  const V first = power * factor;
  return {first, fmadd(first, change, fmadd(power, factor, first.neg()))};
}

// nan at -inf, as -inf * 0 is.
OPLOOM_ALWAYS_INLINE Vec<float> gelu_of_far(Vec<float> x) {
  using V = Vec<float>;
  const V zero(0.f);
  const auto [first, rest] = product_of_far(at_most(x.abs(), V(14.5f)));
  // For x > 0 the shares above and below x make 1.
  return fmadd(first + rest, V(-0x1p-64f), fmadd(at_most(x, zero), zero, at_least(x, zero)));
}

// x times the share of the normal distribution below x.
OPLOOM_ALWAYS_INLINE Vec<float> gelu(const Vec<float>& x) {
  using V = Vec<float>;
  const auto near = x > V(-kFarthestShare);
  const V s = at_most(x.abs(), V(kFarthestShare));
  const V y = fmadd(s.neg(), share_near(s), at_least(x, V(0.f)));
  if (all(near)) [[likely]]
    return y;
  return blendv(gelu_of_far(x), y, near);
}

// The share of the normal distribution below x, but 0 below -kFarthestShare, which is 4e-8 too
// small.
OPLOOM_ALWAYS_INLINE Vec<float> normal_cdf(const Vec<float>& x) {
  using V = Vec<float>;
  const V s = x.abs(), farthest(kFarthestShare);
  const V near = share_near(at_most(s, farthest));
  const V share = blendv(near, V(0.f), s > farthest);
  return blendv(V(1.f) - share, share, x.signs());
}
OPLOOM_ALWAYS_INLINE Vec<float> ndtr(const Vec<float>& x) {
  using V = Vec<float>;
  const auto near = x > V(-kFarthestShare);
  const V y = normal_cdf(x);
  if (all(near)) [[likely]]
    return y;
  const V s = at_most(x.abs(), V(14.5f));
  const auto [first, rest] = product_of_far(s);
  const V share = first / s;
  const V share_rest = (fmadd(share.neg(), s, first) + rest) / s;
  return blendv((share + share_rest) * V(0x1p-64f), y, near);
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
