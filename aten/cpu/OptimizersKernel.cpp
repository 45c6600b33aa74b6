// Optimizers' steps: one pass over the parameter, its gradient and the optimizer's state.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/cpu/vec/vec.h>
#include <aten/stubs/LinearAlgebra.h>
#include <aten/stubs/Optimizers.h>

#include <algorithm>
#include <array>
#include <utility>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// Calls compute(numbers of grad, numbers of each of `out`...), and puts what it returns into `out`.
template <typename T, size_t kOut, typename F>
OPLOOM_ALWAYS_INLINE void update_rows(std::array<T*, kOut> out, const void* grad, int64_t begin,
                                      int64_t end, const F& compute) {
  using R = vec::Rows<T>;
  for (T*& row : out) row += begin;
  const T* in[kOut + 1] = {static_cast<const T*>(grad) + begin};
  std::copy(out.begin(), out.end(), in + 1);
  vec::for_each_vec<T>(end - begin, compute, in, std::make_index_sequence<kOut + 1>{},
                       [&](int64_t i, const auto& values, int64_t count)
                           OPLOOM_ALWAYS_INLINE_LAMBDA {
                             for (size_t k = 0; k < kOut; ++k) {
                               count == R::size() ? R::store(out[k] + i, values[k])
                                                  : R::store(out[k] + i, values[k], count);
                             }
                           });
}

// kState: mean and square, or mean, square and largest.
template <typename T, size_t kState>
void adam_row(const AdamBuffers& buffers, const AdamStep& step, int64_t begin, int64_t end) {
  using V = typename vec::Rows<T>::V;
  using C = typename V::value_type;
  const auto number = [](double value) { return V(static_cast<C>(value)); };
  const V beta2 = number(step.beta2), left1 = number(1 - step.beta1),
          left2 = number(1 - step.beta2);
  const V sign = number(step.sign), decay = number(step.decay), shrink = number(step.shrink);
  const V eps = number(step.eps), factor = number(1 / step.root_correction);
  const V back = number(-step.step_size);
  const bool decays = step.decay != 0;
  const auto compute = [&](V grad, V param, V mean, V square, auto... largest) {
    grad = grad * sign;
    if (decays) grad = fmadd(decay, param, grad);
    mean = fmadd(left1, grad - mean, mean);
    square = fmadd(left2 * grad, grad, beta2 * square);
    V most = square;
    ((most = maximum(largest, square)), ...);
    const V root = fmadd(most.sqrt(), factor, eps);
    param = fmadd(back, mean / root, shrink * param);
    if constexpr (kState == 2) {
      return std::array{param, mean, square};
    } else {
      return std::array{param, mean, square, most};
    }
  };
  std::array<T*, kState + 1> out = {static_cast<T*>(buffers.param), static_cast<T*>(buffers.mean),
                                    static_cast<T*>(buffers.square)};
  if constexpr (kState == 3) out[3] = static_cast<T*>(buffers.largest);
  update_rows(out, buffers.grad, begin, end, compute);
}

// kState: nothing, or the velocity.
template <typename T, size_t kState>
void sgd_row(const SgdBuffers& buffers, const SgdStep& step, int64_t begin, int64_t end) {
  using V = typename vec::Rows<T>::V;
  using C = typename V::value_type;
  const auto number = [](double value) { return V(static_cast<C>(value)); };
  const V sign = number(step.sign), decay = number(step.decay), back = number(-step.lr);
  const V momentum = number(step.momentum), keep = number(step.keep);
  const bool decays = step.decay != 0;
  const auto compute = [&](V grad, V param, auto... velocity) {
    grad = grad * sign;
    if (decays) grad = fmadd(decay, param, grad);
    V speed = grad;
    if (!step.first) ((speed = fmadd(keep, grad, momentum * velocity)), ...);
    if constexpr (kState == 0) {
      return std::array{fmadd(back, grad, param)};
    } else {
      const V way = step.nesterov ? fmadd(momentum, speed, grad) : speed;
      return std::array{fmadd(back, way, param), speed};
    }
  };
  std::array<T*, kState + 1> out = {static_cast<T*>(buffers.param)};
  if constexpr (kState == 1) out[1] = static_cast<T*>(buffers.velocity);
  update_rows(out, buffers.grad, begin, end, compute);
}

void adam_kernel(ScalarType dtype, int64_t n, const AdamBuffers& buffers, const AdamStep& step) {
  OPLOOM_DISPATCH(dtype, "_fused_adam_", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    const auto row = buffers.largest ? &adam_row<scalar_t, 3> : &adam_row<scalar_t, 2>;
    at::parallel_for_in_place(n, sizeof(scalar_t), buffers.largest ? 5 : 4, at::kUpdateGrain,
                              [&](int64_t begin, int64_t end) { row(buffers, step, begin, end); });
  });
}

void sgd_kernel(ScalarType dtype, int64_t n, const SgdBuffers& buffers, const SgdStep& step) {
  OPLOOM_DISPATCH(dtype, "_fused_sgd_", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    const auto row = buffers.velocity ? &sgd_row<scalar_t, 1> : &sgd_row<scalar_t, 0>;
    at::parallel_for_in_place(n, sizeof(scalar_t), buffers.velocity ? 3 : 2, at::kUpdateGrain,
                              [&](int64_t begin, int64_t end) { row(buffers, step, begin, end); });
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(adam_stub, &adam_kernel);
OPLOOM_REGISTER_DISPATCH(sgd_stub, &sgd_kernel);

}  // namespace at::inline oploom_v1::native
