// tensor: a tensor from numbers in a C++ program.
#include <aten/api/tensor.h>
#include <aten/core/Empty.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/LocalDispatchKeySet.h>
#include <c10/util/DimVector.h>
#include <generated/ops/to.h>

#include <cstring>

namespace at::inline oploom_v1 {

// Reads nested lists: their shape, which all lists of one depth must share, and their numbers.
struct TensorDataReader {
  DimVector shape;
  std::vector<Scalar> numbers;
  bool any_floating = false;
  bool any_complex = false;
  bool all_bool = true;

  // The shape is that of the first elements.
  void read_shape(const TensorDataContainer& data) {
    const TensorDataContainer* at = &data;
    while (!at->is_number_) {
      shape.push_back(static_cast<int64_t>(at->list_.size()));
      if (at->list_.empty()) break;
      at = &at->list_.front();
    }
  }

  void read(const TensorDataContainer& data, size_t depth) {
    if (data.is_number_) {
      OPLOOM_CHECK_VALUE(depth == shape.size(),
                         "tensor(): expected lists of one depth, got a number ", data.number_,
                         " among lists");
      any_floating |= data.number_.isFloatingPoint();
      any_complex |= data.number_.isComplex();
      all_bool &= data.number_.isBoolean();
      numbers.push_back(data.number_);
      return;
    }
    const int64_t length = static_cast<int64_t>(data.list_.size());
    OPLOOM_CHECK_VALUE(depth < shape.size() && length == shape[depth],
                       "tensor(): expected lists of the same length at each depth, got a list of ",
                       length, " in a tensor of shape ", shape);
    for (const TensorDataContainer& entry : data.list_) read(entry, depth + 1);
  }

  ScalarType dtype() const {
    if (numbers.empty()) return c10::get_default_dtype();
    if (any_complex) return c10::get_default_complex_dtype();
    if (any_floating) return c10::get_default_dtype();
    return all_bool ? kBool : kLong;
  }
};

namespace {

Tensor finish(Tensor result, const TensorOptions& options) {
  if (options.has_device() && options.device() != result.device()) {
    c10::AutoDispatchBelowAutograd guard;
    result = result.to(options.device());
  }
  return detail::with_requires_grad(std::move(result), options);
}

}  // namespace

Tensor tensor(const TensorDataContainer& data, const TensorOptions& options) {
  TensorDataReader reader;
  reader.read_shape(data);
  reader.read(data, 0);
  const ScalarType dtype = options.has_dtype() ? options.dtype() : reader.dtype();
  Tensor result(at::detail::empty(reader.shape, TensorOptions().dtype(dtype)));
  auto* to = static_cast<char*>(result.mutable_data_ptr());
  for (const Scalar& number : reader.numbers) {
    number.store(dtype, to);
    to += result.itemsize();
  }
  return finish(std::move(result), options);
}

namespace detail {

Tensor tensor_from_elements(const void* data, int64_t count, ScalarType dtype,
                            const TensorOptions& options) {
  Tensor result(at::detail::empty({count}, TensorOptions().dtype(dtype)));
  if (count > 0) std::memcpy(result.mutable_data_ptr(), data, result.nbytes());
  c10::AutoDispatchBelowAutograd guard;
  return finish(result.to(options.has_dtype() ? options.dtype() : dtype), options);
}

}  // namespace detail

}  // namespace at::inline oploom_v1
