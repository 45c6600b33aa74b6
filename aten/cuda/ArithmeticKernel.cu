// Sums, differences, products and quotients, whose operators are no expressions: gradients that
// meet in one tensor are added.
#include <aten/cuda/Expression.h>
#include <aten/stubs/BinaryOps.h>

namespace at::inline oploom_v1::native {
namespace {

using namespace at::cuda;

template <typename T>
struct add_op {
  static constexpr int kOutputs = 1;
  static constexpr int kInputs = 2;
  using V = Number<T>;
  explicit add_op(const Scalar* numbers) : alpha(numbers[0].to<T>()) {}
  OPLOOM_HOST_DEVICE V operator()(const V& self, const V& other) const {
    return self + alpha * other;
  }
  V alpha;
};

template <typename T>
struct sub_op {
  static constexpr int kOutputs = 1;
  static constexpr int kInputs = 2;
  using V = Number<T>;
  explicit sub_op(const Scalar* numbers) : alpha(numbers[0].to<T>()) {}
  OPLOOM_HOST_DEVICE V operator()(const V& self, const V& other) const {
    return self - alpha * other;
  }
  V alpha;
};

template <typename T>
struct mul_op {
  static constexpr int kOutputs = 1;
  static constexpr int kInputs = 2;
  using V = Number<T>;
  explicit mul_op(const Scalar*) {}
  OPLOOM_HOST_DEVICE V operator()(const V& self, const V& other) const { return self * other; }
};

template <typename T>
struct div_op {
  static constexpr int kOutputs = 1;
  static constexpr int kInputs = 2;
  using V = Number<T>;
  explicit div_op(const Scalar*) {}
  OPLOOM_HOST_DEVICE V operator()(const V& self, const V& other) const { return self / other; }
};

// Of truth values, bytes that are 0 or 1: the sum is "or"; the product is "and" as it is.
template <typename T>
struct or_op {
  static constexpr int kOutputs = 1;
  static constexpr int kInputs = 2;
  using V = Number<T>;
  explicit or_op(const Scalar* numbers) : alpha(numbers[0].to<bool>() ? T(1) : T(0)) {}
  OPLOOM_HOST_DEVICE V operator()(const V& self, const V& other) const {
    return maximum(self, alpha * other);
  }
  V alpha;
};

template <template <typename> class Op, template <typename> class OfTruth>
constexpr CUDAExpressionKernel make_kernel_with_bool() {
  CUDAExpressionKernel kernel = any_kernel<Op>;
  kernel.launches[static_cast<size_t>(ScalarType::Bool)] =
      make_expression_kernel<OfTruth, uint8_t>().launches[static_cast<size_t>(ScalarType::Byte)];
  return kernel;
}
constexpr CUDAExpressionKernel add_loops = make_kernel_with_bool<add_op, or_op>();
constexpr CUDAExpressionKernel mul_loops = make_kernel_with_bool<mul_op, mul_op>();

void add_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  add_loops.run(iter, add_loops, &alpha);
}
void sub_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  any_kernel<sub_op>.run(iter, any_kernel<sub_op>, &alpha);
}
void mul_kernel(TensorIteratorBase& iter) { mul_loops.run(iter, mul_loops, nullptr); }
void div_true_kernel(TensorIteratorBase& iter) {
  complex_kernel<div_op>.run(iter, complex_kernel<div_op>, nullptr);
}

[[maybe_unused]] const bool registered = [] {
  add_stub.set_kernel(DeviceType::CUDA, &add_kernel);
  sub_stub.set_kernel(DeviceType::CUDA, &sub_kernel);
  mul_stub.set_kernel(DeviceType::CUDA, &mul_kernel);
  div_true_stub.set_kernel(DeviceType::CUDA, &div_true_kernel);
  return true;
}();

}  // namespace
}  // namespace at::inline oploom_v1::native
