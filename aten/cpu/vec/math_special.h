// Functions of float that are computed in double where they need it, and rounded once: errors are
// little more than 0.5 ULP. And erfinv, ndtri and the Bessel functions of double.
#pragma once

#include <aten/cpu/vec/math_gamma.h>
#include <c10/util/special_functions.h>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// x erfinv(y) / y, where y^2 = 1 - share, for share from 1e-38 to 1: a function of w = -log(share),
// in which small errors of w count little.
OPLOOM_ALWAYS_INLINE Vec<float> erfinv_product(const std::array<Vec<double>, 2>& x,
                                               Vec<float> share) {
  using D = Vec<double>;
  Vec<float> k;
  const auto m = widen(split_power(share, k));
  const auto powers = widen(k);
  std::array<D, 2> y;
  for (int i = 0; i < 2; ++i) {
    const D w = log2_of_split(m[i], powers[i]) * D(-0.6931471805599453);
    const auto near = w <= D(5.);
    y[i] = polynomial_by_halves(
        w - D(2.5), 1.5014093516925064, 0.24664027578567352, -0.00417732463617055,
        -0.0012527048769534971, 0.00021826355745196204, -4.998759713961508e-06,
        -3.4260121484801588e-06, 4.796988415299888e-07, 1.6457227921792074e-08,
        -1.1023213236203067e-08, 4.370312784459356e-10, 1.3285898551675198e-10);
    if (!all(near)) {
      const D root = root_and_inverse(w).root;
      y[i] = blendv(polynomial_by_halves(
                        root - D(3.), 2.8329767989026204, 1.001675246363473, 0.009445500391732779,
                        -0.00764293932944109, 0.005685345192702247, -0.0035658587399608247,
                        0.0014849201766198663, -0.00012494814815570266, -0.00029440280093095744,
                        0.0001702323018809701, -1.9112422634861684e-05, -6.987359953916895e-06),
                    y[i], near);
      const auto far = w <= D(17.);
      if (!all(far))
        y[i] =
            blendv(polynomial_by_halves(
                       root - D(7.), 6.86901964894447, 1.0085956263909417, -0.0005126321914959999,
                       6.2730612412708045e-06, 6.027365098987063e-06, -1.6115465960224258e-06,
                       3.2618955585899063e-07, -5.634863831247061e-08, 6.366897420335661e-09,
                       -9.425005471345977e-10, 3.844419715627841e-10, -5.739293117806772e-11),
                   y[i], far);
    }
  }
  return narrow(x[0] * y[0], x[1] * y[1]);
}

// In float, where w is up to 16. Up to 5 it is the first curve: what the largest parts of w, and of
// c + d t, where t = w - 2.5, lose is kept. From there on it is sqrt(w) and a polynomial of
// 1 / sqrt(w).
template <typename U>
OPLOOM_ALWAYS_INLINE Vec<float> erfinv(U& usual, const Vec<float>& x) {
  using V = Vec<float>;
  using Log = NaturalLog;
  const V one(1.f), c(1.50140929f), d(0.24664028f);
  const V square = x * x, most = one - square;
  const V lost_share = ((one - most) - square) - fmadd(x, x, square.neg());
  const V share = most + lost_share;
  // share = 2^k (1 + f), as in log1p_of_usual
  const auto bits = bits_of_power(share);
  const auto exponent = bits & bits_of(V(-std::numeric_limits<float>::infinity()));
  const V inverse = from_bits<V>(bits_of(one) - exponent), k = power_of_bits(bits);
  const V f = fmadd(share, inverse, one.neg());
  const V rest_of_f = (lost_share - (share - most)) * inverse;
  const V small = small_of_log<Log>(f, fmadd(f.neg(), rest_of_f, rest_of_f));
  const V power = k * V(Log::kPower<float>);
  const V minus_w = power + f;
  const V lost = (f - (minus_w - power)) + fmadd(k, V(Log::kPowerRest<float>), small);
  const V t = V(-2.5f) - minus_w;
  const V t_rest = ((V(-2.5f) - t) - minus_w) - lost;
  const V whole_t = t + t_rest;
  const V curve = polynomial_by_halves(whole_t, -0.00417732463617055f, -0.0012527048769534971f,
                                       0.00021826355745196204f, -4.998759713961508e-06f,
                                       -3.4260121484801588e-06f, 4.796988415299888e-07f,
                                       1.6457227921792074e-08f, -1.1023213236203067e-08f,
                                       4.370312784459356e-10f, 1.3285898551675198e-10f);
  const V line = fmadd(d, t, c);
  const V line_rest = fmadd(d, t, c - line) + fmadd(V(-4.103433e-09f), t, V(5.947144e-08f));
  const V rest = fmadd(whole_t * whole_t, curve, fmadd(d, t_rest, line_rest));
  const auto times_x = [x](V center, V lost_of_center) OPLOOM_ALWAYS_INLINE_LAMBDA {
    const V product = x * center;
    return product + fmadd(x, lost_of_center, fmadd(x, center, product.neg()));
  };
  // e^-5; and below 2^-90 the rests are no normal numbers.
  const auto near = share >= V(0.0067379470f), tiny = x.abs() < V(0x1p-90f);
  if (usual.are(near & !tiny)) [[likely]]
    return times_x(line, rest);
  const V w = minus_w.neg() - lost, w_rest = (minus_w.neg() - w) - lost;
  const RootAndInverse<float> of_w = root_and_inverse(w);
  const V root_rest = rest_of_root(of_w, w, w_rest);
  const V z = fmadd(of_w.half_inverse, V(2.f), V(-0.34375f));
  const V far_rest =
      root_rest + polynomial_by_halves(z, -0.16709128f, 0.0021154552f, 0.8418513f, 1.1616808f,
                                       6.837327f, -31.40076f, -152.99542f, 637.6353f, 2313.3252f,
                                       -11805.47f);
  V y = times_x(blendv(of_w.root, line, near), blendv(far_rest, rest, near));
  const V first = in_double(x, [](Vec<double> v) { return v * Vec<double>(0.886226925452758); });
  y = blendv(y, first, tiny);
  // Infinite at -1 and 1, nan beyond.
  const V infinity(std::numeric_limits<float>::infinity());
  y = blendv(y, infinity | (x & V(-0.f)), share == V(0.f));
  return blendv(V(std::numeric_limits<float>::quiet_NaN()), y, share >= V(0.f));
}
OPLOOM_ALWAYS_INLINE Vec<float> erfinv(const Vec<float>& x) { return erfinv(kAny, x); }

// Note [erfinv of double]
// As above x P(w), with one P for w up to 5, and others of the root of w. They are Chebyshev
// interpolations, computed with 60 digits and centered where P has a value c that is nearly a
// double. With t the distance from the center, P = c + t Q(t): x c, the largest part, is kept in
// two numbers, and so is w, of which a rounding would be one of the result as large.
struct ErfinvCurve {
  Vec<double> t, center, center_rest, slope;

  // x P(w), in two numbers.
  OPLOOM_ALWAYS_INLINE c10::special::TwoNumbers<Vec<double>> times(const Vec<double>& x) const {
    const Vec<double> first = x * center;
    const Vec<double> lost = fmadd(x, center_rest, fmadd(x, center, first.neg()));
    return {first, fmadd(x * t, slope, lost)};
  }
};
OPLOOM_ALWAYS_INLINE ErfinvCurve blend(const ErfinvCurve& a, const ErfinvCurve& b,
                                       Vec<double>::Mask mask) {
  return {blendv(a.t, b.t, mask), blendv(a.center, b.center, mask),
          blendv(a.center_rest, b.center_rest, mask), blendv(a.slope, b.slope, mask)};
}

// w = -log(share / 2^raised) in two numbers, for a positive normal number: share = 2^n (1 + f), and
// log(1 + f) = f - s f + s^3 R(s^2) with s = f / (2 + f).
OPLOOM_ALWAYS_INLINE c10::special::TwoNumbers<Vec<double>> minus_log_of_share(Vec<double> share,
                                                                              Vec<double> raised) {
  using D = Vec<double>;
  using Bits = typename FloatingForm<D>::bits;
  const D one(1.);
  const Bits shifted = bits_of(share) + Bits((1024ull << 52) - 0x3fe6a09e667f3bcd);  // sqrt(1/2)
  const Bits power = shifted >> 52;                                                  // n + 1024
  const D n = from_bits<D>(power | Bits(0x433ull << 52)) - D(0x1p52 + 1024) - raised;
  const D f = from_bits<D>(bits_of(share) + Bits(1024ull << 52) - (power << 52)) - one;
  const D s = f / (f + D(2.)), z = s * s;
  const D rest_of_log = fmadd(
      z * s,
      polynomial(z, 0.6666666666666666, 0.4000000000000088, 0.2857142857080323, 0.2222222239180047,
                 0.18181795630884753, 0.15386240205813478, 0.13268759668560612, 0.13086767009948175)
          .neg(),
      f * s);
  const D whole = n * D(-0.6931471805601177);
  const D sum = whole - f;
  const D lost_of_log = ((whole - sum) - f) + fmadd(n, D(1.7239444525614835e-13), rest_of_log);
  const D w = sum + lost_of_log;
  return {w, (sum - w) + lost_of_log};
}

// For w up to 5.
inline constexpr double kNearErfinv = 5;
OPLOOM_ALWAYS_INLINE ErfinvCurve erfinv_curve_near(Vec<double> w, Vec<double> w_rest) {
  using D = Vec<double>;
  const D t = (w - D(0.7486)) + w_rest;
  return {t, D(1.0653759818631223), D(-2.2493313644615513e-18),
          polynomial(t, 0.24523946431877494, 0.006074621521995784, -0.002451635138300124,
                     4.839624845663908e-05, 4.379594398307164e-05, -3.0750332999651762e-06,
                     -7.917536703919132e-07, 1.0014384352217356e-07, 1.3456472435660903e-08,
                     -2.777283520294436e-09, -1.9673241639689007e-10, 7.091856855574595e-11,
                     1.6695022894706609e-12, -1.4932981670885529e-12, -1.1501840697846328e-13,
                     9.20919274323194e-14, -1.516568639323537e-14, 1.0889683911720025e-15,
                     -9.56868116698321e-18, -3.513250553942351e-18, 1.64533799430872e-19)};
}
// For w up to 36, unless kAnyShare.
template <bool kAnyShare>
OPLOOM_ALWAYS_INLINE ErfinvCurve erfinv_curve(Vec<double> w, Vec<double> w_rest) {
  using D = Vec<double>;
  ErfinvCurve curve = erfinv_curve_near(w, w_rest);
  const auto near = w <= D(kNearErfinv);
  if (!all(near)) {
    const auto [root, root_rest] = root_in_two(w, w_rest);
    D t = (root - D(3.029)) + root_rest;
    const ErfinvCurve middle{
        t, D(2.8620331429605237), D(-1.6685778415629767e-17),
        polynomial(t, 1.0022043738689, 0.00880834607614718, -0.0070135341306412835,
                   0.005187734039321322, -0.003303622031669113, 0.0014472579277746344,
                   -0.00020850161683955558, -0.0002313272385781955, 0.00019109892223608235,
                   -5.258281802940392e-05, -1.5639002969732747e-05, 1.9589341076727244e-05,
                   -6.4627572404157425e-06, -8.509078838225611e-07, 1.7184333315839124e-06,
                   -6.647006846005133e-07, -2.9236962889830174e-08, 1.3980540509475147e-07,
                   -4.5579701550678085e-08, -5.2304798710039755e-09, 4.19497463780777e-09)};
    t = (root - D(4.8706)) + root_rest;
    const ErfinvCurve far{
        t, D(4.7191716864420075), D(1.8901302588163753e-17),
        polynomial(t, 1.0103248765466366, -4.716340013786608e-05, -0.000257867235108049,
                   8.99463143862185e-05, -2.3575459930166083e-05, 5.5472256310955355e-06,
                   -1.2800792671256856e-06, 3.3631681042311626e-07, -1.2368773527163463e-07,
                   6.194462406099498e-08, -3.314251287258477e-08, 1.61234953380289e-08,
                   -6.681185557188315e-09, 2.2244309536152936e-09, -4.4265621327218115e-10,
                   -7.831452357102301e-11, 8.874342112959174e-11, -1.968931701962242e-11)};
    curve = blend(blend(far, middle, w <= D(16.)), curve, near);
    if constexpr (kAnyShare) {
      // sqrt(w) and a polynomial of 1 / sqrt(sqrt(w)).
      const D u = D(1.) / root.sqrt() - D(0.3);
      const ErfinvCurve farthest{
          u, root, root_rest - D(0.10316532363265607),
          polynomial(u, -0.38944295714341054, 0.34062480920100613, 1.0793141768277,
                     -0.9845570635340266, 0.9306242217862755, -2.828574100715445,
                     3.6825880842175778, -6.84757637162091, 19.384086894136775, -42.528633581682236,
                     100.16489507208458, -260.85584176101446, 612.8984706643886,
                     -1584.7765467944685, 6804.936689281799, -18423.413676814776)};
      curve = blend(farthest, curve, w <= D(36.));
    }
  }
  return curve;
}

// Infinite at -1 and 1, nan beyond.
OPLOOM_NOINLINE inline Vec<double> erfinv_of_any(Vec<double> x, Vec<double> share, Vec<double> w,
                                                 Vec<double> w_rest) {
  using D = Vec<double>;
  const auto [first, rest] = erfinv_curve</*kAnyShare=*/false>(w, w_rest).times(x);
  return blendv(x / share.sqrt(), (first + rest) | (x & D(-0.)), share > D(0.));
}
template <typename U>
OPLOOM_ALWAYS_INLINE Vec<double> erfinv(U& usual, const Vec<double>& x) {
  using D = Vec<double>;
  const D zero(0.), share = fmadd(x.neg(), x, D(1.));
  const auto [w, w_rest] = minus_log_of_share(share, zero);
  if (!usual.are((w <= D(kNearErfinv)) & (share > zero))) [[unlikely]]
    return erfinv_of_any(x, share, w, w_rest);
  const auto [first, rest] = erfinv_curve_near(w, w_rest).times(x);
  return (first + rest) | (x & D(-0.));
}
OPLOOM_ALWAYS_INLINE Vec<double> erfinv(const Vec<double>& x) { return erfinv(kAny, x); }

// sqrt(2) erfinv(2 p - 1)
OPLOOM_NOINLINE inline Vec<double> ndtri(const Vec<double>& p) {
  using D = Vec<double>;
  const D one(1.), two(2.), zero(0.), root_two(1.4142135623730951), lack(-9.667293313452913e-17);
  const auto tiny = p < D(0x1p-1000);
  const D raised = blendv(p, p * D(0x1p100), tiny);
  const D share = D(4.) * raised * (one - p);
  const D x = fmadd(p, two, one.neg()), x_rest = p * two - (x + one);
  const auto [w, w_rest] = minus_log_of_share(share, blendv(zero, D(100.), tiny));
  const ErfinvCurve curve = erfinv_curve</*kAnyShare=*/true>(w, w_rest);
  const auto [first, first_rest] = curve.times(x);
  const D rest = fmadd(x_rest, curve.center, first_rest);
  const D product = first * root_two;
  const D y = product + fmadd(first, root_two, product.neg()) + fmadd(first, lack, rest * root_two);
  if (all(share > zero)) [[likely]]
    return y;
  // Infinite at 0, which may be -0, and 1, nan beyond.
  return blendv(x / (share + zero).sqrt(), y, share > zero);
}

// sqrt(2) erfinv(2 x - 1)
OPLOOM_NOINLINE inline Vec<float> ndtri(const Vec<float>& x) {
  using D = Vec<double>;
  const auto v = widen(x);
  const D one(1.), two(2.), four(4.), root(1.41421356237309504880);
  const Vec<float> share = narrow(four * v[0] * (one - v[0]), four * v[1] * (one - v[1]));
  const std::array<D, 2> y = {fmadd(v[0], two, one.neg()) * root,
                              fmadd(v[1], two, one.neg()) * root};
  const auto usual = is_positive_normal(share);
  const Vec<float> product = erfinv_product(y, share);
  if (all(usual)) [[likely]]
    return product;
  const auto one_by_one = [](float number) {
    return static_cast<float>(c10::special::ndtri(number));
  };
  return blendv(x.map(one_by_one), product, usual);
}

// exp(-x) I(x) for x >= 0
template <int order>
OPLOOM_ALWAYS_INLINE Vec<double> scaled_bessel(Vec<double> x) {
  using D = Vec<double>;
  const D t = fmadd(x, D(0.25), D(-1.));
  D near;
  if constexpr (order == 0) {
    near = polynomial_by_halves(
        t, 0.20700192116306126, -0.11300432734803216, 0.09451564144881087, -0.08904341441685386,
        0.08734296843824503, -0.0849638182221698, 0.07928120328128216, -0.06953823822342371,
        0.0567368242845135, -0.04299494252971257, 0.030331941830618568, -0.019675100339976694,
        0.011604537202955493, -0.006766304477365499, 0.0041177494041306295, -0.0018943199124326078,
        0.0004409170994549675, -0.00028468324766541404, 0.00034218659421142395,
        -0.00011896021824589136);
  } else {
    near =
        x * D(0.5) *
        polynomial_by_halves(t, 0.08937541974644722, -0.12224867629959474, 0.13611520115830544,
                             -0.1369651967113295, 0.12753475069410583, -0.11056037065151501,
                             0.08935002564659994, -0.06734031517205893, 0.04736537111909573,
                             -0.03115285739373769, 0.019195995572692345, -0.011044877451639774,
                             0.0059414086338883025, -0.003108787539471477, 0.0015946427352970258,
                             -0.0006655692043828628, 0.0002037550431304631, -0.0001187720873302313,
                             9.124123747565469e-05, -2.6765757641067467e-05);
  }
  const auto is_near = x <= D(8.);
  if (all(is_near)) return near;
  const D inverse = D(1.) / x;
  D far;
  if constexpr (order == 0) {
    far = polynomial(inverse, 0.39894228036882323, 0.04986782299324134, 0.028043818156400436,
                     0.0296767590553842, 0.029998617338612702, 0.3388730061610408,
                     -1.9142582372213302, 8.54363121945601);
  } else {
    far = polynomial(inverse, 0.39894228046670255, -0.14960340766402141, -0.046742425223666034,
                     -0.04146199802999809, -0.0401043438253792, -0.3987371719642522,
                     2.181339253135351, -9.685934449064707);
  }
  return blendv(far * inverse.sqrt(), near, is_near);
}

// See Note [Bessel curves] in c10/util/bessel.h.
template <int order, bool kScaled>
OPLOOM_NOINLINE Vec<double> bessel_of_any(Vec<double> argument) {
  using D = Vec<double>;
  const D zero(0.), x = argument.abs();
  const auto is_near = x < D(8.);
  const auto near = c10::special::bessel_near<order>(at_most(x, D(8.)));
  D y = near.first + near.rest;
  if constexpr (kScaled) y = exp_times(near.first, near.rest, at_most(x, D(8.)).neg(), zero);
  if (!all(is_near)) {
    constexpr double kMost =
        kScaled ? std::numeric_limits<double>::max() : c10::special::kBesselInfinite;
    const D finite = at_least(at_most(x, D(kMost)), D(8.));
    const auto far = c10::special::scaled_bessel_far<order>(finite);
    const D value = kScaled ? blendv(far.first + far.rest, zero, x > D(kMost))
                            : exp_times(far.first, far.rest, finite, zero);
    y = blendv(value, y, is_near);
  }
  return order == 0 ? y : y | (argument & D(-0.));
}
OPLOOM_ALWAYS_INLINE Vec<double> i0(const Vec<double>& x) { return bessel_of_any<0, false>(x); }
OPLOOM_ALWAYS_INLINE Vec<double> i0e(const Vec<double>& x) { return bessel_of_any<0, true>(x); }
OPLOOM_ALWAYS_INLINE Vec<double> i1(const Vec<double>& x) { return bessel_of_any<1, false>(x); }
OPLOOM_ALWAYS_INLINE Vec<double> i1e(const Vec<double>& x) { return bessel_of_any<1, true>(x); }

OPLOOM_NOINLINE inline Vec<float> erfcx(const Vec<float>& x) {
  return in_double(x, [](Vec<double> v) { return erfcx(v); });
}

template <int order>
OPLOOM_NOINLINE Vec<float> scaled_bessel_of_any(Vec<float> x) {
  return in_double(x.abs(), [](Vec<double> v) { return scaled_bessel<order>(v); });
}
// Far beyond the largest float at 128.
template <int order>
OPLOOM_NOINLINE Vec<float> bessel_of_any(Vec<float> x) {
  return in_double(at_most(x.abs(), Vec<float>(128.f)),
                   [](Vec<double> v) { return scaled_bessel<order>(v) * v.exp(); });
}

OPLOOM_ALWAYS_INLINE Vec<float> i0(const Vec<float>& x) { return bessel_of_any<0>(x); }
OPLOOM_ALWAYS_INLINE Vec<float> i0e(const Vec<float>& x) { return scaled_bessel_of_any<0>(x); }
OPLOOM_ALWAYS_INLINE Vec<float> i1(const Vec<float>& x) {
  return bessel_of_any<1>(x) | (x & Vec<float>(-0.f));
}
OPLOOM_ALWAYS_INLINE Vec<float> i1e(const Vec<float>& x) {
  return scaled_bessel_of_any<1>(x) | (x & Vec<float>(-0.f));
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
