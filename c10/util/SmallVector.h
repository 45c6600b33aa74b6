// SmallVector<T, N>: a vector that holds up to N elements without touching the heap.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Macros.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

namespace c10::inline oploom_v1 {

template <typename T, unsigned N>
class SmallVector {
  static_assert(N > 0, "use std::vector when nothing is to be held inline");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  SmallVector() noexcept : data_(inline_data()) {}
  explicit SmallVector(std::size_t count) : SmallVector() { resize(count); }
  SmallVector(std::size_t count, const T& value) : SmallVector() { assign(count, value); }
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  SmallVector(It first, It last) : SmallVector() {
    append(first, last);
  }
  SmallVector(std::initializer_list<T> list) : SmallVector() { append(list.begin(), list.end()); }
  explicit SmallVector(ArrayRef<T> list) : SmallVector() { append(list.begin(), list.end()); }
  SmallVector(const SmallVector& other) : SmallVector() { append(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : SmallVector() {
    take(std::move(other));
  }
  ~SmallVector() {
    destroy_from(0);
    release();
  }

  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (this != &other) {
      clear();
      take(std::move(other));
    }
    return *this;
  }
  SmallVector& operator=(std::initializer_list<T> list) {
    assign(list.begin(), list.end());
    return *this;
  }
  SmallVector& operator=(ArrayRef<T> list) {
    assign(list.begin(), list.end());
    return *this;
  }

  iterator begin() noexcept { return data_; }
  iterator end() noexcept { return data_ + size_; }
  const_iterator begin() const noexcept { return data_; }
  const_iterator end() const noexcept { return data_ + size_; }
  const_iterator cbegin() const noexcept { return data_; }
  const_iterator cend() const noexcept { return data_ + size_; }
  reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T& operator[](std::size_t index) { return data_[index]; }
  const T& operator[](std::size_t index) const { return data_[index]; }
  T& at(std::size_t index) {
    check_index(index);
    return data_[index];
  }
  const T& at(std::size_t index) const {
    check_index(index);
    return data_[index];
  }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void reserve(std::size_t count) {
    if (count > capacity_) grow(count);
  }
  void clear() noexcept { destroy_from(0); }
  void resize(std::size_t count) {
    if (count < size_) return destroy_from(count);
    reserve(count);
    while (size_ < count) {
      ::new (static_cast<void*>(data_ + size_)) T();
      ++size_;
    }
  }
  void resize(std::size_t count, const T& value) {
    if (count < size_) return destroy_from(count);
    if (count == size_) return;
    const T copy(value);
    reserve(count);
    while (size_ < count) {
      ::new (static_cast<void*>(data_ + size_)) T(copy);
      ++size_;
    }
  }
  void assign(std::size_t count, const T& value) {
    T copy(value);
    clear();
    resize(count, copy);
  }
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  void assign(It first, It last) {
    clear();
    append(first, last);
  }
  void assign(std::initializer_list<T> list) { assign(list.begin(), list.end()); }

  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (OPLOOM_UNLIKELY(size_ == capacity_)) {
      // The arguments may refer to an element, so the new one is made before the old ones move.
      T value(std::forward<Args>(args)...);
      grow(static_cast<std::size_t>(size_) + 1);
      return *::new (static_cast<void*>(data_ + size_++)) T(std::move(value));
    }
    return *::new (static_cast<void*>(data_ + size_++)) T(std::forward<Args>(args)...);
  }
  void pop_back() { destroy_from(size_ - 1); }
  T pop_back_val() {
    T value = std::move(back());
    pop_back();
    return value;
  }

  // [first, last) must not be part of this vector.
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  void append(It first, It last) {
    const auto count = static_cast<std::size_t>(std::distance(first, last));
    reserve(size_ + count);
    if constexpr (kBytes && (std::is_same_v<It, const T*> || std::is_same_v<It, T*>)) {
      if (count > 0) std::memcpy(end(), first, count * sizeof(T));
      size_ += static_cast<std::uint32_t>(count);
    } else {
      for (; first != last; ++first) {
        ::new (static_cast<void*>(data_ + size_)) T(*first);
        ++size_;
      }
    }
  }

  iterator insert(const_iterator position, const T& value) {
    const auto index = position - begin();
    emplace_back(value);
    T last = std::move(back());
    for (iterator to = end() - 1; to != begin() + index; --to) *to = std::move(to[-1]);
    data_[index] = std::move(last);
    return begin() + index;
  }
  iterator erase(const_iterator position) { return erase(position, position + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const auto index = first - begin();
    iterator to = begin() + index;
    for (iterator from = begin() + (last - begin()); from != end(); ++from)
      *to++ = std::move(*from);
    destroy_from(static_cast<std::size_t>(to - begin()));
    return begin() + index;
  }
  void swap(SmallVector& other) { std::swap(*this, other); }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return ArrayRef<T>(a) == ArrayRef<T>(b);
  }

 private:
  // Elements are moved and destroyed as bytes.
  static constexpr bool kBytes = std::is_trivially_copyable_v<T>;

  T* inline_data() noexcept { return std::launder(reinterpret_cast<T*>(inline_)); }
  bool is_inline() const noexcept {
    return static_cast<const void*>(data_) == static_cast<const void*>(inline_);
  }
  void check_index(std::size_t index) const {
    OPLOOM_CHECK_INDEX(index < size_, "SmallVector: index ", index, " is out of range for ", size_,
                       " elements");
  }

  OPLOOM_NOINLINE void grow(std::size_t at_least) {
    const std::size_t twice = 2 * static_cast<std::size_t>(capacity_);
    const std::size_t count = at_least > twice ? at_least : twice;
    T* fresh = static_cast<T*>(::operator new(count * sizeof(T)));
    const std::uint32_t size = size_;
    move_elements(fresh);
    release();
    data_ = fresh;
    size_ = size;
    capacity_ = static_cast<std::uint32_t>(count);
  }
  // Moves the elements to uninitialized memory; none are left.
  void move_elements(T* to) {
    if constexpr (kBytes) {
      if (size_ > 0) std::memcpy(to, data_, size_ * sizeof(T));
      size_ = 0;
    } else {
      for (std::uint32_t i = 0; i < size_; ++i) {
        ::new (static_cast<void*>(to + i)) T(std::move(data_[i]));
      }
      destroy_from(0);
    }
  }
  // Leaves the first `count` elements.
  void destroy_from(std::size_t count) noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (std::size_t i = count; i < size_; ++i) data_[i].~T();
    }
    size_ = static_cast<std::uint32_t>(count);
  }
  // Gives the heap block back, if there is one; the elements are gone already.
  void release() noexcept {
    if (!is_inline()) ::operator delete(data_);
  }
  // Precondition: no elements.
  void take(SmallVector&& other) {
    if (other.is_inline()) {
      reserve(other.size_);
      const std::uint32_t size = other.size_;
      other.move_elements(data_);
      size_ = size;
    } else {
      release();
      data_ = std::exchange(other.data_, other.inline_data());
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
    }
  }

  T* data_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

template <typename T, unsigned N>
std::ostream& operator<<(std::ostream& out, const SmallVector<T, N>& list) {
  return out << ArrayRef<T>(list);
}

}  // namespace c10::inline oploom_v1
