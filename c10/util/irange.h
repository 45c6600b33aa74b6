// c10::irange(n) and c10::irange(begin, end): the integers of a half-open range, for range-for.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace c10::inline oploom_v1 {

template <typename I>
class integer_range {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = I;
    using difference_type = std::ptrdiff_t;
    using pointer = I*;
    using reference = I;
    constexpr explicit iterator(I value) : value_(value) {}
    constexpr I operator*() const { return value_; }
    constexpr iterator& operator++() {
      ++value_;
      return *this;
    }
    constexpr iterator operator++(int) { return iterator(value_++); }
    constexpr bool operator==(const iterator& other) const { return value_ == other.value_; }

   private:
    I value_;
  };
  // An end before the beginning makes an empty range.
  constexpr integer_range(I begin, I end) : begin_(begin), end_(end < begin ? begin : end) {}
  constexpr iterator begin() const { return iterator(begin_); }
  constexpr iterator end() const { return iterator(end_); }

 private:
  I begin_;
  I end_;
};

template <typename B, typename E>
constexpr integer_range<E> irange(B begin, E end) {
  static_assert(std::is_integral_v<B> && std::is_integral_v<E>);
  return {static_cast<E>(begin), end};
}
template <typename I>
constexpr integer_range<I> irange(I end) {
  static_assert(std::is_integral_v<I>);
  return {I(0), end};
}

}  // namespace c10::inline oploom_v1
