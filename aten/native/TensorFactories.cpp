// Creation of tensors: uninitialised, filled, sequences, random.
#include <aten/core/Dispatch.h>
#include <aten/core/Empty.h>
#include <aten/core/Parallel.h>
#include <aten/iterator/Cast.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/ShapeUtils.h>
#include <aten/native/StructuredOutputs.h>
#include <aten/stubs/Distributions.h>
#include <aten/stubs/RangeFactories.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/LocalDispatchKeySet.h>
#include <c10/core/MemoryFormat.h>
#include <generated/native/arange.h>
#include <generated/native/bernoulli.h>
#include <generated/native/empty.h>
#include <generated/native/empty_like.h>
#include <generated/native/empty_strided.h>
#include <generated/native/eye.h>
#include <generated/native/full.h>
#include <generated/native/full_like.h>
#include <generated/native/linspace.h>
#include <generated/native/new_empty.h>
#include <generated/native/new_empty_strided.h>
#include <generated/native/new_full.h>
#include <generated/native/new_ones.h>
#include <generated/native/new_zeros.h>
#include <generated/native/normal.h>
#include <generated/native/ones.h>
#include <generated/native/ones_like.h>
#include <generated/native/rand.h>
#include <generated/native/rand_like.h>
#include <generated/native/randint.h>
#include <generated/native/randint_like.h>
#include <generated/native/randn.h>
#include <generated/native/randn_like.h>
#include <generated/native/random.h>
#include <generated/native/randperm.h>
#include <generated/native/scalar_tensor.h>
#include <generated/native/tril.h>
#include <generated/native/triu.h>
#include <generated/native/uniform.h>
#include <generated/native/zeros.h>
#include <generated/native/zeros_like.h>
#include <generated/ops/arange.h>
#include <generated/ops/bernoulli.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/fill.h>
#include <generated/ops/linspace.h>
#include <generated/ops/normal.h>
#include <generated/ops/random.h>
#include <generated/ops/randperm.h>
#include <generated/ops/uniform.h>
#include <generated/ops/zero.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace at::inline oploom_v1::native {

// Note [Factories run below autograd]
// A factory has no tensor arguments, so no autograd kernel has run before it. What it does to the
// fresh tensor must not be recorded, nor count as a change in place.

namespace {

TensorOptions make_options(std::optional<ScalarType> dtype, std::optional<Layout> layout,
                           std::optional<Device> device, std::optional<bool> pin_memory) {
  return TensorOptions()
      .dtype(dtype.value_or(c10::get_default_dtype()))
      .layout(layout)
      .device(device.value_or(kCPU))
      .pinned_memory(pin_memory);
}

// The options of a `_like` or `new_` operator: what is not given is taken from self.
TensorOptions options_like(const Tensor& self, std::optional<ScalarType> dtype,
                           std::optional<Layout> layout, std::optional<Device> device,
                           std::optional<bool> pin_memory) {
  return make_options(dtype.value_or(self.scalar_type()), layout, device.value_or(self.device()),
                      pin_memory);
}

Tensor empty_with(IntArrayRef size, const TensorOptions& options) {
  return Tensor(at::detail::empty(size, options));
}

// The dtype of full(): the kind of the number decides.
ScalarType dtype_of_number(const Scalar& value) {
  if (value.isBoolean()) return kBool;
  if (value.isIntegral(false)) return kLong;
  return value.isComplex() ? c10::get_default_complex_dtype() : c10::get_default_dtype();
}

Tensor filled(Tensor fresh, const Scalar& value) {
  c10::AutoDispatchBelowAutograd guard;
  fresh.fill_(value);
  return fresh;
}
Tensor zeroed(Tensor fresh) {
  c10::AutoDispatchBelowAutograd guard;
  fresh.zero_();
  return fresh;
}

}  // namespace

// ---- Uninitialised ----

Tensor empty(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> device, std::optional<bool> pin_memory,
             std::optional<MemoryFormat> memory_format) {
  const bool asks = layout.has_value() || device.has_value() || pin_memory.has_value() ||
                    memory_format.has_value();
  if (OPLOOM_LIKELY(!asks)) {
    return Tensor(at::detail::empty_cpu(size, dtype.value_or(c10::get_default_dtype())));
  }
  const TensorOptions options = make_options(dtype, layout, device, pin_memory);
  if (!memory_format.has_value()) return empty_with(size, options);
  OPLOOM_CHECK(*memory_format != MemoryFormat::Preserve,
               "empty(): there is no input whose memory format could be preserved");
  return empty_with(size, options.memory_format(*memory_format));
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  OPLOOM_CHECK_VALUE(size.size() == stride.size(),
                     "empty_strided(): expected size and stride of the same length, got ", size,
                     " and ", stride);
  for (int64_t s : stride) {
    OPLOOM_CHECK_VALUE(s >= 0, "empty_strided(): negative strides are not supported, got ", stride);
  }
  return Tensor(
      at::detail::empty_strided(size, stride, make_options(dtype, layout, device, pin_memory)));
}

Tensor empty_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  const TensorOptions options = options_like(self, dtype, layout, device, pin_memory);
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  if (format != MemoryFormat::Preserve) {
    return empty_with(self.sizes(), options.memory_format(format));
  }
  if (OPLOOM_LIKELY(self.is_contiguous())) return empty_with(self.sizes(), options);
  if (self.is_non_overlapping_and_dense()) {
    return Tensor(at::detail::empty_strided(self.sizes(), self.strides(), options));
  }
  return Tensor(at::detail::empty_strided(
      self.sizes(), c10::infer_dense_strides(self.sizes(), self.strides()), options));
}

Tensor new_empty(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device,
                 std::optional<bool> pin_memory) {
  return empty_with(size, options_like(self, dtype, layout, device, pin_memory));
}

Tensor new_empty_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                         std::optional<ScalarType> dtype, std::optional<Layout> layout,
                         std::optional<Device> device, std::optional<bool> pin_memory) {
  return native::empty_strided(size, stride, dtype.value_or(self.scalar_type()), layout,
                               device.value_or(self.device()), pin_memory);
}

// ---- Filled with one value ----

namespace {
template <typename Fill>
Tensor& resize_and_fill(Tensor& out, IntArrayRef size, const Fill& fill) {
  ShapeGuard guard(out);
  at::detail::resize_output(out, size);
  fill();
  guard.dismiss();
  return out;
}
}  // namespace

Tensor zeros(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> device, std::optional<bool> pin_memory) {
  return zeroed(empty_with(size, make_options(dtype, layout, device, pin_memory)));
}
Tensor& zeros_out(IntArrayRef size, Tensor& out) {
  return resize_and_fill(out, size, [&] { out.zero_(); });
}
Tensor zeros_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  return zeroed(native::empty_like(self, dtype, layout, device, pin_memory, memory_format));
}
Tensor new_zeros(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device,
                 std::optional<bool> pin_memory) {
  return zeroed(native::new_empty(self, size, dtype, layout, device, pin_memory));
}

Tensor ones(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
            std::optional<Device> device, std::optional<bool> pin_memory) {
  return filled(empty_with(size, make_options(dtype, layout, device, pin_memory)), 1);
}
Tensor& ones_out(IntArrayRef size, Tensor& out) {
  return resize_and_fill(out, size, [&] { out.fill_(1); });
}
Tensor ones_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return filled(native::empty_like(self, dtype, layout, device, pin_memory, memory_format), 1);
}
Tensor new_ones(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool> pin_memory) {
  return filled(native::new_empty(self, size, dtype, layout, device, pin_memory), 1);
}

Tensor full(IntArrayRef size, const Scalar& fill_value, std::optional<ScalarType> dtype,
            std::optional<Layout> layout, std::optional<Device> device,
            std::optional<bool> pin_memory) {
  const ScalarType type = dtype.has_value() ? *dtype : dtype_of_number(fill_value);
  return filled(empty_with(size, make_options(type, layout, device, pin_memory)), fill_value);
}
Tensor& full_out(IntArrayRef size, const Scalar& fill_value, Tensor& out) {
  return resize_and_fill(out, size, [&] { out.fill_(fill_value); });
}
Tensor full_like(const Tensor& self, const Scalar& fill_value, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device,
                 std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format) {
  return filled(native::empty_like(self, dtype, layout, device, pin_memory, memory_format),
                fill_value);
}
Tensor new_full(const Tensor& self, IntArrayRef size, const Scalar& fill_value,
                std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory) {
  return filled(native::new_empty(self, size, dtype, layout, device, pin_memory), fill_value);
}

Tensor scalar_tensor(const Scalar& s, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                     std::optional<Device> device, std::optional<bool> pin_memory) {
  return filled(empty_with({}, make_options(dtype, layout, device, pin_memory)), s);
}

// ---- Sequences ----

namespace {

// Writes a sequence of `size` elements into `out`, whose shape is kept if it holds as many.
template <typename Fill>
Tensor& fill_sequence(Tensor& out, int64_t size, const Fill& fill) {
  ShapeGuard guard(out);
  if (out.numel() != size) at::detail::resize(out, {size});
  if (size == 0) {
    guard.dismiss();
    return out;
  }
  if (out.is_contiguous()) {
    const Tensor flat = make_alias(out, {size}, {1});
    auto iter = TensorIterator::borrowing_nullary_op(flat);
    fill(iter);
  } else {
    const Tensor flat(at::detail::empty({size}, out.options()));
    auto iter = TensorIterator::borrowing_nullary_op(flat);
    fill(iter);
    out.copy_(make_alias(flat, out.sizes(), c10::contiguous_strides(out.sizes())));
  }
  guard.dismiss();
  return out;
}

int64_t arange_size(const Scalar& start, const Scalar& end, const Scalar& step, bool integral) {
  OPLOOM_CHECK_TYPE(!start.isComplex() && !end.isComplex() && !step.isComplex(),
                    "arange(): expected real numbers, got start=", start, ", end=", end,
                    ", step=", step);
  const double first = start.to<double>();
  const double last = end.to<double>();
  const double by = step.to<double>();
  OPLOOM_CHECK_VALUE(by != 0 && std::isfinite(by),
                     "arange(): expected a finite step other than 0, got ", step);
  OPLOOM_CHECK_VALUE(std::isfinite(first) && std::isfinite(last),
                     "arange(): expected finite limits, got start=", start, ", end=", end);
  OPLOOM_CHECK_VALUE(by > 0 ? last >= first : last <= first,
                     "arange(): expected the sign of step to lead from start=", start,
                     " to end=", end, ", got step=", step);
  if (integral && start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true)) {
    const __int128 distance = static_cast<__int128>(end.to<int64_t>()) - start.to<int64_t>();
    const __int128 stride = step.to<int64_t>();
    const __int128 size = (distance + stride - (stride > 0 ? 1 : -1)) / stride;
    OPLOOM_CHECK_VALUE(size <= std::numeric_limits<int64_t>::max(), "arange(): start=", start,
                       ", end=", end, " has more elements than 64 bits can count");
    return static_cast<int64_t>(size);
  }
  const double size = std::ceil((last - first) / by);
  OPLOOM_CHECK_VALUE(size >= 0 && size < 0x1p63, "arange(): start=", start, ", end=", end,
                     ", step=", step, " has an invalid number of elements, ", size);
  return static_cast<int64_t>(size);
}

}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              std::optional<ScalarType> dtype, std::optional<Layout> layout,
              std::optional<Device> device, std::optional<bool> pin_memory) {
  const bool integral = start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true);
  const ScalarType type = dtype.value_or(integral ? kLong : c10::get_default_dtype());
  Tensor result = empty_with({0}, make_options(type, layout, device, pin_memory));
  c10::AutoDispatchBelowAutograd guard;
  at::arange_out(result, start, end, step);
  return result;
}
Tensor arange(const Scalar& start, const Scalar& end, std::optional<ScalarType> dtype,
              std::optional<Layout> layout, std::optional<Device> device,
              std::optional<bool> pin_memory) {
  return native::arange(start, end, 1, dtype, layout, device, pin_memory);
}
Tensor arange(const Scalar& end, std::optional<ScalarType> dtype, std::optional<Layout> layout,
              std::optional<Device> device, std::optional<bool> pin_memory) {
  return native::arange(0, end, 1, dtype, layout, device, pin_memory);
}
Tensor& arange_out(const Scalar& end, Tensor& out) { return at::arange_out(out, 0, end, 1); }

Tensor& arange_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const int64_t size = arange_size(start, end, step, c10::isIntegralType(out.scalar_type(), true));
  return fill_sequence(
      out, size, [&](TensorIterator& iter) { arange_stub(DeviceType::CPU, iter, start, step); });
}
Tensor& arange_out_meta(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const int64_t size = arange_size(start, end, step, c10::isIntegralType(out.scalar_type(), true));
  if (out.numel() != size) at::detail::resize(out, {size});
  return out;
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory) {
  const bool complex = start.isComplex() || end.isComplex();
  const ScalarType type =
      dtype.value_or(complex ? c10::get_default_complex_dtype() : c10::get_default_dtype());
  OPLOOM_CHECK_VALUE(steps >= 0, "linspace(): expected a non-negative number of steps, got ",
                     steps);
  Tensor result = empty_with({steps}, make_options(type, layout, device, pin_memory));
  c10::AutoDispatchBelowAutograd guard;
  at::linspace_out(result, start, end, steps);
  return result;
}
Tensor& linspace_out(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  OPLOOM_CHECK_VALUE(steps >= 0, "linspace(): expected a non-negative number of steps, got ",
                     steps);
  if (steps == 1) {
    ShapeGuard guard(out);
    if (out.numel() != 1) at::detail::resize(out, {1});
    out.fill_(start);
    guard.dismiss();
    return out;
  }
  return fill_sequence(out, steps, [&](TensorIterator& iter) {
    linspace_stub(DeviceType::CPU, iter, start, end, steps);
  });
}
Tensor& linspace_out_meta(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  OPLOOM_CHECK_VALUE(steps >= 0, "linspace(): expected a non-negative number of steps, got ",
                     steps);
  if (out.numel() != steps) at::detail::resize(out, {steps});
  return out;
}

// ---- Matrices ----

Tensor& eye_out(int64_t n, int64_t m, Tensor& out) {
  OPLOOM_CHECK_VALUE(n >= 0 && m >= 0,
                     "eye(): expected a non-negative number of rows and columns, ", "got ", n,
                     " and ", m);
  zeros_out({n, m}, out);
  const int64_t length = std::min(n, m);
  if (length > 0) make_alias(out, {length}, {out.stride(0) + out.stride(1)}).fill_(1);
  return out;
}
Tensor& eye_out(int64_t n, Tensor& out) { return native::eye_out(n, n, out); }
Tensor eye(int64_t n, int64_t m, std::optional<ScalarType> dtype, std::optional<Layout> layout,
           std::optional<Device> device, std::optional<bool> pin_memory) {
  OPLOOM_CHECK_VALUE(n >= 0 && m >= 0,
                     "eye(): expected a non-negative number of rows and columns, ", "got ", n,
                     " and ", m);
  Tensor result = empty_with({n, m}, make_options(dtype, layout, device, pin_memory));
  c10::AutoDispatchBelowAutograd guard;
  return native::eye_out(n, m, result);
}
Tensor eye(int64_t n, std::optional<ScalarType> dtype, std::optional<Layout> layout,
           std::optional<Device> device, std::optional<bool> pin_memory) {
  return native::eye(n, n, dtype, layout, device, pin_memory);
}

namespace {

void check_triangle(const char* op, const Tensor& self) {
  OPLOOM_CHECK(self.dim() >= 2, op, "(): expected an input of at least 2 dimensions, got ",
               self.dim());
}

// The elements of a matrix; distances in bytes.
struct Elements {
  char* data;
  int64_t row_stride, stride;
  char* at(int64_t i, int64_t j) const { return data + i * row_stride + j * stride; }
};

// Rows `begin` to `end` of the triangle of a matrix; the first clamp(i + edge, 0, columns) elements
// of row i are the lower triangle's, the others the upper one's. What is not kept becomes 0.
void copy_triangle_rows(const Elements& from, const Elements& to, int64_t itemsize, int64_t begin,
                        int64_t end, int64_t columns, int64_t edge, bool upper) {
  const at::detail::CastLoop move = at::detail::get_move_loop(itemsize);
  const bool in_place = from.data == to.data;
  const auto set = [&](int64_t i, int64_t j, int64_t n, bool kept) {
    alignas(16) static constexpr char kZero[16] = {};
    if (!kept) {
      move(to.at(i, j), to.stride, kZero, 0, n);
    } else if (!in_place) {
      move(to.at(i, j), to.stride, from.at(i, j), from.stride, n);
    }
  };
  // At once where rows lie side by side.
  const bool dense = to.stride == itemsize && to.row_stride == columns * itemsize &&
                     from.stride == to.stride && from.row_stride == to.row_stride;
  const auto set_rows = [&](int64_t first, int64_t last, bool kept) {
    if (dense) return set(first, 0, (last - first) * columns, kept);
    for (int64_t i = first; i < last; ++i) set(i, 0, columns, kept);
  };
  const int64_t cut = std::clamp(-edge, begin, end), uncut = std::clamp(columns - edge, cut, end);
  set_rows(begin, cut, upper);
  for (int64_t i = cut; i < uncut; ++i) {
    set(i, 0, i + edge, !upper);
    set(i, i + edge, columns - (i + edge), upper);
  }
  set_rows(uncut, end, !upper);
}

void copy_triangle(const Tensor& self, int64_t diagonal, const Tensor& out, bool upper) {
  if (out.numel() == 0) return;
  assert_no_internal_overlap(out);
  assert_no_partial_overlap(out, self);
  const int64_t ndim = self.dim(), itemsize = self.itemsize();
  const int64_t rows = self.size(ndim - 2);
  const int64_t columns = self.size(ndim - 1);
  // The diagonal may be any 64-bit number.
  const int64_t edge = std::clamp(diagonal, -rows - 1, columns) + (upper ? 0 : 1);
  const auto elements_of = [&](const Tensor& t, const void* data, int64_t matrix) {
    int64_t place = 0;
    for (int64_t d = ndim - 3; d >= 0; --d) {
      place += matrix % t.sizes()[d] * t.strides()[d];
      matrix /= t.sizes()[d];
    }
    return Elements{static_cast<char*>(const_cast<void*>(data)) + place * itemsize,
                    t.strides()[ndim - 2] * itemsize, t.strides()[ndim - 1] * itemsize};
  };
  const void* from = self.const_data_ptr();
  void* to = out.mutable_data_ptr();
  at::parallel_for(0, out.numel() / columns, grain_for(columns), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t first = begin % rows, last = std::min(rows, first + end - begin);
      copy_triangle_rows(elements_of(self, from, begin / rows), elements_of(out, to, begin / rows),
                         itemsize, first, last, columns, edge, upper);
      begin += last - first;
    }
  });
}

}  // namespace

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {
using namespace native;

OPLOOM_META_FUNC(tril)(const Tensor& self, int64_t diagonal) {
  check_triangle("tril", self);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPLOOM_META_FUNC(triu)(const Tensor& self, int64_t diagonal) {
  check_triangle("triu", self);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

OPLOOM_IMPL_FUNC(tril_cpu)(const Tensor& self, int64_t diagonal, const Tensor& out) {
  copy_triangle(self, diagonal, out, /*upper=*/false);
}
OPLOOM_IMPL_FUNC(triu_cpu)(const Tensor& self, int64_t diagonal, const Tensor& out) {
  copy_triangle(self, diagonal, out, /*upper=*/true);
}

// ---- Random numbers ----

namespace {

// The largest integer such that it and all smaller ones are exact in a dtype.
int64_t largest_exact_integer(ScalarType dtype) {
  switch (dtype) {
    case kBool:
      return 1;
    case kByte:
      return std::numeric_limits<uint8_t>::max();
    case kChar:
      return std::numeric_limits<int8_t>::max();
    case kShort:
      return std::numeric_limits<int16_t>::max();
    case kInt:
      return std::numeric_limits<int32_t>::max();
    case kLong:
      return std::numeric_limits<int64_t>::max();
    case kBFloat16:
      return int64_t{1} << 8;
    case kHalf:
      return int64_t{1} << 11;
    case kFloat:
      return int64_t{1} << 24;
    case kDouble:
      return int64_t{1} << 53;
    default:
      OPLOOM_CHECK_NOT_IMPLEMENTED(false, "random_(): expected a real dtype, got ", dtype);
      return 0;
  }
}

// Whether a dtype has the number at all, rounded or not.
bool in_range(int64_t value, ScalarType dtype) {
  if (dtype == kHalf) return value >= -65504 && value <= 65504;
  if (c10::isFloatingType(dtype)) return true;
  const int64_t high = largest_exact_integer(dtype);
  const int64_t low = c10::isSignedType(dtype) ? -high - 1 : 0;
  return value >= low && value <= high;
}

void check_random_range(const char* op, int64_t from, int64_t to, ScalarType dtype) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(!c10::isComplexType(dtype), op, "(): expected a real dtype, got ",
                               dtype);
  OPLOOM_CHECK_VALUE(from < to, op, "(): expected a lower limit below the upper one, got ", from,
                     " and ", to);
  OPLOOM_CHECK_VALUE(in_range(from, dtype) && in_range(to - 1, dtype), op, "(): numbers from ",
                     from, " to ", to - 1, " do not all fit dtype ", dtype);
}

void check_floating(const char* op, const TensorBase& self) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), op, "(): expected a floating dtype, got ",
                               self.scalar_type());
}

void check_uniform(const TensorBase& self, double from, double to) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || self.is_complex(),
                               "uniform_(): expected a floating or complex dtype, got ",
                               self.scalar_type());
  OPLOOM_CHECK_VALUE(from <= to && std::isfinite(to - from),
                     "uniform_(): expected finite limits in order, got from=", from,
                     " and to=", to);
}
void check_normal(const TensorBase& self, double std) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || self.is_complex(),
                               "normal_(): expected a floating or complex dtype, got ",
                               self.scalar_type());
  OPLOOM_CHECK_VALUE(std >= 0, "normal_(): expected std >= 0, got ", std);
}
void check_probability(double p) {
  OPLOOM_CHECK_VALUE(p >= 0 && p <= 1, "bernoulli(): expected a probability in [0, 1], got ", p);
}

// Calls fill(tensor), which fills a contiguous tensor: self, or one that is copied to it.
template <typename Fill>
Tensor& fill_in_order(Tensor& self, Fill fill) {
  assert_no_internal_overlap(self);
  if (self.numel() == 0) return self;
  if (self.is_contiguous()) {
    fill(self);
    return self;
  }
  const Tensor values = empty_with(self.sizes(), self.options());
  fill(values);
  return self.copy_(values);
}

}  // namespace

Tensor& uniform_(Tensor& self, double from, double to, std::optional<Generator> generator) {
  check_uniform(self, from, to);
  return fill_in_order(self, [&](const Tensor& values) {
    uniform_stub(DeviceType::CPU, values, from, to, std::move(generator));
  });
}
Tensor& uniform_meta_(Tensor& self, double from, double to, std::optional<Generator> generator) {
  check_uniform(self, from, to);
  return self;
}

Tensor& normal_(Tensor& self, double mean, double std, std::optional<Generator> generator) {
  check_normal(self, std);
  return fill_in_order(self, [&](const Tensor& values) {
    normal_stub(DeviceType::CPU, values, mean, std, std::move(generator));
  });
}
Tensor& normal_meta_(Tensor& self, double mean, double std, std::optional<Generator> generator) {
  check_normal(self, std);
  return self;
}

Tensor& random_(Tensor& self, int64_t from, std::optional<int64_t> to,
                std::optional<Generator> generator) {
  const ScalarType dtype = self.scalar_type();
  // Without an upper limit, the largest number is part of the range.
  const int64_t last = to.has_value() ? *to : largest_exact_integer(dtype);
  if (to.has_value()) {
    check_random_range("random_", from, last, dtype);
  } else {
    OPLOOM_CHECK_VALUE(from <= last && in_range(from, dtype), "random_(): expected from <= ", last,
                       " for dtype ", dtype, ", got ", from);
  }
  const uint64_t range =
      static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + (to.has_value() ? 0 : 1);
  return fill_in_order(self, [&](const Tensor& values) {
    random_from_to_stub(DeviceType::CPU, values, range, from, std::move(generator));
  });
}
Tensor& random_(Tensor& self, int64_t to, std::optional<Generator> generator) {
  return native::random_(self, 0, to, std::move(generator));
}
Tensor& random_(Tensor& self, std::optional<Generator> generator) {
  return native::random_(self, 0, std::nullopt, std::move(generator));
}
Tensor& random_meta_(Tensor& self, int64_t from, std::optional<int64_t> to,
                     std::optional<Generator> generator) {
  if (to.has_value()) check_random_range("random_", from, *to, self.scalar_type());
  return self;
}
Tensor& random_meta_(Tensor& self, int64_t to, std::optional<Generator> generator) {
  return native::random_meta_(self, 0, to, std::move(generator));
}
Tensor& random_meta_(Tensor& self, std::optional<Generator> generator) { return self; }

Tensor& bernoulli_(Tensor& self, double p, std::optional<Generator> generator) {
  check_probability(p);
  return fill_in_order(self, [&](const Tensor& values) {
    bernoulli_scalar_stub(DeviceType::CPU, values, p, std::move(generator));
  });
}
Tensor& bernoulli_meta_(Tensor& self, double p, std::optional<Generator> generator) {
  check_probability(p);
  return self;
}
Tensor& bernoulli_(Tensor& self, const Tensor& p, std::optional<Generator> generator) {
  check_floating("bernoulli", p);
  const Tensor probabilities = expand_alias("bernoulli", p, self.sizes());
  return fill_in_order(self, [&](const Tensor& values) {
    bernoulli_tensor_stub(DeviceType::CPU, values, probabilities.contiguous(),
                          std::move(generator));
  });
}
Tensor& bernoulli_meta_(Tensor& self, const Tensor& p, std::optional<Generator> generator) {
  check_one_device("bernoulli_", self, p);
  check_floating("bernoulli", p);
  expand_alias("bernoulli", p, self.sizes());
  return self;
}
Tensor bernoulli(const Tensor& self, std::optional<Generator> generator) {
  check_floating("bernoulli", self);
  Tensor result = native::empty_like(self, {}, {}, {}, {}, {});
  result.bernoulli_(self, std::move(generator));
  return result;
}
Tensor bernoulli(const Tensor& self, double p, std::optional<Generator> generator) {
  Tensor result = native::empty_like(self, {}, {}, {}, {}, {});
  result.bernoulli_(p, std::move(generator));
  return result;
}

Tensor rand(IntArrayRef size, std::optional<Generator> generator, std::optional<ScalarType> dtype,
            std::optional<Layout> layout, std::optional<Device> device,
            std::optional<bool> pin_memory) {
  const Tensor result = empty_with(size, make_options(dtype, layout, device, pin_memory));
  c10::AutoDispatchBelowAutograd guard;
  result.uniform_(0, 1, std::move(generator));
  return result;
}
Tensor rand(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
            std::optional<Device> device, std::optional<bool> pin_memory) {
  return native::rand(size, std::optional<Generator>(), dtype, layout, device, pin_memory);
}
Tensor& rand_out(IntArrayRef size, std::optional<Generator> generator, Tensor& out) {
  return resize_and_fill(out, size, [&] { out.uniform_(0, 1, std::move(generator)); });
}
Tensor& rand_out(IntArrayRef size, Tensor& out) {
  return resize_and_fill(out, size, [&] { out.uniform_(0, 1); });
}
Tensor rand_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return native::empty_like(self, dtype, layout, device, pin_memory, memory_format).uniform_(0, 1);
}

Tensor randn(IntArrayRef size, std::optional<Generator> generator, std::optional<ScalarType> dtype,
             std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory) {
  const Tensor result = empty_with(size, make_options(dtype, layout, device, pin_memory));
  c10::AutoDispatchBelowAutograd guard;
  result.normal_(0, 1, std::move(generator));
  return result;
}
Tensor randn(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> device, std::optional<bool> pin_memory) {
  return native::randn(size, std::optional<Generator>(), dtype, layout, device, pin_memory);
}
Tensor& randn_out(IntArrayRef size, std::optional<Generator> generator, Tensor& out) {
  return resize_and_fill(out, size, [&] { out.normal_(0, 1, std::move(generator)); });
}
Tensor& randn_out(IntArrayRef size, Tensor& out) {
  return resize_and_fill(out, size, [&] { out.normal_(0, 1); });
}
Tensor randn_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  return native::empty_like(self, dtype, layout, device, pin_memory, memory_format).normal_(0, 1);
}

Tensor randint(int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator,
               std::optional<ScalarType> dtype, std::optional<Layout> layout,
               std::optional<Device> device, std::optional<bool> pin_memory) {
  check_random_range("randint", low, high, dtype.value_or(kLong));
  const Tensor result =
      empty_with(size, make_options(dtype.value_or(kLong), layout, device, pin_memory));
  c10::AutoDispatchBelowAutograd guard;
  result.random_(low, high, std::move(generator));
  return result;
}
Tensor randint(int64_t low, int64_t high, IntArrayRef size, std::optional<ScalarType> dtype,
               std::optional<Layout> layout, std::optional<Device> device,
               std::optional<bool> pin_memory) {
  return native::randint(low, high, size, std::optional<Generator>(), dtype, layout, device,
                         pin_memory);
}
Tensor randint(int64_t high, IntArrayRef size, std::optional<Generator> generator,
               std::optional<ScalarType> dtype, std::optional<Layout> layout,
               std::optional<Device> device, std::optional<bool> pin_memory) {
  return native::randint(0, high, size, std::move(generator), dtype, layout, device, pin_memory);
}
Tensor randint(int64_t high, IntArrayRef size, std::optional<ScalarType> dtype,
               std::optional<Layout> layout, std::optional<Device> device,
               std::optional<bool> pin_memory) {
  return native::randint(0, high, size, std::optional<Generator>(), dtype, layout, device,
                         pin_memory);
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format) {
  check_random_range("randint_like", low, high, dtype.value_or(self.scalar_type()));
  return native::empty_like(self, dtype, layout, device, pin_memory, memory_format)
      .random_(low, high);
}
Tensor randint_like(const Tensor& self, int64_t high, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format) {
  return native::randint_like(self, 0, high, dtype, layout, device, pin_memory, memory_format);
}

namespace {

void check_randperm(int64_t n, ScalarType dtype) {
  OPLOOM_CHECK_VALUE(n >= 0, "randperm(): expected n >= 0, got ", n);
  OPLOOM_CHECK_VALUE(n == 0 || n - 1 <= largest_exact_integer(dtype),
                     "randperm(): the numbers up to ", n - 1, " are not all exact in dtype ",
                     dtype);
}

}  // namespace

Tensor& randperm_out(int64_t n, std::optional<Generator> generator, Tensor& out) {
  check_randperm(n, out.scalar_type());
  fill_sequence(out, n, [&](TensorIterator& iter) {
    arange_stub(DeviceType::CPU, iter, 0, 1);
    shuffle_stub(DeviceType::CPU, iter.output_base(), generator);
  });
  return out;
}
Tensor& randperm_out(int64_t n, Tensor& out) {
  return at::randperm_out(out, n, std::optional<Generator>());
}
Tensor& randperm_out_meta(int64_t n, std::optional<Generator> generator, Tensor& out) {
  check_randperm(n, out.scalar_type());
  if (out.numel() != n) at::detail::resize(out, {n});
  return out;
}
Tensor randperm(int64_t n, std::optional<Generator> generator, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool> pin_memory) {
  check_randperm(n, dtype.value_or(kLong));
  Tensor result = empty_with({n}, make_options(dtype.value_or(kLong), layout, device, pin_memory));
  c10::AutoDispatchBelowAutograd guard;
  return at::randperm_out(result, n, std::move(generator));
}
Tensor randperm(int64_t n, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory) {
  return native::randperm(n, std::optional<Generator>(), dtype, layout, device, pin_memory);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/TensorFactories.h>
