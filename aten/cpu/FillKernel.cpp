// Filling a tensor with one value.
#include <aten/cpu/Loops.h>
#include <aten/stubs/Fill.h>

#include <algorithm>
#include <cstring>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

void fill_kernel(TensorIteratorBase& iter, const Scalar& value) {
  OPLOOM_DISPATCH(iter.dtype(0), "fill_", (OPLOOM_ALL), [&] {
    const scalar_t element = value.to<scalar_t>();
    if (iter.is_dense_row()) {
      return at::detail::for_each_dense_row(iter, 1, [element](char** data, int64_t n) {
        std::fill_n(reinterpret_cast<scalar_t*>(data[0]), n, element);
      });
    }
    iter.for_each([element](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
      for (int64_t row = 0; row < size1; ++row) {
        char* to = data[0] + row * strides[1];
        if (strides[0] == sizeof(scalar_t)) {
          std::fill_n(reinterpret_cast<scalar_t*>(to), size0, element);
        } else {
          for (int64_t i = 0; i < size0; ++i) {
            *reinterpret_cast<scalar_t*>(to + i * strides[0]) = element;
          }
        }
      }
    });
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(fill_stub, &fill_kernel);

}  // namespace at::inline oploom_v1::native
