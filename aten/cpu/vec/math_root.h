// Square roots, and one over them.
#pragma once

#include <aten/cpu/vec/math_base.h>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Note [Roots by multiplication]
// The unit that computes roots is slow: for a Vec a Cascade Lake takes 12 cycles, of double 18
// to 25. AVX512 has an instruction that gives y = 1 / sqrt(x) within 2^-14 in two, AVX2 one that
// does so for float within 2^-11. From g = x y, nearly sqrt(x), and h = y / 2, Goldschmidt's
// iteration makes better ones, squaring the error: both are multiplied by 1 + (1/2 - g h). With
// both within a unit in the last place, g + (x - g^2) h is the root, correctly rounded (P.
// Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990),
// since fused operations round neither x - g^2 nor the product. That fails where x - g^2 would be
// no normal number, and for 0 and infinity, which are not usual.
#if defined(CPU_CAPABILITY_AVX512)
inline constexpr int kEstimatedBits = 14;
OPLOOM_ALWAYS_INLINE Vec<float> nearly_rsqrt(Vec<float> x) { return _mm512_rsqrt14_ps(x); }
OPLOOM_ALWAYS_INLINE Vec<double> nearly_rsqrt(Vec<double> x) { return _mm512_rsqrt14_pd(x); }
#else
inline constexpr int kEstimatedBits = 11;
OPLOOM_ALWAYS_INLINE Vec<float> nearly_rsqrt(Vec<float> x) { return _mm256_rsqrt_ps(x); }
// Of numbers that float has, too.
OPLOOM_ALWAYS_INLINE Vec<double> nearly_rsqrt(Vec<double> x) {
  return _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(x)));
}
#endif

template <typename T>
struct RootAndInverse {
  Vec<T> root;          // within a unit in the last place
  Vec<T> half_inverse;  // 1 / (2 root), as well
};

template <typename T>
OPLOOM_ALWAYS_INLINE RootAndInverse<T> refined_root(Vec<T> x, Vec<T> nearly_inverse) {
  using V = Vec<T>;
  const V half(T(0.5));
  V g = x * nearly_inverse, h = nearly_inverse * half;
  for (int bits = kEstimatedBits; bits < std::numeric_limits<T>::digits; bits *= 2) {
    const V rest = fmadd(g.neg(), h, half);
    g = fmadd(g, rest, g);
    h = fmadd(h, rest, h);
  }
  return {g, h};
}

// For finite x from 2^-100, or 2^-960, on, and 0, of which the root is 0 and the inverse any
// number; nan below 0.
template <typename T>
OPLOOM_ALWAYS_INLINE RootAndInverse<T> root_and_inverse(Vec<T> x) {
  const Vec<T> farthest(either<T>(0x1p60f, 0x1p500));
#if defined(CPU_CAPABILITY_AVX512)
  return refined_root(x, at_most(nearly_rsqrt(x), farthest));
#else
  // Functions multiply meanwhile; two or three steps of the iteration would take longer.
  const Vec<T> root = x.sqrt();
  return {root, at_most(Vec<T>(T(0.5)) / root, farthest)};
#endif
}

// What the root of x lacks beside that of x + x_rest.
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<T> rest_of_root(const RootAndInverse<T>& of_x, Vec<T> x, Vec<T> x_rest) {
  return (fmadd(of_x.root.neg(), of_x.root, x) + x_rest) * of_x.half_inverse;
}
// The root of x + x_rest, of x as above, in two numbers.
template <typename T>
OPLOOM_ALWAYS_INLINE std::array<Vec<T>, 2> root_in_two(Vec<T> x, Vec<T> x_rest) {
  const RootAndInverse<T> of_x = root_and_inverse(x);
  return {of_x.root, rest_of_root(of_x, x, x_rest)};
}

template <typename T>
OPLOOM_ALWAYS_INLINE typename Vec<T>::Mask has_refined_root(Vec<T> x) {
#if defined(CPU_CAPABILITY_AVX512)
  constexpr T kLeast = either<T>(0x1p-100f, 0x1p-960), kMost = std::numeric_limits<T>::max();
#else
  constexpr T kLeast(0x1p-100), kMost = either<T>(std::numeric_limits<float>::max(), 0x1p120);
#endif
  return (x >= Vec<T>(kLeast)) & (x <= Vec<T>(kMost));
}

template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> sqrt(U& usual, const Vec<T>& x) {
  // Both forms give the same. The instruction keeps a unit of its own busy, of which a loop makes
  // use for every other Vec: a Zen 4 takes as long for it as for the multiplications.
  if constexpr (std::is_base_of_v<Any, U>) {
    return x.sqrt();
  } else if (usual.by_turns()) {
    return x.sqrt();
  } else {
    usual.are(has_refined_root(x));
    const auto [root, half_inverse] = refined_root(x, nearly_rsqrt(x));
    return fmadd(fmadd(root.neg(), root, x), half_inverse, root);
  }
}

// The series of (1 - e)^(-1/2), where e = 1 - x y^2 is below 2^-10: rounding y's product with x
// adds up to half a unit in the last place.
template <typename U, typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> rsqrt(U& usual, const Vec<T>& x) {
  using V = Vec<T>;
  const V y = nearly_rsqrt(x), e = fmadd((x * y).neg(), y, V(T(1)));
  V series;
  if constexpr (std::is_same_v<T, float>) {
    series =
        kEstimatedBits < 12 ? polynomial(e, 0.5f, 0.375f, 0.3125f) : polynomial(e, 0.5f, 0.375f);
  } else {
    series = kEstimatedBits < 12 ? polynomial(e, 0.5, 0.375, 0.3125, 0.2734375, 0.24609375)
                                 : polynomial(e, 0.5, 0.375, 0.3125, 0.2734375);
  }
  const V inverse = fmadd(y * e, series, y);
  const auto known = has_refined_root(x);
  if (usual.are(known)) [[likely]]
    return inverse;
  return blendv(V(T(1)) / x.sqrt(), inverse, known);
}
template <typename T>
requires std::is_floating_point_v<T> OPLOOM_ALWAYS_INLINE Vec<T> rsqrt(const Vec<T>& x) {
  return rsqrt(kAny, x);
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
