// Comparisons, logic and bits. They are no expressions: equality and logic take
// complex numbers, comparisons bool ones that are converted first, and the language knows no bits.
#include <aten/cpu/Expression.h>
#include <aten/cpu/Loops.h>
#include <aten/stubs/BinaryOps.h>
#include <aten/stubs/UnaryOps.h>

#include <type_traits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

// A comparison as expression_row() takes it.
template <typename Op>
struct Comparison : Op {
  static constexpr int kOutputs = 1, kInputs = 2;
};

// Compilers have no vector instructions for 16-bit floats.
template <typename T, typename Op>
void compare(TensorIteratorBase& iter, const Op& op) {
  if constexpr (c10::is_reduced_floating_point_v<T> && Vec<float>::kInRegister) {
    const Comparison<Op> comparison{op};
    at::detail::for_each_dense_row(
        iter, 3,
        [&comparison](char* const* data, int64_t n, uint32_t repeated) {
          expression_row<T>(data, n, repeated, comparison, std::make_index_sequence<2>());
        },
        at::detail::Repeats::Rows);
  } else {
    using opmath_t = c10::opmath_type<T>;
    cpu_kernel(iter, [op](T a, T b) -> bool {
      return op(static_cast<opmath_t>(a), static_cast<opmath_t>(b));
    });
  }
}

template <typename Op>
void compare_all(TensorIteratorBase& iter, const char* name, Op op) {
  OPLOOM_DISPATCH(iter.common_dtype(), name, (OPLOOM_ALL), [&] { compare<scalar_t>(iter, op); });
}

// Complex numbers have no order.
template <typename Op>
void compare_ordered(TensorIteratorBase& iter, const char* name, Op op) {
  OPLOOM_DISPATCH(iter.common_dtype(), name,
                  (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
                  [&] { compare<scalar_t>(iter, op); });
}

void eq_kernel(TensorIteratorBase& iter) {
  compare_all(iter, "eq", [](auto a, auto b) { return a == b; });
}
void ne_kernel(TensorIteratorBase& iter) {
  compare_all(iter, "ne", [](auto a, auto b) { return !(a == b); });
}
void lt_kernel(TensorIteratorBase& iter) {
  compare_ordered(iter, "lt", [](auto a, auto b) { return a < b; });
}
void le_kernel(TensorIteratorBase& iter) {
  compare_ordered(iter, "le", [](auto a, auto b) { return a <= b; });
}
void gt_kernel(TensorIteratorBase& iter) {
  compare_ordered(iter, "gt", [](auto a, auto b) { return a > b; });
}
void ge_kernel(TensorIteratorBase& iter) {
  compare_ordered(iter, "ge", [](auto a, auto b) { return a >= b; });
}

// Logic of numbers depends on their size alone: one is true if any of its bits is set, but for
// those that are the signs of floats.
template <typename T, typename Op>
void logical_op_of(TensorIteratorBase& iter, const Op& op, T signs) {
  const T mask = static_cast<T>(~signs);
  if constexpr (std::is_invocable_v<Op, bool, bool>) {
    cpu_kernel(iter, [=](T a, T b) -> bool { return op((a & mask) != 0, (b & mask) != 0); });
  } else {
    cpu_kernel(iter, [=](T x) -> bool { return op((x & mask) != 0); });
  }
}

// `op` also takes the bytes of bools, 0 and 1; see Note [Bools are bytes].
template <typename Op>
void logical_op(TensorIteratorBase& iter, const Op& op) {
  const ScalarType dtype = iter.common_dtype();
  if (dtype == kBool) return cpu_kernel_vec<uint8_t>(iter, op);
  const bool integral = c10::isIntegralType(dtype, /*includeBool=*/false);
  switch (c10::elementSize(dtype)) {
    case 1:
      return logical_op_of<uint8_t>(iter, op, 0);
    case 2:
      return logical_op_of<uint16_t>(iter, op, integral ? 0 : 0x8000);
    case 4:
      return logical_op_of<uint32_t>(iter, op, integral ? 0 : 0x80000000);
    case 8:
      return logical_op_of<uint64_t>(iter, op,
                                     integral                 ? 0
                                     : dtype == kComplexFloat ? 0x8000000080000000
                                                              : 0x8000000000000000);
    default:
      OPLOOM_INTERNAL_ASSERT(dtype == kComplexDouble);
      using Number = c10::complex<double>;
      if constexpr (std::is_invocable_v<Op, bool, bool>) {
        cpu_kernel(iter, [=](Number a, Number b) -> bool { return op(a != 0.0, b != 0.0); });
      } else {
        cpu_kernel(iter, [=](Number x) -> bool { return op(x != 0.0); });
      }
  }
}

void logical_and_kernel(TensorIteratorBase& iter) {
  logical_op(iter, [](auto a, auto b) { return a & b; });
}
void logical_or_kernel(TensorIteratorBase& iter) {
  logical_op(iter, [](auto a, auto b) { return a | b; });
}
void logical_xor_kernel(TensorIteratorBase& iter) {
  logical_op(iter, [](auto a, auto b) { return a ^ b; });
}
void logical_not_kernel(TensorIteratorBase& iter) {
  logical_op(iter, [](auto x) { return x ^ decltype(x)(1); });
}

template <typename Op>
void bitwise_op(TensorIteratorBase& iter, const char* name, Op op) {
  OPLOOM_DISPATCH(iter.common_dtype(), name, (OPLOOM_BOOL, OPLOOM_INTEGRAL), [&] {
    cpu_kernel_vec<std::conditional_t<std::is_same_v<scalar_t, bool>, uint8_t, scalar_t>>(iter, op);
  });
}

void bitwise_and_kernel(TensorIteratorBase& iter) {
  bitwise_op(iter, "bitwise_and", [](auto a, auto b) { return a & b; });
}
void bitwise_or_kernel(TensorIteratorBase& iter) {
  bitwise_op(iter, "bitwise_or", [](auto a, auto b) { return a | b; });
}
void bitwise_xor_kernel(TensorIteratorBase& iter) {
  bitwise_op(iter, "bitwise_xor", [](auto a, auto b) { return a ^ b; });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(eq_stub, &eq_kernel);
OPLOOM_REGISTER_DISPATCH(ne_stub, &ne_kernel);
OPLOOM_REGISTER_DISPATCH(lt_stub, &lt_kernel);
OPLOOM_REGISTER_DISPATCH(le_stub, &le_kernel);
OPLOOM_REGISTER_DISPATCH(gt_stub, &gt_kernel);
OPLOOM_REGISTER_DISPATCH(ge_stub, &ge_kernel);
OPLOOM_REGISTER_DISPATCH(logical_and_stub, &logical_and_kernel);
OPLOOM_REGISTER_DISPATCH(logical_or_stub, &logical_or_kernel);
OPLOOM_REGISTER_DISPATCH(logical_xor_stub, &logical_xor_kernel);
OPLOOM_REGISTER_DISPATCH(logical_not_stub, &logical_not_kernel);
OPLOOM_REGISTER_DISPATCH(bitwise_and_stub, &bitwise_and_kernel);
OPLOOM_REGISTER_DISPATCH(bitwise_or_stub, &bitwise_or_kernel);
OPLOOM_REGISTER_DISPATCH(bitwise_xor_stub, &bitwise_xor_kernel);

}  // namespace at::inline oploom_v1::native
