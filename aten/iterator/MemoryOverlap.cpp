// Whether tensors share memory in ways that make writing into them undefined.
#include <aten/iterator/MemoryOverlap.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace at::inline oploom_v1 {
namespace {

// [first, last + 1) element of a dense tensor, as addresses.
std::pair<uintptr_t, uintptr_t> byte_range(const TensorBase& tensor) {
  const auto begin = reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
  return {begin, begin + tensor.nbytes()};
}

}  // namespace

MemOverlap has_internal_overlap(const TensorBase& tensor) {
  if (tensor.is_non_overlapping_and_dense()) return MemOverlap::No;
  const IntArrayRef sizes = tensor.sizes();
  const IntArrayRef strides = tensor.strides();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] == 0 && sizes[d] > 1)
      return tensor.numel() > 0 ? MemOverlap::Yes : MemOverlap::No;
  }
  // Sorted by stride, a dimension that steps over everything below it overlaps nothing: the usual
  // slices are found this way.
  int64_t reach = 0;
  DimVector order;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] > 1) order.push_back(static_cast<int64_t>(d));
  }
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return strides[a] < strides[b]; });
  for (int64_t d : order) {
    if (strides[d] <= reach) return MemOverlap::TooHard;
    reach += strides[d] * (sizes[d] - 1);
  }
  return MemOverlap::No;
}

void assert_no_internal_overlap(const TensorBase& tensor, std::string_view prefix) {
  OPLOOM_CHECK(
      has_internal_overlap(tensor) != MemOverlap::Yes, prefix,
      "several elements of the tensor to be written share a single memory location (sizes ",
      tensor.sizes(), ", strides ", tensor.strides(), "); write to a clone() of it");
}

MemOverlapStatus get_overlap_status(const TensorBase& a, const TensorBase& b) {
  if (a.is_same(b)) return MemOverlapStatus::Full;
  if (a.numel() == 0 || b.numel() == 0) return MemOverlapStatus::No;
  if (!a.is_alias_of(b)) return MemOverlapStatus::No;
  if (!a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) {
    // Strided views of one base, such as x[:-1] and x[1:] of a matrix's columns.
    const bool same_view = a.const_data_ptr() == b.const_data_ptr() && a.sizes() == b.sizes() &&
                           a.strides() == b.strides() && a.scalar_type() == b.scalar_type();
    return same_view ? MemOverlapStatus::Full : MemOverlapStatus::TooHard;
  }
  const auto [a_begin, a_end] = byte_range(a);
  const auto [b_begin, b_end] = byte_range(b);
  if (a_begin == b_begin && a_end == b_end) {
    // Elements of another size, as of x.view(dtype), take the same memory in another shape.
    const bool same_view = a.sizes() == b.sizes() && a.strides() == b.strides();
    return same_view ? MemOverlapStatus::Full : MemOverlapStatus::Partial;
  }
  return a_begin < b_end && b_begin < a_end ? MemOverlapStatus::Partial : MemOverlapStatus::No;
}

void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b, std::string_view prefix) {
  OPLOOM_CHECK(get_overlap_status(a, b) != MemOverlapStatus::Partial, prefix,
               "the tensor to be written and an input share a part of their memory, so that some "
               "input would be overwritten before it is read; pass a clone() of the input");
}

bool share_memory(const TensorBase& a, const TensorBase& b) {
  const MemOverlapStatus status = get_overlap_status(a, b);
  return status == MemOverlapStatus::Partial || status == MemOverlapStatus::Full;
}

void assert_no_overlap(const TensorBase& a, const TensorBase& b, std::string_view prefix) {
  OPLOOM_CHECK(!share_memory(a, b), prefix,
               "unsupported operation: the input tensor and the written-to tensor share memory; "
               "clone() the tensors before performing the operation");
}

}  // namespace at::inline oploom_v1
