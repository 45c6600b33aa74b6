// Vec<T> of integers, by the compiler's vector types: it knows the instructions for them.
#pragma once

#include <aten/cpu/vec/vec_base.h>

#include <bit>

#include <immintrin.h>

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// The first `count` numbers of 8 or 16 bits of a Vec; what is not loaded is 0.
#if defined(CPU_CAPABILITY_AVX512)
// Shifted twice: by 64 the processor does not shift.
OPLOOM_ALWAYS_INLINE __mmask64 first_of(int64_t count) {
  return ~(~uint64_t{0} << count / 2 << (count - count / 2));
}
template <typename V>
OPLOOM_ALWAYS_INLINE V load_narrow(const void* source, int64_t count) {
  if constexpr (sizeof(typename V::value_type) == 1) {
    return std::bit_cast<V>(_mm512_maskz_loadu_epi8(first_of(count), source));
  } else {
    const auto first = static_cast<__mmask32>(first_of(count));
    return std::bit_cast<V>(_mm512_maskz_loadu_epi16(first, source));
  }
}
template <typename V>
OPLOOM_ALWAYS_INLINE void store_narrow(void* target, const V& value, int64_t count) {
  if constexpr (sizeof(typename V::value_type) == 1) {
    _mm512_mask_storeu_epi8(target, first_of(count), std::bit_cast<__m512i>(value));
  } else {
    const auto first = static_cast<__mmask32>(first_of(count));
    _mm512_mask_storeu_epi16(target, first, std::bit_cast<__m512i>(value));
  }
}
#else
template <typename V>
V load_narrow(const void* source, int64_t count) {
  using T = typename V::value_type;
  alignas(kVecBytes) T buffer[V::size()] = {};
  std::memcpy(buffer, source, static_cast<size_t>(count) * sizeof(T));
  return V::loadu(buffer);
}
template <typename V>
void store_narrow(void* target, const V& value, int64_t count) {
  std::memcpy(target, &value, static_cast<size_t>(count) * sizeof(typename V::value_type));
}
#endif

template <typename T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) class Vec<T> {
 public:
  using value_type = T;
  static constexpr int size() { return kVecBytes / static_cast<int>(sizeof(T)); }
  static constexpr bool kInRegister = true;
#if defined(CPU_CAPABILITY_AVX512)
  static constexpr bool kShiftsEach = sizeof(T) >= 2;
#else
  static constexpr bool kShiftsEach = sizeof(T) >= 4;
#endif

 private:
  // Arithmetic is done unsigned, so that it wraps around; comparisons in T.
  using U = std::make_unsigned_t<T>;
  typedef U Lanes __attribute__((vector_size(kVecBytes)));
  typedef T Signed __attribute__((vector_size(kVecBytes)));
  // The processor moves parts of a register whatever is in them, but only of such size.
  using Float = std::conditional_t<sizeof(T) == 4, float, double>;

 public:
  struct Mask {
    Lanes bits;

    OPLOOM_ALWAYS_INLINE friend Mask operator&(Mask a, Mask b) { return Mask{a.bits & b.bits}; }
    OPLOOM_ALWAYS_INLINE friend Mask operator|(Mask a, Mask b) { return Mask{a.bits | b.bits}; }
    OPLOOM_ALWAYS_INLINE friend Mask operator!(Mask a) { return Mask{~a.bits}; }
    // Bit i: whether element i is true.
    OPLOOM_ALWAYS_INLINE friend uint32_t bits_of(Mask a) requires(sizeof(T) >= 4) {
      return bits_of(std::bit_cast<Vec<Float>>(a.bits).signs());
    }
    OPLOOM_ALWAYS_INLINE friend bool all(Mask a) {
#if defined(CPU_CAPABILITY_AVX512)
      return _mm512_movepi8_mask(std::bit_cast<__m512i>(a.bits)) == ~uint64_t{0};
#else
      return _mm256_movemask_epi8(std::bit_cast<__m256i>(a.bits)) == -1;
#endif
    }
  };

  Vec() = default;
  OPLOOM_ALWAYS_INLINE Vec(T value) : lanes_(Lanes{} + static_cast<U>(value)) {}

  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source) {
    Vec result;
    std::memcpy(&result.lanes_, source, kVecBytes);
    return result;
  }
  static Vec loadu(const void* source, int64_t count) {
    if constexpr (sizeof(T) >= 4) {
      return std::bit_cast<Vec>(Vec<Float>::loadu(source, count));
    } else {
      return load_narrow<Vec>(source, count);
    }
  }
  // Of shorter integers. The compiler would convert bytes one at a time.
  template <typename In>
  requires(std::is_same_v<T, int64_t> &&
           (std::is_same_v<In, uint8_t> || std::is_same_v<In, int32_t>)) OPLOOM_ALWAYS_INLINE
      static Vec widened(const In* source) {
    constexpr bool kBytes = std::is_same_v<In, uint8_t>;
#if defined(CPU_CAPABILITY_AVX512)
    if constexpr (kBytes) {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(source));
      return std::bit_cast<Vec>(_mm512_cvtepu8_epi64(bytes));
    } else {
      const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source));
      return std::bit_cast<Vec>(_mm512_cvtepi32_epi64(words));
    }
#else
    if constexpr (kBytes) {
      int32_t bytes;
      std::memcpy(&bytes, source, sizeof(bytes));
      return std::bit_cast<Vec>(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes)));
    } else {
      const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source));
      return std::bit_cast<Vec>(_mm256_cvtepi32_epi64(words));
    }
#endif
  }
  // The first 0 < count < size() of them, and zeros.
  template <typename In>
  OPLOOM_ALWAYS_INLINE static Vec widened(const In* source, int64_t count) {
    constexpr bool kBytes = sizeof(In) == 1;
#if defined(CPU_CAPABILITY_AVX512)
    const auto first = static_cast<__mmask8>((1 << count) - 1);
    if constexpr (kBytes) {
      return std::bit_cast<Vec>(_mm512_cvtepu8_epi64(_mm_maskz_loadu_epi8(first, source)));
    } else {
      return std::bit_cast<Vec>(_mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(first, source)));
    }
#else
    if constexpr (kBytes) {
      const int64_t middle = count / 2, last = count - 1;
      const int32_t bytes = source[0] | source[middle] << 8 * middle | source[last] << 8 * last;
      return std::bit_cast<Vec>(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes)));
    } else {
      const __m128i first =
          _mm_cmpgt_epi32(_mm_set1_epi32(static_cast<int>(count)), _mm_setr_epi32(0, 1, 2, 3));
      return std::bit_cast<Vec>(_mm256_cvtepi32_epi64(_mm_maskload_epi32(source, first)));
    }
#endif
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target) const { std::memcpy(target, &lanes_, kVecBytes); }
  void storeu(void* target, int64_t count) const {
    if constexpr (sizeof(T) >= 4) {
      std::bit_cast<Vec<Float>>(*this).storeu(target, count);
    } else {
      store_narrow(target, *this, count);
    }
  }
  T operator[](int i) const { return static_cast<T>(lanes_[i]); }

  template <typename F>
  Vec map(F f) const {
    alignas(kVecBytes) T buffer[size()];
    storeu(buffer);
    for (int i = 0; i < size(); ++i) buffer[i] = f(buffer[i]);
    return loadu(buffer);
  }

  OPLOOM_ALWAYS_INLINE friend Vec operator+(Vec a, Vec b) { return Vec(a.lanes_ + b.lanes_, 0); }
  OPLOOM_ALWAYS_INLINE friend Vec operator-(Vec a, Vec b) { return Vec(a.lanes_ - b.lanes_, 0); }
  OPLOOM_ALWAYS_INLINE friend Vec operator*(Vec a, Vec b) {
    if constexpr (sizeof(T) == 1) {
      // The processor multiplies words: once for the lower bytes, once for the upper ones.
      typedef uint16_t Words __attribute__((vector_size(kVecBytes)));
      const Words x = (Words)a.lanes_, y = (Words)b.lanes_;
      return Vec((Lanes)(((x * y) & 0xff) | ((x >> 8) * (y & 0xff00))), 0);
    } else {
      return Vec(a.lanes_ * b.lanes_, 0);
    }
  }
  OPLOOM_ALWAYS_INLINE friend Vec operator&(Vec a, Vec b) { return Vec(a.lanes_ & b.lanes_, 0); }
  OPLOOM_ALWAYS_INLINE friend Vec operator|(Vec a, Vec b) { return Vec(a.lanes_ | b.lanes_, 0); }
  OPLOOM_ALWAYS_INLINE friend Vec operator^(Vec a, Vec b) { return Vec(a.lanes_ ^ b.lanes_, 0); }
  OPLOOM_ALWAYS_INLINE Vec operator~() const { return Vec(~lanes_, 0); }
  // By the same number of bits everywhere; >> repeats the sign bit, as in C++.
  OPLOOM_ALWAYS_INLINE friend Vec operator<<(Vec a, int bits) { return Vec(a.lanes_ << bits, 0); }
  OPLOOM_ALWAYS_INLINE friend Vec operator>>(Vec a, int bits) {
    return Vec((Lanes)((Signed)a.lanes_ >> bits), 0);
  }
  // Each by a number of its own, which must be 0 or more and less than T has bits. Quick where the
  // processor has an instruction for it: kShiftsEach.
  OPLOOM_ALWAYS_INLINE friend Vec operator<<(Vec a, Vec bits) {
    return Vec(a.lanes_ << bits.lanes_, 0);
  }
  OPLOOM_ALWAYS_INLINE friend Vec operator>>(Vec a, Vec bits) {
    return Vec((Lanes)((Signed)a.lanes_ >> (Signed)bits.lanes_), 0);
  }
  OPLOOM_ALWAYS_INLINE Vec neg() const { return Vec(-lanes_, 0); }
  OPLOOM_ALWAYS_INLINE friend Vec fmadd(Vec a, Vec b, Vec c) { return a * b + c; }

#define OPLOOM_COMPARE(op)                                      \
  OPLOOM_ALWAYS_INLINE friend Mask operator op(Vec a, Vec b) {  \
    return Mask{(Lanes)((Signed)a.lanes_ op(Signed) b.lanes_)}; \
  }
  OPLOOM_COMPARE(==)
  OPLOOM_COMPARE(!=)
  OPLOOM_COMPARE(<)
  OPLOOM_COMPARE(<=)
  OPLOOM_COMPARE(>)
  OPLOOM_COMPARE(>=)
#undef OPLOOM_COMPARE
  Mask isnan() const { return Mask{Lanes{}}; }
  OPLOOM_ALWAYS_INLINE friend Vec blendv(Vec a, Vec b, Mask mask) {
    return Vec((a.lanes_ & ~mask.bits) | (b.lanes_ & mask.bits), 0);
  }
  OPLOOM_ALWAYS_INLINE friend void store_truths(Mask mask, bool* target) {
    if constexpr (sizeof(T) >= 4) {
      store_truths(std::bit_cast<Vec<Float>>(mask.bits).signs(), target);
    } else {
      typedef uint8_t Bytes __attribute__((vector_size(size())));
      const Bytes truths = __builtin_convertvector(mask.bits, Bytes) & 1;
      std::memcpy(target, &truths, sizeof(truths));
    }
  }
  OPLOOM_ALWAYS_INLINE friend Vec maximum(Vec a, Vec b) {
    const Signed x = (Signed)a.lanes_, y = (Signed)b.lanes_;
    return Vec((Lanes)(x > y ? x : y), 0);
  }
  OPLOOM_ALWAYS_INLINE friend Vec minimum(Vec a, Vec b) {
    const Signed x = (Signed)a.lanes_, y = (Signed)b.lanes_;
    return Vec((Lanes)(x < y ? x : y), 0);
  }
  OPLOOM_ALWAYS_INLINE Vec abs() const {
    if constexpr (std::is_signed_v<T>) {
      return blendv(*this, neg(), *this < Vec(T(0)));
    } else {
      return *this;
    }
  }

  OPLOOM_ALWAYS_INLINE Vec<float> to_float() const requires std::is_same_v<T, int32_t> {
    typedef float Floats __attribute__((vector_size(kVecBytes)));
    return std::bit_cast<Vec<float>>(__builtin_convertvector((Signed)lanes_, Floats));
  }

  T reduce_add() const {
    U sum = 0;
    for (int i = 0; i < size(); ++i) sum = static_cast<U>(sum + lanes_[i]);
    return static_cast<T>(sum);
  }

 private:
  // The second argument tells this constructor from the one that takes a number.
  OPLOOM_ALWAYS_INLINE Vec(Lanes lanes, int) : lanes_(lanes) {}

  Lanes lanes_;
};

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY
