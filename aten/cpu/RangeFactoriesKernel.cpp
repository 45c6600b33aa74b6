// Sequences.
#include <aten/core/Parallel.h>
#include <aten/cpu/Loops.h>
#include <aten/stubs/RangeFactories.h>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// Sets element i of the one-dimensional output to value(i).
template <typename T, typename F>
void fill_by_index(TensorIteratorBase& iter, F value) {
  char* data = static_cast<char*>(iter.data_ptr(0));
  const int64_t stride = iter.ndim() == 0 ? 0 : iter.strides(0)[0];
  at::parallel_for(0, iter.numel(), GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    if (stride == sizeof(T)) {
      T* to = reinterpret_cast<T*>(data);
      for (int64_t i = begin; i < end; ++i) to[i] = value(i);
      return;
    }
    for (int64_t i = begin; i < end; ++i) *reinterpret_cast<T*>(data + i * stride) = value(i);
  });
}

void arange_kernel(TensorIteratorBase& iter, const Scalar& start, const Scalar& step) {
  // Once, and not for each dtype.
  const bool integral = c10::isIntegralType(iter.dtype(0), /*includeBool=*/false);
  const int64_t whole_start = integral ? start.to<int64_t>() : 0;
  const int64_t whole_step = integral ? step.to<int64_t>() : 0;
  const double real_start = integral ? 0 : start.to<double>();
  const double real_step = integral ? 0 : step.to<double>();
  OPLOOM_DISPATCH(iter.dtype(0), "arange", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    if constexpr (std::is_integral_v<scalar_t>) {
      // Modulo 2^bits, as the elements are.
      const auto first = static_cast<scalar_t>(whole_start);
      const auto by = static_cast<scalar_t>(whole_step);
      fill_by_index<scalar_t>(iter, [=](int64_t i) {
        return vec::wrap_add(first, vec::wrap_mul(by, static_cast<scalar_t>(i)));
      });
    } else {
      fill_by_index<scalar_t>(iter, [=](int64_t i) {
        return c10::convert<scalar_t>(real_start + real_step * static_cast<double>(i));
      });
    }
  });
}

void linspace_kernel(TensorIteratorBase& iter, const Scalar& start, const Scalar& end,
                     int64_t steps) {
  // Both halves count from their own end, so that both ends are exact.
  const auto run = [&]<typename acc_t, typename T>(acc_t first, acc_t last, T) {
    const acc_t by = (last - first) / static_cast<acc_t>(static_cast<double>(steps - 1));
    fill_by_index<T>(iter, [=](int64_t i) {
      const acc_t value = i < steps / 2
                              ? first + by * static_cast<acc_t>(static_cast<double>(i))
                              : last - by * static_cast<acc_t>(static_cast<double>(steps - 1 - i));
      return c10::convert<T>(value);
    });
  };
  OPLOOM_DISPATCH(
      iter.dtype(0), "linspace", (OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED, OPLOOM_COMPLEX),
      [&] {
        using acc_t = std::conditional_t<c10::is_complex_v<scalar_t>, c10::complex<double>, double>;
        run(start.to<acc_t>(), end.to<acc_t>(), scalar_t{});
      });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(arange_stub, &arange_kernel);
OPLOOM_REGISTER_DISPATCH(linspace_stub, &linspace_kernel);

}  // namespace at::inline oploom_v1::native
