// Copies, conversions and fills of whole tensors; numbers out of tensors; aliases.
#include <aten/core/Dispatch.h>
#include <aten/core/Empty.h>
#include <aten/core/Parallel.h>
#include <aten/iterator/Cast.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/ShapeUtils.h>
#include <aten/native/StructuredOutputs.h>
#include <aten/stubs/Copy.h>
#include <aten/stubs/Fill.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/MemoryFormat.h>
#include <generated/native/_local_scalar_dense.h>
#include <generated/native/_to_copy.h>
#include <generated/native/alias.h>
#include <generated/native/clone.h>
#include <generated/native/contiguous.h>
#include <generated/native/copy.h>
#include <generated/native/detach.h>
#include <generated/native/empty_like.h>
#include <generated/native/fill.h>
#include <generated/native/item.h>
#include <generated/native/resize.h>
#include <generated/native/to.h>
#include <generated/native/type_as.h>
#include <generated/native/zero.h>
#include <generated/ops/_local_scalar_dense.h>
#include <generated/ops/_to_copy.h>
#include <generated/ops/clone.h>
#include <generated/ops/copy.h>
#include <generated/ops/fill.h>
#include <generated/ops/item.h>
#include <generated/ops/to.h>
#include <generated/ops/zero.h>

#include <cstring>

namespace at::inline oploom_v1::native {

// ---- copy_ ----

namespace {

bool regions_overlap(const TensorBase& a, const TensorBase& b) {
  const char* a_begin = static_cast<const char*>(a.const_data_ptr());
  const char* b_begin = static_cast<const char*>(b.const_data_ptr());
  return a_begin < b_begin + b.nbytes() && b_begin < a_begin + a.nbytes();
}

// Copies between dense tensors, and into few elements. False where an iterator has to do it.
bool copy_dense(const Tensor& self, const Tensor& src) {
  const ScalarType to = self.scalar_type(), from = src.scalar_type();
  const bool few = self.numel() < 2 * at::GRAIN_SIZE;
  if (self.sizes() != src.sizes() || (to != from && !few)) return false;
  const bool same_layout = (self.is_contiguous() && src.is_contiguous()) ||
                           (self.strides() == src.strides() && self.is_non_overlapping_and_dense());
  if (same_layout) {
    if (regions_overlap(self, src)) return false;
    if (to == from) {
      const auto bytes = static_cast<int64_t>(self.nbytes());
      if (bytes < 2 * at::detail::kCopyGrain) {
        at::detail::copy_row(self.mutable_data_ptr(), src.const_data_ptr(), self.nbytes());
      } else {
        at::detail::copy_bytes(self.mutable_data_ptr(), src.const_data_ptr(), bytes, bytes);
      }
    } else {
      const at::detail::CastLoop cast = at::detail::get_cast_loop(to, from);
      cast(static_cast<char*>(self.mutable_data_ptr()), static_cast<int64_t>(self.itemsize()),
           static_cast<const char*>(src.const_data_ptr()), static_cast<int64_t>(src.itemsize()),
           self.numel());
    }
    return true;
  }
  // Rows that are all the same, as of an expanded bias.
  if (!few || to != from || self.dim() != 2 || !self.is_contiguous() || src.strides()[0] != 0 ||
      src.strides()[1] != 1 || self.is_alias_of(src)) {
    return false;
  }
  const int64_t bytes = self.sizes()[1] * static_cast<int64_t>(self.itemsize());
  at::detail::copy_rows(static_cast<char*>(self.mutable_data_ptr()), bytes,
                        static_cast<const char*>(src.const_data_ptr()), 0,
                        static_cast<size_t>(bytes), self.sizes()[0]);
  return true;
}

void copy_on_cpu(const Tensor& self, const Tensor& src) {
  if (copy_dense(self, src)) return;
  if (OPLOOM_UNLIKELY(self.is_alias_of(src))) {
    // What `x[i] += y` in Python does: it assigns the view that it has changed to its place.
    if (self.const_data_ptr() == src.const_data_ptr() && self.scalar_type() == src.scalar_type() &&
        self.sizes() == src.sizes() && self.strides() == src.strides()) {
      return;
    }
    // Views with gaps may be shifted within one tensor. Dense ones the iterator refuses.
    if (!self.is_non_overlapping_and_dense() || !src.is_non_overlapping_and_dense()) {
      const MemOverlapStatus overlap = get_overlap_status(self, src);
      if (overlap == MemOverlapStatus::Partial || overlap == MemOverlapStatus::TooHard) {
        return copy_on_cpu(self, native::clone(src, MemoryFormat::Preserve));
      }
    }
  }
  auto iter = TensorIteratorConfig()
                  .set_name("copy_")
                  .add_output(self)
                  .add_const_input(src)
                  .resize_outputs(false)
                  .check_all_same_dtype(false)
                  .check_all_same_device(false)
                  .build();
  copy_stub(DeviceType::CPU, iter, /*non_blocking=*/false);
}

}  // namespace

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  OPLOOM_CHECK(self.defined() && src.defined(), "copy_(): expected tensors, got an undefined one");
  if (self.is_same(src)) return self;
  if (self.sizes() != src.sizes()) {
    c10::inferExpandGeometry(src.sizes(), src.strides(), self.sizes(), "copy_");
  }
  if (self.is_meta() || self.numel() == 0) return self;
  OPLOOM_CHECK_NOT_IMPLEMENTED(!src.is_meta(),
                               "copy_(): a tensor on meta has no data that could be copied");
  OPLOOM_CHECK_NOT_IMPLEMENTED(self.is_cpu() && src.is_cpu(), "copy_(): copying from ",
                               src.device(), " to ", self.device(), " is not supported");
  if (OPLOOM_UNLIKELY(src.is_complex() && !self.is_complex() && self.scalar_type() != kBool)) {
    OPLOOM_WARN_ONCE("complex values lose their imaginary part where they become ",
                     self.scalar_type(), "; to say that this is meant, take real()");
  }
  copy_on_cpu(self, src);
  return self;
}

Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor result = native::empty_like(self, {}, {}, {}, {}, {});
  result.copy_(src, non_blocking);
  return result;
}

// ---- clone, contiguous, to ----

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  Tensor result = native::empty_like(self, {}, {}, {}, {}, memory_format);
  result.copy_(self);
  return result;
}

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  if (self.is_contiguous(memory_format)) return self;
  OPLOOM_CHECK(memory_format != MemoryFormat::Preserve,
               "contiguous(): expected a memory format other than preserve_format");
  return self.clone(memory_format);
}

Tensor _to_copy(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking,
                std::optional<MemoryFormat> memory_format) {
  Tensor result = native::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  result.copy_(self, non_blocking);
  return result;
}

namespace {

bool is_already(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, bool copy,
                std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  return !copy && dtype.value_or(self.scalar_type()) == self.scalar_type() &&
         layout.value_or(self.layout()) == self.layout() &&
         c10::with_index(device.value_or(self.device())) == self.device() &&
         (format == MemoryFormat::Preserve || self.suggest_memory_format() == format);
}

}  // namespace

Tensor to(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
          std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking,
          bool copy, std::optional<MemoryFormat> memory_format) {
  if (is_already(self, dtype, layout, device, copy, memory_format)) return self;
  return at::_to_copy(self, dtype, layout, device, pin_memory, non_blocking, memory_format);
}
Tensor to(const Tensor& self, Device device, ScalarType dtype, bool non_blocking, bool copy,
          std::optional<MemoryFormat> memory_format) {
  return native::to(self, dtype, std::nullopt, device, std::nullopt, non_blocking, copy,
                    memory_format);
}
Tensor to(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy,
          std::optional<MemoryFormat> memory_format) {
  return native::to(self, dtype, std::nullopt, std::nullopt, std::nullopt, non_blocking, copy,
                    memory_format);
}
Tensor to(const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
          std::optional<MemoryFormat> memory_format) {
  return native::to(self, other.scalar_type(), other.layout(), other.device(), std::nullopt,
                    non_blocking, copy, memory_format);
}
Tensor type_as(const Tensor& self, const Tensor& other) {
  return native::to(self, other, false, false, std::nullopt);
}

// ---- Fills ----

Tensor& fill_(Tensor& self, const Scalar& value) {
  auto iter = TensorIterator::borrowing_nullary_op(self);
  alignas(16) char element[16];
  value.store(self.scalar_type(), element);
  fill_stub(DeviceType::CPU, iter, element);
  return self;
}
Tensor& fill_meta_(Tensor& self, const Scalar& value) { return self; }

namespace {
void check_fill_value(const Tensor& value) {
  OPLOOM_CHECK(value.dim() == 0, "fill_(): expected a 0-d tensor as value, got shape ",
               value.sizes());
}
}  // namespace

Tensor& fill_(Tensor& self, const Tensor& value) {
  check_fill_value(value);
  return native::fill_(self, value.item());
}
Tensor& fill_meta_(Tensor& self, const Tensor& value) {
  check_fill_value(value);
  // A number may lie on the CPU while self is on meta, not the other way around.
  OPLOOM_CHECK(self.is_meta(), "fill_(): expected a value on device ", self.device(),
               ", got one on ", value.device());
  return self;
}
Tensor fill(const Tensor& self, const Scalar& value) {
  Tensor result = native::empty_like(self, {}, {}, {}, {}, {});
  result.fill_(value);
  return result;
}
Tensor fill(const Tensor& self, const Tensor& value) {
  Tensor result = native::empty_like(self, {}, {}, {}, {}, {});
  result.fill_(value);
  return result;
}

Tensor& zero_(Tensor& self) {
  // Zero bytes are the number zero in every dtype.
  constexpr size_t kSerialBytes = 512 * 1024;
  if (self.is_non_overlapping_and_dense() && self.nbytes() <= kSerialBytes) {
    if (self.numel() > 0) std::memset(self.mutable_data_ptr(), 0, self.nbytes());
    return self;
  }
  return native::fill_(self, Scalar(0));
}
Tensor& zero_meta_(Tensor& self) { return self; }
Tensor zero(const Tensor& self) {
  Tensor result = native::empty_like(self, {}, {}, {}, {}, {});
  result.zero_();
  return result;
}

// ---- Numbers out of tensors ----

namespace {
void check_one_element(const Tensor& self) {
  OPLOOM_CHECK(self.numel() == 1, "item(): expected a tensor with one element, got shape ",
               self.sizes());
}
}  // namespace

Scalar item(const Tensor& self) {
  check_one_element(self);
  return at::_local_scalar_dense(self);
}

Scalar _local_scalar_dense_cpu(const Tensor& self) {
  check_one_element(self);
  return OPLOOM_DISPATCH(self.scalar_type(), "item", (OPLOOM_ALL),
                         [&]() -> Scalar { return Scalar(*self.const_data_ptr<scalar_t>()); });
}

// ---- The tensor itself ----

Tensor& resize_(Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  OPLOOM_CHECK(!self.requires_grad(),
               "resize_(): the tensor requires grad, and resizing has no derivative; resize "
               "detach() of it, or use reshape() or narrow()");
  OPLOOM_CHECK(memory_format != MemoryFormat::Preserve,
               "resize_(): there is no input whose memory format could be preserved");
  ShapeGuard guard(self);
  if (self.sizes() != size) at::detail::resize(self, size);
  if (memory_format.has_value()) self.unsafeGetTensorImpl()->empty_tensor_restride(*memory_format);
  guard.dismiss();
  return self;
}

Tensor detach(const Tensor& self) {
  return Tensor(TensorBase::ImplPtr(self.unsafeGetTensorImpl()->shallow_copy_and_detach()));
}

Tensor alias(const Tensor& self) { return make_alias(self, self.sizes(), self.strides()); }

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/Copy.h>
