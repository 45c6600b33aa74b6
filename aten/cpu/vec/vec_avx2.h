// Vec<float> and Vec<double> by AVX2 instructions.
#pragma once

#include <aten/cpu/vec/vec_base.h>

#include <immintrin.h>

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Two times four masks of 32 bits as bytes that are 0 or 1, in the lower half.
OPLOOM_ALWAYS_INLINE __m128i as_truths(__m128i first, __m128i second) {
  const __m128i shorter = _mm_packs_epi32(first, second);
  return _mm_and_si128(_mm_packs_epi16(shorter, shorter), _mm_set1_epi8(1));
}

template <>
class Vec<float> {
 public:
  using value_type = float;
  static constexpr int size() { return 8; }
  static constexpr bool kInRegister = true;

  struct Mask {
    __m256 bits;

    OPLOOM_ALWAYS_INLINE friend Mask operator&(Mask a, Mask b) {
      return Mask{_mm256_and_ps(a.bits, b.bits)};
    }
    OPLOOM_ALWAYS_INLINE friend Mask operator|(Mask a, Mask b) {
      return Mask{_mm256_or_ps(a.bits, b.bits)};
    }
    OPLOOM_ALWAYS_INLINE friend Mask operator!(Mask a) {
      return Mask{_mm256_xor_ps(a.bits, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))};
    }
  };

  Vec() = default;
  OPLOOM_ALWAYS_INLINE Vec(float value) : lanes_(_mm256_set1_ps(value)) {}
  OPLOOM_ALWAYS_INLINE Vec(__m256 lanes) : lanes_(lanes) {}
  OPLOOM_ALWAYS_INLINE operator __m256() const { return lanes_; }

  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source) {
    return _mm256_loadu_ps(static_cast<const float*>(source));
  }
  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source, int64_t count) {
    return _mm256_maskload_ps(static_cast<const float*>(source), first(count));
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target) const {
    _mm256_storeu_ps(static_cast<float*>(target), lanes_);
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target, int64_t count) const {
    _mm256_maskstore_ps(static_cast<float*>(target), first(count), lanes_);
  }
  float operator[](int i) const { return lanes_[i]; }

  template <typename F>
  Vec map(F f) const {
    alignas(kVecBytes) float buffer[size()];
    storeu(buffer);
    for (int i = 0; i < size(); ++i) buffer[i] = f(buffer[i]);
    return loadu(buffer);
  }

  OPLOOM_ALWAYS_INLINE friend Vec operator+(Vec a, Vec b) { return _mm256_add_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator-(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator*(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator/(Vec a, Vec b) { return _mm256_div_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator&(Vec a, Vec b) { return _mm256_and_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator|(Vec a, Vec b) { return _mm256_or_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator^(Vec a, Vec b) { return _mm256_xor_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec fmadd(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
  OPLOOM_ALWAYS_INLINE Vec neg() const { return -lanes_; }
  OPLOOM_ALWAYS_INLINE Vec abs() const { return _mm256_andnot_ps(Vec(-0.0f), lanes_); }

  OPLOOM_ALWAYS_INLINE friend Mask operator==(Vec a, Vec b) {
    return Mask{_mm256_cmp_ps(a, b, _CMP_EQ_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator!=(Vec a, Vec b) {
    return Mask{_mm256_cmp_ps(a, b, _CMP_NEQ_UQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator<(Vec a, Vec b) {
    return Mask{_mm256_cmp_ps(a, b, _CMP_LT_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator<=(Vec a, Vec b) {
    return Mask{_mm256_cmp_ps(a, b, _CMP_LE_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator>(Vec a, Vec b) {
    return Mask{_mm256_cmp_ps(a, b, _CMP_GT_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator>=(Vec a, Vec b) {
    return Mask{_mm256_cmp_ps(a, b, _CMP_GE_OQ)};
  }
  OPLOOM_ALWAYS_INLINE Mask isnan() const {
    return Mask{_mm256_cmp_ps(lanes_, lanes_, _CMP_UNORD_Q)};
  }
  // Where one of the two is NaN.
  OPLOOM_ALWAYS_INLINE friend Mask unordered(Vec a, Vec b) {
    return Mask{_mm256_cmp_ps(a, b, _CMP_UNORD_Q)};
  }
  // Where the sign bit is set. For blendv(), which looks at that bit alone; store_truths() does
  // not.
  OPLOOM_ALWAYS_INLINE Mask signs() const { return Mask{lanes_}; }
  // Bit i: whether element i is true.
  OPLOOM_ALWAYS_INLINE friend uint32_t bits_of(Mask mask) { return _mm256_movemask_ps(mask.bits); }
  OPLOOM_ALWAYS_INLINE friend bool all(Mask mask) { return bits_of(mask) == 0xff; }
  OPLOOM_ALWAYS_INLINE friend void store_truths(Mask mask, bool* target) {
    const __m256i bits = _mm256_castps_si256(mask.bits);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(target),
                     as_truths(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1)));
  }
  OPLOOM_ALWAYS_INLINE friend Vec blendv(Vec a, Vec b, Mask mask) {
    return _mm256_blendv_ps(a, b, mask.bits);
  }

  // The instruction gives its second argument if one is NaN, hence the other needs the care.
  OPLOOM_ALWAYS_INLINE friend Vec maximum(Vec a, Vec b) {
    return blendv(Vec(_mm256_max_ps(a, b)), a, a.isnan());
  }
  OPLOOM_ALWAYS_INLINE friend Vec minimum(Vec a, Vec b) {
    return blendv(Vec(_mm256_min_ps(a, b)), a, a.isnan());
  }
  // Bounds of one side, by the instruction alone: NaN in x gives NaN, in the bound x.
  OPLOOM_ALWAYS_INLINE friend Vec at_least(Vec x, Vec bound) { return _mm256_max_ps(bound, x); }
  OPLOOM_ALWAYS_INLINE friend Vec at_most(Vec x, Vec bound) { return _mm256_min_ps(bound, x); }

  OPLOOM_ALWAYS_INLINE Vec ceil() const {
    return _mm256_round_ps(lanes_, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec floor() const {
    return _mm256_round_ps(lanes_, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec round() const {
    return _mm256_round_ps(lanes_, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec trunc() const {
    return _mm256_round_ps(lanes_, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec sqrt() const { return _mm256_sqrt_ps(lanes_); }

  // Of eight numbers those that the lowest bits of the lanes, 0 to 7, are the indices of.
  OPLOOM_ALWAYS_INLINE static Vec lookup(const float* table, Vec indices) {
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), _mm256_castps_si256(indices));
  }
  OPLOOM_ALWAYS_INLINE Vec reciprocal() const { return Vec(float(1)) / *this; }

  // Defined in math.h.
  Vec cos() const;
  Vec erf() const;
  Vec exp() const;
  Vec expm1() const;
  Vec log() const;
  Vec log10() const;
  Vec log1p() const;
  Vec log2() const;
  Vec sin() const;
  Vec tan() const;
  Vec tanh() const;
  friend Vec atan2(Vec a, Vec b);
  friend Vec pow(Vec a, Vec b);

  // In the order of the array form.
  float reduce_add() const {
    const __m128 four =
        _mm_add_ps(_mm256_castps256_ps128(lanes_), _mm256_extractf128_ps(lanes_, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

 private:
  // The mask of the first `count` lanes.
  OPLOOM_ALWAYS_INLINE static __m256i first(int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }

  __m256 lanes_;
};

template <>
class Vec<double> {
 public:
  using value_type = double;
  static constexpr int size() { return 4; }
  static constexpr bool kInRegister = true;

  struct Mask {
    __m256d bits;

    OPLOOM_ALWAYS_INLINE friend Mask operator&(Mask a, Mask b) {
      return Mask{_mm256_and_pd(a.bits, b.bits)};
    }
    OPLOOM_ALWAYS_INLINE friend Mask operator|(Mask a, Mask b) {
      return Mask{_mm256_or_pd(a.bits, b.bits)};
    }
    OPLOOM_ALWAYS_INLINE friend Mask operator!(Mask a) {
      return Mask{_mm256_xor_pd(a.bits, _mm256_castsi256_pd(_mm256_set1_epi32(-1)))};
    }
  };

  Vec() = default;
  OPLOOM_ALWAYS_INLINE Vec(double value) : lanes_(_mm256_set1_pd(value)) {}
  OPLOOM_ALWAYS_INLINE Vec(__m256d lanes) : lanes_(lanes) {}
  OPLOOM_ALWAYS_INLINE operator __m256d() const { return lanes_; }

  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source) {
    return _mm256_loadu_pd(static_cast<const double*>(source));
  }
  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source, int64_t count) {
    return _mm256_maskload_pd(static_cast<const double*>(source), first(count));
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target) const {
    _mm256_storeu_pd(static_cast<double*>(target), lanes_);
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target, int64_t count) const {
    _mm256_maskstore_pd(static_cast<double*>(target), first(count), lanes_);
  }
  double operator[](int i) const { return lanes_[i]; }

  template <typename F>
  Vec map(F f) const {
    alignas(kVecBytes) double buffer[size()];
    storeu(buffer);
    for (int i = 0; i < size(); ++i) buffer[i] = f(buffer[i]);
    return loadu(buffer);
  }

  OPLOOM_ALWAYS_INLINE friend Vec operator+(Vec a, Vec b) { return _mm256_add_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator-(Vec a, Vec b) { return _mm256_sub_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator*(Vec a, Vec b) { return _mm256_mul_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator/(Vec a, Vec b) { return _mm256_div_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator&(Vec a, Vec b) { return _mm256_and_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator|(Vec a, Vec b) { return _mm256_or_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator^(Vec a, Vec b) { return _mm256_xor_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec fmadd(Vec a, Vec b, Vec c) { return _mm256_fmadd_pd(a, b, c); }
  OPLOOM_ALWAYS_INLINE Vec neg() const { return -lanes_; }
  OPLOOM_ALWAYS_INLINE Vec abs() const { return _mm256_andnot_pd(Vec(-0.0), lanes_); }

  OPLOOM_ALWAYS_INLINE friend Mask operator==(Vec a, Vec b) {
    return Mask{_mm256_cmp_pd(a, b, _CMP_EQ_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator!=(Vec a, Vec b) {
    return Mask{_mm256_cmp_pd(a, b, _CMP_NEQ_UQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator<(Vec a, Vec b) {
    return Mask{_mm256_cmp_pd(a, b, _CMP_LT_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator<=(Vec a, Vec b) {
    return Mask{_mm256_cmp_pd(a, b, _CMP_LE_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator>(Vec a, Vec b) {
    return Mask{_mm256_cmp_pd(a, b, _CMP_GT_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator>=(Vec a, Vec b) {
    return Mask{_mm256_cmp_pd(a, b, _CMP_GE_OQ)};
  }
  OPLOOM_ALWAYS_INLINE Mask isnan() const {
    return Mask{_mm256_cmp_pd(lanes_, lanes_, _CMP_UNORD_Q)};
  }
  // Where one of the two is NaN.
  OPLOOM_ALWAYS_INLINE friend Mask unordered(Vec a, Vec b) {
    return Mask{_mm256_cmp_pd(a, b, _CMP_UNORD_Q)};
  }
  // Where the sign bit is set. For blendv(), which looks at that bit alone; store_truths() does
  // not.
  OPLOOM_ALWAYS_INLINE Mask signs() const { return Mask{lanes_}; }
  // Bit i: whether element i is true.
  OPLOOM_ALWAYS_INLINE friend uint32_t bits_of(Mask mask) { return _mm256_movemask_pd(mask.bits); }
  OPLOOM_ALWAYS_INLINE friend bool all(Mask mask) { return bits_of(mask) == 0xf; }
  OPLOOM_ALWAYS_INLINE friend void store_truths(Mask mask, bool* target) {
    const __m128 halves = _mm_shuffle_ps(_mm_castpd_ps(_mm256_castpd256_pd128(mask.bits)),
                                         _mm_castpd_ps(_mm256_extractf128_pd(mask.bits, 1)), 0x88);
    const int truths = _mm_cvtsi128_si32(as_truths(_mm_castps_si128(halves), __m128i{}));
    std::memcpy(target, &truths, sizeof(truths));
  }
  OPLOOM_ALWAYS_INLINE friend Vec blendv(Vec a, Vec b, Mask mask) {
    return _mm256_blendv_pd(a, b, mask.bits);
  }

  // The instruction gives its second argument if one is NaN, hence the other needs the care.
  OPLOOM_ALWAYS_INLINE friend Vec maximum(Vec a, Vec b) {
    return blendv(Vec(_mm256_max_pd(a, b)), a, a.isnan());
  }
  OPLOOM_ALWAYS_INLINE friend Vec minimum(Vec a, Vec b) {
    return blendv(Vec(_mm256_min_pd(a, b)), a, a.isnan());
  }
  // Bounds of one side, by the instruction alone: NaN in x gives NaN, in the bound x.
  OPLOOM_ALWAYS_INLINE friend Vec at_least(Vec x, Vec bound) { return _mm256_max_pd(bound, x); }
  OPLOOM_ALWAYS_INLINE friend Vec at_most(Vec x, Vec bound) { return _mm256_min_pd(bound, x); }

  OPLOOM_ALWAYS_INLINE Vec ceil() const {
    return _mm256_round_pd(lanes_, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec floor() const {
    return _mm256_round_pd(lanes_, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec round() const {
    return _mm256_round_pd(lanes_, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec trunc() const {
    return _mm256_round_pd(lanes_, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec sqrt() const { return _mm256_sqrt_pd(lanes_); }
  OPLOOM_ALWAYS_INLINE Vec reciprocal() const { return Vec(double(1)) / *this; }

  Vec cos() const;  // in math.h, as the others
  Vec erf() const;  // in math.h, as exp()
  Vec exp() const;
  Vec expm1() const;
  Vec log() const;
  Vec log10() const;
  Vec log1p() const;
  Vec log2() const;
  Vec sin() const;
  Vec tan() const;
  Vec tanh() const;
  friend Vec atan2(Vec a, Vec b);  // in math.h
  friend Vec pow(Vec a, Vec b);

  // In the order of the array form.
  double reduce_add() const {
    const __m128d two =
        _mm_add_pd(_mm256_castpd256_pd128(lanes_), _mm256_extractf128_pd(lanes_, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }

 private:
  // The mask of the first `count` lanes.
  OPLOOM_ALWAYS_INLINE static __m256i first(int64_t count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }

  __m256d lanes_;
};

// The first half and the second.
OPLOOM_ALWAYS_INLINE std::array<Vec<double>, 2> widen(Vec<float> x) {
  return {_mm256_cvtps_pd(_mm256_castps256_ps128(x)), _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))};
}
OPLOOM_ALWAYS_INLINE Vec<float> narrow(Vec<double> first, Vec<double> second) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(first)),
                              _mm256_cvtpd_ps(second), 1);
}

// See vec.h.
template <typename T>
OPLOOM_ALWAYS_INLINE void sum_eight(const T* in, T* out, Vec<double>& sum) {
  std::array<Vec<double>, 2> x;
  if constexpr (sizeof(T) == 4) x = widen(Vec<float>::loadu(in));
  if constexpr (sizeof(T) == 8) x = {Vec<double>::loadu(in), Vec<double>::loadu(in + 4)};
  for (Vec<double>& four : x) {
    const __m256d before = _mm256_permute4x64_pd(four, 0b10010000);
    four = four + Vec<double>(_mm256_blend_pd(before, _mm256_setzero_pd(), 1));
    four = four + Vec<double>(_mm256_permute2f128_pd(four, four, 0x08));
  }
  x[1] = x[1] + Vec<double>(_mm256_permute4x64_pd(x[0], 0xff));
  if constexpr (sizeof(T) == 4) {
    narrow(x[0] + sum, x[1] + sum).storeu(out);
  } else {
    (x[0] + sum).storeu(out);
    (x[1] + sum).storeu(out + 4);
  }
  sum = sum + Vec<double>(_mm256_permute4x64_pd(x[1], 0xff));
}

// Eight numbers of 16 bits to and from floats, or the first `count` of them and zeros.
OPLOOM_ALWAYS_INLINE Vec<float> as_float(const Half*, __m128i bits) {
  return Vec<float>(_mm256_cvtph_ps(bits));
}
OPLOOM_ALWAYS_INLINE Vec<float> as_float(const BFloat16*, __m128i bits) {
  return Vec<float>(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16)));
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> load_as_float(const T* source) {
  return as_float(source, _mm_loadu_si128(reinterpret_cast<const __m128i*>(source)));
}
template <typename T>
OPLOOM_NOINLINE Vec<float> load_as_float(const T* source, int64_t count) {
  // Two halves of four, each read at once: the second ends where the numbers end.
  uint64_t half[2] = {};
  const char* bytes = reinterpret_cast<const char*>(source);
  if (count >= 4) {
    std::memcpy(&half[0], bytes, 8);
    std::memcpy(&half[1], bytes + 2 * count - 8, 8);
    half[1] = count == 4 ? 0 : half[1] >> (16 * (8 - count));
  } else {
    for (int64_t i = 0; i < count; ++i) {
      uint16_t number;
      std::memcpy(&number, bytes + 2 * i, 2);
      half[0] |= static_cast<uint64_t>(number) << (16 * i);
    }
  }
  return as_float(source,
                  _mm_set_epi64x(static_cast<int64_t>(half[1]), static_cast<int64_t>(half[0])));
}
OPLOOM_ALWAYS_INLINE void store_from_float(Half* target, Vec<float> value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(target),
                   _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
// Rounds to nearest even, into the upper halves; NaN stays NaN. Shifts and shuffles are what a Zen
// has few units for.
OPLOOM_ALWAYS_INLINE __m256i rounded_to_bfloat16(Vec<float> value) {
  const __m256i bits = _mm256_castps_si256(value), last = _mm256_set1_epi32(0x10000);
  const __m256i odd = _mm256_cmpeq_epi32(_mm256_and_si256(bits, last), last);  // -1
  const __m256i rounded = _mm256_sub_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  return _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc00000),
                            _mm256_castps_si256(value.isnan().bits));
}
OPLOOM_ALWAYS_INLINE void store_from_float(BFloat16* target, Vec<float> value) {
  const __m256i upper_halves = _mm256_broadcastsi128_si256(_mm_set_epi64x(-1, 0x0f0e0b0a07060302));
  const __m256i packed = _mm256_shuffle_epi8(rounded_to_bfloat16(value), upper_halves);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(target),
                   _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0b1000)));
}
// Those of Note [Pairs of vectors].
OPLOOM_ALWAYS_INLINE Vec<float> even_numbers(const BFloat16* source) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source));
  return Vec<float>(_mm256_castsi256_ps(_mm256_slli_epi32(bits, 16)));
}
OPLOOM_ALWAYS_INLINE Vec<float> odd_numbers(const BFloat16* source) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source));
  const __m256i upper_halves = _mm256_set1_epi32(static_cast<int>(0xffff0000));
  return Vec<float>(_mm256_castsi256_ps(_mm256_and_si256(bits, upper_halves)));
}
OPLOOM_ALWAYS_INLINE void store_numbers(BFloat16* target, Vec<float> even, Vec<float> odd) {
  const __m256i lower = _mm256_srli_epi32(rounded_to_bfloat16(even), 16);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(target),
                      _mm256_blend_epi16(lower, rounded_to_bfloat16(odd), 0b10101010));
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY
