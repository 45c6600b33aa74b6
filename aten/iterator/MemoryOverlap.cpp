// Whether tensors share memory in ways that make writing into them undefined.
#include <aten/iterator/MemoryOverlap.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

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

namespace {

struct Dim {
  int64_t size, stride;
};

// Whether `distance` is a sum of fewer than `size` steps, to either side, along each dimension from
// d on, the longest steps first; `reach`: how far all of these lead.
OPLOOM_COLD bool is_reached(ArrayRef<Dim> dims, size_t d, int64_t distance, int64_t reach) {
  if (distance == 0) return true;
  if (std::abs(distance) > reach) return false;
  const Dim dim = dims[d];
  const int64_t below = reach - dim.stride * (dim.size - 1);
  // The steps after which those below can lead to it.
  const int64_t nearest = distance / dim.stride;
  for (int64_t steps = nearest - 1; steps <= nearest + 1; ++steps) {
    if (std::abs(steps) < dim.size && is_reached(dims, d + 1, distance - steps * dim.stride, below))
      return true;
  }
  return false;
}

// The addresses of the first byte and of the one behind the last.
std::pair<intptr_t, intptr_t> reach_of(const TensorBase& tensor) {
  auto begin = reinterpret_cast<intptr_t>(tensor.const_data_ptr()), end = begin;
  const auto size = static_cast<int64_t>(tensor.itemsize());
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    const int64_t way = tensor.strides()[d] * (tensor.sizes()[d] - 1) * size;
    (way < 0 ? begin : end) += way;
  }
  return {begin, end + size};
}

}  // namespace

OPLOOM_COLD bool may_share_elements(const TensorBase& a, const TensorBase& b) {
  if (a.numel() == 0 || b.numel() == 0 || !a.is_alias_of(b)) return false;
  const auto [a_begin, a_end] = reach_of(a);
  const auto [b_begin, b_end] = reach_of(b);
  if (a_end <= b_begin || b_end <= a_begin) return false;
  const int64_t distance = b_begin - a_begin, size = static_cast<int64_t>(a.itemsize());
  if (a.sizes() != b.sizes() || a.strides() != b.strides() || a.itemsize() != b.itemsize() ||
      distance % size != 0) {
    return true;
  }
  if (distance == 0) return false;
  SmallVector<Dim, 5> dims;
  for (int64_t d = 0; d < a.dim(); ++d) {
    if (a.sizes()[d] > 1) dims.push_back({a.sizes()[d], std::abs(a.strides()[d])});
  }
  constexpr size_t kMostDims = 10;  // each may double the work
  if (dims.size() > kMostDims) return true;
  for (size_t i = 1; i < dims.size(); ++i) {
    for (size_t j = i; j > 0 && dims[j].stride > dims[j - 1].stride; --j) {
      std::swap(dims[j], dims[j - 1]);
    }
  }
  int64_t reach = 0;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d].stride <= reach) return true;
    reach += dims[d].stride * (dims[d].size - 1);
  }
  return is_reached(dims, 0, distance / size, reach);
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
