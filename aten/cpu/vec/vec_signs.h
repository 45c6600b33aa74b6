// Vec<Signed16>: 16-bit floats of either kind, of which nothing but the sign is looked at or
// changed.
#pragma once

#include <aten/cpu/vec/vec.h>

namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY {

// The bits of a number.
struct Signed16 {
  uint16_t bits;
};

template <>
class Vec<Signed16> {
  using Bits = Vec<uint16_t>;
  static constexpr uint16_t kSign = 0x8000;

 public:
  using value_type = Signed16;
  static constexpr int size() { return Bits::size(); }
  static constexpr bool kInRegister = Bits::kInRegister;
  struct Mask {};  // there are no comparisons

  Vec() = default;
  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source) { return Bits::loadu(source); }
  OPLOOM_ALWAYS_INLINE static Vec loadu(const void* source, int64_t count) {
    return Bits::loadu(source, count);
  }
  OPLOOM_ALWAYS_INLINE void storeu(void* target) const { bits_.storeu(target); }
  OPLOOM_ALWAYS_INLINE void storeu(void* target, int64_t count) const {
    bits_.storeu(target, count);
  }

  OPLOOM_ALWAYS_INLINE Vec neg() const { return bits_ ^ Bits(kSign); }
  OPLOOM_ALWAYS_INLINE Vec abs() const { return bits_ & ~Bits(kSign); }
  OPLOOM_ALWAYS_INLINE friend Vec copysign(const Vec& x, const Vec& y) {
    return x.abs().bits_ | (y.bits_ & Bits(kSign));
  }

 private:
  OPLOOM_ALWAYS_INLINE Vec(const Bits& bits) : bits_(bits) {}

  Bits bits_;
};

}  // namespace at::inline oploom_v1::vec::inline CPU_CAPABILITY
