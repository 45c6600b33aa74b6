// Filling a tensor with one value.
#include <aten/core/OpaqueType.h>
#include <aten/cpu/Loops.h>
#include <aten/iterator/Cast.h>
#include <aten/stubs/Fill.h>

#include <cstring>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// Rows with gaps, with an element of so many bytes.
void fill_rows(TensorIteratorBase& iter, const char* element, int64_t size) {
  const at::detail::CastLoop move = at::detail::get_move_loop(size);
  const auto fill = [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    // Short ones are copies of one, which many take less time for than for a call each.
    constexpr int64_t kShort = 512, kFewest = 8;
    const int64_t bytes = size0 * size;
    if (strides[0] == size && bytes <= kShort && size1 >= kFewest) {
      char row[kShort];
      move(row, size, element, 0, size0);
      return at::detail::copy_rows(data[0], strides[1], row, 0, static_cast<size_t>(bytes), size1);
    }
    for (int64_t row = 0; row < size1; ++row) {
      move(data[0] + row * strides[1], strides[0], element, 0, size0);
    }
  };
  iter.for_each(fill, at::detail::waiting_grain(iter));
}

// Of 16-bit floats and complex numbers, which are classes, the compiler makes no vectors; of
// integers as large it does.
template <typename T>
void fill_with(TensorIteratorBase& iter, T element) {
  if (!iter.is_dense_row()) {
    return fill_rows(iter, reinterpret_cast<const char*>(&element), sizeof(T));
  }
  const auto fill = [element](char* const* data, int64_t n, uint32_t) {
    fill_row(reinterpret_cast<T*>(data[0]), n, element);
  };
  at::detail::for_each_dense_row(iter, 1, fill, at::detail::Repeats::No, /*waits=*/true);
}

void fill_kernel(TensorIteratorBase& iter, const void* element) {
  with_opaque_type(static_cast<size_t>(iter.element_size(0)), [&]<typename T>(T opaque) {
    std::memcpy(static_cast<void*>(&opaque), element, sizeof(T));
    fill_with(iter, opaque);
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(fill_stub, &fill_kernel);

}  // namespace at::inline oploom_v1::native
