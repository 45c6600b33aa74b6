// Filling a tensor with one value.
#include <aten/core/OpaqueType.h>
#include <aten/cpu/Loops.h>
#include <aten/stubs/Fill.h>

#include <algorithm>
#include <cstring>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// Of 16-bit floats and complex numbers, which are classes, the compiler makes no vectors; of
// integers as large it does.
template <typename T>
void fill_with(TensorIteratorBase& iter, T element) {
  if (iter.is_dense_row()) {
    return at::detail::for_each_dense_row(iter, 1, [element](char** data, int64_t n) {
      std::fill_n(reinterpret_cast<T*>(data[0]), n, element);
    });
  }
  iter.for_each([element](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    for (int64_t row = 0; row < size1; ++row) {
      char* to = data[0] + row * strides[1];
      if (strides[0] == sizeof(T)) {
        std::fill_n(reinterpret_cast<T*>(to), size0, element);
      } else {
        for (int64_t i = 0; i < size0; ++i) *reinterpret_cast<T*>(to + i * strides[0]) = element;
      }
    }
  });
}

void fill_kernel(TensorIteratorBase& iter, const Scalar& value) {
  OPLOOM_DISPATCH(iter.dtype(0), "fill_", (OPLOOM_ALL), [&] {
    using T = opaque_type<sizeof(scalar_t)>;
    const scalar_t element = value.to<scalar_t>();
    T opaque;
    std::memcpy(&opaque, &element, sizeof(element));
    fill_with(iter, opaque);
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(fill_stub, &fill_kernel);

}  // namespace at::inline oploom_v1::native
