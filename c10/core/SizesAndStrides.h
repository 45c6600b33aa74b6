// SizesAndStrides: the sizes and strides of a tensor, inline for up to 5 dimensions.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace c10::inline oploom_v1 {

// No tensor has more dimensions, so that sets of them fit a word and indices an array.
inline constexpr std::size_t kMaxDimensions = 64;

class SizesAndStrides final {
 public:
  // One dimension of size 0, as the field has it for a fresh tensor.
  SizesAndStrides() noexcept : size_(1) {
    inline_[0] = 0;
    inline_[kMaxInline] = 1;
  }
  // Of a contiguous tensor; a size of 0 counts as 1 in the strides.
  explicit SizesAndStrides(IntArrayRef sizes) : size_(0) {
    start(sizes.size());
    int64_t *const n = sizes_data(), *const s = strides_data();
    std::uint64_t stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      int64_t size = sizes[i];
      asm volatile("" : "+r"(size));  // or GCC makes a call of memmove() of it
      n[i] = size;
      s[i] = static_cast<int64_t>(stride);
      stride *= size > 1 ? static_cast<std::uint64_t>(size) : 1;
    }
  }
  // Precondition: as many strides as sizes.
  SizesAndStrides(IntArrayRef sizes, IntArrayRef strides) : size_(0) {
    start(sizes.size());
    int64_t *const n = sizes_data(), *const s = strides_data();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      int64_t size = sizes[i];
      asm volatile("" : "+r"(size));  // the same
      n[i] = size;
      s[i] = strides[i];
    }
  }
  SizesAndStrides(const SizesAndStrides& other) : size_(0) { copy_from(other); }
  SizesAndStrides(SizesAndStrides&& other) noexcept : size_(0) { move_from(other); }
  ~SizesAndStrides() {
    if (OPLOOM_UNLIKELY(!is_inline())) delete[] heap_;
  }
  SizesAndStrides& operator=(const SizesAndStrides& other) {
    if (this != &other) copy_from(other);
    return *this;
  }
  SizesAndStrides& operator=(SizesAndStrides&& other) noexcept {
    if (this != &other) move_from(other);
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  const int64_t* sizes_data() const noexcept {
    return OPLOOM_LIKELY(is_inline()) ? inline_ : heap_;
  }
  int64_t* sizes_data() noexcept { return OPLOOM_LIKELY(is_inline()) ? inline_ : heap_; }
  const int64_t* strides_data() const noexcept {
    return OPLOOM_LIKELY(is_inline()) ? inline_ + kMaxInline : heap_ + size_;
  }
  int64_t* strides_data() noexcept {
    return OPLOOM_LIKELY(is_inline()) ? inline_ + kMaxInline : heap_ + size_;
  }
  IntArrayRef sizes_arrayref() const noexcept { return {sizes_data(), size_}; }
  IntArrayRef strides_arrayref() const noexcept { return {strides_data(), size_}; }
  int64_t size_at_unchecked(std::size_t dim) const noexcept { return sizes_data()[dim]; }
  int64_t& size_at_unchecked(std::size_t dim) noexcept { return sizes_data()[dim]; }
  int64_t stride_at_unchecked(std::size_t dim) const noexcept { return strides_data()[dim]; }
  int64_t& stride_at_unchecked(std::size_t dim) noexcept { return strides_data()[dim]; }

  // A dimension before `dim`, or behind the last.
  void insert(std::size_t dim, int64_t size, int64_t stride) {
    resize(size_ + 1);
    int64_t *const n = sizes_data(), *const s = strides_data();
    for (std::size_t i = size_ - 1; i > dim; --i) {
      n[i] = n[i - 1];
      s[i] = s[i - 1];
    }
    n[dim] = size;
    s[dim] = stride;
  }
  void erase(std::size_t dim) {
    int64_t *const n = sizes_data(), *const s = strides_data();
    for (std::size_t i = dim + 1; i < size_; ++i) {
      n[i - 1] = n[i];
      s[i - 1] = s[i];
    }
    resize(size_ - 1);
  }

  // Keeps what both have room for; new entries are 0. More than kMaxDimensions are an error, which
  // changes nothing.
  void resize(std::size_t new_size) {
    if (OPLOOM_LIKELY(new_size <= kMaxInline && is_inline())) {
      for (std::size_t i = size_; i < new_size; ++i) inline_[i] = inline_[kMaxInline + i] = 0;
      size_ = new_size;
    } else if (new_size != size_) {
      resize_slow(new_size);
    }
  }

 private:
  static constexpr std::size_t kMaxInline = 5;

  bool is_inline() const noexcept { return size_ <= kMaxInline; }
  // For sizes and strides that are all to be written. Precondition: there are none yet.
  void start(std::size_t new_size) {
    if (OPLOOM_UNLIKELY(new_size > kMaxInline)) return resize_slow(new_size);
    size_ = new_size;
  }
  OPLOOM_API void resize_slow(std::size_t new_size);
  void copy_from(const SizesAndStrides& other) {
    if (OPLOOM_LIKELY(is_inline() && other.is_inline())) {
      std::memcpy(inline_, other.inline_, sizeof(inline_));
      size_ = other.size_;
    } else {
      copy_slow(other);
    }
  }
  OPLOOM_API void copy_slow(const SizesAndStrides& other);
  void move_from(SizesAndStrides& other) noexcept {
    if (OPLOOM_UNLIKELY(!is_inline())) delete[] heap_;
    std::memcpy(inline_, other.inline_, sizeof(inline_));
    size_ = std::exchange(other.size_, 0);
  }

  std::size_t size_;
  union {
    int64_t* heap_;                   // size_ sizes, then size_ strides
    int64_t inline_[2 * kMaxInline];  // kMaxInline sizes, then kMaxInline strides
  };
};

}  // namespace c10::inline oploom_v1
