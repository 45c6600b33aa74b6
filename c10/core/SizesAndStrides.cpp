// SizesAndStrides with more than 5 dimensions.
#include <c10/core/SizesAndStrides.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace c10::inline oploom_v1 {

// At least one of the old and the new state is on the heap.
void SizesAndStrides::resize_slow(std::size_t new_size) {
  OPLOOM_CHECK(new_size <= kMaxDimensions, "expected a tensor of at most ", kMaxDimensions,
               " dimensions, got ", new_size);
  int64_t old_inline[2 * kMaxInline];
  int64_t* old_heap = nullptr;
  const std::size_t old_size = size_;
  const int64_t* old_sizes;
  const int64_t* old_strides;
  int64_t* fresh = new_size > kMaxInline ? new int64_t[2 * new_size] : nullptr;
  if (is_inline()) {
    std::memcpy(old_inline, inline_, sizeof(inline_));
    old_sizes = old_inline;
    old_strides = old_inline + kMaxInline;
  } else {
    old_heap = heap_;
    old_sizes = heap_;
    old_strides = heap_ + old_size;
  }
  size_ = new_size;
  if (fresh != nullptr) heap_ = fresh;
  const std::size_t common = std::min(old_size, new_size);
  int64_t* sizes = sizes_data();
  int64_t* strides = strides_data();
  std::copy_n(old_sizes, common, sizes);
  std::copy_n(old_strides, common, strides);
  std::fill(sizes + common, sizes + new_size, 0);
  std::fill(strides + common, strides + new_size, 0);
  delete[] old_heap;
}

void SizesAndStrides::copy_slow(const SizesAndStrides& other) {
  int64_t* fresh = other.is_inline() ? nullptr : new int64_t[2 * other.size_];
  if (!is_inline()) delete[] heap_;
  size_ = other.size_;
  if (fresh != nullptr) {
    heap_ = fresh;
    std::copy_n(other.heap_, 2 * size_, heap_);
  } else {
    std::memcpy(inline_, other.inline_, sizeof(inline_));
  }
}

}  // namespace c10::inline oploom_v1
