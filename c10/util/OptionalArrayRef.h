// OptionalArrayRef<T>: an ArrayRef or nothing, constructible from whatever an ArrayRef is.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace c10::inline oploom_v1 {

template <typename T>
class OptionalArrayRef final {
 public:
  constexpr OptionalArrayRef() noexcept = default;
  constexpr OptionalArrayRef(std::nullopt_t) noexcept {}
  constexpr OptionalArrayRef(ArrayRef<T> list) noexcept : list_(list) {}
  constexpr OptionalArrayRef(const std::optional<ArrayRef<T>>& list) noexcept : list_(list) {}
  constexpr OptionalArrayRef(const T& element) noexcept : list_(ArrayRef<T>(element)) {}
  OptionalArrayRef(const std::vector<T>& vec) noexcept : list_(ArrayRef<T>(vec)) {}
  OptionalArrayRef(const std::optional<std::vector<T>>& vec) noexcept {
    if (vec.has_value()) list_ = ArrayRef<T>(*vec);
  }
  template <unsigned N>
  OptionalArrayRef(const SmallVector<T, N>& vec) noexcept : list_(ArrayRef<T>(vec)) {}
  template <std::size_t N>
  constexpr OptionalArrayRef(const std::array<T, N>& array) noexcept : list_(ArrayRef<T>(array)) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& list) noexcept
      : list_(ArrayRef<T>(list)) {}

  constexpr bool has_value() const noexcept { return list_.has_value(); }
  constexpr explicit operator bool() const noexcept { return list_.has_value(); }
  constexpr const ArrayRef<T>& value() const { return list_.value(); }
  constexpr ArrayRef<T> value_or(ArrayRef<T> other) const { return list_.value_or(other); }
  constexpr const ArrayRef<T>& operator*() const noexcept { return *list_; }
  constexpr const ArrayRef<T>* operator->() const noexcept { return &*list_; }
  constexpr operator std::optional<ArrayRef<T>>() const noexcept { return list_; }
  void reset() noexcept { list_.reset(); }

 private:
  std::optional<ArrayRef<T>> list_;
};

template <typename T>
bool operator==(const OptionalArrayRef<T>& a, const OptionalArrayRef<T>& b) {
  return a.has_value() == b.has_value() && (!a.has_value() || a->equals(*b));
}

using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

}  // namespace c10::inline oploom_v1
