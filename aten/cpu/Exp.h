// exp() without branches or calls, for loops that the compiler turns into vector code.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/Macros.h>

#include <bit>
#include <cstdint>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {

// Note [Branchless exp]
// x = n ln 2 + r with |r| <= ln(2)/2; exp(x) = 2^n exp(r). Adding 1.5 * 2^(bits of the mantissa)
// rounds to an integer, which is then found in the low bits. ln 2 is split into a part with few
// bits, so that n times it is exact, and the rest. 2^n is applied as two factors, because one would
// not reach subnormal results. exp(r) is the approximation of the Cephes library. The error is
// below 1.5 units in the last place. NaN gives NaN, minus infinity 0, infinity infinity.

OPLOOM_ALWAYS_INLINE float branchless_exp(float x) {
  x = x < -105.0f ? -105.0f : x;
  x = x > 90.0f ? 90.0f : x;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23
  const float rounded = x * 1.44269504088896341f + kRound;
  const float n = rounded - kRound;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float y = 1.9875691500e-4f;
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * (r * r) + r + 1.0f;
  // Unsigned: for NaN these are any bits, and may wrap around.
  const uint32_t power = std::bit_cast<uint32_t>(rounded) - std::bit_cast<uint32_t>(kRound);
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(power) >> 1);
  const float a = std::bit_cast<float>((half + 127) << 23);
  const float b = std::bit_cast<float>((power - half + 127) << 23);
  return y * a * b;
}

OPLOOM_ALWAYS_INLINE double branchless_exp(double x) {
  x = x < -750.0 ? -750.0 : x;
  x = x > 720.0 ? 720.0 : x;
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  const double rounded = x * 1.4426950408889634073599 + kRound;
  const double n = rounded - kRound;
  const double r = (x - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6;
  const double rr = r * r;
  const double p = r * ((1.26177193074810590878e-4 * rr + 3.02994407707441961300e-2) * rr +
                        9.99999999999999999910e-1);
  const double q = ((3.00198505138664455042e-6 * rr + 2.52448340349684104192e-3) * rr +
                    2.27265548208155028766e-1) *
                       rr +
                   2.00000000000000000009e0;
  const double y = 1.0 + 2.0 * (p / (q - p));
  const uint64_t power = std::bit_cast<uint64_t>(rounded) - std::bit_cast<uint64_t>(kRound);
  // Shifts of 64-bit integers keep the sign only with AVX-512; division by two of a shifted value
  // does on every machine.
  const uint64_t half = ((power + 2048) >> 1) - 1024;
  const double a = std::bit_cast<double>((half + 1023) << 52);
  const double b = std::bit_cast<double>((power - half + 1023) << 52);
  return y * a * b;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::inline oploom_v1::native
