// Vec<float> and Vec<double> by AVX512 instructions.
#pragma once

#include <aten/cpu/vec/vec_base.h>

#include <immintrin.h>

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

template <>
class Vec<float> {
 public:
  using value_type = float;
  static constexpr int size() { return 16; }
  static constexpr bool kInRegister = true;

  struct Mask {
    __mmask16 bits;

    OPLOOM_ALWAYS_INLINE friend Mask operator&(Mask a, Mask b) {
      return Mask{static_cast<__mmask16>(a.bits & b.bits)};
    }
    OPLOOM_ALWAYS_INLINE friend Mask operator|(Mask a, Mask b) {
      return Mask{static_cast<__mmask16>(a.bits | b.bits)};
    }
    OPLOOM_ALWAYS_INLINE friend Mask operator!(Mask a) {
      return Mask{static_cast<__mmask16>(~a.bits)};
    }
  };

  Vec() = default;
  OPLOOM_ALWAYS_INLINE Vec(float value) : lanes_(_mm512_set1_ps(value)) {}
  OPLOOM_ALWAYS_INLINE Vec(__m512 lanes) : lanes_(lanes) {}
  OPLOOM_ALWAYS_INLINE operator __m512() const { return lanes_; }

  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source) {
    return _mm512_loadu_ps(static_cast<const float*>(source));
  }
  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source, int64_t count) {
    return _mm512_maskz_loadu_ps(first(count), source);
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target) const {
    _mm512_storeu_ps(static_cast<float*>(target), lanes_);
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target, int64_t count) const {
    _mm512_mask_storeu_ps(target, first(count), lanes_);
  }
  float operator[](int i) const { return lanes_[i]; }

  template <typename F>
  Vec map(F f) const {
    alignas(kVecBytes) float buffer[size()];
    storeu(buffer);
    for (int i = 0; i < size(); ++i) buffer[i] = f(buffer[i]);
    return loadu(buffer);
  }

  OPLOOM_ALWAYS_INLINE friend Vec operator+(Vec a, Vec b) { return _mm512_add_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator-(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator*(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator/(Vec a, Vec b) { return _mm512_div_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator&(Vec a, Vec b) { return _mm512_and_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator|(Vec a, Vec b) { return _mm512_or_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator^(Vec a, Vec b) { return _mm512_xor_ps(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec fmadd(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
  // y * 2^n, where n is rounded down
  OPLOOM_ALWAYS_INLINE friend Vec scale(Vec y, Vec n) { return _mm512_scalef_ps(y, n); }
  // x less the whole number below it; 0 of infinities
  OPLOOM_ALWAYS_INLINE friend Vec rest_of_floor(Vec x) {
    return _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  // The exponent of x, as std::logb() gives it, and x times a power of two, from 3/4 to 3/2; nan of
  // numbers below 0.
  OPLOOM_ALWAYS_INLINE friend Vec logb(Vec x) { return _mm512_getexp_ps(x); }
  OPLOOM_ALWAYS_INLINE friend Vec significand_near_one(Vec x) {
    return _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
  }
  OPLOOM_ALWAYS_INLINE Vec neg() const { return -lanes_; }
  OPLOOM_ALWAYS_INLINE Vec abs() const { return _mm512_andnot_ps(Vec(-0.0f), lanes_); }

  OPLOOM_ALWAYS_INLINE friend Mask operator==(Vec a, Vec b) {
    return Mask{_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator!=(Vec a, Vec b) {
    return Mask{_mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator<(Vec a, Vec b) {
    return Mask{_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator<=(Vec a, Vec b) {
    return Mask{_mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator>(Vec a, Vec b) {
    return Mask{_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator>=(Vec a, Vec b) {
    return Mask{_mm512_cmp_ps_mask(a, b, _CMP_GE_OQ)};
  }
  OPLOOM_ALWAYS_INLINE Mask isnan() const {
    return Mask{_mm512_cmp_ps_mask(lanes_, lanes_, _CMP_UNORD_Q)};
  }
  // Where one of the two is NaN.
  OPLOOM_ALWAYS_INLINE friend Mask unordered(Vec a, Vec b) {
    return Mask{_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q)};
  }
  // Where the sign bit is set.
  OPLOOM_ALWAYS_INLINE Mask signs() const {
    return Mask{_mm512_movepi32_mask(_mm512_castps_si512(lanes_))};
  }
  // Bit i: whether element i is true.
  OPLOOM_ALWAYS_INLINE friend uint32_t bits_of(Mask mask) { return mask.bits; }
  OPLOOM_ALWAYS_INLINE friend bool all(Mask mask) { return mask.bits == 0xffff; }
  OPLOOM_ALWAYS_INLINE friend void store_truths(Mask mask, bool* target) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target), _mm_maskz_set1_epi8(mask.bits, 1));
  }
  OPLOOM_ALWAYS_INLINE friend Vec blendv(Vec a, Vec b, Mask mask) {
    return _mm512_mask_blend_ps(mask.bits, a, b);
  }

  // The instruction gives its second argument if one is NaN, hence the other needs the care.
  OPLOOM_ALWAYS_INLINE friend Vec maximum(Vec a, Vec b) {
    return blendv(Vec(_mm512_max_ps(a, b)), a, a.isnan());
  }
  OPLOOM_ALWAYS_INLINE friend Vec minimum(Vec a, Vec b) {
    return blendv(Vec(_mm512_min_ps(a, b)), a, a.isnan());
  }
  // Bounds of one side, by the instruction alone: NaN in x gives NaN, in the bound x.
  OPLOOM_ALWAYS_INLINE friend Vec at_least(Vec x, Vec bound) { return _mm512_max_ps(bound, x); }
  OPLOOM_ALWAYS_INLINE friend Vec at_most(Vec x, Vec bound) { return _mm512_min_ps(bound, x); }

  OPLOOM_ALWAYS_INLINE Vec ceil() const {
    return _mm512_roundscale_ps(lanes_, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec floor() const {
    return _mm512_roundscale_ps(lanes_, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec round() const {
    return _mm512_roundscale_ps(lanes_, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec trunc() const {
    return _mm512_roundscale_ps(lanes_, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec sqrt() const { return _mm512_sqrt_ps(lanes_); }

  // Of sixteen numbers those that the lowest bits of the lanes, 0 to 15, are the indices of.
  OPLOOM_ALWAYS_INLINE static Vec lookup(const float* table, Vec indices) {
    return _mm512_permutexvar_ps(_mm512_castps_si512(indices), loadu(table));
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
    const __m256 eight =
        _mm256_add_ps(_mm512_castps512_ps256(lanes_), _mm512_extractf32x8_ps(lanes_, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

 private:
  static __mmask16 first(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }

  __m512 lanes_;
};

template <>
class Vec<double> {
 public:
  using value_type = double;
  static constexpr int size() { return 8; }
  static constexpr bool kInRegister = true;

  struct Mask {
    __mmask8 bits;

    OPLOOM_ALWAYS_INLINE friend Mask operator&(Mask a, Mask b) {
      return Mask{static_cast<__mmask8>(a.bits & b.bits)};
    }
    OPLOOM_ALWAYS_INLINE friend Mask operator|(Mask a, Mask b) {
      return Mask{static_cast<__mmask8>(a.bits | b.bits)};
    }
    OPLOOM_ALWAYS_INLINE friend Mask operator!(Mask a) {
      return Mask{static_cast<__mmask8>(~a.bits)};
    }
  };

  Vec() = default;
  OPLOOM_ALWAYS_INLINE Vec(double value) : lanes_(_mm512_set1_pd(value)) {}
  OPLOOM_ALWAYS_INLINE Vec(__m512d lanes) : lanes_(lanes) {}
  OPLOOM_ALWAYS_INLINE operator __m512d() const { return lanes_; }

  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source) {
    return _mm512_loadu_pd(static_cast<const double*>(source));
  }
  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source, int64_t count) {
    return _mm512_maskz_loadu_pd(first(count), source);
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target) const {
    _mm512_storeu_pd(static_cast<double*>(target), lanes_);
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target, int64_t count) const {
    _mm512_mask_storeu_pd(target, first(count), lanes_);
  }
  double operator[](int i) const { return lanes_[i]; }

  template <typename F>
  Vec map(F f) const {
    alignas(kVecBytes) double buffer[size()];
    storeu(buffer);
    for (int i = 0; i < size(); ++i) buffer[i] = f(buffer[i]);
    return loadu(buffer);
  }

  OPLOOM_ALWAYS_INLINE friend Vec operator+(Vec a, Vec b) { return _mm512_add_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator-(Vec a, Vec b) { return _mm512_sub_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator*(Vec a, Vec b) { return _mm512_mul_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator/(Vec a, Vec b) { return _mm512_div_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator&(Vec a, Vec b) { return _mm512_and_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator|(Vec a, Vec b) { return _mm512_or_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec operator^(Vec a, Vec b) { return _mm512_xor_pd(a, b); }
  OPLOOM_ALWAYS_INLINE friend Vec fmadd(Vec a, Vec b, Vec c) { return _mm512_fmadd_pd(a, b, c); }
  // y * 2^n for whole n
  OPLOOM_ALWAYS_INLINE friend Vec scale(Vec y, Vec n) { return _mm512_scalef_pd(y, n); }
  OPLOOM_ALWAYS_INLINE Vec neg() const { return -lanes_; }
  OPLOOM_ALWAYS_INLINE Vec abs() const { return _mm512_andnot_pd(Vec(-0.0), lanes_); }

  OPLOOM_ALWAYS_INLINE friend Mask operator==(Vec a, Vec b) {
    return Mask{_mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator!=(Vec a, Vec b) {
    return Mask{_mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator<(Vec a, Vec b) {
    return Mask{_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator<=(Vec a, Vec b) {
    return Mask{_mm512_cmp_pd_mask(a, b, _CMP_LE_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator>(Vec a, Vec b) {
    return Mask{_mm512_cmp_pd_mask(a, b, _CMP_GT_OQ)};
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator>=(Vec a, Vec b) {
    return Mask{_mm512_cmp_pd_mask(a, b, _CMP_GE_OQ)};
  }
  OPLOOM_ALWAYS_INLINE Mask isnan() const {
    return Mask{_mm512_cmp_pd_mask(lanes_, lanes_, _CMP_UNORD_Q)};
  }
  // Where one of the two is NaN.
  OPLOOM_ALWAYS_INLINE friend Mask unordered(Vec a, Vec b) {
    return Mask{_mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q)};
  }
  // Where the sign bit is set.
  OPLOOM_ALWAYS_INLINE Mask signs() const {
    return Mask{_mm512_movepi64_mask(_mm512_castpd_si512(lanes_))};
  }
  // Bit i: whether element i is true.
  OPLOOM_ALWAYS_INLINE friend uint32_t bits_of(Mask mask) { return mask.bits; }
  OPLOOM_ALWAYS_INLINE friend bool all(Mask mask) { return mask.bits == 0xff; }
  OPLOOM_ALWAYS_INLINE friend void store_truths(Mask mask, bool* target) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(target), _mm_maskz_set1_epi8(mask.bits, 1));
  }
  OPLOOM_ALWAYS_INLINE friend Vec blendv(Vec a, Vec b, Mask mask) {
    return _mm512_mask_blend_pd(mask.bits, a, b);
  }

  // The instruction gives its second argument if one is NaN, hence the other needs the care.
  OPLOOM_ALWAYS_INLINE friend Vec maximum(Vec a, Vec b) {
    return blendv(Vec(_mm512_max_pd(a, b)), a, a.isnan());
  }
  OPLOOM_ALWAYS_INLINE friend Vec minimum(Vec a, Vec b) {
    return blendv(Vec(_mm512_min_pd(a, b)), a, a.isnan());
  }
  // Bounds of one side, by the instruction alone: NaN in x gives NaN, in the bound x.
  OPLOOM_ALWAYS_INLINE friend Vec at_least(Vec x, Vec bound) { return _mm512_max_pd(bound, x); }
  OPLOOM_ALWAYS_INLINE friend Vec at_most(Vec x, Vec bound) { return _mm512_min_pd(bound, x); }

  OPLOOM_ALWAYS_INLINE Vec ceil() const {
    return _mm512_roundscale_pd(lanes_, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec floor() const {
    return _mm512_roundscale_pd(lanes_, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec round() const {
    return _mm512_roundscale_pd(lanes_, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec trunc() const {
    return _mm512_roundscale_pd(lanes_, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  }
  OPLOOM_ALWAYS_INLINE Vec sqrt() const { return _mm512_sqrt_pd(lanes_); }
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
    const __m256d four =
        _mm256_add_pd(_mm512_castpd512_pd256(lanes_), _mm512_extractf64x4_pd(lanes_, 1));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }

 private:
  static __mmask8 first(int64_t count) { return static_cast<__mmask8>((1u << count) - 1); }

  __m512d lanes_;
};

// The first half and the second.
OPLOOM_ALWAYS_INLINE std::array<Vec<double>, 2> widen(Vec<float> x) {
  return {_mm512_cvtps_pd(_mm512_castps512_ps256(x)),
          _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))};
}
OPLOOM_ALWAYS_INLINE Vec<float> narrow(Vec<double> first, Vec<double> second) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(first)), _mm512_cvtpd_ps(second),
                            1);
}

// See vec.h.
template <typename T>
OPLOOM_ALWAYS_INLINE void sum_eight(const T* in, T* out, Vec<double>& sum) {
  using V = Vec<double>;
  V x;
  if constexpr (sizeof(T) == 4) x = _mm512_cvtps_pd(_mm256_loadu_ps(in));
  if constexpr (sizeof(T) == 8) x = V::loadu(in);
  x = x + V(_mm512_maskz_permutex_pd(0xee, x, 0b10010000));
  x = x + V(_mm512_maskz_permutex_pd(0xcc, x, 0b01000100));
  x = x + V(_mm512_maskz_permutexvar_pd(0xf0, _mm512_set1_epi64(3), x));
  if constexpr (sizeof(T) == 4) _mm256_storeu_ps(out, _mm512_cvtpd_ps(x + sum));
  if constexpr (sizeof(T) == 8) (x + sum).storeu(out);
  sum = sum + V(_mm512_permutexvar_pd(_mm512_set1_epi64(7), x));
}

// Sixteen numbers of 16 bits to and from floats, or the first `count` of them and zeros.
OPLOOM_ALWAYS_INLINE Vec<float> as_float(const Half*, __m256i bits) {
  return Vec<float>(_mm512_cvtph_ps(bits));
}
OPLOOM_ALWAYS_INLINE Vec<float> as_float(const BFloat16*, __m256i bits) {
  // Each into the upper half of a float. Constants of 64 bytes would be stored for each file, and
  // kept for all of its kernels where one is; this one is made of 16.
  const __m512i places = _mm512_slli_epi32(
      _mm512_cvtepu8_epi32(_mm_set_epi64x(0x0f0e0d0c0b0a0908, 0x0706050403020100)), 16);
  return Vec<float>(_mm512_castsi512_ps(
      _mm512_maskz_permutexvar_epi16(0xaaaaaaaa, places, _mm512_castsi256_si512(bits))));
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> load_as_float(const T* source) {
  return as_float(source, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source)));
}
template <typename T>
OPLOOM_ALWAYS_INLINE Vec<float> load_as_float(const T* source, int64_t count) {
  const auto first = static_cast<__mmask16>((1u << count) - 1);
  return as_float(source, _mm256_maskz_loadu_epi16(first, source));
}
OPLOOM_ALWAYS_INLINE __m256i rounded_to(const Half*, Vec<float> value) {
  return _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// Rounds to nearest even, into the upper halves; NaN stays NaN.
OPLOOM_ALWAYS_INLINE __m512i rounded_to_bfloat16(Vec<float> value) {
  const __m512i bits = _mm512_castps_si512(value);
  // bits + (0x7fff + the last bit that is kept), as bits - ~(0x7ffe | that bit)
  const __m512i less = _mm512_ternarylogic_epi32(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1),
                                                 _mm512_set1_epi32(0x7ffe), 0b00010101);
  const __mmask16 is_number = _mm512_cmp_ps_mask(value, value, _CMP_ORD_Q);
  return _mm512_mask_sub_epi32(_mm512_set1_epi32(0x7fc00000), is_number, bits, less);
}
OPLOOM_ALWAYS_INLINE __m256i rounded_to(const BFloat16*, Vec<float> value) {
  const __m512i upper_halves = _mm512_broadcast_i64x4(
      _mm256_set_epi16(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1));
  return _mm512_castsi512_si256(_mm512_permutexvar_epi16(upper_halves, rounded_to_bfloat16(value)));
}
template <typename T>
OPLOOM_ALWAYS_INLINE void store_from_float(T* target, Vec<float> value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), rounded_to(target, value));
}
template <typename T>
OPLOOM_ALWAYS_INLINE void store_from_float(T* target, Vec<float> value, int64_t count) {
  const auto first = static_cast<__mmask16>((1u << count) - 1);
  _mm256_mask_storeu_epi16(target, first, rounded_to(target, value));
}
// Those of Note [Pairs of vectors].
OPLOOM_ALWAYS_INLINE Vec<float> even_numbers(const BFloat16* source) {
  return Vec<float>(_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(source), 16)));
}
OPLOOM_ALWAYS_INLINE Vec<float> odd_numbers(const BFloat16* source) {
  const __m512i upper_halves = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  return Vec<float>(
      _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(source), upper_halves)));
}
OPLOOM_ALWAYS_INLINE void store_numbers(BFloat16* target, Vec<float> even, Vec<float> odd) {
  const __m512i lower = _mm512_srli_epi32(rounded_to_bfloat16(even), 16);
  const __m512i upper_halves = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  // lower | (odd & upper_halves)
  _mm512_storeu_si512(
      target, _mm512_ternarylogic_epi32(lower, rounded_to_bfloat16(odd), upper_halves, 0b11111000));
}

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY
