// The functions of complex numbers.
#pragma once

#include <aten/cpu/vec/math_exp.h>
#include <aten/cpu/vec/math_log.h>
#include <aten/cpu/vec/math_trigonometry.h>
#include <aten/cpu/vec/vec_complex.h>
#include <c10/util/complex_math.h>

#include <limits>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Note [Complex functions]
// Each is computed from the real functions of double and is no part of a loop: it takes as long as
// dozens of calls. Numbers of float become double for it, in which nothing overflows that does not
// in the result, and what cancels leaves digits enough. Formulas have sums and products of numbers
// of one sign, so that both parts are accurate, not only their norm. Of differences, those in
// log|z| near 1 are taken of numbers whose roundings are kept beside them; those in the real parts
// of expm1 and sigmoid are not, and are accurate beside the larger part alone.
//
// Numbers that are not usual (not finite, or such that a step would overflow or vanish) are left to
// the C++ library, one by one.
//
// The circular functions are the hyperbolic ones with real and imaginary parts changed over, before
// and after: sin(z) = i sinh(z / i), and i conj(z) is z with its parts changed over. So are atan
// and asinh beside atanh and asin.
using Complex = Vec<c10::complex<double>>;

// What f makes of the numbers that are not usual, `y` elsewhere.
template <typename F, typename... Z>
OPLOOM_NOINLINE Complex others_by(const Complex& y, Vec<double>::Mask usual, F f, const Z&... z) {
  struct Numbers {
    explicit Numbers(const Complex& z) { z.storeu(values); }
    c10::complex<double> values[Complex::size()];
  };
  Numbers results(y);
  const Numbers numbers[] = {Numbers(z)...};
  bool are_usual[Complex::size()];
  store_truths(usual, are_usual);
  for (int i = 0; i < Complex::size(); ++i) {
    if (are_usual[i]) continue;
    if constexpr (sizeof...(Z) == 1) {
      results.values[i] = f(numbers[0].values[i]);
    } else {
      results.values[i] = f(numbers[0].values[i], numbers[1].values[i]);
    }
  }
  return Complex::loadu(results.values);
}
template <typename F, typename... Z>
OPLOOM_ALWAYS_INLINE Complex with_others(const Complex& y, Vec<double>::Mask usual, F f,
                                         const Z&... z) {
  if (all(usual)) [[likely]]
    return y;
  return others_by(y, usual, f, z...);
}
#define OPLOOM_LIBRARY(name) \
  [](const auto&... number) { return c10::complex_math::name(number...); }

OPLOOM_ALWAYS_INLINE Vec<double>::Mask is_below(Vec<double> x, double bound) {
  return x.abs() <= Vec<double>(bound);
}
OPLOOM_ALWAYS_INLINE Vec<double>::Mask is_finite(Vec<double> x) {
  return is_below(x, std::numeric_limits<double>::max());
}
OPLOOM_ALWAYS_INLINE Complex changed_over(const Complex& z) { return {z.imag(), z.real()}; }

// ---- Exponentials ----

OPLOOM_NOINLINE inline Complex complex_exp(const Complex& z) {
  const auto turn = sine_and_cosine(z.imag());
  const auto power = z.real().exp();
  const Complex y(power * turn.cosine, power * turn.sine);
  return with_others(y, is_below(z.real(), 708) & is_finite(z.imag()), OPLOOM_LIBRARY(exp), z);
}

// The angle y ln(2) is kept in two numbers, of which the second is small enough to be its own sine.
OPLOOM_NOINLINE inline Complex complex_exp2(const Complex& z) {
  using D = Vec<double>;
  const D y = z.imag(), angle = y * D(kLn2<double>);
  // -0 for 0 of either sign, which the sine of 0 then keeps.
  const D lost = fmadd(y.neg(), D(kLn2<double>), angle).neg(),
          rest = lost + y * D(kLn2Rest<double>);
  const auto turn = sine_and_cosine(angle);
  const D power = exp2(z.real());
  const Complex w(power * fmadd(rest.neg(), turn.sine, turn.cosine),
                  power * fmadd(rest, turn.cosine, turn.sine));
  return with_others(w, is_below(z.real(), 1021) & is_below(y, 0x1p26), OPLOOM_LIBRARY(exp2), z);
}

// The real part is expm1(x) cos(y) - (1 - cos(y)).
OPLOOM_NOINLINE inline Complex complex_expm1(const Complex& z) {
  using D = Vec<double>;
  const auto turn = sine_and_cosine(z.imag());
  const D half_sine = (z.imag() * D(0.5)).sin(), growth = z.real().expm1();
  const Complex y(fmadd(growth, turn.cosine, half_sine * half_sine * D(-2.)),
                  z.real().exp() * turn.sine);
  return with_others(y, is_below(z.real(), 708) & is_finite(z.imag()), OPLOOM_LIBRARY(expm1), z);
}

// 1 / (1 + exp(-z)). With w = exp(-z), or exp(z) where Re z < 0, it is 1 / (1 + w) or w / (1 + w):
// (1 + conj(w)) or (w + |w|^2) over |1 + w|^2. Nothing overflows.
OPLOOM_NOINLINE inline Complex complex_sigmoid(const Complex& z) {
  using D = Vec<double>;
  const D one(1.);
  const auto turn = sine_and_cosine(z.imag());
  const D power = (z.real() | D(-0.)).exp();
  const D cosine = power * turn.cosine, sine = power * turn.sine;
  const D sum = one + cosine;
  const D scale = one / fmadd(sum, sum, sine * sine);
  const D real = blendv(sum, fmadd(power, power, cosine), z.real() < D(0.));
  return {real * scale, sine * scale};
}

// ---- Logarithms ----

// a + b in two numbers.
OPLOOM_ALWAYS_INLINE Vec<double> sum_of(Vec<double> a, Vec<double> b, Vec<double>& rest) {
  const Vec<double> sum = a + b, other = sum - a;
  rest = (a - (sum - other)) + (b - other);
  return sum;
}

// log(x + rest + last) for a normal number x > 0 and what it has lost.
OPLOOM_ALWAYS_INLINE Vec<double> log_of_sum(Vec<double> x, Vec<double> rest, Vec<double> last) {
  using D = Vec<double>;
  const D one(1.);
  D k, f_rest;
  const D fraction = split_power(x, k) - one;
  const auto exponent = bits_of_power(x) & bits_of(D(-std::numeric_limits<double>::infinity()));
  const D inverse =
      from_bits<D>(bits_of(one) + bits_of(D(kAddedToPower<double>)) - exponent);  // 2^-k
  const D f = sum_of(fraction, rest * inverse, f_rest);
  f_rest = fmadd(last, inverse, f_rest);
  // log'(1 + f) is about 1 - f.
  return log_of_parts<NaturalLog>(k, f,
                                  small_of_log<NaturalLog>(f, fmadd(f.neg(), f_rest, f_rest)));
}

// The logarithm of z, of which the real part has lost `rest`. The square of |z| is kept in three
// numbers, since near 1 two of them may cancel.
OPLOOM_ALWAYS_INLINE Complex log_of_usual(const Complex& z, Vec<double> rest) {
  using D = Vec<double>;
  const D x = z.real(), y = z.imag(), a = x * x, b = y * y;
  D sum_rest, lost_rest, last;
  const D square = sum_of(a, b, sum_rest);
  const D lost = sum_of(fmadd(x, x, a.neg()), fmadd(y, y, b.neg()), lost_rest);
  const D square_rest = sum_of(sum_rest, fmadd(x + x, rest, lost), last);
  return {log_of_sum(square, square_rest, last + lost_rest) * D(0.5), atan2(y, x)};
}
// Where squares are normal numbers, and so are what they have lost.
OPLOOM_ALWAYS_INLINE Vec<double>::Mask has_square(const Complex& z) {
  const Vec<double> larger = maximum(z.real().abs(), z.imag().abs());
  return (larger >= Vec<double>(0x1p-450)) & is_below(larger, 0x1p450);
}

OPLOOM_NOINLINE inline Complex complex_log(const Complex& z) {
  return with_others(log_of_usual(z, Vec<double>(0.)), has_square(z), OPLOOM_LIBRARY(log), z);
}
OPLOOM_ALWAYS_INLINE Complex times(const Complex& z, double factor) {
  return {z.real() * Vec<double>(factor), z.imag() * Vec<double>(factor)};
}
OPLOOM_NOINLINE inline Complex complex_log2(const Complex& z) {
  return times(complex_log(z), 1.4426950408889634);
}
OPLOOM_NOINLINE inline Complex complex_log10(const Complex& z) {
  return times(complex_log(z), 0.4342944819032518);
}
OPLOOM_NOINLINE inline Complex complex_log1p(const Complex& z) {
  Vec<double> rest;
  const Complex sum(sum_of(Vec<double>(1.), z.real(), rest), z.imag());
  return with_others(log_of_usual(sum, rest), has_square(sum), OPLOOM_LIBRARY(log1p), z);
}

// ---- Square roots ----

// The larger part of the root of x + i y, which is the real one for x >= 0, and the smaller one.
struct RootParts {
  Vec<double> larger, smaller;  // not negative
  Vec<double> size;             // |x + i y|
};
OPLOOM_ALWAYS_INLINE RootParts root_parts(Vec<double> x, Vec<double> y) {
  using D = Vec<double>;
  const D size = fmadd(x, x, y * y).sqrt();
  const D larger = ((x.abs() + size) * D(0.5)).sqrt();
  return {larger, y.abs() / at_least(larger + larger, D(std::numeric_limits<double>::min())), size};
}
OPLOOM_ALWAYS_INLINE Vec<double>::Mask has_root(const Complex& z) {
  const Vec<double> zero(0.);
  return has_square(z) | ((z.real() == zero) & (z.imag() == zero));
}
// The root of x + i y or x - i y, whichever is above the real axis.
OPLOOM_ALWAYS_INLINE Complex root_of(Vec<double> x, const RootParts& parts) {
  const auto negative = x < Vec<double>(0.);
  return {blendv(parts.larger, parts.smaller, negative),
          blendv(parts.smaller, parts.larger, negative)};
}
OPLOOM_ALWAYS_INLINE Complex root_of(Vec<double> x, Vec<double> y) {
  return root_of(x, root_parts(x, y));
}

OPLOOM_NOINLINE inline Complex complex_sqrt(const Complex& z) {
  const Complex root = root_of(z.real(), z.imag());
  const Complex y(root.real(), root.imag() | (z.imag() & Vec<double>(-0.)));
  return with_others(y, has_root(z), OPLOOM_LIBRARY(sqrt), z);
}

// The root's conjugate over |z|.
OPLOOM_NOINLINE inline Complex complex_rsqrt(const Complex& z) {
  const auto parts = root_parts(z.real(), z.imag());
  const Complex root = root_of(z.real(), parts);
  const auto sign = z.imag().neg() & Vec<double>(-0.);
  const Complex y(root.real() / parts.size, (root.imag() / parts.size) | sign);
  return with_others(
      y, has_square(z), [](const auto& number) { return 1. / c10::complex_math::sqrt(number); }, z);
}

// ---- Hyperbolic functions, and the circular ones by them ----

struct HyperbolicPair {
  Vec<double> sinh, cosh;
};
OPLOOM_ALWAYS_INLINE HyperbolicPair hyperbolic_pair(Vec<double> x) {
  const auto parts = hyperbolic_parts(x.abs());
  return {sinh_of_parts(parts, x), cosh_of_parts(parts)};
}

OPLOOM_ALWAYS_INLINE Complex sinh_of_usual(const Complex& z) {
  const auto turn = sine_and_cosine(z.imag());
  const auto pair = hyperbolic_pair(z.real());
  return {pair.sinh * turn.cosine, pair.cosh * turn.sine};
}
OPLOOM_ALWAYS_INLINE Complex cosh_of_usual(const Complex& z) {
  const auto turn = sine_and_cosine(z.imag());
  const auto pair = hyperbolic_pair(z.real());
  return {pair.cosh * turn.cosine, pair.sinh * turn.sine};
}
// DLMF 4.35.36 with cosh(2x) + cos(2y) = 2 (sinh(x)^2 + cos(y)^2)
OPLOOM_ALWAYS_INLINE Complex tanh_of_usual(const Complex& z) {
  using D = Vec<double>;
  const auto turn = sine_and_cosine(z.imag());
  const auto pair = hyperbolic_pair(z.real());
  const D scale = D(1.) / fmadd(pair.sinh, pair.sinh, turn.cosine * turn.cosine);
  return {pair.sinh * pair.cosh * scale, turn.sine * turn.cosine * scale};
}
OPLOOM_ALWAYS_INLINE Vec<double>::Mask is_usual(Vec<double> hyperbolic, Vec<double> angle,
                                                double bound = 709) {
  return is_below(hyperbolic, bound) & is_finite(angle);
}
// Squares do not overflow.
inline constexpr double kTanhBound = 300;

OPLOOM_NOINLINE inline Complex complex_sinh(const Complex& z) {
  return with_others(sinh_of_usual(z), is_usual(z.real(), z.imag()), OPLOOM_LIBRARY(sinh), z);
}
OPLOOM_NOINLINE inline Complex complex_cosh(const Complex& z) {
  return with_others(cosh_of_usual(z), is_usual(z.real(), z.imag()), OPLOOM_LIBRARY(cosh), z);
}
OPLOOM_NOINLINE inline Complex complex_tanh(const Complex& z) {
  return with_others(tanh_of_usual(z), is_usual(z.real(), z.imag(), kTanhBound),
                     OPLOOM_LIBRARY(tanh), z);
}
OPLOOM_NOINLINE inline Complex complex_sin(const Complex& z) {
  return with_others(changed_over(sinh_of_usual(changed_over(z))), is_usual(z.imag(), z.real()),
                     OPLOOM_LIBRARY(sin), z);
}
OPLOOM_NOINLINE inline Complex complex_cos(const Complex& z) {
  return with_others(cosh_of_usual(changed_over(z)).conj(), is_usual(z.imag(), z.real()),
                     OPLOOM_LIBRARY(cos), z);
}
OPLOOM_NOINLINE inline Complex complex_tan(const Complex& z) {
  return with_others(changed_over(tanh_of_usual(changed_over(z))),
                     is_usual(z.imag(), z.real(), kTanhBound), OPLOOM_LIBRARY(tan), z);
}

// ---- Their inverses ----

// Of the roots of 1 - z and 1 + z (W. Kahan, "Branch Cuts for Complex Elementary Functions", 1987)
// all parts that are multiplied here are positive or 0, but for signs that the results take on.
struct Arcs {
  Vec<double> sine_angle, cosine_angle;  // the real parts of asin and acos
  Vec<double> size;                      // the imaginary part of both, but for its sign
};
OPLOOM_ALWAYS_INLINE Arcs arcs_of_usual(const Complex& z) {
  using D = Vec<double>;
  const D one(1.), x = z.real();
  const Complex minus = root_of(one - x, z.imag()), plus = root_of(one + x, z.imag());
  const D angle = atan2(minus.real(), plus.real());
  return {atan2(x, fmadd(minus.real(), plus.real(), minus.imag() * plus.imag())), angle + angle,
          asinh(fmadd(minus.real(), plus.imag(), minus.imag() * plus.real()))};
}
OPLOOM_ALWAYS_INLINE Vec<double>::Mask has_arcs(const Complex& z) {
  using D = Vec<double>;
  const D one(1.);
  return has_root({one - z.real(), z.imag()}) & has_root({one + z.real(), z.imag()}) &
         is_below(z.imag(), 0x1p400);
}
OPLOOM_ALWAYS_INLINE Complex asin_of_usual(const Complex& z) {
  const auto arcs = arcs_of_usual(z);
  return {arcs.sine_angle, arcs.size | (z.imag() & Vec<double>(-0.))};
}

OPLOOM_NOINLINE inline Complex complex_asin(const Complex& z) {
  return with_others(asin_of_usual(z), has_arcs(z), OPLOOM_LIBRARY(asin), z);
}
OPLOOM_NOINLINE inline Complex complex_asinh(const Complex& z) {
  const Complex turned = changed_over(z);
  return with_others(changed_over(asin_of_usual(turned)), has_arcs(turned), OPLOOM_LIBRARY(asinh),
                     z);
}
OPLOOM_NOINLINE inline Complex complex_acos(const Complex& z) {
  const auto arcs = arcs_of_usual(z);
  const Complex y(arcs.cosine_angle, arcs.size | (z.imag().neg() & Vec<double>(-0.)));
  return with_others(y, has_arcs(z), OPLOOM_LIBRARY(acos), z);
}
OPLOOM_NOINLINE inline Complex complex_acosh(const Complex& z) {
  const auto arcs = arcs_of_usual(z);
  const Complex y(arcs.size, arcs.cosine_angle | (z.imag() & Vec<double>(-0.)));
  return with_others(y, has_arcs(z), OPLOOM_LIBRARY(acosh), z);
}

// DLMF 4.37.24 in real terms: log1p(4 |x| / d) / 4 with d = (1 - |x|)^2 + y^2, and half the angle
// of (1 - |x|) (1 + |x|) - y^2 + 2 i y.
OPLOOM_ALWAYS_INLINE Complex atanh_of_usual(const Complex& z) {
  using D = Vec<double>;
  const D one(1.), x = z.real().abs(), y = z.imag(), square = y * y;
  const D below = one - x, distance = fmadd(below, below, square);
  const D size = (D(4.) * x / distance).log1p() * D(0.25);
  const D angle = atan2(y + y, fmadd(below, one + x, square.neg())) * D(0.5);
  return {size | (z.real() & D(-0.)), angle};
}
OPLOOM_ALWAYS_INLINE Vec<double>::Mask has_atanh(const Complex& z) {
  using D = Vec<double>;
  return has_square({D(1.) - z.real().abs(), z.imag()});
}
OPLOOM_NOINLINE inline Complex complex_atanh(const Complex& z) {
  return with_others(atanh_of_usual(z), has_atanh(z), OPLOOM_LIBRARY(atanh), z);
}
OPLOOM_NOINLINE inline Complex complex_atan(const Complex& z) {
  const Complex turned = changed_over(z);
  return with_others(changed_over(atanh_of_usual(turned)), has_atanh(turned), OPLOOM_LIBRARY(atan),
                     z);
}

// ---- Powers ----

// exp(e log(z))
OPLOOM_NOINLINE inline Complex complex_pow(const Complex& z, const Complex& e) {
  const Complex log = complex_log(z), exponent = e * log;
  const auto usual = has_square(z) & is_below(exponent.real(), 708) & is_finite(exponent.imag());
  return with_others(complex_exp(exponent), usual, OPLOOM_LIBRARY(pow), z, e);
}
#undef OPLOOM_LIBRARY

// ---- For double and for float ----

template <typename T, typename F, typename... More>
OPLOOM_ALWAYS_INLINE Vec<c10::complex<T>> in_double(const F& f, const Vec<c10::complex<T>>& z,
                                                    const More&... more) {
  if constexpr (std::is_same_v<T, double>) {
    return f(z, more...);
  } else {
    const auto half = [](const auto& numbers, size_t i) OPLOOM_ALWAYS_INLINE_LAMBDA {
      return Complex(widen(numbers.real())[i], widen(numbers.imag())[i]);
    };
    const Complex first = f(half(z, 0), half(more, 0)...);
    const Complex second = f(half(z, 1), half(more, 1)...);
    return {narrow(first.real(), second.real()), narrow(first.imag(), second.imag())};
  }
}

#define OPLOOM_METHOD(name)                                 \
  template <typename T>                                     \
  Vec<c10::complex<T>> Vec<c10::complex<T>>::name() const { \
    return in_double(complex_##name, *this);                \
  }
OPLOOM_METHOD(cos)
OPLOOM_METHOD(exp)
OPLOOM_METHOD(expm1)
OPLOOM_METHOD(log)
OPLOOM_METHOD(log10)
OPLOOM_METHOD(log1p)
OPLOOM_METHOD(log2)
OPLOOM_METHOD(rsqrt)
OPLOOM_METHOD(sin)
OPLOOM_METHOD(sqrt)
OPLOOM_METHOD(tan)
OPLOOM_METHOD(tanh)
#undef OPLOOM_METHOD

#define OPLOOM_FUNCTION(name)                                \
  template <typename T>                                      \
  Vec<c10::complex<T>> name(const Vec<c10::complex<T>>& z) { \
    return in_double(complex_##name, z);                     \
  }
OPLOOM_FUNCTION(acos)
OPLOOM_FUNCTION(acosh)
OPLOOM_FUNCTION(asin)
OPLOOM_FUNCTION(asinh)
OPLOOM_FUNCTION(atan)
OPLOOM_FUNCTION(atanh)
OPLOOM_FUNCTION(cosh)
OPLOOM_FUNCTION(exp2)
OPLOOM_FUNCTION(sigmoid)
OPLOOM_FUNCTION(sinh)
#undef OPLOOM_FUNCTION

template <typename T>
Vec<c10::complex<T>> pow(const Vec<c10::complex<T>>& z, const Vec<c10::complex<T>>& e) {
  return in_double(complex_pow, z, e);
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<c10::complex<T>> sigmoid_product(const Vec<c10::complex<T>>& a,
                                                          const Vec<c10::complex<T>>& z) {
  return a * sigmoid(z);
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<c10::complex<T>> sgn(const Vec<c10::complex<T>>& z) {
  const Vec<T> zero(T(0)), size = hypot(z.real(), z.imag());
  const auto none = size == zero;
  return {blendv(z.real() / size, zero, none), blendv(z.imag() / size, zero, none)};
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<c10::complex<T>> conj(const Vec<c10::complex<T>>& z) {
  return z.conj();
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
