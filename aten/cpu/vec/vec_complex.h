// Vec<c10::complex<T>> as two registers, the real parts and the imaginary ones. Its functions are
// in math_complex.h.
#pragma once

#include <aten/cpu/vec/vec_base.h>
#if defined(CPU_CAPABILITY_AVX512)
#include <aten/cpu/vec/vec_avx512.h>
#elif defined(CPU_CAPABILITY_AVX2)
#include <aten/cpu/vec/vec_avx2.h>
#endif

#include <bit>
#include <utility>

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// Every other lane of two Vecs that lie side by side, from the first on and from the second on.
template <typename T>
OPLOOM_ALWAYS_INLINE std::pair<Vec<T>, Vec<T>> separated(Vec<T> first, Vec<T> second) {
  using V = Vec<T>;
  typedef T Raw __attribute__((vector_size(sizeof(V))));
  const auto a = std::bit_cast<Raw>(first), b = std::bit_cast<Raw>(second);
  return [&]<size_t... i>(std::index_sequence<i...>) OPLOOM_ALWAYS_INLINE_LAMBDA {
    return std::pair(std::bit_cast<V>(Raw(__builtin_shufflevector(a, b, (2 * i)...))),
                     std::bit_cast<V>(Raw(__builtin_shufflevector(a, b, (2 * i + 1)...))));
  }
  (std::make_index_sequence<V::size()>());
}
// The other way round.
template <typename T>
OPLOOM_ALWAYS_INLINE std::pair<Vec<T>, Vec<T>> alternating(Vec<T> even, Vec<T> odd) {
  using V = Vec<T>;
  constexpr size_t kSize = V::size();
  typedef T Raw __attribute__((vector_size(sizeof(V))));
  const auto a = std::bit_cast<Raw>(even), b = std::bit_cast<Raw>(odd);
  return [&]<size_t... i>(std::index_sequence<i...>) OPLOOM_ALWAYS_INLINE_LAMBDA {
    return std::pair(
        std::bit_cast<V>(Raw(__builtin_shufflevector(a, b, (i % 2 * kSize + i / 2)...))),
        std::bit_cast<V>(Raw(__builtin_shufflevector(a, b, (i % 2 * kSize + (i + kSize) / 2)...))));
  }
  (std::make_index_sequence<kSize>());
}

// Sums, products and quotients are those of c10::complex, rounded as often.
template <typename T>
class Vec<c10::complex<T>> {
 public:
  using value_type = c10::complex<T>;
  using Part = Vec<T>;
  using Mask = typename Part::Mask;
  static constexpr int size() { return Part::size(); }
  static constexpr bool kInRegister = false;  // in two

  Vec() = default;
  OPLOOM_ALWAYS_INLINE Vec(value_type value) : real_(value.real()), imag_(value.imag()) {}
  OPLOOM_ALWAYS_INLINE Vec(Part real, Part imag) : real_(real), imag_(imag) {}
  OPLOOM_ALWAYS_INLINE Part real() const { return real_; }
  OPLOOM_ALWAYS_INLINE Part imag() const { return imag_; }

  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source) {
    const T* parts = static_cast<const T*>(source);
    return of_neighbours(Part::loadu(parts), Part::loadu(parts + size()));
  }
  // The first `count` numbers; the others are 0.
  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source, int64_t count) {
    const T* parts = static_cast<const T*>(source);
    const int64_t first = 2 * count < size() ? 2 * count : size();
    return of_neighbours(Part::loadu(parts, first), Part::loadu(parts + first, 2 * count - first));
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target) const {
    T* parts = static_cast<T*>(target);
    const auto [first, second] = alternating(real_, imag_);
    first.storeu(parts);
    second.storeu(parts + size());
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target, int64_t count) const {
    T* parts = static_cast<T*>(target);
    const auto [first, second] = alternating(real_, imag_);
    const int64_t of_first = 2 * count < size() ? 2 * count : size();
    first.storeu(parts, of_first);
    second.storeu(parts + of_first, 2 * count - of_first);
  }
  OPLOOM_ALWAYS_INLINE friend Vec operator+(const Vec& a, const Vec& b) {
    return {a.real_ + b.real_, a.imag_ + b.imag_};
  }
  OPLOOM_ALWAYS_INLINE friend Vec operator-(const Vec& a, const Vec& b) {
    return {a.real_ - b.real_, a.imag_ - b.imag_};
  }
  OPLOOM_ALWAYS_INLINE friend Vec operator*(const Vec& a, const Vec& b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  // Scaled by the larger part of the divisor. Where that is the imaginary one, the parts change
  // places, and the difference its sign.
  OPLOOM_ALWAYS_INLINE friend Vec operator/(const Vec& a, const Vec& b) {
    const Part width = b.real_.abs(), height = b.imag_.abs(), zero(T(0));
    const auto wide = width >= height;
    const Part larger = blendv(b.imag_, b.real_, wide), smaller = blendv(b.real_, b.imag_, wide);
    const Part first = blendv(a.imag_, a.real_, wide), second = blendv(a.real_, a.imag_, wide);
    const Part ratio = smaller / larger, scale = Part(T(1)) / (larger + smaller * ratio);
    const Part sign = blendv(Part(T(-0.0)), zero, wide);
    const Part real = (first + second * ratio) * scale;
    const Part imag = ((second ^ sign) - ((first * ratio) ^ sign)) * scale;
    // By 0, the parts' own infinities and NaNs.
    const auto none = (width == zero) & (height == zero);
    if (all(!none)) [[likely]]
      return {real, imag};
    return {blendv(real, a.real_ / b.real_, none), blendv(imag, a.imag_ / b.real_, none)};
  }
  OPLOOM_ALWAYS_INLINE friend Vec fmadd(const Vec& a, const Vec& b, const Vec& c) {
    return a * b + c;
  }
  OPLOOM_ALWAYS_INLINE Vec neg() const { return {real_.neg(), imag_.neg()}; }
  OPLOOM_ALWAYS_INLINE Vec conj() const { return {real_, imag_.neg()}; }
  OPLOOM_ALWAYS_INLINE Vec reciprocal() const { return Vec(T(1)) / *this; }

  OPLOOM_ALWAYS_INLINE friend Mask operator==(const Vec& a, const Vec& b) {
    return (a.real_ == b.real_) & (a.imag_ == b.imag_);
  }
  OPLOOM_ALWAYS_INLINE friend Mask operator!=(const Vec& a, const Vec& b) { return !(a == b); }
  OPLOOM_ALWAYS_INLINE Mask isnan() const { return real_.isnan() | imag_.isnan(); }
  OPLOOM_ALWAYS_INLINE friend Vec blendv(const Vec& a, const Vec& b, Mask mask) {
    return {blendv(a.real_, b.real_, mask), blendv(a.imag_, b.imag_, mask)};
  }

  // Defined in math_complex.h.
  Vec cos() const;
  Vec exp() const;
  Vec expm1() const;
  Vec log() const;
  Vec log10() const;
  Vec log1p() const;
  Vec log2() const;
  Vec rsqrt() const;
  Vec sin() const;
  Vec sqrt() const;
  Vec tan() const;
  Vec tanh() const;

 private:
  OPLOOM_ALWAYS_INLINE static Vec of_neighbours(Part first, Part second) {
    const auto [real, imag] = separated(first, second);
    return {real, imag};
  }

  Part real_, imag_;
};

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY

#endif
