// tensor: a tensor from numbers in a C++ program.
#pragma once

#include <c10/core/Scalar.h>
#include <generated/ops/Tensor.h>

#include <initializer_list>
#include <type_traits>
#include <vector>

namespace at::inline oploom_v1 {

// What at::tensor() takes in braces: a number, or a list of such, all of one shape. The dtype is
// that of the numbers: bool, int64 for integers, the default dtype for floating ones.
//   at::tensor({{1, 2}, {3, 4}})
class OPLOOM_API TensorDataContainer {
 public:
  template <typename T, typename = std::enable_if_t<
                            std::is_arithmetic_v<T> || std::is_same_v<T, c10::complex<float>> ||
                            std::is_same_v<T, c10::complex<double>> ||
                            std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>>>
  TensorDataContainer(T number) : number_(number), is_number_(true) {}
  TensorDataContainer(std::initializer_list<TensorDataContainer> list) : list_(list) {}

 private:
  friend OPLOOM_API Tensor tensor(const TensorDataContainer& data, const TensorOptions& options);
  friend struct TensorDataReader;

  Scalar number_;
  bool is_number_ = false;
  std::vector<TensorDataContainer> list_;
};

// A tensor with a copy of the data, on the device and with the dtype of the options where they say
// so.
OPLOOM_API Tensor tensor(const TensorDataContainer& data, const TensorOptions& options = {});
inline Tensor tensor(std::initializer_list<TensorDataContainer> data,
                     const TensorOptions& options = {}) {
  return tensor(TensorDataContainer(data), options);
}

namespace detail {
// A 1-d tensor with a copy of `count` elements of a dtype, converted to that of the options if they
// have one.
OPLOOM_API Tensor tensor_from_elements(const void* data, int64_t count, ScalarType dtype,
                                       const TensorOptions& options);
}  // namespace detail

// A 1-d tensor with a copy of an array, of the dtype of its elements unless the options have one.
template <typename T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  return detail::tensor_from_elements(values.data(), static_cast<int64_t>(values.size()),
                                      c10::scalar_type_of_v<T>, options);
}
template <typename T, typename = std::enable_if_t<!std::is_same_v<T, bool>>>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values), options);
}
// The elements of vector<bool> are bits, which cannot be copied as they are.
inline Tensor tensor(const std::vector<bool>& values, const TensorOptions& options = {}) {
  const std::vector<uint8_t> bytes(values.begin(), values.end());
  return detail::tensor_from_elements(bytes.data(), static_cast<int64_t>(bytes.size()), kBool,
                                      options);
}

}  // namespace at::inline oploom_v1
