// Division by a number that is known beforehand, as a multiplication and a shift.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/HostDevice.h>

#include <cstdint>

namespace at::inline oploom_v1::cuda {

// n / divisor and n % divisor for n and divisor below 2^31.
//
// H. S. Warren, "Hacker's Delight", 10-9: with 2^shift >= divisor, the quotient is the upper half
// of n * (2^32 + multiplier), shifted right, where 2^32 + multiplier is 2^(32 + shift) / divisor
// rounded up.
class IntegerDivider {
 public:
  struct Result {
    uint32_t quotient;
    uint32_t remainder;
  };

  IntegerDivider() = default;
  explicit IntegerDivider(uint32_t divisor) : divisor_(divisor), shift_(0) {
    while ((uint64_t{1} << shift_) < divisor) ++shift_;
    const uint64_t above = (uint64_t{1} << shift_) - divisor;
    multiplier_ = static_cast<uint32_t>((above << 32) / divisor + 1);
  }

  OPLOOM_HOST_DEVICE Result divide(uint32_t n) const {
#if defined(__CUDA_ARCH__)
    const uint32_t high = __umulhi(n, multiplier_);
#else
    const auto high = static_cast<uint32_t>((uint64_t{n} * multiplier_) >> 32);
#endif
    const uint32_t quotient = (high + n) >> shift_;
    return {quotient, n - quotient * divisor_};
  }

 private:
  uint32_t divisor_ = 1;
  uint32_t multiplier_ = 1;
  uint32_t shift_ = 0;
};

}  // namespace at::inline oploom_v1::cuda
