// ArrayRef<T>: a view of a contiguous sequence that somebody else owns. Pass it by value; do not
// keep it longer than the call unless the owner is known to live on.
#pragma once

#include <c10/util/Exception.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <type_traits>
#include <vector>

namespace c10::inline oploom_v1 {

template <typename T, unsigned N>
class SmallVector;

template <typename T>
class ArrayRef final {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using iterator = const T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& element) : data_(&element), size_(1) {}
  constexpr ArrayRef(const T* data, std::size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end)
      : data_(begin), size_(static_cast<std::size_t>(end - begin)) {}
  template <unsigned N>
  ArrayRef(const SmallVector<T, N>& vec) : data_(vec.data()), size_(vec.size()) {}
  template <typename A>
  ArrayRef(const std::vector<T, A>& vec) : data_(vec.data()), size_(vec.size()) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements to refer to");
  }
  template <std::size_t N>
  constexpr ArrayRef(const std::array<T, N>& array) : data_(array.data()), size_(N) {}
  template <std::size_t N>
  constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}
  // The list lives until the end of the full expression, which is a call in all proper uses.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : data_(list.size() == 0 ? nullptr : list.begin()), size_(list.size()) {}
#pragma GCC diagnostic pop

  constexpr iterator begin() const { return data_; }
  constexpr iterator end() const { return data_ + size_; }
  constexpr iterator cbegin() const { return data_; }
  constexpr iterator cend() const { return data_ + size_; }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }

  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }

  constexpr const T& operator[](std::size_t index) const { return data_[index]; }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  const T& at(std::size_t index) const {
    OPLOOM_CHECK_INDEX(index < size_, "ArrayRef: index ", index, " is out of range for ", size_,
                       " elements");
    return data_[index];
  }

  constexpr bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i) {
      if (!(data_[i] == other.data_[i])) return false;
    }
    return true;
  }

  ArrayRef slice(std::size_t start, std::size_t count) const {
    OPLOOM_CHECK_INDEX(start <= size_ && count <= size_ - start, "ArrayRef: slice [", start, ", +",
                       count, ") is out of range for ", size_, " elements");
    return ArrayRef(data_ + start, count);
  }
  ArrayRef slice(std::size_t start) const {
    return slice(start, start <= size_ ? size_ - start : 0);
  }

  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

  // A view of a temporary vector would dangle at once.
  template <typename U>
  std::enable_if_t<std::is_same_v<U, T>, ArrayRef>& operator=(U&& temporary) = delete;
  template <typename U>
  std::enable_if_t<std::is_same_v<U, T>, ArrayRef>& operator=(std::initializer_list<U>) = delete;

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <typename T>
ArrayRef<T> makeArrayRef(const std::vector<T>& vec) {
  return vec;
}
template <typename T>
ArrayRef<T> makeArrayRef(const T* data, std::size_t size) {
  return ArrayRef<T>(data, size);
}

template <typename T>
constexpr bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <typename T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <typename T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}

// Prints `[2, 3]`.
template <typename T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  out << '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out << ", ";
    out << list[i];
  }
  return out << ']';
}

using IntArrayRef = ArrayRef<int64_t>;

}  // namespace c10::inline oploom_v1
