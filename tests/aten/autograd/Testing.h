// Small tools that the tests of automatic differentiation share.
#pragma once

#include <aten/Base.h>
#include <aten/autograd/Engine.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/detach.h>
#include <generated/ops/empty.h>
#include <generated/ops/to.h>
#include <tests/c10/throws.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace oploom::testing {

inline at::Tensor vector_of(const std::vector<double>& values) {
  at::Tensor result = at::empty({static_cast<int64_t>(values.size())}, at::kDouble);
  std::copy(values.begin(), values.end(), result.mutable_data_ptr<double>());
  return result;
}

// A leaf that requires grad.
inline at::Tensor leaf(const std::vector<double>& values) {
  return vector_of(values).requires_grad_();
}

inline std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor copy = tensor.detach().to(at::kDouble).contiguous();
  const double* data = copy.const_data_ptr<double>();
  return std::vector<double>(data, data + copy.numel());
}

// Tells whether a tensor still lives, without keeping it alive.
class Witness {
 public:
  explicit Witness(const at::Tensor& tensor) : impl_(tensor.getIntrusivePtr()) {}
  bool alive() const { return !impl_.expired(); }

 private:
  c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> impl_;
};

using Values = std::vector<double>;

}  // namespace oploom::testing
