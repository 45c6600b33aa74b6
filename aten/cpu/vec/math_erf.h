// The error function and what is made of the normal distribution.
#pragma once

#include <aten/cpu/vec/math_exp.h>

#include <iterator>

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

// Here from 0 on with t = 1 / (x + 2.5). P is a polynomial of t - c, where c is such that the
// difference is exact, that the first coefficient is almost exactly a double, and that it may be
// subtracted from P exactly. By `slope` the logarithm of t P(t) depends on that of t, roughly.
OPLOOM_ALWAYS_INLINE Vec<double> erfc(const Vec<double>& argument) {
  using D = Vec<double>;
  const D offset(2.5), one(1.), first(0.7274287347461346), second(2.2198047830595597);
  const D x = at_most(argument.abs(), D(27.3));
  const D d = x + offset;
  const D d_rest = x - (d - offset);
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
  const D exponent = x * x;
  const D slope = fmadd(t, fmadd(t, D(4.7), D(2.7)), one);
  const D rest = fmadd(t_error, slope, fmadd(x.neg(), x, exponent));
  const D y = exp_times(scale, lost, exponent.neg(), rest);
  return blendv(y, D(2.) - y, argument.signs());
}

// Note [Share in intervals]
// Up to 5, s (0.7 + 0.18 s) counts eight intervals, and twice that, with AVX512, sixteen, for which
// shorter polynomials do. In each of them the share below -s is another polynomial of s - m. The
// centers m are such that the first coefficient, the share below -m, is almost exactly a float;
// what exp() and a quotient would take away by rounding never arises. They lie where a longer reach
// to the left and what cancels to the right give errors alike.
#if defined(CPU_CAPABILITY_AVX512)
alignas(64) inline constexpr float kShareCenters[16] = {
    0.45630312f, 0.98263055f, 1.4259521f, 1.816254f, 2.1697474f, 2.494882f, 2.7975388f, 3.0821009f,
    3.3515348f,  3.6076796f,  3.8530462f, 4.08787f,  4.3141103f, 4.531798f, 4.743446f,  4.948447f};
alignas(64) inline constexpr float kShares[7][16] = {
    {0.324086f, 0.16289465f, 0.07694109f, 0.034665707f, 0.015012995f, 0.0062999493f, 0.0025746794f,
     0.0010277259f, 0.00040182463f, 0.00015447383f, 5.832869e-05f, 2.1767588e-05f, 8.012347e-06f,
     2.9241896e-06f, 1.0505655e-06f, 3.7403933e-07f},
    {-0.35949874f, -0.24617319f, -0.14433645f, -0.07666363f, -0.03789863f, -0.01775378f,
     -0.007970165f, -0.0034526563f, -0.001451248f, -0.00059519906f, -0.0002383141f, -9.380619e-05f,
     -3.626301e-05f, -1.3845716e-05f, -5.188437e-06f, -1.9213094e-06f},
    {0.08202031f, 0.12094866f, 0.10290843f, 0.06962031f, 0.041115224f, 0.022146793f, 0.011148423f,
     0.0053207176f, 0.002431954f, 0.0010736438f, 0.0004591176f, 0.00019173378f, 7.822131e-05f,
     3.1372998e-05f, 1.2305536e-05f, 4.753749e-06f},
    {0.047449164f, 0.0014106375f, -0.0248601f, -0.029372543f, -0.023419986f, -0.01545859f,
     -0.009067537f, -0.0048908517f, -0.00247505f, -0.0011919339f, -0.0005499569f, -0.0002456321f,
     -0.000106444204f, -4.5085817e-05f, -1.8592847e-05f, -7.5213225e-06f},
    {-0.019072918f, -0.020511955f, -0.008294998f, 0.0017323515f, 0.005852145f, 0.00595203f,
     0.0044843974f, 0.002881879f, 0.0016684852f, 0.0008960114f, 0.00045319344f, 0.00021903974f,
     0.00010174951f, 4.584121e-05f, 1.9993071e-05f, 8.510381e-06f},
    {-0.0055759274f, 0.0039054942f, 0.0061825323f, 0.0037955546f, 0.00096201466f, -0.0006701913f,
     -0.0011594476f, -0.0010467187f, -0.0007473177f, -0.00046663787f, -0.00026547845f,
     -0.00014140498f, -7.130313e-05f, -3.4514604e-05f, -1.6028072e-05f, -7.2195817e-06f},
    {0.0022763887f, 0.0026055742f, 0.00015332238f, -0.0012695271f, -0.0012377391f, -0.0006664933f,
     -0.0001507024f, 0.000119644894f, 0.0001940777f, 0.0001728503f, 0.00012289749f, 7.6566794e-05f,
     4.3772485e-05f, 2.3400939e-05f, 1.1903029e-05f, 5.789487e-06f}};
#else
inline constexpr float kShareCenters[8] = {0.82230824f, 1.7060213f, 2.4057524f, 3.0052843f,
                                           3.538627f,   4.025386f,  4.474111f,  4.893536f};
inline constexpr float kShares[9][8] = {
    {0.20545074f, 0.044002056f, 0.008069599f, 0.0013266635f, 0.00020110694f, 2.8440983e-05f,
     3.8364924e-06f, 4.952007e-07f},
    {-0.2844966f, -0.093089595f, -0.022087114f, -0.0043620835f, -0.0007617602f, -0.000120868885f,
     -1.7952638e-05f, -2.5173943e-06f},
    {0.116971955f, 0.07940642f, 0.026568064f, 0.0065546506f, 0.0013477926f, 0.00024327195f,
     4.016105e-05f, 6.15948e-06f},
    {0.015353584f, -0.029641256f, -0.017624253f, -0.005839202f, -0.0014628172f, -0.00030627675f,
     -5.6902845e-05f, -9.627612e-06f},
    {-0.022651825f, -0.0005920884f, 0.006171659f, 0.0032946032f, 0.0010694716f, 0.00026767424f,
     5.69537e-05f, 1.0751604e-05f},
    {0.0014265584f, 0.0046463255f, -0.00032599308f, -0.0011039553f, -0.0005374513f, -0.0001695378f,
     -4.2432413e-05f, -9.081836e-06f},
    {0.00283286f, -0.0012473747f, -0.0006865667f, 0.00011673827f, 0.00017397692f, 7.81408e-05f,
     2.4048468e-05f, 5.971239e-06f},
    {-0.00052288437f, -0.00025564746f, 0.00030454292f, 8.744905e-05f, -2.6775802e-05f,
     -2.4815516e-05f, -1.0159072e-05f, -2.9814023e-06f},
    {-0.00032567178f, 0.00018383788f, 3.9580616e-05f, -4.3676162e-05f, -1.4515242e-05f,
     3.2833102e-06f, 3.7370119e-06f, 1.652317e-06f}};
#endif
inline constexpr float kFarthestShare = 4.99f;

// The share below -s, by the polynomial of `place`, which is s up to kFarthestShare.
OPLOOM_ALWAYS_INLINE Vec<float> share_near(Vec<float> s, Vec<float> place) {
  using V = Vec<float>;
  // The count less 1/2, rounded, is the number of the interval; it comes into the lowest bits.
  constexpr float kIntervals = std::size(kShareCenters);
  const V count = fmadd(place, V(0.18f / 8 * kIntervals), V(0.7f / 8 * kIntervals));
  const V interval = fmadd(place, count, V(-0.5f)) + V(kRoundToWhole);
  const V d = s - V::lookup(kShareCenters, interval);
  constexpr int kDegree = std::size(kShares) - 1;
  V share = V::lookup(kShares[kDegree], interval);
  for (int i = kDegree - 1; i >= 0; --i) share = fmadd(share, d, V::lookup(kShares[i], interval));
  return share;
}

// s times the share below -s, for s > kFarthestShare, is exp(-s^2 / 2) P(2 / s^2): what rounding
// takes from s^2 / 2 is kept, and P hardly depends on it. The power is that of exp_of_near(),
// larger by 2^64, so that it is a normal number. nan at -inf, as -inf * 0 is.
OPLOOM_ALWAYS_INLINE Vec<float> gelu_of_far(Vec<float> x) {
  using V = Vec<float>;
  const V zero(0.f);
  const V s = at_most(x.abs(), V(14.5f));
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
  const V y = first + fmadd(first, change, fmadd(power, factor, first.neg()));
  // For x > 0 the shares above and below x make 1.
  return fmadd(y, V(-0x1p-64f), fmadd(at_most(x, zero), zero, at_least(x, zero)));
}

// x times the share of the normal distribution below x. Where all that is far is above 0, the
// share above x hardly counts: a polynomial does, and from 5.6 on, where x times it is an eighth of
// a last digit, a constant.
OPLOOM_ALWAYS_INLINE Vec<float> gelu(const Vec<float>& x) {
  using V = Vec<float>;
  const V s = x.abs();
  const auto near = s < V(kFarthestShare);
  const V y = fmadd(s.neg(), share_near(s, s), at_least(x, V(0.f)));
  if (all(near)) [[likely]]
    return y;
  if (!all(x > V(-kFarthestShare))) return blendv(gelu_of_far(x), y, near);
  const V above = x - polynomial(at_most(x, V(5.6f)) - V(5.25f), 3.8904008e-07f, -2.1256465e-06f,
                                 6.1592286e-06f, -8.165668e-06f);
  return blendv(above, y, near);
}

// The share of the normal distribution below x. A little beyond kFarthestShare the last polynomial
// serves on, and then 0, which is 1e-7 too small.
OPLOOM_ALWAYS_INLINE Vec<float> normal_cdf(const Vec<float>& x) {
  using V = Vec<float>;
  const V s = x.abs();
  const V share = blendv(share_near(s, at_most(s, V(kFarthestShare))), V(0.f), s > V(5.2f));
  return blendv(V(1.f) - share, share, x.signs());
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
