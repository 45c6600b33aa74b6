// The modified Bessel functions of the first kind of orders 0 and 1, in double precision: for
// double and for vectors of double, by curves.h.
#pragma once

#include <c10/util/curves.h>

namespace c10::special {

// Note [Bessel curves]
// With h = x / 2 and z = h^2, I(x) = h^order (1 + c z + z^2 P(z)) from 0 to 8 (DLMF 10.25.2), where
// c = 1 / (1 + order). Above, I(x) = exp(x) / sqrt(x) P(1 / x) (DLMF 10.40.1) with a P of 1 / x - m
// up to 18 and another one beyond, where what is as small as exp(-x) is beyond the last digit. The
// polynomials are Chebyshev interpolations, computed with 60 digits by tools/minimax. The largest
// terms are kept in two numbers, and so is z, since I(8) changes 7 times as fast as x.
struct BesselCurves {
  double near[14];
  double slope[6];  // of I(x) / h^order by z, to three digits
  double middle[16], middle_rest;
  double far[13], far_rest;
};
inline constexpr double kBesselMiddle = 0.09027777777777778;  // m
inline constexpr double kBesselInfinite = 714.5;              // from here on, I(x) is

template <int order>
OPLOOM_HOST_DEVICE constexpr BesselCurves bessel_curves() {
  if constexpr (order == 0) {
    return {
        {0.25, 0.02777777777777782, 0.0017361111111109317, 6.944444444473132e-05,
         1.92901234543997e-06, 3.9367599010611913e-08, 6.151186942114814e-10, 7.594066841555497e-12,
         7.593930437506739e-14, 6.277449218869064e-16, 4.348174143416028e-18,
         2.6309571029545973e-20, 1.1448676502582053e-22, 9.040799997128938e-25},
        {0.9947, 0.5236, 0.06641, 0.0113, -0.0001425, 3.495e-05},
        {0.4036980371535572, 0.05582123621478575, 0.039209986116076914, 0.059791656344178386,
         0.16897676525030203, 0.8049690016030737, 4.066858170347531, -5.791020712513865,
         -441.6728972480257, -2791.5114104731456, 30337.269458792736, 347620.20731722587,
         -2742587.26770524, -31489290.80297546, 222712703.87784505, 1783942689.19578},
        -2.47412e-17,
        {0.3989422804014327, 0.04986778505017689, 0.028050629092924637, 0.029219404444617028,
         0.04474238709146539, 0.09058247959962903, 0.229940513070633, 0.6123015048407581,
         4.9960761410572845, -47.664795294386934, 869.1123438260988, -6794.2127317678305,
         29034.604590570692},
        -2.45613e-17};
  } else {
    return {
        {0.08333333333333333, 0.006944444444444447, 0.0003472222222222119, 1.1574074074090597e-05,
         2.7557319222609004e-07, 4.9209498682931385e-09, 6.834652363672306e-11,
         7.594063277087635e-13, 6.9036156892867766e-15, 5.230856784383443e-17, 3.34671111469909e-19,
         1.8721534621817452e-21, 7.782628864779043e-24, 5.509635991655539e-26},
        {0.4994, 0.1694, 0.0189, 0.001889, 1.281e-06, 4.393e-06},
        {0.3850206089274755, -0.15926545408231468, -0.06191284490326254, -0.07882807949138035,
         -0.20276303811466065, -0.9173439525781995, -4.619377199467283, 4.164237942932638,
         464.32876846090136, 3126.0825876775903, -30389.020253001316, -377788.0558540509,
         2707980.347539151, 34227859.40592214, -221750433.5555334, -1971809040.0237958},
        1.39036e-17,
        {0.3989422804014327, -0.14960335515053494, -0.046751048486864566, -0.040907166517782416,
         -0.057525886581928254, -0.11071532536434281, -0.27155388409431513, -0.7139915774459435,
         -5.465403079008597, 49.80652369593549, -921.4707659580187, 7185.4058124626345,
         -30822.435644531794},
        -2.53054e-17};
  }
}

// I(x) for x from 0 to 8.
template <int order, typename F>
OPLOOM_HOST_DEVICE TwoNumbers<F> bessel_near(F x) {
  constexpr BesselCurves curves = bessel_curves<order>();
  const F one(1.), c(1. / (1 + order));
  const F h = x * F(0.5);
  const F z = h * h, z_rest = fmadd(h, h, F(0.) - z);
  const F curve = polynomial_of(z, curves.near);
  const F slope = fmadd(z, curve, c), slope_rest = fmadd(z, curve, c - slope);
  const F sum = fmadd(z, slope, one);
  const F lost = fmadd(z, slope, one - sum) + z * slope_rest;
  const F rest = fmadd(z_rest, polynomial_of(z, curves.slope), lost);
  if constexpr (order == 0) {
    return {sum, rest};
  } else {
    const F first = h * sum;
    return {first, fmadd(h, sum, F(0.) - first) + h * rest};
  }
}

// exp(-x) I(x) for finite x from 8 on.
template <int order, typename F>
OPLOOM_HOST_DEVICE TwoNumbers<F> scaled_bessel_far(F x) {
  constexpr BesselCurves curves = bessel_curves<order>();
  const F inverse = F(1.) / x, from_middle = inverse - F(kBesselMiddle);
  const auto middle = sum_of_polynomial(from_middle, curves.middle, curves.middle_rest);
  const auto far = sum_of_polynomial(inverse, curves.far, curves.far_rest);
  const auto up_to_18 = x < F(18.);
  const F first = blendv(far.first, middle.first, up_to_18);
  const F rest = blendv(far.rest, middle.rest, up_to_18);
  const F root = square_root(x), inverse_root = F(1.) / root;
  const F minus_root_rest = fmadd(root, root, F(0.) - x) * F(0.5) * inverse_root;
  const F y = first * inverse_root;
  const F error = fmadd(F(0.) - y, root, first) + fmadd(y, minus_root_rest, rest);
  return {y, error * inverse_root};
}

template <int order>
OPLOOM_HOST_DEVICE double scaled_bessel(double x) {
  const double magnitude = std::abs(x);
  if (magnitude < 8) {
    const auto near = bessel_near<order>(magnitude);
    const double power = std::exp(-magnitude);
    return std::copysign(fmadd(near.first, power, near.rest * power), order == 0 ? 1 : x);
  }
  if (std::isinf(x)) return order == 0 ? 0 : std::copysign(0., x);
  const auto far = scaled_bessel_far<order>(magnitude);
  return std::copysign(far.first + far.rest, order == 0 ? magnitude : x);
}
template <int order>
OPLOOM_HOST_DEVICE double bessel(double x) {
  const double magnitude = std::abs(x);
  double y = 0;
  if (magnitude < 8) {
    const auto near = bessel_near<order>(magnitude);
    y = near.first + near.rest;
  } else {
    const double finite = magnitude > kBesselInfinite ? kBesselInfinite : magnitude;
    const auto far = scaled_bessel_far<order>(finite);
    // exp(x) alone may be too large.
    const double power = std::exp(finite < 709 ? finite : 0.5 * finite);
    y = fmadd(far.first, power, far.rest * power);
    if (finite >= 709) y *= power;
  }
  return std::copysign(y, order == 0 ? magnitude : x);
}

// Orders 0 and 1, and exp(-|x|) times them.
OPLOOM_HOST_DEVICE inline double i0(double x) { return bessel<0>(x); }
OPLOOM_HOST_DEVICE inline double i0e(double x) { return scaled_bessel<0>(x); }
OPLOOM_HOST_DEVICE inline double i1(double x) { return bessel<1>(x); }
OPLOOM_HOST_DEVICE inline double i1e(double x) { return scaled_bessel<1>(x); }

}  // namespace c10::special
