// Random numbers; see Note [Random numbers by element] and c10's Note [Philox counters].
#include <aten/core/OpaqueType.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/ConvertRow.h>
#include <aten/cpu/Loops.h>
#include <aten/stubs/Copy.h>
#include <aten/stubs/Distributions.h>
#include <c10/core/Philox.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

using c10::PhiloxState;

// Elements are made in pieces that begin at whole blocks of the generator.
constexpr int64_t kPiece = 512;

PhiloxState reserve(const std::optional<Generator>& generator, uint64_t draws) {
  return generator.has_value() ? generator->next_philox(draws)
                               : c10::default_generator().next_philox(draws);
}

// kPiece / 4 blocks of four numbers, from number `block` on.
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
// Several blocks together, each in a lane of 64 bits. Every product is of two 32-bit numbers, which
// is one instruction; the compiler would not know. It reads the low halves of lanes only, so that
// the high ones may hold anything: of a product, the low half is the product itself.
#if defined(CPU_CAPABILITY_AVX512)
using Wide = __m512i;
OPLOOM_ALWAYS_INLINE Wide product(Wide a, Wide b) { return _mm512_mul_epu32(a, b); }
OPLOOM_ALWAYS_INLINE Wide high(Wide a) { return _mm512_srli_epi64(a, 32); }
OPLOOM_ALWAYS_INLINE Wide wide(uint32_t a) { return _mm512_set1_epi64(a); }
OPLOOM_ALWAYS_INLINE Wide sum(Wide a, uint64_t b) {
  return _mm512_add_epi64(a, _mm512_set1_epi64(static_cast<int64_t>(b)));
}
OPLOOM_ALWAYS_INLINE Wide differ(Wide a, Wide b, Wide c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}
OPLOOM_ALWAYS_INLINE Wide low_halves(Wide first, Wide second) {
  return _mm512_mask_blend_epi32(0xaaaa, first, _mm512_slli_epi64(second, 32));
}
OPLOOM_ALWAYS_INLINE Wide even_lanes(Wide a, Wide b) { return _mm512_unpacklo_epi64(a, b); }
OPLOOM_ALWAYS_INLINE Wide odd_lanes(Wide a, Wide b) { return _mm512_unpackhi_epi64(a, b); }
OPLOOM_ALWAYS_INLINE Wide halves_in_turn() { return _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7); }
#else
using Wide = __m256i;
OPLOOM_ALWAYS_INLINE Wide product(Wide a, Wide b) { return _mm256_mul_epu32(a, b); }
OPLOOM_ALWAYS_INLINE Wide high(Wide a) { return _mm256_srli_epi64(a, 32); }
OPLOOM_ALWAYS_INLINE Wide wide(uint32_t a) { return _mm256_set1_epi64x(a); }
OPLOOM_ALWAYS_INLINE Wide sum(Wide a, uint64_t b) {
  return _mm256_add_epi64(a, _mm256_set1_epi64x(static_cast<int64_t>(b)));
}
// b and c first, which are there before a; the compiler would change that, but for the types.
OPLOOM_ALWAYS_INLINE Wide differ(Wide a, Wide b, Wide c) {
  return _mm256_castps_si256(
      _mm256_xor_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(_mm256_xor_si256(b, c))));
}
OPLOOM_ALWAYS_INLINE Wide low_halves(Wide first, Wide second) {
  return _mm256_blend_epi32(first, _mm256_slli_epi64(second, 32), 0xaa);
}
OPLOOM_ALWAYS_INLINE Wide even_lanes(Wide a, Wide b) { return _mm256_unpacklo_epi64(a, b); }
OPLOOM_ALWAYS_INLINE Wide odd_lanes(Wide a, Wide b) { return _mm256_unpackhi_epi64(a, b); }
OPLOOM_ALWAYS_INLINE Wide halves_in_turn() { return _mm256_setr_epi64x(0, 2, 1, 3); }
#endif

void draw_blocks(PhiloxState state, uint64_t block, uint32_t* out) {
  constexpr int64_t kLanes = sizeof(Wide) / 8;
  // Groups of lanes that are in work at once: a round is a chain of slow instructions.
  constexpr int64_t kGroups = 4;
  // The constants of c10::philox4x32.
  const Wide multiplier0 = wide(0xD2511F53);
  const Wide multiplier1 = wide(0xCD9E8D57);
  Wide keys[10][2];
  for (uint32_t round = 0; round < 10; ++round) {
    keys[round][0] = wide(static_cast<uint32_t>(state.seed) + round * 0x9E3779B9u);
    keys[round][1] = wide(static_cast<uint32_t>(state.seed >> 32) + round * 0xBB67AE85u);
  }
  for (int64_t i = 0; i < kPiece / 4; i += kGroups * kLanes) {
    Wide c0[kGroups];
    Wide c1[kGroups];
    Wide c2[kGroups];
    Wide c3[kGroups];
    for (int g = 0; g < kGroups; ++g) {
      // The even lanes have the first blocks, the odd ones those after.
      c0[g] = sum(halves_in_turn(), block + static_cast<uint64_t>(i + g * kLanes));
      c1[g] = high(c0[g]);
      c2[g] = wide(static_cast<uint32_t>(state.offset));
      c3[g] = wide(static_cast<uint32_t>(state.offset >> 32));
    }
    for (int round = 0; round < 10; ++round) {
      for (int g = 0; g < kGroups; ++g) {
        const Wide product0 = product(c0[g], multiplier0);
        const Wide product1 = product(c2[g], multiplier1);
        c0[g] = differ(high(product1), c1[g], keys[round][0]);
        c1[g] = product1;
        c2[g] = differ(high(product0), c3[g], keys[round][1]);
        c3[g] = product0;
      }
    }
    for (int g = 0; g < kGroups; ++g) {
      const Wide first = low_halves(c0[g], c1[g]);
      const Wide second = low_halves(c2[g], c3[g]);
      const Wide blocks[] = {even_lanes(first, second), odd_lanes(first, second)};
      std::memcpy(out + 4 * (i + g * kLanes), blocks, sizeof blocks);
    }
  }
}
#else
void draw_blocks(PhiloxState state, uint64_t block, uint32_t* out) {
  for (int64_t i = 0; i < kPiece / 4; ++i) {
    const c10::PhiloxBlock lanes = c10::philox_block(state, block + static_cast<uint64_t>(i));
    for (int k = 0; k < 4; ++k) out[4 * i + k] = lanes[k];
  }
}
#endif

// 32-bit draws of elements [first, first + kPiece).
void draw_32(PhiloxState state, int64_t first, uint32_t* out) {
  draw_blocks(state, static_cast<uint64_t>(first / 4), out);
}

// 64-bit draws of elements [first, first + kPiece).
void draw_64(PhiloxState state, int64_t first, uint64_t* out) {
  uint32_t bits[2 * kPiece];
  draw_blocks(state, static_cast<uint64_t>(first / 2), bits);
  draw_blocks(state, static_cast<uint64_t>(first / 2 + kPiece / 4), bits + kPiece);
  for (int64_t i = 0; i < kPiece; ++i) {
    out[i] = bits[2 * i] | static_cast<uint64_t>(bits[2 * i + 1]) << 32;
  }
}

// Fills the tensor: make(first, values) computes kPiece elements from number `first` on.
template <typename T, typename Make>
void fill_in_pieces(const TensorBase& self, Make make) {
  const int64_t n = self.numel();
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  T* data = static_cast<T*>(self.mutable_data_ptr());
  at::parallel_for(0, pieces, 16, [&](int64_t begin, int64_t end) {
    alignas(64) T values[kPiece];
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = piece * kPiece;
      // One call, which is inlined and long.
      T* to = first + kPiece <= n ? data + first : values;
      make(first, to);
      if (to == values) std::copy_n(values, n - first, data + first);
    }
  });
}

// Uniform on [0, 1), with as many bits as T holds exactly, in the type to compute in.
template <typename T>
void draw_uniform(PhiloxState state, int64_t first, c10::opmath_type<T>* out) {
  if constexpr (std::is_same_v<T, double>) {
    uint64_t bits[kPiece];
    draw_64(state, first, bits);
    for (int64_t i = 0; i < kPiece; ++i) out[i] = c10::uint64_to_uniform_double(bits[i]);
  } else {
    constexpr int digits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, Half> ? 11 : 8;
    constexpr float unit = 1.0f / static_cast<float>(1 << digits);
    uint32_t bits[kPiece];
    draw_32(state, first, bits);
    for (int64_t i = 0; i < kPiece; ++i) {
      out[i] = static_cast<float>(static_cast<int32_t>(bits[i] >> (32 - digits))) * unit;
    }
  }
}

// kPiece numbers on [from, to) from number `first` on.
template <typename T>
void make_uniform(PhiloxState state, int64_t first, double from, double to, T* out) {
  using opmath_t = c10::opmath_type<T>;
  const auto low = static_cast<opmath_t>(from);
  const auto width = static_cast<opmath_t>(to - from);
  const auto high = static_cast<opmath_t>(to);
  opmath_t numbers[kPiece];
  draw_uniform<T>(state, first, numbers);
  // Rounding must not reach the open end.
  const auto inside = [=](opmath_t number) { return number < high ? number : low; };
  if constexpr (std::is_same_v<T, opmath_t>) {
    for (int64_t i = 0; i < kPiece; ++i) out[i] = inside(low + numbers[i] * width);
  } else {
    for (int64_t i = 0; i < kPiece; ++i) numbers[i] = low + numbers[i] * width;
    convert_row(numbers, out, kPiece);
    convert_row(out, numbers, kPiece);
    for (int64_t i = 0; i < kPiece; ++i) numbers[i] = inside(numbers[i]);
    convert_row(numbers, out, kPiece);
  }
}

void uniform_kernel(const TensorBase& self, double from, double to,
                    std::optional<Generator> generator) {
  OPLOOM_DISPATCH(
      self.scalar_type(), "uniform_", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX), [&] {
        const PhiloxState state = reserve(generator, 1);
        fill_in_pieces<scalar_t>(self, [&](int64_t first, scalar_t* values) {
          if constexpr (c10::is_complex_v<scalar_t>) {
            // Parts 2 i and 2 i + 1 of the sequence are the parts of number i.
            using value_t = typename scalar_t::value_type;
            for (int half = 0; half < 2; ++half) {
              value_t parts[kPiece];
              make_uniform(state, 2 * first + half * kPiece, from, to, parts);
              for (int64_t i = 0; i < kPiece / 2; ++i) {
                values[half * (kPiece / 2) + i] = scalar_t(parts[2 * i], parts[2 * i + 1]);
              }
            }
          } else {
            make_uniform(state, first, from, to, values);
          }
        });
      });
}

// ---- Functions that give the same bits on every machine, unlike those of the C library ----

// Natural logarithm of a positive normal number.
template <typename T>
OPLOOM_ALWAYS_INLINE T portable_log(T x) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr int kMantissa = sizeof(T) == 8 ? 52 : 23;
  // x = m 2^e with m in [0.7, 1.4]; log m = 2 artanh t for t = (m - 1) / (m + 1), |t| < 0.172
  const Bits bits = std::bit_cast<Bits>(x);
  const Bits root_half = std::bit_cast<Bits>(T(0.70710678118654752440));
  const auto shifted = static_cast<std::make_signed_t<Bits>>(bits - root_half);
  const auto exponent = static_cast<int32_t>(shifted >> kMantissa);
  const T m = std::bit_cast<T>(static_cast<Bits>(
      bits - (static_cast<Bits>(static_cast<std::make_signed_t<Bits>>(exponent)) << kMantissa)));
  const T t = (m - T(1)) / (m + T(1));
  const T s = t * t;
  // Terms until the next is below half an ulp: s < 0.0295.
  constexpr int kTerms = sizeof(T) == 8 ? 11 : 5;
  T sum = T(1) / T(2 * kTerms - 1);
  for (int k = kTerms - 2; k >= 0; --k) sum = sum * s + T(1) / T(2 * k + 1);
  return T(2) * t * sum + static_cast<T>(exponent) * T(0.69314718055994530942);
}

// cos and sin of 2 pi u, for u in [0, 1).
template <typename T>
OPLOOM_ALWAYS_INLINE void portable_sincos(T u, T& cosine, T& sine) {
  const auto quadrant = static_cast<int32_t>(u * T(4) + T(0.5));
  const T x = (u - static_cast<T>(quadrant) * T(0.25)) * T(6.28318530717958647693);
  const T s = x * x;
  // Taylor series on [-pi/4, pi/4].
  constexpr int kTerms = sizeof(T) == 8 ? 9 : 6;
  T sin_sum = T(1);
  T cos_sum = T(1);
  for (int k = kTerms - 1; k >= 1; --k) {
    sin_sum = T(1) - sin_sum * s * (T(1) / T(2 * k * (2 * k + 1)));
    cos_sum = T(1) - cos_sum * s * (T(1) / T((2 * k - 1) * (2 * k)));
  }
  sin_sum *= x;
  const bool swap = (quadrant & 1) != 0;
  const T c = swap ? sin_sum : cos_sum;
  const T d = swap ? cos_sum : sin_sum;
  cosine = ((quadrant + 1) & 2) != 0 ? -c : c;
  sine = (quadrant & 2) != 0 ? -d : d;
}

// Box and Muller's method on neighbouring elements; kPiece standard normal numbers.
template <typename T>
void make_normal(const T* uniform, T* out) {
  OPLOOM_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < kPiece; i += 2) {
    const T radius = std::sqrt(T(-2) * portable_log(T(1) - uniform[i]));
    T cosine;
    T sine;
    portable_sincos(uniform[i + 1], cosine, sine);
    out[i] = radius * cosine;
    out[i + 1] = radius * sine;
  }
}

void normal_kernel(const TensorBase& self, double mean, double std,
                   std::optional<Generator> generator) {
  OPLOOM_DISPATCH(self.scalar_type(), "normal_", (OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX),
                  [&] {
                    const PhiloxState state = reserve(generator, 1);
                    if constexpr (c10::is_complex_v<scalar_t>) {
                      // Parts 2 i and 2 i + 1 of the sequence are the parts of number i.
                      using value_t = typename scalar_t::value_type;
                      const auto scale = static_cast<value_t>(std * 0.70710678118654752440);
                      const auto shift = static_cast<value_t>(mean);
                      fill_in_pieces<scalar_t>(self, [&](int64_t first, scalar_t* values) {
                        for (int half = 0; half < 2; ++half) {
                          value_t uniform[kPiece];
                          value_t normal[kPiece];
                          draw_uniform<value_t>(state, 2 * first + half * kPiece, uniform);
                          make_normal(uniform, normal);
                          for (int64_t i = 0; i < kPiece / 2; ++i) {
                            values[half * (kPiece / 2) + i] =
                                scalar_t(normal[2 * i] * scale + shift, normal[2 * i + 1] * scale);
                          }
                        }
                      });
                    } else {
                      using opmath_t = c10::opmath_type<scalar_t>;
                      const auto scale = static_cast<opmath_t>(std);
                      const auto shift = static_cast<opmath_t>(mean);
                      fill_in_pieces<scalar_t>(self, [&](int64_t first, scalar_t* values) {
                        opmath_t uniform[kPiece];
                        opmath_t normal[kPiece];
                        draw_uniform<opmath_t>(state, first, uniform);
                        make_normal(uniform, normal);
                        const auto scale_to = [&](opmath_t* to) {
                          for (int64_t i = 0; i < kPiece; ++i) to[i] = normal[i] * scale + shift;
                        };
                        if constexpr (std::is_same_v<scalar_t, opmath_t>) {
                          scale_to(values);
                        } else {
                          scale_to(normal);
                          convert_row(normal, values, kPiece);
                        }
                      });
                    }
                  });
}

// Whether a 32-bit draw, taken as a number on [0, 1), is below p.
OPLOOM_ALWAYS_INLINE bool below(uint32_t bits, double p) {
  return static_cast<double>(bits) * 0x1p-32 < p;
}

void bernoulli_scalar_kernel(const TensorBase& self, double p, std::optional<Generator> generator) {
  const PhiloxState state = reserve(generator, 1);
  // As below() decides: a draw is below p where it is below this integer.
  const auto limit = static_cast<int64_t>(std::ceil(p * 0x1p32));
  with_opaque_type(self.itemsize(), [&]<typename T>(T one) {
    Scalar(1).store(self.scalar_type(), &one);
    fill_in_pieces<T>(self, [=](int64_t first, T* values) {
      uint32_t bits[kPiece];
      draw_32(state, first, bits);
      for (int64_t i = 0; i < kPiece; ++i) {
        const bool chosen = static_cast<int64_t>(bits[i]) < limit;
        // Bits and not a choice, of which the compiler would make a branch.
        if constexpr (sizeof(T) == 16) {
          values[i] = {one.low & -uint64_t{chosen}, one.high & -uint64_t{chosen}};
        } else {
          values[i] = static_cast<T>(one & -static_cast<T>(chosen));
        }
      }
    });
  });
}

void bernoulli_tensor_kernel(const TensorBase& self, const TensorBase& p,
                             std::optional<Generator> generator) {
  const int64_t n = self.numel();
  const char* const from = static_cast<const char*>(p.const_data_ptr());
  const auto size = static_cast<int64_t>(p.itemsize());
  const bool is_double = p.scalar_type() == kDouble;
  const at::detail::CastLoop load =
      is_double ? nullptr : cast_loop_stub(DeviceType::CPU, kDouble, p.scalar_type());
  // The probabilities of `count` elements: themselves, or converted into the buffer.
  const auto probabilities = [&](int64_t first, int64_t count, double* buffer) {
    if (is_double) return reinterpret_cast<const double*>(from) + first;
    load(reinterpret_cast<char*>(buffer), sizeof(double), from + first * size, size, count);
    return static_cast<const double*>(buffer);
  };
  alignas(64) double buffer[kPiece];
  for (int64_t first = 0; first < n; first += kPiece) {
    const int64_t count = std::min(kPiece, n - first);
    const double* row = probabilities(first, count, buffer);
    const auto is_probability = [](double x) { return x >= 0 && x <= 1; };
    const double* wrong = std::find_if_not(row, row + count, is_probability);
    OPLOOM_CHECK_VALUE(wrong == row + count, "bernoulli(): expected probabilities in [0, 1], got ",
                       *wrong);
  }
  const PhiloxState state = reserve(generator, 1);
  OPLOOM_DISPATCH(self.scalar_type(), "bernoulli_", (OPLOOM_ALL), [&] {
    fill_in_pieces<scalar_t>(self, [&](int64_t first, scalar_t* values) {
      uint32_t bits[kPiece];
      alignas(64) double converted[kPiece];
      draw_32(state, first, bits);
      const int64_t count = std::min(kPiece, n - first);
      const double* row = probabilities(first, count, converted);
      for (int64_t i = 0; i < count; ++i) {
        values[i] = c10::convert<scalar_t>(below(bits[i], row[i]));
      }
    });
  });
}

void shuffle_kernel(const TensorBase& self, std::optional<Generator> generator) {
  const PhiloxState state = reserve(generator, 1);
  const int64_t n = self.numel();
  with_opaque_type(self.itemsize(), [&](auto tag) {
    auto* data = static_cast<decltype(tag)*>(self.mutable_data_ptr());
    for (int64_t first = 0; first < n; first += kPiece) {
      // All places before all exchanges, so that they are on their way to the cache together.
      uint64_t places[kPiece];
      draw_64(state, first, places);
      const int64_t count = std::min(kPiece, n - first);
      for (int64_t i = 0; i < count; ++i) {
        // The high half of the product maps 64 random bits to [0, left).
        const auto left = static_cast<unsigned __int128>(n - first - i);
        places[i] =
            static_cast<uint64_t>(first + i) + static_cast<uint64_t>(places[i] * left >> 64);
        __builtin_prefetch(data + places[i], /*write=*/1);
      }
      for (int64_t i = 0; i < count; ++i) std::swap(data[first + i], data[places[i]]);
    }
  });
}

void random_from_to_kernel(const TensorBase& self, uint64_t range, int64_t base,
                           std::optional<Generator> generator) {
  OPLOOM_DISPATCH(self.scalar_type(), "random_",
                  (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
                    const PhiloxState state = reserve(generator, 1);
                    const auto shifted = [base](uint64_t offset) {
                      return static_cast<int64_t>(static_cast<uint64_t>(base) + offset);
                    };
                    // The high part of draw * range is uniform on [0, range), up to 2^-32 or 2^-64.
                    if (range != 0 && range <= uint64_t{1} << 32) {
                      fill_in_pieces<scalar_t>(self, [&](int64_t first, scalar_t* values) {
                        uint32_t bits[kPiece];
                        draw_32(state, first, bits);
                        for (int64_t i = 0; i < kPiece; ++i) {
                          values[i] = c10::convert<scalar_t>(shifted(bits[i] * range >> 32));
                        }
                      });
                    } else {
                      fill_in_pieces<scalar_t>(self, [&](int64_t first, scalar_t* values) {
                        uint64_t bits[kPiece];
                        draw_64(state, first, bits);
                        for (int64_t i = 0; i < kPiece; ++i) {
                          const uint64_t offset =
                              range == 0
                                  ? bits[i]
                                  : static_cast<uint64_t>(
                                        static_cast<unsigned __int128>(bits[i]) * range >> 64);
                          values[i] = c10::convert<scalar_t>(shifted(offset));
                        }
                      });
                    }
                  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(uniform_stub, &uniform_kernel);
OPLOOM_REGISTER_DISPATCH(normal_stub, &normal_kernel);
OPLOOM_REGISTER_DISPATCH(bernoulli_scalar_stub, &bernoulli_scalar_kernel);
OPLOOM_REGISTER_DISPATCH(bernoulli_tensor_stub, &bernoulli_tensor_kernel);
OPLOOM_REGISTER_DISPATCH(shuffle_stub, &shuffle_kernel);
OPLOOM_REGISTER_DISPATCH(random_from_to_stub, &random_from_to_kernel);

}  // namespace at::inline oploom_v1::native
