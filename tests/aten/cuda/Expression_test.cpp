// The CUDA kernels of all expression operators, on a GPU or compiled for the CPU, against the CPU's
// own kernels of the instruction set DEFAULT: the same operator through the same API on two
// devices.
#include "TestDevice.h"

#include <aten/core/Library.h>
#include <aten/core/ivalue.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/FunctionSchema.h>
#include <c10/core/SchemaParser.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <limits>
#include <map>
#include <random>
#include <regex>
#include <sstream>

namespace {

using at::IValue;
using at::ScalarType;
using at::Stack;
using at::Tensor;
using c10::FunctionSchema;
using c10::SchemaBaseType;
using test_device::to_cpu;
using test_device::to_cuda;

const std::vector<ScalarType> kDtypes = {
    at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kComplexFloat, at::kComplexDouble,
    at::kByte,  at::kChar,   at::kInt,  at::kLong,     at::kBool};

// ---- The operators ----

// Those of a namespace that the files of a folder register a kernel for; parts of a gradient
// ("..._0") are run by the whole of it.
void add_operators(const char* name_space, const char* folder,
                   std::vector<at::OperatorTableBase*>& found) {
  std::map<std::string, at::OperatorTableBase*> by_identifier;
  for (at::OperatorTableBase* op : at::list_operators(name_space)) {
    std::string identifier = op->qualified_name();
    std::replace(identifier.begin(), identifier.end(), '.', '_');
    by_identifier[identifier] = op;
  }
  const std::regex registration(R"(OPLOOM_REGISTER_CUDA_KERNEL\(\s*(\w+)_stub)");
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(file.path());
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    for (std::sregex_iterator i(text.begin(), text.end(), registration), end; i != end; ++i) {
      const std::string identifier = (*i)[1];
      const auto op = by_identifier.find(identifier);
      if (op != by_identifier.end()) {
        found.push_back(op->second);
        continue;
      }
      const std::string whole = identifier.substr(0, identifier.rfind('_'));
      EXPECT_TRUE(by_identifier.contains(whole)) << identifier << ": there is no such operator";
    }
  }
}

// Those of generated/cuda, and of a package outside the tree, whose kernels are made the same way.
std::vector<at::OperatorTableBase*> operators_with_kernels() {
  std::vector<at::OperatorTableBase*> found;
  add_operators("aten", OPLOOM_GENERATED_CUDA, found);
#if defined(OPLOOM_PACKAGE_CUDA)
  const size_t own = found.size();
  add_operators("mathx", OPLOOM_PACKAGE_CUDA, found);
  EXPECT_EQ(found.size(), own + 2) << "mish and its gradient";
#endif
  return found;
}

// ---- Their arguments ----

// Numbers of every size, among them those where functions have poles, edges and branches.
Tensor values(c10::IntArrayRef sizes, ScalarType dtype, int seed) {
  const double special[] = {0.,   -0.,   1.,   -1.,   0.5, -0.5,  2.,   -2.,  3.,    -3.,
                            6.,   -6.,   20.,  -20.,  1e3, -1e3,  1e-3, 1e-8, -1e-8, 0.25,
                            0.75, 1e-40, 1e10, -1e10, 31., -31.5, 88.,  -88., 12.5,  1e30};
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> inside(0, 1), wide(-4, 4), far(-60, 60);
  const auto number = [&](int64_t i) -> double {
    if (i % 7 == 3) return special[random() % std::size(special)];
    if (i % 97 == 5) return std::numeric_limits<double>::infinity();
    if (i % 97 == 6) return -std::numeric_limits<double>::infinity();
    if (i % 97 == 8) return std::numeric_limits<double>::quiet_NaN();
    return i % 3 == 0 ? inside(random) : i % 3 == 1 ? wide(random) : far(random);
  };
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  if (c10::isComplexType(dtype)) {
    const Tensor parts = at::empty({count, 2}, at::kDouble);
    double* data = parts.mutable_data_ptr<double>();
    for (int64_t i = 0; i < count; ++i) {
      // Annex G leaves signs and more open where a part is not finite.
      double re = number(i), im = number(i + 1);
      data[2 * i] = std::isfinite(re) ? re : 1.5;
      data[2 * i + 1] = std::isfinite(im) ? im : -1.5;
    }
    const Tensor whole = at::empty(sizes, at::kComplexDouble);
    std::memcpy(whole.mutable_data_ptr(), data, whole.nbytes());
    return whole.to(dtype);
  }
  const Tensor result = at::empty(sizes, at::kDouble);
  double* data = result.mutable_data_ptr<double>();
  const bool whole = c10::isIntegralType(dtype, /*includeBool=*/true);
  for (int64_t i = 0; i < count; ++i) {
    data[i] = number(i);
    if (whole) data[i] = dtype == at::kByte ? double(random() % 256) : double(random() % 256) - 128;
    if (dtype == at::kBool) data[i] = double(random() % 2);
  }
  return result.to(dtype);
}

IValue number_for(const c10::SchemaArgument& argument, int place) {
  switch (argument.type.base) {
    case SchemaBaseType::Bool:
      if (argument.type.list) {
        return IValue(std::vector<bool>(static_cast<size_t>(*argument.type.list_size), true));
      }
      return IValue(place % 2 == 0);
    case SchemaBaseType::Int:
    case SchemaBaseType::SymInt:
      return IValue(int64_t{2});
    case SchemaBaseType::Float:
      return IValue(0.25 * (place + 1));
    default:
      return IValue(at::Scalar(place == 0 ? 1 : place + 1));
  }
}

// Arguments on the CPU; `tensor(k)` makes the k-th tensor.
Stack arguments_for(const FunctionSchema& schema, const std::function<Tensor(int)>& tensor) {
  Stack stack;
  int tensors = 0, numbers = 0;
  for (const c10::SchemaArgument& argument : schema.arguments) {
    if (argument.type.is_plain_tensor()) {
      stack.emplace_back(at::TensorBase(tensor(tensors++)));
    } else {
      stack.push_back(number_for(argument, numbers++));
    }
  }
  return stack;
}

Stack on_cuda(Stack stack) {
  for (IValue& value : stack) {
    if (value.is_tensor()) value = IValue(at::TensorBase(to_cuda(value.to_tensor())));
  }
  return stack;
}

// ---- Comparison ----

// What the two ways of computing may differ by. Compiled for the CPU, nothing but the order of
// roundings for real numbers; complex functions are other algorithms than the C++ library's, and
// gradients of them multiply their errors. On a GPU all functions are others; the bound for real
// numbers is that of a sum of several of them.
#if defined(OPLOOM_TEST_ON_GPU)
constexpr bool kSameFunctions = false;
#else
constexpr bool kSameFunctions = true;
#endif
double allowed(ScalarType dtype) { return kSameFunctions && !c10::isComplexType(dtype) ? 4 : 64; }

// The largest error of the numbers of a tensor, in units in the last place; where the functions are
// not the same, in units of the largest part of the number or of `first`, the first operand, from
// which a function near its zero may have been subtracted. Infinite where one is nan and the other
// is not.
template <typename T>
double largest_error(const Tensor& got, const Tensor& expected, const Tensor& first,
                     int64_t& worst) {
  double largest = 0;
  const auto size_of = [](const auto& z) {
    return std::max(std::abs(double(z.real())), std::abs(double(z.imag())));
  };
  const Tensor operand = first.to(expected.scalar_type()).expand(expected.sizes()).contiguous();
  const Tensor a = got.contiguous(), b = expected.contiguous();
  const T* x = static_cast<const T*>(a.const_data_ptr());
  const T* y = static_cast<const T*>(b.const_data_ptr());
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto unit = [](auto limits, double size) {
    using Limits = decltype(limits);
    const int exponent = size == 0             ? Limits::min_exponent
                         : std::isfinite(size) ? std::ilogb(size) + 1
                                               : Limits::max_exponent;
    return std::ldexp(1., std::max<int>(exponent, Limits::min_exponent) - Limits::digits);
  };
  const auto distance = [&](auto limits, double p, double q, double size) {
    if (std::isnan(p) || std::isnan(q)) return std::isnan(p) == std::isnan(q) ? 0 : kNever;
    if (std::isinf(p) || std::isinf(q)) return p == q ? 0 : kNever;
    return std::abs(p - q) / unit(limits, size);
  };
  for (int64_t i = 0; i < a.numel(); ++i) {
    double error = 0;
    if constexpr (c10::is_complex_v<T>) {
      using Limits = std::numeric_limits<typename T::value_type>;
      const T in = static_cast<const T*>(operand.const_data_ptr())[i];
      const double size = std::max(size_of(y[i]), std::min(size_of(in), 1.));
      error = std::max(distance(Limits(), double(x[i].real()), double(y[i].real()), size),
                       distance(Limits(), double(x[i].imag()), double(y[i].imag()), size));
    } else if constexpr (std::is_integral_v<T>) {
      error = x[i] == y[i] ? 0 : kNever;
    } else {
      const auto p = static_cast<double>(x[i]), q = static_cast<double>(y[i]);
      const auto in = static_cast<double>(static_cast<const T*>(operand.const_data_ptr())[i]);
      const double size = kSameFunctions ? 0 : std::min(std::abs(in), 1.);
      error = distance(std::numeric_limits<T>(), p, q, std::max(std::abs(q), size));
    }
    if (error > largest) {
      largest = error;
      worst = i;
    }
  }
  return largest;
}

double largest_error(const Tensor& got, const Tensor& expected, const Tensor& first,
                     int64_t& worst) {
  switch (expected.scalar_type()) {
#define OPLOOM_CASE(type, name, text) \
  case ScalarType::name:              \
    return largest_error<type>(got, expected, first, worst);
    OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_CASE)
#undef OPLOOM_CASE
    default:
      return std::numeric_limits<double>::infinity();
  }
}

std::string element_text(const Tensor& tensor, int64_t element) {
  if (element < 0 || element >= tensor.numel()) return "(none)";
  std::ostringstream text;
  text << std::setprecision(17) << tensor.flatten().select(0, element).item();
  return text.str();
}

void expect_equal(const Stack& results, const Stack& expected, const Tensor& first,
                  const std::string& what) {
  ASSERT_EQ(results.size(), expected.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tensor a = Tensor(results[i].to_tensor()), b = Tensor(expected[i].to_tensor());
    ASSERT_EQ(a.defined(), b.defined()) << what;
    if (!b.defined()) continue;
    EXPECT_TRUE(a.is_cuda()) << what;
    ASSERT_EQ(a.scalar_type(), b.scalar_type()) << what;
    ASSERT_EQ(a.sizes(), b.sizes()) << what;
    int64_t worst = -1;
    const double error = largest_error(to_cpu(a), b, first, worst);
    EXPECT_LE(error, allowed(b.scalar_type()))
        << what << ": result " << i << ", element " << worst << ": "
        << element_text(to_cpu(a), worst) << " instead of " << element_text(b, worst)
        << "; the operands begin " << element_text(first, worst);
  }
}

// Gradients are called with what their forward operators return, never with integers.
bool takes(const at::OperatorTableBase& op, ScalarType dtype) {
  const bool gradient = std::string_view(op.name()).find("_backward") != std::string_view::npos;
  return !gradient || !c10::isIntegralType(dtype, /*includeBool=*/true);
}

// Runs the operator on both devices. False if the operator does not take these arguments; then
// neither device does.
bool check(const at::OperatorTableBase& op, const Stack& arguments, const std::string& what) {
  Stack expected = arguments;
  std::string refusal;
  try {
    op.call_boxed(expected);
  } catch (const c10::TypeError& error) {
    refusal = error.what();
  }
  Stack results = on_cuda(arguments);
  if (!refusal.empty()) {
    EXPECT_THROW(op.call_boxed(results), c10::TypeError) << what << ": the CPU says: " << refusal;
    return false;
  }
  op.call_boxed(results);
  const auto first = std::find_if(arguments.begin(), arguments.end(),
                                  [](const IValue& value) { return value.is_tensor(); });
  expect_equal(results, expected, Tensor(first->to_tensor()), what);
  return true;
}

// The same functions in the same order; read when the first kernel is chosen.
[[maybe_unused]] const int simplest = setenv("OPLOOM_CPU_CAPABILITY", "default", /*overwrite=*/1);

class CUDAExpression : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test_device::is_there()) GTEST_SKIP() << "there is no GPU, or no driver for it";
  }
  static FunctionSchema schema_of(const at::OperatorTableBase& op) {
    return c10::parse_schema(op.schema());
  }
};

TEST_F(CUDAExpression, IsComparedWithTheSimplestKernels) {
  ASSERT_EQ(at::get_cpu_capability(), "DEFAULT");
}

// 1,003 elements: whole packs of every width, and some that are left over.
TEST_F(CUDAExpression, DenseOperands) {
  const auto operators = operators_with_kernels();
  ASSERT_GE(operators.size(), 170u);
  for (const at::OperatorTableBase* op : operators) {
    int dtypes = 0;
    for (const ScalarType dtype : kDtypes) {
      if (!takes(*op, dtype)) continue;
      const Stack arguments =
          arguments_for(schema_of(*op), [&](int k) { return values({1003}, dtype, 17 * k + 1); });
      dtypes += check(*op, arguments, c10::str(op->schema(), " of ", dtype));
    }
    EXPECT_GE(dtypes, 4) << op->schema();
  }
}

// Broadcast, transposed and cut operands, none of which starts at a multiple of 16 bytes.
TEST_F(CUDAExpression, StridedOperands) {
  for (const at::OperatorTableBase* op : operators_with_kernels()) {
    for (const ScalarType dtype : {at::kFloat, at::kHalf, at::kComplexDouble, at::kLong}) {
      if (!takes(*op, dtype)) continue;
      const Stack arguments = arguments_for(schema_of(*op), [&](int k) {
        if (k == 0) return values({5, 9, 7}, dtype, 1).transpose(0, 2);
        if (k == 1) return values({9, 6}, dtype, 2).slice(1, 1, 6);
        return values({7, 1, 5}, dtype, 3);
      });
      check(*op, arguments, c10::str(op->schema(), " of ", dtype));
    }
  }
}

// Rows and columns that are broadcast along dense rows, and numbers beside them.
TEST_F(CUDAExpression, PackedOperands) {
  for (const at::OperatorTableBase* op : operators_with_kernels()) {
    for (const ScalarType dtype : {at::kFloat, at::kHalf, at::kDouble, at::kByte}) {
      if (!takes(*op, dtype)) continue;
      for (int first = 0; first < 3; ++first) {
        const Stack arguments = arguments_for(schema_of(*op), [&](int k) {
          const at::DimVector sizes[] = {{6, 16}, {16}, {6, 1}};
          return values(sizes[(k + first) % 3], dtype, k + 1);
        });
        check(*op, arguments, c10::str(op->schema(), " of ", dtype, ", order ", first));
      }
    }
  }
}

// Transposed operands that are large enough to be gone through in tiles.
TEST_F(CUDAExpression, TransposedOperands) {
  int64_t worst = -1;
  for (const ScalarType dtype : {at::kFloat, at::kHalf, at::kComplexDouble, at::kByte}) {
    for (const auto& [rows, columns] : {std::pair{256, 192}, {250, 203}, {4, 12000}}) {
      const Tensor x = values({rows, columns}, dtype, 1), y = values({columns, rows}, dtype, 2);
      const Tensor sum = to_cuda(x) + to_cuda(y).t();
      EXPECT_EQ(largest_error(to_cpu(sum), x + y.t(), x, worst), 0) << dtype << ", " << worst;
    }
  }
}

// A gradient of several inputs has a kernel for each of them alone.
TEST_F(CUDAExpression, OneOutputOfSeveral) {
  int checked = 0;
  for (const at::OperatorTableBase* op : operators_with_kernels()) {
    const FunctionSchema schema = schema_of(*op);
    if (schema.returns.size() < 2) continue;
    for (size_t wanted = 0; wanted < schema.returns.size(); ++wanted) {
      Stack arguments =
          arguments_for(schema, [&](int k) { return values({100}, at::kDouble, k + 5); });
      std::vector<bool> mask(schema.returns.size(), false);
      mask[wanted] = true;
      arguments.back() = IValue(mask);
      check(*op, arguments, c10::str(op->schema(), ", output ", wanted));
      ++checked;
    }
  }
  EXPECT_GE(checked, 10);
}

TEST_F(CUDAExpression, NumbersOnTheCPUArePassedByValue) {
  const Tensor x = values({300}, at::kFloat, 1);
  for (const double number : {2., 0.3}) {
    const Tensor scalar = at::full({}, number, at::TensorOptions(at::kDouble));
    const Tensor expected = at::atan2(x, scalar);
    int64_t worst = -1;
    EXPECT_LE(largest_error(to_cpu(at::atan2(to_cuda(x), scalar)), expected, x, worst), 4);
    EXPECT_LE(largest_error(to_cpu(at::hypot(scalar, to_cuda(x))), at::hypot(scalar, x), x, worst),
              4);
  }
}

TEST_F(CUDAExpression, OtherDtypesGoThroughTemporaries) {
  const Tensor ints = values({6, 1, 7}, at::kInt, 1), floats = values({5, 7}, at::kFloat, 2);
  int64_t worst = -1;
  const int64_t before = test_device::allocated_blocks();
  {
    const Tensor result = at::atan2(to_cuda(ints), to_cuda(floats));
    EXPECT_EQ(result.scalar_type(), at::kFloat);
    EXPECT_LE(largest_error(to_cpu(result), at::atan2(ints, floats), ints, worst), 4);
    // Into an output of another dtype, and layout.
    const Tensor out = at::empty({7, 5, 6}, at::kDouble).transpose(0, 2);
    Tensor wanted = at::empty_like(out);
    Tensor out_on_cuda = to_cuda(out);
    at::atan2_out(out_on_cuda, to_cuda(ints), to_cuda(floats));
    at::atan2_out(wanted, ints, floats);
    // The doubles are floats converted.
    EXPECT_LE(largest_error(to_cpu(out_on_cuda).to(at::kFloat), wanted.to(at::kFloat), ints, worst),
              4);
  }
  EXPECT_EQ(test_device::allocated_blocks(), before) << "the temporaries are freed";
}

// Written by hand, of every dtype, bool included; numbers among the operands, and gradients that
// meet.
TEST_F(CUDAExpression, Arithmetic) {
  for (const char* name : {"add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor"}) {
    const at::OperatorTableBase& op = at::get_operator(name);
    int dtypes = 0;
    for (const ScalarType dtype : kDtypes) {
      if (dtype == at::kBool && std::string_view(name) == "sub.Tensor") continue;  // refused
      Stack arguments =
          arguments_for(schema_of(op), [&](int k) { return values({1003}, dtype, 17 * k + 1); });
      dtypes += check(op, arguments, c10::str(name, " of ", dtype));
      if (arguments.size() == 3 && dtype != at::kBool) {
        arguments[2] = IValue(at::Scalar(3));
        check(op, arguments, c10::str(name, " of ", dtype, " with alpha = 3"));
      }
    }
    EXPECT_GE(dtypes, 10);
  }
  const Tensor x = values({40}, at::kDouble, 2);
  int64_t worst = -1;
  EXPECT_EQ(largest_error(to_cpu(2.5 - to_cuda(x) * 3), 2.5 - x * 3, x, worst), 0);
  Tensor leaf = to_cuda(at::full({8}, 0.5)), here = at::full({8}, 0.5);
  for (Tensor* t : {&leaf, &here}) {
    t->set_requires_grad(true);
    const Tensor y = t->exp() * t->sin();
    y.backward(t->is_cuda() ? to_cuda(at::ones({8})) : at::ones({8}));
  }
  EXPECT_LE(largest_error(to_cpu(leaf.grad()), here.grad(), here.detach(), worst), 4);
}

TEST_F(CUDAExpression, InPlaceAndEmpty) {
  const Tensor x = values({257}, at::kDouble, 4), expected = at::exp(x);
  Tensor y = to_cuda(x);
  y.exp_();
  int64_t worst = -1;
  EXPECT_LE(largest_error(to_cpu(y), expected, x, worst), 4);
  EXPECT_EQ(at::exp(to_cuda(at::empty({0, 3}))).sizes(), at::IntArrayRef({0, 3}));
  const Tensor zero_dim = at::full({}, 0.5);
  EXPECT_LE(largest_error(to_cpu(at::exp(to_cuda(zero_dim))), at::exp(zero_dim), zero_dim, worst),
            1);
}

}  // namespace
