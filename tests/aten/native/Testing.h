// What the tests of the operators share: values of tensors as vectors, messages of errors.
#pragma once

#include <aten/Base.h>
#include <generated/ops/arange.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/detach.h>
#include <generated/ops/to.h>
#include <generated/ops/view.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace testing_native {

// All elements in row-major order, converted.
template <typename T>
std::vector<T> values(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.detach().to(c10::scalar_type_of_v<T>).contiguous();
  const T* data = dense.numel() > 0 ? dense.const_data_ptr<T>() : nullptr;
  return std::vector<T>(data, data + dense.numel());
}
inline std::vector<int64_t> ints(const at::Tensor& tensor) { return values<int64_t>(tensor); }
inline std::vector<double> doubles(const at::Tensor& tensor) { return values<double>(tensor); }

using Ints = std::vector<int64_t>;
using Doubles = std::vector<double>;

inline Ints sizes(const at::Tensor& tensor) { return tensor.sizes().vec(); }
inline Ints strides(const at::Tensor& tensor) { return tensor.strides().vec(); }

// at::tensor() of float64 numbers.
inline at::Tensor f64(std::initializer_list<at::TensorDataContainer> numbers) {
  return at::tensor(numbers, at::kDouble);
}

// 0, 1, 2, ... in the given shape.
inline at::Tensor counted(at::IntArrayRef shape, at::ScalarType dtype = at::kLong) {
  int64_t numel = 1;
  for (int64_t size : shape) numel *= size;
  return at::arange(numel, at::TensorOptions().dtype(dtype)).view(shape);
}

// The message of the error of class E that a call throws.
template <class E, class F>
std::string message_of(F&& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error was thrown: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline const std::vector<at::ScalarType>& all_dtypes() {
  static const std::vector<at::ScalarType> dtypes = {
      at::kBool, at::kByte,     at::kChar,  at::kShort,  at::kInt,          at::kLong,
      at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble};
  return dtypes;
}

}  // namespace testing_native
