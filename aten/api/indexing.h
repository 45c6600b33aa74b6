// Indexing as in Python: tensor.index({Slice(1, None), "...", 0, mask}).
#pragma once

#include <c10/core/Scalar.h>
#include <generated/ops/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1::indexing {

// None inserts a dimension of size 1; as a limit of a Slice it leaves the limit open.
inline constexpr std::nullopt_t None = std::nullopt;

struct EllipsisIndexType final {};
// As many whole dimensions as there are left.
inline constexpr EllipsisIndexType Ellipsis{};

// start:stop:step of a dimension.
class Slice final {
 public:
  Slice(std::optional<int64_t> start = std::nullopt, std::optional<int64_t> stop = std::nullopt,
        std::optional<int64_t> step = std::nullopt)
      : start_(start), stop_(stop), step_(step.value_or(1)) {}

  std::optional<int64_t> start() const { return start_; }
  std::optional<int64_t> stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  std::optional<int64_t> start_;
  std::optional<int64_t> stop_;
  int64_t step_;
};

enum class TensorIndexType { None, Ellipsis, Integer, Boolean, Slice, Tensor };

// One entry of an index.
class OPLOOM_API TensorIndex final {
 public:
  TensorIndex(std::nullopt_t) : type_(TensorIndexType::None) {}
  TensorIndex(EllipsisIndexType) : type_(TensorIndexType::Ellipsis) {}
  // "..." only.
  TensorIndex(const char* text);
  template <typename I,
            std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  TensorIndex(I integer)
      : type_(TensorIndexType::Integer), integer_(static_cast<int64_t>(integer)) {}
  template <typename B, std::enable_if_t<std::is_same_v<B, bool>, int> = 0>
  TensorIndex(B boolean) : type_(TensorIndexType::Boolean), integer_(boolean ? 1 : 0) {}
  TensorIndex(Slice slice) : type_(TensorIndexType::Slice), slice_(slice) {}
  TensorIndex(Tensor tensor) : type_(TensorIndexType::Tensor), tensor_(std::move(tensor)) {}

  TensorIndexType type() const { return type_; }
  bool is_none() const { return type_ == TensorIndexType::None; }
  bool is_ellipsis() const { return type_ == TensorIndexType::Ellipsis; }
  bool is_integer() const { return type_ == TensorIndexType::Integer; }
  bool is_boolean() const { return type_ == TensorIndexType::Boolean; }
  bool is_slice() const { return type_ == TensorIndexType::Slice; }
  bool is_tensor() const { return type_ == TensorIndexType::Tensor; }

  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  TensorIndexType type_;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};

// self[indices]: a view if there are only integers, slices, None and Ellipsis, else a copy.
OPLOOM_API Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices);
// self[indices] = value, with broadcasting and conversion to self's dtype.
OPLOOM_API void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value);
OPLOOM_API void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value);

}  // namespace at::inline oploom_v1::indexing

namespace at::inline oploom_v1 {

inline Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const {
  return indexing::get_item(*this, indices);
}
inline Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return indexing::get_item(*this, ArrayRef<indexing::TensorIndex>(indices));
}
inline Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices,
                                  const Tensor& value) const {
  indexing::set_item(*this, indices, value);
  return const_cast<Tensor&>(*this);
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                  const Tensor& value) const {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), value);
}
inline Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices,
                                  const Scalar& value) const {
  indexing::set_item(*this, indices, value);
  return const_cast<Tensor&>(*this);
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                  const Scalar& value) const {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), value);
}

}  // namespace at::inline oploom_v1
