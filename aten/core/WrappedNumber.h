// WrappedNumber: a number as a tensor for the time of a call.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/core/Scalar.h>

#include <concepts>

namespace at::inline oploom_v1::detail {

// A 0-dim tensor on the CPU that holds a number and takes part in promotion as a number does: by
// its category alone. See Note [Numbers as tensors] in Empty.cpp.
class OPLOOM_API WrappedNumber {
 public:
  explicit WrappedNumber(const Scalar& value);
  ~WrappedNumber();
  WrappedNumber(const WrappedNumber&) = delete;
  WrappedNumber& operator=(const WrappedNumber&) = delete;

  // For a parameter that is a Tensor, which this header does not know; see Note [Tensor and
  // TensorBase].
  template <std::derived_from<TensorBase> T>
  operator const T&() const {
    return static_cast<const T&>(tensor_);
  }

 private:
  TensorBase tensor_;
};

}  // namespace at::inline oploom_v1::detail
